/*
 * The only line of a transform, which has its own points in the lanes of vectors: every length,
 * kind and precision, between pages that fault and at any alignment. Batches are done so where
 * their whole is known and that is faster: a part of one, were it a single line, must give the bits
 * of the whole, and no line may leave traces in another.
 */
#include "engine/native/dispatch.h"
#include "engine/native/solver.h"

#include "test_engine.h"

#include <math.h>

typedef struct line_case {
    weft_transform_kind kind;
    weft_direction direction;
    bool in_place;
} line_case;

static const line_case cases[] = {
    {WEFT_TRANSFORM_C2C, WEFT_FORWARD, false}, {WEFT_TRANSFORM_C2C, WEFT_INVERSE, false},
    {WEFT_TRANSFORM_C2C, WEFT_FORWARD, true},  {WEFT_TRANSFORM_C2C, WEFT_INVERSE, true},
    {WEFT_TRANSFORM_R2C, WEFT_FORWARD, false}, {WEFT_TRANSFORM_C2R, WEFT_INVERSE, false}};

#ifdef __SANITIZE_ADDRESS__ /* which takes five times as long */
enum { STEP = 63 };
#else
enum { STEP = 31 };
#endif
enum { CASES = (int)(sizeof cases / sizeof cases[0]) };

static weft_transform line_of(const line_case *c, weft_precision precision, int64_t n) {
    return (weft_transform){.kind = c->kind,
                            .direction = c->direction,
                            .in_place = c->in_place,
                            .precision = precision,
                            .dims = 1,
                            .dim = {{n, 1, 1}},
                            .threads = 1};
}

/* Numbers of an array that no cache holds, for weft_transform.whole. */
#define BEYOND_CACHES ((int64_t)1 << 34)

static void check_line(const weft_engine_ops *engine, int64_t n, int c, weft_precision precision) {
    static const side_placement placements[] = {AFTER_GUARD, BEFORE_GUARD, MISALIGNED_AFTER_GUARD};
    weft_transform t = line_of(&cases[c], precision, n);
    const double share = check_transform(engine, &t, placements[random_between(0, 2)]);
    char text[640];
    describe_transform(&t, text, sizeof text);
    if (!(share <= allowed_share(engine, &t)))
        fail_msg("%s: error is %.3f of what is allowed", text, share);
}

static const weft_engine_ops *native_engine(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (engine->id != WEFT_ENGINE_NATIVE) skip();
    return engine;
}

/* Each in every way. */
static void every_short_line_meets_the_accuracy_rule(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    for (int64_t n = 1; n <= 64; n++)
        for (int c = 0; c < CASES; c++)
            for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++)
                check_line(engine, n, c, (weft_precision)precision);
}

/* A sample of the lengths, each in one way, which are others in each run. */
static void every_longer_line_meets_the_accuracy_rule(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static const int64_t longest[] = {4099, 4290, 5000, 6561, 8192, 9973, 10000, 16384, 16385};
    for (int64_t n = 65; n <= 4096; n += random_between(1, STEP))
        check_line(engine, n, (int)random_between(0, CASES - 1),
                   random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE);
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++)
        for (int c = 0; c < CASES; c++) check_line(engine, longest[i], c, (weft_precision)(c % 2));
}

/* Lines of a batch, forward and back, in place and not. */
static void every_batch_meets_the_accuracy_rule(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    for (int64_t n = 2; n <= 9000;
         n += n < 70 ? 1 : random_between(1, (n < 1100 ? 2 : 50) * STEP)) {
        const line_case *c = &cases[random_between(0, CASES - 1)];
        weft_transform t = line_of(c, random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE, n);
        const int64_t gap = random_between(0, 3), half = n / 2 + 1;
        t.loops = 2;
        t.loop[0] =
            (weft_dimension){random_between(1, 9), (c->kind == WEFT_TRANSFORM_C2R ? half : n) + gap,
                             (c->kind == WEFT_TRANSFORM_R2C ? half : n) + gap};
        t.loop[1] = (weft_dimension){random_between(1, 3), t.loop[0].n * t.loop[0].in_stride,
                                     t.loop[0].n * t.loop[0].out_stride};
        t.whole = random_between(0, 1) ? t.loop[0].n * t.loop[1].n * n : BEYOND_CACHES;
        t.threads = (int)random_between(1, 2);
        const double share =
            check_transform(engine, &t, random_between(0, 1) ? AFTER_GUARD : BEFORE_GUARD);
        char text[640];
        describe_transform(&t, text, sizeof text);
        if (!(share <= allowed_share(engine, &t)))
            fail_msg("%s: error is %.3f of what is allowed", text, share);
    }
}

enum { LINES = 11, LONGEST = 9000, NUMBERS = LINES * 2 * (LONGEST + 1) };

