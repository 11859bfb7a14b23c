/*
 * Convolutions over ranks: random fields, kernels and boundaries, mixed over the axes, against
 * direct sums, also by overlap-save, of kernels that every rank has and that they share; built-in
 * kernels against eigenfunctions of mixed boundaries; free space, alone and mixed with other
 * boundaries, against closed forms.
 *
 *   convolve [--cases N] [--seed S] [--device host|simulated|opencl|cuda] [--case C] [--scale M]
 */
#include "promised_device.h"
#include "random_numbers.h"

#include <weft/weft_mpi.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 14 * 14 * 14 }; /* of a kernel that is given by its spectrum */

static const double pi = 3.14159265358979323846;
static int rank, ranks, failures, refusals, streamed;
static weft_context ctx, alone;
static weft_device device;

typedef struct convolve_case {
    weft_convolution_problem problem;
    weft_options options;
    double tolerance; /* of errors relative to the largest value, or to `least` if that is larger */
    double least;
    char text[512];
} convolve_case;

static void fail(const convolve_case *c, const char *what) {
    fprintf(stderr, "rank %d of %d: %s: %s\n", rank, ranks, c->text, what);
    failures++;
}

static void describe(convolve_case *c, int number) {
    const weft_convolution_problem *p = &c->problem;
    const weft_options *o = &c->options;
    int at = snprintf(c->text, sizeof c->text, "case %d: %s %s batch %d kernel %s", number,
                      weft_kind_name(p->kind), weft_precision_name(p->precision), (int)p->batch,
                      weft_kernel_kind_name(p->kernel.kind));
    for (int a = 0; a < p->rank; a++)
        at += snprintf(c->text + at, sizeof c->text - (size_t)at, ", %s n %d kernel %d@%d",
                       weft_boundary_name(p->boundary[a]), (int)p->n[a], (int)p->kernel.n[a],
                       (int)p->kernel.origin[a]);
    snprintf(c->text + at, sizeof c->text - (size_t)at,
             ", mode %s%s%s, method %s, %s grid %d,%d variant %s engine %s exchange %s threads %d",
             weft_convolution_mode_name(p->mode), p->correlate ? " correlate" : "",
             p->deconvolve ? " deconvolve" : "",
             weft_convolution_method_name((weft_convolution_method)p->method),
             weft_decomposition_name(o->decomposition), o->grid[0], o->grid[1],
             weft_variant_name(o->variant), weft_engine_name(o->engine),
             weft_exchange_name(o->exchange[0]), o->threads);
}

/* ---- random plans ---- */

static void choose_options(convolve_case *c) {
    static const weft_decomposition decompositions[] = {
        WEFT_DECOMPOSITION_AUTO, WEFT_SLAB_2D1D, WEFT_SLAB_1D2D, WEFT_SLAB_Y_ZX, WEFT_PENCIL};
    static const weft_exchange exchanges[] = {WEFT_EXCHANGE_AUTO, WEFT_P2P_SYNC, WEFT_P2P_STREAMS,
                                              WEFT_P2P_TYPE,      WEFT_A2A_SYNC, WEFT_A2A_TYPE,
                                              WEFT_PEER};
    static const weft_engine engines[] = {WEFT_ENGINE_AUTO, WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW,
                                          WEFT_ENGINE_REFERENCE};
    weft_options *o = &c->options;
    *o = (weft_options){.device = device,
                        .variant = (weft_variant)random_below(3),
                        .threads = 1 + random_below(2),
                        .chunks = random_below(4)};
    if (c->problem.rank > 1) o->decomposition = decompositions[random_below(5)];
    o->exchange[0] = exchanges[random_below(7)];
    o->engine = device == WEFT_HOST ? engines[random_below(4)] : WEFT_ENGINE_AUTO;
    if (o->decomposition == WEFT_SLAB_1D2D && c->problem.rank < 2)
        o->decomposition = WEFT_DECOMPOSITION_AUTO;
    if (device != WEFT_HOST && random_below(3) == 0) {
        o->location = WEFT_LOCATION_HOST;
        if (random_below(3)) o->stream = random_below(2) ? WEFT_STREAM_ON : WEFT_STREAM_SYNC;
    }
    /* What other devices hold, partners cannot read. */
    if (device != WEFT_HOST && device != WEFT_CUDA && o->exchange[0] == WEFT_PEER)
        o->exchange[0] = WEFT_P2P_SYNC;
}

static weft_boundary random_boundary(void) {
    return (weft_boundary)random_below(5);
}

static weft_convolution_problem random_shape(int rank_of_problem, int least, int most) {
    weft_convolution_problem p = {.rank = rank_of_problem,
                                  .kind = random_below(2) ? WEFT_R2C : WEFT_C2C};
    for (int a = 0; a < p.rank; a++) {
        p.n[a] = least + random_below(most - least + 1);
        p.boundary[a] = random_boundary();
    }
    return p;
}

/* ---- arrays ---- */

static int64_t elements_of(const weft_box *box, int axes) {
    int64_t count = 1;
    for (int a = 0; a < axes; a++) count *= box->n[a];
    return count;
}

static void index_of(const weft_box *box, int axes, int64_t i, int64_t *index) {
    for (int a = axes - 1; a >= 0; a--) {
        index[a] = box->lo[a] + i % box->n[a];
        i /= box->n[a];
    }
}

/* Stores a complex number as element i of an array of the problem's numbers. */
static void put(const weft_convolution_problem *p, void *array, int64_t i, double complex value) {
    const bool real = p->kind == WEFT_R2C;
    for (int part = 0; part < (real ? 1 : 2); part++) {
        const int64_t at = real ? i : 2 * i + part;
        const double number = part ? cimag(value) : creal(value);
        if (p->precision == WEFT_SINGLE)
            ((float *)array)[at] = (float)number;
        else
            ((double *)array)[at] = number;
    }
}

