/*
 * Round trip, Laplacian, impulse, index redistribution: the tests of one plan.
 *
 * Values are reached through at() and put(), which hide precision and kind: the tests are short and
 * slow, which is right for tests. Errors are relative, in L2, over all ranks.
 */
#include "validate_case.h"

#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/exact_r2r.h"
#include "support/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* One rank's part of the arrays. numbers is 1 for real data, 2 for complex. */
typedef struct field {
    const weft_problem *problem;
    int numbers;
    weft_box box;
    int64_t n[WEFT_MAX_RANK]; /* global */
    int64_t count;            /* elements of the box */
    size_t bytes;
    void *data;
} field;

typedef struct test_run {
    weft_plan plan;
    const weft_problem *problem;
    MPI_Comm comm;
    int rank;
    field input, output, back;
    double elements; /* N: of r2r the product of the logical lengths */
    double points;   /* of the array */
    double bound;    /* of the round trip */
} test_run;

static double get(const field *f, int64_t i) {
    return f->problem->precision == WEFT_SINGLE ? ((const float *)f->data)[i]
                                                : ((const double *)f->data)[i];
}

static void put(const field *f, int64_t i, double value) {
    if (f->problem->precision == WEFT_SINGLE)
        ((float *)f->data)[i] = (float)value;
    else
        ((double *)f->data)[i] = value;
}

/* Global index of element i of the box. */
static void locate(const field *f, int64_t i, int64_t index[WEFT_MAX_RANK]) {
    for (int a = f->problem->rank - 1; a >= 0; a--) {
        index[a] = f->box.lo[a] + i % f->box.n[a];
        i /= f->box.n[a];
    }
}

static weft_status create_field(test_run *run, weft_space space, field *f) {
    f->problem = run->problem;
    const weft_kind kind = run->problem->kind;
    f->numbers = kind == WEFT_C2C || (kind == WEFT_R2C && space == WEFT_OUTPUT) ? 2 : 1;
    WEFT_TRY(weft_plan_box(run->plan, space, run->rank, &f->box));
    WEFT_TRY(weft_plan_bytes(run->plan, space, &f->bytes));
    memcpy(f->n, run->problem->n, sizeof f->n);
    f->count = 1;
    for (int a = 0; a < run->problem->rank; a++) f->count *= f->box.n[a];
    f->data = malloc(f->bytes > 0 ? f->bytes : 1);
    if (f->data == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a test");
    memset(f->data, 0xff, f->bytes); /* NaN: an element never written shows */
    return WEFT_SUCCESS;
}

/* sqrt(sum |is/scale - expected|^2 / sum |expected|^2) from this rank's two sums. */
static double relative(const test_run *run, double difference, double reference) {
    double sums[2] = {difference, reference}, all[2];
    MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, run->comm);
    return sqrt(all[0] / all[1]);
}

static weft_status execute(const test_run *run, weft_direction direction, const field *from,
                           const field *to) {
    return weft_array_agree(run->comm, weft_execute(run->plan, direction, from->data, to->data));
}

/* Numbers in [-1, 1) that depend on the place in the global array only, so that every distribution
 * sees the same. */
static double random_at(const field *f, int64_t i, int number) {
    int64_t index[WEFT_MAX_RANK];
    locate(f, i, index);
    uint64_t bits = 0x9e3779b97f4a7c15u + (uint64_t)number;
    for (int a = 0; a < f->problem->rank; a++) {
        bits = (bits ^ (uint64_t)index[a]) * 0xbf58476d1ce4e5b9u;
        bits ^= bits >> 29;
    }
    return (double)(bits >> 11) * 0x1p-52 - 1.0;
}

static uint64_t checksum(const field *f) {
    size_t number = f->problem->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    size_t bytes = (size_t)f->count * (size_t)f->numbers * number;
    return weft_hash_bytes(WEFT_HASH_OF_NOTHING, f->data, bytes);
}

