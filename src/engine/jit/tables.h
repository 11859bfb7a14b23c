/*
 * Tables of a kernel, one after the other in one buffer on the device: twiddles of the stages,
 * roots of half spectra, chirps and their spectra, powers of generators, roots between kernels,
 * factors of cosine and sine transforms. Passes with equal tables share them.
 */
#ifndef WEFT_ENGINE_JIT_TABLES_H
#define WEFT_ENGINE_JIT_TABLES_H

#include "engine/jit/shape.h"

/* Where the tables begin, in complex numbers. */
typedef struct weft_jit_places {
    int64_t twiddles[WEFT_JIT_MOST_STAGES];
    int64_t half_roots, chirp, powers, spectrum, coarse, fine_table, factors;
    int64_t fine; /* entries of the fine one */
} weft_jit_places;

/* A table while it is made: interleaved complex numbers in double precision. */
typedef struct weft_jit_table {
    double *number;
    int64_t count, room; /* complex numbers */
    bool failed;         /* out of memory */
} weft_jit_table;

void weft_jit_add_twiddles(weft_jit_table *table, const weft_jit_shape *shape,
                           weft_jit_places *places);
/* exp(-2 pi i k / n), k = 0..count-1 */
int64_t weft_jit_add_roots(weft_jit_table *table, int64_t n, int64_t count);
/* exp(-2 pi i (4k + 1) / n), k = 0..count-1 */
int64_t weft_jit_add_fourth_roots(weft_jit_table *table, int64_t n, int64_t count);
/* exp(-pi i k^2 / n), k = 0..n-1 */
int64_t weft_jit_add_chirp(weft_jit_table *table, int64_t n);
/* The spectrum by which a cyclic convolution of `core` points with the conjugate of that chirp
 * multiplies. */
int64_t weft_jit_add_spectrum(weft_jit_table *table, int64_t n, int64_t core);
/* g^b modulo p, b = 0..count-1, as real numbers. */
int64_t weft_jit_add_powers(weft_jit_table *table, int64_t g, int64_t p, int64_t count);
/* The spectrum by which Rader's cyclic convolution of p - 1 points multiplies: that of the roots of
 * unity of order p and numbers g^-r, g being a generator of the units modulo p. */
int64_t weft_jit_add_rader_spectrum(weft_jit_table *table, int64_t g, int64_t p);

/* Tables on the device. */
typedef struct weft_jit_stored_table {
    void *memory;
    double *number; /* to compare with */
    int64_t count;
} weft_jit_stored_table;

enum { WEFT_JIT_TABLES = 128 };

typedef struct weft_jit_table_list {
    weft_precision precision;
    int count;
    weft_jit_stored_table table[WEFT_JIT_TABLES];
    size_t bytes;
} weft_jit_table_list;

/* Takes ownership of the table, stores it on the device unless an equal one is there, and gives its
 * address. */
weft_status weft_jit_store_table(weft_jit_table_list *list, const weft_device_handle *device,
                                 weft_jit_table *table, const void **memory);
/* Frees the host copies, which only serve to find equal tables; no table may be stored after
 * this. */
void weft_jit_tables_free_copies(weft_jit_table_list *list);
void weft_jit_tables_release(weft_jit_table_list *list, const weft_device_handle *device);

#endif
