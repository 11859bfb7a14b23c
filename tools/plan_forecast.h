/*
 * weft plan --best and --sweep: what the planner predicts for processes, devices and networks that
 * need not be there, which decomposition and exchange method wins, and from where on.
 */
#ifndef WEFT_TOOLS_PLAN_FORECAST_H
#define WEFT_TOOLS_PLAN_FORECAST_H

#include "exec/what_if.h"

#include <jansson.h>

/* Decompositions that are told apart: slab-2d1d, slab-1d2d, slab-y-zx, pencil. */
enum { FORECAST_KINDS = 4 };

typedef struct forecast_case {
    weft_problem problem;
    weft_options options;
    weft_machine machine;
    const char *file; /* of the machine, or NULL */
    int ranks;
} forecast_case;

/* The best candidate of each decomposition that is different for the problem. */
typedef struct forecast_survey {
    bool there[FORECAST_KINDS];
    weft_forecast of[FORECAST_KINDS];
    int best; /* of them */
} forecast_survey;

/* UNSUPPORTED where the options leave no candidate. */
weft_status forecast_survey_make(const forecast_case *c, forecast_survey *survey);
const char *forecast_kind_name(int kind);
/* The array as "64x64x64", the grid of a candidate, and its exchange methods. */
enum { FORECAST_TEXT_BYTES = 160 };
void forecast_shape(const weft_problem *problem, char text[FORECAST_TEXT_BYTES]);
void forecast_grid(const weft_candidate *c, char text[FORECAST_TEXT_BYTES]);
void forecast_exchange(const weft_candidate *c, char text[FORECAST_TEXT_BYTES]);
/* A forecast in numbers, of one number of ranks. */
json_t *forecast_json(const weft_forecast *f);

/* A number of ranks, a size, or a field of the machine record that takes one value after the other:
 * "ranks=2:4096", "size=64:2048", "rate.latency=1e-7:1e-3"; ranks and sizes double, fields take 4
 * values a decade. A size is that of the longest axis; the others keep their proportion. */
typedef struct forecast_range {
    char what[48]; /* "": none was given */
    double first, last;
} forecast_range;

/* `flag` is named in the sentence of a failure. */
weft_status forecast_range_read(const char *flag, const char *text, forecast_range *range);
/* The case with the value of number `step`; *more tells whether there is one. */
weft_status forecast_range_apply(const forecast_range *range, int step, const forecast_case *base,
                                 forecast_case *c, double *value, bool *more);

/* Prints the best candidate and the crossovers, or the sweep as CSV; *report gets the same as JSON,
 * which alone is made where `quiet`. */
weft_status plan_best(const forecast_case *c, bool quiet, json_t **report);
weft_status plan_sweep(const forecast_case *c, const forecast_range *range, bool quiet,
                       json_t **report);

#endif
