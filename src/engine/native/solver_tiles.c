/*
 * Any lines, a tile of them at a time: loaded, transformed, stored, by tile.h or, where the first
 * stage can load and the last one store, by these; and round trips.
 */
#include "engine/native/describe.h"
#include "engine/native/number.h"
#include "engine/native/solver.h"
#include "engine/native/tile.h"

#include <stdlib.h>
#include <string.h>

/* ---- planning ---- */

/* The line's rows, and one more for the last point of a half spectrum. */
static bool make_rows(weft_native_pass *pass, size_t *bytes) {
    const weft_line *line = &pass->line;
    size_t size = (size_t)(line->n + 1) * sizeof *pass->load_row;
    pass->load_row = malloc(size);
    pass->store_row = malloc(size);
    *bytes += 2 * size;
    if (!pass->load_row || !pass->store_row) return false;
    memcpy(pass->load_row, line->load_row, size - sizeof *pass->load_row);
    memcpy(pass->store_row, line->store_row, size - sizeof *pass->store_row);
    pass->load_row[line->n] = pass->store_row[line->n] = (int32_t)line->rows;
    int64_t half_spectrum = pass->n / 2 + 1;
    pass->load_points = pass->kind == WEFT_TRANSFORM_C2R ? half_spectrum : line->n;
    pass->store_points = pass->kind == WEFT_TRANSFORM_R2C ? half_spectrum : line->n;
    return true;
}

/* Makes the offsets of a side's rows: offset[j] is that of point j; fused_offset has the same
 * offsets in the order in which the codelets load or store the points. */
static bool make_offsets(weft_native_side *side, const int32_t *order, size_t *bytes) {
    if (side->access != WEFT_ACROSS || !weft_native_side_is_whole(side)) return true;
    const weft_native_piece *piece = &side->whole;
    size_t size = (size_t)piece->points * sizeof *side->offset;
    side->offset = malloc(size);
    side->fused_offset = malloc(size);
    *bytes += 2 * size;
    if (!side->offset || !side->fused_offset) return false;
    for (int64_t j = 0; j < piece->points; j++) {
        side->offset[j] = j * piece->stride;
        if (order) side->fused_offset[order[j]] = j * piece->stride;
    }
    return true;
}

/* Sets result_of[k], the number of the result that is stored as point k. The inverse is the forward
 * transform with its results in reverse order. */
static bool make_order(weft_native_pass *pass, weft_direction direction, size_t *bytes) {
    size_t size = (size_t)pass->line.n * sizeof *pass->result_of;
    pass->result_of = malloc(size);
    *bytes += size;
    if (!pass->result_of) return false;
    for (int64_t k = 0; k < pass->line.n; k++)
        pass->result_of[k] = (int32_t)(direction == WEFT_INVERSE && k > 0 ? pass->line.n - k : k);
    return true;
}

/* Lists the tiles, lest each execution looks for their lines again: that takes longer than to
 * transform short ones. */
static bool list_tiles(weft_native_pass *pass, size_t *bytes) {
    enum { MOST = 1024 };
    const int64_t lanes = pass->kernels->lanes;
    const int64_t width = pass->loops > 0 ? pass->loop[0] : 1;
    const bool within = pass->by_loop || pass->loops <= 1 || pass->loop[0] % lanes == 0;
    if (pass->tiles > MOST || width > INT32_MAX || !within || pass->in.pieces > 1 ||
        pass->out.pieces > 1)
        return true;
    const size_t size = (size_t)pass->tiles * sizeof *pass->tile;
    pass->tile = malloc(size);
    if (!pass->tile) return false;
    *bytes += size;
    const int64_t across = (width + lanes - 1) / lanes;
    for (int64_t i = 0; i < pass->tiles; i++) {
        const int64_t first = i % across * lanes, left = width - first;
        weft_native_tile *t = &pass->tile[i];
        *t = (weft_native_tile){.in = pass->in.piece->offset,
                                .out = pass->out.piece->offset,
                                .first = (int32_t)first,
                                .count = (int32_t)(left < lanes ? left : lanes)};
        int64_t rest = i / across;
        for (int l = 0; l < pass->loops; l++) {
            const int64_t index = l == 0 ? first : rest % pass->loop[l];
            if (l > 0) rest /= pass->loop[l];
            t->in += index * pass->in.piece->loop_stride[l];
            t->out += index * pass->out.piece->loop_stride[l];
        }
    }
    return true;
}

