/*
 * The native engine: our own kernels, for every length. A transform of several axes is a chain of
 * pass groups, each of which reads and writes the data in memory once (pass_group.h). The two axes
 * that are transformed first (or, from complex to real, last) form one group where a plane of them
 * fits in the cache.
 */
#include "engine/engine.h"
#include "device/allocations.h"
#include "engine/native/dispatch.h"
#include "engine/native/number.h"
#include "engine/native/pass_group.h"
#include "engine/native/r2r_pass.h"
#include "engine/native/tuning.h"
#include "support/checked.h"
#include "support/error.h"
#include "support/host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_TILE = 4096,    /* most points of a contiguous line that a tile holds ... */
    LONGEST_ALONE = 16384,  /* ... of the only line of a transform, ... */
    LONGEST_ACROSS = 65536, /* ... and of a line whose neighbours are contiguous */
    HUGE_PAGE = 2 << 20,
    MOST_GROUPS = WEFT_MAX_RANK
};

struct weft_engine_plan {
    int r2r_passes; /* along one dimension each, in place of groups; all but the first in place */
    weft_r2r_pass *r2r[WEFT_MAX_RANK];
    int groups;
    weft_pass_group group[MOST_GROUPS];
    bool input_only[MOST_GROUPS]; /* the group works in place on the input */
    bool output_only[MOST_GROUPS];
    int in_pieces, out_pieces;  /* 0: one array */
    int array[WEFT_MAX_PIECES]; /* which array each piece of the input lies in */
    /* Bytes from one index of the part_loop to the next, in each piece; and the index at which the
     * next execution begins. */
    int64_t in_part[WEFT_MAX_PIECES], out_part[WEFT_MAX_PIECES], part;
    /* The pass of a transform that is nothing but one line, which is done without looking for
     * lines, pieces and tiles; or NULL. */
    const weft_native_pass *alone;
    int threads;
    void *memory;         /* of all threads */
    char *aligned;        /* the aligned beginning of `memory` */
    size_t memory_stride; /* bytes for each thread */
};

static weft_status native_probe(const char **description) {
    const weft_kernels *kernels = weft_native_kernels(WEFT_DOUBLE);
    if (!kernels)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: WEFT_SIMD=%s names no instruction set of this machine",
                         getenv("WEFT_SIMD"));
    if (description) *description = kernels->description;
    return WEFT_SUCCESS;
}

/* Dimension number i in the order of transformation. Forward, the last dimension comes first.
 * Inverse transforms take the opposite order, since the complex-to-real dimension must come
 * last, and since pieces of the input lie along the dimension that the forward transform takes
 * last. */
static int in_order(const weft_transform *t, int i) {
    bool inverse = t->kind == WEFT_TRANSFORM_C2R ||
                   (t->kind != WEFT_TRANSFORM_R2C && t->direction == WEFT_INVERSE);
    return inverse ? i : t->dims - 1 - i;
}

/* Whether the two last axes can be transformed plane by plane. */
static bool plane_fits(const weft_transform *t) {
    if (t->dims < 2) return false;
    int64_t z = t->dim[t->dims - 1].n, y = t->dim[t->dims - 2].n;
    if (z > LONGEST_TILE || y > LONGEST_TILE) return false;
    bool c2r = t->kind == WEFT_TRANSFORM_C2R;
    size_t bytes = weft_pass_group_plane_bytes(weft_native_kernels(t->precision), t->kind,
                                               c2r ? y : z, c2r ? z : y);
    return bytes <= weft_native_cache_share(t->threads) / 3;
}

/* An input can be taken in pieces along the dimension that is transformed first, and an output
 * along the one that is transformed last, if the whole transform is one pass group. */
static bool takes(const weft_transform *t, const weft_pieces *pieces, int place) {
    bool one_group = t->dims == 1 || (t->dims == 2 && plane_fits(t));
    return pieces->count == 0 ||
           (one_group && !t->in_place && pieces->count <= WEFT_MAX_PIECES &&
            in_order(t, place) == pieces->dim && t->dim[pieces->dim].n <= LONGEST_TILE);
}

/* Pieces are read at their addresses, so the CPU must be able to dereference device memory. */
static weft_status supports_pieces(const weft_transform *t, const weft_device_ops *device) {
    const weft_pieces *in = &t->in_pieces, *out = &t->out_pieces;
    const bool none = in->count == 0 && out->count == 0;
    bool real = (t->kind == WEFT_TRANSFORM_R2C && in->count > 0) ||
                (t->kind == WEFT_TRANSFORM_C2R && out->count > 0);
    if (none ||
        (device->host_addressable && !real && takes(t, in, 0) && takes(t, out, t->dims - 1)))
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "native engine: a transform of %d dimensions from %d pieces to %d", t->dims,
                     in->count, out->count);
}

