/*
 * The shape of a kernel: the radices of a transform that fits in a group's registers and local
 * memory, threads of a line, lines of a group, and how points lie in local memory.
 */
#ifndef WEFT_ENGINE_JIT_SHAPE_H
#define WEFT_ENGINE_JIT_SHAPE_H

#include "engine/jit/tuning.h"

enum {
    WEFT_JIT_LONGEST = 4096,      /* points of a line that one kernel of any device transforms; */
    WEFT_JIT_LONGEST_CORE = 8192, /* of the convolution that stands for one */
    WEFT_JIT_LARGEST_RADIX = 32,
    WEFT_JIT_STAGES = 14 /* 2^14 in radices of 2 */
};

typedef struct weft_jit_radices {
    int stages;
    int radix[WEFT_JIT_STAGES];
    int threads; /* of a line */
    int values;  /* points that a thread holds */
} weft_jit_radices;

/* The fastest way for n points, smooth and at most 2^14. */
weft_jit_radices weft_jit_choose_radices(int n, int most_values);

/* The fewest points that a cyclic convolution with this many can be made of: smooth. */
int64_t weft_jit_convolution_length(int64_t least);

typedef struct weft_jit_shape {
    weft_jit_radices radices; /* of `points`; those of a convolution come once more, reversed */
    int points, stages;       /* a convolution has twice the stages */
    int lines;                /* of a group */
    int resident;             /* groups that a multiprocessor is to have registers for */
    bool across_in, across_out;
    int parts;                    /* 1, or 2: real and imaginary parts travel one after the other */
    int pad[2 * WEFT_JIT_STAGES]; /* of the exchange after each stage */
    int pitch;                    /* numbers of local memory from line to line; 0: none */
    size_t local_bytes;
} weft_jit_shape;

/* What a kernel is to do. */
typedef struct weft_jit_task {
    weft_precision precision;
    int length, points; /* points > length: a convolution */
    bool round_trip;    /* a convolution: there and back */
    bool pairs;         /* a half spectrum on one side */
    bool across_in, across_out;
    bool large_stride; /* so far apart are the points that each has a page of its own */
    int64_t lines;     /* in all */
} weft_jit_task;

weft_jit_shape weft_jit_choose_shape(const weft_jit_task *task, const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits);

/* Whether a group of the device has the threads, registers and local memory for the shape. */
bool weft_jit_shape_fits(const weft_jit_shape *shape, const weft_jit_task *task,
                         const weft_jit_tuning *tuning, const weft_kernel_limits *limits);

/* Radix of stage number s, and the product of those before it in its half of a convolution. */
int weft_jit_radix(const weft_jit_shape *shape, int s);
int weft_jit_span(const weft_jit_shape *shape, int s);

#endif
