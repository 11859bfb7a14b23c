/*
 * weft.Plan: a plan of the library as a Python object.
 *
 * One transform at a time: a thread that finds the plan busy waits, without the GIL. A child of a
 * fork makes the plan anew when it first uses it.
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plan_object {
    PyObject_HEAD weft_problem problem;
    weft_options options;
    weft_plan plan;                        /* NULL until it is made */
    uint64_t generation;                   /* of the process that made it */
    PyThread_type_lock busy;               /* held while the plan is executed */
    size_t bytes[2];                       /* of the buffers, in the order of weft_space */
    PyObject *operators[3];                /* that the problem's lists point into, or NULL */
    double parameter[WEFT_MAX_PARAMETERS]; /* that were set last, for plans made anew */
} plan_object;

/* Makes the plan of this process, unless another thread has made it meanwhile. */
static int make(plan_object *self) {
    weft_context context = core_context();
    if (!context) return -1;
    const uint64_t generation = core_generation();
    weft_plan plan = NULL;
    size_t bytes[2];
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = weft_plan_create(context, &self->problem, &self->options, &plan);
    for (int i = 0; i < WEFT_MAX_PARAMETERS && status == WEFT_SUCCESS; i++)
        if (self->parameter[i] != 0) status = weft_plan_set_parameter(plan, i, self->parameter[i]);
    if (status == WEFT_SUCCESS) status = weft_plan_bytes(plan, WEFT_INPUT, &bytes[WEFT_INPUT]);
    if (status == WEFT_SUCCESS) status = weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[WEFT_OUTPUT]);
    Py_END_ALLOW_THREADS;
    if (status != WEFT_SUCCESS) core_raise(status, NULL);
    PyThread_type_lock busy = status == WEFT_SUCCESS ? PyThread_allocate_lock() : NULL;
    if (status == WEFT_SUCCESS && !busy) PyErr_NoMemory();
    if (!busy || (self->plan && self->generation == generation)) {
        weft_plan_destroy(&plan);
        if (busy) PyThread_free_lock(busy);
        return busy ? 0 : -1;
    }
    self->plan = plan;
    self->busy = busy;
    self->bytes[WEFT_INPUT] = bytes[WEFT_INPUT];
    self->bytes[WEFT_OUTPUT] = bytes[WEFT_OUTPUT];
    self->generation = generation;
    return 0;
}

/* The plan of this process. */
static weft_plan plan_of(plan_object *self) {
    if (self->generation != core_generation() && make(self) < 0) return NULL;
    return self->plan;
}

static int read_plan(plan_object *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"shape",    "kind",     "precision",   "norm",   "batch", "engine",
                            "device",   "location", "threads",     "effort", "types", "load",
                            "spectral", "store",    "truncate_to", NULL};
    PyObject *shape, *types = NULL, *load = NULL, *spectral = NULL, *store = NULL;
    PyObject *points = NULL;
    weft_problem *problem = &self->problem;
    core_choices given = {0};
    long long batch = 1;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O|$sssLsssisOOOOO:Plan", names, &shape, &given.kind, &given.precision,
            &given.norm, &batch, &given.engine, &given.device, &given.location,
            &self->options.threads, &given.effort, &types, &load, &spectral, &store, &points) ||
        core_read_shape(shape, problem) < 0 || core_read_types(types, problem) < 0 ||
        core_read_truncation(points, problem) < 0 ||
        core_read_choices(&given, problem, &self->options) < 0 ||
        core_read_operators(load, problem, false, &problem->load, &self->operators[0]) < 0 ||
        core_read_operators(spectral, problem, true, &problem->spectral, &self->operators[1]) < 0 ||
        core_read_operators(store, problem, false, &problem->store, &self->operators[2]) < 0)
        return -1;
    problem->batch = batch;
    return 0;
}

