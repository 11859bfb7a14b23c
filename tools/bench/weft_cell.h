/* A cell of library weft, as JSON names it, in the words of weft's interface. */
#ifndef WEFT_BENCH_WEFT_CELL_H
#define WEFT_BENCH_WEFT_CELL_H

#include "bench/contestant.h"

typedef struct weft_cell {
    weft_problem problem; /* points to bricks below: a cell stays where it is */
    weft_options options;
    weft_brick input, output;
} weft_cell;

/* What an absent member leaves open, weft chooses. "natural", in config or as a member, asks for an
 * output that is split as the input is. Not collective. */
weft_status weft_cell_read(const bench_problem *p, const json_t *json, weft_cell *cell);

/* Fills the columns of the table with what a plan of the cell settled on. Not collective. */
weft_status weft_cell_columns(const weft_cell *cell, weft_plan plan, bench_contestant *c);

#endif
