/*
 * Wisdom: which candidate effort MEASURE or PATIENT found fastest, kept in a file from one process
 * to the next. The file is a JSON object; each member is a call on a machine, in words, and the
 * choice that was made for it:
 * {"256x256x256 r2c double, ...": {"decomposition": "pencil", "variant": "default", "grid": [2, 2],
 * "exchange": ["peer", "a2a-sync"], "tiles": 1, "streamed": false, "resident": false,
 * "seconds": 0.021}}
 * and, of one that streams within a part of the room, "room_parts": 2 (or 4, ...).
 */
#ifndef WEFT_PLAN_WISDOM_FILE_H
#define WEFT_PLAN_WISDOM_FILE_H

#include "support/cache_file.h"

#include <jansson.h>
#include <weft/weft.h>

/* wisdom.json in the cache folder (support/cache_file.h); false where there is none. */
bool weft_wisdom_path(char path[WEFT_PATH_BYTES]);

/* Reads a file into a new object, which is empty where there is no file. INVALID_ARGUMENT for
 * content, with a sentence that names file and member; SYSTEM where it cannot be read. */
weft_status weft_wisdom_read(const char *path, json_t **wisdom);

/* Replaces a file at once. */
weft_status weft_wisdom_write(const char *path, const json_t *wisdom);

/* Reads a file, lets `change` alter the object, and replaces the file, while nobody else does so
 * (by a lock on a file beside it, that of `path` with ".lock", which stays). Fails where another
 * process holds the lock for more than five seconds. */
weft_status weft_wisdom_change(const char *path, void (*change)(json_t *wisdom, void *argument),
                               void *argument);

#endif
