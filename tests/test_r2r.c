/*
 * Real-to-real transforms against their definitions, summed in long double: every type, many
 * lengths (test_engine_lengths.c has all of them), mixed over the axes, both precisions and
 * directions, in and out of place, on every engine that has them; their inverses and norms; what is
 * refused. Where WEFT_TEST_DEVICE names another device than the host, some of all that on it, since
 * each case compiles kernels; more with WEFT_TEST_GPU, all with WEFT_TEST_CASES=all.
 */
#include "one_context.h"
#include "promised_device.h"
#include "random_numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exact_r2r.h"

#ifdef __SANITIZE_ADDRESS__ /* which takes ten times as long */
enum { EVERY = 8 };
#else
enum { EVERY = 1 };
#endif
enum { ENGINES = 5 };
static const weft_engine engines[ENGINES] = {WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW,
                                             WEFT_ENGINE_REFERENCE, WEFT_ENGINE_JIT,
                                             WEFT_ENGINE_OPENMP};
static weft_device device;
static weft_options on_device; /* computes there with the default engine, arrays on the host */

/* The jit engine is that of devices with kernels, the others are those of OpenMP and the host. */
static bool is_here(weft_engine engine) {
    return (engine == WEFT_ENGINE_JIT) == device_compiles(device) &&
           (engine == WEFT_ENGINE_OPENMP) == (device == WEFT_OPENMP) &&
           weft_engine_probe(engine, NULL) == WEFT_SUCCESS;
}

static bool all_cases(void) {
    const char *asked = getenv("WEFT_TEST_CASES");
    return device == WEFT_HOST || (asked && strcmp(asked, "all") == 0);
}

/* Of many cases a device gets every `few`th, a GPU every `more`th. */
static int every(int few, int more) {
    return all_cases() ? EVERY : getenv("WEFT_TEST_GPU") ? more : few;
}

static int64_t elements_of(const weft_problem *p) {
    int64_t count = p->batch > 0 ? p->batch : 1;
    for (int a = 0; a < p->rank; a++) count *= p->n[a];
    return count;
}

/* An array of random numbers, and what a transform of it is by definition. */
typedef struct sample {
    void *in, *out;
    long double *exact;
    int64_t elements;
    size_t bytes;
} sample;

static sample make_sample(const weft_problem *p, weft_direction direction) {
    const size_t number = p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    sample s = {.elements = elements_of(p)};
    s.bytes = (size_t)s.elements * number;
    s.in = malloc(s.bytes);
    s.out = malloc(s.bytes);
    s.exact = malloc((size_t)s.elements * sizeof *s.exact);
    for (int64_t i = 0; i < s.elements; i++) {
        r2r_set(s.in, i, p->precision, random_number());
        s.exact[i] = (long double)r2r_get(s.in, i, p->precision);
    }
    r2r_define(p, direction, s.exact);
    return s;
}

static void free_sample(sample *s) {
    free(s->in);
    free(s->out);
    free(s->exact);
}

static double error_of(const sample *s, const void *result, weft_precision precision) {
    long double difference = 0, size = 0;
    for (int64_t i = 0; i < s->elements; i++) {
        const long double d = (long double)r2r_get(result, i, precision) - s->exact[i];
        difference += d * d;
        size += s->exact[i] * s->exact[i];
    }
    return size > 0 ? (double)sqrtl(difference / size) : (double)sqrtl(difference);
}

static void print_case(const weft_problem *p, const weft_options *o, char *text, size_t room) {
    int at = snprintf(text, room, "%s %s", weft_engine_name(o->engine),
                      weft_precision_name(p->precision));
    for (int a = 0; a < p->rank; a++)
        at += snprintf(text + at, room - (size_t)at, " %s[%lld]", weft_axis_name(p->axis[a]),
                       (long long)p->n[a]);
    snprintf(text + at, room - (size_t)at, " batch %lld threads %d", (long long)p->batch,
             o->threads);
}

