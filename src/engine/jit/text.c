/* Composes the text of a kernel: the definitions that src/kernels/fft_*.cl expect, and then those
 * files. */
#include <stdlib.h>
#include <string.h>

#include "engine/generator.h"
#include "engine/jit/pass.h"
#include "support/axis.h"
#include "support/error.h"
#include "support/text.h"

/* cmake/embed.cmake makes these from the files. */
extern const char weft_kernels_fft_points_cl[], weft_kernels_fft_r2r_cl[],
    weft_kernels_fft_exchange_cl[], weft_kernels_fft_stage_cl[], weft_kernels_fft_order_cl[],
    weft_kernels_fft_pairs_cl[], weft_kernels_fft_line_cl[], weft_kernels_fft_copy_cl[];
extern const char weft_kernels_dft_2_inc[], weft_kernels_dft_3_inc[], weft_kernels_dft_4_inc[],
    weft_kernels_dft_5_inc[], weft_kernels_dft_6_inc[], weft_kernels_dft_7_inc[],
    weft_kernels_dft_8_inc[], weft_kernels_dft_9_inc[], weft_kernels_dft_10_inc[],
    weft_kernels_dft_11_inc[], weft_kernels_dft_12_inc[], weft_kernels_dft_13_inc[],
    weft_kernels_dft_14_inc[], weft_kernels_dft_15_inc[], weft_kernels_dft_16_inc[],
    weft_kernels_dft_17_inc[], weft_kernels_dft_18_inc[], weft_kernels_dft_19_inc[],
    weft_kernels_dft_20_inc[], weft_kernels_dft_21_inc[], weft_kernels_dft_23_inc[],
    weft_kernels_dft_24_inc[], weft_kernels_dft_25_inc[], weft_kernels_dft_27_inc[],
    weft_kernels_dft_28_inc[], weft_kernels_dft_29_inc[], weft_kernels_dft_30_inc[],
    weft_kernels_dft_31_inc[], weft_kernels_dft_32_inc[];

static const char *const codelets[WEFT_JIT_LARGEST_RADIX + 1] = {
    "",
    "",
    weft_kernels_dft_2_inc,
    weft_kernels_dft_3_inc,
    weft_kernels_dft_4_inc,
    weft_kernels_dft_5_inc,
    weft_kernels_dft_6_inc,
    weft_kernels_dft_7_inc,
    weft_kernels_dft_8_inc,
    weft_kernels_dft_9_inc,
    weft_kernels_dft_10_inc,
    weft_kernels_dft_11_inc,
    weft_kernels_dft_12_inc,
    weft_kernels_dft_13_inc,
    weft_kernels_dft_14_inc,
    weft_kernels_dft_15_inc,
    weft_kernels_dft_16_inc,
    weft_kernels_dft_17_inc,
    weft_kernels_dft_18_inc,
    weft_kernels_dft_19_inc,
    weft_kernels_dft_20_inc,
    weft_kernels_dft_21_inc,
    [23] = weft_kernels_dft_23_inc,
    [24] = weft_kernels_dft_24_inc,
    [25] = weft_kernels_dft_25_inc,
    [27] = weft_kernels_dft_27_inc,
    [28] = weft_kernels_dft_28_inc,
    [29] = weft_kernels_dft_29_inc,
    [30] = weft_kernels_dft_30_inc,
    [31] = weft_kernels_dft_31_inc,
    [32] = weft_kernels_dft_32_inc,
};

static void define(weft_text *c, const char *name, int64_t value) {
    weft_text_add(c, "#define %s %lld\n", name, (long long)value);
}

static void add_file(weft_text *c, const char *file) {
    weft_text_add(c, "%s\n", file);
}

/* ---- operators ---- */

/* Composes the sum of the indices of the loops along an axis, times their steps. */
static void compose_loops(weft_text *c, const weft_jit_request *r, const weft_jit_operators *o,
                          int axis, const char *index) {
    for (int l = 0; l < r->loops; l++)
        if (o->axis[l] == axis)
            weft_text_add(c, " + %lld * (int)%s[%d]", (long long)o->step[l], index, l);
}

/* Defines NAME_NUMBER(p), the number of point p in the whole line. */
static void define_number(weft_text *c, const weft_jit_request *r, const weft_jit_operators *o,
                          const char *name, const char *index) {
    weft_text_add(c, "#define %s_NUMBER(p) ((p) * %lld", name, (long long)o->point);
    compose_loops(c, r, o, o->line_axis, index);
    weft_text_add(c, ")\n");
}

/* Defines NAME_INDICES(e), the indices of the line's element e, and adds the operators' functions.
 */
