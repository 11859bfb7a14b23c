/* A hash of bytes, for names of cached files and for telling whether data is the same or whole:
 * FNV-1a (Fowler, Noll, Vo), 64 bits. Not for keeping secrets or adversaries out. */
#ifndef WEFT_SUPPORT_HASH_H
#define WEFT_SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_HASH_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Continues a hash with more bytes. */
static inline uint64_t weft_hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
