/*
 * weft convolve IN KERNEL OUT: each rank reads its box of the field and of the kernel, the plan
 * convolves, each rank writes its box of the result.
 */
#include "array_run.h"
#include "convolve_flags.h"
#include "io/agreement.h"
#include "kernel.h"
#include "octree.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct convolve_run {
    array_run files;
    const convolve_flags *flags;
    weft_convolution_problem problem;
    weft_array *kernel_file; /* while it is read */
    void *kernel;            /* this rank's box of what is in it */
    weft_box kernel_box;
    double zero[2], covariance[WEFT_MAX_RANK * WEFT_MAX_RANK];
    bool kernel_is_file;
    kernel_words words; /* of a built-in one */
} convolve_run;

static int components(const convolve_run *run, bool made) {
    return weft_kernel_fields(run->problem.kernel.kind, run->problem.rank, made);
}

/* ---- the problem ---- */

static weft_status check_count(const char *flag, int count, int rank) {
    if (count <= 1 || count == rank) return WEFT_SUCCESS;
    return WRONG("--%s: %d of them for a field of %d ax%s; give one for all, or one for each", flag,
                 count, rank, rank > 1 ? "es" : "is");
}

static int count_boundaries(const weft_convolution_problem *p, weft_boundary boundary) {
    int count = 0;
    for (int a = 0; a < p->rank; a++) count += p->boundary[a] == boundary;
    return count;
}

/* Of vectors and tensors the file's first axis is that of the components, which no transform is
 * along. */
static weft_status take_components(convolve_run *run) {
    weft_convolution_problem *p = &run->problem;
    const weft_kernel_kind kind = run->words.kind;
    if (run->kernel_is_file || weft_kernel_fields(kind, 2, false) == 1) return WEFT_SUCCESS;
    const int64_t given = p->n[0];
    p->rank--;
    memmove(p->n, p->n + 1, (size_t)p->rank * sizeof *p->n);
    const int wanted = weft_kernel_fields(kind, p->rank, false);
    if (given == wanted && p->rank > 0) return WEFT_SUCCESS;
    return WRONG(
        "%s: %s takes arrays whose first axis has the components of a point, %d of %d ax%s, "
        "and %s has %lld; give one that has",
        run->files.record.kernel, weft_kernel_kind_name(kind), wanted, p->rank,
        p->rank == 1 ? "is" : "es", run->files.record.input, (long long)given);
}

/* The field, and what flags say of its axes. */
static weft_status describe_field(convolve_run *run) {
    const convolve_flags *flags = run->flags;
    const array_run *files = &run->files;
    weft_convolution_problem *p = &run->problem;
    array_run_describe_field(files, p);
    WEFT_TRY(take_components(run));
    p->mode = flags->mode;
    p->method = flags->method;
    p->tolerance = flags->sampling.tolerance;
    p->opening = flags->sampling.opening;
    p->interpolation = flags->sampling.interpolation;
    p->subdomain = flags->sampling.subdomain;
    p->pattern = flags->sampling.fixed ? WEFT_FIXED : WEFT_GRADED;
    p->kernel.discretization = flags->sampling.staggered ? WEFT_STAGGERED : WEFT_SPECTRAL;
    p->correlate = flags->correlate;
    p->deconvolve = flags->deconvolve;
    p->regularizer = flags->regularizer;
    WEFT_TRY(check_count("boundary", flags->boundaries, p->rank));
    WEFT_TRY(check_count("length", flags->lengths, p->rank));
    for (int a = 0; a < p->rank; a++) {
        if (flags->boundaries > 0) p->boundary[a] = flags->boundary[flags->boundaries > 1 ? a : 0];
        if (flags->lengths > 0) p->length[a] = flags->length[flags->lengths > 1 ? a : 0];
    }
    if (flags->has_mode && count_boundaries(p, WEFT_LINEAR) == 0)
        return WRONG("--mode %s belongs to linear axes, and there are none; add --boundary linear, "
                     "or drop it",
                     weft_convolution_mode_name(flags->mode));
    return WEFT_SUCCESS;
}

/* ---- a kernel in a file ---- */

