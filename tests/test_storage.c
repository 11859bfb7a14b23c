/*
 * Arrays of other numbers than the transform's, padded and cropped: against transforms of what they
 * stand for, in every kind of storage, precision and direction. WEFT_TEST_DEVICE names another
 * device than the host; skipped where it is neither there nor promised.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <weft/weft.h>

#include <complex.h>
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

static space space_of(const shape *s) {
    space r = {1, 1, {0}};
    for (int a = 0; a < s->rank; a++) {
        r.kept_n[a] = s->pad_from[a] > 0 ? s->pad_from[a] : s->n[a];
        r.total *= s->n[a];
        r.kept *= r.kept_n[a];
    }
    return r;
}

/* Where element i of the caller's array lies in the whole one. */
static int64_t whole_place(const shape *s, const space *r, int64_t i) {
    int64_t index[3] = {0}, place = 0;
    for (int a = s->rank - 1; a >= 0; a--) {
        index[a] = i % r->kept_n[a];
        i /= r->kept_n[a];
    }
    for (int a = 0; a < s->rank; a++) place = place * s->n[a] + index[a];
    return place;
}

/* Exact in every kind of storage, and far from where integers round. */
static double sample(int64_t i) {
    return (double)(i * 37 % 200) + 0.25;
}

/* ---- numbers of a kind of storage ---- */

static size_t storage_bytes(weft_storage storage, const weft_problem *p) {
    static const size_t bytes[] = {0, 1, 2, 2, 2, 4, 8, 1, 4};
    if (storage != WEFT_STORAGE_SAME) return bytes[storage];
    return (p->precision == WEFT_SINGLE ? 4u : 8u) * (p->kind == WEFT_C2C ? 2u : 1u);
}

static uint16_t half_of(double x) { /* of numbers that have one */
    if (x == 0) return 0;
    int exponent;
    const double fraction = frexp(fabs(x), &exponent);
    return (uint16_t)((x < 0 ? 0x8000 : 0) + ((exponent + 14) << 10) +
                      (int)(fraction * 2048 + 0.5) - 1024);
}

