/* How much memory a process can have, so that larger allocations fail at once with a clear
 * message. */
#ifndef WEFT_SUPPORT_HOST_MEMORY_H
#define WEFT_SUPPORT_HOST_MEMORY_H

#include <weft/weft.h>

/* The machine's memory and swap space, or the limit on this process's address space (ulimit -v) if
 * that is less; SIZE_MAX if unknown. */
size_t weft_host_memory(void);

/* Fails with WEFT_ERROR_OUT_OF_MEMORY if `bytes` exceed that memory; the message names `what`, the
 * bytes and the advice. */
weft_status weft_host_memory_check(const char *what, size_t bytes, const char *advice);

#endif
