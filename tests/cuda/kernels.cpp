/*
 * The kernels of src/device/cuda, compiled for the host. What CUDA adds to the language is defined
 * away; the threads of a block run one after the other, or, where there are barriers, as fibers
 * that take turns from one barrier to the next.
 */
#include <ucontext.h>

#include <cstdlib>
#include <cstring>

#include "host_cuda.h"

#define __global__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(threads)

struct index3 {
    unsigned int x, y, z;
};
struct uint4 {
    unsigned int x, y, z, w;
};
static thread_local index3 threadIdx, blockIdx;
static void __syncthreads();

static unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}

#include "device/cuda/copy.cu"
#include "device/cuda/scale.cu"

/* ---- fibers ---- */

enum { MOST_THREADS = 1024, STACK = 64 << 10 };

struct fiber {
    ucontext_t context;
    char *stack;
    bool done;
};

static thread_local fiber fibers[MOST_THREADS];
static thread_local ucontext_t scheduler;
static thread_local const host_kernel *running;
static thread_local void **arguments;

static void __syncthreads() {
    unsigned int me = threadIdx.x;
    swapcontext(&fibers[me].context, &scheduler);
    threadIdx.x = me;
}

static void fiber_main() {
    unsigned int me = threadIdx.x;
    running->run(arguments);
    fibers[me].done = true;
}

static void run_fibers(unsigned threads) {
    for (unsigned t = 0; t < threads; t++) {
        fiber &f = fibers[t];
        if (!f.stack) f.stack = static_cast<char *>(std::malloc(STACK));
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack;
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = &scheduler;
        f.done = false;
        makecontext(&f.context, fiber_main, 0);
    }
    for (unsigned left = threads; left > 0;) {
        left = 0;
        for (unsigned t = 0; t < threads; t++) {
            if (fibers[t].done) continue;
            threadIdx.x = t;
            swapcontext(&scheduler, &fibers[t].context);
            left += !fibers[t].done;
        }
    }
}

void host_kernel_launch(const host_kernel *kernel, unsigned blocks, unsigned threads,
                        void **parameters) {
    running = kernel;
    arguments = parameters;
    for (unsigned b = 0; b < blocks; b++) {
        blockIdx.x = b;
        if (kernel->waits) {
            run_fibers(threads);
            continue;
        }
        for (unsigned t = 0; t < threads; t++) {
            threadIdx.x = t;
            kernel->run(parameters);
        }
    }
    for (fiber &f : fibers) {
        std::free(f.stack);
        f.stack = nullptr;
    }
}

/* ---- the table ---- */

#define COPIES(bytes)                                                                              \
    {"weft_copy_rows_" #bytes,                                                                     \
     false,                                                                                        \
     {sizeof(weft_cuda_rows), 0, 0},                                                               \
     [](void **p) { weft_copy_rows_##bytes(*static_cast<weft_cuda_rows *>(p[0])); }},              \
    {                                                                                              \
        "weft_copy_tiles_" #bytes, true, {sizeof(weft_cuda_tiles), 0, 0},                          \
            [](void **p) { weft_copy_tiles_##bytes(*static_cast<weft_cuda_tiles *>(p[0])); }       \
    }
#define SCALE(name, number)                                                                        \
    {                                                                                              \
        "weft_scale_" #name, false, {sizeof(number *), sizeof(long long), sizeof(double)},         \
            [](void **p) {                                                                         \
                weft_scale_##name(*static_cast<number **>(p[0]), *static_cast<long long *>(p[1]),  \
                                  *static_cast<double *>(p[2]));                                   \
            }                                                                                      \
    }

static const host_kernel kernels[] = {COPIES(1),
                                      COPIES(2),
                                      COPIES(4),
                                      COPIES(8),
                                      COPIES(16),
                                      SCALE(single, float),
                                      SCALE(double, double)};

const host_kernel *host_kernel_find(const char *name) {
    for (const host_kernel &kernel : kernels)
        if (std::strcmp(kernel.name, name) == 0) return &kernel;
    return nullptr;
}
