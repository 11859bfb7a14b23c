/* Output files under a temporary name beside their target, so that the target appears complete or
 * not at all. */
#ifndef WEFT_IO_TEMPORARY_H
#define WEFT_IO_TEMPORARY_H

#include <weft/weft.h>

/* Creates an empty file in the folder of `path`. *target is what `path` leads to once symbolic
 * links are followed. The caller frees both names. Fails where `path` is something that must not be
 * replaced: a folder, a device. */
weft_status weft_temporary_create(const char *path, char **target, char **temporary);

/* Renames the temporary to its target. */
weft_status weft_temporary_publish(const char *temporary, const char *target);

/* Fills the temporary with the contents of `source`. */
weft_status weft_temporary_copy(const char *source, const char *temporary);

#endif
