/* What tests ask of convolutions: words in what weft_plan_explain writes, and in a refusal. */
#ifndef WEFT_TESTS_CONVOLUTIONS_H
#define WEFT_TESTS_CONVOLUTIONS_H

#include "one_context.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool explanation_has(weft_plan plan, weft_format format, const char *words) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(weft_plan_explain(plan, stream, format), WEFT_SUCCESS);
    fclose(stream);
    const bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

static void refused(weft_convolution_problem p, weft_options options, weft_status status,
                    const char *words) {
    weft_convolution made = NULL;
    assert_int_equal(weft_convolution_create(ctx, &p, &options, &made), status);
    if (!strstr(weft_last_error(ctx), words)) fail_msg("%s", weft_last_error(ctx));
    assert_null(made);
}

#endif
