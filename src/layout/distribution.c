/* Distributions: which box of a global array each rank owns. */
#include "layout/layout.h"

void weft_split(int64_t n, int parts, int part, int64_t *lo, int64_t *count) {
    int64_t base = n / parts, extra = n % parts;
    *lo = base * part + (part < extra ? part : extra);
    *count = base + (part < extra ? 1 : 0);
}

weft_region weft_distribution_box(const weft_distribution *distribution, int rank) {
    if (distribution->boxes) return distribution->boxes[rank];

    int coordinate[WEFT_MAX_RANK] = {0};
    for (int g = distribution->grid_axes - 1; g >= 0; g--) {
        coordinate[g] = rank % distribution->grid[g];
        rank /= distribution->grid[g];
    }
    weft_region box = {.axes = distribution->axes};
    for (int a = 0; a < distribution->axes; a++) {
        int g = distribution->split_by[a];
        if (g < 0)
            box.n[a] = distribution->n[a];
        else
            weft_split(distribution->n[a], distribution->grid[g], coordinate[g], &box.lo[a],
                       &box.n[a]);
    }
    return box;
}
