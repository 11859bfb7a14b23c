/* What devices with kernels do alike with a kernel's source: put the dialect before its text, see
 * whether the device can run it, and repeat a compiler's message in a sentence. */
#ifndef WEFT_DEVICE_KERNEL_SOURCE_H
#define WEFT_DEVICE_KERNEL_SOURCE_H

#include "device/device.h"

/* Whether a device with these limits can run it; the sentence begins with `device`. */
weft_status weft_kernel_check(const weft_kernel_source *source, const weft_kernel_limits *limits,
                              const char *device);

/* All of the text, freed by the caller; NULL, with a sentence, if out of memory. `in_memory`: its
 * parameters VALUE are addresses. */
char *weft_kernel_text(const weft_kernel_source *source, bool has_double, bool in_memory);

/* The lines of a compiler's log from the first error on, as one (NULL: "no log"). */
enum { WEFT_COMPILER_WORDS = 600 };
void weft_compiler_words(const char *log, char words[WEFT_COMPILER_WORDS]);

#endif
