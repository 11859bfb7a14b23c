/*
 * FFTW wisdom kept in a file from one process to the next, so that MEASURE and PATIENT measure a
 * transform only once. It lies in the cache folder (support/cache_file.h); its name holds the
 * library's version and the precision, for wisdom is valid for one build only. Both functions are
 * best effort: without the file, plans are measured again.
 */
#ifndef WEFT_ENGINE_FFTW_WISDOM_H
#define WEFT_ENGINE_FFTW_WISDOM_H

#include "engine/fftw/library.h"

/* Reads the file, once in each process. The planner must be locked. */
void weft_fftw_wisdom_import(const weft_fftw_library *library, weft_precision precision);

/* Replaces the file by all wisdom of the planner, which must be locked. */
void weft_fftw_wisdom_export(const weft_fftw_library *library, weft_precision precision);

#endif
