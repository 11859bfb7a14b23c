/* Structs of other versions: see versioned.h. */
#include "support/versioned.h"

#include "support/error.h"

#include <string.h>

enum { MOST_BYTES = 1 << 16 }; /* more is no size of a struct */

/* The size of a caller's struct, of which struct_size is the first member. */
static weft_status find_size(weft_versioned type, const void *theirs, const char *what,
                             size_t *size) {
    memcpy(size, theirs, sizeof *size);
    if (*size == 0) *size = type.size;
    if (*size >= type.least && *size <= MOST_BYTES && *size % sizeof(size_t) == 0)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s.struct_size is %zu, which it is in no version of weft; set it to 0 or "
                     "sizeof the struct, here %zu",
                     what, *size, type.size);
}

weft_status weft_versioned_read(weft_versioned type, const void *theirs, void *mine,
                                const char *what) {
    const unsigned char *bytes = theirs;
    size_t size = 0;
    WEFT_TRY(find_size(type, theirs, what, &size));
    for (size_t i = type.known; i < size; i++)
        if (bytes[i] != 0)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "%s has members set that this version of weft (%s) does not know; "
                             "leave them zero, or use a newer library",
                             what, WEFT_VERSION);
    memset(mine, 0, type.size);
    memcpy(mine, theirs, size < type.known ? size : type.known);
    return WEFT_SUCCESS;
}

weft_status weft_versioned_write(weft_versioned type, const void *mine, void *theirs,
                                 const char *what) {
    size_t size = 0;
    WEFT_TRY(find_size(type, theirs, what, &size));
    memset(theirs, 0, size);
    memcpy(theirs, mine, size < type.size ? size : type.size);
    memcpy(theirs, &size, sizeof size);
    return WEFT_SUCCESS;
}
