/* WEFT_CONVOLVE on one process: the same as there and back by hand, known answers, what plans for
 * it tell and hold, and what is refused. */
#include "one_context.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 0x5A, POISON = 0xA5, LONGEST = 64 };

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

static weft_plan plan_of(const weft_problem *problem, weft_options options) {
    weft_plan plan = NULL;
    ok(weft_plan_create(ctx, problem, &options, &plan));
    return plan;
}

/* Of one array of real space, all members. */
static size_t numbers_of(const weft_problem *p) {
    size_t numbers = p->kind == WEFT_R2C ? 1 : 2;
    for (int a = 0; a < p->rank; a++) numbers *= (size_t)p->n[a];
    return numbers * (size_t)(p->batch > 0 ? p->batch : 1);
}

static double get(const weft_problem *p, const void *data, size_t i) {
    return p->precision == WEFT_SINGLE ? ((const float *)data)[i] : ((const double *)data)[i];
}

static void fill(const weft_problem *p, void *data) {
    for (size_t i = 0; i < numbers_of(p); i++) {
        const double number = (double)(i * 37 % 101) / 64 - 0.75;
        if (p->precision == WEFT_SINGLE)
            ((float *)data)[i] = (float)number;
        else
            ((double *)data)[i] = number;
    }
}

/* Memory of the caller for a plan, with a byte behind it that must stay. */
static char *buffer_of(size_t bytes) {
    char *buffer = malloc(bytes + 1);
    assert_non_null(buffer);
    memset(buffer, POISON, bytes);
    buffer[bytes] = GUARD;
    return buffer;
}

static void release(char *buffer, size_t bytes) {
    assert_int_equal(buffer[bytes], GUARD);
    free(buffer);
}

/* From one box of the input space to another, which the caller releases: *bytes. */
static char *convolved(const weft_problem *p, weft_options options, bool in_place, size_t *bytes) {
    options.convolve = 1;
    weft_plan plan = plan_of(p, options);
    ok(weft_plan_bytes(plan, WEFT_INPUT, bytes));
    const size_t number = p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    assert_true(*bytes >= numbers_of(p) * number);
    char *in = buffer_of(*bytes), *out = in_place ? in : buffer_of(*bytes), *given = malloc(*bytes);
    fill(p, in);
    memcpy(given, in, *bytes);
    ok(weft_execute(plan, WEFT_CONVOLVE, in, out));
    if (!in_place) {
        assert_memory_equal(in, given, *bytes);
        release(in, *bytes);
    }
    free(given);
    weft_plan_destroy(&plan);
    return out;
}

/* The same by two transforms of a plan that knows nothing of convolutions. */
static char *there_and_back(const weft_problem *p, weft_options options, size_t *bytes) {
    options.placement = WEFT_OUT_OF_PLACE;
    weft_plan plan = plan_of(p, options);
    size_t spectrum_bytes;
    ok(weft_plan_bytes(plan, WEFT_INPUT, bytes));
    ok(weft_plan_bytes(plan, WEFT_OUTPUT, &spectrum_bytes));
    char *array = buffer_of(*bytes), *spectrum = buffer_of(spectrum_bytes);
    fill(p, array);
    ok(weft_execute(plan, WEFT_FORWARD, array, spectrum));
    ok(weft_execute(plan, WEFT_INVERSE, spectrum, array));
    release(spectrum, spectrum_bytes);
    weft_plan_destroy(&plan);
    return array;
}

/* Adds a number that depends on the place, so that the order of the places counts. */
static void add_index(const weft_operator_run *r, void *argument) {
    (void)argument;
    for (int64_t k = 0; k < r->count * (1 + r->complex_elements); k++) {
        const int64_t at = r->index[r->axis] + k / (1 + r->complex_elements) + r->batch;
        if (r->precision == WEFT_SINGLE)
            ((float *)r->data)[k] += (float)(at % 7);
        else
            ((double *)r->data)[k] += (double)(at % 7);
    }
}

