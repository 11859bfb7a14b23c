/*
 * Pointwise operators: checking the caller's lists, preparing them for the box of a rank, and
 * running them. Knows boxes, memory orders and precisions; nothing of plans, devices or MPI.
 */
#ifndef WEFT_OPERATOR_H
#define WEFT_OPERATOR_H

#include "layout/layout.h"

/* The place in a transform where a list is applied. */
typedef enum weft_operator_place {
    WEFT_PLACE_LOAD,     /* forward, input space */
    WEFT_PLACE_SPECTRAL, /* forward, output space */
    WEFT_PLACE_STORE,    /* inverse, input space */
    WEFT_PLACE_SPECTRUM, /* inverse, output space: operators of compositions */
    WEFT_PLACES
} weft_operator_place;

/* Operators of the library's own, for a line that is transformed as an array of n1 x n2
 * (twiddle.h): its twiddle factors, those of the inverse transform, and what makes the whole of
 * half a spectrum, for the real parts of the result: 2 for its elements that have a conjugate
 * partner, 0 for those of the other half. */
#define WEFT_OPERATOR_TWIDDLE ((weft_operator_kind)64)
#define WEFT_OPERATOR_TWIDDLE_BACK ((weft_operator_kind)65)
#define WEFT_OPERATOR_HALF_SPECTRUM ((weft_operator_kind)66)

static inline bool weft_operator_is_of_line(const weft_operator *o) {
    return o->kind >= WEFT_OPERATOR_TWIDDLE;
}

/* Whether an operator sees all fields of a point together, and whether it reads an array that the
 * caller sets. */
static inline bool weft_operator_is_matrix(const weft_operator *o) {
    return o->kind == WEFT_OPERATOR_MATRIX || o->kind == WEFT_OPERATOR_MATRIX_ARRAY;
}

static inline bool weft_operator_has_array(const weft_operator *o) {
    return o->kind == WEFT_OPERATOR_ARRAY || o->kind == WEFT_OPERATOR_MATRIX_ARRAY;
}

/* The name of the field of weft_problem for this place. */
const char *weft_operator_place_name(weft_operator_place place);

/* What callers set between executions, by number, and executions read: the arrays of
 * operators (weft_plan_set_array) and the parameters of functions
 * (weft_plan_set_parameter). An array is NULL until it is set. Operators with an array that is not
 * set do nothing: only runs that the caller did not ask for have such ones, and boxes without
 * elements. */
typedef struct weft_operator_settings {
    const void *array[WEFT_MAX_ARRAYS];
    double parameter[WEFT_MAX_PARAMETERS];
} weft_operator_settings;

/* What a reduction knows of a part of the array: the sum, that of the squares, or the largest
 * magnitude; all 0 of no elements (reduce.c). */
typedef struct weft_reduced {
    long double value[2]; /* real and imaginary part; the latter of WEFT_SUM only */
} weft_reduced;

void weft_reduced_combine(weft_reduction reduction, const weft_reduced *part, weft_reduced *all);
/* What callers get of the whole array. */
void weft_reduced_value(weft_reduction reduction, const weft_reduced *all, double value[2]);

/* A checked copy of a caller's list, tables included. */
typedef struct weft_operator_list {
    int count;
    weft_operator *item;
    const weft_operator_settings *settings; /* not owned; outlives what is prepared for the list */
} weft_operator_list;

/* The global array that a list is applied to. */
typedef struct weft_operator_space {
    int rank;
    const int64_t *logical; /* [rank]: lengths of the transforms */
    const int64_t *n; /* [rank]: extents of the array; of a half spectrum, the last is halved */
    bool real;        /* its elements */
    weft_operator_place place;
    bool takes_matrix;             /* operators there may make fields from one another */
    int64_t fields, result_fields; /* of a point: what they see, and what they leave */
} weft_operator_space;

/* Checks and copies a list; it begins with a scaling by `norm` if that is not 1. `name` is the
 * list's name in error messages. The caller releases the list, also after a failure. */
weft_status weft_operators_read(const weft_operators *given, const weft_operator_space *space,
                                const char *name, double norm,
                                const weft_operator_settings *settings, weft_operator_list *list);
void weft_operators_release(weft_operator_list *list);

/* Bytes of the list's copies. */
size_t weft_operators_bytes(const weft_operator_list *list, const weft_operator_space *space);

/* The arrays of the list's operators: bit n is that of number n. */
uint32_t weft_operators_arrays(const weft_operator_list *list);

/* The reductions of the list: bit n is that of number n; and that one, or NULL. */
uint32_t weft_operators_reductions(const weft_operator_list *list);
const weft_operator *weft_operators_reduction(const weft_operator_list *list, int number);

