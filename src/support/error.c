/* The calling thread's last error sentence. */
#include "support/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/c_locale.h"

static _Thread_local char last_error[WEFT_ERROR_BYTES];

WEFT_API weft_status weft_fail(weft_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const locale_t before = weft_c_locale_begin();
    vsnprintf(last_error, sizeof last_error, format, arguments);
    weft_c_locale_end(before);
    va_end(arguments);
    return status;
}

const char *weft_thread_error(void) {
    return last_error;
}

void weft_thread_error_set(const char *sentence) {
    snprintf(last_error, sizeof last_error, "%s", sentence);
}
