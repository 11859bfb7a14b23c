/* The planner's list: which exchange methods it offers where, and that all ranks list alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/methods.h"
#include "plan/model.h"
#include "support/error.h"
#include "thread_transport.h"

#include <math.h>
#include <stdio.h>
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
    assert_int_equal(weft_call_read(&problem, &options, NULL, 6, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = 6, .addressable = true, .node = node};
    return weft_planner_list(&s->planner);
}

/* Ranks of one planning that differ in what they know alone: the memory order of their bricks, and
 * their engine. */
typedef struct together {
    weft_planner planner[3];
    weft_call call[3];
    weft_region boxes[3];
    weft_exchange given;
    weft_status status[3];
    char sentence[3][256];
} together;

static void list_on_one_rank(void *argument, weft_transport *transport) {
    together *t = argument;
    const int r = transport->rank;
    static const int nodes[3] = {0, 0, 2};
    weft_brick brick = {.box = {.lo = {16 * r}, .n = {16, 48, 40}},
                        .order = {r, (r + 1) % 3, (r + 2) % 3}};
    weft_problem problem = {.rank = 3, .n = {48, 48, 40}, .input = &brick, .output = &brick};
    weft_options options = {.exchange = {t->given}};
    assert_int_equal(weft_call_read(&problem, &options, NULL, 3, &t->call[r]), WEFT_SUCCESS);
    t->planner[r] = (weft_planner){.call = &t->call[r],
                                   .ranks = 3,
                                   .rank = r,
                                   .transport = transport,
                                   .addressable = true,
                                   .node = nodes,
                                   .input_boxes = t->boxes,
                                   .output_boxes = t->boxes};
    t->planner[r].common.device = weft_device_find(WEFT_HOST);
    t->planner[r].common.staged = r == 1;
    if (r != 1) t->planner[r].common.engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    t->status[r] = weft_planner_list(&t->planner[r]);
    snprintf(t->sentence[r], sizeof t->sentence[r], "%s", weft_thread_error());
    transport->ops->release(transport);
}

static together *list_together(weft_exchange given) {
    together *t = calloc(1, sizeof *t);
    t->given = given;
    for (int r = 0; r < 3; r++)
        t->boxes[r] = (weft_region){.axes = 4, .lo = {16 * r}, .n = {16, 48, 40, 1}};
    thread_ranks_run_on_nodes(3, 2, list_on_one_rank, t);
    return t;
}

static void release_together(together *t) {
    for (int r = 0; r < 3; r++) weft_planner_release(&t->planner[r]);
    free(t);
}

static void ranks_that_differ_list_the_same_candidates(void **state) {
    (void)state;
    together *t = list_together(WEFT_EXCHANGE_AUTO);
    for (int r = 0; r < 3; r++) {
        const weft_planner *p = &t->planner[r];
        assert_int_equal(t->status[r], WEFT_SUCCESS);
        assert_true(p->count > 1);
        assert_int_equal(p->count, t->planner[0].count);
        for (int i = 0; i < p->count; i++) {
            const weft_candidate *c = &p->candidates[i], *first = &t->planner[0].candidates[i];
            assert_true(c->seconds.predicted == first->seconds.predicted &&
                        c->chain == first->chain);
            assert_memory_equal(c->exchange, first->exchange, sizeof c->exchange);
            assert_memory_equal(c->grid, first->grid, sizeof c->grid);
            assert_ptr_equal(c->engine, r == 1 ? NULL : weft_engine_find(WEFT_ENGINE_NATIVE));
            assert_int_equal(c->staged, r == 1);
        }
    }
    release_together(t);
}

static void a_list_that_rank_0_cannot_make_fails_on_all_ranks(void **state) {
    (void)state;
    together *t = list_together(WEFT_PEER);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(t->status[r], WEFT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(t->sentence[r], "rank 0: options.exchange[0] peer"));
        assert_int_equal(t->planner[r].count, 0);
    }
    release_together(t);
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
    for (int m = WEFT_P2P_SYNC; m <= WEFT_A2A_TYPE; m++) /* between the nodes */
        assert_true(offers(&s->planner, WEFT_PEER, (weft_exchange)m));
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
    assert_int_equal(weft_call_read(&problem, &options, NULL, 6, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = 6, .addressable = true, .node = one};
    assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
    assert_int_equal(s->planner.count, 2); /* the variants */
    weft_planner_release(&s->planner);
    free(s);
}

