/*
 * Predicted times. An exchange costs bytes/B + messages*L, as in docs/design.md (slab:
 * (P-1)*2sN^3/(P^2 B) + (P-1)L); moving data in memory costs bytes over memory bandwidth. A
 * transform costs its arithmetic in the caches, axis by axis, and one way of its arrays through
 * memory for each group of axes that the engine does together.
 */
#include "plan/model.h"

#include <math.h>

weft_length_class weft_length_class_of(int64_t n) {
    int64_t largest = 1;
    for (int64_t p = 2; p * p <= n; p++)
        for (; n % p == 0; n /= p) largest = p;
    if (n > largest) largest = n;
    return largest > 256  ? WEFT_LENGTH_LONG_PRIME
           : largest > 13 ? WEFT_LENGTH_PRIME
           : largest > 2  ? WEFT_LENGTH_SMOOTH
                          : WEFT_LENGTH_BINARY;
}

double weft_machine_rate_at(const double bytes[WEFT_MACHINE_SIZES],
                            const double rate[WEFT_MACHINE_SIZES], double at) {
    int i = 1;
    if (at <= bytes[0]) return rate[0];
    if (at >= bytes[WEFT_MACHINE_SIZES - 1]) return rate[WEFT_MACHINE_SIZES - 1];
    while (at > bytes[i]) i++;
    const double part = log(at / bytes[i - 1]) / log(bytes[i] / bytes[i - 1]);
    return rate[i - 1] + part * (rate[i] - rate[i - 1]);
}

static int at_least_one(int number) {
    return number > 1 ? number : 1;
}

/* Of the threads of this rank the part that has a core, where there are more than cores. */
static double useful_threads(const weft_model *m) {
    const int threads = at_least_one(m->threads), cores = m->machine->rate.cores;
    const int64_t streams = (int64_t)threads * at_least_one(m->neighbours);
    return cores > 0 && streams > cores ? (double)threads * cores / (double)streams : threads;
}

/* Bytes in a second of this rank's threads, where each has `rate` alone, while its neighbours do
 * the same; all of them work on so many bytes, for the last cache is theirs together. */
static double bytes_per_second(const weft_model *m, const double *rate, double worked_on) {
    const weft_machine_rates *r = &m->machine->rate;
    const double all = worked_on * at_least_one(m->neighbours), useful = useful_threads(m);
    const double others = useful * at_least_one(m->neighbours) - 1;
    return useful * weft_machine_rate_at(r->bytes, rate, all) /
           (1 + others * weft_machine_rate_at(r->bytes, r->contention, all));
}

/* Whether the record tells of the device, which is not the host. */
static bool is_known_device(const weft_model *m) {
    return m->device && !m->device->host_addressable && m->machine->device.memory > 0;
}

static double seconds_to_move(const weft_model *m, double bytes) {
    const weft_machine_device *d = &m->machine->device;
    if (bytes <= 0) return 0;
    if (is_known_device(m)) return bytes / d->memory + d->launch;
    return bytes / bytes_per_second(m, m->machine->rate.copy, bytes);
}

/* A transform that stores in another memory order than it loads transposes on the way. */
static bool is_realigned(const weft_transform *t) {
    bool same = true;
    for (int i = 0; i < t->loops; i++)
        same = same && (t->loop[i].in_stride < t->dim[t->dims - 1].in_stride) ==
                           (t->loop[i].out_stride < t->dim[t->dims - 1].out_stride);
    return !same;
}

/* Whether points of a dimension are neighbours in memory, on one side at least. */
static bool is_contiguous(const weft_fft_step *fft, int d) {
    const weft_dimension *dim = &fft->transform.dim[d];
    return dim->in_stride == fft->parts || dim->out_stride == fft->parts;
}

/* Whether the last dimension has half as many complex points as real ones. */
static bool is_halved(const weft_transform *t) {
    return t->kind == WEFT_TRANSFORM_R2C || t->kind == WEFT_TRANSFORM_C2R;
}

/* Operations along a dimension of a line of points that are all lines of the transform. */
static double operations(const weft_transform *t, int d) {
    const double n = (double)t->dim[d].n;
    double lines = 1;
    for (int i = 0; i < t->loops; i++) lines *= (double)t->loop[i].n;
    for (int i = 0; i < t->dims; i++) {
        const bool halved = i == t->dims - 1 && is_halved(t);
        if (i != d) lines *= (double)(halved ? t->dim[i].n / 2 + 1 : t->dim[i].n);
    }
    const bool real =
        t->kind == WEFT_TRANSFORM_R2R || (d == t->dims - 1 && t->kind != WEFT_TRANSFORM_C2C);
    return (real ? 2.5 : 5.0) * lines * n * log2(n);
}

