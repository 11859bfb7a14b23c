/*
 * Faults on demand, for tests of runs that are stopped. The environment variable WEFT_FAULT says
 * what happens, "ACTION:PLACE:PASS:COUNT" or "ACTION:PLACE:PASS:COUNT:RANK": the action (kill,
 * term, fail) at the place (before, in, behind: of storing a tile) in a pass, from 1 on, when the
 * process (of that rank; else each) is there for the COUNT-th time. Of weft homogenize a pass is a
 * load, and the places are before a checkpoint's fields are written, before they have their name,
 * and behind the checkpoint.
 */
#ifndef WEFT_TOOLS_FAULT_H
#define WEFT_TOOLS_FAULT_H

#include <stdbool.h>
#include <weft/weft.h>

typedef enum fault_place { FAULT_BEFORE_TILE, FAULT_IN_TILE, FAULT_BEHIND_TILE } fault_place;

/* Whether the fault is to happen here, in a pass, from 0 on. From one thread only. */
bool fault_is_due(fault_place place, int pass);

/* The fault: the process ends here, or this fails. */
weft_status fault_happens(void);

#endif
