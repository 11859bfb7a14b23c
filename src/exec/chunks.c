/*
 * Parts of steps: a redistribution or a transform restricted to some of the indices along one axis.
 * A step that goes as a whole is one part.
 */
#include "exec/plan.h"
#include "support/error.h"

#include <stdlib.h>

static bool same_dimension(const weft_dimension *a, const weft_dimension *b) {
    return a->n == b->n && a->in_stride == b->in_stride && a->out_stride == b->out_stride;
}

/* Of one plan, so that lists are the same where their addresses are. */
static bool same_operators(const weft_fused_operators *a, const weft_fused_operators *b) {
    return a->list == b->list && a->layout.stored.storage == b->layout.stored.storage &&
           a->layout.keeps == b->layout.keeps;
}

static bool same_transform(const weft_transform *a, const weft_transform *b) {
    bool same =
        a->in_pieces.count + a->out_pieces.count + b->in_pieces.count + b->out_pieces.count == 0 &&
        a->kind == b->kind && a->direction == b->direction && a->dims == b->dims &&
        a->loops == b->loops && a->in_place == b->in_place &&
        a->destroy_input == b->destroy_input && a->round_trip == b->round_trip &&
        a->part_loop == b->part_loop && same_operators(&a->load, &b->load) &&
        same_operators(&a->spectral, &b->spectral) && same_operators(&a->store, &b->store);
    for (int i = 0; i < a->dims && same; i++) same = same_dimension(&a->dim[i], &b->dim[i]);
    for (int i = 0; i < a->loops && same; i++) same = same_dimension(&a->loop[i], &b->loop[i]);
    return same;
}

static weft_status find_or_plan(weft_build *b, const weft_transform *transform,
                                weft_engine_plan **plan) {
    for (int i = 0; i < b->ready_count; i++)
        if (same_transform(&b->ready[i].transform, transform)) {
            *plan = b->ready[i].plan;
            return WEFT_SUCCESS;
        }
    size_t bytes = 0;
    WEFT_TRY(b->engine->supports(transform, b->device.ops));
    WEFT_TRY(b->engine->plan(transform, &b->device, plan, &bytes));
    b->ready[b->ready_count++] = (weft_ready_transform){*transform, *plan};
    b->memory.tables += bytes;
    return WEFT_SUCCESS;
}

/* Longer and shorter parts. */
static weft_status plan_parts(weft_build *b, const weft_step *step, weft_transform t,
                              weft_engine_plan **plan) {
    int64_t first, longer, shorter;
    weft_dimension *loop = &t.loop[step->chunk_loop];
    t.part_loop = step->chunk_loop;
    weft_split(loop->n, step->chunks, 0, &first, &longer);
    weft_split(loop->n, step->chunks, step->chunks - 1, &first, &shorter);
    loop->n = longer;
    WEFT_TRY(find_or_plan(b, &t, &plan[0]));
    loop->n = shorter;
    return shorter == 0 ? WEFT_SUCCESS : find_or_plan(b, &t, &plan[1]);
}

weft_status weft_build_transform(weft_build *b, int s, int i) {
    const weft_step *step = &b->schedule[s].step[i];
    weft_transform t = step->transform;
    if (weft_step_is_empty(step)) return WEFT_SUCCESS;
    if (step->chunks == 1) return find_or_plan(b, &t, &b->transform[s][i][0]);
    if (step->far_chunks < step->chunks) WEFT_TRY(plan_parts(b, step, t, &b->transform[s][i][0]));
    if (step->far_chunks == 0) return WEFT_SUCCESS;
    if (!b->far_queue) WEFT_TRY(b->device.ops->queue_create(b->device.state, true, &b->far_queue));
    t.in_pieces.piece = step->far_piece;
    return plan_parts(b, step, t, &b->transform[s][i][2]);
}

/* Bytes from the beginning of an array to the part that begins with index `first` of the loop that
 * the parts share out. A part beyond what the caller's array keeps touches nothing, so it gets the
 * beginning: some devices take no address that lies outside of an array. */
