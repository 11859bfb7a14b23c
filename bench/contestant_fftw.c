/*
 * FFTW and FFTW-MPI as contestants. The benchmark links FFTW; libweft never does.
 */
#include "contestant.h"

#include <fftw3-mpi.h>
#include <string.h>

static const unsigned flags[] = {
    [WEFT_ESTIMATE] = FFTW_ESTIMATE, [WEFT_MEASURE] = FFTW_MEASURE, [WEFT_PATIENT] = FFTW_PATIENT};

size_t contestant_fftw_bytes(const bench_case *c) {
    ptrdiff_t n0, start0, n1, start1;
    ptrdiff_t elements = fftw_mpi_local_size_3d_transposed(
        c->n[0], c->n[1], bench_last(c), MPI_COMM_WORLD, &n0, &start0, &n1, &start1);
    return (size_t)elements * sizeof(fftw_complex);
}

static void run_serial_r2c(contestant *self, void *in, void *out) {
    fftw_execute_dft_r2c(self->state, in, out);
}

static void run_serial_c2c(contestant *self, void *in, void *out) {
    fftw_execute_dft(self->state, in, out);
}

static void run_mpi_r2c(contestant *self, void *in, void *out) {
    fftw_mpi_execute_dft_r2c(self->state, in, out);
}

static void run_mpi_c2c(contestant *self, void *in, void *out) {
    fftw_mpi_execute_dft(self->state, in, out);
}

static void close_plan(contestant *self) {
    fftw_destroy_plan(self->state);
}

static void open_serial(const bench_case *c, void *in, void *out, contestant *self) {
    int n[3] = {(int)c->n[0], (int)c->n[1], (int)c->n[2]};
    if (c->kind == WEFT_R2C) {
        self->state = fftw_plan_dft_r2c_3d(n[0], n[1], n[2], in, out, flags[c->effort]);
        self->run = run_serial_r2c;
        self->in.pitch = c->n[2];
    } else {
        self->state = fftw_plan_dft_3d(n[0], n[1], n[2], in, out, FFTW_FORWARD, flags[c->effort]);
        self->run = run_serial_c2c;
    }
}

static void open_mpi(const bench_case *c, unsigned more, void *in, void *out, contestant *self) {
    const int64_t *n = c->n;
    unsigned flag = flags[c->effort] | more;
    if (c->kind == WEFT_R2C) {
        self->state = fftw_mpi_plan_dft_r2c_3d(n[0], n[1], n[2], in, out, MPI_COMM_WORLD, flag);
        self->run = run_mpi_r2c;
        self->in.pitch = 2 * bench_last(c); /* real rows are padded, out of place too */
    } else {
        self->state =
            fftw_mpi_plan_dft_3d(n[0], n[1], n[2], in, out, MPI_COMM_WORLD, FFTW_FORWARD, flag);
        self->run = run_mpi_c2c;
    }
}

void contestant_fftw_open(const bench_case *c, fftw_layout layout, void *in, void *out,
                          contestant *self) {
    static const char *const names[] = {"serial", "natural", "transposed"};
    ptrdiff_t n0, start0, n1, start1;
    int64_t last = bench_last(c);
    fftw_mpi_local_size_3d_transposed(c->n[0], c->n[1], last, MPI_COMM_WORLD, &n0, &start0, &n1,
                                      &start1);
    *self = (contestant){.library = layout == FFTW_SERIAL ? "fftw" : "fftw-mpi",
                         .in_bytes = contestant_fftw_bytes(c),
                         .out_bytes = contestant_fftw_bytes(c),
                         .close = close_plan};
    self->in = (bench_share){
        .lo = {start0, 0, 0}, .n = {n0, c->n[1], c->n[2]}, .order = {0, 1, 2}, .pitch = c->n[2]};
    self->out = (bench_share){
        .lo = {start0, 0, 0}, .n = {n0, c->n[1], last}, .order = {0, 1, 2}, .pitch = last};
    if (layout == FFTW_TRANSPOSED) {
        self->out = (bench_share){
            .lo = {0, start1, 0}, .n = {c->n[0], n1, last}, .order = {1, 0, 2}, .pitch = last};
    }
    snprintf(self->config, sizeof self->config, "%s", names[layout]);
    sscanf(fftw_version, "fftw-%31[0-9.]", self->version);
    if (layout == FFTW_SERIAL) {
        open_serial(c, in, out, self);
    } else {
        open_mpi(c, layout == FFTW_TRANSPOSED ? FFTW_MPI_TRANSPOSED_OUT : 0, in, out, self);
    }
    if (!self->state) {
        fprintf(stderr, "FFTW made no %s plan\n", names[layout]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
