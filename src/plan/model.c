/*
 * Predicted times. An exchange costs bytes/B + messages*L, as in docs/design.md (slab:
 * (P-1)*2sN^3/(P^2 B) + (P-1)L); moving data in memory costs bytes over memory bandwidth; an FFT
 * the larger of that and its operations.
 */
#include "plan/model.h"

#include <math.h>

/* A transform that stores in another memory order than it loads transposes on the way. */
static double realigning_penalty(const weft_transform *t, const weft_machine *machine) {
    bool same = true;
    for (int i = 0; i < t->loops; i++)
        same = same && (t->loop[i].in_stride < t->dim[t->dims - 1].in_stride) ==
                           (t->loop[i].out_stride < t->dim[t->dims - 1].out_stride);
    return same ? 1.0 : machine->penalty.realigned;
}

/* Two axes at once, neither contiguous, are slower than one with a contiguous partner. */
static double strided_penalty(const weft_transform *t, const weft_machine *machine) {
    bool contiguous = t->dims < 2;
    for (int i = 0; i < t->dims; i++) contiguous = contiguous || t->dim[i].in_stride == 1;
    return contiguous ? 1.0 : machine->penalty.strided;
}

static double predict_exchange(const weft_machine *machine, const weft_step *step) {
    const weft_exchange_step *x = &step->as.exchange;
    const double sent = (double)step->bytes_sent;
    const double latency = (double)x->messages_sent * machine->rate.latency;
    const double gathered = x->method->gathers ? machine->penalty.datatypes : 0;
    switch (x->method->carrier) {
    case WEFT_CARRIED_BY_READERS: /* no wire */
        return (double)(x->geometry.members - 1) * machine->rate.latency;
    case WEFT_CARRIED_BY_DEVICES:
        return machine->penalty.device_links * sent / machine->rate.memory + latency;
    case WEFT_CARRIED_BY_TRANSPORT:
        break;
    }
    return sent / machine->rate.bandwidth + latency + gathered * sent / machine->rate.memory;
}

static double predict_step(const weft_machine *machine, int threads, const weft_step *step) {
    const double gain = threads > 1 ? machine->rate.thread_gain : 1.0;
    const double moved = (double)step->bytes_moved / (machine->rate.memory * gain);
    const double computed = step->flops / (machine->rate.flops * threads);
    switch (step->kind) {
    case WEFT_STEP_FFT:
        return (moved > computed ? moved : computed) *
               realigning_penalty(&step->as.fft.transform, machine) *
               strided_penalty(&step->as.fft.transform, machine);
    case WEFT_STEP_COPY:
        return moved;
    case WEFT_STEP_POINTWISE:
        return moved > computed ? moved : computed;
    case WEFT_STEP_EXCHANGE:
        return moved + predict_exchange(machine, step);
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

static double local_bytes(const weft_distribution *distribution, bool real,
                          weft_precision precision) {
    const weft_region box = weft_distribution_box(distribution, 0);
    return (double)weft_region_elements(&box) * (double)weft_number_bytes(precision) *
           (real ? 1 : 2);
}

static double estimate_segment(const weft_machine *machine, int threads, const weft_segment *s,
                               bool real, bool stays_real, weft_precision precision) {
    const double gain = threads > 1 ? machine->rate.thread_gain : 1.0;
    const double in = local_bytes(&s->side[WEFT_FORWARD][WEFT_INPUT], real, precision);
    const double out = local_bytes(&s->side[WEFT_FORWARD][WEFT_OUTPUT], stays_real, precision);
    const double points = (real ? in : in / 2) / (double)weft_number_bytes(precision);
    double flops = 0;
    if (s->transforms == 0) return 0;
    for (int i = 0; i < s->transforms; i++)
        flops += 5 * points * log2((double)s->side[WEFT_FORWARD][WEFT_INPUT].n[s->axis[i]]);
    const double computed = (real ? flops / 2 : flops) / (machine->rate.flops * threads);
    const double moved = (in + out) / (machine->rate.memory * gain);
    return moved > computed ? moved : computed;
}

/* Partners of rank 0 that have something after a redistribution: the ranks of the grid dimension,
 * or fewer where the axis that it splits has fewer indices. */
static double estimate_redistribution(const weft_machine *machine, const weft_chain *chain, int k,
                                      double bytes) {
    const int dimension = chain->group[k];
    const weft_distribution *after = &chain->segment[k + 1].side[WEFT_FORWARD][WEFT_INPUT];
    int64_t members = dimension < 0 ? chain->ranks : chain->grid[dimension];
    const double share = (double)(members - 1) / (double)members;
    for (int a = 0; a < chain->axes && dimension >= 0; a++)
        if (after->split_by[a] == dimension && after->n[a] < members) members = after->n[a];
    return share * bytes / machine->rate.bandwidth + (double)(members - 1) * machine->rate.latency;
}

double weft_model_estimate(const weft_machine *machine, int threads, const weft_chain *chain,
                           weft_precision precision) {
    double seconds = 0;
    for (int s = 0; s < chain->segments; s++) {
        const weft_segment *segment = &chain->segment[s];
        const bool real = weft_chain_is_real(chain, s + 1);
        seconds += estimate_segment(machine, threads, segment, weft_chain_is_real(chain, s), real,
                                    precision);
        if (s + 1 < chain->segments)
            seconds += estimate_redistribution(
                machine, chain, s,
                local_bytes(&segment->side[WEFT_FORWARD][WEFT_OUTPUT], real, precision));
    }
    return seconds;
}
