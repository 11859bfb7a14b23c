/* Small transforms along three axes by matrices: for the few wavenumbers that planning looks at. */
#include "multilevel/splitting.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z };

/* The sum over the middle axis: out[o][r][i] = the sum over c of matrix[r][c] in[o][c][i]. */
static void contract(const double *matrix, int64_t rows, int64_t columns, int64_t outer,
                     int64_t inner, const double *in, double *out) {
    for (int64_t o = 0; o < outer; o++)
        for (int64_t r = 0; r < rows; r++) {
            double *to = out + (o * rows + r) * inner;
            for (int64_t i = 0; i < inner; i++) to[i] = 0;
            for (int64_t c = 0; c < columns; c++) {
                const double factor = matrix[r * columns + c];
                const double *from = in + (o * columns + c) * inner;
                for (int64_t i = 0; i < inner; i++) to[i] += factor * from[i];
            }
        }
}

weft_status weft_tensor_apply(const double *const matrix[WEFT_LATTICE_AXES],
                              const int64_t rows[WEFT_LATTICE_AXES],
                              const int64_t columns[WEFT_LATTICE_AXES], const double *in,
                              double *out) {
    double *first = malloc((size_t)(columns[X] * columns[Y] * rows[Z]) * sizeof *first);
    double *second = malloc((size_t)(columns[X] * rows[Y] * rows[Z]) * sizeof *second);
    const bool failed = !first || !second;
    if (!failed) {
        contract(matrix[Z], rows[Z], columns[Z], columns[X] * columns[Y], 1, in, first);
        contract(matrix[Y], rows[Y], columns[Y], columns[X], rows[Z], first, second);
        contract(matrix[X], rows[X], columns[X], 1, rows[Y] * rows[Z], second, out);
    }
    free(first);
    free(second);
    return failed ? weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol")
                  : WEFT_SUCCESS;
}

weft_status weft_tensor_waves(const weft_angles *angles, const int64_t count[WEFT_LATTICE_AXES],
                              const bool half[WEFT_LATTICE_AXES], bool transposed, const double *in,
                              double *out) {
    double *matrix[WEFT_LATTICE_AXES] = {NULL};
    weft_status status = WEFT_SUCCESS;
    for (int a = 0; a < WEFT_LATTICE_AXES && status == WEFT_SUCCESS; a++) {
        const int64_t at = angles->count[a], terms = count[a];
        matrix[a] = malloc((size_t)(at * terms) * sizeof *matrix[a]);
        if (!matrix[a])
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
        for (int64_t i = 0; i < at && matrix[a]; i++)
            for (int64_t m = 0; m < terms; m++)
                matrix[a][transposed ? m * at + i : i * terms + m] =
                    half[a] ? sin(((double)m + 0.5) * angles->angle[a][i])
                            : cos((double)m * angles->angle[a][i]);
    }
    if (status == WEFT_SUCCESS)
        status =
            weft_tensor_apply((const double *const *)matrix, transposed ? count : angles->count,
                              transposed ? angles->count : count, in, out);
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) free(matrix[a]);
    return status;
}
