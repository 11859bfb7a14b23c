/*
 * The jit engine's methods for long lines, at lengths short enough for an exact result, since
 * tuning parameters can make any line count as long. Matrices in two and three kernels, folded
 * matrices, whole lines; batches in parts; lines of any strides, in place and out of place. Also
 * transforms of three dimensions that alternate between two arrays, and strided lines whose shapes
 * were measured.
 */
#include "test_engine.h"

#include "engine/jit/measured_line.h"
#include "engine/jit/tuning.h"

#include <limits.h>

/* The changes that planning below makes to the device's tuning; 0: none. */
typedef struct ways {
    int longest, folds, clustered; /* clustered: 0: no clusters */
    int64_t work;                  /* bytes; -1: no limit */
    int alternates;                /* 3-D transforms take another array, */
    bool refused;                  /* which they do not get */
    int rader;                     /* percent; 0: primes are Bluestein's */
} ways;

static ways wanted;
static const weft_device_ops *real_ops;
static int refusals;

static weft_status allocate_little(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                                   void **memory) {
    enum { LITTLE = 6000 };
    if (bytes < LITTLE) return real_ops->allocate(device, kind, bytes, memory);
    refusals++;
    return WEFT_ERROR_OUT_OF_MEMORY;
}

static weft_status plan_wanted(const weft_transform *t, const weft_device_handle *device,
                               weft_engine_plan **plan, size_t *bytes) {
    weft_kernel_limits limits;
    WEFT_TRY(device->ops->kernel_limits(device->state, &limits));
    weft_jit_tuning tuning = weft_jit_tuning_of(t->precision, &limits);
    tuning.longest = wanted.longest;
    tuning.folds = wanted.folds;
    tuning.clustered = wanted.clustered;
    tuning.rader = wanted.rader;
    if (wanted.clustered) tuning.cluster_bytes = 512; /* so that lines need several groups */
    tuning.longest_work = wanted.work < 0 ? SIZE_MAX : (size_t)wanted.work;
    if (wanted.alternates) tuning.alternates = wanted.alternates;
    if (!wanted.refused) return weft_jit_plan_with(t, device, &tuning, plan, bytes);
    static weft_device_ops little;
    real_ops = device->ops;
    little = *real_ops;
    little.allocate = allocate_little;
    return weft_jit_plan_with(t, &(weft_device_handle){.ops = &little, .state = device->state},
                              &tuning, plan, bytes);
}

typedef enum layout {
    ALONG,      /* points are neighbours */
    ACROSS,     /* lines are */
    TRANSPOSED, /* points on one side, lines on the other */
    SPREAD,     /* neither: gaps between points, and between lines */
    LAYOUTS
} layout;

static weft_transform lines_of(int64_t n, int64_t lines, weft_transform_kind kind,
                               weft_direction direction, layout lie) {
    static const int along[] = {0, 1}, across[] = {1, 0};
    static const int64_t none[2], gaps[] = {3, 1};
    weft_transform t = {.kind = kind,
                        .direction = direction,
                        .dims = 1,
                        .dim = {{.n = n}},
                        .loops = 1,
                        .loop = {{.n = lines}},
                        .destroy_input = true,
                        .threads = 1};
    lay_out(&t, false, lie == ACROSS ? across : along, lie == SPREAD ? gaps : none);
    lay_out(&t, true, lie == ACROSS || lie == TRANSPOSED ? across : along,
            lie == SPREAD ? gaps : none);
    return t;
}

static void check(const weft_engine_ops *given, weft_transform *t, ways w) {
    weft_engine_ops engine = *given;
    engine.plan = plan_wanted;
    wanted = w;
    const double share =
        check_transform(&engine, t, (side_placement)random_between(0, PLACEMENTS - 1));
    if (share <= 1.5) return;
    char text[640];
    describe_transform(t, text, sizeof text);
    fail_msg("%s, longest %d, folds %d, work %lld, rader %d: error is %.3f of what is allowed",
             text, w.longest, w.folds, (long long)w.work, w.rader, share);
}

