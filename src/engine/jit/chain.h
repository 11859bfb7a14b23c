/*
 * A chain of passes that transforms lines of any length along one axis: one pass where a line fits
 * in a group's local memory; else as a matrix in two or three (Bailey 1990: the four-step method,
 * whose transposition is in the last one's strides), or a convolution of such transforms. Of a
 * real line's matrix, half of the rows are enough: the others are their conjugates, folded.
 */
#ifndef WEFT_ENGINE_JIT_CHAIN_H
#define WEFT_ENGINE_JIT_CHAIN_H

#include "engine/jit/pass.h"

enum { WEFT_JIT_STEPS = 12 };

/* Arrays that a chain's passes go between; the last two are its own. */
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
    int64_t chunks_n, chunk_n;     /* a loop that is done in parts of chunk_n indices */
    int64_t in_stride, out_stride; /* of that loop, in bytes */
    int areas;                     /* that it has of its own: MATRIX, perhaps LINES */
    size_t area_bytes;             /* of each */
} weft_jit_chain;

/* Whether a line of so many points takes one kernel on any device, whatever its strides; and how
 * many points a convolution there works on, or 0. */
bool weft_jit_is_single(int64_t length, weft_precision precision, const weft_jit_tuning *tuning,
                        int64_t *core);

/* Whether the kernels, which count with 32 bits, can count the points of lines of n, real numbers
 * perhaps, and the lines of each pass over so many of them; UNSUPPORTED, with the reason, if not.
 * `operators`: they look at the points' numbers. */
weft_status weft_jit_check_lines(int64_t n, bool real, bool operators, int64_t lines);

/* `request` is of work TRANSFORM, without chunk, core and twiddle_loop. */
weft_status weft_jit_chain_create(const weft_jit_request *request, const weft_jit_tuning *tuning,
                                  const weft_device_handle *device, weft_jit_table_list *tables,
                                  weft_jit_chain *chain);
void weft_jit_chain_release(weft_jit_chain *chain, const weft_device_handle *device);

/* `areas` has room for all arrays of its own; `first` is that of weft_jit_run. */
weft_status weft_jit_chain_run(weft_jit_chain *chain, const weft_device_handle *device,
                               weft_queue *queue, const void *in, void *out, void *areas,
                               int64_t part, const int64_t *first, void *kept);

#endif
