/* The flags of weft convolve: each value is read, and refused with a sentence that says what to
 * give. */
#include "convolve_flags.h"

#include "names.h"
#include "support/error.h"

#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static weft_status set_boundary(void *target, const char *value) {
    convolve_flags *flags = target;
    const char *at = value;
    for (flags->boundaries = 0;; at++) {
        const size_t length = strcspn(at, ",");
        weft_boundary boundary;
        if (flags->boundaries == WEFT_MAX_RANK || !find_boundary(at, length, &boundary))
            return WRONG("--boundary %s: give one for all axes, or one for each, joined by commas: "
                         "periodic, linear, free, dirichlet or neumann",
                         value);
        flags->boundary[flags->boundaries++] = boundary;
        at += length;
        if (*at == '\0') return WEFT_SUCCESS;
    }
}

static weft_status set_mode(void *target, const char *value) {
    convolve_flags *flags = target;
    flags->has_mode = true;
    if (find_convolution_mode(value, strlen(value), &flags->mode)) return WEFT_SUCCESS;
    return WRONG("--mode %s: give full, same or valid", value);
}

static weft_status set_method(void *target, const char *value) {
    convolve_flags *flags = target;
    if (find_convolution_method(value, strlen(value), &flags->method)) return WEFT_SUCCESS;
    return WRONG("--method %s: give auto, whole, overlap-save, samples or multilevel", value);
}

/* A number above 0. */
static weft_status set_positive(const char *flag, const char *value, double *number) {
    double numbers[WEFT_MAX_RANK];
    int count;
    if (!options_numbers(value, &count, numbers) || count != 1 || !(numbers[0] > 0))
        return WRONG("--%s %s: give a number above 0", flag, value);
    *number = numbers[0];
    return WEFT_SUCCESS;
}

static weft_status set_tolerance(void *target, const char *value) {
    return set_positive("tolerance", value, &((convolve_flags *)target)->sampling.tolerance);
}

static weft_status set_opening(void *target, const char *value) {
    return set_positive("opening", value, &((convolve_flags *)target)->sampling.opening);
}

static weft_status set_interpolation(void *target, const char *value) {
    return options_integer("interpolation", value, 1,
                           &((convolve_flags *)target)->sampling.interpolation);
}

static weft_status set_subdomain(void *target, const char *value) {
    return options_integer("subdomain", value, 1, &((convolve_flags *)target)->sampling.subdomain);
}

static weft_status set_pattern(void *target, const char *value) {
    ((convolve_flags *)target)->sampling.fixed = strcmp(value, "fixed") == 0;
    if (strcmp(value, "fixed") == 0 || strcmp(value, "graded") == 0) return WEFT_SUCCESS;
    return WRONG("--pattern %s: give graded or fixed", value);
}

static weft_status set_octree(void *target, const char *value) {
    ((convolve_flags *)target)->octree = value;
    return WEFT_SUCCESS;
}

static weft_status set_discretization(void *target, const char *value) {
    ((convolve_flags *)target)->sampling.staggered = strcmp(value, "staggered") == 0;
    if (strcmp(value, "staggered") == 0 || strcmp(value, "spectral") == 0) return WEFT_SUCCESS;
    return WRONG("--discretization %s: give spectral or staggered", value);
}

static weft_status set_correlate(void *target, const char *value) {
    (void)value;
    ((convolve_flags *)target)->correlate = true;
    return WEFT_SUCCESS;
}

static weft_status set_deconvolve(void *target, const char *value) {
    convolve_flags *flags = target;
    double numbers[WEFT_MAX_RANK];
    int count;
    if (!options_numbers(value, &count, numbers) || count != 1 || numbers[0] < 0)
        return WRONG("--deconvolve %s: give a number of 0 or more, which is added to the square of "
                     "the kernel's spectrum",
                     value);
    flags->deconvolve = true;
    flags->regularizer = numbers[0];
    return WEFT_SUCCESS;
}

static weft_status set_origin(void *target, const char *value) {
    convolve_flags *flags = target;
    double numbers[WEFT_MAX_RANK];
    flags->center = strcmp(value, "center") == 0;
    flags->origins = 1;
    if (flags->center) return WEFT_SUCCESS;
    bool right = options_numbers(value, &flags->origins, numbers);
    for (int i = 0; right && i < flags->origins; i++) {
        right = numbers[i] >= 0 && numbers[i] < 9e15;
        flags->origin[i] = right ? (int64_t)numbers[i] : 0;
        right = right && (double)flags->origin[i] == numbers[i];
    }
    if (right) return WEFT_SUCCESS;
    return WRONG("--origin %s: give center, or the kernel's element of displacement 0: whole "
                 "numbers from 0, one for each axis, joined by commas",
                 value);
}

