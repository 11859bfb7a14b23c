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

/* Whether an exchange may use these buffers; *cost gets the price. Later tiles are still to leave
 * when the first ones arrive. */
static bool exchange_allows(const weft_exchange_step *x, int src, int send, int receive, int dst,
                            const weft_machine_buffers *price, int *cost) {
    const bool pack = x->geometry.pack, unpack = x->geometry.unpack, aliased = src == dst;
    const bool tiled = weft_step_is_tiled(x), early = x->method->receives_early || tiled;
    const bool packed = pack && !x->staged;
    if (tiled && aliased) return false;
    if (x->method->carrier == WEFT_CARRIED_BY_READERS) {
        *cost = src - WEFT_BUFFER_WORKSPACE; /* few workspaces are shared */
        return src >= WEFT_BUFFER_WORKSPACE && !aliased;
    }
    if (send == receive || (pack && send == src) || (unpack && receive == dst)) return false;
    if (send == dst && (pack || !unpack)) return false;
    if (receive == src && (early || !packed)) return false;
    if (aliased && (x->method->gathers || (!unpack && (early || !pack)))) return false;
    *cost = !aliased ? 0 : packed || x->staged ? price->own_packed : price->own_shifted;
    return true;
}

static void relax(choice *best, int cost, int src, int send, int receive) {
    if (cost < best->cost)
        *best = (choice){.cost = cost, .src = src, .send = send, .receive = receive};
}

/* Buffers that a step may use, what that costs, and whether the engine gives the same bits in place
 * as out of place. */
typedef struct range {
    int first, limit;
    const weft_machine_buffers *price;
    bool same_bits;
} range;

/* The cheapest way to run an exchange from `src` into `dst`, packing in these buffers. */
static choice exchange_into(const weft_exchange_step *x, int src, int dst, range buffers) {
    choice best = {.cost = COST_IMPOSSIBLE};
    int cost = 0;
    for (int send = buffers.first; send < buffers.limit; send++)
        for (int receive = buffers.first; receive < buffers.limit; receive++) {
            int s = x->staged ? WEFT_BUFFER_STAGE_SEND : x->geometry.pack ? send : src;
            int r = x->staged ? WEFT_BUFFER_STAGE_RECEIVE : x->geometry.unpack ? receive : dst;
            if (exchange_allows(x, src, s, r, dst, buffers.price, &cost))
                relax(&best, cost, src, s, r);
        }
    return best;
}

/* An exchange from `src` to `arrived`, whose blocks the next step loads and stores into `dst`. This
 * rank's own block is loaded from src, unless that is dst: then it is copied to what arrives. */
static void try_both(const weft_exchange_step *x, int base, int src, int dst, int arrived,
                     range buffers, choice *best) {
    if (arrived == dst) return;
    choice c = exchange_into(x, src, arrived, buffers);
    if (src == dst)
        c.cost += x->consumed.transformed ? buffers.price->waiting
                                          : 2 * buffers.price->final_copy / x->geometry.members;
    c.two_steps = true;
    c.arrived = arrived;
    c.cost += base;
    if (c.cost < best->cost) *best = c;
}

/* An exchange of which nothing arrives, for the next step loads partners' arrays. */
static void try_remote(int base, int src, int dst, choice *best) {
    int cost = base + src - WEFT_BUFFER_WORKSPACE; /* few workspaces are shared */
    if (src < WEFT_BUFFER_WORKSPACE || src == dst || cost >= best->cost) return;
    *best = (choice){.cost = cost, .src = src, .send = src, .receive = -1, true, .arrived = -1};
}

/* All ways to run `step` from `src` into `dst`. */
static void try_step(const weft_step *step, int base, int src, int dst, range buffers,
                     choice *best) {
    switch (step->kind) {
    case WEFT_STEP_POINTWISE:
        if (src == dst && (!weft_stored_is_box(&step->as.pointwise.layout.stored) ||
                           step->src_bytes != step->dst_bytes))
            return;
        relax(best, base + (src == dst ? 0 : buffers.price->elsewhere), src, -1, -1);
        return;
    case WEFT_STEP_FFT: /* where bits depend on it, in place or not must not depend on the exchange
                           method; elsewhere it is done in place unless that costs a copy */
        if ((src == dst) == (step->as.fft.can_alias && src != WEFT_BUFFER_IN))
            relax(best, base, src, -1, -1);
        else if (src != dst && buffers.same_bits)
            relax(best, base + buffers.price->elsewhere, src, -1, -1);
        return;
    case WEFT_STEP_COPY:
        if (src != dst)
            relax(best, base + (step->as.copy.optional ? buffers.price->shared_copy : 0), src, -1,
                  -1);
        if (src == dst && step->as.copy.optional) relax(best, base, src, -1, -1);
        return;
    case WEFT_STEP_EXCHANGE:
        break;
    }
    choice c = exchange_into(&step->as.exchange, src, dst, buffers);
    relax(best, base + c.cost, src, c.send, c.receive);
}

