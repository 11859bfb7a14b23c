/* From the steps of a schedule to tasks. */
#include "plan/lowering.h"

#include "support/error.h"
#include "support/recorder.h"

#include <stdlib.h>

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

/* Elements of a dimension on one side: half spectra and cropped arrays have fewer. */
static int64_t extent(const weft_transform *t, int d, bool output) {
    const weft_transform_kind halved = output ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2R;
    const bool half = t->kind == halved && d == t->dims - 1 && !t->round_trip;
    const weft_fused_operators *side = output ? &t->store : &t->load;
    if (side->list && side->layout.stored.cropped) return side->layout.stored.n[side->dim_axis[d]];
    return half ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

static void add_axis(weft_view *view, int64_t n, int64_t stride) {
    view->n[view->axes] = n;
    view->stride[view->axes++] = stride;
}

/* The transform's array, or a piece of it, whose elements are `parts` numbers of the transform: the
 * last loop, over both of a complex one, is then within them. */
static weft_access side_of(const weft_step *step, share tile, bool output) {
    const weft_fft_step *fft = &step->as.fft;
    const weft_transform *t = &fft->transform;
    weft_access a = {.buffer = output ? step->dst : step->src,
                     .writes = output || t->destroy_input,
                     .element_bytes = (size_t)fft->parts * weft_transform_element_bytes(t, output)};
    for (int d = 0; d < t->dims; d++)
        add_axis(&a.view, extent(t, d, output),
                 (output ? t->dim[d].out_stride : t->dim[d].in_stride) / fft->parts);
    for (int l = 0; l < t->loops - (fft->parts - 1); l++) {
        const int64_t stride = (output ? t->loop[l].out_stride : t->loop[l].in_stride) / fft->parts;
        if (l == tile.loop) a.view.offset = tile.first * stride;
        add_axis(&a.view, l == tile.loop ? tile.n : t->loop[l].n, stride);
    }
    return a;
}

static weft_access piece_of(const weft_fft_step *fft, share tile, bool output,
                            const weft_piece *piece, int buffer) {
    const weft_transform *t = &fft->transform;
    const int along = output ? t->out_pieces.dim : t->in_pieces.dim;
    weft_access a = {.buffer = buffer,
                     .writes = output,
                     .element_bytes = (size_t)fft->parts * weft_transform_element_bytes(t, output)};
    a.view.offset = piece->offset / fft->parts;
    for (int d = 0; d < t->dims; d++)
        add_axis(&a.view, d == along ? piece->n : extent(t, d, output),
                 piece->dim_stride[d] / fft->parts);
    for (int l = 0; l < t->loops - (fft->parts - 1); l++) {
        const int64_t stride = piece->loop_stride[l] / fft->parts;
        if (l == tile.loop) a.view.offset += tile.first * stride;
        add_axis(&a.view, l == tile.loop ? tile.n : t->loop[l].n, stride);
    }
    return a;
}

/* What a transform loads where an exchange left it: what arrived and this rank's own block, or
 * partners' arrays. */
static void add_loaded(weft_lowering *l, const weft_step *step, share tile,
                       const weft_exchange_lowering *x, bool remote) {
    weft_tasks *tasks = &l->out->tasks;
    const weft_fft_step *fft = &step->as.fft;
    const weft_step *exchange = step - 1;
    const weft_redistribution *r = &exchange->as.exchange.geometry;
    const weft_piece *list = remote && fft->remote_piece ? fft->remote_piece : fft->in_piece;
    for (int p = 0; p < fft->transform.in_pieces.count; p++) {
        const int array = list[p].array;
        const bool own = array == (remote ? r->me : WEFT_LOADED_OWN);
        if (own || !remote)
            weft_tasks_access(
                tasks, piece_of(fft, tile, false, &list[p], own ? exchange->src : exchange->dst));
        for (int t = 0; remote && !own && t < x->produced; t++)
            weft_tasks_access(
                tasks, weft_access_all(x->partners.first_buffer + t * r->members + array, false));
    }
    if (!remote) {
        weft_tasks_array(tasks, exchange->dst);
        weft_tasks_array(tasks, exchange->src);
    }
    for (int m = 0; m < r->members && remote; m++)
        weft_tasks_array(tasks, m == r->me ? exchange->src : x->partners.first_buffer + m);
}

/* A tile beyond what the caller's array holds touches nothing of it, and gets its beginning: some
 * devices take no address that lies outside of an array. */
static int64_t offset_of(const weft_fft_step *fft, share tile, bool output) {
    const weft_transform *t = &fft->transform;
    const weft_fused_operators *side = output ? &t->store : &t->load;
    if (tile.loop < 0 || (output ? fft->out_piece : fft->in_piece)) return 0;
    if (side->list && tile.first >= side->layout.stored.n[side->loop_axis[tile.loop]]) return 0;
    return tile.first * (output ? t->loop[tile.loop].out_stride : t->loop[tile.loop].in_stride) *
           (int64_t)weft_transform_element_bytes(t, output);
}

/* While the calling thread computes, no message gets on: the transform after an exchange in one
 * tile begins when this rank's messages have left, as if it stored where they lie. */
static bool lets_messages_leave(const weft_lowering *l, const weft_exchange_lowering *x) {
    return l->device->host_addressable && x->tile && x->tiles == 1 &&
           l->schedule->step[x->step].as.exchange.method->carrier == WEFT_CARRIED_BY_TRANSPORT;
}

/* Tile k of a transform; x is the exchange before it, if there is one. */
static void add_fft(weft_lowering *l, int number, int k, const weft_exchange_lowering *x) {
    weft_tasks *tasks = &l->out->tasks;
    const weft_step *step = &l->schedule->step[number];
    const weft_fft_step *fft = &step->as.fft;
    const weft_pieces *stored = &fft->transform.out_pieces;
    const bool remote = fft->in_piece && (k >= fft->tiles - fft->remote_tiles ||
                                          weft_step_stays_remote(&step[-1].as.exchange));
    weft_task task = task_of(number, WEFT_TASK_FFT, WEFT_PHASE_FFT);
    share tile = {.loop = -1};
    if (weft_step_is_empty(fft)) return;
    if (fft->tiles > 1) {
        tile.loop = fft->tile_loop;
        weft_split(fft->transform.loop[tile.loop].n, fft->tiles, k, &tile.first, &tile.n);
        if (tile.n == 0) return;
    }
    task.tile = k;
    if (remote && fft->remote_tiles > 0) task.lane = WEFT_LANE_LOW_PRIORITY;
    task.as.fft = (weft_fft_task){.first = tile.first,
                                  .n = tile.n,
                                  .from_partners = remote,
                                  .src = step->src,
                                  .dst = step->dst,
                                  .in_offset = offset_of(fft, tile, false),
                                  .out_offset = offset_of(fft, tile, true)};
    weft_tasks_add(tasks, task);
    if (fft->in_piece)
        add_loaded(l, step, tile, x, remote);
    else
        weft_tasks_access(tasks, side_of(step, tile, false));
    for (int p = 0; p < stored->count; p++)
        weft_tasks_access(tasks, piece_of(fft, tile, true, &fft->out_piece[p], step->dst));
    if (stored->count == 0) weft_tasks_access(tasks, side_of(step, tile, true));
    if (lets_messages_leave(l, x)) weft_tasks_access(tasks, weft_access_all(x->send, true));
}

/* ---- copies and pointwise operators ---- */

static void add_copy(weft_lowering *l, int number) {
    const weft_step *step = &l->schedule->step[number];
    const weft_copy *c = &step->as.copy.copy;
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
                        step->as.copy.transfer, from, to);
}

