/* How copies by kernels are cut into groups of threads: tiles fit a group, cover every cell, and
 * access memory in long runs. tests/devices/copies.c tests that the kernels copy correctly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device/strided_copy.h"
#include "kernels/copy_shape.h"

#include <stdlib.h>

/* A launch, copied, since its shape belongs to the caller of the callback. */
typedef struct launched {
    weft_copy_kernel kernel;
    int unit;
    unsigned groups;
    weft_copy_tiles tiles;
    weft_copy_rows rows;
} launched;

enum { MOST = 4 };

typedef struct launches {
    int count;
    launched of[MOST];
} launches;

static _Alignas(64) char memory[64]; /* where arrays begin; nothing is copied */

static weft_status note(void *context, const weft_copy_launch *launch) {
    launches *all = context;
    assert_in_range(all->count, 0, MOST - 1);
    launched *l = &all->of[all->count++];
    l->kernel = launch->kernel;
    l->unit = launch->unit;
    l->groups = launch->groups;
    if (launch->kernel == WEFT_COPY_KERNEL_ROWS)
        l->rows = *(const weft_copy_rows *)launch->shape;
    else
        l->tiles = *(const weft_copy_tiles *)launch->shape;
    return WEFT_SUCCESS;
}

/* The copy of a whole box of n0 x n1 x n2 into the memory order `order`, slowest first. */
static launches launches_of(const int64_t n[3], const int order[3], size_t element) {
    const int natural[] = {0, 1, 2};
    weft_region box = {.axes = 3};
    for (int a = 0; a < 3; a++) box.n[a] = n[a];
    const weft_view from = weft_view_of(&box, natural, &box), to = weft_view_of(&box, order, &box);
    const weft_copy copy = weft_copy_between(&from, &to, element);
    const weft_byte_copy bytes = weft_byte_copy_of(&copy, memory, memory);
    launches all = {0};
    assert_int_equal(weft_byte_copy_by_kernel(&bytes, note, &all), WEFT_SUCCESS);
    return all;
}

static launched launch_of(const int64_t n[3], const int order[3], size_t element) {
    const launches all = launches_of(n, order, element);
    assert_int_equal(all.count, 1);
    return all.of[0];
}

static int64_t up(int64_t n, int64_t part) {
    return (n + part - 1) / part;
}

/* The threads of a group, each with its steps, reach every row of a tile. */
static void covers(const weft_copy_walk *walk, int64_t rows, int unit) {
    assert_in_range((int64_t)walk->at_once * walk->units.n, 1, WEFT_COPY_THREADS);
    assert_true(walk->at_once * walk->steps >= rows);
    assert_in_range(walk->steps, 1, WEFT_COPY_PER_THREAD(1 << unit));
}

/* The last order copies rows without transposing them. */
static const int orders[][3] = {{0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 0, 2}};
enum { ORDERS = sizeof orders / sizeof orders[0] };

/* Checks the tiles of a launch and returns the bytes that it moves. */
static int64_t check_tiles(const launched *l) {
    const weft_copy_tiles *t = &l->tiles;
    const int64_t cell = t->cell.n, p = t->p_cells, q = t->q_cells;
    assert_int_equal(t->load.units.n, p * cell);
    assert_int_equal(t->store.units.n, q * cell);
    covers(&t->load, q, l->unit);
    covers(&t->store, p, l->unit);
    assert_true(q * ((p * cell) | 1) <= WEFT_COPY_TILE(1 << l->unit));
    assert_int_equal(l->groups, up(t->p.count, p) * up(t->q.count, q) * t->outer.count);
    return ((int64_t)t->p.count * t->q.count * t->outer.count * cell) << l->unit;
}

static int64_t check_rows(const launched *l) {
    const weft_copy_rows *r = &l->rows;
    const int64_t rows = r->walk.at_once * r->walk.steps;
    covers(&r->walk, 1, l->unit);
    assert_true(rows <= WEFT_COPY_ROWS);
    assert_int_equal(l->groups, up(r->length, r->walk.units.n) * up(r->rows.count, rows));
    return (r->length * r->rows.count) << l->unit;
}

static void launches_fit_a_group_and_cover_every_cell(void **state) {
    (void)state;
    srand(1);
    int rows = 0, tiles = 0, several = 0;
    for (int k = 0; k < 40000; k++) {
        const size_t element = (size_t)(k % 3 ? 1 << rand() % 6 : 1 + rand() % 60);
        int64_t n[3], bytes = 0;
        for (int a = 0; a < 3; a++) n[a] = 2 + rand() % (rand() % 3 ? 9 : 700);
        const launches all = launches_of(n, orders[k % ORDERS], element);
        for (int i = 0; i < all.count; i++) {
            const bool is_rows = all.of[i].kernel == WEFT_COPY_KERNEL_ROWS;
            bytes += is_rows ? check_rows(&all.of[i]) : check_tiles(&all.of[i]);
            rows += is_rows;
            tiles += !is_rows;
        }
        several += all.count > 1;
        assert_int_equal(bytes, n[0] * n[1] * n[2] * (int64_t)element);
    }
    assert_true(rows > 1000 && tiles > 1000 && several > 100);
}

static void runs_are_long_where_the_axes_are(void **state) {
    (void)state;
    static const int64_t boxes[][3] = {{512, 512, 512}, {243, 250, 252}, {500, 127, 127}};
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        for (int o = 0; o < 4; o++)
            for (size_t element = 4; element <= 16; element *= 2) {
                const launched l = launch_of(boxes[i], orders[o], element);
                assert_int_equal(l.kernel, WEFT_COPY_KERNEL_TILES);
                assert_true((int)element * l.tiles.p_cells >= 64);
                assert_true((int)element * l.tiles.q_cells >= 240);
                assert_int_equal(l.tiles.p.axes, 1);
                assert_int_equal(l.tiles.q.axes, 1);
            }
}

/* Rows of 3 elements are short runs, but with the rows beside them they are long ones. */
static void tiles_extend_along_several_axes(void **state) {
    (void)state;
    static const int64_t short_source[] = {5000, 512, 3}, short_destination[] = {3, 600, 700};
    const launched source = launch_of(short_source, orders[3], 4);
    assert_int_equal(source.tiles.p.axes, 2);
    assert_in_range(source.tiles.p_cells, 15, 256);
    const launched destination = launch_of(short_destination, orders[3], 4);
    assert_int_equal(destination.tiles.q.axes, 2);
    assert_in_range(destination.tiles.q_cells, 15, 256);
}

/* A matrix of three columns has no axis that could make its tiles larger but part of its rows. */
static void long_axes_are_split_for_larger_tiles(void **state) {
    (void)state;
    static const int64_t n[] = {1000, 1000, 3};
    const launches all = launches_of(n, orders[2], 4);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.of[0].tiles.p.axes, 2);
    assert_in_range(all.of[0].tiles.p_cells * all.of[0].tiles.q_cells, 2048, 4096);
}

/* One plane is too small to occupy a group of threads. */
static void small_planes_go_together(void **state) {
    (void)state;
    static const int64_t n[] = {5000, 4, 5};
    const launched l = launch_of(n, orders[0], 16);
    assert_int_equal(l.kernel, WEFT_COPY_KERNEL_TILES);
    assert_in_range(l.tiles.p_cells * l.tiles.q_cells, 512, 1024);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_fit_a_group_and_cover_every_cell),
                                       cmocka_unit_test(runs_are_long_where_the_axes_are),
                                       cmocka_unit_test(tiles_extend_along_several_axes),
                                       cmocka_unit_test(long_axes_are_split_for_larger_tiles),
                                       cmocka_unit_test(small_planes_go_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
