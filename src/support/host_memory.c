/* Asks the operating system how much memory there is. */
#include "support/host_memory.h"

#include "support/error.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

size_t weft_host_memory(void) {
    struct sysinfo machine;
    struct rlimit process;
    size_t most = SIZE_MAX;
    if (sysinfo(&machine) == 0)
        most = ((size_t)machine.totalram + (size_t)machine.totalswap) * (size_t)machine.mem_unit;
    if (getrlimit(RLIMIT_AS, &process) == 0 && process.rlim_cur != RLIM_INFINITY &&
        (size_t)process.rlim_cur < most)
        most = (size_t)process.rlim_cur;
    return most;
}

weft_status weft_host_memory_check(const char *what, size_t bytes, const char *advice) {
    const size_t most = weft_host_memory();
    if (bytes <= most) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "%s: %zu bytes are more than the %zu that a process can have here; %s", what,
                     bytes, most, advice);
}
