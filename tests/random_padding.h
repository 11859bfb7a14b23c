/* Random extents of arrays that hold fewer points than are transformed, and fewer frequencies. */
#ifndef WEFT_TESTS_RANDOM_PADDING_H
#define WEFT_TESTS_RANDOM_PADDING_H

#include "random_numbers.h"

#include <stdbool.h>
#include <weft/weft.h>

/* Pads, crops and truncates along some of the axes that are transformed; whether there are any. */
static inline bool draw_padding(weft_problem *p) {
    bool fewer = false;
    for (int a = 0; a < p->rank; a++) {
        const int n = (int)p->n[a];
        if (p->axis[a] == WEFT_AXIS_NONE) continue;
        if (random_below(2)) p->pad_from[a] = 1 + random_below(n);
        if (random_below(2)) p->crop_to[a] = 1 + random_below(n);
        if (random_below(3) == 0) p->truncate_to[a] = 1 + random_below(n);
        const int64_t held[] = {p->pad_from[a], p->crop_to[a], p->truncate_to[a]};
        for (int i = 0; i < 3; i++) fewer = fewer || (held[i] > 0 && held[i] < n);
    }
    return fewer;
}

#endif
