/*
 * A pass of the jit engine: one kernel, which goes once through memory. What it does to lines is a
 * request; kernels are made of it by text.c, tables by tables.c. All strides count real numbers.
 */
#ifndef WEFT_ENGINE_JIT_PASS_H
#define WEFT_ENGINE_JIT_PASS_H

#include "engine/jit/shape.h"
#include "engine/jit/tables.h"
#include "operator/kernel.h"

/* Lines of a pass, or points of one that transforms nothing: indices are found by divisors of 31
 * bits, by whole groups. */
enum { WEFT_JIT_MOST_LINES = INT32_MAX - 1024 };

enum { WEFT_JIT_LOOPS = WEFT_AXES + WEFT_MAX_RANK + 3, WEFT_JIT_PIECES = 16 };

/* What a line is in memory; fft_points.cl has the same numbers. */
typedef enum weft_jit_points {
    WEFT_JIT_COMPLEX,
    WEFT_JIT_REAL_PAIRS,
    WEFT_JIT_REAL,
    WEFT_JIT_HALF,
    WEFT_JIT_HALF_PAIRS,
    WEFT_JIT_FOLDED
} weft_jit_points;

typedef struct weft_jit_loop {
    int64_t n, in, out;
} weft_jit_loop;

typedef struct weft_jit_piece {
    int array;
    int64_t first, offset, point, loop[WEFT_JIT_LOOPS];
    int64_t part; /* from one index of the part_loop to the next */
} weft_jit_piece;

/* Operators on what is loaded or stored: where a point lies among those of the whole line (its
 * number), and which axes the loops count. */
typedef struct weft_jit_operators {
    const weft_operator_kernel *kernel; /* NULL: none; not owned */
    int line_axis;
    int64_t point;                /* the number grows by it from point to point, ... */
    int axis[WEFT_JIT_LOOPS];     /* (-1: one that no operator looks at) */
    int64_t step[WEFT_JIT_LOOPS]; /* ... or the index along the axis, with a loop's index */
} weft_jit_operators;

typedef struct weft_jit_side {
    weft_jit_points points;
    int64_t point, part; /* strides of points, and of the second number of a pair */
    int pieces;          /* 0: one array */
    bool own;            /* the array is the engine's, so aligned for all numbers */
    weft_jit_piece piece[WEFT_JIT_PIECES];
    weft_jit_operators operators;
} weft_jit_side;

/* Whether the array holds other numbers than the transform's; bytes of one. */
static inline bool weft_jit_converts(const weft_jit_side *side) {
    return side->operators.kernel && side->operators.kernel->converts;
}
size_t weft_jit_number_bytes(const weft_jit_side *side, weft_precision precision);

typedef enum weft_jit_work {
    WEFT_JIT_TRANSFORM,
    /* No transform; loop 0 is over the points. */
    WEFT_JIT_COPY,     /* one kind of points into another, zeros beyond the last */
    WEFT_JIT_CHIRP,    /* the same, multiplied by a chirp: before a convolution, */
    WEFT_JIT_UNCHIRP,  /* and after it */
    WEFT_JIT_CONVOLVE, /* multiplied by the spectrum of the chirp */
} weft_jit_work;

typedef struct weft_jit_request {
    weft_jit_work work;
    weft_precision precision;
    bool inverse;
    int64_t length;       /* points */
    int64_t real_length;  /* n of real transforms */
    int64_t core;         /* points of the convolution that does it, or is multiplied; 0: none */
    int64_t chirp_length; /* of what a convolution that is multiplied stands for */
    weft_jit_side in, out;
    bool round_trip; /* forward and back: a convolution, with these operators between */
    weft_jit_operators spectral;
    int loops;
    weft_jit_loop loop[WEFT_JIT_LOOPS];
    int twiddle_loop;      /* the loop whose index counts, or -1 */
    int64_t twiddle_order; /* of the roots of unity */
    int chunk;             /* the loop that is done in parts, or -1 */
    int64_t fold;          /* numbers of a half spectrum between the points of a FOLDED line */
    int fold_loop;         /* the loop over such lines, or -1 */
} weft_jit_request;

typedef struct weft_jit_pass {
    weft_jit_request request; /* loops as the kernel has them */
    weft_jit_shape shape;
    weft_jit_places places; /* in the table */
    const void *table;      /* on the device; the plan's */
    int64_t lines;
    /* For data aligned to its real numbers, or to complex ones: those that executions may want.
     * CPUs load two numbers as fast from anywhere, so there the first one does it all. */
    weft_kernel *kernel[2];
} weft_jit_pass;

/* Kernels and tables for `request`. */
weft_status weft_jit_pass_create(const weft_jit_request *request, const weft_jit_tuning *tuning,
                                 const weft_device_handle *device, weft_jit_table_list *tables,
                                 weft_jit_pass *pass);
void weft_jit_pass_release(weft_jit_pass *pass, const weft_device_handle *device);

/* What a run works on. `in` is an array of addresses if the input lies in pieces. */
typedef struct weft_jit_run {
    const void *in;
    void *out;
    int64_t chunk_first, chunk_n; /* indices of the chunk's loop, if there is one */
    int64_t part;                 /* where the pieces begin: an index of the part_loop */
    const int64_t *first;         /* [WEFT_AXES]: where the arrays begin in the operators' box */
    void *kept;                   /* what operators keep, if they do */
} weft_jit_run;

weft_status weft_jit_pass_run(weft_jit_pass *pass, const weft_device_handle *device,
                              weft_queue *queue, const weft_jit_run *run);

/* Bytes of its kernel's parameters, and of those of them that are a VALUE of the dialect. */
size_t weft_jit_parameter_bytes(const weft_jit_pass *pass, size_t *value_bytes);

/* Compiles the kernel of a pass. */
weft_status weft_jit_compile(const weft_jit_pass *pass, bool aligned,
                             const weft_device_handle *device, weft_kernel **kernel);

/* How many pieces a side of its kernel has room for; 0: neither side is in pieces. */
int weft_jit_room(const weft_jit_request *request);

/* Threads of a group of passes that transform nothing. */
enum { WEFT_JIT_COPY_THREADS = 256 };

#endif
