/* What is told of a job: a report for programs, a summary for people. */
#include "job.h"

#include "material.h"
#include "matrix.h"

#include <math.h>
#include <string.h>

/* ---- pieces of JSON ---- */

static json_t *vector_of(const double *values, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_real(values[i]));
    return list;
}

static json_t *matrix_of(const double *values, int n) {
    json_t *rows = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(rows, vector_of(values + i * n, n));
    return rows;
}

/* A vector in Mandel's notation as tensor components. */
static json_t *tensor_of(const double *mandel, int n) {
    double tensor[6];
    if (n == 6)
        material_tensor_of_mandel(mandel, tensor);
    else
        memcpy(tensor, mandel, 3 * sizeof *tensor);
    return vector_of(tensor, n);
}

static json_t *moduli_of(double bulk, double shear) {
    return json_pack("{s:f, s:f, s:f, s:f}", "K", bulk, "G", shear, "E",
                     9 * bulk * shear / (3 * bulk + shear), "nu",
                     (3 * bulk - 2 * shear) / (2 * (3 * bulk + shear)));
}

/* The stiffness in both notations, or the conductivity. */
static json_t *effective_of(const homogenize_case *c, const double *matrix) {
    double voigt[36], bulk, shear;
    if (c->physics == HOMOGENIZE_CONDUCTION)
        return json_pack("{s:o, s:f}", "conductivity", matrix_of(matrix, 3), "closest_isotropic",
                         (matrix[0] + matrix[4] + matrix[8]) / 3);
    material_voigt_of_mandel(matrix, voigt);
    material_closest(matrix, &bulk, &shear);
    return json_pack("{s:o, s:o, s:o}", "stiffness_voigt", matrix_of(voigt, 6), "stiffness_mandel",
                     matrix_of(matrix, 6), "closest_isotropic", moduli_of(bulk, shear));
}

static json_t *bounds_of(const homogenize_job *job) {
    homogenize_bounds b;
    homogenize_find_bounds(&job->c, &b);
    json_t *shtrikman = json_null();
    if (b.isotropic && job->c.physics == HOMOGENIZE_ELASTICITY)
        shtrikman = json_pack("{s:o, s:o}", "K", vector_of(b.bulk, 2), "G", vector_of(b.shear, 2));
    else if (b.isotropic)
        shtrikman = json_pack("{s:o}", "conductivity", vector_of(b.conductivity, 2));
    return json_pack("{s:o, s:o, s:o}", "voigt", effective_of(&job->c, b.voigt), "reuss",
                     effective_of(&job->c, b.reuss), "hashin_shtrikman", shtrikman);
}

/* ---- the report ---- */

static json_t *phases_of(const homogenize_job *job) {
    const int n = homogenize_components(job->c.physics);
    json_t *list = json_array();
    for (int p = 0; p < job->c.phase_count; p++) {
        const homogenize_phase *phase = &job->c.phases[p];
        json_array_append_new(list,
                              json_pack("{s:I, s:I, s:f, s:o}", "label", (json_int_t)phase->label,
                                        "voxels", (json_int_t)phase->voxels, "volume_fraction",
                                        (double)phase->voxels / job->run.voxels,
                                        n == 6 ? "stiffness_mandel" : "conductivity",
                                        matrix_of(phase->matrix, n)));
    }
    return list;
}

static json_t *histogram_of(const homogenize_histogram *h) {
    json_t *counts = json_array();
    for (int b = 0; b < HOMOGENIZE_BINS; b++)
        json_array_append_new(counts, json_integer((json_int_t)h->voxels[b]));
    return json_pack("{s:f, s:o}", "most", h->most, "voxels", counts);
}

/* Means and histograms of each phase that occurs. */
static json_t *means_of(const homogenize_job *job, const homogenize_result *r) {
    const int n = homogenize_components(job->c.physics);
    const char *strain = n == 6 ? "strain" : "gradient", *stress = n == 6 ? "stress" : "flux";
    json_t *list = json_array();
    for (int p = 0; p < job->c.phase_count; p++) {
        double means[12];
        const homogenize_phase *phase = &job->c.phases[p];
        if (phase->voxels == 0) continue;
        for (int i = 0; i < 2 * n; i++)
            means[i] = r->phase_sums[p * 2 * n + i] / (double)phase->voxels;
        json_array_append_new(list, json_pack("{s:I, s:o, s:o, s:{s:o, s:o}}", "label",
                                              (json_int_t)phase->label, strain, tensor_of(means, n),
                                              stress, tensor_of(means + n, n),
                                              n == 6 ? "von_mises" : "magnitude", strain,
                                              histogram_of(&r->histograms[2 * p]), stress,
                                              histogram_of(&r->histograms[2 * p + 1])));
    }
    return list;
}

