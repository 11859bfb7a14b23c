/* Makes chains of passes, and runs them on one part of the batch after the other, so that the
 * arrays between the passes need little memory. Parts small enough for a GPU's cache would be
 * slower than fewer, larger ones: on an H200, each part of 48 MiB costs 15 us more than its
 * share. */
#include "engine/jit/chain.h"
#include "engine/jit/radices.h"

#include <stdlib.h>

#include "support/axis.h"
#include "support/checked.h"
#include "support/error.h"
#include "support/least.h"

typedef struct making {
    const weft_jit_request *request;
    const weft_jit_tuning *tuning;
    const weft_device_handle *device;
    weft_jit_table_list *tables;
    weft_jit_chain *chain;
    int chunk; /* the loop of which only some indices are done at a time, or -1 */
    int64_t dense[WEFT_JIT_LOOPS]; /* strides of the loops in the chain's own arrays */
} making;

static const weft_jit_side dense_line = {
    .points = WEFT_JIT_COMPLEX, .point = 2, .part = 1, .own = true};

/* The longest line that is done in one kernel whatever its strides. */
static int64_t longest_anywhere(const weft_jit_tuning *tuning) {
    return weft_least(tuning->longest, WEFT_JIT_LONGEST);
}

bool weft_jit_is_single(int64_t length, weft_precision precision, const weft_jit_tuning *tuning,
                        int64_t *core) {
    *core = 0;
    if (length > longest_anywhere(tuning)) return false;
    if (weft_jit_is_smooth(length)) return true;
    *core = weft_jit_choose_core(length, tuning);
    /* Bytes in local memory where real and imaginary parts are exchanged one after the other, with
     * padding. */
    const int64_t points = *core > length ? *core : length;
    const int64_t bytes = points * (int64_t)weft_number_bytes(precision);
    return *core <= WEFT_JIT_LONGEST_CORE && (size_t)(bytes + bytes / 4) <= tuning->local_bytes;
}

static bool lies_along(const weft_jit_request *r) {
    for (int l = 0; l < r->loops; l++)
        if (r->loop[l].n > 1 && (llabs(r->loop[l].in) < llabs(r->in.point) ||
                                 llabs(r->loop[l].out) < llabs(r->out.point)))
            return false;
    return true;
}

/* Whether one kernel of this device can transform such lines although they exceed
 * WEFT_JIT_LONGEST. */
static bool fits_here(const weft_jit_request *r, const weft_jit_tuning *tuning,
                      const weft_kernel_limits *limits) {
    const bool plain = r->in.points == WEFT_JIT_COMPLEX && r->out.points == WEFT_JIT_COMPLEX;
    const bool clusters = plain && limits->cluster > 1 && tuning->clustered > tuning->longest;
    const int longest = clusters ? tuning->clustered : tuning->longest;
    if (r->length > longest || !weft_jit_is_smooth(r->length) || !lies_along(r)) return false;
    const weft_jit_task task = {.precision = r->precision,
                                .length = (int)r->length,
                                .points = (int)r->length,
                                .rows = 1,
                                .half_in = !plain,
                                .lines = 1};
    const weft_jit_shape shape = weft_jit_choose_shape(&task, tuning, limits);
    if (r->length > tuning->longest && shape.cluster == 1) return false;
    return weft_jit_shape_fits(&shape, &task, tuning, limits);
}

/* ---- passes ---- */

static int64_t loop_stride(const making *m, int l, weft_jit_array array, bool output) {
    if (array == WEFT_JIT_IN || array == WEFT_JIT_OUT)
        return output ? m->request->loop[l].out : m->request->loop[l].in;
    return m->dense[l];
}

/* Puts `others` loops, along which no operator's index grows, before the loops of a side's
 * operators. */
static void shift_operators(weft_jit_operators *o, int loops, int others) {
    for (int l = loops - 1; others > 0 && l >= 0; l--) {
        o->axis[l + others] = o->axis[l];
        o->step[l + others] = o->step[l];
    }
    for (int l = 0; l < others; l++) o->axis[l] = -1;
}

/* Begins the request of a pass over all lines. Loop 0 of a pass that does not transform is over the
 * points. */
