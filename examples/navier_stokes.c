/*
 * Incompressible Navier-Stokes equations in a periodic box of edge 2 pi, by a pseudo-spectral
 * method:
 *     du/dt = P(u x w) - nu k^2 u,  w = curl u,
 * with derivatives and the projection P onto divergence-free fields in the spectrum, the product in
 * real space, the 2/3 rule against aliasing, and the classical Runge-Kutta method in time. The
 * product is one plan, a composition: inverse transforms of the six components of u and w, their
 * cross product, forward transforms of its three components, and the projection. The flow is the
 * 2-D Taylor-Green vortex, the same along z, in a mean flow that carries it away: its closed form
 * is known. Exit status 0 where both velocity and divergence are right.
 *
 *   cc navier_stokes.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 2 ./a.out
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

enum { STEPS = 20 };

static const int64_t n[3] = {32, 36, 40};
static const double two_pi = 6.28318530717958647692;
static const double nu = 0.05, step = 0.01, mean[3] = {0.5, -0.3, 0.2};

/* What this rank holds. A vector field is three arrays of `points` or `modes`. */
static weft_context ctx;
static weft_plan plan;           /* transforms of a vector field */
static weft_composition product; /* from the spectra of u and w to that of P(u x w) */
static weft_box real, spectral;
static int64_t points, modes;
static double *velocity;
static double complex
    *both; /* the spectra of a velocity, which is `stage`, and behind it of its curl */
static double complex *u, *stage, *rate, *sum; /* spectra; u is that of the velocity */

static void require(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "navier_stokes: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Room for so many numbers of doubles. */
static void *allocate(int64_t doubles) {
    void *memory = malloc((size_t)doubles * sizeof(double) + 1);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* Global index of element i of a box. */
static void index_of(const weft_box *b, int64_t i, int64_t index[3]) {
    index[0] = b->lo[0] + i / (b->n[1] * b->n[2]);
    index[1] = b->lo[1] + i / b->n[2] % b->n[1];
    index[2] = b->lo[2] + i % b->n[2];
}

/* The wavenumber at global indices of a spectrum. Returns whether the 2/3 rule keeps it. */
static int wavenumber(const int64_t index[3], double k[3]) {
    int kept = 1;
    for (int a = 0; a < 3; a++) {
        k[a] = (double)(2 * index[a] > n[a] ? index[a] - n[a] : index[a]);
        kept = kept && 3 * fabs(k[a]) < (double)n[a];
    }
    return kept;
}

/* u x w at points of real space, of the fields u and w. */
static void cross(const weft_fields_run *run, void *unused) {
    (void)unused;
    for (int64_t i = 0; i < run->count; i++) {
        double v[6];
        for (int f = 0; f < 6; f++) v[f] = ((const double *)run->in[f])[i * run->in_stride];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            ((double *)run->out[a])[i * run->out_stride] = v[b] * v[3 + c] - v[c] * v[3 + b];
        }
    }
}

/* P at wavenumbers, of which the 2/3 rule keeps some. */
static void project(const weft_fields_run *run, void *unused) {
    (void)unused;
    for (int64_t i = 0; i < run->count; i++) {
        double complex v[3], along = 0; /* the part along k, which the pressure takes away */
        double k[3], square = 0;
        int64_t index[3];
        for (int a = 0; a < 3; a++) index[a] = run->index[a] + (a == run->axis ? i : 0);
        const int kept = wavenumber(index, k);
        for (int a = 0; a < 3; a++) {
            v[a] = ((const double complex *)run->in[a])[i * run->in_stride];
            along += k[a] * v[a];
            square += k[a] * k[a];
        }
        if (square > 0) along /= square;
        for (int a = 0; a < 3; a++)
            ((double complex *)run->out[a])[i * run->out_stride] = kept ? v[a] - k[a] * along : 0;
    }
}

/* The closed form at element i of the box: the vortex decays while the mean flow carries it. */
static void taylor_green(int64_t i, double t, double v[3]) {
    int64_t index[3];
    index_of(&real, i, index);
    const double x = two_pi * (double)index[0] / (double)n[0] - mean[0] * t;
    const double y = two_pi * (double)index[1] / (double)n[1] - mean[1] * t;
    v[0] = mean[0] + sin(x) * cos(y) * exp(-2 * nu * t);
    v[1] = mean[1] - cos(x) * sin(y) * exp(-2 * nu * t);
    v[2] = mean[2];
}

/* rate = du/dt where the velocity has the spectrum `stage`. */
static void differentiate(void) {
    double complex *curl = both + 3 * modes;
    int64_t index[3];
    double k[3];
    for (int64_t i = 0; i < modes; i++) {
        index_of(&spectral, i, index);
        wavenumber(index, k);
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            curl[a * modes + i] = I * (k[b] * stage[c * modes + i] - k[c] * stage[b * modes + i]);
        }
    }
    require(weft_composition_execute(product, both, (void *[]){rate}));
    for (int64_t i = 0; i < modes; i++) {
        index_of(&spectral, i, index);
        wavenumber(index, k);
        const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        for (int a = 0; a < 3; a++) rate[a * modes + i] -= nu * square * stage[a * modes + i];
    }
}

