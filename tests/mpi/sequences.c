/*
 * Executions that follow each other directly: random sequences of directions and placements on
 * plans of random problems, without anything that brings the ranks in step between them. Every
 * result has the bits that another exchange method gives when each execution stands alone; where
 * ranks differ in placement, it is as close as rounding allows.
 *
 *   sequences [--sequences N] [--first K] [--seed S] [--seconds T]
 *             [--device cuda|opencl [--engine jit|cufft]]
 *
 * An execution that takes longer than T seconds (default 20) ends the program, which names the
 * seed, the sequence and the execution.
 */
#include "mpi/product_case.h"

#include <weft/weft_mpi.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DIRECTIONS = 3, PLACEMENTS = 2, LONGEST = 8 };

static unsigned long long seed;
static unsigned limit_s = 20;
static weft_context ctx;
static char doing[1024]; /* what a time limit names */
static char sequence[512];

static void out_of_time(int number) {
    (void)number;
    ssize_t unused = write(STDERR_FILENO, doing, strlen(doing));
    (void)unused;
    _exit(3);
}

static void begin(const char *what) {
    snprintf(doing, sizeof doing, "rank %d: more than %u s: %s: %s\n", world_rank, limit_s,
             sequence, what);
    alarm(limit_s);
}

static bool fail(const char *what, const char *why) {
    fprintf(stderr, "rank %d: %s: %s: %s\n", world_rank, sequence, what, why);
    return false;
}

