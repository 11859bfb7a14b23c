/*
 * The native engine: our own kernels, for every length. A transform of several axes is a chain of
 * pass groups, each of which reads and writes the data in memory once (pass_group.h). The two axes
 * that are transformed first (or, from complex to real, last) form one group where a plane of them
 * fits in the cache.
 */
#include "engine/engine.h"
#include "engine/native/describe.h"
#include "engine/native/dispatch.h"
#include "engine/native/number.h"
#include "engine/native/pass_group.h"
#include "engine/native/r2r_pass.h"
#include "engine/native/solver.h"
#include "engine/native/supports.h"
#include "engine/native/tuning.h"
#include "engine/smooth.h"
#include "support/checked.h"
#include "support/error.h"
#include "support/host_memory.h"
#include "support/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most points of a line besides WEFT_NATIVE_LONGEST_TILE. */
enum {
    LONGEST_ALONE = 16384,  /* the only line of a transform */
    LONGEST_ACROSS = 65536, /* a line whose neighbours are contiguous */
    MOST_GROUPS = WEFT_MAX_RANK
};

/* Where a pass group reads and writes. */
typedef enum group_array {
    GIVEN,  /* the input to read and the output to write, which may be in pieces */
    INPUT,  /* the input, in place */
    OUTPUT, /* the output, in place */
    LAST,   /* the input from its last column on */
    COLUMN  /* the array of that column */
} group_array;

struct weft_engine_plan {
    int r2r_passes; /* along one dimension each, in place of groups; all but the first in place */
    weft_r2r_pass *r2r[WEFT_MAX_RANK];
    int groups;
    weft_pass_group group[MOST_GROUPS];
    group_array from[MOST_GROUPS], to[MOST_GROUPS];
    void *column;        /* the last column of a spectrum whose others are in the output; or NULL */
    int64_t last_column; /* bytes to it in the input */
    int in_pieces, out_pieces;  /* 0: one array */
    bool lists_arrays;          /* the input is several arrays, ... */
    int array[WEFT_MAX_PIECES]; /* ... and this is the one that each piece lies in */
    /* Bytes from one index of the part_loop to the next, in each piece; and the index at which the
     * next execution begins. */
    int64_t in_part[WEFT_MAX_PIECES], out_part[WEFT_MAX_PIECES], part;
    /* The pass of a transform that is nothing but one line, which is done without looking for
     * lines, pieces and tiles; or NULL. */
    const weft_native_pass *alone;
    /* That of one that is nothing but a row of complex lines which one codelet transforms, some
     * together, for one thread; or NULL. */
    const weft_native_pass *row;
    bool plain; /* one array on either side, no operators, one thread */
    weft_native_operated load, spectral, store; /* operators on lines, or rows */
    int threads;
    weft_scratch *scratch; /* shared with other plans, or `own_scratch` */
    weft_scratch own_scratch;
};

/* ---- planning ---- */

typedef struct planning {
    const weft_transform *transform;
    const weft_piece *spectrum; /* of a round trip: how the operators' box lies; else NULL */
    const weft_kernels *kernels;
    weft_native_tuning tuning;
    weft_engine_plan *plan;
    size_t *bytes;
} planning;

/* A dimension or loop with the strides of the arrays that a pass group reads and writes. */
static weft_dimension between(weft_dimension d, bool from_output, bool to_input) {
    return (weft_dimension){d.n, from_output ? d.out_stride : d.in_stride,
                            to_input ? d.in_stride : d.out_stride};
}

/* `whole` of a pass along one dimension. In the cache a plane's lines may lie otherwise than in the
 * arrays, so the arrays tell which may be transformed alone: contiguous ones of the last dimension.
 */
static int64_t whole_of(const planning *p, int d) {
    const weft_dimension *dim = &p->transform->dim[d];
    const bool contiguous = dim->in_stride == 1 && dim->out_stride == 1;
    return d == p->transform->dims - 1 && contiguous ? p->transform->whole : 0;
}

/* Lines on interleaved numbers have the bits of tiles, so that it does not matter what the array is
 * a part of. With vectors of 64 bytes tiles are faster from the second-level cache's size on. */
static bool stays_in_caches(const planning *p) {
    const weft_transform *t = p->transform;
    const int64_t elements = t->in_elements > t->out_elements ? t->in_elements : t->out_elements;
    const int64_t most = (weft_lone_is_wide(p->kernels) ? 1 : 2) * (int64_t)weft_topology_get()->l2;
    return elements * weft_complex_bytes(p->kernels) <= most;
}

