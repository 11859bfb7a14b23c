/*
 * The cluster FFT of Intel's MKL as it is found at run time. Its header is neither included nor
 * needed to build: the few prototypes and numbers are written here from Intel's reference ("Cluster
 * FFT Functions"). scripts/build-peers makes one library of those that it consists of.
 */
#ifndef WEFT_BENCH_MKL_CLUSTER_LIBRARY_H
#define WEFT_BENCH_MKL_CLUSTER_LIBRARY_H

#include <mpi.h>

enum {
    MKL_DFTI_PLACEMENT = 11,
    MKL_DFTI_TRANSPOSE = 19,
    MKL_DFTI_COMPLEX = 32,
    MKL_DFTI_REAL = 33,
    MKL_DFTI_SINGLE = 35,
    MKL_DFTI_DOUBLE = 36,
    MKL_DFTI_NOT_INPLACE = 44,
    MKL_DFTI_ALLOW = 51,
    /* What a descriptor tells of this rank, after commit. */
    MKL_CDFT_LOCAL_SIZE = 1000, /* complex numbers to allocate */
    MKL_CDFT_LOCAL_X_START = 1001,
    MKL_CDFT_LOCAL_NX = 1002,
    MKL_CDFT_LOCAL_OUT_X_START = 1005,
    MKL_CDFT_LOCAL_OUT_NX = 1006
};

/* What DftiErrorMessage does not know: more ranks than rows. */
enum { MKL_CDFT_SPREAD_ERROR = 1001 };

/* Integers are MKL_LONG, and numbers that say how it went: 0 is success. */
typedef struct mkl_cluster_library {
    long (*create)(MPI_Comm comm, void **descriptor, int precision, int domain, long rank, ...);
    long (*set)(void *descriptor, int parameter, ...);
    long (*get)(void *descriptor, int parameter, ...);
    long (*commit)(void *descriptor);
    long (*forward)(void *descriptor, void *in, ...);
    long (*backward)(void *descriptor, void *in, ...);
    long (*release)(void **descriptor);
    char *(*message)(long status);
    int (*set_threads)(int threads); /* of the calling thread's calls; returns what was set */
    void (*get_version)(char *text, int bytes);
} mkl_cluster_library;

/* The library, opened by the first call and kept for the life of the process; NULL, with the reason
 * as the thread's last error, where it cannot be had. Call after MPI_Init. Not collective. */
const mkl_cluster_library *mkl_cluster_open(void);

#endif
