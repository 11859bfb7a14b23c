/*
 * Callers' buffers: at which addresses they may lie, how large they are in place, which of them
 * overlap. WEFT_TEST_DEVICE names another device than the host, WEFT_TEST_ENGINE an engine; skipped
 * where the device cannot be used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/context.h"
#include "thread_transport.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static weft_context ctx;
static weft_device device;
static weft_engine engine; /* the device's own, if no other is named */

static weft_plan plan_of(const weft_problem *p, weft_options o) {
    weft_plan plan = NULL;
    o.device = device;
    o.engine = engine;
    if (weft_plan_create(ctx, p, &o, &plan) != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
    return plan;
}

/* ---- alignment ---- */

enum { ENDS = 3, LAST_OFFSET = 16 }; /* in, out, kept spectrum */

/* What an array holds, and what its address is a multiple of. */
static const size_t storage_bytes[] = {0, 1, 2, 2, 2, 4, 8, 1, 4};

/* Whether arrays without a storage of their own are aligned to pairs: cuFFT's, and those of kernels
 * that do nothing but operators or conversions. */
static bool wants_pairs(weft_plan plan) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(weft_plan_explain(plan, stream, WEFT_JSON), WEFT_SUCCESS);
    fclose(stream);
    const bool pass = strstr(text, "\"pointwise\"") != NULL;
    const bool cufft = strstr(text, "\"engine\": \"cufft\"") != NULL;
    free(text);
    return cufft || ((device == WEFT_CUDA || device == WEFT_OPENCL) && pass);
}

static size_t unit_of(weft_storage storage, weft_precision precision, bool pairs) {
    const size_t number = precision == WEFT_DOUBLE ? 8 : 4;
    return storage != WEFT_STORAGE_SAME ? storage_bytes[storage] : pairs ? 2 * number : number;
}

/* Numbers that every storage has, without infinities. */
static void fill(weft_storage storage, weft_precision precision, void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        const int x = (int)(i * 37 % 60);
        if (storage == WEFT_STORAGE_U8) ((uint8_t *)data)[i] = (uint8_t)x;
        if (i % 2 == 0 && (storage == WEFT_STORAGE_I16 || storage == WEFT_STORAGE_U16))
            ((uint16_t *)data)[i / 2] = (uint16_t)x;
        if (i % 2 == 0 && (storage == WEFT_STORAGE_HALF || storage == WEFT_STORAGE_COMPLEX_HALF))
            ((uint16_t *)data)[i / 2] = (uint16_t)(0x3c00 + x);
        const bool same = storage == WEFT_STORAGE_SAME;
        if (i % 4 == 0 && (storage == WEFT_STORAGE_FLOAT || (same && precision == WEFT_SINGLE)))
            ((float *)data)[i / 4] = (float)x;
        if (i % 8 == 0 && (storage == WEFT_STORAGE_DOUBLE || (same && precision == WEFT_DOUBLE)))
            ((double *)data)[i / 8] = x;
    }
}

typedef struct array {
    size_t bytes, unit;
    void *buffer;
} array;

/* As much as the array has, where it may be used for more. */
static size_t box_bytes(weft_plan plan, const weft_problem *p, weft_space space,
                        weft_storage storage) {
    const bool real = p->kind == WEFT_R2C && space == WEFT_INPUT;
    const bool pair = !real && storage == WEFT_STORAGE_SAME;
    weft_box box;
    size_t elements = 1, number = p->precision == WEFT_DOUBLE ? 8 : 4;
    assert_int_equal(weft_plan_box(plan, space, 0, &box), WEFT_SUCCESS);
    for (int a = 0; a < p->rank; a++) elements *= (size_t)box.n[a];
    return elements * (pair                           ? 2 * number
                       : storage == WEFT_STORAGE_SAME ? number
                                                      : storage_bytes[storage]);
}

