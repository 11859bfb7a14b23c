/* A progress bar on the terminal for work that takes longer than two seconds; nothing in a pipe. */
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
    atomic_llong done;           /* bytes of the stage, for weft_array_count */
    atomic_llong total;          /* 0: unknown */
} progress;

/* Begins where wanted and stderr is a terminal; otherwise the other calls do nothing visible. */
void progress_begin(progress *progress, bool wanted);
void progress_stage(progress *progress, const char *stage, long long total);
void progress_end(progress *progress);

#endif
