/* weft.Error and its subclasses: which exception a status of the library becomes. */
#include "core.h"

typedef enum { ARGUMENT, MEMORY, UNSUPPORTED, RUNTIME, SYSTEM, KINDS } error_kind;

static PyObject *base, *errors[KINDS];

static const struct {
    const char *name, *doc;
} described[KINDS] = {
    [ARGUMENT] = {"weft.ArgumentError", "An argument is wrong."},
    [MEMORY] = {"weft.OutOfMemoryError", "Host or device memory does not suffice."},
    [UNSUPPORTED] = {"weft.UnsupportedError",
                     "Valid, but this build, device or engine cannot do it."},
    [RUNTIME] = {"weft.ExecutionError", "A device, an engine or a transport failed."},
    [SYSTEM] = {"weft.ResourceError", "The operating system refused."},
};

static PyObject *builtin_of(error_kind kind) {
    switch (kind) {
    case ARGUMENT:
        return PyExc_ValueError;
    case MEMORY:
        return PyExc_MemoryError;
    case UNSUPPORTED:
        return PyExc_NotImplementedError;
    case SYSTEM:
        return PyExc_OSError;
    default:
        return PyExc_RuntimeError;
    }
}

static error_kind kind_of(weft_status status) {
    switch (status) {
    case WEFT_ERROR_INVALID_ARGUMENT:
    case WEFT_ERROR_MISMATCH:
        return ARGUMENT;
    case WEFT_ERROR_UNSUPPORTED:
        return UNSUPPORTED;
    case WEFT_ERROR_OUT_OF_MEMORY:
        return MEMORY;
    case WEFT_ERROR_SYSTEM:
        return SYSTEM;
    default:
        return RUNTIME;
    }
}

int core_errors_add(PyObject *module) {
    base = PyErr_NewExceptionWithDoc("weft.Error", "What weft could not do, in one sentence.",
                                     PyExc_Exception, NULL);
    if (!base || PyModule_AddObjectRef(module, "Error", base) < 0) return -1;
    for (int kind = 0; kind < KINDS; kind++) {
        /* The built-in one first: its __new__ must be the one that is found (MemoryError has its
         * own), for some who copy exceptions between processes call it. */
        PyObject *bases = PyTuple_Pack(2, builtin_of((error_kind)kind), base);
        if (!bases) return -1;
        errors[kind] =
            PyErr_NewExceptionWithDoc(described[kind].name, described[kind].doc, bases, NULL);
        Py_DECREF(bases);
        if (!errors[kind] ||
            PyModule_AddObjectRef(module, described[kind].name + sizeof "weft", errors[kind]) < 0)
            return -1;
    }
    return 0;
}

int core_raise(weft_status status, const char *sentence) {
    PyErr_SetString(errors[kind_of(status)], sentence ? sentence : weft_last_error(NULL));
    return -1;
}
