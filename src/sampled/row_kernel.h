/*
 * A kernel along rows of a spectrum: what local.c multiplies one row of z by, at wavenumbers kx and
 * ky. Kernels are computed as they are needed, so none is stored.
 */
#ifndef WEFT_SAMPLED_ROW_KERNEL_H
#define WEFT_SAMPLED_ROW_KERNEL_H

#include "convolve/convolve.h"
#include "sampled/tree.h"

typedef struct weft_row_kernel {
    const weft_convolved *convolved; /* not owned */
    int64_t period[WEFT_TREE_AXES];
    double *square[WEFT_TREE_AXES]; /* of wavenumbers by index, of kernels of |k|^2; or NULL */
} weft_row_kernel;

/* The caller releases *kernel also after a failure. */
weft_status weft_row_kernel_create(const weft_convolved *c, const int64_t *period,
                                   weft_row_kernel *kernel);
void weft_row_kernel_release(weft_row_kernel *kernel);
size_t weft_row_kernel_bytes(const weft_row_kernel *kernel);

/* Replaces the row's spectra of all fields, of which those of one field lie `apart` pairs behind
 * those of the one before, by what the kernel makes of them. factors: room for a row's numbers. Any
 * thread. */
void weft_row_kernel_apply(const weft_row_kernel *kernel, int64_t kx, int64_t ky, double (*row)[2],
                           int64_t apart, double *factors);

#endif
