/*
 * Every call that can fail is made to fail once, on each rank in turn, while contexts and plans are
 * made and while they run: allocations, the system, MPI and devices (faults.h). All ranks return an
 * error, or all of them the right result; nothing hangs or leaks; and the context goes on to make
 * plans. Started on 2 to 4 ranks.
 *
 *   failures [--device host|simulated|cuda|opencl|openmp] [--seconds S] [--seed N] [--all 1]
 * [--case NAME]
 *            [--phase context|planning|execution] [--kind memory|system|mpi|device|driver] [--count
 * 1]
 *            [--patience S]
 *
 * Without --all calls are drawn at random for S seconds. --count lists the allocations of each
 * case's executions.
 */
#include "mpi/failures_cases.h"
#include "mpi/faults.h"
#include "promised_device.h"

#include <execinfo.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned patience = 90; /* seconds that one fault may take on a busy machine */

typedef enum phase { PHASE_CONTEXT, PHASE_PLAN, PHASE_EXECUTION, PHASES } phase;
static const char *const phase_names[PHASES] = {"context", "planning", "execution"};

static int rank, size, failures;
static int64_t tried_faults, fired_faults;
static const char *only_phase, *only_kind; /* of --all */
static weft_context ctx;
static char doing[256];

/* What is to fail: the k-th call of a kind on one rank, in one phase. */
typedef struct fault {
    phase phase;
    fault_kind kind;
    int rank;
    int64_t k;
} fault;

static void complain(const char *what) {
    const char *function = NULL;
    faults_fired(&function);
    fprintf(stderr, "rank %d: %s: %s (failed call: %s; last error: %s)\n", rank, doing, what,
            function ? function : "none", weft_last_error(ctx));
    failures++;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) complain(#condition);                                                    \
    } while (0)

static void on_signal(int number) {
    void *frames[40];
    char text[400];
    const char *function = NULL;
    const int length = snprintf(text, sizeof text, "rank %d %s: %s (%s)\n", rank,
                                number == SIGALRM ? "waits for ever" : "crashes", doing,
                                faults_fired(&function) ? function : "no call has failed");
    if (length > 0) (void)!write(2, text, (size_t)length);
    backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
    sleep(2); /* the others say the same */
    _exit(3);
}

/* ---- one plan and its executions ---- */

/* What a run of a case gives here. */
typedef struct outcome {
    weft_status context, plan, execution[4], reduction[4];
    int executions;
    bool right[4];
    fault_balance leaked;
    int64_t count[PHASES][FAULT_KINDS];
    bool fired;
} outcome;

static void begin(const fault *f, phase now) {
    faults_begin(f->kind, f->phase == now && f->rank == rank ? f->k : 0);
}

static void end(outcome *o, phase now) {
    faults_end();
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        o->count[now][kind] = faults_count((fault_kind)kind);
    o->fired = o->fired || faults_fired(NULL);
}

static fault_balance difference(const fault_balance *before) {
    fault_balance now = faults_balance();
    return (fault_balance){now.allocations - before->allocations,
                           now.mapped_bytes - before->mapped_bytes,
                           now.files - before->files,
                           now.threads - before->threads,
                           now.datatypes - before->datatypes,
                           now.communicators - before->communicators,
                           now.device_objects - before->device_objects};
}

/* Numbers of this rank that no other has, and are the same each time. */
static void fill(char *memory, size_t bytes, const case_of *c) {
    const bool single = c->problem.precision == WEFT_SINGLE;
    const size_t numbers = bytes / (single ? 4 : 8);
    for (size_t i = 0; i < numbers; i++) {
        const double value = sin(0.7 * (double)i + rank);
        if (single)
            ((float *)(void *)memory)[i] = (float)value;
        else
            ((double *)(void *)memory)[i] = value;
    }
}

static bool close_to(const char *a, const char *b, size_t bytes) {
    for (size_t i = 0; i < bytes / 8; i++) {
        const double x = ((const double *)(const void *)a)[i];
        const double y = ((const double *)(const void *)b)[i];
        if (!(fabs(x - y) <= 1e-11 * (1 + fabs(y)) * 1000)) return false;
    }
    return true;
}

