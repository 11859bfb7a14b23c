/* Running a trip: what is done to each part of the data while it is in the cache, by which thread.
 */
#include "engine/native/convolution.h"
#include "engine/native/trip.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { CACHE_LINE = 64, ROWS_AHEAD = 2 /* that are asked for while one is copied */ };

static size_t rounded(size_t bytes) {
    return (bytes + 4095) / 4096 * 4096 + 5 * CACHE_LINE;
}

size_t weft_trip_memory(const weft_trip *trip) {
    if (trip->convolution) return rounded(weft_convolution_memory(trip->convolution));
    size_t scratch = 0;
    for (int i = 0; i < trip->passes && !trip->matrix; i++) {
        size_t bytes = weft_native_pass_scratch(&trip->pass[i]);
        if (bytes > scratch) scratch = bytes;
    }
    if (trip->matrix) scratch = weft_matrix_tile_bytes(trip->matrix);
    return rounded(trip->buffer_bytes[0]) + rounded(trip->buffer_bytes[1]) + rounded(scratch);
}

/* Where the arrays of a part are, and this thread's scratch memory. */
typedef struct part {
    const void *in[WEFT_MAX_PIECES];
    void *out[WEFT_MAX_PIECES];
    char *array[WEFT_TRIP_ARRAYS]; /* those of IN and OUT are in[0] and out[0] */
    char *scratch;
    bool last; /* along loop 0 */
} part;

static int64_t part_offset(const weft_trip *trip, const weft_trip_piece *piece,
                           const int64_t *index) {
    int64_t offset = 0;
    for (int i = 0; i < trip->loops; i++) offset += index[i] * piece->stride[i];
    return offset;
}

static void find_part(const weft_trip *trip, int64_t number, const void *const *in,
                      void *const *out, char *buffers, char *scratch, part *p) {
    int64_t index[WEFT_PASS_LOOPS];
    p->last = trip->loops > 0 && number % trip->loop[0] == trip->loop[0] - 1;
    for (int i = 0; i < trip->loops; i++) {
        index[i] = number % trip->loop[i];
        number /= trip->loop[i];
    }
    for (int k = 0; k < trip->in.pieces; k++)
        p->in[k] = (const char *)in[k] + part_offset(trip, &trip->in.piece[k], index);
    for (int k = 0; k < trip->out.pieces; k++)
        p->out[k] = (char *)out[k] + part_offset(trip, &trip->out.piece[k], index);
    p->array[WEFT_TRIP_IN] = (char *)(uintptr_t)p->in[0];
    p->array[WEFT_TRIP_OUT] = p->out[0];
    p->array[WEFT_TRIP_BUFFER] = buffers;
    p->array[WEFT_TRIP_SECOND] = buffers + rounded(trip->buffer_bytes[0]);
    p->scratch = scratch + rounded(trip->buffer_bytes[0]) + rounded(trip->buffer_bytes[1]);
}

static void run_pass(const weft_trip *trip, int i, const part *p, int64_t first, int64_t end) {
    if (trip->matrix) {
        const char *from = p->array[trip->from[i]];
        char *to = p->array[trip->to[i]];
        if (i == 0)
            weft_matrix_run_columns(trip->matrix, from, p->scratch, to, first, end);
        else
            weft_matrix_run_rows(trip->matrix, from, p->scratch, to,
                                 trip->past && (uintptr_t)to % CACHE_LINE == 0, first, end);
        return;
    }
    const void *single[1] = {p->array[trip->from[i]]};
    const void *const *in = single;
    if (trip->from[i] == WEFT_TRIP_IN) in = p->in;
    void *to[1] = {p->array[trip->to[i]]};
    void *const *out = trip->to[i] == WEFT_TRIP_OUT ? p->out : to;
    weft_native_pass_run(&trip->pass[i], in, out, p->scratch, first, end);
}

static void seam_before(const weft_trip *trip, const part *p) {
    const weft_trip_seam *s = &trip->seam;
    if (s->before)
        trip->kernels->merge_line(p->array[WEFT_TRIP_IN], s->in, p->array[WEFT_TRIP_SECOND], s->out,
                                  s->h, s->roots);
}

static void seam_after(const weft_trip *trip, const part *p) {
    const weft_trip_seam *s = &trip->seam;
    if (s->after)
        trip->kernels->split_line(p->array[WEFT_TRIP_OUT], s->in, p->array[WEFT_TRIP_OUT], s->out,
                                  s->h, s->roots);
}

static int64_t row_bytes(const weft_trip *trip, const weft_trip_rows *rows, const part *p) {
    return p->last && trip->last_bytes > 0 ? trip->last_bytes : rows->bytes;
}

static int64_t groups_of(const weft_trip *trip, int i, const part *p) {
    return p->last && trip->last_groups > 0 ? trip->last_groups : trip->pass[i].groups;
}

