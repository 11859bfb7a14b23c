/*
 * weft._core.Convolution: a convolution of the library as a Python object, on which
 * weft.Convolution stands.
 *
 * One execution at a time: a thread that finds the convolution busy waits, without the GIL. A child
 * of a fork makes the convolution anew when it first uses it, so what it is made of is kept.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct convolution_object {
    PyObject_HEAD weft_convolution_problem problem;
    weft_options options;
    PyObject *kernel; /* the object's own copy of the array in problem.kernel, or NULL */
    double covariance[WEFT_MAX_RANK * WEFT_MAX_RANK], zero[2];
    weft_convolution plan;   /* NULL until it is made */
    uint64_t generation;     /* of the process that made it */
    PyThread_type_lock busy; /* held while the convolution is used */
} convolution_object;

static int refuse(const char *sentence) {
    return core_raise(WEFT_ERROR_INVALID_ARGUMENT, sentence);
}

/* NumPy's type of field, result and kernels in real space. */
static int numpy_type(const convolution_object *self) {
    if (self->problem.precision == WEFT_SINGLE)
        return self->problem.kind == WEFT_C2C ? NPY_CFLOAT : NPY_FLOAT;
    return self->problem.kind == WEFT_C2C ? NPY_CDOUBLE : NPY_DOUBLE;
}

/* ---- making ---- */

typedef struct creation {
    weft_context context;
    weft_convolution_problem problem;
    const weft_options *options;
    weft_convolution plan;
} creation;

static weft_status create(void *argument) {
    creation *c = argument;
    return weft_convolution_create(c->context, &c->problem, c->options, &c->plan);
}

/* Makes the convolution of this process, unless another thread has made it meanwhile. */
static int make(convolution_object *self) {
    creation c = {.context = core_context(), .problem = self->problem, .options = &self->options};
    PyObject *kernel = self->kernel; /* which another thread may replace */
    if (!c.context) return -1;
    const uint64_t generation = core_generation();
    char sentence[CORE_SENTENCE];
    weft_status status;
    Py_XINCREF(kernel);
    Py_BEGIN_ALLOW_THREADS;
    status = core_run(self->options.threads, create, &c, sentence);
    Py_END_ALLOW_THREADS;
    Py_XDECREF(kernel);
    if (status != WEFT_SUCCESS) core_raise(status, sentence);
    PyThread_type_lock busy = status == WEFT_SUCCESS ? PyThread_allocate_lock() : NULL;
    if (status == WEFT_SUCCESS && !busy) PyErr_NoMemory();
    if (!busy || (self->plan && self->generation == generation)) {
        weft_convolution_destroy(&c.plan);
        if (busy) PyThread_free_lock(busy);
        return busy ? 0 : -1;
    }
    self->plan = c.plan;
    self->busy = busy;
    self->generation = generation;
    return 0;
}

/* The convolution of this process. */
static weft_convolution plan_of(convolution_object *self) {
    if (self->generation != core_generation() && make(self) < 0) return NULL;
    return self->plan;
}

/* ---- reading what is asked for ---- */

/* Reads a number for each axis. NULL and None leave zeros. */
static int read_lengths(PyObject *sequence, weft_convolution_problem *problem) {
    if (!sequence || sequence == Py_None) return 0;
    const Py_ssize_t count = PySequence_Size(sequence);
    if (count < 0) return -1;
    if (count != problem->rank)
        return refuse("Convolution: length has one number, or as many as shape has extents");
    for (Py_ssize_t a = 0; a < count; a++) {
        PyObject *number = PySequence_GetItem(sequence, a);
        problem->length[a] = number ? PyFloat_AsDouble(number) : -1;
        Py_XDECREF(number);
        if (PyErr_Occurred()) return -1;
    }
    return 0;
}

/* Reads rank whole numbers. NULL and None leave zeros. */
static int read_each(const char *sentence, PyObject *sequence, int rank, int64_t *numbers) {
    if (!sequence || sequence == Py_None) return 0;
    const Py_ssize_t count = PySequence_Size(sequence);
    if (count < 0) return -1;
    return count == rank ? core_read_numbers(sequence, rank, numbers) : refuse(sentence);
}

