/*
 * Whole cases over ranks: layers and structures of one shear modulus against their exact stiffness,
 * random grains and conductors against one rank alone; every discretization, solver and precision,
 * on even and odd grids, also where ranks own nothing; loads of mixed means; what fails fails alike
 * on all ranks.
 */
#include "homogenize/job.h"
#include "homogenize/material.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, failures;
static weft_device device = WEFT_HOST;
static bool streamed;
static char folder[64];

static const char *const schemes[] = {"fourier", "willot", "staggered", "hexahedra"};
static const char *const solvers[] = {"cg", "basic", "eyre-milton", "barzilai-borwein"};

static void fail(const char *text, const char *what, double number) {
    fprintf(stderr, "rank %d of %d: %s: %s: %g\n", rank, ranks, text, what, number);
    failures++;
}

static void require(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, weft_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- files ---- */

static char *path_of(const char *file) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

/* Rank 0 writes a volume of labels and a case; `members` is what follows the labels. */
static void write_case(const int64_t n[3], const unsigned char *labels, const char *members) {
    weft_array_info info = {.element = WEFT_ELEMENT_U8, .rank = 3};
    weft_box box = {.lo = {0}};
    weft_array *array = NULL;
    memcpy(info.n, n, 3 * sizeof *n);
    memcpy(box.n, n, 3 * sizeof *n);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const weft_array_creation how = {.made = NULL};
        require(weft_array_create(MPI_COMM_SELF, path_of("v.npy"), &info, &how, &array));
        require(weft_array_write(array, &box, labels));
        require(weft_array_commit(&array, WEFT_SUCCESS));
        FILE *file = fopen(path_of("c.json"), "w");
        if (!file) MPI_Abort(MPI_COMM_WORLD, 1);
        fprintf(file, "{\"labels\": \"v.npy\", %s}", members);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- runs ---- */

static weft_status run(MPI_Comm comm, homogenize_job *job) {
    /* More threads would spin. */
    const weft_options options = {
        .threads = ranks == 1 ? 2 : 1, .device = device, .stream = streamed ? WEFT_STREAM_ON : 0};
    const homogenize_listener nobody = {.argument = NULL};
    *job = (homogenize_job){.comm = comm, .name = path_of("c.json"), .options = options};
    MPI_Comm_rank(comm, &job->rank);
    MPI_Comm_size(comm, &job->ranks);
    weft_status status = homogenize_job_open(job);
    if (status == WEFT_SUCCESS) status = homogenize_job_prepare(job);
    if (status == WEFT_SUCCESS) status = homogenize_job_solve(job, &nobody);
    return status;
}

static void run_effective(MPI_Comm comm, double *matrix) {
    homogenize_job job;
    require(run(comm, &job));
    if (!homogenize_job_effective(&job, matrix)) MPI_Abort(MPI_COMM_WORLD, 1);
    homogenize_job_release(&job);
}

static void compare(const char *text, const double *got, const double *expected, int count,
                    double tolerance) {
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < count; i++)
        if (!(fabs(got[i] - expected[i]) <= tolerance * largest)) {
            fail(text, "it differs", fabs(got[i] - expected[i]) / largest);
            return;
        }
}

/* ---- layers ---- */

/* C11, C12, C22, C23, C44, C55 of layers with normal 1 of lambda = mu = 1, and a share f of 10. */
static void exact_layers(double f, double constant[6]) {
    double over = 0, ratio = 0, c22 = 0, c23 = 0, c44 = 0, c55 = 0;
    for (int p = 0; p < 2; p++) {
        const double share = p ? f : 1 - f, mu = p ? 10 : 1, lambda = mu, m = lambda + 2 * mu;
        over += share / m;
        ratio += share * lambda / m;
        c22 += share * (m - lambda * lambda / m);
        c23 += share * (lambda - lambda * lambda / m);
        c44 += share * mu;
        c55 += share / mu;
    }
    const double c11 = 1 / over;
    const double all[6] = {c11, c11 * ratio, c22 + c11 * ratio * ratio, c23 + c11 * ratio * ratio,
                           c44, 1 / c55};
    memcpy(constant, all, sizeof all);
}

static void check_layers(int axis, int extent, int hard, int scheme, int solver) {
    static const int shear[3][3] = {{0, 5, 4}, {5, 0, 3}, {4, 3, 0}};
    int64_t n[3] = {3, 4, 5};
    unsigned char labels[1024];
    char members[512];
    double mandel[36], c[36], expected[6];
    const int a = axis, b = (axis + 1) % 3, d = (axis + 2) % 3;
    n[axis] = extent;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t at[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
        labels[i] = at[axis] >= extent - hard;
    }
    snprintf(
        members, sizeof members,
        "\"phases\": [{\"label\": 0, \"lambda\": 1, \"mu\": 1}, {\"label\": 1, \"lambda\": 10, "
        "\"mu\": 10}], \"tolerance\": 1e-13, \"discretization\": \"%s\", \"solver\": \"%s\"",
        schemes[scheme], solvers[solver]);
    write_case(n, labels, members);
    run_effective(MPI_COMM_WORLD, mandel);
    material_voigt_of_mandel(mandel, c);
    exact_layers(hard / (double)extent, expected);
    const double got[6] = {c[7 * a],     c[6 * a + b],       c[7 * b],
                           c[6 * b + d], c[7 * shear[b][d]], c[7 * shear[a][b]]};
    compare(members, got, expected, 6, 1e-12);
}

/* ---- random structures ---- */

static void random_labels(const int64_t n[3], int phases, unsigned char *labels) {
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) labels[i] = (unsigned char)(rand() % phases);
}

