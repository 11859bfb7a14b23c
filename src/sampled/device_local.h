/*
 * What local.h says, on a device with kernels: the lines along x are transformed, then some planes
 * of wavenumbers kx at a time go along y and z to the kernel and back, as one composition, and what
 * lies at the lattices' points is added up (src/kernels/samples.cl); at the end come the lattices'
 * x. Of the N^3 points of the result no more than those planes exist at any time. Convolutions do
 * not depend on where the sources are, so the box begins at point 0 here, and the lattices move.
 */
#ifndef WEFT_SAMPLED_DEVICE_LOCAL_H
#define WEFT_SAMPLED_DEVICE_LOCAL_H

#include "sampled/local.h"

typedef struct weft_device_local weft_device_local;

/* WEFT_SUCCESS if the device that the options name can do it; otherwise WEFT_ERROR_UNSUPPORTED. Not
 * collective. */
weft_status weft_device_local_check(const weft_convolved *c, const weft_options *options);
/* As weft_local_create, _destroy, _bytes and _run. */
weft_status weft_device_local_create(const weft_convolved *c, const weft_tree *tree,
                                     const weft_options *options, weft_device_local **made);
void weft_device_local_destroy(weft_device_local *local);
size_t weft_device_local_bytes(const weft_device_local *local);
weft_status weft_device_local_run(weft_device_local *local, const int64_t *lo,
                                  const double *sources, double *const *values);

#endif
