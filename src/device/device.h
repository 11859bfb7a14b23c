/*
 * Devices: memory, copies, queues, events, callbacks, and running a function where the data is. A
 * device knows nothing of FFTs or MPI. Each back end is one folder with one `const
 * weft_device_ops`, named in devices.def.
 *
 * A queue runs the work that is put on it in order, possibly later. Different queues are unordered
 * except where events order them. Functions that enqueue do not wait for the work, but may wait for
 * room on the queue, and allocate nothing. Failures of enqueued work are reported by the next wait
 * on its queue, after which the queue works again.
 */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include "device/operators.h"
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

typedef enum weft_transfer { /* which sides of a copy are host memory */
                             WEFT_DEVICE_TO_DEVICE,
                             WEFT_DEVICE_TO_HOST,
                             WEFT_HOST_TO_DEVICE,
                             WEFT_HOST_TO_HOST /* the calling thread's; devices never get it */
} weft_transfer;

/* A function that runs where the device computes, with addresses that it can dereference. It must
 * not call the device or MPI. */
typedef weft_status (*weft_device_function)(void *argument, const void *in, void *out);

/* Identifies device memory to another process of the node; the content is each back end's own. */
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
    unsigned cluster;         /* neighbouring groups that reach each other's local memory, which
                                 divide those that are launched; 0: 1 */
    unsigned resident;        /* groups that find registers at the same time, if the device can be
                                 told so; 0: one */
    size_t local_bytes;       /* of LOCAL_MEMORY; what the text declares itself comes on top */
    weft_precision precision; /* what `real` is */
    /* Bytes of all parameters (WEFT_KERNEL_MEMORY for each MEMORY), and of the VALUE parameters
     * among them. A device that cannot pass so many bytes keeps the VALUE parameters in memory. 0:
     * they are few enough for any device. */
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
    unsigned cluster;   /* groups of a cluster, at most; 1: there are none */
    unsigned units;     /* groups that run at the same time at least: multiprocessors or cores */
    size_t local_bytes; /* the most of a group */
    bool has_double;
    bool is_cpu; /* local memory is no faster than the rest, and threads of a group take turns */
} weft_kernel_limits;

typedef struct weft_device_settings {
    int threads;         /* threads that a copy or scale may use */
    size_t memory_limit; /* device bytes; 0: no limit */
    int number;          /* weft_options.device_number */
} weft_device_settings;

