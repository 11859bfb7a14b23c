/* Elements row by row: from nodes to modes, from modes to stresses, and back to nodal forces. */
#include "hexahedra.h"

#include "slices.h"
#include "support/error.h"
#include "voxel_law.h"

#include <stdlib.h>
#include <string.h>

/* Modes are numbered by their coordinates: bit a is set where coordinate a is a factor. */
enum { MODES = 8, LAST = MODES - 1 };

static const int shear[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}}; /* Mandel's component of a, b */
static const double half_root = 0.70710678118654752440;

/* Elements of a row that are computed at once. */
typedef struct element_run {
    int64_t x, y, z; /* the first one, in this rank's box; -1: that of a neighbour below it */
    int count;
    voxel_run voxels; /* phases */
} element_run;

/* Coefficients of each mode and component, of displacements or of forces. */
typedef double modes[MODES][3][BLOCK];

/* ---- runs ---- */

/* Rows with the elements below the box, and runs of such a row. */
static int64_t runs_of_row(const homogenize_volume *v) {
    return (v->box.n[2] + 1 + BLOCK - 1) / BLOCK;
}

static element_run run_of_elements(const homogenize_volume *v, int64_t x, int64_t y,
                                   int64_t number) {
    const int64_t *n = v->box.n, elements = n[2] + 1, runs = runs_of_row(v);
    const int64_t begin = elements * number / runs, end = elements * (number + 1) / runs;
    const uint16_t *phase = v->phase + ((x + 1) * (n[1] + 1) + y + 1) * elements + begin;
    return (element_run){.x = x,
                         .y = y,
                         .z = begin - 1,
                         .count = (int)(end - begin),
                         .voxels = {.count = (int)(end - begin), .phase = phase}};
}

/* ---- nodes and modes ---- */

/* The row of nodes of component c that begins at (x, y) across from the run: where it lies, or in
 * double precision in `room`. */
static const double *row_of_nodes(const homogenize_nodes *nodes, const element_run *run, int c,
                                  int x, int y, double room[BLOCK + 1]) {
    const int64_t *wide = nodes->wide;
    const int64_t first =
        ((c * wide[0] + run->x + 1 + x) * wide[1] + run->y + 1 + y) * wide[2] + run->z + 1;
    if (!nodes->single) return (const double *)nodes->value + first;
    for (int k = 0; k <= run->count; k++)
        room[k] = (double)((const float *)nodes->value)[first + k];
    return room;
}

/* Of component c: the sums and differences of the four nodes across the row, then along it. */
static void find_modes(const homogenize_nodes *nodes, const element_run *run, int c, modes u) {
    double room[4][BLOCK + 1], across[4][BLOCK + 1];
    const double *a = row_of_nodes(nodes, run, c, 0, 0, room[0]);
    const double *b = row_of_nodes(nodes, run, c, 1, 0, room[1]);
    const double *d = row_of_nodes(nodes, run, c, 0, 1, room[2]);
    const double *e = row_of_nodes(nodes, run, c, 1, 1, room[3]);
    for (int k = 0; k <= run->count; k++) {
        across[0][k] = 0.125 * ((a[k] + b[k]) + (d[k] + e[k]));
        across[1][k] = 0.125 * ((b[k] - a[k]) + (e[k] - d[k]));
        across[2][k] = 0.125 * ((d[k] - a[k]) + (e[k] - b[k]));
        across[3][k] = 0.125 * ((a[k] - b[k]) + (e[k] - d[k]));
    }
    for (int m = 0; m < 4; m++)
        for (int k = 0; k < run->count; k++) {
            u[m][c][k] = across[m][k] + across[m][k + 1];
            u[m | 4][c][k] = across[m][k + 1] - across[m][k];
        }
}

static void add_row(const homogenize_nodes *nodes, const element_run *run, int c, int64_t x,
                    int64_t y, const double *row, void *forces) {
    const int64_t *n = nodes->box.n;
    if (x < 0 || y < 0 || x == n[0] || y == n[1]) return; /* of a neighbour */
    const int64_t first = ((c * n[0] + x) * n[1] + y) * n[2] + run->z;
    const int begin = run->z < 0 ? 1 : 0;
    const int end = run->z + run->count == n[2] ? run->count : run->count + 1;
    if (nodes->single)
        for (int k = begin; k < end; k++) ((float *)forces)[first + k] += (float)row[k];
    else
        for (int k = begin; k < end; k++) ((double *)forces)[first + k] += row[k];
}

