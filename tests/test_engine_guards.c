/*
 * Engines touch nothing but their views. Arrays begin or end where a page faults, gaps between
 * elements hold poison, and there are fewer lines than a vector has numbers, as many, and more:
 * contiguous lines, lines side by side, both with gaps, loops that run backwards.
 */
#include "test_engine.h"

#include "support/topology.h"

#include <signal.h>
#include <unistd.h>

enum { MOST_LINES = 20, BLOCKS = 2 };

static char current[640]; /* what a handler says when it faults */

static void tell_fault(int number) {
    static const char text[] = "a page outside the view was touched: ";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, current, strlen(current));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

typedef enum lines_layout {
    ONE_AFTER_THE_OTHER,
    ONE_AFTER_THE_OTHER_PADDED,
    SIDE_BY_SIDE,
    SIDE_BY_SIDE_PADDED,
    EVERY_SECOND_ELEMENT,
    SIDE_BY_SIDE_APART,
    ONE_AFTER_THE_OTHER_BACKWARDS,
    SIDE_BY_SIDE_BACKWARDS,
    LAYOUTS
} lines_layout;

/* Strides of one side: dim[0], loop[1] over lines, loop[0] over blocks of lines. */
static void lay_lines(weft_transform *t, bool output, lines_layout layout) {
    const bool halved = t->kind == (output ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2R);
    const int64_t n = halved ? t->dim[0].n / 2 + 1 : t->dim[0].n, lines = t->loop[1].n;
    const struct {
        int64_t element, line, padding, sign;
    } strides[LAYOUTS] = {
        [ONE_AFTER_THE_OTHER] = {1, n, 0, 1},
        [ONE_AFTER_THE_OTHER_PADDED] = {1, n + 3, 5, 1},
        [SIDE_BY_SIDE] = {lines, 1, 0, 1},
        [SIDE_BY_SIDE_PADDED] = {lines + 3, 1, 1, 1},
        [EVERY_SECOND_ELEMENT] = {2, 2 * n + 1, 0, 1},
        [SIDE_BY_SIDE_APART] = {3 * lines + 1, 3, 2, 1},
        [ONE_AFTER_THE_OTHER_BACKWARDS] = {1, n, 1, -1},
        [SIDE_BY_SIDE_BACKWARDS] = {lines, 1, 0, -1},
    };
    const int64_t element = strides[layout].element, line = strides[layout].line;
    const int64_t block = (n - 1) * element + (lines - 1) * line + 1 + strides[layout].padding;
    *(output ? &t->dim[0].out_stride : &t->dim[0].in_stride) = element;
    *(output ? &t->loop[1].out_stride : &t->loop[1].in_stride) = strides[layout].sign * line;
    *(output ? &t->loop[0].out_stride : &t->loop[0].in_stride) = strides[layout].sign * block;
}

static void check(const weft_engine_ops *engine, weft_transform *t, side_placement placement) {
    describe_transform(t, current, sizeof current);
    double share = check_transform(engine, t, placement);
    if (!(share <= allowed_share(engine, t)))
        fail_msg("%s: error is %.3f of what is allowed", current, share);
}

static const int64_t lengths[] = {1,  2,  3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  15,
                                  16, 17, 19,  20,  24,  25,  27,  31,  32,  33,  37,  48,  60,  64,
                                  67, 77, 100, 121, 127, 128, 131, 169, 240, 243, 256, 512, 1000};

static void check_layouts(const weft_engine_ops *engine, weft_transform t) {
    static const side_placement placements[] = {AFTER_GUARD, BEFORE_GUARD, MISALIGNED_AFTER_GUARD};
    const int64_t most = t.dim[0].n > 100 ? 5 : MOST_LINES;
    for (int in = 0; in < LAYOUTS; in++) {
        if (is_left_out(engine, 32)) continue;
        const int out = t.in_place ? in : (int)random_between(0, LAYOUTS - 1);
        t.loops = 2;
        t.loop[0].n = random_between(1, BLOCKS);
        t.loop[1].n = random_between(1, most);
        t.destroy_input = random_between(0, 1) == 1;
        t.threads = random_between(0, 15) ? 1 : 2;
        lay_lines(&t, false, (lines_layout)in);
        lay_lines(&t, true, (lines_layout)out);
        check(engine, &t, placements[random_between(0, 2)]);
    }
}

