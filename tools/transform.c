/*
 * weft transform IN OUT: each rank reads its box of the input, the plan transforms, each rank
 * writes its box of the output.
 */
#include "interrupt.h"
#include "io/agreement.h"
#include "launch.h"
#include "memory.h"
#include "options.h"
#include "progress.h"
#include "record.h"
#include "support/axis.h"
#include "support/error.h"
#include "window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

typedef struct transform_flags {
    bool inverse, check;
    int64_t last_axis; /* 0: not given */
    weft_norm norm;
    axis_list axes;
    weft_window window; /* along every axis as it is loaded */
    bool shaped, typed; /* of a raw input */
    weft_array_info raw;
} transform_flags;

/* All that a run holds, so that one place releases it. */
typedef struct transform_run {
    const shared_options *shared;
    const transform_flags *flags;
    command_world *world;
    weft_array *input, *output;
    weft_context context;
    weft_problem problem;
    weft_operator load;
    weft_box in_box, out_box;
    size_t in_bytes, out_bytes;
    void *in, *out;
    progress progress;
    run_record record;
} transform_run;

static weft_status set_inverse(void *target, const char *value) {
    (void)value;
    ((transform_flags *)target)->inverse = true;
    return WEFT_SUCCESS;
}

static weft_status set_check(void *target, const char *value) {
    (void)value;
    ((transform_flags *)target)->check = true;
    return WEFT_SUCCESS;
}

static weft_status set_last_axis(void *target, const char *value) {
    return options_integer("last-axis", value, 1, &((transform_flags *)target)->last_axis);
}

static weft_status set_norm(void *target, const char *value) {
    static const char *const names[] = {"none", "backward", "ortho", "forward"};
    for (int n = 0; n < 4; n++) {
        if (strcmp(value, names[n]) != 0) continue;
        ((transform_flags *)target)->norm = (weft_norm)n;
        return WEFT_SUCCESS;
    }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "--norm %s: give backward, ortho, forward or none", value);
}

static weft_status set_axes(void *target, const char *value) {
    return options_axes(value, &((transform_flags *)target)->axes);
}

static weft_status set_window(void *target, const char *value) {
    return window_parse("window", value, &((transform_flags *)target)->window);
}

static weft_status set_shape(void *target, const char *value) {
    transform_flags *flags = target;
    flags->shaped = true;
    return options_shape("shape", value, &flags->raw.rank, flags->raw.n);
}

static weft_status set_dtype(void *target, const char *value) {
    transform_flags *flags = target;
    flags->typed = weft_element_parse(value, &flags->raw.element);
    if (flags->typed) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "--dtype %s: give u8, i16, u16, i32, f4, f8, c8 or c16", value);
}

static const option_flag transform_option_flags[] = {
    {"inverse", NULL, "inverse transform of a complex array, or with --axes", set_inverse},
    {"axes", "T[,T2]", "dct1 to dct4, dst1 to dst4, none or fft: for all axes, or each its own",
     set_axes},
    {"last-axis", "N", "with --inverse: back to a real array whose last (fft) axis has N",
     set_last_axis},
    {"norm", "NORM", "backward (default), ortho, forward, none", set_norm},
    {"window", "W[,KIND]", "window along all axes: hann, kaiser:BETA, ...; periodic or symmetric",
     set_window},
    {"shape", "AxBxC", "shape of a raw input", set_shape},
    {"dtype", "TYPE", "element type of a raw input: u8 i16 u16 i32 f4 f8 c8 c16", set_dtype},
    {"check", NULL, "transform back and print the round-trip error", set_check},
    {NULL, NULL, NULL, NULL}};

/* The kind of transform that suits the elements of the input and the axes. */
static weft_status choose_kind(transform_run *run, bool complex) {
    const transform_flags *flags = run->flags;
    weft_problem *p = &run->problem;
    WEFT_TRY(options_axes_of(&flags->axes, p->rank, p->axis));
    const bool fft = options_axes_have_fft(p->axis, p->rank);
    if (fft && flags->inverse && !complex)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its elements are %s; --inverse needs a complex array",
                         run->record.input, weft_element_name(run->record.input_info.element));
    if (!fft && flags->last_axis > 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--last-axis belongs to half spectra, and --axes has no fft; drop it");
    if (!fft && !complex)
        p->kind = WEFT_R2R;
    else
        p->kind = !complex || flags->last_axis > 0 ? WEFT_R2C : WEFT_C2C;
    return WEFT_SUCCESS;
}

