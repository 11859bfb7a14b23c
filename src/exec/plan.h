/*
 * The plan object, and the candidate that the planner chose, made ready to run: engine plans,
 * groups, programs, buffers. Built by build.c, run by run.c, described by explain.c; plan.c holds
 * the rest of the public interface.
 */
#ifndef WEFT_EXEC_PLAN_H
#define WEFT_EXEC_PLAN_H

#include "exec/context.h"
#include "exec/program.h"
#include "operator/kernel.h"
#include "operator/offload.h"
#include "plan/planner.h"

enum { WEFT_SCHEDULES = 2 * WEFT_DIRECTIONS }; /* direction x placement */

/* A list of operators is prepared once for each direction; schedules of both placements share it.
 */
enum { WEFT_OPERATOR_SLOTS = WEFT_DIRECTIONS * WEFT_MAX_POINTWISE_STEPS };
static inline int weft_operator_slot(const weft_schedule *schedule, const weft_step *step) {
    return (int)schedule->direction * WEFT_MAX_POINTWISE_STEPS + step->as.pointwise.number;
}

/* Whether the step is what the device's own scaling does: in place, by *factor. */
static inline bool weft_step_scales(const weft_step *step, double *factor) {
    return step->src == step->dst && !step->as.pointwise.layout.keeps &&
           weft_operators_only_scale(step->as.pointwise.operators, factor);
}

/* An engine plan, shared by all tasks with the same transform. */
typedef struct weft_ready_transform {
    weft_transform transform;
    weft_engine_plan *plan;
} weft_ready_transform;

/* Tasks first to last - 1 of a schedule, enqueued with the same buffers (repeat.c). */
typedef struct weft_repeated {
    int schedule, first, last;
    const void *in, *out, *spectrum;
    int64_t times;     /* that they were enqueued; 0: unused */
    int64_t latest;    /* weft_repetition.enqueued at the last time */
    weft_graph *graph; /* NULL: none yet, or it could not be made */
} weft_repeated;
enum { WEFT_REPEATED = 8 };

/* Where workspaces, page-locked buffers and flags begin in the memory that a rank shares (-1: it is
 * not there), and the handles of the workspaces that its device exports. */
typedef struct weft_shared_layout {
    int64_t workspace[WEFT_SHARED_BUFFERS];
    size_t bytes[WEFT_SHARED_BUFFERS];
    int64_t flags;
    bool exported[WEFT_SHARED_BUFFERS];
    weft_memory_handle handle[WEFT_SHARED_BUFFERS];
} weft_shared_layout;

/* The ranks that exchange with each other, by redistribution. */
typedef struct weft_groups {
    weft_transport *of[WEFT_MAX_SEGMENTS];
    weft_communicator *communicator[WEFT_MAX_SEGMENTS]; /* of devices that carry out the exchange
                                                           themselves (communicators.c), or NULL */
    bool broken; /* on some rank a communicator has failed, or is not complete: none is used */
} weft_groups;

typedef struct weft_lanes {
    weft_queue *queue[WEFT_LANES]; /* NULL: the device's default queue, or the lane is not used */
    weft_sender *sender;           /* NULL: no exchange has one */
} weft_lanes;

typedef struct weft_ready_transforms {
    weft_ready_transform *list;
    int count;
    weft_scratch scratch[2]; /* of those on the compute lane, and of those of low priority */
} weft_ready_transforms;

/* Lists of operators, by weft_operator_slot, as the host's code, as a kernel, or as data for a
 * device that has neither. NULL: no step of the plan has that list. */
typedef struct weft_ready_operators {
    weft_pointwise *pointwise[WEFT_OPERATOR_SLOTS];
    weft_operator_pass *pass[WEFT_OPERATOR_SLOTS];
    weft_operator_offload *offload[WEFT_OPERATOR_SLOTS];
} weft_ready_operators;

typedef struct weft_buffers {
    void *memory[WEFT_BUFFERS];  /* the workspaces and staging buffers */
    bool borrowed[WEFT_BUFFERS]; /* that memory belongs to another build */
    size_t bytes[WEFT_BUFFERS];  /* their sizes */
    size_t callers_bytes[3];     /* of the caller's buffer in each weft_space */
    int64_t callers_first[3];    /* where it begins, from element 0 on: not above 0 */
    bool wants_pairs;            /* callers' arrays are aligned to two of their numbers */
    void *spectrum; /* the caller's array for the spectrum of a convolution, in a run */
} weft_buffers;

