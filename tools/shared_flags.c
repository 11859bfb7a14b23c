/* The flags that transforms share: each value is read, and refused with a sentence that says what
 * to give. */
#include "names.h"
#include "options.h"
#include "support/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

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
    bool number = options_take_integer(&end, &bytes) && bytes > 0;
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

static weft_status set_wire(void *target, const char *value) {
    const bool single = strcmp(value, "single") == 0;
    if (!single && strcmp(value, "same") != 0)
        return WRONG("--wire %s: give same or single", value);
    ((shared_options *)target)->plan.wire = single ? WEFT_WIRE_SINGLE : WEFT_WIRE_SAME;
    return WEFT_SUCCESS;
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

const option_flag shared_option_flags[] = {
    {"ranks", "P", "run on P processes (starts mpirun); default 1", set_ranks},
    {"device", "host|cuda|opencl|openmp|simulated", "where to compute; default host", set_device},
    {"engine", "auto|native|fftw|cufft|jit|openmp|reference",
     "what computes the local transforms; default auto, the one that suits the device", set_engine},
    {"decomposition", "auto|slab-2d1d|slab-1d2d|slab-y-zx|pencil",
     "how axes are spread over the processes; default auto", set_decomposition},
    {"grid", "P1xP2", "processes along each split axis; default: weft chooses", set_grid},
    {"variant", "auto|default|realigned",
     "keep the memory order between passes, or not; default auto", set_variant},
    {"exchange", "p2p-sync|p2p-streams|p2p-type|a2a-sync|a2a-type|nccl|peer[,...]",
     "how data moves between processes, in each redistribution; default: weft chooses",
     set_exchange},
    {"precision", "single|double", "of the computation; default: double, or that of the input",
     set_precision},
    {"effort", "estimate|measure|patient", "how long planning may take; default estimate",
     set_effort},
    {"plan-seconds", "S",
     "time after which measure and patient try no further candidate; default: none",
     set_plan_seconds},
    {"threads", "N", "threads of each process; default 1, unless it says otherwise above",
     set_threads},
    {"chunks", "N",
     "parts of each exchange, so that transforms overlap with it; default 0: weft chooses",
     set_chunks},
    {"memory-limit", "BYTES",
     "device memory a plan may hold (K, M, G); default: what the device has free",
     set_memory_limit},
    {"stream", "[=sync|off]",
     "tile by tile through the device, however much it holds; sync: without overlap; default: "
     "where the arrays do not fit",
     set_stream},
    {"wire", "same|single",
     "what double-precision numbers travel as between the passes of a streamed plan and between "
     "processes; default same",
     set_wire},
    {"report", "FILE.json", "write problem, plan and timings of every process; default: nowhere",
     set_report},
    {"trace", "FILE.json", "write the phases as a Chrome trace; default: nowhere", set_trace},
    {"quiet", NULL, "print nothing but errors", set_quiet},
    {"progress", NULL, "show how far the run is, also where stderr is no terminal", set_progress},
    {NULL, NULL, NULL, NULL}};
