/*
 * Reading what plans are asked for: choices by their names, extents, and lists of both.
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *norm_name(int norm) {
    static const char *const names[] = {"none", "backward", "ortho", "forward"};
    return norm < 4 ? names[norm] : "?";
}
static const char *location_name(int location) {
    static const char *const names[] = {"device", "host"};
    return location < 2 ? names[location] : "?";
}
static const char *direction_name(int direction) {
    static const char *const names[] = {"forward", "inverse"};
    return direction < 2 ? names[direction] : "?";
}
static const char *decomposition_name(int decomposition) {
    return weft_decomposition_name((weft_decomposition)decomposition);
}
static const char *variant_name(int variant) {
    return weft_variant_name((weft_variant)variant);
}
static const char *exchange_name(int exchange) {
    return weft_exchange_name((weft_exchange)exchange);
}
static const char *kind_name(int kind) {
    return weft_kind_name((weft_kind)kind);
}
static const char *type_name(int type) {
    return weft_axis_name((weft_axis)type);
}
static const char *precision_name(int p) {
    return weft_precision_name((weft_precision)p);
}
static const char *engine_name(int engine) {
    return weft_engine_name((weft_engine)engine);
}
static const char *device_name(int device) {
    return weft_device_name((weft_device)device);
}
static const char *effort_name(int effort) {
    return weft_effort_name((weft_effort)effort);
}

static const char *window_name(int window) {
    return weft_window_kind_name((weft_window_kind)window);
}
static const char *boundary_name(int boundary) {
    return weft_boundary_name((weft_boundary)boundary);
}
static const char *mode_name(int mode) {
    return weft_convolution_mode_name((weft_convolution_mode)mode);
}
static const char *method_name(int method) {
    return weft_convolution_method_name((weft_convolution_method)method);
}
static const char *kernel_kind_name(int kind) {
    return weft_kernel_kind_name((weft_kernel_kind)kind);
}

/* Reads a choice by its name; NULL leaves it as it is. `name_of` gives the names of 0, 1, ... and
 * "?" past the last. */
static int read_choice(const char *what, const char *text, const char *(*name_of)(int),
                       int *choice) {
    if (!text) return 0;
    char known[256] = "";
    for (int i = 0; strcmp(name_of(i), "?") != 0; i++) {
        if (strcmp(name_of(i), text) == 0) {
            *choice = i;
            return 0;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", name_of(i));
    }
    char sentence[CORE_SENTENCE];
    snprintf(sentence, sizeof sentence, "Plan: %s is %.64s; give one of %s", what, text, known);
    return core_raise(WEFT_ERROR_INVALID_ARGUMENT, sentence);
}

int core_read_direction(PyObject *name, weft_direction *direction) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    int choice = 0;
    if (!text || read_choice("direction", text, direction_name, &choice) < 0) return -1;
    *direction = (weft_direction)choice;
    return 0;
}

int core_read_window(const char *name, weft_window_kind *kind) {
    int choice = 0;
    if (read_choice("window", name, window_name, &choice) < 0) return -1;
    *kind = (weft_window_kind)choice;
    return 0;
}

/* Reads choices by their names: `count` of a sequence, or one name for all of them. */
static int read_names(const char *what, PyObject *names, Py_ssize_t count,
                      const char *(*name_of)(int), int *choices) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyUnicode_Check(names) ? Py_NewRef(names) : PySequence_GetItem(names, i);
        const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        choices[i] = 0;
        const int done = text ? read_choice(what, text, name_of, &choices[i]) : -1;
        Py_XDECREF(name);
        if (done < 0) return -1;
    }
    return 0;
}

int core_read_numbers(PyObject *sequence, int count, int64_t *numbers) {
    for (int a = 0; a < count; a++) {
        PyObject *number = PySequence_GetItem(sequence, a);
        numbers[a] = number ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(number);
        if (PyErr_Occurred()) return -1;
    }
    return 0;
}

int core_read_shape(PyObject *shape, weft_problem *problem) {
    if (PyLong_Check(shape)) {
        problem->rank = 1;
        problem->n[0] = PyLong_AsLongLong(shape);
        return PyErr_Occurred() ? -1 : 0;
    }
    const Py_ssize_t rank = PySequence_Size(shape);
    if (rank < 0) return -1;
    if (rank < 1 || rank > WEFT_MAX_RANK)
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT, "Plan: shape has 1 to 8 extents");
    problem->rank = (int)rank;
    return core_read_numbers(shape, (int)rank, problem->n);
}

int core_read_truncation(PyObject *points, weft_problem *problem) {
    if (!points || points == Py_None) return 0;
    if (PyLong_Check(points) && problem->rank == 1) {
        problem->truncate_to[0] = PyLong_AsLongLong(points);
        return PyErr_Occurred() ? -1 : 0;
    }
    const Py_ssize_t count = PySequence_Size(points);
    if (count < 0) return -1;
    if (count != problem->rank)
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT,
                          "Plan: truncate_to has as many numbers as shape has extents");
    return core_read_numbers(points, problem->rank, problem->truncate_to);
}

