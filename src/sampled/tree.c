/* The geometry of octrees: see tree.h. */
#include "sampled/tree.h"

#include <math.h>

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- making ---- */

/* The largest power of two that divides n, or `most` if that is smaller. */
static int64_t stride_for(int64_t n, int64_t most) {
    return least_of(n & -n, most);
}

/* Lattice points before and behind a point between two of them. */
static int64_t before(const weft_tree *t, const weft_tree_level *l, int axis) {
    return l->stride[axis] > 1 ? t->points / 2 - 1 : 0;
}

static int64_t behind(const weft_tree *t, const weft_tree_level *l, int axis) {
    return l->stride[axis] > 1 ? t->points / 2 : 0;
}

/* No point is farther from the box than this. */
static int64_t farthest(const weft_tree *t) {
    int64_t most = 0;
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        most = most_of(most, (t->period[a] - t->edge[a] + 1) / 2);
    return most;
}

/* Adds a level; false where its strides are those of the one before, which then serves its points
 * too. */
static bool add_level(weft_tree *t, int64_t stride, int64_t reach) {
    weft_tree_level *l = &t->level[t->levels];
    bool grows = t->levels == 0;
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        l->stride[a] = stride_for(t->period[a], stride);
        grows = grows || l->stride[a] > l[-1].stride[a];
    }
    if (!grows) l--;
    l->reach = reach;
    if (grows) t->levels++;
    return grows;
}

/* Fills in what follows from strides and reaches. */
static void finish(weft_tree *t) {
    t->level[t->levels - 1].reach = farthest(t) + 1;
    for (int i = 0; i < t->levels; i++)
        for (int a = 0; a < WEFT_TREE_AXES; a++) {
            weft_tree_level *l = &t->level[i];
            const int64_t points = least_of(t->edge[a] + 2 * (l->reach - 1), t->period[a]);
            /* A box may begin anywhere between two lattice points. */
            const int64_t cells = (points + l->stride[a] - 2) / l->stride[a] + 1;
            l->period[a] = t->period[a] / l->stride[a];
            l->n[a] = least_of(cells + before(t, l, a) + behind(t, l, a), l->period[a]);
        }
}

static weft_tree start(const int64_t *period, const int64_t *edge, int points) {
    weft_tree t = {.points = points};
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        t.period[a] = period[a];
        t.edge[a] = edge[a];
    }
    return t;
}

weft_tree weft_tree_graded(const int64_t *period, const int64_t *edge, int points, double opening) {
    weft_tree t = start(period, edge, points);
    const int64_t far = farthest(&t);
    int64_t stride = 1, reach = 0;
    while (t.levels < WEFT_TREE_LEVELS && reach <= far) {
        reach = most_of((int64_t)ceil(2 * (double)stride / opening), points / 2 + 1);
        if (!add_level(&t, stride, reach)) break;
        stride *= 2;
    }
    finish(&t);
    return t;
}

weft_tree weft_tree_fixed(const int64_t *period, const int64_t *edge, int points) {
    weft_tree t = start(period, edge, points);
    int64_t longest = 1;
    for (int a = 0; a < WEFT_TREE_AXES; a++) longest = most_of(longest, edge[a]);
    const int64_t stride[] = {1, 2, 8, 16},
                  reach[] = {1, most_of(1, longest / 2), 4 * longest, INT64_MAX};
    for (int i = 0; i < 4; i++)
        if (i == 0 || reach[i - 1] <= farthest(&t)) add_level(&t, stride[i], reach[i]);
    finish(&t);
    return t;
}

/* ---- using ---- */

int64_t weft_tree_first(const weft_tree *t, int level, int a, int64_t lo) {
    const weft_tree_level *l = &t->level[level];
    if (l->n[a] == l->period[a]) return 0;
    return weft_floor_of(lo - l->reach + 1, l->stride[a]) - before(t, l, a);
}

weft_region weft_tree_within(const weft_tree *t, int level, const int64_t *lo) {
    weft_region within = {.axes = WEFT_TREE_AXES};
    const int64_t reach = t->level[level].reach;
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        const int64_t first = lo[a] - (t->period[a] - t->edge[a]) / 2;
        within.lo[a] = most_of(first, lo[a] - reach + 1);
        within.n[a] = least_of(first + t->period[a], lo[a] + t->edge[a] + reach - 1) - within.lo[a];
    }
    return within;
}

bool weft_tree_wrapped(const weft_tree *t, const int64_t *lo, const int64_t *step,
                       const weft_region *box, int part, weft_region *wrapped, int64_t *offset) {
    wrapped->axes = WEFT_TREE_AXES;
    for (int a = 0; a < WEFT_TREE_AXES; a++, part /= 2) {
        const int64_t period = t->period[a] / step[a],
                      grid = lo[a] - (t->period[a] - t->edge[a]) / 2;
        const int64_t start = -weft_floor_of(-grid, step[a]); /* the first of the period's points */
        const int64_t at = start + weft_modulo(box->lo[a] - start, period);
        const int64_t count = least_of(box->n[a], start + period - at);
        offset[a] = part % 2 ? count : 0;
        wrapped->lo[a] = part % 2 ? start : at;
        wrapped->n[a] = part % 2 ? box->n[a] - count : count;
    }
    return part == 0;
}

