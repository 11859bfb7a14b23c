/* Output files under a temporary name beside their target, so that the target appears complete or
 * not at all. */
#ifndef WEFT_IO_TEMPORARY_H
#define WEFT_IO_TEMPORARY_H

#include <stdbool.h>
#include <weft/weft.h>

/* Creates an empty file in the folder of `path`, and removes those that killed processes left there
 * when they wrote the same target. *target is what `path` leads to once symbolic links are
 * followed. The caller frees both names, and releases *lock once the file is published or removed.
 * Fails where `path` is something that must not be replaced: a folder, a device. */
weft_status weft_temporary_create(const char *path, char **target, char **temporary, int *lock);

/* What a run that can be resumed leaves beside the file that `path` leads to: its incomplete
 * output, and the journal of it (io/journal.h). The caller frees the names. */
typedef struct weft_kept_names {
    char *target, *incomplete, *journal;
} weft_kept_names;
weft_status weft_temporary_kept_names(const char *path, weft_kept_names *names);
void weft_kept_names_release(weft_kept_names *names);

/* Opens that incomplete output for this process alone: that of an earlier run (`resumed`), or an
 * empty file, and then there is no journal any more. As weft_temporary_create. */
weft_status weft_temporary_keep(const char *path, bool resumed, char **target, char **temporary,
                                int *lock);

/* Gives up the lock (-1: none) that tells others that the file is in use; *lock becomes -1. */
void weft_temporary_release(int *lock);

/* Renames the temporary to its target. */
weft_status weft_temporary_publish(const char *temporary, const char *target);

/* Fills the temporary with the contents of `source`. */
weft_status weft_temporary_copy(const char *source, const char *temporary);

#endif
