/*
 * weft._core: what the files of the extension know of each other.
 *
 * The extension uses the limited API of Python 3.11, the first one that has the buffer protocol, so
 * one build serves 3.11 and every later version. Functions take their arguments as METH_FASTCALL
 * (vectorcall for functions and methods), which the limited API has had since 3.7.
 *
 * Unless a comment says otherwise, functions are called with the GIL held, and those that return a
 * pointer or an int report failure by NULL or -1 with a Python exception set.
 */
#ifndef WEFT_PYTHON_CORE_H
#define WEFT_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <weft/weft.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL weft_core_numpy
#ifndef CORE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

/* module.c */

/* Makes a type and adds it to the module under the last part of its name. */
int core_add_type(PyObject *module, PyType_Spec *spec);

/* errors.c */

/* Adds weft.Error and its subclasses to the module. */
int core_errors_add(PyObject *module);
/* Raises the exception that fits the status, with the library's sentence about the calling thread's
 * last failure, or with `sentence` where that is not NULL. Returns -1. */
int core_raise(weft_status status, const char *sentence);

/* context.c */

/* Has the extension told of forks. */
int core_context_start(void);
/* The context of this process; created when first asked for. */
weft_context core_context(void);
/* Changes with each fork: what was made before belongs to the parent. */
uint64_t core_generation(void);
/* Calls a function of the library that uses so many threads. Without the GIL; `sentence` gets what
 * the library says of a failure, up to CORE_SENTENCE bytes. */
#define CORE_SENTENCE 1024
typedef weft_status (*core_work)(void *argument);
weft_status core_run(int threads, core_work work, void *argument, char *sentence);
/* Executes a plan in this way. */
weft_status core_execute(weft_plan plan, int threads, weft_direction direction, const void *in,
                         void *out, char *sentence);

/* cache.c: plans for the host and for GPUs, least recently used ones are forgotten first. */

/* What a plan of the cache is for: members without gaps, so that keys are compared as bytes. */
typedef struct core_key {
    int64_t kind, precision, norm, threads, batch, rank;
    int64_t type; /* of every axis, where it is a real-to-real transform's: a weft_axis; else 0 */
    /* Ends of each axis that are scaled by sqrt(2) before and by sqrt(1/2) after the forward
     * transform, as SciPy's orthogonal cosine and sine transforms are: CORE_FIRST, CORE_LAST. */
    int64_t before, after;
    int64_t number;               /* 1 + that of a GPU; 0: the host */
    int64_t engine;               /* a weft_engine */
    int64_t direction, placement; /* as in weft_options */
    int64_t storage;              /* of the array that is loaded: a weft_storage */
    int64_t n[WEFT_MAX_RANK];
    /* Of a convolution, whose kernel is set before each execution: 1 + its weft_convolution_mode,
     * 0 for transforms; whether it correlates; 8 bits of each axis, its weft_boundary; and the
     * kernel's extents and origin. */
    int64_t mode, correlate, boundaries;
    int64_t kernel[WEFT_MAX_RANK], origin[WEFT_MAX_RANK];
} core_key;

enum { CORE_FIRST = 1, CORE_LAST = 2 };

typedef struct core_cached core_cached;

/* Sets the limit of bytes by this machine's memory: once, before plans are taken. */
void core_cache_begin(void);
/* Takes a plan for the key, which is the caller's alone until it is given back: an idle one, or a
 * new one. Releases the GIL while it plans. */
core_cached *core_cache_take(const core_key *key);
void core_cache_give(core_cached *taken);
weft_plan core_cached_plan(const core_cached *taken);
/* Bytes that the caller's array in a space must have. */
size_t core_cached_bytes(const core_cached *taken, weft_space space);
/* Forgets every plan without touching it: they belong to the parent of a forked process. */
void core_cache_abandon(void);
PyObject *core_cache_limit(PyObject *module, PyObject *args);
PyObject *core_cache_clear(PyObject *module, PyObject *none);
PyObject *core_cache_info(PyObject *module, PyObject *none);

/* gpu.c: transforms of arrays on GPUs. */

/* GpuTransform(number, in_bytes, out_bytes, kind, inverse, norm, single, batch, n, type, before,
 * after, storage) for Python: what transforms `batch` contiguous arrays of extents n on GPU
 * `number`, which are so many bytes before and after. The last four are core_key's. Its enqueue(in,
 * out, stream) takes addresses, and does not wait. */
int core_gpu_transform_add(PyObject *module);

/* dlpack.c */

/* dlpack(capsule): what the tensor of a DLPack capsule is, which keeps it; a tuple of its address,
 * device type, device number, type code, bits, shape, strides (in elements, or None), and whether
 * it must not be written. */
PyObject *core_dlpack(PyObject *module, PyObject *capsule);

/* strided.c */

/* What becomes of an element that is copied. */
typedef enum core_element {
    CORE_COPY_4 = 0,
    CORE_COPY_8,
    CORE_COPY_16,
    CORE_CONJUGATE_8, /* a complex number of single precision */
    CORE_CONJUGATE_16,
    CORE_WIDEN_4, /* a real number of single precision to a complex one */
    CORE_WIDEN_8
} core_element;

#define CORE_MAX_COPY_RANK (WEFT_MAX_RANK + 1)

/* A box of elements in two memory orders; strides are in bytes. */
typedef struct core_copy {
    int rank;
    int64_t n[CORE_MAX_COPY_RANK];
    ptrdiff_t from[CORE_MAX_COPY_RANK], to[CORE_MAX_COPY_RANK];
} core_copy;

