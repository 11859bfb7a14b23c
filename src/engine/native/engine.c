/*
 * The native engine: our own kernels, for every length. A transform of several axes is a chain of
 * trips of the data through memory; the two axes transformed first (or, from complex to real, last)
 * share one where a plane of them fits in the cache.
 */
#include "engine/engine.h"
#include "engine/native/dispatch.h"
#include "engine/native/trip.h"
#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_TILE = 4096,    /* points of contiguous lines that are transformed as they are; */
    LONGEST_ACROSS = 65536, /* of lines whose neighbours are contiguous */
    MOST_TRIPS = WEFT_MAX_RANK
};

struct weft_engine_plan {
    int trips;
    weft_trip trip[MOST_TRIPS];
    bool input_only[MOST_TRIPS]; /* in place on the input */
    bool output_only[MOST_TRIPS];
    int threads;
    char *memory;
    size_t memory_stride;
};

static weft_status native_probe(const char **description) {
    const weft_kernels *kernels = weft_native_kernels(WEFT_DOUBLE);
    if (!kernels)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: WEFT_SIMD=%s names no instruction set of this machine",
                         getenv("WEFT_SIMD"));
    if (description) *description = kernels->simd;
    return WEFT_SUCCESS;
}

/* Whether the two last axes can be transformed plane by plane. */
static bool plane_fits(const weft_transform *t) {
    if (t->dims < 2) return false;
    int64_t z = t->dim[t->dims - 1].n, y = t->dim[t->dims - 2].n;
    if (z > LONGEST_TILE || y > LONGEST_TILE) return false;
    bool c2r = t->kind == WEFT_TRANSFORM_C2R;
    size_t bytes =
        weft_trip_plane_bytes(weft_native_kernels(t->precision), t->kind, c2r ? y : z, c2r ? z : y);
    size_t planes = (size_t)(t->threads > 1 ? t->threads : 1);
    return bytes * planes <= (size_t)weft_topology_get()->last_level / 4;
}

static weft_status native_supports(const weft_transform *transform, const weft_device_ops *device) {
    if (!device->run)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: device %s cannot run host code; choose another engine",
                         device->name);
    if (transform->precision != WEFT_DOUBLE && transform->precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: precision %d; use double or single",
                         (int)transform->precision);
    if (transform->in_place && transform->kind != WEFT_TRANSFORM_C2C)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: a batch of real transforms in place; use two buffers");
    WEFT_TRY(native_probe(NULL));
    int in_one_trip = plane_fits(transform) ? 2 : 1;
    if (transform->kind == WEFT_TRANSFORM_C2R && transform->dims > in_one_trip &&
        !transform->destroy_input)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: cannot keep the input of a complex-to-real transform of "
                         "%d dimensions; do the first ones on their own, or let it be overwritten",
                         transform->dims);
    return WEFT_SUCCESS;
}

/* ---- planning ---- */

/* What is being planned. */
typedef struct planning {
    const weft_transform *transform;
    const weft_kernels *kernels;
    weft_engine_plan *plan;
    size_t *bytes;
} planning;

