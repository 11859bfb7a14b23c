/*
 * Cosine and sine transforms of a batch of lines, from one view to another. A tile of lines is
 * transformed side by side as in pass_run.c: loaded, which the kernels of r2r.h do from the array
 * itself where lines are neighbours in memory and otherwise from a copy of the lines, transformed,
 * stored. Few lines, and lines too long for a tile, are done one by one through a plan of the
 * engine's for one complex line.
 */
#include "engine/native/r2r.h"

#include "engine/native/dispatch.h"
#include "engine/native/line.h"
#include "engine/native/number.h"
#include "engine/native/tuning.h"
#include "support/error.h"
#include "support/host_memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    MOST_LANES = WEFT_ROW_BYTES / 2 / (int)sizeof(float),
    RUN_BYTES = WEFT_ROW_BYTES / 2, /* a point of all lines of a tile */
    PASS_LOOPS = WEFT_AXES + WEFT_MAX_RANK,
    LONGEST_TILE = 16384, /* complex points of a line */
    AHEAD = 1024,         /* bytes from what is loaded to what is prefetched */
    ALIGNMENT = 64
};

/* One side: strides in bytes. */
typedef struct side {
    bool across; /* the lines of a tile are neighbours in memory */
    bool along;  /* the points of a line are */
    int64_t stride, loop_stride[PASS_LOOPS];
    int64_t *offset; /* across: of the points */
} side;

struct weft_r2r_pass {
    const weft_kernels *kernels;
    weft_r2r_line line;
    side in, out;
    int loops; /* loop 0 gives the lines of a tile */
    int64_t loop[PASS_LOOPS];
    int64_t lines, tiles;
    bool by_loop; /* tiles do not go beyond loop 0, since a side is across */
    int threads;
    weft_line transform;      /* of the rows of a tile */
    weft_engine_plan *single; /* of one line, which is then done by itself; or NULL */
    int32_t *rows;            /* 0, 1, 2, ... */
    void *memory;             /* of all threads */
    size_t memory_stride;     /* bytes for each thread: the copy of the lines, then the tile */
    size_t copy_bytes;
};

/* ---- planning ---- */

static int64_t reach(const weft_dimension *d) {
    return llabs(d->in_stride) + llabs(d->out_stride);
}

/* The loops of a pass over dimension `d`: those of the transform and its other dimensions, smallest
 * strides first, but before them all one whose lines are neighbours, of the output or, better, of
 * the input. */
static int order_loops(const weft_transform *t, int d, bool from_output, weft_dimension *loop) {
    const weft_dimension *dim = &t->dim[d];
    int loops = 0;
    for (int i = 0; i < t->loops + t->dims; i++) {
        weft_dimension one = i < t->loops ? t->loop[i] : t->dim[i - t->loops];
        if (i - t->loops == d || one.n == 1) continue;
        if (from_output) one.in_stride = one.out_stride;
        int at = loops++;
        for (; at > 0 && reach(&loop[at - 1]) > reach(&one); at--) loop[at] = loop[at - 1];
        loop[at] = one;
    }
    for (int output = 1; output >= 0; output--) {
        const bool contiguous = output || from_output ? dim->out_stride == 1 : dim->in_stride == 1;
        for (int i = 1; i < loops && !contiguous; i++) {
            const weft_dimension one = loop[i];
            if ((output ? one.out_stride : one.in_stride) != 1) continue;
            memmove(&loop[1], &loop[0], (size_t)i * sizeof *loop);
            loop[0] = one;
        }
    }
    return loops;
}

/* Loops that one stride covers become one. */
static int merge_loops(weft_dimension *loop, int loops) {
    int kept = 0;
    for (int i = 1; i < loops; i++) {
        weft_dimension *inner = &loop[kept];
        if (loop[i].in_stride == inner->n * inner->in_stride &&
            loop[i].out_stride == inner->n * inner->out_stride)
            inner->n *= loop[i].n;
        else
            loop[++kept] = loop[i];
    }
    return loops > 0 ? kept + 1 : 0;
}