static const weft_problem problems[] = {
    {.rank = 1, .n = {60}, .kind = WEFT_C2C},
    {.rank = 1, .n = {45}, .kind = WEFT_R2C, .batch = 4, .norm = WEFT_NORM_BACKWARD},
    {.rank = 2, .n = {12, 34}, .kind = WEFT_R2C, .precision = WEFT_SINGLE},
    {.rank = 3, .n = {8, 9, 10}, .kind = WEFT_R2C, .batch = 2, .norm = WEFT_NORM_ORTHO},
    {.rank = 3, .n = {7, 6, 16}, .kind = WEFT_C2C, .norm = WEFT_NORM_FORWARD},
    {.rank = 3,
     .n = {64, 6, 10},
     .kind = WEFT_C2C,
     .batch = 3,
     .precision = WEFT_SINGLE,
     .norm = WEFT_NORM_BACKWARD},
    {.rank = 4, .n = {3, 4, 5, 6}, .kind = WEFT_R2C},
};

/* The largest difference of two arrays over their largest number. */
static double difference(const weft_problem *p, const void *one, const void *other) {
    double most = 0, largest = 0;
    for (size_t i = 0; i < numbers_of(p); i++) {
        most = fmax(most, fabs(get(p, one, i) - get(p, other, i)));
        largest = fmax(largest, fabs(get(p, other, i)));
    }
    return most / largest;
}

static void a_convolution_is_there_and_back_with_all_operators(void **state) {
    (void)state;
    double table[2 * LONGEST];
    for (int i = 0; i < 2 * LONGEST; i++) table[i] = 0.5 + (double)(i * 7 % 13) / 13;
    const weft_operator add = {.kind = WEFT_OPERATOR_FUNCTION, .function = add_index};
    const weft_operator window = {.kind = WEFT_OPERATOR_WINDOW,
                                  .window = {{.kind = WEFT_WINDOW_HAMMING}}};
    const weft_operator load[] = {add, window}, store[] = {window, add};
    const weft_operator spectral[] = {
        add, {.kind = WEFT_OPERATOR_TABLE, .table = {table}, .complex_factors = 1}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (int way = 0; way < 4; way++) { /* in place or not, as planned or as it comes */
            weft_problem p = problems[i];
            const bool in_place = way % 2;
            size_t bytes, expected_bytes;
            p.load = (weft_operators){load, 2};
            p.spectral = (weft_operators){spectral, 2};
            p.store = (weft_operators){store, 2};
            const weft_options options = {.placement = way < 2    ? WEFT_PLACEMENT_ANY
                                                       : in_place ? WEFT_IN_PLACE
                                                                  : WEFT_OUT_OF_PLACE};
            char *out = convolved(&p, options, in_place, &bytes);
            char *expected = there_and_back(&p, options, &expected_bytes);
            const double error = difference(&p, out, expected);
            if (!(error < (p.precision == WEFT_SINGLE ? 2e-6 : 4e-15)))
                fail_msg("problem %zu, way %d: %g", i, way, error);
            release(out, bytes);
            release(expected, expected_bytes);
        }
}

/* The spectrum of a delta that is shifted by shift[a] along each axis. */
static void make_shift(const weft_problem *p, const int64_t *shift, double (*table)[2 * LONGEST],
                       weft_operator *o) {
    const double two_pi = 6.28318530717958647692;
    *o = (weft_operator){.kind = WEFT_OPERATOR_TABLE, .complex_factors = 1};
    for (int a = 0; a < p->rank; a++) {
        for (int64_t k = 0; k < p->n[a]; k++) {
            const double angle = -two_pi * (double)(k * shift[a] % p->n[a]) / (double)p->n[a];
            table[a][2 * k] = cos(angle);
            table[a][2 * k + 1] = sin(angle);
        }
        o->table[a] = table[a];
    }
}

/* Element i of the array is where this one was, members of the batch apart. */
static size_t shifted_from(const weft_problem *p, const int64_t *shift, size_t i) {
    size_t from = 0, stride = 1;
    for (int a = p->rank - 1; a >= 0; a--) {
        const size_t n = (size_t)p->n[a];
        from += (i % n + n - (size_t)shift[a]) % n * stride;
        stride *= n;
        i /= n;
    }
    return from + i * stride;
}

static void a_convolution_with_a_shifted_delta_shifts_cyclically(void **state) {
    (void)state;
    static const int64_t shift[] = {2, 3, 1, 4};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        weft_problem p = problems[i];
        double table[4][2 * LONGEST];
        weft_operator delta;
        size_t bytes;
        make_shift(&p, shift, table, &delta);
        p.spectral = (weft_operators){&delta, 1};
        p.norm = (weft_norm)(1 + i % 3); /* whichever there and back is the identity with */
        char *out = convolved(&p, (weft_options){.threads = 2}, false, &bytes);
        char *in = buffer_of(bytes);
        fill(&p, in);
        const size_t width = p.kind == WEFT_R2C ? 1 : 2;
        const double allowed = p.precision == WEFT_SINGLE ? 2e-6 : 4e-15;
        for (size_t k = 0; k < numbers_of(&p); k++) {
            const size_t from = shifted_from(&p, shift, k / width) * width + k % width;
            if (!(fabs(get(&p, out, k) - get(&p, in, from)) < allowed))
                fail_msg("problem %zu, number %zu", i, k);
        }
        release(in, bytes);
        release(out, bytes);
    }
}

