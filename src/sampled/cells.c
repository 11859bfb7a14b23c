/*
 * Octrees as lists of cells, for those who want to see them. Lattices serve what boxes around boxes
 * leave (tree.h); cells are those of one tree of cubes over the grid, which are cut in halves along
 * each axis as long as several lattices serve points of one.
 */
#include "sampled/sampled.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* The least and the greatest distance from the box of what a cell has along an axis. */
static void find_distances(const weft_tree *t, int a, int64_t lo, int64_t first, int64_t points,
                           int64_t *least, int64_t *most) {
    const int64_t gap = t->period[a] - t->edge[a];
    const int64_t from = weft_modulo(first - lo, t->period[a]), last = from + points - 1;
    const int64_t farthest = t->edge[a] + (gap + 1) / 2 - 1; /* the first of those points */
    int64_t end[2];
    for (int i = 0; i < 2; i++) {
        const int64_t at = weft_modulo(i == 0 ? from : last, t->period[a]);
        const int64_t above = at - t->edge[a] + 1, below = t->period[a] - at;
        end[i] = at < t->edge[a] ? 0 : above < below ? above : below;
    }
    *least = end[0] < end[1] ? end[0] : end[1];
    *most = end[0] > end[1] ? end[0] : end[1];
    if (last >= t->period[a]) *least = 0; /* the box begins at 0 here, and again at the period */
    if (gap > 0 && from <= farthest && last >= farthest) *most = (gap + 1) / 2;
    if (gap > 0 && last >= farthest + t->period[a]) *most = (gap + 1) / 2;
}

static int level_at(const weft_tree *t, int64_t distance) {
    int level = 0;
    while (distance >= t->level[level].reach) level++;
    return level;
}

static int64_t step_of(const weft_tree *t, int level) {
    int64_t step = 1;
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        if (t->level[level].stride[a] > step) step = t->level[level].stride[a];
    return step;
}

typedef struct cell_list {
    const weft_tree *tree;
    const int64_t *lo;       /* of its box */
    weft_octree_cell *cells; /* NULL: they are counted only */
    int64_t count;
} cell_list;

static void add_cell(cell_list *list, const int64_t *at, int64_t edge, int64_t step) {
    if (list->cells) {
        weft_octree_cell *cell = &list->cells[list->count];
        memcpy(cell->lo, at, sizeof cell->lo);
        cell->edge = edge;
        cell->step = step;
    }
    list->count++;
}

/* The cells in a cube of the grid, whose first point is in it. */
static void divide(cell_list *list, const int64_t *at, int64_t edge) {
    const weft_tree *t = list->tree;
    int64_t nearest = 0, farthest = 0;
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        const int64_t rest = t->period[a] - at[a];
        int64_t least, most;
        find_distances(t, a, list->lo[a], at[a], edge < rest ? edge : rest, &least, &most);
        if (least > nearest) nearest = least;
        if (most > farthest) farthest = most;
    }
    const int finest = level_at(t, nearest), coarsest = level_at(t, farthest);
    if (finest == coarsest || edge <= step_of(t, coarsest)) {
        add_cell(list, at, edge, step_of(t, finest));
        return;
    }
    for (int child = 0; child < 8; child++) {
        int64_t corner[WEFT_TREE_AXES];
        bool inside = true;
        for (int a = 0; a < WEFT_TREE_AXES; a++) {
            corner[a] = at[a] + (child >> (WEFT_TREE_AXES - 1 - a)) % 2 * (edge / 2);
            inside = inside && corner[a] < t->period[a];
        }
        if (inside) divide(list, corner, edge / 2);
    }
}

int64_t weft_tree_cells(const weft_tree *tree, const int64_t *lo, weft_octree_cell *cells) {
    cell_list list = {.tree = tree, .lo = lo, .cells = cells};
    const int64_t origin[WEFT_TREE_AXES] = {0};
    int64_t edge = 1;
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        while (edge < tree->period[a]) edge *= 2;
    divide(&list, origin, edge);
    return list.count;
}

/* ---- of a convolution ---- */

/* Sub-domain `number` of a rank's box, or the box itself. */
static weft_status find_box(const weft_sampled *s, int rank, int64_t number, weft_region *box) {
    const weft_region whole = s->source[rank];
    int64_t edge[WEFT_TREE_AXES], count[WEFT_TREE_AXES], all = 1;
    *box = whole;
    if (number == -1 || weft_region_elements(&whole) == 0) return WEFT_SUCCESS;
    weft_sampled_edges(s, &whole, edge);
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        count[a] = (whole.n[a] + edge[a] - 1) / edge[a];
        all *= count[a];
    }
    if (number < -1 || number >= all)
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "weft_convolution_cells: subdomain is %lld; the sub-domains of rank %d are "
            "0 to %lld, and -1 is all of its box",
            (long long)number, rank, (long long)all - 1);
    weft_sampled_subdomain(&whole, edge, count, number, box);
    return WEFT_SUCCESS;
}

/* The problem's axes first. */
static void turn_axes(const weft_sampled *s, weft_cells *found) {
    const int axes = s->convolved->problem.rank;
    for (int64_t i = 0; i < found->count; i++) {
        int64_t *lo = found->cell[i].lo;
        memmove(lo, lo + WEFT_TREE_AXES - axes, (size_t)axes * sizeof *lo);
        for (int a = axes; a < WEFT_TREE_AXES; a++) lo[a] = 0;
    }
}

weft_status weft_sampled_cells(weft_sampled *s, int rank, int64_t subdomain,
                               const weft_octree_cell **cells, int64_t *count) {
    weft_region box;
    weft_cells found = {0};
    if (!cells || !count)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_convolution_cells: %s is NULL",
                         cells ? "count" : "cells");
    if (rank < 0 || rank >= s->transport->size)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolution_cells: rank is %d; give 0 to %d", rank,
                         s->transport->size - 1);
    WEFT_TRY(find_box(s, rank, subdomain, &box));
    const weft_tree tree = weft_sampled_tree(s, box.n);
    if (weft_region_elements(&box) > 0) found.count = weft_tree_cells(&tree, box.lo, NULL);
    found.cell = calloc((size_t)found.count + 1, sizeof *found.cell);
    if (!found.cell)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %lld cells",
                         (long long)found.count);
    if (found.count > 0) weft_tree_cells(&tree, box.lo, found.cell);
    turn_axes(s, &found);
    free(s->array.cells.cell);
    s->array.cells = found;
    *cells = found.cell;
    *count = found.count;
    return WEFT_SUCCESS;
}
