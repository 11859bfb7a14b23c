/*
 * A filter's response as a formula of the user's, by muParser: of the frequency's components u, v
 * and w along the axes (in a picture u to the right, v downwards) and f, its length, in cycles per
 * point. The response at a frequency is the mean of the formula there and at the negative, so that
 * real pictures stay real.
 */
#ifndef WEFT_FILTER_FORMULA_H
#define WEFT_FILTER_FORMULA_H

#include "parse.h"

/* Reads a formula; fails with WEFT_ERROR_INVALID_ARGUMENT and a sentence that begins "--formula
 * TEXT: ", or WEFT_ERROR_UNSUPPORTED in a build without muParser. The caller destroys it, also
 * after a failure. */
weft_status filter_formula_create(const char *text, const filter_axes *axes,
                                  filter_formula **formula);
void filter_formula_destroy(filter_formula *formula);

/* Values at `count` frequencies, which differ in the last component alone: [rank - 1] before it,
 * and [count] of it. May be called by several threads. */
void filter_formula_row(filter_formula *formula, const double *first, const double *last, int count,
                        double *value);

/* Fails if a value so far was no finite number. */
weft_status filter_formula_check(const filter_formula *formula);

#endif
