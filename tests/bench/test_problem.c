/*
 * Benchmark problems against the DFT by its definition: what bench_expect says of the output, and
 * what bench_error says of right and of wrong outputs, in any layout, on any number of ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "bench/problem.h"
#include "make_real.h"
#include "support/exact_dft.h"
#include "support/exact_r2r.h"

static int me, ranks;

typedef struct shape {
    int rank;
    int64_t n[3];
    int64_t batch;
    bool strided;
} shape;

static const shape shapes[] = {
    {1, {1}, 1, false},       {1, {2}, 1, false},        {1, {7}, 1, false},
    {1, {64}, 1, false},      {1, {523}, 1, false},      {1, {1200}, 1, false},
    {1, {24}, 5, false},      {1, {25}, 6, true},        {2, {1, 1}, 1, false},
    {2, {8, 6}, 1, false},    {2, {5, 9}, 1, false},     {2, {17, 1}, 1, false},
    {2, {1, 16}, 3, true},    {2, {3, 600}, 2, false},   {2, {70, 4}, 2, true},
    {3, {6, 4, 8}, 1, false}, {3, {5, 3, 7}, 1, false},  {3, {1, 2, 9}, 4, false},
    {3, {9, 8, 1}, 2, true},  {3, {12, 10, 2}, 1, true}, {3, {2, 66, 5}, 1, false},
};

static bench_problem alone(const shape *s, int choice) {
    bench_problem p = {.rank = s->rank,
                       .kind = choice & 1 ? WEFT_R2C : WEFT_C2C,
                       .direction = choice & 2 ? WEFT_INVERSE : WEFT_FORWARD,
                       .precision = choice & 4 ? WEFT_SINGLE : WEFT_DOUBLE,
                       .batch = s->batch,
                       .strided = s->strided,
                       .comm = MPI_COMM_SELF,
                       .ranks = 1};
    memcpy(p.n, s->n, sizeof s->n);
    if (choice >= 8) make_real(&p, choice);
    return p;
}
enum { CHOICES = 12 };

static bench_problem together(const shape *s, int choice) {
    bench_problem p = alone(s, choice);
    p.comm = MPI_COMM_WORLD;
    p.me = me;
    p.ranks = ranks;
    return p;
}

/* With more ranks than cores every collective call is slow: they take a part of the cases each. */
static bool is_left_out(size_t s, int choice) {
    return (s + (size_t)choice) % (size_t)ranks != 0;
}

static weft_box whole_box(const bench_problem *p, weft_space space) {
    weft_box box = {0};
    for (int a = 0; a < p->rank; a++) box.n[a] = bench_extent(p, space, a);
    return box;
}

static int64_t elements(const bench_problem *p, weft_space space) {
    int64_t count = p->batch;
    for (int a = 0; a < p->rank; a++) count *= bench_extent(p, space, a);
    return count;
}

/* ---- elements by their index ---- */

typedef struct element_index {
    int64_t batch, k[3];
} element_index;

/* Element number i of a share, the batch slowest. */
static element_index index_of(const bench_problem *p, const bench_share *share, int64_t i) {
    element_index index = {0};
    for (int a = p->rank - 1; a >= 0; i /= share->n[a], a--)
        index.k[a] = i % share->n[a] + share->lo[a];
    index.batch = i;
    return index;
}

static int64_t place_in(const bench_problem *p, const bench_share *share, element_index index) {
    int64_t place = index.batch * share->batch_stride;
    for (int a = 0; a < p->rank; a++) place += (index.k[a] - share->lo[a]) * share->stride[a];
    return place;
}

static int parts_of(const bench_problem *p, weft_space space) {
    return p->kind == WEFT_R2R || (p->kind == WEFT_R2C && space == WEFT_INPUT) ? 1 : 2;
}

static exact_complex get(const bench_problem *p, weft_space space, const void *data, int64_t at) {
    const int parts = parts_of(p, space);
    long double number[2] = {0, 0};
    for (int i = 0; i < parts; i++)
        number[i] = p->precision == WEFT_SINGLE ? ((const float *)data)[at * parts + i]
                                                : ((const double *)data)[at * parts + i];
    return number[0] + number[1] * I;
}