static weft_status test_round_trip(test_run *run, case_result *result) {
    field *in = &run->input;
    for (int64_t i = 0; i < in->count; i++)
        for (int p = 0; p < in->numbers; p++) put(in, in->numbers * i + p, random_at(in, i, p));
    double best = INFINITY;
    for (int repeat = 0; repeat < 3; repeat++) {
        MPI_Barrier(run->comm);
        double start = weft_clock(), slowest, spent;
        WEFT_TRY(execute(run, WEFT_FORWARD, in, &run->output));
        spent = weft_clock() - start;
        MPI_Allreduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, run->comm);
        if (slowest < best) best = slowest;
    }
    result->seconds = best;
    double flops = (run->problem->kind == WEFT_C2C ? 5.0 : 2.5) * run->points;
    result->gflops = flops * log2(run->points) / best * 1e-9;
    result->checksum = checksum(&run->output);
    WEFT_TRY(execute(run, WEFT_INVERSE, &run->output, &run->back));
    double difference = 0.0, reference = 0.0;
    for (int64_t i = 0; i < in->count * in->numbers; i++) {
        double was = get(in, i), is = get(&run->back, i) / run->elements;
        difference += (is - was) * (is - was);
        reference += was * was;
    }
    result->round_trip = relative(run, difference, reference);
    return WEFT_SUCCESS;
}

/* sin(x) sin(y) ... + half of sin(2x) sin(2y) ...: eigenfunctions of the Laplacian with -d and -4d.
 */
static double sines(const field *f, int64_t i, bool laplacian) {
    int64_t index[WEFT_MAX_RANK];
    double sum = 0.0, axes = f->problem->rank;
    locate(f, i, index);
    for (int mode = 1; mode <= 2; mode++) {
        double product = mode == 1 ? 1.0 : 0.5;
        for (int a = 0; a < f->problem->rank; a++)
            product *= sin(2.0 * pi * mode * (double)index[a] / (double)f->n[a]);
        sum += laplacian ? -axes * mode * mode * product : product;
    }
    return sum;
}

/* -|k|^2 of element i of the spectrum; the middle frequency of an even axis counts n/2. */
static double laplacian_symbol(const field *f, int64_t i) {
    int64_t index[WEFT_MAX_RANK];
    double sum = 0.0;
    locate(f, i, index);
    for (int a = 0; a < f->problem->rank; a++) {
        double k = (double)(index[a] <= f->n[a] / 2 ? index[a] : index[a] - f->n[a]);
        sum -= k * k;
    }
    return sum;
}

static weft_status test_laplacian(test_run *run, case_result *result) {
    field *in = &run->input, *out = &run->output;
    result->laplacian = -1.0;
    if (run->problem->kind == WEFT_R2R) return WEFT_SUCCESS; /* its modes are not the sines */
    for (int a = 0; a < run->problem->rank; a++)
        if (in->n[a] < 5) return WEFT_SUCCESS; /* the second mode needs five points */
    for (int64_t i = 0; i < in->count; i++) {
        put(in, in->numbers * i, sines(in, i, false));
        if (in->numbers == 2) put(in, 2 * i + 1, 0.0);
    }
    WEFT_TRY(execute(run, WEFT_FORWARD, in, out));
    for (int64_t i = 0; i < out->count; i++)
        for (int p = 0; p < 2; p++)
            put(out, 2 * i + p, get(out, 2 * i + p) * laplacian_symbol(out, i) / run->elements);
    WEFT_TRY(execute(run, WEFT_INVERSE, out, &run->back));
    double difference = 0.0, reference = 0.0;
    for (int64_t i = 0; i < in->count; i++) {
        double exact = sines(in, i, true), is = get(&run->back, in->numbers * i);
        double other = in->numbers == 2 ? get(&run->back, 2 * i + 1) : 0.0;
        difference += (is - exact) * (is - exact) + other * other;
        reference += exact * exact;
    }
    result->laplacian = relative(run, difference, reference);
    return WEFT_SUCCESS;
}

/* An impulse at index (1, 1, ...) becomes exp(-2 pi i sum k_a/n_a): no two places hold the same
 * value unless the shape says so, and an element that went astray shows. */
