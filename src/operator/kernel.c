/* Writes the functions that apply operators in kernels, and copies their tables to the device. */
#include "operator/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "operator/kernel_text.h"
#include "support/error.h"

extern const char weft_kernels_operators_cl[], weft_kernels_stored_cl[]; /* cmake/embed.cmake */

typedef weft_operator_text writing;

/* The numbers of the structure NAME_places: one place at least, since it is not empty, and an even
 * number of parameters, so that it has no padding. */
static int places_of(const weft_operator_kernel *kernel) {
    return kernel->places > 0 ? kernel->places : 1;
}

static int parameters_of(const weft_operator_kernel *kernel) {
    return kernel->parameters + kernel->parameters % 2;
}

weft_status weft_operator_text_place(writing *w, int64_t value, int axis, int *number) {
    weft_operator_kernel *k = w->kernel;
    if (k->places == WEFT_OPERATOR_PLACES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s: too many operators for a device, which has room for %d "
                         "tables; multiply some of them by yourself",
                         weft_operator_place_name(w->list->layout.place), WEFT_OPERATOR_PLACES);
    *number = k->places++;
    k->place[*number] = value;
    k->axis[*number] = axis;
    k->grows[*number] = 1;
    k->axes |= 1u << axis;
    return WEFT_SUCCESS;
}

/* ---- products ---- */

void weft_operator_text_scale(writing *w, double factor) {
    const float high = (float)factor, low = (float)(factor - (double)high);
    const char *parts[] = {".x", ".y"};
    for (int i = 0; i < (w->list->layout.real ? 1 : 2); i++) {
        const char *part = w->list->layout.real ? "" : parts[i];
        weft_text_add(&w->body, "value%s = OPERATOR_SCALED(value%s, (%.17e), (%.9ef), (%.9ef));\n",
                      part, part, factor, (double)high, (double)low);
    }
}

/* Writes the multiplication by the factors of a product. A table is read at its place plus the
 * index along its axis, counted in numbers or, if they are complex, in pairs. Tables begin at even
 * numbers. */
static weft_status write_product(writing *w, const weft_pointwise_part *part) {
    const char *type = part->complex_factors ? "real2" : "real";
    const char *multiply = part->complex_factors ? "complex_multiply" : "OPERATOR_PRODUCT";
    const char *read = part->complex_factors ? "PAIR_READ" : "TABLE_READ";
    const int width = part->complex_factors ? 2 : 1;
    bool any = false;
    for (int a = 0; a < w->list->rank; a++) {
        int place = 0;
        if (!part->table[a]) continue;
        w->numbers += w->numbers % 2;
        WEFT_TRY(weft_operator_text_place(w, w->numbers / width, a, &place));
        w->numbers += width * w->list->layout.box.n[a];
        weft_text_add(&w->body,
                      any ? "factor = %s(factor, %s(tables, places->place[%d] + index[%d]));\n"
                          : "{ %s factor = %s(tables, places->place[%d] + index[%d]);\n",
                      any ? multiply : type, read, place, a);
        any = true;
    }
    if (!any) {
        weft_operator_text_scale(w, part->scale);
        return WEFT_SUCCESS;
    }
    weft_text_add(&w->body, part->complex_factors  ? "value = complex_multiply(value, factor); }\n"
                            : w->list->layout.real ? "value *= factor; }\n"
                                                   : "value = complex_scale(value, factor); }\n");
    return WEFT_SUCCESS;
}

/* ---- arrays ---- */

/* An element's place is the sum of its indices times strides, which are those of this rank's box.
 */
weft_status weft_operator_text_array(writing *w, weft_text *c, const weft_operator *o) {
    if (w->kernel->array >= 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s has several operators with an array, but kernels of device %s "
                         "take one of a list; multiply the arrays by yourself",
                         weft_operator_place_name(w->list->layout.place),
                         w->kernel->device.ops->name);
    w->kernel->array = (int)o->array;
    weft_text_add(c, "if (array) {\nconst long64 at = 0");
    for (int a = 0; a < w->list->rank; a++) {
        const int64_t stride = w->list->array_stride[a];
        int begin = 0, step = 0;
        WEFT_TRY(weft_operator_text_place(w, 0, a, &begin));
        w->kernel->grows[begin] = stride;
        if (a == w->list->rank - 1) { /* neighbours */
            weft_text_add(c, " + places->place[%d] + index[%d]", begin, a);
            continue;
        }
        WEFT_TRY(weft_operator_text_place(w, stride, a, &step));
        w->kernel->grows[step] = 0;
        weft_text_add(c, " + places->place[%d] + index[%d] * places->place[%d]", begin, a, step);
    }
    weft_text_add(c, ";\n");
    return WEFT_SUCCESS;
}