static void put(const bench_problem *p, weft_space space, void *data, int64_t at,
                exact_complex value) {
    const int parts = parts_of(p, space);
    const long double number[2] = {creall(value), cimagl(value)};
    for (int i = 0; i < parts; i++) {
        if (p->precision == WEFT_SINGLE)
            ((float *)data)[at * parts + i] = (float)number[i];
        else
            ((double *)data)[at * parts + i] = (double)number[i];
    }
}

/* ---- the exact output ---- */

/* The input as bench_fill writes it, row-major, the batch slowest; half spectra made whole. */
static exact_complex *whole_input(const bench_problem *p) {
    const weft_space from = bench_from(p);
    const weft_box box = whole_box(p, from);
    const bench_share share = bench_share_of(p, &box);
    void *data = calloc((size_t)elements(p, from), bench_element_bytes(p, from));
    bench_problem full = *p;
    full.kind = WEFT_C2C;
    const int64_t count = elements(&full, from);
    exact_complex *x = calloc((size_t)count, sizeof *x);
    const weft_box full_box = whole_box(&full, from);
    const bench_share full_share = bench_share_of(&full, &full_box);
    bench_fill(p, &share, data);
    for (int64_t i = 0; i < count; i++) {
        element_index index = index_of(p, &full_share, i);
        bool opposite = index.k[p->rank - 1] >= bench_extent(p, from, p->rank - 1);
        for (int a = 0; a < p->rank && opposite; a++) index.k[a] = (p->n[a] - index.k[a]) % p->n[a];
        x[i] = get(p, from, data, place_in(p, &share, index));
        if (opposite) x[i] = conjl(x[i]);
    }
    free(data);
    return x;
}

/* Along one axis; element j of line (a, b) is at data[(a * n + j) * inner + b]. */
static void transform_axis(const bench_problem *p, int axis, int64_t outer, int64_t inner,
                           exact_complex *x) {
    const int64_t n = p->n[axis], count = outer * n * inner;
    if (p->kind != WEFT_R2R) {
        exact_dft_axis(outer, n, inner, p->direction == WEFT_FORWARD ? -1 : 1, x);
        return;
    }
    long double *real = malloc((size_t)count * sizeof *real);
    for (int64_t i = 0; i < count; i++) real[i] = creall(x[i]);
    r2r_define_axis(bench_axis_type(p, axis), outer, n, inner, real);
    for (int64_t i = 0; i < count; i++) x[i] = real[i];
    free(real);
}

/* Row-major, the batch slowest; halved where the output is half a spectrum. */
static exact_complex *exact_output(const bench_problem *p) {
    exact_complex *x = whole_input(p);
    int64_t inner = 1, total = p->batch;
    for (int a = 0; a < p->rank; a++) total *= p->n[a];
    for (int a = p->rank - 1; a >= 0; inner *= p->n[a], a--)
        transform_axis(p, a, total / inner / p->n[a], inner, x);
    const int64_t n = p->n[p->rank - 1], kept = bench_extent(p, bench_to(p), p->rank - 1);
    for (int64_t row = 0; row < total / n; row++)
        memmove(x + row * kept, x + row * n, (size_t)kept * sizeof *x);
    return x;
}

/* theta k modulo 1, exactly where k < 2^21: theta has 53 bits, the two products 64. */
static long double turns_at(double theta, int64_t k) {
    const long double thousand = fmodl(1024 * (long double)theta, 1);
    return fmodl(theta * (long double)(k % 1024), 1) + fmodl(thousand * (long double)(k / 1024), 1);
}

static exact_complex weight_at(const bench_problem *p, const double *theta, element_index index) {
    long double turns = turns_at(theta[p->rank], index.batch);
    for (int a = 0; a < p->rank; a++) turns += turns_at(theta[a], index.k[a]);
    long double angle = 6.283185307179586476925286766559005768L * fmodl(turns, 1);
    return cosl(angle) + sinl(angle) * I;
}

