/* How strided copies are cut into boxes for a library and into groups of threads for kernels. */
#include "device/strided_copy.h"

#include <math.h>

#include "kernels/copy_shape.h"
#include "support/checked.h"
#include "support/divisor.h"
#include "support/error.h"
#include "support/least.h"

enum {
    SHORT_CELL = 64, /* bytes: smaller pieces waste the memory's accesses unless they are tiled */
    LONG_RUN = 256,  /* bytes: longer runs of a tile gain little */
    LONG_AXIS = 16 * WEFT_COPY_THREADS,
    MOST = 1 << 30 /* groups of a launch, and indices of loops: divisors take up to 2^31 */
};

typedef weft_status (*launcher)(void *context, const weft_copy_launch *launch);

extern const char weft_kernels_copy_shape_h[], weft_kernels_copy_cl[]; /* cmake/embed.cmake */

weft_byte_copy weft_byte_copy_of(const weft_copy *copy, const void *src, void *dst) {
    const int64_t element = (int64_t)copy->element_bytes;
    weft_byte_copy c = {.src = (const char *)src + copy->src_offset * element,
                        .dst = (char *)dst + copy->dst_offset * element,
                        .cell = element,
                        .axes = copy->axes};
    for (int a = 0; a < copy->axes; a++)
        c.axis[a] = (weft_byte_axis){copy->n[a], copy->src_stride[a] * element,
                                     copy->dst_stride[a] * element};
    while (c.axes > 0 && c.axis[c.axes - 1].src == c.cell && c.axis[c.axes - 1].dst == c.cell)
        c.cell *= c.axis[--c.axes].n;
    return c;
}

/* ---- boxes ---- */

static bool is_pitch(const weft_byte_axis *axis, int64_t cell, int64_t most) {
    return axis->src >= cell && axis->dst >= cell && axis->src <= most && axis->dst <= most;
}

/* Planes are whole numbers of rows apart, and do not overlap. */
static bool is_plane(const weft_byte_axis *plane, const weft_byte_axis *row) {
    return plane->src % row->src == 0 && plane->dst % row->dst == 0 &&
           plane->src / row->src >= row->n && plane->dst / row->dst >= row->n;
}

bool weft_byte_copy_is_box(const weft_byte_copy *c, int64_t most) {
    if (c->axes == 0) return true;
    if (c->axes == 1) return is_pitch(&c->axis[0], c->cell, most);
    return c->axes == 2 && is_pitch(&c->axis[1], c->cell, most) &&
           is_plane(&c->axis[0], &c->axis[1]);
}

/* Without the slowest axis. */
static weft_byte_copy inner_part(const weft_byte_copy *c) {
    weft_byte_copy inner = *c;
    inner.axes--;
    for (int a = 0; a < inner.axes; a++) inner.axis[a] = c->axis[a + 1];
    return inner;
}

weft_status weft_byte_copy_by_boxes(const weft_byte_copy *c, int64_t most,
                                    weft_status (*box)(void *context, const weft_byte_copy *copy),
                                    void *context) {
    if (weft_byte_copy_is_box(c, most)) return box(context, c);
    weft_byte_copy inner = inner_part(c);
    for (int64_t i = 0; i < c->axis[0].n; i++) {
        WEFT_TRY(weft_byte_copy_by_boxes(&inner, most, box, context));
        inner.src += c->axis[0].src;
        inner.dst += c->axis[0].dst;
    }
    return WEFT_SUCCESS;
}

int64_t weft_byte_copy_boxes(const weft_byte_copy *c, int64_t most) {
    int64_t boxes = 1;
    for (weft_byte_copy inner = *c; !weft_byte_copy_is_box(&inner, most);
         inner = inner_part(&inner))
        if (!weft_checked_multiply(boxes, inner.axis[0].n, &boxes)) return INT64_MAX;
    return boxes;
}

/* ---- kernels ---- */

static weft_copy_divisor divisor(int64_t n) {
    weft_copy_divisor d = {.n = (unsigned)n};
    weft_divisor(d.n, &d.multiplier, &d.shift);
    return d;
}

static int64_t parts_of(int64_t n, int64_t part) {
    return (n + part - 1) / part;
}

