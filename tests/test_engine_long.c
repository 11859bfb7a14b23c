/*
 * Long lines, of random lengths up to 2^22, are tested by properties of the DFT, since an exact
 * result would take too long. Complex lines: energy, the inverse, a shift, linearity, an impulse.
 * Real lines: half of the complex spectrum, and the inverse.
 */
#include "test_engine.h"

enum { LONGEST = 1 << 22, ROUNDS = 3 };

typedef double complex number;

/* A length, its engine and precision, and the arrays that all rounds share. */
typedef struct line {
    const weft_engine_ops *engine;
    weft_precision precision;
    int64_t n;
    double allowed; /* relative, L2: a comparison is of up to three transforms */
    number *a, *b, *a_hat, *b_hat, *c_hat;
} line;

static void *allocate(int64_t n, size_t element) {
    void *made = malloc((size_t)n * element);
    assert_non_null(made);
    return made;
}

static float *to_single(const double *x, int64_t count) {
    float *made = allocate(count, sizeof *made);
    for (int64_t i = 0; i < count; i++) made[i] = (float)x[i];
    return made;
}

static void transform(const line *l, weft_transform_kind kind, weft_direction direction,
                      const void *in, void *out) {
    const int64_t n = l->n, half = n / 2 + 1;
    const int64_t in_numbers = kind == WEFT_TRANSFORM_C2C   ? 2 * n
                               : kind == WEFT_TRANSFORM_R2C ? n
                                                            : 2 * half;
    const int64_t out_numbers = kind == WEFT_TRANSFORM_C2C   ? 2 * n
                                : kind == WEFT_TRANSFORM_R2C ? 2 * half
                                                             : n;
    const weft_transform t = {.kind = kind,
                              .direction = direction,
                              .precision = l->precision,
                              .dims = 1,
                              .dim = {{n, 1, 1}},
                              .threads = 1,
                              .in_elements = kind == WEFT_TRANSFORM_C2R ? half : n,
                              .out_elements = kind == WEFT_TRANSFORM_R2C ? half : n};
    if (l->precision == WEFT_DOUBLE) {
        run_transform(l->engine, &t, in, out);
        return;
    }
    float *from = to_single(in, in_numbers), *to = allocate(out_numbers, sizeof *to);
    run_transform(l->engine, &t, from, to);
    for (int64_t i = 0; i < out_numbers; i++) ((double *)out)[i] = to[i];
    free(to);
    free(from);
}

/* Squares of numbers that floats hold leave some remainders far more often than others, so that one
 * long sum of millions of them is rounded to one side. The sums of short runs are exact. */
static double energy(const number *x, int64_t n) {
    enum { RUN = 1024 };
    long double sum = 0;
    for (int64_t first = 0; first < n; first += RUN) {
        const int64_t end = first + RUN < n ? first + RUN : n;
        long double of_run = 0;
        for (int64_t j = first; j < end; j++)
            of_run += creal(x[j]) * creal(x[j]) + cimag(x[j]) * cimag(x[j]);
        sum += of_run;
    }
    return (double)sum;
}

/* Asserts that |a factor - b| is small relative to |b|. */
static void assert_close(const line *l, const char *what, const number *a, double factor,
                         const number *b, int64_t count) {
    double off = 0;
    for (int64_t j = 0; j < count; j++) {
        double re = creal(a[j]) * factor - creal(b[j]), im = cimag(a[j]) * factor - cimag(b[j]);
        off += re * re + im * im;
    }
    double error = sqrt(off / energy(b, count));
    if (!(error <= l->allowed))
        fail_msg("%s, length %lld, %s: %s is %.3g off, more than %.3g", l->engine->name,
                 (long long)l->n, weft_precision_name(l->precision), what, error, l->allowed);
}

/* exp(-2 pi i k / n) for every k */
static number *all_roots(int64_t n) {
    number *roots = allocate(n, sizeof *roots);
    exact_complex *exact = exact_roots(n, -1);
    for (int64_t k = 0; k < n; k++) roots[k] = (number)exact[k];
    free(exact);
    return roots;
}

/* Fills x with random numbers that both precisions hold exactly. */
static void fill(number *x, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        float re = (float)random_number(), im = (float)random_number();
        x[j] = re + im * I;
    }
}

static void check_energy_and_way_back(line *l) {
    const double n = (double)l->n;
    transform(l, WEFT_TRANSFORM_C2C, WEFT_FORWARD, l->a, l->a_hat);
    double off = fabs(energy(l->a_hat, l->n) / n / energy(l->a, l->n) - 1);
    /* Twice the error of one transform, for which a third of the rule is allowed. */
    if (!(off <= 2 * l->allowed / 3))
        fail_msg("length %lld: energy is %.3g off", (long long)l->n, off);
    transform(l, WEFT_TRANSFORM_C2C, WEFT_INVERSE, l->a_hat, l->b);
    assert_close(l, "the way back", l->b, 1 / n, l->a, l->n);
}

