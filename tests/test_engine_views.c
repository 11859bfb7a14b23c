/* Every engine on views: any strides and gaps, loops, several dimensions, in place, unaligned, with
 * threads. */
#include "test_engine.h"

#include "support/topology.h"

#include <sys/mman.h>

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

enum { FAR_POINTS = 9, FAR_LINES = 5 };

/* Element j of line l of one side. */
static int64_t place_in(const weft_transform *t, bool output, int64_t j, int64_t l) {
    const weft_dimension *dim = &t->dim[0], *loop = &t->loop[0];
    return output ? j * dim->out_stride + l * loop->out_stride
                  : j * dim->in_stride + l * loop->in_stride;
}

/* Points of a line on one side. */
static int64_t points_on(const weft_transform *t, bool output) {
    const bool real = weft_transform_is_real(t, output);
    return t->kind == WEFT_TRANSFORM_C2C || real ? t->dim[0].n : t->dim[0].n / 2 + 1;
}

/* Elements from the first point of the first line to the last one of the last. */
static int64_t reach_of(const weft_transform *t, bool output) {
    return place_in(t, output, points_on(t, output) - 1, FAR_LINES - 1) + 1;
}

/* Lays points up to a tebibyte apart, or lines. */
static void lay_far(weft_transform *t, bool output) {
    const int64_t most = ((int64_t)1 << 40) / (int64_t)weft_transform_element_bytes(t, output);
    const int64_t far = most - random_between(0, most / 2), close = random_between(1, 3);
    const bool points = random_between(0, 1);
    const int64_t dim = points ? far : close, loop = points ? close : far;
    *(output ? &t->dim[0].out_stride : &t->dim[0].in_stride) = dim;
    *(output ? &t->loop[0].out_stride : &t->loop[0].in_stride) =
        points ? loop : loop + FAR_POINTS * close;
}

/* Copies all elements from an array that lies as one transform says to one as another one says. */
static void copy_lines(const weft_transform *a, const char *from, const weft_transform *b, char *to,
                       bool output) {
    const int64_t bytes = (int64_t)weft_transform_element_bytes(a, output);
    for (int64_t l = 0; l < FAR_LINES; l++)
        for (int64_t j = 0; j < points_on(a, output); j++)
            memcpy(to + place_in(b, output, j, l) * bytes, from + place_in(a, output, j, l) * bytes,
                   (size_t)bytes);
}

/* In memory of which only what is written is there. Both orders have the same results up to
 * rounding. */
static void points_and_lines_up_to_a_tebibyte_apart_are_transformed(void **state) {
    enum { NUMBERS = 2 * FAR_POINTS * FAR_LINES };
    const weft_engine_ops *engine = engine_of(state);
    if (!device_of(engine)->host_addressable) skip(); /* no device has so much memory */
    if (engine->id == WEFT_ENGINE_FFTW) skip();       /* plans on arrays of its own */
    if (getenv("WEFT_TEST_EMULATED")) skip();         /* an emulator counts each page */
    for (int variant = 0; variant < 60; variant++) {
        weft_transform t = {.kind = (weft_transform_kind)(variant % 3),
                            .precision = variant / 3 % 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                            .destroy_input = true,
                            .dims = 1,
                            .dim = {{random_between(2, FAR_POINTS), 1, 1}},
                            .loops = 1,
                            .loop = {{FAR_LINES, FAR_POINTS, FAR_POINTS}},
                            .threads = 1 + variant / 6 % 2};
        const bool single = t.precision == WEFT_SINGLE;
        double given[NUMBERS], near[NUMBERS] = {0}, found[NUMBERS] = {0};
        for (int i = 0; i < NUMBERS; i++)
            if (single)
                ((float *)(void *)given)[i] = (float)random_number();
            else
                given[i] = random_number();
        weft_transform far = t;
        char *array[2];
        size_t bytes[2];
        for (int output = 0; output < 2; output++) {
            lay_far(&far, output);
            bytes[output] =
                (size_t)reach_of(&far, output) * weft_transform_element_bytes(&t, output);
            array[output] = mmap(NULL, bytes[output], PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            assert_ptr_not_equal(array[output], MAP_FAILED);
        }
        t.in_elements = t.out_elements = FAR_LINES * FAR_POINTS;
        far.in_elements = reach_of(&far, false);
        far.out_elements = reach_of(&far, true);
        copy_lines(&t, (char *)given, &far, array[0], false);
        run_transform(engine, &far, array[0], array[1]);
        copy_lines(&far, array[1], &t, (char *)found, true);
        run_transform(engine, &t, given, near);
        for (int i = 0; i < NUMBERS; i++) {
            const double off =
                single ? (double)(((float *)(void *)near)[i] - ((float *)(void *)found)[i])
                       : near[i] - found[i];
            if (!(fabs(off) < (single ? 1e-5 : 1e-13)))
                fail_msg("variant %d, %lld points: number %d is off by %g", variant,
                         (long long)t.dim[0].n, i, off);
        }
        for (int output = 0; output < 2; output++) munmap(array[output], bytes[output]);
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
        TEST(ops, points_and_lines_up_to_a_tebibyte_apart_are_transformed),                        \
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
