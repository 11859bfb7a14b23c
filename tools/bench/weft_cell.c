/* Names become enumerations, and what a plan settled on becomes names; a natural order becomes
 * bricks. */
#include "bench/weft_cell.h"

#include "layout/layout.h"
#include "names.h"
#include "support/error.h"

#include <limits.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* Leaves the function with a sentence where `text` names no value. */
#define FIND(what, text, finder, out)                                                              \
    do {                                                                                           \
        if (!finder((text), strlen(text), (out)))                                                  \
            return WRONG("%s %s: weft has no such %s", (what), (text), (what));                    \
    } while (0)

/* ---- reading ---- */

static const char *text_of(const json_t *json, const char *name) {
    return json_string_value(json_object_get(json, name));
}

static weft_status read_names(const json_t *json, weft_options *o) {
    const char *strategy = text_of(json, "strategy"), *variant = text_of(json, "variant");
    const char *engine = text_of(json, "engine"), *device = text_of(json, "device");
    if (strategy) FIND("strategy", strategy, find_decomposition, &o->decomposition);
    if (variant) FIND("variant", variant, find_variant, &o->variant);
    if (engine) FIND("engine", engine, find_engine, &o->engine);
    if (device) FIND("device", device, find_device, &o->device);
    return WEFT_SUCCESS;
}

static weft_status read_exchanges(const json_t *json, weft_options *o) {
    size_t k;
    json_t *name;
    json_array_foreach(json_object_get(json, "exchange"), k, name) {
        const char *text = json_string_value(name);
        if (!text || k >= WEFT_MAX_RANK)
            return WRONG("exchange: give at most %d names", WEFT_MAX_RANK);
        FIND("exchange", text, find_exchange, &o->exchange[k]);
    }
    return WEFT_SUCCESS;
}

static weft_status read_grid(const json_t *json, weft_options *o) {
    size_t g;
    json_t *entry;
    json_array_foreach(json_object_get(json, "grid"), g, entry) {
        json_int_t ranks = json_integer_value(entry);
        if (g >= WEFT_MAX_RANK || ranks < 1 || ranks > INT_MAX)
            return WRONG("grid: give at most %d numbers of at least 1", WEFT_MAX_RANK);
        o->grid[g] = (int)ranks;
    }
    return WEFT_SUCCESS;
}

static weft_status read_transfer(const json_t *json, weft_options *o) {
    static const char *const names[] = {
        [WEFT_AWARENESS_AUTO] = "auto", [WEFT_AWARE] = "aware", [WEFT_STAGED] = "staged"};
    const char *text = text_of(json, "transfer");
    for (int i = 0; text && i < 3; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        o->device_aware = (weft_awareness)i;
        return WEFT_SUCCESS;
    }
    return text ? WRONG("transfer %s: give auto, aware or staged", text) : WEFT_SUCCESS;
}

static weft_status read_threads(const json_t *json, weft_options *o) {
    const json_t *member = json_object_get(json, "threads");
    json_int_t threads = json_integer_value(member);
    if (member && (threads < 1 || threads > INT_MAX))
        return WRONG("threads: give a number of at least 1");
    o->threads = (int)threads;
    return WEFT_SUCCESS;
}

static weft_status read_effort(const json_t *json, weft_options *o) {
    const char *text = text_of(json, "effort");
    if (!text || find_effort(text, strlen(text), &o->effort)) return WEFT_SUCCESS;
    return WRONG("effort %s: give estimate, measure or patient", text);
}

