/* The name of this machine's processor, for records of what was measured on it. */
#ifndef WEFT_SUPPORT_PROCESSOR_H
#define WEFT_SUPPORT_PROCESSOR_H

#include <stddef.h>

/* The model as the system tells it; the architecture where it does not. */
void weft_processor_name(char *name, size_t size);

#endif
