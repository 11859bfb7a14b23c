/* Times of a run: taken, gathered, and printed as a summary of a few lines. */
#include "record.h"

#include "io/agreement.h"
#include "options.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *record_stage_name(const run_record *record, record_stage stage) {
    const char *const names[RECORD_STAGES] = {"plan", "read", record->command, "write"};
    return names[stage];
}

void record_start(run_record *record, const command_world *world) {
    MPI_Barrier(world->comm);
    record->origin = weft_clock();
}

void record_begin(run_record *record, record_stage stage) {
    record->mine.begin[stage] = weft_clock() - record->origin;
}

void record_end(run_record *record, record_stage stage) {
    record->mine.end[stage] = weft_clock() - record->origin;
}

/* The plan's spans change with its next execution. */
static weft_status copy_spans(run_record *record) {
    const weft_span *spans;
    int count;
    weft_options options = {0};
    WEFT_TRY(weft_plan_options(record->plan, &options));
    if (!options.trace) return WEFT_SUCCESS;
    WEFT_TRY(weft_plan_trace(record->plan, &spans, &count));
    const size_t all = (size_t)record->span_count + (size_t)count;
    weft_span *more = realloc(record->spans, all * sizeof *more + 1);
    if (more == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a trace");
    record->spans = more;
    for (int i = 0; i < count; i++) {
        weft_span *span = &more[record->span_count++];
        *span = spans[i];
        span->begin -= record->origin;
        span->end -= record->origin;
    }
    return WEFT_SUCCESS;
}

weft_status record_timings(run_record *record) {
    weft_timings t;
    WEFT_TRY(weft_plan_timings(record->plan, &t));
    rank_times *mine = &record->mine;
    mine->total += t.total;
    mine->fft += t.fft;
    mine->pack += t.pack;
    mine->exchange += t.exchange;
    mine->unpack += t.unpack;
    mine->copy += t.copy;
    mine->local += t.local;
    mine->bytes_sent += (double)t.bytes_sent;
    mine->messages_sent += (double)t.messages_sent;
    return copy_spans(record);
}

/* Spans in bytes, since MPI has no type for them. */
static weft_status gather_spans(run_record *record, const command_world *world) {
    int mine = (int)((size_t)record->span_count * sizeof(weft_span)), total = 0;
    int *bytes = NULL, *begins = NULL;
    weft_status status = WEFT_SUCCESS;
    if (world->rank == 0) {
        size_t ranks = (size_t)world->ranks;
        bytes = calloc(ranks, sizeof *bytes);
        begins = calloc(ranks, sizeof *begins);
        record->all_span_counts = calloc(ranks, sizeof *record->all_span_counts);
        if (bytes == NULL || begins == NULL || record->all_span_counts == NULL)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a trace");
    }
    status = weft_array_agree(world->comm, status);
    if (status == WEFT_SUCCESS) {
        MPI_Gather(&mine, 1, MPI_INT, bytes, 1, MPI_INT, 0, world->comm);
        for (int r = 0; world->rank == 0 && r < world->ranks; r++) {
            begins[r] = total;
            total += bytes[r];
            record->all_span_counts[r] = bytes[r] / (int)sizeof(weft_span);
        }
        if (world->rank == 0 && (record->all_spans = malloc((size_t)total + 1)) == NULL)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a trace");
        status = weft_array_agree(world->comm, status);
    }
    if (status == WEFT_SUCCESS)
        MPI_Gatherv(record->spans, mine, MPI_BYTE, record->all_spans, bytes, begins, MPI_BYTE, 0,
                    world->comm);
    free(bytes);
    free(begins);
    return status;
}

weft_status record_gather(run_record *record, const command_world *world) {
    enum { NUMBERS = sizeof(rank_times) / sizeof(double) };
    weft_status status = WEFT_SUCCESS;
    if (world->rank == 0) {
        record->all = calloc((size_t)world->ranks, sizeof *record->all);
        if (record->all == NULL)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the times of %d ranks",
                               world->ranks);
    }
    WEFT_TRY(weft_array_agree(world->comm, status));
    MPI_Gather(&record->mine, NUMBERS, MPI_DOUBLE, record->all, NUMBERS, MPI_DOUBLE, 0,
               world->comm);
    return gather_spans(record, world);
}

void record_release(run_record *record) {
    free(record->all);
    free(record->spans);
    free(record->all_spans);
    free(record->all_span_counts);
}

/* Appends to a text, which is cut where it does not fit. */
static void append(char *text, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t capacity, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, capacity - length, format, arguments);
    va_end(arguments);
}

weft_status record_describe_plan(weft_plan plan, char *text, size_t capacity) {
    weft_options o = {0};
    WEFT_TRY(weft_plan_options(plan, &o));
    snprintf(text, capacity, "%s", weft_decomposition_name(o.decomposition));
    for (int a = 0; a < WEFT_MAX_RANK && o.grid[a] > 0; a++)
        append(text, capacity, "%s%d", a == 0 ? " " : "x", o.grid[a]);
    append(text, capacity, ", %s", weft_variant_name(o.variant));
    for (int k = 0; k < WEFT_MAX_RANK && o.exchange[k] != WEFT_EXCHANGE_AUTO; k++)
        append(text, capacity, "%s%s", k == 0 ? ", " : "+", weft_exchange_name(o.exchange[k]));
    append(text, capacity, ", engine %s on %s", weft_engine_name(o.engine),
           weft_device_name(o.device));
    return WEFT_SUCCESS;
}