static weft_status describe_origin(convolve_run *run) {
    const convolve_flags *flags = run->flags;
    const weft_convolution_problem *p = &run->problem;
    weft_convolution_kernel *kernel = &run->problem.kernel;
    WEFT_TRY(check_count("origin", flags->origins, p->rank));
    for (int a = 0; a < p->rank; a++) {
        if (flags->origins > 0) kernel->origin[a] = flags->origin[flags->origins > 1 ? a : 0];
        if (flags->center) kernel->origin[a] = (kernel->n[a] - 1) / 2;
        if (kernel->origin[a] >= kernel->n[a])
            return WRONG("--origin: element %lld along axis %d, but %s has %lld there; give 0 to "
                         "%lld, or center",
                         (long long)kernel->origin[a], a, run->files.record.kernel,
                         (long long)kernel->n[a], (long long)(kernel->n[a] - 1));
    }
    return WEFT_SUCCESS;
}

/* A spectrum has the extents of the field's, halved along the last periodic axis of real fields. */
static weft_status describe_spectrum(convolve_run *run) {
    const run_record *record = &run->files.record;
    const weft_array_info *info = weft_array_describe(run->kernel_file);
    weft_convolution_problem *p = &run->problem;
    int halved = p->kind == WEFT_R2C ? p->rank - 1 : -1;
    if (count_boundaries(p, WEFT_LINEAR) + count_boundaries(p, WEFT_FREE_SPACE) > 0)
        return WRONG("--spectrum: %s has the wavenumbers of %s, which --boundary linear and free "
                     "pad; choose another boundary, or give the kernel in real space",
                     record->kernel, record->input);
    if (run->flags->origins > 0)
        return WRONG("--origin belongs to a kernel in real space, and %s is a spectrum; drop it",
                     record->kernel);
    while (halved >= 0 && p->boundary[halved] != WEFT_PERIODIC) halved--;
    for (int a = 0; a < p->rank; a++) {
        const int64_t n = a == halved ? p->n[a] / 2 + 1 : p->n[a];
        if (info->n[a] != n)
            return WRONG("%s: it has %lld elements along axis %d, where the spectrum of %s has "
                         "%lld; give one of a kernel as large as the field",
                         record->kernel, (long long)info->n[a], a, record->input, (long long)n);
    }
    p->kernel.kind = WEFT_KERNEL_SPECTRUM;
    return WEFT_SUCCESS;
}

static weft_status describe_kernel_file(convolve_run *run) {
    const run_record *record = &run->files.record;
    const weft_array_info *info = weft_array_describe(run->kernel_file);
    weft_convolution_problem *p = &run->problem;
    if (info->rank != p->rank)
        return WRONG("%s: it has %d ax%s, but %s has %d; give a kernel of as many axes, of extent "
                     "1 along those where it does nothing",
                     record->kernel, info->rank, info->rank > 1 ? "es" : "is", record->input,
                     p->rank);
    if (weft_element_complex(info->element) && p->kind == WEFT_R2C && !run->flags->spectrum)
        return WRONG("%s: its elements are %s, but those of %s are real; give a real kernel, a "
                     "complex field, or --spectrum",
                     record->kernel, weft_element_name(info->element), record->input);
    if (run->flags->has_zero)
        return WRONG("--zero belongs to built-in kernels, and %s is a file; drop it",
                     record->kernel);
    memcpy(p->kernel.n, info->n, sizeof p->kernel.n);
    return run->flags->spectrum ? describe_spectrum(run) : describe_origin(run);
}

/* Ranks share the kernel's indices along axis 0. */
static weft_status read_kernel_file(convolve_run *run) {
    const command_world *world = run->files.world;
    weft_convolution_kernel *kernel = &run->problem.kernel;
    const weft_element wanted = array_run_element(
        run->problem.precision, run->flags->spectrum || run->problem.kind == WEFT_C2C);
    weft_array_info info = {.element = wanted, .rank = run->problem.rank};
    weft_box *box = &run->kernel_box;
    int64_t bytes = 0;
    *box = (weft_box){.lo = {0}};
    memcpy(box->n, kernel->n, sizeof box->n);
    memcpy(info.n, kernel->n, sizeof info.n);
    if (!weft_array_bytes(&info, &bytes))
        return WRONG("%s: it has more elements than there can be", run->files.record.kernel);
    weft_split(kernel->n[0], world->ranks, world->rank, &box->lo[0], &box->n[0]);
    bytes = bytes / kernel->n[0] * box->n[0];
    weft_status status = array_run_buffer(&run->files, (size_t)bytes, &run->kernel);
    WEFT_TRY(weft_array_agree(world->comm, status));
    WEFT_TRY(weft_array_read(run->kernel_file, box, wanted, run->kernel));
    kernel->array = run->kernel;
    kernel->box = box;
    return WEFT_SUCCESS;
}