static weft_jit_request begin(const making *m, weft_jit_work work, weft_jit_array from,
                              weft_jit_array to) {
    const weft_jit_request *whole = m->request;
    weft_jit_request r = {.work = work,
                          .precision = whole->precision,
                          .inverse = whole->inverse,
                          .length = whole->length,
                          .real_length = whole->real_length,
                          .type = whole->type,
                          .in = from == WEFT_JIT_IN ? whole->in : dense_line,
                          .out = to == WEFT_JIT_OUT ? whole->out : dense_line,
                          .twiddle_loop = -1,
                          .chunk = -1,
                          .fold_loop = -1};
    if (work != WEFT_JIT_TRANSFORM) r.loop[r.loops++] = (weft_jit_loop){1, 0, 0};
    shift_operators(&r.in.operators, whole->loops, r.loops);
    shift_operators(&r.out.operators, whole->loops, r.loops);
    for (int l = 0; l < whole->loops; l++) {
        if (l == m->chunk) r.chunk = r.loops;
        r.loop[r.loops++] = (weft_jit_loop){whole->loop[l].n, loop_stride(m, l, from, false),
                                            loop_stride(m, l, to, true)};
    }
    return r;
}

static weft_status add(const making *m, const weft_jit_request *request, weft_jit_array from,
                       weft_jit_array to) {
    weft_jit_step *step = &m->chain->step[m->chain->steps++];
    step->from = from;
    step->to = to;
    return weft_jit_pass_create(request, m->tuning, m->device, m->tables, &step->pass);
}

static weft_status add_copy(const making *m, weft_jit_work work, int64_t points,
                            weft_jit_array from, weft_jit_array to) {
    weft_jit_request r = begin(m, work, from, to);
    r.loop[0].n = points;
    return add(m, &r, from, to);
}

/* ---- matrices ---- */

/* The divisor of n nearest to its square root, from above, if it and its cofactor are at most
 * `most`; 0: there is none. */
static int64_t balanced_divisor(int64_t n, int64_t most) {
    int64_t best = 0;
    for (int64_t a = 1; a * a <= n && a <= most; a++)
        if (n % a == 0 && n / a <= most) best = n / a;
    return best;
}

/* The first factor of n where it is split into two factors of at most `most` or, if that is
 * impossible, into three. */
static int64_t first_factor(int64_t n, int64_t most) {
    int64_t best = balanced_divisor(n, most);
    for (int64_t a = 2; best == 0 && a <= most; a++)
        if (n % a == 0 && a * a * a >= n && balanced_divisor(n / a, most) > 0) best = a;
    for (int64_t a = most; best == 0 && a >= 2; a--)
        if (n % a == 0 && balanced_divisor(n / a, most) > 0) best = a;
    return best;
}

/* The most lines that any pass over the matrix of n points has; 0: n points cannot be such a
 * matrix. */
static int64_t most_rows(int64_t n) {
    const int64_t first = first_factor(n, WEFT_JIT_LONGEST);
    if (first == 0) return 0;
    const int64_t length = n / first, second = balanced_divisor(length, WEFT_JIT_LONGEST);
    const int64_t of_rows = length <= WEFT_JIT_LONGEST
                                ? first
                                : first * (second > length / second ? second : length / second);
    return length > of_rows ? length : of_rows;
}

/* The most lines that any pass has in the chain of one line of n points, on any device; 0: there is
 * no chain. Folded real lines need no more. */
static int64_t most_of_line(int64_t n, weft_transform_kind kind) {
    const bool real = kind != WEFT_TRANSFORM_C2C;
    const bool pairs = real && n % 2 == 0 && weft_jit_is_smooth(n / 2);
    const int64_t points = pairs ? n / 2 : n;
    if (points <= WEFT_JIT_LONGEST) return 1;
    if (!weft_jit_is_smooth(points)) {
        const int64_t core = weft_jit_convolution_length(2 * points - 1);
        return most_rows(core) > 0 ? core : 0;
    }
    const int64_t rows = most_rows(points);
    const bool folds =
        real && kind != WEFT_TRANSFORM_R2R && balanced_divisor(n, WEFT_JIT_LONGEST) > 0;
    return !real || folds || rows == 0 ? rows : pairs ? points / 2 + 1 : points;
}

