/* The group of processes that measures: where its ranks run, and with which libraries. */
#ifndef WEFT_BENCH_GROUP_H
#define WEFT_BENCH_GROUP_H

#include "bench/block.h"

/* Learns the hosts of all ranks; rank 0 gets the journal's line about the group, a new reference.
 * Collective. */
weft_status bench_group_describe(bench_run *run, json_t **line);

#endif