static double complex get(const weft_convolution_problem *p, const void *array, int64_t i) {
    const bool real = p->kind == WEFT_R2C, single = p->precision == WEFT_SINGLE;
    const int64_t at = real ? i : 2 * i;
    const double re = single ? (double)((const float *)array)[at] : ((const double *)array)[at];
    const double im = real     ? 0
                      : single ? (double)((const float *)array)[at + 1]
                               : ((const double *)array)[at + 1];
    return re + im * I;
}

/* What a point of the field or of the result is, by its global index. */
typedef double complex (*value_function)(const convolve_case *c, const int64_t *index,
                                         int64_t member);

static bool on_device(weft_convolution plan, void *host, size_t bytes, void **buffer) {
    return weft_buffer_create(plan, bytes, buffer) == WEFT_SUCCESS &&
           weft_buffer_upload(plan, *buffer, host, bytes) == WEFT_SUCCESS;
}

/* The place in memory of an element of a member, whose array has so many. */
static int64_t place_of(const weft_convolution_problem *p, int64_t member, int64_t members,
                        int64_t i, int64_t elements) {
    return p->fields_fastest ? i * members + member : member * elements + i;
}

/* Convolves on all ranks, and compares with what is expected, relative to the largest value of the
 * result. A point has `fields` before, and `made` after. */
static void run_and_compare_fields(const convolve_case *c, weft_convolution plan,
                                   value_function field, value_function expected, int fields,
                                   int made) {
    const weft_convolution_problem *p = &c->problem;
    const int64_t before = (p->batch > 0 ? p->batch : 1) * fields;
    const int64_t after = (p->batch > 0 ? p->batch : 1) * made;
    weft_box in_box, out_box;
    size_t in_bytes = 0, out_bytes = 0;
    weft_plan_box(plan, WEFT_INPUT, rank, &in_box);
    weft_plan_box(plan, WEFT_OUTPUT, rank, &out_box);
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes);
    const int64_t ins = elements_of(&in_box, p->rank), outs = elements_of(&out_box, p->rank);
    const size_t element = (p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double)) *
                           (p->kind == WEFT_C2C ? 2 : 1);
    if (in_bytes != (size_t)(before * ins) * element ||
        out_bytes != (size_t)(after * outs) * element)
        fail(c, "weft_plan_bytes are not those of the boxes");
    void *in = malloc(in_bytes + 1), *out = malloc(out_bytes + 1), *there = NULL, *back = NULL;
    int64_t index[WEFT_MAX_RANK];
    for (int64_t i = 0; i < before * ins; i++) {
        index_of(&in_box, p->rank, i % ins, index);
        put(p, in, place_of(p, i / ins, before, i % ins, ins), field(c, index, i / ins));
    }
    memset(out, 0xff, out_bytes);
    const bool stays = c->options.location == WEFT_LOCATION_HOST;
    bool ran = (in_bytes == 0 || stays || on_device(plan, in, in_bytes, &there)) &&
               (out_bytes == 0 || stays || on_device(plan, out, out_bytes, &back));
    if (!ran ||
        weft_convolution_execute(plan, stays ? in : there, stays ? out : back) != WEFT_SUCCESS ||
        (back && weft_buffer_download(plan, out, back, out_bytes) != WEFT_SUCCESS)) {
        fail(c, weft_last_error(ctx));
        ran = false;
    }
    double most[2] = {0, 0};
    for (int64_t i = 0; i < after * outs && ran; i++) {
        index_of(&out_box, p->rank, i % outs, index);
        const double complex want = expected(c, index, i / outs);
        const double complex got = get(p, out, place_of(p, i / outs, after, i % outs, outs));
        const double off = cabs(got - want);
        most[0] = fmax(most[0], cabs(want));
        most[1] = fmax(most[1], isnan(off) ? INFINITY : off);
    }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (ran && !(most[1] <= c->tolerance * fmax(most[0], c->least))) {
        char text[128];
        snprintf(text, sizeof text, "off by %g of %g", most[1], most[0]);
        fail(c, text);
    }
    weft_buffer_destroy(plan, &there);
    weft_buffer_destroy(plan, &back);
    free(in);
    free(out);
}

static void run_and_compare(const convolve_case *c, weft_convolution plan, value_function field,
                            value_function expected) {
    run_and_compare_fields(c, plan, field, expected, 1, 1);
}

/* Whether it was made; what a device or engine does not have is no failure. */
static bool create(convolve_case *c, weft_convolution *plan) {
    const weft_status status = weft_convolution_create(ctx, &c->problem, &c->options, plan);
    streamed += status == WEFT_SUCCESS && c->options.stream != WEFT_STREAM_AUTO;
    if (status == WEFT_SUCCESS) return true;
    const bool refused = status == WEFT_ERROR_UNSUPPORTED;
    const char *why = weft_last_error(ctx);
    const bool known = strstr(why, "real-to-real") || strstr(why, "1-D transform runs on one") ||
                       strstr(why, "can be split over") || strstr(why, "cosine") ||
                       strstr(why, "engine fftw") || strstr(why, "FFTW") ||
                       strstr(why, "options.stream: operators that") ||
                       strstr(why, "beside real-to-real") || strstr(why, "matrices of fields") ||
                       strstr(why, "lines over several ranks");
    if (!refused || !known) fail(c, why);
    refusals++;
    return false;
}

/* ---- arrays against direct sums ---- */

static double complex *whole_kernel; /* as given */

/* The field's value at any index: beyond the box as the boundaries say. */
static double complex hashed(const int64_t *index, int axes, int64_t member, bool real) {
    uint64_t z = 0x1234567 + (uint64_t)member * 7919;
    for (int a = 0; a < axes; a++) z = (z ^ (uint64_t)index[a]) * 0xbf58476d1ce4e5b9u + 77;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    const double re = (float)((double)(z >> 40) * 0x1p-23 - 1);
    const double im = (float)((double)(z & 0xffffff) * 0x1p-23 - 1);
    return real ? re : re + im * I;
}

static double complex field_value(const convolve_case *c, const int64_t *index, int64_t member) {
    return hashed(index, c->problem.rank, member, c->problem.kind == WEFT_R2C);
}

