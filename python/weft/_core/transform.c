/*
 * Transforms of NumPy arrays with any strides along any axes.
 *
 * The library takes batches of row-major arrays. An array that is laid out like that is handed over
 * as it is; of others, as many members at a time as stay in the second cache are gathered into
 * scratch memory, transformed, and scattered, which also crops, pads, and completes the spectra of
 * real data. Either side goes through scratch memory only if it has to.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH_BYTES = 256 << 10, /* of members in scratch memory, on each side */
    HOLD_POINTS = 2048,        /* up to so many points releasing the GIL costs more than it gives */
    POINTS_PER_THREAD = 8192   /* fewer are not worth another thread */
};

/* One array of a transform. */
typedef struct side {
    char *data;
    size_t item;                     /* bytes of an element */
    int64_t n[WEFT_MAX_RANK];        /* extents along the transformed axes, as the plan sees them */
    int64_t present[WEFT_MAX_RANK];  /* and in the array */
    ptrdiff_t stride[WEFT_MAX_RANK]; /* along the transformed axes */
    ptrdiff_t batch[NPY_MAXDIMS];    /* along the axes of the batch */
    size_t member;                   /* bytes of a row-major member */
    bool direct;                     /* members of a run are as the plan wants them */
} side;

typedef struct work {
    core_transform transform;
    int64_t points;        /* of all members */
    bool single, complete; /* complete: real data, whose whole spectrum is asked for */
    side in, out;
    int batch_rank;
    int64_t batch[NPY_MAXDIMS]; /* extents; the last one is that of a run */
    int64_t members;            /* at a time */
    core_key key;
    char sentence[CORE_SENTENCE];
} work;

static void swap_axes(work *w, int a, int b) {
#define SWAP(type, x, y)                                                                           \
    do {                                                                                           \
        type kept = x;                                                                             \
        x = y;                                                                                     \
        y = kept;                                                                                  \
    } while (0)
    SWAP(int64_t, w->transform.n[a], w->transform.n[b]);
    for (int s = 0; s < 2; s++) {
        side *at = s ? &w->out : &w->in;
        SWAP(int64_t, at->n[a], at->n[b]);
        SWAP(int64_t, at->present[a], at->present[b]);
        SWAP(ptrdiff_t, at->stride[a], at->stride[b]);
    }
}

static int64_t larger_stride(const side *at, int a, int b) {
    return llabs(at->stride[a]) - llabs(at->stride[b]);
}

/* Puts the transformed axes in the order of memory, but for the one that is halved. Complex
 * transforms do not mind the order. */
static void sort_axes(work *w, bool halved) {
    const int count = w->transform.rank - halved;
    for (int a = 1; a < count; a++)
        for (int b = a; b > 0 && larger_stride(&w->out, b, b - 1) > 0; b--) swap_axes(w, b, b - 1);
}

/* Collects the axes of the batch, those with the smallest strides last, merged where that is
 * possible on both sides. */
static void collect_batch(work *w, PyArrayObject *in, PyArrayObject *out, uint64_t transformed) {
    const int rank = PyArray_NDIM(out);
    const npy_intp *n = PyArray_DIMS(out), *from = PyArray_STRIDES(in), *to = PyArray_STRIDES(out);
    w->batch_rank = 0;
    for (int axis = 0; axis < rank; axis++) {
        if (transformed >> axis & 1 || n[axis] == 1) continue;
        int at = w->batch_rank++;
        for (; at > 0 && llabs(w->in.batch[at - 1]) < llabs(from[axis]); at--) {
            w->batch[at] = w->batch[at - 1];
            w->in.batch[at] = w->in.batch[at - 1];
            w->out.batch[at] = w->out.batch[at - 1];
        }
        w->batch[at] = n[axis];
        w->in.batch[at] = from[axis];
        w->out.batch[at] = to[axis];
    }
    int kept = 0;
    for (int a = 1; a < w->batch_rank; a++) {
        const bool merge = w->in.batch[kept] == w->in.batch[a] * w->batch[a] &&
                           w->out.batch[kept] == w->out.batch[a] * w->batch[a];
        const int64_t before = merge ? w->batch[kept] : 1;
        kept += !merge;
        w->batch[kept] = before * w->batch[a];
        w->in.batch[kept] = w->in.batch[a];
        w->out.batch[kept] = w->out.batch[a];
    }
    if (w->batch_rank == 0) {
        w->batch[0] = 1;
        w->in.batch[0] = w->out.batch[0] = 0;
    }
    w->batch_rank = kept + 1;
}

