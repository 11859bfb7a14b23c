/*
 * Benchmark problems: what they compute, how shares lie in memory, and their input. The check of
 * the output is in check.c.
 */
#include "bench/rows.h"

#include "support/axis.h"

#include <math.h>
#include <stdio.h>

/* ---- facts ---- */

void bench_kind_text(const bench_problem *p, char text[BENCH_KIND_BYTES]) {
    bool same = true;
    for (int a = 1; a < p->rank; a++) same = same && p->axis[a] == p->axis[0];
    const int named = p->kind == WEFT_R2R ? same ? 1 : p->rank : 0;
    size_t length = 0;
    snprintf(text, BENCH_KIND_BYTES, "%s", weft_kind_name(p->kind));
    for (int a = 0; a < named; a++)
        length += (size_t)snprintf(text + length, BENCH_KIND_BYTES - length, "%s%s",
                                   a > 0 ? "+" : "", weft_axis_name(p->axis[a]));
}

weft_axis bench_axis_type(const bench_problem *p, int axis) {
    return p->direction == WEFT_FORWARD ? p->axis[axis] : weft_axis_inverse(p->axis[axis]);
}

weft_space bench_from(const bench_problem *p) {
    return p->direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
}

weft_space bench_to(const bench_problem *p) {
    return p->direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
}

int64_t bench_extent(const bench_problem *p, weft_space space, int axis) {
    bool halved = p->kind == WEFT_R2C && space == WEFT_OUTPUT && axis == p->rank - 1;
    return halved ? p->n[axis] / 2 + 1 : p->n[axis];
}

int bench_element_parts(const bench_problem *p, weft_space space) {
    return p->kind == WEFT_R2R || (p->kind == WEFT_R2C && space == WEFT_INPUT) ? 1 : 2;
}

size_t bench_element_bytes(const bench_problem *p, weft_space space) {
    size_t number = p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    return number * (size_t)bench_element_parts(p, space);
}

static double points(const bench_problem *p) {
    double all = 1;
    for (int a = 0; a < p->rank; a++) all *= (double)p->n[a];
    return all;
}

double bench_error_bound(const bench_problem *p) {
    double u = p->precision == WEFT_SINGLE ? 0x1p-24 : 0x1p-53;
    return 20 * u * (1 + sqrt(log2(points(p))));
}

double bench_flops(const bench_problem *p) {
    double n = points(p), complex_flops = 5 * n * log2(n) * (double)p->batch;
    return p->kind == WEFT_C2C ? complex_flops : complex_flops / 2;
}

bench_share bench_share_of(const bench_problem *p, const weft_box *box) {
    bench_share share = {.batch_stride = 1};
    int64_t stride = p->strided ? p->batch : 1;
    for (int a = p->rank - 1; a >= 0; a--) {
        share.lo[a] = box->lo[a];
        share.n[a] = box->n[a];
        share.stride[a] = stride;
        stride *= box->n[a];
    }
    if (!p->strided) share.batch_stride = stride;
    return share;
}

bench_share bench_padded_share(const bench_problem *p, weft_space space, int64_t start,
                               int64_t count) {
    weft_box box = {.lo = {start}};
    for (int a = 0; a < p->rank; a++) box.n[a] = bench_extent(p, space, a);
    box.n[0] = count;
    bench_share share = bench_share_of(p, &box);
    int64_t stride = 2 * bench_extent(p, WEFT_OUTPUT, p->rank - 1);
    if (p->kind == WEFT_C2C || space == WEFT_OUTPUT) return share;
    for (int a = p->rank - 2; a >= 0; a--) {
        share.stride[a] = stride;
        stride *= box.n[a];
    }
    return share;
}

/* ---- input ---- */

double bench_noise(uint64_t index) {
    return (double)(bench_random(index) >> 11) * 0x1p-53 - 0.5;
}

int64_t bench_opposite(int64_t k, int64_t n) {
    return k == 0 ? 0 : n - k;
}

/* What one step along an axis (p->rank: along the batch) adds to an element's number. */
static uint64_t number_step(const bench_problem *p, int axis) {
    uint64_t step = 1;
    for (int a = axis == p->rank ? 0 : axis + 1; a < p->rank; a++) step *= (uint64_t)p->n[a];
    return step;
}