static int64_t complex_extent(const weft_transform *t, int d) {
    bool halved = t->kind != WEFT_TRANSFORM_C2C && d == t->dims - 1;
    return halved ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

/* A dimension or loop with the strides of the arrays that a trip goes between. */
static weft_dimension between(weft_dimension d, bool from_output, bool to_input) {
    return (weft_dimension){d.n, from_output ? d.out_stride : d.in_stride,
                            to_input ? d.in_stride : d.out_stride};
}

/* The loops of a trip over all but the axes `skip` (a bit each), complex on both sides but for the
 * kind's own. */
static void set_loops(const planning *p, unsigned skip, bool from_output, bool to_input,
                      weft_pass_request *request) {
    const weft_transform *t = p->transform;
    for (int i = 0; i < t->loops; i++)
        request->loop[request->loops++] = between(t->loop[i], from_output, to_input);
    for (int d = 0; d < t->dims; d++) {
        if (skip >> d & 1) continue;
        weft_dimension loop = between(t->dim[d], from_output, to_input);
        loop.n = complex_extent(t, d);
        request->loop[request->loops++] = loop;
    }
}

static bool has_neighbours(const weft_pass_request *r) {
    for (int i = 0; i < r->loops; i++)
        if (r->loop[i].n >= 4 && (r->loop[i].in_stride == 1 || r->loop[i].out_stride == 1))
            return true;
    return false;
}

/* Whether lines are too long for a tile. Its rows are twice the points or more where a prime factor
 * is large. */
static bool is_long(const weft_pass_request *r) {
    return r->dim.n > (has_neighbours(r) ? LONGEST_ACROSS : LONGEST_TILE);
}

static weft_trip *add_trip(const planning *p, bool from_output, bool to_input) {
    weft_engine_plan *plan = p->plan;
    plan->output_only[plan->trips] = from_output;
    plan->input_only[plan->trips] = to_input;
    return &plan->trip[plan->trips++];
}

static weft_status add_axis(const planning *p, int d, bool from_output, bool to_input) {
    const weft_transform *t = p->transform;
    weft_pass_request request = {.kernels = p->kernels,
                                 .kind = d == t->dims - 1 ? t->kind : WEFT_TRANSFORM_C2C,
                                 .direction = t->kind == WEFT_TRANSFORM_C2C   ? t->direction
                                              : t->kind == WEFT_TRANSFORM_R2C ? WEFT_FORWARD
                                                                              : WEFT_INVERSE,
                                 .dim = between(t->dim[d], from_output, to_input)};
    if (t->dim[d].n == 1 && (from_output || to_input)) return WEFT_SUCCESS;
    set_loops(p, 1u << d, from_output, to_input, &request);
    weft_trip *trip = add_trip(p, from_output, to_input);
    if (is_long(&request)) return weft_trip_create_long(&request, trip, p->bytes);
    if (weft_trip_wants_blocks(&request)) return weft_trip_create_blocks(&request, trip, p->bytes);
    return weft_trip_create_pass(&request, trip, p->bytes);
}

static weft_status add_plane(const planning *p) {
    const weft_transform *t = p->transform;
    const bool c2r = t->kind == WEFT_TRANSFORM_C2R;
    const weft_dimension *z = &t->dim[t->dims - 1], *y = &t->dim[t->dims - 2];
    weft_pass_request planes = {.kernels = p->kernels, .kind = t->kind, .direction = t->direction};
    set_loops(p, 3u << (t->dims - 2), false, false, &planes);
    weft_trip *trip = add_trip(p, false, false);
    return weft_trip_create_plane(&planes, c2r ? y : z, c2r ? z : y, trip, p->bytes);
}

static weft_status add_trips(const planning *p) {
    const weft_transform *t = p->transform;
    const bool plane = plane_fits(t);
    const int fused = plane ? 2 : 1;
    if (t->kind == WEFT_TRANSFORM_C2R) {
        for (int d = 0; d < t->dims - fused; d++) WEFT_TRY(add_axis(p, d, false, true));
        return plane ? add_plane(p) : add_axis(p, t->dims - 1, false, false);
    }
    WEFT_TRY(plane ? add_plane(p) : add_axis(p, t->dims - 1, false, false));
    for (int d = t->dims - 1 - fused; d >= 0; d--) WEFT_TRY(add_axis(p, d, true, false));
    return WEFT_SUCCESS;
}

static weft_status allocate_memory(weft_engine_plan *plan, size_t *bytes) {
    for (int i = 0; i < plan->trips; i++) {
        size_t needed = weft_trip_memory(&plan->trip[i]);
        if (needed > plan->memory_stride) plan->memory_stride = needed;
    }
    size_t size = plan->memory_stride * (size_t)plan->threads;
    size = (size + 4095) / 4096 * 4096;
    plan->memory = aligned_alloc(4096, size);
    if (!plan->memory)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "native engine: no memory for a workspace of %zu bytes", size);
    memset(plan->memory, 0, size); /* lanes beyond the last line are computed, never stored */
    *bytes += size;
    return WEFT_SUCCESS;
}

/* Stores go past the caches where the array is not in them anyway and its lines need not be read
 * first: what is transformed in place has just been. */
static void choose_stores(const weft_transform *t, weft_engine_plan *plan) {
    size_t element = (t->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double)) *
                     (t->kind == WEFT_TRANSFORM_C2R ? 1 : 2);
    bool large = (size_t)t->out_elements * element > (size_t)weft_topology_get()->last_level / 3;
    for (int i = 0; i < plan->trips; i++) {
        bool elsewhere = !t->in_place && !plan->input_only[i] && !plan->output_only[i];
        weft_trip_store_past(&plan->trip[i], large && elsewhere);
    }
}

static void native_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->trips; i++) weft_trip_release(&plan->trip[i]);
    free(plan->memory);
    free(plan);
}

static weft_status native_plan(const weft_transform *transform, const weft_device_handle *device,
                               weft_engine_plan **out, size_t *bytes) {
    WEFT_TRY(native_supports(transform, device->ops));
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    size_t held = sizeof *plan;
    plan->threads = transform->threads > 1 ? transform->threads : 1;
    planning p = {transform, weft_native_kernels(transform->precision), plan, &held};
    weft_status status = add_trips(&p);
    if (status == WEFT_SUCCESS) choose_stores(transform, plan);
    if (status == WEFT_SUCCESS) status = allocate_memory(plan, &held);
    if (status != WEFT_SUCCESS) {
        native_destroy(plan);
        return status;
    }
    *out = plan;
    *bytes = held;
    return WEFT_SUCCESS;
}

/* ---- execution ---- */

static weft_status run_plan(void *argument, const void *in, void *out) {
    const weft_engine_plan *plan = argument;
    for (int i = 0; i < plan->trips; i++) {
        const void *from = plan->output_only[i] ? out : in;
        void *to = plan->input_only[i] ? (void *)(uintptr_t)in : out;
        weft_trip_run(&plan->trip[i], from, to, plan->memory, plan->memory_stride, plan->threads);
    }
    return WEFT_SUCCESS;
}

static weft_status native_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                  weft_queue *queue, const void *in, void *out) {
    return device->ops->run(device->state, queue, run_plan, plan, in, out);
}

const weft_engine_ops weft_engine_native = {.name = "native",
                                            .id = WEFT_ENGINE_NATIVE,
                                            .probe = native_probe,
                                            .supports = native_supports,
                                            .plan = native_plan,
                                            .destroy = native_destroy,
                                            .execute = native_execute};
