/*
 * Hooks into the copies of a streamed plan between the caller's arrays and the device, for programs
 * of this project whose arrays are files: they may carry the copies out themselves, and are told of
 * each one that was made. Not part of the public interface.
 */
#ifndef WEFT_EXEC_HOOK_H
#define WEFT_EXEC_HOOK_H

#include "layout/layout.h"

#include <weft/weft.h>

/* Both functions are called from threads of the library, several at a time. */
typedef struct weft_copy_hook {
    /* Copies as weft_copy_run does. Only called where the device is the host. */
    weft_status (*copy)(void *context, const weft_copy *copy, const void *src, void *dst);
    /* A tile of so many bytes has been copied, in either direction. */
    void (*copied)(void *context, int64_t bytes);
    void *context;
} weft_copy_hook;

/* Gives a plan its hook, which must outlive the plan's executions. *bytes is what an execution in
 * `direction`, out of place, copies in all, or 0 where the plan is not streamed. Not collective. */
weft_status weft_plan_hook_copies(weft_plan plan, const weft_copy_hook *hook,
                                  weft_direction direction, int64_t *bytes);

#endif
