/*
 * Exchanges in parts, so that transforms work on one part while another travels. A transform before
 * an exchange makes it part by part if it does not transform the axis that the parts share out, and
 * one after it can take a part if all of its lines are there. So the best axis is one that neither
 * of them transforms and the exchange leaves as it is (the first axis in the first exchange of a
 * pencil). A slab has none: there the axis that the exchange gathers, which is not transformed
 * before it, is shared out among the parts that the one makes, and the axis that it splits, which
 * is not transformed after it, among those that the other takes. What partners read where it lies
 * is copied in parts of both, in the order that the reader likes; messages, in parts of the larger
 * transform.
 *
 * The transforms go in their parts whatever the method and the buffers, for engines may round
 * otherwise when they do less at once. One between two exchanges goes in those of the first, in the
 * direction of the data.
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

/* Indices of the axis in the whole array, before or after the exchange. */
static int64_t extent(const weft_schedule_request *request, int axis) {
    return request->chain->segment[request->chain->segments - 1].out.n[axis];
}

static int dimensions_of(const weft_step *fft) {
    return fft ? fft->transform.dims : 0;
}

/* The axes that the parts before and after an exchange share out, the same for all members; -1:
 * none. Engines do lines that lie side by side together, so the contiguous axis is no good one. */
static void choose_axes(const weft_schedule_request *request, const weft_step *step,
                        const weft_step *before, const weft_step *after, int *made, int *taken) {
    const weft_chain *chain = request->chain;
    const bool forward = step->direction == WEFT_FORWARD;
    const weft_distribution *one = &chain->segment[step->redistribution].out;
    const weft_distribution *two = &chain->segment[step->redistribution + 1].in;
    const weft_distribution *from = forward ? one : two, *to = forward ? two : one;
    const int contiguous = step->exchange.wire[chain->axes - 1];
    int left = -1; /* as it is by all three */
    *made = *taken = -1;
    if (one->boxes || two->boxes) return;
    for (int i = 0; i < chain->axes; i++) { /* slowest first */
        int a = step->exchange.wire[i];
        bool gathered = from->split_by[a] >= 0 && to->split_by[a] < 0;
        bool split = from->split_by[a] < 0 && to->split_by[a] >= 0;
        if (extent(request, a) < 2) continue;
        if (gathered && before) *made = a;
        if (split && after) *taken = a;
        if (!gathered && !split && left < 0 && !transforms_axis(before, a) &&
            !transforms_axis(after, a))
            left = a;
    }
    if (*taken == contiguous && *made >= 0) *taken = -1;
    if (*made == contiguous && *taken >= 0) *made = -1;
    if (left >= 0 && (left != contiguous || (*made < 0 && *taken < 0))) *made = *taken = left;
}

/* The transform goes in these parts, unless it has others already. Engines may want real data
 * aligned as complex numbers are, so its parts begin at even places. */
static bool split_transform(weft_partition p, const weft_region *box, weft_step *fft) {
    int loop = 0;
    if (!fft || fft->chunks > 1 || p.parts < 2 || transforms_axis(fft, p.axis) ||
        box->n[p.axis] < 2)
        return false;
    const weft_transform *t = &fft->transform;
    for (int a = 0; a < p.axis; a++)
        if (!transforms_axis(fft, a) && box->n[a] != 1) loop++;
    if ((t->kind == WEFT_TRANSFORM_R2C && t->loop[loop].in_stride % 2 != 0) ||
        (t->kind == WEFT_TRANSFORM_C2R && t->loop[loop].out_stride % 2 != 0))
        return false;
    fft->chunks = p.parts;
    fft->chunk_loop = loop;
    return true;
}

/* What is taken goes in half as many parts as what is made, for it is copied in parts of both. */
static int parts_taken(const weft_schedule_request *request, int made, int taken) {
    const int chunks = request->chunks, most = weft_request_machine(request)->tiling.most_consumed;
    int parts = made < 0 || made == taken ? chunks : (chunks + 1) / 2;
    if (taken < 0) return 1;
    return made >= 0 && made != taken && parts > most ? most : parts;
}

