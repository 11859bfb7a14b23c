/*
 * What the jit engine decides by measurement: sizes that trade registers, local memory and the
 * width of memory accesses against each other. `weft_jit_tuning_of` has those that were fastest;
 * bench/kernels tries others. Radices, and so the bits of a result, depend on `values` and, for
 * long lines, `long_values`, `longest` and `folds` alone.
 */
#ifndef WEFT_ENGINE_JIT_TUNING_H
#define WEFT_ENGINE_JIT_TUNING_H

#include <stdbool.h>

#include "engine/engine.h"

typedef struct weft_jit_tuning {
    int values;               /* points that a thread holds in registers, at most; at least 16 */
    int long_values;          /* the same, of lines beyond WEFT_JIT_LONGEST; at most 32 */
    int threads;              /* of a group, at most, unless one line needs more */
    int least_threads;        /* of a group that does several contiguous lines */
    int across_bytes;         /* side by side in memory that a group takes of strided lines; beyond
                                 128, if the points need not travel in two parts */
    int least_across_bytes;   /* the same, where that takes up to four times `threads` */
    int large_stride_threads; /* instead of `threads`, of lines whose points are far apart */
    int registers;            /* that a thread may have besides those of its points: few, and more
                                 threads find room */
    int across_registers;     /* the same, of strided lines */
    int alternates;     /* points of strided lines from which on a transform of three dimensions
                           takes another array, if there is memory, to do nothing in place */
    size_t whole_bytes; /* of local memory of a group; above, points travel in two parts */
    size_t local_bytes; /* of a group, at most; one line beyond WEFT_JIT_LONGEST may take all */

    /* Lines beyond WEFT_JIT_LONGEST. */
    int longest;         /* points of a line that one kernel does, if its points are neighbours and
                            the device has the threads, registers and local memory */
    size_t longest_work; /* bytes of an array between kernels, at most, so of the lines that are
                            done at once; SIZE_MAX: all */
    bool folds;          /* real lines go through two kernels, half of them each, and no third */
} weft_jit_tuning;

weft_jit_tuning weft_jit_tuning_of(weft_precision precision, const weft_kernel_limits *limits);

weft_status weft_jit_plan_with(const weft_transform *transform, const weft_device_handle *device,
                               const weft_jit_tuning *tuning, weft_engine_plan **plan,
                               size_t *bytes);

#endif
