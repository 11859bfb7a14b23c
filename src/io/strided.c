/*
 * Box transfer by halving: a box whose span in the file is dense (or nearly so, when reading) and
 * not too long is moved by one call; any other is halved along its slowest axis. So runs are merged
 * where possible, long boxes are moved in pieces, and no memory is needed beyond one piece.
 */
#include "io/strided.h"

#include "support/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 8 << 20,
    SIEVE_RUN_BYTES = 64 << 10, /* longer runs are read one by one */
    SIEVE_FACTOR = 4,           /* a piece may read so many times more than it needs */
};

typedef struct transfer {
    const weft_strided_file *file;
    weft_conversion conversion;
    bool writing;
    int64_t n[WEFT_MAX_RANK];             /* extents of the file, slowest axis first */
    int64_t file_stride[WEFT_MAX_RANK];   /* in elements */
    int64_t memory_stride[WEFT_MAX_RANK]; /* in elements */
    int64_t corner;                       /* of the box in the file, in elements */
    char *memory;                         /* of the box */
    char *bounce;
} transfer;

/* A part of the box: lo counts from the corner of the box. Axes as in transfer. */
typedef struct part {
    int64_t lo[WEFT_MAX_RANK], n[WEFT_MAX_RANK];
} part;

weft_status weft_file_read(int fd, const char *path, void *bytes, size_t count, int64_t offset) {
    char *at = bytes;
    while (count > 0) {
        ssize_t got = pread(fd, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return weft_fail(WEFT_ERROR_SYSTEM, "%s: reading failed: %s", path, strerror(errno));
        if (got == 0)
            return weft_fail(WEFT_ERROR_SYSTEM,
                             "%s: the file ended at byte %lld while it was being read", path,
                             (long long)offset);
        at += got;
        offset += got;
        count -= (size_t)got;
    }
    return WEFT_SUCCESS;
}

weft_status weft_file_write(int fd, const char *path, const void *bytes, size_t count,
                            int64_t offset) {
    const char *at = bytes;
    while (count > 0) {
        ssize_t put = pwrite(fd, at, count, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", path,
                             strerror(put < 0 ? errno : ENOSPC));
        at += put;
        offset += put;
        count -= (size_t)put;
    }
    return WEFT_SUCCESS;
}

/* The axis along which a row of the part runs: the fastest that has more than one element. */
static int row_axis(const transfer *t, const part *p) {
    int axis = t->file->rank - 1;
    while (axis > 0 && p->n[axis] == 1) axis--;
    return axis;
}

/* Converts between the part's elements in `bounce`, spaced as in the file, and memory. */
static void convert_rows(const transfer *t, const part *p, char *memory) {
    int rank = t->file->rank, row = row_axis(t, p);
    int64_t index[WEFT_MAX_RANK] = {0};
    int64_t file_bytes = (int64_t)weft_element_bytes(t->conversion.from);
    int64_t memory_bytes = (int64_t)weft_element_bytes(t->conversion.to);
    for (;;) {
        int64_t in_file = 0, in_memory = 0;
        for (int a = 0; a < rank; a++) {
            in_file += index[a] * t->file_stride[a];
            in_memory += index[a] * t->memory_stride[a];
        }
        char *filed = t->bounce + in_file * file_bytes;
        char *remembered = memory + in_memory * memory_bytes;
        if (t->writing)
            weft_convert(&t->conversion, remembered, t->memory_stride[row], filed,
                         t->file_stride[row], p->n[row]);
        else
            weft_convert(&t->conversion, filed, t->file_stride[row], remembered,
                         t->memory_stride[row], p->n[row]);
        int a = row - 1;
        while (a >= 0 && ++index[a] == p->n[a]) index[a--] = 0;
        if (a < 0) return;
    }
}

/* Whether the part lies in memory exactly as in the file, so that no bounce buffer is needed. */
static bool same_in_memory(const transfer *t, const part *p, bool dense) {
    if (!dense || t->conversion.swapped || t->conversion.from != t->conversion.to) return false;
    for (int a = 0; a < t->file->rank; a++)
        if (p->n[a] > 1 && t->memory_stride[a] != t->file_stride[a]) return false;
    return true;
}

static weft_status move_piece(const transfer *t, const part *p, int64_t span, bool dense) {
    const weft_strided_file *file = t->file;
    size_t bytes = (size_t)span * weft_element_bytes(file->element);
    int64_t first = t->corner, in_memory = 0;
    for (int a = 0; a < file->rank; a++) {
        first += p->lo[a] * t->file_stride[a];
        in_memory += p->lo[a] * t->memory_stride[a];
    }
    int64_t offset = file->offset + first * (int64_t)weft_element_bytes(file->element);
    char *memory = t->memory + in_memory * (int64_t)weft_element_bytes(t->conversion.to);
    bool direct = same_in_memory(t, p, dense);
    char *bytes_of_file = direct ? memory : t->bounce;
    if (t->writing) {
        if (!direct) convert_rows(t, p, memory);
        WEFT_TRY(weft_file_write(file->fd, file->path, bytes_of_file, bytes, offset));
    } else {
        WEFT_TRY(weft_file_read(file->fd, file->path, bytes_of_file, bytes, offset));
        if (!direct) convert_rows(t, p, memory);
    }
    if (file->counted != NULL) atomic_fetch_add(file->counted, (long long)bytes);
    return WEFT_SUCCESS;
}

/* Whether reading the gaps of a part costs less than reading its runs one by one. */
static bool worth_sieving(const transfer *t, const part *p, int64_t count, int64_t span) {
    if (t->writing || span / SIEVE_FACTOR > count) return false;
    int64_t run = 1;
    for (int a = t->file->rank - 1; a >= 0; a--) {
        run *= p->n[a];
        if (p->n[a] != t->n[a]) break;
    }
    return run * (int64_t)weft_element_bytes(t->file->element) < SIEVE_RUN_BYTES;
}

static weft_status move_part(const transfer *t, const part *p) {
    int64_t count = 1, span = 1;
    int slowest = t->file->rank - 1;
    for (int a = t->file->rank - 1; a >= 0; a--) {
        count *= p->n[a];
        span += (p->n[a] - 1) * t->file_stride[a];
        if (p->n[a] > 1) slowest = a;
    }
    bool dense = span == count;
    if (span <= PIECE_BYTES / (int64_t)weft_element_bytes(t->file->element) &&
        (dense || worth_sieving(t, p, count, span)))
        return move_piece(t, p, span, dense);
    part half = *p;
    half.n[slowest] = p->n[slowest] / 2;
    WEFT_TRY(move_part(t, &half));
    half.lo[slowest] += half.n[slowest];
    half.n[slowest] = p->n[slowest] - half.n[slowest];
    return move_part(t, &half);
}

static weft_status move_box(transfer *t, const weft_box *box) {
    const weft_strided_file *file = t->file;
    int rank = file->rank;
    int64_t row_major[WEFT_MAX_RANK], stride = 1;
    part whole = {{0}, {0}};
    for (int a = rank - 1; a >= 0; a--) {
        if (box->n[a] == 0) return WEFT_SUCCESS;
        row_major[a] = stride;
        stride *= box->n[a];
    }
    stride = 1;
    for (int k = rank - 1; k >= 0; k--) {
        int a = file->column_major ? rank - 1 - k : k;
        t->n[k] = file->n[a];
        t->file_stride[k] = stride;
        t->memory_stride[k] = row_major[a];
        t->corner += box->lo[a] * stride;
        whole.n[k] = box->n[a];
        stride *= file->n[a];
    }
    t->bounce = malloc(PIECE_BYTES);
    if (t->bounce == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for a buffer of %d MiB",
                         file->path, PIECE_BYTES >> 20);
    weft_status status = move_part(t, &whole);
    free(t->bounce);
    return status;
}

weft_status weft_strided_read(const weft_strided_file *file, const weft_box *box,
                              weft_element wanted, void *memory) {
    transfer t = {
        .file = file, .conversion = {file->element, wanted, file->swapped}, .memory = memory};
    return move_box(&t, box);
}

weft_status weft_strided_write(const weft_strided_file *file, const weft_box *box,
                               const void *memory) {
    transfer t = {.file = file,
                  .conversion = {file->element, file->element, false},
                  .writing = true,
                  .memory = (char *)(uintptr_t)memory};
    return move_box(&t, box);
}