static bool takes(const weft_native_pass *pass, const weft_pass_request *request) {
    (void)pass;
    (void)request;
    return true;
}

/* Where the tiles are listed, the indices of their lines are not known when they are run, which a
 * round trip asks for. */
static bool plan(weft_native_pass *pass, const weft_pass_request *request, weft_direction direction,
                 size_t *bytes) {
    bool ok = weft_native_pass_make_roots(pass, bytes) &&
              weft_line_create(pass->kernels, pass->line.n, direction, &pass->line, bytes) &&
              make_rows(pass, bytes) && make_order(pass, direction, bytes);
    bool plain = pass->kind == WEFT_TRANSFORM_C2C && pass->line.method == WEFT_LINE_STAGES;
    ok = ok && make_offsets(&pass->in, plain ? pass->line.stages.place_of : NULL, bytes) &&
         make_offsets(&pass->out, plain ? pass->result_of : NULL, bytes);
    return ok && (request->spectrum.count > 0 || list_tiles(pass, bytes));
}

static void release(weft_native_pass *pass) {
    weft_line_release(&pass->line);
    free(pass->load_row);
    free(pass->store_row);
    free(pass->result_of);
    free(pass->tile);
    free(pass->in.offset);
    free(pass->in.fused_offset);
    free(pass->out.offset);
    free(pass->out.fused_offset);
}

/* After a tile there is room for its twiddles, and for the tile of a round trip's second half. */
static size_t room(const weft_native_pass *pass) {
    const size_t back = pass->back ? weft_tile_bytes(&pass->back->pass) : 0;
    return weft_tile_room(pass) + weft_twiddles_room(pass->twiddles) + back;
}

/* ---- execution ---- */

/* Transforms a tile that has been loaded. */
static void transform(const weft_native_pass *pass, const weft_tile_lines *t,
                      const weft_tile_work *w) {
    const weft_kernels *k = pass->kernels;
    if (pass->kind == WEFT_TRANSFORM_C2R) {
        if (pass->halved)
            k->merge_spectrum(w->tile, pass->n / 2, pass->roots, pass->load_row);
        else
            k->mirror(w->tile, pass->n, pass->load_row);
    }
    weft_line_run(&pass->line, w->tile);
    if (pass->kind == WEFT_TRANSFORM_R2C && pass->halved)
        k->split_spectrum(w->tile, pass->n / 2, pass->roots, pass->store_row);
    if (pass->twiddles) {
        const int64_t tile = (t->listed ? t->listed->first : t->index[0][0]) / k->lanes;
        k->multiply_twiddles(
            w->tile, pass->store_row, pass->n,
            weft_twiddles_factors(pass->twiddles, tile, (char *)w->tile + weft_tile_bytes(pass)),
            weft_twiddles_table(pass->twiddles, tile));
    }
}

/* Where tile `number` begins, if it is to be fetched; else NULL. */
static const void *find_next(const weft_native_pass *pass, const void *const *in, int64_t number,
                             int64_t end) {
    if (!pass->ahead || number >= end || pass->in.pieces > 1 ||
        !weft_native_side_is_whole(&pass->in))
        return NULL;
    weft_tile_lines t;
    weft_tile_find(pass, number, &t);
    return (const char *)in[0] + weft_tile_offset(pass, pass->in.piece, &t, 0);
}

/* Loads with the first stage, and stores with the last. This applies to full tiles of neighbouring
 * complex lines of smooth length that need nothing else. */
static void load_fused(const weft_native_pass *pass, const void *const *in,
                       const weft_tile_lines *t, const void *next, const weft_tile_work *w) {
    const weft_stages *s = &pass->line.stages;
    weft_tile_rows r = weft_tile_source(pass, in, t, true, w);
    if (s->count > 1)
        weft_stages_load(s, r.base, r.offset, w->tile, next);
    else
        s->stage[0].codelet->load(r.base, r.offset, w->tile, 1, 0);
}

