/*
 * The transform is that of real pictures, and the responses are an array operator of its spectrum,
 * so a host or a device with kernels does the same. Beyond its edges a picture is extended to twice
 * its extents: by zeros, which the plan adds and crops, or by its mirror image, whose period that
 * is.
 */
#include "picture_filter.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct picture_filter {
    picture_filter_problem problem;
    int64_t n[2]; /* extents of the transform */
    weft_plan plan;
    bool on_device;
    int threads;
    size_t in_bytes, out_bytes, spectrum_bytes;
    void *factors; /* on the host */
    void *frequencies;
    void *mirrored; /* FILTER_MIRROR: the picture as it is extended */
    unsigned char *half;
    void *device_factors, *device_in, *device_out, *device_half;
};

const char *filter_boundary_name(filter_boundary boundary) {
    static const char *const names[] = {"periodic", "mirror", "zero"};
    return (unsigned)boundary < 3 ? names[boundary] : "?";
}

static size_t storage_bytes(weft_storage storage) {
    return storage == WEFT_STORAGE_U8 ? 1 : storage == WEFT_STORAGE_U16 ? 2 : sizeof(float);
}

/* ---- the plan ---- */

static weft_status make_plan(picture_filter *p, weft_context ctx, const weft_options *given) {
    const picture_filter_problem *wanted = &p->problem;
    const weft_operator responses = {.kind = WEFT_OPERATOR_ARRAY};
    const weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = wanted->scale};
    weft_problem problem = {.rank = 2,
                            .n = {p->n[0], p->n[1]},
                            .kind = WEFT_R2C,
                            .precision = wanted->precision,
                            .batch = wanted->channels,
                            .norm = WEFT_NORM_BACKWARD,
                            .spectral = {&responses, 1},
                            .load_storage = wanted->from,
                            .store_storage = wanted->to};
    const weft_options options = {.engine = given->engine,
                                  .device = given->device,
                                  .threads = given->threads,
                                  .effort = given->effort,
                                  .device_memory_limit = given->device_memory_limit,
                                  .location =
                                      p->on_device ? WEFT_LOCATION_DEVICE : WEFT_LOCATION_HOST,
                                  .placement = WEFT_OUT_OF_PLACE,
                                  .convolve = 1,
                                  .keep_spectrum = wanted->spectrum};
    if (wanted->scale != 0 && wanted->scale != 1) problem.store = (weft_operators){&scale, 1};
    const int64_t extents[2] = {wanted->rows, wanted->columns};
    for (int a = 0; a < 2 && wanted->boundary == FILTER_ZERO; a++) problem.pad_from[a] = extents[a];
    for (int a = 0; a < 2 && wanted->boundary == FILTER_MIRROR; a++)
        problem.crop_to[a] = extents[a];
    if (wanted->spectrum) {
        const double most = 20 * log10(wanted->white * (double)p->n[0] * (double)p->n[1]);
        problem.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
        problem.decibels[0] = most + FILTER_BLACK_DECIBELS;
        problem.decibels[1] = most + FILTER_WHITE_DECIBELS;
    }
    return weft_plan_create(ctx, &problem, &options, &p->plan);
}

/* ---- buffers ---- */

static weft_status allocate(size_t bytes, void **buffer) {
    *buffer = calloc(1, bytes);
    if (*buffer != NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes of a picture's filter",
                     bytes);
}

static size_t factor_bytes(const picture_filter *p) {
    return (size_t)p->n[0] * (size_t)(p->n[1] / 2 + 1) *
           (p->problem.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double));
}

static weft_status make_device_buffers(picture_filter *p) {
    WEFT_TRY(weft_buffer_create(p->plan, factor_bytes(p), &p->device_factors));
    WEFT_TRY(weft_buffer_create(p->plan, p->in_bytes, &p->device_in));
    WEFT_TRY(weft_buffer_create(p->plan, p->out_bytes, &p->device_out));
    if (!p->problem.spectrum) return WEFT_SUCCESS;
    return weft_buffer_create(p->plan, p->spectrum_bytes, &p->device_half);
}

static weft_status make_buffers(picture_filter *p) {
    const picture_filter_problem *problem = &p->problem;
    const size_t pixels = (size_t)(problem->rows * problem->columns * problem->channels);
    const bool mirrors = problem->boundary == FILTER_MIRROR;
    void *half = NULL;
    p->in_bytes = pixels * (mirrors ? 4 : 1) * storage_bytes(problem->from);
    p->out_bytes = pixels * storage_bytes(problem->to);
    WEFT_TRY(weft_plan_bytes(p->plan, WEFT_OUTPUT, &p->spectrum_bytes));
    WEFT_TRY(allocate(factor_bytes(p), &p->factors));
    WEFT_TRY(allocate((size_t)(p->n[1] / 2 + 1) * sizeof(double), &p->frequencies));
    if (mirrors) WEFT_TRY(allocate(p->in_bytes, &p->mirrored));
    if (problem->spectrum) WEFT_TRY(allocate(p->spectrum_bytes, &half));
    p->half = half;
    if (p->on_device) WEFT_TRY(make_device_buffers(p));
    return weft_plan_set_array(p->plan, 0, p->on_device ? p->device_factors : p->factors);
}

/* Before anything is taken: planes on both sides, two workspaces, the responses, the spectrum. */
static weft_status check_memory(const picture_filter *p) {
    const picture_filter_problem *problem = &p->problem;
    const double number = problem->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    const double points = (double)p->n[0] * (double)p->n[1];
    const double sample = 2.0 * (double)storage_bytes(problem->from) + 2 * number + 2;
    const double needed = points * (sample * problem->channels + number / 2);
    if (problem->memory == 0 || needed <= problem->memory) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "the filter of a picture of %lld x %lld, %s beyond its edges, needs %.0f MiB, "
                     "and %.0f MiB of memory are free",
                     (long long)problem->columns, (long long)problem->rows,
                     filter_boundary_name(problem->boundary), needed / 1048576,
                     problem->memory / 1048576);
}

