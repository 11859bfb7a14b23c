/*
 * FFTW-MPI as it is found at run time. It is GPL, so it is neither linked nor is its header
 * included: the few prototypes are written here from the FFTW manual (chapter 6,
 * "Distributed-memory FFTW with MPI"). One table serves libfftw3_mpi and libfftw3f_mpi.
 */
#ifndef WEFT_BENCH_FFTW_MPI_LIBRARY_H
#define WEFT_BENCH_FFTW_MPI_LIBRARY_H

#include "engine/fftw/library.h"

#include <mpi.h>

enum { FFTW_MPI_TRANSPOSED_IN_FLAG = 1u << 29, FFTW_MPI_TRANSPOSED_OUT_FLAG = 1u << 30 };

typedef struct fftw_mpi_library {
    void (*init)(void);
    /* Complex numbers to allocate, and this rank's part of axis 0, and of axis 1 when transposed.
     * Block sizes 0: FFTW's choice. */
    ptrdiff_t (*local_size)(int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t block0,
                            ptrdiff_t block1, MPI_Comm comm, ptrdiff_t *n0, ptrdiff_t *start0,
                            ptrdiff_t *n1, ptrdiff_t *start1);
    /* The same in one dimension: this rank's part of the input, and of the output. */
    ptrdiff_t (*local_size_1d)(ptrdiff_t n, MPI_Comm comm, int sign, unsigned flags,
                               ptrdiff_t *in_n, ptrdiff_t *in_start, ptrdiff_t *out_n,
                               ptrdiff_t *out_start);
    weft_fftw_plan (*plan_c2c)(int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t in_block,
                               ptrdiff_t out_block, void *in, void *out, MPI_Comm comm, int sign,
                               unsigned flags);
    weft_fftw_plan (*plan_c2c_1d)(ptrdiff_t n, void *in, void *out, MPI_Comm comm, int sign,
                                  unsigned flags);
    weft_fftw_plan (*plan_r2c)(int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t in_block,
                               ptrdiff_t out_block, void *in, void *out, MPI_Comm comm,
                               unsigned flags);
    weft_fftw_plan (*plan_c2r)(int rank, const ptrdiff_t *n, ptrdiff_t howmany, ptrdiff_t in_block,
                               ptrdiff_t out_block, void *in, void *out, MPI_Comm comm,
                               unsigned flags);
    weft_fftw_execute execute_c2c, execute_r2c, execute_c2r;
} fftw_mpi_library;

/* The library of a contestant ("fftw-mpi", "fftw-mpi-avx512") for a precision, opened and
 * initialized by the first call and kept for the life of the process; NULL, with the reason as the
 * thread's last error, where it cannot be had or speaks another MPI than this process. Call after
 * MPI_Init. Not collective. */
const fftw_mpi_library *fftw_mpi_open(const char *contestant, weft_precision precision);

#endif
