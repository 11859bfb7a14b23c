/*
 * Reductions of the arrays at both ends of transforms against direct sums over what the callers'
 * arrays hold: on any number of ranks, some of which have nothing, in place, padded and cropped, in
 * batches, there and back; and Parseval's identity. Then what is refused, on all ranks.
 *
 *   reductions [--device opencl|cuda|simulated]
 */
#include "promised_device.h"

#include <weft/weft_mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 3, KINDS = WEFT_MAX + 1 };

static int rank, ranks, failures, checks;
static weft_device device;
static weft_context ctx;

static bool succeeds(weft_status status) {
    if (status == WEFT_SUCCESS) return true;
    fprintf(stderr, "rank %d: %s\n", rank, weft_last_error(ctx));
    failures++;
    return false;
}

/* Each list is a scaling by `before`, the three reductions, and a scaling by 2; powers of two are
 * exact. Reduction number 3 p + r is r of place p. */
static const double before[PLACES] = {0.5, -2, 4};

typedef struct lists {
    weft_operator item[PLACES][2 + KINDS];
} lists;

static void make_lists(lists *l, weft_problem *p) {
    weft_operators *of_place[PLACES] = {&p->load, &p->spectral, &p->store};
    for (int place = 0; place < PLACES; place++) {
        weft_operator *o = l->item[place];
        *o++ = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = before[place]};
        for (int r = 0; r < KINDS; r++)
            *o++ = (weft_operator){
                .kind = WEFT_OPERATOR_REDUCE, .array = KINDS * place + r, .reduction = r};
        *o++ = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = 2};
        *of_place[place] = (weft_operators){l->item[place], 2 + KINDS};
    }
}

/* The sum, the sum of squares, and the largest magnitude of all ranks' elements. */
typedef struct direct {
    long double sum[2], squares, largest, magnitudes;
} direct;

