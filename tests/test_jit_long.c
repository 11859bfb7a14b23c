/*
 * The jit engine's ways with long lines, at lengths short enough for an exact answer: habits make
 * every line long. Matrices in two and three kernels, folded ones, lines in halves and whole; parts
 * of batches that take turns on several queues; lines of any strides, in place and not.
 */
#include "test_engine.h"

#include "engine/jit/habits.h"

/* What the planning below changes of the device's habits; 0: nothing. */
typedef struct ways {
    int longest, halves, queues, second, folds;
    int64_t work; /* bytes; -1: no limit */
} ways;

static ways wanted;

static weft_status plan_wanted(const weft_transform *t, const weft_device_handle *device,
                               weft_engine_plan **plan, size_t *bytes) {
    weft_kernel_limits limits;
    WEFT_TRY(device->ops->kernel_limits(device->state, &limits));
    weft_jit_habits habits = weft_jit_habits_of(t->precision, &limits);
    habits.longest = wanted.longest;
    habits.halves = wanted.halves;
    habits.queues = wanted.queues;
    habits.second = wanted.second;
    habits.folds = wanted.folds;
    habits.longest_work = wanted.work < 0 ? SIZE_MAX : (size_t)wanted.work;
    return weft_jit_plan_with(t, device, &habits, plan, bytes);
}

typedef enum layout {
    ALONG,  /* points are neighbours */
    ACROSS, /* lines are */
    TURNED, /* points on one side, lines on the other */
    SPREAD, /* neither: gaps between points, and between lines */
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
    lay_out(&t, true, lie == ACROSS || lie == TURNED ? across : along, lie == SPREAD ? gaps : none);
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
    fail_msg("%s, longest %d, halves %d, queues %d, second %d, folds %d, work %lld: error is %.3f "
             "of what is allowed",
             text, w.longest, w.halves, w.queues, w.second, w.folds, (long long)w.work, share);
}

/* Both precisions and directions, and real lines, in a random one of the memory orders. */
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
        {.longest = 32, .queues = 1, .folds = 1, .work = -1},
        {.longest = 32, .queues = 1, .work = -1},
        {.longest = 32, .queues = 1, .second = 16, .folds = 1, .work = -1},
    };
    static const int64_t lengths[] = {64, 240, 105, 225, 1024, 66, 33 * 16, 26 * 26, 2048, 67};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        check_kinds(engine, lengths[i], random_between(1, 5), all[random_between(0, 2)]);
}

/* A part is two lines, or one, so that parts outnumber queues, and the last one is smaller. */
static void parts_take_turns_on_queues(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int queues = 1; queues <= 4; queues++)
        for (int64_t lines = 1; lines <= 19; lines += 6) {
            ways w = {.longest = 32, .queues = queues, .folds = 1, .work = 2 * 120 * 16 * queues};
            check_kinds(engine, 120, lines, w);
            w.work = 1;
            check_kinds(engine, 134, lines, w); /* a convolution */
        }
}

static void lines_in_halves_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const int64_t lengths[] = {34, 64, 128, 48, 130, 210, 512};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const ways w = {.longest = (int)(lengths[i] / 2), .halves = 1, .queues = 1, .work = -1};
        for (int variant = 0; variant < 4; variant++) {
            weft_transform t = lines_of(lengths[i], random_between(1, 5), WEFT_TRANSFORM_C2C,
                                        variant % 2 ? WEFT_INVERSE : WEFT_FORWARD,
                                        random_between(0, 1) ? ALONG : SPREAD);
            t.precision = variant / 2 ? WEFT_SINGLE : WEFT_DOUBLE;
            t.in_place = random_between(0, 1) == 1;
            check(engine, &t, w);
        }
    }
}

/* One kernel for as long lines as GPUs get; where there is no room the engine takes two. */
static void whole_lines_beyond_4096_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const int64_t lengths[] = {8192, 16384, 6000, 15625, 10000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const ways w = {.longest = 8192, .halves = 1, .queues = 2, .folds = 1, .work = 1 << 20};
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

/* Executions follow each other on a queue although each of them uses several. */
static void executions_keep_their_order(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    enum { N = 96, LINES = 40, TIMES = 4 };
    const int64_t numbers = 2 * N * LINES;
    bench b = bench_open(engine);
    weft_engine_plan *plan = NULL;
    size_t bytes = 0;
    wanted = (ways){.longest = 16, .queues = 3, .work = 3 * N * 16};
    weft_transform t = lines_of(N, LINES, WEFT_TRANSFORM_C2C, WEFT_FORWARD, ALONG);
    t.in_place = true;
    t.in_elements = t.out_elements = N * LINES;
    double *x = malloc((size_t)numbers * sizeof *x), *y = malloc((size_t)numbers * sizeof *y);
    assert_true(x && y);
    for (int64_t i = 0; i < numbers; i++) x[i] = y[i] = random_number();
    assert_int_equal(plan_wanted(&t, &b.device, &plan, &bytes), WEFT_SUCCESS);
    device_array array = device_array_create(&b, &t, false, y);
    for (int i = 0; i < TIMES; i++) /* four transforms are the identity times n^2 */
        assert_int_equal(engine->execute(plan, &b.device, b.queue, array.data, array.data),
                         WEFT_SUCCESS);
    device_array_return(&b, &array);
    for (int64_t i = 0; i < numbers; i++) assert_true(fabs(y[i] / N / N - x[i]) < 1e-12);
    engine->destroy(plan);
    bench_close(&b);
    free(y);
    free(x);
}

int main(void) {
    const weft_engine_ops *const jit = &weft_engine_jit;
#define TEST(name)                                                                                 \
    { #name, name, NULL, NULL, (void *)(uintptr_t)jit }
    const struct CMUnitTest tests[] = {
        TEST(matrices_give_the_transform),        TEST(parts_take_turns_on_queues),
        TEST(lines_in_halves_give_the_transform), TEST(whole_lines_beyond_4096_give_the_transform),
        TEST(executions_keep_their_order),
    };
    begin_engine_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
