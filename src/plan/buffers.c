/*
 * Buffers of a schedule: which buffer holds the data after each step, and where exchanges pack.
 *
 * The data is one value that moves from buffer to buffer, so only the buffers of one step can be in
 * each other's way. A dynamic program over (step, buffer) finds the cheapest assignment for 0 to 4
 * workspaces; the caller's output serves as one more buffer on the way, the caller's input is
 * only read.
 */
#include "plan/schedule.h"

#include "support/error.h"

#include <string.h>

enum { COST_IMPOSSIBLE = 1 << 20 };

/* One way to run a step that reads buffer `src`; or an exchange and the transform that loads what
 * arrives, in buffer `arrived` (-1: nothing does). */
typedef struct choice {
    int cost, src, send, receive;
    bool two_steps;
    int arrived;
} choice;

typedef choice table[WEFT_MAX_STEPS + 1][WEFT_BUFFER_STAGE_SEND];

/* Whether an exchange may use these buffers; *cost gets the price. */
static bool exchange_allows(const weft_step *step, int src, int send, int receive, int dst,
                            const weft_machine_buffers *price, int *cost) {
    const weft_redistribution *r = &step->exchange;
    /* Later parts are still to leave when the first ones arrive. */
    bool parts = weft_step_in_parts(step), p2p = step->method->point_to_point || parts;
    bool packed = r->pack && !step->staged, aliased = src == dst;
    if (parts && aliased) return false;
    if (step->method->shared) { /* the same workspaces wherever possible, so that few are shared */
        *cost = src - WEFT_BUFFER_WORKSPACE;
        return src >= WEFT_BUFFER_WORKSPACE && !aliased;
    }
    if (send == receive || (r->pack && send == src) || (r->unpack && receive == dst)) return false;
    if (send == dst && (r->pack || !r->unpack)) return false;
    if (receive == src && (p2p || !packed)) return false;
    if (aliased && (step->method->datatypes || (!r->unpack && (p2p || !r->pack)))) return false;
    *cost = !aliased ? 0 : packed || step->staged ? price->own_packed : price->own_shifted;
    return true;
}

static void relax(choice *best, int cost, int src, int send, int receive) {
    if (cost < best->cost)
        *best = (choice){.cost = cost, .src = src, .send = send, .receive = receive};
}

/* Buffers that a step may use, and what that costs. */
typedef struct range {
    int first, limit;
    const weft_machine_buffers *price;
} range;

/* The cheapest way to run an exchange from `src` into `dst`, packing in these buffers. */
static choice exchange_into(const weft_step *step, int src, int dst, range buffers) {
    choice best = {.cost = COST_IMPOSSIBLE};
    int cost = 0;
    for (int send = buffers.first; send < buffers.limit; send++)
        for (int receive = buffers.first; receive < buffers.limit; receive++) {
            int s = step->staged ? WEFT_BUFFER_STAGE_SEND : step->exchange.pack ? send : src;
            int r = step->staged            ? WEFT_BUFFER_STAGE_RECEIVE
                    : step->exchange.unpack ? receive
                                            : dst;
            if (exchange_allows(step, src, s, r, dst, buffers.price, &cost))
                relax(&best, cost, src, s, r);
        }
    return best;
}

/* The same for an exchange whose blocks the next step loads and stores into `dst`. This rank's own
 * block is loaded from src, unless that is dst: then it is copied to what arrives. */
static void try_both(const weft_step *step, int base, int src, int dst, int arrived, range buffers,
                     choice *best) {
    if (arrived == dst) return;
    choice c = exchange_into(step, src, arrived, buffers);
    if (src == dst)
        c.cost += step->parts_after ? buffers.price->waiting
                                    : 2 * buffers.price->final_copy / step->exchange.members;
    c.two_steps = true;
    c.arrived = arrived;
    c.cost += base;
    if (c.cost < best->cost) *best = c;
}

/* Partners' arrays are loaded where they lie: nothing arrives. */
static void try_lent(int base, int src, int dst, choice *best) {
    int cost = base + src - WEFT_BUFFER_WORKSPACE; /* few workspaces are shared */
    if (src < WEFT_BUFFER_WORKSPACE || src == dst || cost >= best->cost) return;
    *best = (choice){.cost = cost, .src = src, .send = src, .receive = -1, true, .arrived = -1};
}

