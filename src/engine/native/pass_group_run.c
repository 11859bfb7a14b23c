/* Running a pass group: what is done to each part of the data while it is in the cache, and by
 * which thread. */
#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "engine/native/pass_group_parts.h"
#include "support/strided.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    ROWS_AHEAD = 2 /* how far ahead of the copied row to prefetch */
};

static size_t rounded(size_t bytes) {
    return (bytes + 4095) / 4096 * 4096 + 5 * WEFT_CACHE_LINE;
}

/* Whether all threads work on one part after the other: where there are fewer parts than threads.
 * They share its buffer then. */
static bool shares_parts(const weft_pass_group *group, int threads) {
    return threads > 1 && group->parts < threads && !group->gathered;
}

static size_t buffer_of(const weft_pass_group *group) {
    return group->buffer_bytes > 0 ? rounded(group->buffer_bytes) : 0;
}

weft_room_size weft_pass_group_room(const weft_pass_group *group, int threads) {
    const bool together = shares_parts(group, threads);
    if (group->convolution)
        return weft_line_convolution_room(group->convolution, together ? threads : 1);
    size_t scratch = 0;
    for (int i = 0; i < group->passes && !group->matrix; i++) {
        size_t bytes = weft_native_pass_scratch(&group->pass[i]);
        if (bytes > scratch) scratch = bytes;
    }
    if (group->matrix) scratch = weft_matrix_tile_bytes(group->matrix);
    if (group->gathered) scratch = weft_pass_group_room(&group->gathered->group, 1).own;
    if (together) return (weft_room_size){buffer_of(group), scratch};
    return (weft_room_size){0, buffer_of(group) + scratch};
}

/* The addresses of a part's arrays, and this thread's scratch memory. */
typedef struct part {
    const void *in[WEFT_MAX_PIECES];
    void *out[WEFT_MAX_PIECES];
    char *array[WEFT_PASS_GROUP_ARRAYS]; /* those of IN and OUT are in[0] and out[0] */
    const char *column; /* the last numbers of the rows of `fill`, if they lie apart */
    int64_t number;     /* of a round trip: of the first element in the box of the operators */
    char *scratch;
    bool last;            /* the last part along loop 0 */
    int64_t across, down; /* transposed: lines of the part; the last ones may have fewer */
} part;

static int64_t part_offset(const weft_pass_group *group, const weft_pass_group_piece *piece,
                           const int64_t *index) {
    int64_t offset = 0;
    for (int i = 0; i < group->loops; i++) offset += index[i] * piece->stride[i];
    return offset;
}

static void find_part(const weft_pass_group *group, int64_t number, const void *const *in,
                      void *const *out, char *buffer, char *scratch, part *p) {
    int64_t index[WEFT_PASS_LOOPS];
    p->last = group->loops > 0 && number % group->loop[0] == group->loop[0] - 1;
    for (int i = 0; i < group->loops; i++) {
        index[i] = number % group->loop[i];
        number /= group->loop[i];
    }
    const weft_pass_group_transposed *m = &group->transposed;
    if (m->across > 0) {
        const int64_t across = m->lines_across - index[0] * m->across,
                      down = m->lines_down - index[1] * m->down;
        p->across = across < m->across ? across : m->across;
        p->down = down < m->down ? down : m->down;
    }
    p->column = group->column.array;
    for (int i = 0; i < group->loops && p->column; i++)
        p->column += index[i] * group->column.stride[i];
    p->number = 0;
    for (int i = 0; i < group->loops; i++) p->number += index[i] * group->spectrum[i];
    for (int k = 0; k < group->in.pieces; k++)
        p->in[k] = (const char *)in[k] + part_offset(group, &group->in.piece[k], index);
    for (int k = 0; k < group->out.pieces; k++)
        p->out[k] = (char *)out[k] + part_offset(group, &group->out.piece[k], index);
    p->array[WEFT_PASS_GROUP_IN] = (char *)(uintptr_t)p->in[0];
    p->array[WEFT_PASS_GROUP_OUT] = p->out[0];
    p->array[WEFT_PASS_GROUP_BUFFER] = buffer;
    p->scratch = scratch;
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
                                 group->past && (uintptr_t)to % WEFT_CACHE_LINE == 0,
                                 group->pass[i].scale, first, end);
        return;
    }
    /* A plane in the buffer may have two pieces. */
    const void *single[2] = {p->array[group->from[i]], p->array[group->from[i]]};
    const void *const *in = single;
    if (group->from[i] == WEFT_PASS_GROUP_IN) in = p->in;
    void *to[2] = {p->array[group->to[i]], p->array[group->to[i]]};
    void *const *out = group->to[i] == WEFT_PASS_GROUP_OUT ? p->out : to;
    weft_native_pass_run(&group->pass[i], in, out, p->scratch, p->number, first, end);
}

/* Splits or merges share number `me` of `team` shares of a long real line. Shares are whole blocks,
 * lest what is left over by vectors, and so rounded otherwise, depends on the number of threads. */
