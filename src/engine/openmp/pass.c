/* Planning and running a batch of one-dimensional transforms by target regions. */
#include "engine/openmp/pass.h"

#include <stdlib.h>

#include "engine/openmp/tables.h"
#include "support/axis.h"
#include "support/error.h"

/* ---- planning ---- */

/* Factors n into radices; false if it has a prime factor above the largest one. */
static bool factorize(uint32_t n, weft_openmp_pass *pass) {
    static const uint32_t radices[] = {8, 4, 2, 3, 5, 7, 11, WEFT_OPENMP_LARGEST_RADIX};
    pass->stages = 0;
    for (size_t i = 0; i < sizeof radices / sizeof radices[0]; i++)
        for (; n % radices[i] == 0; n /= radices[i]) pass->radix[pass->stages++] = (int)radices[i];
    return n == 1;
}

/* The shortest product of 2, 3 and 5 from `least` on. */
static uint32_t convolution_length(uint32_t least) {
    uint64_t best = UINT64_MAX;
    for (uint64_t fives = 1; fives < 2 * (uint64_t)least; fives *= 5)
        for (uint64_t threes = fives; threes < 2 * (uint64_t)least; threes *= 3) {
            uint64_t n = threes;
            while (n < least) n *= 2;
            if (n < best) best = n;
        }
    return (uint32_t)best;
}

static void choose_forms(weft_openmp_pass *pass) {
    const bool complex = pass->kind == WEFT_TRANSFORM_C2C, r2r = pass->kind == WEFT_TRANSFORM_R2R;
    const int64_t n = pass->dim.n;
    if (r2r)
        pass->waves =
            (weft_openmp_waves){weft_axis_number(pass->type), weft_axis_is_sine(pass->type),
                                weft_axis_is_aligned(pass->type), (uint32_t)n};
    pass->length = (uint32_t)(r2r ? weft_axis_real_line(pass->type, n) : n);
    const bool even = pass->length % 2 == 0;
    const weft_openmp_form real = even ? WEFT_OPENMP_PAIRS : WEFT_OPENMP_REAL;
    const weft_openmp_form half = even ? WEFT_OPENMP_HALF_PAIRS : WEFT_OPENMP_HALF;
    pass->in_form = complex ? WEFT_OPENMP_COMPLEX : pass->inverse ? half : real;
    pass->out_form = complex ? WEFT_OPENMP_COMPLEX : pass->inverse ? real : half;
    if (pass->waves.type == 4 && even) pass->in_form = pass->out_form = WEFT_OPENMP_MIRRORED;
    pass->points = complex || !even ? pass->length : pass->length / 2;
}

static int64_t numbers_of(const weft_openmp_pass *pass, weft_openmp_form form) {
    const bool real = form == WEFT_OPENMP_REAL || form == WEFT_OPENMP_PAIRS;
    return real || pass->waves.type > 0 ? 1 : 2;
}

/* Sorts the loops by their steps, fastest first, and joins those that one step covers. */
static void arrange_loops(weft_openmp_pass *pass) {
    weft_dimension *loop = pass->loop;
    int count = 0;
    for (int a = 0; a < pass->loops; a++)
        if (loop[a].n != 1) loop[count++] = loop[a];
    for (int a = 1; a < count; a++)
        for (int b = a; b > 0 && llabs(loop[b - 1].out_stride) > llabs(loop[b].out_stride); b--) {
            const weft_dimension held = loop[b];
            loop[b] = loop[b - 1];
            loop[b - 1] = held;
        }
    pass->loops = 0;
    for (int a = 0; a < count; a++) {
        weft_dimension *inner = &loop[pass->loops - (pass->loops > 0)];
        if (pass->loops > 0 && loop[a].in_stride == inner->n * inner->in_stride &&
            loop[a].out_stride == inner->n * inner->out_stride)
            inner->n *= loop[a].n;
        else
            loop[pass->loops++] = loop[a];
    }
}

static void lay_out(weft_openmp_pass *pass) {
    const int64_t in = numbers_of(pass, pass->in_form);
    const int64_t out = numbers_of(pass, pass->out_form);
    arrange_loops(pass);
    pass->lines = 1;
    pass->in = (weft_openmp_side){.step = pass->dim.in_stride * in, .loops = pass->loops};
    pass->out = (weft_openmp_side){.step = pass->dim.out_stride * out, .loops = pass->loops};
    for (int l = 0; l < pass->loops; l++) {
        pass->in.n[l] = pass->out.n[l] = (uint64_t)pass->loop[l].n;
        pass->in.stride[l] = pass->loop[l].in_stride * in;
        pass->out.stride[l] = pass->loop[l].out_stride * out;
        pass->lines *= (uint64_t)pass->loop[l].n;
    }
    pass->lines_first =
        pass->loops > 0 && llabs(pass->loop[0].out_stride) < llabs(pass->dim.out_stride);
}

/* On the host lines stay in the cache from stage to stage. To start a target region on a GPU takes
 * 0.65 ms (GCC 12 on an H100, where 2^24 points of a stage of radix 8 take 2.7 ms). */
static uint32_t lines_at_once(const weft_openmp_pass *pass, const weft_openmp_processor *p) {
    const uint64_t points = p->is_host ? (uint64_t)8192 : (uint64_t)1 << 24;
    uint64_t lines = points / pass->room;
    if (lines > pass->lines) lines = pass->lines;
    return lines > 0 ? (uint32_t)lines : 1;
}

