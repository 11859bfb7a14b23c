/*
 * A composition of one's own: forward transforms of the three components of a velocity, projection
 * on what is free of divergence, inverse transforms; all in one plan with one schedule. The
 * velocity is one without divergence plus a gradient, so the result is known: exit status 0 if it
 * is right.
 *
 *   cc composition.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 2 ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft_mpi.h>

static const double two_pi = 6.28318530717958647692;
static const int64_t n[3] = {48, 40, 36};

static void require(weft_status status, weft_context ctx) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "composition: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The projection of Leray, u - k (k.u) / k.k, at consecutive wavenumbers. */
static void project(const weft_fields_run *run, void *unused) {
    const double *u[3] = {run->in[0], run->in[1], run->in[2]};
    double *out[3] = {run->out[0], run->out[1], run->out[2]};
    (void)unused;
    for (int64_t i = 0; i < run->count; i++) {
        double k[3], square = 0;
        for (int a = 0; a < 3; a++) {
            const int64_t index = run->index[a] + (a == run->axis ? i : 0);
            k[a] = (double)(2 * index > n[a] ? index - n[a] : index);
            square += k[a] * k[a];
        }
        for (int part = 0; part < 2; part++) {
            double v[3], along = 0;
            for (int a = 0; a < 3; a++) v[a] = u[a][2 * i * run->in_stride + part];
            for (int a = 0; a < 3; a++) along += k[a] * v[a];
            for (int a = 0; a < 3; a++)
                out[a][2 * i * run->out_stride + part] =
                    v[a] - (square > 0 ? k[a] * along / square : 0);
        }
    }
}

/* At element i of a box: v without divergence, and the gradient of cos x cos y cos z. */
static void fields_at(const weft_box *b, int64_t i, double v[3], double gradient[3]) {
    const double x = two_pi * (double)(b->lo[0] + i / (b->n[1] * b->n[2])) / (double)n[0];
    const double y = two_pi * (double)(b->lo[1] + i / b->n[2] % b->n[1]) / (double)n[1];
    const double z = two_pi * (double)(b->lo[2] + i % b->n[2]) / (double)n[2];
    v[0] = sin(x) * cos(y), v[1] = -cos(x) * sin(y), v[2] = cos(x + y);
    gradient[0] = -sin(x) * cos(y) * cos(z);
    gradient[1] = -cos(x) * sin(y) * cos(z);
    gradient[2] = -cos(x) * cos(y) * sin(z);
}

int main(int argc, char **argv) {
    int rank;
    double v[3], gradient[3], error = 0;
    size_t bytes;
    weft_context ctx = NULL;
    weft_composition projection = NULL;
    weft_box box;
    const weft_operator leray = {.kind = WEFT_OPERATOR_MATRIX, .matrix = project};
    const weft_stage stage[] = {{.kind = WEFT_STAGE_FORWARD},
                                {.kind = WEFT_STAGE_POINTWISE, .operators = {&leray, 1}},
                                {.kind = WEFT_STAGE_INVERSE}};
    const weft_composition_problem problem = {.rank = 3,
                                              .n = {n[0], n[1], n[2]},
                                              .kind = WEFT_R2C,
                                              .norm = WEFT_NORM_BACKWARD,
                                              .fields = 3,
                                              .stage = stage,
                                              .stages = 3};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx), ctx);
    require(weft_composition_create(ctx, &problem, NULL, &projection), ctx);
    weft_plan_box(projection, WEFT_INPUT, rank, &box);
    weft_plan_bytes(projection, WEFT_INPUT, &bytes);
    const int64_t points = box.n[0] * box.n[1] * box.n[2];
    double *u = malloc(bytes + 1);
    if (!u) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0; i < points; i++) {
        fields_at(&box, i, v, gradient);
        for (int a = 0; a < 3; a++) u[a * points + i] = v[a] + gradient[a];
    }
    require(weft_composition_execute(projection, u, (void *[]){u}), ctx); /* in place */
    for (int64_t i = 0; i < points; i++) {
        fields_at(&box, i, v, gradient);
        for (int a = 0; a < 3; a++) error = fmax(error, fabs(u[a * points + i] - v[a]));
    }
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("largest error of the projected velocity %.1e\n", error);
    free(u);
    weft_composition_destroy(&projection);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return error < 1e-13 ? 0 : 1;
}
