/* What tests of the public interface on one process begin with: cmocka, and a context for all tests
 * of a program, opened and closed by its group. */
#ifndef WEFT_TESTS_ONE_CONTEXT_H
#define WEFT_TESTS_ONE_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <weft/weft.h>

static weft_context ctx;

static int open_context(void **state) {
    (void)state;
    return weft_context_create(NULL, &ctx) == WEFT_SUCCESS ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    weft_context_destroy(&ctx);
    return ctx == NULL ? 0 : -1;
}

#endif
