/* Applying operators to rows, by the engine's kernels where one factor for each axis is all. */
#include "engine/native/operated.h"

static int64_t number_of(const weft_native_operated *o, const void *place) {
    return o->first + ((const char *)place - o->array) / o->element;
}

/* Multiplies while copying, if the factors allow it. */
static bool copy_multiplied(const weft_native_operated *o, const weft_kernels *kernels,
                            int64_t number, const void *from, void *to, int64_t bytes, bool past) {
    weft_pointwise_row row;
    const int64_t count = bytes / o->element;
    if (!weft_pointwise_find_row(o->pointwise, number, count, &row)) return false;
    kernels->copy_multiplied(from, to, count, o->element > kernels->real_bytes, row.before,
                             row.table, past);
    return true;
}

void weft_native_load_operated(const weft_native_operated *o, const weft_kernels *kernels,
                               const void *place, void *row, int64_t bytes) {
    const int64_t number = number_of(o, place);
    if (copy_multiplied(o, kernels, number, place, row, bytes, false)) return;
    kernels->copy(place, row, bytes, false);
    weft_pointwise_apply(o->pointwise, number, bytes / o->element, row);
}

void weft_native_store_operated(const weft_native_operated *o, const weft_kernels *kernels,
                                void *row, void *place, int64_t bytes, bool past) {
    const int64_t number = number_of(o, place);
    if (copy_multiplied(o, kernels, number, row, place, bytes, past)) return;
    weft_pointwise_apply(o->pointwise, number, bytes / o->element, row);
    kernels->copy(row, place, bytes, past);
}
