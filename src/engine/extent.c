/* The extent of arrays, axis by axis. */
#include "engine/extent.h"

static void add(weft_extent *e, int64_t n, int64_t stride) {
    e->count *= n;
    *(stride < 0 ? &e->lowest : &e->highest) += (n - 1) * stride;
}

weft_extent weft_extent_of(const weft_transform *t, bool output) {
    const bool half =
        output ? t->kind == WEFT_TRANSFORM_R2C && !t->round_trip : t->kind == WEFT_TRANSFORM_C2R;
    weft_extent e = {1, 0, 0};
    for (int d = 0; d < t->dims; d++) {
        const weft_dimension *dim = &t->dim[d];
        const int64_t n = half && d == t->dims - 1 ? dim->n / 2 + 1 : dim->n;
        add(&e, n, output ? dim->out_stride : dim->in_stride);
    }
    for (int i = 0; i < t->loops; i++)
        add(&e, t->loop[i].n, output ? t->loop[i].out_stride : t->loop[i].in_stride);
    return e;
}
