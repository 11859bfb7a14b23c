/*
 * The jit engine: our own kernels, compiled at run time for every length, on any device that has
 * kernels. A transform of several axes has a chain of passes for each axis. The first chain reads
 * the input and writes the output; the others work in place there or, where that is slower,
 * alternate between the output and an array of the plan's. From complex to real, all but the last
 * stay in the input, if it may be overwritten, or in the plan's array.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/jit/chain.h"
#include "engine/jit/radices.h"
#include "engine/jit/tuning.h"
#include "support/axis.h"
#include "support/checked.h"
#include "support/error.h"

/* The arrays that the chains read and write; BETWEEN is the plan's own. */
typedef enum array { IN, OUT, BETWEEN } array;

typedef struct axis_chain {
    weft_jit_chain chain;
    array from, to;
} axis_chain;

struct weft_engine_plan {
    weft_device_handle device;
    weft_jit_table_list tables;
    int chains;
    axis_chain *chain;     /* one for each pass over an axis */
    weft_scratch *scratch; /* array BETWEEN, then the chains' arrays: the transform's, or `own` */
    weft_scratch own;
    size_t between_bytes;
    weft_operator_kernel *load, *spectral, *store; /* NULL: none */
    int64_t part;             /* where the next execution begins in the part_loop */
    int part_axis;            /* that loop's axis of the operators' box, or -1 */
    int64_t first[WEFT_AXES]; /* where the arrays begin in that box */
    void *kept;
};

static weft_status jit_probe(const char **description) {
    if (description) *description = "kernels compiled at run time";
    return WEFT_SUCCESS;
}

/* Dimension number i in the order of transformation. Forward, the last dimension comes first.
 * Inverse transforms take the opposite order, since the complex-to-real dimension must come
 * last. */
static int in_order(const weft_transform *t, int i) {
    bool inverse = t->kind == WEFT_TRANSFORM_C2R ||
                   (t->kind != WEFT_TRANSFORM_R2C && t->direction == WEFT_INVERSE);
    return inverse ? i : t->dims - 1 - i;
}

/* Whether the dimension is the one that is halved on the complex side. */
static bool is_halved(const weft_transform *t, int d) {
    return (t->kind == WEFT_TRANSFORM_R2C || t->kind == WEFT_TRANSFORM_C2R) && d == t->dims - 1;
}

/* Whether elements of the caller's array are converted; each is then stored as one number, even if
 * it stands for a complex one. */
static bool converts(const weft_transform *t, bool output) {
    const weft_fused_operators *side = output ? &t->store : &t->load;
    return side->list && side->layout.stored.storage != WEFT_STORAGE_SAME;
}

/* Pieces are along the dimension that is transformed first (in the input) or last (in the output),
 * and its lines must fit one pass. */
static bool takes(const weft_transform *t, const weft_pieces *pieces, int place) {
    const int d = pieces->dim;
    if (pieces->count == 0) return true;
    if (t->in_place || pieces->count > WEFT_JIT_PIECES || in_order(t, place) != d) return false;
    if (t->kind != WEFT_TRANSFORM_R2R) return t->dim[d].n <= WEFT_JIT_LONGEST;
    const int64_t n = weft_axis_real_line(t->type[d], t->dim[d].n);
    const int64_t points = n % 2 == 0 ? n / 2 : n;
    return points <= WEFT_JIT_LONGEST && weft_jit_is_smooth(points);
}

/* Whether a round trip is possible: one kernel does the last forward transform, the spectral
 * operators and the first inverse transform, so that dimension must be complex and fit one
 * kernel. */
static bool can_round_trip(const weft_transform *t) {
    const int64_t n = t->dim[0].n;
    return n <= WEFT_JIT_LONGEST && weft_jit_is_smooth(n) && t->kind != WEFT_TRANSFORM_R2R &&
           (t->kind == WEFT_TRANSFORM_C2C || t->dims > 1);
}

