/* Libraries opened at run time: what is found, what is not, and what is said of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <string.h>

#include "support/error.h"
#include "support/shared_library.h"

typedef struct table {
    double (*cosine)(double x);
    void *(*nothing)(void);
} table;

static const weft_library_symbol symbols[] = {WEFT_LIBRARY_SYMBOL(table, "cos", cosine),
                                              WEFT_LIBRARY_SYMBOL(table, "no_such", nothing)};

static void newer_names_that_are_missing_are_passed_over(void **state) {
    (void)state;
    const weft_library_files files = {
        .what = "mathematics", .file = {"libm.so.99", "libm.so.6"}, .advice = "install it"};
    char reason[WEFT_LIBRARY_REASON_BYTES];
    table t = {NULL, NULL};
    assert_true(weft_library_load(&files, symbols, 1, &t, reason));
    assert_true(t.cosine(0.0) == 1.0);
}

static void a_missing_library_is_named_with_the_advice(void **state) {
    (void)state;
    const weft_library_files files = {
        .what = "mathematics", .file = {"libm.so.99"}, .advice = "install it"};
    char reason[WEFT_LIBRARY_REASON_BYTES];
    table t;
    assert_false(weft_library_load(&files, symbols, 1, &t, reason));
    assert_non_null(strstr(reason, "mathematics: cannot open libm.so.99"));
    assert_non_null(strstr(reason, "install it"));
}

static void a_missing_symbol_is_named(void **state) {
    (void)state;
    const weft_library_files files = {
        .what = "mathematics", .file = {"libm.so.6"}, .advice = "install it"};
    char reason[WEFT_LIBRARY_REASON_BYTES];
    table t;
    assert_false(weft_library_load(&files, symbols, 2, &t, reason));
    assert_non_null(strstr(reason, "no_such"));
}

static void folders_stand_in_place_of_the_loader_unless_it_may_look_too(void **state) {
    (void)state;
    weft_library_files files = {.what = "mathematics",
                                .file = {"libm.so.6"},
                                .folders = "/nowhere:/dev",
                                .advice = "install it"};
    char reason[WEFT_LIBRARY_REASON_BYTES];
    assert_null(weft_library_open(&files, reason));
    files.loader_too = true;
    void *handle = weft_library_open(&files, reason);
    assert_non_null(handle);
    weft_library_close(handle);
}

static int loads;
static weft_library missing = {.once = PTHREAD_ONCE_INIT};

static void load_nothing(void) {
    loads++;
    strcpy(missing.reason, "it is not there");
}

static void a_library_of_the_process_is_tried_once_and_its_reason_kept(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        weft_thread_error_set("");
        assert_false(weft_library_once(&missing, load_nothing));
        assert_string_equal(weft_thread_error(), "it is not there");
    }
    assert_int_equal(loads, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_names_that_are_missing_are_passed_over),
        cmocka_unit_test(a_missing_library_is_named_with_the_advice),
        cmocka_unit_test(a_missing_symbol_is_named),
        cmocka_unit_test(folders_stand_in_place_of_the_loader_unless_it_may_look_too),
        cmocka_unit_test(a_library_of_the_process_is_tried_once_and_its_reason_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
