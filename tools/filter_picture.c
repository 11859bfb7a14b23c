/* weft filter of a picture: one process reads it, filters it and writes it. */
#include "filter/image.h"
#include "filter_run.h"
#include "interrupt.h"
#include "memory.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct picture_run {
    const filter_flags *flags;
    const shared_options *shared;
    const char *input, *output;
    image in, out, spectrum;
    weft_context context;
    filter_part part[FILTER_MOST_PARTS];
    picture_filter *filter;
    double seconds;
} picture_run;

/* Flags that only runs over ranks and files of arrays have a use for. */
static weft_status check_flags(const picture_run *run) {
    const weft_options *plan = &run->shared->plan;
    const char *idle = run->shared->report != NULL               ? "report"
                       : run->shared->trace != NULL              ? "trace"
                       : plan->stream != WEFT_STREAM_AUTO        ? "stream"
                       : plan->exchange[0] != WEFT_EXCHANGE_AUTO ? "exchange"
                       : run->flags->raw.shaped                  ? "shape"
                                                                 : NULL;
    if (run->shared->ranks > 1)
        return WRONG("%s: a picture is filtered by one process; drop --ranks", run->input);
    if (idle != NULL) return WRONG("--%s belongs to arrays in files; drop it", idle);
    return WEFT_SUCCESS;
}

/* The outputs are checked before anything is computed. */
static weft_status make_images(picture_run *run) {
    image *out = &run->out, *spectrum = &run->spectrum;
    const int times = run->flags->boundary == FILTER_PERIODIC ? 1 : 2;
    WEFT_TRY(image_check_output(run->output, &run->in));
    *out = (image){.rows = run->in.rows,
                   .columns = run->in.columns,
                   .channels = run->in.channels,
                   .bytes = run->in.bytes};
    *spectrum = (image){.rows = run->in.rows * times,
                        .columns = run->in.columns * times,
                        .channels = run->in.channels,
                        .bytes = 1};
    if (run->flags->spectrum != NULL) WEFT_TRY(image_check_output(run->flags->spectrum, spectrum));
    WEFT_TRY(image_create(out, false));
    if (run->flags->spectrum == NULL) return WEFT_SUCCESS;
    return image_create(spectrum, false);
}

static weft_status make_filter(picture_run *run) {
    const weft_storage storage = run->in.bytes == 1 ? WEFT_STORAGE_U8 : WEFT_STORAGE_U16;
    const filter_axes axes = {.rank = 2, .picture = true};
    const picture_filter_problem problem = {
        .rows = run->in.rows,
        .columns = run->in.columns,
        .channels = run->in.channels,
        .from = storage,
        .to = storage,
        .white = run->in.bytes == 1 ? 255 : 65535,
        .boundary = run->flags->boundary,
        .precision = run->shared->precision_given ? run->shared->precision : WEFT_SINGLE,
        .spectrum = run->flags->spectrum != NULL,
        .memory = memory_available("", true)};
    WEFT_TRY(filter_flags_parts(run->flags, &axes, run->part));
    WEFT_TRY(weft_context_create(NULL, &run->context));
    WEFT_TRY(picture_filter_create(run->context, &problem, &run->shared->plan, &run->filter));
    const filter wanted = {.rank = 2, .parts = run->flags->parts, .part = run->part};
    WEFT_TRY(picture_filter_set(run->filter, &wanted));
    return filter_flags_check_values(run->flags, run->part);
}

static weft_status write_images(picture_run *run) {
    run->out.alpha = run->in.alpha; /* lent */
    weft_status status = image_write(run->output, &run->out, interrupt_removes);
    run->out.alpha = NULL;
    if (status == WEFT_SUCCESS && run->flags->spectrum != NULL)
        status = image_write(run->flags->spectrum, &run->spectrum, interrupt_removes);
    return status;
}

static weft_status print_summary(const picture_run *run) {
    weft_options options = {0};
    if (run->shared->quiet) return WEFT_SUCCESS;
    WEFT_TRY(weft_plan_options(picture_filter_plan(run->filter), &options));
    printf("%lld x %lld %s, %d bits%s, filtered in %.3g ms by %s on %s\n",
           (long long)run->in.columns, (long long)run->in.rows,
           run->in.channels > 1 ? "colours" : "grey", 8 * run->in.bytes,
           run->in.alpha != NULL ? " and alpha" : "", run->seconds * 1e3,
           weft_engine_name(options.engine), weft_device_name(options.device));
    return WEFT_SUCCESS;
}

static weft_status work(picture_run *run) {
    WEFT_TRY(check_flags(run));
    WEFT_TRY(image_read(run->input, memory_available("", true), &run->in));
    WEFT_TRY(make_images(run));
    WEFT_TRY(make_filter(run));
    const double begin = weft_clock();
    WEFT_TRY(
        picture_filter_run(run->filter, run->in.samples, run->out.samples, run->spectrum.samples));
    run->seconds = weft_clock() - begin;
    WEFT_TRY(write_images(run));
    return print_summary(run);
}

static weft_status work_and_release(picture_run *run) {
    char sentence[1024];
    weft_status status = work(run);
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    picture_filter_destroy(&run->filter);
    filter_flags_release(run->flags, run->part);
    weft_context_destroy(&run->context);
    image_destroy(&run->in);
    image_destroy(&run->out);
    image_destroy(&run->spectrum);
    weft_thread_error_set(sentence);
    return status;
}

int filter_picture_run(const filter_flags *flags, const shared_options *shared,
                       const parsed_arguments *parsed) {
    picture_run run = {.flags = flags,
                       .shared = shared,
                       .input = parsed->positional[0],
                       .output = parsed->positional[1]};
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    weft_status status = WEFT_SUCCESS;
    /* Under mpirun one process filters. */
    if (launch_rank_hint() >= 0) status = world_join(&world, 0, false);
    if (status == WEFT_SUCCESS && world.rank == 0) status = work_and_release(&run);
    if (world.joined) MPI_Bcast(&status, 1, MPI_INT, 0, world.comm);
    return world_leave(&world, status);
}
