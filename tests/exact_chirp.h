/*
 * The sums of exact_dft.h and exact_r2r.h as convolutions with a chirp (Bluestein 1970), in long
 * double: n log n operations for every length, where the sums take n^2 for a large prime. Tests of
 * all lengths compare with it, which would take hours where long double is software, as in an
 * emulator of ARM. test_engine_lengths.c holds it to the sums.
 */
#ifndef WEFT_TESTS_EXACT_CHIRP_H
#define WEFT_TESTS_EXACT_CHIRP_H

#include "support/exact_dft.h"
#include "support/exact_r2r.h"

/* The roots of unity of order n, each the product of one from either of two tables of about sqrt(n)
 * entries: software takes long for a sine. */
typedef struct exact_wheel {
    int64_t n, block;
    exact_complex *coarse, *fine; /* roots number block * j; number j */
} exact_wheel;

static inline exact_wheel exact_wheel_create(int64_t n) {
    exact_wheel wheel = {.n = n, .block = 1};
    while (wheel.block * wheel.block < n) wheel.block *= 2;
    const int64_t blocks = (n - 1) / wheel.block + 1;
    wheel.coarse = malloc((size_t)blocks * sizeof *wheel.coarse);
    wheel.fine = malloc((size_t)wheel.block * sizeof *wheel.fine);
    for (int64_t j = 0; j < blocks; j++) wheel.coarse[j] = exact_root(j * wheel.block, n, 1);
    for (int64_t j = 0; j < wheel.block && j < n; j++) wheel.fine[j] = exact_root(j, n, 1);
    return wheel;
}

static inline void exact_wheel_destroy(exact_wheel *wheel) {
    free(wheel->coarse);
    free(wheel->fine);
}

/* CMPLXL, which Clang lacks: re + im * I would multiply by 0 as well. */
static inline exact_complex exact_number(long double re, long double im) {
    const union {
        long double part[2];
        exact_complex whole;
    } number = {{re, im}};
    return number.whole;
}

/* By components: the operator * of C11 looks for infinities. */
static inline exact_complex exact_product(exact_complex a, exact_complex b) {
    const long double c = creall(a), s = cimagl(a), x = creall(b), y = cimagl(b);
    return exact_number(c * x - s * y, c * y + s * x);
}

static inline exact_complex exact_wheel_root(const exact_wheel *wheel, int64_t k) {
    return exact_product(wheel->coarse[k / wheel->block], wheel->fine[k % wheel->block]);
}

/* The forward transform of n points in[0], in[stride] and so on, n a power of two, by radix 4;
 * `roots` are those of order n * stride. */
static inline void exact_power_of_two(int64_t n, const exact_complex *in, int64_t stride,
                                      exact_complex *out, const exact_complex *roots) {
    if (n <= 2) {
        out[0] = n == 2 ? in[0] + in[stride] : in[0];
        if (n == 2) out[1] = in[0] - in[stride];
        return;
    }
    const int64_t m = n / 4;
    for (int64_t q = 0; q < 4; q++)
        exact_power_of_two(m, in + q * stride, 4 * stride, out + q * m, roots);
    for (int64_t k = 0; k < m; k++) {
        exact_complex x[4];
        for (int64_t q = 0; q < 4; q++)
            x[q] =
                q * k == 0 ? out[q * m + k] : exact_product(out[q * m + k], roots[q * k * stride]);
        const exact_complex a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
        const exact_complex turned = exact_number(cimagl(d), -creall(d)); /* -i d */
        out[k] = a + c;
        out[m + k] = b + turned;
        out[2 * m + k] = a - c;
        out[3 * m + k] = b - turned;
    }
}

/* X[k] = sum_j x[j] exp(sign 2 pi i (j + from/2) (k + to/2) / period), j and k from 0 to n - 1. */
typedef struct exact_phases {
    int64_t n, period;
    int sign, from, to;
} exact_phases;

