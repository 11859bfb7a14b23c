/* The problems in which failures.c makes calls fail. */
#ifndef WEFT_TESTS_FAILURES_CASES_H
#define WEFT_TESTS_FAILURES_CASES_H

#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <string.h>

/* What is made: a plan for the problem, or of its shape and kind a composition of several parts,
 * one from the spectra of two fields to that of their product, or a convolution with an array, one
 * that is a derivative or makes vectors from vectors between walls, or one by tiles, samples or
 * levels. */
typedef enum case_made {
    MADE_PLAN = 0,
    MADE_COMPOSITION,
    MADE_PRODUCT,
    MADE_CONVOLUTION,
    MADE_DERIVATIVE,
    MADE_VECTORS,
    MADE_TILES,
    MADE_SAMPLES,
    MADE_MULTILEVEL
} case_made;

typedef struct case_of {
    const char *name;
    case_made made;
    weft_problem problem;
    weft_options options;
    bool bricks, operators;
    bool functions;    /* of the input, and of the results of an inverse transform */
    bool reduces;      /* a reduction of the input, which is asked for after each execution */
    bool refused;      /* on all ranks, anyway */
    const char *wants; /* a variable of the environment without which there is no such case */
} case_of;

#define SHAPE .rank = 3, .n = {8, 6, 10}
#define SLAB .decomposition = WEFT_SLAB_2D1D, .variant = WEFT_DEFAULT
#define PENCIL .decomposition = WEFT_PENCIL, .variant = WEFT_DEFAULT
#define SIMULATED .device = WEFT_SIMULATED, .location = WEFT_LOCATION_HOST
#define OPENCL .device = WEFT_OPENCL, .location = WEFT_LOCATION_HOST
#define OPENMP .device = WEFT_OPENMP, .location = WEFT_LOCATION_HOST
#define CUDA .device = WEFT_CUDA, .location = WEFT_LOCATION_HOST

static const case_of good_case = {.name = "good",
                                  .problem = {.rank = 3, .n = {4, 4, 4}},
                                  .options = {SLAB, .exchange = {WEFT_P2P_SYNC}}};

