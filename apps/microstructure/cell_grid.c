/* Cells are lists of points. A place's neighbourhood may be larger than the box: the same point is
 * then found as several images. */
#include "microstructure/cell_grid.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>

/* The edge of cells that have about one point each; only speed depends on it. */
static double edge_of_one(const int64_t n[3], const bool spans[3], int count) {
    double volume = 1;
    int axes = 0;
    for (int a = 0; a < 3; a++) {
        if (!spans[a]) continue;
        volume *= (double)n[a];
        axes++;
    }
    return axes > 0 ? pow(volume / (count > 0 ? count : 1), 1.0 / axes) : 1;
}

weft_status cell_grid_create(const int64_t n[3], const bool spans[3], int capacity, double least,
                             cell_grid **grid) {
    cell_grid *made = calloc(1, sizeof *made);
    if (made == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for points");
    const double edge = fmax(least, edge_of_one(n, spans, capacity));
    int64_t cells = 1;
    for (int a = 0; a < 3; a++) {
        made->spans[a] = spans[a];
        made->n[a] = (double)n[a];
        made->cells[a] = spans[a] ? (int64_t)fmax(1, floor((double)n[a] / edge)) : 1;
        made->edge[a] = made->n[a] / (double)made->cells[a];
        cells *= made->cells[a];
    }
    made->capacity = capacity;
    const size_t room = capacity > 0 ? (size_t)capacity : 1;
    made->at = malloc(room * sizeof *made->at);
    made->next = malloc(room * sizeof *made->next);
    made->first = malloc((size_t)cells * sizeof *made->first);
    if (made->at == NULL || made->next == NULL || made->first == NULL) {
        cell_grid_destroy(&made);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d points; ask for fewer",
                         capacity);
    }
    for (int64_t c = 0; c < cells; c++) made->first[c] = -1;
    *grid = made;
    return WEFT_SUCCESS;
}

void cell_grid_destroy(cell_grid **grid) {
    if (*grid == NULL) return;
    free((*grid)->at);
    free((*grid)->next);
    free((*grid)->first);
    free(*grid);
    *grid = NULL;
}

void cell_grid_add(cell_grid *grid, const double at[3]) {
    int64_t cell = 0;
    for (int a = 0; a < 3; a++) {
        int64_t i = grid->spans[a] ? (int64_t)(at[a] / grid->edge[a]) : 0;
        if (i >= grid->cells[a]) i = grid->cells[a] - 1;
        cell = cell * grid->cells[a] + i;
        grid->at[grid->count][a] = at[a];
    }
    grid->next[grid->count] = grid->first[cell];
    grid->first[cell] = grid->count++;
}

void cell_images_begin(cell_images *images) {
    images->count = 0;
    images->capacity = sizeof images->own / sizeof *images->own;
    images->image = images->own;
}

void cell_images_end(cell_images *images) {
    if (images->image != images->own) free(images->image);
    cell_images_begin(images);
}

static cell_image *append(cell_images *images) {
    if (images->count == images->capacity) {
        const size_t room = 2 * (size_t)images->capacity;
        const bool own = images->image == images->own;
        cell_image *more = realloc(own ? NULL : images->image, room * sizeof *more);
        if (more == NULL) return NULL;
        for (int i = 0; own && i < images->count; i++) more[i] = images->own[i];
        images->image = more;
        images->capacity = (int)room;
    }
    return &images->image[images->count++];
}

/* The points of cell `index`, which counts on beyond the box: images of those of the cell that it
 * is there. */
static bool gather_cell(const cell_grid *grid, const int64_t index[3], const double place[3],
                        double reach2, cell_images *images) {
    int64_t cell = 0;
    double shift[3];
    for (int a = 0; a < 3; a++) {
        const int64_t cells = grid->cells[a];
        const int64_t i = (index[a] % cells + cells) % cells;
        shift[a] = (double)((index[a] - i) / cells) * grid->n[a];
        cell = cell * cells + i;
    }
    for (int p = grid->first[cell]; p >= 0; p = grid->next[p]) {
        cell_image image = {.point = p};
        for (int a = 0; a < 3; a++) image.at[a] = grid->at[p][a] + shift[a];
        if (cell_distance2(image.at, place) > reach2) continue;
        cell_image *room = append(images);
        if (room == NULL) return false;
        *room = image;
    }
    return true;
}

bool cell_grid_gather(const cell_grid *grid, const double place[3], double reach,
                      cell_images *images) {
    const double slack = reach * (1 + 1e-9) + 1e-9; /* more than anything that is rounded */
    int64_t lo[3], hi[3], i[3];
    images->count = 0;
    for (int a = 0; a < 3; a++) {
        lo[a] = grid->spans[a] ? (int64_t)floor((place[a] - slack) / grid->edge[a]) : 0;
        hi[a] = grid->spans[a] ? (int64_t)floor((place[a] + slack) / grid->edge[a]) : 0;
    }
    for (i[0] = lo[0]; i[0] <= hi[0]; i[0]++)
        for (i[1] = lo[1]; i[1] <= hi[1]; i[1]++)
            for (i[2] = lo[2]; i[2] <= hi[2]; i[2]++)
                if (!gather_cell(grid, i, place, slack * slack, images)) return false;
    return true;
}
