/*
 * The library's context of this process, and executions.
 *
 * A child of a fork gets a context and plans of its own, since those of the parent may hold threads
 * and devices that the child has not.
 */
#include "core.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_context context;
static uint64_t generation;
static atomic_bool threads_were_used; /* by an execution of this process */
static bool parent_used_threads;

weft_context core_context(void) {
    pthread_mutex_lock(&lock);
    weft_status status = context ? WEFT_SUCCESS : weft_context_create(NULL, &context);
    weft_context made = status == WEFT_SUCCESS ? context : NULL;
    pthread_mutex_unlock(&lock);
    if (!made) core_raise(status, NULL);
    return made;
}

uint64_t core_generation(void) {
    return generation;
}

/* What a child does after a fork, called by Python. */
static PyObject *after_fork(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    pthread_mutex_init(&lock, NULL);
    context = NULL;
    generation++;
    parent_used_threads |= atomic_load(&threads_were_used);
    core_cache_abandon();
    Py_RETURN_NONE;
}

int core_context_start(void) {
    static PyMethodDef method = {"after_fork", after_fork, METH_NOARGS, NULL};
    PyObject *os = PyImport_ImportModule("os");
    PyObject *enlist = os ? PyObject_GetAttrString(os, "register_at_fork") : NULL;
    PyObject *handler = enlist ? PyCFunction_New(&method, NULL) : NULL;
    PyObject *names = handler ? Py_BuildValue("{s:O}", "after_in_child", handler) : NULL;
    PyObject *nothing = names ? PyTuple_New(0) : NULL;
    PyObject *done = nothing ? PyObject_Call(enlist, nothing, names) : NULL;
    Py_XDECREF(os), Py_XDECREF(enlist), Py_XDECREF(handler), Py_XDECREF(names);
    Py_XDECREF(nothing), Py_XDECREF(done);
    return done ? 0 : -1;
}

/* Some work of the library's on a thread. */
typedef struct task {
    core_work work;
    void *argument;
    char *sentence;
    weft_status status;
} task;

static void *run(void *argument) {
    task *t = argument;
    t->status = t->work(t->argument);
    if (t->status != WEFT_SUCCESS) {
        strncpy(t->sentence, weft_last_error(NULL), CORE_SENTENCE - 1);
        t->sentence[CORE_SENTENCE - 1] = 0;
    }
    return NULL;
}

weft_status core_run(int threads, core_work work, void *argument, char *sentence) {
    task t = {work, argument, sentence, WEFT_SUCCESS};
    if (threads > 1) {
        atomic_store_explicit(&threads_were_used, true, memory_order_relaxed);
        /* GCC's OpenMP waits for ever for a team that the thread which forked once had and the
         * child has not. A new thread has no team yet. */
        pthread_t fresh;
        if (parent_used_threads && pthread_create(&fresh, NULL, run, &t) == 0) {
            pthread_join(fresh, NULL);
            return t.status;
        }
    }
    run(&t);
    return t.status;
}

typedef struct execution {
    weft_plan plan;
    weft_direction direction;
    const void *in;
    void *out;
} execution;

static weft_status execute(void *argument) {
    const execution *e = argument;
    return weft_execute(e->plan, e->direction, e->in, e->out);
}

weft_status core_execute(weft_plan plan, int threads, weft_direction direction, const void *in,
                         void *out, char *sentence) {
    execution e = {plan, direction, in, out};
    return core_run(threads, execute, &e, sentence);
}
