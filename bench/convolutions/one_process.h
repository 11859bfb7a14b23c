/* What the programs that time convolutions in one process share: the context and the options,
 * ending where something fails, flags, and timing ways in turn. */
#ifndef WEFT_BENCH_CONVOLUTIONS_ONE_PROCESS_H
#define WEFT_BENCH_CONVOLUTIONS_ONE_PROCESS_H

#include "measuring.h"

#include <stdint.h>
#include <stdio.h>

enum { MOST_ROUNDS = 200, MOST_WAYS = 3, WARMUPS = 2 };

static weft_context ctx;
static weft_options options;

static inline void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "%s\n", weft_last_error(ctx));
    exit(1);
}

typedef struct flags {
    int rounds;
    int64_t most;
    const char *only;
} flags;

/* Reads the flags, also into `options`; a wrong one ends the program. */
static inline flags read_flags(int argc, char **argv) {
    flags f = {.rounds = 11, .most = 256, .only = ""};
    options.threads = 1;
    for (int i = 1; i < argc; i += 2) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(flag, "--rounds") == 0) {
            f.rounds = atoi(value);
        } else if (strcmp(flag, "--threads") == 0) {
            options.threads = atoi(value);
        } else if (strcmp(flag, "--most") == 0) {
            f.most = atoi(value);
        } else if (strcmp(flag, "--only") == 0) {
            f.only = value;
        } else if (strcmp(flag, "--engine") == 0) {
            options.engine = engine_named(value);
        } else if (strcmp(flag, "--device") == 0) {
            options.device = strcmp(value, "cuda") == 0 ? WEFT_CUDA : WEFT_HOST;
        } else {
            fprintf(stderr, "%s is no flag of this program\n", flag);
            exit(2);
        }
    }
    if (f.rounds < 1 || f.rounds > MOST_ROUNDS || options.threads < 1) exit(2);
    return f;
}

/* Runs the ways in turn, another one first in each round. median[way] gets milliseconds; of ways
 * that there are not 0. */
static inline void time_in_turn(int ways, int rounds, void (*run)(int way, void *argument),
                                void *argument, double median[MOST_WAYS]) {
    static double seconds[MOST_WAYS][MOST_ROUNDS];
    for (int r = -WARMUPS; r < rounds; r++)
        for (int k = 0; k < ways; k++) {
            const int way = (k + r + WARMUPS) % ways;
            const double begin = seconds_now();
            run(way, argument);
            if (r >= 0) seconds[way][r] = seconds_now() - begin;
        }
    for (int way = 0; way < MOST_WAYS; way++)
        median[way] = way < ways ? 1e3 * median_of(seconds[way], rounds) : 0;
}

#endif
