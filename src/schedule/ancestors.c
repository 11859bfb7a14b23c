/* Chains of tasks that depend on each other. */
#include "schedule/ancestors.h"

#include <stdlib.h>

bool weft_ancestors_create(int tasks, weft_ancestors *ancestors) {
    const size_t count = (size_t)tasks + 1;
    *ancestors = (weft_ancestors){.reached = calloc(count * WEFT_CHAINS, sizeof(int)),
                                  .chain = calloc(count, sizeof(int)),
                                  .place = calloc(count, sizeof(int))};
    return ancestors->reached && ancestors->chain && ancestors->place;
}

void weft_ancestors_release(weft_ancestors *ancestors) {
    free(ancestors->reached);
    free(ancestors->chain);
    free(ancestors->place);
    *ancestors = (weft_ancestors){0};
}

static int *reached_by(const weft_ancestors *ancestors, int task) {
    return &ancestors->reached[(size_t)task * WEFT_CHAINS];
}

void weft_ancestors_add(weft_ancestors *ancestors, int task, int before) {
    int *mine = reached_by(ancestors, task);
    const int *other = reached_by(ancestors, before);
    for (int c = 0; c < WEFT_CHAINS; c++)
        if (other[c] > mine[c]) mine[c] = other[c];
}

/* The task continues a chain whose end comes before it, or begins one. */
void weft_ancestors_complete(weft_ancestors *ancestors, int task) {
    int *mine = reached_by(ancestors, task), found = -1;
    for (int c = 0; c < WEFT_CHAINS && found < 0; c++)
        if (ancestors->length[c] > 0 && mine[c] == ancestors->length[c]) found = c;
    for (int c = 0; c < WEFT_CHAINS && found < 0; c++)
        if (ancestors->length[c] == 0) found = c;
    ancestors->chain[task] = found;
    if (found >= 0) mine[found] = ancestors->place[task] = ++ancestors->length[found];
}
