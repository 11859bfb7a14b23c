/* The boxes of a global array that callers say their ranks have. */
#include "plan/boxes.h"

#include "plan/agreement.h"
#include "support/checked.h"
#include "support/error.h"

#include <stdlib.h>

typedef struct placed_box {
    const weft_region *box;
    int rank;
} placed_box;

static int by_first_axis(const void *a, const void *b) {
    int64_t x = ((const placed_box *)a)->box->lo[0], y = ((const placed_box *)b)->box->lo[0];
    return (x > y) - (x < y);
}

/* Boxes tile an array when they do not overlap and their volumes add up. Sorted along the first
 * axis, each is compared only with those that begin before it ends. */
static weft_status check_tiling(const weft_region *boxes, int ranks, const int64_t *n, int axes,
                                const char *name) {
    placed_box *sorted = malloc((size_t)ranks * sizeof *sorted);
    if (!sorted) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d boxes", ranks);
    int64_t covered = 0, total = 1;
    int filled = 0;
    weft_status status = WEFT_SUCCESS;
    for (int a = 0; a < axes; a++) total *= n[a];
    for (int r = 0; r < ranks; r++) {
        int64_t elements = weft_region_elements(&boxes[r]);
        /* Boxes that overlap may have any number of elements together. */
        if (!weft_checked_add(covered, elements, &covered)) covered = INT64_MAX;
        if (elements > 0) sorted[filled++] = (placed_box){&boxes[r], r};
    }
    qsort(sorted, (size_t)filled, sizeof *sorted, by_first_axis);
    for (int i = 0; i < filled && status == WEFT_SUCCESS; i++) {
        int64_t end = sorted[i].box->lo[0] + sorted[i].box->n[0];
        for (int j = i + 1; j < filled && sorted[j].box->lo[0] < end; j++) {
            weft_region both = weft_region_intersect(sorted[i].box, sorted[j].box);
            if (weft_region_elements(&both) == 0) continue;
            status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                               "problem.%s boxes of ranks %d and %d overlap; every element belongs "
                               "to one rank",
                               name, sorted[i].rank, sorted[j].rank);
            break;
        }
    }
    if (status == WEFT_SUCCESS && covered != total)
        status =
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "problem.%s boxes of all ranks cover %lld of %lld elements; every element "
                      "belongs to one rank",
                      name, (long long)covered, (long long)total);
    free(sorted);
    return status;
}

weft_status weft_gather_boxes(weft_transport *transport, const weft_region *mine, const int64_t *n,
                              const char *name, weft_region **boxes) {
    const int ranks = transport->size;
    weft_region *all = calloc((size_t)ranks, sizeof *all);
    weft_status status =
        all ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d boxes", ranks);
    status = weft_agree(transport, status);
    if (status == WEFT_SUCCESS) {
        status = transport->ops->gather_all(transport, mine, sizeof *mine, all);
        if (status == WEFT_SUCCESS) status = check_tiling(all, ranks, n, mine->axes, name);
        status = weft_agree(transport, status);
    }
    if (status != WEFT_SUCCESS) {
        free(all);
        return status;
    }
    *boxes = all;
    return WEFT_SUCCESS;
}
