/* cuFFT on the CUDA device. */
#include "device/cuda/cuda.h"
#include "engine/cufft/place.h"
#include "support/error.h"

static weft_status cuda_open(weft_cufft_place *place) {
    place->driver = place->device->gpu->driver;
    place->context = place->device->gpu->context;
    return WEFT_SUCCESS;
}

static void cuda_close(const weft_cufft_place *place) {
    (void)place;
}

static weft_status cuda_share(const weft_cufft_place *place, size_t bytes, size_t *grown) {
    return weft_cuda_share(place->device, bytes, grown);
}

static char *cuda_shared(const weft_cufft_place *place) {
    return place->device->shared;
}

static weft_status cuda_run(const weft_cufft_place *place, weft_queue *queue, const void *in,
                            void *out) {
    WEFT_TRY(weft_cufft_enter(place));
    const weft_status status =
        place->enqueue(place->plan, weft_cuda_queue_stream(place->device, queue), in, out);
    weft_cufft_leave(place);
    return status;
}

const weft_cufft_place_ops weft_cufft_on_cuda = {.open = cuda_open,
                                                 .close = cuda_close,
                                                 .share = cuda_share,
                                                 .shared = cuda_shared,
                                                 .run = cuda_run};
