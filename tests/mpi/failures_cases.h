/* The problems in which failures.c makes calls fail. */
#ifndef WEFT_TESTS_FAILURES_CASES_H
#define WEFT_TESTS_FAILURES_CASES_H

#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <string.h>

typedef struct case_of {
    const char *name;
    int ranks; /* at least */
    weft_problem problem;
    weft_options options;
    bool bricks, operators;
} case_of;

#define SHAPE .rank = 3, .n = {8, 6, 10}
#define SLAB .decomposition = WEFT_SLAB_2D1D, .variant = WEFT_DEFAULT
#define PENCIL .decomposition = WEFT_PENCIL, .variant = WEFT_DEFAULT
#define SIMULATED .device = WEFT_SIMULATED, .location = WEFT_LOCATION_HOST
#define CUDA .device = WEFT_CUDA, .location = WEFT_LOCATION_HOST

static const case_of good_case = {.name = "good",
                                  .problem = {.rank = 3, .n = {4, 4, 4}},
                                  .options = {SLAB, .exchange = {WEFT_P2P_SYNC}}};

static const case_of cases[] = {
    {"slab-p2p-sync", 2, {SHAPE}, {SLAB, .exchange = {WEFT_P2P_SYNC}}, 0, 0},
    {"pencil-p2p-streams",
     2,
     {SHAPE, .kind = WEFT_R2C},
     {PENCIL, .exchange = {WEFT_P2P_STREAMS}},
     0,
     0},
    {"realigned-p2p-type",
     2,
     {SHAPE},
     {.decomposition = WEFT_PENCIL, .variant = WEFT_REALIGNED, .exchange = {WEFT_P2P_TYPE}},
     0,
     0},
    {"slab-a2a-sync", 2, {SHAPE, .kind = WEFT_R2C}, {SLAB, .exchange = {WEFT_A2A_SYNC}}, 0, 0},
    {"pencil-a2a-sync", 2, {SHAPE}, {PENCIL, .exchange = {WEFT_A2A_SYNC}}, 0, 0},
    {"pencil-a2a-type", 2, {SHAPE}, {PENCIL, .exchange = {WEFT_A2A_TYPE}}, 0, 0},
    {"slab-peer", 2, {SHAPE}, {SLAB, .exchange = {WEFT_PEER}}, 0, 0},
    {"pencil-peer", 2, {SHAPE, .kind = WEFT_R2C}, {PENCIL, .exchange = {WEFT_PEER}}, 0, 0},
    {"bricks-p2p-sync", 2, {SHAPE}, {PENCIL, .exchange = {WEFT_P2P_SYNC}}, 1, 0},
    {"bricks-peer", 2, {SHAPE}, {SLAB, .exchange = {WEFT_PEER}}, 1, 0},
    {"operators-convolve",
     2,
     {SHAPE, .norm = WEFT_NORM_BACKWARD},
     {SLAB, .exchange = {WEFT_P2P_SYNC}, .convolve = 1},
     0,
     1},
    {"chunks-p2p-sync", 2, {SHAPE}, {PENCIL, .exchange = {WEFT_P2P_SYNC}, .chunks = 3}, 0, 0},
    {"reference-in-parts",
     2,
     {SHAPE},
     {SLAB, .exchange = {WEFT_A2A_SYNC}, .engine = WEFT_ENGINE_REFERENCE, .chunks = 2},
     0,
     0},
    {"measure", 2, {SHAPE}, {SLAB, .effort = WEFT_MEASURE, .trace = 1}, 0, 0},
    {"simulated-p2p-sync", 2, {SHAPE}, {SIMULATED, SLAB, .exchange = {WEFT_P2P_SYNC}}, 0, 0},
    {"simulated-p2p-streams",
     2,
     {SHAPE, .kind = WEFT_R2C},
     {SIMULATED, PENCIL, .exchange = {WEFT_P2P_STREAMS}},
     0,
     0},
    {"simulated-a2a-type", 2, {SHAPE}, {SIMULATED, PENCIL, .exchange = {WEFT_A2A_TYPE}}, 0, 0},
    {"simulated-peer", 2, {SHAPE}, {SIMULATED, SLAB, .exchange = {WEFT_PEER}}, 0, 0},
    {"simulated-peer-chunks",
     2,
     {SHAPE},
     {SIMULATED, SLAB, .exchange = {WEFT_PEER}, .chunks = 4},
     0,
     0},
    {"simulated-chunks",
     2,
     {SHAPE, .norm = WEFT_NORM_BACKWARD},
     {SIMULATED, PENCIL, .exchange = {WEFT_P2P_SYNC}, .chunks = 3, .convolve = 1},
     0,
     1},
    {"cuda-p2p-sync", 2, {SHAPE}, {CUDA, SLAB, .exchange = {WEFT_P2P_SYNC}}, 0, 0},
    {"cuda-streams-operators",
     2,
     {SHAPE, .norm = WEFT_NORM_BACKWARD},
     {CUDA, SLAB, .exchange = {WEFT_P2P_STREAMS}, .convolve = 1},
     0,
     1},
    {"cuda-peer-chunks", 2, {SHAPE}, {CUDA, SLAB, .exchange = {WEFT_PEER}, .chunks = 4}, 0, 0},
    {"cuda-nccl", 2, {SHAPE}, {CUDA, PENCIL, .exchange = {WEFT_NCCL}}, 0, 0},
    {"cuda-nccl-chunks", 2, {SHAPE}, {CUDA, SLAB, .exchange = {WEFT_NCCL}, .chunks = 3}, 0, 0},
    {"cuda-a2a-cufft",
     2,
     {SHAPE, .kind = WEFT_R2C},
     {CUDA, SLAB, .exchange = {WEFT_A2A_SYNC}, .engine = WEFT_ENGINE_CUFFT},
     0,
     0},
};
enum { case_count = sizeof cases / sizeof cases[0], MOST_CASES = case_count };

/* What a problem points to. */
typedef struct case_memory {
    weft_brick input, output;
    weft_operator load[2], spectral, store;
    double table[8];
} case_memory;

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

#endif
