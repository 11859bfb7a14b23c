/*
 * weft plan: explains what would be done, on any number of processes, without them.
 */
#include "launch.h"
#include "names.h"
#include "options.h"
#include "record.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct plan_flags {
    int rank;
    int64_t n[WEFT_MAX_RANK];
    weft_kind kind;
    axis_list axes;
    int64_t batch;
    bool json;
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

static const option_flag plan_option_flags[] = {
    {"shape", "AxBxC", "shape of the array in real space (needed)", set_shape},
    {"kind", "KIND", "r2c (default), c2c, or r2r (with --axes)", set_kind},
    {"axes", "T[,T2]",
     "dct1 to dct4, dst1 to dst4, none, fft or real: for all axes, or each its own", set_axes},
    {"batch", "N", "number of arrays transformed together", set_batch},
    {"json", NULL, "explain as JSON", set_json},
    {NULL, NULL, NULL, NULL}};

/* Explains into `stream`. */
static weft_status explain(const plan_flags *flags, const shared_options *shared, FILE *stream,
                           weft_format format) {
    weft_context context = NULL;
    weft_plan plan = NULL;
    weft_context_options context_options = {.simulated_ranks =
                                                shared->ranks > 0 ? shared->ranks : 1};
    weft_problem problem = {.rank = flags->rank,
                            .kind = flags->kind,
                            .precision = shared->precision,
                            .batch = flags->batch};
    weft_options options = shared->plan;
    if (options.stream == WEFT_STREAM_ON || options.stream == WEFT_STREAM_SYNC)
        options.location = WEFT_LOCATION_HOST; /* where what is streamed lies */
    memcpy(problem.n, flags->n, sizeof problem.n);
    weft_status status = options_axes_of(&flags->axes, problem.rank, problem.axis);
    if (status == WEFT_SUCCESS) status = weft_context_create(&context_options, &context);
    if (status == WEFT_SUCCESS) status = weft_plan_create(context, &problem, &options, &plan);
    if (status == WEFT_SUCCESS) status = weft_plan_explain(plan, stream, format);
    weft_plan_destroy(&plan);
    weft_context_destroy(&context);
    return status;
}

/* The explanation as a document of its own. */
static weft_status write_report(const plan_flags *flags, const shared_options *shared) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the report");
    weft_status status = explain(flags, shared, stream, WEFT_JSON);
    fclose(stream);
    if (status == WEFT_SUCCESS)
        status = record_write_json(shared->report, RECORD_TIME_DIGITS,
                                   json_pack("{s:s, s:s, s:o}", "weft", weft_version(), "command",
                                             "plan", "plan", json_loadb(text, length, 0, NULL)));
    free(text);
    return status;
}

static int plan_main(int argc, char **argv, int ranks) {
    plan_flags flags = {.kind = WEFT_R2C, .batch = 1};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world alone = {.ranks = 1};
    weft_status status = options_parse(&plan_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS && flags.rank == 0)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "plan: give the shape, such as --shape 256x256x256");
    if (status == WEFT_SUCCESS && flags.kind == WEFT_R2R && flags.axes.count == 0)
        status =
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "plan: --kind r2r needs the transforms of its axes, such as --axes dct2");
    if (status == WEFT_SUCCESS && shared.trace != NULL)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "--trace: plan runs nothing that could be traced; drop it");
    /* Under mpirun one process explains; the others would say the same. */
    if (status == WEFT_SUCCESS && launch_rank_hint() > 0) return 0;
    if (status == WEFT_SUCCESS && !shared.quiet)
        status = explain(&flags, &shared, stdout, flags.json ? WEFT_JSON : WEFT_TEXT);
    if (status == WEFT_SUCCESS && shared.report != NULL) status = write_report(&flags, &shared);
    return world_leave(&alone, status);
}

const subcommand plan_command = {
    .name = "plan",
    .arguments = "",
    .summary = "Explains, without running it, how a transform would be done.",
    .notes = "--ranks P plans for P processes; none are started.",
    .flags = plan_option_flags,
    .shared = true,
    .least = 0,
    .most = 0,
    .run = plan_main,
};
