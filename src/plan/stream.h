/* The state of planning a streamed schedule: stream.c says which passes there are, stream_tiles.c
 * finds tiles that fit, stream_pass.c makes the steps of a pass, stream_resident.c keeps a part of
 * the array on the device between passes. */
#ifndef WEFT_PLAN_STREAM_H
#define WEFT_PLAN_STREAM_H

#include "plan/steps.h"

/* The axes in the order in which they are transformed. */
typedef struct weft_axis_list {
    int axis[WEFT_MAX_RANK];
    int count;
} weft_axis_list;

enum { WEFT_NOWHERE = -1 };

/* The places whose operators a pass applies, or WEFT_NOWHERE. */
typedef struct weft_pass_places {
    int loads, turns, stores; /* as it loads, in the middle of one there and back, as it stores */
} weft_pass_places;

/* The arrays on the host that the pass at hand reads and writes. */
typedef struct weft_pass_arrays {
    int source, target; /* the buffers that it begins in and leaves data in */
    bool within;        /* it reads the array that it writes */
    bool outgrow;       /* between passes they may be larger than the caller's output */
} weft_pass_arrays;

/* Extents of the array behind a pass there and back, and behind the segment that turns. */
typedef struct weft_turning {
    weft_distribution after, end;
} weft_turning;

/* The pass at hand, and what is left. */
typedef struct weft_stream_state {
    const weft_schedule_request *request; /* with the direction of the pass */
    weft_schedule *schedule;
    weft_pass_places place;
    int segment; /* of the chain, whose passes are being made */
    weft_pass_arrays array;
    const weft_exchange_ops *departs; /* how the array gets to the next segment; NULL: it stays */
    int loads_blocks;                 /* weft_streamed_pass.loads_blocks of the next pass */
    weft_axis_list left;              /* axes that are not transformed yet */
    weft_distribution after; /* extents of the array behind the transforms of the pass at hand or,
                                there and back, in their middle */
    weft_turning turning;
    weft_end at, end;            /* how the array lies before that pass, and where it ends */
    bool real_after;             /* like `after` */
    weft_distribution now, last; /* what at.distribution and end.distribution are */
    int64_t budget;              /* bytes of one slot of both workspaces */
} weft_stream_state;

/* Says what cannot be streamed: WEFT_ERROR_UNSUPPORTED. */
weft_status weft_stream_refuse(const char *what);

/* Adds the steps of a pass, with the tiles that were found for it, over the first `count` of the
 * axes that are left. The array is then what the pass makes of it, in s->array.target. */
weft_status weft_stream_add_pass(weft_stream_state *s, int count, weft_streamed_pass *pass);

/* How the array lies behind the pass at hand: there and back, with the numbers that it had. */
weft_end weft_stream_result(const weft_stream_state *s);

/* Whether the array's elements lie in it where they did before the pass at hand, but that there are
 * others along the axes that the pass transforms. */
bool weft_stream_keeps_places(const weft_stream_state *s);

/* Whether `axis` is among the first `count` of the axes that are left. */
bool weft_stream_is_left(const weft_stream_state *s, int axis, int count);

/* The tiles of a pass over the first `count` axes that are left, and what the array is behind it,
 * if tiles fit: shares of the slowest other axis or, where one index of it is too much, of the next
 * one. */
bool weft_stream_find_tiles(weft_stream_state *s, int count, weft_streamed_pass *pass);

/* The same for the axes that are left but the first `before`, once those are transformed. */
bool weft_stream_fits_apart(weft_stream_state *s, int before, weft_streamed_pass *pass);

/* Finds out how the array leaves the segment that was entered, for segment `next`; WEFT_NOWHERE: it
 * stays. */
weft_status weft_stream_find_departure(weft_stream_state *s, int next);
/* The buffer in which a pass leaves the array: the first or the last one of its segment, or both,
 * or neither. */
int weft_stream_target(const weft_stream_state *s, bool first, bool last);
/* Adds the redistribution from the segment at hand, which s->array.target holds, to segment `next`,
 * which is then to begin in s->array.source. */
weft_status weft_stream_add_redistribution(weft_stream_state *s, int next);

/* Keeps on the device, between passes, what there is room for beside the slots. */
void weft_stream_keep_resident(const weft_schedule_request *request, weft_schedule *schedule);

#endif
