/*
 * Transforms of arrays on GPUs: by plans of the cache, put into the order of the caller's stream.
 *
 * A plan is given back as soon as its work is enqueued: the library runs the executions of a plan
 * one after the other, whatever their streams.
 */
#include "core.h"

#include <string.h>

/* Of the inverse of WEFT_R2C, cuFFT's result is undefined where what it is given is not the
 * spectrum of real data; NumPy's is not, nor that of the engine jit. */
static weft_engine engine_for(weft_kind kind, bool inverse) {
    return kind == WEFT_R2C && inverse ? WEFT_ENGINE_JIT : WEFT_ENGINE_AUTO;
}

static int read_extents(PyObject *n, core_key *key) {
    const Py_ssize_t rank = PyTuple_Size(n);
    if (rank < 0) return -1;
    if (rank < 1 || rank > WEFT_MAX_RANK)
        return core_raise(WEFT_ERROR_INVALID_ARGUMENT,
                          "a transform is along 1 to 8 axes at a time");
    key->rank = rank;
    for (Py_ssize_t a = 0; a < rank; a++) {
        key->n[a] = PyLong_AsLongLong(PyTuple_GetItem(n, a));
        if (key->n[a] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

PyObject *core_enqueue(PyObject *module, PyObject *args) {
    (void)module;
    int number, kind, inverse, norm, single, type, before, after;
    unsigned long long stream, in, out, in_bytes, out_bytes;
    long long batch;
    PyObject *n;
    if (!PyArg_ParseTuple(args, "iK(KK)(KK)ipipLOiii:enqueue", &number, &stream, &in, &in_bytes,
                          &out, &out_bytes, &kind, &inverse, &norm, &single, &batch, &n, &type,
                          &before, &after))
        return NULL;
    core_key key = {.kind = kind,
                    .precision = single ? WEFT_SINGLE : WEFT_DOUBLE,
                    .norm = norm,
                    .threads = 1,
                    .batch = batch,
                    .type = type,
                    .before = before,
                    .after = after,
                    .number = (int64_t)number + 1,
                    .engine = engine_for((weft_kind)kind, inverse)};
    if (number < 0) {
        core_raise(WEFT_ERROR_INVALID_ARGUMENT, "the number of a GPU is 0 or more");
        return NULL;
    }
    if (read_extents(n, &key) < 0) return NULL;
    core_cached *plan = core_cache_take(&key);
    if (!plan) return NULL;
    if (in_bytes < core_cached_bytes(plan, inverse ? WEFT_OUTPUT : WEFT_INPUT) ||
        out_bytes < core_cached_bytes(plan, inverse ? WEFT_INPUT : WEFT_OUTPUT)) {
        core_cache_give(plan);
        core_raise(WEFT_ERROR_INVALID_ARGUMENT, "an array on a GPU is smaller than the plan wants");
        return NULL;
    }
    char sentence[CORE_SENTENCE] = "";
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = weft_enqueue(core_cached_plan(plan), inverse ? WEFT_INVERSE : WEFT_FORWARD,
                          (const void *)(uintptr_t)in, (void *)(uintptr_t)out,
                          (void *)(uintptr_t)stream);
    if (status != WEFT_SUCCESS) strncpy(sentence, weft_last_error(NULL), sizeof sentence - 1);
    Py_END_ALLOW_THREADS;
    core_cache_give(plan);
    if (status == WEFT_SUCCESS) Py_RETURN_NONE;
    core_raise(status, sentence);
    return NULL;
}
