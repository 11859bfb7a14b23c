/*
 * Kernels of the strided copy: each copies one piece, np x nq cells of `cell` bytes. Included by
 * copy.c only.
 *
 * Rows kernels write cell after cell in loop order. Tile kernels are for pieces whose source is
 * dense along p and whose destination is dense along q (a transposition): they move square blocks
 * one cache line wide, so that each line is read once and written once.
 */
#ifndef WEFT_DEVICE_HOST_COPY_KERNELS_H
#define WEFT_DEVICE_HOST_COPY_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && defined(__x86_64__)
#define WEFT_COPY_SSE2 1
#include <emmintrin.h>
#endif

typedef struct weft_piece {
    int64_t np, nq;
    ptrdiff_t src_p, src_q, dst_p, dst_q; /* steps in bytes */
    size_t cell;
} weft_piece;

typedef void (*weft_piece_kernel)(const weft_piece *piece, const char *src, char *dst);

/* Copies a cell in words of `word` bytes. Inlined with constant words it is a few moves, not a
 * call. */
static inline void copy_words(const char *src, char *dst, size_t bytes, size_t word) {
    for (size_t i = 0; i < bytes; i += word) memcpy(dst + i, src + i, word);
}

#define ROWS_KERNEL(name, copy_cell)                                                               \
    static void name(const weft_piece *piece, const char *src, char *dst) {                        \
        const weft_piece b = *piece;                                                               \
        for (int64_t p = 0; p < b.np; ++p) {                                                       \
            const char *s = src + p * b.src_p;                                                     \
            char *d = dst + p * b.dst_p;                                                           \
            for (int64_t q = 0; q < b.nq; ++q, s += b.src_q, d += b.dst_q) copy_cell;              \
        }                                                                                          \
    }

ROWS_KERNEL(rows_of_1, memcpy(d, s, 1))
ROWS_KERNEL(rows_of_2, memcpy(d, s, 2))
ROWS_KERNEL(rows_of_4, memcpy(d, s, 4))
ROWS_KERNEL(rows_of_8, memcpy(d, s, 8))
ROWS_KERNEL(rows_of_16, memcpy(d, s, 16))
ROWS_KERNEL(rows_of_32, memcpy(d, s, 32))
ROWS_KERNEL(rows_of_words_4, copy_words(s, d, b.cell, 4))
ROWS_KERNEL(rows_of_words_8, copy_words(s, d, b.cell, 8))
ROWS_KERNEL(rows_of_words_16, copy_words(s, d, b.cell, 16))
ROWS_KERNEL(rows_of_any, memcpy(d, s, b.cell))

#ifdef WEFT_COPY_SSE2
/* Stores a cell past the caches; d and bytes must be multiples of 8, and the caller does the fence.
 * Prefetches `next`, where the source of the next cell should lie, since hardware prefetchers
 * foresee reads along a row but not the jump to the next one. */
static inline void stream_cell(const char *s, char *d, size_t bytes, uintptr_t next) {
    size_t i = 0;
    long long word;
    if (((uintptr_t)d & 8) != 0 && bytes >= 8) {
        memcpy(&word, s, 8);
        _mm_stream_si64((long long *)(void *)d, word);
        i = 8;
    }
    for (; i + 64 <= bytes; i += 64) {
        __builtin_prefetch((const void *)(next + i), 0, 1);
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(s + i + 32));
        __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(s + i + 48));
        _mm_stream_si128((__m128i *)(void *)(d + i), a);
        _mm_stream_si128((__m128i *)(void *)(d + i + 16), b);
        _mm_stream_si128((__m128i *)(void *)(d + i + 32), c);
        _mm_stream_si128((__m128i *)(void *)(d + i + 48), e);
    }
    for (; i + 16 <= bytes; i += 16)
        _mm_stream_si128((__m128i *)(void *)(d + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(s + i)));
    if (i < bytes) {
        memcpy(&word, s + i, 8);
        _mm_stream_si64((long long *)(void *)(d + i), word);
    }
}

ROWS_KERNEL(rows_streamed, stream_cell(s, d, b.cell, (uintptr_t)s + (uintptr_t)b.src_q))
#endif

/* Copies what square blocks leave over at the end of a piece, and cells for which there is no block
 * kernel. */
