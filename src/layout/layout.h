/*
 * Layout: boxes of a global array, how a rank stores its box, strided views of it, and how boxes of
 * two distributions intersect. Knows nothing of MPI, devices or FFTs.
 *
 * Inside the library an array has rank + 1 axes: the problem's axes 0..rank-1, and the batch as
 * axis `rank` (never split, never transformed). Memory orders list axes from slowest to contiguous;
 * the natural order is batch, 0, 1, ..., rank-1.
 */
#ifndef WEFT_LAYOUT_H
#define WEFT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/weft.h>

#define WEFT_AXES (WEFT_MAX_RANK + 1)

/* Bytes of a real number. */
static inline size_t weft_number_bytes(weft_precision precision) {
    return precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
}

/* A box of a global array with `axes` axes. */
typedef struct weft_region {
    int axes;
    int64_t lo[WEFT_AXES];
    int64_t n[WEFT_AXES];
} weft_region;

int64_t weft_region_elements(const weft_region *region);
weft_region weft_region_intersect(const weft_region *a,
                                  const weft_region *b); /* n = 0 where disjoint */
bool weft_region_equal(const weft_region *a, const weft_region *b);

/* A strided box of elements in memory: element (i0, i1, ...) lies at offset + sum of i_a *
 * stride[a]. */
typedef struct weft_view {
    int axes;
    int64_t offset;
    int64_t n[WEFT_AXES];
    int64_t stride[WEFT_AXES];
} weft_view;

int64_t weft_view_elements(const weft_view *view);

/* Sets the range of the view's elements: from *first to before *end, both 0 where there are none.
 */
void weft_view_range(const weft_view *view, int64_t *first, int64_t *end);

/* View of `part` (global indices, inside `box`) of an array that stores `box` contiguously in
 * memory order `order`. The view's axes are the array's axes, not sorted. */
weft_view weft_view_of(const weft_region *box, const int *order, const weft_region *part);

/* View of `part` stored on its own, contiguously, in memory order `order`, at `offset`. */
weft_view weft_view_packed(const weft_region *part, const int *order, int64_t offset);

/* From the beginning of `first` to the end of `last`: views of one array that follow each other
 * along an axis, or one alone. */
weft_view weft_view_through(const weft_view *first, const weft_view *last, int axis);

/* Whether the view's elements, visited in memory order `order`, are one contiguous run. Empty views
 * are. */
bool weft_view_contiguous(const weft_view *view, const int *order);

/*
 * A copy between two views of equal extents, ready to run: axes of extent 1 dropped, axes that are
 * contiguous on both sides merged, the rest sorted so that the last axis has the smallest
 * destination stride. Offsets and strides count elements of element_bytes. elements == 0: nothing
 * to do.
 */
typedef struct weft_copy {
    int axes;
    size_t element_bytes;
    int64_t elements;
    int64_t n[WEFT_AXES];
    int64_t src_offset, dst_offset;
    int64_t src_stride[WEFT_AXES], dst_stride[WEFT_AXES];
} weft_copy;

weft_copy weft_copy_between(const weft_view *src, const weft_view *dst, size_t element_bytes);
/* Of so many elements that follow each other on both sides. */
weft_copy weft_copy_of_run(int64_t elements, size_t element_bytes);

/* Share `part` of `parts` of n items: the remainder goes to the lowest parts. */
void weft_split(int64_t n, int parts, int part, int64_t *lo, int64_t *count);

/* How a global array is spread over the ranks of a process group: each axis is whole, or split over
 * one dimension of a process grid (row-major ranks); or explicit boxes, one for each rank. */
typedef struct weft_distribution {
    int axes;
    int64_t n[WEFT_AXES];     /* global extents */
    int grid_axes;            /* dimensions of the process grid */
    int grid[WEFT_MAX_RANK];  /* ranks along each */
    int split_by[WEFT_AXES];  /* the grid dimension that splits this axis, or -1 */
    const weft_region *boxes; /* explicit boxes instead (not owned), or NULL */
} weft_distribution;

weft_region weft_distribution_box(const weft_distribution *distribution, int rank);

#endif
