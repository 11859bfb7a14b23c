/*
 * Parts of filters as text: "gaussian" with "4,1,30", "notch" with "0.1,0.25,0.02". The flags of
 * `weft filter` and the requests of `weft live` are the same words.
 */
#ifndef WEFT_FILTER_PARSE_H
#define WEFT_FILTER_PARSE_H

#include "response.h"

/* What the numbers of a part refer to. In a picture they come as x (to the right, the last axis), y
 * (downwards, the axis before), and angles turn counter-clockwise as seen, from x. In another array
 * they come in the order of its axes, and angles turn from axis 0 towards axis 1. */
typedef struct filter_axes {
    int rank;
    bool picture;
} filter_axes;

/* Whether `name` is that of a part: gaussian, lowpass, highpass, bandpass, notch, wiener. */
bool filter_is_part(const char *name);

/* Reads a part; fails with WEFT_ERROR_INVALID_ARGUMENT and a sentence that begins "--NAME TEXT: "
 * and says what to give. */
weft_status filter_parse(const char *name, const char *text, const filter_axes *axes,
                         filter_part *part);

#endif
