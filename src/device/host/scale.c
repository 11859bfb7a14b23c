/* Multiplies real values in host memory by a factor. */
#include "device/device.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Below this a thread costs more than it scales. */
enum { VALUES_PER_THREAD = 16 << 10 };

static void scale_doubles(double *data, int64_t count, double factor) {
    for (int64_t i = 0; i < count; ++i) data[i] *= factor;
}

/* The factor keeps its double precision, so that each value is rounded once. */
static void scale_floats(float *data, int64_t count, double factor) {
    for (int64_t i = 0; i < count; ++i) data[i] = (float)((double)data[i] * factor);
}

static void scale_range(weft_precision precision, void *data, int64_t first, int64_t last,
                        double factor) {
    if (precision == WEFT_DOUBLE)
        scale_doubles((double *)data + first, last - first, factor);
    else if (precision == WEFT_SINGLE)
        scale_floats((float *)data + first, last - first, factor);
}

void weft_scale_run(weft_precision precision, void *data, int64_t count, double factor,
                    int threads) {
#ifdef _OPENMP
    int64_t most = count / VALUES_PER_THREAD;
    if (threads > most) threads = (int)most;
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            int64_t all = omp_get_num_threads(), me = omp_get_thread_num();
            scale_range(precision, data, count * me / all, count * (me + 1) / all, factor);
        }
        return;
    }
#else
    (void)threads;
#endif
    scale_range(precision, data, 0, count, factor);
}
