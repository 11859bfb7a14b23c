/* Dependencies of tasks, derived from their accesses. */
#include "schedule/dependencies.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- whether two strided boxes share a byte ---- */

/* One term of a sum: a whole number from 0 to most, times a stride above 0. */
typedef struct term {
    int64_t stride, most;
} term;

typedef struct search {
    term term[2 * WEFT_AXES + 2];
    int terms;
    int64_t rest[2 * WEFT_AXES + 3]; /* the largest sum of the terms from each on */
    int steps_left;
} search;

static void add_term(search *s, int64_t stride, int64_t n) {
    int place = s->terms++;
    for (; place > 0 && s->term[place - 1].stride < stride; place--)
        s->term[place] = s->term[place - 1];
    s->term[place] = (term){stride, n - 1};
}

/* Bytes that a view touches lie from *first to *last, which is before the first where there are
 * none. */
static void range_of(const weft_access *a, int64_t *first, int64_t *last) {
    const int64_t bytes = (int64_t)a->element_bytes;
    *first = *last = a->base + a->view.offset * bytes;
    *last += bytes - 1;
    for (int i = 0; i < a->view.axes; i++) {
        if (a->view.n[i] == 0) *last = *first - 1;
        if (a->view.n[i] == 0) return;
        const int64_t length = (a->view.n[i] - 1) * a->view.stride[i] * bytes;
        *(length < 0 ? first : last) += length;
    }
}

/* Whether the terms from number i on can add up to `sum`. */
static bool reaches(search *s, int i, int64_t sum) {
    if (sum < 0 || sum > s->rest[i]) return false;
    if (i == s->terms || s->steps_left-- <= 0) return true;
    const int64_t stride = s->term[i].stride;
    int64_t most = sum / stride, least = (sum - s->rest[i + 1] + stride - 1) / stride;
    if (sum <= s->rest[i + 1]) least = 0;
    if (most > s->term[i].most) most = s->term[i].most;
    for (int64_t k = most; k >= least; k--)
        if (reaches(s, i + 1, sum - k * stride)) return true;
    return false;
}

static void add_axes(search *s, const weft_access *a) {
    for (int i = 0; i < a->view.axes; i++) {
        const int64_t stride = a->view.stride[i] * (int64_t)a->element_bytes;
        if (a->view.n[i] > 1 && stride != 0)
            add_term(s, stride < 0 ? -stride : stride, a->view.n[i]);
    }
    if (a->element_bytes > 1) add_term(s, 1, (int64_t)a->element_bytes);
}

/* Two terms that together are every multiple of the smaller stride become one term. So strides that
 * both views have count once, and what is contiguous is a single term; only views whose strides
 * divide neither each other nor a common one leave the search anything to try. */
static void merge_terms(search *s) {
    for (int i = s->terms - 1; i > 0; i--) {
        term *larger = &s->term[i - 1];
        const term smaller = s->term[i];
        const int64_t ratio = larger->stride / smaller.stride;
        if (larger->stride % smaller.stride != 0 || ratio > smaller.most + 1) continue;
        *larger = (term){smaller.stride, smaller.most + larger->most * ratio};
        s->terms--;
        for (int k = i; k < s->terms; k++) s->term[k] = s->term[k + 1];
    }
}

/* The bytes of one view are first_a plus a sum of its terms, those of the other first_b plus a sum
 * of its own; a term of the other from its far end on is one that is subtracted. So there is a
 * common byte where a sum of all terms reaches last_b - first_a. */
bool weft_accesses_overlap(const weft_access *a, const weft_access *b) {
    enum { STEPS = 4096 };
    int64_t first_a, last_a, first_b, last_b;
    range_of(a, &first_a, &last_a);
    range_of(b, &first_b, &last_b);
    if (a->buffer != b->buffer || last_a < first_a || last_b < first_b) return false;
    if (first_a > last_b || first_b > last_a) return false;
    search s = {.steps_left = STEPS};
    add_axes(&s, a);
    add_axes(&s, b);
    merge_terms(&s);
    for (int i = s.terms - 1; i >= 0; i--)
        s.rest[i] = s.rest[i + 1] + s.term[i].most * s.term[i].stride;
    return reaches(&s, 0, last_b - first_a);
}

/* Whether nothing of `other` lies outside of `all`, as far as that is easily seen. */
static bool covers(const weft_access *all, const weft_access *other) {
    const int64_t bytes = weft_view_elements(&all->view) * (int64_t)all->element_bytes;
    int64_t first, last, other_first, other_last;
    range_of(all, &first, &last);
    range_of(other, &other_first, &other_last);
    return last - first + 1 == bytes && first <= other_first && other_last <= last;
}

