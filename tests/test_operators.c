/* Pointwise operators on one process: each kind against its definition, their order, what is
 * refused, what is told. The identity engine shows them alone. */
#include "one_context.h"

#include <complex.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 6, NY = 5, NZ = 8, POINTS = NX * NY * NZ };

static weft_problem cube(const weft_operator *load, int count) {
    return (weft_problem){.rank = 3, .n = {NX, NY, NZ}, .load = {load, count}};
}

static void run(const weft_problem *problem, weft_options options, weft_direction direction,
                const void *in, void *out) {
    weft_plan plan = NULL;
    if (weft_plan_create(ctx, problem, &options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    assert_int_equal(weft_execute(plan, direction, in, out), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

static const weft_options identity = {.engine = WEFT_ENGINE_IDENTITY};

static double complex sample(int i) {
    return (double)(i * 7 % 64 - 30) + (double)(i * 5 % 32 - 15) * I;
}

static void fill(double complex *in) {
    for (int i = 0; i < POINTS; i++) in[i] = sample(i);
}

static void a_scale_multiplies_everything(void **state) {
    (void)state;
    weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = -0.75};
    weft_problem problem = cube(&scale, 1);
    double complex in[POINTS], out[POINTS];
    fill(in);
    run(&problem, identity, WEFT_FORWARD, in, out);
    for (int i = 0; i < POINTS; i++) {
        assert_true(out[i] == -0.75 * sample(i));
        assert_true(in[i] == sample(i));
    }
    run(&problem, identity, WEFT_FORWARD, in, in);
    assert_memory_equal(in, out, sizeof in);
}

static void a_window_is_the_product_over_its_axes(void **state) {
    (void)state;
    weft_operator window = {
        .kind = WEFT_OPERATOR_WINDOW,
        .window = {[0] = {.kind = WEFT_WINDOW_HANN},
                   [2] = {.kind = WEFT_WINDOW_KAISER, .symmetric = 1, .parameter = 5}}};
    weft_problem problem = cube(&window, 1);
    double complex in[POINTS], out[POINTS];
    double x[NX], z[NZ];
    weft_window_values(&window.window[0], NX, x);
    weft_window_values(&window.window[2], NZ, z);
    fill(in);
    run(&problem, identity, WEFT_FORWARD, in, out);
    for (int i = 0; i < POINTS; i++)
        assert_true(out[i] == x[i / (NY * NZ)] * z[i % NZ] * sample(i));
}

/* The largest error allowed for an element after so many transforms in double precision, whose
 * results have this root mean square: the error rule for each transform, and 8 times the mean for
 * the largest error. */
static double off_after(int transforms, int points, double mean) {
    return 8 * transforms * 0x1p-53 * sqrt(log2(points)) * mean;
}

static double mean_of(const double complex *x, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += creal(x[i] * conj(x[i]));
    return sqrt(sum / count);
}

/* Checks that two arrays are equal, except for a shift along each axis and the errors of two
 * transforms. */
static void check_shifted(const double complex *one, const double complex *other, int dx, int dy,
                          int dz) {
    const double off = off_after(2, POINTS, mean_of(one, POINTS));
    for (int i = 0; i < POINTS; i++) {
        int x = (i / (NY * NZ) + dx + NX) % NX, y = (i / NZ % NY + dy + NY) % NY;
        int z = (i % NZ + dz + NZ) % NZ;
        assert_true(cabs(other[(x * NY + y) * NZ + z] - one[i]) <= off);
    }
}

/* NX and NZ are even, NY is odd. */
static void a_shift_on_load_moves_the_spectrum(void **state) {
    (void)state;
    static const double shifts[][3] = {{NX / 2, 0, NZ / 2}, {NX / 2, NY / 2, -1}, {1, NY + 3.0, 0}};
    for (int k = 0; k < 3; k++) {
        weft_operator shift = {.kind = WEFT_OPERATOR_SHIFT};
        memcpy(shift.shift, shifts[k], sizeof shifts[k]);
        weft_problem plain = cube(NULL, 0), moved = cube(&shift, 1);
        double complex in[POINTS], one[POINTS], other[POINTS];
        fill(in);
        run(&plain, (weft_options){0}, WEFT_FORWARD, in, one);
        run(&moved, (weft_options){0}, WEFT_FORWARD, in, other);
        check_shifted(one, other, (int)shifts[k][0], (int)shifts[k][1] % NY, (int)shifts[k][2]);
    }
}

/* Spectra are stored, and loaded again, with frequency 0 in the middle. */
static void a_shift_on_store_undoes_that_on_load(void **state) {
    (void)state;
    weft_operator shift = {.kind = WEFT_OPERATOR_SHIFT, .shift = {NX / 2, NY / 2, 0.25}};
    weft_problem problem = cube(&shift, 1);
    double complex in[POINTS], spectrum[POINTS], back[POINTS];
    problem.store = problem.load;
    problem.norm = WEFT_NORM_BACKWARD;
    fill(in);
    run(&problem, (weft_options){0}, WEFT_FORWARD, in, spectrum);
    run(&problem, (weft_options){0}, WEFT_INVERSE, spectrum, back);
    const double off = off_after(2, POINTS, mean_of(in, POINTS));
    for (int i = 0; i < POINTS; i++) assert_true(cabs(back[i] - in[i]) <= off);
}

/* Shifts of any length, also by half a point: two of these are a shift by a whole point if
 * frequency n/2 is empty. */
static void a_shift_of_the_spectrum_moves_the_array(void **state) {
    (void)state;
    weft_operator shifts[] = {{.kind = WEFT_OPERATOR_SHIFT, .shift = {2, 0.5, -1}},
                              {.kind = WEFT_OPERATOR_SHIFT, .shift = {0, 0.5, 0}}};
    weft_problem plain = cube(NULL, 0), moved = cube(shifts, 2);
    double complex in[POINTS], spectrum[POINTS], back[POINTS];
    moved.spectral = moved.load;
    moved.load = (weft_operators){0};
    plain.norm = WEFT_NORM_BACKWARD;
    fill(in);
    run(&moved, (weft_options){0}, WEFT_FORWARD, in, spectrum);
    run(&plain, (weft_options){0}, WEFT_INVERSE, spectrum, back);
    check_shifted(in, back, 2, 1, -1);
}

/* Half a point along an even length: the frequency n/2 is its real part, and data stays real. */
static void a_shifted_real_array_stays_real(void **state) {
    (void)state;
    enum { N = 6 };
    weft_operator shift = {.kind = WEFT_OPERATOR_SHIFT, .shift = {0.5}};
    weft_problem problem = {
        .rank = 1, .n = {N}, .kind = WEFT_R2C, .norm = WEFT_NORM_BACKWARD, .spectral = {&shift, 1}};
    double in[N], back[N], complex_in[2 * N];
    double complex spectrum[N];
    for (int i = 0; i < N; i++) in[i] = cos(2 * M_PI * i / N) + 0.3;
    run(&problem, (weft_options){0}, WEFT_FORWARD, in, spectrum);
    run(&problem, (weft_options){0}, WEFT_INVERSE, spectrum, back);
    for (int i = 0; i < N; i++)
        assert_true(fabs(back[i] - cos(2 * M_PI * (i - 0.5) / N) - 0.3) <= off_after(2, N, 1));
    problem.kind = WEFT_C2C; /* the whole spectrum, with both signs of each frequency */
    for (int i = 0; i < N; i++) complex_in[2 * i] = in[i] + i % 2, complex_in[2 * i + 1] = 0;
    run(&problem, (weft_options){0}, WEFT_FORWARD, complex_in, spectrum);
    const double off = off_after(2, N, mean_of(spectrum, N));
    for (int k = 1; k < N; k++) assert_true(cabs(spectrum[k] - conj(spectrum[N - k])) <= off);
}

static void tables_multiply_by_real_and_by_complex_factors(void **state) {
    (void)state;
    double x[NX], y[2 * NY];
    for (int i = 0; i < NX; i++) x[i] = 1 + i / 4.0;
    for (int i = 0; i < 2 * NY; i++) y[i] = i - 3;
    weft_operator tables[] = {
        {.kind = WEFT_OPERATOR_TABLE, .table = {x}},
        {.kind = WEFT_OPERATOR_TABLE, .table = {NULL, y}, .complex_factors = 1}};
    weft_problem problem = cube(tables, 2);
    double complex in[POINTS], out[POINTS];
    fill(in);
    run(&problem, identity, WEFT_FORWARD, in, out);
    for (int i = 0; i < POINTS; i++) {
        int iy = i / NZ % NY;
        double complex factor = x[i / (NY * NZ)] * (y[2 * iy] + y[2 * iy + 1] * I);
        assert_true(out[i] == factor * sample(i)); /* small integers and quarters: exact */
    }
}

/* Adds (i, j, k, batch) as a number, and counts elements in *argument. */
static void add_index(const weft_operator_run *r, void *argument) {
    int64_t index[WEFT_MAX_RANK];
    memcpy(index, r->index, sizeof index);
    for (int64_t k = 0; k < r->count; k++, index[r->axis]++) {
        double value = (double)(((r->batch * NX + index[0]) * NY + index[1]) * NZ + index[2]);
        if (r->precision == WEFT_SINGLE)
            ((float *)r->data)[k * (1 + r->complex_elements)] += (float)value;
        else
            ((double *)r->data)[k * (1 + r->complex_elements)] += value;
    }
    atomic_fetch_add((atomic_int *)argument, (int)r->count);
}

static void a_function_sees_every_global_index_once(void **state) {
    (void)state;
    atomic_int calls = 0;
    weft_operator add = {.kind = WEFT_OPERATOR_FUNCTION, .function = add_index, .argument = &calls};
    for (int single = 0; single < 2; single++)
        for (int shift = 0; shift < 3; shift++) {
            weft_problem problem = cube(&add, 1);
            weft_brick brick = {.box = {.n = {NX, NY, NZ}},
                                .order = {shift, (shift + 1) % 3, (shift + 2) % 3}};
            problem.batch = 2;
            problem.precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
            problem.input = &brick;
            static double in[4 * POINTS], out[4 * POINTS];
            calls = 0;
            memset(in, 0, sizeof in);
            run(&problem, identity, WEFT_FORWARD, in, out);
            assert_int_equal(calls, 2 * POINTS);
            for (int i = 0; i < 2 * POINTS; i++)
                assert_true((single ? (double)((float *)out)[2 * i] : out[2 * i]) == i);
        }
}

static void a_function_sees_fields_that_are_neighbours_one_by_one(void **state) {
    (void)state;
    enum { FIELDS = 3 };
    atomic_int calls = 0;
    weft_operator add = {.kind = WEFT_OPERATOR_FUNCTION, .function = add_index, .argument = &calls};
    weft_problem problem = cube(&add, 1);
    static double in[2 * FIELDS * POINTS], out[2 * FIELDS * POINTS];
    problem.fields = FIELDS;
    problem.fields_fastest = 1;
    memset(in, 0, sizeof in);
    run(&problem, identity, WEFT_FORWARD, in, out);
    assert_int_equal(calls, FIELDS * POINTS);
    for (int i = 0; i < POINTS; i++)
        for (int f = 0; f < FIELDS; f++) assert_true(out[2 * (i * FIELDS + f)] == f * POINTS + i);
}

static void lists_are_applied_in_order_after_the_norm(void **state) {
    (void)state;
    atomic_int calls = 0;
    weft_operator add = {.kind = WEFT_OPERATOR_FUNCTION, .function = add_index, .argument = &calls};
    weft_operator twice = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    weft_operator forwards[] = {add, twice}, backwards[] = {twice, add};
    weft_problem problem = cube(NULL, 0);
    double complex in[POINTS], out[POINTS];
    problem.norm = WEFT_NORM_FORWARD;
    problem.spectral = (weft_operators){forwards, 2};
    problem.store = (weft_operators){backwards, 2};
    fill(in);
    run(&problem, identity, WEFT_FORWARD, in, out);
    for (int i = 0; i < POINTS; i++) assert_true(out[i] == 2 * (sample(i) * (1.0 / POINTS) + i));
    run(&problem, identity, WEFT_INVERSE, in, out);
    for (int i = 0; i < POINTS; i++) assert_true(out[i] == 2 * sample(i) + i);
}

static void square_fields(const weft_fields_run *run, void *unused) {
    (void)unused;
    for (int64_t i = 0; i < run->count; i++)
        for (int f = 0; f < run->in_fields; f++) {
            const double complex x = ((const double complex *)run->in[f])[i * run->in_stride];
            ((double complex *)run->out[f])[i * run->out_stride] = x * x;
        }
}

/* Which need not be linear: (x / n)^2 is not x^2 / n. */
static void a_function_of_fields_comes_between_scalings(void **state) {
    (void)state;
    enum { FIELDS = 2 };
    const weft_operator list[] = {{.kind = WEFT_OPERATOR_SCALE, .factor = 3},
                                  {.kind = WEFT_OPERATOR_MATRIX, .matrix = square_fields},
                                  {.kind = WEFT_OPERATOR_SCALE, .factor = 0.5}};
    for (int fastest = 0; fastest < 2; fastest++) {
        weft_problem problem = cube(NULL, 0);
        double complex in[FIELDS * POINTS], out[FIELDS * POINTS];
        problem.norm = WEFT_NORM_FORWARD;
        problem.fields = FIELDS;
        problem.fields_fastest = fastest;
        problem.spectral = (weft_operators){list, 3};
        for (int i = 0; i < FIELDS * POINTS; i++) in[i] = sample(i);
        run(&problem, identity, WEFT_FORWARD, in, out);
        for (int i = 0; i < FIELDS * POINTS; i++) {
            const double complex x = sample(i) * (3.0 / POINTS);
            assert_true(cabs(out[i] - 0.5 * x * x) <= 1e-15 * cabs(x * x));
        }
    }
}

static void the_lists_are_the_callers_again_after_creation(void **state) {
    (void)state;
    double *x = malloc(NX * sizeof *x);
    weft_operator *table = calloc(1, sizeof *table);
    for (int i = 0; i < NX; i++) x[i] = i;
    *table = (weft_operator){.kind = WEFT_OPERATOR_TABLE, .table = {x}};
    weft_problem problem = cube(table, 1);
    weft_options options = identity;
    weft_plan plan = NULL;
    double complex in[POINTS], out[POINTS];
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    free(x);
    free(table);
    fill(in);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
    for (int i = 0; i < POINTS; i++) assert_true(out[i] == (i / (NY * NZ)) * sample(i));
    weft_plan_destroy(&plan);
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
    (void)state;
    weft_operator list[] = {
        {.kind = WEFT_OPERATOR_WINDOW,
         .window = {{.kind = WEFT_WINDOW_TUKEY, .parameter = 0.3}, {.kind = WEFT_WINDOW_BLACKMAN}}},
        {.kind = WEFT_OPERATOR_SCALE, .factor = 1.0 / 3}};
    weft_problem problem = {.rank = 2, .n = {301, 1100}, .load = {list, 2}};
    size_t bytes = 301 * 1100 * sizeof(double complex);
    double complex *in = malloc(bytes), *one = malloc(bytes), *four = malloc(bytes);
    for (int i = 0; i < 301 * 1100; i++) in[i] = sample(i) / 7;
    run(&problem, (weft_options){.engine = WEFT_ENGINE_IDENTITY, .threads = 1}, WEFT_FORWARD, in,
        one);
    run(&problem, (weft_options){.engine = WEFT_ENGINE_IDENTITY, .threads = 4}, WEFT_FORWARD, in,
        four);
    assert_memory_equal(one, four, bytes);
    free(in);
    free(one);
    free(four);
}

static void measuring_does_not_call_the_callers_function(void **state) {
    (void)state;
    atomic_int calls = 0;
    weft_operator add = {.kind = WEFT_OPERATOR_FUNCTION, .function = add_index, .argument = &calls};
    weft_problem problem = cube(&add, 1);
    weft_options options = {.effort = WEFT_PATIENT};
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(calls, 0);
    weft_plan_destroy(&plan);
}

static void explain_and_memory_tell_of_operators(void **state) {
    (void)state;
    static double z[1 << 16];
    weft_operator list[] = {
        {.kind = WEFT_OPERATOR_WINDOW, .window = {{.kind = WEFT_WINDOW_KAISER, .parameter = 4}}},
        {.kind = WEFT_OPERATOR_TABLE, .table = {NULL, z}}};
    weft_problem plain = {.rank = 2, .n = {2, 1 << 16}}, problem = plain;
    weft_memory before, after;
    weft_plan plan = NULL;
    char *text = NULL;
    size_t size = 0;
    problem.load = (weft_operators){list, 2};
    assert_int_equal(weft_plan_create(ctx, &plain, &identity, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_memory(plan, &before), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
    assert_int_equal(weft_plan_create(ctx, &problem, &identity, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_memory(plan, &after), WEFT_SUCCESS);
    assert_true(after.tables >= before.tables + 2 * sizeof z); /* the copy, and the factors */
    for (int format = WEFT_TEXT; format <= WEFT_JSON; format++) {
        FILE *stream = open_memstream(&text, &size);
        assert_int_equal(weft_plan_explain(plan, stream, (weft_format)format), WEFT_SUCCESS);
        fclose(stream);
        assert_non_null(strstr(text, "pointwise"));
        assert_non_null(strstr(text, format == WEFT_TEXT ? "window kaiser(4) along 0; table along 1"
                                                         : "\"operator\": \"table\""));
        free(text);
    }
    weft_plan_destroy(&plan);
}

/* ---- arrays with a factor for each element ---- */

enum { BATCH = 2, MOST_NUMBERS = 2 * BATCH * NX * NY * NZ };

/* A transform with an array in one place. */
typedef struct array_case {
    weft_kind kind;
    weft_precision precision;
    int place; /* 0: load, 1: spectral, 2: store */
    int complex_factors;
    bool padded;
} array_case;

static double number_at(const void *numbers, weft_precision precision, int64_t i) {
    return precision == WEFT_SINGLE ? (double)((const float *)numbers)[i]
                                    : ((const double *)numbers)[i];
}

static void set_number(void *numbers, weft_precision precision, int64_t i, double value) {
    if (precision == WEFT_SINGLE)
        ((float *)numbers)[i] = (float)value;
    else
        ((double *)numbers)[i] = value;
}

static void fill_numbers(void *numbers, weft_precision precision, int seed) {
    for (int i = 0; i < MOST_NUMBERS; i++)
        set_number(numbers, precision, i, (double)((i * 7 + seed) % 61 - 30) / 16);
}

/* A product of numbers, rounded as the array's precision has it. */
static double product(weft_precision precision, double x, double y) {
    const volatile float single = (float)x * (float)y;
    const volatile double exact = x * y;
    return precision == WEFT_SINGLE ? (double)single : exact;
}

/* Multiplies an array of `elements` in each member of the batch. */
static void multiply_all(const array_case *c, bool real, int64_t elements, const void *factors,
                         void *data) {
    const weft_precision p = c->precision;
    for (int64_t i = 0; i < BATCH * elements; i++) {
        const int64_t k = i % elements;
        const double re = number_at(factors, p, c->complex_factors ? 2 * k : k);
        const double im = c->complex_factors ? number_at(factors, p, 2 * k + 1) : 0;
        if (real) {
            set_number(data, p, i, product(p, number_at(data, p, i), re));
            continue;
        }
        const double x = number_at(data, p, 2 * i), y = number_at(data, p, 2 * i + 1);
        double a = product(p, x, re), b = product(p, y, re);
        if (c->complex_factors) a -= product(p, y, im), b = product(p, x, im) + b;
        set_number(data, p, 2 * i, a);
        set_number(data, p, 2 * i + 1, b);
    }
}

static weft_problem problem_of(const array_case *c) {
    weft_problem p = {
        .rank = 3, .n = {NX, NY, NZ}, .kind = c->kind, .precision = c->precision, .batch = BATCH};
    for (int a = 0; a < 3 && c->kind == WEFT_R2R; a++) p.axis[a] = WEFT_DCT2;
    if (c->padded) p.pad_from[1] = NY - 2, p.pad_from[2] = NZ - 3;
    return p;
}

/* Checks that a plan with an array has the bits of one without and a multiplication, twice, with
 * another array the second time. */
static void check_array(const array_case *c, weft_engine engine) {
    static double factors[2][MOST_NUMBERS], in[MOST_NUMBERS], out[MOST_NUMBERS], by[MOST_NUMBERS];
    const weft_operator array = {.kind = WEFT_OPERATOR_ARRAY,
                                 .array = WEFT_MAX_ARRAYS - 1,
                                 .complex_factors = c->complex_factors};
    const weft_operators list = {&array, 1}, none = {NULL, 0};
    const weft_options options = {.engine = engine};
    const weft_direction dir = c->place == 2 ? WEFT_INVERSE : WEFT_FORWARD;
    const bool spectral = c->place == 1;
    const bool real = c->kind == WEFT_R2R || (c->kind == WEFT_R2C && !spectral);
    weft_problem plain = problem_of(c), problem = plain;
    weft_plan plan = NULL;
    weft_box box;
    problem.load = c->place == 0 ? list : none;
    problem.spectral = c->place == 1 ? list : none;
    problem.store = c->place == 2 ? list : none;
    if (weft_plan_create(ctx, &problem, &options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    weft_plan_box(plan, spectral ? WEFT_OUTPUT : WEFT_INPUT, 0, &box);
    const int64_t elements = box.n[0] * box.n[1] * box.n[2];
    for (int k = 0; k < 2; k++) {
        memset(out, 0, sizeof out);
        memset(by, 0, sizeof by);
        fill_numbers(factors[k], c->precision, 11 * k);
        fill_numbers(in, c->precision, 5);
        assert_int_equal(weft_plan_set_array(plan, WEFT_MAX_ARRAYS - 1, factors[k]), WEFT_SUCCESS);
        assert_int_equal(weft_execute(plan, dir, in, out), WEFT_SUCCESS);
        if (c->place == 0) multiply_all(c, real, elements, factors[k], in);
        run(&plain, options, dir, in, by);
        if (c->place != 0) multiply_all(c, real, elements, factors[k], by);
        if (memcmp(out, by, sizeof out) != 0)
            fail_msg("kind %d, precision %d, place %d, complex factors %d, padded %d, engine %s",
                     (int)c->kind, (int)c->precision, c->place, c->complex_factors, c->padded,
                     weft_engine_name(engine));
    }
    weft_plan_destroy(&plan);
}

static void an_array_multiplies_each_element_of_its_side(void **state) {
    (void)state;
    static const weft_engine engines[] = {WEFT_ENGINE_AUTO, WEFT_ENGINE_REFERENCE};
    for (int i = 0; i < 3 * 2 * 3 * 2 * 2 * 2; i++) {
        const array_case c = {.kind = (weft_kind)(i % 3),
                              .precision = i / 3 % 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                              .place = i / 6 % 3,
                              .complex_factors = i / 18 % 2,
                              .padded = i / 36 % 2};
        const bool real = c.kind == WEFT_R2R || (c.kind == WEFT_R2C && c.place != 1);
        if (!real || !c.complex_factors) check_array(&c, engines[i / 72]);
    }
}

static void arrays_are_multiplied_by_in_the_order_of_the_list(void **state) {
    (void)state;
    atomic_int calls = 0;
    weft_operator list[] = {
        {.kind = WEFT_OPERATOR_SCALE, .factor = 0.5},
        {.kind = WEFT_OPERATOR_ARRAY, .array = 3},
        {.kind = WEFT_OPERATOR_FUNCTION, .function = add_index, .argument = &calls},
        {.kind = WEFT_OPERATOR_ARRAY, .array = 0, .complex_factors = 1},
        {.kind = WEFT_OPERATOR_ARRAY, .array = 3}};
    weft_problem problem = cube(list, 5);
    weft_plan plan = NULL;
    double complex in[POINTS], out[POINTS], pairs[POINTS];
    double numbers3[POINTS];
    fill(in);
    for (int i = 0; i < POINTS; i++)
        numbers3[i] = i % 4 + 1, pairs[i] = (double)(i % 3) + (double)(i % 5) * I;
    assert_int_equal(weft_plan_create(ctx, &problem, &identity, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_set_array(plan, 3, numbers3), WEFT_SUCCESS);
    assert_int_equal(weft_plan_set_array(plan, 0, pairs), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
    for (int i = 0; i < POINTS; i++)
        assert_true(out[i] == (0.5 * sample(i) * numbers3[i] + i) * pairs[i] * numbers3[i]);
    weft_plan_destroy(&plan);
}

static void an_execution_without_its_array_fails(void **state) {
    (void)state;
    weft_operator array = {.kind = WEFT_OPERATOR_ARRAY, .array = 2};
    weft_problem problem = cube(&array, 1);
    weft_options options = {.effort = WEFT_PATIENT}; /* measuring does without arrays */
    weft_plan plan = NULL;
    double complex in[POINTS], out[POINTS];
    double ones[POINTS];
    for (int i = 0; i < POINTS; i++) ones[i] = 1;
    fill(in);
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "array 2 of the operators was never set"));
    assert_int_equal(weft_execute(plan, WEFT_INVERSE, in, out), WEFT_SUCCESS); /* has none */
    assert_int_equal(weft_plan_set_array(plan, 2, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "array 2 is NULL"));
    assert_int_equal(weft_plan_set_array(plan, 1, ones), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "no operator of the plan has array 1"));
    assert_int_equal(weft_plan_set_array(plan, WEFT_MAX_ARRAYS, ones), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "number is 16"));
    assert_int_equal(weft_plan_set_array(plan, 2, (char *)ones + 4), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "no multiple of 8"));
    assert_int_equal(weft_plan_set_array(NULL, 2, ones), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_set_array(plan, 2, ones), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

static void put(weft_plan plan, void **buffer, const void *from, size_t bytes) {
    assert_int_equal(weft_buffer_create(plan, bytes, buffer), WEFT_SUCCESS);
    assert_int_equal(weft_buffer_upload(plan, *buffer, from, bytes), WEFT_SUCCESS);
}

/* The device has an address space of its own. */
static void an_array_lies_where_the_plan_computes(void **state) {
    (void)state;
    weft_operator array = {.kind = WEFT_OPERATOR_ARRAY, .complex_factors = 1};
    weft_problem problem = cube(&array, 1);
    const weft_options options = {.device = WEFT_SIMULATED, .engine = WEFT_ENGINE_IDENTITY};
    weft_plan plan = NULL;
    double complex in[POINTS], out[POINTS], pairs[POINTS];
    void *there[3];
    fill(in);
    for (int i = 0; i < POINTS; i++) pairs[i] = (double)(i % 9) - (double)(i % 4) * I;
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_set_array(plan, 0, pairs), WEFT_ERROR_DEVICE);
    put(plan, &there[0], in, sizeof in);
    put(plan, &there[1], in, sizeof in);
    put(plan, &there[2], pairs, sizeof pairs);
    assert_int_equal(weft_plan_set_array(plan, 0, there[2]), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, there[0], there[1]), WEFT_SUCCESS);
    assert_int_equal(weft_buffer_download(plan, out, there[1], sizeof out), WEFT_SUCCESS);
    for (int i = 0; i < POINTS; i++) assert_true(out[i] == sample(i) * pairs[i]);
    for (int k = 0; k < 3; k++) weft_buffer_destroy(plan, &there[k]);
    weft_plan_destroy(&plan);
}

static void arrays_and_bricks_of_one_side_are_refused(void **state) {
    (void)state;
    weft_operator array = {.kind = WEFT_OPERATOR_ARRAY};
    weft_problem problem = cube(&array, 1);
    weft_brick brick = {.box = {.n = {NX, NY, NZ}}, .order = {1, 0, 2}};
    weft_plan plan = NULL;
    problem.input = &brick;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "problem.load has an operator array"));
    problem.load = (weft_operators){NULL, 0};
    problem.spectral = (weft_operators){&array, 1};
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

static void explain_tells_of_arrays(void **state) {
    (void)state;
    weft_operator array = {.kind = WEFT_OPERATOR_ARRAY, .array = 7, .complex_factors = 1};
    weft_problem problem = cube(&array, 1);
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, &identity, &plan), WEFT_SUCCESS);
    for (int format = WEFT_TEXT; format <= WEFT_JSON; format++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        assert_int_equal(weft_plan_explain(plan, stream, (weft_format)format), WEFT_SUCCESS);
        fclose(stream);
        assert_non_null(strstr(text, format == WEFT_TEXT ? "array 7" : "\"number\": 7"));
        free(text);
    }
    weft_plan_destroy(&plan);
}

static void no_function(const weft_operator_run *r, void *argument) {
    (void)r;
    (void)argument;
}

static void no_matrix(const weft_fields_run *r, void *argument) {
    (void)r;
    (void)argument;
}

static double numbers[64], not_a_number[64] = {[3] = NAN};

/* A wrong operator in a place of a 6 x 5 x 8 transform, and what the sentence must contain. */
static const struct {
    const char *words[2];
    weft_kind kind;
    int spectral;
    weft_operator operator;
} misuses[] = {
    {{"load.list[0].kind", "1..9"}, WEFT_C2C, 0, {.kind = (weft_operator_kind)0}},
    {{"kind is 10", "1..9"}, WEFT_C2C, 0, {.kind = (weft_operator_kind)10}},
    {{"factor", "inf"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_SCALE, .factor = INFINITY}},
    {{"along no axis", "window"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_WINDOW}},
    {{"window[3]", "3 axes"},
     WEFT_C2C,
     0,
     {.kind = WEFT_OPERATOR_WINDOW, .window = {[3] = {.kind = WEFT_WINDOW_HANN}}}},
    {{"window[1].parameter", "sigma"},
     WEFT_C2C,
     0,
     {.kind = WEFT_OPERATOR_WINDOW, .window = {[1] = {.kind = WEFT_WINDOW_GAUSSIAN}}}},
    {{"along no axis", "shift[a]"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_SHIFT}},
    {{"shift[3] is given", "3 axes"},
     WEFT_C2C,
     0,
     {.kind = WEFT_OPERATOR_SHIFT, .shift = {[3] = 1}}},
    {{"shift[0] is", "finite"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_SHIFT, .shift = {NAN}}},
    {{"shift[0] is 1", "multiples of n/2"},
     WEFT_R2C,
     0,
     {.kind = WEFT_OPERATOR_SHIFT, .shift = {1}}},
    {{"along no axis", "table"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_TABLE}},
    {{"table[5]", "3 axes"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_TABLE, .table = {[5] = numbers}}},
    {{"table[2][3]", "nan"},
     WEFT_C2C,
     1,
     {.kind = WEFT_OPERATOR_TABLE, .table = {[2] = not_a_number}}},
    {{"complex factors", "real"},
     WEFT_R2C,
     0,
     {.kind = WEFT_OPERATOR_TABLE, .table = {numbers}, .complex_factors = 1}},
    {{"complex_factors is 2", "0 or 1"},
     WEFT_C2C,
     0,
     {.kind = WEFT_OPERATOR_TABLE, .table = {numbers}, .complex_factors = 2}},
    {{"function is NULL", "spectral.list[0]"}, WEFT_C2C, 1, {.kind = WEFT_OPERATOR_FUNCTION}},
    {{"snippet is empty", "load.list[0]"},
     WEFT_C2C,
     0,
     {.kind = WEFT_OPERATOR_FUNCTION, .snippet = ""}},
    {{"matrix is NULL", "spectral.list[0]"}, WEFT_C2C, 1, {.kind = WEFT_OPERATOR_MATRIX}},
    {{"snippet is empty", "give its text"},
     WEFT_C2C,
     1,
     {.kind = WEFT_OPERATOR_MATRIX, .matrix = no_matrix, .snippet = ""}},
    {{"parameters is 17", "spectral.list[0]"},
     WEFT_C2C,
     1,
     {.kind = WEFT_OPERATOR_MATRIX, .matrix = no_matrix, .parameters = 17}},
    {{"list[0].array is -1", "0 to 15"},
     WEFT_C2C,
     1,
     {.kind = WEFT_OPERATOR_MATRIX_ARRAY, .array = -1}},
    {{"complex_factors is 2", "0 or 1"},
     WEFT_R2C,
     1,
     {.kind = WEFT_OPERATOR_MATRIX_ARRAY, .complex_factors = 2}},
    {{"list[0].array is 16", "0 to 15"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_ARRAY, .array = 16}},
    {{"complex factors", "real"}, WEFT_R2C, 0, {.kind = WEFT_OPERATOR_ARRAY, .complex_factors = 1}},
    {{"list[0].array is 16", "0 to 15"}, WEFT_R2C, 1, {.kind = WEFT_OPERATOR_REDUCE, .array = 16}},
    {{"list[0].array is -1", "0 to 15"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_REDUCE, .array = -1}},
    {{"reduction is 3", "0..2"}, WEFT_C2C, 0, {.kind = WEFT_OPERATOR_REDUCE, .reduction = 3}},
    {{"struct_size", "is 3"}, WEFT_C2C, 0, {.struct_size = 3, .kind = WEFT_OPERATOR_SCALE}},
};

static void every_misuse_is_refused_in_one_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        weft_problem problem = cube(NULL, 0);
        weft_plan plan = NULL;
        problem.kind = misuses[i].kind;
        *(misuses[i].spectral ? &problem.spectral : &problem.load) =
            (weft_operators){&misuses[i].operator, 1 };
        weft_status status = weft_plan_create(ctx, &problem, NULL, &plan);
        const char *said = weft_last_error(ctx);
        if (status != WEFT_ERROR_INVALID_ARGUMENT || !strstr(said, misuses[i].words[0]) ||
            !strstr(said, misuses[i].words[1]))
            fail_msg("misuse %zu: %s: %s", i, weft_status_name(status), said);
        assert_null(plan);
    }
    weft_problem problem = cube(NULL, 1);
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "load.list is NULL"));
    problem.load.count = WEFT_MAX_OPERATORS + 1;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "load.count is 65"));
}

