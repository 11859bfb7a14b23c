/*
 * The language of kernels: one text for CUDA C++ (NVRTC) and OpenCL C 1.2. The device puts this
 * file before each kernel's text, and before this file
 *
 *     #define THREADS n      threads of a group
 *     #define CLUSTER n      groups of a cluster, which reach each other's local memory; 1: none do
 *     #define RESIDENT_GROUPS n    how many groups a multiprocessor is to have registers for
 *     #define PRECISION n    0 double, 1 single: weft_precision
 *     #define HAS_DOUBLE n   0 or 1
 *     #define VALUES_IN_MEMORY n   1: the device takes fewer parameters than the kernel has
 *
 * A kernel is a function
 *
 *     KERNEL(name)(MEMORY(const real2, in), MEMORY(real2, out), int count LOCAL_MEMORY) {
 *         OPEN(const real2, in);
 *         OPEN(real2, out);
 *         OPEN_LOCAL(real, shared);
 *         ...
 *
 * MEMORY is a device address: a pointer on CUDA; on OpenCL, whose addresses cannot be added to
 * before they reach the kernel, a buffer and an offset, which OPEN makes the pointer `in` of. The
 * other parameters are numbers or structures without pointers. LOCAL_MEMORY comes last, without a
 * comma before it, where weft_kernel_source.local_bytes is not 0, and is left out otherwise.
 *
 * Structures that may be large are parameters VALUE(type, name). OPEN_VALUE makes the pointer
 * `name` of one: to the parameter, or to memory where the device put it. Such pointers carry
 * IN_VALUE.
 *
 * Pointers carry the memory they point to: `GLOBAL real2 *p`, `LOCAL real *q`, `CONSTANT real *r`;
 * what is private carries nothing. Tables are `CONSTANT_TABLE(real, name, 3) = {...}` outside
 * functions; local arrays `LOCAL_ARRAY(real, name, 64)` at the top of a kernel. What a kernel only
 * reads, as all others do that run beside it, is read by TABLE_READ(pointer, at). Functions are
 * FUNCTION type name(...). Of a cluster, which OpenCL does not have, CLUSTER_GROUP is the group's
 * number, CLUSTER_BARRIER waits for all its threads, and CLUSTER_LOCAL(type, pointer, group) is
 * where another group has what is at a pointer to this one's local memory. No recursion, no
 * templates, no overloading, no pointers to functions.
 */
#ifndef WEFT_KERNELS_DIALECT_H
#define WEFT_KERNELS_DIALECT_H

#ifdef __OPENCL_VERSION__
#define IS_OPENCL 1

#ifdef WEFT_OPENCL_BUILTINS /* in tests with PoCL: tests/opencl/builtins.h */
#include WEFT_OPENCL_BUILTINS
#endif

#if HAS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef long long64;
typedef ulong ulong64;

#define KERNEL(name) __kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void name
#define FUNCTION static inline
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define CONSTANT_TABLE(type, name, count) __constant type name[count]
#define LOCAL_ARRAY(type, name, count) __local type name[count]

#define MEMORY(type, name) __global char *name##_buffer, ulong name##_offset
#define OPEN(type, name) __global type *name = (__global type *)(name##_buffer + name##_offset)
#define LOCAL_MEMORY , __local float4 *local_memory
#define OPEN_LOCAL(type, name) __local type *name = (__local type *)local_memory

#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define THREAD ((int)get_local_id(0))
#define GROUP(axis) ((unsigned int)get_group_id(axis))
#define GROUPS(axis) ((unsigned int)get_num_groups(axis))
#define MULTIPLY_HIGH(a, b) mul_hi((unsigned int)(a), (unsigned int)(b))
#define TABLE_READ(table, at) (table)[at]
#define FLOAT_OF_BITS(bits) as_float((unsigned int)(bits))
#define BITS_OF_FLOAT(x) as_uint((float)(x))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#else /* CUDA */
#define IS_OPENCL 0

