/*
 * Arithmetic: fused multiply-adds of numbers in registers, with the widest instructions that the
 * processor has. Twelve independent chains keep two units of four or five cycles' latency busy.
 * Where the processor is not known, each step is a multiplication and an addition in the compiler's
 * vectors. A step counts two operations for each number.
 */
#include "bench/ceilings_parts.h"

#include "io/agreement.h"
#include "support/error.h"

#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { CHAINS = 12 };
static const double budget = 0.2; /* seconds for each precision */

typedef double (*chains_function)(long steps, double seed);

/* Chains differ in their start, or a compiler would merge them; all tend to 1. */
#define EACH(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11)
#define BEGIN(i) x##i += (NUMBER)(seed * i);
#define STEP(i) x##i = MULTIPLY_ADD(x##i, factor, addend);
#define END(i) total += x##i;
#define CHAINS_FUNCTION(name, attributes, vector)                                                  \
    attributes static double name(long steps, double seed) {                                       \
        vector zero = {0}, total = zero, factor = zero + (NUMBER)0.75,                             \
               addend = zero + (NUMBER)0.25;                                                       \
        vector x0 = zero, x1 = zero, x2 = zero, x3 = zero, x4 = zero, x5 = zero, x6 = zero,        \
               x7 = zero, x8 = zero, x9 = zero, x10 = zero, x11 = zero;                            \
        EACH(BEGIN)                                                                                \
        for (long s = 0; s < steps; s++) {                                                         \
            EACH(STEP)                                                                             \
        }                                                                                          \
        EACH(END)                                                                                  \
        double sum = 0;                                                                            \
        for (size_t i = 0; i < sizeof total / sizeof(NUMBER); i++) sum += (double)total[i];        \
        return sum;                                                                                \
    }
#define PLAIN(x, factor, addend) (x) * (factor) + (addend)

typedef double plain_doubles __attribute__((vector_size(16)));
typedef float plain_singles __attribute__((vector_size(16)));

#define MULTIPLY_ADD PLAIN
#define NUMBER double
CHAINS_FUNCTION(plain_double, , plain_doubles)
#undef NUMBER
#define NUMBER float
CHAINS_FUNCTION(plain_single, , plain_singles)
#undef NUMBER
#undef MULTIPLY_ADD

#if defined(__x86_64__)
#define NUMBER double
#define MULTIPLY_ADD _mm256_fmadd_pd
CHAINS_FUNCTION(avx2_double, __attribute__((target("avx2,fma"))), __m256d)
#undef MULTIPLY_ADD
#define MULTIPLY_ADD _mm512_fmadd_pd
CHAINS_FUNCTION(avx512_double, __attribute__((target("avx512f"))), __m512d)
#undef MULTIPLY_ADD
#undef NUMBER
#define NUMBER float
#define MULTIPLY_ADD _mm256_fmadd_ps
CHAINS_FUNCTION(avx2_single, __attribute__((target("avx2,fma"))), __m256)
#undef MULTIPLY_ADD
#define MULTIPLY_ADD _mm512_fmadd_ps
CHAINS_FUNCTION(avx512_single, __attribute__((target("avx512f"))), __m512)
#undef MULTIPLY_ADD
#undef NUMBER
#endif

typedef struct instruction_set {
    const char *name;
    chains_function run[2]; /* double, single */
    int bytes;              /* of a vector */
} instruction_set;

static instruction_set best_instructions(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return (instruction_set){"avx512f", {avx512_double, avx512_single}, 64};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (instruction_set){"avx2+fma", {avx2_double, avx2_single}, 32};
    return (instruction_set){"sse2", {plain_double, plain_single}, 16};
#else
    return (instruction_set){"baseline", {plain_double, plain_single}, 16};
#endif
}

typedef struct compute_work {
    chains_function run;
    long steps;
    volatile double seed;  /* that no compiler knows */
    volatile double *sums; /* one for each thread, so that no work is dropped */
} compute_work;

static void run_chains(void *argument, int thread) {
    compute_work *work = argument;
    work->sums[thread] = work->run(work->steps, work->seed);
}

/* Steps that take about 10 ms, the same on all ranks. */
static weft_status choose_steps(const ceilings_group *group, compute_work *work) {
    double start = 0, end = 0;
    for (work->steps = 1000; work->steps < 1L << 30 && end - start < 0.01; work->steps *= 2)
        ceilings_team_run(group->team, run_chains, work, &start, &end);
    CEILINGS_MPI(MPI_Bcast(&work->steps, 1, MPI_LONG, 0, group->world->comm));
    return WEFT_SUCCESS;
}

static weft_status measure(const ceilings_group *group, compute_work *work, double flops_per_step,
                           double *rate) {
    double seconds = 0;
    int threads = ceilings_team_threads(group->team) * group->node_ranks;
    WEFT_TRY(choose_steps(group, work));
    WEFT_TRY(ceilings_best_time(group, run_chains, work, budget, &seconds));
    double mine = flops_per_step * (double)work->steps * threads / seconds;
    CEILINGS_MPI(MPI_Reduce(&mine, rate, 1, MPI_DOUBLE, MPI_MIN, 0, group->world->comm));
    return WEFT_SUCCESS;
}

weft_status ceilings_compute(const ceilings_group *group, json_t **compute) {
    instruction_set best = best_instructions();
    int threads = ceilings_team_threads(group->team);
    double rate[2] = {0}, *sums = calloc((size_t)threads, sizeof *sums);
    compute_work work = {.seed = 0.001, .sums = sums};
    weft_status status = WEFT_SUCCESS;
    if (!sums) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "ceilings: no memory for sums");
    status = weft_array_agree(group->world->comm, status);
    for (int k = 0; k < 2 && status == WEFT_SUCCESS; k++) {
        work.run = best.run[k];
        double numbers = (double)best.bytes / (double)(k ? sizeof(float) : sizeof(double));
        status = measure(group, &work, 2 * CHAINS * numbers, &rate[k]);
    }
    free(sums);
    WEFT_TRY(status);
    if (group->world->rank == 0)
        *compute = json_pack("{s:f, s:f, s:s}", "double", rate[0], "single", rate[1],
                             "instructions", best.name);
    return WEFT_SUCCESS;
}