static void add_operators(weft_text *c, const weft_jit_request *r, const weft_jit_operators *o,
                          const char *name, const char *index) {
    if (!o->kernel) return;
    weft_text_add(c, "#define %s_INDICES(e) {", name);
    for (int a = 0; a < WEFT_AXES; a++) {
        if (a == o->line_axis) {
            weft_text_add(c, "(e), ");
            continue;
        }
        weft_text_add(c, "0");
        compose_loops(c, r, o, a, index);
        weft_text_add(c, ", ");
    }
    weft_text_add(c, "}\n%s", o->kernel->text);
}

/* ---- pieces ---- */

/* How many pieces a kernel has room for: a power of two, so that few different kernels are
 * compiled. */
static int room_of(const weft_jit_side *side) {
    int room = side->pieces > 0 ? 1 : 0;
    while (room < side->pieces) room *= 2;
    return room;
}

int weft_jit_room(const weft_jit_request *request) {
    const int in = room_of(&request->in), out = room_of(&request->out);
    return in > out ? in : out;
}

static void define_pieces(weft_text *c, const char *name, int room) {
    if (room > 0) weft_text_add(c, "#define %s(PIECE)", name);
    for (int i = 0; i < room; i++) weft_text_add(c, " PIECE(%d)", i);
    weft_text_add(c, "\n");
}

static int64_t unit_of(const weft_jit_side *side) {
    const bool one = side->points == WEFT_JIT_REAL || weft_jit_is_numbered(side->points);
    return one || weft_jit_converts(side) ? 1 : 2;
}

/* Whether neighbouring points are neighbours in memory; false for pieces. */
static bool is_unit(const weft_jit_side *side) {
    if (side->points == WEFT_JIT_REAL_PAIRS && side->part != 1) return false;
    return side->pieces == 0 && side->point == unit_of(side);
}

/* Whether lines follow each other in memory as their points do, so that several are as one. A run
 * may do fewer indices of the chunk's loop than there are. */
static bool is_dense(const weft_jit_request *r, const weft_jit_side *side, bool output) {
    const weft_jit_points kind = side->points;
    if (kind != WEFT_JIT_REAL && kind != WEFT_JIT_REAL_PAIRS && kind != WEFT_JIT_COMPLEX &&
        kind != WEFT_JIT_HALF_PAIRS)
        return false;
    if (side->operators.kernel || !is_unit(side)) return false;
    int64_t stride = (kind == WEFT_JIT_HALF_PAIRS ? r->length + 1 : r->length) * side->point;
    bool ends = false;
    for (int l = 0; l < r->loops; stride *= r->loop[l++].n) {
        const int64_t step = output ? r->loop[l].out : r->loop[l].in;
        if (r->loop[l].n > 1 && (ends || step != stride)) return false;
        ends = ends || l == r->chunk;
    }
    return true;
}

/* Whether the kernel uses the numbers of a side's points in the whole line. */
static bool needs_numbers(const weft_jit_side *side) {
    return side->operators.kernel || weft_jit_is_numbered(side->points);
}

static void define_sides(weft_text *c, const weft_jit_pass *pass, bool aligned) {
    const weft_jit_request *r = &pass->request;
    define(c, "REAL_LENGTH", r->real_length);
    define(c, "LENGTH", r->length);
    define(c, "FROM", (int)r->in.points);
    define(c, "TO", (int)r->out.points);
    define(c, "LOOPS", r->loops);
    define(c, "IN_UNIT", is_unit(&r->in));
    define(c, "OUT_UNIT", is_unit(&r->out));
    define(c, "IN_ADJACENT", r->in.part == 1);
    define(c, "OUT_ADJACENT", r->out.part == 1);
    define(c, "ALIGNED", aligned);
    if (r->fold_loop >= 0) define(c, "FOLD", r->fold);
    if (r->fold_loop >= 0) define(c, "FOLD_LOOP", r->fold_loop);
    define(c, "INVERSE", r->inverse);
    define(c, "PIECES", weft_jit_room(r) > 0 ? weft_jit_room(r) : 1);
    define_pieces(c, "IN_PIECES", r->in.pieces > 0 ? weft_jit_room(r) : 0);
    define_pieces(c, "OUT_PIECES", r->out.pieces > 0 ? weft_jit_room(r) : 0);
    if (needs_numbers(&r->in)) define_number(c, r, &r->in.operators, "LOAD", "index");
    if (r->spectral.kernel) define_number(c, r, &r->spectral, "SPECTRAL", "index");
    if (needs_numbers(&r->out)) define_number(c, r, &r->out.operators, "STORE", "to.index");
    add_operators(c, r, &r->in.operators, "LOAD", "index");
    add_operators(c, r, &r->spectral, "SPECTRAL", "index");
    add_operators(c, r, &r->out.operators, "STORE", "to.index");
}

