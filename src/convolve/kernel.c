/*
 * Spectra of kernels that callers give as arrays. Along Fourier axes a plan on the host transforms
 * the kernel; along axes that reflect the field a symmetric kernel w multiplies the coefficient of
 * frequency f (k of a DCT of type 2, k + 1 of a DST) by sum over d of w[d] cos(pi f d / n), d from
 * -(m-1) to m-1 being the displacement.
 */
#include "convolve/convolve.h"

#include "engine/native/root_table.h"
#include "plan/agreement.h"
#include "support/axis.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An array of doubles, or of pairs of them, row-major. */
typedef struct block {
    int rank, numbers; /* numbers of an element */
    int64_t n[WEFT_MAX_RANK];
    double *data;
} block;

static int64_t count_elements(const block *b, int first, int last) {
    int64_t count = 1;
    for (int a = first; a < last; a++) count *= b->n[a];
    return count;
}

static weft_status allocate(block *b) {
    const size_t numbers = (size_t)count_elements(b, 0, b->rank) * (size_t)b->numbers;
    b->data = calloc(numbers + 1, sizeof *b->data);
    if (b->data) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel of %zu numbers", numbers);
}

static bool reflects(const weft_convolved_axis *axis) {
    return axis->type != WEFT_AXIS_OF_KIND;
}

/* ---- reading ---- */

/* Whether elements of the kernel that are a length of the transform apart are added up. */
static bool wraps(const weft_convolved_axis *axis) {
    return !reflects(axis) && axis->kernel > axis->transform;
}

/* Whether the kernel is reversed along an axis: in a correlation, but not its half. */
static bool is_reversed(const weft_convolved *c, int a) {
    return c->problem.correlate && !(reflects(&c->axis[a]) && c->axis[a].origin == 0);
}

/* The elements of the kernel, as given, that a rank needs for its box of what the Fourier axes are
 * transformed of. */
static weft_region needed(const weft_convolved *c, const weft_box *box) {
    weft_region part = weft_convolved_whole(c);
    for (int a = 0; a < part.axes; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        if (reflects(axis) || wraps(axis)) continue;
        part.lo[a] = is_reversed(c, a) ? axis->kernel - box->lo[a] - box->n[a] : box->lo[a];
        part.n[a] = box->n[a];
    }
    return part;
}

static double number_at(const weft_given_kernel *kernel, bool single, int64_t i) {
    return single ? (double)((const float *)kernel->data)[i] : ((const double *)kernel->data)[i];
}

/* The element of *b, along an axis, to which element j of the kernel goes; -1: to none. */
static int64_t target(const weft_convolved *c, const weft_box *box, const block *b, int a,
                      int64_t j) {
    const weft_convolved_axis *axis = &c->axis[a];
    if (is_reversed(c, a)) j = axis->kernel - 1 - j;
    if (reflects(axis)) return j;
    j = j % axis->transform - box->lo[a];
    return j >= 0 && j < b->n[a] ? j : -1;
}

/* Adds a row of the kernel along the last axis, elements `first` to first + count - 1, which begins
 * at number `from` of what is given, to the row of *b that begins at number `to`. */
static void add_row(const weft_convolved *c, const weft_given_kernel *kernel, const weft_box *box,
                    int64_t first, int64_t count, int64_t from, block *b, int64_t to) {
    const bool single = c->problem.precision == WEFT_SINGLE;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = target(c, box, b, b->rank - 1, first + i);
        for (int part = 0; part < b->numbers && at >= 0; part++) {
            const double value = number_at(kernel, single, from + i * b->numbers + part);
            b->data[to + at * b->numbers + part] +=
                part == 1 && c->problem.correlate ? -value : value;
        }
    }
}

/* The kernel in double precision, reversed and conjugated for a correlation: along Fourier axes
 * this rank's box of it, where what is longer than the transform is added up, and whole along
 * others. */
