/*
 * Columns and rows that the native engine transforms on interleaved numbers, because they stay in
 * the caches, have the bits of lines in tiles: those of single lines with a stride, which are
 * always taken in tiles. Random lengths, numbers of lines, strides, scales and threads, in place
 * and not.
 */
#include "engine/native/dispatch.h"
#include "engine/native/solver.h"

#include "test_engine.h"

enum { CASES = 1000, LINES = 4, MOST_NUMBERS = 1 << 17 };

static double in[MOST_NUMBERS], together[MOST_NUMBERS], apart[MOST_NUMBERS];

/* Lines of n points, `step` elements apart, whose first points are `next` elements apart, in
 * `outer` blocks; of either side. */
typedef struct lines_case {
    int64_t n, lines, outer, step[2], next[2], block[2];
} lines_case;

static lines_case random_case(bool in_place) {
    static const int64_t most[] = {16, 100, 700};
    lines_case c = {.n = random_between(2, most[random_between(0, 2)]),
                    .lines = random_between(1, 40),
                    .outer = random_between(1, 3)};
    const bool rows = random_between(0, 1) != 0;
    for (int s = 0; s < 2; s++) {
        const int64_t room = random_between(0, 2) ? 0 : random_between(1, 5);
        c.step[s] = rows ? 1 : c.lines + room;
        c.next[s] = rows ? c.n + room : 1;
        c.block[s] = rows ? c.lines * c.next[s] : c.n * c.step[s];
        if (s == 1 && in_place) {
            c.step[1] = c.step[0];
            c.next[1] = c.next[0];
            c.block[1] = c.block[0];
        }
        while (2 * c.outer * c.block[s] > MOST_NUMBERS) c.outer--;
    }
    return c;
}

static weft_transform transform_of(const lines_case *c, bool in_place) {
    return (weft_transform){
        .kind = WEFT_TRANSFORM_C2C,
        .direction = random_between(0, 1) ? WEFT_INVERSE : WEFT_FORWARD,
        .precision = random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE,
        .in_place = in_place,
        .in_batch = true,
        .dims = 1,
        .dim = {{c->n, c->step[0], c->step[1]}},
        .loops = 2,
        .loop = {{c->lines, c->next[0], c->next[1]}, {c->outer, c->block[0], c->block[1]}},
        .in_elements = c->outer * c->block[0],
        .out_elements = c->outer * c->block[1],
        .threads = (int)random_between(1, 3)};
}

/* One of the lines alone, from twice the strides to twice the strides, and back into order. */
static void transform_apart(const weft_engine_ops *engine, const weft_transform *t, int64_t first) {
    static double from[2 * MOST_NUMBERS], to[2 * MOST_NUMBERS];
    const size_t element = weft_transform_element_bytes(t, false);
    const int64_t n = t->dim[0].n, step = t->dim[0].in_stride;
    weft_transform one = *t;
    one.in_place = false;
    one.loops = 0;
    one.threads = 1;
    one.dim[0].in_stride = one.dim[0].out_stride = 2 * step;
    one.in_elements = one.out_elements = 2 * (n - 1) * step + 1;
    for (int64_t j = 0; j < n; j++)
        memcpy((char *)from + 2 * j * step * (int64_t)element,
               (char *)in + (first + j * step) * (int64_t)element, element);
    run_transform(engine, &one, from, to);
    for (int64_t j = 0; j < n; j++)
        memcpy((char *)apart + j * (int64_t)element, (char *)to + 2 * j * step * (int64_t)element,
               element);
}

/* Whether a pass over the lines takes no tiles. */
static bool is_interleaved(const weft_transform *t) {
    weft_pass_request request = {.kernels = weft_native_kernels(t->precision),
                                 .kind = t->kind,
                                 .direction = t->direction,
                                 .dim = t->dim[0],
                                 .loops = 2,
                                 .loop = {t->loop[0], t->loop[1]},
                                 .in_batch = true,
                                 .cached = true};
    weft_native_pass pass;
    size_t bytes = 0;
    assert_int_equal(weft_native_pass_create(&request, &pass, &bytes), WEFT_SUCCESS);
    const bool interleaved = pass.solver == &weft_solver_interleaved;
    weft_native_pass_release(&pass);
    return interleaved;
}

static void check_case(const weft_engine_ops *engine, const weft_transform *t) {
    const size_t element = weft_transform_element_bytes(t, false);
    for (int64_t k = 0; k < 2 * t->in_elements; k++)
        if (t->precision == WEFT_SINGLE)
            ((float *)(void *)in)[k] = (float)random_number();
        else
            in[k] = random_number();
    memcpy(together, in, (size_t)t->in_elements * element);
    run_transform(engine, t, t->in_place ? together : in, together);
    for (int i = 0; i < LINES; i++) {
        const int64_t line = random_between(0, t->loop[0].n - 1),
                      block = random_between(0, t->loop[1].n - 1);
        const int64_t first = line * t->loop[0].out_stride + block * t->loop[1].out_stride;
        transform_apart(engine, t, line * t->loop[0].in_stride + block * t->loop[1].in_stride);
        for (int64_t j = 0; j < t->dim[0].n; j++) {
            const int64_t at = (first + j * t->dim[0].out_stride) * (int64_t)element;
            if (memcmp((char *)together + at, (char *)apart + j * (int64_t)element, element) == 0)
                continue;
            char text[640];
            describe_transform(t, text, sizeof text);
            fail_msg("%s: point %lld of the line at %lld has other bits", text, (long long)j,
                     (long long)first);
        }
    }
}

static void columns_and_rows_have_the_bits_of_tiles(void **state) {
    const weft_engine_ops *engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    int interleaved[2] = {0, 0};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const bool in_place = random_between(0, 1) != 0;
        const lines_case c = random_case(in_place);
        const weft_transform t = transform_of(&c, in_place);
        if (weft_native_takes_matrices(weft_native_kernels(t.precision), t.kind, &t.dim[0]))
            continue; /* whose rows have other bits */
        check_case(engine, &t);
        interleaved[c.step[0] == 1] += is_interleaved(&t);
    }
    print_message("on interleaved numbers: %d times columns, %d times rows\n", interleaved[0],
                  interleaved[1]);
#if defined __x86_64__ && !defined __clang__
    if (!getenv("WEFT_SIMD"))
        assert_true(interleaved[0] > CASES / 10 && interleaved[1] > CASES / 10);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_and_rows_have_the_bits_of_tiles),
    };
    seed_random();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
