/* What problem.axis means along one axis, and which axis of real data is halved. */
#ifndef WEFT_SUPPORT_AXIS_H
#define WEFT_SUPPORT_AXIS_H

#include <stdbool.h>
#include <weft/weft.h>

/* Sine transforms of types 2 and 3 whose frequencies lie where the cosine transforms of these types
 * have theirs: number j is that of frequency j, but number 0 that of frequency n, which DST2 and
 * DST3 have as the last one. So a derivative makes one spectrum of the other number by number. For
 * plans within the library; weft.h does not have them. */
enum {
    WEFT_DST2_ALIGNED = WEFT_AXIS_REAL + 1,
    WEFT_DST3_ALIGNED,
};

static inline bool weft_axis_is_aligned(weft_axis axis) {
    return (int)axis == WEFT_DST2_ALIGNED || (int)axis == WEFT_DST3_ALIGNED;
}

static inline bool weft_axis_is_fourier(weft_axis axis) {
    return axis == WEFT_AXIS_OF_KIND || axis == WEFT_AXIS_REAL;
}

static inline bool weft_axis_is_real_to_real(weft_axis axis) {
    return axis != WEFT_AXIS_NONE && !weft_axis_is_fourier(axis);
}

/* Of a real-to-real transform: whether it is a sine transform, and its type, 1 to 4. */
static inline bool weft_axis_is_sine(weft_axis axis) {
    return (axis >= WEFT_DST1 && axis <= WEFT_DST4) || weft_axis_is_aligned(axis);
}

/* DST2 or DST3 with its frequencies in their usual order, of an aligned one; others as they are. */
static inline weft_axis weft_axis_in_order(weft_axis axis) {
    if (!weft_axis_is_aligned(axis)) return axis;
    return (int)axis == WEFT_DST2_ALIGNED ? WEFT_DST2 : WEFT_DST3;
}

static inline int weft_axis_number(weft_axis axis) {
    axis = weft_axis_in_order(axis);
    return 1 + (int)axis - (int)(weft_axis_is_sine(axis) ? WEFT_DST1 : WEFT_DCT1);
}

/* What undoes it, but for a factor: types 2 and 3 are each other's inverse. */
static inline weft_axis weft_axis_inverse(weft_axis axis) {
    switch ((int)axis) {
    case WEFT_DCT2:
        return WEFT_DCT3;
    case WEFT_DCT3:
        return WEFT_DCT2;
    case WEFT_DST2:
        return WEFT_DST3;
    case WEFT_DST3:
        return WEFT_DST2;
    case WEFT_DST2_ALIGNED:
        return (weft_axis)WEFT_DST3_ALIGNED;
    case WEFT_DST3_ALIGNED:
        return (weft_axis)WEFT_DST2_ALIGNED;
    default:
        return axis;
    }
}

/* Of DCT2 or DST2 the aligned transform of type 2 of the same parity or, `turned`, the other one.
 */
static inline weft_axis weft_axis_of_parity(weft_axis axis, bool turned) {
    return weft_axis_is_sine(axis) != turned ? (weft_axis)WEFT_DST2_ALIGNED : WEFT_DCT2;
}

/* Fields that are odd along an axis where others are even: which of them are transformed forward,
 * and which back, by the sine transform in place of the cosine one that problem.axis says (types 2
 * and 3), or the other way round. So what is done to spectra makes even fields of odd ones. Sine
 * transforms along such an axis are aligned. */
typedef struct weft_parity {
    unsigned turned[2][WEFT_MAX_RANK]; /* [direction][axis], bit f: field f of each member */
} weft_parity;

/* The logical length of weft_axis: what forward and inverse along n points multiply by together. */
static inline double weft_axis_length(weft_axis axis, int64_t n) {
    switch (axis) {
    case WEFT_AXIS_OF_KIND:
    case WEFT_AXIS_REAL:
        return (double)n;
    case WEFT_AXIS_NONE:
        return 1;
    case WEFT_DCT1:
        return 2 * ((double)n - 1);
    case WEFT_DST1:
        return 2 * ((double)n + 1);
    default:
        return 2 * (double)n;
    }
}

/* Points of the real line whose Fourier transform a cosine or sine transform is: in type 1 its
 * symmetry makes it longer. */
static inline int64_t weft_axis_real_line(weft_axis axis, int64_t n) {
    return weft_axis_number(axis) == 1 ? 2 * (weft_axis_is_sine(axis) ? n + 1 : n - 1) : n;
}

/* The axis that is n/2+1 in output space: of WEFT_R2C the one that is WEFT_AXIS_REAL, else the last
 * that is Fourier transformed. -1: none. */
static inline int weft_axis_halved(const weft_problem *p) {
    int last = p->kind == WEFT_R2C ? p->rank - 1 : -1;
    for (int a = last; a >= 0; a--)
        if (p->axis[a] == WEFT_AXIS_REAL) return a;
    while (last >= 0 && p->axis[last] != WEFT_AXIS_OF_KIND) last--;
    return last;
}

#endif
