/* The boxes of a global array that callers say their ranks have. */
#ifndef WEFT_PLAN_BOXES_H
#define WEFT_PLAN_BOXES_H

#include "transport/transport.h"

/* All ranks' boxes of an array of extents n, of which this rank has `mine`, checked to tile it;
 * `name` is the member of the problem that says them. The caller frees *boxes. Collective. */
weft_status weft_gather_boxes(weft_transport *transport, const weft_region *mine, const int64_t *n,
                              const char *name, weft_region **boxes);

#endif