static const case_of cases[] = {
    {.name = "slab-p2p-sync", .problem = {SHAPE}, .options = {SLAB, .exchange = {WEFT_P2P_SYNC}}},
    {.name = "pencil-p2p-streams",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {PENCIL, .exchange = {WEFT_P2P_STREAMS}}},
    {.name = "realigned-p2p-type",
     .problem = {SHAPE},
     .options = {.decomposition = WEFT_PENCIL,
                 .variant = WEFT_REALIGNED,
                 .exchange = {WEFT_P2P_TYPE}}},
    {.name = "slab-a2a-sync",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {SLAB, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "pencil-a2a-sync",
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "pencil-a2a-type",
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_A2A_TYPE}}},
    {.name = "slab-single",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {SLAB, .exchange = {WEFT_A2A_SYNC}, .wire = WEFT_WIRE_SINGLE}},
    {.name = "slab-peer", .problem = {SHAPE}, .options = {SLAB, .exchange = {WEFT_PEER}}},
    {.name = "pencil-peer",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {PENCIL, .exchange = {WEFT_PEER}}},
    {.name = "bricks-p2p-sync",
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_P2P_SYNC}},
     .bricks = true},
    {.name = "bricks-peer",
     .problem = {SHAPE},
     .options = {SLAB, .exchange = {WEFT_PEER}},
     .bricks = true},
    {.name = "operators-convolve",
     .problem = {SHAPE, .norm = WEFT_NORM_BACKWARD},
     .options = {SLAB, .exchange = {WEFT_P2P_SYNC}, .convolve = 1},
     .operators = true},
    {.name = "reductions",
     .problem = {SHAPE},
     .options = {SLAB, .exchange = {WEFT_P2P_SYNC}},
     .reduces = true},
    {.name = "chunks-p2p-sync",
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_P2P_SYNC}, .chunks = 3}},
    {.name = "reference-in-parts",
     .problem = {SHAPE},
     .options = {SLAB, .exchange = {WEFT_A2A_SYNC}, .engine = WEFT_ENGINE_REFERENCE, .chunks = 2}},
    {.name = "composition",
     .made = MADE_COMPOSITION,
     .problem = {SHAPE},
     .options = {SLAB, .exchange = {WEFT_P2P_SYNC}}},
    {.name = "truncated",
     .problem = {SHAPE, .norm = WEFT_NORM_BACKWARD, .truncate_to = {5, 4, 7}},
     .options = {PENCIL, .exchange = {WEFT_PEER, WEFT_A2A_SYNC}, .convolve = 1}},
    {.name = "pseudospectral",
     .made = MADE_PRODUCT,
     .problem = {SHAPE, .kind = WEFT_R2C, .norm = WEFT_NORM_BACKWARD},
     .options = {PENCIL, .exchange = {WEFT_PEER, WEFT_P2P_STREAMS}}},
    {.name = "convolution",
     .made = MADE_CONVOLUTION,
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "derivative-between-walls",
     .made = MADE_DERIVATIVE,
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {PENCIL, .exchange = {WEFT_P2P_SYNC}}},
    {.name = "vectors-between-walls",
     .made = MADE_VECTORS,
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {PENCIL, .exchange = {WEFT_PEER, WEFT_P2P_STREAMS}}},
    {.name = "vectors-simulated",
     .made = MADE_VECTORS,
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {SLAB, SIMULATED, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "overlap-save",
     .made = MADE_TILES,
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "samples",
     .made = MADE_SAMPLES,
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "multilevel",
     .made = MADE_MULTILEVEL,
     .problem = {SHAPE},
     .options = {PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "line",
     .problem = {.rank = 1, .n = {120}, .norm = WEFT_NORM_BACKWARD},
     .options = {.exchange = {WEFT_P2P_SYNC}}},
    {.name = "line-real",
     .problem = {.rank = 1, .n = {120}, .kind = WEFT_R2C},
     .options = {.exchange = {WEFT_PEER, WEFT_A2A_SYNC}}},
    {.name = "line-convolution",
     .made = MADE_CONVOLUTION,
     .problem = {.rank = 1, .n = {120}, .kind = WEFT_R2C},
     .options = {.exchange = {WEFT_A2A_SYNC}}},
    {.name = "slab-any-method", .problem = {SHAPE}, .options = {SLAB}}, /* others are tried next */
    {.name = "measure", .problem = {SHAPE}, .options = {SLAB, .effort = WEFT_MEASURE, .trace = 1}},
    {.name = "refused",
     .problem = {SHAPE},
     .options = {SLAB, .exchange = {WEFT_PEER}, .device_memory_limit = 64},
     .refused = true},
    {.name = "simulated-p2p-sync",
     .problem = {SHAPE},
     .options = {SIMULATED, SLAB, .exchange = {WEFT_P2P_SYNC}}},
    {.name = "simulated-p2p-streams",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_P2P_STREAMS}}},
    {.name = "simulated-a2a-type",
     .problem = {SHAPE},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_A2A_TYPE}}},
    {.name = "simulated-peer",
     .problem = {SHAPE},
     .options = {SIMULATED, SLAB, .exchange = {WEFT_PEER}}},
    {.name = "simulated-peer-chunks",
     .problem = {SHAPE},
     .options = {SIMULATED, SLAB, .exchange = {WEFT_PEER}, .chunks = 4}},
    {.name = "simulated-chunks",
     .problem = {SHAPE, .norm = WEFT_NORM_BACKWARD},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_P2P_SYNC}, .chunks = 3, .convolve = 1},
     .operators = true},
    {.name = "simulated-composition",
     .made = MADE_COMPOSITION,
     .problem = {SHAPE},
     .options = {SIMULATED, SLAB, .exchange = {WEFT_P2P_STREAMS}}},
    {.name = "simulated-reductions",
     .problem = {SHAPE},
     .options = {SIMULATED, SLAB, .exchange = {WEFT_A2A_SYNC}},
     .reduces = true},
    {.name = "simulated-streamed",
     .problem = {SHAPE, .kind = WEFT_R2C, .norm = WEFT_NORM_BACKWARD},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_P2P_SYNC, WEFT_A2A_SYNC},
                 .stream = WEFT_STREAM_ON}},
    {.name = "simulated-streamed-single",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_P2P_SYNC, WEFT_PEER},
                 .stream = WEFT_STREAM_ON, .wire = WEFT_WIRE_SINGLE}},
    {.name = "simulated-streamed-peer",
     .problem = {SHAPE},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_PEER}, .stream = WEFT_STREAM_ON}},
    {.name = "simulated-streamed-mixed",
     .problem = {SHAPE},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_PEER, WEFT_P2P_STREAMS},
                 .stream = WEFT_STREAM_ON}},
    {.name = "simulated-streamed-convolve",
     .problem = {SHAPE, .kind = WEFT_R2C, .norm = WEFT_NORM_BACKWARD},
     .options = {SIMULATED, PENCIL, .exchange = {WEFT_PEER, WEFT_P2P_STREAMS}, .convolve = 1,
                 .stream = WEFT_STREAM_ON}},
    {.name = "simulated-any-method", .problem = {SHAPE}, .options = {SIMULATED, SLAB}},
    {.name = "simulated-measure",
     .problem = {SHAPE},
     .options = {SIMULATED, SLAB, .effort = WEFT_MEASURE}},
    {.name = "cuda-p2p-sync",
     .problem = {SHAPE},
     .options = {CUDA, SLAB, .exchange = {WEFT_P2P_SYNC}}},
    {.name = "cuda-streams-operators",
     .problem = {SHAPE, .norm = WEFT_NORM_BACKWARD},
     .options = {CUDA, SLAB, .exchange = {WEFT_P2P_STREAMS}, .convolve = 1},
     .operators = true},
    {.name = "cuda-reductions",
     .problem = {SHAPE},
     .options = {CUDA, SLAB, .exchange = {WEFT_P2P_SYNC}},
     .reduces = true},
    {.name = "cuda-peer-chunks",
     .problem = {SHAPE},
     .options = {CUDA, SLAB, .exchange = {WEFT_PEER}, .chunks = 4}},
    {.name = "cuda-streamed-peer",
     .problem = {SHAPE},
     .options = {CUDA, SLAB, .exchange = {WEFT_PEER}, .stream = WEFT_STREAM_ON}},
    {.name = "cuda-nccl", .problem = {SHAPE}, .options = {CUDA, PENCIL, .exchange = {WEFT_NCCL}}},
    {.name = "cuda-nccl-chunks",
     .problem = {SHAPE},
     .options = {CUDA, SLAB, .exchange = {WEFT_NCCL}, .chunks = 3}},
    {.name = "cuda-a2a-cufft",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {CUDA, SLAB, .exchange = {WEFT_A2A_SYNC}, .engine = WEFT_ENGINE_CUFFT}},
    {.name = "cuda-samples",
     .made = MADE_SAMPLES,
     .problem = {SHAPE},
     .options = {CUDA, PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "cuda-measure", .problem = {SHAPE}, .options = {CUDA, SLAB, .effort = WEFT_MEASURE}},
    {.name = "opencl-streams",
     .problem = {SHAPE},
     .options = {OPENCL, SLAB, .exchange = {WEFT_P2P_STREAMS}}},
    {.name = "opencl-convolve",
     .problem = {SHAPE, .norm = WEFT_NORM_BACKWARD},
     .options = {OPENCL, SLAB, .exchange = {WEFT_A2A_SYNC}, .convolve = 1, .chunks = 2},
     .operators = true},
    {.name = "openmp-streams",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {OPENMP, SLAB, .exchange = {WEFT_P2P_STREAMS}, .chunks = 2}},
    {.name = "openmp-pencil",
     .problem = {SHAPE, .norm = WEFT_NORM_BACKWARD},
     .options = {OPENMP, PENCIL, .exchange = {WEFT_A2A_SYNC}}},
    {.name = "openmp-operators",
     .problem = {SHAPE},
     .options = {OPENMP, SLAB, .exchange = {WEFT_P2P_SYNC}, .convolve = 1},
     .operators = true},
    {.name = "openmp-cufft",
     .problem = {SHAPE, .kind = WEFT_R2C},
     .options = {OPENMP, SLAB, .exchange = {WEFT_A2A_SYNC}, .engine = WEFT_ENGINE_CUFFT},
     .wants = "WEFT_TEST_CUDA_OPENMP"},
    {.name = "openmp-reduces",
     .problem = {SHAPE, .axis = {WEFT_DCT2}, .kind = WEFT_R2C, .truncate_to = {0, 4}},
     .options = {OPENMP, SLAB, .exchange = {WEFT_P2P_SYNC}},
     .reduces = true},
    {.name = "openmp-functions",
     .problem = {SHAPE},
     .options = {OPENMP, SLAB, .exchange = {WEFT_P2P_SYNC}, .wire = WEFT_WIRE_SINGLE},
     .functions = true},
};
enum { case_count = sizeof cases / sizeof cases[0], MOST_CASES = case_count };