/* The caller's numbers in a space. */
static size_t box_bytes(weft_plan plan, const case_of *c, weft_space space) {
    weft_box box;
    weft_plan_box(plan, space, rank, &box);
    const bool real_space =
        c->made != MADE_PRODUCT && (space == WEFT_INPUT || c->made >= MADE_CONVOLUTION);
    size_t bytes = real_space && c->problem.kind == WEFT_R2C ? 8 : 16;
    if (c->made == MADE_VECTORS) bytes *= (size_t)c->problem.rank;
    if (c->made == MADE_PRODUCT && space == WEFT_INPUT) bytes *= 2;
    for (int a = 0; a < c->problem.rank; a++) bytes *= (size_t)box.n[a];
    return bytes;
}

/* Executes `times` times; the first is the one that fails. The result of a run without faults is
 * kept in *expected, and later ones are compared with it. */
static void execute(const case_of *c, const fault *f, weft_plan plan, int times, char **expected,
                    outcome *o) {
    const weft_space to = c->options.convolve ? WEFT_INPUT : WEFT_OUTPUT;
    size_t in_bytes = 0, out_bytes = 0, result = box_bytes(plan, c, to);
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(plan, to, &out_bytes);
    char *in = calloc(1, in_bytes + 16), *out = malloc(out_bytes + 16);
    fill(in, box_bytes(plan, c, WEFT_INPUT), c);
    for (int i = 0; i < times; i++) {
        memset(out, 0x7f, out_bytes);
        if (i == 0) begin(f, PHASE_EXECUTION);
        o->execution[i] = case_execute(c, plan, in, out);
        double largest[2] = {0.5};
        if (c->reduces) o->reduction[i] = weft_plan_reduction(plan, 1, largest);
        if (i == 0) end(o, PHASE_EXECUTION);
        if (!*expected) {
            *expected = malloc(result + 1);
            memcpy(*expected, out, result);
        }
        o->right[i] = close_to(out, *expected, result) && largest[0] >= 0.5 && largest[0] < 1.5;
    }
    o->executions = times;
    free(in);
    free(out);
}

static outcome run_case(const case_of *c, const fault *f, char **expected) {
    outcome o = {.executions = 0};
    weft_context used = ctx;
    weft_plan plan = NULL;
    case_memory memory;
    const weft_problem problem = case_problem(c, rank, size, &memory);
    const fault_balance before = faults_balance();
    if (f->phase == PHASE_CONTEXT) {
        used = NULL;
        begin(f, PHASE_CONTEXT);
        o.context = weft_mpi_context_create(MPI_COMM_WORLD, NULL, &used);
        end(&o, PHASE_CONTEXT);
    }
    if (o.context == WEFT_SUCCESS) {
        begin(f, PHASE_PLAN);
        o.plan = case_create(used, c, rank, size, &problem, &plan);
        end(&o, PHASE_PLAN);
        if (o.plan == WEFT_SUCCESS) execute(c, f, plan, 3, expected, &o);
        weft_plan_destroy(&plan);
        if (f->phase == PHASE_CONTEXT) weft_context_destroy(&used);
    }
    o.leaked = difference(&before);
    return o;
}

/* ---- what must be ---- */

/* How many ranks succeeded. */
static int successes(weft_status mine) {
    int count = mine == WEFT_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return count;
}

static bool all_or_none(weft_status mine) {
    const int count = successes(mine);
    return count == 0 || count == size;
}

/* An execution that ends without an agreement, for it costs time: the failing rank returns its
 * failure, and the others learn it with their next call. */
static bool agrees_later(const case_of *c) {
    return c->options.device == WEFT_HOST && c->made != MADE_COMPOSITION && c->made <= MADE_VECTORS;
}

