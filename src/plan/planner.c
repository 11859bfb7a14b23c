/* Listing candidates, predicting their times, and ordering them alike on all ranks. */
#include "plan/planner.h"

#include "plan/agreement.h"
#include "plan/grids.h"
#include "plan/methods.h"
#include "support/axis.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A brick's order with the batch, in front or behind, in the library's numbering of axes. */
static void brick_order(const weft_brick *brick, const weft_problem *p, int *order) {
    const int first = p->fields_fastest ? 0 : 1; /* the first axis' place */
    order[p->fields_fastest ? p->rank : 0] = p->rank;
    for (int a = 0; a < p->rank; a++) order[a + first] = brick->order[a];
}

weft_status weft_planner_chain(const weft_planner *planner, const weft_candidate *candidate,
                               weft_chain *chain) {
    const weft_call *call = planner->call;
    int input_order[WEFT_AXES], output_order[WEFT_AXES];
    brick_order(&call->input, &call->problem, input_order);
    brick_order(&call->output, &call->problem, output_order);
    weft_chain_request request = {
        .rank = call->problem.rank,
        .points = {.n = call->problem.n,
                   .stored = {call->problem.pad_from, call->problem.crop_to},
                   .spectrum = call->problem.truncate_to},
        .members = {weft_call_members(call, WEFT_FORWARD), weft_call_members(call, WEFT_INVERSE)},
        .members_last = call->problem.fields_fastest != 0,
        .real = call->problem.kind != WEFT_C2C,
        .halved = weft_axis_halved(&call->problem),
        .types = {.parity = call->parity,
                  .fields = {weft_call_fields(call, WEFT_FORWARD),
                             weft_call_fields(call, WEFT_INVERSE)}},
        .line = call->line,
        .decomposition = candidate->decomposition,
        .variant = candidate->variant,
        .grid_axes = candidate->grid_axes,
        .grid = candidate->grid,
        .ranks = planner->ranks,
        .boxes = {planner->input_boxes, planner->output_boxes},
        .order = {input_order, output_order}};
    memcpy(request.types.forward, call->problem.axis, sizeof request.types.forward);
    return weft_chain_build(&request, chain);
}

/* What a schedule of the candidate counts on. */
static int64_t room_of(const weft_planner *planner, const weft_candidate *candidate) {
    const int parts = candidate->stream.room_parts;
    return parts > 0 && planner->room > parts ? planner->room / parts : planner->room;
}

weft_status weft_planner_schedule(const weft_planner *planner, const weft_candidate *candidate,
                                  const weft_chain *chain, int rank, weft_direction direction,
                                  bool in_place, weft_held held, weft_schedule *schedule) {
    const weft_call *call = planner->call;
    weft_schedule_request request = {
        .chain = chain,
        .machine = planner->machine,
        .rank = rank,
        .direction = direction,
        .in_place = in_place,
        .precision = call->problem.precision,
        .operators = call->operators,
        .call = call,
        .keeps_spectrum = call->options.keep_spectrum,
        .host_buffers = planner->host_buffers,
        .streamed = candidate->stream.used,
        .room = room_of(planner, candidate),
        .exchanging = {.method = candidate->exchange,
                       .staged = candidate->staged,
                       .tiles = candidate->tiles},
        .computing = {.engine = candidate->engine,
                      .device = candidate->device,
                      .threads = candidate->threads > 0 ? candidate->threads : 1,
                      .effort = call->options.effort},
        .held = held};
    return weft_schedule_build(&request, schedule);
}

/* Ranks of this rank's node; of ranks whose nodes are not known as many as it has cores for. They
 * matter only where the record was measured on such nodes, and knows the cores. */
static int neighbours(const weft_planner *planner, int threads) {
    const int cores = weft_planner_machine(planner)->rate.cores;
    if (cores == 0) return 1;
    const int most = threads > 1 ? cores / threads : cores;
    int count = 0;
    for (int r = 0; r < planner->ranks && planner->node; r++)
        count += planner->node[r] == planner->node[planner->rank];
    return planner->node ? count : most < planner->ranks ? most : planner->ranks;
}