static weft_status supports_r2r(const weft_transform *t, const weft_device_ops *device) {
    const bool pieces = t->in_pieces.count > 0 || t->out_pieces.count > 0;
    const bool fits =
        t->in_pieces.count <= WEFT_MAX_PIECES && t->out_pieces.count <= WEFT_MAX_PIECES;
    WEFT_TRY(native_probe(NULL));
    if (pieces && !(device->host_addressable && fits && weft_r2r_takes_pieces(t, in_order(t, 0))))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: a real-to-real transform of %d dimensions from %d pieces "
                         "to %d",
                         t->dims, t->in_pieces.count, t->out_pieces.count);
    for (int d = 0; d < t->dims; d++)
        if (t->dim[d].n > INT32_MAX / 2)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "native engine: a real-to-real line of %lld points, more than 2^30",
                             (long long)t->dim[d].n);
    return WEFT_SUCCESS;
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
    if (transform->kind == WEFT_TRANSFORM_R2R) return supports_r2r(transform, device);
    if (transform->in_place && transform->kind != WEFT_TRANSFORM_C2C)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: a batch of real transforms in place; use two buffers");
    WEFT_TRY(native_probe(NULL));
    int dims_of_a_group = plane_fits(transform) ? 2 : 1;
    WEFT_TRY(supports_pieces(transform, device));
    if (transform->kind == WEFT_TRANSFORM_C2R && transform->dims > dims_of_a_group &&
        !transform->destroy_input)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: cannot keep the input of a complex-to-real transform of "
                         "%d dimensions; do the first ones on their own, or let it be overwritten",
                         transform->dims);
    return WEFT_SUCCESS;
}

/* ---- planning ---- */

typedef struct planning {
    const weft_transform *transform;
    const weft_kernels *kernels;
    const weft_native_tuning *tuning;
    weft_engine_plan *plan;
    size_t *bytes;
} planning;

