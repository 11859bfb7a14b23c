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
    MOST = 1 << 30   /* groups of a launch, and indices of loops: divisors take up to 2^31 */
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

static int64_t parts_of(int64_t n, int log_part) {
    return (n + (INT64_C(1) << log_part) - 1) >> log_part;
}

/* The least k with 2^k >= n. */
static int log_above(int64_t n) {
    int k = 0;
    while ((INT64_C(1) << k) < n) k++;
    return k;
}

/* The widest unit, as the logarithm of its bytes. */
static int widest_unit(const weft_byte_copy *c) {
    uint64_t all = (uintptr_t)c->src | (uintptr_t)c->dst | (uint64_t)c->cell | 16;
    for (int a = 0; a < c->axes; a++) all |= (uint64_t)c->axis[a].src | (uint64_t)c->axis[a].dst;
    return __builtin_ctzll(all);
}

static weft_copy_loops loops_of(const weft_byte_copy *c, int unit) {
    weft_copy_loops loops = {.axes = c->axes};
    int64_t count = 1;
    for (int a = 0; a < c->axes; a++) {
        count *= c->axis[a].n;
        loops.extent[a] = divisor(c->axis[a].n);
        loops.src[a] = c->axis[a].src >> unit;
        loops.dst[a] = c->axis[a].dst >> unit;
    }
    loops.count = (unsigned)count;
    return loops;
}

/* Rows as wide as they are, or parts of a row that leave few threads without work. */
static int choose_width(int64_t length) {
    enum { NARROW = 5, WIDE = 8 };
    if (length <= 1 << NARROW) return log_above(length);
    int best = WIDE;
    for (int log = WIDE; log >= NARROW; log--)
        if (parts_of(length, log) << log < parts_of(length, best) << best) best = log;
    return best;
}

static weft_status launch_rows(const weft_byte_copy *c, launcher launch, void *context) {
    int unit = widest_unit(c);
    weft_copy_rows rows = {.length = c->cell >> unit};
    rows.log_width = choose_width(rows.length);
    rows.rows = loops_of(c, unit);
    int64_t parts = parts_of(rows.length, rows.log_width);
    rows.parts = divisor(parts);
    int64_t per_group = (WEFT_COPY_THREADS >> rows.log_width) * WEFT_COPY_ROWS_PER_THREAD;
    int64_t groups = parts * ((rows.rows.count + per_group - 1) / per_group);
    const weft_copy_launch made = {WEFT_COPY_KERNEL_ROWS, unit, c->src, c->dst, &rows, sizeof rows,
                                   (unsigned)groups};
    return launch(context, &made);
}

/* The shape of a tile: 2^p by 2^q cells, of 2^batch indices of the outer loops. */
typedef struct tile_shape {
    int p, q, batch;
} tile_shape;

/* The axes of a copy by tiles, and what its units are. */
typedef struct tiled_copy {
    weft_byte_axis p, q, outer; /* outer: the fastest of the outer loops */
    int64_t cell;
    int unit, room; /* logarithms: bytes of a unit, cells that a group has threads for */
    int log_cell;
} tiled_copy;

/* Bytes that are moved for each byte that is wanted on one side, where runs are so long: memory is
 * met in accesses of 64 bytes, and those at the ends of a run hold other bytes too. */
static double moved(int64_t run) {
    return 1 + 64 / (double)run;
}

/* What all tiles cost: what threads without work might have moved counts as moved. A tile that
 * leaves threads without work costs more, by a factor for each halving; so does one in which each
 * unit must be looked for (`even` of copy.cl says where not), the more the smaller units are. The
 * factors are measured, on an H200. */
static double tile_cost(const tiled_copy *c, tile_shape t) {
    const bool even = t.batch == 0 && c->log_cell + t.p <= WEFT_COPY_LOG_THREADS &&
                      c->log_cell + t.q <= WEFT_COPY_LOG_THREADS;
    static const double halved[] = {1, 1.35, 1.82, 2.46, 3.3, 4.5, 6, 8, 11, 15, 20, 27, 36};
    const double search = c->unit >= 4 ? 1.35 : c->unit == 3 ? 2.2 : 4;
    const int64_t p_n = weft_least(c->p.n, INT64_C(1) << t.p),
                  q_n = weft_least(c->q.n, INT64_C(1) << t.q);
    const int64_t outer_n = weft_least(c->outer.n, INT64_C(1) << t.batch);
    const int64_t tiles = parts_of(c->p.n, t.p) * parts_of(c->q.n, t.q);
    int64_t from = c->cell * p_n, to = c->cell * q_n;
    if (p_n == c->p.n && c->q.src == p_n * c->p.src) from *= q_n;
    if (p_n == c->p.n && c->outer.src == p_n * c->p.src) from *= outer_n;
    if (q_n == c->q.n && c->p.dst == q_n * c->q.dst) to *= p_n;
    if (q_n == c->q.n && c->outer.dst == q_n * c->q.dst) to *= outer_n;
    return (double)(tiles << (t.p + t.q)) * (moved(from) + moved(to)) *
           halved[c->room - t.p - t.q - t.batch] * (even ? 1 : search);
}

