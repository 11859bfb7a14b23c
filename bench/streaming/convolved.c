/*
 * How fast convolutions of cubes of real numbers in double precision are, whose field and result
 * lie in page-locked host memory: whole calls of weft_convolution_execute, medians. Problems:
 * linear along all axes with an array of 33^3 elements, the result as large as the field (linear),
 * and periodic with a Gaussian (gaussian). Modes: streamed within the limit (stream), with
 * everything on the device (whole), and on the processor with all its threads (native), with which
 * results are compared. The floor is what the link takes for the bytes of the larger direction, the
 * kernel's spectrum included where it lies on the host, at the rate of copies in both directions at
 * once. CSV on standard output. Usage: bench_streamed_convolutions [--device cuda] [--limit BYTES]
 *       [--n 512] [--runs 5] [--threads N]
 */
#include "exec/plan.h"
#include "link.h"

#include <math.h>

enum { MOST_RUNS = 100, KERNEL = 33 };
enum { STREAM, WHOLE, NATIVE, MODES };

static const char *const mode_names[MODES] = {"stream", "whole", "native"};
static weft_context ctx;
static weft_options options = {.device = WEFT_CUDA,
                               .location = WEFT_LOCATION_HOST,
                               .placement = WEFT_OUT_OF_PLACE,
                               .device_memory_limit = (size_t)1 << 30,
                               .threads = 1};
static int64_t n = 512;
static int runs = 5;
static double rate;
static double *field, *result, *expected; /* the last one: of mode native, which goes first */

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_streamed_convolutions: %s\n", weft_thread_error());
    exit(1);
}

static double itself(double value) {
    return value;
}

/* Bytes that copies of an execution move in one direction over the link. */
static double bytes_copied(weft_plan plan, weft_transfer transfer) {
    const int schedule = weft_schedule_index(WEFT_CONVOLVE, false);
    const weft_tasks *tasks = &plan->build->program[schedule].lowered.tasks;
    double bytes = 0;
    for (int t = 0; t < tasks->count; t++) {
        const weft_copy_task *copy = &tasks->task[t].as.copy;
        if (tasks->task[t].kind == WEFT_TASK_COPY && copy->transfer == transfer)
            bytes += (double)copy->copy.elements * (double)copy->copy.element_bytes;
    }
    return bytes;
}

/* The largest difference from what the processor found, relative to the largest value. */
static double error_of(void) {
    const int64_t points = n * n * n;
    double most = 0, off = 0;
    for (int64_t i = 0; i < points; i++) {
        most = fmax(most, fabs(expected[i]));
        off = fmax(off, fabs(expected[i] - result[i]));
    }
    return off / most;
}

static void time_mode(const weft_convolution_problem *problem, const char *name, int mode) {
    const double mebibyte = 1 << 20;
    weft_options used = options;
    weft_convolution plan = NULL;
    weft_memory memory, of_plan;
    double seconds[MOST_RUNS];
    if (mode == STREAM) used.stream = WEFT_STREAM_ON;
    if (mode == WHOLE) used.stream = WEFT_STREAM_OFF;
    if (mode == NATIVE) used.device = WEFT_HOST;
    if (mode != STREAM) used.device_memory_limit = 0;
    must(weft_convolution_create(ctx, problem, &used, &plan));
    must(weft_plan_memory(plan, &memory));
    weft_plan_own_memory(plan, &of_plan);
    must(weft_convolution_execute(plan, field, mode == NATIVE ? expected : result));
    for (int k = 0; k < runs; k++) {
        const double start = seconds_now();
        must(weft_convolution_execute(plan, field, mode == NATIVE ? expected : result));
        seconds[k] = seconds_now() - start;
    }
    const double spectrum = (double)(memory.page_locked - of_plan.page_locked);
    const double up = bytes_copied(plan, WEFT_HOST_TO_DEVICE) + spectrum,
                 down = bytes_copied(plan, WEFT_DEVICE_TO_HOST);
    const double median = median_of(seconds, runs), floor = fmax(up, down) / rate;
    printf("%lld,%s,%s,%zu,%.6f,%.6f,%.3f,%.0f,%.0f,%.0f,%.2e\n", (long long)n, name,
           mode_names[mode], used.device_memory_limit, median, floor, floor / median,
           (double)memory.workspace / mebibyte, (double)memory.page_locked / mebibyte,
           spectrum / mebibyte, mode == NATIVE ? 0 : error_of());
    fflush(stdout);
    weft_convolution_destroy(&plan);
}

