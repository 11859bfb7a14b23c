/*
 * Predicted times. An exchange costs bytes/B + messages*L, as in docs/design.md (slab:
 * (P-1)*2sN^3/(P^2 B) + (P-1)L); moving data in memory costs bytes over memory bandwidth; an FFT
 * the larger of that and its operations.
 */
#include "plan/model.h"

const weft_machine weft_machine_default = {
    .memory = 12e9, .bandwidth = 5e9, .latency = 3e-6, .flops = 4e9};

/* Datatypes make the transport gather element by element where rows are short. */
static double datatype_penalty(const weft_step *step, const weft_machine *machine) {
    return step->method->datatypes ? 3.0 * (double)step->bytes_sent / machine->memory : 0;
}

/* A transform that stores in another memory order than it loads transposes on the way. */
static double realigning_penalty(const weft_step *step) {
    const weft_transform *t = &step->transform;
    bool same = true;
    for (int i = 0; i < t->loops; i++)
        same = same && (t->loop[i].in_stride < t->dim[t->dims - 1].in_stride) ==
                           (t->loop[i].out_stride < t->dim[t->dims - 1].out_stride);
    return same ? 1.0 : 1.4;
}

/* Two axes at once, neither contiguous: measured 10 to 30 % slower than one with a contiguous
 * partner (docs/results, strategies: slab-1d2d beside slab-2d1d). */
static double strided_penalty(const weft_step *step) {
    const weft_transform *t = &step->transform;
    bool contiguous = t->dims < 2;
    for (int i = 0; i < t->dims; i++) contiguous = contiguous || t->dim[i].in_stride == 1;
    return contiguous ? 1.0 : 1.2;
}

static double predict_step(const weft_machine *machine, int threads, const weft_step *step) {
    double moved = (double)step->bytes_moved / (machine->memory * (threads > 1 ? 1.6 : 1.0));
    double computed = step->flops / (machine->flops * threads);
    switch (step->kind) {
    case WEFT_STEP_FFT:
        return (moved > computed ? moved : computed) * realigning_penalty(step) *
               strided_penalty(step);
    case WEFT_STEP_COPY:
        return moved;
    case WEFT_STEP_POINTWISE:
        return moved > computed ? moved : computed;
    case WEFT_STEP_EXCHANGE:
        if (step->method->shared) /* read from the partners' arrays: no wire */
            return moved + (double)(step->exchange.members - 1) * machine->latency;
        if (step->method->by_device) /* over links about as fast as memory: written and read */
            return moved + 2.0 * (double)step->bytes_sent / machine->memory +
                   (double)step->messages_sent * machine->latency;
        return moved + (double)step->bytes_sent / machine->bandwidth +
               (double)step->messages_sent * machine->latency + datatype_penalty(step, machine);
    }
    return 0;
}

double weft_model_predict(const weft_machine *machine, int threads, weft_schedule *schedule) {
    double total = 0;
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        step->predicted = predict_step(machine, threads, step);
        total += step->predicted;
    }
    return total;
}
