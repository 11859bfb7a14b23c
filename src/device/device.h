/*
 * Devices: memory, copies, queues, events, callbacks, and running a function where the data is. A
 * device knows nothing of FFTs or MPI. Each back end is one folder with one `const
 * weft_device_ops`, named in devices.def.
 *
 * A queue runs what is put on it in order, and possibly later; different queues are unordered but
 * for events. Functions that enqueue do not wait for the work, but may wait for room on the queue,
 * and allocate nothing; failures of enqueued work are reported by the next wait on its queue, after
 * which the queue works again.
 */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include "layout/layout.h"

typedef struct weft_device_state
    weft_device_state; /* one for each plan; each back end defines its own */
typedef struct weft_queue weft_queue;
typedef struct weft_event weft_event;
typedef struct weft_graph
    weft_graph; /* never defined: what its address stands for is the device's */
typedef struct weft_device_messages weft_device_messages; /* device/messages.h */

typedef enum weft_memory_kind {
    WEFT_MEMORY_DEVICE,     /* where the device computes */
    WEFT_MEMORY_PAGE_LOCKED /* host memory that the device copies to and from asynchronously */
} weft_memory_kind;

typedef enum weft_transfer { /* which side of a copy is host memory */
                             WEFT_DEVICE_TO_DEVICE,
                             WEFT_DEVICE_TO_HOST,
                             WEFT_HOST_TO_DEVICE
} weft_transfer;

/* Runs where the device computes, with addresses it can dereference. Must not call the device or
 * MPI. */
typedef weft_status (*weft_device_function)(void *argument, const void *in, void *out);

/* Tells another process of the node how to find device memory: each back end's own content. */
typedef struct weft_memory_handle {
    _Alignas(int64_t) unsigned char content[128];
} weft_memory_handle;

/*
 * Kernels: source text in the dialect of src/kernels/dialect.h, compiled by the device when it is
 * created. The device puts the dialect, and what it defines by `threads` and `precision`, before
 * the text.
 */
typedef struct weft_kernel weft_kernel;

typedef struct weft_kernel_source {
    const char *name;        /* of the kernel function in the text */
    const char *const *text; /* [texts], concatenated */
    int texts;
    unsigned threads;         /* of a group, in one dimension */
    unsigned resident;        /* groups that find registers at the same time, if the device can be
                                 told so; 0: one */
    size_t local_bytes;       /* of LOCAL_MEMORY; what the text declares itself comes on top */
    weft_precision precision; /* what `real` is */
    /* Bytes of all parameters, WEFT_KERNEL_MEMORY for each MEMORY, and of those of them that are a
     * VALUE: a device that takes fewer parameters keeps room for these in memory. 0: they are few.
     */
    size_t parameter_bytes, value_bytes;
} weft_kernel_source;

enum {
    WEFT_KERNEL_VALUES = 8, /* parameters VALUE of a kernel, at most */
    WEFT_KERNEL_MEMORY = 16 /* bytes of one that is a MEMORY: an address and an offset */
};

typedef struct weft_kernel_argument {
    const void *memory; /* a device address, for a parameter MEMORY; anywhere in an allocation */
    const void *value;  /* not NULL: a parameter of `bytes` bytes, read during the call, instead */
    size_t bytes;
    bool is_value; /* the parameter is a VALUE, which the device may put in memory */
} weft_kernel_argument;

typedef struct weft_kernel_limits {
    unsigned threads;   /* the most of a group */
    unsigned width;     /* threads that run in step, or lanes of a vector; a power of two */
    unsigned units;     /* groups that run at the same time at least: multiprocessors or cores */
    size_t local_bytes; /* the most of a group */
    bool has_double;
    bool is_cpu; /* local memory is no faster than the rest, and threads of a group take turns */
} weft_kernel_limits;

typedef struct weft_device_settings {
    int threads;         /* threads that a copy or scale may use */
    size_t memory_limit; /* device bytes; 0: no limit */
} weft_device_settings;

