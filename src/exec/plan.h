/*
 * The plan object: what the planner settled on, made ready to run: engine plans, groups, exchanges,
 * buffers. Built by build.c, run by execute.c, described by explain.c; plan.c holds the rest of the
 * public interface.
 */
#ifndef WEFT_EXEC_PLAN_H
#define WEFT_EXEC_PLAN_H

#include "exchange/peer.h"
#include "exec/context.h"
#include "operator/kernel.h"
#include "plan/planner.h"

enum { WEFT_DIRECTIONS = 3, WEFT_SCHEDULES = 2 * WEFT_DIRECTIONS }; /* direction x placement */

/* The operators of a place, on the way of a convolution or of another transform, are the same for
 * both placements. */
enum { WEFT_OPERATOR_SLOTS = 2 * WEFT_PLACES };
static inline int weft_operator_slot(const weft_schedule *schedule, const weft_step *step) {
    return (int)step->layout.place + (schedule->direction == WEFT_CONVOLVE ? WEFT_PLACES : 0);
}

/* Whether the device's own scaling does: in place, by *factor. */
static inline bool weft_step_scales(const weft_step *step, double *factor) {
    return step->src == step->dst && !step->layout.keeps &&
           weft_operators_only_scale(step->operators, factor);
}

/* Queues for the copies of exchanges. */
enum { WEFT_EXCHANGE_QUEUES = 4 };

/* An engine plan, shared by all steps with the same transform. */
typedef struct weft_ready_transform {
    weft_transform transform;
    weft_engine_plan *plan;
} weft_ready_transform;

/* One part of an exchange. */
typedef struct weft_part {
    weft_redistribution geometry; /* owned if the exchange has several parts */
    weft_exchange_plan exchange;
    int64_t send_offset, receive_offset; /* bytes to its packed blocks */
    int made, taken; /* the parts of the transforms before and after the exchange that it is of */
    weft_event *arrived[WEFT_EXCHANGE_QUEUES]; /* what each queue does of it */
    bool started;                              /* in this run */
} weft_part;

/* An exchange of a schedule (chunks.c). */
typedef struct weft_parts {
    int count;
    int queues;        /* the first so many of weft_build.exchange_queue */
    weft_part *part;   /* [count] */
    weft_event **made; /* [step.made.parts]: what the transform before made; NULL if count is 1 */
    int *missing; /* [step.taken.parts]: parts that the transform after still waits for, in a run */
} weft_parts;

