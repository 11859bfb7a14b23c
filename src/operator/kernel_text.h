/*
 * The kernel text of a list while it is being written: kernel.c writes what is done to elements one
 * by one, kernel_fields.c matrices of all fields of a point.
 */
#ifndef WEFT_OPERATOR_KERNEL_TEXT_H
#define WEFT_OPERATOR_KERNEL_TEXT_H

#include "operator/kernel.h"
#include "operator/pointwise.h"
#include "support/text.h"

typedef struct weft_operator_text {
    const weft_pointwise *list; /* made ready on the host */
    const char *name;
    weft_operator_kernel *kernel;
    weft_text text, body; /* of the function that calls the others */
    weft_text inside, gaps, kept;
    weft_text factor;        /* of the function that finds the factor of an array, ... */
    const char *factor_type; /* ... which is a real or a real2; NULL: there is no array */
    int64_t numbers;         /* of the tables so far */
} weft_operator_text;

/* Adds a number to the structure NAME_places, which grows by 1 with the index along an axis. */
weft_status weft_operator_text_place(weft_operator_text *w, int64_t value, int axis, int *number);
/* Writes the type of that structure, once all is there. */
void weft_operator_text_places(weft_operator_text *w);

/* Writes to the body the multiplication of `value` by a factor. */
void weft_operator_text_scale(weft_operator_text *w, double factor);
/* Begins a block that is executed where the operator's array is set; `at` is the element's place
 * there. */
weft_status weft_operator_text_array(weft_operator_text *w, weft_text *block,
                                     const weft_operator *o);
/* Writes the caller's snippet as a function, and a call of it to the body. */
void weft_operator_text_snippet(weft_operator_text *w, int number, const weft_operator *o);
weft_status weft_operator_text_call(weft_operator_text *w, int number, const weft_operator *o);

/* Writes the text of a list with a matrix. */
weft_status weft_operator_text_matrix(weft_operator_text *w);

#endif
