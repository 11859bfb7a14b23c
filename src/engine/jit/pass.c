/* Makes a pass: orders its loops, and makes its tables and kernels. Launches its kernel. */
#include "engine/jit/pass.h"

#include <stdlib.h>
#include <string.h>

#include "support/axis.h"
#include "support/divisor.h"
#include "support/error.h"

/* ---- loops ---- */

static int64_t distance(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

static void swap_operator_loops(weft_jit_operators *o, int a, int b) {
    const int axis = o->axis[a];
    const int64_t step = o->step[a];
    o->axis[a] = o->axis[b];
    o->step[a] = o->step[b];
    o->axis[b] = axis;
    o->step[b] = step;
}

static void swap_side_loops(weft_jit_side *side, int a, int b) {
    swap_operator_loops(&side->operators, a, b);
    for (int i = 0; i < side->pieces; i++) {
        int64_t stride = side->piece[i].loop[a];
        side->piece[i].loop[a] = side->piece[i].loop[b];
        side->piece[i].loop[b] = stride;
    }
}

static void swap_loops(weft_jit_request *r, int a, int b) {
    weft_jit_loop loop = r->loop[a];
    r->loop[a] = r->loop[b];
    r->loop[b] = loop;
    swap_side_loops(&r->in, a, b);
    swap_side_loops(&r->out, a, b);
    swap_operator_loops(&r->spectral, a, b);
    int *named[] = {&r->twiddle_loop, &r->chunk, &r->fold_loop};
    for (int i = 0; i < 3; i++)
        if (*named[i] == a || *named[i] == b) *named[i] = a + b - *named[i];
}

static void remove_loop(weft_jit_request *r, int l) {
    for (; l + 1 < r->loops; l++) swap_loops(r, l, l + 1);
    r->loops--;
    if (r->twiddle_loop == r->loops) r->twiddle_loop = -1;
    if (r->chunk == r->loops) r->chunk = -1;
    if (r->fold_loop == r->loops) r->fold_loop = -1;
}

/* The loop with the smallest stride on one side. */
static int nearest(const weft_jit_request *r, bool output) {
    int best = 0;
    for (int l = 1; l < r->loops; l++) {
        int64_t here = distance(output ? r->loop[l].out : r->loop[l].in);
        int64_t there = distance(output ? r->loop[best].out : r->loop[best].in);
        if (here < there) best = l;
    }
    return best;
}

static bool lines_are_closer(const weft_jit_request *r, int l, bool output) {
    const int64_t line = output ? r->loop[l].out : r->loop[l].in;
    return distance(line) < distance(output ? r->out.point : r->in.point);
}

static bool is_looked_at(const weft_jit_request *r, int l) {
    const weft_jit_side *side[] = {&r->in, &r->out};
    bool any = r->spectral.kernel && r->spectral.axis[l] >= 0;
    for (int i = 0; i < 2; i++)
        any = any || (side[i]->operators.axis[l] >= 0 &&
                      (side[i]->operators.kernel || weft_jit_is_numbered(side[i]->points)));
    return any;
}

/* Whether the kernel uses the loop's index, so that the loop cannot be merged with another. */
static bool is_named(const weft_jit_request *r, int l) {
    return l == r->twiddle_loop || l == r->chunk || l == r->fold_loop || is_looked_at(r, l);
}

/* Orders the loops after the first `fixed` ones: neighbouring lines first, the others by their
 * strides in the output. Loops that one stride covers on both sides become one. */
static void arrange_loops(weft_jit_request *r, int fixed) {
    for (int l = r->loops - 1; l >= fixed; l--)
        if (r->loop[l].n == 1) remove_loop(r, l);
    for (int i = fixed + 1; i < r->loops; i++)
        for (int j = i; j > fixed && distance(r->loop[j].out) < distance(r->loop[j - 1].out); j--)
            swap_loops(r, j, j - 1);
    if (fixed == 0 && r->loops > 0) {
        int first = nearest(r, true), in = nearest(r, false);
        if (!lines_are_closer(r, first, true) && lines_are_closer(r, in, false)) first = in;
        for (int l = first; l > 0; l--) swap_loops(r, l, l - 1);
    }
    for (int l = fixed; l + 1 < r->loops && r->in.pieces + r->out.pieces == 0;) {
        const weft_jit_loop *inner = &r->loop[l], *outer = &r->loop[l + 1];
        if (is_named(r, l) || is_named(r, l + 1) || outer->in != inner->in * inner->n ||
            outer->out != inner->out * inner->n) {
            l++;
            continue;
        }
        r->loop[l].n *= outer->n;
        r->loop[l + 1].n = 1;
        remove_loop(r, l + 1);
    }
    if (r->loops == 0) r->loop[r->loops++] = (weft_jit_loop){1, 0, 0};
}

static bool is_complex(weft_jit_points points) {
    return points != WEFT_JIT_REAL && points != WEFT_JIT_REAL_PAIRS &&
           !weft_jit_is_numbered(points);
}

size_t weft_jit_number_bytes(const weft_jit_side *side, weft_precision precision) {
    if (weft_jit_converts(side)) return side->operators.kernel->stored_bytes;
    return weft_number_bytes(precision);
}

/* Whether real numbers are loaded or stored one by one, since the caller's array is not just the
 * box. */
static bool is_by_number(const weft_jit_side *side) {
    return side->operators.kernel && !side->operators.kernel->is_box && !is_complex(side->points);
}

/* Whether two numbers that lie side by side are loaded or stored by one access. */
static bool is_wide(const weft_jit_side *side) {
    if (weft_jit_converts(side) || is_by_number(side)) return false;
    return is_complex(side->points) || (side->points == WEFT_JIT_REAL_PAIRS && side->part == 1);
}

static bool all_even(const weft_jit_side *side, const weft_jit_request *r, bool output) {
    if (is_complex(side->points) || !is_wide(side)) return true;
    if (side->point % 2 != 0) return false;
    for (int l = 0; l < r->loops; l++)
        if ((output ? r->loop[l].out : r->loop[l].in) % 2 != 0) return false;
    return true;
}

/* Whether every pair of numbers is aligned to the size of a pair if the arrays are. */
static bool can_be_aligned(const weft_jit_request *r) {
    return all_even(&r->in, r, false) && all_even(&r->out, r, true);
}

/* Makes the kernels that executions may need: one for arrays that are aligned, as
 * weft_buffer_create makes them, and one for callers' arrays that are not. */
static weft_status compile(weft_jit_pass *pass, bool is_cpu, const weft_device_handle *device) {
    const weft_jit_request *r = &pass->request;
    const bool can = can_be_aligned(r) && !is_cpu;
    const bool must = (is_wide(&r->in) && !r->in.own) || (is_wide(&r->out) && !r->out.own);
    if (can) WEFT_TRY(weft_jit_compile(pass, true, device, &pass->kernel[1]));
    if (can && !must) return WEFT_SUCCESS;
    return weft_jit_compile(pass, false, device, &pass->kernel[0]);
}

/* ---- making ---- */

static bool has_half(const weft_jit_request *r) {
    return weft_jit_is_half_pairs(r->in.points) || weft_jit_is_half_pairs(r->out.points);
}

/* Whether each point of a line lies in a memory page of its own; pages of GPUs have 2 MiB. */
static bool has_large_stride(const weft_jit_request *r) {
    const int64_t page = (INT64_C(1) << 21) / (int64_t)weft_number_bytes(r->precision);
    return distance(r->in.point) >= page || distance(r->out.point) >= page;
}

/* Whether points are loaded and stored as the transform takes and gives them, from and to one place
 * each. */
static bool is_plain(const weft_jit_request *r) {
    const weft_jit_side *sides[] = {&r->in, &r->out};
    bool plain = r->twiddle_loop < 0;
    for (int i = 0; i < 2; i++)
        plain = plain && sides[i]->points == WEFT_JIT_COMPLEX && sides[i]->pieces == 0 &&
                !sides[i]->operators.kernel;
    return plain;
}

/* Whether complex points are apart, with neighbours of their line between them, on both sides. A
 * line alone has no neighbours, but may be the last one of some that do, whose bits it must get. */
static bool is_strided(const weft_jit_request *r) {
    const weft_jit_side *sides[] = {&r->in, &r->out};
    /* No step of a longer line, and no convolution. */
    bool strided = r->twiddle_loop < 0 && r->fold_loop < 0 && r->core == 0;
    for (int i = 0; i < 2; i++)
        strided = strided && sides[i]->points == WEFT_JIT_COMPLEX &&
                  distance(sides[i]->point) > 2 && lines_are_closer(r, 0, i == 1);
    return strided;
}

static weft_jit_shape choose_shape(const weft_jit_request *r, const weft_jit_tuning *tuning,
                                   const weft_kernel_limits *limits, int64_t lines) {
    const weft_jit_task task = {.precision = r->precision,
                                .length = (int)r->length,
                                .points = (int)(r->core > 0 ? r->core : r->length),
                                .rows = weft_jit_rows(r),
                                .round_trip = r->round_trip || r->core > 0,
                                .half_in = weft_jit_is_half_pairs(r->in.points),
                                .half_out = weft_jit_is_half_pairs(r->out.points),
                                .plain = is_plain(r),
                                .strided = is_strided(r),
                                .waves_out = r->out.points == WEFT_JIT_WAVE_PAIRS,
                                .across_in = lines_are_closer(r, 0, false),
                                .across_out = lines_are_closer(r, 0, true),
                                .large_stride = has_large_stride(r),
                                .lines = lines};
    return weft_jit_choose_shape(&task, tuning, limits);
}

/* Adds the factors that fft_r2r.cl expects of a side. */
static int64_t add_side_factors(weft_jit_table *table, const weft_jit_request *r,
                                weft_jit_points points) {
    const int64_t n = r->real_length, at = table->count;
    const int type = weft_axis_number(r->type);
    if (points == WEFT_JIT_MIRRORED) {
        weft_jit_add_fourth_roots(table, 8 * n, n / 2);
        weft_jit_add_roots(table, 2 * n, n / 2);
    } else if (type == 2 || type == 3) {
        if (points == WEFT_JIT_WAVES) weft_jit_add_roots(table, 4 * n, n);
        if (points == WEFT_JIT_WAVE_PAIRS) weft_jit_add_roots(table, 4 * n, n / 2 + 1);
    }
    return at;
}

/* The sides that need factors need the same ones. */
static int64_t add_factors(weft_jit_table *table, const weft_jit_request *r) {
    const int64_t before = table->count, at = add_side_factors(table, r, r->in.points);
    return table->count > before ? at : add_side_factors(table, r, r->out.points);
}

static void make_table(weft_jit_pass *pass, weft_jit_table *table) {
    const weft_jit_request *r = &pass->request;
    weft_jit_places *at = &pass->places;
    if (r->work == WEFT_JIT_TRANSFORM) weft_jit_add_twiddles(table, &pass->shape, at);
    if (has_half(r)) at->half_roots = weft_jit_add_roots(table, 2 * r->length, r->length / 2 + 1);
    if (r->work == WEFT_JIT_CHIRP || r->work == WEFT_JIT_UNCHIRP)
        weft_jit_add_chirp(table, r->length);
    if (r->work == WEFT_JIT_CONVOLVE) weft_jit_add_spectrum(table, r->chirp_length, r->core);
    if (weft_jit_is_rader(r)) {
        const int64_t p = r->core + 1, g = pass->shape.generator;
        at->powers = weft_jit_add_powers(table, g, p, r->core / weft_jit_radix(&pass->shape, 0));
        at->spectrum = weft_jit_add_rader_spectrum(table, g, p);
    } else if (r->work == WEFT_JIT_TRANSFORM && r->core > 0) {
        at->chirp = weft_jit_add_chirp(table, r->length);
        at->spectrum = weft_jit_add_spectrum(table, r->length, r->core);
    }
    if (r->twiddle_loop >= 0) {
        at->fine = 1;
        while (at->fine * at->fine < r->twiddle_order) at->fine++;
        while (r->twiddle_order % at->fine != 0) at->fine++;
        const int64_t coarse = r->twiddle_order / at->fine;
        at->coarse = weft_jit_add_roots(table, coarse, coarse);
        at->fine_table = weft_jit_add_roots(table, r->twiddle_order, at->fine);
    }
    at->factors = add_factors(table, r);
}

static int64_t count_lines(const weft_jit_request *r) {
    int64_t lines = 1;
    for (int l = 0; l < r->loops; l++) lines *= r->loop[l].n;
    return lines;
}

weft_status weft_jit_pass_create(const weft_jit_request *request, const weft_jit_tuning *tuning,
                                 const weft_device_handle *device, weft_jit_table_list *tables,
                                 weft_jit_pass *pass) {
    const bool transforms = request->work == WEFT_JIT_TRANSFORM;
    weft_kernel_limits limits;
    weft_jit_table table = {.number = NULL};
    *pass = (weft_jit_pass){.request = *request};
    WEFT_TRY(device->ops->kernel_limits(device->state, &limits));
    arrange_loops(&pass->request, transforms ? 0 : 1);
    pass->lines = count_lines(&pass->request);
    if (pass->lines > WEFT_JIT_MOST_LINES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: a pass over %lld lines, but %d are the most; use smaller "
                         "batches",
                         (long long)pass->lines, WEFT_JIT_MOST_LINES);
    if (transforms) pass->shape = choose_shape(&pass->request, tuning, &limits, pass->lines);
    if (transforms && pass->shape.local_bytes > limits.local_bytes)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: a line of %lld points takes %zu bytes of local memory, of "
                         "which the device has %zu",
                         (long long)request->length, pass->shape.local_bytes, limits.local_bytes);
    make_table(pass, &table);
    WEFT_TRY(weft_jit_store_table(tables, device, &table, &pass->table));
    return compile(pass, limits.is_cpu, device);
}

