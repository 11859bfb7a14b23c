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
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/accuracy.h"
#include "engine/engine.h"
#include "support/error.h"

#define WEFT_ENGINES_THAT_TRANSFORM
#define WEFT_ENGINE_ENTRY(ops) extern const weft_engine_ops ops;
#include "engine/engines.def"
#undef WEFT_ENGINE_ENTRY

/* ---- random numbers, a different sequence each run, its seed printed ---- */

static uint64_t random_state;

static inline void seed_random(void) {
    const char *given = getenv("WEFT_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    random_state = random_state * 2 + 1;
}

static inline uint64_t random_bits(void) { /* Steele, Lea, Flood 2014: SplitMix */
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* lo..hi, both included */
static inline int64_t random_between(int64_t lo, int64_t hi) {
    return lo + (int64_t)(random_bits() % (uint64_t)(hi - lo + 1));
}

static inline double random_number(void) { /* in [-1, 1) */
    return (double)(random_bits() >> 11) * 0x1p-52 - 1;
}

/* ---- the device and the engines ---- */

typedef struct bench { /* what an engine works at */
    weft_device_handle device;
    weft_queue *queue;
} bench;

static inline bench bench_open(void) {
    bench b = {.device.ops = weft_device_find(WEFT_HOST)};
    assert_non_null(b.device.ops);
    const weft_device_settings settings = {.threads = 1};
    assert_int_equal(b.device.ops->open(&settings, &b.device.state), WEFT_SUCCESS);
    assert_int_equal(b.device.ops->queue_create(b.device.state, &b.queue), WEFT_SUCCESS);
    return b;
}

static inline void bench_close(bench *b) {
    b->device.ops->queue_destroy(b->device.state, b->queue);
    b->device.ops->close(b->device.state);
}

/* Skips the test where the engine cannot run; that FFTW is installed and yet unusable is a failure.
 */
static inline const weft_engine_ops *engine_of(void **state) {
    const weft_engine_ops *engine = *state;
    if (engine->probe(NULL) == WEFT_SUCCESS) return engine;
    if (engine->id == WEFT_ENGINE_FFTW && dlopen("libfftw3.so.3", RTLD_NOW))
        fail_msg("libfftw3 is installed, but %s", weft_thread_error());
    print_message("skipped: %s\n", weft_thread_error());
    skip();
    return NULL;
}

static inline void run_transform(const weft_engine_ops *engine, const weft_transform *transform,
                                 const void *in, void *out) {
    bench b = bench_open();
    weft_engine_plan *plan = NULL;
    size_t bytes = 0;
    if (engine->plan(transform, &b.device, &plan, &bytes) != WEFT_SUCCESS)
        fail_msg("%s", weft_thread_error());
    assert_true(bytes > 0);
    assert_int_equal(engine->execute(plan, &b.device, b.queue, in, out), WEFT_SUCCESS);
    assert_int_equal(b.device.ops->queue_wait(b.device.state, b.queue), WEFT_SUCCESS);
    engine->destroy(plan);
    bench_close(&b);
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
    s->real = t->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
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

static inline void side_fill(side *s) {
    const int parts = s->real ? 1 : 2;
    for (int64_t i = 0; i < s->elements; i++) {
        for (int part = 0; part < parts; part++) {
            int64_t at = side_place(s, i) * parts + part;
            if (s->single)
                ((float *)s->data)[at] = (float)random_number();
            else
                ((double *)s->data)[at] = random_number();
        }
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

/* ---- the check ---- */

/* Runs the transform and compares: values, gaps, and the input. Returns error / allowed error, over
 * the batch. */
static inline double check_transform(const weft_engine_ops *engine, weft_transform *t,
                                     side_placement placement) {
    side in = side_create(t, false, placement), out = side_create(t, true, placement);
    t->in_elements = in.extent;
    t->out_elements = out.extent;
    side_fill(&in);
    int64_t batch = 1;
    for (int i = 0; i < t->loops; i++) batch *= t->loop[i].n;
    const int64_t in_size = in.elements / batch, out_size = out.elements / batch;
    const int64_t larger = in_size > out_size ? in_size : out_size;
    exact_complex *expected = malloc((size_t)(batch * larger) * sizeof *expected);
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t i = 0; i < in_size; i++)
            expected[b * larger + i] = side_get(&in, b * in_size + i);
        weft_exact_transform(t, expected + b * larger);
    }
    const size_t inside = in.mapped - 2 * GUARD;
    void *before = malloc(inside);
    memcpy(before, in.mapping + GUARD, inside);

    run_transform(engine, t, in.data, t->in_place ? in.data : out.data);

    const side *result = t->in_place ? &in : &out;
    long double error = 0, norm = 0;
    for (int64_t i = 0; i < out.elements; i++) {
        exact_complex want = expected[i / out_size * larger + i % out_size];
        exact_complex off = side_get(result, i) - want;
        error += creall(off * conjl(off));
        norm += creall(want * conjl(want));
    }
    assert_gaps_untouched(&in);
    assert_gaps_untouched(&out);
    if (!t->in_place && !t->destroy_input) assert_memory_equal(before, in.mapping + GUARD, inside);
    free(before);
    free(expected);
    side_destroy(&out);
    side_destroy(&in);
    const double relative = norm > 0 ? (double)sqrtl(error / norm) : (double)error;
    const double allowed = weft_allowed_error(t);
    return allowed > 0 ? relative / allowed : relative == 0 ? 0 : INFINITY;
}

#endif
