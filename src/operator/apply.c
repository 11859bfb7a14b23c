/*
 * Applies operators to a rank's box, one piece of consecutive elements after the other; all
 * operators are applied to a piece while it is in the first-level cache. Threads take equal shares
 * of the elements. This file is compiled without contraction to fused operations (CMakeLists.txt),
 * so that results have the same bits on every machine.
 */
#include "operator/pointwise.h"

#include "support/strided.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    PIECE = 1024,                  /* elements: their data and factors fit the first cache */
    ELEMENTS_PER_THREAD = 16 << 10 /* below this a thread costs more than it does */
};

#define REAL double
#define NAMED(name) name##_double
#include "operator/product.inc"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_single
#include "operator/product.inc"
#undef REAL
#undef NAMED

/* Multiplies in double precision, as the devices' scaling does, so that each value is rounded
 * once. */
static void scale_piece(const weft_pointwise *p, double factor, int64_t count, void *data) {
    const int64_t numbers = p->layout.real ? count : 2 * count;
    double *d = data;
    float *f = data;
    if (p->layout.precision == WEFT_SINGLE)
        for (int64_t i = 0; i < numbers; i++) f[i] = (float)((double)f[i] * factor);
    else
        for (int64_t i = 0; i < numbers; i++) d[i] *= factor;
}

static void call_function(const weft_pointwise *p, const weft_operator *o, const int64_t *index,
                          int64_t count, void *data) {
    weft_operator_run run = {.data = data,
                             .count = count,
                             .axis = p->run_axis,
                             .batch = index[p->rank],
                             .precision = p->layout.precision,
                             .complex_elements = !p->layout.real,
                             .parameter = p->settings->parameter};
    if (p->omits_functions || count == 0) return;
    for (int a = 0; a < p->rank; a++) run.index[a] = p->layout.box.lo[a] + index[a];
    if (p->run_axis < p->rank) {
        o->function(&run, o->argument);
        return;
    }
    /* The members of a point are neighbours, and a run is within one of them. */
    run.axis = p->rank - 1;
    for (run.count = 1; count > 0; count--, run.batch++) {
        o->function(&run, o->argument);
        run.data = (char *)run.data + weft_pointwise_element_bytes(p);
    }
}

static bool has_tables(const weft_pointwise *p, const weft_pointwise_part *part) {
    for (int a = 0; a < p->rank; a++)
        if (part->table[a]) return true;
    return false;
}

/* Multiplies the piece by the twiddle factors of index (k1, j2), which are along one of the two
 * axes. */
static void apply_twiddles(const weft_pointwise *p, const weft_pointwise_part *part,
                           const int64_t *index, int64_t count, void *data) {
    const int64_t k1 = p->layout.box.lo[0] + index[0], j2 = p->layout.box.lo[1] + index[1];
    const bool columns = p->run_axis == 0;
    weft_twiddles_apply(part->twiddles, p->layout.precision, columns ? j2 : k1, columns ? k1 : j2,
                        count, data);
}

/* Elements k = k2 n1 + k1 of the spectrum of real data: those below n/2 stand for their conjugate
 * partners, too, which are not there. */
static void complete_half_spectrum(const weft_pointwise *p, const int64_t *index, int64_t count,
                                   void *data) {
    const int64_t n1 = p->layout.n[0], n = n1 * p->layout.n[1];
    const int64_t k1 = p->layout.box.lo[0] + index[0], k2 = p->layout.box.lo[1] + index[1];
    const int64_t step = p->run_axis == 0 ? 1 : n1;
    double *d = data;
    float *f = data;
    for (int64_t i = 0; i < count; i++) {
        const int64_t k = k2 * n1 + k1 + i * step;
        const bool there = 2 * k <= n, alone = k == 0 || 2 * k == n;
        for (int part = 0; part < 2 && !alone; part++)
            if (p->layout.precision == WEFT_SINGLE)
                f[2 * i + part] = there ? 2 * f[2 * i + part] : 0;
            else
                d[2 * i + part] = there ? 2 * d[2 * i + part] : 0;
    }
}

