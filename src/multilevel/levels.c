/*
 * What a convolution by levels costs, and how many levels it therefore has: with more of them the
 * lattice that every rank has all of is smaller, but there are more messages.
 */
#include "multilevel/multilevel.h"

#include "plan/machine.h"
#include "support/error.h"

#include <math.h>

/* Of a transform there and back, for each point and factor 2 of the points; estimate. And of a
 * point's way to the next lattice and back, for each point that a B-spline reaches along all axes.
 */
enum { TRANSFORM = 5, TRANSFER = 5 };

/* Neighbours of a box, itself not counted. */
enum { NEIGHBOURS = 26 };

static double seconds_of_level(const weft_splitting *s, int level, const weft_region *box,
                               int ranks) {
    const weft_machine_rates *rate = &weft_machine_default.rate;
    const weft_convolution_problem *p = &s->convolved->problem;
    const weft_lattice_boxes b = weft_lattice_find(s, level, box, box);
    const double around = (double)weft_region_elements(&b.around);
    const double numbers = (s->convolved->real ? 1 : 2) * (double)(p->batch > 0 ? p->batch : 1);
    const double bytes = (around - (double)weft_region_elements(&b.own)) * numbers *
                         (double)weft_number_bytes(p->precision);
    const bool last = level == s->levels;
    const int partners = last || ranks < NEIGHBOURS ? ranks - 1 : NEIGHBOURS;
    double work = around * TRANSFORM * log2(around + 2);
    if (!last) work += (double)weft_region_elements(&b.made) * TRANSFER * (2 * s->span + 1);
    return work * numbers / rate->flops +
           (ranks > 1 ? bytes / rate->bandwidth + partners * rate->latency : 0);
}

static double seconds_of(const weft_splitting *s, const weft_region *box, int ranks) {
    double seconds = 0;
    for (int l = 0; l <= s->levels; l++) seconds += seconds_of_level(s, l, box, ranks);
    return seconds;
}

weft_status weft_multilevel_split(const weft_convolved *c, const weft_region *box, int ranks,
                                  weft_splitting *s) {
    const int most = weft_splitting_most_levels(c), points = (int)c->problem.interpolation;
    double least = INFINITY;
    int best = 1;
    WEFT_TRY(weft_splitting_create(c, 1, points, s));
    for (s->levels = 1; s->levels <= most; s->levels++) {
        const double seconds = seconds_of(s, box, ranks);
        if (seconds < least) best = s->levels;
        least = fmin(least, seconds);
    }
    s->levels = 1;
    weft_splitting_release(s);
    return weft_splitting_create(c, best, points, s);
}