static void nothing_outside_the_view_is_touched(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (!device_of(engine)->host_addressable) skip(); /* pages of the host guard the host only */
    if (engine->id == WEFT_ENGINE_FFTW) {
        print_message("skipped: FFTW's single-precision kernels touch what follows rare views\n");
        skip();
    }
    signal(SIGSEGV, tell_fault);
    signal(SIGBUS, tell_fault);
    static const struct {
        weft_transform_kind kind;
        weft_direction direction;
        bool in_place;
    } cases[] = {
        {WEFT_TRANSFORM_C2C, WEFT_FORWARD, false}, {WEFT_TRANSFORM_C2C, WEFT_INVERSE, false},
        {WEFT_TRANSFORM_C2C, WEFT_FORWARD, true},  {WEFT_TRANSFORM_C2C, WEFT_INVERSE, true},
        {WEFT_TRANSFORM_R2C, WEFT_FORWARD, false}, {WEFT_TRANSFORM_C2R, WEFT_INVERSE, false}};
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++)
                check_layouts(engine, (weft_transform){.kind = cases[c].kind,
                                                       .direction = cases[c].direction,
                                                       .in_place = cases[c].in_place,
                                                       .precision = (weft_precision)precision,
                                                       .dims = 1,
                                                       .dim = {{.n = lengths[n]}}});
}

/* Every number of lines, where vectors run along the lines and where they run across. */
static void every_number_of_lines_is_done(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (!device_of(engine)->host_addressable) skip(); /* pages of the host guard the host only */
    signal(SIGSEGV, tell_fault);
    static const int64_t short_lengths[] = {4, 7, 8, 16, 30, 37, 64};
    for (int64_t lines = 1; lines <= MOST_LINES; lines++)
        for (size_t i = 0; i < sizeof short_lengths / sizeof short_lengths[0]; i++)
            for (int variant = 0; variant < 3 * 2 * 2 * 2; variant++) {
                if (is_left_out(engine, 16)) continue;
                weft_transform t = {.kind = (weft_transform_kind)(variant % 3),
                                    .precision = variant / 3 % 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                                    .dims = 1,
                                    .dim = {{.n = short_lengths[i]}},
                                    .loops = 2,
                                    .loop = {{.n = 1}, {.n = lines}},
                                    .whole = random_between(0, 1),
                                    .threads = 1};
                lay_lines(&t, false, variant / 6 % 2 ? SIDE_BY_SIDE : ONE_AFTER_THE_OTHER);
                lay_lines(&t, true, variant / 12 ? SIDE_BY_SIDE : ONE_AFTER_THE_OTHER);
                check(engine, &t, BEFORE_GUARD);
            }
}

/* Batches that are stored past the caches, up to the last lines, which do not fill a vector. */
static void large_batches_give_the_bits_of_few_lines(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (engine->id != WEFT_ENGINE_NATIVE) {
        print_message("skipped: other engines may plan otherwise for few lines\n");
        skip();
    }
    signal(SIGSEGV, tell_fault);
    enum { FEW = 16, EVERY = 97 * FEW };
    const int64_t beyond_caches = (int64_t)weft_topology_get()->last_level / 3; /* bytes */
    static const int64_t short_lengths[] = {60, 64, 81, 250};
    for (size_t i = 0; i < sizeof short_lengths / sizeof short_lengths[0]; i++)
        for (int single = 0; single < 2; single++) {
            const int64_t n = short_lengths[i];
            const int64_t line = n * 2 * (int64_t)(single ? sizeof(float) : sizeof(double));
            weft_transform t = {.kind = WEFT_TRANSFORM_C2C,
                                .precision = single ? WEFT_SINGLE : WEFT_DOUBLE,
                                .dims = 1,
                                .dim = {{n, 1, 1}},
                                .loops = 1,
                                .loop = {{beyond_caches / line + 21, n, n}},
                                .threads = 1};
            const int64_t lines = t.loop[0].n;
            describe_transform(&t, current, sizeof current);
            side in = side_create(&t, false, BEFORE_GUARD),
                 out = side_create(&t, true, BEFORE_GUARD);
            for (int64_t j = 0; j < in.elements; j++) side_put(&in, j, random_number());
            t.in_elements = in.extent;
            t.out_elements = out.extent;
            run_transform(engine, &t, in.data, out.data);
            char *few = malloc((size_t)(FEW * line));
            assert_non_null(few);
            for (int64_t l = 0; l < lines; l += l < EVERY || l + EVERY >= lines ? FEW : EVERY) {
                t.loop[0].n = lines - l < FEW ? lines - l : FEW;
                t.in_elements = t.out_elements = t.loop[0].n * n;
                run_transform(engine, &t, (char *)in.data + l * line, few);
                assert_memory_equal((char *)out.data + l * line, few, (size_t)(t.loop[0].n * line));
            }
            free(few);
            side_destroy(&out);
            side_destroy(&in);
        }
}

#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    {#ops " nothing_outside_the_view_is_touched", nothing_outside_the_view_is_touched, NULL, NULL, \
     (void *)(uintptr_t)&ops},                                                                     \
        {#ops " every_number_of_lines_is_done", every_number_of_lines_is_done, NULL, NULL,         \
         (void *)(uintptr_t)&ops},                                                                 \
        {#ops " large_batches_give_the_bits_of_few_lines",                                         \
         large_batches_give_the_bits_of_few_lines, NULL, NULL, (void *)(uintptr_t)&ops},

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