static int64_t part_offset(const weft_step *step, int64_t first, bool output) {
    const weft_transform *t = &step->transform;
    const weft_dimension *loop = &t->loop[step->chunk_loop];
    const weft_fused_operators *side = output ? &t->store : &t->load;
    if (side->list && first >= side->layout.stored.n[side->loop_axis[step->chunk_loop]]) return 0;
    return first * (output ? loop->out_stride : loop->in_stride) *
           (int64_t)weft_transform_element_bytes(t, output);
}

/* From index `first` on: the array that the transform loads; or, in pieces, whole ones: partners'
 * arrays, or what arrived and this rank's own block (in *loaded). */
static const void *input_part(const weft_build *b, int s, int i, int64_t first, bool far,
                              void *const *buffer, const void **loaded) {
    const weft_step *step = &b->schedule[s].step[i];
    if (!step->in_piece) return (const char *)buffer[step->src] + part_offset(step, first, false);
    if (far || weft_step_leaves_data(step - 1)) return b->parts[s][i - 1].part->exchange.peer_src;
    loaded[WEFT_LOADED_ARRIVED] = buffer[step[-1].dst];
    loaded[WEFT_LOADED_OWN] = buffer[step[-1].src];
    return loaded;
}

weft_status weft_build_run_transform(weft_build *b, int s, int i, int part, void *const *buffer) {
    const weft_step *step = &b->schedule[s].step[i];
    const weft_transform *t = &step->transform;
    const void *loaded[WEFT_LOADED_ARRAYS];
    const bool far = part >= step->chunks - step->far_chunks;
    weft_engine_plan *const *plan = &b->transform[s][i][far ? 2 : 0];
    void *out = buffer[step->dst];
    int64_t first = 0, longer = 0, n = 0;
    if (!plan[0]) return WEFT_SUCCESS; /* nothing here */
    if (step->chunks > 1) {
        const weft_dimension *loop = &t->loop[step->chunk_loop];
        weft_split(loop->n, step->chunks, 0, &first, &longer);
        weft_split(loop->n, step->chunks, part, &first, &n);
        if (n == 0) return WEFT_SUCCESS;
        if (!step->out_piece) out = (char *)out + part_offset(step, first, true);
    }
    const void *in = input_part(b, s, i, first, far, buffer, loaded);
    weft_engine_plan *part_plan = plan[n == longer ? 0 : 1];
    if (b->engine->begin_at) b->engine->begin_at(part_plan, first, b->kept);
    return b->engine->execute(part_plan, &b->device, far ? b->far_queue : NULL, in, out);
}

/* The part of the redistribution that this one is. */
static weft_status restrict_part(const weft_step *step, weft_part *part) {
    const weft_redistribution *whole = &step->exchange;
    const weft_partition *made = &step->made, *taken = &step->taken;
    weft_redistribution row;
    if (made->parts == 1)
        return weft_redistribution_restrict(whole, taken->axis, taken->parts, part->taken,
                                            &part->geometry);
    if (taken->parts == 1 || taken->axis == made->axis)
        return weft_redistribution_restrict(whole, made->axis, made->parts, part->made,
                                            &part->geometry);
    WEFT_TRY(weft_redistribution_restrict(whole, made->axis, made->parts, part->made, &row));
    weft_status status =
        weft_redistribution_restrict(&row, taken->axis, taken->parts, part->taken, &part->geometry);
    weft_redistribution_release(&row);
    return status;
}

static weft_status make_part(weft_build *b, const weft_step *step, int queues, weft_part *part,
                             int k) {
    int64_t element = (int64_t)step->exchange.element_bytes;
    part->made = step->made.parts > 1 ? k % step->made.parts : 0;
    part->taken = step->made.axis == step->taken.axis ? k : k / step->made.parts;
    WEFT_TRY(restrict_part(step, part));
    weft_redistribution_lay_out(&part->geometry, step->packing);
    if (k > 0 && !step->packing.whole) {
        const weft_part *before = part - 1;
        part->send_offset = before->send_offset + before->geometry.send_elements * element;
        part->receive_offset = before->receive_offset + before->geometry.receive_elements * element;
    }
    for (int q = 0; q < queues; q++)
        WEFT_TRY(b->device.ops->event_create(b->device.state, &part->arrived[q]));
    return WEFT_SUCCESS;
}

