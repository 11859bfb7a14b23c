/*
 * Tables that plans share: one of a kind is made when the first plan asks for it and freed with the
 * last plan that has it. All functions may be called from any thread.
 */
#ifndef WEFT_ENGINE_NATIVE_TABLES_H
#define WEFT_ENGINE_NATIVE_TABLES_H

#include "engine/native/kernels.h"

#include <stdbool.h>
#include <stddef.h>

/* What a table is made from. */
typedef struct weft_table_key {
    const weft_kernels *kernels;
    int64_t n[4];
} weft_table_key;

typedef struct weft_table_kind {
    size_t bytes; /* of the table itself, which begins with a weft_shared_table */
    /* Makes a table that is all zero but for that beginning. *bytes grows by the memory that it
     * allocates. Returns false when out of memory; the table is released then too. */
    bool (*make)(void *table, const weft_table_key *key, size_t *bytes);
    void (*release)(void *table);
} weft_table_kind;

typedef struct weft_shared_table {
    const weft_table_kind *kind;
    weft_table_key key;
    int plans; /* that have the table */
    struct weft_shared_table *next;
} weft_shared_table;

/* Returns the table, to be given back with weft_table_return; NULL when out of memory. *bytes grows
 * by its memory if it is made, so that a table counts once. */
const void *weft_table_borrow(const weft_table_kind *kind, const weft_table_key *key,
                              size_t *bytes);
void weft_table_return(const void *table); /* NULL is ignored */

#endif
