/*
 * weft tune: measures this machine for the planner's predictions, and keeps the record in a file
 * that every plan made here reads (src/plan/machine_file.h).
 */
#include "tune.h"

#include "bench/meeting.h"
#include "options.h"

#include "device/device.h"
#include "io/agreement.h"
#include "plan/machine_file.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/processor.h"
#include "support/topology.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RATES = 50,        /* about as many share the time of each round */
    ROUNDS = 4,        /* of which the best counts, ... */
    ROUNDS_SECONDS = 8 /* ... where there is so much time at least; else there is one */
};

typedef struct tune_flags {
    int64_t seconds;
    const char *output; /* NULL: where plans look for it */
} tune_flags;

static weft_status set_seconds(void *target, const char *value) {
    return options_integer("seconds", value, 1, &((tune_flags *)target)->seconds);
}

static weft_status set_output(void *target, const char *value) {
    ((tune_flags *)target)->output = value;
    return WEFT_SUCCESS;
}

static const option_flag tune_option_flags[] = {
    {"seconds", "N", "time for all measurements together (default 30)", set_seconds},
    {"output", "FILE.json", "write there (default: where plans look for it, see below)",
     set_output},
    {NULL, NULL, NULL, NULL}};

/* Cores of this node: those that its ranks may use. Collective. */
static int find_cores(const command_world *world) {
    MPI_Comm node;
    int cores = weft_topology_get()->cores;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    return online > 0 && cores > online ? (int)online : cores;
}

static void print_curve(const char *name, const double *rate, double unit, const char *what) {
    printf("  %-28s", name);
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) printf(" %9.3g", rate[i] / unit);
    printf("  %s\n", what);
}

static void print_flops(const char *name, const double *rate) {
    printf("  %-28s", name);
    for (int i = 0; i < WEFT_LENGTH_CLASSES; i++) printf(" %9.3g", rate[i] / 1e9);
    printf("  GFLOP/s\n");
}

static void print_table(const tuning *t, bool device) {
    const weft_machine_rates *r = &t->machine.rate;
    const weft_machine_device *d = &t->machine.device;
    printf("one thread of %d cores, by bytes worked on:\n", r->cores);
    print_curve("", r->bytes, 1 << 20, "MiB");
    print_curve("copy", r->copy, 1e9, "GB/s read and written");
    print_curve("pass along contiguous lines", r->contiguous, 1e9, "GB/s beyond arithmetic");
    print_curve("pass of real lines", r->halved, 1e9, "GB/s");
    print_curve("pass across", r->strided, 1e9, "GB/s");
    print_curve("pass to another order", r->realigned, 1e9, "GB/s");
    if (t->threads * t->world->ranks > 1)
        print_curve("contention", r->contention, 1, "more time for each other thread");
    printf("arithmetic in the cache, by length: %9s %9s %9s %9s\n", "2^n", "2..13", "prime",
           "above 256");
    print_flops("double, contiguous", r->flops[0]);
    print_flops("double, across", r->flops_across[0]);
    print_flops("single, contiguous", r->flops[1]);
    print_flops("single, across", r->flops_across[1]);
    if (t->world->ranks > 1) {
        printf("messages between %d ranks: latency %.3g us, signal %.3g us\n", t->world->ranks,
               1e6 * r->latency, 1e6 * r->signal);
        print_curve("sent by each rank", r->bandwidth, 1e9, "GB/s");
        printf("  datatypes cost %.3g passes through memory\n", t->machine.penalty.datatypes);
    }
    if (device)
        printf("device: memory %.4g GB/s, link %.3g GB/s there and %.3g GB/s back, launch %.3g "
               "us\n",
               d->memory / 1e9, d->to_device / 1e9, d->from_device / 1e9, 1e6 * d->launch);
}

/* "AMD EPYC, 2 ranks with 1 thread, weft 0.1.0, 2026-11-26" */
static void describe(const tuning *t, char *text, size_t size) {
    char processor[256], date[16];
    const time_t now = time(NULL);
    struct tm parts;
    weft_processor_name(processor, sizeof processor);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &parts));
    snprintf(text, size, "%s, %d rank%s with %d thread%s, weft %s, %s", processor, t->world->ranks,
             t->world->ranks > 1 ? "s" : "", t->threads, t->threads > 1 ? "s" : "", weft_version(),
             date);
}

/* The device to measure: the one that was asked for, else CUDA's if there is one. */
static weft_device choose_device(const shared_options *shared) {
    if (shared->plan.device != WEFT_HOST) return shared->plan.device;
    return weft_device_probe(WEFT_CUDA, NULL) == WEFT_SUCCESS ? WEFT_CUDA : WEFT_HOST;
}

