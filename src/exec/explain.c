/*
 * weft_plan_explain: the plan as text or JSON. The report is built once as a JSON value; the text
 * is a rendering of the same value, so that the two never disagree.
 */
#include "exec/plan.h"

#include "exec/explain_operators.h"
#include "exec/explain_text.h"
#include "support/c_locale.h"
#include "support/error.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const buffer_names[WEFT_BUFFERS] = {
    "input",       "output",      "workspace 1",  "workspace 2",
    "workspace 3", "workspace 4", "staging send", "staging receive"};

static const char *buffer_name(const weft_schedule *schedule, int buffer) {
    if (schedule->in_place && buffer == WEFT_BUFFER_OUT) return "array";
    return buffer < 0 ? "none" : buffer_names[buffer];
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
    const weft_transform *t = &step->transform;
    static const char *const kinds[] = {"c2c", "r2c", "c2r", "r2r"};
    json_object_set_new(out, "kind", json_string(kinds[t->kind]));
    json_object_set_new(out, "axes", small_integers(step->axis, t->dims));
    if (t->kind == WEFT_TRANSFORM_R2R) {
        json_t *types = json_array();
        for (int d = t->dims - 1; d >= 0; d--) /* as `axes` */
            json_array_append_new(types, json_string(weft_axis_name(t->type[d])));
        json_object_set_new(out, "types", types);
    }
    json_object_set_new(out, "dimensions", dimensions(t->dim, t->dims));
    json_object_set_new(out, "loops", dimensions(t->loop, t->loops));
    json_object_set_new(out, "flops", json_real(step->flops));
    json_object_set_new(out, "chunks", json_integer(step->chunks));
    json_object_set_new(out, "far_chunks", json_integer(step->far_chunks));
    if (t->round_trip) json_object_set_new(out, "returns", json_true());
    describe_fused(&t->load, "load", out);
    describe_fused(&t->spectral, "spectral", out);
    describe_fused(&t->store, "store", out);
}

static void describe_exchange(const weft_schedule *schedule, const weft_step *step, json_t *out) {
    const weft_redistribution *r = &step->exchange;
    const bool loaded = step->method->shared ? weft_step_leaves_data(step) : step->loaded_by_next;
    const char *library = NULL;
    json_object_set_new(out, "method", json_string(step->method->name));
    if (step->method->by_device &&
        weft_exchange_probe(step->method->id, &library) == WEFT_SUCCESS && library)
        json_object_set_new(out, "library", json_string(library));
    json_object_set_new(out, "ranks", json_integer(r->members));
    json_object_set_new(out, "chunks", json_integer(weft_step_parts(step)));
    json_object_set_new(out, "pack", json_boolean(r->pack));
    json_object_set_new(out, "unpack", json_boolean(r->unpack));
    json_object_set_new(out, "staged", json_boolean(step->staged));
    json_object_set_new(out, "partners_read", json_boolean(step->method->shared));
    json_object_set_new(out, "loaded_by_next", json_boolean(loaded));
    json_object_set_new(out, "send", json_string(buffer_name(schedule, step->send)));
    json_object_set_new(out, "receive", json_string(buffer_name(schedule, step->receive)));
    json_object_set_new(out, "bytes_sent", json_integer(step->bytes_sent));
    json_object_set_new(out, "messages", json_integer(step->messages_sent));
    json_object_set_new(out, "order_before", small_integers(r->src_order, r->src_box.axes));
    json_object_set_new(out, "order_after", small_integers(r->dst_order, r->dst_box.axes));
    json_object_set_new(out, "box_before", integers(r->src_box.n, r->src_box.axes));
    json_object_set_new(out, "box_after", integers(r->dst_box.n, r->dst_box.axes));
}

static json_t *describe_step(const weft_schedule *schedule, const weft_step *step) {
    static const char *const kinds[] = {"fft", "copy", "exchange", "pointwise"};
    json_t *out = json_object();
    json_object_set_new(out, "step", json_string(kinds[step->kind]));
    json_object_set_new(out, "from", json_string(buffer_name(schedule, step->src)));
    json_object_set_new(out, "to", json_string(buffer_name(schedule, step->dst)));
    json_object_set_new(out, "bytes_moved", json_integer(step->bytes_moved));
    json_object_set_new(out, "predicted_seconds", json_real(step->predicted));
    if (step->kind == WEFT_STEP_FFT) describe_fft(step, out);
    if (step->kind == WEFT_STEP_EXCHANGE) describe_exchange(schedule, step, out);
    if (step->kind == WEFT_STEP_POINTWISE)
        json_object_set_new(out, "operators",
                            weft_explain_operators(step->operators, &step->layout));
    return out;
}

