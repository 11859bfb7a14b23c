/* Boxes of a global array: size, intersection, equality. */
#include "layout/layout.h"

int64_t weft_region_elements(const weft_region *region) {
    int64_t elements = 1;
    for (int a = 0; a < region->axes; ++a) elements *= region->n[a];
    return elements;
}

weft_region weft_region_intersect(const weft_region *a, const weft_region *b) {
    weft_region both = {.axes = a->axes};
    for (int i = 0; i < a->axes; ++i) {
        int64_t a_end = a->lo[i] + a->n[i], b_end = b->lo[i] + b->n[i];
        int64_t end = a_end < b_end ? a_end : b_end;
        both.lo[i] = a->lo[i] > b->lo[i] ? a->lo[i] : b->lo[i];
        both.n[i] = end > both.lo[i] ? end - both.lo[i] : 0;
    }
    return both;
}

bool weft_region_equal(const weft_region *a, const weft_region *b) {
    if (a->axes != b->axes) return false;
    for (int i = 0; i < a->axes; ++i)
        if (a->lo[i] != b->lo[i] || a->n[i] != b->n[i]) return false;
    return true;
}