static void expectation_is_that_of_the_dft(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int choice = 0; choice < CHOICES; choice++) {
            const bench_problem p = alone(&shapes[s], choice);
            const weft_box box = whole_box(&p, bench_to(&p));
            const bench_share share = bench_share_of(&p, &box);
            exact_complex *x = exact_output(&p), sum[BENCH_PROBES] = {0};
            long double squares = 0;
            bench_expectation e;
            assert_int_equal(bench_expect(&p, &e), WEFT_SUCCESS);
            for (int64_t i = 0; i < elements(&p, bench_to(&p)); i++) {
                for (int probe = 0; probe < BENCH_PROBES; probe++)
                    sum[probe] += x[i] * weight_at(&p, e.theta[probe], index_of(&p, &share, i));
                squares += creall(x[i] * conjl(x[i]));
            }
            const long double norm = sqrtl(squares);
            for (int probe = 0; probe < BENCH_PROBES; probe++)
                assert_true(cabsl(sum[probe] - (e.sum[probe][0] + e.sum[probe][1] * I)) <
                            1e-17L * norm);
            /* Of half a spectrum, and real to real, the norm is an estimate. */
            const bool half = p.kind == WEFT_R2C && p.direction == WEFT_FORWARD;
            const long double near = elements(&p, WEFT_INPUT) >= 64 ? 0.05L : 0.4L;
            const bool estimated = half || p.kind == WEFT_R2R;
            assert_true(fabsl(norm - e.norm) <= norm * (estimated ? near : 1e-12L));
            free(x);
        }
    }
}

static void expectation_is_the_same_on_any_number_of_ranks(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int choice = 0; choice < CHOICES; choice++) {
            const bench_problem one = alone(&shapes[s], choice), all = together(&shapes[s], choice);
            bench_expectation a, b;
            assert_int_equal(bench_expect(&one, &a), WEFT_SUCCESS);
            assert_int_equal(bench_expect(&all, &b), WEFT_SUCCESS);
            assert_memory_equal(a.theta, b.theta, sizeof a.theta);
            assert_true(fabs(a.norm - b.norm) <= 1e-15 * a.norm);
            for (int i = 0; i < 2 * BENCH_PROBES; i++)
                assert_true(fabsl(a.sum[i / 2][i % 2] - b.sum[i / 2][i % 2]) < 1e-15L * a.norm);
        }
    }
}

static void real_spectra_are_hermitian(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int single = 0; single <= 4; single += 4) {
            const bench_problem p = alone(&shapes[s], 3 + single);
            bench_problem full = p;
            full.kind = WEFT_C2C;
            const weft_box box = whole_box(&full, WEFT_OUTPUT);
            const bench_share share = bench_share_of(&full, &box);
            exact_complex *output = exact_output(&p), *x = whole_input(&p);
            full.strided = false; /* index_of counts as whole_input does */
            const bench_share plain = bench_share_of(&full, &box);
            for (int64_t i = 0; i < elements(&full, WEFT_OUTPUT); i++) {
                element_index index = index_of(&full, &share, i);
                for (int a = 0; a < p.rank; a++) index.k[a] = (p.n[a] - index.k[a]) % p.n[a];
                assert_true(x[i] == conjl(x[place_in(&full, &plain, index)]));
                assert_true(fabsl(cimagl(output[i])) < 1e-15L);
            }
            free(x);
            free(output);
        }
    }
}

/* ---- outputs in memory ---- */

typedef struct output {
    bench_problem p;
    bench_share share;
    int64_t count; /* of this rank's elements */
    void *data;
} output;

/* This rank's part, along `axis`, of the output: memory order and gaps differ from row-major ones
 * where `layout` is above 0; nothing that the gaps hold may count. */
