/* Cuts strided copies into boxes for a library, and into groups of threads for kernels. */
#include "device/strided_copy.h"

#include "device/copy_tile.h"
#include "support/checked.h"
#include "support/divisor.h"
#include "support/error.h"
#include "support/least.h"

enum {
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

/* Whether planes lie at a distance of whole rows and do not overlap. */
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

/* The copy without its slowest axis. */
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

static void add_axis(weft_copy_axis *axes, weft_copy_loops *loops, const weft_byte_axis *axis) {
    axes[loops->first + loops->axes++] = (weft_copy_axis){divisor(axis->n), axis->src, axis->dst};
    loops->count *= (unsigned)axis->n;
}

/* The number of rows that a group copies at once if they follow each other in the destination: so
 * many that each step begins at a multiple of WEFT_COPY_ACCESS, if that leaves few threads idle. */
static int64_t packed_rows_at_once(int64_t units, int unit) {
    const int64_t rows = weft_copy_rows_at_once(units);
    int64_t together = 1;
    while ((together * units << unit) % WEFT_COPY_ACCESS != 0) together *= 2;
    return rows >= 4 * together ? rows - rows % together : rows;
}

static weft_copy_walk walk_of(int64_t units, int64_t at_once, int64_t steps) {
    return (weft_copy_walk){divisor(units), (int)at_once, (int)steps};
}

/* The width of a group: whole rows, or parts of a row that leave few threads without work. */
static int choose_width(int64_t length) {
    enum { NARROW = 32, STEP = 8 };
    if (length <= NARROW) return (int)length;
    int best = WEFT_COPY_THREADS;
    double most = 0;
    for (int width = WEFT_COPY_THREADS; width >= NARROW; width -= STEP) {
        const double busy = (double)(length * weft_copy_rows_at_once(width)) /
                            (double)weft_copy_parts(length, width);
        if (busy <= most) continue;
        most = busy;
        best = width;
    }
    return length <= WEFT_COPY_THREADS && (double)(length * weft_copy_rows_at_once(length)) >= most
               ? (int)length
               : best;
}

static weft_status launch_rows(const weft_byte_copy *c, launcher launch, void *context) {
    const int unit = weft_copy_unit(c);
    weft_copy_rows rows = {.length = c->cell >> unit, .rows.count = 1};
    for (int a = 0; a < c->axes; a++) add_axis(rows.axis, &rows.rows, &c->axis[a]);
    const int width = choose_width(rows.length);
    const int64_t at_once = packed_rows_at_once(width, unit);
    const int64_t most = weft_least(WEFT_COPY_PER_THREAD(1 << unit), WEFT_COPY_ROWS / at_once);
    const int64_t steps = weft_least(most, weft_copy_parts(rows.rows.count, at_once));
    const int64_t parts = weft_copy_parts(rows.length, width);
    const int64_t groups = parts * weft_copy_parts(rows.rows.count, at_once * steps);
    rows.walk = walk_of(width, at_once, steps);
    rows.parts = divisor(parts);
    const weft_copy_launch made = {WEFT_COPY_KERNEL_ROWS, unit, c->src, c->dst, &rows, sizeof rows,
                                   (unsigned)groups};
    return launch(context, &made);
}

static weft_copy_loops add_side(const weft_tiled_copy *t, weft_tile_side side, const int *order,
                                int first, weft_copy_axis *axes) {
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

/* Splits a copy at index n of an axis: returns the part from there on, and `c` keeps the rest. */
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
    const weft_tiled_copy t = weft_tiled_copy_of(c);
    const int longest = longest_axis(c);
    if (!weft_tiled_copy_fills(&t) && c->axes < WEFT_AXES && c->axis[longest].n >= LONG_AXIS) {
        /* Tiles are at most as long as a group has threads. With a further part of that axis on the
         * other side, they fill the group. */
        const int64_t rest = c->axis[longest].n % WEFT_COPY_THREADS;
        weft_byte_copy whole = *c, end = cut_off(&whole, longest, c->axis[longest].n - rest);
        split_axis(&whole, longest, WEFT_COPY_THREADS);
        WEFT_TRY(launch_tiles(&whole, launch, context));
        return rest == 0 ? WEFT_SUCCESS : weft_byte_copy_by_kernel(&end, launch, context);
    }
    const weft_tile_shape s = weft_tile_choose(&t);
    const int64_t p_tiles = weft_copy_parts(t.n[WEFT_TILE_COLUMNS], s.p),
                  q_tiles = weft_copy_parts(t.n[WEFT_TILE_ROWS], s.q);
    weft_copy_tiles tiles = {.cell = divisor(t.cell),
                             .p_cells = (int)s.p,
                             .q_cells = (int)s.q,
                             .load = walk_of(s.p * t.cell, weft_copy_rows_at_once(s.p * t.cell),
                                             weft_tile_load_steps(&t, &s)),
                             .store = walk_of(s.q * t.cell, weft_copy_rows_at_once(s.q * t.cell),
                                              weft_tile_store_steps(&t, &s)),
                             .p_tiles = divisor(p_tiles),
                             .q_tiles = divisor(q_tiles)};
    tiles.p = add_side(&t, WEFT_TILE_COLUMNS, t.by_src_stride, 0, tiles.axis);
    tiles.q = add_side(&t, WEFT_TILE_ROWS, t.by_dst_stride, tiles.p.axes, tiles.axis);
    tiles.outer =
        add_side(&t, WEFT_TILE_OUTSIDE, t.by_dst_stride, tiles.p.axes + tiles.q.axes, tiles.axis);
    const weft_copy_launch made = {WEFT_COPY_KERNEL_TILES,
                                   t.unit,
                                   c->src,
                                   c->dst,
                                   &tiles,
                                   sizeof tiles,
                                   (unsigned)(p_tiles * q_tiles * t.n[WEFT_TILE_OUTSIDE])};
    return launch(context, &made);
}

/* An upper bound of the numbers that the kernels count with 32 bits. */
static int64_t most_groups(const weft_byte_copy *c) {
    int64_t units = (c->cell + 15) / 16;
    for (int a = 0; a < c->axes; a++) units *= c->axis[a].n;
    return units;
}

/* The copy is halved until the numbers of groups and rows fit a launch. */
weft_status weft_byte_copy_by_kernel(const weft_byte_copy *c, launcher launch, void *context) {
    if (most_groups(c) > MOST) {
        const int longest = longest_axis(c);
        weft_byte_copy lower = *c, upper = cut_off(&lower, longest, c->axis[longest].n / 2);
        if (lower.axis[longest].n > 0) {
            WEFT_TRY(weft_byte_copy_by_kernel(&lower, launch, context));
            return weft_byte_copy_by_kernel(&upper, launch, context);
        }
    }
    /* Smaller cells use only a part of each memory access unless they are copied by tiles. */
    return c->cell < WEFT_COPY_ACCESS && weft_tiled_copy_transposes(c)
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
