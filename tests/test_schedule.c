/* Chains and schedules as geometry: what a strategy exchanges, which buffers it needs, at any
 * number of ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/model.h"
#include "plan/planner.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct setting {
    weft_call call;
    weft_planner planner;
    weft_candidate candidate;
    weft_chain chain;
    weft_schedule schedule;
} setting;

static setting *make(weft_kind kind, weft_decomposition decomposition, weft_variant variant,
                     weft_exchange method, int p1, int p2) {
    setting *s = calloc(1, sizeof *s);
    weft_problem problem = {.rank = 3, .n = {64, 48, 40}, .kind = kind};
    weft_options options = {.decomposition = decomposition, .grid = {p1, p2}};
    assert_int_equal(weft_call_read(&problem, &options, p1 * (p2 ? p2 : 1), &s->call),
                     WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = p1 * (p2 ? p2 : 1)};
    s->candidate = (weft_candidate){.decomposition = decomposition,
                                    .variant = variant,
                                    .grid_axes = p2 ? 2 : 1,
                                    .grid = {p1, p2}};
    for (int i = 0; i < WEFT_MAX_RANK; i++) s->candidate.exchange[i] = method;
    assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain), WEFT_SUCCESS);
    return s;
}

static void schedule(setting *s, int rank, weft_direction direction, bool in_place) {
    assert_int_equal(weft_planner_schedule(&s->planner, &s->candidate, &s->chain, rank, direction,
                                           in_place, 0, &s->schedule),
                     WEFT_SUCCESS);
}

static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                        WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_NCCL,
                                        WEFT_PEER};

typedef struct strategy_case {
    weft_decomposition decomposition;
    int p1, p2;
} strategy_case;

static const strategy_case strategies[] = {
    {WEFT_SLAB_2D1D, 4, 0}, {WEFT_SLAB_1D2D, 4, 0}, {WEFT_SLAB_Y_ZX, 4, 0}, {WEFT_PENCIL, 2, 2},
    {WEFT_PENCIL, 3, 4},    {WEFT_PENCIL, 1, 4},    {WEFT_PENCIL, 4, 1}};

#define EACH(table, name) for (size_t name = 0; name < sizeof(table) / sizeof((table)[0]); name++)

static bool uses_datatypes(weft_exchange method) {
    return method == WEFT_P2P_TYPE || method == WEFT_A2A_TYPE;
}

static bool stays_in_two_workspaces(const setting *s) {
    return s->schedule.workspaces >= 1 && s->schedule.workspaces <= 2;
}

static void realigned_and_datatype_methods_need_one_extra_buffer(void **state) {
    (void)state;
    EACH(strategies, i)
    EACH(methods, m)
    for (int variant = WEFT_DEFAULT; variant <= WEFT_REALIGNED; variant++)
        for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++)
            for (int direction = 0; direction < 2; direction++) {
                setting *s =
                    make((weft_kind)kind, strategies[i].decomposition, (weft_variant)variant,
                         methods[m], strategies[i].p1, strategies[i].p2);
                schedule(s, 0, (weft_direction)direction, false);
                if (methods[m] != WEFT_PEER &&
                    (variant == WEFT_REALIGNED || uses_datatypes(methods[m])))
                    assert_int_equal(s->schedule.workspaces, 1);
                else
                    assert_true(stays_in_two_workspaces(s));
                weft_schedule_release(&s->schedule);
                free(s);
            }
}

static void realigned_messages_need_no_packing(void **state) {
    (void)state;
    EACH(strategies, i)
    for (int direction = 0; direction < 2; direction++) {
        setting *s = make(WEFT_R2C, strategies[i].decomposition, WEFT_REALIGNED, WEFT_P2P_SYNC,
                          strategies[i].p1, strategies[i].p2);
        schedule(s, 0, (weft_direction)direction, false);
        for (int k = 0; k < s->schedule.steps; k++)
            if (s->schedule.step[k].kind == WEFT_STEP_EXCHANGE)
                assert_false(s->schedule.step[k].exchange.pack);
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

static void datatype_methods_pack_nothing(void **state) {
    (void)state;
    EACH(strategies, i)
    EACH(methods, m) {
        if (!uses_datatypes(methods[m])) continue;
        setting *s = make(WEFT_C2C, strategies[i].decomposition, WEFT_DEFAULT, methods[m],
                          strategies[i].p1, strategies[i].p2);
        schedule(s, 0, WEFT_INVERSE, false);
        for (int k = 0; k < s->schedule.steps; k++) {
            const weft_step *step = &s->schedule.step[k];
            if (step->kind != WEFT_STEP_EXCHANGE) continue;
            assert_int_equal(step->send, step->src);
            assert_int_equal(step->receive, step->dst);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* For both kinds and placements, and from bricks. */
