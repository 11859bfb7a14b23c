/* The strides of callers' arrays: read, checked, and how far the arrays reach. */
#include "plan/problem.h"

#include "support/checked.h"
#include "support/error.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES_LOG = 60 }; /* of an array, from its lowest to its highest element */

static const char *name_of(weft_space space) {
    return space == WEFT_INPUT ? "in" : "out";
}

/* Extents of the caller's arrays in a space, the batch last: the largest of those that are loaded
 * and stored there. */
static void extents_of(const weft_call *call, weft_space space, int64_t *n) {
    const weft_problem *p = &call->problem;
    weft_call_extents(call, space, n);
    for (int a = 0; a < p->rank && space == WEFT_INPUT; a++) {
        const bool pads = p->pad_from[a] > 0, crops = p->crop_to[a] > 0;
        int64_t most = pads ? p->pad_from[a] : n[a];
        if (crops && p->crop_to[a] > most) most = p->crop_to[a];
        if (most < n[a]) n[a] = most;
    }
}

static int64_t magnitude(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

/* The bytes of an element at a place. */
static int64_t element_bytes(const weft_call *call, weft_operator_place place) {
    int64_t n[WEFT_AXES];
    const weft_pointwise_layout layout = {.real = weft_call_space(call, place, n).real,
                                          .precision = call->problem.precision,
                                          .stored.storage = weft_call_storage(call, place)};
    return (int64_t)weft_stored_element_bytes(&layout);
}

/* The bytes of an element in a space, those that are loaded or those that are stored. */
static int64_t largest_element(const weft_call *call, weft_space space) {
    const bool input = space == WEFT_INPUT;
    const int64_t loaded = element_bytes(call, input ? WEFT_PLACE_LOAD : WEFT_PLACE_SPECTRUM);
    const int64_t stored = element_bytes(call, input ? WEFT_PLACE_STORE : WEFT_PLACE_SPECTRAL);
    return loaded > stored ? loaded : stored;
}

/* Copies the given strides, without those of axes of one index. Returns whether there are any. */
static bool copy_given(weft_call *call, weft_space space, const int64_t *n) {
    const weft_problem *p = &call->problem;
    int64_t *stride = call->strides.of[space];
    bool any = false;
    for (int a = 0; a <= p->rank; a++) {
        stride[a] = a < p->rank           ? (space == WEFT_INPUT ? p->in_stride : p->out_stride)[a]
                    : space == WEFT_INPUT ? p->in_batch_stride
                                          : p->out_batch_stride;
        any = any || stride[a] != 0;
        if (n[a] == 1) stride[a] = 1;
    }
    return any;
}

/* Whether the strides are those of a row-major array, one member of the batch after the other. */
static bool is_row_major(const weft_call *call, weft_space space, const int64_t *n) {
    const int rank = call->problem.rank;
    int64_t next = 1;
    for (int i = rank - 1; i >= -1; i--) {
        const int a = i < 0 ? rank : i;
        if (n[a] != 1 && call->strides.of[space][a] != next) return false;
        next *= n[a];
    }
    return true;
}

/* Every axis of several indices has a stride, and arrays are not too large to be counted. */
static weft_status check_sizes(const weft_call *call, weft_space space, const int64_t *n) {
    const int rank = call->problem.rank;
    int64_t reach = 1;
    for (int a = 0; a <= rank; a++) {
        const int64_t stride = call->strides.of[space][a];
        char field[48];
        snprintf(field, sizeof field,
                 a < rank ? "problem.%s_stride[%d]" : "problem.%s_batch_stride", name_of(space), a);
        if (stride == 0)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s is 0, but there are %lld indices; with any stride, give those of "
                             "all axes of more than one index, and of the batch",
                             field, (long long)n[a]);
        int64_t length = 0;
        if (stride == INT64_MIN || !weft_checked_multiply(magnitude(stride), n[a] - 1, &length) ||
            !weft_checked_add(reach, length, &reach) ||
            reach > ((int64_t)1 << MOST_BYTES_LOG) / largest_element(call, space))
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s is %lld, with which the array reaches over more than 2^%d bytes; "
                             "strides count elements, not bytes",
                             field, (long long)stride, MOST_BYTES_LOG);
    }
    return WEFT_SUCCESS;
}