/* How many parameters the list's functions read. */
int weft_operators_parameters(const weft_operator_list *list);

/* Whether the list only scales (an empty one does, by 1); *factor gets the product. */
bool weft_operators_only_scale(const weft_operator_list *list, double *factor);

/* A checksum that differs (very probably) for different operators; functions and their arguments
 * are not included. */
uint64_t weft_operator_checksum(const weft_operator *operator, const weft_operator_space * space);

/* Checks the parameters of a window; `name` is its name in error messages. weft_window_value is the
 * value of a window of n points at index i. (window.c) */
weft_status weft_window_check(const weft_window *window, const char *name);
long double weft_window_value(const weft_window *window, int64_t n, int64_t i);

/* Whether the factors of a shift by s of n points are all 1 or -1; and the factors for the first
 * `count` indices of an array, as real numbers in that case and otherwise as pairs. (shift.c) */
bool weft_shift_is_real(int64_t n, double s);
void weft_shift_factors(weft_operator_place place, int64_t n, double s, bool pairs, int64_t count,
                        double *factors);

/* How a rank's share of the array lies in the caller's memory: n[a] of its indices along each axis,
 * in the order of the box or at strides of their own, as numbers of possibly another type. They are
 * the first ones or, of a spectrum that is truncated, the first n[a] - high[a] and the last
 * high[a], which are the negative frequencies. */
typedef struct weft_stored {
    weft_storage storage;
    double decibels[2];
    bool cropped; /* n is not the box's */
    int64_t n[WEFT_AXES], high[WEFT_AXES];
    bool strided; /* the elements lie at these strides, negative ones included */
    int64_t stride[WEFT_AXES];
} weft_stored;

/* A rank's share of the array: its box and memory order. The batch is axis number `rank`. */
typedef struct weft_pointwise_layout {
    weft_region box;
    int order[WEFT_AXES];
    int64_t n[WEFT_AXES]; /* global extents */
    bool real;
    weft_precision precision;
    weft_operator_place place;
    weft_stored stored; /* what is read, or written: see weft_pointwise_loads */
    int64_t fields;     /* of a point, of which box.n[rank] is a multiple; ... */
    int64_t made;       /* ... what a matrix makes of all members: 0: as many */
    bool keeps;         /* the results are written to another array of the caller's, too, ... */
    weft_stored kept;   /* ... which is never cropped */
} weft_pointwise_layout;

/* The layout of the array that keeps the results. */
static inline weft_pointwise_layout weft_kept_layout(const weft_pointwise_layout *layout) {
    weft_pointwise_layout kept = *layout;
    kept.stored = layout->kept;
    return kept;
}

/* Whether the caller's array is read, before the operators are applied; otherwise it is written
 * after them. */
static inline bool weft_pointwise_loads(const weft_pointwise_layout *layout) {
    return layout->place == WEFT_PLACE_LOAD || layout->place == WEFT_PLACE_SPECTRUM;
}

/* Of the caller's array: whether it is just the box; whether it has the elements of the box,
 * wherever they lie; its bytes from the lowest to the highest element, the bytes of an element, and
 * the alignment of its address (convert.c). */
bool weft_stored_is_box(const weft_stored *stored);
bool weft_stored_is_plain(const weft_stored *stored);
bool weft_stored_has_gaps(const weft_stored *stored); /* some of the last indices are there */
int64_t weft_stored_bytes(const weft_pointwise_layout *layout);
size_t weft_stored_element_bytes(const weft_pointwise_layout *layout);
size_t weft_stored_alignment(weft_storage storage, weft_precision precision);
/* The strides of an array of WEFT_OPERATOR_ARRAY, in its factors, for each axis: it is row-major
 * over the elements of the box that the caller's array has, and the same for the whole batch. */
void weft_pointwise_array_strides(const weft_pointwise_layout *layout, int64_t stride[WEFT_AXES]);
/* The strides of data in the order of the box, whose batch has so many members. */
void weft_pointwise_strides(const weft_pointwise_layout *layout, int64_t members,
                            int64_t stride[WEFT_AXES]);
/* Sets the strides of the caller's array, in its elements, for each axis. */
void weft_stored_strides(const weft_pointwise_layout *layout, int64_t stride[WEFT_AXES]);
/* The view that the caller's array is. */
weft_view weft_stored_view(const weft_pointwise_layout *layout);

/* Convert elements of the caller's array to numbers of the transform, and back. */
void weft_stored_load(const weft_pointwise_layout *layout, int64_t count, const void *from,
                      void *to);
void weft_stored_store(const weft_pointwise_layout *layout, int64_t count, const void *from,
                       void *to);