/* Rows first..end-1 into the buffer, and out of it. */
static void fill(const weft_trip *trip, const part *p, int64_t first, int64_t end) {
    const weft_trip_rows *r = &trip->fill;
    const int64_t bytes = row_bytes(trip, r, p);
    for (int k = 0; k < trip->in.pieces && r->rows > 0; k++) {
        const weft_trip_piece *piece = &trip->in.piece[k];
        const char *base = (const char *)p->in[k] + piece->offset;
        int64_t from = first > piece->first ? first : piece->first;
        int64_t to = end < piece->first + piece->rows ? end : piece->first + piece->rows;
        for (int64_t i = from; i < to; i++) {
            const char *row = base + (i - piece->first) * piece->row_stride;
            for (int64_t b = 0; b < bytes; b += CACHE_LINE)
                __builtin_prefetch(row + ROWS_AHEAD * piece->row_stride + b);
            trip->kernels->copy(row, p->array[WEFT_TRIP_BUFFER] + i * r->buffer_stride, bytes,
                                false);
        }
    }
}

static void flush(const weft_trip *trip, const part *p, int64_t first, int64_t end) {
    const weft_trip_rows *r = &trip->flush;
    const int64_t bytes = row_bytes(trip, r, p);
    for (int k = 0; k < trip->out.pieces && r->rows > 0; k++) {
        const weft_trip_piece *piece = &trip->out.piece[k];
        char *base = (char *)p->out[k] + piece->offset;
        int64_t from = first > piece->first ? first : piece->first;
        int64_t to = end < piece->first + piece->rows ? end : piece->first + piece->rows;
        for (int64_t i = from; i < to; i++)
            trip->kernels->copy(p->array[WEFT_TRIP_BUFFER] + i * r->buffer_stride,
                                base + (i - piece->first) * piece->row_stride, bytes, trip->past);
    }
    if (trip->past) trip->kernels->settle();
}

static void run_whole_part(const weft_trip *trip, const part *p) {
    if (trip->convolution) {
        weft_convolution_run(trip->convolution, p->in[0], p->array[WEFT_TRIP_OUT], p->scratch);
        return;
    }
    seam_before(trip, p);
    fill(trip, p, 0, trip->fill.rows);
    for (int i = 0; i < trip->passes; i++) run_pass(trip, i, p, 0, groups_of(trip, i, p));
    flush(trip, p, 0, trip->flush.rows);
    seam_after(trip, p);
}

static void run_parts(const weft_trip *trip, const void *const *in, void *const *out, char *memory,
                      int64_t first, int64_t end) {
    for (int64_t number = first; number < end; number++) {
        part p;
        find_part(trip, number, in, out, memory, memory, &p);
        run_whole_part(trip, &p);
    }
}

#ifdef _OPENMP

/* Fewer parts than threads: all of them work on one part after the other. */
static void run_together(const weft_trip *trip, const void *const *in, void *const *out,
                         char *memory, size_t stride, int threads) {
#pragma omp parallel num_threads(threads)
    {
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        for (int64_t number = 0; number < trip->parts; number++) {
            part p;
            find_part(trip, number, in, out, memory, memory + (size_t)me * stride, &p);
#pragma omp single
            seam_before(trip, &p);
            fill(trip, &p, trip->fill.rows * me / team, trip->fill.rows * (me + 1) / team);
#pragma omp barrier
            for (int i = 0; i < trip->passes; i++) {
                int64_t groups = groups_of(trip, i, &p);
                run_pass(trip, i, &p, groups * me / team, groups * (me + 1) / team);
#pragma omp barrier
            }
            flush(trip, &p, trip->flush.rows * me / team, trip->flush.rows * (me + 1) / team);
#pragma omp single
            seam_after(trip, &p);
        }
    }
}

static void run_apart(const weft_trip *trip, const void *const *in, void *const *out, char *memory,
                      size_t stride, int threads) {
#pragma omp parallel num_threads(threads)
    {
        const int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        run_parts(trip, in, out, memory + (size_t)me * stride, trip->parts * me / team,
                  trip->parts * (me + 1) / team);
    }
}

#endif

void weft_trip_run(const weft_trip *trip, const void *const *in, void *const *out, char *memory,
                   size_t stride, int threads) {
    /* A single short line takes less time than what else there is to do here. */
    if (trip->direct && (threads == 1 || trip->pass[0].groups == 1)) {
        weft_native_pass_run(&trip->pass[0], in, out, memory, 0, trip->pass[0].groups);
        return;
    }
#ifdef _OPENMP
    if (threads > 1) {
        bool together = trip->parts < threads && !trip->convolution;
        (together ? run_together : run_apart)(trip, in, out, memory, stride, threads);
        return;
    }
#endif
    (void)stride, (void)threads;
    run_parts(trip, in, out, memory, 0, trip->parts);
}
