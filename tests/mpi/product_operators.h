/*
 * Operators for the product test: random lists, and their product as one number for each global
 * index, in long double from the definitions.
 */
#ifndef WEFT_TESTS_PRODUCT_OPERATORS_H
#define WEFT_TESTS_PRODUCT_OPERATORS_H

#include "mpi/product_oracle.h"

#include <weft/weft.h>

enum { MOST_DRAWN = 3, LONGEST_AXIS = 256, PLACES = 3 };

/* What the lists of one case point to. */
typedef struct drawn_operators {
    weft_operator list[PLACES][MOST_DRAWN];
    double table[PLACES][MOST_DRAWN][WEFT_MAX_RANK][2 * LONGEST_AXIS];
    double window[PLACES][MOST_DRAWN][WEFT_MAX_RANK][LONGEST_AXIS];
    char snippet[PLACES][512]; /* multiply_by_index, for devices */
} drawn_operators;

/* The factor that the test's function multiplies by: exact in either precision. */
static inline double function_factor(const int64_t *index, int64_t batch) {
    int64_t sum = batch;
    for (int a = 0; a < WEFT_MAX_RANK; a++) sum += (a + 3) * index[a];
    return 0.5 + (double)(sum % 5) / 4;
}

static inline void multiply_by_index(const weft_operator_run *run, void *argument) {
    int64_t index[WEFT_MAX_RANK];
    const int width = 1 + run->complex_elements;
    (void)argument;
    memcpy(index, run->index, sizeof index);
    for (int64_t k = 0; k < run->count; k++, index[run->axis]++)
        for (int part = 0; part < width; part++) {
            const double factor = function_factor(index, run->batch);
            if (run->precision == WEFT_SINGLE)
                ((float *)run->data)[k * width + part] *= (float)factor;
            else
                ((double *)run->data)[k * width + part] *= factor;
        }
}

static inline void write_snippet(int rank, bool real, char *text, size_t size) {
    snprintf(text, size,
             "long64 sum = batch;\n"
             "for (int a = 0; a < %d; a++) sum += (a + 3) * index[a];\n"
             "const real factor = (real)0.5 + (real)(sum %% 5) / (real)4;\n%s",
             rank, real ? "value *= factor;" : "value = complex_scale(value, factor);");
}

/* Windows that keep most of the data, so that rounding is not all that is left. */
static inline void draw_window(int (*pick)(int), weft_operator *o, const int64_t *n, int rank) {
    const int most = pick(rank);
    for (int a = 0; a < rank; a++) {
        if (a != most && pick(2)) continue;
        weft_window *w = &o->window[a];
        w->kind = (weft_window_kind)(1 + pick(WEFT_WINDOW_TUKEY));
        w->symmetric = pick(2) && n[a] > 2; /* two symmetric points may both be next to nothing */
        w->parameter = w->kind == WEFT_WINDOW_KAISER  ? 1 + pick(6)
                       : w->kind == WEFT_WINDOW_TUKEY ? pick(5) / 4.0
                                                      : 1 + pick(40);
    }
}

static inline void draw_operator(int (*pick)(int), const int64_t *logical, const int64_t *n,
                                 int rank, bool real, const char *snippet, weft_operator *o,
                                 double table[][2 * LONGEST_AXIS]) {
    *o = (weft_operator){.kind = (weft_operator_kind)(1 + pick(5)),
                         .factor = (1 + pick(9)) / 7.0,
                         .function = multiply_by_index,
                         .snippet = snippet};
    if (o->kind == WEFT_OPERATOR_WINDOW) draw_window(pick, o, n, rank);
    bool shifts = false;
    for (int a = 0; a < rank && o->kind == WEFT_OPERATOR_SHIFT; a++) {
        o->shift[a] =
            real ? (double)(pick(3) * logical[a]) / 2
                 : pick(2) * (pick(2 * (int)logical[a] + 1) - (double)logical[a]) + pick(2) * 0.375;
        shifts = shifts || o->shift[a] != 0;
    }
    if (o->kind == WEFT_OPERATOR_SHIFT && !shifts) o->kind = WEFT_OPERATOR_SCALE;
    if (o->kind != WEFT_OPERATOR_TABLE) return;
    const int most = pick(rank);
    o->complex_factors = !real && pick(2);
    for (int a = 0; a < rank; a++) {
        if (a != most && pick(2)) continue;
        for (int64_t i = 0; i < 2 * n[a]; i++) table[a][i] = (1 + pick(1000)) / 700.0;
        o->table[a] = table[a];
    }
}

/* The points along axis `a` of what a place's array is: real space, or the spectrum of so many. */
static inline int64_t place_points(const weft_problem *p, int place, int a) {
    return place == 1 && p->truncate_to[a] > 0 ? p->truncate_to[a] : p->n[a];
}

