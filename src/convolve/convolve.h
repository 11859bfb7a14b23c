/*
 * Convolutions: plans that go forward, multiply by the spectrum of a kernel, and back. This part
 * checks a convolution's problem, chooses lengths of transforms for its boundaries, and makes the
 * kernel's spectrum; the rest is a composition (src/compose) with one WEFT_OPERATOR_ARRAY.
 */
#ifndef WEFT_CONVOLVE_H
#define WEFT_CONVOLVE_H

#include "exec/plan.h"

/* One axis of a convolution. */
typedef struct weft_convolved_axis {
    weft_boundary boundary;
    weft_axis type;    /* of the transform */
    int64_t n;         /* points of the field */
    int64_t kernel;    /* of the kernel, if that is an array */
    int64_t origin;    /* the kernel's element of displacement 0 */
    int64_t transform; /* points of the transform, n or more */
    int64_t kept;      /* points of the result */
    int64_t first;     /* element of the field convolved with the kernel's elements 0, 1, ... that
                          the result begins with */
    double spacing;
    bool staggered; /* wavenumbers are those of WEFT_STAGGERED */
    bool turns; /* fields are odd along it where others, or what is made of them, are even: index
                   i has wavenumber i, and index 0 wavenumber n of odd ones, too */
} weft_convolved_axis;

enum { WEFT_CONVOLVED_FIELDS = 6 }; /* of a symmetric tensor: the most that a kernel makes */

/* A convolution's problem, checked and completed. */
struct weft_convolution_private {
    weft_convolution_problem problem;
    weft_convolved_axis axis[WEFT_MAX_RANK];
    weft_parity parity;                     /* of the fields, along axes that turn */
    unsigned odd[2][WEFT_CONVOLVED_FIELDS]; /* [direction]: axes that turn, as bits, along which
                                               each field is odd */
    bool turning;                           /* some axis turns */
    bool real;                              /* the field's numbers */
    bool complex_factors;                   /* the kernel's spectrum is an array of pairs */
    double points;      /* product of the logical lengths: what there and back multiplies by */
    int free_axes;      /* of WEFT_FREE_SPACE with a built-in kernel; 0 to 3 */
    double *covariance; /* [rank * rank]: a copy of the caller's, or NULL */
    double zero[2];     /* a copy of the caller's kernel.zero */
    bool in_boxes;      /* kernel.box was given: ranks have boxes of the caller's array */
    weft_region held;   /* this rank's box of that array, or all of it */
    double *wave[WEFT_MAX_RANK];  /* wavenumbers by index, where the kernel makes fields; or NULL */
    double *phase[WEFT_MAX_RANK]; /* of WEFT_STAGGERED: exp(i k h / 2), pairs, likewise; or NULL */
    double *table[WEFT_MAX_RANK]; /* factors by index, where the kernel is their product; or NULL */
    char *note;                   /* what to tell of the choice of the method; or NULL */
    char *snippet;                /* the same where kernels do it; or NULL */
    weft_box spectrum;            /* this rank's box of it, ... */
    weft_scattered scattered; /* ... of whose elements these are the frequencies, if it says so */
    void *array;  /* the kernel's spectrum over `points`, where the plan computes, ... */
    bool on_host; /* ... or in page-locked memory, which the device reads */
    size_t bytes;
    weft_plan kernel_plan; /* transforms kernels, on the host; NULL until a kernel is replaced */
};
typedef struct weft_convolution_private weft_convolved;

/* Reads and checks the caller's problem (shape.c). The caller releases *c, also after a failure. */
weft_status weft_convolved_read(const weft_convolution_problem *given, weft_convolved *c);
void weft_convolved_release(weft_convolved *c);
/* Fills in c->axis and what follows from the axes, of c->problem. */
void weft_convolved_find_axes(weft_convolved *c);
/* The least product of 2, 3, 5 and 7 that is n or more. */
int64_t weft_convolved_length(int64_t n);

/* Bytes of the kernel's spectrum on this rank. */
size_t weft_convolved_bytes(const weft_convolved *c);

/* Whether the kernel is an array of the caller's, in either space; and that array's bytes. */
static inline bool weft_convolved_is_given(const weft_convolved *c) {
    const weft_kernel_kind kind = c->problem.kernel.kind;
    return kind == WEFT_KERNEL_ARRAY || kind == WEFT_KERNEL_SPECTRUM;
}
size_t weft_convolved_given_bytes(const weft_convolved *c);
static inline size_t weft_convolved_given_element(const weft_convolved *c) {
    const bool real = c->real && c->problem.kernel.kind == WEFT_KERNEL_ARRAY;
    return weft_number_bytes(c->problem.precision) * (real ? 1 : 2);
}

