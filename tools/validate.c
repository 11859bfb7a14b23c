/*
 * weft validate: runs every combination of strategy, variant, exchange, kind and precision on the
 * processes at hand and compares with answers that are known. Exchange methods must also agree with
 * each other bit for bit. A table also has the engines by themselves.
 */
#include "bench/meeting.h"
#include "io/agreement.h"
#include "launch.h"
#include "memory.h"
#include "options.h"
#include "record.h"
#include "support/error.h"
#include "validate_case.h"
#include "validate_engine.h"

#include <math.h>
#include <string.h>
#include <weft/weft_mpi.h>

typedef struct validate_flags {
    int rank;
    int64_t n[WEFT_MAX_RANK];
    axis_list axes; /* of r2r; not given: all types in turn */
    bool table;
} validate_flags;

/* A run over all cases. */
typedef struct validation {
    const validate_flags *flags;
    const shared_options *shared;
    const command_world *world;
    weft_context context;
    uint64_t checksum; /* of the first exchange method of the present group */
    bool have_checksum;
    int passed, failed, skipped;
    int groups; /* real to real, so far */
    json_t *cases;
    engines_result engines; /* rank 0, with --table */
} validation;

static weft_status set_shape(void *target, const char *value) {
    validate_flags *flags = target;
    return options_shape("shape", value, &flags->rank, flags->n);
}

static weft_status set_axes(void *target, const char *value) {
    return options_axes(value, &((validate_flags *)target)->axes);
}

static weft_status set_table(void *target, const char *value) {
    (void)value;
    ((validate_flags *)target)->table = true;
    return WEFT_SUCCESS;
}

static const option_flag validate_option_flags[] = {
    {"shape", "AxBxC", "shape (default 40x36x30)", set_shape},
    {"axes", "T[,T2]", "types of r2r: dct1 to dct4, dst1 to dst4 or none (default: all in turn)",
     set_axes},
    {"table", NULL, "aligned columns with a heading; then a table of each engine", set_table},
    {NULL, NULL, NULL, NULL}};

/* Whether all ranks have the bits that the first exchange method gave. */
static bool same_bits(validation *v, const case_result *result) {
    int mine = !v->have_checksum || v->checksum == result->checksum, all;
    v->checksum = v->have_checksum ? v->checksum : result->checksum;
    v->have_checksum = true;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, v->world->comm);
    return all != 0;
}

static void print_result(validation *v, const char *name, const case_result *result) {
    double error = fmax(result->round_trip, result->placement);
    const char *verdict = result->failed == NULL ? "PASS" : "FAIL";
    const char *reason = result->failed != NULL ? result->failed : "";
    char laplacian[16] = "-";
    if (v->world->rank > 0) return;
    if (result->laplacian >= 0.0) snprintf(laplacian, sizeof laplacian, "%.2e", result->laplacian);
    if (!v->shared->quiet || result->failed != NULL) {
        printf(v->flags->table ? "%-58s %9.3f %10.2e %10s %s%s%s\n"
                               : "%s: %.3f GFLOP/s, error %.2e, laplacian %s, %s%s%s\n",
               name, result->gflops, error, laplacian, verdict, *reason != '\0' ? ": " : "",
               reason);
        fflush(stdout);
    }
    json_array_append_new(
        v->cases, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:s, s:s}", "case", name, "seconds",
                            result->seconds, "gflops", result->gflops, "round_trip",
                            result->round_trip, "placement", result->placement, "laplacian",
                            result->laplacian, "result", verdict, "reason", reason));
}

static void print_other(validation *v, const char *name, const char *verdict) {
    if (v->world->rank > 0) return;
    if (!v->shared->quiet || verdict[0] == 'F')
        printf("%s: %s: %s\n", name, verdict, weft_thread_error());
    fflush(stdout);
    json_array_append_new(v->cases, json_pack("{s:s, s:s, s:s}", "case", name, "result", verdict,
                                              "reason", weft_thread_error()));
}