static weft_status open_kernel_file(convolve_run *run) {
    const weft_array_info *raw = options_raw(&run->flags->raw_kernel);
    WEFT_TRY(
        weft_array_open(run->files.world->comm, run->files.record.kernel, raw, &run->kernel_file));
    return describe_kernel_file(run);
}

/* ---- a built-in kernel ---- */

/* Whether the formula is infinite at wavenumber 0. */
static bool is_singular(const weft_convolution_kernel *kernel) {
    return kernel->kind == WEFT_KERNEL_POISSON ||
           (kernel->kind == WEFT_KERNEL_SCREENED_POISSON && kernel->parameter == 0) ||
           (kernel->kind == WEFT_KERNEL_RIESZ && kernel->parameter < 0);
}

/* What the library would refuse too, in the words of the command line. */
static weft_status check_boundaries(const convolve_run *run) {
    const weft_convolution_problem *p = &run->problem;
    const char *text = run->files.record.kernel;
    const weft_kernel_kind kind = p->kernel.kind;
    const bool green = kind == WEFT_KERNEL_POISSON || kind == WEFT_KERNEL_SCREENED_POISSON;
    const int free_axes = count_boundaries(p, WEFT_FREE_SPACE);
    if (count_boundaries(p, WEFT_LINEAR) > 0)
        return WRONG("%s: a built-in kernel has no end, as --boundary linear wants; choose another "
                     "boundary, or give a file",
                     text);
    if (free_axes > 0 && !(green && free_axes <= 3))
        return WRONG("%s: with --boundary free along 1 to 3 axes give poisson or screened-poisson, "
                     "or a file",
                     text);
    if (free_axes == 0 && count_boundaries(p, WEFT_DIRICHLET) == 0 && is_singular(&p->kernel) &&
        !run->flags->has_zero)
        return WRONG("%s: its spectrum is infinite at wavenumber 0; give its value there: --zero 0 "
                     "for a result of mean 0",
                     text);
    return WEFT_SUCCESS;
}

static weft_status describe_built_in(convolve_run *run) {
    const char *text = run->files.record.kernel;
    const raw_description *raw = &run->flags->raw_kernel;
    weft_convolution_kernel *kernel = &run->problem.kernel;
    WEFT_TRY(kernel_describe(&run->words, text, run->problem.rank, run->covariance, kernel));
    if (run->flags->origins > 0 || raw->shaped)
        return WRONG("%s: --%s belongs to a kernel in a file, and this one is built in; drop it",
                     text, raw->shaped ? "kernel-shape" : "origin");
    if (run->flags->spectrum)
        return WRONG("--spectrum belongs to a kernel in a file, and %s is built in; drop it", text);
    run->zero[0] = run->flags->zero;
    if (run->flags->has_zero) kernel->zero = run->zero;
    return check_boundaries(run);
}

/* Rank 0 looks for a file, so that all ranks do the same. */
static weft_status name_kernel(convolve_run *run) {
    const command_world *world = run->files.world;
    int is_file = world->rank == 0 && kernel_is_file(run->files.record.kernel);
    MPI_Bcast(&is_file, 1, MPI_INT, 0, world->comm);
    run->kernel_is_file = is_file;
    return is_file ? WEFT_SUCCESS : kernel_parse(run->files.record.kernel, &run->words);
}

/* ---- the run ---- */

static double bytes_of(const weft_convolution_problem *p, const int64_t *n) {
    double bytes = (double)weft_element_bytes(array_run_element(p->precision, p->kind == WEFT_C2C));
    for (int a = 0; a < p->rank; a++) bytes *= (double)n[a];
    return bytes;
}

/* What a rank needs whatever the plan: its share of the field, of the result, which is as large or
 * larger but for --mode valid, and of the kernel's spectrum, which vectors and tensors do without;
 * and its share of the kernel twice, as it is read and in double precision. */