/* Writes the multiplication by an array's factor, and to w->factor how it is found. Without an
 * array nothing is done. */
static weft_status write_array(writing *w, const weft_pointwise_part *part) {
    WEFT_TRY(weft_operator_text_array(w, &w->factor, part->array));
    weft_text_add(&w->factor, part->complex_factors
                                  ? "return LOOSE_PAIR_READ(array, at);\n}\nreturn pair(1, 0);\n"
                                  : "return TABLE_READ(array, at);\n}\nreturn 1;\n");
    weft_text_add(&w->body, part->complex_factors  ? "value = complex_multiply(value, factor);\n"
                            : w->list->layout.real ? "value *= factor;\n"
                                                   : "value = complex_scale(value, factor);\n");
    w->factor_type = part->complex_factors ? "real2" : "real";
    return WEFT_SUCCESS;
}

/* ---- reductions ---- */

static void write_reduction(writing *w, const weft_operator *o) {
    const int at = 2 * w->kernel->reductions;
    const bool real = w->list->layout.real;
    const char *x = real ? "(reduced_number)value" : "(reduced_number)value.x";
    weft_text *c = &w->body;
    w->kernel->reduction[w->kernel->reductions++] = o;
    switch ((weft_reduction)o->reduction) {
    case WEFT_SUM:
        weft_text_add(c, "reduced[%d] += %s;\n", at, x);
        if (!real) weft_text_add(c, "reduced[%d] += value.y;\n", at + 1);
        break;
    case WEFT_NORM:
        weft_text_add(c, "reduced[%d] += %s * %s;\n", at, x, x);
        if (!real)
            weft_text_add(c, "reduced[%d] += (reduced_number)value.y * (reduced_number)value.y;\n",
                          at);
        break;
    case WEFT_MAX:
        weft_text_add(c, "{ const reduced_number magnitude = %s(%s%s);\n", real ? "fabs" : "hypot",
                      x, real ? "" : ", (reduced_number)value.y");
        weft_text_add(c, "reduced[%d] = OPERATOR_LARGER(reduced[%d], magnitude); }\n", at, at);
    }
}

/* ---- lines that are transformed as arrays of two axes ---- */

/* Begins a block of the body that knows an element's indices along both axes. */
static weft_status write_line_indices(writing *w) {
    const int64_t *lo = w->list->layout.box.lo;
    int place[2] = {0, 0};
    for (int a = 0; a < 2; a++) WEFT_TRY(weft_operator_text_place(w, lo[a], a, &place[a]));
    weft_text_add(&w->body,
                  "{ const long64 first = places->place[%d] + index[0], "
                  "second = places->place[%d] + index[1];\n",
                  place[0], place[1]);
    return WEFT_SUCCESS;
}

/* Writes the multiplication by twiddle factors, each from two table entries. */
static weft_status write_twiddles(writing *w, const weft_twiddles *twiddles) {
    const weft_twiddle_tables t = weft_twiddles_tables(twiddles);
    weft_text *c = &w->body;
    int coarse = 0;
    WEFT_TRY(write_line_indices(w));
    w->numbers += w->numbers % 2;
    WEFT_TRY(
        weft_operator_text_place(w, w->numbers / 2, 0, &coarse)); /* where the coarse roots begin */
    w->kernel->grows[coarse] = 0;
    w->numbers += 2 * (t.coarse + t.fine);
    weft_text_add(c,
                  "const long64 k = first * second;\n"
                  "const real2 root = PAIR_READ(tables, places->place[%d] + (k >> %d));\n"
                  "const real2 fine = PAIR_READ(tables, places->place[%d] + %lld + (k & %lld));\n",
                  coarse, t.shift, coarse, (long long)t.coarse, (long long)t.fine - 1);
    weft_text_add(c, "value = %s(value, complex_add(root, complex_multiply(root, fine))); }\n",
                  t.conjugate ? "complex_multiply_conjugate" : "complex_multiply");
    return WEFT_SUCCESS;
}

