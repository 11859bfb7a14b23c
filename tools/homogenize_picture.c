/* Each rank paints what it has of the plane, and the ranks add up. */
#include "homogenize_picture.h"

#include "io/agreement.h"
#include "picture.h"
#include "support/error.h"

#include <math.h>

/* The plane: across axis[0], rows along axis[1], columns along axis[2]. */
typedef struct plane {
    int axis[3];
    int64_t index;
} plane;

static plane choose_plane(const homogenize_job *job) {
    const int64_t *n = job->info.n;
    int across = 0;
    for (int a = 1; a < 3; a++)
        if (n[a] < n[across]) across = a;
    return (plane){.axis = {across, across == 0 ? 1 : 0, across == 2 ? 1 : 2},
                   .index = n[across] / 2};
}

static double component(const homogenize_job *job, int c, int64_t at) {
    const homogenize_space *space = &job->run.space;
    const int64_t i = c * space->voxels + at;
    const void *stress = homogenize_host_field(&job->run, 1);
    return space->precision == WEFT_SINGLE ? (double)((const float *)stress)[i]
                                           : ((const double *)stress)[i];
}

/* Von Mises' stress sqrt(3 / 2 s:s) of the deviator s, or the magnitude of a flux. */
static double intensity(const homogenize_job *job, int64_t at) {
    const int components = homogenize_components(job->c.physics);
    double square = 0, trace = 0;
    for (int c = 0; c < components; c++) {
        const double value = component(job, c, at);
        square += value * value;
        if (c < 3) trace += value;
    }
    return components == 3 ? sqrt(square) : sqrt(fmax(1.5 * (square - trace * trace / 3), 0));
}

/* This rank's voxels of the plane in both pictures, whose other pixels are 0. */
static void paint(const homogenize_job *job, const plane *p, grey_picture pictures[2]) {
    const homogenize_volume *v = &job->volume;
    const weft_box *box = &v->box;
    const int64_t inside = p->index - box->lo[p->axis[0]];
    if (inside < 0 || inside >= box->n[p->axis[0]]) return;
    int64_t at[3] = {0};
    at[p->axis[0]] = inside;
    for (int64_t row = 0; row < box->n[p->axis[1]]; row++)
        for (int64_t column = 0; column < box->n[p->axis[2]]; column++) {
            at[p->axis[1]] = row;
            at[p->axis[2]] = column;
            const int64_t pixel =
                (row + box->lo[p->axis[1]]) * pictures[0].columns + column + box->lo[p->axis[2]];
            const int64_t wide = box->n[2] + v->halo, high = box->n[1] + v->halo;
            const uint16_t phase =
                v->phase[((at[0] + v->halo) * high + at[1] + v->halo) * wide + at[2] + v->halo];
            pictures[0].value[pixel] = (double)job->c.phases[phase].label;
            pictures[1].value[pixel] =
                intensity(job, (at[0] * box->n[1] + at[1]) * box->n[2] + at[2]);
        }
}

static weft_status draw(homogenize_job *job, const plane *p, grey_picture pictures[2]) {
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < 2 && status == WEFT_SUCCESS; i++)
        status = picture_create(&pictures[i], job->info.n[p->axis[1]], job->info.n[p->axis[2]]);
    WEFT_TRY(weft_array_agree(job->comm, status));
    paint(job, p, pictures);
    for (int i = 0; i < 2; i++)
        if (MPI_Allreduce(MPI_IN_PLACE, pictures[i].value,
                          (int)(pictures[i].rows * pictures[i].columns), MPI_DOUBLE, MPI_SUM,
                          job->comm) != MPI_SUCCESS)
            return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks drew a picture");
    if (job->rank == 0) status = picture_write(job->c.out.picture, pictures, 2);
    return weft_array_agree(job->comm, status);
}

weft_status homogenize_picture_write(homogenize_job *job) {
    grey_picture pictures[2] = {{0}};
    const plane p = choose_plane(job);
    if (!job->c.out.picture) return WEFT_SUCCESS;
    weft_status status = draw(job, &p, pictures);
    for (int i = 0; i < 2; i++) picture_destroy(&pictures[i]);
    return status;
}
