/* Tiles: which lines each holds, and the ways from memory to tile and back. */
#include "engine/native/number.h"
#include "engine/native/pass.h"

#include <string.h>

enum { MOST_LANES = WEFT_ROW_BYTES / 2 / (int)sizeof(float), ALIGNMENT = 64 };

/* A thread's scratch memory: offsets of the rows of either side, where they are not the same for
 * every tile, then the lines of a tile that are stored as a whole, then the tile. */
typedef struct work {
    int64_t *in, *out;
    char *lines;
    void *tile;
    bool touch; /* tiles are read in order before they are loaded */
} work;

static int64_t offset_bytes(const weft_native_pass *pass) {
    int64_t bytes = (pass->n + 1) * (int64_t)sizeof(int64_t);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t gathered_bytes(const weft_native_pass *pass) {
    int64_t bytes = pass->kernels->lanes * pass->adjoining;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t weft_native_pass_scratch(const weft_native_pass *pass) {
    size_t tile = (size_t)(pass->line.rows + 1) * WEFT_ROW_BYTES;
    if (pass->by_matrix && weft_native_matrices_room(pass) > tile)
        tile = weft_native_matrices_room(pass);
    return (size_t)(2 * offset_bytes(pass) + gathered_bytes(pass)) + tile;
}

static work divide(const weft_native_pass *pass, void *scratch) {
    char *p = scratch;
    int64_t bytes = offset_bytes(pass);
    char *lines = p + 2 * bytes;
    return (work){(int64_t *)(void *)p, (int64_t *)(void *)(p + bytes), lines,
                  lines + gathered_bytes(pass), false};
}

/* Lines of one tile: the loops' indices of each (only of the first, where tiles go by loop 0). */
typedef struct group {
    int count;
    int64_t index[MOST_LANES][WEFT_PASS_LOOPS];
} group;

static void find_group(const weft_native_pass *pass, int64_t number, group *g) {
    const int64_t lanes = pass->kernels->lanes;
    if (pass->by_loop) {
        int64_t chunks = (pass->loop[0] + lanes - 1) / lanes;
        int64_t rest = number / chunks, first = (number - rest * chunks) * lanes;
        g->count = (int)(pass->loop[0] - first < lanes ? pass->loop[0] - first : lanes);
        g->index[0][0] = first;
        for (int i = 1; i < pass->loops; i++) {
            g->index[0][i] = rest % pass->loop[i];
            rest /= pass->loop[i];
        }
        if (pass->in.access == WEFT_ACROSS && pass->out.access == WEFT_ACROSS) return;
        for (int l = 1; l < g->count; l++) {
            memcpy(g->index[l], g->index[0], (size_t)pass->loops * sizeof g->index[0][0]);
            g->index[l][0] = first + l;
        }
        return;
    }
    int64_t rest = number * lanes;
    for (int i = 0; i < pass->loops; i++) {
        g->index[0][i] = rest % pass->loop[i];
        rest /= pass->loop[i];
    }
    g->count = 1;
    for (; g->count < lanes; g->count++) {
        int64_t *index = g->index[g->count];
        memcpy(index, g->index[g->count - 1], sizeof g->index[0]);
        int i = 0;
        while (i < pass->loops && ++index[i] == pass->loop[i]) index[i++] = 0;
        if (i == pass->loops) return;
    }
}

static int64_t line_offset(const weft_native_pass *pass, const weft_native_piece *piece,
                           const group *g, int line) {
    int64_t offset = piece->offset;
    for (int i = 0; i < pass->loops; i++) offset += g->index[line][i] * piece->loop_stride[i];
    return offset;
}

/* Rows of a side that is across: that of point j is at base + offset[order[j]]. */
typedef struct side_rows {
    const char *base;
    const int64_t *offset;
} side_rows;

/* One piece has the same offsets for every tile, given as `fixed`. Those of several pieces count
 * from address 0 and are worked out in `room`, point j at order[j], or at j. */
static side_rows find_rows(const weft_native_pass *pass, const weft_native_side *side,
                           const void *const *array, const group *g, const int64_t *fixed,
                           const int32_t *order, int64_t *room) {
    if (side->pieces == 1)
        return (side_rows){(const char *)array[0] + line_offset(pass, side->piece, g, 0), fixed};
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        intptr_t row = (intptr_t)array[p] + line_offset(pass, piece, g, 0);
        for (int64_t j = piece->first; j < piece->first + piece->points; j++, row += piece->stride)
            room[order ? order[j] : j] = row;
    }
    return (side_rows){NULL, room};
}

static void point_lines(const weft_native_pass *pass, const weft_native_piece *piece,
                        const void *array, const group *g, const void **lines) {
    const char *base = array;
    for (int l = 0; l < g->count; l++) lines[l] = base + line_offset(pass, piece, g, l);
}

/* The part of a side's points that a piece holds, as rows of the tile: pairs of real points are one
 * row. */
static int64_t rows_of(const weft_native_pass *pass, const weft_native_side *side, int64_t points) {
    return side->real && pass->halved ? points / 2 : points;
}

/* Bytes from what is loaded to what should be asked for meanwhile: the next tile's lines where they
 * are short, what follows in these where they are long, and nothing in between, where either would
 * be one of the other lines. */
static int64_t look_ahead(const weft_native_pass *pass, const weft_native_piece *piece) {
    enum { AHEAD = 1024, NEAR = 8192, FAR = 65536 };
    int64_t next = pass->loops > 0 ? pass->kernels->lanes * piece->loop_stride[0] : 0;
    if (next <= 0 || next > FAR) return AHEAD;
    return next <= NEAR ? next : 0;
}

/* Line by line in turn is no order that a processor foresees: a tile that lies in one run comes
 * faster from memory if it is read from one end to the other first. */
static void touch_tile(const weft_native_pass *pass, const void *array, const group *g) {
    const weft_native_piece *piece = pass->in.piece;
    const int last = pass->kernels->lanes - 1;
    const int64_t first = line_offset(pass, piece, g, 0), line = piece->loop_stride[0];
    if (g->count <= last || line_offset(pass, piece, g, last) != first + last * line) return;
    const volatile char *byte = (const char *)array + first;
    for (int64_t i = 0; i < (last + 1) * line; i += ALIGNMENT) (void)byte[i];
}

/* Whether it pays: for few lines, stored past the caches from where they are. */
static bool touches(const weft_native_pass *pass) {
    enum { MOST = 16384 };
    const weft_native_piece *piece = &pass->in.whole;
    const int64_t line = piece->points * piece->stride;
    return pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
           pass->in.pieces == 1 && pass->loops > 0 && pass->loop[0] >= pass->kernels->lanes &&
           piece->loop_stride[0] == line && pass->kernels->lanes * line <= MOST;
}

static void load(const weft_native_pass *pass, const void *const *array, const group *g,
                 const work *w) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->in;
    const bool pairs = side->real && pass->halved;
    if (side->access == WEFT_ACROSS) {
        side_rows r = find_rows(pass, side, array, g, side->offset, NULL, w->in);
        if (side->real)
            k->load_real_rows(r.base, r.offset, pass->load_points, pairs, w->tile, pass->load_row,
                              g->count);
        else
            k->load_rows(r.base, r.offset, pass->load_points, w->tile, pass->load_row, g->count);
        return;
    }
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        const void *lines[MOST_LANES];
        const int32_t *rows = pass->load_row + rows_of(pass, side, piece->first);
        int64_t n = rows_of(pass, side, piece->points);
        point_lines(pass, piece, array[p], g, lines);
        if (side->access == WEFT_ALONG && g->count == k->lanes && (!side->real || pairs))
            k->load_lines(lines, n, w->tile, rows, w->touch ? 0 : look_ahead(pass, piece));
        else
            k->gather(lines, piece->stride * (pairs ? 2 : 1),
                      pairs        ? piece->stride
                      : side->real ? 0
                                   : k->real_bytes,
                      n, w->tile, rows, g->count);
    }
}

