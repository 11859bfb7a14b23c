/*
 * Files that a streamed plan transforms where they lie, mapped into memory: by one process or by
 * several, each of which does its share of the tiles of every pass with a plan of its own, and in
 * runs that can be resumed. What is streamed from memory, or not at all, is not touched by this.
 */
#ifndef WEFT_TOOLS_FILE_STREAM_H
#define WEFT_TOOLS_FILE_STREAM_H

#include "exec/hook.h"
#include "io/journal.h"
#include "launch.h"

#include <stdatomic.h>

struct array_run;

/* What the command line says. */
typedef struct file_stream_flags {
    bool restartable, durable, resume;
} file_stream_flags;

/* Takes the value of --restartable, or NULL. */
weft_status file_stream_set_restartable(file_stream_flags *flags, const char *value);

/* Tiles that a device transforms one behind another before they are stored in the file. */
enum { FILE_STREAM_ROUND = 3 };

/* How much of a tile an execution does. */
typedef enum file_stream_stage {
    WHOLE_TILE,
    BEFORE_STORING, /* all but storing it; of a run that is kept it is saved */
    STORING
} file_stream_stage;

typedef struct file_stream {
    file_stream_flags flags;
    bool maps;    /* the arrays are the files themselves */
    bool resumed; /* it goes on from what an earlier run has done */
    char *journal_path;
    weft_journal *journal; /* of a run that is kept */
    weft_copy_hook hook;
    weft_pass_outline pass[WEFT_MAX_PASSES];
    int passes;
    int current; /* the pass that an execution works on; EVERY_PASS: all in one execution */
    int round[FILE_STREAM_ROUND]; /* tiles of that pass that an execution works on; ... */
    int in_round;                 /* ... how many they are; EVERY_TILE: all of this process */
    file_stream_stage stage;
    /* Of a run that is kept on another device than the host: where tiles of a round land. */
    char *landing;
    int64_t landing_bytes;                /* of a tile */
    int64_t landed[FILE_STREAM_ROUND];    /* bytes that are copied, of each tile */
    unsigned char *mine[WEFT_MAX_PASSES]; /* [tiles]: 1: of this process; NULL: all of the pass */
} file_stream;

/* Whether what is done is kept when the run ends early, so that it can be resumed. */
static inline bool file_stream_keeps(const file_stream *stream) {
    return stream->flags.restartable || stream->flags.resume;
}

/* Fails where the command line asks for a run that can be resumed, and this is none of those that
 * can, once it is known what is mapped. Not collective. */
weft_status file_stream_check(const struct array_run *run);

/* Looks for what an earlier run left of the output, before that is created, and says where this run
 * does not go on from it. Collective. */
weft_status file_stream_find(struct array_run *run);

/* Sets the hook of the plan. *bytes is what this process is to copy, or 0 where the plan is not
 * streamed. Of a run that is kept it writes the journal or goes on with it. The files are mapped.
 * Collective. */
weft_status file_stream_begin(struct array_run *run, weft_direction direction, int64_t *bytes);

/* Carries out what is left of the passes. Collective. */
weft_status file_stream_execute(struct array_run *run, weft_direction direction);

/* The output has its name, so nothing can be resumed any more. Not collective. */
void file_stream_forget(const struct array_run *run);

/* Before the plan is destroyed. */
void file_stream_release(struct array_run *run);

/* ---- file_stream_journal.c ---- */

/* Opens the journal of a run that is kept, or writes it. Collective. */
weft_status file_stream_open_journal(struct array_run *run, weft_direction direction);

/* Stores again what was being stored when the run was stopped. done[p][i] becomes 1 for tile i of
 * pass p if it is complete. Collective. */
weft_status file_stream_go_on(struct array_run *run, weft_direction direction,
                              unsigned char *const *done);

/* Stores a tile of a run that is kept, so that it is not lost wherever the run stops. */
weft_status file_stream_store(struct array_run *run, const weft_tile_copy *tile, const void *src,
                              void *dst);

/* The sentence of a failure, with how to go on. Returns `status`. */
weft_status file_stream_explain(weft_status status);

#endif
