/*
 * Tuning parameters of the jit engine: sizes that trade registers, local memory and the width of
 * memory accesses against each other. `weft_jit_tuning_of` returns those that were fastest;
 * bench/kernels tries others. Radices, and so the bits of a result, depend on `values` and, for
 * long lines, `cluster_values`, `longest` and `folds` alone; of lengths with a large prime factor
 * also on `rader`.
 */
#ifndef WEFT_ENGINE_JIT_TUNING_H
#define WEFT_ENGINE_JIT_TUNING_H

#include <stdbool.h>

#include "engine/engine.h"

typedef struct weft_jit_tuning {
    int values;             /* most points that a thread holds in registers; at least 16 */
    int cluster_values;     /* `values` for lines that groups of a cluster share; at most 32 */
    int threads;            /* most threads of a group, unless one line needs more */
    int least_threads;      /* least threads of a group that does several contiguous lines */
    int across_bytes;       /* contiguous bytes that a group loads of strided lines; more than
                               128 only if points are exchanged in one part */
    int least_across_bytes; /* least such bytes, for which a group may have four times `threads` */
    int run_bytes; /* bytes of neighbouring points below which the threads of a line do not load
                         it, but those of a group all its lines */
    int large_stride_threads; /* `threads` for lines whose points lie in a memory page each */
    int registers;            /* registers of a thread beside those of its points; with fewer,
                                 more threads fit on a multiprocessor */
    int across_registers;     /* `registers` for strided lines */
    int alternates;     /* least points of strided lines for which a transform of three dimensions
                           alternates between two arrays, if there is memory, and not in place */
    size_t whole_bytes; /* local memory of a group above which real and imaginary parts are
                           exchanged one after the other */
    size_t local_bytes; /* most local memory of a group; of lines beyond WEFT_JIT_LONGEST all */
    int rader; /* most cost of Rader's convolution, in percent of Bluestein's, for which it is
                  chosen; 0: never; INT_MAX: where it is possible (see radices.h) */

    /* Lines beyond WEFT_JIT_LONGEST. */
    int longest;   /* most points of a contiguous line that one kernel transforms, if the
                      device has the threads, registers and local memory */
    int clustered; /* the same of complex points, where groups of a cluster share a line (compute
                      capability 9) */
    size_t cluster_bytes; /* local memory that is enough for a group of a cluster */
    size_t longest_work;  /* most bytes of an array between kernels, which limits how many lines are
                             done at once; SIZE_MAX: no limit */
    bool folds;           /* real lines are transformed as folded matrices (chain.h) */
} weft_jit_tuning;

weft_jit_tuning weft_jit_tuning_of(weft_precision precision, const weft_kernel_limits *limits);

weft_status weft_jit_plan_with(const weft_transform *transform, const weft_device_handle *device,
                               const weft_jit_tuning *tuning, weft_engine_plan **plan,
                               size_t *bytes);

#endif
