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

/* A transform, and the bytes that its arrays have. */
typedef struct gpu_transform {
    PyObject_HEAD core_key key;
    unsigned long long in_bytes, out_bytes;
    int inverse;
} gpu_transform;

static PyObject *gpu_transform_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    int number, kind, inverse, norm, single, real_to_real, before, after, storage;
    unsigned long long in_bytes, out_bytes;
    long long batch;
    PyObject *n;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "iKKipipLOiiii:GpuTransform", &number, &in_bytes, &out_bytes, &kind,
                          &inverse, &norm, &single, &batch, &n, &real_to_real, &before, &after,
                          &storage))
        return NULL;
    if (number < 0) {
        core_raise(WEFT_ERROR_INVALID_ARGUMENT, "the number of a GPU is 0 or more");
        return NULL;
    }
    gpu_transform *made = (gpu_transform *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!made) return NULL;
    made->key = (core_key){.kind = kind,
                           .precision = single ? WEFT_SINGLE : WEFT_DOUBLE,
                           .norm = norm,
                           .threads = 1,
                           .batch = batch,
                           .type = real_to_real,
                           .before = before,
                           .after = after,
                           .storage = storage,
                           .number = (int64_t)number + 1,
                           .engine = engine_for((weft_kind)kind, inverse),
                           .direction = 1 + (inverse ? WEFT_INVERSE : WEFT_FORWARD)};
    made->in_bytes = in_bytes;
    made->out_bytes = out_bytes;
    made->inverse = inverse;
    if (read_extents(n, &made->key) == 0) return (PyObject *)made;
    Py_DECREF(made);
    return NULL;
}

static void gpu_transform_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static core_cached *take_plan(const gpu_transform *t, bool in_place) {
    core_key key = t->key;
    key.placement = in_place ? WEFT_IN_PLACE : WEFT_OUT_OF_PLACE;
    core_cached *plan = core_cache_take(&key);
    if (!plan) return NULL;
    if (t->in_bytes >= core_cached_bytes(plan, t->inverse ? WEFT_OUTPUT : WEFT_INPUT) &&
        t->out_bytes >= core_cached_bytes(plan, t->inverse ? WEFT_INPUT : WEFT_OUTPUT))
        return plan;
    core_cache_give(plan);
    core_raise(WEFT_ERROR_INVALID_ARGUMENT, "an array on a GPU is smaller than the plan wants");
    return NULL;
}

static PyObject *gpu_transform_enqueue(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    const gpu_transform *t = (const gpu_transform *)object;
    void *address[3]; /* of the input, the output and the stream */
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "enqueue takes two addresses and a stream");
        return NULL;
    }
    for (int i = 0; i < 3; i++) {
        address[i] = PyLong_AsVoidPtr(args[i]);
        if (!address[i] && PyErr_Occurred()) return NULL;
    }
    core_cached *plan = take_plan(t, address[0] == address[1]);
    if (!plan) return NULL;
    char sentence[CORE_SENTENCE] = "";
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = weft_enqueue(core_cached_plan(plan), t->inverse ? WEFT_INVERSE : WEFT_FORWARD,
                          address[0], address[1], address[2]);
    if (status != WEFT_SUCCESS) strncpy(sentence, weft_last_error(NULL), sizeof sentence - 1);
    Py_END_ALLOW_THREADS;
    core_cache_give(plan);
    if (status == WEFT_SUCCESS) Py_RETURN_NONE;
    core_raise(status, sentence);
    return NULL;
}

static PyMethodDef methods[] = {
    {"enqueue", (PyCFunction)(void (*)(void))gpu_transform_enqueue, METH_FASTCALL,
     "enqueue($self, in, out, stream, /)\n--\n\n"
     "Transforms the array at one address to another in the order of a stream, without waiting."},
    {0}};

static const char documented[] =
    "GpuTransform(number, in_bytes, out_bytes, kind, inverse, norm, single, batch, n, type, "
    "before, after, storage, /)\n--\n\n"
    "A transform of `batch` contiguous arrays of extents n on GPU `number`. Each call takes a plan "
    "of the cache.";

int core_gpu_transform_add(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_new, (void *)gpu_transform_new},
                                  {Py_tp_dealloc, (void *)gpu_transform_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_doc, (void *)documented},
                                  {0}};
    static PyType_Spec spec = {.name = "weft._core.GpuTransform",
                               .basicsize = sizeof(gpu_transform),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    return core_add_type(module, &spec);
}