weft_model weft_planner_model(const weft_planner *planner, const weft_candidate *candidate,
                              const weft_chain *chain) {
    return (weft_model){.machine = weft_planner_machine(planner),
                        .engine = candidate->engine,
                        .device = candidate->device,
                        .threads = candidate->threads,
                        .neighbours = neighbours(planner, candidate->threads),
                        .chain = chain,
                        .rank = planner->rank};
}

bool weft_planner_wants(const weft_planner *planner, weft_direction direction, bool in_place) {
    const weft_options *o = &planner->call->options;
    if (!weft_call_plans(planner->call, direction)) return false;
    return in_place ? weft_call_allows_in_place(planner->call, direction)
                    : o->placement != WEFT_IN_PLACE;
}

/* The number depends on the problem alone, not on the exchange method, for transforms next to
 * exchanges go in the same tiles, and engines may round otherwise when they do less at once. Only
 * devices whose work goes on beside that of the CPU have something to overlap. */
int weft_planner_tiles(const weft_planner *planner) {
    const weft_machine_tiling *m = &weft_planner_machine(planner)->tiling;
    const weft_device_ops *device = planner->common.device;
    const weft_problem *p = &planner->call->problem;
    int tiles = 2;
    if (planner->call->options.chunks > 0) return planner->call->options.chunks;
    if (!device || device->host_addressable || planner->ranks == 1) return 1;
    double bytes = (p->precision == WEFT_SINGLE ? 8.0 : 16.0) *
                   (double)weft_call_members(planner->call, WEFT_FORWARD) / planner->ranks;
    for (int a = 0; a < p->rank; a++) bytes *= (double)p->n[a];
    if (p->kind != WEFT_C2C) bytes /= 2;
    if (bytes < m->two) return 1;
    for (; bytes >= m->four && tiles < m->most; bytes /= m->growth) tiles *= 2;
    return tiles < m->most ? tiles : m->most;
}

/* What is at hand while the candidates of one chain are tried. */
typedef struct workbench {
    weft_planner *planner;
    int room;              /* candidates that the planner's list has room for */
    int first;             /* number of the chain's first candidate in that list */
    weft_candidate common; /* all that candidates of the chain share */
    weft_methods methods;
    weft_chain chain;
    weft_schedule schedule;
} workbench;

/* Seconds of the exchanges of a schedule that use an entry of options.exchange, with the copies to
 * where partners read. */
static double cost_of_entry(const workbench *w, int entry) {
    double seconds = 0;
    for (int i = 0; i < w->schedule.steps; i++) {
        const weft_step *step = &w->schedule.step[i];
        if (step->kind != WEFT_STEP_EXCHANGE ||
            w->chain.method[step->as.exchange.redistribution] != entry)
            continue;
        seconds += step->predicted;
        if (i > 0 && step[-1].kind == WEFT_STEP_COPY) seconds += step[-1].predicted;
    }
    return seconds;
}

/* By the schedule that runs where the candidate is chosen; it stays on the workbench. */
static weft_status predict(workbench *w, const weft_candidate *candidate, double *seconds) {
    const weft_planner *p = w->planner;
    const weft_direction direction = weft_call_first_direction(p->call);
    const bool in_place = p->call->options.placement == WEFT_IN_PLACE;
    weft_held held;
    weft_schedule_release(&w->schedule);
    WEFT_TRY(weft_planner_held(p, candidate, &w->chain, 0, &held));
    WEFT_TRY(
        weft_planner_schedule(p, candidate, &w->chain, 0, direction, in_place, held, &w->schedule));
    const weft_model model = weft_planner_model(p, candidate, &w->chain);
    *seconds = weft_model_predict(&model, &w->schedule);
    return WEFT_SUCCESS;
}

