/*
 * What a file format provides. Each function is entered by every rank of array->comm; one that
 * communicates must agree (weft_array_agree) before it does, so that no rank waits for one that
 * failed. The caller agrees on what they return.
 */
#ifndef WEFT_IO_FORMAT_H
#define WEFT_IO_FORMAT_H

#include "io/array.h"

/* Whether a name says, after a colon, which of the arrays in the file it means. */
typedef enum weft_inside { WEFT_INSIDE_NOT = 0, WEFT_INSIDE_MAY, WEFT_INSIDE_MUST } weft_inside;

typedef struct weft_file_format {
    const char *suffixes[3]; /* what the name of a file ends in */
    weft_inside inside;
    /* Opens array->path, checks it, fills array->info (raw files find it filled) and array->state.
     */
    weft_status (*open)(weft_array *array);
    weft_status (*read)(weft_array *array, const weft_box *box, weft_element wanted, void *memory);
    /* Fills array->temporary, a file that exists, so that it can hold array->info; sets
     * array->state. */
    weft_status (*create)(weft_array *array);
    weft_status (*write)(weft_array *array, const weft_box *box, const void *memory);
    /* As the functions weft_array_... of these names; NULL where no file of the format can be
     * mapped. Those that are mapped have array->flat. */
    weft_status (*check_map)(const weft_array *array);
    weft_status (*map)(weft_array *array, size_t bytes, void **memory);
    weft_status (*copy_mapped)(const weft_array *array, const weft_copy *copy, const void *src,
                               void *dst);
    bool (*has)(const weft_array *array, const void *address);
    weft_status (*sync)(const weft_array *array);
    /* Releases array->state, which may be NULL; reports what the system refused to write. */
    weft_status (*close)(weft_array *array);
} weft_file_format;

struct weft_array {
    MPI_Comm comm;
    int comm_rank;
    const weft_file_format *format;
    weft_array_info info;
    bool typed; /* info was given by the caller */
    bool left;  /* output: it stays as it is when it is closed */
    weft_array_creation how;
    char *path;      /* the file; for output, what it will be called */
    char *inside;    /* the dataset or array in the file, or NULL */
    char *temporary; /* output: what it is called until committed */
    int lock;        /* rank 0: on the temporary; -1: none */
    atomic_llong *counted;
    void *state;                    /* of the format */
    struct weft_strided_file *flat; /* the elements as they lie in the file, or NULL */
};

extern const weft_file_format weft_npy_format, weft_raw_format, weft_hdf5_format, weft_vtk_format,
    weft_vti_format;

/* Fails unless `box` lies inside the array. */
weft_status weft_array_check_box(const weft_array *array, const weft_box *box);

/* Whether the file is there and regular (opening a pipe would wait for a writer), and its size. Not
 * collective. */
weft_status weft_array_find_file(const weft_array *array, int64_t *file_bytes);

#endif
