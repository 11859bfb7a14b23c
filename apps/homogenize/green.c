/* Green's operator as a plan: forward transforms of all components, a matrix at each frequency that
 * is computed as it is needed, inverse transforms, in place. */
#include "green.h"

#include "device.h"
#include "matrix.h"
#include "medium.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846, half_root = 0.70710678118654752440;

/* ---- one frequency ---- */

typedef struct mode {
    double w[3], square;
    weft_pair in[6], u[3], out[6];
} mode;

static const int shear[3][3] = {{0, 5, 4}, {5, 0, 3}, {4, 3, 0}};

/* What is the same at all frequencies, by value, so that it stays in registers. */
typedef struct constants {
    double scale;      /* 1 over the number of voxels, by which the transforms are too large */
    double share;      /* (lambda + mu) / (lambda + 2 mu) */
    double compliance; /* scale over mu, or the conductivity */
} constants;

static constants constants_of(const homogenize_green *g) {
    const homogenize_reference *r = &g->reference;
    const double scale = 1 / ((double)g->n[0] * (double)g->n[1] * (double)g->n[2]);
    return (constants){.scale = scale,
                       .share = (r->trace + r->twice / 2) / (r->trace + r->twice),
                       .compliance = scale * (g->components == 6 ? 2 : 1) / r->twice};
}

/* u: the displacement that a stress causes, but for the factor i, which the strain takes off. */
static inline void displacement_of_stress(constants k, mode *m) {
    const double *w = m->w, over = 1 / m->square;
    weft_pair along = {0, 0};
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        m->u[a] =
            w[a] * m->in[a] + half_root * (w[b] * m->in[shear[a][b]] + w[c] * m->in[shear[a][c]]);
        along += w[a] * m->u[a];
    }
    along *= k.share * over;
    for (int a = 0; a < 3; a++) m->u[a] = (m->u[a] - w[a] * along) * (k.compliance * over);
}

static inline void strain_of_displacement(mode *m) {
    const double *w = m->w;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3;
        m->out[a] = w[a] * m->u[a];
        m->out[shear[a][b]] = half_root * (w[a] * m->u[b] + w[b] * m->u[a]);
    }
}

/* In conduction u[0] is the temperature. */
static inline void temperature_of_flux(constants k, mode *m) {
    m->u[0] =
        (m->w[0] * m->in[0] + m->w[1] * m->in[1] + m->w[2] * m->in[2]) * (k.compliance / m->square);
}

static inline void gradient_of_temperature(mode *m) {
    for (int a = 0; a < 3; a++) m->out[a] = m->w[a] * m->u[0];
}

void homogenize_green_mean(const homogenize_green *g, const double stress[6], double strain[6]) {
    for (int i = 0; i < g->components; i++) {
        strain[i] = 0;
        for (int j = 0; j < g->components; j++)
            strain[i] += g->zero[i * g->components + j] * (stress[j] - g->offset[j]);
    }
    if (g->displacements) homogenize_displacements_do_mean(g->displacements, g->components, strain);
}

/* The mean, at frequency 0; the forward transform is `scale` too large. */
static void mean_of_mean(const homogenize_green *g, double scale, mode *m) {
    double stress[6] = {0}, strain[6] = {0};
    for (int i = 0; i < g->components; i++) stress[i] = m->in[i][0] * scale;
    homogenize_green_mean(g, stress, strain);
    for (int i = 0; i < g->components; i++) m->out[i] = (weft_pair){strain[i], 0};
}

/* Wave vector 0 of a frequency that is not 0; true where there is a direction nevertheless. */
static bool choose_direction(const homogenize_green *g, const int64_t index[3], mode *m) {
    if (g->scheme != HOMOGENIZE_FOURIER) return false;
    for (int a = 0; a < 3; a++)
        if (2 * index[a] == g->n[a] && g->n[a] > 1) {
            m->w[a] = m->square = 1;
            return true;
        }
    return false;
}

static inline void find_wave(const homogenize_green *g, const int64_t index[3], mode *m) {
    for (int a = 0; a < 3; a++) m->w[a] = g->wave[a][index[a]];
    if (g->scheme == HOMOGENIZE_WILLOT) {
        const double c[3] = {g->cosine[0][index[0]], g->cosine[1][index[1]],
                             g->cosine[2][index[2]]};
        for (int a = 0; a < 3; a++) m->w[a] *= c[(a + 1) % 3] * c[(a + 2) % 3];
    }
    m->square = m->w[0] * m->w[0] + m->w[1] * m->w[1] + m->w[2] * m->w[2];
}

