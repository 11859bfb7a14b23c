/* Running passes of cosine and sine transforms: which lines each tile holds, and how their points
 * get from memory to the tile and back. */
#include "engine/native/r2r_pass.h"

#include "engine/native/number.h"
#include "engine/native/tuning.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    MOST_LANES = WEFT_ROW_BYTES / 2 / (int)sizeof(float),
    AHEAD = 1024 /* bytes from what is loaded to what is prefetched */
};

/* Points as the kernels of one end count them: from either end of the lines. */
typedef struct points {
    void *first;
    int64_t stride;
} points;

static points numbered(const weft_r2r_pass *pass, const void *x, int64_t stride, bool backwards) {
    char *first = (char *)(uintptr_t)x;
    if (!backwards) return (points){first, stride};
    return (points){first + (pass->line.n - 1) * stride, -stride};
}

static void load_points(const weft_r2r_pass *pass, const weft_r2r_kernels *k, const void *x,
                        int64_t stride, void *tile, const int32_t *rows) {
    const points p = numbered(pass, x, stride, pass->line.in_backwards);
    k->load[pass->line.load.kind](&pass->line.load, p.first, p.stride, tile, rows);
}

static void store_points(const weft_r2r_pass *pass, const weft_r2r_kernels *k, const void *tile,
                         const int32_t *rows, void *y, int64_t stride) {
    const points p = numbered(pass, y, stride, pass->line.out_backwards);
    k->store[pass->line.store.kind](&pass->line.store, tile, rows, p.first, p.stride);
}

/* The lines of a tile: the loop indices of each. */
typedef struct tile_lines {
    int count;
    int64_t index[MOST_LANES][WEFT_R2R_LOOPS];
} tile_lines;

static void find_lines(const weft_r2r_pass *pass, int64_t number, tile_lines *t) {
    const int64_t lanes = pass->kernels->lanes;
    int64_t rest = number * lanes;
    if (pass->by_loop) {
        const int64_t chunks = (pass->loop[0] + lanes - 1) / lanes;
        rest = number / chunks * pass->loop[0] + number % chunks * lanes;
    }
    for (int i = 0; i < pass->loops; i++) {
        t->index[0][i] = rest % pass->loop[i];
        rest /= pass->loop[i];
    }
    for (t->count = 1; t->count < lanes; t->count++) {
        int64_t *index = t->index[t->count];
        int i = 0;
        memcpy(index, t->index[t->count - 1], sizeof t->index[0]);
        while (i < pass->loops && ++index[i] == pass->loop[i]) index[i++] = 0;
        if (i == pass->loops || (pass->by_loop && i > 0)) return;
    }
}

static int64_t offset_of(const weft_r2r_pass *pass, const weft_r2r_piece *p, const int64_t *index) {
    int64_t offset = p->offset;
    for (int i = 0; i < pass->loops; i++) offset += index[i] * p->loop_stride[i];
    return offset;
}

/* Copies the points of a piece so that each is a run of the lines, two runs in a row of the copy,
 * in the order of the lines that the kernels have. Behind an odd number of points there is a run of
 * zeros, where the next piece begins. */
static void copy_in(const weft_r2r_pass *pass, const weft_r2r_piece *p, const char *base,
                    const tile_lines *t, char *copy) {
    const weft_kernels *k = pass->kernels;
    const weft_r2r_side *s = &pass->in;
    const int64_t pairs = p->n / 2;
    const bool odd = p->n % 2 == 1;
    const void *lines[MOST_LANES], *last[MOST_LANES];
    copy += p->first * WEFT_R2R_RUN_BYTES;
    if (s->across) {
        const int64_t *offset = s->offset + p->first;
        base += offset_of(pass, p, t->index[0]);
        k->load_real_rows(base, offset, pairs, true, copy, pass->rows, t->count);
        if (odd)
            k->load_real_rows(base, offset + 2 * pairs, 1, false, copy, pass->rows + pairs,
                              t->count);
        return;
    }
    for (int l = 0; l < t->count; l++) {
        lines[l] = base + offset_of(pass, p, t->index[l]);
        last[l] = (const char *)lines[l] + 2 * pairs * p->stride;
    }
    if (s->along)
        k->load_lines(lines, pairs, copy, pass->rows, t->count, AHEAD);
    else
        k->gather(lines, 2 * p->stride, p->stride, pairs, copy, pass->rows, t->count);
    if (odd) k->load_real_lines(last, 1, copy, pass->rows + pairs, t->count);
}

