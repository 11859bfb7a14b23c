/* Grey pictures, written as the filters' pictures are. */
#include "picture.h"

#include "filter/image.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 8, MOST_PIXELS = 1 << 20 };

weft_status picture_create(grey_picture *p, int64_t rows, int64_t columns) {
    if (rows > MOST_PIXELS || columns > MOST_PIXELS || rows * columns > INT32_MAX)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "a picture of %lld x %lld is too large",
                         (long long)rows, (long long)columns);
    p->value = calloc((size_t)(rows * columns), sizeof *p->value);
    if (p->value == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a picture");
    p->rows = rows;
    p->columns = columns;
    return WEFT_SUCCESS;
}

void picture_destroy(grey_picture *p) {
    free(p->value);
    p->value = NULL;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

weft_status picture_take_log(grey_picture *p) {
    int64_t count = p->rows * p->columns, positive = 0;
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (sorted == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a picture");
    for (int64_t i = 0; i < count; i++)
        if (p->value[i] > 0.0 && isfinite(p->value[i])) sorted[positive++] = log10(p->value[i]);
    qsort(sorted, (size_t)positive, sizeof *sorted, ascending);
    double floor = positive > 0 ? sorted[positive / 100] : 0.0;
    for (int64_t i = 0; i < count; i++) {
        double value = p->value[i] > 0.0 ? log10(p->value[i]) : floor;
        p->value[i] = value > floor ? value : floor;
    }
    free(sorted);
    return WEFT_SUCCESS;
}

weft_status picture_shift(grey_picture *p, int rows, int columns) {
    grey_picture moved;
    WEFT_TRY(picture_create(&moved, p->rows, p->columns));
    int64_t down = rows ? p->rows / 2 : 0, right = columns ? p->columns / 2 : 0;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++)
            moved.value[(i + down) % p->rows * p->columns + (j + right) % p->columns] =
                p->value[i * p->columns + j];
    free(p->value);
    *p = moved;
    return WEFT_SUCCESS;
}

/* Paints one picture into the canvas at column `left`. */
static void paint(const grey_picture *p, unsigned char *canvas, int64_t width, int64_t left) {
    double least = INFINITY, greatest = -INFINITY;
    for (int64_t i = 0; i < p->rows * p->columns; i++) {
        if (!isfinite(p->value[i])) continue;
        least = fmin(least, p->value[i]);
        greatest = fmax(greatest, p->value[i]);
    }
    double scale = greatest > least ? 255.0 / (greatest - least) : 0.0;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++) {
            double value = p->value[i * p->columns + j];
            double grey = isfinite(value) ? (value - least) * scale : 0.0;
            canvas[i * width + left + j] = (unsigned char)lrint(grey);
        }
}

weft_status picture_write(const char *path, const grey_picture *pictures, int count) {
    image canvas = {.columns = GAP * (count - 1), .channels = 1, .bytes = 1};
    int64_t left = 0;
    for (int p = 0; p < count; p++) {
        canvas.columns += pictures[p].columns;
        if (pictures[p].rows > canvas.rows) canvas.rows = pictures[p].rows;
    }
    WEFT_TRY(image_create(&canvas, false));
    memset(canvas.samples, 255, image_plane_bytes(&canvas));
    for (int p = 0; p < count; p++) {
        paint(&pictures[p], canvas.samples, canvas.columns, left);
        left += pictures[p].columns + GAP;
    }
    const weft_status status = image_write(path, &canvas, NULL);
    image_destroy(&canvas);
    return status;
}

weft_status picture_check(const char *path) {
    const image grey = {.channels = 1, .bytes = 1};
    return image_check_output(path, &grey);
}
