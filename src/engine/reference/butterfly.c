/*
 * Butterflies of radix 2, 3, 4, 5 and any odd prime. A twiddle factor of 1 (p = 0, so all of the
 * last pass) is left out rather than multiplied by: each of the functions is compiled both ways.
 */
#include "engine/reference/butterfly.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Goes before a loop over columns: its iterations are independent, which the compiler cannot see
 * from the strides alone. */
#if defined(__clang__)
/* Without optimization, Clang warns that the loop was not vectorized. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT_COLUMNS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT_COLUMNS _Pragma("GCC ivdep")
#else
#define INDEPENDENT_COLUMNS
#endif

typedef struct twiddle {
    double re, im;
} twiddle;

ALWAYS_INLINE twiddle root(const weft_butterfly *pass, int64_t index) {
    return (twiddle){pass->roots.re[index], pass->roots.im[index]};
}

/* y[q] = (re + i im) * w */
ALWAYS_INLINE void store(double *restrict y_re, double *restrict y_im, int64_t q, double re,
                         double im, twiddle w, bool twiddled) {
    y_re[q] = twiddled ? re * w.re - im * w.im : re;
    y_im[q] = twiddled ? re * w.im + im * w.re : im;
}

ALWAYS_INLINE void radix_2(const weft_butterfly *pass, int64_t p, const double *restrict x_re,
                           const double *restrict x_im, double *restrict y_re,
                           double *restrict y_im, bool twiddled) {
    const int64_t inner = pass->inner, jump = pass->rest * inner;
    const twiddle w = root(pass, p * pass->spread);
    INDEPENDENT_COLUMNS
    for (int64_t q = 0; q < inner; q++) {
        double a_re = x_re[q], a_im = x_im[q];
        double b_re = x_re[q + jump], b_im = x_im[q + jump];
        store(y_re, y_im, q, a_re + b_re, a_im + b_im, w, false);
        store(y_re + inner, y_im + inner, q, a_re - b_re, a_im - b_im, w, twiddled);
    }
}

ALWAYS_INLINE void radix_3(const weft_butterfly *pass, int64_t p, const double *restrict x_re,
                           const double *restrict x_im, double *restrict y_re,
                           double *restrict y_im, bool twiddled) {
    const int64_t inner = pass->inner, jump = pass->rest * inner;
    const twiddle w1 = root(pass, p * pass->spread), w2 = root(pass, 2 * p * pass->spread);
    const double sine = 0.866025403784438646763723170752936183; /* sin(2 pi / 3) */
    INDEPENDENT_COLUMNS
    for (int64_t q = 0; q < inner; q++) {
        double a_re = x_re[q], a_im = x_im[q];
        double b_re = x_re[q + jump], b_im = x_im[q + jump];
        double c_re = x_re[q + 2 * jump], c_im = x_im[q + 2 * jump];
        double sum_re = b_re + c_re, sum_im = b_im + c_im;
        double turned_re = sine * (b_im - c_im), turned_im = sine * (c_re - b_re);
        double middle_re = a_re - 0.5 * sum_re, middle_im = a_im - 0.5 * sum_im;
        store(y_re, y_im, q, a_re + sum_re, a_im + sum_im, w1, false);
        store(y_re + inner, y_im + inner, q, middle_re + turned_re, middle_im + turned_im, w1,
              twiddled);
        store(y_re + 2 * inner, y_im + 2 * inner, q, middle_re - turned_re, middle_im - turned_im,
              w2, twiddled);
    }
}

ALWAYS_INLINE void radix_4(const weft_butterfly *pass, int64_t p, const double *restrict x_re,
                           const double *restrict x_im, double *restrict y_re,
                           double *restrict y_im, bool twiddled) {
    const int64_t inner = pass->inner, jump = pass->rest * inner;
    const twiddle w1 = root(pass, p * pass->spread), w2 = root(pass, 2 * p * pass->spread),
                  w3 = root(pass, 3 * p * pass->spread);
    INDEPENDENT_COLUMNS
    for (int64_t q = 0; q < inner; q++) {
        double a_re = x_re[q] + x_re[q + 2 * jump], a_im = x_im[q] + x_im[q + 2 * jump];
        double b_re = x_re[q] - x_re[q + 2 * jump], b_im = x_im[q] - x_im[q + 2 * jump];
        double c_re = x_re[q + jump] + x_re[q + 3 * jump];
        double c_im = x_im[q + jump] + x_im[q + 3 * jump];
        double d_re = x_re[q + jump] - x_re[q + 3 * jump];
        double d_im = x_im[q + jump] - x_im[q + 3 * jump];
        store(y_re, y_im, q, a_re + c_re, a_im + c_im, w1, false);
        store(y_re + inner, y_im + inner, q, b_re + d_im, b_im - d_re, w1, twiddled);
        store(y_re + 2 * inner, y_im + 2 * inner, q, a_re - c_re, a_im - c_im, w2, twiddled);
        store(y_re + 3 * inner, y_im + 3 * inner, q, b_re - d_im, b_im + d_re, w3, twiddled);
    }
}

