/*
 * libweft alone, without MPI: the complex transform of an impulse is a plane wave.
 *
 *   cc serial.c $(pkg-config --cflags --libs weft) -lm && ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft.h>

int main(void) {
    const int64_t n[2] = {60, 77};
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_problem problem = {.rank = 2, .n = {n[0], n[1]}, .kind = WEFT_C2C};
    size_t in_bytes, out_bytes;
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS ||
        weft_plan_create(ctx, &problem, NULL, &plan) != WEFT_SUCCESS ||
        weft_plan_bytes(plan, WEFT_INPUT, &in_bytes) != WEFT_SUCCESS ||
        weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes) != WEFT_SUCCESS) {
        fprintf(stderr, "serial: %s\n", weft_last_error(ctx));
        return 1;
    }
    double(*a)[2] = calloc(1, in_bytes > out_bytes ? in_bytes : out_bytes); /* in place */
    if (!a) return 1;
    a[2 * n[1] + 3][0] = 1; /* the impulse sits at (2, 3) */
    if (weft_execute(plan, WEFT_FORWARD, a, a) != WEFT_SUCCESS) {
        fprintf(stderr, "serial: %s\n", weft_last_error(ctx));
        return 1;
    }
    double error = 0;
    for (int64_t j = 0; j < n[0]; j++) {
        for (int64_t k = 0; k < n[1]; k++) {
            double phase = -6.28318530717958647692 *
                           (2. * (double)j / (double)n[0] + 3. * (double)k / (double)n[1]);
            const double *value = a[j * n[1] + k];
            error = fmax(error, hypot(value[0] - cos(phase), value[1] - sin(phase)));
        }
    }
    printf("largest error: %.1e\n", error);
    free(a);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    return error < 1e-13 ? 0 : 1;
}