static void split_exchange(const weft_schedule_request *request, weft_schedule *schedule, int i) {
    const weft_partition whole = {1, -1};
    weft_step *step = &schedule->step[i];
    weft_step *before = transform_next_to(schedule, i, -1);
    weft_step *after = transform_next_to(schedule, i, 1);
    int made, taken;
    choose_axes(request, step, before, after, &made, &taken);
    step->made = made < 0 ? whole : (weft_partition){request->chunks, made};
    step->taken = taken < 0 ? whole : (weft_partition){parts_taken(request, made, taken), taken};
    step->parts_before = split_transform(step->made, &step->exchange.src_box, before);
    step->parts_after = split_transform(step->taken, &step->exchange.dst_box, after);
    if (step->method->shared || made == taken) return;
    const bool first = dimensions_of(before) >= dimensions_of(after) ? made >= 0 : taken < 0;
    *(first ? &step->taken : &step->made) = whole;
    *(first ? &step->parts_after : &step->parts_before) = false;
}

bool weft_step_parts_are_runs(const weft_step *exchange, const weft_region *box) {
    const weft_redistribution *r = &exchange->exchange;
    if (!weft_step_in_parts(exchange)) return true;
    const int axis = exchange->made.parts > 1 ? exchange->made.axis : exchange->taken.axis;
    for (int i = 0; i < box->axes && r->wire[i] != axis; i++)
        if (box->n[r->wire[i]] > 1) return false;
    return true;
}

void weft_schedule_chunk(const weft_schedule_request *request, weft_schedule *schedule) {
    if (request->chunks < 2) return;
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        if (step->kind != WEFT_STEP_EXCHANGE) continue;
        split_exchange(request, schedule, i);
        if (step->method->shared || step->method->datatypes) continue;
        weft_redistribution *r = &step->exchange;
        r->pack = r->pack || !weft_step_parts_are_runs(step, &r->src_box);
        r->unpack = r->unpack || !weft_step_parts_are_runs(step, &r->dst_box);
    }
}

/* Whether the exchange stores into this buffer. */
static bool is_filled(const weft_step *exchange, int buffer) {
    return buffer == exchange->dst || buffer == exchange->send || buffer == exchange->receive;
}

/* Whether it stores where the transform before it loads: its source, or, after another exchange,
 * this rank's own block where that one left it. In place a part touches nothing but itself. */
static bool fills_source(const weft_schedule *schedule, int i) {
    const weft_step *step = &schedule->step[i], *before = step - 1;
    const weft_step *earlier = i > 1 ? step - 2 : NULL;
    if (earlier && earlier->kind == WEFT_STEP_EXCHANGE && earlier->loaded_by_next &&
        is_filled(step, earlier->src))
        return true;
    return before->src != before->dst && is_filled(step, before->src);
}

/* A transform next to an exchange may work on some parts while others travel, unless it stores
 * where the exchange still reads, or reads where the exchange stores. In place it touches nothing
 * but the part it works on. */
void weft_schedule_overlap(weft_schedule *schedule) {
    for (int i = 1; i + 1 < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        const weft_step *before = step - 1;
        weft_step *after = step + 1;
        if (step->kind != WEFT_STEP_EXCHANGE || !weft_step_in_parts(step)) continue;
        const bool apart = step->src != step->dst && step->receive != step->src;
        step->overlaps_before = apart && step->parts_before && before->kind == WEFT_STEP_FFT &&
                                !fills_source(schedule, i);
        step->overlaps_after =
            apart && step->parts_after && after->kind == WEFT_STEP_FFT &&
            (after->src == after->dst ||
             (after->dst != step->src && after->dst != step->send && after->dst != step->receive));
        /* Copies that nothing is done beside are of no use. */
        if (after->far_piece && !step->overlaps_before) after->far_chunks = after->chunks;
        if (!step->overlaps_after) after->far_chunks = 0;
    }
}