void core_copy_run(const core_copy *copy, core_element element, const char *from, char *to);

/* transform.c */

typedef struct core_transform {
    weft_kind kind;
    weft_direction direction;
    weft_norm norm;
    weft_axis type; /* WEFT_R2R: of every axis */
    int threads;
    int rank;
    int axis[WEFT_MAX_RANK];  /* of the arrays, each >= 0; the last one is halved by WEFT_R2C */
    int64_t n[WEFT_MAX_RANK]; /* extents of the transform in real space along these axes, >= 1 */
} core_transform;

/* Transforms `in` into `out`: NumPy arrays of native byte order, aligned, of one precision, with
 * any strides. Along the transformed axes `in` is cropped, or padded with zeros, to what the
 * transform takes; all other extents, and those of `out`, must fit. With WEFT_C2C `in` may be real;
 * with WEFT_R2R both arrays are.
 * The arrays are the same array or do not overlap. Releases the GIL while it computes, unless that
 * takes less time than the release. */
int core_transform_run(const core_transform *transform, PyArrayObject *in, PyArrayObject *out);
/* transform(in, out, kind, inverse, norm, threads, axes, n, type=0) for Python. */
PyObject *core_transform_call(PyObject *module, PyObject *args);

/* mirror.c */

/* Writes a whole complex spectrum from the half that WEFT_R2C computes. half: members of extents
 * n[0..rank-1] with the last one halved, row-major, `members` of them. to: strides in bytes, that
 * of the member first. conjugate: 1 for an inverse transform. */
void core_mirror(int rank, const int64_t *n, int64_t members, bool single, bool conjugate,
                 const char *half, char *out, const ptrdiff_t *to);

/* calls.c: fft, ifft, rfft, ... of weft.fft for NumPy arrays as they come most often. */

int core_calls_add(PyObject *module);
/* set_general(function): who answers all other calls. */
PyObject *core_set_general(PyObject *module, PyObject *function);
/* Threads that the calling thread's transforms use where a call says nothing. */
PyObject *core_default_workers(PyObject *module, PyObject *none);
PyObject *core_set_default_workers(PyObject *module, PyObject *workers);

/* choices.c: reads what plans are asked for. */

/* Choices by their names; NULL stands for the first one. */
typedef struct core_choices {
    const char *kind, *precision, *norm, *engine, *device, *location, *effort, *decomposition,
        *variant;
} core_choices;
int core_read_choices(const core_choices *given, weft_problem *problem, weft_options *options);
/* Reads 'forward' or 'inverse'. */
int core_read_direction(PyObject *name, weft_direction *direction);
int core_read_window(const char *name, weft_window_kind *kind);
/* Reads `count` whole numbers. */
int core_read_numbers(PyObject *sequence, int count, int64_t *numbers);
/* Reads the mode, the method, the kernel's kind and the boundaries (one name for all axes, or one
 * each) of a convolution whose rank is set. NULL leaves each as it is. */
int core_read_convolution(const char *mode, const char *method, const char *kernel,
                          PyObject *boundaries, weft_convolution_problem *problem);
/* Sets rank and n: of a number, or of a sequence. */
int core_read_shape(PyObject *shape, weft_problem *problem);
/* What a real-to-real transform does along each axis: one name for all, or one each. NULL and None
 * leave it as it is. */
int core_read_truncation(PyObject *points, weft_problem *problem); /* None: all points */
int core_read_types(PyObject *types, weft_problem *problem);
/* The methods of the exchanges: one name for all, or one each. NULL and None leave them. */
int core_read_exchanges(PyObject *names, weft_options *options);

/* operators.c */

/* Reads one of weft.operators' operators, or a sequence of them, for an array in real space or of
 * the spectrum of a problem whose extents are set. The caller frees operators->list, and keeps
 * *kept, a new reference, as long as plans are made of them. Leaves both where there are none. */
int core_read_operators(PyObject *given, const weft_problem *problem, bool of_spectrum,
                        weft_operators *operators, PyObject **kept);

/* plan.c: weft.Plan, and what plans tell of themselves. */

int core_plan_type_add(PyObject *module);
/* weft_plan_explain as a str. */
PyObject *core_explain(weft_plan plan);
/* The bytes that a plan holds as an int. */
PyObject *core_memory(weft_plan plan);
/* The names of a plan's engine and of its device. */
PyObject *core_engine_of(weft_plan plan);
PyObject *core_device_of(weft_plan plan);
/* Kernels for GPUs are compiled by NVRTC, which Python's packages may have brought: has it found
 * where the options name a GPU. */
int core_find_nvrtc(const weft_options *options);

/* convolution.c: convolutions with one kernel, as objects. */

int core_convolution_type_add(PyObject *module);

/* convolve.c: convolutions by plans of the cache. */

/* convolve(in, kernel, boundaries, mode, correlate, origin, threads) for Python: convolves each
 * in[i] with the kernel, all contiguous NumPy arrays of one type; a new array. */
PyObject *core_convolve(PyObject *module, PyObject *args);

/* distributed.c: plans over the ranks of a communicator. */
int core_distributed_plan_add(PyObject *module);
PyObject *core_destroy_context(PyObject *module, PyObject *capsule);
PyObject *core_raise_status(PyObject *module, PyObject *failure);

/* info.c */
PyObject *core_engines(PyObject *module, PyObject *none);
PyObject *core_devices(PyObject *module, PyObject *none);

#endif
