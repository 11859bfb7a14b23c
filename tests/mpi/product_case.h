/*
 * Random cases of the product test: problems with boxes and operators, and all options but the
 * exchange method. The same on all ranks, but for a rank's own boxes.
 */
#ifndef WEFT_TESTS_PRODUCT_CASE_H
#define WEFT_TESTS_PRODUCT_CASE_H

#include "mpi/product_operators.h"

#include <stdio.h>

enum { SHAPES = 22 };

typedef struct shape {
    int rank;
    int64_t n[4];
} shape;

static const shape shapes[SHAPES] = {
    {3, {8, 8, 8}},
    {3, {7, 5, 9}},
    {3, {13, 11, 6}},
    {3, {1, 12, 10}},
    {3, {12, 1, 10}},
    {3, {6, 10, 1}},
    {3, {2, 3, 17}},
    {3, {16, 4, 5}},
    {3, {5, 19, 8}},
    {3, {1, 1, 1}},
    {3, {3, 29, 2}},
    {2, {14, 9}},
    {2, {5, 31}},
    {4, {3, 5, 4, 7}},
    {4, {6, 2, 5, 4}},
    {3, {15, 12, 11}},
    {3, {18, 72, 124}} /* planes of more than 64 KiB */,
    {3, {64, 6, 64}},
    {2, {256, 128}}, /* lines that the native engine takes as matrices */
    {1, {240}},
    {1, {221}},
    {1, {14}}};

static int world_rank, world_size;
static uint64_t random_state;

static uint64_t next_random(void) { /* xorshift64*: the same on all ranks */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ULL;
}

static int pick(int count) {
    return (int)((next_random() >> 33) % (uint64_t)count);
}

static drawn_operators drawn; /* what the problem of the case at hand points to */

/* One case: everything but the exchange method. */
typedef struct test_case {
    weft_problem problem;
    weft_options options;
    weft_brick input, output;
    bool bricks, in_place;
} test_case;

/* Random boxes for all ranks: the array cut along one random axis into pieces of random length,
 * handed out in a random rotation, in a random memory order. The same on all ranks, but for the
 * rank's own piece. */
static void random_brick(const weft_problem *p, bool spectral, weft_brick *brick) {
    int axis = pick(p->rank), rotation = pick(world_size);
    int64_t cut[65] = {0}, n[WEFT_MAX_RANK];
    memset(brick, 0, sizeof *brick);
    for (int a = 0; a < WEFT_MAX_RANK; a++)
        n[a] = a < p->rank ? place_points(p, spectral ? 1 : 0, a) : 1;
    if (spectral && p->kind == WEFT_R2C) n[p->rank - 1] = n[p->rank - 1] / 2 + 1;
    for (int i = 1; i < world_size; i++) cut[i] = pick((int)n[axis] + 1);
    cut[world_size] = n[axis];
    for (int i = 1; i < world_size; i++)
        for (int j = i; j > 1 && cut[j - 1] > cut[j]; j--) {
            int64_t t = cut[j];
            cut[j] = cut[j - 1];
            cut[j - 1] = t;
        }
    int mine = (world_rank + rotation) % world_size;
    for (int a = 0; a < WEFT_MAX_RANK; a++) brick->box.n[a] = n[a];
    brick->box.lo[axis] = cut[mine];
    brick->box.n[axis] = cut[mine + 1] - cut[mine];
    int shift = pick(p->rank); /* a rotation of the axes, different by rank */
    for (int a = 0; a < p->rank; a++) brick->order[a] = (a + shift + world_rank) % p->rank;
}

static void random_grid(weft_options *o, int rank) {
    int divisors[64], count = 0, left = world_size;
    for (int d = 1; d <= left; d++)
        if (left % d == 0) divisors[count++] = d;
    int entries = rank == 4 && pick(2) ? 3 : rank > 2 ? 2 : 1;
    for (int i = 0; i < entries; i++) {
        int d = i + 1 == entries ? left : divisors[pick(count)];
        while (left % d != 0) d = divisors[pick(count)];
        o->grid[i] = d;
        left /= d;
    }
}

static weft_device on_device;   /* --device: every case, with the engines that compute there */
static weft_engine with_engine; /* --engine: of these */

static bool draws_arrays; /* whether operators may have arrays, which plans without bricks take */
static bool draws_truncation; /* whether spectra may be those of fewer points */

/* Callers' arrays that are padded, cropped, or of other numbers. */
static void draw_stored(test_case *c) {
    static const weft_storage storages[] = {WEFT_STORAGE_SAME, WEFT_STORAGE_FLOAT,
                                            WEFT_STORAGE_DOUBLE};
    c->in_place = 0;
    if (c->options.placement == WEFT_IN_PLACE) c->options.placement = WEFT_OUT_OF_PLACE;
    c->problem.load_storage = storages[pick(3)];
    c->problem.store_storage = storages[pick(3)];
    for (int a = 0; a < c->problem.rank; a++)
        if (pick(2)) c->problem.pad_from[a] = 1 + pick((int)c->problem.n[a]);
}

/* Spectra of fewer points. */
static void draw_truncation(test_case *c) {
    c->in_place = 0;
    if (c->options.placement == WEFT_IN_PLACE) c->options.placement = WEFT_OUT_OF_PLACE;
    for (int a = 0; a < c->problem.rank; a++)
        if (pick(3)) c->problem.truncate_to[a] = 1 + pick((int)c->problem.n[a]);
}

/* Lines over several ranks have no bricks, keep no spectrum, and are no identity; the device openmp
 * has none. */
static bool is_line_over_ranks(const test_case *c) {
    return c->problem.rank == 1 && world_size > 1;
}

