/*
 * The strided copy of host memory: pack, unpack and transposition are all this one function.
 *
 * A copy is cut into pieces of two axes that fit the cache, and a loop nest runs over the pieces.
 * Three shapes cover the views of the library: rows       both sides are dense along the last axis:
 * cells of a row at a time; transposition  the source is dense along one axis and the destination
 * along another: blocks of cache lines; anything else  cell by cell, in small tiles when the two
 * sides run along different axes. Threads take equal runs of pieces. Large copies store past the
 * caches, which saves reading what is overwritten.
 */
#include "device/device.h"
#include "device/host/copy_kernels.h"
#include "support/least.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    BYTES_PER_THREAD = 128 << 10, /* below this a thread costs more than it copies */
    STREAM_FROM = 8 << 20,        /* copies of so many bytes do not stay in cache anyway */
    ROW_PIECE = 256 << 10,        /* bytes of a piece made of rows */
    TILE_P = 2048,    /* bytes of a transposed piece along the source's dense axis: reads run far */
    TILE_Q = 1024,    /* and along the destination's: within what the TLB can hold */
    LARGE_CELL = 256, /* cells from here on need no tiles: each fills cache lines by itself */
};

typedef struct copy_axis {
    int64_t n;
    ptrdiff_t src, dst; /* steps in bytes */
} copy_axis;

/* Loops over pieces, slowest first; the last three walk the p axis, the q axis and the cell in
 * chunks. */
typedef struct copy_nest {
    int loops;
    copy_axis loop[WEFT_AXES + 3];
    weft_piece whole; /* extents of the p axis, the q axis and the cell */
    int64_t p_chunk, q_chunk;
    size_t cell_chunk;
    weft_piece_kernel kernel;
} copy_nest;

static weft_piece_kernel rows_kernel(size_t cell) {
    switch (cell) {
    case 1:
        return rows_of_1;
    case 2:
        return rows_of_2;
    case 4:
        return rows_of_4;
    case 8:
        return rows_of_8;
    case 16:
        return rows_of_16;
    case 32:
        return rows_of_32;
    default:
        break;
    }
    if (cell > LARGE_CELL) return rows_of_any;
    if (cell % 16 == 0) return rows_of_words_16;
    if (cell % 8 == 0) return rows_of_words_8;
    return cell % 4 == 0 ? rows_of_words_4 : rows_of_any;
}

#ifdef WEFT_COPY_SSE2
/* Whether every cell of the destination starts on, and covers, multiples of `granule` bytes. */
static bool destination_aligned(const copy_nest *nest, const char *dst, uintptr_t granule) {
    uintptr_t all = (uintptr_t)dst | (uintptr_t)nest->whole.dst_p;
    for (int i = 0; i < nest->loops; ++i) all |= (uintptr_t)nest->loop[i].dst;
    return all % granule == 0;
}

static weft_piece_kernel tile_kernel(size_t cell, bool stream) {
    switch (cell) {
    case 4:
        return stream ? tile_streamed_4 : tile_of_4;
    case 8:
        return stream ? tile_streamed_8 : tile_of_8;
    case 16:
        return stream ? tile_streamed_16 : tile_of_16;
    default:
        return NULL;
    }
}
#endif

/* Sets kernel and chunks for a piece of rows. */
static void choose_rows(copy_nest *nest, const char *dst, bool large, int threads) {
    weft_piece *b = &nest->whole;
    nest->kernel = rows_kernel(b->cell);
#ifdef WEFT_COPY_SSE2
    if (large && b->cell >= LARGE_CELL && b->cell % 8 == 0 && b->dst_q % 8 == 0 &&
        destination_aligned(nest, dst, 8))
        nest->kernel = rows_streamed;
#else
    (void)dst, (void)large;
#endif
    if (threads > 1 && b->cell > 2 * ROW_PIECE) nest->cell_chunk = ROW_PIECE;
    int64_t cells = ROW_PIECE / weft_least((int64_t)b->cell, ROW_PIECE);
    nest->q_chunk = cells;
    nest->p_chunk = b->nq < cells ? cells / b->nq : 1;
}

/* Sets kernel and chunks for a piece whose two sides run along different axes. */
static void choose_tiles(copy_nest *nest, const char *dst, bool large) {
    weft_piece *b = &nest->whole;
    nest->kernel = rows_kernel(b->cell);
    nest->p_chunk = TILE_P / (int64_t)b->cell;
    nest->q_chunk = TILE_Q / (int64_t)b->cell;
#ifdef WEFT_COPY_SSE2
    if (b->src_p != (ptrdiff_t)b->cell || b->dst_q != (ptrdiff_t)b->cell) return;
    weft_piece_kernel kernel = tile_kernel(b->cell, large && destination_aligned(nest, dst, 64));
    if (kernel) nest->kernel = kernel;
#else
    (void)dst, (void)large;
#endif
}

/* Takes axis `a` out of the list. */
static copy_axis take_axis(copy_axis *axis, int *axes, int a) {
    copy_axis taken = axis[a];
    for (int i = a + 1; i < *axes; ++i) axis[i - 1] = axis[i];
    --*axes;
    return taken;
}

static int densest_source(const copy_axis *axis, int axes) {
    int best = axes - 1;
    for (int a = axes - 2; a >= 0; --a)
        if (axis[a].src < axis[best].src) best = a;
    return best;
}