/* Checks a shift and an impulse; uses a and a_hat. */
static void check_shift_and_impulse(line *l, const number *roots) {
    const int64_t n = l->n, by = random_between(0, n - 1);
    for (int64_t j = 0; j < n; j++) l->b[(j + by) % n] = l->a[j];
    transform(l, WEFT_TRANSFORM_C2C, WEFT_FORWARD, l->b, l->b_hat);
    for (int64_t k = 0, at = 0; k < n; k++, at = (at + by) % n) {
        number x = l->a_hat[k], w = roots[at];
        l->c_hat[k] = (creal(x) * creal(w) - cimag(x) * cimag(w)) +
                      (creal(x) * cimag(w) + cimag(x) * creal(w)) * I;
    }
    assert_close(l, "a shifted line", l->b_hat, 1, l->c_hat, n);
    for (int64_t j = 0; j < n; j++) l->b[j] = j == by ? 1 : 0;
    transform(l, WEFT_TRANSFORM_C2C, WEFT_FORWARD, l->b, l->b_hat);
    for (int64_t k = 0, at = 0; k < n; k++, at = (at + by) % n) l->c_hat[k] = roots[at];
    assert_close(l, "an impulse", l->b_hat, 1, l->c_hat, n);
}

/* Checks linearity; uses a and a_hat. The factor is a power of two, so that single precision holds
 * the sums exactly, or nearly so. */
static void check_linearity(line *l) {
    fill(l->b, l->n);
    transform(l, WEFT_TRANSFORM_C2C, WEFT_FORWARD, l->b, l->b_hat);
    for (int64_t j = 0; j < l->n; j++) l->b[j] = l->a[j] + 0.25 * l->b[j];
    for (int64_t k = 0; k < l->n; k++) l->b_hat[k] = l->a_hat[k] + 0.25 * l->b_hat[k];
    transform(l, WEFT_TRANSFORM_C2C, WEFT_FORWARD, l->b, l->c_hat);
    assert_close(l, "a sum of lines", l->c_hat, 1, l->b_hat, l->n);
}

/* Checks real transforms; uses a and a_hat, and overwrites a with its real part. */
static void check_real(line *l) {
    const int64_t n = l->n, half = n / 2 + 1;
    double *real = (double *)l->b;
    for (int64_t j = 0; j < n; j++) real[j] = creal(l->a[j]);
    transform(l, WEFT_TRANSFORM_R2C, WEFT_FORWARD, real, l->b_hat);
    for (int64_t k = 0; k < half; k++)
        l->c_hat[k] = (l->a_hat[k] + conj(l->a_hat[(n - k) % n])) / 2;
    assert_close(l, "the spectrum of a real line", l->b_hat, 1, l->c_hat, half);
    transform(l, WEFT_TRANSFORM_C2R, WEFT_INVERSE, l->b_hat, real);
    for (int64_t j = n - 1; j >= 0; j--) l->b[j] = real[j];
    for (int64_t j = 0; j < n; j++) l->a[j] = creal(l->a[j]);
    assert_close(l, "the way back of a real line", l->b, 1 / (double)n, l->a, n);
}

static void check_length(const weft_engine_ops *engine, weft_precision precision, int64_t n) {
    const weft_transform t = {.precision = precision, .dims = 1, .dim = {{.n = n}}};
    const double unit = precision == WEFT_SINGLE ? 6.0e-8 : 1.1e-16;
    line l = {engine, precision, n, 3 * (unit + weft_allowed_error(&t)), 0, 0, 0, 0, 0};
    number **arrays[] = {&l.a, &l.b, &l.a_hat, &l.b_hat, &l.c_hat};
    for (size_t i = 0; i < 5; i++) *arrays[i] = allocate(n, sizeof(number));
    number *roots = all_roots(n);
    fill(l.a, n);
    check_energy_and_way_back(&l);
    check_shift_and_impulse(&l, roots);
    check_linearity(&l);
    check_real(&l);
    free(roots);
    for (size_t i = 0; i < 5; i++) free(*arrays[i]);
}

/* A random length, equally likely in each octave; smooth lengths have small prime factors only. */
static int64_t random_length(bool smooth) {
    const int64_t about = (int64_t)(4096 * exp2(10 * (random_number() + 1) / 2));
    if (!smooth) return about;
    static const int64_t factors[] = {2, 2, 3, 4, 5, 7, 8, 11, 13, 16};
    int64_t n = 1;
    for (;;) {
        int64_t factor = factors[random_between(0, 9)];
        if (n * factor > about) return n;
        n *= factor;
    }
}

static void long_lines_obey_the_laws(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        check_length(engine, WEFT_DOUBLE, random_length(round % 2 == 0));
        check_length(engine, WEFT_SINGLE, random_length(round % 2 == 1));
    }
}

