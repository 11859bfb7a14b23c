/* What the schedules of a candidate need of the device's memory, without those being kept. */
#include "plan/planner.h"

#include "support/error.h"

/* The largest of each that some schedule needs. */
typedef struct needs {
    int workspaces;
    size_t buffer_bytes[WEFT_BUFFERS];
} needs;

static void add(const weft_schedule *schedule, needs *most) {
    if (schedule->workspaces > most->workspaces) most->workspaces = schedule->workspaces;
    for (int i = 0; i < WEFT_BUFFERS; i++)
        if (schedule->buffer_bytes[i] > most->buffer_bytes[i])
            most->buffer_bytes[i] = schedule->buffer_bytes[i];
}

static weft_status find(const weft_planner *planner, const weft_candidate *candidate,
                        const weft_chain *chain, int rank, weft_held held, needs *most) {
    *most = (needs){0};
    for (int s = 0; s < 2 * WEFT_DIRECTIONS; s++) {
        const weft_direction direction = (weft_direction)(s / 2);
        const bool in_place = s % 2 == 1;
        weft_schedule schedule;
        if (!weft_planner_wants(planner, direction, in_place)) continue;
        weft_status status = weft_planner_schedule(planner, candidate, chain, rank, direction,
                                                   in_place, held, &schedule);
        add(&schedule, most);
        weft_schedule_release(&schedule);
        WEFT_TRY(status);
    }
    return WEFT_SUCCESS;
}

weft_status weft_planner_held(const weft_planner *planner, const weft_candidate *candidate,
                              const weft_chain *chain, int rank, weft_held *held) {
    needs most;
    *held = (weft_held){0};
    WEFT_TRY(find(planner, candidate, chain, rank, *held, &most));
    held->workspaces = most.workspaces;
    for (int w = 0; w < 2 && candidate->stream.used && candidate->stream.resident; w++)
        held->slots[w] = (int64_t)most.buffer_bytes[WEFT_BUFFER_WORKSPACE + w];
    return WEFT_SUCCESS;
}

weft_status weft_planner_needs(const weft_planner *planner, const weft_candidate *candidate,
                               const weft_chain *chain, int rank, double *bytes) {
    weft_held held;
    needs most;
    WEFT_TRY(weft_planner_held(planner, candidate, chain, rank, &held));
    WEFT_TRY(find(planner, candidate, chain, rank, held, &most));
    *bytes = 0;
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFER_STAGE_SEND; i++)
        *bytes += (double)most.buffer_bytes[i];
    return WEFT_SUCCESS;
}
