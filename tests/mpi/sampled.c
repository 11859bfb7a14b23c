/*
 * Convolutions by samples over ranks: random fields, shapes, kernels, sub-domains and trees,
 * against the exact method. Where a tree is dense they agree to rounding; elsewhere the error,
 * relative to what the field could make, falls with the power of `opening` that the interpolation
 * has. And the same by levels, whose error is below the tolerance. On a device sub-domains are
 * convolved there; what comes out is then compared with what the host makes, too, which agrees to
 * rounding.
 *
 *   sampled [--method samples|multilevel] [--cases N] [--seed S] [--case C] [--device NAME]
 */
#include "promised_device.h"
#include "random_numbers.h"

#include <weft/weft_mpi.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures;
static weft_convolution_method method = WEFT_SAMPLES;
static weft_context ctx;
static weft_device device;
static const double zero[2] = {0, 0};

typedef struct sampled_case {
    weft_convolution_problem problem;
    weft_options options;
    bool dense;
    char text[512];
} sampled_case;

static void fail(const sampled_case *c, const char *what) {
    fprintf(stderr, "rank %d of %d: %s: %s\n", rank, ranks, c->text, what);
    failures++;
}

static void describe(sampled_case *c, int number) {
    const weft_convolution_problem *p = &c->problem;
    snprintf(c->text, sizeof c->text,
             "case %d: %s %s batch %d kernel %s%s, n %d %d %d, tolerance %g opening %g points %d "
             "edge %d "
             "pattern %d%s, %s grid %d threads %d",
             number, weft_kind_name(p->kind), weft_precision_name(p->precision), (int)p->batch,
             weft_kernel_kind_name(p->kernel.kind), p->correlate ? " correlate" : "", (int)p->n[0],
             (int)p->n[1], (int)p->n[2], p->tolerance, p->opening, (int)p->interpolation,
             (int)p->subdomain, (int)p->pattern, p->fields_fastest ? " fields fastest" : "",
             weft_decomposition_name(c->options.decomposition), c->options.grid[0],
             c->options.threads);
}

/* A function without symmetry: that of exp(-|x|) moved by a part of a spacing. */
static void moved(const double *k, int axes, double value[2], void *argument) {
    double square = 0, turn = 0;
    for (int a = 0; a < axes; a++) {
        square += 2 - 2 * cos(k[a]);
        turn += sin(k[a]) / (a + 3);
    }
    (void)argument;
    value[0] = cos(turn) / (1 + square);
    value[1] = -sin(turn) / (1 + square);
}

static void choose_kernel(weft_convolution_problem *p) {
    static const weft_kernel_kind kinds[] = {WEFT_KERNEL_POISSON, WEFT_KERNEL_SCREENED_POISSON,
                                             WEFT_KERNEL_ELASTIC, WEFT_KERNEL_FUNCTION};
    p->kernel.kind = kinds[random_below(device == WEFT_HOST ? 4 : 3)];
    if (p->kernel.kind == WEFT_KERNEL_ELASTIC && p->rank < 2) p->kernel.kind = WEFT_KERNEL_POISSON;
    p->kernel.zero = zero;
    p->kernel.parameter = 0.3;
    p->kernel.lame[0] = 1.5;
    p->kernel.lame[1] = 0.7;
    p->kernel.function = moved;
    p->kernel.discretization =
        p->kernel.kind == WEFT_KERNEL_FUNCTION ? WEFT_SPECTRAL : WEFT_STAGGERED;
    if (p->kernel.kind != WEFT_KERNEL_ELASTIC && random_below(4) == 0) p->correlate = 1;
}

static void choose(sampled_case *c, int number) {
    static const int64_t extents[] = {1, 2, 3, 5, 7, 8, 12, 15, 16, 18, 20, 24, 32};
    static const weft_decomposition decompositions[] = {
        WEFT_DECOMPOSITION_AUTO, WEFT_SLAB_2D1D, WEFT_SLAB_1D2D, WEFT_SLAB_Y_ZX, WEFT_PENCIL};
    weft_convolution_problem *p = &c->problem;
    memset(c, 0, sizeof *c);
    p->method = WEFT_SAMPLES;
    p->rank = random_below(3) > 0 ? 3 : 1 + random_below(2);
    for (int a = 0; a < p->rank; a++) p->n[a] = extents[random_below(13)];
    p->kind = random_below(3) ? WEFT_R2C : WEFT_C2C;
    p->precision = random_below(4) ? WEFT_DOUBLE : WEFT_SINGLE;
    p->batch = random_below(4) ? 0 : 2;
    choose_kernel(p);
    if (p->kernel.kind == WEFT_KERNEL_ELASTIC) p->fields_fastest = p->batch == 0;
    p->interpolation = 2 + 2 * random_below(3);
    p->subdomain = random_below(2) ? 0 : random_between(2, 9);
    p->pattern = random_below(6) ? WEFT_GRADED : WEFT_FIXED;
    c->dense = random_below(2) == 0 && p->pattern == WEFT_GRADED;
    p->opening = c->dense ? 1e-3 : (double)random_between(1, 4) / 8;
    if (!c->dense && random_below(4) == 0) {
        p->tolerance = pow(10, -(double)random_between(2, 4));
        p->pattern = WEFT_GRADED;
        p->interpolation = 0;
        p->opening = 0;
    }
    c->options.threads = ranks > 2 ? 1 : 1 + random_below(3);
    c->options.decomposition = decompositions[random_below(5)];
    describe(c, number);
}