/* The widest unit, as the logarithm of its bytes. */
static int widest_unit(const weft_byte_copy *c) {
    uint64_t all = (uintptr_t)c->src | (uintptr_t)c->dst | (uint64_t)c->cell | 16;
    for (int a = 0; a < c->axes; a++) all |= (uint64_t)c->axis[a].src | (uint64_t)c->axis[a].dst;
    return __builtin_ctzll(all);
}

static void add_axis(weft_copy_axis *axes, weft_copy_loops *loops, const weft_byte_axis *axis) {
    axes[loops->first + loops->axes++] = (weft_copy_axis){divisor(axis->n), axis->src, axis->dst};
    loops->count *= (unsigned)axis->n;
}

/* Of rows of so many units, how many a group of threads takes at once. */
static int64_t rows_at_once(int64_t units) {
    return WEFT_COPY_THREADS / units;
}

/* The same for rows that lie one behind the other where they are stored: steps then begin with an
 * access of memory, if that costs few of the threads. */
static int64_t packed_rows_at_once(int64_t units, int unit) {
    enum { ACCESS = 64 };
    const int64_t rows = rows_at_once(units);
    int64_t together = 1;
    while ((together * units << unit) % ACCESS != 0) together *= 2;
    return rows >= 4 * together ? rows - rows % together : rows;
}

static weft_copy_walk walk_of(int64_t units, int64_t at_once, int64_t steps) {
    return (weft_copy_walk){divisor(units), (int)at_once, (int)steps};
}

/* Rows as wide as they are, or parts of a row that leave few threads without work. */
static int choose_width(int64_t length) {
    enum { NARROW = 32, STEP = 8 };
    if (length <= NARROW) return (int)length;
    int best = WEFT_COPY_THREADS;
    double most = 0;
    for (int width = WEFT_COPY_THREADS; width >= NARROW; width -= STEP) {
        const double busy =
            (double)(length * rows_at_once(width)) / (double)parts_of(length, width);
        if (busy <= most) continue;
        most = busy;
        best = width;
    }
    return length <= WEFT_COPY_THREADS && (double)(length * rows_at_once(length)) >= most
               ? (int)length
               : best;
}

static weft_status launch_rows(const weft_byte_copy *c, launcher launch, void *context) {
    const int unit = widest_unit(c);
    weft_copy_rows rows = {.length = c->cell >> unit, .rows.count = 1};
    for (int a = 0; a < c->axes; a++) add_axis(rows.axis, &rows.rows, &c->axis[a]);
    const int width = choose_width(rows.length);
    const int64_t at_once = packed_rows_at_once(width, unit);
    const int64_t most = weft_least(WEFT_COPY_PER_THREAD(1 << unit), WEFT_COPY_ROWS / at_once);
    const int64_t steps = weft_least(most, parts_of(rows.rows.count, at_once));
    const int64_t parts = parts_of(rows.length, width);
    const int64_t groups = parts * parts_of(rows.rows.count, at_once * steps);
    rows.walk = walk_of(width, at_once, steps);
    rows.parts = divisor(parts);
    const weft_copy_launch made = {WEFT_COPY_KERNEL_ROWS, unit, c->src, c->dst, &rows, sizeof rows,
                                   (unsigned)groups};
    return launch(context, &made);
}

/* What a tile takes of an axis: its columns, its rows, or one index. */
typedef enum tile_side { OUTSIDE, COLUMNS, ROWS } tile_side;

/* A copy by tiles. The axes of each side are loops; `near_src` and `near_dst` are all axes, by how
 * close together their cells lie. The first `dense` cells of a side are evenly spaced: of columns
 * in the source, of rows in the destination. */
typedef struct tiled_copy {
    const weft_byte_copy *copy;
    tile_side side[WEFT_AXES];
    int near_src[WEFT_AXES], near_dst[WEFT_AXES];
    int64_t n[3], dense[3]; /* cells, by side */
    int64_t cell;           /* units */
    int unit;
} tiled_copy;

