/* Structs of callers compiled with other versions: shorter ones, longer ones, and what is no size
 * of a struct at all. */
#include "one_context.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LATER = 64, GUARD = 0x5A };

/* What takes a caller's struct. */
typedef weft_status (*taker)(const void *given);

static weft_status take_context_options(const void *given) {
    weft_context made = NULL;
    weft_status status = weft_context_create(given, &made);
    weft_context_destroy(&made);
    return status;
}

static weft_status take(const weft_problem *problem, const weft_options *options) {
    weft_plan plan = NULL;
    weft_status status = weft_plan_create(ctx, problem, options, &plan);
    weft_plan_destroy(&plan);
    return status;
}

static const weft_problem line = {.rank = 1, .n = {8}};

static weft_status take_problem(const void *given) {
    return take(given, NULL);
}

static weft_status take_options(const void *given) {
    return take(&line, given);
}

static weft_status take_operator(const void *given) {
    weft_problem p = line;
    p.load = (weft_operators){given, 1};
    return take(&p, NULL);
}

static weft_plan plan_of_options(void) {
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &line, NULL, &plan), WEFT_SUCCESS);
    return plan;
}

/* A struct of the caller's is filled: in a copy, for these are tests of what it takes. */
static weft_status fill_options(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size);
    const size_t room = size >= sizeof(size_t) && size < 4096 ? size : 4096;
    weft_plan plan = plan_of_options();
    weft_options *theirs = malloc(room);
    memcpy(theirs, &size, sizeof size);
    weft_status status = weft_plan_options(plan, theirs);
    free(theirs);
    weft_plan_destroy(&plan);
    return status;
}

static const weft_context_options context_options;
static const weft_options options = {.chunks = 2};
static const weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};

/* Every struct with a struct_size; the least size is that of the first version. */
static const struct {
    const char *name;
    taker take;
    const void *good;
    size_t least, known, size;
    bool written;
} structs[] = {
    {"weft_context_options", take_context_options, &context_options,
     offsetof(weft_context_options, reserved), offsetof(weft_context_options, reserved),
     sizeof(weft_context_options), false},
    {"weft_problem", take_problem, &line, offsetof(weft_problem, load),
     offsetof(weft_problem, reserved), sizeof(weft_problem), false},
    {"weft_options", take_options, &options, offsetof(weft_options, trace),
     offsetof(weft_options, reserved), sizeof(weft_options), false},
    {"weft_operator", take_operator, &scale, offsetof(weft_operator, snippet),
     offsetof(weft_operator, reserved), sizeof(weft_operator), false},
    {"weft_options, filled", fill_options, &options, offsetof(weft_options, trace),
     offsetof(weft_options, reserved), sizeof(weft_options), true},
};
enum { STRUCTS = sizeof structs / sizeof *structs };

/* One of `room` bytes, in memory that is no larger, with this struct_size. */
static unsigned char *one_of(int s, size_t size, size_t room) {
    unsigned char *given = calloc(1, room);
    memcpy(given, structs[s].good, room < structs[s].known ? room : structs[s].known);
    memcpy(given, &size, room < sizeof size ? room : sizeof size);
    return given;
}

static void takes(int s, size_t size, size_t room, weft_status wanted) {
    unsigned char *given = one_of(s, size, room);
    const weft_status status = structs[s].take(given);
    if (status != wanted)
        fail_msg("%s of struct_size %zu: %s: %s", structs[s].name, size, weft_status_name(status),
                 weft_last_error(NULL));
    free(given);
}

static void every_size_that_a_version_may_have_is_taken(void **state) {
    (void)state;
    for (int s = 0; s < STRUCTS; s++) {
        takes(s, 0, structs[s].size, WEFT_SUCCESS);
        for (size_t size = structs[s].least; size <= structs[s].size + LATER; size++)
            takes(s, size, size,
                  size % sizeof(size_t) == 0 ? WEFT_SUCCESS : WEFT_ERROR_INVALID_ARGUMENT);
    }
}

static void sizes_that_no_version_has_are_refused(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 3, 7, 65544, SIZE_MAX, SIZE_MAX - 7};
    for (int s = 0; s < STRUCTS; s++) {
        const size_t few = structs[s].least;
        for (size_t size = sizeof(size_t); size < few; size++)
            takes(s, size, size, WEFT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(weft_last_error(NULL), "struct_size"));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            takes(s, sizes[i], sizeof(size_t), WEFT_ERROR_INVALID_ARGUMENT);
        takes(s, structs[s].size - 1, structs[s].size, WEFT_ERROR_INVALID_ARGUMENT);
    }
}

static void what_a_later_version_would_know_is_refused_where_it_is_set(void **state) {
    (void)state;
    for (int s = 0; s < STRUCTS; s++) {
        const size_t longer = structs[s].size + LATER;
        for (size_t at = structs[s].known; at < longer && !structs[s].written; at++) {
            unsigned char *given = one_of(s, longer, longer);
            given[at] = 1;
            assert_int_equal(structs[s].take(given), WEFT_ERROR_UNSUPPORTED);
            assert_non_null(strstr(weft_last_error(NULL), "newer library"));
            memset(given, 0, sizeof(size_t)); /* the size of this header: nothing beyond is read */
            assert_int_equal(structs[s].take(given),
                             at < structs[s].size ? WEFT_ERROR_UNSUPPORTED : WEFT_SUCCESS);
            free(given);
        }
    }
}

