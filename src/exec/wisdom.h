/*
 * Choices that efforts MEASURE and PATIENT remember (plan/wisdom_file.h): a call on a machine is
 * measured once. Rank 0 reads and writes; all ranks take what it found.
 */
#ifndef WEFT_EXEC_WISDOM_H
#define WEFT_EXEC_WISDOM_H

#include "exec/plan.h"

/* Moves the candidate that was chosen before to the front. *found tells
 * whether there is one. A file that cannot be used is as if it were not there; plan->wisdom says
 * why. Collective. */
weft_status weft_wisdom_recall(weft_plan plan, bool *found);

/* Keeps the first candidate, which was measured. Best effort; plan->wisdom says what failed. Not
 * collective: ranks other than 0 do nothing. */
void weft_wisdom_keep(weft_plan plan);

#endif
