/* Parsing with getopt_long, from tables; every mistake gives one sentence. */
#include "options.h"

#include "launch.h"
#include "names.h"
#include "support/axis.h"
#include "support/error.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 40 };

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* Reads digits from *text, which then points behind them. */
static bool take_integer(const char **text, int64_t *value) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    if (errno != 0) return false;
    *value = number;
    *text = end;
    return true;
}

weft_status options_integer(const char *flag, const char *text, int64_t least, int64_t *value) {
    int64_t number;
    const char *end = text;
    if (!take_integer(&end, &number) || *end != '\0' || number < least)
        return WRONG("--%s %s: give a whole number of at least %lld", flag, text, (long long)least);
    *value = number;
    return WEFT_SUCCESS;
}

weft_status options_shape(const char *flag, const char *text, int *rank, int64_t n[WEFT_MAX_RANK]) {
    const char *at = text;
    int axes = 0;
    for (;; at++) {
        if (axes == WEFT_MAX_RANK || !take_integer(&at, &n[axes]) || n[axes] < 1)
            return WRONG("--%s %s: give 1 to %d numbers of at least 1, such as 4x8", flag, text,
                         WEFT_MAX_RANK);
        axes++;
        if (*at != 'x') break;
    }
    if (*at != '\0') return WRONG("--%s %s: give numbers joined by x, such as 4x8", flag, text);
    *rank = axes;
    return WEFT_SUCCESS;
}

bool options_numbers(const char *text, int *count, double values[WEFT_MAX_RANK]) {
    const char *at = text;
    for (int i = 0; i < WEFT_MAX_RANK; i++) {
        char *end;
        if (strchr(" \t\n\v\f\r", *at) != NULL) return false;
        values[i] = strtod(at, &end);
        if (end == at || !isfinite(values[i])) return false;
        *count = i + 1;
        if (*end == '\0') return true;
        if (*end != ',') return false;
        at = end + 1;
    }
    return false;
}

weft_status options_raw_shape(const char *flag, const char *text, raw_description *raw) {
    raw->shaped = true;
    return options_shape(flag, text, &raw->info.rank, raw->info.n);
}

weft_status options_raw_type(const char *flag, const char *text, raw_description *raw) {
    raw->typed = weft_element_parse(text, &raw->info.element);
    if (raw->typed) return WEFT_SUCCESS;
    return WRONG("--%s %s: give u8, i16, u16, i32, f4, f8, c8 or c16", flag, text);
}

weft_status options_raw_check(const raw_description *raw, const char *shape_flag,
                              const char *type_flag) {
    if (raw->shaped == raw->typed) return WEFT_SUCCESS;
    return WRONG("--%s and --%s describe a raw file together; give both", shape_flag, type_flag);
}

const weft_array_info *options_raw(const raw_description *raw) {
    return raw->shaped && raw->typed ? &raw->info : NULL;
}

weft_status options_axes(const char *text, axis_list *axes) {
    const char *at = text;
    for (axes->count = 0;; at++) {
        const size_t length = strcspn(at, ",");
        weft_axis axis;
        if (!find_axis(at, length, &axis) || axes->count == WEFT_MAX_RANK)
            return WRONG("--axes %s: give one for all axes, or one for each, joined by "
                         "commas: "
                         "dct1 to dct4, dst1 to dst4, none (left as it is), fft, or real (the fft "
                         "that halves real data)",
                         text);
        axes->axis[axes->count++] = axis;
        at += length;
        if (*at == '\0') return WEFT_SUCCESS;
    }
}

weft_status options_axes_of(const axis_list *axes, int rank, weft_axis axis[WEFT_MAX_RANK]) {
    if (axes->count > 1 && axes->count != rank)
        return WRONG(
            "--axes: %d of them for an array of %d axes; give one for all, or one for each",
            axes->count, rank);
    for (int a = 0; a < rank && axes->count > 0; a++)
        axis[a] = axes->axis[axes->count == 1 ? 0 : a];
    return WEFT_SUCCESS;
}

void options_axes_text(const weft_axis *axis, int rank, char *text, size_t capacity) {
    size_t length = 0;
    for (int a = 0; a < rank && length < capacity; a++)
        length += (size_t)snprintf(text + length, capacity - length, "%s%s", a > 0 ? "," : "",
                                   weft_axis_name(axis[a]));
}

bool options_axes_have_fft(const weft_axis *axis, int rank) {
    for (int a = 0; a < rank; a++)
        if (weft_axis_is_fourier(axis[a])) return true;
    return false;
}

bool options_use_streams(const shared_options *shared) {
    for (int k = 0; k < WEFT_MAX_RANK; k++)
        if (shared->plan.exchange[k] == WEFT_P2P_STREAMS) return true;
    return false;
}

