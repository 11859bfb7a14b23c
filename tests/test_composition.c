/* Compositions of several plans on one process: their timings and traces are those of all plans,
 * and what cannot be executed is refused. tests/mpi/compose.c has the results. */
#include "one_context.h"

#include <math.h>
#include <string.h>

enum { ROWS = 6, COLUMNS = 10, POINTS = ROWS * COLUMNS, SPECTRUM = ROWS * (COLUMNS / 2 + 1) };

static const weft_problem lines = {
    .rank = 2, .n = {ROWS, COLUMNS}, .axis = {WEFT_AXIS_NONE, WEFT_AXIS_OF_KIND}};
static const weft_problem columns = {
    .rank = 2, .n = {ROWS, COLUMNS}, .axis = {WEFT_AXIS_OF_KIND, WEFT_AXIS_NONE}};

static weft_composition create(const weft_composition_problem *problem, int trace) {
    weft_composition made = NULL;
    const weft_options options = {.trace = trace};
    if (weft_composition_create(ctx, problem, &options, &made) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    return made;
}

/* Back along one axis and forward along the other are two plans, of one transform each. */
static weft_composition two_plans(int trace) {
    const weft_stage stages[] = {
        {.kind = WEFT_STAGE_PROBLEM, .problem = &lines, .direction = WEFT_INVERSE},
        {.kind = WEFT_STAGE_PROBLEM, .problem = &columns}};
    const weft_composition_problem problem = {
        .rank = 2, .n = {ROWS, COLUMNS}, .begin = WEFT_OUTPUT, .stage = stages, .stages = 2};
    return create(&problem, trace);
}

static void timings_and_traces_are_those_of_all_plans(void **state) {
    (void)state;
    static double in[2 * POINTS], out[2 * POINTS];
    void *arrays[] = {out};
    weft_composition made = two_plans(1);
    const weft_span *spans = NULL;
    weft_timings told;
    int count = 0, transforms = 0, last = -1;
    double spent = 0, end = 0;
    for (int run = 0; run < 2; run++) /* the second tells of itself alone */
        assert_int_equal(weft_composition_execute(made, in, arrays), WEFT_SUCCESS);
    assert_int_equal(weft_plan_timings(made, &told), WEFT_SUCCESS);
    assert_int_equal(weft_plan_trace(made, &spans, &count), WEFT_SUCCESS);
    for (int i = 0; i < count; i++) {
        if (spans[i].phase != WEFT_PHASE_FFT) continue;
        assert_true(spans[i].step > last); /* steps are counted through the plans */
        assert_true(spans[i].begin >= end && spans[i].end >= spans[i].begin);
        last = spans[i].step;
        end = spans[i].end;
        spent += spans[i].end - spans[i].begin;
        transforms++;
    }
    assert_int_equal(transforms, 2);
    assert_true(fabs(told.fft - spent) < 1e-9);
    assert_true(told.total >= told.fft && told.fft > 0);
    assert_int_equal(told.bytes_sent, 0);
    weft_plan_destroy(&made);

    made = two_plans(0);
    assert_int_equal(weft_plan_trace(made, &spans, &count), WEFT_ERROR_INVALID_ARGUMENT);
    weft_plan_destroy(&made);
}

static void expect(weft_status status, const char *words) {
    assert_int_equal(status, WEFT_ERROR_INVALID_ARGUMENT);
    if (!strstr(weft_last_error(ctx), words)) fail_msg("%s: %s", words, weft_last_error(ctx));
}

static void arrays_that_are_missing_or_overlap_are_refused(void **state) {
    (void)state;
    static double in[2 * POINTS], kept[2 * SPECTRUM], out[2 * POINTS];
    const weft_stage stages[] = {
        {.kind = WEFT_STAGE_FORWARD},
        {.kind = WEFT_STAGE_COPY_OUT},
        {.kind = WEFT_STAGE_INVERSE},
        {.kind = WEFT_STAGE_PROBLEM,
         .problem = &(weft_problem){.rank = 2, .n = {ROWS, COLUMNS}, .kind = WEFT_R2C}}};
    const weft_composition_problem problem = {.rank = 2,
                                              .n = {ROWS, COLUMNS},
                                              .kind = WEFT_R2C,
                                              .norm = WEFT_NORM_BACKWARD,
                                              .stage = stages,
                                              .stages = 4};
    weft_composition made = create(&problem, 0);
    size_t bytes = 0;
    assert_int_equal(weft_composition_bytes(made, 1, &bytes), WEFT_SUCCESS);
    assert_true(bytes <= sizeof out);
    expect(weft_composition_bytes(made, 2, &bytes), "0..1");
    expect(weft_composition_execute(made, in, NULL), "out is NULL");
    expect(weft_composition_execute(made, NULL, (void *[]){kept, out}), "in is NULL");
    expect(weft_composition_execute(made, in, (void *[]){kept, NULL}), "an array of out is NULL");
    expect(weft_composition_execute(made, in, (void *[]){kept, in}), "in and out[1] overlap");
    expect(weft_composition_execute(made, in, (void *[]){kept, kept}),
           "an array of out and out[1] overlap");
    expect(weft_execute(made, WEFT_CONVOLVE, in, out), "weft_composition_execute");
    assert_int_equal(weft_composition_execute(made, in, (void *[]){kept, out}), WEFT_SUCCESS);
    weft_plan_destroy(&made);
    expect(weft_composition_create(ctx, &problem, NULL, NULL), "composition is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timings_and_traces_are_those_of_all_plans),
        cmocka_unit_test(arrays_that_are_missing_or_overlap_are_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