static void check(const case_of *c, const fault *f, const outcome *o) {
    const fault_balance none = {0};
    bool failed = false; /* and told to all ranks */
    CHECK(all_or_none(o->context));
    if (o->context == WEFT_SUCCESS) CHECK(all_or_none(o->plan));
    for (int i = 0; i < o->executions; i++) {
        const int well = successes(o->execution[i]);
        const bool later = i == 0 && agrees_later(c) && well == size - 1;
        if (later) CHECK((o->execution[i] == WEFT_SUCCESS) != (rank == f->rank));
        if (!later) CHECK(well == 0 || well == size);
        CHECK(all_or_none(o->reduction[i]));
        if (i > 0 && well == size) CHECK(o->reduction[i] == WEFT_SUCCESS);
        if (o->execution[i] == WEFT_SUCCESS && !(i == 0 && well < size) && !o->right[i]) {
            char text[64];
            snprintf(text, sizeof text, "execution %d gives a wrong result", i);
            complain(text);
        }
        if (i > 0 && well == size && failed) failed = false;
        failed = failed || well < size;
        /* Plans by nccl whose messages have failed stay refused. */
        if (i == 2 && c->options.exchange[0] != WEFT_NCCL) CHECK(well == size);
    }
    if (memcmp(&o->leaked, &none, sizeof none) != 0) {
        char text[256];
        snprintf(text, sizeof text,
                 "leaks: %lld allocations, %lld mapped bytes, %lld files, %lld threads, %lld "
                 "datatypes, %lld communicators, %lld objects of the device",
                 (long long)o->leaked.allocations, (long long)o->leaked.mapped_bytes,
                 (long long)o->leaked.files, (long long)o->leaked.threads,
                 (long long)o->leaked.datatypes, (long long)o->leaked.communicators,
                 (long long)o->leaked.device_objects);
        complain(text);
    }
}

/* A small plan on the same context. */
static void something_that_works_goes_on_working(void) {
    const fault none = {.phase = PHASE_PLAN};
    static char *expected;
    const outcome o = run_case(&good_case, &none, &expected);
    CHECK(o.plan == WEFT_SUCCESS && o.right[0]);
}

static bool some_rank_leaks(const outcome *o) {
    const fault_balance none = {0};
    int leaks = memcmp(&o->leaked, &none, sizeof none) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &leaks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return leaks != 0;
}

/* The same on all ranks. A fault may lead to another plan than the case has without one, whose
 * compiled kernels are kept for the next plans: what is held once is no leak. */
static void try_fault(const case_of *c, const fault *f, char **expected) {
    snprintf(doing, sizeof doing, "case %s, %s: %s call %lld fails on rank %d of %d", c->name,
             phase_names[f->phase], fault_kind_names[f->kind], (long long)f->k, f->rank, size);
    alarm(patience);
    outcome o = run_case(c, f, expected);
    if (some_rank_leaks(&o)) o = run_case(c, f, expected);
    check(c, f, &o);
    something_that_works_goes_on_working();
    alarm(0);
    tried_faults++;
    fired_faults += o.fired;
}

/* ---- which faults ---- */

typedef struct tried {
    char *expected;
    bool warm;
    int64_t count[PHASES][FAULT_KINDS]; /* calls without a fault, the most of all ranks */
} tried;

