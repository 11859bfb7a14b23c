/* The copy is one of plain memory, by this thread alone: it holds nothing that must be released. */
#include "io/guard.h"

#include "device/device.h"

#include <setjmp.h>
#include <stddef.h>

static _Thread_local sigjmp_buf *volatile escape;

bool weft_guarded_copy(const weft_copy *copy, const void *src, void *dst) {
    sigjmp_buf here;
    if (sigsetjmp(here, 1) != 0) {
        escape = NULL;
        return false;
    }
    escape = &here;
    weft_copy_run(copy, src, dst, 1);
    escape = NULL;
    return true;
}

void weft_guard_escape(void) {
    if (escape != NULL) siglongjmp(*escape, 1);
}
