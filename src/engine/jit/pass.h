/*
 * A pass of the jit engine: one kernel, which reads and writes the data once. A request says what
 * it does to lines; text.c makes kernels from it, and tables.c tables. All strides count real
 * numbers.
 */
#ifndef WEFT_ENGINE_JIT_PASS_H
#define WEFT_ENGINE_JIT_PASS_H

#include "engine/jit/shape.h"
#include "engine/jit/tables.h"
#include "operator/kernel.h"

/* The most lines of a pass, or points of a pass that does not transform. Kernels divide line
 * numbers of at most 31 bits (support/divisor.h), and the last group may count beyond the last
 * line. */
enum { WEFT_JIT_MOST_LINES = INT32_MAX - 1024 };

enum { WEFT_JIT_LOOPS = WEFT_AXES + WEFT_MAX_RANK + 3, WEFT_JIT_PIECES = 16 };

/* What the points of a line are in memory, numbered as in fft_points.cl. */
typedef enum weft_jit_points {
    WEFT_JIT_COMPLEX,
    WEFT_JIT_REAL_PAIRS,
    WEFT_JIT_REAL,
    WEFT_JIT_HALF,
    WEFT_JIT_HALF_PAIRS,
    WEFT_JIT_FOLDED,
    WEFT_JIT_ORDERED,
    WEFT_JIT_ORDERED_PAIRS,
    WEFT_JIT_WAVES,
    WEFT_JIT_WAVE_PAIRS,
    WEFT_JIT_MIRRORED
} weft_jit_points;

/* Whether points are those of a cosine or sine transform: the side's stride is that of its real
 * numbers, which kernels find by their number in the whole line. */
static inline bool weft_jit_is_numbered(weft_jit_points points) {
    return points >= WEFT_JIT_ORDERED;
}

/* Whether points are loaded or stored by the pair, after or before an exchange. */
static inline bool weft_jit_is_half_pairs(weft_jit_points points) {
    return points == WEFT_JIT_HALF_PAIRS || points == WEFT_JIT_WAVE_PAIRS;
}

typedef struct weft_jit_loop {
    int64_t n, in, out;
} weft_jit_loop;

typedef struct weft_jit_piece {
    int array;
    int64_t first, offset, point, loop[WEFT_JIT_LOOPS];
    int64_t part; /* stride from one index of the part_loop to the next */
} weft_jit_piece;

/* Operators on what is loaded or stored. They need the number of a point in the whole line, and the
 * axis along which each loop counts. So do, without a kernel, numbered points. */
typedef struct weft_jit_operators {
    const weft_operator_kernel *kernel; /* NULL: none; not owned */
    int line_axis;
    int64_t point;                /* by how much the number grows from point to point */
    int axis[WEFT_JIT_LOOPS];     /* -1: one that no operator looks at */
    int64_t step[WEFT_JIT_LOOPS]; /* by how much the number, or the index along the axis, grows with
                                     the loop */
} weft_jit_operators;

typedef struct weft_jit_side {
    weft_jit_points points;
    int64_t point, part; /* strides of points, and from the first to the second number of a pair */
    int pieces;          /* 0: one array */
    bool own;            /* the array is the engine's own, so it is aligned */
    weft_jit_piece piece[WEFT_JIT_PIECES];
    weft_jit_operators operators;
} weft_jit_side;

/* Whether the array's numbers have another type than the transform's. */
static inline bool weft_jit_converts(const weft_jit_side *side) {
    return side->operators.kernel && side->operators.kernel->converts;
}
size_t weft_jit_number_bytes(const weft_jit_side *side, weft_precision precision);

typedef enum weft_jit_work {
    WEFT_JIT_TRANSFORM,
    /* No transform; loop 0 is over the points. */
    WEFT_JIT_COPY,     /* turns one kind of points into another, and appends zeros */
    WEFT_JIT_CHIRP,    /* copies and multiplies by a chirp, before a convolution */
    WEFT_JIT_UNCHIRP,  /* copies and multiplies by a chirp, after a convolution */
    WEFT_JIT_CONVOLVE, /* multiplies by the spectrum of the chirp */
} weft_jit_work;