/* Writes what makes the whole of half a spectrum. */
static weft_status write_half_spectrum(writing *w) {
    const int64_t n1 = w->list->layout.n[0], n = n1 * w->list->layout.n[1];
    WEFT_TRY(write_line_indices(w));
    weft_text_add(&w->body,
                  "const long64 k = second * %lld + first;\n"
                  "if (2 * k > %lld) value = pair(0, 0);\n"
                  "else if (k != 0 && 2 * k != %lld) value = pair(2 * value.x, 2 * value.y); }\n",
                  (long long)n1, (long long)n, (long long)n);
    return WEFT_SUCCESS;
}

/* ---- snippets ---- */

/* Compilers count lines from the snippet's first one. */
void weft_operator_text_snippet(writing *w, int number, const weft_operator *o) {
    const bool matrix = o->kind == WEFT_OPERATOR_MATRIX;
    weft_text *c = &w->text;
    if (matrix)
        weft_text_add(c, "FUNCTION void %s_snippet_%d(const %s_number *in, %s_number *out", w->name,
                      number, w->name, w->name);
    else
        weft_text_add(c, "FUNCTION %s_number %s_snippet_%d(%s_number value", w->name, w->name,
                      number, w->name);
    weft_text_add(c,
                  ", const long64 *index, const long64 *n, long64 batch%s) {\n"
                  "(void)index; (void)n; (void)batch;\n%s",
                  o->parameters > 0 ? ", IN_VALUE const real *parameter" : "",
                  o->parameters > 0 ? "(void)parameter;\n" : "");
    weft_text_add(c, "#line 1 \"problem.%s, snippet %d\"\n%s\n",
                  weft_operator_place_name(w->list->layout.place), number + 1, o->snippet);
    weft_text_add(c, "#line 1 \"weft\"\n;\n%s}\n", matrix ? "" : "return value;\n");
}

weft_status weft_operator_text_call(writing *w, int number, const weft_operator *o) {
    const bool matrix = o->kind == WEFT_OPERATOR_MATRIX;
    const int rank = w->list->rank;
    weft_text *c = &w->body;
    int place = 0;
    weft_text_add(c, "{ const long64 at[] = {");
    for (int a = 0; a <= rank; a++) {
        WEFT_TRY(weft_operator_text_place(w, w->list->layout.box.lo[a], a, &place));
        weft_text_add(c, "places->place[%d] + index[%d],", place, a);
    }
    weft_text_add(c, "};\nconst long64 n[] = {");
    for (int a = 0; a < rank; a++) weft_text_add(c, "%lld,", (long long)w->list->layout.n[a]);
    weft_text_add(c, "};\n%s%s_snippet_%d(%s, at, n, at[%d]%s); }\n",
                  matrix ? "" : "value = ", w->name, number, matrix ? "in, out" : "value", rank,
                  o->parameters > 0 ? ", places->parameter" : "");
    return WEFT_SUCCESS;
}

/* ---- the whole text ---- */

static void define_snippets(writing *w) {
    for (int i = 0, number = 0; i < w->list->parts; i++)
        if (w->list->part[i].function)
            weft_operator_text_snippet(w, number++, w->list->part[i].function);
}

static weft_status write_body(writing *w) {
    for (int i = 0, number = 0; i < w->list->parts; i++) {
        const weft_pointwise_part *part = &w->list->part[i];
        if (part->reduction) {
            write_reduction(w, part->reduction);
            continue;
        }
        WEFT_TRY(part->function   ? weft_operator_text_call(w, number++, part->function)
                 : part->array    ? write_array(w, part)
                 : part->twiddles ? write_twiddles(w, part->twiddles)
                 : part->line     ? write_half_spectrum(w)
                                  : write_product(w, part));
    }
    return WEFT_SUCCESS;
}

