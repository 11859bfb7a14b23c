/* Makes passes: their loops, views, rows and tables. */
#include "engine/native/pass.h"
#include "engine/native/number.h"
#include "engine/native/supports.h"
#include "engine/smooth.h"

#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

static int64_t element_bytes(const weft_kernels *kernels, bool real) {
    return kernels->real_bytes * (real ? 1 : 2);
}

static weft_access access_of(int64_t axis_stride, int64_t lane_stride, bool lanes) {
    if (lanes && lane_stride == 1) return WEFT_ACROSS;
    return axis_stride == 1 ? WEFT_ALONG : WEFT_STRIDED;
}

static int64_t reach(const weft_dimension *loop) {
    return llabs(loop->in_stride) + llabs(loop->out_stride);
}

/* A loop, and its number in the request. A loop merged from several has the number of the
 * innermost. */
typedef struct sorted_loop {
    int number;
    weft_dimension d;
} sorted_loop;

/* Removes loops of one index and sorts the others by stride, the smallest first. */
static int sort_loops(const weft_pass_request *request, sorted_loop *loop) {
    int loops = 0;
    for (int i = 0; i < request->loops; i++) {
        if (request->loop[i].n == 1) continue;
        int at = loops++;
        for (; at > 0 && reach(&loop[at - 1].d) > reach(&request->loop[i]); at--)
            loop[at] = loop[at - 1];
        loop[at] = (sorted_loop){i, request->loop[i]};
    }
    return loops;
}

static void to_front(sorted_loop *loop, int i) {
    sorted_loop chosen = loop[i];
    memmove(&loop[1], &loop[0], (size_t)i * sizeof *loop);
    loop[0] = chosen;
}

static int find_neighbour(const sorted_loop *loop, int loops, bool out) {
    for (int i = 0; i < loops; i++)
        if ((out ? loop[i].d.out_stride : loop[i].d.in_stride) == 1) return i;
    return -1;
}

/* Puts first the loop whose lines are neighbours in memory, so that tiles run across them. If the
 * two sides have different such loops, that of the input comes first and that of the output second,
 * so that cache lines that one tile stores in part are soon completed by the next. */
static void order_loops(const weft_pass_request *request, sorted_loop *loop, int loops) {
    int out = request->dim.out_stride == 1 ? -1 : find_neighbour(loop, loops, true);
    if (out >= 0) to_front(loop, out);
    int in = request->dim.in_stride == 1 ? -1 : find_neighbour(loop, loops, false);
    if (in >= 0) to_front(loop, in);
}

/* Whether two loops can become one, since one stride covers both in every piece. */
static bool mergeable_in(const weft_native_pieces *pieces, const sorted_loop *inner,
                         const sorted_loop *outer) {
    for (int p = 0; p < pieces->count; p++) {
        const int64_t *stride = pieces->piece[p].loop_stride;
        if (stride[outer->number] != inner->d.n * stride[inner->number]) return false;
    }
    return true;
}

static bool mergeable(const weft_pass_request *request, const sorted_loop *inner,
                      const sorted_loop *outer) {
    const int64_t n = inner->d.n;
    return mergeable_in(&request->in, inner, outer) && mergeable_in(&request->out, inner, outer) &&
           mergeable_in(&request->spectrum, inner, outer) &&
           outer->d.in_stride == n * inner->d.in_stride &&
           outer->d.out_stride == n * inner->d.out_stride;
}

static int merge_loops(const weft_pass_request *request, sorted_loop *loop, int loops) {
    int kept = 0;
    for (int i = 1; i < loops; i++) {
        sorted_loop *inner = &loop[kept];
        if (mergeable(request, inner, &loop[i]))
            inner->d.n *= loop[i].d.n;
        else
            loop[++kept] = loop[i];
    }
    return loops > 0 ? kept + 1 : 0;
}

