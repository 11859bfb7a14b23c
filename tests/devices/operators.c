/*
 * Pointwise operators of whole plans on a device: each kind alone at each place, then several at
 * once along every way that the jit engine's kernels have for lines (one kernel and several, real
 * numbers, pairs of them and half spectra, convolutions), there and back in one plan, and what is
 * refused. Expected are the definitions, on top of transforms without operators by the host in
 * double precision. WEFT_TEST_ENGINE names the engine, jit without it; whether it takes operators
 * or leaves them to steps of their own, the results are the same.
 */
#include "device_test.h"

#include <stdio.h>
#include <time.h>

#include "devices/operated_arrays.h"
#include "engine/engine.h"

static weft_context ctx;
static const weft_engine_ops *engine;
static uint64_t seed, random_state;

/* A random number between -1 and 1 that single precision holds. */
static double next_number(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((double)(random_state >> 11) * 0x1p-52 - 1);
}

static void ok_here(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

/* ---- a case ---- */

/* Short names for rows of cases. */
#define C2C WEFT_C2C
#define R2C WEFT_R2C
#define DOUBLE WEFT_DOUBLE
#define SINGLE WEFT_SINGLE
#define NONE WEFT_NORM_NONE
#define BACKWARD WEFT_NORM_BACKWARD
#define ORTHO WEFT_NORM_ORTHO
#define FORWARD WEFT_NORM_FORWARD

typedef enum convolving { FORWARD_AND_INVERSE, IN_STEPS, IN_ONE_STEP } convolving;

typedef struct test_case {
    int rank;
    int64_t n[AXES];
    weft_kind kind;
    weft_precision precision;
    int64_t batch;
    weft_norm norm;
    bool in_place;
    const char *letters[PLACES];
    convolving convolving; /* as an engine that takes operators does it */
    bool keeps;            /* the spectrum of a convolution */
} test_case;

typedef struct run {
    const test_case *c;
    weft_problem problem;
    weft_plan plan;
    known_list list[PLACES];
    array in, spectrum, results[3]; /* of forward, inverse, convolve */
    void *factors[PLACES];          /* on the device: the arrays of operators */
} run;

static void fail_case(const test_case *c, const char *what, double value) {
    fail_msg("%lldx%lldx%lld %s %s batch %lld%s operators %s,%s,%s: %s %g (seed %llu)",
             (long long)c->n[0], (long long)c->n[1], (long long)c->n[2], weft_kind_name(c->kind),
             weft_precision_name(c->precision), (long long)c->batch, c->in_place ? " in place" : "",
             c->letters[0], c->letters[1], c->letters[2], what, value, (unsigned long long)seed);
}

/* Transforms without operators on the host. Plans may need larger arrays than the data. */
static void transform(const run *r, weft_direction direction, const array *in, array *out) {
    const weft_space from = direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
    weft_problem plain = r->problem;
    weft_plan plan = NULL;
    size_t in_bytes, out_bytes;
    plain.load = plain.spectral = plain.store = (weft_operators){NULL, 0};
    plain.precision = WEFT_DOUBLE;
    ok_here(weft_plan_create(ctx, &plain, NULL, &plan));
    ok_here(weft_plan_bytes(plan, from, &in_bytes));
    ok_here(weft_plan_bytes(plan, from == WEFT_INPUT ? WEFT_OUTPUT : WEFT_INPUT, &out_bytes));
    double *given = calloc(1, in_bytes), *got = calloc(1, out_bytes);
    assert_true(given && got);
    pack(in, WEFT_DOUBLE, given);
    ok_here(weft_execute(plan, direction, given, got));
    memcpy(out->number, got, (size_t)(out->elements * out->width) * sizeof *got);
    free(given);
    free(got);
    weft_plan_destroy(&plan);
}

static void make_results(run *r) {
    array operated = create_array(&r->problem, WEFT_INPUT);
    for (int i = 0; i < 3; i++)
        r->results[i] = create_array(&r->problem, i == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT);
    for (int64_t i = 0; i < r->in.elements * r->in.width; i++)
        operated.number[i] = r->in.number[i] = next_number();
    for (int64_t i = 0; i < r->spectrum.elements * 2; i++) r->spectrum.number[i] = next_number();
    multiply(&operated, &r->list[0]);
    transform(r, WEFT_FORWARD, &operated, &r->results[WEFT_FORWARD]);
    multiply(&r->results[WEFT_FORWARD], &r->list[1]);
    transform(r, WEFT_INVERSE, &r->spectrum, &r->results[WEFT_INVERSE]);
    multiply(&r->results[WEFT_INVERSE], &r->list[2]);
    transform(r, WEFT_INVERSE, &r->results[WEFT_FORWARD], &r->results[WEFT_CONVOLVE]);
    multiply(&r->results[WEFT_CONVOLVE], &r->list[2]);
    free(operated.number);
}

static weft_options options_of(const test_case *c) {
    return (weft_options){.device = tested_id(),
                          .engine = engine->id,
                          .placement = c->in_place ? WEFT_IN_PLACE : WEFT_OUT_OF_PLACE,
                          .convolve = c->convolving != FORWARD_AND_INVERSE,
                          .keep_spectrum = c->keeps};
}

/* Gives the plan the arrays that its operators have. */
static void give_arrays(run *r) {
    const size_t number = weft_number_bytes(r->problem.precision);
    for (int place = 0; place < PLACES; place++) {
        void *factors;
        const size_t bytes = (size_t)array_factors(&r->problem, &r->list[place], &factors) * number;
        if (bytes == 0) continue;
        ok_here(weft_buffer_create(r->plan, bytes, &r->factors[place]));
        ok_here(weft_buffer_upload(r->plan, r->factors[place], factors, bytes));
        ok_here(weft_plan_set_array(r->plan, place, r->factors[place]));
        free(factors);
    }
}

static void begin(run *r, const test_case *c) {
    *r = (run){.c = c};
    r->problem = (weft_problem){.rank = c->rank,
                                .kind = c->kind,
                                .precision = c->precision,
                                .batch = c->batch,
                                .norm = c->norm};
    memcpy(r->problem.n, c->n, sizeof c->n);
    for (int place = 0; place < PLACES; place++)
        make_list(&r->problem, place, c->letters[place], &r->list[place]);
    r->in = create_array(&r->problem, WEFT_INPUT);
    r->spectrum = create_array(&r->problem, WEFT_OUTPUT);
    make_results(r);
    const weft_options options = options_of(c);
    ok_here(weft_plan_create(ctx, &r->problem, &options, &r->plan));
    give_arrays(r);
}

static void end(run *r) {
    for (int i = 0; i < PLACES; i++) weft_buffer_destroy(r->plan, &r->factors[i]);
    weft_plan_destroy(&r->plan);
    for (int i = 0; i < PLACES; i++) {
        free_list(&r->list[i]);
        free(r->results[i].number);
    }
    free(r->in.number);
    free(r->spectrum.number);
}

/* The allowed error of the device's result; half of the rule is for the host's. */
static double tolerance_of(const test_case *c, weft_direction direction) {
    const bool single = c->precision == WEFT_SINGLE;
    const double rule = oracle_tolerance(c->rank, c->n, single) * (single ? 1 : 2);
    const double factors = (single ? 6.0e-8 : 1.1e-16) * (2 + 2 * c->rank);
    return (rule + factors) * (direction == WEFT_CONVOLVE ? 2 : 1);
}

/* Runs the plan's convolution, which also keeps the spectrum. */
static void keep(const run *r, const void *in, void *out) {
    size_t bytes;
    void *spectrum = NULL;
    ok_here(weft_plan_bytes(r->plan, WEFT_OUTPUT, &bytes));
    char *got = malloc(bytes);
    memset(got, 0xA5, bytes);
    ok_here(weft_buffer_create(r->plan, bytes, &spectrum));
    ok_here(weft_buffer_upload(r->plan, spectrum, got, bytes));
    ok_here(weft_convolve(r->plan, in, spectrum, out));
    ok_here(weft_buffer_download(r->plan, got, spectrum, bytes));
    const double error = error_of(&r->results[WEFT_FORWARD], r->c->precision, got);
    if (!(error <= tolerance_of(r->c, WEFT_FORWARD)))
        fail_case(r->c, "error of the kept spectrum", error);
    weft_buffer_destroy(r->plan, &spectrum);
    free(got);
}

static void check(const run *r, weft_direction direction) {
    const test_case *c = r->c;
    const array *from = direction == WEFT_INVERSE ? &r->spectrum : &r->in;
    const array *to = &r->results[direction];
    size_t bytes[2];
    void *in = NULL, *out = NULL;
    ok_here(weft_plan_bytes(r->plan, direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT, bytes));
    ok_here(
        weft_plan_bytes(r->plan, direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT, bytes + 1));
    const size_t most = bytes[0] > bytes[1] ? bytes[0] : bytes[1];
    if (c->in_place) bytes[0] = bytes[1] = most;
    char *given = malloc(most), *got = malloc(most);
    memset(given, 0xA5, most);
    memset(got, 0xA5, most);
    pack(from, c->precision, given);
    ok_here(weft_buffer_create(r->plan, bytes[0], &in));
    ok_here(weft_buffer_upload(r->plan, in, given, bytes[0]));
    if (!c->in_place) {
        ok_here(weft_buffer_create(r->plan, bytes[1], &out));
        ok_here(weft_buffer_upload(r->plan, out, got, bytes[1]));
    }
    if (c->keeps && direction == WEFT_CONVOLVE)
        keep(r, in, c->in_place ? in : out);
    else
        ok_here(weft_execute(r->plan, direction, in, c->in_place ? in : out));
    ok_here(weft_buffer_download(r->plan, got, c->in_place ? in : out, bytes[1]));
    const double error = error_of(to, c->precision, got);
    if (!(error <= tolerance_of(c, direction)))
        fail_case(c,
                  direction == WEFT_FORWARD   ? "forward error"
                  : direction == WEFT_INVERSE ? "inverse error"
                                              : "convolution error",
                  error);
    if (!c->in_place) {
        ok_here(weft_buffer_download(r->plan, got, in, bytes[0]));
        assert_memory_equal(got, given, bytes[0]);
    }
    weft_buffer_destroy(r->plan, &in);
    weft_buffer_destroy(r->plan, &out);
    free(given);
    free(got);
}

static const char *explained(const run *r) {
    static char text[1 << 16];
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    ok_here(weft_plan_explain(r->plan, stream, WEFT_TEXT));
    fclose(stream);
    return text;
}

static void expect_words(const run *r, const char *text, const char *words, bool there) {
    if ((strstr(text, words) != NULL) != there)
        fail_case(r->c, there ? words : text, there ? 0 : (double)strlen(words));
}

static void check_case(const test_case *c) {
    run r;
    begin(&r, c);
    expect_words(&r, explained(&r), "pointwise", !engine->takes_operators);
    check(&r, WEFT_FORWARD);
    check(&r, WEFT_INVERSE);
    end(&r);
}

/* ---- the tests ---- */

/* Each letter alone at load and at store, which belong to different directions, and alone in the
 * spectrum. */
static void each_kind_alone_at_each_place(void **state) {
    (void)state;
    static const char letters[] = "SWHTCFAB";
    for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++)
        for (int i = 0; letters[i]; i++) {
            const char letter[2] = {letters[i]};
            test_case c = {.rank = 2,
                           .n = {6, 20},
                           .kind = (weft_kind)kind,
                           .precision = kind == WEFT_C2C ? WEFT_DOUBLE : WEFT_SINGLE,
                           .batch = 3,
                           .letters = {"", letter, ""}};
            check_case(&c);
            c.letters[0] = c.letters[2] = letter;
            c.letters[1] = "";
            if (kind == WEFT_C2C || (letters[i] != 'C' && letters[i] != 'B')) check_case(&c);
        }
}