/* What the transform computes, from the type of the input and the flags. */
static weft_status describe_problem(transform_run *run) {
    const transform_flags *flags = run->flags;
    const weft_array_info *info = weft_array_describe(run->input);
    const bool single = info->element == WEFT_ELEMENT_F4 || info->element == WEFT_ELEMENT_C8;
    weft_problem *p = &run->problem;
    p->rank = info->rank;
    memcpy(p->n, info->n, sizeof p->n);
    WEFT_TRY(choose_kind(run, weft_element_complex(info->element)));
    const int last = flags->last_axis > 0 ? weft_axis_halved(p) : 0;
    const int64_t extent = info->n[last];
    if (flags->last_axis > 0 && flags->last_axis / 2 + 1 != extent)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its axis %d has %lld elements, but the half spectrum of "
                         "--last-axis %lld has %lld; give %lld or %lld",
                         run->record.input, last, (long long)extent, (long long)flags->last_axis,
                         (long long)(flags->last_axis / 2 + 1),
                         (long long)(extent > 1 ? 2 * extent - 2 : 1), (long long)(2 * extent - 1));
    if (flags->last_axis > 0) p->n[last] = flags->last_axis;
    p->norm = flags->norm;
    p->precision = run->shared->precision_given ? run->shared->precision
                   : single                     ? WEFT_SINGLE
                                                : WEFT_DOUBLE;
    if (flags->window.kind == WEFT_WINDOW_NONE) return WEFT_SUCCESS;
    run->load.kind = WEFT_OPERATOR_WINDOW;
    for (int a = 0; a < p->rank; a++) run->load.window[a] = flags->window;
    p->load = (weft_operators){&run->load, 1};
    return WEFT_SUCCESS;
}

static weft_element element_of(const weft_problem *problem, weft_space space) {
    bool complex = problem->kind == WEFT_C2C || (problem->kind == WEFT_R2C && space == WEFT_OUTPUT);
    if (problem->precision == WEFT_SINGLE) return complex ? WEFT_ELEMENT_C8 : WEFT_ELEMENT_F4;
    return complex ? WEFT_ELEMENT_C16 : WEFT_ELEMENT_F8;
}

static weft_status allocate(const transform_run *run, size_t bytes, void **buffer) {
    if (posix_memalign(buffer, 64, bytes > 0 ? bytes : 64) == 0) return WEFT_SUCCESS;
    *buffer = NULL;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "rank %d: no memory for a buffer of %zu bytes; use more processes",
                     run->world->rank, bytes);
}

/* Elements along an axis in a space. */
static int64_t extent_of(const weft_problem *p, weft_space space, int axis) {
    const bool halved = space == WEFT_OUTPUT && axis == weft_axis_halved(p);
    return halved ? p->n[axis] / 2 + 1 : p->n[axis];
}

/* What all ranks together need whatever the plan: so much is known before a plan takes memory. */
static double arrays_bytes(const transform_run *run) {
    const weft_problem *p = &run->problem;
    double in = (double)weft_element_bytes(element_of(p, WEFT_INPUT));
    double out = (double)weft_element_bytes(element_of(p, WEFT_OUTPUT));
    for (int a = 0; a < p->rank; a++) {
        in *= (double)extent_of(p, WEFT_INPUT, a);
        out *= (double)extent_of(p, WEFT_OUTPUT, a);
    }
    return in + out + (run->flags->check ? in : 0.0);
}

/* Its arrays, and what its plan holds on the host. */
static double bytes_of_this_rank(const transform_run *run) {
    weft_memory plan = {0};
    bool on_host = run->shared->plan.device == WEFT_HOST;
    if (weft_plan_memory(run->record.plan, &plan) != WEFT_SUCCESS) return 0.0;
    return (double)run->in_bytes * (run->flags->check ? 2 : 1) + (double)run->out_bytes +
           (double)(on_host ? plan.total : plan.page_locked + plan.tables);
}

