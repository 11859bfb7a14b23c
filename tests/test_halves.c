/*
 * Arrays of complex halves, and half precision, which is single precision with arrays of halves:
 * against transforms of the numbers that they stand for.
 */
#include "stored_arrays.h"

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
        double allowed = error + rounding_of(p, part_of(p, want, i));
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(half_precision_is_arrays_of_halves),
                                       cmocka_unit_test(complex_halves_stand_for_complex_numbers),
                                       cmocka_unit_test(half_precision_with_pictures_loads_halves)};
    int status;
    if (!open_device(&status)) return status;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&ctx);
    return status;
}
