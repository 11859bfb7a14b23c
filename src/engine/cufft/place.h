/*
 * Where cuFFT computes: on the CUDA device, in the streams that are its queues, or on the OpenMP
 * device, if its memory is that of an NVIDIA GPU. OpenMP's runtimes get such memory from CUDA, so
 * its addresses (those of omp_target_alloc, or of use_device_ptr) are cuFFT's, in the context that
 * the runtime uses. There a plan has a stream of its own, whose callback ends the work of the
 * queue: with GCC a detached task.
 */
#ifndef WEFT_ENGINE_CUFFT_PLACE_H
#define WEFT_ENGINE_CUFFT_PLACE_H

#include "device/cuda/driver.h"
#include "engine/engine.h"

typedef struct weft_cufft_place weft_cufft_place;

typedef struct weft_cufft_place_ops {
    weft_status (*open)(weft_cufft_place *place);
    void (*close)(const weft_cufft_place *place); /* also after a failure to open */
    /* Makes the area of device memory that plans share at least so large. */
    weft_status (*share)(const weft_cufft_place *place, size_t bytes, size_t *grown);
    char *(*shared)(const weft_cufft_place *place);
    /* Has place->enqueue called when the queue comes to it, now or later. */
    weft_status (*run)(const weft_cufft_place *place, weft_queue *queue, const void *in, void *out);
} weft_cufft_place_ops;

struct weft_cufft_place {
    /* Given by the plan. */
    const weft_cufft_place_ops *ops;
    weft_device_state *device;
    weft_engine_plan *plan;
    /* Enqueues the plan's work on a stream. Called in the context. */
    weft_status (*enqueue)(weft_engine_plan *plan, weft_cuda_stream stream, const void *in,
                           void *out);

    /* Set by open. */
    const weft_cuda_driver *driver;
    weft_cuda_context context;
    weft_cuda_stream stream; /* OpenMP: the plan's own */
};

extern const weft_cufft_place_ops weft_cufft_on_cuda, weft_cufft_on_openmp;

/* Enter and leave the context; leaving restores the caller's. */
static inline weft_status weft_cufft_enter(const weft_cufft_place *place) {
    return weft_cuda_check(place->driver->context_push(place->context),
                           "its context is not usable");
}

static inline void weft_cufft_leave(const weft_cufft_place *place) {
    weft_cuda_context left;
    place->driver->context_pop(&left);
}

#endif