ALWAYS_INLINE void radix_5(const weft_butterfly *pass, int64_t p, const double *restrict x_re,
                           const double *restrict x_im, double *restrict y_re,
                           double *restrict y_im, bool twiddled) {
    const int64_t inner = pass->inner, jump = pass->rest * inner;
    const double c1 = 0.309016994374947424102293417182819059;  /* cos(2 pi / 5) */
    const double c2 = -0.809016994374947424102293417182819059; /* cos(4 pi / 5) */
    const double s1 = 0.951056516295153572116439333379382143;  /* sin(2 pi / 5) */
    const double s2 = 0.587785252292473129168705954639072769;  /* sin(4 pi / 5) */
    twiddle w[5];
    for (int k = 1; k < 5; k++) w[k] = root(pass, k * p * pass->spread);
    INDEPENDENT_COLUMNS
    for (int64_t q = 0; q < inner; q++) {
        const double *a_re = &x_re[q], *a_im = &x_im[q];
        double sum1_re = a_re[jump] + a_re[4 * jump], sum1_im = a_im[jump] + a_im[4 * jump];
        double sum2_re = a_re[2 * jump] + a_re[3 * jump], sum2_im = a_im[2 * jump] + a_im[3 * jump];
        double dif1_re = a_re[jump] - a_re[4 * jump], dif1_im = a_im[jump] - a_im[4 * jump];
        double dif2_re = a_re[2 * jump] - a_re[3 * jump], dif2_im = a_im[2 * jump] - a_im[3 * jump];
        double even1_re = a_re[0] + (c1 * sum1_re + c2 * sum2_re);
        double even1_im = a_im[0] + (c1 * sum1_im + c2 * sum2_im);
        double even2_re = a_re[0] + (c2 * sum1_re + c1 * sum2_re);
        double even2_im = a_im[0] + (c2 * sum1_im + c1 * sum2_im);
        double odd1_re = s1 * dif1_re + s2 * dif2_re, odd1_im = s1 * dif1_im + s2 * dif2_im;
        double odd2_re = s2 * dif1_re - s1 * dif2_re, odd2_im = s2 * dif1_im - s1 * dif2_im;
        double *b_re = &y_re[q], *b_im = &y_im[q];
        store(b_re, b_im, 0, a_re[0] + (sum1_re + sum2_re), a_im[0] + (sum1_im + sum2_im), w[1],
              false);
        store(b_re, b_im, inner, even1_re + odd1_im, even1_im - odd1_re, w[1], twiddled);
        store(b_re, b_im, 2 * inner, even2_re + odd2_im, even2_im - odd2_re, w[2], twiddled);
        store(b_re, b_im, 3 * inner, even2_re - odd2_im, even2_im + odd2_re, w[3], twiddled);
        store(b_re, b_im, 4 * inner, even1_re - odd1_im, even1_im + odd1_re, w[4], twiddled);
    }
}

/* ---- odd radices ---- */

enum { CHUNK = 8, HALF_RADIX = WEFT_LARGEST_RADIX / 2 };

/* Sums and differences of the inputs j and radix - j, for a chunk of columns. */
typedef struct symmetric_pairs {
    double sum_re[HALF_RADIX][CHUNK], sum_im[HALF_RADIX][CHUNK];
    double difference_re[HALF_RADIX][CHUNK], difference_im[HALF_RADIX][CHUNK];
} symmetric_pairs;

/* Loads columns q..q+count-1 in pairs and stores output 0, the sum of all. */
static void load_pairs(const weft_butterfly *pass, const double *restrict x_re,
                       const double *restrict x_im, int64_t q, int count,
                       symmetric_pairs *restrict pairs, double *restrict y_re,
                       double *restrict y_im) {
    const int64_t jump = pass->rest * pass->inner;
    double total_re[CHUNK] = {0}, total_im[CHUNK] = {0};
    for (int j = 0; j < pass->radix / 2; j++) {
        const int64_t low = q + (j + 1) * jump, high = q + (pass->radix - 1 - j) * jump;
        INDEPENDENT_COLUMNS
        for (int c = 0; c < count; c++) {
            pairs->sum_re[j][c] = x_re[low + c] + x_re[high + c];
            pairs->sum_im[j][c] = x_im[low + c] + x_im[high + c];
            pairs->difference_re[j][c] = x_re[low + c] - x_re[high + c];
            pairs->difference_im[j][c] = x_im[low + c] - x_im[high + c];
            total_re[c] += pairs->sum_re[j][c];
            total_im[c] += pairs->sum_im[j][c];
        }
        /* The sums have a fixed length, so missing columns are computed, too, and not stored. */
        for (int c = count; c < CHUNK; c++) {
            pairs->sum_re[j][c] = pairs->sum_im[j][c] = 0;
            pairs->difference_re[j][c] = pairs->difference_im[j][c] = 0;
        }
    }
    INDEPENDENT_COLUMNS
    for (int c = 0; c < count; c++) {
        y_re[q + c] = x_re[q + c] + total_re[c];
        y_im[q + c] = x_im[q + c] + total_im[c];
    }
}