static output output_create(const bench_problem *p, int axis, int layout,
                            const exact_complex *exact) {
    static const int orders[4][4] = {{3, 0, 1, 2}, {1, 0, 3, 2}, {2, 3, 1, 0}, {0, 2, 1, 3}};
    const weft_space to = bench_to(p);
    weft_box box = whole_box(p, to);
    const bench_share whole = bench_share_of(p, &box);
    box.lo[axis] = box.n[axis] * p->me / p->ranks;
    box.n[axis] = box.n[axis] * (p->me + 1) / p->ranks - box.lo[axis];
    output o = {.p = *p, .share = bench_share_of(p, &box), .count = p->batch};
    int64_t stride = 1;
    for (int i = 3; i >= 0 && layout > 0; i--) {
        int a = orders[layout][i];
        if (a < 3 && a >= p->rank) continue;
        *(a < 3 ? &o.share.stride[a] : &o.share.batch_stride) = stride;
        stride *= (a < 3 ? box.n[a] : p->batch) + i; /* with gaps */
    }
    for (int a = 0; a < p->rank; a++) o.count *= box.n[a];
    int64_t extent = layout > 0 ? stride : o.count;
    size_t bytes = (size_t)(extent > 0 ? extent : 1) * bench_element_bytes(p, to);
    o.data = malloc(bytes);
    memset(o.data, 0xff, bytes);
    bench_share plain = whole; /* as `exact` lies */
    plain.batch_stride = 1;
    for (int a = p->rank - 1; a >= 0; a--) {
        plain.stride[a] = plain.batch_stride;
        plain.batch_stride *= whole.n[a];
    }
    for (int64_t i = 0; i < o.count; i++) {
        element_index index = index_of(p, &o.share, i);
        put(p, to, o.data, place_in(p, &o.share, index), exact[place_in(p, &plain, index)]);
    }
    return o;
}

static void correct_outputs_are_far_below_the_bound_in_any_layout(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int choice = 0; choice < CHOICES; choice++) {
            if (is_left_out(s, choice)) continue;
            const bench_problem p = together(&shapes[s], choice);
            exact_complex *exact = exact_output(&p);
            bench_expectation e;
            assert_int_equal(bench_expect(&p, &e), WEFT_SUCCESS);
            for (int layout = 0; layout < 4; layout++) {
                for (int axis = 0; axis < p.rank; axis++) {
                    output o = output_create(&p, axis, layout, exact);
                    /* Rounding each number once. */
                    assert_true(bench_error(&p, &e, &o.share, o.data) <
                                (p.precision == WEFT_SINGLE ? 0x1p-24 : 0x1p-53));
                    free(o.data);
                }
            }
            free(exact);
        }
    }
}

/* Ways to spoil elements a and b of an output. */
typedef void (*spoiler)(output *o, int64_t a, int64_t b);

static void swap(output *o, int64_t a, int64_t b) {
    const weft_space to = bench_to(&o->p);
    exact_complex kept = get(&o->p, to, o->data, a);
    put(&o->p, to, o->data, a, get(&o->p, to, o->data, b));
    put(&o->p, to, o->data, b, kept);
}
static void miss(output *o, int64_t a, int64_t b) {
    (void)b;
    put(&o->p, bench_to(&o->p), o->data, a, 0);
}
static void change(output *o, int64_t a, int64_t b) {
    (void)b;
    put(&o->p, bench_to(&o->p), o->data, a, get(&o->p, bench_to(&o->p), o->data, a) + 0.05L);
}
/* All bits set are a NaN in either precision. */
static void poison_number(output *o, int64_t element, size_t part) {
    const size_t number = o->p.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    const size_t bytes = bench_element_bytes(&o->p, bench_to(&o->p));
    memset((char *)o->data + (size_t)element * bytes + part % (bytes / number) * number, 0xff,
           number);
}
static void poison(output *o, int64_t a, int64_t b) {
    (void)b;
    poison_number(o, a, 0);
}
static void poison_imaginary_part(output *o, int64_t a, int64_t b) {
    (void)b;
    poison_number(o, a, 1);
}

