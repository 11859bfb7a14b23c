/* Batches of contiguous lines, one axis of a cube at a time, and whole cubes. */
#include "cases.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
    weft_precision precision;
    int64_t bytes;
    bench_case *list;
    int count, room;
} writer;

static int64_t number_bytes(weft_precision precision) {
    return precision == WEFT_SINGLE ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
}

/* Sets what follows from the transform, and keeps the case if it fits. */
static void keep(writer *w, bench_case c, int64_t in_elements, int64_t out_elements) {
    const weft_transform *t = &c.transform;
    c.in_bytes = in_elements * (int64_t)weft_transform_element_bytes(t, false);
    c.out_bytes = out_elements * (int64_t)weft_transform_element_bytes(t, true);
    const int64_t complex_side = c.in_bytes > c.out_bytes ? c.in_bytes : c.out_bytes;
    c.moved = c.in_bytes + c.out_bytes + (t->dims - 1) * 2 * complex_side;
    c.transform.precision = w->precision;
    c.transform.threads = 1;
    c.transform.in_elements = in_elements;
    c.transform.out_elements = out_elements;
    if (complex_side <= w->bytes && w->count < w->room) w->list[w->count++] = c;
}

static void add_lines(writer *w, weft_transform_kind kind, int64_t n) {
    const int64_t in = kind == WEFT_TRANSFORM_C2R ? n / 2 + 1 : n;
    const int64_t out = kind == WEFT_TRANSFORM_R2C ? n / 2 + 1 : n;
    const int64_t lines = w->bytes / (2 * number_bytes(w->precision) * n);
    static const char *const names[] = {"c2c", "r2c", "c2r"};
    bench_case c = {.transform = {.kind = kind,
                                  .precision = w->precision,
                                  .dims = 1,
                                  .dim = {{n, 1, 1}},
                                  .loops = 1,
                                  .loop = {{lines, in, out}}}};
    snprintf(c.name, sizeof c.name, "%s lines of %lld", names[kind], (long long)n);
    if (lines > 0) keep(w, c, lines * in, lines * out);
}

/* One axis of an n^3 cube, in place or not. */
static void add_axis(writer *w, int64_t n, int axis, bool in_place) {
    const int64_t stride[3] = {n * n, n, 1};
    bench_case c = {.transform = {.kind = WEFT_TRANSFORM_C2C,
                                  .precision = w->precision,
                                  .dims = 1,
                                  .dim = {{n, stride[axis], stride[axis]}},
                                  .in_place = in_place}};
    for (int a = 0; a < 3; a++)
        if (a != axis)
            c.transform.loop[c.transform.loops++] = (weft_dimension){n, stride[a], stride[a]};
    snprintf(c.name, sizeof c.name, "c2c axis %c of %lld^3%s", "xyz"[axis], (long long)n,
             in_place ? " in place" : "");
    keep(w, c, n * n * n, n * n * n);
}

static void add_cube(writer *w, weft_transform_kind kind, const int64_t *n) {
    const int64_t half = n[2] / 2 + 1, rows = n[0] * n[1];
    const int64_t in = kind == WEFT_TRANSFORM_C2R ? half : n[2];
    const int64_t out = kind == WEFT_TRANSFORM_R2C ? half : n[2];
    static const char *const names[] = {"c2c", "r2c", "c2r"};
    bench_case c = {
        .transform = {.kind = kind,
                      .precision = w->precision,
                      .dims = 3,
                      .dim = {{n[0], n[1] * in, n[1] * out}, {n[1], in, out}, {n[2], 1, 1}},
                      .destroy_input = true}};
    snprintf(c.name, sizeof c.name, "%s %lldx%lldx%lld", names[kind], (long long)n[0],
             (long long)n[1], (long long)n[2]);
    keep(w, c, rows * in, rows * out);
}

int bench_list_lengths(weft_precision precision, int64_t bytes, weft_transform_kind kind,
                       const int64_t *n, int lengths, bench_case *list, int room) {
    writer w = {precision, bytes, list, 0, room};
    for (int i = 0; i < lengths; i++) add_lines(&w, kind, n[i]);
    return w.count;
}

int bench_list_cases(weft_precision precision, int64_t bytes, bench_case *list, int room) {
    static const int64_t lengths[] = {64,      128, 256, 512,  1024, 2048, 4096, 8192, 16384, 65536,
                                      1 << 20, 243, 360, 1000, 1001, 2187, 127,  1009, 100003};
    static const int64_t real_lengths[] = {256, 512, 1000, 1024, 4096};
    static const int64_t cubes[][3] = {{128, 128, 128}, {256, 256, 256},    {384, 384, 384},
                                       {512, 512, 512}, {1024, 1024, 1024}, {240, 252, 250},
                                       {127, 127, 127}};
    writer w = {precision, bytes, list, 0, room};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        add_lines(&w, WEFT_TRANSFORM_C2C, lengths[i]);
    for (size_t i = 0; i < sizeof real_lengths / sizeof real_lengths[0]; i++) {
        add_lines(&w, WEFT_TRANSFORM_R2C, real_lengths[i]);
        add_lines(&w, WEFT_TRANSFORM_C2R, real_lengths[i]);
    }
    for (int64_t n = 256; n <= 1024; n *= 2)
        for (int variant = 0; variant < 4; variant++) add_axis(&w, n, variant % 2, variant / 2);
    for (size_t i = 0; i < sizeof cubes / sizeof cubes[0]; i++)
        for (int kind = WEFT_TRANSFORM_C2C; kind <= WEFT_TRANSFORM_C2R; kind++)
            add_cube(&w, (weft_transform_kind)kind, cubes[i]);
    return w.count;
}