/* Multiplies a piece along `axis` by the factors of a product or an array. */
static void multiply(const weft_pointwise *p, const weft_pointwise_part *part, int axis,
                     const int64_t *index, int64_t count, void *data) {
    const bool single = p->layout.precision == WEFT_SINGLE;
    if (part->array && single)
        apply_array_single(p, part, axis, index, count, data);
    else if (part->array)
        apply_array_double(p, part, axis, index, count, data);
    else if (!has_tables(p, part))
        scale_piece(p, part->scale, count, data);
    else if (single)
        apply_product_single(p, part, axis, index, count, data);
    else
        apply_product_double(p, part, axis, index, count, data);
}

/* Applies the list to a piece. Reductions add to `reduced`, one for each; without any it is not
 * read. */
static void apply_parts(const weft_pointwise *p, const int64_t *index, int64_t count, void *data,
                        weft_reduced *reduced) {
    for (int i = 0; i < p->parts; i++) {
        const weft_pointwise_part *part = &p->part[i];
        if (part->reduction)
            weft_reduce((weft_reduction)part->reduction->reduction, &p->layout, count, data,
                        reduced++);
        else if (part->function)
            call_function(p, part->function, index, count, data);
        else if (part->twiddles)
            apply_twiddles(p, part, index, count, data);
        else if (part->line)
            complete_half_spectrum(p, index, count, data);
        else
            multiply(p, part, p->run_axis, index, count, data);
    }
}

/* Finds the index of element `first` of the box, counted in memory order. */
static void find(const weft_pointwise *p, int64_t first, int64_t *index) {
    const int64_t n = p->layout.box.n[p->run_axis];
    int64_t row = first / n;
    index[p->run_axis] = first % n;
    for (int i = p->rows - 1; i >= 0; i--) {
        index[p->row[i]] = row % p->layout.box.n[p->row[i]];
        row /= p->layout.box.n[p->row[i]];
    }
}

/* Whether the caller's array contains the element at `index`, and where it is; *count elements from
 * there on are like it: neighbours in both arrays, or in neither. */
static bool find_stored(const weft_pointwise *p, const int64_t *index, int64_t *count,
                        int64_t *at) {
    bool inside = true;
    *at = 0;
    for (int a = 0; a <= p->rank; a++) {
        const int64_t n = p->layout.stored.n[a], high = p->layout.stored.high[a];
        const int64_t all = p->layout.box.n[a], low = n - high, i = index[a];
        const bool is_high = high > 0 && i >= all - high;
        const int64_t end = i < low ? low : is_high ? all : all - high;
        if (a == p->run_axis && *count > end - i) *count = end - i;
        inside = inside && (i < low || is_high);
        *at += (is_high ? i - (all - n) : i) * p->stored_stride[a];
    }
    return inside;
}

/* Loads elements of the caller's array, whose neighbours along the run may lie apart. */
static void load_run(const weft_pointwise *p, int64_t count, const char *from, void *to) {
    const int64_t bytes = (int64_t)weft_stored_element_bytes(&p->layout);
    const int64_t stride = p->stored_stride[p->run_axis];
    double gathered[2 * PIECE];
    if (stride != 1) {
        weft_copy_strided(from, stride * bytes, (char *)gathered, bytes, count, bytes);
        from = (const char *)gathered;
    }
    weft_stored_load(&p->layout, count, from, to);
}

static void store_run(const weft_pointwise *p, int64_t count, const void *from, char *to) {
    const int64_t bytes = (int64_t)weft_stored_element_bytes(&p->layout);
    const int64_t stride = p->stored_stride[p->run_axis];
    double gathered[2 * PIECE];
    weft_stored_store(&p->layout, count, from, stride == 1 ? (void *)to : gathered);
    if (stride != 1)
        weft_copy_strided((const char *)gathered, bytes, to, stride * bytes, count, bytes);
}

/* Applies the operators where the caller's array is cropped, strided or holds other numbers than
 * the transform's, to as many elements as it returns. */
static int64_t apply_stored(const weft_pointwise *p, const int64_t *index, int64_t count,
                            const char *in, char *out, int64_t first, weft_reduced *reduced) {
    const int64_t element = (int64_t)weft_pointwise_element_bytes(p);
    const int64_t stored = (int64_t)weft_stored_element_bytes(&p->layout);
    const bool loads = weft_pointwise_loads(&p->layout);
    int64_t at;
    double piece[2 * PIECE];
    const bool inside = find_stored(p, index, &count, &at);
    if (loads && inside) {
        load_run(p, count, in + at * stored, out + first * element);
        apply_parts(p, index, count, out + first * element, reduced);
    } else if (loads) {
        memset(out + first * element, 0, (size_t)(count * element));
    } else if (inside) {
        memcpy(piece, in + first * element, (size_t)(count * element));
        apply_parts(p, index, count, piece, reduced);
        store_run(p, count, piece, out + at * stored);
    }
    return count;
}

