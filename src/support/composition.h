/* A text while it is being composed. */
#ifndef WEFT_SUPPORT_COMPOSITION_H
#define WEFT_SUPPORT_COMPOSITION_H

#include <stdbool.h>
#include <stddef.h>

typedef struct weft_composition {
    char *text; /* freed by whoever began it */
    size_t used, room;
    bool failed; /* out of memory: the text is not whole */
} weft_composition;

/* Appends what printf would print in the C locale. */
void weft_compose(weft_composition *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