/* Computes outputs k and radix - k, which share their sums: with C = sum cos(2 pi jk/radix) (x_j +
 * x_-j) and S the same of sines and differences, they are x_0 + C -+ i S. */
ALWAYS_INLINE void odd_outputs(const weft_butterfly *pass, int64_t p, int k,
                               const double *restrict x_re, const double *restrict x_im, int64_t q,
                               int count, const symmetric_pairs *restrict pairs,
                               double *restrict y_re, double *restrict y_im, bool twiddled) {
    const int64_t radix = pass->radix, inner = pass->inner, step = pass->n / radix;
    double c_re[CHUNK] = {0}, c_im[CHUNK] = {0}, s_re[CHUNK] = {0}, s_im[CHUNK] = {0};
    for (int j = 0; j < radix / 2; j++) {
        const twiddle w = root(pass, (int64_t)(j + 1) * k % radix * step);
        for (int c = 0; c < CHUNK; c++) {
            c_re[c] += w.re * pairs->sum_re[j][c];
            c_im[c] += w.re * pairs->sum_im[j][c];
            s_re[c] -= w.im * pairs->difference_re[j][c];
            s_im[c] -= w.im * pairs->difference_im[j][c];
        }
    }
    const twiddle low = root(pass, k * p * pass->spread);
    const twiddle high = root(pass, (radix - k) * p * pass->spread);
    INDEPENDENT_COLUMNS
    for (int c = 0; c < count; c++) {
        double even_re = x_re[q + c] + c_re[c], even_im = x_im[q + c] + c_im[c];
        store(y_re + k * inner, y_im + k * inner, q + c, even_re + s_im[c], even_im - s_re[c], low,
              twiddled);
        store(y_re + (radix - k) * inner, y_im + (radix - k) * inner, q + c, even_re - s_im[c],
              even_im + s_re[c], high, twiddled);
    }
}

ALWAYS_INLINE void radix_odd(const weft_butterfly *pass, int64_t p, const double *restrict x_re,
                             const double *restrict x_im, double *restrict y_re,
                             double *restrict y_im, bool twiddled) {
    symmetric_pairs pairs;
    for (int64_t q = 0; q < pass->inner; q += CHUNK) {
        int count = pass->inner - q < CHUNK ? (int)(pass->inner - q) : CHUNK;
        load_pairs(pass, x_re, x_im, q, count, &pairs, y_re, y_im);
        for (int k = 1; k <= pass->radix / 2; k++)
            odd_outputs(pass, p, k, x_re, x_im, q, count, &pairs, y_re, y_im, twiddled);
    }
}

/* ---- choice ---- */

ALWAYS_INLINE void butterfly(const weft_butterfly *pass, int64_t p, const double *x_re,
                             const double *x_im, double *y_re, double *y_im, bool twiddled) {
    switch (pass->radix) {
    case 2:
        radix_2(pass, p, x_re, x_im, y_re, y_im, twiddled);
        break;
    case 3:
        radix_3(pass, p, x_re, x_im, y_re, y_im, twiddled);
        break;
    case 4:
        radix_4(pass, p, x_re, x_im, y_re, y_im, twiddled);
        break;
    case 5:
        radix_5(pass, p, x_re, x_im, y_re, y_im, twiddled);
        break;
    default:
        radix_odd(pass, p, x_re, x_im, y_re, y_im, twiddled);
        break;
    }
}

void weft_butterfly_run(const weft_butterfly *pass, weft_lines x, weft_lines y) {
    butterfly(pass, 0, x.re, x.im, y.re, y.im, false);
    for (int64_t p = 1; p < pass->rest; p++) {
        const int64_t from = p * pass->inner, to = p * pass->radix * pass->inner;
        butterfly(pass, p, x.re + from, x.im + from, y.re + to, y.im + to, true);
    }
}
