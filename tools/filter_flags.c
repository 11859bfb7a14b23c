/* Filters are read once it is known what they filter: until then they are kept as given. */
#include "filter_run.h"

#include "filter/formula.h"
#include "names.h"
#include "support/error.h"

#include <string.h>

DEFINE_FINDER(find_filter_boundary, filter_boundary, filter_boundary_name)

static weft_status add(void *target, const char *name, const char *value) {
    filter_flags *flags = target;
    if (flags->parts == FILTER_MOST_PARTS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--%s: give at most %d filters", name,
                         FILTER_MOST_PARTS);
    flags->name[flags->parts] = name;
    flags->text[flags->parts++] = value;
    return WEFT_SUCCESS;
}

#define DEFINE_SETTER(name)                                                                        \
    static weft_status set_##name(void *target, const char *value) {                               \
        return add(target, #name, value);                                                          \
    }

DEFINE_SETTER(gaussian)
DEFINE_SETTER(lowpass)
DEFINE_SETTER(highpass)
DEFINE_SETTER(bandpass)
DEFINE_SETTER(notch)
DEFINE_SETTER(wiener)
DEFINE_SETTER(formula)

static weft_status set_boundary(void *target, const char *value) {
    filter_flags *flags = target;
    flags->has_boundary = true;
    if (find_filter_boundary(value, strlen(value), &flags->boundary)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--boundary %s: give periodic, mirror or zero",
                     value);
}

static weft_status set_spectrum(void *target, const char *value) {
    ((filter_flags *)target)->spectrum = value;
    return WEFT_SUCCESS;
}

static weft_status set_shape(void *target, const char *value) {
    return options_raw_shape("shape", value, &((filter_flags *)target)->raw);
}

static weft_status set_dtype(void *target, const char *value) {
    return options_raw_type("dtype", value, &((filter_flags *)target)->raw);
}

const option_flag filter_option_flags[] = {
    {"gaussian", "SX[,SY[,ANGLE]]",
     "smooth: widths in points, turned by ANGLE degrees; default: not", set_gaussian},
    {"lowpass", "KIND,CUTOFF[,N]", "keep frequencies below a cutoff; default: all", set_lowpass},
    {"highpass", "KIND,CUTOFF[,N]", "keep those above it; default: all", set_highpass},
    {"bandpass", "KIND,LOW,HIGH[,N]", "keep those between; default: all", set_bandpass},
    {"notch", "U,V,RADIUS[,KIND[,N]]", "remove those around (U,V) and (-U,-V); default: none",
     set_notch},
    {"wiener", "BLUR,NOISE", "deblur: gaussian,SIGMA motion,LENGTH,ANGLE disc,RADIUS; default: not",
     set_wiener},
    {"formula", "EXPR", "multiply by a formula of u, v and f, such as exp(-f^2/0.02); default: 1",
     set_formula},
    {"boundary", "periodic|mirror|zero", "what lies beyond the edges; default periodic",
     set_boundary},
    {"spectrum", "FILE",
     "picture of the result's spectrum, frequency 0 in the middle; default: none", set_spectrum},
    {"shape", "AxBxC", "shape of a raw file (needed there)", set_shape},
    {"dtype", WEFT_ELEMENT_WORDS, "element type of a raw file (needed there)", set_dtype},
    {NULL, NULL, NULL, NULL}};

weft_status filter_flags_check(const filter_flags *flags) {
    if (flags->parts == 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "filter: say what to do: --gaussian, --lowpass, --highpass, --bandpass, "
                         "--notch, --wiener or --formula");
    return options_raw_check(&flags->raw, "shape", "dtype");
}

weft_status filter_flags_parts(const filter_flags *flags, const filter_axes *axes,
                               filter_part parts[FILTER_MOST_PARTS]) {
    for (int i = 0; i < flags->parts; i++) {
        if (strcmp(flags->name[i], "formula") != 0) {
            WEFT_TRY(filter_parse(flags->name[i], flags->text[i], axes, &parts[i]));
            continue;
        }
        parts[i] = (filter_part){.kind = FILTER_FORMULA};
        WEFT_TRY(filter_formula_create(flags->text[i], axes, &parts[i].formula));
    }
    return WEFT_SUCCESS;
}

weft_status filter_flags_check_values(const filter_flags *flags, const filter_part *parts) {
    for (int i = 0; i < flags->parts; i++)
        if (parts[i].formula) WEFT_TRY(filter_formula_check(parts[i].formula));
    return WEFT_SUCCESS;
}

void filter_flags_release(const filter_flags *flags, filter_part *parts) {
    for (int i = 0; i < flags->parts; i++) {
        filter_formula_destroy(parts[i].formula);
        parts[i].formula = NULL;
    }
}