weft_status weft_jit_check_lines(int64_t n, weft_transform_kind kind, bool operators,
                                 int64_t lines) {
    /* The numbers of points are exponents of the twiddles between kernels, in 32 bits. Half spectra
     * and operators have them as an int, and fft_r2r.cl up to nine times the number. */
    const bool real = kind != WEFT_TRANSFORM_C2C;
    const int64_t longest = kind == WEFT_TRANSFORM_R2R ? INT32_MAX / 16
                            : real || operators        ? INT32_MAX
                                                       : INT64_C(1) << 32;
    int64_t all = 0;
    if (n > longest)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: %s of %lld points%s, but %lld are the most; choose another "
                         "engine",
                         real ? "real lines" : "lines", (long long)n,
                         operators ? " with operators" : "", (long long)longest);
    const int64_t most = most_of_line(n, kind);
    if (most == 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "jit engine: lines of %lld points are no matrix of at most three kernels; "
                         "choose another engine",
                         (long long)n);
    if (weft_checked_multiply(most, lines, &all) && all <= WEFT_JIT_MOST_LINES) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "jit engine: %lld lines of %lld points: a pass counts at most %d; use "
                     "smaller batches, or choose another engine",
                     (long long)lines, (long long)n, WEFT_JIT_MOST_LINES);
}

static void add_loop(weft_jit_request *r, int64_t n, int64_t in, int64_t out) {
    r->in.operators.axis[r->loops] = r->out.operators.axis[r->loops] = -1;
    r->loop[r->loops++] = (weft_jit_loop){n, in, out};
}

/* Declares that the last loop is over points of the line, whose numbers grow by `step` from index
 * to index. */
static void count_points(weft_jit_request *r, weft_jit_operators *o, int64_t step) {
    o->axis[r->loops - 1] = o->line_axis;
    o->step[r->loops - 1] = step;
}

/* The stride of a loop over every `step`th point of a line. Numbered points have none, as the
 * kernel finds them by their numbers. */
static int64_t between(const weft_jit_side *side, int64_t step) {
    return weft_jit_is_numbered(side->points) ? 0 : side->point * step;
}

/* The stride of points that are every `step`th of a line. */
static int64_t every(const weft_jit_side *side, int64_t step) {
    return weft_jit_is_numbered(side->points) ? side->point : side->point * step;
}

/* Adds the transforms of the matrix's `first` rows of n / first points each, after those of the
 * columns. Result k2 of row k1 is number k1 + first k2 of the line's spectrum. */
static weft_status add_rows(const making *m, int64_t n, int64_t first, weft_jit_array to,
                            const weft_jit_side *out) {
    const int64_t length = n / first, most = longest_anywhere(m->tuning),
                  second = length <= most ? 1 : balanced_divisor(length, most);
    const int64_t third = length / second;
    if (second > 1) { /* the rows are matrices themselves, in place */
        weft_jit_request r = begin(m, WEFT_JIT_TRANSFORM, WEFT_JIT_MATRIX, WEFT_JIT_MATRIX);
        r.length = second;
        r.in.point = r.out.point = 2 * third;
        r.twiddle_loop = r.loops;
        r.twiddle_order = length;
        add_loop(&r, third, 2, 2);
        add_loop(&r, first, 2 * length, 2 * length);
        WEFT_TRY(add(m, &r, WEFT_JIT_MATRIX, WEFT_JIT_MATRIX));
    }
    weft_jit_request r = begin(m, WEFT_JIT_TRANSFORM, WEFT_JIT_MATRIX, to);
    r.length = third;
    r.out = *out;
    r.out.point = every(out, first * second);
    r.out.operators.point = first * second;
    add_loop(&r, first, 2 * length, between(out, 1));
    count_points(&r, &r.out.operators, 1);
    if (second > 1) {
        add_loop(&r, second, 2 * third, between(out, first));
        count_points(&r, &r.out.operators, first);
    }
    return add(m, &r, WEFT_JIT_MATRIX, to);
}

/* Adds the transform of n points, complex numbers or pairs of real ones, as a matrix: columns, then
 * rows. Point j2 of row k1 is at k1 n / first + j2 of the matrix. */