static const int64_t batched[] = {2,  3,  5,   8,   12,  13,  16,  23,   32,   60,   64,
                                  81, 92, 100, 128, 243, 256, 512, 1000, 1009, 5005, LONGEST};

/* A batch of contiguous lines, or a part of one; real ones at a distance of n, half spectra at one
 * of n/2 + 1. `known`: whether the engine is told how large the whole batch is. */
static weft_transform batch_of(const line_case *c, weft_precision precision, int64_t n,
                               int64_t lines, bool known) {
    weft_transform t = line_of(c, precision, n);
    t.whole = known ? LINES * n : 0;
    t.in_batch = true;
    t.in_place = false;
    t.loops = 1;
    t.loop[0] = (weft_dimension){lines, n, n};
    if (t.kind == WEFT_TRANSFORM_R2C) t.loop[0].out_stride = n / 2 + 1;
    if (t.kind == WEFT_TRANSFORM_C2R) t.loop[0].in_stride = n / 2 + 1;
    t.in_elements = lines * t.loop[0].in_stride;
    t.out_elements = lines * t.loop[0].out_stride;
    return t;
}

/* Whether the lines of such a batch are done one by one. */
static bool is_done_alone(const line_case *c, weft_precision precision, int64_t n, bool known) {
    const weft_pass_request request = {.kernels = weft_native_kernels(precision),
                                       .kind = c->kind,
                                       .dim = {n, 1, 1},
                                       .in_batch = true,
                                       .whole = known ? LINES * n : 0};
    return weft_native_takes_alone(&request);
}

static void fill_numbers_of(void *array, int count, weft_precision precision) {
    for (int i = 0; i < count; i++)
        if (precision == WEFT_SINGLE)
            ((float *)array)[i] = (float)random_number();
        else
            ((double *)array)[i] = random_number();
}

static void fill_numbers(void *array, weft_precision precision) {
    fill_numbers_of(array, NUMBERS, precision);
}

/* Real lines in tiles round as the number of lines in a tile tells. */
static void parts_of_a_batch_give_the_bits_of_the_whole(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static double in[NUMBERS], whole[NUMBERS], part[NUMBERS];
    for (size_t i = 0; i < sizeof batched / sizeof batched[0]; i++)
        for (int c = 0; c < CASES; c++)
            for (int way = 0; way < 4; way++) {
                const weft_precision p = way % 2 ? WEFT_SINGLE : WEFT_DOUBLE;
                if (cases[c].kind != WEFT_TRANSFORM_C2C &&
                    !is_done_alone(&cases[c], p, batched[i], way / 2))
                    continue;
                fill_numbers(in, p);
                const weft_transform t = batch_of(&cases[c], p, batched[i], LINES, way / 2);
                run_transform(engine, &t, in, whole);
                for (int64_t first = 0, lines = 1; first < LINES; first += lines, lines++) {
                    if (lines > LINES - first) lines = LINES - first;
                    const weft_transform u = batch_of(&cases[c], p, batched[i], lines, way / 2);
                    const int64_t from = t.loop[0].in_stride, to = t.loop[0].out_stride;
                    const int64_t in_bytes = (int64_t)weft_transform_element_bytes(&t, false);
                    const int64_t out_bytes = (int64_t)weft_transform_element_bytes(&t, true);
                    run_transform(engine, &u, (char *)in + first * from * in_bytes, part);
                    assert_memory_equal((char *)whole + first * to * out_bytes, part,
                                        (size_t)(lines * to * out_bytes));
                }
            }
}

static bool is_number(const void *array, weft_precision precision, int64_t i) {
    return isfinite(precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                             : ((const double *)array)[i]);
}

static void no_line_leaves_traces_in_another(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static double in[NUMBERS], out[NUMBERS];
    for (size_t i = 0; i < sizeof batched / sizeof batched[0]; i++)
        for (int c = 0; c < CASES; c++)
            for (int way = 0; way < 4; way++) {
                const weft_precision p = way % 2 ? WEFT_SINGLE : WEFT_DOUBLE;
                const weft_transform t = batch_of(&cases[c], p, batched[i], LINES, way / 2);
                const int in_numbers = t.kind == WEFT_TRANSFORM_R2C ? 1 : 2;
                const int out_numbers = t.kind == WEFT_TRANSFORM_C2R ? 1 : 2;
                const int64_t bad = random_between(0, LINES - 1);
                const int64_t at = bad * t.loop[0].in_stride * in_numbers;
                fill_numbers(in, p);
                if (p == WEFT_SINGLE)
                    ((float *)(void *)in)[at] = NAN;
                else
                    in[at] = NAN;
                run_transform(engine, &t, in, out);
                const int64_t line = t.loop[0].out_stride * out_numbers;
                for (int64_t j = 0; j < LINES * line; j++)
                    if (j / line != bad) assert_true(is_number(out, p, j));
                assert_false(is_number(out, p, bad * line));
            }
}

