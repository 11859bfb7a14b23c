/*
 * The report of a plan, which weft_plan_explain writes: a JSON value (explain.c, and
 * explain_operators.c for pointwise operators), and its rendering as text (explain_text.c).
 */
#ifndef WEFT_EXEC_EXPLAIN_H
#define WEFT_EXEC_EXPLAIN_H

#include "exec/plan.h"

#include <jansson.h>
#include <stdio.h>

/* An array of one object for each operator, and for the caller's array where it is not the box. */
json_t *weft_explain_operators(const weft_operator_list *list, const weft_pointwise_layout *layout);

/* The report of a plan alone, with the memory to tell of; and that of a composition
 * (src/compose/explain.c): the report of its plan or, where it has several parts, `parts`. */
json_t *weft_explain_plan(weft_plan plan, const weft_memory *memory);
json_t *weft_explain_memory(const weft_memory *memory);
json_t *weft_composition_explain(weft_plan plan, const weft_memory *memory);
json_t *weft_explain_overlap_save(const weft_overlap_save *overlap_save);

/* Writes a report for people. */
void weft_explain_text(const json_t *report, FILE *stream);

#endif
