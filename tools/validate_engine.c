/*
 * Engines measured one transform at a time. Each row is a batch that stays in cache: its speed is
 * that of the best run, its error that of the whole batch, relative, in L2, and compared with what
 * an engine is allowed (engine/accuracy.h). Close to that is MARGINAL, beyond it FAIL.
 */
#include "validate_engine.h"

#include "engine/accuracy.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>

static const double marginal_from = 0.8; /* share of the allowed error */
enum { NUMBERS_IN_BATCH = 4096 };

typedef struct engine_case {
    weft_transform_kind kind;
    int dims;
    int64_t n[3];
} engine_case;

#define C2C WEFT_TRANSFORM_C2C
#define R2C WEFT_TRANSFORM_R2C
#define C2R WEFT_TRANSFORM_C2R
static const engine_case cases[] = {
    {C2C, 1, {2}},     {C2C, 1, {3}},          {C2C, 1, {4}},          {C2C, 1, {5}},
    {C2C, 1, {7}},     {C2C, 1, {8}},          {C2C, 1, {9}},          {C2C, 1, {11}},
    {C2C, 1, {13}},    {C2C, 1, {16}},         {C2C, 1, {17}},         {C2C, 1, {25}},
    {C2C, 1, {30}},    {C2C, 1, {32}},         {C2C, 1, {49}},         {C2C, 1, {64}},
    {C2C, 1, {100}},   {C2C, 1, {127}},        {C2C, 1, {243}},        {C2C, 1, {256}},
    {C2C, 1, {509}},   {C2C, 1, {1000}},       {C2C, 1, {1024}},       {C2C, 1, {4096}},
    {C2C, 1, {65536}}, {R2C, 1, {100}},        {C2R, 1, {100}},        {R2C, 1, {243}},
    {C2R, 1, {243}},   {R2C, 1, {1024}},       {C2R, 1, {1024}},       {R2C, 1, {65536}},
    {C2R, 1, {65536}}, {C2C, 3, {40, 36, 30}}, {R2C, 3, {40, 36, 30}}, {C2R, 3, {40, 36, 30}},
};

/* Each is transformed real to real by all eight types, the same along every dimension. */
#define R2R WEFT_TRANSFORM_R2R
static const engine_case real_cases[] = {
    {R2R, 1, {100}}, {R2R, 1, {127}}, {R2R, 1, {1024}}, {R2R, 3, {40, 36, 30}}};

/* One row being measured. */
typedef struct engine_run {
    const weft_engine_ops *engine;
    weft_device_handle device;
    weft_transform transform;
    int64_t in_size, out_size, batch; /* elements of one array; arrays */
    void *in, *out;                   /* on the host */
    void *device_in, *device_out;     /* the same where the host is the device */
    double gflops, error;             /* 5 N log2 N / t, half of it for real data; relative, L2 */
} engine_run;

static bool real_side(const engine_run *run, bool output) {
    const weft_transform_kind kind = run->transform.kind;
    return kind == R2R || kind == (output ? C2R : R2C);
}