static void check_lent(const weft_schedule *schedule) {
    bool shared[WEFT_MAX_WORKSPACES] = {false};
    for (int k = 0; k < schedule->steps; k++) {
        const weft_step *step = &schedule->step[k];
        if (step->kind == WEFT_STEP_COPY) assert_int_not_equal(step->src, step->dst);
        if (step->kind != WEFT_STEP_EXCHANGE || step->method->id != WEFT_PEER) continue;
        assert_true(step->src >= WEFT_BUFFER_WORKSPACE);
        assert_int_not_equal(step->src, step->dst);
        assert_int_equal(step->send, step->src);
        assert_int_equal(step->receive, step->dst);
        assert_int_equal(step->messages_sent, 0);
        assert_false(step->staged || step->exchange.pack || step->exchange.unpack);
        shared[step->src - WEFT_BUFFER_WORKSPACE] = true;
    }
    assert_memory_equal(shared, schedule->shared, sizeof shared);
}

static void peer_lends_workspaces_only_and_sends_nothing(void **state) {
    (void)state;
    EACH(strategies, i)
    for (int variant = WEFT_DEFAULT; variant <= WEFT_REALIGNED; variant++)
        for (int mix = 0; mix < 4; mix++) /* kind and placement, and another method beside */
            for (int direction = 0; direction < 2; direction++) {
                setting *s =
                    make(mix % 2 ? WEFT_R2C : WEFT_C2C, strategies[i].decomposition,
                         (weft_variant)variant, WEFT_PEER, strategies[i].p1, strategies[i].p2);
                s->planner.staged = variant == WEFT_REALIGNED;
                if (direction) s->candidate.exchange[1] = WEFT_A2A_SYNC;
                for (int rank = 0; rank < s->planner.ranks; rank++) {
                    schedule(s, rank, (weft_direction)direction, mix / 2);
                    check_lent(&s->schedule);
                    weft_schedule_release(&s->schedule);
                }
                free(s);
            }
}

/* Callers may store their boxes in an order that nobody else knows: the copy into the workspace
 * brings them into the inner chain's. */
static void peer_copies_bricks_into_a_workspace_first(void **state) {
    (void)state;
    weft_region boxes[4];
    for (int in_place = 0; in_place < 2; in_place++) {
        setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_PEER, 4, 0);
        for (int r = 0; r < 4; r++)
            boxes[r] = (weft_region){.axes = 4, .lo = {0, 0, 10 * r}, .n = {64, 48, 10, 1}};
        s->planner.input_boxes = s->planner.output_boxes = boxes;
        for (int a = 0; a < 3; a++) s->call.input.order[a] = s->call.output.order[a] = 2 - a;
        assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain), WEFT_SUCCESS);
        for (int direction = 0; direction < 2; direction++) {
            schedule(s, 2, (weft_direction)direction, in_place);
            check_lent(&s->schedule);
            const weft_step *first = &s->schedule.step[0];
            assert_int_equal(first->kind, WEFT_STEP_COPY);
            assert_true(first->copy.axes > 1); /* it changes the memory order */
            assert_int_equal(s->schedule.step[1].kind, WEFT_STEP_EXCHANGE);
            assert_int_equal(s->schedule.step[1].exchange.src_order[1], 0);
            weft_schedule_release(&s->schedule);
        }
        free(s);
    }
}

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

/* The engine of the host that takes pieces. */
static void let_transforms_take_pieces(setting *s) {
    s->planner.engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    s->planner.device = weft_device_find(WEFT_HOST);
}