static double complex extended(const convolve_case *c, const int64_t *index, int64_t member) {
    const weft_convolution_problem *p = &c->problem;
    int64_t inside[WEFT_MAX_RANK];
    double sign = 1;
    for (int a = 0; a < p->rank; a++) {
        const int64_t n = p->n[a], i = index[a];
        switch (p->boundary[a]) {
        case WEFT_PERIODIC:
            inside[a] = (i % n + n) % n;
            break;
        case WEFT_LINEAR:
        case WEFT_FREE_SPACE:
            if (i < 0 || i >= n) return 0;
            inside[a] = i;
            break;
        default: {
            const int64_t turned = (i % (2 * n) + 2 * n) % (2 * n);
            inside[a] = turned < n ? turned : 2 * n - 1 - turned;
            if (turned >= n && p->boundary[a] == WEFT_DIRICHLET) sign = -sign;
        }
        }
    }
    return sign * field_value(c, inside, member);
}

static bool is_half(const weft_convolution_problem *p, int a) {
    return p->boundary[a] >= WEFT_DIRICHLET && p->kernel.origin[a] == 0;
}

/* The index of the result's first element in the sum over j of kernel[j] field[i - j]. */
static int64_t first_of(const weft_convolution_problem *p, int a) {
    const int64_t n = p->n[a], m = p->kernel.n[a];
    if (p->boundary[a] != WEFT_LINEAR)
        return p->correlate && !is_half(p, a) ? m - 1 - p->kernel.origin[a] : p->kernel.origin[a];
    return p->mode == WEFT_FULL ? 0 : p->mode == WEFT_SAME ? (m - 1) / 2 : (n < m ? n : m) - 1;
}

