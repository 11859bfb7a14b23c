/*
 * weft transform IN OUT: each rank reads its box of the input, the plan transforms, each rank
 * writes its box of the output.
 */
#include "array_run.h"
#include "io/agreement.h"
#include "support/axis.h"
#include "support/error.h"
#include "window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct transform_flags {
    bool inverse, check;
    int64_t last_axis; /* 0: not given */
    weft_norm norm;
    axis_list axes;
    weft_window window; /* along every axis as it is loaded */
    raw_description raw;
    file_stream_flags stream;
} transform_flags;

typedef struct transform_run {
    array_run files;
    const transform_flags *flags;
    weft_problem problem;
    weft_operator load;
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

static weft_status set_restartable(void *target, const char *value) {
    return file_stream_set_restartable(&((transform_flags *)target)->stream, value);
}

static weft_status set_resume(void *target, const char *value) {
    (void)value;
    ((transform_flags *)target)->stream.resume = true;
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
    return options_raw_shape("shape", value, &((transform_flags *)target)->raw);
}

static weft_status set_dtype(void *target, const char *value) {
    return options_raw_type("dtype", value, &((transform_flags *)target)->raw);
}

static const option_flag transform_option_flags[] = {
    {"inverse", NULL, "inverse transform of a complex array, or with --axes", set_inverse},
    {"axes", "T[,T2]",
     "dct1 to dct4, dst1 to dst4, none, fft or real: for all axes, or each its own; default fft",
     set_axes},
    {"last-axis", "N",
     "with --inverse: back to a real array whose last (fft) axis has N; default: to a complex one",
     set_last_axis},
    {"norm", "backward|ortho|forward|none",
     "which direction is scaled, as NumPy has it; default backward", set_norm},
    {"window", "W[,KIND]",
     "window along all axes: hann, kaiser:BETA, ...; periodic or symmetric; default: none",
     set_window},
    {"shape", "AxBxC", "shape of a raw input (needed there)", set_shape},
    {"dtype", WEFT_ELEMENT_WORDS, "element type of a raw input (needed there)", set_dtype},
    {"check", NULL, "transform back and print the round-trip error", set_check},
    {"restartable", "[=durable]",
     "with --stream: what is done is kept if the run is stopped; durable: or the machine fails; "
     "default: it is not kept",
     set_restartable},
    {"resume", NULL, "go on with what a run that was stopped has kept, if there is any",
     set_resume},
    {NULL, NULL, NULL, NULL}};

/* The kind of transform that suits the elements of the input and the axes. */
static weft_status choose_kind(transform_run *run, bool complex) {
    const transform_flags *flags = run->flags;
    weft_problem *p = &run->problem;
    WEFT_TRY(options_axes_of(&flags->axes, p->rank, p->axis));
    const bool fft = options_axes_have_fft(p->axis, p->rank);
    if (fft && flags->inverse && !complex)
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT, "%s: its elements are %s; --inverse needs a complex array",
            run->files.record.input, weft_element_name(run->files.record.input_info.element));
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
    const weft_array_info *info = &run->files.record.input_info;
    const bool single = weft_element_single(info->element);
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
                         run->files.record.input, last, (long long)extent,
                         (long long)flags->last_axis, (long long)(flags->last_axis / 2 + 1),
                         (long long)(extent > 1 ? 2 * extent - 2 : 1), (long long)(2 * extent - 1));
    if (flags->last_axis > 0) p->n[last] = flags->last_axis;
    p->norm = flags->norm;
    p->precision = run->files.shared->precision_given ? run->files.shared->precision
                   : single                           ? WEFT_SINGLE
                                                      : WEFT_DOUBLE;
    if (flags->window.kind == WEFT_WINDOW_NONE) return WEFT_SUCCESS;
    run->load.kind = WEFT_OPERATOR_WINDOW;
    for (int a = 0; a < p->rank; a++) run->load.window[a] = flags->window;
    p->load = (weft_operators){&run->load, 1};
    return WEFT_SUCCESS;
}