static weft_status make_plan(transform_run *run) {
    weft_space from = run->flags->inverse ? WEFT_OUTPUT : WEFT_INPUT;
    weft_space to = run->flags->inverse ? WEFT_INPUT : WEFT_OUTPUT;
    weft_options options = run->shared->plan;
    options.location = WEFT_LOCATION_HOST;
    options.placement = WEFT_OUT_OF_PLACE;
    options.trace = run->shared->trace != NULL;
    MPI_Comm comm = run->world->comm;
    double available = memory_available("", true);
    WEFT_TRY(memory_check(run->world, arrays_bytes(run) / run->world->ranks, available));
    WEFT_TRY(weft_array_agree(comm, weft_mpi_context_create(comm, NULL, &run->context)));
    weft_plan *plan = &run->record.plan;
    WEFT_TRY(weft_array_agree(comm, weft_plan_create(run->context, &run->problem, &options, plan)));
    int rank = run->world->rank;
    WEFT_TRY(weft_plan_box(*plan, from, rank, &run->in_box));
    WEFT_TRY(weft_plan_box(*plan, to, rank, &run->out_box));
    WEFT_TRY(weft_plan_bytes(*plan, from, &run->in_bytes));
    WEFT_TRY(weft_plan_bytes(*plan, to, &run->out_bytes));
    WEFT_TRY(memory_check(run->world, bytes_of_this_rank(run), available));
    weft_status status = allocate(run, run->in_bytes, &run->in);
    if (status == WEFT_SUCCESS) status = allocate(run, run->out_bytes, &run->out);
    return weft_array_agree(comm, status);
}

static int64_t box_bytes(const weft_box *box, int rank, weft_element element) {
    int64_t bytes = (int64_t)weft_element_bytes(element);
    for (int a = 0; a < rank; a++) bytes *= box->n[a];
    return bytes;
}

static weft_status create_output(transform_run *run) {
    const weft_problem *p = &run->problem;
    weft_array_info *info = &run->record.output_info;
    info->element = element_of(p, run->flags->inverse ? WEFT_INPUT : WEFT_OUTPUT);
    info->rank = p->rank;
    for (int a = 0; a < p->rank; a++)
        info->n[a] = extent_of(p, run->flags->inverse ? WEFT_INPUT : WEFT_OUTPUT, a);
    /* Rank 0 creates the file, and must know of it before a signal ends the process. */
    if (run->world->rank == 0) interrupt_waits();
    weft_status status = weft_array_create(run->world->comm, run->record.output, info,
                                           interrupt_removes, &run->output);
    if (run->world->rank == 0) interrupt_goes_on();
    return status;
}

static weft_status read_input(transform_run *run) {
    weft_element wanted = element_of(&run->problem, run->flags->inverse ? WEFT_OUTPUT : WEFT_INPUT);
    weft_element stored = run->record.input_info.element;
    progress_stage(&run->progress, "reading", box_bytes(&run->in_box, run->problem.rank, stored));
    weft_array_count(run->input, &run->progress.done);
    record_begin(&run->record, RECORD_READ);
    weft_status status = weft_array_read(run->input, &run->in_box, wanted, run->in);
    record_end(&run->record, RECORD_READ);
    return status;
}

/* Sums |back/scale - in|^2 and |in|^2 over this rank's box. */
static void compare(const transform_run *run, const void *back, double scale, double sums[2]) {
    const weft_problem *p = &run->problem;
    weft_element element = element_of(p, WEFT_INPUT);
    size_t number = p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    int64_t count = box_bytes(&run->in_box, p->rank, element) / (int64_t)number;
    for (int64_t i = 0; i < count; i++) {
        double was = p->precision == WEFT_SINGLE ? ((const float *)run->in)[i]
                                                 : ((const double *)run->in)[i];
        double is =
            p->precision == WEFT_SINGLE ? ((const float *)back)[i] : ((const double *)back)[i];
        sums[0] += (is / scale - was) * (is / scale - was);
        sums[1] += was * was;
    }
}