/* Numbers that single precision holds, so that both precisions compute the same. */
static float number_at(int64_t i) {
    uint64_t z = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u; /* Steele, Lea, Flood 2014: SplitMix */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (float)((double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0);
}

/* Half spectra are such as real data has: cuFFT wants no others. */
static exact_complex input_at(const engine_run *run, int64_t i) {
    if (real_side(run, false)) return number_at(i);
    const exact_complex number = number_at(2 * i) + number_at(2 * i + 1) * I;
    if (run->transform.kind != WEFT_TRANSFORM_C2R) return number;
    const int64_t in_array = i % run->in_size;
    const int64_t conjugate = weft_exact_conjugate(&run->transform, in_array);
    if (conjugate == in_array) return creall(number);
    if (conjugate < 0 || conjugate > in_array) return number;
    return conjl(input_at(run, i - in_array + conjugate));
}

static void put_part(const engine_run *run, int64_t i, long double value) {
    if (run->transform.precision == WEFT_SINGLE)
        ((float *)run->in)[i] = (float)value;
    else
        ((double *)run->in)[i] = (double)value;
}

static double output_part(const engine_run *run, int64_t i) {
    return run->transform.precision == WEFT_SINGLE ? ((const float *)run->out)[i]
                                                   : ((const double *)run->out)[i];
}

static void fill_input(const engine_run *run) {
    const int parts = real_side(run, false) ? 1 : 2;
    for (int64_t i = 0; i < run->in_size * run->batch; i++) {
        const exact_complex number = input_at(run, i);
        put_part(run, parts * i, creall(number));
        if (parts == 2) put_part(run, 2 * i + 1, cimagl(number));
    }
}

/* Sets the error of what is in the output. */
static weft_status compare(engine_run *run) {
    const int64_t larger = run->in_size > run->out_size ? run->in_size : run->out_size;
    exact_complex *exact = malloc((size_t)larger * sizeof *exact);
    if (!exact) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exact transform");
    long double off = 0, norm = 0;
    for (int64_t b = 0; b < run->batch; b++) {
        for (int64_t i = 0; i < run->in_size; i++) exact[i] = input_at(run, b * run->in_size + i);
        weft_exact_transform(&run->transform, exact);
        for (int64_t i = 0; i < run->out_size; i++) {
            const int64_t at = b * run->out_size + i;
            const long double want_re = creall(exact[i]), want_im = cimagl(exact[i]);
            const bool real = real_side(run, true);
            long double re = output_part(run, real ? at : 2 * at) - want_re;
            long double im = real ? 0 : output_part(run, 2 * at + 1) - want_im;
            off += re * re + im * im;
            norm += want_re * want_re + (real ? 0 : want_im * want_im);
        }
    }
    free(exact);
    run->error = (double)sqrtl(off / norm);
    return WEFT_SUCCESS;
}

/* Moves all of an array, and waits for that; on the host there is nothing to move. */
static weft_status move(const engine_run *run, const void *from, void *to, int64_t numbers,
                        weft_transfer transfer) {
    const size_t number = run->transform.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    if (from == to) return WEFT_SUCCESS;
    weft_copy copy = weft_copy_of_run(numbers, number);
    WEFT_TRY(run->device.ops->copy(run->device.state, NULL, &copy, from, to, transfer));
    return run->device.ops->queue_wait(run->device.state, NULL);
}

static int64_t numbers_of(const engine_run *run, bool output) {
    const weft_transform *t = &run->transform;
    return (output ? t->out_elements : t->in_elements) * (real_side(run, output) ? 1 : 2);
}

/* Sets the speed: of the best run, after one that does not count. The last one's output stays. */
static weft_status measure(engine_run *run, weft_engine_plan *plan) {
    enum { FEWEST = 5, MOST = 2000 };
    const double enough = 4e-3;
    double best = INFINITY, spent = 0, points = 1;
    for (int i = -1; i < MOST && (i < FEWEST || spent < enough); i++) {
        fill_input(run); /* plans of several real dimensions may overwrite it */
        WEFT_TRY(move(run, run->in, run->device_in, numbers_of(run, false), WEFT_HOST_TO_DEVICE));
        double start = weft_clock();
        WEFT_TRY(run->engine->execute(plan, &run->device, NULL, run->device_in, run->device_out));
        WEFT_TRY(run->device.ops->queue_wait(run->device.state, NULL));
        double took = weft_clock() - start;
        spent += took;
        if (i >= 0 && took < best) best = took;
    }
    for (int d = 0; d < run->transform.dims; d++) points *= (double)run->transform.dim[d].n;
    const double flops = (run->transform.kind == WEFT_TRANSFORM_C2C ? 5.0 : 2.5) * points;
    run->gflops = (double)run->batch * flops * log2(points) / best * 1e-9;
    return move(run, run->device_out, run->out, numbers_of(run, true), WEFT_DEVICE_TO_HOST);
}

/* Row-major arrays one after the other. */
static void describe_case(engine_run *run, const engine_case *c, weft_axis type) {
    weft_transform *t = &run->transform;
    t->kind = c->kind;
    t->direction = c->kind == WEFT_TRANSFORM_C2R ? WEFT_INVERSE : WEFT_FORWARD;
    t->dims = c->dims;
    t->destroy_input = true;
    run->in_size = run->out_size = 1;
    for (int d = c->dims - 1; d >= 0; d--) {
        const int64_t n = c->n[d], half = d == c->dims - 1 ? n / 2 + 1 : n;
        t->dim[d] = (weft_dimension){n, run->in_size, run->out_size};
        t->type[d] = type;
        run->in_size *= c->kind == WEFT_TRANSFORM_C2R ? half : n;
        run->out_size *= c->kind == WEFT_TRANSFORM_R2C ? half : n;
    }
    run->batch = NUMBERS_IN_BATCH / run->in_size > 1 ? NUMBERS_IN_BATCH / run->in_size : 1;
    t->loops = 1;
    t->loop[0] = (weft_dimension){run->batch, run->in_size, run->out_size};
    t->in_elements = run->batch * run->in_size;
    t->out_elements = run->batch * run->out_size;
}

static void release(engine_run *run) {
    const weft_device_ops *ops = run->device.ops;
    if (run->device_in != run->in) ops->free(run->device.state, WEFT_MEMORY_DEVICE, run->device_in);
    if (run->device_out != run->out)
        ops->free(run->device.state, WEFT_MEMORY_DEVICE, run->device_out);
    ops->free(run->device.state, WEFT_MEMORY_PAGE_LOCKED, run->in);
    ops->free(run->device.state, WEFT_MEMORY_PAGE_LOCKED, run->out);
}

static weft_status allocate(engine_run *run, bool output) {
    const weft_device_ops *ops = run->device.ops;
    const size_t number = run->transform.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    const size_t bytes = (size_t)numbers_of(run, output) * number;
    void **host = output ? &run->out : &run->in;
    void **device = output ? &run->device_out : &run->device_in;
    WEFT_TRY(ops->allocate(run->device.state, WEFT_MEMORY_PAGE_LOCKED, bytes, host));
    *device = *host;
    if (ops->host_addressable) return WEFT_SUCCESS;
    *device = NULL;
    return ops->allocate(run->device.state, WEFT_MEMORY_DEVICE, bytes, device);
}

static weft_status run_row(engine_run *run) {
    weft_engine_plan *plan = NULL;
    size_t bytes;
    weft_status status = allocate(run, false);
    if (status == WEFT_SUCCESS) status = allocate(run, true);
    if (status == WEFT_SUCCESS)
        status = run->engine->plan(&run->transform, &run->device, &plan, &bytes);
    if (status == WEFT_SUCCESS) status = measure(run, plan);
    if (status == WEFT_SUCCESS) status = compare(run);
    if (plan) run->engine->destroy(plan);
    release(run);
    return status;
}

static void report_row(const engine_run *run, bool quiet, weft_status status,
                       engines_result *result) {
    static const char *const kinds[] = {"c2c", "r2c", "c2r"};
    const weft_transform *t = &run->transform;
    const char *kind = t->kind == R2R ? weft_axis_name(t->type[0]) : kinds[t->kind];
    const double bound = weft_allowed_error(t), share = run->error / bound;
    char shape[48] = "";
    for (int d = 0, at = 0; d < t->dims; d++)
        at += snprintf(shape + at, sizeof shape - (size_t)at, d ? "x%lld" : "%lld",
                       (long long)t->dim[d].n);
    const char *verdict = status != WEFT_SUCCESS   ? "FAIL"
                          : !(share <= 1)          ? "FAIL" /* NaN fails */
                          : share <= marginal_from ? "PASS"
                                                   : "MARGINAL";
    const char *reason = status != WEFT_SUCCESS ? weft_thread_error() : "";
    *(verdict[0] == 'P'   ? &result->passed
      : verdict[0] == 'M' ? &result->marginal
                          : &result->failed) += 1;
    if (!quiet || verdict[0] == 'F')
        printf("%-10s %10s %-4s %s %10.3f %10.2e %10.2e %5.0f %% %s%s%s\n", run->engine->name,
               shape, kind, weft_precision_name(t->precision), run->gflops, run->error, bound,
               100 * share, verdict, reason[0] != '\0' ? ": " : "", reason);
    json_array_append_new(result->rows,
                          json_pack("{s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:s, s:s}", "engine",
                                    run->engine->name, "shape", shape, "kind", kind, "precision",
                                    weft_precision_name(t->precision), "batch", (int)run->batch,
                                    "gflops", run->gflops, "error", run->error, "allowed", bound,
                                    "result", verdict, "reason", reason));
}

/* Both precisions, or the one that was chosen. An engine that has no real-to-real transforms has no
 * rows of them. */
static void run_case(const weft_engine_ops *engine, const weft_device_handle *device,
                     const shared_options *shared, const engine_case *c, weft_axis type,
                     engines_result *result) {
    for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++) {
        if (shared->precision_given && precision != (int)shared->precision) continue;
        engine_run run = {.engine = engine, .device = *device};
        run.transform.precision = (weft_precision)precision;
        run.transform.threads = shared->plan.threads > 0 ? shared->plan.threads : 1;
        run.transform.effort = shared->plan.effort;
        describe_case(&run, c, type);
        if (c->kind == R2R && engine->supports(&run.transform, device->ops) != WEFT_SUCCESS)
            continue;
        report_row(&run, shared->quiet, run_row(&run), result);
        fflush(stdout);
    }
}

