/*
 * weft._mpi: what of the Python package is linked to MPI.
 *
 * It makes contexts over communicators that mpi4py tells the address of; weft._core plans and
 * executes. The MPI transport (src/transport/mpi) is part of this module, and libweft is the copy
 * beside it that weft._core uses, too. weft.distributed checks that this module and mpi4py mean
 * the same MPI before it makes a context.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <weft/weft_mpi.h>

/* create(address): the context is a capsule, which weft._core.destroy_context destroys. A failure
 * is given back as (status, sentence), since the exceptions are weft._core's. */
static PyObject *create(PyObject *module, PyObject *address) {
    (void)module;
    const MPI_Comm *comm = PyLong_AsVoidPtr(address);
    if (!comm) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "create: the address is 0");
        return NULL;
    }
    weft_context context = NULL;
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = weft_mpi_context_create(*comm, NULL, &context);
    Py_END_ALLOW_THREADS;
    if (status != WEFT_SUCCESS) return Py_BuildValue("(is)", (int)status, weft_last_error(NULL));
    PyObject *capsule = PyCapsule_New(context, "weft_context", NULL);
    if (!capsule) weft_context_destroy(&context);
    return capsule;
}

static PyObject *library_version(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
}

static PyMethodDef methods[] = {
    {"create", create, METH_O,
     "create(address, /)\n--\n\nMakes a context over the communicator at this address. "
     "Collective."},
    {"library_version", library_version, METH_NOARGS,
     "library_version()\n--\n\nWhat the MPI that this module calls tells of itself."},
    {0}};

static int start(PyObject *module) {
#ifdef OPEN_MPI
    const char *built_with = "Open MPI";
#else
    const char *built_with = "MPICH or a library with its binary interface";
#endif
    if (PyModule_AddStringConstant(module, "built_with", built_with) < 0) return -1;
    if (PyModule_AddIntConstant(module, "handle_bytes", (long)sizeof(MPI_Comm)) < 0) return -1;
    return PyModule_AddStringConstant(module, "version", weft_version());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start}, {0}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "weft._mpi",
    .m_doc = "Contexts of weft over communicators of MPI.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__mpi(void) {
    return PyModuleDef_Init(&definition);
}