/* The extent of a dimension between the passes. */
static int64_t extent_between(const weft_transform *t, int d) {
    return is_halved(t, d) ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

/* Checks each dimension with all lines along it: those of all other dimensions and loops. */
static weft_status check_lines(const weft_transform *t) {
    const bool operators = t->load.list || t->spectral.list || t->store.list;
    for (int d = 0; d < t->dims; d++) {
        const bool real = t->kind == WEFT_TRANSFORM_R2R;
        const int64_t n = real ? weft_axis_real_line(t->type[d], t->dim[d].n) : t->dim[d].n;
        const weft_transform_kind kind = real || is_halved(t, d) ? t->kind : WEFT_TRANSFORM_C2C;
        int64_t lines = 1;
        bool counted = true;
        for (int e = 0; e < t->dims; e++)
            if (e != d)
                counted = counted && weft_checked_multiply(lines, extent_between(t, e), &lines);
        for (int i = 0; i < t->loops; i++)
            counted = counted && weft_checked_multiply(lines, t->loop[i].n, &lines);
        WEFT_TRY(weft_jit_check_lines(n, kind, operators, counted ? lines : INT64_MAX));
    }
    return WEFT_SUCCESS;
}

/* Operators that look at more than the element that they change. */
static bool looks_around(const weft_fused_operators *side) {
    return side->list &&
           (weft_operators_reductions(side->list) != 0 || weft_operators_have_matrix(side->list));
}

/* Operators of a real-to-real transform get real numbers. Of complex ones only a scaling does. */
static bool has_real_operators(const weft_fused_operators *side, weft_transform_kind kind) {
    double factor;
    return kind != WEFT_TRANSFORM_R2R || !side->list || side->layout.real ||
           (weft_operators_only_scale(side->list, &factor) && !side->layout.keeps &&
            weft_stored_is_box(&side->layout.stored));
}

static weft_status jit_supports(const weft_transform *t, const weft_device_ops *device) {
    const weft_pieces *in = &t->in_pieces, *out = &t->out_pieces;
    if (looks_around(&t->load) || looks_around(&t->spectral) || looks_around(&t->store))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: no reductions or matrices within its kernels");
    if (!device->kernel_create)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: device %s has no kernels; choose another engine or device",
                         device->name);
    if (t->precision != WEFT_DOUBLE && t->precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "jit engine: double and single precision only");
    if (!has_real_operators(&t->load, t->kind) || !has_real_operators(&t->store, t->kind))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: real-to-real transforms of complex numbers with operators");
    if ((in->count > 0 && weft_stored_has_gaps(&t->load.layout.stored)) ||
        (out->count > 0 && weft_stored_has_gaps(&t->store.layout.stored)))
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "jit engine: a truncated spectrum in pieces");
    if (t->in_place && weft_transform_is_real(t, false) != weft_transform_is_real(t, true))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: a batch of real transforms in place; use two buffers");
    if (t->round_trip && !can_round_trip(t))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: there and back along %lld points in one kernel",
                         (long long)t->dim[0].n);
    const bool converted_pieces =
        (in->count > 0 && converts(t, false)) || (out->count > 0 && converts(t, true));
    if (weft_transform_has_real_pieces(t) || converted_pieces || !takes(t, in, 0) ||
        !takes(t, out, t->round_trip ? 0 : t->dims - 1))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: a transform of %d dimensions from %d pieces to %d", t->dims,
                         in->count, out->count);
    return check_lines(t);
}

/* ---- planning ---- */

/* How the axes lie in one of the arrays, in real numbers. */
typedef struct strides {
    int64_t dim[WEFT_MAX_RANK], loop[WEFT_AXES];
} strides;

typedef struct planning {
    const weft_transform *transform;
    const weft_jit_tuning *tuning;
    weft_engine_plan *plan;
    strides lie[BETWEEN + 1];
    bool alternates; /* passes alternate between OUT and BETWEEN, never in place */
} planning;

static const weft_piece *largest(const weft_pieces *pieces) {
    const weft_piece *found = &pieces->piece[0];
    for (int k = 1; k < pieces->count; k++)
        if (pieces->piece[k].n > found->n) found = &pieces->piece[k];
    return found;
}

/* The strides of one side; where it lies in pieces, those of the largest, by which loops are
 * ordered. */
static strides side_strides(const weft_transform *t, bool output) {
    const weft_pieces *pieces = output ? &t->out_pieces : &t->in_pieces;
    const int64_t numbers = weft_transform_is_real(t, output) || converts(t, output) ? 1 : 2;
    strides s = {{0}, {0}};
    for (int d = 0; d < t->dims; d++)
        s.dim[d] = numbers * (pieces->count > 0 ? largest(pieces)->dim_stride[d]
                              : output          ? t->dim[d].out_stride
                                                : t->dim[d].in_stride);
    for (int i = 0; i < t->loops; i++)
        s.loop[i] = numbers * (pieces->count > 0 ? largest(pieces)->loop_stride[i]
                               : output          ? t->loop[i].out_stride
                                                 : t->loop[i].in_stride);
    return s;
}

