/* Faults of devices: see faults.h. The library gets each device's operations with a count before
 * them. What is enqueued and fails is not done; waits and messages are, for others take part. */
#include "device/device.h"
#include "device/messages.h"
#include "support/error.h"

#include "mpi/faults_inside.h"

static const weft_device_ops *real;

static weft_status failed(const char *what) {
    return weft_fail(WEFT_ERROR_DEVICE, "%s fails, as the test asks", what);
}

#define HELD fault_held[FAULT_HELD_DEVICE]
/* BEFORE: not done. MAKES: by how much more the library then holds. */
#define BEFORE(name, parameters, arguments, makes)                                                 \
    static weft_status fault_##name parameters {                                                   \
        if (fault_now(FAULT_DEVICE, #name)) return failed(#name);                                  \
        const weft_status status = real->name arguments;                                           \
        if (status == WEFT_SUCCESS) HELD += makes;                                                 \
        return status;                                                                             \
    }
/* AFTER: done all the same. */
#define AFTER(table, name, parameters, arguments)                                                  \
    static weft_status fault_##name parameters {                                                   \
        const bool fails = fault_now(FAULT_DEVICE, #name);                                         \
        const weft_status status = table->name arguments;                                          \
        return fails ? failed(#name) : status;                                                     \
    }
#define GIVES_BACK(name, parameters, arguments)                                                    \
    static void fault_##name parameters {                                                          \
        HELD--;                                                                                    \
        real->name arguments;                                                                      \
    }

BEFORE(open, (const weft_device_settings *settings, weft_device_state **device), (settings, device),
       1)
BEFORE(allocate, (weft_device_state * device, weft_memory_kind kind, size_t bytes, void **memory),
       (device, kind, bytes, memory), bytes > 0)
BEFORE(memory_free, (weft_device_state * device, size_t *bytes), (device, bytes), 0)
BEFORE(memory_export, (weft_device_state * device, void *memory, weft_memory_handle *handle),
       (device, memory, handle), 0)
BEFORE(memory_import,
       (weft_device_state * device, const weft_memory_handle *handle, const void **memory),
       (device, handle, memory), 1)
BEFORE(queue_create, (weft_device_state * device, bool low_priority, weft_queue **queue),
       (device, low_priority, queue), 1)
BEFORE(event_create, (weft_device_state * device, weft_event **event), (device, event), 1)
BEFORE(event_record, (weft_device_state * device, weft_queue *queue, weft_event *event),
       (device, queue, event), 0)
BEFORE(event_await, (weft_device_state * device, weft_queue *queue, weft_event *event),
       (device, queue, event), 0)
BEFORE(copy,
       (weft_device_state * device, weft_queue *queue, const weft_copy *copy, const void *src,
        void *dst, weft_transfer transfer),
       (device, queue, copy, src, dst, transfer), 0)
BEFORE(callback,
       (weft_device_state * device, weft_queue *queue, void (*function)(void *), void *argument),
       (device, queue, function, argument), 0)
BEFORE(run,
       (weft_device_state * device, weft_queue *queue, weft_device_function function,
        void *argument, const void *in, void *out),
       (device, queue, function, argument, in, out), 0)
BEFORE(scale,
       (weft_device_state * device, weft_queue *queue, weft_precision precision, void *data,
        int64_t count, double factor),
       (device, queue, precision, data, count, factor), 0)
BEFORE(operate,
       (weft_device_state * device, weft_queue *queue, const weft_device_operators *operators,
        const void *in, void *out),
       (device, queue, operators, in, out), 0)
BEFORE(graph_begin, (weft_device_state * device), (device), 0)
BEFORE(graph_run, (weft_device_state * device, weft_graph *graph), (device, graph), 0)
BEFORE(kernel_create,
       (weft_device_state * device, const weft_kernel_source *source, weft_kernel **kernel),
       (device, source, kernel), 1)
BEFORE(kernel_launch,
       (weft_device_state * device, weft_queue *queue, weft_kernel *kernel,
        const unsigned groups[3], const weft_kernel_argument *argument, int arguments),
       (device, queue, kernel, groups, argument, arguments), 0)
AFTER(real, queue_wait, (weft_device_state * device, weft_queue *queue), (device, queue))
GIVES_BACK(close, (weft_device_state * device), (device))
GIVES_BACK(memory_close, (weft_device_state * device, const void *memory), (device, memory))
GIVES_BACK(queue_destroy, (weft_device_state * device, weft_queue *queue), (device, queue))
GIVES_BACK(event_destroy, (weft_device_state * device, weft_event *event), (device, event))
GIVES_BACK(graph_destroy, (weft_device_state * device, weft_graph *graph), (device, graph))
GIVES_BACK(kernel_destroy, (weft_device_state * device, weft_kernel *kernel), (device, kernel))

static void fault_free(weft_device_state *device, weft_memory_kind kind, void *memory) {
    if (memory) HELD--;
    real->free(device, kind, memory);
}

static weft_status fault_graph_end(weft_device_state *device, weft_graph **graph) {
    const bool fails = fault_now(FAULT_DEVICE, "graph_end");
    const weft_status status = real->graph_end(device, graph);
    if (status != WEFT_SUCCESS) return status;
    if (fails) real->graph_destroy(device, *graph);
    if (fails) *graph = NULL;
    HELD += !fails;
    return fails ? failed("graph_end") : WEFT_SUCCESS;
}

/* ---- messages ---- */

AFTER(real->messages, invite, (weft_invitation * invitation), (invitation))
AFTER(real->messages, connect, (weft_communicator * communicator), (communicator))
AFTER(real->messages, progress, (weft_communicator * communicator, bool *busy),
      (communicator, busy))
AFTER(real->messages, exchange,
      (weft_communicator * communicator, weft_queue *queue, const weft_device_exchange *messages),
      (communicator, queue, messages))
AFTER(real->messages, locate, (weft_device_place * place), (place))

static weft_status fault_join(weft_device_state *device, const weft_invitation *invitation,
                              int members, int me, weft_communicator **communicator) {
    if (fault_now(FAULT_DEVICE, "join")) return failed("join");
    return real->messages->join(device, invitation, members, me, communicator);
}

/* ---- tables ---- */

static void instead_of(const weft_device_ops *ops, weft_device_ops *faults,
                       weft_device_messages *messages) {
#define REPLACE(name)                                                                              \
    if (ops->name) faults->name = fault_##name;
    *faults = *ops;
    REPLACE(open)
    REPLACE(close)
    REPLACE(allocate)
    REPLACE(free)
    REPLACE(memory_free)
    REPLACE(memory_export)
    REPLACE(memory_import)
    REPLACE(memory_close)
    REPLACE(queue_create)
    REPLACE(queue_destroy)
    REPLACE(queue_wait)
    REPLACE(event_create)
    REPLACE(event_destroy)
    REPLACE(event_record)
    REPLACE(event_await)
    REPLACE(copy)
    REPLACE(callback)
    REPLACE(run)
    REPLACE(scale)
    REPLACE(operate)
    REPLACE(graph_begin)
    REPLACE(graph_end)
    REPLACE(graph_run)
    REPLACE(graph_destroy)
    REPLACE(kernel_create)
    REPLACE(kernel_destroy)
    REPLACE(kernel_launch)
    if (!ops->messages) return;
    *messages = *ops->messages;
    messages->locate = fault_locate;
    messages->invite = fault_invite;
    messages->join = fault_join;
    messages->connect = fault_connect;
    messages->progress = fault_progress;
    messages->exchange = fault_exchange;
    faults->messages = messages;
}

/* The host's work is this process's own, so that only what allocates can fail there: that is
 * memory's affair. */
const weft_device_ops *__real_weft_device_find(weft_device id);
const weft_device_ops *__wrap_weft_device_find(weft_device id) {
    static weft_device_ops faults;
    static weft_device_messages messages;
    const weft_device_ops *ops = __real_weft_device_find(id);
    if (!ops || id == WEFT_HOST) return ops;
    if (ops != real) {
        real = ops;
        instead_of(ops, &faults, &messages);
    }
    return &faults;
}
