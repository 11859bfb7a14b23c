/*
 * Executions of a streamed plan over mapped files. One process whose run is not kept executes the
 * plan once. Otherwise there is an execution for each pass, of the tiles that this process has in
 * it, and the processes meet behind it: a pass reads what all of them wrote in the one before. The
 * plan is the same in each process, and a tile's bits do not depend on who transforms it.
 *
 * Where a run is kept that another device than the host computes, there is an execution for every
 * few tiles, which land in page-locked memory. They are stored once it has succeeded: what a device
 * hands over tells too late that it is wrong, where storing it destroys what it was made from.
 */
#include "file_stream.h"

#include "array_run.h"
#include "io/agreement.h"
#include "support/error.h"

#include <stdlib.h>

enum { EVERY_PASS = -1, EVERY_TILE = -1 };

/* ---- the hook ---- */

/* One side of a copy is a file, the output at both ends of what lies between passes. */
static weft_status copy_tile(void *context, const weft_tile_copy *tile, const void *src,
                             void *dst) {
    array_run *run = context;
    if (tile->stores && file_stream_keeps(&run->stream))
        return file_stream_store(run, tile, src, dst);
    const bool reads_input = weft_array_has(run->input, src);
    return weft_array_copy_mapped(reads_input ? run->input : run->output, tile->copy, src, dst);
}

static void count_copied(void *context, const weft_tile_copy *tile, int64_t bytes) {
    array_run *run = context;
    if (tile->stores && run->stream.stage == BEFORE_STORING) return; /* it was saved */
    atomic_fetch_add(&run->progress.done, bytes);
}

static bool is_in_stage(const file_stream *stream, bool stores) {
    if (stream->stage == STORING) return stores;
    return stream->stage == WHOLE_TILE || !stores || file_stream_keeps(stream);
}

/* -1: it is none of them. */
static int place_in_round(const file_stream *stream, int tile) {
    for (int i = 0; i < stream->in_round; i++)
        if (stream->round[i] == tile) return i;
    return -1;
}

static bool is_wanted(void *context, const weft_tile_copy *tile) {
    const file_stream *stream = &((array_run *)context)->stream;
    const unsigned char *mine = stream->mine[tile->pass];
    return (stream->current == EVERY_PASS || stream->current == tile->pass) &&
           (stream->in_round == EVERY_TILE || place_in_round(stream, tile->tile) >= 0) &&
           (mine == NULL || mine[tile->tile] != 0) && is_in_stage(stream, tile->stores);
}

static void *landing_of(void *context, const weft_tile_copy *tile) {
    file_stream *stream = &((array_run *)context)->stream;
    const int place = place_in_round(stream, tile->tile);
    stream->landed[place] = tile->copy->elements * (int64_t)tile->copy->element_bytes;
    return stream->landing + place * stream->landing_bytes;
}

/* ---- who does which tiles ---- */

/* Replaces what is done by what this process is to do: every so many of the tiles that are left. */
static void share_out(const array_run *run, const weft_pass_outline *pass, unsigned char *tiles) {
    const command_world *world = run->world;
    int left = 0;
    for (int i = 0; i < pass->tiles; i++)
        tiles[i] = tiles[i] == 0 && left++ % world->ranks == world->rank;
}

static weft_status allocate_tiles(file_stream *stream) {
    for (int p = 0; p < stream->passes; p++) {
        stream->mine[p] = calloc((size_t)stream->pass[p].tiles + 1, 1);
        if (stream->mine[p] == NULL)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a list of tiles");
    }
    return WEFT_SUCCESS;
}

/* ---- a run ---- */

static bool goes_pass_by_pass(const array_run *run) {
    return run->stream.passes > 0 && (file_stream_keeps(&run->stream) || run->world->ranks > 1);
}

static weft_status allocate_landing(array_run *run) {
    file_stream *stream = &run->stream;
    void *memory = NULL;
    if (!file_stream_keeps(stream) || run->shared->plan.device == WEFT_HOST) return WEFT_SUCCESS;
    for (int p = 0; p < stream->passes; p++)
        if (stream->pass[p].tile_bytes > stream->landing_bytes)
            stream->landing_bytes = stream->pass[p].tile_bytes;
    WEFT_TRY(weft_host_buffer_create(run->record.plan,
                                     FILE_STREAM_ROUND * (size_t)stream->landing_bytes, &memory));
    stream->landing = memory;
    stream->hook.landing = landing_of;
    return WEFT_SUCCESS;
}

