/*
 * weft._core.DistributedPlan: a plan over the ranks of a context that weft._mpi made.
 *
 * The object is made first, by each rank alone, so that ranks can tell each other of mistakes in
 * its arguments, and creates its plan then. Creating, executing and destroying one are collective,
 * so nothing of it is left to the garbage collector, which runs when it likes on each rank:
 * weft.distributed destroys plans and contexts when all ranks have let go of them. A plan that is
 * not destroyed stays until the process ends.
 */
#include "core.h"

typedef struct distributed_plan {
    PyObject_HEAD weft_problem problem;
    weft_options options;
    weft_brick input, output;
    weft_plan plan;          /* NULL before it is created and once it is destroyed */
    PyThread_type_lock busy; /* held while the plan is executed */
} distributed_plan;

#define CAPSULE "weft_context"

/* Reads (lo, n, order). */
static int read_brick(PyObject *given, int rank, weft_brick *brick) {
    PyObject *part[3] = {0};
    int64_t order[WEFT_MAX_RANK];
    int done = -1;
    for (int i = 0; i < 3; i++)
        if (!(part[i] = PySequence_GetItem(given, i))) goto release;
    if (core_read_numbers(part[0], rank, brick->box.lo) < 0 ||
        core_read_numbers(part[1], rank, brick->box.n) < 0 ||
        core_read_numbers(part[2], rank, order) < 0)
        goto release;
    for (int a = 0; a < rank; a++) brick->order[a] = (int)order[a];
    done = 0;
release:
    for (int i = 0; i < 3; i++) Py_XDECREF(part[i]);
    return done;
}

static int read_plan(distributed_plan *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"shape",         "input",   "output",      "kind",   "types",
                            "precision",     "norm",    "batch",       "engine", "device",
                            "location",      "threads", "effort",      "chunks", "exchange",
                            "decomposition", "variant", "truncate_to", NULL};
    PyObject *shape, *input, *output, *types = NULL, *exchange = NULL, *points = NULL;
    weft_problem *problem = &self->problem;
    weft_options *options = &self->options;
    core_choices given = {0};
    long long batch = 1;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OOO|$sOssLsssisiOssO:DistributedPlan", names, &shape, &input, &output,
            &given.kind, &types, &given.precision, &given.norm, &batch, &given.engine,
            &given.device, &given.location, &options->threads, &given.effort, &options->chunks,
            &exchange, &given.decomposition, &given.variant, &points) ||
        core_read_shape(shape, problem) < 0 || core_read_types(types, problem) < 0 ||
        core_read_truncation(points, problem) < 0 ||
        core_read_choices(&given, problem, options) < 0 ||
        core_read_exchanges(exchange, options) < 0 ||
        read_brick(input, problem->rank, &self->input) < 0 ||
        read_brick(output, problem->rank, &self->output) < 0)
        return -1;
    options->placement = WEFT_OUT_OF_PLACE;
    problem->batch = batch;
    problem->input = &self->input;
    problem->output = &self->output;
    return 0;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    distributed_plan *self = (distributed_plan *)allocate(type, 0);
    if (!self) return NULL;
    self->options.threads = 1;
    if (read_plan(self, args, keywords) < 0)
        Py_CLEAR(self);
    else if (!(self->busy = PyThread_allocate_lock())) {
        Py_CLEAR(self);
        PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static PyObject *plan_create(PyObject *object, PyObject *capsule) {
    distributed_plan *self = (distributed_plan *)object;
    weft_context context = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!context) return NULL;
    if (self->plan) {
        core_raise(WEFT_ERROR_INVALID_ARGUMENT, "the plan has been created");
        return NULL;
    }
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = weft_plan_create(context, &self->problem, &self->options, &self->plan);
    Py_END_ALLOW_THREADS;
    if (status == WEFT_SUCCESS) Py_RETURN_NONE;
    core_raise(status, NULL);
    return NULL;
}

