/*
 * Shapes of lines that were measured: for those lengths where one was faster than what the costs of
 * radices.c or the model of long_line.c choose. They are the same on every device, since the bits
 * of results depend on radices.
 */
#ifndef WEFT_ENGINE_JIT_MEASURED_LINE_H
#define WEFT_ENGINE_JIT_MEASURED_LINE_H

#include "engine/jit/radices.h"

/* The radices and threads of a line of n complex points whose neighbours are contiguous on both
 * sides; false: there are none. Threads that hold more of a line's points have more loads in
 * flight. */
bool weft_jit_find_strided_radices(int n, weft_precision precision, weft_jit_radices *radices);

/* The same of a line whose complex points are contiguous on both sides, which a group of threads
 * does by itself, so many *groups of a multiprocessor at once. */
bool weft_jit_find_contiguous_radices(int n, weft_precision precision, weft_jit_radices *radices,
                                      int *groups);

#endif
