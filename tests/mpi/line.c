/*
 * 1-D transforms over ranks: lengths with and without factors, longer and shorter than there are
 * ranks, complex and real, forward and inverse, batches, norms, in and out of place, by every
 * exchange method, in both memory orders and in tiles, against the long double DFT or, where they
 * are long, against a transform of one rank in double precision.
 *
 *   line [--lengths FIRST:LAST] [--cases N] [--longest N] [--device simulated|opencl|cuda] [--seed
 * N]
 *        [--verbose 1]
 */
#include "promised_device.h"
#include "support/exact_dft.h"

#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int rank, ranks, failures, executions, refusals;
static weft_context ctx, alone;
static uint64_t seed = 1;
static weft_device device;
static bool verbose;

typedef struct line_case {
    weft_problem problem;
    weft_options options;
    weft_direction direction;
    bool in_place;
    bool exact; /* compared with the long double DFT */
} line_case;

static int64_t draw(int64_t least, int64_t most) { /* the same on all ranks */
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return least + (int64_t)((seed >> 33) % (uint64_t)(most - least + 1));
}

/* Of the batch, all fields of each. */
static int64_t members_of(const weft_problem *p) {
    return p->batch * (p->fields > 0 ? p->fields : 1);
}

static void describe(const line_case *c, const char *what) {
    const weft_options *o = &c->options;
    fprintf(stderr,
            "rank %d of %d: n %lld, %s, %s, batch %lld, fields %lld, norm %d, %s, %s, exchange %s "
            "%s %s, "
            "variant %s, engine %s, chunks %d, threads %d: %s\n",
            rank, ranks, (long long)c->problem.n[0], weft_kind_name(c->problem.kind),
            weft_precision_name(c->problem.precision), (long long)c->problem.batch,
            (long long)c->problem.fields, (int)c->problem.norm,
            c->direction == WEFT_FORWARD ? "forward" : "inverse",
            c->in_place ? "in place" : "out of place", weft_exchange_name(o->exchange[0]),
            weft_exchange_name(o->exchange[1]), weft_exchange_name(o->exchange[2]),
            weft_variant_name(o->variant), weft_engine_name(o->engine), o->chunks, o->threads,
            what);
}

static void fails(const line_case *c, const char *what) {
    describe(c, what);
    failures++;
}

static bool succeeds(weft_status status, const line_case *c) {
    if (status != WEFT_SUCCESS) fails(c, weft_last_error(NULL));
    return status == WEFT_SUCCESS;
}

/* Number i of the whole array that is transformed, a number of single precision. */
static double number_at(int64_t i) {
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + 12345;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)(float)((double)(x >> 40) / (1 << 23) - 1);
}

/* Numbers of an element, and elements of a line, on the input (0) or output (1) side of a case. */
static int width_of(const line_case *c, int side) {
    const bool spectrum = (c->direction == WEFT_FORWARD) == (side == 1);
    return c->problem.kind == WEFT_R2C && !spectrum ? 1 : 2;
}

static int64_t points_of(const line_case *c, int side) {
    const bool spectrum = (c->direction == WEFT_FORWARD) == (side == 1);
    const int64_t n = c->problem.n[0];
    return c->problem.kind == WEFT_R2C && spectrum ? n / 2 + 1 : n;
}

static double norm_of(const line_case *c) {
    const double n = (double)c->problem.n[0];
    const bool forward = c->direction == WEFT_FORWARD;
    return c->problem.norm == WEFT_NORM_ORTHO                                      ? 1 / sqrt(n)
           : c->problem.norm == (forward ? WEFT_NORM_FORWARD : WEFT_NORM_BACKWARD) ? 1 / n
                                                                                   : 1;
}

/* The whole result, by the definition: of the spectrum of real data the imaginary parts that it
 * cannot have are ignored. */
static long double *make_exact(const line_case *c) {
    const int64_t n = c->problem.n[0], batch = members_of(&c->problem);
    const int in = width_of(c, 0), out = width_of(c, 1);
    const int64_t in_points = points_of(c, 0), out_points = points_of(c, 1);
    exact_complex *x = malloc((size_t)n * sizeof *x);
    long double *result = malloc((size_t)(batch * out_points * out) * sizeof *result);
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t i = 0; i < in_points; i++) {
            const int64_t at = (b * in_points + i) * in;
            x[i] = number_at(at) + (in == 2 ? number_at(at + 1) : 0) * (exact_complex)I;
        }
        if (in_points < n || (c->problem.kind == WEFT_R2C && c->direction == WEFT_INVERSE)) {
            x[0] = creall(x[0]);
            if (n % 2 == 0) x[n / 2] = creall(x[n / 2]);
            for (int64_t i = n / 2 + 1; i < n; i++) x[i] = conjl(x[n - i]);
        }
        exact_dft_axis(1, n, 1, c->direction == WEFT_FORWARD ? -1 : 1, x);
        for (int64_t i = 0; i < out_points; i++) {
            const exact_complex y = x[i] * (long double)norm_of(c);
            long double *at = result + (b * out_points + i) * out;
            at[0] = creall(y);
            if (out == 2) at[1] = cimagl(y);
        }
    }
    free(x);
    return result;
}

