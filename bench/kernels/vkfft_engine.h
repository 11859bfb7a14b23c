/* VkFFT as an engine, for the cases of bench_kernels only. */
#ifndef BENCH_KERNELS_VKFFT_ENGINE_H
#define BENCH_KERNELS_VKFFT_ENGINE_H

#include "engine/engine.h"
#include "vkfft.h" /* its work is not on the device's default queue: vkfft_wait */

extern const weft_engine_ops vkfft_engine;

#endif
