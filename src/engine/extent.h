/* How far the elements of one side of a transform lie apart, by the strides that it has: those of
 * the caller, and of points that are padded, cropped or truncated. */
#ifndef WEFT_ENGINE_EXTENT_H
#define WEFT_ENGINE_EXTENT_H

#include "engine/engine.h"

typedef struct weft_extent {
    int64_t count;           /* of elements */
    int64_t lowest, highest; /* places of the first and of the last one in memory, in elements from
                                the address of the array */
} weft_extent;

weft_extent weft_extent_of(const weft_transform *transform, bool output);

#endif