static void run_real_line(const weft_pass_group *group, const void *in, void *out, int64_t me,
                          int64_t team) {
    enum { BLOCK = 512 };
    const weft_pass_group_real_line *s = &group->real_line;
    const int64_t pairs = s->h / 2 + 1, blocks = (pairs + BLOCK - 1) / BLOCK;
    const weft_kernels *k = group->kernels;
    double roots[2 * BLOCK];
    for (int64_t b = blocks * me / team; b < blocks * (me + 1) / team; b++) {
        const int64_t first = b * BLOCK, rest = pairs - first;
        const int64_t count = rest < BLOCK ? rest : BLOCK;
        weft_root_table_copy(&s->roots, k, first, count, roots);
        if (s->before)
            k->merge_line(in, s->in, out, s->out, s->h, roots, first, first + count);
        else
            k->split_line(out, s->out, s->h, roots, first, first + count, group->scale);
    }
}

static void merge_before(const weft_pass_group *group, const part *p, int64_t me, int64_t team) {
    if (group->real_line.before)
        run_real_line(group, p->array[WEFT_PASS_GROUP_IN], p->array[WEFT_PASS_GROUP_OUT], me, team);
}

static void split_after(const weft_pass_group *group, const part *p, int64_t me, int64_t team) {
    char *spectrum = p->array[WEFT_PASS_GROUP_OUT];
    if (group->real_line.after) run_real_line(group, spectrum, spectrum, me, team);
}

static int64_t row_bytes(const weft_pass_group *group, const weft_pass_group_rows *rows,
                         const part *p) {
    return p->last && group->last_bytes > 0 ? group->last_bytes : rows->bytes;
}

static int64_t tiles_of(const weft_pass_group *group, int i, const part *p) {
    return p->last && group->last_tiles > 0 ? group->last_tiles : group->pass[i].tiles;
}

/* Copies rows first..end-1 into the buffer, run by run. */
static void fill_in_runs(const weft_pass_group *group, const part *p, int64_t first, int64_t end) {
    const weft_pass_group_transposed *m = &group->transposed;
    const int64_t element = weft_complex_bytes(group->kernels), stride = group->in.whole.row_stride;
    for (int64_t i = first; i < end; i++)
        for (int64_t k = 0; k < p->down; k++) {
            const char *run = (const char *)p->in[0] + i * stride + k * m->in_stride;
            for (int64_t b = 0; b < p->across * element; b += WEFT_CACHE_LINE)
                __builtin_prefetch(run + ROWS_AHEAD * stride + b);
            group->kernels->copy(run,
                                 p->array[WEFT_PASS_GROUP_BUFFER] + i * group->fill.buffer_stride +
                                     k * m->across * element,
                                 p->across * element, false);
        }
}

/* Copies rows first..end-1 out of the buffer, column by column. */
static void flush_transposed(const weft_pass_group *group, const part *p, int64_t first,
                             int64_t end) {
    const weft_pass_group_transposed *m = &group->transposed;
    const int64_t element = weft_complex_bytes(group->kernels);
    const bool plain = !group->past && group->scale == 1;
    _Alignas(WEFT_CACHE_LINE) char run[WEFT_PASS_GROUP_RUN];
    for (int64_t i = first; i < end; i++)
        for (int64_t k = 0; k < p->across; k++) {
            char *place = (char *)p->out[0] + i * group->out.whole.row_stride + k * m->out_stride;
            weft_copy_strided(p->array[WEFT_PASS_GROUP_BUFFER] + i * group->flush.buffer_stride +
                                  k * element,
                              m->across * element, plain ? place : run, element, p->down, element);
            if (!plain)
                group->kernels->copy_scaled(run, place, p->down * element, group->past,
                                            group->scale);
        }
    if (group->past) group->kernels->fence();
}

/* Copies rows first..end-1 into the buffer. */
static void fill(const weft_pass_group *group, const part *p, int64_t first, int64_t end) {
    if (group->transposed.across > 0) {
        fill_in_runs(group, p, first, end);
        return;
    }
    const weft_pass_group_rows *r = &group->fill;
    const int64_t element = weft_complex_bytes(group->kernels);
    const int64_t bytes = row_bytes(group, r, p) - (p->column ? element : 0);
    for (int k = 0; k < group->in.pieces && r->rows > 0; k++) {
        const weft_pass_group_piece *piece = &group->in.piece[k];
        const char *base = (const char *)p->in[k] + piece->offset;
        int64_t from = first > piece->first ? first : piece->first;
        int64_t to = end < piece->first + piece->rows ? end : piece->first + piece->rows;
        for (int64_t i = from; i < to; i++) {
            const char *row = base + (i - piece->first) * piece->row_stride;
            for (int64_t b = 0; b < bytes; b += WEFT_CACHE_LINE)
                __builtin_prefetch(row + ROWS_AHEAD * piece->row_stride + b);
            char *filled = p->array[WEFT_PASS_GROUP_BUFFER] + i * r->buffer_stride;
            group->kernels->copy(row, filled, bytes, false);
            if (p->column) memcpy(filled + bytes, p->column + i * element, (size_t)element);
        }
    }
}