/* Full tiles of short lines that follow each other, but begin anywhere in a cache line: they are
 * gathered first, so that they can be stored past the caches. */
static void store_gathered(const weft_native_pass *pass, void *array, const group *g,
                           const work *w) {
    const weft_kernels *k = pass->kernels;
    const int64_t line = pass->adjoining;
    const weft_native_side *side = &pass->out;
    const int64_t n = rows_of(pass, side, side->whole.points);
    void *lines[MOST_LANES];
    for (int l = 0; l < k->lanes; l++) lines[l] = w->lines + l * line;
    k->store_lines(w->tile, pass->store_row, n, lines, false);
    k->copy(w->lines, (char *)array + line_offset(pass, side->piece, g, 0), k->lanes * line, true);
}

/* Whether the lines of a tile are as many as it takes, and none of them is a loop away. */
static bool all_adjoin(const weft_native_pass *pass, const group *g) {
    const int last = pass->kernels->lanes - 1;
    return pass->adjoining > 0 && g->count > last &&
           line_offset(pass, &pass->out.whole, g, last) ==
               line_offset(pass, &pass->out.whole, g, 0) + last * pass->adjoining;
}

static void store(const weft_native_pass *pass, void *const *array, const group *g, const work *w,
                  bool stream) {
    const weft_kernels *k = pass->kernels;
    const weft_native_side *side = &pass->out;
    const bool pairs = side->real && pass->halved;
    if (side->access == WEFT_ACROSS) {
        side_rows r =
            find_rows(pass, side, (const void *const *)array, g, side->offset, NULL, w->out);
        void *base = (void *)(uintptr_t)r.base;
        if (side->real)
            k->store_real_rows(w->tile, pass->store_row, pass->store_points, pairs, base, r.offset,
                               g->count);
        else
            k->store_rows(w->tile, pass->store_row, pass->store_points, base, r.offset, g->count);
        return;
    }
    if (pass->stream && !stream && all_adjoin(pass, g)) {
        store_gathered(pass, array[0], g, w);
        return;
    }
    for (int p = 0; p < side->pieces; p++) {
        const weft_native_piece *piece = &side->piece[p];
        const void *found[MOST_LANES];
        void *lines[MOST_LANES];
        const int32_t *rows = pass->store_row + rows_of(pass, side, piece->first);
        int64_t n = rows_of(pass, side, piece->points);
        point_lines(pass, piece, array[p], g, found);
        for (int l = 0; l < g->count; l++) lines[l] = (void *)(uintptr_t)found[l];
        if (side->access == WEFT_ALONG && g->count == k->lanes && (!side->real || pairs))
            k->store_lines(w->tile, rows, n, lines, stream);
        else
            k->scatter(w->tile, rows, n, lines, piece->stride * (pairs ? 2 : 1),
                       pairs        ? piece->stride
                       : side->real ? 0
                                    : k->real_bytes,
                       g->count);
    }
}

