/* What tests ask of explanations: words in what weft_plan_explain writes. */
#ifndef WEFT_TESTS_EXPLANATIONS_H
#define WEFT_TESTS_EXPLANATIONS_H

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

#endif
