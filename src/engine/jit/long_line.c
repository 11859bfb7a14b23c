/*
 * Long lines: all factorizations in few stages, with all numbers of threads and of groups that a
 * multiprocessor has registers and local memory for, are compared by a model that was fitted to 554
 * measured shapes on an H200 (docs/results/cuda-kernels/shapes.csv): of those of a length it takes
 * one that reaches 0.98 of the best one's speed in the mean.
 */
#include "engine/jit/long_line.h"

#include <math.h>

/* A multiprocessor of an H200. */
enum {
    WARP = 32,
    MOST_THREADS = 1024, /* of a group; of all groups twice as many */
    PARTS = 4,           /* that warps share out ... */
    PART_REGISTERS = 16384,
    MOST_REGISTERS = 255, /* of a thread ... */
    REGISTER_GRANULE = 8, /* ... in multiples of this */
    LOCAL_BYTES = 227 << 10,
    BANKS_BYTES = 128,     /* that threads load from local memory, or store, in a cycle */
    DOUBLE_OPERATIONS = 64 /* in a cycle; twice as many in single precision */
};

/* What the compiler can do, and the shapes that are tried. */
enum {
    MOST_VALUES = 50,  /* points of a thread: arrays with more of them leave the registers */
    LEAST_OTHERS = 16, /* registers of a thread beside those of its points */
    MOST_STAGES = 5,
    LEAST_THREADS = 128
};

int weft_jit_registers_with(int groups, int threads) {
    const int warps = groups * ((threads + WARP - 1) / WARP);
    const int of_part = (warps + PARTS - 1) / PARTS;
    return PART_REGISTERS / (of_part * WARP) / REGISTER_GRANULE * REGISTER_GRANULE;
}

typedef struct search {
    int n, number_bytes;
    weft_jit_radices best;
    int groups;  /* of the best */
    double cost; /* of the best; infinite before there is one */
} search;

/* Cycles of a group's arithmetic, that of idle threads included, and of its exchanges. Where some
 * are idle, the others ask whether they are. */
static double cycles(const search *s, const weft_jit_radices *r) {
    const int twiddle = 8, warps = (r->threads + WARP - 1) / WARP;
    const double rate = DOUBLE_OPERATIONS * 8.0 / s->number_bytes;
    const double exchange = 2.0 * s->n * 2 * s->number_bytes / BANKS_BYTES;
    double operations = 0, stages_with_idle = 0;
    for (int i = 0; i < r->stages; i++) {
        const int radix = r->radix[i], count = (s->n / radix + r->threads - 1) / r->threads;
        operations += (double)count * warps * WARP *
                      (weft_jit_operations(radix) + (i > 0 ? twiddle * radix : 0));
        stages_with_idle += s->n / radix % r->threads != 0;
    }
    return (operations / rate + 3 * (r->stages - 1) * exchange) *
           (1 + 0.12 * stages_with_idle / r->stages);
}

/* Threads with many registers for points issue less at once, and with few others keep some of what
 * they need in memory. Several groups hide a little of each other's cycles. */
static double cost_with(const search *s, double cycles, int groups, int of_points, int others) {
    const double many = fmax(0, of_points - 56) / (s->number_bytes == 4 ? 150 : 260);
    const double few = 0.065 * fmax(0, 29 - others);
    return cycles * (1 + many) * (1 + few) / pow(groups, 0.125);
}

static void try_threads(search *s, weft_jit_radices *r, int threads) {
    const int64_t local_bytes = (int64_t)s->n * 2 * s->number_bytes;
    r->threads = threads;
    r->values = weft_jit_values_with(r, s->n, threads);
    if (r->values > MOST_VALUES) return;
    const int of_points = weft_jit_points_of_thread(r) * s->number_bytes / 2;
    const double spent = cycles(s, r);
    for (int groups = 1; groups * threads <= 2 * MOST_THREADS; groups++) {
        int registers = weft_jit_registers_with(groups, threads);
        if (registers > MOST_REGISTERS) registers = MOST_REGISTERS;
        if (registers - of_points < LEAST_OTHERS) return;
        if (groups > 1 && groups * local_bytes > LOCAL_BYTES) return;
        const double cost = cost_with(s, spent, groups, of_points, registers - of_points);
        if (cost >= s->cost) continue;
        s->best = *r;
        s->groups = groups;
        s->cost = cost;
    }
}

static void try_radices(search *s, weft_jit_radices *r, int rest, int largest) {
    for (int i = 0; rest == 1 && i < r->stages; i++)
        for (int count = 1; count <= MOST_VALUES / r->radix[i]; count++) {
            const int threads = (s->n / r->radix[i] + count - 1) / count;
            if (threads >= LEAST_THREADS && threads <= MOST_THREADS) try_threads(s, r, threads);
        }
    if (r->stages == MOST_STAGES) return;
    for (int radix = largest; radix >= 2 && rest > 1; radix--) {
        if (rest % radix != 0 || weft_jit_operations(radix) == 0) continue;
        r->radix[r->stages++] = radix;
        try_radices(s, r, rest / radix, radix);
        r->stages--;
    }
}

weft_jit_radices weft_jit_choose_long_radices(int n, weft_precision precision, int *groups) {
    search s = {.n = n, .number_bytes = (int)weft_number_bytes(precision), .cost = INFINITY};
    weft_jit_radices r = {.stages = 0};
    try_radices(&s, &r, n, WEFT_JIT_LARGEST_RADIX);
    *groups = s.groups;
    return s.best;
}
