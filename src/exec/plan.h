/*
 * The plan object: what the planner settled on, made ready to run: engine plans, groups, exchanges,
 * buffers. Built by build.c, run by execute.c, described by explain.c; plan.c holds the rest of the
 * public interface.
 */
#ifndef WEFT_EXEC_PLAN_H
#define WEFT_EXEC_PLAN_H

#include "exec/context.h"
#include "plan/planner.h"

enum { WEFT_SCHEDULES = 4 }; /* direction x placement */

/* An engine plan, shared by all steps with the same transform. */
typedef struct weft_ready_transform {
    weft_transform transform;
    weft_engine_plan *plan;
} weft_ready_transform;

/* One candidate made ready to run on this rank. */
typedef struct weft_build {
    const weft_planner *planner;
    weft_candidate candidate;
    weft_chain chain;
    weft_device_handle device;
    const weft_engine_ops *engine;
    weft_transport *group[WEFT_MAX_SEGMENTS];
    bool
        scheduled[WEFT_SCHEDULES]; /* placements that options.placement excludes have no schedule */
    weft_schedule schedule[WEFT_SCHEDULES];
    weft_exchange_plan exchange[WEFT_SCHEDULES][WEFT_MAX_STEPS];
    weft_engine_plan *transform[WEFT_SCHEDULES][WEFT_MAX_STEPS]; /* not owned */
    weft_ready_transform *ready;
    int ready_count;
    void *buffer[WEFT_BUFFERS]; /* the workspaces and staging buffers */
    size_t buffer_bytes[WEFT_BUFFERS];
    weft_memory memory;
} weft_build;

struct weft_plan_private {
    weft_context context;
    weft_transport *transport; /* the plan's own message space */
    weft_call call;
    weft_region *input_boxes, *output_boxes; /* of bricks, all ranks */
    weft_planner planner;
    weft_build *build; /* NULL data (no buffers, no engine plans) over simulated ranks */
    weft_recorder recorder;
};

static inline int weft_schedule_index(weft_direction direction, bool in_place) {
    return (int)direction * 2 + (in_place ? 1 : 0);
}

/* Makes a candidate ready. Collective; the caller releases *build also after a failure. Over
 * simulated ranks only the schedules are made. */
weft_status weft_build_create(weft_transport *transport, const weft_planner *planner,
                              const weft_candidate *candidate, weft_build *build);
void weft_build_release(weft_build *build);

/* Runs one schedule. Collective. The status is this rank's own; every rank has run all exchanges.
 */
weft_status weft_build_run(weft_build *build, weft_direction direction, bool in_place,
                           const void *in, void *out, weft_recorder *recorder);

/* Bytes of the caller's buffer in a space, with or without what in-place schedules need. */
size_t weft_build_bytes(const weft_build *build, weft_space space);

/* Times the most promising candidates and moves the fastest to the front. Collective. */
weft_status weft_measure_candidates(weft_transport *transport, weft_planner *planner);

#endif