/* What partners lend a device is asked of several at once, parts of all else on one queue. Each
 * reading one after the other, devices would now and then read from the same one, at half of the
 * speed of its link, while nobody reads from another. */
static int queues_for(const weft_build *b, const weft_step *step) {
    const int least = weft_step_in_parts(step) ? 1 : 0, partners = step->exchange.members - 1;
    if (!step->method->shared || b->device.ops->host_addressable || weft_step_leaves_data(step))
        return least;
    return partners < least                  ? least
           : partners < WEFT_EXCHANGE_QUEUES ? partners
                                             : WEFT_EXCHANGE_QUEUES;
}

static weft_status make_parts(weft_build *b, const weft_step *step, weft_parts *parts) {
    const weft_device_handle *d = &b->device;
    parts->made = calloc((size_t)step->made.parts, sizeof(weft_event *));
    parts->missing = calloc((size_t)step->taken.parts, sizeof *parts->missing);
    if (!parts->made || !parts->missing)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's exchanges");
    for (int k = 0; k < step->made.parts; k++)
        WEFT_TRY(d->ops->event_create(d->state, &parts->made[k]));
    for (int k = 0; k < parts->count; k++) {
        parts->part[k].geometry = step->exchange; /* until it has its own */
        WEFT_TRY(make_part(b, step, parts->queues, &parts->part[k], k));
    }
    return WEFT_SUCCESS;
}

weft_status weft_build_parts(weft_build *b, int s, int i) {
    const weft_step *step = &b->schedule[s].step[i];
    const int count = weft_step_parts(step);
    weft_parts *parts = &b->parts[s][i];
    parts->part = calloc((size_t)count, sizeof *parts->part);
    if (!parts->part)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's exchanges");
    parts->count = count;
    b->memory.tables += (size_t)count * sizeof *parts->part;
    parts->part[0].geometry = step->exchange;
    parts->queues = queues_for(b, step);
    for (int q = 0; q < parts->queues; q++)
        if (!b->exchange_queue[q])
            WEFT_TRY(b->device.ops->queue_create(b->device.state, false, &b->exchange_queue[q]));
    return count > 1 ? make_parts(b, step, parts) : WEFT_SUCCESS;
}

weft_exchange_plan *weft_build_ready_part(const weft_step *step, weft_part *part,
                                          void *const *buffer, weft_recorder *recorder) {
    weft_exchange_plan *e = &part->exchange;
    e->src = buffer[step->src];
    e->send = (char *)buffer[step->send] + part->send_offset;
    e->receive = step->receive < 0 ? NULL : (char *)buffer[step->receive] + part->receive_offset;
    e->dst = step->dst < 0 ? NULL : buffer[step->dst];
    e->recorder = recorder;
    return e;
}

void weft_build_release_parts(weft_build *b, int s, int i) {
    const weft_step *step = &b->schedule[s].step[i];
    const weft_device_handle *d = &b->device;
    weft_parts *parts = &b->parts[s][i];
    for (int k = 0; k < parts->count; k++) {
        weft_part *part = &parts->part[k];
        if (part->exchange.ops) part->exchange.ops->release(&part->exchange);
        for (int q = 0; q < WEFT_EXCHANGE_QUEUES; q++)
            if (part->arrived[q]) d->ops->event_destroy(d->state, part->arrived[q]);
        if (part->geometry.send != step->exchange.send)
            weft_redistribution_release(&part->geometry);
    }
    for (int k = 0; parts->made && k < step->made.parts; k++)
        if (parts->made[k]) d->ops->event_destroy(d->state, parts->made[k]);
    free(parts->part);
    free(parts->made);
    free(parts->missing);
    *parts = (weft_parts){0};
}
