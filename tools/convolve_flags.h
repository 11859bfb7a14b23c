/* What the flags of weft convolve say of a convolution. */
#ifndef WEFT_TOOLS_CONVOLVE_FLAGS_H
#define WEFT_TOOLS_CONVOLVE_FLAGS_H

#include "options.h"

/* Of --method samples; 0 where a flag was not given. */
typedef struct sampling_flags {
    double tolerance, opening;
    int64_t interpolation, subdomain;
    bool fixed, staggered;
} sampling_flags;

/* Lists have one entry for all axes, or one for each; none where their flag was not given. */
typedef struct convolve_flags {
    int boundaries, origins, lengths;
    weft_boundary boundary[WEFT_MAX_RANK];
    int64_t origin[WEFT_MAX_RANK];
    bool center; /* the origin */
    double length[WEFT_MAX_RANK];
    bool has_mode, correlate, deconvolve, has_zero;
    bool spectrum; /* what the kernel's file has */
    weft_convolution_mode mode;
    weft_convolution_method method;
    double regularizer, zero;
    sampling_flags sampling;
    const char *octree; /* a file, or NULL */
    raw_description raw, raw_kernel;
} convolve_flags;

/* The table of the flags, which fill in a convolve_flags. */
extern const option_flag convolve_option_flags[];

/* Fails where flags contradict each other. Not collective. */
weft_status convolve_flags_check(const convolve_flags *flags);

#endif