/* The pieces of a pass group's input and output, and of the spectrum of a round trip. */
typedef struct ends {
    weft_native_piece in[WEFT_MAX_PIECES], out[WEFT_MAX_PIECES], spectrum[1];
} ends;

static weft_native_pieces begin_pieces(const weft_pieces *given, weft_native_piece *piece) {
    for (int k = 0; k < given->count; k++)
        piece[k] = (weft_native_piece){.offset = given->piece[k].offset,
                                       .first = given->piece[k].first,
                                       .points = given->piece[k].n,
                                       .stride = given->piece[k].dim_stride[given->dim]};
    return (weft_native_pieces){given->count, piece};
}

/* Sets stride number `at` of a pass group's loops to that of a loop of the transform, or of a
 * dimension. */
static void set_stride(const weft_pieces *given, bool of_loop, int number, weft_native_piece *piece,
                       int at) {
    for (int k = 0; k < given->count; k++)
        piece[k].loop_stride[at] =
            of_loop ? given->piece[k].loop_stride[number] : given->piece[k].dim_stride[number];
}

/* The spectrum of a round trip as pieces, of which there is one, along the dimension that is
 * transformed last before the operators. */
static weft_pieces spectrum_of(const planning *p) {
    return (weft_pieces){p->spectrum ? 1 : 0, 0, p->spectrum};
}

static void set_strides(const planning *p, bool of_loop, int number, ends *e, int at) {
    const weft_pieces spectrum = spectrum_of(p);
    set_stride(&p->transform->in_pieces, of_loop, number, e->in, at);
    set_stride(&p->transform->out_pieces, of_loop, number, e->out, at);
    set_stride(&spectrum, of_loop, number, e->spectrum, at);
}

/* Sets the loops of a pass group over all axes but those of the bit mask `skip`, which it
 * transforms, and the pieces of both sides. The other axes hold complex numbers on both sides. Only
 * the first group reads the pieces of the input; there are pieces of the output only where the
 * whole transform is one group. */
static void set_loops(const planning *p, unsigned skip, bool from_output, bool to_input, ends *e,
                      weft_pass_request *request) {
    const weft_transform *t = p->transform;
    const weft_pieces spectrum = spectrum_of(p);
    if (!from_output) request->in = begin_pieces(&t->in_pieces, e->in);
    request->out = begin_pieces(&t->out_pieces, e->out);
    request->spectrum = begin_pieces(&spectrum, e->spectrum);
    for (int i = 0; i < t->loops; i++) {
        set_strides(p, true, i, e, request->loops);
        request->loop[request->loops++] = between(t->loop[i], from_output, to_input);
    }
    for (int d = 0; d < t->dims; d++) {
        if (skip >> d & 1) continue;
        set_strides(p, false, d, e, request->loops);
        weft_dimension loop = between(t->dim[d], from_output, to_input);
        loop.n = weft_native_complex_extent(t, d);
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
    if (r->dim.n <= LONGEST_ALONE && weft_native_takes_alone(r)) return false;
    return r->dim.n > (has_neighbours(r) ? LONGEST_ACROSS : WEFT_NATIVE_LONGEST_TILE);
}

static weft_pass_group *add_group(const planning *p, bool from_output, bool to_input) {
    weft_engine_plan *plan = p->plan;
    plan->from[plan->groups] = from_output ? OUTPUT : GIVEN;
    plan->to[plan->groups] = to_input ? INPUT : GIVEN;
    return &plan->group[plan->groups++];
}

/* A long line is transformed as a matrix, or by a convolution, in a buffer of its size, beside
 * those that are gathered before. Fails before that is allocated if the machine has too little
 * memory for it. */
static weft_status check_long(const planning *p, int64_t n, int64_t gathered) {
    const weft_transform *t = p->transform;
    const int64_t points = gathered * n + (t->kind == WEFT_TRANSFORM_C2C ? n : n / 2);
    int64_t bytes = 0;
    char what[128];
    if (!weft_checked_multiply(points, weft_complex_bytes(p->kernels), &bytes)) bytes = INT64_MAX;
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
                                 .in_batch = t->in_batch,
                                 .whole = whole_of(p, d),
                                 .cached =
                                     (p->tuning & WEFT_NATIVE_INTERLEAVED) && stays_in_caches(p),
                                 .ahead = !stays_in_caches(p),
                                 .cache = weft_native_cache_share(p->plan->threads)};
    if (t->dim[d].n == 1 && (from_output || to_input)) return WEFT_SUCCESS;
    if (!from_output) request.in_stored = weft_native_stored(t, false);
    if (!to_input) request.out_stored = weft_native_stored(t, true);
    ends e;
    set_loops(p, 1u << d, from_output, to_input, &e, &request);
    weft_pass_group *group = add_group(p, from_output, to_input);
    if (is_long(&request)) {
        const int64_t gathered = weft_pass_group_gathers(&request, p->plan->threads);
        WEFT_TRY(check_long(p, t->dim[d].n, gathered));
        if (gathered > 0)
            return weft_pass_group_create_gathered(&request, gathered, group, p->bytes);
        return weft_pass_group_create_long(&request, group, p->bytes);
    }
    const bool operated =
        d == weft_native_in_order(t, t->dims - 1) && weft_native_flushes_operated(t);
    if (operated || weft_pass_group_wants_blocks(&request, p->tuning & WEFT_NATIVE_BLOCKS))
        return weft_pass_group_create_blocks(&request, group, p->bytes);
    return weft_pass_group_create_pass(&request, group, p->bytes);
}

