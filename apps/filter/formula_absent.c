/* Formulas in a build without muParser. */
#include "formula.h"

#include "support/error.h"

weft_status filter_formula_create(const char *text, const filter_axes *axes,
                                  filter_formula **formula) {
    (void)axes;
    *formula = NULL;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "--formula %.200s: this build has no muParser; install it (Debian: "
                     "libmuparser-dev) and build weft again",
                     text);
}

void filter_formula_destroy(filter_formula *formula) {
    (void)formula;
}

void filter_formula_row(filter_formula *formula, const double *first, const double *last, int count,
                        double *value) {
    (void)formula, (void)first, (void)last;
    for (int i = 0; i < count; i++) value[i] = 0;
}

weft_status filter_formula_check(const filter_formula *formula) {
    (void)formula;
    return WEFT_SUCCESS;
}
