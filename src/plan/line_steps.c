/*
 * The steps of a line over several ranks (plan/line.h). Operators that see where an element is, and
 * callers' arrays that hold other numbers or fewer points, are steps at the ends, where a rank has
 * consecutive points of the line and so an array of one axis; scalings go with the transforms.
 */
#include "plan/steps.h"

#include <string.h>

static const weft_operator_list no_operators;

/* The operators of a place, if they do the same to all elements; else none. */
static const weft_operator_list *scaling_at(const weft_schedule_request *request,
                                            weft_operator_place place) {
    double factor;
    if (!request->operators) return &no_operators;
    const weft_operator_list *list = &request->operators[place];
    return weft_operators_only_scale(list, &factor) ? list : &no_operators;
}

/* Operators on data that lies as `at`, in the array of two axes. */
static void add_operators(const weft_schedule_request *request, weft_schedule *schedule,
                          const weft_operator_list *list, weft_operator_place place,
                          const weft_end *at) {
    if (list->count == 0) return;
    weft_schedule_count_bytes(weft_schedule_add_pointwise(request, schedule, list, place, at));
}

/* ---- the ends ---- */

/* The space in which the caller's array at a place is. */
static weft_space space_of(weft_operator_place place) {
    if (place == WEFT_PLACE_LOAD) return WEFT_INPUT;
    return place == WEFT_PLACE_STORE ? WEFT_RESULT : WEFT_OUTPUT;
}

/* The memory that data at an end of the line has on this rank, as an array of one axis, of which
 * the caller's has the first elements: rows are whole, but the line may end within one. */
static void lay_along_line(const weft_schedule_request *request, weft_operator_place place,
                           const weft_end *at, weft_pointwise_layout *layout) {
    const weft_line *line = &request->chain->line;
    const weft_region rows = weft_distribution_box(at->distribution, request->rank);
    const weft_box box = weft_line_box(line, &rows, space_of(place));
    const bool spectral = space_of(place) == WEFT_OUTPUT;
    const int64_t points = rows.n[0] * rows.n[1], members = rows.n[2];
    layout->box = (weft_region){2, {box.lo[0], rows.lo[2]}, {points, members}};
    layout->order[0] = 1;
    layout->order[1] = 0;
    layout->n[0] = spectral ? weft_line_extent(line, WEFT_OUTPUT) : line->points;
    layout->n[1] = members;
    layout->real = line->real && !spectral;
    layout->stored =
        (weft_stored){.storage = weft_call_storage(request->call, place), .n = {box.n[0], members}};
    memcpy(layout->stored.decibels, request->call->problem.decibels,
           sizeof layout->stored.decibels);
}

/* Whether the line ends within a row at an end, on whatever rank. */
static bool ends_within_row(const weft_chain *chain, weft_space space) {
    const int64_t row = chain->n[space == WEFT_OUTPUT ? 0 : 1];
    return weft_line_extent(&chain->line, space) % row != 0;
}

/* The step at an end of the line, if one is needed: for operators that do not scale only, for
 * another storage, or to cut off what is behind the end. The half spectrum of one line needs no
 * cutting: nobody reads what is behind it. */
static void add_end(const weft_schedule_request *request, weft_schedule *schedule,
                    weft_operator_place place, const weft_end *at) {
    const bool spectral = space_of(place) == WEFT_OUTPUT;
    const bool inside = schedule->direction == WEFT_CONVOLVE && place == WEFT_PLACE_SPECTRAL;
    const weft_operator_list *list = request->operators ? &request->operators[place] : NULL;
    const bool operates = list && list->count > 0 && scaling_at(request, place)->count == 0;
    const bool ragged = ends_within_row(request->chain, space_of(place));
    weft_pointwise_layout along = {.order = {0}};
    if (!request->call) return;
    lay_along_line(request, place, at, &along);
    const bool converts = !inside && along.stored.storage != WEFT_STORAGE_SAME;
    const bool crops = ragged && (!spectral || (along.n[1] > 1 && !inside));
    if (!operates && !converts && !crops) return;
    const int number = operates ? (int)place : weft_schedule_next_number(schedule);
    weft_step *step =
        weft_schedule_add_pointwise(request, schedule, operates ? list : &no_operators, place, at);
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    along.precision = layout->precision;
    along.place = place;
    along.fields = layout->fields;
    along.stored.cropped = ragged;
    if (inside) { /* the elements stay where they are */
        along.stored.storage = WEFT_STORAGE_SAME;
        along.stored.strided = ragged;
        along.stored.stride[0] = 1;
        along.stored.stride[1] = along.box.n[0];
    }
    *layout = along;
    step->as.pointwise.number = number;
    schedule->exact = schedule->exact || (crops && !spectral);
    weft_schedule_count_bytes(step);
    if (inside) step->dst_bytes = step->src_bytes;
}

/* ---- transforms ---- */

/* The twiddle factors, on data that lies as `at` next to the transform of the columns. */
static void add_twiddles(const weft_schedule_request *request, weft_schedule *schedule,
                         const weft_end *at) {
    const bool forward = request->direction == WEFT_FORWARD;
    const int number = weft_schedule_next_number(schedule);
    if (request->chain->n[0] == 1) return; /* they are all 1 */
    weft_step *step = weft_schedule_add_pointwise(
        request, schedule, &request->call->line_operators.twiddles[request->direction],
        forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_SPECTRUM, at);
    step->as.pointwise.number = number;
    memcpy(step->as.pointwise.layout.n, request->chain->n, sizeof request->chain->n);
    weft_schedule_count_bytes(step);
}