/* The transpose: from forces on modes to those on nodes. */
static void add_forces(const homogenize_nodes *nodes, const element_run *run, int c, modes f,
                       void *forces) {
    double across[4][BLOCK + 1], lower[BLOCK + 1], upper[BLOCK + 1];
    for (int m = 0; m < 4; m++) {
        const double *even = f[m][c], *odd = f[m | 4][c];
        across[m][run->count] = 0;
        for (int k = 0; k < run->count; k++) across[m][k] = 0.125 * (even[k] - odd[k]);
        for (int k = 0; k < run->count; k++) across[m][k + 1] += 0.125 * (even[k] + odd[k]);
    }
    for (int y = 0; y < 2; y++) {
        const double sign = y == 0 ? -1 : 1;
        for (int k = 0; k <= run->count; k++) {
            const double even = across[0][k] + sign * across[2][k];
            const double odd = across[1][k] + sign * across[3][k];
            lower[k] = even - odd;
            upper[k] = even + odd;
        }
        add_row(nodes, run, c, run->x, run->y + y, lower, forces);
        add_row(nodes, run, c, run->x + 1, run->y + y, upper, forces);
    }
}

/* ---- means ---- */

static double factor(const homogenize_hexahedra *h, bool elastic, int a, int c) {
    return h->over[a] * (a == c || !elastic ? 1 : half_root);
}

/* The mean strain, or gradient. */
static void find_strain(const homogenize_hexahedra *h, int count, bool elastic, modes u,
                        block strain) {
    for (int i = 0; i < (elastic ? 6 : 3); i++)
        for (int k = 0; k < count; k++) strain[i][k] = h->strain[i];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < (elastic ? 3 : 1); c++) {
            const double over = factor(h, elastic, a, c), *from = u[1 << a][c];
            double *to = strain[elastic ? shear[a][c] : a];
            for (int k = 0; k < count; k++) to[k] += over * from[k];
        }
}

/* The forces of the mean stress. */
static void spread_stress(const homogenize_hexahedra *h, int count, bool elastic, block stress,
                          modes f) {
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < (elastic ? 3 : 1); c++) {
            const double over = factor(h, elastic, a, c);
            const double *from = stress[elastic ? shear[a][c] : a];
            double *to = f[1 << a][c];
            for (int k = 0; k < count; k++) to[k] = over * from[k];
        }
}

/* ---- hourglasses ---- */

/* The modes that are products of two coordinates. */
static const int pairs[3] = {3, 5, 6};

static int64_t matrices_size(int d) {
    return 9 * d * d + d * d;
}

/* What multiplies derivatives along a of component c and along b of e. */
static double stiffness_of(const homogenize_hexahedra *h, const double *law, bool elastic, int a,
                           int c, int b, int e) {
    const double part = elastic ? law[6 * shear[a][c] + shear[b][e]] : law[3 * a + b];
    return factor(h, elastic, a, c) * factor(h, elastic, b, e) * part;
}

/* Of two such modes, coordinate p times a and p times b: their strains have the mode p. */
static void fill_pairs(const homogenize_hexahedra *h, const double *law, bool elastic, int i, int j,
                       double *matrix) {
    const int d = elastic ? 3 : 1;
    for (int p = 0; p < 3; p++) {
        const int rest[2] = {pairs[i] & ~(1 << p), pairs[j] & ~(1 << p)};
        if (rest[0] == pairs[i] || rest[1] == pairs[j]) continue;
        const int a = rest[0] >> 1, b = rest[1] >> 1; /* bits 1, 2, 4 of axes 0, 1, 2 */
        for (int c = 0; c < d; c++)
            for (int e = 0; e < d; e++)
                matrix[(d * i + c) * 3 * d + d * j + e] +=
                    stiffness_of(h, law, elastic, a, c, b, e) / 3;
    }
}

