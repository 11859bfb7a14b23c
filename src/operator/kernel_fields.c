/* Writes the function that makes the fields of a point from one another in kernels. */
#include "operator/kernel_text.h"

#include "support/error.h"

/* Entries of a matrix whose loops are unrolled, so that fields stay in registers. */
enum { UNROLLED = 64 };

/* Writes the product with the matrix of an array. */
static weft_status write_product(weft_operator_text *w, int fields, int made) {
    const weft_operator *o = w->list->matrix.operator;
    const char *unroll = fields * made <= UNROLLED ? "UNROLL\n" : "";
    const char *product =
        o->complex_factors
            ? "out[g] = complex_add(out[g], complex_multiply(in[f], LOOSE_PAIR_READ(array, k)));\n"
        : w->list->layout.real
            ? "out[g] += in[f] * TABLE_READ(array, k);\n"
            : "out[g] = complex_add(out[g], complex_scale(in[f], TABLE_READ(array, k)));\n";
    int apart = 0;
    WEFT_TRY(weft_operator_text_array(w, &w->body, o));
    WEFT_TRY(weft_operator_text_place(w, w->list->matrix.apart, 0, &apart));
    w->kernel->grows[apart] = 0;
    weft_text_add(&w->body,
                  "%sfor (int g = 0; g < %d; ++g) {\n%sfor (int f = 0; f < %d; ++f) {\n"
                  "const long64 k = at + (g * %d + f) * places->place[%d];\n%s}\n}\n}\n",
                  unroll, made, unroll, fields, fields, apart, product);
    return WEFT_SUCCESS;
}

/* Writes the scaling of the numbers of a point. */
static void write_scaling(weft_operator_text *w, const char *array, int count, double factor) {
    weft_text_add(&w->body, "UNROLL\nfor (int g = 0; g < %d; ++g) {\n%s_number value = %s[g];\n",
                  count, w->name, array);
    weft_operator_text_scale(w, factor);
    weft_text_add(&w->body, "%s[g] = value;\n}\n", array);
}

static weft_status write_body(weft_operator_text *w, int fields, int made) {
    const weft_pointwise_matrix *matrix = &w->list->matrix;
    weft_text_add(&w->body, "UNROLL\nfor (int g = 0; g < %d; ++g) out[g] = %s;\n", made,
                  w->list->layout.real ? "0" : "pair(0, 0)");
    if (matrix->scale_before != 1) write_scaling(w, "in", fields, matrix->scale_before);
    if (weft_operator_has_array(matrix->operator))
        WEFT_TRY(write_product(w, fields, made));
    else
        WEFT_TRY(weft_operator_text_call(w, 0, matrix->operator));
    if (matrix->scale_behind != 1) write_scaling(w, "out", made, matrix->scale_behind);
    return WEFT_SUCCESS;
}

weft_status weft_operator_text_matrix(weft_operator_text *w) {
    const weft_pointwise_matrix *matrix = &w->list->matrix;
    const int fields = (int)matrix->in_fields, made = (int)matrix->out_fields;
    weft_text *c = &w->text;
    w->kernel->fields = fields;
    w->kernel->made = made;
    if (!weft_operator_has_array(matrix->operator))
        weft_operator_text_snippet(w, 0, matrix->operator);
    WEFT_TRY(write_body(w, fields, made));
    weft_operator_text_places(w);
    weft_text_add(c,
                  "#define %s_fields %d\n#define %s_made %d\n"
                  "FUNCTION void %s_make(%s_number *in, %s_number *out, const int *index, "
                  "IN_VALUE const %s_places *places%s) {\n"
                  "(void)in; (void)index; (void)places;\n%s}\n",
                  w->name, fields, w->name, made, w->name, w->name, w->name, w->name,
                  w->kernel->array >= 0 ? ", GLOBAL const real *array" : "",
                  w->body.text ? w->body.text : "");
    return WEFT_SUCCESS;
}