static weft_status read_kernel(const weft_convolved *c, const weft_given_kernel *kernel,
                               const weft_box *box, block *b) {
    const weft_region part = needed(c, box), *have = &kernel->box;
    const int last = part.axes - 1;
    bool as_given = !c->problem.correlate && c->problem.precision == WEFT_DOUBLE;
    int64_t rows = part.n[last] > 0;
    *b = (block){.rank = part.axes, .numbers = c->real ? 1 : 2};
    for (int a = 0; a <= last; a++) {
        b->n[a] = reflects(&c->axis[a]) ? part.n[a] : box->n[a];
        as_given = as_given && !wraps(&c->axis[a]);
    }
    for (int a = 0; a < last; a++) rows *= part.n[a];
    WEFT_TRY(allocate(b));
    for (int64_t row = 0; row < rows; row++) {
        int64_t left = row, from = part.lo[last] - have->lo[last], to = 0;
        int64_t from_stride = have->n[last], to_stride = b->n[last];
        for (int a = last - 1; a >= 0; a--) {
            const int64_t j = part.lo[a] + left % part.n[a], at = target(c, box, b, a, j);
            left /= part.n[a];
            from += (j - have->lo[a]) * from_stride;
            to = at < 0 || to < 0 ? -1 : to + at * to_stride;
            from_stride *= have->n[a];
            to_stride *= b->n[a];
        }
        if (as_given)
            memcpy(b->data + to * b->numbers, (const double *)kernel->data + from * b->numbers,
                   (size_t)(part.n[last] * b->numbers) * sizeof *b->data);
        else if (to >= 0)
            add_row(c, kernel, box, part.lo[last], part.n[last], from * b->numbers, b,
                    to * b->numbers);
    }
    return WEFT_SUCCESS;
}

/* Finds what this rank needs of the kernel, and reads it. Collective. */
static weft_status collect_and_read(weft_plan plan, const weft_convolved *c, const void *kernel,
                                    const weft_box *box, block *b) {
    const weft_region part = needed(c, box);
    weft_given_kernel given;
    weft_status status = weft_convolved_collect(plan->transport, c, kernel, &part, &given);
    if (status == WEFT_SUCCESS) status = read_kernel(c, &given, box, b);
    free(given.own);
    return weft_agree(plan->transport, status);
}

/* ---- along axes that reflect ---- */

/* Element `to` along the axis of the result is the sum of weight * element `from`. */
typedef struct axis_weights {
    const weft_convolved_axis *axis;
    int64_t lo; /* of the result's first element */
} axis_weights;

static double weight_of(const axis_weights *w, int64_t to, int64_t from) {
    static const double pi = 3.14159265358979323846;
    const weft_convolved_axis *axis = w->axis;
    const int64_t period = 2 * axis->n, f = w->lo + to + (axis->type == WEFT_DST2);
    const int64_t d = from > axis->origin ? from - axis->origin : axis->origin - from;
    const double angle = pi * (double)(f % period * (d % period) % period) / (double)axis->n;
    return (axis->origin == 0 && from > 0 ? 2 : 1) * cos(angle);
}

/* Replaces *b by what it gives along an axis: `count` elements there. */
static weft_status along_axis(block *b, int a, int64_t count, const axis_weights *weights) {
    const int64_t rows = count_elements(b, 0, a), from = b->n[a],
                  numbers = count_elements(b, a + 1, b->rank) * b->numbers;
    block next = *b;
    next.n[a] = count;
    weft_status status = allocate(&next);
    for (int64_t row = 0; row < rows && status == WEFT_SUCCESS; row++)
        for (int64_t k = 0; k < count; k++) {
            double *out = next.data + (row * count + k) * numbers;
            for (int64_t j = 0; j < from; j++) {
                const double factor = weight_of(weights, k, j);
                const double *in = b->data + (row * from + j) * numbers;
                for (int64_t i = 0; i < numbers; i++) out[i] += factor * in[i];
            }
        }
    free(b->data);
    *b = next;
    return status;
}

/* Kernels that are given on both sides of their origin must be the same there. */
static weft_status check_symmetry(const weft_convolved *c, const block *b, int a) {
    const weft_convolved_axis *axis = &c->axis[a];
    const int64_t rows = count_elements(b, 0, a), n = b->n[a],
                  numbers = count_elements(b, a + 1, b->rank) * b->numbers;
    const double tolerance = c->problem.precision == WEFT_SINGLE ? 1e-5 : 1e-12;
    double most = 0, off = 0;
    if (axis->origin == 0) return WEFT_SUCCESS;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t mirrored = 2 * axis->origin - j;
            for (int64_t i = 0; i < numbers; i++) {
                const double here = b->data[(row * n + j) * numbers + i];
                const double there =
                    mirrored < 0 || mirrored >= n ? 0 : b->data[(row * n + mirrored) * numbers + i];
                most = fmax(most, fabs(here));
                off = fmax(off, fabs(here - there));
            }
        }
    if (off <= tolerance * most) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "problem.kernel.array is not symmetric about origin[%d] = %lld along axis %d, "
                     "as boundary %s wants: it differs by %g; give a symmetric kernel, or its half "
                     "with origin 0",
                     a, (long long)c->problem.kernel.origin[a], a,
                     weft_boundary_name(axis->boundary), off);
}

