/*
 * Any lines, a tile of them at a time: loaded, transformed, stored. Which lines each tile holds,
 * and how points get from memory to the tile and back.
 */
#include "engine/native/number.h"
#include "engine/native/solver.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = WEFT_ROW_BYTES / 2 / (int)sizeof(float), ALIGNMENT = 64 };

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

/* ---- execution ---- */

/* A thread's scratch memory: the offsets of the rows of either side, where they differ between
 * tiles; then the lines of a tile, where they are stored as a whole or operated on; then the
 * tile. */
typedef struct work {
    int64_t *in, *out;
    char *lines;
    void *tile;
    bool touch; /* touch_tile comes before loading */
} work;

static int64_t offset_bytes(const weft_native_pass *pass) {
    int64_t bytes = (pass->n + 1) * (int64_t)sizeof(int64_t);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t line_bytes(const weft_native_side *side) {
    return side->whole.points * side->whole.stride;
}

/* Bytes from one line to the next where lines are operated on; not a power of two. */
static int64_t operated_stride(const weft_native_side *side) {
    return (line_bytes(side) + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t gathered_bytes(const weft_native_pass *pass) {
    const int64_t lanes = pass->kernels->lanes;
    int64_t bytes = lanes * (pass->back ? pass->back->pass.adjoining : pass->adjoining);
    if (pass->in.operated && lanes * operated_stride(&pass->in) > bytes)
        bytes = lanes * operated_stride(&pass->in);
    if (pass->out.operated && lanes * operated_stride(&pass->out) > bytes)
        bytes = lanes * operated_stride(&pass->out);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t tile_bytes(const weft_native_pass *pass) {
    return (size_t)(pass->line.rows + 1) * WEFT_ROW_BYTES;
}

static size_t room(const weft_native_pass *pass) {
    const size_t back = pass->back ? tile_bytes(&pass->back->pass) : 0;
    return (size_t)(2 * offset_bytes(pass) + gathered_bytes(pass)) + tile_bytes(pass) +
           weft_twiddles_room(pass->twiddles) + back;
}

static work divide(const weft_native_pass *pass, void *scratch) {
    char *p = scratch;
    int64_t bytes = offset_bytes(pass);
    char *lines = p + 2 * bytes;
    return (work){(int64_t *)(void *)p, (int64_t *)(void *)(p + bytes), lines,
                  lines + gathered_bytes(pass), false};
}

/* The lines of one tile: where it is listed, or the loop indices of each line. Where a tile does
 * not go beyond loop 0, only those of the first line are set. */
typedef struct tile_lines {
    int count;
    const weft_native_tile *listed; /* or NULL */
    int64_t index[MOST_LANES][WEFT_PASS_LOOPS];
} tile_lines;

static void find_lines(const weft_native_pass *pass, int64_t number, tile_lines *t) {
    const int64_t lanes = pass->kernels->lanes;
    t->listed = pass->tile ? &pass->tile[number] : NULL;
    if (t->listed) {
        t->count = t->listed->count;
        return;
    }
    if (pass->by_loop) {
        int64_t chunks = (pass->loop[0] + lanes - 1) / lanes;
        int64_t rest = number / chunks, first = (number - rest * chunks) * lanes;
        t->count = (int)(pass->loop[0] - first < lanes ? pass->loop[0] - first : lanes);
        t->index[0][0] = first;
        for (int i = 1; i < pass->loops; i++) {
            t->index[0][i] = rest % pass->loop[i];
            rest /= pass->loop[i];
        }
        if (pass->in.access == WEFT_ACROSS && pass->out.access == WEFT_ACROSS) return;
        for (int l = 1; l < t->count; l++) {
            memcpy(t->index[l], t->index[0], (size_t)pass->loops * sizeof t->index[0][0]);
            t->index[l][0] = first + l;
        }
        return;
    }
    int64_t rest = number * lanes;
    for (int i = 0; i < pass->loops; i++) {
        t->index[0][i] = rest % pass->loop[i];
        rest /= pass->loop[i];
    }
    t->count = 1;
    for (; t->count < lanes; t->count++) {
        int64_t *index = t->index[t->count];
        memcpy(index, t->index[t->count - 1], sizeof t->index[0]);
        int i = 0;
        while (i < pass->loops && ++index[i] == pass->loop[i]) index[i++] = 0;
        if (i == pass->loops) return;
    }
}

static int64_t line_offset(const weft_native_pass *pass, const weft_native_piece *piece,
                           const tile_lines *t, int line) {
    if (t->listed) {
        const int64_t first = piece == pass->in.piece ? t->listed->in : t->listed->out;
        return pass->loops > 0 ? first + line * piece->loop_stride[0] : first;
    }
    int64_t offset = piece->offset;
    for (int i = 0; i < pass->loops; i++) offset += t->index[line][i] * piece->loop_stride[i];
    return offset;
}

/* The rows of a side whose lines are neighbours: the row of point j is at base +
 * offset[order[j]]. */
typedef struct side_rows {
    const char *base;
    const int64_t *offset;
} side_rows;

/* One piece has the same offsets for every tile, given as `fixed`. With several pieces, or points
 * that do not lie in memory, offsets count from address 0 and are computed into `room`: that of
 * point j at order[j], or at j if there is no order. `beyond` is the row of all points that do not
 * lie in memory. */
static side_rows find_rows(const weft_native_pass *pass, const weft_native_side *side,
                           const void *const *array, const tile_lines *t, const int64_t *fixed,
                           const int32_t *order, int64_t *room, const void *beyond) {
    if (side->pieces == 1 && weft_native_side_is_whole(side))
        return (side_rows){(const char *)array[0] + line_offset(pass, side->piece, t, 0), fixed};
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        intptr_t row = (intptr_t)array[p] + line_offset(pass, piece, t, 0);
        for (int64_t j = piece->first; j < piece->first + piece->points; j++, row += piece->stride)
            room[order ? order[j] : j] = row;
    }
    for (int64_t j = side->stored; j < side->points; j++)
        room[order ? order[j] : j] = (intptr_t)beyond;
    return (side_rows){NULL, room};
}

static side_rows find_source(const weft_native_pass *pass, const void *const *in,
                             const tile_lines *t, bool fused, const work *w) {
    static const _Alignas(ALIGNMENT) char zeros[WEFT_ROW_BYTES];
    const weft_native_side *side = &pass->in;
    return find_rows(pass, side, in, t, fused ? side->fused_offset : side->offset,
                     fused ? pass->line.stages.place_of : NULL, w->in, zeros);
}

/* Results that are not stored go to the last row of the tile. It holds only the last point of a
 * half spectrum, which has been merged into the others where a real line is stored. */
static side_rows find_target(const weft_native_pass *pass, void *const *out, const tile_lines *t,
                             bool fused, const work *w) {
    const weft_native_side *side = &pass->out;
    const char *last_row = (const char *)w->tile + pass->line.rows * WEFT_ROW_BYTES;
    return find_rows(pass, side, (const void *const *)out, t,
                     fused ? side->fused_offset : side->offset, fused ? pass->result_of : NULL,
                     w->out, last_row);
}

static void point_lines(const weft_native_pass *pass, const weft_native_piece *piece,
                        const void *array, const tile_lines *t, const void **lines) {
    const char *base = array;
    for (int l = 0; l < t->count; l++) lines[l] = base + line_offset(pass, piece, t, l);
}

/* Rows of the tile for so many points of a side: two real points that are taken as a pair share one
 * row. */
static int64_t rows_of(const weft_native_pass *pass, const weft_native_side *side, int64_t points) {
    return side->real && pass->halved ? points / 2 : points;
}

/* Rows of the tile that hold the points which lie in memory, the last one perhaps only one point of
 * a pair. */
static int64_t rows_that_hold(const weft_native_pass *pass, const weft_native_side *side) {
    return side->real && pass->halved ? (side->stored + 1) / 2 : side->stored;
}

/* Bytes from what is loaded to what should be prefetched meanwhile: the lines of the next tile
 * where lines are short, the rest of the same line where lines are long. For lengths in between
 * nothing is prefetched, since either address would fall into another line of this tile. */
static int64_t look_ahead(const weft_native_pass *pass, const weft_native_piece *piece) {
    enum { AHEAD = 1024, SHORT_TILE = 8192, LONG_TILE = 65536 };
    int64_t next = pass->loops > 0 ? pass->kernels->lanes * piece->loop_stride[0] : 0;
    if (next <= 0 || next > LONG_TILE) return AHEAD;
    return next <= SHORT_TILE ? next : 0;
}

/* Hardware prefetchers do not recognize loads that alternate between lines. A tile that is
 * contiguous in memory therefore comes faster if it is read once from one end to the other
 * first. */
static void touch_tile(const weft_native_pass *pass, const void *array, const tile_lines *t) {
    const weft_native_piece *piece = pass->in.piece;
    const int last = pass->kernels->lanes - 1;
    const int64_t first = line_offset(pass, piece, t, 0), line = piece->loop_stride[0];
    if (t->count <= last || line_offset(pass, piece, t, last) != first + last * line) return;
    const volatile char *byte = (const char *)array + first;
    for (int64_t i = 0; i < (last + 1) * line; i += ALIGNMENT) (void)byte[i];
}

/* Whether touch_tile pays: only for small contiguous tiles. */
static bool touches(const weft_native_pass *pass) {
    enum { MOST = 16384 };
    const weft_native_piece *piece = &pass->in.whole;
    const int64_t line = piece->points * piece->stride;
    return pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
           pass->in.pieces == 1 && pass->loops > 0 && pass->loop[0] >= pass->kernels->lanes &&
           piece->loop_stride[0] == line && pass->kernels->lanes * line <= MOST;
}

/* Copies the lines of a tile, applies the operators to the copies, and has those loaded. */
static void operate_on_lines(const weft_native_pass *pass, const tile_lines *t, const work *w,
                             const void **lines) {
    const int64_t bytes = line_bytes(&pass->in), stride = operated_stride(&pass->in);
    for (int l = 0; l < t->count; l++) {
        char *line = w->lines + l * stride;
        weft_native_load_operated(pass->in.operated, pass->kernels, lines[l], line, bytes);
        lines[l] = line;
    }
}

/* Loads the last real point in memory where the other one of its pair is zero. */
static void load_last(const weft_native_pass *pass, const weft_native_piece *piece,
                      const void *const *lines, void *tile, int count) {
    const int64_t last = piece->points - 1;
    const void *point[MOST_LANES];
    for (int l = 0; l < count; l++) point[l] = (const char *)lines[l] + last * piece->stride;
    pass->kernels->gather(point, 0, 0, 1, tile, pass->load_row + last / 2, count);
}

/* Stores the last real point that is stored, without the other one of its pair. */
static void store_last(const weft_native_pass *pass, const weft_native_piece *piece,
                       const void *tile, void *const *lines, int count) {
    const int64_t last = piece->points - 1;
    void *point[MOST_LANES];
    for (int l = 0; l < count; l++) point[l] = (char *)lines[l] + last * piece->stride;
    pass->kernels->scatter(tile, pass->store_row + last / 2, 1, point, 0, 0, count, pass->scale);
}

static void load(const weft_native_pass *pass, const void *const *array, const tile_lines *t,
                 const work *w) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->in;
    const bool pairs = side->real && pass->halved;
    if (side->access == WEFT_ACROSS) {
        side_rows r = find_source(pass, array, t, false, w);
        if (side->real)
            k->load_real_rows(r.base, r.offset, pass->load_points, pairs, w->tile, pass->load_row,
                              t->count);
        else
            k->load_rows(r.base, r.offset, pass->load_points, w->tile, pass->load_row, t->count);
        return;
    }
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        const void *lines[MOST_LANES];
        const int32_t *rows = pass->load_row + rows_of(pass, side, piece->first);
        int64_t n = rows_of(pass, side, piece->points);
        point_lines(pass, piece, array[p], t, lines);
        if (side->operated) operate_on_lines(pass, t, w, lines);
        if (side->access == WEFT_ALONG && side->real && !pairs)
            k->load_real_lines(lines, n, w->tile, rows, t->count);
        else if (side->access == WEFT_ALONG)
            k->load_lines(lines, n, w->tile, rows, t->count,
                          w->touch ? 0 : look_ahead(pass, piece));
        else
            k->gather(lines, piece->stride * (pairs ? 2 : 1),
                      pairs        ? piece->stride
                      : side->real ? 0
                                   : k->real_bytes,
                      n, w->tile, rows, t->count);
        if (pairs && piece->points % 2 != 0) load_last(pass, piece, lines, w->tile, t->count);
    }
    for (int64_t j = rows_that_hold(pass, side); j < pass->load_points; j++)
        memset((char *)w->tile + pass->load_row[j] * (int64_t)WEFT_ROW_BYTES, 0, WEFT_ROW_BYTES);
}

/* Stores a full tile of short lines that follow each other in memory but do not begin at cache
 * lines: they are first put together in scratch memory, so that they can be stored past the
 * caches. */
static void store_gathered(const weft_native_pass *pass, void *array, const tile_lines *t,
                           const work *w) {
    const weft_kernels *k = pass->kernels;
    const int64_t line = pass->adjoining;
    const weft_native_side *side = &pass->out;
    const int64_t n = rows_of(pass, side, side->whole.points);
    void *lines[MOST_LANES];
    for (int l = 0; l < k->lanes; l++) lines[l] = w->lines + l * line;
    k->store_lines(w->tile, pass->store_row, n, lines, k->lanes, false, pass->scale);
    k->copy(w->lines, (char *)array + line_offset(pass, side->piece, t, 0), k->lanes * line, true);
}

/* Whether the tile is full and each of its lines is stored right after the previous one. */
static bool all_adjoin(const weft_native_pass *pass, const tile_lines *t) {
    const int last = pass->kernels->lanes - 1;
    return pass->adjoining > 0 && t->count > last &&
           line_offset(pass, &pass->out.whole, t, last) ==
               line_offset(pass, &pass->out.whole, t, 0) + last * pass->adjoining;
}

/* Stores lines that have been put together in scratch memory, once the operators are applied. */
static void store_operated(const weft_native_pass *pass, const tile_lines *t, const work *w,
                           const void *const *found) {
    const int64_t bytes = line_bytes(&pass->out), stride = operated_stride(&pass->out);
    for (int l = 0; l < t->count; l++) {
        char *line = w->lines + l * stride;
        weft_native_store_operated(pass->out.operated, pass->kernels, line,
                                   (void *)(uintptr_t)found[l], bytes, pass->stream);
    }
}

static void store(const weft_native_pass *pass, void *const *array, const tile_lines *t,
                  const work *w, bool stream) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->out;
    const bool pairs = side->real && pass->halved;
    if (side->access == WEFT_ACROSS) {
        side_rows r = find_target(pass, array, t, false, w);
        void *base = (void *)(uintptr_t)r.base;
        if (side->real)
            k->store_real_rows(w->tile, pass->store_row, rows_that_hold(pass, side), pairs, base,
                               r.offset, t->count, pass->scale);
        else
            k->store_rows(w->tile, pass->store_row, side->stored, base, r.offset, t->count,
                          stream && t->count == k->lanes && !weft_native_side_is_whole(side),
                          pass->scale);
        return;
    }
    if (pass->stream && !stream && !side->operated && all_adjoin(pass, t)) {
        store_gathered(pass, array[0], t, w);
        return;
    }
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        const void *found[MOST_LANES];
        void *lines[MOST_LANES];
        const int32_t *rows = pass->store_row + rows_of(pass, side, piece->first);
        int64_t n = rows_of(pass, side, piece->points);
        point_lines(pass, piece, array[p], t, found);
        for (int l = 0; l < t->count; l++)
            lines[l] =
                side->operated ? w->lines + l * operated_stride(side) : (void *)(uintptr_t)found[l];
        stream = stream && !side->operated;
        if (side->access == WEFT_ALONG && side->real && !pairs)
            k->store_real_lines(w->tile, rows, n, lines, t->count, pass->scale);
        else if (side->access == WEFT_ALONG)
            k->store_lines(w->tile, rows, n, lines, t->count, stream && t->count == k->lanes,
                           pass->scale);
        else
            k->scatter(w->tile, rows, n, lines, piece->stride * (pairs ? 2 : 1),
                       pairs        ? piece->stride
                       : side->real ? 0
                                    : k->real_bytes,
                       t->count, pass->scale);
        if (pairs && piece->points % 2 != 0) store_last(pass, piece, w->tile, lines, t->count);
        if (side->operated) store_operated(pass, t, w, found);
    }
}

