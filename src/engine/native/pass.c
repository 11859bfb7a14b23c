/* Makes passes: their loops and views, and which solvers they have. */
#include "engine/native/number.h"
#include "engine/native/solver.h"

#include "support/error.h"

#include <stdint.h>
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
                      const sorted_loop *loop, bool output, weft_native_extent stored,
                      weft_native_side *side) {
    side->real = pass->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    int64_t bytes = element_bytes(pass->kernels, side->real);
    int64_t stride = output ? dim->out_stride : dim->in_stride;
    int64_t lane = pass->loops == 0 ? 0 : output ? loop[0].d.out_stride : loop[0].d.in_stride;
    side->access = access_of(stride, lane, pass->loops > 0 && pass->loop[0] > 1);
    side->pieces = 1;
    side->piece = &side->whole;
    side->points = pass->kind == WEFT_TRANSFORM_C2C || side->real ? pass->n : pass->n / 2 + 1;
    side->stored = stored.low > 0 ? stored : (weft_native_extent){side->points, 0};
    side->whole = (weft_native_piece){.points = stored.high > 0 ? side->points : side->stored.low,
                                      .stride = stride * bytes};
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
    const bool by_number = side->real && (!pass->halved || side->stored.low % 2 != 0);
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

bool weft_native_pass_make_roots(weft_native_pass *pass, size_t *bytes) {
    if (!pass->halved || pass->roots) return true;
    pass->roots = weft_numbers_roots(pass->kernels, pass->n, pass->n / 4 + 1, bytes);
    return pass->roots != NULL;
}

/* Those that take a request are planned, in this order, up to the first that is always ready. */
static const weft_solver *const solvers[] = {&weft_solver_alone,       &weft_solver_matrices,
                                             &weft_solver_interleaved, &weft_solver_codelet,
                                             &weft_solver_half_empty,  &weft_solver_tiles};

void weft_native_pass_choose(weft_native_pass *pass) {
    int i = 0;
    while (i < pass->solvers && pass->planned[i]->ready && !pass->planned[i]->ready(pass)) i++;
    pass->solver = i < pass->solvers ? pass->planned[i] : NULL;
}

/* Plans the solvers, the last of them first. */
static bool plan_solvers(weft_native_pass *pass, const weft_pass_request *request,
                         weft_direction direction, size_t *bytes) {
    for (int i = 0; pass->solvers == 0 || pass->planned[pass->solvers - 1]->ready; i++)
        if (solvers[i]->takes(pass, request)) pass->planned[pass->solvers++] = solvers[i];
    for (int i = pass->solvers - 1; i >= 0; i--)
        if (!pass->planned[i]->plan(pass, request, direction, bytes)) return false;
    weft_native_pass_choose(pass);
    return true;
}

/* Makes the pass, or a half of a round trip; its loops are left in `loop`. */
static weft_status create_half(const weft_pass_request *request, sorted_loop *loop,
                               weft_native_pass *pass, size_t *bytes) {
    memset(pass, 0, sizeof *pass);
    pass->kernels = request->kernels;
    pass->scale = 1;
    pass->ahead = request->ahead;
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
    bool ok = make_pieces(pass, &request->in, loop, &pass->in, bytes) &&
              make_pieces(pass, &request->out, loop, &pass->out, bytes) &&
              plan_solvers(pass, request, direction, bytes);
    if (!ok)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "native engine: no memory for the tables of length %lld",
                         (long long)pass->n);
    return WEFT_SUCCESS;
}

weft_status weft_native_pass_create(const weft_pass_request *request, weft_native_pass *pass,
                                    size_t *bytes) {
    sorted_loop loop[WEFT_PASS_LOOPS];
    if (request->spectrum.count == 0) return create_half(request, loop, pass, bytes);
    weft_pass_request there = *request, back = *request;
    there.out_stored = back.in_stored = (weft_native_extent){0, 0};
    back.direction = WEFT_INVERSE;
    if (request->kind == WEFT_TRANSFORM_R2C) back.kind = WEFT_TRANSFORM_C2R;
    WEFT_TRY(create_half(&there, loop, pass, bytes));
    pass->back = calloc(1, sizeof *pass->back);
    if (!pass->back)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a round trip");
    *bytes += sizeof *pass->back;
    for (int i = 0; i < pass->loops; i++)
        pass->back->loop_stride[i] = request->spectrum.piece->loop_stride[loop[i].number];
    return create_half(&back, loop, &pass->back->pass, bytes);
}

void weft_native_pass_release(weft_native_pass *pass) {
    if (pass->back) weft_native_pass_release(&pass->back->pass);
    free(pass->back);
    for (int i = 0; i < pass->solvers; i++)
        if (pass->planned[i]->release) pass->planned[i]->release(pass);
    free(pass->roots);
    weft_table_return(pass->twiddles);
    if (pass->in.piece != &pass->in.whole) free(pass->in.piece);
    if (pass->out.piece != &pass->out.whole) free(pass->out.piece);
}

size_t weft_native_pass_scratch(const weft_native_pass *pass) {
    size_t most = 0;
    for (int i = 0; i < pass->solvers; i++) {
        const size_t room = pass->planned[i]->room(pass);
        if (room > most) most = room;
    }
    return most;
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
    return bits % WEFT_CACHE_LINE == 0;
}

void weft_native_pass_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                          void *scratch, int64_t number, int64_t first, int64_t end) {
    pass->solver->run(pass, in, out, scratch, number, first, end);
}
