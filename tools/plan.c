/*
 * weft plan: explains what would be done, on any number of processes, without them; or with them,
 * to compare what is predicted with what is measured.
 */
#include "io/agreement.h"
#include "launch.h"
#include "names.h"
#include "options.h"
#include "plan/machine_file.h"
#include "plan_forecast.h"
#include "plan_measure.h"
#include "record.h"
#include "support/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

typedef struct plan_flags {
    int rank;
    int64_t n[WEFT_MAX_RANK];
    weft_kind kind;
    axis_list axes;
    int64_t batch;
    bool json;
    int64_t seconds; /* to measure; 0: nothing is executed */
    bool best;
    forecast_range sweep;
} plan_flags;

static weft_status set_shape(void *target, const char *value) {
    plan_flags *flags = target;
    return options_shape("shape", value, &flags->rank, flags->n);
}

static weft_status set_kind(void *target, const char *value) {
    if (find_kind(value, strlen(value), &((plan_flags *)target)->kind)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--kind %s: give r2c, c2c or r2r", value);
}

static weft_status set_axes(void *target, const char *value) {
    return options_axes(value, &((plan_flags *)target)->axes);
}

static weft_status set_batch(void *target, const char *value) {
    return options_integer("batch", value, 1, &((plan_flags *)target)->batch);
}

static weft_status set_json(void *target, const char *value) {
    (void)value;
    ((plan_flags *)target)->json = true;
    return WEFT_SUCCESS;
}

static weft_status set_measure(void *target, const char *value) {
    int64_t *seconds = &((plan_flags *)target)->seconds;
    *seconds = 2;
    return value ? options_integer("measure", value, 1, seconds) : WEFT_SUCCESS;
}

static weft_status set_best(void *target, const char *value) {
    (void)value;
    ((plan_flags *)target)->best = true;
    return WEFT_SUCCESS;
}

static weft_status set_sweep(void *target, const char *value) {
    return forecast_range_read("sweep", value, &((plan_flags *)target)->sweep);
}

/* Plans look for the record where the environment says. */
static weft_status set_machine(void *target, const char *value) {
    weft_machine unused;
    char reason[512];
    (void)target;
    if (weft_machine_read(value, &unused) != WEFT_SUCCESS) {
        snprintf(reason, sizeof reason, "%s", weft_thread_error());
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--machine: %s", reason);
    }
    return setenv("WEFT_MACHINE", value, 1) == 0
               ? WEFT_SUCCESS
               : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "--machine: no memory");
}

static const option_flag plan_option_flags[] = {
    {"shape", "AxBxC", "shape of the array in real space (needed)", set_shape},
    {"kind", "r2c|c2c|r2r", "real or complex data, or real to real (with --axes); default r2c",
     set_kind},
    {"axes", "T[,T2]",
     "dct1 to dct4, dst1 to dst4, none, fft or real: for all axes, or each its own; default fft",
     set_axes},
    {"batch", "N", "number of arrays transformed together; default 1", set_batch},
    {"machine", "FILE.json",
     "predict for the machine of this file (default: that of weft tune, if there is one)",
     set_machine},
    {"measure", "[=SECONDS]",
     "execute the plan on P processes for so long (default 2), to compare predictions",
     set_measure},
    {"best", NULL,
     "compare all ways to run it, and over ranks and sizes, for a machine that need not be here",
     set_best},
    {"sweep", "WHAT=A:B",
     "CSV of the same for ranks=2:4096, size=64:2048, or a field such as rate.latency=1e-7:1e-3; "
     "default: none",
     set_sweep},
    {"json", NULL, "explain as JSON", set_json},
    {NULL, NULL, NULL, NULL}};

static weft_status fill_problem(const plan_flags *flags, const shared_options *shared,
                                weft_problem *problem) {
    *problem = (weft_problem){.rank = flags->rank,
                              .kind = flags->kind,
                              .precision = shared->precision,
                              .batch = flags->batch};
    memcpy(problem->n, flags->n, sizeof problem->n);
    return options_axes_of(&flags->axes, problem->rank, problem->axis);
}

/* A plan for processes that do not exist, or those of `world` where it was joined. Collective. */
static weft_status make_plan(const plan_flags *flags, const shared_options *shared,
                             const command_world *world, weft_context *context, weft_plan *plan) {
    weft_context_options context_options = {.simulated_ranks = shared->ranks};
    weft_problem problem;
    weft_options options = shared->plan;
    if (options.stream == WEFT_STREAM_ON || options.stream == WEFT_STREAM_SYNC || world->joined)
        options.location = WEFT_LOCATION_HOST; /* where what is streamed, or measured, lies */
    WEFT_TRY(fill_problem(flags, shared, &problem));
    WEFT_TRY(world->joined ? weft_mpi_context_create(world->comm, NULL, context)
                           : weft_context_create(&context_options, context));
    return weft_plan_create(*context, &problem, &options, plan);
}

/* The plan's report. */
static weft_status report_of(weft_plan plan, json_t **report) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the report");
    weft_status status = weft_plan_explain(plan, stream, WEFT_JSON);
    fclose(stream);
    *report = status == WEFT_SUCCESS ? json_loadb(text, length, 0, NULL) : NULL;
    free(text);
    return status;
}

static weft_status write_report(const shared_options *shared, json_t *report) {
    if (shared->report == NULL) return WEFT_SUCCESS;
    return record_write_json(
        shared->report, RECORD_TIME_DIGITS,
        json_pack("{s:s, s:s, s:O}", "weft", weft_version(), "command", "plan", "plan", report));
}

/* Whether all that was printed arrived. */
static weft_status check_printed(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "plan: standard output cannot be written: %s",
                     strerror(errno));
}