/* Extents of a place's array. */
static inline void place_extents(const weft_problem *p, int place, int64_t *n) {
    for (int a = 0; a < WEFT_MAX_RANK; a++) n[a] = place_points(p, place, a);
    if (place == 1 && p->kind == WEFT_R2C) n[p->rank - 1] = n[p->rank - 1] / 2 + 1;
}

static inline weft_operators *operators_of(weft_problem *p, int place) {
    weft_operators *all[PLACES] = {&p->load, &p->spectral, &p->store};
    return all[place];
}

/* ---- arrays: one for each place, with its number ---- */

/* Part 0 or 1 of the factor of element `number` of the whole array; exact in either precision. */
static inline double place_factor(int place, int64_t number, int part) {
    return (double)((number * 7919 + place * 31 + part * 17) % 1009 - 404) / 256;
}

/* The operator of a place that has an array, or NULL. */
static inline const weft_operator *operator_with_array(const weft_problem *p, int place) {
    const weft_operators all[PLACES] = {p->load, p->spectral, p->store};
    for (int k = 0; k < all[place].count; k++)
        if (all[place].list[k].kind == WEFT_OPERATOR_ARRAY) return &all[place].list[k];
    return NULL;
}

/* The factors of the box of `rank`; NULL where it is empty. The caller frees them. */
static inline void *make_factors(const weft_problem *p, weft_plan plan, int rank, int place,
                                 int width, size_t *bytes) {
    int64_t n[WEFT_MAX_RANK], count = 1;
    weft_box box;
    place_extents(p, place, n);
    weft_plan_box(plan, place == 1 ? WEFT_OUTPUT : WEFT_INPUT, rank, &box);
    for (int a = 0; a < p->rank; a++) count *= box.n[a];
    *bytes =
        (size_t)(count * width) * (p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double));
    if (count == 0) return NULL;
    void *factors = malloc(*bytes);
    for (int64_t i = 0; i < count * width; i++) {
        int64_t index[WEFT_MAX_RANK], rest = i / width, number = 0;
        for (int a = p->rank - 1; a >= 0; a--) {
            index[a] = box.lo[a] + rest % box.n[a];
            rest /= box.n[a];
        }
        for (int a = 0; a < p->rank; a++) number = number * n[a] + index[a];
        const double factor = place_factor(place, number, (int)(i % width));
        if (p->precision == WEFT_SINGLE)
            ((float *)factors)[i] = (float)factor;
        else
            ((double *)factors)[i] = factor;
    }
    return factors;
}

/* Sets the arrays of the plan's operators, in memory of the device if it has its own.
 * release_arrays frees what is in `array`, before the plan is destroyed. */
static inline weft_status set_arrays(const weft_problem *p, weft_plan plan, int rank,
                                     bool on_device, void *array[PLACES]) {
    weft_status status = WEFT_SUCCESS;
    for (int place = 0; place < PLACES; place++) {
        const weft_operator *o = operator_with_array(p, place);
        size_t bytes;
        array[place] = NULL;
        if (!o || status != WEFT_SUCCESS) continue;
        void *factors = make_factors(p, plan, rank, place, 1 + o->complex_factors, &bytes);
        if (on_device && factors) {
            status = weft_buffer_create(plan, bytes, &array[place]);
            if (status == WEFT_SUCCESS)
                status = weft_buffer_upload(plan, array[place], factors, bytes);
            free(factors);
        } else {
            array[place] = factors;
        }
        if (status == WEFT_SUCCESS) status = weft_plan_set_array(plan, place, array[place]);
    }
    return status;
}

static inline void release_arrays(weft_plan plan, bool on_device, void *array[PLACES]) {
    for (int place = 0; place < PLACES; place++)
        if (on_device)
            weft_buffer_destroy(plan, &array[place]);
        else
            free(array[place]);
}

/* Random lists in all three places, some of them empty. With `arrays` some have an array. */
static inline void draw_operators(int (*pick)(int), weft_problem *p, bool arrays,
                                  drawn_operators *d) {
    for (int place = 0; place < PLACES; place++) {
        int64_t n[WEFT_MAX_RANK], points[WEFT_MAX_RANK];
        const int count = pick(MOST_DRAWN + 1);
        const bool real = place != 1 && p->kind == WEFT_R2C;
        place_extents(p, place, n);
        for (int a = 0; a < p->rank; a++) points[a] = place_points(p, place, a);
        write_snippet(p->rank, real, d->snippet[place], sizeof d->snippet[place]);
        for (int k = 0; k < count; k++) {
            weft_operator *o = &d->list[place][k];
            draw_operator(pick, points, n, p->rank, real, d->snippet[place], o, d->table[place][k]);
            if (arrays && pick(4) == 0 && k == count / 2)
                *o = (weft_operator){.kind = WEFT_OPERATOR_ARRAY,
                                     .array = place,
                                     .complex_factors = !real && pick(2)};
            for (int a = 0; a < p->rank && o->kind == WEFT_OPERATOR_WINDOW; a++)
                weft_window_values(&o->window[a], n[a], d->window[place][k][a]);
        }
        *operators_of(p, place) = (weft_operators){d->list[place], count};
    }
}

