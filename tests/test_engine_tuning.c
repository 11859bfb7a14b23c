/* The native engine's choices by measurement do not change the bits of its results. */
#include "test_engine.h"

#include "engine/native/tuning.h"
#include "support/cache_file.h"

#include <dirent.h>
#include <unistd.h>

static void fill(double *data, size_t numbers) {
    for (size_t i = 0; i < numbers; i++) data[i] = random_number();
}

/* A complex array of this shape, all dimensions, in natural order. */
static weft_transform cube_of(const int64_t *n, weft_transform_kind kind,
                              weft_direction direction) {
    const int64_t half = kind == WEFT_TRANSFORM_C2C ? n[2] : n[2] / 2 + 1;
    const int64_t in_row = kind == WEFT_TRANSFORM_R2C ? n[2] : half;
    const int64_t out_row = kind == WEFT_TRANSFORM_C2R ? n[2] : half;
    weft_transform t = {
        .kind = kind,
        .direction = direction,
        .precision = WEFT_DOUBLE,
        .dims = 3,
        .dim = {{n[0], n[1] * in_row, n[1] * out_row}, {n[1], in_row, out_row}, {n[2], 1, 1}},
        .loops = 0,
        .destroy_input = true,
        .threads = 2,
        .in_elements = n[0] * n[1] * in_row,
        .out_elements = n[0] * n[1] * out_row};
    return t;
}

static void run_with(const weft_transform *t, weft_native_tuning tuning, const double *given,
                     double *in, size_t in_bytes, double *out) {
    weft_engine_plan *plan;
    size_t bytes;
    memcpy(in, given, in_bytes); /* which a complex-to-real transform overwrites */
    assert_int_equal(weft_native_plan_with(t, tuning, &plan, &bytes), WEFT_SUCCESS);
    weft_native_run(plan, in, out);
    weft_native_destroy(plan);
}

static void check_shape(const int64_t *n, weft_transform_kind kind, weft_direction direction) {
    weft_transform t = cube_of(n, kind, direction);
    size_t in_bytes = (size_t)t.in_elements * sizeof(double) * (kind == WEFT_TRANSFORM_R2C ? 1 : 2);
    size_t out_bytes =
        (size_t)t.out_elements * sizeof(double) * (kind == WEFT_TRANSFORM_C2R ? 1 : 2);
    double *given = malloc(in_bytes), *in = aligned_alloc(64, (in_bytes / 64 + 1) * 64);
    double *first = aligned_alloc(64, (out_bytes / 64 + 1) * 64);
    double *other = aligned_alloc(64, (out_bytes / 64 + 1) * 64);
    assert_true(given && in && first && other);
    fill(given, in_bytes / sizeof(double));
    run_with(&t, weft_native_usual_tuning(), given, in, in_bytes, first);
    for (weft_native_tuning tuning = 0; tuning < WEFT_NATIVE_TUNINGS; tuning++) {
        memset(other, 0x5a, out_bytes);
        run_with(&t, tuning, given, in, in_bytes, other);
        if (memcmp(first, other, out_bytes) != 0)
            fail_msg("%lldx%lldx%lld, kind %d direction %d: tuning %u gives other bits",
                     (long long)n[0], (long long)n[1], (long long)n[2], (int)kind, (int)direction,
                     tuning);
    }
    free(other);
    free(first);
    free(in);
    free(given);
}

static void tuning_does_not_change_the_bits(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{18, 72, 124}, {64, 20, 128}, {33, 40, 100}, {16, 6, 5}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        check_shape(shapes[s], WEFT_TRANSFORM_C2C, WEFT_FORWARD);
        check_shape(shapes[s], WEFT_TRANSFORM_C2C, WEFT_INVERSE);
        check_shape(shapes[s], WEFT_TRANSFORM_R2C, WEFT_FORWARD);
        check_shape(shapes[s], WEFT_TRANSFORM_C2R, WEFT_INVERSE);
    }
}

