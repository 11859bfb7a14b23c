/*
 * Memory: how fast all ranks and threads of a node together copy, read and update arrays that no
 * cache holds. Bytes count once for each time that the program reads or writes them; what the
 * hardware reads besides, to fill the cache lines that are written, does not.
 *
 * Measured twice: on huge pages where the system gives them, which is the ceiling, and on ordinary
 * pages, which is what programs get that do not ask (Linux, transparent_hugepage = madvise).
 */
#include "bench/ceilings_parts.h"

#include "io/agreement.h"
#include "support/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { ARRAYS = 3, PAGE = 4096 };
enum { HUGE_PAGE = 2 << 20 };
static const double budget = 0.25; /* seconds for each of the five */

/* Eight numbers; compilers make of it what the machine has. */
typedef double numbers __attribute__((vector_size(64)));

/* What one thread works on: three parts of `count` vectors each. */
typedef struct part {
    numbers *a, *b, *c;
    size_t count;
    numbers sum; /* keeps what was read */
    double factor;
} part;

typedef struct memory_case {
    const char *name;
    void (*run)(part *p);
    int arrays; /* read or written */
} memory_case;

typedef struct memory_work {
    part *parts;
    const memory_case *what;
} memory_work;

static void copy(part *p) {
    memcpy(p->a, p->b, p->count * sizeof *p->a);
}

#if defined(__x86_64__)
static void copy_streaming(part *p) {
    const __m128i *from = (const __m128i *)(const void *)p->b;
    __m128i *to = (__m128i *)(void *)p->a;
    for (size_t i = 0; i < p->count * (sizeof *p->a / sizeof *to); i += 4) {
        __m128i w0 = _mm_load_si128(from + i), w1 = _mm_load_si128(from + i + 1);
        __m128i w2 = _mm_load_si128(from + i + 2), w3 = _mm_load_si128(from + i + 3);
        _mm_stream_si128(to + i, w0);
        _mm_stream_si128(to + i + 1, w1);
        _mm_stream_si128(to + i + 2, w2);
        _mm_stream_si128(to + i + 3, w3);
    }
    _mm_sfence();
}
#else
static void copy_streaming(part *p) {
    for (size_t i = 0; i < p->count; i++) p->a[i] = p->b[i];
}
#endif

static void read_sum(part *p) {
    numbers s0 = {0}, s1 = {0}; /* two chains hide the latency of the additions */
    for (size_t i = 0; i + 1 < p->count; i += 2) {
        s0 += p->b[i];
        s1 += p->b[i + 1];
    }
    p->sum += s0 + s1;
}

static void update(part *p) {
    for (size_t i = 0; i < p->count; i++) p->a[i] *= p->factor;
}

static void triad(part *p) {
    for (size_t i = 0; i < p->count; i++) p->a[i] = p->b[i] + p->factor * p->c[i];
}

static const memory_case cases[] = {{"copy", copy, 2},
                                    {"copy_streaming", copy_streaming, 2},
                                    {"read", read_sum, 1},
                                    {"update", update, 2},
                                    {"triad", triad, 3}};
enum { CASES = sizeof cases / sizeof cases[0] };

static void run_part(void *argument, int thread) {
    memory_work *work = argument;
    work->what->run(&work->parts[thread]);
}

/* By the thread that works on it, so that it lies in memory near that thread. */
static void touch_part(void *argument, int thread) {
    part *p = &((memory_work *)argument)->parts[thread];
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = (numbers){0} + 1;
        p->b[i] = (numbers){0} + 1;
        p->c[i] = (numbers){0} + 1;
    }
}

/* Vectors of each array for one thread: 1 GiB on a node in all, a quarter of the memory where there
 * is less. */
static size_t part_count(const ceilings_group *group) {
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double all = memory / 4 < 0x1p30 ? memory / 4 : 0x1p30;
    int threads = group->node_ranks * ceilings_team_threads(group->team);
    size_t pages = (size_t)(all / ARRAYS / threads / PAGE);
    return (pages > 1 ? pages : 1) * (PAGE / sizeof(numbers));
}

static weft_status measure(const ceilings_group *group, memory_work *work, json_t *result) {
    double array = (double)work->parts[0].count * sizeof(numbers) *
                   ceilings_team_threads(group->team) * group->node_ranks;
    double start, end;
    ceilings_team_run(group->team, touch_part, work, &start, &end);
    for (int k = 0; k < CASES; k++) {
        double seconds = 0, slowest = 0;
        work->what = &cases[k];
        WEFT_TRY(ceilings_best_time(group, run_part, work, budget, &seconds));
        double rate = cases[k].arrays * array / seconds;
        CEILINGS_MPI(MPI_Reduce(&rate, &slowest, 1, MPI_DOUBLE, MPI_MIN, 0, group->world->comm));
        if (result) json_object_set_new(result, cases[k].name, json_real(slowest));
    }
    if (result) json_object_set_new(result, "array_bytes", json_integer((json_int_t)array));
    return WEFT_SUCCESS;
}

/* Fills `result` on rank 0. Collective. */
static weft_status measure_on(const ceilings_group *group, int advice, json_t *result) {
    int threads = ceilings_team_threads(group->team);
    size_t count = part_count(group);
    size_t bytes = ARRAYS * count * sizeof(numbers) * (size_t)threads, room = bytes + HUGE_PAGE;
    memory_work work = {.parts = aligned_alloc(64, (size_t)threads * sizeof(part))};
    char *pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    weft_status status = WEFT_SUCCESS;
    if (!work.parts || pages == MAP_FAILED)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "ceilings: no memory for %zu bytes", bytes);
    status = weft_array_agree(group->world->comm, status);
    if (status == WEFT_SUCCESS) {
        size_t offset = HUGE_PAGE - (uintptr_t)pages % HUGE_PAGE;
        numbers *data = (numbers *)(void *)(pages + offset);
        (void)madvise(data, bytes, advice); /* a kernel without huge pages refuses */
        for (int t = 0; t < threads; t++) {
            numbers *own = data + (size_t)t * ARRAYS * count;
            work.parts[t] = (part){.a = own,
                                   .b = own + count,
                                   .c = own + 2 * count,
                                   .count = count,
                                   .factor = -1}; /* an update keeps its numbers in range */
        }
        status = measure(group, &work, result);
    }
    if (pages != MAP_FAILED) munmap(pages, room);
    free(work.parts);
    return status;
}

weft_status ceilings_memory(const ceilings_group *group, json_t **memory) {
    bool first = group->world->rank == 0;
    json_t *huge = first ? json_object() : NULL, *ordinary = first ? json_object() : NULL;
    weft_status status = measure_on(group, MADV_HUGEPAGE, huge);
    if (status == WEFT_SUCCESS) status = measure_on(group, MADV_NOHUGEPAGE, ordinary);
    if (first) json_object_set_new(huge, "ordinary_pages", ordinary);
    *memory = huge;
    return status;
}
