/*
 * Errors: one sentence, kept per thread, copied into the context at the API boundary.
 *
 * Whoever detects a failure owns its message: it calls weft_fail() and returns the status; callers
 * pass the status on unchanged (WEFT_TRY).
 */
#ifndef WEFT_SUPPORT_ERROR_H
#define WEFT_SUPPORT_ERROR_H

#include <weft/weft.h>

enum { WEFT_ERROR_BYTES = 1024 }; /* of a sentence; a longer one is cut */

/* Records the sentence as the calling thread's last error and returns `status`. */
weft_status weft_fail(weft_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The calling thread's last sentence; "" before the first failure. */
const char *weft_thread_error(void);
void weft_thread_error_set(const char *sentence);

/* Keeps the first failure. */
static inline void weft_keep(weft_status *first, weft_status status) {
    if (*first == WEFT_SUCCESS) *first = status;
}

#define WEFT_TRY(call)                                                                             \
    do {                                                                                           \
        weft_status weft_try_status = (call);                                                      \
        if (weft_try_status != WEFT_SUCCESS) return weft_try_status;                               \
    } while (0)

#endif