/* Leaves the function with a sentence where `text` names no value. */
#define FIND(flag, text, length, finder, out)                                                      \
    do {                                                                                           \
        if (!finder((text), (length), (out)))                                                      \
            return WRONG("--%s %s: there is no such %s; see --help", (flag), (text), (flag));      \
    } while (0)

weft_status options_check_back_ends(const shared_options *shared) {
    char reason[512];
    const weft_options *o = &shared->plan;
    const char *device = weft_device_name(o->device);
    if (weft_device_probe(o->device, NULL) != WEFT_SUCCESS) {
        snprintf(reason, sizeof reason, "%s", weft_last_error(NULL));
        return WRONG("--device %s cannot be used here; use --device host (%s)", device, reason);
    }
    if (o->engine != WEFT_ENGINE_AUTO && weft_engine_probe(o->engine, NULL) != WEFT_SUCCESS)
        return WRONG("--engine %s is not in this build or not on this machine; weft info lists "
                     "those that are",
                     weft_engine_name(o->engine));
    return WEFT_SUCCESS;
}

static weft_status set_device(void *target, const char *value) {
    shared_options *shared = target;
    FIND("device", value, strlen(value), find_device, &shared->plan.device);
    return shared->may_be_absent ? WEFT_SUCCESS : options_check_back_ends(shared);
}

static weft_status set_engine(void *target, const char *value) {
    shared_options *shared = target;
    FIND("engine", value, strlen(value), find_engine, &shared->plan.engine);
    return shared->may_be_absent ? WEFT_SUCCESS : options_check_back_ends(shared);
}

static weft_status set_decomposition(void *target, const char *value) {
    weft_decomposition decomposition;
    FIND("decomposition", value, strlen(value), find_decomposition, &decomposition);
    if (decomposition == WEFT_BRICK)
        return WRONG("--decomposition brick: files say nothing of bricks; choose a slab or pencil");
    ((shared_options *)target)->plan.decomposition = decomposition;
    return WEFT_SUCCESS;
}

static weft_status set_variant(void *target, const char *value) {
    FIND("variant", value, strlen(value), find_variant, &((shared_options *)target)->plan.variant);
    return WEFT_SUCCESS;
}

static weft_status set_exchange(void *target, const char *value) {
    weft_exchange *exchange = ((shared_options *)target)->plan.exchange;
    const char *at = value;
    for (int k = 0;; k++) {
        size_t length = strcspn(at, ",");
        if (k == WEFT_MAX_RANK)
            return WRONG("--exchange %s: give at most %d methods", value, WEFT_MAX_RANK);
        FIND("exchange", at, length, find_exchange, &exchange[k]);
        at += length;
        if (*at++ == '\0') return WEFT_SUCCESS;
    }
}

static weft_status set_grid(void *target, const char *value) {
    int rank = 0;
    int64_t n[WEFT_MAX_RANK];
    WEFT_TRY(options_shape("grid", value, &rank, n));
    for (int a = 0; a < rank; a++) {
        if (n[a] > INT_MAX) return WRONG("--grid %s: more ranks than there can be", value);
        ((shared_options *)target)->plan.grid[a] = (int)n[a];
    }
    return WEFT_SUCCESS;
}

static weft_status set_effort(void *target, const char *value) {
    if (find_effort(value, strlen(value), &((shared_options *)target)->plan.effort))
        return WEFT_SUCCESS;
    return WRONG("--effort %s: give estimate, measure or patient", value);
}

/* Contexts read it where the environment says. */
static weft_status set_plan_seconds(void *target, const char *value) {
    double seconds[WEFT_MAX_RANK];
    int count = 0;
    (void)target;
    if (!options_numbers(value, &count, seconds) || count != 1 || !(seconds[0] > 0) ||
        seconds[0] > 1e9)
        return WRONG("--plan-seconds %s: give a time in seconds, such as 10 or 0.5", value);
    return setenv("WEFT_PLAN_SECONDS", value, 1) == 0
               ? WEFT_SUCCESS
               : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "--plan-seconds: no memory");
}

static weft_status set_precision(void *target, const char *value) {
    shared_options *shared = target;
    bool single = strcmp(value, "single") == 0;
    if (!single && strcmp(value, "double") != 0)
        return WRONG("--precision %s: give single or double", value);
    shared->precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
    shared->precision_given = true;
    return WEFT_SUCCESS;
}

