/*
 * A 1-D transform over several ranks: a line of n = n1 n2 points is a row-major array of n1 x n2,
 * whose index (j1, j2) is j = j1 n2 + j2, and its spectrum one of n2 x n1, whose index (k2, k1) is
 * k = k2 n1 + k1. What lies in between is a row of the table of strategies, with twiddle factors
 * (strategy.c). So the planner and all below it see a problem of two axes.
 *
 * A convolution does not need the spectrum in order. Its line is *scattered*: the spectrum stays as
 * the transforms along j2 leave it, where a rank has all k2 of some k1, so that two exchanges of
 * six are spared. Of real data k1 <= n1/2 is enough there: the others are conjugates of these.
 */
#ifndef WEFT_PLAN_LINE_H
#define WEFT_PLAN_LINE_H

#include "layout/layout.h"

typedef struct weft_line {
    int64_t points;    /* n; 0: not a line over several ranks */
    int64_t stored[2]; /* [direction]: points of it in real space, where a forward transform begins
                          and an inverse one ends; n or fewer */
    bool real;         /* WEFT_R2C: of the spectrum in order only rows k2 <= n/2 / n1 are stored */
    bool scattered;
} weft_line;

enum { WEFT_LINE_EXCHANGES = 3 };

static inline int weft_line_exchanges(const weft_line *line) {
    return line->scattered ? WEFT_LINE_EXCHANGES - 1 : WEFT_LINE_EXCHANGES;
}

/* Whether a problem of so many axes is such a line. */
static inline bool weft_line_is(int axes, int ranks) {
    return axes == 1 && ranks > 1;
}

/* Refuses what such a line does not have: bricks and a matrix among other things. */
weft_status weft_line_check(const weft_problem *problem, const weft_options *options, bool bricks,
                            bool matrix, int ranks);

/* The factors n1 <= n2 of a length that are next to its square root; n1 is 1 for a prime. */
void weft_line_factor(int64_t points, int64_t *n1, int64_t *n2);

/* Rows of the spectrum in order, each n1 points, that are stored. */
int64_t weft_line_rows(const weft_line *line, int64_t n1, int64_t n2);

/* The points of the line that are stored in a space. */
int64_t weft_line_extent(const weft_line *line, weft_space space);

/* A rank's part of the line, given its part of the array of n1 x n2 at the end `space`. Of a
 * scattered spectrum: as many elements, from number 0 on. */
weft_box weft_line_box(const weft_line *line, const weft_region *region, weft_space space);

#endif
