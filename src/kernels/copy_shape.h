/*
 * What the copy kernels are told: prepared on the host (device/strided_copy.c), read by copy.cl.
 * All compilers read this file, so it includes nothing. Strides and extents count units, the words
 * of 1 to 16 bytes that a thread moves at once.
 */
#ifndef WEFT_KERNELS_COPY_SHAPE_H
#define WEFT_KERNELS_COPY_SHAPE_H

#ifndef WEFT_KERNELS_DIALECT_H
typedef long long long64;
#endif

#define WEFT_COPY_AXES 10       /* of a copy, one more for a row that is cut into units */
#define WEFT_COPY_LOG_THREADS 8 /* of a group */
#define WEFT_COPY_THREADS (1 << WEFT_COPY_LOG_THREADS)
/* Units that a thread has in flight: of rows, each of which is looked for, few; of tiles 64 bytes,
 * but no more than 16. */
#define WEFT_COPY_ROWS_PER_THREAD 4
#define WEFT_COPY_PER_THREAD(unit_bytes) ((unit_bytes) >= 4 ? 64 / (unit_bytes) : 16)
/* Units of a tile: those of all threads. */
#define WEFT_COPY_LOG_TILE(unit_bytes) ((unit_bytes) >= 16 ? 10 : (unit_bytes) >= 8 ? 11 : 12)

/* Division by n of numbers below 2^31 without dividing: x / n = (high word of x * multiplier + x)
 * >> shift (Granlund, Montgomery 1994: Division by Invariant Integers using Multiplication). */
typedef struct weft_copy_divisor {
    unsigned int n, multiplier, shift;
} weft_copy_divisor;

/* Loops, slowest first, numbered by one index from 0 to count - 1. */
typedef struct weft_copy_loops {
    unsigned int count;
    int axes;
    weft_copy_divisor extent[WEFT_COPY_AXES];
    long64 src[WEFT_COPY_AXES], dst[WEFT_COPY_AXES];
} weft_copy_loops;

/* Rows that are dense on both sides: a group takes 2^log_width units of each of several rows. */
typedef struct weft_copy_rows {
    long64 length; /* of a row */
    int log_width;
    weft_copy_divisor parts; /* groups side by side along a row */
    weft_copy_loops rows;
} weft_copy_rows;

/* Cells of a few units, neighbours along axis p in the source and along axis q in the destination:
 * a group turns a tile of 2^log_p by 2^log_q cells, of 2^log_batch indices of the outer loops. A
 * tile without a batch may be smaller than what threads have room for. */
typedef struct weft_copy_tiles {
    int cell; /* units of a cell, at most 2^log_cell */
    int log_cell, log_p, log_q, log_batch;
    long64 p_n, p_src, p_dst, q_n, q_src, q_dst;
    weft_copy_divisor p_tiles, q_tiles;
    weft_copy_loops outer;
} weft_copy_tiles;

#endif
