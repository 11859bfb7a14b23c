/* Enumerating candidates and ordering them by predicted time. */
#include "plan/planner.h"

#include "plan/model.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 512 };

/* Another chain is chosen than with the usual exchange method where it is predicted to be faster by
 * more than this, beyond what the model's errors explain (docs/design.md, Planning). */
static const double FASTER_BY_FAR = 1.5;

typedef struct grid_choice {
    weft_decomposition decomposition;
    int grid_axes;
    int grid[WEFT_MAX_RANK];
} grid_choice;

static bool wanted(weft_decomposition asked, weft_decomposition this) {
    return asked == WEFT_DECOMPOSITION_AUTO || asked == WEFT_BRICK || asked == this;
}

static int given_grid(const weft_options *o) {
    int entries = 0;
    while (entries < WEFT_MAX_RANK && o->grid[entries] > 0) entries++;
    return entries;
}

/* Pencil grids for P ranks: every P1 x P2 with both above 1, the squarest and its neighbours first
 * in the list only by the model; P x 1 is a slab. */
static int pencil_grids(int ranks, grid_choice *choices, int count) {
    int before = count;
    for (int p1 = 2; p1 <= ranks / 2 && count < before + 32; p1++)
        if (ranks % p1 == 0 && ranks / p1 > 1)
            choices[count++] = (grid_choice){WEFT_PENCIL, 2, {p1, ranks / p1}};
    if (count == before) choices[count++] = (grid_choice){WEFT_PENCIL, 2, {ranks, 1}};
    return count;
}

static int list_grids(const weft_planner *planner, grid_choice *choices) {
    const weft_options *o = &planner->call->options;
    int rank = planner->call->problem.rank, ranks = planner->ranks, count = 0;
    int entries = given_grid(o);
    bool free_choice =
        o->decomposition == WEFT_DECOMPOSITION_AUTO || o->decomposition == WEFT_BRICK;
    if (ranks == 1) { /* nothing is exchanged, whatever the name */
        weft_decomposition name = free_choice ? WEFT_SLAB_2D1D : o->decomposition;
        choices[count++] = (grid_choice){name, rank > 1 ? 1 : 0, {1}};
        return count;
    }
    static const weft_decomposition slabs[] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D, WEFT_SLAB_Y_ZX};
    /* In 2-D all slabs are the same, and of real data slab-y-zx is slab-2d1d. */
    int different = rank == 2 ? 1 : planner->call->problem.kind == WEFT_R2C ? 2 : 3;
    for (int i = 0; i < 3; i++)
        if (wanted(o->decomposition, slabs[i]) && entries <= 1 && (i < different || !free_choice))
            choices[count++] = (grid_choice){slabs[i], 1, {ranks}};
    if (!wanted(o->decomposition, WEFT_PENCIL) || (entries == 1 && free_choice)) return count;
    if (entries > 0) {
        grid_choice *given = &choices[count++];
        *given = (grid_choice){WEFT_PENCIL, entries, {0}};
        memcpy(given->grid, o->grid, (size_t)entries * sizeof given->grid[0]);
        return count;
    }
    if (rank == 2) {
        if (!free_choice) choices[count++] = (grid_choice){WEFT_PENCIL, 1, {ranks}};
        return count;
    }
    int after = pencil_grids(ranks, choices, count);
    if (free_choice && after == count + 1 && choices[count].grid[1] == 1) return count;
    return after;
}

/* Whether weft may choose peer by itself: not where the nodes of the ranks are unknown (they do not
 * exist), and who asks for staged messages gets messages. */
static bool may_choose_peer(const weft_planner *planner) {
    return planner->addressable && planner->node &&
           planner->call->options.device_aware != WEFT_STAGED;
}

static bool may_choose(const weft_planner *planner, weft_exchange method) {
    if (method == WEFT_PEER) return may_choose_peer(planner);
    if (method == WEFT_NCCL) return planner->own_device != NULL;
    return true;
}

/* How many entries of options.exchange are weft's to choose: those before the first given one. */
static int entries_left_open(const weft_options *o) {
    int open = 0;
    while (open < WEFT_MAX_RANK && o->exchange[open] == WEFT_EXCHANGE_AUTO) open++;
    return open;
}