static weft_status set_spectrum(void *target, const char *value) {
    (void)value;
    ((convolve_flags *)target)->spectrum = true;
    return WEFT_SUCCESS;
}

static weft_status set_length(void *target, const char *value) {
    convolve_flags *flags = target;
    bool right = options_numbers(value, &flags->lengths, flags->length);
    for (int i = 0; right && i < flags->lengths; i++) right = flags->length[i] > 0;
    if (right) return WEFT_SUCCESS;
    return WRONG("--length %s: give the lengths of the field's box, numbers above 0, joined by "
                 "commas",
                 value);
}

static weft_status set_zero(void *target, const char *value) {
    convolve_flags *flags = target;
    double numbers[WEFT_MAX_RANK];
    int count;
    if (!options_numbers(value, &count, numbers) || count != 1)
        return WRONG("--zero %s: give a number, the kernel's spectrum at wavenumber 0", value);
    flags->has_zero = true;
    flags->zero = numbers[0];
    return WEFT_SUCCESS;
}

static weft_status set_shape(void *target, const char *value) {
    return options_raw_shape("shape", value, &((convolve_flags *)target)->raw);
}

static weft_status set_dtype(void *target, const char *value) {
    return options_raw_type("dtype", value, &((convolve_flags *)target)->raw);
}

static weft_status set_kernel_shape(void *target, const char *value) {
    return options_raw_shape("kernel-shape", value, &((convolve_flags *)target)->raw_kernel);
}

static weft_status set_kernel_dtype(void *target, const char *value) {
    return options_raw_type("kernel-dtype", value, &((convolve_flags *)target)->raw_kernel);
}

const option_flag convolve_option_flags[] = {
    {"boundary", "periodic|linear|free|dirichlet|neumann[,...]",
     "what IN is beyond its box, along all axes or each; default periodic", set_boundary},
    {"mode", "full|same|valid", "extents of OUT along linear axes; default full", set_mode},
    {"method", "auto|whole|overlap-save|samples|multilevel",
     "the whole field; tiles of it, with linear axes; with little communication; default auto",
     set_method},
    {"tolerance", "E",
     "of samples and multilevel: the relative error that the result may have; default 1e-3",
     set_tolerance},
    {"opening", "PART",
     "of samples: their strides are up to this part of the distance; default: by tolerance",
     set_opening},
    {"interpolation", "N",
     "of samples: from 2, 4 or 6 of them along each axis; default: by tolerance",
     set_interpolation},
    {"subdomain", "N",
     "of samples: edge of the boxes that are convolved one after the other; default: one box",
     set_subdomain},
    {"pattern", "graded|fixed", "of samples: where they lie; default graded", set_pattern},
    {"octree", "FILE.json",
     "of samples: write where they lie, for weft plot to draw; default: nowhere", set_octree},
    {"discretization", "spectral|staggered",
     "derivatives in a built-in kernel: of Fourier series, or differences; default spectral",
     set_discretization},
    {"correlate", NULL, "correlation: with the kernel reversed and conjugated", set_correlate},
    {"deconvolve", "REG",
     "by conj(K) / (|K|^2 + REG) in place of the kernel's spectrum K; default: not",
     set_deconvolve},
    {"origin", "center|I[,J]", "the kernel's element of displacement 0 along each axis; default 0",
     set_origin},
    {"spectrum", NULL, "KERNEL is the kernel's spectrum, as weft transform makes it of a kernel",
     set_spectrum},
    {"length", "A[,B]", "lengths of the field's box; default: its points, 1 apart", set_length},
    {"zero", "VALUE", "a built-in kernel's spectrum at wavenumber 0; default: its formula's",
     set_zero},
    {"shape", "AxBxC", "shape of a raw IN (needed there)", set_shape},
    {"dtype", WEFT_ELEMENT_WORDS, "element type of a raw IN (needed there)", set_dtype},
    {"kernel-shape", "AxBxC", "shape of a raw KERNEL (needed there)", set_kernel_shape},
    {"kernel-dtype", WEFT_ELEMENT_WORDS, "element type of a raw KERNEL (needed there)",
     set_kernel_dtype},
    {NULL, NULL, NULL, NULL}};

weft_status convolve_flags_check(const convolve_flags *flags) {
    if (flags->octree != NULL && flags->method != WEFT_SAMPLES)
        return WRONG("--octree belongs to --method samples; add that, or drop it");
    WEFT_TRY(options_raw_check(&flags->raw, "shape", "dtype"));
    return options_raw_check(&flags->raw_kernel, "kernel-shape", "kernel-dtype");
}