static weft_status set_chunks(void *target, const char *value) {
    int64_t chunks = 0;
    WEFT_TRY(options_integer("chunks", value, 0, &chunks));
    if (chunks > 1024) return WRONG("--chunks %s: give at most 1024", value);
    ((shared_options *)target)->plan.chunks = (int)chunks;
    return WEFT_SUCCESS;
}

static weft_status set_threads(void *target, const char *value) {
    int64_t threads = 0;
    WEFT_TRY(options_integer("threads", value, 1, &threads));
    if (threads > 65536) return WRONG("--threads %s: give at most 65536", value);
    ((shared_options *)target)->plan.threads = (int)threads;
    return WEFT_SUCCESS;
}

static weft_status set_ranks(void *target, const char *value) {
    int64_t ranks = 0;
    WEFT_TRY(options_integer("ranks", value, 1, &ranks));
    if (ranks > INT_MAX) return WRONG("--ranks %s: more than there can be", value);
    ((shared_options *)target)->ranks = (int)ranks;
    return WEFT_SUCCESS;
}

static weft_status set_memory_limit(void *target, const char *value) {
    int64_t bytes = 0;
    const char *end = value;
    bool number = take_integer(&end, &bytes) && bytes > 0;
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift > 0) end++;
    if (!number || *end != '\0' || bytes > (INT64_MAX >> shift))
        return WRONG("--memory-limit %s: give a number of bytes, or one that ends in K, M or G",
                     value);
    ((shared_options *)target)->plan.device_memory_limit = (size_t)bytes << shift;
    return WEFT_SUCCESS;
}

static weft_status set_stream(void *target, const char *value) {
    weft_options *plan = &((shared_options *)target)->plan;
    plan->stream = WEFT_STREAM_ON;
    if (value != NULL && strcmp(value, "sync") == 0) plan->stream = WEFT_STREAM_SYNC;
    if (value != NULL && strcmp(value, "off") == 0) plan->stream = WEFT_STREAM_OFF;
    if (value == NULL || plan->stream != WEFT_STREAM_ON) return WEFT_SUCCESS;
    return WRONG("--stream=%s: give --stream, --stream=sync or --stream=off", value);
}

static weft_status set_report(void *target, const char *value) {
    ((shared_options *)target)->report = value;
    return WEFT_SUCCESS;
}

static weft_status set_trace(void *target, const char *value) {
    ((shared_options *)target)->trace = value;
    return WEFT_SUCCESS;
}

static weft_status set_quiet(void *target, const char *value) {
    (void)value;
    ((shared_options *)target)->quiet = true;
    return WEFT_SUCCESS;
}

static weft_status set_progress(void *target, const char *value) {
    (void)value;
    ((shared_options *)target)->progress = true;
    return WEFT_SUCCESS;
}

static const option_flag shared_flags[] = {
    {"ranks", "P", "run on P processes (starts mpirun)", set_ranks},
    {"device", "D", "host, cuda, opencl, openmp or simulated", set_device},
    {"engine", "E", "auto, native, fftw, cufft, jit, openmp, reference", set_engine},
    {"decomposition", "D", "auto, slab-2d1d, slab-1d2d, slab-y-zx, pencil", set_decomposition},
    {"grid", "P1xP2", "processes along each split axis", set_grid},
    {"variant", "V", "auto, default, realigned", set_variant},
    {"exchange", "M[,M2]", "p2p-sync, p2p-streams, p2p-type, a2a-sync, a2a-type, nccl, peer",
     set_exchange},
    {"precision", "P", "single or double", set_precision},
    {"effort", "E", "estimate (default), measure, patient", set_effort},
    {"plan-seconds", "S", "time after which measure and patient try no further candidate",
     set_plan_seconds},
    {"threads", "N", "threads of each process", set_threads},
    {"chunks", "N", "parts of each exchange, so that transforms overlap with it; 0 chooses",
     set_chunks},
    {"memory-limit", "BYTES", "device memory a plan may hold (K, M, G)", set_memory_limit},
    {"stream", "[=sync|off]",
     "tile by tile through the device, however much it holds; sync: without overlap", set_stream},
    {"report", "FILE.json", "write problem, plan and timings of every process", set_report},
    {"trace", "FILE.json", "write the phases as a Chrome trace", set_trace},
    {"quiet", NULL, "print nothing but errors", set_quiet},
    {"progress", NULL, "show how far the run is, also where stderr is no terminal", set_progress},
    {NULL, NULL, NULL, NULL}};

static bool is_optional(const option_flag *flag) {
    return flag->argument != NULL && flag->argument[0] == '[';
}

static bool is_own(const subcommand *command, const option_flag *flag) {
    for (const option_flag *f = command->flags; f != NULL && f->name != NULL; f++)
        if (f == flag) return true;
    return false;
}

