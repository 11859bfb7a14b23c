/*
 * Engines: batches of 1-D to N-D FFTs on strided views. An engine knows nothing of distribution.
 * Each back end is one folder with one `const weft_engine_ops`, named in engines.def in order of
 * preference.
 */
#ifndef WEFT_ENGINE_H
#define WEFT_ENGINE_H

#include "device/device.h"
#include "engine/scratch.h"
#include "operator/operator.h"

#include <stdio.h>

typedef enum weft_transform_kind {
    WEFT_TRANSFORM_C2C,
    WEFT_TRANSFORM_R2C, /* forward: real in, complex out; last dimension halved on the complex side
                         */
    WEFT_TRANSFORM_C2R, /* inverse of the same */
    WEFT_TRANSFORM_R2R  /* real on both sides: a cosine or sine transform along each dimension */
} weft_transform_kind;

/* A loop over an axis. Strides count elements of their side's type (real or complex). */
typedef struct weft_dimension {
    int64_t n;
    int64_t in_stride, out_stride;
} weft_dimension;

/* A piece of one side of a transform: indices first..first+n-1 along one dimension. They lie in
 * array number `array`: index `first`, with every other index 0, at `offset`, and the others at the
 * strides given. All pieces of an output lie in one array. */
typedef struct weft_piece {
    int array;
    int64_t first, n;
    int64_t offset;
    int64_t dim_stride[WEFT_MAX_RANK], loop_stride[WEFT_AXES];
} weft_piece;

/* One side of a transform that lies in pieces along dimension `dim`, in order of their indices. The
 * strides of that side in the transform's dimensions and loops are then ignored. A stride that is 1
 * in the largest piece is 1 in all. Where a part of the transform is executed (`begin_at`),
 * addresses are still those of whole arrays, since each piece has its own stride to where the part
 * begins. */
typedef struct weft_pieces {
    int count; /* 0: it is one array, and the strides hold */
    int dim;
    const weft_piece *piece; /* not owned; read by `supports` and `plan` only */
} weft_pieces;

/* Operators that are applied to the elements of one side as they are loaded or stored. Where
 * layout.stored is cropped, the array of that side, in pieces or not, holds only the first
 * stored.n[a] indices along axis a: the others are loaded as zeros, and not stored. dim_axis and
 * loop_axis give the axis of the operators' box that each dimension and loop of the transform is;
 * the other axes of the box have one index. */
typedef struct weft_fused_operators {
    const weft_operator_list *list; /* NULL: none; not owned, and must outlive the engine's plan */
    weft_pointwise_layout layout;
    int dim_axis[WEFT_MAX_RANK], loop_axis[WEFT_AXES];
} weft_fused_operators;

/*
 * A batch of FFTs: `dims` transform dimensions (n logical; the last is the halved one for R2C and
 * C2R), done for every index of `loops` batch loops. Unscaled. Empty loops (n = 0) are never
 * passed; strides may be negative, if `supports` agrees. Nothing outside the views, gaps between
 * their elements included, is read or written. C2R ignores imaginary parts that the spectrum of
 * real data cannot have: those of numbers 0 and n/2 of a line, once the other dimensions are
 * transformed. cuFFT alone requires the spectrum of real data. All engines except FFTW give the
 * same bits with any number of threads. A plan can run only one transform at a time.
 */
typedef struct weft_transform {
    weft_transform_kind kind;
    weft_direction direction; /* C2C; R2R: for the order of dimensions only; implied otherwise */
    weft_precision precision;
    int dims;
    weft_dimension dim[WEFT_MAX_RANK];
    weft_axis type[WEFT_MAX_RANK]; /* R2R: the transform along each dimension, DCT1 to DST4 */
    int loops;
    weft_dimension loop[WEFT_AXES];
    bool in_place;      /* out is in: only with equal strides, C2C and R2R */
    bool destroy_input; /* the engine may overwrite the input */
    int threads;
    weft_effort effort;
    int64_t in_elements,
        out_elements; /* extent of the plan's arrays that the views lie in; those of a caller with
                         strides, and lines that are padded, may reach farther (extent.h) */
    weft_pieces in_pieces, out_pieces; /* only for engines that take pieces */
    /* Only for engines that take operators: those of either side, and those on the spectrum of a
     * round trip. A round trip (C2C or R2C) is the forward transform, the operators `spectral`, and
     * the inverse transform: a convolution. Its output has the type and extents of the input. */
    weft_fused_operators load, spectral, store;
    bool round_trip;
    bool in_batch; /* other lines, of other ranks perhaps, must get the bits that these get, so they
                      must not be done as the only line there is */
    int64_t whole; /* points of the array that all ranks and parts have together, real ones of a
                      real transform; 0: not known, or other transforms must get the bits that these
                      get whose lines lie otherwise in memory */
    int part_loop; /* the loop whose first index `begin_at` sets; 0 where there are no loops */
    weft_scratch *scratch; /* shared with transforms that never run at the same time; NULL: none.
                              Not owned; must outlive the engine's plan */
} weft_transform;