typedef struct weft_device_ops {
    const char *name;
    weft_device id;
    bool host_addressable; /* the CPU may dereference device memory: no staging, no copies in or out
                            */
    bool can_fail; /* execution can fail on one rank alone: ranks agree after each execution */
    bool transport_aware;   /* there are transports that may be given device addresses */
    bool reads_page_locked; /* what it computes with may lie in page-locked memory, which it then
                               reads across the link */

    weft_status (*probe)(const char **description);
    weft_status (*open)(const weft_device_settings *settings, weft_device_state **device);
    void (*close)(weft_device_state *device);
    /* weft_options.device_number of the device that was opened. NULL where it is always 0. */
    int (*number)(const weft_device_state *device);

    weft_status (*allocate)(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                            void **memory);
    void (*free)(weft_device_state *device, weft_memory_kind kind, void *memory);

    /* Bytes of device memory that can still be allocated, by anybody; SIZE_MAX: there is no limit.
     * NULL where nothing tells (OpenCL says only how much there is in all), and on devices that are
     * the host. */
    weft_status (*memory_free)(weft_device_state *device, size_t *bytes);

    /* Page-locks host memory of the caller's, so that it is copied as fast as memory that allocate
     * gives; host_unlock ends that, once no copy touches it. It takes longer than copying the
     * memory once. False: it cannot be locked, or is already, and is copied as it is. NULL where
     * that makes no difference. */
    bool (*host_lock)(weft_device_state *device, void *memory, size_t bytes);
    void (*host_unlock)(weft_device_state *device, void *memory);

    /* Sharing device memory (a whole allocation) with other processes of the node. memory_export
     * makes a handle. memory_import makes an address from it in another process, valid as the
     * source of copies until memory_close. The memory may be freed only after every importer has
     * closed it. NULL where the device cannot do this or need not, since the transport shares
     * memory that the CPU can address. */
    weft_status (*memory_export)(weft_device_state *device, void *memory,
                                 weft_memory_handle *handle);
    weft_status (*memory_import)(weft_device_state *device, const weft_memory_handle *handle,
                                 const void **memory);
    void (*memory_close)(weft_device_state *device, const void *memory);

    /* Makes a queue whose kernels run before those of the default queue or, with low_priority,
     * after those of all other queues, where the device has priorities. Communication comes first
     * because other ranks wait for it. */
    weft_status (*queue_create)(weft_device_state *device, bool low_priority, weft_queue **queue);
    void (*queue_destroy)(weft_device_state *device, weft_queue *queue);
    weft_status (*queue_wait)(weft_device_state *device, weft_queue *queue);

    /* Makes later work on the default queue wait for the work that this process has enqueued so far
     * on the device API's own default queue (CUDA: the legacy default stream). NULL where there is
     * none. */
    weft_status (*await_caller)(weft_device_state *device);

    /* Between these two, work that is given to the default queue goes to a queue of the device API
     * instead (CUDA: a stream; NULL: the legacy default stream), behind all that the default queue
     * was given before. What it is given afterwards, and a wait for it, come behind that work. NULL
     * where await_caller is. A failure of join_caller changes nothing. */
    weft_status (*join_caller)(weft_device_state *device, void *stream);
    weft_status (*part_from_caller)(weft_device_state *device);

    weft_status (*event_create)(weft_device_state *device, weft_event **event);
    void (*event_destroy)(weft_device_state *device, weft_event *event);
    weft_status (*event_record)(weft_device_state *device, weft_queue *queue, weft_event *event);
    weft_status (*event_await)(weft_device_state *device, weft_queue *queue, weft_event *event);
    /* Whether the work before the event's latest record is done or has failed. */
    bool (*event_done)(weft_device_state *device, weft_event *event);

    /* The strided copy, for all orders: enqueues a prepared copy between two base addresses. */
    weft_status (*copy)(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                        const void *src, void *dst, weft_transfer transfer);

    /* Allocates the scratch memory that strided copies between host and device memory need, for all
     * queues that exist, as far as memory allows; otherwise such copies allocate it when first
     * enqueued. NULL where they need none. */
    void (*prepare_transfers)(weft_device_state *device);

    /* Calls function(argument) on a host thread once everything before it on the queue is done or
     * has failed. The function must not call the device, nor wait for anything that another thread
     * does after calling the device. If all work is done already, OpenCL may call it on the calling
     * thread before this returns, so the caller must hold no lock that the function takes. */
    weft_status (*callback)(weft_device_state *device, weft_queue *queue, void (*function)(void *),
                            void *argument);

    /* Enqueues function(argument, in, out); NULL where the device cannot run host code. */
    weft_status (*run)(weft_device_state *device, weft_queue *queue, weft_device_function function,
                       void *argument, const void *in, void *out);

    /* The address at which the functions that `run` enqueues find memory of the device that is not
     * their `in` or `out`, or page-locked memory. NULL where that is its own address, or `run` is
     * NULL. */
    weft_status (*run_address)(weft_device_state *device, const void *memory, const void **there);

    /* Enqueues the multiplication of `count` real values of the given precision at `data` by
     * `factor`. */
    weft_status (*scale)(weft_device_state *device, weft_queue *queue, weft_precision precision,
                         void *data, int64_t count, double factor);

    /* Enqueues operators on a box, from `in` to `out`, which may be the same array where the
     * caller's is the box; their description must outlive the work. For devices that have neither
     * `run` nor kernels; NULL elsewhere. */
    weft_status (*operate)(weft_device_state *device, weft_queue *queue,
                           const weft_device_operators *operators, const void *in, void *out);

    /* Graphs: repeated work at the price of one launch. What this thread puts on the default queue
     * between graph_begin and graph_end is recorded and not run: kernels, and copies within device
     * memory; there must be no wait. If something cannot be recorded, graph_end fails and the queue
     * works as before. graph_run enqueues all of the recorded work on the default queue. All four
     * are NULL where a device has no graphs. */
    weft_status (*graph_begin)(weft_device_state *device);
    weft_status (*graph_end)(weft_device_state *device, weft_graph **graph);
    weft_status (*graph_run)(weft_device_state *device, weft_graph *graph);
    void (*graph_destroy)(weft_device_state *device, weft_graph *graph);

    /* Messages between devices of several processes. NULL: messages go through the transport
     * only. */
    const weft_device_messages *messages;

    /* Kernels; all four are NULL where a device has none. A kernel that was created before, also by
     * an earlier process if the cache folder has it, is not compiled again. A text that does not
     * compile fails with the compiler's message: when the kernel is created or, on devices that
     * compile several at a time, by kernels_await (NULL on others), which waits for all kernels, or
     * when it is launched. A launch enqueues groups[0] * groups[1] * groups[2] groups; arguments
     * are in the order of the parameters, without LOCAL_MEMORY. A kernel must not be destroyed
     * while it is enqueued. */
    weft_status (*kernel_limits)(weft_device_state *device, weft_kernel_limits *limits);
    weft_status (*kernel_create)(weft_device_state *device, const weft_kernel_source *source,
                                 weft_kernel **kernel);
    weft_status (*kernels_await)(weft_device_state *device);
    void (*kernel_destroy)(weft_device_state *device, weft_kernel *kernel);
    weft_status (*kernel_launch)(weft_device_state *device, weft_queue *queue, weft_kernel *kernel,
                                 const unsigned groups[3], const weft_kernel_argument *argument,
                                 int arguments);
} weft_device_ops;

typedef struct weft_device_handle {
    const weft_device_ops *ops;
    weft_device_state *state;
} weft_device_handle;

/* The ops of a device, or NULL if this build does not have it. */
const weft_device_ops *weft_device_find(weft_device id);

/* The strided copy of host memory with up to `threads` threads: what host-addressable devices run.
 */
void weft_copy_run(const weft_copy *copy, const void *src, void *dst, int threads);
void weft_scale_run(weft_precision precision, void *data, int64_t count, double factor,
                    int threads);

#endif
