/*
 * The strided copy on CUDA: which way each copy goes, and how it is cut into the blocks of a
 * kernel.
 *
 * What is one run is left to the driver, and so are rows long enough for its copy engines
 * (LINK_ROW) over a link, in two or three axes; so is everything to and from host memory that is
 * not page-locked, since no kernel may touch that. The rest goes to the kernels of copy.cu, with
 * the widest unit that divides every address and stride; within a GPU they reach 97 % of what a
 * contiguous copy does, the driver 80 to 85 (H100).
 */
#include <stdlib.h>

#include "device/cuda/copy_shape.h"
#include "device/cuda/cuda.h"
#include "support/error.h"

enum {
    LINK_ROW = 256,  /* bytes: rows from here on reach 80 % of the host link in 2-D copies (H200) */
    SHORT_CELL = 64, /* bytes: smaller pieces waste the memory's accesses unless they are tiled */
    MOST = 1 << 30,  /* blocks of a launch, and indices of a loop nest: divisors take up to 2^31 */
    LEAST_LOG_RUN = 3 /* tiles are no narrower than this, where the axis is not */
};

typedef struct copy_axis {
    int64_t n, src, dst; /* steps in bytes */
} copy_axis;

/* A copy in bytes: cells that are dense on both sides, and loops over them, slowest first. */
typedef struct byte_copy {
    const weft_cuda_gpu *gpu;
    weft_cuda_stream stream;
    weft_transfer transfer;
    const char *src;
    char *dst;
    int64_t cell; /* bytes */
    int axes;
    copy_axis axis[WEFT_AXES];
} byte_copy;

/* ---- left to the driver ---- */

static weft_status copy_run(const byte_copy *c) {
    return weft_cuda_check(
        c->gpu->driver->copy((uintptr_t)c->dst, (uintptr_t)c->src, (size_t)c->cell, c->stream),
        "a copy could not be enqueued");
}

static weft_status copy_2d(const byte_copy *c) {
    weft_cuda_copy_2d copy = {
        .src_type =
            c->transfer == WEFT_HOST_TO_DEVICE ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .src_host = c->src,
        .src_device = (uintptr_t)c->src,
        .src_pitch = (size_t)c->axis[0].src,
        .dst_type =
            c->transfer == WEFT_DEVICE_TO_HOST ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .dst_host = c->dst,
        .dst_device = (uintptr_t)c->dst,
        .dst_pitch = (size_t)c->axis[0].dst,
        .width = (size_t)c->cell,
        .height = (size_t)c->axis[0].n};
    return weft_cuda_check(c->gpu->driver->copy_2d(&copy, c->stream),
                           "a 2-D copy could not be enqueued");
}

static weft_status copy_3d(const byte_copy *c) {
    const copy_axis *plane = &c->axis[0], *row = &c->axis[1];
    weft_cuda_copy_3d copy = {
        .src_type =
            c->transfer == WEFT_HOST_TO_DEVICE ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .src_host = c->src,
        .src_device = (uintptr_t)c->src,
        .src_pitch = (size_t)row->src,
        .src_height = (size_t)(plane->src / row->src),
        .dst_type =
            c->transfer == WEFT_DEVICE_TO_HOST ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .dst_host = c->dst,
        .dst_device = (uintptr_t)c->dst,
        .dst_pitch = (size_t)row->dst,
        .dst_height = (size_t)(plane->dst / row->dst),
        .width = (size_t)c->cell,
        .height = (size_t)row->n,
        .depth = (size_t)plane->n};
    return weft_cuda_check(c->gpu->driver->copy_3d(&copy, c->stream),
                           "a 3-D copy could not be enqueued");
}

static bool is_pitch(const copy_axis *axis, int64_t cell) {
    return axis->src >= cell && axis->dst >= cell && axis->src <= WEFT_CUDA_MAX_PITCH &&
           axis->dst <= WEFT_CUDA_MAX_PITCH;
}

/* Planes are whole numbers of rows apart, and do not overlap. */
static bool is_plane(const copy_axis *plane, const copy_axis *row) {
    return plane->src % row->src == 0 && plane->dst % row->dst == 0 &&
           plane->src / row->src >= row->n && plane->dst / row->dst >= row->n;
}