static int read_orders(PyObject *sequence, weft_convolution_problem *problem) {
    int64_t order[WEFT_MAX_RANK] = {0};
    if (read_each("Convolution: a derivative has as many orders as shape has extents", sequence,
                  problem->rank, order) < 0)
        return -1;
    for (int a = 0; a < problem->rank; a++) {
        if (order[a] < 0 || order[a] > 1000)
            return refuse("Convolution: the orders of a derivative are 0 to 1000");
        problem->kernel.order[a] = (int)order[a];
    }
    return 0;
}

static bool given(PyObject *object) {
    return object && object != Py_None;
}

static bool reflects(weft_boundary boundary) {
    return boundary == WEFT_DIRICHLET || boundary == WEFT_NEUMANN;
}

/* The extents of the field's spectrum: of real fields the last Fourier axis is halved. */
static void find_extents(const weft_convolution_problem *p, int64_t *n) {
    int halved = p->kind == WEFT_R2C ? p->rank - 1 : -1;
    while (halved >= 0 && reflects(p->boundary[halved])) halved--;
    for (int a = 0; a < p->rank; a++) n[a] = a == halved ? p->n[a] / 2 + 1 : p->n[a];
}

/* Keeps a copy of the kernel's array. */
static PyObject *copy_of(const convolution_object *self, PyObject *object) {
    const weft_convolution_problem *p = &self->problem;
    PyArrayObject *array = (PyArrayObject *)object;
    const bool spectrum = p->kernel.kind == WEFT_KERNEL_SPECTRUM;
    const int type = !spectrum                     ? numpy_type(self)
                     : p->precision == WEFT_SINGLE ? NPY_CFLOAT
                                                   : NPY_CDOUBLE;
    bool fits = PyArray_Check(object) && PyArray_TYPE(array) == type &&
                PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == p->rank;
    int64_t n[WEFT_MAX_RANK];
    if (spectrum) find_extents(p, n);
    for (int a = 0; spectrum && fits && a < p->rank; a++) fits = PyArray_DIM(array, a) == n[a];
    if (fits) return PyArray_NewCopy(array, NPY_CORDER);
    refuse(spectrum ? "Convolution: a kernel's spectrum is a contiguous NumPy array of complex "
                      "numbers, one for each wavenumber: of periodic real fields as of rfftn"
                    : "Convolution: the kernel is a contiguous NumPy array of the convolution's "
                      "type with as many axes as shape has extents");
    return NULL;
}

static int read_array(convolution_object *self, PyObject *array) {
    if (!given(array)) return refuse("Convolution: a kernel of kind array is a NumPy array");
    self->kernel = copy_of(self, array);
    if (!self->kernel) return -1;
    PyArrayObject *copy = (PyArrayObject *)self->kernel;
    for (int a = 0; a < self->problem.rank; a++) self->problem.kernel.n[a] = PyArray_DIM(copy, a);
    self->problem.kernel.array = PyArray_DATA(copy);
    return 0;
}

/* Of extents that the library refuses there is no spectrum. */
static int read_spectrum(convolution_object *self, PyObject *array) {
    const weft_convolution_problem *p = &self->problem;
    for (int a = 0; a < p->rank; a++)
        if (p->n[a] < 1) return 0;
    return read_array(self, array);
}

static int read_covariance(convolution_object *self, PyObject *object) {
    PyArrayObject *array = (PyArrayObject *)object;
    const int rank = self->problem.rank;
    if (!given(object) || !PyArray_Check(object) || PyArray_TYPE(array) != NPY_DOUBLE ||
        !PyArray_ISCARRAY_RO(array) || PyArray_NDIM(array) != 2 || PyArray_DIM(array, 0) != rank ||
        PyArray_DIM(array, 1) != rank)
        return refuse("Convolution: the covariance of a Gaussian has a row and a column for each "
                      "axis");
    memcpy(self->covariance, PyArray_DATA(array), (size_t)(rank * rank) * sizeof *self->covariance);
    self->problem.kernel.covariance = self->covariance;
    return 0;
}

static int read_constants(PyObject *object, weft_convolution_problem *problem) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!given(object) || !PyArray_Check(object) || PyArray_TYPE(array) != NPY_DOUBLE ||
        !PyArray_ISCARRAY_RO(array) || PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != 2)
        return refuse("Convolution: an elastic medium has two constants, lambda and mu");
    memcpy(problem->kernel.lame, PyArray_DATA(array), sizeof problem->kernel.lame);
    return 0;
}