/* Whether a refusal to plan means that the mix, which the user did not choose, does not fit. */
static bool may_skip(const validation *v, weft_status status) {
    bool chosen =
        v->shared->plan.decomposition != WEFT_DECOMPOSITION_AUTO || v->shared->plan.grid[0] > 0;
    return status == WEFT_ERROR_UNSUPPORTED || (status == WEFT_ERROR_INVALID_ARGUMENT && !chosen);
}

/* A line over several ranks comes with twiddle factors, and so has no redistributions alone. */
static weft_status check_redistribution(validation *v, const weft_problem *problem,
                                        const weft_options *options, case_result *result) {
    bool right = false;
    if (problem->rank == 1 && v->world->ranks > 1) return WEFT_SUCCESS;
    WEFT_TRY(case_run_redistribution(v->context, problem, options, v->world, &right));
    if (!right && result->failed == NULL) result->failed = "index redistribution";
    return WEFT_SUCCESS;
}

/* One case: plans, tests, prints. What a mix cannot do is skipped, a wrong flag ends the run;
 * anything else that goes wrong fails the case. */
static weft_status run_case(validation *v, const weft_problem *problem,
                            const weft_options *options) {
    char name[128], axes[AXES_TEXT_BYTES];
    options_axes_text(problem->axis, problem->rank, axes, sizeof axes);
    snprintf(name, sizeof name, "%s %s %s %s %s", weft_decomposition_name(options->decomposition),
             weft_variant_name(options->variant), weft_exchange_name(options->exchange[0]),
             problem->kind == WEFT_R2R ? axes : weft_kind_name(problem->kind),
             weft_precision_name(problem->precision));
    weft_plan plan = NULL;
    case_result result = {0};
    weft_status status =
        weft_array_agree(v->world->comm, weft_plan_create(v->context, problem, options, &plan));
    if (status != WEFT_SUCCESS && may_skip(v, status)) {
        v->skipped++;
        print_other(v, name, "SKIP");
        return WEFT_SUCCESS;
    }
    if (status == WEFT_ERROR_INVALID_ARGUMENT) return status;
    if (status == WEFT_SUCCESS) status = case_run(plan, problem, v->world, &result);
    if (status == WEFT_SUCCESS) status = check_redistribution(v, problem, options, &result);
    if (status != WEFT_SUCCESS) {
        v->failed++;
        print_other(v, name, "FAIL");
    } else {
        if (!same_bits(v, &result) && result.failed == NULL)
            result.failed = "bits differ between exchange methods";
        if (result.failed == NULL)
            v->passed++;
        else
            v->failed++;
        print_result(v, name, &result);
    }
    weft_plan_destroy(&plan);
    return WEFT_SUCCESS;
}

/* The values of an enumeration to run over: the one that was asked for, or first..last. */
typedef struct choice {
    int first, last;
} choice;

static choice choose(int given, int automatic, int first, int last) {
    return given != automatic ? (choice){given, given} : (choice){first, last};
}

/* Whether NCCL is worth a line among the other methods. */
static bool may_have_nccl(const weft_options *options) {
    return options->device == WEFT_CUDA && weft_exchange_probe(WEFT_NCCL, NULL) == WEFT_SUCCESS;
}

/* The last of the methods that have a name. */
static int last_exchange(void) {
    int last = WEFT_EXCHANGE_AUTO;
    while (strcmp(weft_exchange_name((weft_exchange)(last + 1)), "?") != 0) last++;
    return last;
}

/* All exchange methods of one strategy, variant, kind and precision. */
static weft_status run_group(validation *v, const weft_problem *problem, weft_options options) {
    choice exchanges =
        choose((int)options.exchange[0], WEFT_EXCHANGE_AUTO, WEFT_P2P_SYNC, last_exchange());
    v->have_checksum = false;
    for (int e = exchanges.first; e <= exchanges.last; e++) {
        if (e == WEFT_NCCL && exchanges.first != exchanges.last && !may_have_nccl(&options))
            continue;
        if (exchanges.first != exchanges.last) options.exchange[0] = (weft_exchange)e;
        WEFT_TRY(run_case(v, problem, &options));
    }
    return WEFT_SUCCESS;
}

