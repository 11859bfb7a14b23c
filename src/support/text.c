/* Composes texts: see composition.h. */
#include "support/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/c_locale.h"

void weft_text_add(weft_text *c, const char *format, ...) {
    va_list list, again;
    const locale_t before = weft_c_locale_begin();
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (c->used + (size_t)length + 1 > c->room) {
        const size_t room = 2 * c->room + (size_t)length + 4096;
        char *grown = realloc(c->text, room);
        if (!grown) c->failed = true;
        if (grown) c->text = grown, c->room = room;
    }
    if (!c->failed) {
        vsnprintf(c->text + c->used, (size_t)length + 1, format, again);
        c->used += (size_t)length;
    }
    va_end(again);
    weft_c_locale_end(before);
}