static void a_half_spectrum_takes_what_a_real_array_refuses(void **state) {
    (void)state;
    double z[2 * (NZ / 2 + 1)] = {0};
    weft_operator list[] = {{.kind = WEFT_OPERATOR_TABLE, .table = {[2] = z}, .complex_factors = 1},
                            {.kind = WEFT_OPERATOR_FUNCTION, .function = no_function}};
    weft_problem problem = cube(NULL, 0);
    double in[POINTS], out[2 * NX * NY * (NZ / 2 + 1)], expected[2 * NX * NY * (NZ / 2 + 1)];
    for (int i = 0; i < NZ / 2 + 1; i++) z[2 * i + 1] = i; /* times i k: the derivative */
    for (int i = 0; i < POINTS; i++) in[i] = creal(sample(i));
    problem.kind = WEFT_R2C;
    run(&problem, (weft_options){0}, WEFT_FORWARD, in, expected);
    problem.spectral = (weft_operators){list, 2};
    run(&problem, (weft_options){0}, WEFT_FORWARD, in, out);
    for (int i = 0; i < NX * NY * (NZ / 2 + 1); i++) {
        double k = i % (NZ / 2 + 1);
        assert_true(out[2 * i] == -k * expected[2 * i + 1]);
        assert_true(out[2 * i + 1] == k * expected[2 * i]);
    }
}