/* What has become of elements that no transform works on. */
static void print_conversion(weft_element element, weft_precision precision) {
    const bool wide = element == WEFT_ELEMENT_I64 || element == WEFT_ELEMENT_U64;
    if (!weft_element_whole(element) && element != WEFT_ELEMENT_F2) return;
    printf(", read as %s%s", precision == WEFT_SINGLE ? "f4" : "f8",
           wide ? " (rounded beyond 2^53)" : "");
}

static void print_array(const char *name, const weft_array_info *info) {
    printf("%s: %s", name, weft_element_name(info->element));
    for (int a = 0; a < info->rank; a++)
        printf("%s%lld", a == 0 ? " " : "x", (long long)info->n[a]);
}

/* The largest of a time over the ranks; `offset` is its place in rank_times. */
static double most(const run_record *record, const command_world *world, size_t offset) {
    double largest = 0.0, value;
    for (int r = 0; r < world->ranks; r++) {
        memcpy(&value, (const char *)&record->all[r] + offset, sizeof value);
        if (value > largest) largest = value;
    }
    return largest;
}

/* Whether some axis is not as the kind says. */
static bool has_axes(const weft_problem *p) {
    for (int a = 0; a < p->rank; a++)
        if (p->axis[a] != WEFT_AXIS_OF_KIND) return true;
    return false;
}

/* "double r2c convolution with KERNEL, boundary periodic,linear, mode full" */
static void print_convolution(const weft_convolution_problem *p, const char *kernel) {
    bool linear = false;
    printf("%s %s %s %s, boundary ", weft_precision_name(p->precision), weft_kind_name(p->kind),
           p->deconvolve  ? "deconvolution of"
           : p->correlate ? "correlation with"
                          : "convolution with",
           kernel);
    for (int a = 0; a < p->rank; a++) {
        printf("%s%s", a == 0 ? "" : ",", weft_boundary_name(p->boundary[a]));
        linear = linear || p->boundary[a] == WEFT_LINEAR;
    }
    if (linear) printf(", mode %s", weft_convolution_mode_name(p->mode));
}

static void print_transform(const weft_problem *p, weft_direction direction) {
    char axes[AXES_TEXT_BYTES];
    options_axes_text(p->axis, p->rank, axes, sizeof axes);
    printf("%s %s %s%s%s", weft_precision_name(p->precision), weft_kind_name(p->kind),
           has_axes(p) ? axes : "", has_axes(p) ? " " : "",
           direction == WEFT_FORWARD ? "forward" : "inverse");
}

weft_status record_print(const run_record *record, const command_world *world) {
    static const struct {
        const char *name;
        size_t offset;
    } phases[] = {
        {"fft", offsetof(rank_times, fft)},           {"pack", offsetof(rank_times, pack)},
        {"exchange", offsetof(rank_times, exchange)}, {"unpack", offsetof(rank_times, unpack)},
        {"copy", offsetof(rank_times, copy)},         {"local", offsetof(rank_times, local)}};
    char plan[512];
    WEFT_TRY(record_describe_plan(record->plan, plan, sizeof plan));
    print_array(record->input, &record->input_info);
    print_conversion(record->input_info.element, record->convolution != NULL
                                                     ? record->convolution->precision
                                                     : record->problem->precision);
    printf(" -> ");
    print_array(record->output, &record->output_info);
    printf("\n");
    if (record->convolution != NULL)
        print_convolution(record->convolution, record->kernel);
    else
        print_transform(record->problem, record->direction);
    printf(" on %d rank%s: %s\n", world->ranks, world->ranks > 1 ? "s" : "", plan);
    printf("%s %.6f s:", record->command, most(record, world, offsetof(rank_times, total)));
    for (size_t p = 0; p < sizeof phases / sizeof *phases; p++)
        printf("%s %s %.6f", p > 0 ? "," : "", phases[p].name,
               most(record, world, phases[p].offset));
    double sent = 0.0, spent[RECORD_STAGES] = {0};
    for (int r = 0; r < world->ranks; r++) {
        sent += record->all[r].bytes_sent;
        for (int s = 0; s < RECORD_STAGES; s++) {
            double seconds = record->all[r].end[s] - record->all[r].begin[s];
            if (seconds > spent[s]) spent[s] = seconds;
        }
    }
    printf("\nplan %.3f s, read %.3f s, write %.3f s; %.0f bytes sent\n", spent[RECORD_PLAN],
           spent[RECORD_READ], spent[RECORD_WRITE], sent);
    if (record->round_trip >= 0.0)
        printf("round trip: relative L2 error %.2e\n", record->round_trip);
    return WEFT_SUCCESS;
}
