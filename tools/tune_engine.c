/*
 * Rates of the host: copies, and the native engine's lines in the caches and in arrays of several
 * sizes. What a pass takes beyond its arithmetic is its arrays' way through memory.
 */
#include "tune.h"

#include "engine/engine.h"
#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How lines lie: one behind the other; the same, of real numbers; one beside the other; loaded so
 * and stored otherwise. */
typedef enum line_order { CONTIGUOUS, HALVED, ACROSS, REALIGNED } line_order;

enum { LENGTH = 256, CACHED_BYTES = 262144 };
static const int64_t class_length[WEFT_LENGTH_CLASSES] = {256, 252, 127, 509};

weft_status tune_best(const tuning *t, tune_work work, void *argument, double *seconds) {
    const double begin = weft_clock();
    int turns = 1;
    *seconds = 1e300;
    WEFT_TRY(work(argument)); /* warms up */
    for (int run = 0; run < 3 || weft_clock() < begin + t->seconds; run++) {
        const double start = weft_clock();
        for (int i = 0; i < turns; i++) WEFT_TRY(work(argument));
        const double took = (weft_clock() - start) / turns;
        if (took < *seconds) *seconds = took;
        if (took * turns < 1e-4 && turns < 1 << 20) turns *= 2;
    }
    return WEFT_SUCCESS;
}

void tune_keep_best(const tuning *t, double *rate, double found) {
    if (t->round == 0 || found > *rate) *rate = found;
}

/* A transform with its arrays. */
typedef struct pass {
    weft_transform transform;
    weft_device_handle host;
    weft_engine_plan *plan;
    void *in, *out;
} pass;

static weft_status run_pass(void *argument) {
    pass *p = argument;
    return weft_engine_find(WEFT_ENGINE_NATIVE)->execute(p->plan, &p->host, NULL, p->in, p->out);
}

/* `count` lines of n points; across, passes work in place as they do behind the first one. */
static weft_transform describe(line_order order, weft_precision precision, int64_t n, int64_t count,
                               int threads) {
    weft_transform t = {.kind = WEFT_TRANSFORM_C2C,
                        .direction = WEFT_FORWARD,
                        .precision = precision,
                        .dims = 1,
                        .dim = {{n, 1, 1}},
                        .loops = 1,
                        .loop = {{count, n, n}},
                        .in_place = order == ACROSS,
                        .in_batch = true,
                        .threads = threads,
                        .in_elements = n * count,
                        .out_elements = n * count};
    if (order == HALVED) { /* of as many bytes as complex lines have */
        t.kind = WEFT_TRANSFORM_R2C;
        t.loop[0] = (weft_dimension){2 * count, n, n / 2 + 1};
        t.in_elements = 2 * n * count;
        t.out_elements = 2 * count * (n / 2 + 1);
    }
    if (order == ACROSS || order == REALIGNED)
        t.dim[0].out_stride = count, t.loop[0].out_stride = 1;
    if (order == ACROSS) t.dim[0].in_stride = count, t.loop[0].in_stride = 1;
    return t;
}

static void close_pass(pass *p) {
    if (p->plan) weft_engine_find(WEFT_ENGINE_NATIVE)->destroy(p->plan);
    if (p->host.state) p->host.ops->close(p->host.state);
    if (p->out != p->in) free(p->out);
    free(p->in);
}

/* Memory as callers have it, without huge pages, which weft's own arrays are on. */
static void *allocate(size_t bytes) {
    void *array = NULL;
    if (posix_memalign(&array, 64, bytes) != 0) return NULL;
    return memset(array, 0, bytes); /* zeros stay zeros, in place too, and take no longer */
}

/* The caller closes the pass, also after a failure. */
static weft_status open_pass(const weft_transform *t, pass *p) {
    const weft_engine_ops *engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    const size_t bytes = (size_t)t->in_elements * weft_transform_element_bytes(t, false);
    const size_t stored = (size_t)t->out_elements * weft_transform_element_bytes(t, true);
    const weft_device_settings settings = {.threads = t->threads};
    size_t held;
    *p = (pass){.transform = *t, .host.ops = weft_device_find(WEFT_HOST)};
    p->in = allocate(bytes);
    p->out = t->in_place ? p->in : allocate(stored);
    if (!p->in || !p->out)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "tune: no memory for arrays of %zu bytes",
                         bytes);
    WEFT_TRY(p->host.ops->open(&settings, &p->host.state));
    return engine->plan(&p->transform, &p->host, &p->plan, &held);
}

static weft_status time_pass(const tuning *t, const weft_transform *transform, double *seconds) {
    pass p;
    weft_status status = open_pass(transform, &p);
    if (status == WEFT_SUCCESS) status = tune_best(t, run_pass, &p, seconds);
    close_pass(&p);
    return status;
}

static double operations(const weft_transform *t) {
    return (t->kind == WEFT_TRANSFORM_C2C ? 5.0 : 2.5) * (double)t->in_elements *
           log2((double)t->dim[0].n);
}

static weft_status tune_arithmetic(tuning *t, weft_precision precision) {
    const int single = precision == WEFT_SINGLE;
    for (int c = 0; c < WEFT_LENGTH_CLASSES; c++)
        for (int across = 0; across < 2; across++) {
            weft_machine_rates *r = &t->machine.rate;
            const int64_t n = class_length[c], element = single ? 8 : 16;
            const weft_transform line =
                describe(across ? ACROSS : CONTIGUOUS, precision, n, CACHED_BYTES / element / n, 1);
            double seconds = 0;
            WEFT_TRY(time_pass(t, &line, &seconds));
            tune_keep_best(t, &(across ? r->flops_across : r->flops)[single][c],
                           operations(&line) / seconds);
        }
    return WEFT_SUCCESS;
}