bench_number bench_go_along(const bench_problem *p, bench_number base, int axis, int64_t k) {
    const uint64_t step = number_step(p, axis);
    int64_t back = axis == p->rank ? k : bench_opposite(k, p->n[axis]);
    return (bench_number){base.here + (uint64_t)k * step, base.opposite + (uint64_t)back * step};
}

bool bench_is_hermitian(const bench_problem *p) {
    return p->kind == WEFT_R2C && p->direction == WEFT_INVERSE;
}

void bench_input_row(const bench_problem *p, bench_number base, int axis, int64_t start,
                     int64_t count, double *value) {
    const int parts = bench_element_parts(p, bench_from(p));
    const uint64_t step = number_step(p, axis);
    uint64_t here = base.here + (uint64_t)start * step;
    for (int64_t i = 0; i < count; i++, here += step) {
        if (parts == 1) {
            value[i] = bench_noise(here);
        } else {
            value[2 * i] = bench_noise(2 * here);
            value[2 * i + 1] = bench_noise(2 * here + 1);
        }
    }
    for (int64_t i = 0; i < count && bench_is_hermitian(p); i++) {
        int64_t k = start + i, back = axis == p->rank ? k : bench_opposite(k, p->n[axis]);
        uint64_t there = base.opposite + (uint64_t)back * step;
        value[2 * i] += bench_noise(2 * there);
        value[2 * i + 1] -= bench_noise(2 * there + 1);
    }
    if (p->precision == WEFT_SINGLE)
        for (int64_t i = 0; i < count * parts; i++) value[i] = (float)value[i];
}

/* ---- shares as nested loops ---- */

bench_loops bench_loops_of(const bench_problem *p, const bench_share *share) {
    bench_loops loops = {.count = p->rank + 1};
    for (int axis = 0; axis <= p->rank; axis++) {
        const bool batch = axis == p->rank;
        int64_t n = batch ? p->batch : share->n[axis], lo = batch ? 0 : share->lo[axis];
        int64_t stride = batch ? share->batch_stride : share->stride[axis];
        if (n <= 1) stride = INT64_MAX; /* outermost: rows of one element take time */
        int at = axis;
        for (; at > 0 && loops.stride[at - 1] < stride; at--) {
            loops.axis[at] = loops.axis[at - 1], loops.n[at] = loops.n[at - 1];
            loops.lo[at] = loops.lo[at - 1], loops.stride[at] = loops.stride[at - 1];
        }
        loops.axis[at] = axis, loops.n[at] = n, loops.lo[at] = lo, loops.stride[at] = stride;
        loops.empty = loops.empty || n == 0;
    }
    for (int i = 0; i < loops.count; i++)
        if (loops.n[i] == 1) loops.stride[i] = 0;
    return loops;
}

static void fill_row(const bench_problem *p, const bench_loops *loops, bench_number base,
                     void *data, int64_t at) {
    const int row = loops->count - 1, parts = bench_element_parts(p, bench_from(p));
    double value[2 * BENCH_PIECE];
    for (int64_t start = 0; start < loops->n[row]; start += BENCH_PIECE) {
        int64_t left = loops->n[row] - start, count = left < BENCH_PIECE ? left : BENCH_PIECE;
        bench_input_row(p, base, loops->axis[row], loops->lo[row] + start, count, value);
        for (int64_t i = 0; i < count; i++) {
            int64_t to = (at + (start + i) * loops->stride[row]) * parts;
            for (int part = 0; part < parts; part++) {
                if (p->precision == WEFT_SINGLE)
                    ((float *)data)[to + part] = (float)value[i * parts + part];
                else
                    ((double *)data)[to + part] = value[i * parts + part];
            }
        }
    }
}

static void fill_loop(const bench_problem *p, const bench_loops *loops, int depth,
                      bench_number base, void *data, int64_t at) {
    if (depth == loops->count - 1) {
        fill_row(p, loops, base, data, at);
        return;
    }
    for (int64_t i = 0; i < loops->n[depth]; i++)
        fill_loop(p, loops, depth + 1,
                  bench_go_along(p, base, loops->axis[depth], loops->lo[depth] + i), data,
                  at + i * loops->stride[depth]);
}

void bench_fill(const bench_problem *p, const bench_share *share, void *data) {
    const bench_loops loops = bench_loops_of(p, share);
    if (!loops.empty) fill_loop(p, &loops, 0, (bench_number){0, 0}, data, 0);
}
