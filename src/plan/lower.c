/* From the steps of a schedule to tasks. */
#include "plan/lower.h"

#include "support/error.h"
#include "support/recorder.h"

#include <stdlib.h>

typedef struct lowering {
    const weft_schedule *schedule;
    const weft_device_ops *device;
    weft_lowered *out;
} lowering;

static weft_task task_of(int step, weft_task_kind kind, weft_phase phase) {
    return (weft_task){.kind = kind,
                       .lane = WEFT_LANE_COMPUTE,
                       .step = step,
                       .phase = phase,
                       .partner = WEFT_NO_PARTNER,
                       .after = -1};
}

/* So many bytes at the beginning of a buffer. */
static weft_access access_of_run(int buffer, int64_t bytes, bool writes) {
    return (weft_access){.buffer = buffer,
                         .writes = writes,
                         .element_bytes = 1,
                         .view = {.axes = 1, .n = {bytes}, .stride = {1}}};
}

/* ---- transforms ---- */

/* A transform that is restricted to indices first to first + n - 1 of one loop; loop < 0: whole. */
typedef struct share {
    int loop;
    int64_t first, n;
} share;

/* Elements of a dimension on one side: half spectra have fewer. */
static int64_t extent(const weft_transform *t, int d, bool output) {
    const weft_transform_kind halved = output ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2R;
    const bool half = t->kind == halved && d == t->dims - 1 && !t->round_trip;
    return half ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

static void add_axis(weft_view *view, int64_t n, int64_t stride) {
    view->n[view->axes] = n;
    view->stride[view->axes++] = stride;
}

static weft_access side_of(const weft_step *step, share tile, bool output) {
    const weft_transform *t = &step->transform;
    weft_access a = {.buffer = output ? step->dst : step->src,
                     .writes = output || t->destroy_input,
                     .element_bytes = weft_transform_element_bytes(t, output)};
    for (int d = 0; d < t->dims; d++)
        add_axis(&a.view, extent(t, d, output),
                 output ? t->dim[d].out_stride : t->dim[d].in_stride);
    for (int l = 0; l < t->loops; l++) {
        const int64_t stride = output ? t->loop[l].out_stride : t->loop[l].in_stride;
        if (l == tile.loop) a.view.offset = tile.first * stride;
        add_axis(&a.view, l == tile.loop ? tile.n : t->loop[l].n, stride);
    }
    return a;
}

static weft_access piece_of(const weft_step *step, share tile, bool output, const weft_piece *piece,
                            int buffer) {
    const weft_transform *t = &step->transform;
    const int along = output ? t->out_pieces.dim : t->in_pieces.dim;
    weft_access a = {.buffer = buffer,
                     .writes = output,
                     .element_bytes = weft_transform_element_bytes(t, output)};
    a.view.offset = piece->offset;
    for (int d = 0; d < t->dims; d++)
        add_axis(&a.view, d == along ? piece->n : extent(t, d, output), piece->dim_stride[d]);
    for (int l = 0; l < t->loops; l++) {
        if (l == tile.loop) a.view.offset += tile.first * piece->loop_stride[l];
        add_axis(&a.view, l == tile.loop ? tile.n : t->loop[l].n, piece->loop_stride[l]);
    }
    return a;
}

/* What a transform loads where an exchange left it: what arrived and this rank's own block, or
 * partners' arrays. */
static void add_loaded(lowering *l, const weft_step *step, share tile,
                       const weft_exchange_lowering *x, bool remote) {
    weft_tasks *tasks = &l->out->tasks;
    const weft_step *exchange = step - 1;
    const weft_piece *list = remote && step->far_piece ? step->far_piece : step->in_piece;
    const int members = exchange->exchange.members, me = exchange->exchange.me;
    for (int p = 0; p < step->transform.in_pieces.count; p++) {
        const int array = list[p].array;
        const bool own = remote ? array == me : array == WEFT_LOADED_OWN;
        if (own || !remote)
            weft_tasks_access(
                tasks, piece_of(step, tile, false, &list[p], own ? exchange->src : exchange->dst));
        for (int t = 0; remote && !own && t < x->produced; t++)
            weft_tasks_access(
                tasks, weft_access_all(x->partners.first_buffer + t * members + array, false));
    }
    if (!remote) {
        weft_tasks_array(tasks, exchange->dst);
        weft_tasks_array(tasks, exchange->src);
    }
    for (int m = 0; m < members && remote; m++)
        weft_tasks_array(tasks, m == me ? exchange->src : x->partners.first_buffer + m);
}

/* A part beyond what the caller's array holds touches nothing of it, and gets its beginning: some
 * devices take no address that lies outside of an array. */
static int64_t offset_of(const weft_step *step, share tile, bool output) {
    const weft_transform *t = &step->transform;
    const weft_fused_operators *side = output ? &t->store : &t->load;
    if (tile.loop < 0 || (output ? step->out_piece : step->in_piece)) return 0;
    if (side->list && tile.first >= side->layout.stored.n[side->loop_axis[tile.loop]]) return 0;
    return tile.first * (output ? t->loop[tile.loop].out_stride : t->loop[tile.loop].in_stride) *
           (int64_t)weft_transform_element_bytes(t, output);
}

/* Tile k of a transform; x is the exchange before it, if there is one. */
static void add_fft(lowering *l, int number, int k, const weft_exchange_lowering *x) {
    weft_tasks *tasks = &l->out->tasks;
    const weft_step *step = &l->schedule->step[number];
    const bool remote =
        step->in_piece && (k >= step->chunks - step->far_chunks || weft_step_leaves_data(step - 1));
    weft_task task = task_of(number, WEFT_TASK_FFT, WEFT_PHASE_FFT);
    share tile = {.loop = -1};
    if (weft_step_is_empty(step)) return;
    if (step->chunks > 1) {
        tile.loop = step->chunk_loop;
        weft_split(step->transform.loop[tile.loop].n, step->chunks, k, &tile.first, &tile.n);
        if (tile.n == 0) return;
    }
    task.tile = k;
    if (remote && step->far_chunks > 0) task.lane = WEFT_LANE_LOW_PRIORITY;
    task.as.fft = (weft_fft_task){.first = tile.first,
                                  .n = tile.n,
                                  .from_partners = remote,
                                  .src = step->src,
                                  .dst = step->dst,
                                  .in_offset = offset_of(step, tile, false),
                                  .out_offset = offset_of(step, tile, true)};
    weft_tasks_add(tasks, task);
    if (step->in_piece)
        add_loaded(l, step, tile, x, remote);
    else
        weft_tasks_access(tasks, side_of(step, tile, false));
    for (int p = 0; p < step->transform.out_pieces.count; p++)
        weft_tasks_access(tasks, piece_of(step, tile, true, &step->out_piece[p], step->dst));
    if (!step->out_piece) weft_tasks_access(tasks, side_of(step, tile, true));
}

/* ---- copies and pointwise operators ---- */

static void add_copy(lowering *l, int number) {
    const weft_step *step = &l->schedule->step[number];
    const weft_copy *c = &step->copy;
    weft_access from = {.buffer = step->src, .element_bytes = c->element_bytes}, to = from;
    if (c->elements == 0) return;
    to.buffer = step->dst;
    from.view.offset = c->src_offset;
    to.view.offset = c->dst_offset;
    for (int a = 0; a < c->axes; a++) {
        add_axis(&from.view, c->n[a], c->src_stride[a]);
        add_axis(&to.view, c->n[a], c->dst_stride[a]);
    }
    weft_tasks_add_copy(&l->out->tasks, task_of(number, WEFT_TASK_COPY, WEFT_PHASE_COPY),
                        step->transfer, from, to);
}

static void add_pointwise(lowering *l, int number) {
    const weft_step *step = &l->schedule->step[number];
    if (step->dst_bytes == 0) return;
    weft_tasks_add(&l->out->tasks, task_of(number, WEFT_TASK_POINTWISE, WEFT_PHASE_LOCAL));
    weft_tasks_access(&l->out->tasks, access_of_run(step->src, step->src_bytes, false));
    weft_tasks_access(&l->out->tasks, access_of_run(step->dst, step->dst_bytes, true));
}

/* ---- exchanges ---- */

/* The tile of the redistribution that is made of tile `produced` and goes into tile `consumed`. */
static weft_status restrict_tile(const weft_step *step, weft_exchange_tile *tile) {
    const weft_redistribution *whole = &step->exchange;
    const weft_partition *made = &step->made, *taken = &step->taken;
    weft_redistribution row;
    if (made->parts == 1)
        return weft_redistribution_restrict(whole, taken->parts > 1 ? taken->axis : 0, taken->parts,
                                            tile->consumed, &tile->geometry);
    if (taken->parts == 1 || taken->axis == made->axis)
        return weft_redistribution_restrict(whole, made->axis, made->parts, tile->produced,
                                            &tile->geometry);
    WEFT_TRY(weft_redistribution_restrict(whole, made->axis, made->parts, tile->produced, &row));
    weft_status status = weft_redistribution_restrict(&row, taken->axis, taken->parts,
                                                      tile->consumed, &tile->geometry);
    weft_redistribution_release(&row);
    return status;
}

static weft_status make_tile(const weft_step *step, weft_exchange_lowering *x, int k) {
    weft_exchange_tile *tile = &x->tile[k];
    const int64_t element = (int64_t)step->exchange.element_bytes;
    tile->produced = step->made.parts > 1 ? k % step->made.parts : 0;
    tile->consumed = step->made.axis == step->taken.axis ? k : k / step->made.parts;
    WEFT_TRY(restrict_tile(step, tile));
    weft_redistribution_lay_out(&tile->geometry, step->packing);
    if (k > 0 && !step->packing.whole) {
        tile->send_base = tile[-1].send_base + tile[-1].geometry.send_elements * element;
        tile->receive_base = tile[-1].receive_base + tile[-1].geometry.receive_elements * element;
    }
    return WEFT_SUCCESS;
}

/* Lanes of copies from partners. On a device several partners are read at once: if each rank read
 * from one after the other, two would now and then read from the same one, at half the speed of its
 * link, while nobody reads from another. */
static int links_of(const lowering *l, const weft_step *step) {
    const int least = weft_step_in_parts(step) ? 1 : 0, partners = step->exchange.members - 1;
    if (!step->method->shared || l->device->host_addressable) return least;
    return partners < least ? least : partners < WEFT_LINKS ? partners : WEFT_LINKS;
}

static weft_status begin_exchange(lowering *l, int number, weft_exchange_lowering *x) {
    const weft_step *step = &l->schedule->step[number];
    const bool tiled = weft_step_in_parts(step);
    const int members = step->exchange.members, tiles = weft_step_parts(step);
    *x = (weft_exchange_lowering){.step = number,
                                  .redistribution = step->redistribution,
                                  .src = step->src,
                                  .send = step->send,
                                  .receive = step->receive,
                                  .dst = step->dst,
                                  .staged = step->staged,
                                  .own = step->own_direct  ? WEFT_OWN_COPIED
                                         : step->own_stays ? WEFT_OWN_STAYS
                                                           : WEFT_OWN_PACKED,
                                  .lane = tiled ? WEFT_LANE_LINK : WEFT_LANE_COMPUTE,
                                  .links = links_of(l, step),
                                  .produced = step->made.parts,
                                  .consumed = step->taken.parts,
                                  .produced_axis = step->made.axis,
                                  .tile = calloc((size_t)tiles, sizeof *x->tile),
                                  .tiles = tiles,
                                  .partners = {.opened = -1,
                                               .signalled = -1,
                                               .last_copy = calloc((size_t)members, sizeof(int)),
                                               .last_await = calloc((size_t)members, sizeof(int))}};
    if (!x->tile || !x->partners.last_copy || !x->partners.last_await)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's exchanges");
    for (int k = 0; k < tiles; k++) WEFT_TRY(make_tile(step, x, k));
    if (!step->method->shared) return WEFT_SUCCESS;
    const bool loads = step + 1 < l->schedule->step + l->schedule->steps;
    x->partners.copied =
        weft_step_leaves_data(step) ? 0 : x->consumed - (loads ? step[1].far_chunks : 0);
    x->partners.peer = l->out->peers;
    x->partners.first_buffer = l->out->buffers;
    l->out->buffers += members * x->produced;
    l->out->peer_step[l->out->peers++] = number;
    return WEFT_SUCCESS;
}

static void end_exchange(weft_exchange_lowering *x) {
    for (int k = 0; k < x->tiles && x->tile; k++) weft_redistribution_release(&x->tile[k].geometry);
    free(x->tile);
    free(x->partners.last_copy);
    free(x->partners.last_await);
    *x = (weft_exchange_lowering){0};
}

/* ---- the list ---- */

static weft_step *step_at(const lowering *l, int number) {
    return number >= 0 && number < l->schedule->steps ? &l->schedule->step[number] : NULL;
}

/* Whether the tiles of a transform alternate with those of the exchange behind it, or before it.
 * Not where one stores what the other still reads: then the list, which must be right one task
 * after the other, has all of the one before all of the other. */
static bool alternates(const lowering *l, int exchange, bool before) {
    const weft_step *step = step_at(l, exchange);
    if (!step || step->kind != WEFT_STEP_EXCHANGE || !weft_step_in_parts(step)) return false;
    return before ? step->overlaps_before : step->overlaps_after;
}

/* On devices whose work goes on by itself the calling thread waits between steps of different
 * kinds, so that the phases are told apart; not where exchanges go in tiles, to overlap with the
 * transforms next to them. Messages of devices are waited for in any case. */
static bool waits_before(const lowering *l, int number) {
    const weft_step *step = &l->schedule->step[number];
    if (l->device->host_addressable || number == 0) return false;
    const weft_step *before = step - 1;
    if (before->kind == WEFT_STEP_EXCHANGE)
        return before->method->by_device && !weft_step_in_parts(before);
    if (alternates(l, number, true)) return false;
    return step->kind != before->kind;
}

static void add_departures(lowering *l, weft_exchange_lowering *x, int produced) {
    const weft_exchange_ops *method = l->schedule->step[x->step].method;
    for (int k = 0; k < x->tiles; k++)
        if (x->tile[k].produced == produced) method->depart(x, &x->tile[k], &l->out->tasks);
}

static void add_arrivals(lowering *l, weft_exchange_lowering *x, int consumed) {
    const weft_exchange_ops *method = l->schedule->step[x->step].method;
    for (int k = 0; k < x->tiles; k++)
        if (x->tile[k].consumed == consumed) method->arrive(x, &x->tile[k], &l->out->tasks);
}

static void finish_exchange(lowering *l, weft_exchange_lowering *x) {
    const weft_exchange_ops *method = x->tile ? l->schedule->step[x->step].method : NULL;
    if (method && method->finish) method->finish(x, &l->out->tasks);
    end_exchange(x);
}

/* A step, and the tiles of an exchange that come between its tiles: behind each tile of a transform
 * what leaves of it; before each tile what arrives for it. `arriving` is the exchange before the
 * step, `leaving` the one that is the next step. */
static void add_transform(lowering *l, int number, weft_exchange_lowering *arriving,
                          weft_exchange_lowering *leaving) {
    const weft_step *step = &l->schedule->step[number];
    const bool from = alternates(l, number - 1, false);
    const bool to = alternates(l, number + 1, true);
    for (int k = 0; k < step->chunks; k++) {
        if (from) add_arrivals(l, arriving, k);
        add_fft(l, number, k, arriving);
        if (to) add_departures(l, leaving, k);
    }
}

static weft_status add_step(lowering *l, int number, weft_exchange_lowering *arriving,
                            weft_exchange_lowering *leaving) {
    const weft_step *step = &l->schedule->step[number];
    switch (step->kind) {
    case WEFT_STEP_FFT:
        add_transform(l, number, arriving, leaving);
        break;
    case WEFT_STEP_COPY:
        add_copy(l, number);
        break;
    case WEFT_STEP_POINTWISE:
        add_pointwise(l, number);
        break;
    case WEFT_STEP_EXCHANGE:
        for (int k = 0; k < arriving->produced && !alternates(l, number, true); k++)
            add_departures(l, arriving, k);
        for (int k = 0; k < arriving->consumed && !alternates(l, number, false); k++)
            add_arrivals(l, arriving, k);
        return l->out->tasks.status;
    }
    finish_exchange(l, arriving);
    return l->out->tasks.status;
}

/* The first task of a step on the device is the one that waits. */
static void set_wait(lowering *l, int number, int first) {
    weft_tasks *tasks = &l->out->tasks;
    while (first < tasks->count && !weft_lane_of_device(tasks->task[first].lane)) first++;
    if (first < tasks->count) tasks->task[first].waits = waits_before(l, number);
}

static weft_status add_steps(lowering *l, weft_exchange_lowering *arriving,
                             weft_exchange_lowering *leaving) {
    for (int i = 0; i < l->schedule->steps; i++) {
        const weft_step *next = step_at(l, i + 1);
        const int first = l->out->tasks.count;
        if (l->schedule->step[i].kind == WEFT_STEP_EXCHANGE) {
            finish_exchange(l, arriving);
            if (i == 0) WEFT_TRY(begin_exchange(l, 0, leaving));
            *arriving = *leaving;
            *leaving = (weft_exchange_lowering){0};
        }
        if (next && next->kind == WEFT_STEP_EXCHANGE) WEFT_TRY(begin_exchange(l, i + 1, leaving));
        WEFT_TRY(add_step(l, i, arriving, leaving));
        set_wait(l, i, first);
    }
    finish_exchange(l, arriving);
    return l->out->tasks.status;
}

/* Messages between two ranks are told apart by their order alone, so a rank begins all that it
 * sends in the order of the list, and all that it receives; so do groups of ranks with what they
 * exchange at once. What the sender sends begins with the copy that packs it. */
static void keep_order(weft_tasks *tasks) {
    int sent = -1, received = -1, exchanged = -1;
    for (int t = 0; t < tasks->count; t++) {
        weft_task *task = &tasks->task[t];
        const weft_task_kind kind = task->kind;
        const bool all = kind == WEFT_TASK_ALLTOALL || kind == WEFT_TASK_DEVICE_MESSAGES;
        if (kind != WEFT_TASK_SEND && kind != WEFT_TASK_RECEIVE && !all) continue;
        int *last = all ? &exchanged : kind == WEFT_TASK_SEND ? &sent : &received;
        task->after = *last;
        if (task->lane == WEFT_LANE_SENDER && task->as.message.packed >= 0)
            tasks->task[task->as.message.packed].after = *last;
        *last = t;
    }
}

/* Numbers the messages that are sent and those that are received, and sums up. */
static void count_tasks(lowering *l) {
    int number[WEFT_TASK_AWAIT + 1] = {0};
    for (int t = 0; t < l->out->tasks.count; t++) {
        weft_task *task = &l->out->tasks.task[t];
        l->out->lanes |= 1 << task->lane;
        if (task->kind == WEFT_TASK_SEND || task->kind == WEFT_TASK_RECEIVE)
            task->as.message.request = number[task->kind]++;
    }
    for (int i = 0; i < l->schedule->steps; i++) {
        l->out->bytes_sent += l->schedule->step[i].bytes_sent;
        l->out->messages_sent += l->schedule->step[i].messages_sent;
    }
}

weft_status weft_schedule_lower(const weft_schedule *schedule, const weft_device_ops *device,
                                weft_lowered *lowered) {
    lowering l = {schedule, device, lowered};
    weft_exchange_lowering arriving = {0}, leaving = {0};
    *lowered = (weft_lowered){.buffers = WEFT_BUFFERS,
                              .peer_step = calloc((size_t)schedule->steps + 1, sizeof(int))};
    weft_status status = lowered->peer_step
                             ? add_steps(&l, &arriving, &leaving)
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's tasks");
    end_exchange(&arriving);
    end_exchange(&leaving);
    keep_order(&lowered->tasks);
    count_tasks(&l);
    return status;
}

void weft_lowered_release(weft_lowered *lowered) {
    weft_tasks_release(&lowered->tasks);
    free(lowered->peer_step);
    *lowered = (weft_lowered){0};
}
