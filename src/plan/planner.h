/*
 * The planner: every complete way to run a call that the options leave open, in the order of their
 * predicted times. Which process grids there are is in grids.h, which exchange methods a chain can
 * use in methods.h, how long a schedule takes in model.h. Knows no back end.
 */
#ifndef WEFT_PLAN_PLANNER_H
#define WEFT_PLAN_PLANNER_H

#include "plan/model.h"
#include "plan/problem.h"

/* How a candidate streams callers' arrays from the host. */
typedef struct weft_candidate_stream {
    bool used;      /* they pass the device tile by tile, ... */
    bool resident;  /* ... but for what there is room for on the device between passes */
    int room_parts; /* its schedules count on one of so many parts of the room; 0: on all of it */
} weft_candidate_stream;

/* Seconds that the first of the directions takes that are planned. */
typedef struct weft_candidate_seconds {
    double chain;     /* by the model, with the usual exchange method; 0: there is no other chain */
    double predicted; /* by the model, with the candidate's own methods */
    double measured;  /* of the slowest rank; 0: not measured */
} weft_candidate_seconds;

/* One complete way to run a call. */
typedef struct weft_candidate {
    weft_decomposition decomposition;
    weft_variant variant;
    int grid_axes;
    int grid[WEFT_MAX_RANK];
    weft_exchange exchange[WEFT_MAX_RANK]; /* by weft_chain.method */
    int exchanges;                         /* entries of it that are used */
    const weft_engine_ops *engine;         /* NULL: one that takes no pieces */
    const weft_device_ops *device;         /* it runs on */
    int tiles;   /* of a pass next to an exchange, as far as its axes allow; 0: one */
    int threads; /* of this rank; 0: one */
    bool staged; /* messages go through page-locked memory */
    weft_candidate_stream stream;
    int chain; /* candidates with the same number differ in their exchange methods only */
    weft_candidate_seconds seconds;
    bool left_out; /* some rank could not build or run it */
    char *reason;  /* why, or NULL; owned by the planner's list */
} weft_candidate;

/* What the planner is told of a call, and the candidates that it lists. */
typedef struct weft_planner {
    const weft_call *call;
    const weft_machine *machine; /* NULL: the default one */
    int ranks, rank;
    /* Over which the ranks agree on one list; NULL: this rank lists by itself, as rank 0 would. */
    weft_transport *transport;
    /* What all candidates have in common: engine, device, staging. They may differ by rank. */
    weft_candidate common;
    bool host_buffers; /* the callers' buffers must be copied to and from the device */
    /* Bytes of the device's memory that the plan may count on: options.device_memory_limit or,
     * where it is 0, what is free for this rank; the same on all ranks. 0: nothing tells. */
    int64_t room;
    bool leaves_on_host; /* nothing stays on the device between passes of a streamed candidate */
    bool addressable;    /* ranks of one node can read each other's memory of the device */
    const int *node;     /* [ranks]: ranks with the same number share a node; NULL: all do */
    /* [ranks]: ranks with the same number share a device; NULL: no method that needs devices of
     * their own is chosen */
    const int *own_device;
    const weft_region *input_boxes, *output_boxes; /* of bricks, all ranks; or NULL */
    weft_candidate *candidates;                    /* most promising first */
    int count;
} weft_planner;

/* The machine that a planner predicts for. */
static inline const weft_machine *weft_planner_machine(const weft_planner *planner) {
    return planner->machine ? planner->machine : &weft_machine_default;
}

/* Lists the candidates and orders them by the model. The list is the same on all ranks. The caller
 * releases the planner, also after a failure. Collective over planner->transport, if there is one.
 */
weft_status weft_planner_list(weft_planner *planner);
void weft_planner_release(weft_planner *planner);

/* What the steps of a candidate, whose chain this is, are predicted for. */
weft_model weft_planner_model(const weft_planner *planner, const weft_candidate *candidate,
                              const weft_chain *chain);

/* The tiles of a pass next to an exchange where the caller leaves them open. */
int weft_planner_tiles(const weft_planner *planner);

/* Whether the options want a schedule for this direction and placement. */
bool weft_planner_wants(const weft_planner *planner, weft_direction direction, bool in_place);

/* The chain of a candidate, and the schedule of a rank for one direction and placement;
 * `held` says what is held anyway for other schedules. */
weft_status weft_planner_chain(const weft_planner *planner, const weft_candidate *candidate,
                               weft_chain *chain);
weft_status weft_planner_schedule(const weft_planner *planner, const weft_candidate *candidate,
                                  const weft_chain *chain, int rank, weft_direction direction,
                                  bool in_place, weft_held held, weft_schedule *schedule);

/* What the schedules of a candidate need by themselves. A plan's schedules are built with it: a
 * workspace that is held anyway may spare another schedule a copy, and what the slots of no
 * streamed schedule take may hold a part of the array. */
weft_status weft_planner_held(const weft_planner *planner, const weft_candidate *candidate,
                              const weft_chain *chain, int rank, weft_held *held);

/* Bytes of the device's memory that the schedules of a candidate need, but for the scratch memory
 * of engines. */
weft_status weft_planner_needs(const weft_planner *planner, const weft_candidate *candidate,
                               const weft_chain *chain, int rank, double *bytes);

#endif
