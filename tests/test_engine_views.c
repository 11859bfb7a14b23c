/* Every engine on views: any strides and gaps, loops, several dimensions, in place, unaligned, with
 * threads. */
#include "test_engine.h"

#include "support/topology.h"

static void random_layout(weft_transform *t, bool output) {
    int order[WEFT_AXES + WEFT_MAX_RANK];
    int64_t gap[WEFT_AXES + WEFT_MAX_RANK];
    const int axes = t->loops + t->dims;
    for (int i = 0; i < axes; i++) { /* Fisher and Yates */
        int j = (int)random_between(0, i);
        order[i] = order[j];
        order[j] = i;
        gap[i] = random_between(0, 2);
    }
    lay_out(t, output, order, gap);
}

static weft_transform random_transform(void) {
    weft_transform t = {.kind = (weft_transform_kind)random_between(0, 2),
                        .precision = random_between(0, 2) ? WEFT_DOUBLE : WEFT_SINGLE,
                        .direction = random_between(0, 1) ? WEFT_FORWARD : WEFT_INVERSE,
                        .dims = (int)random_between(1, 3),
                        .loops = (int)random_between(0, 3),
                        .whole = random_between(0, 1),
                        .threads = random_between(0, 9) ? 1 : (int)random_between(2, 3),
                        .destroy_input = random_between(0, 1) == 1};
    const int64_t longest = t.dims == 1 ? 150 : t.dims == 2 ? 20 : 9;
    for (int d = 0; d < t.dims; d++) t.dim[d].n = random_between(1, longest);
    for (int i = 0; i < t.loops; i++) t.loop[i].n = random_between(1, 6);
    random_layout(&t, false);
    random_layout(&t, true);
    t.in_place = t.kind == WEFT_TRANSFORM_C2C && random_between(0, 2) == 0;
    for (int d = 0; d < t.dims && t.in_place; d++) t.dim[d].out_stride = t.dim[d].in_stride;
    for (int i = 0; i < t.loops && t.in_place; i++) t.loop[i].out_stride = t.loop[i].in_stride;
    return t;
}

static void check_view(const weft_engine_ops *engine, weft_transform *t, side_placement placement) {
    char text[1024];
    describe_transform(t, text, sizeof text);
    const weft_device_ops *device = device_of(engine);
    if (t->kind == WEFT_TRANSFORM_C2R && t->dims > 1 && !t->destroy_input &&
        engine->id != WEFT_ENGINE_REFERENCE &&
        engine->supports(t, device) == WEFT_ERROR_UNSUPPORTED)
        return;
    if (engine->supports(t, device) != WEFT_SUCCESS) fail_msg("%s: %s", text, weft_thread_error());
    double ratio = check_transform(engine, t, placement);
    if (!(ratio <= allowed_share(engine, t)))
        fail_msg("%s: error is %.3f of what is allowed", text, ratio);
}

#ifdef __SANITIZE_ADDRESS__ /* which takes ten times as long */
enum { RANDOM_VIEWS = 100 };
#else
enum { RANDOM_VIEWS = 400 };
#endif

static void random_views_are_transformed_exactly_there(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int i = 0; i < RANDOM_VIEWS; i++) {
        if (is_left_out(engine, 8)) continue;
        weft_transform t = random_transform();
        check_view(engine, &t, (side_placement)(i % PLACEMENTS));
    }
}

/* The views that the decompositions make, by name. */
static const struct named_view {
    const char *name;
    int dims, loops;
    int64_t n[4];     /* loops, then dimensions */
    int in_order[4];  /* slowest first */
    int out_order[4]; /* slowest first */
    int64_t in_gap[4], out_gap[4];
} views[] = {
    {"one line", 1, 0, {96}, {0}, {0}, {0}, {0}},
    {"contiguous lines", 1, 1, {10, 64}, {0, 1}, {0, 1}, {0}, {0}},
    {"the slowest axis", 1, 2, {5, 7, 24}, {2, 0, 1}, {2, 0, 1}, {0}, {0}},
    {"the middle axis", 1, 2, {5, 7, 24}, {0, 2, 1}, {0, 2, 1}, {0}, {0}},
    {"realigned z to y", 1, 2, {6, 5, 32}, {0, 1, 2}, {2, 0, 1}, {0}, {0}},
    {"padded rows", 1, 1, {9, 30}, {0, 1}, {0, 1}, {2, 0}, {3, 0}},
    {"every third element", 1, 1, {9, 30}, {0, 1}, {0, 1}, {0, 2}, {0, 1}},
    {"a plane", 2, 1, {3, 12, 10}, {0, 1, 2}, {0, 1, 2}, {0}, {0}},
    {"a plane of odd rows, transposed", 2, 1, {3, 12, 15}, {0, 1, 2}, {2, 0, 1}, {0}, {0}},
    {"a volume", 3, 1, {2, 8, 9, 10}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0}, {0}},
    {"a volume with every length 1 but the last",
     3,
     1,
     {2, 1, 1, 7},
     {0, 1, 2, 3},
     {0, 1, 2, 3},
     {0},
     {0}},
    {"a volume with the last length 1", 3, 1, {2, 4, 5, 1}, {0, 1, 2, 3}, {3, 2, 1, 0}, {0}, {0}},
    {"long strided lines in groups of one", 1, 1, {3, 2048}, {1, 0}, {1, 0}, {0}, {0}},
};

