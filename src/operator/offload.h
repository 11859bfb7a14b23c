/*
 * Operators on devices that apply lists of them by themselves (`operate` of device/device.h), but
 * neither run the host's code nor make kernels at run time. The tables are those of
 * weft_pointwise_create, copied to the device. Lists with functions of the caller's are applied by
 * the host (by_host.h).
 */
#ifndef WEFT_OPERATOR_OFFLOAD_H
#define WEFT_OPERATOR_OFFLOAD_H

#include "device/device.h"
#include "operator/operator.h"

typedef struct weft_operator_offload weft_operator_offload;

/* Prepares a list for a box, which must not be empty; up to `threads` threads of the host run
 * functions. The list must outlive it. */
weft_status weft_operator_offload_create(const weft_operator_list *list,
                                         const weft_pointwise_layout *layout, int threads,
                                         const weft_device_handle *device,
                                         weft_operator_offload **offload);
void weft_operator_offload_release(weft_operator_offload *offload);

/* Bytes of the tables, on the host and on the device; and of page-locked memory for transfers. */
size_t weft_operator_offload_bytes(const weft_operator_offload *offload);
size_t weft_operator_offload_page_locked(const weft_operator_offload *offload);

/* As weft_pointwise_omit_functions does. */
void weft_operator_offload_omit_functions(weft_operator_offload *offload);

/* Enqueues the operators from `in` to `out`, which may be the same array. `kept`: the array in
 * which the results are kept, if they are. */
weft_status weft_operator_offload_run(weft_operator_offload *offload, weft_queue *queue,
                                      const void *in, void *out, void *kept);

/* What the list's reduction of this number found in the last run, whose end was waited for; nothing
 * before one. */
weft_reduced weft_operator_offload_reduced(const weft_operator_offload *offload, int number);

#endif
