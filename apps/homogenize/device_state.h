/* What the files of passes on a device share. */
#ifndef WEFT_HOMOGENIZE_DEVICE_STATE_H
#define WEFT_HOMOGENIZE_DEVICE_STATE_H

#include "device.h"

#include "device/device.h"

enum { HOMOGENIZE_THREADS = 256 }; /* of a group */

typedef enum homogenize_pass {
    PASS_FILL,
    PASS_STRESS,
    PASS_RESPOND,
    PASS_REFLECT,
    PASS_DESCEND,
    PASS_PRODUCTS,
    PASS_PHASES,
    PASS_SPREAD,
    PASS_GATHER,
    PASSES
} homogenize_pass;

/* The structure `sweep` of kernels/sweep.cl. */
typedef struct homogenize_sweep {
    int64_t voxels, row, rows, halo, store, reference, threads, phases, entries;
    double twice, trace, factor, mean[6];
} homogenize_sweep;

/* The numbers of a table, and room for its threads' parts behind them (kernels/table.cl). */
typedef struct homogenize_table {
    void *memory;
    int64_t numbers; /* that the memory has room for */
    double *host;    /* the sums of all parts */
} homogenize_table;

struct homogenize_device {
    weft_plan plan;
    homogenize_sweep shape; /* what is the same in all passes */
    weft_kernel *kernel[PASSES], *green;
    void *phases, *law, *inverse, *relax, *sums, *means, *most; /* there; relax may be NULL */
    double *host;                                               /* the sums of all groups */
    homogenize_table table;
    int components;
    unsigned groups; /* of a pass, at most */
    size_t bytes;
    weft_status status;
};

/* Memory on the device; where `host` is not NULL its bytes are copied there. */
weft_status homogenize_device_copy(homogenize_device *d, const void *host, size_t bytes,
                                   void **there);

/* Launches a pass. `argument` has room for one more, the shape. */
weft_status homogenize_device_launch(const homogenize_device *d, homogenize_pass pass,
                                     unsigned groups, weft_kernel_argument *argument, int arguments,
                                     const homogenize_sweep *shape);

/* device_phases.c: room for tables of so many phases. */
weft_status homogenize_device_create_table(homogenize_device *d, const homogenize_space *space);

/* Whether passes do nothing: there are no voxels, or one has failed. */
static inline bool homogenize_device_is_idle(const homogenize_device *d) {
    return d->status != WEFT_SUCCESS || d->shape.voxels == 0;
}

static inline weft_kernel_argument homogenize_array(const void *memory) {
    return (weft_kernel_argument){.memory = memory};
}

#endif