/* Hill: 1 / K* + 4 G / 3 is the mean of 1 / (K + 4 G / 3), with G = 1, K = 1 or 100. */
static void check_one_shear_modulus(const int64_t n[3], int scheme, int solver) {
    unsigned char labels[1024];
    char members[512];
    double mandel[36], over = 0, bulk, shear;
    const int64_t count = n[0] * n[1] * n[2];
    random_labels(n, 2, labels);
    for (int64_t i = 0; i < count; i++)
        over += 1 / ((labels[i] ? 100 : 1) + 4.0 / 3) / (double)count;
    snprintf(members, sizeof members,
             "\"phases\": [{\"label\": 0, \"K\": 1, \"G\": 1}, {\"label\": 1, \"K\": 100, "
             "\"G\": 1}], \"tolerance\": 1e-13, \"discretization\": \"%s\", \"solver\": \"%s\"",
             schemes[scheme], solvers[solver]);
    write_case(n, labels, members);
    run_effective(MPI_COMM_WORLD, mandel);
    material_closest(mandel, &bulk, &shear);
    const double expected[2] = {1 / over - 4.0 / 3, 1}, got[2] = {bulk, shear};
    compare(members, got, expected, 2, 1e-11);
}

static const char *const grains =
    "\"phases\": [{\"label\": 0, \"E\": 1, \"nu\": 0.3}, {\"label\": 1, \"rotation\": [10, 50, 70],"
    "\"notation\": \"voigt\", \"stiffness\": [[168, 121, 121, 0, 0, 0], [121, 168, 121, 0, 0, 0], "
    "[121, 121, 168, 0, 0, 0], [0, 0, 0, 75, 0, 0], [0, 0, 0, 0, 75, 0], [0, 0, 0, 0, 0, 75]]}, "
    "{\"label\": 2, \"E\": 200, \"nu\": -0.1}]";
static const char *const spots = "\"phases\": [{\"label\": 0, \"E\": 1, \"nu\": 0.3}, {\"label\": "
                                 "1, \"E\": 9, \"nu\": 0}, {\"label\": 2, \"E\": 20, \"nu\": 0.4}]";
static const char *const conductors =
    "\"physics\": \"conduction\", \"phases\": [{\"label\": 0, \"conductivity\": 1}, {\"label\": 1, "
    "\"conductivity\": 9}, {\"label\": 2, \"conductivity\": [[3, 0, 0], [0, 4, 0], [0, 0, 5]]}]";

static void run_mean(MPI_Comm comm, double *mean) {
    homogenize_job job;
    require(run(comm, &job));
    memcpy(mean, job.result[0].stress, sizeof job.result[0].stress);
    homogenize_job_release(&job);
}

