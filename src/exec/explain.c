/*
 * weft_plan_explain: the plan as text or JSON. The report is one JSON value, of which the text is a
 * rendering, so that the two never disagree.
 */
#include "exec/plan.h"

#include "exec/explain.h"
#include "support/axis.h"
#include "support/c_locale.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

static const char *buffer_name(const weft_schedule *schedule, int buffer) {
    static const char *const names[WEFT_BUFFERS] = {
        "input",       "output",       "workspace 1",     "workspace 2",  "workspace 3",
        "workspace 4", "staging send", "staging receive", "third staging"};
    if (schedule->in_place && buffer == WEFT_BUFFER_OUT) return "array";
    return buffer < 0 ? "none" : names[buffer];
}

static json_t *integers(const int64_t *values, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, json_integer(values[i]));
    return array;
}

static json_t *small_integers(const int *values, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, json_integer(values[i]));
    return array;
}

/* Loops and transform dimensions of an FFT step: [n, stride in, stride out] each. */
static json_t *dimensions(const weft_dimension *dimension, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, json_pack("[III]", (json_int_t)dimension[i].n,
                                               (json_int_t)dimension[i].in_stride,
                                               (json_int_t)dimension[i].out_stride));
    return array;
}

static void describe_fused(const weft_fused_operators *f, const char *key, json_t *out) {
    if (f->list) json_object_set_new(out, key, weft_explain_operators(f->list, &f->layout));
}

static void describe_fft(const weft_step *step, json_t *out) {
    const weft_fft_step *fft = &step->as.fft;
    const weft_transform *t = &fft->transform;
    static const char *const kinds[] = {"c2c", "r2c", "c2r", "r2r"};
    json_object_set_new(out, "kind", json_string(kinds[t->kind]));
    json_object_set_new(out, "axes", small_integers(fft->axis, t->dims));
    if (t->kind == WEFT_TRANSFORM_R2R) {
        json_t *types = json_array();
        for (int d = t->dims - 1; d >= 0; d--) /* as `axes` */
            json_array_append_new(types,
                                  json_string(weft_axis_name(weft_axis_in_order(t->type[d]))));
        json_object_set_new(out, "types", types);
    }
    json_object_set_new(out, "dimensions", dimensions(t->dim, t->dims));
    json_object_set_new(out, "loops", dimensions(t->loop, t->loops));
    json_object_set_new(out, "flops", json_real(step->flops));
    json_object_set_new(out, "tiles", json_integer(fft->tiles));
    json_object_set_new(out, "remote_tiles", json_integer(fft->remote_tiles));
    if (t->round_trip) json_object_set_new(out, "round_trip", json_true());
    describe_fused(&t->load, "load", out);
    describe_fused(&t->spectral, "spectral", out);
    describe_fused(&t->store, "store", out);
}

static void describe_exchange(const weft_schedule *schedule, const weft_step *step, json_t *out) {
    const weft_exchange_step *x = &step->as.exchange;
    const weft_redistribution *r = &x->geometry;
    const bool read = x->method->carrier == WEFT_CARRIED_BY_READERS;
    const bool loaded = read ? weft_step_stays_remote(x) : x->loaded;
    const char *library = NULL;
    json_object_set_new(out, "method", json_string(x->method->name));
    if (x->method->carrier == WEFT_CARRIED_BY_DEVICES &&
        weft_exchange_probe(x->method->id, &library) == WEFT_SUCCESS && library)
        json_object_set_new(out, "library", json_string(library));
    json_object_set_new(out, "ranks", json_integer(r->members));
    json_object_set_new(out, "tiles", json_integer(weft_step_tiles(x)));
    json_object_set_new(out, "pack", json_boolean(r->pack));
    json_object_set_new(out, "unpack", json_boolean(r->unpack));
    json_object_set_new(out, "staged", json_boolean(x->staged));
    json_object_set_new(out, "partners_read", json_boolean(read));
    json_object_set_new(out, "loaded_by_next", json_boolean(loaded));
    json_object_set_new(out, "send", json_string(buffer_name(schedule, x->send)));
    json_object_set_new(out, "receive", json_string(buffer_name(schedule, x->receive)));
    json_object_set_new(out, "bytes_sent", json_integer(step->bytes_sent));
    json_object_set_new(out, "messages", json_integer(x->messages_sent));
    json_object_set_new(out, "order_before", small_integers(r->src_order, r->src_box.axes));
    json_object_set_new(out, "order_after", small_integers(r->dst_order, r->dst_box.axes));
    json_object_set_new(out, "box_before", integers(r->src_box.n, r->src_box.axes));
    json_object_set_new(out, "box_after", integers(r->dst_box.n, r->dst_box.axes));
}

