/*
 * One rank of a group of processes that measures: reads what the front end wrote for it, runs the
 * problems one after the other, and keeps the table and the journal.
 */
#ifndef WEFT_BENCH_WORKER_H
#define WEFT_BENCH_WORKER_H

#include "launch.h"

#include <stdbool.h>

/* Runs the worker file at `path`, which rank 0 reads. *sound tells whether all results were right
 * and nothing failed; a status tells that the work could not be done. Collective. */
weft_status bench_worker(const command_world *world, const char *path, bool *sound);

#endif
