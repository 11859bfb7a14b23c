/* A list of the tables that plans have now. */
#include "engine/native/tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A table may borrow others while it is made, so tables are made without holding the lock. Two
 * threads may make one table at the same time; the second one is thrown away. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_shared_table *tables;

static weft_shared_table *find(const weft_table_kind *kind, const weft_table_key *key) {
    weft_shared_table *t = tables;
    while (t && (t->kind != kind || t->key.kernels != key->kernels ||
                 memcmp(t->key.n, key->n, sizeof key->n) != 0))
        t = t->next;
    if (t) t->plans++;
    return t;
}

static void release(weft_shared_table *t) {
    t->kind->release(t);
    free(t);
}

const void *weft_table_borrow(const weft_table_kind *kind, const weft_table_key *key,
                              size_t *bytes) {
    pthread_mutex_lock(&lock);
    weft_shared_table *found = find(kind, key);
    pthread_mutex_unlock(&lock);
    if (found) return found;
    weft_shared_table *made = calloc(1, kind->bytes);
    size_t held = kind->bytes;
    if (!made) return NULL;
    *made = (weft_shared_table){.kind = kind, .key = *key, .plans = 1};
    if (!kind->make(made, key, &held)) {
        release(made);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    found = find(kind, key);
    if (!found) {
        made->next = tables;
        tables = made;
        *bytes += held;
    }
    pthread_mutex_unlock(&lock);
    if (!found) return made;
    release(made);
    return found;
}

void weft_table_return(const void *table) {
    weft_shared_table *t = (weft_shared_table *)(uintptr_t)table;
    if (!t) return;
    pthread_mutex_lock(&lock);
    const bool last = --t->plans == 0;
    if (last) {
        weft_shared_table **link = &tables;
        while (*link != t) link = &(*link)->next;
        *link = t->next;
    }
    pthread_mutex_unlock(&lock);
    if (last) release(t);
}