/* One side of a pointwise step: the caller's array as it lies, or the box. */
static weft_access pointwise_side(const weft_step *step, bool output) {
    const weft_pointwise_layout *layout = &step->as.pointwise.layout;
    if (!layout->stored.strided || output == weft_pointwise_loads(layout))
        return access_of_run(output ? step->dst : step->src,
                             output ? step->dst_bytes : step->src_bytes, output);
    return (weft_access){.buffer = output ? step->dst : step->src,
                         .writes = output,
                         .element_bytes = weft_stored_element_bytes(layout),
                         .view = weft_stored_view(layout)};
}

static void add_pointwise(weft_lowering *l, int number) {
    const weft_step *step = &l->schedule->step[number];
    if (step->dst_bytes == 0) return;
    weft_tasks_add(&l->out->tasks, task_of(number, WEFT_TASK_POINTWISE, WEFT_PHASE_LOCAL));
    weft_tasks_access(&l->out->tasks, pointwise_side(step, false));
    weft_tasks_access(&l->out->tasks, pointwise_side(step, true));
}

/* ---- the list ---- */

/* Whether the tiles of exchange number `exchange` alternate with those of the transform before it
 * (`before`) or after it. */
static bool alternates(const weft_lowering *l, int exchange, bool before) {
    const weft_step *step = weft_lowering_step(l, exchange);
    if (!step || step->kind != WEFT_STEP_EXCHANGE) return false;
    return before ? step->as.exchange.produced.alternates : step->as.exchange.consumed.alternates;
}

/* On devices whose work goes on by itself the calling thread waits between steps of different
 * kinds, so that the phases are told apart; not where exchanges go in tiles, to overlap with the
 * transforms next to them. Messages of devices are waited for in any case. */
static bool waits_before(const weft_lowering *l, int number) {
    const weft_step *step = weft_lowering_step(l, number),
                    *before = weft_lowering_step(l, number - 1);
    if (l->device->host_addressable || !before) return false;
    if (before->kind == WEFT_STEP_EXCHANGE)
        return before->as.exchange.method->carrier == WEFT_CARRIED_BY_DEVICES &&
               !weft_step_is_tiled(&before->as.exchange);
    return !alternates(l, number, true) && step->kind != before->kind;
}

static void add_departures(weft_lowering *l, weft_exchange_lowering *x, int produced) {
    const weft_exchange_ops *method = l->schedule->step[x->step].as.exchange.method;
    for (int k = 0; k < x->tiles; k++)
        if (x->tile[k].produced == produced) method->depart(x, &x->tile[k], &l->out->tasks);
}

