/*
 * Lengths from 1 to 4096 that a test checks: all short ones and a random sample of the others, all
 * of them (minutes) with WEFT_TEST_LENGTHS=all, one with WEFT_TEST_LENGTHS=N, every STEP-th from N
 * on, so that several runs share them, with WEFT_TEST_LENGTHS=N:STEP.
 */
#ifndef WEFT_TESTS_SAMPLED_LENGTHS_H
#define WEFT_TESTS_SAMPLED_LENGTHS_H

#include "random_numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SAMPLED = 4096 };

typedef struct sampled_lengths {
    bool asked;                 /* for by the environment */
    int64_t length, last, step; /* step 0: a random one */
    int64_t most;               /* of a random step */
} sampled_lengths;

/* The first length. Returns false where WEFT_TEST_LENGTHS says nothing that is known. */
static inline bool sample_lengths(int64_t most, sampled_lengths *s) {
    const char *asked = getenv("WEFT_TEST_LENGTHS");
    *s = (sampled_lengths){asked != NULL, 1, LONGEST_SAMPLED, asked ? 1 : 0, most};
    if (!asked || strcmp(asked, "all") == 0) return true;
    char *end = NULL;
    s->length = s->last = strtoll(asked, &end, 10);
    if (*end == ':') {
        s->last = LONGEST_SAMPLED;
        s->step = strtoll(end + 1, &end, 10);
    }
    return *end == 0 && s->length > 0 && s->step > 0;
}

static inline void next_length(sampled_lengths *s) {
    s->length += s->step > 0 ? s->step : s->length < 64 ? 1 : random_between(1, s->most);
}

#endif