/* The part of the caller's array that a rank needs (given.c). */
typedef struct weft_given_kernel {
    const void *data; /* row-major over `box`; NULL: there is no array */
    weft_region box;  /* holds what was asked for */
    void *own;        /* the caller frees it */
} weft_given_kernel;
/* All of that array. */
weft_region weft_convolved_whole(const weft_convolved *c);
/* Reads kernel.box, once there are the axes. */
weft_status weft_convolved_read_box(weft_convolved *c);
/* Whether the caller gives a kernel now: the same on all ranks. Collective. */
weft_status weft_convolved_has_array(weft_transport *transport, const weft_convolved *c,
                                     const void *array, bool *has);
/* Finds `wanted` in the caller's array, or in those of all ranks. Collective. */
weft_status weft_convolved_collect(weft_transport *transport, const weft_convolved *c,
                                   const void *array, const weft_region *wanted,
                                   weft_given_kernel *given);

/* Fills in this rank's box of the spectrum of a kernel that is a formula or, of
 * WEFT_KERNEL_SPECTRUM, `given`, over `points` (symbol.c). */
void weft_convolved_symbol(const weft_convolved *c, const weft_given_kernel *given, int threads,
                           void *spectrum);
/* The extent of the spectrum along an axis: real fields' is halved along the last Fourier one. */
int64_t weft_convolved_extent(const weft_convolved *c, int a);
/* The wavenumber of index i along an axis of the spectrum, and whether it stands for its negative
 * as well: index n/2. */
double weft_convolved_wavenumber(const weft_convolved_axis *axis, int64_t i);
/* The same before its discretization. */
double weft_convolved_frequency(const weft_convolved_axis *axis, int64_t i);
bool weft_convolved_folds(const weft_convolved_axis *axis, int64_t i);
/* Whether index i belongs to wavenumber 0 of one of the series along an axis that turns and to n of
 * the other: an odd derivative makes nothing of either. */
static inline bool weft_convolved_is_alone(const weft_convolved_axis *axis, int64_t i) {
    return axis->turns && i == 0;
}
/* The index in the whole spectrum of element i of this rank's part of a scattered one; of real
 * fields it may be more than n/2, too. */
static inline int64_t weft_convolved_scattered_index(const weft_convolved *c, int64_t i) {
    const weft_scattered *s = &c->scattered;
    return s->lo + i / s->columns + i % s->columns * s->rows;
}
/* Whether the kernel's spectrum is a real function of |k|^2; and that function over `points`, of
 * count wavenumbers of which `square` are the squares along one axis, the first of them that of
 * index 0, and `across` the sum of those along the others. */
bool weft_convolved_is_radial(const weft_convolved *c);
void weft_convolved_radial_row(const weft_convolved *c, double across, const double *square,
                               int64_t count, double *value);
/* What the field's spectrum is multiplied by at an index of the whole array, over `points`. */
void weft_convolved_symbol_of(const weft_convolved *c, const int64_t *index, double value[2]);
/* The power of i that a derivative comes with, of the series that its axes have. */
void weft_convolved_power_of_i(const weft_convolved *c, double value[2]);
/* What the field's spectrum is multiplied by where the kernel's is `value`: correlation and
 * deconvolution. */
void weft_convolved_finish(const weft_convolved *c, double value[2]);
/* Stores factor number i of the spectrum. */
void weft_convolved_put(const weft_convolved *c, void *spectrum, int64_t i, const double value[2]);

/* Makes c->kernel_plan unless it is there, or no axis is a Fourier one (kernel.c). With it kernels
 * are transformed without a plan for each. Collective. */
weft_status weft_convolved_keep_plan(weft_plan plan, weft_convolved *c);
/* The spectrum of a kernel that is an array of the caller's. Collective. */
weft_status weft_convolved_array(weft_plan plan, const weft_convolved *c, const void *kernel,
                                 void *spectrum);

/* The same of a built-in kernel in free space (free_space.c). Collective. */
weft_status weft_convolved_free_space(weft_plan plan, const weft_convolved *c, void *spectrum);

/* Both axes of component f of a symmetric tensor, as bits, if it is off the diagonal. */
static inline unsigned weft_tensor_axes(int rank, int f) {
    static const unsigned pairs[] = {1u << 1 | 1u << 2, 1u << 0 | 1u << 2, 1u << 0 | 1u << 1};
    return f < rank ? 0 : pairs[rank == 3 ? f - rank : 2];
}
/* Fills in c->parity and c->odd, and which axes turn (parity.c). */
void weft_convolved_find_parity(weft_convolved *c);

