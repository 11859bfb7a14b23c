/*
 * A benchmark problem: what every library computes, its input as a function of the global index,
 * and a check of the output that needs no reference library.
 *
 * The check is a linear functional of the whole output, the sum over all k of w(k) X(k) with
 * w(k) = exp(2 pi i theta.k) for random theta. The same number follows from the input by geometric
 * sums, whatever the distribution: an element that is wrong or misplaced shows, and the difference
 * over the norm of X estimates the relative L2 error.
 */
#ifndef WEFT_BENCH_PROBLEM_H
#define WEFT_BENCH_PROBLEM_H

#include "launch.h"

#include <stdbool.h>
#include <weft/weft.h>

typedef struct bench_problem {
    int rank;                 /* 1 to 3 */
    int64_t n[WEFT_MAX_RANK]; /* global shape in real space */
    weft_kind kind;
    weft_axis axis[WEFT_MAX_RANK]; /* of WEFT_R2R: the forward transform along each */
    weft_precision precision;
    weft_direction direction;
    int64_t batch; /* transforms at once, >= 1; more than one, or strided: one process only */
    bool strided;  /* elements of one transform lie `batch` apart, neighbours are contiguous */
    MPI_Comm comm;
    int me, ranks;
} bench_problem;

/* How one rank's share of an array lies in its buffer. Strides are in elements of the space: real
 * numbers in the input of WEFT_R2C and everywhere in WEFT_R2R, complex numbers elsewhere. */
typedef struct bench_share {
    int64_t lo[WEFT_MAX_RANK], n[WEFT_MAX_RANK]; /* the box */
    int64_t stride[WEFT_MAX_RANK];
    int64_t batch_stride;
} bench_share;

/* Number `index` of SplitMix64 from seed 0. Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014. */
static inline uint64_t bench_random(uint64_t index) {
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The kind as tables and jobs spell it: "c2c", "r2c", or of WEFT_R2R the types of the axes, such as
 * "dct2", where they are the same, or "dst1+dct2". */
enum { BENCH_KIND_BYTES = 5 * WEFT_MAX_RANK };
void bench_kind_text(const bench_problem *p, char text[BENCH_KIND_BYTES]);

/* What a run does along an axis of WEFT_R2R, in its direction. */
weft_axis bench_axis_type(const bench_problem *p, int axis);

/* The space that a run of the problem reads, and the one that it writes. */
weft_space bench_from(const bench_problem *p);
weft_space bench_to(const bench_problem *p);

/* Global extent along an axis in a space: the last is n/2+1 in the output space of WEFT_R2C. */
int64_t bench_extent(const bench_problem *p, weft_space space, int axis);

/* Bytes of an element in a space. */
size_t bench_element_bytes(const bench_problem *p, weft_space space);

/* A row-major share (or, strided, one with the batch contiguous) of the box `box`. */
bench_share bench_share_of(const bench_problem *p, const weft_box *box);

/* Rows `start` ... `start + count - 1` of axis 0, row-major. Rows of real numbers are padded to
 * those of the spectrum, as FFTW-MPI and MKL's cluster FFT have them out of place as well. */
bench_share bench_padded_share(const bench_problem *p, weft_space space, int64_t start,
                               int64_t count);

/* Writes this rank's share of the input (of bench_from). Real spectra are Hermitian, as those of
 * real arrays are. Not collective. */
void bench_fill(const bench_problem *p, const bench_share *share, void *data);

enum { BENCH_PROBES = 2 };

/* What the check of a problem's output must give; the same for all libraries. */
typedef struct bench_expectation {
    double theta[BENCH_PROBES][WEFT_MAX_RANK + 1]; /* turns in [0, 1); [p->rank]: of the batch */
    long double sum[BENCH_PROBES][2];              /* real and imaginary part */
    double norm; /* L2 norm of the output, by Parseval; of WEFT_R2R an estimate */
} bench_expectation;

/* Collective. */
weft_status bench_expect(const bench_problem *p, bench_expectation *expectation);

/* The estimated relative L2 error of an output; NaN where the output holds one. Collective. */
double bench_error(const bench_problem *p, const bench_expectation *expectation,
                   const bench_share *share, const void *data);

/* The error above which a result is wrong: 20 u (1 + sqrt(log2 N)). */
double bench_error_bound(const bench_problem *p);

/* 5 N log2 N for complex, half of it for real transforms, times the batch: benchFFT's convention.
 */
double bench_flops(const bench_problem *p);

#endif
