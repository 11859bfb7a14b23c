/* What callers may pass to weft_execute: see arguments.h. */
#include "exec/arguments.h"

#include "support/error.h"

/* The spaces of the two arrays of a direction, and the operators that see their elements. */
typedef struct ends {
    weft_space space[2];
    weft_operator_place place[2];
} ends;

static ends ends_of(weft_direction dir) {
    return (ends){{weft_space_of_first(dir), weft_space_of_result(dir)},
                  {weft_begins_with_spectrum(dir) ? WEFT_PLACE_SPECTRUM : WEFT_PLACE_LOAD,
                   weft_ends_with_spectrum(dir) ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE}};
}

/* Whether the caller's array at a place is aligned to pairs of its numbers. */
static bool in_pairs(const struct weft_plan_private *plan, weft_operator_place place) {
    return weft_call_storage(&plan->call, place) == WEFT_STORAGE_SAME &&
           plan->build->buffers.wants_pairs;
}

/* The bytes, a power of two, to which the caller's array at a place is aligned. */
static size_t alignment(const struct weft_plan_private *plan, weft_operator_place place) {
    const weft_storage storage = weft_call_storage(&plan->call, place);
    return weft_stored_alignment(storage, plan->call.problem.precision) *
           (in_pairs(plan, place) ? 2 : 1);
}

/* The bytes of a caller's array, and where they begin, from the address that is given on. */
typedef struct range {
    int64_t first;
    size_t bytes;
} range;

static range range_of(const struct weft_plan_private *plan, weft_space space,
                      weft_operator_place place) {
    int64_t first, end;
    if (!plan->call.strides.given[space == WEFT_OUTPUT ? WEFT_OUTPUT : WEFT_INPUT])
        return (range){0, plan->build->buffers.callers_bytes[space]};
    weft_call_reach(&plan->call, place, &first, &end);
    return (range){first, (size_t)(end - first)};
}

/* The engine's plan of a schedule that is one transform of the caller's arrays, or NULL. One that
 * keeps its results must be told where of each execution, so it gets none. */
static weft_engine_plan *find_single(const weft_build *b, int s) {
    const weft_program *p = &b->program[s];
    const weft_task *task = p->lowered.tasks.task;
    if (!b->scheduled[s] || p->lowered.tasks.count != 1 || task->kind != WEFT_TASK_FFT) return NULL;
    const weft_transform *t = &b->schedule[s].step[task->step].as.fft.transform;
    if (t->load.layout.keeps || t->spectral.layout.keeps || t->store.layout.keeps) return NULL;
    const int src = task->as.fft.src, dst = task->as.fft.dst;
    const bool in_place =
        b->schedule[s].in_place && src < WEFT_BUFFER_WORKSPACE && dst < WEFT_BUFFER_WORKSPACE;
    const bool out_of_place = src == WEFT_BUFFER_IN && dst == WEFT_BUFFER_OUT;
    return in_place || out_of_place ? p->prepared[0].plan : NULL;
}

/* The arrays of a place's operators; none where this rank has no elements there. */
static uint32_t arrays_of(weft_plan plan, weft_operator_place place) {
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const bool back = place == WEFT_PLACE_STORE || place == WEFT_PLACE_SPECTRUM;
    const weft_chain *chain = &plan->build->chain;
    const weft_segment *segment = &chain->segment[spectral ? chain->segments - 1 : 0];
    const weft_distribution *d =
        &segment->side[back ? WEFT_INVERSE : WEFT_FORWARD][spectral ? WEFT_OUTPUT : WEFT_INPUT];
    const weft_region box = weft_distribution_box(d, plan->transport->rank);
    return weft_region_elements(&box) > 0 ? weft_operators_arrays(&plan->call.operators[place]) : 0;
}

/* Whether a direction passes a place. */
static bool passes(weft_direction dir, weft_operator_place place) {
    switch (place) {
    case WEFT_PLACE_SPECTRUM:
        return weft_begins_with_spectrum(dir);
    case WEFT_PLACE_STORE:
        return dir != WEFT_FORWARD;
    default:
        return dir != WEFT_INVERSE;
    }
}

uint32_t weft_arguments_arrays(weft_plan plan, weft_direction dir) {
    uint32_t arrays = 0;
    for (int i = 0; i < WEFT_PLACES; i++)
        if (passes(dir, (weft_operator_place)i)) arrays |= arrays_of(plan, (weft_operator_place)i);
    return arrays;
}