/* Whether the widest instruction set of this processor is used, and is one for whose times it was
 * chosen which batches are done line by line. */
static bool is_wide(void) {
#ifdef __x86_64__
    return !getenv("WEFT_SIMD") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* Lines of batches that are done line by line have the bits of the only line of a transform, but
 * for short ones, several of which one codelet transforms where stages may be chosen for one. */
static void lines_done_one_by_one_have_the_bits_of_one(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static double in[NUMBERS], batch[NUMBERS], line[NUMBERS];
    int alone = 0;
    for (size_t i = 0; i < sizeof batched / sizeof batched[0]; i++)
        for (int c = 0; c < CASES; c++) {
            const int64_t n = batched[i];
            const bool is_short = cases[c].kind == WEFT_TRANSFORM_C2C && n <= 32;
            if (is_short || !is_done_alone(&cases[c], WEFT_DOUBLE, n, true)) continue;
            const weft_transform t = batch_of(&cases[c], WEFT_DOUBLE, n, LINES, true);
            weft_transform u = line_of(&cases[c], WEFT_DOUBLE, n);
            const int64_t from = t.loop[0].in_stride, to = t.loop[0].out_stride;
            const int64_t in_bytes = (int64_t)weft_transform_element_bytes(&t, false);
            const int64_t out_bytes = (int64_t)weft_transform_element_bytes(&t, true);
            u.in_place = false;
            u.in_elements = from;
            u.out_elements = to;
            fill_numbers(in, WEFT_DOUBLE);
            run_transform(engine, &t, in, batch);
            for (int64_t l = 0; l < LINES; l++)
                run_transform(engine, &u, (char *)in + l * from * in_bytes,
                              (char *)line + l * to * out_bytes);
            assert_memory_equal(batch, line, (size_t)(LINES * to * out_bytes));
            alone++;
        }
    if (is_wide()) assert_true(alone >= 3);
}

/* Lines that would be convolutions in a tile are done one by one, however large the batch. */
static void large_primes_are_done_alone_beyond_the_caches(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static double in[NUMBERS], small[NUMBERS], large[NUMBERS];
    static const int64_t lengths[] = {23, 34, 92};
    int alone = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int c = 0; c < CASES; c++) {
            if (!is_done_alone(&cases[c], WEFT_DOUBLE, lengths[i], true)) continue;
            weft_transform t = batch_of(&cases[c], WEFT_DOUBLE, lengths[i], LINES, true);
            fill_numbers(in, WEFT_DOUBLE);
            run_transform(engine, &t, in, small);
            t.whole = BEYOND_CACHES;
            run_transform(engine, &t, in, large);
            assert_memory_equal(small, large,
                                (size_t)t.out_elements * weft_transform_element_bytes(&t, true));
            alone++;
        }
    if (is_wide()) assert_true(alone > 0);
}

/* There and back, real lines of a batch are done in one way, of whatever length: a round trip has
 * the bits of both by themselves. */
static void round_trips_are_done_in_one_way(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static const line_case there = {WEFT_TRANSFORM_R2C, WEFT_FORWARD, false},
                           back = {WEFT_TRANSFORM_C2R, WEFT_INVERSE, false};
    static double in[NUMBERS], out[NUMBERS];
    for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++)
        for (int64_t n = 2; n <= 4096; n++) {
            const weft_precision p = (weft_precision)precision;
            assert_int_equal(is_done_alone(&there, p, n, true), is_done_alone(&back, p, n, true));
            weft_transform t = batch_of(&there, p, n, LINES, true);
            t.round_trip = true;
            t.loop[0].out_stride = n;
            t.out_elements = t.in_elements;
            if (random_between(0, STEP) > 0 ||
                engine->supports(&t, device_of(engine)) != WEFT_SUCCESS)
                continue;
            fill_numbers(in, p);
            run_transform(engine, &t, in, out);
            for (int64_t i = 0; i < LINES * n; i++) {
                const bool single = p == WEFT_SINGLE;
                const double was = single ? (double)((float *)(void *)in)[i] : in[i],
                             is = single ? (double)((float *)(void *)out)[i] : out[i];
                const double off = fabs(is - was * (double)n);
                if (!(off <= (single ? 1e-5 : 1e-13) * (double)n))
                    fail_msg("lines of %d points, precision %d: off by %g", (int)n, precision,
                             off / (double)n);
            }
        }
}

/* Two rows of lines, each line after the one before, from a 16-byte boundary on: those that are
 * stored past the caches, in blocks, have the bits of others, and nothing beyond them is stored.
 * Some are prefetched. */
