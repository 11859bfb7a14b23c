/* What the engine's plans are made of, in words: a line of text for each pass over the data. */
#ifndef WEFT_ENGINE_NATIVE_DESCRIBE_H
#define WEFT_ENGINE_NATIVE_DESCRIBE_H

#include "engine/native/pass_group.h"
#include "engine/native/r2r_pass.h"

#include <stdio.h>

/* Parts of such a line: the radices of stages, how the lines of a tile are transformed, and how one
 * line is as a matrix. */
void weft_native_print_stages(const weft_stages *stages, FILE *stream);
void weft_native_print_line(const weft_line *line, FILE *stream);
void weft_native_print_matrix(const weft_matrix *matrix, FILE *stream);

void weft_native_describe_group(const weft_pass_group *group, FILE *stream);
void weft_native_describe_r2r(const weft_r2r_pass *pass, FILE *stream);

#endif
