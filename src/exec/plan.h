/*
 * The plan object: what the planner settled on, made ready to run: engine plans, groups, exchanges,
 * buffers. Built by build.c, run by run.c, described by explain.c; plan.c holds the rest of the
 * public interface.
 */
#ifndef WEFT_EXEC_PLAN_H
#define WEFT_EXEC_PLAN_H

#include "exec/context.h"
#include "exec/program.h"
#include "operator/kernel.h"
#include "plan/planner.h"

enum { WEFT_DIRECTIONS = 3, WEFT_SCHEDULES = 2 * WEFT_DIRECTIONS }; /* direction x placement */

/* The operators of a place, on the way of a convolution or of another transform, are the same for
 * both placements. */
enum { WEFT_OPERATOR_SLOTS = 2 * WEFT_PLACES };
static inline int weft_operator_slot(const weft_schedule *schedule, const weft_step *step) {
    return (int)step->as.pointwise.layout.place +
           (schedule->direction == WEFT_CONVOLVE ? WEFT_PLACES : 0);
}

/* Whether the device's own scaling does: in place, by *factor. */
static inline bool weft_step_scales(const weft_step *step, double *factor) {
    return step->src == step->dst && !step->as.pointwise.layout.keeps &&
           weft_operators_only_scale(step->as.pointwise.operators, factor);
}

/* An engine plan, shared by all tasks with the same transform. */
typedef struct weft_ready_transform {
    weft_transform transform;
    weft_engine_plan *plan;
} weft_ready_transform;

/* Tasks of a schedule that were enqueued `times` times with the same buffers (repeat.c). */
typedef struct weft_repeated {
    int schedule, first; /* and the task that they begin with */
    const void *in, *out, *kept;
    int64_t times, last; /* 0: unused; weft_repetition.enqueued at the last time */
    weft_graph *graph;   /* NULL: none yet, or it could not be made */
} weft_repeated;
enum { WEFT_REPEATED = 8 };

/* Where things begin in the memory that a rank shares (-1: the workspace is not there), and the
 * workspaces that its device lends. */
typedef struct weft_shared_layout {
    int64_t workspace[WEFT_MAX_WORKSPACES];
    int64_t flags;
    bool lent[WEFT_MAX_WORKSPACES];
    weft_memory_handle handle[WEFT_MAX_WORKSPACES];
} weft_shared_layout;

/* Communicators of devices, for exchanges that devices carry out themselves (meeting.c). */
typedef struct weft_meeting {
    weft_communicator *communicator[WEFT_MAX_SEGMENTS]; /* of a redistribution; NULL: none */
    bool broken; /* one has failed, or is not complete, on some rank: none is used */
} weft_meeting;

/* Queues of the device's lanes, NULL: the default queue, or not used; and the sender, NULL: no
 * exchange has one. */
typedef struct weft_lanes {
    weft_queue *queue[WEFT_LANES];
    weft_sender *sender;
} weft_lanes;

typedef struct weft_ready_transforms {
    weft_ready_transform *list;
    int count;
} weft_ready_transforms;

/* By weft_operator_slot: as the host's code, or as a kernel. NULL: no such step here. */
typedef struct weft_ready_operators {
    weft_pointwise *pointwise[WEFT_OPERATOR_SLOTS];
    weft_operator_pass *pass[WEFT_OPERATOR_SLOTS];
} weft_ready_operators;

typedef struct weft_buffers {
    void *memory[WEFT_BUFFERS]; /* the workspaces and staging buffers, ... */
    size_t bytes[WEFT_BUFFERS]; /* ... and their sizes */
    size_t callers_bytes[2];    /* of the caller's buffer in each weft_space */
    bool wants_pairs;           /* callers' arrays are aligned to two of their numbers */
    void *kept;                 /* the caller's array for the spectrum of a convolution, in a run */
} weft_buffers;

/* Work that is enqueued again and again (repeat.c). */
typedef struct weft_repetition {
    bool possible[WEFT_SCHEDULES]; /* what a schedule enqueues may become graphs */
    weft_repeated list[WEFT_REPEATED];
    int64_t enqueued; /* lists of tasks, so far */
} weft_repetition;

/* Workspaces that partners read (share.c); all NULL where no exchange reads them. */
typedef struct weft_sharing {
    weft_transport *over; /* not owned */
    weft_shared *memory;
    weft_shared_layout *layout; /* [ranks] */
    bool exported;              /* the device tells other processes of all ranks' workspaces */
    const void **imported;      /* [ranks * WEFT_MAX_WORKSPACES]; NULL: not (yet) */
    weft_peer *peer[2][WEFT_MAX_SEGMENTS];          /* [direction][redistribution] */
    weft_peer_readers readers[WEFT_MAX_WORKSPACES]; /* who may still read each workspace */
} weft_sharing;