/* The plan's results, from and to buffers so far from where they begin. */
static weft_status run_at(weft_plan plan, weft_direction direction, const array *a,
                          const size_t *offset, const void *data, void *out, void *kept) {
    char *at[ENDS];
    for (int e = 0; e < ENDS; e++) at[e] = a[e].buffer ? (char *)a[e].buffer + offset[e] : NULL;
    assert_int_equal(weft_buffer_upload(plan, at[0], data, a[0].bytes), WEFT_SUCCESS);
    weft_status status = direction == WEFT_CONVOLVE ? weft_convolve(plan, at[0], at[2], at[1])
                                                    : weft_execute(plan, direction, at[0], at[1]);
    if (status != WEFT_SUCCESS) return status;
    assert_int_equal(weft_buffer_download(plan, out, at[1], a[1].bytes), WEFT_SUCCESS);
    if (at[2]) assert_int_equal(weft_buffer_download(plan, kept, at[2], a[2].bytes), WEFT_SUCCESS);
    return status;
}

/* Each array in turn at every offset: refused, or with the same results. */
static void check_offsets(const weft_problem *p, weft_direction direction, weft_storage in_storage,
                          weft_storage out_storage) {
    const bool convolves = direction == WEFT_CONVOLVE;
    const weft_space from = direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    weft_plan plan = plan_of(p, (weft_options){.placement = WEFT_OUT_OF_PLACE,
                                               .convolve = convolves,
                                               .keep_spectrum = convolves});
    const bool pairs = wants_pairs(plan);
    array a[ENDS] = {{.unit = unit_of(in_storage, p->precision, pairs)},
                     {.unit = unit_of(out_storage, p->precision, pairs)},
                     {.unit = unit_of(p->spectral_storage, p->precision, pairs)}};
    weft_plan_bytes(plan, from, &a[0].bytes);
    weft_plan_bytes(plan, to, &a[1].bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &a[2].bytes);
    const size_t gets = box_bytes(plan, p, to, out_storage);
    const size_t keeps = box_bytes(plan, p, WEFT_OUTPUT, p->spectral_storage);
    char *data = calloc(1, a[0].bytes), *out[2], *kept[2];
    for (int i = 0; i < 2; i++) {
        out[i] = calloc(1, a[1].bytes);
        kept[i] = calloc(1, a[2].bytes);
    }
    fill(in_storage, p->precision, data, a[0].bytes);
    for (int e = 0; e < (convolves ? ENDS : 2); e++)
        assert_int_equal(weft_buffer_create(plan, a[e].bytes + LAST_OFFSET, &a[e].buffer),
                         WEFT_SUCCESS);
    size_t offset[ENDS] = {0};
    assert_int_equal(run_at(plan, direction, a, offset, data, out[0], kept[0]), WEFT_SUCCESS);
    for (int e = 0; e < (convolves ? ENDS : 2); e++) {
        for (offset[e] = 1; offset[e] <= LAST_OFFSET; offset[e]++) {
            const bool fits = offset[e] % a[e].unit == 0;
            const weft_status status = run_at(plan, direction, a, offset, data, out[1], kept[1]);
            if (status != (fits ? WEFT_SUCCESS : WEFT_ERROR_INVALID_ARGUMENT))
                fail_msg("direction %d, storages %s, %s, %s: array %d at offset %zu: %s: %s",
                         direction, weft_storage_name(in_storage),
                         weft_storage_name(p->spectral_storage), weft_storage_name(out_storage), e,
                         offset[e], weft_status_name(status), weft_last_error(ctx));
            if (!fits || engine == WEFT_ENGINE_FFTW) continue; /* whose bits depend on it */
            assert_memory_equal(out[0], out[1], gets);
            if (convolves) assert_memory_equal(kept[0], kept[1], keeps);
        }
        offset[e] = 0;
    }
    for (int e = 0; e < ENDS; e++) weft_buffer_destroy(plan, &a[e].buffer);
    for (int i = 0; i < 2; i++) {
        free(out[i]);
        free(kept[i]);
    }
    free(data);
    weft_plan_destroy(&plan);
}

static const weft_storage spectral[] = {WEFT_STORAGE_SAME, WEFT_STORAGE_DECIBEL_U8,
                                        WEFT_STORAGE_COMPLEX_HALF};