/* What stands between load and store. */
static void transform(const weft_native_pass *pass, const group *g, const work *w) {
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
    if (pass->twist_table) {
        int64_t chunk = g->index[0][0] / k->lanes;
        k->twist(w->tile, pass->store_row, pass->n,
                 (const char *)pass->twist_factors + chunk * pass->n * 2 * k->real_bytes,
                 pass->twist_table);
    }
}

bool weft_native_pass_aligned(const weft_native_pass *pass, void *const *array) {
    const bool across = pass->out.access == WEFT_ACROSS;
    uintptr_t bits = 0;
    for (int p = 0; p < pass->out.pieces; p++) {
        const weft_native_piece *piece = &pass->out.piece[p];
        bits |= (uintptr_t)array[p] | (uintptr_t)piece->offset;
        if (across) bits |= (uintptr_t)piece->stride;
        for (int i = across ? 1 : 0; i < pass->loops; i++) bits |= (uintptr_t)piece->loop_stride[i];
    }
    return bits % ALIGNMENT == 0;
}

/* The fused ways from array to tile and back: full tiles of complex lines that are across, of
 * smooth length, with nothing else to do. */
static void load_fused(const weft_native_pass *pass, const void *const *in, const group *g,
                       const work *w) {
    const weft_stages *s = &pass->line.stages;
    side_rows r = find_rows(pass, &pass->in, in, g, pass->in.fused_offset, s->place_of, w->in);
    if (s->count > 1)
        weft_stages_load(s, r.base, r.offset, w->tile);
    else
        s->stage[0].codelet->load(r.base, r.offset, w->tile, 1, 0);
}