/* The strides of a dense array in which the dimensions vary faster than the loops. */
static strides dense_strides(const weft_transform *t, int64_t *numbers) {
    strides s = {{0}, {0}};
    int64_t stride = t->kind == WEFT_TRANSFORM_R2R ? 1 : 2;
    for (int d = t->dims - 1; d >= 0; d--) {
        s.dim[d] = stride;
        stride *= extent_between(t, d);
    }
    for (int i = t->loops - 1; i >= 0; i--) {
        s.loop[i] = stride;
        stride *= t->loop[i].n;
    }
    *numbers = stride;
    return s;
}

static void set_pieces(const weft_transform *t, const weft_pieces *given, weft_jit_side *side) {
    const int64_t numbers = t->kind == WEFT_TRANSFORM_R2R ? 1 : 2;
    side->pieces = given->count;
    for (int k = 0; k < given->count; k++) {
        const weft_piece *g = &given->piece[k];
        weft_jit_piece *p = &side->piece[k];
        int at = 0;
        *p = (weft_jit_piece){.array = g->array,
                              .first = g->first,
                              .offset = numbers * g->offset,
                              .point = numbers * g->dim_stride[given->dim],
                              .part = numbers * g->loop_stride[t->part_loop]};
        for (int i = 0; i < t->loops; i++) p->loop[at++] = numbers * g->loop_stride[i];
        for (int d = 0; d < t->dims; d++)
            if (d != given->dim) p->loop[at++] = numbers * g->dim_stride[d];
    }
}

/* Whether real data is transformed in pairs: where half the length is smooth or fits one kernel. */
static bool in_pairs(const planning *p, int64_t n) {
    int64_t core;
    return n % 2 == 0 && (weft_jit_is_smooth(n / 2) ||
                          weft_jit_is_single(n / 2, p->transform->precision, p->tuning, &core));
}

static weft_jit_side real_points(int64_t stride, bool pairs) {
    return (weft_jit_side){.points = pairs ? WEFT_JIT_REAL_PAIRS : WEFT_JIT_REAL,
                           .point = pairs ? 2 * stride : stride,
                           .part = stride};
}

/* Sets the points of a request's sides, and the length. */
static void set_points(const planning *p, int d, bool back, weft_jit_request *r) {
    const weft_transform *t = p->transform;
    const bool r2c = is_halved(t, d) && t->kind == WEFT_TRANSFORM_R2C && !back;
    const bool c2r = is_halved(t, d) && !r2c;
    const bool pairs = (r2c || c2r) && in_pairs(p, t->dim[d].n);
    const weft_jit_points half = pairs ? WEFT_JIT_HALF_PAIRS : WEFT_JIT_HALF;
    r->real_length = t->dim[d].n;
    r->length = pairs ? t->dim[d].n / 2 : t->dim[d].n;
    if (r2c) {
        r->in = real_points(r->in.point, pairs);
        r->out.points = half;
    }
    if (c2r) {
        r->in.points = half;
        r->out = real_points(r->out.point, pairs);
    }
}

/* The same for a cosine or sine transform. No loop counts along its line. */
static void set_real_to_real(const planning *p, int d, weft_jit_request *r) {
    const weft_axis type = p->transform->type[d];
    const int64_t n = p->transform->dim[d].n;
    weft_jit_operators *operators[] = {&r->in.operators, &r->out.operators};
    weft_jit_set_real_to_real(r, type, n, in_pairs(p, weft_axis_real_line(type, n)));
    for (int i = 0; i < 2; i++) {
        operators[i]->point = 1;
        for (int l = 0; l < WEFT_JIT_LOOPS; l++) operators[i]->axis[l] = -1;
    }
}

/* The request for dimension d of the transform; with `back`, for the inverse part of a round
 * trip. */
