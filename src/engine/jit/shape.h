/*
 * The shape of a kernel: the stages of a transform that fits in the registers and local memory of
 * a group of threads, the number of threads for each line and of lines for each group, and the
 * layout of local memory.
 */
#ifndef WEFT_ENGINE_JIT_SHAPE_H
#define WEFT_ENGINE_JIT_SHAPE_H

#include "engine/jit/radices.h"

typedef struct weft_jit_shape {
    weft_jit_radices radices; /* of `points`, with a row's threads; a round trip takes them once
                                 more, in reverse */
    weft_jit_radices after;   /* of `rows`, with a line's threads; the last stages, if any */
    int points, stages;       /* a round trip has twice the stages of one transform */
    int rows;                 /* of a line, each of `points` or, in Rader's convolution, one more */
    int generator;            /* of the units modulo that prime; 0: another transform */
    int lines;                /* of a group; 1 of a cluster */
    int cluster;              /* groups that share a line; 1: a group has whole lines */
    int resident;             /* groups whose registers a multiprocessor must hold at once */
    bool across_in, across_out;
    bool loads_run, stores_run; /* a group loads, or stores, its lines as one run of points */
    int parts; /* 2: real and imaginary parts are exchanged one after the other; else 1 */
    int pad[WEFT_JIT_MOST_STAGES]; /* padding of the exchange after each stage */
    int pitch;                     /* numbers of local memory from row to row; 0: none */
    size_t local_bytes;
} weft_jit_shape;

/* What a kernel is to do. */
typedef struct weft_jit_task {
    weft_precision precision;
    int length, points;     /* points > length: Bluestein's convolution; points < length: Rader's */
    int rows;               /* of Rader's convolution; else 1 */
    bool round_trip;        /* a convolution: a forward transform and its inverse in one kernel */
    bool half_in, half_out; /* this side is a half spectrum, done by the pair */
    bool plain;             /* complex points of one array, with nothing done to them on the way */
    bool strided;           /* complex points apart on both sides, of a whole line without a core */
    bool waves_out;         /* which coefficients of a cosine or sine transform are made of */
    bool across_in, across_out;
    bool large_stride; /* each point of a line has a memory page of its own */
    int64_t lines;     /* in all */
} weft_jit_task;

weft_jit_shape weft_jit_choose_shape(const weft_jit_task *task, const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits);

/* Whether a group of the device has the threads, registers and local memory for the shape. */
bool weft_jit_shape_fits(const weft_jit_shape *shape, const weft_jit_task *task,
                         const weft_jit_tuning *tuning, const weft_kernel_limits *limits);

/* Threads of a line, and of a group. */
static inline int weft_jit_line_threads(const weft_jit_shape *shape) {
    return shape->rows * shape->radices.threads;
}
static inline unsigned weft_jit_group_threads(const weft_jit_shape *shape) {
    return (unsigned)(shape->lines * weft_jit_line_threads(shape) / shape->cluster);
}

/* Whether stage s follows the transforms of rows. */
static inline bool weft_jit_is_after_rows(const weft_jit_shape *shape, int s) {
    return s >= shape->stages - shape->after.stages;
}

/* The radix of stage s, and the product of the radices before it in the same transform (a
 * convolution has two; what follows rows counts a row as a radix). */
int weft_jit_radix(const weft_jit_shape *shape, int s);
int weft_jit_span(const weft_jit_shape *shape, int s);

#endif