/* What an inverse after a forward transform multiplies by without a norm. */
static double gain(const weft_problem *p) {
    double all = 1.0;
    for (int a = 0; a < p->rank; a++) all *= weft_axis_length(p->axis[a], p->n[a]);
    return all;
}

static weft_status check_round_trip(transform_run *run) {
    void *back = NULL;
    MPI_Comm comm = run->world->comm;
    double elements = 1.0, sums[2] = {0.0, 0.0}, all[2];
    for (int a = 0; a < run->problem.rank; a++) elements *= (double)run->problem.n[a];
    weft_status status = weft_array_agree(comm, allocate(run, run->in_bytes, &back));
    if (status == WEFT_SUCCESS)
        status =
            weft_array_agree(comm, weft_execute(run->record.plan, WEFT_INVERSE, run->out, back));
    if (status != WEFT_SUCCESS) {
        free(back);
        return status;
    }
    compare(run, back, run->problem.norm == WEFT_NORM_NONE ? gain(&run->problem) : 1.0, sums);
    free(back);
    MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, comm);
    run->record.round_trip = all[1] > 0.0 ? sqrt(all[0] / all[1]) : sqrt(all[0]);
    double unit = run->problem.precision == WEFT_SINGLE ? 6.0e-8 : 1.1e-16;
    double bound = 10.0 * unit * (1.0 + log2(elements));
    if (run->record.round_trip <= bound) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_ENGINE,
                     "the round-trip error %.2e exceeds %.2e: the engine or the machine computes "
                     "wrongly; try --engine reference",
                     run->record.round_trip, bound);
}

static weft_status execute(transform_run *run) {
    weft_direction direction = run->flags->inverse ? WEFT_INVERSE : WEFT_FORWARD;
    progress_stage(&run->progress, "transforming", 0);
    record_begin(&run->record, RECORD_TRANSFORM);
    WEFT_TRY(weft_array_agree(run->world->comm,
                              weft_execute(run->record.plan, direction, run->in, run->out)));
    record_end(&run->record, RECORD_TRANSFORM);
    WEFT_TRY(weft_array_agree(run->world->comm, record_timings(&run->record)));
    return run->flags->check ? check_round_trip(run) : WEFT_SUCCESS;
}

static weft_status write_output(transform_run *run) {
    weft_element element = run->record.output_info.element;
    progress_stage(&run->progress, "writing", box_bytes(&run->out_box, run->problem.rank, element));
    weft_array_count(run->output, &run->progress.done);
    record_begin(&run->record, RECORD_WRITE);
    weft_status status = weft_array_write(run->output, &run->out_box, run->out);
    status = weft_array_commit(&run->output, status);
    if (run->world->rank == 0) interrupt_removes(NULL);
    record_end(&run->record, RECORD_WRITE);
    return status;
}

/* The report and the trace, which rank 0 writes at the end. */
static weft_status check_other_files(const transform_run *run) {
    weft_status status = WEFT_SUCCESS;
    if (run->world->rank == 0) {
        status = record_check_path(run->shared->report);
        if (status == WEFT_SUCCESS) status = record_check_path(run->shared->trace);
    }
    return weft_array_agree(run->world->comm, status);
}

static weft_status transform(transform_run *run) {
    const transform_flags *flags = run->flags;
    const weft_array_info *raw = flags->shaped && flags->typed ? &flags->raw : NULL;
    record_start(&run->record, run->world);
    WEFT_TRY(check_other_files(run));
    WEFT_TRY(weft_array_open(run->world->comm, run->record.input, raw, &run->input));
    run->record.input_info = *weft_array_describe(run->input);
    WEFT_TRY(describe_problem(run));
    progress_stage(&run->progress, "planning", 0);
    record_begin(&run->record, RECORD_PLAN);
    WEFT_TRY(make_plan(run));
    record_end(&run->record, RECORD_PLAN);
    WEFT_TRY(create_output(run));
    WEFT_TRY(read_input(run));
    WEFT_TRY(execute(run));
    WEFT_TRY(write_output(run));
    return WEFT_SUCCESS;
}

