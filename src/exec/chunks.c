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

static bool same_transform(const weft_transform *a, const weft_transform *b) {
    bool same =
        a->in_pieces.count + a->out_pieces.count + b->in_pieces.count + b->out_pieces.count == 0 &&
        a->kind == b->kind && a->direction == b->direction && a->dims == b->dims &&
        a->loops == b->loops && a->in_place == b->in_place && a->destroy_input == b->destroy_input;
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

weft_status weft_build_transform(weft_build *b, int s, int i) {
    const weft_step *step = &b->schedule[s].step[i];
    weft_transform t = step->transform;
    int64_t first, longer, shorter;
    if (weft_step_is_empty(step)) return WEFT_SUCCESS;
    if (step->chunks == 1) return find_or_plan(b, &t, &b->transform[s][i][0]);
    weft_dimension *loop = &t.loop[step->chunk_loop];
    weft_split(loop->n, step->chunks, 0, &first, &longer);
    weft_split(loop->n, step->chunks, step->chunks - 1, &first, &shorter);
    loop->n = longer;
    WEFT_TRY(find_or_plan(b, &t, &b->transform[s][i][0]));
    loop->n = shorter;
    return shorter == 0 ? WEFT_SUCCESS : find_or_plan(b, &t, &b->transform[s][i][1]);
}

weft_status weft_build_run_transform(weft_build *b, int s, int i, int part, const void *in,
                                     void *out) {
    const weft_step *step = &b->schedule[s].step[i];
    const weft_transform *t = &step->transform;
    weft_engine_plan *const *plan = b->transform[s][i];
    if (!plan[0]) return WEFT_SUCCESS; /* nothing here */
    if (step->chunks == 1) return b->engine->execute(plan[0], &b->device, NULL, in, out);
    const weft_dimension *loop = &t->loop[step->chunk_loop];
    int64_t first, longer, n;
    weft_split(loop->n, step->chunks, 0, &first, &longer);
    weft_split(loop->n, step->chunks, part, &first, &n);
    if (n == 0) return WEFT_SUCCESS;
    int64_t in_bytes = first * loop->in_stride * (int64_t)weft_transform_element_bytes(t, false);
    int64_t out_bytes = first * loop->out_stride * (int64_t)weft_transform_element_bytes(t, true);
    return b->engine->execute(plan[n == longer ? 0 : 1], &b->device, NULL,
                              (const char *)in + in_bytes, (char *)out + out_bytes);
}

static weft_status make_events(weft_build *b, weft_part *part) {
    const weft_device_ops *ops = b->device.ops;
    if (!b->exchange_queue) WEFT_TRY(ops->queue_create(b->device.state, &b->exchange_queue));
    WEFT_TRY(ops->event_create(b->device.state, &part->made));
    return ops->event_create(b->device.state, &part->arrived);
}

static weft_status make_part(weft_build *b, int s, int i, int k) {
    const weft_step *step = &b->schedule[s].step[i];
    const weft_redistribution *r = &step->exchange;
    weft_part *part = &b->part[s][i][k];
    int64_t element = (int64_t)r->element_bytes;
    WEFT_TRY(weft_redistribution_restrict(r, step->chunk_axis, step->chunks, k, &part->geometry));
    weft_redistribution_lay_out(&part->geometry, step->packing);
    if (k > 0 && !step->packing.whole) {
        const weft_part *before = part - 1;
        part->send_offset = before->send_offset + before->geometry.send_elements * element;
        part->receive_offset = before->receive_offset + before->geometry.receive_elements * element;
    }
    return make_events(b, part);
}

weft_status weft_build_parts(weft_build *b, int s, int i) {
    const weft_step *step = &b->schedule[s].step[i];
    weft_part *parts = calloc((size_t)step->chunks, sizeof *parts);
    if (!parts) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's exchanges");
    b->part[s][i] = parts;
    b->memory.tables += (size_t)step->chunks * sizeof *parts;
    parts[0].geometry = step->exchange;
    for (int k = 0; step->chunks > 1 && k < step->chunks; k++) WEFT_TRY(make_part(b, s, i, k));
    return WEFT_SUCCESS;
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
    for (int k = 0; b->part[s][i] && k < step->chunks; k++) {
        weft_part *part = &b->part[s][i][k];
        if (part->exchange.ops) part->exchange.ops->release(&part->exchange);
        if (part->made) b->device.ops->event_destroy(b->device.state, part->made);
        if (part->arrived) b->device.ops->event_destroy(b->device.state, part->arrived);
        if (part->geometry.send != step->exchange.send)
            weft_redistribution_release(&part->geometry);
    }
    free(b->part[s][i]);
}