static void flush(const weft_pass_group *group, const part *p, int64_t first, int64_t end) {
    if (group->transposed.across > 0) {
        flush_transposed(group, p, first, end);
        return;
    }
    const weft_pass_group_rows *r = &group->flush;
    const int64_t bytes = row_bytes(group, r, p);
    for (int k = 0; k < group->out.pieces && r->rows > 0; k++) {
        const weft_pass_group_piece *piece = &group->out.piece[k];
        char *base = (char *)p->out[k] + piece->offset;
        int64_t from = first > piece->first ? first : piece->first;
        int64_t to = end < piece->first + piece->rows ? end : piece->first + piece->rows;
        for (int64_t i = from; i < to; i++) {
            char *row = p->array[WEFT_PASS_GROUP_BUFFER] + i * r->buffer_stride;
            char *place = base + (i - piece->first) * piece->row_stride;
            if (group->operated)
                weft_native_store_operated(group->operated, group->kernels, row, place, bytes,
                                           group->past);
            else
                group->kernels->copy_scaled(row, place, bytes, group->past, group->scale);
        }
    }
    if (group->past) group->kernels->fence();
}

static void run_whole_part(const weft_pass_group *group, const part *p) {
    merge_before(group, p, 0, 1);
    fill(group, p, 0, group->fill.rows);
    for (int i = 0; i < group->passes; i++) run_pass(group, i, p, 0, tiles_of(group, i, p));
    flush(group, p, 0, group->flush.rows);
    split_after(group, p, 0, 1);
}

/* Runs parts by one thread, with its own memory. */
static void run_parts(const weft_pass_group *group, const void *const *in, void *const *out,
                      char *memory, int64_t first, int64_t end) {
    const weft_room room = {.own = memory, .threads = 1};
    for (int64_t number = first; number < end; number++) {
        part p;
        find_part(group, number, in, out, memory, memory + buffer_of(group), &p);
        if (group->convolution)
            weft_line_convolution_run(group->convolution, p.in[0], p.out[0], &room);
        else if (group->gathered)
            weft_pass_group_run_gathered(group->gathered, p.last, p.in[0], p.out[0],
                                         p.array[WEFT_PASS_GROUP_BUFFER], p.scratch);
        else
            run_whole_part(group, &p);
    }
}

#ifdef _OPENMP

static void share_each_part(const weft_pass_group *group, const void *const *in, void *const *out,
                            const weft_room *room) {
#pragma omp parallel num_threads(room->threads)
    {
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        for (int64_t number = 0; number < group->parts; number++) {
            part p;
            find_part(group, number, in, out, room->shared, weft_room_of(room, me), &p);
            merge_before(group, &p, me, team);
            fill(group, &p, group->fill.rows * me / team, group->fill.rows * (me + 1) / team);
#pragma omp barrier
            for (int i = 0; i < group->passes; i++) {
                int64_t tiles = tiles_of(group, i, &p);
                run_pass(group, i, &p, tiles * me / team, tiles * (me + 1) / team);
#pragma omp barrier
            }
            flush(group, &p, group->flush.rows * me / team, group->flush.rows * (me + 1) / team);
            split_after(group, &p, me, team);
#pragma omp barrier
        }
    }
}

static void share_each_convolution(const weft_pass_group *group, const void *const *in,
                                   void *const *out, const weft_room *room) {
    for (int64_t number = 0; number < group->parts; number++) {
        part p;
        find_part(group, number, in, out, room->shared, room->own, &p);
        weft_line_convolution_run(group->convolution, p.in[0], p.out[0], room);
    }
}

static void share_out_parts(const weft_pass_group *group, const void *const *in, void *const *out,
                            const weft_room *room) {
#pragma omp parallel num_threads(room->threads)
    {
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        run_parts(group, in, out, weft_room_of(room, me), group->parts * me / team,
                  group->parts * (me + 1) / team);
    }
}

#endif

void weft_pass_group_run(const weft_pass_group *group, const void *const *in, void *const *out,
                         const weft_room *room) {
    /* One pass on one thread needs nothing else; for a short line the rest would take longer than
     * the transform. */
    if (group->direct && (room->threads == 1 || group->pass[0].tiles == 1)) {
        weft_native_pass_run(&group->pass[0], in, out, room->own + buffer_of(group), 0, 0,
                             group->pass[0].tiles);
        return;
    }
#ifdef _OPENMP
    if (room->threads > 1) {
        if (!shares_parts(group, room->threads))
            share_out_parts(group, in, out, room);
        else if (group->convolution)
            share_each_convolution(group, in, out, room);
        else
            share_each_part(group, in, out, room);
        return;
    }
#endif
    run_parts(group, in, out, room->own, 0, group->parts);
}