/* 8 bytes once were enough, and every option was dropped. */
static void options_of_a_shorter_struct_are_followed(void **state) {
    (void)state;
    unsigned char *given = one_of(2, offsetof(weft_options, trace), offsetof(weft_options, trace));
    weft_plan plan = NULL;
    weft_options made = {0};
    assert_int_equal(weft_plan_create(ctx, &line, (const weft_options *)(void *)given, &plan),
                     WEFT_SUCCESS);
    assert_int_equal(weft_plan_options(plan, &made), WEFT_SUCCESS);
    assert_int_equal(made.chunks, options.chunks);
    assert_int_equal(made.trace, 0);
    assert_int_equal(made.struct_size, sizeof made);
    weft_plan_destroy(&plan);
    free(given);
}

/* And no byte beyond its size is written. */
static void options_are_filled_in_as_far_as_the_struct_goes(void **state) {
    (void)state;
    weft_plan plan = plan_of_options();
    weft_options whole = {0};
    assert_int_equal(weft_plan_options(plan, &whole), WEFT_SUCCESS);
    for (size_t size = offsetof(weft_options, trace); size <= sizeof whole + LATER; size += 8) {
        unsigned char theirs[sizeof whole + LATER + 8];
        memset(theirs, GUARD, sizeof theirs);
        memcpy(theirs, &size, sizeof size);
        assert_int_equal(weft_plan_options(plan, (weft_options *)(void *)theirs), WEFT_SUCCESS);
        assert_memory_equal(theirs, &size, sizeof size);
        for (size_t i = sizeof size; i < sizeof theirs; i++)
            assert_int_equal(theirs[i], i >= size          ? GUARD
                                        : i < sizeof whole ? ((unsigned char *)&whole)[i]
                                                           : 0);
    }
    weft_plan_destroy(&plan);
}

/* A caller need not have set them, and one member is never read for another. */
static void structs_without_a_size_are_filled_in_whole(void **state) {
    (void)state;
    const weft_timings no_timings = {0};
    const weft_memory no_memory = {0};
    weft_plan plan = plan_of_options();
    struct {
        weft_timings timings;
        unsigned char guard[8];
        weft_memory memory;
        unsigned char guard_too[8];
    } theirs;
    memset(&theirs, GUARD, sizeof theirs);
    assert_int_equal(weft_plan_timings(plan, &theirs.timings), WEFT_SUCCESS);
    assert_int_equal(weft_plan_memory(plan, &theirs.memory), WEFT_SUCCESS);
    assert_memory_equal(theirs.timings.reserved, no_timings.reserved, sizeof no_timings.reserved);
    assert_memory_equal(theirs.memory.reserved, no_memory.reserved, sizeof no_memory.reserved);
    for (int i = 0; i < 8; i++)
        assert_true(theirs.guard[i] == GUARD && theirs.guard_too[i] == GUARD);
    weft_plan_destroy(&plan);
}

static void look_at_reserved(const weft_operator_run *run, void *argument) {
    for (size_t i = 0; i < sizeof run->reserved / sizeof *run->reserved; i++)
        *(int *)argument += run->reserved[i] != 0;
}

static void runs_and_spans_leave_what_is_reserved_zero(void **state) {
    (void)state;
    int set = 0, count = 0;
    const weft_operator look = {
        .kind = WEFT_OPERATOR_FUNCTION, .function = look_at_reserved, .argument = &set};
    const weft_options traced = {.trace = 1};
    const weft_span *span;
    weft_problem p = line;
    weft_plan plan = NULL;
    double numbers[16] = {0};
    p.load = (weft_operators){&look, 1};
    assert_int_equal(weft_plan_create(ctx, &p, &traced, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, numbers, numbers), WEFT_SUCCESS);
    assert_int_equal(weft_plan_trace(plan, &span, &count), WEFT_SUCCESS);
    assert_true(count > 0);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof span->reserved / sizeof *span->reserved; k++)
            set += span[i].reserved[k] != 0;
    assert_int_equal(set, 0);
    weft_plan_destroy(&plan);
}

/* A member that comes takes its place from `reserved`: programs that are compiled already go on
 * working as long as these numbers stay. */
static void structs_keep_their_sizes(void **state) {
    (void)state;
    if (sizeof(void *) != 8) skip();
    assert_int_equal(sizeof(weft_box), 128);
    assert_int_equal(sizeof(weft_brick), 160);
    assert_int_equal(sizeof(weft_window), 16);
    assert_int_equal(sizeof(weft_operators), 16);
    assert_int_equal(sizeof(weft_operator_run), 136);
    assert_int_equal(sizeof(weft_operator), 376);
    assert_int_equal(sizeof(weft_context_options), 64);
    assert_int_equal(sizeof(weft_problem), 696);
    assert_int_equal(sizeof(weft_options), 264);
    assert_int_equal(sizeof(weft_timings), 192);
    assert_int_equal(sizeof(weft_span), 64);
    assert_int_equal(sizeof(weft_memory), 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_that_a_version_may_have_is_taken),
        cmocka_unit_test(sizes_that_no_version_has_are_refused),
        cmocka_unit_test(what_a_later_version_would_know_is_refused_where_it_is_set),
        cmocka_unit_test(options_of_a_shorter_struct_are_followed),
        cmocka_unit_test(options_are_filled_in_as_far_as_the_struct_goes),
        cmocka_unit_test(structs_without_a_size_are_filled_in_whole),
        cmocka_unit_test(runs_and_spans_leave_what_is_reserved_zero),
        cmocka_unit_test(structs_keep_their_sizes),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
