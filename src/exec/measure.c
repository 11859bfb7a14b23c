/*
 * Choosing among candidates: the fastest by the clock (of the slowest rank's best of a few forward
 * runs), or the first that can be built. The best ones are timed in turn, several times over, so
 * that what else the machine does at one moment falls on none alone. A candidate that cannot be
 * built or run on some rank is left out on all of them, with that rank's sentence as the reason,
 * and the next one is tried.
 */
#include "exec/plan.h"
#include "plan/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 10000 }; /* of a candidate */

/* A build, and arrays such as a caller would bring; in place they are one. */
typedef struct trial {
    weft_build *build;
    weft_memory_kind kind;
    bool in_place;
    void *memory[2]; /* of in and out; in place there is that of out only */
    void *in, *out;  /* element 0 of the arrays */
} trial;

static weft_status allocate(trial *t) {
    const weft_device_handle *d = &t->build->device;
    const weft_buffers *buffers = &t->build->buffers;
    const weft_direction direction = weft_call_first_direction(t->build->planner->call);
    const weft_space of[] = {weft_space_of_first(direction), weft_space_of_result(direction)};
    void **array[] = {&t->in, &t->out};
    for (int i = t->in_place ? 1 : 0; i < 2; i++) {
        const size_t bytes = buffers->callers_bytes[of[i]];
        if (bytes == 0) continue;
        WEFT_TRY(d->ops->allocate(d->state, t->kind, bytes, &t->memory[i]));
        *array[i] = (char *)t->memory[i] - buffers->callers_first[of[i]];
    }
    if (t->in_place) t->in = t->out;
    return WEFT_SUCCESS;
}

static void release(const trial *t) {
    const weft_device_handle *d = &t->build->device;
    for (int i = 0; i < 2; i++)
        if (t->memory[i]) d->ops->free(d->state, t->kind, t->memory[i]);
}

/* As many runs as the record says, shared out among the rounds, or more of short ones: by the time
 * of the first one, of which all ranks take the slowest one's number. */
static int64_t choose_runs(weft_transport *transport, const weft_machine_search *search,
                           double elapsed) {
    int64_t runs =
        elapsed * MOST_RUNS < search->seconds ? MOST_RUNS : (int64_t)(search->seconds / elapsed);
    const int least = search->runs / search->rounds > 1 ? search->runs / search->rounds : 1;
    if (runs < least) runs = least;
    weft_decide(transport, &runs, 1);
    return runs;
}

/* The best run of the slowest rank, after one that warms up. */
static weft_status time_runs(weft_transport *transport, const trial *t, double *seconds) {
    weft_recorder recorder = {.spans = NULL};
    const weft_machine_search *search = &weft_planner_machine(t->build->planner)->search;
    const weft_direction direction = weft_call_first_direction(t->build->planner->call);
    double best = 1e300;
    int64_t runs = 1;
    for (int64_t run = 0; run <= runs; run++) {
        weft_owe(transport, transport->ops->barrier(transport));
        double start = weft_clock();
        weft_status status =
            weft_build_run(t->build, direction, t->in_place, t->in, t->out, &recorder);
        double elapsed = weft_clock() - start;
        WEFT_TRY(weft_build_agree(t->build, transport, status));
        weft_owe(transport, transport->ops->maximum_double(transport, &elapsed, 1));
        if (run == 0) runs = choose_runs(transport, search, elapsed);
        if (run > 0 && elapsed < best) best = elapsed;
    }
    *seconds = best;
    return WEFT_SUCCESS;
}

/* Times a build. It is not timed, which is no failure, where some rank has no memory for the arrays
 * that a caller would bring. */