/* The same by a transform of one rank. */
static long double *make_alone(const line_case *c) {
    weft_problem problem = c->problem;
    const weft_options options = {.placement = WEFT_OUT_OF_PLACE};
    weft_plan plan = NULL;
    problem.precision = WEFT_DOUBLE;
    const int64_t in = members_of(&problem) * points_of(c, 0) * width_of(c, 0);
    const int64_t out = members_of(&problem) * points_of(c, 1) * width_of(c, 1);
    double *x = malloc((size_t)in * sizeof *x + 64), *y = malloc((size_t)out * sizeof *y + 64);
    long double *result = malloc((size_t)out * sizeof *result);
    for (int64_t i = 0; i < in; i++) x[i] = number_at(i);
    if (succeeds(weft_plan_create(alone, &problem, &options, &plan), c))
        succeeds(weft_execute(plan, c->direction, x, y), c);
    weft_plan_destroy(&plan);
    for (int64_t i = 0; i < out; i++) result[i] = y[i];
    free(x);
    free(y);
    return result;
}

static double get(const void *array, int64_t i, weft_precision precision) {
    return precision == WEFT_SINGLE ? ((const float *)array)[i] : ((const double *)array)[i];
}

static void put(void *array, int64_t i, weft_precision precision, double value) {
    if (precision == WEFT_SINGLE)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Fills this rank's part of the input. */
static void fill(const line_case *c, const weft_box *box, void *array) {
    const int width = width_of(c, 0);
    const int64_t count = box->n[0] * width;
    for (int64_t b = 0; b < members_of(&c->problem); b++)
        for (int64_t i = 0; i < count; i++)
            put(array, b * count + i, c->problem.precision,
                number_at((b * points_of(c, 0) + box->lo[0]) * width + i));
}

/* The relative error of the whole result. */
static double error_of(const line_case *c, const weft_box *box, const void *result,
                       const long double *exact) {
    const int width = width_of(c, 1);
    const int64_t count = box->n[0] * width;
    double sums[2] = {0, 0};
    for (int64_t b = 0; b < members_of(&c->problem); b++)
        for (int64_t i = 0; i < count; i++) {
            const long double want = exact[(b * points_of(c, 1) + box->lo[0]) * width + i];
            const long double off = get(result, b * count + i, c->problem.precision) - want;
            sums[0] += (double)(off * off);
            sums[1] += (double)(want * want);
        }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(sums[0] / (sums[1] > 0 ? sums[1] : 1));
}

/* Boxes are consecutive parts of the line, in the order of the ranks. */
static void check_boxes(const line_case *c, weft_plan plan) {
    for (int side = 0; side < 2; side++) {
        const bool spectrum = (c->direction == WEFT_FORWARD) == (side == 1);
        int64_t next = 0;
        for (int r = 0; r < ranks; r++) {
            weft_box box;
            if (!succeeds(weft_plan_box(plan, spectrum ? WEFT_OUTPUT : WEFT_INPUT, r, &box), c))
                return;
            if (box.n[0] < 0 || (box.n[0] > 0 && box.lo[0] != next))
                fails(c, "a box does not begin where the one before ends");
            next += box.n[0];
        }
        if (next != points_of(c, side)) fails(c, "the boxes are not the whole line");
    }
}

static bool move(weft_plan plan, bool up, void *there, void *here, size_t bytes,
                 const line_case *c) {
    if (device == WEFT_HOST) {
        memcpy(up ? there : here, up ? here : there, bytes);
        return true;
    }
    return succeeds(up ? weft_buffer_upload(plan, there, here, bytes)
                       : weft_buffer_download(plan, here, there, bytes),
                    c);
}

/* Executes a plan of the case from `in` to `out`, both on the host; `in` gets back what the plan
 * left there. */
static bool execute(const line_case *c, weft_plan plan, size_t in_bytes, size_t out_bytes, void *in,
                    void *out) {
    void *from = NULL, *to = NULL;
    const size_t more = in_bytes > out_bytes ? in_bytes : out_bytes;
    bool done = succeeds(weft_buffer_create(plan, c->in_place ? more : in_bytes, &from), c);
    if (done && !c->in_place) done = succeeds(weft_buffer_create(plan, out_bytes, &to), c);
    done = done && move(plan, true, from, in, in_bytes, c);
    done = done && succeeds(weft_execute(plan, c->direction, from, c->in_place ? from : to), c);
    done = done && move(plan, false, c->in_place ? from : to, out, out_bytes, c);
    if (done && !c->in_place) done = move(plan, false, from, in, in_bytes, c);
    weft_buffer_destroy(plan, &from);
    if (to) weft_buffer_destroy(plan, &to);
    executions++;
    return done;
}

/* Runs the case; *bits gets this rank's result, for the caller to free, with its size. */
static void run(const line_case *c, const long double *exact, void **bits, size_t *size) {
    weft_plan plan = NULL;
    weft_box in_box, out_box;
    size_t in_bytes, out_bytes;
    const weft_space in_space = c->direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
    const weft_space out_space = c->direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    const size_t number = c->problem.precision == WEFT_SINGLE ? 4 : 8;
    *bits = NULL;
    if (verbose && rank == 0) describe(c, "begins");
    if (weft_plan_create(ctx, &c->problem, &c->options, &plan) != WEFT_SUCCESS) {
        const bool fftw = strstr(weft_last_error(ctx), "FFTW") != NULL;
        if (!fftw) fails(c, weft_last_error(ctx));
        refusals++;
        return;
    }
    check_boxes(c, plan);
    weft_plan_box(plan, in_space, rank, &in_box);
    weft_plan_box(plan, out_space, rank, &out_box);
    weft_plan_bytes(plan, in_space, &in_bytes);
    weft_plan_bytes(plan, out_space, &out_bytes);
    char *in = malloc(in_bytes + 64), *given = malloc(in_bytes + 64), *out = malloc(out_bytes + 64);
    memset(in, 0xff, in_bytes); /* NaN beyond the box */
    memset(out, 0xff, out_bytes);
    fill(c, &in_box, in);
    memcpy(given, in, in_bytes);
    if (execute(c, plan, in_bytes, out_bytes, in, out)) {
        const double u = c->problem.precision == WEFT_SINGLE ? 0x1p-24 : 0x1p-53;
        const double n = fmax(64, (double)c->problem.n[0]); /* errors of few numbers vary more */
        int largest = 1;                                    /* prime factor */
        for (int64_t left = c->problem.n[0], p = 2; left > 1; p++)
            while (left % p == 0) left /= p, largest = (int)p;
        /* A line with a large prime factor is a convolution of twice its length or more, and what
         * is compared with may be off by as much. */
        const double computed = u * sqrt(log2(n)) * (largest > 13 ? 4 : 1) *
                                (c->exact || c->problem.precision == WEFT_SINGLE ? 1 : 2);
        /* Three redistributions; of a half spectrum most elements count twice. */
        const bool rounds = c->options.wire != 0 && c->problem.precision == WEFT_DOUBLE;
        const double bound = computed + (rounds ? 3 * sqrt(2) * 0x1p-24 : 0);
        const double error = error_of(c, &out_box, out, exact);
        char text[80];
        snprintf(text, sizeof text, "off by %.3g, %.3g of what it may be", error, error / bound);
        if (verbose && rank == 0) describe(c, text);
        if (!(error <= bound)) fails(c, text);
        if (!c->in_place && memcmp(in, given, in_bytes) != 0) fails(c, "the input was changed");
    }
    *size = (size_t)(out_box.n[0] * members_of(&c->problem) * width_of(c, 1)) * number;
    *bits = out;
    free(in);
    free(given);
    weft_plan_destroy(&plan);
}

static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                        WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};