static bool make_side(const weft_r2r_pass *pass, int64_t stride, bool output,
                      const weft_dimension *loop, side *s, size_t *bytes) {
    const int64_t number = pass->kernels->real_bytes;
    s->stride = stride * number;
    for (int i = 0; i < pass->loops; i++)
        s->loop_stride[i] = (output ? loop[i].out_stride : loop[i].in_stride) * number;
    s->across = pass->loops > 0 && s->loop_stride[0] == number;
    s->along = !s->across && stride == 1;
    if (!s->across) return true;
    s->offset = malloc((size_t)pass->line.n * sizeof *s->offset);
    *bytes += (size_t)pass->line.n * sizeof *s->offset;
    for (int64_t j = 0; s->offset && j < pass->line.n; j++) s->offset[j] = j * s->stride;
    return s->offset != NULL;
}

static size_t rounded(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Memory is cleared since kernels also compute on lanes beyond the last line, whose results are
 * never stored. */
static bool allocate_memory(weft_r2r_pass *pass, size_t bytes_of_a_thread, size_t *bytes) {
    pass->memory_stride = rounded(bytes_of_a_thread) + ALIGNMENT;
    const size_t size = pass->memory_stride * (size_t)pass->threads;
    pass->memory = aligned_alloc(ALIGNMENT, size);
    if (!pass->memory) return false;
    memset(pass->memory, 0, size);
    *bytes += size;
    return true;
}

static bool make_tiles(weft_r2r_pass *pass, size_t *bytes) {
    const int64_t rows = pass->line.n / 2 + 1, lanes = pass->kernels->lanes;
    pass->rows = malloc((size_t)rows * sizeof *pass->rows);
    *bytes += (size_t)rows * sizeof *pass->rows;
    if (!pass->rows || !weft_line_create(pass->kernels, pass->line.m, pass->line.direction,
                                         &pass->transform, bytes))
        return false;
    for (int64_t j = 0; j < rows; j++) pass->rows[j] = (int32_t)j;
    pass->by_loop = pass->in.across || pass->out.across;
    pass->tiles = pass->by_loop
                      ? (pass->loop[0] + lanes - 1) / lanes * (pass->lines / pass->loop[0])
                      : (pass->lines + lanes - 1) / lanes;
    pass->copy_bytes = (size_t)rows * WEFT_ROW_BYTES;
    return allocate_memory(
        pass, pass->copy_bytes + (size_t)(pass->transform.rows + 1) * WEFT_ROW_BYTES, bytes);
}

/* The complex line lies in the first half of the memory, and its transform in the second. */
static weft_status make_single(weft_r2r_pass *pass, const weft_transform *t, size_t *bytes) {
    const int64_t m = pass->line.m;
    const weft_transform single = {.kind = WEFT_TRANSFORM_C2C,
                                   .direction = pass->line.direction,
                                   .precision = t->precision,
                                   .dims = 1,
                                   .dim = {{m, 1, 1}},
                                   .threads = t->threads,
                                   .effort = t->effort,
                                   .in_elements = m,
                                   .out_elements = m,
                                   .destroy_input = true};
    const weft_native_tuning tuning = weft_native_choose_tuning(&single);
    size_t held = 0;
    WEFT_TRY(weft_native_plan_with(&single, &tuning, &pass->single, &held));
    *bytes += held;
    pass->threads = 1;
    pass->copy_bytes = rounded((size_t)(m * weft_complex_bytes(pass->kernels)));
    if (allocate_memory(pass, 2 * pass->copy_bytes, bytes)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for lines of %lld points",
                     (long long)pass->line.n);
}

weft_status weft_r2r_pass_create(const weft_transform *t, int d, bool from_output,
                                 weft_r2r_pass **made, size_t *bytes) {
    const weft_dimension *dim = &t->dim[d];
    weft_dimension loop[PASS_LOOPS];
    weft_r2r_pass *pass = calloc(1, sizeof *pass);
    if (!pass) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    *made = pass;
    *bytes += sizeof *pass;
    pass->kernels = weft_native_kernels(t->precision);
    pass->loops = merge_loops(loop, order_loops(t, d, from_output, loop));
    pass->lines = 1;
    for (int i = 0; i < pass->loops; i++) pass->lines *= pass->loop[i] = loop[i].n;
    const int64_t points = pass->lines * dim->n, most = points / WEFT_NATIVE_POINTS_PER_THREAD;
    pass->threads = t->threads < most ? t->threads : most > 1 ? (int)most : 1;
    if (pass->threads < 1) pass->threads = 1;
    bool ok = weft_r2r_line_create(pass->kernels, t->type[d], dim->n, &pass->line, bytes) &&
              make_side(pass, from_output ? dim->out_stride : dim->in_stride, from_output, loop,
                        &pass->in, bytes) &&
              make_side(pass, dim->out_stride, true, loop, &pass->out, bytes);
    const bool by_line = pass->line.m > LONGEST_TILE || 4 * pass->lines <= pass->kernels->lanes;
    if (ok && by_line) return make_single(pass, t, bytes);
    ok = ok && make_tiles(pass, bytes);
    if (ok) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "native engine: no memory for the tables of length %lld", (long long)dim->n);
}