/* All ranks, on the device, give what one gives on the host, iteration by iteration. */
static void check_ranks(const int64_t n[3], const char *phases, int scheme, int solver,
                        bool single) {
    unsigned char labels[1024];
    char members[1024];
    double together[6], alone[6];
    random_labels(n, 3, labels);
    snprintf(members, sizeof members,
             "\"discretization\": \"%s\", \"solver\": \"%s\", \"length\": [1, 2, 1.5], "
             "\"tolerance\": 1e-12, \"max_iterations\": 8, \"unconverged\": \"accept\", "
             "\"precision\": \"%s\", \"load\": {%s}, %s",
             schemes[scheme], solvers[solver], single ? "single" : "double",
             phases == conductors ? "\"gradient\": [1, 0.5, null], \"flux\": [null, null, 1]"
                                  : "\"strain\": [1, null, 0, 0, 0.3, 0], \"stress\": [null, 1, "
                                    "null, null, null, null]",
             phases);
    write_case(n, labels, members);
    const weft_device tested = device;
    const bool streams = streamed;
    run_mean(MPI_COMM_WORLD, together);
    if (ranks == 1 && tested == WEFT_HOST) return; /* it is that one */
    device = WEFT_HOST;
    streamed = false;
    run_mean(MPI_COMM_SELF, alone);
    device = tested;
    streamed = streams;
    compare(members, together, alone, 6, single ? 1e-5 : tested == WEFT_HOST ? 1e-12 : 1e-10);
}

/* Means that are given are met. */
static void check_mixed(int scheme, int solver) {
    static const double strain[6] = {0, 0, 0.5, 0, 0, 0.1}, stress[6] = {1, 2, 0, 0.5, 0, 0};
    const int64_t n[3] = {5, 4, 3};
    unsigned char labels[1024];
    char members[1024];
    double got[6], expected[6];
    homogenize_job job;
    random_labels(n, 3, labels);
    snprintf(members, sizeof members,
             "\"discretization\": \"%s\", \"solver\": \"%s\", \"tolerance\": 1e-11, \"load\": "
             "{\"strain\": [null, null, 0.5, null, 0, 0.1], \"stress\": [1, 2, null, 0.5, null, "
             "null]}, %s",
             schemes[scheme], solvers[solver], spots);
    write_case(n, labels, members);
    require(run(MPI_COMM_WORLD, &job));
    for (int i = 0; i < 6; i++) {
        const bool has_stress = i < 2 || i == 3;
        const double scale = i < 3 ? 1 : sqrt(2.0);
        got[i] = (has_stress ? job.result[0].stress : job.result[0].strain)[i];
        expected[i] = scale * (has_stress ? stress : strain)[i];
    }
    compare(members, got, expected, 6, 1e-10);
    homogenize_job_release(&job);
}

/* ---- samples ---- */

/* Stress under one load, and iterations; `how` is the member convolution, or nothing. */
static int run_sampled(const int64_t n[3], const unsigned char *labels, const char *how, bool mixed,
                       double *mean) {
    homogenize_job job;
    char members[1024];
    snprintf(members, sizeof members,
             "%s\"discretization\": \"staggered\", \"tolerance\": 1e-3, \"length\": [1, 1, 2], "
             "\"load\": {%s}, %s",
             how,
             mixed ? "\"strain\": [1, null, 0, 0, 0.3, 0], \"stress\": [null, 1, null, null, null, "
                     "null]"
                   : "\"strain\": [1, 0, 0, 0, 0.3, 0]",
             spots);
    write_case(n, labels, members);
    require(run(MPI_COMM_WORLD, &job));
    memcpy(mean, job.result[0].stress, sizeof job.result[0].stress);
    const int iterations = job.result[0].iterations;
    homogenize_job_release(&job);
    return iterations;
}

/* On a small grid samples are all points; on a longer one they are not, and the stress is right but
 * for their error, in as many iterations, within one. */