/* Points of the transform that a dimension takes: cosine and sine transforms of type I are those of
 * 2 (n - 1) and 2 (n + 1) real points, whose factors are not those of n. */
static int64_t points_of(const weft_transform *t, int d) {
    const int64_t n = t->dim[d].n;
    if (t->kind != WEFT_TRANSFORM_R2R) return n;
    return t->type[d] == WEFT_DCT1 && n > 1 ? 2 * (n - 1)
           : t->type[d] == WEFT_DST1        ? 2 * (n + 1)
                                            : n;
}

/* Seconds of the arithmetic of one thread in the caches. A step may be several transforms (tiles,
 * there and back), of which its own operations tell. */
static double seconds_to_compute(const weft_model *m, const weft_step *step) {
    const weft_fft_step *fft = &step->as.fft;
    const weft_transform *t = &fft->transform;
    const int single = t->precision == WEFT_SINGLE;
    double seconds = 0, sum = 0;
    for (int d = 0; d < t->dims; d++) {
        const weft_length_class class = weft_length_class_of(points_of(t, d));
        const bool odd = d == t->dims - 1 && is_halved(t) && t->dim[d].n % 2 != 0;
        const double flops = operations(t, d);
        const weft_machine_rates *r = &m->machine->rate;
        sum += flops;
        const double rate =
            is_contiguous(fft, d) ? r->flops[single][class] : r->flops_across[single][class];
        seconds += (odd ? m->machine->penalty.odd_real : 1) * flops / rate;
    }
    if (t->kind == WEFT_TRANSFORM_R2R) seconds *= m->machine->penalty.real_to_real;
    return sum > 0 ? seconds * step->flops / sum : 0;
}

/* The rates of one way through memory, along dimensions first to last. */
static const double *rates_of_way(const weft_model *m, const weft_fft_step *fft, int first,
                                  int last) {
    bool contiguous = false;
    if (last == fft->transform.dims - 1 && is_halved(&fft->transform))
        return m->machine->rate.halved;
    for (int d = first; d <= last; d++) contiguous = contiguous || is_contiguous(fft, d);
    return contiguous ? m->machine->rate.contiguous : m->machine->rate.strided;
}

/* One way through memory, along dimensions first to last. What another memory order costs beyond a
 * contiguous pass comes on top of what half spectra do, which are no cheaper to transpose. */
static double seconds_of_way(const weft_model *m, const weft_step *step, int first, int last) {
    const weft_fft_step *fft = &step->as.fft;
    const weft_machine_rates *r = &m->machine->rate;
    const double bytes = (double)step->bytes_moved;
    const double *rates = rates_of_way(m, fft, first, last);
    const bool whole = last == fft->transform.dims - 1; /* the way that stores the other order */
    if (!whole || !is_realigned(&fft->transform)) return bytes / bytes_per_second(m, rates, bytes);
    const double realigned = bytes / bytes_per_second(m, r->realigned, bytes);
    if (rates != r->halved) return realigned;
    return bytes / bytes_per_second(m, r->halved, bytes) +
           fmax(0, realigned - bytes / bytes_per_second(m, r->contiguous, bytes));
}

/* A plane of the axes that are done together is read and written once more between them, where it
 * lies in the caches: the larger it is, the longer that takes. The caches near a core are its own.
 */
static double seconds_between(const weft_model *m, const weft_step *step, int together) {
    const weft_transform *t = &step->as.fft.transform;
    double plane = 2.0 * (double)weft_number_bytes(t->precision);
    for (int d = t->dims - together; d < t->dims; d++)
        plane *= (double)(d == t->dims - 1 && is_halved(t) ? t->dim[d].n / 2 + 1 : t->dim[d].n);
    return (double)step->bytes_moved /
           bytes_per_second(m, m->machine->rate.strided, 2 * plane / at_least_one(m->neighbours));
}

