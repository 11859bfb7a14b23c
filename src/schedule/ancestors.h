/*
 * Which tasks come before a task by any path of dependencies. Tasks are put into chains, each of
 * which depends on the one before it; of a task it is enough to know how far along each chain the
 * tasks before it go. There are few chains where lanes and slots rotate. Tasks that find none come
 * before nothing that is known.
 */
#ifndef WEFT_SCHEDULE_ANCESTORS_H
#define WEFT_SCHEDULE_ANCESTORS_H

#include <stdbool.h>

enum { WEFT_CHAINS = 32 };

typedef struct weft_ancestors {
    int *reached; /* [tasks * WEFT_CHAINS]: tasks of each chain that come before a task, itself too
                   */
    int *chain;   /* [tasks]: -1: none */
    int *place;   /* [tasks]: in its chain, from 1 */
    int length[WEFT_CHAINS];
} weft_ancestors;

/* False: no memory. The caller releases them in any case. */
bool weft_ancestors_create(int tasks, weft_ancestors *ancestors);
void weft_ancestors_release(weft_ancestors *ancestors);

/* Whether it is known that `before` comes before `task`, of which all or some dependencies have
 * been added. */
static inline bool weft_ancestors_has(const weft_ancestors *a, int task, int before) {
    const int chain = a->chain[before];
    return chain >= 0 && a->reached[(long)task * WEFT_CHAINS + chain] >= a->place[before];
}

/* `task` depends on `before`, which is complete. */
void weft_ancestors_add(weft_ancestors *ancestors, int task, int before);

/* All dependencies of the task have been added. Tasks are completed in their order. */
void weft_ancestors_complete(weft_ancestors *ancestors, int task);

#endif