static weft_status make_room(workbench *w) {
    weft_planner *p = w->planner;
    if (p->count < w->room) return WEFT_SUCCESS;
    const int room = w->room > 0 ? 2 * w->room : 32;
    weft_candidate *list = realloc(p->candidates, (size_t)room * sizeof *list);
    if (!list) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    p->candidates = list;
    w->room = room;
    return WEFT_SUCCESS;
}

/* Devices do not exchange what lies in host memory. Where the caller leaves the method to weft, the
 * usual one does; else it is refused later. */
static void leave_devices(const weft_planner *planner, weft_exchange *exchange) {
    for (int i = 0; i < WEFT_MAX_RANK; i++) {
        const weft_exchange_ops *method = weft_exchange_find(exchange[i]);
        if (method && method->carrier == WEFT_CARRIED_BY_DEVICES &&
            planner->call->options.exchange[0] == WEFT_EXCHANGE_AUTO)
            exchange[i] = weft_method_usual();
    }
}

/* The chain with these methods, unless it is listed already. */
static weft_status add(workbench *w, const weft_exchange *given) {
    weft_planner *p = w->planner;
    weft_exchange exchange[WEFT_MAX_RANK];
    const size_t bytes = sizeof exchange;
    memcpy(exchange, given, bytes);
    if (w->common.stream.used) leave_devices(p, exchange);
    for (int i = w->first; i < p->count; i++)
        if (memcmp(p->candidates[i].exchange, exchange, bytes) == 0) return WEFT_SUCCESS;
    WEFT_TRY(make_room(w));
    weft_candidate *c = &p->candidates[p->count];
    *c = w->common;
    memcpy(c->exchange, exchange, bytes);
    WEFT_TRY(predict(w, c, &c->seconds.predicted));
    p->count++;
    return WEFT_SUCCESS;
}

/* The chain with one method, as far as its groups can use it: what is left uses each of the methods
 * that all groups can use. */
static weft_status add_method(workbench *w, int number) {
    weft_exchange exchange[WEFT_MAX_RANK];
    bool everywhere;
    for (int other = 0; other < WEFT_CANDIDATE_METHODS; other++) {
        if (weft_method_needs(weft_method_numbered(other)) != WEFT_NEEDS_NOTHING) continue;
        if (!weft_methods_alike(&w->methods, number, other, exchange, &everywhere))
            return WEFT_SUCCESS;
        WEFT_TRY(add(w, exchange));
        for (int i = 0; i < w->methods.used_count; i++)
            w->methods.cost[w->methods.used[i]][number] = cost_of_entry(w, w->methods.used[i]);
        if (everywhere) return WEFT_SUCCESS;
    }
    return WEFT_SUCCESS;
}

/* Methods that differ between redistributions where the model finds that faster. */
static weft_status add_mixtures(workbench *w) {
    weft_exchange exchange[WEFT_MAX_RANK];
    for (int mixture = 0; mixture <= w->methods.used_count; mixture++)
        if (weft_methods_mixture(&w->methods, mixture, exchange)) WEFT_TRY(add(w, exchange));
    return WEFT_SUCCESS;
}

/* The candidates of one chain; of one that is `hopeless` only that with the usual method. */
static weft_status add_chain(workbench *w, bool hopeless) {
    weft_exchange exchange[WEFT_MAX_RANK];
    bool unused;
    for (int i = 0; i < WEFT_CANDIDATE_METHODS; i++) {
        if (w->methods.used_count == 0) { /* nothing to choose */
            weft_methods_alike(&w->methods, i, i, exchange, &unused);
            return add(w, exchange);
        }
        if (!hopeless || weft_method_numbered(i) == weft_method_usual()) WEFT_TRY(add_method(w, i));
    }
    return hopeless ? WEFT_SUCCESS : add_mixtures(w);
}

/* What a chain is worth whatever the exchange method: its time with messages that every group of
 * ranks can exchange. */