/* What a problem points to. */
typedef struct case_memory {
    weft_brick input, output;
    weft_operator load[2], spectral, store;
    double table[8];
} case_memory;

/* A function of the caller's, which changes nothing. */
static inline void leave_as_they_are(const weft_operator_run *run, void *argument) {
    (void)run;
    (void)argument;
}

/* Bricks: the input split along the last axis, the output along the first, other memory orders. */
static inline weft_problem case_problem(const case_of *c, int rank, int size, case_memory *m) {
    weft_problem p = c->problem;
    memset(m, 0, sizeof *m);
    if (c->bricks) {
        const int64_t x = p.n[0], z = p.n[2];
        m->input = (weft_brick){.box = {.n = {x, p.n[1], z}}, .order = {2, 0, 1}};
        m->output = (weft_brick){.box = {.n = {x, p.n[1], z}}, .order = {0, 1, 2}};
        m->input.box.lo[2] = z * rank / size;
        m->input.box.n[2] = z * (rank + 1) / size - z * rank / size;
        m->output.box.lo[0] = x * rank / size;
        m->output.box.n[0] = x * (rank + 1) / size - x * rank / size;
        p.input = &m->input;
        p.output = &m->output;
    }
    m->load[0] = (weft_operator){.kind = WEFT_OPERATOR_REDUCE, .array = 1, .reduction = WEFT_MAX};
    if (c->reduces) p.load = (weft_operators){m->load, 1};
    if (c->functions) {
        m->load[0] = m->store =
            (weft_operator){.kind = WEFT_OPERATOR_FUNCTION, .function = leave_as_they_are};
        p.load = (weft_operators){m->load, 1};
        p.store = (weft_operators){&m->store, 1};
    }
    if (!c->operators) return p;
    for (int i = 0; i < 8; i++) m->table[i] = 1 + 0.5 * i;
    m->load[0] = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = 3};
    m->load[1] = (weft_operator){.kind = WEFT_OPERATOR_TABLE, .table = {m->table}};
    m->spectral = (weft_operator){.kind = WEFT_OPERATOR_SHIFT, .shift = {1, 2}};
    m->store = (weft_operator){.kind = WEFT_OPERATOR_WINDOW,
                               .window = {{.kind = WEFT_WINDOW_HANN}, {.kind = WEFT_WINDOW_HANN}}};
    p.load = (weft_operators){m->load, 2};
    p.spectral = (weft_operators){&m->spectral, 1};
    p.store = (weft_operators){&m->store, 1};
    return p;
}

