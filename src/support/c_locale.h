/*
 * Text in the C locale. printf writes a decimal comma where the calling program, or this thread of
 * it, has chosen a locale that has one; what the library writes is read by compilers and programs.
 */
#ifndef WEFT_SUPPORT_C_LOCALE_H
#define WEFT_SUPPORT_C_LOCALE_H

#include <locale.h>

/* From here on this thread prints in the C locale, until weft_c_locale_end gets the value returned.
 * Other threads are not affected. */
static inline locale_t weft_c_locale_begin(void) {
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void weft_c_locale_end(locale_t before) {
    const locale_t used = uselocale(before);
    if (used != before) freelocale(used);
}

#endif