/* A plane of the dimensions `first`, transformed first, and `second`. */
static weft_status add_plane(const planning *p, int first, int second, bool from_output) {
    const weft_transform *t = p->transform;
    const unsigned both = 1u << first | 1u << second;
    weft_pass_request planes = {.kernels = p->kernels,
                                .kind = t->kind,
                                .direction = t->direction,
                                .whole = whole_of(p, t->dims - 1),
                                .out_stored = weft_native_stored(t, true)};
    ends e;
    if (!from_output) {
        planes.in_stored = weft_native_stored(t, false);
        planes.second_in = weft_native_stored_along(t, false, second);
    }
    planes.first_out = weft_native_stored_along(t, true, first);
    weft_pass_group *group = add_group(p, from_output, false);
    set_loops(p, both, from_output, false, &e, &planes);
    set_stride(&t->in_pieces, false, second, e.in, planes.loops);
    set_stride(&t->out_pieces, false, first, e.out, planes.loops);
    weft_dimension one = between(t->dim[first], from_output, false);
    weft_dimension two = between(t->dim[second], from_output, false);
    return weft_pass_group_create_plane(&planes, &one, &two, weft_native_flushes_operated(t), group,
                                        p->bytes);
}

/* A round trip over the planes of both dimensions. */
static weft_status add_plane_and_back(const planning *p) {
    const weft_transform *t = p->transform;
    weft_pass_request planes = {.kernels = p->kernels,
                                .kind = t->kind,
                                .whole = whole_of(p, t->dims - 1),
                                .in_stored = weft_native_stored(t, false),
                                .out_stored = weft_native_stored(t, true)};
    ends e;
    weft_pass_group *group = add_group(p, false, false);
    const weft_pieces spectrum = spectrum_of(p);
    set_loops(p, 3, false, false, &e, &planes);
    set_stride(&spectrum, false, 1, e.spectrum, planes.loops);
    return weft_pass_group_create_plane_and_back(&planes, &t->dim[1], &t->dim[0], group, p->bytes);
}

/* Makes the array of the last column of a three-dimensional spectrum: one column for each index of
 * the loops, and of the first dimension, one after the other. `column` gets its strides on the
 * output side. */
static weft_status create_column(const planning *p, weft_transform *column) {
    const weft_transform *t = p->transform;
    int64_t numbers = 1;
    column->dim[2] = (weft_dimension){1, 1, 1};
    for (int d = 1; d >= 0; d--) {
        column->dim[d].out_stride = numbers;
        numbers *= t->dim[d].n;
    }
    for (int i = 0; i < t->loops; i++) {
        column->loop[i].out_stride = numbers;
        numbers *= t->loop[i].n;
    }
    const int64_t element = weft_complex_bytes(p->kernels);
    p->plan->last_column = t->dim[2].n / 2 * t->dim[2].in_stride * element;
    p->plan->column = malloc((size_t)(numbers * element));
    if (!p->plan->column)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a column");
    *p->bytes += (size_t)(numbers * element);
    return WEFT_SUCCESS;
}

