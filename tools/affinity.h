/* weft info --affinity: which GPU, cores and network card each rank of a node should use. */
#ifndef WEFT_TOOLS_AFFINITY_H
#define WEFT_TOOLS_AFFINITY_H

#include <weft/weft.h>

/* For so many ranks on this node, one for each GPU where `ranks` is 0: prints a line for each and
 * the flag for SLURM; writes a rankfile for Open MPI unless the name is NULL. */
weft_status print_affinity(int ranks, const char *rankfile);

#endif