static weft_element element_of(const weft_problem *problem, weft_space space) {
    bool complex = problem->kind == WEFT_C2C || (problem->kind == WEFT_R2C && space == WEFT_OUTPUT);
    return array_run_element(problem->precision, complex);
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

/* The storage of a mapped array of real numbers that plans convert; WEFT_STORAGE_SAME for others.
 */
static weft_storage storage_of(weft_element element) {
    switch (element) {
    case WEFT_ELEMENT_U8:
        return WEFT_STORAGE_U8;
    case WEFT_ELEMENT_I16:
        return WEFT_STORAGE_I16;
    case WEFT_ELEMENT_U16:
        return WEFT_STORAGE_U16;
    case WEFT_ELEMENT_F2:
        return WEFT_STORAGE_HALF;
    case WEFT_ELEMENT_F4:
        return WEFT_STORAGE_FLOAT;
    case WEFT_ELEMENT_F8:
        return WEFT_STORAGE_DOUBLE;
    default:
        return WEFT_STORAGE_SAME;
    }
}

/* What is streamed comes from the files themselves, so that memory need not hold the arrays: where
 * the input has the numbers that are worked on, or some that a plan converts, as they lie in
 * memory.
 */
static weft_status decide_mapping(transform_run *run) {
    array_run *files = &run->files;
    const weft_options *o = &files->shared->plan;
    const weft_array_info *info = &files->record.input_info;
    const weft_element wanted =
        element_of(&run->problem, run->flags->inverse ? WEFT_OUTPUT : WEFT_INPUT);
    if (o->stream != WEFT_STREAM_ON && o->stream != WEFT_STREAM_SYNC) return WEFT_SUCCESS;
    if (files->world->ranks > 1 && o->device != WEFT_HOST)
        return WEFT_SUCCESS; /* from memory, through the device */
    const bool same = info->element == wanted, lies_well = weft_array_can_map(files->input);
    const weft_storage storage =
        same || run->flags->inverse ? WEFT_STORAGE_SAME : storage_of(info->element);
    files->stream.maps = (same || storage != WEFT_STORAGE_SAME) &&
                         weft_array_can_map(files->input) && weft_array_maps(files->record.output);
    if (files->stream.maps) run->problem.load_storage = storage;
    if (files->stream.maps && run->flags->check)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "--check holds an array in memory, which --stream avoids; drop one");
    if (files->stream.maps || o->device != WEFT_HOST) return WEFT_SUCCESS;
    if (!lies_well) return weft_array_check_map(files->input);
    if (!weft_array_maps(files->record.output))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "--stream: files with the name of %s are not streamed; name FILE.npy or "
                         "FILE.raw",
                         files->record.output);
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "--stream: %s must hold %s%s; convert it first",
                     files->record.input, weft_element_name(wanted),
                     run->flags->inverse || weft_element_complex(wanted)
                         ? ""
                         : ", u8, i16, u16 or other floating-point numbers");
}

static weft_status make_plan(transform_run *run) {
    array_run *files = &run->files;
    weft_space from = run->flags->inverse ? WEFT_OUTPUT : WEFT_INPUT;
    weft_space to = run->flags->inverse ? WEFT_INPUT : WEFT_OUTPUT;
    weft_options options = array_run_options(files);
    weft_plan *plan = &files->record.plan;
    size_t back = 0;
    WEFT_TRY(weft_array_agree(files->world->comm, decide_mapping(run)));
    WEFT_TRY(file_stream_check(files));
    const double held = files->stream.maps ? 0 : arrays_bytes(run);
    WEFT_TRY(array_run_create_context(files, held / files->world->ranks));
    WEFT_TRY(weft_array_agree(files->world->comm,
                              weft_plan_create(files->context, &run->problem, &options, plan)));
    if (run->flags->check) WEFT_TRY(weft_plan_bytes(*plan, from, &back));
    return array_run_allocate(files, from, to, (double)back);
}

static weft_status create_output(transform_run *run) {
    const weft_problem *p = &run->problem;
    weft_array_info *info = &run->files.record.output_info;
    info->element = element_of(p, run->flags->inverse ? WEFT_INPUT : WEFT_OUTPUT);
    info->rank = p->rank;
    for (int a = 0; a < p->rank; a++)
        info->n[a] = extent_of(p, run->flags->inverse ? WEFT_INPUT : WEFT_OUTPUT, a);
    return array_run_create_output(&run->files);
}