/* Transforms a tile that has been loaded. */
static void transform(const weft_native_pass *pass, const tile_lines *t, const work *w) {
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
            weft_twiddles_factors(pass->twiddles, tile, (char *)w->tile + tile_bytes(pass)),
            weft_twiddles_table(pass->twiddles, tile));
    }
}

/* Where tile `number` begins, if it is to be fetched; else NULL. */
static const void *find_next(const weft_native_pass *pass, const void *const *in, int64_t number,
                             int64_t end) {
    if (!pass->ahead || number >= end || pass->in.pieces > 1 ||
        !weft_native_side_is_whole(&pass->in))
        return NULL;
    tile_lines t;
    find_lines(pass, number, &t);
    return (const char *)in[0] + line_offset(pass, pass->in.piece, &t, 0);
}

/* Loads with the first stage, and stores with the last. This applies to full tiles of neighbouring
 * complex lines of smooth length that need nothing else. */
static void load_fused(const weft_native_pass *pass, const void *const *in, const tile_lines *t,
                       const void *next, const work *w) {
    const weft_stages *s = &pass->line.stages;
    side_rows r = find_source(pass, in, t, true, w);
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

static void store_fused(const weft_native_pass *pass, void *const *out, const tile_lines *t,
                        const work *w, bool stream) {
    side_rows r = find_target(pass, out, t, true, w);
    weft_stages_store(&pass->line.stages, w->tile, (void *)(uintptr_t)r.base, r.offset, stream,
                      pass->scale);
}

static void run_array_to_array(const weft_native_pass *pass, const void *const *in,
                               void *const *out, const tile_lines *t, const work *w, bool stream) {
    const weft_stages *s = &pass->line.stages;
    side_rows r = find_source(pass, in, t, true, w), to = find_target(pass, out, t, true, w);
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
static void number_lines(const weft_native_pass *pass, const tile_lines *t, int64_t number,
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
    if (f->complex_factors)
        weft_pointwise_multiply_lines(pass->back->operated->pointwise, f, k->lanes,
                                      pass->store_points, from, from_row, to, to_row);
    else
        k->multiply_lines_of_tile(from, from_row, to, to_row, pass->store_points, f->before,
                                  f->along, f->after, f->afters);
}

/* Between the halves of a round trip: results go where the points of the second half are expected,
 * times the factors of the operators' parts, one after the other. */
static void turn(const weft_native_pass *pass, const tile_lines *t, int64_t number,
                 const void *from, void *to) {
    const weft_native_operated *o = pass->back->operated;
    const int32_t *from_row = pass->store_row, *to_row = pass->back->pass.load_row;
    const weft_kernels *k = pass->kernels;
    const int parts = o ? weft_pointwise_parts(o->pointwise) : 0;
    int64_t first[MOST_LANES];
    int place[MOST_LANES];
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
                               void *const *out, work w, int64_t number, int64_t first,
                               int64_t end) {
    const weft_native_pass *back = &pass->back->pass;
    const weft_stages *s = &pass->line.stages, *after = &back->line.stages;
    work last = w;
    last.tile = (char *)w.tile + tile_bytes(pass);
    const bool plain =
        pass->kind == WEFT_TRANSFORM_C2C && s->count > 0 && pass->line.method == WEFT_LINE_STAGES;
    const bool stream = back->stream && weft_native_pass_aligned(back, out);
    tile_lines t;
    for (int64_t i = first; i < end; i++) {
        find_lines(pass, i, &t);
        const bool full = t.count == pass->kernels->lanes;
        if (plain && pass->in.access == WEFT_ACROSS && (full || pass->in.padded)) {
            load_fused(pass, in, &t, find_next(pass, in, i + 1, end), &w);
            weft_stages_run(s, w.tile, s->inner, s->count);
        } else {
            load(pass, in, &t, &w);
            transform(pass, &t, &w);
        }
        turn(pass, &t, number, w.tile, last.tile);
        if (plain && fuses_store(back, stream) && full && s->count > 1) {
            weft_stages_run(after, last.tile, 0, after->count - 1);
            store_fused(back, out, &t, &last, stream);
        } else {
            transform(back, &t, &last);
            store(back, out, &t, &last, stream);
        }
    }
    if (back->stream) pass->kernels->fence();
}

static void run(const weft_native_pass *pass, const void *const *in, void *const *out, void *memory,
                int64_t number, int64_t first, int64_t end) {
    const weft_stages *s = &pass->line.stages;
    const int64_t lanes = pass->kernels->lanes;
    work w = divide(pass, memory);
    if (pass->back) {
        run_there_and_back(pass, in, out, w, number, first, end);
        return;
    }
    const bool plain = pass->kind == WEFT_TRANSFORM_C2C && !pass->twiddles &&
                       pass->line.method == WEFT_LINE_STAGES && s->count > 0;
    const bool fuse_load = plain && pass->in.access == WEFT_ACROSS;
    const bool stream = pass->stream && weft_native_pass_aligned(pass, out);
    const bool fuse_store = plain && fuses_store(pass, stream);
    w.touch = stream && touches(pass);
    tile_lines t;
    for (int64_t i = first; i < end; i++) {
        find_lines(pass, i, &t);
        const bool full = t.count == lanes;
        const bool loads = fuse_load && (full || pass->in.padded), stores = fuse_store && full;
        if (fuse_load && fuse_store && s->count == 1 &&
            (full || weft_native_pass_scales_exactly(pass))) {
            run_array_to_array(pass, in, out, &t, &w, stream);
            continue;
        }
        if (w.touch) touch_tile(pass, in[0], &t);
        if (loads)
            load_fused(pass, in, &t, find_next(pass, in, i + 1, end), &w);
        else
            load(pass, in, &t, &w);
        if (!plain) {
            transform(pass, &t, &w);
            store(pass, out, &t, &w, stream);
            continue;
        }
        const bool fused_last = stores && s->count > 1;
        weft_stages_run(s, w.tile, loads ? s->inner : 0, fused_last ? s->count - 1 : s->count);
        if (fused_last)
            store_fused(pass, out, &t, &w, stream);
        else
            store(pass, out, &t, &w, stream);
    }
    if (pass->stream) pass->kernels->fence();
}

static void print(const weft_native_pass *pass, FILE *stream) {
    fputs("in tiles, ", stream);
    weft_native_print_line(&pass->line, stream);
}

const weft_solver weft_solver_tiles = {
    .takes = takes, .plan = plan, .release = release, .room = room, .run = run, .print = print};
