/* Machine records in files: what is written is read, and what cannot be is refused by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/plan.h"
#include "plan/machine_file.h"
#include "plan/model.h"
#include "support/error.h"

#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256];

static int make_path(void **state) {
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.200s/weft-machine-XXXXXX", folder ? folder : "/tmp");
    const int descriptor = mkstemp(path);
    if (descriptor < 0) return -1;
    close(descriptor);
    return setenv("WEFT_MACHINE", path, 1);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

static void write_text(const char *text) {
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    weft_machine machine = weft_machine_default, read = weft_machine_default;
    machine.rate.latency = 0.25;
    machine.rate.cores = 17;
    machine.rate.flops_across[1][3] = 12345;
    machine.device.launch = 0.5;
    machine.search.runs = 9;
    assert_int_equal(weft_machine_write(path, &machine, "a test"), WEFT_SUCCESS);
    assert_int_equal(weft_machine_read(path, &read), WEFT_SUCCESS);
    assert_memory_equal(&read.rate, &machine.rate, sizeof machine.rate);
    assert_true(read.device.launch == 0.5);
    assert_int_equal(read.search.runs, 9);
    assert_memory_equal(&read.buffers, &weft_machine_default.buffers, sizeof read.buffers);
}

static void what_a_file_lacks_keeps_its_default(void **state) {
    (void)state;
    weft_machine read;
    write_text("{\"about\": \"little\", \"rate\": {\"latency\": 2}}");
    assert_int_equal(weft_machine_read(path, &read), WEFT_SUCCESS);
    assert_true(read.rate.latency == 2 && read.rate.signal == weft_machine_default.rate.signal);
    assert_int_equal(read.search.measured, weft_machine_default.search.measured);
}

static void what_is_wrong_is_refused_by_its_key(void **state) {
    (void)state;
    static const struct {
        const char *text, *named;
    } cases[] = {
        {"", "not valid JSON"},
        {"[1]", "not a JSON object"},
        {"{\"rate\": {\"latency\": 1}, \"rate\": {}}", "not valid JSON"},
        {"{\"speed\": {}}", "speed is no section"},
        {"{\"rate\": 5}", "rate is not an object"},
        {"{\"about\": 5}", "about is no section"},
        {"{\"rate\": {\"latnecy\": 1}}", "rate.latnecy is no field"},
        {"{\"rate\": {\"launch\": 1}}", "rate.launch is no field"},
        {"{\"rate\": {\"latency\": \"1\"}}", "rate.latency is not a number"},
        {"{\"rate\": {\"latency\": -1}}", "rate.latency is -1"},
        {"{\"rate\": {\"cores\": 1.5}}", "rate.cores is not a whole number"},
        {"{\"rate\": {\"copy\": 1}}", "rate.copy is not a list of 4 numbers"},
        {"{\"rate\": {\"copy\": [1, 2, 3]}}", "rate.copy is not a list of 4 numbers"},
        {"{\"rate\": {\"copy\": [1, 2, 3, null]}}", "rate.copy is not a number"},
        {"{\"rate\": {\"copy\": [1, 2, 3, 0]}}", "rate.copy is 0"},
        {"{\"rate\": {\"bytes\": [1, 2, 2, 3]}}", "rate.bytes does not rise"},
        {"{\"tiling\": {\"most\": 0}}", "tiling.most is 0"},
        {"{\"search\": {\"runs\": 1e3}}", "search.runs is not a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_machine read = {.rate.latency = 42};
        write_text(cases[i].text);
        assert_int_equal(weft_machine_read(path, &read), WEFT_ERROR_INVALID_ARGUMENT);
        if (!strstr(weft_thread_error(), cases[i].named))
            fail_msg("%s: %s", cases[i].text, weft_thread_error());
        assert_non_null(strstr(weft_thread_error(), path));
        assert_true(read.rate.latency == 42); /* nothing was set */
    }
    weft_machine read;
    assert_int_equal(weft_machine_read("/nowhere/at/all", &read), WEFT_ERROR_SYSTEM);
    assert_int_equal(weft_machine_write("/nowhere/at/all", &weft_machine_default, NULL),
                     WEFT_ERROR_SYSTEM);
}

/* The report of a plan made now. */
static char *explain(void) {
    const weft_problem problem = {.rank = 2, .n = {64, 64}};
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(weft_context_create(NULL, &ctx), WEFT_SUCCESS);
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    FILE *stream = open_memstream(&text, &bytes);
    assert_int_equal(weft_plan_explain(plan, stream, WEFT_TEXT), WEFT_SUCCESS);
    fclose(stream);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    return text;
}

