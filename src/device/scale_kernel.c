/* The kernel that scales, for the devices that have kernels. */
#include "device/scale_kernel.h"

enum { THREADS = 256, PER_THREAD = 4 }; /* as in scale.cl */

extern const char weft_kernels_scale_cl[]; /* made by cmake/embed.cmake */

weft_kernel_source weft_scale_source(weft_precision precision) {
    static const char *const text[] = {weft_kernels_scale_cl};
    return (weft_kernel_source){.name = precision == WEFT_DOUBLE ? "weft_scale_double"
                                                                 : "weft_scale_single",
                                .text = text,
                                .texts = 1,
                                .threads = THREADS,
                                .precision = precision};
}

void weft_scale_prepare(weft_scale_launch *launch, void *data, int64_t count, double factor,
                        bool has_double) {
    const int64_t per_group = THREADS * PER_THREAD;
    *launch = (weft_scale_launch){.groups = {(unsigned)((count + per_group - 1) / per_group), 1, 1},
                                  .count = count,
                                  .factor = factor,
                                  .high = (float)factor};
    launch->low = (float)(factor - (double)launch->high);
    const void *parts[] = {&launch->factor, &launch->none},
               *halves[] = {&launch->high, &launch->low};
    const size_t bytes = has_double ? sizeof launch->factor : sizeof launch->high;
    launch->argument[0] = (weft_kernel_argument){.memory = data};
    launch->argument[1] =
        (weft_kernel_argument){.value = &launch->count, .bytes = sizeof launch->count};
    for (int i = 0; i < 2; i++)
        launch->argument[2 + i] =
            (weft_kernel_argument){.value = has_double ? parts[i] : halves[i], .bytes = bytes};
}