/* Adds what is common to both kinds of kernels. */
static void add_points(weft_text *c, const weft_jit_pass *pass) {
    const weft_jit_request *r = &pass->request;
    if (weft_jit_is_numbered(r->in.points) || weft_jit_is_numbered(r->out.points)) {
        define(c, "TYPE", weft_axis_number(r->type));
        define(c, "SINE", weft_axis_is_sine(r->type));
        define(c, "ALIGNED_SINE", weft_axis_is_aligned(r->type));
        define(c, "FACTORS", pass->places.factors);
        add_file(c, weft_kernels_fft_r2r_cl);
    }
    add_file(c, weft_kernels_fft_points_cl);
}

/* ---- transforms ---- */

/* Whether lines go through local memory between being loaded and the first stage. */
static bool loads_by_local_memory(const weft_jit_pass *pass) {
    const weft_jit_shape *s = &pass->shape;
    return weft_jit_is_half_pairs(pass->request.in.points) || s->loads_run ||
           (weft_jit_is_rader(&pass->request) && !s->across_in && weft_jit_line_threads(s) > 1);
}

/* Defines STAGES: the steps after the first stage. In the last one, threads change from the lines
 * that they load to those that they store. */
static void define_stages(weft_text *c, const weft_jit_pass *pass) {
    const weft_jit_shape *s = &pass->shape;
    const int midpoint = s->stages > s->radices.stages ? s->radices.stages : -1;
    bool used = loads_by_local_memory(pass);
    weft_text_add(c, "#define STAGES");
    for (int i = 1; i < s->stages; i++) {
        const bool after = weft_jit_is_after_rows(s, i);
        const char *from = after ? "in" : "row", *to = i + 1 == s->stages ? "out" : from;
        if (i == midpoint)
            weft_text_add(c, " CONVOLVE(%d, row)", i);
        else if (after && !weft_jit_is_after_rows(s, i - 1))
            weft_text_add(c, " LEAVE_ROWS(%d, %s)", i, to);
        else
            weft_text_add(c, " %s(%d, %s, %d, %s)", used ? "STEP" : "FIRST_STEP", i - 1, from, i,
                          to);
        used = used || i != midpoint;
    }
    weft_text_add(c, "\n");
}

/* Defines the order of Rader's convolution. */
static void define_powers(weft_text *c, const weft_jit_pass *pass) {
    const int radix = weft_jit_radix(&pass->shape, 0), butterflies = pass->shape.points / radix;
    const int64_t p = pass->request.core + 1, g = pass->shape.generator;
    const int64_t step = weft_power_modulo(g, butterflies, p);
    define(c, "POWERS", pass->places.powers);
    weft_text_add(c, "#define POWER_STEPS {");
    for (int k = 0; k < radix; k++)
        weft_text_add(c, "%s%lld", k > 0 ? ", " : "", (long long)weft_power_modulo(step, k, p));
    weft_text_add(c, "}\n");
}

static void define_line(weft_text *c, const weft_jit_pass *pass) {
    const weft_jit_shape *s = &pass->shape;
    const weft_jit_places *at = &pass->places;
    const weft_jit_request *r = &pass->request;
    const int last = s->stages - 1;
    define(c, "POINTS", s->rows > 1 ? (int)r->length : s->points);
    define(c, "LINE_THREADS", weft_jit_line_threads(s));
    define(c, "ROWS", s->rows);
    define(c, "ROW_POINTS", s->points);
    define(c, "ROW_THREADS", s->radices.threads);
    define(c, "ROW_PITCH", s->pitch);
    define(c, "LINES", s->lines);
    define(c, "VALUES", s->radices.values);
    define(c, "FIRST_RADIX", weft_jit_radix(s, 0));
    define(c, "LAST_RADIX", weft_jit_radix(s, last));
    define(c, "MIDPOINT_RADIX", s->radices.radix[s->radices.stages - 1]);
    define(c, "ACROSS_IN", s->across_in);
    define(c, "ACROSS_OUT", s->across_out);
    define(c, "LOADS_RUN", s->loads_run);
    define(c, "STORES_RUN", s->stores_run);
    define(c, "DENSE_IN", s->loads_run && is_dense(r, &r->in, false));
    define(c, "DENSE_OUT", s->stores_run && is_dense(r, &r->out, true));
    define(c, "PARTS", s->parts);
    define(c, "PITCH", s->rows * s->pitch);
    define(c, "BLUESTEIN", s->points > r->length);
    define(c, "RADER", weft_jit_is_rader(r));
    if (weft_jit_is_rader(r)) define_powers(c, pass);
    define(c, "ROUND_TRIP", r->round_trip);
    define(c, "HALF_ROOTS", at->half_roots);
    define(c, "CHIRP", at->chirp);
    define(c, "SPECTRUM", at->spectrum);
    define(c, "TWIDDLE_LOOP", r->twiddle_loop);
    define(c, "COARSE_TABLE", at->coarse);
    define(c, "FINE_TABLE", at->fine_table);
    define(c, "FINE", at->fine > 0 ? at->fine : 1);
    define_stages(c, pass);
}

