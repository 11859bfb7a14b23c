/*
 * A pass of the OpenMP engine: a batch of transforms along one dimension of an array on the device,
 * some lines at a time, as many as the scratch memory holds.
 */
#ifndef WEFT_ENGINE_OPENMP_PASS_H
#define WEFT_ENGINE_OPENMP_PASS_H

#include "engine/engine.h"
#include "engine/openmp/kernels.h"

enum {
    WEFT_OPENMP_STAGES = 40,
    WEFT_OPENMP_LONGEST = 1 << 28 /* points of a line; iterations are counted with 32 bits */
};

typedef struct weft_openmp_pass {
    /* Given by the caller. */
    weft_transform_kind kind; /* of one dimension */
    weft_axis type;           /* R2R */
    bool inverse;
    weft_precision precision;
    weft_dimension dim;
    int loops;
    weft_dimension loop[WEFT_OPENMP_LOOPS];

    /* Set by weft_openmp_pass_prepare. */
    weft_openmp_form in_form, out_form;
    weft_openmp_side in, out;
    bool lines_first;
    uint64_t lines;
    uint32_t at_once; /* lines of a kernel */
    weft_openmp_waves waves;
    uint32_t length; /* of the real line, or of the complex one */
    uint32_t points; /* complex ones that are transformed: `length`, or half of them */
    uint32_t room;   /* of a line in scratch memory: points, or the length of Bluestein's
                        convolution */
    bool chirped;    /* Bluestein's */
    int stages;
    int radix[WEFT_OPENMP_STAGES];
    void *tables; /* on the device: of `room` roots, then offsets in bytes of the others */
    size_t real_roots, wave_roots, chirp, spectrum, table_bytes;
} weft_openmp_pass;

/* Completes a pass and makes its tables on the device. It may be released also after a failure. */
weft_status weft_openmp_pass_prepare(weft_openmp_pass *pass, weft_device_state *device);
void weft_openmp_pass_release(weft_openmp_pass *pass, weft_device_state *device);

/* Bytes of scratch memory on the device. */
size_t weft_openmp_pass_scratch(const weft_openmp_pass *pass);

/* Runs the pass to its end, in a queue's task. in may equal out where the strides are equal. */
void weft_openmp_pass_run(const weft_openmp_pass *pass, const weft_openmp_processor *processor,
                          const void *in, void *out, char *scratch);

#endif