static weft_status time_build(weft_transport *transport, weft_build *build, double *seconds,
                              bool *timed) {
    const weft_options *o = &build->planner->call->options;
    trial t = {.build = build, .in_place = o->placement == WEFT_IN_PLACE};
    t.kind = o->location == WEFT_LOCATION_HOST ? WEFT_MEMORY_PAGE_LOCKED : WEFT_MEMORY_DEVICE;
    for (int i = 0; i < WEFT_OPERATOR_SLOTS; i++) { /* there is no data of the caller's yet */
        const weft_ready_operators *ready = &build->operators;
        if (ready->pointwise[i]) weft_pointwise_omit_functions(ready->pointwise[i]);
        if (ready->offload[i]) weft_operator_offload_omit_functions(ready->offload[i]);
    }
    weft_status status = weft_agree(transport, allocate(&t));
    *timed = status == WEFT_SUCCESS;
    if (status == WEFT_ERROR_OUT_OF_MEMORY)
        status = WEFT_SUCCESS;
    else if (status == WEFT_SUCCESS)
        status = time_runs(transport, &t, seconds);
    release(&t);
    return status;
}

/* The candidate has just failed, on all ranks alike. The reason is NULL where there is no memory
 * for it. */
static void leave_out(weft_candidate *candidate) {
    candidate->left_out = true;
    candidate->reason = strdup(weft_thread_error());
}

/* Builds and times a candidate, whose best time of all rounds counts. One that fails is left out;
 * one that was not timed (*timed) may still be built. */
