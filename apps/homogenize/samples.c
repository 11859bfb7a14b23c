/*
 * Green's operator by a convolution with little communication (docs/convolution.md): each rank
 * convolves its own part of the stress, and sends samples of the strain, or of the stress what is
 * around the others' parts. Its means are those of the exact operator.
 */
#include "green.h"

#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <string.h>

static weft_convolution_problem describe(const homogenize_green *g, const homogenize_grid *grid) {
    const homogenize_reference *r = &g->reference;
    weft_convolution_problem problem = {.rank = 3,
                                        .kind = WEFT_R2C,
                                        .precision = grid->precision,
                                        .kernel = {.kind = WEFT_KERNEL_ELASTIC,
                                                   .lame = {r->trace, r->twice / 2},
                                                   .discretization = WEFT_STAGGERED},
                                        .method =
                                            grid->samples.levels ? WEFT_MULTILEVEL : WEFT_SAMPLES,
                                        .pattern = grid->samples.fixed ? WEFT_FIXED : WEFT_GRADED,
                                        .subdomain = grid->samples.subdomain,
                                        .tolerance = grid->samples.tolerance};
    for (int a = 0; a < 3; a++) {
        problem.n[a] = grid->n[a];
        problem.length[a] = grid->length[a];
    }
    return problem;
}

weft_status homogenize_green_sample(weft_context ctx, const homogenize_grid *grid,
                                    const weft_options *options, MPI_Comm comm,
                                    const homogenize_reference *reference, homogenize_green *g) {
    weft_options how = *options;
    weft_options used = {.struct_size = 0};
    weft_plan sampled = NULL;
    weft_box box;
    int rank;
    g->reference = *reference;
    /* The boxes stay those of the exact operator. */
    WEFT_TRY(weft_plan_options(g->plan, &used));
    how.decomposition = used.decomposition;
    memcpy(how.grid, used.grid, sizeof used.grid);
    const weft_convolution_problem problem = describe(g, grid);
    WEFT_TRY(weft_convolution_create(ctx, &problem, &how, &sampled));
    weft_plan_destroy(&g->plan);
    g->plan = sampled;
    MPI_Comm_rank(comm, &rank);
    WEFT_TRY(weft_plan_box(g->plan, WEFT_INPUT, rank, &box));
    g->voxels = box.n[0] * box.n[1] * box.n[2];
    g->samples = true;
    g->single = grid->precision == WEFT_SINGLE;
    g->comm = comm;
    return WEFT_SUCCESS;
}

static double number_at(const homogenize_green *g, const void *field, int64_t i) {
    return g->single ? (double)((const float *)field)[i] : ((const double *)field)[i];
}

/* Each component of the voxels of this rank becomes factor[c] times itself, and shift[c] more. */
static void change(const homogenize_green *g, void *field, const double *factor,
                   const double *shift) {
    const int64_t voxels = g->voxels;
    for (int c = 0; c < g->components; c++)
        for (int64_t i = c * voxels; i < (c + 1) * voxels; i++) {
            const double value = factor[c] * number_at(g, field, i) + shift[c];
            if (g->single)
                ((float *)field)[i] = (float)value;
            else
                ((double *)field)[i] = value;
        }
}

/* Means of the components over all voxels. */
static weft_status find_means(const homogenize_green *g, const void *field, double *mean) {
    const int64_t voxels = g->voxels;
    const double all = (double)g->n[0] * (double)g->n[1] * (double)g->n[2];
    for (int c = 0; c < g->components; c++) {
        mean[c] = 0;
        for (int64_t i = c * voxels; i < (c + 1) * voxels; i++)
            mean[c] += number_at(g, field, i) / all;
    }
    if (MPI_Allreduce(MPI_IN_PLACE, mean, g->components, MPI_DOUBLE, MPI_SUM, g->comm) ==
        MPI_SUCCESS)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks added up a mean");
}

/* Components are multiplied by sqrt(2) off the diagonal (Mandel's notation), those of the
 * convolution are not. */
weft_status homogenize_green_apply_samples(homogenize_green *g, void *field) {
    static const double none[6] = {0};
    const double r = sqrt(0.5), to[6] = {1, 1, 1, r, r, r};
    const double from[6] = {1, 1, 1, 2 * r, 2 * r, 2 * r};
    double stress[6], strain[6], shift[6];
    WEFT_TRY(find_means(g, field, stress));
    change(g, field, to, none);
    WEFT_TRY(weft_convolution_execute(g->plan, field, field));
    WEFT_TRY(find_means(g, field, strain));
    for (int i = 0; i < 6; i++) {
        shift[i] = -from[i] * strain[i];
        for (int j = 0; j < 6; j++) shift[i] += g->zero[i * 6 + j] * (stress[j] - g->offset[j]);
    }
    change(g, field, from, shift);
    return WEFT_SUCCESS;
}
