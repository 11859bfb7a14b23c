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

/* An entry left 0 behind a given one repeats it; before it, weft chooses. */
static void a_method_given_for_the_second_redistribution_alone_is_kept(void **state) {
    (void)state;
    static const int one[6] = {0}, all[6] = {0, 1, 2, 3, 4, 5};
    setting *s = calloc(1, sizeof *s);
    for (int m = WEFT_P2P_SYNC; m <= WEFT_PEER; m++) {
        assert_int_equal(list_on_nodes(s, 0, (weft_exchange)m, one), WEFT_SUCCESS);
        weft_planner_release(&s->planner);
        s->planner.own_device = all;
        assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
        for (int i = 0; i < s->planner.count; i++)
            for (int k = 1; k < WEFT_MAX_RANK; k++)
                assert_int_equal(s->planner.candidates[i].exchange[k], m);
        for (int first = WEFT_P2P_SYNC; first <= WEFT_PEER; first++)
            assert_true(offers(&s->planner, (weft_exchange)first, (weft_exchange)m));
        weft_planner_release(&s->planner);
    }
    free(s);
}

static void a_method_that_a_redistribution_cannot_use_is_named_by_its_entry(void **state) {
    (void)state;
    static const int nodes[6] = {0, 0, 0, 3, 3, 3}, devices[6] = {0, 1, 2, 0, 1, 2};
    setting *s = calloc(1, sizeof *s);
    assert_int_equal(list_on_nodes(s, 0, WEFT_PEER, nodes), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "options.exchange[1] peer"));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_nodes(s, WEFT_PEER, 0, nodes), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "options.exchange[0] peer"));
    weft_planner_release(&s->planner);
    assert_int_equal(list_on_devices(s, 0, WEFT_NCCL, devices), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "options.exchange[1] nccl"));
    weft_planner_release(&s->planner);
    free(s);
}

/* Where no redistribution uses the entries that weft may choose, there is nothing to choose. */
static void candidates_that_are_alike_are_listed_once(void **state) {
    (void)state;
    static const int one[6] = {0};
    setting *s = calloc(1, sizeof *s);
    const weft_problem problem = {.rank = 3, .n = {64, 48, 40}};
    const weft_options options = {
        .decomposition = WEFT_PENCIL, .grid = {6, 1}, .exchange = {0, WEFT_A2A_SYNC}};
    assert_int_equal(weft_call_read(&problem, &options, 6, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = 6, .addressable = true, .node = one};
    assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
    assert_int_equal(s->planner.count, 2); /* the variants */
    weft_planner_release(&s->planner);
    free(s);
}

/* What is chosen with a method, WEFT_EXCHANGE_AUTO included, on ranks of one node. */
static weft_candidate choose(const weft_problem *problem, int ranks, weft_exchange method) {
    static int nodes[64];
    setting *s = calloc(1, sizeof *s);
    const weft_options options = {.exchange = {method}};
    assert_int_equal(weft_call_read(problem, &options, ranks, &s->call), WEFT_SUCCESS);
    s->planner =
        (weft_planner){.call = &s->call, .ranks = ranks, .addressable = true, .node = nodes};
    assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
    const weft_candidate chosen = s->planner.candidates[0];
    weft_planner_release(&s->planner);
    free(s);
    return chosen;
}

static bool same_chain(const weft_candidate *a, const weft_candidate *b) {
    return a->decomposition == b->decomposition && a->variant == b->variant &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0;
}

static void the_chain_does_not_depend_on_the_exchange_method(void **state) {
    (void)state;
    static const struct {
        int rank;
        int64_t n[4];
    } shapes[] = {{3, {64, 64, 64}},       {3, {128, 128, 128}}, {3, {512, 512, 512}},
                  {3, {1024, 1024, 1024}}, {3, {181, 217, 91}},  {3, {1000, 64, 70}},
                  {3, {70, 64, 1000}},     {3, {64, 1000, 70}},  {3, {100, 65, 500}},
                  {2, {4096, 4096}},       {4, {66, 68, 70, 65}}};
    static const int ranks[] = {2, 3, 4, 6, 7, 8, 12, 16, 31, 64};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++)
            for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++) {
                weft_problem problem = {
                    .rank = shapes[i].rank, .kind = (weft_kind)kind, .precision = WEFT_SINGLE};
                memcpy(problem.n, shapes[i].n, sizeof shapes[i].n);
                const weft_candidate usual = choose(&problem, ranks[r], WEFT_EXCHANGE_AUTO);
                for (int m = WEFT_P2P_SYNC; m <= WEFT_PEER; m++) {
                    const weft_candidate chosen = choose(&problem, ranks[r], (weft_exchange)m);
                    assert_int_equal(chosen.exchange[0], m);
                    if (!same_chain(&chosen, &usual))
                        fail_msg("shape %zu on %d ranks: another chain with %s", i, ranks[r],
                                 weft_exchange_name((weft_exchange)m));
                }
            }
}

