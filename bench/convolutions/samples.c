/*
 * Convolutions by samples and by levels: for cubes of edge k in a grid of N^3, the error of the
 * whole field against the exact method, that which is told when they are created, samples for a
 * sub-domain and its time; that of a voxel, with the exact method, too; and, where there are
 * several ranks, the bytes that they send, beside those of the exact method. Lines of CSV.
 *
 *   mpirun -n P bench_samples [--n N] [--edge K, 0: chosen] [--rounds R]
 *                             [--kernels 1: Poisson's alone] [--methods exact,multilevel,samples]
 */
#include <weft/weft_mpi.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_context ctx;
static int rank;
static int64_t n = 128, edge = 32;

/* Tolerance 1: any error is taken, but told. */
typedef struct pattern {
    const char *name;
    weft_convolution_method method;
    weft_sample_pattern kind;
    double opening, tolerance;
    int64_t points;
} pattern;

static const pattern patterns[] = {{"exact", WEFT_WHOLE, 0, 0, 0, 0},
                                   {"multilevel", WEFT_MULTILEVEL, 0, 0, 1e-2, 0},
                                   {"multilevel", WEFT_MULTILEVEL, 0, 0, 1e-3, 0},
                                   {"multilevel", WEFT_MULTILEVEL, 0, 0, 1e-4, 0},
                                   {"multilevel", WEFT_MULTILEVEL, 0, 0, 1e-5, 0},
                                   {"fixed", WEFT_SAMPLES, WEFT_FIXED, 0, 1, 2},
                                   {"graded", WEFT_SAMPLES, WEFT_GRADED, 0.5, 1, 2},
                                   {"graded", WEFT_SAMPLES, WEFT_GRADED, 0.25, 1, 2},
                                   {"graded", WEFT_SAMPLES, WEFT_GRADED, 0.25, 1, 4},
                                   {"graded", WEFT_SAMPLES, WEFT_GRADED, 0.25, 1, 6},
                                   {"graded", WEFT_SAMPLES, WEFT_GRADED, 0.125, 1, 4},
                                   {"graded", WEFT_SAMPLES, WEFT_GRADED, 0.125, 1, 6}};

static void require(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_samples: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Noise, or a field of two values: 1 in twelve spheres, less their part elsewhere. */
static double source(const int64_t *x, int field, int spheres) {
    uint64_t bits = (uint64_t)((x[0] * n + x[1]) * n + x[2] + 1) * 6364136223846793005u +
                    (uint64_t)field * 1442695040888963407u;
    bits ^= bits >> 31;
    bits *= 0x9e3779b97f4a7c15u;
    if (!spheres) return (double)(bits >> 11) * 0x1p-53 - 0.5;
    for (int s = 0; s < 12; s++) {
        const double middle[3] = {fmod(.37 * s + .1, 1), fmod(.61 * s + .2, 1),
                                  fmod(.83 * s + .4, 1)};
        double square = 0;
        for (int a = 0; a < 3; a++) {
            double d = (double)x[a] / (double)n - middle[a];
            d -= rint(d);
            square += d * d;
        }
        if (square < 0.02) return 1 - 0.2 * field;
    }
    return -0.4 * (1 - 0.2 * field);
}

static double *make_field(weft_convolution plan, int fields, int spheres) {
    weft_box box;
    size_t bytes;
    int64_t x[3], i = 0;
    require(weft_plan_box(plan, WEFT_INPUT, rank, &box));
    require(weft_plan_bytes(plan, WEFT_INPUT, &bytes));
    double *field = calloc(bytes + 8, 1);
    for (int f = 0; f < fields; f++)
        for (x[0] = box.lo[0]; x[0] < box.lo[0] + box.n[0]; x[0]++)
            for (x[1] = box.lo[1]; x[1] < box.lo[1] + box.n[1]; x[1]++)
                for (x[2] = box.lo[2]; x[2] < box.lo[2] + box.n[2]; x[2]++)
                    field[i++] = source(x, f, spheres);
    return field;
}

/* A number of the plan's explanation in JSON. */
static double told(weft_convolution plan, const char *key) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    require(weft_plan_explain(plan, stream, WEFT_JSON));
    fclose(stream);
    const char *at = strstr(text, key);
    const double value = at ? atof(at + strlen(key) + 2) : NAN;
    free(text);
    return value;
}

/* By this rank, in the last execution. */
static double bytes_sent(weft_convolution plan) {
    weft_timings timings;
    require(weft_plan_timings(plan, &timings));
    return (double)timings.bytes_sent;
}