static void check_spoilt(spoiler spoil, bool not_a_number) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int choice = 0; choice < CHOICES; choice++) {
            if (is_left_out(s, choice)) continue;
            const bench_problem p = together(&shapes[s], choice);
            if (elements(&p, bench_to(&p)) < 4) continue; /* two may be as good as the same */
            exact_complex *exact = exact_output(&p);
            bench_expectation e;
            assert_int_equal(bench_expect(&p, &e), WEFT_SUCCESS);
            for (int layout = 0; layout < 2; layout++) {
                output o = output_create(&p, 0, layout, exact);
                int spoilt = me == ranks - 1 && o.count >= 2, anywhere;
                if (spoilt)
                    spoil(&o, place_in(&p, &o.share, index_of(&p, &o.share, o.count / 3)),
                          place_in(&p, &o.share, index_of(&p, &o.share, o.count - 1)));
                MPI_Allreduce(&spoilt, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
                double error = bench_error(&p, &e, &o.share, o.data);
                if (anywhere)
                    assert_true(not_a_number ? isnan(error) : error > bench_error_bound(&p));
                free(o.data);
            }
            free(exact);
        }
    }
}

static void swapped_elements_show(void **state) {
    (void)state;
    check_spoilt(swap, false);
}
static void a_missing_element_shows(void **state) {
    (void)state;
    check_spoilt(miss, false);
}
static void a_wrong_element_shows(void **state) {
    (void)state;
    check_spoilt(change, false);
}
static void a_nan_makes_the_error_nan(void **state) {
    (void)state;
    check_spoilt(poison, true);
    check_spoilt(poison_imaginary_part, true);
}

/* The weights of long axes come from recurrences where short ones are computed one by one. */
static void long_axes_are_as_exact_as_short_ones(void **state) {
    (void)state;
    enum { LONG = 3 << 14 };
    for (int choice = 0; choice < 8; choice++) { /* real to real all weights are computed alike */
        const bench_problem p = together(&(shape){1, {LONG}, 1, false}, choice);
        exact_complex *exact = exact_output(&p);
        bench_expectation e;
        assert_int_equal(bench_expect(&p, &e), WEFT_SUCCESS);
        exact_complex sum = 0;
        for (int64_t k = 0; k < bench_extent(&p, bench_to(&p), 0); k++)
            sum += exact[k] * weight_at(&p, e.theta[0], (element_index){.k = {k}});
        assert_true(cabsl(sum - (e.sum[0][0] + e.sum[0][1] * I)) < 1e-17L * e.norm);
        free(exact);
    }
}

static void flops_are_those_of_benchfft(void **state) {
    (void)state;
    bench_problem p = alone(&(shape){3, {8, 8, 16}, 2, false}, 0);
    assert_true(bench_flops(&p) == 2 * 5.0 * 1024 * 10);
    p.kind = WEFT_R2C;
    assert_true(bench_flops(&p) == 5.0 * 1024 * 10);
    p.kind = WEFT_R2R;
    assert_true(bench_flops(&p) == 5.0 * 1024 * 10);
}

static void kinds_are_spelled_as_jobs_spell_them(void **state) {
    (void)state;
    bench_problem p = alone(&(shape){3, {8, 8, 16}, 2, false}, 0);
    char text[BENCH_KIND_BYTES];
    bench_kind_text(&p, text);
    assert_string_equal(text, "c2c");
    p.kind = WEFT_R2R;
    for (int a = 0; a < 3; a++) p.axis[a] = WEFT_DST3;
    bench_kind_text(&p, text);
    assert_string_equal(text, "dst3");
    p.axis[1] = WEFT_AXIS_NONE;
    bench_kind_text(&p, text);
    assert_string_equal(text, "dst3+none+dst3");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expectation_is_that_of_the_dft),
        cmocka_unit_test(expectation_is_the_same_on_any_number_of_ranks),
        cmocka_unit_test(real_spectra_are_hermitian),
        cmocka_unit_test(correct_outputs_are_far_below_the_bound_in_any_layout),
        cmocka_unit_test(swapped_elements_show),
        cmocka_unit_test(a_missing_element_shows),
        cmocka_unit_test(a_wrong_element_shows),
        cmocka_unit_test(a_nan_makes_the_error_nan),
        cmocka_unit_test(long_axes_are_as_exact_as_short_ones),
        cmocka_unit_test(flops_are_those_of_benchfft),
        cmocka_unit_test(kinds_are_spelled_as_jobs_spell_them),
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