/* There and back with zeros around, every other point of that, and the spectrum of those. */
static inline weft_status case_compose(weft_context ctx, const case_of *c, weft_plan *plan) {
    const int64_t *n = c->problem.n;
    const weft_stage stage[] = {
        {.kind = WEFT_STAGE_EMBED, .n = {n[0] + 2, n[1] + 2, n[2] + 1}, .lo = {1, 1, 0}},
        {.kind = WEFT_STAGE_FORWARD},
        {.kind = WEFT_STAGE_INVERSE},
        {.kind = WEFT_STAGE_CROP, .lo = {1}, .step = {2, 2, 2}},
        {.kind = WEFT_STAGE_FORWARD}};
    const weft_composition_problem problem = {.rank = c->problem.rank,
                                              .n = {n[0], n[1], n[2]},
                                              .kind = c->problem.kind,
                                              .stage = stage,
                                              .stages = sizeof stage / sizeof *stage};
    return weft_composition_create(ctx, &problem, &c->options, plan);
}

/* The product of two fields. */
static void case_multiply(const weft_fields_run *run, void *unused) {
    (void)unused;
    for (int64_t i = 0; i < run->count; i++)
        ((double *)run->out[0])[i * run->out_stride] =
            ((const double *)run->in[0])[i * run->in_stride] *
            ((const double *)run->in[1])[i * run->in_stride];
}

static inline weft_status case_product(weft_context ctx, const case_of *c, weft_plan *plan) {
    static const weft_operator product = {.kind = WEFT_OPERATOR_MATRIX, .matrix = case_multiply};
    static const weft_stage stage[] = {
        {.kind = WEFT_STAGE_INVERSE},
        {.kind = WEFT_STAGE_POINTWISE, .operators = {&product, 1}, .result_fields = 1},
        {.kind = WEFT_STAGE_FORWARD}};
    weft_composition_problem p = {.rank = c->problem.rank,
                                  .kind = c->problem.kind,
                                  .begin = WEFT_OUTPUT,
                                  .norm = c->problem.norm,
                                  .fields = 2,
                                  .stage = stage,
                                  .stages = 3};
    memcpy(p.n, c->problem.n, sizeof p.n);
    return weft_composition_create(ctx, &p, &c->options, plan);
}

