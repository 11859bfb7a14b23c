/*
 * Executions allocate nothing and start no thread, the first one of a plan included: random plans
 * over all exchange methods, engines and placements, on the host and on the simulated device, or on
 * the device that is named. Linked statically with --wrap, so that every call of weft's own objects
 * is counted, on whichever thread, and those of the libraries that it uses are not.
 *
 *   mpi_allocations [--cases N] [--seed N] [--device cuda|opencl] [--funneled 1]
 */
#include <weft/weft_mpi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- what is counted ---- */

static int counting, counted; /* atomic */
static const char *first_counted;

static void count(const char *function) {
    if (!__atomic_load_n(&counting, __ATOMIC_RELAXED)) return;
    if (__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&first_counted, function, __ATOMIC_RELEASE);
}

#define WRAPPED(result, function, parameters, arguments)                                           \
    result __real_##function parameters;                                                           \
    result __wrap_##function parameters;                                                           \
    result __wrap_##function parameters {                                                          \
        count(#function);                                                                          \
        return __real_##function arguments;                                                        \
    }

WRAPPED(void *, malloc, (size_t bytes), (bytes))
WRAPPED(void *, calloc, (size_t n, size_t bytes), (n, bytes))
WRAPPED(void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAPPED(void *, aligned_alloc, (size_t unit, size_t bytes), (unit, bytes))
WRAPPED(int, posix_memalign, (void **out, size_t unit, size_t bytes), (out, unit, bytes))
WRAPPED(char *, strdup, (const char *text), (text))
WRAPPED(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAPPED(void *, mmap, (void *at, size_t bytes, int access, int flags, int file, off_t offset),
        (at, bytes, access, flags, file, offset))
WRAPPED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *how, void *(*run)(void *), void *argument),
        (thread, how, run, argument))

/* ---- random plans ---- */

static int rank, failures, executions, of_planning, with_method[WEFT_PEER + 1];
static weft_device named = WEFT_HOST;
static unsigned long long draws;

static int draw(int n) {
    draws = draws * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((draws >> 33) % (unsigned)n);
}

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "rank %d: %s\n", rank, weft_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct plan_case {
    weft_problem problem;
    weft_options options;
} plan_case;

static void add_one(const weft_operator_run *run, void *argument) {
    const int64_t numbers = run->count * (run->complex_elements ? 2 : 1);
    (void)argument;
    for (int64_t i = 0; i < numbers; i++)
        if (run->precision == WEFT_DOUBLE)
            ((double *)run->data)[i] += 1;
        else
            ((float *)run->data)[i] += 1;
}

static const weft_operator operators[] = {
    {.kind = WEFT_OPERATOR_WINDOW, .window = {{.kind = WEFT_WINDOW_HANN}}},
    {.kind = WEFT_OPERATOR_FUNCTION, .function = add_one, .snippet = "value.x += 1;"},
    {.kind = WEFT_OPERATOR_SCALE, .factor = 0.5}};
static const weft_operator with_array[] = {{.kind = WEFT_OPERATOR_ARRAY}};

static weft_engine draw_engine(weft_device device) {
    static const weft_engine on_host[] = {WEFT_ENGINE_NATIVE, WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW,
                                          WEFT_ENGINE_REFERENCE};
    if (device == WEFT_OPENCL) return WEFT_ENGINE_JIT;
    if (device == WEFT_CUDA) return draw(2) ? WEFT_ENGINE_JIT : WEFT_ENGINE_CUFFT;
    return on_host[draw(4)];
}

/* Methods by turns. */
static plan_case draw_case(int number) {
    static const int lengths[] = {1, 2, 6, 7, 12, 16, 30, 37, 64};
    plan_case c = {.problem = {.rank = 2 + draw(2)}};
    for (int a = 0; a < c.problem.rank; a++) c.problem.n[a] = lengths[draw(9)];
    c.problem.kind = draw(2) ? WEFT_R2C : WEFT_C2C;
    c.problem.precision = draw(2) ? WEFT_SINGLE : WEFT_DOUBLE;
    c.problem.norm = (weft_norm)draw(2);
    c.problem.load = (weft_operators){.count = draw(3) ? 0 : 3, .list = operators};
    c.problem.spectral = (weft_operators){.count = draw(3) ? 0 : 1, .list = operators};
    c.problem.store = (weft_operators){.count = draw(3) ? 0 : 1, .list = operators};
    if (draw(3) == 0) c.problem.spectral = (weft_operators){.count = 1, .list = with_array};
    c.options.device = named != WEFT_HOST ? named : draw(2) ? WEFT_SIMULATED : WEFT_HOST;
    c.options.engine = draw_engine(c.options.device);
    c.options.location = c.options.device == WEFT_HOST ? WEFT_LOCATION_DEVICE : WEFT_LOCATION_HOST;
    c.options.device_aware = draw(3) ? WEFT_AWARENESS_AUTO : WEFT_STAGED;
    c.options.decomposition = (weft_decomposition)draw(WEFT_PENCIL + 1);
    c.options.variant = (weft_variant)draw(WEFT_REALIGNED + 1);
    c.options.exchange[0] = (weft_exchange)(1 + number % WEFT_PEER);
    c.options.exchange[1] = (weft_exchange)(1 + draw(WEFT_PEER));
    c.options.chunks = draw(3) ? draw(4) : 24; /* much work on the queues */
    c.options.threads = draw(4) ? 1 : 2;
    c.options.trace = draw(2);
    c.options.convolve = draw(3) == 0;
    if (draw(4) == 0) {
        c.problem.load_storage = c.problem.kind == WEFT_R2C ? WEFT_STORAGE_U8 : WEFT_STORAGE_SAME;
        c.problem.pad_from[0] = c.problem.n[0] > 2 ? c.problem.n[0] - 1 : 0;
        c.options.placement = WEFT_OUT_OF_PLACE;
    }
    return c;
}