static weft_jit_request request_of(const planning *p, int d, bool back, array from, array to) {
    const weft_transform *t = p->transform;
    const strides *in = &p->lie[from], *out = &p->lie[to];
    weft_jit_request r = {.work = WEFT_JIT_TRANSFORM,
                          .precision = t->precision,
                          .inverse =
                              back || t->kind == WEFT_TRANSFORM_C2R ||
                              (t->kind == WEFT_TRANSFORM_C2C && t->direction == WEFT_INVERSE),
                          .in = {.points = WEFT_JIT_COMPLEX, .point = in->dim[d], .part = 1},
                          .out = {.points = WEFT_JIT_COMPLEX, .point = out->dim[d], .part = 1},
                          .twiddle_loop = -1,
                          .chunk = -1,
                          .fold_loop = -1};
    if (t->kind == WEFT_TRANSFORM_R2R)
        set_real_to_real(p, d, &r);
    else
        set_points(p, d, back, &r);
    r.in.own = from == BETWEEN;
    r.out.own = to == BETWEEN;
    for (int i = 0; i < t->loops; i++)
        r.loop[r.loops++] = (weft_jit_loop){t->loop[i].n, in->loop[i], out->loop[i]};
    for (int e = 0; e < t->dims; e++)
        if (e != d)
            r.loop[r.loops++] = (weft_jit_loop){extent_between(t, e), in->dim[e], out->dim[e]};
    return r;
}

/* Sets the operators of one side of a request, with loops in the order of request_of. */
static void set_operators(const weft_transform *t, const weft_fused_operators *given,
                          const weft_operator_kernel *kernel, int d, weft_jit_operators *o) {
    int at = 0;
    if (!kernel) return;
    *o = (weft_jit_operators){.kernel = kernel, .line_axis = given->dim_axis[d], .point = 1};
    for (int i = 0; i < t->loops; i++) o->axis[at++] = given->loop_axis[i];
    for (int e = 0; e < t->dims; e++)
        if (e != d) o->axis[at++] = given->dim_axis[e];
    for (int l = 0; l < at; l++) {
        o->step[l] = 1;
        if (!(kernel->axes >> o->axis[l] & 1)) o->axis[l] = -1;
    }
}

/* The passes over axes are numbered by their place. A round trip has a forward pass for each
 * dimension, of which the last also applies the spectral operators and transforms back, and then
 * the inverse passes of the other dimensions. */
static int passes_of(const weft_transform *t) {
    return t->round_trip ? 2 * t->dims - 1 : t->dims;
}

static bool is_back(const weft_transform *t, int place) {
    return place >= t->dims;
}

static int dimension_of(const weft_transform *t, int place) {
    return in_order(t, is_back(t, place) ? 2 * t->dims - 2 - place : place);
}

/* Adds pass number `place`. The first one loads the caller's input, the last one stores the
 * caller's output. */
static weft_status add_axis(planning *p, int place, array from, array to) {
    weft_engine_plan *plan = p->plan;
    const weft_transform *t = p->transform;
    const int d = dimension_of(t, place);
    axis_chain *axis = &plan->chain[plan->chains++];
    axis->from = from;
    axis->to = to;
    weft_jit_request r = request_of(p, d, is_back(t, place), from, to);
    if (place == 0) {
        if (t->kind == WEFT_TRANSFORM_C2C && converts(t, false))
            r.in = real_points(r.in.point, false);
        set_pieces(t, &t->in_pieces, &r.in);
        set_operators(t, &t->load, plan->load, d, &r.in.operators);
    }
    if (place + 1 == passes_of(t)) {
        if (t->kind == WEFT_TRANSFORM_C2C && t->store.layout.place == WEFT_PLACE_STORE &&
            converts(t, true))
            r.out = real_points(r.out.point, false);
        set_pieces(t, &t->out_pieces, &r.out);
        set_operators(t, &t->store, plan->store, d, &r.out.operators);
    }
    if (t->round_trip && place + 1 == t->dims) {
        r.round_trip = true;
        set_operators(t, &t->spectral, plan->spectral, d, &r.spectral);
    }
    return weft_jit_chain_create(&r, p->tuning, &plan->device, &plan->tables, &axis->chain);
}

/* The array in which data stays between the first pass and the last: the output if it can hold the
 * data, the input, or the plan's own array. */