static void check_result(const sample *s, const void *result, const weft_problem *p,
                         const weft_options *o, const char *what) {
    const double error = error_of(s, result, p->precision),
                 allowed = r2r_allowed_error(p->precision, p->rank, p->axis, p->n);
    char text[512];
    print_case(p, o, text, sizeof text);
    if (!(error <= allowed)) fail_msg("%s, %s: error %.3g > %.3g", text, what, error, allowed);
}

/* Out of place and in place. */
static void check_direction(const weft_problem *p, const weft_options *o, weft_direction direction,
                            const sample *s) {
    const bool forward = direction == WEFT_FORWARD;
    weft_plan plan = NULL;
    void *in = malloc(s->bytes);
    if (weft_plan_create(ctx, p, o, &plan) != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
    memcpy(in, s->in, s->bytes);
    memset(s->out, 0x5A, s->bytes);
    assert_int_equal(weft_execute(plan, direction, in, s->out), WEFT_SUCCESS);
    assert_memory_equal(in, s->in, s->bytes);
    check_result(s, s->out, p, o, forward ? "forward" : "inverse");
    assert_int_equal(weft_execute(plan, direction, in, in), WEFT_SUCCESS);
    check_result(s, in, p, o, forward ? "forward in place" : "inverse in place");
    weft_plan_destroy(&plan);
    free(in);
}

/* Both directions, by every engine that is here. */
static void check_problem(const weft_problem *p, int threads) {
    for (int d = WEFT_FORWARD; d <= WEFT_INVERSE; d++) {
        sample s = make_sample(p, (weft_direction)d);
        for (int e = 0; e < ENGINES; e++) {
            weft_options o = on_device;
            o.engine = engines[e];
            o.threads = threads;
            if (is_here(engines[e])) check_direction(p, &o, (weft_direction)d, &s);
        }
        free_sample(&s);
    }
}

static bool exists(weft_axis type, int64_t n) {
    return type != WEFT_DCT1 || n > 1;
}

static void every_type_and_length(void **state) {
    (void)state;
    static const int64_t more[] = {65,  67,  96,  97,   100,  101,  127,  128,  131, 176,
                                   243, 251, 256, 257,  262,  317,  500,  509,  512, 521,
                                   720, 809, 961, 1000, 1009, 1022, 1024, 2048, 2310};
    const int lengths = 64 + (int)(sizeof more / sizeof *more);
    if (!all_cases()) skip();
    for (int i = 0; i < lengths; i += EVERY)
        for (weft_axis type = WEFT_DCT1; type <= WEFT_DST4; type++)
            for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++) {
                const int64_t n = i < 64 ? i + 1 : more[i - 64];
                const int most = n <= 300 ? 21 : 3;
                const weft_problem p = {.rank = 1,
                                        .n = {n},
                                        .kind = WEFT_R2R,
                                        .precision = (weft_precision)precision,
                                        .batch = i % 3 == 0 ? 1 : 1 + (i * 7 + (int)type) % most,
                                        .axis = {type}};
                if (n > 64 && precision != i % 2) continue; /* one precision each */
                if (exists(type, n)) check_problem(&p, 1);
            }
}

/* Even and odd lengths, of one and several stages, with a prime factor above 13; each type gets one
 * of them, on a GPU all. */
static void each_type_on_the_device(void **state) {
    (void)state;
    static const int64_t lengths[] = {96, 15, 34, 17, 16, 135, 2, 200};
    if (device == WEFT_HOST) skip();
    for (int i = 0; i < 64; i++) {
        const int type = i / 8;
        if ((i - type) % every(8, 1) != 0) continue;
        const weft_problem p = {.rank = 1,
                                .n = {lengths[i % 8]},
                                .kind = WEFT_R2R,
                                .precision = i % 2 == 0 ? WEFT_DOUBLE : WEFT_SINGLE,
                                .batch = 1 + i % 3 * 5,
                                .axis = {(weft_axis)(WEFT_DCT1 + type)}};
        check_problem(&p, 1);
    }
}

