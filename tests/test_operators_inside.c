/* Operators that the native engine applies to rows as it loads and stores them: the bits are those
 * of a step of its own, which an operator that does nothing brings about, and such a step is gone.
 */
#include "one_context.h"
#include "random_numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 4200

static void nothing(const weft_operator_run *run, void *argument) {
    (void)run, (void)argument;
}

static const weft_operator no_op = {.kind = WEFT_OPERATOR_FUNCTION, .function = nothing};
static double table[WEFT_MAX_RANK][2 * LONGEST];

/* Arrays of operators are the last of these numbers. Behind them is a page that nobody may touch.
 */
enum { FACTORS = 2 * 2048 * 1536 };
static double *factors;
static float *factors_single;

typedef struct test_list {
    weft_operator item[4]; /* the last does nothing */
    int count;             /* without that one */
} test_list;

static test_list random_list(int rank, bool complex, int first_array) {
    test_list l = {.count = (int)random_between(1, 3)};
    for (int i = 0; i < l.count; i++) {
        weft_operator *o = &l.item[i];
        const int kind = (int)random_between(0, 3);
        if (kind == 0) *o = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = -0.3};
        if (kind == 1) o->kind = WEFT_OPERATOR_WINDOW;
        if (kind == 2)
            *o = (weft_operator){.kind = WEFT_OPERATOR_TABLE,
                                 .complex_factors = complex && random_between(0, 2) == 0};
        if (kind == 3)
            *o = (weft_operator){.kind = WEFT_OPERATOR_ARRAY,
                                 .array = first_array + i,
                                 .complex_factors = complex && random_between(0, 1)};
        for (int a = 0; a < rank; a++) {
            const bool on = a == rank - 1 || random_between(0, 1);
            if (kind == 1 && on) o->window[a].kind = WEFT_WINDOW_HANN;
            if (kind == 2 && on) o->table[a] = table[a];
        }
    }
    l.item[l.count] = no_op;
    return l;
}

typedef struct test_case {
    weft_problem problem;
    weft_options options;
    weft_direction direction;
    test_list load, spectral, store;
    bool in_place;
} test_case;

static void random_problem(weft_problem *p) {
    p->rank = (int)random_between(1, 3);
    p->kind = random_between(0, 1) ? WEFT_R2C : WEFT_C2C;
    p->precision = random_between(0, 1) ? WEFT_DOUBLE : WEFT_SINGLE;
    p->norm = (weft_norm)random_between(WEFT_NORM_NONE, WEFT_NORM_ORTHO);
    p->batch = random_between(0, 1) ? random_between(1, 9) : 1;
    const int64_t longest = p->rank == 1 ? 1200 : p->rank == 2 ? 150 : 40;
    for (int a = 0; a < p->rank; a++)
        p->n[a] = random_between(0, 2) ? random_between(1, longest)
                                       : 1 << random_between(1, p->rank == 1 ? 11 : 5);
    if (p->rank == 1 && random_between(0, 7) == 0) p->n[0] = random_between(2000, LONGEST);
}

/* The first cases are planes that no cache of a core holds. */
static test_case random_case(int number) {
    static const int64_t large[][2] = {{1024, 1024}, {1500, 1202}, {999, 1201}, {2048, 600}};
    test_case c = {.options = {.engine = WEFT_ENGINE_NATIVE, .threads = (int)random_between(1, 3)},
                   .direction = (weft_direction)random_between(WEFT_FORWARD, WEFT_CONVOLVE)};
    random_problem(&c.problem);
    if (number < 4) {
        c.problem.rank = 2;
        c.problem.batch = 1;
        c.direction = WEFT_CONVOLVE;
        memcpy(c.problem.n, large[number], sizeof large[number]);
    }
    const bool real = c.problem.kind == WEFT_R2C;
    c.load = random_list(c.problem.rank, !real, 0);
    c.spectral = random_list(c.problem.rank, true, 4);
    c.store = random_list(c.problem.rank, !real, 8);
    c.options.convolve = c.direction == WEFT_CONVOLVE;
    c.in_place = !real && random_between(0, 1);
    return c;
}

static size_t bytes_of(const test_case *c) {
    size_t bytes = 16;
    for (int a = 0; a < c->problem.rank; a++) bytes *= (size_t)c->problem.n[a] + 1;
    return bytes * (size_t)(c->problem.batch > 1 ? c->problem.batch : 1);
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) count++;
    return count;
}

