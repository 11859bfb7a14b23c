/* A plan report (the JSON value of explain.c) as text for people. */
#ifndef WEFT_EXEC_EXPLAIN_TEXT_H
#define WEFT_EXEC_EXPLAIN_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* 0, or -1 where the stream failed. */
int weft_explain_text(const json_t *report, FILE *stream);

#endif