void weft_jit_pass_release(weft_jit_pass *pass, const weft_device_handle *device) {
    for (int k = 0; k < 2; k++)
        if (pass->kernel[k]) device->ops->kernel_destroy(device->state, pass->kernel[k]);
    pass->kernel[0] = pass->kernel[1] = NULL;
}

/* ---- running ---- */

/* The argument `fft_shape` of fft_points.cl: strides, then numbers of 32 bits. */
typedef struct shape_argument {
    union {
        int64_t stride[2 * WEFT_JIT_LOOPS + 4 + 1 + 2 * WEFT_JIT_LOOPS];
        uint32_t number[2 * (2 * WEFT_JIT_LOOPS + 4 + 1 + 2 * WEFT_JIT_LOOPS)];
    } content;
    size_t bytes;
} shape_argument;

static void fill_shape(const weft_jit_request *r, int64_t chunk_n, int64_t lines,
                       shape_argument *a) {
    const int loops = r->loops;
    int64_t *stride = a->content.stride;
    for (int l = 0; l < loops; l++) {
        stride[l] = r->loop[l].in;
        stride[loops + l] = r->loop[l].out;
    }
    stride += 2 * loops;
    stride[0] = r->in.point;
    stride[1] = r->out.point;
    stride[2] = r->in.part;
    stride[3] = r->out.part;
    uint32_t *number = a->content.number + 2 * (2 * loops + 4);
    number[0] = (uint32_t)lines;
    number[1] = 0;
    number += 2;
    for (int l = 0; l < loops; l++) {
        number[l] = (uint32_t)(l == r->chunk ? chunk_n : r->loop[l].n);
        weft_divisor(number[l], &number[loops + l], &number[2 * loops + l]);
        number[3 * loops + l] = 0;
    }
    a->bytes = (size_t)(2 * loops + 4) * 8 + (size_t)(2 + 4 * loops) * 4;
}

