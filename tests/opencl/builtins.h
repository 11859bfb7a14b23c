/* The types and functions of OpenCL C 1.2 that kernels and the tests' snippets use, instead of
 * PoCL's opencl-c.h, whose 18,000 lines take half of the time in which PoCL compiles one of our
 * kernels. PoCL leaves them out where _OPENCL_H_ is defined, and src/kernels/dialect.h includes
 * this file. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;

#define VECTORS(type)                                                                              \
    typedef type type##2 __attribute__((ext_vector_type(2)));                                      \
    typedef type type##4 __attribute__((ext_vector_type(4)));
VECTORS(int)
VECTORS(float)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
VECTORS(double)
#endif
#define as_float(x) __builtin_astype(x, float)
#define as_int(x) __builtin_astype(x, int)
#define as_uint(x) __builtin_astype(x, uint)

typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

#define DECLARED __attribute__((overloadable, const))

size_t DECLARED get_global_id(uint);
size_t DECLARED get_global_size(uint);
size_t DECLARED get_local_id(uint);
size_t DECLARED get_local_size(uint);
size_t DECLARED get_group_id(uint);
size_t DECLARED get_num_groups(uint);
void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);

int DECLARED mul_hi(int, int);
uint DECLARED mul_hi(uint, uint);
int DECLARED min(int, int);
int DECLARED max(int, int);
uint DECLARED abs(int);

#define FLOATING(type)                                                                             \
    type DECLARED fabs(type), ceil(type), floor(type), rint(type), round(type), trunc(type);       \
    type DECLARED sqrt(type), rsqrt(type), cbrt(type), hypot(type, type), pow(type, type);         \
    type DECLARED exp(type), exp2(type), expm1(type), erf(type), erfc(type);                       \
    type DECLARED log(type), log2(type), log10(type), log1p(type);                                 \
    type DECLARED cos(type), sin(type), tan(type), cosh(type), sinh(type), tanh(type);             \
    type DECLARED acos(type), asin(type), atan(type), atan2(type, type), cospi(type), sinpi(type); \
    type DECLARED fmax(type, type), fmin(type, type), fmod(type, type), copysign(type, type);      \
    type DECLARED fma(type, type, type);

FLOATING(float)
#ifdef cl_khr_fp64
FLOATING(double)
#endif

float __attribute__((overloadable, pure)) vload_half(size_t, const __global half *);
void __attribute__((overloadable)) vstore_half(float, size_t, __global half *);