static void print_json(const json_t *report) {
    json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputc('\n', stdout);
}

/* --best and --sweep: nothing is planned, so neither processes nor devices must be there. */
static weft_status forecast(const plan_flags *flags, const shared_options *shared) {
    weft_machine_source source;
    forecast_case c = {.options = shared->plan, .ranks = shared->ranks};
    json_t *report = NULL;
    const bool quiet = shared->quiet || flags->json;
    WEFT_TRY(fill_problem(flags, shared, &c.problem));
    weft_machine_find(&source);
    c.machine = source.machine;
    c.file = source.file[0] ? source.file : NULL;
    weft_status status =
        flags->best ? plan_best(&c, quiet, &report) : plan_sweep(&c, &flags->sweep, quiet, &report);
    if (status == WEFT_SUCCESS && flags->json && !shared->quiet) print_json(report);
    if (status == WEFT_SUCCESS) status = check_printed();
    if (status == WEFT_SUCCESS) status = write_report(shared, report);
    json_decref(report);
    return status;
}

/* Prints and writes what was asked for. Takes over `measured`, which is NULL where nothing was. */
static weft_status tell(const plan_flags *flags, const shared_options *shared, weft_plan plan,
                        json_t *measured) {
    json_t *report = NULL;
    weft_status status = report_of(plan, &report);
    if (measured && report) json_object_set(report, "measured", measured);
    if (status == WEFT_SUCCESS && !shared->quiet && flags->json) {
        print_json(report);
    } else if (status == WEFT_SUCCESS && !shared->quiet) {
        status = weft_plan_explain(plan, stdout, WEFT_TEXT);
        if (measured) plan_measure_print(measured);
    }
    if (status == WEFT_SUCCESS) status = check_printed();
    if (status == WEFT_SUCCESS) status = write_report(shared, report);
    json_decref(report);
    json_decref(measured);
    return status;
}

/* Collective where `world` was joined. */
static weft_status explain(const plan_flags *flags, const shared_options *shared,
                           const command_world *world) {
    weft_context context = NULL;
    weft_plan plan = NULL;
    json_t *measured = NULL;
    weft_status status = make_plan(flags, shared, world, &context, &plan);
    if (status == WEFT_SUCCESS && world->joined)
        status = plan_measure(world, plan, shared->precision, (double)flags->seconds, &measured);
    if (status == WEFT_SUCCESS && world->rank == 0) status = tell(flags, shared, plan, measured);
    if (world->joined) status = weft_array_agree(world->comm, status);
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    weft_plan_destroy(&plan);
    weft_context_destroy(&context);
    weft_thread_error_set(sentence);
    return status;
}

static weft_status check_flags(const plan_flags *flags, const shared_options *shared) {
    const bool forecasts = flags->best || flags->sweep.what[0];
    const char *wrong =
        flags->rank == 0 ? "give the shape, such as --shape 256x256x256"
        : flags->kind == WEFT_R2R && flags->axes.count == 0
            ? "--kind r2r needs the transforms of its axes, such as --axes dct2"
        : flags->best && flags->sweep.what[0] ? "--best has sweeps of its own; drop it or --sweep"
        : forecasts && flags->seconds > 0     ? "--best and --sweep execute nothing; drop --measure"
        : forecasts && shared->plan.stream != WEFT_STREAM_AUTO
            ? "--best and --sweep know no streamed plans; drop --stream"
            : NULL;
    if (wrong) return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "plan: %s", wrong);
    if (shared->trace != NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--trace: plan runs nothing that could be traced; drop it");
    return forecasts ? WEFT_SUCCESS : options_check_back_ends(shared);
}

static int plan_main(int argc, char **argv, int ranks) {
    plan_flags flags = {.kind = WEFT_R2C, .batch = 1};
    shared_options shared = {.ranks = ranks, .may_be_absent = true};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1};
    weft_status status = options_parse(&plan_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = check_flags(&flags, &shared);
    if (status == WEFT_SUCCESS && flags.seconds > 0)
        status = launch_ranks(shared.ranks, shared.plan.threads, launch_arguments);
    if (status == WEFT_SUCCESS && flags.seconds > 0)
        status = world_join(&world, shared.ranks, options_use_streams(&shared));
    /* Under mpirun one process explains; the others would say the same. */
    if (status == WEFT_SUCCESS && !world.joined && launch_rank_hint() > 0) return 0;
    if (shared.ranks < 1) shared.ranks = launch_ranks_hint();
    if (status == WEFT_SUCCESS)
        status = flags.best || flags.sweep.what[0] ? forecast(&flags, &shared)
                                                   : explain(&flags, &shared, &world);
    return world_leave(&world, status);
}

const subcommand plan_command = {
    .name = "plan",
    .arguments = "",
    .summary = "Explains, without running it, how a transform would be done.",
    .notes =
        "--ranks P plans for P processes, by default those that mpirun started; none are "
        "started, but to --measure.\n"
        "Whether they would share a node nobody knows, so plans have peer, which needs that, where "
        "--exchange\nasks for it; --best compares it.\n"
        "Times are predicted by the record that weft tune keeps, or for a machine that nobody "
        "measured.",
    .examples = "weft plan --shape 256x256x256 --kind r2c --ranks 8\n"
                "weft plan --shape 243x250x252 --ranks 2 --measure=5\n"
                "weft plan --shape 1024x1024x1024 --ranks 4096 --machine FILE.json --best\n"
                "weft plan --shape 1024x1024x1024 --sweep ranks=1:4096 > sweep.csv",
    .flags = plan_option_flags,
    .shared = true,
    .least = 0,
    .most = 0,
    .run = plan_main,
};
