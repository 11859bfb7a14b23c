/*
 * The check of outputs: a linear functional, from the input by geometric sums and from the output
 * by its definition. See problem.h.
 *
 * Angles are counted in multiples of 2^-64 turns: unsigned arithmetic then reduces them exactly,
 * however long an axis is. Sums are taken in long double, row by row, so that the check adds
 * nothing to the error that it estimates.
 */
#include "bench/rows.h"

#include "support/error.h"
#include "support/exact_r2r.h"

#include <math.h>

static const long double pi = 3.141592653589793238462643383279502884L;

/* ---- weights ---- */

/* A complex number by its parts: the operator * of C11 looks for infinities in every product. */
typedef struct weight {
    long double re, im;
} weight;

static weight product(weight a, weight b) {
    return (weight){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static weight conjugate(weight a) {
    return (weight){a.re, -a.im};
}

/* exp(2 pi i turns 2^-64). */
static weight unit(uint64_t turns) {
    long double angle = pi * ((long double)(int64_t)turns * 0x1p-63L);
    return (weight){cosl(angle), sinl(angle)};
}

/* A theta of the expectation, in multiples of 2^-64 turns: exact, for it has 53 bits. */
static uint64_t turns_of(double theta) {
    return (uint64_t)ldexp(theta, 64);
}

/* *sum += value[0] w[0] + value[1] w[1] + ..., for complex or real values. */
static void add_products(int parts, int64_t count, const double *value, const weight *w,
                         weight *sum) {
    weight s = {0, 0};
    if (parts == 1) {
        for (int64_t i = 0; i < count; i++) s.re += value[i] * w[i].re, s.im += value[i] * w[i].im;
    } else {
        for (int64_t i = 0; i < count; i++) {
            long double re = value[2 * i], im = value[2 * i + 1];
            s.re += re * w[i].re - im * w[i].im;
            s.im += re * w[i].im + im * w[i].re;
        }
    }
    sum->re += s.re, sum->im += s.im;
}

__extension__ typedef unsigned __int128 wide; /* products of two 64-bit numbers */

/*
 * The sum over 0 <= k < count of exp(2 pi i k f), f = theta - index/n: the weight that element
 * `index` of an axis of n has in the functional of the output. With g = count f it is
 *     (1 - e^(2 pi i g)) / (1 - e^(2 pi i f)) = sin(pi g) e^(i pi g) / (sin(pi f) e^(i pi f)).
 * f and g matter modulo 1, but with small relative errors near 0. So theta is kept as its nearest
 * multiple of 1/n and the rest.
 */
typedef struct axis_sum {
    int64_t n, count, nearest;
    long double off; /* theta n - nearest, in [-1/2, 1/2) */
} axis_sum;

static axis_sum axis_sum_of(uint64_t turns, int64_t n, int64_t count) {
    const wide scaled = (wide)turns * (uint64_t)n;
    const int64_t rest = (int64_t)(uint64_t)scaled;
    return (axis_sum){.n = n,
                      .count = count,
                      .nearest = (int64_t)(scaled >> 64) + (rest < 0),
                      .off = (long double)rest * 0x1p-64L};
}

/* k modulo n, the nearest to 0; -n <= k <= n. */
static int64_t centred(int64_t k, int64_t n) {
    if (2 * k > n) return k - n;
    return 2 * k <= -n ? k + n : k;
}

/* n f and n g. */
static void fractions(const axis_sum *s, int64_t index, long double *nf, long double *ng) {
    const int64_t m = centred(s->nearest - index, s->n);
    const uint64_t n = (uint64_t)s->n, positive = (uint64_t)(m < 0 ? m + s->n : m);
    const int64_t q = (int64_t)((wide)positive * (uint64_t)s->count % n);
    *nf = (long double)m + s->off;
    *ng = (long double)centred(q, s->n) + (long double)s->count * s->off;
}

static weight weight_of(const axis_sum *s, int64_t index) {
    long double f, g;
    fractions(s, index, &f, &g);
    if (f == 0) return (weight){(long double)s->count, 0};
    f *= pi / (long double)s->n;
    g *= pi / (long double)s->n;
    const long double ratio = sinl(g) / sinl(f);
    return (weight){ratio * cosl(g - f), ratio * sinl(g - f)};
}

/* The weights of `index` and of its successors (step 1) or predecessors (-1), modulo n: away from
 * the pole, where the difference from 1 loses little, by steps round the circle. */
static void weights_of(const axis_sum *s, int64_t index, int step, int64_t count, weight *w) {
    enum { NEAR = 4096 }; /* an error of 1e-18 |w| where n is 2^26 */
    const long double turn = 2 * pi / (long double)s->n;
    const long double f_step = -step * turn, g_step = f_step * (long double)centred(s->count, s->n);
    const weight f_turn = {cosl(f_step), sinl(f_step)}, g_turn = {cosl(g_step), sinl(g_step)};
    long double f, g;
    fractions(s, index, &f, &g);
    weight f_end = {cosl(turn * f), sinl(turn * f)}, g_end = {cosl(turn * g), sinl(turn * g)};
    for (int64_t i = 0; i < count; i++) {
        const int64_t m = centred(s->nearest - index, s->n);
        if (m > -NEAR && m < NEAR) {
            w[i] = weight_of(s, index);
        } else {
            const weight top = {1 - g_end.re, -g_end.im}, bottom = {1 - f_end.re, f_end.im};
            const long double scale = 1 / (bottom.re * bottom.re + bottom.im * bottom.im);
            w[i] = product(top, bottom);
            w[i].re *= scale, w[i].im *= scale;
        }
        f_end = product(f_end, f_turn);
        g_end = product(g_end, g_turn);
        index += step;
        if (index == s->n) index = 0;
        if (index < 0) index = s->n - 1;
    }
}

/*
 * Real to real, element j of an axis becomes weight cos or sin (2 pi (d + k m) / period) at k,
 * which is half the sum, or the difference over 2i, of exp(2 pi i (d + k m) / period) and its
 * conjugate. So its weight in the functional is two of the sums above, with the period in place of
 * n.
 */
static weight real_weight(uint64_t turns, weft_axis type, int64_t n, int64_t j) {
    if (type == WEFT_AXIS_NONE) return unit(turns * (uint64_t)j);
    const r2r_term term = r2r_term_of(type, n, j, 0);
    const int64_t period = term.period;
    const int64_t m = (r2r_term_of(type, n, j, 1).product - term.product) % period;
    const axis_sum sum = axis_sum_of(turns, period, n);
    const long double angle = 2 * pi * (long double)(term.product % period) / (long double)period;
    const weight turn = {cosl(angle), sinl(angle)};
    const weight up = product(turn, weight_of(&sum, m > 0 ? period - m : 0));
    const weight down = product(conjugate(turn), weight_of(&sum, m));
    const long double half = (long double)term.weight / 2;
    if (type < WEFT_DST1) return (weight){half * (up.re + down.re), half * (up.im + down.im)};
    return (weight){half * (up.im - down.im), half * (down.re - up.re)};
}

static bool sum_over_ranks(const bench_problem *p, int count, weight *sum) {
    return MPI_Allreduce(MPI_IN_PLACE, sum, 2 * count, MPI_LONG_DOUBLE, MPI_SUM, p->comm) ==
           MPI_SUCCESS;
}

/* ---- expectation ---- */

enum { HERE, OPPOSITE, SIDES };

/* Products of the weights along the axes so far, for an element and for its opposite. */
typedef struct outer_weights {
    weight of[BENCH_PROBES][SIDES];
} outer_weights;

/* Sums over a slab of the input, a piece of the last axis after the other. */
typedef struct input_sum {
    const bench_problem *p;
    uint64_t turns[BENCH_PROBES][WEFT_MAX_RANK + 1];
    int64_t lo[WEFT_MAX_RANK], n[WEFT_MAX_RANK];    /* the slab */
    int64_t start, count;                           /* the piece ... */
    weight piece[BENCH_PROBES][SIDES][BENCH_PIECE]; /* ... and its weights */
    weight sum[BENCH_PROBES + 1]; /* the last: squares of all input elements, those that half a
                                     spectrum leaves out as well */
} input_sum;

/* Whether an element along the last axis of half a spectrum stands for its opposite as well. */
static bool has_opposite(const bench_problem *p, int64_t k) {
    return bench_is_hermitian(p) && k > 0 && 2 * k != p->n[p->rank - 1];
}

/* The weights along an axis of input elements from k on, or of their opposites. */
static void axis_weights(const input_sum *s, int probe, int axis, int64_t k, int64_t count,
                         int side, weight *w) {
    const bench_problem *p = s->p;
    if (p->kind == WEFT_R2R) {
        for (int64_t i = 0; i < count; i++)
            w[i] = real_weight(s->turns[probe][axis], bench_axis_type(p, axis), p->n[axis], k + i);
        return;
    }
    const axis_sum sum =
        axis_sum_of(s->turns[probe][axis], p->n[axis], bench_extent(p, bench_to(p), axis));
    bool turned = (p->direction == WEFT_INVERSE) != (side == OPPOSITE);
    weights_of(&sum, turned ? bench_opposite(k, p->n[axis]) : k, turned ? -1 : 1, count, w);
}

static void set_piece(input_sum *s, int64_t start, int64_t count) {
    const int last = s->p->rank - 1;
    s->start = start;
    s->count = count;
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        axis_weights(s, probe, last, start, count, HERE, s->piece[probe][HERE]);
        if (!bench_is_hermitian(s->p)) continue;
        /* The opposite holds conj(x), and conj(x) w is conj(x conj(w)). */
        weight *w = s->piece[probe][OPPOSITE];
        axis_weights(s, probe, last, start, count, OPPOSITE, w);
        for (int64_t i = 0; i < count; i++)
            w[i] = has_opposite(s->p, start + i) ? conjugate(w[i]) : (weight){0, 0};
    }
}

static void sum_row(input_sum *s, bench_number base, const outer_weights *outer) {
    const bench_problem *p = s->p;
    const int parts = bench_element_parts(p, bench_from(p));
    double value[2 * BENCH_PIECE];
    long double squares = 0;
    bench_input_row(p, base, p->rank - 1, s->start, s->count, value);
    for (int64_t i = 0; i < s->count * parts; i++)
        squares +=
            (long double)value[i] * value[i] * (has_opposite(p, s->start + i / parts) ? 2 : 1);
    s->sum[BENCH_PROBES].re += squares;
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        for (int side = HERE; side <= (bench_is_hermitian(p) ? OPPOSITE : HERE); side++) {
            weight row = {0, 0};
            add_products(parts, s->count, value, s->piece[probe][side], &row);
            row = product(side == HERE ? row : conjugate(row), outer->of[probe][side]);
            s->sum[probe].re += row.re, s->sum[probe].im += row.im;
        }
    }
}

