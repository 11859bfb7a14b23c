/*
 * Reading DLPack capsules, of version 0 ("dltensor") and of version 1 ("dltensor_versioned").
 *
 * The structs are those of the DLPack specification, dlpack.h of version 1.1. The capsule is not
 * consumed: it goes on owning the tensor, and the caller keeps it while the memory is used.
 */
#include "core.h"

typedef struct tensor { /* DLTensor */
    void *data;
    struct {
        int32_t type, number; /* DLDevice */
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes; /* DLDataType */
    } type;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} tensor;

typedef struct versioned_tensor { /* DLManagedTensorVersioned */
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*destroy)(struct versioned_tensor *);
    uint64_t flags;
    tensor tensor;
} versioned_tensor;

enum { READ_ONLY = 1 }; /* DLPACK_FLAG_BITMASK_READ_ONLY */

static PyObject *tuple_of(const int64_t *numbers, int32_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (int32_t i = 0; tuple && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);
        if (!number || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *describe(const tensor *t, bool read_only) {
    if (t->type.lanes != 1) {
        PyErr_SetString(PyExc_TypeError, "weft: DLPack's vector types are not transformed");
        return NULL;
    }
    PyObject *shape = tuple_of(t->shape, t->rank);
    PyObject *strides = t->strides ? tuple_of(t->strides, t->rank) : Py_NewRef(Py_None);
    if (!shape || !strides) {
        Py_XDECREF(shape), Py_XDECREF(strides);
        return NULL;
    }
    return Py_BuildValue("KiiiiNNO", (unsigned long long)(uintptr_t)t->data + t->byte_offset,
                         (int)t->device.type, (int)t->device.number, (int)t->type.code,
                         (int)t->type.bits, shape, strides, read_only ? Py_True : Py_False);
}

PyObject *core_dlpack(PyObject *module, PyObject *capsule) {
    (void)module;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const versioned_tensor *v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (v->version.major == 1) return describe(&v->tensor, v->flags & READ_ONLY);
        PyErr_Format(PyExc_BufferError, "weft: a DLPack capsule of version %u.%u; known is 1",
                     (unsigned)v->version.major, (unsigned)v->version.minor);
        return NULL;
    }
    const tensor *t = PyCapsule_GetPointer(capsule, "dltensor"); /* the first member of its owner */
    return t ? describe(t, false) : NULL;
}