/* Without `peer`, the last one, where memory is not lent. */
static int count_methods(void) {
    return (int)(sizeof methods / sizeof *methods) - (device_has_peer(device) ? 0 : 1);
}

/* A case of a length with everything else by chance. */
static line_case draw_case(int64_t n, bool exact) {
    line_case c = {.problem = {.rank = 1,
                               .n = {n},
                               .kind = draw(0, 2) == 0 ? WEFT_R2C : WEFT_C2C,
                               .precision = draw(0, 3) == 0 ? WEFT_SINGLE : WEFT_DOUBLE,
                               .norm = (weft_norm)draw(0, 3),
                               .batch = draw(0, 3) == 0 ? draw(2, 4) : 1,
                               .fields = draw(0, 3) == 0 ? draw(2, 3) : 0},
                   .options = {.variant = (weft_variant)draw(0, 2),
                               .device = device,
                               .threads = (int)draw(1, 2),
                               .chunks = draw(0, 2) == 0 ? (int)draw(2, 5) : 0},
                   .direction = draw(0, 1) ? WEFT_FORWARD : WEFT_INVERSE,
                   .in_place = draw(0, 1),
                   .exact = exact};
    for (int e = 0; e < 3; e++)
        c.options.exchange[e] =
            draw(0, 3) == 0 ? WEFT_EXCHANGE_AUTO : methods[draw(0, count_methods() - 1)];
    c.options.placement = draw(0, 2) == 0 ? WEFT_PLACEMENT_ANY
                          : c.in_place    ? WEFT_IN_PLACE
                                          : WEFT_OUT_OF_PLACE;
    const bool on_host = device == WEFT_HOST || device == WEFT_SIMULATED;
    if (draw(0, 5) == 0 && on_host) c.options.engine = WEFT_ENGINE_REFERENCE;
    if (draw(0, 5) == 0 && on_host) c.options.engine = WEFT_ENGINE_FFTW;
    /* FFTW may measure for minutes. */
    if (draw(0, 7) == 0 && n < 10000 && c.options.engine != WEFT_ENGINE_FFTW)
        c.options.effort = WEFT_MEASURE;
    if (draw(0, 3) == 0) c.options.wire = WEFT_WIRE_SINGLE;
    if (draw(0, 3) == 0) c.options.grid[0] = ranks;
    if (draw(0, 3) == 0) c.options.decomposition = (weft_decomposition)draw(1, 4);
    return c;
}

