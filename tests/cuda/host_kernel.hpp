// What CUDA adds to C++, for the host: the threads of a block run one after the other, or, where
// there are barriers, as fibers that take turns from one barrier to the next (fibers.cpp). Put
// before kernels in the dialect of src/kernels, those compiled ahead (kernels.cpp) and those of run
// time (nvrtc.c). Without <cmath> and <utility>, for tests compile hundreds of small texts, which
// take longer with them.
#ifndef WEFT_TESTS_HOST_KERNEL_HPP
#define WEFT_TESTS_HOST_KERNEL_HPP

#include <stdlib.h>
#include <string.h>

#include "host_cuda.h"

#define __global__
#define __device__
#define __constant__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define LOCAL_MEMORY_DECLARED float4 *local_memory = host_local_memory;

struct index3 {
    unsigned int x, y, z;
};
struct ushort2 {
    unsigned short x, y;
};
struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
static thread_local index3 threadIdx, blockIdx, gridDim;
static thread_local float4 *host_local_memory;

#define HOST_MATH(name)                                                                            \
    static inline float name(float x) {                                                            \
        return __builtin_##name##f(x);                                                             \
    }                                                                                              \
    static inline double name(double x) {                                                          \
        return __builtin_##name(x);                                                                \
    }
HOST_MATH(exp)
HOST_MATH(exp2)
HOST_MATH(log)
HOST_MATH(log2)
HOST_MATH(log10)
HOST_MATH(sqrt)
HOST_MATH(cbrt)
HOST_MATH(sin)
HOST_MATH(cos)
HOST_MATH(tan)
HOST_MATH(asin)
HOST_MATH(acos)
HOST_MATH(atan)
HOST_MATH(sinh)
HOST_MATH(cosh)
HOST_MATH(tanh)
HOST_MATH(erf)
HOST_MATH(fabs)
HOST_MATH(floor)
HOST_MATH(ceil)
HOST_MATH(round)
HOST_MATH(trunc)
HOST_MATH(rint)

#define HOST_MATH_OF_TWO(name)                                                                     \
    static inline float name(float x, float y) {                                                   \
        return __builtin_##name##f(x, y);                                                          \
    }                                                                                              \
    static inline double name(double x, double y) {                                                \
        return __builtin_##name(x, y);                                                             \
    }
HOST_MATH_OF_TWO(pow)
HOST_MATH_OF_TWO(fmod)
HOST_MATH_OF_TWO(hypot)
HOST_MATH_OF_TWO(atan2)
HOST_MATH_OF_TWO(fmin)
HOST_MATH_OF_TWO(fmax)
HOST_MATH_OF_TWO(copysign)

static inline float fma(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

static inline double fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}

static inline float __uint_as_float(unsigned int bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline unsigned int __float_as_uint(float value) {
    unsigned int bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <typename Number> static inline Number __ldg(const Number *at) {
    return *at;
}

/* ---- threads of a block ---- */

static thread_local const host_fibers *host_fibers_now;
static thread_local void (*host_thread)(void **);
static thread_local void **host_arguments;

// A cluster's blocks run together: thread t of block b is fiber b * threads + t.
static thread_local unsigned host_block_threads, host_first_block;
static thread_local size_t host_local_numbers; // of a block, of float4
static thread_local float4 *host_cluster_memory;

static void host_become(unsigned fiber) {
    const unsigned block = fiber / host_block_threads;
    threadIdx.x = fiber % host_block_threads;
    blockIdx.x = host_first_block + block;
    host_local_memory = host_cluster_memory + block * host_local_numbers;
}

// Also waits for the other blocks of the cluster, which does no harm.
static inline void __syncthreads() {
    const unsigned me = (blockIdx.x - host_first_block) * host_block_threads + threadIdx.x;
    host_fibers_now->barrier();
    host_become(me);
}

static inline unsigned __clusterRelativeBlockRank() {
    return blockIdx.x - host_first_block;
}

static inline void __cluster_barrier_arrive() {}

static inline void __cluster_barrier_wait() {
    __syncthreads();
}

static inline void *__cluster_map_shared_rank(void *memory, unsigned block) {
    const ptrdiff_t offset = (char *)memory - (char *)host_local_memory;
    return (char *)(host_cluster_memory + block * host_local_numbers) + offset;
}

static void host_fiber(unsigned me) {
    host_become(me);
    host_thread(host_arguments);
}

static void host_run_blocks(bool waits, unsigned blocks, unsigned threads, void **parameters) {
    host_block_threads = threads;
    host_first_block = blockIdx.x;
    host_local_memory = host_cluster_memory;
    if (waits) {
        host_fibers_now->run(blocks * threads, host_fiber);
        blockIdx.x = host_first_block;
        return;
    }
    for (unsigned t = 0; t < threads; t++) {
        threadIdx.x = t;
        host_thread(parameters);
    }
}

/* ---- entries of the table of kernels ---- */

template <auto Function> struct host_entry;
template <typename... Parameters, void (*Function)(Parameters...)> struct host_entry<Function> {
    template <typename First, typename... Rest, typename... Given>
    static void call(void **p, Given &...given) {
        if constexpr (sizeof...(Rest) == 0)
            Function(given..., *static_cast<First *>(*p));
        else
            call<Rest...>(p + 1, given..., *static_cast<First *>(*p));
    }
    static void thread(void **p) {
        call<Parameters...>(p);
    }
    template <bool Waits, unsigned Cluster>
    static void launch(const host_fibers *fibers, const unsigned blocks[3], unsigned threads,
                       size_t local_bytes, void **parameters) {
        host_fibers_now = fibers;
        host_thread = thread;
        host_arguments = parameters;
        gridDim = {blocks[0], blocks[1], blocks[2]};
        host_local_numbers = (local_bytes + 64) / 64 * 4;
        host_cluster_memory =
            static_cast<float4 *>(aligned_alloc(64, Cluster * host_local_numbers * 16));
        for (blockIdx.z = 0; blockIdx.z < blocks[2]; blockIdx.z++)
            for (blockIdx.y = 0; blockIdx.y < blocks[1]; blockIdx.y++)
                for (blockIdx.x = 0; blockIdx.x < blocks[0]; blockIdx.x += Cluster)
                    host_run_blocks(Waits, Cluster, threads, parameters);
        free(host_cluster_memory);
    }
    template <unsigned Cluster>
    static constexpr host_kernel make(const char *name, bool waits) {
        return {name,
                sizeof...(Parameters),
                {sizeof(Parameters)...},
                waits ? launch<true, Cluster> : launch<false, Cluster>,
                0};
    }
};

#define HOST_NAME(name) HOST_NAME_OF(name)
#define HOST_NAME_OF(name) #name
#ifndef CLUSTER
#define CLUSTER 1
#endif
#define HOST_KERNEL(name, waits) host_entry<name>::make<CLUSTER>(HOST_NAME(name), waits)

#endif