static array resting_place(const weft_transform *t) {
    const bool loads_box = !t->load.list || weft_stored_is_box(&t->load.layout.stored);
    const bool stores_box = !t->store.list || weft_stored_is_box(&t->store.layout.stored);
    if (t->dims == 1) return OUT;
    if (t->kind == WEFT_TRANSFORM_C2R)
        return t->destroy_input && t->in_pieces.count == 0 && loads_box ? IN : BETWEEN;
    return t->out_pieces.count > 0 || !stores_box ||
                   (t->round_trip && t->kind == WEFT_TRANSFORM_R2C)
               ? BETWEEN
               : OUT;
}

/* Whether passes had better alternate between two arrays than work in place. On an H200, strided
 * lines of 1024 points in double precision, of which one group fills a multiprocessor, are 15 %
 * slower in place. cuFFT uses an array for this, too. */
static bool wants_to_alternate(const weft_transform *t, const weft_jit_tuning *tuning) {
    bool any = false;
    for (int d = 0; d + 1 < t->dims; d++) any = any || t->dim[d].n >= tuning->alternates;
    return any && t->dims > 2 && resting_place(t) == OUT;
}

static array next_place(const planning *p, int place) {
    const int left = passes_of(p->transform) - 1 - place;
    if (left == 0) return OUT;
    if (p->alternates) return left % 2 == 0 ? OUT : BETWEEN;
    return resting_place(p->transform);
}

/* Whether a pass would do nothing, and so is left out: its dimension has one point, and it neither
 * moves, converts nor multiplies data. */
static bool is_nothing(const planning *p, int place, array from, array to) {
    const weft_transform *t = p->transform;
    const int d = dimension_of(t, place);
    const bool operates = (place == 0 && p->plan->load) ||
                          (place + 1 == passes_of(t) && p->plan->store) ||
                          (t->round_trip && place + 1 == t->dims);
    return t->dim[d].n == 1 && from == to && !operates && t->kind != WEFT_TRANSFORM_R2R &&
           !is_halved(t, d);
}

static weft_status add_axes(planning *p) {
    const weft_transform *t = p->transform;
    const bool between = p->alternates || (t->dims > 1 && resting_place(t) == BETWEEN);
    int64_t numbers;
    p->lie[IN] = side_strides(t, false);
    p->lie[OUT] = side_strides(t, true);
    p->lie[BETWEEN] = dense_strides(t, &numbers);
    if (between) p->plan->between_bytes = (size_t)numbers * weft_number_bytes(t->precision);
    array from = IN;
    for (int i = 0; i < passes_of(t); i++) {
        const array to = next_place(p, i);
        if (!is_nothing(p, i, from, to)) WEFT_TRY(add_axis(p, i, from, to));
        from = to;
    }
    return WEFT_SUCCESS;
}

static weft_status make_operators(weft_engine_plan *plan, const weft_fused_operators *given,
                                  bool real, const char *name, weft_operator_kernel **kernel) {
    weft_pointwise_layout layout = given->layout;
    if (!given->list) return WEFT_SUCCESS;
    layout.real = layout.real || real;
    return weft_operator_kernel_create(given->list, &layout, name, &plan->device, kernel);
}

static weft_status add_operators(const planning *p) {
    const weft_transform *t = p->transform;
    weft_engine_plan *plan = p->plan;
    const weft_fused_operators *any = t->load.list       ? &t->load
                                      : t->spectral.list ? &t->spectral
                                                         : &t->store;
    plan->part_axis = any->list && t->loops > 0 ? any->loop_axis[t->part_loop] : -1;
    const bool real =
        t->kind == WEFT_TRANSFORM_R2R; /* also where numbers are parts of complex ones */
    WEFT_TRY(make_operators(plan, &t->load, real, "load", &plan->load));
    WEFT_TRY(make_operators(plan, &t->spectral, real, "spectral", &plan->spectral));
    return make_operators(plan, &t->store, real, "store", &plan->store);
}

static void jit_begin_at(weft_engine_plan *plan, int64_t first, void *kept) {
    plan->kept = kept;
    plan->part = first;
    if (plan->part_axis >= 0) plan->first[plan->part_axis] = first;
}