void weft_operator_text_places(writing *w) {
    weft_text *c = &w->text;
    weft_text_add(c, "typedef struct %s_places { long64 place[%d]; ", w->name,
                  places_of(w->kernel));
    if (w->kernel->parameters > 0)
        weft_text_add(c, "real parameter[%d]; ", parameters_of(w->kernel));
    weft_text_add(c, "} %s_places;\n", w->name);
    if (w->kernel->array >= 0) weft_text_add(c, "#define %s_arrays 1\n", w->name);
}

/* Nothing, where nothing was written or there was no memory for it. */
static const char *written(const weft_text *text) {
    return text->text ? text->text : "";
}

/* Begins a function NAME_SUFFIX of an element. */
static void begin_operators(writing *w, const char *suffix, const char *last) {
    weft_text_add(&w->text,
                  "FUNCTION %s_number %s_%s(%s_number value, const int *index, "
                  "IN_VALUE const %s_places *places, GLOBAL const real *tables%s%s) {\n",
                  w->name, w->name, suffix, w->name, w->name, last,
                  w->kernel->reductions > 0 ? ", reduced_number *reduced" : "");
}

/* Writes what finds an array's factor, and what operates with it and without. */
static void write_with_array(writing *w) {
    char last[32];
    snprintf(last, sizeof last, ", %s factor", w->factor_type);
    weft_text_add(&w->text,
                  "#define %s_factor %s\n"
                  "FUNCTION %s_factor %s_read(const int *index, IN_VALUE const %s_places *places, "
                  "GLOBAL const real *array) {\n%s}\n",
                  w->name, w->factor_type, w->name, w->name, w->name, written(&w->factor));
    begin_operators(w, "operators_by", last);
    weft_text_add(&w->text, "(void)index; (void)places; (void)tables;\n%sreturn value;\n}\n",
                  written(&w->body));
    begin_operators(w, "operators", ", GLOBAL const real *array");
    weft_text_add(&w->text,
                  "return %s_operators_by(value, index, places, tables, "
                  "%s_read(index, places, array)%s);\n}\n",
                  w->name, w->name, w->kernel->reductions > 0 ? ", reduced" : "");
}

static void write_function(writing *w) {
    weft_text *c = &w->text;
    weft_operator_text_places(w);
    if (w->factor_type) {
        write_with_array(w);
    } else {
        begin_operators(w, "operators", "");
        weft_text_add(c, "(void)index; (void)places; (void)tables;\n%sreturn value;\n}\n",
                      written(&w->body));
    }
    unsigned largest = 0;
    for (int k = 0; k < w->kernel->reductions; k++)
        if (w->kernel->reduction[k]->reduction == WEFT_MAX) largest |= 1u << k;
    if (w->kernel->reductions > 0)
        weft_text_add(c, "#define %s_reductions %d\n#define %s_largest %u\n", w->name,
                      w->kernel->reductions, w->name, largest);
}

/* Writes the condition that an index is in the caller's array, nothing where all are, and how many
 * of its elements are left out before that one. */
static weft_status write_inside(writing *w) {
    const weft_pointwise_layout *layout = &w->list->layout;
    int64_t stride[WEFT_AXES];
    weft_stored_strides(layout, stride);
    for (int a = 0; a < w->list->rank && layout->stored.cropped; a++) {
        const int64_t n = layout->stored.n[a], high = layout->stored.high[a];
        const int64_t all = layout->box.n[a];
        int low = 0, behind = 0, gap = 0;
        if (n == all) continue;
        WEFT_TRY(weft_operator_text_place(w, n - high, a, &low));
        w->kernel->grows[low] = -1;
        if (high == 0) {
            weft_text_add(&w->inside, " && index[%d] < places->place[%d]", a, low);
            continue;
        }
        WEFT_TRY(weft_operator_text_place(w, all - high, a, &behind));
        w->kernel->grows[behind] = -1;
        WEFT_TRY(weft_operator_text_place(w, (all - n) * stride[a], a, &gap));
        w->kernel->grows[gap] = 0;
        weft_text_add(&w->inside,
                      " && (index[%d] < places->place[%d] || index[%d] >= places->place[%d])", a,
                      low, a, behind);
        weft_text_add(&w->gaps, " + (index[%d] >= places->place[%d] ? places->place[%d] : 0)", a,
                      behind, gap);
    }
    return WEFT_SUCCESS;
}