static weft_status predict_chain(workbench *w, double *seconds) {
    weft_candidate usual = w->common;
    WEFT_TRY(weft_planner_chain(w->planner, &usual, &w->chain));
    for (int e = 0; e < WEFT_MAX_RANK; e++) usual.exchange[e] = weft_method_usual();
    return predict(w, &usual, seconds);
}

/* Adds the candidates of all chains; `best` is the shortest time of one with the usual method.
 * *refused gets the status of those that cannot use the methods that the caller gave. */
static weft_status add_chains(workbench *w, const weft_candidate *chain, int chains, double best,
                              weft_status *refused) {
    const double hopeless = weft_planner_machine(w->planner)->search.hopeless * best;
    for (int i = 0; i < chains; i++) {
        w->common = chain[i];
        w->first = w->planner->count;
        WEFT_TRY(weft_planner_chain(w->planner, &w->common, &w->chain));
        const weft_status status = weft_methods_find(w->planner, &w->chain, &w->methods);
        if (status == WEFT_ERROR_UNSUPPORTED) *refused = status;
        if (status == WEFT_ERROR_UNSUPPORTED) continue;
        WEFT_TRY(status);
        WEFT_TRY(add_chain(w, chain[i].seconds.chain > hopeless));
    }
    return w->planner->count > 0 ? WEFT_SUCCESS : *refused;
}

/* Both variants of a grid, as far as the options leave them open. On one rank nothing is stored for
 * an exchange, so that they are the same. */
static int add_variants(const weft_planner *planner, const weft_process_grid *grid, int number,
                        weft_candidate *chains) {
    const weft_variant asked = planner->call->options.variant;
    const weft_line *line = &planner->call->line;
    int count = 0;
    for (int v = WEFT_DEFAULT; v <= WEFT_REALIGNED; v++) {
        if (asked != WEFT_VARIANT_AUTO && (int)asked != v) continue;
        if (planner->ranks == 1 && asked == WEFT_VARIANT_AUTO && v != WEFT_DEFAULT) continue;
        weft_candidate *c = &chains[count++];
        *c = planner->common;
        c->decomposition = grid->decomposition;
        c->variant = (weft_variant)v;
        c->grid_axes = grid->axes;
        c->exchanges = line->points > 0 ? weft_line_exchanges(line) : grid->axes;
        memcpy(c->grid, grid->extent, sizeof c->grid);
        c->chain = 2 * number + v;
    }
    return count;
}

/* A chain that has no rival needs no comparison. */
static weft_status list_over_grids(workbench *w, const weft_process_grid *grids, int count,
                                   weft_candidate *chains) {
    int chain_count = 0;
    double best = INFINITY;
    weft_status refused = WEFT_SUCCESS;
    for (int g = 0; g < count; g++)
        chain_count += add_variants(w->planner, &grids[g], g, &chains[chain_count]);
    for (int i = 0; i < chain_count && chain_count > 1; i++) {
        w->common = chains[i];
        WEFT_TRY(predict_chain(w, &chains[i].seconds.chain));
        if (chains[i].seconds.chain < best) best = chains[i].seconds.chain;
    }
    return add_chains(w, chains, chain_count, best, &refused);
}

/* Stable: of equals, the one listed first stays first. */
static void sort_by_prediction(weft_planner *planner) {
    for (int i = 1; i < planner->count; i++) {
        weft_candidate moving = planner->candidates[i];
        int place = i;
        for (; place > 0 &&
               planner->candidates[place - 1].seconds.predicted > moving.seconds.predicted;
             place--)
            planner->candidates[place] = planner->candidates[place - 1];
        planner->candidates[place] = moving;
    }
}

/* Puts the best method of the chain that is best with the usual one in front of the sorted list, so
 * that the chain, and with it the bits of the result, do not depend on the exchange method; unless
 * another chain is faster by far with the methods at hand. */
