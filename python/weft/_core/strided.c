/*
 * Copies boxes of elements between memory orders.
 *
 * Of all loops the two innermost matter: that along which reads are closest together, and that
 * along which writes are. Where these differ, they run in tiles so narrow that the cache lines of
 * either side stay in the first cache while they are used up.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 8 }; /* as many as a cache has ways: strides of powers of two share a set */

typedef struct loops {
    int64_t n, tile_n;  /* of the innermost loop, and of the tiled loop around it */
    ptrdiff_t from, to; /* steps of the innermost loop */
    ptrdiff_t tile_from, tile_to;
} loops;

#define FOR_TILES(body)                                                                            \
    for (int64_t first = 0; first < l->tile_n; first += TILE) {                                    \
        const int64_t wide = l->tile_n - first < TILE ? l->tile_n - first : TILE;                  \
        for (int64_t i = 0; i < l->n; i++) {                                                       \
            const char *s = from + first * l->tile_from + i * l->from;                             \
            char *d = to + first * l->tile_to + i * l->to;                                         \
            for (int64_t j = 0; j < wide; j++, s += l->tile_from, d += l->tile_to) {               \
                body                                                                               \
            }                                                                                      \
        }                                                                                          \
    }

static void conjugate_8(const char *s, char *d) {
    float z[2];
    memcpy(z, s, 8);
    z[1] = -z[1];
    memcpy(d, z, 8);
}

static void conjugate_16(const char *s, char *d) {
    double z[2];
    memcpy(z, s, 16);
    z[1] = -z[1];
    memcpy(d, z, 16);
}

static void run_loops(const loops *l, core_element element, const char *from, char *to) {
    switch (element) {
    case CORE_COPY_4:
        FOR_TILES(memcpy(d, s, 4);) break;
    case CORE_COPY_8:
        FOR_TILES(memcpy(d, s, 8);) break;
    case CORE_COPY_16:
        FOR_TILES(memcpy(d, s, 16);) break;
    case CORE_CONJUGATE_8:
        FOR_TILES(conjugate_8(s, d);) break;
    case CORE_CONJUGATE_16:
        FOR_TILES(conjugate_16(s, d);) break;
    case CORE_WIDEN_4:
        FOR_TILES(memcpy(d, s, 4); memset(d + 4, 0, 4);) break;
    case CORE_WIDEN_8:
        FOR_TILES(memcpy(d, s, 8); memset(d + 8, 0, 8);) break;
    }
}

/* The loop along which the side with these strides moves least; -1 where all have one turn. */
static int closest(const core_copy *copy, const ptrdiff_t *strides) {
    int best = -1;
    for (int a = 0; a < copy->rank; a++)
        if (copy->n[a] > 1 && (best < 0 || llabs(strides[a]) < llabs(strides[best]))) best = a;
    return best;
}

void core_copy_run(const core_copy *copy, core_element element, const char *from, char *to) {
    for (int a = 0; a < copy->rank; a++)
        if (copy->n[a] == 0) return;
    const int reads = closest(copy, copy->from), writes = closest(copy, copy->to);
    loops inner = {.n = 1, .tile_n = 1};
    if (reads >= 0) {
        inner.tile_n = copy->n[reads];
        inner.tile_from = copy->from[reads];
        inner.tile_to = copy->to[reads];
    }
    if (writes >= 0 && writes != reads) {
        inner.n = copy->n[writes];
        inner.from = copy->from[writes];
        inner.to = copy->to[writes];
    }
    int64_t index[CORE_MAX_COPY_RANK] = {0};
    for (;;) {
        run_loops(&inner, element, from, to);
        int a = copy->rank - 1;
        for (; a >= 0; a--) {
            if (a == reads || a == writes) continue;
            from += copy->from[a];
            to += copy->to[a];
            if (++index[a] < copy->n[a]) break;
            from -= copy->n[a] * copy->from[a];
            to -= copy->n[a] * copy->to[a];
            index[a] = 0;
        }
        if (a < 0) return;
    }
}