/* The one that costs least, with the rest of the room as its batch or left empty. */
static tile_shape choose_tile(const tiled_copy *c) {
    const int most_p = log_above(c->p.n), most_q = log_above(c->q.n);
    tile_shape best = {0, 0, 0};
    double cheapest = INFINITY;
    for (int p = most_p > 0; p <= most_p && p <= c->room; p++) /* runs have two cells or more */
        for (int q = 0; q <= most_q && p + q <= c->room; q++) {
            if (p + q + 2 < c->room && p < most_p && q < most_q) continue; /* small for no reason */
            for (int filled = 0; filled < 2; filled++) {
                const tile_shape shape = {p, q, filled ? c->room - p - q : 0};
                const double cost = tile_cost(c, shape);
                if (cost >= cheapest) continue;
                cheapest = cost;
                best = shape;
            }
        }
    return best;
}

static weft_byte_axis take_axis(weft_byte_copy *c, int a) {
    weft_byte_axis taken = c->axis[a];
    c->axes--;
    for (; a < c->axes; a++) c->axis[a] = c->axis[a + 1];
    return taken;
}

static int64_t step_of(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

/* The axis along which cells lie closest together in the source. */
static int densest_in_source(const weft_byte_copy *c) {
    int densest = c->axes - 1;
    for (int a = c->axes - 2; a >= 0; a--)
        if (step_of(c->axis[a].src) < step_of(c->axis[densest].src)) densest = a;
    return densest;
}

static weft_status launch_tiles(const weft_byte_copy *c, int p, launcher launch, void *context) {
    const int unit = widest_unit(c), log_cell = log_above(c->cell >> unit);
    weft_byte_copy outer = *c;
    tiled_copy tiled = {.outer = {.n = 1}, .cell = c->cell, .unit = unit, .log_cell = log_cell};
    tiled.room = WEFT_COPY_LOG_TILE(1 << unit) - log_cell;
    tiled.q = take_axis(&outer, c->axes - 1);
    tiled.p = take_axis(&outer, p);
    if (outer.axes > 0) tiled.outer = outer.axis[outer.axes - 1];
    const tile_shape shape = choose_tile(&tiled);
    const int64_t p_tiles = parts_of(tiled.p.n, shape.p), q_tiles = parts_of(tiled.q.n, shape.q);
    const weft_copy_tiles tiles = {.cell = (int)(c->cell >> unit),
                                   .log_cell = log_cell,
                                   .log_p = shape.p,
                                   .log_q = shape.q,
                                   .log_batch = shape.batch,
                                   .p_n = tiled.p.n,
                                   .p_src = tiled.p.src >> unit,
                                   .p_dst = tiled.p.dst >> unit,
                                   .q_n = tiled.q.n,
                                   .q_src = tiled.q.src >> unit,
                                   .q_dst = tiled.q.dst >> unit,
                                   .p_tiles = divisor(p_tiles),
                                   .q_tiles = divisor(q_tiles),
                                   .outer = loops_of(&outer, unit)};
    const int64_t groups = p_tiles * q_tiles * parts_of(tiles.outer.count, shape.batch);
    const weft_copy_launch made = {
        WEFT_COPY_KERNEL_TILES, unit, c->src, c->dst, &tiles, sizeof tiles, (unsigned)groups};
    return launch(context, &made);
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
        int longest = 0;
        for (int a = 1; a < c->axes; a++)
            if (c->axis[a].n > c->axis[longest].n) longest = a;
        weft_byte_copy lower = *c, upper = *c;
        weft_byte_axis *axis = &lower.axis[longest];
        axis->n /= 2;
        upper.axis[longest].n -= axis->n;
        upper.src += axis->n * axis->src;
        upper.dst += axis->n * axis->dst;
        if (axis->n > 0) {
            WEFT_TRY(weft_byte_copy_by_kernel(&lower, launch, context));
            return weft_byte_copy_by_kernel(&upper, launch, context);
        }
    }
    int p = densest_in_source(c);
    return c->cell < SHORT_CELL && p != c->axes - 1 ? launch_tiles(c, p, launch, context)
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
