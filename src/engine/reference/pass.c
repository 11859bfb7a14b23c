/* Passes: which lines there are, how many to do at a time, and the loop over them. */
#include "engine/reference/pass.h"

#include "engine/reference/lines.h"
#include "support/error.h"

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    MOST_LANES = 8,   /* ways of the caches that matter, so that no stride makes lines collide */
    FEWEST_LANES = 4, /* a cache line of complex doubles */
    CACHED_ELEMENTS =
        1 << 13 /* of all lanes together: four arrays of doubles in a cache of 256 KiB */
};

/* Shorter real transforms are done as complex ones of the full length: at half the speed, but with
 * fewer roundings. */
enum { SHORTEST_HALVED = 66 };

static int64_t reach(const weft_dimension *loop) {
    return llabs(loop->in_stride) + llabs(loop->out_stride);
}

/* Sorts the loops, the one of the smallest strides last, so that lines done together are neighbours
 * in memory. */
static void sort_loops(weft_pass *pass) {
    for (int i = 1; i < pass->loops; i++) {
        weft_dimension loop = pass->loop[i];
        int j = i;
        for (; j > 0 && reach(&pass->loop[j - 1]) < reach(&loop); j--)
            pass->loop[j] = pass->loop[j - 1];
        pass->loop[j] = loop;
    }
}

static int64_t choose_lanes(const weft_pass *pass) {
    int64_t lanes = MOST_LANES, capacity = weft_dft_capacity(pass->dft);
    while (lanes > FEWEST_LANES && lanes * capacity > CACHED_ELEMENTS) lanes /= 2;
    return lanes < pass->lines ? lanes : pass->lines;
}

weft_status weft_pass_prepare(weft_pass *pass, size_t *bytes) {
    const int64_t n = pass->dim.n;
    const bool r2r = pass->kind == WEFT_TRANSFORM_R2R;
    pass->halved = pass->kind != WEFT_TRANSFORM_C2C && !r2r && n % 2 == 0 && n >= SHORTEST_HALVED;
    if (r2r) pass->embedding = weft_embedding_of(pass->type, n);
    pass->lines = 1;
    for (int i = 0; i < pass->loops; i++) pass->lines *= pass->loop[i].n;
    sort_loops(pass);
    pass->dft = weft_dft_create(r2r ? pass->embedding.n : pass->halved ? n / 2 : n, bytes);
    bool ok = pass->dft != NULL;
    if (ok && pass->halved) {
        size_t size = (size_t)(n / 2 + 1) * sizeof(double);
        pass->roots.re = malloc(size);
        pass->roots.im = malloc(size);
        *bytes += 2 * size;
        ok = pass->roots.re && pass->roots.im &&
             weft_roots_fill(n, n / 2 + 1, pass->roots.re, pass->roots.im);
    }
    if (!ok)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "reference engine: no memory for the tables of length %lld", (long long)n);
    pass->lanes = choose_lanes(pass);
    return WEFT_SUCCESS;
}

void weft_pass_release(weft_pass *pass) {
    weft_dft_destroy(pass->dft);
    free(pass->roots.im);
    free(pass->roots.re);
}

/* Distance, in numbers, of the four arrays of a workspace: nine cache lines more than their size,
 * since arrays whose size is a power of two would compete for the same lines of the cache, which
 * costs a factor of two. */
static int64_t array_stride(const weft_pass *pass) {
    enum { NINE_CACHE_LINES = 72 };
    return pass->lanes * weft_dft_capacity(pass->dft) + NINE_CACHE_LINES;
}

int64_t weft_pass_workspace(const weft_pass *pass) {
    return 4 * array_stride(pass);
}

/* Computes the offsets of `lanes` lines from number `first` on. */
static void locate_lines(const weft_pass *pass, int64_t first, int64_t lanes, int64_t *in_offset,
                         int64_t *out_offset) {
    for (int64_t lane = 0; lane < lanes; lane++) {
        int64_t rest = first + lane;
        in_offset[lane] = out_offset[lane] = 0;
        for (int i = pass->loops - 1; i >= 0; i--) {
            const weft_dimension *loop = &pass->loop[i];
            int64_t index = rest % loop->n;
            rest /= loop->n;
            in_offset[lane] += index * loop->in_stride;
            out_offset[lane] += index * loop->out_stride;
        }
    }
}

static void run_lines(const weft_pass *pass, int64_t first, const void *in, void *out,
                      double *workspace) {
    int64_t in_offset[MOST_LANES], out_offset[MOST_LANES];
    int64_t lanes = pass->lines - first < pass->lanes ? pass->lines - first : pass->lanes;
    locate_lines(pass, first, lanes, in_offset, out_offset);

    const int64_t stride = array_stride(pass);
    weft_lines x = {workspace, workspace + stride};
    weft_lines y = {workspace + 2 * stride, workspace + 3 * stride};
    bool inverse = pass->kind == WEFT_TRANSFORM_C2R ||
                   (pass->kind == WEFT_TRANSFORM_C2C && pass->direction == WEFT_INVERSE);
    weft_lines_gather(pass, in, in_offset, lanes, x);
    if (inverse) x = (weft_lines){x.im, x.re};
    weft_dft_run(pass->dft, lanes, &x, &y);
    if (inverse) x = (weft_lines){x.im, x.re};
    weft_lines_scatter(pass, x, out, out_offset, lanes);
}

void weft_pass_run(const weft_pass *pass, const void *in, void *out, double *workspace,
                   int64_t workspace_stride, int threads) {
    const int64_t groups = (pass->lines + pass->lanes - 1) / pass->lanes;
#ifdef _OPENMP
    if (threads > groups) threads = (int)groups;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t group = 0; group < groups; group++)
        run_lines(pass, group * pass->lanes, in, out,
                  workspace + omp_get_thread_num() * workspace_stride);
#else
    (void)workspace_stride, (void)threads;
    for (int64_t group = 0; group < groups; group++)
        run_lines(pass, group * pass->lanes, in, out, workspace);
#endif
}
