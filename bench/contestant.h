/*
 * A contestant: one plan of one library for a case, behind the few calls that the benchmark makes.
 * Contestants run out of place, forward, between buffers that they share.
 */
#ifndef BENCH_CONTESTANT_H
#define BENCH_CONTESTANT_H

#include "case.h"

typedef struct contestant contestant;

struct contestant {
    const char *library;
    char version[32];
    char config[96];
    size_t in_bytes, out_bytes; /* what this rank's buffers must hold */
    bench_share in, out;
    void (*run)(contestant *self, void *in, void *out);
    void (*close)(contestant *self);
    void *state;
    double *seconds; /* of every iteration so far, the slowest rank's */
    int samples;
    int first; /* number of the first iteration */
};

typedef enum fftw_layout {
    FFTW_SERIAL, /* plain FFTW: one rank only */
    FFTW_NATURAL,
    FFTW_TRANSPOSED
} fftw_layout;

/* Bytes that FFTW-MPI wants in each buffer. Collective. */
size_t contestant_fftw_bytes(const bench_case *c);

/* Plans on in and out, which are overwritten. Collective. */
void contestant_fftw_open(const bench_case *c, fftw_layout layout, void *in, void *out,
                          contestant *self);

/* Returns whether weft can do this configuration; says on standard error why not. Collective. */
int contestant_weft_open(const bench_case *c, weft_context ctx, const char *config,
                         contestant *self);

/* Reads a configuration into options; *natural tells whether it asks for the result split as the
 * input is. Returns 0 for a word that means nothing. */
int contestant_weft_options(const char *config, weft_options *options, int *natural);

#endif
