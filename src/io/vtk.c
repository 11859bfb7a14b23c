/*
 * VTK's images, legacy (.vtk) and XML (.vti), which weft reads and does not write. Rank 0 finds the
 * array and tells the others where it lies. Where its elements lie in the file as they are, each
 * rank reads its own box; where they are encoded, each rank decodes the array up to the end of its
 * box and keeps that box alone.
 */
#include "io/agreement.h"
#include "io/flat.h"
#include "io/vtk_stream.h"
#include "support/error.h"

#include <stdlib.h>

/* Whether elements are in the file as flat files have them. */
static bool is_flat(const weft_vtk_data *data) {
    return data->encoding == WEFT_VTK_RAW && !data->compressed && weft_vtk_type_native(data->type);
}

/* On rank 0: beginning the stream checks what stands before the elements. */
static weft_status find(weft_array *array, int64_t file_bytes,
                        weft_status (*parse)(int, int64_t, weft_vtk_choice *),
                        weft_vtk_data *data) {
    const int fd = array->flat->fd;
    weft_vtk_choice choice = {.path = array->path, .wanted = array->inside};
    weft_vtk_stream *stream = NULL;
    WEFT_TRY(parse(fd, file_bytes, &choice));
    WEFT_TRY(weft_vtk_stream_begin(fd, array->path, &choice.data, &stream));
    weft_vtk_stream_end(&stream);
    *data = choice.data;
    return WEFT_SUCCESS;
}

static weft_status open_by(weft_array *array,
                           weft_status (*parse)(int, int64_t, weft_vtk_choice *)) {
    weft_strided_file *file;
    int64_t file_bytes = 0;
    weft_vtk_data data = {.header_bytes = 0};
    weft_status status = weft_flat_open(array, &file, &file_bytes);
    if (status == WEFT_SUCCESS && array->comm_rank == 0)
        status = find(array, file_bytes, parse, &data);
    if (status == WEFT_SUCCESS) {
        array->state = malloc(sizeof data);
        if (array->state == NULL)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", array->path);
    }
    WEFT_TRY(weft_array_agree(array->comm, status));
    MPI_Bcast(&data, (int)sizeof data, MPI_BYTE, 0, array->comm);
    array->info = data.info;
    *(weft_vtk_data *)array->state = data;
    if (!is_flat(&data)) return WEFT_SUCCESS;
    file->offset = data.offset + data.header_bytes;
    file->swapped = data.swapped && weft_vtk_type_bytes(data.type) > 1;
    file->column_major = true;
    return weft_flat_check(array, file, file_bytes);
}

static weft_status vtk_open(weft_array *array) {
    return open_by(array, weft_vtk_parse_legacy);
}

static weft_status vti_open(weft_array *array) {
    return open_by(array, weft_vtk_parse_xml);
}

static weft_status vtk_read(weft_array *array, const weft_box *box, weft_element wanted,
                            void *memory) {
    const weft_vtk_data *data = array->state;
    weft_vtk_stream *stream = NULL;
    if (is_flat(data)) return weft_flat_read(array, box, wanted, memory);
    WEFT_TRY(weft_vtk_stream_begin(array->flat->fd, array->path, data, &stream));
    weft_status status = weft_vtk_stream_box(stream, box, wanted, memory);
    weft_vtk_stream_end(&stream);
    if (status == WEFT_SUCCESS && array->counted != NULL) {
        int64_t bytes = (int64_t)weft_element_bytes(data->info.element);
        for (int a = 0; a < data->info.rank; a++) bytes *= box->n[a];
        atomic_fetch_add(array->counted, bytes);
    }
    return status;
}

static weft_status not_written(weft_array *array) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: weft reads VTK's files but does not write them; name FILE.npy, "
                     "FILE.h5:/dataset, FILE.raw or FILE.bin",
                     array->path);
}

static weft_status vtk_close(weft_array *array) {
    free(array->state);
    array->state = NULL;
    return weft_flat_close(array);
}

const weft_file_format weft_vtk_format = {
    .suffixes = {".vtk"},
    .inside = WEFT_INSIDE_MAY,
    .open = vtk_open,
    .read = vtk_read,
    .create = not_written,
    .close = vtk_close,
};

const weft_file_format weft_vti_format = {
    .suffixes = {".vti"},
    .inside = WEFT_INSIDE_MAY,
    .open = vti_open,
    .read = vtk_read,
    .create = not_written,
    .close = vtk_close,
};