static bool agreed(bool mine) {
    int all = mine;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

/* A plan with the callers' arrays, all at least one byte long, so that no pointer is NULL. */
typedef struct prepared {
    weft_plan plan;
    weft_precision precision;
    size_t bytes[2];                      /* by space */
    void *input[2];                       /* what is transformed from each space */
    void *result[DIRECTIONS][PLACEMENTS]; /* bits to expect */
    double norm[DIRECTIONS];              /* squared, of all ranks */
    void *in, *out;                       /* on the device, large enough for either space */
    void *host;                           /* the same */
} prepared;

static size_t larger(const prepared *p) {
    return (p->bytes[0] > p->bytes[1] ? p->bytes[0] : p->bytes[1]) + 16;
}

static weft_space from_space(int direction) {
    return direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
}

static weft_space to_space(int direction) {
    return direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
}

static weft_status open_plan(const test_case *c, const weft_options *options, prepared *p) {
    memset(p, 0, sizeof *p);
    p->precision = c->problem.precision;
    weft_status status = weft_plan_create(ctx, &c->problem, options, &p->plan);
    for (int space = 0; space < 2 && status == WEFT_SUCCESS; space++)
        status = weft_plan_bytes(p->plan, (weft_space)space, &p->bytes[space]);
    if (status == WEFT_SUCCESS) status = weft_buffer_create(p->plan, larger(p), &p->in);
    if (status == WEFT_SUCCESS) status = weft_buffer_create(p->plan, larger(p), &p->out);
    p->host = malloc(larger(p));
    return status;
}

static void close_plan(prepared *p) {
    weft_buffer_destroy(p->plan, &p->in);
    weft_buffer_destroy(p->plan, &p->out);
    weft_plan_destroy(&p->plan);
    free(p->host);
}

/* One execution; the result is in p->host. */
static weft_status run(prepared *p, int direction, bool in_place) {
    const weft_space from = from_space(direction);
    void *out = in_place ? p->in : p->out;
    memset(p->host, 0xA5, larger(p));
    weft_status status = weft_buffer_upload(p->plan, out, p->host, larger(p));
    if (status == WEFT_SUCCESS)
        status = weft_buffer_upload(p->plan, p->in, p->input[from], p->bytes[from]);
    if (status == WEFT_SUCCESS)
        status = weft_execute(p->plan, (weft_direction)direction, p->in, out);
    if (status == WEFT_SUCCESS)
        status = weft_buffer_download(p->plan, p->host, out, p->bytes[to_space(direction)]);
    return status;
}

/* The caller's array of a space, as it is given or as it comes back: its numbers, those of this
 * rank's box. A buffer may be larger, and what lies behind the box is anybody's. */
typedef struct array {
    bool floats; /* doubles otherwise */
    size_t numbers, bytes;
} array;

static array array_of(const test_case *c, weft_plan plan, weft_space space, bool given) {
    const weft_problem *p = &c->problem;
    const weft_storage storage = space == WEFT_OUTPUT ? WEFT_STORAGE_SAME
                                 : given              ? p->load_storage
                                                      : p->store_storage;
    const bool same = storage == WEFT_STORAGE_SAME;
    const bool real = space == WEFT_INPUT && (p->kind == WEFT_R2C || !same);
    array a = {.floats = same ? p->precision == WEFT_SINGLE : storage == WEFT_STORAGE_FLOAT,
               .numbers = (size_t)p->batch * (real ? 1 : 2)};
    weft_box box;
    weft_plan_box(plan, space, world_rank, &box);
    for (int i = 0; i < p->rank; i++) a.numbers *= (size_t)box.n[i];
    a.bytes = a.numbers * (a.floats ? sizeof(float) : sizeof(double));
    return a;
}

static double number(const void *data, size_t i, bool floats) {
    return floats ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* The sum of the squares of an array's numbers, or of how two of them differ. */
static double squares(const array *a, const void *one, const void *other) {
    double sum = 0;
    for (size_t i = 0; i < a->numbers; i++) {
        double difference = number(one, i, a->floats) - (other ? number(other, i, a->floats) : 0);
        sum += isnan(difference) ? 1e300 : difference * difference;
    }
    return sum;
}

static void fill(const array *a, void *data, unsigned *state) {
    for (size_t i = 0; i < a->numbers; i++) {
        double value = (double)rand_r(state) / RAND_MAX - 0.5;
        if (a->floats)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
}

static bool may_be_in_place(const test_case *c, bool in_place) {
    return c->options.placement == WEFT_PLACEMENT_ANY || !in_place;
}

/* Fills in what to expect, by executions that stand alone. */
static bool make_results(const test_case *c, prepared *reference, prepared *p) {
    unsigned state = (unsigned)seed + (unsigned)world_rank;
    const array given = array_of(c, p->plan, WEFT_INPUT, true);
    const size_t bytes = larger(p) > larger(reference) ? larger(p) : larger(reference);
    for (int space = 0; space < 2; space++) p->input[space] = calloc(1, bytes);
    fill(&given, p->input[WEFT_INPUT], &state);
    memcpy(reference->input, p->input, sizeof p->input);
    for (int d = 0; d < (c->options.convolve ? DIRECTIONS : WEFT_CONVOLVE); d++)
        for (int placed = 0; placed < PLACEMENTS && may_be_in_place(c, placed); placed++) {
            const array result = array_of(c, p->plan, to_space(d), false);
            weft_status status = run(reference, d, placed);
            if (!agreed(status == WEFT_SUCCESS)) return fail("alone", weft_last_error(ctx));
            p->result[d][placed] = malloc(result.bytes + 1);
            memcpy(p->result[d][placed], reference->host, result.bytes);
            p->norm[d] = squares(&result, reference->host, NULL);
            MPI_Allreduce(MPI_IN_PLACE, &p->norm[d], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (d == WEFT_FORWARD) memcpy(p->input[WEFT_OUTPUT], reference->host, result.bytes);
        }
    return true;
}

static void free_results(prepared *p) {
    for (int space = 0; space < 2; space++) free(p->input[space]);
    for (int d = 0; d < DIRECTIONS; d++)
        for (int placed = 0; placed < PLACEMENTS; placed++) free(p->result[d][placed]);
}

static const char *const direction_names[DIRECTIONS] = {"forward", "inverse", "convolve"};

/* Each rank at a pace of its own. */
static bool run_sequence(const test_case *c, prepared *p) {
    const int directions = c->options.convolve ? DIRECTIONS : WEFT_CONVOLVE,
              length = 2 + pick(LONGEST - 1);
    const bool mixed = may_be_in_place(c, true) && pick(4) == 0;
    unsigned own = (unsigned)seed * 31 + (unsigned)world_rank;
    bool good = true;
    for (int i = 0; i < length; i++) { /* to the end, for the other ranks' sake */
        const int direction = pick(directions);
        int placed = pick(PLACEMENTS);
        if (mixed) placed = rand_r(&own) / 8 % PLACEMENTS;
        if (!may_be_in_place(c, placed)) placed = 0;
        char what[64];
        snprintf(what, sizeof what, "execution %d: %s %s", i, direction_names[direction],
                 placed ? "in place" : "out of place");
        if (rand_r(&own) / 8 % 4 == 0) usleep((unsigned)rand_r(&own) / 8 % 300);
        begin(what);
        if (run(p, direction, placed) != WEFT_SUCCESS) good = fail(what, weft_last_error(ctx));
        alarm(0);
        const array result = array_of(c, p->plan, to_space(direction), false);
        const void *want = p->result[direction][placed];
        /* In other last bits, a number may round to another float on its way, too. */
        const bool floats =
            result.floats || p->precision == WEFT_SINGLE || c->options.wire == WEFT_WIRE_SINGLE;
        const double allowed = floats ? 1e-5 : 1e-13;
        if (mixed && squares(&result, p->host, want) > allowed * allowed * p->norm[direction])
            good = fail(what, "wrong result");
        if (!mixed && memcmp(p->host, want, result.bytes) != 0)
            good = fail(what, "other bits than alone");
    }
    return good;
}

/* What weft chose for *p, but for the exchange method. */
static weft_options without_lending(const prepared *p) {
    weft_options options = {.struct_size = sizeof options};
    weft_plan_options(p->plan, &options);
    for (int i = 0; i < WEFT_MAX_RANK; i++) options.exchange[i] = WEFT_A2A_SYNC;
    return options;
}

static test_case draw_case(void) {
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                            WEFT_A2A_SYNC, WEFT_A2A_TYPE};
    draws_truncation = true;
    test_case c = random_case();
    c.options.keep_spectrum = 0;
    c.options.convolve = pick(3) > 0;
    c.options.location = WEFT_LOCATION_DEVICE;
    const bool stored = c.options.placement == WEFT_OUT_OF_PLACE ||
                        c.problem.load_storage != WEFT_STORAGE_SAME ||
                        c.problem.store_storage != WEFT_STORAGE_SAME;
    c.options.placement = WEFT_PLACEMENT_ANY;
    for (int a = 0; a < c.problem.rank; a++)
        if (stored || c.problem.pad_from[a] || c.problem.truncate_to[a])
            c.options.placement = WEFT_OUT_OF_PLACE;
    for (int i = 0; i < 2; i++) /* mostly what waits for partners without messages */
        c.options.exchange[i] =
            pick(4) == 0 || on_device == WEFT_OPENCL ? methods[pick(5)] : WEFT_PEER;
    if (pick(3) == 0) { /* as most callers do */
        c.options.decomposition = WEFT_DECOMPOSITION_AUTO;
        c.options.variant = WEFT_VARIANT_AUTO;
        memset(c.options.grid, 0, sizeof c.options.grid);
        memset(c.options.exchange, 0, sizeof c.options.exchange);
    }
    return c;
}

/* false after a failure. */
static bool run_number(int k) {
    random_state = (seed + (unsigned long long)k * 0x9E3779B97F4A7C15ULL) | 1;
    for (int i = 0; i < 4; i++) next_random();
    test_case c = draw_case();
    char text[400];
    describe(&c, text, sizeof text);
    snprintf(sequence, sizeof sequence, "seed %llu, sequence %d on %d ranks: %s %s,%s", seed, k,
             world_size, text, weft_exchange_name(c.options.exchange[0]),
             weft_exchange_name(c.options.exchange[1]));
    if (c.bricks) {
        c.problem.input = &c.input;
        c.problem.output = &c.output;
    }
    prepared p = {.plan = NULL}, reference = {.plan = NULL};
    begin("planning");
    bool good = open_plan(&c, &c.options, &p) == WEFT_SUCCESS;
    if (!good) fail("planning", weft_last_error(ctx));
    if (agreed(good)) {
        const weft_options options = without_lending(&p);
        good = open_plan(&c, &options, &reference) == WEFT_SUCCESS;
        if (!good) fail("planning with all-to-all", weft_last_error(ctx));
    }
    if (agreed(good)) {
        begin("alone");
        good = make_results(&c, &reference, &p);
        alarm(0);
        if (agreed(good)) good = run_sequence(&c, &p);
        free_results(&p);
    }
    good = agreed(good);
    close_plan(&reference);
    close_plan(&p);
    return good;
}

int main(int argc, char **argv) {
    int provided, failures = 0, sequences = 100, first = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    seed = (unsigned long long)time(NULL) * 1000003u + (unsigned long long)getpid();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--sequences") == 0) sequences = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--device") == 0)
            on_device = strcmp(argv[i + 1], "opencl") == 0 ? WEFT_OPENCL : WEFT_CUDA;
        if (strcmp(argv[i], "--engine") == 0)
            with_engine = strcmp(argv[i + 1], "jit") == 0 ? WEFT_ENGINE_JIT : WEFT_ENGINE_CUFFT;
        if (strcmp(argv[i], "--first") == 0) first = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seconds") == 0) limit_s = (unsigned)atoi(argv[i + 1]);
    }
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    signal(SIGALRM, out_of_time);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int k = first; k < first + sequences && failures < 5; k++) failures += !run_number(k);
    weft_context_destroy(&ctx);
    if (world_rank == 0)
        printf("sequences: %d ranks, seed %llu: %d sequences, %d failed\n", world_size, seed,
               sequences, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
