/* Recalling and keeping choices. What engines measure by themselves is kept by them. */
#include "exec/wisdom.h"

#include "plan/agreement.h"
#include "plan/wisdom_file.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/processor.h"
#include "support/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 1024 };

static bool has_bricks(weft_plan plan) {
    return plan->call.has_input || plan->call.has_output;
}

/* Bricks that could not be gathered are measured each time. */
static bool is_for(weft_plan plan) {
    return !plan->transport->simulated && (!has_bricks(plan) || plan->bricks != 0);
}

/* A number for the boxes of this rank's bricks and their memory orders. */
static uint64_t hash_bricks(const weft_call *call) {
    uint64_t hash = WEFT_HASH_OF_NOTHING;
    const weft_brick *bricks[] = {call->has_input ? &call->input : NULL,
                                  call->has_output ? &call->output : NULL};
    for (int i = 0; i < 2; i++) {
        const weft_brick *b = bricks[i];
        for (int a = 0; a < call->problem.rank && b; a++) {
            const int64_t axis[] = {i, b->box.lo[a], b->box.n[a], b->order[a]};
            hash = weft_hash_bytes(hash, axis, sizeof axis);
        }
    }
    return hash;
}

/* Those of all ranks together, which differ from rank to rank. Collective. */
static weft_status gather_bricks(weft_plan plan) {
    weft_transport *t = plan->transport;
    const uint64_t mine = hash_bricks(&plan->call);
    uint64_t *all = calloc((size_t)t->size, sizeof *all);
    weft_status status =
        all ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d ranks", t->size);
    status = weft_agree(t, status);
    if (status == WEFT_SUCCESS) status = t->ops->gather_all(t, &mine, sizeof mine, all);
    if (status == WEFT_SUCCESS)
        plan->bricks =
            weft_hash_bytes(WEFT_HASH_OF_NOTHING, all, (size_t)t->size * sizeof *all) | 1;
    free(all);
    return weft_agree(t, status);
}

/* Ranks that are the first of their nodes, as far as nodes are known. */
static int count_nodes(weft_plan plan) {
    int nodes = 0;
    for (int r = 0; r < plan->transport->size && plan->ranks.node; r++)
        nodes += plan->ranks.node[r] == r;
    return nodes;
}

/* The call and the machine in words; all else that the caller gave is in the number at the end. */
static void make_key(weft_plan plan, char key[KEY_BYTES]) {
    const weft_call *call = &plan->call;
    const weft_transport *t = plan->transport;
    const weft_candidate *common = &plan->planner.common;
    char processor[128], shape[256] = "";
    size_t length = 0;
    weft_processor_name(processor, sizeof processor);
    for (int a = 0; a < call->problem.rank; a++)
        length += (size_t)snprintf(shape + length, sizeof shape - length, "%s%lld", a ? "x" : "",
                                   (long long)call->problem.n[a]);
    snprintf(key, KEY_BYTES,
             "%s %s %s, batch %lld, %d ranks, %d nodes, %s %s, threads %d, %s; %s, %d cores, %s, "
             "weft %s, %016llx",
             shape, weft_kind_name(call->problem.kind),
             weft_precision_name(call->problem.precision), (long long)call->problem.batch, t->size,
             count_nodes(plan), common->engine ? common->engine->name : "?", common->device->name,
             call->options.threads, weft_effort_name(call->options.effort), processor,
             weft_topology_get()->cores, t->ops->library ? t->ops->library() : t->ops->name,
             WEFT_VERSION, (unsigned long long)(weft_call_hash(call) ^ plan->bricks));
}