static void copy_out(const weft_r2r_pass *pass, const weft_r2r_piece *p, const char *copy,
                     char *base, const tile_lines *t) {
    const weft_kernels *k = pass->kernels;
    const weft_r2r_side *s = &pass->out;
    const int64_t pairs = p->n / 2;
    const bool odd = p->n % 2 == 1;
    void *lines[MOST_LANES], *last[MOST_LANES];
    copy += p->first * WEFT_R2R_RUN_BYTES;
    if (s->across) {
        const int64_t *offset = s->offset + p->first;
        base += offset_of(pass, p, t->index[0]);
        k->store_real_rows(copy, pass->rows, pairs, true, base, offset, t->count, pass->scale);
        if (odd)
            k->store_real_rows(copy, pass->rows + pairs, 1, false, base, offset + 2 * pairs,
                               t->count, pass->scale);
        return;
    }
    for (int l = 0; l < t->count; l++) {
        lines[l] = base + offset_of(pass, p, t->index[l]);
        last[l] = (char *)lines[l] + 2 * pairs * p->stride;
    }
    if (s->along)
        k->store_lines(copy, pass->rows, pairs, lines, t->count, false, pass->scale);
    else
        k->scatter(copy, pass->rows, pairs, lines, 2 * p->stride, p->stride, t->count, pass->scale);
    if (odd) k->store_real_lines(copy, pass->rows + pairs, 1, last, t->count, pass->scale);
}

static void run_tiles(const weft_r2r_pass *pass, const void *const *in, void *const *out,
                      char *memory, int64_t first, int64_t end) {
    const weft_r2r_kernels *k = pass->kernels->r2r_of_tile;
    const weft_r2r_side *from = &pass->in, *to = &pass->out;
    /* The kernels have an order of their own for the lines of a copy. */
    const bool arrays = from->across && to->across && from->pieces == 1 && to->pieces == 1 &&
                        pass->scale == 1; /* the kernels of the ends do not scale */
    char *copy = memory, *tile = memory + pass->copy_bytes;
    tile_lines t;
    for (int64_t number = first; number < end; number++) {
        find_lines(pass, number, &t);
        const bool direct = arrays && t.count == pass->kernels->lanes;
        const char *x = copy;
        char *y = copy;
        if (direct) {
            x = (const char *)in[0] + offset_of(pass, from->piece, t.index[0]);
            y = (char *)out[0] + offset_of(pass, to->piece, t.index[0]);
        }
        for (int p = 0; p < from->pieces && !direct; p++)
            copy_in(pass, &from->piece[p], in[p], &t, copy);
        load_points(pass, k, x, direct ? from->piece->stride : WEFT_R2R_RUN_BYTES, tile,
                    pass->transform.load_row);
        weft_line_run(&pass->transform, tile);
        store_points(pass, k, tile, pass->transform.store_row, y,
                     direct ? to->piece->stride : WEFT_R2R_RUN_BYTES);
        for (int p = 0; p < to->pieces && !direct; p++)
            copy_out(pass, &to->piece[p], copy, out[p], &t);
    }
}

/* Multiplies the points of a line where it is stored. */
static void scale_line(const weft_r2r_pass *pass, char *y, int64_t stride) {
    for (int64_t j = 0; j < pass->line.n; j++, y += stride)
        weft_number_set(pass->kernels, y, 0, weft_number_get(pass->kernels, y, 0) * pass->scale);
}

static void run_singly(const weft_r2r_pass *pass, const void *in, void *out, char *memory) {
    const weft_r2r_kernels *k = pass->kernels->r2r_of_line;
    const weft_r2r_piece *from = pass->in.piece, *to = pass->out.piece;
    char *points_of_line = memory, *results = memory + pass->copy_bytes;
    int64_t index[WEFT_R2R_LOOPS];
    for (int64_t number = 0; number < pass->lines; number++) {
        int64_t rest = number;
        for (int i = 0; i < pass->loops; i++) {
            index[i] = rest % pass->loop[i];
            rest /= pass->loop[i];
        }
        load_points(pass, k, (const char *)in + offset_of(pass, from, index), from->stride,
                    points_of_line, NULL);
        weft_native_run(pass->single, points_of_line, results);
        char *y = (char *)out + offset_of(pass, to, index);
        store_points(pass, k, results, NULL, y, to->stride);
        if (pass->scale != 1) scale_line(pass, y, to->stride);
    }
}

void weft_r2r_pass_run(const weft_r2r_pass *pass, const void *const *in, void *const *out,
                       const weft_room *room) {
    if (pass->single) {
        run_singly(pass, in[0], out[0], room->own);
        return;
    }
#ifdef _OPENMP
    if (room->threads > 1) {
#pragma omp parallel num_threads(room->threads)
        {
            const int me = omp_get_thread_num(), team = omp_get_num_threads();
            run_tiles(pass, in, out, weft_room_of(room, me), pass->tiles * me / team,
                      pass->tiles * (me + 1) / team);
        }
        return;
    }
#endif
    run_tiles(pass, in, out, room->own, 0, pass->tiles);
}
