/* weft plan --best: the fastest candidate that is predicted, and where others take over. */
#include "plan_forecast.h"

#include "names.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_forecast(const weft_forecast *f) {
    char grid[FORECAST_TEXT_BYTES], exchange[FORECAST_TEXT_BYTES];
    const weft_candidate *c = &f->candidate;
    forecast_grid(c, grid);
    forecast_exchange(c, exchange);
    printf("best: %s %s, grid %s, %s: %.4g ms predicted\n",
           weft_decomposition_name(c->decomposition), weft_variant_name(c->variant), grid, exchange,
           1e3 * f->seconds);
    printf("  transforms %.4g ms, copies and packing %.4g ms, exchange %.4g ms\n",
           1e3 * f->transforms, 1e3 * f->copies, 1e3 * f->exchanges);
    printf("  rank 0 sends %.4g MiB in %d messages; its arrays and workspaces have %.4g MiB\n",
           f->bytes_sent / 1048576, f->messages, f->memory / 1048576);
}

/* The chain of a forecast with each exchange method in all its redistributions. */
static weft_status compare_methods(const forecast_case *c, const weft_forecast *best, bool quiet,
                                   json_t *report) {
    weft_options options = c->options;
    const weft_what_if question = {&c->problem, &options, &c->machine, c->ranks};
    options.decomposition = best->candidate.decomposition;
    options.variant = best->candidate.variant;
    memset(options.exchange, 0, sizeof options.exchange);
    if (best->candidate.decomposition == WEFT_PENCIL)
        memcpy(options.grid, best->candidate.grid, sizeof options.grid);
    if (best->candidate.exchanges == 0 || c->ranks == 1) return WEFT_SUCCESS;
    if (!quiet) printf("  with one exchange method, in ms:");
    for (int m = WEFT_EXCHANGE_AUTO + 1; strcmp(weft_exchange_name((weft_exchange)m), "?") != 0;
         m++) {
        weft_forecast f;
        options.exchange[0] = (weft_exchange)m;
        const weft_status status = weft_forecast_best(&question, &f);
        if (status == WEFT_ERROR_UNSUPPORTED) continue;
        if (status != WEFT_SUCCESS) return status;
        if (!quiet) printf(" %s %.4g", weft_exchange_name((weft_exchange)m), 1e3 * f.seconds);
        json_array_append_new(report, forecast_json(&f));
    }
    if (!quiet) printf("\n");
    return WEFT_SUCCESS;
}

/* A row of a table: the milliseconds of each decomposition, and the fastest one. */
static void print_row(const char *name, const forecast_survey *s, const bool *shown) {
    char grid[FORECAST_TEXT_BYTES], exchange[FORECAST_TEXT_BYTES];
    const weft_candidate *best = &s->of[s->best].candidate;
    forecast_grid(best, grid);
    forecast_exchange(best, exchange);
    printf("  %-16s", name);
    for (int k = 0; k < FORECAST_KINDS; k++)
        if (shown[k] && s->there[k])
            printf(" %10.4g", 1e3 * s->of[k].seconds);
        else if (shown[k])
            printf(" %10s", "-");
    printf("   %s %s %s %s\n", forecast_kind_name(s->best), weft_variant_name(best->variant), grid,
           exchange);
}

static void print_head(const char *what, const bool *shown) {
    printf("  %-16s", what);
    for (int k = 0; k < FORECAST_KINDS; k++)
        if (shown[k]) printf(" %10s", forecast_kind_name(k));
    printf("   fastest\n");
}

static json_t *row_json(const forecast_case *c, const forecast_survey *s) {
    char shape[FORECAST_TEXT_BYTES];
    json_t *rows = json_object();
    forecast_shape(&c->problem, shape);
    for (int k = 0; k < FORECAST_KINDS; k++)
        if (s->there[k]) json_object_set_new(rows, forecast_kind_name(k), forecast_json(&s->of[k]));
    return json_pack("{s:s, s:i, s:s, s:o}", "shape", shape, "ranks", c->ranks, "fastest",
                     forecast_kind_name(s->best), "of", rows);
}

enum { MOST_ROWS = 32 };

/* The survey of a case; that of `base` is known already. */
static weft_status survey_unless_known(const forecast_case *c, const forecast_case *base,
                                       const forecast_survey *known, forecast_survey *survey) {
    if (c->ranks != base->ranks ||
        memcmp(c->problem.n, base->problem.n, sizeof base->problem.n) != 0)
        return forecast_survey_make(c, survey);
    *survey = *known;
    return WEFT_SUCCESS;
}