static void next_row(const weft_pointwise *p, int64_t *index) {
    index[p->run_axis] = 0;
    for (int i = p->rows - 1; i >= 0; i--) {
        if (++index[p->row[i]] < p->layout.box.n[p->row[i]]) return;
        index[p->row[i]] = 0;
    }
}

static void apply_range(const weft_pointwise *p, int64_t first, int64_t last, const char *in,
                        char *out, weft_reduced *reduced) {
    const int64_t n = p->layout.box.n[p->run_axis],
                  element = (int64_t)weft_pointwise_element_bytes(p);
    int64_t index[WEFT_AXES] = {0};
    find(p, first, index);
    while (first < last) {
        int64_t count = n - index[p->run_axis];
        if (count > last - first) count = last - first;
        if (count > PIECE) count = PIECE;
        if (weft_stored_is_box(&p->layout.stored)) {
            char *data = out + first * element;
            if (in != out) memcpy(data, in + first * element, (size_t)(count * element));
            apply_parts(p, index, count, data, reduced);
        } else {
            count = apply_stored(p, index, count, in, out, first, reduced);
        }
        first += count;
        index[p->run_axis] += count;
        if (index[p->run_axis] == n) next_row(p, index);
    }
}

bool weft_pointwise_find_row(const weft_pointwise *p, int64_t first, int64_t count,
                             weft_pointwise_row *row) {
    const weft_pointwise_part *part = p->part;
    const bool single = p->layout.precision == WEFT_SINGLE;
    int64_t index[WEFT_AXES] = {0};
    if (p->parts != 1 || part->function || part->array || part->line || part->complex_factors ||
        p->run_axis == p->rank || !has_tables(p, part))
        return false;
    for (int a = p->run_axis + 1; a < p->rank; a++)
        if (part->table[a]) return false;
    find(p, first, index);
    if (index[p->run_axis] + count > p->layout.box.n[p->run_axis]) return false;
    *row = (weft_pointwise_row){.before = 1};
    for (int a = 0; a < p->run_axis; a++) {
        if (!part->table[a]) continue;
        if (single)
            row->before = (float)row->before * ((const float *)part->table[a])[index[a]];
        else
            row->before *= ((const double *)part->table[a])[index[a]];
    }
    if (part->table[p->run_axis])
        row->table = (const char *)part->table[p->run_axis] +
                     index[p->run_axis] * (int64_t)weft_number_bytes(p->layout.precision);
    return true;
}

void weft_pointwise_apply(const weft_pointwise *p, int64_t first, int64_t count, void *data) {
    const int64_t n = p->layout.box.n[p->run_axis];
    const int64_t element = (int64_t)weft_pointwise_element_bytes(p);
    int64_t index[WEFT_AXES] = {0};
    find(p, first, index);
    for (char *at = data; count > 0;) {
        int64_t piece = n - index[p->run_axis];
        if (piece > count) piece = count;
        if (piece > PIECE) piece = PIECE;
        apply_parts(p, index, piece, at, NULL); /* no engine takes reductions */
        at += piece * element;
        count -= piece;
        index[p->run_axis] += piece;
        if (index[p->run_axis] == n) next_row(p, index);
    }
}

void weft_pointwise_multiply_line(const weft_pointwise *p, int axis, int64_t first, int64_t count,
                                  void *line) {
    int64_t index[WEFT_AXES] = {0};
    find(p, first, index);
    for (char *at = line; count > 0;) {
        const int64_t piece = count < PIECE ? count : PIECE;
        for (int i = 0; i < p->parts; i++) multiply(p, &p->part[i], axis, index, piece, at);
        at += piece * (int64_t)weft_pointwise_element_bytes(p);
        count -= piece;
        index[axis] += piece;
    }
}

int weft_pointwise_parts(const weft_pointwise *p) {
    return p->parts;
}

/* Finds the index of element number first[l], given that of the line before. */
static void find_next(const weft_pointwise *p, const int64_t *first, int l, int64_t *index) {
    if (l == 0 || first[l] != first[l - 1] + 1)
        find(p, first[l], index);
    else if (++index[p->run_axis] == p->layout.box.n[p->run_axis])
        next_row(p, index);
}