/* ---- the lists ---- */

typedef struct edge {
    int before, after;
} edge;

typedef struct derivation {
    const weft_tasks *tasks;
    int *user; /* [accesses]: the task of each access */
    int *live; /* [accesses]: accesses that later ones are compared with, ... */
    int lives;
    edge *edge;
    int edges, capacity;
} derivation;

static weft_status add_edge(derivation *d, int before, int after) {
    for (int i = d->edges; i > 0 && d->edge[i - 1].after == after; i--)
        if (d->edge[i - 1].before == before) return WEFT_SUCCESS;
    if (d->edges == d->capacity) {
        const int larger = d->capacity > 0 ? 2 * d->capacity : 64;
        edge *moved = realloc(d->edge, (size_t)larger * sizeof *moved);
        if (!moved)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's dependencies");
        d->edge = moved;
        d->capacity = larger;
    }
    d->edge[d->edges++] = (edge){before, after};
    return WEFT_SUCCESS;
}

/* Compares with what came before, from the latest on. What a write covers no later access needs to
 * be compared with: it waits for the write, which waits for that. */
static weft_status compare(derivation *d, int number) {
    const weft_access *now = &d->tasks->access[number];
    const int task = d->user[number];
    int kept = 0;
    for (int i = 0; i < d->lives; i++) {
        const int earlier = d->live[i];
        const weft_access *then = &d->tasks->access[earlier];
        const bool matters = then->buffer == now->buffer && (then->writes || now->writes) &&
                             d->user[earlier] != task;
        if (matters && weft_accesses_overlap(then, now)) {
            WEFT_TRY(add_edge(d, d->user[earlier], task));
            if (now->writes && covers(now, then)) continue;
        }
        d->live[kept++] = earlier;
    }
    d->lives = kept;
    return WEFT_SUCCESS;
}

static weft_status derive(derivation *d) {
    const weft_tasks *tasks = d->tasks;
    for (int t = 0; t < tasks->count; t++) {
        const weft_task *task = &tasks->task[t];
        for (int i = 0; i < task->accesses; i++) {
            d->user[task->first_access + i] = t;
            WEFT_TRY(compare(d, task->first_access + i));
        }
        for (int i = 0; i < task->accesses; i++) d->live[d->lives++] = task->first_access + i;
    }
    return WEFT_SUCCESS;
}

/* Sorts the edges by one of their ends. */
static void list(const derivation *d, bool by_after, int *first, int *other) {
    const int tasks = d->tasks->count;
    for (int i = 0; i < d->edges; i++)
        first[(by_after ? d->edge[i].after : d->edge[i].before) + 1]++;
    for (int t = 0; t < tasks; t++) first[t + 1] += first[t];
    for (int i = 0; i < d->edges; i++) {
        const int end = by_after ? d->edge[i].after : d->edge[i].before;
        other[first[end]++] = by_after ? d->edge[i].before : d->edge[i].after;
    }
    for (int t = tasks; t > 0; t--) first[t] = first[t - 1];
    first[0] = 0;
}

weft_status weft_dependencies_derive(const weft_tasks *tasks, weft_dependencies *dependencies) {
    derivation d = {.tasks = tasks,
                    .user = calloc((size_t)tasks->accesses + 1, sizeof(int)),
                    .live = calloc((size_t)tasks->accesses + 1, sizeof(int))};
    weft_status status = d.user && d.live ? derive(&d)
                                          : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                                                      "no memory for a plan's dependencies");
    const size_t entries = (size_t)tasks->count + 2, edges = (size_t)d.edges + 1;
    *dependencies = (weft_dependencies){.tasks = tasks->count, .edges = d.edges};
    if (status == WEFT_SUCCESS) {
        int *lists = calloc(2 * entries + 2 * edges, sizeof *lists);
        if (lists) {
            dependencies->first_before = lists;
            dependencies->first_after = lists + entries;
            dependencies->before = lists + 2 * entries;
            dependencies->after = lists + 2 * entries + edges;
            list(&d, true, dependencies->first_before, dependencies->before);
            list(&d, false, dependencies->first_after, dependencies->after);
        } else {
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's dependencies");
        }
    }
    free(d.user);
    free(d.live);
    free(d.edge);
    return status;
}

void weft_dependencies_release(weft_dependencies *dependencies) {
    free(dependencies->first_before);
    *dependencies = (weft_dependencies){0};
}
