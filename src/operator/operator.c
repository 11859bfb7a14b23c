/* Checks and copies the caller's lists of operators, and computes checksums. */
#include "operator/operator.h"

#include "support/error.h"
#include "support/hash.h"
#include "support/versioned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 80 };

const char *weft_operator_place_name(weft_operator_place place) {
    static const char *const names[WEFT_PLACES] = {"load", "spectral", "store", "spectral"};
    return names[place];
}

static weft_status check_window(const weft_operator *o, const weft_operator_space *space,
                                const char *name) {
    char window[NAME_MAX_BYTES + 32];
    bool any = false;
    for (int a = 0; a < WEFT_MAX_RANK; a++) {
        snprintf(window, sizeof window, "%s.window[%d]", name, a);
        if (a >= space->rank && o->window[a].kind != WEFT_WINDOW_NONE)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s is given, but the array has %d axes",
                             window, space->rank);
        WEFT_TRY(weft_window_check(&o->window[a], window));
        any = any || o->window[a].kind != WEFT_WINDOW_NONE;
    }
    if (any) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s is a window along no axis; give window[a].kind for at least one axis",
                     name);
}

static weft_status check_shift(const weft_operator *o, const weft_operator_space *space,
                               const char *name) {
    bool any = false;
    for (int a = 0; a < WEFT_MAX_RANK; a++) {
        if (o->shift[a] == 0) continue;
        any = true;
        if (a >= space->rank)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s.shift[%d] is given, but the array has %d axes", name, a,
                             space->rank);
        if (!isfinite(o->shift[a]))
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s.shift[%d] is %g; give a finite number", name, a, o->shift[a]);
        if (space->real && !weft_shift_is_real(space->logical[a], o->shift[a]))
            return weft_fail(
                WEFT_ERROR_INVALID_ARGUMENT,
                "%s.shift[%d] is %g, but the array there is real, and only multiples of "
                "n/2, here of %g, have real factors; or choose kind c2c",
                name, a, o->shift[a], 0.5 * (double)space->logical[a]);
    }
    if (any) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s is a shift along no axis; give shift[a] for at least one axis", name);
}

static int64_t table_numbers(const weft_operator *o, const weft_operator_space *space, int a) {
    return o->table[a] ? space->n[a] * (o->complex_factors ? 2 : 1) : 0;
}

static weft_status check_complex_factors(const weft_operator *o, const weft_operator_space *space,
                                         const char *name) {
    if (o->complex_factors != 0 && o->complex_factors != 1)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.complex_factors is %d; it is 0 or 1",
                         name, o->complex_factors);
    if (o->complex_factors && space->real)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s has complex factors, but the array there is real; give real factors, "
                         "or choose kind c2c",
                         name);
    return WEFT_SUCCESS;
}

static weft_status check_array(const weft_operator *o, const weft_operator_space *space,
                               const char *name) {
    if (o->array < 0 || o->array >= WEFT_MAX_ARRAYS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.array is %lld; it is 0 to %d", name,
                         (long long)o->array, WEFT_MAX_ARRAYS - 1);
    return check_complex_factors(o, space, name);
}

static weft_status check_tables(const weft_operator *o, const weft_operator_space *space,
                                const char *name) {
    bool any = false;
    WEFT_TRY(check_complex_factors(o, space, name));
    for (int a = 0; a < WEFT_MAX_RANK; a++) {
        if (!o->table[a]) continue;
        any = true;
        if (a >= space->rank)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s.table[%d] is given, but the array has %d axes", name, a,
                             space->rank);
        for (int64_t i = 0; i < table_numbers(o, space, a); i++)
            if (!isfinite(o->table[a][i]))
                return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                 "%s.table[%d][%lld] is %g; factors are finite numbers", name, a,
                                 (long long)i, o->table[a][i]);
    }
    if (any) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s is a table along no axis; give table[a] for at least one axis", name);
}

static weft_status check_reduction(const weft_operator *o, const char *name) {
    if (o->array < 0 || o->array >= WEFT_MAX_REDUCTIONS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s.array is %lld; numbers of reductions are 0 to %d", name,
                         (long long)o->array, WEFT_MAX_REDUCTIONS - 1);
    if (o->reduction < 0 || o->reduction > WEFT_MAX)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s.reduction is %lld, not one of its values 0..%d", name,
                         (long long)o->reduction, (int)WEFT_MAX);
    return WEFT_SUCCESS;
}

static weft_status check_parameters(const weft_operator *o, const char *name) {
    if (o->parameters >= 0 && o->parameters <= WEFT_MAX_PARAMETERS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.parameters is %lld; it is 0 to %d", name,
                     (long long)o->parameters, WEFT_MAX_PARAMETERS);
}

/* Code that is given as a function, as a snippet, or as both. `field` is the function's name. */
static weft_status check_code(const weft_operator *o, bool has_function, const char *field,
                              const char *name) {
    if (!has_function && !o->snippet)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s.%s is NULL; give the function, or, for GPUs, the snippet", name,
                         field);
    if (o->snippet && o->snippet[0] == 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.snippet is empty; give its text, or NULL",
                         name);
    return check_parameters(o, name);
}

