/* A VTK file as tests and fuzzers have it, in memory: its array is found, and read to its end. */
#ifndef WEFT_TESTS_IO_VTK_TEXT_H
#define WEFT_TESTS_IO_VTK_TEXT_H

#include "io/strided.h"
#include "io/vtk_stream.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef weft_status (*vtk_parser)(int fd, int64_t file_bytes, weft_vtk_choice *choice);

/* Larger arrays are found, but not read. */
enum { VTK_TEXT_ELEMENTS = 1 << 16 };

static inline weft_status vtk_read_all(int fd, const weft_vtk_data *data) {
    weft_vtk_stream *stream = NULL;
    int64_t elements = 0;
    weft_box whole = {.lo = {0}};
    if (!weft_array_elements(&data->info, &elements)) abort();
    for (int a = 0; a < data->info.rank; a++) whole.n[a] = data->info.n[a];
    weft_status status = weft_vtk_stream_begin(fd, "FILE", data, &stream);
    if (status == WEFT_SUCCESS && elements <= VTK_TEXT_ELEMENTS) {
        double *memory = malloc((size_t)elements * sizeof *memory); /* exactly */
        status = weft_vtk_stream_box(stream, &whole, WEFT_ELEMENT_F8, memory);
        free(memory);
    }
    weft_vtk_stream_end(&stream);
    return status;
}

static inline weft_status vtk_read_text(vtk_parser parse, const char *wanted, const void *text,
                                        size_t count) {
    weft_vtk_choice choice = {.path = "FILE", .wanted = wanted};
    const int fd = memfd_create("vtk", MFD_CLOEXEC);
    if (fd < 0 || weft_file_write(fd, "FILE", text, count, 0) != WEFT_SUCCESS) abort();
    weft_status status = parse(fd, (int64_t)count, &choice);
    if (status == WEFT_SUCCESS) status = vtk_read_all(fd, &choice.data);
    close(fd);
    return status;
}

#endif