int core_find_nvrtc(const weft_options *options) {
    if (options->device != WEFT_CUDA) return 0;
    PyObject *module = PyImport_ImportModule("weft._gpu.driver");
    PyObject *done = module ? PyObject_CallMethod(module, "find_nvrtc", NULL) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    plan_object *self = (plan_object *)allocate(type, 0);
    if (!self) return NULL;
    self->options.threads = 1;
    if (read_plan(self, args, keywords) < 0 || core_find_nvrtc(&self->options) < 0 ||
        make(self) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void plan_dealloc(PyObject *object) {
    plan_object *self = (plan_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->generation == core_generation()) { /* else both are the parent's */
        Py_BEGIN_ALLOW_THREADS;                  /* work that is enqueued on a GPU is waited for */
        weft_plan_destroy(&self->plan);
        Py_END_ALLOW_THREADS;
        if (self->busy) PyThread_free_lock(self->busy);
    }
    const weft_operators *lists[] = {&self->problem.load, &self->problem.spectral,
                                     &self->problem.store};
    for (int i = 0; i < 3; i++) {
        free((void *)(uintptr_t)lists[i]->list);
        Py_XDECREF(self->operators[i]);
    }
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* The type of the numbers in a space; -1 where NumPy has none. */
static int numpy_type(const plan_object *self, weft_space space) {
    const weft_kind kind = self->problem.kind;
    const bool is_complex = kind == WEFT_C2C || (kind == WEFT_R2C && space == WEFT_OUTPUT);
    switch (self->problem.precision) {
    case WEFT_DOUBLE:
        return is_complex ? NPY_CDOUBLE : NPY_DOUBLE;
    case WEFT_SINGLE:
        return is_complex ? NPY_CFLOAT : NPY_FLOAT;
    case WEFT_HALF:
        return is_complex ? -1 : NPY_HALF;
    }
    return -1;
}

/* Whether the plan takes arrays on its GPU. */
static bool is_on_gpu(const plan_object *self) {
    return self->options.device == WEFT_CUDA && self->options.location == WEFT_LOCATION_DEVICE;
}

/* A buffer of the caller's: an object with the buffer protocol, or an address. */
typedef struct caller_buffer {
    Py_buffer view;
    bool viewed;
    void *data;
} caller_buffer;

static int take_buffer(const plan_object *self, PyObject *object, weft_space space, bool written,
                       caller_buffer *buffer) {
    const char *name = written ? "out" : "in";
    char sentence[CORE_SENTENCE];
    if (PyLong_Check(object)) {
        buffer->data = PyLong_AsVoidPtr(object);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (is_on_gpu(self))
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT,
                          "Plan: the plan takes arrays on its GPU, and this one lies on the host; "
                          "make the plan with location='host'");
    const int expected = numpy_type(self, space);
    if (PyArray_Check(object) && expected >= 0) {
        PyArrayObject *array = (PyArrayObject *)object;
        if (PyArray_TYPE(array) != expected || !PyArray_ISBEHAVED_RO(array)) {
            snprintf(
                sentence, sizeof sentence,
                "Plan: the type of %s is not the plan's: %s precision, %s, in native byte order",
                name, weft_precision_name(self->problem.precision),
                PyTypeNum_ISCOMPLEX(expected) ? "complex" : "real");
            return core_raise(WEFT_ERROR_INVALID_ARGUMENT, sentence);
        }
    }
    if (PyObject_GetBuffer(object, &buffer->view,
                           PyBUF_C_CONTIGUOUS | (written ? PyBUF_WRITABLE : 0)) < 0)
        return -1;
    buffer->viewed = true;
    buffer->data = buffer->view.buf;
    if ((size_t)buffer->view.len < self->bytes[space]) {
        snprintf(sentence, sizeof sentence, "Plan: %s has %zd bytes, and the plan takes %zu", name,
                 buffer->view.len, self->bytes[space]);
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT, sentence);
    }
    return 0;
}

static void release_buffer(caller_buffer *buffer) {
    if (buffer->viewed) PyBuffer_Release(&buffer->view);
}

static int execute(plan_object *self, weft_direction direction, PyObject *in, PyObject *out) {
    weft_plan plan = plan_of(self);
    if (!plan) return -1;
    const bool inverse = direction == WEFT_INVERSE;
    caller_buffer from = {0}, to = {0};
    int done = -1;
    if (take_buffer(self, in, inverse ? WEFT_OUTPUT : WEFT_INPUT, false, &from) == 0 &&
        take_buffer(self, out, inverse ? WEFT_INPUT : WEFT_OUTPUT, true, &to) == 0) {
        char sentence[CORE_SENTENCE];
        weft_status status;
        Py_BEGIN_ALLOW_THREADS;
        PyThread_acquire_lock(self->busy, WAIT_LOCK);
        status = core_execute(plan, self->options.threads, direction, from.data, to.data, sentence);
        PyThread_release_lock(self->busy);
        Py_END_ALLOW_THREADS;
        done = status == WEFT_SUCCESS ? 0 : core_raise(status, sentence);
    }
    release_buffer(&from);
    release_buffer(&to);
    return done;
}

/* Calls work(argument) while nobody else uses the plan. NULL and an exception where it fails. */
static PyObject *call_alone(plan_object *self, core_work work, void *argument) {
    char sentence[CORE_SENTENCE] = "";
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(self->busy, WAIT_LOCK);
    status = work(argument);
    if (status != WEFT_SUCCESS) strncpy(sentence, weft_last_error(NULL), sizeof sentence - 1);
    PyThread_release_lock(self->busy);
    Py_END_ALLOW_THREADS;
    if (status == WEFT_SUCCESS) Py_RETURN_NONE;
    core_raise(status, sentence);
    return NULL;
}

typedef struct enqueued {
    weft_plan plan;
    int inverse;
    unsigned long long in, out, stream;
} enqueued;

static weft_status enqueue(void *argument) {
    const enqueued *e = argument;
    return weft_enqueue(e->plan, e->inverse ? WEFT_INVERSE : WEFT_FORWARD,
                        (const void *)(uintptr_t)e->in, (void *)(uintptr_t)e->out,
                        (void *)(uintptr_t)e->stream);
}

/* _enqueue(inverse, in, out, stream): addresses on the plan's GPU, in the order of a stream. */
static PyObject *plan_enqueue(PyObject *object, PyObject *args) {
    plan_object *self = (plan_object *)object;
    enqueued e;
    if (!PyArg_ParseTuple(args, "pKKK:_enqueue", &e.inverse, &e.in, &e.out, &e.stream)) return NULL;
    e.plan = plan_of(self);
    return e.plan ? call_alone(self, enqueue, &e) : NULL;
}

typedef struct parameter {
    plan_object *self;
    int number;
    double value;
} parameter;

static weft_status set_parameter(void *argument) {
    const parameter *p = argument;
    const weft_status status = weft_plan_set_parameter(p->self->plan, p->number, p->value);
    if (status == WEFT_SUCCESS) p->self->parameter[p->number] = p->value;
    return status;
}

static PyObject *plan_set_parameter(PyObject *object, PyObject *args) {
    parameter p = {.self = (plan_object *)object};
    if (!PyArg_ParseTuple(args, "id:set_parameter", &p.number, &p.value)) return NULL;
    return plan_of(p.self) ? call_alone(p.self, set_parameter, &p) : NULL;
}

/* Whether an array is neither an address nor lends its memory by the buffer protocol. Arrays of
 * CuPy and JAX on a GPU have that protocol, too, but refuse to lend. */
static bool lies_elsewhere(const plan_object *self, PyObject *array) {
    if (PyLong_Check(array)) return false;
    return !PyObject_CheckBuffer(array) || (is_on_gpu(self) && !PyArray_Check(array) &&
                                            PyObject_HasAttrString(array, "__dlpack__"));
}

/* What neither is an address nor has the buffer protocol: arrays on GPUs, and those of libraries
 * that lend their memory otherwise. */
static PyObject *transform_elsewhere(PyObject *self, weft_direction direction, PyObject *in,
                                     PyObject *out) {
    PyObject *module = PyImport_ImportModule("weft._gpu.plans");
    PyObject *result = module ? PyObject_CallMethod(module, "transform", "OiOO", self,
                                                    direction == WEFT_INVERSE, in, out)
                              : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *plan_execute(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "execute(direction, in, out) takes 3 arguments");
        return NULL;
    }
    weft_direction direction;
    if (core_read_direction(args[0], &direction) < 0 ||
        execute((plan_object *)self, direction, args[1], args[2]) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static int shape_in(const plan_object *self, weft_space space, npy_intp *shape) {
    const weft_problem *p = &self->problem;
    int axes = 0;
    if (p->batch > 1) shape[axes++] = (npy_intp)p->batch;
    for (int a = 0; a < p->rank; a++) {
        const bool truncated = space == WEFT_OUTPUT && p->truncate_to[a] > 0;
        shape[axes++] = (npy_intp)(truncated ? p->truncate_to[a] : p->n[a]);
    }
    int halved = p->rank - 1; /* the last axis that is Fourier transformed */
    while (halved > 0 && p->axis[halved] != WEFT_AXIS_OF_KIND) halved--;
    if (p->kind == WEFT_R2C && space == WEFT_OUTPUT)
        shape[axes - p->rank + halved] = shape[axes - p->rank + halved] / 2 + 1;
    return axes;
}

/* forward(in, out=None) and inverse(in, out=None): out is a new array unless it is given. */
static PyObject *transform(PyObject *object, weft_direction direction, PyObject *const *args,
                           Py_ssize_t count) {
    plan_object *self = (plan_object *)object;
    const weft_space space = direction == WEFT_INVERSE ? WEFT_INPUT : WEFT_OUTPUT;
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "a plan is given an input, and an output if wanted");
        return NULL;
    }
    if (lies_elsewhere(self, args[0]))
        return transform_elsewhere(object, direction, args[0], count == 2 ? args[1] : Py_None);
    PyObject *out;
    if (count == 2 && args[1] != Py_None) {
        out = Py_NewRef(args[1]);
    } else {
        npy_intp shape[WEFT_MAX_RANK + 1];
        const int type = numpy_type(self, space), axes = shape_in(self, space, shape);
        if (type < 0) {
            core_raise(WEFT_ERROR_UNSUPPORTED,
                       "Plan: NumPy has no complex numbers of half precision; give an output");
            return NULL;
        }
        out = PyArray_SimpleNew(axes, shape, type);
        if (!out) return NULL;
    }
    if (execute(self, direction, args[0], out) < 0) Py_CLEAR(out);
    return out;
}

static PyObject *plan_forward(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    return transform(self, WEFT_FORWARD, args, count);
}

static PyObject *plan_inverse(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    return transform(self, WEFT_INVERSE, args, count);
}

PyObject *core_explain(weft_plan plan) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return PyErr_NoMemory();
    const weft_status status = weft_plan_explain(plan, stream, WEFT_TEXT);
    fclose(stream);
    PyObject *told = NULL;
    if (status == WEFT_SUCCESS)
        told = PyUnicode_FromStringAndSize(text, (Py_ssize_t)bytes);
    else
        core_raise(status, NULL);
    free(text);
    return told;
}

