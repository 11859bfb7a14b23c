/* How a plan report tells pointwise operators, as JSON and as text. */
#ifndef WEFT_EXEC_EXPLAIN_OPERATORS_H
#define WEFT_EXEC_EXPLAIN_OPERATORS_H

#include "operator/operator.h"

#include <jansson.h>
#include <stdio.h>

/* An array of one object for each operator of an array with `rank` axes. */
json_t *weft_explain_operators(const weft_operator_list *list, int rank);
/* The same value, in one line. */
void weft_explain_operators_text(const json_t *operators, FILE *stream);

#endif