/* What <s e> and <s> <e> differ by, relatively. */
static double hill_mandel_error(const homogenize_result *r) {
    double product = 0;
    for (int i = 0; i < 6; i++) product += r->strain[i] * r->stress[i];
    return r->energy != 0 ? fabs(product / r->energy - 1) : fabs(product);
}

static double seconds_an_iteration(const homogenize_result *r) {
    return r->seconds / (r->iterations > 0 ? r->iterations : 1);
}

static json_t *load_of(const homogenize_job *job, const homogenize_result *r) {
    const int n = homogenize_components(job->c.physics);
    return json_pack(
        "{s:o, s:o, s:f, s:f, s:i, s:f, s:b, s:f, s:f, s:f, s:o, s:o}",
        n == 6 ? "strain" : "gradient", tensor_of(r->strain, n), n == 6 ? "stress" : "flux",
        tensor_of(r->stress, n), "energy", r->energy, "hill_mandel_error", hill_mandel_error(r),
        "iterations", r->iterations, "residual", r->residual, "converged", r->converged, "seconds",
        r->seconds, "seconds_in_transforms", r->green_seconds, "seconds_per_iteration",
        seconds_an_iteration(r), "residuals", vector_of(r->history, homogenize_residuals_kept(r)),
        "phases", means_of(job, r));
}

static json_t *reference_of(const homogenize_job *job) {
    const homogenize_reference *r = &job->medium.reference;
    if (job->c.physics == HOMOGENIZE_CONDUCTION)
        return json_pack("{s:f}", "conductivity", r->twice);
    return json_pack("{s:f, s:f}", "lambda", r->trace, "mu", r->twice / 2);
}

static json_t *components_of(const homogenize_case *c) {
    if (c->physics == HOMOGENIZE_CONDUCTION) return json_pack("[s, s, s]", "x", "y", "z");
    return json_pack("[s, s, s, s, s, s]", "xx", "yy", "zz", "yz", "xz", "xy");
}

json_t *homogenize_job_report(const homogenize_job *job) {
    const homogenize_case *c = &job->c;
    double effective[36];
    json_t *shape = json_array(), *loads = json_array();
    for (int a = 0; a < 3; a++)
        json_array_append_new(shape, json_integer((json_int_t)job->info.n[a]));
    for (int l = 0; l < job->results; l++)
        json_array_append_new(loads, load_of(job, &job->result[l]));
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:f, s:i, s:o, s:f, s:o, s:o, s:o, "
        "s:o}",
        "weft", weft_version(), "command", "homogenize", "case", job->name, "labels", c->labels,
        "shape", shape, "length", vector_of(c->length, 3), "physics",
        homogenize_physics_name(c->physics), "discretization", homogenize_scheme_name(job->scheme),
        "solver", homogenize_solver_name(c->solver), "precision", weft_precision_name(c->precision),
        "tolerance", c->tolerance, "ranks", job->ranks, "reference", reference_of(job),
        "bytes_per_voxel", job->bytes / job->run.voxels, "components", components_of(c), "phases",
        phases_of(job), "loads", loads, "bounds", bounds_of(job));
    if (report && c->on_device) {
        json_object_set_new(report, "device", json_string(weft_device_name(job->options.device)));
        json_object_set_new(report, "host_bytes_per_voxel",
                            json_real(job->host_bytes / job->run.voxels));
    }
    if (report && homogenize_job_effective(job, effective)) {
        json_object_set_new(report, "effective", effective_of(c, effective));
        json_object_set_new(
            report, "asymmetry",
            json_real(matrix_asymmetry(homogenize_components(c->physics), effective)));
    }
    return report;
}

/* ---- the summary ---- */

/* Numbers that are rounding errors beside others of theirs are 0. */
static double clean(double x, const double *values, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(values[i]));
    return fabs(x) < 1e-14 * largest ? 0 : x;
}

