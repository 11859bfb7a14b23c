/* The convolution of one box of sources: see local.h. */
#include "sampled/local.h"

#include "sampled/device_local.h"
#include "sampled/row_kernel.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

typedef double pair[2];

enum { ROWS = 16 }; /* lines along z that are worked on together, for they fit a cache */
enum { X, Y, Z };

/* What a thread works with, on one plane of a wavenumber kx. All arrays are of pairs. */
typedef struct worker {
    weft_plan forward_y, forward_z;
    weft_plan inverse_y[WEFT_TREE_LEVELS], inverse_z[WEFT_TREE_LEVELS];
    pair *plane;                     /* [fields][N_y][edge_z]: the sources */
    pair *rows;                      /* [fields][ROWS][N_z] */
    pair *folded;                    /* the same of a lattice; or [period_y][n_z] of one field */
    pair *columns[WEFT_TREE_LEVELS]; /* [fields made][N_y][n_z] */
    double *factors;                 /* [N_z]: of a row */
} worker;

struct weft_local {
    weft_device_local *device; /* does it all; NULL: this file, on the host */
    const weft_tree *tree;
    weft_context context;      /* of this process alone */
    int threads, fields, made; /* fields of a point, before and after */
    bool real;
    weft_row_kernel kernel;
    int64_t waves; /* kx that are worked on: N_x, or of real fields N_x / 2 + 1 */
    weft_plan forward_x, inverse_x[WEFT_TREE_LEVELS];
    double *lines;                /* [N_x][edge_y * edge_z] numbers of a field */
    pair *spectrum;               /* [fields][waves][edge_y * edge_z] */
    pair *sums[WEFT_TREE_LEVELS]; /* [made][kept waves][n_y * n_z]: the result but for the inverse
                                     transform along x */
    double *stretched; /* [period_x][n_y * n_z] numbers: one field of a lattice, at all x */
    size_t bytes;
    worker *worker; /* [threads] */
};

/* ---- making ---- */

static void *reserve(weft_local *l, weft_status *status, int64_t count, size_t size) {
    void *memory = NULL;
    if (*status == WEFT_SUCCESS) memory = calloc((size_t)count + 1, size);
    if (!memory && *status == WEFT_SUCCESS)
        *status =
            weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                      "no memory for %lld numbers of a convolution by samples", (long long)count);
    l->bytes += (size_t)count * size;
    return memory;
}

/* A transform of `lines` lines of n points, which are the columns or the rows of an array. */
static weft_plan plan_lines(weft_local *l, weft_status *status, int64_t n, int64_t lines,
                            bool columns, bool real, int threads) {
    weft_problem problem = {.rank = 2, .kind = real ? WEFT_R2C : WEFT_C2C};
    const weft_options options = {.threads = threads, .engine = WEFT_ENGINE_NATIVE};
    weft_plan plan = NULL;
    weft_memory memory;
    if (*status != WEFT_SUCCESS || n == 1) return NULL;
    problem.n[0] = columns ? n : lines;
    problem.n[1] = columns ? lines : n;
    problem.axis[columns ? 1 : 0] = WEFT_AXIS_NONE;
    *status = weft_plan_create(l->context, &problem, &options, &plan);
    if (*status == WEFT_SUCCESS && weft_plan_memory(plan, &memory) == WEFT_SUCCESS)
        l->bytes += memory.total;
    return plan;
}

