/*
 * The parts of `weft tune`: each measures some rates of a machine record (src/plan/machine.h).
 * Times are the best of several, for what else the machine does only makes them longer.
 */
#ifndef WEFT_TOOLS_TUNE_H
#define WEFT_TOOLS_TUNE_H

#include "launch.h"

#include "plan/machine.h"

/* A run of measurements. */
typedef struct tuning {
    const command_world *world;
    int threads;       /* of each rank where several run at once */
    double seconds;    /* for each rate in each round */
    int round, rounds; /* all rates are measured in several rounds, of which the best counts */
    weft_machine machine;
} tuning;

/* Seconds of the best of several runs of a function, within tuning.seconds. Short ones run several
 * times for each reading of the clock. */
typedef weft_status (*tune_work)(void *argument);
weft_status tune_best(const tuning *t, tune_work work, void *argument, double *seconds);

/* Keeps the first round's rate, or a better one. */
void tune_keep_best(const tuning *t, double *rate, double found);

/* One thread of rank 0: the native engine's arithmetic in the caches; and, once all rounds of that
 * are done, copies and the passes' ways through memory. Not collective. */
weft_status tune_arithmetic_alone(tuning *t);
weft_status tune_memory_alone(tuning *t);

/* All threads of all ranks at once: rate.contention. Left as it is where that is one thread.
 * Collective. */
weft_status tune_together(tuning *t);

/* Messages between all ranks: bandwidth, latency, signal, penalty.datatypes. Left as they are on
 * one rank. Collective. */
weft_status tune_messages(tuning *t);

/* A device that is not the host, on rank 0: memory, link, launches. Not collective. */
weft_status tune_device(tuning *t, weft_device device);

#endif