static weft_status add_matrix(const making *m, int64_t n, weft_jit_array from, weft_jit_array to) {
    const int64_t first = first_factor(n, longest_anywhere(m->tuning));
    if (first == 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "jit engine: lines of %lld points", (long long)n);
    const weft_jit_side in = from == WEFT_JIT_IN ? m->request->in : dense_line;
    const weft_jit_side out = to == WEFT_JIT_OUT ? m->request->out : dense_line;
    weft_jit_request r = begin(m, WEFT_JIT_TRANSFORM, from, WEFT_JIT_MATRIX);
    r.length = first;
    r.in.point = every(&in, n / first);
    r.out.point = 2 * (n / first);
    r.twiddle_loop = r.loops;
    r.twiddle_order = n;
    r.in.operators.point = n / first;
    add_loop(&r, n / first, between(&in, 1), 2);
    count_points(&r, &r.in.operators, 1);
    WEFT_TRY(add(m, &r, from, WEFT_JIT_MATRIX));
    return add_rows(m, n, first, to, &out);
}

/* ---- real matrices ---- */

/* Sets how a side's points lie in memory, without changing its operators. */
static void lie_as(weft_jit_side *side, weft_jit_points points, int64_t point, int64_t part) {
    side->points = points;
    side->point = point;
    side->part = part;
}

/* Adds the forward transform of real lines as a folded matrix. The columns hold `first` real
 * numbers each, so their transforms are half spectra, and only half of the rows exist. Results of
 * row k1 are numbers k1 + first k2 of the spectrum, or the conjugates of numbers at its other
 * end. */
static weft_status add_folded_forward(const making *m, int64_t n, int64_t first) {
    const weft_jit_side *in = &m->request->in, *out = &m->request->out;
    const int64_t second = n / first;
    weft_jit_request r = begin(m, WEFT_JIT_TRANSFORM, WEFT_JIT_IN, WEFT_JIT_MATRIX);
    r.length = r.real_length = first;
    lie_as(&r.in, WEFT_JIT_REAL, in->part * second, in->part);
    lie_as(&r.out, WEFT_JIT_HALF, 2 * second, 1);
    r.twiddle_loop = r.loops;
    r.twiddle_order = n;
    r.in.operators.point = second;
    add_loop(&r, second, in->part, 2);
    count_points(&r, &r.in.operators, 1);
    WEFT_TRY(add(m, &r, WEFT_JIT_IN, WEFT_JIT_MATRIX));
    r = begin(m, WEFT_JIT_TRANSFORM, WEFT_JIT_MATRIX, WEFT_JIT_OUT);
    r.length = second;
    r.real_length = n;
    lie_as(&r.out, WEFT_JIT_FOLDED, out->point * first, 1);
    r.fold = first;
    r.fold_loop = r.loops;
    add_loop(&r, first / 2 + 1, 2 * second, out->point);
    return add(m, &r, WEFT_JIT_MATRIX, WEFT_JIT_OUT);
}

/* Adds the inverse of add_folded_forward. */
static weft_status add_folded_inverse(const making *m, int64_t n, int64_t first) {
    const weft_jit_side *in = &m->request->in, *out = &m->request->out;
    const int64_t second = n / first;
    weft_jit_request r = begin(m, WEFT_JIT_TRANSFORM, WEFT_JIT_IN, WEFT_JIT_MATRIX);
    r.length = second;
    r.real_length = n;
    lie_as(&r.in, WEFT_JIT_FOLDED, in->point * first, 1);
    r.fold = first;
    r.fold_loop = r.twiddle_loop = r.loops;
    r.twiddle_order = n;
    add_loop(&r, first / 2 + 1, in->point, 2 * second);
    WEFT_TRY(add(m, &r, WEFT_JIT_IN, WEFT_JIT_MATRIX));
    r = begin(m, WEFT_JIT_TRANSFORM, WEFT_JIT_MATRIX, WEFT_JIT_OUT);
    r.length = r.real_length = first;
    lie_as(&r.in, WEFT_JIT_HALF, 2 * second, 1);
    lie_as(&r.out, WEFT_JIT_REAL, out->part * second, out->part);
    r.out.operators.point = second;
    add_loop(&r, second, 2, out->part);
    count_points(&r, &r.out.operators, 1);
    return add(m, &r, WEFT_JIT_MATRIX, WEFT_JIT_OUT);
}

/* ---- cosine and sine transforms ---- */

void weft_jit_set_real_to_real(weft_jit_request *r, weft_axis type, int64_t n, bool pairs) {
    const int number = weft_axis_number(type);
    const weft_jit_points time = pairs ? WEFT_JIT_ORDERED_PAIRS : WEFT_JIT_ORDERED,
                          waves = pairs ? WEFT_JIT_WAVE_PAIRS : WEFT_JIT_WAVES;
    const bool mirrored = number == 4 && n % 2 == 0;
    r->type = type;
    r->real_length = n;
    r->inverse = number == 3;
    r->length = weft_axis_real_line(type, n) / (mirrored || pairs ? 2 : 1);
    r->in.points = mirrored ? WEFT_JIT_MIRRORED : number == 3 ? waves : time;
    r->out.points = mirrored ? WEFT_JIT_MIRRORED : number == 3 ? time : waves;
}

