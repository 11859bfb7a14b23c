/* cuFFT on the OpenMP device. */
#include "device/openmp/openmp.h"
#include "engine/cufft/place.h"
#include "support/error.h"

static weft_status openmp_open(weft_cufft_place *place) {
    if (!place->device->driver)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFT engine: the memory of device openmp is not that of an NVIDIA GPU; "
                         "choose engine openmp");
    place->driver = place->device->driver;
    place->context = place->device->context;
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