static json_t *describe(const weft_candidate *c) {
    json_t *grid = json_array(), *exchange = json_array();
    for (int i = 0; i < c->grid_axes; i++) json_array_append_new(grid, json_integer(c->grid[i]));
    for (int i = 0; i < c->exchanges; i++)
        json_array_append_new(exchange, json_string(weft_exchange_name(c->exchange[i])));
    json_t *made = json_pack("{s:s, s:s, s:o, s:o, s:i, s:b, s:b, s:f}", "decomposition",
                             weft_decomposition_name(c->decomposition), "variant",
                             weft_variant_name(c->variant), "grid", grid, "exchange", exchange,
                             "tiles", c->tiles, "streamed", c->stream.used, "resident",
                             c->stream.resident, "seconds", c->seconds.measured);
    if (c->stream.used && c->stream.room_parts > 1)
        json_object_set_new(made, "room_parts", json_integer(c->stream.room_parts));
    return made;
}

/* Whether a candidate is what was kept, but for the time. */
static bool is_choice(const weft_candidate *c, const json_t *choice) {
    json_t *mine = describe(c);
    json_object_set(mine, "seconds", json_object_get(choice, "seconds"));
    const bool same = json_equal(mine, choice);
    json_decref(mine);
    return same;
}

static void note(weft_plan plan) {
    snprintf(plan->wisdom, sizeof plan->wisdom, "ignored: %.*s", (int)sizeof plan->wisdom - 16,
             weft_thread_error());
}

/* The number of the candidate that the file has for this call, and its time; -1: none. */
static int64_t look_up(weft_plan plan, double *seconds) {
    char path[WEFT_PATH_BYTES], key[KEY_BYTES], before[WEFT_ERROR_BYTES];
    json_t *wisdom = NULL;
    int64_t number = -1;
    if (!weft_wisdom_path(path)) return -1;
    snprintf(before, sizeof before, "%s", weft_thread_error());
    if (weft_wisdom_read(path, &wisdom) != WEFT_SUCCESS) {
        note(plan);
        weft_thread_error_set(before);
        return -1;
    }
    make_key(plan, key);
    const json_t *choice = json_object_get(wisdom, key);
    for (int i = 0; i < plan->planner.count && choice && number < 0; i++)
        if (is_choice(&plan->planner.candidates[i], choice)) number = i;
    if (number >= 0) *seconds = json_number_value(json_object_get(choice, "seconds"));
    json_decref(wisdom);
    return number;
}

weft_status weft_wisdom_recall(weft_plan plan, bool *found) {
    weft_transport *t = plan->transport;
    weft_candidate *list = plan->planner.candidates;
    struct {
        int64_t number;
        double seconds;
    } recalled = {-1, 0};
    *found = false;
    if (has_bricks(plan) && !t->simulated) WEFT_TRY(gather_bricks(plan));
    if (!is_for(plan)) return WEFT_SUCCESS;
    if (t->rank == 0) recalled.number = look_up(plan, &recalled.seconds);
    if (t->size > 1) WEFT_TRY(weft_agree(t, t->ops->broadcast(t, &recalled, sizeof recalled, 0)));
    if (recalled.number < 0) return WEFT_SUCCESS;
    weft_candidate chosen = list[recalled.number];
    for (int64_t i = recalled.number; i > 0; i--) list[i] = list[i - 1];
    chosen.seconds.measured = recalled.seconds;
    list[0] = chosen;
    snprintf(plan->wisdom, sizeof plan->wisdom, "the choice was measured before");
    *found = true;
    return WEFT_SUCCESS;
}

typedef struct addition {
    const char *key;
    const weft_candidate *candidate;
} addition;

static void add(json_t *wisdom, void *argument) {
    const addition *a = argument;
    json_object_set_new(wisdom, a->key, describe(a->candidate));
}

void weft_wisdom_keep(weft_plan plan) {
    char path[WEFT_PATH_BYTES], key[KEY_BYTES], before[WEFT_ERROR_BYTES];
    const weft_candidate *first = &plan->planner.candidates[0];
    if (plan->transport->rank != 0 || !is_for(plan) || first->seconds.measured <= 0 ||
        !weft_wisdom_path(path))
        return;
    make_key(plan, key);
    addition a = {.key = key, .candidate = first};
    snprintf(before, sizeof before, "%s", weft_thread_error());
    if (weft_wisdom_change(path, add, &a) == WEFT_SUCCESS) return;
    note(plan);
    weft_thread_error_set(before);
}