/* Fills the argument `fft_pieces` of fft_points.cl. Unused entries begin at a point that no line
 * has. */
static size_t fill_pieces(const weft_jit_side *side, int64_t part, int room, int loops,
                          int64_t *number) {
    for (int i = 0; i < room; i++) {
        const bool there = i < side->pieces;
        const weft_jit_piece *p = &side->piece[i];
        number[i] = there ? p->first : INT32_MAX;
        number[room + i] = there ? p->offset + part * p->part : 0;
        number[2 * room + i] = there ? p->point : 0;
        for (int l = 0; l < loops; l++) number[3 * room + i * loops + l] = there ? p->loop[l] : 0;
    }
    return (size_t)(room * (3 + loops)) * sizeof *number;
}

/* Whether the kernel for aligned arrays can be launched: it exists, and the arrays are aligned to
 * two numbers. */
static bool is_aligned(const weft_jit_pass *pass, const void *in, const void *out) {
    const weft_jit_request *r = &pass->request;
    const uintptr_t pair = 2 * weft_number_bytes(r->precision);
    uintptr_t address = is_wide(&r->out) ? (uintptr_t)out : 0;
    if (r->in.pieces == 0 && is_wide(&r->in)) address |= (uintptr_t)in;
    for (int i = 0; i < r->in.pieces; i++)
        address |= (uintptr_t)((const void *const *)in)[r->in.piece[i].array];
    return address % pair == 0 && pass->kernel[1];
}

