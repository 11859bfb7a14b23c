/* Structs of other versions: see versioned.h. */
#include "support/versioned.h"

#include "support/error.h"

#include <string.h>

weft_status weft_copy_versioned(void *mine, size_t my_size, const void *theirs, size_t their_size,
                                const char *what) {
    if (their_size == 0) their_size = my_size;
    if (their_size < sizeof(size_t) || their_size > 65536)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s.struct_size is %zu; set it to 0 or sizeof the struct", what,
                         their_size);
    memset(mine, 0, my_size);
    memcpy(mine, theirs, their_size < my_size ? their_size : my_size);
    for (size_t i = my_size; i < their_size; i++)
        if (((const char *)theirs)[i] != 0)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "%s has fields that this version of weft (%s) does not know", what,
                             WEFT_VERSION);
    return WEFT_SUCCESS;
}
