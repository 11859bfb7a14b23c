/*
 * Kernels that make the fields of a point from one another: gradient, divergence, curl, projection
 * on fields without divergence, and the elastic Green's operator. Their matrices are computed at
 * each wavenumber as they are needed, so none is stored. Symmetric tensors have the components xx,
 * yy, zz, yz, xz, xy (in 2-D: xx, yy, xy), each once and not multiplied by a factor.
 */
#include "convolve/convolve.h"

#include "support/axis.h"
#include "support/error.h"
#include "support/pair.h"
#include "support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int weft_convolved_fields(const weft_convolved *c, bool made) {
    const int rank = c->problem.rank;
    switch (c->problem.kernel.kind) {
    case WEFT_KERNEL_GRADIENT:
        return made ? rank : 1;
    case WEFT_KERNEL_DIVERGENCE:
        return made ? 1 : rank;
    case WEFT_KERNEL_CURL:
        return made && rank == 2 ? 1 : rank;
    case WEFT_KERNEL_LERAY:
        return rank;
    case WEFT_KERNEL_ELASTIC:
        return rank * (rank + 1) / 2;
    default:
        return 1;
    }
}

weft_status weft_convolved_check_fields(const weft_convolution_problem *p) {
    const weft_convolution_kernel *k = &p->kernel;
    const char *name = weft_kernel_kind_name(k->kind);
    if (k->kind < WEFT_KERNEL_GRADIENT || k->kind > WEFT_KERNEL_ELASTIC) return WEFT_SUCCESS;
    for (int a = 0; a < p->rank; a++)
        if (p->boundary[a] == WEFT_LINEAR || p->boundary[a] == WEFT_FREE_SPACE)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.boundary[%d] is %s, but kernel %s is for periodic, Dirichlet "
                             "and Neumann axes only",
                             a, weft_boundary_name(p->boundary[a]), name);
    if (p->rank > 3 ||
        ((k->kind == WEFT_KERNEL_CURL || k->kind == WEFT_KERNEL_ELASTIC) && p->rank < 2))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.rank is %d, but kernel %s is for %d to 3 axes", p->rank, name,
                         k->kind == WEFT_KERNEL_CURL || k->kind == WEFT_KERNEL_ELASTIC ? 2 : 1);
    if (p->correlate || p->deconvolve)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s: not with kernel %s, which makes fields from one another",
                         p->correlate ? "correlate" : "deconvolve", name);
    if (k->kind == WEFT_KERNEL_ELASTIC && !(isfinite(k->lame[0]) && isfinite(k->lame[1]) &&
                                            k->lame[1] > 0 && k->lame[0] + 2 * k->lame[1] > 0))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.lame is %g, %g; give lambda and mu with mu > 0 and "
                         "lambda + 2 mu > 0",
                         k->lame[0], k->lame[1]);
    return WEFT_SUCCESS;
}

weft_status weft_convolved_find_waves(weft_convolved *c) {
    for (int a = 0; a < c->problem.rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        c->wave[a] = malloc((size_t)axis->transform * sizeof *c->wave[a]);
        if (!c->wave[a])
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's wavenumbers");
        for (int64_t i = 0; i < axis->transform; i++)
            c->wave[a][i] = weft_convolved_wavenumber(axis, i);
        if (!axis->staggered) continue;
        c->turn[a] = malloc((size_t)axis->transform * 2 * sizeof *c->turn[a]);
        if (!c->turn[a])
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's phases");
        for (int64_t i = 0; i < axis->transform; i++) {
            const double angle = weft_convolved_frequency(axis, i) * axis->spacing / 2;
            c->turn[a][2 * i] = cos(angle);
            c->turn[a][2 * i + 1] = sin(angle);
        }
    }
    return WEFT_SUCCESS;
}

/* ---- in kernels of devices ---- */

extern const char weft_kernels_wave_fields_cl[],
    weft_kernels_wave_radial_cl[]; /* cmake/embed.cmake */

/* The function of |k|^2, of wave_square. */
static void add_formula(weft_text *t, const weft_convolution_kernel *k) {
    const double p = k->parameter;
    switch (k->kind) {
    case WEFT_KERNEL_POISSON:
        weft_text_add(t, "1 / wave_square");
        return;
    case WEFT_KERNEL_SCREENED_POISSON:
        weft_text_add(t, "1 / (wave_square + (real)(%.17e))", p * p);
        return;
    case WEFT_KERNEL_HEAT:
        weft_text_add(t, "exp((real)(%.17e) * wave_square)", -p);
        return;
    case WEFT_KERNEL_RIESZ:
        weft_text_add(t, "pow(wave_square, (real)(%.17e))", p / 2);
        return;
    default: /* WEFT_KERNEL_LAPLACIAN */
        weft_text_add(t, "-wave_square");
        return;
    }
}