/* The same on the device. */
static weft_options there(const sampled_case *c) {
    weft_options options = c->options;
    options.device = device;
    if (device != WEFT_HOST) options.location = WEFT_LOCATION_HOST;
    return options;
}

/* Lattices halve the extents; of odd ones the method is the exact one. */
static void choose_levels(sampled_case *c, int number) {
    static const int64_t extents[] = {1, 8, 10, 12, 16, 18, 20, 24, 32, 40, 48};
    static const weft_kernel_kind kinds[] = {WEFT_KERNEL_POISSON, WEFT_KERNEL_SCREENED_POISSON,
                                             WEFT_KERNEL_RIESZ, WEFT_KERNEL_LAPLACIAN,
                                             WEFT_KERNEL_ELASTIC};
    weft_convolution_problem *p = &c->problem;
    choose(c, number);
    p->method = WEFT_MULTILEVEL;
    for (int a = 0; a < p->rank; a++) p->n[a] = extents[random_below(11)];
    if (random_below(8) == 0) p->n[0] = 9;
    p->kernel.kind = kinds[random_below(4)];
    if (number % 10 == 9 && p->rank > 1) p->kernel.kind = WEFT_KERNEL_ELASTIC;
    if (p->kernel.kind == WEFT_KERNEL_ELASTIC) p->correlate = 0;
    p->kernel.parameter = p->kernel.kind == WEFT_KERNEL_RIESZ ? -1 : 0.3;
    p->kernel.discretization = WEFT_STAGGERED;
    p->fields_fastest = p->kernel.kind == WEFT_KERNEL_ELASTIC && p->batch == 0;
    p->pattern = WEFT_GRADED;
    p->opening = 0;
    p->interpolation = random_below(3) ? 0 : 4;
    p->tolerance = pow(10, -(double)random_between(1, p->interpolation ? 3 : 5));
    if (p->kernel.kind == WEFT_KERNEL_ELASTIC) {
        p->interpolation = 0;
        p->tolerance = random_below(2) ? 0.1 : 0.01;
    }
    if (p->kernel.kind != WEFT_KERNEL_ELASTIC && random_below(5) == 0) p->method = WEFT_METHOD_AUTO;
    c->dense = false;
    describe(c, number);
}

/* The largest relative error, in the norm, that a tree may have. Fields are noise, which the
 * kernel makes less of than of what is smooth. */
static double allowed(const weft_convolution_problem *p, bool dense) {
    const double rounding = p->precision == WEFT_SINGLE ? 2e-5 : 1e-12;
    if (dense) return rounding;
    if (p->tolerance > 0) return p->tolerance;
    if (p->pattern == WEFT_FIXED) return 2; /* noise right beside the box has its own size */
    const double opening = fmin(p->opening, 2.0 / (double)p->interpolation);
    return 2 * pow(opening * 2, (double)p->interpolation) + rounding;
}

static double number_at(const weft_convolution_problem *p, const void *array, int64_t i) {
    return p->precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                       : ((const double *)array)[i];
}

static void fill(const weft_convolution_problem *p, void *array, size_t bytes) {
    const int64_t numbers =
        (int64_t)(bytes / (p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double)));
    for (int64_t i = 0; i < numbers; i++)
        if (p->precision == WEFT_SINGLE)
            ((float *)array)[i] = (float)random_number();
        else
            ((double *)array)[i] = random_number();
}

/* The relative error, over all ranks. */
static double error_of(const weft_convolution_problem *p, const void *exact, const void *found,
                       size_t bytes) {
    const int64_t numbers =
        (int64_t)(bytes / (p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double)));
    double sums[2] = {0, 0}, all[2];
    for (int64_t i = 0; i < numbers; i++) {
        const double x = number_at(p, exact, i), e = number_at(p, found, i) - x;
        sums[0] += e * e;
        sums[1] += x * x;
    }
    MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all[1] > 1e-24 ? sqrt(all[0] / all[1]) : sqrt(all[0]);
}

