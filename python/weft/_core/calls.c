/*
 * fft, ifft, rfft, irfft and their 2-D and n-D siblings for NumPy arrays as they come most often.
 *
 * An exact numpy.ndarray of numbers up to double precision, in native byte order where they are not
 * converted anyway, whose shape is transformed as it is, along axes given by their number or by
 * default, is answered here. Everything else, mistakes included, goes with its arguments to the
 * function given to set_general, which is weft.fft's own in Python.
 */
#include "core.h"

#include <string.h>

enum { X, N, AXES, NORM, OVERWRITE, WORKERS, PLAN, OUT, ARGUMENTS, POSITIONAL = PLAN };

static const char *const spelled[ARGUMENTS] = {"x",           "n",       "axis", "norm",
                                               "overwrite_x", "workers", "plan", "out"};
static PyObject *names[ARGUMENTS]; /* interned */
static PyObject *names_of_many[2]; /* "s" and "axes", where the axes are several */
static PyObject *name_of_numpy;    /* "a": what NumPy calls x */
static PyObject *norms[3];         /* interned, in the order of weft_norm from WEFT_NORM_BACKWARD */
static PyObject *general;

static _Thread_local int default_workers = 1;

typedef enum { ONE, TWO, ALL } how_many;

typedef struct call {
    const char *name;
    weft_kind kind;
    weft_direction direction;
    how_many axes;
} call;

static int argument_of(const call *c, PyObject *name) {
    for (int i = 0; i < ARGUMENTS; i++) {
        const bool many = c->axes != ONE && (i == N || i == AXES);
        if (name == (many ? names_of_many[i - N] : names[i])) return i;
    }
    if (name == name_of_numpy) return X;
    for (int i = 0; i < ARGUMENTS; i++) { /* a name that is not interned */
        const bool many = c->axes != ONE && (i == N || i == AXES);
        if (PyUnicode_Compare(name, many ? names_of_many[i - N] : names[i]) == 0) return i;
    }
    return PyUnicode_Compare(name, name_of_numpy) == 0 ? X : -1;
}

static int read_arguments(const call *c, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords, PyObject **value) {
    if (count > POSITIONAL) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments", c->name,
                     POSITIONAL);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) value[i] = args[i];
    const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        const int which = argument_of(c, name);
        if (which < 0 || value[which]) {
            PyErr_Format(PyExc_TypeError, "%s() got %s argument '%U'", c->name,
                         which < 0 ? "an unexpected keyword" : "multiple values for", name);
            return -1;
        }
        value[which] = args[count + i];
    }
    if (!value[X]) {
        PyErr_Format(PyExc_TypeError, "%s() missing 1 required positional argument: 'x'", c->name);
        return -1;
    }
    return 0;
}

static PyObject *answer_in_general(const call *c, PyObject **value) {
    PyObject *axes = value[AXES];
    if (axes)
        Py_INCREF(axes);
    else
        axes = c->axes == ONE   ? PyLong_FromLong(-1)
               : c->axes == TWO ? Py_BuildValue("(ii)", -2, -1)
                                : Py_NewRef(Py_None);
#define OR_NONE(which) (value[which] ? value[which] : Py_None)
    PyObject *result =
        axes ? PyObject_CallFunction(general, "sOOOOOOOO", c->name, value[X], OR_NONE(N), axes,
                                     OR_NONE(NORM), value[OVERWRITE] ? value[OVERWRITE] : Py_False,
                                     OR_NONE(WORKERS), OR_NONE(PLAN), OR_NONE(OUT))
             : NULL;
    Py_XDECREF(axes);
    return result;
}

static bool given(PyObject *value) {
    return value && value != Py_None;
}

/* Reads a whole number of Python's own type; false for anything else, which is no error here. */
static bool read_long(PyObject *value, long *number) {
    if (!PyLong_CheckExact(value)) return false;
    int overflow;
    *number = PyLong_AsLongAndOverflow(value, &overflow);
    return overflow == 0;
}

static bool read_norm(PyObject *value, weft_norm *norm) {
    *norm = WEFT_NORM_BACKWARD;
    if (!given(value)) return true;
    for (int i = 0; i < 3; i++)
        if (value == norms[i]) {
            *norm = (weft_norm)(WEFT_NORM_BACKWARD + i);
            return true;
        }
    return false;
}

