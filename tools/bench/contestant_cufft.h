/* What the contestants cuFFT and cuFFTXt have in common: one process that holds whole arrays. */
#ifndef WEFT_BENCH_CONTESTANT_CUFFT_H
#define WEFT_BENCH_CONTESTANT_CUFFT_H

#include "bench/problem.h"

/* The row-major share that is the whole array, and its bytes. */
bench_share cufft_whole_share(const bench_problem *p, weft_space space, size_t *bytes);

/* The cufftType of a problem. */
int cufft_transform_type(const bench_problem *p);

#endif