/* The rest of the report is about the exact method, which is not built, on the host. */
static void expect_told(sampled_case *c, weft_convolution sampled) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    weft_plan_explain(sampled, stream, WEFT_TEXT);
    fclose(stream);
    if (!strstr(text, weft_device_name(device))) fail(c, "the device is not told");
    free(text);
}

static void compare_with_host(sampled_case *c, const void *field, const void *found, size_t bytes) {
    const double rounding = c->problem.precision == WEFT_SINGLE ? 1e-6 : 1e-12;
    weft_convolution host = NULL;
    void *right = malloc(bytes + 1);
    if (weft_convolution_create(ctx, &c->problem, &c->options, &host) != WEFT_SUCCESS ||
        weft_convolution_execute(host, field, right) != WEFT_SUCCESS)
        fail(c, weft_last_error(ctx));
    else if (!(error_of(&c->problem, right, found, bytes) <= rounding))
        fail(c, "the device's result is not the host's");
    weft_convolution_destroy(&host);
    free(right);
}

static void compare(sampled_case *c, weft_convolution sampled, weft_convolution exact) {
    size_t in_bytes, out_bytes, exact_bytes;
    weft_plan_bytes(sampled, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(sampled, WEFT_RESULT, &out_bytes);
    weft_plan_bytes(exact, WEFT_RESULT, &exact_bytes);
    if (out_bytes != exact_bytes) fail(c, "the boxes are not those of the exact method");
    void *field = malloc(in_bytes + 1), *found = malloc(out_bytes + 1),
         *right = malloc(out_bytes + 1);
    random_state += (uint64_t)rank * 1000003;
    fill(&c->problem, field, in_bytes);
    if (random_state % 4 == 1 && in_bytes > 64) /* sub-domains without sources */
        memset((char *)field + in_bytes / 16 * 8, 0, in_bytes - in_bytes / 16 * 8);
    memset(found, 0xff, out_bytes);
    const bool same = in_bytes == out_bytes && random_state % 3 == 0 && ranks == 1 &&
                      device == WEFT_HOST; /* the field is wanted again */
    if (weft_convolution_execute(exact, field, right) != WEFT_SUCCESS)
        fail(c, weft_last_error(ctx));
    if (same) memcpy(found, field, in_bytes);
    for (int again = 0; again < (same ? 1 : 2); again++)
        if (weft_convolution_execute(sampled, same ? found : field, found) != WEFT_SUCCESS)
            fail(c, weft_last_error(ctx));
    const double error = error_of(&c->problem, right, found, out_bytes);
    if (!(error <= allowed(&c->problem, c->dense))) {
        char what[96];
        snprintf(what, sizeof what, "error %g, allowed %g", error, allowed(&c->problem, c->dense));
        fail(c, what);
    }
    if (device != WEFT_HOST) compare_with_host(c, field, found, out_bytes);
    expect_told(c, sampled);
    free(field);
    free(found);
    free(right);
}

/* Whether an automatic choice is explained by what the methods cost, over several ranks. */
static void check_note(const sampled_case *c, weft_convolution plan) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (c->problem.method == WEFT_METHOD_AUTO) {
        weft_plan_explain(plan, stream, WEFT_TEXT);
        fflush(stream);
        if ((strstr(text, "of these estimates for a rank: whole") != NULL) != (ranks > 1))
            fail(c, "the choice of a method is not explained");
    }
    fclose(stream);
    free(text);
}

static void run(sampled_case *c) {
    weft_convolution sampled = NULL, exact = NULL;
    weft_convolution_problem whole = c->problem;
    whole.method = WEFT_WHOLE;
    const weft_options options = there(c);
    if (weft_convolution_create(ctx, &whole, &c->options, &exact) != WEFT_SUCCESS ||
        weft_convolution_create(ctx, &c->problem, &options, &sampled) != WEFT_SUCCESS)
        fail(c, weft_last_error(ctx));
    else
        compare(c, sampled, exact);
    if (sampled) check_note(c, sampled);
    weft_convolution_destroy(&sampled);
    weft_convolution_destroy(&exact);
}

int main(int argc, char **argv) {
    int cases = 40, only = -1, seed = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--method") == 0 && strcmp(argv[i + 1], "multilevel") == 0)
            method = WEFT_MULTILEVEL;
        if (strcmp(argv[i], "--seed") == 0) seed = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--case") == 0) only = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--device") == 0) device = device_named(argv[i + 1]);
    }
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        MPI_Finalize();
        return status_without(device);
    }
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) return 1;
    for (int i = 0; i < cases; i++) {
        sampled_case c;
        if (only >= 0 && i != only) continue;
        random_state = (uint64_t)seed * 1000 + (uint64_t)i;
        if (method == WEFT_SAMPLES)
            choose(&c, i);
        else
            choose_levels(&c, i);
        run(&c);
    }
    weft_context_destroy(&ctx);
    int all = failures;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d cases, seed %d, %d failed\n", cases, seed, all);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
