/* The octrees of a convolution by samples in a file, for weft plot and other programs. */
#ifndef WEFT_TOOLS_OCTREE_H
#define WEFT_TOOLS_OCTREE_H

#include <weft/weft.h>

/* Writes the cells of all ranks' octrees as JSON, under a temporary name that is then renamed. The
 * process that calls it asks for those of the others: not collective. */
weft_status octree_write(weft_convolution convolution, const weft_convolution_problem *problem,
                         int ranks, const char *path);

#endif
