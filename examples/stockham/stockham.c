/*
 * A Fourier transform on a GPU in two ways, a launch for each stage and one for all, and what each
 * stage costs. stockham.cl has the kernels and explains them. This program runs them on a batch of
 * complex lines, holds every line against an answer that is known (answers.c), and prints the times
 * of the stages beside that of a copy. It needs OpenCL 1.2, and nothing of weft.
 *
 *   cc stockham.c answers.c -lOpenCL -lm && ./a.out 1024 16384      (points of a line, lines)
 *
 * Exit status 0 where all answers were right.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answers.h"

#ifndef KERNEL_FILE
#define KERNEL_FILE "stockham.cl"
#endif

enum { SHORTEST = 2, LONGEST = 1 << 22 };
enum { MOST_LAUNCHES = 22, MOST_RUNS = 1000, WARMUPS = 2, GROUP = 256, MOST_DEVICES = 16 };

typedef struct problem {
    size_t n, lines;
    bool is_double;
    int runs, device;
    unsigned seed;
} problem;

typedef struct method {
    const char *name;
    cl_uint radix;
    bool is_local;
} method;

typedef struct machine {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel stage_radix2, stage_radix4, in_local_memory, copy;
    cl_mem input, roots, work[2]; /* stages take turns with the last two */
    size_t array_bytes;
} machine;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "stockham: %s: %s\n", what, why);
    exit(1);
}

static void must(cl_int result, const char *what) {
    char number[32];
    snprintf(number, sizeof number, "OpenCL's error %d", result);
    if (result != CL_SUCCESS) stop(what, number);
}

/* ---- the device ---- */

/* Number `wanted` of the devices of all platforms, GPUs first. */
static cl_device_id find_device(int wanted) {
    static const cl_device_type types[] = {CL_DEVICE_TYPE_GPU,
                                           CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR};
    cl_platform_id platform[MOST_DEVICES];
    cl_uint platforms = 0, devices;
    if (clGetPlatformIDs(MOST_DEVICES, platform, &platforms) != CL_SUCCESS) platforms = 0;
    if (platforms > MOST_DEVICES) platforms = MOST_DEVICES;
    for (int t = 0; t < 2; t++) {
        for (cl_uint p = 0; p < platforms; p++) {
            cl_device_id device[MOST_DEVICES];
            if (clGetDeviceIDs(platform[p], types[t], MOST_DEVICES, device, &devices) != CL_SUCCESS)
                continue;
            for (cl_uint d = 0; d < devices && d < MOST_DEVICES; d++)
                if (wanted-- == 0) return device[d];
        }
    }
    stop("no OpenCL device", "there is none of this number");
    return NULL;
}

static void build_kernels(machine *m, bool is_double) {
    char text[1 << 16];
    const char *source = text;
    cl_int result;
    FILE *file = fopen(KERNEL_FILE, "rb");
    if (!file) stop(KERNEL_FILE, "cannot be opened");
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    m->program = clCreateProgramWithSource(m->context, 1, &source, &length, &result);
    must(result, "program");
    if (clBuildProgram(m->program, 1, &m->device, is_double ? "-DDOUBLE" : "", NULL, NULL)) {
        char log[1 << 14] = "";
        clGetProgramBuildInfo(m->program, m->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        stop(KERNEL_FILE, log);
    }
    const struct {
        const char *name;
        cl_kernel *kernel;
    } kernels[] = {{"stage_radix2", &m->stage_radix2},
                   {"stage_radix4", &m->stage_radix4},
                   {"transform_in_local_memory", &m->in_local_memory},
                   {"copy", &m->copy}};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        *kernels[i].kernel = clCreateKernel(m->program, kernels[i].name, &result);
        must(result, kernels[i].name);
    }
}

static size_t number_bytes(const problem *p) {
    return p->is_double ? sizeof(double) : sizeof(float);
}

