/* What all devices with kernels do with a kernel's source: put the dialect before its text, check
 * whether the device can run it, and report a compiler's message in a sentence. */
#ifndef WEFT_DEVICE_KERNEL_SOURCE_H
#define WEFT_DEVICE_KERNEL_SOURCE_H

#include "device/device.h"

/* Checks whether a device with these limits can run the kernel. `device` begins the error
 * message. */
weft_status weft_kernel_check(const weft_kernel_source *source, const weft_kernel_limits *limits,
                              const char *device);

/* The whole text, for the caller to free; NULL, with an error message, if out of memory.
 * `in_memory`: VALUE parameters are passed as addresses. */
char *weft_kernel_text(const weft_kernel_source *source, bool has_double, bool in_memory);

/* The lines of a compiler's log from the first error on, as one (NULL: "no log"). */
enum { WEFT_COMPILER_WORDS = 600 };
void weft_compiler_words(const char *log, char words[WEFT_COMPILER_WORDS]);

#endif