static void print_mean(const char *name, const double *mandel, int n) {
    double tensor[6];
    memcpy(tensor, mandel, sizeof tensor);
    if (n == 6) material_tensor_of_mandel(mandel, tensor);
    printf("mean %s:", name);
    for (int i = 0; i < n; i++) printf(" %.10g", clean(tensor[i], tensor, n));
    printf("\n");
}

static void print_loads(const homogenize_job *job) {
    const homogenize_case *c = &job->c;
    const int n = homogenize_components(c->physics);
    for (int l = 0; l < job->results; l++) {
        const homogenize_result *r = &job->result[l];
        printf("load %d of %d: %d iterations, residual %.1e%s, %.3g s an iteration\n", l + 1,
               job->results, r->iterations, r->residual, r->converged ? "" : " (not converged)",
               seconds_an_iteration(r));
        if (c->load.all) continue;
        print_mean(n == 6 ? "strain" : "gradient", r->strain, n);
        print_mean(n == 6 ? "stress" : "flux", r->stress, n);
    }
}

static void print_rows(const double *matrix, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) printf(" %13.8g", clean(matrix[i * n + j], matrix, n * n));
        printf("\n");
    }
}

static void print_elastic(const homogenize_bounds *b, const double *mandel) {
    double voigt[36], k[3], g[3];
    const double *of[3] = {mandel, b->reuss, b->voigt};
    for (int i = 0; i < 3; i++) material_closest(of[i], &k[i], &g[i]);
    material_voigt_of_mandel(mandel, voigt);
    printf("effective stiffness, Voigt's notation (xx yy zz yz xz xy):\n");
    print_rows(voigt, 6);
    printf("closest isotropic: K %.8g, G %.8g, E %.8g, nu %.6g\n", k[0], g[0],
           9 * k[0] * g[0] / (3 * k[0] + g[0]), (3 * k[0] - 2 * g[0]) / (2 * (3 * k[0] + g[0])));
    printf("Reuss and Voigt bounds: K %.8g to %.8g, G %.8g to %.8g\n", k[1], k[2], g[1], g[2]);
    if (b->isotropic)
        printf("Hashin-Shtrikman bounds: K %.8g to %.8g, G %.8g to %.8g\n", b->bulk[0], b->bulk[1],
               b->shear[0], b->shear[1]);
}

static void print_conduction(const homogenize_bounds *b, const double *matrix) {
    printf("effective conductivity:\n");
    print_rows(matrix, 3);
    printf("Reuss and Voigt bounds (xx): %.8g to %.8g\n", b->reuss[0], b->voigt[0]);
    if (b->isotropic)
        printf("Hashin-Shtrikman bounds: %.8g to %.8g\n", b->conductivity[0], b->conductivity[1]);
}

void homogenize_job_print(const homogenize_job *job, const char *plan) {
    enum { FEW = 8 };
    const homogenize_case *c = &job->c;
    homogenize_bounds bounds;
    double effective[36];
    printf("%s: %lldx%lldx%lld voxels, %d phase%s", c->labels, (long long)job->info.n[0],
           (long long)job->info.n[1], (long long)job->info.n[2], c->phase_count,
           c->phase_count > 1 ? "s" : "");
    for (int p = 0; p < c->phase_count && c->phase_count <= FEW; p++)
        printf("%s label %lld %.4g %%", p == 0 ? ":" : ",", (long long)c->phases[p].label,
               100 * (double)c->phases[p].voxels / job->run.voxels);
    printf("\n%s, discretization %s, solver %s, %s, tolerance %g\n",
           homogenize_physics_name(c->physics), homogenize_scheme_name(job->scheme),
           homogenize_solver_name(c->solver), weft_precision_name(c->precision), c->tolerance);
    printf("%d rank%s: %s; %.0f bytes a voxel", job->ranks, job->ranks > 1 ? "s" : "", plan,
           job->bytes / job->run.voxels);
    if (c->on_device) printf(" there, %.0f on the host", job->host_bytes / job->run.voxels);
    printf("\n");
    print_loads(job);
    if (!homogenize_job_effective(job, effective)) return;
    homogenize_find_bounds(c, &bounds);
    if (c->physics == HOMOGENIZE_ELASTICITY)
        print_elastic(&bounds, effective);
    else
        print_conduction(&bounds, effective);
}
