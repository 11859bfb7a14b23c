/* The header of NumPy's .npy files, versions 1 to 3: parsed from memory, and written. */
#ifndef WEFT_IO_NPY_HEADER_H
#define WEFT_IO_NPY_HEADER_H

#include "io/array.h"

enum {
    WEFT_NPY_PREFIX_BYTES = 12,     /* magic, version and length: at most this many */
    WEFT_NPY_TEXT_LIMIT = 64 << 10, /* longer headers are refused */
    WEFT_NPY_WRITTEN_LIMIT = 512,   /* weft_npy_format_header needs no more */
};

typedef struct weft_npy_header {
    weft_array_info info;
    bool swapped;
    bool column_major;
    int64_t data_offset; /* bytes from the start of the file */
} weft_npy_header;

/* Reads magic, version and length from the first `count` bytes of a file: where the dictionary
 * begins, and how long it is. `path` is for the error sentence. */
weft_status weft_npy_parse_prefix(const char *path, const unsigned char *bytes, size_t count,
                                  size_t *text_offset, size_t *text_bytes);

/* Parses the dictionary, which need not end in a zero. Leaves data_offset alone. */
weft_status weft_npy_parse_text(const char *path, const char *text, size_t count,
                                weft_npy_header *header);

/* Writes a version 1 header, padded to a multiple of 64 bytes, and returns its size. */
size_t weft_npy_format_header(const weft_array_info *info, char bytes[WEFT_NPY_WRITTEN_LIMIT]);

#endif