static inline void tile_edge(const weft_piece *b, const char *src, char *dst, int64_t p0,
                             int64_t q0, size_t cell) {
    for (int64_t p = p0; p < b->np; ++p)
        for (int64_t q = q0; q < b->nq; ++q)
            memcpy(dst + p * b->dst_p + q * b->dst_q, src + p * b->src_p + q * b->src_q, cell);
}

#ifdef WEFT_COPY_SSE2
static inline void store_16(char *d, __m128i value, bool stream) {
    if (stream)
        _mm_stream_si128((__m128i *)(void *)d, value);
    else
        _mm_storeu_si128((__m128i *)(void *)d, value);
}

static inline __m128i load_16(const char *s) {
    return _mm_loadu_si128((const __m128i *)(const void *)s);
}

/* A 2 x 2 transposition of 8-byte cells. */
static inline void transpose_8(const char *s, char *d, ptrdiff_t src_q, ptrdiff_t dst_p,
                               bool stream) {
    __m128i a = load_16(s), b = load_16(s + src_q);
    store_16(d, _mm_unpacklo_epi64(a, b), stream);
    store_16(d + dst_p, _mm_unpackhi_epi64(a, b), stream);
}

/* A 4 x 4 transposition of 4-byte cells. */
static inline void transpose_4(const char *s, char *d, ptrdiff_t src_q, ptrdiff_t dst_p,
                               bool stream) {
    __m128i r0 = load_16(s), r1 = load_16(s + src_q);
    __m128i r2 = load_16(s + 2 * src_q), r3 = load_16(s + 3 * src_q);
    __m128i a = _mm_unpacklo_epi32(r0, r1), b = _mm_unpacklo_epi32(r2, r3);
    __m128i c = _mm_unpackhi_epi32(r0, r1), e = _mm_unpackhi_epi32(r2, r3);
    store_16(d, _mm_unpacklo_epi64(a, b), stream);
    store_16(d + dst_p, _mm_unpackhi_epi64(a, b), stream);
    store_16(d + 2 * dst_p, _mm_unpacklo_epi64(c, e), stream);
    store_16(d + 3 * dst_p, _mm_unpackhi_epi64(c, e), stream);
}

static inline void transpose_16(const char *s, char *d, ptrdiff_t src_q, ptrdiff_t dst_p,
                                bool stream) {
    (void)src_q;
    (void)dst_p;
    store_16(d, load_16(s), stream);
}

/* Walks a piece with src_p == dst_q == cell in blocks of one cache line square, each made of
 * 16-byte transpositions that read `side` cells along p and write `side` cells along q. */
#define TILE_KERNEL(name, cell_bytes, transpose, stream)                                           \
    static void name(const weft_piece *piece, const char *src, char *dst) {                        \
        enum { LINE = 64 / (cell_bytes), SIDE = 16 / (cell_bytes) };                               \
        const weft_piece b = *piece;                                                               \
        int64_t p_end = b.np - b.np % LINE, q_end = b.nq - b.nq % LINE;                            \
        for (int64_t q0 = 0; q0 < q_end; q0 += LINE)                                               \
            for (int64_t p0 = 0; p0 < p_end; p0 += LINE) {                                         \
                const char *s = src + p0 * (cell_bytes) + q0 * b.src_q;                            \
                char *d = dst + p0 * b.dst_p + q0 * (cell_bytes);                                  \
                for (int p = 0; p < LINE; p += SIDE)                                               \
                    for (int q = 0; q < LINE; q += SIDE)                                           \
                        transpose(s + p * (cell_bytes) + q * b.src_q,                              \
                                  d + p * b.dst_p + q * (cell_bytes), b.src_q, b.dst_p, stream);   \
            }                                                                                      \
        tile_edge(&b, src, dst, p_end, 0, cell_bytes);                                             \
        weft_piece rest = b;                                                                       \
        rest.np = p_end;                                                                           \
        tile_edge(&rest, src, dst, 0, q_end, cell_bytes);                                          \
    }

TILE_KERNEL(tile_of_4, 4, transpose_4, false)
TILE_KERNEL(tile_of_8, 8, transpose_8, false)
TILE_KERNEL(tile_of_16, 16, transpose_16, false)
TILE_KERNEL(tile_streamed_4, 4, transpose_4, true)
TILE_KERNEL(tile_streamed_8, 8, transpose_8, true)
TILE_KERNEL(tile_streamed_16, 16, transpose_16, true)
#endif

#endif