/* ---- chains ---- */

static bool is_real(const weft_jit_side *side) {
    return side->points == WEFT_JIT_REAL || side->points == WEFT_JIT_REAL_PAIRS;
}

static bool is_half(const weft_jit_side *side) {
    return side->points == WEFT_JIT_HALF || side->points == WEFT_JIT_HALF_PAIRS;
}

/* The number of points of the columns of a real line's folded matrix; 0: the line is not
 * transformed as one. */
static int64_t folded_factor(const weft_jit_request *r, const weft_jit_tuning *tuning) {
    const bool real =
        (is_real(&r->in) && is_half(&r->out)) || (is_half(&r->in) && is_real(&r->out));
    if (!tuning->folds || !real) return 0;
    if (r->real_length > INT32_MAX || !weft_jit_is_smooth(r->real_length)) return 0;
    const int64_t first = balanced_divisor(r->real_length, longest_anywhere(tuning));
    return first < r->real_length ? first : 0;
}

static bool is_plain(weft_jit_points points) {
    return points == WEFT_JIT_COMPLEX || points == WEFT_JIT_REAL_PAIRS ||
           (weft_jit_is_numbered(points) && !weft_jit_is_half_pairs(points));
}

/* Adds the transform of a line too long for one kernel. A copy before it turns half spectra, or
 * real numbers that are not taken in pairs, into complex points; a copy after it does the
 * reverse. */
static weft_status add_long(const making *m) {
    const weft_jit_request *r = m->request;
    const int64_t n = r->length, pairs = n / 2 + 1;
    weft_jit_array from = WEFT_JIT_IN, to = WEFT_JIT_OUT;
    if (!is_plain(r->in.points)) {
        from = WEFT_JIT_LINES;
        WEFT_TRY(add_copy(m, WEFT_JIT_COPY, weft_jit_is_half_pairs(r->in.points) ? pairs : n,
                          WEFT_JIT_IN, WEFT_JIT_LINES));
    }
    if (!is_plain(r->out.points)) to = WEFT_JIT_LINES;
    WEFT_TRY(add_matrix(m, n, from, to));
    if (to == WEFT_JIT_OUT) return WEFT_SUCCESS;
    return add_copy(m, WEFT_JIT_COPY, weft_jit_is_half_pairs(r->out.points) ? pairs : n,
                    WEFT_JIT_LINES, WEFT_JIT_OUT);
}

/* Adds a convolution (Bluestein 1970). The chirp depends on the direction. The second transform
 * becomes an inverse because real and imaginary parts change places before and after it. */
static weft_status add_convolution(const making *m, int64_t core) {
    weft_jit_request forward = *m->request;
    forward.inverse = false;
    making inside = *m;
    inside.request = &forward;
    WEFT_TRY(add_copy(m, WEFT_JIT_CHIRP, core, WEFT_JIT_IN, WEFT_JIT_LINES));
    WEFT_TRY(add_matrix(&inside, core, WEFT_JIT_LINES, WEFT_JIT_LINES));
    weft_jit_request r = begin(&inside, WEFT_JIT_CONVOLVE, WEFT_JIT_LINES, WEFT_JIT_LINES);
    r.length = r.loop[0].n = r.core = core;
    r.chirp_length = m->request->length;
    WEFT_TRY(add(m, &r, WEFT_JIT_LINES, WEFT_JIT_LINES));
    WEFT_TRY(add_matrix(&inside, core, WEFT_JIT_LINES, WEFT_JIT_LINES));
    return add_copy(m, WEFT_JIT_UNCHIRP, m->request->length, WEFT_JIT_LINES, WEFT_JIT_OUT);
}

/* Lays out the chain's own arrays: lines of `row` points each, with the longest loop slowest. Only
 * so many indices of that loop are done at once that an array does not exceed the tuning's
 * longest_work. */