/* The first dimension of some columns of the spectrum. */
static weft_status add_columns(const planning *p, const weft_transform *some, group_array from,
                               group_array to) {
    planning columns = *p;
    columns.transform = some;
    WEFT_TRY(add_axis(&columns, 0, false, false));
    p->plan->from[p->plan->groups - 1] = from;
    p->plan->to[p->plan->groups - 1] = to;
    return WEFT_SUCCESS;
}

/* The planes of the other two dimensions, in the output. */
static weft_status add_planes_in_output(const planning *p, const weft_transform *planes,
                                        const weft_transform *column) {
    planning rest = *p;
    rest.transform = planes;
    WEFT_TRY(add_plane(&rest, 1, 2, false));
    int64_t stride[WEFT_PASS_LOOPS]; /* in the order of set_loops */
    for (int i = 0; i < column->loops; i++) stride[i] = column->loop[i].out_stride;
    stride[column->loops] = column->dim[0].out_stride;
    p->plan->from[p->plan->groups - 1] = OUTPUT;
    weft_pass_group_take_column(&p->plan->group[p->plan->groups - 1], p->plan->column, stride);
    return WEFT_SUCCESS;
}

/* Complex to real by way of the output (weft_native_goes_through_output): a row of n real numbers
 * there is one of n/2 complex ones, which are all columns but the last. */
static weft_status add_groups_through_output(const planning *p) {
    const weft_transform *t = p->transform;
    weft_transform planes = *t, most = *t; /* from the rows of the output, and to them */
    most.kind = WEFT_TRANSFORM_C2C;
    most.direction = WEFT_INVERSE;
    most.store.list = NULL;
    most.dim[2].n /= 2;
    planes.dim[2].in_stride = 1;
    for (int d = 0; d < 2; d++)
        most.dim[d].out_stride = planes.dim[d].in_stride = t->dim[d].out_stride / 2;
    for (int i = 0; i < t->loops; i++)
        most.loop[i].out_stride = planes.loop[i].in_stride = t->loop[i].out_stride / 2;
    weft_transform column = most;
    WEFT_TRY(create_column(p, &column));
    WEFT_TRY(add_columns(p, &most, GIVEN, OUTPUT));
    WEFT_TRY(add_columns(p, &column, LAST, COLUMN));
    return add_planes_in_output(p, &planes, &column);
}

/* Transforms all dimensions in their order, the two last of the arrays together where a plane of
 * them fits in the cache and the whole array does not. The first pass group reads the input and
 * writes the output, and the others work in place on the output. From complex to real, all but the
 * last work in place on the input. */
static weft_status add_groups(const planning *p) {
    const weft_transform *t = p->transform;
    const bool plane = weft_native_plane_fits(t) && !weft_native_stays_in_cache(t);
    const bool c2r = t->kind == WEFT_TRANSFORM_C2R;
    if (t->round_trip && t->dims == 2) return add_plane_and_back(p);
    if (weft_native_goes_through_output(t)) return add_groups_through_output(p);
    for (int i = 0; i < t->dims; i++) {
        const int d = weft_native_in_order(t, i),
                  next = i + 1 < t->dims ? weft_native_in_order(t, i + 1) : -1;
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

/* The memory is zero at first since kernels also compute on lanes beyond the last line, whose
 * results are never stored. */
static weft_status reserve_scratch(weft_engine_plan *plan, weft_scratch *shared, size_t *bytes) {
    plan->scratch = shared ? shared : &plan->own_scratch;
    for (int i = 0; i < plan->groups; i++)
        WEFT_TRY(weft_scratch_reserve(
            plan->scratch, weft_pass_group_room(&plan->group[i], plan->threads), plan->threads));
    for (int i = 0; i < plan->r2r_passes; i++)
        WEFT_TRY(weft_scratch_reserve(plan->scratch, weft_r2r_pass_room(plan->r2r[i]),
                                      plan->r2r[i]->threads));
    *bytes += plan->own_scratch.bytes;
    return WEFT_SUCCESS;
}

/* Stores bypass the caches where the output is too large for them, except in place, where the cache
 * lines that are stored have just been read. */
static void choose_stores(const weft_transform *t, bool past, weft_engine_plan *plan) {
    size_t bytes = (size_t)t->out_elements * weft_transform_element_bytes(t, true);
    bool large = bytes > weft_native_cache_share(plan->threads) * (size_t)plan->threads / 3;
    for (int i = 0; i < plan->groups; i++) {
        bool elsewhere = !t->in_place && plan->from[i] == GIVEN && plan->to[i] != INPUT;
        weft_pass_group_store_past(&plan->group[i], past && large && elsewhere);
    }
}

/* Looks for `alone` and `row`. */
static void find_lines(weft_engine_plan *plan) {
    const weft_native_pass *pass = &plan->group[0].pass[0];
    const bool arrays = plan->in_pieces == 0 && plan->out_pieces == 0;
    const bool whole = plan->groups == 1 && plan->group[0].direct && arrays;
    plan->plain = arrays && plan->threads == 1 && !plan->load.pointwise &&
                  !plan->spectral.pointwise && !plan->store.pointwise;
    const bool plain = !pass->in.operated && !pass->out.operated &&
                       weft_native_side_is_whole(&pass->in) &&
                       weft_native_side_is_whole(&pass->out);
    if (!whole || !plain || pass->solver != &weft_solver_alone || pass->back) return;
    const bool codelet = pass->kind == WEFT_TRANSFORM_C2C
                             ? pass->lone.line && pass->lone.line->lines
                             : pass->real_line != NULL;
    if (pass->lines == 1)
        plan->alone = pass;
    else if (codelet && pass->loops == 1 && plan->threads == 1 && !pass->stream)
        plan->row = pass;
}

void weft_native_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->r2r_passes; i++) weft_r2r_pass_destroy(plan->r2r[i]);
    for (int i = 0; i < plan->groups; i++) weft_pass_group_release(&plan->group[i]);
    weft_pointwise_release(plan->load.pointwise);
    weft_pointwise_release(plan->spectral.pointwise);
    weft_pointwise_release(plan->store.pointwise);
    weft_scratch_release(&plan->own_scratch);
    free(plan->column);
    free(plan);
}