static void run_case(const line_case *c) {
    long double *exact = c->exact ? make_exact(c) : make_alone(c);
    void *bits;
    size_t size;
    run(c, exact, &bits, &size);
    free(bits);
    free(exact);
}

/* All methods give the same bits. */
static void compare_methods(int64_t n, weft_variant variant, weft_kind kind) {
    void *first = NULL;
    for (int m = 0; m < count_methods(); m++) {
        line_case c = {.problem = {.rank = 1, .n = {n}, .kind = kind, .batch = 1},
                       .options = {.variant = variant,
                                   .device = device,
                                   .exchange = {methods[m]},
                                   .placement = WEFT_OUT_OF_PLACE},
                       .exact = true};
        long double *exact = make_exact(&c);
        void *bits;
        size_t size;
        run(&c, exact, &bits, &size);
        free(exact);
        if (first && bits && memcmp(first, bits, size) != 0)
            fails(&c, "other bits than with the first method");
        if (first) free(bits);
        if (!first) first = bits;
    }
    free(first);
}

/* A length up to `longest`, most often one that has factors. */
static int64_t draw_length(int64_t longest) {
    static const int primes[] = {2, 2, 2, 3, 3, 5, 7, 11, 13};
    int64_t n = draw(0, 3) == 0 ? draw(1, 1000) : 1;
    const int64_t least = draw(1, longest);
    while (n < least) {
        const int64_t more = n * primes[draw(0, 8)];
        if (more > longest) break;
        n = more;
    }
    return n;
}

int main(int argc, char **argv) {
#ifdef __SANITIZE_ADDRESS__ /* which takes several times as long */
    long long first = 1, last = 24;
    int cases = 8;
#else
    long long first = 1, last = 60;
    int cases = 30;
#endif
    int64_t longest = 1 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    seed = (uint64_t)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--lengths") == 0) sscanf(argv[i + 1], "%lld:%lld", &first, &last);
        if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--longest") == 0) longest = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--verbose") == 0) verbose = true;
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--device") == 0) device = device_named(argv[i + 1]);
    }
    MPI_Bcast(&seed, sizeof seed, MPI_BYTE, 0, MPI_COMM_WORLD);
    const uint64_t begin = seed;
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        if (rank == 0) fprintf(stderr, "line: %s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS ||
        weft_context_create(NULL, &alone) != WEFT_SUCCESS) {
        fprintf(stderr, "line: %s\n", weft_last_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int64_t n = first; n <= last; n++) {
        const line_case c = draw_case(n, true);
        run_case(&c);
    }
    for (int i = 0; i < cases; i++) {
        const int64_t n = draw_length(longest);
        const line_case c = draw_case(n, n <= 4096 && n % 4 == 0);
        run_case(&c);
    }
    for (int i = 0; i < 8; i++)
        compare_methods(i & 4 ? 360 : 1024, i & 1 ? WEFT_DEFAULT : WEFT_REALIGNED,
                        i & 2 ? WEFT_R2C : WEFT_C2C);
    weft_context_destroy(&alone);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && failures > 0)
        fprintf(stderr, "line: %d ranks, seed %llu: %d failures in %d executions, %d refused\n",
                ranks, (unsigned long long)begin, failures, executions, refusals);
    MPI_Finalize();
    return failures > 0;
}