static int count_in_explanation(weft_plan plan, weft_format format, const char *words) {
    static char text[1 << 17];
    int count = 0;
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    ok(weft_plan_explain(plan, stream, format));
    fclose(stream);
    for (const char *at = text; (at = strstr(at, words)); at++) count++;
    return count;
}

/* The host's engines go the same way as a forward transform does. */
static void what_is_kept_is_what_the_forward_transform_stores(void **state) {
    (void)state;
    const weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    for (size_t i = 0; i < 2 * sizeof problems / sizeof *problems; i++) {
        weft_problem p = problems[i / 2];
        size_t bytes, spectrum_bytes;
        p.spectral = (weft_operators){&scale, (int)(i % 2)};
        weft_plan plan =
            plan_of(&p, (weft_options){.convolve = 1,
                                       .keep_spectrum = 1,
                                       .threads = 2,
                                       .placement = i % 3 ? WEFT_OUT_OF_PLACE : WEFT_IN_PLACE});
        ok(weft_plan_bytes(plan, WEFT_INPUT, &bytes));
        ok(weft_plan_bytes(plan, WEFT_OUTPUT, &spectrum_bytes));
        if (i % 3 == 0) bytes = spectrum_bytes = bytes > spectrum_bytes ? bytes : spectrum_bytes;
        char *in = buffer_of(bytes), *out = i % 3 ? buffer_of(bytes) : in;
        char *spectrum = buffer_of(spectrum_bytes), *expected = buffer_of(spectrum_bytes);
        char *forward = i % 3 ? in : expected;
        fill(&p, forward);
        ok(weft_execute(plan, WEFT_FORWARD, forward, expected));
        fill(&p, in);
        ok(weft_convolve(plan, in, spectrum, out));
        size_t numbers = numbers_of(&p) / (size_t)p.n[p.rank - 1] / (p.kind == WEFT_R2C ? 1 : 2);
        numbers *= 2 * (size_t)(p.kind == WEFT_R2C ? p.n[p.rank - 1] / 2 + 1 : p.n[p.rank - 1]);
        for (size_t k = 0; k < numbers; k++)
            if (get(&p, spectrum, k) != get(&p, expected, k))
                fail_msg("problem %zu, number %zu", i / 2, k);
        assert_int_equal(count_in_explanation(plan, WEFT_TEXT, " kept of "), 1);
        release(spectrum, spectrum_bytes);
        release(expected, spectrum_bytes);
        release(in, bytes);
        if (i % 3) release(out, bytes);
        weft_plan_destroy(&plan);
    }
}