static test_case random_case(void) {
    static const weft_decomposition decompositions[] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D,
                                                        WEFT_SLAB_Y_ZX, WEFT_PENCIL, WEFT_PENCIL};
    static const weft_engine engines[] = {WEFT_ENGINE_NATIVE, WEFT_ENGINE_NATIVE,
                                          WEFT_ENGINE_NATIVE, WEFT_ENGINE_NATIVE,
                                          WEFT_ENGINE_FFTW,   WEFT_ENGINE_REFERENCE};
    test_case c = {.in_place = pick(2)};
    const shape *s = &shapes[pick(SHAPES)];
    c.problem.rank = s->rank;
    memcpy(c.problem.n, s->n, sizeof s->n);
    c.problem.kind = pick(2) ? WEFT_R2C : WEFT_C2C;
    c.problem.precision = pick(2) ? WEFT_SINGLE : WEFT_DOUBLE;
    c.problem.batch = pick(4) == 0 ? 3 : 1;
    c.options.decomposition = decompositions[pick(5)];
    c.options.variant = pick(2) ? WEFT_REALIGNED : WEFT_DEFAULT;
    c.options.engine = engines[pick(6)];
    c.options.threads = pick(4) == 0 ? 2 : 1;
    c.options.chunks = pick(3) == 0 ? 2 + pick(6) : 0;
    c.options.placement = pick(3)      ? WEFT_PLACEMENT_ANY
                          : c.in_place ? WEFT_IN_PLACE
                                       : WEFT_OUT_OF_PLACE;
    if (pick(5) == 0) {
        c.options.device = WEFT_SIMULATED;
        c.options.location = pick(2) ? WEFT_LOCATION_HOST : WEFT_LOCATION_DEVICE;
    } else if (pick(8) == 0) {
        c.options.device_aware = WEFT_STAGED;
    }
    if (on_device == WEFT_SIMULATED) c.options.device = WEFT_SIMULATED;
    if (on_device == WEFT_CUDA || on_device == WEFT_OPENCL || on_device == WEFT_OPENMP) {
        c.options.device = on_device;
        c.options.device_aware = pick(4) == 0 ? WEFT_STAGED : WEFT_AWARENESS_AUTO;
        c.options.engine = with_engine;
    }
    if (c.problem.kind == WEFT_C2C && pick(6) == 0 && !is_line_over_ranks(&c))
        c.options.engine = WEFT_ENGINE_IDENTITY;
    if (c.options.decomposition == WEFT_PENCIL) random_grid(&c.options, s->rank);
    if (pick(4) == 0) c.options.wire = WEFT_WIRE_SINGLE;
    const bool cufft = with_engine == WEFT_ENGINE_CUFFT ||
                       (on_device == WEFT_CUDA && with_engine != WEFT_ENGINE_JIT);
    const bool takes_any = !cufft || c.problem.kind == WEFT_C2C; /* spectra real data has not */
    if (draws_truncation && takes_any && !is_line_over_ranks(&c) && pick(4) == 0)
        draw_truncation(&c);
    c.bricks = pick(5) == 0 && !is_line_over_ranks(&c);
    if (c.bricks) {
        random_brick(&c.problem, false, &c.input);
        random_brick(&c.problem, true, &c.output);
    }
    c.options.convolve = pick(2);
    if (on_device == WEFT_OPENMP)
        c.options.location = pick(2) ? WEFT_LOCATION_HOST : WEFT_LOCATION_DEVICE;
    c.options.keep_spectrum =
        c.options.convolve && !c.bricks && pick(2) && !is_line_over_ranks(&c) &&
        (c.options.device == WEFT_HOST || c.options.location == WEFT_LOCATION_DEVICE);
    if (!c.bricks && pick(4) == 0) draw_stored(&c);
    if (pick(2)) draw_operators(pick, &c.problem, draws_arrays && !c.bricks, &drawn);
    if (cufft && c.options.convolve && c.problem.kind == WEFT_R2C)
        keep_real_spectra(&c.problem, &drawn); /* it takes no others back */
    return c;
}

static void describe(const test_case *c, char *out, size_t size) {
    const weft_options *o = &c->options;
    const weft_problem *p = &c->problem;
    snprintf(out, size,
             "%lldx%lldx%lldx%lld %s %s batch %lld %s %s grid %d,%d,%d engine %s device %s%s%s "
             "threads %d chunks %d %s%s%s operators %d,%d,%d%s stored %d,%d pad %lld,%lld,%lld "
             "truncate %lld,%lld,%lld",
             (long long)p->n[0], (long long)p->n[1], (long long)p->n[2], (long long)p->n[3],
             weft_kind_name(p->kind), weft_precision_name(p->precision), (long long)p->batch,
             weft_decomposition_name(o->decomposition), weft_variant_name(o->variant), o->grid[0],
             o->grid[1], o->grid[2], weft_engine_name(o->engine), weft_device_name(o->device),
             o->location ? " host buffers" : "", o->device_aware == WEFT_STAGED ? " staged" : "",
             o->threads, o->chunks, c->in_place ? "in place" : "out of place",
             c->bricks ? " bricks" : "", o->wire ? " wire single" : "", p->load.count,
             p->spectral.count, p->store.count,
             o->keep_spectrum ? " convolve and keep"
             : o->convolve    ? " convolve"
                              : "",
             p->load_storage, p->store_storage, (long long)p->pad_from[0],
             (long long)p->pad_from[1], (long long)p->pad_from[2], (long long)p->truncate_to[0],
             (long long)p->truncate_to[1], (long long)p->truncate_to[2]);
}

#endif