/* Whether one side has real numbers. */
static inline bool weft_transform_is_real(const weft_transform *t, bool output) {
    return t->kind == WEFT_TRANSFORM_R2R ||
           t->kind == (output && !t->round_trip ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
}

/* Whether real lines of a Fourier transform lie in pieces, which may end within a pair of points
 * that engines work on as a complex one. */
static inline bool weft_transform_has_real_pieces(const weft_transform *t) {
    return t->kind != WEFT_TRANSFORM_R2R &&
           ((t->in_pieces.count > 0 && weft_transform_is_real(t, false)) ||
            (t->out_pieces.count > 0 && weft_transform_is_real(t, true)));
}

/* Bytes of an element of one side. Real-to-real transforms count real numbers, also of an array
 * whose box has complex ones. */
static inline size_t weft_transform_element_bytes(const weft_transform *t, bool output) {
    const weft_fused_operators *side = output ? &t->store : &t->load;
    if (side->list && (t->kind != WEFT_TRANSFORM_R2R || side->layout.real))
        return weft_stored_element_bytes(&side->layout);
    return weft_number_bytes(t->precision) * (weft_transform_is_real(t, output) ? 1 : 2);
}

typedef struct weft_engine_plan weft_engine_plan; /* each engine defines its own */

/* A function that transforms, with what it is called with first; NULL: there is none. */
typedef struct weft_direct_call {
    void (*run)(const void *self, const void *in, void *out);
    const void *self;
} weft_direct_call;

typedef struct weft_engine_ops {
    const char *name;
    weft_engine id;
    bool takes_pieces; /* transforms may have pieces, if `supports` agrees, and give the same bits
                          in place as out of place */
    bool takes_operators;
    bool wants_pairs; /* arrays must be aligned to two of their numbers */

    /* Whether what the engine itself needs is present; devices are probed separately. */
    weft_status (*probe)(const char **description);

    /* Whether the engine can do this transform on this device: if not, WEFT_ERROR_UNSUPPORTED with
     * the reason. */
    weft_status (*supports)(const weft_transform *transform, const weft_device_ops *device);

    /* How many dimensions the transform does together, in one pass over memory, beginning with the
     * last one; done one by one they may round otherwise. NULL: one. */
    int (*together)(const weft_transform *transform);
    /* Whether a complex-to-real transform of several dimensions, which `supports` takes though its
     * input is kept, is done without another array of the input's size. NULL: none is. */
    bool (*keeps_input)(const weft_transform *transform);

    /* Makes a plan. *bytes gets the memory that it holds itself, as far as the engine knows. */
    weft_status (*plan)(const weft_transform *transform, const weft_device_handle *device,
                        weft_engine_plan **plan, size_t *bytes);
    void (*destroy)(weft_engine_plan *plan);

    /* Sets where the next executions begin: at index `first` of the transform's part_loop, in each
     * piece and in the box of the operators. The addresses of arrays that are not in pieces point
     * there already. `kept` is the array in which operators that keep their results store the box.
     * NULL where the engine takes neither pieces nor operators. */
    void (*begin_at)(weft_engine_plan *plan, int64_t first, void *kept);

    /* Enqueues the transform. in and out are device addresses (any alignment of a real number,
     * unless wants_pairs).
     * If the input lies in pieces, in is an array of addresses, indexed by weft_piece.array; it is
     * read before this returns. */
    weft_status (*execute)(weft_engine_plan *plan, const weft_device_handle *device,
                           weft_queue *queue, const void *in, void *out);
    /* May be NULL: what an execution without a queue on the host comes down to, if that is one
     * function, which cannot fail. Brief transforms take little longer than the way to it. */
    weft_direct_call (*direct)(const weft_engine_plan *plan);

    /* May be NULL. Writes what the plan is made of: a line of text for each pass over the data,
     * with its solver and radices. */
    void (*describe)(const weft_engine_plan *plan, FILE *stream);
} weft_engine_ops;

const weft_engine_ops *weft_engine_find(weft_engine id);

/* Whether at least one device that the engine supports can be used here: if not,
 * WEFT_ERROR_UNSUPPORTED with the message of the last one tried. */
weft_status weft_engine_probe_devices(const weft_engine_ops *engine);

/* The first engine of the list that works here and supports the device; the first of those that
 * take operators, which may do a convolution's last axis there and back at once; and the first of
 * those that have real-to-real transforms. `elsewhere`: where all engines of this build are there.
 */
const weft_engine_ops *weft_engine_default(const weft_device_ops *device);
const weft_engine_ops *weft_engine_default_elsewhere(const weft_device_ops *device);
const weft_engine_ops *weft_engine_default_fusing(const weft_device_ops *device);
const weft_engine_ops *weft_engine_default_real(const weft_device_ops *device);

#endif
