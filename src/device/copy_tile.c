/* Chooses the axes along which the tiles of a copy extend, and estimates the cost of a tile's
 * shape. */
#include "device/copy_tile.h"

#include <math.h>

#include "support/least.h"

enum { LONG_RUN = 256 }; /* bytes: longer runs of a tile gain little */

int weft_copy_unit(const weft_byte_copy *c) {
    uint64_t all = (uintptr_t)c->src | (uintptr_t)c->dst | (uint64_t)c->cell | 16;
    for (int a = 0; a < c->axes; a++) all |= (uint64_t)c->axis[a].src | (uint64_t)c->axis[a].dst;
    return __builtin_ctzll(all);
}

static int64_t step_of(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

static int64_t src_step(const weft_byte_axis *axis) {
    return step_of(axis->src);
}

static int64_t dst_step(const weft_byte_axis *axis) {
    return step_of(axis->dst);
}

static int nearest(const weft_byte_copy *c, int64_t (*step)(const weft_byte_axis *axis)) {
    int found = c->axes - 1;
    for (int a = c->axes - 2; a >= 0; a--)
        if (step(&c->axis[a]) < step(&c->axis[found])) found = a;
    return found;
}

bool weft_tiled_copy_transposes(const weft_byte_copy *copy) {
    return nearest(copy, src_step) != nearest(copy, dst_step);
}

static void sort_axes(const weft_byte_copy *c, int64_t (*step)(const weft_byte_axis *axis),
                      int *order) {
    for (int a = c->axes - 1; a >= 0; a--) {
        int at = c->axes - 1 - a;
        for (; at > 0 && step(&c->axis[order[at - 1]]) > step(&c->axis[a]); at--)
            order[at] = order[at - 1];
        order[at] = a;
    }
}

static void take_axis(weft_tiled_copy *t, int axis, weft_tile_side side) {
    t->n[t->side[axis]] /= t->copy->axis[axis].n;
    t->side[axis] = side;
    t->n[side] *= t->copy->axis[axis].n;
}

/* Extends tiles along further axes, those of the smallest strides first, until their contiguous
 * runs can be long. */
static void lengthen(weft_tiled_copy *t, const int *order, weft_tile_side side) {
    int64_t run = t->copy->cell;
    for (int k = 0; k < t->copy->axes && run < LONG_RUN; k++) {
        if (t->side[order[k]] == WEFT_TILE_OUTSIDE) take_axis(t, order[k], side);
        run *= t->copy->axis[order[k]].n;
    }
}

static int64_t dense_cells(const weft_tiled_copy *t, weft_tile_side side,
                           int64_t (*step)(const weft_byte_axis *axis), const int *order) {
    const int64_t next = step(&t->copy->axis[order[0]]);
    int64_t cells = 1;
    for (int k = 0; k < t->copy->axes; k++) {
        const weft_byte_axis *axis = &t->copy->axis[order[k]];
        if (t->side[order[k]] != side || step(axis) != cells * next) break;
        cells *= axis->n;
    }
    return cells;
}

bool weft_tiled_copy_fills(const weft_tiled_copy *t) {
    const int64_t cells = weft_least(t->n[WEFT_TILE_COLUMNS], WEFT_COPY_THREADS) *
                          weft_least(t->n[WEFT_TILE_ROWS], WEFT_COPY_THREADS);
    return cells * t->cell >= WEFT_COPY_PER_THREAD(1 << t->unit) * WEFT_COPY_THREADS;
}

weft_tiled_copy weft_tiled_copy_of(const weft_byte_copy *c) {
    weft_tiled_copy t = {.copy = c, .n = {1, 1, 1}, .unit = weft_copy_unit(c)};
    t.cell = c->cell >> t.unit;
    for (int a = 0; a < c->axes; a++) t.n[WEFT_TILE_OUTSIDE] *= c->axis[a].n;
    sort_axes(c, src_step, t.by_src_stride);
    sort_axes(c, dst_step, t.by_dst_stride);
    take_axis(&t, t.by_src_stride[0], WEFT_TILE_COLUMNS);
    take_axis(&t, t.by_dst_stride[0], WEFT_TILE_ROWS);
    lengthen(&t, t.by_src_stride, WEFT_TILE_COLUMNS);
    lengthen(&t, t.by_dst_stride, WEFT_TILE_ROWS);
    const weft_tile_side shorter =
        t.n[WEFT_TILE_COLUMNS] < t.n[WEFT_TILE_ROWS] ? WEFT_TILE_COLUMNS : WEFT_TILE_ROWS;
    const int *order = shorter == WEFT_TILE_COLUMNS ? t.by_src_stride : t.by_dst_stride;
    for (int k = 0; k < c->axes && !weft_tiled_copy_fills(&t); k++)
        if (t.side[order[k]] == WEFT_TILE_OUTSIDE) take_axis(&t, order[k], shorter);
    t.dense[WEFT_TILE_COLUMNS] = dense_cells(&t, WEFT_TILE_COLUMNS, src_step, t.by_src_stride);
    t.dense[WEFT_TILE_ROWS] = dense_cells(&t, WEFT_TILE_ROWS, dst_step, t.by_dst_stride);
    return t;
}

int64_t weft_tile_load_steps(const weft_tiled_copy *t, const weft_tile_shape *s) {
    return weft_copy_parts(s->q, weft_copy_rows_at_once(s->p * t->cell));
}

int64_t weft_tile_store_steps(const weft_tiled_copy *t, const weft_tile_shape *s) {
    return weft_copy_parts(s->p, weft_copy_rows_at_once(s->q * t->cell));
}

static bool fits(const weft_tiled_copy *t, const weft_tile_shape *s) {
    const int64_t most = WEFT_COPY_PER_THREAD(1 << t->unit);
    return s->p * s->q * t->cell <= most * WEFT_COPY_THREADS &&
           s->p * t->cell <= WEFT_COPY_THREADS && s->q * t->cell <= WEFT_COPY_THREADS &&
           weft_tile_load_steps(t, s) <= most && weft_tile_store_steps(t, s) <= most;
}

/* The length, in bytes, of a tile's contiguous runs on one side. */
static int64_t run_of(const weft_tiled_copy *t, const weft_tile_shape *s,
                      int64_t (*step)(const weft_byte_axis *axis), const int *order) {
    int64_t run = t->copy->cell,
            left[] = {[WEFT_TILE_OUTSIDE] = 1, [WEFT_TILE_COLUMNS] = s->p, [WEFT_TILE_ROWS] = s->q};
    for (int k = 0; k < t->copy->axes; k++) {
        const weft_byte_axis *axis = &t->copy->axis[order[k]];
        int64_t *cells = &left[t->side[order[k]]];
        if (step(axis) != run) break;
        run *= weft_least(*cells, axis->n);
        if (*cells < axis->n) break;
        *cells /= axis->n;
    }
    return run;
}

/* Whether all rows of the destination begin at a multiple of WEFT_COPY_ACCESS. */
static bool is_aligned(const weft_tiled_copy *t) {
    uint64_t all = (uintptr_t)t->copy->dst;
    for (int a = 0; a < t->copy->axes; a++)
        if (t->side[a] != WEFT_TILE_ROWS) all |= (uint64_t)t->copy->axis[a].dst;
    return all % WEFT_COPY_ACCESS == 0;
}

/* Contiguous bytes that the 32 threads of a warp load or store on a side where cells lie in short
 * runs. */
static int64_t side_by_side(const weft_tiled_copy *t, weft_tile_side side, int64_t cells) {
    enum { THREADS = 32 };
    const int64_t rows = THREADS / (cells * t->cell);
    if (t->dense[side] >= cells) return INT64_MAX;
    return t->dense[side] * t->copy->cell * (rows > 1 ? rows : 1);
}

/* Bytes that memory moves for each byte that is wanted on one side: each run costs `end` bytes
 * more, and so do memory sectors of which a warp uses only a part. */
static double moved(int64_t run, double end, int64_t together, double sector) {
    return fmax(1 + end / (double)run, sector / (double)together);
}

/* The cost of all tiles, in bytes that memory could have moved in that time: either the bytes that
 * it does move or, if that takes longer, the steps of the threads and a fixed cost for each tile.
 * The constants were measured on an H200. Stored runs cost most where they do not end at a multiple
 * of WEFT_COPY_ACCESS. */
static double tile_cost(const weft_tiled_copy *t, const weft_tile_shape *s, bool aligned) {
    enum { STEP = 840, GROUP = 9000 };
    const double tiles = (double)(weft_copy_parts(t->n[WEFT_TILE_COLUMNS], s->p) *
                                  weft_copy_parts(t->n[WEFT_TILE_ROWS], s->q));
    const double bytes = (double)(t->n[WEFT_TILE_COLUMNS] * t->n[WEFT_TILE_ROWS] * t->copy->cell);
    const double loads = moved(run_of(t, s, src_step, t->by_src_stride), 24,
                               side_by_side(t, WEFT_TILE_COLUMNS, s->p), 16);
    const double stores = moved(run_of(t, s, dst_step, t->by_dst_stride), aligned ? 32 : 256,
                                side_by_side(t, WEFT_TILE_ROWS, s->q), 43);
    return fmax(bytes * (loads + stores),
                tiles * (GROUP + STEP * (double)(weft_tile_load_steps(t, s) +
                                                 weft_tile_store_steps(t, s))));
}

/* The k-th candidate for the size of a tile along one side: all cells of the side, or parts of at
 * most a power of two. Parts are of equal size if they are few, and whole runs of cells if runs are
 * short. */
static int64_t candidate(const weft_tiled_copy *t, weft_tile_side side, int k) {
    const int64_t n = t->n[side], most = (WEFT_COPY_THREADS >> k) / t->cell;
    if (n <= most || most == 0) return n;
    if (t->dense[side] <= most) return most - most % t->dense[side];
    return n >= 8 * most ? most : weft_copy_parts(n, weft_copy_parts(n, most));
}

weft_tile_shape weft_tile_choose(const weft_tiled_copy *t) {
    enum { SIZES = 8 };
    const bool aligned = is_aligned(t);
    int64_t p[SIZES], q[SIZES];
    for (int i = 0; i < SIZES; i++) {
        p[i] = candidate(t, WEFT_TILE_COLUMNS, i);
        q[i] = candidate(t, WEFT_TILE_ROWS, i);
    }
    weft_tile_shape best = {1, 1};
    double cheapest = INFINITY;
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++) {
            const weft_tile_shape shape = {p[i], q[j]};
            if (4 * p[i] * q[j] < best.p * best.q || !fits(t, &shape)) continue;
            const double cost = tile_cost(t, &shape, aligned);
            if (cost >= cheapest) continue;
            cheapest = cost;
            best = shape;
        }
    return best;
}
