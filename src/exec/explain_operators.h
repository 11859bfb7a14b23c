/* How a plan report tells pointwise operators, as JSON and as text. */
#ifndef WEFT_EXEC_EXPLAIN_OPERATORS_H
#define WEFT_EXEC_EXPLAIN_OPERATORS_H

#include "operator/operator.h"

#include <jansson.h>
#include <stdio.h>

/* An array of one object for each operator, and for the caller's array where it is not the box. */
json_t *weft_explain_operators(const weft_operator_list *list, const weft_pointwise_layout *layout);
/* The same value, in one line. */
void weft_explain_operators_text(const json_t *operators, FILE *stream);

#endif