static void store_fused(const weft_native_pass *pass, void *const *out, const group *g,
                        const work *w, bool stream) {
    side_rows r = find_rows(pass, &pass->out, (const void *const *)out, g, pass->out.fused_offset,
                            pass->result_of, w->out);
    weft_stages_store(&pass->line.stages, w->tile, (void *)(uintptr_t)r.base, r.offset, stream);
}

static void run_both(const weft_native_pass *pass, const void *const *in, void *const *out,
                     const group *g, const work *w, bool stream) {
    const weft_stages *s = &pass->line.stages;
    side_rows r = find_rows(pass, &pass->in, in, g, pass->in.fused_offset, s->place_of, w->in);
    side_rows to = find_rows(pass, &pass->out, (const void *const *)out, g, pass->out.fused_offset,
                             pass->result_of, w->out);
    s->stage[0].codelet->both(r.base, r.offset, (void *)(uintptr_t)to.base, to.offset, stream);
}

void weft_native_pass_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                          void *scratch, int64_t first, int64_t end) {
    work w = divide(pass, scratch);
    const weft_stages *s = &pass->line.stages;
    const int64_t lanes = pass->kernels->lanes;
    if (pass->by_matrix && pass->kind == WEFT_TRANSFORM_C2C) {
        const int64_t most = end * lanes;
        weft_native_matrices_run(pass, in, out, w.tile, first * lanes,
                                 most < pass->lines ? most : pass->lines);
        return;
    }
    const bool plain = pass->kind == WEFT_TRANSFORM_C2C && !pass->twist_table &&
                       pass->line.method == WEFT_LINE_STAGES && s->count > 0;
    const bool fuse_load = plain && pass->in.access == WEFT_ACROSS;
    const bool fuse_store = plain && pass->out.access == WEFT_ACROSS;
    const bool stream = pass->stream && weft_native_pass_aligned(pass, out);
    w.touch = stream && touches(pass);
    group g;
    for (int64_t number = first; number < end; number++) {
        find_group(pass, number, &g);
        const bool full = g.count == lanes;
        if (pass->by_matrix && 2 * g.count <= lanes) { /* too few for a tile of real lines */
            weft_native_matrices_run(pass, in, out, w.tile, number * lanes,
                                     number * lanes + g.count);
            continue;
        }
        const bool loads = fuse_load && (full || pass->in.padded), stores = fuse_store && full;
        if (loads && stores && s->count == 1) {
            run_both(pass, in, out, &g, &w, stream);
            continue;
        }
        if (w.touch) touch_tile(pass, in[0], &g);
        if (loads)
            load_fused(pass, in, &g, &w);
        else
            load(pass, in, &g, &w);
        if (!plain) {
            transform(pass, &g, &w);
            store(pass, out, &g, &w, stream);
            continue;
        }
        const bool fused_last = stores && s->count > 1;
        weft_stages_run(s, w.tile, loads ? s->inner : 0, fused_last ? s->count - 1 : s->count);
        if (fused_last)
            store_fused(pass, out, &g, &w, stream);
        else
            store(pass, out, &g, &w, stream);
    }
    if (pass->stream) pass->kernels->settle();
}
