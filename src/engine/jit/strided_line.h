/*
 * Lines whose neighbours are contiguous on both sides. Threads that hold more of a line's points
 * are better there than the costs of radices.c say: they have more loads in flight.
 */
#ifndef WEFT_ENGINE_JIT_STRIDED_LINE_H
#define WEFT_ENGINE_JIT_STRIDED_LINE_H

#include "engine/jit/radices.h"

/* Finds the radices and threads for a line of n complex points that were faster in measurements
 * than those of least cost; false: there are none. They are the same on every device, since the
 * bits of results depend on radices. */
bool weft_jit_find_strided_radices(int n, weft_precision precision, weft_jit_radices *radices);

#endif