/* One candidate made ready to run on this rank. */
struct weft_build {
    const weft_planner *planner;
    weft_candidate candidate;
    weft_chain chain;
    weft_device_handle device;
    weft_transport *group[WEFT_MAX_SEGMENTS];
    weft_meeting meeting;
    bool scheduled[WEFT_SCHEDULES]; /* not of placements that options.placement excludes */
    weft_schedule schedule[WEFT_SCHEDULES];
    weft_program program[WEFT_SCHEDULES];
    weft_lanes lanes;
    weft_ready_transforms transforms;
    weft_ready_operators operators;
    weft_buffers buffers;
    weft_memory memory;
    weft_repetition repetition;
    weft_sharing sharing;
};

/* What the caller's arrays are in a direction (arguments.c). */
typedef struct weft_arguments {
    size_t in_bytes, out_bytes;
    uintptr_t in_mask, out_mask; /* bits that their addresses do not have */
    bool same, apart;            /* whether they may be one array, or two */
    weft_engine_plan *single[2]; /* [same]: the transform that all is, on one rank and the host;
                                    or NULL */
} weft_arguments;

struct weft_plan_private {
    weft_context context;
    weft_transport *transport; /* the plan's own message space */
    weft_call call;
    weft_region *input_boxes, *output_boxes; /* of bricks, all ranks */
    int *node;                               /* of every rank; NULL: does not matter */
    int *own_device;                         /* the same; ranks with the same number share one */
    weft_planner planner;
    weft_build *build; /* NULL data (no buffers, no engine plans) over simulated ranks */
    weft_arguments arguments[WEFT_DIRECTIONS];
    weft_recorder recorder;
};

static inline int weft_schedule_index(weft_direction direction, bool in_place) {
    return (int)direction * 2 + (in_place ? 1 : 0);
}

/* Which ranks share a node, and which a device, where that matters to exchange methods that are
 * asked for or may be chosen (ranks.c). Collective. */
weft_status weft_plan_find_nodes(weft_plan plan);
weft_status weft_plan_find_devices(weft_plan plan);

/* Makes a candidate ready. Collective; the caller releases *build also after a failure. Over
 * simulated ranks only the schedules are made. */
weft_status weft_build_create(weft_transport *transport, const weft_planner *planner,
                              const weft_candidate *candidate, weft_build *build);
void weft_build_release(weft_build *build);

/* Whether some exchange reads partners' workspaces (the same on all ranks), and whether this buffer
 * lies in memory that the transport shares. */
bool weft_build_shares(const weft_build *build);
bool weft_build_shares_buffer(const weft_build *build, int buffer);
/* Makes the workspaces that partners read. Collective. */
weft_status weft_build_share(weft_build *build, weft_transport *transport);
void weft_build_unshare(weft_build *build);
/* Communicators of devices (meeting.c): whether some exchange needs them (the same on all ranks);
 * making them; giving them up. Collective, but for the first. */
bool weft_build_meets(const weft_build *build);
weft_status weft_build_meet(weft_build *build, weft_transport *transport);
void weft_build_part(weft_build *build);
/* Agrees on how an execution went; after a failure also on whether communicators have failed, so
 * that the build cannot be run any more. Collective. */
weft_status weft_build_agree(weft_build *build, weft_transport *transport, weft_status mine);

/* Enqueues a task of a lane of the device on that lane; no task that reads or writes the same data
 * is pending on another. Not collective. */
weft_status weft_build_enqueue(weft_build *build, int schedule, int task);
/* Where an access of a task begins in this run. */
void *weft_program_address(const weft_program *program, const weft_access *access);

/* Which schedules may become graphs, found once, with the device open; enqueuing tasks first to
 * last - 1, as a graph where that has been done before. Not collective. */
void weft_build_find_repeating(weft_build *build);
weft_status weft_build_enqueue_all(weft_build *build, int schedule, int first, int last);
void weft_build_release_graphs(weft_build *build);

/* The signals of the exchange that is a step, with the partners that they are for. Not collective.
 */
weft_status weft_build_peer(weft_build *build, int schedule, int step, weft_peer **peer);
/* Whether partners may read a workspace in some schedule. */
bool weft_build_is_read(const weft_build *build, int workspace);

/* Runs one schedule. Collective. The status is this rank's own; every rank has run all exchanges.
 */
weft_status weft_build_run(weft_build *build, weft_direction direction, bool in_place,
                           const void *in, void *out, weft_recorder *recorder);

/* Times the most promising candidates that can be built and run on all ranks, and moves the fastest
 * to the front; those that cannot are left out, and go to the end. Fails where all are. Collective.
 */
weft_status weft_measure_candidates(weft_transport *transport, weft_planner *planner);

/* Makes ready the first candidate that can be, and moves it to the front. Those before it are left
 * out. Where none can be, fails with the first failure. Collective; the caller releases *build also
 * after a failure. */
weft_status weft_build_first(weft_transport *transport, weft_planner *planner, weft_build *build);

#endif