/* Whether the caller's output holds only what the caller gets: on the host, where the device's work
 * is not, numbers of another storage, which need not be aligned as those that are worked on, or
 * elements between which there are others that are not the plan's. */
static bool output_is_converted(const weft_schedule *schedule) {
    const weft_step *first = &schedule->step[0];
    return schedule->converts_output ||
           (first->kind == WEFT_STEP_COPY && first->as.copy.transfer == WEFT_HOST_TO_DEVICE);
}

/* Whether the caller's output may hold what the steps before number `step` make of the data. */
static bool may_hold(const weft_schedule *schedule, int step, int buffer) {
    const weft_step *made = &schedule->step[step - 1], *last = &schedule->step[schedule->steps - 1];
    return buffer != WEFT_BUFFER_OUT || step == schedule->steps ||
           (!output_is_converted(schedule) &&
            (!schedule->exact || made->dst_bytes <= last->dst_bytes));
}

static void try_from(const weft_schedule_request *request, const weft_schedule *schedule, int i,
                     int src, int limit, table best) {
    const weft_engine_ops *engine = request->computing.engine;
    const weft_step *step = &schedule->step[i];
    const int base = best[i][src].cost;
    const weft_exchange_step *x = &step->as.exchange;
    const bool loaded = step->kind == WEFT_STEP_EXCHANGE && x->loaded;
    const bool packs = !output_is_converted(schedule) && !schedule->exact;
    const range buffers = {packs ? WEFT_BUFFER_OUT : WEFT_BUFFER_WORKSPACE, limit,
                           &weft_request_machine(request)->buffers, engine && engine->takes_pieces};
    for (int dst = WEFT_BUFFER_OUT; dst < limit; dst++) {
        if (!loaded && may_hold(schedule, i + 1, dst))
            try_step(step, base, src, dst, buffers, &best[i + 1][dst]);
        if (!loaded || !may_hold(schedule, i + 2, dst)) continue;
        const bool remote = weft_step_stays_remote(x);
        if (remote) try_remote(base, src, dst, &best[i + 2][dst]);
        for (int arrived = WEFT_BUFFER_OUT; arrived < limit && !remote; arrived++)
            if (may_hold(schedule, i + 1, arrived))
                try_both(x, base, src, dst, arrived, buffers, &best[i + 2][dst]);
    }
}

static void fill_table(const weft_schedule_request *request, const weft_schedule *schedule,
                       int workspaces, table best) {
    int limit = WEFT_BUFFER_WORKSPACE + workspaces;
    for (int i = 0; i <= schedule->steps; i++)
        for (int b = 0; b < WEFT_BUFFER_STAGE_SEND; b++) best[i][b].cost = COST_IMPOSSIBLE;
    best[0][schedule->in_place ? WEFT_BUFFER_OUT : WEFT_BUFFER_IN].cost = 0;
    for (int i = 0; i < schedule->steps; i++)
        for (int src = 0; src < limit; src++)
            if (best[i][src].cost < COST_IMPOSSIBLE)
                try_from(request, schedule, i, src, limit, best);
}

/* How this rank's own block gets through an exchange, `loaded_into` being where the next step
 * stores that loads it, or -1. */
static weft_own_block own_block(const weft_step *step, int loaded_into) {
    if (loaded_into >= 0 && !weft_step_stays_remote(&step->as.exchange) && step->src != step->dst &&
        step->src != loaded_into)
        return WEFT_OWN_STAYS;
    return step->src == step->dst ? WEFT_OWN_PACKED : WEFT_OWN_COPIED;
}

/* Writes the cheapest way to end in `buffer` into the steps. */
static void trace_back(weft_schedule *schedule, table best, int buffer) {
    for (int i = schedule->steps; i > 0; i--) {
        weft_step *step = &schedule->step[i - 1];
        const choice *c = &best[i][buffer];
        const int loaded_into = c->two_steps ? buffer : -1;
        step->dst = buffer;
        if (c->two_steps) {
            step->src = c->arrived;
            step = &schedule->step[--i - 1];
            step->dst = c->arrived;
        }
        step->src = c->src;
        buffer = c->src;
        if (step->kind != WEFT_STEP_EXCHANGE) continue;
        step->as.exchange.send = c->send;
        step->as.exchange.receive = c->receive;
        step->as.exchange.own = own_block(step, loaded_into);
    }
}

/* Copies from a buffer to itself. */
static void drop_copies(weft_schedule *schedule) {
    int kept = 0;
    for (int i = 0; i < schedule->steps; i++) {
        const weft_step *step = &schedule->step[i];
        if (step->kind == WEFT_STEP_COPY && step->as.copy.optional && step->src == step->dst)
            continue;
        if (kept < i) schedule->step[kept] = *step;
        kept++;
    }
    schedule->steps = kept;
}