static double relative(const double *found, const double *right, size_t numbers) {
    double sums[2] = {0, 0};
    for (size_t i = 0; i < numbers; i++) {
        sums[0] += (found[i] - right[i]) * (found[i] - right[i]);
        sums[1] += right[i] * right[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(sums[0] / sums[1]);
}

static void compare(weft_convolution_problem p, const pattern *shape, weft_convolution exact,
                    int rounds) {
    const int fields = p.kernel.kind == WEFT_KERNEL_ELASTIC ? 6 : 1;
    const weft_options options = {.decomposition = WEFT_PENCIL, .threads = 1};
    weft_convolution plan = NULL;
    size_t bytes;
    p.method = shape->method;
    p.subdomain = edge;
    p.pattern = shape->kind;
    p.opening = shape->opening;
    p.interpolation = shape->points;
    p.tolerance = shape->tolerance;
    const weft_status status = weft_convolution_create(ctx, &p, &options, &plan);
    if (status == WEFT_ERROR_UNSUPPORTED) return; /* a tolerance that levels do not have */
    require(status);
    require(weft_plan_bytes(plan, WEFT_RESULT, &bytes));
    double *found = malloc(bytes + 8), *right = malloc(bytes + 8), best = INFINITY;
    for (int spheres = 0; spheres < 2; spheres++) {
        double *field = make_field(plan, fields, spheres);
        require(weft_convolution_execute(exact, field, right));
        for (int i = 0; i < rounds; i++) {
            const double begin = MPI_Wtime();
            require(weft_convolution_execute(plan, field, found));
            best = fmin(best, MPI_Wtime() - begin);
        }
        const double error = relative(found, right, bytes / sizeof(double));
        const double samples = told(plan, "\"samples_of_subdomain\""), sent = bytes_sent(plan),
                     exact_sent = told(plan, "\"exact_bytes_sent\"");
        weft_box box;
        require(weft_plan_box(plan, WEFT_INPUT, rank, &box));
        double subdomains = 1;
        for (int a = 0; a < 3 && edge > 0; a++) subdomains *= ceil((double)box.n[a] / (double)edge);
        const double voxels = (double)(box.n[0] * box.n[1] * box.n[2]);
        if (rank == 0)
            printf("%lld,%lld,%s,%s,%s,%g,%lld,%.3g,%.3g,%.0f,%.0f,%.0f,%.2f,%g,%.2f\n",
                   (long long)n, (long long)edge, weft_kernel_kind_name(p.kernel.kind),
                   spheres ? "spheres" : "noise", shape->name, shape->opening,
                   (long long)shape->points, error, told(plan, "\"error\""), samples, sent,
                   exact_sent, 1e3 * best / subdomains, shape->tolerance, 1e9 * best / voxels);
        fflush(stdout);
        free(field);
    }
    free(found);
    free(right);
    weft_convolution_destroy(&plan);
}

int main(int argc, char **argv) {
    static const double zero[2] = {0, 0};
    int rounds = 1, kernels = 2;
    const char *methods = "exact,multilevel,samples";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--n") == 0) n = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--edge") == 0) edge = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--kernels") == 0) kernels = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--methods") == 0) methods = argv[i + 1];
        if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
    }
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx));
    if (rank == 0)
        puts("n,edge,kernel,source,pattern,opening,points,error,measured,samples,bytes_sent,"
             "exact_bytes_sent,ms_per_subdomain,tolerance,ns_per_voxel");
    for (int k = 0; k < kernels; k++) {
        const weft_convolution_problem p = {
            .rank = 3,
            .n = {n, n, n},
            .kind = WEFT_R2C,
            .kernel = {.kind = k == 0 ? WEFT_KERNEL_POISSON : WEFT_KERNEL_ELASTIC,
                       .zero = zero,
                       .lame = {1, 1},
                       .discretization = WEFT_STAGGERED}};
        const weft_options options = {.decomposition = WEFT_PENCIL, .threads = 1};
        weft_convolution exact = NULL;
        require(weft_convolution_create(ctx, &p, &options, &exact));
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            const bool exact_one = patterns[i].method == WEFT_WHOLE;
            const char *name =
                exact_one ? "exact" : weft_convolution_method_name(patterns[i].method);
            if (strstr(methods, name)) compare(p, &patterns[i], exact, rounds);
        }
        weft_convolution_destroy(&exact);
    }
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
