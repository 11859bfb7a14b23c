/* Symbols of the levels of a split kernel: see splitting.h. */
#include "multilevel/splitting.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

int weft_splitting_most_levels(const weft_convolved *c) {
    int levels = WEFT_LATTICE_LEVELS - 1;
    bool active = false;
    for (int a = 0; a < c->problem.rank; a++) {
        int64_t n = c->problem.n[a];
        int halves = 0;
        if (n == 1) continue;
        for (active = true; n % 2 == 0; n /= 2) halves++;
        if (halves < levels) levels = halves;
    }
    return active ? levels : 0;
}

/* cos(k / 2)^degree: the weights of a B-spline at the points of the finer lattice, for each
 * B-spline is the sum of those on a lattice twice as fine. */
static void set_weights(double *weight, int degree) {
    double binomial = ldexp(1, -degree);
    for (int i = 0; i <= degree; i++) {
        weight[i] = binomial;
        binomial *= (double)(degree - i) / (double)(i + 1);
    }
}

void weft_splitting_set_span(weft_splitting *s, int span) {
    memset(s->weight, 0, sizeof s->weight);
    s->span = span;
    set_weights(s->weight[0], 2 * span);
    set_weights(s->weight[1], 2 * span - 1);
}

double weft_spline_symbol(const weft_splitting *s, bool half, double angle) {
    const double once = cos(angle / 2);
    double power = half ? once : once * once;
    for (int i = 1; i < s->span; i++) power *= once * once;
    return power;
}

/* ---- fields ---- */

bool weft_splitting_pair(const weft_splitting *s, int number, weft_field_pair *pair) {
    int i = number, to = 0;
    while (to < s->fields && i >= s->fields - to) i -= s->fields - to++;
    if (to >= s->fields) return false;
    *pair = (weft_field_pair){.number = number, .to = to, .from = to + i};
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        pair->half[a] = s->half[pair->to][a] != s->half[pair->from][a];
    return true;
}

int64_t weft_splitting_terms(const weft_splitting *s, const weft_field_pair *pair,
                             int64_t terms[WEFT_LATTICE_AXES]) {
    int64_t most = 1;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        terms[a] = s->active[a] ? s->radius + (pair->half[a] ? 0 : 1) : 1;
        most *= s->active[a] ? s->radius + 1 : 1;
    }
    return most * pair->number;
}

/* The axes of a tensor's component: those of the diagonal first, then yz, xz, xy. */
static void axes_of(const weft_splitting *s, int field, int axes[2]) {
    static const int off[3][2] = {{Y, Z}, {X, Z}, {X, Y}};
    const int rank = s->convolved->problem.rank, first = WEFT_LATTICE_AXES - rank;
    const bool diagonal = field < rank;
    axes[0] = diagonal ? first + field : rank == 2 ? Y : off[field - rank][0];
    axes[1] = diagonal ? first + field : rank == 2 ? Z : off[field - rank][1];
}

void weft_splitting_set_fields(weft_splitting *s) {
    s->fields = weft_convolved_fields(s->convolved, true);
    for (int f = 0; f < s->fields; f++) {
        int axes[2];
        s->twice[f] = 1;
        if (s->fields == 1) continue;
        axes_of(s, f, axes);
        if (axes[0] == axes[1]) continue;
        s->twice[f] = 2;
        for (int i = 0; i < 2; i++) s->half[f][axes[i]] = s->active[axes[i]];
    }
}

weft_status weft_splitting_near(const weft_splitting *s, const weft_field_pair *pair, int level,
                                const weft_angles *angles, double *value) {
    int64_t terms[WEFT_LATTICE_AXES];
    const int64_t before = weft_splitting_terms(s, pair, terms);
    return weft_tensor_waves(angles, terms, pair->half, false, s->near[level] + before, value);
}

/* ---- symbols of levels ---- */

/* A wavenumber at an angle of the grid. */
static double wave_of(const weft_splitting *s, int axis, double angle) {
    const int first = WEFT_LATTICE_AXES - s->convolved->problem.rank;
    if (axis < first) return 0;
    const weft_convolved_axis *a = &s->convolved->axis[axis - first];
    return (a->staggered ? 2 * sin(angle / 2) : angle) / a->spacing;
}

static double square_of(const weft_splitting *s, int axis, double angle) {
    const double wave = wave_of(s, axis, angle);
    return wave * wave;
}

/* Green's operator of elasticity from stress cd to strain ab, as fields.c has it: (delta_ac k_b k_d
 * + ... + delta_bd k_a k_c) / 4 - share k_a k_b k_c k_d, over mu |k|^2. */
static double elastic(const weft_splitting *s, const int to[2], const int from[2],
                      const double *k) {
    const double *lame = s->convolved->problem.kernel.lame;
    const double square = k[X] * k[X] + k[Y] * k[Y] + k[Z] * k[Z];
    double sum = 0;
    if (!(square > 0)) return 0;
    for (int i = 0; i < 4; i++)
        if (to[i % 2] == from[i / 2]) sum += k[to[1 - i % 2]] * k[from[1 - i / 2]] / 4;
    const double share = (lame[0] + lame[1]) / (lame[0] + 2 * lame[1]) / square;
    return (sum - share * k[to[0]] * k[to[1]] * k[from[0]] * k[from[1]]) / (lame[1] * square);
}

