/*
 * Kernels that make fields from one another, on the host (fields.c): runs of points, several of
 * which are multiplied at once. Points with a frequency that is its own negative, and those at
 * index 0 of axes that turn (parity.c), are done one by one. Additions and multiplications are not
 * fused, so that points get the same bits wherever runs begin.
 */
#include "convolve/convolve.h"

#include "support/axis.h"
#include "support/pair.h"

#include <math.h>
#include <string.h>

enum { MOST = WEFT_CONVOLVED_FIELDS, RANK = 3 };

/* Numbers of several points at once: of 8 points with real fields or, each twice, of 4 with complex
 * ones, whose parts alternate. */
typedef double weft_several __attribute__((vector_size(64)));
typedef int64_t weft_several_bits __attribute__((vector_size(64)));
enum { SEVERAL = 8 };

/* i times pairs. No function has vectors for arguments, which processors pass in different ways. */
#define SWAPPED 1, 0, 3, 2, 5, 4, 7, 6
#ifdef __clang__
#define SWAP(x) __builtin_shufflevector((x), (weft_several){0}, SWAPPED)
#else
#define SWAP(x) __builtin_shuffle((x), (weft_several_bits){SWAPPED})
#endif
#define SEVERAL_TIMES_I(x) ((weft_several){-1, 1, -1, 1, -1, 1, -1, 1} * SWAP(x))

#define NUMBER double
#define PAIR weft_pair
#define TIMES_I weft_pair_times_i
#define NAMED(name) name##_one
#include "convolve/wave_matrix.inc"
#undef NUMBER
#undef PAIR
#undef TIMES_I
#undef NAMED
#define NUMBER weft_several
#define PAIR weft_several
#define TIMES_I SEVERAL_TIMES_I
#define NAMED(name) name##_pairs
#include "convolve/wave_matrix.inc"
#undef TIMES_I
#undef NAMED
#define TIMES_I(x) (x) /* axes_units has it */
#define NAMED(name) name##_numbers
#include "convolve/wave_matrix.inc"
#undef NUMBER
#undef PAIR
#undef TIMES_I
#undef NAMED

/* ---- axes that turn ---- */

/* What fields are multiplied by before a matrix and behind it. Those that are odd along axes that
 * turn are there as those of exponential series: -i times the series of sines for each such axis.
 * Real fields have such axes only. A power of i that all of them have, and the one of the matrix,
 * are left to the way back, so that nothing but signs is left. */
typedef struct axes_units {
    weft_pair in[MOST], out[MOST];
} axes_units;

