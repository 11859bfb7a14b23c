/*
 * Operators on devices that multiply by factors, but neither run the host's code nor make kernels
 * at run time (`multiply` of device/device.h): lists of scalings, windows, tables, shifts and
 * arrays. The tables are those of weft_pointwise_create, copied to the device.
 */
#ifndef WEFT_OPERATOR_FACTORS_H
#define WEFT_OPERATOR_FACTORS_H

#include "device/device.h"
#include "operator/operator.h"

typedef struct weft_operator_factors weft_operator_factors;

/* Prepares a list for a box. Fails with WEFT_ERROR_UNSUPPORTED where it has other operators, where
 * the caller's array is not the box (conversions, padding, strides), and where results are kept.
 * The list must outlive it. */
weft_status weft_operator_factors_create(const weft_operator_list *list,
                                         const weft_pointwise_layout *layout,
                                         const weft_device_handle *device,
                                         weft_operator_factors **factors);
void weft_operator_factors_release(weft_operator_factors *factors);

/* Bytes of the tables, on the host and on the device. */
size_t weft_operator_factors_bytes(const weft_operator_factors *factors);

/* Enqueues the operators from `in` to `out`, which may be the same array. */
weft_status weft_operator_factors_run(weft_operator_factors *factors, weft_queue *queue,
                                      const void *in, void *out);

#endif
