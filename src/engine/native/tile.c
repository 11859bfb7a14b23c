/* Where the lines of a tile lie, and how their points get from there to the tile and back. */
#include "engine/native/tile.h"

#include <string.h>

enum { ALIGNMENT = 64 };

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

size_t weft_tile_bytes(const weft_native_pass *pass) {
    return (size_t)(pass->line.rows + 1) * WEFT_ROW_BYTES;
}

size_t weft_tile_room(const weft_native_pass *pass) {
    return (size_t)(2 * offset_bytes(pass) + gathered_bytes(pass)) + weft_tile_bytes(pass);
}

weft_tile_work weft_tile_divide(const weft_native_pass *pass, void *scratch) {
    char *p = scratch;
    int64_t bytes = offset_bytes(pass);
    char *lines = p + 2 * bytes;
    return (weft_tile_work){(int64_t *)(void *)p, (int64_t *)(void *)(p + bytes), lines,
                            lines + gathered_bytes(pass), false};
}

void weft_tile_find(const weft_native_pass *pass, int64_t number, weft_tile_lines *t) {
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

int64_t weft_tile_offset(const weft_native_pass *pass, const weft_native_piece *piece,
                         const weft_tile_lines *t, int line) {
    if (t->listed) {
        const int64_t first = piece == pass->in.piece ? t->listed->in : t->listed->out;
        return pass->loops > 0 ? first + line * piece->loop_stride[0] : first;
    }
    int64_t offset = piece->offset;
    for (int i = 0; i < pass->loops; i++) offset += t->index[line][i] * piece->loop_stride[i];
    return offset;
}

/* One piece has the same offsets for every tile, given as `fixed`. With several pieces, or points
 * that do not lie in memory, offsets count from address 0 and are computed into `room`: that of
 * point j at order[j], or at j if there is no order. `beyond` is the row of all points that do not
 * lie in memory. */
static weft_tile_rows find_rows(const weft_native_pass *pass, const weft_native_side *side,
                                const void *const *array, const weft_tile_lines *t,
                                const int64_t *fixed, const int32_t *order, int64_t *room,
                                const void *beyond) {
    if (side->pieces == 1 && weft_native_side_is_whole(side))
        return (weft_tile_rows){(const char *)array[0] + weft_tile_offset(pass, side->piece, t, 0),
                                fixed};
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        intptr_t row = (intptr_t)array[p] + weft_tile_offset(pass, piece, t, 0);
        for (int64_t j = piece->first; j < piece->first + piece->points; j++, row += piece->stride)
            room[order ? order[j] : j] = row;
    }
    for (int64_t j = side->stored.low; j < side->points - side->stored.high; j++)
        room[order ? order[j] : j] = (intptr_t)beyond;
    return (weft_tile_rows){NULL, room};
}

weft_tile_rows weft_tile_source(const weft_native_pass *pass, const void *const *in,
                                const weft_tile_lines *t, bool fused, const weft_tile_work *w) {
    static const _Alignas(ALIGNMENT) char zeros[WEFT_ROW_BYTES];
    const weft_native_side *side = &pass->in;
    return find_rows(pass, side, in, t, fused ? side->fused_offset : side->offset,
                     fused ? pass->line.stages.place_of : NULL, w->in, zeros);
}

/* Results that are not stored go to the last row of the tile. It holds only the last point of a
 * half spectrum, which has been merged into the others where a real line is stored. */
weft_tile_rows weft_tile_target(const weft_native_pass *pass, void *const *out,
                                const weft_tile_lines *t, bool fused, const weft_tile_work *w) {
    const weft_native_side *side = &pass->out;
    const char *last_row = (const char *)w->tile + pass->line.rows * WEFT_ROW_BYTES;
    return find_rows(pass, side, (const void *const *)out, t,
                     fused ? side->fused_offset : side->offset, fused ? pass->result_of : NULL,
                     w->out, last_row);
}

static void point_lines(const weft_native_pass *pass, const weft_native_piece *piece,
                        const void *array, const weft_tile_lines *t, const void **lines) {
    const char *base = array;
    for (int l = 0; l < t->count; l++) lines[l] = base + weft_tile_offset(pass, piece, t, l);
}

/* Rows of the tile for so many points of a side: two real points that are taken as a pair share one
 * row. */
static int64_t rows_of(const weft_native_pass *pass, const weft_native_side *side, int64_t points) {
    return side->real && pass->halved ? points / 2 : points;
}

/* Rows of the tile that hold the first points which lie in memory, the last one perhaps only one
 * point of a pair. */