/* Makes complex numbers of real ones next to the transform of the columns, or real ones of them. */
static void add_conversion(const weft_schedule_request *request, weft_schedule *schedule,
                           weft_operator_place place, const weft_end *at) {
    const weft_operator_list *list = scaling_at(request, place);
    const int number = list->count > 0 ? (int)place : weft_schedule_next_number(schedule);
    weft_step *step = weft_schedule_ends_in_crop(schedule, WEFT_PLACE_STORE)
                          ? &schedule->step[schedule->steps - 1]
                          : weft_schedule_add_pointwise(request, schedule, list, place, at);
    step->as.pointwise.operators = list;
    step->as.pointwise.number = number;
    step->as.pointwise.layout.stored.storage =
        request->precision == WEFT_SINGLE ? WEFT_STORAGE_FLOAT : WEFT_STORAGE_DOUBLE;
    weft_schedule_count_bytes(step);
}

/* The transform of the columns. Real data is exchanged as it is and, unless the line is scattered,
 * made complex before the transform. */
static void add_columns(const weft_schedule_request *request, weft_schedule *schedule,
                        const weft_segment *segment, const weft_end *from, const weft_end *to) {
    const bool forward = request->direction == WEFT_FORWARD;
    const weft_line *line = &request->chain->line;
    const bool converts = line->real && !line->scattered;
    const weft_operator_place place = forward ? WEFT_PLACE_LOAD : WEFT_PLACE_STORE;
    weft_end first = *from, last = *to;
    if (converts) first.real = last.real = false;
    if (forward && converts)
        add_conversion(request, schedule, place, &first);
    else if (forward)
        add_operators(request, schedule, scaling_at(request, place), place, &first);
    else
        add_twiddles(request, schedule, &first);
    weft_schedule_add_transforms(request, schedule, segment, &first, &last);
    if (forward)
        add_twiddles(request, schedule, &last);
    else if (converts)
        add_conversion(request, schedule, place, &last);
    else
        add_operators(request, schedule, scaling_at(request, place), place, &last);
}

/* The transform of the rows. The half spectrum of real data is part of a whole one, which the
 * transform stores and loads. */
static void add_rows(const weft_schedule_request *request, weft_schedule *schedule,
                     const weft_segment *segment, const weft_end *from, const weft_end *to) {
    const bool forward = request->direction == WEFT_FORWARD, real = request->chain->line.real;
    const weft_end *stored = forward ? to : from;
    weft_distribution all = *stored->distribution;
    all.n[1] = request->chain->n[1];
    const weft_end whole = {&all, stored->order, false, NULL};
    const weft_operator_list *scaling =
        scaling_at(request, forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_SPECTRUM);
    if (!forward && real) {
        weft_schedule_add_padding(request, schedule, WEFT_PLACE_LOAD, &whole, stored);
        schedule->step[schedule->steps - 1].as.pointwise.operators =
            &request->call->line_operators.half_spectrum;
    }
    if (!forward && schedule->direction == WEFT_INVERSE)
        add_operators(request, schedule, scaling, WEFT_PLACE_SPECTRUM, &whole);
    weft_schedule_add_transforms(request, schedule, segment, forward ? from : &whole,
                                 forward ? &whole : to);
    if (forward && real) {
        weft_schedule_add_padding(request, schedule, WEFT_PLACE_STORE, &whole, stored);
        schedule->step[schedule->steps - 1].as.pointwise.operators = scaling;
    } else if (forward) {
        add_operators(request, schedule, scaling, WEFT_PLACE_SPECTRAL, &whole);
    }
}

/* The same of a scattered line, with all operators of the spectrum. */
static void add_scattered_rows(const weft_schedule_request *request, weft_schedule *schedule,
                               const weft_segment *segment, const weft_end *from,
                               const weft_end *to) {
    weft_schedule_add_transforms(request, schedule, segment, from, to);
    if (request->direction == WEFT_FORWARD && request->operators)
        add_operators(request, schedule, &request->operators[WEFT_PLACE_SPECTRAL],
                      WEFT_PLACE_SPECTRAL, to);
}

void weft_schedule_add_line(const weft_schedule_request *request, weft_schedule *schedule, int s,
                            weft_end *at) {
    const weft_chain *chain = request->chain;
    const weft_segment *segment = &chain->segment[s];
    const bool forward = request->direction == WEFT_FORWARD, scattered = chain->line.scattered;
    const weft_end to = weft_chain_departure(chain, s, request->direction);
    if (s == 0)
        add_end(request, schedule, forward ? WEFT_PLACE_LOAD : WEFT_PLACE_STORE, at);
    else if (s == WEFT_LINE_EXCHANGES && forward)
        add_end(request, schedule, WEFT_PLACE_SPECTRAL, at);
    else if (s == WEFT_LINE_EXCHANGES && schedule->direction == WEFT_INVERSE)
        add_end(request, schedule, WEFT_PLACE_SPECTRUM, at);
    else if (segment->axis[0] == 0 && segment->transforms > 0)
        add_columns(request, schedule, segment, at, &to);
    else if (segment->transforms > 0 && scattered)
        add_scattered_rows(request, schedule, segment, at, &to);
    else if (segment->transforms > 0)
        add_rows(request, schedule, segment, at, &to);
    *at = to;
}