static weft_status check_operator(const weft_operator *o, const weft_operator_space *space,
                                  const char *name) {
    switch (o->kind) {
    case WEFT_OPERATOR_SCALE:
        if (isfinite(o->factor)) return WEFT_SUCCESS;
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.factor is %g; give a finite number", name,
                         o->factor);
    case WEFT_OPERATOR_WINDOW:
        return check_window(o, space, name);
    case WEFT_OPERATOR_SHIFT:
        return check_shift(o, space, name);
    case WEFT_OPERATOR_TABLE:
        return check_tables(o, space, name);
    case WEFT_OPERATOR_FUNCTION:
        return check_code(o, o->function != NULL, "function", name);
    case WEFT_OPERATOR_ARRAY:
    case WEFT_OPERATOR_MATRIX_ARRAY:
        return check_array(o, space, name);
    case WEFT_OPERATOR_MATRIX:
        return check_code(o, o->matrix != NULL, "matrix", name);
    case WEFT_OPERATOR_REDUCE:
        return check_reduction(o, name);
    }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.kind is %d, not one of its values %d..%d",
                     name, (int)o->kind, (int)WEFT_OPERATOR_SCALE, (int)WEFT_OPERATOR_MATRIX_ARRAY);
}

static bool calls_a_function(const weft_operator *o) {
    return o->kind == WEFT_OPERATOR_FUNCTION || o->kind == WEFT_OPERATOR_MATRIX;
}

/* Whether some factor of a shift is no real number. */
static bool shift_is_complex(const weft_operator *o, const weft_operator_space *space) {
    for (int a = 0; a < space->rank; a++)
        if (!weft_shift_is_real(space->logical[a], o->shift[a])) return true;
    return false;
}

/* Replaces the caller's tables and snippet in *o by copies, or NULL. A shift becomes the table of
 * its factors. */
static weft_status copy_content(const weft_operator_space *space, weft_operator *o) {
    const double *given[WEFT_MAX_RANK];
    const char *snippet = calls_a_function(o) ? o->snippet : NULL;
    const bool shifts = o->kind == WEFT_OPERATOR_SHIFT;
    memcpy(given, o->table, sizeof given);
    memset(o->table, 0, sizeof o->table);
    o->snippet = snippet ? strdup(snippet) : NULL;
    if (snippet && !o->snippet)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an operator's snippet");
    if (shifts) o->complex_factors = shift_is_complex(o, space);
    for (int a = 0; a < space->rank; a++) {
        const bool any = shifts ? o->shift[a] != 0 : o->kind == WEFT_OPERATOR_TABLE && given[a];
        if (!any) continue;
        size_t bytes = (size_t)space->n[a] * (o->complex_factors ? 2 : 1) * sizeof(double);
        double *copy = malloc(bytes);
        o->table[a] = copy;
        if (!copy)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                             "no memory for an operator's table of %zu "
                             "bytes",
                             bytes);
        if (shifts)
            weft_shift_factors(space->place, space->logical[a], o->shift[a], o->complex_factors,
                               space->n[a], copy);
        else
            memcpy(copy, given[a], bytes);
    }
    return WEFT_SUCCESS;
}

static const weft_versioned operator_versions = WEFT_VERSIONED(weft_operator, snippet);

/* Checks operator number k of the caller's list, whose elements all have the caller's struct size,
 * and appends a copy. */
static weft_status append(const weft_operators *given, int k, const weft_operator_space *space,
                          const char *list_name, weft_operator_list *list) {
    char name[NAME_MAX_BYTES];
    weft_operator *o = &list->item[list->count];
    const size_t size = given->list[0].struct_size;
    const size_t stride = size > 0 ? size : sizeof *o;
    snprintf(name, sizeof name, "problem.%s.list[%d]", list_name, k);
    const char *theirs = (const char *)given->list + (size_t)k * stride;
    size_t its_size;
    memcpy(&its_size, theirs, sizeof its_size);
    if (its_size != size)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s.struct_size is %zu, but %zu in list[0]; make them equal", name,
                         its_size, size);
    WEFT_TRY(weft_versioned_read(operator_versions, theirs, o, name));
    WEFT_TRY(check_operator(o, space, name));
    list->count++;
    return copy_content(space, o);
}

weft_status weft_operators_read(const weft_operators *given, const weft_operator_space *space,
                                const char *name, double norm,
                                const weft_operator_settings *settings, weft_operator_list *list) {
    *list = (weft_operator_list){.settings = settings};
    if (given->count < 0 || given->count > WEFT_MAX_OPERATORS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.%s.count is %d; it must be 0 to %d",
                         name, given->count, WEFT_MAX_OPERATORS);
    if (given->count > 0 && !given->list)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.%s.list is NULL, but its count is %d", name, given->count);
    if (given->count == 0 && norm == 1.0) return weft_fields_check(list, space, name);
    list->item = calloc((size_t)given->count + 1, sizeof *list->item);
    if (!list->item) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    if (norm != 1.0)
        list->item[list->count++] = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = norm};
    for (int k = 0; k < given->count; k++) WEFT_TRY(append(given, k, space, name, list));
    return weft_fields_check(list, space, name);
}

