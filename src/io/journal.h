/*
 * The journal of a run that writes an array tile by tile, in passes, and can be resumed: what run
 * it is, which tiles are complete, and the tiles that were being stored when it ended. A small file
 * beside the output, which all processes of a run write into, each its own bytes.
 *
 * A tile of a pass that reads the array which it writes cannot be computed again once some of it is
 * stored. So it is saved in a slot of the journal before it is stored, and stored from there again
 * when the run is resumed. A process stores one tile at a time and has one slot.
 *
 * What was written is kept by the system when a process ends, however that happens. A journal that
 * is durable also orders what reaches the disk, so that it is right after the machine has failed.
 */
#ifndef WEFT_IO_JOURNAL_H
#define WEFT_IO_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <weft/weft.h>

enum { WEFT_JOURNAL_PASSES = 2 * WEFT_MAX_RANK };

/* What a journal is of. Runs of which this is the same compute the same bits. */
typedef struct weft_journal_subject {
    const char *identity; /* lines "NAME: VALUE"; at most WEFT_JOURNAL_IDENTITY bytes */
    int passes;
    int tiles[WEFT_JOURNAL_PASSES];
    int64_t slot_bytes; /* no saved tile is larger; 0: none is saved */
} weft_journal_subject;
enum { WEFT_JOURNAL_IDENTITY = 3000 };

typedef struct weft_journal weft_journal;

/* Whether there is something at `path` that claims to be a journal. */
bool weft_journal_exists(const char *path);

/* Writes a journal without a complete tile, and reserves its space; the file that was there is
 * lost. The caller closes *journal. */
weft_status weft_journal_create(const char *path, const weft_journal_subject *subject, int slots,
                                bool durable, weft_journal **journal);

/* Opens a journal, with at least so many slots. Fails with WEFT_ERROR_MISMATCH where it is of
 * another subject, or not to be relied on since the machine has failed, or damaged. */
weft_status weft_journal_open(const char *path, const weft_journal_subject *subject, int slots,
                              weft_journal **journal);
void weft_journal_close(weft_journal **journal);

bool weft_journal_is_durable(const weft_journal *journal);
int weft_journal_slots(const weft_journal *journal);

/* done[i] becomes 1 for each tile of the pass that is complete, else 0. */
weft_status weft_journal_read(const weft_journal *journal, int pass, unsigned char *done);

/* Says that a tile is complete. Of a durable journal the caller has seen to it that the tile is on
 * the disk. */
weft_status weft_journal_complete(weft_journal *journal, int pass, int tile);

/* Saves a tile, before any of it is stored, in place of the one in that slot, which must be
 * complete. */
weft_status weft_journal_save(weft_journal *journal, int slot, int pass, int tile,
                              const void *bytes, int64_t count);

/* The tile in a slot, if there is one: *pass is else -1. The caller frees *bytes. */
weft_status weft_journal_saved(const weft_journal *journal, int slot, int *pass, int *tile,
                               void **bytes);

#endif
