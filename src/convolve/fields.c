/*
 * Kernels that make the fields of a point from one another: gradient, divergence, curl, projection
 * on fields without divergence, and the elastic Green's operator. Their matrices are computed at
 * each wavenumber as they are needed, on the host by fields_run.c, so none is stored. Symmetric
 * tensors have the components xx, yy, zz, yz, xz, xy (in 2-D: xx, yy, xy), each once and not
 * multiplied by a factor.
 */
#include "convolve/convolve.h"

#include "support/axis.h"
#include "support/error.h"
#include "support/text.h"

#include <math.h>
#include <stdlib.h>

WEFT_API int weft_kernel_fields(weft_kernel_kind kind, int rank, int made) {
    switch (kind) {
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
        c->phase[a] = malloc((size_t)axis->transform * 2 * sizeof *c->phase[a]);
        if (!c->phase[a])
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's phases");
        for (int64_t i = 0; i < axis->transform; i++) {
            const double angle = weft_convolved_frequency(axis, i) * axis->spacing / 2;
            c->phase[a][2 * i] = cos(angle);
            c->phase[a][2 * i + 1] = sin(angle);
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