/* Sums |back/scale - in|^2 and |in|^2 over this rank's box. */
static void compare(const transform_run *run, const void *back, double scale, double sums[2]) {
    const weft_problem *p = &run->problem;
    weft_element element = element_of(p, WEFT_INPUT);
    size_t number = p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    int64_t count = array_run_box_bytes(&run->files.in_box, p->rank, element) / (int64_t)number;
    for (int64_t i = 0; i < count; i++) {
        double was = p->precision == WEFT_SINGLE ? ((const float *)run->files.in)[i]
                                                 : ((const double *)run->files.in)[i];
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
    array_run *files = &run->files;
    MPI_Comm comm = files->world->comm;
    double elements = 1.0, sums[2] = {0.0, 0.0}, all[2];
    for (int a = 0; a < run->problem.rank; a++) elements *= (double)run->problem.n[a];
    weft_status status = weft_array_agree(comm, array_run_buffer(files, files->in_bytes, &back));
    if (status == WEFT_SUCCESS)
        status = weft_array_agree(comm,
                                  weft_execute(files->record.plan, WEFT_INVERSE, files->out, back));
    if (status != WEFT_SUCCESS) {
        free(back);
        return status;
    }
    compare(run, back, run->problem.norm == WEFT_NORM_NONE ? gain(&run->problem) : 1.0, sums);
    free(back);
    MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, comm);
    const double error = all[1] > 0.0 ? sqrt(all[0] / all[1]) : sqrt(all[0]);
    files->record.round_trip = error;
    double unit = run->problem.precision == WEFT_SINGLE ? 6.0e-8 : 1.1e-16;
    double bound = 10.0 * unit * (1.0 + log2(elements));
    if (error <= bound) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_ENGINE,
                     "the round-trip error %.2e exceeds %.2e: the engine or the machine computes "
                     "wrongly; try --engine reference",
                     error, bound);
}

static weft_status transform(void *argument) {
    transform_run *run = argument;
    array_run *files = &run->files;
    const weft_space from = run->flags->inverse ? WEFT_OUTPUT : WEFT_INPUT;
    WEFT_TRY(array_run_open(files, options_raw(&run->flags->raw)));
    WEFT_TRY(describe_problem(run));
    progress_stage(&files->progress, "planning", 0);
    record_begin(&files->record, RECORD_PLAN);
    WEFT_TRY(make_plan(run));
    record_end(&files->record, RECORD_PLAN);
    WEFT_TRY(create_output(run));
    WEFT_TRY(array_run_read(files, element_of(&run->problem, from)));
    WEFT_TRY(array_run_execute(files, run->flags->inverse ? WEFT_INVERSE : WEFT_FORWARD,
                               "transforming"));
    if (run->flags->check) WEFT_TRY(check_round_trip(run));
    return array_run_write(files);
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
    return options_raw_check(&flags->raw, "shape", "dtype");
}

static int transform_main(int argc, char **argv, int ranks) {
    transform_flags flags = {.norm = WEFT_NORM_BACKWARD};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    weft_status status = options_parse(&transform_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = check_flags(&flags);
    if (status == WEFT_SUCCESS) status = array_run_join(&shared, &world);
    if (status != WEFT_SUCCESS) return world_leave(&world, status);

    transform_run run = {
        .files = {.shared = &shared,
                  .world = &world,
                  .record = {.command = "transform",
                             .input = parsed.positional[0],
                             .output = parsed.positional[1],
                             .problem = &run.problem,
                             .direction = flags.inverse ? WEFT_INVERSE : WEFT_FORWARD,
                             .round_trip = -1.0},
                  .stream = {.flags = flags.stream}},
        .flags = &flags,
    };
    return array_run_do(&run.files, transform, &run);
}

const subcommand transform_command = {
    .name = "transform",
    .arguments = "IN OUT",
    .summary = "Transforms an array in a file into another file, each process its own part.",
    .notes =
        "Files: NumPy .npy, HDF5 FILE.h5:/dataset, raw .raw or .bin (with --shape and --dtype);\n"
        "only to be read, VTK images .vtk and .vti, or FILE.vti:array where there are several.\n"
        "A real array gives the half spectrum of numpy.fft.rfftn, a complex one that of fftn.\n"
        "--window hann, hamming, blackman, blackman-harris, flat-top, kaiser:BETA, gaussian:SIGMA\n"
        "or tukey:ALPHA are those of scipy.signal.windows, the product over all axes.\n"
        "--inverse of a complex array is ifftn; with --last-axis N it is irfftn.\n"
        "--axes dct2 is scipy.fft.dctn, and with --inverse idctn; --axes dst1,none,dct2 is "
        "another\n"
        "one along each axis, real to real. Of complex arrays both parts are transformed. With "
        "fft\n"
        "among them, real arrays give the half spectrum along the last axis that is fft.\n"
        "Precision is double, but single for f2, f4 and c8 input, unless --precision says "
        "otherwise.\n"
        "An existing OUT is replaced once everything succeeded. In an existing HDF5 file only the\n"
        "dataset is replaced or added; the others are kept.",
    .examples = "weft --ranks 4 transform volume.npy spectrum.npy\n"
                "weft --ranks 4 transform spectrum.npy back.npy --inverse --last-axis 181\n"
                "weft transform field.npy modes.npy --axes dct2,dst1,dct2\n"
                "weft transform big.npy spectrum.npy --stream --memory-limit 4G",
    .flags = transform_option_flags,
    .shared = true,
    .least = 2,
    .most = 2,
    .run = transform_main,
};
