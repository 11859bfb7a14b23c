/* Which of OpenMP's devices this process uses, and how. */
#include <stdlib.h>
#include <string.h>

#include "device/openmp/openmp.h"
#include "device/openmp/runtime.h"
#include "support/error.h"
#include "support/node_rank.h"

enum {
    THREADS = 128 /* of a team on a GPU: its lanes, or as many as the compiler makes of them */
};

/* Devices beside the host that run target regions of this library, which a compiler without a
 * target for them translates for the host alone. */
static int usable_devices(void) {
    int on_host = 1;
    if (weft_omp_devices() == 0) return 0;
#pragma omp target device(0) map(from : on_host)
    on_host = omp_is_initial_device();
    return on_host ? 0 : weft_omp_devices();
}

/* Sets the number of the device: `given` less one or, where that is 0, by the environment. */
static weft_status find_number(int given, int devices, int host, int *number) {
    const char *wanted = getenv("WEFT_OPENMP_DEVICE");
    if (given > devices)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.device_number is %d, for OpenMP's device %d; there are %d", given,
                         given - 1, devices);
    if (given > 0) {
        *number = given - 1;
        return WEFT_SUCCESS;
    }
    if (!wanted || !wanted[0]) {
        *number = devices > 0 ? weft_node_rank() % devices : host;
        return WEFT_SUCCESS;
    }
    char *end;
    const long chosen = strtol(wanted, &end, 10);
    if (strcmp(wanted, "host") == 0) {
        *number = host;
        return WEFT_SUCCESS;
    }
    if (devices == 0)
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "WEFT_OPENMP_DEVICE=\"%.40s\": OpenMP has no device besides the host here; "
            "give \"host\"",
            wanted);
    if (*end != '\0' || chosen < 0 || chosen >= devices)
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "WEFT_OPENMP_DEVICE=\"%.40s\": give the number of one of OpenMP's devices, "
            "0 to %d, or \"host\"",
            wanted, devices - 1);
    *number = (int)chosen;
    return WEFT_SUCCESS;
}

/* On the host a kernel is done by the task's own thread: GCC starts the other threads of a team
 * with each target region and ends them with it, which takes longer than most regions. */
weft_status weft_openmp_choose(int given, weft_openmp_processor *processor) {
    const int devices = usable_devices(), host = omp_get_initial_device();
    int number = host;
    WEFT_TRY(find_number(given, devices, host, &number));
    const bool is_host = number == host;
    *processor = (weft_openmp_processor){
        .number = number, .host = host, .is_host = is_host, .threads = is_host ? 1 : THREADS};
    return WEFT_SUCCESS;
}

weft_status weft_openmp_copies_read(weft_openmp_copies *copies) {
    const char *wanted = getenv("WEFT_OPENMP_COPIES");
    *copies = WEFT_OPENMP_RECTANGLES;
    if (!wanted || !wanted[0] || strcmp(wanted, "rect") == 0) return WEFT_SUCCESS;
    if (strcmp(wanted, "packed") != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "WEFT_OPENMP_COPIES=\"%.40s\": give \"rect\" or \"packed\"", wanted);
    *copies = WEFT_OPENMP_PACKED;
    return WEFT_SUCCESS;
}
