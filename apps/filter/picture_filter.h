/*
 * A plan that filters pictures of one shape: forward, times the filter's responses, and back, in
 * one call. The filter is set as often as the caller likes, without planning anew.
 */
#ifndef WEFT_FILTER_PICTURE_FILTER_H
#define WEFT_FILTER_PICTURE_FILTER_H

#include "response.h"

/* What the picture is beyond its edges. */
typedef enum filter_boundary {
    FILTER_PERIODIC = 0, /* repeats itself */
    FILTER_MIRROR,       /* mirrored about its edges: the edge's pixels come twice */
    FILTER_ZERO          /* black */
} filter_boundary;

/* "periodic", "mirror" or "zero"; "?" past the last. */
const char *filter_boundary_name(filter_boundary boundary);

typedef struct picture_filter_problem {
    int64_t rows, columns;
    int channels;          /* each is filtered alike; planes lie one after the other */
    weft_storage from, to; /* of samples: U8, U16 or FLOAT */
    double scale;          /* the result is multiplied by it; 0: 1 */
    double white;          /* the largest sample, to which the spectrum's grey levels refer */
    filter_boundary boundary;
    weft_precision precision;
    bool spectrum; /* pictures of spectra are wanted, too */
    double memory; /* bytes that it may take; 0: any */
} picture_filter_problem;

/* Black and white in a picture of a spectrum, in decibels relative to frequency 0 of a picture
 * whose samples are all problem.white: photographs lie between. */
enum { FILTER_BLACK_DECIBELS = -110, FILTER_WHITE_DECIBELS = -30 };

typedef struct picture_filter picture_filter;

/* Plans; of the options engine, device, threads, effort and device_memory_limit count. */
weft_status picture_filter_create(weft_context ctx, const picture_filter_problem *problem,
                                  const weft_options *options, picture_filter **created);
void picture_filter_destroy(picture_filter **destroyed);

/* Sets the filter, of rank 2, which is copied. */
weft_status picture_filter_set(picture_filter *p, const filter *f);

/* Filters in into out, which do not overlap. spectrum, NULL unless problem.spectrum, gets the
 * result's spectrum, a plane for each channel: its magnitude in decibels, frequency 0 in the
 * middle, of picture_filter_spectrum_rows x _columns bytes. */
weft_status picture_filter_run(picture_filter *p, const void *in, void *out,
                               unsigned char *spectrum);

/* Extents of the spectrum: twice the picture's, unless it is periodic. */
int64_t picture_filter_spectrum_rows(const picture_filter *p);
int64_t picture_filter_spectrum_columns(const picture_filter *p);

/* The plan, for weft_plan_explain and its like. */
weft_plan picture_filter_plan(const picture_filter *p);

#endif
