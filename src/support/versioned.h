/* Structs of the public interface that grow: reading those of callers compiled with other versions.
 */
#ifndef WEFT_SUPPORT_VERSIONED_H
#define WEFT_SUPPORT_VERSIONED_H

#include <weft/weft.h>

/* Copies a caller's struct of `their_size` bytes (0: mine) into *mine: what both know, and zero
 * beyond. A longer struct of a newer caller is refused where it asks for something unknown, that is
 * where its tail is not zero. `what` is its name in sentences. */
weft_status weft_copy_versioned(void *mine, size_t my_size, const void *theirs, size_t their_size,
                                const char *what);

#endif