static weft_status test_placement(test_run *run, case_result *result) {
    field *in = &run->input, *out = &run->output;
    int64_t index[WEFT_MAX_RANK];
    int rank = run->problem->rank;
    for (int64_t i = 0; i < in->count; i++) {
        double value = 1.0;
        locate(in, i, index);
        for (int a = 0; a < rank; a++)
            if (index[a] != (in->n[a] > 1 ? 1 : 0)) value = 0.0;
        put(in, in->numbers * i, value);
        if (in->numbers == 2) put(in, 2 * i + 1, 0.0);
    }
    WEFT_TRY(execute(run, WEFT_FORWARD, in, out));
    double difference = 0.0, reference = 0.0;
    for (int64_t i = 0; i < out->count; i++) {
        double turns = 0.0;
        locate(out, i, index);
        for (int a = 0; a < rank; a++)
            if (out->n[a] > 1) turns += (double)index[a] / (double)out->n[a];
        double real = get(out, 2 * i) - cos(2.0 * pi * turns);
        double imaginary = get(out, 2 * i + 1) + sin(2.0 * pi * turns);
        difference += real * real + imaginary * imaginary;
        reference += 1.0;
    }
    result->placement = relative(run, difference, reference);
    return WEFT_SUCCESS;
}

/* A random line along each axis, one after the other, and what the definition makes of it. Long
 * lines are mostly zeros, for the definition takes a time of n for each number. */
