/* How much memory a process can have: what is larger need not be tried. */
#ifndef WEFT_SUPPORT_HOST_MEMORY_H
#define WEFT_SUPPORT_HOST_MEMORY_H

#include <weft/weft.h>

/* The machine's memory with its swap space, or the limit on this process's address space (ulimit
 * -v) where that is less; SIZE_MAX where nobody tells. */
size_t weft_host_memory(void);

/* WEFT_ERROR_OUT_OF_MEMORY where `what` cannot be had, with the bytes and the advice. */
weft_status weft_host_memory_check(const char *what, size_t bytes, const char *advice);

#endif