static bool read_axes(const call *c, PyObject **value, int rank, core_transform *t) {
    t->rank = c->axes == ALL ? rank : c->axes == TWO ? 2 : 1;
    if (t->rank > rank || t->rank > WEFT_MAX_RANK || t->rank == 0) return false;
    for (int a = 0; a < t->rank; a++) t->axis[a] = rank - t->rank + a;
    if (c->axes != ONE) return c->axes == ALL ? !given(value[AXES]) : !value[AXES];
    long axis = -1;
    if (value[AXES] && !read_long(value[AXES], &axis)) return false;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    t->axis[0] = (int)axis;
    return true;
}

/* Extents of the transform, and of the result in `shape`. */
static bool read_extents(const call *c, PyObject **value, PyArrayObject *x, core_transform *t,
                         npy_intp *shape) {
    const npy_intp *n = PyArray_DIMS(x);
    if (given(value[N]) && c->axes != ONE) return false;
    memcpy(shape, n, (size_t)PyArray_NDIM(x) * sizeof *shape);
    for (int a = 0; a < t->rank; a++) t->n[a] = n[t->axis[a]];
    int64_t *last = &t->n[t->rank - 1];
    if (c->kind == WEFT_R2C && c->direction == WEFT_INVERSE) *last = 2 * (*last - 1);
    if (given(value[N])) {
        long wanted;
        if (!read_long(value[N], &wanted) || wanted < 1) return false;
        *last = wanted;
    }
    for (int a = 0; a < t->rank; a++)
        if (t->n[a] < 1 || n[t->axis[a]] < 1) return false;
    shape[t->axis[t->rank - 1]] =
        c->kind == WEFT_R2C && c->direction == WEFT_FORWARD ? *last / 2 + 1 : *last;
    return true;
}

static bool read_workers(PyObject *value, int *threads) {
    long wanted = default_workers;
    if (given(value) && (!read_long(value, &wanted) || wanted < 1 || wanted > 1024)) return false;
    *threads = (int)wanted;
    return true;
}

/* NumPy's number of the type of the result; -1 where the call is not for this file. */
static int type_of_result(const call *c, PyArrayObject *x) {
    const int type = PyArray_TYPE(x);
    const bool single = type == NPY_FLOAT || type == NPY_CFLOAT;
    const bool real = type == NPY_FLOAT || type == NPY_DOUBLE;
    if ((!single && type != NPY_DOUBLE && type != NPY_CDOUBLE) || !PyArray_ISALIGNED(x) ||
        !PyArray_ISNOTSWAPPED(x))
        return -1;
    if (c->kind == WEFT_C2C || c->direction == WEFT_FORWARD) {
        if (c->kind == WEFT_R2C && !real) return -1;
        return single ? NPY_CFLOAT : NPY_CDOUBLE;
    }
    return real ? -1 : single ? NPY_FLOAT : NPY_DOUBLE;
}

/* The array, or a copy in the precision in which it is transformed: halves as single, whole numbers
 * as double. A new reference. */
static PyObject *as_transformed(PyObject *array) {
    const int type = PyArray_TYPE((PyArrayObject *)array);
    const int wanted = type == NPY_HALF                            ? NPY_FLOAT
                       : type >= NPY_BOOL && type <= NPY_ULONGLONG ? NPY_DOUBLE
                                                                   : type;
    return wanted == type ? Py_NewRef(array) : PyArray_Cast((PyArrayObject *)array, wanted);
}

static PyObject *answer_for(const call *c, PyObject **value) {
    core_transform transform = {.kind = c->kind, .direction = c->direction};
    npy_intp shape[NPY_MAXDIMS];
    PyArrayObject *x = (PyArrayObject *)value[X];
    const int type = type_of_result(c, x);
    if (type < 0 || !read_axes(c, value, PyArray_NDIM(x), &transform) ||
        !read_extents(c, value, x, &transform, shape) || !read_norm(value[NORM], &transform.norm) ||
        !read_workers(value[WORKERS], &transform.threads))
        return answer_in_general(c, value);
    PyObject *out = PyArray_SimpleNew(PyArray_NDIM(x), shape, type);
    if (!out) return NULL;
    if (core_transform_run(&transform, x, (PyArrayObject *)out) < 0) {
        Py_DECREF(out);
        return NULL;
    }
    return out;
}

static PyObject *answer(const call *c, PyObject *const *args, Py_ssize_t count,
                        PyObject *keywords) {
    PyObject *value[ARGUMENTS] = {0};
    if (read_arguments(c, args, count, keywords, value) < 0) return NULL;
    if (!PyArray_CheckExact(value[X]) || given(value[PLAN]) || given(value[OUT]) ||
        (value[OVERWRITE] && value[OVERWRITE] != Py_False))
        return answer_in_general(c, value);
    value[X] = as_transformed(value[X]);
    PyObject *result = value[X] ? answer_for(c, value) : NULL;
    Py_XDECREF(value[X]);
    return result;
}