static double number_at(const void *data, weft_precision precision, int64_t i) {
    return precision == WEFT_SINGLE ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static direct reduce_directly(const void *data, weft_precision precision, int64_t elements,
                              bool real, double factor) {
    direct d = {{0}, 0, 0, 0};
    for (int64_t i = 0; i < elements; i++) {
        const double x = factor * number_at(data, precision, real ? i : 2 * i);
        const double y = real ? 0 : factor * number_at(data, precision, 2 * i + 1);
        d.sum[0] += (long double)x;
        d.sum[1] += (long double)y;
        d.squares += (long double)x * x + (long double)y * y;
        d.largest = fmaxl(d.largest, (long double)hypot(x, y));
        d.magnitudes += (long double)hypot(x, y);
    }
    long double sums[] = {d.sum[0], d.sum[1], d.squares, d.magnitudes};
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &d.largest, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return (direct){{sums[0], sums[1]}, sums[2], d.largest, sums[3]};
}

/* ---- a case ---- */

typedef struct test_case {
    const char *name;
    weft_problem problem;
    weft_options options;
    bool in_place;
} test_case;

typedef struct run {
    const test_case *c;
    weft_plan plan;
    void *array[3]; /* in, out, back, on the device; in place: one */
    char *host;
    size_t bytes;
    double norms[PLACES];
} run;

static int64_t elements_of(const run *r, weft_space space) {
    const weft_problem *p = &r->c->problem;
    int64_t elements = (p->batch > 0 ? p->batch : 1) * (p->fields > 0 ? p->fields : 1);
    weft_box box;
    weft_plan_box(r->plan, space, rank, &box);
    for (int a = 0; a < p->rank; a++) elements *= box.n[a];
    return elements;
}

/* Whether the place's reductions are those of what `array` holds, times a factor. */
static void expect(run *r, int place, weft_space space, const void *array, double factor) {
    const weft_problem *p = &r->c->problem;
    const bool real = p->kind == WEFT_R2R || (p->kind == WEFT_R2C && place != 1);
    if (!succeeds(weft_buffer_download(r->plan, r->host, array, r->bytes))) return;
    const direct d = reduce_directly(r->host, p->precision, elements_of(r, space), real, factor);
    const double off = 1e-14 * (double)d.magnitudes, relative = 1e-14;
    double value[KINDS][2];
    bool good = true;
    for (int k = 0; k < KINDS; k++)
        good = good && succeeds(weft_plan_reduction(r->plan, KINDS * place + k, value[k]));
    if (!good) return;
    const double norm = sqrt((double)d.squares), largest = (double)d.largest;
    good = fabs(value[WEFT_SUM][0] - (double)d.sum[0]) <= off &&
           fabs(value[WEFT_SUM][1] - (double)d.sum[1]) <= off &&
           fabs(value[WEFT_NORM][0] - norm) <= relative * norm &&
           fabs(value[WEFT_MAX][0] - largest) <= relative * largest && value[WEFT_NORM][1] == 0 &&
           value[WEFT_MAX][1] == 0 && norm > 0;
    r->norms[place] = value[WEFT_NORM][0];
    checks++;
    if (good) return;
    failures++;
    if (rank == 0)
        fprintf(stderr, "%s, place %d: %g %g, %g, %g; directly %g %g, %g, %g\n", r->c->name, place,
                value[0][0], value[0][1], value[1][0], value[2][0], (double)d.sum[0],
                (double)d.sum[1], norm, largest);
}

static void expect_parseval(const run *r) {
    const weft_problem *p = &r->c->problem;
    const double off = p->precision == WEFT_SINGLE ? 1e-5 : 1e-13;
    if (p->kind != WEFT_C2C || p->norm != WEFT_NORM_ORTHO) return;
    /* The scalings between the two: 2 behind the one, before[1] in front of the other. */
    const double wanted = r->norms[0] * 2 * fabs(before[1]);
    checks++;
    if (fabs(r->norms[1] - wanted) <= off * wanted) return;
    failures++;
    fprintf(stderr, "%s: Parseval: %g, not %g\n", r->c->name, r->norms[1], wanted);
}

static bool give(run *r) {
    const weft_problem *p = &r->c->problem;
    const int64_t numbers = elements_of(r, WEFT_INPUT) * (p->kind == WEFT_C2C ? 2 : 1);
    weft_box box;
    weft_plan_box(r->plan, WEFT_INPUT, rank, &box);
    for (int64_t i = 0; i < numbers; i++) {
        const double x = sin(1.3 * (double)i + (double)(box.lo[0] + 7 * box.lo[1])) - 0.25;
        if (p->precision == WEFT_SINGLE)
            ((float *)(void *)r->host)[i] = (float)x;
        else
            ((double *)(void *)r->host)[i] = x;
    }
    return succeeds(weft_buffer_upload(r->plan, r->array[0], r->host, r->bytes));
}

/* Forward and back; where the plan convolves, too, once more at once. */
static void execute(run *r) {
    void *in = r->array[0], *out = r->array[r->c->in_place ? 0 : 1];
    void *back = r->array[r->c->in_place ? 0 : 2];
    for (int times = 0; times < 3; times++) { /* on devices the last one is a graph */
        if (!give(r) || !succeeds(weft_execute(r->plan, WEFT_FORWARD, in, out))) return;
    }
    expect(r, 1, WEFT_OUTPUT, out, 0.5);
    if (!give(r)) return; /* in place the input is no more */
    expect(r, 0, WEFT_INPUT, in, before[0]);
    expect_parseval(r);
    if (!succeeds(weft_execute(r->plan, WEFT_FORWARD, in, out))) return;
    if (!succeeds(weft_execute(r->plan, WEFT_INVERSE, out, back))) return;
    expect(r, 2, WEFT_RESULT, back, 0.5);
    if (!r->c->options.convolve || !give(r)) return;
    if (!succeeds(weft_execute(r->plan, WEFT_CONVOLVE, in, back))) return;
    expect(r, 2, WEFT_RESULT, back, 0.5);
    if (give(r)) expect(r, 0, WEFT_INPUT, in, before[0]);
}

static void run_case(const test_case *c) {
    test_case mine = *c;
    run r = {.c = &mine};
    lists l;
    make_lists(&l, &mine.problem);
    mine.options.device = device;
    if (mine.in_place) mine.options.placement = WEFT_IN_PLACE;
    if (!succeeds(weft_plan_create(ctx, &mine.problem, &mine.options, &r.plan))) return;
    for (int space = WEFT_INPUT; space <= WEFT_RESULT; space++) {
        size_t bytes;
        weft_plan_bytes(r.plan, (weft_space)space, &bytes);
        if (bytes > r.bytes) r.bytes = bytes;
    }
    r.host = malloc(r.bytes + 1);
    bool good = r.host != NULL;
    for (int i = 0; i < 3; i++)
        good = good && succeeds(weft_buffer_create(r.plan, r.bytes, &r.array[i]));
    if (good) execute(&r);
    for (int i = 0; i < 3; i++) weft_buffer_destroy(r.plan, &r.array[i]);
    free(r.host);
    weft_plan_destroy(&r.plan);
}

static const test_case cases[] = {
    {"complex", {.rank = 3, .n = {7, 10, 9}, .norm = WEFT_NORM_ORTHO}, {0}, false},
    {"complex in place",
     {.rank = 3, .n = {8, 6, 5}, .precision = WEFT_SINGLE, .batch = 3, .norm = WEFT_NORM_ORTHO},
     {0},
     true},
    {"real", {.rank = 3, .n = {11, 6, 9}, .kind = WEFT_R2C, .batch = 2}, {.threads = 3}, false},
    {"real in place",
     {.rank = 2, .n = {12, 15}, .kind = WEFT_R2C, .precision = WEFT_SINGLE},
     {0},
     true},
    {"few rows", {.rank = 2, .n = {2, 30}, .norm = WEFT_NORM_ORTHO}, {0}, false},
    {"few rows and columns", {.rank = 3, .n = {3, 1, 2}, .norm = WEFT_NORM_ORTHO}, {0}, false},
    {"many elements", {.rank = 3, .n = {70, 40, 50}, .kind = WEFT_R2C}, {.threads = 2}, false},
    {"padded",
     {.rank = 3, .n = {10, 12, 9}, .kind = WEFT_R2C, .pad_from = {6, 0, 5}, .crop_to = {8, 7, 9}},
     {.convolve = 1},
     false},
    {"padded lines", {.rank = 3, .n = {9, 4, 20}, .pad_from = {0, 0, 11}}, {.convolve = 1}, false},
    {"there and back",
     {.rank = 2, .n = {12, 20}, .norm = WEFT_NORM_BACKWARD, .batch = 2},
     {.convolve = 1},
     false},
    {"parts", {.rank = 3, .n = {16, 12, 10}}, {.chunks = 3, .decomposition = WEFT_PENCIL}, false},
    {"fields", {.rank = 2, .n = {9, 8}, .fields = 3, .fields_fastest = 1}, {0}, false},
    {"a line", {.rank = 1, .n = {120}, .norm = WEFT_NORM_ORTHO}, {0}, true},
    {"real lines", {.rank = 1, .n = {70}, .kind = WEFT_R2C, .batch = 3}, {0}, false},
    {"a real line in place", {.rank = 1, .n = {84}, .kind = WEFT_R2C}, {0}, true},
    {"a padded line",
     {.rank = 1, .n = {60}, .kind = WEFT_R2C, .pad_from = {31}, .crop_to = {47}, .batch = 2},
     {.convolve = 1},
     false},
};

static const test_case cosines = {
    "cosines",
    {.rank = 3, .n = {7, 10, 9}, .kind = WEFT_R2R, .axis = {WEFT_DCT2, WEFT_DST3, WEFT_DCT4}},
    {0},
    false};

/* ---- what is refused ---- */

static void refuses(weft_status got, weft_status wanted, const char *words) {
    checks++;
    if (got == wanted && strstr(weft_last_error(ctx), words)) return;
    failures++;
    fprintf(stderr, "rank %d: %s: %s, not: %s\n", rank, weft_status_name(got), weft_last_error(ctx),
            words);
}

static void questions_without_an_answer_fail_on_all_ranks(void) {
    const int64_t side = 2 * ranks;
    weft_operator sum = {.kind = WEFT_OPERATOR_REDUCE, .array = 5};
    weft_operator norm = {.kind = WEFT_OPERATOR_REDUCE, .array = 6, .reduction = WEFT_NORM};
    const weft_problem problem = {
        .rank = 2, .n = {side, side}, .load = {&sum, 1}, .store = {&norm, 1}};
    const weft_options options = {.effort = WEFT_MEASURE}; /* measuring is no execution */
    double value[2] = {1, 2}, *in = calloc((size_t)(4 * side * side), sizeof *in);
    weft_plan plan = NULL;
    if (!succeeds(weft_plan_create(ctx, &problem, &options, &plan))) return;
    refuses(weft_plan_reduction(plan, 5, value), WEFT_ERROR_INVALID_ARGUMENT,
            "no execution has had reduction 5 yet");
    succeeds(weft_execute(plan, WEFT_FORWARD, in, in + 2 * side * side));
    refuses(weft_plan_reduction(plan, 6, value), WEFT_ERROR_INVALID_ARGUMENT, "reduction 6 yet");
    refuses(weft_plan_reduction(plan, rank == ranks - 1 ? -1 : 5, value),
            WEFT_ERROR_INVALID_ARGUMENT, "number is -1; it is 0 to 15");
    refuses(weft_plan_reduction(plan, 4, value), WEFT_ERROR_INVALID_ARGUMENT,
            "no operator of the plan is reduction 4");
    refuses(weft_plan_reduction(plan, 5, rank == 0 ? NULL : value), WEFT_ERROR_INVALID_ARGUMENT,
            "value is NULL");
    if (value[0] != 1 || value[1] != 2) failures++;
    succeeds(weft_execute(plan, WEFT_INVERSE, in, in + 2 * side * side));
    if (ranks > 1)
        refuses(weft_plan_reduction(plan, rank == 0 ? 5 : 6, value), WEFT_ERROR_MISMATCH,
                "weft_plan_reduction the number");
    succeeds(weft_plan_reduction(plan, 5, value));
    if (value[0] != 0 || value[1] != 0) failures++;
    weft_plan_destroy(&plan);
    if (ranks > 1) {
        norm.reduction = rank == 1 ? WEFT_MAX : WEFT_NORM;
        refuses(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_MISMATCH,
                "another reduce operator in problem.store");
    }
    norm.array = 5;
    refuses(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT,
            "problem.store has reduction 5, which another operator is, too");
    free(in);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 3) device = device_named(argv[2]);
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        fprintf(stderr, "reductions: %s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (!succeeds(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx))) return 1;
    const bool compiles = device_compiles(device); /* half of the cases */
    for (size_t i = compiles; i < sizeof cases / sizeof *cases; i += 1 + compiles)
        run_case(&cases[i]);
    if (!compiles) {
        run_case(&cosines);
        questions_without_an_answer_fail_on_all_ranks();
    }
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("reductions: %d ranks, %d checks, %d failed\n", ranks, checks, failures);
    MPI_Finalize();
    return failures > 0;
}
