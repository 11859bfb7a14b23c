/*
 * Contiguous lines one by one, each with its own points in the lanes of vectors (lone.h): lines
 * that are all there is, short ones, and those that no tile holds.
 */
#include "engine/native/lone_chirp.h"
#include "engine/native/number.h"
#include "engine/native/one_by_one.h"
#include "engine/native/solver.h"
#include "engine/native/supports.h"
#include "engine/smooth.h"
#include "support/topology.h"

enum {
    SHORT = 1024,      /* bytes of a line of a batch that may always be transformed alone */
    LONGER = 4096,     /* the same where no matrix is faster, ... */
    BLOCKED = 1 << 15, /* ... and of so many lines as vectors have lanes, which are stored as one
                          block (adjoining_bytes in pass.c) */
    FETCHED = 1024,    /* bytes that are prefetched at a time ... */
    AHEAD = 8192       /* ... so many bytes behind those that are transformed */
};

/* ---- choice ---- */

/* Whether a contiguous line of n complex points can be transformed alone, and no better as a
 * matrix, which is for lines that the first-level cache does not hold; with vectors of 64 bytes,
 * for those beyond twice as much, as measured on a Xeon. */
static bool suits(const weft_kernels *kernels, int64_t n, bool paired) {
    enum { FIRST_LEVEL = 32768 };
    const bool matrix = paired && weft_matrix_suits(kernels, n);
    const int64_t bytes = n * weft_complex_bytes(kernels);
    const bool beyond = weft_lone_is_wide(kernels) ? bytes > 2 * FIRST_LEVEL : bytes >= FIRST_LEVEL;
    return !(matrix && beyond) && weft_lone_suits(kernels, n);
}

/* The codelet that transforms several lines of n points at a time, or NULL. */
static const weft_lone_line *short_line(const weft_kernels *kernels, int64_t n) {
    const weft_lone_line *line = weft_lone_find_line(kernels, n);
    return line && line->lines ? line : NULL;
}

/* Bytes of an element of a line. */
static int64_t element_of(const weft_pass_request *r) {
    return weft_complex_bytes(r->kernels) / (r->kind == WEFT_TRANSFORM_C2C ? 1 : 2);
}

/* Whether the lines of a batch come from memory. */
static bool is_beyond_caches(const weft_pass_request *r) {
    return r->whole * element_of(r) > 4 * (int64_t)weft_topology_get()->l2;
}

/* Whether lines of a batch may be transformed alone: where the whole array stays in the caches,
 * where they would be convolutions in a tile, or where they are short, which tiles take from memory
 * a few bytes at a time. As measured on a Xeon, with AVX-512 and with AVX2; complex planes and
 * cubes, with AVX-512. */
static bool may_be_alone(const weft_pass_request *r) {
    const int64_t bytes = r->dim.n * element_of(r);
    const bool longer = bytes <= LONGER && bytes * r->kernels->lanes <= BLOCKED;
    const bool matrix = weft_native_takes_matrices(r->kernels, r->kind, &r->dim);
    return r->whole > 0 && (!is_beyond_caches(r) || !weft_is_smooth(r->dim.n) || bytes <= SHORT ||
                            (longer && !matrix));
}

/* Whether contiguous complex lines of a batch, or real ones of `pairs` of points, are faster one by
 * one, with their own points in the lanes, than side by side in the lanes of a tile, where they are
 * transposed before and after; lines that no tile holds are. Nanoseconds of both, fitted to the
 * times on a Zen 4 core with AVX-512, and on a Zen 3 core, where a tile takes longer, most of all
 * one that the second-level cache hardly holds; those of real lines with AVX-512 on a Xeon. Real
 * lines there and back are done alike, lest a round trip has other bits than both ways apart. */
static bool is_faster_alone(const weft_pass_request *r, int64_t n, bool pairs) {
    const double call = 1;
    const weft_kernels *kernels = r->kernels;
    const bool single = kernels->real_bytes == sizeof(float), wide = weft_lone_is_wide(kernels);
    if (n < 2 || !suits(kernels, n, true)) return false;
    if (n > WEFT_NATIVE_LONGEST_TILE) return true;
    const int64_t few_pairs = single ? 96 : 24;
    if (!may_be_alone(r) || (pairs && wide && n < few_pairs)) return false;
    const double passed = (single ? 0.47 : 0.67) * (double)n;
    const double in_tile = passed + (single ? 0.034 : 0.10) * weft_line_cost(kernels, n);
    const double split = (wide ? (single ? 0.17 : 0.3) : (single ? 0.25 : 0.4)) * (double)n;
    const double alone = weft_lone_cost(kernels, n) + (pairs ? 10 * call + split : call);
    const bool spills = (size_t)n * WEFT_ROW_BYTES > weft_topology_get()->l2 / 2;
    const double of_pairs = single ? 1.2 : 1.1;
    return alone < in_tile * (wide ? (pairs ? of_pairs : 1) : spills ? 2 : 1.4);
}

