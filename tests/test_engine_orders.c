/*
 * Two and three dimensions in every memory order on either side; threads, of which two or three
 * give the bits that one gives; and short lines, whose bits do not depend on what is contiguous.
 */
#include "test_engine.h"

static const int permutation[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* The order of loop 0 and the dimensions: the loop slowest or fastest, the dimensions permuted. */
static void make_order(int dims, int which, bool loop_fastest, int order[4]) {
    int at = 0;
    if (!loop_fastest) order[at++] = 0;
    for (int d = 0; d < 3; d++)
        if (permutation[which][d] < dims) order[at++] = 1 + permutation[which][d];
    if (loop_fastest) order[at] = 0;
}

/* Permutations of two dimensions: the first of each pair that differ only in where the third is. */
static int permutations(int dims, int *list) {
    if (dims == 2) {
        list[0] = 0, list[1] = 2; /* {0, 1, 2} and {1, 0, 2} */
        return 2;
    }
    for (int i = 0; i < 6; i++) list[i] = i;
    return 6;
}

static void lay_out_both(weft_transform *t, int in, int out, int loops_fastest) {
    static const int64_t no_gap[4];
    int order[4];
    make_order(t->dims, in, loops_fastest & 1, order);
    lay_out(t, false, order, no_gap);
    make_order(t->dims, out, loops_fastest & 2, order);
    lay_out(t, true, order, no_gap);
}

static void check_orders(const weft_engine_ops *engine, weft_transform t) {
    int list[6], count = permutations(t.dims, list);
    for (int in = 0; in < count; in++)
        for (int out = 0; out < count; out++) {
            if (is_left_out(engine, 28)) continue;
            lay_out_both(&t, list[in], list[out], (int)random_between(0, 3));
            t.in_place = t.kind == WEFT_TRANSFORM_C2C && in == out && random_between(0, 1) == 1;
            if (t.in_place) lay_out_both(&t, list[in], list[in], 0);
            char text[640];
            describe_transform(&t, text, sizeof text);
            double share =
                check_transform(engine, &t, (side_placement)random_between(0, PLACEMENTS - 1));
            if (!(share <= allowed_share(engine, &t)))
                fail_msg("%s: error is %.3f of what is allowed", text, share);
        }
}

static void all_memory_orders_give_the_transform(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    static const struct {
        int dims;
        int64_t n[3], lines;
    } shapes[] = {{2, {12, 10, 0}, 3}, {2, {33, 20, 0}, 2}, {2, {5, 64, 0}, 5}, {2, {67, 9, 0}, 1},
                  {2, {1, 16, 0}, 4},  {3, {6, 10, 9}, 2},  {3, {8, 4, 16}, 3}, {3, {5, 7, 3}, 4},
                  {3, {16, 12, 2}, 1}, {3, {4, 1, 15}, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int variant = 0; variant < 8; variant++) {
            weft_transform t = {.kind = (weft_transform_kind)(variant % 4 % 3),
                                .direction = variant % 4 == 3 ? WEFT_INVERSE : WEFT_FORWARD,
                                .precision = variant / 4 ? WEFT_SINGLE : WEFT_DOUBLE,
                                .dims = shapes[s].dims,
                                .loops = 1,
                                .loop = {{.n = shapes[s].lines}},
                                .destroy_input = true,
                                .whole = random_between(0, 1),
                                .threads = 1};
            for (int d = 0; d < t.dims; d++) t.dim[d].n = shapes[s].n[d];
            check_orders(engine, t);
        }
}

/* Engines may have a method of its own for axes with strides of 64 KiB or more. */
static void points_at_large_strides_are_transformed(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    for (int variant = 0; variant < 10; variant++) {
        if (is_left_out(engine, 2)) continue;
        weft_transform t = {.kind = (weft_transform_kind)(variant % 5 % 3),
                            .direction = variant % 5 == 3 ? WEFT_INVERSE : WEFT_FORWARD,
                            .precision = variant / 5 ? WEFT_SINGLE : WEFT_DOUBLE,
                            .dims = 3,
                            .dim = {{18, 0, 0}, {72, 0, 0}, {variant / 5 ? 250 : 124, 0, 0}},
                            .loops = 1,
                            .loop = {{.n = 1}},
                            .in_place = variant % 5 == 3,
                            .destroy_input = true,
                            .threads = 1};
        lay_out_both(&t, 0, 0, 0);
        double share = check_transform(engine, &t, (side_placement)(variant % PLACEMENTS));
        if (!(share <= 1)) fail_msg("variant %d: error is %.3f of what is allowed", variant, share);
    }
}

/* Runs with one, two and three threads on the same data and compares what is stored. */
static void check_threads(const weft_engine_ops *engine, weft_transform t) {
    side in = side_create(&t, false, ALIGNED);
    t.in_elements = in.extent;
    for (int64_t i = 0; i < in.elements; i++) {
        double re = random_number(), im = random_number();
        side_put(&in, i, re + im * I);
    }
    const size_t bytes = in.mapped - 2 * GUARD;
    void *given = malloc(bytes); /* for engines may overwrite it */
    assert_non_null(given);
    memcpy(given, in.mapping + GUARD, bytes);
    side result[3];
    for (int threads = 1; threads <= 3; threads++) {
        side *out = &result[threads - 1];
        memcpy(in.mapping + GUARD, given, bytes);
        *out = side_create(&t, true, ALIGNED);
        t.out_elements = out->extent;
        t.threads = threads;
        run_transform(engine, &t, in.data, out->data);
        if (memcmp(out->mapping + GUARD, result[0].mapping + GUARD, out->mapped - 2 * GUARD) == 0)
            continue;
        char text[640];
        describe_transform(&t, text, sizeof text);
        fail_msg("%s: not the bits of one thread", text);
    }
    for (int i = 0; i < 3; i++) side_destroy(&result[i]);
    free(given);
    side_destroy(&in);
}

static void threads_do_not_change_the_bits(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (engine->id == WEFT_ENGINE_FFTW) {
        print_message("skipped: FFTW may plan otherwise for threads\n");
        skip();
    }
    static const struct {
        int dims;
        int64_t n[3], lines;
    } shapes[] = {{1, {256, 0, 0}, 300}, {1, {1000, 0, 0}, 37}, {1, {67, 0, 0}, 101},
                  {1, {65536, 0, 0}, 1}, {1, {30, 0, 0}, 5},    {2, {96, 100, 0}, 1},
                  {2, {256, 256, 0}, 1}, {2, {63, 37, 0}, 7},   {3, {24, 20, 30}, 2},
                  {3, {64, 32, 48}, 1},  {3, {3, 130, 17}, 5}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int variant = 0; variant < 3 * 2 * 4; variant++) {
            if (is_left_out(engine, 14)) continue;
            weft_transform t = {.kind = (weft_transform_kind)(variant % 3),
                                .precision = variant / 3 % 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                                .dims = shapes[s].dims,
                                .loops = 1,
                                .loop = {{.n = shapes[s].lines}},
                                .whole = random_between(0, 1)};
            int list[6], count = permutations(t.dims, list);
            for (int d = 0; d < t.dims; d++) t.dim[d].n = shapes[s].n[d];
            lay_out_both(&t, list[random_between(0, count - 1)], list[random_between(0, count - 1)],
                         variant / 6);
            /* Some engines cannot keep the input of a complex-to-real transform. */
            t.destroy_input = t.kind == WEFT_TRANSFORM_C2R;
            check_threads(engine, t);
        }
}

/* Transforms the same numbers in one of four layouts: bit 0 and bit 1 of `layout` say whether lines
 * are neighbours in the input and in the output; otherwise the points of each line are. */
static side run_layout(const weft_engine_ops *engine, weft_transform t, int layout,
                       const exact_complex *given) {
    static const int order[2][2] = {{0, 1}, {1, 0}};
    const int64_t gap[2] = {random_between(0, 2), 0};
    lay_out(&t, false, order[layout & 1], gap);
    lay_out(&t, true, order[layout >> 1], gap);
    side in = side_create(&t, false, (side_placement)random_between(0, PLACEMENTS - 1));
    side out = side_create(&t, true, (side_placement)random_between(0, PLACEMENTS - 1));
    t.in_elements = in.extent;
    t.out_elements = out.extent;
    for (int64_t i = 0; i < in.elements; i++) side_put(&in, i, given[i]);
    run_transform(engine, &t, in.data, out.data);
    assert_gaps_untouched(&out);
    side_destroy(&in);
    return out;
}

static void check_layouts(const weft_engine_ops *engine, const weft_transform *t) {
    const int64_t count = t->dim[0].n * t->loop[0].n;
    exact_complex *given = malloc((size_t)count * sizeof *given);
    assert_non_null(given);
    fill_array(engine, t, given, count);
    side first = {0};
    for (int layout = 0; layout < 4; layout++) {
        side out = run_layout(engine, *t, layout, given);
        if (layout == 0) first = out;
        for (int64_t i = 0; i < out.elements; i++) {
            const exact_complex a = side_get(&first, i), b = side_get(&out, i);
            if (creall(a) == creall(b) && cimagl(a) == cimagl(b)) continue;
            char text[640];
            describe_transform(t, text, sizeof text);
            fail_msg("%s: layout %d: not the bits of contiguous lines", text, layout);
        }
        if (layout > 0) side_destroy(&out);
    }
    side_destroy(&first);
    free(given);
}

/* Every length that one codelet transforms and others; full vectors of lines and some more. */
static void what_is_contiguous_does_not_change_the_bits(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (engine->id != WEFT_ENGINE_NATIVE) {
        print_message("skipped: promised by the native engine only\n");
        skip();
    }
    for (int64_t n = 2; n <= 40; n++)
        for (int variant = 0; variant < 3 * 2 * 2; variant++) {
            const weft_transform t = {.kind = (weft_transform_kind)(variant % 3),
                                      .direction = variant / 6 ? WEFT_INVERSE : WEFT_FORWARD,
                                      .precision = variant / 3 % 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                                      .dims = 1,
                                      .dim = {{.n = n}},
                                      .loops = 1,
                                      .loop = {{.n = random_between(2, 40)}},
                                      .destroy_input = true,
                                      .threads = 1};
            check_layouts(engine, &t);
        }
}

#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    {#ops " all_memory_orders_give_the_transform", all_memory_orders_give_the_transform, NULL,     \
     NULL, (void *)(uintptr_t)&ops},                                                               \
        {#ops " points_at_large_strides_are_transformed", points_at_large_strides_are_transformed, \
         NULL, NULL, (void *)(uintptr_t)&ops},                                                     \
        {#ops " threads_do_not_change_the_bits", threads_do_not_change_the_bits, NULL, NULL,       \
         (void *)(uintptr_t)&ops},                                                                 \
        {#ops " what_is_contiguous_does_not_change_the_bits",                                      \
         what_is_contiguous_does_not_change_the_bits, NULL, NULL, (void *)(uintptr_t)&ops},

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
