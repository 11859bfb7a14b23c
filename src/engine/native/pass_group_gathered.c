/*
 * Long lines that lie across their neighbours, as those of a batch whose members are contiguous: a
 * line by itself would touch a cache line of memory for each of its points. So a few neighbours,
 * as many as share a cache line, are gathered in a buffer, line behind line, transformed there by a
 * group of long lines of their own, and scattered again.
 */
#include "engine/native/pass_group_parts.h"

#include "engine/native/number.h"
#include "support/error.h"
#include "support/strided.h"

#include <stdlib.h>
#include <string.h>

/* The loop over neighbours on both sides, or -1. */
static int find_neighbours(const weft_pass_request *lines) {
    for (int i = 0; i < lines->loops; i++)
        if (lines->loop[i].in_stride == 1 && lines->loop[i].out_stride == 1) return i;
    return -1;
}

/* With fewer blocks than threads, threads share the work on one line after the other instead. */
int64_t weft_pass_group_gathers(const weft_pass_request *lines, int threads) {
    const int beside = find_neighbours(lines);
    const int64_t most = WEFT_CACHE_LINE / weft_complex_bytes(lines->kernels);
    const int64_t share = beside < 0 ? 0 : lines->loop[beside].n / threads;
    const bool strided = lines->dim.in_stride != 1 && lines->dim.out_stride != 1;
    const bool plain = lines->in.count == 0 && lines->out.count == 0 && lines->in_stored.low == 0 &&
                       lines->out_stored.low == 0 && lines->spectrum.count == 0;
    if (!strided || !plain || share < 2) return 0;
    return share < most ? share : most;
}

/* A line of one side: its points, their bytes, and the bytes from one to the next. */
static weft_pass_group_strided side_of(const weft_pass_request *lines, bool output) {
    const bool real = lines->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    const bool half = lines->kind != WEFT_TRANSFORM_C2C && !real;
    const int64_t element = weft_complex_bytes(lines->kernels) / (real ? 2 : 1);
    return (weft_pass_group_strided){half ? lines->dim.n / 2 + 1 : lines->dim.n, element,
                                     (output ? lines->dim.out_stride : lines->dim.in_stride) *
                                         element};
}

static int64_t line_bytes(const weft_pass_group_strided *side) {
    const int64_t bytes = side->points * side->element;
    return (bytes + WEFT_CACHE_LINE - 1) / WEFT_CACHE_LINE * WEFT_CACHE_LINE + WEFT_CACHE_LINE;
}

weft_status weft_pass_group_create_gathered(const weft_pass_request *lines, int64_t width,
                                            weft_pass_group *group, size_t *bytes) {
    const int beside = find_neighbours(lines);
    const int64_t all = lines->loop[beside].n;
    weft_pass_request parts = *lines, one = *lines;
    memset(group, 0, sizeof *group);
    group->kernels = lines->kernels;
    group->scale = 1;
    parts.loop[beside] = parts.loop[0];
    parts.loop[0] = (weft_dimension){(all + width - 1) / width, width, width};
    WEFT_TRY(weft_pass_group_loop_over_parts(group, &parts, bytes));
    weft_pass_group_gathered *g = calloc(1, sizeof *g);
    if (!g) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory");
    *bytes += sizeof *g;
    group->gathered = g;
    g->lines = width;
    g->last = all - (all - 1) / width * width;
    g->in = side_of(lines, false);
    g->out = side_of(lines, true);
    g->in_line = line_bytes(&g->in);
    g->out_line = line_bytes(&g->out);
    g->out_offset = lines->kind == WEFT_TRANSFORM_C2C ? 0 : width * g->in_line;
    group->buffer_bytes = (size_t)(g->out_offset + width * g->out_line);
    one.loops = 0;
    one.dim.in_stride = one.dim.out_stride = 1;
    return weft_pass_group_create_long(&one, &g->group, bytes);
}

/* ---- running ---- */

enum { POINTS = 64 /* gathered at a time: their cache lines stay in the first-level cache */ };

static void gather(const weft_pass_group_gathered *g, int64_t lines, const char *in, char *buffer) {
    const int64_t element = g->in.element;
    for (int64_t i = 0; i < g->in.points; i += POINTS)
        for (int64_t l = 0; l < lines; l++)
            weft_copy_strided(in + i * g->in.stride + l * element, g->in.stride,
                              buffer + l * g->in_line + i * element, element,
                              g->in.points - i < POINTS ? g->in.points - i : POINTS, element);
}

static void scatter(const weft_pass_group_gathered *g, int64_t lines, const char *buffer,
                    char *out) {
    const int64_t element = g->out.element;
    for (int64_t i = 0; i < g->out.points; i += POINTS)
        for (int64_t l = 0; l < lines; l++)
            weft_copy_strided(buffer + l * g->out_line + i * element, element,
                              out + i * g->out.stride + l * element, g->out.stride,
                              g->out.points - i < POINTS ? g->out.points - i : POINTS, element);
}

void weft_pass_group_run_gathered(const weft_pass_group_gathered *g, bool last, const void *in,
                                  void *out, char *buffer, char *scratch) {
    const int64_t lines = last ? g->last : g->lines;
    const weft_room room = {.own = scratch, .threads = 1};
    gather(g, lines, in, buffer);
    for (int64_t l = 0; l < lines; l++) {
        const void *from[1] = {buffer + l * g->in_line};
        void *to[1] = {buffer + g->out_offset + l * g->out_line};
        weft_pass_group_run(&g->group, from, to, &room);
    }
    scatter(g, lines, buffer + g->out_offset, out);
}
