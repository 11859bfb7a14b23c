/*
 * Exchange methods as the planner sees them: which it may choose and in what order, what each needs
 * of the ranks that exchange, and which of them the redistributions of a chain can use. Its table
 * of candidates is the only place outside src/exchange and the list of names that names a method.
 */
#ifndef WEFT_PLAN_METHODS_H
#define WEFT_PLAN_METHODS_H

#include "plan/planner.h"

/* What a method needs of the ranks of a group. */
typedef enum weft_method_need {
    WEFT_NEEDS_NOTHING,         /* any ranks can exchange by it */
    WEFT_NEEDS_READABLE_MEMORY, /* ranks of one node, which can read each other's arrays */
    WEFT_NEEDS_OWN_DEVICES      /* a device for each rank, that sends and receives by itself */
} weft_method_need;

weft_method_need weft_method_needs(weft_exchange method);

/* The method by which chains are compared: any ranks can exchange by it. */
weft_exchange weft_method_usual(void);

/* The methods that weft may choose by itself, by number, the one listed first preferred among
 * equals. */
enum { WEFT_CANDIDATE_METHODS = 7 };
weft_exchange weft_method_numbered(int number);

/* The exchange methods of one chain: which entries of options.exchange are weft's to choose, and
 * with what. */
typedef struct weft_methods {
    weft_exchange given[WEFT_MAX_RANK]; /* what the caller gave; void in entries that are open */
    int open;                           /* so many entries, the first ones, are weft's to choose */
    int used[WEFT_MAX_RANK];            /* those of them that some redistribution uses ... */
    int used_count;                     /* ... are so many */
    /* [entry][number]: all redistributions that use the entry can use the method */
    bool possible[WEFT_MAX_RANK][WEFT_CANDIDATE_METHODS];
    /* [entry][number]: predicted seconds of those redistributions, where it is possible; filled in
     * by the planner, for mixtures */
    double cost[WEFT_MAX_RANK][WEFT_CANDIDATE_METHODS];
} weft_methods;

/* UNSUPPORTED where a redistribution cannot use what the caller gave. Not collective. */
weft_status weft_methods_find(const weft_planner *planner, const weft_chain *chain,
                              weft_methods *methods);

/* All entries of a candidate by one method: number `number` where it is possible, elsewhere number
 * `other`. Whether any entry uses it; *everywhere tells whether all that weft chooses do. */
bool weft_methods_alike(const weft_methods *methods, int number, int other, weft_exchange *exchange,
                        bool *everywhere);

/* A mixture: mixture 0 has in each entry that is used the method that costs least there, mixture
 * 1 + i the second best in used entry i. Whether there is such a mixture, predicted to be faster
 * than every single method. */
bool weft_methods_mixture(const weft_methods *methods, int mixture, weft_exchange *exchange);

#endif