static void add_final_copy(weft_schedule *schedule) {
    const weft_step *before = &schedule->step[schedule->steps - 1];
    const weft_copy_step copy = {.copy = weft_copy_of_run(before->dst_bytes, 1),
                                 .transfer = WEFT_DEVICE_TO_DEVICE};
    schedule->step[schedule->steps++] = (weft_step){.kind = WEFT_STEP_COPY,
                                                    .src = before->dst,
                                                    .dst = WEFT_BUFFER_OUT,
                                                    .src_bytes = before->dst_bytes,
                                                    .dst_bytes = before->dst_bytes,
                                                    .bytes_moved = 2 * before->dst_bytes,
                                                    .as.copy = copy};
}

void weft_schedule_need(weft_schedule *schedule, int buffer, int64_t bytes) {
    if (buffer >= 0 && (size_t)bytes > schedule->buffer_bytes[buffer])
        schedule->buffer_bytes[buffer] = (size_t)bytes;
}

/* What an exchange reads and writes in local memory: blocks packed and unpacked or copied from
 * partners, and this rank's own one. */
static int64_t copied_bytes(const weft_exchange_step *x) {
    const weft_redistribution *r = &x->geometry;
    const bool reads = x->method->carrier == WEFT_CARRIED_BY_READERS;
    const bool arrives = r->unpack || (reads && !weft_step_stays_remote(x));
    int64_t elements = 0;
    for (int m = 0; m < r->members; m++) {
        if (m == r->me) continue;
        elements += r->pack ? r->send[m].elements : 0;
        elements += arrives ? r->receive[m].elements : 0;
    }
    if (x->own != WEFT_OWN_STAYS && (arrives || !reads)) elements += r->send[r->me].elements;
    return 2 * elements * (int64_t)r->element_bytes;
}

/* The packed layout, and the size of the buffers. */
static void complete_exchange(weft_schedule *schedule, weft_step *step) {
    weft_exchange_step *x = &step->as.exchange;
    weft_redistribution *r = &x->geometry;
    const int64_t element = (int64_t)r->element_bytes;
    const bool own_packed = x->own == WEFT_OWN_PACKED;
    if (x->method->carrier == WEFT_CARRIED_BY_READERS)
        schedule->shared[step->src - WEFT_BUFFER_WORKSPACE] = true;
    if (x->loaded && !weft_step_stays_remote(x) && x->own != WEFT_OWN_STAYS)
        weft_schedule_load_own_copy(x, &step[1].as.fft);
    x->packing = (weft_packing){.pack = r->pack,
                                .unpack = r->unpack,
                                .own_send = own_packed && r->pack,
                                .own_receive = own_packed && !r->pack,
                                .whole = x->staged && x->method->gathers};
    weft_redistribution_lay_out(r, x->packing);
    if (r->pack) weft_schedule_need(schedule, x->send, r->send_elements * element);
    if (r->unpack) weft_schedule_need(schedule, x->receive, r->receive_elements * element);
    step->bytes_moved = copied_bytes(x);
}

static void complete(weft_schedule *schedule) {
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        weft_schedule_need(schedule, step->src, step->src_bytes);
        weft_schedule_need(schedule, step->dst, step->dst_bytes);
        if (step->kind == WEFT_STEP_FFT) step->as.fft.transform.in_place = step->src == step->dst;
        if (step->kind == WEFT_STEP_EXCHANGE) complete_exchange(schedule, step);
    }
}

static int workspace_cost(const weft_machine_buffers *price, int count) {
    return count <= 0 ? 0 : price->workspace * count + (count > 2 ? price->third : 0);
}

/* The copy at the end is for in place only, where a single pass cannot write over what it reads. */
weft_status weft_schedule_assign_buffers(const weft_schedule_request *request,
                                         weft_schedule *schedule) {
    const weft_machine_buffers *price = &weft_request_machine(request)->buffers;
    table best;
    int chosen = -1, chosen_cost = COST_IMPOSSIBLE, chosen_end = WEFT_BUFFER_OUT;
    for (int k = 0; k <= WEFT_MAX_WORKSPACES; k++) {
        fill_table(request, schedule, k, best);
        for (int end = WEFT_BUFFER_OUT; end < WEFT_BUFFER_WORKSPACE + k; end++) {
            if (end != WEFT_BUFFER_OUT && (!schedule->in_place || output_is_converted(schedule)))
                break;
            int cost = best[schedule->steps][end].cost +
                       workspace_cost(price, k - request->held.workspaces) +
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
    fill_table(request, schedule, chosen, best);
    trace_back(schedule, best, chosen_end);
    drop_copies(schedule);
    if (chosen_end != WEFT_BUFFER_OUT) add_final_copy(schedule);
    complete(schedule);
    return WEFT_SUCCESS;
}
