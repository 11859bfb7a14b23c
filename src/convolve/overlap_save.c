/*
 * Linear convolutions by overlap-save: the field is taken in tiles that overlap by the kernel's
 * extents less 1, and each is convolved cyclically while it lies in the cache. Elements of which
 * nothing has wrapped around are the result's. So a field goes through memory once in each
 * direction, and no transform is longer than a tile's. (Stockham, "High-speed convolution and
 * correlation", AFIPS 1966; Helms, "Fast Fourier transform method of computing difference equations
 * and simulating filters", IEEE Trans. Audio 15, 1967.)
 */
#include "convolve/convolve.h"

#include "device/device.h"
#include "exec/arguments.h"
#include "support/error.h"
#include "support/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- the choice ---- */

/* Costs are counted in what a point costs for each factor 2 of a transform's points, there and
 * back: 0.09 ns in double precision, half of that in single. A point costs A_PASS more for each
 * axis, and FROM_MEMORY where it does not lie in a cache. To be copied in and out, points of tiles
 * cost COPIED more, their rows A_ROW, since they are far apart, and tiles A_TILE; points that other
 * ranks' fields are gathered with cost GATHERED. Measured: docs/results, convolutions. */
enum { A_PASS = 6, FROM_MEMORY = 53, COPIED = 3, A_ROW = 2200, A_TILE = 14000, GATHERED = 20 };

/* Of a last-level cache no more than so many bytes count: others use a large one too. */
enum { USEFUL_LAST_LEVEL = 8 << 20 };

/* What an array costs to be convolved. Where it fills more than half of the second-level cache, for
 * its spectrum takes as much again, more and more of its points come from memory, and all where it
 * fills half of this core's share of the last cache. Larger arrays lie farther away. */
static double cost_of_array(const int64_t *n, int rank, size_t bytes) {
    const weft_topology *t = weft_topology_get();
    const double within = (double)t->l2 / 2;
    const double share = (double)t->last_level / t->last_level_shared / 2;
    const double beyond = fmax(2 * within, fmin(share, USEFUL_LAST_LEVEL));
    double points = 1, each = 0;
    for (int a = 0; a < rank; a++) {
        points *= (double)n[a];
        if (n[a] > 1) each += A_PASS + log2((double)n[a]);
    }
    const double size = points * (double)bytes;
    const double part = fmin(1, fmax(0, (size - within) / (beyond - within)));
    const double distance = 1 + fmax(0, log2(size / beyond)) / 4;
    return points * (each + FROM_MEMORY * part * distance);
}

static int64_t count_tiles(const weft_overlap_save *t) {
    int64_t tiles = t->batch;
    for (int a = 0; a < t->rank; a++) tiles *= t->tiles[a];
    return tiles;
}

static double cost_of_tiles(const weft_overlap_save *t, size_t bytes) {
    double points = 1;
    for (int a = 0; a < t->rank; a++) points *= (double)t->tile[a];
    const double rows = points / (double)t->tile[t->rank - 1];
    return (double)count_tiles(t) *
           (cost_of_array(t->tile, t->rank, bytes) + COPIED * points + A_ROW * rows + A_TILE);
}

static double cost_of_whole(const weft_convolved *c, int64_t batch, size_t bytes) {
    int64_t n[WEFT_MAX_RANK];
    for (int a = 0; a < c->problem.rank; a++) n[a] = c->axis[a].transform;
    return (double)batch * cost_of_array(n, c->problem.rank, bytes);
}

/* A length of n or more that transforms well; short ones may be any, for they are soon too long. */
static int64_t length_of_tile(int64_t n) {
    const int64_t unit = n > 128 ? 16 : n > 16 ? 4 : 1;
    return unit * weft_convolved_length((n + unit - 1) / unit);
}

/* The tile has n points along the axis, or so many as one needs that gives the whole result. */
static void set_tile(weft_overlap_save *t, int a, int64_t n) {
    const int64_t all = t->kept[a] + t->overlap[a];
    t->tile[a] = length_of_tile(n < all ? n : all);
    t->step[a] = t->tile[a] - t->overlap[a];
    t->tiles[a] = (t->kept[a] + t->step[a] - 1) / t->step[a];
}

/* Tiles begin with twice the kernel's extents, and grow along the axis along which that costs
 * least, for as long as they may fit a cache. The best on that way is taken; returns its cost. */
