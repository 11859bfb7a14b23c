/*
 * Listing process grids. A pencil-like grid has 2 to rank-1 dimensions, each with two or more
 * ranks. Factorizations are searched from the squarest on: each dimension in turn takes the
 * divisors of the ranks that are left which come closest to an equal share, so few that
 * machine.search.examined_grids are looked at for each number of dimensions. Those that the closed
 * formula of the model likes best are listed.
 */
#include "plan/grids.h"

#include "plan/model.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grids beside those that are searched: three slabs, and one that the caller gives. */
enum { OTHER_GRIDS = 4 };

typedef struct search {
    const weft_planner *planner;
    const int *divisor; /* of all ranks, ascending */
    int divisors;
    int breadth; /* divisors that are tried for each dimension */
    weft_process_grid *best;
    int count, most;
    weft_chain *chain; /* of the grid that is looked at */
} search;

static bool wanted(weft_decomposition asked, weft_decomposition this) {
    return asked == WEFT_DECOMPOSITION_AUTO || asked == WEFT_BRICK || asked == this;
}

static int given_entries(const weft_options *o) {
    int entries = 0;
    while (entries < WEFT_MAX_RANK && o->grid[entries] > 0) entries++;
    return entries;
}

/* All divisors of the ranks, ascending; the caller frees them. */
static int *list_divisors(int ranks, int *count) {
    int most = 0;
    for (int64_t d = 1; d * d <= ranks; d++) most += ranks % d == 0 ? 2 : 0;
    int *list = malloc((size_t)most * sizeof *list), low = 0, high = most;
    if (!list) return NULL;
    for (int d = 1; (int64_t)d * d <= ranks; d++) {
        if (ranks % d != 0) continue;
        list[low++] = d;
        if (d != ranks / d) list[--high] = ranks / d;
    }
    memmove(list + low, list + high, (size_t)(most - high) * sizeof *list);
    *count = low + most - high;
    return list;
}

/* Keeps the best grids in order; of equals, the one that is found first stays first. */
static void insert(search *s, const weft_process_grid *grid) {
    int at = s->count;
    while (at > 0 && s->best[at - 1].estimated > grid->estimated) at--;
    if (at == s->most) return;
    if (s->count < s->most) s->count++;
    for (int i = s->count - 1; i > at; i--) s->best[i] = s->best[i - 1];
    s->best[at] = *grid;
}

/* `chain` is room for the grid's chain. */
static weft_status estimate(const weft_planner *p, weft_chain *chain, weft_process_grid *grid) {
    weft_candidate candidate = {
        .decomposition = grid->decomposition, .variant = WEFT_DEFAULT, .grid_axes = grid->axes};
    memcpy(candidate.grid, grid->extent, sizeof candidate.grid);
    WEFT_TRY(weft_planner_chain(p, &candidate, chain));
    grid->estimated = weft_model_estimate(weft_planner_machine(p), p->call->options.threads, chain,
                                          p->call->problem.precision);
    return WEFT_SUCCESS;
}

static weft_status examine(search *s, weft_process_grid *grid) {
    const weft_status status = estimate(s->planner, s->chain, grid);
    if (status == WEFT_ERROR_UNSUPPORTED) return WEFT_SUCCESS; /* it has no chain */
    WEFT_TRY(status);
    insert(s, grid);
    return WEFT_SUCCESS;
}

static weft_status divide(search *s, weft_process_grid *grid, int dimension, int left);

/* With `extent` ranks along a dimension, if the others get two or more each. */
static weft_status take(search *s, weft_process_grid *grid, int dimension, int left, int extent) {
    grid->extent[dimension] = extent;
    return divide(s, grid, dimension + 1, left / extent);
}

/* Shares out the ranks that are left among this dimension and those after it: first with the
 * divisors that are closest to an equal share, then with others on either side. */
static weft_status divide(search *s, weft_process_grid *grid, int dimension, int left) {
    const int dimensions = grid->axes - dimension;
    const double share = pow(left, 1.0 / dimensions);
    int above = 0, tried = 0;
    if (dimensions == 1) {
        grid->extent[dimension] = left;
        return left < 2 ? WEFT_SUCCESS : examine(s, grid);
    }
    while (above < s->divisors && s->divisor[above] < share) above++;
    for (int below = above - 1; tried < s->breadth;) {
        while (below >= 0 && left % s->divisor[below] != 0) below--;
        while (above < s->divisors && left % s->divisor[above] != 0) above++;
        const bool low = below >= 0 && s->divisor[below] >= 2;
        const bool high = above < s->divisors && s->divisor[above] <= left / 2;
        if (!low && !high) break;
        const bool first = low && (!high || share / s->divisor[below] <= s->divisor[above] / share);
        const int extent = s->divisor[first ? below-- : above++];
        if (extent < 2) continue;
        WEFT_TRY(take(s, grid, dimension, left, extent));
        tried++;
    }
    return WEFT_SUCCESS;
}