static double least_bytes(const convolve_run *run) {
    const weft_convolution_problem *p = &run->problem;
    const bool array = run->kernel_file != NULL;
    const bool valid = count_boundaries(p, WEFT_LINEAR) > 0 && p->mode == WEFT_VALID;
    const int fields = components(run, false) + components(run, true);
    const int arrays = fields > 2 ? fields : valid ? 2 : 3;
    return (bytes_of(p, p->n) * arrays + (array ? 2 * bytes_of(p, p->kernel.n) : 0.0)) /
           run->files.world->ranks;
}

/* The components of each point come before a box's axes, as they do in the plan's arrays. */
static void add_axis(weft_box *box, int rank, int count) {
    if (count == 1) return;
    memmove(box->lo + 1, box->lo, (size_t)rank * sizeof *box->lo);
    memmove(box->n + 1, box->n, (size_t)rank * sizeof *box->n);
    box->lo[0] = 0;
    box->n[0] = box->n[1] > 0 ? count : 0;
}

static weft_status make_plan(convolve_run *run) {
    array_run *files = &run->files;
    const weft_options options = array_run_options(files);
    WEFT_TRY(array_run_create_context(files, least_bytes(run)));
    if (run->kernel_file != NULL) WEFT_TRY(read_kernel_file(run));
    weft_array_close(&run->kernel_file);
    weft_status status =
        weft_convolution_create(files->context, &run->problem, &options, &files->record.plan);
    run->problem.kernel.array = NULL;
    run->problem.kernel.box = NULL;
    free(run->kernel);
    run->kernel = NULL;
    WEFT_TRY(weft_array_agree(files->world->comm, status));
    WEFT_TRY(array_run_allocate(files, WEFT_INPUT, WEFT_OUTPUT, 0.0));
    add_axis(&files->in_box, run->problem.rank, components(run, false));
    add_axis(&files->out_box, run->problem.rank, components(run, true));
    return WEFT_SUCCESS;
}

/* The result reaches as far as the boxes of all ranks. */
static weft_status create_output(convolve_run *run) {
    const weft_convolution_problem *p = &run->problem;
    weft_array_info *info = &run->files.record.output_info;
    info->element = array_run_element(p->precision, p->kind == WEFT_C2C);
    info->rank = p->rank;
    for (int r = 0; r < run->files.world->ranks; r++) {
        weft_box box;
        WEFT_TRY(weft_plan_box(run->files.record.plan, WEFT_OUTPUT, r, &box));
        for (int a = 0; a < p->rank; a++)
            if (box.lo[a] + box.n[a] > info->n[a]) info->n[a] = box.lo[a] + box.n[a];
    }
    if (components(run, true) > 1) {
        info->rank++;
        memmove(info->n + 1, info->n, (size_t)p->rank * sizeof *info->n);
        info->n[0] = components(run, true);
    }
    return array_run_create_output(&run->files);
}

/* Rank 0 knows the octrees of all; early, it only sees whether it will be able to write them. */
static weft_status write_octree(const convolve_run *run, bool early) {
    const command_world *world = run->files.world;
    const char *path = run->flags->octree;
    weft_status status = WEFT_SUCCESS;
    if (path == NULL) return WEFT_SUCCESS;
    if (world->rank == 0)
        status = early ? record_check_path(path)
                       : octree_write(run->files.record.plan, &run->problem, world->ranks, path);
    return weft_array_agree(world->comm, status);
}

static weft_status convolve(void *argument) {
    convolve_run *run = argument;
    array_run *files = &run->files;
    const weft_convolution_problem *p = &run->problem;
    WEFT_TRY(array_run_open(files, options_raw(&run->flags->raw)));
    WEFT_TRY(write_octree(run, true));
    WEFT_TRY(name_kernel(run));
    WEFT_TRY(describe_field(run));
    WEFT_TRY(run->kernel_is_file ? open_kernel_file(run) : describe_built_in(run));
    progress_stage(&files->progress, "planning", 0);
    record_begin(&files->record, RECORD_PLAN);
    WEFT_TRY(make_plan(run));
    record_end(&files->record, RECORD_PLAN);
    WEFT_TRY(create_output(run));
    WEFT_TRY(array_run_read(files, array_run_element(p->precision, p->kind == WEFT_C2C)));
    WEFT_TRY(array_run_execute(files, WEFT_CONVOLVE, "convolving"));
    WEFT_TRY(array_run_write(files));
    return write_octree(run, false);
}