static void put(weft_storage storage, const weft_problem *p, void *data, int64_t i, double x) {
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

static double get(weft_storage storage, const weft_problem *p, const void *data, int64_t i) {
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
static double stored(weft_storage storage, double x, double *error) {
    const double least[] = {-1e300, 0, -32768, 0}, most[] = {1e300, 255, 32767, 65535};
    if (storage == WEFT_STORAGE_HALF) *error += (fabs(x) + *error) * 0x1p-11 + 0x1p-25;
    if (storage == WEFT_STORAGE_FLOAT) *error += (fabs(x) + *error) * 0x1p-24;
    if (storage == WEFT_STORAGE_SAME || storage >= WEFT_STORAGE_HALF) return x;
    *error = 0;
    return nearbyint(x < least[storage] ? least[storage] : x > most[storage] ? most[storage] : x);
}

/* ---- plans ---- */

static void run(const weft_problem *problem, weft_direction direction, const void *in,
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

static weft_problem problem_of(const shape *s, int variant) {
    weft_problem p = {.rank = s->rank,
                      .kind = variant & 1 ? WEFT_R2C : WEFT_C2C,
                      .precision = variant & 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                      .norm = WEFT_NORM_BACKWARD};
    memcpy(p.n, s->n, (size_t)s->rank * sizeof p.n[0]);
    return p;
}

static int64_t spectrum_numbers(const shape *s, const weft_problem *p) {
    int64_t count = space_of(s).total;
    if (p->kind == WEFT_R2C) count = count / s->n[s->rank - 1] * (s->n[s->rank - 1] / 2 + 1);
    return count;
}

static double part_of(const weft_problem *p, const void *spectrum, int64_t i) {
    return p->precision == WEFT_SINGLE ? ((const float *)spectrum)[i]
                                       : ((const double *)spectrum)[i];
}

/* How far an element may be off after `transforms` of them on either side of a comparison, each of
 * which keeps the error rule. Errors of a transform are spread over its elements alike: none has 8
 * times the root mean square, which of `parts` real and imaginary parts is `energy`. */
static double spread_error(const shape *s, const weft_problem *p, int transforms, double energy,
                           int64_t parts) {
    enum { SIDES = 2, BEYOND_MEAN = 8 };
    const double rule = oracle_tolerance(s->rank, s->n, p->precision == WEFT_SINGLE);
    return SIDES * BEYOND_MEAN * transforms * rule * sqrt(energy / (double)parts);
}

static double energy_of(const weft_problem *p, const void *data, int64_t parts) {
    double sum = 0;
    for (int64_t i = 0; i < parts; i++) sum += part_of(p, data, i) * part_of(p, data, i);
    return sum;
}

typedef struct arrays {
    double complex in[2 * MOST], whole[8 * MOST], spectrum[8 * MOST], wanted[8 * MOST];
    char out[128 * MOST];
} arrays;

/* The whole array in the transform's own numbers, zeros where the caller's has none; and the
 * caller's. */
static void fill(const shape *s, const weft_problem *p, weft_storage storage, arrays *a) {
    const space r = space_of(s);
    memset(a->whole, 0, sizeof a->whole);
    for (int64_t i = 0; i < r.kept; i++) {
        const double x = storage == WEFT_STORAGE_SAME || storage >= WEFT_STORAGE_HALF
                             ? sample(i)
                             : floor(sample(i));
        put(storage, p, a->in, i, x);
        put(WEFT_STORAGE_SAME, p, a->whole, whole_place(s, &r, i), x);
    }
}

static void check_load(const shape *s, const weft_problem *plain, weft_storage storage, arrays *a) {
    const space r = space_of(s);
    const size_t same = storage_bytes(WEFT_STORAGE_SAME, plain);
    const size_t number = plain->precision == WEFT_SINGLE ? 4 : 8;
    const size_t bytes = (size_t)spectrum_numbers(s, plain) * 2 * number;
    weft_problem p = *plain;
    p.load_storage = storage;
    memcpy(p.pad_from, s->pad_from, sizeof s->pad_from);
    fill(s, plain, storage, a);
    run(plain, WEFT_FORWARD, a->whole, (size_t)r.total * same, a->wanted, bytes);
    run(&p, WEFT_FORWARD, a->in, (size_t)r.kept * storage_bytes(storage, plain), a->out, bytes);
    const int64_t parts = 2 * spectrum_numbers(s, plain);
    const double off = spread_error(s, plain, 1, energy_of(plain, a->wanted, parts), parts);
    for (int64_t i = 0; i < parts; i++)
        if (!(fabs(part_of(plain, a->out, i) - part_of(plain, a->wanted, i)) <= off))
            fail_msg("loading storage %d, kind %d, precision %d, rank %d of %lld: %g, not %g",
                     storage, plain->kind, plain->precision, s->rank, (long long)s->n[0],
                     part_of(plain, a->out, i), part_of(plain, a->wanted, i));
}

/* What an inverse, or a convolution of two transforms, stores. */
static void compare_stored(const shape *s, const weft_problem *plain, weft_storage storage,
                           int transforms, const arrays *a) {
    const space r = space_of(s);
    const int64_t parts = r.total * (plain->kind == WEFT_C2C ? 2 : 1);
    const double energy = energy_of(plain, a->wanted, parts);
    for (int64_t i = 0; i < r.kept; i++) {
        double error = spread_error(s, plain, transforms, energy, parts);
        const double want = stored(
            storage, get(WEFT_STORAGE_SAME, plain, a->wanted, whole_place(s, &r, i)), &error);
        const double got = get(storage, plain, a->out, i);
        if (!(fabs(got - want) <= error))
            fail_msg("storing storage %d, kind %d, precision %d, rank %d of %lld at %lld: %g, not "
                     "%g",
                     storage, plain->kind, plain->precision, s->rank, (long long)s->n[0],
                     (long long)i, got, want);
    }
}

/* Twice the sample less 100: some of it is outside of what integers can hold. */
static void check_store(const shape *s, const weft_problem *plain, weft_storage storage,
                        arrays *a) {
    const space r = space_of(s);
    const size_t same = storage_bytes(WEFT_STORAGE_SAME, plain);
    const size_t number = plain->precision == WEFT_SINGLE ? 4 : 8;
    const size_t bytes = (size_t)spectrum_numbers(s, plain) * 2 * number;
    weft_problem p = *plain;
    p.store_storage = storage;
    memcpy(p.pad_from, s->pad_from, sizeof s->pad_from);
    for (int64_t i = 0; i < r.total; i++)
        put(WEFT_STORAGE_SAME, plain, a->whole, i, 2 * sample(i) - 100.25);
    run(plain, WEFT_FORWARD, a->whole, (size_t)r.total * same, a->spectrum, bytes);
    run(plain, WEFT_INVERSE, a->spectrum, bytes, a->wanted, (size_t)r.total * same);
    run(&p, WEFT_INVERSE, a->spectrum, bytes, a->out,
        (size_t)r.kept * storage_bytes(storage, plain));
    compare_stored(s, plain, storage, 1, a);
}

/* Of padded data, with a factor: a convolution that loads and stores the same storage. */
static void check_convolve(const shape *s, const weft_problem *plain, weft_storage storage,
                           arrays *a) {
    const weft_operator half = {.kind = WEFT_OPERATOR_SCALE, .factor = 0.5};
    const space r = space_of(s);
    const size_t same = storage_bytes(WEFT_STORAGE_SAME, plain);
    weft_problem whole = *plain;
    whole.spectral = (weft_operators){&half, 1};
    weft_problem p = whole;
    p.load_storage = p.store_storage = storage;
    p.spectral_storage = WEFT_STORAGE_DECIBEL_U8; /* is not what lies between */
    p.decibels[1] = 80;
    memcpy(p.pad_from, s->pad_from, sizeof s->pad_from);
    fill(s, plain, storage, a);
    for (int64_t i = 0; i < r.kept; i++) { /* halves are not to be halfway between integers */
        const double x = 2 * floor(sample(i) / 2);
        put(storage, plain, a->in, i, x);
        put(WEFT_STORAGE_SAME, plain, a->whole, whole_place(s, &r, i), x);
    }
    run(&whole, WEFT_CONVOLVE, a->whole, (size_t)r.total * same, a->wanted, (size_t)r.total * same);
    run(&p, WEFT_CONVOLVE, a->in, (size_t)r.kept * storage_bytes(storage, plain), a->out,
        (size_t)r.kept * storage_bytes(storage, plain));
    compare_stored(s, plain, storage, 2, a);
}

static void check_decibels(const shape *s, const weft_problem *plain, arrays *a) {
    const space r = space_of(s);
    const size_t same = storage_bytes(WEFT_STORAGE_SAME, plain);
    const int64_t numbers = spectrum_numbers(s, plain);
    weft_problem p = *plain;
    p.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
    p.decibels[0] = 20;
    p.decibels[1] = 90;
    for (int64_t i = 0; i < r.total; i++) put(WEFT_STORAGE_SAME, plain, a->whole, i, sample(i * i));
    run(plain, WEFT_FORWARD, a->whole, (size_t)r.total * same, a->wanted,
        (size_t)numbers * 2 * (plain->precision == WEFT_SINGLE ? 4 : 8));
    run(&p, WEFT_FORWARD, a->whole, (size_t)r.total * same, a->out, (size_t)numbers);
    for (int64_t i = 0; i < numbers; i++) {
        const double re = part_of(plain, a->wanted, 2 * i);
        const double im = part_of(plain, a->wanted, 2 * i + 1);
        double want = (10 * log10(re * re + im * im) - 20) * 255 / 70;
        want = want < 0 ? 0 : want > 255 ? 255 : want;
        assert_true(fabs(get(WEFT_STORAGE_DECIBEL_U8, plain, a->out, i) - want) <= 0.51);
    }
}

/* ---- complex halves ---- */

/* As halves, and in the transform's own numbers: parts that halves hold exactly. */
static void fill_halves(const weft_problem *p, int64_t numbers, void *halves, void *same) {
    for (int64_t i = 0; i < 2 * numbers; i++) {
        const double x = sample(i * 5) * (i % 3 ? 1 : -1);
        ((uint16_t *)halves)[i] = half_of(x);
        if (p->precision == WEFT_SINGLE)
            ((float *)same)[i] = (float)x;
        else
            ((double *)same)[i] = x;
    }
}

static void check_parts(const shape *s, const weft_problem *p, int64_t parts, const void *got,
                        bool got_halves, const void *want) {
    const double error = spread_error(s, p, 1, energy_of(p, want, parts), parts);
    for (int64_t i = 0; i < parts; i++) {
        const double x = got_halves ? get(WEFT_STORAGE_HALF, p, got, i) : part_of(p, got, i);
        double allowed = error;
        if (got_halves) stored(WEFT_STORAGE_HALF, part_of(p, want, i), &allowed);
        if (!(fabs(x - part_of(p, want, i)) <= allowed))
            fail_msg("part %lld of %lld: %g, not %g", (long long)i, (long long)parts, x,
                     part_of(p, want, i));
    }
}

/* Each end of either direction in halves, the other one in the transform's numbers. */
static void check_complex_halves(const shape *s, const weft_problem *plain, arrays *a) {
    const bool complex_space = plain->kind == WEFT_C2C;
    const int64_t points = space_of(s).total, numbers = spectrum_numbers(s, plain);
    const size_t number = plain->precision == WEFT_SINGLE ? 4 : 8;
    const size_t real_bytes = (size_t)points * number * (complex_space ? 2 : 1);
    const size_t spectrum_bytes = (size_t)numbers * 2 * number;
    weft_problem p = *plain;
    fill_halves(plain, points, a->in, a->whole);
    run(plain, WEFT_FORWARD, a->whole, real_bytes, a->wanted, spectrum_bytes);
    if (complex_space) {
        p.load_storage = WEFT_STORAGE_COMPLEX_HALF;
        run(&p, WEFT_FORWARD, a->in, (size_t)points * 4, a->out, spectrum_bytes);
        check_parts(s, plain, 2 * numbers, a->out, false, a->wanted);
        p.load_storage = WEFT_STORAGE_SAME;
    }
    p.spectral_storage = WEFT_STORAGE_COMPLEX_HALF;
    run(&p, WEFT_FORWARD, a->whole, real_bytes, a->out, (size_t)numbers * 4);
    check_parts(s, plain, 2 * numbers, a->out, true, a->wanted);
    if (!complex_space && device == WEFT_CUDA) return; /* no spectrum of real data, says cuFFT */
    fill_halves(plain, numbers, a->in, a->spectrum);
    run(plain, WEFT_INVERSE, a->spectrum, spectrum_bytes, a->wanted, real_bytes);
    run(&p, WEFT_INVERSE, a->in, (size_t)numbers * 4, a->out, real_bytes);
    check_parts(s, plain, points * (complex_space ? 2 : 1), a->out, false, a->wanted);
    if (!complex_space) return;
    p.store_storage = WEFT_STORAGE_COMPLEX_HALF;
    run(&p, WEFT_INVERSE, a->in, (size_t)numbers * 4, a->out, (size_t)points * 4);
    check_parts(s, plain, 2 * points, a->out, true, a->wanted);
}

static void complex_halves_stand_for_complex_numbers(void **state) {
    (void)state;
    arrays *a = malloc(sizeof *a);
    for (int k = 0; k < SHAPES; k++)
        for (int variant = 0; variant < 4; variant++) {
            weft_problem p = problem_of(&shapes[k], variant);
            p.norm = WEFT_NORM_ORTHO; /* spectra that halves reach */
            if (device != WEFT_HOST && variant != k % 4) continue;
            check_complex_halves(&shapes[k], &p, a);
        }
    free(a);
}

/* Half precision is single precision with storages. */
static void half_precision_is_arrays_of_halves(void **state) {
    (void)state;
    arrays *a = malloc(sizeof *a);
    for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++)
        for (int direction = WEFT_FORWARD; direction <= WEFT_INVERSE; direction++) {
            const shape *s = &shapes[6];
            weft_problem p = problem_of(s, 2 + (kind == WEFT_R2C)), half = p;
            const bool from_space = direction == WEFT_FORWARD;
            const int64_t points = space_of(s).total, numbers = spectrum_numbers(s, &p);
            const size_t bytes[] = {(size_t)points * (kind == WEFT_C2C ? 4 : 2),
                                    (size_t)numbers * 4};
            if (kind == WEFT_R2C && !from_space && device == WEFT_CUDA) continue; /* as above */
            half.precision = WEFT_HALF;
            p.load_storage = p.store_storage =
                kind == WEFT_C2C ? WEFT_STORAGE_COMPLEX_HALF : WEFT_STORAGE_HALF;
            p.spectral_storage = WEFT_STORAGE_COMPLEX_HALF;
            fill_halves(&p, points, a->in, a->whole);
            run(&p, (weft_direction)direction, a->in, bytes[!from_space], a->wanted,
                bytes[from_space]);
            run(&half, (weft_direction)direction, a->in, bytes[!from_space], a->out,
                bytes[from_space]);
            assert_memory_equal(a->out, a->wanted, bytes[from_space]);
        }
    free(a);
}

/* Pictures come of the numbers before they were halves, and there is no way back from them: what an
 * inverse transform loads is what a problem in half precision has otherwise. */
static void half_precision_with_pictures_loads_halves(void **state) {
    (void)state;
    arrays *a = malloc(sizeof *a);
    const shape *s = &shapes[6];
    weft_problem single = problem_of(s, 2), half = single;
    const size_t numbers = (size_t)spectrum_numbers(s, &single);
    single.load_storage = single.store_storage = WEFT_STORAGE_COMPLEX_HALF;
    single.decibels[1] = half.decibels[1] = 90;
    half.precision = WEFT_HALF;
    half.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
    fill_halves(&single, (int64_t)numbers, a->in, a->whole);
    single.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
    run(&single, WEFT_FORWARD, a->in, numbers * 4, a->wanted, numbers);
    run(&half, WEFT_FORWARD, a->in, numbers * 4, a->out, numbers);
    assert_memory_equal(a->out, a->wanted, numbers);
    single.spectral_storage = WEFT_STORAGE_COMPLEX_HALF;
    run(&single, WEFT_INVERSE, a->in, numbers * 4, a->wanted, numbers * 4);
    run(&half, WEFT_INVERSE, a->in, numbers * 4, a->out, numbers * 4);
    assert_memory_equal(a->out, a->wanted, numbers * 4);
    free(a);
}

static void every_storage_stands_for_its_numbers(void **state) {
    (void)state;
    arrays *a = malloc(sizeof *a);
    const bool whole = device == WEFT_HOST;
    unsigned turn = 0;
    for (int k = 0; k < SHAPES; k++)
        for (int variant = 0; variant < 4; variant++)
            for (int storage = 0; storage <= WEFT_STORAGE_DOUBLE; storage++, turn++) {
                const weft_problem p = problem_of(&shapes[k], variant);
                /* Kernels take their time to compile. */
                if (!whole && turn % 19 != (unsigned)k % 19) continue;
                check_load(&shapes[k], &p, (weft_storage)storage, a);
                check_store(&shapes[k], &p, (weft_storage)storage, a);
                check_convolve(&shapes[k], &p, (weft_storage)storage, a);
            }
    free(a);
}

static void spectra_are_stored_in_decibels(void **state) {
    (void)state;
    arrays *a = malloc(sizeof *a);
    for (int k = 0; k < SHAPES; k++)
        for (int variant = 0; variant < 4; variant++) {
            const weft_problem p = problem_of(&shapes[k], variant);
            if (device != WEFT_HOST && (k % 3 != 0 || variant != (k / 3 + 1) % 4)) continue;
            check_decibels(&shapes[k], &p, a);
        }
    free(a);
}

/* One plan there and back, on buffers of the device, which keeps the picture of the spectrum. */
static void convolve_and_keep(const weft_problem *p, const void *in, size_t in_bytes, void *picture,
                              size_t picture_bytes) {
    const weft_options options = {.device = device, .convolve = 1, .keep_spectrum = 1};
    const weft_space spaces[] = {WEFT_INPUT, WEFT_OUTPUT, WEFT_INPUT};
    weft_plan plan = NULL;
    void *buffer[3] = {NULL};
    if (weft_plan_create(ctx, p, &options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    for (int i = 0; i < 3; i++) {
        size_t bytes;
        weft_plan_bytes(plan, spaces[i], &bytes);
        assert_int_equal(weft_buffer_create(plan, bytes, &buffer[i]), WEFT_SUCCESS);
    }
    assert_int_equal(weft_buffer_upload(plan, buffer[0], in, in_bytes), WEFT_SUCCESS);
    memset(picture, 0xA5, picture_bytes);
    assert_int_equal(weft_buffer_upload(plan, buffer[1], picture, picture_bytes), WEFT_SUCCESS);
    if (weft_convolve(plan, buffer[0], buffer[1], buffer[2]) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    assert_int_equal(weft_buffer_download(plan, picture, buffer[1], picture_bytes), WEFT_SUCCESS);
    for (int i = 0; i < 3; i++) weft_buffer_destroy(plan, &buffer[i]);
    weft_plan_destroy(&plan);
}

/* From bytes to bytes, with a picture on the way: that of the forward transform, but for numbers
 * between two levels. */
static void convolutions_keep_pictures(void **state) {
    (void)state;
    arrays *a = malloc(sizeof *a);
    for (int k = 0; k < SHAPES; k++)
        for (int variant = 0; variant < 4; variant++) {
            const int64_t *pad = shapes[k].pad_from;
            if (device != WEFT_HOST && (k % 3 != 0 || variant != (k / 3 + 2) % 4)) continue;
            weft_problem p = problem_of(&shapes[k], variant);
            const size_t kept = (size_t)space_of(&shapes[k]).kept;
            const int64_t numbers = spectrum_numbers(&shapes[k], &p);
            p.load_storage = p.store_storage = WEFT_STORAGE_U8;
            p.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
            p.decibels[1] = 90;
            memcpy(p.pad_from, pad, sizeof shapes[k].pad_from);
            for (size_t i = 0; i < kept; i++)
                put(WEFT_STORAGE_U8, &p, a->in, (int64_t)i, sample((int64_t)(i * i)));
            run(&p, WEFT_FORWARD, a->in, kept, a->wanted, (size_t)numbers);
            convolve_and_keep(&p, a->in, kept, a->out, (size_t)numbers);
            for (int64_t i = 0; i < numbers; i++)
                assert_true(fabs(get(WEFT_STORAGE_DECIBEL_U8, &p, a->out, i) -
                                 get(WEFT_STORAGE_DECIBEL_U8, &p, a->wanted, i)) <=
                            (device == WEFT_HOST ? 0 : 1));
        }
    free(a);
}

/* Padded bytes as complex numbers, loaded and stored by passes of their own. */
static void engines_without_operators_convert_too(void **state) {
    (void)state;
    enum { N = 6, KEPT = 4 };
    const uint8_t bytes[KEPT] = {3, 1, 255, 7};
    uint8_t back[KEPT];
    double numbers[2 * N];
    const weft_problem p = {.rank = 1,
                            .n = {N},
                            .kind = WEFT_C2C,
                            .load_storage = WEFT_STORAGE_U8,
                            .store_storage = WEFT_STORAGE_U8,
                            .pad_from = {KEPT}};
    engine = WEFT_ENGINE_IDENTITY;
    run(&p, WEFT_FORWARD, bytes, sizeof bytes, numbers, sizeof numbers);
    for (int i = 0; i < 2 * N; i++)
        assert_true(numbers[i] == (i % 2 == 0 && i < 2 * KEPT ? bytes[i / 2] : 0));
    run(&p, WEFT_INVERSE, numbers, sizeof numbers, back, sizeof back);
    assert_memory_equal(back, bytes, sizeof bytes);
    engine = WEFT_ENGINE_AUTO;
}

static void refuses(const weft_problem *p, const weft_options *o, weft_status status,
                    const char *word) {
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, p, o, &plan), status);
    assert_non_null(strstr(weft_last_error(ctx), word));
}

/* As weft_storage says: by the place of an array and by its kind. */
static void arrays_hold_the_storages_that_the_header_names(void **state) {
    (void)state;
    const weft_options options = {.device = WEFT_HOST}; /* kernels take their time to compile */
    for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++)
        for (int place = 0; place < 3; place++)
            for (int storage = -1; storage <= WEFT_STORAGE_COMPLEX_HALF + 1; storage++) {
                weft_problem p = {.rank = 1, .n = {8}, .kind = (weft_kind)kind, .decibels = {0, 9}};
                weft_plan plan = NULL;
                weft_storage *at[] = {&p.load_storage, &p.spectral_storage, &p.store_storage};
                const bool spectrum = place == 1, halves = storage == WEFT_STORAGE_COMPLEX_HALF;
                const bool numbers = storage >= 0 && storage <= WEFT_STORAGE_DOUBLE;
                const bool held = spectrum ? storage == WEFT_STORAGE_SAME || halves ||
                                                 storage == WEFT_STORAGE_DECIBEL_U8
                                           : numbers || (halves && kind == WEFT_C2C);
                *at[place] = (weft_storage)storage;
                assert_int_equal(weft_plan_create(ctx, &p, &options, &plan),
                                 held ? WEFT_SUCCESS : WEFT_ERROR_INVALID_ARGUMENT);
                weft_plan_destroy(&plan);
            }
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    const weft_brick brick = {.box = {.n = {8}}};
    const weft_options none = {0}, in_place = {.placement = WEFT_IN_PLACE};
    const weft_problem p = {.rank = 1, .n = {8}};
    weft_problem bad = p;
    bad.kind = WEFT_R2C;
    bad.load_storage = WEFT_STORAGE_COMPLEX_HALF;
    refuses(&bad, &none, WEFT_ERROR_INVALID_ARGUMENT, "load_storage");
    bad.load_storage = WEFT_STORAGE_DECIBEL_U8;
    refuses(&bad, &none, WEFT_ERROR_INVALID_ARGUMENT, "load_storage");
    bad = p;
    bad.spectral_storage = WEFT_STORAGE_U8;
    refuses(&bad, &none, WEFT_ERROR_INVALID_ARGUMENT, "spectral_storage");
    bad.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
    refuses(&bad, &none, WEFT_ERROR_INVALID_ARGUMENT, "decibels");
    bad = p;
    bad.pad_from[0] = 9;
    refuses(&bad, &none, WEFT_ERROR_INVALID_ARGUMENT, "pad_from[0]");
    bad.pad_from[0] = 5;
    refuses(&bad, &in_place, WEFT_ERROR_UNSUPPORTED, "in place");
    bad.input = bad.output = &brick;
    refuses(&bad, &none, WEFT_ERROR_UNSUPPORTED, "problem.input");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_storage_stands_for_its_numbers),
        cmocka_unit_test(spectra_are_stored_in_decibels),
        cmocka_unit_test(convolutions_keep_pictures),
        cmocka_unit_test(half_precision_is_arrays_of_halves),
        cmocka_unit_test(complex_halves_stand_for_complex_numbers),
        cmocka_unit_test(engines_without_operators_convert_too),
        cmocka_unit_test(half_precision_with_pictures_loads_halves),
        cmocka_unit_test(arrays_hold_the_storages_that_the_header_names),
        cmocka_unit_test(what_cannot_be_is_refused)};
    const char *name = getenv("WEFT_TEST_DEVICE");
    const weft_problem p = {.rank = 1, .n = {4}, .precision = WEFT_SINGLE};
    weft_plan plan = NULL;
    for (int d = WEFT_HOST; name && d <= WEFT_SIMULATED; d++)
        if (strcmp(weft_device_name((weft_device)d), name) == 0) device = (weft_device)d;
    if (name && strcmp(weft_device_name(device), name) != 0) return 1;
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS) return 1;
    const weft_options options = {.device = device};
    const bool there = weft_plan_create(ctx, &p, &options, &plan) == WEFT_SUCCESS;
    weft_plan_destroy(&plan);
    if (!there) print_message("%s\n", weft_last_error(ctx));
    const int failed = there ? cmocka_run_group_tests(tests, NULL, NULL) : status_without(device);
    weft_context_destroy(&ctx);
    return failed;
}