/* A type of the elements of callers' arrays, and the names of its conversions in stored.cl. */
typedef struct number_kind {
    const char *type, *name;
} number_kind;

static const number_kind kinds[] = {[WEFT_STORAGE_U8] = {"unsigned char", "U8"},
                                    [WEFT_STORAGE_I16] = {"short", "I16"},
                                    [WEFT_STORAGE_U16] = {"unsigned short", "U16"},
                                    [WEFT_STORAGE_HALF] = {"unsigned short", "HALF"},
                                    [WEFT_STORAGE_FLOAT] = {"float", "FLOAT"},
                                    [WEFT_STORAGE_DOUBLE] = {"double", "DOUBLE"},
                                    [WEFT_STORAGE_DECIBEL_U8] = {"unsigned char", "DECIBEL"},
                                    [WEFT_STORAGE_COMPLEX_HALF] = {"unsigned int", "COMPLEX_HALF"}};

/* Whether real numbers are stored in place of complex ones, as their real parts. */
static bool is_part(const writing *w, weft_storage storage) {
    return !w->list->layout.real && storage <= WEFT_STORAGE_DOUBLE;
}

/* Writes the function NAME_SUFFIX, which converts an element to a number of the transform. */
static void define_load(writing *w, const char *suffix, weft_storage storage) {
    const bool part = is_part(w, storage);
    weft_text_add(&w->text, "FUNCTION %s_number %s_%s(%s x) { return %s(FROM_%s(x)%s); }\n",
                  w->name, w->name, suffix, kinds[storage].type, part ? "pair" : "",
                  kinds[storage].name, part ? ", 0" : "");
}

/* Writes the function NAME_SUFFIX, which converts a number of the transform to an element. */
static void define_store(writing *w, const char *suffix, const weft_stored *stored) {
    const number_kind *kind = &kinds[stored->storage];
    const double *range = stored->decibels;
    weft_text *c = &w->text;
    weft_text_add(c, "FUNCTION %s %s_%s(%s_number x) { return ", kind->type, w->name, suffix,
                  w->name);
    if (stored->storage == WEFT_STORAGE_DECIBEL_U8)
        weft_text_add(c, "TO_U8((TO_DECIBEL(x) - (real)(%.17e)) * (real)(%.17e)); }\n", range[0],
                      255 / (range[1] - range[0]));
    else
        weft_text_add(c, "TO_%s(x%s); }\n", kind->name, is_part(w, stored->storage) ? ".x" : "");
}

/* Writes the functions for elements of a caller's array that is not the box. */
static void write_stored(writing *w) {
    const weft_pointwise_layout *layout = &w->list->layout;
    weft_text *c = &w->text;
    if (w->kernel->is_box) return;
    weft_text_add(c, "%s", weft_kernels_stored_cl);
    weft_text_add(c,
                  "#define %s_stores 1\n#define %s_is_real %d\n#define %s_converts %d\n"
                  "FUNCTION bool %s_inside(const int *index, IN_VALUE const %s_places *places) {\n"
                  "(void)index; (void)places;\nreturn true%s;\n}\n"
                  "FUNCTION long64 %s_gaps(const int *index, IN_VALUE const %s_places *places) {\n"
                  "(void)index; (void)places;\nreturn 0%s;\n}\n",
                  w->name, w->name, layout->real, w->name, w->kernel->converts, w->name, w->name,
                  written(&w->inside), w->name, w->name, written(&w->gaps));
    if (w->gaps.text) weft_text_add(c, "#define %s_has_gaps 1\n", w->name);
    if (!w->kernel->converts) return;
    weft_text_add(c, "typedef %s %s_stored;\n", kinds[layout->stored.storage].type, w->name);
    if (weft_pointwise_loads(layout))
        define_load(w, "convert", layout->stored.storage);
    else
        define_store(w, "convert", &layout->stored);
}

/* Writes the function that stores to the array that keeps the results. An element's place there is
 * the sum of its indices times strides. */
