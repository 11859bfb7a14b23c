/* A plane's spectrum is transformed once; filters that change later multiply its magnitudes. */
#include "volume_spectrum.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>

static weft_status transform(const weft_problem *problem, double *plane, double *spectrum) {
    weft_context context = NULL;
    weft_plan plan = NULL;
    weft_status status = weft_context_create(NULL, &context);
    if (status == WEFT_SUCCESS) status = weft_plan_create(context, problem, NULL, &plan);
    if (status == WEFT_SUCCESS) status = weft_execute(plan, WEFT_FORWARD, plane, spectrum);
    weft_plan_destroy(&plan);
    weft_context_destroy(&context);
    return status;
}

/* A frequency of the whole spectrum, in that of a real plane, which has half of them: the other
 * half are their mirror images. */
static double magnitude(const double *spectrum, int64_t rows, int64_t columns, int64_t y,
                        int64_t x) {
    const int64_t half = columns / 2 + 1;
    const bool mirrored = x >= half;
    const int64_t row = mirrored ? (rows - y) % rows : y, column = mirrored ? columns - x : x;
    const double *z = spectrum + 2 * (row * half + column);
    return hypot(z[0], z[1]);
}

weft_status live_magnitudes(int64_t rows, int64_t columns, double *plane, double scale,
                            float *magnitudes) {
    const weft_problem problem = {.rank = 2, .n = {rows, columns}, .kind = WEFT_R2C};
    double *spectrum = malloc((size_t)(2 * rows * (columns / 2 + 1)) * sizeof *spectrum);
    if (spectrum == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a spectrum");
    const weft_status status = transform(&problem, plane, spectrum);
    for (int64_t y = 0; status == WEFT_SUCCESS && y < rows; y++)
        for (int64_t x = 0; x < columns; x++)
            magnitudes[y * columns + x] =
                (float)(scale * magnitude(spectrum, rows, columns, (y + rows - rows / 2) % rows,
                                          (x + columns - columns / 2) % columns));
    free(spectrum);
    return status;
}

void live_decibels(const filter *f, const int axes[2], int64_t rows, int64_t columns,
                   const float *magnitudes, float *decibels) {
    double frequency[WEFT_MAX_RANK] = {0};
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            const int64_t at = y * columns + x;
            frequency[axes[0]] = (double)(y - rows / 2) / (double)rows;
            frequency[axes[1]] = (double)(x - columns / 2) / (double)columns;
            decibels[at] =
                (float)(20 * log10(fabs(filter_response(f, frequency)) * (double)magnitudes[at]));
        }
}