static void read_arguments(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *flag = argv[i], *value = argv[i + 1];
        if (strcmp(flag, "--device") == 0 && !find_device(value, &options.device))
            must(weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--device %s: there is none", value));
        if (strcmp(flag, "--limit") == 0) options.device_memory_limit = (size_t)bytes_of(value);
        if (strcmp(flag, "--n") == 0) n = strtoll(value, NULL, 10);
        if (strcmp(flag, "--runs") == 0) runs = atoi(value);
        if (strcmp(flag, "--threads") == 0) options.threads = atoi(value);
    }
    if (runs < 1 || runs > MOST_RUNS) runs = 5;
}

/* The arrays are the memory of a plan of eight points, which holds next to nothing. */
static weft_plan create_arrays(void) {
    const weft_problem tiny = {.rank = 3, .n = {2, 2, 2}};
    const size_t bytes = (size_t)(n * n * n) * sizeof(double);
    weft_plan keeper = NULL;
    void *memory[3];
    weft_options used = options;
    used.device_memory_limit = 0;
    must(weft_plan_create(ctx, &tiny, &used, &keeper));
    for (int i = 0; i < 3; i++) must(weft_host_buffer_create(keeper, bytes, &memory[i]));
    field = memory[0];
    result = memory[1];
    expected = memory[2];
    for (int64_t i = 0; i < n * n * n; i++) {
        const uint64_t mixed = (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        field[i] = (double)((mixed ^ mixed >> 29) >> 11) * 0x1p-52 - 1;
    }
    return keeper;
}

int main(int argc, char **argv) {
    static double kernel[KERNEL * KERNEL * KERNEL];
    const char *description = NULL;
    read_arguments(argc, argv);
    must(weft_device_probe(options.device, &description));
    must(weft_context_create(NULL, &ctx));
    rate = link_rate(options.device, must, itself);
    weft_plan keeper = create_arrays();
    for (int i = 0; i < KERNEL * KERNEL * KERNEL; i++) kernel[i] = sin(i * 0.37) / (i + 1);
    const double sigma = 3, covariance[] = {sigma * sigma, 0, 0, 0, sigma * sigma, 0, 0, 0, 9};
    const weft_convolution_problem linear = {.rank = 3,
                                             .n = {n, n, n},
                                             .kind = WEFT_R2C,
                                             .boundary = {WEFT_LINEAR, WEFT_LINEAR, WEFT_LINEAR},
                                             .mode = WEFT_SAME,
                                             .method = WEFT_WHOLE,
                                             .kernel = {.array = kernel,
                                                        .n = {KERNEL, KERNEL, KERNEL}}},
                                   gaussian = {.rank = 3,
                                               .n = {n, n, n},
                                               .kind = WEFT_R2C,
                                               .method = WEFT_WHOLE,
                                               .kernel = {.kind = WEFT_KERNEL_GAUSSIAN,
                                                          .covariance = covariance}};
    printf("# %s; both ways at once %.1f GB/s each; %d threads\n", description, rate * 1e-9,
           options.threads);
    printf("n,problem,mode,limit,seconds,floor_s,share,device_MiB,page_locked_MiB,spectrum_MiB,"
           "error\n");
    for (int m = MODES - 1; m >= 0; m--) time_mode(&linear, "linear", m);
    for (int m = MODES - 1; m >= 0; m--) time_mode(&gaussian, "gaussian", m);
    weft_host_buffer_destroy(keeper, (void *[]){field});
    weft_host_buffer_destroy(keeper, (void *[]){result});
    weft_host_buffer_destroy(keeper, (void *[]){expected});
    weft_plan_destroy(&keeper);
    weft_context_destroy(&ctx);
    return 0;
}