/* Methods to try: each of them for all redistributions that the caller leaves open, and for the
 * others what the caller gave, an entry left 0 being the one before. */
static int list_methods(const weft_planner *planner, weft_exchange methods[][WEFT_MAX_RANK]) {
    static const weft_exchange order[] = {WEFT_PEER,     WEFT_NCCL,     WEFT_P2P_SYNC,
                                          WEFT_A2A_SYNC, WEFT_P2P_TYPE, WEFT_P2P_STREAMS,
                                          WEFT_A2A_TYPE};
    const weft_options *o = &planner->call->options;
    const int open = entries_left_open(o);
    const size_t tried = open > 0 ? sizeof order / sizeof order[0] : 1;
    int count = 0;
    for (size_t i = 0; i < tried; i++) {
        if (open > 0 && !may_choose(planner, order[i])) continue;
        weft_exchange method = order[i];
        for (int k = 0; k < WEFT_MAX_RANK; k++) {
            if (o->exchange[k] != WEFT_EXCHANGE_AUTO) method = o->exchange[k];
            methods[count][k] = method;
        }
        count++;
    }
    return count;
}

/* Whether every group of a redistribution lies on one node; else *one and *other get two ranks of a
 * group that does not. */
static bool groups_on_one_node(const weft_planner *planner, const weft_chain *chain,
                               int redistribution, int *one, int *other) {
    for (int r = 0; r < planner->ranks && planner->node; r++) {
        *one = weft_chain_member(chain, redistribution, r, 0);
        *other = r;
        if (planner->node[*one] != planner->node[*other]) return false;
    }
    return true;
}

/* Whether all ranks of a group have devices of their own; else *one and *other get two ranks of a
 * group that share one. */
static bool groups_share_no_device(const weft_planner *planner, const weft_chain *chain,
                                   int redistribution, int *one, int *other) {
    for (int r = 0; r < planner->ranks && planner->own_device; r++) {
        int color, key, size;
        weft_chain_group(chain, redistribution, r, &color, &key, &size);
        *other = r;
        for (int m = 0; m < key; m++) {
            *one = weft_chain_member(chain, redistribution, r, m);
            if (planner->own_device[*one] == planner->own_device[*other]) return false;
        }
    }
    return true;
}

/* The entry that the caller gave for a redistribution which uses entry `used`. */
static int entry_given(const weft_options *o, int used) {
    while (used > 0 && o->exchange[used] == WEFT_EXCHANGE_AUTO) used--;
    return used;
}

/* Whether the groups of a redistribution can use a method; UNSUPPORTED says why they cannot. */
static weft_status check_groups(const weft_planner *planner, const weft_chain *chain,
                                int redistribution, weft_exchange method) {
    const int entry = entry_given(&planner->call->options, chain->method[redistribution]);
    int one, other;
    if (method == WEFT_PEER && !groups_on_one_node(planner, chain, redistribution, &one, &other))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.exchange[%d] peer: ranks %d and %d of one redistribution are "
                         "not on one node, or cannot read each other's memory; choose "
                         "p2p-sync there, or leave it to weft",
                         entry, one, other);
    if (method == WEFT_NCCL &&
        !groups_share_no_device(planner, chain, redistribution, &one, &other))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.exchange[%d] nccl: ranks %d and %d of one redistribution have "
                         "the same GPU, and NCCL wants one for each; start as many ranks as there "
                         "are GPUs (WEFT_CUDA_DEVICE chooses a rank's), or choose peer",
                         entry, one, other);
    return WEFT_SUCCESS;
}

/* Where the partners of a redistribution cannot use its method: another one instead, if weft
 * chooses, else UNSUPPORTED. *possible tells whether the candidate is worth keeping: one that uses
 * nothing of the method that it tries is in the list already, with p2p-sync. */