/* Whether a run of members lies in memory as the plan takes it. */
static void look_at(side *at, int rank, int64_t run, ptrdiff_t run_stride) {
    ptrdiff_t packed = (ptrdiff_t)at->item;
    at->direct = true;
    for (int a = rank - 1; a >= 0; a--) {
        if (at->present[a] != at->n[a] || (at->n[a] > 1 && at->stride[a] != packed))
            at->direct = false;
        packed *= at->n[a];
    }
    at->member = (size_t)packed;
    if (run > 1 && run_stride != packed) at->direct = false;
}

static int refuse(const char *what) {
    return core_raise(WEFT_ERROR_INVALID_ARGUMENT, what);
}

static int describe(work *w, PyArrayObject *in, PyArrayObject *out) {
    core_transform *t = &w->transform;
    const int rank = PyArray_NDIM(out);
    const bool complex_in = PyArray_ISCOMPLEX(in), complex_out = PyArray_ISCOMPLEX(out);
    const bool halved = t->kind == WEFT_R2C, inverse = t->direction == WEFT_INVERSE;
    const bool real = t->kind == WEFT_R2R;
    if (PyArray_NDIM(in) != rank || rank > 64)
        return refuse("the arrays of a transform have the same number of axes, 64 at most");
    if (real     ? complex_in || complex_out
        : halved ? complex_in != inverse || complex_out == inverse
                 : !complex_out)
        return refuse(
            "an array of the transform is real and should be complex, or the other way round");
    w->in = (side){.data = PyArray_BYTES(in), .item = (size_t)PyArray_ITEMSIZE(in)};
    w->out = (side){.data = PyArray_BYTES(out), .item = (size_t)PyArray_ITEMSIZE(out)};
    w->single = w->out.item == (complex_out ? 8u : 4u);
    w->complete = !halved && !real && !complex_in;
    if (w->in.item != (size_t)(w->single ? 4 : 8) << complex_in)
        return refuse("the arrays of a transform are of one precision, single or double");

    uint64_t transformed = 0;
    w->points = 1;
    for (int a = 0; a < t->rank; a++) {
        const int axis = t->axis[a];
        const bool is_halved = halved && a == t->rank - 1;
        if (axis < 0 || axis >= rank || transformed >> axis & 1 || t->n[a] < 1)
            return refuse("axes of a transform are axes of the arrays, each at most once, and its "
                          "extents are 1 or more");
        transformed |= (uint64_t)1 << axis;
        w->in.n[a] = is_halved && inverse ? t->n[a] / 2 + 1 : t->n[a];
        w->out.n[a] = is_halved && !inverse ? t->n[a] / 2 + 1 : t->n[a];
        w->in.present[a] = PyArray_DIM(in, axis) < w->in.n[a] ? PyArray_DIM(in, axis) : w->in.n[a];
        w->out.present[a] = PyArray_DIM(out, axis);
        w->in.stride[a] = PyArray_STRIDE(in, axis);
        w->out.stride[a] = PyArray_STRIDE(out, axis);
        if (w->out.present[a] != w->out.n[a])
            return refuse("out has not the shape of the transform's result");
        w->points *= t->n[a];
    }
    for (int axis = 0; axis < rank; axis++) {
        if (transformed >> axis & 1) continue;
        if (PyArray_DIM(in, axis) != PyArray_DIM(out, axis))
            return refuse("out has not the shape of the transform's result");
        w->points *= PyArray_DIM(out, axis);
    }
    if (t->rank > 1) sort_axes(w, halved);
    collect_batch(w, in, out, transformed);
    return 0;
}