typedef struct weft_device_ops {
    const char *name;
    weft_device id;
    bool host_addressable; /* the CPU may dereference device memory: no staging, no copies in or out
                            */
    bool can_fail; /* execution can fail on one rank alone: ranks agree after each execution */
    bool transport_aware; /* there are transports that may be given device addresses */

    weft_status (*probe)(const char **description);
    weft_status (*open)(const weft_device_settings *settings, weft_device_state **device);
    void (*close)(weft_device_state *device);

    weft_status (*allocate)(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                            void **memory);
    void (*free)(weft_device_state *device, weft_memory_kind kind, void *memory);

    /* Device memory (a whole allocation) that other processes of the node copy from: `lend` makes
     * the loan, `borrow` an address, which is the source of copies until `give_back`. The memory is
     * freed after all have given it back. NULL where that cannot be, or need not: memory that the
     * CPU can address is shared by the transport. */
    weft_status (*memory_export)(weft_device_state *device, void *memory,
                                 weft_memory_handle *handle);
    weft_status (*memory_import)(weft_device_state *device, const weft_memory_handle *handle,
                                 const void **memory);
    void (*memory_close)(weft_device_state *device, const void *memory);

    /* Kernels of these queues go before those of the default queue, and those of a low_priority
     * queue after all others, where the device can tell: what travels is waited for most. */
    weft_status (*queue_create)(weft_device_state *device, bool low_priority, weft_queue **queue);
    void (*queue_destroy)(weft_device_state *device, weft_queue *queue);
    weft_status (*queue_wait)(weft_device_state *device, weft_queue *queue);

    /* What is put on the default queue from now on begins after the work that this process has put
     * so far where work goes that names no queue of its own (CUDA: the legacy default stream). NULL
     * where there is no such place. */
    weft_status (*await_caller)(weft_device_state *device);

    weft_status (*event_create)(weft_device_state *device, weft_event **event);
    void (*event_destroy)(weft_device_state *device, weft_event *event);
    weft_status (*event_record)(weft_device_state *device, weft_queue *queue, weft_event *event);
    weft_status (*event_await)(weft_device_state *device, weft_queue *queue, weft_event *event);
    /* Whether what the event stands for is done; also where it failed. */
    bool (*event_done)(weft_device_state *device, weft_event *event);

    /* The one strided copy: base addresses and a prepared copy. */
    weft_status (*copy)(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                        const void *src, void *dst, weft_transfer transfer);

    /* Makes, for the queues that there are, what strided copies between host and device memory take
     * on their way, as far as there is memory; without it they make it when first enqueued. NULL
     * where they need nothing. */
    void (*prepare_transfers)(weft_device_state *device);

    /* Calls function(argument) on a host thread once everything before it on the queue is done,
     * also when some of that failed. It must not call the device, and waits for nothing that others
     * do after they called the device. Where all is done already, OpenCL
     * may call it on this very thread before returning, so hold no lock that it takes. */
    weft_status (*callback)(weft_device_state *device, weft_queue *queue, void (*function)(void *),
                            void *argument);

    /* Enqueues function(argument, in, out); NULL where the device cannot run host code. */
    weft_status (*run)(weft_device_state *device, weft_queue *queue, weft_device_function function,
                       void *argument, const void *in, void *out);

    /* Enqueues: multiply `count` real values of the given precision at `data` by `factor`. */
    weft_status (*scale)(weft_device_state *device, weft_queue *queue, weft_precision precision,
                         void *data, int64_t count, double factor);

    /* Work that is enqueued again and again, at the price of one launch. What this thread puts on
     * the default queue between `begin` and `end` is kept, not done: kernels, and copies within
     * device memory; there must be no wait. Where something of it cannot be kept, or failed, `end`
     * fails, and the queue works as before. `run` enqueues all of it on the default queue. All four
     * NULL where a device has none. */
    weft_status (*graph_begin)(weft_device_state *device);
    weft_status (*graph_end)(weft_device_state *device, weft_graph **graph);
    weft_status (*graph_run)(weft_device_state *device, weft_graph *graph);
    void (*graph_destroy)(weft_device_state *device, weft_graph *graph);

    /* Messages between devices of several processes; NULL: they go through the transport only. */
    const weft_device_messages *messages;

    /* Kernels; all three NULL where a device has none. Whoever creates the same kernel again gets
     * the compiled one, also from an earlier process where the cache folder keeps it. A text that
     * does not compile fails with the compiler's message. Launches enqueue groups[0] * groups[1] *
     * groups[2] groups; arguments are in the order of the parameters, without LOCAL_MEMORY. A
     * kernel must not be destroyed while it is enqueued. */
    weft_status (*kernel_limits)(weft_device_state *device, weft_kernel_limits *limits);
    weft_status (*kernel_create)(weft_device_state *device, const weft_kernel_source *source,
                                 weft_kernel **kernel);
    void (*kernel_destroy)(weft_device_state *device, weft_kernel *kernel);
    weft_status (*kernel_launch)(weft_device_state *device, weft_queue *queue, weft_kernel *kernel,
                                 const unsigned groups[3], const weft_kernel_argument *argument,
                                 int arguments);
} weft_device_ops;

typedef struct weft_device_handle {
    const weft_device_ops *ops;
    weft_device_state *state;
} weft_device_handle;

/* The device's ops, or NULL where this build has none. */
const weft_device_ops *weft_device_find(weft_device id);

/* The strided copy of host memory with up to `threads` threads: what host-addressable devices run.
 */
void weft_copy_run(const weft_copy *copy, const void *src, void *dst, int threads);
void weft_scale_run(weft_precision precision, void *data, int64_t count, double factor,
                    int threads);

#endif
