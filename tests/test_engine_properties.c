/* Properties of the DFT on random data of random length, so that no other program has to be
 * trusted. */
#include "test_engine.h"

enum { LONGEST = 3000, ROUNDS = 40 };

typedef double complex number;

static void transform(const weft_engine_ops *engine, int64_t n, weft_direction direction,
                      const number *in, number *out) {
    const weft_transform t = {.direction = direction,
                              .dims = 1,
                              .dim = {{n, 1, 1}},
                              .threads = 1,
                              .in_elements = n,
                              .out_elements = n};
    run_transform(engine, &t, in, out);
}

static void fill(number *x, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        double re = random_number(), im = random_number();
        x[j] = re + im * I;
    }
}

static double energy(const number *x, int64_t n) {
    long double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += (long double)creal(x[j]) * creal(x[j]) + (long double)cimag(x[j]) * cimag(x[j]);
    return (double)sum;
}

/* Asserts that a is close to b, relative to b in the L2 norm; both have an error of their own. */
static void assert_close(const number *a, const number *b, int64_t n) {
    double off = 0;
    for (int64_t j = 0; j < n; j++) {
        number d = a[j] - b[j];
        off += creal(d) * creal(d) + cimag(d) * cimag(d);
    }
    double error = sqrt(off / energy(b, n)), allowed = 4 * 1.1e-16 * (1 + sqrt(log2((double)n)));
    if (!(error <= allowed))
        fail_msg("length %lld: %.3g off, more than %.3g", (long long)n, error, allowed);
}

static number root_of_unity(int64_t k, int64_t n) { /* exp(-2 pi i k / n) */
    const long double angle =
        6.283185307179586476925286766559005768L * (long double)(k % n) / (long double)n;
    return (double)cosl(angle) - (double)sinl(angle) * I;
}

static number a[LONGEST], b[LONGEST], c[LONGEST], a_hat[LONGEST], b_hat[LONGEST], c_hat[LONGEST];

static int64_t random_length(void) {
    return random_between(1, random_between(0, 1) ? 100 : LONGEST);
}

static void the_transform_is_linear(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = random_length();
        const double re = random_number(), im = random_number();
        const number factor = re + im * I;
        fill(a, n);
        fill(b, n);
        for (int64_t j = 0; j < n; j++) c[j] = a[j] + factor * b[j];
        transform(engine, n, WEFT_FORWARD, a, a_hat);
        transform(engine, n, WEFT_FORWARD, b, b_hat);
        transform(engine, n, WEFT_FORWARD, c, c_hat);
        for (int64_t k = 0; k < n; k++) a_hat[k] += factor * b_hat[k];
        assert_close(c_hat, a_hat, n);
    }
}

static void an_impulse_becomes_a_plane_wave(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = random_length(), at = random_between(0, n - 1);
        for (int64_t j = 0; j < n; j++) a[j] = j == at ? 1 : 0;
        for (int64_t k = 0; k < n; k++) b[k] = root_of_unity(k * at, n);
        transform(engine, n, WEFT_FORWARD, a, a_hat);
        assert_close(a_hat, b, n);
    }
}

static void a_shift_turns_the_phases(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = random_length(), by = random_between(0, n - 1);
        fill(a, n);
        for (int64_t j = 0; j < n; j++) b[(j + by) % n] = a[j];
        transform(engine, n, WEFT_FORWARD, a, a_hat);
        transform(engine, n, WEFT_FORWARD, b, b_hat);
        for (int64_t k = 0; k < n; k++) a_hat[k] *= root_of_unity(k * by, n);
        assert_close(b_hat, a_hat, n);
    }
}

static void the_energy_is_kept(void **state) { /* Parseval */
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = random_length();
        fill(a, n);
        transform(engine, n, WEFT_FORWARD, a, a_hat);
        double before = energy(a, n), after = energy(a_hat, n) / (double)n;
        /* Energies may differ by twice the relative error of the numbers, and by their own
         * rounding. */
        const weft_transform t = {.dims = 1, .dim = {{.n = n}}};
        assert_true(fabs(after - before) <= (2 * weft_allowed_error(&t) + 4 * 0x1p-53) * before);
    }
}

static void the_inverse_gives_back_n_times_the_data(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = random_length();
        fill(a, n);
        transform(engine, n, WEFT_FORWARD, a, a_hat);
        transform(engine, n, WEFT_INVERSE, a_hat, b);
        for (int64_t j = 0; j < n; j++) b[j] /= (double)n;
        assert_close(b, a, n);
    }
}

static void conjugates_give_the_reversed_conjugate(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = random_length();
        fill(a, n);
        for (int64_t j = 0; j < n; j++) b[j] = conj(a[j]);
        transform(engine, n, WEFT_FORWARD, a, a_hat);
        transform(engine, n, WEFT_FORWARD, b, b_hat);
        for (int64_t k = 0; k < n; k++) c[k] = conj(a_hat[(n - k) % n]);
        assert_close(b_hat, c, n);
    }
}

#define TEST(ops, name)                                                                            \
    { #ops " " #name, name, NULL, NULL, (void *)(uintptr_t)&ops }
#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    TEST(ops, the_transform_is_linear), TEST(ops, an_impulse_becomes_a_plane_wave),                \
        TEST(ops, a_shift_turns_the_phases), TEST(ops, the_energy_is_kept),                        \
        TEST(ops, the_inverse_gives_back_n_times_the_data),                                        \
        TEST(ops, conjugates_give_the_reversed_conjugate),

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