/* Large enough to be measured: 64 MiB of double precision together. */
static void a_measured_plan_gives_the_bits_of_an_estimated_one(void **state) {
    (void)state;
    static const int64_t n[3] = {64, 128, 256};
    weft_transform t = cube_of(n, WEFT_TRANSFORM_C2C, WEFT_FORWARD);
    size_t bytes = (size_t)t.in_elements * 2 * sizeof(double);
    double *in = aligned_alloc(64, bytes), *one = aligned_alloc(64, bytes);
    double *two = aligned_alloc(64, bytes);
    assert_true(in && one && two);
    fill(in, bytes / sizeof(double));
    t.destroy_input = false;
    run_transform(&weft_engine_native, &t, in, one);
    t.effort = WEFT_MEASURE;
    run_transform(&weft_engine_native, &t, in, two);
    assert_memory_equal(one, two, bytes);
    free(two);
    free(one);
    free(in);
}

static size_t bytes_of_lines(int64_t lines, int threads) {
    const weft_transform t = {.precision = WEFT_DOUBLE,
                              .dims = 1,
                              .dim = {{64, 1, 1}},
                              .loops = 1,
                              .loop = {{lines, 64, 64}},
                              .threads = threads,
                              .in_elements = 64 * lines,
                              .out_elements = 64 * lines};
    weft_engine_plan *plan;
    size_t bytes;
    assert_int_equal(weft_native_plan_with(&t, weft_native_usual_tuning(), &plan, &bytes),
                     WEFT_SUCCESS);
    weft_native_destroy(plan);
    return bytes;
}

/* Each thread of a team has a workspace. */
static void threads_have_work_worth_starting_them(void **state) {
    (void)state;
    const int64_t least = WEFT_NATIVE_POINTS_PER_THREAD / 64;
    assert_true(bytes_of_lines(2 * least - 1, 2) == bytes_of_lines(2 * least - 1, 1));
    assert_true(bytes_of_lines(2 * least, 2) > bytes_of_lines(2 * least, 1));
    assert_true(bytes_of_lines(2 * least, 3) == bytes_of_lines(2 * least, 2));
    assert_true(bytes_of_lines(3 * least, 3) > bytes_of_lines(3 * least, 2));
}

/* The only file of the folder whose name ends so; its path. */
static void find_file(const char *folder, const char *end, char *path, size_t size) {
    DIR *open = opendir(folder);
    int found = 0;
    assert_non_null(open);
    for (struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
        if (!strstr(entry->d_name, end)) continue;
        snprintf(path, size, "%.200s/%.250s", folder, entry->d_name);
        found++;
    }
    closedir(open);
    assert_int_equal(found, 1);
}

/* What was measured of a large array is kept: another choice in the file is taken, and a damaged
 * file is not. */
static void what_was_measured_is_not_measured_again(void **state) {
    (void)state;
    static const int64_t n[3] = {64, 128, 256};
    char folder[] = "/tmp/weft-tuning-XXXXXX", path[512];
    weft_transform t = cube_of(n, WEFT_TRANSFORM_C2C, WEFT_FORWARD);
    t.effort = WEFT_MEASURE;
    assert_non_null(mkdtemp(folder));
    setenv("WEFT_WISDOM_DIR", folder, 1);
    if ((size_t)t.in_elements * 32 > weft_native_cache_share(1)) {
        (void)weft_native_choose_tuning(&t);
        find_file(folder, ".tuning", path, sizeof path);
        for (unsigned char kept = 0; kept < WEFT_NATIVE_TUNINGS; kept++) {
            weft_cache_write_hashed(path, &kept, sizeof kept);
            assert_int_equal(weft_native_choose_tuning(&t), kept);
        }
        assert_true(weft_cache_write(path, "damaged", 7));
        (void)weft_native_choose_tuning(&t);
        size_t bytes = 0;
        void *kept = weft_cache_read_hashed(path, &bytes);
        assert_int_equal(bytes, 1); /* measured anew */
        free(kept);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
    setenv("WEFT_WISDOM_DIR", "", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measured_is_not_measured_again),
        cmocka_unit_test(threads_have_work_worth_starting_them),
        cmocka_unit_test(tuning_does_not_change_the_bits),
        cmocka_unit_test(a_measured_plan_gives_the_bits_of_an_estimated_one),
    };
    begin_engine_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