/* Arrays of so many bytes together, in double precision, where a point has 16. Passes across work
 * in place on one of these arrays, but find it as far away as if it had not been used since the
 * other one was; so theirs is as large as both. */
static weft_transform pass_of(line_order order, double bytes, int threads) {
    const double array = order == ACROSS ? bytes : bytes / 2;
    return describe(order, WEFT_DOUBLE, LENGTH, (int64_t)(array / 16 / LENGTH), threads);
}

/* Bytes that a pass loads and stores. */
static double moved(const weft_transform *t) {
    return (double)t->in_elements * (double)weft_transform_element_bytes(t, false) +
           (double)t->out_elements * (double)weft_transform_element_bytes(t, true);
}

/* The least part of a pass that may be memory's, where arithmetic takes nearly all of its time. */
static double beyond(double seconds, double computing) {
    const double least = 0.05 * seconds;
    return seconds - computing > least ? seconds - computing : least;
}

static weft_status tune_passes(tuning *t, line_order order, double *rate) {
    const weft_machine_rates *r = &t->machine.rate;
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) {
        const weft_transform line = pass_of(order, r->bytes[i], 1);
        double seconds = 0;
        WEFT_TRY(time_pass(t, &line, &seconds));
        const double flops = (order == ACROSS ? r->flops_across : r->flops)[0][0];
        tune_keep_best(t, &rate[i], moved(&line) / beyond(seconds, operations(&line) / flops));
    }
    return WEFT_SUCCESS;
}

typedef struct copying {
    weft_copy copy;
    void *from, *to;
} copying;

static weft_status run_copy(void *argument) {
    const copying *c = argument;
    weft_copy_run(&c->copy, c->from, c->to, 1);
    return WEFT_SUCCESS;
}

static weft_status tune_copies(tuning *t) {
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) {
        const double bytes = t->machine.rate.bytes[i];
        const size_t half = (size_t)(bytes / 2);
        copying c = {.copy = weft_copy_of_run((int64_t)(half / 16), 16),
                     .from = calloc(1, half),
                     .to = calloc(1, half)};
        double seconds = 0;
        weft_status status = c.from && c.to
                                 ? WEFT_SUCCESS
                                 : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "tune: no memory to copy");
        if (status == WEFT_SUCCESS) {
            memset(c.from, 1, half); /* pages of zeros that nobody wrote are one page */
            status = tune_best(t, run_copy, &c, &seconds);
        }
        free(c.from);
        free(c.to);
        WEFT_TRY(status);
        tune_keep_best(t, &t->machine.rate.copy[i], bytes / seconds);
    }
    return WEFT_SUCCESS;
}

weft_status tune_arithmetic_alone(tuning *t) {
    WEFT_TRY(tune_arithmetic(t, WEFT_DOUBLE));
    return tune_arithmetic(t, WEFT_SINGLE);
}

weft_status tune_memory_alone(tuning *t) {
    weft_machine_rates *r = &t->machine.rate;
    WEFT_TRY(tune_copies(t));
    WEFT_TRY(tune_passes(t, CONTIGUOUS, r->contiguous));
    WEFT_TRY(tune_passes(t, HALVED, r->halved));
    WEFT_TRY(tune_passes(t, ACROSS, r->strided));
    return tune_passes(t, REALIGNED, r->realigned);
}

/* ---- several threads at once ---- */

/* Runs the passes of all ranks at once; the slowest rank's time of the best run. Ranks that could
 * not open theirs take part. Collective. */
static weft_status time_together(const tuning *t, pass *p, weft_status opened, double *seconds) {
    MPI_Comm comm = t->world->comm;
    const double begin = weft_clock();
    double now[2] = {0, 0}; /* seconds of a run, and of all of them */
    *seconds = 1e300;
    WEFT_TRY(weft_array_agree(comm, opened));
    for (int run = 0; run < 5 || now[1] < t->seconds; run++) {
        MPI_Barrier(comm);
        const double start = weft_clock();
        const weft_status status = run_pass(p);
        now[0] = weft_clock() - start;
        now[1] = weft_clock() - begin;
        WEFT_TRY(weft_array_agree(comm, status));
        MPI_Allreduce(MPI_IN_PLACE, now, 2, MPI_DOUBLE, MPI_MAX, comm);
        if (run > 0 && now[0] < *seconds) *seconds = now[0];
    }
    return WEFT_SUCCESS;
}

weft_status tune_together(tuning *t) {
    weft_machine_rates *r = &t->machine.rate;
    const int streams = t->threads * t->world->ranks;
    MPI_Bcast(r, sizeof *r, MPI_BYTE, 0, t->world->comm);
    for (int i = 0; i < WEFT_MACHINE_SIZES && streams > 1; i++) {
        const weft_transform transform = pass_of(ACROSS, r->bytes[i] / t->world->ranks, t->threads);
        const double computing = operations(&transform) / r->flops_across[0][0];
        pass p;
        double seconds = 0;
        const weft_status opened = open_pass(&transform, &p);
        weft_status status = time_together(t, &p, opened, &seconds);
        close_pass(&p);
        WEFT_TRY(status);
        /* One thread would take so long for this rank's bytes, with all of memory to itself. */
        const double alone = moved(&transform) / r->strided[i];
        const double factor = beyond(seconds, computing / t->threads) * t->threads / alone;
        double contention = (factor - 1) / (streams - 1);
        contention = contention < 0 ? 0 : contention > 1.5 ? 1.5 : contention;
        if (t->round == 0 || contention < r->contention[i]) r->contention[i] = contention;
    }
    return WEFT_SUCCESS;
}