static int64_t complex_extent(const weft_transform *t, int d) {
    bool halved = t->kind != WEFT_TRANSFORM_C2C && d == t->dims - 1;
    return halved ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

/* A dimension or loop with the strides of the arrays that a pass group reads and writes. */
static weft_dimension between(weft_dimension d, bool from_output, bool to_input) {
    return (weft_dimension){d.n, from_output ? d.out_stride : d.in_stride,
                            to_input ? d.in_stride : d.out_stride};
}

/* The pieces of a pass group's input and output. */
typedef struct ends {
    weft_native_piece in[WEFT_MAX_PIECES], out[WEFT_MAX_PIECES];
} ends;

static weft_native_pieces begin_pieces(const weft_pieces *given, weft_native_piece *piece) {
    for (int k = 0; k < given->count; k++)
        piece[k] = (weft_native_piece){.offset = given->piece[k].offset,
                                       .first = given->piece[k].first,
                                       .points = given->piece[k].n,
                                       .stride = given->piece[k].dim_stride[given->dim]};
    return (weft_native_pieces){given->count, piece};
}

/* Sets stride number `at` of a pass group's loops to that of loop `loop` of the transform, or,
 * where `loop` is negative, to that of dimension `dim`. */
static void set_stride(const weft_pieces *given, int loop, int dim, weft_native_piece *piece,
                       int at) {
    for (int k = 0; k < given->count; k++)
        piece[k].loop_stride[at] =
            loop >= 0 ? given->piece[k].loop_stride[loop] : given->piece[k].dim_stride[dim];
}

static void set_strides(const planning *p, int loop, int dim, ends *e, int at) {
    set_stride(&p->transform->in_pieces, loop, dim, e->in, at);
    set_stride(&p->transform->out_pieces, loop, dim, e->out, at);
}

/* Sets the loops of a pass group over all axes but those of the bit mask `skip`, which it
 * transforms, and the pieces of both sides. The other axes hold complex numbers on both sides.
 * There are pieces only where the whole transform is one pass group. */
static void set_loops(const planning *p, unsigned skip, bool from_output, bool to_input, ends *e,
                      weft_pass_request *request) {
    const weft_transform *t = p->transform;
    request->in = begin_pieces(&t->in_pieces, e->in);
    request->out = begin_pieces(&t->out_pieces, e->out);
    for (int i = 0; i < t->loops; i++) {
        set_strides(p, i, -1, e, request->loops);
        request->loop[request->loops++] = between(t->loop[i], from_output, to_input);
    }
    for (int d = 0; d < t->dims; d++) {
        if (skip >> d & 1) continue;
        set_strides(p, -1, d, e, request->loops);
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

/* Whether lines are too long for a tile, which has at least two rows for each point where a prime
 * factor of the length is large. The only line of a transform may be a little longer, since it
 * needs no tile. */
static bool is_long(const weft_pass_request *r) {
    if (r->loops == 0 && r->dim.n <= LONGEST_ALONE && weft_native_pass_takes_alone(r)) return false;
    return r->dim.n > (has_neighbours(r) ? LONGEST_ACROSS : LONGEST_TILE);
}

static weft_pass_group *add_group(const planning *p, bool from_output, bool to_input) {
    weft_engine_plan *plan = p->plan;
    plan->output_only[plan->groups] = from_output;
    plan->input_only[plan->groups] = to_input;
    return &plan->group[plan->groups++];
}

/* Each thread transforms a long line as a matrix, or by a convolution, in a buffer of its own, and
 * the roots of unity are computed in double precision. Fails before any of that is allocated if the
 * machine has too little memory for it. */
static weft_status check_long(const planning *p, int64_t n) {
    const weft_transform *t = p->transform;
    const int64_t points = t->kind == WEFT_TRANSFORM_C2C ? n : n / 2;
    const int64_t element = weft_complex_bytes(p->kernels);
    int64_t bytes = 0;
    char what[128];
    if (!weft_checked_multiply(points, element * p->plan->threads, &bytes)) bytes = INT64_MAX;
    if (bytes < points * 16) bytes = points * 16;
    snprintf(what, sizeof what, "native engine: buffers for lines of %lld points", (long long)n);
    return weft_host_memory_check(what, (size_t)bytes, "it wants another machine");
}

static weft_status add_axis(const planning *p, int d, bool from_output, bool to_input) {
    const weft_transform *t = p->transform;
    weft_pass_request request = {.kernels = p->kernels,
                                 .kind = d == t->dims - 1 ? t->kind : WEFT_TRANSFORM_C2C,
                                 .direction = t->kind == WEFT_TRANSFORM_C2C   ? t->direction
                                              : t->kind == WEFT_TRANSFORM_R2C ? WEFT_FORWARD
                                                                              : WEFT_INVERSE,
                                 .dim = between(t->dim[d], from_output, to_input),
                                 .cache = weft_native_cache_share(p->plan->threads)};
    if (t->dim[d].n == 1 && (from_output || to_input)) return WEFT_SUCCESS;
    ends e;
    set_loops(p, 1u << d, from_output, to_input, &e, &request);
    weft_pass_group *group = add_group(p, from_output, to_input);
    if (is_long(&request)) {
        WEFT_TRY(check_long(p, t->dim[d].n));
        return weft_pass_group_create_long(&request, group, p->bytes);
    }
    if (p->tuning->blocks && weft_pass_group_wants_blocks(&request))
        return weft_pass_group_create_blocks(&request, group, p->bytes);
    return weft_pass_group_create_pass(&request, group, p->bytes);
}

/* A plane of the dimensions `first`, transformed first, and `second`. */
static weft_status add_plane(const planning *p, int first, int second, bool from_output) {
    const weft_transform *t = p->transform;
    const unsigned both = 1u << first | 1u << second;
    weft_pass_request planes = {.kernels = p->kernels, .kind = t->kind, .direction = t->direction};
    ends e;
    weft_pass_group *group = add_group(p, from_output, false);
    set_loops(p, both, from_output, false, &e, &planes);
    set_stride(&t->in_pieces, -1, second, e.in, planes.loops);
    set_stride(&t->out_pieces, -1, first, e.out, planes.loops);
    weft_dimension one = between(t->dim[first], from_output, false);
    weft_dimension two = between(t->dim[second], from_output, false);
    return weft_pass_group_create_plane(&planes, &one, &two, group, p->bytes);
}

/* Transforms all dimensions in their order, the two last of the arrays together where a plane of
 * them fits in the cache. The first pass group reads the input and writes the output, and the
 * others work in place on the output. From complex to real, all but the last work in place on the
 * input. */
static weft_status add_groups(const planning *p) {
    const weft_transform *t = p->transform;
    const bool plane = plane_fits(t), c2r = t->kind == WEFT_TRANSFORM_C2R;
    for (int i = 0; i < t->dims; i++) {
        const int d = in_order(t, i), next = i + 1 < t->dims ? in_order(t, i + 1) : -1;
        const bool fused = plane && next >= 0 && d >= t->dims - 2 && next >= t->dims - 2;
        const bool last = i + (fused ? 2 : 1) == t->dims;
        const bool from_output = !c2r && p->plan->groups > 0;
        if (fused) {
            WEFT_TRY(add_plane(p, d, next, from_output));
            i++;
        } else {
            WEFT_TRY(add_axis(p, d, from_output, c2r && !last));
        }
    }
    return WEFT_SUCCESS;
}

static weft_status allocate_memory(weft_engine_plan *plan, size_t *bytes) {
    for (int i = 0; i < plan->groups; i++) {
        size_t needed = weft_pass_group_memory(&plan->group[i]);
        if (needed > plan->memory_stride) plan->memory_stride = needed;
    }
    /* No two threads share a huge page, so that each page lies near the thread that uses it. */
    if (plan->memory_stride >= 2 * (size_t)HUGE_PAGE)
        plan->memory_stride = (plan->memory_stride + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    /* The memory is cleared since kernels also compute on lanes beyond the last line, whose results
     * are never stored. */
    size_t size = plan->memory_stride * (size_t)plan->threads;
    plan->aligned = weft_storage_allocate_zero(size, &plan->memory);
    if (!plan->aligned)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "native engine: no memory for a workspace of %zu bytes", size);
    *bytes += size;
    return WEFT_SUCCESS;
}

/* Stores bypass the caches where the output is too large for them, except in place, where the cache
 * lines that are stored have just been read. */
static void choose_stores(const weft_transform *t, bool past, weft_engine_plan *plan) {
    size_t bytes = (size_t)t->out_elements * weft_transform_element_bytes(t, true);
    bool large = bytes > weft_native_cache_share(plan->threads) * (size_t)plan->threads / 3;
    for (int i = 0; i < plan->groups; i++) {
        bool elsewhere = !t->in_place && !plan->input_only[i] && !plan->output_only[i];
        weft_pass_group_store_past(&plan->group[i], past && large && elsewhere);
    }
}

static const weft_native_pass *find_alone(const weft_engine_plan *plan) {
    const weft_native_pass *pass = &plan->group[0].pass[0];
    const bool whole =
        plan->groups == 1 && plan->group[0].direct && plan->in_pieces == 0 && plan->out_pieces == 0;
    return whole && pass->by_lone ? pass : NULL;
}

void weft_native_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->r2r_passes; i++) weft_r2r_pass_destroy(plan->r2r[i]);
    for (int i = 0; i < plan->groups; i++) weft_pass_group_release(&plan->group[i]);
    free(plan->memory);
    free(plan);
}

static const weft_piece *largest(const weft_pieces *pieces) {
    const weft_piece *found = pieces->count > 0 ? &pieces->piece[0] : NULL;
    for (int k = 1; k < pieces->count; k++)
        if (pieces->piece[k].n > found->n) found = &pieces->piece[k];
    return found;
}

/* Returns the transform with the strides of the largest piece, by which loops are ordered. */
static weft_transform with_strides_of_pieces(const weft_transform *transform) {
    weft_transform t = *transform;
    const weft_piece *in = largest(&t.in_pieces), *out = largest(&t.out_pieces);
    for (int i = 0; i < t.loops; i++) {
        if (in) t.loop[i].in_stride = in->loop_stride[i];
        if (out) t.loop[i].out_stride = out->loop_stride[i];
    }
    for (int d = 0; d < t.dims; d++) {
        if (in) t.dim[d].in_stride = in->dim_stride[d];
        if (out) t.dim[d].out_stride = out->dim_stride[d];
    }
    return t;
}

static void set_pieces(weft_engine_plan *plan, const weft_transform *t) {
    const int64_t in = (int64_t)weft_transform_element_bytes(t, false);
    const int64_t out = (int64_t)weft_transform_element_bytes(t, true);
    plan->in_pieces = t->in_pieces.count;
    plan->out_pieces = t->out_pieces.count;
    for (int k = 0; k < plan->in_pieces; k++) {
        plan->array[k] = t->in_pieces.piece[k].array;
        plan->in_part[k] = in * t->in_pieces.piece[k].loop_stride[t->part_loop];
    }
    for (int k = 0; k < plan->out_pieces; k++)
        plan->out_part[k] = out * t->out_pieces.piece[k].loop_stride[t->part_loop];
}

/* Of the threads that may be used those that are worth starting. */
static int useful_threads(const weft_transform *t) {
    int64_t points = 1;
    for (int d = 0; d < t->dims; d++) points *= complex_extent(t, d);
    for (int i = 0; i < t->loops; i++) points *= t->loop[i].n;
    const int64_t most = points / WEFT_NATIVE_POINTS_PER_THREAD;
    const int threads = t->threads > most ? (int)most : t->threads;
    return threads > 1 ? threads : 1;
}

weft_status weft_native_plan_with(const weft_transform *transform, const weft_native_tuning *tuning,
                                  weft_engine_plan **out, size_t *bytes) {
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    size_t held = sizeof *plan;
    plan->threads = useful_threads(transform);
    const weft_transform strides = with_strides_of_pieces(transform);
    planning p = {&strides, weft_native_kernels(transform->precision), tuning, plan, &held};
    set_pieces(plan, transform);
    weft_status status = add_groups(&p);
    if (status == WEFT_SUCCESS) {
        choose_stores(transform, tuning->past, plan);
        plan->alone = find_alone(plan);
    }
    if (status == WEFT_SUCCESS) status = allocate_memory(plan, &held);
    if (status != WEFT_SUCCESS) {
        weft_native_destroy(plan);
        return status;
    }
    *out = plan;
    *bytes = held;
    return WEFT_SUCCESS;
}

static weft_status plan_r2r(const weft_transform *t, weft_engine_plan **out, size_t *bytes) {
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    const weft_transform strides = with_strides_of_pieces(t);
    set_pieces(plan, t);
    *bytes = sizeof *plan;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < t->dims && status == WEFT_SUCCESS; i++) {
        weft_r2r_pass **pass = &plan->r2r[plan->r2r_passes++];
        status = weft_r2r_pass_create(&strides, in_order(t, i), i > 0, pass, bytes);
    }
    if (status == WEFT_SUCCESS)
        *out = plan;
    else
        weft_native_destroy(plan);
    return status;
}

