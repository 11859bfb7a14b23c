/* What is told of each phase, in kernels: each thread adds to its own part of a table. */
#include "device_state.h"

#include "histograms.h"
#include "support/error.h"

#include <stdlib.h>

enum { LEAST_BYTES = 1 << 20, SHARE_OF_FIELD = 16 };

/* Numbers of the largest table. */
static int64_t most_entries(const homogenize_space *space) {
    const int components = 2 * space->medium->components;
    return space->medium->phases *
           (int64_t)(components > HOMOGENIZE_BINS ? components : HOMOGENIZE_BINS);
}

/* With one part there is room for two, since the sums lie before them. */
weft_status homogenize_device_create_table(homogenize_device *d, const homogenize_space *space) {
    const int64_t entries = most_entries(space);
    const int64_t field = space->voxels * space->medium->components;
    int64_t numbers = field / SHARE_OF_FIELD;
    if (numbers < LEAST_BYTES / (int64_t)sizeof(double))
        numbers = LEAST_BYTES / (int64_t)sizeof(double);
    d->table.numbers = numbers < 2 * entries ? 2 * entries : numbers;
    d->shape.phases = space->medium->phases;
    d->table.host = malloc((size_t)entries * sizeof *d->table.host);
    if (!d->table.host) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for sums of phases");
    WEFT_TRY(
        homogenize_device_copy(d, NULL, (size_t)space->medium->phases * sizeof(double), &d->most));
    return homogenize_device_copy(d, NULL, (size_t)d->table.numbers * sizeof(double),
                                  &d->table.memory);
}

static void *parts_of(const homogenize_device *d, const homogenize_sweep *shape) {
    return (double *)d->table.memory + shape->phases * shape->entries;
}

/* As many threads as have room for their parts, and no more than there are voxels; `store` is the
 * pass's. */
static homogenize_sweep table_shape(const homogenize_device *d, int entries, bool store) {
    homogenize_sweep shape = d->shape;
    const int64_t numbers = shape.phases * entries;
    const int64_t most = (int64_t)d->groups * HOMOGENIZE_THREADS;
    shape.entries = entries;
    shape.store = store;
    shape.threads = (d->table.numbers - numbers) / numbers;
    if (shape.threads > most) shape.threads = most;
    if (shape.threads > shape.voxels) shape.threads = shape.voxels;
    return shape;
}

/* Runs a pass that makes a table, and brings what its parts come to into table.host. The kernels
 * read the arguments before the table. */
static weft_status make_table(homogenize_device *d, homogenize_pass pass,
                              weft_kernel_argument *argument, int arguments,
                              const homogenize_sweep *shape, bool largest) {
    const int64_t numbers = shape->phases * shape->entries;
    const unsigned groups =
        (unsigned)((shape->threads + HOMOGENIZE_THREADS - 1) / HOMOGENIZE_THREADS);
    weft_kernel_argument gathered[3] = {homogenize_array(parts_of(d, shape)),
                                        homogenize_array(d->table.memory)};
    homogenize_sweep how = *shape;
    how.store = largest;
    argument[arguments++] = homogenize_array(parts_of(d, shape));
    WEFT_TRY(homogenize_device_launch(d, pass, groups, argument, arguments, shape));
    WEFT_TRY(homogenize_device_launch(d, PASS_GATHER, (unsigned)numbers, gathered, 2, &how));
    return weft_buffer_download(d->plan, d->table.host, d->table.memory,
                                (size_t)numbers * sizeof *d->table.host);
}

void homogenize_device_phase_sums(homogenize_device *d, const void *e, double *sums) {
    const homogenize_sweep shape = table_shape(d, 2 * d->components, false);
    weft_kernel_argument argument[6] = {homogenize_array(e), homogenize_array(d->phases),
                                        homogenize_array(d->law), homogenize_array(d->inverse)};
    if (homogenize_device_is_idle(d)) return;
    d->status = make_table(d, PASS_PHASES, argument, 4, &shape, false);
    for (int64_t i = 0; i < shape.phases * shape.entries && d->status == WEFT_SUCCESS; i++)
        sums[i] += d->table.host[i];
}

/* Of `field`, with bins up to most[phase] where they are counted. */
static weft_status spread(homogenize_device *d, const void *field, const double *most,
                          const homogenize_sweep *shape) {
    weft_kernel_argument argument[5] = {homogenize_array(field), homogenize_array(d->phases),
                                        homogenize_array(d->most)};
    if (most)
        WEFT_TRY(weft_buffer_upload(d->plan, d->most, most, (size_t)shape->phases * sizeof *most));
    return make_table(d, PASS_SPREAD, argument, 3, shape, !most);
}

void homogenize_device_find_most(homogenize_device *d, const void *field, double *most) {
    const homogenize_sweep shape = table_shape(d, 1, false);
    if (homogenize_device_is_idle(d)) return;
    d->status = spread(d, field, NULL, &shape);
    for (int64_t p = 0; p < shape.phases && d->status == WEFT_SUCCESS; p++)
        most[p] = d->table.host[p];
}

void homogenize_device_count(homogenize_device *d, const void *field, const double *most,
                             int64_t *counts) {
    const homogenize_sweep shape = table_shape(d, HOMOGENIZE_BINS, true);
    if (homogenize_device_is_idle(d)) return;
    d->status = spread(d, field, most, &shape);
    for (int64_t i = 0; i < shape.phases * shape.entries && d->status == WEFT_SUCCESS; i++)
        counts[i] = (int64_t)d->table.host[i];
}
