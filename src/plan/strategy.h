/*
 * Strategies: the chain of segments that a decomposition and a variant stand for, as a table and
 * one rule. Knows layouts only.
 *
 * A segment is the time between two redistributions: data arrives in one memory order, some axes
 * are transformed, data leaves in another order. The forward chain is built; the inverse walks it
 * backwards.
 */
#ifndef WEFT_PLAN_STRATEGY_H
#define WEFT_PLAN_STRATEGY_H

#include "layout/layout.h"
#include "plan/line.h"
#include "support/axis.h"

#define WEFT_MAX_SEGMENTS (WEFT_MAX_RANK + 2)

/* What is done along each axis. */
typedef struct weft_axis_types {
    weft_axis forward[WEFT_MAX_RANK]; /* by the forward transform, ... */
    weft_parity parity;               /* ... but for fields that are turned */
    int64_t fields[2];                /* [direction]: of each member of the batch */
} weft_axis_types;

typedef struct weft_segment {
    /* [direction][space]: the array at either end, WEFT_INPUT being where a forward transform
     * begins. The same split; extents differ where an axis is halved, padded or cropped. */
    weft_distribution side[2][2];
    int transforms;             /* axes transformed here, ... */
    int axis[WEFT_MAX_RANK];    /* ... in this order */
    int order[2][2][WEFT_AXES]; /* [direction][space]: memory order at either end */
} weft_segment;

static inline bool weft_segment_transforms(const weft_segment *segment, int axis) {
    for (int i = 0; i < segment->transforms; i++)
        if (segment->axis[i] == axis) return true;
    return false;
}

typedef struct weft_chain {
    int axes;                        /* rank + 1 */
    int64_t n[WEFT_AXES];            /* lengths of the transforms; the batch going forward last */
    int64_t spectrum[WEFT_MAX_RANK]; /* points of which the spectrum is one; fewer than n where it
                                        is truncated */
    int ranks;                       /* of the whole process group */
    bool real;                       /* real input */
    weft_line line;                  /* the array is that of a line over several ranks */
    int halved;                      /* the axis whose transform makes complex data of it, or -1 */
    weft_axis_types types;
    int segments;
    weft_segment segment[WEFT_MAX_SEGMENTS];
    /* Redistribution k leads from segment k to k+1. Its group: the ranks that agree in all grid
     * coordinates but this one; -1: all ranks. */
    int group[WEFT_MAX_SEGMENTS];
    int method[WEFT_MAX_SEGMENTS]; /* which entry of options.exchange it uses */
    int grid_axes;
    int grid[WEFT_MAX_RANK];
} weft_chain;

/* Points along each axis, [rank]. */
typedef struct weft_chain_points {
    const int64_t *n;         /* lengths of the transforms */
    const int64_t *stored[2]; /* [direction]: extents in real space, where a forward transform
                                 begins and an inverse one ends; at most n, 0: n */
    const int64_t *spectrum;  /* as in weft_chain */
} weft_chain_points;

/* What a chain is built from: everything resolved (no AUTO), grid filled in. Boxes are explicit
 * bricks of all ranks in each space, or NULL; they must outlive the chain. */
typedef struct weft_chain_request {
    int rank;
    weft_chain_points points;
    int64_t members[2];    /* [direction]: of the batch, fields included */
    bool members_last;     /* they are contiguous in the callers' arrays; else slowest */
    bool real;             /* as in weft_chain */
    int halved;            /* as in weft_chain */
    weft_axis_types types; /* as in weft_chain */
    weft_line line;        /* as in weft_chain; the decomposition does not matter then */
    weft_decomposition decomposition;
    weft_variant variant;
    int grid_axes;
    const int *grid;
    int ranks;
    const weft_region *boxes[2]; /* [space]: of extents n, or NULL */
    const int *order[2]; /* [space]: of this rank's box (WEFT_AXES entries), natural when NULL */
} weft_chain_request;

/* The transform along an axis in a direction, of a member of the batch, fields included; and
 * whether it is that of all of them. */
weft_axis weft_chain_type(const weft_chain *chain, weft_direction direction, int axis,
                          int64_t member);
bool weft_chain_types_differ(const weft_chain *chain, weft_direction direction, int axis);

/* Whether data is real where segment s begins, in the forward direction. */
bool weft_chain_is_real(const weft_chain *chain, int s);

weft_status weft_chain_build(const weft_chain_request *request, weft_chain *chain);

/* Color and key of `rank` in the groups of redistribution k: ranks of equal color form a group,
 * ordered by key. */
void weft_chain_group(const weft_chain *chain, int redistribution, int rank, int *color, int *key,
                      int *size);
/* The rank whose key is `member` in the group of `rank`. */
int weft_chain_member(const weft_chain *chain, int redistribution, int rank, int member);

#endif
