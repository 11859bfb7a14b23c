/* The engine of builds without OpenMP's target directives: it is named, and refused; and what cuFFT
 * has for that device, which cannot be opened. */
#include "engine/cufft/place.h"
#include "support/error.h"

static weft_status refuse(void) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "this build of weft has no engine openmp: its compiler has no OpenMP 4.5, or "
                     "WEFT_OPENMP_DEVICE was OFF; choose another engine");
}

static weft_status absent_probe(const char **description) {
    (void)description;
    return refuse();
}

static weft_status absent_supports(const weft_transform *transform, const weft_device_ops *device) {
    (void)transform, (void)device;
    return refuse();
}

const weft_engine_ops weft_engine_openmp = {
    .name = "openmp", .id = WEFT_ENGINE_OPENMP, .probe = absent_probe, .supports = absent_supports};

const weft_cufft_place_ops weft_cufft_on_openmp = {.open = NULL};