static void make_side(const weft_native_pass *pass, const weft_dimension *dim,
                      const sorted_loop *loop, bool output, int64_t stored,
                      weft_native_side *side) {
    side->real = pass->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    int64_t bytes = element_bytes(pass->kernels, side->real);
    int64_t stride = output ? dim->out_stride : dim->in_stride;
    int64_t lane = pass->loops == 0 ? 0 : output ? loop[0].d.out_stride : loop[0].d.in_stride;
    side->access = access_of(stride, lane, pass->loops > 0 && pass->loop[0] > 1);
    side->pieces = 1;
    side->piece = &side->whole;
    side->points = pass->kind == WEFT_TRANSFORM_C2C || side->real ? pass->n : pass->n / 2 + 1;
    side->stored = stored > 0 ? stored : side->points;
    side->whole = (weft_native_piece){.points = side->stored, .stride = stride * bytes};
    for (int i = 0; i < pass->loops; i++)
        side->whole.loop_stride[i] = (output ? loop[i].d.out_stride : loop[i].d.in_stride) * bytes;
}

/* Bytes of a contiguous line as it is stored, if the next line begins at its end and a tile of such
 * lines is short; otherwise 0. Real lines of odd length, or of which an odd number of points is
 * stored, are excluded, since they are stored number by number. */
static int64_t adjoining_bytes(const weft_native_pass *pass) {
    enum { MOST = 1 << 15 };
    const weft_native_side *side = &pass->out;
    const int64_t line = side->whole.points * side->whole.stride, lanes = pass->kernels->lanes;
    const bool by_number = side->real && (!pass->halved || side->stored % 2 != 0);
    bool adjoin = side->access == WEFT_ALONG && !by_number && pass->loops > 0 &&
                  side->pieces == 1 && pass->loop[0] >= lanes && side->whole.loop_stride[0] == line;
    return adjoin && lanes * line <= MOST ? line : 0;
}

/* Copies the request's pieces of one side, with strides in bytes and loops in the order of the
 * pass. */
static bool make_pieces(const weft_native_pass *pass, const weft_native_pieces *pieces,
                        const sorted_loop *loop, weft_native_side *side, size_t *bytes) {
    const int64_t element = element_bytes(pass->kernels, side->real);
    if (pieces->count == 0) return true;
    size_t size = (size_t)pieces->count * sizeof *side->piece;
    weft_native_piece *piece = malloc(size);
    if (!piece) return false;
    *bytes += size;
    for (int p = 0; p < pieces->count; p++) {
        const weft_native_piece *given = &pieces->piece[p];
        piece[p] = *given;
        piece[p].offset *= element;
        piece[p].stride *= element;
        for (int i = 0; i < pass->loops; i++)
            piece[p].loop_stride[i] = given->loop_stride[loop[i].number] * element;
    }
    side->pieces = pieces->count;
    side->piece = piece;
    return true;
}

static bool make_roots(weft_native_pass *pass, size_t *bytes) {
    pass->roots = weft_numbers_roots(pass->kernels, pass->n, pass->n / 4 + 1, bytes);
    return pass->roots != NULL;
}

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

bool weft_native_pass_takes_matrices(const weft_kernels *kernels, weft_transform_kind kind,
                                     const weft_dimension *dim) {
    const bool halved = kind != WEFT_TRANSFORM_C2C && dim->n % 2 == 0;
    return dim->in_stride == 1 && dim->out_stride == 1 && (kind == WEFT_TRANSFORM_C2C || halved) &&
           weft_matrix_suits(kernels, halved ? dim->n / 2 : dim->n);
}

