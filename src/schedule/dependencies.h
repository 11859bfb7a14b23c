/*
 * What waits for what: a task depends on every earlier task of the list that writes what it reads,
 * reads what it writes, or writes what it writes, by an exact comparison of the elements. Behind a
 * write that covers an earlier access, nothing depends on that access itself any more: it waits for
 * the write. Nor does a task depend on another one by itself that comes before it by way of others,
 * as far as that is known (schedule/ancestors.h): so there are few dependencies for each tile of a
 * streamed plan, though each tile of a pass has something of every tile of the pass before it.
 */
#ifndef WEFT_SCHEDULE_DEPENDENCIES_H
#define WEFT_SCHEDULE_DEPENDENCIES_H

#include "schedule/task.h"

/* Lists by task: those of task t are entries first[t] to first[t + 1] - 1. */
typedef struct weft_dependencies {
    int tasks, edges;
    int *first_before, *before; /* the tasks that a task waits for */
    int *first_after, *after;   /* the tasks that wait for it */
} weft_dependencies;

/* The caller releases them, also after a failure. */
weft_status weft_dependencies_derive(const weft_tasks *tasks, weft_dependencies *dependencies);
void weft_dependencies_release(weft_dependencies *dependencies);

/* Whether two accesses of one buffer touch a common byte. Where the search for one takes too long,
 * which strides of arrays never make it take, they count as if they did. */
bool weft_accesses_overlap(const weft_access *a, const weft_access *b);

#endif