static bool is_driver_shape(const byte_copy *c) {
    if (c->axes == 0) return true;
    if (c->axes == 1) return is_pitch(&c->axis[0], c->cell);
    return c->axes == 2 && is_pitch(&c->axis[1], c->cell) && is_plane(&c->axis[0], &c->axis[1]);
}

static weft_status copy_by_driver(const byte_copy *c) {
    return c->axes == 0 ? copy_run(c) : c->axes == 1 ? copy_2d(c) : copy_3d(c);
}

/* Any shape, as many driver calls as it takes: for host memory that kernels cannot address. */
static weft_status copy_in_pieces(const byte_copy *c) {
    if (is_driver_shape(c)) return copy_by_driver(c);
    byte_copy piece = *c;
    piece.axes--;
    for (int a = 0; a < piece.axes; a++) piece.axis[a] = c->axis[a + 1];
    for (int64_t i = 0; i < c->axis[0].n; i++) {
        WEFT_TRY(copy_in_pieces(&piece));
        piece.src += c->axis[0].src;
        piece.dst += c->axis[0].dst;
    }
    return WEFT_SUCCESS;
}

/* ---- kernels ---- */

static weft_cuda_divisor divisor(int64_t n) {
    unsigned shift = 0;
    while ((INT64_C(1) << shift) < n) shift++;
    uint64_t multiplier =
        ((UINT64_C(1) << shift) - (uint64_t)n) * (UINT64_C(1) << 32) / (uint64_t)n;
    return (weft_cuda_divisor){(unsigned)n, (unsigned)(multiplier + 1), shift};
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
static int widest_unit(const byte_copy *c) {
    uint64_t all = (uintptr_t)c->src | (uintptr_t)c->dst | (uint64_t)c->cell | 16;
    for (int a = 0; a < c->axes; a++) all |= (uint64_t)c->axis[a].src | (uint64_t)c->axis[a].dst;
    return __builtin_ctzll(all);
}

static weft_cuda_loops loops_of(const byte_copy *c, int unit) {
    weft_cuda_loops loops = {.axes = c->axes};
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

static weft_status launch(const byte_copy *c, weft_cuda_function kernel, int64_t blocks,
                          void *argument) {
    void *arguments[] = {argument};
    return weft_cuda_check(c->gpu->driver->launch(kernel, (unsigned)blocks, 1, 1, WEFT_CUDA_THREADS,
                                                  1, 1, 0, c->stream, arguments, NULL),
                           "a copy kernel could not be launched");
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

static weft_status launch_rows(const byte_copy *c) {
    int unit = widest_unit(c);
    weft_cuda_rows rows = {.src = c->src, .dst = c->dst, .length = c->cell >> unit};
    rows.log_width = choose_width(rows.length);
    rows.rows = loops_of(c, unit);
    int64_t parts = parts_of(rows.length, rows.log_width);
    rows.parts = divisor(parts);
    int64_t per_block = (WEFT_CUDA_THREADS >> rows.log_width) * WEFT_CUDA_PER_THREAD;
    return launch(c, c->gpu->rows[unit], parts * ((rows.rows.count + per_block - 1) / per_block),
                  &rows);
}

/* The shape of a tile that leaves the fewest threads without work; the squarest among equals. */
static void choose_tile(weft_cuda_tiles *t) {
    int left = WEFT_CUDA_LOG_TILE - t->log_cell, most_p = log_above(t->p_n);
    int most_q = log_above(t->q_n), narrow = LEAST_LOG_RUN < most_p ? LEAST_LOG_RUN : most_p;
    int64_t fewest = INT64_MAX;
    for (int p = narrow; p <= most_p && p <= left; p++) {
        int q = left - p < most_q ? left - p : most_q;
        /* What is left over goes to the outer loops. */
        int64_t tiles = parts_of(t->p_n, p) * parts_of(t->q_n, q) << (p + q);
        int apart = abs(p - q), best_apart = abs(t->log_p - t->log_q);
        if (q < (LEAST_LOG_RUN < most_q ? LEAST_LOG_RUN : most_q)) break;
        if (tiles > fewest || (tiles == fewest && apart >= best_apart)) continue;
        fewest = tiles;
        t->log_p = p;
        t->log_q = q;
    }
}

static copy_axis take_axis(byte_copy *c, int a) {
    copy_axis taken = c->axis[a];
    c->axes--;
    for (; a < c->axes; a++) c->axis[a] = c->axis[a + 1];
    return taken;
}

static int64_t step_of(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

/* The axis along which cells lie closest together in the source. */
static int densest_in_source(const byte_copy *c) {
    int densest = c->axes - 1;
    for (int a = c->axes - 2; a >= 0; a--)
        if (step_of(c->axis[a].src) < step_of(c->axis[densest].src)) densest = a;
    return densest;
}

static weft_status launch_tiles(const byte_copy *c, int p) {
    int unit = widest_unit(c);
    byte_copy outer = *c;
    copy_axis q_axis = take_axis(&outer, c->axes - 1), p_axis = take_axis(&outer, p);
    weft_cuda_tiles tiles = {.src = c->src,
                             .dst = c->dst,
                             .cell = (int)(c->cell >> unit),
                             .log_cell = log_above(c->cell >> unit),
                             .p_n = p_axis.n,
                             .p_src = p_axis.src >> unit,
                             .p_dst = p_axis.dst >> unit,
                             .q_n = q_axis.n,
                             .q_src = q_axis.src >> unit,
                             .q_dst = q_axis.dst >> unit};
    choose_tile(&tiles);
    int64_t p_tiles = parts_of(tiles.p_n, tiles.log_p), q_tiles = parts_of(tiles.q_n, tiles.log_q);
    tiles.p_tiles = divisor(p_tiles);
    tiles.q_tiles = divisor(q_tiles);
    tiles.outer = loops_of(&outer, unit);
    int log_batch = WEFT_CUDA_LOG_TILE - tiles.log_cell - tiles.log_p - tiles.log_q;
    return launch(c, c->gpu->tiles[unit],
                  p_tiles * q_tiles * parts_of(tiles.outer.count, log_batch), &tiles);
}

/* An upper bound of what the kernels count with 32 bits. */
static int64_t most_blocks(const byte_copy *c) {
    int64_t units = (c->cell + 15) / 16;
    for (int a = 0; a < c->axes; a++) units *= c->axis[a].n;
    return units;
}

/* In halves until the numbers of blocks and rows fit a launch. */
static weft_status copy_by_kernel(const byte_copy *c) {
    if (most_blocks(c) > MOST) {
        int longest = 0;
        for (int a = 1; a < c->axes; a++)
            if (c->axis[a].n > c->axis[longest].n) longest = a;
        byte_copy lower = *c, upper = *c;
        copy_axis *axis = &lower.axis[longest];
        axis->n /= 2;
        upper.axis[longest].n -= axis->n;
        upper.src += axis->n * axis->src;
        upper.dst += axis->n * axis->dst;
        if (axis->n > 0) {
            WEFT_TRY(copy_by_kernel(&lower));
            return copy_by_kernel(&upper);
        }
    }
    int p = densest_in_source(c);
    return c->cell < SHORT_CELL && p != c->axes - 1 ? launch_tiles(c, p) : launch_rows(c);
}

weft_status weft_cuda_copy_run(const weft_cuda_gpu *gpu, weft_cuda_stream stream,
                               const weft_copy *copy, const void *src, void *dst,
                               weft_transfer transfer, weft_cuda_side side) {
    const int64_t element = (int64_t)copy->element_bytes;
    byte_copy c = {.gpu = gpu,
                   .stream = stream,
                   .transfer = transfer,
                   .src = (const char *)src + copy->src_offset * element,
                   .dst = (char *)dst + copy->dst_offset * element,
                   .cell = element,
                   .axes = copy->axes};
    for (int a = 0; a < copy->axes; a++)
        c.axis[a] =
            (copy_axis){copy->n[a], copy->src_stride[a] * element, copy->dst_stride[a] * element};
    while (c.axes > 0 && c.axis[c.axes - 1].src == c.cell && c.axis[c.axes - 1].dst == c.cell)
        c.cell *= c.axis[--c.axes].n;
    if (side == WEFT_CUDA_SIDE_PAGEABLE) return copy_in_pieces(&c);
    const bool link = side != WEFT_CUDA_SIDE_HERE && c.cell >= LINK_ROW;
    if (c.axes == 0 || (link && is_driver_shape(&c))) return copy_by_driver(&c);
    return copy_by_kernel(&c);
}