/* Whether the last stage stores a full tile: not where it would store past the caches what is
 * cropped, too. */
static bool fuses_store(const weft_native_pass *pass, bool stream) {
    return pass->out.access == WEFT_ACROSS && !(stream && !weft_native_side_is_whole(&pass->out));
}

static void store_fused(const weft_native_pass *pass, void *const *out, const weft_tile_lines *t,
                        const weft_tile_work *w, bool stream) {
    weft_tile_rows r = weft_tile_target(pass, out, t, true, w);
    weft_stages_store(&pass->line.stages, w->tile, (void *)(uintptr_t)r.base, r.offset, stream,
                      pass->scale);
}

static void run_array_to_array(const weft_native_pass *pass, const void *const *in,
                               void *const *out, const weft_tile_lines *t, const weft_tile_work *w,
                               bool stream) {
    const weft_stages *s = &pass->line.stages;
    weft_tile_rows r = weft_tile_source(pass, in, t, true, w),
                   to = weft_tile_target(pass, out, t, true, w);
    const weft_codelet *codelet = s->stage[0].codelet;
    if (t->count == pass->kernels->lanes)
        codelet->array_to_array(r.base, r.offset, (void *)(uintptr_t)to.base, to.offset, stream,
                                pass->scale);
    else
        codelet->some_to_array(r.base, r.offset, (void *)(uintptr_t)to.base, to.offset, t->count,
                               pass->scale);
}

/* ---- round trips ---- */

/* Where the lines of a tile begin in the box of the operators; `place` gets their places in rows.
 */
static void number_lines(const weft_native_pass *pass, const weft_tile_lines *t, int64_t number,
                         int64_t *first, int *place) {
    const int64_t *stride = pass->back->loop_stride;
    const bool across = pass->in.access == WEFT_ACROSS && pass->out.access == WEFT_ACROSS;
    for (int l = 0; l < t->count; l++) {
        const int64_t *index = t->index[across ? 0 : l];
        first[l] = number + (across ? l * stride[0] : 0);
        for (int i = 0; i < pass->loops; i++) first[l] += index[i] * stride[i];
        place[l] = pass->kernels->position(l);
    }
}

/* Multiplies rows of lines, as they go from tile to tile, by the factors of a product. */
static void multiply_by_product(const weft_native_pass *pass, const weft_pointwise_lines *f,
                                const void *from, const int32_t *from_row, void *to,
                                const int32_t *to_row) {
    const weft_kernels *k = pass->kernels;
    (f->complex_factors ? k->multiply_lines_by_pairs : k->multiply_lines_of_tile)(
        from, from_row, to, to_row, pass->store_points, f->before, f->along, f->after, f->afters);
}

/* Between the halves of a round trip: results go where the points of the second half are expected,
 * times the factors of the operators' parts, one after the other. */
static void turn(const weft_native_pass *pass, const weft_tile_lines *t, int64_t number,
                 const void *from, void *to) {
    const weft_native_operated *o = pass->back->operated;
    const int32_t *from_row = pass->store_row, *to_row = pass->back->pass.load_row;
    const weft_kernels *k = pass->kernels;
    const int parts = o ? weft_pointwise_parts(o->pointwise) : 0;
    int64_t first[WEFT_TILE_LANES];
    int place[WEFT_TILE_LANES];
    weft_pointwise_lines f;
    if (parts > 0) number_lines(pass, t, number + o->first, first, place);
    for (int i = 0; i < parts; i++) {
        weft_pointwise_array_lines array;
        if (!weft_pointwise_find_array(o->pointwise, i, o->axis, first, t->count, &array)) {
            weft_pointwise_find_lines(o->pointwise, i, o->axis, first, place, t->count, k->lanes,
                                      &f);
            multiply_by_product(pass, &f, from, from_row, to, to_row);
        } else if (array.line[0]) {
            k->multiply_lines_by_array(from, from_row, to, to_row, pass->store_points, array.line,
                                       array.count, array.step, array.complex_factors);
        } else {
            continue;
        }
        from = to;
        from_row = to_row;
    }
    if (from == to) return;
    memset(&f, 0, sizeof f);
    for (int l = 0; l < k->lanes; l++) weft_number_set(k, f.before, l, 1);
    multiply_by_product(pass, &f, from, from_row, to, to_row);
}