/* Settles how many members go at a time, and the plan's key. */
static void choose(work *w) {
    const core_transform *t = &w->transform;
    const int last = w->batch_rank - 1;
    const int64_t run = w->batch[last];
    look_at(&w->in, t->rank, run, w->in.batch[last]);
    look_at(&w->out, t->rank, run, w->out.batch[last]);
    w->members = run;
    if (w->complete) {
        w->out.direct = false;
        w->out.member = 2 * w->in.item;
        for (int a = 0; a < t->rank; a++)
            w->out.member *= (size_t)(a == t->rank - 1 ? t->n[a] / 2 + 1 : t->n[a]);
    }
    if (!w->in.direct || !w->out.direct) {
        const size_t member = w->in.member > w->out.member ? w->in.member : w->out.member;
        int64_t most = (int64_t)(SCRATCH_BYTES / member) * t->threads;
        if (most < 1) most = 1;
        const int64_t parts = (run + most - 1) / most;
        w->members = (run + parts - 1) / parts;
    }
    weft_norm norm = t->norm;
    if (w->complete && t->direction == WEFT_INVERSE) /* the conjugate of a forward transform */
        norm = norm == WEFT_NORM_BACKWARD  ? WEFT_NORM_FORWARD
               : norm == WEFT_NORM_FORWARD ? WEFT_NORM_BACKWARD
                                           : norm;
    int64_t points = w->members, threads = t->threads;
    w->key = (core_key){.kind = w->complete ? WEFT_R2C : t->kind,
                        .precision = w->single ? WEFT_SINGLE : WEFT_DOUBLE,
                        .norm = norm,
                        .rank = t->rank,
                        .type = t->type};
    for (int a = 0; a < t->rank; a++) points *= w->key.n[a] = t->n[a];
    if (threads > points / POINTS_PER_THREAD + 1) threads = points / POINTS_PER_THREAD + 1;
    w->key.threads = threads;
}

static core_element element_of(size_t bytes) {
    return bytes == 4 ? CORE_COPY_4 : bytes == 8 ? CORE_COPY_8 : CORE_COPY_16;
}

/* Copies members between an array and row-major scratch memory. */
static void move(const side *at, int rank, int64_t members, ptrdiff_t run_stride, char *array,
                 char *scratch, bool gather) {
    core_copy copy = {.rank = rank + 1, .n = {members}};
    ptrdiff_t *strided = gather ? copy.from : copy.to, *packed = gather ? copy.to : copy.from;
    ptrdiff_t bytes = (ptrdiff_t)at->item;
    for (int a = rank - 1; a >= 0; a--) {
        copy.n[a + 1] = at->present[a];
        strided[a + 1] = at->stride[a];
        packed[a + 1] = bytes;
        bytes *= at->n[a];
    }
    strided[0] = run_stride;
    packed[0] = bytes;
    core_copy_run(&copy, element_of(at->item), gather ? array : scratch, gather ? scratch : array);
}

static void scatter(const work *w, int64_t members, char *array, char *scratch) {
    const core_transform *t = &w->transform;
    const ptrdiff_t run_stride = w->out.batch[w->batch_rank - 1];
    if (!w->complete) {
        move(&w->out, t->rank, members, run_stride, array, scratch, false);
        return;
    }
    ptrdiff_t to[CORE_MAX_COPY_RANK] = {run_stride};
    memcpy(to + 1, w->out.stride, sizeof w->out.stride);
    core_mirror(t->rank, t->n, members, w->single, t->direction == WEFT_INVERSE, scratch, array,
                to);
}

static weft_status run_part(work *w, weft_plan plan, int64_t members, char *in, char *out,
                            char *scratch_in, char *scratch_out) {
    const core_transform *t = &w->transform;
    if (scratch_in)
        move(&w->in, t->rank, members, w->in.batch[w->batch_rank - 1], in, scratch_in, true);
    weft_status status =
        core_execute(plan, (int)w->key.threads, w->complete ? WEFT_FORWARD : t->direction,
                     scratch_in ? scratch_in : in, scratch_out ? scratch_out : out, w->sentence);
    if (status == WEFT_SUCCESS && scratch_out) scatter(w, members, out, scratch_out);
    return status;
}

/* Runs through all members, `w->members` at a time, the rest of each run with the plan `rest`.
 * Without the GIL. Padding in scratch memory is zero from the start and stays so. */
static weft_status run_all(work *w, weft_plan plan, weft_plan rest) {
    const int last = w->batch_rank - 1;
    const size_t members = (size_t)w->members;
    char *scratch_in = w->in.direct ? NULL : calloc(members, w->in.member);
    char *scratch_out = w->out.direct ? NULL : malloc(members * w->out.member);
    weft_status status = WEFT_SUCCESS;
    if ((!w->in.direct && !scratch_in) || (!w->out.direct && !scratch_out)) {
        status = WEFT_ERROR_OUT_OF_MEMORY;
        strcpy(w->sentence, "there is no memory to gather the members of a transform in");
    }
    char *in = w->in.data, *out = w->out.data;
    int64_t index[NPY_MAXDIMS] = {0};
    for (int a = 0; a >= 0 && status == WEFT_SUCCESS;) {
        for (int64_t first = 0; first < w->batch[last] && status == WEFT_SUCCESS;
             first += w->members) {
            const int64_t left = w->batch[last] - first;
            const bool whole = left >= w->members;
            status = run_part(w, whole ? plan : rest, whole ? w->members : left,
                              in + first * w->in.batch[last], out + first * w->out.batch[last],
                              scratch_in, scratch_out);
        }
        for (a = last - 1; a >= 0; a--) {
            in += w->in.batch[a];
            out += w->out.batch[a];
            if (++index[a] < w->batch[a]) break;
            in -= w->batch[a] * w->in.batch[a];
            out -= w->batch[a] * w->out.batch[a];
            index[a] = 0;
        }
    }
    free(scratch_in);
    free(scratch_out);
    return status;
}

