/*
 * Arrays of other numbers than the transform's, padded and cropped: against transforms of what they
 * stand for, in every kind of storage but complex halves (test_halves.c), precision and direction.
 */
#include "stored_arrays.h"

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
        if (!(fabs(part_of(plain, a->out, i) - part_of(plain, a->wanted, i)) <=
              off + rounding_of(plain, part_of(plain, a->wanted, i))))
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
        const double same = get(WEFT_STORAGE_SAME, plain, a->wanted, whole_place(s, &r, i));
        double error = spread_error(s, plain, transforms, energy, parts) + rounding_of(plain, same);
        const double want = stored(storage, same, &error);
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
        cmocka_unit_test(engines_without_operators_convert_too),
        cmocka_unit_test(arrays_hold_the_storages_that_the_header_names),
        cmocka_unit_test(what_cannot_be_is_refused)};
    int status;
    if (!open_device(&status)) return status;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&ctx);
    return status;
}
