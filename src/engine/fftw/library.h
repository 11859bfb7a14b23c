/*
 * FFTW 3 as it is found at run time. FFTW is GPL, so weft neither links it nor includes its header:
 * the few prototypes it needs are written here from the FFTW manual (chapters 4 and 5). One table
 * serves libfftw3 and libfftw3f, whose functions differ in the names and in the type behind the
 * array pointers only.
 */
#ifndef WEFT_ENGINE_FFTW_LIBRARY_H
#define WEFT_ENGINE_FFTW_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <weft/weft.h>

#include "support/shared_library.h"

typedef struct weft_fftw_plan_private *weft_fftw_plan;

typedef struct weft_fftw_iodim { /* fftw_iodim64 */
    ptrdiff_t n, in_stride, out_stride;
} weft_fftw_iodim;

enum { WEFT_FFTW_FORWARD = -1, WEFT_FFTW_BACKWARD = 1 };

enum {
    WEFT_FFTW_MEASURE = 0u,
    WEFT_FFTW_DESTROY_INPUT = 1u << 0,
    WEFT_FFTW_UNALIGNED = 1u << 1,
    WEFT_FFTW_PRESERVE_INPUT = 1u << 4,
    WEFT_FFTW_PATIENT = 1u << 5,
    WEFT_FFTW_ESTIMATE = 1u << 6,
    WEFT_FFTW_WISDOM_ONLY = 1u << 21
};

/* fftw_r2r_kind */
enum {
    WEFT_FFTW_REDFT00 = 3,
    WEFT_FFTW_REDFT01,
    WEFT_FFTW_REDFT10,
    WEFT_FFTW_REDFT11,
    WEFT_FFTW_RODFT00,
    WEFT_FFTW_RODFT01,
    WEFT_FFTW_RODFT10,
    WEFT_FFTW_RODFT11
};

/* The kind of a cosine or sine transform. */
static inline int weft_fftw_kind_of(weft_axis type) {
    static const int kinds[] = {[WEFT_DCT1] = WEFT_FFTW_REDFT00, [WEFT_DCT2] = WEFT_FFTW_REDFT10,
                                [WEFT_DCT3] = WEFT_FFTW_REDFT01, [WEFT_DCT4] = WEFT_FFTW_REDFT11,
                                [WEFT_DST1] = WEFT_FFTW_RODFT00, [WEFT_DST2] = WEFT_FFTW_RODFT10,
                                [WEFT_DST3] = WEFT_FFTW_RODFT01, [WEFT_DST4] = WEFT_FFTW_RODFT11};
    return kinds[type];
}

typedef weft_fftw_plan (*weft_fftw_plan_c2c)(int rank, const weft_fftw_iodim *dims, int loops,
                                             const weft_fftw_iodim *loop, void *in, void *out,
                                             int sign, unsigned flags);
typedef weft_fftw_plan (*weft_fftw_plan_real)(int rank, const weft_fftw_iodim *dims, int loops,
                                              const weft_fftw_iodim *loop, void *in, void *out,
                                              unsigned flags);
typedef weft_fftw_plan (*weft_fftw_plan_r2r)(int rank, const weft_fftw_iodim *dims, int loops,
                                             const weft_fftw_iodim *loop, void *in, void *out,
                                             const int *kinds, unsigned flags);
typedef void (*weft_fftw_execute)(weft_fftw_plan plan, void *in, void *out);

typedef struct weft_fftw_library {
    const char *version;   /* "fftw-3.3.10-sse2-avx" */
    char description[128]; /* "FFTW 3.3.10 (fftw-3.3.10-sse2-avx)" */
    bool threads;          /* the threads library was found too */
    weft_fftw_plan_c2c plan_c2c;
    weft_fftw_plan_real plan_r2c, plan_c2r;
    weft_fftw_execute execute_c2c, execute_r2c, execute_c2r;
    weft_fftw_plan_r2r plan_r2r; /* NULL with execute_r2r: the library has none */
    weft_fftw_execute execute_r2r;
    void (*destroy_plan)(weft_fftw_plan plan);
    int (*alignment_of)(void *address);
    char *(*export_wisdom)(void); /* the caller frees the string */
    int (*import_wisdom)(const char *filename);
    int (*init_threads)(void);
    void (*plan_with_nthreads)(int threads);
    int (*planner_nthreads)(void); /* NULL before FFTW 3.3.9 */
} weft_fftw_library;

/*
 * The library for a precision, opened by the first call and kept for the life of the process; NULL,
 * with the reason as the thread's last error, where it cannot be had. Thread-safe.
 *
 * The environment variable WEFT_FFTW_LIBRARY_PATH names a folder to take libfftw3.so.3,
 * libfftw3f.so.3 and their _threads libraries from (a build for AVX-512, say) in place of those the
 * dynamic linker finds.
 */
const weft_fftw_library *weft_fftw_open(weft_precision precision);

/* The files of a build of FFTW, and the prefix of its symbols. */
typedef struct weft_fftw_files {
    const char *folder; /* NULL or empty: where the dynamic linker looks */
    const char *file;
    const char *threads_file; /* NULL: threads are in the file itself, if anywhere */
    const char *prefix;       /* "fftw" or "fftwf" */
} weft_fftw_files;

/* Opens one build, or another library with FFTW's interface, into *library; false with the reason
 * where it cannot be had. Builds whose shared libraries name themselves differently can be open at
 * once. Call once for each. */
bool weft_fftw_load(const weft_fftw_files *files, weft_fftw_library *library,
                    char reason[WEFT_LIBRARY_REASON_BYTES]);

/* FFTW's planner is one per process and not thread-safe: every planner call happens between these
 * two. */
void weft_fftw_planner_lock(void);
void weft_fftw_planner_unlock(void);

#endif