static bool could_be_matrices(const weft_native_pass *pass) {
    return pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
           (pass->kind == WEFT_TRANSFORM_C2C || pass->halved) &&
           weft_matrix_suits(pass->kernels, pass->line.n);
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

/* Lines on either side that lie in one array and stay in the caches are transformed on interleaved
 * numbers, with the bits of tiles, whatever the array is a part of. */
static bool make_interleaved(weft_native_pass *pass, const weft_pass_request *request,
                             weft_direction direction, size_t *bytes) {
    const weft_access access = pass->in.access;
    const bool whole = weft_native_side_is_whole(&pass->in) &&
                       weft_native_side_is_whole(&pass->out) && request->in.count == 0 &&
                       request->out.count == 0 && request->spectrum.count == 0;
    const weft_stages *stages = &pass->line.stages;
    if (!request->cached || !whole || access != pass->out.access ||
        pass->solver == WEFT_PASS_MATRIX || pass->kind != WEFT_TRANSFORM_C2C ||
        pass->line.method != WEFT_LINE_STAGES || stages->count == 0)
        return true;
    const bool rows = access == WEFT_ALONG && pass->loops == 1;
    if (!rows && access != WEFT_ACROSS) return true;
    const int64_t number = weft_complex_bytes(pass->kernels);
    const weft_native_piece *in = pass->in.piece, *out = pass->out.piece;
    return weft_interleaved_create(
        stages, rows, pass->loop[0], (rows ? in->loop_stride[0] : in->stride) / number,
        (rows ? out->loop_stride[0] : out->stride) / number, direction, &pass->interleaved, bytes);
}

/* Makes what lines in tiles need, or those that are transformed as matrices. Where the tiles are
 * listed, the indices of their lines are not known when they are run. */
static bool make_tiles(weft_native_pass *pass, weft_direction direction, bool lists,
                       size_t *bytes) {
    bool ok = weft_line_create(pass->kernels, pass->line.n, direction, &pass->line, bytes) &&
              make_rows(pass, bytes) && make_order(pass, direction, bytes);
    bool plain = pass->kind == WEFT_TRANSFORM_C2C && pass->line.method == WEFT_LINE_STAGES;
    ok = ok && make_offsets(&pass->in, plain ? pass->line.stages.place_of : NULL, bytes) &&
         make_offsets(&pass->out, plain ? pass->result_of : NULL, bytes);
    if (ok && could_be_matrices(pass)) pass->solver = WEFT_PASS_MATRIX;
    ok = ok && (!lists || list_tiles(pass, bytes));
    pass->real_codelet = pass->kernels->find_real_codelet(pass->n);
    const bool one = pass->kind == WEFT_TRANSFORM_C2C ? plain && pass->line.stages.count == 1
                                                      : pass->real_codelet >= 0;
    if (ok && one && pass->solver == WEFT_PASS_TILES && pass->tile &&
        pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
        weft_native_side_is_whole(&pass->in) && weft_native_side_is_whole(&pass->out))
        pass->solver = WEFT_PASS_CODELET;
    pass->inverse = direction == WEFT_INVERSE;
    return ok && (pass->solver != WEFT_PASS_MATRIX ||
                  weft_matrix_create(pass->kernels, pass->line.n, direction, &pass->matrix, bytes));
}

/* Whether a contiguous line of n complex points can be transformed alone, and no better as a
 * matrix, which is for lines that the first-level cache does not hold; with vectors of 64 bytes,
 * for those beyond twice as much, as measured on a Xeon. */
static bool takes_alone(const weft_kernels *kernels, int64_t n, bool paired) {
    enum { FIRST_LEVEL = 32768 };
    const bool matrix = paired && weft_matrix_suits(kernels, n);
    const int64_t bytes = n * weft_complex_bytes(kernels);
    const bool beyond = weft_lone_is_wide(kernels) ? bytes > 2 * FIRST_LEVEL : bytes >= FIRST_LEVEL;
    return !(matrix && beyond) && weft_lone_suits(kernels, n);
}

/* The codelet that transforms several lines of n points at a time, or NULL. */
static const weft_lone_line *short_line(const weft_kernels *kernels, int64_t n) {
    const weft_lone_line *line = weft_lone_find_line(kernels, n);
    return line && line->lines ? line : NULL;
}

/* Whether contiguous complex lines of a batch, or real ones of `pairs` of points, are faster one by
 * one, with their own points in the lanes, than side by side in the lanes of a tile, where they are
 * transposed before and after; lines that no tile holds are. Nanoseconds of both, fitted to the
 * times on a Zen 4 core with AVX-512, and on a Zen 3 core, where a tile takes longer, most of all
 * one that the second-level cache hardly holds; those of real lines with AVX-512 on a Xeon. Real
 * lines there and back are done alike, lest a round trip has other bits than both ways apart. */
static bool is_faster_alone(const weft_pass_request *r, int64_t n, bool pairs) {
    const double call = 1;
    const weft_kernels *kernels = r->kernels;
    const bool single = kernels->real_bytes == sizeof(float), wide = weft_lone_is_wide(kernels);
    if (n < 2 || !takes_alone(kernels, n, true)) return false;
    if (n > WEFT_NATIVE_LONGEST_TILE) return true;
    const int64_t few_pairs = single ? 96 : 24;
    if (!r->alone || (pairs && wide && n < few_pairs)) return false;
    const double passed = (single ? 0.47 : 0.67) * (double)n;
    const double in_tile = passed + (single ? 0.034 : 0.10) * weft_line_cost(kernels, n);
    const double split = (wide ? (single ? 0.17 : 0.3) : (single ? 0.25 : 0.4)) * (double)n;
    const double alone = weft_lone_cost(kernels, n) + (pairs ? 10 * call + split : call);
    const bool spills = (size_t)n * WEFT_ROW_BYTES > weft_topology_get()->l2 / 2;
    const double of_pairs = single ? 1.2 : 1.1;
    return alone < in_tile * (wide ? (pairs ? of_pairs : 1) : spills ? 2 : 1.4);
}

/* Short complex lines, which a codelet transforms from where they lie, always are, as are the
 * shortest real ones. */
static bool takes_batch_alone(const weft_pass_request *r) {
    enum { SHORTEST = 12 };
    const int64_t n = r->dim.n;
    if (r->kind == WEFT_TRANSFORM_C2C)
        return (r->alone && short_line(r->kernels, n)) || is_faster_alone(r, n, false);
    if (n <= SHORTEST) return r->alone && weft_lone_find_line(r->kernels, n);
    if (n % 2 != 0) return n > WEFT_NATIVE_LONGEST_TILE && is_faster_alone(r, n, false);
    return is_faster_alone(r, n / 2, true);
}

bool weft_native_pass_takes_alone(const weft_pass_request *r) {
    const bool real = r->kind != WEFT_TRANSFORM_C2C, halved = real && r->dim.n % 2 == 0;
    if (r->dim.in_stride != 1 || r->dim.out_stride != 1) return false;
    if (r->loops > 0 || r->in_batch) return takes_batch_alone(r);
    return takes_alone(r->kernels, halved ? r->dim.n / 2 : r->dim.n, !real || halved);
}

/* Short lines of a batch take the codelet, were there one of them on this rank, so that each has
 * the bits of the whole batch. */
static bool make_lone(weft_native_pass *pass, const weft_pass_request *request,
                      weft_direction direction, size_t *bytes) {
    const bool batch = request->loops > 0 || request->in_batch;
    const weft_lone_line *line = batch ? short_line(pass->kernels, pass->line.n) : NULL;
    if (!line) return weft_lone_create(pass->kernels, pass->line.n, direction, &pass->lone, bytes);
    weft_lone_create_line(pass->kernels, line, direction, &pass->lone);
    return true;
}

static bool make_tables(weft_native_pass *pass, const weft_pass_request *request,
                        weft_direction direction, size_t *bytes) {
    if (pass->halved && !make_roots(pass, bytes)) return false;
    return pass->solver == WEFT_PASS_ALONE
               ? make_lone(pass, request, direction, bytes)
               : make_tiles(pass, direction, request->spectrum.count == 0, bytes) &&
                     make_interleaved(pass, request, direction, bytes);
}

/* Makes the pass, or a half of a round trip, without tiles where `alone`; its loops are left in
 * `loop`. */
static weft_status create_half(const weft_pass_request *request, bool alone, sorted_loop *loop,
                               weft_native_pass *pass, size_t *bytes) {
    memset(pass, 0, sizeof *pass);
    pass->kernels = request->kernels;
    pass->scale = 1;
    pass->kind = request->kind;
    pass->n = request->dim.n;
    pass->halved = pass->kind != WEFT_TRANSFORM_C2C && pass->n % 2 == 0;
    pass->loops = sort_loops(request, loop);
    order_loops(request, loop, pass->loops);
    pass->loops = merge_loops(request, loop, pass->loops);
    int64_t lines = 1;
    for (int i = 0; i < pass->loops; i++) lines *= pass->loop[i] = loop[i].d.n;
    pass->lines = lines;
    make_side(pass, &request->dim, loop, false, request->in_stored, &pass->in);
    make_side(pass, &request->dim, loop, true, request->out_stored, &pass->out);
    pass->by_loop = pass->in.access == WEFT_ACROSS || pass->out.access == WEFT_ACROSS;
    const int64_t lanes = pass->kernels->lanes;
    pass->tiles = pass->by_loop ? (pass->loop[0] + lanes - 1) / lanes * (lines / pass->loop[0])
                                : (lines + lanes - 1) / lanes;

    weft_direction direction = pass->kind == WEFT_TRANSFORM_C2C   ? request->direction
                               : pass->kind == WEFT_TRANSFORM_R2C ? WEFT_FORWARD
                                                                  : WEFT_INVERSE;
    pass->line.n = pass->halved ? pass->n / 2 : pass->n;
    pass->adjoining = adjoining_bytes(pass);
    if (alone) pass->solver = WEFT_PASS_ALONE;
    if (alone && pass->kind != WEFT_TRANSFORM_C2C)
        pass->real_line = weft_lone_find_line(pass->kernels, pass->n);
    bool ok = make_pieces(pass, &request->in, loop, &pass->in, bytes) &&
              make_pieces(pass, &request->out, loop, &pass->out, bytes) &&
              (pass->real_line || make_tables(pass, request, direction, bytes));
    if (!ok)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "native engine: no memory for the tables of length %lld",
                         (long long)pass->n);
    return WEFT_SUCCESS;
}

