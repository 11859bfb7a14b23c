/*
 * Microseconds of the native engine's own call with one thread and with two, for lines, planes and
 * cubes of so few points that starting the second one may take longer than what it does: what
 * WEFT_NATIVE_POINTS_PER_THREAD is chosen by, with the library built for 1 point per thread.
 * Complex to complex, double precision; of many runs, the two in turn, the one that is slower than
 * a tenth of them.
 */
#include "device/device.h"
#include "engine/engine.h"
#include "measuring.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdio.h>

enum { RUNS = 101, LEAST = 512, MOST = 32768, SHAPES = 5, POINTS_OF_A_RUN = 400000 };

static double in[2 * MOST], out[2 * MOST];

/* Contiguous lines of `line` points; or where that is 0 a square or a cube of `dims` axes, or the
 * nearest to that with axes of powers of two. */
typedef struct shape {
    const char *name;
    int64_t line;
    int dims;
} shape;

static weft_transform transform_of(const shape *s, int64_t points) {
    weft_transform t = {.dims = s->dims, .in_elements = points, .out_elements = points};
    int64_t stride = 1, axis = s->line > 0 ? s->line : 1;
    while (s->line == 0 && s->dims == 2 && axis * axis < points) axis *= 2;
    while (s->line == 0 && s->dims == 3 && axis * axis * axis < points) axis *= 2;
    for (int d = s->dims - 1; d >= 0; d--) {
        const int64_t n = s->line > 0 || d > 0 ? axis : points / stride;
        t.dim[d] = (weft_dimension){n, stride, stride};
        stride *= n;
    }
    if (s->line == 0) return t;
    t.loops = 1;
    t.loop[0] = (weft_dimension){points / s->line, s->line, s->line};
    return t;
}

static weft_status measure(const shape *s, int64_t points, double best[2]) {
    static double taken[2][RUNS];
    const weft_engine_ops *engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    const weft_device_settings settings = {.threads = 2};
    const int calls = (int)(POINTS_OF_A_RUN / points);
    weft_device_handle device = {.ops = weft_device_find(WEFT_HOST)};
    weft_engine_plan *plan[2] = {NULL, NULL};
    size_t bytes = 0;
    weft_status status = device.ops->open(&settings, &device.state);
    for (int i = 0; i < 2 && status == WEFT_SUCCESS; i++) {
        weft_transform t = transform_of(s, points);
        t.threads = i + 1;
        status = engine->plan(&t, &device, &plan[i], &bytes);
    }
    for (int run = 0; run < 2 * RUNS && status == WEFT_SUCCESS; run++) {
        const double start = weft_clock();
        for (int call = 0; call < calls; call++)
            weft_keep(&status, engine->execute(plan[run % 2], &device, NULL, in, out));
        taken[run % 2][run / 2] = (weft_clock() - start) / calls;
    }
    for (int i = 0; i < 2; i++) {
        (void)median_of(taken[i], RUNS); /* sorts */
        best[i] = taken[i][RUNS / 10];
        if (plan[i]) engine->destroy(plan[i]);
    }
    if (device.state) device.ops->close(device.state);
    return status;
}

int main(void) {
    static const shape shapes[SHAPES] = {{"lines of 8", 8, 1},
                                         {"lines of 64", 64, 1},
                                         {"lines of 512", 512, 1},
                                         {"plane", 0, 2},
                                         {"cube", 0, 3}};
    weft_status status = WEFT_SUCCESS;
    printf("shape,points,1 thread us,2 threads us,ratio\n");
    for (int i = 0; i < SHAPES; i++)
        for (int64_t points = LEAST; points <= MOST && status == WEFT_SUCCESS; points *= 2) {
            double best[2];
            status = measure(&shapes[i], points, best);
            if (status == WEFT_SUCCESS)
                printf("%s,%lld,%.2f,%.2f,%.2f\n", shapes[i].name, (long long)points, best[0] * 1e6,
                       best[1] * 1e6, best[1] / best[0]);
        }
    if (status != WEFT_SUCCESS) fprintf(stderr, "teams: %s\n", weft_thread_error());
    return status != WEFT_SUCCESS;
}
