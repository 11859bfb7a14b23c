/*
 * For the tests of engines: every engine of engines.def, the host device to run them on, and a
 * check of one transform against the exact DFT that also sees what was written where nothing should
 * be, and what was not written where something should.
 */
#ifndef WEFT_TESTS_TEST_ENGINE_H
#define WEFT_TESTS_TEST_ENGINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/accuracy.h"
#include "engine/engine.h"
#include "promised_device.h"
#include "random_numbers.h"
#include "support/error.h"

#define WEFT_ENGINES_THAT_TRANSFORM
#define WEFT_ENGINE_ENTRY(ops) extern const weft_engine_ops ops;
#include "engine/engines.def"
#undef WEFT_ENGINE_ENTRY

/* ---- random numbers, a different sequence each run, its seed printed ---- */

static inline void seed_random(void) {
    const char *given = getenv("WEFT_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    random_state = random_state * 2 + 1;
}

/* ---- the device and the engines ---- */

typedef struct bench { /* what an engine works at */
    weft_device_handle device;
    weft_queue *queue;
} bench;

/* cuFFT computes on the CUDA device (or OpenMP's, if WEFT_TEST_DEVICE says so), the OpenMP engine
 * on the OpenMP device, the jit engine on a device that has kernels (OpenCL's, or what
 * WEFT_TEST_DEVICE says), all others on the host. */
static inline weft_device device_id_of(const weft_engine_ops *engine) {
    const char *asked = getenv("WEFT_TEST_DEVICE");
    if (engine->id == WEFT_ENGINE_JIT)
        return asked && strcmp(asked, "cuda") == 0 ? WEFT_CUDA : WEFT_OPENCL;
    if (engine->id == WEFT_ENGINE_CUFFT)
        return asked && strcmp(asked, "openmp") == 0 ? WEFT_OPENMP : WEFT_CUDA;
    return engine->id == WEFT_ENGINE_OPENMP ? WEFT_OPENMP : WEFT_HOST;
}

/* The device on which an engine is tested; NULL: this build does not have it. */
static inline const weft_device_ops *device_of(const weft_engine_ops *engine) {
    return weft_device_find(device_id_of(engine));
}

static inline bench bench_open(const weft_engine_ops *engine) {
    bench b = {.device.ops = device_of(engine)};
    assert_non_null(b.device.ops);
    const weft_device_settings settings = {.threads = 1};
    if (b.device.ops->open(&settings, &b.device.state) != WEFT_SUCCESS)
        fail_msg("%s", weft_thread_error());
    assert_int_equal(b.device.ops->queue_create(b.device.state, false, &b.queue), WEFT_SUCCESS);
    return b;
}

static inline void bench_close(bench *b) {
    b->device.ops->queue_destroy(b->device.state, b->queue);
    b->device.ops->close(b->device.state);
}

static int engines_tested; /* how often one was */

/* Skips the tests of an engine that is not present. If the engine was asked for on a device that
 * was promised, this is a failure, as is an FFTW that is installed but unusable. */
static inline void skip_engine(const weft_engine_ops *engine, const char *why) {
    if (engine->id == WEFT_ENGINE_FFTW && dlopen("libfftw3.so.3", RTLD_NOW))
        fail_msg("libfftw3 is installed, but %s", why);
    if (getenv("WEFT_TEST_ENGINE") && device_is_promised(device_id_of(engine)))
        fail_msg("the engine %s must be here, but %s", engine->name, why);
    print_message("skipped: %s\n", why);
}

/* Whether the engine can run here and is to be tested, the jit engine only by name: compiling takes
 * long on a CPU, so it has tests of its own, with a label of their own; so has the OpenMP engine.
 * That the native engine does not use the SIMD set it was told to is a failure. */
static inline bool engine_is_tested(const weft_engine_ops *engine) {
    const char *only = getenv("WEFT_TEST_ENGINE"), *simd = getenv("WEFT_SIMD"), *description = NULL;
    if (only && strcmp(only, engine->name) != 0) return false;
    if (!only && (engine->id == WEFT_ENGINE_JIT || engine->id == WEFT_ENGINE_OPENMP)) return false;
    const weft_device_ops *device = device_of(engine);
    if (engine->probe(&description) != WEFT_SUCCESS || !device ||
        device->probe(NULL) != WEFT_SUCCESS) {
        skip_engine(engine, device ? weft_thread_error() : "there is no such device in this build");
        return false;
    }
    engines_tested++;
    if (engine->id == WEFT_ENGINE_NATIVE && simd && !(description && strcasestr(description, simd)))
        fail_msg("WEFT_SIMD=%s, but the engine says: %s", simd, description ? description : "");
    return true;
}

static inline const weft_engine_ops *engine_of(void **state) {
    const weft_engine_ops *engine = *state;
    if (engine_is_tested(engine)) return engine;
    skip();
    return NULL;
}

/* The jit engine compiles kernels for every case, which takes longer than all else: of many cases
 * it gets a random one in so many, by OpenCL half as many, the other engines get all; so does it
 * with WEFT_TEST_CASES=all. */
static inline bool is_left_out(const weft_engine_ops *engine, int one_in) {
    const char *asked = getenv("WEFT_TEST_CASES");
    if (engine->id != WEFT_ENGINE_JIT || (asked && strcmp(asked, "all") == 0)) return false;
    const char *device = getenv("WEFT_TEST_DEVICE");
    const bool opencl = device && strcmp(device, "opencl") == 0;
    return random_between(1, opencl ? 2 * one_in : one_in) > 1;
}

static inline bool engine_is_known(const char *name) {
#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    if (strcmp(name, ops.name) == 0) return true;
#include "engine/engines.def"
#undef WEFT_ENGINE_ENTRY
    return false;
}

static inline bool machine_has_simd(const char *set) {
#ifdef __x86_64__
    if (strcmp(set, "sse2") == 0) return true;
    if (strcmp(set, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(set, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
#ifdef __aarch64__
    if (strcmp(set, "neon") == 0) return true;
#endif
    return strcmp(set, "scalar") == 0;
}

/* Begins a program of tests. */
static inline void begin_engine_tests(void) {
    const char *simd = getenv("WEFT_SIMD"), *only = getenv("WEFT_TEST_ENGINE");
    if (simd && !machine_has_simd(simd)) {
        print_message("skipped: this machine has no %s\n", simd);
        exit(STATUS_SKIPPED);
    }
    if (only && !engine_is_known(only)) {
        print_error("WEFT_TEST_ENGINE=%s: there is no such engine\n", only);
        exit(1);
    }
    setenv("WEFT_WISDOM_DIR", "", 1);
    seed_random();
}

/* Ends a program of tests with the number that failed; as skipped where no engine was tested. */
static inline int end_engine_tests(int failed) {
    return failed > 0 ? failed : engines_tested > 0 ? 0 : STATUS_SKIPPED;
}

/* ---- one side of a transform, as an array in memory ---- */

typedef enum side_placement {
    ALIGNED,      /* to 64 bytes */
    MISALIGNED,   /* one real number off that */
    AFTER_GUARD,  /* what lies before the array faults */
    BEFORE_GUARD, /* what lies behind it faults */
    MISALIGNED_AFTER_GUARD,
    PLACEMENTS
} side_placement;

typedef struct side {
    bool real, single;
    int axes; /* loops, then dimensions */
    int64_t n[WEFT_AXES + WEFT_MAX_RANK], stride[WEFT_AXES + WEFT_MAX_RANK];
    int64_t elements; /* of the box */
    int64_t extent;   /* of the memory */
    int64_t ahead;    /* elements of memory before element 0: strides may be negative */
    char *mapping;    /* with a page that faults at either end */
    size_t mapped;
    void *data;          /* element 0 */
    unsigned char *used; /* for each element of memory, whether the view covers it */
} side;

static inline size_t side_number(const side *s) {
    return s->single ? sizeof(float) : sizeof(double);
}

static inline size_t side_element(const side *s) {
    return side_number(s) * (s->real ? 1 : 2);
}

/* Where element number i of the box lies. */
static inline int64_t side_place(const side *s, int64_t i) {
    int64_t place = 0;
    for (int a = s->axes - 1; a >= 0; a--) {
        place += i % s->n[a] * s->stride[a];
        i /= s->n[a];
    }
    return place;
}

static inline exact_complex side_get(const side *s, int64_t i) {
    int64_t at = side_place(s, i) * (s->real ? 1 : 2);
    long double re = s->single ? ((float *)s->data)[at] : ((double *)s->data)[at];
    if (s->real) return re;
    long double im = s->single ? ((float *)s->data)[at + 1] : ((double *)s->data)[at + 1];
    return re + im * I;
}

enum { POISON = 0xff, GUARD = 4096 }; /* a NaN in either precision; a page */

static inline void side_measure(side *s, const weft_transform *t, bool output) {
    s->single = t->precision == WEFT_SINGLE;
    s->real = weft_transform_is_real(t, output);
    s->elements = s->extent = 1;
    for (int i = 0; i < t->loops + t->dims; i++) {
        const weft_dimension *axis = i < t->loops ? &t->loop[i] : &t->dim[i - t->loops];
        bool halved = i == t->loops + t->dims - 1 && t->kind != WEFT_TRANSFORM_C2C && !s->real;
        s->n[s->axes] = halved ? axis->n / 2 + 1 : axis->n;
        s->stride[s->axes] = output ? axis->out_stride : axis->in_stride;
        s->elements *= s->n[s->axes];
        int64_t reach = (s->n[s->axes] - 1) * s->stride[s->axes];
        s->extent += llabs(reach);
        s->ahead += reach < 0 ? -reach : 0;
        s->axes++;
    }
}

/* Poisoned memory for the view. */
static inline side side_create(const weft_transform *t, bool output, side_placement placement) {
    side s = {0};
    side_measure(&s, t, output);
    const size_t bytes = (size_t)s.extent * side_element(&s);
    const bool shifted = placement == MISALIGNED || placement == MISALIGNED_AFTER_GUARD;
    const size_t shift = shifted ? side_number(&s) : 0;
    const size_t inside = (bytes + shift + GUARD - 1) / GUARD * GUARD;
    s.mapped = inside + 2 * GUARD;
    s.mapping = mmap(NULL, s.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(s.mapping, MAP_FAILED);
    assert_int_equal(mprotect(s.mapping + GUARD, inside, PROT_READ | PROT_WRITE), 0);
    memset(s.mapping + GUARD, POISON, inside);
    char *lowest = s.mapping + GUARD + (placement == BEFORE_GUARD ? inside - bytes : shift);
    s.data = lowest + (size_t)s.ahead * side_element(&s);
    s.used = calloc((size_t)s.extent, 1);
    for (int64_t i = 0; i < s.elements; i++) s.used[s.ahead + side_place(&s, i)] = 1;
    return s;
}

static inline void side_put(side *s, int64_t i, exact_complex value) {
    int64_t at = side_place(s, i) * (s->real ? 1 : 2);
    const double part[2] = {(double)creall(value), (double)cimagl(value)};
    for (int p = 0; p < (s->real ? 1 : 2); p++) {
        if (s->single)
            ((float *)s->data)[at + p] = (float)part[p];
        else
            ((double *)s->data)[at + p] = part[p];
    }
}

static inline void side_destroy(side *s) {
    free(s->used);
    munmap(s->mapping, s->mapped);
}

/* What lies between the elements of the view, before and behind them, is still poison. */
static inline void assert_gaps_untouched(const side *s) {
    const unsigned char *first = (unsigned char *)s->mapping + GUARD;
    const size_t element = side_element(s), inside = s->mapped - 2 * GUARD;
    const size_t lowest = (size_t)((unsigned char *)s->data - first) - (size_t)s->ahead * element;
    for (size_t at = 0; at < inside; at++) {
        if (first[at] == POISON) continue;
        size_t i = (at - lowest) / element; /* before the array: a large number */
        if (at < lowest || i >= (size_t)s->extent || !s->used[i])
            fail_msg("byte %lld from element 0 is no part of the view and was written to",
                     (long long)(first + at - (unsigned char *)s->data));
    }
}

/* ---- running a transform ---- */

/* Device memory for a side of a transform, gaps included. */
typedef struct device_array {
    void *memory;
    char *host;      /* where it lies on the host */
    char *data;      /* element 0 on the device */
    weft_copy bytes; /* all of it */
} device_array;

static inline device_array device_array_create(const bench *b, const weft_transform *t, bool output,
                                               const void *host) {
    side s = {0};
    side_measure(&s, t, output);
    const int64_t bytes = s.extent * (int64_t)side_element(&s);
    const int64_t ahead = s.ahead * (int64_t)side_element(&s);
    device_array array = {.host = (char *)(uintptr_t)host - ahead,
                          .bytes = weft_copy_of_run(bytes, 1)};
    const weft_device_ops *ops = b->device.ops;
    assert_int_equal(
        ops->allocate(b->device.state, WEFT_MEMORY_DEVICE, (size_t)bytes, &array.memory),
        WEFT_SUCCESS);
    assert_int_equal(ops->copy(b->device.state, b->queue, &array.bytes, array.host, array.memory,
                               WEFT_HOST_TO_DEVICE),
                     WEFT_SUCCESS);
    array.data = (char *)array.memory + ahead;
    return array;
}

static inline void device_array_return(const bench *b, device_array *array) {
    const weft_device_ops *ops = b->device.ops;
    assert_int_equal(ops->copy(b->device.state, b->queue, &array->bytes, array->memory, array->host,
                               WEFT_DEVICE_TO_HOST),
                     WEFT_SUCCESS);
    assert_int_equal(ops->queue_wait(b->device.state, b->queue), WEFT_SUCCESS);
    ops->free(b->device.state, WEFT_MEMORY_DEVICE, array->memory);
}

static inline void execute_planned(const weft_engine_ops *engine, const bench *b,
                                   weft_engine_plan *plan, const void *in, void *out) {
    if (engine->execute(plan, &b->device, b->queue, in, out) != WEFT_SUCCESS ||
        b->device.ops->queue_wait(b->device.state, b->queue) != WEFT_SUCCESS)
        fail_msg("%s", weft_thread_error());
}

/* Runs the transform on arrays of the host, on whichever device the engine computes. */
static inline void run_transform(const weft_engine_ops *engine, const weft_transform *transform,
                                 const void *in, void *out) {
    bench b = bench_open(engine);
    weft_engine_plan *plan = NULL;
    size_t bytes = 0;
    if (engine->plan(transform, &b.device, &plan, &bytes) != WEFT_SUCCESS)
        fail_msg("%s", weft_thread_error());
    assert_true(bytes > 0);
    if (b.device.ops->host_addressable) {
        execute_planned(engine, &b, plan, in, out);
    } else {
        device_array from = device_array_create(&b, transform, false, in), to = from;
        if (out != in) to = device_array_create(&b, transform, true, out);
        execute_planned(engine, &b, plan, from.data, to.data);
        device_array_return(&b, &from);
        if (out != in) device_array_return(&b, &to);
    }
    engine->destroy(plan);
    bench_close(&b);
}

/* ---- the check ---- */

/* Axis number a of a transform: loops first, then dimensions. */
static inline weft_dimension *axis_of(weft_transform *t, int a) {
    return a < t->loops ? &t->loop[a] : &t->dim[a - t->loops];
}

/* Memory orders as lists of axes (loops first, then dimensions), slowest first; strides may leave
 * gaps. */
static inline void lay_out(weft_transform *t, bool output, const int *order, const int64_t *gap) {
    const int axes = t->loops + t->dims;
    bool real = t->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    int64_t stride = 1;
    for (int i = axes - 1; i >= 0; i--) {
        weft_dimension *axis = axis_of(t, order[i]);
        bool halved = order[i] == axes - 1 && t->kind != WEFT_TRANSFORM_C2C && !real;
        stride += gap[i];
        *(output ? &axis->out_stride : &axis->in_stride) = stride;
        stride *= halved ? axis->n / 2 + 1 : axis->n;
    }
}

static inline void describe_transform(const weft_transform *t, char *text, size_t size) {
    int used =
        snprintf(text, size, "kind %d precision %d direction %d%s%s threads %d;", (int)t->kind,
                 (int)t->precision, (int)t->direction, t->in_place ? " in place" : "",
                 t->destroy_input ? " destroying" : "", t->threads);
    for (int i = 0; i < t->loops + t->dims; i++) {
        const weft_dimension *axis = i < t->loops ? &t->loop[i] : &t->dim[i - t->loops];
        used += snprintf(text + used, size - (size_t)used, " %s %lld: %lld -> %lld",
                         i < t->loops ? "loop" : "dim", (long long)axis->n,
                         (long long)axis->in_stride, (long long)axis->out_stride);
    }
}

/* Numbers of one array of the batch on either side, and arrays in the batch. */
typedef struct box_sizes {
    int64_t in, out, batch;
} box_sizes;

static inline box_sizes sizes_of(const weft_transform *t) {
    box_sizes sizes = {1, 1, 1};
    for (int i = 0; i < t->loops; i++) sizes.batch *= t->loop[i].n;
    for (int d = 0; d < t->dims; d++) {
        const int64_t n = t->dim[d].n, half = d == t->dims - 1 ? n / 2 + 1 : n;
        sizes.in *= t->kind == WEFT_TRANSFORM_C2R ? half : n;
        sizes.out *= t->kind == WEFT_TRANSFORM_R2C ? half : n;
    }
    return sizes;
}

/* The square of the absolute value, in double, where long double may be software. */
static inline double square_of(exact_complex x) {
    const double re = (double)creall(x), im = (double)cimagl(x);
    return re * re + im * im;
}

/* Runs the transform on `given` (the batch, array after array, row-major) and compares: values with
 * `expected`, what lies around and between the elements with poison, and an input that is to be
 * kept. Returns the relative error over the batch, as a share of what is allowed. */
static inline double check_against(const weft_engine_ops *engine, weft_transform *t,
                                   side_placement placement, const exact_complex *given,
                                   const exact_complex *expected) {
    side in = side_create(t, false, placement), out = side_create(t, true, placement);
    t->in_elements = in.extent;
    t->out_elements = out.extent;
    for (int64_t i = 0; i < in.elements; i++) side_put(&in, i, given[i]);
    const size_t inside = in.mapped - 2 * GUARD;
    void *before = malloc(inside);
    memcpy(before, in.mapping + GUARD, inside);

    run_transform(engine, t, in.data, t->in_place ? in.data : out.data);

    const side *result = t->in_place ? &in : &out;
    double error = 0, norm = 0;
    for (int64_t i = 0; i < out.elements; i++) {
        const exact_complex off = side_get(result, i) - expected[i];
        error += square_of(off);
        norm += square_of(expected[i]);
    }
    assert_gaps_untouched(&in);
    assert_gaps_untouched(&out);
    if (!t->in_place && !t->destroy_input) assert_memory_equal(before, in.mapping + GUARD, inside);
    free(before);
    side_destroy(&out);
    side_destroy(&in);
    const double relative = norm > 0 ? sqrt(error / norm) : error;
    const double allowed = weft_allowed_error(t);
    return allowed > 0 ? relative / allowed : relative == 0 ? 0 : INFINITY;
}

/* The share of the rule that an engine's errors may take: 1, but for NVIDIA's library, which is
 * beyond the rule in places: 1.95 at most was seen, on an H200, complex to real of 117 points in
 * double precision. */
static inline double share_of_engine(const weft_engine_ops *engine) {
    return engine->id == WEFT_ENGINE_CUFFT ? 2 : 1;
}

/* The share of the rule that a transform of random numbers may take. The rule is for root mean
 * squares, of errors beside numbers, and that of M numbers is by chance off by about 1/sqrt(2 M),
 * of which four times is allowed, for a constant's rounding in short lines may add up. (Of 100,000
 * random lines of 9 points the worst took 1.56 and of 27 points 1.41.) */
static inline double allowed_share(const weft_engine_ops *engine, const weft_transform *t) {
    const box_sizes sizes = sizes_of(t);
    const int64_t numbers = sizes.batch * sizes.out * (t->kind == WEFT_TRANSFORM_C2R ? 1 : 2);
    return share_of_engine(engine) + 3 / sqrt((double)numbers);
}

/* Random numbers for one array of the input, such as the precision holds. Half spectra are none of
 * real data, which the engines ignore, but for cuFFT, which calls that undefined. */
static inline void fill_array(const weft_engine_ops *engine, const weft_transform *t,
                              exact_complex *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double re = random_number(), im = random_number();
        if (t->precision == WEFT_SINGLE) re = (float)re, im = (float)im;
        x[i] = t->kind == WEFT_TRANSFORM_R2C ? re : re + im * I;
    }
    if (t->kind != WEFT_TRANSFORM_C2R || engine->id != WEFT_ENGINE_CUFFT) return;
    for (int64_t i = 0; i < count; i++) {
        const int64_t conjugate = weft_exact_conjugate(t, i);
        if (conjugate == i) x[i] = creall(x[i]);
        if (conjugate > i) x[conjugate] = conjl(x[i]);
    }
}

/* Checks a transform of random data against the exact result. */
static inline double check_transform(const weft_engine_ops *engine, weft_transform *t,
                                     side_placement placement) {
    const box_sizes sizes = sizes_of(t);
    const int64_t larger = sizes.in > sizes.out ? sizes.in : sizes.out;
    exact_complex *given = malloc((size_t)(sizes.batch * sizes.in) * sizeof *given);
    exact_complex *expected = malloc((size_t)(sizes.batch * sizes.out) * sizeof *expected);
    exact_complex *work = malloc((size_t)larger * sizeof *work);
    for (int64_t b = 0; b < sizes.batch; b++) {
        fill_array(engine, t, given + b * sizes.in, sizes.in);
        memcpy(work, given + b * sizes.in, (size_t)sizes.in * sizeof *work);
        weft_exact_transform(t, work);
        memcpy(expected + b * sizes.out, work, (size_t)sizes.out * sizeof *work);
    }
    double share = check_against(engine, t, placement, given, expected);
    free(work);
    free(expected);
    free(given);
    return share;
}

#endif
