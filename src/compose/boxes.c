/* The arrays before, between and behind the legs of a composition: boxes, bytes, and copies. */
#include "compose/compose.h"

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The points of the smaller array that lie in a box of the larger one, as a box of the smaller. */
static weft_box within(const weft_leg *leg, const weft_box *large) {
    weft_box small = *large;
    for (int a = 0; a < leg->problem.rank; a++) {
        const int64_t lo = leg->copy.lo[a], step = leg->copy.step[a];
        const int64_t first = larger(0, large->lo[a] - lo + step - 1) / step;
        const int64_t end = larger(0, large->lo[a] + large->n[a] - lo + step - 1) / step;
        small.lo[a] = smaller(first, leg->copy.n[a]);
        small.n[a] = smaller(end, leg->copy.n[a]) - small.lo[a];
    }
    return small;
}

static weft_box of_plan(const weft_leg *leg, weft_space space, int rank) {
    weft_box box;
    weft_plan_own_box(leg->plan, space, rank, &box);
    return box;
}

weft_box weft_leg_entry(const weft_composed *c, int leg, int rank) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return of_plan(l, l->purpose.direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT, rank);
    if (!l->copy.embeds) return weft_leg_exit(c, leg - 1, rank);
    const weft_box large = weft_leg_exit(c, leg, rank);
    return within(l, &large);
}

weft_box weft_leg_exit(const weft_composed *c, int leg, int rank) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return of_plan(l, l->purpose.direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT, rank);
    if (l->copy.embeds) return weft_leg_entry(c, leg + 1, rank);
    const weft_box large = weft_leg_entry(c, leg, rank);
    return within(l, &large);
}

size_t weft_leg_element(const weft_leg *leg) {
    return weft_number_bytes(leg->problem.precision) * (leg->problem.kind == WEFT_R2C ? 1 : 2);
}

/* Fields of all members of the batch. */
static int64_t members(const weft_problem *p) {
    return (p->batch > 0 ? p->batch : 1) * (p->fields > 0 ? p->fields : 1);
}

int64_t weft_leg_elements(const weft_leg *leg, const weft_box *box) {
    int64_t elements = members(&leg->problem);
    for (int a = 0; a < leg->problem.rank; a++) elements *= box->n[a];
    return elements;
}

/* A part of an array that is row-major over `box`, of which each step-th point counts. The members
 * are the last axis of the view, wherever they lie in memory. */
static weft_view view_of(const weft_leg *leg, const weft_box *box, const int64_t *lo,
                         const int64_t *n, const int64_t *step) {
    const weft_problem *p = &leg->problem;
    const int rank = p->rank;
    weft_view view = {.axes = rank + 1};
    int64_t stride = p->fields_fastest ? members(p) : 1;
    for (int a = rank - 1; a >= 0; a--) {
        view.n[a] = n[a];
        view.stride[a] = step ? step[a] * stride : stride;
        view.offset += (lo[a] - box->lo[a]) * stride;
        stride *= box->n[a];
    }
    view.n[rank] = members(p);
    view.stride[rank] = p->fields_fastest ? 1 : stride;
    return view;
}

weft_copy weft_leg_copying(const weft_leg *leg, const weft_box *from, const weft_box *to) {
    const weft_leg_copy *copy = &leg->copy;
    const weft_box *small = copy->embeds ? from : to, *large = copy->embeds ? to : from;
    int64_t lo[WEFT_MAX_RANK];
    for (int a = 0; a < leg->problem.rank; a++) lo[a] = copy->lo[a] + small->lo[a] * copy->step[a];
    const weft_view inside = view_of(leg, large, lo, small->n, copy->step);
    const weft_view whole = view_of(leg, small, small->lo, small->n, NULL);
    return weft_copy_between(copy->embeds ? &whole : &inside, copy->embeds ? &inside : &whole,
                             weft_leg_element(leg));
}

size_t weft_leg_entry_bytes(const weft_composed *c, int leg) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return l->plan->build->buffers
            .callers_bytes[l->purpose.direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT];
    const weft_box box = weft_leg_entry(c, leg, c->handle->transport->rank);
    return (size_t)weft_leg_elements(l, &box) * weft_leg_element(l);
}

size_t weft_leg_exit_bytes(const weft_composed *c, int leg) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return l->plan->build->buffers
            .callers_bytes[l->purpose.direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT];
    const weft_box box = weft_leg_exit(c, leg, c->handle->transport->rank);
    return (size_t)weft_leg_elements(l, &box) * weft_leg_element(l);
}

size_t weft_composed_bytes(const weft_composed *c, int number) {
    if (number < 0) return weft_leg_entry_bytes(c, 0);
    for (int i = 0; i < c->legs; i++) {
        if (c->leg[i].output == number) return c->leg[i].bytes;
        if (c->leg[i].kept == number)
            return c->leg[i].plan->build->buffers.callers_bytes[WEFT_OUTPUT];
    }
    return 0;
}