/* What is the most promising candidate's prediction is what its schedule is predicted to take, with
 * the workspaces that the plan's other schedules hold. */
static double predicted_as_built(const setting *s, const weft_candidate *c) {
    weft_chain *chain = malloc(sizeof *chain);
    weft_schedule schedule;
    weft_held held;
    const bool in_place = s->call.options.placement == WEFT_IN_PLACE;
    assert_int_equal(weft_planner_chain(&s->planner, c, chain), WEFT_SUCCESS);
    assert_int_equal(weft_planner_held(&s->planner, c, chain, 0, &held), WEFT_SUCCESS);
    assert_int_equal(
        weft_planner_schedule(&s->planner, c, chain, 0, WEFT_FORWARD, in_place, held, &schedule),
        WEFT_SUCCESS);
    const weft_model model = weft_planner_model(&s->planner, c, chain);
    const double seconds = weft_model_predict(&model, &schedule);
    weft_schedule_release(&schedule);
    free(chain);
    return seconds;
}

static void what_is_predicted_is_the_schedule_that_runs(void **state) {
    (void)state;
    static const int one[12] = {0};
    for (int mix = 0; mix < 24; mix++) {
        setting *s = calloc(1, sizeof *s);
        const weft_problem problem = {
            .rank = 3, .n = {100, 65, 50}, .kind = mix & 1 ? WEFT_R2C : WEFT_C2C};
        const weft_options options = {.threads = mix & 2 ? 3 : 1,
                                      .placement = (weft_placement)(mix / 8),
                                      .location = WEFT_LOCATION_HOST};
        const int ranks = mix & 4 ? 12 : 3;
        assert_int_equal(weft_call_read(&problem, &options, NULL, ranks, &s->call), WEFT_SUCCESS);
        s->planner =
            (weft_planner){.call = &s->call, .ranks = ranks, .addressable = true, .node = one};
        s->planner.common.engine = weft_engine_find(mix & 2 ? WEFT_ENGINE_JIT : WEFT_ENGINE_NATIVE);
        s->planner.common.device = weft_device_find(mix & 2 ? WEFT_CUDA : WEFT_HOST);
        s->planner.host_buffers = s->planner.common.staged = mix & 2;
        assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
        for (int i = 0; i < s->planner.count; i++) {
            const weft_candidate *c = &s->planner.candidates[i];
            assert_ptr_equal(c->engine, s->planner.common.engine);
            assert_ptr_equal(c->device, s->planner.common.device);
            assert_int_equal(c->threads, options.threads);
            assert_true(c->seconds.predicted == predicted_as_built(s, c));
        }
        weft_planner_release(&s->planner);
        free(s);
    }
}

/* Seconds of the exchanges of redistribution `entry` with a method in both. */
static double seconds_of(const setting *s, const weft_candidate *chosen, int entry,
                         weft_exchange method) {
    weft_chain *chain = malloc(sizeof *chain);
    weft_schedule schedule;
    weft_candidate c = *chosen;
    double seconds = 0;
    for (int k = 0; k < WEFT_MAX_RANK; k++) c.exchange[k] = method;
    assert_int_equal(weft_planner_chain(&s->planner, &c, chain), WEFT_SUCCESS);
    assert_int_equal(weft_planner_schedule(&s->planner, &c, chain, 0, WEFT_FORWARD, false,
                                           (weft_held){.workspaces = 4}, &schedule),
                     WEFT_SUCCESS);
    const weft_model model = weft_planner_model(&s->planner, &c, chain);
    weft_model_predict(&model, &schedule);
    for (int i = 0; i < schedule.steps; i++)
        if (schedule.step[i].kind == WEFT_STEP_EXCHANGE &&
            schedule.step[i].as.exchange.redistribution == entry)
            seconds += schedule.step[i].predicted;
    weft_schedule_release(&schedule);
    free(chain);
    return seconds;
}