static void check_samples(bool mixed) {
    static const int64_t small[3] = {6, 8, 5}, large[3] = {16, 8, 32};
    static const char *const how = "\"convolution\": {\"method\": \"samples\", \"subdomain\": "
                                   "4, \"tolerance\": 1e-2}, ";
    static const char *const levels = "\"convolution\": {\"method\": \"multilevel\", "
                                      "\"tolerance\": 2e-2}, ";
    static unsigned char labels[16 * 8 * 32];
    double exact[6], sampled[6];
    random_labels(small, 3, labels);
    run_sampled(small, labels, "", mixed, exact);
    run_sampled(small, labels, how, mixed, sampled);
    compare(how, sampled, exact, 6, 1e-10);
    for (int i = 0; i < 16 * 8 * 32; i++) labels[i] = (unsigned char)(i / 1024 % 2 + i / 8 % 2);
    const int iterations = run_sampled(large, labels, "", mixed, exact);
    const int needed = run_sampled(large, labels, how, mixed, sampled);
    compare(how, sampled, exact, 6, 5e-3);
    if (abs(needed - iterations) > 1) fail(how, "iterations", needed);
#ifdef __SANITIZE_ADDRESS__
    (void)levels; /* plans that take most of the time there, and multilevel_3 has them */
#else
    const int by_levels = run_sampled(large, labels, levels, mixed, sampled);
    compare(levels, sampled, exact, 6, 5e-3);
    if (abs(by_levels - iterations) > 1) fail(levels, "iterations", by_levels);
#endif
}

/* ---- failures ---- */

static void check_failure(const char *members, weft_status status, const char *sentence) {
    const int64_t n[3] = {3, 4, 5};
    unsigned char labels[1024];
    homogenize_job job;
    random_labels(n, 3, labels);
    labels[59] = 2; /* of the last rank */
    write_case(n, labels, members);
    const weft_status got = run(MPI_COMM_WORLD, &job);
    if (got != status) fail(members, "status", (double)got);
    if (!strstr(weft_last_error(NULL), sentence)) fail(members, weft_last_error(NULL), 0);
    homogenize_job_release(&job);
}

static void check_failures(void) {
    char members[1024];
    check_failure("\"phases\": [{\"label\": 0, \"K\": 1, \"G\": 1}, {\"label\": 1, \"K\": 1, "
                  "\"G\": 1}]",
                  WEFT_ERROR_INVALID_ARGUMENT, "label 2 of ");
    snprintf(members, sizeof members, "\"max_iterations\": 2, %s", grains);
    check_failure(members, WEFT_ERROR_ENGINE, "load 1 of 6: the residual is");
    snprintf(members, sizeof members,
             "\"solver\": \"basic\", \"reference\": {\"lambda\": 0, \"mu\": 0.01}, %s", grains);
    check_failure(members, WEFT_ERROR_ENGINE, "the residual is");
    snprintf(members, sizeof members, "\"discretization\": \"staggered\", %s", grains);
    check_failure(members, WEFT_ERROR_INVALID_ARGUMENT, "the staggered grid is for phases");
    snprintf(members, sizeof members, "\"convolution\": {\"method\": \"samples\"}, %s", grains);
    check_failure(members, WEFT_ERROR_INVALID_ARGUMENT, "samples are for elasticity on the");
    snprintf(members, sizeof members,
             "\"convolution\": {\"method\": \"samples\", \"tolerance\": 1e-12}, %s", spots);
    check_failure(members, WEFT_ERROR_UNSUPPORTED, "cannot be interpolated better");
    snprintf(members, sizeof members,
             "\"discretization\": \"hexahedra\", \"convolution\": {\"method\": \"multilevel\"}, %s",
             spots);
    check_failure(members, WEFT_ERROR_INVALID_ARGUMENT, "samples are for elasticity on the");
}

/* ---- all ---- */

/* What is exact, by one rank or with few iterations. */
static void check_exact(int scheme, int solver) {
    static const int64_t grids[][3] = {{6, 5, 4}, {7, 3, 5}};
    check_layers((scheme + solver) % 3, 7 + solver, 3 + solver, scheme, solver);
    if (solver > 0) return;
    if (scheme != 1) check_one_shear_modulus(grids[0], scheme, solver);
    check_one_shear_modulus(grids[1], scheme, solver);
}