/* Kernels take their time to compile: on devices each storage once at each end. */
static bool left_out(const weft_problem *p, int spectral_turn) {
    const int turn = (int)p->load_storage;
    if (device == WEFT_HOST || device == WEFT_SIMULATED) return false;
    return p->rank > 1 || spectral_turn != turn % 3 || (int)p->kind != turn / 3 % 2 ||
           p->precision != (turn % 2 ? WEFT_SINGLE : WEFT_DOUBLE);
}

static bool can_be(weft_storage storage, weft_kind kind) {
    return storage != WEFT_STORAGE_DECIBEL_U8 &&
           (storage != WEFT_STORAGE_COMPLEX_HALF || kind == WEFT_C2C);
}

static void arrays_lie_at_any_multiple_of_their_numbers(void **state) {
    (void)state;
    static const weft_problem shapes[] = {{.rank = 3, .n = {3, 4, 6}}, {.rank = 1, .n = {64}}};
    const bool whole = device == WEFT_HOST || device == WEFT_SIMULATED;
    for (int k = 0; k < 8; k++)
        for (int storage = 0; storage <= WEFT_STORAGE_COMPLEX_HALF; storage++)
            for (int s = 0; s < 3; s++) {
                weft_problem p = shapes[k % 2];
                p.kind = k / 2 % 2 ? WEFT_R2C : WEFT_C2C;
                p.precision = k / 4 ? WEFT_SINGLE : WEFT_DOUBLE;
                p.norm = WEFT_NORM_ORTHO;
                p.load_storage = p.store_storage = (weft_storage)storage;
                p.spectral_storage = spectral[s];
                p.decibels[1] = 60;
                if (!can_be(p.load_storage, p.kind) || left_out(&p, s)) continue;
                check_offsets(&p, WEFT_FORWARD, p.load_storage, spectral[s]);
                if (whole || s == storage % 2)
                    check_offsets(&p, WEFT_CONVOLVE, p.load_storage, p.store_storage);
                if (device == WEFT_CUDA && p.kind == WEFT_R2C) continue; /* no real spectrum */
                check_offsets(&p, WEFT_INVERSE, s == 1 ? WEFT_STORAGE_SAME : spectral[s],
                              p.store_storage);
            }
}

/* ---- sizes ---- */

/* In a buffer of so many bytes; of real data, by the impulse at the origin. */
static void check_in_place(const weft_problem *p, int convolve) {
    const weft_options options = {.placement = WEFT_IN_PLACE, .convolve = convolve};
    weft_plan plan = plan_of(p, options), any = plan_of(p, (weft_options){.convolve = convolve});
    size_t in = 0, out = 0, larger = 0, other = 0;
    assert_int_equal(weft_plan_bytes(plan, WEFT_INPUT, &in), WEFT_SUCCESS);
    assert_int_equal(weft_plan_bytes(plan, WEFT_OUTPUT, &out), WEFT_SUCCESS);
    weft_plan_bytes(any, WEFT_INPUT, &larger);
    weft_plan_bytes(any, WEFT_OUTPUT, &other);
    if (other > larger) larger = other;
    assert_int_equal(in, out);
    assert_true(in > 0 && in <= larger);
    double *data = calloc(1, in), points = 1;
    void *buffer = NULL;
    data[0] = 1;
    for (int a = 0; a < p->rank; a++) points *= (double)p->n[a];
    assert_int_equal(weft_buffer_create(plan, in, &buffer), WEFT_SUCCESS);
    assert_int_equal(weft_buffer_upload(plan, buffer, data, in), WEFT_SUCCESS);
    for (int direction = WEFT_FORWARD; direction <= (convolve ? WEFT_CONVOLVE : WEFT_INVERSE);
         direction++)
        assert_int_equal(weft_execute(plan, (weft_direction)direction, buffer, buffer),
                         WEFT_SUCCESS);
    assert_int_equal(weft_buffer_download(plan, data, buffer, in), WEFT_SUCCESS);
    assert_true(fabs(data[0] - pow(points, convolve ? 2 : 1)) < 1e-9 * points * points);
    weft_buffer_destroy(plan, &buffer);
    free(data);
    weft_plan_destroy(&any);
    weft_plan_destroy(&plan);
}