/* Short complex lines, which a codelet transforms from where they lie, always are, as are the
 * shortest real ones. Real lines of odd length are where they would be convolutions in tiles. */
static bool takes_batch_alone(const weft_pass_request *r) {
    enum { SHORTEST = 12 };
    const int64_t n = r->dim.n;
    if (r->kind == WEFT_TRANSFORM_C2C)
        return (may_be_alone(r) && short_line(r->kernels, n)) || is_faster_alone(r, n, false);
    if (n <= SHORTEST) return may_be_alone(r) && weft_lone_find_line(r->kernels, n);
    if (n % 2 != 0)
        return (n > WEFT_NATIVE_LONGEST_TILE || !weft_is_smooth(n)) && is_faster_alone(r, n, false);
    return is_faster_alone(r, n / 2, true);
}

bool weft_native_takes_alone(const weft_pass_request *r) {
    const bool real = r->kind != WEFT_TRANSFORM_C2C, halved = real && r->dim.n % 2 == 0;
    if (r->dim.in_stride != 1 || r->dim.out_stride != 1) return false;
    if (r->loops > 0 || r->in_batch) return takes_batch_alone(r);
    return suits(r->kernels, halved ? r->dim.n / 2 : r->dim.n, !real || halved);
}

static bool takes(const weft_native_pass *pass, const weft_pass_request *request) {
    (void)pass;
    return weft_native_takes_alone(request);
}

/* ---- planning ---- */

static void transform(const weft_native_pass *pass, const void *x, void *y, void *room, bool past,
                      double scale, const void *next) {
    (void)past;
    (void)next;
    weft_lone_run(&pass->lone, x, y, room, scale);
}

/* Whether lines of a batch should be prefetched: those from memory whose points are loaded in an
 * order that hardware prefetchers do not foresee. The stages of short ones with interleaved numbers
 * load neighbours, as do those of short real lines. Measured on a Zen 5 with both sets. */
static bool gains_from_fetching(const weft_pass_request *r, const weft_lone *lone) {
    const bool real = r->kind != WEFT_TRANSFORM_C2C, wide = weft_lone_is_wide(r->kernels);
    const int64_t split = wide ? 128 : 32 * element_of(r), interleaved = wide ? 640 : 768;
    const int64_t least = real ? SHORT + 1 : lone->interleaved ? interleaved : split;
    return is_beyond_caches(r) && r->dim.n * element_of(r) >= least;
}

/* Short lines of a batch take the codelet, were there one of them on this rank, so that each has
 * the bits of the whole batch. */
static bool plan(weft_native_pass *pass, const weft_pass_request *request, weft_direction direction,
                 size_t *bytes) {
    const bool batch = request->loops > 0 || request->in_batch;
    if (pass->kind != WEFT_TRANSFORM_C2C)
        pass->real_line = weft_lone_find_line(pass->kernels, pass->n);
    if (pass->real_line) return true;
    pass->transform = transform;
    const weft_lone_line *line = batch ? short_line(pass->kernels, pass->line.n) : NULL;
    if (line)
        weft_lone_create_line(pass->kernels, line, direction, &pass->lone);
    else if (!weft_lone_create(pass->kernels, pass->line.n, direction, &pass->lone, bytes))
        return false;
    pass->fetches = request->loops > 0 && gains_from_fetching(request, &pass->lone);
    pass->line_room = weft_lone_room(&pass->lone);
    return weft_native_pass_make_roots(pass, bytes);
}

static void release(weft_native_pass *pass) {
    weft_lone_release(&pass->lone);
}

/* ---- execution ---- */

/* How many lines are done alone, into a block that is then copied past the caches, where results go
 * past them and each line begins at the end of the one before; else 0. */
static int64_t block_lines(const weft_native_pass *pass) {
    enum { LEAST = 4096 };
    if (!pass->stream || pass->adjoining == 0 || pass->back || weft_one_by_one_copies(pass))
        return 0;
    const int64_t lanes = pass->kernels->lanes;
    return lanes * (1 + LEAST / (lanes * pass->adjoining));
}

/* A block lies behind the complex lines. */
static size_t room(const weft_native_pass *pass) {
    return weft_one_by_one_room(pass) + (size_t)(block_lines(pass) * pass->adjoining);
}

/* Transforms successive lines of loop 0 from where they lie. `line` is for those that are merged or
 * widened. */
static void run_row(const weft_native_pass *pass, const char *x, char *y, int64_t out_stride,
                    void *memory, char *line, int64_t count) {
    const int64_t in_stride = pass->loops > 0 ? pass->in.piece->loop_stride[0] : 0;
    if (pass->real_line && pass->kind == WEFT_TRANSFORM_R2C)
        pass->real_line->real(x, in_stride, y, out_stride, count, pass->scale);
    else if (pass->real_line)
        pass->real_line->half(x, in_stride, y, out_stride, count, pass->scale);
    else if (pass->kind == WEFT_TRANSFORM_C2C && pass->lone.line && pass->lone.line->lines)
        pass->lone.line->lines(x, in_stride, y, out_stride, count, pass->lone.inverse, pass->scale);
    else
        for (int64_t i = 0; i < count; i++)
            weft_one_by_one_run_line(pass, x + i * in_stride, y + i * out_stride, memory, line,
                                     false, NULL);
}

