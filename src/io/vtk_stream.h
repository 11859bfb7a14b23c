/* The elements of an array in a VTK file, one after the other as they are stored: decoded from
 * text, base64 or zlib. */
#ifndef WEFT_IO_VTK_STREAM_H
#define WEFT_IO_VTK_STREAM_H

#include "io/vtk_data.h"

typedef struct weft_vtk_stream weft_vtk_stream;

/* Begins at the first element; reads the header of the elements and checks it against the shape.
 * The descriptor, the path and *data must outlive the stream. Not collective. */
weft_status weft_vtk_stream_begin(int fd, const char *path, const weft_vtk_data *data,
                                  weft_vtk_stream **stream);
void weft_vtk_stream_end(weft_vtk_stream **stream);

/* Leaves out elements; what need not be decoded for that is not. */
weft_status weft_vtk_stream_skip(weft_vtk_stream *stream, int64_t count);
/* The next elements, as info.element of the data. */
weft_status weft_vtk_stream_read(weft_vtk_stream *stream, int64_t count, void *elements);

/* Reads a box of the array into row-major memory. */
weft_status weft_vtk_stream_box(weft_vtk_stream *stream, const weft_box *box, weft_element wanted,
                                void *memory);

#endif