/* From the axis of the smallest stride on, each stride must pass what the axes before it reach. */
static weft_status check_overlap(const weft_call *call, weft_space space, const int64_t *n) {
    const int rank = call->problem.rank;
    const int64_t *stride = call->strides.of[space];
    int order[WEFT_AXES], axes = 0;
    for (int a = 0; a <= rank; a++) {
        int place = axes;
        if (n[a] == 1) continue;
        for (; place > 0 && magnitude(stride[order[place - 1]]) > magnitude(stride[a]); place--)
            order[place] = order[place - 1];
        order[place] = a;
        axes++;
    }
    int64_t reach = 0;
    for (int i = 0; i < axes; i++) {
        const int64_t step = magnitude(stride[order[i]]);
        if (step <= reach)
            return weft_fail(
                WEFT_ERROR_INVALID_ARGUMENT,
                "problem.%s_stride: along %s %d a step of %lld elements stays within what axes of "
                "smaller strides reach, %lld elements; make the array one whose axes are nested",
                name_of(space), order[i] == rank ? "the batch, axis" : "axis", order[i],
                (long long)step, (long long)reach + 1);
        reach += (n[order[i]] - 1) * step;
    }
    return WEFT_SUCCESS;
}

static weft_status read_space(weft_call *call, weft_space space, int ranks) {
    int64_t n[WEFT_AXES];
    extents_of(call, space, n);
    if (!copy_given(call, space, n)) return WEFT_SUCCESS;
    if (call->problem.fields > 1 || call->problem.result_fields > 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.fields: not together with strides; leave %s_stride 0, or make "
                         "the fields members of the batch",
                         name_of(space));
    if (ranks > 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s_stride: strides are for contexts of one process, not %d "
                         "ranks; leave them 0, and give an order of axes with problem.%sput",
                         name_of(space), ranks, name_of(space));
    if (call->has_input || call->has_output)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s_stride: not together with problem.input and output; leave "
                         "these NULL, or the strides 0",
                         name_of(space));
    if (call->options.keep_spectrum && space == WEFT_OUTPUT)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.out_stride: not together with options.keep_spectrum, which "
                         "stores row-major spectra; leave the strides 0");
    WEFT_TRY(check_sizes(call, space, n));
    WEFT_TRY(check_overlap(call, space, n));
    call->strides.given[space] = !is_row_major(call, space, n);
    return WEFT_SUCCESS;
}

/* Whether both arrays are one view of the same numbers, so that in == out makes sense. */
static bool is_one_view(const weft_call *call) {
    const weft_problem *p = &call->problem;
    bool same =
        p->kind != WEFT_R2C && call->strides.given[WEFT_INPUT] == call->strides.given[WEFT_OUTPUT];
    for (int a = 0; a <= p->rank && call->strides.given[WEFT_INPUT]; a++)
        same = same && call->strides.of[WEFT_INPUT][a] == call->strides.of[WEFT_OUTPUT][a];
    return same;
}

weft_status weft_call_read_strides(weft_call *call, int ranks) {
    WEFT_TRY(read_space(call, WEFT_INPUT, ranks));
    WEFT_TRY(read_space(call, WEFT_OUTPUT, ranks));
    const bool any = call->strides.given[WEFT_INPUT] || call->strides.given[WEFT_OUTPUT];
    call->strides.differ = any && !is_one_view(call);
    if (call->strides.differ && call->options.placement == WEFT_IN_PLACE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.placement: in place problem.in_stride and out_stride, with the "
                         "batch's, must be the same and the kind c2c or r2r; choose "
                         "WEFT_OUT_OF_PLACE");
    return WEFT_SUCCESS;
}

bool weft_call_allows_in_place(const weft_call *call, weft_direction direction) {
    return call->options.placement != WEFT_OUT_OF_PLACE &&
           (!call->strides.differ || weft_goes_both_ways(direction));
}

void weft_call_reach(const weft_call *call, weft_operator_place place, int64_t *first,
                     int64_t *end) {
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const weft_space space = spectral ? WEFT_OUTPUT : WEFT_INPUT;
    weft_view view = {.axes = call->problem.rank + 1};
    extents_of(call, space, view.n);
    memcpy(view.stride, call->strides.of[space], sizeof view.stride);
    weft_view_range(&view, first, end);
    *first *= element_bytes(call, place);
    *end *= element_bytes(call, place);
}