static void plan_dealloc(PyObject *object) {
    distributed_plan *self = (distributed_plan *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->busy) PyThread_free_lock(self->busy);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static weft_plan plan_of(PyObject *object) {
    weft_plan plan = ((distributed_plan *)object)->plan;
    if (!plan) core_raise(WEFT_ERROR_INVALID_ARGUMENT, "the plan is not there, or no longer");
    return plan;
}

static PyObject *plan_destroy(PyObject *object, PyObject *none) {
    (void)none;
    distributed_plan *self = (distributed_plan *)object;
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(self->busy, WAIT_LOCK);
    weft_plan_destroy(&self->plan);
    PyThread_release_lock(self->busy);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *plan_execute(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    distributed_plan *self = (distributed_plan *)object;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "execute(direction, in, out) takes 3 arguments");
        return NULL;
    }
    weft_direction direction;
    if (core_read_direction(args[0], &direction) < 0) return NULL;
    const void *in = PyLong_AsVoidPtr(args[1]);
    void *out = PyErr_Occurred() ? NULL : PyLong_AsVoidPtr(args[2]);
    if (PyErr_Occurred()) return NULL;
    weft_status status = WEFT_SUCCESS;
    char sentence[CORE_SENTENCE] = "";
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(self->busy, WAIT_LOCK);
    if (self->plan) status = core_execute(self->plan, 1, direction, in, out, sentence);
    PyThread_release_lock(self->busy);
    Py_END_ALLOW_THREADS;
    if (status != WEFT_SUCCESS) core_raise(status, sentence);
    if (status != WEFT_SUCCESS || !plan_of(object)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *plan_explain(PyObject *object, PyObject *none) {
    (void)none;
    weft_plan plan = plan_of(object);
    return plan ? core_explain(plan) : NULL;
}

static PyObject *get_bytes(PyObject *object, void *space) {
    weft_plan plan = plan_of(object);
    size_t bytes;
    if (!plan) return NULL;
    const weft_status status = weft_plan_bytes(plan, space ? WEFT_OUTPUT : WEFT_INPUT, &bytes);
    if (status == WEFT_SUCCESS) return PyLong_FromSize_t(bytes);
    core_raise(status, NULL);
    return NULL;
}

static PyObject *get_memory(PyObject *object, void *closure) {
    (void)closure;
    weft_plan plan = plan_of(object);
    return plan ? core_memory(plan) : NULL;
}

static PyGetSetDef properties[] = {
    {"input_bytes", get_bytes, NULL, "Bytes of this rank's input.", NULL},
    {"output_bytes", get_bytes, NULL, "Bytes of this rank's output.", "output"},
    {"memory", get_memory, NULL, "Bytes that the plan holds on this rank.", NULL},
    {0}};

static PyMethodDef methods[] = {
    {"create", plan_create, METH_O,
     "create($self, context, /)\n--\n\nPlans over the ranks of a context of weft._mpi. "
     "Collective."},
    {"execute", (PyCFunction)(void (*)(void))plan_execute, METH_FASTCALL,
     "execute($self, direction, in, out, /)\n--\n\n"
     "Transforms from one address to another; 'forward' or 'inverse'. Collective."},
    {"explain", plan_explain, METH_NOARGS,
     "explain($self, /)\n--\n\nWhat the plan does on this rank, step by step, and why."},
    {"destroy", plan_destroy, METH_NOARGS, "destroy($self, /)\n--\n\nCollective."},
    {0}};

int core_distributed_plan_add(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_new, (void *)plan_new},
                                  {Py_tp_dealloc, (void *)plan_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, properties},
                                  {0}};
    static PyType_Spec spec = {.name = "weft._core.DistributedPlan",
                               .basicsize = sizeof(distributed_plan),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    return core_add_type(module, &spec);
}

PyObject *core_destroy_context(PyObject *module, PyObject *capsule) {
    (void)module;
    weft_context context = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!context || PyCapsule_SetName(capsule, "destroyed") < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    weft_context_destroy(&context);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

PyObject *core_raise_status(PyObject *module, PyObject *failure) {
    (void)module;
    int status;
    const char *sentence;
    if (PyArg_ParseTuple(failure, "is:raise_status", &status, &sentence))
        core_raise((weft_status)status, sentence);
    return NULL;
}
