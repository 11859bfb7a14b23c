/*
 * The first transform on a GPU: 64^3 complex numbers there and back, in memory of the device. Its
 * argument names another device than cuda: opencl, host, simulated.
 *
 *   cc gpu.c $(pkg-config --cflags --libs weft) -lm && ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { N = 64, POINTS = N * N * N };

/* What a program keeps: the plan, and two arrays in memory of the device. */
typedef struct transform {
    weft_plan plan;
    void *field, *spectrum;
} transform;

static weft_device device_named(const char *name) {
    for (int device = WEFT_HOST; device <= WEFT_SIMULATED; device++)
        if (strcmp(weft_device_name((weft_device)device), name) == 0) return (weft_device)device;
    return WEFT_CUDA;
}

static weft_status prepare(weft_context ctx, weft_device device, transform *t) {
    const weft_problem problem = {
        .rank = 3, .n = {N, N, N}, .kind = WEFT_C2C, .norm = WEFT_NORM_BACKWARD};
    const weft_options options = {.device = device};
    size_t field_bytes = 0, spectrum_bytes = 0;
    weft_status status = weft_plan_create(ctx, &problem, &options, &t->plan);
    if (status == WEFT_SUCCESS) status = weft_plan_bytes(t->plan, WEFT_INPUT, &field_bytes);
    if (status == WEFT_SUCCESS) status = weft_plan_bytes(t->plan, WEFT_OUTPUT, &spectrum_bytes);
    if (status == WEFT_SUCCESS) status = weft_buffer_create(t->plan, field_bytes, &t->field);
    if (status == WEFT_SUCCESS) status = weft_buffer_create(t->plan, spectrum_bytes, &t->spectrum);
    return status;
}

static weft_status there_and_back(const transform *t, double *numbers) {
    const size_t bytes = sizeof(double[2]) * POINTS;
    weft_status status = weft_buffer_upload(t->plan, t->field, numbers, bytes);
    if (status == WEFT_SUCCESS) status = weft_execute(t->plan, WEFT_FORWARD, t->field, t->spectrum);
    /* Here the program's own kernels, on the same device, would change the spectrum. */
    if (status == WEFT_SUCCESS) status = weft_execute(t->plan, WEFT_INVERSE, t->spectrum, t->field);
    if (status == WEFT_SUCCESS) status = weft_buffer_download(t->plan, numbers, t->field, bytes);
    return status;
}

static double value(size_t i) {
    return sin(0.001 * (double)i);
}

int main(int argc, char **argv) {
    const weft_device device = device_named(argc > 1 ? argv[1] : "cuda");
    const char *description = "";
    if (weft_device_probe(device, &description) != WEFT_SUCCESS) {
        fprintf(stderr, "gpu: %s\n", weft_last_error(NULL));
        return 1;
    }
    printf("%s: %s\n", weft_device_name(device), description);
    double *numbers = malloc(sizeof(double[2]) * POINTS);
    if (!numbers) return 1;
    for (size_t i = 0; i < 2 * POINTS; i++) numbers[i] = value(i);

    weft_context ctx = NULL;
    transform t = {0};
    weft_status status = weft_context_create(NULL, &ctx);
    if (status == WEFT_SUCCESS) status = prepare(ctx, device, &t);
    if (status == WEFT_SUCCESS) status = there_and_back(&t, numbers);
    if (status != WEFT_SUCCESS) fprintf(stderr, "gpu: %s\n", weft_last_error(ctx));

    double error = 0;
    for (size_t i = 0; i < 2 * POINTS; i++) error = fmax(error, fabs(numbers[i] - value(i)));
    if (status == WEFT_SUCCESS) printf("largest error: %.1e\n", error);
    if (t.plan) weft_buffer_destroy(t.plan, &t.field);
    if (t.plan) weft_buffer_destroy(t.plan, &t.spectrum);
    weft_plan_destroy(&t.plan);
    weft_context_destroy(&ctx);
    free(numbers);
    return status == WEFT_SUCCESS && error < 1e-13 ? 0 : 1;
}