static inline weft_status case_convolve(weft_context ctx, const case_of *c, weft_plan *plan) {
    static const double kernel[2 * 3 * 2 * 2] = {1, 0, 2, 0, 3, 1};
    const int64_t *n = c->problem.n;
    const weft_convolution_problem problem = {.rank = c->problem.rank,
                                              .n = {n[0], n[1], n[2]},
                                              .kind = c->problem.kind,
                                              .boundary = {WEFT_LINEAR, WEFT_PERIODIC, WEFT_LINEAR},
                                              .mode = c->problem.rank == 1 ? WEFT_SAME : WEFT_FULL,
                                              .kernel = {.array = kernel, .n = {3, 2, 2}}};
    return weft_convolution_create(ctx, &problem, &c->options, plan);
}

static inline weft_status case_between_walls(weft_context ctx, const case_of *c, weft_plan *plan) {
    const int64_t *n = c->problem.n;
    const weft_convolution_problem problem = {
        .rank = c->problem.rank,
        .n = {n[0], n[1], n[2]},
        .kind = c->problem.kind,
        .boundary = {WEFT_NEUMANN, WEFT_PERIODIC, WEFT_DIRICHLET},
        .kernel = {.kind = c->made == MADE_VECTORS ? WEFT_KERNEL_LERAY : WEFT_KERNEL_DERIVATIVE,
                   .order = {1, 1}}};
    return weft_convolution_create(ctx, &problem, &c->options, plan);
}

/* By tiles, of a kernel whose rows ranks share. */
static inline weft_status case_tile(weft_context ctx, const case_of *c, int rank, int size,
                                    weft_plan *plan) {
    static const double kernel[2 * 3 * 2 * 2] = {1, 0, 2, 0, 3, 1};
    const int64_t *n = c->problem.n;
    const int64_t first = 3 * rank / size, end = 3 * (rank + 1) / size;
    const weft_box box = {.lo = {first}, .n = {end - first, 2, 2}};
    const weft_convolution_problem problem = {
        .rank = c->problem.rank,
        .n = {n[0], n[1], n[2]},
        .kind = c->problem.kind,
        .boundary = {WEFT_LINEAR, WEFT_LINEAR, WEFT_LINEAR},
        .kernel = {.array = end > first ? kernel : NULL, .n = {3, 2, 2}, .box = &box},
        .method = WEFT_OVERLAP_SAVE};
    return weft_convolution_create(ctx, &problem, &c->options, plan);
}

static inline weft_status case_sample(weft_context ctx, const case_of *c, weft_plan *plan) {
    static const double zero[2] = {0, 0};
    const int64_t *n = c->problem.n;
    const weft_convolution_problem problem = {
        .rank = c->problem.rank,
        .n = {n[0], n[1], n[2]},
        .kind = c->problem.kind,
        .kernel = {.kind = WEFT_KERNEL_POISSON, .zero = zero, .discretization = WEFT_STAGGERED},
        .method = c->made == MADE_SAMPLES ? WEFT_SAMPLES : WEFT_MULTILEVEL,
        .tolerance = c->made == MADE_SAMPLES ? 0 : 0.1,
        .opening = c->made == MADE_SAMPLES ? 0.5 : 0,
        .subdomain = 3};
    return weft_convolution_create(ctx, &problem, &c->options, plan);
}

static inline weft_status case_create(weft_context ctx, const case_of *c, int rank, int size,
                                      const weft_problem *problem, weft_plan *plan) {
    if (c->made == MADE_COMPOSITION) return case_compose(ctx, c, plan);
    if (c->made == MADE_PRODUCT) return case_product(ctx, c, plan);
    if (c->made == MADE_CONVOLUTION) return case_convolve(ctx, c, plan);
    if (c->made == MADE_DERIVATIVE || c->made == MADE_VECTORS)
        return case_between_walls(ctx, c, plan);
    if (c->made == MADE_TILES) return case_tile(ctx, c, rank, size, plan);
    if (c->made >= MADE_SAMPLES) return case_sample(ctx, c, plan);
    return weft_plan_create(ctx, problem, &c->options, plan);
}

static inline weft_status case_execute(const case_of *c, weft_plan plan, const void *in,
                                       void *out) {
    if (c->made == MADE_COMPOSITION || c->made == MADE_PRODUCT)
        return weft_composition_execute(plan, in, &out);
    if (c->made >= MADE_CONVOLUTION) return weft_convolution_execute(plan, in, out);
    return weft_execute(plan, c->options.convolve ? WEFT_CONVOLVE : WEFT_FORWARD, in, out);
}

#endif
