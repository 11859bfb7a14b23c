/*
 * One line that tells how far the work is: what is being done, and where its end is known the share
 * that is done, the rate of bytes, and the time that is left. On the terminal for work that takes
 * longer than two seconds, and nothing in a pipe; where it is asked for, everywhere and at once.
 */
#ifndef WEFT_TOOLS_PROGRESS_H
#define WEFT_TOOLS_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct progress {
    bool running;
    pthread_t thread;
    atomic_bool stop;
    _Atomic(const char *) stage; /* what is being done */
    _Atomic double begun;        /* the clock when that began */
    atomic_llong done;           /* bytes of the stage, for weft_array_count */
    atomic_llong total;          /* 0: unknown */
    _Atomic double share; /* that is done, where it is not known in bytes; negative: unknown */
    _Atomic double first_share; /* when it was first told */
    double quiet_seconds;       /* before the first line */
} progress;

/* Begins where it is allowed and stderr is a terminal, and where it is asked for; otherwise the
 * other calls do nothing visible. */
void progress_begin(progress *progress, bool allowed, bool asked_for);
/* `total` bytes are to be done, or 0 where that is not known. */
void progress_stage(progress *progress, const char *stage, long long total);
/* So much of the work, from 0 to 1, is done, by an estimate, and what is being done now; of a stage
 * without known bytes. */
void progress_share(progress *progress, const char *stage, double share);
void progress_end(progress *progress);

#endif