static int64_t rows_that_hold(const weft_native_pass *pass, const weft_native_side *side) {
    return side->real && pass->halved ? (side->stored.low + 1) / 2 : side->stored.low;
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
static void touch_tile(const weft_native_pass *pass, const void *array, const weft_tile_lines *t) {
    const weft_native_piece *piece = pass->in.piece;
    const int last = pass->kernels->lanes - 1;
    const int64_t first = weft_tile_offset(pass, piece, t, 0), line = piece->loop_stride[0];
    if (t->count <= last || weft_tile_offset(pass, piece, t, last) != first + last * line) return;
    const volatile char *byte = (const char *)array + first;
    for (int64_t i = 0; i < (last + 1) * line; i += ALIGNMENT) (void)byte[i];
}

/* Whether touch_tile pays: only for small contiguous tiles. */
bool weft_tile_touches(const weft_native_pass *pass) {
    enum { MOST = 16384 };
    const weft_native_piece *piece = &pass->in.whole;
    const int64_t line = piece->points * piece->stride;
    return pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
           pass->in.pieces == 1 && pass->loops > 0 && pass->loop[0] >= pass->kernels->lanes &&
           piece->loop_stride[0] == line && pass->kernels->lanes * line <= MOST;
}

/* Copies the lines of a tile, applies the operators to the copies, and has those loaded. */
static void operate_on_lines(const weft_native_pass *pass, const weft_tile_lines *t,
                             const weft_tile_work *w, const void **lines) {
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
    const void *point[WEFT_TILE_LANES];
    for (int l = 0; l < count; l++) point[l] = (const char *)lines[l] + last * piece->stride;
    pass->kernels->gather(point, 0, 0, 1, tile, pass->load_row + last / 2, count);
}

/* Stores the last real point that is stored, without the other one of its pair. */
static void store_last(const weft_native_pass *pass, const weft_native_piece *piece,
                       const void *tile, void *const *lines, int count) {
    const int64_t last = piece->points - 1;
    void *point[WEFT_TILE_LANES];
    for (int l = 0; l < count; l++) point[l] = (char *)lines[l] + last * piece->stride;
    pass->kernels->scatter(tile, pass->store_row + last / 2, 1, point, 0, 0, count, pass->scale);
}

void weft_tile_load(const weft_native_pass *pass, const void *const *array,
                    const weft_tile_lines *t, const weft_tile_work *w) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->in;
    const bool pairs = side->real && pass->halved;
    if (side->access == WEFT_ACROSS) {
        weft_tile_rows r = weft_tile_source(pass, array, t, false, w);
        if (side->real)
            k->load_real_rows(r.base, r.offset, pass->load_points, pairs, w->tile, pass->load_row,
                              t->count);
        else
            k->load_rows(r.base, r.offset, pass->load_points, w->tile, pass->load_row, t->count);
        return;
    }
    if (w->touch) touch_tile(pass, array[0], t);
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        const void *lines[WEFT_TILE_LANES];
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
    const int64_t zeros = pass->load_points - side->stored.high; /* end here */
    for (int64_t j = rows_that_hold(pass, side); j < zeros; j++)
        memset((char *)w->tile + pass->load_row[j] * (int64_t)WEFT_ROW_BYTES, 0, WEFT_ROW_BYTES);
}

/* Stores a full tile of short lines that follow each other in memory but do not begin at cache
 * lines: they are first put together in scratch memory, so that they can be stored past the
 * caches. */
static void store_gathered(const weft_native_pass *pass, void *array, const weft_tile_lines *t,
                           const weft_tile_work *w) {
    const weft_kernels *k = pass->kernels;
    const int64_t line = pass->adjoining;
    const weft_native_side *side = &pass->out;
    const int64_t n = rows_of(pass, side, side->whole.points);
    void *lines[WEFT_TILE_LANES];
    for (int l = 0; l < k->lanes; l++) lines[l] = w->lines + l * line;
    k->store_lines(w->tile, pass->store_row, n, lines, k->lanes, false, pass->scale);
    k->copy(w->lines, (char *)array + weft_tile_offset(pass, side->piece, t, 0), k->lanes * line,
            true);
}

/* Stores rows of complex lines that are neighbours: those that are the first points, and the last.
 */
static void store_rows(const weft_native_pass *pass, const weft_tile_rows *r,
                       const weft_tile_lines *t, const weft_tile_work *w, bool stream) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->out;
    void *base = (void *)(uintptr_t)r->base;
    const bool past = stream && t->count == k->lanes && !weft_native_side_is_whole(side);
    const int64_t high = side->points - side->stored.high;
    k->store_rows(w->tile, pass->store_row, side->stored.low, base, r->offset, t->count, past,
                  pass->scale);
    if (high < side->points)
        k->store_rows(w->tile, pass->store_row + high, side->stored.high, base, r->offset + high,
                      t->count, past, pass->scale);
}

/* Whether the tile is full and each of its lines is stored right after the previous one. */
static bool all_adjoin(const weft_native_pass *pass, const weft_tile_lines *t) {
    const int last = pass->kernels->lanes - 1;
    return pass->adjoining > 0 && t->count > last &&
           weft_tile_offset(pass, &pass->out.whole, t, last) ==
               weft_tile_offset(pass, &pass->out.whole, t, 0) + last * pass->adjoining;
}

/* Stores lines that have been put together in scratch memory, once the operators are applied. */
static void store_operated(const weft_native_pass *pass, const weft_tile_lines *t,
                           const weft_tile_work *w, const void *const *found) {
    const int64_t bytes = line_bytes(&pass->out), stride = operated_stride(&pass->out);
    for (int l = 0; l < t->count; l++) {
        char *line = w->lines + l * stride;
        weft_native_store_operated(pass->out.operated, pass->kernels, line,
                                   (void *)(uintptr_t)found[l], bytes, pass->stream);
    }
}

void weft_tile_store(const weft_native_pass *pass, void *const *array, const weft_tile_lines *t,
                     const weft_tile_work *w, bool stream) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->out;
    const bool pairs = side->real && pass->halved;
    if (side->access == WEFT_ACROSS) {
        weft_tile_rows r = weft_tile_target(pass, array, t, false, w);
        if (side->real)
            k->store_real_rows(w->tile, pass->store_row, rows_that_hold(pass, side), pairs,
                               (void *)(uintptr_t)r.base, r.offset, t->count, pass->scale);
        else
            store_rows(pass, &r, t, w, stream);
        return;
    }
    if (pass->stream && !stream && !side->operated && all_adjoin(pass, t)) {
        store_gathered(pass, array[0], t, w);
        return;
    }
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        const void *found[WEFT_TILE_LANES];
        void *lines[WEFT_TILE_LANES];
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
