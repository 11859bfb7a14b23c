/* A text while it is being composed. */
#ifndef WEFT_SUPPORT_TEXT_H
#define WEFT_SUPPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct weft_text {
    char *text; /* freed by whoever began it */
    size_t used, room;
    bool failed; /* out of memory: the text is not whole */
} weft_text;

/* Appends what printf would print in the C locale. */
void weft_text_add(weft_text *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