static void plans_say_which_record_they_predict_by(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {{"{}", "predicted by machine file"},
                 {"{\"rate\": {\"latnecy\": 1}}", "without the machine file: machine file"},
                 {"{\"rate", "without the machine file: machine file"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text(cases[i].text);
        char *said = explain();
        assert_non_null(strstr(said, cases[i].said));
        free(said);
    }
    setenv("WEFT_MACHINE", "", 1); /* none is wanted */
    char *said = explain();
    assert_null(strstr(said, "machine file"));
    free(said);
    setenv("WEFT_MACHINE", "/nowhere/at/all", 1); /* one that is not there */
    said = explain();
    assert_non_null(strstr(said, "cannot be opened"));
    free(said);
    setenv("WEFT_MACHINE", path, 1);
}

/* Seconds predicted for a cube of n points on a machine. */
static double predict(const weft_machine *machine, int64_t n, int threads, int neighbours) {
    weft_schedule schedule = {.steps = 1};
    weft_step step = {.kind = WEFT_STEP_FFT,
                      .flops = 5.0 * (double)(n * n * n) * 24,
                      .bytes_moved = 32 * n * n * n};
    step.as.fft.parts = 1;
    step.as.fft.transform = (weft_transform){.kind = WEFT_TRANSFORM_C2C,
                                             .dims = 3,
                                             .dim = {{n, n * n, n * n}, {n, n, n}, {n, 1, 1}},
                                             .in_elements = n * n * n,
                                             .out_elements = n * n * n};
    schedule.step = &step;
    const weft_model model = {.machine = machine, .threads = threads, .neighbours = neighbours};
    return weft_model_predict(&model, &schedule);
}

static void predictions_follow_the_record(void **state) {
    (void)state;
    weft_machine machine = weft_machine_default, faster = weft_machine_default;
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) {
        machine.rate.contention[i] = 0;
        faster.rate.contiguous[i] *= 2;
        faster.rate.strided[i] *= 2;
    }
    memcpy(faster.rate.contention, machine.rate.contention, sizeof machine.rate.contention);
    const double once = predict(&machine, 64, 1, 1);
    assert_true(predict(&faster, 64, 1, 1) < once);
    assert_true(fabs(predict(&machine, 64, 2, 1) / once - 0.5) < 1e-9);
    assert_true(predict(&machine, 61, 1, 1) / (61. * 61 * 61) > once / (64. * 64 * 64)); /* prime */
    machine.rate.cores = 2; /* four threads share two cores */
    assert_true(fabs(predict(&machine, 256, 2, 2) / predict(&machine, 256, 1, 2) - 1) < 1e-9);
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) machine.rate.contention[i] = 1;
    assert_true(predict(&machine, 256, 1, 2) > 1.1 * predict(&machine, 256, 1, 1));
}

/* Seconds of lines along the last axis of n x n x n points, stored in their order or with the lines
 * side by side. */
static double predict_lines(const weft_machine *machine, weft_transform_kind kind, bool realigned) {
    const int64_t n = 128, half = kind == WEFT_TRANSFORM_R2C ? n / 2 + 1 : n;
    weft_schedule schedule = {.steps = 1};
    weft_step step = {.kind = WEFT_STEP_FFT,
                      .flops = 1,
                      .bytes_moved = (kind == WEFT_TRANSFORM_R2C ? 16 : 32) * n * n * n};
    step.as.fft.parts = 1;
    step.as.fft.transform =
        (weft_transform){.kind = kind,
                         .dims = 1,
                         .dim = {{n, 1, realigned ? n : 1}},
                         .loops = 2,
                         .loop = {{n, n, realigned ? 1 : half}, {n, n * n, n * half}},
                         .in_elements = n * n * n,
                         .out_elements = n * n * half};
    schedule.step = &step;
    const weft_model model = {.machine = machine};
    return weft_model_predict(&model, &schedule);
}

/* Half spectra take long, and in another memory order they take longer, as complex lines do. */
static void another_order_costs_as_much_for_real_lines(void **state) {
    (void)state;
    weft_machine machine = weft_machine_default;
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) {
        machine.rate.contiguous[i] = 50e9;
        machine.rate.realigned[i] = 25e9;
        machine.rate.halved[i] = 16e9;
    }
    const double real = predict_lines(&machine, WEFT_TRANSFORM_R2C, true) -
                        predict_lines(&machine, WEFT_TRANSFORM_R2C, false);
    const double complex = predict_lines(&machine, WEFT_TRANSFORM_C2C, true) -
                           predict_lines(&machine, WEFT_TRANSFORM_C2C, false);
    assert_true(complex > 0 && fabs(real / (complex / 2) - 1) < 1e-6);
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) machine.rate.contiguous[i] = 20e9; /* noise */
    assert_true(predict_lines(&machine, WEFT_TRANSFORM_R2C, true) >=
                predict_lines(&machine, WEFT_TRANSFORM_R2C, false));
}