static weft_status check_methods(const weft_planner *planner, weft_candidate *candidate,
                                 bool *possible) {
    const int open = entries_left_open(&planner->call->options);
    bool chosen = false, kept = false;
    weft_exchange *method = candidate->exchange, tried = method[0];
    weft_chain *chain = malloc(sizeof *chain);
    if (!chain) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a candidate");
    weft_status status = weft_planner_chain(planner, candidate, chain);
    for (int k = 0; k + 1 < chain->segments && status == WEFT_SUCCESS; k++) {
        const int entry = chain->method[k];
        weft_status refused = check_groups(planner, chain, k, method[entry]);
        if (entry >= open) {
            status = refused;
            continue;
        }
        if (refused != WEFT_SUCCESS) method[entry] = WEFT_P2P_SYNC;
        chosen = true;
    }
    for (int k = 0; k + 1 < chain->segments; k++)
        kept = kept || (chain->method[k] < open && method[chain->method[k]] == tried);
    *possible = open == 0 || kept || planner->ranks == 1 || (!chosen && tried == WEFT_P2P_SYNC);
    free(chain);
    return status;
}

/* A brick's order with the batch in front, in the library's numbering of axes. */
static void brick_order(const weft_brick *brick, int rank, int *order) {
    order[0] = rank;
    for (int a = 0; a < rank; a++) order[a + 1] = brick->order[a];
}

weft_status weft_planner_chain(const weft_planner *planner, const weft_candidate *candidate,
                               weft_chain *chain) {
    const weft_call *call = planner->call;
    int input_order[WEFT_AXES], output_order[WEFT_AXES];
    brick_order(&call->input, call->problem.rank, input_order);
    brick_order(&call->output, call->problem.rank, output_order);
    weft_chain_request request = {.rank = call->problem.rank,
                                  .n = call->problem.n,
                                  .batch = call->problem.batch,
                                  .real = call->problem.kind == WEFT_R2C,
                                  .decomposition = candidate->decomposition,
                                  .variant = candidate->variant,
                                  .grid_axes = candidate->grid_axes,
                                  .grid = candidate->grid,
                                  .ranks = planner->ranks,
                                  .input_boxes = planner->input_boxes,
                                  .output_boxes = planner->output_boxes,
                                  .input_order = input_order,
                                  .output_order = output_order};
    return weft_chain_build(&request, chain);
}

weft_status weft_planner_schedule(const weft_planner *planner, const weft_candidate *candidate,
                                  const weft_chain *chain, int rank, weft_direction direction,
                                  bool in_place, int workspaces, weft_schedule *schedule) {
    const weft_call *call = planner->call;
    weft_schedule_request request = {.chain = chain,
                                     .rank = rank,
                                     .direction = direction,
                                     .in_place = in_place,
                                     .precision = call->problem.precision,
                                     .operators = call->operators,
                                     .call = call,
                                     .keeps_spectrum = call->options.keep_spectrum,
                                     .exchange = candidate->exchange,
                                     .staged = planner->staged,
                                     .host_buffers = planner->host_buffers,
                                     .engine = planner->engine,
                                     .device = planner->device,
                                     .chunks = planner->chunks,
                                     .threads = call->options.threads,
                                     .effort = call->options.effort,
                                     .workspaces = workspaces};
    return weft_schedule_build(&request, schedule);
}

/* Rank 0 owns the largest share, so its schedule stands for all; this also keeps ranks in step, as
 * does leaving out what an engine can do on this rank's machine, and the memory order of its
 * bricks.
 */
static weft_status predict(const weft_planner *planner, const weft_candidate *candidate,
                           double *seconds) {
    weft_planner any_machine = *planner;
    weft_call any_order = *planner->call;
    any_machine.engine = NULL;
    any_machine.call = &any_order;
    for (int a = 0; a < WEFT_MAX_RANK; a++)
        any_order.input.order[a] = any_order.output.order[a] = a;
    weft_chain *chain = malloc(sizeof *chain);
    weft_schedule *schedule = malloc(sizeof *schedule);
    weft_status status = chain && schedule
                             ? weft_planner_chain(&any_machine, candidate, chain)
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a candidate");
    if (status == WEFT_SUCCESS) {
        status = weft_planner_schedule(&any_machine, candidate, chain, 0, WEFT_FORWARD, false, 0,
                                       schedule);
        if (status == WEFT_SUCCESS)
            *seconds =
                weft_model_predict(&weft_machine_default, planner->call->options.threads, schedule);
        weft_schedule_release(schedule);
    }
    free(chain);
    free(schedule);
    return status;
}

/* Stable: of equals, the one listed first stays first. */
static void sort_by_prediction(weft_planner *planner) {
    for (int i = 1; i < planner->count; i++) {
        weft_candidate moving = planner->candidates[i];
        int place = i;
        for (; place > 0 && planner->candidates[place - 1].predicted > moving.predicted; place--)
            planner->candidates[place] = planner->candidates[place - 1];
        planner->candidates[place] = moving;
    }
}