/* Whether the words of config, which ':' joins, include `natural`, or the member says so. */
static bool is_natural(const json_t *json) {
    const char *at = text_of(json, "config");
    if (json_is_true(json_object_get(json, "natural"))) return true;
    while (at && *at != '\0') {
        size_t length = strcspn(at, ":");
        if (length == strlen("natural") && strncmp(at, "natural", length) == 0) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* This rank's box where the leading axes are split over the grid. */
static weft_brick brick_of(const bench_problem *p, const weft_options *o, weft_space space) {
    weft_distribution d = {.axes = p->rank, .grid_axes = 1, .grid = {p->ranks}};
    bool pencil = o->decomposition == WEFT_PENCIL && o->grid[1] > 0 && p->rank > 2;
    if (pencil) {
        d.grid_axes = 2;
        memcpy(d.grid, o->grid, 2 * sizeof d.grid[0]);
    }
    for (int a = 0; a < p->rank; a++) {
        d.n[a] = bench_extent(p, space, a);
        d.split_by[a] = a < d.grid_axes ? a : -1;
    }
    weft_region region = weft_distribution_box(&d, p->me);
    weft_brick brick = {.box = {.n = {1, 1, 1, 1, 1, 1, 1, 1}}};
    memcpy(brick.box.lo, region.lo, (size_t)p->rank * sizeof region.lo[0]);
    memcpy(brick.box.n, region.n, (size_t)p->rank * sizeof region.n[0]);
    return brick;
}

/* A named decomposition splits its input itself; a free choice must keep to the boxes at both
 * ends. */
static weft_status add_bricks(const bench_problem *p, weft_cell *cell) {
    const weft_options *o = &cell->options;
    if (o->decomposition == WEFT_PENCIL && o->grid[0] == 0 && p->ranks > 1)
        return WRONG("natural: the boxes of a pencil follow its grid; give the grid");
    cell->output = brick_of(p, o, WEFT_OUTPUT);
    cell->problem.output = &cell->output;
    if (o->decomposition != WEFT_DECOMPOSITION_AUTO) return WEFT_SUCCESS;
    cell->input = brick_of(p, o, WEFT_INPUT);
    cell->problem.input = &cell->input;
    return WEFT_SUCCESS;
}

weft_status weft_cell_read(const bench_problem *p, const json_t *json, weft_cell *cell) {
    *cell = (weft_cell){
        .problem = {.rank = p->rank, .kind = p->kind, .precision = p->precision, .batch = p->batch},
        .options = {.placement = WEFT_OUT_OF_PLACE}};
    memcpy(cell->problem.n, p->n, (size_t)p->rank * sizeof p->n[0]);
    memcpy(cell->problem.axis, p->axis, (size_t)p->rank * sizeof p->axis[0]);
    WEFT_TRY(read_names(json, &cell->options));
    WEFT_TRY(read_exchanges(json, &cell->options));
    WEFT_TRY(read_grid(json, &cell->options));
    WEFT_TRY(read_transfer(json, &cell->options));
    WEFT_TRY(read_threads(json, &cell->options));
    WEFT_TRY(read_effort(json, &cell->options));
    cell->options.trace = json_is_true(json_object_get(json, "trace"));
    return is_natural(json) ? add_bricks(p, cell) : WEFT_SUCCESS;
}

/* ---- what a plan settled on ---- */

static void write_grid(char *text, size_t capacity, const int *grid) {
    size_t length = 0;
    text[0] = '\0';
    for (int g = 0; g < WEFT_MAX_RANK && grid[g] > 0 && length < capacity; g++)
        length +=
            (size_t)snprintf(text + length, capacity - length, "%s%d", g > 0 ? "x" : "", grid[g]);
}

/* The methods of the redistributions that take place: those inside groups of one rank vanish, and a
 * natural order brings one more. */
static void write_exchanges(bench_contestant *c, const weft_options *o, bool natural) {
    int axes = 0, count = 0, last = 0;
    while (axes < WEFT_MAX_RANK && o->grid[axes] > 0) axes++;
    for (int k = 0; k < axes && c->problem->ranks > 1; k++) {
        if (o->grid[axes - 1 - k] == 1) continue;
        last = k;
        if (count < 2)
            snprintf(c->exchange[count++], sizeof c->exchange[0], "%s",
                     weft_exchange_name(o->exchange[k]));
    }
    if (natural && count == 1)
        snprintf(c->exchange[1], sizeof c->exchange[1], "%s",
                 weft_exchange_name(o->exchange[last]));
}

weft_status weft_cell_columns(const weft_cell *cell, weft_plan plan, bench_contestant *c) {
    weft_options settled = {0}, *o = &settled;
    WEFT_TRY(weft_plan_options(plan, o));
    snprintf(c->version, sizeof c->version, "%s", weft_version());
    snprintf(c->device, sizeof c->device, "%s", weft_device_name(o->device));
    snprintf(c->engine, sizeof c->engine, "%s", weft_engine_name(o->engine));
    snprintf(c->strategy, sizeof c->strategy, "%s", weft_decomposition_name(o->decomposition));
    snprintf(c->variant, sizeof c->variant, "%s", weft_variant_name(o->variant));
    write_grid(c->grid, sizeof c->grid, o->grid);
    write_exchanges(c, o, cell->problem.output != NULL);
    if (c->problem->ranks > 1)
        snprintf(c->aware, sizeof c->aware, "%s",
                 o->device_aware == WEFT_STAGED ? "staged" : "aware");
    return WEFT_SUCCESS;
}