/* What a launch passes to the kernel. */
typedef struct launch {
    shape_argument shape;
    int64_t in_pieces[WEFT_JIT_PIECES * (3 + WEFT_JIT_LOOPS)];
    int64_t out_pieces[WEFT_JIT_PIECES * (3 + WEFT_JIT_LOOPS)];
    int64_t load_places[WEFT_OPERATOR_VALUES], spectral_places[WEFT_OPERATOR_VALUES];
    int64_t store_places[WEFT_OPERATOR_VALUES];
    weft_kernel_argument argument[WEFT_JIT_PIECES + 15];
    int arguments;
} launch;

static void add_memory(launch *l, const void *memory) {
    l->argument[l->arguments++] = (weft_kernel_argument){.memory = memory};
}

/* Adds an argument that is a VALUE of the dialect (src/kernels/dialect.h). */
static void add_value(launch *l, const void *value, size_t bytes) {
    l->argument[l->arguments++] =
        (weft_kernel_argument){.value = value, .bytes = bytes, .is_value = true};
}

static void add_operators(launch *l, const weft_jit_request *r, const weft_jit_operators *o,
                          const weft_jit_run *run, int64_t place[WEFT_OPERATOR_VALUES]) {
    int64_t first[WEFT_AXES];
    if (!o->kernel) return;
    memcpy(first, run->first, sizeof first);
    if (r->chunk >= 0 && o->axis[r->chunk] >= 0)
        first[o->axis[r->chunk]] += run->chunk_first * o->step[r->chunk];
    add_memory(l, o->kernel->tables);
    add_value(l, place, weft_operator_kernel_places(o->kernel, first, place));
    if (o->kernel->array >= 0) add_memory(l, weft_operator_kernel_array(o->kernel));
    if (o->kernel->keeps) add_memory(l, run->kept);
}