void weft_r2r_pass_destroy(weft_r2r_pass *pass) {
    if (!pass) return;
    weft_r2r_line_release(&pass->line);
    weft_line_release(&pass->transform);
    weft_native_destroy(pass->single);
    free(pass->in.offset);
    free(pass->out.offset);
    free(pass->rows);
    free(pass->memory);
    free(pass);
}

/* ---- execution ---- */

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

/* The offsets of the lines of a tile on either side. Returns their number. */
static int find_lines(const weft_r2r_pass *pass, int64_t number, int64_t *in, int64_t *out) {
    const int64_t lanes = pass->kernels->lanes;
    int64_t index[PASS_LOOPS], first = 0, rest = number * lanes;
    int count = 0;
    if (pass->by_loop) {
        const int64_t chunks = (pass->loop[0] + lanes - 1) / lanes;
        first = number % chunks * lanes;
        rest = number / chunks * pass->loop[0] + first;
    }
    for (int i = 0; i < pass->loops; i++) {
        index[i] = rest % pass->loop[i];
        rest /= pass->loop[i];
    }
    for (;;) {
        in[count] = out[count] = 0;
        for (int i = 0; i < pass->loops; i++) {
            in[count] += index[i] * pass->in.loop_stride[i];
            out[count] += index[i] * pass->out.loop_stride[i];
        }
        if (++count == lanes) return count;
        int i = 0;
        while (i < pass->loops && ++index[i] == pass->loop[i]) index[i++] = 0;
        if (i == pass->loops || (pass->by_loop && i > 0)) return count;
    }
}

/* Copies the lines of a tile so that their points are runs, two in a row of the copy, in the order
 * of the lines that the kernels have. */
static void copy_in(const weft_r2r_pass *pass, const void *in, const int64_t *at, int count,
                    void *copy) {
    const weft_kernels *k = pass->kernels;
    const side *s = &pass->in;
    const int64_t n = pass->line.n, pairs = n / 2;
    const char *base = in;
    const void *lines[MOST_LANES], *last[MOST_LANES];
    if (s->across) {
        k->load_real_rows(base + at[0], s->offset, pairs, true, copy, pass->rows, count);
        if (n % 2 == 1)
            k->load_real_rows(base + at[0], s->offset + n - 1, 1, false, copy, pass->rows + pairs,
                              count);
        return;
    }
    for (int l = 0; l < count; l++) {
        lines[l] = base + at[l];
        last[l] = base + at[l] + (n - 1) * s->stride;
    }
    if (s->along && count == k->lanes)
        k->load_lines(lines, pairs, copy, pass->rows, AHEAD);
    else if (pairs > 0)
        k->gather(lines, 2 * s->stride, s->stride, pairs, copy, pass->rows, count);
    if (n % 2 == 1) k->gather(last, 0, 0, 1, copy, pass->rows + pairs, count);
}