/* Seconds of cosine transforms along contiguous lines of n points. */
static double predict_cosines(const weft_machine *machine, int64_t n, weft_axis type) {
    weft_schedule schedule = {.steps = 1};
    weft_step step = {.kind = WEFT_STEP_FFT, .flops = 1e9, .bytes_moved = 1};
    step.as.fft.parts = 1;
    step.as.fft.transform = (weft_transform){.kind = WEFT_TRANSFORM_R2R,
                                             .dims = 1,
                                             .dim = {{n, 1, 1}},
                                             .type = {type},
                                             .in_elements = n,
                                             .out_elements = n};
    schedule.step = &step;
    const weft_model model = {.machine = machine};
    return weft_model_predict(&model, &schedule);
}

static void cosine_transforms_take_longer_and_type_i_by_its_own_length(void **state) {
    (void)state;
    const weft_machine machine = weft_machine_default;
    const double flops = machine.rate.flops[0][WEFT_LENGTH_BINARY];
    const double usual = predict_cosines(&machine, 128, WEFT_DCT2);
    assert_true(fabs(usual / (machine.penalty.real_to_real * 1e9 / flops) - 1) < 1e-6);
    assert_true(fabs(predict_cosines(&machine, 129, WEFT_DCT1) / usual - 1) < 1e-6); /* 2 * 128 */
    assert_true(fabs(predict_cosines(&machine, 127, WEFT_DST1) / usual - 1) < 1e-6);
    assert_true(predict_cosines(&machine, 128, WEFT_DCT1) > 1.1 * usual); /* 2 * 127 */
    assert_true(predict_cosines(&machine, 1, WEFT_DST1) > 0);
}

static void passes_of_fftw_take_longer_by_the_record(void **state) {
    (void)state;
    weft_schedule schedule = {.steps = 1};
    weft_step step = {.kind = WEFT_STEP_FFT, .flops = 1e6, .bytes_moved = 1 << 20};
    weft_model model = {.machine = &weft_machine_default};
    step.as.fft.parts = 1;
    step.as.fft.transform = (weft_transform){.kind = WEFT_TRANSFORM_C2C,
                                             .dims = 1,
                                             .dim = {{64, 1, 1}},
                                             .in_elements = 64,
                                             .out_elements = 64};
    schedule.step = &step;
    const double usual = weft_model_predict(&model, &schedule);
    model.engine = weft_engine_find(WEFT_ENGINE_FFTW);
    const double slower = weft_model_predict(&model, &schedule);
    assert_true(fabs(slower / usual / weft_machine_default.penalty.fftw - 1) < 1e-9);
}

static void rates_lie_between_those_that_are_known(void **state) {
    (void)state;
    static const double bytes[WEFT_MACHINE_SIZES] = {1e2, 1e4, 1e6, 1e8};
    static const double rate[WEFT_MACHINE_SIZES] = {8, 4, 2, 1};
    static const struct {
        double at, rate;
    } cases[] = {{1, 8}, {1e2, 8}, {1e3, 6}, {1e4, 4}, {1e5, 3}, {1e7, 1.5}, {1e8, 1}, {1e12, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(fabs(weft_machine_rate_at(bytes, rate, cases[i].at) - cases[i].rate) < 1e-9);
}

static void lengths_are_classed_by_their_largest_prime(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        weft_length_class class;
    } cases[] = {{1, WEFT_LENGTH_BINARY},       {2, WEFT_LENGTH_BINARY},
                 {1024, WEFT_LENGTH_BINARY},    {3, WEFT_LENGTH_SMOOTH},
                 {243, WEFT_LENGTH_SMOOTH},     {13 * 64, WEFT_LENGTH_SMOOTH},
                 {17, WEFT_LENGTH_PRIME},       {2 * 251, WEFT_LENGTH_PRIME},
                 {257, WEFT_LENGTH_LONG_PRIME}, {509 * 4, WEFT_LENGTH_LONG_PRIME},
                 {17 * 17, WEFT_LENGTH_PRIME}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(weft_length_class_of(cases[i].n), cases[i].class);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_a_file_lacks_keeps_its_default),
        cmocka_unit_test(what_is_wrong_is_refused_by_its_key),
        cmocka_unit_test(plans_say_which_record_they_predict_by),
        cmocka_unit_test(predictions_follow_the_record),
        cmocka_unit_test(another_order_costs_as_much_for_real_lines),
        cmocka_unit_test(cosine_transforms_take_longer_and_type_i_by_its_own_length),
        cmocka_unit_test(passes_of_fftw_take_longer_by_the_record),
        cmocka_unit_test(rates_lie_between_those_that_are_known),
        cmocka_unit_test(lengths_are_classed_by_their_largest_prime),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