void weft_native_row_run(const weft_native_pass *pass, const void *in, void *out) {
    run_row(pass, (const char *)in + pass->in.piece->offset, (char *)out + pass->out.piece->offset,
            pass->out.piece->loop_stride[0], NULL, NULL, pass->lines);
}

/* A line that is alone is merged where its results go, so that the first-level cache has less to
 * hold; lines of a batch are merged in memory that it holds already. */
void weft_native_line_run(const weft_native_pass *pass, const void *in, void *out, void *memory) {
    const bool there = pass->kind == WEFT_TRANSFORM_C2R && pass->halved;
    weft_one_by_one_run_line(pass, in, out, memory,
                             there ? out : weft_one_by_one_line(pass, memory), false, NULL);
}

/* The same of lines that are prefetched. */
static void run_row_ahead(const weft_native_pass *pass, const char *x, char *y, int64_t out_stride,
                          void *memory, char *line, int64_t count) {
    const int64_t in_stride = pass->in.piece->loop_stride[0];
    const int64_t bytes = pass->in.whole.points * pass->in.whole.stride;
    const int64_t few = bytes > FETCHED ? 1 : FETCHED / bytes, ahead = (AHEAD + bytes - 1) / bytes;
    for (int64_t i = 0; i < count; i += few) {
        const int64_t now = count - i < few ? count - i : few;
        for (int64_t k = 0; k < now; k++)
            for (int64_t b = 0; b < bytes; b += WEFT_CACHE_LINE)
                __builtin_prefetch(x + (i + k + ahead) * in_stride + b);
        run_row(pass, x + i * in_stride, y + i * out_stride, out_stride, memory, line, now);
    }
}

/* Addresses are found once for each row of loop 0: short lines would lose by looking for each. */
static void run_in_rows(const weft_native_pass *pass, const void *in, void *out, void *memory,
                        int64_t first, int64_t end) {
    char *line = weft_one_by_one_line(pass, memory);
    char *block = (char *)memory + weft_one_by_one_room(pass);
    const int64_t in_stride = pass->loops > 0 ? pass->in.piece->loop_stride[0] : 0;
    const int64_t out_stride = pass->loops > 0 ? pass->out.piece->loop_stride[0] : 0;
    const int64_t in_block = block_lines(pass);
    while (first < end) {
        int64_t index[WEFT_PASS_LOOPS];
        weft_one_by_one_index(pass, first, index);
        const char *x = (const char *)in + weft_one_by_one_offset(pass, pass->in.piece, index);
        char *y = (char *)out + weft_one_by_one_offset(pass, pass->out.piece, index);
        const int64_t left = pass->loops > 0 ? pass->loop[0] - index[0] : 1;
        const int64_t count = left < end - first ? left : end - first;
        const int64_t most = in_block > 0 ? in_block : count;
        for (int64_t i = 0; i < count; i += most, x += most * in_stride, y += most * out_stride) {
            const int64_t few = count - i < most ? count - i : most;
            (pass->fetches ? run_row_ahead : run_row)(pass, x, in_block > 0 ? block : y, out_stride,
                                                      memory, line, few);
            if (in_block > 0) pass->kernels->copy(block, y, few * out_stride, true);
        }
        first += count;
    }
    if (in_block > 0) pass->kernels->fence();
}

static void run(const weft_native_pass *pass, const void *const *in, void *const *out, void *memory,
                int64_t number, int64_t first, int64_t end) {
    if (pass->back || weft_one_by_one_copies(pass))
        weft_one_by_one_run(pass, in, out, memory, number, first, end, false);
    else
        run_in_rows(pass, in[0], out[0], memory, weft_one_by_one_lines(pass, first),
                    weft_one_by_one_lines(pass, end));
}

static void print(const weft_native_pass *pass, FILE *stream) {
    const weft_lone *lone = &pass->lone;
    fputs("one by one, ", stream);
    if (pass->real_line) {
        fputs("one codelet", stream);
        return;
    }
    if (lone->chirp) {
        lone = &lone->chirp->line;
        fprintf(stream, "Bluestein's convolution of %lld points, ", (long long)lone->n);
    }
    for (int i = 0; i < lone->count; i++)
        fprintf(stream, "%s%d", i == 0 ? "radices " : " x ", lone->stage[i].codelet->radix);
    if (lone->count > 0)
        fputs(lone->interleaved ? ", numbers interleaved" : ", numbers split", stream);
    else
        fputs(lone->line ? "one codelet" : "as they are", stream);
}

const weft_solver weft_solver_alone = {
    .takes = takes, .plan = plan, .release = release, .room = room, .run = run, .print = print};
