/*
 * What the jit engine decides by measurement: sizes that trade registers, local memory and the
 * width of memory accesses against each other. `weft_jit_habits_of` has those that were fastest;
 * bench/kernels tries others. Radices, and so the bits of a result, depend on `values` alone.
 */
#ifndef WEFT_ENGINE_JIT_HABITS_H
#define WEFT_ENGINE_JIT_HABITS_H

#include "engine/engine.h"

typedef struct weft_jit_habits {
    int values;          /* points that a thread holds in registers, at most; at least 16 */
    int threads;         /* of a group, at most, unless one line needs more */
    int least_threads;   /* of a group that does several contiguous lines */
    int across_bytes;    /* side by side in memory that a group takes of strided lines */
    int registers;       /* that a thread may have besides those of its points: few, and more
                            threads find room */
    size_t whole_bytes;  /* of local memory of a group; above, points travel in two parts */
    size_t local_bytes;  /* of a group, at most */
    size_t longest_work; /* bytes of the lines that a transform in several kernels does at once: so
                            many that they stay in the cache in between */
} weft_jit_habits;

weft_jit_habits weft_jit_habits_of(weft_precision precision, const weft_kernel_limits *limits);

weft_status weft_jit_plan_with(const weft_transform *transform, const weft_device_handle *device,
                               const weft_jit_habits *habits, weft_engine_plan **plan,
                               size_t *bytes);

#endif
