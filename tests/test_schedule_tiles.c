/* Schedules of exchanges in tiles: which transforms go in tiles with them, and which alternate with
 * them. */
#include "random_numbers.h"
#include "schedule_setting.h"

/* x is gathered, y split: what is produced goes in tiles along x, what is consumed in half as many
 * along y. What partners read goes in tiles of both, messages in tiles along x, of which each block
 * is a run: transforms store and load it. */
static void tiles_of_a_slab_overlap_with_both_transforms(void **state) {
    (void)state;
    EACH(methods, m)
    for (int mix = 0; mix < 4; mix++) {
        setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, methods[m], 4, 0);
        const bool pieces = mix & 1, forward = mix < 2, shared = methods[m] == WEFT_PEER;
        s->candidate.tiles = 6;
        if (pieces) let_transforms_take_pieces(s);
        schedule(s, 1, forward ? WEFT_FORWARD : WEFT_INVERSE, false);
        const weft_exchange_step *x = exchange_of(&s->schedule, 0);
        assert_int_equal(fft_of(&s->schedule, 0)->tiles, 6);
        assert_int_equal(fft_of(&s->schedule, 1)->tiles, 3);
        assert_int_equal(weft_step_tiles(x), shared ? 18 : forward ? 6 : 3);
        assert_false(pieces && (x->geometry.pack || x->geometry.unpack));
        if (!x->method->gathers) {
            assert_int_equal(x->loaded, pieces);
            assert_int_equal(x->own == WEFT_OWN_STAYS, pieces && (shared || !forward));
            assert_true(x->produced.alternates || !forward);
            assert_true(x->consumed.alternates || forward || !pieces);
        }
        if (shared) {
            assert_int_equal(x->produced.axis, forward ? 0 : 1);
            assert_int_equal(x->consumed.axis, forward ? 1 : 0);
            assert_true(x->produced.alternates && x->consumed.alternates);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

static void let_gpus_take_pieces(setting *s) {
    s->candidate.engine = weft_engine_find(WEFT_ENGINE_JIT);
    s->candidate.device = weft_device_find(WEFT_CUDA);
}

/* Messages in tiles leave when the exchange before the transform has ended: a rank that stopped for
 * them earlier might be waited for. Only what partners read can be loaded remotely. */
static void check_overlaps(const weft_schedule *schedule) {
    for (int k = 1; k < schedule->steps; k++)
        if (schedule->step[k].kind == WEFT_STEP_FFT && schedule->step[k].as.fft.remote_tiles > 0)
            assert_true(is_read_by_partners(&schedule->step[k - 1].as.exchange));
    for (int k = 2; k < schedule->steps; k++) {
        const weft_step *first = &schedule->step[k - 2], *step = &schedule->step[k];
        const weft_exchange_step *x = &step->as.exchange;
        if (first->kind != WEFT_STEP_EXCHANGE || step->kind != WEFT_STEP_EXCHANGE) continue;
        assert_true(!x->produced.alternates ||
                    (is_read_by_partners(x) && x->own == WEFT_OWN_STAYS));
    }
}

static void messages_wait_for_the_exchange_before_the_transform(void **state) {
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

/* A transform on a device loads half of what several partners have from their arrays. In place the
 * first transform stores where partners read, so that nothing is copied there. */
static void later_tiles_of_a_slab_are_loaded_from_the_partners(void **state) {
    (void)state;
    for (int mix = 0; mix < 4; mix++) {
        setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_PEER, 4, 0);
        const bool forward = mix < 2, in_place = mix & 1;
        s->candidate.tiles = 8;
        let_gpus_take_pieces(s);
        schedule(s, 1, forward ? WEFT_FORWARD : WEFT_INVERSE, in_place);
        const weft_exchange_step *x = exchange_of(&s->schedule, 0);
        const weft_fft_step *after = fft_of(&s->schedule, 1);
        assert_null(step_of(&s->schedule, WEFT_STEP_COPY, 0));
        assert_int_equal(after->tiles, 4);
        assert_true(x->produced.alternates && x->consumed.alternates);
        assert_int_equal(after->remote_tiles, 2);
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* The transform there and back consumes the tiles of the first exchange, and the second produces
 * the same. Two ranks copy from each other, more also load from each other's arrays. */
static void a_convolution_overlaps_with_both_exchanges(void **state) {
    (void)state;
    EACH(methods, m)
    for (int mix = 0; mix < 8; mix++) {
        const bool real = mix & 1, in_place = mix & 2, shared = methods[m] == WEFT_PEER;
        const int ranks = mix & 4 ? 4 : 2;
        setting *s =
            make(real ? WEFT_R2C : WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, methods[m], ranks, 0);
        s->candidate.tiles = 8;
        let_gpus_take_pieces(s);
        schedule(s, 1, WEFT_CONVOLVE, in_place);
        const weft_exchange_step *there = exchange_of(&s->schedule, 0);
        const weft_exchange_step *back = exchange_of(&s->schedule, 1);
        assert_true(fft_of(&s->schedule, 1)->transform.round_trip);
        assert_int_equal(fft_of(&s->schedule, 1)->tiles, 4);
        assert_null(step_of(&s->schedule, WEFT_STEP_COPY, 0));
        if (shared) {
            assert_int_equal(back->produced.axis, there->consumed.axis);
            assert_int_equal(back->produced.tiles, 4);
            assert_true(there->consumed.alternates && back->produced.alternates);
            assert_true(back->consumed.alternates);
            assert_int_equal(fft_of(&s->schedule, 2)->remote_tiles, ranks > 2 ? 2 : 0);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* The first exchange of a pencil leaves x as it is. */
static void tiles_of_a_pencil_are_a_pipeline_along_x(void **state) {
    (void)state;
    EACH(methods, m) {
        setting *s = make(WEFT_C2C, WEFT_PENCIL, WEFT_DEFAULT, methods[m], 2, 2);
        s->candidate.tiles = 5;
        schedule(s, 3, WEFT_FORWARD, false);
        const weft_exchange_step *x = exchange_of(&s->schedule, 0);
        assert_int_equal(weft_step_tiles(x), 5);
        assert_int_equal(x->produced.axis, 0);
        assert_int_equal(x->consumed.axis, 0);
        assert_true(x->produced.transformed && x->consumed.transformed);
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

/* Tiles that follow each other along what is produced, of what a rank receives for tile
 * `consumed`, are one block. */
static void check_tiles_that_follow(const weft_exchange_step *x, int consumed) {
    enum { MOST = 8 };
    weft_redistribution tile[MOST];
    const int tiles = x->produced.tiles, axis = x->produced.axis;
    assert_true(tiles <= MOST);
    for (int k = 0; k < tiles; k++) {
        weft_redistribution row;
        weft_redistribution_restrict(&x->geometry, axis, tiles, k, &row);
        weft_redistribution_restrict(&row, x->consumed.axis, x->consumed.tiles, consumed, &tile[k]);
        weft_redistribution_release(&row);
    }
    for (int m = 0; m < x->geometry.members; m++)
        for (int from = 0; from < tiles; from++)
            for (int to = from, n = 0; to < tiles; to++) {
                const weft_block *first = &tile[from].receive[m], *last = &tile[to].receive[m];
                n += (int)last->view.n[axis];
                if (first->elements == 0) continue;
                assert_int_equal(weft_view_through(&first->view, &last->view, axis).n[axis], n);
                assert_int_equal(weft_view_through(&first->origin, &last->origin, axis).n[axis], n);
            }
    for (int k = 0; k < tiles; k++) weft_redistribution_release(&tile[k]);
}

/* There may be more tiles than indices: some are then empty. */
static void tiles_that_follow_each_other_are_one_block(void **state) {
    (void)state;
    for (int tiles = 2; tiles <= 8; tiles++)
        for (int rank = 0; rank < 3; rank++) {
            setting *s = make(WEFT_C2C, WEFT_SLAB_2D1D, WEFT_DEFAULT, WEFT_PEER, 3, 0);
            memcpy(s->call.problem.n, (const int64_t[]){7, 10, 4}, 3 * sizeof(int64_t));
            assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain),
                             WEFT_SUCCESS);
            s->candidate.tiles = tiles;
            schedule(s, rank, WEFT_FORWARD, false);
            const weft_exchange_step *x = exchange_of(&s->schedule, 0);
            assert_int_equal(x->produced.tiles, tiles);
            for (int consumed = 0; consumed < x->consumed.tiles; consumed++)
                check_tiles_that_follow(x, consumed);
            weft_schedule_release(&s->schedule);
            free(s);
        }
}

/* A random problem of small extents, some axes of which a rank has nothing of, and a strategy. */
static setting *random_setting(void) {
    static const weft_decomposition decompositions[] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D,
                                                        WEFT_PENCIL};
    setting *s = calloc(1, sizeof *s);
    const weft_decomposition decomposition = decompositions[random_below(3)];
    const int rank = decomposition == WEFT_PENCIL ? 3 + random_below(2) : 2 + random_below(3);
    const int grid_axes = decomposition == WEFT_PENCIL ? 2 + random_below(rank - 2) : 1;
    weft_problem problem = {.rank = rank, .kind = random_below(2) ? WEFT_R2C : WEFT_C2C};
    weft_options options = {.decomposition = decomposition, .convolve = 1};
    int ranks = 1;
    for (int a = 0; a < rank; a++) problem.n[a] = 1 + random_below(9);
    for (int g = 0; g < grid_axes; g++) ranks *= options.grid[g] = 1 + random_below(g > 0 ? 3 : 5);
    assert_int_equal(weft_call_read(&problem, &options, NULL, ranks, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = ranks};
    s->candidate = (weft_candidate){.decomposition = decomposition,
                                    .variant = random_below(2) ? WEFT_DEFAULT : WEFT_REALIGNED,
                                    .grid_axes = grid_axes,
                                    .tiles = 2 + random_below(5)};
    for (int g = 0; g < grid_axes; g++) s->candidate.grid[g] = options.grid[g];
    for (int i = 0; i < WEFT_MAX_RANK; i++) s->candidate.exchange[i] = methods[random_below(7)];
    const int engine = random_below(3); /* 0: one that takes no pieces */
    if (engine == 1) let_transforms_take_pieces(s);
    if (engine == 2) let_gpus_take_pieces(s);
    if (weft_planner_chain(&s->planner, &s->candidate, &s->chain) == WEFT_SUCCESS) return s;
    free(s); /* a grid that this rank of array does not have */
    return NULL;
}

/* Engines may do the transforms of one rank in other steps than those of another, whose box has
 * other extents. What is exchanged, and in which tiles, must be the same. */
static void ranks_exchange_the_same_tiles(void **state) {
    (void)state;
    int compared = 0;
    for (int number = 0; number < 1500; number++) {
        setting *s = random_setting();
        if (!s) continue;
        for (int direction = 0; direction <= WEFT_CONVOLVE; direction++) {
            setting first = *s;
            schedule(&first, 0, (weft_direction)direction, number & 1);
            for (int rank = 1; rank < s->planner.ranks; rank++, compared++) {
                schedule(s, rank, (weft_direction)direction, number & 1);
                for (int k = 0;; k++) {
                    const weft_step *a = step_of(&first.schedule, WEFT_STEP_EXCHANGE, k);
                    const weft_step *b = step_of(&s->schedule, WEFT_STEP_EXCHANGE, k);
                    assert_true((a == NULL) == (b == NULL));
                    if (!a) break;
                    const weft_exchange_step *x = &a->as.exchange, *y = &b->as.exchange;
                    assert_int_equal(x->produced.tiles, y->produced.tiles);
                    assert_int_equal(x->produced.axis, y->produced.axis);
                    assert_int_equal(x->consumed.tiles, y->consumed.tiles);
                    assert_int_equal(x->consumed.axis, y->consumed.axis);
                }
                weft_schedule_release(&s->schedule);
            }
            weft_schedule_release(&first.schedule);
        }
        free(s);
    }
    assert_true(compared > 10000);
}

/* Calls `check` for random settings, one rank of each, in every direction. */
static void check_random(void (*check)(setting *s, int rank, weft_direction direction,
                                       bool in_place, int *compared),
                         int least) {
    int compared = 0;
    for (int number = 0; number < 1500; number++) {
        setting *s = random_setting();
        if (!s) continue;
        const int rank = random_below(s->planner.ranks);
        for (int direction = 0; direction <= WEFT_CONVOLVE; direction++)
            check(s, rank, (weft_direction)direction, number & 1, &compared);
        free(s);
    }
    assert_true(compared > least);
}

static void compare_with_messages(setting *s, int rank, weft_direction direction, bool in_place,
                                  int *compared) {
    setting messages = *s;
    for (int i = 0; i < WEFT_MAX_RANK; i++) messages.candidate.exchange[i] = WEFT_A2A_SYNC;
    schedule(&messages, rank, direction, in_place);
    schedule(s, rank, direction, in_place);
    for (int k = 0; step_of(&s->schedule, WEFT_STEP_FFT, k); k++, ++*compared) {
        assert_int_equal(fft_of(&s->schedule, k)->tiles, fft_of(&messages.schedule, k)->tiles);
        assert_int_equal(fft_of(&s->schedule, k)->tile_loop,
                         fft_of(&messages.schedule, k)->tile_loop);
    }
    weft_schedule_release(&messages.schedule);
    weft_schedule_release(&s->schedule);
}

/* Engines may round otherwise when they do less at once, and bits must not depend on the method. */
static void transforms_go_in_the_same_tiles_whatever_the_method(void **state) {
    (void)state;
    check_random(compare_with_messages, 10000);
}

static void check_side(const weft_transform *t, bool output, int *compared) {
    const weft_pieces *pieces = output ? &t->out_pieces : &t->in_pieces;
    for (int p = 0; p < pieces->count; p++, ++*compared) {
        for (int d = 0; d < t->dims; d++)
            if (t->dim[d].n > 1 && (output ? t->dim[d].out_stride : t->dim[d].in_stride) == 1)
                assert_int_equal(pieces->piece[p].dim_stride[d], 1);
        for (int i = 0; i < t->loops; i++)
            if (t->loop[i].n > 1 && (output ? t->loop[i].out_stride : t->loop[i].in_stride) == 1)
                assert_int_equal(pieces->piece[p].loop_stride[i], 1);
    }
}

static void check_neighbours(setting *s, int rank, weft_direction direction, bool in_place,
                             int *compared) {
    schedule(s, rank, direction, in_place);
    for (int k = 0; step_of(&s->schedule, WEFT_STEP_FFT, k); k++) {
        check_side(&fft_of(&s->schedule, k)->transform, false, compared);
        check_side(&fft_of(&s->schedule, k)->transform, true, compared);
    }
    weft_schedule_release(&s->schedule);
}

/* Engines do lines of contiguous points otherwise than lines whose neighbours are contiguous, so
 * whether an array is in pieces, which depends on the method, must not make one of the other. */
static void neighbours_in_an_array_are_neighbours_in_its_pieces(void **state) {
    (void)state;
    check_random(check_neighbours, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_a_slab_overlap_with_both_transforms),
        cmocka_unit_test(messages_wait_for_the_exchange_before_the_transform),
        cmocka_unit_test(later_tiles_of_a_slab_are_loaded_from_the_partners),
        cmocka_unit_test(a_convolution_overlaps_with_both_exchanges),
        cmocka_unit_test(tiles_of_a_pencil_are_a_pipeline_along_x),
        cmocka_unit_test(tiles_that_follow_each_other_are_one_block),
        cmocka_unit_test(ranks_exchange_the_same_tiles),
        cmocka_unit_test(transforms_go_in_the_same_tiles_whatever_the_method),
        cmocka_unit_test(neighbours_in_an_array_are_neighbours_in_its_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
