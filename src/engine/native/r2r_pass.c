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

/* Points first..first+n-1 of every line; strides in bytes. */
typedef struct piece {
    int64_t offset; /* to point `first` in the piece's array */
    int64_t first, n;
    int64_t stride, loop_stride[PASS_LOOPS];
} piece;

typedef struct side {
    bool across; /* the lines of a tile are neighbours in memory */
    bool along;  /* the points of a line are */
    int pieces;  /* 1: one array */
    piece *piece;
    int64_t *offset; /* across: from the first point of its piece to point j */
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

/* A loop, and what it is in the transform: loop number `number`, or dimension number - loops. */
typedef struct pass_loop {
    int number;
    weft_dimension d;
} pass_loop;

static void to_front(pass_loop *loop, int i) {
    const pass_loop one = loop[i];
    memmove(&loop[1], &loop[0], (size_t)i * sizeof *loop);
    loop[0] = one;
}

/* The loops of a pass over dimension `d`: those of the transform and its other dimensions, smallest
 * strides first, but before them all one whose lines are neighbours, of the output or, better, of
 * the input. */
static int order_loops(const weft_transform *t, int d, bool from_output, pass_loop *loop) {
    const weft_dimension *dim = &t->dim[d];
    int loops = 0;
    for (int i = 0; i < t->loops + t->dims; i++) {
        weft_dimension one = i < t->loops ? t->loop[i] : t->dim[i - t->loops];
        if (i - t->loops == d || one.n == 1) continue;
        if (from_output) one.in_stride = one.out_stride;
        int at = loops++;
        for (; at > 0 && reach(&loop[at - 1].d) > reach(&one); at--) loop[at] = loop[at - 1];
        loop[at] = (pass_loop){i, one};
    }
    for (int i = 1; i < loops && dim->out_stride != 1; i++)
        if (loop[i].d.out_stride == 1) to_front(loop, i);
    const bool contiguous = (from_output ? dim->out_stride : dim->in_stride) == 1;
    for (int i = 1; i < loops && !contiguous; i++)
        if (loop[i].d.in_stride == 1) to_front(loop, i);
    return loops;
}

/* Loops that one stride covers become one. */
static int merge_loops(pass_loop *loop, int loops) {
    int kept = 0;
    for (int i = 1; i < loops; i++) {
        weft_dimension *inner = &loop[kept].d;
        if (loop[i].d.in_stride == inner->n * inner->in_stride &&
            loop[i].d.out_stride == inner->n * inner->out_stride)
            inner->n *= loop[i].d.n;
        else
            loop[++kept] = loop[i];
    }
    return loops > 0 ? kept + 1 : 0;
}

/* One array, as a piece. */
static void set_whole(const weft_r2r_pass *pass, int64_t stride, bool output, const pass_loop *loop,
                      piece *whole) {
    const int64_t number = pass->kernels->real_bytes;
    *whole = (piece){.n = pass->line.n, .stride = stride * number};
    for (int i = 0; i < pass->loops; i++)
        whole->loop_stride[i] = (output ? loop[i].d.out_stride : loop[i].d.in_stride) * number;
}

static void set_piece(const weft_r2r_pass *pass, const weft_transform *t, const weft_piece *given,
                      int d, const pass_loop *loop, piece *made) {
    const int64_t number = pass->kernels->real_bytes;
    *made = (piece){.offset = given->offset * number,
                    .first = given->first,
                    .n = given->n,
                    .stride = given->dim_stride[d] * number};
    for (int i = 0; i < pass->loops; i++) {
        const int of = loop[i].number;
        made->loop_stride[i] =
            (of < t->loops ? given->loop_stride[of] : given->dim_stride[of - t->loops]) * number;
    }
}

/* `given` is NULL where the side is one array. */
static bool make_side(const weft_r2r_pass *pass, const weft_transform *t, int d, int64_t stride,
                      bool output, const weft_pieces *given, const pass_loop *loop, side *s,
                      size_t *bytes) {
    s->pieces = given ? given->count : 1;
    s->piece = malloc((size_t)s->pieces * sizeof *s->piece);
    *bytes += (size_t)s->pieces * sizeof *s->piece;
    if (!s->piece) return false;
    for (int p = 0; p < s->pieces; p++)
        if (given)
            set_piece(pass, t, &given->piece[p], d, loop, &s->piece[p]);
        else
            set_whole(pass, stride, output, loop, &s->piece[p]);
    /* By the strides of the largest piece, which are those of the transform: others may happen to
     * have a stride of 1 where they have one index. */
    s->across = pass->loops > 0 && (output ? loop->d.out_stride : loop->d.in_stride) == 1;
    s->along = !s->across && stride == 1;
    if (!s->across) return true;
    s->offset = malloc((size_t)pass->line.n * sizeof *s->offset);
    *bytes += (size_t)pass->line.n * sizeof *s->offset;
    for (int p = 0; s->offset && p < s->pieces; p++)
        for (int64_t j = 0; j < s->piece[p].n; j++)
            s->offset[s->piece[p].first + j] = j * s->piece[p].stride;
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

static bool is_done_by_line(const weft_kernels *kernels, int64_t n, int64_t lines) {
    return n / 2 > LONGEST_TILE || 4 * lines <= kernels->lanes;
}

bool weft_r2r_takes_pieces(const weft_transform *t, int first) {
    const weft_pieces *in = &t->in_pieces, *out = &t->out_pieces;
    int64_t lines = 1;
    for (int i = 0; i < t->loops; i++) lines *= t->loop[i].n;
    for (int d = 0; d < t->dims; d++) lines *= d == first ? 1 : t->dim[d].n;
    return !t->in_place && (in->count == 0 || in->dim == first) &&
           (out->count == 0 || t->dims == 1) &&
           !is_done_by_line(weft_native_kernels(t->precision), t->dim[first].n, lines);
}

weft_status weft_r2r_pass_create(const weft_transform *t, int d, bool from_output,
                                 weft_r2r_pass **made, size_t *bytes) {
    const weft_dimension *dim = &t->dim[d];
    const weft_pieces *in = t->in_pieces.count > 0 && !from_output ? &t->in_pieces : NULL;
    const weft_pieces *out = t->out_pieces.count > 0 ? &t->out_pieces : NULL;
    pass_loop loop[PASS_LOOPS];
    weft_r2r_pass *pass = calloc(1, sizeof *pass);
    if (!pass) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    *made = pass;
    *bytes += sizeof *pass;
    pass->kernels = weft_native_kernels(t->precision);
    pass->loops = order_loops(t, d, from_output, loop);
    if (!in && !out) pass->loops = merge_loops(loop, pass->loops);
    pass->lines = 1;
    for (int i = 0; i < pass->loops; i++) pass->lines *= pass->loop[i] = loop[i].d.n;
    const int64_t points = pass->lines * dim->n, most = points / WEFT_NATIVE_POINTS_PER_THREAD;
    pass->threads = t->threads < most ? t->threads : (int)most;
    if (pass->threads < 1) pass->threads = 1;
    bool ok = weft_r2r_line_create(pass->kernels, t->type[d], dim->n, &pass->line, bytes) &&
              make_side(pass, t, d, from_output ? dim->out_stride : dim->in_stride, from_output, in,
                        loop, &pass->in, bytes) &&
              make_side(pass, t, d, dim->out_stride, true, out, loop, &pass->out, bytes);
    if (ok && is_done_by_line(pass->kernels, dim->n, pass->lines))
        return make_single(pass, t, bytes);
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
    free(pass->in.piece);
    free(pass->out.piece);
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

/* The lines of a tile: the loop indices of each. */
typedef struct tile_lines {
    int count;
    int64_t index[MOST_LANES][PASS_LOOPS];
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

static int64_t offset_of(const weft_r2r_pass *pass, const piece *p, const int64_t *index) {
    int64_t offset = p->offset;
    for (int i = 0; i < pass->loops; i++) offset += index[i] * p->loop_stride[i];
    return offset;
}

/* Copies the points of a piece so that each is a run of the lines, two runs in a row of the copy,
 * in the order of the lines that the kernels have. Behind an odd number of points there is a run of
 * zeros, where the next piece begins. */
static void copy_in(const weft_r2r_pass *pass, const piece *p, const char *base,
                    const tile_lines *t, char *copy) {
    const weft_kernels *k = pass->kernels;
    const side *s = &pass->in;
    const int64_t pairs = p->n / 2;
    const bool odd = p->n % 2 == 1;
    const void *lines[MOST_LANES], *last[MOST_LANES];
    copy += p->first * RUN_BYTES;
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
    if (s->along && t->count == k->lanes)
        k->load_lines(lines, pairs, copy, pass->rows, AHEAD);
    else
        k->gather(lines, 2 * p->stride, p->stride, pairs, copy, pass->rows, t->count);
    if (odd) k->gather(last, 0, 0, 1, copy, pass->rows + pairs, t->count);
}

static void copy_out(const weft_r2r_pass *pass, const piece *p, const char *copy, char *base,
                     const tile_lines *t) {
    const weft_kernels *k = pass->kernels;
    const side *s = &pass->out;
    const int64_t pairs = p->n / 2;
    const bool odd = p->n % 2 == 1;
    void *lines[MOST_LANES], *last[MOST_LANES];
    copy += p->first * RUN_BYTES;
    if (s->across) {
        const int64_t *offset = s->offset + p->first;
        base += offset_of(pass, p, t->index[0]);
        k->store_real_rows(copy, pass->rows, pairs, true, base, offset, t->count);
        if (odd)
            k->store_real_rows(copy, pass->rows + pairs, 1, false, base, offset + 2 * pairs,
                               t->count);
        return;
    }
    for (int l = 0; l < t->count; l++) {
        lines[l] = base + offset_of(pass, p, t->index[l]);
        last[l] = (char *)lines[l] + 2 * pairs * p->stride;
    }
    if (s->along && t->count == k->lanes)
        k->store_lines(copy, pass->rows, pairs, lines, false);
    else
        k->scatter(copy, pass->rows, pairs, lines, 2 * p->stride, p->stride, t->count);
    if (odd) k->scatter(copy, pass->rows + pairs, 1, last, 0, 0, t->count);
}

static void run_tiles(const weft_r2r_pass *pass, const void *const *in, void *const *out,
                      char *memory, int64_t first, int64_t end) {
    const weft_r2r_kernels *k = pass->kernels->r2r_of_tile;
    const side *from = &pass->in, *to = &pass->out;
    /* The kernels have an order of their own for the lines of a copy. */
    const bool arrays = from->across && to->across && from->pieces == 1 && to->pieces == 1;
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
        load_points(pass, k, x, direct ? from->piece->stride : RUN_BYTES, tile,
                    pass->transform.load_row);
        weft_line_run(&pass->transform, tile);
        store_points(pass, k, tile, pass->transform.store_row, y,
                     direct ? to->piece->stride : RUN_BYTES);
        for (int p = 0; p < to->pieces && !direct; p++)
            copy_out(pass, &to->piece[p], copy, out[p], &t);
    }
}

static void run_singly(const weft_r2r_pass *pass, const void *in, void *out) {
    const weft_r2r_kernels *k = pass->kernels->r2r_of_line;
    const piece *from = pass->in.piece, *to = pass->out.piece;
    void *points_of_line = pass->memory, *results = (char *)pass->memory + pass->copy_bytes;
    int64_t index[PASS_LOOPS];
    for (int64_t number = 0; number < pass->lines; number++) {
        int64_t rest = number;
        for (int i = 0; i < pass->loops; i++) {
            index[i] = rest % pass->loop[i];
            rest /= pass->loop[i];
        }
        load_points(pass, k, (const char *)in + offset_of(pass, from, index), from->stride,
                    points_of_line, NULL);
        weft_native_run(pass->single, points_of_line, results);
        store_points(pass, k, results, NULL, (char *)out + offset_of(pass, to, index), to->stride);
    }
}

void weft_r2r_pass_run(const weft_r2r_pass *pass, const void *const *in, void *const *out) {
    if (pass->single) {
        run_singly(pass, in[0], out[0]);
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
