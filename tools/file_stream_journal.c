/*
 * Runs over mapped files that can be resumed: their journal says what has been done, and this says
 * what run the journal is of, and how a tile is stored.
 */
#include "array_run.h"
#include "engine/engine.h"
#include "fault.h"
#include "file_stream.h"
#include "interrupt.h"
#include "io/agreement.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

weft_status file_stream_set_restartable(file_stream_flags *flags, const char *value) {
    flags->restartable = true;
    flags->durable = value != NULL;
    if (value == NULL || strcmp(value, "durable") == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "--restartable=%s: give --restartable or --restartable=durable", value);
}

weft_status file_stream_check(const array_run *run) {
    const file_stream_flags *flags = &run->stream.flags;
    if (!file_stream_keeps(&run->stream) || run->stream.maps) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "--%s: only runs with --stream from file to file, on other devices than host "
                     "those of one process, can be resumed; drop it, or choose those",
                     flags->resume ? "resume" : "restartable");
}

/* ---- what an earlier run left ---- */

weft_status file_stream_find(array_run *run) {
    file_stream *stream = &run->stream;
    MPI_Comm comm = run->world->comm;
    weft_status status = WEFT_SUCCESS;
    int there = 0;
    if (run->world->rank == 0) {
        bool found = false;
        status = weft_array_kept(run->record.output, &found, NULL);
        there = found;
    }
    WEFT_TRY(weft_array_agree(comm, status));
    MPI_Bcast(&there, 1, MPI_INT, 0, comm);
    stream->resumed = stream->flags.resume && there;
    if (file_stream_keeps(stream))
        status = weft_array_kept(run->record.output, &(bool){false}, &stream->journal_path);
    if (there && !stream->resumed && run->world->rank == 0)
        fprintf(stderr,
                "weft: %s: a run that was stopped can be resumed with --resume; this one "
                "starts anew\n",
                run->record.output);
    return weft_array_agree(comm, status);
}

void file_stream_forget(const array_run *run) {
    if (run->world->rank == 0) weft_array_forget_kept(run->record.output);
}

weft_status file_stream_explain(weft_status status) {
    char sentence[WEFT_ERROR_BYTES];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    return weft_fail(status, "%s" INTERRUPT_GO_ON, sentence);
}

/* ---- what run it is ---- */

static void write_window(FILE *text, const weft_problem *p) {
    for (int i = 0; i < p->load.count; i++)
        for (int a = 0; a < p->rank; a++) {
            const weft_window *w = &p->load.list[i].window[a];
            fprintf(text, " %s%s %.17g", weft_window_kind_name(w->kind),
                    w->symmetric ? " symmetric" : "", w->parameter);
        }
}

/* Everything that bits of the result, and of what lies between passes, depend on. */
static void write_identity(const array_run *run, weft_direction direction,
                           const weft_options *options, const struct stat *input, FILE *text) {
    const weft_problem *p = run->record.problem;
    const char *engine = NULL, *device = NULL;
    if (weft_engine_find(options->engine)->probe(&engine) != WEFT_SUCCESS || engine == NULL)
        engine = weft_engine_name(options->engine);
    if (weft_device_probe(options->device, &device) != WEFT_SUCCESS || device == NULL) device = "";
    fprintf(text, "weft: %s\n", weft_version());
    fprintf(text, "input: %lld bytes, changed at %lld.%09ld\n", (long long)input->st_size,
            (long long)input->st_mtim.tv_sec, input->st_mtim.tv_nsec);
    fprintf(text, "transform: %s %s, norm %d, %s, loading %s%s\n", weft_kind_name(p->kind),
            direction == WEFT_INVERSE ? "inverse" : "forward", (int)p->norm,
            weft_precision_name(p->precision), weft_storage_name(p->load_storage),
            options->wire == WEFT_WIRE_SINGLE ? ", a wire of single precision" : "");
    fprintf(text, "axes:");
    for (int a = 0; a < p->rank; a++)
        fprintf(text, " %lld %s", (long long)p->n[a], weft_axis_name(p->axis[a]));
    fprintf(text, "\nwindow:");
    write_window(text, p);
    fprintf(text, "\noutput: %s\n", run->record.output);
    fprintf(text, "engine: %s\n", engine);
    if (options->device != WEFT_HOST)
        fprintf(text, "device: %s%s%s\n", weft_device_name(options->device), *device ? ", " : "",
                device);
    fprintf(text, "tiles:");
    for (int i = 0; i < run->stream.passes; i++) fprintf(text, " %d", run->stream.pass[i].tiles);
    fprintf(text, "\n");
}