static weft_status run_with_plans(work *w, weft_plan plan, weft_plan rest) {
    weft_status status;
    if (w->batch_rank == 1 && w->in.direct && w->out.direct && w->points <= HOLD_POINTS)
        return core_execute(plan, 1, w->transform.direction, w->in.data, w->out.data, w->sentence);
    Py_BEGIN_ALLOW_THREADS;
    status = run_all(w, plan, rest);
    Py_END_ALLOW_THREADS;
    return status;
}

int core_transform_run(const core_transform *transform, PyArrayObject *in, PyArrayObject *out) {
    work w;
    w.transform = *transform;
    if (describe(&w, in, out) < 0) return -1;
    if (w.points == 0) return 0;
    choose(&w);
    core_key key = w.key;
    key.batch = w.members;
    core_cached *plan = core_cache_take(&key), *rest = NULL;
    if (!plan) return -1;
    key.batch = w.batch[w.batch_rank - 1] % w.members;
    if (key.batch > 0) rest = core_cache_take(&key);
    weft_status status = WEFT_SUCCESS;
    const bool planned = key.batch == 0 || rest;
    if (planned)
        status = run_with_plans(&w, core_cached_plan(plan), rest ? core_cached_plan(rest) : NULL);
    core_cache_give(plan);
    if (rest) core_cache_give(rest);
    if (status != WEFT_SUCCESS) core_raise(status, w.sentence);
    return planned && status == WEFT_SUCCESS ? 0 : -1;
}

/* Reads a tuple of up to WEFT_MAX_RANK whole numbers; returns their count, or -1. */
static int read_numbers(PyObject *tuple, long long *numbers) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0) return -1;
    if (count < 1 || count > WEFT_MAX_RANK)
        return refuse("a transform is along 1 to 8 axes at a time");
    for (Py_ssize_t a = 0; a < count; a++) {
        numbers[a] = PyLong_AsLongLong(PyTuple_GetItem(tuple, a));
        if (numbers[a] == -1 && PyErr_Occurred()) return -1;
    }
    return (int)count;
}

static int check_array(PyArrayObject *array, const char *name) {
    const int type = PyArray_TYPE(array);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_CFLOAT && type != NPY_CDOUBLE) ||
        !PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: arrays of float32, float64, complex64 or complex128 in native byte "
                     "order, aligned",
                     name);
        return -1;
    }
    return 0;
}

PyObject *core_transform_call(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *in, *out, *axes, *extents;
    int kind, inverse, norm, threads, type = 0;
    long long axis[WEFT_MAX_RANK], n[WEFT_MAX_RANK];
    if (!PyArg_ParseTuple(args, "O!O!iiiiOO|i:transform", &PyArray_Type, &in, &PyArray_Type, &out,
                          &kind, &inverse, &norm, &threads, &axes, &extents, &type) ||
        check_array((PyArrayObject *)in, "in") < 0 || check_array((PyArrayObject *)out, "out") < 0)
        return NULL;
    if (PyArray_FailUnlessWriteable((PyArrayObject *)out, "out") < 0) return NULL;
    core_transform transform = {.kind = (weft_kind)kind,
                                .direction = inverse ? WEFT_INVERSE : WEFT_FORWARD,
                                .norm = (weft_norm)norm,
                                .type = (weft_axis)type,
                                .threads = threads < 1 ? 1 : threads,
                                .rank = read_numbers(axes, axis)};
    if (transform.rank < 0) return NULL;
    const int count = read_numbers(extents, n);
    if (count != transform.rank) {
        if (count >= 0) refuse("as many extents as axes");
        return NULL;
    }
    for (int a = 0; a < count; a++) {
        transform.axis[a] = axis[a] < 0 || axis[a] > 64 ? -1 : (int)axis[a];
        transform.n[a] = n[a];
    }
    if (core_transform_run(&transform, (PyArrayObject *)in, (PyArrayObject *)out) < 0) return NULL;
    return Py_NewRef(out);
}