static weft_status create_lines(const weft_problem *p, long double **lines, int64_t *numbers) {
    enum { MOST_NUMBERS = 1024 };
    *numbers = 0;
    for (int a = 0; a < p->rank; a++) *numbers += p->n[a];
    *lines = malloc(2 * (size_t)*numbers * sizeof **lines);
    if (*lines == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a test");
    long double *before = *lines, *after = *lines + *numbers;
    uint64_t bits = 0;
    for (int a = 0; a < p->rank; a++) {
        const int64_t n = p->n[a], apart = n / MOST_NUMBERS + 1;
        for (int64_t i = 0; i < n; i++) {
            bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
            before[i] = i % apart == 0 ? (float)((double)(bits >> 11) * 0x1p-52 - 1.0) : 0;
            after[i] = before[i];
        }
        r2r_define_axis(p->axis[a], 1, n, 1, after);
        before += n;
        after += n;
    }
    return WEFT_SUCCESS;
}

/* Element i of the product of the lines. */
static long double product_of_lines(const field *f, int64_t i, const long double *line) {
    int64_t index[WEFT_MAX_RANK];
    long double product = 1;
    locate(f, i, index);
    for (int a = 0; a < f->problem->rank; a++) {
        product *= line[index[a]];
        line += f->n[a];
    }
    return product;
}

/* Real to real: a product of lines becomes the product of their transforms. */
static weft_status test_definition(test_run *run, case_result *result) {
    field *in = &run->input, *out = &run->output;
    long double *lines = NULL;
    int64_t numbers = 0;
    WEFT_TRY(weft_array_agree(run->comm, create_lines(run->problem, &lines, &numbers)));
    for (int64_t i = 0; i < in->count; i++) put(in, i, (double)product_of_lines(in, i, lines));
    weft_status status = execute(run, WEFT_FORWARD, in, out);
    double difference = 0.0, reference = 0.0;
    for (int64_t i = 0; status == WEFT_SUCCESS && i < out->count; i++) {
        const double expected = (double)product_of_lines(out, i, lines + numbers);
        const double off = get(out, i) - expected;
        difference += off * off;
        reference += expected * expected;
    }
    free(lines);
    WEFT_TRY(status);
    result->placement = relative(run, difference, reference);
    return WEFT_SUCCESS;
}

/* Rounding of the highest frequencies is amplified by |k|^2, compared with the d of the lowest
 * mode. */
static double laplacian_gain(const weft_problem *problem) {
    double sum = 0.0;
    for (int a = 0; a < problem->rank; a++) {
        double highest = (double)(problem->n[a] / 2);
        sum += highest * highest;
    }
    return 1.0 + sum / problem->rank;
}

static weft_status run_tests(test_run *run, case_result *result) {
    WEFT_TRY(weft_array_agree(run->comm, create_field(run, WEFT_INPUT, &run->input)));
    WEFT_TRY(weft_array_agree(run->comm, create_field(run, WEFT_INPUT, &run->back)));
    WEFT_TRY(weft_array_agree(run->comm, create_field(run, WEFT_OUTPUT, &run->output)));
    WEFT_TRY(test_round_trip(run, result));
    WEFT_TRY(test_laplacian(run, result));
    WEFT_TRY(run->problem->kind == WEFT_R2R ? test_definition(run, result)
                                            : test_placement(run, result));
    result->bound = run->bound;
    result->laplacian_bound = run->bound * laplacian_gain(run->problem);
    result->failed = NULL;
    /* Written so that NaN fails. */
    if (!(result->placement <= run->bound)) result->failed = "placement";
    if (!(result->laplacian <= result->laplacian_bound)) result->failed = "laplacian";
    if (!(result->round_trip <= run->bound)) result->failed = "round trip";
    return WEFT_SUCCESS;
}

/* The global index of an element in two numbers that single precision holds exactly. */
static void index_numbers(const field *f, int64_t i, double numbers[2]) {
    int64_t index[WEFT_MAX_RANK], place = 0;
    locate(f, i, index);
    for (int a = 0; a < f->problem->rank; a++) place = place * f->n[a] + index[a];
    numbers[0] = (double)(place % 16777216);
    numbers[1] = (double)(place / 16777216);
}

/* Elements of `to` that do not name their own place after `direction`; poisoned first. */
static weft_status count_misplaced(test_run *run, weft_direction direction, field *from, field *to,
                                   double *misplaced) {
    double numbers[2];
    for (int64_t i = 0; i < from->count; i++) {
        index_numbers(from, i, numbers);
        put(from, 2 * i, numbers[0]);
        put(from, 2 * i + 1, numbers[1]);
    }
    for (int64_t i = 0; i < 2 * to->count; i++) put(to, i, NAN);
    WEFT_TRY(execute(run, direction, from, to));
    for (int64_t i = 0; i < to->count; i++) {
        index_numbers(to, i, numbers);
        *misplaced += !(get(to, 2 * i) == numbers[0] && get(to, 2 * i + 1) == numbers[1]);
    }
    return WEFT_SUCCESS;
}

/* On a complex plan with the identity engine. */
static weft_status move_indices(weft_plan plan, const weft_problem *problem,
                                const command_world *world, bool *right) {
    test_run run = {.plan = plan, .problem = problem, .comm = world->comm, .rank = world->rank};
    double misplaced = 0.0;
    weft_status status = weft_array_agree(run.comm, create_field(&run, WEFT_INPUT, &run.input));
    if (status == WEFT_SUCCESS)
        status = weft_array_agree(run.comm, create_field(&run, WEFT_OUTPUT, &run.output));
    if (status == WEFT_SUCCESS)
        status = count_misplaced(&run, WEFT_FORWARD, &run.input, &run.output, &misplaced);
    if (status == WEFT_SUCCESS)
        status = count_misplaced(&run, WEFT_INVERSE, &run.output, &run.input, &misplaced);
    MPI_Allreduce(MPI_IN_PLACE, &misplaced, 1, MPI_DOUBLE, MPI_SUM, run.comm);
    *right = misplaced == 0.0;
    free(run.input.data);
    free(run.output.data);
    return status;
}

weft_status case_run_redistribution(weft_context context, const weft_problem *problem,
                                    const weft_options *options, const command_world *world,
                                    bool *right) {
    weft_problem moved = *problem;
    weft_options moving = *options;
    weft_plan plan = NULL;
    moved.kind = WEFT_C2C;
    memset(moved.axis, 0, sizeof moved.axis);
    if (problem->kind == WEFT_R2C) moved.n[moved.rank - 1] = moved.n[moved.rank - 1] / 2 + 1;
    moving.engine = WEFT_ENGINE_IDENTITY;
    moving.effort = WEFT_ESTIMATE;
    weft_status status =
        weft_array_agree(world->comm, weft_plan_create(context, &moved, &moving, &plan));
    if (status == WEFT_SUCCESS) status = move_indices(plan, &moved, world, right);
    weft_plan_destroy(&plan);
    return status;
}

weft_status case_run(weft_plan plan, const weft_problem *problem, const command_world *world,
                     case_result *result) {
    test_run run = {.plan = plan, .problem = problem, .comm = world->comm, .rank = world->rank};
    run.elements = run.points = 1.0;
    for (int a = 0; a < problem->rank; a++) {
        run.elements *= weft_axis_length(problem->axis[a], problem->n[a]);
        run.points *= (double)problem->n[a];
    }
    double unit = problem->precision == WEFT_SINGLE ? 6.0e-8 : 1.1e-16;
    run.bound = 5.0 * unit * (1.0 + sqrt(log2(run.points)));
    weft_status status = run_tests(&run, result);
    free(run.input.data);
    free(run.back.data);
    free(run.output.data);
    return status;
}