/* A stretch of a schedule that was enqueued `times` times with the same buffers (local.c). */
typedef struct weft_repeated {
    int schedule, first; /* and the step that it begins with */
    const void *in, *out, *kept;
    int64_t times, last; /* 0: unused; weft_build.enqueued of the last time */
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

/* One candidate made ready to run on this rank. */
typedef struct weft_build {
    const weft_planner *planner;
    weft_candidate candidate;
    weft_chain chain;
    weft_device_handle device;
    const weft_engine_ops *engine;
    weft_transport *group[WEFT_MAX_SEGMENTS];
    weft_communicator *communicator[WEFT_MAX_SEGMENTS]; /* of devices; NULL where there is none */
    bool apart; /* a communicator has failed, or is not complete, on some rank: none is used */
    bool
        scheduled[WEFT_SCHEDULES]; /* placements that options.placement excludes have no schedule */
    weft_schedule schedule[WEFT_SCHEDULES];
    weft_parts parts[WEFT_SCHEDULES][WEFT_MAX_STEPS]; /* of exchanges */
    weft_queue *exchange_queue[WEFT_EXCHANGE_QUEUES]; /* as many as some exchange uses */
    weft_stream_workers *stream_workers;              /* of all exchanges by p2p-streams */
    weft_queue *far_queue; /* transforms that load from partners' arrays beside others */
    /* Not owned; [1] for shorter parts, the last ones, where they differ; [2] and [3] the same of
     * those that load from partners' arrays. NULL: nothing here */
    weft_engine_plan *transform[WEFT_SCHEDULES][WEFT_MAX_STEPS][4];
    weft_ready_transform *ready;
    int ready_count;
    /* By weft_operator_slot: as the host's code, or as a kernel. NULL: no such step here. */
    weft_pointwise *pointwise[WEFT_OPERATOR_SLOTS];
    weft_operator_pass *operator_pass[WEFT_OPERATOR_SLOTS];
    void *buffer[WEFT_BUFFERS]; /* the workspaces and staging buffers */
    void *kept;                 /* the caller's array for the spectrum of a convolution, in a run */
    size_t buffer_bytes[WEFT_BUFFERS];
    size_t callers_bytes[2]; /* of the caller's buffer in each weft_space */
    bool wants_pairs;        /* callers' arrays are aligned to two of their numbers */
    weft_memory memory;
    bool repeats[WEFT_SCHEDULES]; /* what it enqueues may become graphs (local.c) */
    weft_repeated repeated[WEFT_REPEATED];
    int64_t enqueued; /* stretches */

    /* Exchanges that read partners' workspaces (share.c); NULL where there are none. */
    weft_transport *shared_over; /* not owned */
    weft_shared *shared;
    weft_shared_layout *shared_layout;     /* [ranks] */
    bool lends;                            /* workspaces of all ranks are lent by the device */
    const void **borrowed;                 /* [ranks * WEFT_MAX_WORKSPACES]; NULL: not (yet) */
    weft_peer *peer[2][WEFT_MAX_SEGMENTS]; /* [direction][redistribution] */
    weft_peer_readers lent[WEFT_MAX_WORKSPACES]; /* who may still read each workspace */
} weft_build;

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

/* The parts of an exchange; their events and the queue, where there are several. Not collective. */
weft_status weft_build_parts(weft_build *build, int schedule, int step);
void weft_build_release_parts(weft_build *build, int schedule, int step);
/* Tells a part where its buffers are; the step reads its partners' arrays where it has none. */
weft_exchange_plan *weft_build_ready_part(const weft_step *step, weft_part *part,
                                          void *const *buffer, weft_recorder *recorder);
/* The engine plans of a transform, and enqueuing one of its parts: on the default queue, or on the
 * far queue what loads from partners' arrays. Not collective. */
weft_status weft_build_transform(weft_build *build, int schedule, int step);
weft_status weft_build_run_transform(weft_build *build, int schedule, int step, int part,
                                     void *const *buffer);

/* Steps without exchange: which schedules repeat, found once, with the device open; up to which
 * step those from `first` on are enqueued at once; enqueuing them, as a graph where that has been
 * done before; whether to wait after a step. Not collective. */
void weft_build_find_repeating(weft_build *build);
int weft_build_stretch(const weft_build *build, int schedule, int first);
weft_status weft_build_enqueue(weft_build *build, int schedule, int first, int last,
                               void *const *buffer);
bool weft_build_ends_phase(const weft_build *build, const weft_schedule *schedule, int step);
void weft_build_release_graphs(weft_build *build);

/* Runs an exchange in parts with the transforms that overlap with it; `status` is that of the steps
 * before. Returns this rank's first failure. */
weft_status weft_build_run_parts(weft_build *build, int schedule, int step, void *const *buffer,
                                 weft_status status, weft_recorder *recorder);

/* Waits for an exchange by device on its queue. */
weft_status weft_build_await_device(const weft_build *build, const weft_step *step,
                                    weft_queue *queue, weft_recorder *recorder);

/* Fills in what a shared method needs of the exchange of a step. Not collective. */
weft_status weft_build_peer(weft_build *build, int schedule, int step, weft_exchange_plan *e);
/* After an exchange partners may go on reading src; before a step writes there, wait for them. */
void weft_build_lend(weft_build *build, const weft_exchange_plan *e);
void weft_build_take_back(weft_build *build, const weft_step *step);

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
