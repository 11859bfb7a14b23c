// What CUDA adds to C++, for the host: the threads of a block run one after the other, or, where
// there are barriers, as fibers that take turns from one barrier to the next (fibers.cpp). Put
// before kernels in the dialect of src/kernels, those compiled ahead (kernels.cpp) and those of run
// time (nvrtc.c).
#ifndef WEFT_TESTS_HOST_KERNEL_HPP
#define WEFT_TESTS_HOST_KERNEL_HPP

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host_cuda.h"

#define __global__
#define __device__
#define __constant__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
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
using std::fma;
using std::log10;
using std::rint;

static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}

static inline float __uint_as_float(unsigned int bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

static inline unsigned int __float_as_uint(float value) {
    unsigned int bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <typename Number> static inline Number __ldg(const Number *at) {
    return *at;
}

/* ---- threads of a block ---- */

static thread_local const host_fibers *host_fibers_now;
static thread_local void (*host_thread)(void **);
static thread_local void **host_arguments;

static inline void __syncthreads() {
    unsigned int me = threadIdx.x;
    host_fibers_now->barrier();
    threadIdx.x = me;
}

static void host_fiber(unsigned me) {
    threadIdx.x = me;
    host_thread(host_arguments);
}

static void host_run_block(bool waits, unsigned threads, void **parameters) {
    if (waits) {
        host_fibers_now->run(threads, host_fiber);
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
    template <std::size_t... I> static void call(void **p, std::index_sequence<I...>) {
        Function(*static_cast<Parameters *>(p[I])...);
    }
    static void thread(void **p) {
        call(p, std::index_sequence_for<Parameters...>());
    }
    template <bool Waits>
    static void launch(const host_fibers *fibers, const unsigned blocks[3], unsigned threads,
                       std::size_t local_bytes, void **parameters) {
        host_fibers_now = fibers;
        host_thread = thread;
        host_arguments = parameters;
        gridDim = {blocks[0], blocks[1], blocks[2]};
        host_local_memory =
            static_cast<float4 *>(std::aligned_alloc(64, (local_bytes + 64) / 64 * 64));
        for (blockIdx.z = 0; blockIdx.z < blocks[2]; blockIdx.z++)
            for (blockIdx.y = 0; blockIdx.y < blocks[1]; blockIdx.y++)
                for (blockIdx.x = 0; blockIdx.x < blocks[0]; blockIdx.x++)
                    host_run_block(Waits, threads, parameters);
        std::free(host_local_memory);
    }
    static constexpr host_kernel make(const char *name, bool waits) {
        return {name,
                sizeof...(Parameters),
                {sizeof(Parameters)...},
                waits ? launch<true> : launch<false>,
                0};
    }
};

#define HOST_NAME(name) HOST_NAME_OF(name)
#define HOST_NAME_OF(name) #name
#define HOST_KERNEL(name, waits) host_entry<name>::make(HOST_NAME(name), waits)

#endif