static int64_t step_of(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

static int64_t src_step(const weft_byte_axis *axis) {
    return step_of(axis->src);
}

static int64_t dst_step(const weft_byte_axis *axis) {
    return step_of(axis->dst);
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

static void take_axis(tiled_copy *t, int axis, tile_side side) {
    t->n[t->side[axis]] /= t->copy->axis[axis].n;
    t->side[axis] = side;
    t->n[side] *= t->copy->axis[axis].n;
}

/* Takes further axes, nearest first, until tiles can have long runs. */
static void lengthen(tiled_copy *t, const int *order, tile_side side) {
    int64_t run = t->copy->cell;
    for (int k = 0; k < t->copy->axes && run < LONG_RUN; k++) {
        if (t->side[order[k]] == OUTSIDE) take_axis(t, order[k], side);
        run *= t->copy->axis[order[k]].n;
    }
}

static int64_t dense_cells(const tiled_copy *t, tile_side side,
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

/* Whether the largest tile is one that all threads have something to do with. */
static bool fills_a_group(const tiled_copy *t) {
    const int64_t cells =
        weft_least(t->n[COLUMNS], WEFT_COPY_THREADS) * weft_least(t->n[ROWS], WEFT_COPY_THREADS);
    return cells * t->cell >= WEFT_COPY_PER_THREAD(1 << t->unit) * WEFT_COPY_THREADS;
}

/* Which axes tiles extend along: in columns the cells that are neighbours in the source, in rows
 * those that are neighbours in the destination. If that is too little for a group, the shorter side
 * takes more. */
static tiled_copy tiled_copy_of(const weft_byte_copy *c) {
    tiled_copy t = {.copy = c, .n = {1, 1, 1}, .unit = widest_unit(c)};
    t.cell = c->cell >> t.unit;
    for (int a = 0; a < c->axes; a++) t.n[OUTSIDE] *= c->axis[a].n;
    sort_axes(c, src_step, t.near_src);
    sort_axes(c, dst_step, t.near_dst);
    take_axis(&t, t.near_src[0], COLUMNS);
    take_axis(&t, t.near_dst[0], ROWS);
    lengthen(&t, t.near_src, COLUMNS);
    lengthen(&t, t.near_dst, ROWS);
    const tile_side shorter = t.n[COLUMNS] < t.n[ROWS] ? COLUMNS : ROWS;
    const int *order = shorter == COLUMNS ? t.near_src : t.near_dst;
    for (int k = 0; k < c->axes && !fills_a_group(&t); k++)
        if (t.side[order[k]] == OUTSIDE) take_axis(&t, order[k], shorter);
    t.dense[COLUMNS] = dense_cells(&t, COLUMNS, src_step, t.near_src);
    t.dense[ROWS] = dense_cells(&t, ROWS, dst_step, t.near_dst);
    return t;
}

/* A tile of p by q cells. */
typedef struct tile_shape {
    int64_t p, q;
} tile_shape;

static int64_t load_steps(const tiled_copy *t, const tile_shape *s) {
    return parts_of(s->q, rows_at_once(s->p * t->cell));
}

static int64_t store_steps(const tiled_copy *t, const tile_shape *s) {
    return parts_of(s->p, rows_at_once(s->q * t->cell));
}

static bool fits(const tiled_copy *t, const tile_shape *s) {
    const int64_t most = WEFT_COPY_PER_THREAD(1 << t->unit);
    return s->p * s->q * t->cell <= most * WEFT_COPY_THREADS &&
           s->p * t->cell <= WEFT_COPY_THREADS && s->q * t->cell <= WEFT_COPY_THREADS &&
           load_steps(t, s) <= most && store_steps(t, s) <= most;
}

/* How long the runs of a tile are on one side, in bytes. */
static int64_t run_of(const tiled_copy *t, const tile_shape *s,
                      int64_t (*step)(const weft_byte_axis *axis), const int *order) {
    int64_t run = t->copy->cell, left[] = {[OUTSIDE] = 1, [COLUMNS] = s->p, [ROWS] = s->q};
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
static bool is_aligned(const tiled_copy *t) {
    enum { ACCESS = 64 };
    uint64_t all = (uintptr_t)t->copy->dst;
    for (int a = 0; a < t->copy->axes; a++)
        if (t->side[a] != ROWS) all |= (uint64_t)t->copy->axis[a].dst;
    return all % ACCESS == 0;
}

/* Bytes side by side that 32 threads next to each other load or store, where so many cells of a
 * side jump from one short run to another. */
static int64_t side_by_side(const tiled_copy *t, tile_side side, int64_t cells) {
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
static double tile_cost(const tiled_copy *t, const tile_shape *s, bool aligned) {
    enum { STEP = 840, GROUP = 9000 };
    const double tiles = (double)(parts_of(t->n[COLUMNS], s->p) * parts_of(t->n[ROWS], s->q));
    const double bytes = (double)(t->n[COLUMNS] * t->n[ROWS] * t->copy->cell);
    const double loads =
        moved(run_of(t, s, src_step, t->near_src), 24, side_by_side(t, COLUMNS, s->p), 16);
    const double stores = moved(run_of(t, s, dst_step, t->near_dst), aligned ? 32 : 256,
                                side_by_side(t, ROWS, s->q), 43);
    return fmax(bytes * (loads + stores),
                tiles * (GROUP + STEP * (double)(load_steps(t, s) + store_steps(t, s))));
}

/* Sizes of a tile along one side, the k-th of them: all of it, and parts of at most a power of two,
 * which are equal ones if not many, and whole runs of cells if these are short. */
static int64_t candidate(const tiled_copy *t, tile_side side, int k) {
    const int64_t n = t->n[side], most = (WEFT_COPY_THREADS >> k) / t->cell;
    if (n <= most || most == 0) return n;
    if (t->dense[side] <= most) return most - most % t->dense[side];
    return n >= 8 * most ? most : parts_of(n, parts_of(n, most));
}

/* The cheapest one, but none much smaller than others that are not as cheap. */
static tile_shape choose_shape(const tiled_copy *t) {
    enum { SIZES = 8 };
    const bool aligned = is_aligned(t);
    int64_t p[SIZES], q[SIZES];
    for (int i = 0; i < SIZES; i++) {
        p[i] = candidate(t, COLUMNS, i);
        q[i] = candidate(t, ROWS, i);
    }
    tile_shape best = {1, 1};
    double cheapest = INFINITY;
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++) {
            const tile_shape shape = {p[i], q[j]};
            if (4 * p[i] * q[j] < best.p * best.q || !fits(t, &shape)) continue;
            const double cost = tile_cost(t, &shape, aligned);
            if (cost >= cheapest) continue;
            cheapest = cost;
            best = shape;
        }
    return best;
}

static weft_copy_loops add_side(const tiled_copy *t, tile_side side, const int *order, int first,
                                weft_copy_axis *axes) {
    weft_copy_loops loops = {.count = 1, .first = first};
    for (int k = t->copy->axes - 1; k >= 0; k--)
        if (t->side[order[k]] == side) add_axis(axes, &loops, &t->copy->axis[order[k]]);
    return loops;
}

static int longest_axis(const weft_byte_copy *c) {
    int longest = 0;
    for (int a = 1; a < c->axes; a++)
        if (c->axis[a].n > c->axis[longest].n) longest = a;
    return longest;
}

/* The part of a copy from index n of an axis on, which the copy then ends before. */
static weft_byte_copy cut_off(weft_byte_copy *c, int axis, int64_t n) {
    weft_byte_copy rest = *c;
    rest.axis[axis].n -= n;
    rest.src += n * c->axis[axis].src;
    rest.dst += n * c->axis[axis].dst;
    c->axis[axis].n = n;
    return rest;
}

/* Makes two axes of one whose length is a multiple of `part`. */
static void split_axis(weft_byte_copy *c, int axis, int64_t part) {
    for (int a = c->axes++; a > axis; a--) c->axis[a] = c->axis[a - 1];
    weft_byte_axis *slow = &c->axis[axis], *fast = slow + 1;
    fast->n = part;
    *slow = (weft_byte_axis){slow->n / part, slow->src * part, slow->dst * part};
}

static weft_status launch_tiles(const weft_byte_copy *c, launcher launch, void *context) {
    const tiled_copy t = tiled_copy_of(c);
    const int longest = longest_axis(c);
    if (!fills_a_group(&t) && c->axes < WEFT_AXES && c->axis[longest].n >= LONG_AXIS) {
        /* Tiles are as long as there are threads: with more of that axis on the other side, they
         * fill a group. */
        const int64_t rest = c->axis[longest].n % WEFT_COPY_THREADS;
        weft_byte_copy whole = *c, end = cut_off(&whole, longest, c->axis[longest].n - rest);
        split_axis(&whole, longest, WEFT_COPY_THREADS);
        WEFT_TRY(launch_tiles(&whole, launch, context));
        return rest == 0 ? WEFT_SUCCESS : weft_byte_copy_by_kernel(&end, launch, context);
    }
    const tile_shape s = choose_shape(&t);
    const int64_t p_tiles = parts_of(t.n[COLUMNS], s.p), q_tiles = parts_of(t.n[ROWS], s.q);
    weft_copy_tiles tiles = {
        .cell = divisor(t.cell),
        .p_cells = (int)s.p,
        .q_cells = (int)s.q,
        .load = walk_of(s.p * t.cell, rows_at_once(s.p * t.cell), load_steps(&t, &s)),
        .store = walk_of(s.q * t.cell, rows_at_once(s.q * t.cell), store_steps(&t, &s)),
        .p_tiles = divisor(p_tiles),
        .q_tiles = divisor(q_tiles)};
    tiles.p = add_side(&t, COLUMNS, t.near_src, 0, tiles.axis);
    tiles.q = add_side(&t, ROWS, t.near_dst, tiles.p.axes, tiles.axis);
    tiles.outer = add_side(&t, OUTSIDE, t.near_dst, tiles.p.axes + tiles.q.axes, tiles.axis);
    const weft_copy_launch made = {WEFT_COPY_KERNEL_TILES,
                                   t.unit,
                                   c->src,
                                   c->dst,
                                   &tiles,
                                   sizeof tiles,
                                   (unsigned)(p_tiles * q_tiles * t.n[OUTSIDE])};
    return launch(context, &made);
}

static int nearest(const weft_byte_copy *c, int64_t (*step)(const weft_byte_axis *axis)) {
    int found = c->axes - 1;
    for (int a = c->axes - 2; a >= 0; a--)
        if (step(&c->axis[a]) < step(&c->axis[found])) found = a;
    return found;
}

/* An upper bound of what the kernels count with 32 bits. */
static int64_t most_groups(const weft_byte_copy *c) {
    int64_t units = (c->cell + 15) / 16;
    for (int a = 0; a < c->axes; a++) units *= c->axis[a].n;
    return units;
}

/* In halves until the numbers of groups and rows fit a launch. */
weft_status weft_byte_copy_by_kernel(const weft_byte_copy *c, launcher launch, void *context) {
    if (most_groups(c) > MOST) {
        const int longest = longest_axis(c);
        weft_byte_copy lower = *c, upper = cut_off(&lower, longest, c->axis[longest].n / 2);
        if (lower.axis[longest].n > 0) {
            WEFT_TRY(weft_byte_copy_by_kernel(&lower, launch, context));
            return weft_byte_copy_by_kernel(&upper, launch, context);
        }
    }
    return c->cell < SHORT_CELL && nearest(c, src_step) != nearest(c, dst_step)
               ? launch_tiles(c, launch, context)
               : launch_rows(c, launch, context);
}

weft_kernel_source weft_copy_source(weft_copy_kernel kernel, int unit) {
    static const char *const text[] = {
        weft_kernels_copy_shape_h, "#define UNIT unsigned char\n#define UNIT_BYTES 1\n",
        weft_kernels_copy_cl,      "#define UNIT unsigned short\n#define UNIT_BYTES 2\n",
        weft_kernels_copy_cl,      "#define UNIT unsigned int\n#define UNIT_BYTES 4\n",
        weft_kernels_copy_cl,      "#define UNIT ulong64\n#define UNIT_BYTES 8\n",
        weft_kernels_copy_cl,      "#define UNIT uint4\n#define UNIT_BYTES 16\n",
        weft_kernels_copy_cl,
    };
    static const char *const names[][WEFT_COPY_UNITS] = {
        [WEFT_COPY_KERNEL_ROWS] = {"weft_copy_rows_1", "weft_copy_rows_2", "weft_copy_rows_4",
                                   "weft_copy_rows_8", "weft_copy_rows_16"},
        [WEFT_COPY_KERNEL_TILES] = {"weft_copy_tiles_1", "weft_copy_tiles_2", "weft_copy_tiles_4",
                                    "weft_copy_tiles_8", "weft_copy_tiles_16"}};
    return (weft_kernel_source){.name = names[kernel][unit],
                                .text = text,
                                .texts = (int)(sizeof text / sizeof text[0]),
                                .threads = WEFT_COPY_THREADS,
                                .precision = WEFT_SINGLE};
}
