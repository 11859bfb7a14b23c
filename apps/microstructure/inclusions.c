/*
 * Spheres, and fibres: straight cylinders without end along an axis or, with a length, capsules
 * (cylinders with hemispherical ends) along an axis or each in a random direction. The matrix has
 * label 0, inclusions 1, or 1, 2, ... each its own.
 */
#include "microstructure/kind.h"
#include "microstructure/packing.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct inclusions {
    packing packing;
    bool distinct;
    double reach; /* from the middle of an inclusion to its farthest point */
} inclusions;

static void release(void *state) {
    inclusions *all = state;
    packing_release(&all->packing);
    free(all);
}

/* The radius with which `count` inclusions have a volume: it grows with the radius, so bisection
 * finds it, with operations that give the same bits everywhere. With a length the radius is at most
 * half of it. */
static double radius_of_volume(packing p, double length, double volume) {
    double low = 0, high = length > 0 ? length / 2 : 1;
    while (length <= 0 && packing_volume(&p, high) < volume) high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = low + (high - low) / 2;
        if (length > 0) p.half = length / 2 - middle;
        if (packing_volume(&p, middle) < volume)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static weft_status set_length(packing *p, double length, double radius) {
    if (length <= 0) return WEFT_SUCCESS;
    p->half = length / 2 - radius;
    if (p->half >= 0) return WEFT_SUCCESS;
    return WRONG("--length %g: fibres of radius %g are at least %g long, with their hemispherical "
                 "ends; give more, or a smaller radius",
                 length, radius, 2 * radius);
}

/* Radius, count and volume fraction: two of them give the third. */
static weft_status choose_sizes(packing *p, const microstructure_request *r) {
    const unsigned three =
        MICROSTRUCTURE_HAS_RADIUS | MICROSTRUCTURE_HAS_COUNT | MICROSTRUCTURE_HAS_FRACTIONS;
    const unsigned given = r->given & three;
    const double box = packing_box_volume(p);
    if (given == three || (given & (given - 1)) == 0)
        return WRONG("%s need two of --radius, --count and --fractions, the volume fraction; the "
                     "third follows",
                     p->what);
    if (r->fractions > 1)
        return WRONG("--fractions: %s have one, that of all of them; give one number", p->what);
    p->radius = r->radius;
    double count = (double)r->count;
    if (!(given & MICROSTRUCTURE_HAS_RADIUS))
        p->radius = radius_of_volume(*p, r->length, r->fraction[0] * box / count);
    WEFT_TRY(set_length(p, r->length, p->radius));
    if (!(given & MICROSTRUCTURE_HAS_COUNT))
        count = (double)(int64_t)(r->fraction[0] * box / packing_volume(p, p->radius) + 0.5);
    if (count < 1)
        return WRONG("--fractions %g: one of the %s is more; ask for smaller ones, or a larger "
                     "volume",
                     r->fraction[0], p->what);
    if (count > (1 << 30)) return WRONG("%.0f %s are more than there can be", count, p->what);
    p->count = (int)count;
    return WEFT_SUCCESS;
}

static weft_status choose_labels(microstructure *made, inclusions *all) {
    const int count = all->packing.count;
    all->distinct = (made->request.given & MICROSTRUCTURE_HAS_DISTINCT) != 0;
    made->labels = 2;
    if (!all->distinct) return WEFT_SUCCESS;
    if (count >= MICROSTRUCTURE_LABELS)
        return WRONG("--distinct: %d %s and the matrix need more than the %d labels that there are",
                     count, all->packing.what, MICROSTRUCTURE_LABELS);
    made->labels = count + 1;
    return WEFT_SUCCESS;
}

/* Sizes, labels, and places of what `all->packing` describes so far. */
static weft_status make(microstructure *made, inclusions *all) {
    packing *p = &all->packing;
    made->state = all;
    if (!p->spans[0] && !p->spans[1] && !p->spans[2])
        return WRONG("%s need an axis of more than one voxel", p->what);
    p->gap = made->request.gap;
    WEFT_TRY(choose_sizes(p, &made->request));
    WEFT_TRY(choose_labels(made, all));
    all->reach = p->half + p->radius;
    WEFT_TRY(packing_make(p, made->request.seed));
    int length = snprintf(made->note, sizeof made->note, "%d %s of radius %.6g", p->count, p->what,
                          p->radius);
    if (p->half > 0)
        snprintf(made->note + length, sizeof made->note - (size_t)length, " and length %.6g",
                 2 * all->reach);
    return WEFT_SUCCESS;
}

static inclusions *begin(const microstructure *made, const char *what) {
    inclusions *all = calloc(1, sizeof *all);
    if (all == NULL) {
        weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", what);
        return NULL;
    }
    all->packing.what = what;
    for (int a = 0; a < 3; a++) {
        all->packing.n[a] = made->request.n[a];
        all->packing.spans[a] = made->request.n[a] > 1;
    }
    return all;
}

static weft_status make_spheres(microstructure *made) {
    inclusions *all = begin(made, "spheres");
    return all != NULL ? make(made, all) : WEFT_ERROR_OUT_OF_MEMORY;
}

static weft_status make_fibres(microstructure *made) {
    const microstructure_request *r = &made->request;
    inclusions *all = begin(made, "fibres");
    if (all == NULL) return WEFT_ERROR_OUT_OF_MEMORY;
    packing *p = &all->packing;
    made->state = all;
    p->turns = r->axis == MICROSTRUCTURE_RANDOM;
    if (p->turns && r->length <= 0)
        return WRONG("--axis random: fibres without end in random directions do not go on across "
                     "the faces; give their --length");
    if (!p->turns && r->length <= 0) p->spans[r->axis] = false;
    if (!p->turns && r->length > 0 && !p->spans[r->axis])
        return WRONG("--axis %d: the volume has one voxel there; choose another axis", r->axis);
    if (!p->turns) p->along[r->axis] = 1;
    return make(made, all);
}

/* The label of one voxel: of the first inclusion, by its number, that has its centre. */
static uint16_t label_at(const inclusions *all, const cell_images *near, const double centre[3]) {
    const double radius2 = all->packing.radius * all->packing.radius;
    int first = -1;
    for (int i = 0; i < near->count; i++) {
        const cell_image *image = &near->image[i];
        const double *arm = all->packing.arm != NULL ? all->packing.arm[image->point] : NULL;
        if (packing_distance2(centre, image->at, arm) > radius2) continue;
        if (!all->distinct) return 1;
        if (first < 0 || image->point < first) first = image->point;
    }
    return (uint16_t)(first + 1);
}

static bool fill(const microstructure *made, const microstructure_box *block, uint16_t *labels) {
    const inclusions *all = made->state;
    const bool *spans = all->packing.spans;
    double middle[3], centre[3], diagonal2 = 0;
    for (int a = 0; a < 3; a++) {
        middle[a] = spans[a] ? (double)block->lo[a] + 0.5 * (double)block->n[a] : 0;
        if (spans[a]) diagonal2 += (double)(block->n[a] * block->n[a]);
    }
    cell_images near;
    cell_images_begin(&near);
    const bool done =
        cell_grid_gather(all->packing.grid, middle, all->reach + 0.5 * sqrt(diagonal2), &near);
    for (int64_t i = 0; done && i < block->n[0]; i++) {
        for (int64_t j = 0; j < block->n[1]; j++) {
            for (int64_t k = 0; k < block->n[2]; k++) {
                const int64_t index[3] = {i, j, k};
                for (int a = 0; a < 3; a++)
                    centre[a] = spans[a] ? (double)(block->lo[a] + index[a]) + 0.5 : 0;
                *labels++ = near.count > 0 ? label_at(all, &near, centre) : 0;
            }
        }
    }
    cell_images_end(&near);
    return done;
}

#define SIZES                                                                                      \
    MICROSTRUCTURE_HAS_FRACTIONS | MICROSTRUCTURE_HAS_COUNT | MICROSTRUCTURE_HAS_RADIUS |          \
        MICROSTRUCTURE_HAS_GAP | MICROSTRUCTURE_HAS_DISTINCT | MICROSTRUCTURE_HAS_SEED

const microstructure_maker microstructure_spheres = {
    .kind = {"spheres", SIZES},
    .make = make_spheres,
    .fill = fill,
    .release = release,
};

const microstructure_maker microstructure_fibres = {
    .kind = {"fibres", SIZES | MICROSTRUCTURE_HAS_AXIS | MICROSTRUCTURE_HAS_LENGTH},
    .make = make_fibres,
    .fill = fill,
    .release = release,
};