/* Lines of several kernels: smooth lengths, whose spectra are taken in pairs or not, and others. */
static void long_lines_on_the_device(void **state) {
    (void)state;
    static const struct {
        weft_axis type;
        int64_t n;
    } cases[] = {{WEFT_DST2, 10000}, {WEFT_DCT4, 8207},  {WEFT_DCT1, 8193}, {WEFT_DCT1, 8200},
                 {WEFT_DCT2, 10125}, {WEFT_DCT2, 10007}, {WEFT_DCT4, 9000}, {WEFT_DST1, 8191},
                 {WEFT_DST4, 10125}, {WEFT_DST4, 10000}, {WEFT_DST3, 9998}, {WEFT_DST1, 10007}};
    const int count = (int)(sizeof cases / sizeof *cases);
    if (device == WEFT_HOST) skip();
    for (int i = 0; i < (every(2, 1) == 2 ? 2 : count); i++) {
        const weft_problem p = {.rank = 1,
                                .n = {cases[i].n},
                                .kind = WEFT_R2R,
                                .precision = i % 3 == 0 ? WEFT_DOUBLE : WEFT_SINGLE,
                                .batch = 2,
                                .axis = {cases[i].type}};
        check_problem(&p, 1);
    }
}

/* One by one. */
static void long_lines(void **state) {
    (void)state;
    static const int64_t lengths[] = {4099, 5000};
    if (device != WEFT_HOST) skip();
    for (int i = 0; i < 2 && EVERY == 1; i++)
        for (weft_axis type = WEFT_DCT1; type <= WEFT_DST4; type++) {
            const weft_problem p = {.rank = 1,
                                    .n = {lengths[i]},
                                    .kind = WEFT_R2R,
                                    .precision = i % 2 == 0 ? WEFT_DOUBLE : WEFT_SINGLE,
                                    .axis = {type}};
            check_problem(&p, 1);
        }
}

static int64_t between(int64_t lo, int64_t hi) {
    return lo + (int64_t)((random_number() + 1) / 2 * (double)(hi - lo + 1));
}

static void types_mixed_over_axes(void **state) {
    (void)state;
    for (int i = 0; i < 120; i += every(40, 4)) {
        weft_problem p = {.rank = (int)between(2, 4),
                          .kind = WEFT_R2R,
                          .precision = i % 2 == 0 ? WEFT_DOUBLE : WEFT_SINGLE,
                          .batch = between(1, 3)};
        bool any = false;
        for (int a = 0; a < p.rank; a++) {
            p.axis[a] = (weft_axis)between(WEFT_AXIS_NONE, WEFT_DST4);
            p.n[a] = between(p.axis[a] == WEFT_DCT1 ? 2 : 1, p.rank == 2 ? 40 : 11);
            any = any || p.axis[a] != WEFT_AXIS_NONE;
        }
        if (any) check_problem(&p, i % 5 == 0 ? 2 : 1);
    }
}

static double logical_length(const weft_problem *p) {
    double points = 1;
    for (int a = 0; a < p->rank; a++)
        points *= p->axis[a] == WEFT_AXIS_NONE ? 1
                  : p->axis[a] == WEFT_DCT1    ? 2 * (double)(p->n[a] - 1)
                  : p->axis[a] == WEFT_DST1    ? 2 * (double)(p->n[a] + 1)
                                               : 2 * (double)p->n[a];
    return points;
}

static void inverses_give_back_what_was_there(void **state) {
    (void)state;
    for (int norm = WEFT_NORM_NONE; norm <= WEFT_NORM_FORWARD; norm++)
        for (weft_axis type = WEFT_DCT1; type <= WEFT_DST4; type++) {
            if ((norm + (int)type * 4) % every(15, 1) != 0) continue;
            const weft_problem p = {.rank = 3,
                                    .n = {6, 15, 16},
                                    .kind = WEFT_R2R,
                                    .norm = (weft_norm)norm,
                                    .axis = {type, WEFT_AXIS_NONE, type}};
            const double n = logical_length(&p);
            const double forward = norm == WEFT_NORM_ORTHO     ? 1 / sqrt(n)
                                   : norm == WEFT_NORM_FORWARD ? 1 / n
                                                               : 1;
            sample s = make_sample(&p, WEFT_FORWARD);
            weft_plan plan = NULL;
            assert_int_equal(weft_plan_create(ctx, &p, &on_device, &plan), WEFT_SUCCESS);
            assert_int_equal(weft_execute(plan, WEFT_FORWARD, s.in, s.out), WEFT_SUCCESS);
            for (int64_t i = 0; i < s.elements; i++) s.exact[i] *= (long double)forward;
            assert_true(error_of(&s, s.out, WEFT_DOUBLE) < 1e-15);
            assert_int_equal(weft_execute(plan, WEFT_INVERSE, s.out, s.out), WEFT_SUCCESS);
            for (int64_t i = 0; i < s.elements; i++)
                s.exact[i] = (long double)r2r_get(s.in, i, WEFT_DOUBLE) *
                             (norm == WEFT_NORM_NONE ? (long double)n : 1.0L);
            assert_true(error_of(&s, s.out, WEFT_DOUBLE) < 1e-15);
            weft_plan_destroy(&plan);
            free_sample(&s);
        }
}