/* A group of r2r: with the types that were asked for, or with the next of the eight in turn. */
static weft_status run_real_group(validation *v, weft_problem problem,
                                  const weft_options *options) {
    problem.kind = WEFT_R2R;
    for (int a = 0; a < problem.rank; a++) {
        const int type = WEFT_DCT1 + (v->groups * problem.rank + a) % (WEFT_DST4 - WEFT_DCT1 + 1);
        problem.axis[a] = type == WEFT_DCT1 && problem.n[a] < 2 ? WEFT_DCT2 : (weft_axis)type;
    }
    v->groups++;
    WEFT_TRY(options_axes_of(&v->flags->axes, problem.rank, problem.axis));
    return run_group(v, &problem, *options);
}

static weft_status run_all(validation *v) {
    const shared_options *shared = v->shared;
    weft_options options = shared->plan;
    options.location = WEFT_LOCATION_HOST;
    choice decompositions =
        choose((int)options.decomposition, WEFT_DECOMPOSITION_AUTO, WEFT_SLAB_2D1D, WEFT_PENCIL);
    choice variants = choose((int)options.variant, WEFT_VARIANT_AUTO, WEFT_DEFAULT, WEFT_REALIGNED);
    choice precisions = shared->precision_given
                            ? (choice){(int)shared->precision, (int)shared->precision}
                            : (choice){WEFT_DOUBLE, WEFT_SINGLE};
    weft_problem problem = {.rank = v->flags->rank};
    memcpy(problem.n, v->flags->n, sizeof problem.n);
    for (int d = decompositions.first; d <= decompositions.last; d++) {
        /* A grid belongs to pencils; the others would refuse it. */
        options.decomposition = (weft_decomposition)d;
        for (int a = 0; a < WEFT_MAX_RANK; a++)
            options.grid[a] = d == WEFT_PENCIL ? shared->plan.grid[a] : 0;
        for (int x = variants.first; x <= variants.last; x++) {
            options.variant = (weft_variant)x;
            for (int p = precisions.first; p <= precisions.last; p++) {
                problem.precision = (weft_precision)p;
                problem.kind = WEFT_C2C;
                WEFT_TRY(run_group(v, &problem, options));
                problem.kind = WEFT_R2C;
                WEFT_TRY(run_group(v, &problem, options));
                WEFT_TRY(run_real_group(v, problem, &options));
            }
        }
    }
    return WEFT_SUCCESS;
}

/* The engines on rank 0, while the others sleep. */
static weft_status run_engines(validation *v) {
    weft_status status =
        v->world->rank == 0 ? engines_validate(v->shared, &v->engines) : WEFT_SUCCESS;
    return bench_meet(v->world->comm, true, status);
}

static void print_totals(const validation *v) {
    const engines_result *engines = &v->engines;
    printf("%s%d passed, %d failed, %d skipped on %d rank%s\n", v->flags->table ? "\n" : "",
           v->passed, v->failed, v->skipped, v->world->ranks, v->world->ranks > 1 ? "s" : "");
    if (v->flags->table)
        printf("engines: %d passed, %d marginal, %d failed\n", engines->passed, engines->marginal,
               engines->failed);
}

static weft_status finish(validation *v) {
    if (v->world->rank == 0) print_totals(v);
    weft_status status = WEFT_SUCCESS;
    if (v->world->rank == 0 && v->shared->report != NULL)
        status = record_write_json(v->shared->report, RECORD_TIME_DIGITS,
                                   json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:O, s:O}", "weft",
                                             weft_version(), "command", "validate", "ranks",
                                             v->world->ranks, "passed", v->passed, "failed",
                                             v->failed, "skipped", v->skipped, "cases", v->cases,
                                             "engines", v->engines.rows));
    if (status == WEFT_SUCCESS && v->failed > 0)
        status = weft_fail(WEFT_ERROR_ENGINE,
                           "validate: %d of %d cases failed; the lines above "
                           "that end in FAIL say which",
                           v->failed, v->failed + v->passed);
    if (status == WEFT_SUCCESS && v->engines.failed > 0)
        status = weft_fail(WEFT_ERROR_ENGINE,
                           "validate: %d transforms of engines failed; the lines above that end in "
                           "FAIL say which",
                           v->engines.failed);
    if (status == WEFT_SUCCESS && v->passed == 0)
        status = weft_fail(WEFT_ERROR_UNSUPPORTED,
                           "validate: no case can be run so; choose other flags");
    return weft_array_agree(v->world->comm, status);
}

