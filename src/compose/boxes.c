/* The arrays before, between and behind the legs of a composition: boxes, bytes, and copies. */
#include "compose/compose.h"

static int64_t within_range(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* How many indices of the smaller array lie before index i of the larger one. */
static int64_t before(const weft_leg_copy *copy, int a, int64_t i) {
    const int64_t low = copy->low[a], step = copy->step[a];
    const int64_t far = i - copy->lo[a], negative = far - (copy->most[a] - copy->n[a]);
    return within_range(far < 0 ? 0 : (far + step - 1) / step, 0, low) - low +
           within_range(negative, low, copy->n[a]);
}

/* The points of the smaller array that lie in a box of the larger one, as a box of the smaller. */
static weft_box within(const weft_leg *leg, const weft_box *large) {
    weft_box small = *large;
    for (int a = 0; a < leg->problem.rank; a++) {
        small.lo[a] = before(&leg->copy, a, large->lo[a]);
        small.n[a] = before(&leg->copy, a, large->lo[a] + large->n[a]) - small.lo[a];
    }
    return small;
}

/* Where the share of the larger array begins whose first point in the smaller one is i. */
static int64_t beginning(const weft_leg_copy *copy, int a, int64_t i) {
    if (i == 0) return 0;
    if (i == copy->n[a]) return copy->most[a];
    return copy->lo[a] + i + (i > copy->low[a] ? copy->most[a] - copy->n[a] : 0);
}

/* A box of the larger array, without steps, that has the points of a box of the smaller one, and of
 * what lies around them so much that those of all ranks are the whole array. */
static weft_box around(const weft_leg *leg, const weft_box *small) {
    weft_box large = *small;
    for (int a = 0; a < leg->problem.rank; a++) {
        large.lo[a] = beginning(&leg->copy, a, small->lo[a]);
        large.n[a] = beginning(&leg->copy, a, small->lo[a] + small->n[a]) - large.lo[a];
    }
    return large;
}

static weft_box of_plan(const weft_leg *leg, weft_space space, int rank) {
    weft_box box;
    weft_plan_own_box(leg->plan, space, rank, &box);
    return box;
}

/* A copy that is the first leg ends with the boxes with which the plan behind it begins. */
weft_box weft_leg_entry(const weft_composed *c, int leg, int rank) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return of_plan(
            l, weft_begins_with_spectrum(l->purpose.direction) ? WEFT_OUTPUT : WEFT_INPUT, rank);
    if (leg > 0) return weft_leg_exit(c, leg - 1, rank);
    const weft_box exit = weft_leg_exit(c, leg, rank);
    return l->copy.embeds ? within(l, &exit) : around(l, &exit);
}

weft_box weft_leg_exit(const weft_composed *c, int leg, int rank) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return of_plan(l, weft_ends_with_spectrum(l->purpose.direction) ? WEFT_OUTPUT : WEFT_RESULT,
                       rank);
    if (leg == 0) return weft_leg_entry(c, leg + 1, rank);
    const weft_box entry = weft_leg_entry(c, leg, rank);
    return l->copy.embeds ? around(l, &entry) : within(l, &entry);
}

size_t weft_leg_element(const weft_leg *leg) {
    return weft_number_bytes(leg->problem.precision) * (leg->copy.real ? 1 : 2);
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

bool weft_leg_copying(const weft_leg *leg, const weft_box *from, const weft_box *to, int part,
                      weft_copy *out) {
    const weft_leg_copy *copy = &leg->copy;
    const weft_box *small = copy->embeds ? from : to, *large = copy->embeds ? to : from;
    weft_box own = *small;
    int64_t there[WEFT_MAX_RANK];
    if (part >> leg->problem.rank) return false;
    for (int a = 0; a < leg->problem.rank; a++) {
        const bool negative = part >> a & 1;
        const int64_t end = small->lo[a] + small->n[a];
        const int64_t middle = within_range(copy->low[a], small->lo[a], end);
        own.lo[a] = negative ? middle : small->lo[a];
        own.n[a] = (negative ? end : middle) - own.lo[a];
        there[a] =
            copy->lo[a] + own.lo[a] * copy->step[a] + (negative ? copy->most[a] - copy->n[a] : 0);
    }
    const weft_view inside = view_of(leg, large, there, own.n, copy->step);
    const weft_view whole = view_of(leg, small, own.lo, own.n, NULL);
    *out = weft_copy_between(copy->embeds ? &whole : &inside, copy->embeds ? &inside : &whole,
                             weft_leg_element(leg));
    return true;
}

size_t weft_leg_entry_bytes(const weft_composed *c, int leg) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return l->plan->build->buffers.callers_bytes[weft_space_of_first(l->purpose.direction)];
    const weft_box box = weft_leg_entry(c, leg, c->handle->transport->rank);
    return (size_t)weft_leg_elements(l, &box) * weft_leg_element(l);
}

size_t weft_leg_exit_bytes(const weft_composed *c, int leg) {
    const weft_leg *l = &c->leg[leg];
    if (!l->copies)
        return l->plan->build->buffers.callers_bytes[weft_space_of_result(l->purpose.direction)];
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