static void add_radices(weft_text *c, const weft_jit_shape *s) {
    bool added[WEFT_JIT_LARGEST_RADIX + 1] = {false};
    for (int i = 0; i < s->stages; i++) {
        const int radix = weft_jit_radix(s, i);
        if (added[radix]) continue;
        added[radix] = true;
        weft_text_add(c, "\nFUNCTION void dft_%d(real2 *v) {\n", radix);
        if (radix == 1) weft_text_add(c, "(void)v;\n");
        add_file(c, codelets[radix]);
        weft_text_add(c, "}\n");
    }
}

static void add_stages(weft_text *c, const weft_jit_pass *pass) {
    const weft_jit_shape *s = &pass->shape;
    for (int i = 0; i < s->stages; i++) {
        const bool after = weft_jit_is_after_rows(s, i);
        define(c, "STAGE", i);
        define(c, "STAGE_POINTS", after ? pass->request.length : s->points);
        define(c, "STAGE_THREADS", after ? weft_jit_line_threads(s) : s->radices.threads);
        define(c, "FROM_ROWS", after && !weft_jit_is_after_rows(s, i - 1));
        define(c, "RADIX", weft_jit_radix(s, i));
        define(c, "SPAN", weft_jit_span(s, i));
        define(c, "TWIDDLES", pass->places.twiddles[i]);
        define(c, "PAD_BEFORE", i > 0 ? s->pad[i - 1] : 0);
        define(c, "PAD_AFTER", i + 1 < s->stages ? s->pad[i] : 0);
        add_file(c, weft_kernels_fft_stage_cl);
    }
}

static void compose_transform(weft_text *c, const weft_jit_pass *pass, bool aligned) {
    define_sides(c, pass, aligned);
    define_line(c, pass);
    add_points(c, pass);
    add_file(c, weft_kernels_fft_exchange_cl);
    add_file(c, weft_kernels_fft_order_cl);
    add_radices(c, &pass->shape);
    add_stages(c, pass);
    add_file(c, weft_kernels_fft_pairs_cl);
    add_file(c, weft_kernels_fft_line_cl);
}

static void compose_copy(weft_text *c, const weft_jit_pass *pass, bool aligned) {
    const weft_jit_work work = pass->request.work;
    const bool inverse = pass->request.inverse;
    define_sides(c, pass, aligned);
    define(c, "MULTIPLIES", work != WEFT_JIT_COPY);
    define(c, "SWAPS_BEFORE", work == WEFT_JIT_UNCHIRP || (work == WEFT_JIT_CHIRP && inverse));
    define(c, "SWAPS_AFTER", work == WEFT_JIT_CONVOLVE || (work == WEFT_JIT_UNCHIRP && inverse));
    add_points(c, pass);
    add_file(c, weft_kernels_fft_copy_cl);
}

weft_status weft_jit_compile(const weft_jit_pass *pass, bool aligned,
                             const weft_device_handle *device, weft_kernel **kernel) {
    const bool transforms = pass->request.work == WEFT_JIT_TRANSFORM;
    weft_text c = {.text = NULL};
    (transforms ? compose_transform : compose_copy)(&c, pass, aligned);
    if (c.failed) {
        free(c.text);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "jit engine: no memory for a kernel's text");
    }
    const char *const texts[] = {c.text};
    size_t value_bytes;
    const size_t parameter_bytes = weft_jit_parameter_bytes(pass, &value_bytes);
    const weft_kernel_source source = {.name = transforms ? "weft_fft" : "weft_fft_copy",
                                       .text = texts,
                                       .texts = 1,
                                       .threads = transforms ? weft_jit_group_threads(&pass->shape)
                                                             : WEFT_JIT_COPY_THREADS,
                                       .cluster = transforms ? (unsigned)pass->shape.cluster : 1,
                                       .resident = transforms ? (unsigned)pass->shape.resident : 0,
                                       .local_bytes = transforms ? pass->shape.local_bytes : 0,
                                       .precision = pass->request.precision,
                                       .parameter_bytes = parameter_bytes,
                                       .value_bytes = value_bytes};
    weft_status status = device->ops->kernel_create(device->state, &source, kernel);
    free(c.text);
    return status;
}