/* Whether a list has a matrix; and whether it may be where it is (fields.c). */
bool weft_operators_have_matrix(const weft_operator_list *list);
weft_status weft_fields_check(const weft_operator_list *list, const weft_operator_space *space,
                              const char *name);

/* A list prepared for one layout (prepare.c). The list must outlive it. */
typedef struct weft_pointwise weft_pointwise;

weft_status weft_pointwise_create(const weft_operator_list *list,
                                  const weft_pointwise_layout *layout, int threads,
                                  weft_pointwise **pointwise);
void weft_pointwise_release(weft_pointwise *pointwise);
size_t weft_pointwise_bytes(const weft_pointwise *pointwise);
/* Omits the caller's functions from now on, for runs that the caller did not ask for, such as
 * measurements. */
void weft_pointwise_omit_functions(weft_pointwise *pointwise);

/* Applies the operators to `in` and stores the result in `out`, which may be the same array
 * (apply.c). This is a weft_device_function; its argument is the weft_pointwise. */
weft_status weft_pointwise_run(void *pointwise, const void *in, void *out);
/* What the list's reduction of this number found in the last run; nothing before one. */
weft_reduced weft_pointwise_reduced(const weft_pointwise *pointwise, int number);
/* The factors of a row: element i is multiplied by before * table[i] or, where the table is NULL,
 * by before; both are numbers of the array's precision. */
typedef struct weft_pointwise_row {
    double before;
    const void *table;
} weft_pointwise_row;

/* Finds the factors of the `count` elements from number `first` on, in memory order. Returns false
 * where the operators are not one product of real factors, or the row's factors are not of that
 * form: weft_pointwise_apply applies them. */
bool weft_pointwise_find_row(const weft_pointwise *pointwise, int64_t first, int64_t count,
                             weft_pointwise_row *row);
/* The factors of up to 16 lines along one axis of the box: those of element k of line l are
 * before[l] * along[k] * after[0][l] * after[1][l] ..., multiplied in this order. They are numbers
 * of the array's precision. A row of `before` or `after` has the factors of all lines, each in its
 * place, and behind them the imaginary parts if factors are complex; `along` has pairs then. */
enum { WEFT_POINTWISE_ROW = 128 };
typedef struct weft_pointwise_lines {
    bool complex_factors;
    const void *along; /* NULL: 1 */
    int afters;
    _Alignas(64) unsigned char before[WEFT_POINTWISE_ROW];
    _Alignas(64) unsigned char after[WEFT_MAX_RANK][WEFT_POINTWISE_ROW];
} weft_pointwise_lines;

/* The factors of such lines in an array with a factor for each element: those of line l begin at
 * line[l], which is NULL if the array is not set, and are `step` factors apart. */
enum { WEFT_POINTWISE_LINES = 16 };
typedef struct weft_pointwise_array_lines {
    bool complex_factors;
    int count; /* of the lines that the box has: those before one that begins elsewhere than a line
                */
    int64_t step;
    const void *line[WEFT_POINTWISE_LINES];
} weft_pointwise_array_lines;

/* Whether a list is made of products whose factors are numbers of the precision, and of arrays, so
 * that the next two functions find the factors of its parts. */
bool weft_operators_multiply_lines(const weft_operator_list *list, weft_precision precision);
/* The parts of a list, which are applied one after the other. */
int weft_pointwise_parts(const weft_pointwise *pointwise);
/* Finds the factors that a part has for up to `count` lines along `axis`, if it is an array. Line l
 * begins with element number first[l], counted in memory order. */
bool weft_pointwise_find_array(const weft_pointwise *pointwise, int part, int axis,
                               const int64_t *first, int count, weft_pointwise_array_lines *lines);
/* The same if it is a product. Line l has place[l] in rows of `places`. */
void weft_pointwise_find_lines(const weft_pointwise *pointwise, int part, int axis,
                               const int64_t *first, const int *place, int count, int places,
                               weft_pointwise_lines *lines);
/* Multiplies a line of `count` elements along `axis`, which are contiguous in `line` and begin with
 * element number `first`, by all parts of such a list. */
void weft_pointwise_multiply_line(const weft_pointwise *pointwise, int axis, int64_t first,
                                  int64_t count, void *line);
/* Applies the operators to `count` elements at `data`, which are those of the box from number
 * `first` on, counted in memory order: for engines that apply operators themselves. */
void weft_pointwise_apply(const weft_pointwise *pointwise, int64_t first, int64_t count,
                          void *data);
/* Writes the results in `in` to the array that keeps them, which must be another one. */
weft_status weft_pointwise_keep(void *pointwise, const void *in, void *out);

#endif
