/*
 * Octrees of convolutions by samples: every point is served by one level, whose stride is what the
 * pattern says, and interpolation finds all its lattice points among those that are kept and
 * travel; samples are counted; polynomials are interpolated exactly.
 */
#include "random_numbers.h"
#include "sampled/sampled.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t every_point[3] = {1, 1, 1};

static weft_tree random_tree(int64_t *lo) {
    static const int64_t extents[] = {1, 2, 4, 6, 7, 8, 12, 16, 20, 24, 32};
    const bool smallest = random_below(6) == 0;
    int64_t period[3], edge[3];
    for (int a = 0; a < 3; a++) {
        period[a] = extents[random_below(11)];
        edge[a] = smallest ? 1 : random_between(1, period[a]);
        lo[a] = random_between(0, period[a] - 1);
    }
    const int points = 2 + 2 * random_below(3);
    if (random_below(5) == 0) return weft_tree_fixed(period, edge, points);
    const double opening = (double)random_between(1, 4) / 8;
    return weft_tree_graded(period, edge, points, fmin(opening, 2.0 / points));
}

/* Points from the box along an axis, the shorter way around. */
static int64_t distance_along(const weft_tree *t, const int64_t *lo, int a, int64_t x) {
    const int64_t from = weft_modulo(x - lo[a], t->period[a]);
    if (from < t->edge[a]) return 0;
    const int64_t above = from - t->edge[a] + 1, below = t->period[a] - from;
    return above < below ? above : below;
}

static bool contains(const weft_region *region, const int64_t *x) {
    for (int a = 0; a < 3; a++)
        if (x[a] < region->lo[a] || x[a] >= region->lo[a] + region->n[a]) return false;
    return true;
}

/* All lattice points that point x needs are kept, and those that do not travel are not needed. */
static void check_nodes(const weft_tree *t, const int64_t *lo, const weft_tree_shell *shell,
                        const int64_t *x) {
    const weft_tree_level *l = &t->level[shell->level];
    const weft_region nodes = weft_tree_nodes(t, shell->level, &shell->outer);
    const weft_region idle = weft_tree_idle(t, shell->level, &shell->outer, &shell->inner);
    int64_t first[3], last[3], node[3];
    for (int a = 0; a < 3; a++) {
        const int64_t cell = weft_floor_of(x[a], l->stride[a]);
        first[a] = cell - (l->stride[a] > 1 ? t->points / 2 - 1 : 0);
        last[a] = cell + (l->stride[a] > 1 ? t->points / 2 : 0);
    }
    for (node[0] = first[0]; node[0] <= last[0]; node[0]++)
        for (node[1] = first[1]; node[1] <= last[1]; node[1]++)
            for (node[2] = first[2]; node[2] <= last[2]; node[2]++) {
                assert_true(contains(&nodes, node));
                assert_false(contains(&idle, node));
                for (int a = 0; a < 3; a++)
                    assert_true(weft_modulo(node[a] - weft_tree_first(t, shell->level, a, lo[a]),
                                            l->period[a]) < l->n[a]);
            }
}

/* Marks the points that a shell serves, of a box that may lie in any period. */
static void mark(const weft_tree *t, const int64_t *lo, const weft_region *box,
                 const weft_tree_shell *shell, int *served) {
    int64_t x[3];
    for (x[0] = shell->outer.lo[0]; x[0] < shell->outer.lo[0] + shell->outer.n[0]; x[0]++)
        for (x[1] = shell->outer.lo[1]; x[1] < shell->outer.lo[1] + shell->outer.n[1]; x[1]++)
            for (x[2] = shell->outer.lo[2]; x[2] < shell->outer.lo[2] + shell->outer.n[2]; x[2]++) {
                int64_t at = 0, far = 0;
                if (contains(&shell->inner, x)) continue;
                for (int a = 0; a < 3; a++) {
                    const int64_t i = shell->offset[a] + x[a] - shell->outer.lo[a];
                    const int64_t d = distance_along(t, lo, a, x[a]);
                    assert_true(i >= 0 && i < box->n[a]);
                    assert_int_equal(weft_modulo(box->lo[a] + i - x[a], t->period[a]), 0);
                    at = at * box->n[a] + i;
                    far = d > far ? d : far;
                }
                served[at]++;
                assert_true(far < t->level[shell->level].reach);
                assert_true(shell->level == 0 || far >= t->level[shell->level - 1].reach);
                check_nodes(t, lo, shell, x);
            }
}

