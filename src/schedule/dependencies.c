/* Dependencies of tasks, derived from their accesses. */
#include "schedule/dependencies.h"

#include "schedule/ancestors.h"
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

/* ---- what an access touches, roughly ---- */

/* Bytes from `first` to `last`, of which `solid` is all. Of those of a box whose slowest axis has a
 * stride of `period` bytes, 0: none, only the `length` bytes from `first` on, and those whole
 * periods further. */
typedef struct footprint {
    int64_t first, last, period, length;
    bool solid;
} footprint;

static footprint footprint_of(const weft_access *a) {
    footprint f = {.length = (int64_t)a->element_bytes};
    range_of(a, &f.first, &f.last);
    const int64_t all = f.last - f.first + 1;
    f.solid = all == weft_view_elements(&a->view) * (int64_t)a->element_bytes;
    for (int i = 0; i < a->view.axes; i++) {
        const int64_t stride = a->view.stride[i] * (int64_t)a->element_bytes;
        if (a->view.n[i] > 1 && (stride < 0 ? -stride : stride) > f.period)
            f.period = stride < 0 ? -stride : stride;
    }
    for (int i = 0; i < a->view.axes && f.period > 0; i++) {
        const int64_t stride = a->view.stride[i] * (int64_t)a->element_bytes,
                      step = stride < 0 ? -stride : stride;
        if (a->view.n[i] > 1 && step < f.period) f.length += (a->view.n[i] - 1) * step;
    }
    if (f.solid || f.length > f.period) f.period = 0;
    if (f.period == 0) f.length = all;
    return f;
}

/* Whether two footprints may have a byte in common: where the one has a period, and the other the
 * same or none, both are looked at in one period. */
static bool may_meet(const footprint *a, const footprint *b) {
    const int64_t period = a->period > b->period ? a->period : b->period;
    if (a->first > b->last || b->first > a->last) return false;
    if (period == 0 || (a->period > 0 && b->period > 0 && a->period != b->period)) return true;
    const int64_t apart = (b->first - a->first) % period,
                  behind = apart < 0 ? apart + period : apart;
    return behind < a->length || behind + b->length > period;
}

/* Whether nothing of `other` lies outside of `all`, as far as that is easily seen. */
static bool covers(const footprint *all, const footprint *other) {
    return all->solid && all->first <= other->first && other->last <= all->last;
}

/* ---- the lists ---- */

typedef struct edge {
    int before, after;
} edge;

/* Accesses that later ones are compared with are in lists, the latest first: for each buffer those
 * that read and those that write, by the chain of their task (weft_ancestors), so that what comes
 * before a task anyway is the rest of a list. Tasks without a chain have a list of their own. */
enum { LISTS = 1 + WEFT_CHAINS };
typedef struct derivation {
    const weft_tasks *tasks;
    footprint *touched; /* [accesses] */
    int *user;          /* [accesses]: the task of each access */
    int *next;          /* [accesses]: in its list; -1: the last one */
    int *head;          /* [buffers][2][LISTS]: -1: none */
    int buffers;
    weft_ancestors ancestors;
    int *told; /* [tasks]: the last task for which there is an edge from this one, or -1 */
    edge *edge;
    int edges, capacity;
} derivation;

static weft_status out_of_memory(void) {
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's dependencies");
}

static weft_status add_edge(derivation *d, int before, int after) {
    if (d->told[before] == after) return WEFT_SUCCESS;
    if (d->edges == d->capacity) {
        const int larger = d->capacity > 0 ? 2 * d->capacity : 64;
        edge *moved = realloc(d->edge, (size_t)larger * sizeof *moved);
        if (!moved) return out_of_memory();
        d->edge = moved;
        d->capacity = larger;
    }
    d->told[before] = after;
    d->edge[d->edges++] = (edge){before, after};
    weft_ancestors_add(&d->ancestors, after, before);
    return WEFT_SUCCESS;
}

static int *head_of(const derivation *d, int buffer, bool writes, int chain) {
    return &d->head[(2 * buffer + writes) * LISTS + 1 + chain];
}

/* Compares with a list. Of a chain only what does not come before the task anyway is looked at.
 * What a write covers no later access needs to be compared with: it waits for the write, which
 * waits for that. */
static weft_status compare_with(derivation *d, int number, int *link) {
    const weft_access *now = &d->tasks->access[number];
    const footprint *touched = &d->touched[number];
    const int task = d->user[number];
    while (*link >= 0 && !weft_ancestors_has(&d->ancestors, task, d->user[*link])) {
        const int earlier = *link;
        const footprint *other = &d->touched[earlier];
        const bool covered = now->writes && covers(touched, other);
        if (covered ||
            (may_meet(touched, other) && weft_accesses_overlap(&d->tasks->access[earlier], now)))
            WEFT_TRY(add_edge(d, d->user[earlier], task));
        if (covered)
            *link = d->next[earlier];
        else
            link = &d->next[earlier];
    }
    return WEFT_SUCCESS;
}