/* Hexahedra, on slabs, also where ranks own one plane or none: layers, and what one rank gives. */
static void check_hexahedra(void) {
    enum { HEXAHEDRA = 3, CG = 0 };
    static const int64_t grids[][3] = {{6, 5, 4}, {7, 3, 5}, {2, 1, 6}, {1, 2, 70}};
    for (int axis = 0; axis < 3; axis++) check_layers(axis, 7 + axis, 3, HEXAHEDRA, CG);
    check_mixed(HEXAHEDRA, CG);
    for (int grid = 0; grid < 4; grid++) {
        check_ranks(grids[grid], grid % 2 ? spots : grains, HEXAHEDRA, CG, false);
        check_ranks(grids[grid], conductors, HEXAHEDRA, CG, false);
    }
    check_ranks(grids[0], spots, HEXAHEDRA, CG, true);
    check_ranks(grids[1], conductors, HEXAHEDRA, CG, true);
}

static void check_all(void) {
    static const int64_t grids[][3] = {{6, 5, 4}, {7, 3, 5}, {2, 1, 6}, {1, 8, 8}};
    for (int scheme = 0; scheme < 3; scheme++)
        for (int solver = 0; solver < 4; solver++) {
            if (ranks == 1 || solver == 0) check_exact(scheme, solver);
            if (ranks == 1) check_mixed(scheme, solver);
            for (int single = 0; single < 2; single++)
                check_ranks(grids[solver], scheme < 2 ? grains : spots, scheme, solver, single);
            check_ranks(grids[(solver + 1) % 4], conductors, scheme, solver, false);
        }
    check_hexahedra();
    check_samples(false);
    /* The same plans again: 20 seconds with the address sanitizer, and more with more ranks. */
#ifndef __SANITIZE_ADDRESS__
    if (ranks == 1 || ranks == 3) check_samples(true);
#endif
    check_failures();
}

/* Each pass and each form of Green's operator, with few kernels to compile. */
static void check_device(void) {
    static const int64_t grid[3] = {6, 5, 4}, few[3] = {2, 1, 6}; /* fewer planes than ranks */
    char members[1024];
    check_ranks(grid, spots, 2, 0, false);
    check_ranks(grid, grains, 1, 2, true);
    check_ranks(grid, conductors, 0, 3, false);
    snprintf(members, sizeof members, "\"convolution\": {\"method\": \"samples\"}, %s", spots);
    check_failure(members, WEFT_ERROR_UNSUPPORTED, "samples are computed on the host");
    snprintf(members, sizeof members, "\"discretization\": \"hexahedra\", %s", spots);
    check_failure(members, WEFT_ERROR_UNSUPPORTED, "hexahedra are computed on the host");
    streamed = true;
    check_failure(members, WEFT_ERROR_UNSUPPORTED, "hexahedra are computed on the host");
    check_ranks(grid, grains, 1, 0, false);
    check_ranks(grid, conductors, 2, 2, true);
    streamed = false;
    if (device == WEFT_OPENCL) return; /* on a processor each kernel takes a second to compile */
    for (int solver = 1; solver < 4; solver++) check_ranks(grid, spots, 2, solver, solver == 2);
    for (int scheme = 0; scheme < 2; scheme++) check_ranks(grid, grains, scheme, 0, false);
    check_ranks(grid, conductors, 2, 1, false);
    check_layers(0, 6, 2, 2, 0);
    check_mixed(2, 0);
    if (ranks > 2) check_ranks(few, spots, 2, 0, false);
}

static weft_device device_named(const char *name) {
    const weft_device all[] = {WEFT_CUDA, WEFT_OPENCL};
    for (int i = 0; i < 2; i++)
        if (strcmp(weft_device_name(all[i]), name) == 0) return all[i];
    return WEFT_HOST;
}

/* --device NAME: on that device, which must be there. */
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc == 3) device = device_named(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    srand(27);
    snprintf(folder, sizeof folder, "/tmp/weft-homogenize-XXXXXX");
    if (rank == 0 && !mkdtemp(folder)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (device == WEFT_HOST)
        check_all();
    else
        check_device();
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(path_of("c.json"));
        unlink(path_of("v.npy"));
        rmdir(folder);
    }
    MPI_Finalize();
    return failures > 0;
}