/* Tasks that are enqueued again and again (repeat.c). */
typedef struct weft_repetition {
    bool possible[WEFT_SCHEDULES]; /* what a schedule enqueues may become graphs */
    weft_repeated list[WEFT_REPEATED];
    int64_t enqueued; /* how many lists of tasks, so far */
} weft_repetition;

/* Workspaces that partners read (share.c); all NULL where no exchange reads them. */
typedef struct weft_sharing {
    weft_transport *over; /* not owned */
    weft_shared *memory;
    weft_shared_layout *layout; /* [ranks] */
    bool exports;               /* the device exports workspaces, which the CPU cannot address */
    const void **imported;      /* [ranks * WEFT_SHARED_BUFFERS]; NULL: not imported */
    void **locked; /* the same of page-locked buffers; NULL: the device did not lock it */
    weft_peer *peer[2][WEFT_MAX_SEGMENTS];          /* [direction][redistribution] */
    weft_peer_readers readers[WEFT_SHARED_BUFFERS]; /* the partners that may still read each */
} weft_sharing;

/* One candidate made ready to run on this rank. */
struct weft_build {
    const weft_planner *planner;
    weft_candidate candidate;
    weft_chain chain;
    weft_device_handle device;
    weft_groups groups;
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
    bool enqueued; /* work on the default queue that nobody has waited for, perhaps */
};

/* Most bytes of both arrays for which not every execution is timed. */
enum { WEFT_BRIEF_BYTES = 32 << 10 };

/* What the caller's arrays are in a direction (arguments.c). */
typedef struct weft_arguments {
    size_t in_bytes, out_bytes;
    int64_t in_first, out_first; /* the arrays' first bytes, from the addresses that are given */
    uintptr_t in_mask, out_mask; /* bits that their addresses do not have */
    bool one_array, two_arrays;  /* whether in == out is valid, and in != out */
    weft_engine_plan *single[2]; /* [in == out]: the one transform that the call is, on one rank and
                                    the host; NULL: it is more than that */
    weft_direct_call direct[2];  /* of `single`, where its engine has one */
    bool brief;                  /* that transform takes little longer than reading the clock */
    int untimed[2];              /* [in == out]: executions until the next one that is timed */
    uint32_t arrays;     /* of operators, which must be set: those that have factors on this rank */
    uint32_t reductions; /* of the direction's operators */
} weft_arguments;

/* A convolution that is done tile by tile (src/convolve/overlap_save.c). The plan is then that of a
 * tile, and what callers are told of the whole is here. Tile i along an axis gives the points of
 * the result from i * step on, for which it loads so many of the field: `overlap` more. */
typedef struct weft_overlap_save {
    int rank, threads;
    int64_t batch;
    int64_t n[WEFT_MAX_RANK], first[WEFT_MAX_RANK], kept[WEFT_MAX_RANK]; /* as weft_convolved_axis
                                                                            has them */
    int64_t tile[WEFT_MAX_RANK], overlap[WEFT_MAX_RANK], step[WEFT_MAX_RANK];
    int64_t tiles[WEFT_MAX_RANK]; /* along each axis */
    weft_build **build;           /* [threads]: the first one is the plan's own */
    void **array;                 /* [threads]: a tile */
} weft_overlap_save;

/* How a convolution is done whose plan is an outline: by samples, by levels, or by tiles over
 * several ranks. The plan is then the exact method's over simulated ranks, not built, which tells
 * the boxes and what that method would send. */
typedef struct weft_outlined_ops {
    const char *name; /* of what weft_plan_explain tells of it */
    weft_status (*run)(weft_plan plan, const void *in, void *out); /* collective */
    weft_status (*set_kernel)(weft_plan plan, const void *array);  /* collective; NULL: kernels
                                                                      are no arrays */
    struct json_t *(*explain)(weft_plan plan);
    void (*add_memory)(weft_plan plan, weft_memory *memory);
    void (*destroy)(weft_plan plan); /* also of what could not be created */
} weft_outlined_ops;

typedef struct weft_outlined {
    const weft_outlined_ops *ops; /* NULL: the plan itself does it */
    void *state;                  /* NULL: it could not be created */
    weft_transport *transport;    /* between the ranks; NULL: it could not be made */
} weft_outlined;