bool weft_pointwise_find_array(const weft_pointwise *p, int number, int axis, const int64_t *first,
                               int count, weft_pointwise_array_lines *lines) {
    const weft_pointwise_part *part = &p->part[number];
    int64_t index[WEFT_AXES] = {0};
    if (!part->array) return false;
    lines->complex_factors = part->complex_factors;
    lines->step = p->array_stride[axis];
    lines->count = 0;
    lines->line[0] = NULL;
    for (int l = 0; l < count; l++) {
        find_next(p, first, l, index);
        if (index[axis] != 0) break; /* padding of a plane, behind its last line */
        lines->line[lines->count++] = weft_pointwise_factor(p, part, index);
    }
    return true;
}

void weft_pointwise_find_lines(const weft_pointwise *p, int number, int axis, const int64_t *first,
                               const int *place, int count, int places,
                               weft_pointwise_lines *lines) {
    const weft_pointwise_part *part = &p->part[number];
    const bool single = p->layout.precision == WEFT_SINGLE;
    int64_t index[WEFT_AXES] = {0};
    memset(lines, 0, sizeof *lines);
    lines->complex_factors = part->complex_factors;
    lines->along = part->table[axis];
    for (int l = 0; l < count; l++) {
        find_next(p, first, l, index);
        if (single)
            set_line_single(part, p->rank, axis, index, place[l], places, lines);
        else
            set_line_double(part, p->rank, axis, index, place[l], places, lines);
    }
}

/* Applies the list to share number `me` of `all`. */
static void apply_share(const weft_pointwise *p, int me, int all, const void *in, void *out) {
    const int64_t share = p->elements / all, rest = p->elements % all;
    weft_reduced reduced[WEFT_MAX_REDUCTIONS] = {{{0}}};
    apply_range(p, share * me + rest * me / all, share * (me + 1) + rest * (me + 1) / all, in, out,
                reduced);
    for (int i = 0; i < p->reductions; i++) p->reduced[me * p->reductions + i] = reduced[i];
}

weft_status weft_pointwise_run(void *pointwise, const void *in, void *out) {
    weft_pointwise *p = pointwise;
    p->shares = 1;
    if (p->matrix.operator) return weft_fields_apply(p, in, out);
#ifdef _OPENMP
    const int64_t most = p->elements / ELEMENTS_PER_THREAD;
    const int threads = p->threads > most ? (int)most : p->threads;
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            const int all = omp_get_num_threads(), me = omp_get_thread_num();
            apply_share(p, me, all, in, out);
            if (me == 0) p->shares = all;
        }
        return WEFT_SUCCESS;
    }
#endif
    if (p->elements > 0) apply_share(p, 0, 1, in, out);
    return WEFT_SUCCESS;
}

weft_reduced weft_pointwise_reduced(const weft_pointwise *p, int number) {
    weft_reduced all = {{0}};
    int place = 0; /* among the reductions */
    for (int i = 0; i < p->parts; i++) {
        const weft_operator *o = p->part[i].reduction;
        for (int t = 0; o && o->array == number && t < p->shares; t++)
            weft_reduced_combine((weft_reduction)o->reduction,
                                 &p->reduced[t * p->reductions + place], &all);
        place += o != NULL;
    }
    return all;
}

/* Writes to the array that keeps the results, which has the order of the box. */
weft_status weft_pointwise_keep(void *pointwise, const void *in, void *out) {
    const weft_pointwise *p = pointwise;
    const weft_pointwise_layout kept = weft_kept_layout(&p->layout);
    const int64_t from = (int64_t)weft_pointwise_element_bytes(p),
                  to = (int64_t)weft_stored_element_bytes(&kept);
#ifdef _OPENMP
    const int64_t most = p->elements / ELEMENTS_PER_THREAD;
    const int threads = p->threads > most ? (int)most : p->threads;
#pragma omp parallel for num_threads(threads > 1 ? threads : 1)
#endif
    for (int64_t first = 0; first < p->elements; first += PIECE) {
        const int64_t left = p->elements - first;
        weft_stored_store(&kept, left < PIECE ? left : PIECE, (const char *)in + first * from,
                          (char *)out + first * to);
    }
    return WEFT_SUCCESS;
}