static void add_chunks(copy_nest *nest, int64_t n, int64_t chunk, ptrdiff_t src, ptrdiff_t dst) {
    nest->loop[nest->loops++] = (copy_axis){(n + chunk - 1) / chunk, src * chunk, dst * chunk};
}

static copy_nest nest_of(const weft_copy *copy, const char *dst, int threads) {
    copy_nest nest = {0};
    ptrdiff_t element = (ptrdiff_t)copy->element_bytes;
    bool large = copy->elements >= STREAM_FROM / element;
    copy_axis *axis = nest.loop;
    int axes = copy->axes;
    for (int a = 0; a < axes; ++a)
        axis[a] =
            (copy_axis){copy->n[a], copy->src_stride[a] * element, copy->dst_stride[a] * element};
    weft_piece *b = &nest.whole;
    b->cell = copy->element_bytes;
    if (axes > 0 && axis[axes - 1].src == element && axis[axes - 1].dst == element)
        b->cell *= (size_t)axis[--axes].n;

    bool tiles = axes > 1 && b->cell < LARGE_CELL && densest_source(axis, axes) != axes - 1;
    copy_axis q = {1, 0, 0}, p = {1, 0, 0};
    if (axes > 0) {
        int dense = tiles ? densest_source(axis, axes) : axes - 2;
        q = axis[--axes];
        if (axes > 0) p = take_axis(axis, &axes, dense);
    }
    b->np = p.n, b->src_p = p.src, b->dst_p = p.dst;
    b->nq = q.n, b->src_q = q.src, b->dst_q = q.dst;

    nest.loops = axes; /* the chunk loops follow once the chunks are chosen */
    nest.cell_chunk = b->cell;
    if (tiles)
        choose_tiles(&nest, dst, large);
    else
        choose_rows(&nest, dst, large, threads);
    add_chunks(&nest, b->np, nest.p_chunk, b->src_p, b->dst_p);
    add_chunks(&nest, b->nq, nest.q_chunk, b->src_q, b->dst_q);
    add_chunks(&nest, (int64_t)b->cell, (int64_t)nest.cell_chunk, 1, 1);
    return nest;
}

/* Copies pieces first to last - 1. */
static void run_pieces(const copy_nest *nest, const char *src, char *dst, int64_t first,
                       int64_t last) {
    int64_t index[WEFT_AXES + 3] = {0};
    ptrdiff_t src_at = 0, dst_at = 0;
    int64_t rest = first;
    for (int i = nest->loops - 1; i >= 0; --i) {
        index[i] = rest % nest->loop[i].n;
        rest /= nest->loop[i].n;
        src_at += index[i] * nest->loop[i].src;
        dst_at += index[i] * nest->loop[i].dst;
    }
    const int64_t *at = index + nest->loops - 3;
    const weft_piece *whole = &nest->whole;
    weft_piece piece = *whole;
    for (int64_t i = first; i < last; ++i) {
        piece.np = weft_least(nest->p_chunk, whole->np - at[0] * nest->p_chunk);
        piece.nq = weft_least(nest->q_chunk, whole->nq - at[1] * nest->q_chunk);
        piece.cell = (size_t)weft_least((int64_t)nest->cell_chunk,
                                        (int64_t)whole->cell - at[2] * (int64_t)nest->cell_chunk);
        nest->kernel(&piece, src + src_at, dst + dst_at);
        for (int l = nest->loops - 1; l >= 0; --l) {
            const copy_axis *loop = &nest->loop[l];
            src_at += loop->src;
            dst_at += loop->dst;
            if (++index[l] < loop->n) break;
            src_at -= loop->n * loop->src;
            dst_at -= loop->n * loop->dst;
            index[l] = 0;
        }
    }
#ifdef WEFT_COPY_SSE2
    _mm_sfence(); /* streamed stores become visible before the copy counts as done */
#endif
}

/* The number of threads worth starting for so many bytes. */
static int useful_threads(int64_t bytes, int threads) {
#ifdef _OPENMP
    int64_t most = bytes / BYTES_PER_THREAD;
    if (threads > most) threads = (int)most;
    return threads < 1 ? 1 : threads;
#else
    (void)bytes, (void)threads;
    return 1;
#endif
}

void weft_copy_run(const weft_copy *copy, const void *src, void *dst, int threads) {
    if (copy->elements == 0) return;
    const char *from = (const char *)src + copy->src_offset * (ptrdiff_t)copy->element_bytes;
    char *to = (char *)dst + copy->dst_offset * (ptrdiff_t)copy->element_bytes;
    threads = useful_threads(copy->elements * (int64_t)copy->element_bytes, threads);
    copy_nest nest = nest_of(copy, to, threads);
    int64_t pieces = 1;
    for (int i = 0; i < nest.loops; ++i) pieces *= nest.loop[i].n;
#ifdef _OPENMP
    if (threads > 1 && pieces > 1) {
#pragma omp parallel num_threads(threads)
        {
            int64_t all = omp_get_num_threads(), me = omp_get_thread_num();
            run_pieces(&nest, from, to, pieces * me / all, pieces * (me + 1) / all);
        }
        return;
    }
#endif
    run_pieces(&nest, from, to, 0, pieces);
}
