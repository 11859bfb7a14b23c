/*
 * Between memory and tiles: which lines of a pass a tile holds, where their points lie, in one
 * array or in pieces, and how they are loaded into the tile and stored from it, padded, cropped,
 * operated on or past the caches.
 */
#ifndef WEFT_ENGINE_NATIVE_TILE_H
#define WEFT_ENGINE_NATIVE_TILE_H

#include "engine/native/pass.h"

enum { WEFT_TILE_LANES = WEFT_ROW_BYTES / 2 / (int)sizeof(float) /* most lines of a tile */ };

/* A thread's scratch memory: the offsets of the rows of either side, where they differ between
 * tiles; then the lines of a tile, where they are stored as a whole or operated on; then the
 * tile. */
typedef struct weft_tile_work {
    int64_t *in, *out;
    char *lines;
    void *tile;
    bool touch; /* the lines are read from one end to the other before they are loaded */
} weft_tile_work;

/* Bytes of such memory, and of the tile alone. */
size_t weft_tile_room(const weft_native_pass *pass);
size_t weft_tile_bytes(const weft_native_pass *pass);
weft_tile_work weft_tile_divide(const weft_native_pass *pass, void *scratch);

/* The lines of one tile: where it is listed, or the loop indices of each line. Where a tile does
 * not go beyond loop 0, only those of the first line are set. */
typedef struct weft_tile_lines {
    int count;
    const weft_native_tile *listed; /* or NULL */
    int64_t index[WEFT_TILE_LANES][WEFT_PASS_LOOPS];
} weft_tile_lines;

void weft_tile_find(const weft_native_pass *pass, int64_t number, weft_tile_lines *t);

/* Bytes from the address of a piece's array to line number `line` of a tile. */
int64_t weft_tile_offset(const weft_native_pass *pass, const weft_native_piece *piece,
                         const weft_tile_lines *t, int line);

/* The rows of a side whose lines are neighbours: the row of point j is at base +
 * offset[order[j]]. */
typedef struct weft_tile_rows {
    const char *base;
    const int64_t *offset;
} weft_tile_rows;

/* The rows that a tile is loaded from and stored to; `fused`: in the order of the first stage, or
 * of the last. */
weft_tile_rows weft_tile_source(const weft_native_pass *pass, const void *const *in,
                                const weft_tile_lines *t, bool fused, const weft_tile_work *w);
weft_tile_rows weft_tile_target(const weft_native_pass *pass, void *const *out,
                                const weft_tile_lines *t, bool fused, const weft_tile_work *w);

/* Whether `touch` pays: only for small contiguous tiles. */
bool weft_tile_touches(const weft_native_pass *pass);

/* Loads the lines of a tile, or stores its results, past the caches with `stream`. */
void weft_tile_load(const weft_native_pass *pass, const void *const *array,
                    const weft_tile_lines *t, const weft_tile_work *w);
void weft_tile_store(const weft_native_pass *pass, void *const *array, const weft_tile_lines *t,
                     const weft_tile_work *w, bool stream);

#endif
