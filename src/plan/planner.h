/*
 * The planner: which decompositions, grids, variants and exchange methods are possible for a call,
 * in what order of promise. Knows no back end.
 */
#ifndef WEFT_PLAN_PLANNER_H
#define WEFT_PLAN_PLANNER_H

#include "plan/problem.h"
#include "plan/schedule.h"

/* One complete way to run a call. */
typedef struct weft_candidate {
    weft_decomposition decomposition;
    weft_variant variant;
    int grid_axes;
    int grid[WEFT_MAX_RANK];
    weft_exchange exchange[WEFT_MAX_RANK];
    int chain; /* candidates with the same number differ in their exchange methods only */
    double chain_predicted; /* seconds of a forward transform with p2p-sync, by the model; ... */
    double predicted;       /* ... with the candidate's own methods */
    double measured;        /* seconds of a forward transform, slowest rank; 0: not measured */
    bool left_out;          /* some rank could not build or run it */
    char *reason;           /* why, or NULL; owned by the planner's list */
} weft_candidate;

/* What all candidates of a call share. Boxes are those of bricks, or NULL. */
typedef struct weft_planner {
    const weft_call *call;
    int ranks, rank;
    bool staged, host_buffers;
    const weft_engine_ops *engine; /* NULL: one that takes no pieces */
    const weft_device_ops *device;
    int chunks;       /* of each exchange */
    bool addressable; /* ranks of one node can read each other's memory of the device */
    const int *node;  /* [ranks]: ranks with the same number share a node; NULL: all do */
    /* [ranks]: ranks with the same number share a device; NULL: no method by device is chosen */
    const int *own_device;
    const weft_region *input_boxes, *output_boxes;
    weft_candidate *candidates; /* most promising first */
    int count;
} weft_planner;

/* Lists the candidates and orders them by the model. The result is the same on all ranks. The
 * caller releases the planner. Not collective. */
weft_status weft_planner_list(weft_planner *planner);
void weft_planner_release(weft_planner *planner);

/* The chain of a candidate, and the schedule of a rank for one direction and placement;
 * `workspaces` are held anyway for other schedules. */
weft_status weft_planner_chain(const weft_planner *planner, const weft_candidate *candidate,
                               weft_chain *chain);
weft_status weft_planner_schedule(const weft_planner *planner, const weft_candidate *candidate,
                                  const weft_chain *chain, int rank, weft_direction direction,
                                  bool in_place, int workspaces, weft_schedule *schedule);

#endif