/* What the plan knows of all ranks, as in weft_planner; NULL: it does not matter. */
typedef struct weft_plan_ranks {
    weft_region *input_boxes, *output_boxes; /* of bricks */
    int *node, *own_device;
} weft_plan_ranks;

struct weft_plan_private {
    weft_context context;
    /* What the plan is the handle of, or NULL. */
    struct weft_composition_private *composition;
    struct weft_convolution_private *convolution;
    weft_overlap_save *overlap_save; /* how the convolution is done by tiles, or NULL */
    weft_outlined outlined;          /* how it is done otherwise than by this plan */
    weft_transport *transport;       /* the plan's own message space */
    weft_call call;
    weft_plan_ranks ranks;
    weft_planner planner;
    weft_build *build; /* over simulated ranks without buffers and engine plans */
    weft_arguments arguments[WEFT_DIRECTIONS];
    uint32_t set_arrays; /* bit n: array n of the operators is set */
    /* Bit n: the last execution with reduction n was one in this direction, and did not fail. */
    uint32_t reduced[WEFT_DIRECTIONS];
    weft_recorder recorder;
    uint64_t bricks;  /* a number for the bricks of all ranks, once they were gathered; 0: none */
    char wisdom[512]; /* whether wisdom chose, or why it could not be used or kept; "": neither */
};

/* weft_plan_create, and the same for one purpose, where convolve and keep_spectrum of `opt` do not
 * matter. Collective. */
weft_status weft_plan_create_for(weft_context ctx, const weft_problem *problem,
                                 const weft_options *opt, const weft_purpose *purpose,
                                 weft_plan *plan);
/* The public functions of the same names, of this plan alone, whatever it is the handle of. */
weft_status weft_plan_run(weft_plan plan, weft_direction dir, const void *in, void *spectrum,
                          void *out);
void weft_plan_own_box(weft_plan plan, weft_space space, int rank, weft_box *box);
/* The spectrum of a scattered line (plan/line.h) on this rank: element i is that of frequency
 * lo + i / columns + i % columns * rows. rows is 0 of other plans. */
typedef struct weft_scattered {
    int64_t rows, lo, columns;
} weft_scattered;
weft_scattered weft_plan_scattered(weft_plan plan);
void weft_plan_own_memory(weft_plan plan, weft_memory *memory);
weft_timings weft_plan_own_timings(weft_plan plan);
/* weft_plan_set_array for convolutions, whose array is their own. Not collective. */
weft_status weft_plan_take_array(weft_plan plan, int number, const void *array);
/* Of a plan that is the handle of a convolution (src/convolve) or a composition (src/compose):
 * releases what that has beside the plan, and adds the bytes of it, but not to the total. */
void weft_convolution_forget(weft_plan plan);
void weft_convolution_add_memory(weft_plan plan, weft_memory *memory);
/* A sentence on the choice of a convolution's method, or NULL. */
const char *weft_convolution_note(weft_plan plan);
void weft_composition_forget(weft_plan plan);
void weft_composition_add_memory(weft_plan plan, weft_memory *memory);
/* weft_execute with WEFT_CONVOLVE. Collective. */
weft_status weft_composition_run(weft_plan plan, const void *in, void *out);
/* What the public functions tell of a composition. */
void weft_composition_end_box(weft_plan plan, weft_space space, int rank, weft_box *box);
size_t weft_composition_end_bytes(weft_plan plan, weft_space space);
void weft_composition_add_timings(weft_plan plan, weft_timings *timings);
void weft_composition_trace(weft_plan plan, const weft_span **spans, int *count);
/* The plan behind `before` of those that a handle owns, itself the first; NULL: there is none. Of a
 * plan that is no handle there is no other. */
weft_plan weft_plan_next(weft_plan handle, weft_plan before);

/* Convolves by tiles. Not collective. */
weft_status weft_overlap_save_run(weft_plan plan, const void *in, void *out);

/* Fails where the plan or another argument of a public function is NULL. */
weft_status weft_plan_check(weft_plan plan, const void *argument, const char *function,
                            const char *name);

static inline int weft_schedule_index(weft_direction direction, bool in_place) {
    return (int)direction * 2 + (in_place ? 1 : 0);
}