static int read_zero(convolution_object *self, PyObject *number) {
    if (!given(number)) return 0;
    self->zero[0] = PyComplex_RealAsDouble(number);
    if (self->zero[0] == -1 && PyErr_Occurred()) return -1;
    self->zero[1] = PyComplex_ImagAsDouble(number);
    if (self->zero[1] == -1 && PyErr_Occurred()) return -1;
    self->problem.kernel.zero = self->zero;
    return 0;
}

static int read_regularizer(PyObject *number, weft_convolution_problem *problem) {
    if (!given(number)) return 0;
    problem->deconvolve = 1;
    problem->regularizer = PyFloat_AsDouble(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* What belongs to the kernel's kind; `data` is the array, the values, the covariance or the
 * constants. */
static int read_kernel(convolution_object *self, PyObject *data, PyObject *origin,
                       PyObject *order) {
    weft_convolution_kernel *kernel = &self->problem.kernel;
    switch (kernel->kind) {
    case WEFT_KERNEL_ARRAY:
        if (read_each("Convolution: origin has one number, or as many as shape has extents", origin,
                      self->problem.rank, kernel->origin) < 0)
            return -1;
        return read_array(self, data);
    case WEFT_KERNEL_SPECTRUM:
        return read_spectrum(self, data);
    case WEFT_KERNEL_GAUSSIAN:
        return read_covariance(self, data);
    case WEFT_KERNEL_ELASTIC:
        return read_constants(data, &self->problem);
    default:
        return read_orders(order, &self->problem);
    }
}

static int read_convolution(convolution_object *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"shape",    "kernel",    "data",       "kind",   "precision", "batch",
                            "boundary", "mode",      "length",     "origin", "parameter", "order",
                            "zero",     "correlate", "deconvolve", "engine", "device",    "threads",
                            "effort",   "method",    NULL};
    weft_convolution_problem *p = &self->problem;
    PyObject *shape, *data, *boundary = NULL, *length = NULL, *origin = NULL, *order = NULL,
                            *zero = NULL, *regularizer = NULL;
    core_choices chosen = {.location = "host"};
    const char *kernel, *mode = NULL, *method = NULL;
    long long batch = 1;
    weft_problem plain = {0};
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OsO|$ssLOsOOdOOpOssiss:Convolution", names, &shape, &kernel, &data,
            &chosen.kind, &chosen.precision, &batch, &boundary, &mode, &length, &origin,
            &p->kernel.parameter, &order, &zero, &p->correlate, &regularizer, &chosen.engine,
            &chosen.device, &self->options.threads, &chosen.effort, &method) ||
        core_read_shape(shape, &plain) < 0 ||
        core_read_choices(&chosen, &plain, &self->options) < 0)
        return -1;
    p->rank = plain.rank;
    memcpy(p->n, plain.n, sizeof p->n);
    p->kind = plain.kind;
    p->precision = plain.precision;
    p->batch = batch;
    if (p->kind != WEFT_C2C && p->kind != WEFT_R2C)
        return refuse("Convolution: fields are real (r2c) or complex (c2c)");
    if (core_read_convolution(mode, method, kernel, boundary, p) < 0 ||
        read_lengths(length, p) < 0 || read_zero(self, zero) < 0 ||
        read_regularizer(regularizer, p) < 0)
        return -1;
    return read_kernel(self, data, origin, order);
}