static cl_mem make_array(const machine *m, size_t bytes) {
    cl_int result;
    cl_mem array = clCreateBuffer(m->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    must(result, "device memory");
    return array;
}

static void open_machine(machine *m, const problem *p) {
    cl_int result;
    cl_device_fp_config doubles = 0;
    char name[256] = "", version[256] = "", driver[256] = "";
    m->device = find_device(p->device);
    clGetDeviceInfo(m->device, CL_DEVICE_NAME, sizeof name, name, NULL);
    clGetDeviceInfo(m->device, CL_DEVICE_VERSION, sizeof version, version, NULL);
    clGetDeviceInfo(m->device, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    clGetDeviceInfo(m->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
    if (p->is_double && !doubles) stop(name, "it has no double precision");
    m->context = clCreateContext(NULL, 1, &m->device, NULL, NULL, &result);
    must(result, "context");
    m->queue = clCreateCommandQueue(m->context, m->device, CL_QUEUE_PROFILING_ENABLE, &result);
    must(result, "queue");
    build_kernels(m, p->is_double);
    m->array_bytes = p->lines * p->n * 2 * number_bytes(p);
    m->input = make_array(m, m->array_bytes);
    for (int i = 0; i < 2; i++) m->work[i] = make_array(m, m->array_bytes);
    m->roots = make_array(m, p->n * 2 * number_bytes(p));
    printf("%s, %s, driver %s\n%zu lines of %zu points, %s precision, %.4g MiB; "
           "medians of %d runs; seed %u\n\n",
           name, version, driver, p->lines, p->n, p->is_double ? "double" : "single",
           (double)m->array_bytes / 1048576, p->runs, p->seed);
}

static void close_machine(machine *m) {
    cl_mem arrays[] = {m->input, m->roots, m->work[0], m->work[1]};
    cl_kernel kernels[] = {m->stage_radix2, m->stage_radix4, m->in_local_memory, m->copy};
    for (int i = 0; i < 4; i++) clReleaseMemObject(arrays[i]);
    for (int i = 0; i < 4; i++) clReleaseKernel(kernels[i]);
    clReleaseProgram(m->program);
    clReleaseCommandQueue(m->queue);
    clReleaseContext(m->context);
}

/* ---- the transform ---- */

static void launch(const machine *m, cl_kernel kernel, size_t items, size_t group,
                   cl_event *event) {
    must(clEnqueueNDRangeKernel(m->queue, kernel, 1, NULL, &items,
                                group && items % group == 0 ? &group : NULL, 0, NULL, event),
         "launch");
}

/* What all kernels of transforms begin with, and one number that is their own. */
static void set_arguments(const machine *m, const problem *p, cl_kernel kernel, cl_mem in,
                          cl_mem out, cl_uint number) {
    cl_uint n = (cl_uint)p->n;
    must(clSetKernelArg(kernel, 0, sizeof in, &in), "input");
    must(clSetKernelArg(kernel, 1, sizeof out, &out), "output");
    must(clSetKernelArg(kernel, 2, sizeof m->roots, &m->roots), "roots");
    must(clSetKernelArg(kernel, 3, sizeof n, &n), "length");
    must(clSetKernelArg(kernel, 4, sizeof number, &number), "span or radix");
}

/* The last stage of radix 4 is one of radix 2 where n is no power of 4. */
static cl_uint radix_of_stage(const problem *p, cl_uint radix, size_t span) {
    return span * radix > p->n ? 2 : radix;
}

/* Enqueues a transform of m->input, which is kept. Returns the number of launches, each of which
 * has an event. The result is in *output. */
static int transform(const machine *m, const problem *p, const method *how, cl_mem *output,
                     cl_event *event) {
    int launches = 0;
    *output = m->input;
    if (how->is_local) {
        size_t group = p->n > how->radix ? p->n / how->radix : 1, most;
        clGetKernelWorkGroupInfo(m->in_local_memory, m->device, CL_KERNEL_WORK_GROUP_SIZE,
                                 sizeof most, &most, NULL);
        if (group > most) group = most;
        set_arguments(m, p, m->in_local_memory, m->input, m->work[0], how->radix);
        must(clSetKernelArg(m->in_local_memory, 5, 4 * p->n * number_bytes(p), NULL), "two lines");
        launch(m, m->in_local_memory, p->lines * group, group, &event[launches++]);
        *output = m->work[0];
        return launches;
    }
    for (cl_uint span = 1, radix; span < p->n; span *= radix) {
        radix = radix_of_stage(p, how->radix, span);
        cl_mem in = *output;
        cl_kernel kernel = radix == 4 ? m->stage_radix4 : m->stage_radix2;
        *output = m->work[launches % 2];
        set_arguments(m, p, kernel, in, *output, span);
        launch(m, kernel, p->lines * p->n / radix, GROUP, &event[launches++]);
    }
    return launches;
}

/* ---- the check ---- */

/* The transform of `array`, in place. Where a result is not written at all, not-a-numbers stay. */
static void transform_array(const machine *m, const problem *p, const method *how, void *array) {
    cl_event event[MOST_LAUNCHES];
    cl_mem output;
    const cl_uint nan = 0xffffffff;
    must(clEnqueueWriteBuffer(m->queue, m->input, CL_TRUE, 0, m->array_bytes, array, 0, NULL, NULL),
         "write");
    for (int i = 0; i < 2; i++)
        must(clEnqueueFillBuffer(m->queue, m->work[i], &nan, sizeof nan, 0, m->array_bytes, 0, NULL,
                                 NULL),
             "fill");
    int launches = transform(m, p, how, &output, event);
    must(clEnqueueReadBuffer(m->queue, output, CL_TRUE, 0, m->array_bytes, array, 0, NULL, NULL),
         "read");
    for (int i = 0; i < launches; i++) clReleaseEvent(event[i]);
}

static bool is_right(const machine *m, const problem *p, const method *how, answers *known,
                     void *array) {
    static const char *const names[SIGNALS] = {"impulse", "tone", "noise"};
    bool right = true;
    printf("\n%s; of the error allowed:", how->name);
    for (int signal = 0; signal < SIGNALS; signal++) {
        answers_set_signal(known, (answers_signal)signal, array);
        transform_array(m, p, how, array);
        if (known->is_way_back) { /* conjugates of both sides make the transform its inverse */
            answers_conjugate(known, array);
            transform_array(m, p, how, array);
            answers_conjugate(known, array);
        }
        const double ratio = answers_error(known, array);
        printf(" %s %.2f%s", names[signal], ratio, signal < SIGNALS - 1 ? "," : "");
        if (!(ratio <= 1)) right = false; /* not-a-numbers are wrong too */
    }
    printf("  %s\n", right ? "PASS" : "FAIL");
    return right;
}

/* ---- times ---- */

static double seconds_between(cl_event first, cl_event last) {
    cl_ulong begin, end;
    must(clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL),
         "time");
    must(clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "time");
    return (double)(end - begin) * 1e-9;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, int count) {
    qsort(list, (size_t)count, sizeof *list, compare);
    return (list[(count - 1) / 2] + list[count / 2]) / 2;
}

/* Enqueues work, with an event for each launch, and tells their number: `transform` or `copies`. */
typedef int (*enqueued)(const machine *m, const problem *p, const method *how, cl_mem *output,
                        cl_event *event);

/* Medians of each launch's time, and of that from the start of the first to the end of the last. */
static int measure(const machine *m, const problem *p, enqueued work, const method *how,
                   double each[MOST_LAUNCHES], double *whole) {
    double times[MOST_LAUNCHES + 1][MOST_RUNS];
    int launches = 0;
    for (int run = -WARMUPS; run < p->runs; run++) {
        cl_event event[MOST_LAUNCHES];
        cl_mem output;
        const int slot = run < 0 ? 0 : run;
        launches = work(m, p, how, &output, event);
        must(clFinish(m->queue), "work");
        times[MOST_LAUNCHES][slot] = seconds_between(event[0], event[launches - 1]);
        for (int i = 0; i < launches; i++) {
            times[i][slot] = seconds_between(event[i], event[i]);
            clReleaseEvent(event[i]);
        }
    }
    for (int i = 0; i < launches; i++) each[i] = median(times[i], p->runs);
    *whole = median(times[MOST_LAUNCHES], p->runs);
    return launches;
}

/* By a kernel of the same kind, and by OpenCL itself. */
static int copies(const machine *m, const problem *p, const method *how, cl_mem *output,
                  cl_event *event) {
    (void)how;
    *output = m->work[0];
    must(clSetKernelArg(m->copy, 0, sizeof m->input, &m->input), "input");
    must(clSetKernelArg(m->copy, 1, sizeof *output, output), "output");
    launch(m, m->copy, p->lines * p->n, GROUP, &event[0]);
    must(clEnqueueCopyBuffer(m->queue, m->input, *output, 0, 0, m->array_bytes, 0, NULL, &event[1]),
         "copy");
    return 2;
}

/* Bytes are those of an array, once read and once written. */
static void print_row(const machine *m, const char *name, double seconds, double copy_seconds) {
    printf("  %-34s %10.4f %9.1f %8.1f %%\n", name, seconds * 1e3,
           2 * (double)m->array_bytes / seconds * 1e-9, 100 * copy_seconds / seconds);
}

/* Returns the time of the faster one. */
static double print_copies(const machine *m, const problem *p) {
    double each[MOST_LAUNCHES], whole;
    measure(m, p, copies, NULL, each, &whole);
    const double faster = each[0] < each[1] ? each[0] : each[1];
    printf("%-36s %10s %9s %10s\n", "", "ms", "GB/s", "of a copy");
    print_row(m, "copy, a point for each work-item", each[0], faster);
    print_row(m, "clEnqueueCopyBuffer", each[1], faster);
    return faster;
}

static void print_stages(const machine *m, const problem *p, const method *how,
                         double copy_seconds) {
    double each[MOST_LAUNCHES], whole;
    char name[64];
    const int launches = measure(m, p, transform, how, each, &whole);
    size_t span = 1;
    for (int i = 0; i < launches && !how->is_local; i++) {
        const cl_uint radix = radix_of_stage(p, how->radix, span);
        snprintf(name, sizeof name, "stage %d: radix %u, span %zu", i + 1, radix, span);
        print_row(m, name, each[i], copy_seconds);
        span *= radix;
    }
    snprintf(name, sizeof name, "whole: %d launch%s", launches, launches == 1 ? "" : "es");
    print_row(m, name, whole, copy_seconds);
}

/* ---- the program ---- */

static bool fits(const machine *m, const problem *p, const method *how) {
    cl_ulong room = 0;
    const size_t needed = 4 * p->n * number_bytes(p);
    clGetDeviceInfo(m->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof room, &room, NULL);
    if (!how->is_local || needed <= room) return true;
    printf("\n%s: two lines take %zu KiB, and there are %zu\n", how->name, needed / 1024,
           (size_t)room / 1024);
    return false;
}

static bool run_methods(const machine *m, const problem *p, answers *known) {
    static const method methods[] = {{"Global memory, radix 2", 2, false},
                                     {"Global memory, radix 4", 4, false},
                                     {"Local memory, radix 2", 2, true},
                                     {"Local memory, radix 4", 4, true}};
    void *array = malloc(m->array_bytes);
    if (!array) stop("memory", "there is not enough");
    answers_roots(known, array);
    must(clEnqueueWriteBuffer(m->queue, m->roots, CL_TRUE, 0, p->n * 2 * number_bytes(p), array, 0,
                              NULL, NULL),
         "roots");
    const double copy_seconds = print_copies(m, p);
    bool right = true;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (!fits(m, p, &methods[i])) continue;
        if (!is_right(m, p, &methods[i], known, array)) right = false;
        print_stages(m, p, &methods[i], copy_seconds);
    }
    free(array);
    return right;
}

static size_t number_of(const char *text, size_t least, size_t most) {
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    if (end == text || *end || number < least || number > most) stop(text, "not a number for this");
    return (size_t)number;
}

static problem read_arguments(int argc, char **argv) {
    problem p = {.n = 1024, .lines = 1024, .runs = 20, .seed = (unsigned)time(NULL)};
    size_t given = 0;
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--double") == 0)
            p.is_double = true;
        else if (strcmp(argv[i], "--runs") == 0 && more)
            p.runs = (int)number_of(argv[++i], 1, MOST_RUNS);
        else if (strcmp(argv[i], "--device") == 0 && more)
            p.device = (int)number_of(argv[++i], 0, 1000);
        else if (strcmp(argv[i], "--seed") == 0 && more)
            p.seed = (unsigned)number_of(argv[++i], 0, 0xffffffff);
        else if (argv[i][0] == '-' || given == 2)
            stop(argv[i], "usage: stockham [POINTS [LINES]] [--double] [--runs R] [--device D] "
                          "[--seed S]");
        else if (given++ == 0)
            p.n = number_of(argv[i], SHORTEST, LONGEST);
        else
            p.lines = number_of(argv[i], 1, 1u << 30);
    }
    if (p.n & (p.n - 1)) stop("points", "give a power of two");
    return p;
}

int main(int argc, char **argv) {
    const problem p = read_arguments(argc, argv);
    machine m;
    answers known;
    if (!answers_create(&known, p.n, p.lines, p.is_double)) stop("memory", "there is not enough");
    srand(p.seed);
    open_machine(&m, &p);
    const bool right = run_methods(&m, &p, &known);
    close_machine(&m);
    answers_destroy(&known);
    return right ? 0 : 1;
}