static double choose_tile(weft_overlap_save *t, size_t bytes) {
    const double most = 2 * (double)weft_topology_get()->last_level;
    for (int a = 0; a < t->rank; a++) set_tile(t, a, 2 * (t->overlap[a] + 1));
    weft_overlap_save best = *t;
    double least = cost_of_tiles(t, bytes), filled;
    do {
        weft_overlap_save next = *t;
        double cost = INFINITY;
        filled = (double)bytes;
        for (int a = 0; a < t->rank; a++) {
            weft_overlap_save grown = *t;
            if (t->tiles[a] > 1) set_tile(&grown, a, t->tile[a] + t->tile[a] / 8 + 1);
            if (t->tiles[a] > 1 && cost_of_tiles(&grown, bytes) < cost) {
                next = grown;
                cost = cost_of_tiles(&grown, bytes);
            }
        }
        if (cost == INFINITY) break;
        *t = next;
        for (int a = 0; a < t->rank; a++) filled *= (double)t->tile[a];
        if (cost < least) {
            best = next;
            least = cost;
        }
    } while (filled < most);
    *t = best;
    return least;
}

static size_t element_bytes(const weft_convolved *c) {
    return weft_number_bytes(c->problem.precision) * (c->real ? 1 : 2);
}

const char *weft_overlap_save_obstacle(weft_context ctx, const weft_convolved *c,
                                       const weft_options *o) {
    if (ctx->transport->simulated) return "the context has simulated ranks";
    if (o->device != WEFT_HOST) return "options.device is not the host";
    if (o->placement == WEFT_IN_PLACE) return "options.placement is in place";
    if (c->problem.deconvolve) return "problem.deconvolve is set";
    if (c->problem.kernel.kind != WEFT_KERNEL_ARRAY) return "the kernel is not an array";
    for (int a = 0; a < c->problem.rank; a++)
        if (c->axis[a].boundary != WEFT_LINEAR && (c->axis[a].n > 1 || c->axis[a].kernel > 1))
            return "an axis of several points, or of a kernel of several, is not linear";
    return NULL;
}

static weft_overlap_save whole_of(const weft_convolved *c, const weft_options *o) {
    weft_overlap_save t = {.rank = c->problem.rank, .batch = 1, .threads = 1};
    if (c->problem.batch > 0) t.batch = c->problem.batch;
    if (o->threads > 1) t.threads = o->threads;
    for (int a = 0; a < t.rank; a++) {
        t.n[a] = c->axis[a].n;
        t.first[a] = c->axis[a].first;
        t.kept[a] = c->axis[a].kept;
        t.overlap[a] = c->axis[a].kernel - 1;
    }
    return t;
}

/* Whether field and result have no more bytes than a plan's arrays may have. */
static bool fits(const weft_overlap_save *t) {
    double in = 16 * (double)t->batch, out = in;
    for (int a = 0; a < t->rank; a++) {
        in *= (double)t->n[a];
        out *= (double)t->kept[a];
    }
    return in <= 0x1p60 && out <= 0x1p60;
}

static void make_cyclic(weft_convolved *c, const weft_overlap_save *t) {
    weft_convolution_problem *p = &c->problem;
    p->batch = 1;
    for (int a = 0; a < p->rank; a++) {
        p->boundary[a] = WEFT_PERIODIC;
        p->length[a] = 0;
        p->n[a] = t->tile[a];
        p->kernel.origin[a] = p->correlate ? t->overlap[a] : 0;
    }
    weft_convolved_find_axes(c);
}

