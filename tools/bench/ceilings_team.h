/* The threads of one rank: they start together, and the time they take is that of the last. */
#ifndef WEFT_BENCH_CEILINGS_TEAM_H
#define WEFT_BENCH_CEILINGS_TEAM_H

#include <weft/weft.h>

typedef struct ceilings_team ceilings_team;
typedef void (*ceilings_work)(void *argument, int thread);

/* Starts threads - 1 threads; the caller is thread 0. Not collective. */
weft_status ceilings_team_create(int threads, ceilings_team **team);
void ceilings_team_destroy(ceilings_team **team);
int ceilings_team_threads(const ceilings_team *team);

/* Runs the work on all threads; returns when all are done. *start and *end are on weft_clock, which
 * all processes of a node share: the first start and the last end of a thread. Not collective. */
void ceilings_team_run(ceilings_team *team, ceilings_work work, void *argument, double *start,
                       double *end);

#endif