/* ---- executions ---- */

/* One execution, from the first one on. */
static void execute(weft_plan plan, const plan_case *c, int number, weft_direction direction,
                    const void *in, void *out) {
    MPI_Barrier(MPI_COMM_WORLD);
    __atomic_store_n(&counted, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&counting, 1, __ATOMIC_SEQ_CST);
    weft_status status = weft_execute(plan, direction, in, out);
    __atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
    must(status);
    executions++;
    const int calls = __atomic_load_n(&counted, __ATOMIC_RELAXED);
    if (calls == 0) return;
    failures++;
    fprintf(stderr,
            "rank %d, case %d, %s%s: %d calls, of %s first\n"
            "  %s, %s, %s %s, %s then %s, %d chunks, engine %s, awareness %d\n",
            rank, number,
            direction == WEFT_FORWARD   ? "forward"
            : direction == WEFT_INVERSE ? "inverse"
                                        : "convolve",
            in == out ? " in place" : "", calls, first_counted, weft_device_name(c->options.device),
            weft_kind_name(c->problem.kind), weft_decomposition_name(c->options.decomposition),
            weft_variant_name(c->options.variant), weft_exchange_name(c->options.exchange[0]),
            weft_exchange_name(c->options.exchange[1]), c->options.chunks,
            weft_engine_name(c->options.engine), (int)c->options.device_aware);
}

static void run_case(weft_context ctx, int number) {
    const plan_case c = draw_case(number);
    const int first = draw(2); /* which direction comes first */
    weft_plan plan = NULL;
    weft_options chosen = {.struct_size = sizeof chosen};
    size_t bytes[2];
    __atomic_store_n(&counted, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&counting, 1, __ATOMIC_SEQ_CST);
    weft_status status = weft_plan_create(ctx, &c.problem, &c.options, &plan);
    __atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
    of_planning += __atomic_load_n(&counted, __ATOMIC_RELAXED);
    if (status != WEFT_SUCCESS) return;
    must(weft_plan_options(plan, &chosen));
    for (int i = 0; i < 2; i++) with_method[chosen.exchange[i]]++;
    must(weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]));
    must(weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]));
    size_t most = bytes[0] > bytes[1] ? bytes[0] : bytes[1];
    void *factors = NULL;
    if (c.problem.spectral.list == with_array) {
        must(weft_buffer_create(plan, most + 64, &factors));
        must(weft_plan_set_array(plan, 0, factors));
    }
    void *a = calloc(1, most + 64), *b = calloc(1, most + 64);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            const weft_direction direction =
                c.options.convolve ? WEFT_CONVOLVE : (weft_direction)((first + i) % 2);
            memset(a, 0, most);
            execute(plan, &c, number, direction, a, b);
            if (c.options.placement != WEFT_OUT_OF_PLACE)
                execute(plan, &c, number, direction, a, a);
        }
    free(a);
    free(b);
    weft_buffer_destroy(plan, &factors);
    weft_plan_destroy(&plan);
}

/* Whether there were many executions, some with each method that the device has, and calls were
 * counted where there are some. */
static bool has_done_enough(int ranks, int cases) {
    bool enough = executions > 2 * cases && of_planning > 10 * cases;
    for (int method = WEFT_EXCHANGE_AUTO + 1; method <= WEFT_PEER && ranks > 1; method++) {
        const bool has = method != WEFT_NCCL && (method != WEFT_PEER || named != WEFT_OPENCL);
        if (!has || with_method[method] > 0) continue;
        fprintf(stderr, "no case with %s\n", weft_exchange_name((weft_exchange)method));
        enough = false;
    }
    return enough;
}

int main(int argc, char **argv) {
    weft_context ctx = NULL;
    int ranks, provided, level = MPI_THREAD_MULTIPLE, cases = 84;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--funneled") == 0) level = MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    draws = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) draws = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--device") == 0)
            named = strcmp(argv[i + 1], "opencl") == 0 ? WEFT_OPENCL : WEFT_CUDA;
    }
    must(weft_device_probe(named, NULL));
    must(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx));
    for (int i = 0; i < cases; i++) run_case(ctx, i);
    int failed = failures > 0 || !has_done_enough(ranks, cases);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%d executions of %d cases\n", executions, cases);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return failed;
}