/* The largest case: a complex array, its spectrum, and what comes back. */
static weft_status check_memory(const validation *v) {
    bool single = v->shared->precision_given && v->shared->precision == WEFT_SINGLE;
    double bytes = 3.0 * (single ? 8.0 : 16.0) / v->world->ranks;
    for (int a = 0; a < v->flags->rank; a++) bytes *= (double)v->flags->n[a];
    return memory_check(v->world, bytes, memory_available("", true));
}

static weft_status validate(const validate_flags *flags, const shared_options *shared,
                            const command_world *world) {
    validation v = {.flags = flags, .shared = shared, .world = world, .cases = json_array()};
    v.engines.rows = json_array();
    weft_status status = weft_array_agree(
        world->comm, world->rank == 0 ? record_check_path(shared->report) : WEFT_SUCCESS);
    if (status == WEFT_SUCCESS) status = check_memory(&v);
    if (status == WEFT_SUCCESS)
        status =
            weft_array_agree(world->comm, weft_mpi_context_create(world->comm, NULL, &v.context));
    if (status == WEFT_SUCCESS && world->rank == 0 && flags->table && !shared->quiet)
        printf("%-58s %9s %10s %10s\n", "case", "GFLOP/s", "error", "laplacian");
    if (status == WEFT_SUCCESS) status = run_all(&v);
    if (status == WEFT_SUCCESS && flags->table) status = run_engines(&v);
    if (status == WEFT_SUCCESS) status = finish(&v);
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    weft_context_destroy(&v.context);
    weft_thread_error_set(sentence);
    json_decref(v.engines.rows);
    json_decref(v.cases);
    return status;
}

static int validate_main(int argc, char **argv, int ranks) {
    validate_flags flags = {.rank = 3, .n = {40, 36, 30}};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1};
    weft_status status = options_parse(&validate_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS && shared.trace != NULL)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--trace belongs to transform; drop it");
    if (status == WEFT_SUCCESS && flags.axes.count > 0 &&
        options_axes_have_fft(flags.axes.axis, flags.axes.count))
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "--axes: r2r has no fft, and r2c and c2c are always validated; drop it");
    if (status == WEFT_SUCCESS)
        status = launch_ranks(shared.ranks, shared.plan.threads, launch_arguments);
    /* All exchange methods are run unless one was chosen, and one of them sends from threads. */
    bool streams = shared.plan.exchange[0] == WEFT_EXCHANGE_AUTO || options_use_streams(&shared);
    if (status == WEFT_SUCCESS) status = world_join(&world, shared.ranks, streams);
    if (status == WEFT_SUCCESS) status = validate(&flags, &shared, &world);
    return world_leave(&world, status);
}

const subcommand validate_command = {
    .name = "validate",
    .arguments = "",
    .summary = "Runs every strategy and exchange here and compares with known answers.",
    .notes =
        "Flags narrow the choice. Each case prints GFLOP/s (5 N log2 N / t, half for real data),\n"
        "the larger of the round-trip and placement errors, and that of a Laplacian. Real-to-real\n"
        "cases are named by their types, and compared with the definition. With --table\n"
        "the engines by themselves follow (or the one of --engine), in one process: GFLOP/s "
        "beside\n"
        "the relative L2 error against a long double transform, what is allowed, and the share of\n"
        "that: PASS up to 80 %, MARGINAL up to 100 %.",
    .examples = "weft --ranks 4 validate --shape 24x18x20\n"
                "weft validate --table --engine native",
    .flags = validate_option_flags,
    .shared = true,
    .least = 0,
    .most = 0,
    .run = validate_main,
};
