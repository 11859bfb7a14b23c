/*
 * Choices that the native engine makes by the sizes of the caches and, where the plan's effort
 * allows, by measuring. They affect speed only: the bits of the result are the same.
 */
#ifndef WEFT_ENGINE_NATIVE_TUNING_H
#define WEFT_ENGINE_NATIVE_TUNING_H

#include "engine/engine.h"

/* Complex points that each thread of a team has at least; work for less than two is done by the
 * calling thread. On 2 cores of an AMD EPYC (Zen 4) two threads need, of the time of one, for so
 * many points in all (bench_teams; docs/results/calls.md):
 *      points   lines of 8   of 64   of 512   planes   cubes
 *        1024         1.70    2.97     1.01     1.98    2.00
 *        2048         1.20    1.16     1.00     1.26    1.11
 *        4096         0.75    0.83     1.00     0.98    0.91
 *        8192         0.63    0.67     0.74     0.89    0.90
 */
enum { WEFT_NATIVE_POINTS_PER_THREAD = 2048 };

/* The same of transforms of several axes, each of which is a team's work of its own: on 2 cores of
 * a Xeon two threads take, of the time of one, 1.1 to 1.6 for 96^2 and 100^2 points, 0.9 to 1.2 for
 * 128^2, and 0.6 to 0.9 for 200^2 and 40^3 (job shapes). */
enum { WEFT_NATIVE_POINTS_OF_AXES_PER_THREAD = 8192 };

/* What is chosen: a bit for each of these. */
enum {
    /* Lines that are neighbours on both sides and whose points are far apart go through blocks that
     * are copied into the cache; else the rows of their tiles are fetched ahead. */
    WEFT_NATIVE_BLOCKS = 1,
    WEFT_NATIVE_PAST = 2,        /* large results are stored past the caches */
    WEFT_NATIVE_INTERLEAVED = 4, /* columns and rows in the caches are on interleaved numbers */
    WEFT_NATIVE_TUNINGS = 8
};

typedef unsigned weft_native_tuning;

/* Bytes of the last-level cache for one thread of this process, which shares it with the other
 * threads and with the other ranks of the node. */
size_t weft_native_cache_share(int threads);

weft_status weft_native_plan_with(const weft_transform *transform, weft_native_tuning tuning,
                                  weft_engine_plan **plan, size_t *bytes);
void weft_native_run(weft_engine_plan *plan, const void *in, void *out);
void weft_native_destroy(weft_engine_plan *plan);

/* What is chosen without measuring. */
weft_native_tuning weft_native_usual_tuning(void);

/* Whether a pass of the plan is done on interleaved numbers. */
bool weft_native_is_interleaved(const weft_engine_plan *plan);

/* Chooses by measurement where the effort allows it and there is a choice: about one second of runs
 * on temporary arrays if they are larger than the caches, and about a millisecond if not.
 * Otherwise, or where there is no memory for such arrays, it is the usual tuning. */
weft_native_tuning weft_native_choose_tuning(const weft_transform *transform);

#endif