static void run_there_and_back(const weft_native_pass *pass, const void *const *in,
                               void *const *out, weft_tile_work w, int64_t number, int64_t first,
                               int64_t end) {
    const weft_native_pass *back = &pass->back->pass;
    const weft_stages *s = &pass->line.stages, *after = &back->line.stages;
    weft_tile_work last = w;
    last.tile = (char *)w.tile + weft_tile_bytes(pass);
    const bool plain =
        pass->kind == WEFT_TRANSFORM_C2C && s->count > 0 && pass->line.method == WEFT_LINE_STAGES;
    const bool stream = back->stream && weft_native_pass_aligned(back, out);
    weft_tile_lines t;
    for (int64_t i = first; i < end; i++) {
        weft_tile_find(pass, i, &t);
        const bool full = t.count == pass->kernels->lanes;
        if (plain && pass->in.access == WEFT_ACROSS && (full || pass->in.padded)) {
            load_fused(pass, in, &t, find_next(pass, in, i + 1, end), &w);
            weft_stages_run(s, w.tile, s->inner, s->count);
        } else {
            weft_tile_load(pass, in, &t, &w);
            transform(pass, &t, &w);
        }
        turn(pass, &t, number, w.tile, last.tile);
        if (plain && fuses_store(back, stream) && full && s->count > 1) {
            weft_stages_run(after, last.tile, 0, after->count - 1);
            store_fused(back, out, &t, &last, stream);
        } else {
            transform(back, &t, &last);
            weft_tile_store(back, out, &t, &last, stream);
        }
    }
    if (back->stream) pass->kernels->fence();
}

static void run(const weft_native_pass *pass, const void *const *in, void *const *out, void *memory,
                int64_t number, int64_t first, int64_t end) {
    const weft_stages *s = &pass->line.stages;
    const int64_t lanes = pass->kernels->lanes;
    weft_tile_work w = weft_tile_divide(pass, memory);
    if (pass->back) {
        run_there_and_back(pass, in, out, w, number, first, end);
        return;
    }
    const bool plain = pass->kind == WEFT_TRANSFORM_C2C && !pass->twiddles &&
                       pass->line.method == WEFT_LINE_STAGES && s->count > 0;
    const bool fuse_load = plain && pass->in.access == WEFT_ACROSS;
    const bool stream = pass->stream && weft_native_pass_aligned(pass, out);
    const bool fuse_store = plain && fuses_store(pass, stream);
    w.touch = stream && weft_tile_touches(pass);
    weft_tile_lines t;
    for (int64_t i = first; i < end; i++) {
        weft_tile_find(pass, i, &t);
        const bool full = t.count == lanes;
        const bool loads = fuse_load && (full || pass->in.padded), stores = fuse_store && full;
        if (fuse_load && fuse_store && s->count == 1 &&
            (full || weft_native_pass_scales_exactly(pass))) {
            run_array_to_array(pass, in, out, &t, &w, stream);
            continue;
        }
        if (loads)
            load_fused(pass, in, &t, find_next(pass, in, i + 1, end), &w);
        else
            weft_tile_load(pass, in, &t, &w);
        if (!plain) {
            transform(pass, &t, &w);
            weft_tile_store(pass, out, &t, &w, stream);
            continue;
        }
        const bool fused_last = stores && s->count > 1;
        weft_stages_run(s, w.tile, loads ? s->inner : 0, fused_last ? s->count - 1 : s->count);
        if (fused_last)
            store_fused(pass, out, &t, &w, stream);
        else
            weft_tile_store(pass, out, &t, &w, stream);
    }
    if (pass->stream) pass->kernels->fence();
}

static void print(const weft_native_pass *pass, FILE *stream) {
    fputs("in tiles, ", stream);
    weft_native_print_line(&pass->line, stream);
}

const weft_solver weft_solver_tiles = {
    .takes = takes, .plan = plan, .release = release, .room = room, .run = run, .print = print};