static void sum_axis(input_sum *s, int axis, bench_number base, const outer_weights *outer) {
    enum { BLOCK = 64 };
    if (axis == s->p->rank - 1) {
        sum_row(s, base, outer);
        return;
    }
    const int sides = bench_is_hermitian(s->p) ? SIDES : 1;
    const int64_t end = s->lo[axis] + s->n[axis];
    weight w[BENCH_PROBES][SIDES][BLOCK];
    for (int64_t k = s->lo[axis]; k < end; k++) {
        const int64_t i = (k - s->lo[axis]) % BLOCK, count = end - k < BLOCK ? end - k : BLOCK;
        outer_weights inner;
        for (int probe = 0; probe < BENCH_PROBES; probe++) {
            for (int side = 0; side < sides; side++) {
                if (i == 0) axis_weights(s, probe, axis, k, count, side, w[probe][side]);
                inner.of[probe][side] = product(outer->of[probe][side], w[probe][side][i]);
            }
        }
        sum_axis(s, axis + 1, bench_go_along(s->p, base, axis, k), &inner);
    }
}

static void sum_batch(input_sum *s) {
    for (int64_t b = 0; b < s->p->batch; b++) {
        outer_weights outer;
        for (int probe = 0; probe < BENCH_PROBES; probe++)
            outer.of[probe][HERE] = outer.of[probe][OPPOSITE] =
                unit(s->turns[probe][s->p->rank] * (uint64_t)b);
        sum_axis(s, 0, bench_go_along(s->p, (bench_number){0, 0}, s->p->rank, b), &outer);
    }
}

