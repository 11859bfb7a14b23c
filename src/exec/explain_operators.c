/* Pointwise operators in a plan's report: by kind, with what they depend on. */
#include "exec/explain.h"

static bool has_parameter(weft_window_kind kind) {
    return kind == WEFT_WINDOW_KAISER || kind == WEFT_WINDOW_GAUSSIAN || kind == WEFT_WINDOW_TUKEY;
}

static json_t *describe_windows(const weft_operator *o, int rank) {
    json_t *out = json_array();
    for (int a = 0; a < rank; a++) {
        const weft_window *w = &o->window[a];
        if (w->kind == WEFT_WINDOW_NONE) continue;
        json_t *one = json_pack("{s:i, s:s, s:b}", "axis", a, "window",
                                weft_window_kind_name(w->kind), "symmetric", w->symmetric);
        if (has_parameter(w->kind)) json_object_set_new(one, "parameter", json_real(w->parameter));
        json_array_append_new(out, one);
    }
    return out;
}

static json_t *describe_operator(const weft_operator *o, int rank) {
    static const char *const of_lines[] = {"twiddle", "twiddle (inverse)", "half spectrum"};
    const bool of_line = weft_operator_is_of_line(o);
    json_t *out = json_pack("{s:s}", "operator",
                            of_line ? of_lines[o->kind - WEFT_OPERATOR_TWIDDLE]
                                    : weft_operator_kind_name(o->kind));
    const bool shifts = o->kind == WEFT_OPERATOR_SHIFT;
    json_t *axes = json_array(), *points = json_array();
    for (int a = 0; a < rank; a++)
        if (o->table[a]) {
            json_array_append_new(axes, json_integer(a));
            json_array_append_new(points, json_real(o->shift[a]));
        }
    if (o->kind == WEFT_OPERATOR_SCALE) json_object_set_new(out, "factor", json_real(o->factor));
    if (o->kind == WEFT_OPERATOR_WINDOW)
        json_object_set_new(out, "windows", describe_windows(o, rank));
    if (o->kind == WEFT_OPERATOR_REDUCE) {
        json_object_set_new(out, "number", json_integer(o->array));
        json_object_set_new(out, "reduction",
                            json_string(weft_reduction_name((weft_reduction)o->reduction)));
    }
    if (weft_operator_has_array(o)) {
        json_object_set_new(out, "number", json_integer(o->array));
        json_object_set_new(out, "complex_factors", json_boolean(o->complex_factors));
    }
    if ((o->kind == WEFT_OPERATOR_FUNCTION || o->kind == WEFT_OPERATOR_MATRIX) && o->parameters > 0)
        json_object_set_new(out, "parameters", json_integer(o->parameters));
    if (shifts || o->kind == WEFT_OPERATOR_TABLE) {
        json_object_set(out, "axes", axes);
        json_object_set_new(out, "complex_factors", json_boolean(o->complex_factors));
    }
    if (shifts) json_object_set(out, "points", points);
    json_decref(axes);
    json_decref(points);
    return out;
}

/* A caller's array: the one loaded or stored where it is not just the box, or that of a spectrum.
 */
static json_t *describe_stored(const weft_stored *stored, int rank, const char *name) {
    json_t *extents = json_array();
    for (int a = 0; a < rank; a++) json_array_append_new(extents, json_integer(stored->n[a]));
    return json_pack("{s:s, s:s, s:o}", "operator", name, "storage",
                     weft_storage_name(stored->storage), "extents", extents);
}

json_t *weft_explain_operators(const weft_operator_list *list,
                               const weft_pointwise_layout *layout) {
    const int rank = layout->box.axes - 1;
    const bool other = !weft_stored_is_box(&layout->stored), loads = weft_pointwise_loads(layout);
    json_t *out = json_array();
    if (other && loads) json_array_append_new(out, describe_stored(&layout->stored, rank, "array"));
    for (int k = 0; k < list->count; k++)
        json_array_append_new(out, describe_operator(&list->item[k], rank));
    if (other && !loads)
        json_array_append_new(out, describe_stored(&layout->stored, rank, "array"));
    if (layout->keeps) json_array_append_new(out, describe_stored(&layout->kept, rank, "kept"));
    return out;
}