static void explanations_and_memory_tell_of_convolutions(void **state) {
    (void)state;
    const weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    weft_problem p = problems[3];
    weft_memory before, after;
    weft_options made = {0};
    p.spectral = (weft_operators){&scale, 1};
    weft_plan plan = plan_of(&p, (weft_options){.placement = WEFT_OUT_OF_PLACE});
    ok(weft_plan_memory(plan, &before));
    assert_int_equal(count_in_explanation(plan, WEFT_TEXT, "  convolve, "), 0);
    weft_plan_destroy(&plan);
    plan = plan_of(&p, (weft_options){.placement = WEFT_OUT_OF_PLACE, .convolve = 1});
    ok(weft_plan_memory(plan, &after));
    ok(weft_plan_options(plan, &made));
    assert_int_equal(made.convolve, 1);
    assert_int_equal(count_in_explanation(plan, WEFT_TEXT, "  convolve, out of place"), 1);
    assert_int_equal(count_in_explanation(plan, WEFT_TEXT, " and back"), 1);
    assert_int_equal(count_in_explanation(plan, WEFT_TEXT, "pointwise"), 0);
    assert_int_equal(count_in_explanation(plan, WEFT_JSON, "\"direction\": \"convolve\""), 1);
    /* The spectrum lies somewhere: 8 x 9 x 6 complex numbers, twice. */
    assert_true(after.workspace >= before.workspace);
    assert_true(after.workspace >= sizeof(double) * 2 * 8 * 9 * 6 * 2);
    weft_plan_destroy(&plan);
    plan = plan_of(&p, (weft_options){.convolve = 1});
    assert_int_equal(count_in_explanation(plan, WEFT_TEXT, "  convolve, "), 2);
    weft_plan_destroy(&plan);
}

static void what_cannot_convolve_is_refused_in_one_sentence(void **state) {
    (void)state;
    weft_problem p = problems[0];
    weft_plan plan = plan_of(&p, (weft_options){0});
    double in[120] = {0}, out[120], spectrum[120];
    assert_int_equal(weft_execute(plan, WEFT_CONVOLVE, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "options.convolve = 1"));
    ok(weft_execute(plan, WEFT_FORWARD, in, out));
    weft_plan_destroy(&plan);
    static const int values[] = {2, -1};
    for (int i = 0; i < 2; i++) {
        const weft_options options = {.convolve = values[i]};
        assert_int_equal(weft_plan_create(ctx, &p, &options, &plan), WEFT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(weft_last_error(ctx), "options.convolve is"));
        assert_null(plan);
    }
    plan = plan_of(&p, (weft_options){.convolve = 1, .placement = WEFT_OUT_OF_PLACE});
    assert_int_equal(weft_execute(plan, (weft_direction)3, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "direction is 3"));
    assert_int_equal(weft_execute(plan, WEFT_CONVOLVE, in, in), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "WEFT_OUT_OF_PLACE"));
    assert_int_equal(weft_execute(plan, WEFT_CONVOLVE, NULL, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "in is NULL"));
    weft_plan_destroy(&plan);
    plan = plan_of(&p, (weft_options){.convolve = 1});
    assert_int_equal(weft_convolve(plan, in, spectrum, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "options.keep_spectrum = 1"));
    ok(weft_convolve(plan, in, NULL, out));
    weft_plan_destroy(&plan);
    plan = plan_of(&p, (weft_options){.convolve = 1, .keep_spectrum = 1});
    assert_int_equal(weft_execute(plan, WEFT_CONVOLVE, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "spectrum is NULL"));
    assert_int_equal(weft_convolve(plan, in, out, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "overlaps"));
    assert_int_equal(weft_convolve(plan, in, (char *)spectrum + 1, out),
                     WEFT_ERROR_INVALID_ARGUMENT);
    ok(weft_convolve(plan, in, spectrum, out));
    weft_plan_destroy(&plan);
    const weft_options alone = {.keep_spectrum = 1};
    assert_int_equal(weft_plan_create(ctx, &p, &alone, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "options.convolve = 1"));
    const weft_brick brick = {.box = {.n = {60}}};
    const weft_options keeps = {.convolve = 1, .keep_spectrum = 1};
    p.output = &brick;
    assert_int_equal(weft_plan_create(ctx, &p, &keeps, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "problem.output"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_is_there_and_back_with_all_operators),
        cmocka_unit_test(a_convolution_with_a_shifted_delta_shifts_cyclically),
        cmocka_unit_test(what_is_kept_is_what_the_forward_transform_stores),
        cmocka_unit_test(explanations_and_memory_tell_of_convolutions),
        cmocka_unit_test(what_cannot_convolve_is_refused_in_one_sentence),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
