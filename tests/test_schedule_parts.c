/* Schedules of exchanges in parts: which transforms go in parts with them, and what may run beside
 * what. */
#include "schedule_setting.h"

/* x is gathered, y split: what is made goes in parts along x, what is taken in half as many along
 * y. What partners lend goes in parts of both, messages in parts along x, of which each block is a
 * run: transforms store and load it. */
static void parts_of_a_slab_overlap_with_both_transforms(void **state) {
    (void)state;
    EACH(methods, m)
    for (int mix = 0; mix < 4; mix++) {
        setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, methods[m], 4, 0);
        const bool pieces = mix & 1, forward = mix < 2, shared = methods[m] == WEFT_PEER;
        s->candidate.tiles = 6;
        if (pieces) let_transforms_take_pieces(s);
        schedule(s, 1, forward ? WEFT_FORWARD : WEFT_INVERSE, false);
        const weft_step *step = step_of(&s->schedule, WEFT_STEP_EXCHANGE, 0);
        assert_int_equal(step_of(&s->schedule, WEFT_STEP_FFT, 0)->chunks, 6);
        assert_int_equal(step_of(&s->schedule, WEFT_STEP_FFT, 1)->chunks, 3);
        assert_int_equal(weft_step_parts(step), shared ? 18 : forward ? 6 : 3);
        assert_false(pieces && (step->exchange.pack || step->exchange.unpack));
        if (!step->method->datatypes) {
            assert_int_equal(step->loaded_by_next, pieces);
            assert_int_equal(step->own_stays, pieces && (shared || !forward));
            assert_true(step->overlaps_before || !forward);
            assert_true(step->overlaps_after || forward || !pieces);
        }
        if (shared) {
            assert_int_equal(step->made.axis, forward ? 0 : 1);
            assert_int_equal(step->taken.axis, forward ? 1 : 0);
            assert_true(step->overlaps_before && step->overlaps_after);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

static void let_gpus_take_pieces(setting *s) {
    s->candidate.engine = weft_engine_find(WEFT_ENGINE_JIT);
    s->candidate.device = weft_device_find(WEFT_CUDA);
}

/* While an exchange in parts stores somewhere, the transform before it still loads: also its own
 * block, where the exchange before that left it. */
static void check_overlaps(const weft_schedule *schedule) {
    for (int k = 1; k < schedule->steps; k++) /* only what is lent can be loaded from afar */
        if (schedule->step[k].far_chunks > 0) assert_true(schedule->step[k - 1].method->shared);
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
        s->candidate.tiles = 7;
        s->candidate.staged = mix & 16;
        let_gpus_take_pieces(s);
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
        s->candidate.tiles = 8;
        let_gpus_take_pieces(s);
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
        s->candidate.tiles = 5;
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

/* Of what a rank receives of part `taken`: parts that follow each other along what is made are one
 * block. */
static void check_parts_that_follow(const weft_step *step, int taken) {
    enum { MOST = 8 };
    weft_redistribution part[MOST];
    const int parts = step->made.parts, axis = step->made.axis;
    assert_true(parts <= MOST);
    for (int k = 0; k < parts; k++) {
        weft_redistribution row;
        weft_redistribution_restrict(&step->exchange, axis, parts, k, &row);
        weft_redistribution_restrict(&row, step->taken.axis, step->taken.parts, taken, &part[k]);
        weft_redistribution_release(&row);
    }
    for (int m = 0; m < step->exchange.members; m++)
        for (int from = 0; from < parts; from++)
            for (int to = from, n = 0; to < parts; to++) {
                const weft_block *first = &part[from].receive[m], *last = &part[to].receive[m];
                n += (int)last->view.n[axis];
                if (first->elements == 0) continue;
                assert_int_equal(weft_view_through(&first->view, &last->view, axis).n[axis], n);
                assert_int_equal(weft_view_through(&first->origin, &last->origin, axis).n[axis], n);
            }
    for (int k = 0; k < parts; k++) weft_redistribution_release(&part[k]);
}

/* Of more parts than indices some are empty. */
static void parts_that_follow_each_other_are_one_block(void **state) {
    (void)state;
    for (int chunks = 2; chunks <= 8; chunks++)
        for (int rank = 0; rank < 3; rank++) {
            setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_PEER, 3, 0);
            memcpy(s->call.problem.n, (const int64_t[]){7, 10, 4}, 3 * sizeof(int64_t));
            assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain),
                             WEFT_SUCCESS);
            s->candidate.tiles = chunks;
            schedule(s, rank, WEFT_FORWARD, false);
            const weft_step *step = step_of(&s->schedule, WEFT_STEP_EXCHANGE, 0);
            assert_int_equal(step->made.parts, chunks);
            for (int taken = 0; taken < step->taken.parts; taken++)
                check_parts_that_follow(step, taken);
            weft_schedule_release(&s->schedule);
            free(s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_slab_overlap_with_both_transforms),
        cmocka_unit_test(parts_of_an_exchange_leave_alone_what_the_transform_before_loads),
        cmocka_unit_test(later_parts_of_a_slab_are_loaded_from_the_partners),
        cmocka_unit_test(parts_of_a_pencil_are_a_pipeline_along_x),
        cmocka_unit_test(parts_that_follow_each_other_are_one_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