/* What a transform loads after an exchange must not be where it stores. */
static void check_loaded(const weft_schedule *schedule) {
    for (int k = 1; k < schedule->steps; k++) {
        const weft_step *exchange = &schedule->step[k - 1], *fft = &schedule->step[k];
        if (exchange->kind != WEFT_STEP_EXCHANGE || !exchange->loaded_by_next) continue;
        assert_int_equal(fft->kind, WEFT_STEP_FFT);
        assert_true(fft->transform.in_pieces.count > 0);
        assert_int_equal(fft->src, exchange->dst);
        assert_int_not_equal(fft->dst, exchange->dst);
        if (exchange->own_stays || exchange->method->shared)
            assert_int_not_equal(fft->dst, exchange->src);
        if (exchange->method->shared) assert_int_equal(exchange->dst, -1);
        for (int p = 0; p < fft->transform.in_pieces.count && !exchange->method->shared; p++)
            if (fft->in_piece[p].array == WEFT_LOADED_OWN) assert_true(exchange->own_stays);
    }
}

static void nothing_is_stored_over_what_is_still_to_be_loaded(void **state) {
    (void)state;
    EACH(strategies, i)
    EACH(methods, m)
    for (int mix = 0; mix < 16; mix++) {
        setting *s = make(mix & 1 ? WEFT_R2C : WEFT_C2C, strategies[i].decomposition,
                          mix & 2 ? WEFT_REALIGNED : WEFT_DEFAULT, methods[m], strategies[i].p1,
                          strategies[i].p2);
        let_transforms_take_pieces(s);
        for (int rank = 0; rank < s->planner.ranks; rank++) {
            schedule(s, rank, (weft_direction)(mix >> 2 & 1), mix & 8);
            check_loaded(&s->schedule);
            assert_true(stays_in_two_workspaces(s));
            weft_schedule_release(&s->schedule);
        }
        free(s);
    }
}