static void copy_out(const weft_r2r_pass *pass, const void *copy, void *out, const int64_t *at,
                     int count) {
    const weft_kernels *k = pass->kernels;
    const side *s = &pass->out;
    const int64_t n = pass->line.n, pairs = n / 2;
    char *base = out;
    void *lines[MOST_LANES], *last[MOST_LANES];
    if (s->across) {
        k->store_real_rows(copy, pass->rows, pairs, true, base + at[0], s->offset, count);
        if (n % 2 == 1)
            k->store_real_rows(copy, pass->rows + pairs, 1, false, base + at[0], s->offset + n - 1,
                               count);
        return;
    }
    for (int l = 0; l < count; l++) {
        lines[l] = base + at[l];
        last[l] = base + at[l] + (n - 1) * s->stride;
    }
    if (s->along && count == k->lanes)
        k->store_lines(copy, pass->rows, pairs, lines, false);
    else if (pairs > 0)
        k->scatter(copy, pass->rows, pairs, lines, 2 * s->stride, s->stride, count);
    if (n % 2 == 1) k->scatter(copy, pass->rows + pairs, 1, last, 0, 0, count);
}

static void run_tiles(const weft_r2r_pass *pass, const void *in, void *out, char *memory,
                      int64_t first, int64_t end) {
    const weft_r2r_kernels *k = pass->kernels->r2r_of_tile;
    void *copy = memory, *tile = memory + pass->copy_bytes;
    int64_t from[MOST_LANES], to[MOST_LANES];
    for (int64_t number = first; number < end; number++) {
        const int count = find_lines(pass, number, from, to);
        /* The kernels have an order of their own for the lines of a copy. */
        const bool direct = pass->in.across && pass->out.across && count == pass->kernels->lanes;
        if (!direct) copy_in(pass, in, from, count, copy);
        load_points(pass, k, direct ? (const char *)in + from[0] : (char *)copy,
                    direct ? pass->in.stride : RUN_BYTES, tile, pass->transform.load_row);
        weft_line_run(&pass->transform, tile);
        store_points(pass, k, tile, pass->transform.store_row,
                     direct ? (char *)out + to[0] : (char *)copy,
                     direct ? pass->out.stride : RUN_BYTES);
        if (!direct) copy_out(pass, copy, out, to, count);
    }
}

static void run_singly(const weft_r2r_pass *pass, const void *in, void *out) {
    const weft_r2r_kernels *k = pass->kernels->r2r_of_line;
    void *points_of_line = pass->memory, *results = (char *)pass->memory + pass->copy_bytes;
    for (int64_t number = 0; number < pass->lines; number++) {
        int64_t from = 0, to = 0, rest = number;
        for (int i = 0; i < pass->loops; i++) {
            from += rest % pass->loop[i] * pass->in.loop_stride[i];
            to += rest % pass->loop[i] * pass->out.loop_stride[i];
            rest /= pass->loop[i];
        }
        load_points(pass, k, (const char *)in + from, pass->in.stride, points_of_line, NULL);
        weft_native_run(pass->single, points_of_line, results);
        store_points(pass, k, results, NULL, (char *)out + to, pass->out.stride);
    }
}

void weft_r2r_pass_run(const weft_r2r_pass *pass, const void *in, void *out) {
    if (pass->single) {
        run_singly(pass, in, out);
        return;
    }
#ifdef _OPENMP
    if (pass->threads > 1) {
#pragma omp parallel num_threads(pass->threads)
        {
            const int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
            run_tiles(pass, in, out, (char *)pass->memory + (size_t)me * pass->memory_stride,
                      pass->tiles * me / team, pass->tiles * (me + 1) / team);
        }
        return;
    }
#endif
    run_tiles(pass, in, out, pass->memory, 0, pass->tiles);
}