/* Checks both precisions and directions, and real lines, in a random memory order. */
static void check_kinds(const weft_engine_ops *engine, int64_t n, int64_t lines, ways w) {
    for (int variant = 0; variant < 8; variant++) {
        if (is_left_out(engine, 3)) continue;
        const weft_transform_kind kind = (weft_transform_kind)(variant % 4 % 3);
        weft_transform t = lines_of(n, lines, kind, variant % 4 == 3 ? WEFT_INVERSE : WEFT_FORWARD,
                                    (layout)random_between(0, LAYOUTS - 1));
        t.precision = variant / 4 ? WEFT_SINGLE : WEFT_DOUBLE;
        t.in_place = kind == WEFT_TRANSFORM_C2C && t.dim[0].in_stride == t.dim[0].out_stride &&
                     random_between(0, 1) == 1;
        check(engine, &t, w);
    }
}

static void matrices_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const ways all[] = {
        {.longest = 32, .folds = 1, .work = -1},
        {.longest = 32, .work = -1},
    };
    static const int64_t lengths[] = {64, 240, 105, 225, 1024, 66, 33 * 16, 26 * 26, 2048, 67};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        check_kinds(engine, lengths[i], random_between(1, 5), all[random_between(0, 1)]);
}

/* A part is a few lines, so that the last one is smaller, or one. */
static void parts_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int64_t lines = 1; lines <= 19; lines += 6) {
        ways w = {.longest = 32, .folds = 1, .work = 4 * 120 * 16};
        check_kinds(engine, 120, lines, w);
        w.work = 1;
        check_kinds(engine, 134, lines, w); /* a convolution */
    }
}

/* One kernel for lines as long as on GPUs; if the device has no room for them, the engine takes
 * two. */
static void whole_lines_beyond_4096_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const int64_t lengths[] = {8192, 16384, 6000, 15625, 10000, 20000, 12000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const ways w = {.longest = 23040, .folds = 1, .work = 1 << 20};
        for (int kind = WEFT_TRANSFORM_C2C; kind <= WEFT_TRANSFORM_C2R; kind++) {
            if (kind != WEFT_TRANSFORM_C2C && is_left_out(engine, 3)) continue;
            weft_transform t =
                lines_of(lengths[i], 2, (weft_transform_kind)kind,
                         kind == WEFT_TRANSFORM_C2R ? WEFT_INVERSE : WEFT_FORWARD, ALONG);
            t.precision = i % 2 ? WEFT_SINGLE : WEFT_DOUBLE;
            check(engine, &t, w);
        }
    }
}

/* Groups of a cluster share a line, on devices that have clusters: two, four or eight of them. */
static void clusters_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const int64_t lengths[] = {64, 128, 256, 512, 1024, 2048, 384, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const ways w = {.longest = 32, .folds = 1, .clustered = 2048, .work = -1};
        for (int single = 0; single < 2; single++) {
            weft_transform t = lines_of(lengths[i], random_between(1, 5), WEFT_TRANSFORM_C2C,
                                        random_between(0, 1) ? WEFT_INVERSE : WEFT_FORWARD,
                                        random_between(0, 1) ? ALONG : SPREAD);
            t.precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
            check(engine, &t, w);
        }
    }
}

/* Rader's convolution and Bluestein's, of primes, of rows of them, and of twice as many real
 * points; radices of large primes in it, and alone. A row is done by few threads (37) or many; a
 * line exchanged whole or in parts. */
static void primes_give_the_transform_by_either_convolution(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const int64_t lengths[] = {
        17,      29,      31,      37,     41,     47,       59,       67,      73,      97,
        103,     127,     131,     251,    257,    311,      401,      521,     769,     1009,
        1021,    1801,    2017,    2521,   4051,   2 * 37,   3 * 41,   30 * 37, 40 * 41, 4 * 127,
        3 * 251, 17 * 31, 40 * 37, 5 * 17, 7 * 23, 4 * 1009, 12 * 127, 2 * 521};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if (is_left_out(engine, 2)) continue;
        const int64_t n = lengths[i], lines = random_between(1, n < 128 ? 70 : 5);
        const ways w = {.longest = 4096, .folds = 1, .work = -1, .rader = INT_MAX};
        check_kinds(engine, n, lines, w);
        if (random_between(0, 1)) check_kinds(engine, 2 * n, lines, w);
        const bool few_threads = n == 37; /* so that lines are loaded as a run, and zeros follow */
        if (n > 512 || (!few_threads && random_between(0, 2) > 0)) continue;
        check_kinds(engine, n, lines, (ways){.longest = 4096, .folds = 1, .work = -1});
    }
}