static void a_snippet_alone_is_refused_where_the_host_computes(void **state) {
    (void)state;
    weft_operator snippet = {.kind = WEFT_OPERATOR_FUNCTION, .snippet = "value *= 2;"};
    weft_problem problem = cube(&snippet, 1);
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_null(plan);
    assert_non_null(strstr(weft_last_error(ctx), "problem.load: device host"));
    assert_non_null(strstr(weft_last_error(ctx), "give its function too"));
    snippet.function = no_function;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

/* Operators that are right by themselves, but not there, and what the sentence must contain. */
static void matrices_are_refused_where_they_do_not_go(void **state) {
    (void)state;
    const weft_operator matrix = {.kind = WEFT_OPERATOR_MATRIX_ARRAY};
    const weft_operator function = {.kind = WEFT_OPERATOR_MATRIX, .matrix = no_matrix};
    const weft_operator snippet = {.kind = WEFT_OPERATOR_MATRIX, .snippet = "out[0] = in[0];"};
    const weft_operator two[] = {matrix, function};
    const weft_operator windowed[] = {
        matrix, {.kind = WEFT_OPERATOR_WINDOW, .window = {{.kind = WEFT_WINDOW_HANN}}}};
    const weft_brick brick = {.box = {.n = {4, 6}}};
    const weft_options keeps = {.convolve = 1, .keep_spectrum = 1};
    const weft_options in_place = {.placement = WEFT_IN_PLACE};
    const struct {
        const char *words;
        weft_problem problem;
        const weft_options *options;
    } refused[] = {
        {"problem.load has a matrix", {.load = {&matrix, 1}}, NULL},
        {"problem.store has a matrix", {.store = {&function, 1}}, NULL},
        {"spectral.list[0]: a matrix goes together with", {.spectral = {two, 2}}, NULL},
        {"spectral.list[1]: a matrix goes together with", {.spectral = {windowed, 2}}, NULL},
        {"device host runs no matrix that is given as a snippet only",
         {.spectral = {&snippet, 1}},
         NULL},
        {"has an operator matrix array", {.spectral = {&matrix, 1}, .output = &brick}, NULL},
        {"options.keep_spectrum: not together with a matrix", {.spectral = {&matrix, 1}}, &keeps},
        {"problem.spectral_storage is complex-half, but a matrix",
         {.spectral = {&matrix, 1}, .spectral_storage = WEFT_STORAGE_COMPLEX_HALF},
         NULL},
        {"problem.spectral_storage is complex-half, but a matrix",
         {.spectral = {&function, 1}, .precision = WEFT_HALF},
         NULL},
        {"result_fields is 3, but fields 2", {.fields = 2, .result_fields = 3}, NULL},
        {"problem.fields is 65", {.fields = WEFT_MAX_FIELDS + 1, .spectral = {&matrix, 1}}, NULL},
        {"result_fields -1", {.result_fields = -1, .spectral = {&matrix, 1}}, NULL},
        {"options.placement: result_fields that are not fields",
         {.fields = 2, .result_fields = 3, .spectral = {&matrix, 1}},
         &in_place},
        {"complex factors, but the array there is real",
         {.kind = WEFT_R2R,
          .axis = {WEFT_DCT2, WEFT_DCT2},
          .spectral = {&(weft_operator){.kind = WEFT_OPERATOR_MATRIX_ARRAY, .complex_factors = 1},
                       1}},
         NULL},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        weft_problem problem = refused[i].problem;
        weft_plan plan = NULL;
        problem.rank = 2;
        problem.n[0] = 4;
        problem.n[1] = 6;
        assert_int_not_equal(weft_plan_create(ctx, &problem, refused[i].options, &plan),
                             WEFT_SUCCESS);
        assert_null(plan);
        if (!strstr(weft_last_error(ctx), refused[i].words))
            fail_msg("%s, not: %s", weft_last_error(ctx), refused[i].words);
    }
}

/* Three fields of two, of real numbers: the matrices of cosine transforms are real. */
static void an_array_has_a_matrix_for_each_point_of_real_numbers(void **state) {
    (void)state;
    enum { ALL = 4 * 6 };
    const weft_operator matrix = {.kind = WEFT_OPERATOR_MATRIX_ARRAY, .array = 1};
    const weft_problem problem = {.rank = 2,
                                  .n = {4, 6},
                                  .kind = WEFT_R2R,
                                  .axis = {WEFT_DCT2, WEFT_DCT2},
                                  .fields = 2,
                                  .result_fields = 3,
                                  .spectral = {&matrix, 1}};
    weft_problem plain = problem;
    double in[2 * ALL], spectrum[2 * ALL], out[3 * ALL], entries[6 * ALL];
    weft_plan plan = NULL;
    plain.result_fields = 2;
    plain.spectral = (weft_operators){NULL, 0};
    for (int i = 0; i < 2 * ALL; i++) in[i] = i * 7 % 13 - 5;
    for (int i = 0; i < 6 * ALL; i++) entries[i] = i * 5 % 17 - 8;
    run(&plain, (weft_options){0}, WEFT_FORWARD, in, spectrum);
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "array 1 of the operators was never set"));
    assert_int_equal(weft_plan_set_array(plan, 1, entries), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < ALL; i++) {
            const double *entry = entries + 2 * g * ALL + i;
            const double want = entry[0] * spectrum[i] + entry[ALL] * spectrum[ALL + i];
            assert_true(fabs(out[g * ALL + i] - want) < 1e-12 * fmax(1, fabs(want)));
        }
    weft_plan_destroy(&plan);
}