/* Most ranks of a slab have nothing here, and with peer all wait for all. */
static void a_chain_that_is_far_slower_with_the_method_is_not_kept(void **state) {
    (void)state;
    const weft_problem problem = {.rank = 3, .n = {8, 6, 10}};
    const weft_candidate usual = choose(&problem, 64, WEFT_P2P_SYNC);
    const weft_candidate chosen = choose(&problem, 64, WEFT_PEER);
    assert_int_equal(usual.decomposition, WEFT_SLAB_2D1D);
    assert_int_equal(chosen.decomposition, WEFT_PENCIL);
    assert_true(chosen.predicted > 0);
}

/* Boxes of so many ranks that all own everything, as gathered by a transport that makes them up. */
static weft_status gather_everything(weft_transport *transport, const void *mine, size_t bytes,
                                     void *all) {
    for (int r = 0; r < transport->size; r++) memcpy((char *)all + (size_t)r * bytes, mine, bytes);
    return WEFT_SUCCESS;
}

static weft_status agree_at_once(weft_transport *transport, int64_t *values, int count) {
    (void)transport, (void)values, (void)count;
    return WEFT_SUCCESS;
}

static weft_status tell_all(weft_transport *transport, void *data, size_t bytes, int root) {
    (void)transport, (void)data, (void)bytes, (void)root;
    return WEFT_SUCCESS;
}

static void boxes_with_more_elements_than_a_number_holds_overlap(void **state) {
    (void)state;
    enum { RANKS = 600 };
    const int64_t n = (int64_t)1 << 53; /* 512 such boxes have 2^63 elements */
    weft_brick brick = {.box = {.n = {n, 2}}};
    weft_problem problem = {.rank = 2, .n = {n, 2}, .precision = WEFT_SINGLE, .input = &brick};
    setting *s = calloc(1, sizeof *s);
    const weft_transport_ops ops = {
        .gather_all = gather_everything, .maximum = agree_at_once, .broadcast = tell_all};
    weft_transport transport = {.ops = &ops, .size = RANKS};
    weft_region *boxes = NULL;
    assert_int_equal(weft_call_read(&problem, NULL, RANKS, &s->call), WEFT_SUCCESS);
    assert_int_equal(weft_call_gather_boxes(&transport, &s->call, WEFT_INPUT, &boxes),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "ranks 0 and 1 overlap"));
    weft_call_release(&s->call);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_do_not_depend_on_the_memory_order_of_bricks),
        cmocka_unit_test(peer_is_chosen_within_nodes_only),
        cmocka_unit_test(nccl_is_chosen_where_the_ranks_of_a_group_have_gpus_of_their_own),
        cmocka_unit_test(a_method_given_for_the_second_redistribution_alone_is_kept),
        cmocka_unit_test(a_method_that_a_redistribution_cannot_use_is_named_by_its_entry),
        cmocka_unit_test(candidates_that_are_alike_are_listed_once),
        cmocka_unit_test(the_chain_does_not_depend_on_the_exchange_method),
        cmocka_unit_test(a_chain_that_is_far_slower_with_the_method_is_not_kept),
        cmocka_unit_test(boxes_with_more_elements_than_a_number_holds_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