typedef struct weft_jit_request {
    weft_jit_work work;
    weft_precision precision;
    bool inverse;
    int64_t length;       /* points */
    int64_t real_length;  /* n of real transforms */
    weft_axis type;       /* of real-to-real ones */
    int64_t core;         /* points of the convolution that does the transform: fewer than length
                             of Rader's, of rows; more of Bluestein's; or those that CONVOLVE
                             multiplies; 0: none */
    int64_t chirp_length; /* CONVOLVE: points of the transform that the convolution does */
    weft_jit_side in, out;
    bool round_trip; /* forward, through the spectral operators, and back, in one kernel */
    weft_jit_operators spectral;
    int loops;
    weft_jit_loop loop[WEFT_JIT_LOOPS];
    int twiddle_loop; /* results are multiplied by the root number (index of this loop) x (result);
                        -1: they are not */
    int64_t twiddle_order; /* order of those roots of unity */
    int chunk;             /* the loop of which a run does only some indices, or -1 */
    int64_t fold;  /* FOLDED lines: stride of their points, in numbers of the half spectrum */
    int fold_loop; /* the loop over FOLDED lines, or -1 */
} weft_jit_request;

/* Whether the transform is Rader's convolution. */
static inline bool weft_jit_is_rader(const weft_jit_request *request) {
    return request->core > 0 && request->core < request->length;
}

/* Rows of its lines; of other transforms 1. */
static inline int weft_jit_rows(const weft_jit_request *request) {
    return weft_jit_is_rader(request) ? (int)(request->length / (request->core + 1)) : 1;
}

typedef struct weft_jit_pass {
    weft_jit_request request; /* loops as the kernel has them */
    weft_jit_shape shape;
    weft_jit_places places; /* where they begin in the table */
    const void *table;      /* on the device; the plan's */
    int64_t lines;
    /* [0] for any arrays, [1] for arrays aligned to complex numbers; only those that executions
     * may need. CPUs load two numbers as fast from any address, so they need only the first. */
    weft_kernel *kernel[2];
} weft_jit_pass;

/* Makes the kernels and tables for `request`. */
weft_status weft_jit_pass_create(const weft_jit_request *request, const weft_jit_tuning *tuning,
                                 const weft_device_handle *device, weft_jit_table_list *tables,
                                 weft_jit_pass *pass);
void weft_jit_pass_release(weft_jit_pass *pass, const weft_device_handle *device);

/* The arguments of a run. `in` is an array of addresses if the input lies in pieces. */
typedef struct weft_jit_run {
    const void *in;
    void *out;
    int64_t chunk_first, chunk_n; /* the indices of loop `chunk` to do, if there is one */
    int64_t part;                 /* where the pieces begin: an index of the part_loop */
    const int64_t *first;         /* [WEFT_AXES]: where the arrays begin in the operators' box */
    void *kept;                   /* what operators keep, if they do */
} weft_jit_run;

weft_status weft_jit_pass_run(weft_jit_pass *pass, const weft_device_handle *device,
                              weft_queue *queue, const weft_jit_run *run);

/* Bytes of all parameters of the pass's kernel; *value_bytes gets those of its VALUE parameters
 * (src/kernels/dialect.h). */
size_t weft_jit_parameter_bytes(const weft_jit_pass *pass, size_t *value_bytes);

/* Compiles the kernel of a pass, for aligned arrays or for any. */
weft_status weft_jit_compile(const weft_jit_pass *pass, bool aligned,
                             const weft_device_handle *device, weft_kernel **kernel);

/* How many pieces a side of its kernel has room for; 0: neither side is in pieces. */
int weft_jit_room(const weft_jit_request *request);

/* Threads of a group of passes that transform nothing. */
enum { WEFT_JIT_COPY_THREADS = 256 };

#endif