/* Where the staggered grid has its components: the phase of each that is not in the middle. */
static inline void find_phases(const homogenize_green *g, const int64_t index[3], bool elastic,
                               weft_pair phase[3]) {
    weft_pair half[3];
    for (int a = 0; a < 3; a++)
        half[a] = (weft_pair){g->phase[a][2 * index[a]], g->phase[a][2 * index[a] + 1]};
    for (int a = 0; a < 3; a++)
        phase[a] = elastic ? weft_pair_times(half[(a + 1) % 3], half[(a + 2) % 3]) : half[a];
}

/* Frequencies without a wave vector: the mean, those that have a direction nevertheless, and those
 * where nothing has a strain. True where there is a direction. */
static bool treat_apart(const homogenize_green *g, constants k, const int64_t index[3], mode *m) {
    if (index[0] == 0 && index[1] == 0 && index[2] == 0) {
        mean_of_mean(g, k.scale, m);
        return false;
    }
    if (choose_direction(g, index, m)) return true;
    memset(m->out, 0, sizeof m->out);
    return false;
}

__attribute__((always_inline)) static inline void
transform_mode(const homogenize_green *g, constants k, const int64_t index[3], bool elastic,
               homogenize_displacements *d, displacement_change change, bool single, mode *m) {
    const int first = elastic ? 3 : 0; /* of those that the staggered grid shifts */
    const bool staggered = g->scheme == HOMOGENIZE_STAGGERED;
    weft_pair phase[3];
    find_wave(g, index, m);
    if (m->square == 0 && !treat_apart(g, k, index, m)) return;
    if (staggered) find_phases(g, index, elastic, phase);
    for (int i = 0; staggered && i < 3; i++)
        m->in[first + i] = weft_pair_times(phase[i], m->in[first + i]);
    if (elastic)
        displacement_of_stress(k, m);
    else
        temperature_of_flux(k, m);
    if (d) homogenize_displacements_do(d, change, single, elastic ? 3 : 1, index, m->u);
    if (elastic)
        strain_of_displacement(m);
    else
        gradient_of_temperature(m);
    for (int i = 0; staggered && i < 3; i++)
        m->out[first + i] = weft_pair_times(weft_pair_conjugate(phase[i]), m->out[first + i]);
}

/* ---- one frequency of hexahedra ---- */

/* Stiffness, mass and derivative along each axis. */
typedef struct line_elements {
    double s[3], m[3], g[3];
} line_elements;

/* Displacement = K^-1 forces, by the cofactors of the symmetric K. */
static inline void displacement_of_forces(const homogenize_green *g, const line_elements *e,
                                          double scale, mode *m) {
    const double mu = g->reference.twice / 2, both = g->reference.trace + mu;
    double diagonal[3], beside[3]; /* K_aa; K_bc, of the two other axes */
    weft_pair u[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        diagonal[a] = (both + mu) * e->s[a] * e->m[b] * e->m[c] +
                      mu * e->m[a] * (e->s[b] * e->m[c] + e->m[b] * e->s[c]);
        beside[a] = both * e->g[b] * e->g[c] * e->m[a];
    }
    double cofactor[3], mixed[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        cofactor[a] = diagonal[b] * diagonal[c] - beside[a] * beside[a];
        mixed[a] = beside[b] * beside[c] - beside[a] * diagonal[a];
    }
    scale /= diagonal[0] * cofactor[0] + beside[1] * mixed[1] + beside[2] * mixed[2];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        u[a] = (cofactor[a] * m->in[a] + mixed[c] * m->in[b] + mixed[b] * m->in[c]) * scale;
    }
    memcpy(m->u, u, sizeof u);
}

static inline void temperature_of_sources(const homogenize_green *g, const line_elements *e,
                                          double scale, mode *m) {
    double k = 0;
    for (int a = 0; a < 3; a++) k += e->s[a] * e->m[(a + 1) % 3] * e->m[(a + 2) % 3];
    m->u[0] = m->in[0] * (scale / (g->reference.twice * k));
}

/* Displacements without a mean: that has no strain, and the mean of strains is treated apart. */
__attribute__((always_inline)) static inline void
transform_nodes(const homogenize_green *g, constants k, const int64_t index[3], bool elastic,
                homogenize_displacements *d, displacement_change change, bool single, mode *m) {
    line_elements e;
    memset(m->out, 0, sizeof m->out);
    if (index[0] == 0 && index[1] == 0 && index[2] == 0) return;
    for (int a = 0; a < 3; a++) {
        const double w = g->wave[a][index[a]], c = g->cosine[a][index[a]];
        e.s[a] = w * w;
        e.m[a] = (1 + 2 * c * c) / 3;
        e.g[a] = w * c;
    }
    if (elastic)
        displacement_of_forces(g, &e, k.scale, m);
    else
        temperature_of_sources(g, &e, k.scale, m);
    if (d) homogenize_displacements_do(d, change, single, elastic ? 3 : 1, index, m->u);
    memcpy(m->out, m->u, sizeof m->u);
}

