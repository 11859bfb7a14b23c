/* Chains and schedules as geometry: what a strategy exchanges, which buffers it needs, at any
 * number of ranks. */
#include "schedule_setting.h"

#include "plan/model.h"
#include "support/error.h"

#include <sys/resource.h>

typedef struct strategy_case {
    weft_decomposition decomposition;
    int p1, p2;
} strategy_case;

static const strategy_case strategies[] = {
    {WEFT_SLAB_2D1D, 4, 0}, {WEFT_SLAB_1D2D, 4, 0}, {WEFT_SLAB_Y_ZX, 4, 0}, {WEFT_PENCIL, 2, 2},
    {WEFT_PENCIL, 3, 4},    {WEFT_PENCIL, 1, 4},    {WEFT_PENCIL, 4, 1}};

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
                assert_false(s->schedule.step[k].as.exchange.geometry.pack);
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
            assert_int_equal(step->as.exchange.send, step->src);
            assert_int_equal(step->as.exchange.receive, step->dst);
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
        const weft_exchange_step *x = &step->as.exchange;
        if (step->kind != WEFT_STEP_EXCHANGE || x->method->id != WEFT_PEER) continue;
        assert_true(step->src >= WEFT_BUFFER_WORKSPACE);
        assert_int_not_equal(step->src, step->dst);
        assert_int_equal(x->send, step->src);
        assert_int_equal(x->receive, step->dst);
        assert_int_equal(x->messages_sent, 0);
        assert_false(x->staged || x->geometry.pack || x->geometry.unpack);
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
                s->candidate.staged = variant == WEFT_REALIGNED;
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
            assert_true(first->as.copy.copy.axes > 1); /* it changes the memory order */
            assert_int_equal(s->schedule.step[1].kind, WEFT_STEP_EXCHANGE);
            assert_int_equal(s->schedule.step[1].as.exchange.geometry.src_order[1], 0);
            weft_schedule_release(&s->schedule);
        }
        free(s);
    }
}

/* What a transform loads after an exchange must not be where it stores. */
static void check_loaded(const weft_schedule *schedule) {
    for (int k = 1; k < schedule->steps; k++) {
        const weft_step *exchange = &schedule->step[k - 1], *step = &schedule->step[k];
        const weft_exchange_step *x = &exchange->as.exchange;
        const weft_fft_step *fft = &step->as.fft;
        if (exchange->kind != WEFT_STEP_EXCHANGE || !x->loaded) continue;
        const bool own_stays = x->own == WEFT_OWN_STAYS;
        assert_int_equal(step->kind, WEFT_STEP_FFT);
        assert_true(fft->transform.in_pieces.count > 0);
        assert_int_equal(step->src, exchange->dst);
        assert_int_not_equal(step->dst, exchange->dst);
        if (own_stays || is_read_by_partners(x)) assert_int_not_equal(step->dst, exchange->src);
        if (is_read_by_partners(x)) assert_int_equal(exchange->dst, -1);
        for (int p = 0; p < fft->transform.in_pieces.count && !is_read_by_partners(x); p++)
            if (fft->in_piece[p].array == WEFT_LOADED_OWN) assert_true(own_stays);
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
            assert_false(step->as.exchange.geometry.pack || step->as.exchange.geometry.unpack);
            assert_true(step->as.exchange.loaded);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* In tiles and whole, with transports that read device memory and without: kernels cannot. */
static void nothing_is_packed_in_a_callers_host_memory(void **state) {
    (void)state;
    EACH(strategies, i)
    EACH(methods, m)
    for (int mix = 0; mix < 32; mix++) {
        setting *s = make(mix & 1 ? WEFT_R2C : WEFT_C2C, strategies[i].decomposition,
                          mix & 2 ? WEFT_REALIGNED : WEFT_DEFAULT, methods[m], strategies[i].p1,
                          strategies[i].p2);
        s->planner.host_buffers = true;
        s->candidate.tiles = mix & 16 ? 3 : 1;
        schedule(s, 1, (weft_direction)(mix >> 2 & 1), mix & 8);
        for (int k = 0; k < s->schedule.steps; k++) {
            const weft_step *step = &s->schedule.step[k];
            if (step->kind != WEFT_STEP_EXCHANGE) continue;
            assert_true(step->src >= WEFT_BUFFER_WORKSPACE);
            assert_true(step->dst >= WEFT_BUFFER_WORKSPACE);
            assert_true(step->as.exchange.send >= WEFT_BUFFER_WORKSPACE);
            assert_true(step->as.exchange.receive >= WEFT_BUFFER_WORKSPACE);
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
        s->candidate.staged = true;
        schedule(s, 0, WEFT_FORWARD, false);
        for (int k = 0; k < s->schedule.steps; k++)
            if (s->schedule.step[k].kind == WEFT_STEP_EXCHANGE)
                assert_false(s->schedule.step[k].as.exchange.staged);
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
        const weft_transform *t = &a->step[i].as.fft.transform, *u = &b->step[j].as.fft.transform;
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
            s->candidate.staged = m % 2; /* peer stays as it is */
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
    assert_int_equal(weft_call_read(&problem, &options, NULL, 4096, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = 4096};
    s->candidate = (weft_candidate){
        .decomposition = WEFT_PENCIL, .variant = WEFT_DEFAULT, .grid_axes = 2, .grid = {64, 64}};
    for (int i = 0; i < WEFT_MAX_RANK; i++) s->candidate.exchange[i] = WEFT_A2A_SYNC;
    assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain), WEFT_SUCCESS);
    int64_t sent = 0, received = 0, own = 0;
    for (int rank = 0; rank < 4096; rank++) {
        schedule(s, rank, WEFT_FORWARD, false);
        for (int k = 0; k < s->schedule.steps; k++) {
            const weft_step *step = &s->schedule.step[k];
            if (step->kind != WEFT_STEP_EXCHANGE) continue;
            const weft_redistribution *geometry = &step->as.exchange.geometry;
            for (int m = 0; m < geometry->members; m++) {
                sent += geometry->send[m].elements;
                received += geometry->receive[m].elements;
            }
            own += geometry->send[geometry->me].elements;
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

/* The first axes leave the array, which is too short for a spectrum, and the last one comes back.
 */
static void real_data_in_place_is_not_copied_back(void **state) {
    (void)state;
    for (int direction = 0; direction < 2; direction++) {
        setting *s = make(WEFT_R2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_P2P_SYNC, 1, 0);
        let_transforms_take_pieces(s);
        schedule(s, 0, (weft_direction)direction, true);
        assert_int_equal(s->schedule.steps, 2);
        assert_null(step_of(&s->schedule, WEFT_STEP_COPY, 0));
        assert_int_equal(s->schedule.step[1].dst, WEFT_BUFFER_OUT);
        weft_schedule_release(&s->schedule);
        free(s);
    }
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
        cmocka_unit_test(nothing_is_packed_in_a_callers_host_memory),
        cmocka_unit_test(gpus_send_what_they_pack_without_staging),
        cmocka_unit_test(transforms_do_not_depend_on_the_exchange_method),
        cmocka_unit_test(bytes_sent_are_those_of_the_cost_model),
        cmocka_unit_test(slab_y_zx_transforms_y_first_and_z_after_for_complex_data),
        cmocka_unit_test(real_data_in_place_is_not_copied_back),
        cmocka_unit_test(planning_1024_cubed_over_4096_ranks_is_consistent_and_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