/* Real to real, the sum over k of the squares of what an element 1 of a line becomes, on average
 * over the elements of the line. */
static long double mean_column(weft_axis type, long double n) {
    switch (type) {
    case WEFT_AXIS_NONE:
        return 1;
    case WEFT_DCT1:
        return 2 * n - 4 / n;
    case WEFT_DCT3:
    case WEFT_DST3:
        return 2 * n - 1;
    case WEFT_DCT4:
    case WEFT_DST4:
        return 2 * n;
    default:
        return 2 * n + 2;
    }
}

/* Parseval, for output elements as strong as each other on average: exact but for half spectra,
 * whose first and last planes count double, and real-to-real transforms, whose first or last
 * elements do; within 2 % there from 64 elements on. */
static double output_norm(const bench_problem *p, long double squares) {
    const int last = p->rank - 1;
    for (int a = 0; a <= last && p->kind == WEFT_R2R; a++)
        squares *= mean_column(bench_axis_type(p, a), (long double)p->n[a]);
    if (p->kind == WEFT_R2R) return (double)sqrtl(squares);
    for (int a = 0; a < last; a++) squares *= (long double)p->n[a];
    return (double)sqrtl(squares * (long double)bench_extent(p, bench_to(p), last));
}

weft_status bench_expect(const bench_problem *p, bench_expectation *expectation) {
    enum { SEED = 0x77656674 };
    input_sum s = {.p = p};
    *expectation = (bench_expectation){.norm = 0};
    for (int a = 0; a < p->rank; a++) s.n[a] = bench_extent(p, bench_from(p), a);
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        for (int a = 0; a <= p->rank; a++) {
            double theta = bench_noise((uint64_t)(SEED + probe * (WEFT_MAX_RANK + 1) + a)) + 0.5;
            expectation->theta[probe][a] = theta;
            s.turns[probe][a] = turns_of(theta);
        }
    }
    s.lo[0] = s.n[0] * p->me / p->ranks;
    s.n[0] = s.n[0] * (p->me + 1) / p->ranks - s.lo[0];
    const int last = p->rank - 1;
    for (int64_t start = 0; start < s.n[last]; start += BENCH_PIECE) {
        int64_t left = s.n[last] - start;
        set_piece(&s, s.lo[last] + start, left < BENCH_PIECE ? left : BENCH_PIECE);
        sum_batch(&s);
    }
    if (!sum_over_ranks(p, BENCH_PROBES + 1, s.sum))
        return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the input was summed");
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        expectation->sum[probe][0] = s.sum[probe].re;
        expectation->sum[probe][1] = s.sum[probe].im;
    }
    expectation->norm = output_norm(p, s.sum[BENCH_PROBES].re);
    return WEFT_SUCCESS;
}