static void each_point_is_served_once(void **state) {
    (void)state;
    random_state = 11;
    for (int i = 0; i < 250; i++) {
        int64_t lo[3];
        const weft_tree t = random_tree(lo);
        weft_region box = {.axes = 3};
        for (int a = 0; a < 3; a++) {
            box.n[a] = random_between(1, t.period[a] < 12 ? t.period[a] : 12);
            box.lo[a] = random_between(-40, 40);
        }
        const int64_t points = weft_region_elements(&box);
        int *served = calloc((size_t)points, sizeof *served);
        weft_tree_shell shell;
        for (int k = 0; weft_tree_find_shell(&t, lo, every_point, &box, k, &shell); k++)
            mark(&t, lo, &box, &shell, served);
        for (int64_t k = 0; k < points; k++) assert_int_equal(served[k], 1);
        free(served);
    }
}

/* ---- cells ---- */

/* The least and the greatest step of the lattices that serve points of a cube of the grid; counts
 * the points in `seen`, if it is not NULL. */
static void find_steps(const weft_tree *t, const int64_t *lo, const weft_octree_cell *cube,
                       int *seen, int64_t *least, int64_t *most) {
    int64_t x[3];
    *least = INT64_MAX;
    *most = 0;
    for (x[0] = cube->lo[0]; x[0] < cube->lo[0] + cube->edge && x[0] < t->period[0]; x[0]++)
        for (x[1] = cube->lo[1]; x[1] < cube->lo[1] + cube->edge && x[1] < t->period[1]; x[1]++)
            for (x[2] = cube->lo[2]; x[2] < cube->lo[2] + cube->edge && x[2] < t->period[2];
                 x[2]++) {
                int64_t far = 0, step = 1;
                int level = 0;
                for (int a = 0; a < 3; a++) {
                    const int64_t d = distance_along(t, lo, a, x[a]);
                    far = d > far ? d : far;
                }
                while (far >= t->level[level].reach) level++;
                for (int a = 0; a < 3; a++)
                    if (t->level[level].stride[a] > step) step = t->level[level].stride[a];
                if (seen) seen[(x[0] * t->period[1] + x[1]) * t->period[2] + x[2]]++;
                *least = step < *least ? step : *least;
                *most = step > *most ? step : *most;
            }
}

/* A cell is as large as it can be: the cube that it is an eighth of has several lattices. */
static void check_cell(const weft_tree *t, const int64_t *lo, const weft_octree_cell *cell,
                       int *seen) {
    int64_t least, most;
    weft_octree_cell parent = {.edge = 2 * cell->edge};
    assert_true(cell->edge > 0 && (cell->edge & (cell->edge - 1)) == 0);
    assert_true(cell->step <= cell->edge);
    find_steps(t, lo, cell, seen, &least, &most);
    assert_int_equal(cell->step, least);
    assert_true(least == most || cell->edge == most);
    for (int a = 0; a < 3; a++) {
        assert_int_equal(cell->lo[a] % cell->edge, 0);
        parent.lo[a] = cell->lo[a] - cell->lo[a] % parent.edge;
    }
    if (cell->edge >= t->period[0] && cell->edge >= t->period[1] && cell->edge >= t->period[2])
        return;
    find_steps(t, lo, &parent, NULL, &least, &most);
    assert_true(least < most);
}

static void cells_tell_the_step_of_every_point(void **state) {
    (void)state;
    random_state = 12;
    for (int i = 0; i < 120; i++) {
        int64_t lo[3];
        const weft_tree t = random_tree(lo);
        const int64_t points = t.period[0] * t.period[1] * t.period[2];
        const int64_t count = weft_tree_cells(&t, lo, NULL);
        weft_octree_cell *cells = calloc((size_t)count, sizeof *cells);
        int *seen = calloc((size_t)points, sizeof *seen);
        assert_int_equal(weft_tree_cells(&t, lo, cells), count);
        for (int64_t k = 0; k < count; k++) check_cell(&t, lo, &cells[k], seen);
        for (int64_t k = 0; k < points; k++) assert_int_equal(seen[k], 1);
        free(cells);
        free(seen);
    }
}

static void strides_grow_with_the_distance(void **state) {
    (void)state;
    const int64_t period[3] = {512, 256, 96}, edge[3] = {32, 32, 32}, lo[3] = {0};
    const weft_tree t = weft_tree_graded(period, edge, 4, 0.25);
    const int64_t strides[] = {1, 2, 4, 8, 16, 32}, reaches[] = {8, 16, 32, 64, 128, 241};
    assert_int_equal(t.levels, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(t.level[i].stride[0], strides[i]);
        assert_int_equal(t.level[i].stride[2], strides[i]); /* 96 = 3 * 32 */
        assert_int_equal(t.level[i].reach, reaches[i]);
    }
    assert_int_equal(t.level[5].n[0], 16);
    assert_int_equal(weft_tree_first(&t, 1, 0, 5), -6); /* (5 - 15) / 2 = -5, and one before it */
    assert_int_equal(weft_tree_within(&t, 1, lo).lo[0], -15);
    assert_int_equal(weft_tree_within(&t, 1, lo).n[0], 62);
}