static void powers_of_two_obey_the_laws(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int64_t n = 8192; n <= LONGEST; n *= 4)
        check_length(engine, random_between(0, 1) ? WEFT_DOUBLE : WEFT_SINGLE, n);
}

/* ---- lines across their neighbours ---- */

static double part_of(const void *array, weft_precision precision, int64_t i) {
    return precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                    : ((const double *)array)[i];
}

static void set_part(void *array, weft_precision precision, int64_t i, double value) {
    if (precision == WEFT_SINGLE)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Elements of `width` numbers, `count` of each of `lines` lines, whose points are neighbours in
 * *across, and which lie one after the other in *along. */
static void make_lines(weft_precision precision, int64_t lines, int64_t count, int width,
                       void **across, void **along) {
    *across = allocate(lines * count * width, sizeof(double));
    *along = allocate(lines * count * width, sizeof(double));
    for (int64_t l = 0; l < lines; l++)
        for (int64_t i = 0; i < count; i++)
            for (int part = 0; part < width; part++) {
                const double value = (float)random_number();
                set_part(*across, precision, (i * lines + l) * width + part, value);
                set_part(*along, precision, (l * count + i) * width + part, value);
            }
}

/* The same results as of contiguous lines, one by one. */
static void check_across(const weft_engine_ops *engine, weft_transform_kind kind, int64_t n,
                         int64_t lines, int threads) {
    const weft_precision precision = random_between(0, 1) ? WEFT_DOUBLE : WEFT_SINGLE;
    const int64_t half = n / 2 + 1, in_count = kind == WEFT_TRANSFORM_C2R ? half : n,
                  out_count = kind == WEFT_TRANSFORM_R2C ? half : n;
    const int in_width = kind == WEFT_TRANSFORM_R2C ? 1 : 2,
              out_width = kind == WEFT_TRANSFORM_C2R ? 1 : 2;
    weft_transform t = {.kind = kind,
                        .direction = random_between(0, 1) ? WEFT_FORWARD : WEFT_INVERSE,
                        .precision = precision,
                        .dims = 1,
                        .dim = {{n, lines, lines}},
                        .loops = 1,
                        .loop = {{lines, 1, 1}},
                        .in_batch = true,
                        .threads = threads,
                        .in_place = kind == WEFT_TRANSFORM_C2C && random_between(0, 1),
                        .in_elements = lines * in_count,
                        .out_elements = lines * out_count};
    void *across, *along, *out_across, *out_along;
    make_lines(precision, lines, in_count, in_width, &across, &along);
    make_lines(precision, lines, out_count, out_width, &out_across, &out_along);
    void *result = t.in_place ? across : out_across;
    run_transform(engine, &t, across, result);
    t.dim[0].in_stride = t.dim[0].out_stride = 1;
    t.loop[0].in_stride = in_count;
    t.loop[0].out_stride = out_count;
    t.in_place = false;
    run_transform(engine, &t, along, out_along);
    double off = 0, all = 0;
    for (int64_t l = 0; l < lines; l++)
        for (int64_t i = 0; i < out_count; i++)
            for (int part = 0; part < out_width; part++) {
                const double x = part_of(result, precision, (i * lines + l) * out_width + part);
                const double y =
                    part_of(out_along, precision, (l * out_count + i) * out_width + part);
                off += (x - y) * (x - y);
                all += y * y;
            }
    const double unit = precision == WEFT_SINGLE ? 6.0e-8 : 1.1e-16;
    if (!(sqrt(off / all) <= 2 * (unit + weft_allowed_error(&t))))
        fail_msg("%s: %lld lines of %lld points, kind %d, %s: %.3g off", engine->name,
                 (long long)lines, (long long)n, (int)kind, weft_precision_name(precision),
                 sqrt(off / all));
    free(across);
    free(along);
    free(out_across);
    free(out_along);
}

static void long_lines_across_their_neighbours(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < 6; round++) {
        const int64_t n = round < 2    ? 65536 + 8 * random_between(1, 4000)
                          : round == 2 ? 98304
                                       : random_between(17000, 70000);
        check_across(engine, (weft_transform_kind)(round % 3), n, random_between(2, 11),
                     (int)random_between(1, 3));
    }
}

#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    {#ops " long_lines_obey_the_laws", long_lines_obey_the_laws, NULL, NULL,                       \
     (void *)(uintptr_t)&ops},                                                                     \
        {#ops " long_lines_across_their_neighbours", long_lines_across_their_neighbours, NULL,     \
         NULL, (void *)(uintptr_t)&ops},                                                           \
        {#ops " powers_of_two_obey_the_laws", powers_of_two_obey_the_laws, NULL, NULL,             \
         (void *)(uintptr_t)&ops},

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