static void lay_out_areas(making *m, int64_t row) {
    const weft_jit_request *r = m->request;
    int64_t stride = 2 * row;
    for (int l = 0; l < r->loops; l++)
        if (m->chunk < 0 || r->loop[l].n > r->loop[m->chunk].n) m->chunk = l;
    for (int l = 0; l < r->loops; l++) {
        if (l == m->chunk) continue;
        m->dense[l] = stride;
        stride *= r->loop[l].n;
    }
    const int64_t bytes = stride * (int64_t)weft_number_bytes(r->precision);
    weft_jit_chain *chain = m->chain;
    if (m->chunk >= 0) {
        const weft_jit_loop *loop = &r->loop[m->chunk];
        const size_t at_once = m->tuning->longest_work / (size_t)bytes;
        m->dense[m->chunk] = stride;
        chain->chunks_n = loop->n;
        chain->chunk_n = at_once < (size_t)loop->n ? (int64_t)at_once : loop->n;
        if (chain->chunk_n < 1) chain->chunk_n = 1;
        chain->in_stride = loop->in * (int64_t)weft_jit_number_bytes(&r->in, r->precision);
        chain->out_stride = loop->out * (int64_t)weft_jit_number_bytes(&r->out, r->precision);
    }
    chain->area_bytes = (size_t)(bytes * chain->chunk_n + 511) / 512 * 512;
}

weft_status weft_jit_chain_create(const weft_jit_request *request, const weft_jit_tuning *tuning,
                                  const weft_device_handle *device, weft_jit_table_list *tables,
                                  weft_jit_chain *chain) {
    making m = {.request = request,
                .tuning = tuning,
                .device = device,
                .tables = tables,
                .chain = chain,
                .chunk = -1};
    weft_kernel_limits limits;
    int64_t core;
    *chain = (weft_jit_chain){.chunks_n = 1, .chunk_n = 1};
    WEFT_TRY(device->ops->kernel_limits(device->state, &limits));
    weft_jit_request single = *request;
    const bool anywhere =
        weft_jit_is_single(request->length, request->precision, tuning, &single.core);
    if (!anywhere && request->in.pieces + request->out.pieces > 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "jit engine: long lines in pieces");
    if (anywhere || fits_here(request, tuning, &limits))
        return add(&m, &single, WEFT_JIT_IN, WEFT_JIT_OUT);
    const int64_t n = request->real_length, first = folded_factor(request, tuning);
    if (first > 0) {
        lay_out_areas(&m, (first / 2 + 1) * (n / first));
        chain->areas = 1;
        return is_real(&request->in) ? add_folded_forward(&m, n, first)
                                     : add_folded_inverse(&m, n, first);
    }
    const bool smooth = weft_jit_is_smooth(request->length);
    core = smooth ? 0 : weft_jit_convolution_length(2 * request->length - 1);
    lay_out_areas(&m, smooth ? request->length : core);
    chain->areas = smooth && is_plain(request->in.points) && is_plain(request->out.points) ? 1 : 2;
    return smooth ? add_long(&m) : add_convolution(&m, core);
}

void weft_jit_chain_release(weft_jit_chain *chain, const weft_device_handle *device) {
    for (int s = 0; s < chain->steps; s++) weft_jit_pass_release(&chain->step[s].pass, device);
    chain->steps = 0;
}

weft_status weft_jit_chain_run(weft_jit_chain *chain, const weft_device_handle *device,
                               weft_queue *queue, const void *in, void *out, void *areas,
                               int64_t part, const int64_t *first, void *kept) {
    for (int64_t chunk = 0; chunk < chain->chunks_n; chunk += chain->chunk_n) {
        const int64_t n = weft_least(chain->chunk_n, chain->chunks_n - chunk);
        char *array[] = {[WEFT_JIT_IN] = (char *)(uintptr_t)in + chunk * chain->in_stride,
                         [WEFT_JIT_OUT] = (char *)out + chunk * chain->out_stride,
                         [WEFT_JIT_MATRIX] = areas,
                         [WEFT_JIT_LINES] =
                             (char *)areas + (chain->areas > 1 ? chain->area_bytes : 0)};
        for (int s = 0; s < chain->steps; s++) {
            weft_jit_step *step = &chain->step[s];
            const weft_jit_run run = {
                array[step->from], array[step->to], chunk, n, part, first, kept};
            WEFT_TRY(weft_jit_pass_run(&step->pass, device, queue, &run));
        }
    }
    return WEFT_SUCCESS;
}
