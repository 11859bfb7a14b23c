/*
 * Hooks into the tiles of a streamed plan, for programs of this project whose arrays are files:
 * they may carry out the copies between the caller's arrays and the device themselves, are told of
 * each one that was made, and may have an execution work on some of the tiles only. Not part of the
 * public interface.
 */
#ifndef WEFT_EXEC_HOOK_H
#define WEFT_EXEC_HOOK_H

#include "layout/layout.h"

#include <weft/weft.h>

/* What is done with a tile: it is copied to the device and transformed, and (`stores`) copied back.
 * Tiles of a pass are numbered in the order in which an execution takes them. */
typedef struct weft_tile_copy {
    int pass, tile;
    bool stores;
    const weft_copy *copy; /* NULL: the transform */
} weft_tile_copy;

/* `copy` and `copied` are called from threads of the library, several at a time, but for one
 * direction only one at a time. */
typedef struct weft_copy_hook {
    /* Copies as weft_copy_run does. Only called where the device is the host. */
    weft_status (*copy)(void *context, const weft_tile_copy *tile, const void *src, void *dst);
    /* So many bytes of a tile have been copied, in either direction. */
    void (*copied)(void *context, const weft_tile_copy *tile, int64_t bytes);
    /* Whether an execution does that with a tile; NULL: it does all. A tile that is transformed and
     * not stored is there for the next execution, which may store it alone. The answer must not
     * change during an execution. */
    bool (*wanted)(void *context, const weft_tile_copy *tile);
    /* Where a tile that is stored is copied to instead of the caller's array, as it lies in the
     * device's memory: weft_copy_source_bytes of page-locked memory. It is complete once the
     * execution has succeeded, and weft_plan_store_tile stores it. NULL: all are stored at once.
     * Not called where the device is the host. */
    void *(*landing)(void *context, const weft_tile_copy *tile);
    void *context;
} weft_copy_hook;

/* Streamed plans that are made in the context from now on leave nothing on the device between
 * passes: all of the array is in the caller's then. Not collective; the same on all ranks. */
void weft_context_leave_on_host(weft_context ctx);

/* Gives a plan its hook, which must outlive the plan's executions. *bytes is what an execution in
 * `direction`, out of place, copies in all, of the tiles that are wanted now, or 0 where the plan
 * is not streamed. Not collective. */
weft_status weft_plan_hook_copies(weft_plan plan, const weft_copy_hook *hook,
                                  weft_direction direction, int64_t *bytes);

/* What is done with the array in a pass of an execution out of place. */
typedef struct weft_pass_outline {
    int tiles;
    bool within;       /* it reads the array that it writes, ... */
    bool changes_size; /* ... where a tile becomes one of another size, at another place: tiles must
                          be taken in their order, since one is written over those before it */
    int64_t tile_bytes; /* on the device, before it is stored: no more than this */
} weft_pass_outline;

enum { WEFT_MAX_PASSES = 2 * WEFT_MAX_RANK };

/* The passes of a streamed plan; *count is 0 where the plan is not streamed. Not collective. */
void weft_plan_outline(weft_plan plan, weft_direction direction,
                       weft_pass_outline pass[WEFT_MAX_PASSES], int *count);

/* The bytes of the memory that a copy reads, from the first one that it reads on. */
int64_t weft_copy_source_bytes(const weft_copy *copy);

/* Has the hook store a tile in the caller's array `out`, from those bytes. The plan has a hook. Not
 * collective. */
weft_status weft_plan_store_tile(weft_plan plan, weft_direction direction, int pass, int tile,
                                 const void *bytes, void *out);

#endif
