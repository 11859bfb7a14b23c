/* weft._core: the module, its functions, and what they need before they are called. */
#define CORE_IMPORTS_NUMPY
#include "core.h"

#include <string.h>

static PyMethodDef methods[] = {
    {"transform", core_transform_call, METH_VARARGS,
     "transform(in, out, kind, inverse, norm, threads, axes, n)\n--\n\n"
     "Transforms one NumPy array into another along axes of extents n."},
    {"dlpack", core_dlpack, METH_O,
     "dlpack(capsule, /)\n--\n\n"
     "(address, device type, device, type code, bits, shape, strides, read-only)"},
    {"set_general", core_set_general, METH_O,
     "set_general(function, /)\n--\n\nSets who answers what the calls of this module do not."},
    {"default_workers", core_default_workers, METH_NOARGS,
     "default_workers()\n--\n\nThreads of each transform in the calling thread."},
    {"set_default_workers", core_set_default_workers, METH_O,
     "set_default_workers(workers, /)\n--\n\nSets what default_workers tells."},
    {"cache_limit", core_cache_limit, METH_VARARGS,
     "cache_limit(plans, bytes, /)\n--\n\nLimits the plan cache; 0 plans switch it off."},
    {"cache_clear", core_cache_clear, METH_NOARGS,
     "cache_clear()\n--\n\nDestroys all idle plans of the cache and forgets its statistics."},
    {"cache_info", core_cache_info, METH_NOARGS,
     "cache_info()\n--\n\n(hits, misses, evictions, plans, max_plans, bytes, max_bytes)"},
    {"convolve", core_convolve, METH_VARARGS,
     "convolve(in, kernel, boundaries, mode, correlate, origin, threads)\n--\n\n"
     "Convolves each in[i] with the kernel, by a plan of the cache."},
    {"engines", core_engines, METH_NOARGS,
     "engines()\n--\n\nEngines by name: whether they run here, and what they are or why not."},
    {"devices", core_devices, METH_NOARGS,
     "devices()\n--\n\nDevices by name: whether they can be used, and what they are or why not."},
    {"destroy_context", core_destroy_context, METH_O,
     "destroy_context(context, /)\n--\n\nDestroys a context of weft._mpi. Collective."},
    {"raise_status", core_raise_status, METH_O,
     "raise_status(failure, /)\n--\n\nRaises what (status, sentence) of weft._mpi tells."},
    {0}};

int core_add_type(PyObject *module, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    const int done = type ? PyModule_AddObjectRef(module, strrchr(spec->name, '.') + 1, type) : -1;
    Py_XDECREF(type);
    return done;
}

static int start(PyObject *module) {
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    core_cache_begin();
    if (PyModule_AddStringConstant(module, "version", weft_version()) < 0) return -1;
    if (core_errors_add(module) < 0 || core_calls_add(module) < 0 ||
        core_plan_type_add(module) < 0 || core_gpu_transform_add(module) < 0 ||
        core_convolution_type_add(module) < 0 || core_distributed_plan_add(module) < 0)
        return -1;
    return core_context_start();
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)start}, {0}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "weft._core",
    .m_doc = "The C part of weft: transforms of NumPy arrays, plans, and the plan cache.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&definition);
}
