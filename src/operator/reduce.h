/*
 * Reductions: what WEFT_OPERATOR_REDUCE remembers of the elements that pass. Parts of an array are
 * reduced for themselves, by threads and groups of threads, and then combined: a rank's when its
 * list has been applied, or when the device is asked, and all ranks' when the caller asks.
 */
#ifndef WEFT_OPERATOR_REDUCE_H
#define WEFT_OPERATOR_REDUCE_H

#include "operator/operator.h"

/* Adds `count` elements of an array of the layout to what is known. */
void weft_reduce(weft_reduction reduction, const weft_pointwise_layout *layout, int64_t count,
                 const void *data, weft_reduced *reduced);

#endif
