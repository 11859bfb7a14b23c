/*
 * weft homogenize CASE.json: from the image of a microstructure to its effective stiffness or
 * conductivity. What it computes is in apps/homogenize; flags, processes and files are here.
 */
#include "array_run.h"
#include "homogenize_checkpoint.h"
#include "homogenize_fields.h"
#include "homogenize_picture.h"
#include "io/agreement.h"
#include "memory.h"
#include "picture.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct homogenize_tool {
    const shared_options *shared;
    command_world *world;
    bool resume;
    homogenize_job job;
    homogenize_checkpoint checkpoint;
    progress progress;
    double solved; /* share of the load that is being solved, by its residuals so far */
} homogenize_tool;

/* ---- the run ---- */

static const char *report_path(const homogenize_tool *tool) {
    return tool->shared->report ? tool->shared->report : tool->job.c.out.report;
}

/* The report and the picture, which rank 0 writes. */
static weft_status check_files(const homogenize_tool *tool) {
    weft_status status = WEFT_SUCCESS;
    if (tool->world->rank == 0) status = record_check_path(report_path(tool));
    if (tool->world->rank == 0 && status == WEFT_SUCCESS)
        status = record_check_path(tool->job.c.out.picture);
    return weft_array_agree(tool->world->comm, status);
}

/* Residuals fall by about the same factor in each iteration: on a scale of their logarithms the
 * load is done so far. It ends with the last iteration at the latest. */
static double share_of(const homogenize_case *c, const homogenize_result *r) {
    const double first = r->history[0], most = c->max_iterations;
    const double share = r->residual > c->tolerance && first > r->residual
                             ? log(first / r->residual) / log(first / c->tolerance)
                             : (double)(r->residual <= c->tolerance);
    return fmax(share, r->iterations / most);
}

static void note(void *argument, const homogenize_result *result) {
    static const char *const stages[] = {"load 1 of 6", "load 2 of 6", "load 3 of 6", "load 4 of 6",
                                         "load 5 of 6", "load 6 of 6", "load 1 of 3", "load 2 of 3",
                                         "load 3 of 3", "solving"};
    homogenize_tool *tool = argument;
    const int loads = homogenize_job_loads(&tool->job), load = tool->job.results - 1;
    const int stage = loads == 6 ? load : loads == 3 ? 6 + load : 9;
    tool->solved = fmax(tool->solved, share_of(&tool->job.c, result));
    progress_share(&tool->progress, stages[stage], (load + tool->solved) / loads);
}

static void begin_load(void *argument, int load) {
    (void)load;
    ((homogenize_tool *)argument)->solved = 0;
}

static weft_status rest(void *argument, bool last) {
    return homogenize_checkpoint_rest(&((homogenize_tool *)argument)->checkpoint, last);
}

static weft_status end_load(void *argument, int load) {
    homogenize_tool *tool = argument;
    const homogenize_case *c = &tool->job.c;
    if (c->out.fields || (c->out.picture && load == 0)) WEFT_TRY(homogenize_show(&tool->job.run));
    if (load == 0) WEFT_TRY(homogenize_picture_write(&tool->job));
    WEFT_TRY(homogenize_fields_write(&tool->job, load));
    return homogenize_checkpoint_end_load(&tool->checkpoint);
}

static weft_status write_results(const homogenize_tool *tool) {
    const homogenize_job *job = &tool->job;
    const char *path = report_path(tool);
    char plan[512];
    if (tool->world->rank > 0) return WEFT_SUCCESS;
    WEFT_TRY(record_describe_plan(job->green.plan, plan, sizeof plan));
    if (!tool->shared->quiet) homogenize_job_print(job, plan);
    if (!path) return WEFT_SUCCESS;
    json_t *report = homogenize_job_report(job);
    if (!report) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the report");
    return record_write_json(path, RECORD_ALL_DIGITS, report);
}

static weft_status homogenize(homogenize_tool *tool) {
    homogenize_job *job = &tool->job;
    const double available = memory_available("", true);
    progress_stage(&tool->progress, "reading", 0);
    WEFT_TRY(homogenize_job_open(job));
    if (tool->shared->precision_given) job->c.precision = tool->shared->precision;
    WEFT_TRY(check_files(tool));
    if (job->c.out.picture != NULL) WEFT_TRY(picture_check(job->c.out.picture));
    WEFT_TRY(homogenize_fields_check(job));
    WEFT_TRY(memory_check(tool->world, homogenize_job_estimate(job), available));
    WEFT_TRY(homogenize_job_prepare(job));
    const homogenize_listener listener = {
        .begins = begin_load, .noted = note, .rests = rest, .ended = end_load, .argument = tool};
    WEFT_TRY(homogenize_checkpoint_begin(job, tool->resume, &tool->checkpoint));
    progress_stage(&tool->progress, "solving", 0);
    WEFT_TRY(homogenize_job_solve(job, &listener));
    WEFT_TRY(weft_array_agree(tool->world->comm, write_results(tool)));
    homogenize_checkpoint_remove(&tool->checkpoint);
    return WEFT_SUCCESS;
}

