/* Running a pass group: what is done to each part of the data while it is in the cache, and by
 * which thread. */
#include "engine/native/convolution.h"
#include "engine/native/pass_group.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { CACHE_LINE = 64, ROWS_AHEAD = 2 /* how far ahead of the copied row to prefetch */ };

static size_t rounded(size_t bytes) {
    return (bytes + 4095) / 4096 * 4096 + 5 * CACHE_LINE;
}

size_t weft_pass_group_memory(const weft_pass_group *group) {
    if (group->convolution) return rounded(weft_convolution_memory(group->convolution));
    size_t scratch = 0;
    for (int i = 0; i < group->passes && !group->matrix; i++) {
        size_t bytes = weft_native_pass_scratch(&group->pass[i]);
        if (bytes > scratch) scratch = bytes;
    }
    if (group->matrix) scratch = weft_matrix_tile_bytes(group->matrix);
    return rounded(group->buffer_bytes[0]) + rounded(group->buffer_bytes[1]) + rounded(scratch);
}

/* The addresses of a part's arrays, and this thread's scratch memory. */
typedef struct part {
    const void *in[WEFT_MAX_PIECES];
    void *out[WEFT_MAX_PIECES];
    char *array[WEFT_PASS_GROUP_ARRAYS]; /* those of IN and OUT are in[0] and out[0] */
    char *scratch;
    bool last; /* the last part along loop 0 */
} part;

static int64_t part_offset(const weft_pass_group *group, const weft_pass_group_piece *piece,
                           const int64_t *index) {
    int64_t offset = 0;
    for (int i = 0; i < group->loops; i++) offset += index[i] * piece->stride[i];
    return offset;
}

static void find_part(const weft_pass_group *group, int64_t number, const void *const *in,
                      void *const *out, char *buffers, char *scratch, part *p) {
    int64_t index[WEFT_PASS_LOOPS];
    p->last = group->loops > 0 && number % group->loop[0] == group->loop[0] - 1;
    for (int i = 0; i < group->loops; i++) {
        index[i] = number % group->loop[i];
        number /= group->loop[i];
    }
    for (int k = 0; k < group->in.pieces; k++)
        p->in[k] = (const char *)in[k] + part_offset(group, &group->in.piece[k], index);
    for (int k = 0; k < group->out.pieces; k++)
        p->out[k] = (char *)out[k] + part_offset(group, &group->out.piece[k], index);
    p->array[WEFT_PASS_GROUP_IN] = (char *)(uintptr_t)p->in[0];
    p->array[WEFT_PASS_GROUP_OUT] = p->out[0];
    p->array[WEFT_PASS_GROUP_BUFFER] = buffers;
    p->array[WEFT_PASS_GROUP_SECOND] = buffers + rounded(group->buffer_bytes[0]);
    p->scratch = scratch + rounded(group->buffer_bytes[0]) + rounded(group->buffer_bytes[1]);
}

static void run_pass(const weft_pass_group *group, int i, const part *p, int64_t first,
                     int64_t end) {
    if (group->matrix) {
        const char *from = p->array[group->from[i]];
        char *to = p->array[group->to[i]];
        if (i == 0)
            weft_matrix_run_columns(group->matrix, from, p->scratch, to, first, end);
        else
            weft_matrix_run_rows(group->matrix, from, p->scratch, to,
                                 group->past && (uintptr_t)to % CACHE_LINE == 0, first, end);
        return;
    }
    const void *single[1] = {p->array[group->from[i]]};
    const void *const *in = single;
    if (group->from[i] == WEFT_PASS_GROUP_IN) in = p->in;
    void *to[1] = {p->array[group->to[i]]};
    void *const *out = group->to[i] == WEFT_PASS_GROUP_OUT ? p->out : to;
    weft_native_pass_run(&group->pass[i], in, out, p->scratch, first, end);
}

static void merge_before(const weft_pass_group *group, const part *p) {
    const weft_pass_group_real_line *s = &group->real_line;
    if (s->before)
        group->kernels->merge_line(p->array[WEFT_PASS_GROUP_IN], s->in,
                                   p->array[WEFT_PASS_GROUP_SECOND], s->out, s->h, s->roots);
}

static void split_after(const weft_pass_group *group, const part *p) {
    const weft_pass_group_real_line *s = &group->real_line;
    if (s->after)
        group->kernels->split_line(p->array[WEFT_PASS_GROUP_OUT], s->in,
                                   p->array[WEFT_PASS_GROUP_OUT], s->out, s->h, s->roots);
}

static int64_t row_bytes(const weft_pass_group *group, const weft_pass_group_rows *rows,
                         const part *p) {
    return p->last && group->last_bytes > 0 ? group->last_bytes : rows->bytes;
}

static int64_t tiles_of(const weft_pass_group *group, int i, const part *p) {
    return p->last && group->last_tiles > 0 ? group->last_tiles : group->pass[i].tiles;
}

