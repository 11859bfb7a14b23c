/*
 * Rows of the input and of shares, which filling a buffer and checking one have in common.
 */
#ifndef WEFT_BENCH_ROWS_H
#define WEFT_BENCH_ROWS_H

#include "bench/problem.h"

/* Elements of a row that are handled at once. */
enum { BENCH_PIECE = 512 };

/* Numbers that make an element: 1 where it is real. */
int bench_element_parts(const bench_problem *p, weft_space space);

/* Whether the input is half the spectrum of a real array. */
bool bench_is_hermitian(const bench_problem *p);

/* bench_random as a number in [-0.5, 0.5). */
double bench_noise(uint64_t index);

/* -k modulo n. */
int64_t bench_opposite(int64_t k, int64_t n);

/* Row-major number of an element in the whole real array or spectrum, all of the batch counted; and
 * of the element at -k. */
typedef struct bench_number {
    uint64_t here, opposite;
} bench_number;

/* The element k further along an axis, where `base` is at 0. Axis p->rank is the batch. */
bench_number bench_go_along(const bench_problem *p, bench_number base, int axis, int64_t k);

/* Input elements start ... start + count - 1 of the row along `axis` that begins at `base`. A
 * spectrum g of noise becomes that of a real array as g(k) + conj(g(-k)). */
void bench_input_row(const bench_problem *p, bench_number base, int axis, int64_t start,
                     int64_t count, double *value);

/* The axes of a share, the batch (number p->rank) among them, by falling stride, so that rows
 * follow memory whatever its order. */
typedef struct bench_loops {
    int count, axis[WEFT_MAX_RANK + 1];
    int64_t lo[WEFT_MAX_RANK + 1], n[WEFT_MAX_RANK + 1], stride[WEFT_MAX_RANK + 1];
    bool empty;
} bench_loops;

bench_loops bench_loops_of(const bench_problem *p, const bench_share *share);

#endif