/* name, kind, direction, axes, what the documentation says */
#define CALLS(CALL)                                                                                \
    CALL(fft, WEFT_C2C, WEFT_FORWARD, ONE, "The discrete Fourier transform along an axis.")        \
    CALL(ifft, WEFT_C2C, WEFT_INVERSE, ONE, "The inverse of fft.")                                 \
    CALL(rfft, WEFT_R2C, WEFT_FORWARD, ONE,                                                        \
         "The half of fft's result that tells all of it, for real data.")                          \
    CALL(irfft, WEFT_R2C, WEFT_INVERSE, ONE,                                                       \
         "The inverse of rfft: real, of length n (default: 2 (m - 1) of m points).")               \
    CALL(fft2, WEFT_C2C, WEFT_FORWARD, TWO, "fftn along the last two axes, or those given.")       \
    CALL(ifft2, WEFT_C2C, WEFT_INVERSE, TWO, "The inverse of fft2.")                               \
    CALL(rfft2, WEFT_R2C, WEFT_FORWARD, TWO, "rfftn along the last two axes, or those given.")     \
    CALL(irfft2, WEFT_R2C, WEFT_INVERSE, TWO, "The inverse of rfft2.")                             \
    CALL(fftn, WEFT_C2C, WEFT_FORWARD, ALL,                                                        \
         "The discrete Fourier transform along all axes, or those given.")                         \
    CALL(ifftn, WEFT_C2C, WEFT_INVERSE, ALL, "The inverse of fftn.")                               \
    CALL(                                                                                          \
        rfftn, WEFT_R2C, WEFT_FORWARD, ALL,                                                        \
        "The half of fftn's result that tells all of it, for real data: halved is the last axis.") \
    CALL(irfftn, WEFT_R2C, WEFT_INVERSE, ALL, "The inverse of rfftn.")

#define SIGNATURE_ONE "n=None, axis=-1"
#define SIGNATURE_TWO "s=None, axes=(-2, -1)"
#define SIGNATURE_ALL "s=None, axes=None"
#define REST ", norm=None, overwrite_x=False, workers=None, *, plan=None, out=None)\n--\n\n"

#define FUNCTION(name_, kind_, direction_, axes_, doc)                                             \
    static PyObject *call_##name_(PyObject *module, PyObject *const *args, Py_ssize_t count,       \
                                  PyObject *keywords) {                                            \
        static const call c = {#name_, kind_, direction_, axes_};                                  \
        (void)module;                                                                              \
        return answer(&c, args, count, keywords);                                                  \
    }
CALLS(FUNCTION)

#define METHOD(name_, kind_, direction_, axes_, doc)                                               \
    {#name_, (PyCFunction)(void (*)(void))call_##name_, METH_FASTCALL | METH_KEYWORDS,             \
     #name_ "(x, " SIGNATURE_##axes_ REST doc},
static PyMethodDef methods[] = {CALLS(METHOD){0}};

int core_calls_add(PyObject *module) {
    static const char *const norm_names[3] = {"backward", "ortho", "forward"};
    for (int i = 0; i < ARGUMENTS; i++)
        if (!(names[i] = PyUnicode_InternFromString(spelled[i]))) return -1;
    for (int i = 0; i < 3; i++)
        if (!(norms[i] = PyUnicode_InternFromString(norm_names[i]))) return -1;
    if (!(names_of_many[0] = PyUnicode_InternFromString("s")) ||
        !(names_of_many[1] = PyUnicode_InternFromString("axes")) ||
        !(name_of_numpy = PyUnicode_InternFromString("a")))
        return -1;
    return PyModule_AddFunctions(module, methods);
}

PyObject *core_set_general(PyObject *module, PyObject *function) {
    (void)module;
    PyObject *before = general;
    general = Py_NewRef(function);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

PyObject *core_default_workers(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return PyLong_FromLong(default_workers);
}

PyObject *core_set_default_workers(PyObject *module, PyObject *workers) {
    (void)module;
    const long wanted = PyLong_AsLong(workers);
    if (wanted == -1 && PyErr_Occurred()) return NULL;
    if (wanted < 1 || wanted > 1024) {
        PyErr_SetString(PyExc_ValueError, "the number of workers is 1 to 1024");
        return NULL;
    }
    default_workers = (int)wanted;
    Py_RETURN_NONE;
}
