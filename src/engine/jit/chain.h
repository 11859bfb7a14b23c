/*
 * A chain of passes that transforms lines of any length along one axis: one pass where a line fits
 * in a group's local memory; otherwise two or three passes over a matrix (the four-step method of
 * Bailey 1990, with the transposition in the strides of the last pass), or a convolution of such
 * transforms. Of a real line's matrix half of the rows are enough, since the others are their
 * conjugates; such a matrix is called folded.
 */
#ifndef WEFT_ENGINE_JIT_CHAIN_H
#define WEFT_ENGINE_JIT_CHAIN_H

#include "engine/jit/pass.h"

enum { WEFT_JIT_STEPS = 12 };

/* The arrays that a chain's passes read and write; the last two are the chain's own. */
typedef enum weft_jit_array {
    WEFT_JIT_IN,
    WEFT_JIT_OUT,
    WEFT_JIT_LINES,
    WEFT_JIT_MATRIX
} weft_jit_array;

typedef struct weft_jit_step {
    weft_jit_pass pass;
    weft_jit_array from, to;
} weft_jit_step;

typedef struct weft_jit_chain {
    int steps;
    weft_jit_step step[WEFT_JIT_STEPS];
    int64_t chunks_n, chunk_n;     /* a loop of which chunk_n indices are done at a time */
    int64_t in_stride, out_stride; /* of that loop, in bytes */
    int areas;                     /* number of its own arrays: MATRIX, perhaps LINES */
    size_t area_bytes;             /* size of each */
} weft_jit_chain;

/* Whether one kernel of any device transforms a line of so many points, whatever its strides. *core
 * gets the points of the convolution that the kernel uses (weft_jit_choose_core), or 0. */
bool weft_jit_is_single(int64_t length, weft_precision precision, const weft_jit_tuning *tuning,
                        int64_t *core);

/* Checks that the kernels, which count with 32 bits, can count the points of lines of n points
 * (complex ones of C2C, else real ones, of R2R weft_axis_real_line of them) and the lines of every
 * pass over `lines` of them. `operators`: there are operators, which use the numbers of points.
 * Fails with WEFT_ERROR_UNSUPPORTED and the reason. */
weft_status weft_jit_check_lines(int64_t n, weft_transform_kind kind, bool operators,
                                 int64_t lines);

/* Sets the direction, the length and both sides' points of the request for a cosine or sine
 * transform of n points; both sides' strides are those of their numbers. With `pairs`, which wants
 * an even weft_axis_real_line, types 1 to 3 are transforms of half as many complex points, whose
 * spectra are loaded or stored by the pair, else of as many. Type 4 of even length always has n/2
 * points (see src/engine/native/r2r.h). */
void weft_jit_set_real_to_real(weft_jit_request *request, weft_axis type, int64_t n, bool pairs);

/* Makes the chain. The request's work is WEFT_JIT_TRANSFORM, and its chunk, core and twiddle_loop
 * are not set. */
weft_status weft_jit_chain_create(const weft_jit_request *request, const weft_jit_tuning *tuning,
                                  const weft_device_handle *device, weft_jit_table_list *tables,
                                  weft_jit_chain *chain);
void weft_jit_chain_release(weft_jit_chain *chain, const weft_device_handle *device);

/* Runs the chain. `areas` has room for all of its own arrays; `part`, `first` and `kept` are those
 * of weft_jit_run. */
weft_status weft_jit_chain_run(weft_jit_chain *chain, const weft_device_handle *device,
                               weft_queue *queue, const void *in, void *out, void *areas,
                               int64_t part, const int64_t *first, void *kept);

#endif