/* What wave_fields.cl and wave_radial.cl want before them. */
static void add_waves(weft_text *t, const weft_convolved *c, const char *index) {
    const int rank = c->problem.rank;
    weft_text_add(t, "#define WAVE_INDEX(a) %s\n#define WAVE_RANK %d\n", index, rank);
    weft_text_add(t, "const long64 wave_points[] = {");
    for (int a = 0; a < rank; a++) weft_text_add(t, "%lld,", (long long)c->axis[a].transform);
    weft_text_add(t, "};\nconst real wave_step[] = {");
    for (int a = 0; a < rank; a++)
        weft_text_add(t, "(real)(%.17e),", weft_convolved_frequency(&c->axis[a], 1));
    if (c->axis[0].staggered) {
        weft_text_add(t, "};\n#define WAVE_STAGGERED 1\nconst real wave_half[] = {");
        for (int a = 0; a < rank; a++) weft_text_add(t, "(real)(%.17e),", c->axis[a].spacing / 2);
    }
    int turns = 0;
    for (int a = 0; a < rank; a++) turns |= c->axis[a].turns << a;
    weft_text_add(t,
                  "};\nconst int wave_turns = %d;\nconst real wave_factor = (real)(%.17e);\n"
                  "(void)wave_turns;\n",
                  turns, 1 / c->points);
}

static void add_odd(weft_text *t, const weft_convolved *c, bool made) {
    weft_text_add(t, "const int wave_odd_%s[] = {", made ? "out" : "in");
    for (int f = 0; f < weft_convolved_fields(c, made); f++)
        weft_text_add(t, "%u,", c->odd[made][f]);
    weft_text_add(t, "};\n");
}

/* What wave_fields.cl wants where axes turn. */
static void add_turns(weft_text *t, const weft_convolved *c) {
    bool real = c->real;
    for (int a = 0; a < c->problem.rank; a++) real = real && !weft_axis_is_fourier(c->axis[a].type);
    weft_text_add(t, "#define WAVE_TURNS 1\n#define WAVE_FIELDS %d\n#define WAVE_MADE %d\n%s",
                  weft_convolved_fields(c, false), weft_convolved_fields(c, true),
                  real ? "#define WAVE_REAL 1\n" : "");
    add_odd(t, c, false);
    add_odd(t, c, true);
}

weft_status weft_convolved_write_snippet(const weft_convolved *c, const char *index,
                                         char **snippet) {
    const weft_convolution_kernel *k = &c->problem.kernel;
    weft_text t = {.text = NULL};
    add_waves(&t, c, index);
    if (weft_convolved_makes_fields(c)) {
        if (c->turning) add_turns(&t, c);
        weft_text_add(&t,
                      "#define WAVE_%s 1\nconst real wave_lame[] = {(real)(%.17e), "
                      "(real)(%.17e)};\n(void)wave_lame;\n%s",
                      weft_kernel_kind_name(k->kind), k->lame[0], k->lame[1],
                      weft_kernels_wave_fields_cl);
    } else {
        weft_text_add(&t, "#define WAVE_VALUE ");
        add_formula(&t, k);
        if (k->zero) weft_text_add(&t, "\n#define WAVE_ZERO (real)(%.17e)", k->zero[0]);
        weft_text_add(&t, "\n%s", weft_kernels_wave_radial_cl);
    }
    *snippet = t.text;
    if (!t.failed) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's text");
}

/* ---- matrices on the host ---- */

enum { MOST = WEFT_CONVOLVED_FIELDS };

/* A wavenumber k, and what is made of the fields there, times `factor`. */
typedef struct point {
    double k[3], square, factor;
    weft_pair in[MOST], out[MOST];
} point;

static inline void gradient(int rank, point *p) {
    const weft_pair x = p->factor * weft_pair_times_i(p->in[0]);
    for (int a = 0; a < rank; a++) p->out[a] = p->k[a] * x;
}

static inline void divergence(int rank, point *p) {
    weft_pair along = p->k[0] * p->in[0];
    for (int a = 1; a < rank; a++) along += p->k[a] * p->in[a];
    p->out[0] = p->factor * weft_pair_times_i(along);
}

static inline void curl(int rank, point *p) {
    for (int a = rank == 2 ? 2 : 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        p->out[rank == 2 ? 0 : a] =
            p->factor * weft_pair_times_i(p->k[b] * p->in[d] - p->k[d] * p->in[b]);
    }
}

