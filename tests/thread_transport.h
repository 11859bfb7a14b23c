/*
 * A transport whose ranks are threads of one process, for tests: no MPI, and every memory access is
 * seen by the thread sanitizer. A send and its receive are matched in posting order and copied at
 * once by whoever comes second.
 */
#ifndef WEFT_TESTS_THREAD_TRANSPORT_H
#define WEFT_TESTS_THREAD_TRANSPORT_H

#include "transport/transport.h"

/* Runs body(argument, transport) on `ranks` threads, each with its own transport object of one
 * group. The body releases its transport (or gives it to a context). Returns when all have ended.
 */
void thread_ranks_run(int ranks, void (*body)(void *argument, weft_transport *transport),
                      void *argument);

/* The same with so many ranks on each node: those of others cannot read what a rank shares. */
void thread_ranks_run_on_nodes(int ranks, int ranks_per_node,
                               void (*body)(void *argument, weft_transport *transport),
                               void *argument);

#endif