/* All of them, whose radices must make the length. */
static void strided_lines_of_measured_shapes_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    int measured = 0;
    for (int n = 2; n <= 4096; n++) {
        weft_jit_radices radices;
        int product = 1;
        assert_false(weft_jit_find_strided_radices(n, WEFT_SINGLE, &radices));
        if (!weft_jit_find_strided_radices(n, WEFT_DOUBLE, &radices)) continue;
        for (int s = 0; s < radices.stages; s++) product *= radices.radix[s];
        assert_int_equal(product, n);
        assert_true(radices.values <= 32);
        measured++;
        if (is_left_out(engine, 2)) continue;
        const ways w = {.longest = 4096, .folds = 1, .work = -1};
        weft_transform t = lines_of(n, random_between(1, 40), WEFT_TRANSFORM_C2C,
                                    random_between(0, 1) ? WEFT_INVERSE : WEFT_FORWARD, ACROSS);
        t.in_place = random_between(0, 1) == 1;
        check(engine, &t, w);
    }
    assert_int_equal(measured, 12);
}

/* Contiguous ones, by groups of at most 256 threads up to 4096 points, which every device has.
 * Where kernels take long to compile only a few are tried. */
static void contiguous_lines_of_measured_shapes_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    int measured = 0;
    for (int n = 2; n <= 32768; n++)
        for (int single = 0; single < 2; single++) {
            const weft_precision precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
            weft_jit_radices radices;
            int groups, product = 1;
            if (!weft_jit_find_contiguous_radices(n, precision, &radices, &groups)) continue;
            for (int s = 0; s < radices.stages; s++) product *= radices.radix[s];
            assert_int_equal(product, n);
            assert_true(radices.values <= 50 && groups > 0);
            assert_true(n > 4096 || radices.threads <= 256);
            measured++;
            if (is_left_out(engine, 16)) continue;
            weft_transform t = lines_of(n, random_between(1, 20), WEFT_TRANSFORM_C2C,
                                        random_between(0, 1) ? WEFT_INVERSE : WEFT_FORWARD, ALONG);
            t.precision = precision;
            t.in_place = random_between(0, 1) == 1;
            check(engine, &t, (ways){.longest = n > 4096 ? 23040 : 4096, .folds = 1, .work = -1});
        }
    assert_int_equal(measured, 94);
}

/* With a second array, and without one, in place. */
static void three_dimensions_between_two_arrays_give_the_transform(void **state) {
    static const int order[] = {0, 1, 2, 3};
    static const int64_t none[4];
    const weft_engine_ops *engine = engine_of(state);
    for (int variant = 0; variant < 4; variant++) {
        const bool refused = variant % 2 == 1, back = variant / 2 == 1;
        weft_transform t = {.kind = back ? WEFT_TRANSFORM_C2C : WEFT_TRANSFORM_R2C,
                            .direction = back ? WEFT_INVERSE : WEFT_FORWARD,
                            .in_place = back && refused,
                            .dims = 3,
                            .dim = {{.n = 7}, {.n = 10}, {.n = 12}},
                            .loops = 1,
                            .loop = {{.n = 2}},
                            .threads = 1};
        lay_out(&t, false, order, none);
        lay_out(&t, true, order, none);
        refusals = 0;
        check(engine, &t, (ways){.longest = 4096, .work = -1, .alternates = 8, .refused = refused});
        assert_int_equal(refusals > 0, refused);
    }
}

int main(void) {
    const weft_engine_ops *const jit = &weft_engine_jit;
#define TEST(name)                                                                                 \
    { #name, name, NULL, NULL, (void *)(uintptr_t)jit }
    const struct CMUnitTest tests[] = {
        TEST(matrices_give_the_transform),
        TEST(parts_give_the_transform),
        TEST(whole_lines_beyond_4096_give_the_transform),
        TEST(clusters_give_the_transform),
        TEST(primes_give_the_transform_by_either_convolution),
        TEST(strided_lines_of_measured_shapes_give_the_transform),
        TEST(contiguous_lines_of_measured_shapes_give_the_transform),
        TEST(three_dimensions_between_two_arrays_give_the_transform),
    };
    begin_engine_tests();
    if (getenv("WEFT_TEST_ONLY")) cmocka_set_test_filter(getenv("WEFT_TEST_ONLY"));
    if (getenv("WEFT_TEST_WITHOUT")) cmocka_set_skip_filter(getenv("WEFT_TEST_WITHOUT"));
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