/* Find out which ranks share a node, and which a device, where an exchange method that the caller
 * gives or weft may choose depends on it (ranks.c). Collective. */
weft_status weft_plan_find_nodes(weft_plan plan);
weft_status weft_plan_find_devices(weft_plan plan);

/* Numbers the ranks' devices: own_device[r] is the lowest rank that uses the device of rank r. Only
 * where the device has messages. Allocated; the caller frees it. Collective. */
weft_status weft_plan_number_devices(weft_plan plan, int **own_device);

/* Finds planner.room, once the planner has its device (room.c). Collective. */
weft_status weft_plan_find_room(weft_plan plan);

/* Makes a candidate ready. Collective; the caller releases *build also after a failure. Over
 * simulated ranks only the schedules are made. */
weft_status weft_build_create(weft_transport *transport, const weft_planner *planner,
                              const weft_candidate *candidate, weft_build *build);
void weft_build_release(weft_build *build);

/* Workspaces that partners read (share.c). Whether some exchange reads them (the same on all
 * ranks); whether partners may read this workspace in some schedule; whether this buffer lies in
 * memory that the transport shares. Not collective. */
bool weft_build_shares(const weft_build *build);
bool weft_build_is_read(const weft_build *build, int workspace);
bool weft_build_shares_buffer(const weft_build *build, int buffer);
/* Makes those workspaces; releases them. Collective. */
weft_status weft_build_share(weft_build *build, weft_transport *transport);
void weft_build_unshare(weft_build *build);
/* The signals of the exchange that is a step, with the partners that they are for. Not collective.
 */
weft_status weft_build_peer(weft_build *build, int schedule, int step, weft_peer **peer);

/* Communicators of devices: whether some exchange needs them (the same on all ranks); making them;
 * leaving them. Collective, but for the first. */
bool weft_build_needs_communicators(const weft_build *build);
weft_status weft_build_make_communicators(weft_build *build, weft_transport *transport);
void weft_build_leave_communicators(weft_build *build);
/* Agrees on how an execution ended. After a failure it also agrees on whether a communicator has
 * failed, since the build cannot be run any more then. Collective. */
weft_status weft_build_agree(weft_build *build, weft_transport *transport, weft_status mine);

/* Enqueues a task of one of the device's lanes on that lane, where the caller has ordered it behind
 * what it waits for on others. Not collective. */
weft_status weft_build_enqueue(weft_build *build, int schedule, int task);
/* The same for a copy that has a hook. */
weft_status weft_build_enqueue_hooked(weft_build *build, const weft_task *task,
                                      weft_hooked_task *hooked, const void *src, void *dst);
/* Whether this execution works on the tile of the task. */
bool weft_hooked_task_is_wanted(const weft_hooked_task *hooked);
/* Where an access of a task begins in this run. */
void *weft_program_address(const weft_program *program, const weft_access *access);

/* Finds out which schedules may become graphs, once, with the device open. Not collective. */
void weft_build_find_repeating(weft_build *build);
/* Enqueues tasks first to last - 1 in their order, as a graph where they are enqueued again and
 * again. Not collective. */
weft_status weft_build_enqueue_all(weft_build *build, int schedule, int first, int last);
void weft_build_release_graphs(weft_build *build);

/* Runs one schedule. The status is this rank's own; every rank has run all exchanges. Collective.
 */
weft_status weft_build_run(weft_build *build, weft_direction direction, bool in_place,
                           const void *in, void *out, weft_recorder *recorder);

/* Enqueues a schedule behind the caller's work on a stream of the device, and before the caller's
 * later work there; see weft_enqueue. Not collective. */
weft_status weft_build_run_behind(weft_build *build, weft_direction direction, bool in_place,
                                  const void *in, void *out, void *stream);

/* Times the most promising candidates that can be built and run on all ranks, and moves the fastest
 * to the front. Those that cannot are left out, and move to the end. Fails where all are left out.
 * Collective. */
weft_status weft_measure_candidates(weft_transport *transport, weft_planner *planner);

/* Makes ready the first candidate that can be built, and moves it to the front. Those that cannot
 * are left out; where none can be built, fails with the first failure. Collective; the caller
 * releases *build also after a failure. */
weft_status weft_build_first(weft_transport *transport, weft_planner *planner, weft_build *build);

#endif