/* What the kernel comes to along axes that reflect, in this rank's box. */
static weft_status reflect(const weft_convolved *c, const weft_box *box, block *b) {
    for (int a = 0; a < b->rank; a++) {
        const axis_weights weights = {&c->axis[a], box->lo[a]};
        if (!reflects(&c->axis[a])) continue;
        WEFT_TRY(check_symmetry(c, b, a));
        WEFT_TRY(along_axis(b, a, box->n[a], &weights));
    }
    return WEFT_SUCCESS;
}

/* ---- transforming ---- */

weft_status weft_convolved_plan(weft_plan plan, const weft_problem *problem, weft_plan *made) {
    const weft_purpose purpose = {.direction = WEFT_FORWARD, .scatters = true};
    const bool scattered = weft_plan_scattered(plan).rows > 0;
    weft_options used = {.struct_size = 0};
    WEFT_TRY(weft_plan_options(plan, &used));
    weft_options options = {.decomposition = used.decomposition,
                            .threads = plan->overlap_save ? 1 : used.threads, /* a tile is small */
                            .placement = WEFT_OUT_OF_PLACE};
    memcpy(options.grid, used.grid, sizeof options.grid);
    if (!scattered) return weft_plan_create(plan->context, problem, &options, made);
    return weft_plan_create_for(plan->context, problem, &options, &purpose, made);
}

static bool same_box(const weft_box *a, const weft_box *b, int rank) {
    return memcmp(a->lo, b->lo, (size_t)rank * sizeof *a->lo) == 0 &&
           memcmp(a->n, b->n, (size_t)rank * sizeof *a->n) == 0;
}

static void divide(const double *data, int64_t numbers, double points, int threads,
                   double *divided) {
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < numbers; i++) divided[i] = data[i] / points;
}

/* Stores what the spectrum of `elements` elements comes to. Of real ones the imaginary parts are
 * 0. */
static void store(const weft_convolved *c, int threads, const double *data, bool pairs,
                  int64_t elements, void *spectrum) {
    const bool as_they_are = pairs && c->complex_factors && c->problem.precision == WEFT_DOUBLE;
    if (as_they_are && !c->problem.deconvolve) {
        divide(data, 2 * elements, c->points, threads, spectrum);
        return;
    }
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < elements; i++) {
        double value[2] = {pairs ? data[2 * i] : data[i], pairs ? data[2 * i + 1] : 0};
        weft_convolved_finish(c, value);
        weft_convolved_put(c, spectrum, i, value);
    }
}

/* The Fourier axes: the kernel's first element goes where the result begins with the right one. */
static weft_problem problem_of_kernel(const weft_convolved *c, weft_operator *shift) {
    weft_problem problem = {.rank = c->problem.rank, .kind = c->problem.kind};
    *shift = (weft_operator){.kind = WEFT_OPERATOR_SHIFT};
    for (int a = 0; a < problem.rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        const int64_t m = axis->kernel < axis->transform ? axis->kernel : axis->transform;
        problem.n[a] = axis->transform;
        problem.pad_from[a] = reflects(axis) ? 0 : m;
        if (reflects(axis)) problem.axis[a] = WEFT_AXIS_NONE;
        if (reflects(axis) || axis->first % axis->transform == 0 || c->scattered.rows > 0) continue;
        shift->shift[a] = -(double)axis->first;
        problem.spectral = (weft_operators){shift, 1};
    }
    return problem;
}

/* The same for a scattered spectrum, whose frequencies no operator knows. An index of a row times
 * one of the line, whose length is that of an array, fits 64 bits. */
static weft_status shift_scattered(const weft_convolved *c, int threads, double *spectrum) {
    const int64_t n = c->axis[0].transform, first = (c->axis[0].first % n + n) % n;
    const int64_t columns = c->scattered.columns, step = c->scattered.rows * first % n;
    weft_root_table roots;
    size_t bytes = 0;
    if (first == 0) return WEFT_SUCCESS;
    if (!weft_root_table_create(n, n, &roots, &bytes)) {
        weft_root_table_release(&roots);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the phases of a kernel");
    }
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t row = 0; row < c->spectrum.n[0] / columns; row++) {
        double *value = spectrum + 2 * row * columns;
        int64_t turn = (c->scattered.lo + row) * first % n;
        for (int64_t i = 0; i < columns; i++, value += 2) {
            const double was[2] = {value[0], value[1]};
            double re, im;
            weft_root_table_at(&roots, turn, &re, &im);
            value[0] = was[0] * re + was[1] * im;
            value[1] = was[1] * re - was[0] * im;
            turn = turn + step < n ? turn + step : turn + step - n;
        }
    }
    weft_root_table_release(&roots);
    return WEFT_SUCCESS;
}