/* A list of a program compiled against a later header, whose operators have a field more. */
static void operators_of_other_versions_are_read_by_their_size(void **state) {
    (void)state;
    struct {
        weft_operator known;
        double later;
    } list[2] = {{{sizeof list[0], WEFT_OPERATOR_SCALE, .factor = 3}, 0},
                 {{sizeof list[0], WEFT_OPERATOR_SCALE, .factor = 5}, 0}};
    weft_problem problem = cube(&list[0].known, 2);
    weft_plan plan = NULL;
    double complex in[POINTS], out[POINTS];
    fill(in);
    run(&problem, identity, WEFT_FORWARD, in, out);
    for (int i = 0; i < POINTS; i++) assert_true(out[i] == 15 * sample(i));
    list[1].later = 1;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "load.list[1]"));
    list[1].later = 0;
    list[1].known.struct_size = 0;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "struct_size"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scale_multiplies_everything),
        cmocka_unit_test(a_window_is_the_product_over_its_axes),
        cmocka_unit_test(a_shift_on_load_moves_the_spectrum),
        cmocka_unit_test(a_shift_on_store_undoes_that_on_load),
        cmocka_unit_test(a_shift_of_the_spectrum_moves_the_array),
        cmocka_unit_test(a_shifted_real_array_stays_real),
        cmocka_unit_test(tables_multiply_by_real_and_by_complex_factors),
        cmocka_unit_test(a_function_sees_every_global_index_once),
        cmocka_unit_test(a_function_sees_fields_that_are_neighbours_one_by_one),
        cmocka_unit_test(lists_are_applied_in_order_after_the_norm),
        cmocka_unit_test(a_function_of_fields_comes_between_scalings),
        cmocka_unit_test(the_lists_are_the_callers_again_after_creation),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(measuring_does_not_call_the_callers_function),
        cmocka_unit_test(explain_and_memory_tell_of_operators),
        cmocka_unit_test(an_array_multiplies_each_element_of_its_side),
        cmocka_unit_test(arrays_are_multiplied_by_in_the_order_of_the_list),
        cmocka_unit_test(an_execution_without_its_array_fails),
        cmocka_unit_test(an_array_lies_where_the_plan_computes),
        cmocka_unit_test(arrays_and_bricks_of_one_side_are_refused),
        cmocka_unit_test(explain_tells_of_arrays),
        cmocka_unit_test(every_misuse_is_refused_in_one_sentence),
        cmocka_unit_test(a_half_spectrum_takes_what_a_real_array_refuses),
        cmocka_unit_test(a_snippet_alone_is_refused_where_the_host_computes),
        cmocka_unit_test(matrices_are_refused_where_they_do_not_go),
        cmocka_unit_test(an_array_has_a_matrix_for_each_point_of_real_numbers),
        cmocka_unit_test(operators_of_other_versions_are_read_by_their_size),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