/* The engine's plan of a step, of one of its tiles where there are several; NULL where nothing has
 * been built, as of simulated ranks. */
static const weft_engine_plan *find_plan(const weft_program *program, int step) {
    for (int t = 0; t < program->lowered.tasks.count; t++) {
        const weft_task *task = &program->lowered.tasks.task[t];
        if (task->kind == WEFT_TASK_FFT && task->step == step) return program->prepared[t].plan;
    }
    return NULL;
}

/* The lines of text that an engine writes of a plan. */
static void describe_solvers(const weft_engine_ops *engine, const weft_engine_plan *plan,
                             json_t *out) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = plan && engine->describe ? open_memstream(&text, &size) : NULL;
    if (!stream) return;
    engine->describe(plan, stream);
    if (fclose(stream) == 0) {
        json_t *lines = json_array();
        for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
            json_array_append_new(lines, json_stringn(at, (size_t)(end - at)));
        json_object_set_new(out, "solvers", lines);
    }
    free(text);
}

static json_t *describe_step(const weft_build *b, int s, int i) {
    const weft_schedule *schedule = &b->schedule[s];
    const weft_step *step = &schedule->step[i];
    static const char *const kinds[] = {"fft", "copy", "exchange", "pointwise"};
    json_t *out = json_object();
    json_object_set_new(out, "step", json_string(kinds[step->kind]));
    json_object_set_new(out, "from", json_string(buffer_name(schedule, step->src)));
    json_object_set_new(out, "to", json_string(buffer_name(schedule, step->dst)));
    json_object_set_new(out, "bytes_moved", json_integer(step->bytes_moved));
    json_object_set_new(out, "predicted_seconds", json_real(step->predicted));
    if (step->kind == WEFT_STEP_FFT) {
        describe_fft(step, out);
        describe_solvers(b->candidate.engine, find_plan(&b->program[s], i), out);
    }
    if (step->kind == WEFT_STEP_EXCHANGE) describe_exchange(schedule, step, out);
    if (step->kind == WEFT_STEP_POINTWISE)
        json_object_set_new(
            out, "operators",
            weft_explain_operators(step->as.pointwise.operators, &step->as.pointwise.layout));
    return out;
}

/* Tiles along each axis, those of a batch last, of passes that steps `first` to `last` are, and
 * what of the array stays on the device behind each. */
static json_t *describe_stream(const weft_schedule *schedule) {
    const weft_streaming *stream = &schedule->stream;
    const size_t resident =
        stream->resident.n > 0 ? schedule->buffer_bytes[WEFT_BUFFER_RESIDENT] : 0;
    json_t *passes = json_array();
    for (int p = 0; p < stream->passes; p++) {
        const weft_streamed_pass *pass = &stream->pass[p];
        json_t *tiles = json_array();
        const int batch = pass->before.axes - 1;
        for (int a = 0; a < batch + (pass->before.n[batch] > 1); a++)
            json_array_append_new(tiles, json_integer(weft_streamed_tiles_along(pass, a)));
        json_array_append_new(passes, json_pack("{s:i, s:i, s:o, s:I, s:I}", "first", pass->first,
                                                "last", pass->last, "tiles", tiles, "thickness",
                                                (json_int_t)pass->thickness, "resident",
                                                pass->stores_resident ? (json_int_t)resident : 0));
    }
    return json_pack("{s:i, s:b, s:o}", "slots", stream->slots, "one_after_another",
                     stream->one_after_another, "passes", passes);
}