/* An engine that is not here is left out. */
static void run_engine(const weft_engine_ops *engine, const weft_device_handle *device,
                       const shared_options *shared, engines_result *result) {
    const char *description = NULL;
    if (engine->probe(&description) != WEFT_SUCCESS) return;
    if (!shared->quiet)
        printf("\n%s\n%-10s %10s %-4s %-6s %10s %10s %10s %7s\n", description, "engine", "shape",
               "", "", "GFLOP/s", "error", "allowed", "share");
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        run_case(engine, device, shared, &cases[c], WEFT_AXIS_OF_KIND, result);
    for (size_t c = 0; c < sizeof real_cases / sizeof real_cases[0]; c++)
        for (weft_axis type = WEFT_DCT1; type <= WEFT_DST4; type++)
            run_case(engine, device, shared, &real_cases[c], type, result);
}

#define WEFT_ENGINES_THAT_TRANSFORM
#define WEFT_ENGINE_ENTRY(ops) extern const weft_engine_ops ops;
#include "engine/engines.def"
#undef WEFT_ENGINE_ENTRY

#define WEFT_ENGINE_ENTRY(ops) &ops,
static const weft_engine_ops *const engines[] = {
#include "engine/engines.def"
};
#undef WEFT_ENGINE_ENTRY

/* The device that an engine computes on: cuFFT on CUDA, the jit engine there or through OpenCL, the
 * OpenMP engine on OpenMP's, all others here. NULL: there is none. */