/* ---- error ---- */

/* The functional of a share of the output, row by row. */
typedef struct output_sum {
    const bench_problem *p;
    bench_loops loops;
    const void *data;
    uint64_t turns[BENCH_PROBES][WEFT_MAX_RANK + 1]; /* along each loop */
    weight step[BENCH_PROBES][WEFT_MAX_RANK + 1];    /* the same as factors */
    weight piece[BENCH_PROBES][BENCH_PIECE];         /* of a row's first elements */
    weight sum[BENCH_PROBES];
} output_sum;

static void read_row(const output_sum *s, int64_t at, int64_t count, double *value) {
    const int parts = bench_element_parts(s->p, bench_to(s->p));
    const int64_t step = s->loops.stride[s->loops.count - 1];
    for (int64_t i = 0; i < count; i++) {
        for (int part = 0; part < parts; part++) {
            int64_t from = (at + i * step) * parts + part;
            value[i * parts + part] = s->p->precision == WEFT_SINGLE
                                          ? (double)((const float *)s->data)[from]
                                          : ((const double *)s->data)[from];
        }
    }
}

/* Weights of loops so far. */
typedef struct loop_weights {
    weight of[BENCH_PROBES];
} loop_weights;

/* Takes index k of a loop on: from k - 1 if `previous` says so, else from its angle. */
static void step_weights(const output_sum *s, int depth, int64_t k, bool previous,
                         loop_weights *w) {
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        const uint64_t turns = s->turns[probe][depth];
        w->of[probe] =
            previous ? product(w->of[probe], s->step[probe][depth]) : unit(turns * (uint64_t)k);
    }
}

