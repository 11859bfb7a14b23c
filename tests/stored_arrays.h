/*
 * For tests of callers' arrays that hold other numbers than the transform's: shapes, numbers of
 * each storage, running a problem on arrays, and how far results may be off. WEFT_TEST_DEVICE names
 * another device than the host; a test is skipped where it is neither there nor promised.
 */
#ifndef WEFT_TESTS_STORED_ARRAYS_H
#define WEFT_TESTS_STORED_ARRAYS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <weft/weft.h>

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/product_oracle.h"
#include "promised_device.h"

enum { MOST = 4096 };

static weft_context ctx;
static weft_device device;
static weft_engine engine; /* the device's own, where a test sets no other */

typedef struct shape {
    int rank;
    int64_t n[3], pad_from[3];
} shape;

static const shape shapes[] = {
    {1, {30}, {0}},      {1, {30}, {17}},           {1, {13}, {6}},          {2, {12, 20}, {7, 13}},
    {2, {6, 9}, {0, 4}}, {3, {6, 5, 8}, {4, 5, 6}}, {3, {4, 6, 10}, {0, 0}}, {1, {9000}, {4000}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A test array: values of the whole real space, and which of them the caller's array has. */
typedef struct space {
    int64_t total, kept; /* elements of one, and of the caller's */
    int64_t kept_n[3];
} space;

static inline space space_of(const shape *s) {
    space r = {1, 1, {0}};
    for (int a = 0; a < s->rank; a++) {
        r.kept_n[a] = s->pad_from[a] > 0 ? s->pad_from[a] : s->n[a];
        r.total *= s->n[a];
        r.kept *= r.kept_n[a];
    }
    return r;
}

/* Where element i of the caller's array lies in the whole one. */
static inline int64_t whole_place(const shape *s, const space *r, int64_t i) {
    int64_t index[3] = {0}, place = 0;
    for (int a = s->rank - 1; a >= 0; a--) {
        index[a] = i % r->kept_n[a];
        i /= r->kept_n[a];
    }
    for (int a = 0; a < s->rank; a++) place = place * s->n[a] + index[a];
    return place;
}

/* Exact in every kind of storage, and far from where integers round. */
static inline double sample(int64_t i) {
    return (double)(i * 37 % 200) + 0.25;
}

/* ---- numbers of a kind of storage ---- */

static inline size_t storage_bytes(weft_storage storage, const weft_problem *p) {
    static const size_t bytes[] = {0, 1, 2, 2, 2, 4, 8, 1, 4};
    if (storage != WEFT_STORAGE_SAME) return bytes[storage];
    return (p->precision == WEFT_SINGLE ? 4u : 8u) * (p->kind == WEFT_C2C ? 2u : 1u);
}

static inline uint16_t half_of(double x) { /* of numbers that have one */
    if (x == 0) return 0;
    int exponent;
    const double fraction = frexp(fabs(x), &exponent);
    return (uint16_t)((x < 0 ? 0x8000 : 0) + ((exponent + 14) << 10) +
                      (int)(fraction * 2048 + 0.5) - 1024);
}

static inline void put(weft_storage storage, const weft_problem *p, void *data, int64_t i,
                       double x) {
    const bool complex_numbers = p->kind == WEFT_C2C, single = p->precision == WEFT_SINGLE;
    if (storage == WEFT_STORAGE_U8) ((uint8_t *)data)[i] = (uint8_t)x;
    if (storage == WEFT_STORAGE_I16) ((int16_t *)data)[i] = (int16_t)x;
    if (storage == WEFT_STORAGE_U16) ((uint16_t *)data)[i] = (uint16_t)x;
    if (storage == WEFT_STORAGE_HALF) ((uint16_t *)data)[i] = half_of(x);
    if (storage == WEFT_STORAGE_FLOAT) ((float *)data)[i] = (float)x;
    if (storage == WEFT_STORAGE_DOUBLE) ((double *)data)[i] = x;
    if (storage != WEFT_STORAGE_SAME) return;
    if (single && complex_numbers) ((float complex *)data)[i] = (float)x;
    if (single && !complex_numbers) ((float *)data)[i] = (float)x;
    if (!single && complex_numbers) ((double complex *)data)[i] = x;
    if (!single && !complex_numbers) ((double *)data)[i] = x;
}

static inline double get(weft_storage storage, const weft_problem *p, const void *data, int64_t i) {
    const bool complex_numbers = p->kind == WEFT_C2C, single = p->precision == WEFT_SINGLE;
    if (storage == WEFT_STORAGE_U8 || storage == WEFT_STORAGE_DECIBEL_U8)
        return ((const uint8_t *)data)[i];
    if (storage == WEFT_STORAGE_I16) return ((const int16_t *)data)[i];
    if (storage == WEFT_STORAGE_U16) return ((const uint16_t *)data)[i];
    if (storage == WEFT_STORAGE_FLOAT) return ((const float *)data)[i];
    if (storage == WEFT_STORAGE_DOUBLE) return ((const double *)data)[i];
    if (storage == WEFT_STORAGE_HALF) {
        const uint16_t half = ((const uint16_t *)data)[i];
        const double size = (half & 0x7fff) < 0x400
                                ? ldexp(half & 0x3ff, -24)
                                : ldexp((half & 0x3ff) + 1024, (half >> 10 & 31) - 25);
        return half & 0x8000 ? -size : size;
    }
    if (single && complex_numbers) return crealf(((const float complex *)data)[i]);
    if (single) return ((const float *)data)[i];
    return complex_numbers ? creal(((const double complex *)data)[i]) : ((const double *)data)[i];
}

/* What `x` becomes when stored; *error gets how much it may be off: half the distance of two
 * neighbouring numbers, of halves below 2^-14 too, and as before where x itself was off. */
static inline double stored(weft_storage storage, double x, double *error) {
    const double least[] = {-1e300, 0, -32768, 0}, most[] = {1e300, 255, 32767, 65535};
    if (storage == WEFT_STORAGE_HALF) *error += (fabs(x) + *error) * 0x1p-11 + 0x1p-25;
    if (storage == WEFT_STORAGE_FLOAT) *error += (fabs(x) + *error) * 0x1p-24;
    if (storage == WEFT_STORAGE_SAME || storage >= WEFT_STORAGE_HALF) return x;
    *error = 0;
    return nearbyint(x < least[storage] ? least[storage] : x > most[storage] ? most[storage] : x);
}

/* ---- plans ---- */

static inline void run(const weft_problem *problem, weft_direction direction, const void *in,
                       size_t in_bytes, void *out, size_t out_bytes) {
    const weft_options options = {.device = device,
                                  .engine = engine,
                                  .location = WEFT_LOCATION_HOST,
                                  .convolve = direction == WEFT_CONVOLVE};
    weft_plan plan = NULL;
    size_t bytes[2];
    if (weft_plan_create(ctx, problem, &options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    weft_plan_bytes(plan, direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(plan, direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT, &bytes[1]);
    assert_true(bytes[0] >= in_bytes && bytes[1] >= out_bytes);
    char *from = calloc(1, bytes[0] + 1), *to = malloc(bytes[1] + 1);
    memcpy(from, in, in_bytes);
    memset(to, 0xA5, bytes[1] + 1);
    if (weft_execute(plan, direction, from, to) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    memcpy(out, to, out_bytes);
    assert_int_equal((unsigned char)to[bytes[1]], 0xA5);
    free(from);
    free(to);
    weft_plan_destroy(&plan);
}

static inline weft_problem problem_of(const shape *s, int variant) {
    weft_problem p = {.rank = s->rank,
                      .kind = variant & 1 ? WEFT_R2C : WEFT_C2C,
                      .precision = variant & 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                      .norm = WEFT_NORM_BACKWARD};
    memcpy(p.n, s->n, (size_t)s->rank * sizeof p.n[0]);
    return p;
}

static inline int64_t spectrum_numbers(const shape *s, const weft_problem *p) {
    int64_t count = space_of(s).total;
    if (p->kind == WEFT_R2C) count = count / s->n[s->rank - 1] * (s->n[s->rank - 1] / 2 + 1);
    return count;
}

static inline double part_of(const weft_problem *p, const void *spectrum, int64_t i) {
    return p->precision == WEFT_SINGLE ? ((const float *)spectrum)[i]
                                       : ((const double *)spectrum)[i];
}

/* How far an element may be off after `transforms` of them on either side of a comparison, each of
 * which keeps the error rule. Errors of a transform are spread over its elements alike: none has 8
 * times the root mean square, which of `parts` real and imaginary parts is `energy`. */
static inline double spread_error(const shape *s, const weft_problem *p, int transforms,
                                  double energy, int64_t parts) {
    enum { SIDES = 2, BEYOND_MEAN = 8 };
    const double rule = oracle_tolerance(s->rank, s->n, p->precision == WEFT_SINGLE);
    return SIDES * BEYOND_MEAN * transforms * rule * sqrt(energy / (double)parts);
}

/* What rounding makes of an element on both sides: of one far above the mean, such as frequency 0
 * of numbers above 0, more than its share of the transform's errors. */
static inline double rounding_of(const weft_problem *p, double element) {
    return 2 * (p->precision == WEFT_SINGLE ? FLT_EPSILON : DBL_EPSILON) * fabs(element);
}

static inline double energy_of(const weft_problem *p, const void *data, int64_t parts) {
    double sum = 0;
    for (int64_t i = 0; i < parts; i++) sum += part_of(p, data, i) * part_of(p, data, i);
    return sum;
}

typedef struct arrays {
    double complex in[2 * MOST], whole[8 * MOST], spectrum[8 * MOST], wanted[8 * MOST];
    char out[128 * MOST];
} arrays;

/* Opens the context, on the device that the environment names. False where that cannot be: *status
 * is then how the program ends. */
static inline bool open_device(int *status) {
    const char *name = getenv("WEFT_TEST_DEVICE");
    const weft_problem p = {.rank = 1, .n = {4}, .precision = WEFT_SINGLE};
    weft_plan plan = NULL;
    for (int d = WEFT_HOST; name && d <= WEFT_SIMULATED; d++)
        if (strcmp(weft_device_name((weft_device)d), name) == 0) device = (weft_device)d;
    *status = 1;
    if (name && strcmp(weft_device_name(device), name) != 0) return false;
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS) return false;
    const weft_options options = {.device = device};
    const bool there = weft_plan_create(ctx, &p, &options, &plan) == WEFT_SUCCESS;
    weft_plan_destroy(&plan);
    if (there) return true;
    print_message("%s\n", weft_last_error(ctx));
    weft_context_destroy(&ctx);
    *status = status_without(device);
    return false;
}

#endif
