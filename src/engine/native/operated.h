/*
 * Operators that the engine applies to rows of an array: to a copy of a row before it is
 * transformed, or to a row of results before it is stored. Rows are contiguous in the array, which
 * is the box of the operators, so that an address tells which elements a row has.
 */
#ifndef WEFT_ENGINE_NATIVE_OPERATED_H
#define WEFT_ENGINE_NATIVE_OPERATED_H

#include "engine/engine.h"
#include "engine/native/kernels.h"

typedef struct weft_native_operated {
    weft_pointwise *pointwise; /* NULL: no operators */
    int64_t element;           /* bytes */
    int64_t part;              /* elements from one index of the part_loop to the next */
    int axis;                  /* of the box, along which lines of a spectrum are */
    /* Of the execution: the array given, and the number of its first element. */
    const char *array;
    int64_t first;
} weft_native_operated;

/* Copies `bytes` of a row from memory to scratch memory (load) or back (store), and applies the
 * operators. With `past`, the array is stored past the caches. What is stored is changed where it
 * lies. */
void weft_native_load_operated(const weft_native_operated *operated, const weft_kernels *kernels,
                               const void *place, void *row, int64_t bytes);
void weft_native_store_operated(const weft_native_operated *operated, const weft_kernels *kernels,
                                void *row, void *place, int64_t bytes, bool past);

#endif