static void set_arrays(weft_plan plan, const test_list *list, weft_space space,
                       weft_precision precision) {
    weft_box box;
    int64_t elements = 1;
    assert_int_equal(weft_plan_box(plan, space, 0, &box), WEFT_SUCCESS);
    for (int a = 0; a < WEFT_MAX_RANK; a++) elements *= box.n[a];
    for (int i = 0; i < list->count; i++) {
        const weft_operator *o = &list->item[i];
        const int64_t first = FACTORS - elements * (1 + o->complex_factors);
        if (o->kind != WEFT_OPERATOR_ARRAY) continue;
        const void *array =
            precision == WEFT_SINGLE ? (void *)&factors_single[first] : (void *)&factors[first];
        assert_int_equal(weft_plan_set_array(plan, (int)o->array, array), WEFT_SUCCESS);
    }
}

/* So many bytes, a multiple of the page, before a page that nobody may touch. */
static void *before_a_guard(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *begin =
        mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED || mprotect(begin + bytes, page, PROT_NONE) != 0) abort();
    return begin;
}

/* Returns the number of steps POINTWISE of the plan, and adds that of its round trips. */
static int run_lists(const test_case *c, bool apart, const void *in, void *out, int *trips) {
    weft_problem p = c->problem;
    weft_plan plan = NULL;
    p.load = (weft_operators){c->load.item, c->load.count + apart};
    p.spectral = (weft_operators){c->spectral.item, c->spectral.count + apart};
    p.store = (weft_operators){c->store.item, c->store.count + apart};
    if (weft_plan_create(ctx, &p, &c->options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    set_arrays(plan, &c->load, WEFT_INPUT, p.precision);
    set_arrays(plan, &c->spectral, WEFT_OUTPUT, p.precision);
    set_arrays(plan, &c->store, WEFT_INPUT, p.precision);
    if (c->in_place) memcpy(out, in, bytes_of(c));
    if (weft_execute(plan, c->direction, c->in_place ? out : in, out) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(weft_plan_explain(plan, stream, WEFT_TEXT), WEFT_SUCCESS);
    fclose(stream);
    const int steps = occurrences(text, "pointwise");
    *trips += occurrences(text, " and back");
    free(text);
    weft_plan_destroy(&plan);
    return steps;
}

/* What a convolution transforms there and back at once has the bits of two transforms. */
static void operators_inside_have_the_bits_of_a_step_of_their_own(void **state) {
    (void)state;
    int fewer = 0, trips = 0, none = 0;
    for (int i = 0; i < 400; i++) {
        const test_case c = random_case(i);
        const size_t bytes = bytes_of(&c);
        char *in = malloc(bytes), *inside = calloc(1, bytes), *apart = calloc(1, bytes);
        assert_true(in && inside && apart);
        for (size_t k = 0; k < bytes / sizeof(float); k++)
            if (c.problem.precision == WEFT_SINGLE)
                ((float *)in)[k] = (float)random_between(-1000, 1000) / 777;
        for (size_t k = 0; k < bytes / sizeof(double); k++)
            if (c.problem.precision == WEFT_DOUBLE)
                ((double *)in)[k] = (double)random_between(-1000, 1000) / 777;
        const int steps = run_lists(&c, false, in, inside, &trips);
        fewer += steps < run_lists(&c, true, in, apart, &none);
        if (memcmp(inside, apart, bytes) != 0)
            fail_msg("case %d, rank %d, %lld x %lld x %lld, batch %lld, kind %d, precision %d, "
                     "direction %d, in place %d: other bits",
                     i, c.problem.rank, (long long)c.problem.n[0], (long long)c.problem.n[1],
                     (long long)c.problem.n[2], (long long)c.problem.batch, (int)c.problem.kind,
                     (int)c.problem.precision, (int)c.direction, c.in_place);
        free(apart);
        free(inside);
        free(in);
    }
    assert_true(fewer > 200);
    assert_true(trips > 40);
    assert_int_equal(none, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_inside_have_the_bits_of_a_step_of_their_own),
    };
    const char *seed = getenv("WEFT_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003u;
    print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    for (int a = 0; a < WEFT_MAX_RANK; a++)
        for (int i = 0; i < 2 * LONGEST; i++) table[a][i] = sin(i * 0.37 + a) + 0.1;
    factors = before_a_guard(FACTORS * sizeof *factors);
    factors_single = before_a_guard(FACTORS * sizeof *factors_single);
    for (int i = 0; i < FACTORS; i++) {
        factors[i] = (double)random_between(-500, 500) / 333;
        factors_single[i] = (float)factors[i];
    }
    return cmocka_run_group_tests(tests, open_context, close_context);
}
