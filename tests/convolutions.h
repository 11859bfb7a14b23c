/* What tests ask of convolutions: results and their errors, words in what weft_plan_explain writes,
 * and in a refusal. */
#ifndef WEFT_TESTS_CONVOLUTIONS_H
#define WEFT_TESTS_CONVOLUTIONS_H

#include "one_context.h"
#include "random_numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool explanation_has(weft_plan plan, weft_format format, const char *words) {
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

static inline void refused(weft_convolution_problem p, weft_options options, weft_status status,
                           const char *words) {
    weft_convolution made = NULL;
    assert_int_equal(weft_convolution_create(ctx, &p, &options, &made), status);
    if (!strstr(weft_last_error(ctx), words)) fail_msg("%s", weft_last_error(ctx));
    assert_null(made);
}

static inline weft_convolution made_of(weft_convolution_problem p, int threads) {
    const weft_options options = {.threads = threads};
    weft_convolution made = NULL;
    if (weft_convolution_create(ctx, &p, &options, &made) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    return made;
}

static inline double *noise(int64_t count) {
    double *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = random_number();
    return x;
}

static inline double *convolved(weft_convolution plan, const double *in, int64_t count) {
    double *out = malloc((size_t)count * sizeof *out);
    if (weft_convolution_execute(plan, in, out) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    return out;
}

static inline double relative(const double *found, const double *right, int64_t count) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < count; i++) {
        off += (found[i] - right[i]) * (found[i] - right[i]);
        all += right[i] * right[i];
    }
    return sqrt(off / all);
}

/* With the field in in[], also in place. Destroys both. */
static inline void give_the_same_bits(weft_convolution one, weft_convolution other, double *in,
                                      int64_t count) {
    double *first = convolved(one, in, count), *second = convolved(other, in, count);
    assert_memory_equal(first, second, (size_t)count * sizeof *first);
    assert_int_equal(weft_convolution_execute(other, in, in), WEFT_SUCCESS);
    assert_memory_equal(first, in, (size_t)count * sizeof *first);
    weft_convolution_destroy(&one);
    weft_convolution_destroy(&other);
    free(first);
    free(second);
}

#endif