/* ---- runs of frequencies ---- */

/* Fields that are transformed. */
static inline int fields_of(bool nodal, bool elastic) {
    return nodal ? (elastic ? 3 : 1) : (elastic ? 6 : 3);
}

/* For each precision, physics and place of fields compiled apart. */
__attribute__((always_inline)) static inline void apply_alike(const weft_fields_run *run,
                                                              const homogenize_green *g,
                                                              bool single, bool elastic,
                                                              bool nodal) {
    const constants k = constants_of(g);
    homogenize_displacements *d = g->displacements;
    const displacement_change change = d ? d->change : (displacement_change){.factor = 0};
    const int components = fields_of(nodal, elastic);
    int64_t index[3] = {run->index[0], run->index[1], run->index[2]};
    for (int64_t i = 0; i < run->count; i++) {
        mode m;
        index[run->axis] = run->index[run->axis] + i;
        for (int f = 0; f < components; f++)
            m.in[f] = weft_pair_at(run->in[f], single, i * run->in_stride);
        if (nodal)
            transform_nodes(g, k, index, elastic, d, change, single, &m);
        else
            transform_mode(g, k, index, elastic, d, change, single, &m);
        for (int f = 0; f < components; f++)
            weft_pair_set(run->out[f], single, i * run->out_stride, m.out[f]);
    }
}

__attribute__((always_inline)) static inline void apply_to(const weft_fields_run *run,
                                                           const homogenize_green *g, bool nodal) {
    const bool elastic = g->components == 6;
    if (run->precision == WEFT_SINGLE && elastic)
        apply_alike(run, g, true, true, nodal);
    else if (run->precision == WEFT_SINGLE)
        apply_alike(run, g, true, false, nodal);
    else if (elastic)
        apply_alike(run, g, false, true, nodal);
    else
        apply_alike(run, g, false, false, nodal);
}

static void apply_run(const weft_fields_run *run, void *argument) {
    const homogenize_green *g = argument;
    if (g->scheme == HOMOGENIZE_HEXAHEDRA)
        apply_to(run, g, true);
    else
        apply_to(run, g, false);
}

/* ---- tables and plan ---- */

static weft_status fill_axis(homogenize_green *g, int a, double length) {
    const int64_t n = g->n[a];
    g->wave[a] = calloc((size_t)n, sizeof(double));
    g->cosine[a] = calloc((size_t)n, sizeof(double));
    g->phase[a] = calloc((size_t)n, 2 * sizeof(double));
    if (!g->wave[a] || !g->cosine[a] || !g->phase[a])
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the frequencies of an axis");
    g->step[a] = (g->scheme == HOMOGENIZE_FOURIER ? 2 * pi : 2 * (double)n) / length;
    for (int64_t i = 0; i < n; i++) {
        const bool middle = 2 * i == n;
        const double j = (double)(2 * i > n ? i - n : i), half = pi * j / (double)n;
        g->wave[a][i] = g->step[a] * (middle ? 1 : sin(half));
        if (g->scheme == HOMOGENIZE_FOURIER) g->wave[a][i] = middle ? 0 : g->step[a] * j;
        g->cosine[a][i] = middle ? 0 : cos(half);
        g->phase[a][2 * i] = g->cosine[a][i];
        g->phase[a][2 * i + 1] = middle ? 1 : sin(half);
    }
    return WEFT_SUCCESS;
}

/* Transforms alone, by a device. */
static weft_status plan_apart(weft_context ctx, const homogenize_grid *grid, weft_problem problem,
                              weft_options how, homogenize_green *g) {
    const bool streams = homogenize_streams(&how);
    if (!streams) WEFT_TRY(homogenize_device_check(how.device));
    how.location = streams ? WEFT_LOCATION_HOST : WEFT_LOCATION_DEVICE;
    g->apart = true;
    g->threads = how.threads > 1 ? how.threads : 1;
    WEFT_TRY(weft_plan_create(ctx, &problem, &how, &g->plan));
    return weft_plan_box(g->plan, WEFT_OUTPUT, grid->rank, &g->frequencies);
}