/* What a chain is worth whatever the exchange method: its time with messages that every group of
 * ranks can exchange. */
static weft_status predict_chain(const weft_planner *planner, const weft_candidate *candidate,
                                 double *seconds) {
    weft_candidate usual = *candidate;
    for (int k = 0; k < WEFT_MAX_RANK; k++) usual.exchange[k] = WEFT_P2P_SYNC;
    return predict(planner, &usual, seconds);
}

/* Puts the best method of the chain that is best with the usual one in front of the sorted list, so
 * that the chain, and with it the bits of the result, do not depend on the exchange method; unless
 * another chain is faster by far with the methods at hand. */
static void prefer_usual_chain(weft_planner *planner) {
    weft_candidate *list = planner->candidates;
    int usual = 0, first = 0;
    for (int i = 1; i < planner->count; i++)
        if (list[i].chain_predicted < list[usual].chain_predicted ||
            (list[i].chain_predicted <= list[usual].chain_predicted &&
             list[i].chain < list[usual].chain))
            usual = i;
    while (list[first].chain != list[usual].chain) first++;
    if (list[first].predicted > FASTER_BY_FAR * list[0].predicted) return;
    weft_candidate preferred = list[first];
    for (int i = first; i > 0; i--) list[i] = list[i - 1];
    list[0] = preferred;
}

/* The candidates of one chain: with each method that its groups can use. *refused gets the status
 * of those that the caller gave and they cannot. */
static weft_status list_chain(weft_planner *planner, const weft_candidate *chain,
                              weft_exchange methods[][WEFT_MAX_RANK], int method_count,
                              weft_status *refused) {
    double chain_predicted = 0;
    WEFT_TRY(predict_chain(planner, chain, &chain_predicted));
    for (int m = 0; m < method_count; m++) {
        weft_candidate *c = &planner->candidates[planner->count];
        bool possible = false;
        *c = *chain;
        c->chain_predicted = chain_predicted;
        memcpy(c->exchange, methods[m], sizeof c->exchange);
        weft_status status = check_methods(planner, c, &possible);
        if (status == WEFT_ERROR_UNSUPPORTED) *refused = status;
        if (status == WEFT_ERROR_UNSUPPORTED) continue;
        WEFT_TRY(status);
        if (!possible) continue;
        WEFT_TRY(predict(planner, c, &c->predicted));
        planner->count++;
    }
    return WEFT_SUCCESS;
}

weft_status weft_planner_list(weft_planner *planner) {
    const weft_options *o = &planner->call->options;
    grid_choice grids[64];
    weft_exchange methods[8][WEFT_MAX_RANK];
    int grid_count = list_grids(planner, grids), method_count = list_methods(planner, methods);
    const bool alone = planner->ranks == 1;
    weft_status refused = WEFT_SUCCESS;
    planner->count = 0;
    planner->candidates = calloc(MAX_CANDIDATES, sizeof *planner->candidates);
    if (!planner->candidates)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    for (int g = 0; g < grid_count; g++)
        for (int v = WEFT_DEFAULT; v <= WEFT_REALIGNED; v++) {
            if (o->variant != WEFT_VARIANT_AUTO && (int)o->variant != v) continue;
            if (alone && o->variant == WEFT_VARIANT_AUTO && v != WEFT_DEFAULT) continue;
            weft_candidate chain = {.decomposition = grids[g].decomposition,
                                    .variant = (weft_variant)v,
                                    .grid_axes = grids[g].grid_axes,
                                    .chain = 2 * g + v};
            memcpy(chain.grid, grids[g].grid, sizeof chain.grid);
            WEFT_TRY(list_chain(planner, &chain, methods, alone ? 1 : method_count, &refused));
        }
    if (planner->count == 0) return refused;
    sort_by_prediction(planner);
    prefer_usual_chain(planner);
    return WEFT_SUCCESS;
}

void weft_planner_release(weft_planner *planner) {
    for (int i = 0; i < planner->count; i++) free(planner->candidates[i].reason);
    free(planner->candidates);
    planner->candidates = NULL;
    planner->count = 0;
}
