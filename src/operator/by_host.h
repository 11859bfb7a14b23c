/*
 * Operators that the host applies for a device that runs none of its code: the arrays are copied to
 * page-locked memory, operated on there, and copied back, all in the order of a queue.
 */
#ifndef WEFT_OPERATOR_BY_HOST_H
#define WEFT_OPERATOR_BY_HOST_H

#include "device/device.h"
#include "operator/operator.h"

typedef struct weft_operators_by_host weft_operators_by_host;

/* Whether a list has functions of the caller's. */
bool weft_operators_need_host(const weft_operator_list *list);

/* As weft_operator_offload_create and the functions behind it. */
weft_status weft_operators_by_host_create(const weft_operator_list *list,
                                          const weft_pointwise_layout *layout, int threads,
                                          const weft_device_handle *device,
                                          weft_operators_by_host **by_host);
void weft_operators_by_host_release(weft_operators_by_host *by_host);

/* Bytes of the arrays' copies. */
size_t weft_operators_by_host_page_locked(const weft_operators_by_host *by_host);

/* The list as the host applies it. */
weft_pointwise *weft_operators_by_host_list(const weft_operators_by_host *by_host);

weft_status weft_operators_by_host_run(weft_operators_by_host *by_host, weft_queue *queue,
                                       const void *in, void *out, void *kept);

#endif