static double complex direct_sum(const convolve_case *c, const int64_t *index, int64_t member) {
    const weft_convolution_problem *p = &c->problem;
    weft_box box = {{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    double complex sum = 0;
    for (int a = 0; a < p->rank; a++)
        box.n[a] = is_half(p, a) ? 2 * p->kernel.n[a] - 1 : p->kernel.n[a];
    const int64_t count = elements_of(&box, p->rank);
    for (int64_t j = 0; j < count; j++) {
        int64_t at[WEFT_MAX_RANK], point[WEFT_MAX_RANK], element = 0;
        index_of(&box, p->rank, j, at);
        for (int a = 0; a < p->rank; a++) {
            const int64_t m = p->kernel.n[a];
            int64_t k = at[a];
            if (is_half(p, a)) {
                point[a] = index[a] - (k - (m - 1));
                k = llabs(k - (m - 1));
            } else {
                point[a] = index[a] + first_of(p, a) - k;
                if (p->correlate) k = m - 1 - k;
            }
            element = element * m + k;
        }
        const double complex w = whole_kernel[element];
        sum += (p->correlate ? conj(w) : w) * extended(c, point, member);
    }
    return sum;
}

/* Kernels along axes that reflect are symmetric: made so by taking the mean with the mirrored one.
 */
static void make_kernel(convolve_case *c, void **array) {
    weft_convolution_problem *p = &c->problem;
    weft_box box = {{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int a = 0; a < p->rank; a++) box.n[a] = p->kernel.n[a];
    const int64_t count = elements_of(&box, p->rank);
    whole_kernel = malloc((size_t)count * sizeof *whole_kernel);
    *array = malloc((size_t)count * 2 * sizeof(double));
    for (int64_t i = 0; i < count; i++) {
        whole_kernel[i] = (float)random_number();
        if (p->kind == WEFT_C2C) whole_kernel[i] += (float)random_number() * I;
    }
    for (int a = 0, inner = (int)count; a < p->rank; a++) {
        const int64_t m = p->kernel.n[a];
        inner /= (int)m;
        if (p->boundary[a] < WEFT_DIRICHLET || p->kernel.origin[a] == 0) continue;
        for (int64_t i = 0; i < count; i++) {
            const int64_t j = i / inner % m;
            if (j < m / 2) whole_kernel[i] = whole_kernel[i + (m - 1 - 2 * j) * inner];
        }
    }
    for (int64_t i = 0; i < count; i++) put(p, *array, i, whole_kernel[i]);
    for (int64_t i = 0; i < count; i++) whole_kernel[i] = get(p, *array, i);
}

/* This rank's box of a kernel of extents n: the kernel is cut into rows of boxes along its first
 * axis and columns along its last one; ranks beyond them have none. NULL: every rank has the whole
 * kernel. The box's numbers of the whole kernel are moved to the beginning of the array. */
static const weft_box *share_kernel(const weft_convolution_problem *p, const int64_t *n,
                                    size_t number_bytes, void *array) {
    static weft_box box;
    if (random_below(3) > 0) return NULL;
    const int last = p->rank - 1, columns = 1 + random_below(ranks);
    const int rows = last > 0 ? ranks / columns : 1, row = rank / columns, column = rank % columns;
    box = (weft_box){{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int a = 0; a < p->rank; a++) box.n[a] = n[a];
    if (last > 0) {
        box.lo[0] = row < rows ? n[0] * row / rows : 0;
        box.n[0] = n[0] * (row + 1) / rows - box.lo[0];
    }
    box.lo[last] = n[last] * column / columns;
    box.n[last] = row < rows ? n[last] * (column + 1) / columns - box.lo[last] : 0;
    if (row >= rows) box.n[0] = 0;
    const int64_t count = elements_of(&box, p->rank);
    for (int64_t i = 0; i < count; i++) { /* elements only move towards the beginning */
        int64_t index[WEFT_MAX_RANK], from = 0;
        index_of(&box, p->rank, i, index);
        for (int a = 0; a < p->rank; a++) from = from * n[a] + index[a];
        memmove((char *)array + (size_t)i * number_bytes,
                (char *)array + (size_t)from * number_bytes, number_bytes);
    }
    return &box;
}

static size_t bytes_of_number(const weft_convolution_problem *p, bool real) {
    return (p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double)) * (real ? 1 : 2);
}

static void array_case(int number) {
    convolve_case c;
    void *array;
    weft_convolution plan = NULL;
    c.problem = random_shape(1 + random_below(3), 1, random_below(4) ? 9 : 12);
    weft_convolution_problem *p = &c.problem;
    p->precision = random_below(3) ? WEFT_DOUBLE : WEFT_SINGLE;
    p->batch = random_below(3);
    p->mode = (weft_convolution_mode)random_below(3);
    p->correlate = random_below(3) == 0;
    if (device == WEFT_HOST && random_below(2)) p->method = WEFT_OVERLAP_SAVE;
    for (int a = 0; a < p->rank; a++) {
        if (p->method == WEFT_OVERLAP_SAVE) p->boundary[a] = WEFT_LINEAR;
        p->kernel.n[a] = 1 + random_below(random_below(5) ? 5 : 14);
        p->kernel.origin[a] = random_below((int)p->kernel.n[a]);
        if (p->boundary[a] < WEFT_DIRICHLET) continue;
        if (random_below(2)) {
            p->kernel.origin[a] = 0;
        } else {
            p->kernel.n[a] |= 1;
            p->kernel.origin[a] = p->kernel.n[a] / 2;
        }
    }
    choose_options(&c);
    c.tolerance = p->precision == WEFT_SINGLE ? 2e-5 : 1e-12;
    c.least = 1e-3;
    make_kernel(&c, &array);
    p->kernel.box = share_kernel(p, p->kernel.n, bytes_of_number(p, p->kind == WEFT_R2C), array);
    const bool later = random_below(4) == 0;
    const bool none = p->kernel.box && elements_of(p->kernel.box, p->rank) == 0;
    if (none) {
        free(array);
        array = NULL;
    }
    p->kernel.array = later ? NULL : array;
    describe(&c, number);
    if (create(&c, &plan)) {
        if (later && weft_convolution_set_kernel(plan, array) != WEFT_SUCCESS)
            fail(&c, weft_last_error(ctx));
        run_and_compare(&c, plan, field_value, direct_sum);
    }
    weft_convolution_destroy(&plan);
    free(whole_kernel);
    free(array);
}

/* The middle of a cell along an axis. */
static double position(const weft_convolution_problem *p, const int64_t *index, int a) {
    const double length = p->length[a] > 0 ? p->length[a] : (double)p->n[a];
    return ((double)index[a] + 0.5) * length / (double)p->n[a];
}

/* ---- built-in kernels against eigenfunctions ---- */

static int64_t mode_number[WEFT_MAX_RANK];
static double wavenumber[WEFT_MAX_RANK];
static double complex eigenvalue;

/* `factor` times a product of exp(i k x), sin and cos, sampled in the middles of cells; of a real
 * field the real part. `odd`: bits of the axes with sin, of those that are not periodic. */
static double complex wave_at(const convolve_case *c, const int64_t *index, unsigned odd,
                              double complex factor) {
    const weft_convolution_problem *p = &c->problem;
    double phase = 0, product = 1;
    for (int a = 0; a < p->rank; a++) {
        const double angle = wavenumber[a] * position(p, index, a);
        if (p->boundary[a] == WEFT_PERIODIC)
            phase += angle;
        else
            product *= odd >> a & 1 ? sin(angle) : cos(angle);
    }
    const double complex wave = factor * cexp(phase * I);
    return p->kind == WEFT_C2C ? product * wave : product * creal(wave);
}

/* The axes with a boundary, as bits. */
static unsigned axes_with(const weft_convolution_problem *p, weft_boundary boundary) {
    unsigned axes = 0;
    for (int a = 0; a < p->rank; a++)
        if (p->boundary[a] == boundary) axes |= 1u << a;
    return axes;
}

/* i or, of minus one, -i to the number of axes. */
static double complex power_of_i(int sign, unsigned axes) {
    return cpow((double)sign * I, __builtin_popcount(axes));
}

static double complex eigenfunction(const convolve_case *c, const int64_t *index, int64_t member) {
    return wave_at(c, index, axes_with(&c->problem, WEFT_DIRICHLET), 1 + (double)member);
}

/* Derivatives of odd order make sines of cosines and back: sin(k x) is -i/2 exp(i k x) and its
 * conjugate, so the eigenvalue is that of such series. */
static double complex multiple(const convolve_case *c, const int64_t *index, int64_t member) {
    const weft_convolution_problem *p = &c->problem;
    const unsigned before = axes_with(p, WEFT_DIRICHLET),
                   reflecting = before | axes_with(p, WEFT_NEUMANN);
    unsigned after = before;
    for (int a = 0; a < p->rank && p->kernel.kind == WEFT_KERNEL_DERIVATIVE; a++)
        if (p->kernel.order[a] % 2 != 0) after ^= 1u << a & reflecting;
    const double complex turned =
        eigenvalue * power_of_i(-1, before & ~after) * power_of_i(1, after & ~before);
    return wave_at(c, index, after, turned * (1 + (double)member));
}

static void odd_function(const double *k, int axes, double value[2], void *argument) {
    double sum = 0;
    for (int a = 0; a < axes; a++) sum += (a + 1) * k[a] * k[a];
    value[0] = 1 / (1 + sum);
    value[1] = *(double *)argument * sin(k[0]);
}

static double covariance[WEFT_MAX_RANK * WEFT_MAX_RANK];
static const double zero[2] = {0, 0};

/* The wavenumber along an axis of the kernel. */
static double discrete(const weft_convolution_problem *p, int a) {
    const double h = p->length[a] > 0 ? p->length[a] / (double)p->n[a] : 1;
    if (p->kernel.discretization == WEFT_SPECTRAL) return wavenumber[a];
    return 2 * sin(wavenumber[a] * h / 2) / h;
}

/* Gives the kernel's function as an array of its values instead. */
static void tabulate(weft_convolution_problem *p) {
    static double values[2 * MOST_VALUES];
    weft_convolution_kernel *kernel = &p->kernel;
    int halved = p->kind == WEFT_R2C ? p->rank - 1 : -1;
    while (halved >= 0 && p->boundary[halved] != WEFT_PERIODIC) halved--;
    int64_t n[WEFT_MAX_RANK], points = 1;
    for (int a = 0; a < p->rank; a++) points *= n[a] = a == halved ? p->n[a] / 2 + 1 : p->n[a];
    for (int64_t i = 0; i < points; i++) {
        double k[WEFT_MAX_RANK], value[2];
        int64_t rest = i;
        for (int a = p->rank - 1; a >= 0; rest /= n[a--]) {
            const int64_t j = rest % n[a];
            const double length = p->length[a] > 0 ? p->length[a] : (double)p->n[a];
            k[a] = p->boundary[a] == WEFT_PERIODIC
                       ? 2 * pi * (double)(2 * j > p->n[a] ? j - p->n[a] : j) / length
                       : pi * (double)(p->boundary[a] == WEFT_DIRICHLET ? j + 1 : j) / length;
        }
        kernel->function(k, p->rank, value, kernel->argument);
        for (int part = 0; part < 2; part++)
            if (p->precision == WEFT_SINGLE)
                ((float *)(void *)values)[2 * i + part] = (float)value[part];
            else
                values[2 * i + part] = value[part];
    }
    kernel->kind = WEFT_KERNEL_SPECTRUM;
    kernel->array = values;
    kernel->box = share_kernel(p, n, bytes_of_number(p, false), values);
    kernel->function = NULL;
    kernel->argument = NULL;
}

static void choose_symbol(weft_convolution_problem *p, double *argument) {
    weft_convolution_kernel *k = &p->kernel;
    double square = 0, form = 0;
    k->kind = (weft_kernel_kind)(1 + random_below(8));
    k->parameter = 0.3 + 0.1 * random_below(10);
    if (k->kind >= WEFT_KERNEL_POISSON && k->kind != WEFT_KERNEL_DERIVATIVE && random_below(3) == 0)
        k->discretization = WEFT_STAGGERED;
    for (int a = 0; a < p->rank; a++) square += pow(discrete(p, a), 2);
    memset(covariance, 0, sizeof covariance);
    switch (k->kind) {
    case WEFT_KERNEL_FUNCTION: {
        double value[2];
        *argument = p->boundary[0] == WEFT_PERIODIC ? 0.5 : 0;
        k->function = odd_function;
        k->argument = argument;
        odd_function(wavenumber, p->rank, value, argument);
        eigenvalue = value[0] + value[1] * I;
        break;
    }
    case WEFT_KERNEL_GAUSSIAN:
        for (int a = 0; a < p->rank; a++)
            for (int b = 0; b < p->rank; b++) {
                const bool mixed =
                    p->boundary[a] == WEFT_PERIODIC && p->boundary[b] == WEFT_PERIODIC;
                covariance[a * p->rank + b] = a == b ? 0.1 + a : mixed ? 0.05 : 0;
                form += wavenumber[a] * covariance[a * p->rank + b] * wavenumber[b];
            }
        k->covariance = covariance;
        eigenvalue = exp(-form / 2);
        break;
    case WEFT_KERNEL_POISSON:
        k->zero = zero;
        eigenvalue = square > 0 ? 1 / square : 0;
        break;
    case WEFT_KERNEL_SCREENED_POISSON:
        eigenvalue = 1 / (square + k->parameter * k->parameter);
        break;
    case WEFT_KERNEL_HEAT:
        eigenvalue = exp(-k->parameter * square);
        break;
    case WEFT_KERNEL_RIESZ:
        eigenvalue = pow(square, k->parameter / 2);
        break;
    case WEFT_KERNEL_DERIVATIVE:
        eigenvalue = 1;
        for (int a = 0; a < p->rank; a++) {
            k->order[a] = random_below(4);
            for (int i = 0; i < k->order[a]; i++) eigenvalue *= wavenumber[a] * I;
        }
        break;
    default:
        eigenvalue = -square;
    }
}

static void symbol_case(int number) {
    convolve_case c;
    double argument = 0;
    weft_convolution plan = NULL;
    c.problem = random_shape(1 + random_below(3), 3, 14);
    weft_convolution_problem *p = &c.problem;
    p->batch = random_below(3);
    for (int a = 0; a < p->rank; a++) {
        const weft_boundary boundary = random_boundary();
        const bool reflects = boundary == WEFT_DIRICHLET || boundary == WEFT_NEUMANN;
        p->boundary[a] = reflects ? boundary : WEFT_PERIODIC;
        if (random_below(2)) p->length[a] = 0.5 * (1 + random_below(8));
        const double length = p->length[a] > 0 ? p->length[a] : (double)p->n[a];
        const bool periodic = p->boundary[a] == WEFT_PERIODIC;
        const int most = (int)(periodic ? (p->n[a] - 1) / 2 : p->n[a] - 1);
        mode_number[a] = random_below(most + 1);
        if (p->boundary[a] == WEFT_DIRICHLET) mode_number[a]++;
        wavenumber[a] = (periodic ? 2 : 1) * pi * (double)mode_number[a] / length;
        if (periodic && random_below(2)) wavenumber[a] = -wavenumber[a];
    }
    choose_symbol(p, &argument);
    if (p->kernel.kind == WEFT_KERNEL_FUNCTION && random_below(2)) {
        if (random_below(2)) p->precision = WEFT_SINGLE;
        tabulate(p);
    }
    choose_options(&c);
    p->correlate = random_below(3) == 0;
    if (p->correlate) eigenvalue = conj(eigenvalue);
    p->deconvolve = random_below(3) == 0;
    p->regularizer = 0.01;
    if (p->deconvolve)
        eigenvalue = conj(eigenvalue) / (creal(eigenvalue * conj(eigenvalue)) + p->regularizer);
    c.least = 1;
    /* A derivative rounds as the largest wavenumbers' do. */
    for (int a = 0; a < p->rank && p->kernel.kind == WEFT_KERNEL_DERIVATIVE; a++)
        c.least *= pow(pi * (double)p->n[a] / (p->length[a] > 0 ? p->length[a] : (double)p->n[a]),
                       p->kernel.order[a]);
    /* Kernels differ by orders of magnitude over the spectrum. */
    c.tolerance = p->precision == WEFT_SINGLE ? 1e-4 : 1e-9;
    describe(&c, number);
    if (create(&c, &plan)) run_and_compare(&c, plan, eigenfunction, multiple);
    weft_convolution_destroy(&plan);
}

/* ---- kernels that make fields from one another, of plane waves ---- */

static double complex amplitude[6];
static int fields_of_point[2]; /* before and after */

/* Component (a, b) of a symmetric tensor among its fields. */
static int component(int axes, int a, int b) {
    if (a == b) return a;
    return axes == 2 ? 2 : 6 - a - b;
}

/* From where component (a, b) is to the middle of the cell. */
static double complex turn(const weft_convolution_problem *p, int a, int b) {
    if (p->kernel.discretization == WEFT_SPECTRAL || a == b) return 1;
    return cexp(I / 2 *
                (wavenumber[a] * p->length[a] / (double)p->n[a] +
                 wavenumber[b] * p->length[b] / (double)p->n[b]));
}

/* The matrices in their textbook forms: the elastic one is Gamma_abij of four indices. */
static double complex made_of(const weft_convolution_problem *p, int field) {
    const double lambda = p->kernel.lame[0], mu = p->kernel.lame[1];
    double k[3] = {0}, square = 0;
    double complex along = 0, sum = 0;
    for (int a = 0; a < p->rank; a++) k[a] = discrete(p, a);
    for (int a = 0; a < p->rank; a++) square += k[a] * k[a];
    for (int a = 0; a < p->rank; a++) along += k[a] * amplitude[a];
    switch (p->kernel.kind) {
    case WEFT_KERNEL_GRADIENT:
        return I * k[field] * amplitude[0];
    case WEFT_KERNEL_DIVERGENCE:
        return I * along;
    case WEFT_KERNEL_CURL: {
        const int b = p->rank == 2 ? 0 : (field + 1) % 3, d = p->rank == 2 ? 1 : (field + 2) % 3;
        return I * (k[b] * amplitude[d] - k[d] * amplitude[b]);
    }
    case WEFT_KERNEL_LERAY:
        return amplitude[field] - (square > 0 ? k[field] * along / square : 0);
    default:
        break;
    }
    int a = 0, b = 0;
    for (int i = 0; i < p->rank * p->rank; i++)
        if (component(p->rank, i / p->rank, i % p->rank) == field) a = i / p->rank, b = i % p->rank;
    for (int i = 0; i < p->rank && square > 0; i++)
        for (int j = 0; j < p->rank; j++) {
            const double four = (a == i ? k[b] * k[j] : 0) + (b == i ? k[a] * k[j] : 0) +
                                (a == j ? k[b] * k[i] : 0) + (b == j ? k[a] * k[i] : 0);
            const double gamma =
                four / (4 * mu * square) - (lambda + mu) / (mu * (lambda + 2 * mu)) * k[a] * k[b] *
                                               k[i] * k[j] / (square * square);
            sum += gamma * amplitude[component(p->rank, i, j)] * turn(p, i, j);
        }
    return sum * conj(turn(p, a, b));
}

/* The axes that reflect along which a field is odd, as bits: a vector's component along an axis is
 * the other way round than a scalar there, and a tensor's along both of its axes. */
static unsigned odd_axes(const weft_convolution_problem *p, bool after, int64_t field) {
    const unsigned sines = axes_with(p, WEFT_DIRICHLET),
                   reflecting = sines | axes_with(p, WEFT_NEUMANN);
    const weft_kernel_kind kind = p->kernel.kind;
    unsigned turned = 0;
    for (int a = 0; a < p->rank; a++) {
        const bool scalar = kind == (after ? WEFT_KERNEL_DIVERGENCE : WEFT_KERNEL_GRADIENT);
        const bool axial = kind == WEFT_KERNEL_CURL && after;
        bool odd = !scalar && (axial ? p->rank == 2 || a != field : a == field);
        if (kind == WEFT_KERNEL_ELASTIC) odd = false;
        for (int b = 0; b < p->rank && kind == WEFT_KERNEL_ELASTIC; b++)
            odd = odd || (b != a && component(p->rank, a, b) == field);
        if (odd) turned |= 1u << a;
    }
    return sines ^ (turned & reflecting);
}

static double complex wave_before(const convolve_case *c, const int64_t *index, int64_t member) {
    const int64_t field = member % fields_of_point[0];
    const unsigned odd = odd_axes(&c->problem, false, field);
    return wave_at(c, index, odd,
                   power_of_i(1, odd) * amplitude[field] *
                       (1 + (double)(member / fields_of_point[0])));
}

static double complex wave_after(const convolve_case *c, const int64_t *index, int64_t member) {
    const int64_t field = member % fields_of_point[1];
    const unsigned odd = odd_axes(&c->problem, true, field);
    return wave_at(c, index, odd,
                   power_of_i(1, odd) * made_of(&c->problem, (int)field) *
                       (1 + (double)(member / fields_of_point[1])));
}

/* What this rank alone gets on the host for a random field, which has all wavenumbers. */
static void *whole_result;

static bool convolve_alone(const convolve_case *c, weft_engine engine) {
    const weft_options options = {.engine = engine};
    const weft_convolution_problem *p = &c->problem;
    const size_t element = 2 * sizeof(double);
    const int64_t batch = p->batch > 0 ? p->batch : 1;
    const int64_t members = batch * fields_of_point[0], after = batch * fields_of_point[1];
    weft_box box = {{0}, {1, 1, 1}};
    int64_t index[WEFT_MAX_RANK];
    weft_convolution plan = NULL;
    memcpy(box.n, p->n, (size_t)p->rank * sizeof *p->n);
    const int64_t points = elements_of(&box, p->rank);
    void *in = malloc((size_t)(members * points) * element);
    whole_result = malloc((size_t)(after * points) * element);
    for (int64_t i = 0; i < members * points; i++) {
        index_of(&box, p->rank, i % points, index);
        put(p, in, place_of(p, i / points, members, i % points, points),
            field_value(c, index, i / points));
    }
    const bool good =
        weft_convolution_create(alone, &c->problem, &options, &plan) == WEFT_SUCCESS &&
        weft_convolution_execute(plan, in, whole_result) == WEFT_SUCCESS;
    if (!good) fail(c, weft_last_error(alone));
    weft_convolution_destroy(&plan);
    free(in);
    return good;
}

static double complex as_alone(const convolve_case *c, const int64_t *index, int64_t member) {
    const weft_convolution_problem *p = &c->problem;
    const int64_t members = (p->batch > 0 ? p->batch : 1) * fields_of_point[1];
    int64_t i = 0, points = 1;
    for (int a = 0; a < p->rank; a++) {
        i = i * p->n[a] + index[a];
        points *= p->n[a];
    }
    return get(p, whole_result, place_of(p, member, members, i, points));
}

/* Where kernels are compiled for the test, most cases do without transforms. */
static void fields_case(int number) {
    const bool compiles = device_compiles(device);
    const bool identity = compiles && number != 2;
    convolve_case c;
    weft_convolution plan = NULL;
    c.problem = random_shape(1 + random_below(3), 3, 12);
    weft_convolution_problem *p = &c.problem;
    p->kernel.kind = (weft_kernel_kind)(WEFT_KERNEL_GRADIENT +
                                        (compiles ? (number / 4 + 3) % 5 : random_below(5)));
    const bool wants_axes =
        p->kernel.kind == WEFT_KERNEL_CURL || p->kernel.kind == WEFT_KERNEL_ELASTIC;
    if (p->rank == 1 && wants_axes) p->kernel.kind = WEFT_KERNEL_LERAY;
    if (identity) p->kind = WEFT_C2C;
    p->kernel.lame[0] = 0.5 + random_below(3);
    p->kernel.lame[1] = 1 + random_below(3);
    if (p->kernel.kind == WEFT_KERNEL_ELASTIC && random_below(2))
        p->kernel.discretization = WEFT_STAGGERED;
    p->fields_fastest = random_below(2);
    p->batch = p->fields_fastest ? 1 : 1 + random_below(2);
    p->precision = random_below(3) ? WEFT_DOUBLE : WEFT_SINGLE;
    for (int a = 0; a < p->rank; a++) {
        const bool staggered = p->kernel.discretization == WEFT_STAGGERED;
        const bool reflects = !staggered && random_below(2);
        p->boundary[a] = !reflects         ? WEFT_PERIODIC
                         : random_below(2) ? WEFT_DIRICHLET
                                           : WEFT_NEUMANN;
        p->length[a] = 1 + random_below(4);
        mode_number[a] = random_below(reflects ? (int)p->n[a] + 1 : (int)(p->n[a] - 1) / 2 + 1);
        wavenumber[a] = (reflects          ? 1
                         : random_below(2) ? 2
                                           : -2) *
                        pi * (double)mode_number[a] / p->length[a];
    }
    for (int f = 0; f < 6; f++) {
        amplitude[f] = (float)random_number() + (float)random_number() * I;
        const unsigned odd = odd_axes(p, false, f);
        /* cos(n pi x) is 0 in the middles of cells. */
        for (int a = 0; a < p->rank; a++)
            if (p->boundary[a] != WEFT_PERIODIC && mode_number[a] == p->n[a] && !(odd >> a & 1))
                amplitude[f] = 0;
    }
    const int vector = p->rank, tensor = p->rank * (p->rank + 1) / 2;
    const int before[] = {1, vector, vector, vector, tensor};
    const int after[] = {vector, 1, p->rank == 2 ? 1 : vector, vector, tensor};
    fields_of_point[0] = before[p->kernel.kind - WEFT_KERNEL_GRADIENT];
    fields_of_point[1] = after[p->kernel.kind - WEFT_KERNEL_GRADIENT];
    choose_options(&c);
    if (identity) c.options.engine = WEFT_ENGINE_IDENTITY;
    c.tolerance = p->precision == WEFT_SINGLE ? 1e-4 : 1e-11;
    c.least = 1;
    for (int a = 0; a < p->rank && identity; a++)
        c.least /= 2 * (double)p->n[a]; /* what is left of 1 over the points */
    describe(&c, number);
    if (create(&c, &plan)) {
        if (!identity)
            run_and_compare_fields(&c, plan, wave_before, wave_after, fields_of_point[0],
                                   fields_of_point[1]);
        if (convolve_alone(&c, c.options.engine))
            run_and_compare_fields(&c, plan, field_value, as_alone, fields_of_point[0],
                                   fields_of_point[1]);
        free(whole_result);
    }
    weft_convolution_destroy(&plan);
}

/* ---- free space ---- */

static double width; /* of the Gaussian that is the field, in lengths */

static double distance(const convolve_case *c, const int64_t *index) {
    const weft_convolution_problem *p = &c->problem;
    double square = 0;
    for (int a = 0; a < p->rank; a++) {
        const double x = position(p, index, a) - p->length[a] / 2;
        square += x * x;
    }
    return sqrt(square);
}

/* A Gaussian of integral 1. */
static double complex gaussian(const convolve_case *c, const int64_t *index, int64_t member) {
    const double r = distance(c, index);
    (void)member;
    return exp(-r * r / (2 * width * width)) / pow(2 * pi * width * width, c->problem.rank / 2.0);
}

/* -Laplacian u = gaussian, u -> 0: erf(r / (sqrt(2) s)) / (4 pi r). */
static double complex potential(const convolve_case *c, const int64_t *index, int64_t member) {
    const double r = distance(c, index);
    (void)member;
    return r == 0 ? 2 / sqrt(pi) / (sqrt(2) * width) / (4 * pi)
                  : erf(r / (sqrt(2) * width)) / (4 * pi * r);
}

/* (kappa^2 - Laplacian) u = gaussian: exp(kappa^2 s^2 / 2) / (8 pi r) times the difference of
 * exp(-kappa r) erfc((kappa s - r/s) / sqrt 2) and exp(kappa r) erfc((kappa s + r/s) / sqrt 2). */
static double complex screened_potential(const convolve_case *c, const int64_t *index,
                                         int64_t member) {
    const double r = distance(c, index), k = c->problem.kernel.parameter, s = width;
    (void)member;
    return exp(k * k * s * s / 2) / (8 * pi * r) *
           (exp(-k * r) * erfc((k * s - r / s) / sqrt(2)) -
            exp(k * r) * erfc((k * s + r / s) / sqrt(2)));
}

/* s = 4 h: to rounding, in a box whose edges are 8 s away or more. */
static void free_space_case(int number) {
    convolve_case c = {.problem = {.rank = 3,
                                   .n = {70, 66, 77},
                                   .kind = WEFT_R2C,
                                   .length = {7, 6.6, 7.7},
                                   .boundary = {WEFT_FREE_SPACE, WEFT_FREE_SPACE, WEFT_FREE_SPACE}},
                       .tolerance = 1e-12};
    weft_convolution plan = NULL;
    width = 0.4;
    c.problem.kernel.kind = number % 2 ? WEFT_KERNEL_SCREENED_POISSON : WEFT_KERNEL_POISSON;
    c.problem.kernel.parameter = number % 2 ? 0.7 : 0;
    choose_options(&c);
    c.options.engine = WEFT_ENGINE_AUTO;
    describe(&c, number);
    if (create(&c, &plan))
        run_and_compare(&c, plan, gaussian, number % 2 ? screened_potential : potential);
    weft_convolution_destroy(&plan);
}

/* Free along some axes: u is a Gaussian there and an eigenfunction along the others, and the field
 * what the equation makes of u. */
static double complex solution(const convolve_case *c, const int64_t *index, int64_t member) {
    const weft_convolution_problem *p = &c->problem;
    double square = 0, product = 1 + (double)member;
    for (int a = 0; a < p->rank; a++) {
        const double x = position(p, index, a);
        if (p->boundary[a] == WEFT_FREE_SPACE)
            square += (x - p->length[a] / 2) * (x - p->length[a] / 2);
        else
            product *=
                p->boundary[a] == WEFT_DIRICHLET ? sin(wavenumber[a] * x) : cos(wavenumber[a] * x);
    }
    return product * exp(-square / (2 * width * width));
}

/* (kappa^2 - Laplacian) u. */
static double complex source(const convolve_case *c, const int64_t *index, int64_t member) {
    const weft_convolution_problem *p = &c->problem;
    const double over = 1 / (width * width);
    double factor =
        p->kernel.kind == WEFT_KERNEL_POISSON ? 0 : p->kernel.parameter * p->kernel.parameter;
    for (int a = 0; a < p->rank; a++) {
        const double x = position(p, index, a) - p->length[a] / 2;
        factor += p->boundary[a] == WEFT_FREE_SPACE ? over - x * x * over * over
                                                    : wavenumber[a] * wavenumber[a];
    }
    return factor * solution(c, index, member);
}

static void mixed_free_space_case(int number) {
    convolve_case c = {.tolerance = 1e-12, .least = 1};
    weft_convolution plan = NULL;
    weft_convolution_problem *p = &c.problem;
    c.problem = random_shape(1 + random_below(3), 4, 7);
    p->batch = random_below(3);
    const int always = random_below(p->rank);
    for (int a = 0; a < p->rank; a++) {
        if (a == always) p->boundary[a] = WEFT_FREE_SPACE;
        if (p->boundary[a] == WEFT_LINEAR) p->boundary[a] = WEFT_PERIODIC;
        if (p->boundary[a] == WEFT_FREE_SPACE) p->n[a] = 40 + random_below(3);
        p->length[a] = (double)p->n[a] / 10;
        const bool periodic = p->boundary[a] == WEFT_PERIODIC;
        mode_number[a] = random_below((int)(periodic ? (p->n[a] + 1) / 2 : p->n[a]));
        if (p->boundary[a] == WEFT_DIRICHLET) mode_number[a]++;
        wavenumber[a] = (periodic ? 2 : 1) * pi * (double)mode_number[a] / p->length[a];
    }
    width = 0.25;
    p->kernel.kind = random_below(2) ? WEFT_KERNEL_SCREENED_POISSON : WEFT_KERNEL_POISSON;
    p->kernel.parameter = 0.7 * random_below(2);
    choose_options(&c);
    describe(&c, number);
    if (create(&c, &plan)) run_and_compare(&c, plan, source, solution);
    weft_convolution_destroy(&plan);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"host", "cuda", "opencl", "openmp", "simulated"};
    int cases = 60, only = -1;
    uint64_t seed = 23;
    MPI_Init(&argc, &argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--case") == 0) only = atoi(argv[i + 1]);
        for (int d = 0; d < 5 && strcmp(argv[i], "--device") == 0; d++)
            if (strcmp(argv[i + 1], names[d]) == 0) device = (weft_device)d;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        fprintf(stderr, "convolve: %s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS ||
        weft_context_create(NULL, &alone) != WEFT_SUCCESS)
        return 1;
    for (int i = 0; i < cases; i++) {
        random_state = seed * 1000003 + (uint64_t)i;
        if (only >= 0 && i != only) continue;
        if (i < 2 && device == WEFT_HOST)
            free_space_case(i);
        else if (i % 4 == 0)
            array_case(i);
        else if (i % 4 == 1)
            symbol_case(i);
        else if (i % 4 == 2)
            fields_case(i);
        else
            mixed_free_space_case(i);
    }
    weft_context_destroy(&alone);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cases (seed %d), of which %d are not to be had here, %d streamed, %d failed\n",
               cases, (int)seed, refusals, streamed, failures);
    MPI_Finalize();
    return failures > 0;
}