static weft_status measure(weft_transport *transport, const weft_planner *planner,
                           weft_candidate *candidate, bool *timed) {
    weft_build *build = malloc(sizeof *build);
    weft_status status = weft_agree(
        transport, build ? WEFT_SUCCESS
                         : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to measure a candidate"));
    const bool begun = status == WEFT_SUCCESS;
    *timed = false;
    if (begun) status = weft_build_create(transport, planner, candidate, build);
    double seconds = 0;
    if (status == WEFT_SUCCESS) status = time_build(transport, build, &seconds, timed);
    if (*timed && status == WEFT_SUCCESS &&
        (candidate->seconds.measured <= 0 || seconds < candidate->seconds.measured))
        candidate->seconds.measured = seconds;
    if (status != WEFT_SUCCESS) leave_out(candidate);
    if (begun) weft_build_release(build);
    free(build);
    return status;
}

/* Moves a candidate; those between the two places move by one. */
static void move(weft_planner *planner, int from, int to) {
    const int step = from < to ? 1 : -1;
    weft_candidate moving = planner->candidates[from];
    for (int i = from; i != to; i += step) planner->candidates[i] = planner->candidates[i + step];
    planner->candidates[to] = moving;
}

/* Moves candidates that are left out behind the others. */
static void move_left_out(weft_planner *planner) {
    int others = 0;
    for (int i = 0; i < planner->count; i++)
        if (!planner->candidates[i].left_out) move(planner, i, others++);
}

/* Fails with the reason of a candidate, which may not be the calling thread's last failure. */
static weft_status fail_for(const weft_candidate *candidate, weft_status status) {
    if (candidate->reason) weft_thread_error_set(candidate->reason);
    return status;
}

/* Whether the candidate is for where those before it cannot be built, and one could: where weft
 * decides whether arrays are streamed, the first streamed one and those behind it are. */
static bool is_for_need(const weft_planner *planner, int number, int built) {
    if (built == 0 || planner->call->options.stream != WEFT_STREAM_AUTO) return false;
    for (int i = 0; i <= number; i++)
        if (planner->candidates[i].stream.used) return true;
    return false;
}

/* What is left to do while candidates are timed. */
typedef struct race {
    weft_transport *transport;
    weft_planner *planner;
    double begin;        /* by this rank's clock */
    int built;           /* so many, in the first round; */
    int first;           /* the first of them */
    weft_status failure; /* the first one */
} race;

/* Whether the time for planning is used up on some rank, once a candidate was timed. */
static bool is_over(const race *r) {
    const double budget = weft_planner_machine(r->planner)->search.budget;
    if (budget <= 0 || r->built == 0) return false;
    int64_t over = weft_clock() - r->begin > budget;
    weft_decide(r->transport, &over, 1);
    return over != 0;
}

/* The number of the fastest candidate so far; -1: none was timed. */
static int fastest(const weft_planner *planner) {
    const weft_candidate *list = planner->candidates;
    int best = -1;
    for (int i = 0; i < planner->count; i++)
        if (!list[i].left_out && list[i].seconds.measured > 0 &&
            (best < 0 || list[i].seconds.measured < list[best].seconds.measured))
            best = i;
    return best;
}

/* The first round: the most promising ones that can be built, each once. Fails where ranks may be
 * out of step. */
static weft_status first_round(race *r) {
    const bool patient = r->planner->call->options.effort == WEFT_PATIENT;
    const int most =
        patient ? r->planner->count : weft_planner_machine(r->planner)->search.measured;
    weft_candidate *list = r->planner->candidates;
    for (int i = 0; i < r->planner->count && r->built < most && !is_over(r); i++) {
        bool timed;
        if (is_for_need(r->planner, i, r->built)) continue;
        const weft_status status = measure(r->transport, r->planner, &list[i], &timed);
        if (status == WEFT_ERROR_TRANSPORT) return fail_for(&list[i], status);
        weft_keep(&r->failure, status);
        if (status == WEFT_SUCCESS && r->built++ == 0) r->first = i;
    }
    return WEFT_SUCCESS;
}

/* Another round of those that may still turn out the fastest. */
static weft_status another_round(const race *r) {
    weft_candidate *list = r->planner->candidates;
    const int best = fastest(r->planner);
    if (best < 0) return WEFT_SUCCESS;
    const double most =
        weft_planner_machine(r->planner)->search.close * list[best].seconds.measured;
    int running = 0;
    for (int i = 0; i < r->planner->count; i++)
        running +=
            !list[i].left_out && list[i].seconds.measured > 0 && list[i].seconds.measured <= most;
    for (int i = 0; i < r->planner->count && running > 1; i++) {
        bool timed;
        if (list[i].left_out || list[i].seconds.measured <= 0 || list[i].seconds.measured > most)
            continue;
        if (is_over(r)) return WEFT_SUCCESS;
        const weft_status status = measure(r->transport, r->planner, &list[i], &timed);
        if (status == WEFT_ERROR_TRANSPORT) return fail_for(&list[i], status);
    }
    return WEFT_SUCCESS;
}

weft_status weft_measure_candidates(weft_transport *transport, weft_planner *planner) {
    race r = {.transport = transport, .planner = planner, .begin = weft_clock(), .first = -1};
    WEFT_TRY(first_round(&r));
    if (r.built == 0) return fail_for(&planner->candidates[0], r.failure);
    for (int round = 1; round < weft_planner_machine(planner)->search.rounds; round++)
        WEFT_TRY(another_round(&r));
    const int best = fastest(planner);
    move(planner, best >= 0 ? best : r.first, 0);
    move_left_out(planner);
    return WEFT_SUCCESS;
}

/* The number of the candidate to try after `failed`: one of the same chain with another method, so
 * that the bits of the result stay what they are, else the most promising one. Where none is left,
 * the number of candidates. */
static int next_candidate(const weft_planner *planner, int failed) {
    const weft_candidate *list = planner->candidates;
    for (int i = 0; i < planner->count; i++)
        if (!list[i].left_out && list[i].chain == list[failed].chain) return i;
    for (int i = 0; i < planner->count; i++)
        if (!list[i].left_out) return i;
    return planner->count;
}

/* Every stage of building ends with an agreement, so that all ranks go on with the same candidate.
 */
weft_status weft_build_first(weft_transport *transport, weft_planner *planner, weft_build *build) {
    weft_candidate *list = planner->candidates;
    weft_status first_failure = WEFT_SUCCESS;
    for (int i = 0; i < planner->count; i = next_candidate(planner, i)) {
        const weft_status status = weft_build_create(transport, planner, &list[i], build);
        if (status == WEFT_SUCCESS) {
            move(planner, i, 0);
            return WEFT_SUCCESS;
        }
        if (status == WEFT_ERROR_TRANSPORT) return status; /* ranks may be out of step */
        weft_keep(&first_failure, status);
        leave_out(&list[i]);
        weft_build_release(build);
        memset(build, 0, sizeof *build);
    }
    return fail_for(&list[0], first_failure);
}
