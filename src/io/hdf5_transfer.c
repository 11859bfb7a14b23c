/*
 * Boxes move in pieces of at most PIECE_BYTES: MPI counts stay small and conversion needs no second
 * copy of the box. A piece is the box halved along its slowest axis as often as needed, so pieces
 * follow each other in memory.
 */
#include "io/hdf5_transfer.h"

#include "io/agreement.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 64 << 20 };

typedef struct transfer {
    weft_array *array;
    weft_conversion conversion;
    bool writing;
    hid_t file_space;
    char *memory; /* of the next piece */
    char *bounce; /* NULL where file and memory hold the same type */
    int64_t pieces;
    weft_status status; /* the first failure; later pieces are moved all the same, as the others
                           wait for them */
} transfer;

static int64_t count_elements(const weft_box *box, int rank) {
    int64_t count = 1;
    for (int a = 0; a < rank; a++) count *= box->n[a];
    return count;
}

/* Moves one piece, or takes part without one where piece is NULL. */
static void move_piece(transfer *t, const weft_box *piece) {
    weft_hdf5_dataset *state = t->array->state;
    hsize_t start[WEFT_MAX_RANK], count[WEFT_MAX_RANK], elements = 0;
    int rank = t->array->info.rank;
    for (int a = 0; piece != NULL && a < rank; a++) {
        start[a] = (hsize_t)piece->lo[a];
        count[a] = (hsize_t)piece->n[a];
    }
    if (piece != NULL) elements = (hsize_t)count_elements(piece, rank);
    hsize_t length = elements > 0 ? elements : 1;
    hid_t memory_space = H5Screate_simple(1, &length, NULL);
    if (elements > 0) {
        H5Sselect_hyperslab(t->file_space, H5S_SELECT_SET, start, NULL, count, NULL);
    } else {
        H5Sselect_none(t->file_space);
        H5Sselect_none(memory_space);
    }
    char none = 0, *buffer = elements == 0 ? &none : t->bounce != NULL ? t->bounce : t->memory;
    herr_t result = t->writing ? H5Dwrite(state->set, state->memory_type, memory_space,
                                          t->file_space, state->transfer, buffer)
                               : H5Dread(state->set, state->memory_type, memory_space,
                                         t->file_space, state->transfer, buffer);
    if (result < 0 && t->status == WEFT_SUCCESS)
        t->status = weft_hdf5_refused(WEFT_ERROR_SYSTEM, t->array->path,
                                      t->writing ? "could not write" : "could not read");
    H5Sclose(memory_space);
    if (elements == 0) return;
    if (t->bounce != NULL)
        weft_convert(&t->conversion, t->bounce, 1, t->memory, 1, (int64_t)elements);
    t->memory += elements * weft_element_bytes(t->conversion.to);
    if (t->array->counted != NULL)
        atomic_fetch_add(t->array->counted,
                         (long long)(elements * weft_element_bytes(t->array->info.element)));
}

/* Cuts the box into pieces; counts them, and moves them unless only_count. */
static void cut(transfer *t, const weft_box *box, bool only_count) {
    int rank = t->array->info.rank, slowest = 0;
    int64_t count = count_elements(box, rank);
    if (count == 0) return;
    if (count <= PIECE_BYTES / (int64_t)weft_element_bytes(t->array->info.element)) {
        t->pieces++;
        if (!only_count) move_piece(t, box);
        return;
    }
    while (box->n[slowest] == 1) slowest++;
    weft_box half = *box;
    half.n[slowest] = box->n[slowest] / 2;
    cut(t, &half, only_count);
    half.lo[slowest] += half.n[slowest];
    half.n[slowest] = box->n[slowest] - half.n[slowest];
    cut(t, &half, only_count);
}

static weft_status move_box(transfer *t, const weft_box *box) {
    weft_hdf5_dataset *state = t->array->state;
    int64_t most = 0;
    weft_status status = WEFT_SUCCESS;
    cut(t, box, true);
    MPI_Allreduce(&t->pieces, &most, 1, MPI_INT64_T, MPI_MAX, t->array->comm);
    if (t->conversion.from != t->conversion.to) {
        t->bounce = malloc(PIECE_BYTES);
        if (t->bounce == NULL)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for a buffer of %d MiB",
                               t->array->path, PIECE_BYTES >> 20);
    }
    t->file_space = H5Dget_space(state->set);
    if (t->file_space < 0 && status == WEFT_SUCCESS)
        status = weft_hdf5_refused(WEFT_ERROR_SYSTEM, t->array->path, "could not tell the shape");
    status = weft_array_agree(t->array->comm, status);
    if (status == WEFT_SUCCESS) {
        int64_t mine = t->pieces;
        cut(t, box, false);
        for (int64_t extra = mine; extra < most; extra++) move_piece(t, NULL);
        status = t->status;
    }
    if (t->file_space >= 0) H5Sclose(t->file_space);
    free(t->bounce);
    return status;
}

weft_status weft_hdf5_read(weft_array *array, const weft_box *box, weft_element wanted,
                           void *memory) {
    transfer t = {.array = array,
                  .conversion = {array->info.element, wanted, false},
                  .file_space = -1,
                  .memory = memory};
    return move_box(&t, box);
}

weft_status weft_hdf5_write(weft_array *array, const weft_box *box, const void *memory) {
    transfer t = {.array = array,
                  .conversion = {array->info.element, array->info.element, false},
                  .writing = true,
                  .file_space = -1,
                  .memory = (char *)(uintptr_t)memory};
    return move_box(&t, box);
}