weft_status weft_native_pass_create(const weft_pass_request *request, weft_native_pass *pass,
                                    size_t *bytes) {
    sorted_loop loop[WEFT_PASS_LOOPS];
    const bool alone = weft_native_pass_takes_alone(request);
    if (request->spectrum.count == 0) return create_half(request, alone, loop, pass, bytes);
    weft_pass_request there = *request, back = *request;
    there.out_stored = back.in_stored = 0;
    back.direction = WEFT_INVERSE;
    if (request->kind == WEFT_TRANSFORM_R2C) back.kind = WEFT_TRANSFORM_C2R;
    WEFT_TRY(create_half(&there, alone, loop, pass, bytes));
    pass->back = calloc(1, sizeof *pass->back);
    if (!pass->back)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a round trip");
    *bytes += sizeof *pass->back;
    for (int i = 0; i < pass->loops; i++)
        pass->back->loop_stride[i] = request->spectrum.piece->loop_stride[loop[i].number];
    return create_half(&back, alone, loop, &pass->back->pass, bytes);
}

void weft_native_pass_release(weft_native_pass *pass) {
    if (pass->back) weft_native_pass_release(&pass->back->pass);
    free(pass->back);
    weft_line_release(&pass->line);
    if (pass->solver == WEFT_PASS_MATRIX) weft_matrix_release(&pass->matrix);
    if (pass->solver == WEFT_PASS_ALONE) weft_lone_release(&pass->lone);
    weft_interleaved_release(&pass->interleaved);
    free(pass->roots);
    free(pass->load_row);
    free(pass->store_row);
    free(pass->result_of);
    free(pass->tile);
    free(pass->in.offset);
    free(pass->in.fused_offset);
    free(pass->out.offset);
    free(pass->out.fused_offset);
    weft_table_return(pass->twiddles);
    if (pass->in.piece != &pass->in.whole) free(pass->in.piece);
    if (pass->out.piece != &pass->out.whole) free(pass->out.piece);
}