/* Summary, report and trace; rank 0 writes them. */
static weft_status tell(transform_run *run) {
    const shared_options *shared = run->shared;
    weft_status status = record_gather(&run->record, run->world);
    if (run->world->rank == 0) {
        if (status == WEFT_SUCCESS && !shared->quiet)
            status = record_print(&run->record, run->world);
        if (status == WEFT_SUCCESS && shared->report != NULL)
            status = record_report(&run->record, run->world, shared->report);
        if (status == WEFT_SUCCESS && shared->trace != NULL)
            status = record_trace(&run->record, run->world, shared->trace);
    }
    return weft_array_agree(run->world->comm, status);
}

static void release(transform_run *run) {
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    weft_array_close(&run->input);
    weft_array_close(&run->output);
    free(run->in);
    free(run->out);
    record_release(&run->record);
    weft_plan_destroy(&run->record.plan);
    weft_context_destroy(&run->context);
    weft_thread_error_set(sentence);
}

static weft_status check_flags(const transform_flags *flags) {
    if (flags->last_axis > 0 && !flags->inverse)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--last-axis belongs to --inverse; add it");
    if (flags->check && flags->inverse)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--check starts with the forward transform; drop --inverse");
    if (flags->window.kind != WEFT_WINDOW_NONE && (flags->inverse || flags->check))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--window is for the forward transform, and nothing gives back what it "
                         "takes away; drop --%s",
                         flags->inverse ? "inverse" : "check");
    if (flags->shaped != flags->typed)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--shape and --dtype describe a raw input together; give both");
    return WEFT_SUCCESS;
}

static int transform_main(int argc, char **argv, int ranks) {
    transform_flags flags = {.norm = WEFT_NORM_BACKWARD};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    weft_status status = options_parse(&transform_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = check_flags(&flags);
    if (status == WEFT_SUCCESS)
        status = launch_ranks(shared.ranks, shared.plan.threads, launch_arguments);
    if (status == WEFT_SUCCESS)
        status = world_join(&world, shared.ranks, options_use_streams(&shared));
    if (status != WEFT_SUCCESS) return world_leave(&world, status);

    transform_run run = {
        .shared = &shared,
        .flags = &flags,
        .world = &world,
        .record = {.command = "transform",
                   .input = parsed.positional[0],
                   .output = parsed.positional[1],
                   .problem = &run.problem,
                   .direction = flags.inverse ? WEFT_INVERSE : WEFT_FORWARD,
                   .round_trip = -1.0},
    };
    progress_begin(&run.progress, world.rank == 0 && !shared.quiet);
    status = transform(&run);
    progress_end(&run.progress);
    if (status == WEFT_SUCCESS) status = tell(&run);
    release(&run);
    return world_leave(&world, status);
}

const subcommand transform_command = {
    .name = "transform",
    .arguments = "IN OUT",
    .summary = "Transforms an array in a file into another file, each process its own part.",
    .notes =
        "Files: NumPy .npy, HDF5 FILE.h5:/dataset, raw .raw or .bin (with --shape and --dtype).\n"
        "A real array gives the half spectrum of numpy.fft.rfftn, a complex one that of fftn.\n"
        "--window hann, hamming, blackman, blackman-harris, flat-top, kaiser:BETA, gaussian:SIGMA\n"
        "or tukey:ALPHA are those of scipy.signal.windows, the product over all axes.\n"
        "--inverse of a complex array is ifftn; with --last-axis N it is irfftn.\n"
        "--axes dct2 is scipy.fft.dctn, and with --inverse idctn; --axes dst1,none,dct2 is "
        "another\n"
        "one along each axis, real to real. Of complex arrays both parts are transformed. With "
        "fft\n"
        "among them, real arrays give the half spectrum along the last axis that is fft.\n"
        "Precision is double, but single for f4 and c8 input, unless --precision says otherwise.\n"
        "An existing OUT is replaced once everything succeeded. In an existing HDF5 file only the\n"
        "dataset is replaced or added; the others are kept.",
    .flags = transform_option_flags,
    .shared = true,
    .least = 2,
    .most = 2,
    .run = transform_main,
};
