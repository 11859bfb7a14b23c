/* weft plan --sweep: forecasts over numbers of ranks, sizes, or a field of the machine, as CSV. */
#include "plan_forecast.h"

#include "names.h"
#include "support/c_locale.h"
#include "support/error.h"

#include <stdio.h>

static void print_row(const forecast_range *range, double value, const forecast_case *c,
                      const weft_forecast *f, bool fastest) {
    char shape[FORECAST_TEXT_BYTES], grid[FORECAST_TEXT_BYTES], exchange[FORECAST_TEXT_BYTES];
    const weft_candidate *k = &f->candidate;
    forecast_shape(&c->problem, shape);
    forecast_grid(k, grid);
    forecast_exchange(k, exchange);
    printf("%s,%.9g,%s,%s,%s,%d,%s,%s,%s,%s,%.6g,%.6g,%.6g,%.6g,%.0f,%d,%d\n", range->what, value,
           shape, weft_kind_name(c->problem.kind), weft_precision_name(c->problem.precision),
           c->ranks, weft_decomposition_name(k->decomposition), weft_variant_name(k->variant), grid,
           exchange, f->seconds, f->transforms, f->copies, f->exchanges, f->bytes_sent, f->messages,
           fastest);
}

static void add_row(json_t *report, const forecast_range *range, double value,
                    const forecast_case *c, const weft_forecast *f, bool fastest) {
    char shape[FORECAST_TEXT_BYTES];
    json_t *row = forecast_json(f);
    forecast_shape(&c->problem, shape);
    json_object_set_new(row, "swept", json_string(range->what));
    json_object_set_new(row, "value", json_real(value));
    json_object_set_new(row, "shape", json_string(shape));
    json_object_set_new(row, "ranks", json_integer(c->ranks));
    json_object_set_new(row, "fastest", json_boolean(fastest));
    json_array_append_new(report, row);
}

static weft_status sweep(const forecast_case *base, const forecast_range *range, bool quiet,
                         json_t *report) {
    bool more = true;
    for (int step = 0; more; step++) {
        forecast_case c;
        forecast_survey survey;
        double value;
        WEFT_TRY(forecast_range_apply(range, step, base, &c, &value, &more));
        if (!more) break;
        WEFT_TRY(forecast_survey_make(&c, &survey));
        for (int k = 0; k < FORECAST_KINDS; k++) {
            if (!survey.there[k]) continue;
            if (!quiet) print_row(range, value, &c, &survey.of[k], k == survey.best);
            add_row(report, range, value, &c, &survey.of[k], k == survey.best);
        }
    }
    return WEFT_SUCCESS;
}

weft_status plan_sweep(const forecast_case *c, const forecast_range *range, bool quiet,
                       json_t **report) {
    json_t *rows = json_array();
    const locale_t before = weft_c_locale_begin();
    if (!quiet)
        printf("swept,value,shape,kind,precision,ranks,decomposition,variant,grid,exchange,seconds,"
               "transforms,copies,exchanges,bytes_sent,messages,fastest\n");
    const weft_status status = sweep(c, range, quiet, rows);
    weft_c_locale_end(before);
    if (status == WEFT_SUCCESS)
        *report = rows;
    else
        json_decref(rows);
    return status;
}