/* The reductions of a direction, whether or not this rank has elements. */
static uint32_t reductions_of(weft_plan plan, weft_direction dir) {
    uint32_t reductions = 0;
    for (int i = 0; i < WEFT_PLACES; i++)
        if (passes(dir, (weft_operator_place)i))
            reductions |= weft_operators_reductions(&plan->call.operators[i]);
    return reductions;
}

void weft_arguments_find(weft_plan plan) {
    const weft_options *o = &plan->call.options;
    const weft_build *b = plan->build;
    if (plan->transport->simulated) return; /* nothing is valid */
    const weft_device_ops *device = b->device.ops;
    const weft_engine_ops *engine = b->candidate.engine;
    const bool alone = plan->transport->size == 1 && device->host_addressable &&
                       !device->can_fail && !device->await_caller && !o->trace;
    for (int d = 0; d < WEFT_DIRECTIONS; d++) {
        const weft_direction dir = (weft_direction)d;
        const ends e = ends_of(dir);
        weft_arguments *a = &plan->arguments[d];
        a->arrays = weft_arguments_arrays(plan, dir);
        a->reductions = reductions_of(plan, dir);
        if (!weft_call_plans(&plan->call, dir) || (dir == WEFT_CONVOLVE && o->keep_spectrum))
            continue;
        const range in = range_of(plan, e.space[0], e.place[0]);
        const range out = range_of(plan, e.space[1], e.place[1]);
        a->in_bytes = in.bytes;
        a->out_bytes = out.bytes;
        a->in_first = in.first;
        a->out_first = out.first;
        a->in_mask = alignment(plan, e.place[0]) - 1;
        a->out_mask = alignment(plan, e.place[1]) - 1;
        const bool holds = a->in_bytes > 0 && a->out_bytes > 0;
        a->one_array = holds && weft_call_allows_in_place(&plan->call, dir);
        a->two_arrays = holds && o->placement != WEFT_IN_PLACE;
        a->brief = a->in_bytes + a->out_bytes <= WEFT_BRIEF_BYTES;
        for (int same = 0; same < 2 && alone; same++) {
            weft_engine_plan *single = find_single(b, weft_schedule_index(dir, same));
            a->single[same] = single;
            if (single && engine->direct) a->direct[same] = engine->direct(single);
        }
    }
}

/* Whether two arrays, of element 0 at the given addresses, have a byte in common, gaps included. */
static bool overlap(const void *a, range of_a, const void *b, range of_b) {
    const uintptr_t x = (uintptr_t)a + (uintptr_t)of_a.first;
    const uintptr_t y = (uintptr_t)b + (uintptr_t)of_b.first;
    return of_a.bytes > 0 && of_b.bytes > 0 && x < y + of_b.bytes && y < x + of_a.bytes;
}

static weft_status check_alignment(weft_plan plan, weft_operator_place place, const char *name,
                                   const void *array) {
    const size_t unit = alignment(plan, place);
    if ((uintptr_t)array % unit == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s: the address is no multiple of %zu, to which %s of the storage %s in "
                     "%s precision are aligned here",
                     name, unit, in_pairs(plan, place) ? "pairs" : "numbers",
                     weft_storage_name(weft_call_storage(&plan->call, place)),
                     weft_precision_name(plan->call.problem.precision));
}

/* Checks that the plan can be executed in this direction. */
static weft_status check_direction(weft_plan plan, weft_direction dir) {
    if (plan->transport->simulated)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "weft_execute: a plan over simulated ranks can only be explained");
    const bool own = dir == WEFT_PSEUDOSPECTRAL && weft_call_plans(&plan->call, dir);
    if (dir != WEFT_FORWARD && dir != WEFT_INVERSE && dir != WEFT_CONVOLVE && !own)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: direction is %d; it is WEFT_FORWARD, WEFT_INVERSE or "
                         "WEFT_CONVOLVE",
                         (int)dir);
    if (dir == WEFT_CONVOLVE && !plan->call.options.convolve)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: WEFT_CONVOLVE wants a plan made with options.convolve = 1");
    if (!weft_call_plans(&plan->call, dir))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: the plan was made for the other direction alone "
                         "(options.direction)");
    if (plan->build->groups.broken)
        return weft_fail(WEFT_ERROR_DEVICE,
                         "weft_execute: messages between this plan's GPUs have failed before; "
                         "destroy the plan and make a new one");
    return WEFT_SUCCESS;
}

