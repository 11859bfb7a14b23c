/*
 * Exchanges in parts, so that transforms work on one part while another travels. The parts share
 * out an axis that the exchange leaves whole, or split as it is, and that the transforms right
 * before and after it do not transform: what one part needs is then one part of the array before.
 *
 * A transform next to an exchange goes in the same parts. One between two exchanges goes with the
 * first, in the direction of the data. It does so whatever the method and the buffers, for engines
 * may round otherwise when they do less at once.
 */
#include "plan/schedule.h"

/* The transform next to step i, with nothing between them but a copy that is dropped where the
 * transform can store into a workspace. */
static weft_step *transform_next_to(weft_schedule *schedule, int i, int direction) {
    for (i += direction; i >= 0 && i < schedule->steps; i += direction) {
        weft_step *step = &schedule->step[i];
        if (step->kind == WEFT_STEP_FFT) return step;
        if (step->kind != WEFT_STEP_COPY || !step->optional) return NULL;
    }
    return NULL;
}

static bool transforms_axis(const weft_step *fft, int axis) {
    for (int d = 0; fft && d < fft->transform.dims; d++)
        if (fft->axis[d] == axis) return true;
    return false;
}

/* The slowest axis in memory that can be shared out into so many parts, or the longest one; the
 * same for all members. -1: none. */
static int free_axis(const weft_schedule_request *request, const weft_step *step,
                     const weft_step *before, const weft_step *after) {
    const weft_chain *chain = request->chain;
    const weft_distribution *from = &chain->segment[step->redistribution].out;
    const weft_distribution *to = &chain->segment[step->redistribution + 1].in;
    const weft_redistribution *r = &step->exchange;
    int found = -1;
    if (from->boxes || to->boxes) return -1;
    for (int i = 0; i < chain->axes; i++) {
        int a = r->wire[i];
        if (from->split_by[a] != to->split_by[a] || transforms_axis(before, a) ||
            transforms_axis(after, a))
            continue;
        if (found < 0 || r->src_box.n[a] > r->src_box.n[found]) found = a;
        if (r->src_box.n[found] >= request->chunks) return found;
    }
    return found;
}

/* The transform goes in the exchange's parts, unless it has others already. Engines may want real
 * data aligned as complex numbers are, so its parts begin at even places. */
static bool split_transform(const weft_step *exchange, const weft_region *box, weft_step *fft) {
    int loop = 0;
    if (!fft || fft->chunks > 1) return false;
    const weft_transform *t = &fft->transform;
    for (int a = 0; a < exchange->chunk_axis; a++)
        if (!transforms_axis(fft, a) && box->n[a] != 1) loop++;
    if ((t->kind == WEFT_TRANSFORM_R2C && t->loop[loop].in_stride % 2 != 0) ||
        (t->kind == WEFT_TRANSFORM_C2R && t->loop[loop].out_stride % 2 != 0))
        return false;
    fft->chunks = exchange->chunks;
    fft->chunk_loop = loop;
    return true;
}

void weft_schedule_chunk(const weft_schedule_request *request, weft_schedule *schedule) {
    if (request->chunks < 2) return;
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        if (step->kind != WEFT_STEP_EXCHANGE) continue;
        weft_step *before = transform_next_to(schedule, i, -1);
        weft_step *after = transform_next_to(schedule, i, 1);
        int axis = free_axis(request, step, before, after);
        int64_t n = axis < 0 ? 0 : step->exchange.src_box.n[axis];
        if (n < 2) continue;
        step->chunks = n < request->chunks ? (int)n : request->chunks;
        step->chunk_axis = axis;
        step->parts_before = split_transform(step, &step->exchange.src_box, before);
        step->parts_after = split_transform(step, &step->exchange.dst_box, after);
        /* A part of a contiguous block need not be one. */
        if (!step->method->shared && !step->method->datatypes)
            step->exchange.pack = step->exchange.unpack = true;
    }
}

/* Whether the exchange stores into this buffer. */
static bool is_filled(const weft_step *exchange, int buffer) {
    return buffer == exchange->dst || buffer == exchange->send || buffer == exchange->receive;
}

/* A transform next to an exchange may work on some parts while others travel, unless it stores
 * where the exchange still reads, or reads where the exchange stores. In place it touches nothing
 * but the part it works on. */
void weft_schedule_overlap(weft_schedule *schedule) {
    for (int i = 1; i + 1 < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        const weft_step *before = step - 1, *after = step + 1;
        if (step->kind != WEFT_STEP_EXCHANGE || step->chunks < 2 || step->src == step->dst ||
            step->receive == step->src)
            continue;
        step->overlaps_before = step->parts_before && before->kind == WEFT_STEP_FFT &&
                                (before->src == before->dst || !is_filled(step, before->src));
        step->overlaps_after =
            step->parts_after && after->kind == WEFT_STEP_FFT &&
            (after->src == after->dst ||
             (after->dst != step->src && after->dst != step->send && after->dst != step->receive));
    }
}