weft_status file_stream_begin(array_run *run, weft_direction direction, int64_t *bytes) {
    file_stream *stream = &run->stream;
    const weft_plan plan = run->record.plan;
    MPI_Comm comm = run->world->comm;
    *bytes = 0;
    if (!stream->maps) return WEFT_SUCCESS;
    stream->current = EVERY_PASS;
    stream->in_round = EVERY_TILE;
    stream->hook = (weft_copy_hook){
        .copy = copy_tile, .copied = count_copied, .wanted = is_wanted, .context = run};
    weft_plan_outline(plan, direction, stream->pass, &stream->passes);
    if (goes_pass_by_pass(run)) {
        WEFT_TRY(weft_array_agree(comm, allocate_landing(run)));
        WEFT_TRY(weft_array_agree(comm, allocate_tiles(stream)));
        if (file_stream_keeps(stream)) WEFT_TRY(file_stream_open_journal(run, direction));
        WEFT_TRY(
            weft_array_agree(comm, weft_plan_hook_copies(plan, &stream->hook, direction, bytes)));
        if (file_stream_keeps(stream)) WEFT_TRY(file_stream_go_on(run, direction, stream->mine));
        for (int p = 0; p < stream->passes; p++) share_out(run, &stream->pass[p], stream->mine[p]);
    }
    return weft_array_agree(comm, weft_plan_hook_copies(plan, &stream->hook, direction, bytes));
}

static weft_status execute_pass(array_run *run, weft_direction direction) {
    weft_status status = weft_execute(run->record.plan, direction, run->in, run->out);
    if (status == WEFT_SUCCESS) status = record_timings(&run->record);
    return weft_array_agree(run->world->comm, status);
}

/* This process' next tile of the pass at hand; the number of tiles where there is none. */
static int next_of_mine(const file_stream *stream, int before) {
    const int tiles = stream->pass[stream->current].tiles;
    int tile = before + 1;
    while (tile < tiles && stream->mine[stream->current][tile] == 0) tile++;
    return tile < tiles ? tile : tiles;
}

/* A pass whose tiles are stored over those before them: each process has its next tile ready, of
 * those that follow each other, before any of them is stored. */
static weft_status execute_in_rounds(array_run *run, weft_direction direction) {
    file_stream *stream = &run->stream;
    const int tiles = stream->pass[stream->current].tiles;
    weft_status status = WEFT_SUCCESS;
    int rounds = 0; /* of the first process, which has no fewer tiles than others */
    for (int t = next_of_mine(stream, -1); t < tiles; t = next_of_mine(stream, t)) rounds++;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, run->world->comm);
    for (int i = 0, t = -1; i < rounds && status == WEFT_SUCCESS; i++) {
        t = next_of_mine(stream, t);
        stream->round[0] = t;
        stream->in_round = 1;
        stream->stage = BEFORE_STORING;
        status = execute_pass(run, direction);
        stream->stage = STORING;
        if (status == WEFT_SUCCESS) status = execute_pass(run, direction);
    }
    stream->stage = WHOLE_TILE;
    stream->in_round = EVERY_TILE;
    return status;
}

/* Stores the tiles that have landed. */
static weft_status store_round(array_run *run, weft_direction direction) {
    file_stream *stream = &run->stream;
    for (int i = 0; i < stream->in_round; i++) {
        WEFT_TRY(weft_plan_store_tile(run->record.plan, direction, stream->current,
                                      stream->round[i], stream->landing + i * stream->landing_bytes,
                                      run->out));
        atomic_fetch_add(&run->progress.done, stream->landed[i]);
    }
    return WEFT_SUCCESS;
}

/* A pass whose tiles land before they are stored. */
static weft_status execute_landing(array_run *run, weft_direction direction) {
    file_stream *stream = &run->stream;
    const int tiles = stream->pass[stream->current].tiles;
    weft_status status = WEFT_SUCCESS;
    for (int t = next_of_mine(stream, -1); t < tiles && status == WEFT_SUCCESS;) {
        for (stream->in_round = 0; stream->in_round < FILE_STREAM_ROUND && t < tiles;
             t = next_of_mine(stream, t))
            stream->round[stream->in_round++] = t;
        status = execute_pass(run, direction);
        if (status == WEFT_SUCCESS)
            status = weft_array_agree(run->world->comm, store_round(run, direction));
    }
    stream->in_round = EVERY_TILE;
    return status;
}

weft_status file_stream_execute(array_run *run, weft_direction direction) {
    file_stream *stream = &run->stream;
    weft_status status = WEFT_SUCCESS;
    if (!goes_pass_by_pass(run)) return execute_pass(run, direction);
    for (int p = 0; p < stream->passes && status == WEFT_SUCCESS; p++) {
        const bool shifts = stream->pass[p].within && stream->pass[p].changes_size;
        stream->current = p;
        status = stream->landing != NULL           ? execute_landing(run, direction)
                 : shifts && run->world->ranks > 1 ? execute_in_rounds(run, direction)
                                                   : execute_pass(run, direction);
    }
    return status != WEFT_SUCCESS && file_stream_keeps(stream) ? file_stream_explain(status)
                                                               : status;
}

void file_stream_release(array_run *run) {
    file_stream *stream = &run->stream;
    void *landing = stream->landing;
    weft_host_buffer_destroy(run->record.plan, &landing);
    weft_journal_close(&stream->journal);
    free(stream->journal_path);
    stream->journal_path = NULL;
    for (int p = 0; p < stream->passes; p++) free(stream->mine[p]);
}