/* u - k (k.u) / |k|^2; a mean flow has no divergence. */
static inline void project(int rank, point *p) {
    weft_pair along = {0, 0};
    for (int a = 0; a < rank; a++) along += p->k[a] * p->in[a];
    if (p->square > 0) along /= p->square;
    for (int a = 0; a < rank; a++) p->out[a] = p->factor * (p->in[a] - p->k[a] * along);
}

/* Several points at once: their pairs, and numbers of theirs, each twice. */
typedef double weft_pairs __attribute__((vector_size(64)));
enum { PAIRS = 4 };

#define NUMBER double
#define PAIR weft_pair
#define NAMED(name) name
#include "convolve/strain.inc"
#undef NUMBER
#undef PAIR
#undef NAMED
#define NUMBER weft_pairs
#define PAIR weft_pairs
#define NAMED(name) name##_of_several
#include "convolve/strain.inc"
#undef NUMBER
#undef PAIR
#undef NAMED

static inline void multiply(weft_kernel_kind kind, int rank, const double *lame, point *p) {
    p->square = 0;
    for (int a = 0; a < rank; a++) p->square += p->k[a] * p->k[a];
    if (kind == WEFT_KERNEL_GRADIENT) gradient(rank, p);
    if (kind == WEFT_KERNEL_DIVERGENCE) divergence(rank, p);
    if (kind == WEFT_KERNEL_CURL) curl(rank, p);
    if (kind == WEFT_KERNEL_LERAY) project(rank, p);
    const double over = p->square > 0 ? 1 / p->square : 0;
    if (kind == WEFT_KERNEL_ELASTIC) strain(rank, lame, p->factor, &over, p->k, p->in, p->out);
}

/* Where a frequency is its own negative (index n/2, and axes of `tops`), a spectrum of real fields
 * has the mean of both signs; the signs of all such axes are tried. */
static void multiply_folded(const weft_convolved *c, weft_kernel_kind kind, int rank,
                            const int64_t *index, unsigned tops, int fields, point *p) {
    int folded[3], count = 0;
    weft_pair sum[MOST] = {{0, 0}};
    for (int a = 0; a < rank; a++)
        if (weft_convolved_folds(&c->axis[a], index[a]) || tops >> a & 1) folded[count++] = a;
    p->factor /= 1 << count;
    for (int signs = 0; signs < 1 << count; signs++) {
        for (int i = 0; i < count; i++)
            p->k[folded[i]] = (signs >> i & 1 ? -1 : 1) * fabs(p->k[folded[i]]);
        multiply(kind, rank, c->problem.kernel.lame, p);
        for (int f = 0; f < fields; f++) sum[f] += p->out[f];
    }
    memcpy(p->out, sum, sizeof sum);
}

/* On a staggered grid the components off the diagonal lie half a cell lower along two axes: they
 * are turned to where the others are and, made, back. Differences of neighbours are then i k at the
 * place between them, with the k of the discretization. */
static inline void multiply_staggered(const weft_convolved *c, int rank, const int64_t *index,
                                      point *p) {
    static const int axes[3][2] = {{1, 2}, {0, 2}, {0, 1}}; /* of yz, xz, xy */
    const int pairs = rank == 3 ? 3 : 1, first = rank == 3 ? 0 : 2;
    weft_pair phase[3];
    for (int i = 0; i < pairs; i++) {
        const int a = axes[first + i][0], b = axes[first + i][1];
        const double *x = c->turn[a] + 2 * index[a], *y = c->turn[b] + 2 * index[b];
        phase[i] = weft_pair_times((weft_pair){x[0], x[1]}, (weft_pair){y[0], y[1]});
        p->in[rank + i] = weft_pair_times(phase[i], p->in[rank + i]);
    }
    multiply(WEFT_KERNEL_ELASTIC, rank, c->problem.kernel.lame, p);
    for (int i = 0; i < pairs; i++)
        p->out[rank + i] = weft_pair_times(weft_pair_conjugate(phase[i]), p->out[rank + i]);
}

/* ---- axes that turn ---- */

static weft_pair turned(weft_pair value, unsigned odd, bool back) {
    double parts[2] = {value[0], value[1]};
    weft_convolved_turn(odd, back, parts);
    return (weft_pair){parts[0], parts[1]};
}

/* Fields that are odd along axes are those of exponential series while they are multiplied. At
 * index 0 of such an axis even fields have wavenumber 0 and odd ones the highest, n, which have
 * nothing to do with one another: each is multiplied apart from the others. */
