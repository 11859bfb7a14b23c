/*
 * Steps from one end of a segment to the other: transforms, copies into another memory order, and
 * padding. What schedule.c builds chains of, by transforms.c (one step) and groups.c (the axes of a
 * segment).
 */
#ifndef WEFT_PLAN_STEPS_H
#define WEFT_PLAN_STEPS_H

#include "plan/schedule.h"

/* One end of a segment as the data passes it: distribution, memory order, real or complex elements.
 */
typedef struct weft_end {
    const weft_distribution *distribution;
    const int *order;
    bool real;
    const int64_t *stride; /* of the caller's array, for each axis; NULL: those of the order */
} weft_end;

static inline int64_t weft_end_element_bytes(weft_precision precision, bool real) {
    return (int64_t)weft_number_bytes(precision) * (real ? 1 : 2);
}

/* How the data arrives at segment s, and how it leaves it, in a direction (schedule.c). */
weft_end weft_chain_arrival(const weft_chain *chain, int s, weft_direction direction);
weft_end weft_chain_departure(const weft_chain *chain, int s, weft_direction direction);

/* The method of a redistribution, and its step by a method (schedule.c). */
const weft_exchange_ops *weft_schedule_method(const weft_schedule_request *request,
                                              int redistribution);
weft_status weft_schedule_add_exchange(const weft_schedule_request *request,
                                       weft_schedule *schedule, int redistribution,
                                       const weft_exchange_ops *method, const weft_end *from,
                                       const weft_end *to);

/* Axes of a segment that are transformed together, first transformed first in a forward transform;
 * an axis that is padded or cropped begins a group, so that it has its zeros no longer than it
 * needs them, and one whose spectrum is truncated ends a group. */
typedef struct weft_axis_group {
    int axis[WEFT_MAX_RANK];
    int axes;
    bool padded, truncated;
} weft_axis_group;

/* The groups of a segment in the order of the forward transform. */
typedef struct weft_axis_groups {
    weft_axis_group real_to_real[WEFT_MAX_RANK], fourier[WEFT_MAX_RANK];
    int real_to_reals, fouriers;
    weft_axis_group none; /* axes that are padded and cropped, but not transformed */
} weft_axis_groups;

/* ---- transforms.c ---- */

/* The bytes of this rank's box at an end, and how its elements lie in memory. */
int64_t weft_end_bytes(const weft_schedule_request *request, const weft_end *e);
weft_view weft_end_view(const weft_schedule_request *request, const weft_end *e);
/* Elements from the lowest one of a view to the highest one. */
int64_t weft_view_reach(const weft_view *view);
/* A step of a kind, without buffers yet. */
weft_step *weft_schedule_add_step(weft_schedule *schedule, weft_step_kind kind);
int64_t weft_schedule_whole(const weft_schedule_request *request); /* weft_transform.whole */
/* One transform over `axes` (first transformed first; all Fourier or all real to real) of data that
 * lies as `from` and is stored as `to`, whether the engine has it or not. */
void weft_schedule_add_transform(const weft_schedule_request *request, weft_schedule *schedule,
                                 const weft_end *from, const weft_end *to, const int *axes,
                                 int count);
/* The last step, a transform, if the engine has it; otherwise it is removed. */
bool weft_schedule_engine_has(const weft_schedule_request *request, weft_schedule *schedule);
/* The same, by what the engine has. Where the engine does not take the strides of a caller's array,
 * a copy gathers or scatters its elements. */
void weft_schedule_add_fft(const weft_schedule_request *request, weft_schedule *schedule,
                           const weft_end *from, const weft_end *to, const int *axes, int count);
/* Whether the last of several axes, which must not be padded, can be transformed apart from the
 * others with the same bits and in as many passes over memory. */
bool weft_schedule_last_is_apart(const weft_schedule_request *request, weft_schedule *schedule,
                                 const weft_end *from, const weft_end *to, const int *axes,
                                 int count);
/* A copy into another memory order, which is dropped where the order stays. */
void weft_schedule_add_reordering(const weft_schedule_request *request, weft_schedule *schedule,
                                  const weft_end *from, const weft_end *to);

/* ---- groups.c ---- */

/* A step POINTWISE of arrays that lie as `at`, between what is stored and what is worked on. */
weft_step *weft_schedule_add_pointwise(const weft_schedule_request *request,
                                       weft_schedule *schedule, const weft_operator_list *operators,
                                       weft_operator_place place, const weft_end *at);
/* Between an array that lies as `at` and one of the same numbers in the precision in which they
 * travel, from which it is loaded (`loads`) or to which it is stored. `number` is less than
 * WEFT_MAX_CONVERSIONS, and that of no other one of the schedule. */
void weft_schedule_add_conversion(const weft_schedule_request *request, weft_schedule *schedule,
                                  bool loads, int number, const weft_end *at);
/* The bytes that the step loads and stores, of arrays as its layout says. */
void weft_schedule_count_bytes(weft_step *step);
/* The number of the next step that pads or crops; such steps are numbered behind the places. */
int weft_schedule_next_number(const weft_schedule *schedule);
/* Between an array that lies as `wide` and the part of it that is `narrow`: with WEFT_PLACE_LOAD,
 * or WEFT_PLACE_SPECTRUM of spectra, zeros are added, with WEFT_PLACE_STORE, or
 * WEFT_PLACE_SPECTRAL, what is beyond is left out. */
void weft_schedule_add_padding(const weft_schedule_request *request, weft_schedule *schedule,
                               weft_operator_place place, const weft_end *wide,
                               const weft_end *narrow);
/* Whether the last step crops what an inverse transform gives, or truncates what a forward one does
 * (WEFT_PLACE_STORE, WEFT_PLACE_SPECTRAL), which storing it can then be part of. */
bool weft_schedule_ends_in_crop(const weft_schedule *schedule, weft_operator_place place);
/* The same, and whether that step can apply operators of the place: to spectra scalings only. */
bool weft_schedule_crop_takes(const weft_schedule *schedule, weft_operator_place place,
                              const weft_operator_list *operators);
/* The groups of a segment's axes. */
weft_axis_groups weft_axis_groups_of(const weft_chain *chain, const weft_segment *segment);
/* The extents of `extents` along the axes of a group, and those of `other` along the others. */
weft_distribution weft_with_extents(const weft_distribution *other, const weft_axis_group *group,
                                    const int64_t *extents);
/* A list of groups, in the order of the request's direction. *at gets how the data lies after them:
 * in the order of `to` if they are the last ones, and with its extents along their axes. The
 * distribution is stored in *storage. */
void weft_schedule_add_groups(const weft_schedule_request *request, weft_schedule *schedule,
                              const weft_axis_group *group, int groups, const weft_end *to,
                              bool last, weft_end *at, weft_distribution *storage);
/* Whether the engine transforms so many axes in one pass over memory, in the only transform from
 * step `first` on, and takes what the steps around it do. */
bool weft_schedule_takes_operators(const weft_schedule_request *request,
                                   const weft_schedule *schedule, int first, int axes);
/* All transforms of a segment. */
void weft_schedule_add_transforms(const weft_schedule_request *request, weft_schedule *schedule,
                                  const weft_segment *segment, const weft_end *from,
                                  const weft_end *to);

/* ---- line_steps.c ---- */

/* Segment s of a line over several ranks, from data that lies as *at, which gets how it lies then.
 */
void weft_schedule_add_line(const weft_schedule_request *request, weft_schedule *schedule, int s,
                            weft_end *at);

#endif