/* What is measured by rank 0 alone, while the others sleep. */
static weft_status measure_alone(tuning *t, weft_device device) {
    for (t->round = 0; t->round < t->rounds; t->round++) WEFT_TRY(tune_arithmetic_alone(t));
    for (t->round = 0; t->round < t->rounds; t->round++) WEFT_TRY(tune_memory_alone(t));
    return device == WEFT_HOST || weft_device_find(device)->host_addressable
               ? WEFT_SUCCESS
               : tune_device(t, device);
}

/* Fields that are not measured now keep what an earlier run found: messages are not, on one rank.
 */
static void begin_with(tuning *t, const char *path) {
    weft_machine before;
    t->machine = weft_machine_default;
    if (access(path, R_OK) == 0 && weft_machine_read(path, &before) == WEFT_SUCCESS) {
        t->machine.rate = before.rate;
        t->machine.penalty = before.penalty;
        t->machine.device = before.device;
    }
    memcpy(t->machine.rate.bytes, weft_machine_default.rate.bytes, sizeof t->machine.rate.bytes);
}

static weft_status find_path(const tune_flags *flags, char path[WEFT_PATH_BYTES]) {
    if (flags->output) {
        snprintf(path, WEFT_PATH_BYTES, "%s", flags->output);
        return WEFT_SUCCESS;
    }
    if (weft_machine_path(path)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "tune: WEFT_MACHINE or WEFT_WISDOM_DIR is empty, so that no machine file is "
                     "kept; give --output FILE.json");
}

static weft_status write_and_tell(const tuning *t, const shared_options *shared, const char *path,
                                  bool device) {
    char about[512];
    describe(t, about, sizeof about);
    WEFT_TRY(weft_machine_write(path, &t->machine, about));
    if (shared->quiet) return WEFT_SUCCESS;
    printf("%s\n", about);
    print_table(t, device);
    printf("written to %s\n", path);
    return WEFT_SUCCESS;
}

static weft_status tune(const tune_flags *flags, const shared_options *shared,
                        const command_world *world) {
    char path[WEFT_PATH_BYTES] = "";
    const int given = shared->plan.threads;
    tuning t = {.world = world,
                .threads = given > 0           ? given
                           : world->ranks == 1 ? weft_topology_get()->cores
                                               : 1,
                .rounds = flags->seconds < ROUNDS_SECONDS ? 1 : ROUNDS};
    t.seconds = (double)flags->seconds / RATES / t.rounds;
    const weft_device device = world->rank == 0 ? choose_device(shared) : WEFT_HOST;
    weft_status status = world->rank == 0 ? find_path(flags, path) : WEFT_SUCCESS;
    WEFT_TRY(weft_array_agree(world->comm, status));
    begin_with(&t, path);
    t.machine.rate.cores = find_cores(world);
    status = world->rank == 0 ? measure_alone(&t, device) : WEFT_SUCCESS;
    WEFT_TRY(bench_meet(world->comm, true, status));
    for (t.round = 0; t.round < t.rounds; t.round++) {
        WEFT_TRY(tune_together(&t));
        WEFT_TRY(tune_messages(&t));
    }
    status =
        world->rank == 0 ? write_and_tell(&t, shared, path, device != WEFT_HOST) : WEFT_SUCCESS;
    return weft_array_agree(world->comm, status);
}

static int tune_main(int argc, char **argv, int ranks) {
    tune_flags flags = {.seconds = 30};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1};
    weft_status status = options_parse(&tune_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS)
        status = launch_ranks(shared.ranks, shared.plan.threads, launch_arguments);
    if (status == WEFT_SUCCESS) status = world_join(&world, shared.ranks, false);
    if (status == WEFT_SUCCESS) status = tune(&flags, &shared, &world);
    return world_leave(&world, status);
}

static const char *const shared_names[] = {"ranks", "device", "threads", "quiet", NULL};

const subcommand tune_command = {
    .name = "tune",
    .arguments = "",
    .summary = "Measures this machine, so that plans predict their times.",
    .notes =
        "On one process: memory, arithmetic, threads, and a CUDA device if there is one; on\n"
        "several messages between them, too.\n"
        "The record is JSON, kept where every plan looks for it: WEFT_MACHINE, or machine.json\n"
        "in WEFT_WISDOM_DIR (default ~/.cache/weft). What a run does not measure, such as\n"
        "messages on one process, stays as the file has it. Nothing else should run meanwhile.\n"
        "Threads are all cores of a process that is alone, otherwise one.",
    .examples = "weft tune\n"
                "weft --ranks 2 tune --seconds 60 --output node.json",
    .flags = tune_option_flags,
    .shared = true,
    .only = shared_names,
    .run = tune_main,
};
