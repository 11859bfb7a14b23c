/*
 * How long cuFFTXt takes for cubes in double precision over all visible GPUs, without arrays on the
 * host: those of weft bench's contestant of the same name must fit there, and 1024³ takes minutes.
 * Each GPU's part is filled with random numbers; a transform forward, from natural to permuted
 * order, and one back follow each other. Then both with a multiplication of the spectrum in
 * between: by one number (cuBLAS), which reads no factors. CSV on standard output: the first seven
 * columns of bench_exchanges, the direction, and median, least and 90th percentile in milliseconds.
 * Usage: cufftxt RUNS [--kind c2c|r2c] SIZE...
 * Build: gcc -O2 cufftxt.c -I$CUDA/include -L$CUDA/lib64 -lcufft -lcublas -lcudart -o cufftxt
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufftXt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_GPUS = 16, MOST_RUNS = 1000, WARMUPS = 3, BLOCK = 1 << 24 };

static int gpus;

static void must(int status, const char *what) {
    if (status == 0) return;
    fprintf(stderr, "cufftxt: %s: status %d\n", what, status);
    exit(1);
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for_all(void) {
    for (int g = gpus - 1; g >= 0; g--) {
        must(cudaSetDevice(g), "set device");
        must(cudaDeviceSynchronize(), "synchronize");
    }
}

static void fill(const cudaLibXtDesc *array) {
    double *block = malloc(BLOCK * sizeof *block);
    if (!block) must(1, "no memory");
    for (int i = 0; i < BLOCK; i++) block[i] = drand48() - 0.5;
    for (int g = 0; g < gpus; g++)
        for (size_t at = 0; at < array->descriptor->size[g]; at += BLOCK * sizeof *block) {
            const size_t left = array->descriptor->size[g] - at;
            const size_t bytes = left < BLOCK * sizeof *block ? left : BLOCK * sizeof *block;
            must(cudaMemcpy((char *)array->descriptor->data[g] + at, block, bytes,
                            cudaMemcpyHostToDevice),
                 "fill");
        }
    free(block);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { FORWARD, INVERSE, CONVOLVE, DIRECTIONS };

static cublasHandle_t blas[MOST_GPUS];

static void transform(cufftHandle plan, cudaLibXtDesc *array, int real, int direction) {
    if (!real)
        must(cufftXtExecDescriptorZ2Z(plan, array, array,
                                      direction == FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE),
             "execute");
    else if (direction == FORWARD)
        must(cufftXtExecDescriptorD2Z(plan, array, array), "execute");
    else
        must(cufftXtExecDescriptorZ2D(plan, array, array), "execute");
}

static void multiply(const cudaLibXtDesc *array) {
    const double factor = 1e-9;
    for (int g = 0; g < gpus; g++) {
        must(cudaSetDevice(g), "set device");
        must(cublasDscal_64(blas[g], (int64_t)(array->descriptor->size[g] / sizeof(double)),
                            &factor, array->descriptor->data[g], 1),
             "multiply");
    }
}

static void time_cube(int n, int real, int runs) {
    static const char *const name[] = {"forward", "inverse", "convolve"};
    static double ms[DIRECTIONS][MOST_RUNS];
    int gpu[MOST_GPUS];
    size_t work[MOST_GPUS];
    cufftHandle plan[2]; /* there and back: one and the same where numbers are complex */
    cudaLibXtDesc *array;
    for (int g = 0; g < gpus; g++) gpu[g] = g;
    for (int p = 0; p < 1 + real; p++) {
        must(cufftCreate(&plan[p]), "create");
        must(cufftXtSetGPUs(plan[p], gpus, gpu), "set GPUs");
        must(cufftMakePlan3d(plan[p], n, n, n,
                             !real ? CUFFT_Z2Z
                             : p   ? CUFFT_Z2D
                                   : CUFFT_D2Z,
                             work),
             "plan");
    }
    must(cufftXtMalloc(plan[0], &array, CUFFT_XT_FORMAT_INPLACE), "array");
    fill(array);
    for (int run = -WARMUPS; run < runs; run++)
        for (int d = 0; d < DIRECTIONS; d++) {
            wait_for_all();
            const double start = seconds_now();
            if (d != INVERSE) transform(plan[0], array, real, FORWARD);
            if (d == CONVOLVE) {
                wait_for_all(); /* its streams are not cuBLAS's */
                multiply(array);
                wait_for_all();
            }
            if (d != FORWARD) transform(plan[real], array, real, INVERSE);
            wait_for_all();
            if (run >= 0) ms[d][run] = 1e3 * (seconds_now() - start);
        }
    for (int d = 0; d < DIRECTIONS; d++) {
        qsort(ms[d], (size_t)runs, sizeof(double), by_size);
        printf("cufftxt,%d,%d,%s,double,none,%s,1,%.3f,%.3f,%.3f\n", gpus, n, real ? "r2c" : "c2c",
               name[d], ms[d][runs / 2], ms[d][0], ms[d][runs * 9 / 10]);
    }
    must(cufftXtFree(array), "free");
    for (int p = 0; p < 1 + real; p++) must(cufftDestroy(plan[p]), "destroy");
}

int main(int argc, char **argv) {
    const int runs = argc > 2 ? atoi(argv[1]) : 0;
    int real = 0;
    must(cudaGetDeviceCount(&gpus), "count GPUs");
    if (runs < 1 || runs > MOST_RUNS || gpus < 2 || gpus > MOST_GPUS) {
        fprintf(stderr, "usage: cufftxt RUNS [--kind c2c|r2c] SIZE..., with 2 to %d GPUs\n",
                MOST_GPUS);
        return 2;
    }
    for (int g = 0; g < gpus; g++) {
        must(cudaSetDevice(g), "set device");
        must(cublasCreate(&blas[g]), "cuBLAS");
    }
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--kind") == 0 && i + 1 < argc)
            real = strcmp(argv[++i], "r2c") == 0;
        else
            time_cube(atoi(argv[i]), real, runs);
    }
    return 0;
}
