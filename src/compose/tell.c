/* What the functions that tell of plans tell of compositions: all of their parts together. */
#include "compose/compose.h"

#include "support/error.h"

weft_status weft_composition_check(weft_composition composition, const char *function) {
    if (!composition) return weft_plan_check(composition, NULL, function, "");
    if (composition->composition) return WEFT_SUCCESS;
    return weft_context_note(
        composition->context,
        weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                  "%s: this is a plan of transforms; give what weft_composition_create made",
                  function));
}

void weft_composition_end_box(weft_plan plan, weft_space space, int rank, weft_box *box) {
    const weft_composed *c = plan->composition;
    *box = space == WEFT_INPUT ? weft_leg_entry(c, 0, rank) : weft_leg_exit(c, c->legs - 1, rank);
}

size_t weft_composition_end_bytes(weft_plan plan, weft_space space) {
    const weft_composed *c = plan->composition;
    return space == WEFT_INPUT ? weft_leg_entry_bytes(c, 0) : weft_leg_exit_bytes(c, c->legs - 1);
}

WEFT_API weft_status weft_composition_box(weft_composition composition, int stage, int rank,
                                          weft_box *box) {
    WEFT_TRY(weft_composition_check(composition, "weft_composition_box"));
    WEFT_TRY(weft_plan_check(composition, box, "weft_composition_box", "box"));
    const weft_composed *c = composition->composition;
    const int stages = c->leg[c->legs - 1].last + 1;
    if (stage < 0 || stage >= stages || rank < 0 || rank >= composition->transport->size)
        return weft_context_note(
            composition->context,
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "weft_composition_box: stage is %d and rank %d; there are stages 0..%d and "
                      "ranks 0..%d",
                      stage, rank, stages - 1, composition->transport->size - 1));
    int i = 0;
    while (c->leg[i].last < stage) i++;
    const weft_leg *leg = &c->leg[i];
    if (leg->copies || (stage >= leg->inverse && stage >= leg->forward))
        *box = weft_leg_exit(c, i, rank);
    else if (stage < leg->forward && stage < leg->inverse)
        *box = weft_leg_entry(c, i, rank);
    else
        weft_plan_own_box(leg->plan, stage >= leg->forward ? WEFT_OUTPUT : WEFT_INPUT, rank, box);
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_composition_bytes(weft_composition composition, int number,
                                            size_t *bytes) {
    WEFT_TRY(weft_composition_check(composition, "weft_composition_bytes"));
    WEFT_TRY(weft_plan_check(composition, bytes, "weft_composition_bytes", "bytes"));
    const weft_composed *c = composition->composition;
    if (number < 0 || number >= c->outputs)
        return weft_context_note(composition->context,
                                 weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                           "weft_composition_bytes: number is %d; there are arrays "
                                           "0..%d",
                                           number, c->outputs - 1));
    *bytes = weft_composed_bytes(c, number);
    return WEFT_SUCCESS;
}

void weft_composition_add_memory(weft_plan plan, weft_memory *memory) {
    const weft_composed *c = plan->composition;
    memory->tables += sizeof *c + (size_t)c->legs * sizeof *c->leg;
    for (int i = 0; i < c->legs; i++) {
        const weft_leg *leg = &c->leg[i];
        if (leg->between && !leg->lent)
            *(c->on_host ? &memory->tables : &memory->workspace) += leg->bytes;
        if (leg->copies || leg->plan == plan) continue;
        weft_memory own;
        weft_plan_own_memory(leg->plan, &own);
        memory->workspace += own.workspace;
        memory->page_locked += own.page_locked;
        memory->tables += own.tables;
        if (c->spans) memory->tables += (size_t)leg->plan->recorder.capacity * sizeof *c->spans;
    }
    if (c->spans) memory->tables += (size_t)plan->recorder.capacity * sizeof *c->spans;
}

/* Legs run one after the other. */
void weft_composition_add_timings(weft_plan plan, weft_timings *sum) {
    const weft_composed *c = plan->composition;
    for (int i = 0; i < c->legs; i++) {
        if (c->leg[i].copies || c->leg[i].plan == plan) continue;
        const weft_timings t = weft_plan_own_timings(c->leg[i].plan);
        if (sum->first_message == 0 && t.first_message > 0)
            sum->first_message = sum->total + t.first_message;
        if (t.last_message > 0) sum->last_message = sum->total + t.last_message;
        sum->total += t.total;
        sum->fft += t.fft;
        sum->pack += t.pack;
        sum->exchange += t.exchange;
        sum->unpack += t.unpack;
        sum->copy += t.copy;
        sum->local += t.local;
        sum->bytes_sent += t.bytes_sent;
        sum->messages_sent += t.messages_sent;
    }
}

/* Steps are counted through the plans. */
void weft_composition_trace(weft_plan plan, const weft_span **spans, int *count) {
    const weft_composed *c = plan->composition;
    int steps = 0;
    if (!c->spans) return;
    *count = 0;
    for (int i = 0; i < c->legs; i++) {
        const weft_plan p = c->leg[i].plan;
        if (c->leg[i].copies) continue;
        const int spans_of_plan = weft_recorder_spans(&p->recorder);
        for (int k = 0; k < spans_of_plan; k++) {
            c->spans[*count] = p->recorder.spans[k];
            c->spans[(*count)++].step += steps;
        }
        steps += p->build->schedule[weft_schedule_index(c->leg[i].purpose.direction, false)].steps;
    }
    *spans = c->spans;
}

weft_plan weft_plan_next(weft_plan handle, weft_plan before) {
    const weft_composed *c = handle->composition;
    bool found = false;
    for (int i = 0; c && i < c->legs; i++) {
        if (found && !c->leg[i].copies) return c->leg[i].plan;
        found = found || c->leg[i].plan == before;
    }
    return NULL;
}