static void multiply_turning(const weft_convolved *c, weft_kernel_kind kind, int rank,
                             const int64_t *index, const weft_fields_run *run, point *p) {
    weft_pair sum[MOST] = {{0, 0}};
    unsigned ends = 0;
    for (int a = 0; a < rank; a++)
        if (c->axis[a].turns && index[a] == 0) ends |= 1u << a;
    for (unsigned tops = 0; tops < 1u << rank; tops++) {
        point one = {.factor = p->factor};
        if (tops & ~ends) continue;
        for (int a = 0; a < rank; a++)
            one.k[a] = tops >> a & 1 ? weft_convolved_frequency(&c->axis[a], c->axis[a].transform)
                                     : p->k[a];
        for (int f = 0; f < run->in_fields; f++)
            if ((c->odd[WEFT_FORWARD][f] & ends) == tops)
                one.in[f] = turned(p->in[f], c->odd[WEFT_FORWARD][f], false);
        multiply_folded(c, kind, rank, index, tops, run->out_fields, &one);
        for (int f = 0; f < run->out_fields; f++) sum[f] += one.out[f];
    }
    for (int f = 0; f < run->out_fields; f++)
        p->out[f] = turned(sum[f], c->odd[WEFT_INVERSE][f], true);
}

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

static void apply_turning(const weft_fields_run *run, const weft_convolved *c) {
    const int rank = c->problem.rank;
    int64_t index[3] = {0, 0, 0};
    memcpy(index, run->index, (size_t)rank * sizeof *index);
    for (int64_t i = 0; i < run->count; i++, index[run->axis]++) {
        point p = {.factor = 1 / c->points};
        for (int a = 0; a < rank; a++) p.k[a] = c->wave[a][index[a]];
        for (int f = 0; f < run->in_fields; f++) p.in[f] = number_at(run, f, i * run->in_stride);
        multiply_turning(c, c->problem.kernel.kind, rank, index, run, &p);
        for (int f = 0; f < run->out_fields; f++) set_number(run, f, i * run->out_stride, p.out[f]);
    }
}

/* ---- runs ---- */

static inline void pairs_get(const void *array, bool single, int64_t i, weft_pairs *value) {
    const float *floats = (const float *)array + 2 * i;
    if (!single) memcpy(value, (const double *)array + 2 * i, sizeof *value);
    for (int k = 0; k < 2 * PAIRS && single; k++) (*value)[k] = (double)floats[k];
}

static inline void pairs_set(void *array, bool single, int64_t i, const weft_pairs *value) {
    float *floats = (float *)array + 2 * i;
    if (!single) memcpy((double *)array + 2 * i, value, sizeof *value);
    for (int k = 0; k < 2 * PAIRS && single; k++) floats[k] = (float)(*value)[k];
}

/* The elastic kernel at points first to end - 1 of a run of neighbours, PAIRS at a time: none of
 * them has wavenumber 0, or a frequency that is its own negative. */