static weft_status compare(derivation *d, int number) {
    const weft_access *now = &d->tasks->access[number];
    for (int writes = now->writes ? 0 : 1; writes < 2; writes++)
        for (int chain = -1; chain < WEFT_CHAINS; chain++)
            WEFT_TRY(compare_with(d, number, head_of(d, now->buffer, writes, chain)));
    return WEFT_SUCCESS;
}

/* Later accesses are compared with this one, unless it touches nothing. */
static void keep(derivation *d, int number) {
    const weft_access *now = &d->tasks->access[number];
    int *head = head_of(d, now->buffer, now->writes, d->ancestors.chain[d->user[number]]);
    if (d->touched[number].last < d->touched[number].first) return;
    d->next[number] = *head;
    *head = number;
}

static int64_t extent(const derivation *d, int number) {
    return d->touched[number].last - d->touched[number].first;
}

/* The accesses that reach less far first: slots, by which most tasks find what comes before them,
 * before the arrays whose tiles they hold. */
static weft_status compare_task(derivation *d, int t) {
    enum { SEVERAL = 16 };
    const weft_task *task = &d->tasks->task[t];
    int order[SEVERAL];
    const int count = task->accesses < SEVERAL ? task->accesses : SEVERAL;
    for (int i = 0; i < count; i++) {
        const int number = task->first_access + i;
        int place = i;
        for (; place > 0 && extent(d, order[place - 1]) > extent(d, number); place--)
            order[place] = order[place - 1];
        order[place] = number;
    }
    for (int i = 0; i < task->accesses; i++)
        WEFT_TRY(compare(d, i < count ? order[i] : task->first_access + i));
    return WEFT_SUCCESS;
}

static weft_status derive(derivation *d) {
    const weft_tasks *tasks = d->tasks;
    for (int t = 0; t < tasks->count; t++) {
        const weft_task *task = &tasks->task[t];
        d->told[t] = -1;
        for (int i = task->first_access; i < task->first_access + task->accesses; i++) {
            d->user[i] = t;
            d->touched[i] = footprint_of(&tasks->access[i]);
        }
        WEFT_TRY(compare_task(d, t));
        weft_ancestors_complete(&d->ancestors, t);
        for (int i = task->first_access; i < task->first_access + task->accesses; i++) keep(d, i);
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

static weft_status begin(const weft_tasks *tasks, derivation *d) {
    const size_t accesses = (size_t)tasks->accesses + 1;
    *d = (derivation){.tasks = tasks, .buffers = 1};
    for (int i = 0; i < tasks->accesses; i++)
        if (tasks->access[i].buffer >= d->buffers) d->buffers = tasks->access[i].buffer + 1;
    d->touched = calloc(accesses, sizeof *d->touched);
    d->user = calloc(accesses, sizeof *d->user);
    d->next = calloc(accesses, sizeof *d->next);
    d->head = calloc(2 * LISTS * (size_t)d->buffers, sizeof *d->head);
    d->told = calloc((size_t)tasks->count + 1, sizeof *d->told);
    const bool made = weft_ancestors_create(tasks->count, &d->ancestors);
    if (!made || !d->touched || !d->user || !d->next || !d->head || !d->told)
        return out_of_memory();
    for (int i = 0; i < 2 * LISTS * d->buffers; i++) d->head[i] = -1;
    return WEFT_SUCCESS;
}

static void end(derivation *d) {
    weft_ancestors_release(&d->ancestors);
    free(d->touched);
    free(d->user);
    free(d->next);
    free(d->head);
    free(d->told);
    free(d->edge);
}

static weft_status make_lists(const derivation *d, weft_dependencies *dependencies) {
    const size_t entries = (size_t)d->tasks->count + 2, edges = (size_t)d->edges + 1;
    int *lists = calloc(2 * entries + 2 * edges, sizeof *lists);
    if (!lists) return out_of_memory();
    *dependencies = (weft_dependencies){.tasks = d->tasks->count,
                                        .edges = d->edges,
                                        .first_before = lists,
                                        .first_after = lists + entries,
                                        .before = lists + 2 * entries,
                                        .after = lists + 2 * entries + edges};
    list(d, true, dependencies->first_before, dependencies->before);
    list(d, false, dependencies->first_after, dependencies->after);
    return WEFT_SUCCESS;
}

weft_status weft_dependencies_derive(const weft_tasks *tasks, weft_dependencies *dependencies) {
    derivation d;
    *dependencies = (weft_dependencies){0};
    weft_status status = begin(tasks, &d);
    if (status == WEFT_SUCCESS) status = derive(&d);
    if (status == WEFT_SUCCESS) status = make_lists(&d, dependencies);
    end(&d);
    return status;
}

void weft_dependencies_release(weft_dependencies *dependencies) {
    free(dependencies->first_before);
    *dependencies = (weft_dependencies){0};
}