static void add_arrivals(weft_lowering *l, weft_exchange_lowering *x, int consumed) {
    const weft_exchange_ops *method = l->schedule->step[x->step].as.exchange.method;
    for (int k = 0; k < x->tiles; k++)
        if (x->tile[k].consumed == consumed) method->arrive(x, &x->tile[k], &l->out->tasks);
}

/* A step, and the tiles of an exchange that come between its tiles: behind each tile of a transform
 * what leaves of it; before each tile what arrives for it. `arriving` is the exchange before the
 * step, `leaving` the one that is the next step. */
static void add_transform(weft_lowering *l, int number, weft_exchange_lowering *arriving,
                          weft_exchange_lowering *leaving) {
    const weft_step *step = &l->schedule->step[number];
    const bool from = alternates(l, number - 1, false);
    const bool to = alternates(l, number + 1, true);
    for (int k = 0; k < step->as.fft.tiles; k++) {
        if (from) add_arrivals(l, arriving, k);
        add_fft(l, number, k, arriving);
        if (to) add_departures(l, leaving, k);
    }
}

static weft_status add_step(weft_lowering *l, int number, weft_exchange_lowering *arriving,
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
    weft_lowering_finish_exchange(l, arriving);
    return l->out->tasks.status;
}

/* The first task of a step on the device is the one that waits. */
static void set_wait(weft_lowering *l, int number, int first) {
    weft_tasks *tasks = &l->out->tasks;
    while (first < tasks->count && !weft_lane_of_device(tasks->task[first].lane)) first++;
    if (first < tasks->count) tasks->task[first].waits = waits_before(l, number);
}

static weft_status add_each_step(weft_lowering *l, weft_exchange_lowering *arriving,
                                 weft_exchange_lowering *leaving) {
    for (int i = 0; i < l->schedule->steps; i++) {
        const weft_step *next = weft_lowering_step(l, i + 1);
        const int first = l->out->tasks.count;
        if (l->schedule->step[i].kind == WEFT_STEP_EXCHANGE) {
            weft_lowering_finish_exchange(l, arriving);
            if (i == 0) WEFT_TRY(weft_lowering_begin_exchange(l, 0, leaving));
            *arriving = *leaving;
            *leaving = (weft_exchange_lowering){0};
        }
        if (next && next->kind == WEFT_STEP_EXCHANGE)
            WEFT_TRY(weft_lowering_begin_exchange(l, i + 1, leaving));
        WEFT_TRY(add_step(l, i, arriving, leaving));
        set_wait(l, i, first);
    }
    weft_lowering_finish_exchange(l, arriving);
    return l->out->tasks.status;
}

static weft_status add_steps(weft_lowering *l) {
    weft_exchange_lowering arriving = {0}, leaving = {0};
    const weft_status status = add_each_step(l, &arriving, &leaving);
    weft_lowering_end_exchange(&arriving);
    weft_lowering_end_exchange(&leaving);
    return status;
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

/* How many messages a task sends. */
static int messages_sent(const weft_tasks *tasks, int t) {
    const weft_task *task = &tasks->task[t];
    const bool all = task->kind == WEFT_TASK_ALLTOALL || task->kind == WEFT_TASK_DEVICE_MESSAGES;
    int count = task->kind == WEFT_TASK_SEND;
    for (int i = 0; i < task->accesses && all; i++)
        count += !weft_tasks_accessed(tasks, t, i)->writes;
    return count;
}

/* Numbers the messages that are sent and those that are received, and sums up. */
static void count_tasks(weft_lowering *l) {
    int number[WEFT_TASK_AWAIT + 1] = {0};
    for (int t = 0; t < l->out->tasks.count; t++) {
        weft_task *task = &l->out->tasks.task[t];
        l->out->lanes |= 1 << task->lane;
        l->out->messages_sent += messages_sent(&l->out->tasks, t);
        if (task->kind == WEFT_TASK_SEND || task->kind == WEFT_TASK_RECEIVE)
            task->as.message.request = number[task->kind]++;
    }
    for (int i = 0; i < l->schedule->steps; i++) {
        const weft_step *step = &l->schedule->step[i];
        if (step->kind == WEFT_STEP_EXCHANGE) l->out->bytes_sent += step->bytes_sent;
    }
}

weft_status weft_schedule_lower(const weft_schedule *schedule, const weft_device_ops *device,
                                weft_lowered *lowered) {
    weft_lowering l = {schedule, device, lowered};
    *lowered = (weft_lowered){.buffers = WEFT_BUFFERS,
                              .peer_step = calloc((size_t)schedule->steps + 1, sizeof(int))};
    weft_status status = !lowered->peer_step
                             ? weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's tasks")
                         : schedule->stream.slots > 0 ? weft_lowering_add_streamed(&l)
                                                      : add_steps(&l);
    keep_order(&lowered->tasks);
    count_tasks(&l);
    return status;
}

void weft_lowered_release(weft_lowered *lowered) {
    weft_tasks_release(&lowered->tasks);
    free(lowered->peer_step);
    *lowered = (weft_lowered){0};
}