static const weft_device_ops *device_of(const weft_engine_ops *engine) {
    static const weft_device with_kernels[] = {WEFT_CUDA, WEFT_OPENCL};
    if (engine->id == WEFT_ENGINE_OPENMP) return weft_device_find(WEFT_OPENMP);
    if (engine->id != WEFT_ENGINE_JIT && engine->id != WEFT_ENGINE_CUFFT)
        return weft_device_find(WEFT_HOST);
    for (int d = 0; d < (engine->id == WEFT_ENGINE_JIT ? 2 : 1); d++) {
        const weft_device_ops *device = weft_device_find(with_kernels[d]);
        if (device && device->probe(NULL) == WEFT_SUCCESS) return device;
    }
    return NULL;
}

/* Every engine that can compute somewhere; the jit engine only by name, since it compiles kernels
 * for every case, and so the OpenMP engine, which the host has no use for. */
weft_status engines_validate(const shared_options *shared, engines_result *result) {
    const weft_device_settings settings = {.threads = 1};
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        const weft_engine chosen = shared->plan.engine;
        const bool by_name =
            engines[e]->id == WEFT_ENGINE_JIT || engines[e]->id == WEFT_ENGINE_OPENMP;
        if (chosen != engines[e]->id && (chosen != WEFT_ENGINE_AUTO || by_name)) continue;
        weft_device_handle device = {.ops = device_of(engines[e])};
        if (!device.ops) continue;
        WEFT_TRY(device.ops->open(&settings, &device.state));
        run_engine(engines[e], &device, shared, result);
        device.ops->close(device.state);
    }
    return WEFT_SUCCESS;
}
