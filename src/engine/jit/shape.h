/*
 * The shape of a kernel: the radices of a transform that fits in the registers and local memory of
 * a group of threads, the number of threads for each line and of lines for each group, and the
 * layout of local memory.
 */
#ifndef WEFT_ENGINE_JIT_SHAPE_H
#define WEFT_ENGINE_JIT_SHAPE_H

#include "engine/jit/tuning.h"

enum {
    WEFT_JIT_LONGEST = 4096, /* most points of a line that one kernel of any device transforms */
    WEFT_JIT_LONGEST_CORE = 8192, /* most points of a convolution that transforms such a line */
    WEFT_JIT_LARGEST_RADIX = 32,
    WEFT_JIT_STAGES = 14 /* 2^14 in radices of 2 */
};

typedef struct weft_jit_radices {
    int stages;
    int radix[WEFT_JIT_STAGES];
    int threads; /* of a line */
    int values;  /* points that a thread holds */
} weft_jit_radices;

/* The fastest factorization of n points; n is smooth and at most 2^14. */
weft_jit_radices weft_jit_choose_radices(int n, int most_values);

/* The smooth length of at least `least` for which a cyclic convolution is cheapest. */
int64_t weft_jit_convolution_length(int64_t least);

/* The points of the convolution by which one kernel transforms n points, n not smooth: n - 1 of
 * Rader's convolution, which wants a prime n and a smooth n - 1, or at least 2 n - 1 of
 * Bluestein's. */
int64_t weft_jit_choose_core(int64_t n, const weft_jit_tuning *tuning);

typedef struct weft_jit_shape {
    weft_jit_radices radices; /* of `points`; a round trip takes them once more, in reverse */
    int points, stages;       /* a round trip has twice the stages of one transform */
    int lines;                /* of a group; 1 of a cluster */
    int cluster;              /* groups that share a line; 1: a group has whole lines */
    int resident;             /* groups whose registers a multiprocessor must hold at once */
    bool across_in, across_out;
    int parts; /* 2: real and imaginary parts are exchanged one after the other; else 1 */
    int pad[2 * WEFT_JIT_STAGES]; /* padding of the exchange after each stage */
    int pitch;                    /* numbers of local memory from line to line; 0: none */
    size_t local_bytes;
} weft_jit_shape;

/* What a kernel is to do. */
typedef struct weft_jit_task {
    weft_precision precision;
    int length, points; /* points > length: Bluestein's convolution; points < length: Rader's */
    bool round_trip;    /* a convolution: a forward transform and its inverse in one kernel */
    bool pairs;         /* a half spectrum on one side */
    bool across_in, across_out;
    bool large_stride; /* each point of a line has a memory page of its own */
    int64_t lines;     /* in all */
} weft_jit_task;

weft_jit_shape weft_jit_choose_shape(const weft_jit_task *task, const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits);

/* Whether a group of the device has the threads, registers and local memory for the shape. */
bool weft_jit_shape_fits(const weft_jit_shape *shape, const weft_jit_task *task,
                         const weft_jit_tuning *tuning, const weft_kernel_limits *limits);

/* Threads of a group. */
static inline unsigned weft_jit_group_threads(const weft_jit_shape *shape) {
    return (unsigned)(shape->lines * shape->radices.threads / shape->cluster);
}

/* The radix of stage s, and the product of the radices before it in the same transform (a
 * convolution has two). */
int weft_jit_radix(const weft_jit_shape *shape, int s);
int weft_jit_span(const weft_jit_shape *shape, int s);

#endif
