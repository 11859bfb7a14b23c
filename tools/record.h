/*
 * What a run did, gathered from all ranks: for the summary on the terminal, the report and the
 * trace.
 */
#ifndef WEFT_TOOLS_RECORD_H
#define WEFT_TOOLS_RECORD_H

#include "io/array.h"
#include "launch.h"

#include <jansson.h>

typedef enum record_stage {
    RECORD_PLAN = 0,
    RECORD_READ,
    RECORD_EXECUTE,
    RECORD_WRITE,
    RECORD_STAGES
} record_stage;

/* Times of one rank, in seconds; begin counts from a moment that is the same on all ranks. Doubles
 * only: ranks send it as an array of them. */
typedef struct rank_times {
    double begin[RECORD_STAGES], end[RECORD_STAGES];
    double total, fft, pack, exchange, unpack, copy, local, bytes_sent, messages_sent;
} rank_times;

typedef struct run_record {
    const char *command;
    const char *input, *output; /* names of files */
    weft_array_info input_info, output_info;
    const weft_problem *problem; /* of a transform, or NULL */
    weft_direction direction;
    const weft_convolution_problem *convolution; /* of a convolution, or NULL */
    const char *kernel;                          /* as the command line names it */
    weft_plan plan;
    double origin; /* weft_clock() of the common moment */
    rank_times mine;
    rank_times *all;  /* rank 0, after record_gather */
    weft_span *spans; /* of the transform on this rank, begin and end counted from origin; owned */
    int span_count;
    weft_span *all_spans; /* rank 0, after record_gather: those of rank 0, of rank 1, ... */
    int *all_span_counts;
    double round_trip; /* relative error; negative: not checked */
} run_record;

/* "plan", "read", the command, "write". */
const char *record_stage_name(const run_record *record, record_stage stage);

/* Names the moment from which times count. Collective. */
void record_start(run_record *record, const command_world *world);
void record_begin(run_record *record, record_stage stage);
void record_end(run_record *record, record_stage stage);

/* Adds the timings of the plan's last execution, and its spans where it keeps a trace. */
weft_status record_timings(run_record *record);

/* Collects times and spans of all ranks on rank 0. Collective. */
weft_status record_gather(run_record *record, const command_world *world);
void record_release(run_record *record);

/* Prints the summary, or writes the report or the trace. Rank 0 only, after record_gather. */
weft_status record_print(const run_record *record, const command_world *world);
weft_status record_report(const run_record *record, const command_world *world, const char *path);
weft_status record_trace(const run_record *record, const command_world *world, const char *path);

/* "pencil 2x2, realigned, a2a-sync, engine fftw on host": what a plan settled on. */
weft_status record_describe_plan(weft_plan plan, char *text, size_t capacity);

/* Fails where record_write_json would not be able to write `path` (NULL: nothing is asked for), so
 * that nobody waits for a result that is then lost. */
weft_status record_check_path(const char *path);

/* Digits of real numbers in documents: of times, and of results, which lose nothing. */
enum { RECORD_TIME_DIGITS = 9, RECORD_ALL_DIGITS = 17 };

/* Writes a document under a temporary name and renames it. Takes over the reference to `document`.
 */
weft_status record_write_json(const char *path, int digits, json_t *document);

#endif