static weft_status write_kept(writing *w) {
    const weft_pointwise_layout kept = weft_kept_layout(&w->list->layout);
    int64_t stride[WEFT_AXES];
    weft_text *c = &w->kept;
    if (!kept.keeps) return WEFT_SUCCESS;
    weft_stored_strides(&kept, stride);
    weft_text_add(c, "const long64 at = 0");
    for (int a = 0; a < kept.box.axes; a++) {
        int begin = 0, step = 0;
        WEFT_TRY(weft_operator_text_place(w, 0, a, &begin));
        w->kernel->grows[begin] = stride[a];
        WEFT_TRY(weft_operator_text_place(w, stride[a], a, &step));
        w->kernel->grows[step] = 0;
        weft_text_add(c, " + places->place[%d] + index[%d] * places->place[%d]", begin, a, step);
    }
    weft_text_add(c, ";\n");
    if (kept.stored.storage != WEFT_STORAGE_SAME)
        weft_text_add(c, "kept[at] = %s_convert_kept(value);\n", w->name);
    else
        weft_text_add(c, kept.real ? "kept[at] = value;\n"
                                   : "kept[2 * at] = value.x;\nkept[2 * at + 1] = value.y;\n");
    return WEFT_SUCCESS;
}

static void define_keep(writing *w) {
    const weft_stored *kept = &w->list->layout.kept;
    const bool converts = kept->storage != WEFT_STORAGE_SAME;
    weft_text *c = &w->text;
    if (!w->kernel->keeps) return;
    weft_text_add(c, "%s#define %s_keeps 1\ntypedef %s %s_kept;\n", weft_kernels_stored_cl, w->name,
                  converts ? kinds[kept->storage].type : "real", w->name);
    if (converts) define_store(w, "convert_kept", kept);
    weft_text_add(c,
                  "FUNCTION void %s_keep(%s_number value, const int *index, "
                  "IN_VALUE const %s_places *places, GLOBAL %s_kept *kept) {\n%s}\n",
                  w->name, w->name, w->name, w->name, written(&w->kept));
}

/* Writes what is done to elements one by one. */
static weft_status write_elements(writing *w) {
    define_snippets(w);
    weft_status status = write_body(w);
    if (status == WEFT_SUCCESS) status = write_inside(w);
    if (status == WEFT_SUCCESS) status = write_kept(w);
    write_function(w);
    write_stored(w);
    define_keep(w);
    return status;
}

static weft_status write_text(writing *w) {
    weft_text *c = &w->text;
    weft_text_add(c, "%s\n#define %s_number %s\n", weft_kernels_operators_cl, w->name,
                  w->list->layout.real ? "real" : "real2");
    weft_status status = w->list->matrix.operator? weft_operator_text_matrix(w) : write_elements(w);
    w->kernel->text = c->text;
    free(w->body.text);
    free(w->factor.text);
    free(w->inside.text);
    free(w->gaps.text);
    free(w->kept.text);
    if (status == WEFT_SUCCESS && (c->failed || w->body.failed || w->factor.failed ||
                                   w->inside.failed || w->gaps.failed || w->kept.failed))
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    return status;
}

/* ---- tables ---- */

static weft_status upload(weft_operator_kernel *k, const void *data) {
    const weft_copy copy = weft_copy_of_run((int64_t)k->bytes, 1);
    const weft_device_handle *d = &k->device;
    weft_status status = d->ops->copy(d->state, NULL, &copy, data, k->tables, WEFT_HOST_TO_DEVICE);
    weft_status done = d->ops->queue_wait(d->state, NULL);
    return status != WEFT_SUCCESS ? status : done;
}

/* Gathers the tables in the order in which they were given their places. */
static void gather_tables(const weft_pointwise *list, char *data) {
    const size_t number = weft_number_bytes(list->layout.precision);
    size_t at = 0;
    for (int i = 0; i < list->parts; i++) {
        const weft_pointwise_part *part = &list->part[i];
        if (part->twiddles) {
            const weft_twiddle_tables t = weft_twiddles_tables(part->twiddles);
            at += at % 2;
            weft_twiddles_copy(part->twiddles, list->layout.precision, data + at * number);
            at += 2 * (size_t)(t.coarse + t.fine);
        }
        for (int a = 0; a < list->rank; a++) {
            if (!part->table[a]) continue;
            const size_t numbers = (size_t)list->layout.box.n[a] * (part->complex_factors ? 2 : 1);
            at += at % 2;
            memcpy(data + at * number, part->table[a], numbers * number);
            at += numbers;
        }
    }
}