static json_t *describe_schedule(const weft_schedule *schedule) {
    json_t *out = json_object(), *steps = json_array(), *buffers = json_object();
    double predicted = 0;
    for (int i = 0; i < schedule->steps; i++) {
        json_array_append_new(steps, describe_step(schedule, &schedule->step[i]));
        predicted += schedule->step[i].predicted;
    }
    for (int b = 0; b < WEFT_BUFFERS; b++)
        if (schedule->buffer_bytes[b] > 0)
            json_object_set_new(buffers, buffer_name(schedule, b),
                                json_integer((json_int_t)schedule->buffer_bytes[b]));
    static const char *const directions[] = {"forward", "inverse", "convolve"};
    json_object_set_new(out, "direction", json_string(directions[schedule->direction]));
    json_object_set_new(out, "in_place", json_boolean(schedule->in_place));
    json_object_set_new(out, "predicted_seconds", json_real(predicted));
    json_object_set_new(out, "buffers", buffers);
    json_object_set_new(out, "steps", steps);
    return out;
}

static json_t *describe_candidate(const weft_candidate *c) {
    json_t *out = json_object(), *exchange = json_array();
    for (int i = 0; i < c->grid_axes; i++)
        json_array_append_new(exchange, json_string(weft_exchange_name(c->exchange[i])));
    json_object_set_new(out, "decomposition",
                        json_string(weft_decomposition_name(c->decomposition)));
    json_object_set_new(out, "variant", json_string(weft_variant_name(c->variant)));
    json_object_set_new(out, "grid", small_integers(c->grid, c->grid_axes));
    json_object_set_new(out, "exchange", exchange);
    json_object_set_new(out, "engine", json_string(c->engine->name));
    json_object_set_new(out, "device", json_string(c->device->name));
    json_object_set_new(out, "tiles", json_integer(c->tiles));
    json_object_set_new(out, "threads", json_integer(c->threads));
    json_object_set_new(out, "staged", json_boolean(c->staged));
    json_object_set_new(out, "predicted_seconds", json_real(c->predicted));
    if (c->measured > 0) json_object_set_new(out, "measured_seconds", json_real(c->measured));
    if (c->left_out)
        json_object_set_new(out, "left_out",
                            json_string(c->reason ? c->reason : "it could not be built or run"));
    return out;
}

static json_t *describe_problem(weft_plan plan) {
    const weft_problem *p = &plan->call.problem;
    static const char *const norms[] = {"none", "backward", "ortho", "forward"};
    json_t *out = json_object();
    json_object_set_new(out, "shape", integers(p->n, p->rank));
    json_object_set_new(out, "kind", json_string(weft_kind_name(p->kind)));
    json_object_set_new(out, "precision", json_string(weft_precision_name(p->precision)));
    json_object_set_new(out, "batch", json_integer(p->batch));
    json_object_set_new(out, "norm", json_string(norms[p->norm]));
    return out;
}

static json_t *describe(weft_plan plan) {
    const weft_build *b = plan->build;
    json_t *out = json_object(), *schedules = json_array(), *rejected = json_array();
    weft_memory memory = {0};
    weft_plan_memory(plan, &memory);
    json_object_set_new(out, "weft", json_string(WEFT_VERSION));
    json_object_set_new(out, "problem", describe_problem(plan));
    json_object_set_new(out, "ranks", json_integer(plan->transport->size));
    json_object_set_new(out, "rank", json_integer(plan->transport->rank));
    json_object_set_new(out, "simulated_ranks", json_boolean(plan->transport->simulated));
    json_object_set_new(out, "device", json_string(weft_device_name(plan->call.options.device)));
    json_object_set_new(out, "engine", json_string(b->candidate.engine->name));
    json_object_set_new(out, "threads", json_integer(plan->call.options.threads));
    json_object_set_new(out, "chosen", describe_candidate(&b->candidate));
    json_object_set_new(out, "memory",
                        json_pack("{sIsIsIsI}", "workspace", (json_int_t)memory.workspace,
                                  "page_locked", (json_int_t)memory.page_locked, "tables",
                                  (json_int_t)memory.tables, "total", (json_int_t)memory.total));
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        if (b->scheduled[s]) json_array_append_new(schedules, describe_schedule(&b->schedule[s]));
    json_object_set_new(out, "schedules", schedules);
    for (int i = 1; i < plan->planner.count; i++)
        json_array_append_new(rejected, describe_candidate(&plan->planner.candidates[i]));
    json_object_set_new(out, "rejected", rejected);
    return out;
}

WEFT_API weft_status weft_plan_explain(weft_plan plan, FILE *stream, weft_format format) {
    if (!plan || !stream || (format != WEFT_TEXT && format != WEFT_JSON))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_explain: %s",
                         !plan     ? "the plan is NULL"
                         : !stream ? "the stream is NULL"
                                   : "the format is neither WEFT_TEXT nor WEFT_JSON");
    json_t *report = describe(plan);
    const locale_t before = weft_c_locale_begin();
    int written;
    if (format == WEFT_JSON)
        written = json_dumpf(report, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0 &&
                          fputc('\n', stream) != EOF
                      ? 0
                      : -1;
    else
        written = weft_explain_text(report, stream);
    weft_c_locale_end(before);
    json_decref(report);
    if (written != 0 || ferror(stream))
        return weft_fail(WEFT_ERROR_SYSTEM, "weft_plan_explain: the stream cannot be written");
    return WEFT_SUCCESS;
}
