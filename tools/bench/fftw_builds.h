/*
 * The builds of FFTW, and the other libraries with FFTW's interface, that run as contestants: the
 * FFTW that weft's engine opens, and those that scripts/build-peers put into the folder that the
 * environment variable WEFT_PEERS names.
 */
#ifndef WEFT_BENCH_FFTW_BUILDS_H
#define WEFT_BENCH_FFTW_BUILDS_H

#include "engine/fftw/library.h"

/* The folder of a contestant's shared libraries, such as WEFT_PEERS/fftw-avx512/lib, in `folder`;
 * empty where the dynamic linker looks for them. Fails where WEFT_PEERS is not set. */
weft_status fftw_build_folder(const char *contestant, char folder[4096]);

/* The library behind a contestant ("fftw", "fftw-avx512", "mkl", ...), opened by the first call and
 * kept; NULL, with the reason as the thread's last error, where it cannot be had. Not thread-safe:
 * the benchmark calls from one thread. */
const weft_fftw_library *fftw_build_open(const char *contestant, weft_precision precision);

/* Whether it is the library that weft's own engine uses, whose wisdom is kept in files. */
bool fftw_build_is_own(const char *contestant);

/* The number in MKL's own words, "Intel(R) oneAPI Math Kernel Library Version 2025.1-Product Build
 * ...": 2025.1. */
void mkl_version_of(const char *text, char *version, size_t bytes);

#endif