/* exp(sign pi i m^2 / (4 period)). With J = 2j + from and K = 2k + to, 2 J K is J^2 + K^2 -
 * (K - J)^2, so that a phase of the sum is the product of three of these. */
static inline exact_complex exact_chirp(const exact_wheel *wheel, int sign, int64_t m) {
    const exact_complex root = exact_wheel_root(wheel, m * m % wheel->n);
    return sign > 0 ? root : conjl(root);
}

/* Does the sums in place for lines one after the other. */
static inline void exact_chirp_sums(const exact_phases *p, int64_t lines, exact_complex *x) {
    int64_t size = 1; /* of the convolution */
    while (size < 2 * p->n - 1) size *= 2;
    exact_wheel wheel = exact_wheel_create(8 * p->period), round = exact_wheel_create(size);
    exact_complex *memory = calloc((size_t)(5 * size), sizeof *memory), *roots = memory,
                  *chirp = roots + size, *kernel = chirp + size, *line = kernel + size,
                  *spectrum = line + size;
    for (int64_t k = 0; k < size; k++) roots[k] = conjl(exact_wheel_root(&round, k));
    for (int64_t d = 1 - p->n; d < p->n; d++)
        line[(d + size) % size] = exact_chirp(&wheel, -p->sign, 2 * d + p->to - p->from);
    exact_power_of_two(size, line, 1, kernel, roots);
    for (int64_t l = 0; l < lines; l++, x += p->n) {
        for (int64_t j = 0; j < size; j++)
            line[j] =
                j < p->n ? exact_product(x[j], exact_chirp(&wheel, p->sign, 2 * j + p->from)) : 0;
        exact_power_of_two(size, line, 1, spectrum, roots);
        for (int64_t k = 0; k < size; k++) spectrum[k] = exact_product(spectrum[k], kernel[k]);
        /* The inverse transform is the forward one read backwards. */
        exact_power_of_two(size, spectrum, 1, line, roots);
        for (int64_t k = 0; k < p->n; k++)
            x[k] = exact_product(line[(size - k) % size] / (long double)size,
                                 exact_chirp(&wheel, p->sign, 2 * k + p->to));
    }
    free(memory);
    exact_wheel_destroy(&round);
    exact_wheel_destroy(&wheel);
}

/* As exact_dft_axis, of lines one after the other. */
static inline void exact_chirp_dft(int64_t lines, int64_t n, int sign, exact_complex *x) {
    const exact_phases p = {.n = n, .period = n, .sign = sign};
    exact_chirp_sums(&p, lines, x);
}

/* As r2r_define_axis, of lines one after the other: a sum of cosines of real numbers is the real
 * part of one of exponentials, and one of sines the imaginary part. */
static inline void exact_chirp_r2r(weft_axis type, int64_t lines, int64_t n, long double *x) {
    const bool sine = weft_axis_is_sine(type);
    const int64_t in_lag = (int)type == WEFT_DST3_ALIGNED, out_lag = (int)type == WEFT_DST2_ALIGNED;
    const weft_axis in_order = weft_axis_in_order(type);
    const int number = weft_axis_number(type), whole = sine ? 2 : 0; /* points from 0 or 1 on */
    const exact_phases p = {.n = n,
                            .period = (int64_t)weft_axis_length(type, n),
                            .sign = 1,
                            .from = number == 2 || number == 4 ? 1 : whole,
                            .to = number == 3 || number == 4 ? 1 : whole};
    exact_complex *sums = malloc((size_t)(lines * n) * sizeof *sums);
    for (int64_t i = 0; i < lines * n; i++)
        sums[i] = (long double)r2r_term_of(in_order, n, i % n, 0).weight *
                  x[i - i % n + (i + in_lag) % n];
    exact_chirp_sums(&p, lines, sums);
    for (int64_t i = 0; i < lines * n; i++)
        x[i - i % n + (i + out_lag) % n] = sine ? cimagl(sums[i]) : creall(sums[i]);
    free(sums);
}

#endif