/* Sets the pieces of a transform as it was given, and as it is opened. */
static void set_pieces(weft_engine_plan *plan, const weft_transform *given,
                       const weft_transform *t) {
    const int64_t in = (int64_t)weft_transform_element_bytes(t, false);
    const int64_t out = (int64_t)weft_transform_element_bytes(t, true);
    plan->in_pieces = t->in_pieces.count;
    plan->out_pieces = t->out_pieces.count;
    plan->lists_arrays = given->in_pieces.count > 0;
    for (int k = 0; k < plan->in_pieces; k++) {
        plan->array[k] = t->in_pieces.piece[k].array;
        if (plan->lists_arrays)
            plan->in_part[k] = in * t->in_pieces.piece[k].loop_stride[t->part_loop];
    }
    for (int k = 0; k < plan->out_pieces && given->out_pieces.count > 0; k++)
        plan->out_part[k] = out * t->out_pieces.piece[k].loop_stride[t->part_loop];
}

/* Prepares operators on elements of so many bytes, of which `part` lie between indices of the
 * transform's part_loop. */
static weft_status prepare_operators(const weft_fused_operators *f, size_t element, int64_t part,
                                     int threads, weft_native_operated *operated, size_t *bytes) {
    operated->element = (int64_t)element;
    operated->part = part;
    WEFT_TRY(weft_pointwise_create(f->list, &f->layout, threads, &operated->pointwise));
    *bytes += weft_pointwise_bytes(operated->pointwise);
    return WEFT_SUCCESS;
}

/* Tells the passes at either end what to multiply by. */
static weft_status add_operators(const weft_transform *t, weft_engine_plan *plan, size_t *bytes) {
    weft_pass_group *last = &plan->group[plan->groups - 1];
    double factor;
    const bool scales = weft_native_only_scales(t, &factor);
    for (int i = 0; i < plan->groups; i++) weft_pass_group_scale(&plan->group[i], 1);
    weft_pass_group_scale(last, factor);
    const weft_dimension part = t->loops > 0 ? t->loop[t->part_loop] : (weft_dimension){0};
    if (t->load.list && !weft_native_only_pads(t)) {
        WEFT_TRY(prepare_operators(&t->load, weft_transform_element_bytes(t, false), part.in_stride,
                                   t->threads, &plan->load, bytes));
        weft_pass_group_load_operated(&plan->group[0], &plan->load);
    }
    if (t->spectral.list) {
        const weft_piece box = weft_native_spectrum(t);
        WEFT_TRY(prepare_operators(&t->spectral, 2 * weft_number_bytes(t->precision),
                                   t->loops > 0 ? box.loop_stride[t->part_loop] : 0, t->threads,
                                   &plan->spectral, bytes));
        plan->spectral.axis = t->spectral.dim_axis[0];
        weft_pass_group_operate_between(last, &plan->spectral);
    }
    if (!t->store.list || scales) return WEFT_SUCCESS;
    WEFT_TRY(prepare_operators(&t->store, weft_transform_element_bytes(t, true), part.out_stride,
                               t->threads, &plan->store, bytes));
    weft_pass_group_store_operated(last, &plan->store);
    return WEFT_SUCCESS;
}