static double predict_transform(const weft_model *m, const weft_step *step) {
    const weft_fft_step *fft = &step->as.fft;
    const weft_transform *t = &fft->transform;
    if (weft_step_is_empty(fft)) return 0;
    const int together = m->engine && m->engine->together ? m->engine->together(t) : 1;
    const int ways = t->dims > together ? t->dims - together + 1 : 1;
    const double bytes = (double)step->bytes_moved;
    if (is_known_device(m)) return ways * seconds_to_move(m, bytes);
    double seconds = seconds_to_compute(m, step) / useful_threads(m) +
                     seconds_of_way(m, step, ways - 1, t->dims - 1);
    if (together > 1 && t->dims > 1) seconds += seconds_between(m, step, together);
    for (int d = 0; d + 1 < ways; d++) seconds += seconds_of_way(m, step, d, d);
    return m->engine && m->engine->id == WEFT_ENGINE_FFTW ? m->machine->penalty.fftw * seconds
                                                          : seconds;
}

/* The level of the network that two ranks share; WEFT_MACHINE_LEVELS: none. */
static int level_of(const weft_machine_network *network, int rank, int other) {
    for (int l = 0; l < WEFT_MACHINE_LEVELS && network->ranks[l] > 0; l++)
        if (rank / network->ranks[l] == other / network->ranks[l]) return l;
    return WEFT_MACHINE_LEVELS;
}

/* Bytes and messages that travel by the links of one level. */
typedef struct travelling {
    double bytes;
    int messages;
} travelling;

static double seconds_of_links(const weft_machine *machine, int level, travelling t) {
    const weft_machine_network *network = &machine->network;
    if (t.bytes <= 0) return t.messages * machine->rate.latency;
    if (level < WEFT_MACHINE_LEVELS)
        return t.bytes / network->bandwidth[level] + t.messages * network->latency[level];
    return t.bytes / weft_machine_rate_at(machine->rate.bytes, machine->rate.bandwidth, t.bytes) +
           t.messages * machine->rate.latency;
}

static bool has_levels(const weft_model *m) {
    return m->chain && m->machine->network.ranks[0] > 0;
}

/* What a rank sends passes the links of its levels one after the other. */
static double seconds_on_wire(const weft_model *m, const weft_step *step) {
    const weft_exchange_step *x = &step->as.exchange;
    const weft_redistribution *r = &x->geometry;
    travelling at[WEFT_MACHINE_LEVELS + 1] = {{0, 0}};
    const travelling all = {(double)step->bytes_sent, x->messages_sent};
    double seconds = 0;
    if (!has_levels(m)) return seconds_of_links(m->machine, WEFT_MACHINE_LEVELS, all);
    for (int i = 0; i < r->members; i++) {
        if (i == r->me || r->send[i].elements == 0) continue;
        const int other = weft_chain_member(m->chain, x->redistribution, m->rank, i);
        travelling *t = &at[level_of(&m->machine->network, m->rank, other)];
        t->bytes += (double)r->send[i].elements * (double)r->element_bytes;
        t->messages += x->messages_sent > 0;
    }
    for (int l = 0; l <= WEFT_MACHINE_LEVELS; l++)
        seconds += seconds_of_links(m->machine, l, at[l]);
    return seconds;
}

static double predict_exchange(const weft_model *m, const weft_step *step) {
    const weft_exchange_step *x = &step->as.exchange;
    const weft_machine *machine = m->machine;
    const bool links = has_levels(m) && is_known_device(m);
    switch (x->method->carrier) {
    case WEFT_CARRIED_BY_READERS: /* no wire, but between devices whose links are known */
        return (double)(x->geometry.members - 1) * machine->rate.signal +
               (links ? seconds_on_wire(m, step) : 0);
    case WEFT_CARRIED_BY_DEVICES:
        if (links) return seconds_on_wire(m, step);
        return machine->penalty.device_links * seconds_to_move(m, (double)step->bytes_sent) +
               (double)x->messages_sent * machine->rate.latency;
    case WEFT_CARRIED_BY_TRANSPORT:
        break;
    }
    return seconds_on_wire(m, step) +
           (x->method->gathers
                ? seconds_to_move(m, machine->penalty.datatypes * (double)step->bytes_sent)
                : 0);
}

/* Copies between the host and a device pass the link once, where the record tells of it. */
static double predict_copy(const weft_model *m, const weft_step *step) {
    const double bytes = (double)step->bytes_moved;
    const weft_machine_device *d = &m->machine->device;
    const bool known = is_known_device(m) && d->to_device > 0 && d->from_device > 0;
    switch (step->as.copy.transfer) {
    case WEFT_HOST_TO_DEVICE:
        return known ? bytes / 2 / d->to_device + d->launch : seconds_to_move(m, bytes);
    case WEFT_DEVICE_TO_HOST:
        return known ? bytes / 2 / d->from_device + d->launch : seconds_to_move(m, bytes);
    default:
        return seconds_to_move(m, bytes);
    }
}