/* Checks that the arrays of the operators are set, where they have factors on this rank. */
static weft_status check_operator_arrays(weft_plan plan, weft_direction dir) {
    const uint32_t missing = plan->arguments[dir].arrays & ~plan->set_arrays;
    if (missing == 0) return WEFT_SUCCESS;
    int number = 0;
    if (plan->convolution)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolution_execute: problem.kernel.array was NULL, so there is no "
                         "kernel yet; give it by weft_convolution_set_kernel");
    while (!(missing >> number & 1)) number++;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "weft_execute: array %d of the operators was never set; give it by "
                     "weft_plan_set_array",
                     number);
}

/* Checks the caller's two arrays. */
static weft_status check_arrays(weft_plan plan, weft_direction dir, const void *in,
                                const void *out) {
    const weft_placement placement = plan->call.options.placement;
    const ends e = ends_of(dir);
    const range of_in = range_of(plan, e.space[0], e.place[0]);
    const range of_out = range_of(plan, e.space[1], e.place[1]);
    const size_t in_bytes = of_in.bytes, out_bytes = of_out.bytes;
    if ((!in && in_bytes > 0) || (!out && out_bytes > 0))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: %s is NULL; it needs %zu bytes (weft_plan_bytes)",
                         !in && in_bytes > 0 ? "in" : "out",
                         !in && in_bytes > 0 ? in_bytes : out_bytes);
    WEFT_TRY(check_alignment(plan, e.place[0], "weft_execute: in", in));
    WEFT_TRY(check_alignment(plan, e.place[1], "weft_execute: out", out));
    if (in == out && placement == WEFT_OUT_OF_PLACE && (in_bytes > 0 || out_bytes > 0))
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "weft_execute: in == out, but the plan was made for WEFT_OUT_OF_PLACE, "
            "as are all whose arrays are converted, padded, cropped or truncated; give "
            "two");
    if (in == out && !weft_call_allows_in_place(&plan->call, dir) && in_bytes > 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: in == out, but problem.in_stride and out_stride do not "
                         "make one view of the same numbers; give two arrays");
    if (in != out && placement == WEFT_IN_PLACE)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: in != out, but the plan was made for WEFT_IN_PLACE");
    if (in != out && in && out && overlap(in, of_in, out, of_out))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_execute: in and out overlap; they must be one array or have no "
                         "byte in common");
    return WEFT_SUCCESS;
}

/* Checks the array for the spectrum of a convolution. */
static weft_status check_spectrum(weft_plan plan, weft_direction dir, const void *in,
                                  const void *spectrum, const void *out) {
    const bool keeps = plan->call.options.keep_spectrum && dir == WEFT_CONVOLVE;
    if (!spectrum && !keeps) return WEFT_SUCCESS;
    const size_t bytes = plan->build->buffers.callers_bytes[WEFT_OUTPUT];
    const range of_in = range_of(plan, WEFT_INPUT, WEFT_PLACE_LOAD);
    const range of_out = range_of(plan, WEFT_RESULT, WEFT_PLACE_STORE);
    const range of_spectrum = {0, bytes};
    if (spectrum && !keeps)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolve: a plan that keeps the spectrum is one with "
                         "options.keep_spectrum = 1");
    if (keeps && !spectrum && bytes > 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolve: spectrum is NULL; a plan with options.keep_spectrum "
                         "convolves with weft_convolve, and a buffer of %zu bytes",
                         bytes);
    WEFT_TRY(check_alignment(plan, WEFT_PLACE_SPECTRAL, "weft_convolve: spectrum", spectrum));
    if (spectrum &&
        (overlap(in, of_in, spectrum, of_spectrum) || overlap(out, of_out, spectrum, of_spectrum)))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolve: spectrum overlaps in or out; give another buffer");
    return WEFT_SUCCESS;
}

weft_status weft_arguments_check(weft_plan plan, weft_direction dir, const void *in,
                                 const void *spectrum, const void *out) {
    WEFT_TRY(check_direction(plan, dir));
    WEFT_TRY(check_operator_arrays(plan, dir));
    WEFT_TRY(check_arrays(plan, dir, in, out));
    return check_spectrum(plan, dir, in, spectrum, out);
}
