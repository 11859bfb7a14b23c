/* Points in a periodic box, sorted into cells, so that those near a place are found without looking
 * at all of them. */
#ifndef WEFT_MICROSTRUCTURE_CELL_GRID_H
#define WEFT_MICROSTRUCTURE_CELL_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <weft/weft.h>

typedef struct cell_grid {
    bool spans[3]; /* the other axes are ignored: all coordinates there are 0 */
    double n[3];   /* extents of the box */
    int64_t cells[3];
    double edge[3]; /* of a cell */
    int count, capacity;
    double (*at)[3]; /* of each point: 0 <= at[a] < n[a] */
    int *next;       /* the point after this one in its cell, or -1 */
    int *first;      /* of each cell, or -1 */
} cell_grid;

/* A grid without points, for `capacity` of them. Cells are no smaller than `least` and there are
 * not many more than points. The caller destroys it. */
weft_status cell_grid_create(const int64_t n[3], const bool spans[3], int capacity, double least,
                             cell_grid **grid);
void cell_grid_destroy(cell_grid **grid);

/* Adds a point; its number is the count before. */
void cell_grid_add(cell_grid *grid, const double at[3]);

/* A point as it is seen from a place: of all its periodic images one that is near. */
typedef struct cell_image {
    int point;
    double at[3]; /* beyond the box where it is an image */
} cell_image;

/* Images that were found, in `own` as long as they are few. */
typedef struct cell_images {
    int count, capacity;
    cell_image *image;
    cell_image own[64];
} cell_images;

void cell_images_begin(cell_images *images);
void cell_images_end(cell_images *images);

/* Replaces the images by all that are within `reach` of a place, with some that are a little
 * farther. False where memory is out. Thread-safe as long as no point is added. */
bool cell_grid_gather(const cell_grid *grid, const double place[3], double reach,
                      cell_images *images);

/* The square of a distance. */
static inline double cell_distance2(const double a[3], const double b[3]) {
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

#endif
