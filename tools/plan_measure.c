/* Runs of a plan that is there to be explained. */
#include "plan_measure.h"

#include "io/agreement.h"
#include "memory.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RUNS = 5, MOST_RUNS = 100000 };

/* The phases that predictions and clocks tell apart. Transforms load and store blocks of an
 * exchange, so packing is what is left of it. */
enum { FFT, COPY, EXCHANGE, PHASES };
static const char *const phase_name[PHASES] = {"transforms", "copies and packing", "exchange"};

/* A plan with arrays for it. */
typedef struct trial {
    const command_world *world;
    weft_plan plan;
    void *in, *out;
    double best[1 + PHASES]; /* seconds of the best run, and of its phases */
    int runs;
} trial;

/* Numbers between 1 and 2, whatever their precision: nothing is denormal, and none grows. */
static void fill(void *array, size_t bytes, bool single) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < bytes / 8; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        ((uint64_t *)array)[i] = single ? (state >> 9 & 0x007fffff007fffffu) | 0x3f8000003f800000u
                                        : state >> 12 | 0x3ff0000000000000u;
    }
}

/* Page-locked, where the plan computes on a device. */
static weft_status allocate(trial *t, weft_precision precision) {
    size_t in = 0, out = 0;
    WEFT_TRY(weft_plan_bytes(t->plan, WEFT_INPUT, &in));
    WEFT_TRY(weft_plan_bytes(t->plan, WEFT_OUTPUT, &out));
    WEFT_TRY(memory_check(t->world, (double)in + (double)out, memory_available("", true)));
    weft_status status = weft_host_buffer_create(t->plan, in + 1, &t->in);
    if (status == WEFT_SUCCESS) status = weft_host_buffer_create(t->plan, out + 1, &t->out);
    WEFT_TRY(weft_array_agree(t->world->comm, status));
    fill(t->in, in, precision == WEFT_SINGLE);
    memset(t->out, 0, out);
    return WEFT_SUCCESS;
}

static weft_status run_once(trial *t, double now[1 + PHASES]) {
    weft_timings timings = {0};
    MPI_Barrier(t->world->comm);
    const double start = weft_clock();
    WEFT_TRY(weft_execute(t->plan, WEFT_FORWARD, t->in, t->out));
    now[0] = weft_clock() - start;
    WEFT_TRY(weft_plan_timings(t->plan, &timings));
    now[1 + FFT] = timings.fft;
    now[1 + COPY] = timings.pack + timings.unpack + timings.copy + timings.local;
    now[1 + EXCHANGE] = timings.exchange;
    return WEFT_SUCCESS;
}

/* A run counts by its slowest rank, and so does each of its phases. */
static weft_status run_for(trial *t, double seconds) {
    const double begin = weft_clock();
    double now[2 + PHASES] = {0}; /* with the time so far */
    t->best[0] = 1e300;
    for (int run = 0; run < LEAST_RUNS || (now[1 + PHASES] < seconds && run < MOST_RUNS); run++) {
        WEFT_TRY(weft_array_agree(t->world->comm, run_once(t, now)));
        now[1 + PHASES] = weft_clock() - begin;
        MPI_Allreduce(MPI_IN_PLACE, now, 2 + PHASES, MPI_DOUBLE, MPI_MAX, t->world->comm);
        if (run > 0 && now[0] < t->best[0]) memcpy(t->best, now, sizeof t->best);
        t->runs = run; /* the first one warms up */
    }
    return WEFT_SUCCESS;
}

/* The forward schedule out of place in the plan's report. */
static const json_t *forward_schedule(const json_t *report) {
    size_t i;
    const json_t *schedule;
    json_array_foreach(json_object_get(report, "schedules"), i, schedule) {
        const char *direction = json_string_value(json_object_get(schedule, "direction"));
        if (direction && strcmp(direction, "forward") == 0 &&
            !json_is_true(json_object_get(schedule, "in_place")))
            return schedule;
    }
    return NULL;
}

static int phase_of(const json_t *step) {
    const char *kind = json_string_value(json_object_get(step, "step"));
    if (kind && strcmp(kind, "fft") == 0) return FFT;
    return kind && strcmp(kind, "exchange") == 0 ? EXCHANGE : COPY;
}

static weft_status predictions(weft_plan plan, double predicted[1 + PHASES]) {
    char *text = NULL;
    size_t length = 0, i;
    const json_t *step;
    FILE *stream = open_memstream(&text, &length);
    if (!stream) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "plan: no memory for the report");
    const weft_status status = weft_plan_explain(plan, stream, WEFT_JSON);
    fclose(stream);
    json_t *report = status == WEFT_SUCCESS ? json_loadb(text, length, 0, NULL) : NULL;
    const json_t *schedule = forward_schedule(report);
    memset(predicted, 0, (1 + PHASES) * sizeof *predicted);
    json_array_foreach(json_object_get(schedule, "steps"), i, step) {
        const double seconds = json_number_value(json_object_get(step, "predicted_seconds"));
        predicted[0] += seconds;
        predicted[1 + phase_of(step)] += seconds;
    }
    json_decref(report);
    free(text);
    return status;
}

static json_t *describe(const trial *t, const double predicted[1 + PHASES]) {
    json_t *phases = json_object();
    for (int p = 0; p < PHASES; p++)
        json_object_set_new(phases, phase_name[p],
                            json_pack("{s:f, s:f}", "seconds", t->best[1 + p], "predicted_seconds",
                                      predicted[1 + p]));
    return json_pack("{s:i, s:f, s:f, s:o}", "runs", t->runs, "seconds", t->best[0],
                     "predicted_seconds", predicted[0], "phases", phases);
}

weft_status plan_measure(const command_world *world, weft_plan plan, weft_precision precision,
                         double seconds, json_t **measured) {
    trial t = {.world = world, .plan = plan};
    double predicted[1 + PHASES];
    *measured = NULL;
    weft_status status = weft_array_agree(world->comm, predictions(plan, predicted));
    if (status == WEFT_SUCCESS) status = allocate(&t, precision);
    if (status == WEFT_SUCCESS) status = run_for(&t, seconds);
    if (status == WEFT_SUCCESS && world->rank == 0) *measured = describe(&t, predicted);
    weft_host_buffer_destroy(plan, &t.in);
    weft_host_buffer_destroy(plan, &t.out);
    return status;
}

static void print_line(const char *name, const json_t *times) {
    printf("  %-20s %10.4g %10.4g\n", name,
           1e3 * json_number_value(json_object_get(times, "predicted_seconds")),
           1e3 * json_number_value(json_object_get(times, "seconds")));
}

void plan_measure_print(const json_t *measured) {
    const double took = json_number_value(json_object_get(measured, "seconds"));
    const double thought = json_number_value(json_object_get(measured, "predicted_seconds"));
    printf("best of %d forward runs, in ms:\n  %-20s %10s %10s\n",
           (int)json_integer_value(json_object_get(measured, "runs")), "", "predicted", "measured");
    for (int p = 0; p < PHASES; p++)
        print_line(phase_name[p],
                   json_object_get(json_object_get(measured, "phases"), phase_name[p]));
    print_line("all", measured);
    printf("  predicted %+.0f %%\n", took > 0 ? 100 * (thought / took - 1) : 0);
}