weft_status weft_openmp_pass_prepare(weft_openmp_pass *pass, weft_device_state *device) {
    choose_forms(pass);
    lay_out(pass);
    pass->room = pass->points;
    pass->chirped = !factorize(pass->points, pass);
    if (pass->chirped) {
        pass->room = convolution_length(2 * pass->points - 1);
        (void)factorize(pass->room, pass);
    }
    pass->at_once = lines_at_once(pass, &device->processor);
    return weft_openmp_tables_create(pass, device);
}

void weft_openmp_pass_release(weft_openmp_pass *pass, weft_device_state *device) {
    weft_openmp_free(device, WEFT_MEMORY_DEVICE, pass->tables);
}

static size_t array_bytes(const weft_openmp_pass *pass) {
    return (size_t)pass->at_once * pass->room * 2 * weft_number_bytes(pass->precision);
}

size_t weft_openmp_pass_scratch(const weft_openmp_pass *pass) {
    return 2 * array_bytes(pass);
}

/* ---- running ---- */

/* The part of a pass that kernels do at once. */
typedef struct part {
    const weft_openmp_pass *pass;
    const weft_openmp_processor *processor;
    const weft_openmp_kernels *kernels;
    weft_openmp_lines lines;
    weft_openmp_side in, out, scratch;
    char *array[2]; /* scratch memory: lines are in the first one */
} part;

static void exchange_arrays(part *p) {
    char *const held = p->array[0];
    p->array[0] = p->array[1];
    p->array[1] = held;
}

static const void *table(const part *p, size_t at) {
    return (const char *)p->pass->tables + at;
}

/* The stages from scratch memory to scratch memory or, if they are all of the transform, from
 * array to array. */
static void run_stages(part *p, const void *in, void *out) {
    const weft_openmp_pass *pass = p->pass;
    const bool whole = in != NULL;
    uint32_t inner = 1;
    for (int s = 0; s < pass->stages; s++) {
        const bool first = whole && s == 0, last = whole && s + 1 == pass->stages;
        const weft_openmp_stage stage = {
            .lines = p->lines,
            .in = first ? p->in : p->scratch,
            .out = last ? p->out : p->scratch,
            .m = pass->room / (uint32_t)pass->radix[s],
            .inner = inner,
            .in_swap = first && pass->inverse,
            .out_swap = last && pass->inverse,
        };
        p->kernels->stage(p->processor, pass->radix[s], &stage, first ? in : p->array[0],
                          last ? out : p->array[1], table(p, 0));
        exchange_arrays(p);
        inner *= (uint32_t)pass->radix[s];
    }
}

/* Bluestein 1970: X_k = c_k sum_j (x_j c_j) conj(c_(k-j)), c_j = exp(-pi i j^2 / n), as a cyclic
 * convolution. Its inverse transform is a forward one between exchanges of the parts, of which
 * storing does the second. */
static void convolve(part *p) {
    const weft_openmp_product product = {.lines = p->lines,
                                         .point = p->scratch.step,
                                         .line = p->scratch.stride[0],
                                         .room = p->pass->room};
    run_stages(p, NULL, NULL);
    p->kernels->multiply(p->processor, &product, p->array[0], table(p, p->pass->spectrum));
    run_stages(p, NULL, NULL);
}

static void run_part(part *p, const void *in, void *out) {
    const weft_openmp_pass *pass = p->pass;
    if (pass->kind == WEFT_TRANSFORM_C2C && !pass->chirped && pass->stages > 0) {
        run_stages(p, in, out);
        return;
    }
    weft_openmp_move move = {.lines = p->lines,
                             .form = pass->in_form,
                             .array = p->in,
                             .point = p->scratch.step,
                             .line = p->scratch.stride[0],
                             .waves = pass->waves,
                             .n = pass->length,
                             .points = pass->points,
                             .room = pass->room,
                             .swap = pass->inverse,
                             .chirped = pass->chirped};
    const weft_openmp_factors factors = {table(p, pass->real_roots), table(p, pass->wave_roots),
                                         table(p, pass->chirp)};
    p->kernels->load(p->processor, &move, in, p->array[0], &factors);
    if (pass->chirped)
        convolve(p);
    else
        run_stages(p, NULL, NULL);
    move.form = pass->out_form;
    move.array = p->out;
    p->kernels->store(p->processor, &move, p->array[0], out, &factors);
}

void weft_openmp_pass_run(const weft_openmp_pass *pass, const weft_openmp_processor *processor,
                          const void *in, void *out, char *scratch) {
    for (uint64_t first = 0; first < pass->lines; first += pass->at_once) {
        const uint64_t left = pass->lines - first;
        const uint32_t count = left < pass->at_once ? (uint32_t)left : pass->at_once;
        const int64_t room = pass->room, lines = count;
        part p = {.pass = pass,
                  .processor = processor,
                  .kernels =
                      pass->precision == WEFT_SINGLE ? &weft_openmp_single : &weft_openmp_double,
                  .lines = {count, pass->lines_first},
                  .in = pass->in,
                  .out = pass->out,
                  .scratch = {.step = pass->lines_first ? 2 * lines : 2,
                              .loops = 1,
                              .n = {count},
                              .stride = {pass->lines_first ? 2 : 2 * room}},
                  .array = {scratch, scratch + array_bytes(pass)}};
        p.in.first = p.out.first = first;
        run_part(&p, in, out);
    }
}