/* The parts of complex numbers are real arrays, of as many axes as there are, with a batch too. */
static void complex_data_of_all_axes(void **state) {
    enum { BATCH = 3, NUMBERS = BATCH * 2 * 3 * 2 * 3 * 2 * 2 * 3 * 2 };
    static double in[NUMBERS][2], out[NUMBERS][2], part[NUMBERS], expected[NUMBERS];
    weft_problem p = {.rank = WEFT_MAX_RANK, .n = {2, 3, 2, 3, 2, 2, 3, 2}, .batch = BATCH};
    weft_options o = on_device;
    weft_plan pairs = NULL, reals = NULL;
    (void)state;
    o.placement = WEFT_OUT_OF_PLACE;
    for (int a = 0; a < p.rank; a++) p.axis[a] = (weft_axis)((int)WEFT_DCT1 + a);
    for (int i = 0; i < NUMBERS; i++)
        for (int k = 0; k < 2; k++) in[i][k] = random_number();
    assert_int_equal(weft_plan_create(ctx, &p, &o, &pairs), WEFT_SUCCESS);
    p.kind = WEFT_R2R;
    assert_int_equal(weft_plan_create(ctx, &p, &o, &reals), WEFT_SUCCESS);
    assert_int_equal(weft_execute(pairs, WEFT_FORWARD, in, out), WEFT_SUCCESS);
    for (int k = 0; k < 2; k++) {
        double largest = 0;
        for (int i = 0; i < NUMBERS; i++) part[i] = in[i][k];
        assert_int_equal(weft_execute(reals, WEFT_FORWARD, part, expected), WEFT_SUCCESS);
        for (int i = 0; i < NUMBERS; i++) largest = fmax(largest, fabs(expected[i]));
        for (int i = 0; i < NUMBERS; i++)
            assert_true(fabs(out[i][k] - expected[i]) <= 1e-14 * largest);
    }
    weft_plan_destroy(&pairs);
    weft_plan_destroy(&reals);
}

/* A NaN in one line of a batch stays there, whether lines or their points are neighbours. */
static void lines_do_not_touch_each_other(void **state) {
    const weft_options o = {.engine = WEFT_ENGINE_NATIVE};
    (void)state;
    if (device != WEFT_HOST) skip();
    for (int axis = 0; axis < 2; axis++)
        for (weft_axis type = WEFT_DCT1; type <= WEFT_DST4; type++)
            for (int64_t n = 15; n <= 16; n++) {
                weft_problem p = {.rank = 2, .n = {n, n}, .kind = WEFT_R2R};
                p.axis[axis] = type;
                p.axis[1 - axis] = WEFT_AXIS_NONE;
                sample s = make_sample(&p, WEFT_FORWARD);
                weft_plan plan = NULL;
                double *in = s.in, *out = s.out;
                in[5 * n + 5] = NAN;
                assert_int_equal(weft_plan_create(ctx, &p, &o, &plan), WEFT_SUCCESS);
                assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++)
                        assert_true((bool)isnan(out[i * n + j]) == ((axis == 0 ? j : i) == 5));
                weft_plan_destroy(&plan);
                free_sample(&s);
            }
}

