/*
 * Convolutions of NumPy arrays by plans of the cache. The kernel may be another one at each call:
 * it is set before the plan is executed, and only its extents tell plans apart.
 */
#include "core.h"

enum { POINTS_PER_THREAD = 8192 }; /* fewer are not worth another thread */

typedef struct call {
    PyArrayObject *in, *kernel, *out;
    core_key key;
    core_cached *plan;
    char sentence[CORE_SENTENCE];
} call;

static int refuse(const char *sentence) {
    return core_raise(WEFT_ERROR_INVALID_ARGUMENT, sentence);
}

/* The arrays are what weft.convolve makes of its caller's. */
static int check_arrays(call *c, PyObject *in, PyObject *kernel) {
    if (!PyArray_Check(in) || !PyArray_Check(kernel))
        return refuse("convolve: the field and the kernel are NumPy arrays");
    c->in = (PyArrayObject *)in;
    c->kernel = (PyArrayObject *)kernel;
    const int type = PyArray_TYPE(c->in), rank = PyArray_NDIM(c->kernel);
    if (rank < 1 || rank > WEFT_MAX_RANK)
        return refuse("convolve: the kernel has 1 to 8 axes, as many as are convolved");
    if (PyArray_NDIM(c->in) != rank + 1)
        return refuse("convolve: the field has one axis more than the kernel, the first");
    if (type != PyArray_TYPE(c->kernel) || !PyArray_ISCARRAY_RO(c->in) ||
        !PyArray_ISCARRAY_RO(c->kernel) ||
        (type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_CFLOAT && type != NPY_CDOUBLE))
        return refuse("convolve: the field and the kernel are contiguous, and both of one of "
                      "float32, float64, complex64 and complex128");
    if (PyArray_DIM(c->in, 0) < 1) return refuse("convolve: there is no field; give one or more");
    return 0;
}

static void describe(call *c, int threads) {
    const int type = PyArray_TYPE(c->in);
    int64_t points = 1;
    c->key.kind = PyTypeNum_ISCOMPLEX(type) ? WEFT_C2C : WEFT_R2C;
    c->key.precision = type == NPY_FLOAT || type == NPY_CFLOAT ? WEFT_SINGLE : WEFT_DOUBLE;
    c->key.batch = PyArray_DIM(c->in, 0);
    c->key.rank = PyArray_NDIM(c->kernel);
    for (int a = 0; a < c->key.rank; a++) {
        c->key.n[a] = PyArray_DIM(c->in, a + 1);
        c->key.kernel[a] = PyArray_DIM(c->kernel, a);
    }
    for (int a = 0; a <= c->key.rank; a++) points *= PyArray_DIM(c->in, a);
    c->key.threads = threads;
    if (threads > points / POINTS_PER_THREAD + 1) c->key.threads = points / POINTS_PER_THREAD + 1;
}

static int read_key(call *c, const char *mode, int correlate, PyObject *boundaries,
                    PyObject *origin) {
    weft_convolution_problem problem = {.rank = (int)c->key.rank};
    if (core_read_convolution(mode, NULL, NULL, boundaries, &problem) < 0) return -1;
    c->key.mode = 1 + (int64_t)problem.mode;
    c->key.correlate = correlate;
    for (int a = 0; a < problem.rank; a++)
        c->key.boundaries |= (int64_t)problem.boundary[a] << 8 * a;
    const Py_ssize_t count = PySequence_Size(origin);
    if (count < 0) return -1;
    if (count != problem.rank)
        return refuse("convolve: origin has as many numbers as the kernel has axes");
    return core_read_numbers(origin, problem.rank, c->key.origin);
}

/* An array for the result. */
static PyObject *make_result(const call *c) {
    npy_intp shape[WEFT_MAX_RANK + 1] = {PyArray_DIM(c->in, 0)};
    weft_box box;
    const weft_status status = weft_plan_box(core_cached_plan(c->plan), WEFT_OUTPUT, 0, &box);
    if (status != WEFT_SUCCESS) {
        core_raise(status, NULL);
        return NULL;
    }
    for (int a = 0; a < c->key.rank; a++) shape[a + 1] = (npy_intp)box.n[a];
    return PyArray_SimpleNew((int)c->key.rank + 1, shape, PyArray_TYPE(c->in));
}

static weft_status convolve(void *argument) {
    call *c = argument;
    weft_plan plan = core_cached_plan(c->plan);
    const weft_status status = weft_convolution_set_kernel(plan, PyArray_DATA(c->kernel));
    if (status != WEFT_SUCCESS) return status;
    return weft_convolution_execute(plan, PyArray_DATA(c->in), PyArray_DATA(c->out));
}

/* Convolves with the plan that has been taken. */
static PyObject *run(call *c) {
    PyObject *out = make_result(c);
    if (!out) return NULL;
    c->out = (PyArrayObject *)out;
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = core_run((int)c->key.threads, convolve, c, c->sentence);
    Py_END_ALLOW_THREADS;
    if (status == WEFT_SUCCESS) return out;
    core_raise(status, c->sentence);
    Py_DECREF(out);
    return NULL;
}

PyObject *core_convolve(PyObject *module, PyObject *args) {
    (void)module;
    call c = {0};
    PyObject *in, *kernel, *boundaries, *origin;
    const char *mode;
    int correlate, threads;
    if (!PyArg_ParseTuple(args, "OOOspOi:convolve", &in, &kernel, &boundaries, &mode, &correlate,
                          &origin, &threads) ||
        check_arrays(&c, in, kernel) < 0)
        return NULL;
    describe(&c, threads);
    if (read_key(&c, mode, correlate, boundaries, origin) < 0) return NULL;
    c.plan = core_cache_take(&c.key);
    if (!c.plan) return NULL;
    PyObject *out = run(&c);
    core_cache_give(c.plan);
    return out;
}