PyObject *core_memory(weft_plan plan) {
    weft_memory memory;
    const weft_status status = weft_plan_memory(plan, &memory);
    if (status == WEFT_SUCCESS) return PyLong_FromSize_t(memory.total);
    core_raise(status, NULL);
    return NULL;
}

static PyObject *plan_explain(PyObject *object, PyObject *none) {
    (void)none;
    weft_plan plan = plan_of((plan_object *)object);
    return plan ? core_explain(plan) : NULL;
}

static PyObject *get_shape(PyObject *object, void *space) {
    npy_intp shape[WEFT_MAX_RANK + 1];
    const int axes = shape_in((plan_object *)object, space ? WEFT_OUTPUT : WEFT_INPUT, shape);
    PyObject *tuple = PyTuple_New(axes);
    for (int a = 0; tuple && a < axes; a++) {
        PyObject *n = PyLong_FromSsize_t((Py_ssize_t)shape[a]);
        if (!n || PyTuple_SetItem(tuple, a, n) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_bytes(PyObject *object, void *space) {
    return PyLong_FromSize_t(((plan_object *)object)->bytes[space ? WEFT_OUTPUT : WEFT_INPUT]);
}

static PyObject *get_memory(PyObject *object, void *closure) {
    (void)closure;
    weft_plan plan = plan_of((plan_object *)object);
    return plan ? core_memory(plan) : NULL;
}

PyObject *core_engine_of(weft_plan plan) {
    weft_options options = {0};
    const weft_status status = weft_plan_options(plan, &options);
    if (status == WEFT_SUCCESS) return PyUnicode_FromString(weft_engine_name(options.engine));
    core_raise(status, NULL);
    return NULL;
}

PyObject *core_device_of(weft_plan plan) {
    weft_options options = {0};
    const weft_status status = weft_plan_options(plan, &options);
    if (status != WEFT_SUCCESS) {
        core_raise(status, NULL);
        return NULL;
    }
    const char *name = weft_device_name(options.device);
    if (options.device_number == 0) return PyUnicode_FromString(name);
    return PyUnicode_FromFormat("%s:%d", name, (int)options.device_number - 1);
}

static PyObject *get_engine(PyObject *object, void *closure) {
    (void)closure;
    weft_plan plan = plan_of((plan_object *)object);
    return plan ? core_engine_of(plan) : NULL;
}

static PyObject *get_kind(PyObject *object, void *closure) {
    (void)closure;
    return PyUnicode_FromString(weft_kind_name(((plan_object *)object)->problem.kind));
}

static PyObject *get_precision(PyObject *object, void *closure) {
    (void)closure;
    return PyUnicode_FromString(weft_precision_name(((plan_object *)object)->problem.precision));
}

static PyObject *get_device(PyObject *object, void *closure) {
    (void)closure;
    weft_plan plan = plan_of((plan_object *)object);
    return plan ? core_device_of(plan) : NULL;
}

static PyGetSetDef properties[] = {
    {"input_shape", get_shape, NULL, "Shape of the array that a forward transform reads.", NULL},
    {"output_shape", get_shape, NULL, "Shape of the array that it writes.", "output"},
    {"input_bytes", get_bytes, NULL, "Bytes of the input.", NULL},
    {"output_bytes", get_bytes, NULL, "Bytes of the output.", "output"},
    {"memory", get_memory, NULL, "Bytes that the plan holds.", NULL},
    {"kind", get_kind, NULL, "As given.", NULL},
    {"precision", get_precision, NULL, "As given.", NULL},
    {"device", get_device, NULL, "'host', 'cuda:0', ...", NULL},
    {"engine", get_engine, NULL, "The engine that computes.", NULL},
    {0}};

#define METHOD(function) (PyCFunction)(void (*)(void)) function
static PyMethodDef methods[] = {
    {"execute", METHOD(plan_execute), METH_FASTCALL,
     "execute($self, direction, in, out, /)\n--\n\n"
     "Transforms in to out: contiguous objects with the buffer protocol, or addresses.\n"
     "direction is 'forward' or 'inverse'; the inverse reads what forward wrote."},
    {"forward", METHOD(plan_forward), METH_FASTCALL,
     "forward($self, in, out=None, /)\n--\n\nTransforms in; returns out, or a new array of in's "
     "kind."},
    {"inverse", METHOD(plan_inverse), METH_FASTCALL,
     "inverse($self, in, out=None, /)\n--\n\nTransforms back; returns out, or a new array of in's "
     "kind."},
    {"_enqueue", plan_enqueue, METH_VARARGS,
     "_enqueue($self, inverse, in, out, stream, /)\n--\n\n"
     "Transforms on the plan's GPU in the order of a stream, without waiting."},
    {"set_parameter", plan_set_parameter, METH_VARARGS,
     "set_parameter($self, number, value, /)\n--\n\n"
     "Sets a number that functions and snippets of the plan's operators read."},
    {"explain", plan_explain, METH_NOARGS,
     "explain($self, /)\n--\n\nWhat the plan does, step by step, and why."},
    {0}};

static const char documented[] =
    "Plan(shape, *, kind='c2c', precision='double', norm='none', batch=1, engine='auto',\n"
    "     device='host', location='device', threads=1, effort='estimate', types=None, load=None,\n"
    "     spectral=None, store=None)\n--\n\n"
    "A transform of arrays of one shape, planned once and executed as often as wanted.\n\n"
    "types says what is done along the axes, one for all or a sequence: 'fft', 'dct1' to 'dct4',\n"
    "'dst1' to 'dst4' or 'none'. kind 'r2r' needs them and has no 'fft'; 'r2c' halves the last\n"
    "axis that is 'fft'; 'c2c' and 'r2c' are 'fft' along all axes where types is not given.\n"
    "load, spectral and store are operators of weft.operators, one or a sequence, on the array as\n"
    "it is loaded, on the spectrum, and on what an inverse transform stores.\n"
    "norm 'none' scales neither direction; others are NumPy's.\n"
    "With batch > 1 the arrays have an axis more, the first. device 'cuda:1' is GPU 1; with "
    "location\n'device' its plans take arrays on that GPU. Raises weft.Error.";

int core_plan_type_add(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)plan_new},   {Py_tp_dealloc, (void *)plan_dealloc},
        {Py_tp_methods, methods},        {Py_tp_getset, properties},
        {Py_tp_doc, (void *)documented}, {0}};
    static PyType_Spec spec = {.name = "weft.Plan",
                               .basicsize = sizeof(plan_object),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    return core_add_type(module, &spec);
}