static weft_pair power_of_i(int n) {
    static const double powers[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const double *power = powers[((n % 4) + 4) % 4];
    return (weft_pair){power[0], power[1]};
}

static axes_units find_units(const weft_convolved *c, const weft_fields_run *run) {
    const weft_kernel_kind kind = c->problem.kernel.kind;
    const bool derives =
        kind == WEFT_KERNEL_GRADIENT || kind == WEFT_KERNEL_DIVERGENCE || kind == WEFT_KERNEL_CURL;
    const int first = run->complex_elements ? 0 : __builtin_popcount(c->odd[WEFT_FORWARD][0]);
    const int matrix = run->complex_elements ? 0 : derives;
    axes_units units = {0};
    for (int f = 0; f < run->in_fields; f++)
        units.in[f] = power_of_i(first - __builtin_popcount(c->odd[WEFT_FORWARD][f]));
    for (int f = 0; f < run->out_fields; f++)
        units.out[f] = power_of_i(__builtin_popcount(c->odd[WEFT_INVERSE][f]) + matrix - first);
    return units;
}

/* ---- points one by one ---- */

/* The field's number i of a run, of which real ones are the real parts. */
static weft_pair number_at(const weft_fields_run *run, int f, int64_t i) {
    const bool single = run->precision == WEFT_SINGLE;
    if (run->complex_elements) return weft_pair_at(run->in[f], single, i);
    return (weft_pair){
        single ? (double)((const float *)run->in[f])[i] : ((const double *)run->in[f])[i], 0};
}

static void set_number(const weft_fields_run *run, int f, int64_t i, weft_pair value) {
    const bool single = run->precision == WEFT_SINGLE;
    if (run->complex_elements)
        weft_pair_set(run->out[f], single, i, value);
    else if (single)
        ((float *)run->out[f])[i] = (float)value[0];
    else
        ((double *)run->out[f])[i] = value[0];
}

/* Where a frequency is its own negative (along axes of `folded`), a spectrum of real fields has the
 * mean of both signs; the signs of all such axes are tried. Adds to `out`. */
static void add_folded(const weft_convolved *c, unsigned folded, const double *wave,
                       const weft_pair *in, int fields, weft_pair *out) {
    const weft_convolution_problem *p = &c->problem;
    const double factor = 1 / c->points / (1 << __builtin_popcount(folded));
    for (unsigned signs = 0; signs < 1u << p->rank; signs++) {
        double k[RANK] = {0}, square = 0;
        weft_pair made[MOST];
        if (signs & ~folded) continue;
        for (int a = 0; a < p->rank; a++) {
            k[a] = signs >> a & 1 ? -wave[a] : wave[a];
            square += k[a] * k[a];
        }
        const double over = square > 0 ? 1 / square : 0;
        multiply_one(p->kernel.kind, p->rank, p->kernel.lame, factor, &over, k, in, made);
        for (int f = 0; f < fields; f++) out[f] += made[f];
    }
}

/* Number i of a run. At index 0 of an axis that turns even fields have wavenumber 0 and odd ones
 * the highest, n, either sign of it. They have nothing to do with one another, so each are
 * multiplied without the others. */
static void apply_one(const weft_fields_run *run, const weft_convolved *c, int64_t i) {
    const int rank = c->problem.rank;
    double wave[RANK], top[RANK] = {0};
    unsigned folded = 0, ends = 0;
    weft_pair in[MOST], out[MOST] = {{0}};
    for (int a = 0; a < rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        const int64_t index = run->index[a] + (a == run->axis ? i : 0);
        wave[a] = c->wave[a][index];
        if (weft_convolved_folds(axis, index)) folded |= 1u << a;
        if (axis->turns && index == 0) ends |= 1u << a;
        if (axis->turns) top[a] = weft_convolved_frequency(axis, axis->transform);
    }
    for (unsigned tops = 0; tops < 1u << rank; tops++) {
        double k[RANK];
        if (tops & ~ends) continue;
        for (int a = 0; a < rank; a++) k[a] = tops >> a & 1 ? top[a] : wave[a];
        for (int f = 0; f < run->in_fields; f++) {
            const unsigned odd = c->odd[WEFT_FORWARD][f];
            in[f] =
                (odd & ends) == tops ? number_at(run, f, i * run->in_stride) : (weft_pair){0, 0};
            in[f] = weft_pair_times(power_of_i(-__builtin_popcount(odd)), in[f]);
        }
        add_folded(c, folded | tops, k, in, run->out_fields, out);
    }
    for (int f = 0; f < run->out_fields; f++)
        set_number(
            run, f, i * run->out_stride,
            weft_pair_times(power_of_i(__builtin_popcount(c->odd[WEFT_INVERSE][f])), out[f]));
}

/* ---- several points ---- */

/* Points that are neighbours in memory, as many as fill vectors, none of which apply_one is for. */
typedef struct several_points {
    const weft_convolved *c;
    bool complex;
    int64_t count;
    int axis;
    double k[RANK];     /* their wavenumber, but for the one along `axis`, ... */
    const double *wave; /* ... of each */
    const double *in[MOST];
    double *out[MOST];
} several_points;

static inline __attribute__((always_inline)) void
multiply_several(const several_points *p, weft_kernel_kind kind, int rank, bool complex) {
    const double *lame = p->c->problem.kernel.lame, factor = 1 / p->c->points;
    const int vector = kind == WEFT_KERNEL_ELASTIC ? rank * (rank + 1) / 2 : rank;
    const int in_fields = kind == WEFT_KERNEL_GRADIENT ? 1 : vector;
    const bool one = kind == WEFT_KERNEL_DIVERGENCE || (kind == WEFT_KERNEL_CURL && rank == 2);
    const int parts = complex ? 2 : 1;
    weft_several k[RANK], in[MOST], out[MOST];
    for (int a = 0; a < rank; a++) k[a] = p->k[a] - (weft_several){0};
    for (int64_t i = 0; i < p->count; i += SEVERAL / parts) {
        weft_several square = {0}, along;
        for (int n = 0; n < SEVERAL; n++) along[n] = p->wave[i + n / parts];
        k[p->axis] = along;
        for (int a = 0; a < rank; a++) square += k[a] * k[a];
        const weft_several_bits some = square > 0;
        const weft_several over = (weft_several)((weft_several_bits)(1 / square) & some);
        for (int f = 0; f < in_fields; f++) memcpy(&in[f], p->in[f] + parts * i, sizeof in[f]);
        if (complex)
            multiply_pairs(kind, rank, lame, factor, &over, k, in, out);
        else
            multiply_numbers(kind, rank, lame, factor, &over, k, in, out);
        for (int f = 0; f < (one ? 1 : vector); f++)
            memcpy(p->out[f] + parts * i, &out[f], sizeof out[f]);
    }
}

/* With what does not change known to the compiler. Along one axis only the projection is left. */
static inline __attribute__((always_inline)) void multiply_kind(const several_points *p,
                                                                weft_kernel_kind kind) {
    const int rank = p->c->problem.rank;
    if (rank == 3 && p->complex)
        multiply_several(p, kind, 3, true);
    else if (rank == 3)
        multiply_several(p, kind, 3, false);
    else if (rank == 2 && p->complex)
        multiply_several(p, kind, 2, true);
    else if (rank == 2)
        multiply_several(p, kind, 2, false);
    else
        multiply_several(p, WEFT_KERNEL_LERAY, 1, p->complex);
}

static inline __attribute__((always_inline)) void multiply_any(const several_points *p) {
    switch (p->c->problem.kernel.kind) {
    case WEFT_KERNEL_GRADIENT:
        multiply_kind(p, WEFT_KERNEL_GRADIENT);
        return;
    case WEFT_KERNEL_DIVERGENCE:
        multiply_kind(p, WEFT_KERNEL_DIVERGENCE);
        return;
    case WEFT_KERNEL_CURL:
        multiply_kind(p, WEFT_KERNEL_CURL);
        return;
    case WEFT_KERNEL_LERAY:
        multiply_kind(p, WEFT_KERNEL_LERAY);
        return;
    default:
        multiply_kind(p, WEFT_KERNEL_ELASTIC);
    }
}

/* The same with each processor's vectors. */
typedef void (*multiply_function)(const several_points *p);

static void multiply_plainly(const several_points *p) {
    multiply_any(p);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void multiply_avx2(const several_points *p) {
    multiply_any(p);
}

__attribute__((target("avx512f"))) static void multiply_avx512(const several_points *p) {
    multiply_any(p);
}
#endif

static multiply_function find_multiply(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return multiply_avx512;
    if (__builtin_cpu_supports("avx2")) return multiply_avx2;
#endif
    return multiply_plainly;
}

/* ---- points that are gathered ---- */

/* Points of a run that are not doubles side by side, that fill no vectors, or of whose fields some
 * are turned, in arrays of their own. */
enum { GATHERED = 64 };
typedef struct gathered_points {
    double wave[GATHERED], in[MOST][2 * GATHERED + SEVERAL], out[MOST][2 * GATHERED];
} gathered_points;

/* On a staggered grid the components off the diagonal lie half a cell lower along two axes: they
 * are turned to where the others are and, made, back. Differences of neighbours are then i k at the
 * place between them, with the k of the discretization. */
static weft_pair staggered_phase(const weft_fields_run *run, const weft_convolved *c, int f,
                                 int64_t i) {
    const unsigned axes = weft_tensor_axes(c->problem.rank, f);
    weft_pair phase = {1, 0};
    for (int a = 0; a < c->problem.rank; a++) {
        const double *half = c->phase[a] + 2 * (run->index[a] + (a == run->axis ? i : 0));
        if (axes >> a & 1) phase = weft_pair_times(phase, (weft_pair){half[0], half[1]});
    }
    return phase;
}

static void gather(const weft_fields_run *run, const weft_convolved *c, const axes_units *units,
                   int64_t first, int count, gathered_points *g) {
    const bool staggered = c->axis[0].staggered;
    for (int f = 0; f < run->in_fields; f++) {
        for (int n = 0; n < SEVERAL; n++) /* what fills the last vectors */
            g->in[f][(run->complex_elements ? 2 : 1) * (count - 1) + n] = 0;
        for (int n = 0; n < count; n++) {
            weft_pair x = number_at(run, f, (first + n) * run->in_stride);
            if (!run->complex_elements) {
                g->in[f][n] = units->in[f][0] * x[0];
                continue;
            }
            if (staggered && f >= c->problem.rank)
                x = weft_pair_times(staggered_phase(run, c, f, first + n), x);
            else if (c->turning)
                x = weft_pair_times(units->in[f], x);
            memcpy(&g->in[f][2 * n], &x, sizeof x);
        }
    }
}

static void scatter(const weft_fields_run *run, const weft_convolved *c, const axes_units *units,
                    int64_t first, int count, const gathered_points *g) {
    const bool staggered = c->axis[0].staggered;
    for (int f = 0; f < run->out_fields; f++)
        for (int n = 0; n < count; n++) {
            weft_pair x = {g->out[f][n] * units->out[f][0], 0};
            if (run->complex_elements) {
                memcpy(&x, &g->out[f][2 * n], sizeof x);
                if (staggered && f >= c->problem.rank)
                    x = weft_pair_times(weft_pair_conjugate(staggered_phase(run, c, f, first + n)),
                                        x);
                else if (c->turning)
                    x = weft_pair_times(units->out[f], x);
            }
            set_number(run, f, (first + n) * run->out_stride, x);
        }
}

/* Points first to end - 1 of a run, none of which apply_one is for. */
static void apply_several(const weft_fields_run *run, const weft_convolved *c, int64_t first,
                          int64_t end) {
    const multiply_function multiply = find_multiply();
    const bool plain = run->in_stride == 1 && run->out_stride == 1 &&
                       run->precision == WEFT_DOUBLE && !c->turning && !c->axis[0].staggered;
    const int parts = run->complex_elements ? 2 : 1, points = SEVERAL / parts;
    const double *wave = c->wave[run->axis] + run->index[run->axis];
    several_points p = {.c = c, .complex = run->complex_elements, .axis = run->axis};
    for (int a = 0; a < c->problem.rank; a++)
        if (a != run->axis) p.k[a] = c->wave[a][run->index[a]];
    if (plain) {
        p.count = (end - first) / points * points;
        p.wave = wave + first;
        for (int f = 0; f < run->in_fields; f++)
            p.in[f] = (const double *)run->in[f] + parts * first;
        for (int f = 0; f < run->out_fields; f++) p.out[f] = (double *)run->out[f] + parts * first;
        multiply(&p);
        first += p.count;
    }
    if (first == end) return;
    const axes_units units = find_units(c, run);
    gathered_points g;
    p.wave = g.wave;
    for (int f = 0; f < MOST; f++) {
        p.in[f] = g.in[f];
        p.out[f] = g.out[f];
    }
    for (int count; first < end; first += count) {
        count = end - first < GATHERED ? (int)(end - first) : GATHERED;
        p.count = (count + points - 1) / points * points;
        memcpy(g.wave, wave + first, (size_t)count * sizeof *wave);
        for (int64_t n = count; n < p.count; n++) g.wave[n] = 0;
        gather(run, c, &units, first, count, &g);
        multiply(&p);
        scatter(run, c, &units, first, count, &g);
    }
}

/* ---- runs ---- */

static bool is_special(const weft_convolved_axis *axis, int64_t index) {
    return weft_convolved_folds(axis, index) || (axis->turns && index == 0);
}

void weft_convolved_apply_fields(const weft_fields_run *run, void *convolved) {
    const weft_convolved *c = convolved;
    const weft_convolved_axis *axis = &c->axis[run->axis];
    bool all = false;
    for (int a = 0; a < c->problem.rank; a++)
        all = all || (a != run->axis && is_special(&c->axis[a], run->index[a]));
    for (int64_t first = 0, end; first < run->count; first = end) {
        const int64_t index = run->index[run->axis] + first;
        const int64_t half = axis->turns ? -1 : axis->transform / 2;
        end = run->count;
        if (all || is_special(axis, index)) {
            apply_one(run, c, first);
            end = first + 1;
        } else {
            if (index < half && half - index < end - first) end = first + half - index;
            apply_several(run, c, first, end);
        }
    }
}
