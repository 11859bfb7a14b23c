/*
 * What the copy kernels are told: prepared on the host (copy.c), read by copy.cu. Both compilers
 * read this file, so it includes nothing. Strides and extents count units, the words of 1 to 16
 * bytes that a thread moves at once.
 */
#ifndef WEFT_DEVICE_CUDA_COPY_SHAPE_H
#define WEFT_DEVICE_CUDA_COPY_SHAPE_H

#define WEFT_CUDA_AXES 10      /* of a copy, one more for a row that is cut into units */
#define WEFT_CUDA_THREADS 256  /* of a block */
#define WEFT_CUDA_PER_THREAD 4 /* units that a thread has in flight */
#define WEFT_CUDA_LOG_TILE 10  /* units of a tile: the product of the two above */

/* Division by n of numbers below 2^31 without dividing: x / n = (high word of x * multiplier + x)
 * >> shift (Granlund, Montgomery 1994: Division by Invariant Integers using Multiplication). */
typedef struct weft_cuda_divisor {
    unsigned int n, multiplier, shift;
} weft_cuda_divisor;

/* Loops, slowest first, numbered by one index from 0 to count - 1. */
typedef struct weft_cuda_loops {
    unsigned int count;
    int axes;
    weft_cuda_divisor extent[WEFT_CUDA_AXES];
    long long src[WEFT_CUDA_AXES], dst[WEFT_CUDA_AXES];
} weft_cuda_loops;

/* Rows that are dense on both sides: a block takes 2^log_width units of each of several rows. */
typedef struct weft_cuda_rows {
    const void *src;
    void *dst;
    long long length; /* of a row */
    int log_width;
    weft_cuda_divisor parts; /* blocks side by side along a row */
    weft_cuda_loops rows;
} weft_cuda_rows;

/* Cells of a few units, neighbours along axis p in the source and along axis q in the destination:
 * a block turns a tile of 2^log_p by 2^log_q cells, of 2^log_batch indices of the outer loops. */
typedef struct weft_cuda_tiles {
    const void *src;
    void *dst;
    int cell; /* units of a cell, at most 2^log_cell */
    int log_cell, log_p, log_q;
    long long p_n, p_src, p_dst, q_n, q_src, q_dst;
    weft_cuda_divisor p_tiles, q_tiles;
    weft_cuda_loops outer;
} weft_cuda_tiles;

#endif
