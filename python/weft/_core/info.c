/* What computes here: engines and devices, as the library finds them. */
#include "core.h"

typedef weft_status (*prober)(int which, const char **description);

static weft_status probe_engine(int which, const char **description) {
    return weft_engine_probe((weft_engine)which, description);
}

static weft_status probe_device(int which, const char **description) {
    return weft_device_probe((weft_device)which, description);
}

/* Adds {name: (usable, description or reason)}. */
static int add_found(PyObject *dict, const char *name, prober probe, int which) {
    const char *description = "";
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = probe(which, &description);
    Py_END_ALLOW_THREADS;
    const bool usable = status == WEFT_SUCCESS;
    PyObject *found = Py_BuildValue("(Os)", usable ? Py_True : Py_False,
                                    usable ? description : weft_last_error(NULL));
    const int done = found ? PyDict_SetItemString(dict, name, found) : -1;
    Py_XDECREF(found);
    return done;
}

PyObject *core_engines(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *dict = PyDict_New();
    for (int e = WEFT_ENGINE_NATIVE; dict && e <= WEFT_ENGINE_OPENMP; e++)
        if (add_found(dict, weft_engine_name((weft_engine)e), probe_engine, e) < 0) Py_CLEAR(dict);
    return dict;
}

PyObject *core_devices(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *dict = PyDict_New();
    for (int d = WEFT_HOST; dict && d <= WEFT_SIMULATED; d++)
        if (add_found(dict, weft_device_name((weft_device)d), probe_device, d) < 0) Py_CLEAR(dict);
    return dict;
}
