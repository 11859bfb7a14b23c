/*
 * The Chrome trace of a run: a process for each rank, in it a row for the calling thread, each
 * worker queue and the thread that sends; of a streamed plan rows for the copies in each direction
 * and for what computes, with the number of the tile. Ranks' clocks are set to each other by the
 * barrier that began the run.
 */
#include "record.h"

#include "support/error.h"

#include <stdio.h>

/* Rows of the calling thread, of the sender, and of queues 1, 2, ... */
static int row_of(int queue) {
    return queue == 0 ? 0 : queue == WEFT_SENDER_QUEUE ? 1 : 1 + queue;
}

/* The format's metadata: what a viewer calls a process or a row. */
static void add_name(json_t *events, const char *what, int rank, int row, const char *name) {
    json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", what, "ph",
                                            "M", "pid", rank, "tid", row, "args", "name", name));
}

static void add_row(json_t *events, int rank, int queue, bool streamed) {
    static const char *const lanes[] = {"computing", "to the device", "from the device"};
    char name[32];
    if (queue == 0)
        snprintf(name, sizeof name, "calling thread");
    else if (queue == WEFT_SENDER_QUEUE)
        snprintf(name, sizeof name, "sender");
    else if (streamed && queue <= 3)
        snprintf(name, sizeof name, "%s", lanes[queue - 1]);
    else
        snprintf(name, sizeof name, "queue %d", queue);
    add_name(events, "thread_name", rank, row_of(queue), name);
}

/* One complete event; times in microseconds, as the format wants. */
static json_t *event(const char *name, const char *category, int rank, int row, double begin,
                     double end) {
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:f}", "name", name, "cat", category, "ph",
                     "X", "pid", rank, "tid", row, "ts", 1e6 * begin, "dur", 1e6 * (end - begin));
}

static void add_span(json_t *events, int rank, const weft_span *span) {
    json_t *made = event(weft_phase_name(span->phase), "phase", rank, row_of(span->queue),
                         span->begin, span->end);
    json_t *arguments = json_pack("{s:i}", "step", span->step);
    if (span->partner >= 0) json_object_set_new(arguments, "partner", json_integer(span->partner));
    if (span->tile >= 0) json_object_set_new(arguments, "tile", json_integer(span->tile));
    json_object_set_new(made, "args", arguments);
    json_array_append_new(events, made);
}

static void add_rank(json_t *events, const run_record *record, int rank, const weft_span *spans,
                     bool streamed) {
    const rank_times *times = &record->all[rank];
    const int count = record->all_span_counts[rank];
    char name[32];
    int last_queue = 0;
    bool sender = false;
    snprintf(name, sizeof name, "rank %d", rank);
    add_name(events, "process_name", rank, 0, name);
    for (int i = 0; i < count; i++) {
        if (spans[i].queue > last_queue) last_queue = spans[i].queue;
        sender = sender || spans[i].queue == WEFT_SENDER_QUEUE;
    }
    for (int queue = 0; queue <= last_queue; queue++) add_row(events, rank, queue, streamed);
    if (sender) add_row(events, rank, WEFT_SENDER_QUEUE, streamed);
    for (int s = 0; s < RECORD_STAGES; s++)
        json_array_append_new(events, event(record_stage_name(record, (record_stage)s), "stage",
                                            rank, 0, times->begin[s], times->end[s]));
    for (int i = 0; i < count; i++) add_span(events, rank, &spans[i]);
}

weft_status record_trace(const run_record *record, const command_world *world, const char *path) {
    weft_options options = {0};
    WEFT_TRY(weft_plan_options(record->plan, &options));
    json_t *events = json_array();
    const weft_span *spans = record->all_spans;
    const bool streamed = options.stream == WEFT_STREAM_ON || options.stream == WEFT_STREAM_SYNC;
    for (int r = 0; r < world->ranks; r++) {
        add_rank(events, record, r, spans, streamed);
        spans += record->all_span_counts[r];
    }
    return record_write_json(
        path, RECORD_TIME_DIGITS,
        json_pack("{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ms"));
}
