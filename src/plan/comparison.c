/* Comparing the ranks' arguments, and collecting their bricks. */
#include "plan/agreement.h"
#include "plan/boxes.h"
#include "plan/problem.h"
#include "support/error.h"
#include "support/hash.h"

#include <string.h>

enum { RECORD_MAX = 160 };

/* The arguments as numbers with names, so that a difference can be named. */
typedef struct record {
    int count;
    int64_t value[RECORD_MAX];
    const char *name[RECORD_MAX];
} record;

static void put(record *r, const char *name, int64_t value) {
    r->name[r->count] = name;
    r->value[r->count++] = value;
}

static int64_t bits_of(double number) {
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void write_record(const weft_call *call, record *r) {
    const weft_problem *p = &call->problem;
    const weft_options *o = &call->options;
    r->count = 0;
    put(r, "problem.rank", p->rank);
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.n", p->n[a]);
    put(r, "problem.kind", p->kind);
    put(r, "problem.precision", p->precision);
    put(r, "problem.batch", p->batch);
    put(r, "problem.fields", p->fields);
    put(r, "problem.result_fields", p->result_fields);
    put(r, "problem.fields_fastest", p->fields_fastest);
    put(r, "problem.norm", p->norm);
    put(r, "problem.input (given or NULL)", call->has_input);
    put(r, "problem.output (given or NULL)", call->has_output);
    put(r, "problem.load.count", call->operators[WEFT_PLACE_LOAD].count);
    put(r, "problem.spectral.count", call->operators[WEFT_PLACE_SPECTRAL].count);
    put(r, "problem.store.count", call->operators[WEFT_PLACE_STORE].count);
    put(r, "operators before an inverse stage", call->operators[WEFT_PLACE_SPECTRUM].count);
    put(r, "problem.load_storage", p->load_storage);
    put(r, "problem.spectral_storage", p->spectral_storage);
    put(r, "problem.store_storage", p->store_storage);
    put(r, "problem.precision (half or not)", call->spectrum_storage);
    for (int i = 0; i < 2; i++) put(r, "problem.decibels (by its bits)", bits_of(p->decibels[i]));
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.pad_from", p->pad_from[a]);
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.crop_to", p->crop_to[a]);
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.truncate_to", p->truncate_to[a]);
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.axis", p->axis[a]);
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.in_stride", p->in_stride[a]);
    for (int a = 0; a < WEFT_MAX_RANK; a++) put(r, "problem.out_stride", p->out_stride[a]);
    put(r, "problem.in_batch_stride", p->in_batch_stride);
    put(r, "problem.out_batch_stride", p->out_batch_stride);
    put(r, "options.decomposition", o->decomposition);
    for (int i = 0; i < WEFT_MAX_RANK; i++) put(r, "options.grid", o->grid[i]);
    for (int i = 0; i < WEFT_MAX_RANK; i++) put(r, "options.exchange", o->exchange[i]);
    put(r, "options.variant", o->variant);
    put(r, "options.engine", o->engine);
    put(r, "options.device", o->device);
    put(r, "options.location", o->location);
    put(r, "options.device_aware", o->device_aware);
    put(r, "options.chunks", o->chunks);
    put(r, "options.threads", o->threads);
    put(r, "options.effort", o->effort);
    put(r, "options.placement", o->placement);
    put(r, "options.device_memory_limit", (int64_t)o->device_memory_limit);
    put(r, "options.trace", o->trace);
    put(r, "options.convolve", o->convolve);
    put(r, "options.keep_spectrum", o->keep_spectrum);
    put(r, "options.device_number", o->device_number);
    put(r, "options.stream", o->stream);
    put(r, "options.direction", o->direction);
    put(r, "options.wire", o->wire);
}

/* Equal counts taken for granted; kinds, parameters and tables by a checksum. */
static weft_status compare_operators(weft_transport *transport, const weft_call *call,
                                     weft_operator_place place) {
    int64_t n[WEFT_AXES];
    const weft_operator_list *list = &call->operators[place];
    const weft_operator_space space = weft_call_space(call, place, n);
    uint64_t first[WEFT_MAX_OPERATORS + 1], mine[WEFT_MAX_OPERATORS + 1];
    if (list->count == 0) return WEFT_SUCCESS;
    for (int k = 0; k < list->count; k++)
        first[k] = mine[k] = weft_operator_checksum(&list->item[k], &space);
    WEFT_TRY(transport->ops->broadcast(transport, first, (size_t)list->count * sizeof first[0], 0));
    for (int k = 0; k < list->count; k++)
        if (mine[k] != first[k])
            return weft_fail(WEFT_ERROR_MISMATCH,
                             "rank %d passes another %s operator in problem.%s than rank 0 to "
                             "weft_plan_create; pass the same on all ranks",
                             transport->rank, weft_operator_kind_name(list->item[k].kind),
                             weft_operator_place_name(place));
    return WEFT_SUCCESS;
}

weft_status weft_call_compare(weft_transport *transport, const weft_call *call) {
    if (transport->size == 1 || transport->simulated) return WEFT_SUCCESS;
    record mine, first;
    write_record(call, &mine);
    first = mine;
    weft_status status = transport->ops->broadcast(transport, first.value, sizeof first.value, 0);
    for (int i = 0; i < mine.count && status == WEFT_SUCCESS; i++)
        if (mine.value[i] != first.value[i])
            status = weft_fail(
                WEFT_ERROR_MISMATCH,
                "rank %d passes another %s than rank 0 to weft_plan_create (%lld, not "
                "%lld); pass the same on all ranks",
                transport->rank, mine.name[i], (long long)mine.value[i], (long long)first.value[i]);
    WEFT_TRY(weft_agree(transport, status));
    for (int i = 0; i < WEFT_PLACES; i++) {
        status = compare_operators(transport, call, (weft_operator_place)i);
        WEFT_TRY(weft_agree(transport, status));
    }
    return WEFT_SUCCESS;
}

uint64_t weft_call_hash(const weft_call *call) {
    record r;
    write_record(call, &r);
    uint64_t hash =
        weft_hash_bytes(WEFT_HASH_OF_NOTHING, r.value, (size_t)r.count * sizeof r.value[0]);
    hash = weft_hash_bytes(hash, &call->directions, sizeof call->directions);
    hash = weft_hash_bytes(hash, &call->line.scattered, sizeof call->line.scattered);
    for (int i = 0; i < WEFT_PLACES; i++) {
        int64_t n[WEFT_AXES];
        const weft_operator_list *list = &call->operators[i];
        const weft_operator_space space = weft_call_space(call, (weft_operator_place)i, n);
        for (int k = 0; k < list->count; k++) {
            const uint64_t one = weft_operator_checksum(&list->item[k], &space);
            hash = weft_hash_bytes(hash, &one, sizeof one);
        }
    }
    return hash;
}

weft_status weft_call_gather_boxes(weft_transport *transport, const weft_call *call,
                                   weft_space space, weft_region **boxes) {
    const bool input = space == WEFT_INPUT;
    const weft_brick *brick = input ? &call->input : &call->output;
    const int rank = call->problem.rank;
    int64_t n[WEFT_AXES];
    weft_region mine = {.axes = rank + 1};
    weft_call_extents(call, space, n);
    for (int a = 0; a < rank; a++) {
        mine.lo[a] = brick->box.lo[a];
        mine.n[a] = brick->box.n[a];
    }
    mine.n[rank] = n[rank];
    return weft_gather_boxes(transport, &mine, n, input ? "input" : "output", boxes);
}
