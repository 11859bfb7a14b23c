/*
 * Overlap-save over several ranks: each convolves by tiles, in a context of this process alone,
 * what its box of the result depends on. For that it needs its own box of the field and the points
 * around it, as far as the kernel reaches, which one exchange brings. The plan is then an outline
 * of the exact method's, over simulated ranks, which has the boxes.
 */
#ifndef WEFT_OVERLAP_SAVE_RANKS_H
#define WEFT_OVERLAP_SAVE_RANKS_H

#include "convolve/box_exchange.h"
#include "convolve/convolve.h"

typedef struct weft_overlap_save_ranks {
    weft_transport *transport; /* plan->outlined.transport */
    weft_context context;      /* of this process alone */
    weft_plan plan;            /* makes this rank's box of the result; NULL: that is empty */
    weft_box_exchange exchange;
    void *around; /* what that plan takes of the field */
    size_t around_bytes;
    bool reads, stores; /* this rank's boxes of the field and of the result are not empty */
} weft_overlap_save_ranks;

/* Whether c may be done so: several ranks, and a kernel and options as tiles want them. */
bool weft_overlap_save_ranks_possible(weft_context ctx, const weft_convolved *c,
                                      const weft_options *options);
/* Decides whether it is, by problem.method or, where that is auto, by what a rank would take;
 * `outline` has the boxes. Sets c->note. Collective. */
weft_status weft_overlap_save_ranks_choose(weft_context ctx, weft_plan outline, weft_convolved *c,
                                           const weft_options *options,
                                           weft_convolution_method *method);
/* Makes plan->outlined, of the outline, with this kernel or, if it is NULL, none. The caller
 * releases the plan also after a failure. Collective. */
weft_status weft_overlap_save_ranks_create(weft_plan plan, weft_context ctx,
                                           const weft_convolved *c, const weft_options *options,
                                           const void *kernel);

#endif