/* Transforms with the operator between them, by the host. */
static weft_status plan_convolution(weft_context ctx, weft_problem problem, weft_options how,
                                    homogenize_green *g) {
    const weft_operator matrix = {.kind = WEFT_OPERATOR_MATRIX, .matrix = apply_run, .argument = g};
    problem.spectral = (weft_operators){&matrix, 1};
    how.convolve = 1;
    how.location = WEFT_LOCATION_HOST;
    return weft_plan_create(ctx, &problem, &how, &g->plan);
}

weft_status homogenize_green_create(weft_context ctx, const homogenize_grid *grid,
                                    const weft_options *options, homogenize_green *g) {
    memset(g, 0, sizeof *g);
    g->scheme = grid->scheme;
    g->components = grid->components;
    g->single = grid->precision == WEFT_SINGLE;
    weft_problem problem = {
        .rank = 3,
        .kind = WEFT_R2C,
        .precision = grid->precision,
        .fields = fields_of(grid->scheme == HOMOGENIZE_HEXAHEDRA, grid->components == 6)};
    weft_options how = *options;
    how.placement = WEFT_IN_PLACE;
    for (int a = 0; a < 3; a++) {
        g->n[a] = problem.n[a] = grid->n[a];
        WEFT_TRY(fill_axis(g, a, grid->length[a]));
    }
    return how.device == WEFT_HOST ? plan_convolution(ctx, problem, how, g)
                                   : plan_apart(ctx, grid, problem, how, g);
}

void homogenize_green_release(homogenize_green *g) {
    weft_plan_destroy(&g->plan);
    for (int a = 0; a < 3; a++) {
        free(g->wave[a]);
        free(g->cosine[a]);
        free(g->phase[a]);
    }
    memset(g, 0, sizeof *g);
}

void homogenize_green_set(homogenize_green *g, const homogenize_reference *reference,
                          const bool stress[6]) {
    const int n = g->components;
    double medium[36], part[36], inverse[36];
    int free_at[6], count = 0;
    g->reference = *reference;
    memset(g->zero, 0, sizeof g->zero);
    memset(g->offset, 0, sizeof g->offset);
    homogenize_reference_matrix(reference, n, medium);
    for (int i = 0; i < n; i++)
        if (stress[i]) free_at[count++] = i;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) part[i * count + j] = medium[free_at[i] * n + free_at[j]];
    if (!matrix_invert(count, part, inverse)) return; /* a reference medium is positive definite */
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            g->zero[free_at[i] * n + free_at[j]] = inverse[i * count + j];
}

/* The operator at all frequencies of this rank, whose fields lie one after the other in row-major
 * order. */
static void apply_between(homogenize_green *g, void *spectrum) {
    const weft_box *box = &g->frequencies;
    const int64_t rows = box->n[0] * box->n[1], elements = rows * box->n[2];
    const weft_precision precision = g->single ? WEFT_SINGLE : WEFT_DOUBLE;
    const int64_t pair = 2 * (g->single ? (int64_t)sizeof(float) : (int64_t)sizeof(double));
#pragma omp parallel for schedule(static) num_threads(g->threads)
    for (int64_t row = 0; row < rows; row++) {
        void *field[6];
        for (int f = 0; f < g->components; f++)
            field[f] = (char *)spectrum + (f * elements + row * box->n[2]) * pair;
        const weft_fields_run run = {
            .in = (const void *const *)field,
            .out = field,
            .count = box->n[2],
            .in_stride = 1,
            .out_stride = 1,
            .in_fields = g->components,
            .out_fields = g->components,
            .axis = 2,
            .index = {box->lo[0] + row / box->n[1], box->lo[1] + row % box->n[1], box->lo[2]},
            .precision = precision,
            .complex_elements = 1};
        apply_run(&run, g);
    }
}

static weft_status apply_apart(homogenize_green *g, void *field) {
    WEFT_TRY(weft_execute(g->plan, WEFT_FORWARD, field, field));
    if (g->device)
        homogenize_device_apply(g->device, g, field);
    else
        apply_between(g, field);
    return weft_execute(g->plan, WEFT_INVERSE, field, field);
}

weft_status homogenize_green_apply(homogenize_green *g, void *field) {
    const double start = weft_clock();
    const weft_status status = g->samples ? homogenize_green_apply_samples(g, field)
                               : g->apart ? apply_apart(g, field)
                                          : weft_execute(g->plan, WEFT_CONVOLVE, field, field);
    g->seconds += weft_clock() - start;
    return status;
}
