/*
 * Buffers that plans want larger than the boxes in them, since they compute there: NumPy arrays
 * that are the first part of more memory.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

PyObject *core_array_with_room(int axes, const npy_intp *shape, int type, size_t bytes) {
    PyObject *array = PyArray_SimpleNew(axes, shape, type);
    if (!array) return NULL;
    const size_t item = (size_t)PyArray_ITEMSIZE((PyArrayObject *)array);
    if ((size_t)PyArray_NBYTES((PyArrayObject *)array) >= bytes) return array;
    Py_DECREF(array);
    const npy_intp elements = (npy_intp)((bytes + item - 1) / item);
    PyObject *memory = PyArray_SimpleNew(1, &elements, type);
    if (!memory) return NULL;
    array = PyArray_SimpleNewFromData(axes, shape, type, PyArray_DATA((PyArrayObject *)memory));
    if (!array) {
        Py_DECREF(memory);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, memory) < 0) Py_CLEAR(array);
    return array;
}

const void *core_elements_with_room(PyArrayObject *array, size_t bytes, void **copy) {
    const size_t own = (size_t)PyArray_NBYTES(array);
    *copy = NULL;
    if (own >= bytes) return PyArray_DATA(array);
    *copy = malloc(bytes);
    if (!*copy) return PyErr_NoMemory();
    return memcpy(*copy, PyArray_DATA(array), own);
}
