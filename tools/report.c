/* The report of a run, as JSON. */
#include "io/temporary.h"
#include "record.h"
#include "support/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

weft_status record_check_path(const char *path) {
    char *target = NULL, *temporary = NULL;
    int lock = -1;
    if (path == NULL) return WEFT_SUCCESS;
    WEFT_TRY(weft_temporary_create(path, &target, &temporary, &lock));
    unlink(temporary);
    weft_temporary_release(&lock);
    free(temporary);
    free(target);
    return WEFT_SUCCESS;
}

weft_status record_write_json(const char *path, int digits, json_t *document) {
    char *target = NULL, *temporary = NULL;
    int lock = -1;
    weft_status status = document != NULL
                             ? weft_temporary_create(path, &target, &temporary, &lock)
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for it", path);
    if (status == WEFT_SUCCESS) {
        if (json_dump_file(document, temporary,
                           JSON_INDENT(2) | JSON_REAL_PRECISION((size_t)digits)) != 0)
            status = weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", path, strerror(errno));
        else
            status = weft_temporary_publish(temporary, target);
        if (status != WEFT_SUCCESS) unlink(temporary);
    }
    weft_temporary_release(&lock);
    free(temporary);
    free(target);
    json_decref(document);
    return status;
}

static json_t *numbers(const int64_t *n, int count) {
    json_t *list = json_array();
    for (int a = 0; a < count; a++) json_array_append_new(list, json_integer(n[a]));
    return list;
}

static json_t *describe_array(const char *name, const weft_array_info *info) {
    return json_pack("{s:s, s:s, s:o}", "file", name, "element", weft_element_name(info->element),
                     "shape", numbers(info->n, info->rank));
}

static json_t *describe_convolution(const run_record *record) {
    const weft_convolution_problem *p = record->convolution;
    json_t *boundaries = json_array(), *lengths = json_array();
    for (int a = 0; a < p->rank; a++) {
        json_array_append_new(boundaries, json_string(weft_boundary_name(p->boundary[a])));
        json_array_append_new(lengths,
                              json_real(p->length[a] > 0 ? p->length[a] : (double)p->n[a]));
    }
    json_t *kernel = json_pack("{s:s, s:s}", "name", record->kernel, "kind",
                               weft_kernel_kind_name(p->kernel.kind));
    if (p->kernel.kind == WEFT_KERNEL_ARRAY) {
        json_object_set_new(kernel, "shape", numbers(p->kernel.n, p->rank));
        json_object_set_new(kernel, "origin", numbers(p->kernel.origin, p->rank));
    }
    json_t *document =
        json_pack("{s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:b}", "shape", numbers(p->n, p->rank),
                  "kind", weft_kind_name(p->kind), "precision", weft_precision_name(p->precision),
                  "boundary", boundaries, "mode", weft_convolution_mode_name(p->mode), "length",
                  lengths, "kernel", kernel, "correlate", p->correlate);
    if (document != NULL && p->deconvolve)
        json_object_set_new(document, "regularizer", json_real(p->regularizer));
    return document;
}

static json_t *describe_transform(const run_record *record) {
    static const char *const norms[] = {"none", "backward", "ortho", "forward"};
    const weft_problem *p = record->problem;
    json_t *axes = json_array();
    for (int a = 0; a < p->rank; a++)
        json_array_append_new(axes, json_string(weft_axis_name(p->axis[a])));
    return json_pack("{s:o, s:s, s:o, s:s, s:I, s:s, s:s}", "shape", numbers(p->n, p->rank), "kind",
                     weft_kind_name(p->kind), "axes", axes, "precision",
                     weft_precision_name(p->precision), "batch",
                     (json_int_t)(p->batch > 0 ? p->batch : 1), "norm", norms[p->norm], "direction",
                     record->direction == WEFT_FORWARD ? "forward" : "inverse");
}

static json_t *describe_options(weft_plan plan) {
    weft_options o = {0};
    if (weft_plan_options(plan, &o) != WEFT_SUCCESS) return json_null();
    json_t *grid = json_array(), *exchange = json_array();
    for (int a = 0; a < WEFT_MAX_RANK && o.grid[a] > 0; a++)
        json_array_append_new(grid, json_integer(o.grid[a]));
    for (int k = 0; k < WEFT_MAX_RANK && o.exchange[k] != WEFT_EXCHANGE_AUTO; k++)
        json_array_append_new(exchange, json_string(weft_exchange_name(o.exchange[k])));
    return json_pack("{s:s, s:o, s:s, s:o, s:s, s:s, s:i, s:s, s:I, s:s}", "decomposition",
                     weft_decomposition_name(o.decomposition), "grid", grid, "variant",
                     weft_variant_name(o.variant), "exchange", exchange, "engine",
                     weft_engine_name(o.engine), "device", weft_device_name(o.device), "threads",
                     o.threads, "effort", weft_effort_name(o.effort), "memory_limit",
                     (json_int_t)o.device_memory_limit, "wire",
                     o.wire == WEFT_WIRE_SINGLE ? "single" : "same");
}

/* The plan's own JSON, read back so that it becomes part of this document. */
static json_t *describe_plan(weft_plan plan) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    json_t *document = NULL;
    if (stream == NULL) return json_null();
    weft_status status = weft_plan_explain(plan, stream, WEFT_JSON);
    if (fclose(stream) == 0 && status == WEFT_SUCCESS) document = json_loadb(text, length, 0, NULL);
    free(text);
    return document != NULL ? document : json_null();
}

static json_t *describe_times(const run_record *record, int rank) {
    const rank_times *t = &record->all[rank];
    json_t *times =
        json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I}", "rank", rank, "total",
                  t->total, "fft", t->fft, "pack", t->pack, "exchange", t->exchange, "unpack",
                  t->unpack, "copy", t->copy, "local", t->local, "bytes_sent",
                  (json_int_t)t->bytes_sent, "messages_sent", (json_int_t)t->messages_sent);
    for (int s = 0; s < RECORD_STAGES; s++) {
        char name[32];
        snprintf(name, sizeof name, "%s_stage", record_stage_name(record, (record_stage)s));
        json_object_set_new(times, name, json_real(t->end[s] - t->begin[s]));
    }
    return times;
}

weft_status record_report(const run_record *record, const command_world *world, const char *path) {
    json_t *timings = json_array();
    for (int r = 0; r < world->ranks; r++)
        json_array_append_new(timings, describe_times(record, r));
    json_t *document = json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "weft", weft_version(), "command",
        record->command, "ranks", world->ranks, "input",
        describe_array(record->input, &record->input_info), "output",
        describe_array(record->output, &record->output_info), "problem",
        record->convolution != NULL ? describe_convolution(record) : describe_transform(record),
        "options", describe_options(record->plan), "plan", describe_plan(record->plan), "timings",
        timings);
    if (document != NULL && record->round_trip >= 0.0)
        json_object_set_new(document, "round_trip_error", json_real(record->round_trip));
    return record_write_json(path, RECORD_TIME_DIGITS, document);
}