weft_status picture_filter_create(weft_context ctx, const picture_filter_problem *problem,
                                  const weft_options *options, picture_filter **created) {
    picture_filter *p = calloc(1, sizeof *p);
    if (p == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a filter");
    const int times = problem->boundary == FILTER_PERIODIC ? 1 : 2;
    p->problem = *problem;
    p->n[0] = problem->rows * times;
    p->n[1] = problem->columns * times;
    p->threads = options->threads;
    p->on_device = options->device != WEFT_HOST;
    weft_status status = check_memory(p);
    if (status == WEFT_SUCCESS) status = make_plan(p, ctx, options);
    if (status == WEFT_SUCCESS) status = make_buffers(p);
    if (status != WEFT_SUCCESS) {
        picture_filter_destroy(&p);
        return status;
    }
    *created = p;
    return WEFT_SUCCESS;
}

void picture_filter_destroy(picture_filter **destroyed) {
    picture_filter *p = *destroyed;
    if (p == NULL) return;
    if (p->plan != NULL) {
        weft_buffer_destroy(p->plan, &p->device_factors);
        weft_buffer_destroy(p->plan, &p->device_in);
        weft_buffer_destroy(p->plan, &p->device_out);
        weft_buffer_destroy(p->plan, &p->device_half);
    }
    weft_plan_destroy(&p->plan);
    free(p->factors);
    free(p->frequencies);
    free(p->mirrored);
    free(p->half);
    free(p);
    *destroyed = NULL;
}

/* ---- filtering ---- */

weft_status picture_filter_set(picture_filter *p, const filter *f) {
    filter_factors(f, p->n[0], p->n[1], p->problem.precision, p->threads, p->frequencies,
                   p->factors);
    if (!p->on_device) return WEFT_SUCCESS;
    return weft_buffer_upload(p->plan, p->device_factors, p->factors, factor_bytes(p));
}

static void mirror_row(const char *from, int64_t columns, size_t bytes, char *to) {
    memcpy(to, from, (size_t)columns * bytes);
    for (int64_t i = 0; i < columns; i++)
        memcpy(to + (size_t)(2 * columns - 1 - i) * bytes, from + (size_t)i * bytes, bytes);
}

static void mirror(const picture_filter *p, const void *in) {
    const int64_t rows = p->problem.rows, columns = p->problem.columns;
    const size_t bytes = storage_bytes(p->problem.from), row = (size_t)columns * bytes;
    for (int64_t c = 0; c < p->problem.channels; c++) {
        char *plane = (char *)p->mirrored + (size_t)(c * 4 * rows) * row;
        for (int64_t i = 0; i < rows; i++) {
            char *near = plane + (size_t)i * 2 * row,
                 *far = plane + (size_t)(2 * rows - 1 - i) * 2 * row;
            mirror_row((const char *)in + (size_t)(c * rows + i) * row, columns, bytes, near);
            memcpy(far, near, 2 * row);
        }
    }
}

/* A row of the whole spectrum from its half and the half of the opposite row, frequency 0 at
 * columns / 2. */
static void unfold_row(const unsigned char *here, const unsigned char *opposite, int64_t columns,
                       unsigned char *to) {
    const int64_t middle = columns / 2;
    for (int64_t i = 0; i < middle; i++) to[i] = opposite[middle - i];
    if (columns % 2 == 0) to[0] = here[middle];
    memcpy(to + middle, here, (size_t)(columns - middle));
}

/* The whole spectrum of a real picture from its half, frequency 0 in the middle. */
static void unfold(const picture_filter *p, unsigned char *spectrum) {
    const int64_t rows = p->n[0], columns = p->n[1], half = columns / 2 + 1;
    const int64_t all = rows * p->problem.channels;
#pragma omp parallel for num_threads(p->threads) if (p->threads > 1)
    for (int64_t r = 0; r < all; r++) {
        const int64_t row = r % rows, plane = r - row;
        unfold_row(p->half + r * half, p->half + (plane + (rows - row) % rows) * half, columns,
                   spectrum + (plane + (row + rows / 2) % rows) * columns);
    }
}

static weft_status run_on_device(picture_filter *p, const void *in, void *out) {
    WEFT_TRY(weft_buffer_upload(p->plan, p->device_in, in, p->in_bytes));
    WEFT_TRY(weft_convolve(p->plan, p->device_in, p->device_half, p->device_out));
    WEFT_TRY(weft_buffer_download(p->plan, out, p->device_out, p->out_bytes));
    if (!p->problem.spectrum) return WEFT_SUCCESS;
    return weft_buffer_download(p->plan, p->half, p->device_half, p->spectrum_bytes);
}

weft_status picture_filter_run(picture_filter *p, const void *in, void *out,
                               unsigned char *spectrum) {
    const void *extended = in;
    if (p->problem.boundary == FILTER_MIRROR) {
        mirror(p, in);
        extended = p->mirrored;
    }
    WEFT_TRY(p->on_device ? run_on_device(p, extended, out)
                          : weft_convolve(p->plan, extended, p->half, out));
    if (spectrum != NULL) unfold(p, spectrum);
    return WEFT_SUCCESS;
}

int64_t picture_filter_spectrum_rows(const picture_filter *p) {
    return p->n[0];
}

int64_t picture_filter_spectrum_columns(const picture_filter *p) {
    return p->n[1];
}

weft_plan picture_filter_plan(const picture_filter *p) {
    return p->plan;
}
