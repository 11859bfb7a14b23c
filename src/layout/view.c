/*
 * Strided views of the arrays that ranks store, and the copy that two views of equal extents amount
 * to.
 */
#include "layout/layout.h"

/* Strides of an array of extents n stored contiguously in memory order `order`. */
static void contiguous_strides(int axes, const int64_t *n, const int *order, int64_t *stride) {
    int64_t step = 1;
    for (int i = axes - 1; i >= 0; --i) {
        stride[order[i]] = step;
        step *= n[order[i]];
    }
}

int64_t weft_view_elements(const weft_view *view) {
    int64_t elements = 1;
    for (int a = 0; a < view->axes; ++a) elements *= view->n[a];
    return elements;
}

void weft_view_range(const weft_view *view, int64_t *first, int64_t *end) {
    *first = *end = 0;
    if (weft_view_elements(view) == 0) return;
    *first = view->offset;
    *end = view->offset + 1;
    for (int a = 0; a < view->axes; ++a)
        *(view->stride[a] < 0 ? first : end) += (view->n[a] - 1) * view->stride[a];
}

weft_view weft_view_of(const weft_region *box, const int *order, const weft_region *part) {
    weft_view view = {.axes = part->axes};
    contiguous_strides(box->axes, box->n, order, view.stride);
    bool empty = weft_region_elements(part) == 0;
    for (int a = 0; a < part->axes; ++a) {
        view.n[a] = part->n[a];
        /* An empty part may lie anywhere; its offset stays inside the array. */
        if (!empty) view.offset += (part->lo[a] - box->lo[a]) * view.stride[a];
    }
    return view;
}

weft_view weft_view_packed(const weft_region *part, const int *order, int64_t offset) {
    weft_view view = weft_view_of(part, order, part);
    view.offset = offset;
    return view;
}

weft_view weft_view_through(const weft_view *first, const weft_view *last, int axis) {
    weft_view view = *first;
    if (last != first)
        view.n[axis] = (last->offset - first->offset) / first->stride[axis] + last->n[axis];
    return view;
}

bool weft_view_contiguous(const weft_view *view, const int *order) {
    for (int a = 0; a < view->axes; ++a)
        if (view->n[a] == 0) return true;
    int64_t step = 1;
    for (int i = view->axes - 1; i >= 0; --i) {
        int a = order[i];
        if (view->n[a] == 1) continue;
        if (view->stride[a] != step) return false;
        step *= view->n[a];
    }
    return true;
}

/* Whether axis a of the copy lies outside axis b in a loop nest that writes the destination
 * forwards. */
static bool goes_outside(const weft_copy *copy, int a, int b) {
    if (copy->dst_stride[a] != copy->dst_stride[b])
        return copy->dst_stride[a] > copy->dst_stride[b];
    return copy->src_stride[a] > copy->src_stride[b];
}

static void swap_axes(weft_copy *copy, int a, int b) {
    int64_t n = copy->n[a], src = copy->src_stride[a], dst = copy->dst_stride[a];
    copy->n[a] = copy->n[b];
    copy->src_stride[a] = copy->src_stride[b];
    copy->dst_stride[a] = copy->dst_stride[b];
    copy->n[b] = n;
    copy->src_stride[b] = src;
    copy->dst_stride[b] = dst;
}

static void sort_axes(weft_copy *copy) {
    for (int i = 1; i < copy->axes; ++i)
        for (int j = i; j > 0 && goes_outside(copy, j, j - 1); --j) swap_axes(copy, j, j - 1);
}

/* Joins neighbouring axes that one stride can walk, on both sides. */
static void merge_axes(weft_copy *copy) {
    int kept = 0;
    for (int i = 1; i < copy->axes; ++i) {
        if (copy->src_stride[kept] == copy->n[i] * copy->src_stride[i] &&
            copy->dst_stride[kept] == copy->n[i] * copy->dst_stride[i]) {
            copy->n[kept] *= copy->n[i];
        } else {
            copy->n[++kept] = copy->n[i];
        }
        copy->src_stride[kept] = copy->src_stride[i];
        copy->dst_stride[kept] = copy->dst_stride[i];
    }
    if (copy->axes > 0) copy->axes = kept + 1;
}

/* An axis along which the destination runs backwards is walked from its end on both sides. */
static void turn_axis(weft_copy *copy, int a) {
    if (copy->dst_stride[a] >= 0) return;
    copy->src_offset += (copy->n[a] - 1) * copy->src_stride[a];
    copy->dst_offset += (copy->n[a] - 1) * copy->dst_stride[a];
    copy->src_stride[a] = -copy->src_stride[a];
    copy->dst_stride[a] = -copy->dst_stride[a];
}

weft_copy weft_copy_between(const weft_view *src, const weft_view *dst, size_t element_bytes) {
    weft_copy copy = {.element_bytes = element_bytes, .elements = weft_view_elements(src)};
    copy.src_offset = src->offset;
    copy.dst_offset = dst->offset;
    for (int a = 0; a < src->axes; ++a) {
        if (src->n[a] == 1) continue;
        copy.n[copy.axes] = src->n[a];
        copy.src_stride[copy.axes] = src->stride[a];
        copy.dst_stride[copy.axes++] = dst->stride[a];
    }
    if (copy.elements == 0) {
        copy.axes = 0;
        return copy;
    }
    for (int a = 0; a < copy.axes; ++a) turn_axis(&copy, a);
    sort_axes(&copy);
    merge_axes(&copy);
    return copy;
}

weft_copy weft_copy_of_run(int64_t elements, size_t element_bytes) {
    const weft_view all = {.axes = 1, .n = {elements}, .stride = {1}};
    return weft_copy_between(&all, &all, element_bytes);
}
