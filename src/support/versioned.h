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

/* Copies a caller's struct into *mine: what both know, and zero beyond. One that asks for something
 * that this version does not know, that is, which is not zero beyond that, is refused, as is a size
 * that no version has. `what` is its name in sentences. */
weft_status weft_versioned_read(weft_versioned type, const void *theirs, void *mine,
                                const char *what);

/* Copies *mine into a caller's struct, as far as its struct_size goes, and zero beyond what this
 * version has. A struct_size of 0 becomes this version's. */
weft_status weft_versioned_write(weft_versioned type, const void *mine, void *theirs,
                                 const char *what);

#endif