static void fixed_trees_are_those_of_the_study(void **state) {
    (void)state;
    const int64_t period[3] = {1024, 1024, 1024}, edge[3] = {32, 32, 32};
    const weft_tree t = weft_tree_fixed(period, edge, 2);
    const int64_t strides[] = {1, 2, 8, 16}, reaches[] = {1, 16, 128, 497};
    assert_int_equal(t.levels, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(t.level[i].stride[1], strides[i]);
        assert_int_equal(t.level[i].reach, reaches[i]);
    }
}

/* Along an axis without a factor 2 there is nothing to leave out. */
static void odd_axes_stay_dense(void **state) {
    (void)state;
    const int64_t period[3] = {81, 81, 81}, edge[3] = {9, 9, 9};
    const weft_tree t = weft_tree_graded(period, edge, 4, 0.25);
    assert_int_equal(t.levels, 1);
    assert_int_equal(t.level[0].n[0], 81);
    assert_int_equal(weft_tree_samples(&t), 81 * 81 * 81 - 9 * 9 * 9);
}

static void samples_are_few(void **state) {
    (void)state;
    const int64_t period[3] = {128, 128, 128}, edge[3] = {32, 32, 32};
    const weft_tree t = weft_tree_graded(period, edge, 4, 0.25);
    const int64_t samples = weft_tree_samples(&t);
    assert_true(samples > 3 * 32 * 32 * 32 && samples < 4 * 32 * 32 * 32);
}

static double polynomial(const double *x, int degree) {
    return pow(x[0], degree) + 2 * pow(x[1], degree) - pow(x[2], degree) + x[0] * x[1] * x[2];
}

/* Of the degree that the points have, in two fields, on a lattice of stride 2. */
static void polynomials_are_interpolated_exactly(void **state) {
    (void)state;
    enum { NODES = 9, N = 7, ALL_NODES = NODES * NODES * NODES, ALL = N * N * N };
    const int64_t period[3] = {64, 64, 64}, edge[3] = {1, 1, 1};
    const weft_region box = {.axes = 3, .lo = {-2, 7, 12}, .n = {N, N, N}};
    static double value[2 * ALL_NODES], sum[2 * ALL];
    for (int points = 2; points <= 6; points += 2) {
        const weft_tree t = weft_tree_graded(period, edge, points, 0.25);
        const weft_lattice l = {{-3, 1, 4}, {NODES, NODES, NODES}, {64, 64, 64}, value};
        const weft_tree_shell shell = {.level = 1, .outer = box, .inner = {.axes = 3}};
        weft_interpolation *p;
        for (int i = 0; i < 2 * ALL_NODES; i++) {
            const int node[3] = {i / NODES / NODES % NODES, i / NODES % NODES, i % NODES};
            double x[3];
            for (int a = 0; a < 3; a++) x[a] = (double)(l.lo[a] + node[a]);
            value[i] = (1 + i / ALL_NODES) * polynomial(x, points - 1);
        }
        for (int i = 0; i < 2 * ALL; i++) sum[i] = 1; /* results are added */
        assert_int_equal(t.level[1].stride[0], 2);
        assert_int_equal(weft_interpolation_create(box.n, 1, 2, &p), WEFT_SUCCESS);
        weft_interpolation_add_shell(p, &t, &shell, &l, every_point, &box, sum);
        weft_interpolation_destroy(p);
        for (int i = 0; i < 2 * ALL; i++) {
            const int k[3] = {i / N / N % N, i / N % N, i % N};
            double x[3];
            for (int a = 0; a < 3; a++) x[a] = (double)(box.lo[a] + k[a]) / 2;
            const double right = 1 + (1 + i / ALL) * polynomial(x, points - 1);
            assert_true(fabs(sum[i] - right) <= 1e-12 * (1 + fabs(right)) * pow(16, points));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_point_is_served_once),
                                       cmocka_unit_test(cells_tell_the_step_of_every_point),
                                       cmocka_unit_test(strides_grow_with_the_distance),
                                       cmocka_unit_test(fixed_trees_are_those_of_the_study),
                                       cmocka_unit_test(odd_axes_stay_dense),
                                       cmocka_unit_test(samples_are_few),
                                       cmocka_unit_test(polynomials_are_interpolated_exactly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
