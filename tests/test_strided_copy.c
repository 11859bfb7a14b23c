/* How copies by kernels are cut into groups of threads: tiles fit into a group, cover every cell,
 * and meet memory in long runs. That the kernels copy right is for tests/devices/copies.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device/strided_copy.h"
#include "kernels/copy_shape.h"

#include <stdlib.h>

/* What a copy is launched as; copied, since a launch's shape is the launcher's. */
typedef struct launched {
    int count;
    weft_copy_kernel kernel;
    int unit;
    unsigned groups;
    weft_copy_tiles tiles;
} launched;

static _Alignas(64) char memory[64]; /* where arrays begin; nothing is copied */

static weft_status note(void *context, const weft_copy_launch *launch) {
    launched *l = context;
    l->count++;
    l->kernel = launch->kernel;
    l->unit = launch->unit;
    l->groups = launch->groups;
    if (launch->kernel == WEFT_COPY_KERNEL_TILES)
        l->tiles = *(const weft_copy_tiles *)launch->shape;
    return WEFT_SUCCESS;
}

/* The copy of a whole box of n0 x n1 x n2 into the memory order `order`, slowest first. */
static launched launch_of(const int64_t n[3], const int order[3], size_t element) {
    const int natural[] = {0, 1, 2};
    weft_region box = {.axes = 3};
    for (int a = 0; a < 3; a++) box.n[a] = n[a];
    const weft_view from = weft_view_of(&box, natural, &box), to = weft_view_of(&box, order, &box);
    const weft_copy copy = weft_copy_between(&from, &to, element);
    const weft_byte_copy bytes = weft_byte_copy_of(&copy, memory, memory);
    launched l = {0};
    assert_int_equal(weft_byte_copy_by_kernel(&bytes, note, &l), WEFT_SUCCESS);
    assert_int_equal(l.count, 1);
    return l;
}

static int64_t up(int64_t n, int log) {
    return (n + (INT64_C(1) << log) - 1) >> log;
}

static const int orders[][3] = {{0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static void tiles_fit_a_group_and_cover_every_cell(void **state) {
    (void)state;
    srand(1);
    for (int k = 0; k < 20000; k++) {
        const size_t element = (size_t)1 << rand() % 6;
        int64_t n[3];
        for (int a = 0; a < 3; a++) n[a] = 2 + rand() % (rand() % 3 ? 9 : 700);
        const launched l = launch_of(n, orders[k % 4], element);
        const weft_copy_tiles *t = &l.tiles;
        if (l.kernel != WEFT_COPY_KERNEL_TILES) continue;
        const int run = t->log_cell + t->log_p;
        assert_int_equal((size_t)t->cell << l.unit, element);
        assert_true(t->cell <= 1 << t->log_cell);
        assert_in_range(run, 1, WEFT_COPY_LOG_TILE(1 << l.unit));
        assert_true(run + t->log_q + t->log_batch <= WEFT_COPY_LOG_TILE(1 << l.unit));
        assert_int_equal(t->p_n * t->q_n * t->outer.count, n[0] * n[1] * n[2]);
        assert_int_equal(l.groups, up(t->p_n, t->log_p) * up(t->q_n, t->log_q) *
                                       up(t->outer.count, t->log_batch));
    }
}

static void runs_are_long_where_the_axes_are(void **state) {
    (void)state;
    static const int64_t boxes[][3] = {{512, 512, 512}, {243, 250, 252}, {500, 127, 127}};
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        for (int o = 0; o < 4; o++)
            for (size_t element = 4; element <= 16; element *= 2) {
                const launched l = launch_of(boxes[i], orders[o], element);
                assert_int_equal(l.kernel, WEFT_COPY_KERNEL_TILES);
                assert_true(element << l.tiles.log_p >= 256);
                assert_true(element << l.tiles.log_q >= 256);
                assert_int_equal(l.tiles.log_batch, 0);
            }
}

/* One plane is far less than a group has threads for. */
static void small_planes_go_in_batches(void **state) {
    (void)state;
    static const int64_t n[] = {5000, 4, 5};
    const launched l = launch_of(n, orders[0], 16);
    assert_int_equal(l.kernel, WEFT_COPY_KERNEL_TILES);
    assert_in_range(l.tiles.log_batch, 4, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_fit_a_group_and_cover_every_cell),
                                       cmocka_unit_test(runs_are_long_where_the_axes_are),
                                       cmocka_unit_test(small_planes_go_in_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
