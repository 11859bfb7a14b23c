/*
 * Process grids: over which grids of ranks the decompositions that the options leave open can split
 * a problem. Of the factorizations of many ranks only the most promising ones are listed.
 */
#ifndef WEFT_PLAN_GRIDS_H
#define WEFT_PLAN_GRIDS_H

#include "plan/planner.h"

typedef struct weft_process_grid {
    weft_decomposition decomposition;
    int axes;
    int extent[WEFT_MAX_RANK];
    double estimated; /* seconds, by weft_model_estimate */
} weft_process_grid;

/* The caller frees *grids. Not collective. */
weft_status weft_planner_grids(const weft_planner *planner, weft_process_grid **grids, int *count);

#endif