/* Of the operators on the spectrum, those that leave one that real data has. */
static inline void keep_real_spectra(weft_problem *p, drawn_operators *d) {
    weft_operator *list = d->list[1];
    int kept = 0;
    for (int k = 0; k < p->spectral.count; k++)
        if (list[k].kind == WEFT_OPERATOR_SCALE || list[k].kind == WEFT_OPERATOR_SHIFT)
            list[kept++] = list[k];
    p->spectral.count = kept;
}

/* By the shift theorem; real where frequencies n/2 and -n/2 meet. */
static inline oracle_number shift_factor(int place, int64_t n, long double s, int64_t i) {
    const long double pi = 3.14159265358979323846264338327950288L;
    const int64_t k = place == 1 && 2 * i > n ? i - n : i;
    const long double angle = 2 * pi * fmodl((long double)k * s, (long double)n) / (long double)n;
    if (place == 1 && 2 * i == n) return cosl(angle);
    return cosl(angle) + (place == 0 ? 1 : -1) * sinl(angle) * (oracle_number)I;
}

/* What operator k of a place multiplies by for index i of axis a. */
static inline oracle_number axis_factor(const weft_problem *p, const drawn_operators *d, int place,
                                        int k, int a, int64_t i) {
    const weft_operators all[PLACES] = {p->load, p->spectral, p->store};
    const weft_operator *o = &all[place].list[k];
    if (o->kind == WEFT_OPERATOR_WINDOW) return (long double)d->window[place][k][a][i];
    if (o->kind == WEFT_OPERATOR_SHIFT)
        return shift_factor(place, place_points(p, place, a), (long double)o->shift[a], i);
    if (o->kind != WEFT_OPERATOR_TABLE || !o->table[a]) return 1;
    const double *t = o->table[a];
    if (!o->complex_factors) return (long double)t[i];
    return (long double)t[2 * i] + (long double)t[2 * i + 1] * I;
}

/* The product of a place's operators, as tables of the axes' indices, but for functions. */
typedef struct place_factors {
    oracle_number axis[WEFT_MAX_RANK][LONGEST_AXIS], all;
    int functions;
} place_factors;

static inline place_factors *factors_of(const weft_problem *p, const drawn_operators *d, int place,
                                        const int64_t *n) {
    const weft_operators all[PLACES] = {p->load, p->spectral, p->store};
    place_factors *f = malloc(sizeof *f);
    f->all = 1;
    f->functions = 0;
    for (int k = 0; k < all[place].count; k++) {
        const weft_operator *o = &all[place].list[k];
        if (o->kind == WEFT_OPERATOR_SCALE) f->all *= (long double)o->factor;
        f->functions += o->kind == WEFT_OPERATOR_FUNCTION;
    }
    for (int a = 0; a < p->rank; a++)
        for (int64_t i = 0; i < n[a]; i++) {
            f->axis[a][i] = 1;
            for (int k = 0; k < all[place].count; k++)
                f->axis[a][i] *= axis_factor(p, d, place, k, a, i);
        }
    return f;
}

/* Multiplies the global array of a place, batch after batch, and returns the mean of |factor|^2. */
static inline double apply_operators(const weft_problem *p, const drawn_operators *d, int place,
                                     oracle_number *data) {
    int64_t n[WEFT_MAX_RANK], total = 1, index[WEFT_MAX_RANK];
    long double sum = 0;
    place_extents(p, place, n);
    for (int a = 0; a < p->rank; a++) total *= n[a];
    place_factors *f = factors_of(p, d, place, n);
    const weft_operator *array = operator_with_array(p, place);
    for (int64_t i = 0; i < total * p->batch; i++) {
        int64_t rest = i % total;
        memset(index, 0, sizeof index);
        for (int a = p->rank - 1; a >= 0; a--) {
            index[a] = rest % n[a];
            rest /= n[a];
        }
        oracle_number factor = f->all;
        for (int a = 0; a < p->rank; a++) factor *= f->axis[a][index[a]];
        if (array) {
            factor *= (long double)place_factor(place, i % total, 0) +
                      array->complex_factors * (long double)place_factor(place, i % total, 1) *
                          (oracle_number)I;
        }
        for (int k = 0; k < f->functions; k++)
            factor *= (long double)function_factor(index, i / total);
        data[i] *= factor;
        sum += creall(factor * conjl(factor));
    }
    free(f);
    return (double)(sum / (long double)(total * p->batch));
}

#endif