/* Of the points of the grid in a box, every so many: the numbers of those that are its multiples.
 */
static weft_region every(const weft_region *box, const int64_t *step) {
    weft_region some = {.axes = WEFT_TREE_AXES};
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        some.lo[a] = -weft_floor_of(-box->lo[a], step[a]);
        some.n[a] = -weft_floor_of(-(box->lo[a] + box->n[a]), step[a]) - some.lo[a];
    }
    return some;
}

bool weft_tree_find_shell(const weft_tree *t, const int64_t *lo, const int64_t *step,
                          const weft_region *box, int i, weft_tree_shell *shell) {
    weft_region wrapped, within = weft_tree_within(t, i % t->levels, lo);
    shell->level = i % t->levels;
    if (!weft_tree_wrapped(t, lo, step, box, i / t->levels, &wrapped, shell->offset)) return false;
    within = every(&within, step);
    shell->outer = weft_region_intersect(&wrapped, &within);
    shell->inner = (weft_region){.axes = WEFT_TREE_AXES};
    if (shell->level > 0) {
        within = weft_tree_within(t, shell->level - 1, lo);
        within = every(&within, step);
        shell->inner = weft_region_intersect(&shell->outer, &within);
    }
    for (int a = 0; a < WEFT_TREE_AXES; a++) shell->offset[a] += shell->outer.lo[a] - wrapped.lo[a];
    return true;
}

int weft_tree_subtract(const weft_region *box, const weft_region *without,
                       weft_region parts[WEFT_TREE_PARTS]) {
    const weft_region common = weft_region_intersect(box, without);
    weft_region rest = *box;
    int count = 0;
    if (weft_region_elements(box) <= 0) return 0;
    if (weft_region_elements(&common) == 0) {
        parts[0] = *box;
        return 1;
    }
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        const int64_t below = common.lo[a] - rest.lo[a];
        const int64_t above = rest.n[a] - below - common.n[a];
        if (below > 0) {
            parts[count] = rest;
            parts[count++].n[a] = below;
        }
        if (above > 0) {
            parts[count] = rest;
            parts[count].lo[a] = common.lo[a] + common.n[a];
            parts[count++].n[a] = above;
        }
        rest.lo[a] = common.lo[a];
        rest.n[a] = common.n[a];
    }
    return count;
}

weft_region weft_tree_nodes(const weft_tree *t, int level, const weft_region *box) {
    const weft_tree_level *l = &t->level[level];
    weft_region nodes = {.axes = WEFT_TREE_AXES};
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        const int64_t last = box->lo[a] + box->n[a] - 1;
        nodes.lo[a] = weft_floor_of(box->lo[a], l->stride[a]) - before(t, l, a);
        nodes.n[a] = box->n[a] == 0
                         ? 0
                         : weft_floor_of(last, l->stride[a]) + behind(t, l, a) - nodes.lo[a] + 1;
    }
    return nodes;
}

weft_region weft_tree_idle(const weft_tree *t, int level, const weft_region *box,
                           const weft_region *inner) {
    const weft_tree_level *l = &t->level[level];
    const weft_region nodes = weft_tree_nodes(t, level, box);
    weft_region idle = {.axes = WEFT_TREE_AXES};
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        /* Node m serves points from (m - behind) * stride on, up to (m + before + 1) * stride,
         * excluded. */
        const int64_t s = l->stride[a], end = inner->lo[a] + inner->n[a];
        int64_t first = weft_floor_of(inner->lo[a] - 1, s) + 1 + behind(t, l, a);
        int64_t last = weft_floor_of(end, s) - before(t, l, a) - 1;
        if (inner->lo[a] == box->lo[a]) first = nodes.lo[a];
        if (end == box->lo[a] + box->n[a]) last = nodes.lo[a] + nodes.n[a] - 1;
        idle.lo[a] = first;
        idle.n[a] = inner->n[a] > 0 && last >= first ? last - first + 1 : 0;
    }
    return weft_region_intersect(&idle, &nodes);
}

int64_t weft_tree_samples(const weft_tree *t) {
    const int64_t lo[WEFT_TREE_AXES] = {0};
    int64_t samples = 0;
    for (int i = 0; i < t->levels; i++) {
        const weft_region within = weft_tree_within(t, i, lo);
        weft_region inner = {.axes = WEFT_TREE_AXES};
        if (i > 0) inner = weft_tree_within(t, i - 1, lo);
        for (int a = 0; a < WEFT_TREE_AXES && i == 0; a++) inner.n[a] = t->edge[a];
        const weft_region nodes = weft_tree_nodes(t, i, &within);
        const weft_region idle = weft_tree_idle(t, i, &within, &inner);
        int64_t kept = 1;
        for (int a = 0; a < WEFT_TREE_AXES; a++)
            kept *= least_of(nodes.n[a], t->level[i].period[a]);
        samples += kept - weft_region_elements(&idle);
    }
    return samples;
}