/* One step of the classical Runge-Kutta method. */
static void advance(void) {
    static const double weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6}, ahead[4] = {0.5, 0.5, 1, 0};
    const size_t bytes = 3 * (size_t)modes * sizeof *u;
    memcpy(stage, u, bytes);
    memcpy(sum, u, bytes);
    for (int s = 0; s < 4; s++) {
        differentiate();
        for (int64_t i = 0; i < 3 * modes; i++) {
            sum[i] += step * weight[s] * rate[i];
            stage[i] = u[i] + step * ahead[s] * rate[i];
        }
    }
    memcpy(u, sum, bytes);
}

/* The larger number; one that is not a number is larger than all. */
static double larger(double a, double b) {
    return isnan(b) ? INFINITY : fmax(a, b);
}

/* Over all ranks, the largest divergence and the largest error of the velocity at a time. */
static void check(double t, double largest[2]) {
    double k[3], expected[3];
    int64_t index[3];
    largest[0] = largest[1] = 0;
    for (int64_t i = 0; i < modes; i++) {
        index_of(&spectral, i, index);
        wavenumber(index, k);
        largest[0] =
            larger(largest[0], cabs(k[0] * u[i] + k[1] * u[modes + i] + k[2] * u[2 * modes + i]));
    }
    require(weft_execute(plan, WEFT_INVERSE, u, velocity));
    for (int64_t i = 0; i < points; i++) {
        taylor_green(i, t, expected);
        for (int a = 0; a < 3; a++)
            largest[1] = larger(largest[1], fabs(velocity[a * points + i] - expected[a]));
    }
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* The composition, and a plan for vector fields whose spectra lie as it has them. */
static void make_plans(int rank) {
    const weft_operator crossing = {.kind = WEFT_OPERATOR_MATRIX, .matrix = cross};
    const weft_operator leray = {.kind = WEFT_OPERATOR_MATRIX, .matrix = project};
    const weft_stage stages[] = {
        {.kind = WEFT_STAGE_INVERSE},
        {.kind = WEFT_STAGE_POINTWISE, .operators = {&crossing, 1}, .result_fields = 3},
        {.kind = WEFT_STAGE_FORWARD},
        {.kind = WEFT_STAGE_POINTWISE, .operators = {&leray, 1}}};
    /* With this norm a spectrum is the coefficients of a Fourier series. */
    const weft_composition_problem composed = {.rank = 3,
                                               .n = {n[0], n[1], n[2]},
                                               .kind = WEFT_R2C,
                                               .begin = WEFT_OUTPUT,
                                               .norm = WEFT_NORM_FORWARD,
                                               .fields = 6,
                                               .stage = stages,
                                               .stages = 4};
    const weft_problem problem = {.rank = 3,
                                  .n = {n[0], n[1], n[2]},
                                  .kind = WEFT_R2C,
                                  .fields = 3,
                                  .norm = WEFT_NORM_FORWARD};
    weft_options options = {.struct_size = 0};
    require(weft_composition_create(ctx, &composed, NULL, &product));
    require(weft_plan_options(product, &options));
    options.placement = WEFT_OUT_OF_PLACE;
    require(weft_plan_create(ctx, &problem, &options, &plan));
    require(weft_plan_box(plan, WEFT_INPUT, rank, &real));
    require(weft_plan_box(product, WEFT_INPUT, rank, &spectral));
    points = real.n[0] * real.n[1] * real.n[2];
    modes = spectral.n[0] * spectral.n[1] * spectral.n[2];
}

int main(int argc, char **argv) {
    int rank;
    double at[3], largest[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx));
    make_plans(rank);
    double complex **const spectra[] = {&u, &rate, &sum};
    velocity = allocate(3 * points);
    stage = both = allocate(2 * 6 * modes);
    for (int i = 0; i < 3; i++) *spectra[i] = allocate(2 * 3 * modes);

    for (int64_t i = 0; i < points; i++) {
        taylor_green(i, 0, at);
        for (int a = 0; a < 3; a++) velocity[a * points + i] = at[a];
    }
    require(weft_execute(plan, WEFT_FORWARD, velocity, u));
    for (int s = 0; s < STEPS; s++) advance();
    check(STEPS * step, largest);
    if (rank == 0)
        printf("after %d steps: largest divergence %.1e, largest error %.1e\n", STEPS, largest[0],
               largest[1]);
    free(velocity);
    free(both);
    for (int i = 0; i < 3; i++) free(*spectra[i]);
    weft_composition_destroy(&product);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return largest[0] < 1e-12 && largest[1] < 1e-10 ? 0 : 1;
}
