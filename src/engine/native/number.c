/* Makes tables of complex numbers. */
#include "engine/native/number.h"

#include "engine/roots.h"

#include <stdlib.h>

void *weft_numbers_create(const weft_kernels *kernels, const double *re, const double *im,
                          int64_t n, size_t *bytes) {
    size_t size = (size_t)(n * weft_complex_bytes(kernels));
    void *numbers = malloc(size);
    if (!numbers) return NULL;
    *bytes += size;
    for (int64_t j = 0; j < n; j++) {
        weft_number_set(kernels, numbers, 2 * j, re[j]);
        weft_number_set(kernels, numbers, 2 * j + 1, im[j]);
    }
    return numbers;
}

void *weft_numbers_roots(const weft_kernels *kernels, int64_t n, int64_t count, size_t *bytes) {
    double *re = malloc((size_t)count * sizeof *re), *im = malloc((size_t)count * sizeof *im);
    void *roots = NULL;
    if (re && im && weft_roots_fill(n, count, re, im))
        roots = weft_numbers_create(kernels, re, im, count, bytes);
    free(im);
    free(re);
    return roots;
}