typedef long long long64;
typedef unsigned long long ulong64;

#define KERNEL(name)                                                                               \
    extern "C" __global__ void CLUSTER_DIMENSIONS __launch_bounds__(THREADS, RESIDENT_GROUPS) name
#define FUNCTION static __device__ __forceinline__ __attribute__((unused))
#define GLOBAL
#define LOCAL
#define CONSTANT const
#define CONSTANT_TABLE(type, name, count) static __constant__ const type name[count]
#define LOCAL_ARRAY(type, name, count) __shared__ type name[count]

#define MEMORY(type, name) type *name
#define OPEN(type, name) (void)name
#define LOCAL_MEMORY
#ifndef LOCAL_MEMORY_DECLARED
#define LOCAL_MEMORY_DECLARED extern __shared__ float4 local_memory[];
#endif
#define OPEN_LOCAL(type, name)                                                                     \
    LOCAL_MEMORY_DECLARED                                                                          \
    type *name = (type *)local_memory

#define BARRIER() __syncthreads()
#if CLUSTER > 1
#define CLUSTER_DIMENSIONS __cluster_dims__(CLUSTER, 1, 1)
#define CLUSTER_GROUP ((int)__clusterRelativeBlockRank())
#define CLUSTER_BARRIER() (__cluster_barrier_arrive(), __cluster_barrier_wait())
#define CLUSTER_LOCAL(type, pointer, group)                                                        \
    ((type *)__cluster_map_shared_rank((void *)(pointer), (unsigned int)(group)))
#else
#define CLUSTER_DIMENSIONS
#endif
#define THREAD ((int)threadIdx.x)
#define GROUP(axis) GROUP_##axis
#define GROUP_0 blockIdx.x
#define GROUP_1 blockIdx.y
#define GROUP_2 blockIdx.z
#define GROUPS(axis) GROUPS_##axis
#define GROUPS_0 gridDim.x
#define GROUPS_1 gridDim.y
#define GROUPS_2 gridDim.z
#define MULTIPLY_HIGH(a, b) __umulhi(a, b)
#define TABLE_READ(table, at) __ldg((table) + (at))
#define FLOAT_OF_BITS(bits) __uint_as_float(bits)
#define BITS_OF_FLOAT(x) __float_as_uint(x)
#define UNROLL _Pragma("unroll")
#endif

#if VALUES_IN_MEMORY
#define VALUE(type, name) MEMORY(const type, name)
#define OPEN_VALUE(type, name) OPEN(const type, name)
#define IN_VALUE GLOBAL
#else
#define VALUE(type, name) const type name##_value
#define OPEN_VALUE(type, name) const type *const name = &name##_value
#define IN_VALUE
#endif

/* ---- numbers ---- */

#if PRECISION == 0
typedef double real;
typedef double2 real2;
#else
typedef float real;
typedef float2 real2;
#endif

/* A complex number from its parts; x is the real one. */
FUNCTION real2 pair(real x, real y) {
    real2 z;
    z.x = x;
    z.y = y;
    return z;
}

/* x * y + z, rounded once. */
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)

FUNCTION real2 complex_add(real2 a, real2 b) {
    return pair(a.x + b.x, a.y + b.y);
}

FUNCTION real2 complex_subtract(real2 a, real2 b) {
    return pair(a.x - b.x, a.y - b.y);
}

FUNCTION real2 complex_multiply(real2 a, real2 b) {
    return pair(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

/* a times the conjugate of b. */
FUNCTION real2 complex_multiply_conjugate(real2 a, real2 b) {
    return pair(fma(a.x, b.x, a.y * b.y), fma(a.y, b.x, -(a.x * b.y)));
}

FUNCTION real2 complex_scale(real2 a, real factor) {
    return pair(a.x * factor, a.y * factor);
}

/* i times a. */
FUNCTION real2 complex_times_i(real2 a) {
    return pair(-a.y, a.x);
}

#endif /* WEFT_KERNELS_DIALECT_H */