/* A plan that keeps the spectrum wants memory where it computes. */
static void convolve_and_keep(const weft_problem *p, const sample *s, double *kept) {
    const weft_options o = {.device = device, .convolve = 1, .keep_spectrum = 1};
    weft_plan plan = NULL;
    void *buffer[3] = {NULL, NULL, NULL};
    assert_int_equal(weft_plan_create(ctx, p, &o, &plan), WEFT_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(weft_buffer_create(plan, s->bytes, &buffer[i]), WEFT_SUCCESS);
    assert_int_equal(weft_buffer_upload(plan, buffer[0], s->in, s->bytes), WEFT_SUCCESS);
    assert_int_equal(weft_convolve(plan, buffer[0], buffer[1], buffer[2]), WEFT_SUCCESS);
    assert_int_equal(weft_buffer_download(plan, kept, buffer[1], s->bytes), WEFT_SUCCESS);
    assert_int_equal(weft_buffer_download(plan, s->out, buffer[2], s->bytes), WEFT_SUCCESS);
    for (int i = 0; i < 3; i++) weft_buffer_destroy(plan, &buffer[i]);
    weft_plan_destroy(&plan);
}

/* Convolution with the operator 2 is the inverse of twice the spectrum, which may be kept. */
static void operators_and_convolutions_work_on_real_spectra(void **state) {
    (void)state;
    const weft_operator twice = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    const weft_problem p = {.rank = 2,
                            .n = {9, 10},
                            .kind = WEFT_R2R,
                            .norm = WEFT_NORM_BACKWARD,
                            .spectral = {&twice, 1},
                            .axis = {WEFT_DST1, WEFT_DCT2}};
    double kept[90];
    sample s = make_sample(&p, WEFT_FORWARD);
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &p, &on_device, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, s.in, s.out), WEFT_SUCCESS);
    for (int64_t i = 0; i < s.elements; i++) s.exact[i] *= 2;
    assert_true(error_of(&s, s.out, WEFT_DOUBLE) < 1e-15);
    weft_plan_destroy(&plan);
    convolve_and_keep(&p, &s, kept);
    assert_true(error_of(&s, kept, WEFT_DOUBLE) < 1e-15);
    for (int64_t i = 0; i < s.elements; i++)
        s.exact[i] = 2 * (long double)r2r_get(s.in, i, WEFT_DOUBLE);
    assert_true(error_of(&s, s.out, WEFT_DOUBLE) < 1e-15);
    free_sample(&s);
}

/* Bytes that are converted and padded, an operator on the spectrum, and a convolution, where one
 * axis is Fourier transformed and halved, one is a cosine transform and one is left as it is. */
static void operators_and_conversions_go_with_mixed_axes(void **state) {
    (void)state;
    enum { N0 = 8, N1 = 6, N2 = 5, KEPT = 5 };
    const weft_operator twice = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    weft_problem plain = {.rank = 3,
                          .n = {N0, N1, N2},
                          .kind = WEFT_R2C,
                          .norm = WEFT_NORM_BACKWARD,
                          .axis = {WEFT_DCT2, WEFT_AXIS_OF_KIND, WEFT_AXIS_NONE}};
    weft_problem bytes = plain;
    bytes.load_storage = WEFT_STORAGE_U8;
    bytes.pad_from[0] = KEPT;
    bytes.spectral = (weft_operators){&twice, 1};
    weft_options o = on_device;
    o.convolve = 1;
    weft_plan plan = NULL, converting = NULL;
    double real[N0 * N1 * N2] = {0}, spectrum[2 * N0 * (N1 / 2 + 1) * N2];
    double other[2 * N0 * (N1 / 2 + 1) * N2];
    double back[2 * N0 * (N1 / 2 + 1) * N2]; /* the larger of both spaces */
    unsigned char given[sizeof back];        /* of each storage of its space, so the largest */
    for (int i = 0; i < KEPT * N1 * N2; i++) real[i] = given[i] = (unsigned char)(i * 37);
    assert_int_equal(weft_plan_create(ctx, &plain, &on_device, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, real, spectrum), WEFT_SUCCESS);
    assert_int_equal(weft_plan_create(ctx, &bytes, &o, &converting), WEFT_SUCCESS);
    assert_int_equal(weft_execute(converting, WEFT_FORWARD, given, other), WEFT_SUCCESS);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_true(fabs(other[i] - 2 * spectrum[i]) < 1e-11);
    assert_int_equal(weft_execute(converting, WEFT_CONVOLVE, given, back), WEFT_SUCCESS);
    for (int i = 0; i < KEPT * N1 * N2; i++) assert_true(fabs(back[i] - 2 * real[i]) < 1e-11);
    weft_plan_destroy(&converting);
    weft_plan_destroy(&plan);
}