/* All ways to run `step` from `src` into `dst`. */
static void try_step(const weft_step *step, int base, int src, int dst, range buffers,
                     choice *best) {
    switch (step->kind) {
    case WEFT_STEP_POINTWISE:
        if (src == dst && !weft_stored_is_box(&step->layout.stored)) return;
        relax(best, base + (src == dst ? 0 : buffers.price->elsewhere), src, -1, -1);
        return;
    case WEFT_STEP_FFT: /* in place or not must not depend on the exchange method: engines that take
                           no pieces round differently */
        if ((src == dst) == (step->can_alias && src != WEFT_BUFFER_IN))
            relax(best, base, src, -1, -1);
        return;
    case WEFT_STEP_COPY:
        if (src != dst)
            relax(best, base + (step->optional ? buffers.price->lending : 0), src, -1, -1);
        if (src == dst && step->optional) relax(best, base, src, -1, -1);
        return;
    case WEFT_STEP_EXCHANGE:
        break;
    }
    choice c = exchange_into(step, src, dst, buffers);
    relax(best, base + c.cost, src, c.send, c.receive);
}

/* Whether the caller's output holds only what the caller gets: on the host, where the device's work
 * is not, or numbers of another storage, which need not be aligned as those that are worked on. */
static bool output_is_apart(const weft_schedule *schedule) {
    const weft_step *first = &schedule->step[0];
    return schedule->converts_output ||
           (first->kind == WEFT_STEP_COPY && first->transfer == WEFT_HOST_TO_DEVICE);
}

static bool may_hold(const weft_schedule *schedule, int step, int buffer) {
    return buffer != WEFT_BUFFER_OUT || !output_is_apart(schedule) || step == schedule->steps;
}

static void try_from(const weft_schedule *schedule, const weft_machine_buffers *price, int i,
                     int src, int limit, table best) {
    const weft_step *step = &schedule->step[i];
    const int base = best[i][src].cost;
    const bool loaded = step->kind == WEFT_STEP_EXCHANGE && step->loaded_by_next;
    const range buffers = {output_is_apart(schedule) ? WEFT_BUFFER_WORKSPACE : WEFT_BUFFER_OUT,
                           limit, price};
    for (int dst = WEFT_BUFFER_OUT; dst < limit; dst++) {
        if (!loaded && may_hold(schedule, i + 1, dst))
            try_step(step, base, src, dst, buffers, &best[i + 1][dst]);
        if (!loaded || !may_hold(schedule, i + 2, dst)) continue;
        const bool lent = weft_step_leaves_data(step);
        if (lent) try_lent(base, src, dst, &best[i + 2][dst]);
        for (int arrived = WEFT_BUFFER_OUT; arrived < limit && !lent; arrived++)
            if (may_hold(schedule, i + 1, arrived))
                try_both(step, base, src, dst, arrived, buffers, &best[i + 2][dst]);
    }
}

static void fill_table(const weft_schedule *schedule, const weft_machine_buffers *price,
                       int workspaces, table best) {
    int limit = WEFT_BUFFER_WORKSPACE + workspaces;
    for (int i = 0; i <= schedule->steps; i++)
        for (int b = 0; b < WEFT_BUFFER_STAGE_SEND; b++) best[i][b].cost = COST_IMPOSSIBLE;
    best[0][schedule->in_place ? WEFT_BUFFER_OUT : WEFT_BUFFER_IN].cost = 0;
    for (int i = 0; i < schedule->steps; i++)
        for (int src = 0; src < limit; src++)
            if (best[i][src].cost < COST_IMPOSSIBLE) try_from(schedule, price, i, src, limit, best);
}

/* Writes the cheapest way to end in `buffer` into the steps. */
static void trace_back(weft_schedule *schedule, table best, int buffer) {
    for (int i = schedule->steps; i > 0; i--) {
        weft_step *step = &schedule->step[i - 1];
        const choice *c = &best[i][buffer];
        step->dst = buffer;
        if (c->two_steps) {
            step->src = c->arrived;
            step = &schedule->step[--i - 1];
            step->dst = c->arrived;
            step->own_stays =
                !weft_step_leaves_data(step) && c->src != c->arrived && c->src != buffer;
        }
        step->src = c->src;
        step->send = c->send;
        step->receive = c->receive;
        buffer = c->src;
    }
}

/* Copies from a buffer to itself. */
static void drop_copies(weft_schedule *schedule) {
    int kept = 0;
    for (int i = 0; i < schedule->steps; i++) {
        const weft_step *step = &schedule->step[i];
        if (step->kind == WEFT_STEP_COPY && step->optional && step->src == step->dst) continue;
        if (kept < i) schedule->step[kept] = *step;
        kept++;
    }
    schedule->steps = kept;
}