int core_read_types(PyObject *types, weft_problem *problem) {
    int choices[WEFT_MAX_RANK];
    if (!types || types == Py_None) return 0;
    const Py_ssize_t count = PyUnicode_Check(types) ? problem->rank : PySequence_Size(types);
    if (count < 0) return -1;
    if (count != problem->rank)
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT,
                          "Plan: types has one name, or as many as shape has extents");
    if (read_names("types", types, count, type_name, choices) < 0) return -1;
    for (Py_ssize_t a = 0; a < count; a++) problem->axis[a] = (weft_axis)choices[a];
    return 0;
}

int core_read_exchanges(PyObject *names, weft_options *options) {
    int choices[WEFT_MAX_RANK];
    if (!names || names == Py_None) return 0;
    const Py_ssize_t count = PyUnicode_Check(names) ? 1 : PySequence_Size(names);
    if (count < 0) return -1;
    if (count > WEFT_MAX_RANK)
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT, "Plan: exchange has up to 8 names");
    if (read_names("exchange", names, count, exchange_name, choices) < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) options->exchange[i] = (weft_exchange)choices[i];
    return 0;
}

int core_read_convolution(const char *mode, const char *method, const char *kernel,
                          PyObject *boundaries, weft_convolution_problem *problem) {
    int choices[WEFT_MAX_RANK] = {(int)problem->mode}, kind = (int)problem->kernel.kind;
    int by = (int)problem->method;
    if (read_choice("mode", mode, mode_name, &choices[0]) < 0 ||
        read_choice("method", method, method_name, &by) < 0 ||
        read_choice("kernel", kernel, kernel_kind_name, &kind) < 0)
        return -1;
    if (by == WEFT_SAMPLES || by == WEFT_MULTILEVEL)
        return core_raise(
            WEFT_ERROR_UNSUPPORTED,
            "Convolution: methods samples and multilevel save messages between processes, and a "
            "convolution of Python has one; use weft convolve or the library in C");
    problem->mode = (weft_convolution_mode)choices[0];
    problem->method = by;
    problem->kernel.kind = (weft_kernel_kind)kind;
    if (!boundaries) return 0;
    const Py_ssize_t count =
        PyUnicode_Check(boundaries) ? problem->rank : PySequence_Size(boundaries);
    if (count < 0) return -1;
    if (count != problem->rank)
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT,
                          "Plan: boundary has one name, or as many as there are axes to convolve");
    if (read_names("boundary", boundaries, count, boundary_name, choices) < 0) return -1;
    for (Py_ssize_t a = 0; a < count; a++) problem->boundary[a] = (weft_boundary)choices[a];
    return 0;
}

/* Reads "cuda:1" and the like: a device, and which one of them. */
static int read_device(const char *text, weft_options *options) {
    char name[32];
    const char *colon = text ? strchr(text, ':') : NULL;
    int device = 0;
    if (colon && colon - text < (ptrdiff_t)sizeof name) {
        char *end;
        const long number = strtol(colon + 1, &end, 10);
        memcpy(name, text, (size_t)(colon - text));
        name[colon - text] = 0;
        if (colon[1] < '0' || colon[1] > '9' || *end || number > 4096)
            return core_raise(WEFT_ERROR_INVALID_ARGUMENT,
                              "Plan: behind the colon of device is the number of a GPU: cuda:1");
        options->device_number = 1 + number;
        text = name;
    }
    if (read_choice("device", text, device_name, &device) < 0) return -1;
    options->device = (weft_device)device;
    return 0;
}

int core_read_choices(const core_choices *given, weft_problem *problem, weft_options *options) {
    int choice[8] = {0};
    if (read_choice("kind", given->kind, kind_name, &choice[0]) < 0 ||
        read_choice("precision", given->precision, precision_name, &choice[1]) < 0 ||
        read_choice("norm", given->norm, norm_name, &choice[2]) < 0 ||
        read_choice("engine", given->engine, engine_name, &choice[3]) < 0 ||
        read_choice("location", given->location, location_name, &choice[4]) < 0 ||
        read_choice("effort", given->effort, effort_name, &choice[5]) < 0 ||
        read_choice("decomposition", given->decomposition, decomposition_name, &choice[6]) < 0 ||
        read_choice("variant", given->variant, variant_name, &choice[7]) < 0 ||
        read_device(given->device, options) < 0)
        return -1;
    problem->kind = (weft_kind)choice[0];
    problem->precision = (weft_precision)choice[1];
    problem->norm = (weft_norm)choice[2];
    options->engine = (weft_engine)choice[3];
    options->location = (weft_location)choice[4];
    options->effort = (weft_effort)choice[5];
    options->decomposition = (weft_decomposition)choice[6];
    options->variant = (weft_variant)choice[7];
    return 0;
}