static json_t *describe_schedule(const weft_build *b, int s) {
    const weft_schedule *schedule = &b->schedule[s];
    json_t *steps = json_array(), *buffers = json_object();
    double predicted = 0;
    for (int i = 0; i < schedule->steps; i++) {
        json_array_append_new(steps, describe_step(b, s, i));
        predicted += schedule->step[i].predicted;
    }
    for (int i = 0; i < WEFT_BUFFERS; i++)
        if (schedule->buffer_bytes[i] > 0)
            json_object_set_new(buffers, buffer_name(schedule, i),
                                json_integer((json_int_t)schedule->buffer_bytes[i]));
    json_t *out =
        json_pack("{s:s, s:b, s:f, s:o, s:o}", "direction",
                  weft_direction_name(schedule->direction), "in_place", schedule->in_place,
                  "predicted_seconds", predicted, "buffers", buffers, "steps", steps);
    if (schedule->stream.slots > 0) json_object_set_new(out, "stream", describe_stream(schedule));
    return out;
}

static json_t *describe_candidate(const weft_candidate *c) {
    json_t *exchange = json_array();
    for (int i = 0; i < c->exchanges; i++)
        json_array_append_new(exchange, json_string(weft_exchange_name(c->exchange[i])));
    json_t *out = json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:s, s:i, s:i, s:b, s:f}", "decomposition",
        weft_decomposition_name(c->decomposition), "variant", weft_variant_name(c->variant), "grid",
        small_integers(c->grid, c->grid_axes), "exchange", exchange, "engine", c->engine->name,
        "device", c->device->name, "tiles", c->tiles, "threads", c->threads, "staged", c->staged,
        "predicted_seconds", c->seconds.predicted);
    if (c->stream.used) json_object_set_new(out, "streamed", json_true());
    if (c->stream.used) json_object_set_new(out, "resident", json_boolean(c->stream.resident));
    if (c->stream.used && c->stream.room_parts > 1)
        json_object_set_new(out, "room_parts", json_integer(c->stream.room_parts));
    if (c->seconds.measured > 0)
        json_object_set_new(out, "measured_seconds", json_real(c->seconds.measured));
    if (c->left_out)
        json_object_set_new(out, "left_out",
                            json_string(c->reason ? c->reason : "it could not be built or run"));
    return out;
}

/* The strides of a caller's array, the batch last, where it is not row-major. */
static void describe_strides(const weft_call *call, weft_space space, const char *name,
                             json_t *out) {
    const int rank = call->problem.rank;
    const int64_t *stride = call->strides.of[space];
    if (!call->strides.given[space]) return;
    json_object_set_new(out, name, integers(stride, call->problem.batch > 1 ? rank + 1 : rank));
}

static json_t *describe_problem(weft_plan plan) {
    weft_problem problem = plan->call.problem;
    const weft_problem *p = &problem;
    const weft_line *line = &plan->call.line;
    static const char *const norms[] = {"none", "backward", "ortho", "forward"};
    json_t *axes = json_array();
    if (line->points > 0) { /* as the caller gave it */
        problem.rank = 1;
        problem.n[0] = line->points;
        problem.kind = line->real ? WEFT_R2C : WEFT_C2C;
    }
    for (int a = 0; a < p->rank; a++)
        json_array_append_new(axes, json_string(weft_axis_name(p->axis[a])));
    json_t *out = json_pack("{s:o, s:s, s:o, s:s, s:I, s:s}", "shape", integers(p->n, p->rank),
                            "kind", weft_kind_name(p->kind), "axes", axes, "precision",
                            weft_precision_name(p->precision), "batch", (json_int_t)p->batch,
                            "norm", norms[p->norm]);
    describe_strides(&plan->call, WEFT_INPUT, "in_stride", out);
    describe_strides(&plan->call, WEFT_OUTPUT, "out_stride", out);
    if (line->points > 0)
        json_object_set_new(out, "transformed_as", integers(plan->call.problem.n, 2));
    return out;
}

