/* Faults on demand; without WEFT_FAULT there are none. */
#include "fault.h"

#include "launch.h"
#include "support/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fault {
    char action[8], place[8];
    int pass, count, rank;
} fault;

static bool find_fault(fault *found) {
    const char *text = getenv("WEFT_FAULT");
    found->rank = -1;
    if (text == NULL || sscanf(text, "%7[a-z]:%7[a-z]:%d:%d:%d", found->action, found->place,
                               &found->pass, &found->count, &found->rank) < 4)
        return false;
    return found->rank < 0 || found->rank == launch_rank_hint();
}

bool fault_is_due(fault_place place, int pass) {
    static const char *const names[] = {"before", "in", "behind"};
    static int visits; /* of the place in the pass */
    fault f;
    if (!find_fault(&f) || strcmp(f.place, names[place]) != 0 || f.pass != pass + 1) return false;
    return ++visits == f.count;
}

weft_status fault_happens(void) {
    fault f;
    if (!find_fault(&f)) return WEFT_SUCCESS;
    if (strcmp(f.action, "kill") == 0) raise(SIGKILL);
    if (strcmp(f.action, "term") == 0) raise(SIGTERM);
    return weft_fail(WEFT_ERROR_SYSTEM, "a failure on demand: WEFT_FAULT is %s",
                     getenv("WEFT_FAULT"));
}
