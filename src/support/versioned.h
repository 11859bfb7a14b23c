/*
 * Structs of the public interface that have a struct_size: reading those of callers compiled with
 * other versions, and writing them. New members take their places from `reserved`, never from
 * padding, which callers need not have set.
 */
#ifndef WEFT_SUPPORT_VERSIONED_H
#define WEFT_SUPPORT_VERSIONED_H

#include <weft/weft.h>

typedef struct weft_versioned {
    size_t least; /* the first version's size */
    size_t known; /* beyond is what it reserves */
    size_t size;
} weft_versioned;

/* `second` is the first member that the first version did not have. */
#define WEFT_VERSIONED(type, second)                                                               \
    { .least = offsetof(type, second), .known = offsetof(type, reserved), .size = sizeof(type) }

/* Copies a caller's struct into *mine: the members that both versions know, and zero beyond.
 * Fails if members beyond those known to this version are not zero, since the caller then asks
 * for something unknown, or if no version has the struct's size. `what` is its name in error
 * messages. */
weft_status weft_versioned_read(weft_versioned type, const void *theirs, void *mine,
                                const char *what);

/* Copies *mine into a caller's struct, as far as its struct_size goes, and zero beyond what this
 * version has. A struct_size of 0 becomes this version's. */
weft_status weft_versioned_write(weft_versioned type, const void *mine, void *theirs,
                                 const char *what);

#endif