static void prefer_usual_chain(weft_planner *planner) {
    weft_candidate *list = planner->candidates;
    int usual = 0, first = 0;
    for (int i = 1; i < planner->count; i++)
        if (list[i].seconds.chain < list[usual].seconds.chain ||
            (list[i].seconds.chain <= list[usual].seconds.chain &&
             list[i].chain < list[usual].chain))
            usual = i;
    while (list[first].chain != list[usual].chain) first++;
    const double by_far = weft_planner_machine(planner)->search.faster_by_far;
    if (list[first].seconds.predicted > by_far * list[0].seconds.predicted) return;
    weft_candidate preferred = list[first];
    for (int i = first; i > 0; i--) list[i] = list[i - 1];
    list[0] = preferred;
}

/* Behind the others the best one with arrays that pass the device tile by tile: for where the
 * device does not hold them, as put_too_large_last finds or as shows when a candidate is built. */
static weft_status add_streamed(workbench *w) {
    weft_planner *p = w->planner;
    const weft_options *o = &p->call->options;
    if (!p->host_buffers || o->stream != WEFT_STREAM_AUTO) return WEFT_SUCCESS;
    WEFT_TRY(make_room(w));
    weft_candidate *c = &p->candidates[p->count];
    *c = p->candidates[0];
    c->stream.used = true;
    leave_devices(p, c->exchange);
    WEFT_TRY(weft_planner_chain(p, c, &w->chain));
    const weft_status status = predict(w, c, &c->seconds.predicted);
    if (status == WEFT_SUCCESS) p->count++;
    return status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_OUT_OF_MEMORY ? WEFT_SUCCESS
                                                                                  : status;
}

/* Parts of the room that candidates count on one of which keep nothing but slots on the device.
 * Where no limit is set, less can be allocated than the device says is free. */
static int first_parts(const weft_planner *planner) {
    return planner->call->options.device_memory_limit > 0 ? 1 : 4;
}

/* Behind the others the best streamed one with less and less on the device: nothing but slots, and
 * smaller ones. For where engines need what is left beside them, or no such memory can be
 * allocated, which shows when a candidate is built. */
static weft_status add_smaller(workbench *w) {
    enum { HALVINGS = 3 };
    weft_planner *p = w->planner;
    const int streamed = p->candidates[0].stream.used ? 0 : p->count - 1;
    if (!p->candidates[streamed].stream.used || p->room == 0) return WEFT_SUCCESS;
    for (int i = p->common.stream.resident ? 0 : 1; i <= HALVINGS; i++) {
        WEFT_TRY(make_room(w));
        weft_candidate *c = &p->candidates[p->count++];
        *c = p->candidates[streamed];
        c->stream.resident = false;
        c->stream.room_parts = first_parts(p) << i;
    }
    return WEFT_SUCCESS;
}

/* Puts candidates whose arrays the device has no room for behind the streamed ones: for where those
 * cannot be built, since what is left of the device's memory beyond `room` may be enough. */
static weft_status put_too_large_last(workbench *w) {
    weft_planner *p = w->planner;
    weft_candidate *list = p->candidates;
    int unstreamed = 0, place = 0;
    double bytes;
    while (unstreamed < p->count && !list[unstreamed].stream.used) unstreamed++;
    if (p->room == 0 || unstreamed == p->count) return WEFT_SUCCESS;
    for (int i = 0; i < unstreamed; i++) {
        WEFT_TRY(weft_planner_chain(p, &list[place], &w->chain));
        WEFT_TRY(weft_planner_needs(p, &list[place], &w->chain, 0, &bytes));
        if (bytes <= (double)p->room) {
            place++;
            continue;
        }
        const weft_candidate moving = list[place];
        for (int k = place; k + 1 < p->count; k++) list[k] = list[k + 1];
        list[p->count - 1] = moving;
    }
    return WEFT_SUCCESS;
}