/* Where packing costs more than datatypes in one redistribution of a pencil, and less in the other,
 * each gets its own. */
static void redistributions_have_methods_of_their_own_where_that_is_faster(void **state) {
    (void)state;
    int mixed = 0;
    for (int i = 0; i < 40; i++) {
        setting *s = calloc(1, sizeof *s);
        weft_machine machine = weft_machine_default;
        const weft_problem problem = {.rank = 3, .n = {64, 48, 40}};
        const weft_options options = {
            .decomposition = WEFT_PENCIL, .grid = {2, 3}, .placement = WEFT_OUT_OF_PLACE};
        machine.penalty.datatypes = 0.25 * i;
        assert_int_equal(weft_call_read(&problem, &options, NULL, 6, &s->call), WEFT_SUCCESS);
        s->planner = (weft_planner){.call = &s->call, .machine = &machine, .ranks = 6};
        assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
        for (int c = 0; c < s->planner.count; c++) {
            const weft_candidate *mixture = &s->planner.candidates[c];
            if (mixture->exchange[0] == mixture->exchange[1]) continue;
            mixed++;
            for (int k = 0; k < 2; k++)
                assert_true(seconds_of(s, mixture, k, mixture->exchange[k]) <=
                            1.001 * seconds_of(s, mixture, k, mixture->exchange[1 - k]));
        }
        weft_planner_release(&s->planner);
        free(s);
    }
    assert_true(mixed > 0);
}

/* docs/results, convolutions: what two H200 are fastest with. */
static void passes_are_cut_into_as_many_tiles_as_measured(void **state) {
    (void)state;
    static const struct {
        int64_t n[3];
        int tiles;
    } cases[] = {{{128, 128, 128}, 1},     {{256, 128, 128}, 2},     {{256, 256, 128}, 4},
                 {{256, 256, 256}, 4},     {{512, 512, 256}, 8},     {{512, 512, 512}, 8},
                 {{1024, 1024, 1024}, 16}, {{4096, 4096, 4096}, 16}, {{2, 2, 2}, 1}};
    setting *s = calloc(1, sizeof *s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int given = 0; given < 2; given++) {
            weft_problem problem = {.rank = 3};
            const weft_options options = {.device = WEFT_CUDA, .chunks = given ? 5 : 0};
            memcpy(problem.n, cases[i].n, sizeof cases[i].n);
            assert_int_equal(weft_call_read(&problem, &options, NULL, 2, &s->call), WEFT_SUCCESS);
            s->planner = (weft_planner){.call = &s->call, .ranks = 2};
            s->planner.common.device = weft_device_find(WEFT_CUDA);
            assert_int_equal(weft_planner_tiles(&s->planner), given ? 5 : cases[i].tiles);
            s->planner.common.device = weft_device_find(WEFT_HOST); /* nothing to overlap */
            assert_int_equal(weft_planner_tiles(&s->planner), given ? 5 : 1);
            s->planner.ranks = 1;
            s->planner.common.device = weft_device_find(WEFT_CUDA);
            assert_int_equal(weft_planner_tiles(&s->planner), given ? 5 : 1);
        }
    free(s);
}

/* Another machine, another choice: where messages take no time, and where they take all of it. */
static void the_choice_is_made_for_the_machine_that_is_given(void **state) {
    (void)state;
    const weft_problem problem = {.rank = 3, .n = {64, 64, 64}};
    setting *s = calloc(1, sizeof *s);
    weft_machine machine = weft_machine_default;
    weft_candidate chosen[2];
    assert_int_equal(weft_call_read(&problem, NULL, NULL, 64, &s->call), WEFT_SUCCESS);
    for (int slow = 0; slow < 2; slow++) {
        machine.rate.latency = slow ? 1e-3 : 0;
        s->planner = (weft_planner){.call = &s->call, .machine = &machine, .ranks = 64};
        assert_int_equal(weft_planner_list(&s->planner), WEFT_SUCCESS);
        chosen[slow] = s->planner.candidates[0];
        weft_planner_release(&s->planner);
    }
    assert_int_not_equal(chosen[0].decomposition, WEFT_PENCIL); /* one exchange, 63 messages */
    assert_int_equal(chosen[1].decomposition, WEFT_PENCIL);     /* two exchanges, 14 messages */
    assert_true(chosen[1].seconds.predicted > 1e-2);
    free(s);
}