static int64_t waves_of(const weft_local *l, int64_t n) {
    return l->real ? n / 2 + 1 : n;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void make_worker(weft_local *l, worker *w, weft_status *status) {
    const weft_tree *t = l->tree;
    const int64_t *n = t->period, most = larger(l->fields, l->made);
    int64_t folded = most * ROWS * n[Z];
    w->forward_y = plan_lines(l, status, n[Y], t->edge[Z], true, false, 1);
    w->forward_z = plan_lines(l, status, n[Z], ROWS, false, false, 1);
    w->plane = reserve(l, status, l->fields * n[Y] * t->edge[Z], sizeof(pair));
    w->rows = reserve(l, status, most * ROWS * n[Z], sizeof(pair));
    for (int i = 0; i < t->levels; i++) {
        const weft_tree_level *v = &t->level[i];
        w->inverse_y[i] = plan_lines(l, status, v->period[Y], v->n[Z], true, false, 1);
        w->inverse_z[i] = plan_lines(l, status, v->period[Z], ROWS, false, false, 1);
        w->columns[i] = reserve(l, status, l->made * n[Y] * v->n[Z], sizeof(pair));
        folded = larger(folded, v->period[Y] * v->n[Z]);
    }
    w->folded = reserve(l, status, folded, sizeof(pair));
    w->factors = reserve(l, status, n[Z], sizeof(double));
}

static void make_lines(weft_local *l, weft_status *status) {
    const weft_tree *t = l->tree;
    const int64_t across = t->edge[Y] * t->edge[Z];
    int64_t stretched = 0;
    l->waves = waves_of(l, t->period[X]);
    l->forward_x = plan_lines(l, status, t->period[X], across, true, l->real, l->threads);
    l->lines = reserve(l, status, t->period[X] * across * (l->real ? 1 : 2), sizeof(double));
    l->spectrum = reserve(l, status, l->fields * l->waves * across, sizeof(pair));
    for (int i = 0; i < t->levels; i++) {
        const weft_tree_level *v = &t->level[i];
        const int64_t of_x = v->n[Y] * v->n[Z];
        l->inverse_x[i] = plan_lines(l, status, v->period[X], of_x, true, l->real, l->threads);
        l->sums[i] = reserve(l, status, l->made * waves_of(l, v->period[X]) * of_x, sizeof(pair));
        stretched = larger(stretched, v->period[X] * of_x * (l->real ? 1 : 2));
    }
    l->stretched = reserve(l, status, stretched, sizeof(double));
}

weft_status weft_local_create(const weft_convolved *c, const weft_tree *tree,
                              const weft_options *options, weft_local **made) {
    weft_local *l = *made = calloc(1, sizeof *l);
    if (!l) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution by samples");
    if (options->device != WEFT_HOST) return weft_device_local_create(c, tree, options, &l->device);
    l->tree = tree;
    l->threads = options->threads > 1 ? options->threads : 1;
    l->real = c->real;
    l->fields = weft_convolved_fields(c, false);
    l->made = weft_convolved_fields(c, true);
    weft_status status = weft_context_create(NULL, &l->context);
    l->worker = reserve(l, &status, l->threads, sizeof *l->worker);
    for (int i = 0; i < l->threads && status == WEFT_SUCCESS; i++)
        make_worker(l, &l->worker[i], &status);
    make_lines(l, &status);
    if (status == WEFT_SUCCESS) status = weft_row_kernel_create(c, tree->period, &l->kernel);
    return status;
}

static void release_worker(worker *w) {
    weft_plan_destroy(&w->forward_y);
    weft_plan_destroy(&w->forward_z);
    free(w->plane);
    free(w->rows);
    free(w->folded);
    free(w->factors);
    for (int i = 0; i < WEFT_TREE_LEVELS; i++) {
        weft_plan_destroy(&w->inverse_y[i]);
        weft_plan_destroy(&w->inverse_z[i]);
        free(w->columns[i]);
    }
}

void weft_local_destroy(weft_local *l) {
    if (!l) return;
    weft_device_local_destroy(l->device);
    for (int i = 0; l->worker && i < l->threads; i++) release_worker(&l->worker[i]);
    weft_plan_destroy(&l->forward_x);
    for (int i = 0; i < WEFT_TREE_LEVELS; i++) {
        weft_plan_destroy(&l->inverse_x[i]);
        free(l->sums[i]);
    }
    weft_row_kernel_release(&l->kernel);
    free(l->worker);
    free(l->lines);
    free(l->spectrum);
    free(l->stretched);
    weft_context_destroy(&l->context);
    free(l);
}

size_t weft_local_bytes(const weft_local *l) {
    if (l->device) return sizeof *l + weft_device_local_bytes(l->device);
    return sizeof *l + l->bytes + weft_row_kernel_bytes(&l->kernel);
}

/* ---- running ---- */

/* Of one point there is nothing to transform. */
static weft_status transform(weft_plan plan, weft_direction direction, void *array) {
    return plan ? weft_execute(plan, direction, array, array) : WEFT_SUCCESS;
}

/* Row i of the box is row lo + i of the period, modulo that. */
static void scatter_rows(const double *from, int64_t count, int64_t row, int64_t lo, int64_t period,
                         double *to) {
    memset(to, 0, (size_t)(period * row) * sizeof *to);
    for (int64_t i = 0, run; i < count; i += run) {
        const int64_t start = weft_modulo(lo + i, period);
        run = smaller(period - start, count - i);
        memcpy(to + start * row, from + i * row, (size_t)(run * row) * sizeof *to);
    }
}

/* Sources to their spectrum along x. */
static weft_status forward_x(weft_local *l, const int64_t *lo, const double *sources) {
    const weft_tree *t = l->tree;
    const int64_t across = t->edge[Y] * t->edge[Z], row = across * (l->real ? 1 : 2);
    for (int f = 0; f < l->fields; f++) {
        pair *spectrum = l->spectrum + f * l->waves * across;
        scatter_rows(sources + f * t->edge[X] * row, t->edge[X], row, lo[X], t->period[X],
                     l->lines);
        if (l->forward_x)
            WEFT_TRY(weft_execute(l->forward_x, WEFT_FORWARD, l->lines, spectrum));
        else
            for (int64_t i = 0; i < across; i++) {
                spectrum[i][0] = l->lines[l->real ? i : 2 * i];
                spectrum[i][1] = l->real ? 0 : l->lines[2 * i + 1];
            }
    }
    return WEFT_SUCCESS;
}

/* The rows' spectra times the kernel, for wavenumbers kx and, from ky on, so many of y. */
static void multiply(const weft_local *l, worker *w, int64_t kx, int64_t ky, int64_t rows) {
    const int64_t n = l->tree->period[Z];
    for (int64_t r = 0; r < rows; r++)
        weft_row_kernel_apply(&l->kernel, kx, ky + r, w->rows + r * n, ROWS * n, w->factors);
}

/* Sums what a shorter transform cannot tell apart: rows of `row` numbers that lie a multiple of
 * `period`, which divides their number, apart. */
static void fold(const double *from, int64_t rows, int64_t row, int64_t period, double *to) {
    const int64_t count = period * row;
    memcpy(to, from, (size_t)count * sizeof *to);
    for (int64_t i = count; i < rows * row; i += count)
        for (int64_t k = 0; k < count; k++) to[k] += from[i + k];
}

/* So many consecutive rows of a periodic array, from one on. */
static void gather_rows(const double *from, int64_t row, int64_t period, int64_t first,
                        int64_t count, double *to) {
    for (int64_t i = 0, run; i < count; i += run) {
        const int64_t start = weft_modulo(first + i, period);
        run = smaller(period - start, count - i);
        memcpy(to + i * row, from + start * row, (size_t)(run * row) * sizeof *to);
    }
}

/* Some rows back to the lattices' z. */
static weft_status inverse_z(const weft_local *l, worker *w, const int64_t *lo, int64_t ky,
                             int64_t rows) {
    const weft_tree *t = l->tree;
    for (int i = 0; i < t->levels; i++) {
        const int64_t n = t->level[i].n[Z], period = t->level[i].period[Z];
        const int64_t first = weft_tree_first(t, i, Z, lo[Z]);
        for (int f = 0; f < l->made; f++) {
            pair *columns = w->columns[i] + (f * t->period[Y] + ky) * n;
            for (int64_t r = 0; r < ROWS; r++)
                fold(w->rows[(f * ROWS + r) * t->period[Z]], t->period[Z], 2, period,
                     w->folded[r * period]);
            WEFT_TRY(transform(w->inverse_z[i], WEFT_INVERSE, w->folded));
            for (int64_t r = 0; r < rows; r++)
                gather_rows(w->folded[r * period], 2, period, first, n, columns[r * n]);
        }
    }
    return WEFT_SUCCESS;
}

/* A plane back to the lattices' y: columns become [fields made][n_y][n_z]. */
static weft_status inverse_y(const weft_local *l, worker *w, const int64_t *lo) {
    const weft_tree *t = l->tree;
    for (int i = 0; i < t->levels; i++) {
        const weft_tree_level *v = &t->level[i];
        const int64_t first = weft_tree_first(t, i, Y, lo[Y]), row = 2 * v->n[Z];
        for (int f = 0; f < l->made; f++) {
            fold(w->columns[i][f * t->period[Y] * v->n[Z]], t->period[Y], row, v->period[Y],
                 w->folded[0]);
            WEFT_TRY(transform(w->inverse_y[i], WEFT_INVERSE, w->folded));
            gather_rows(w->folded[0], row, v->period[Y], first, v->n[Y],
                        w->columns[i][f * v->n[Y] * v->n[Z]]);
        }
    }
    return WEFT_SUCCESS;
}

/* The plane of a wavenumber kx, from its sources' spectrum along x to the lattices' y and z. */
static weft_status work_on_plane(const weft_local *l, worker *w, const int64_t *lo, int64_t kx) {
    const weft_tree *t = l->tree;
    const int64_t *n = t->period, *edge = t->edge;
    for (int f = 0; f < l->fields; f++) {
        pair *plane = w->plane + f * n[Y] * edge[Z];
        scatter_rows(l->spectrum[(f * l->waves + kx) * edge[Y] * edge[Z]], edge[Y], 2 * edge[Z],
                     lo[Y], n[Y], plane[0]);
        WEFT_TRY(transform(w->forward_y, WEFT_FORWARD, plane));
    }
    for (int64_t ky = 0; ky < n[Y]; ky += ROWS) {
        const int64_t rows = n[Y] - ky < ROWS ? n[Y] - ky : ROWS;
        for (int f = 0; f < l->fields; f++) {
            pair *block = w->rows + f * ROWS * n[Z];
            for (int64_t r = 0; r < rows; r++)
                scatter_rows(w->plane[(f * n[Y] + ky + r) * edge[Z]], edge[Z], 2, lo[Z], n[Z],
                             block[r * n[Z]]);
            WEFT_TRY(transform(w->forward_z, WEFT_FORWARD, block));
        }
        multiply(l, w, kx, ky, rows);
        WEFT_TRY(inverse_z(l, w, lo, ky, rows));
    }
    return inverse_y(l, w, lo);
}

/* Adds `count` pairs, or their conjugates. */
static void add(pair *from, int64_t count, bool conjugate, pair *to) {
    const double sign = conjugate ? -1 : 1;
    for (int64_t i = 0; i < count; i++) {
        to[i][0] += from[i][0];
        to[i][1] += sign * from[i][1];
    }
}

/* Adds a plane to the sums of wavenumbers that the lattices' x cannot tell apart. Of real fields
 * the plane of -kx is its conjugate. */
static void add_plane(weft_local *l, const worker *w, int64_t kx) {
    const weft_tree *t = l->tree;
    for (int i = 0; i < t->levels; i++) {
        const weft_tree_level *v = &t->level[i];
        const int64_t of_x = v->n[Y] * v->n[Z], waves = waves_of(l, v->period[X]);
        const int64_t q = kx % v->period[X], back = (t->period[X] - kx) % v->period[X];
        const bool twice = l->real && kx > 0 && 2 * kx != t->period[X];
        for (int f = 0; f < l->made; f++) {
            pair *plane = w->columns[i] + f * of_x;
            pair *sums = l->sums[i] + f * waves * of_x;
            if (q < waves) add(plane, of_x, false, sums + q * of_x);
            if (twice && back < waves) add(plane, of_x, true, sums + back * of_x);
        }
    }
}

/* The lattices at all x, of which those of the tree are kept. */
static weft_status inverse_x(weft_local *l, const int64_t *lo, double *const *values) {
    const weft_tree *t = l->tree;
    const int parts = l->real ? 1 : 2;
    for (int i = 0; i < t->levels; i++) {
        const weft_tree_level *v = &t->level[i];
        const int64_t of_x = v->n[Y] * v->n[Z], waves = waves_of(l, v->period[X]);
        for (int f = 0; f < l->made; f++) {
            pair *sums = l->sums[i] + f * waves * of_x;
            if (l->inverse_x[i])
                WEFT_TRY(weft_execute(l->inverse_x[i], WEFT_INVERSE, sums, l->stretched));
            else
                for (int64_t k = 0; k < of_x * parts; k++)
                    l->stretched[k] = sums[k / parts][k % parts];
            gather_rows(l->stretched, of_x * parts, v->period[X], weft_tree_first(t, i, X, lo[X]),
                        v->n[X], values[i] + f * v->n[X] * of_x * parts);
        }
        memset(l->sums[i], 0, (size_t)(l->made * waves * of_x) * sizeof(pair));
    }
    return WEFT_SUCCESS;
}

weft_status weft_local_run(weft_local *l, const int64_t *lo, const double *sources,
                           double *const *values) {
    int worst = WEFT_SUCCESS;
    if (l->device) return weft_device_local_run(l->device, lo, sources, values);
    WEFT_TRY(forward_x(l, lo, sources));
    /* Sums are added up in one order, whatever the number of threads. */
#pragma omp parallel for num_threads(l->threads) if (l->threads > 1) ordered schedule(static, 1)   \
    reduction(max                                                                                  \
              : worst)
    for (int64_t kx = 0; kx < l->waves; kx++) {
#ifdef _OPENMP
        worker *w = &l->worker[omp_get_thread_num()];
#else
        worker *w = l->worker;
#endif
        const int status = (int)work_on_plane(l, w, lo, kx);
        worst = status > worst ? status : worst;
#pragma omp ordered
        add_plane(l, w, kx);
    }
    if (worst != WEFT_SUCCESS) /* the sentence is that of another thread */
        return weft_fail((weft_status)worst, "a plane of samples could not be convolved");
    return inverse_x(l, lo, values);
}
