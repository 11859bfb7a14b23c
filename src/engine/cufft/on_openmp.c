/* cuFFT on the OpenMP device. */
#include "device/openmp/openmp.h"
#include "engine/cufft/place.h"
#include "support/error.h"

/* The context of an address, if it is that of memory of a GPU. */
static weft_cuda_context context_of(const weft_cuda_driver *driver, const void *memory) {
    const weft_cuda_address address = (uintptr_t)memory;
    weft_cuda_context context = NULL;
    int type = 0;
    if (driver->pointer_attribute(&type, WEFT_CUDA_POINTER_TYPE, address) != 0 ||
        type != WEFT_CUDA_MEMORY_DEVICE ||
        driver->pointer_attribute(&context, WEFT_CUDA_POINTER_CONTEXT, address) != 0)
        return NULL;
    return context;
}

/* The runtime's context is the GPU's primary one (LLVM), or one of its own (GCC 12). */
static weft_status find_context(weft_cufft_place *place) {
    void *memory;
    WEFT_TRY(weft_openmp_allocate(place->device, WEFT_MEMORY_DEVICE, 1, &memory));
    place->context = context_of(place->driver, memory);
    weft_openmp_free(place->device, WEFT_MEMORY_DEVICE, memory);
    if (place->context) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "cuFFT engine: the memory of device openmp is not that of an NVIDIA GPU; "
                     "choose engine openmp");
}

static weft_status openmp_open(weft_cufft_place *place) {
    place->driver = weft_cuda_driver_open();
    if (!place->driver) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(find_context(place));
    WEFT_TRY(weft_cufft_enter(place));
    const weft_status status = weft_cuda_check(
        place->driver->stream_create(&place->stream, WEFT_CUDA_STREAM_NON_BLOCKING, 0),
        "no stream");
    weft_cufft_leave(place);
    return status;
}

static void openmp_close(const weft_cufft_place *place) {
    if (!place->stream || weft_cufft_enter(place) != WEFT_SUCCESS) return;
    place->driver->stream_destroy(place->stream);
    weft_cufft_leave(place);
}

static weft_status openmp_share(const weft_cufft_place *place, size_t bytes, size_t *grown) {
    return weft_openmp_reserve(place->device, bytes, grown);
}

static char *openmp_shared(const weft_cufft_place *place) {
    return place->device->scratch.memory;
}

/* On a thread of the driver's, which must not call it. */
static void end_work(weft_cuda_stream stream, int result, void *work) {
    (void)stream;
    weft_openmp_work_end(
        work, result == 0
                  ? WEFT_SUCCESS
                  : weft_fail(WEFT_ERROR_DEVICE, "CUDA: a transform failed (CUresult %d)", result));
}

/* What was enqueued before a failure is waited for, since no callback will tell of it. */
static weft_status begin_work(void *context, const weft_work *work) {
    const weft_cufft_place *place = context;
    WEFT_TRY(weft_cufft_enter(place));
    weft_status status = place->enqueue(place->plan, place->stream, work->src, work->dst);
    if (status == WEFT_SUCCESS)
        status = weft_cuda_check(
            place->driver->stream_callback(place->stream, end_work, (void *)(uintptr_t)work, 0),
            "no callback");
    if (status != WEFT_SUCCESS) place->driver->stream_synchronize(place->stream);
    weft_cufft_leave(place);
    return status;
}

static weft_status openmp_run(const weft_cufft_place *place, weft_queue *queue, const void *in,
                              void *out) {
    const weft_work work = {.kind = WEFT_WORK_BEGIN,
                            .own = begin_work,
                            .context = (void *)(uintptr_t)place,
                            .src = in,
                            .dst = out};
    weft_openmp_queue_put(queue ? queue : place->device->default_queue, &work);
    return WEFT_SUCCESS;
}

const weft_cufft_place_ops weft_cufft_on_openmp = {.open = openmp_open,
                                                   .close = openmp_close,
                                                   .share = openmp_share,
                                                   .shared = openmp_shared,
                                                   .run = openmp_run};