/* What is chosen with a method, WEFT_EXCHANGE_AUTO included, on ranks of one node; engine AUTO: one
 * that takes no pieces. */
static weft_candidate choose(const weft_problem *problem, int ranks, weft_engine engine,
                             weft_exchange method) {
    static int nodes[64];
    setting *s = calloc(1, sizeof *s);
    const weft_options options = {.exchange = {method}, .placement = WEFT_OUT_OF_PLACE};
    assert_int_equal(weft_call_read(problem, &options, NULL, ranks, &s->call), WEFT_SUCCESS);
    s->planner =
        (weft_planner){.call = &s->call, .ranks = ranks, .addressable = true, .node = nodes};
    s->planner.common.engine = engine == WEFT_ENGINE_AUTO ? NULL : weft_engine_find(engine);
    s->planner.common.device = weft_device_find(WEFT_HOST);
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
            for (int mix = 0; mix < 4; mix++) {
                const weft_engine engine = mix & 2 ? WEFT_ENGINE_NATIVE : WEFT_ENGINE_AUTO;
                weft_problem problem = {.rank = shapes[i].rank,
                                        .kind = mix & 1 ? WEFT_R2C : WEFT_C2C,
                                        .precision = WEFT_SINGLE};
                memcpy(problem.n, shapes[i].n, sizeof shapes[i].n);
                const weft_candidate usual = choose(&problem, ranks[r], engine, WEFT_EXCHANGE_AUTO);
                for (int m = WEFT_P2P_SYNC; m <= WEFT_PEER; m++) {
                    const weft_candidate chosen =
                        choose(&problem, ranks[r], engine, (weft_exchange)m);
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
    const weft_candidate usual = choose(&problem, 64, WEFT_ENGINE_AUTO, WEFT_P2P_SYNC);
    const weft_candidate chosen = choose(&problem, 64, WEFT_ENGINE_AUTO, WEFT_PEER);
    assert_int_equal(usual.decomposition, WEFT_SLAB_2D1D);
    assert_int_equal(chosen.decomposition, WEFT_PENCIL);
    assert_true(chosen.seconds.predicted > 0);
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
    assert_int_equal(weft_call_read(&problem, NULL, NULL, RANKS, &s->call), WEFT_SUCCESS);
    assert_int_equal(weft_call_gather_boxes(&transport, &s->call, WEFT_INPUT, &boxes),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "ranks 0 and 1 overlap"));
    weft_call_release(&s->call);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_differ_list_the_same_candidates),
        cmocka_unit_test(a_list_that_rank_0_cannot_make_fails_on_all_ranks),
        cmocka_unit_test(peer_is_chosen_within_nodes_only),
        cmocka_unit_test(nccl_is_chosen_where_the_ranks_of_a_group_have_gpus_of_their_own),
        cmocka_unit_test(a_method_given_for_the_second_redistribution_alone_is_kept),
        cmocka_unit_test(a_method_that_a_redistribution_cannot_use_is_named_by_its_entry),
        cmocka_unit_test(candidates_that_are_alike_are_listed_once),
        cmocka_unit_test(what_is_predicted_is_the_schedule_that_runs),
        cmocka_unit_test(redistributions_have_methods_of_their_own_where_that_is_faster),
        cmocka_unit_test(passes_are_cut_into_as_many_tiles_as_measured),
        cmocka_unit_test(the_choice_is_made_for_the_machine_that_is_given),
        cmocka_unit_test(the_chain_does_not_depend_on_the_exchange_method),
        cmocka_unit_test(a_chain_that_is_far_slower_with_the_method_is_not_kept),
        cmocka_unit_test(boxes_with_more_elements_than_a_number_holds_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
