/*
 * Filters as functions of the frequency: what `weft filter` and `weft live` multiply spectra by.
 *
 * A filter is a list of parts, and its response the product of theirs. All responses are real and
 * the same at a frequency and its negative, so real pictures stay real and nothing is moved.
 * Frequencies are in cycles per point, -1/2 to 1/2 along each axis of the array.
 */
#ifndef WEFT_FILTER_RESPONSE_H
#define WEFT_FILTER_RESPONSE_H

#include <stdbool.h>
#include <weft/weft.h>

typedef enum filter_kind {
    FILTER_GAUSSIAN = 0, /* exp(-2 pi^2 (sigma_1^2 f_1^2 + ...)): of the density of widths sigma */
    FILTER_LOWPASS,      /* L(|f|) of cutoff[0] */
    FILTER_HIGHPASS,     /* 1 - L(|f|) of cutoff[0] */
    FILTER_BANDPASS,     /* (1 - L(|f|) of cutoff[0]) times L(|f|) of cutoff[1] */
    FILTER_NOTCH,        /* 1 - L(d) of cutoff[0], d being the distance from `centre`, times the
                            same for -centre; distances are periodic, as spectra are */
    FILTER_WIENER,       /* B / (B^2 + noise) for the blur B */
    FILTER_FORMULA       /* the user's (formula.h) */
} filter_kind;

/* L(f) of a cutoff c. */
typedef enum filter_edge {
    FILTER_IDEAL = 0,   /* 1 where f <= c, else 0 */
    FILTER_BUTTERWORTH, /* 1 / (1 + (f / c)^(2 order)) */
    FILTER_SMOOTH       /* exp(-f^2 / (2 c^2)), called gaussian */
} filter_edge;

typedef enum filter_blur {
    FILTER_BLUR_GAUSSIAN = 0, /* as FILTER_GAUSSIAN */
    FILTER_BLUR_MOTION,       /* sin(x) / x, x = pi length f_1: of a line of that length */
    FILTER_BLUR_DISC          /* 2 J1(x) / x, x = 2 pi radius |f|: of a disc */
} filter_blur;

typedef struct filter_formula filter_formula;

typedef struct filter_part {
    filter_kind kind;
    filter_edge edge;
    filter_blur blur;
    /* Widths in points. In two dimensions f_1 is along `direction` (a unit vector) and f_2 across
     * it; else they are along the axes. */
    double sigma[WEFT_MAX_RANK];
    double direction[2];
    double cutoff[2];
    double order;
    double centre[WEFT_MAX_RANK];
    double extent; /* of a motion its length, of a disc its radius, in points */
    double noise;  /* noise-to-signal ratio of powers, above 0 */
    filter_formula *formula;
} filter_part;

typedef struct filter {
    int rank; /* axes of the array */
    int parts;
    const filter_part *part;
} filter;

/* Whether a part's response is the same at both signs of each component of the frequency, which a
 * filter of mirrored arrays must be. What a formula is nobody knows: false. */
bool filter_is_even(const filter_part *part, int rank);

/* The response at a frequency. Half a cycle per point stands for both signs along its axis, and the
 * response there is the mean of both, which is what a real picture gets. */
double filter_response(const filter *f, const double *frequency);

/* The same as a weft_kernel_function, of wavenumbers in radians per point; argument: the filter. */
void filter_kernel(const double *k, int rank, double value[2], void *argument);

/* The responses at all frequencies of the half spectrum of a real picture of rows x columns, rows x
 * (columns / 2 + 1) floats or doubles. frequencies: room for columns / 2 + 1 numbers. */
void filter_factors(const filter *f, int64_t rows, int64_t columns, weft_precision precision,
                    int threads, double *frequencies, void *factors);

#endif