static weft_status identify(const array_run *run, weft_direction direction,
                            char identity[WEFT_JOURNAL_IDENTITY + 1]) {
    struct stat input;
    weft_options options = {0};
    WEFT_TRY(weft_plan_options(run->record.plan, &options));
    if (stat(weft_array_path(run->input), &input) != 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot tell its size", run->record.input);
    memset(identity, 0, WEFT_JOURNAL_IDENTITY + 1);
    FILE *text = fmemopen(identity, WEFT_JOURNAL_IDENTITY, "w");
    if (text == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a journal");
    write_identity(run, direction, &options, &input, text);
    const bool fits = ferror(text) == 0 && fclose(text) == 0;
    return fits ? WEFT_SUCCESS
                : weft_fail(WEFT_ERROR_UNSUPPORTED,
                            "--restartable: the name of the output is too long for the journal");
}

/* ---- the journal ---- */

static weft_status open_journal(array_run *run, const weft_journal_subject *subject) {
    file_stream *stream = &run->stream;
    const bool writes = !stream->resumed && run->world->rank == 0;
    const int slots = run->world->ranks;
    return writes ? weft_journal_create(stream->journal_path, subject, slots, stream->flags.durable,
                                        &stream->journal)
                  : weft_journal_open(stream->journal_path, subject, slots, &stream->journal);
}

weft_status file_stream_open_journal(array_run *run, weft_direction direction) {
    file_stream *stream = &run->stream;
    MPI_Comm comm = run->world->comm;
    const int rank = run->world->rank;
    char identity[WEFT_JOURNAL_IDENTITY + 1];
    weft_journal_subject subject = {.identity = identity, .passes = stream->passes};
    for (int p = 0; p < stream->passes; p++) {
        subject.tiles[p] = stream->pass[p].tiles;
        if (stream->pass[p].within && stream->pass[p].tile_bytes > subject.slot_bytes)
            subject.slot_bytes = stream->pass[p].tile_bytes;
    }
    WEFT_TRY(weft_array_agree(comm, identify(run, direction, identity)));
    /* The first process makes it what the others find. */
    WEFT_TRY(weft_array_agree(comm, rank == 0 ? open_journal(run, &subject) : WEFT_SUCCESS));
    WEFT_TRY(weft_array_agree(comm, rank > 0 ? open_journal(run, &subject) : WEFT_SUCCESS));
    interrupt_keeps();
    weft_array_leave(run->output);
    return WEFT_SUCCESS;
}

/* The first pass that is not complete. */
static int pass_at_hand(const file_stream *stream, unsigned char *const *done) {
    for (int p = 0; p < stream->passes; p++)
        if (memchr(done[p], 0, (size_t)stream->pass[p].tiles) != NULL) return p;
    return stream->passes;
}

static weft_status read_done(const file_stream *stream, unsigned char *const *done) {
    for (int p = 0; p < stream->passes; p++)
        WEFT_TRY(weft_journal_read(stream->journal, p, done[p]));
    return WEFT_SUCCESS;
}

/* Whether a tile that is saved may be stored: where that overwrites tiles before it, they must have
 * been stored, or saved and stored again. Else it was saved only, and is computed again. */
static bool may_be_stored(const file_stream *stream, int pass, int tile,
                          unsigned char *const *done) {
    if (pass != pass_at_hand(stream, done) || done[pass][tile]) return false;
    return !stream->pass[pass].changes_size || memchr(done[pass], 0, (size_t)tile) == NULL;
}

/* Stores again the tile of a slot, if it must be. *stored becomes true then. */
static weft_status store_again(array_run *run, weft_direction direction, int slot,
                               unsigned char *const *done, bool *stored) {
    const file_stream *stream = &run->stream;
    int pass, tile;
    void *bytes;
    weft_status status = weft_journal_saved(stream->journal, slot, &pass, &tile, &bytes);
    if (status == WEFT_SUCCESS && pass >= 0 && may_be_stored(stream, pass, tile, done)) {
        status = weft_plan_store_tile(run->record.plan, direction, pass, tile, bytes, run->out);
        done[pass][tile] = 1;
        *stored = true;
    }
    free(bytes);
    return status;
}

/* Slots may have tiles in any order. */
static weft_status store_all_again(array_run *run, weft_direction direction,
                                   unsigned char *const *done) {
    WEFT_TRY(read_done(&run->stream, done));
    for (bool stored = true; stored;) {
        stored = false;
        for (int s = 0; s < weft_journal_slots(run->stream.journal); s++)
            WEFT_TRY(store_again(run, direction, s, done, &stored));
    }
    return WEFT_SUCCESS;
}

weft_status file_stream_go_on(array_run *run, weft_direction direction,
                              unsigned char *const *done) {
    const bool first = run->world->rank == 0;
    WEFT_TRY(weft_array_agree(run->world->comm,
                              first ? store_all_again(run, direction, done) : WEFT_SUCCESS));
    return weft_array_agree(run->world->comm, read_done(&run->stream, done));
}

/* ---- a tile ---- */

/* Half of a tile, where a test wants the run to stop in its middle. */
static weft_status store_half(array_run *run, const weft_tile_copy *tile, const void *src,
                              void *dst) {
    weft_copy half = *tile->copy;
    if (half.axes > 0) {
        half.elements = half.elements / half.n[0] * (half.n[0] / 2);
        half.n[0] /= 2;
    }
    return weft_array_copy_mapped(run->output, &half, src, dst);
}

static weft_status store_saved(array_run *run, const weft_tile_copy *tile, const void *src,
                               void *dst) {
    file_stream *stream = &run->stream;
    if (fault_is_due(FAULT_IN_TILE, tile->pass)) {
        WEFT_TRY(store_half(run, tile, src, dst));
        WEFT_TRY(fault_happens());
    }
    WEFT_TRY(weft_array_copy_mapped(run->output, tile->copy, src, dst));
    if (fault_is_due(FAULT_BEHIND_TILE, tile->pass)) WEFT_TRY(fault_happens());
    if (weft_journal_is_durable(stream->journal)) WEFT_TRY(weft_array_sync(run->output));
    return weft_journal_complete(stream->journal, tile->pass, tile->tile);
}

weft_status file_stream_store(array_run *run, const weft_tile_copy *tile, const void *src,
                              void *dst) {
    const file_stream *stream = &run->stream;
    const weft_copy *copy = tile->copy;
    const char *first = (const char *)src + copy->src_offset * (int64_t)copy->element_bytes;
    if (stream->stage == STORING) return store_saved(run, tile, src, dst);
    if (fault_is_due(FAULT_BEFORE_TILE, tile->pass)) WEFT_TRY(fault_happens());
    /* What is stored again, before the passes, is the tile of a slot. */
    if (stream->pass[tile->pass].within && stream->current == tile->pass)
        WEFT_TRY(weft_journal_save(stream->journal, run->world->rank, tile->pass, tile->tile, first,
                                   weft_copy_source_bytes(copy)));
    return stream->stage == BEFORE_STORING ? WEFT_SUCCESS : store_saved(run, tile, src, dst);
}
