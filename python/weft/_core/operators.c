/* Reading the operators of a plan: those that weft.operators makes, and what they point to. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* Reads up to WEFT_MAX_RANK entries of a tuple by a function that reads one. */
static int read_each(PyObject *tuple, int (*read)(PyObject *, weft_operator *, int),
                     weft_operator *to) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0) return -1;
    for (Py_ssize_t a = 0; a < count && a < WEFT_MAX_RANK; a++)
        if (read(PyTuple_GetItem(tuple, a), to, (int)a) < 0) return -1;
    return 0;
}

static int read_window(PyObject *given, weft_operator *to, int a) {
    weft_window *window = &to->window[a];
    const char *name;
    if (!PyArg_ParseTuple(given, "spd", &name, &window->symmetric, &window->parameter)) return -1;
    return core_read_window(name, &window->kind);
}

/* One window for all axes, or one for each. */
static int read_windows(PyObject *windows, const weft_problem *problem, weft_operator *to) {
    if (read_each(windows, read_window, to) < 0) return -1;
    for (int a = 1; a < problem->rank && PyTuple_Size(windows) == 1; a++)
        to->window[a] = to->window[0];
    return 0;
}

static int read_shift(PyObject *given, weft_operator *to, int a) {
    to->shift[a] = PyFloat_AsDouble(given);
    return PyErr_Occurred() ? -1 : 0;
}

static int read_table(PyObject *given, weft_operator *to, int a) {
    if (given == Py_None) return 0;
    if (!PyArray_Check(given) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)given)) {
        PyErr_SetString(PyExc_TypeError, "Plan: a table of factors is a contiguous NumPy array");
        return -1;
    }
    to->table[a] = PyArray_DATA((PyArrayObject *)given);
    return 0;
}

/* The length of each table is that of its axis in the space that the operator sees. */
static int check_tables(PyObject *tables, const weft_problem *problem, bool of_spectrum) {
    int halved = problem->kind == WEFT_R2C && of_spectrum ? problem->rank - 1 : -1;
    while (halved > 0 && problem->axis[halved] != WEFT_AXIS_OF_KIND) halved--;
    const Py_ssize_t count = PyTuple_Size(tables);
    for (Py_ssize_t a = 0; a < count; a++) {
        PyObject *one = PyTuple_GetItem(tables, a);
        const int64_t n = a >= problem->rank ? 0
                          : a == halved      ? problem->n[a] / 2 + 1
                                             : problem->n[a];
        if (one == Py_None || PyArray_SIZE((PyArrayObject *)one) == n) continue;
        PyErr_Format(PyExc_ValueError, "Plan: axis %zd has a table of %zd factors and %lld indices",
                     a, (Py_ssize_t)PyArray_SIZE((PyArrayObject *)one), (long long)n);
        return -1;
    }
    return 0;
}

static int read_operator(PyObject *given, const weft_problem *problem, bool of_spectrum,
                         weft_operator *to) {
    int kind, complex_factors;
    unsigned long long function, argument;
    long long parameters;
    PyObject *windows, *shift, *tables, *kept;
    *to = (weft_operator){0};
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "Plan: operators are made by weft.operators");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "idO!O!O!pzKKLO:operator", &kind, &to->factor, &PyTuple_Type,
                          &windows, &PyTuple_Type, &shift, &PyTuple_Type, &tables, &complex_factors,
                          &to->snippet, &function, &argument, &parameters, &kept))
        return -1;
    to->kind = (weft_operator_kind)kind;
    to->complex_factors = complex_factors;
    to->function = (weft_operator_function)(uintptr_t)function;
    to->argument = (void *)(uintptr_t)argument;
    to->parameters = parameters;
    if (read_windows(windows, problem, to) < 0 || read_each(shift, read_shift, to) < 0 ||
        read_each(tables, read_table, to) < 0)
        return -1;
    return check_tables(tables, problem, of_spectrum);
}

/* A tuple of the operators given: one, which is itself a tuple, or a sequence. */
static PyObject *as_tuple(PyObject *given) {
    if (!PyObject_HasAttrString(given, "kind")) return PySequence_Tuple(given);
    return PyTuple_Pack(1, given);
}

int core_read_operators(PyObject *given, const weft_problem *problem, bool of_spectrum,
                        weft_operators *operators, PyObject **kept) {
    if (!given || given == Py_None) return 0;
    PyObject *all = as_tuple(given);
    if (!all) return -1;
    const Py_ssize_t count = PyTuple_Size(all);
    weft_operator *list = count > 0 ? calloc((size_t)count, sizeof *list) : NULL;
    if (count > 0 && !list) PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        read_operator(PyTuple_GetItem(all, i), problem, of_spectrum, &list[i]);
    if (PyErr_Occurred()) {
        free(list);
        Py_DECREF(all);
        return -1;
    }
    *operators = (weft_operators){list, (int)count};
    *kept = all;
    return 0;
}
