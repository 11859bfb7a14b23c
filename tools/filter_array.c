/* weft filter of an array in a file: a convolution whose kernel is the filter, over ranks. */
#include "array_run.h"
#include "filter_run.h"
#include "io/agreement.h"
#include "support/error.h"

#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct filter_array {
    array_run files;
    const filter_flags *flags;
    weft_convolution_problem problem;
    filter_part part[FILTER_MOST_PARTS];
    filter filter;
} filter_array;

static weft_status check_boundary(const filter_array *run) {
    const filter *f = &run->filter;
    if (run->flags->spectrum != NULL)
        return WRONG(
            "--spectrum belongs to pictures; drop it, and see weft transform and weft view");
    if (run->flags->boundary == FILTER_ZERO)
        return WRONG("--boundary zero belongs to pictures; give periodic or mirror");
    for (int i = 0; i < f->parts && run->flags->boundary == FILTER_MIRROR; i++)
        if (!filter_is_even(&f->part[i], f->rank))
            return WRONG("--%s %s: with --boundary mirror an array takes filters that lie along "
                         "its axes; give --boundary periodic",
                         run->flags->name[i], run->flags->text[i]);
    return WEFT_SUCCESS;
}

static weft_status describe(filter_array *run) {
    const array_run *files = &run->files;
    const weft_array_info *info = &files->record.input_info;
    const filter_axes axes = {.rank = info->rank, .picture = false};
    weft_convolution_problem *p = &run->problem;
    array_run_describe_field(files, p);
    WEFT_TRY(filter_flags_parts(run->flags, &axes, run->part));
    run->filter = (filter){.rank = info->rank, .parts = run->flags->parts, .part = run->part};
    for (int a = 0; a < p->rank && run->flags->boundary == FILTER_MIRROR; a++)
        p->boundary[a] = WEFT_NEUMANN;
    p->kernel.kind = WEFT_KERNEL_FUNCTION;
    p->kernel.function = filter_kernel;
    p->kernel.argument = &run->filter;
    return check_boundary(run);
}

/* Each rank's share of the array, of the result, and of the filter's responses. */
static double least_bytes(const filter_array *run) {
    const weft_convolution_problem *p = &run->problem;
    double bytes = (double)weft_element_bytes(array_run_element(p->precision, p->kind == WEFT_C2C));
    for (int a = 0; a < p->rank; a++) bytes *= (double)p->n[a];
    return 3 * bytes / run->files.world->ranks;
}

static weft_status make_plan(filter_array *run) {
    array_run *files = &run->files;
    const weft_options options = array_run_options(files);
    WEFT_TRY(array_run_create_context(files, least_bytes(run)));
    weft_status status =
        weft_convolution_create(files->context, &run->problem, &options, &files->record.plan);
    if (status == WEFT_SUCCESS) status = filter_flags_check_values(run->flags, run->part);
    WEFT_TRY(weft_array_agree(files->world->comm, status));
    return array_run_allocate(files, WEFT_INPUT, WEFT_OUTPUT, 0.0);
}

static weft_status filter_files(void *argument) {
    filter_array *run = argument;
    array_run *files = &run->files;
    WEFT_TRY(array_run_open(files, options_raw(&run->flags->raw)));
    WEFT_TRY(describe(run));
    progress_stage(&files->progress, "planning", 0);
    record_begin(&files->record, RECORD_PLAN);
    WEFT_TRY(make_plan(run));
    record_end(&files->record, RECORD_PLAN);
    const weft_element element =
        array_run_element(run->problem.precision, run->problem.kind == WEFT_C2C);
    files->record.output_info = files->record.input_info;
    files->record.output_info.element = element;
    WEFT_TRY(array_run_create_output(files));
    WEFT_TRY(array_run_read(files, element));
    WEFT_TRY(array_run_execute(files, WEFT_CONVOLVE, "filtering"));
    return array_run_write(files);
}

int filter_array_run(const filter_flags *flags, const shared_options *shared,
                     const parsed_arguments *parsed) {
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    weft_status status = array_run_join(shared, &world);
    if (status != WEFT_SUCCESS) return world_leave(&world, status);
    filter_array run = {.files = {.shared = shared,
                                  .world = &world,
                                  .record = {.command = "filter",
                                             .input = parsed->positional[0],
                                             .kernel = flags->name[0],
                                             .output = parsed->positional[1],
                                             .convolution = &run.problem,
                                             .round_trip = -1.0}},
                        .flags = flags};
    const int exit_status = array_run_do(&run.files, filter_files, &run);
    filter_flags_release(flags, run.part);
    return exit_status;
}