static weft_status allocate_work(weft_engine_plan *plan, size_t *bytes) {
    size_t areas = 0;
    plan->between_bytes = (plan->between_bytes + 511) / 512 * 512;
    for (int c = 0; c < plan->chains; c++) {
        const weft_jit_chain *chain = &plan->chain[c].chain;
        const size_t own = (size_t)chain->areas * chain->area_bytes;
        if (own > areas) areas = own;
    }
    const size_t size = plan->between_bytes + areas;
    *bytes = sizeof *plan + plan->tables.bytes + (plan->scratch == &plan->own ? size : 0);
    const weft_operator_kernel *operators[] = {plan->load, plan->spectral, plan->store};
    for (int i = 0; i < 3; i++)
        if (operators[i]) *bytes += operators[i]->bytes;
    return size > 0 ? weft_scratch_reserve_on(plan->scratch, &plan->device, size) : WEFT_SUCCESS;
}

static void jit_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    const weft_device_handle *device = &plan->device;
    for (int c = 0; c < plan->chains; c++) weft_jit_chain_release(&plan->chain[c].chain, device);
    weft_jit_tables_release(&plan->tables, device);
    weft_operator_kernel_release(plan->load);
    weft_operator_kernel_release(plan->spectral);
    weft_operator_kernel_release(plan->store);
    weft_scratch_release(&plan->own);
    free(plan->chain);
    free(plan);
}

static weft_status make_plan(const weft_transform *transform, const weft_device_handle *device,
                             const weft_jit_tuning *tuning, bool alternates, weft_engine_plan **out,
                             size_t *bytes) {
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    axis_chain *chain = calloc((size_t)passes_of(transform), sizeof *chain);
    if (!plan || !chain) {
        free(plan);
        free(chain);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "jit engine: no memory for a plan");
    }
    plan->device = *device;
    plan->scratch = transform->scratch ? transform->scratch : &plan->own;
    plan->tables.precision = transform->precision;
    plan->chain = chain;
    planning p = {.transform = transform, .tuning = tuning, .plan = plan, .alternates = alternates};
    size_t held = 0;
    weft_status status = add_operators(&p);
    if (status == WEFT_SUCCESS) status = add_axes(&p);
    if (status == WEFT_SUCCESS) status = allocate_work(plan, &held);
    if (status != WEFT_SUCCESS) {
        jit_destroy(plan);
        return status;
    }
    weft_jit_tables_free_copies(&plan->tables);
    *bytes = held;
    *out = plan;
    return WEFT_SUCCESS;
}

weft_status weft_jit_plan_with(const weft_transform *transform, const weft_device_handle *device,
                               const weft_jit_tuning *tuning, weft_engine_plan **out,
                               size_t *bytes) {
    WEFT_TRY(jit_supports(transform, device->ops));
    if (wants_to_alternate(transform, tuning)) {
        weft_status status = make_plan(transform, device, tuning, true, out, bytes);
        if (status != WEFT_ERROR_OUT_OF_MEMORY) return status;
    }
    return make_plan(transform, device, tuning, false, out, bytes);
}

static weft_status jit_plan(const weft_transform *transform, const weft_device_handle *device,
                            weft_engine_plan **plan, size_t *bytes) {
    weft_kernel_limits limits;
    WEFT_TRY(jit_supports(transform, device->ops));
    WEFT_TRY(device->ops->kernel_limits(device->state, &limits));
    const weft_jit_tuning tuning = weft_jit_tuning_of(transform->precision, &limits);
    return weft_jit_plan_with(transform, device, &tuning, plan, bytes);
}

static weft_status jit_execute(weft_engine_plan *plan, const weft_device_handle *device,
                               weft_queue *queue, const void *in, void *out) {
    char *between = plan->scratch->memory, *areas = between + plan->between_bytes;
    const void *const source[] = {[IN] = in, [OUT] = out, [BETWEEN] = between};
    void *const target[] = {[IN] = (void *)(uintptr_t)in, [OUT] = out, [BETWEEN] = between};
    for (int c = 0; c < plan->chains; c++) {
        axis_chain *axis = &plan->chain[c];
        WEFT_TRY(weft_jit_chain_run(&axis->chain, device, queue, source[axis->from],
                                    target[axis->to], areas, plan->part, plan->first, plan->kept));
    }
    return WEFT_SUCCESS;
}

const weft_engine_ops weft_engine_jit = {.name = "jit",
                                         .id = WEFT_ENGINE_JIT,
                                         .takes_pieces = true,
                                         .takes_operators = true,
                                         .probe = jit_probe,
                                         .supports = jit_supports,
                                         .plan = jit_plan,
                                         .destroy = jit_destroy,
                                         .begin_at = jit_begin_at,
                                         .execute = jit_execute};