static double predict_step(const weft_model *m, const weft_step *step) {
    switch (step->kind) {
    case WEFT_STEP_FFT:
        return predict_transform(m, step);
    case WEFT_STEP_COPY:
        return predict_copy(m, step);
    case WEFT_STEP_POINTWISE:
        return seconds_to_move(m, (double)step->bytes_moved);
    case WEFT_STEP_EXCHANGE:
        return seconds_to_move(m, (double)step->bytes_moved) + predict_exchange(m, step);
    }
    return 0;
}

double weft_model_predict(const weft_model *model, weft_schedule *schedule) {
    double total = 0;
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        step->predicted = predict_step(model, step);
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

static double estimate_segment(const weft_model *m, const weft_segment *s, bool real,
                               bool stays_real, weft_precision precision) {
    const int single = precision == WEFT_SINGLE;
    const double in = local_bytes(&s->side[WEFT_FORWARD][WEFT_INPUT], real, precision);
    const double out = local_bytes(&s->side[WEFT_FORWARD][WEFT_OUTPUT], stays_real, precision);
    const double points = (real ? in : in / 2) / (double)weft_number_bytes(precision);
    double computed = 0;
    if (s->transforms == 0) return 0;
    for (int i = 0; i < s->transforms; i++) {
        const int64_t n = s->side[WEFT_FORWARD][WEFT_INPUT].n[s->axis[i]];
        computed +=
            5 * points * log2((double)n) / m->machine->rate.flops[single][weft_length_class_of(n)];
    }
    return (real ? computed / 2 : computed) / useful_threads(m) +
           (in + out) / bytes_per_second(m, m->machine->rate.contiguous, in + out);
}

/* Partners of rank 0 that have something after a redistribution: the ranks of the grid dimension,
 * or fewer where the axis that it splits has fewer indices. They lie `apart` ranks from each other,
 * so that the first ones are on rank 0's levels of the network. */
static double estimate_redistribution(const weft_machine *machine, const weft_chain *chain, int k,
                                      double bytes) {
    const int dimension = chain->group[k];
    const weft_distribution *after = &chain->segment[k + 1].side[WEFT_FORWARD][WEFT_INPUT];
    int64_t members = dimension < 0 ? chain->ranks : chain->grid[dimension], apart = 1, near = 1;
    const double share = (double)(members - 1) / (double)members;
    for (int d = dimension + 1; dimension >= 0 && d < chain->grid_axes; d++)
        apart *= chain->grid[d];
    for (int a = 0; a < chain->axes && dimension >= 0; a++)
        if (after->split_by[a] == dimension && after->n[a] < members) members = after->n[a];
    if (members < 2) return 0;
    const double each = share * bytes / (double)(members - 1);
    double seconds = 0;
    for (int l = 0; l <= WEFT_MACHINE_LEVELS; l++) {
        const int64_t block = l < WEFT_MACHINE_LEVELS ? machine->network.ranks[l] : 0;
        if (l < WEFT_MACHINE_LEVELS && block == 0) continue;
        int64_t within = l < WEFT_MACHINE_LEVELS ? (block + apart - 1) / apart : members;
        if (within > members) within = members;
        const travelling t = {each * (double)(within - near), (int)(within - near)};
        if (t.messages > 0) seconds += seconds_of_links(machine, l, t);
        near = within;
    }
    return seconds;
}

double weft_model_estimate(const weft_machine *machine, int threads, const weft_chain *chain,
                           weft_precision precision) {
    const weft_model model = {.machine = machine, .threads = threads};
    double seconds = 0;
    for (int s = 0; s < chain->segments; s++) {
        const weft_segment *segment = &chain->segment[s];
        const bool real = weft_chain_is_real(chain, s + 1);
        seconds += estimate_segment(&model, segment, weft_chain_is_real(chain, s), real, precision);
        if (s + 1 < chain->segments)
            seconds += estimate_redistribution(
                machine, chain, s,
                local_bytes(&segment->side[WEFT_FORWARD][WEFT_OUTPUT], real, precision));
    }
    return seconds;
}