static weft_status store_tables(writing *w) {
    weft_operator_kernel *k = w->kernel;
    const size_t number = weft_number_bytes(w->list->layout.precision);
    k->bytes = ((size_t)w->numbers + 2) * number; /* kernels want an address */
    char *data = calloc(1, k->bytes);
    if (!data) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    gather_tables(w->list, data);
    const weft_device_handle *d = &k->device;
    weft_status status = d->ops->allocate(d->state, WEFT_MEMORY_DEVICE, k->bytes, &k->tables);
    if (status == WEFT_SUCCESS) status = upload(k, data);
    free(data);
    return status;
}

static weft_status check_storage(const weft_pointwise_layout *layout,
                                 const weft_device_handle *device, bool has_double) {
    if (has_double || layout->stored.storage != WEFT_STORAGE_DOUBLE) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.%s_storage: device %s has no double precision; choose another",
                     weft_operator_place_name(layout->place), device->ops->name);
}

weft_status weft_operator_kernel_create(const weft_operator_list *list,
                                        const weft_pointwise_layout *layout, const char *name,
                                        const weft_device_handle *device,
                                        weft_operator_kernel **out) {
    weft_pointwise *ready = NULL;
    weft_kernel_limits limits;
    WEFT_TRY(device->ops->kernel_limits(device->state, &limits));
    WEFT_TRY(check_storage(layout, device, limits.has_double));
    weft_operator_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    kernel->device = *device;
    kernel->has_double = limits.has_double;
    kernel->is_box = weft_stored_is_box(&layout->stored);
    kernel->converts = layout->stored.storage != WEFT_STORAGE_SAME;
    kernel->keeps = layout->keeps;
    kernel->array = -1;
    kernel->parameters = weft_operators_parameters(list);
    kernel->settings = list->settings;
    kernel->precision = layout->precision;
    kernel->stored_bytes = weft_stored_element_bytes(layout);
    weft_status status = weft_pointwise_create(list, layout, 1, &ready);
    if (status == WEFT_SUCCESS) {
        writing w = {.list = ready, .name = name, .kernel = kernel};
        status = write_text(&w);
        if (status == WEFT_SUCCESS) status = store_tables(&w);
    }
    weft_pointwise_release(ready);
    if (status != WEFT_SUCCESS) {
        weft_operator_kernel_release(kernel);
        return status;
    }
    *out = kernel;
    return WEFT_SUCCESS;
}

void weft_operator_kernel_release(weft_operator_kernel *kernel) {
    if (!kernel) return;
    if (kernel->tables)
        kernel->device.ops->free(kernel->device.state, WEFT_MEMORY_DEVICE, kernel->tables);
    free(kernel->text);
    free(kernel);
}

const void *weft_operator_kernel_array(const weft_operator_kernel *kernel) {
    return kernel->array >= 0 ? kernel->settings->array[kernel->array] : NULL;
}

size_t weft_operator_kernel_places(const weft_operator_kernel *kernel, const int64_t *first,
                                   int64_t values[WEFT_OPERATOR_VALUES]) {
    const size_t number = weft_number_bytes(kernel->precision);
    char *parameter = (char *)&values[places_of(kernel)];
    values[0] = 0;
    for (int i = 0; i < kernel->places; i++)
        values[i] = kernel->place[i] + kernel->grows[i] * first[kernel->axis[i]];
    for (int i = 0; i < parameters_of(kernel); i++) {
        const double value = kernel->settings->parameter[i];
        const float single = (float)value;
        memcpy(parameter + (size_t)i * number,
               kernel->precision == WEFT_SINGLE ? (const void *)&single : &value, number);
    }
    return sizeof *values * (size_t)places_of(kernel) + number * (size_t)parameters_of(kernel);
}
