/*
 * The shape of a line beyond WEFT_JIT_LONGEST that one group of threads transforms. Such a group
 * fills most of a multiprocessor, so what counts is how many of them it holds at once, and how long
 * their threads take between loading and storing.
 */
#ifndef WEFT_ENGINE_JIT_LONG_LINE_H
#define WEFT_ENGINE_JIT_LONG_LINE_H

#include "engine/jit/radices.h"

/* The fastest radices and number of threads for n points, n smooth, and how many groups shall be on
 * a multiprocessor at once, by a model of a multiprocessor of an H200. They are the same on every
 * device, since the bits of results depend on radices. Half spectra, which are done by the pair,
 * leave no room for the wide radices. No stages: threads have too few registers. */
weft_jit_radices weft_jit_choose_long_radices(int n, weft_precision precision, bool half,
                                              int *groups);

#endif