/* On a device that is the host nothing is saved, and WEFT_STREAM_SYNC is the algorithm that others
 * are compared with. */
static bool may_be_resident(const weft_planner *planner) {
    const weft_device_ops *device = planner->common.device;
    return planner->room > 0 && device && !device->host_addressable && !planner->leaves_on_host &&
           planner->call->options.stream != WEFT_STREAM_SYNC;
}

/* The list as this rank sees it, with rank 0's share of the data. */
static weft_status list_here(weft_planner *planner) {
    weft_process_grid *grids = NULL;
    int count = 0;
    WEFT_TRY(weft_planner_grids(planner, &grids, &count));
    weft_candidate *chains = calloc((size_t)(2 * count), sizeof *chains);
    workbench *w = calloc(1, sizeof *w);
    weft_status status = chains && w
                             ? WEFT_SUCCESS
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    if (status == WEFT_SUCCESS) {
        w->planner = planner;
        status = list_over_grids(w, grids, count, chains);
        if (status == WEFT_SUCCESS) {
            sort_by_prediction(planner);
            prefer_usual_chain(planner);
            status = add_streamed(w);
            if (status == WEFT_SUCCESS) status = add_smaller(w);
            if (status == WEFT_SUCCESS) status = put_too_large_last(w);
        }
        weft_schedule_release(&w->schedule);
    }
    free(grids);
    free(chains);
    free(w);
    WEFT_TRY(status);
    weft_candidate *fewer =
        realloc(planner->candidates, (size_t)planner->count * sizeof *planner->candidates);
    if (fewer) planner->candidates = fewer;
    return WEFT_SUCCESS;
}

/* Tells rank 0's list to all ranks, each of which puts in its own back ends: where these lie, and
 * how it stages, is its own affair. Collective. */
static weft_status share_list(weft_planner *planner) {
    weft_transport *t = planner->transport;
    int64_t count = planner->count;
    weft_status status = t->ops->broadcast(t, &count, sizeof count, 0);
    if (status == WEFT_SUCCESS && planner->rank != 0) {
        planner->candidates = calloc((size_t)count, sizeof *planner->candidates);
        if (!planner->candidates)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    }
    WEFT_TRY(weft_agree(t, status));
    status =
        t->ops->broadcast(t, planner->candidates, (size_t)count * sizeof *planner->candidates, 0);
    planner->count = status == WEFT_SUCCESS ? (int)count : 0;
    for (int i = 0; i < planner->count; i++) {
        weft_candidate *c = &planner->candidates[i];
        c->engine = planner->common.engine;
        c->device = planner->common.device;
        c->threads = planner->common.threads;
        c->staged = planner->common.staged;
    }
    return weft_agree(t, status);
}

/* Only rank 0 predicts: for its own engine and device, whose schedule is then the one that it runs,
 * and for its own share, which is the largest. Engines and memory orders of bricks may differ from
 * rank to rank, and predictions with them, so that lists that ranks made by themselves could be in
 * another order on each. Ranks that do not exist have one rank that does, which needs no call. */
weft_status weft_planner_list(weft_planner *planner) {
    weft_transport *t = planner->transport;
    const bool together = t && t->size > 1 && !t->simulated;
    planner->count = 0;
    planner->candidates = NULL;
    planner->common.tiles = weft_planner_tiles(planner);
    planner->common.threads = planner->call->options.threads;
    planner->common.stream.resident = may_be_resident(planner);
    planner->common.stream.room_parts = planner->common.stream.resident ? 1 : first_parts(planner);
    weft_status status = !together || planner->rank == 0 ? list_here(planner) : WEFT_SUCCESS;
    if (!together) return status;
    WEFT_TRY(weft_agree(t, status));
    return share_list(planner);
}

void weft_planner_release(weft_planner *planner) {
    for (int i = 0; i < planner->count; i++) free(planner->candidates[i].reason);
    free(planner->candidates);
    planner->candidates = NULL;
    planner->count = 0;
}