static void several_at_once_along_every_way_through_the_kernels(void **state) {
    (void)state;
    static const test_case cases[] = {
        /* convolutions within a kernel: complex, real, pairs of reals */
        {1, {127}, C2C, DOUBLE, 5, BACKWARD, true, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {1, {127}, R2C, SINGLE, 5, ORTHO, false, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {1, {254}, R2C, DOUBLE, 5, NONE, true, {"FH", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        /* real lines of odd length, strided lines, batches */
        {2,
         {6, 45},
         R2C,
         DOUBLE,
         3,
         FORWARD,
         false,
         {"WF", "FC", "FT"},
         FORWARD_AND_INVERSE,
         false},
        {3, {8, 6, 8}, C2C, SINGLE, 2, NONE, true, {"CF", "SFT", "WF"}, FORWARD_AND_INVERSE, false},
        {3,
         {1, 12, 1},
         C2C,
         DOUBLE,
         1,
         NONE,
         false,
         {"FT", "CF", "TF"},
         FORWARD_AND_INVERSE,
         false},
        /* several kernels: a batch in parts, pairs, odd real lines, strided lines, convolutions */
        {1, {8192}, C2C, DOUBLE, 200, NONE, true, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {1, {16380}, R2C, SINGLE, 2, NONE, false, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {1, {9009}, R2C, DOUBLE, 2, NONE, true, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {2, {8190, 3}, C2C, SINGLE, 1, NONE, false, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {1, {10007}, C2C, SINGLE, 2, NONE, true, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        {1, {10007}, R2C, SINGLE, 2, NONE, false, {"FT", "CF", "TF"}, FORWARD_AND_INVERSE, false},
        /* arrays */
        {2,
         {6, 45},
         R2C,
         DOUBLE,
         3,
         FORWARD,
         false,
         {"WA", "BC", "AT"},
         FORWARD_AND_INVERSE,
         false},
        {3, {8, 6, 8}, C2C, SINGLE, 2, NONE, true, {"CB", "SFA", "WB"}, FORWARD_AND_INVERSE, false},
        {1, {8192}, C2C, DOUBLE, 200, NONE, true, {"AT", "CB", "B"}, FORWARD_AND_INVERSE, false},
        {1, {16380}, R2C, SINGLE, 2, NONE, false, {"A", "B", "A"}, FORWARD_AND_INVERSE, false},
        {1, {10007}, R2C, SINGLE, 2, NONE, false, {"AT", "BF", "A"}, FORWARD_AND_INVERSE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
}

static int count_of(const char *text, const char *words) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, words)); at++) count++;
    return count;
}

/* Checks the explanation of the convolution's schedule, which is the last one. */
static void expect_round_trip(const run *r) {
    const char *convolution = strstr(explained(r), "  convolve, ");
    const int turns = r->c->convolving == IN_ONE_STEP;
    assert_non_null(convolution);
    if (engine->takes_operators) {
        expect_words(r, convolution, "pointwise", false);
        expect_words(r, convolution, "; loading:", true);
        expect_words(r, convolution, "; storing:", true);
        expect_words(r, convolution, "; between:", turns);
        assert_int_equal(count_of(convolution, " and back"), turns);
        if (turns) assert_int_equal(count_of(convolution, " moved, "), 1);
    } else {
        expect_words(r, convolution, " and back", false);
        assert_int_equal(count_of(convolution, "pointwise"), 3);
    }
}

static void a_convolution_is_one_round_trip_where_the_length_allows(void **state) {
    (void)state;
    static const test_case cases[] = {
        {1, {12}, C2C, SINGLE, 5, NONE, true, {"FT", "CF", "TF"}, IN_ONE_STEP, true},
        {2, {10, 6}, C2C, DOUBLE, 2, ORTHO, false, {"F", "F", "F"}, IN_ONE_STEP, false},
        {2, {8, 45}, R2C, DOUBLE, 2, BACKWARD, true, {"T", "CF", "W"}, IN_ONE_STEP, true},
        {3, {8, 6, 20}, R2C, SINGLE, 1, NONE, false, {"F", "T", "F"}, IN_ONE_STEP, true},
        {2, {10, 6}, C2C, DOUBLE, 2, ORTHO, false, {"A", "B", "A"}, IN_ONE_STEP, true},
        {3, {8, 6, 20}, R2C, SINGLE, 1, NONE, false, {"A", "TBF", "A"}, IN_ONE_STEP, true},
        {2, {37, 6}, R2C, SINGLE, 2, FORWARD, false, {"F", "C", "F"}, IN_STEPS, false},
        {1, {20}, R2C, SINGLE, 2, BACKWARD, true, {"F", "C", "F"}, IN_STEPS, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run r;
        begin(&r, &cases[i]);
        expect_round_trip(&r);
        check(&r, WEFT_CONVOLVE);
        end(&r);
    }
}

/* ---- what is refused ---- */

static weft_status plan_with(const weft_operator *list, int count, int place) {
    weft_problem p = {.rank = 1, .n = {8}};
    const weft_options options = {.device = tested_id(), .engine = engine->id};
    weft_plan plan = NULL;
    *operators_of(&p, place) = (weft_operators){list, count};
    const weft_status status = weft_plan_create(ctx, &p, &options, &plan);
    if (status != WEFT_SUCCESS) assert_null(plan);
    weft_plan_destroy(&plan);
    return status;
}

static void expect_error(const char *words) {
    if (!strstr(weft_last_error(ctx), words))
        fail_msg("no \"%s\" in: %s", words, weft_last_error(ctx));
}

static void a_snippet_that_does_not_compile_is_quoted_by_its_line(void **state) {
    (void)state;
    static const char *const names[] = {"problem.load, snippet 2", "problem.spectral, snippet 2",
                                        "problem.store, snippet 2"};
    for (int place = 0; place < PLACES; place++) {
        const weft_operator list[] = {
            {.kind = WEFT_OPERATOR_FUNCTION, .snippet = "(void)batch;"},
            {.kind = WEFT_OPERATOR_SCALE, .factor = 2},
            {.kind = WEFT_OPERATOR_FUNCTION,
             .snippet = "const real part = 1;\n\n(void)part; (void)unheard_of;\n"}};
        assert_int_equal(plan_with(list, 3, place), WEFT_ERROR_DEVICE);
        expect_error(names[place]);
        expect_error("unheard_of");
        char line[2][64]; /* as OpenCL's compilers and NVRTC write it */
        snprintf(line[0], sizeof *line, "%s:3", names[place]);
        snprintf(line[1], sizeof *line, "%s(3)", names[place]);
        if (!strstr(weft_last_error(ctx), line[0])) expect_error(line[1]);
    }
}

static void a_function_of_the_host_alone_is_refused(void **state) {
    (void)state;
    const weft_operator list[] = {{.kind = WEFT_OPERATOR_SCALE, .factor = 2},
                                  {.kind = WEFT_OPERATOR_FUNCTION, .function = multiply_by_index}};
    for (int place = 0; place < PLACES; place++) {
        assert_int_equal(plan_with(list, 2, place), WEFT_ERROR_UNSUPPORTED);
        expect_error("give its snippet too");
        expect_error(weft_device_name(tested_id()));
    }
}

static void too_many_tables_are_refused(void **state) {
    (void)state;
    const double x[8] = {1};
    weft_operator list[WEFT_MAX_OPERATORS];
    for (int i = 0; i < WEFT_MAX_OPERATORS; i += 2) { /* one table, and two indices */
        list[i] = (weft_operator){.kind = WEFT_OPERATOR_TABLE, .table = {x}};
        list[i + 1] = (weft_operator){.kind = WEFT_OPERATOR_FUNCTION, .snippet = ";"};
    }
    for (int place = 0; place < PLACES; place++) {
        assert_int_equal(plan_with(list, WEFT_MAX_OPERATORS, place), WEFT_ERROR_UNSUPPORTED);
        expect_error("too many operators for a device");
    }
}

static void several_arrays_of_a_list_are_refused(void **state) {
    (void)state;
    const weft_operator list[] = {{.kind = WEFT_OPERATOR_ARRAY, .array = 1},
                                  {.kind = WEFT_OPERATOR_ARRAY, .array = 2}};
    for (int place = 0; place < PLACES; place++) {
        assert_int_equal(plan_with(list, 2, place), WEFT_ERROR_UNSUPPORTED);
        expect_error("several operators with an array");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_alone_at_each_place),
        cmocka_unit_test(several_at_once_along_every_way_through_the_kernels),
        cmocka_unit_test(a_convolution_is_one_round_trip_where_the_length_allows),
        cmocka_unit_test(a_snippet_that_does_not_compile_is_quoted_by_its_line),
        cmocka_unit_test(a_function_of_the_host_alone_is_refused),
        cmocka_unit_test(too_many_tables_are_refused),
        cmocka_unit_test(several_arrays_of_a_list_are_refused),
    };
    const char *name = getenv("WEFT_TEST_ENGINE");
    (void)tested_ops(); /* skipped where there is none */
    engine =
        weft_engine_find(name && strcmp(name, "cufft") == 0 ? WEFT_ENGINE_CUFFT : WEFT_ENGINE_JIT);
    if (!engine) return 1;
    seed = random_state = (uint64_t)time(NULL);
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&ctx);
    return failed;
}