/* Transforms the block of this rank; *spectrum gets its box of the result: in `room`, if that holds
 * it, else the caller frees it. */
static weft_status transform(weft_plan made, const weft_convolved *c, const block *b, void *room,
                             size_t room_bytes, double **spectrum) {
    size_t in_bytes = 0, out_bytes = 0;
    weft_box box;
    WEFT_TRY(weft_plan_bytes(made, WEFT_INPUT, &in_bytes));
    WEFT_TRY(weft_plan_bytes(made, WEFT_OUTPUT, &out_bytes));
    WEFT_TRY(weft_plan_box(made, WEFT_OUTPUT, made->transport->rank, &box));
    double *in = malloc(in_bytes + 1),
           *out = out_bytes <= room_bytes ? room : malloc(out_bytes + 1);
    weft_status status = in && out ? WEFT_SUCCESS
                                   : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                                               "no memory to transform a convolution's kernel");
    if (status == WEFT_SUCCESS && !same_box(&box, &c->spectrum, b->rank))
        status = weft_fail(WEFT_ERROR_UNSUPPORTED,
                           "the kernel's spectrum has another box than the field's; this is a "
                           "defect of weft");
    status = weft_agree(made->transport, status);
    if (status == WEFT_SUCCESS) {
        memcpy(in, b->data,
               (size_t)count_elements(b, 0, b->rank) * (size_t)b->numbers * sizeof *in);
        status = weft_execute(made, WEFT_FORWARD, in, out);
    }
    free(in);
    if (status != WEFT_SUCCESS && out != room) free(out);
    if (status == WEFT_SUCCESS) *spectrum = out;
    return status;
}

static weft_status make_plan(weft_plan plan, const weft_convolved *c, weft_plan *made) {
    weft_operator shift;
    const weft_problem problem = problem_of_kernel(c, &shift);
    return weft_convolved_plan(plan, &problem, made);
}

static bool has_fourier_axis(const weft_convolved *c) {
    for (int a = 0; a < c->problem.rank; a++)
        if (!reflects(&c->axis[a])) return true;
    return false;
}

weft_status weft_convolved_keep_plan(weft_plan plan, weft_convolved *c) {
    if (c->kernel_plan || !has_fourier_axis(c)) return WEFT_SUCCESS;
    return make_plan(plan, c, &c->kernel_plan);
}

/* A plan transforms the kernel, of which each rank makes its box. */
static weft_status by_plan(weft_plan plan, const weft_convolved *c, const void *kernel, block *b,
                           void *spectrum) {
    weft_plan made = c->kernel_plan;
    weft_box box;
    double *data = NULL;
    int64_t elements = 1;
    if (!made) WEFT_TRY(make_plan(plan, c, &made));
    weft_plan_box(made, WEFT_INPUT, plan->transport->rank, &box);
    weft_status status = collect_and_read(plan, c, kernel, &box, b);
    if (status == WEFT_SUCCESS) status = weft_agree(plan->transport, reflect(c, &box, b));
    /* From here on the spectrum of the kernel before may be lost, so there is none until the new
     * one is whole. */
    if (status == WEFT_SUCCESS) plan->set_arrays = 0;
    const bool pairs = c->complex_factors && c->problem.precision == WEFT_DOUBLE;
    if (status == WEFT_SUCCESS)
        status = transform(made, c, b, spectrum, pairs ? c->bytes : 0, &data);
    if (status == WEFT_SUCCESS && c->scattered.rows > 0)
        status = shift_scattered(c, plan->call.options.threads, data);
    for (int a = 0; a < b->rank; a++) elements *= c->spectrum.n[a];
    if (status == WEFT_SUCCESS)
        store(c, plan->call.options.threads, data, true, elements, spectrum);
    if (data != spectrum) free(data);
    if (made != c->kernel_plan) weft_plan_destroy(&made);
    return status;
}

weft_status weft_convolved_array(weft_plan plan, const weft_convolved *c, const void *kernel,
                                 void *spectrum) {
    block b = {.rank = 0};
    weft_status status = WEFT_SUCCESS;
    if (has_fourier_axis(c)) {
        status = by_plan(plan, c, kernel, &b, spectrum);
    } else {
        status = collect_and_read(plan, c, kernel, &c->spectrum, &b);
        if (status == WEFT_SUCCESS) status = reflect(c, &c->spectrum, &b);
        if (status == WEFT_SUCCESS)
            store(c, plan->call.options.threads, b.data, !c->real, count_elements(&b, 0, b.rank),
                  spectrum);
        status = weft_agree(plan->transport, status);
    }
    free(b.data);
    return status;
}
