/* The native engine's scaling of results as it stores them: the bits of a multiplication that comes
 * afterwards, for every kind of transform and of storing. */
#include "test_engine.h"

static const weft_engine_ops *engine;

/* Elements of real numbers in a side of the transform, and whether they are in single precision. */
typedef struct numbers {
    int64_t count;
    bool single;
} numbers;

static numbers numbers_of(const weft_transform *t, bool output) {
    const bool real = t->kind == WEFT_TRANSFORM_R2R ||
                      t->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    return (numbers){(output ? t->out_elements : t->in_elements) * (real ? 1 : 2),
                     t->precision == WEFT_SINGLE};
}

static size_t bytes_of(numbers x) {
    return (size_t)x.count * (x.single ? sizeof(float) : sizeof(double));
}

static void fill(numbers x, void *data) {
    for (int64_t i = 0; i < x.count; i++)
        if (x.single)
            ((float *)data)[i] = (float)random_number();
        else
            ((double *)data)[i] = random_number();
}

/* As the step of its own does: in double precision, each value rounded once. */
static void multiply(numbers x, double factor, void *data) {
    for (int64_t i = 0; i < x.count; i++)
        if (x.single)
            ((float *)data)[i] = (float)((double)((float *)data)[i] * factor);
        else
            ((double *)data)[i] *= factor;
}

/* Row-major over a random order of the axes, loops first. Gaps between elements hold NaNs in
 * every output, so all of its numbers can be compared; in place there are none. */
static int64_t random_layout(weft_transform *t, bool output) {
    int order[WEFT_AXES + WEFT_MAX_RANK];
    int64_t gap[WEFT_AXES + WEFT_MAX_RANK], extent = 1;
    const int axes = t->loops + t->dims;
    const bool natural = random_between(0, 2) > 0;
    weft_transform whole = *t; /* real-to-real: no axis is halved */
    if (t->kind == WEFT_TRANSFORM_R2R) whole.kind = WEFT_TRANSFORM_C2C;
    for (int i = 0; i < axes; i++) {
        const int j = natural ? i : (int)random_between(0, i);
        order[i] = order[j];
        order[j] = i;
        gap[i] = natural || t->in_place ? 0 : random_between(0, 1);
    }
    lay_out(&whole, output, order, gap);
    memcpy(t->dim, whole.dim, sizeof t->dim);
    memcpy(t->loop, whole.loop, sizeof t->loop);
    for (int i = 0; i < axes; i++) {
        const weft_dimension *a = axis_of(t, i);
        extent += (a->n - 1) * (output ? a->out_stride : a->in_stride);
    }
    return extent;
}

static void one_layout(weft_transform *t) {
    for (int i = 0; i < t->loops + t->dims; i++)
        axis_of(t, i)->out_stride = axis_of(t, i)->in_stride;
    t->out_elements = t->in_elements;
}

static double random_factor(void) {
    const int kind = (int)random_between(0, 3);
    return kind == 0 ? 0x1p-9 : kind == 1 ? -1.5 : kind == 2 ? 1.0 / 1001 : random_number();
}

