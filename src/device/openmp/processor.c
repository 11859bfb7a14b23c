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

/* Sets the number of the device; that of the initial device if there is no other. */
static weft_status find_number(int devices, int host, int *number) {
    const char *wanted = getenv("WEFT_OPENMP_DEVICE");
    if (!wanted || !wanted[0]) {
        *number = devices > 0 ? weft_node_rank() % devices : host;
        return WEFT_SUCCESS;
    }
    char *end;
    const long given = strtol(wanted, &end, 10);
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
    if (*end != '\0' || given < 0 || given >= devices)
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "WEFT_OPENMP_DEVICE=\"%.40s\": give the number of one of OpenMP's devices, "
            "0 to %d, or \"host\"",
            wanted, devices - 1);
    *number = (int)given;
    return WEFT_SUCCESS;
}

weft_status weft_openmp_choose(int threads, weft_openmp_processor *processor) {
    const int devices = weft_omp_devices(), host = omp_get_initial_device();
    int number = host;
    WEFT_TRY(find_number(devices, host, &number));
    const bool is_host = number == host;
    *processor = (weft_openmp_processor){.number = number,
                                         .host = host,
                                         .is_host = is_host,
                                         .threads = !is_host      ? THREADS
                                                    : threads > 0 ? threads
                                                                  : 1};
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
