/* A part of a file, read through a buffer: byte by byte, word by word, or in runs. */
#ifndef WEFT_IO_VTK_READER_H
#define WEFT_IO_VTK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/weft.h>

typedef struct weft_vtk_reader {
    int fd;
    const char *path;
    int64_t at, end; /* of the file: what has not been buffered yet */
    size_t next, filled;
    weft_status status; /* of reading; what follows a failure reads as the end */
    unsigned char buffer[64 << 10];
} weft_vtk_reader;

void weft_vtk_reader_begin(weft_vtk_reader *r, int fd, const char *path, int64_t at, int64_t end);

/* The next byte, or -1 at the end; and without taking it. */
int weft_vtk_reader_get(weft_vtk_reader *r);
int weft_vtk_reader_peek(weft_vtk_reader *r);

/* At most `count` bytes; how many there were. */
size_t weft_vtk_reader_read(weft_vtk_reader *r, void *bytes, size_t count);

/* Where the next byte lies in the file, and going on elsewhere; beyond the end is the end. */
int64_t weft_vtk_reader_tell(const weft_vtk_reader *r);
void weft_vtk_reader_seek(weft_vtk_reader *r, int64_t at);

/* The next word between white space, cut at `capacity`; its length, 0 at the end. The space behind
 * it stays. */
size_t weft_vtk_reader_word(weft_vtk_reader *r, char *word, size_t capacity);

/* The rest of the line, cut at `capacity`, without its end; false where the file has ended. */
bool weft_vtk_reader_line(weft_vtk_reader *r, char *line, size_t capacity);

#endif