static weft_status native_plan(const weft_transform *transform, const weft_device_handle *device,
                               weft_engine_plan **plan, size_t *bytes) {
    WEFT_TRY(native_supports(transform, device->ops));
    if (transform->kind == WEFT_TRANSFORM_R2R) return plan_r2r(transform, plan, bytes);
    const weft_native_tuning tuning = weft_native_choose_tuning(transform);
    return weft_native_plan_with(transform, &tuning, plan, bytes);
}

/* ---- execution ---- */

static weft_status run_plan(void *argument, const void *in, void *out) {
    const weft_engine_plan *plan = argument;
    if (plan->alone) {
        weft_native_line_run(plan->alone, in, out, plan->aligned);
        return WEFT_SUCCESS;
    }
    const void *source[WEFT_MAX_PIECES];
    void *target[WEFT_MAX_PIECES];
    source[0] = in;
    target[0] = out;
    for (int k = 0; k < plan->in_pieces; k++)
        source[k] = ((const char *const *)in)[plan->array[k]] + plan->part * plan->in_part[k];
    for (int k = 0; k < plan->out_pieces; k++)
        target[k] = (char *)out + plan->part * plan->out_part[k];
    for (int i = 0; i < plan->r2r_passes; i++) {
        const void *output[1] = {out};
        weft_r2r_pass_run(plan->r2r[i], i == 0 ? source : output, target);
    }
    for (int i = 0; i < plan->groups; i++) {
        const void *output[1] = {out};
        void *input[1] = {(void *)(uintptr_t)in};
        weft_pass_group_run(&plan->group[i], plan->output_only[i] ? output : source,
                            plan->input_only[i] ? input : target, plan->aligned,
                            plan->memory_stride, plan->threads);
    }
    return WEFT_SUCCESS;
}

static void native_begin_at(weft_engine_plan *plan, int64_t first, void *kept) {
    (void)kept;
    plan->part = first;
}

void weft_native_run(weft_engine_plan *plan, const void *in, void *out) {
    (void)run_plan(plan, in, out);
}

static weft_status native_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                  weft_queue *queue, const void *in, void *out) {
    return device->ops->run(device->state, queue, run_plan, plan, in, out);
}

const weft_engine_ops weft_engine_native = {.name = "native",
                                            .id = WEFT_ENGINE_NATIVE,
                                            .takes_pieces = true,
                                            .probe = native_probe,
                                            .supports = native_supports,
                                            .plan = native_plan,
                                            .destroy = weft_native_destroy,
                                            .begin_at = native_begin_at,
                                            .execute = native_execute};