static void sum_output_row(output_sum *s, int64_t at, const loop_weights *outer) {
    const int row = s->loops.count - 1;
    const int parts = bench_element_parts(s->p, bench_to(s->p));
    double value[2 * BENCH_PIECE];
    for (int64_t start = 0; start < s->loops.n[row]; start += BENCH_PIECE) {
        int64_t left = s->loops.n[row] - start, count = left < BENCH_PIECE ? left : BENCH_PIECE;
        read_row(s, at + start * s->loops.stride[row], count, value);
        for (int probe = 0; probe < BENCH_PROBES; probe++) {
            weight sum = {0, 0};
            add_products(parts, count, value, s->piece[probe], &sum);
            if (start > 0) sum = product(sum, unit(s->turns[probe][row] * (uint64_t)start));
            sum = product(sum, outer->of[probe]);
            s->sum[probe].re += sum.re, s->sum[probe].im += sum.im;
        }
    }
}

static void sum_output_loop(output_sum *s, int depth, int64_t at, const loop_weights *outer) {
    enum { STEPS = 64 }; /* from one angle to the next: their errors add up to less than 1e-18 */
    if (depth == s->loops.count - 1) {
        sum_output_row(s, at, outer);
        return;
    }
    loop_weights here = {{{0, 0}}};
    for (int64_t i = 0; i < s->loops.n[depth]; i++) {
        step_weights(s, depth, s->loops.lo[depth] + i, i % STEPS > 0, &here);
        loop_weights inner;
        for (int probe = 0; probe < BENCH_PROBES; probe++)
            inner.of[probe] = product(outer->of[probe], here.of[probe]);
        sum_output_loop(s, depth + 1, at + i * s->loops.stride[depth], &inner);
    }
}

double bench_error(const bench_problem *p, const bench_expectation *expectation,
                   const bench_share *share, const void *data) {
    output_sum s = {.p = p, .loops = bench_loops_of(p, share), .data = data};
    const int row = s.loops.count - 1;
    loop_weights all_rows;
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        for (int i = 0; i < s.loops.count; i++) {
            s.turns[probe][i] = turns_of(expectation->theta[probe][s.loops.axis[i]]);
            s.step[probe][i] = unit(s.turns[probe][i]);
        }
        for (int64_t i = 0; i < s.loops.n[row] && i < BENCH_PIECE; i++)
            s.piece[probe][i] = unit(s.turns[probe][row] * (uint64_t)i);
        all_rows.of[probe] = unit(s.turns[probe][row] * (uint64_t)s.loops.lo[row]);
    }
    if (!s.loops.empty) sum_output_loop(&s, 0, 0, &all_rows);
    if (!sum_over_ranks(p, BENCH_PROBES, s.sum)) return NAN;
    long double squares = 0;
    for (int probe = 0; probe < BENCH_PROBES; probe++) {
        const long double re = s.sum[probe].re - expectation->sum[probe][0];
        const long double im = s.sum[probe].im - expectation->sum[probe][1];
        squares += re * re + im * im;
    }
    return (double)sqrtl(squares / BENCH_PROBES) / expectation->norm;
}