static void named_views_are_transformed_exactly_there(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        const struct named_view *view = &views[i];
        for (int variant = 0; variant < 3 * 2 * 2 * 2; variant++) {
            if (is_left_out(engine, 4)) continue;
            weft_transform t = {.kind = (weft_transform_kind)(variant % 3),
                                .precision = variant / 3 % 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                                .destroy_input = variant / 6 % 2 == 1,
                                .dims = view->dims,
                                .loops = view->loops,
                                .threads = variant < 3 ? 2 : 1};
            for (int a = 0; a < view->loops; a++) t.loop[a].n = view->n[a];
            for (int a = 0; a < view->dims; a++) t.dim[a].n = view->n[view->loops + a];
            lay_out(&t, false, view->in_order, view->in_gap);
            lay_out(&t, true, view->out_order, view->out_gap);
            check_view(engine, &t, variant / 12 == 1 ? MISALIGNED : ALIGNED);
        }
    }
}

/* Complex to real beyond the caches, with one thread or several, in a batch or not, from rows and
 * to rows with gaps. */
static void cubes_keep_their_input_without_a_copy_of_it(void **state) {
    enum { ROWS = 22, POINTS = 90 };
    const weft_engine_ops *engine = engine_of(state);
    if (!engine->keeps_input) skip(); /* nor does it say so */
    const int64_t least = (int64_t)weft_topology_get()->l2 / (ROWS * (POINTS / 2 + 1));
    for (int variant = 0; variant < 8; variant++) {
        const int order[] = {0, 1, 2, 3};
        const int64_t gap[] = {variant / 4 * 2, variant / 4 * 4, variant / 4 * 6, 0};
        const weft_precision precision = variant % 2 ? WEFT_SINGLE : WEFT_DOUBLE;
        const int64_t planes = least / (int64_t)(4 * weft_number_bytes(precision)) + 5;
        weft_transform t = {.kind = WEFT_TRANSFORM_C2R,
                            .precision = precision,
                            .dims = 3,
                            .dim = {{.n = planes}, {.n = ROWS}, {.n = POINTS}},
                            .loops = variant / 2 % 2,
                            .loop = {{.n = 2}},
                            .threads = 1 + variant % 3};
        lay_out(&t, false, order, gap + 1 - t.loops); /* none between the points of a row */
        lay_out(&t, true, order, gap + 1 - t.loops);
        assert_true(engine->keeps_input(&t));
        check_view(engine, &t, (side_placement)(variant % PLACEMENTS));
    }
}

static void measured_plans_are_as_right(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int effort = WEFT_MEASURE; effort <= WEFT_PATIENT; effort++) {
        weft_transform t = {.kind = WEFT_TRANSFORM_R2C,
                            .dims = 2,
                            .dim = {{6, 200, 11}, {20, 7, 100}},
                            .loops = 1,
                            .loop = {{5, 1, 1}},
                            .effort = (weft_effort)effort,
                            .threads = 2};
        check_view(engine, &t, ALIGNED);
        check_view(engine, &t, MISALIGNED);
    }
}

static void a_device_that_cannot_run_host_code_is_refused(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (!device_of(engine)->run) skip(); /* one that runs no host code anyway */
    weft_device_ops mute = *weft_device_find(WEFT_HOST);
    mute.run = NULL;
    const weft_transform t = {.dims = 1, .dim = {{8, 1, 1}}};
    assert_int_equal(engine->supports(&t, &mute), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "cannot run host code"));
    assert_null(weft_engine_default(&mute));
}

static void half_precision_and_real_data_in_place_are_refused(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    const weft_device_ops *host = weft_device_find(WEFT_HOST);
    const weft_transform half = {.precision = WEFT_HALF, .dims = 1, .dim = {{8, 1, 1}}};
    assert_int_equal(engine->supports(&half, host), WEFT_ERROR_UNSUPPORTED);
    const weft_transform real = {
        .kind = WEFT_TRANSFORM_R2C, .in_place = true, .dims = 1, .dim = {{8, 1, 1}}};
    assert_int_equal(engine->supports(&real, host), WEFT_ERROR_UNSUPPORTED);
}

static void engines_are_found_by_id_and_the_default_is_one_that_works(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    assert_ptr_equal(weft_engine_find(engine->id), engine);
    assert_null(weft_engine_find(WEFT_ENGINE_AUTO));
    const weft_engine_ops *chosen = weft_engine_default(weft_device_find(WEFT_HOST));
    assert_non_null(chosen);
    assert_int_equal(chosen->probe(NULL), WEFT_SUCCESS);
}

#define TEST(ops, name)                                                                            \
    { #ops " " #name, name, NULL, NULL, (void *)(uintptr_t)&ops }
#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    TEST(ops, named_views_are_transformed_exactly_there),                                          \
        TEST(ops, random_views_are_transformed_exactly_there),                                     \
        TEST(ops, cubes_keep_their_input_without_a_copy_of_it),                                    \
        TEST(ops, measured_plans_are_as_right),                                                    \
        TEST(ops, a_device_that_cannot_run_host_code_is_refused),                                  \
        TEST(ops, half_precision_and_real_data_in_place_are_refused),                              \
        TEST(ops, engines_are_found_by_id_and_the_default_is_one_that_works),

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
