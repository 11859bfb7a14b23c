/* Chooses the instruction set whose kernels run on this CPU. */
#ifndef WEFT_ENGINE_NATIVE_DISPATCH_H
#define WEFT_ENGINE_NATIVE_DISPATCH_H

#include "engine/native/kernels.h"

#include <weft/weft.h>

/* The widest set that this CPU has, or the one that the environment variable WEFT_SIMD names
 * (scalar, sse2, avx2, avx512, neon). NULL where the CPU or this build lacks the named one. The
 * variable is read once. */
const weft_kernels *weft_native_kernels(weft_precision precision);

#endif
