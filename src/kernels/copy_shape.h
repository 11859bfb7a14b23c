/*
 * What the copy kernels are told: prepared on the host (device/strided_copy.c), read by copy.cl.
 * All compilers read this file, so it includes nothing. A unit is a word of 1 to 16 bytes, what a
 * thread moves at once. Strides are in bytes.
 */
#ifndef WEFT_KERNELS_COPY_SHAPE_H
#define WEFT_KERNELS_COPY_SHAPE_H

#ifndef WEFT_KERNELS_DIALECT_H
typedef long long long64;
#endif

#define WEFT_COPY_AXES 10 /* of a copy */
#define WEFT_COPY_THREADS 256
/* Units that a thread has in flight at most: 64 bytes, but no more than 16 units. */
#define WEFT_COPY_PER_THREAD(unit_bytes) ((unit_bytes) >= 4 ? 64 / (unit_bytes) : 16)
#define WEFT_COPY_ROWS 1024 /* rows of a group at most */
/* Units that tiles take in local memory at most, with one unit of padding behind rows of even
 * length, that columns meet different banks. */
#define WEFT_COPY_TILE(unit_bytes) ((WEFT_COPY_PER_THREAD(unit_bytes) + 1) * WEFT_COPY_THREADS)

/* Division by n of numbers below 2^31 without dividing: x / n = (high word of x * multiplier + x)
 * >> shift (Granlund, Montgomery 1994: Division by Invariant Integers using Multiplication). */
typedef struct weft_copy_divisor {
    unsigned int n, multiplier, shift;
} weft_copy_divisor;

typedef struct weft_copy_axis {
    weft_copy_divisor extent;
    long64 src, dst;
} weft_copy_axis;

/* Loops over some of the axes, slowest first, numbered by one index from 0 to count - 1. */
typedef struct weft_copy_loops {
    unsigned int count;
    int first, axes; /* of the array of axes */
} weft_copy_loops;

/* How a group of threads goes through rows of so many units: `at_once` of them in each of `steps`
 * steps. */
typedef struct weft_copy_walk {
    weft_copy_divisor units;
    int at_once, steps;
} weft_copy_walk;

/* Rows that are dense on both sides: a group moves parts of several of them. */
typedef struct weft_copy_rows {
    long64 length; /* of a row, in units */
    weft_copy_walk walk;
    weft_copy_divisor parts; /* groups side by side along a row */
    weft_copy_loops rows;
    weft_copy_axis axis[WEFT_COPY_AXES];
} weft_copy_rows;

/* Cells of a few units that are neighbours along p in the source and along q in the destination: a
 * group transposes a tile of p_cells by q_cells cells. It loads rows along p and stores rows along
 * q, each of which can be loops over several axes. */
typedef struct weft_copy_tiles {
    weft_copy_divisor cell; /* units */
    int p_cells, q_cells;   /* at most WEFT_COPY_THREADS */
    weft_copy_walk load, store;
    weft_copy_divisor p_tiles, q_tiles;
    weft_copy_loops p, q, outer;
    weft_copy_axis axis[WEFT_COPY_AXES];
} weft_copy_tiles;

#endif
