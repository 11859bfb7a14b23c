/* Members of a case's objects. */
#include "case_members.h"

#include "support/error.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

weft_status case_wrong(const case_place *at, const char *key, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: %s%s: %s", at->file, at->path, key, what);
}

weft_status case_check_keys(const case_place *at, const json_t *object, const char *const *keys) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        int k = 0;
        while (keys[k] && strcmp(keys[k], key) != 0) k++;
        if (!keys[k]) {
            char list[256] = "";
            for (k = 0; keys[k]; k++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                         k == 0        ? ""
                         : keys[k + 1] ? ", "
                                       : " and ",
                         keys[k]);
            return case_wrong(at, key, "there is no such key here; there are %s", list);
        }
    }
    return WEFT_SUCCESS;
}

weft_status case_number(const case_place *at, const json_t *object, const char *key,
                        double *value) {
    const json_t *given = json_object_get(object, key);
    if (!json_is_number(given) || !isfinite(json_number_value(given)))
        return case_wrong(at, key, "give a number");
    *value = json_number_value(given);
    return WEFT_SUCCESS;
}

weft_status case_numbers(const case_place *at, const json_t *object, const char *key, int count,
                         double *values, bool *missing) {
    const json_t *list = json_object_get(object, key);
    if (json_array_size(list) != (size_t)count)
        return case_wrong(at, key, "give a list of %d numbers%s", count,
                          missing ? ", null where there is none" : "");
    for (int i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        if (missing) missing[i] = json_is_null(entry);
        if (missing && missing[i]) continue;
        if (!json_is_number(entry) || !isfinite(json_number_value(entry)))
            return case_wrong(at, key, "entry %d is not a number", i + 1);
        values[i] = json_number_value(entry);
    }
    return WEFT_SUCCESS;
}

weft_status case_matrix(const case_place *at, const json_t *object, const char *key, int n,
                        double *matrix) {
    const json_t *rows = json_object_get(object, key);
    bool right = json_array_size(rows) == (size_t)n;
    for (int i = 0; right && i < n; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        right = json_array_size(row) == (size_t)n;
        for (int j = 0; right && j < n; j++) {
            const json_t *entry = json_array_get(row, (size_t)j);
            right = json_is_number(entry) && isfinite(json_number_value(entry));
            if (right) matrix[i * n + j] = json_number_value(entry);
        }
    }
    if (right) return WEFT_SUCCESS;
    return case_wrong(at, key, "give %d rows of %d numbers", n, n);
}

weft_status case_choice(const case_place *at, const json_t *object, const char *key,
                        const char *const *words, int *choice) {
    const json_t *given = json_object_get(object, key);
    char list[256] = "";
    *choice = 0;
    if (!given) return WEFT_SUCCESS;
    if (!json_is_string(given)) return case_wrong(at, key, "give a string");
    for (int w = 0; words[w]; w++) {
        if (strcmp(words[w], json_string_value(given)) == 0) {
            *choice = w;
            return WEFT_SUCCESS;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", w > 0 ? ", " : "",
                 words[w]);
    }
    return case_wrong(at, key, "%s is none of %s", json_string_value(given), list);
}
