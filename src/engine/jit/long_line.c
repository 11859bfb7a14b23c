/*
 * Long lines: all factorizations in few stages, with all numbers of threads and of groups that a
 * multiprocessor has registers and local memory for, are compared by a model that was fitted to 554
 * measured shapes on an H200 (docs/results/cuda-kernels/shapes.csv): of those of a length it takes
 * one that reaches 0.98 of the best one's speed in the mean.
 */
#include "engine/jit/long_line.h"

#include "engine/jit/multiprocessor.h"

#include <math.h>

/* What the compiler can do, and the shapes that are tried. */
enum {
    MOST_VALUES = 50,  /* points of a thread: arrays with more of them leave the registers */
    LEAST_OTHERS = 16, /* registers of a thread beside those of its points */
    MOST_STAGES = 5,
    LEAST_THREADS = 128,
    MOST_THREADS = 1024,     /* of a group */
    LOCAL_BYTES = 227 << 10, /* of all groups of a multiprocessor */
    DOUBLE_OPERATIONS = 64   /* of a multiprocessor in a cycle; twice as many in single precision */
};

typedef struct search {
    int n;
    weft_precision precision;
    weft_jit_radices best;
    int groups;  /* of the best */
    double cost; /* of the best; infinite before there is one */
} search;

static int64_t line_bytes(const search *s) {
    return 2 * (int64_t)weft_number_bytes(s->precision) * s->n;
}

/* Cycles of a group's arithmetic, that of idle threads included, and of its exchanges. Where some
 * are idle, the others ask whether they are. */
static double cycles(const search *s, const weft_jit_radices *r) {
    const int twiddle = 8, warps = (r->threads + WEFT_JIT_WARP - 1) / WEFT_JIT_WARP;
    const double rate = DOUBLE_OPERATIONS * (s->precision == WEFT_SINGLE ? 2 : 1);
    const double exchange = 2.0 * (double)line_bytes(s) / WEFT_JIT_BANK_BYTES;
    double operations = 0, stages_with_idle = 0;
    for (int i = 0; i < r->stages; i++) {
        const int radix = r->radix[i], count = (s->n / radix + r->threads - 1) / r->threads;
        operations += (double)count * warps * WEFT_JIT_WARP *
                      (weft_jit_operations(radix) + (i > 0 ? twiddle * radix : 0));
        stages_with_idle += s->n / radix % r->threads != 0;
    }
    return (operations / rate + 3 * (r->stages - 1) * exchange) *
           (1 + 0.12 * stages_with_idle / r->stages);
}

/* Threads with many registers for points issue less at once, and with few others keep some of what
 * they need in memory. Several groups hide a little of each other's cycles. */
static double cost_with(const search *s, double cycles, int groups, int of_points, int others) {
    const double many = fmax(0, of_points - 56) / (s->precision == WEFT_SINGLE ? 150 : 260);
    const double few = 0.065 * fmax(0, 29 - others);
    return cycles * (1 + many) * (1 + few) / pow(groups, 0.125);
}

static void try_threads(search *s, weft_jit_radices *r, int threads) {
    r->threads = threads;
    r->values = weft_jit_values_with(r, s->n, threads);
    if (r->values > MOST_VALUES) return;
    const int of_points = weft_jit_registers_of_points(r, s->precision);
    const double spent = cycles(s, r);
    for (int groups = 1; groups * threads <= WEFT_JIT_RESIDENT_THREADS; groups++) {
        const int others = weft_jit_registers_with(groups, threads) - of_points;
        if (others < LEAST_OTHERS || (groups > 1 && groups * line_bytes(s) > LOCAL_BYTES)) return;
        const double cost = cost_with(s, spent, groups, of_points, others);
        if (cost >= s->cost) continue;
        s->best = *r;
        s->groups = groups;
        s->cost = cost;
    }
}

static void try_radices(void *searched, weft_jit_radices *r) {
    search *s = searched;
    for (int i = 0; i < r->stages; i++)
        for (int count = 1; count <= MOST_VALUES / r->radix[i]; count++) {
            const int threads = (s->n / r->radix[i] + count - 1) / count;
            if (threads >= LEAST_THREADS && threads <= MOST_THREADS) try_threads(s, r, threads);
        }
}

weft_jit_radices weft_jit_choose_long_radices(int n, weft_precision precision, bool half,
                                              int *groups) {
    search s = {.n = n, .precision = precision, .cost = INFINITY};
    weft_jit_radices r = {.stages = 0};
    weft_jit_factorize(n, WEFT_JIT_LARGEST_RADIX, MOST_STAGES, !half, &r, try_radices, &s);
    *groups = s.groups;
    return s.best;
}
