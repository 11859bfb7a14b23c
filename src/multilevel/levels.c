/*
 * What a convolution by levels costs, and how many levels it therefore has: with more of them the
 * lattice that every rank has all of is smaller, but there are more messages.
 */
#include "multilevel/multilevel.h"

#include "plan/model.h"
#include "support/error.h"

#include <math.h>

/* Operations of a transform there and back, for each point and factor 2 of the points, and of a
 * point's way to the next lattice and back, for each point that a B-spline reaches along an axis.
 */
enum { TRANSFORM = 5, TRANSFER = 5 };

/* Neighbours of a box, itself not counted. */
enum { NEIGHBOURS = 26 };

double weft_method_seconds(const weft_machine *machine, const weft_method_cost *cost) {
    const weft_machine_rates *r = &machine->rate;
    return cost->work / r->flops[0][WEFT_LENGTH_BINARY] +
           cost->bytes / weft_machine_rate_at(r->bytes, r->bandwidth, cost->bytes) +
           cost->messages * r->latency;
}

double weft_transform_work(double points) {
    return TRANSFORM * points * log2(points + 2);
}

static void add_level(const weft_splitting *s, int level, const weft_region *box, int ranks,
                      weft_method_cost *cost) {
    const weft_convolution_problem *p = &s->convolved->problem;
    const weft_lattice_boxes b = weft_lattice_find(s, level, box, box);
    const double around = (double)weft_region_elements(&b.around);
    const double numbers =
        (s->convolved->real ? 1 : 2) * s->fields * (double)(p->batch > 0 ? p->batch : 1);
    const bool last = level == s->levels;
    const int partners = last || ranks < NEIGHBOURS ? ranks - 1 : NEIGHBOURS;
    cost->work += weft_transform_work(around) * numbers;
    if (!last)
        cost->work +=
            (double)weft_region_elements(&b.made) * TRANSFER * (2 * s->span + 1) * numbers;
    if (ranks == 1) return;
    cost->bytes += (around - (double)weft_region_elements(&b.own)) * numbers *
                   (double)weft_number_bytes(p->precision);
    cost->messages += partners;
}

weft_method_cost weft_multilevel_cost(const weft_splitting *s, const weft_region *box, int ranks) {
    weft_method_cost cost = {0};
    for (int l = 0; l <= s->levels; l++) add_level(s, l, box, ranks, &cost);
    return cost;
}

weft_status weft_multilevel_split(const weft_machine *machine, const weft_convolved *c,
                                  const weft_region *box, int ranks, weft_splitting *s) {
    const int most = weft_splitting_most_levels(c), points = (int)c->problem.interpolation;
    double least = INFINITY;
    int best = 1;
    WEFT_TRY(weft_splitting_create(c, 1, points, s));
    for (s->levels = 1; s->levels <= most; s->levels++) {
        const weft_method_cost cost = weft_multilevel_cost(s, box, ranks);
        const double seconds = weft_method_seconds(machine, &cost);
        if (seconds < least) best = s->levels;
        least = fmin(least, seconds);
    }
    s->levels = 1;
    weft_splitting_release(s);
    return weft_splitting_create(c, best, points, s);
}