json_t *weft_explain_memory(const weft_memory *memory) {
    return json_pack("{s:I, s:I, s:I, s:I}", "workspace", (json_int_t)memory->workspace,
                     "page_locked", (json_int_t)memory->page_locked, "tables",
                     (json_int_t)memory->tables, "total", (json_int_t)memory->total);
}

json_t *weft_explain_overlap_save(const weft_overlap_save *t) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "field", integers(t->n, t->rank), "result",
                     integers(t->kept, t->rank), "tile", integers(t->tile, t->rank), "kept",
                     integers(t->step, t->rank), "tiles", integers(t->tiles, t->rank), "batch",
                     (json_int_t)t->batch);
}

/* Where the rates come from by which times are predicted. */
static void describe_machine(const weft_machine_source *source, json_t *out) {
    if (source->file[0]) json_object_set_new(out, "machine", json_string(source->file));
    if (source->note[0]) json_object_set_new(out, "machine_ignored", json_string(source->note));
}

json_t *weft_explain_plan(weft_plan plan, const weft_memory *memory) {
    const weft_build *b = plan->build;
    const weft_options *o = &plan->call.options;
    json_t *schedules = json_array(), *rejected = json_array();
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        if (b->scheduled[s]) json_array_append_new(schedules, describe_schedule(b, s));
    for (int i = 1; i < plan->planner.count; i++)
        json_array_append_new(rejected, describe_candidate(&plan->planner.candidates[i]));
    json_t *out =
        json_pack("{s:s, s:o, s:i, s:i, s:b, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "weft",
                  WEFT_VERSION, "problem", describe_problem(plan), "ranks", plan->transport->size,
                  "rank", plan->transport->rank, "simulated_ranks", plan->transport->simulated,
                  "device", weft_device_name(o->device), "engine", b->candidate.engine->name,
                  "threads", o->threads, "chosen", describe_candidate(&b->candidate), "memory",
                  weft_explain_memory(memory), "schedules", schedules, "rejected", rejected);
    describe_machine(&plan->context->source, out);
    if (plan->wisdom[0]) json_object_set_new(out, "wisdom", json_string(plan->wisdom));
    if (plan->overlap_save)
        json_object_set_new(out, "overlap_save", weft_explain_overlap_save(plan->overlap_save));
    return out;
}

static bool write_json(const json_t *report, FILE *stream) {
    return json_dumpf(report, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0 &&
           fputc('\n', stream) != EOF;
}

WEFT_API weft_status weft_plan_explain(weft_plan plan, FILE *stream, weft_format format) {
    if (!plan || !stream || (format != WEFT_TEXT && format != WEFT_JSON))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_explain: %s",
                         !plan     ? "the plan is NULL"
                         : !stream ? "the stream is NULL"
                                   : "the format is neither WEFT_TEXT nor WEFT_JSON");
    weft_memory memory = {0};
    weft_plan_memory(plan, &memory);
    json_t *report = plan->composition ? weft_composition_explain(plan, &memory)
                                       : weft_explain_plan(plan, &memory);
    const weft_outlined_ops *outlined = plan->outlined.ops;
    if (outlined) json_object_set_new(report, outlined->name, outlined->explain(plan));
    if (weft_convolution_note(plan))
        json_object_set_new(report, "note", json_string(weft_convolution_note(plan)));
    const locale_t before = weft_c_locale_begin();
    bool written = true;
    if (format == WEFT_JSON)
        written = write_json(report, stream);
    else
        weft_explain_text(report, stream);
    weft_c_locale_end(before);
    json_decref(report);
    if (!written || ferror(stream))
        return weft_fail(WEFT_ERROR_SYSTEM, "weft_plan_explain: the stream cannot be written");
    return WEFT_SUCCESS;
}