/* Kernels that make fields from one another (fields.c): how many fields of a point there are before
 * and after; checks; wavenumbers; and the function of a WEFT_OPERATOR_MATRIX, whose argument is the
 * convolution. */
static inline int weft_convolved_fields(const weft_convolved *c, bool made) {
    return weft_kernel_fields(c->problem.kernel.kind, c->problem.rank, made);
}
weft_status weft_convolved_check_fields(const weft_convolution_problem *problem);
weft_status weft_convolved_find_waves(weft_convolved *c);
void weft_convolved_apply_fields(const weft_fields_run *run, void *convolved);
/* The snippet of a WEFT_OPERATOR_MATRIX of such a kernel, or of a WEFT_OPERATOR_FUNCTION of a
 * kernel of |k|^2. `index` is what gives the spectrum's index along axis `a` in the snippet. The
 * caller frees *snippet. */
weft_status weft_convolved_write_snippet(const weft_convolved *c, const char *index,
                                         char **snippet);
static inline bool weft_convolved_makes_fields(const weft_convolved *c) {
    const weft_kernel_kind kind = c->problem.kernel.kind;
    return kind >= WEFT_KERNEL_GRADIENT && kind <= WEFT_KERNEL_ELASTIC;
}

/* Fills in c->table where the kernel's spectrum is a product of one factor for each axis, pairs of
 * complex_factors, over `points` (separable.c). */
weft_status weft_convolved_find_tables(weft_convolved *c);
/* Whether there is no array of the kernel's spectrum: the plan makes it as it multiplies. */
static inline bool weft_convolved_has_no_array(const weft_convolved *c) {
    return weft_convolved_makes_fields(c) || c->table[0];
}

/* The box of a rank, with three axes, of which the first are of one point where the problem has
 * fewer, as samples and levels see it. */
weft_region weft_convolved_region(weft_plan plan, weft_space space, int rank, int axes);

/* Begins to make plan->outlined, of a plan over simulated ranks that has the boxes: with a state
 * that was just allocated, or NULL for want of memory, and messages of its own between the ranks of
 * ctx. `what` it is done by is for error messages. Collective. */
weft_status weft_outlined_begin(weft_plan plan, weft_context ctx, const weft_outlined_ops *ops,
                                void *state, const char *what);

/* Fails: the kernel cannot be interpolated, say, better than to this error. */
weft_status weft_convolved_refuse(const weft_convolved *c, double tolerance, const char *what,
                                  double error);

/* Convolutions by tiles (overlap_save.c). Decides by problem.method whether c is one: then *made is
 * what there is to know of it, which the caller frees, c becomes the cyclic convolution of a tile,
 * and *options those of its plan. Not collective. */
weft_status weft_overlap_save_choose(weft_context ctx, weft_convolved *c, weft_options *options,
                                     weft_overlap_save **made);
/* Why c cannot be done by tiles, or NULL. */
const char *weft_overlap_save_obstacle(weft_context ctx, const weft_convolved *c,
                                       const weft_options *options);
/* As weft_overlap_save_choose, of a part: the box `result` of the result is made out of the box
 * `field` of the field, which has all that it depends on. Both have the batch in front. */
weft_status weft_overlap_save_cut(weft_convolved *c, weft_options *options,
                                  const weft_region *field, const weft_region *result,
                                  weft_overlap_save **made);
/* What that is estimated to take, and transforms of the whole field on one process. */
double weft_overlap_save_seconds(const weft_convolved *c, const weft_options *options,
                                 const weft_region *field, const weft_region *result);
double weft_overlap_save_whole_seconds(const weft_convolved *c);
/* Makes the convolution of such a part, without a kernel (convolution.c). */
weft_status weft_convolved_by_tiles(weft_context ctx, const weft_convolved *c,
                                    const weft_options *options, const weft_region *field,
                                    const weft_region *result, weft_plan *plan);
/* Makes plan->overlap_save ready to run, and the plan one of the whole to its callers, once the
 * kernel's spectrum has its memory; releases it. Not collective. */
weft_status weft_overlap_save_prepare(weft_plan plan);
void weft_overlap_save_release(weft_plan plan);
/* Adds the workspaces and tables of all threads but the first, and the tiles. */
void weft_overlap_save_add_memory(weft_plan plan, weft_memory *memory);

/* A plan on the host whose spectrum has the boxes of the convolution's: `problem` over the ranks
 * and with the decomposition of `plan`, for forward transforms if that is a scattered line.
 * Collective. */
weft_status weft_convolved_plan(weft_plan plan, const weft_problem *problem, weft_plan *made);

#endif
