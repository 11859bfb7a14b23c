/* Kernels along rows: see row_kernel.h. */
#include "sampled/row_kernel.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

/* Axes that the problem does not have are of one point, of wavenumber 0. */
weft_status weft_row_kernel_create(const weft_convolved *c, const int64_t *period,
                                   weft_row_kernel *k) {
    const int first = WEFT_TREE_AXES - c->problem.rank;
    *k = (weft_row_kernel){.convolved = c};
    memcpy(k->period, period, sizeof k->period);
    if (!weft_convolved_is_radial(c)) return WEFT_SUCCESS;
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        k->square[a] = calloc((size_t)period[a], sizeof *k->square[a]);
        if (!k->square[a])
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's wavenumbers");
        for (int64_t i = 0; a >= first && i < period[a]; i++) {
            const double wave = weft_convolved_wavenumber(&c->axis[a - first], i);
            k->square[a][i] = wave * wave;
        }
    }
    return WEFT_SUCCESS;
}

void weft_row_kernel_release(weft_row_kernel *k) {
    for (int a = 0; a < WEFT_TREE_AXES; a++) free(k->square[a]);
}

size_t weft_row_kernel_bytes(const weft_row_kernel *k) {
    size_t bytes = 0;
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        if (k->square[a]) bytes += (size_t)k->period[a] * sizeof *k->square[a];
    return bytes;
}

static void make_fields(const weft_convolved *c, const int64_t *index, int64_t n, double (*row)[2],
                        int64_t apart) {
    const int fields = weft_convolved_fields(c, false), made = weft_convolved_fields(c, true);
    void *field[WEFT_TREE_PARTS];
    weft_fields_run run = {.in = (const void *const *)field,
                           .out = field,
                           .count = n,
                           .in_stride = 1,
                           .out_stride = 1,
                           .in_fields = fields,
                           .out_fields = made,
                           .axis = c->problem.rank - 1,
                           .precision = WEFT_DOUBLE,
                           .complex_elements = 1};
    for (int f = 0; f < fields || f < made; f++) field[f] = row + f * apart;
    memcpy(run.index, index, (size_t)c->problem.rank * sizeof *index);
    weft_convolved_apply_fields(&run, (void *)(uintptr_t)c);
}

static void multiply_by_function(const weft_convolved *c, int64_t *index, int64_t n,
                                 double (*row)[2]) {
    int64_t *along = &index[c->problem.rank - 1];
    for (int64_t z = 0; z < n; z++) {
        const double re = row[z][0], im = row[z][1];
        double k[2];
        *along = z;
        weft_convolved_symbol_of(c, index, k);
        row[z][0] = re * k[0] - im * k[1];
        row[z][1] = re * k[1] + im * k[0];
    }
}

void weft_row_kernel_apply(const weft_row_kernel *k, int64_t kx, int64_t ky, double (*row)[2],
                           int64_t apart, double *factors) {
    const weft_convolved *c = k->convolved;
    const int64_t n = k->period[Z];
    int64_t index[WEFT_MAX_RANK + 2] = {kx, ky, 0};
    int64_t *of_problem = index + WEFT_TREE_AXES - c->problem.rank;
    if (weft_convolved_makes_fields(c)) {
        make_fields(c, of_problem, n, row, apart);
    } else if (k->square[Z]) {
        weft_convolved_radial_row(c, k->square[X][kx] + k->square[Y][ky], k->square[Z], n, factors);
        for (int64_t z = 0; z < n; z++) {
            row[z][0] *= factors[z];
            row[z][1] *= factors[z];
        }
    } else {
        multiply_by_function(c, of_problem, n, row);
    }
}
