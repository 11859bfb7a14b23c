/*
 * Blocks: contestants of one problem that run in turn, so that they can be compared. The weft
 * contestants of a problem are spread over as many blocks as their memory wants; the other
 * libraries, the peers, stay open and take part in all of them.
 */
#ifndef WEFT_BENCH_BLOCK_H
#define WEFT_BENCH_BLOCK_H

#include "bench/entrant.h"
#include "bench/request.h"
#include "bench/table.h"

typedef char bench_host[64];

/* A group of processes at work. */
typedef struct bench_run {
    const command_world *world;
    bench_table *table; /* rank 0 only */
    bench_host *hosts;  /* of all ranks; rank 0 only */
    int ranks_here;     /* ranks on this host */
    bench_buffers buffers;
    int block;    /* number of the next block */
    double since; /* when the last one ended */
    bool sound;   /* no result was wrong, nothing failed */
} bench_run;

/* Measures all contestants of a problem. A status tells that the group cannot go on; what became of
 * the contestants is in table and journal. Collective. */
weft_status bench_blocks_run(bench_run *run, const bench_request *request);

/* The rows of one contestant, of all ranks, are written and a block is over: ends the journal's
 * account of it. `cells` is taken over. Collective. */
weft_status bench_block_end(bench_run *run, const bench_spent *spent, json_t *cells);

#endif