static void transforms_store_and_load_the_blocks_of_messages(void **state) {
    (void)state;
    static const weft_exchange packing[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_A2A_SYNC};
    static const strategy_case cases[] = {{WEFT_SLAB_2D1D, 4, 0}, {WEFT_PENCIL, 3, 4}};
    EACH(packing, m)
    EACH(cases, i)
    for (int mix = 0; mix < 4; mix++) {
        setting *s = make(mix & 1 ? WEFT_R2C : WEFT_C2C, cases[i].decomposition, WEFT_DEFAULT,
                          packing[m], cases[i].p1, cases[i].p2);
        let_transforms_take_pieces(s);
        schedule(s, 1, (weft_direction)(mix >> 1), false);
        for (int k = 0; k < s->schedule.steps; k++) {
            const weft_step *step = &s->schedule.step[k];
            if (step->kind != WEFT_STEP_EXCHANGE) continue;
            assert_false(step->exchange.pack || step->exchange.unpack);
            assert_true(step->loaded_by_next);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

static const weft_step *step_of(const weft_schedule *schedule, weft_step_kind kind, int number) {
    for (int k = 0; k < schedule->steps; k++)
        if (schedule->step[k].kind == kind && number-- == 0) return &schedule->step[k];
    return NULL;
}

/* x is gathered, y split: what is made goes in parts along x, what is taken in half as many along
 * y. */
static void parts_of_a_slab_overlap_with_both_transforms(void **state) {
    (void)state;
    EACH(methods, m)
    for (int mix = 0; mix < 4; mix++) {
        setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, methods[m], 4, 0);
        const bool pieces = mix & 1, forward = mix < 2, shared = methods[m] == WEFT_PEER;
        s->planner.chunks = 6;
        if (pieces) let_transforms_take_pieces(s);
        schedule(s, 1, forward ? WEFT_FORWARD : WEFT_INVERSE, false);
        const weft_step *step = step_of(&s->schedule, WEFT_STEP_EXCHANGE, 0);
        assert_int_equal(step_of(&s->schedule, WEFT_STEP_FFT, 0)->chunks, 6);
        assert_int_equal(step_of(&s->schedule, WEFT_STEP_FFT, 1)->chunks, 3);
        assert_int_equal(weft_step_parts(step), shared ? 18 : forward ? 6 : 3);
        assert_int_equal(step->own_stays, shared && pieces);
        if (shared) {
            assert_int_equal(step->made.axis, forward ? 0 : 1);
            assert_int_equal(step->taken.axis, forward ? 1 : 0);
            assert_true(step->overlaps_before && step->overlaps_after);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* While an exchange in parts stores somewhere, the transform before it still loads: also its own
 * block, where the exchange before that left it. */
static void check_overlaps(const weft_schedule *schedule) {
    for (int k = 2; k < schedule->steps; k++) {
        const weft_step *first = &schedule->step[k - 2], *exchange = &schedule->step[k];
        if (first->kind != WEFT_STEP_EXCHANGE || exchange->kind != WEFT_STEP_EXCHANGE ||
            !first->loaded_by_next || !exchange->overlaps_before)
            continue;
        assert_int_not_equal(exchange->dst, first->src);
        assert_int_not_equal(exchange->send, first->src);
        assert_int_not_equal(exchange->receive, first->src);
    }
}

static void parts_of_an_exchange_leave_alone_what_the_transform_before_loads(void **state) {
    (void)state;
    static const int64_t n[] = {3, 29, 2};
    EACH(methods, m)
    EACH(methods, other)
    for (int mix = 0; mix < 32; mix++) {
        setting *s = make(mix & 1 ? WEFT_R2C : WEFT_C2C, WEFT_PENCIL,
                          mix & 2 ? WEFT_REALIGNED : WEFT_DEFAULT, methods[m], 2, 2);
        s->candidate.exchange[1] = methods[other];
        for (int axis = 0; axis < 3; axis++) s->call.problem.n[axis] = n[axis];
        assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain), WEFT_SUCCESS);
        s->planner.chunks = 7;
        s->planner.staged = mix & 16;
        s->planner.engine = weft_engine_find(WEFT_ENGINE_JIT);
        s->planner.device = weft_device_find(WEFT_CUDA);
        for (int rank = 0; rank < s->planner.ranks; rank++) {
            schedule(s, rank, (weft_direction)(mix >> 2 & 1), mix & 8);
            check_overlaps(&s->schedule);
            weft_schedule_release(&s->schedule);
        }
        free(s);
    }
}

/* Of what more than one partner lends on a device, a transform loads half from where it lies; all
 * of it if the transform before is done by then, so that copies would have nothing to go beside. */
static void later_parts_of_a_slab_are_loaded_from_the_partners(void **state) {
    (void)state;
    for (int mix = 0; mix < 4; mix++) {
        setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_PEER, 4, 0);
        const bool forward = mix < 2, in_place = mix & 1;
        s->planner.chunks = 8;
        s->planner.engine = weft_engine_find(WEFT_ENGINE_JIT);
        s->planner.device = weft_device_find(WEFT_CUDA);
        schedule(s, 1, forward ? WEFT_FORWARD : WEFT_INVERSE, in_place);
        const weft_step *exchange = step_of(&s->schedule, WEFT_STEP_EXCHANGE, 0);
        const weft_step *after = step_of(&s->schedule, WEFT_STEP_FFT, 1);
        assert_int_equal(after->chunks, 4);
        assert_true(exchange->overlaps_after);
        assert_int_equal(exchange->overlaps_before, !in_place);
        assert_int_equal(after->far_chunks, in_place ? 4 : 2);
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* The first exchange of a pencil leaves x as it is. */
static void parts_of_a_pencil_are_a_pipeline_along_x(void **state) {
    (void)state;
    EACH(methods, m) {
        setting *s = make(WEFT_C2C, WEFT_PENCIL, WEFT_DEFAULT, methods[m], 2, 2);
        s->planner.chunks = 5;
        schedule(s, 3, WEFT_FORWARD, false);
        const weft_step *step = step_of(&s->schedule, WEFT_STEP_EXCHANGE, 0);
        assert_int_equal(weft_step_parts(step), 5);
        assert_int_equal(step->made.axis, 0);
        assert_int_equal(step->taken.axis, 0);
        assert_true(step->parts_before && step->parts_after);
        weft_schedule_release(&s->schedule);
        free(s);
    }
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

/* In parts and whole, with transports that read device memory and without: kernels cannot. */
static void nothing_is_packed_in_a_callers_host_memory(void **state) {
    (void)state;
    EACH(strategies, i)
    EACH(methods, m)
    for (int mix = 0; mix < 32; mix++) {
        setting *s = make(mix & 1 ? WEFT_R2C : WEFT_C2C, strategies[i].decomposition,
                          mix & 2 ? WEFT_REALIGNED : WEFT_DEFAULT, methods[m], strategies[i].p1,
                          strategies[i].p2);
        s->planner.host_buffers = true;
        s->planner.chunks = mix & 16 ? 3 : 1;
        schedule(s, 1, (weft_direction)(mix >> 2 & 1), mix & 8);
        for (int k = 0; k < s->schedule.steps; k++) {
            const weft_step *step = &s->schedule.step[k];
            if (step->kind != WEFT_STEP_EXCHANGE) continue;
            assert_true(step->src >= WEFT_BUFFER_WORKSPACE);
            assert_true(step->dst >= WEFT_BUFFER_WORKSPACE);
            assert_true(step->send >= WEFT_BUFFER_WORKSPACE);
            assert_true(step->receive >= WEFT_BUFFER_WORKSPACE);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

static void gpus_send_what_they_pack_without_staging(void **state) {
    (void)state;
    EACH(strategies, i) {
        setting *s = make(WEFT_C2C, strategies[i].decomposition, WEFT_DEFAULT, WEFT_NCCL,
                          strategies[i].p1, strategies[i].p2);
        s->planner.staged = true;
        schedule(s, 0, WEFT_FORWARD, false);
        for (int k = 0; k < s->schedule.steps; k++) assert_false(s->schedule.step[k].staged);
        assert_true(s->schedule.buffer_bytes[WEFT_BUFFER_STAGE_SEND] == 0);
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

static bool same_transforms(const weft_schedule *a, const weft_schedule *b) {
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->steps && a->step[i].kind != WEFT_STEP_FFT) i++;
        while (j < b->steps && b->step[j].kind != WEFT_STEP_FFT) j++;
        if (i >= a->steps || j >= b->steps) return i >= a->steps && j >= b->steps;
        const weft_transform *t = &a->step[i].transform, *u = &b->step[j].transform;
        if (t->in_place != u->in_place || t->destroy_input != u->destroy_input ||
            memcmp(t->dim, u->dim, sizeof t->dim) != 0 ||
            memcmp(t->loop, u->loop, sizeof t->loop) != 0)
            return false;
    }
}

static void transforms_do_not_depend_on_the_exchange_method(void **state) {
    (void)state;
    EACH(strategies, i)
    for (int in_place = 0; in_place < 2; in_place++) {
        setting *first = make(WEFT_R2C, strategies[i].decomposition, WEFT_DEFAULT, methods[0],
                              strategies[i].p1, strategies[i].p2);
        schedule(first, 1, WEFT_FORWARD, in_place);
        EACH(methods, m) {
            setting *s = make(WEFT_R2C, strategies[i].decomposition, WEFT_DEFAULT, methods[m],
                              strategies[i].p1, strategies[i].p2);
            s->planner.staged = m % 2; /* peer stays as it is */
            schedule(s, 1, WEFT_FORWARD, in_place);
            assert_true(same_transforms(&first->schedule, &s->schedule));
            weft_schedule_release(&s->schedule);
            free(s);
        }
        weft_schedule_release(&first->schedule);
        free(first);
    }
}

/* VERIFY's model: a slab rank sends (P-1)/P^2 of the array, a pencil rank (P2-1)/(P P2) + (P1-1)/(P
 * P1). */
static void bytes_sent_are_those_of_the_cost_model(void **state) {
    (void)state;
    setting *slab = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_A2A_SYNC, 4, 0);
    setting *pencil = make(WEFT_C2C, WEFT_PENCIL, WEFT_DEFAULT, WEFT_A2A_SYNC, 2, 4);
    double array = 16.0 * 64 * 48 * 40, sent = 0;
    schedule(slab, 0, WEFT_FORWARD, false);
    schedule(pencil, 0, WEFT_FORWARD, false);
    for (int k = 0; k < slab->schedule.steps; k++)
        sent += (double)slab->schedule.step[k].bytes_sent;
    assert_true(sent == array * 3 / 16);
    sent = 0;
    for (int k = 0; k < pencil->schedule.steps; k++)
        sent += (double)pencil->schedule.step[k].bytes_sent;
    assert_true(sent == array * 3 / (8 * 4) + array * 1 / (8 * 2));
    weft_schedule_release(&slab->schedule);
    weft_schedule_release(&pencil->schedule);
    free(slab);
    free(pencil);
}

static void slab_y_zx_transforms_y_first_and_z_after_for_complex_data(void **state) {
    (void)state;
    setting *s = make(WEFT_C2C, WEFT_SLAB_Y_ZX, WEFT_DEFAULT, WEFT_A2A_SYNC, 4, 0);
    assert_int_equal(s->chain.segment[0].transforms, 1);
    assert_int_equal(s->chain.segment[0].axis[0], 1);
    assert_int_equal(s->chain.segment[1].axis[0], 2);
    assert_int_equal(s->chain.segment[1].axis[1], 0);
    free(s);
}

/* All 4096 ranks of 1024^3: what one rank sends, another receives; and little memory is held. */
static void planning_1024_cubed_over_4096_ranks_is_consistent_and_small(void **state) {
    (void)state;
    weft_problem problem = {.rank = 3, .n = {1024, 1024, 1024}, .kind = WEFT_R2C};
    weft_options options = {.decomposition = WEFT_PENCIL, .grid = {64, 64}};
    setting *s = calloc(1, sizeof *s);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(weft_call_read(&problem, &options, 4096, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = 4096};
    s->candidate = (weft_candidate){WEFT_PENCIL, WEFT_DEFAULT, 2, {64, 64}, {0}, 0, 0};
    for (int i = 0; i < WEFT_MAX_RANK; i++) s->candidate.exchange[i] = WEFT_A2A_SYNC;
    assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain), WEFT_SUCCESS);
    int64_t sent = 0, received = 0, own = 0;
    for (int rank = 0; rank < 4096; rank++) {
        schedule(s, rank, WEFT_FORWARD, false);
        for (int k = 0; k < s->schedule.steps; k++) {
            const weft_step *step = &s->schedule.step[k];
            if (step->kind != WEFT_STEP_EXCHANGE) continue;
            for (int m = 0; m < step->exchange.members; m++) {
                sent += step->exchange.send[m].elements;
                received += step->exchange.receive[m].elements;
            }
            own += step->exchange.send[step->exchange.me].elements;
        }
        weft_schedule_release(&s->schedule);
    }
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(sent, received);
    assert_int_equal(sent, 2 * (int64_t)1024 * 1024 * 513);
    assert_true(own > 0);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory back */
    assert_true(after.ru_maxrss - before.ru_maxrss < 100 * 1024);
#endif
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(realigned_and_datatype_methods_need_one_extra_buffer),
        cmocka_unit_test(realigned_messages_need_no_packing),
        cmocka_unit_test(datatype_methods_pack_nothing),
        cmocka_unit_test(peer_lends_workspaces_only_and_sends_nothing),
        cmocka_unit_test(peer_copies_bricks_into_a_workspace_first),
        cmocka_unit_test(nothing_is_stored_over_what_is_still_to_be_loaded),
        cmocka_unit_test(transforms_store_and_load_the_blocks_of_messages),
        cmocka_unit_test(parts_of_a_slab_overlap_with_both_transforms),
        cmocka_unit_test(parts_of_an_exchange_leave_alone_what_the_transform_before_loads),
        cmocka_unit_test(later_parts_of_a_slab_are_loaded_from_the_partners),
        cmocka_unit_test(parts_of_a_pencil_are_a_pipeline_along_x),
        cmocka_unit_test(peer_is_chosen_within_nodes_only),
        cmocka_unit_test(nccl_is_chosen_where_the_ranks_of_a_group_have_gpus_of_their_own),
        cmocka_unit_test(nothing_is_packed_in_a_callers_host_memory),
        cmocka_unit_test(gpus_send_what_they_pack_without_staging),
        cmocka_unit_test(candidates_do_not_depend_on_the_memory_order_of_bricks),
        cmocka_unit_test(transforms_do_not_depend_on_the_exchange_method),
        cmocka_unit_test(bytes_sent_are_those_of_the_cost_model),
        cmocka_unit_test(slab_y_zx_transforms_y_first_and_z_after_for_complex_data),
        cmocka_unit_test(planning_1024_cubed_over_4096_ranks_is_consistent_and_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