/* Makes c the convolution of a tile, and the options those of its plan. */
static weft_status take(weft_overlap_save *t, weft_convolved *c, weft_options *o,
                        weft_overlap_save **made) {
    if (t->threads > count_tiles(t)) t->threads = (int)count_tiles(t);
    *made = malloc(sizeof **made);
    if (!*made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution by tiles");
    **made = *t;
    make_cyclic(c, t);
    o->threads = 1;
    o->placement = WEFT_IN_PLACE;
    return WEFT_SUCCESS;
}

weft_status weft_overlap_save_choose(weft_context ctx, weft_convolved *c, weft_options *o,
                                     weft_overlap_save **made) {
    const bool asked = c->problem.method == WEFT_OVERLAP_SAVE;
    const char *why = weft_overlap_save_obstacle(ctx, c, o);
    if (asked && why)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.method is overlap-save, but %s; leave problem.method 0", why);
    if (ctx->transport->size > 1) return WEFT_SUCCESS; /* overlap_save_ranks.c */
    weft_overlap_save t = whole_of(c, o);
    /* The plan of the whole refuses what is too large, and wrong numbers of threads. */
    if (why || c->problem.method == WEFT_WHOLE || !fits(&t)) return WEFT_SUCCESS;
    if (c->problem.batch < 0 || o->threads < 0 || o->threads > WEFT_MAX_THREADS)
        return WEFT_SUCCESS;
    const double by_tiles = choose_tile(&t, element_bytes(c));
    if (!asked && by_tiles >= cost_of_whole(c, t.batch, element_bytes(c))) return WEFT_SUCCESS;
    return take(&t, c, o, made);
}

/* ---- of a part ---- */

/* What makes `result`, with the batch in front, out of `field`. */
static weft_overlap_save part_of(const weft_convolved *c, const weft_options *o,
                                 const weft_region *field, const weft_region *result) {
    weft_overlap_save t = whole_of(c, o);
    for (int a = 0; a < t.rank; a++) {
        t.n[a] = field->n[a + 1];
        t.first[a] += result->lo[a + 1] - field->lo[a + 1];
        t.kept[a] = result->n[a + 1];
    }
    return t;
}

weft_status weft_overlap_save_cut(weft_convolved *c, weft_options *o, const weft_region *field,
                                  const weft_region *result, weft_overlap_save **made) {
    weft_overlap_save t = part_of(c, o, field, result);
    choose_tile(&t, element_bytes(c));
    return take(&t, c, o, made);
}

/* What a point costs, in seconds, for each factor 2 of a transform's points. */
static double unit(const weft_convolved *c) {
    return c->problem.precision == WEFT_SINGLE ? 0.045e-9 : 0.09e-9;
}

double weft_overlap_save_seconds(const weft_convolved *c, const weft_options *o,
                                 const weft_region *field, const weft_region *result) {
    weft_overlap_save t = part_of(c, o, field, result);
    const double gathered = GATHERED * (double)weft_region_elements(field);
    return unit(c) * (choose_tile(&t, element_bytes(c)) + gathered);
}

double weft_overlap_save_whole_seconds(const weft_convolved *c) {
    const int64_t batch = c->problem.batch > 0 ? c->problem.batch : 1;
    return unit(c) * cost_of_whole(c, batch, element_bytes(c));
}

/* ---- making ---- */

static size_t bytes_of(const weft_overlap_save *t, const int64_t *n, size_t element) {
    for (int a = 0; a < t->rank; a++) element *= (size_t)n[a];
    return element;
}

/* What a thread needs: a build, which has its own scratch memory, and a tile. */
static weft_status prepare_thread(weft_plan plan, int thread) {
    weft_overlap_save *t = plan->overlap_save;
    weft_build *b = thread == 0 ? plan->build : calloc(1, sizeof *b);
    if (!b) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for another thread's plan");
    t->build[thread] = b;
    if (thread > 0)
        WEFT_TRY(weft_build_create(plan->transport, &plan->planner, &plan->build->candidate, b));
    return b->device.ops->allocate(b->device.state, WEFT_MEMORY_DEVICE,
                                   bytes_of(t, t->tile, element_bytes(plan->convolution)),
                                   &t->array[thread]);
}

static weft_status check_limit(weft_plan plan) {
    const size_t limit = plan->call.options.device_memory_limit;
    weft_memory memory = plan->build->memory;
    weft_convolution_add_memory(plan, &memory);
    if (limit == 0 || memory.workspace <= limit) return WEFT_SUCCESS;
    return weft_fail(
        WEFT_ERROR_OUT_OF_MEMORY,
        "device memory: tiles, their workspaces and a kernel's spectrum, %zu bytes, do "
        "not fit options.device_memory_limit, %zu bytes; raise the limit or use fewer "
        "threads",
        memory.workspace, limit);
}

weft_status weft_overlap_save_prepare(weft_plan plan) {
    weft_overlap_save *t = plan->overlap_save;
    const size_t element = element_bytes(plan->convolution) * (size_t)t->batch;
    t->build = calloc((size_t)t->threads, sizeof(weft_build *));
    t->array = calloc((size_t)t->threads, sizeof(void *));
    if (!t->build || !t->array)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution by tiles");
    for (int i = 0; i < t->threads; i++) WEFT_TRY(prepare_thread(plan, i));
    WEFT_TRY(check_limit(plan));
    plan->call.options.threads = t->threads;
    plan->call.options.placement = WEFT_OUT_OF_PLACE;
    plan->build->buffers.callers_bytes[WEFT_INPUT] = bytes_of(t, t->n, element);
    plan->build->buffers.callers_bytes[WEFT_RESULT] = bytes_of(t, t->kept, element);
    weft_arguments_find(plan);
    return WEFT_SUCCESS;
}

void weft_overlap_save_release(weft_plan plan) {
    weft_overlap_save *t = plan->overlap_save;
    if (!t) return;
    for (int i = 0; i < t->threads && t->build && t->array; i++) {
        weft_build *b = t->build[i];
        if (t->array[i]) b->device.ops->free(b->device.state, WEFT_MEMORY_DEVICE, t->array[i]);
        if (i == 0 || !b) continue;
        weft_build_release(b);
        free(b);
    }
    free(t->build);
    free(t->array);
    free(t);
    plan->overlap_save = NULL;
}

void weft_overlap_save_add_memory(weft_plan plan, weft_memory *memory) {
    const weft_overlap_save *t = plan->overlap_save;
    memory->workspace +=
        (size_t)t->threads * bytes_of(t, t->tile, element_bytes(plan->convolution));
    memory->tables += sizeof *t + (size_t)t->threads * (sizeof *t->build + sizeof *t->array);
    for (int i = 1; i < t->threads; i++) {
        memory->workspace += t->build[i]->memory.workspace;
        memory->tables += t->build[i]->memory.tables;
    }
}

/* ---- running ---- */

/* Copies the elements that two row-major arrays have in common. */
static void copy_common(const weft_region *from, const char *src, const weft_region *to, char *dst,
                        const weft_region *part, size_t element) {
    static const int order[WEFT_AXES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const weft_view source = weft_view_of(from, order, part),
                    target = weft_view_of(to, order, part);
    const weft_copy copy = weft_copy_between(&source, &target, element);
    weft_copy_run(&copy, src, dst, 1);
}

/* Regions are those of the result's indices. */
static weft_status run_tile(const weft_overlap_save *t, int thread, int64_t number, size_t element,
                            const char *in, char *out) {
    weft_region field = {.axes = t->rank}, tile = field, result = field, part = field;
    weft_recorder recorder = {.spans = NULL};
    for (int a = t->rank - 1; a >= 0; a--) {
        const int64_t lo = number % t->tiles[a] * t->step[a];
        number /= t->tiles[a];
        field.lo[a] = -t->first[a];
        field.n[a] = t->n[a];
        tile.lo[a] = lo - t->overlap[a];
        tile.n[a] = t->tile[a];
        result.n[a] = t->kept[a];
        part.lo[a] = lo;
        part.n[a] = t->step[a];
    }
    const weft_region loaded = weft_region_intersect(&field, &tile);
    const size_t bytes = bytes_of(t, t->tile, element);
    char *array = t->array[thread];
    if (!weft_region_equal(&loaded, &tile)) memset(array, 0, bytes);
    copy_common(&field, in + (size_t)number * bytes_of(t, t->n, element), &tile, array, &loaded,
                element);
    WEFT_TRY(weft_build_run(t->build[thread], WEFT_CONVOLVE, true, array, array, &recorder));
    part = weft_region_intersect(&part, &result);
    copy_common(&tile, array, &result, out + (size_t)number * bytes_of(t, t->kept, element), &part,
                element);
    return WEFT_SUCCESS;
}

static weft_status run_tiles(weft_plan plan, int thread, int threads, const void *in, void *out) {
    const weft_overlap_save *t = plan->overlap_save;
    const size_t element = element_bytes(plan->convolution);
    const int64_t tiles = count_tiles(t);
    for (int64_t i = tiles * thread / threads; i < tiles * (thread + 1) / threads; i++)
        WEFT_TRY(run_tile(t, thread, i, element, in, out));
    return WEFT_SUCCESS;
}

weft_status weft_overlap_save_run(weft_plan plan, const void *in, void *out) {
    const int threads = plan->overlap_save->threads;
    weft_recorder *recorder = &plan->recorder;
    weft_status status = WEFT_SUCCESS;
    weft_recorder_start(recorder);
#ifdef _OPENMP
    if (threads > 1) {
        int worst = WEFT_SUCCESS;
#pragma omp parallel num_threads(threads) reduction(max : worst)
        worst = (int)run_tiles(plan, omp_get_thread_num(), omp_get_num_threads(), in, out);
        status = (weft_status)worst;
        if (status != WEFT_SUCCESS) /* the sentence is that of another thread */
            status = weft_fail(status, "weft_convolution_execute: a tile could not be convolved");
    } else {
        status = run_tiles(plan, 0, 1, in, out);
    }
#else
    (void)threads;
    status = run_tiles(plan, 0, 1, in, out);
#endif
    recorder->timings.total =
        weft_record(recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, recorder->start) - recorder->start;
    return status;
}