static PyObject *convolution_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    convolution_object *self = (convolution_object *)allocate(type, 0);
    if (!self) return NULL;
    self->options.threads = 1;
    if (read_convolution(self, args, keywords) < 0 || core_find_nvrtc(&self->options) < 0 ||
        make(self) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void convolution_dealloc(PyObject *object) {
    convolution_object *self = (convolution_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->generation == core_generation()) { /* else both are the parent's */
        Py_BEGIN_ALLOW_THREADS;
        weft_convolution_destroy(&self->plan);
        Py_END_ALLOW_THREADS;
        if (self->busy) PyThread_free_lock(self->busy);
    }
    Py_XDECREF(self->kernel);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- use ---- */

enum { MOST_AXES = WEFT_MAX_RANK + 2 }; /* the batch, the fields of a point, and its own */

/* The shape of field or result, with the batch and the fields of a point, if there are several,
 * first; the number of axes, or -1. */
static int shape_in(convolution_object *self, weft_space space, npy_intp *shape) {
    weft_convolution plan = plan_of(self);
    weft_box box;
    int axes = 0;
    if (!plan) return -1;
    const weft_status status = weft_plan_box(plan, space, 0, &box);
    if (status != WEFT_SUCCESS) return core_raise(status, NULL);
    const weft_convolution_problem *p = &self->problem;
    const int fields = weft_kernel_fields(p->kernel.kind, p->rank, space == WEFT_OUTPUT);
    if (self->problem.batch > 1) shape[axes++] = (npy_intp)self->problem.batch;
    if (fields > 1) shape[axes++] = fields;
    for (int a = 0; a < self->problem.rank; a++) shape[axes++] = (npy_intp)box.n[a];
    return axes;
}

/* Whether an array is of the convolution's type and of a shape, without gaps. */
static bool is_fit(const convolution_object *self, PyObject *object, int axes,
                   const npy_intp *shape) {
    PyArrayObject *array = (PyArrayObject *)object;
    bool fits = PyArray_Check(object) && PyArray_TYPE(array) == numpy_type(self) &&
                PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == axes;
    for (int a = 0; a < axes && fits; a++) fits = PyArray_DIM(array, a) == shape[a];
    return fits;
}

static int check_field(convolution_object *self, PyObject *in) {
    npy_intp shape[MOST_AXES];
    const int axes = shape_in(self, WEFT_INPUT, shape);
    if (axes < 0) return -1;
    return is_fit(self, in, axes, shape)
               ? 0
               : refuse("Convolution: the field is a contiguous NumPy array of the convolution's "
                        "type and shape");
}

/* The caller's array for the result, or a new one. */
static PyObject *take_result(convolution_object *self, PyObject *out) {
    npy_intp shape[MOST_AXES];
    const int axes = shape_in(self, WEFT_OUTPUT, shape);
    if (axes < 0) return NULL;
    if (out == Py_None) return PyArray_SimpleNew(axes, shape, numpy_type(self));
    if (is_fit(self, out, axes, shape) && PyArray_ISWRITEABLE((PyArrayObject *)out))
        return Py_NewRef(out);
    refuse("Convolution: the result is a contiguous NumPy array of the convolution's type and "
           "output_shape");
    return NULL;
}

static weft_status convolve(convolution_object *self, const void *in, void *out, char *sentence) {
    PyThread_acquire_lock(self->busy, WAIT_LOCK);
    const weft_status status =
        core_execute(self->plan, self->options.threads, WEFT_CONVOLVE, in, out, sentence);
    PyThread_release_lock(self->busy);
    return status;
}

/* execute(in, out=None) */
static PyObject *convolution_execute(PyObject *object, PyObject *args) {
    convolution_object *self = (convolution_object *)object;
    PyObject *in, *given_out = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:execute", &in, &given_out) || check_field(self, in) < 0)
        return NULL;
    PyObject *out = take_result(self, given_out);
    if (!out) return NULL;
    const void *field = PyArray_DATA((PyArrayObject *)in);
    char sentence[CORE_SENTENCE];
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = convolve(self, field, PyArray_DATA((PyArrayObject *)out), sentence);
    Py_END_ALLOW_THREADS;
    if (status == WEFT_SUCCESS) return out;
    core_raise(status, sentence);
    Py_DECREF(out);
    return NULL;
}

typedef struct replacement {
    weft_convolution plan;
    const void *array;
} replacement;

static weft_status replace(void *argument) {
    const replacement *r = argument;
    return weft_convolution_set_kernel(r->plan, r->array);
}

/* The copy is replaced with the GIL, which those who read it hold, and before the convolution is
 * let go, so that both have the same kernel where threads set different ones. Who holds the GIL
 * never waits for a convolution. */
static PyObject *convolution_set_kernel(PyObject *object, PyObject *array) {
    convolution_object *self = (convolution_object *)object;
    weft_convolution plan = plan_of(self);
    if (!plan) return NULL;
    const weft_kernel_kind kind = self->problem.kernel.kind;
    if (kind == WEFT_KERNEL_ARRAY || kind == WEFT_KERNEL_SPECTRUM) {
        for (int a = 0; PyArray_Check(array) && a < self->problem.rank; a++)
            if (PyArray_NDIM((PyArrayObject *)array) == self->problem.rank &&
                PyArray_DIM((PyArrayObject *)array, a) != self->problem.kernel.n[a]) {
                refuse("Convolution: a new kernel has the shape of the one before; make another "
                       "convolution");
                return NULL;
            }
        array = copy_of(self, array);
        if (!array) return NULL;
    } else {
        array = NULL; /* the library says why there is none */
    }
    replacement r = {plan, array ? PyArray_DATA((PyArrayObject *)array) : NULL};
    char sentence[CORE_SENTENCE];
    weft_status status;
    PyObject *left = array;
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(self->busy, WAIT_LOCK);
    status = core_run(self->options.threads, replace, &r, sentence);
    Py_END_ALLOW_THREADS;
    if (status == WEFT_SUCCESS) {
        left = self->kernel;
        self->kernel = array;
        self->problem.kernel.array = r.array;
    }
    PyThread_release_lock(self->busy);
    Py_XDECREF(left);
    if (status == WEFT_SUCCESS) Py_RETURN_NONE;
    core_raise(status, sentence);
    return NULL;
}

static PyObject *convolution_explain(PyObject *object, PyObject *none) {
    (void)none;
    weft_convolution plan = plan_of((convolution_object *)object);
    return plan ? core_explain(plan) : NULL;
}

static PyObject *get_memory(PyObject *object, void *closure) {
    (void)closure;
    weft_convolution plan = plan_of((convolution_object *)object);
    return plan ? core_memory(plan) : NULL;
}

static PyObject *get_batch(PyObject *object, void *closure) {
    (void)closure;
    return PyLong_FromLongLong(((convolution_object *)object)->problem.batch);
}

static PyObject *get_shape(PyObject *object, void *space) {
    npy_intp shape[MOST_AXES];
    const int axes =
        shape_in((convolution_object *)object, space ? WEFT_OUTPUT : WEFT_INPUT, shape);
    PyObject *tuple = axes < 0 ? NULL : PyTuple_New(axes);
    for (int a = 0; tuple && a < axes; a++) {
        PyObject *n = PyLong_FromSsize_t((Py_ssize_t)shape[a]);
        if (!n || PyTuple_SetItem(tuple, a, n) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_option(PyObject *object, void *device) {
    weft_convolution plan = plan_of((convolution_object *)object);
    return plan ? (device ? core_device_of(plan) : core_engine_of(plan)) : NULL;
}

static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "Shape of the field.", NULL},
    {"output_shape", get_shape, NULL, "Shape of the result.", "output"},
    {"batch", get_batch, NULL, "As given.", NULL},
    {"memory", get_memory, NULL, "Bytes that the convolution holds.", NULL},
    {"device", get_option, NULL, "'host', 'cuda:0', ...", "device"},
    {"engine", get_option, NULL, "The engine that computes.", NULL},
    {0}};

static PyMethodDef methods[] = {
    {"execute", convolution_execute, METH_VARARGS,
     "execute($self, in, out=None, /)\n--\n\nConvolves one NumPy array into another, or a new "
     "one."},
    {"set_kernel", convolution_set_kernel, METH_O,
     "set_kernel($self, array, /)\n--\n\nReplaces the kernel by another one of its shape."},
    {"explain", convolution_explain, METH_NOARGS,
     "explain($self, /)\n--\n\nWhat the convolution does, step by step, and why."},
    {0}};

static const char documented[] =
    "Convolution(shape, kernel, data, *, kind='c2c', precision='double', batch=1,\n"
    "            boundary='periodic', mode='full', length=None, origin=None, parameter=0,\n"
    "            order=None, zero=None, correlate=False, deconvolve=None, engine='auto',\n"
    "            device='host', threads=1, effort='estimate', method='auto')\n--\n\n"
    "kernel is the name of its kind; data its array, the values of its spectrum, its "
    "covariance, or its constants.";

int core_convolution_type_add(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_new, (void *)convolution_new},
                                  {Py_tp_dealloc, (void *)convolution_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, properties},
                                  {Py_tp_doc, (void *)documented},
                                  {0}};
    static PyType_Spec spec = {.name = "weft._core.Convolution",
                               .basicsize = sizeof(convolution_object),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    return core_add_type(module, &spec);
}
