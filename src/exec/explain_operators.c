/* Pointwise operators in a plan report: by kind, with what they depend on. */
#include "exec/explain_operators.h"

static bool takes_parameter(weft_window_kind kind) {
    return kind == WEFT_WINDOW_KAISER || kind == WEFT_WINDOW_GAUSSIAN || kind == WEFT_WINDOW_TUKEY;
}

static json_t *describe_windows(const weft_operator *o, int rank) {
    json_t *out = json_array();
    for (int a = 0; a < rank; a++) {
        const weft_window *w = &o->window[a];
        if (w->kind == WEFT_WINDOW_NONE) continue;
        json_t *one = json_object();
        json_object_set_new(one, "axis", json_integer(a));
        json_object_set_new(one, "window", json_string(weft_window_kind_name(w->kind)));
        json_object_set_new(one, "symmetric", json_boolean(w->symmetric));
        if (takes_parameter(w->kind))
            json_object_set_new(one, "parameter", json_real(w->parameter));
        json_array_append_new(out, one);
    }
    return out;
}

static json_t *describe_axes(const weft_operator *o, int rank) {
    json_t *out = json_array();
    for (int a = 0; a < rank; a++)
        if (o->table[a]) json_array_append_new(out, json_integer(a));
    return out;
}

static json_t *describe_points(const weft_operator *o, int rank) {
    json_t *out = json_array();
    for (int a = 0; a < rank; a++)
        if (o->table[a]) json_array_append_new(out, json_real(o->shift[a]));
    return out;
}

/* The caller's array, where it is not just the box, or one that keeps what comes by. */
static json_t *describe_stored(const weft_stored *stored, int rank, const char *name) {
    json_t *out = json_object(), *extents = json_array();
    json_object_set_new(out, "operator", json_string(name));
    json_object_set_new(out, "storage", json_string(weft_storage_name(stored->storage)));
    for (int a = 0; a < rank; a++) json_array_append_new(extents, json_integer(stored->n[a]));
    json_object_set_new(out, "extents", extents);
    return out;
}

json_t *weft_explain_operators(const weft_operator_list *list,
                               const weft_pointwise_layout *layout) {
    const int rank = layout->box.axes - 1;
    json_t *out = json_array();
    if (!weft_stored_is_box(&layout->stored) && weft_pointwise_loads(layout))
        json_array_append_new(out, describe_stored(&layout->stored, rank, "array"));
    for (int k = 0; k < list->count; k++) {
        const weft_operator *o = &list->item[k];
        json_t *one = json_object();
        json_object_set_new(one, "operator", json_string(weft_operator_kind_name(o->kind)));
        if (o->kind == WEFT_OPERATOR_SCALE)
            json_object_set_new(one, "factor", json_real(o->factor));
        if (o->kind == WEFT_OPERATOR_WINDOW)
            json_object_set_new(one, "windows", describe_windows(o, rank));
        if (o->kind == WEFT_OPERATOR_SHIFT || o->kind == WEFT_OPERATOR_TABLE) {
            json_object_set_new(one, "axes", describe_axes(o, rank));
            json_object_set_new(one, "complex_factors", json_boolean(o->complex_factors));
        }
        if (o->kind == WEFT_OPERATOR_SHIFT)
            json_object_set_new(one, "points", describe_points(o, rank));
        json_array_append_new(out, one);
    }
    if (!weft_stored_is_box(&layout->stored) && !weft_pointwise_loads(layout))
        json_array_append_new(out, describe_stored(&layout->stored, rank, "array"));
    if (layout->keeps) json_array_append_new(out, describe_stored(&layout->kept, rank, "kept"));
    return out;
}

static void write_stored(const json_t *one, FILE *stream) {
    const json_t *extents = json_object_get(one, "extents");
    for (size_t i = 0; i < json_array_size(extents); i++)
        fprintf(stream, "%s%lld", i ? " x " : " of ",
                (long long)json_integer_value(json_array_get(extents, i)));
    fprintf(stream, " %s", json_string_value(json_object_get(one, "storage")));
}

static void write_windows(const json_t *windows, FILE *stream) {
    for (size_t i = 0; i < json_array_size(windows); i++) {
        const json_t *w = json_array_get(windows, i), *p = json_object_get(w, "parameter");
        fprintf(stream, " %s", json_string_value(json_object_get(w, "window")));
        if (p) fprintf(stream, "(%g)", json_number_value(p));
        fprintf(stream, "%s along %d%s",
                json_is_true(json_object_get(w, "symmetric")) ? " symmetric" : "",
                (int)json_integer_value(json_object_get(w, "axis")),
                i + 1 < json_array_size(windows) ? "," : "");
    }
}

void weft_explain_operators_text(const json_t *operators, FILE *stream) {
    for (size_t k = 0; k < json_array_size(operators); k++) {
        const json_t *one = json_array_get(operators, k), *axes = json_object_get(one, "axes");
        const json_t *factor = json_object_get(one, "factor"),
                     *points = json_object_get(one, "points");
        fprintf(stream, "%s %s", k ? ";" : "", json_string_value(json_object_get(one, "operator")));
        if (json_object_get(one, "storage")) write_stored(one, stream);
        if (factor) fprintf(stream, " by %g", json_number_value(factor));
        write_windows(json_object_get(one, "windows"), stream);
        for (size_t i = 0; i < json_array_size(axes); i++)
            fprintf(stream, "%s %d", i ? "," : " along",
                    (int)json_integer_value(json_array_get(axes, i)));
        for (size_t i = 0; i < json_array_size(points); i++)
            fprintf(stream, "%s %g", i ? "," : " by", json_number_value(json_array_get(points, i)));
    }
}