/* Counts the calls; twice, since the first run fills what is kept between plans. */
static void warm_up(const case_of *c, tried *t) {
    for (int turn = 0; turn < 4; turn++) {
        const fault none = {.phase = turn % 2 == 1 ? PHASE_CONTEXT : PHASE_PLAN};
        snprintf(doing, sizeof doing, "case %s, without a fault", c->name);
        alarm(patience);
        const outcome o = run_case(c, &none, &t->expected);
        alarm(0);
        CHECK((o.plan == WEFT_SUCCESS) == !c->refused && o.execution[0] == WEFT_SUCCESS);
        if (turn >= 2) check(c, &none, &o);
        memcpy(t->count, o.count, sizeof o.count);
    }
    MPI_Allreduce(MPI_IN_PLACE, t->count, PHASES * FAULT_KINDS, MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    t->warm = true;
}

static void try_all(const case_of *c, tried *t) {
    for (int p = 0; p < PHASES; p++)
        for (int kind = 0; kind < FAULT_KINDS; kind++) {
            if (only_phase && strcmp(only_phase, phase_names[p]) != 0) continue;
            if (only_kind && strcmp(only_kind, fault_kind_names[kind]) != 0) continue;
            for (int r = 0; r < size; r++)
                for (int64_t k = 1; k <= t->count[p][kind]; k++) {
                    const fault f = {(phase)p, (fault_kind)kind, r, k};
                    try_fault(c, &f, &t->expected);
                }
        }
}

/* splitmix64, Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators" */
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void try_one(const case_of *c, tried *t, uint64_t *state) {
    const int p = (int)(draw(state) % 8);
    fault f = {.phase = p == 0  ? PHASE_CONTEXT
                        : p < 5 ? PHASE_PLAN
                                : PHASE_EXECUTION,
               .kind = (fault_kind)(draw(state) % FAULT_KINDS),
               .rank = (int)(draw(state) % (uint64_t)size)};
    const int64_t calls = t->count[f.phase][f.kind];
    const uint64_t number = draw(state);
    if (calls == 0) return;
    f.k = 1 + (int64_t)(number % (uint64_t)calls);
    try_fault(c, &f, &t->expected);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return seconds;
}

typedef struct settings {
    weft_device device;
    double seconds;
    uint64_t seed;
    bool all, count;
    const char *only;
} settings;

static bool belongs(const case_of *c, const settings *s) {
    if (c->wants && !getenv(c->wants)) return false;
    return c->options.device == s->device && (!s->only || strcmp(c->name, s->only) == 0);
}

static void run_cases(const settings *s) {
    static tried state[MOST_CASES];
    uint64_t numbers = s->seed;
    const double stop = now() + s->seconds;
    for (int i = 0; i < case_count; i++) {
        if (!belongs(&cases[i], s)) continue;
        if (s->all || s->count) warm_up(&cases[i], &state[i]);
        if (s->count && rank == 0)
            printf("%-28s %s: %lld allocations in an execution, %lld in planning\n", cases[i].name,
                   weft_device_name(s->device),
                   (long long)state[i].count[PHASE_EXECUTION][FAULT_MEMORY],
                   (long long)state[i].count[PHASE_PLAN][FAULT_MEMORY]);
        if (s->all) try_all(&cases[i], &state[i]);
    }
    while (!s->all && !s->count && now() < stop) {
        const int i = (int)(draw(&numbers) % (uint64_t)case_count);
        if (!belongs(&cases[i], s)) continue;
        if (!state[i].warm) warm_up(&cases[i], &state[i]);
        try_one(&cases[i], &state[i], &numbers);
    }
    for (int i = 0; i < case_count; i++) free(state[i].expected);
}

int main(int argc, char **argv) {
    int provided;
    void *frame[1];
    settings s = {.device = WEFT_HOST, .seconds = 10};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    s.seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) s.device = device_named(argv[i + 1]);
        if (strcmp(argv[i], "--seconds") == 0) s.seconds = atof(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) s.seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--all") == 0) s.all = true;
        if (strcmp(argv[i], "--count") == 0) s.count = true;
        if (strcmp(argv[i], "--case") == 0) s.only = argv[i + 1];
        if (strcmp(argv[i], "--phase") == 0) only_phase = argv[i + 1];
        if (strcmp(argv[i], "--kind") == 0) only_kind = argv[i + 1];
        if (strcmp(argv[i], "--patience") == 0) patience = (unsigned)atoi(argv[i + 1]);
    }
    MPI_Bcast(&s.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    /* MPI's errors of datatypes go to the caller's handler. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)backtrace(frame, 1); /* loads what it needs while there is time */
    signal(SIGALRM, on_signal);
    signal(SIGSEGV, on_signal);
    CHECK(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) == WEFT_SUCCESS);
    for (int turn = 0; turn < 2; turn++) something_that_works_goes_on_working();
    run_cases(&s);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &fired_faults, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("failures: %d ranks, %s, %lld faults, of which %lld happened, seed %llu, %d failed "
               "checks\n",
               size, weft_device_name(s.device), (long long)tried_faults, (long long)fired_faults,
               (unsigned long long)s.seed, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
