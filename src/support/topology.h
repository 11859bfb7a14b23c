/* Caches and cores of this machine as this process sees them: what sizes of blocks are chosen by.
 */
#ifndef WEFT_SUPPORT_TOPOLOGY_H
#define WEFT_SUPPORT_TOPOLOGY_H

#include <stddef.h>

/* Bytes of data caches, the smallest where the cores of this process differ. What nobody tells is
 * filled in small, so that blocks made by it fit anywhere. No member is zero. */
typedef struct weft_topology {
    size_t l1, l2;         /* of one core: of a cache that several share, one core's part */
    size_t last_level;     /* of one last-level cache as a whole */
    int last_level_shared; /* cores that share it, those of other processes included */
    int cores;             /* that this process may run on, as it was bound at the first call */
    int last_levels;       /* last-level caches above those cores, ... */
    int last_levels_of_machine; /* ... and above all cores */
} weft_topology;

/* Looked up by the first call, a few ms; the same for the life of the process. Any thread. */
const weft_topology *weft_topology_get(void);

/* How many threads share a last-level cache where each of `processes` on this machine has `threads`
 * (at least 1 each), evenly spread over the caches of the cores that it may use: processes that may
 * use the same caches share them; those that are bound to some cores of a cache have as many beside
 * them as there is room for. */
int weft_topology_sharers(const weft_topology *topology, int threads, int processes);

#endif
