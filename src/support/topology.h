/* Caches and cores of this machine as this process sees them, by which sizes of blocks are
 * chosen. */
#ifndef WEFT_SUPPORT_TOPOLOGY_H
#define WEFT_SUPPORT_TOPOLOGY_H

#include <stddef.h>

/* Sizes of data caches in bytes, the smallest if the cores of this process differ. Unknown sizes
 * are set to small values, so that blocks chosen by them fit anywhere. No member is zero. */
typedef struct weft_topology {
    size_t l1, l2;         /* of one core: of a cache that several share, one core's part */
    size_t last_level;     /* of one last-level cache as a whole */
    int last_level_shared; /* cores that share it, those of other processes included */
    int cores;             /* that this process may run on, as it was bound at the first call */
    int last_levels;       /* last-level caches above those cores, ... */
    int last_levels_of_machine; /* ... and above all cores */
} weft_topology;

/* The first call looks it up, in a few milliseconds; it is the same for the life of the process.
 * Thread-safe. */
const weft_topology *weft_topology_get(void);

/* How many threads share a last-level cache if each of `processes` on this machine has `threads`
 * (both at least 1), spread evenly over the caches of the cores that it may use. Processes that may
 * use the same cores share their caches. A process that is bound to some of a cache's cores is
 * assumed to have as many others beside it as the remaining cores have room for. */
int weft_topology_sharers(const weft_topology *topology, int threads, int processes);

#endif