static void plans_in_place_tell_the_size_of_the_one_buffer(void **state) {
    (void)state;
    static const weft_problem shapes[] = {
        {.rank = 1, .n = {16}}, {.rank = 3, .n = {3, 4, 6}, .batch = 2}, {.rank = 2, .n = {5, 7}}};
    for (int k = 0; k < 3; k++)
        for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++)
            for (int convolve = 0; convolve < 2; convolve++) {
                weft_problem p = shapes[k];
                p.kind = (weft_kind)kind;
                check_in_place(&p, convolve);
            }
}

/* ---- overlap ---- */

/* Rank 2 of 3 has no row: what it passes as `in` may be any address, here one within `out`. */
static void pass_nothing(void *argument, weft_transport *transport) {
    bool *bad = argument;
    const weft_problem p = {.rank = 2, .n = {2, 6}};
    const weft_options options = {.decomposition = WEFT_SLAB_2D1D, .placement = WEFT_OUT_OF_PLACE};
    const int rank = transport->rank;
    weft_context own = NULL;
    weft_plan plan = NULL;
    size_t bytes[2] = {0};
    bad[rank] = true;
    if (weft_context_over_transport(transport, NULL, &own) != WEFT_SUCCESS) return;
    if (weft_plan_create(own, &p, &options, &plan) == WEFT_SUCCESS) {
        weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
        weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]);
        char *in = calloc(1, bytes[0] + 16), *out = calloc(1, bytes[1] + 16);
        const bool nothing = bytes[0] == 0;
        const weft_status status = weft_execute(plan, WEFT_FORWARD, nothing ? out + 16 : in, out);
        bad[rank] = nothing != (rank == 2) || status != WEFT_SUCCESS;
        free(in);
        free(out);
    }
    weft_plan_destroy(&plan);
    weft_context_destroy(&own);
}

static void an_empty_array_overlaps_with_none(void **state) {
    (void)state;
    bool bad[3];
    thread_ranks_run(3, pass_nothing, bad);
    for (int rank = 0; rank < 3; rank++) assert_false(bad[rank]);
}

/* ---- extents ---- */

/* The same plan as one that pads nothing: in place, and with bricks. */
static void arrays_that_reach_as_far_as_the_problem_are_not_padded(void **state) {
    (void)state;
    const weft_brick whole = {.box = {.n = {4, 6}}};
    weft_problem p = {.rank = 2, .n = {4, 6}, .pad_from = {4, 6}};
    check_in_place(&p, 0);
    p.input = p.output = &whole;
    weft_plan plan = plan_of(&p, (weft_options){.placement = WEFT_PLACEMENT_ANY});
    weft_plan_destroy(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_lie_at_any_multiple_of_their_numbers),
        cmocka_unit_test(plans_in_place_tell_the_size_of_the_one_buffer),
        cmocka_unit_test(an_empty_array_overlaps_with_none),
        cmocka_unit_test(arrays_that_reach_as_far_as_the_problem_are_not_padded),
    };
    const char *name = getenv("WEFT_TEST_DEVICE"), *with = getenv("WEFT_TEST_ENGINE");
    const weft_problem p = {.rank = 1, .n = {4}};
    weft_plan plan = NULL;
    for (int d = WEFT_HOST; name && d <= WEFT_SIMULATED; d++)
        if (strcmp(weft_device_name((weft_device)d), name) == 0) device = (weft_device)d;
    for (int e = WEFT_ENGINE_AUTO; with && e <= WEFT_ENGINE_IDENTITY; e++)
        if (strcmp(weft_engine_name((weft_engine)e), with) == 0) engine = (weft_engine)e;
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS) return 1;
    const weft_options options = {.device = device, .engine = engine};
    const bool there = weft_plan_create(ctx, &p, &options, &plan) == WEFT_SUCCESS;
    weft_plan_destroy(&plan);
    if (!there) printf("skipped: %s\n", weft_last_error(ctx));
    const int failed = there ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
    weft_context_destroy(&ctx);
    return failed;
}