static void run_once(const weft_transform *t, const void *in, void *out) {
    if (engine->supports(t, device_of(engine)) != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
    run_transform(engine, t, in, out);
}

static void check_scaled(weft_transform t) {
    const double factor = random_factor();
    weft_operator item = {.kind = WEFT_OPERATOR_SCALE, .factor = factor};
    const weft_operator_list list = {.count = 1, .item = &item};
    const numbers from = numbers_of(&t, false), to = numbers_of(&t, true);
    char *in = malloc(bytes_of(from)), *given = malloc(bytes_of(from));
    char *out = malloc(bytes_of(to)), *expected = malloc(bytes_of(to));
    assert_true(in && given && out && expected);
    fill(from, given);
    memcpy(in, given, bytes_of(from));
    if (t.in_place) {
        memcpy(expected, given, bytes_of(to));
        memcpy(out, given, bytes_of(to));
    } else {
        memset(expected, POISON, bytes_of(to));
        memset(out, POISON, bytes_of(to));
    }
    run_once(&t, t.in_place ? expected : in, expected);
    multiply(to, factor, expected);
    t.store.list = &list;
    t.store.layout.precision = t.precision;
    t.store.layout.real = t.kind == WEFT_TRANSFORM_C2R || t.kind == WEFT_TRANSFORM_R2R;
    memcpy(in, given, bytes_of(from));
    run_once(&t, t.in_place ? out : in, out);
    if (memcmp(out, expected, bytes_of(to)) != 0) {
        char text[1024];
        describe_transform(&t, text, sizeof text);
        fail_msg("%s: not the bits of a multiplication by %a afterwards", text, factor);
    }
    free(expected);
    free(out);
    free(given);
    free(in);
}

static weft_transform random_transform(void) {
    weft_transform t = {.kind = (weft_transform_kind)random_between(0, 3),
                        .precision = random_between(0, 1) ? WEFT_DOUBLE : WEFT_SINGLE,
                        .direction = random_between(0, 1) ? WEFT_FORWARD : WEFT_INVERSE,
                        .dims = (int)random_between(1, 3),
                        .loops = (int)random_between(0, 2),
                        .whole = random_between(0, 1),
                        .threads = random_between(0, 4) ? 1 : (int)random_between(2, 3),
                        .destroy_input = true};
    const int64_t longest = t.dims == 1 ? (t.loops == 0 ? 3000 : 700) : t.dims == 2 ? 90 : 30;
    for (int d = 0; d < t.dims; d++) {
        t.dim[d].n = random_between(2, longest);
        if (random_between(0, 1)) t.dim[d].n = 1 << random_between(1, t.dims == 1 ? 10 : 5);
        t.type[d] = random_between(0, 4)
                        ? (weft_axis)random_between(WEFT_DCT1, WEFT_DST4)
                        : (weft_axis)random_between(WEFT_DST2_ALIGNED, WEFT_DST3_ALIGNED);
    }
    for (int i = 0; i < t.loops; i++) t.loop[i].n = random_between(1, t.dims == 1 ? 12 : 4);
    t.in_place =
        (t.kind == WEFT_TRANSFORM_C2C || t.kind == WEFT_TRANSFORM_R2R) && random_between(0, 2) == 0;
    t.in_elements = random_layout(&t, false);
    t.out_elements = random_layout(&t, true);
    if (t.in_place) one_layout(&t);
    return t;
}

static void a_scaling_has_the_bits_of_a_multiplication_afterwards(void **state) {
    (void)state;
    for (int i = 0; i < 500; i++) check_scaled(random_transform());
}

/* Long lines: matrices, convolutions, blocks and stores past the caches. */
static void so_has_that_of_long_lines_and_of_large_arrays(void **state) {
    (void)state;
    static const struct {
        int dims, loops;
        int64_t n[3]; /* loops, then dimensions */
        bool contiguous;
    } shapes[] = {
        {1, 0, {1 << 16}, true},          {1, 0, {3 << 15}, false},     {1, 0, {20011}, true},
        {1, 0, {46411 * 2}, true},        {1, 1, {3, 8192}, true},      {1, 1, {700, 2000}, false},
        {2, 0, {512, 640}, true},         {2, 0, {1000, 1100}, true},   {3, 0, {64, 128, 96}, true},
        {3, 0, {15, 1 << 10, 120}, true}, {3, 0, {600, 33, 128}, true}, {1, 1, {5000, 256}, true},
        {1, 1, {300, 4096}, true}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int variant = 0; variant < 8; variant++) {
            weft_transform t = {.kind = (weft_transform_kind)(variant % 3),
                                .precision = random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE,
                                .direction = variant / 3 ? WEFT_INVERSE : WEFT_FORWARD,
                                .dims = shapes[s].dims,
                                .loops = shapes[s].loops,
                                .threads = 1 + variant % 2,
                                .destroy_input = true};
            int order[3] = {0, 1, 2};
            const int64_t gap[3] = {0};
            for (int a = 0; a < t.dims + t.loops; a++) axis_of(&t, a)->n = shapes[s].n[a];
            if (!shapes[s].contiguous && t.loops > 0) order[0] = 1, order[1] = 0;
            lay_out(&t, false, order, gap);
            lay_out(&t, true, order, gap);
            t.in_elements = t.out_elements = 2;
            for (int a = 0; a < t.dims + t.loops; a++) {
                t.in_elements += axis_of(&t, a)->n * axis_of(&t, a)->in_stride;
                t.out_elements += axis_of(&t, a)->n * axis_of(&t, a)->out_stride;
            }
            check_scaled(t);
        }
}

static void other_operators_are_refused(void **state) {
    (void)state;
    weft_operator item[] = {{.kind = WEFT_OPERATOR_SCALE, .factor = 2},
                            {.kind = WEFT_OPERATOR_FUNCTION}};
    const weft_operator_list list = {.count = 2, .item = item};
    weft_transform t = {.dims = 1, .dim = {{8, 1, 1}}, .threads = 1};
    t.store.list = &list;
    assert_int_equal(engine->supports(&t, device_of(engine)), WEFT_ERROR_UNSUPPORTED);
    t.store.list = NULL;
    t.load.list = &list;
    assert_int_equal(engine->supports(&t, device_of(engine)), WEFT_ERROR_UNSUPPORTED);
}

/* Planes whose neighbours in memory lie in other planes are done in another way, which takes other
 * operators: a tile of few planes must be done as all of them are. */
static void a_tile_is_taken_as_the_whole_is(void **state) {
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    weft_operator item = {.kind = WEFT_OPERATOR_WINDOW};
    const weft_operator_list list = {.count = 1, .item = &item};
    int taken = 0, refused = 0;
    for (int i = 0; i < 600; i++) {
        weft_transform t = {.kind = (weft_transform_kind)(i / 36 % 2), /* C2C or R2C */
                            .precision = random_between(0, 1) ? WEFT_DOUBLE : WEFT_SINGLE,
                            .dims = 2,
                            .loops = 1,
                            .threads = (int)random_between(1, 2)};
        const int *in = orders[i % 6], *out = orders[i / 6 % 6];
        const int64_t gap[3] = {0};
        for (int a = 0; a < 3; a++) axis_of(&t, a)->n = random_between(2, 12);
        lay_out(&t, false, in, gap);
        lay_out(&t, true, out, gap);
        t.store = (weft_fused_operators){.list = &list, .dim_axis = {1, 2}, .loop_axis = {0}};
        t.store.layout.box.axes = 3;
        for (int a = 0; a < 3; a++) {
            t.store.layout.order[a] = out[a];
            t.store.layout.box.n[a] = axis_of(&t, a)->n;
        }
        if (t.kind == WEFT_TRANSFORM_R2C) t.store.layout.box.n[2] = t.dim[1].n / 2 + 1;
        const weft_status whole = engine->supports(&t, device_of(engine));
        for (t.loop[0].n--; t.loop[0].n >= 1; t.loop[0].n--)
            assert_int_equal(engine->supports(&t, device_of(engine)), whole);
        *(whole == WEFT_SUCCESS ? &taken : &refused) += 1;
    }
    assert_true(taken > 0 && refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scaling_has_the_bits_of_a_multiplication_afterwards),
        cmocka_unit_test(so_has_that_of_long_lines_and_of_large_arrays),
        cmocka_unit_test(other_operators_are_refused),
        cmocka_unit_test(a_tile_is_taken_as_the_whole_is),
    };
    engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    begin_engine_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
