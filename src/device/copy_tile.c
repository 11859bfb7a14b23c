/* Which axes tiles extend along, and what a tile of some shape costs. */
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

/* Takes further axes, nearest first, until tiles can have long runs. */
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

/* How long the runs of a tile are on one side, in bytes. */
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

/* Whether all rows of the destination begin where memory is accessed at once. */
static bool is_aligned(const weft_tiled_copy *t) {
    uint64_t all = (uintptr_t)t->copy->dst;
    for (int a = 0; a < t->copy->axes; a++)
        if (t->side[a] != WEFT_TILE_ROWS) all |= (uint64_t)t->copy->axis[a].dst;
    return all % WEFT_COPY_ACCESS == 0;
}

/* Bytes side by side that 32 threads next to each other load or store, where so many cells of a
 * side jump from one short run to another. */
static int64_t side_by_side(const weft_tiled_copy *t, weft_tile_side side, int64_t cells) {
    enum { THREADS = 32 };
    const int64_t rows = THREADS / (cells * t->cell);
    if (t->dense[side] >= cells) return INT64_MAX;
    return t->dense[side] * t->copy->cell * (rows > 1 ? rows : 1);
}

/* Bytes that are moved for each byte that is wanted on one side: `end` more for each run, and those
 * of sectors that are only used in part by threads side by side. */
static double moved(int64_t run, double end, int64_t together, double sector) {
    return fmax(1 + end / (double)run, sector / (double)together);
}

/* What all tiles cost, in bytes that memory could have moved: what it does move, or, if that takes
 * longer, what threads do, step by step and before and after. The numbers are measured, on an H200;
 * runs that are stored cost most where they do not end with an access. */
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

/* Sizes of a tile along one side, the k-th of them: all of it, and parts of at most a power of two,
 * which are equal ones if not many, and whole runs of cells if these are short. */
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
