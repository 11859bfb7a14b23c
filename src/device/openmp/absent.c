/* The device of builds without OpenMP's target directives: it is named, and refused. */
#include "device/device.h"
#include "support/error.h"

static weft_status refuse(void) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "this build of weft has no device openmp: its compiler has no OpenMP 4.5, or "
                     "WEFT_OPENMP_DEVICE was OFF; choose host");
}

static weft_status absent_probe(const char **description) {
    (void)description;
    return refuse();
}

static weft_status absent_open(const weft_device_settings *settings, weft_device_state **device) {
    (void)settings, (void)device;
    return refuse();
}

const weft_device_ops weft_device_openmp = {
    .name = "openmp", .id = WEFT_OPENMP, .probe = absent_probe, .open = absent_open};
