/* Voronoi's polycrystals: each voxel belongs to the grain whose seed is nearest, across the faces
 * too. Seeds are uniformly random, with a gap between any two if one is asked for. */
#include "microstructure/kind.h"
#include "microstructure/packing.h"
#include "microstructure/random.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void release(void *state) {
    packing_release(state);
    free(state);
}

static weft_status make(microstructure *made) {
    const microstructure_request *r = &made->request;
    if (!(r->given & MICROSTRUCTURE_HAS_COUNT))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "voronoi: give the --count of grains");
    if (r->count > MICROSTRUCTURE_LABELS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--count %lld: there are %d labels; ask for fewer grains",
                         (long long)r->count, MICROSTRUCTURE_LABELS);
    packing *seeds = calloc(1, sizeof *seeds);
    if (seeds == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for seeds");
    made->state = seeds;
    *seeds = (packing){.what = "seeds", .count = (int)r->count, .gap = r->gap};
    for (int a = 0; a < 3; a++) {
        seeds->n[a] = r->n[a];
        seeds->spans[a] = r->n[a] > 1;
    }
    WEFT_TRY(packing_make(seeds, r->seed));
    made->labels = seeds->count;
    snprintf(made->note, sizeof made->note, "%d grains", seeds->count);
    return WEFT_SUCCESS;
}

/* The distance of the nearest seed, or a little more. */
static bool find_nearest(const cell_grid *grid, const double place[3], cell_images *near,
                         double *distance) {
    double reach = fmax(grid->edge[0], fmax(grid->edge[1], grid->edge[2])), least = INFINITY;
    do {
        if (!cell_grid_gather(grid, place, reach, near)) return false;
        reach *= 2;
    } while (near->count == 0);
    for (int i = 0; i < near->count; i++)
        least = fmin(least, cell_distance2(near->image[i].at, place));
    *distance = sqrt(least);
    return true;
}

/* The nearest seed of each voxel of a row; of two at the same distance the one of the lower number.
 * x and y are given by the square of their distance from each image. */
static void fill_row(const cell_images *near, const double *across2, const double *z, int64_t count,
                     uint16_t *labels) {
    double least[MICROSTRUCTURE_BLOCK];
    int32_t label[MICROSTRUCTURE_BLOCK];
    for (int64_t k = 0; k < count; k++) {
        least[k] = INFINITY;
        label[k] = 0;
    }
    for (int i = 0; i < near->count; i++) {
        const double at = near->image[i].at[2], square = across2[i];
        const int32_t point = near->image[i].point;
        for (int64_t k = 0; k < count; k++) {
            const double distance2 = square + (z[k] - at) * (z[k] - at);
            const bool nearer = distance2 < least[k] || (distance2 == least[k] && point < label[k]);
            least[k] = nearer ? distance2 : least[k];
            label[k] = nearer ? point : label[k];
        }
    }
    for (int64_t k = 0; k < count; k++) labels[k] = (uint16_t)label[k];
}

/* Any seed that is nearest to a voxel of the block is, from the middle, at most two half diagonals
 * farther than the seed that is nearest to the middle. */
static bool gather(const packing *seeds, const microstructure_box *block, cell_images *near) {
    double middle[3], diagonal2 = 0, nearest;
    for (int a = 0; a < 3; a++) {
        middle[a] = seeds->spans[a] ? (double)block->lo[a] + 0.5 * (double)block->n[a] : 0;
        if (seeds->spans[a]) diagonal2 += (double)(block->n[a] * block->n[a]);
    }
    return find_nearest(seeds->grid, middle, near, &nearest) &&
           cell_grid_gather(seeds->grid, middle, nearest + sqrt(diagonal2), near);
}

static bool fill_rows(const packing *seeds, const microstructure_box *block,
                      const cell_images *near, double *across2, uint16_t *labels) {
    const bool *spans = seeds->spans;
    double z[MICROSTRUCTURE_BLOCK];
    for (int64_t k = 0; k < block->n[2]; k++)
        z[k] = spans[2] ? (double)(block->lo[2] + k) + 0.5 : 0;
    for (int64_t i = 0; i < block->n[0]; i++) {
        const double x = spans[0] ? (double)(block->lo[0] + i) + 0.5 : 0;
        for (int64_t j = 0; j < block->n[1]; j++) {
            const double y = spans[1] ? (double)(block->lo[1] + j) + 0.5 : 0;
            for (int s = 0; s < near->count; s++) {
                const double dx = x - near->image[s].at[0], dy = y - near->image[s].at[1];
                across2[s] = dx * dx + dy * dy;
            }
            fill_row(near, across2, z, block->n[2], labels);
            labels += block->n[2];
        }
    }
    return true;
}

static bool fill(const microstructure *made, const microstructure_box *block, uint16_t *labels) {
    cell_images near;
    cell_images_begin(&near);
    double few[64], *across2 = few;
    bool done = gather(made->state, block, &near);
    if (done && near.count > 64) across2 = malloc((size_t)near.count * sizeof *across2);
    done = done && across2 != NULL && fill_rows(made->state, block, &near, across2, labels);
    if (across2 != few) free(across2);
    cell_images_end(&near);
    return done;
}

const microstructure_maker microstructure_voronoi = {
    .kind = {"voronoi",
             MICROSTRUCTURE_HAS_COUNT | MICROSTRUCTURE_HAS_GAP | MICROSTRUCTURE_HAS_SEED},
    .make = make,
    .fill = fill,
    .release = release,
};