/* Copies rows first..end-1 into the buffer. */
static void fill(const weft_pass_group *group, const part *p, int64_t first, int64_t end) {
    const weft_pass_group_rows *r = &group->fill;
    const int64_t bytes = row_bytes(group, r, p);
    for (int k = 0; k < group->in.pieces && r->rows > 0; k++) {
        const weft_pass_group_piece *piece = &group->in.piece[k];
        const char *base = (const char *)p->in[k] + piece->offset;
        int64_t from = first > piece->first ? first : piece->first;
        int64_t to = end < piece->first + piece->rows ? end : piece->first + piece->rows;
        for (int64_t i = from; i < to; i++) {
            const char *row = base + (i - piece->first) * piece->row_stride;
            for (int64_t b = 0; b < bytes; b += CACHE_LINE)
                __builtin_prefetch(row + ROWS_AHEAD * piece->row_stride + b);
            group->kernels->copy(row, p->array[WEFT_PASS_GROUP_BUFFER] + i * r->buffer_stride,
                                 bytes, false);
        }
    }
}

static void flush(const weft_pass_group *group, const part *p, int64_t first, int64_t end) {
    const weft_pass_group_rows *r = &group->flush;
    const int64_t bytes = row_bytes(group, r, p);
    for (int k = 0; k < group->out.pieces && r->rows > 0; k++) {
        const weft_pass_group_piece *piece = &group->out.piece[k];
        char *base = (char *)p->out[k] + piece->offset;
        int64_t from = first > piece->first ? first : piece->first;
        int64_t to = end < piece->first + piece->rows ? end : piece->first + piece->rows;
        for (int64_t i = from; i < to; i++)
            group->kernels->copy(p->array[WEFT_PASS_GROUP_BUFFER] + i * r->buffer_stride,
                                 base + (i - piece->first) * piece->row_stride, bytes, group->past);
    }
    if (group->past) group->kernels->fence();
}

static void run_whole_part(const weft_pass_group *group, const part *p) {
    if (group->convolution) {
        weft_convolution_run(group->convolution, p->in[0], p->array[WEFT_PASS_GROUP_OUT],
                             p->scratch);
        return;
    }
    merge_before(group, p);
    fill(group, p, 0, group->fill.rows);
    for (int i = 0; i < group->passes; i++) run_pass(group, i, p, 0, tiles_of(group, i, p));
    flush(group, p, 0, group->flush.rows);
    split_after(group, p);
}

static void run_parts(const weft_pass_group *group, const void *const *in, void *const *out,
                      char *memory, int64_t first, int64_t end) {
    for (int64_t number = first; number < end; number++) {
        part p;
        find_part(group, number, in, out, memory, memory, &p);
        run_whole_part(group, &p);
    }
}

#ifdef _OPENMP

/* Runs the parts one after the other, each by all threads: for fewer parts than threads. */
static void share_each_part(const weft_pass_group *group, const void *const *in, void *const *out,
                            char *memory, size_t stride, int threads) {
#pragma omp parallel num_threads(threads)
    {
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        for (int64_t number = 0; number < group->parts; number++) {
            part p;
            find_part(group, number, in, out, memory, memory + (size_t)me * stride, &p);
#pragma omp single
            merge_before(group, &p);
            fill(group, &p, group->fill.rows * me / team, group->fill.rows * (me + 1) / team);
#pragma omp barrier
            for (int i = 0; i < group->passes; i++) {
                int64_t tiles = tiles_of(group, i, &p);
                run_pass(group, i, &p, tiles * me / team, tiles * (me + 1) / team);
#pragma omp barrier
            }
            flush(group, &p, group->flush.rows * me / team, group->flush.rows * (me + 1) / team);
#pragma omp single
            split_after(group, &p);
        }
    }
}

static void share_out_parts(const weft_pass_group *group, const void *const *in, void *const *out,
                            char *memory, size_t stride, int threads) {
#pragma omp parallel num_threads(threads)
    {
        const int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        run_parts(group, in, out, memory + (size_t)me * stride, group->parts * me / team,
                  group->parts * (me + 1) / team);
    }
}

#endif

void weft_pass_group_run(const weft_pass_group *group, const void *const *in, void *const *out,
                         char *memory, size_t stride, int threads) {
    /* One pass on one thread needs nothing else; for a short line the rest would take longer than
     * the transform. */
    if (group->direct && (threads == 1 || group->pass[0].tiles == 1)) {
        weft_native_pass_run(&group->pass[0], in, out, memory, 0, group->pass[0].tiles);
        return;
    }
#ifdef _OPENMP
    if (threads > 1) {
        bool together = group->parts < threads && !group->convolution;
        (together ? share_each_part : share_out_parts)(group, in, out, memory, stride, threads);
        return;
    }
#endif
    (void)stride, (void)threads;
    run_parts(group, in, out, memory, 0, group->parts);
}