void weft_operators_release(weft_operator_list *list) {
    for (int k = 0; k < list->count; k++) {
        for (int a = 0; a < WEFT_MAX_RANK; a++) free((void *)(uintptr_t)list->item[k].table[a]);
        free((void *)(uintptr_t)list->item[k].snippet);
    }
    free(list->item);
    *list = (weft_operator_list){0};
}

size_t weft_operators_bytes(const weft_operator_list *list, const weft_operator_space *space) {
    size_t bytes = (size_t)list->count * sizeof *list->item;
    for (int k = 0; k < list->count; k++) {
        if (list->item[k].snippet) bytes += strlen(list->item[k].snippet) + 1;
        for (int a = 0; a < space->rank; a++)
            bytes += (size_t)table_numbers(&list->item[k], space, a) * sizeof(double);
    }
    return bytes;
}

uint32_t weft_operators_arrays(const weft_operator_list *list) {
    uint32_t arrays = 0;
    for (int k = 0; k < list->count; k++)
        if (weft_operator_has_array(&list->item[k])) arrays |= 1u << list->item[k].array;
    return arrays;
}

const weft_operator *weft_operators_reduction(const weft_operator_list *list, int number) {
    for (int k = 0; k < list->count; k++)
        if (list->item[k].kind == WEFT_OPERATOR_REDUCE && list->item[k].array == number)
            return &list->item[k];
    return NULL;
}

uint32_t weft_operators_reductions(const weft_operator_list *list) {
    uint32_t reductions = 0;
    for (int k = 0; k < list->count; k++)
        if (list->item[k].kind == WEFT_OPERATOR_REDUCE) reductions |= 1u << list->item[k].array;
    return reductions;
}

int weft_operators_parameters(const weft_operator_list *list) {
    int64_t most = 0;
    for (int k = 0; k < list->count; k++)
        if (calls_a_function(&list->item[k]) && list->item[k].parameters > most)
            most = list->item[k].parameters;
    return (int)most;
}

bool weft_operators_only_scale(const weft_operator_list *list, double *factor) {
    long double product = 1;
    for (int k = 0; k < list->count; k++) {
        if (list->item[k].kind != WEFT_OPERATOR_SCALE) return false;
        product *= list->item[k].factor;
    }
    *factor = (double)product;
    return true;
}

/* A product that only scales multiplies in double precision. */
bool weft_operators_multiply_lines(const weft_operator_list *list, weft_precision precision) {
    for (int k = 0; k < list->count;) {
        weft_operator_list product = {.item = &list->item[k]};
        double factor;
        for (; k < list->count && list->item[k].kind != WEFT_OPERATOR_ARRAY; k++, product.count++)
            if (calls_a_function(&list->item[k]) || list->item[k].kind == WEFT_OPERATOR_REDUCE ||
                weft_operator_is_matrix(&list->item[k]) || weft_operator_is_of_line(&list->item[k]))
                return false;
        if (k < list->count) k++;
        if (precision == WEFT_SINGLE && weft_operators_only_scale(&product, &factor) &&
            (double)(float)factor != factor)
            return false;
    }
    return list->count > 0;
}

#define HASH(sum, value) weft_hash_bytes((sum), &(value), sizeof(value))

/* Hashes field by field, since there may be padding between them. */
uint64_t weft_operator_checksum(const weft_operator *o, const weft_operator_space *space) {
    uint64_t sum = WEFT_HASH_OF_NOTHING;
    sum = HASH(sum, o->kind);
    if (o->kind == WEFT_OPERATOR_SCALE) sum = HASH(sum, o->factor);
    for (int a = 0; a < space->rank && o->kind == WEFT_OPERATOR_SHIFT; a++)
        sum = HASH(sum, o->shift[a]);
    for (int a = 0; a < space->rank && o->kind == WEFT_OPERATOR_WINDOW; a++) {
        sum = HASH(sum, o->window[a].kind);
        sum = HASH(sum, o->window[a].symmetric);
        sum = HASH(sum, o->window[a].parameter);
    }
    if (calls_a_function(o) && o->snippet)
        sum = weft_hash_bytes(sum, o->snippet, strlen(o->snippet));
    if (calls_a_function(o)) sum = HASH(sum, o->parameters);
    if (weft_operator_has_array(o) || o->kind == WEFT_OPERATOR_REDUCE) sum = HASH(sum, o->array);
    if (o->kind == WEFT_OPERATOR_REDUCE) sum = HASH(sum, o->reduction);
    if (weft_operator_has_array(o)) sum = HASH(sum, o->complex_factors);
    if (o->kind != WEFT_OPERATOR_TABLE) return sum;
    sum = HASH(sum, o->complex_factors);
    for (int a = 0; a < space->rank; a++) {
        const int64_t numbers = table_numbers(o, space, a);
        sum = HASH(sum, numbers);
        if (numbers > 0) sum = weft_hash_bytes(sum, o->table[a], (size_t)numbers * sizeof(double));
    }
    return sum;
}