/* Pencil-like grids of 2 to `most_axes` dimensions. */
static weft_status search_pencils(search *s, int most_axes) {
    const double examined = weft_planner_machine(s->planner)->search.examined_grids;
    for (int axes = 2; axes <= most_axes; axes++) {
        weft_process_grid grid = {.decomposition = WEFT_PENCIL, .axes = axes};
        s->breadth = (int)fmax(2, floor(pow(examined, 1.0 / (axes - 1))));
        WEFT_TRY(divide(s, &grid, 0, s->planner->ranks));
    }
    return WEFT_SUCCESS;
}

/* Appends the best grids to the list. */
static weft_status list_pencils(const weft_planner *planner, weft_chain *chain,
                                weft_process_grid *grids, int *count) {
    search s = {.planner = planner,
                .best = grids + *count,
                .most = weft_planner_machine(planner)->search.listed_grids,
                .chain = chain};
    int *divisor = list_divisors(planner->ranks, &s.divisors);
    s.divisor = divisor;
    weft_status status = divisor ? search_pencils(&s, planner->call->problem.rank - 1)
                                 : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    *count += s.count;
    free(divisor);
    return status;
}

/* In 2-D all slabs are the same, and of real data slab-y-zx is slab-2d1d: they are listed for who
 * asks for them. */
static void list_slabs(const weft_planner *planner, weft_process_grid *grids, int *count) {
    static const weft_decomposition slabs[] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D, WEFT_SLAB_Y_ZX};
    const weft_problem *p = &planner->call->problem;
    const weft_decomposition asked = planner->call->options.decomposition;
    const int different = p->rank == 2 ? 1 : p->kind == WEFT_R2C ? 2 : 3;
    for (int i = 0; i < 3; i++)
        if (wanted(asked, slabs[i]) && (i < different || asked == slabs[i]))
            grids[(*count)++] = (weft_process_grid){slabs[i], 1, {planner->ranks}, 0};
}

static weft_status list(const weft_planner *planner, weft_chain *chain, weft_process_grid *grids,
                        int *count) {
    const weft_options *o = &planner->call->options;
    const int rank = planner->call->problem.rank, ranks = planner->ranks;
    const int entries = given_entries(o);
    const bool asked = o->decomposition == WEFT_PENCIL;
    if (ranks == 1 || planner->call->line.points > 0) { /* the name says nothing */
        const bool named =
            o->decomposition != WEFT_DECOMPOSITION_AUTO && o->decomposition != WEFT_BRICK;
        const weft_decomposition name = named ? o->decomposition : WEFT_SLAB_2D1D;
        grids[(*count)++] = (weft_process_grid){name, rank > 1 ? 1 : 0, {ranks}, 0};
        return WEFT_SUCCESS;
    }
    if (entries <= 1) list_slabs(planner, grids, count);
    if (!wanted(o->decomposition, WEFT_PENCIL) || (entries == 1 && !asked)) return WEFT_SUCCESS;
    if (entries > 0) {
        weft_process_grid given = {.decomposition = WEFT_PENCIL, .axes = entries};
        memcpy(given.extent, o->grid, (size_t)entries * sizeof given.extent[0]);
        grids[(*count)++] = given;
        return WEFT_SUCCESS;
    }
    WEFT_TRY(list_pencils(planner, chain, grids, count));
    /* A pencil in one dimension is a slab: for who asks for a pencil where there is no other. */
    if (*count == 0)
        grids[(*count)++] = (weft_process_grid){WEFT_PENCIL, rank == 2 ? 1 : 2, {ranks, 1}, 0};
    return WEFT_SUCCESS;
}

/* Drops the grids that have no chain, and those that are far slower than the best one. */
static weft_status discard(const weft_planner *planner, weft_chain *chain, weft_process_grid *grids,
                           int *count) {
    double best = INFINITY;
    int left = 0;
    weft_status refused = WEFT_SUCCESS;
    for (int i = 0; i < *count; i++) {
        const weft_status status = estimate(planner, chain, &grids[i]);
        if (status == WEFT_ERROR_UNSUPPORTED) {
            refused = status;
            grids[i].estimated = INFINITY;
            continue;
        }
        WEFT_TRY(status);
        best = fmin(best, grids[i].estimated);
    }
    if (best == INFINITY) return refused;
    const double limit = weft_planner_machine(planner)->search.discarded * best;
    for (int i = 0; i < *count; i++)
        if (grids[i].estimated <= limit) grids[left++] = grids[i];
    *count = left;
    return WEFT_SUCCESS;
}

weft_status weft_planner_grids(const weft_planner *planner, weft_process_grid **grids, int *count) {
    const int searched = weft_planner_machine(planner)->search.listed_grids;
    weft_process_grid *all = calloc((size_t)(OTHER_GRIDS + searched), sizeof *all);
    weft_chain *chain = malloc(sizeof *chain);
    weft_status status = all && chain
                             ? WEFT_SUCCESS
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    *count = 0;
    if (status == WEFT_SUCCESS) status = list(planner, chain, all, count);
    if (status == WEFT_SUCCESS) status = discard(planner, chain, all, count);
    if (status == WEFT_SUCCESS)
        *grids = all;
    else
        free(all);
    free(chain);
    return status;
}
