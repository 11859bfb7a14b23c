/* Output files under a temporary name beside their target, so that the target appears complete or
 * not at all. */
#ifndef WEFT_IO_TEMPORARY_H
#define WEFT_IO_TEMPORARY_H

#include <weft/weft.h>

/* Creates an empty file in the folder of `path`, and removes those that killed processes left there
 * when they wrote the same target. *target is what `path` leads to once symbolic links are
 * followed. The caller frees both names, and releases *lock once the file is published or removed.
 * Fails where `path` is something that must not be replaced: a folder, a device. */
weft_status weft_temporary_create(const char *path, char **target, char **temporary, int *lock);

/* Gives up the lock (-1: none) that tells others that the file is in use; *lock becomes -1. */
void weft_temporary_release(int *lock);

/* Renames the temporary to its target. */
weft_status weft_temporary_publish(const char *temporary, const char *target);

/* Fills the temporary with the contents of `source`. */
weft_status weft_temporary_copy(const char *source, const char *temporary);

#endif