static void start_elastic(const weft_splitting *s, const weft_field_pair *pair,
                          const weft_angles *angles, double *value) {
    const int64_t *n = angles->count;
    int to[2], from[2];
    axes_of(s, pair->to, to);
    axes_of(s, pair->from, from);
    for (int64_t x = 0; x < n[X]; x++)
        for (int64_t y = 0; y < n[Y]; y++)
            for (int64_t z = 0; z < n[Z]; z++) {
                const double k[WEFT_LATTICE_AXES] = {wave_of(s, X, angles->angle[X][x]),
                                                     wave_of(s, Y, angles->angle[Y][y]),
                                                     wave_of(s, Z, angles->angle[Z][z])};
                *value++ = elastic(s, to, from, k);
            }
}

/* The symbol of the kernel itself. angle[a] are those of the grid. */
static weft_status start(const weft_splitting *s, const weft_field_pair *pair,
                         const weft_angles *angles, double *value) {
    const int64_t *n = angles->count;
    if (s->fields > 1) {
        start_elastic(s, pair, angles, value);
        return WEFT_SUCCESS;
    }
    double *square = malloc((size_t)n[Z] * sizeof *square);
    if (!square) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
    for (int64_t z = 0; z < n[Z]; z++) square[z] = square_of(s, Z, angles->angle[Z][z]);
    for (int64_t x = 0; x < n[X]; x++)
        for (int64_t y = 0; y < n[Y]; y++) {
            double *row = value + (x * n[Y] + y) * n[Z];
            weft_convolved_radial_row(s->convolved,
                                      square_of(s, X, angles->angle[X][x]) +
                                          square_of(s, Y, angles->angle[Y][y]),
                                      square, n[Z], row);
            for (int64_t z = 0; z < n[Z]; z++) row[z] *= s->convolved->points;
        }
    free(square);
    return WEFT_SUCCESS;
}

/* From one level to the next: what the short part leaves, over the B-splines of both fields.
 * `short_part` is room. */
static weft_status descend(const weft_splitting *s, const weft_field_pair *pair, int level,
                           const weft_angles *angles, double *short_part, double *value) {
    const int64_t *n = angles->count;
    double *over[WEFT_LATTICE_AXES] = {NULL};
    weft_status status = weft_splitting_near(s, pair, level, angles, short_part);
    for (int a = 0; a < WEFT_LATTICE_AXES && status == WEFT_SUCCESS; a++) {
        over[a] = malloc((size_t)n[a] * sizeof *over[a]);
        if (!over[a])
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
        for (int64_t i = 0; i < n[a] && over[a]; i++) {
            const double angle = s->active[a] ? angles->angle[a][i] : 0;
            over[a][i] = 1 / (weft_spline_symbol(s, s->half[pair->to][a], angle) *
                              weft_spline_symbol(s, s->half[pair->from][a], angle));
        }
    }
    for (int64_t x = 0; x < n[X] && status == WEFT_SUCCESS; x++)
        for (int64_t y = 0; y < n[Y]; y++)
            for (int64_t z = 0; z < n[Z]; z++) {
                const int64_t i = (x * n[Y] + y) * n[Z] + z;
                value[i] = (value[i] - short_part[i]) * over[X][x] * over[Y][y] * over[Z][z];
            }
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) free(over[a]);
    return status;
}

weft_status weft_splitting_symbol(const weft_splitting *s, const weft_field_pair *pair, int level,
                                  const weft_angles *angles, double *value) {
    const int64_t *n = angles->count;
    double *angle = malloc((size_t)(n[X] + n[Y] + n[Z]) * sizeof *angle);
    double *short_part = malloc((size_t)(n[X] * n[Y] * n[Z]) * sizeof *short_part);
    weft_angles finer = {.angle = {angle, angle + n[X], angle + n[X] + n[Y]},
                         .count = {n[X], n[Y], n[Z]}};
    weft_status status = WEFT_SUCCESS;
    if (!angle || !short_part)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
    for (int l = 0; l <= level && status == WEFT_SUCCESS; l++) {
        double *to = angle;
        for (int a = 0; a < WEFT_LATTICE_AXES; a++)
            for (int64_t i = 0; i < n[a]; i++) *to++ = ldexp(angles->angle[a][i], l - level);
        if (l == 0) status = start(s, pair, &finer, value);
        /* The kernel's symbol is taken at the grid's angles, the parts' at those of their level. */
        if (l < level && status == WEFT_SUCCESS)
            status = descend(s, pair, l, &finer, short_part, value);
    }
    free(angle);
    free(short_part);
    return status;
}

void weft_splitting_release(weft_splitting *s) {
    for (int l = 0; l < WEFT_LATTICE_LEVELS; l++) free(s->near[l]);
    memset(s->near, 0, sizeof s->near);
}

size_t weft_splitting_bytes(const weft_splitting *s) {
    size_t bytes = sizeof(double);
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        if (s->active[a]) bytes *= (size_t)s->radius + 1;
    return bytes * (size_t)(s->levels * s->fields * (s->fields + 1) / 2);
}
