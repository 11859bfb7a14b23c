/*
 * A 1-D transform over several ranks: a line of n = n1 n2 points is a row-major array of n1 x n2,
 * whose index (j1, j2) is j = j1 n2 + j2, and its spectrum one of n2 x n1, whose index (k2, k1) is
 * k = k2 n1 + k1. What lies in between is a row of the table of strategies, with twiddle factors
 * (strategy.c). So the planner and all below it see a problem of two axes.
 */
#ifndef WEFT_PLAN_LINE_H
#define WEFT_PLAN_LINE_H

#include "layout/layout.h"

typedef struct weft_line {
    int64_t points; /* n; 0: not a line over several ranks */
    bool real;      /* WEFT_R2C: of the spectrum only rows k2 <= n/2 / n1 are stored */
} weft_line;

enum { WEFT_LINE_EXCHANGES = 3 };

/* Whether a problem is such a line. */
static inline bool weft_line_is(const weft_problem *problem, int ranks) {
    return problem->rank == 1 && ranks > 1;
}

/* Refuses what such a line does not have. */
weft_status weft_line_check(const weft_problem *problem, const weft_options *options, bool bricks,
                            int ranks);

/* The factors n1 <= n2 of a length that are next to its square root; n1 is 1 for a prime. */
void weft_line_factor(int64_t points, int64_t *n1, int64_t *n2);

/* Rows of the spectrum, each n1 points, that are stored. */
int64_t weft_line_rows(const weft_line *line, int64_t n1, int64_t n2);

/* A rank's part of the line, given its part of the array of n1 x n2, at the end `space`. */
weft_box weft_line_box(const weft_line *line, const weft_region *region, weft_space space);

#endif