static void blocks_stored_past_the_caches_have_the_same_bits(void **state) {
    native_engine(state);
    enum { MOST = 90, LONG = 128, ROOM = 2 * MOST * 2 * (LONG + 2) + 8 };
    static double in[ROOM], out[2][ROOM];
    int blocks = 0, fetched = 0;
    for (int64_t n = 2; n <= LONG; n++)
        for (int c = 0; c < CASES; c++) {
            const weft_precision p = random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE;
            const int64_t lines = random_between(16, MOST), half = n / 2 + 1;
            const int64_t from = cases[c].kind == WEFT_TRANSFORM_C2R ? half : n;
            const int64_t to = cases[c].kind == WEFT_TRANSFORM_R2C ? half : n;
            const weft_pass_request request = {
                .kernels = weft_native_kernels(p),
                .kind = cases[c].kind,
                .direction = cases[c].direction,
                .dim = {n, 1, 1},
                .loops = 2,
                .loop = {{lines, from, to}, {2, lines * from + 3, lines * to + 4}},
                .whole = random_between(0, 1) ? 2 * lines * n : BEYOND_CACHES};
            weft_native_pass pass;
            size_t bytes = 0;
            assert_int_equal(weft_native_pass_create(&request, &pass, &bytes), WEFT_SUCCESS);
            fill_numbers_of(in, ROOM, p);
            for (int past = 0; past < 2; past++) {
                pass.stream = past;
                const size_t scratch = weft_native_pass_scratch(&pass);
                void *room = NULL;
                assert_int_equal(posix_memalign(&room, 64, scratch + 64), 0);
                const void *source[1] = {in};
                void *target[1] = {out[past] + 2};
                memset(out[past], 0x7f, sizeof out[past]);
                memset(room, 0, scratch);
                weft_native_pass_run(&pass, source, target, room, 0, 0, pass.tiles);
                free(room);
            }
            assert_memory_equal(out[0], out[1], sizeof out[0]);
            const bool in_blocks = pass.solver == &weft_solver_alone && pass.adjoining > 0;
            blocks += in_blocks;
            fetched += in_blocks && pass.fetches;
            weft_native_pass_release(&pass);
        }
    if (is_wide()) assert_true(blocks > 100 && fetched > 20);
}

static void executions_repeat_the_bits(void **state) {
    const weft_engine_ops *engine = native_engine(state);
    static double in[NUMBERS], one[NUMBERS], two[NUMBERS];
    for (size_t i = 0; i < sizeof batched / sizeof batched[0]; i++)
        for (int c = 0; c < CASES; c++) {
            weft_transform t = line_of(&cases[c], WEFT_DOUBLE, batched[i]);
            t.in_place = false;
            t.in_elements = t.out_elements = batched[i];
            fill_numbers(in, WEFT_DOUBLE);
            memset(one, 0, sizeof one);
            memset(two, 0, sizeof two);
            run_transform(engine, &t, in, one);
            run_transform(engine, &t, in, (char *)two + sizeof(double));
            assert_memory_equal(one, (char *)two + sizeof(double), sizeof one - sizeof(double));
        }
}

#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    {#ops " every_short_line_meets_the_accuracy_rule", every_short_line_meets_the_accuracy_rule,   \
     NULL, NULL, (void *)(uintptr_t)&ops},                                                         \
        {#ops " every_longer_line_meets_the_accuracy_rule",                                        \
         every_longer_line_meets_the_accuracy_rule, NULL, NULL, (void *)(uintptr_t)&ops},          \
        {#ops " parts_of_a_batch_give_the_bits_of_the_whole",                                      \
         parts_of_a_batch_give_the_bits_of_the_whole, NULL, NULL, (void *)(uintptr_t)&ops},        \
        {#ops " no_line_leaves_traces_in_another", no_line_leaves_traces_in_another, NULL, NULL,   \
         (void *)(uintptr_t)&ops},                                                                 \
        {#ops " every_batch_meets_the_accuracy_rule", every_batch_meets_the_accuracy_rule, NULL,   \
         NULL, (void *)(uintptr_t)&ops},                                                           \
        {#ops " lines_done_one_by_one_have_the_bits_of_one",                                       \
         lines_done_one_by_one_have_the_bits_of_one, NULL, NULL, (void *)(uintptr_t)&ops},         \
        {#ops " large_primes_are_done_alone_beyond_the_caches",                                    \
         large_primes_are_done_alone_beyond_the_caches, NULL, NULL, (void *)(uintptr_t)&ops},      \
        {#ops " round_trips_are_done_in_one_way", round_trips_are_done_in_one_way, NULL, NULL,     \
         (void *)(uintptr_t)&ops},                                                                 \
        {#ops " blocks_stored_past_the_caches_have_the_same_bits",                                 \
         blocks_stored_past_the_caches_have_the_same_bits, NULL, NULL, (void *)(uintptr_t)&ops},   \
        {#ops " executions_repeat_the_bits", executions_repeat_the_bits, NULL, NULL,               \
         (void *)(uintptr_t)&ops},

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