weft_status weft_native_plan_with(const weft_transform *transform, weft_native_tuning tuning,
                                  weft_engine_plan **out, size_t *bytes) {
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    size_t held = sizeof *plan;
    plan->threads = weft_native_useful_threads(transform);
    weft_native_opened opened;
    const weft_transform *as_pieces = weft_native_open(transform, &opened);
    const weft_transform strides = weft_native_by_largest_pieces(as_pieces);
    const weft_piece spectrum = weft_native_spectrum(transform);
    planning p = {.transform = &strides,
                  .spectrum = transform->round_trip ? &spectrum : NULL,
                  .kernels = weft_native_kernels(transform->precision),
                  .tuning = tuning,
                  .plan = plan,
                  .bytes = &held};
    set_pieces(plan, transform, as_pieces);
    weft_status status = add_groups(&p);
    if (status == WEFT_SUCCESS) status = add_operators(transform, plan, &held);
    if (status == WEFT_SUCCESS) {
        choose_stores(transform, tuning & WEFT_NATIVE_PAST, plan);
        find_lines(plan);
    }
    if (status == WEFT_SUCCESS) status = reserve_scratch(plan, transform->scratch, &held);
    if (status != WEFT_SUCCESS) {
        weft_native_destroy(plan);
        return status;
    }
    *out = plan;
    *bytes = held;
    return WEFT_SUCCESS;
}

bool weft_native_is_interleaved(const weft_engine_plan *plan) {
    for (int i = 0; i < plan->groups; i++)
        for (int j = 0; j < plan->group[i].passes; j++)
            if (plan->group[i].pass[j].solver == &weft_solver_interleaved) return true;
    return false;
}

static weft_status plan_r2r(const weft_transform *t, weft_engine_plan **out, size_t *bytes) {
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    const weft_transform strides = weft_native_by_largest_pieces(t);
    set_pieces(plan, t, t);
    *bytes = sizeof *plan;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < t->dims && status == WEFT_SUCCESS; i++) {
        weft_r2r_pass **pass = &plan->r2r[plan->r2r_passes++];
        status = weft_r2r_pass_create(&strides, weft_native_in_order(t, i), i > 0, pass, bytes);
    }
    if (status == WEFT_SUCCESS) status = reserve_scratch(plan, t->scratch, bytes);
    if (status != WEFT_SUCCESS) {
        weft_native_destroy(plan);
        return status;
    }
    weft_native_only_scales(t, &plan->r2r[plan->r2r_passes - 1]->scale);
    *out = plan;
    return WEFT_SUCCESS;
}

static int native_together(const weft_transform *transform) {
    return weft_native_plane_fits(transform) ? 2 : 1;
}

static weft_status native_plan(const weft_transform *transform, const weft_device_handle *device,
                               weft_engine_plan **plan, size_t *bytes) {
    WEFT_TRY(weft_native_supports(transform, device->ops));
    if (transform->kind == WEFT_TRANSFORM_R2R) return plan_r2r(transform, plan, bytes);
    const weft_native_tuning tuning = weft_native_choose_tuning(transform);
    return weft_native_plan_with(transform, tuning, plan, bytes);
}

/* ---- execution ---- */

/* Says where this execution's array begins among the elements of the operators' box. */
static void place_operators(const weft_engine_plan *plan, weft_native_operated *operated,
                            const void *array) {
    operated->array = array;
    operated->first = plan->part * operated->part;
}

static void run_alone(const void *self, const void *in, void *out) {
    const weft_engine_plan *plan = self;
    weft_native_line_run(plan->alone, in, out, weft_scratch_room(plan->scratch, 1).own);
}

/* Complex lines, and short ones of any kind, need little of what others do. */
static void run_complex_alone(const void *self, const void *in, void *out) {
    const weft_engine_plan *plan = self;
    const weft_native_pass *pass = plan->alone;
    weft_lone_run(&pass->lone, in, out, weft_scratch_room(plan->scratch, 1).own, pass->scale);
}