static const void *piece_address(const weft_jit_request *r, const weft_jit_run *run, int i) {
    return run->in ? ((const void *const *)run->in)[r->in.piece[i].array] : NULL;
}

static void fill_launch(const weft_jit_pass *pass, const weft_jit_run *run, int64_t lines,
                        launch *l) {
    const weft_jit_request *r = &pass->request;
    const int room = weft_jit_room(r);
    l->arguments = 0;
    for (int i = 0; i < room && r->in.pieces > 0; i++)
        add_memory(l, piece_address(r, run, i < r->in.pieces ? i : 0));
    if (r->in.pieces == 0) add_memory(l, run->in);
    add_memory(l, run->out);
    add_memory(l, pass->table);
    fill_shape(r, run->chunk_n, lines, &l->shape);
    l->argument[l->arguments++] =
        (weft_kernel_argument){.value = &l->shape.content, .bytes = l->shape.bytes};
    if (room > 0) {
        add_value(l, l->in_pieces, fill_pieces(&r->in, run->part, room, r->loops, l->in_pieces));
        add_value(l, l->out_pieces, fill_pieces(&r->out, run->part, room, r->loops, l->out_pieces));
    }
    add_operators(l, r, &r->in.operators, run, l->load_places);
    add_operators(l, r, &r->spectral, run, l->spectral_places);
    add_operators(l, r, &r->out.operators, run, l->store_places);
}

size_t weft_jit_parameter_bytes(const weft_jit_pass *pass, size_t *value_bytes) {
    static const int64_t first[WEFT_AXES];
    const weft_jit_run run = {.chunk_n = 1, .first = first}; /* nowhere */
    size_t bytes = sizeof(void *);                           /* of local memory */
    launch l;
    fill_launch(pass, &run, pass->lines, &l);
    *value_bytes = 0;
    for (int i = 0; i < l.arguments; i++) {
        bytes += l.argument[i].value ? l.argument[i].bytes : WEFT_KERNEL_MEMORY;
        if (l.argument[i].is_value) *value_bytes += l.argument[i].bytes;
    }
    return bytes;
}

weft_status weft_jit_pass_run(weft_jit_pass *pass, const weft_device_handle *device,
                              weft_queue *queue, const weft_jit_run *run) {
    const weft_jit_request *r = &pass->request;
    const int aligned = is_aligned(pass, run->in, run->out);
    const int64_t lines =
        r->chunk >= 0 ? pass->lines / r->loop[r->chunk].n * run->chunk_n : pass->lines;
    launch l;
    fill_launch(pass, run, lines, &l);
    const int64_t of_group =
        r->work == WEFT_JIT_TRANSFORM ? pass->shape.lines : WEFT_JIT_COPY_THREADS;
    const int64_t cluster = r->work == WEFT_JIT_TRANSFORM ? pass->shape.cluster : 1;
    const unsigned groups[3] = {(unsigned)((lines + of_group - 1) / of_group * cluster), 1, 1};
    return device->ops->kernel_launch(device->state, queue, pass->kernel[aligned], groups,
                                      l.argument, l.arguments);
}