static inline __attribute__((always_inline)) void strain_neighbours(const weft_fields_run *run,
                                                                    const weft_convolved *c,
                                                                    bool single, int64_t first,
                                                                    int64_t end) {
    enum { RANK = 3 };
    weft_pairs k[RANK], in[MOST], out[MOST];
    const double *wave = c->wave[run->axis] + run->index[run->axis];
    for (int a = 0; a < RANK; a++)
        if (a != run->axis) k[a] = c->wave[a][run->index[a]] - (weft_pairs){0};
    for (int64_t i = first; i < end; i += PAIRS) {
        for (int n = 0; n < 2 * PAIRS; n++) k[run->axis][n] = wave[i + n / 2];
        for (int f = 0; f < MOST; f++) pairs_get(run->in[f], single, i, &in[f]);
        const weft_pairs over = 1 / (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        strain_of_several(RANK, c->problem.kernel.lame, 1 / c->points, &over, k, in, out);
        for (int f = 0; f < MOST; f++) pairs_set(run->out[f], single, i, &out[f]);
    }
}

/* The same with each processor's vectors. Additions are not fused, so the bits are the same. */
typedef void (*strain_function)(const weft_fields_run *run, const weft_convolved *c, bool single,
                                int64_t first, int64_t end);

static void strain_plainly(const weft_fields_run *run, const weft_convolved *c, bool single,
                           int64_t first, int64_t end) {
    strain_neighbours(run, c, single, first, end);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void strain_avx2(const weft_fields_run *run,
                                                        const weft_convolved *c, bool single,
                                                        int64_t first, int64_t end) {
    strain_neighbours(run, c, single, first, end);
}

__attribute__((target("avx512f"))) static void strain_avx512(const weft_fields_run *run,
                                                             const weft_convolved *c, bool single,
                                                             int64_t first, int64_t end) {
    strain_neighbours(run, c, single, first, end);
}
#endif

static strain_function find_strain(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return strain_avx512;
    if (__builtin_cpu_supports("avx2")) return strain_avx2;
#endif
    return strain_plainly;
}

/* Points first to end - 1 of a run, with what does not change in it known to the compiler. */
static inline __attribute__((always_inline)) void
apply(const weft_fields_run *run, const weft_convolved *c, weft_kernel_kind kind, int rank,
      bool single, bool staggered, int in_fields, int out_fields, int64_t first, int64_t end) {
    int64_t index[3] = {0, 0, 0};
    const double factor = 1 / c->points;
    bool folds = false;
    for (int a = 0; a < rank; a++) {
        index[a] = run->index[a];
        if (a != run->axis) folds = folds || 2 * index[a] == c->axis[a].transform;
    }
    for (int64_t i = first; i < end; i++) {
        point p = {.factor = factor};
        index[run->axis] = run->index[run->axis] + i;
        for (int a = 0; a < rank; a++) p.k[a] = c->wave[a][index[a]];
        for (int f = 0; f < in_fields; f++)
            p.in[f] = weft_pair_at(run->in[f], single, i * run->in_stride);
        if (staggered)
            multiply_staggered(c, rank, index, &p);
        else if (folds || 2 * index[run->axis] == c->axis[run->axis].transform)
            multiply_folded(c, kind, rank, index, 0, out_fields, &p);
        else
            multiply(kind, rank, c->problem.kernel.lame, &p);
        for (int f = 0; f < out_fields; f++)
            weft_pair_set(run->out[f], single, i * run->out_stride, p.out[f]);
    }
}

/* Whether frequencies of all points of a run are their own negatives, or wavenumber 0 but for the
 * axis of the run. */
static void look_across(const weft_fields_run *run, const weft_convolved *c, bool *folds,
                        bool *origin) {
    *folds = false;
    *origin = true;
    for (int a = 0; a < c->problem.rank; a++) {
        if (a == run->axis) continue;
        *folds = *folds || 2 * run->index[a] == c->axis[a].transform;
        *origin = *origin && run->index[a] == 0;
    }
}

/* Where the points of a run from `first` on end that are alike: the one that is its own negative,
 * or wavenumber 0 (`origin`: index 0 is), is alone. *alone tells whether these are to be done one
 * by one. */
static int64_t find_end(const weft_fields_run *run, int64_t n, bool origin, int64_t first,
                        bool *alone) {
    const int64_t index = run->index[run->axis] + first, half = (n + 1) / 2;
    const int64_t left = run->count - first;
    *alone = 2 * index == n || (origin && index == 0);
    if (*alone) return first + 1;
    return index < half && half - index < left ? first + half - index : run->count;
}

/* In three dimensions most points of a run are done several at a time, if they are neighbours in
 * memory. */
static void apply_elastic(const weft_fields_run *run, const weft_convolved *c, bool single) {
    const int64_t n = c->axis[run->axis].transform;
    const strain_function strain_several = find_strain();
    bool folds, origin, alone = run->in_stride != 1 || run->out_stride != 1;
    look_across(run, c, &folds, &origin);
    const bool all_alone = alone || folds;
    for (int64_t first = 0, end; first < run->count; first = end) {
        end = all_alone ? run->count : find_end(run, n, origin, first, &alone);
        const int64_t several = all_alone || alone ? first : first + (end - first) / PAIRS * PAIRS;
        if (several > first) strain_several(run, c, single, first, several);
        if (single)
            apply(run, c, WEFT_KERNEL_ELASTIC, 3, true, false, 6, 6, several, end);
        else
            apply(run, c, WEFT_KERNEL_ELASTIC, 3, false, false, 6, 6, several, end);
    }
}

void weft_convolved_apply_fields(const weft_fields_run *run, void *convolved) {
    const weft_convolved *c = convolved;
    const weft_kernel_kind kind = c->problem.kernel.kind;
    const int rank = c->problem.rank;
    const bool single = run->precision == WEFT_SINGLE;
    if (c->turning)
        apply_turning(run, c);
    else if (c->axis[0].staggered)
        apply(run, c, WEFT_KERNEL_ELASTIC, rank, single, true, run->in_fields, run->out_fields, 0,
              run->count);
    else if (kind == WEFT_KERNEL_ELASTIC && rank == 3)
        apply_elastic(run, c, single);
    else
        apply(run, c, kind, rank, single, false, run->in_fields, run->out_fields, 0, run->count);
}
