/* The planner's list: which exchange methods it offers where, and that all ranks list alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/planner.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct setting {
    weft_call call;
    weft_planner planner;
} setting;

/* Lists the candidates of a pencil over 2 x 3 ranks; rows of three on a node of their own or not.
 */
static weft_status list_on_nodes(setting *s, weft_exchange first, weft_exchange second,
                                 const int *node) {
    weft_problem problem = {.rank = 3, .n = {64, 48, 40}};
    weft_options options = {
        .decomposition = WEFT_PENCIL, .grid = {2, 3}, .exchange = {first, second}};
    assert_int_equal(weft_call_read(&problem, &options, 6, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = 6, .addressable = true, .node = node};
    return weft_planner_list(&s->planner);
}

/* Each rank knows its own memory order only, and all must choose alike. */
static void candidates_do_not_depend_on_the_memory_order_of_bricks(void **state) {
    (void)state;
    weft_region boxes[3];
    weft_planner planner[3] = {{0}};
    weft_call call[3];
    for (int r = 0; r < 3; r++)
        boxes[r] = (weft_region){.axes = 4, .lo = {16 * r}, .n = {16, 48, 40, 1}};
    for (int r = 0; r < 3; r++) {
        weft_brick brick = {.box = {.lo = {16 * r}, .n = {16, 48, 40}},
                            .order = {r, (r + 1) % 3, (r + 2) % 3}};
        weft_problem problem = {
            .rank = 3, .n = {48, 48, 40}, .kind = WEFT_C2C, .input = &brick, .output = &brick};
        assert_int_equal(weft_call_read(&problem, NULL, 3, &call[r]), WEFT_SUCCESS);
        planner[r] = (weft_planner){.call = &call[r],
                                    .ranks = 3,
                                    .rank = r,
                                    .addressable = true,
                                    .input_boxes = boxes,
                                    .output_boxes = boxes};
        assert_int_equal(weft_planner_list(&planner[r]), WEFT_SUCCESS);
        assert_int_equal(planner[r].count, planner[0].count);
        for (int i = 0; i < planner[0].count; i++)
            assert_true(planner[r].candidates[i].predicted == planner[0].candidates[i].predicted);
    }
    for (int r = 0; r < 3; r++) weft_planner_release(&planner[r]);
}

static bool offers(const weft_planner *planner, weft_exchange first, weft_exchange second) {
    for (int i = 0; i < planner->count; i++)
        if (planner->candidates[i].exchange[0] == first &&
            planner->candidates[i].exchange[1] == second)
            return true;
    return false;
}

static void peer_is_chosen_within_nodes_only(void **state) {
    (void)state;
    static const int one[6] = {0}, rows[6] = {0, 0, 0, 3, 3, 3}, none[6] = {0, 1, 2, 3, 4, 5};
    setting *s = calloc(1, sizeof *s);
    assert_int_equal(list_on_nodes(s, 0, 0, one), WEFT_SUCCESS);
    assert_true(offers(&s->planner, WEFT_PEER, WEFT_PEER));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_nodes(s, 0, 0, rows), WEFT_SUCCESS);
    assert_true(offers(&s->planner, WEFT_PEER, WEFT_P2P_SYNC));
    assert_false(offers(&s->planner, WEFT_PEER, WEFT_PEER));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_nodes(s, 0, 0, none), WEFT_SUCCESS);
    assert_false(offers(&s->planner, WEFT_PEER, WEFT_P2P_SYNC));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_nodes(s, WEFT_PEER, WEFT_A2A_SYNC, rows), WEFT_SUCCESS);
    assert_true(offers(&s->planner, WEFT_PEER, WEFT_A2A_SYNC));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_nodes(s, WEFT_PEER, WEFT_PEER, rows), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "p2p-sync"));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_nodes(s, 0, 0, NULL), WEFT_SUCCESS); /* nobody knows the nodes */
    assert_false(offers(&s->planner, WEFT_PEER, WEFT_PEER));
    weft_planner_release(&s->planner);
    free(s);
}

/* The same, by the GPUs of the ranks. */
static weft_status list_on_devices(setting *s, weft_exchange first, weft_exchange second,
                                   const int *own_device) {
    list_on_nodes(s, first, second, NULL);
    weft_planner_release(&s->planner);
    s->planner.own_device = own_device;
    return weft_planner_list(&s->planner);
}

static void nccl_is_chosen_where_the_ranks_of_a_group_have_gpus_of_their_own(void **state) {
    (void)state;
    static const int all[6] = {0, 1, 2, 3, 4, 5}, rows[6] = {0, 1, 2, 0, 1, 2}, one[6] = {0};
    setting *s = calloc(1, sizeof *s);
    assert_int_equal(list_on_devices(s, 0, 0, all), WEFT_SUCCESS);
    assert_true(offers(&s->planner, WEFT_NCCL, WEFT_NCCL));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_devices(s, 0, 0, rows), WEFT_SUCCESS); /* columns share them */
    assert_true(offers(&s->planner, WEFT_NCCL, WEFT_P2P_SYNC));
    assert_false(offers(&s->planner, WEFT_NCCL, WEFT_NCCL));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_devices(s, 0, 0, one), WEFT_SUCCESS);
    assert_false(offers(&s->planner, WEFT_NCCL, WEFT_P2P_SYNC));
    assert_true(offers(&s->planner, WEFT_P2P_SYNC, WEFT_P2P_SYNC));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_devices(s, 0, 0, NULL), WEFT_SUCCESS); /* nobody asked for them */
    assert_false(offers(&s->planner, WEFT_NCCL, WEFT_NCCL));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_devices(s, WEFT_NCCL, WEFT_PEER, rows), WEFT_SUCCESS);
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_devices(s, WEFT_NCCL, WEFT_NCCL, rows), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "ranks 0 and 3"));
    weft_planner_release(&s->planner);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_do_not_depend_on_the_memory_order_of_bricks),
        cmocka_unit_test(peer_is_chosen_within_nodes_only),
        cmocka_unit_test(nccl_is_chosen_where_the_ranks_of_a_group_have_gpus_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
