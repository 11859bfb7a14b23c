/*
 * One pass: the transforms of a batch along one dimension. Lines are gathered a few at a time into
 * contiguous memory, transformed there in double, and scattered.
 */
#ifndef WEFT_ENGINE_REFERENCE_PASS_H
#define WEFT_ENGINE_REFERENCE_PASS_H

#include "engine/engine.h"
#include "engine/reference/dft.h"
#include "engine/reference/embedding.h"

typedef struct weft_pass {
    weft_transform_kind kind;
    weft_direction direction;
    weft_precision precision;
    weft_axis type;     /* R2R */
    weft_dimension dim; /* n is the logical length */
    int loops;          /* slowest first */
    weft_dimension loop[WEFT_AXES + WEFT_MAX_RANK];
    int64_t lines;            /* product of the loops */
    int64_t lanes;            /* lines done at a time */
    bool halved;              /* real data by a complex DFT of length n/2 */
    weft_dft *dft;            /* of length n, or n/2 if halved, or of the embedding */
    weft_embedding embedding; /* R2R */
    weft_lines roots;         /* exp(-2 pi i k / n) for k = 0..n/2 if halved */
} weft_pass;

/* Completes a pass whose kind, direction, precision, dim and loops are set. *bytes grows by its
 * size. After WEFT_ERROR_OUT_OF_MEMORY it may be released by weft_pass_release. */
weft_status weft_pass_prepare(weft_pass *pass, size_t *bytes);
void weft_pass_release(weft_pass *pass);

/* The size of one thread's workspace, in numbers. */
int64_t weft_pass_workspace(const weft_pass *pass);

/* Runs with up to `threads` threads; workspace holds weft_pass_workspace() numbers for each. in may
 * equal out where the strides are equal. */
void weft_pass_run(const weft_pass *pass, const void *in, void *out, double *workspace,
                   int64_t workspace_stride, int threads);

#endif