/* Releases everything, and keeps the sentence of a failure. */
static weft_status homogenize_and_release(homogenize_tool *tool) {
    char sentence[WEFT_ERROR_BYTES];
    const bool speaks = tool->world->rank == 0;
    progress_begin(&tool->progress, speaks && !tool->shared->quiet,
                   speaks && tool->shared->progress);
    weft_status status = homogenize(tool);
    progress_end(&tool->progress);
    if (status != WEFT_SUCCESS) status = homogenize_checkpoint_explain(&tool->checkpoint, status);
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    homogenize_checkpoint_release(&tool->checkpoint);
    homogenize_job_release(&tool->job);
    weft_thread_error_set(sentence);
    return status;
}

/* ---- flags ---- */

static weft_status set_resume(void *target, const char *value) {
    (void)value;
    *(bool *)target = true;
    return WEFT_SUCCESS;
}

static const option_flag homogenize_flags[] = {
    {"resume", NULL, "go on from the checkpoint of a run that was stopped, if there is one",
     set_resume},
    {.name = NULL}};

static weft_status check_flags(const shared_options *shared) {
    if (shared->plan.device == WEFT_HOST && homogenize_streams(&shared->plan))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "--stream: fields pass a device on their way; give --device cuda, or drop "
                         "it");
    if (shared->trace) return WRONG("--trace belongs to single transforms; drop it");
    return WEFT_SUCCESS;
}

static int homogenize_main(int argc, char **argv, int ranks) {
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    bool resume = false;
    weft_status status = options_parse(&homogenize_command, argc, argv, &shared, &resume, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = check_flags(&shared);
    if (status == WEFT_SUCCESS) status = array_run_join(&shared, &world);
    if (status != WEFT_SUCCESS) return world_leave(&world, status);

    homogenize_tool tool = {.shared = &shared,
                            .world = &world,
                            .resume = resume,
                            .job = {.comm = world.comm,
                                    .rank = world.rank,
                                    .ranks = world.ranks,
                                    .name = parsed.positional[0],
                                    .options = shared.plan}};
    return world_leave(&world, homogenize_and_release(&tool));
}

const subcommand homogenize_command = {
    .name = "homogenize",
    .arguments = "CASE.json",
    .summary = "Effective stiffness or conductivity of a microstructure.",
    .notes =
        "CASE.json names a volume of labels and a material for each, for example\n"
        "  {\"labels\": \"spheres.npy\",\n"
        "   \"phases\": [{\"label\": 0, \"E\": 3, \"nu\": 0.35}, {\"label\": 1, \"E\": 70, \"nu\": "
        "0.2}]}\n"
        "Keys (docs/homogenization.md tells of each):\n"
        "  labels          .npy, HDF5 FILE.h5:/dataset, VTK's .vtk and .vti; beside CASE.json\n"
        "  length          of the box along each axis; default: its voxels, 1 apart\n"
        "  physics         elasticity (default), conduction\n"
        "  phases          label, and E and nu, lambda and mu, K and G, or stiffness (6 x 6, with\n"
        "                  notation voigt or mandel); rotation; of conduction conductivity\n"
        "  load            all (default): unit strains; or {strain, stress}, {gradient, flux}: "
        "means,"
        "\n"
        "                  null where the other is given; tensor components xx yy zz yz xz xy\n"
        "  discretization  staggered, willot, fourier, hexahedra (full integration; with cg, on\n"
        "                  the host); default: staggered where phases allow it, else willot\n"
        "  convolution     exact (default), or {method: samples, tolerance}: few messages\n"
        "  solver          cg (default), basic, eyre-milton, barzilai-borwein\n"
        "  tolerance, max_iterations, unconverged (error or accept), reference, precision\n"
        "  output          the report, as --report\n"
        "  fields          strain and stress of every voxel, FILE.h5, with FILE.xdmf for ParaView\n"
        "  checkpoint      {file, iterations, seconds}: what a run that is stopped goes on from\n"
        "                  with --resume, after so many iterations or seconds (default 600)\n"
        "  picture         a slice of the labels and of von Mises' stress under the first load, "
        "FILE.png\n"
        "--device cuda or opencl holds the fields on GPUs, one for each process; with --stream\n"
        "they stay in host memory, and pass the GPU while they are transformed.\n"
        "The report has the stiffness in Voigt's and Mandel's notation, bounds, residuals, and "
        "means\n"
        "of each phase.",
    .examples = "weft --ranks 4 homogenize case.json\n"
                "weft --ranks 4 homogenize case.json --report stiffness.json --resume",
    .flags = homogenize_flags,
    .shared = true,
    .least = 1,
    .most = 1,
    .run = homogenize_main,
};
