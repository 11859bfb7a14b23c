/* Reads WEFT_SIMULATE: see injection.h. */
#include "device/simulated/injection.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/error.h"

enum { LONGEST_DELAY_US = 1000000, DEFAULT_DELAY_US = 50 };

static const char *const failure_names[WEFT_FAILURES] = {
    [WEFT_FAIL_ALLOCATE] = "allocate", [WEFT_FAIL_QUEUE] = "queue", [WEFT_FAIL_COPY] = "copy",
    [WEFT_FAIL_RUN] = "run",           [WEFT_FAIL_SCALE] = "scale",
};

/* Reads decimal digits up to the next comma or the end. */
static bool read_number(const char *text, uint64_t most, uint64_t *number, const char **end) {
    if (!isdigit((unsigned char)*text)) return false;
    char *stop;
    errno = 0;
    unsigned long long value = strtoull(text, &stop, 10);
    if (errno != 0 || value > most || (*stop != ',' && *stop != '\0')) return false;
    *number = value;
    *end = stop;
    return true;
}

/* Steps over `word` if the text begins with it. */
static bool take_word(const char **text, const char *word) {
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0) return false;
    *text += length;
    return true;
}

static bool read_failure(const char **text, weft_injection *injection) {
    for (int kind = 0; kind < WEFT_FAILURES; ++kind) {
        const char *at = *text;
        if (!take_word(&at, failure_names[kind]) || !take_word(&at, ":")) continue;
        return read_number(at, UINT64_MAX, &injection->fail_at[kind], text) &&
               injection->fail_at[kind] > 0;
    }
    return false;
}

static bool read_item(const char **text, weft_injection *injection, uint64_t *rank) {
    uint64_t number;
    if (take_word(text, "seed=")) return read_number(*text, UINT64_MAX, &injection->seed, text);
    if (take_word(text, "rank=")) return read_number(*text, INT32_MAX, rank, text);
    if (take_word(text, "fail=")) return read_failure(text, injection);
    if (take_word(text, "delay_us=")) {
        if (!read_number(*text, LONGEST_DELAY_US, &number, text)) return false;
        injection->delay_us = (unsigned)number;
        return true;
    }
    if (!take_word(text, "memory=") || !read_number(*text, SIZE_MAX, &number, text)) return false;
    injection->memory = (size_t)number;
    return true;
}

/* The rank that the launcher gave this process; 0 where there is none. */
static uint64_t launched_rank(void) {
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    if (!text) text = getenv("PMI_RANK");
    return text ? strtoull(text, NULL, 10) : 0;
}

weft_status weft_injection_read(weft_injection *injection) {
    weft_injection read = {.seed = 1, .delay_us = DEFAULT_DELAY_US};
    uint64_t rank = UINT64_MAX;
    const char *text = getenv("WEFT_SIMULATE"), *at = text;
    while (at && *at) {
        bool good = read_item(&at, &read, &rank);
        if (good && *at == ',') good = *++at != '\0';
        if (!good)
            return weft_fail(
                WEFT_ERROR_INVALID_ARGUMENT,
                "WEFT_SIMULATE=\"%.200s\": not understood at \"%.40s\"; give seed=N, delay_us=N "
                "(to %d), memory=BYTES, rank=R and fail=KIND:N (KIND allocate, queue, copy, run or "
                "scale; N from 1), with commas between",
                text, at, LONGEST_DELAY_US);
    }
    if (rank != UINT64_MAX && rank != launched_rank()) memset(read.fail_at, 0, sizeof read.fail_at);
    *injection = read;
    return WEFT_SUCCESS;
}