static void add_final_copy(weft_schedule *schedule) {
    const weft_step *before = &schedule->step[schedule->steps - 1];
    schedule->step[schedule->steps++] = (weft_step){.kind = WEFT_STEP_COPY,
                                                    .chunks = 1,
                                                    .src = before->dst,
                                                    .dst = WEFT_BUFFER_OUT,
                                                    .send = -1,
                                                    .receive = -1,
                                                    .src_bytes = before->dst_bytes,
                                                    .dst_bytes = before->dst_bytes,
                                                    .transfer = WEFT_DEVICE_TO_DEVICE,
                                                    .copy = weft_copy_of_run(before->dst_bytes, 1),
                                                    .bytes_moved = 2 * before->dst_bytes};
}

static void need(weft_schedule *schedule, int buffer, int64_t bytes) {
    if (buffer >= 0 && (size_t)bytes > schedule->buffer_bytes[buffer])
        schedule->buffer_bytes[buffer] = (size_t)bytes;
}

/* Of an exchange: blocks packed and unpacked, and this rank's own one. */
static int64_t copied_bytes(const weft_step *step) {
    const weft_redistribution *r = &step->exchange;
    int64_t elements = 0;
    bool pulls = step->method->shared && !weft_step_leaves_data(step);
    for (int m = 0; m < r->members; m++) {
        if (m == r->me) continue;
        elements += r->pack ? r->send[m].elements : 0;
        elements += r->unpack || pulls ? r->receive[m].elements : 0;
    }
    if (!step->own_stays && (pulls || !step->method->shared)) elements += r->send[r->me].elements;
    return 2 * elements * (int64_t)r->element_bytes;
}

/* Where this rank's own block goes, the packed layout, and the size of the buffers. */
static void settle_exchange(weft_schedule *schedule, weft_step *step) {
    weft_redistribution *r = &step->exchange;
    step->own_direct = step->src != step->dst && !step->own_stays;
    if (step->method->shared) schedule->shared[step->src - WEFT_BUFFER_WORKSPACE] = true;
    if (step->loaded_by_next && !weft_step_leaves_data(step) && !step->own_stays)
        weft_schedule_load_own_copy(step, step + 1);
    const bool own_packed = step->src == step->dst;
    step->packing = (weft_packing){.pack = r->pack,
                                   .unpack = r->unpack,
                                   .own_send = own_packed && r->pack,
                                   .own_receive = own_packed && !r->pack,
                                   .whole = step->staged && step->method->datatypes};
    weft_redistribution_lay_out(r, step->packing);
    int64_t element = (int64_t)r->element_bytes;
    if (r->pack) need(schedule, step->send, r->send_elements * element);
    if (r->unpack) need(schedule, step->receive, r->receive_elements * element);
    step->bytes_moved = copied_bytes(step);
}

static void settle(weft_schedule *schedule) {
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        need(schedule, step->src, step->src_bytes);
        need(schedule, step->dst, step->dst_bytes);
        if (step->kind == WEFT_STEP_FFT) step->transform.in_place = step->src == step->dst;
        if (step->kind == WEFT_STEP_EXCHANGE) settle_exchange(schedule, step);
    }
}

static int workspace_cost(const weft_machine_buffers *price, int count) {
    return count <= 0 ? 0 : price->workspace * count + (count > 2 ? price->third : 0);
}

/* The copy at the end is for in place only, where a single pass cannot write over what it reads. */
weft_status weft_schedule_assign_buffers(weft_schedule *schedule, const weft_machine_buffers *price,
                                         int free_workspaces) {
    table best;
    int chosen = -1, chosen_cost = COST_IMPOSSIBLE, chosen_end = WEFT_BUFFER_OUT;
    for (int k = 0; k <= WEFT_MAX_WORKSPACES; k++) {
        fill_table(schedule, price, k, best);
        for (int end = WEFT_BUFFER_OUT; end < WEFT_BUFFER_WORKSPACE + k; end++) {
            if (end != WEFT_BUFFER_OUT && !schedule->in_place) break;
            int cost = best[schedule->steps][end].cost +
                       workspace_cost(price, k - free_workspaces) +
                       (end == WEFT_BUFFER_OUT ? 0 : price->final_copy);
            if (cost < chosen_cost) {
                chosen = k;
                chosen_cost = cost;
                chosen_end = end;
            }
        }
    }
    if (chosen < 0)
        return weft_fail(
            WEFT_ERROR_UNSUPPORTED,
            "no assignment of %d workspaces runs this schedule; this is a defect of weft",
            WEFT_MAX_WORKSPACES);
    schedule->workspaces = chosen;
    fill_table(schedule, price, chosen, best);
    trace_back(schedule, best, chosen_end);
    drop_copies(schedule);
    if (chosen_end != WEFT_BUFFER_OUT) add_final_copy(schedule);
    settle(schedule);
    return WEFT_SUCCESS;
}