/* The table of one range, and from which value on which decomposition is the fastest. */
static weft_status tabulate(const forecast_case *base, const forecast_survey *known,
                            const forecast_range *range, bool quiet, json_t *report) {
    char name[MOST_ROWS][FORECAST_TEXT_BYTES];
    int winner[MOST_ROWS], rows = 0;
    const bool sizes = range->what[0] == 's';
    bool more = true, shown[FORECAST_KINDS] = {false}, headed = false;
    for (int step = 0; rows < MOST_ROWS; step++) {
        forecast_case c;
        forecast_survey survey;
        double value;
        weft_status status = forecast_range_apply(range, step, base, &c, &value, &more);
        if (!more) break;
        if (status == WEFT_SUCCESS) status = survey_unless_known(&c, base, known, &survey);
        if (status == WEFT_ERROR_UNSUPPORTED) continue; /* as a grid that is given, elsewhere */
        if (status != WEFT_SUCCESS) return status;
        if (!headed) memcpy(shown, survey.there, sizeof shown);
        if (!headed && !quiet) print_head(range->what, shown);
        headed = true;
        if (sizes)
            forecast_shape(&c.problem, name[rows]);
        else
            snprintf(name[rows], sizeof name[rows], "%d", c.ranks);
        if (!quiet) print_row(name[rows], &survey, shown);
        json_array_append_new(report, row_json(&c, &survey));
        winner[rows++] = survey.best;
    }
    for (int r = 0; r < rows && !quiet; r++)
        if (r == 0 || winner[r] != winner[r - 1])
            printf("%s %s from %s on", r == 0 ? "  fastest:" : ",", forecast_kind_name(winner[r]),
                   name[r]);
    if (rows > 0 && !quiet) printf("\n");
    return WEFT_SUCCESS;
}

/* Sizes from an eighth to eight times that of the case, as far as every axis has two points. */
static forecast_range range_of_sizes(const weft_problem *problem) {
    double longest = 1, shortest = 1e18, factor = 8;
    for (int a = 0; a < problem->rank; a++) {
        longest = fmax(longest, (double)problem->n[a]);
        shortest = fmin(shortest, (double)problem->n[a]);
    }
    while (factor > 1 && shortest / factor < 2) factor /= 2;
    return (forecast_range){.what = "size", .first = longest / factor, .last = 4 * longest};
}

static void print_case(const forecast_case *c) {
    char shape[FORECAST_TEXT_BYTES];
    forecast_shape(&c->problem, shape);
    printf("%s %s %s on %d rank%s, device %s, predicted by %s\n", shape,
           weft_kind_name(c->problem.kind), weft_precision_name(c->problem.precision), c->ranks,
           c->ranks > 1 ? "s" : "", weft_device_name(c->options.device),
           c->file ? c->file : "the record of a machine that nobody measured");
}

weft_status plan_best(const forecast_case *c, bool quiet, json_t **report) {
    forecast_survey survey;
    const forecast_range ranks = {.what = "ranks", .first = 2, .last = fmax(4, 2.0 * c->ranks)};
    const forecast_range sizes = range_of_sizes(&c->problem);
    json_t *methods = json_array(), *over_ranks = json_array(), *over_sizes = json_array();
    weft_status status = forecast_survey_make(c, &survey);
    if (status == WEFT_SUCCESS && !quiet) {
        print_case(c);
        print_forecast(&survey.of[survey.best]);
    }
    if (status == WEFT_SUCCESS)
        status = compare_methods(c, &survey.of[survey.best], quiet, methods);
    if (status == WEFT_SUCCESS && !quiet) printf("milliseconds over ranks:\n");
    if (status == WEFT_SUCCESS) status = tabulate(c, &survey, &ranks, quiet, over_ranks);
    if (status == WEFT_SUCCESS && !quiet) printf("milliseconds over sizes:\n");
    if (status == WEFT_SUCCESS) status = tabulate(c, &survey, &sizes, quiet, over_sizes);
    if (status == WEFT_SUCCESS)
        *report = json_pack("{s:o, s:O, s:O, s:O}", "best", row_json(c, &survey), "exchanges",
                            methods, "over_ranks", over_ranks, "over_sizes", over_sizes);
    json_decref(methods);
    json_decref(over_ranks);
    json_decref(over_sizes);
    return status;
}