/* Whether a subcommand has this flag: one of its own, or a shared one that it takes. */
static bool has_flag(const subcommand *command, const option_flag *flag) {
    const char *const *name = command->only;
    if (is_own(command, flag) || name == NULL) return true;
    while (*name != NULL && strcmp(*name, flag->name) != 0) name++;
    return *name != NULL;
}

static void print_flags(const subcommand *command, const option_flag *flags) {
    for (; flags != NULL && flags->name != NULL; flags++) {
        char left[48];
        if (!has_flag(command, flags)) continue;
        snprintf(left, sizeof left, "--%s%s%s", flags->name, is_optional(flags) ? "" : " ",
                 flags->argument != NULL ? flags->argument : "");
        printf("  %-24s %s\n", left, flags->help);
    }
}

static void print_help(const subcommand *command) {
    if (launch_rank_hint() > 0) return;
    printf("weft %s%s%s [flags]\n\n%s\n", command->name, command->arguments[0] != '\0' ? " " : "",
           command->arguments, command->summary);
    if (command->notes != NULL) printf("\n%s\n", command->notes);
    printf("\nFlags:\n");
    print_flags(command, command->flags);
    if (command->shared) print_flags(command, shared_flags);
    printf("  %-24s %s\n", "--help", "print this");
    printf("  %-24s %s\n", "--version", "print the version");
}

/* Collects both tables for getopt: val of a flag is its place in `all`, counted from 1. */
static int collect(const subcommand *command, const option_flag **all, struct option *longs) {
    const option_flag *tables[2] = {command->flags, command->shared ? shared_flags : NULL};
    int count = 0;
    for (int t = 0; t < 2; t++) {
        for (const option_flag *f = tables[t]; f != NULL && f->name != NULL; f++) {
            bool hidden = !has_flag(command, f); /* its own flag replaces a shared one */
            for (int i = 0; i < count; i++) hidden = hidden || strcmp(all[i]->name, f->name) == 0;
            if (hidden || count == MOST_FLAGS) continue;
            all[count] = f;
            longs[count] = (struct option){f->name,
                                           f->argument == NULL ? no_argument
                                           : is_optional(f)    ? optional_argument
                                                               : required_argument,
                                           NULL, count + 1};
            count++;
        }
    }
    return count;
}

static weft_status check_count(const subcommand *command, int count, char **positional) {
    if (count < command->least)
        return WRONG("%s: an argument is missing: weft %s %s; see weft %s --help", command->name,
                     command->name, command->arguments, command->name);
    if (count > command->most)
        return WRONG("%s: the argument %s is one too many: weft %s %s; see weft %s --help",
                     command->name, positional[command->most], command->name, command->arguments,
                     command->name);
    return WEFT_SUCCESS;
}

weft_status options_parse(const subcommand *command, int argc, char **argv, shared_options *shared,
                          void *own, parsed_arguments *parsed) {
    enum { HELP = 1000, VERSION };
    const option_flag *all[MOST_FLAGS];
    struct option longs[MOST_FLAGS + 4] = {{0}};
    int count = collect(command, all, longs), found;
    longs[count] = (struct option){"help", no_argument, NULL, HELP};
    longs[count + 1] = (struct option){"version", no_argument, NULL, VERSION};
    char shorts[16];
    snprintf(shorts, sizeof shorts, ":");
    for (int i = 0; command->letters != NULL && command->letters[i] != '\0'; i++) {
        shorts[1 + 2 * i] = command->letters[i];
        memcpy(shorts + 2 + 2 * i, ":", 2);
    }
    opterr = 0;
    optind = 0; /* forgets where an earlier command line was left */
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const char *letter =
            command->letters != NULL && found > count && found < HELP && found != ':'
                ? strchr(command->letters, found)
                : NULL;
        if (letter != NULL) found = (int)(letter - command->letters) + 1;
        if (found == HELP || found == VERSION) {
            if (found == HELP)
                print_help(command);
            else if (launch_rank_hint() <= 0)
                printf("weft %s\n", weft_version());
            parsed->helped = true;
            return WEFT_SUCCESS;
        }
        if (found == ':')
            return WRONG("%s needs a value; see weft %s --help", argv[optind - 1], command->name);
        if (found == '?' || found > count)
            return WRONG("%s is not a flag of weft %s, or takes no value; see weft %s --help",
                         argv[optind - 1], command->name, command->name);
        const option_flag *flag = all[found - 1];
        WEFT_TRY(flag->set(is_own(command, flag) ? own : shared, optarg));
    }
    parsed->count = argc - optind;
    parsed->positional = argv + optind;
    return check_count(command, parsed->count, parsed->positional);
}