/* Releases what only a convolution holds, which the rest of the run does not need. */
static weft_status convolve_and_release(void *argument) {
    convolve_run *run = argument;
    char sentence[1024];
    weft_status status = convolve(run);
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    weft_array_close(&run->kernel_file);
    free(run->kernel);
    weft_thread_error_set(sentence);
    return status;
}

static int convolve_main(int argc, char **argv, int ranks) {
    convolve_flags flags = {.boundaries = 0};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    weft_status status = options_parse(&convolve_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = convolve_flags_check(&flags);
    if (status == WEFT_SUCCESS) status = array_run_join(&shared, &world);
    if (status != WEFT_SUCCESS) return world_leave(&world, status);

    convolve_run run = {
        .files = {.shared = &shared,
                  .world = &world,
                  .record = {.command = "convolve",
                             .input = parsed.positional[0],
                             .kernel = parsed.positional[1],
                             .output = parsed.positional[2],
                             .convolution = &run.problem,
                             .round_trip = -1.0}},
        .flags = &flags,
    };
    return array_run_do(&run.files, convolve_and_release, &run);
}

const subcommand convolve_command = {
    .name = "convolve",
    .arguments = "IN KERNEL OUT",
    .summary = "Convolves an array in a file with a kernel into another file.",
    .notes =
        "Files: NumPy .npy, HDF5 FILE.h5:/dataset, raw .raw or .bin (with --shape and --dtype);\n"
        "only to be read, VTK images .vtk and .vti, or FILE.vti:array where there are several.\n"
        "KERNEL is a file of as many axes as IN, which every process reads whole, or built in:\n"
        "  gaussian:sigma=2 or gaussian:sigma=2,1,0.5   the normal density, sigma along each axis\n"
        "  poisson                                      u of -Laplacian u = IN\n"
        "  screened-poisson:lambda=0.1                  u of (lambda^2 - Laplacian) u = IN\n"
        "  heat:t=3                                     u(t) of du/dt = Laplacian u, u(0) = IN\n"
        "  riesz:s=1.5                                  (-Laplacian)^(s/2) IN\n"
        "  derivative:order=1,0,0                       of this order along each axis\n"
        "  laplacian                                    the sum of all second derivatives\n"
        "  gradient                                     a vector: OUT's first axis has the\n"
        "                                               components\n"
        "  divergence, curl, leray                      of a vector, the first axis of IN; leray "
        "is\n"
        "                                               its part without divergence\n"
        "  elastic:lame=1,0.5                           the strain of a stress: xx, yy, zz, yz, "
        "xz,\n"
        "                                               xy, the first axis of IN and OUT\n"
        "Lengths are in units of --length, or in points without it. A file of such a name wins if\n"
        "the name has a dot or a slash and the file exists; ./NAME is always a file.\n"
        "Boundaries say what IN is beyond its box: periodic; linear, 0, as scipy.signal.convolve\n"
        "and its modes; free, 0, the result as large as IN, with poisson and screened-poisson of\n"
        "unbounded space; dirichlet, odd about the faces; neumann, even about them, as\n"
        "scipy.ndimage's reflect. Built-in kernels take no linear axes.\n"
        "A kernel in a file begins at --origin, the index of displacement 0 along each axis. "
        "center\n"
        "is (m - 1) / 2 of m elements, rounded down; scipy.ndimage.convolve has m / 2 instead, "
        "the\n"
        "same where m is odd. Along linear axes it does not matter. Along dirichlet and neumann\n"
        "axes the kernel is symmetric about it; with origin 0 the file is half of such a kernel.\n"
        "Precision is double, but single for f2, f4 and c8 input, unless --precision says "
        "otherwise.\n"
        "poisson, riesz with s below 0 and screened-poisson:lambda=0 need --zero where no axis is\n"
        "free or dirichlet: 0 gives the result of mean 0.\n"
        "An existing OUT is replaced once everything succeeded. In an existing HDF5 file only the\n"
        "dataset is replaced or added; the others are kept.",
    .examples = "weft convolve image.npy gaussian:sigma=2 smooth.npy --boundary neumann\n"
                "weft --ranks 4 convolve density.h5:/rho poisson potential.h5:/phi --zero 0\n"
                "weft convolve signal.npy kernel.npy out.npy --boundary linear --mode same",
    .flags = convolve_option_flags,
    .shared = true,
    .least = 3,
    .most = 3,
    .run = convolve_main,
};
