/* Forecasts of each decomposition, and ranges of what is swept. */
#include "plan_forecast.h"

#include "names.h"
#include "plan/machine_file.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const weft_decomposition kinds[FORECAST_KINDS] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D,
                                                         WEFT_SLAB_Y_ZX, WEFT_PENCIL};

/* What is not faster by a thousandth is as fast, and the first one listed is named. */
#define FASTER 0.999

const char *forecast_kind_name(int kind) {
    return weft_decomposition_name(kinds[kind]);
}

/* Whether a decomposition is one of its own: of planes all slabs are the same, of real data
 * slab-y-zx is slab-2d1d, and one rank, or a line, has no other. */
static bool is_different(const forecast_case *c, int kind) {
    const int rank = c->problem.rank;
    if (c->options.decomposition != WEFT_DECOMPOSITION_AUTO)
        return c->options.decomposition == kinds[kind];
    if (kind == 0) return true;
    if (c->ranks == 1 || rank < 3) return false;
    return kinds[kind] != WEFT_SLAB_Y_ZX || c->problem.kind == WEFT_C2C;
}

weft_status forecast_survey_make(const forecast_case *c, forecast_survey *survey) {
    bool refused = false;
    *survey = (forecast_survey){.best = -1};
    for (int k = 0; k < FORECAST_KINDS; k++) {
        weft_options options = c->options;
        const weft_what_if question = {&c->problem, &options, &c->machine, c->ranks};
        if (!is_different(c, k)) continue;
        options.decomposition = kinds[k];
        const weft_status status = weft_forecast_best(&question, &survey->of[k]);
        refused = refused || status == WEFT_ERROR_UNSUPPORTED;
        if (status == WEFT_ERROR_UNSUPPORTED) continue;
        if (status != WEFT_SUCCESS) return status;
        survey->there[k] = true;
        if (survey->best < 0 || survey->of[k].seconds < FASTER * survey->of[survey->best].seconds)
            survey->best = k;
    }
    if (survey->best >= 0) return WEFT_SUCCESS;
    return refused ? WEFT_ERROR_UNSUPPORTED
                   : weft_fail(WEFT_ERROR_UNSUPPORTED,
                               "--decomposition %s: nobody chooses its boxes here; give slab-2d1d, "
                               "slab-1d2d, slab-y-zx or pencil",
                               weft_decomposition_name(c->options.decomposition));
}

static void join(char *text, const char *separator, const char *more) {
    const size_t length = strlen(text);
    snprintf(text + length, FORECAST_TEXT_BYTES - length, "%s%s", length > 0 ? separator : "",
             more);
}

void forecast_shape(const weft_problem *problem, char text[FORECAST_TEXT_BYTES]) {
    char number[32];
    text[0] = 0;
    for (int a = 0; a < problem->rank; a++) {
        snprintf(number, sizeof number, "%lld", (long long)problem->n[a]);
        join(text, "x", number);
    }
}

void forecast_grid(const weft_candidate *c, char text[FORECAST_TEXT_BYTES]) {
    char number[32];
    text[0] = 0;
    for (int a = 0; a < c->grid_axes; a++) {
        snprintf(number, sizeof number, "%d", c->grid[a]);
        join(text, "x", number);
    }
}

/* One name where all redistributions have the same method. */
void forecast_exchange(const weft_candidate *c, char text[FORECAST_TEXT_BYTES]) {
    bool alike = true;
    int ranks = 1;
    for (int i = 0; i < c->grid_axes; i++) ranks *= c->grid[i];
    for (int i = 1; i < c->exchanges; i++) alike = alike && c->exchange[i] == c->exchange[0];
    text[0] = 0;
    if (ranks == 1) join(text, "", "none");
    for (int i = 0; ranks > 1 && i < (alike && c->exchanges > 0 ? 1 : c->exchanges); i++)
        join(text, "+", weft_exchange_name(c->exchange[i]));
}

json_t *forecast_json(const weft_forecast *f) {
    char grid[FORECAST_TEXT_BYTES], exchange[FORECAST_TEXT_BYTES];
    const weft_candidate *c = &f->candidate;
    forecast_grid(c, grid);
    forecast_exchange(c, exchange);
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:i, s:f}", "decomposition",
                     weft_decomposition_name(c->decomposition), "variant",
                     weft_variant_name(c->variant), "grid", grid, "exchange", exchange,
                     "predicted_seconds", f->seconds, "transforms", f->transforms, "copies",
                     f->copies, "exchanges", f->exchanges, "bytes_sent", f->bytes_sent, "messages",
                     f->messages, "memory", f->memory);
}

static bool doubles(const forecast_range *range) {
    return strcmp(range->what, "ranks") == 0 || strcmp(range->what, "size") == 0;
}

weft_status forecast_range_read(const char *flag, const char *text, forecast_range *range) {
    forecast_range read = {.what = ""};
    weft_machine machine = weft_machine_default;
    const char *equals = strchr(text, '=');
    char rest = 0;
    if (!equals || (size_t)(equals - text) >= sizeof read.what ||
        sscanf(equals + 1, "%lf:%lf%c", &read.first, &read.last, &rest) != 2 ||
        !(read.first > 0 && read.last >= read.first && read.last <= 1e18))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--%s %s: give what, the first and the last value, such as ranks=2:4096, "
                         "size=64:2048 or rate.latency=1e-7:1e-3",
                         flag, text);
    memcpy(read.what, text, (size_t)(equals - text));
    if (doubles(&read) && (read.first < 1 || read.last > (read.what[0] == 'r' ? 1e6 : 1e9)))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--%s %s: give %s", flag, text,
                         read.what[0] == 'r' ? "1 to a million ranks" : "sizes from 1 to 1e9");
    if (!doubles(&read) && (weft_machine_set(&machine, read.what, read.first) != WEFT_SUCCESS ||
                            weft_machine_set(&machine, read.what, read.last) != WEFT_SUCCESS)) {
        char reason[512];
        snprintf(reason, sizeof reason, "%s", weft_thread_error());
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--%s: %s", flag, reason);
    }
    *range = read;
    return WEFT_SUCCESS;
}

/* The axes in proportion, the longest of them with so many points. */
static void resize(weft_problem *problem, double size) {
    double longest = 1;
    for (int a = 0; a < problem->rank; a++) longest = fmax(longest, (double)problem->n[a]);
    for (int a = 0; a < problem->rank; a++)
        problem->n[a] = (int64_t)fmax(1, round((double)problem->n[a] * size / longest));
}

weft_status forecast_range_apply(const forecast_range *range, int step, const forecast_case *base,
                                 forecast_case *c, double *value, bool *more) {
    *c = *base;
    *value = range->first * (doubles(range) ? exp2(step) : pow(10, step / 4.0));
    *more = *value <= range->last * (1 + 1e-9);
    if (!*more) return WEFT_SUCCESS;
    if (doubles(range)) *value = floor(*value);
    if (strcmp(range->what, "ranks") == 0)
        c->ranks = (int)*value;
    else if (strcmp(range->what, "size") == 0)
        resize(&c->problem, *value);
    else
        return weft_machine_set(&c->machine, range->what, *value);
    return WEFT_SUCCESS;
}