static void fill_matrices(const homogenize_hexahedra *h, const double *law, bool elastic,
                          double *matrices) {
    const int d = elastic ? 3 : 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) fill_pairs(h, law, elastic, i, j, matrices);
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < d; c++)
            for (int e = 0; e < d; e++)
                matrices[9 * d * d + c * d + e] += stiffness_of(h, law, elastic, a, c, a, e) / 9;
}

/* Row i of a matrix times modes of elements from `begin` to `end`, all of one phase. Of isotropic
 * phases most entries are 0. */
static inline void multiply_row(const double *row, int entries, double *const *x, int begin,
                                int end, double *y) {
    for (int k = begin; k < end; k++) y[k] = 0;
    for (int j = 0; j < entries; j++) {
        const double value = row[j], *from = x[j];
        if (value == 0) continue;
        for (int k = begin; k < end; k++) y[k] += value * from[k];
    }
}

/* The hourglasses of modes of elements, all of one phase or of the reference medium, one array for
 * each mode and component. */
static void multiply_hourglasses(const double *matrices, int d, double *const *x, int begin,
                                 int end, double *const *y) {
    for (int i = 0; i < 3 * d; i++) multiply_row(matrices + i * 3 * d, 3 * d, x, begin, end, y[i]);
    for (int i = 0; i < d; i++)
        multiply_row(matrices + 9 * d * d + i * d, d, x + 3 * d, begin, end, y[3 * d + i]);
}

static void list_modes(modes u, int d, double **list) {
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < d; c++) list[d * i + c] = u[pairs[i]][c];
    for (int c = 0; c < d; c++) list[3 * d + c] = u[LAST][c];
}

/* Of elements of any phases, those of one phase at a time. */
static void find_hourglasses(const homogenize_hexahedra *h, const element_run *run, int d,
                             double *const *x, double *const *f) {
    const uint16_t *phase = run->voxels.phase;
    for (int begin = 0, end; begin < run->count; begin = end) {
        for (end = begin + 1; end < run->count && phase[end] == phase[begin];) end++;
        multiply_hourglasses(h->hourglass + phase[begin] * matrices_size(d), d, x, begin, end, f);
    }
}

/* The sum of x y over modes, but for the first `below` elements. */
static double product_of_modes(int count, int below, int entries, double *const *x,
                               double *const *y) {
    double density[BLOCK] = {0};
    for (int i = 0; i < entries; i++)
        for (int k = 0; k < count; k++) density[k] += x[i][k] * y[i][k];
    for (int k = 0; k < below; k++) density[k] = 0;
    return sum_of(count, density);
}

/* ---- a run ---- */

/* Elements below this rank's box do not count. */
static void add_sums(const homogenize_space *space, const homogenize_hexahedra *h,
                     const element_run *run, int d, double *const *x, double *const *f,
                     block strain, block stress, double part[HEXAHEDRA_SUMS]) {
    const homogenize_medium *m = space->medium;
    const int count = run->count, below = run->z < 0 ? 1 : 0;
    modes y;
    double *reference[12];
    if (run->x < 0 || run->y < 0) return;
    list_modes(y, d, reference);
    multiply_hourglasses(h->hourglass + m->phases * matrices_size(d), d, x, 0, count, reference);
    for (int i = 0; i < m->components && below > 0; i++) strain[i][0] = stress[i][0] = 0;
    for (int i = 0; i < m->components; i++) part[i] += sum_of(count, stress[i]);
    part[6] += energy_product(m, count, strain, strain) +
               product_of_modes(count, below, 4 * d, x, reference);
    part[7] +=
        inner_product(m, count, strain, stress) + product_of_modes(count, below, 4 * d, x, f);
    part[8] += stress_size(m, count, stress);
}

__attribute__((always_inline)) static inline void
compute_run(const homogenize_space *space, const homogenize_hexahedra *h, const element_run *run,
            bool elastic, void *forces, double part[HEXAHEDRA_SUMS]) {
    const int d = elastic ? 3 : 1;
    double *x[12], *y[12];
    modes u, f;
    block strain, stress;
    list_modes(u, d, x);
    list_modes(f, d, y);
    for (int c = 0; c < d; c++) {
        find_modes(&h->nodes, run, c, u);
        memset(f[0][c], 0, (size_t)run->count * sizeof(double));
    }
    find_strain(h, run->count, elastic, u, strain);
    apply_law(space->medium, &run->voxels, strain, stress);
    spread_stress(h, run->count, elastic, stress, f);
    find_hourglasses(h, run, d, x, y);
    for (int c = 0; c < d; c++) add_forces(&h->nodes, run, c, f, forces);
    add_sums(space, h, run, d, x, y, strain, stress, part);
}

