/* The worker file: what the front end wants from a group of processes. */
#ifndef WEFT_BENCH_REQUEST_H
#define WEFT_BENCH_REQUEST_H

#include "bench/problem.h"
#include "launch.h"

#include <jansson.h>

typedef struct bench_request {
    bench_problem problem;
    bool validate; /* mode: known answers instead of times */
    int iterations, warmups, repeats;
    int together; /* weft contestants that may live at one time */
    const char *effort;
    int contestants;
    json_t **cell; /* borrowed from the document; each names its cell, library, effort, threads */
} bench_request;

typedef struct bench_requests {
    json_t *document;
    const char *table, *journal;
    const char *ceilings; /* the file to write them to, instead of problems; or NULL */
    int threads;          /* of each rank, for the ceilings */
    int first_block;
    int count;
    bench_request *request;
} bench_requests;

/* Rank 0 reads the file; the caller releases what was read, also after a failure. What is wrong in
 * it is told with its place. Collective. */
weft_status bench_requests_read(const command_world *world, const char *path,
                                bench_requests *requests);
void bench_requests_release(bench_requests *requests);

#endif
