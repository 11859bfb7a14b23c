/* The results of the reference engine have bits that depend only on the line's data. */
#include "test_engine.h"

enum { LINES = 13, LENGTH = 90 };

static void fill(double *x, size_t count) {
    for (size_t i = 0; i < count; i++) x[i] = random_number();
}

static void transform(weft_transform t, int threads, const double *in, double *out) {
    t.threads = threads;
    run_transform(&weft_engine_reference, &t, in, out);
}

static void the_bits_do_not_depend_on_threads(void **state) {
    (void)state;
    static double in[2 * LINES * LENGTH], one[2 * LINES * LENGTH], three[2 * LINES * LENGTH];
    const weft_transform t = {
        .dims = 1, .dim = {{LENGTH, 1, 1}}, .loops = 1, .loop = {{LINES, LENGTH, LENGTH}}};
    fill(in, sizeof in / sizeof in[0]);
    transform(t, 1, in, one);
    transform(t, 3, in, three);
    assert_memory_equal(one, three, sizeof one);
}

static void the_bits_do_not_depend_on_strides_or_neighbours(void **state) {
    (void)state;
    static double in[2 * LINES * LENGTH], batch[2 * LINES * LENGTH], line[2 * LENGTH];
    static const int64_t lengths[] = {8, 45, 64, 67, 90};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int64_t n = lengths[i];
        fill(in, sizeof in / sizeof in[0]);
        weft_transform t = {.dims = 1, .dim = {{n, LINES, 1}}, .loops = 1, .loop = {{LINES, 1, n}}};
        transform(t, 1, in, batch);
        t.loops = 0;
        for (int64_t l = 0; l < LINES; l++) {
            transform(t, 1, in + 2 * l, line);
            assert_memory_equal(line, batch + 2 * l * n, 2 * (size_t)n * sizeof(double));
        }
    }
}

static void a_kept_input_of_several_dimensions_is_counted(void **state) {
    (void)state;
    const weft_device_handle device = {weft_device_find(WEFT_HOST), NULL};
    weft_transform t = {
        .kind = WEFT_TRANSFORM_C2R, .dims = 2, .dim = {{64, 33, 64}, {64, 1, 1}}, .threads = 1};
    size_t bytes[2];
    for (int destroy = 0; destroy < 2; destroy++) {
        weft_engine_plan *plan;
        t.destroy_input = destroy == 1;
        assert_int_equal(weft_engine_reference.plan(&t, &device, &plan, &bytes[destroy]),
                         WEFT_SUCCESS);
        weft_engine_reference.destroy(plan);
    }
    assert_int_equal(bytes[0] - bytes[1], 64 * 33 * 2 * sizeof(double));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_do_not_depend_on_threads),
        cmocka_unit_test(the_bits_do_not_depend_on_strides_or_neighbours),
        cmocka_unit_test(a_kept_input_of_several_dimensions_is_counted),
    };
    seed_random();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