/* ---- all elements ---- */

weft_status homogenize_hexahedra_create(MPI_Comm comm, weft_plan plan,
                                        const homogenize_space *space, const double length[3],
                                        homogenize_hexahedra *h) {
    const homogenize_medium *m = space->medium;
    const homogenize_volume *v = space->volume;
    const bool elastic = m->components == 6;
    const int d = elastic ? 3 : 1;
    double reference[36];
    *h = (homogenize_hexahedra){.strain = {0}};
    for (int a = 0; a < 3; a++) h->over[a] = 2 * (double)v->n[a] / length[a];
    WEFT_TRY(
        homogenize_nodes_create(comm, plan, v->n, d, space->precision == WEFT_SINGLE, &h->nodes));
    h->hourglass = calloc((size_t)(m->phases + 1), (size_t)matrices_size(d) * sizeof(double));
    if (!h->hourglass)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the elements of %d phases",
                         m->phases);
    homogenize_reference_matrix(&m->reference, m->components, reference);
    for (int p = 0; p <= m->phases; p++)
        fill_matrices(h, p < m->phases ? m->law + p * m->components * m->components : reference,
                      elastic, h->hourglass + p * matrices_size(d));
    return WEFT_SUCCESS;
}

void homogenize_hexahedra_release(homogenize_hexahedra *h) {
    free(h->hourglass);
    homogenize_nodes_release(&h->nodes);
    memset(h, 0, sizeof *h);
}

static void compute_plane(const homogenize_space *space, const homogenize_hexahedra *h, int64_t x,
                          void *forces, double part[HEXAHEDRA_SUMS]) {
    const homogenize_volume *v = space->volume;
    const int64_t runs = runs_of_row(v);
    for (int64_t i = 0; i < (v->box.n[1] + 1) * runs; i++) {
        const element_run run = run_of_elements(v, x, i / runs - 1, i % runs);
        if (space->medium->components == 6)
            compute_run(space, h, &run, true, forces, part);
        else
            compute_run(space, h, &run, false, forces, part);
    }
}

/* Elements of two planes have no node in common where these are two apart: threads share first
 * every second plane, then the others. */
void homogenize_hexahedra_forces(const homogenize_space *space, const homogenize_hexahedra *h,
                                 void *forces, hexahedra_sums *sums) {
    const int64_t planes = space->volume->box.n[0];
    const size_t number = h->nodes.single ? sizeof(float) : sizeof(double);
    double all[HEXAHEDRA_SUMS] = {0};
    memset(forces, 0, (size_t)(h->nodes.components * space->voxels) * number);
    for (int64_t first = -1; first < 1 && space->voxels > 0; first++)
        ADD_UP(space, (planes - first + 1) / 2, HEXAHEDRA_SUMS, all, plane,
               compute_plane(space, h, first + 2 * plane, forces, part));
    memcpy(sums, all, sizeof all);
}

/* ---- mean strains ---- */

void homogenize_hexahedra_strain(const homogenize_space *space, const homogenize_hexahedra *h,
                                 void *field) {
    const homogenize_volume *v = space->volume;
    const int64_t *n = v->box.n, runs = runs_of_row(v);
    const bool elastic = space->medium->components == 6;
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int64_t item = 0; item < n[0] * n[1] * runs; item++) {
        const int64_t row = item / runs;
        const element_run run = run_of_elements(v, row / n[1], row % n[1], item % runs);
        modes u;
        block strain;
        for (int c = 0; c < h->nodes.components; c++) find_modes(&h->nodes, &run, c, u);
        find_strain(h, run.count, elastic, u, strain);
        for (int i = 0; i < space->medium->components; i++)
            for (int k = run.z < 0 ? 1 : 0; k < run.count; k++) {
                const int64_t at = i * space->voxels + row * n[2] + run.z + k;
                if (h->nodes.single)
                    ((float *)field)[at] = (float)strain[i][k];
                else
                    ((double *)field)[at] = strain[i][k];
            }
    }
}