static void run_codelet_alone(const void *self, const void *in, void *out) {
    const weft_native_pass *pass = self;
    pass->lone.line->complex(in, out, pass->lone.inverse, pass->scale);
}

static void run_row(const void *self, const void *in, void *out) {
    weft_native_row_run(self, in, out);
}

static void run_real_alone(const void *self, const void *in, void *out) {
    const weft_native_pass *pass = self;
    pass->real_line->real(in, 0, out, 0, 1, pass->scale);
}

static void run_half_alone(const void *self, const void *in, void *out) {
    const weft_native_pass *pass = self;
    pass->real_line->half(in, 0, out, 0, 1, pass->scale);
}

/* The groups of several axes, or of a batch in tiles. */
static void run_groups(const weft_engine_plan *plan, const void *const *source, void *const *target,
                       const void *in, void *out) {
    void *const array[] = {[INPUT] = (void *)(uintptr_t)in,
                           [OUTPUT] = out,
                           [LAST] = (char *)(uintptr_t)in + plan->last_column,
                           [COLUMN] = plan->column};
    const weft_room room = weft_scratch_room(plan->scratch, plan->threads);
    for (int i = 0; i < plan->groups; i++) {
        const void *from[1] = {array[plan->from[i]]};
        weft_pass_group_run(&plan->group[i], plan->from[i] == GIVEN ? source : from,
                            plan->to[i] == GIVEN ? target : &array[plan->to[i]], &room);
    }
}

static void run_plain(const void *self, const void *in, void *out) {
    run_groups(self, &in, &out, in, out);
}

static weft_direct_call native_direct(const weft_engine_plan *plan) {
    const weft_native_pass *pass = plan->alone;
    if (plan->row) return (weft_direct_call){run_row, plan->row};
    if (!pass) return (weft_direct_call){plan->plain ? run_plain : NULL, plan};
    if (pass->kind == WEFT_TRANSFORM_C2C)
        return pass->lone.line ? (weft_direct_call){run_codelet_alone, pass}
                               : (weft_direct_call){run_complex_alone, plan};
    if (!pass->real_line) return (weft_direct_call){run_alone, plan};
    return (weft_direct_call){pass->kind == WEFT_TRANSFORM_R2C ? run_real_alone : run_half_alone,
                              pass};
}

static weft_status run_plan(void *argument, const void *in, void *out) {
    weft_engine_plan *plan = argument;
    if (plan->alone) {
        run_alone(plan, in, out);
        return WEFT_SUCCESS;
    }
    place_operators(plan, &plan->load, in);
    place_operators(plan, &plan->spectral, NULL);
    place_operators(plan, &plan->store, out);
    const void *source[WEFT_MAX_PIECES];
    void *target[WEFT_MAX_PIECES];
    source[0] = in;
    target[0] = out;
    for (int k = 0; k < plan->in_pieces; k++)
        source[k] = plan->lists_arrays
                        ? ((const char *const *)in)[plan->array[k]] + plan->part * plan->in_part[k]
                        : in;
    for (int k = 0; k < plan->out_pieces; k++)
        target[k] = (char *)out + plan->part * plan->out_part[k];
    for (int i = 0; i < plan->r2r_passes; i++) {
        const void *output[1] = {out};
        const weft_room room = weft_scratch_room(plan->scratch, plan->r2r[i]->threads);
        weft_r2r_pass_run(plan->r2r[i], i == 0 ? source : output, target, &room);
    }
    run_groups(plan, source, target, in, out);
    return WEFT_SUCCESS;
}

static void native_describe(const weft_engine_plan *plan, FILE *stream) {
    for (int i = 0; i < plan->r2r_passes; i++) weft_native_describe_r2r(plan->r2r[i], stream);
    for (int i = 0; i < plan->groups; i++) weft_native_describe_group(&plan->group[i], stream);
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
                                            .takes_operators = true,
                                            .probe = weft_native_probe,
                                            .supports = weft_native_supports,
                                            .together = native_together,
                                            .keeps_input = weft_native_goes_through_output,
                                            .plan = native_plan,
                                            .destroy = weft_native_destroy,
                                            .begin_at = native_begin_at,
                                            .execute = native_execute,
                                            .direct = native_direct,
                                            .describe = native_describe};