static void bad_input_gets_one_sentence(void **state) {
    (void)state;
    static const weft_operator shift = {.kind = WEFT_OPERATOR_SHIFT, .shift = {4}};
    const struct {
        const char *says;
        weft_status status;
        weft_problem problem;
        weft_options options;
    } cases[] = {
        {"problem.axis[1] is 0",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {8, 8}, .kind = WEFT_R2R, .axis = {WEFT_DCT2}},
         {0}},
        {"problem.axis[0] is 11",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {8}, .kind = WEFT_R2R, .axis = {(weft_axis)11}},
         {0}},
        {"dct1, which has no line of 1 point",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {1}, .kind = WEFT_R2R, .axis = {WEFT_DCT1}},
         {0}},
        {"along every axis",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {8, 8}, .kind = WEFT_R2R, .axis = {WEFT_AXIS_NONE, WEFT_AXIS_NONE}},
         {0}},
        {"problem.kind is r2c",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {8, 8}, .kind = WEFT_R2C, .axis = {WEFT_DCT2, WEFT_AXIS_NONE}},
         {0}},
        {"along every axis",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {8}, .axis = {WEFT_AXIS_NONE}},
         {0}},
        {"dct1, which has no line of 1 point",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {8, 1}, .axis = {WEFT_AXIS_OF_KIND, WEFT_DCT1}},
         {0}},
        {"shift along axis 0, where problem.axis is dct2",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 2, .n = {8, 8}, .load = {&shift, 1}, .axis = {WEFT_DCT2}},
         {0}},
        {"precision half",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 1, .n = {8}, .kind = WEFT_R2R, .precision = WEFT_HALF, .axis = {WEFT_DCT2}},
         {0}},
        {"spectral_storage",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 1,
          .n = {8},
          .kind = WEFT_R2R,
          .spectral_storage = WEFT_STORAGE_DECIBEL_U8,
          .decibels = {0, 1},
          .axis = {WEFT_DCT2}},
         {0}},
        {"no shift theorem",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 1, .n = {8}, .kind = WEFT_R2R, .load = {&shift, 1}, .axis = {WEFT_DCT2}},
         {0}},
        {"identity engine",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 2, .n = {8, 8}, .kind = WEFT_R2C, .axis = {WEFT_DCT2}},
         {.engine = WEFT_ENGINE_IDENTITY}},
    };
    if (device != WEFT_HOST) skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft_plan plan = NULL;
        const weft_status status =
            weft_plan_create(ctx, &cases[i].problem, &cases[i].options, &plan);
        if (status != cases[i].status || !strstr(weft_last_error(ctx), cases[i].says))
            fail_msg("case %zu (%s): %s: %s", i, cases[i].says, weft_status_name(status),
                     weft_last_error(ctx));
        assert_null(plan);
    }
}

int main(void) {
    if (!find_device(&device)) return status_without(device);
    on_device.device = device;
    if (device != WEFT_HOST) on_device.location = WEFT_LOCATION_HOST;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_length),
        cmocka_unit_test(each_type_on_the_device),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(long_lines_on_the_device),
        cmocka_unit_test(types_mixed_over_axes),
        cmocka_unit_test(inverses_give_back_what_was_there),
        cmocka_unit_test(complex_data_of_all_axes),
        cmocka_unit_test(lines_do_not_touch_each_other),
        cmocka_unit_test(operators_and_convolutions_work_on_real_spectra),
        cmocka_unit_test(operators_and_conversions_go_with_mixed_axes),
        cmocka_unit_test(bad_input_gets_one_sentence),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
