/* What FFTW and FFTW-MPI have in common as contestants: the library, threads and planning effort.
 */
#ifndef WEFT_BENCH_FFTW_SETTING_H
#define WEFT_BENCH_FFTW_SETTING_H

#include "bench/contestant.h"
#include "engine/fftw/library.h"

typedef struct fftw_setting {
    const weft_fftw_library *library;
    weft_precision precision;
    bool keeps_wisdom; /* in the files of weft's engine: only where the library is that engine's */
    int threads;
    unsigned flags; /* of the effort */
} fftw_setting;

/* Reads a cell's threads and effort; fills the contestant's version, device and engine. Not
 * collective. */
weft_status fftw_setting_read(bench_contestant *c, const bench_problem *p, const json_t *cell,
                              fftw_setting *setting);

/* Planner calls go between these two; plans made there use the setting's threads. */
void fftw_planner_enter(const fftw_setting *setting);
void fftw_planner_leave(const fftw_setting *setting);

/* NULL is ignored. */
void fftw_plan_destroy(const fftw_setting *setting, void *plan);

#endif
