/* The driver of host_cuda.h: memory, contexts, streams. work.c has what runs on streams. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/cuda/driver.h"
#include "device/thread_queue.h"
#include "driver_results.h"
#include "host_cuda.h"
#include "support/memory_file.h"

/* A function and its argument. */
typedef struct closure {
    void (*function)(void *);
    size_t bytes;
    _Alignas(16) char argument[];
} closure;

/* A graph is what a stream was given, in order; one that is instantiated is the same once more. */
typedef struct CUgraph_st {
    closure **work;
    size_t nodes;
} graph;

struct CUstream_st {
    weft_queue *queue;
    weft_event *reached; /* what cuStreamQuery asks for, put behind the work when it first asks */
    bool asked;
    graph *captured; /* NULL: what the stream is given is done */
    bool spoiled;    /* by what cannot be captured */
};

/* ---- device memory: open only while work on a stream runs ---- */

typedef struct block {
    char *address;
    size_t bytes, mapped;
    weft_memory_file file;
    weft_memory_ticket ticket; /* for other processes to map it */
    bool borrowed;             /* from one of them */
    int device;
    struct block *next;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static int working;

static void protect_all(int protection) {
    for (block *b = blocks; b; b = b->next)
        if (mprotect(b->address, b->mapped - (size_t)sysconf(_SC_PAGESIZE),
                     b->borrowed ? protection & PROT_READ : protection) != 0)
            abort();
}

static void open_memory(void) {
    pthread_mutex_lock(&lock);
    if (working++ == 0) protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
}

static void close_memory(void) {
    pthread_mutex_lock(&lock);
    if (--working == 0) protect_all(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* WEFT_TEST_CUDA_OPENMP: other memory is the first GPU's, as that which OpenMP's runtime gets from
 * a driver. */
static bool all_is_device(void) {
    return getenv("WEFT_TEST_CUDA_OPENMP") != NULL;
}

size_t host_device_bytes(const void *address) {
    size_t left = 0;
    uintptr_t at = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b; b = b->next)
        if (at >= (uintptr_t)b->address && at < (uintptr_t)b->address + b->bytes)
            left = (uintptr_t)b->address + b->bytes - at;
    pthread_mutex_unlock(&lock);
    return left == 0 && all_is_device() ? SIZE_MAX / 2 : left;
}

bool host_is_device(const void *address, size_t bytes) {
    return host_device_bytes(address) >= bytes;
}

/* ---- contexts ---- */

enum { MOST_DEVICES = 64, DEEPEST = 16 };

static char contexts[MOST_DEVICES];
static _Thread_local int pushed, current[DEEPEST];

bool host_context_is_current(void) {
    return pushed > 0;
}

int host_context_device(void) {
    return current[pushed - 1];
}

void *host_context_of(const void *address) {
    void *context = NULL;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b; b = b->next)
        if ((uintptr_t)address - (uintptr_t)b->address < b->bytes) context = &contexts[b->device];
    pthread_mutex_unlock(&lock);
    return !context && all_is_device() ? &contexts[0] : context;
}

int host_device_of(const void *address) {
    const char *context = host_context_of(address);
    return context ? (int)(context - contexts) : -1;
}

#define NEEDS_CONTEXT                                                                              \
    if (pushed == 0) return INVALID_CONTEXT

EXPORTED int cuInit(unsigned flags) {
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuDriverGetVersion(int *version) {
    *version = 13000;
    return SUCCESS;
}

EXPORTED int cuDeviceGetCount(int *count) {
    const char *wanted = getenv("WEFT_TEST_GPUS");
    *count = wanted ? atoi(wanted) : 2;
    return SUCCESS;
}

EXPORTED int cuDeviceGet(int *device, int number) {
    *device = number;
    return SUCCESS;
}

EXPORTED int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "host memory (GPU %d)", device);
    return SUCCESS;
}

EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int device) {
    static const struct {
        int attribute, value;
    } known[] = {{WEFT_CUDA_THREADS_OF_BLOCK, 1024},
                 {WEFT_CUDA_WARP_SIZE, 32},
                 {WEFT_CUDA_MULTIPROCESSORS, 4},
                 {WEFT_CUDA_CAPABILITY_MAJOR, 9},
                 {WEFT_CUDA_CLUSTER_LAUNCH, 1},
                 {WEFT_CUDA_CAPABILITY_MINOR, 0},
                 {WEFT_CUDA_SHARED_MEMORY_OF_BLOCK, HOST_SHARED_MEMORY}};
    (void)device;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return SUCCESS;
        }
    return INVALID_VALUE;
}

EXPORTED int cuDeviceGetPCIBusId(char *address, int length, int device) {
    snprintf(address, (size_t)length, "ffff:%02x:00.0", device); /* of no machine */
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = &contexts[device];
    return SUCCESS;
}

EXPORTED int cuCtxPushCurrent_v2(void *context) {
    if (!context || pushed == DEEPEST) return INVALID_VALUE;
    current[pushed++] = (int)((char *)context - contexts);
    return SUCCESS;
}

EXPORTED int cuCtxPopCurrent_v2(void **context) {
    NEEDS_CONTEXT;
    *context = NULL;
    pushed--;
    return SUCCESS;
}

EXPORTED int cuCtxGetCurrent(void **context) {
    *context = pushed > 0 ? &contexts[current[pushed - 1]] : NULL;
    return SUCCESS;
}

EXPORTED int cuCtxSetCurrent(void *context) {
    if (pushed > 0) pushed--;
    return context ? cuCtxPushCurrent_v2(context) : SUCCESS;
}

EXPORTED int cuCtxGetDevice(int *device) {
    NEEDS_CONTEXT;
    *device = host_context_device();
    return SUCCESS;
}

EXPORTED int cuGetErrorString(int error, const char **sentence) {
    *sentence = error == OUT_OF_MEMORY     ? "out of memory"
                : error == INVALID_CONTEXT ? "invalid device context"
                                           : "invalid argument";
    return SUCCESS;
}

/* ---- memory ---- */

static void add_block(block *b) {
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    mprotect(b->address, b->mapped, PROT_NONE);
    if (working > 0) protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
}

static block *take_block(unsigned long long memory) {
    pthread_mutex_lock(&lock);
    block **at = &blocks;
    while (*at && (uintptr_t)(*at)->address != memory) at = &(*at)->next;
    block *b = *at;
    if (b) *at = b->next;
    pthread_mutex_unlock(&lock);
    return b;
}

/* A number of bytes in the environment. */
static size_t bytes_told(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text ? (size_t)strtoull(text, NULL, 10) : otherwise;
}

/* WEFT_TEST_CUDA_MEMORY=BYTES: what a GPU has. WEFT_TEST_CUDA_LARGEST=BYTES: the largest block that
 * is given all the same, as where memory is in pieces. */
EXPORTED int cuMemGetInfo_v2(size_t *available, size_t *total) {
    NEEDS_CONTEXT;
    size_t held = 0;
    *total = bytes_told("WEFT_TEST_CUDA_MEMORY", (size_t)64 << 30);
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b; b = b->next)
        if (!b->borrowed && b->device == host_context_device()) held += b->bytes;
    pthread_mutex_unlock(&lock);
    *available = held < *total ? *total - held : 0;
    return SUCCESS;
}

EXPORTED int cuMemAlloc_v2(unsigned long long *memory, size_t bytes) {
    NEEDS_CONTEXT;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0) return INVALID_VALUE;
    size_t available, total;
    cuMemGetInfo_v2(&available, &total);
    if (bytes > available || bytes > bytes_told("WEFT_TEST_CUDA_LARGEST", SIZE_MAX / 4))
        return OUT_OF_MEMORY;
    block *b = calloc(1, sizeof *b);
    size_t mapped = (bytes / page + 2) * page; /* the last page is never opened */
    if (!b || weft_memory_file_create(mapped, &b->file, &b->ticket) != WEFT_SUCCESS) {
        free(b);
        return OUT_OF_MEMORY;
    }
    memset(b->file.address, 0xff, bytes);
    b->address = b->file.address;
    b->bytes = bytes;
    b->mapped = mapped;
    b->device = host_context_device();
    add_block(b);
    *memory = (uintptr_t)b->address;
    return SUCCESS;
}

EXPORTED int cuMemFree_v2(unsigned long long memory) {
    NEEDS_CONTEXT;
    block *b = take_block(memory);
    if (!b) return INVALID_VALUE;
    weft_memory_file_close(&b->file);
    free(b);
    return SUCCESS;
}

EXPORTED int cuMemGetAddressRange_v2(unsigned long long *base, size_t *bytes,
                                     unsigned long long memory) {
    NEEDS_CONTEXT;
    pthread_mutex_lock(&lock);
    const block *b = blocks;
    while (b && memory - (uintptr_t)b->address >= b->bytes) b = b->next;
    if (b) *base = (uintptr_t)b->address, *bytes = b->bytes;
    pthread_mutex_unlock(&lock);
    return b ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuIpcGetMemHandle(weft_cuda_ipc_handle *handle, unsigned long long memory) {
    NEEDS_CONTEXT;
    pthread_mutex_lock(&lock);
    const block *b = blocks;
    while (b && (uintptr_t)b->address != memory) b = b->next;
    if (b) memcpy(handle, &b->ticket, sizeof b->ticket);
    pthread_mutex_unlock(&lock);
    return b ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuIpcOpenMemHandle_v2(unsigned long long *memory, weft_cuda_ipc_handle handle,
                                   unsigned flags) {
    NEEDS_CONTEXT;
    block *b = calloc(1, sizeof *b);
    if (!b) return OUT_OF_MEMORY;
    memcpy(&b->ticket, &handle, sizeof b->ticket);
    if (flags != WEFT_CUDA_IPC_PEER_ACCESS || b->ticket.process == getpid() ||
        !weft_memory_file_open(&b->ticket, &b->file)) {
        free(b);
        return INVALID_VALUE;
    }
    b->address = b->file.address;
    b->mapped = b->file.bytes;
    b->bytes = b->mapped - (size_t)sysconf(_SC_PAGESIZE);
    b->borrowed = true;
    b->device = host_context_device();
    add_block(b);
    *memory = (uintptr_t)b->address;
    return SUCCESS;
}

EXPORTED int cuIpcCloseMemHandle(unsigned long long memory) {
    return cuMemFree_v2(memory);
}

EXPORTED int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT;
    if (bytes == 0 || flags != (WEFT_CUDA_HOST_PORTABLE | WEFT_CUDA_HOST_MAPPED))
        return INVALID_VALUE;
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *memory ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int cuMemFreeHost(void *memory) {
    NEEDS_CONTEXT;
    free(memory);
    return SUCCESS;
}

static struct {
    void *memory[8];
    int count, times; /* now, and ever */
} registered;         /* by weft; Open MPI registers with other flags */

EXPORTED int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT;
    if (!memory || bytes == 0) return INVALID_VALUE;
    if (flags == 0) return SUCCESS;
    if ((flags & ~(unsigned)WEFT_CUDA_HOST_READ_ONLY) !=
        (WEFT_CUDA_HOST_PORTABLE | WEFT_CUDA_HOST_MAPPED))
        return INVALID_VALUE;
    if (getenv("WEFT_TEST_REGISTER_FAIL") || registered.count == 8) return OUT_OF_MEMORY;
    registered.memory[registered.count++] = memory;
    registered.times++;
    return SUCCESS;
}

EXPORTED int cuMemHostUnregister(void *memory) {
    NEEDS_CONTEXT;
    for (int i = 0; i < registered.count; i++)
        if (registered.memory[i] == memory) {
            registered.memory[i] = registered.memory[--registered.count];
            break;
        }
    return memory ? SUCCESS : INVALID_VALUE;
}

EXPORTED int host_registrations(int *ever) {
    *ever = registered.times;
    return registered.count;
}

/* ---- streams ---- */

static weft_status run_closure(void *argument, const void *in, void *out) {
    closure *c = argument;
    (void)in, (void)out;
    open_memory();
    c->function(c->argument);
    close_memory();
    free(c);
    return WEFT_SUCCESS;
}

static int spoil(struct CUstream_st *stream) {
    stream->spoiled = true;
    return CAPTURE_UNSUPPORTED;
}

static struct CUstream_st *create_stream(unsigned longest_delay_us) {
    static uint64_t seed;
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    weft_random_delay delay = {__atomic_add_fetch(&seed, 1, __ATOMIC_RELAXED), longest_delay_us};
    if (!stream || weft_thread_event_create(&stream->reached) != WEFT_SUCCESS ||
        weft_thread_queue_create(delay, &stream->queue) != WEFT_SUCCESS)
        abort();
    return stream;
}

/* The legacy default stream is one as others are, and later than they: all others are non-blocking.
 */
static struct CUstream_st *legacy;

static void create_legacy(void) {
    legacy = create_stream(1000);
}

static struct CUstream_st *stream_of(struct CUstream_st *handle) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (handle != WEFT_CUDA_LEGACY_STREAM) return handle;
    pthread_once(&once, create_legacy);
    return legacy;
}

static int put(struct CUstream_st *handle, const weft_work *work) {
    struct CUstream_st *stream = stream_of(handle);
    if (!stream) return INVALID_VALUE;
    if (stream->captured) return spoil(stream);
    stream->asked = false;
    weft_thread_queue_put(stream->queue, work);
    return SUCCESS;
}

static closure *make_closure(void (*function)(void *), const void *argument, size_t bytes) {
    closure *c = aligned_alloc(16, (sizeof *c + bytes + 15) / 16 * 16);
    if (!c) abort();
    c->function = function;
    c->bytes = bytes;
    memcpy(c->argument, argument, bytes);
    return c;
}

static void add_node(graph *g, closure *c) {
    g->work = realloc(g->work, (g->nodes + 1) * sizeof *g->work);
    if (!g->work) abort();
    g->work[g->nodes++] = c;
}

static int put_closure(struct CUstream_st *handle, closure *c) {
    struct CUstream_st *stream = stream_of(handle);
    weft_work work = {.kind = WEFT_WORK_RUN, .threads = 1, .as.run = {run_closure, c}};
    if (!stream || !stream->captured) return put(stream, &work);
    add_node(stream->captured, c);
    return SUCCESS;
}

int host_stream_put(void *stream, void (*function)(void *), const void *argument, size_t bytes) {
    return put_closure(stream, make_closure(function, argument, bytes));
}

EXPORTED int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    NEEDS_CONTEXT;
    *least = 0;
    *greatest = -1;
    return SUCCESS;
}

/* Priorities make no difference to streams that dawdle. */
EXPORTED int cuStreamCreateWithPriority(struct CUstream_st **stream, unsigned flags, int priority) {
    NEEDS_CONTEXT;
    if (priority < -1 || priority > 0 || flags != WEFT_CUDA_STREAM_NON_BLOCKING)
        return INVALID_VALUE;
    *stream = create_stream(50);
    return SUCCESS;
}

EXPORTED int cuStreamDestroy_v2(struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    weft_thread_queue_destroy(stream->queue);
    weft_thread_event_destroy(stream->reached);
    free(stream);
    return SUCCESS;
}

EXPORTED int cuStreamQuery(struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    if (stream->captured) return spoil(stream);
    if (!stream->asked) {
        weft_work work = weft_thread_event_record(stream->reached);
        if (put(stream, &work) != SUCCESS) return OUT_OF_MEMORY;
        stream->asked = true;
    }
    return weft_thread_event_done(stream->reached) ? SUCCESS : NOT_READY;
}

EXPORTED int cuStreamSynchronize(struct CUstream_st *handle) {
    struct CUstream_st *stream = stream_of(handle);
    NEEDS_CONTEXT;
    if (stream->captured) return spoil(stream);
    return weft_thread_queue_wait(stream->queue) == WEFT_SUCCESS ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuStreamWaitEvent(struct CUstream_st *stream, weft_event *event, unsigned flags) {
    NEEDS_CONTEXT;
    weft_work work = weft_thread_event_await(event);
    return flags == 0 ? put(stream, &work) : INVALID_VALUE;
}

EXPORTED int cuEventCreate(weft_event **event, unsigned flags) {
    NEEDS_CONTEXT;
    if (flags != WEFT_CUDA_EVENT_NO_TIMING) return INVALID_VALUE;
    return weft_thread_event_create(event) == WEFT_SUCCESS ? SUCCESS : OUT_OF_MEMORY;
}

/* Streams may still wait for the event, or record it, after the caller has destroyed it, so it
 * stays to the end of the process. */
typedef struct destroyed {
    weft_event *event;
    struct destroyed *next;
} destroyed;

EXPORTED int cuEventDestroy_v2(weft_event *event) {
    static destroyed *all;
    NEEDS_CONTEXT;
    destroyed *d = malloc(sizeof *d);
    if (!d) return OUT_OF_MEMORY;
    d->event = event;
    pthread_mutex_lock(&lock);
    d->next = all;
    all = d;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

EXPORTED int cuEventQuery(weft_event *event) {
    NEEDS_CONTEXT;
    return weft_thread_event_done(event) ? SUCCESS : NOT_READY;
}

EXPORTED int cuEventRecord(weft_event *event, struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    weft_work work = weft_thread_event_record(event);
    return put(stream, &work);
}

typedef struct call {
    void (*function)(struct CUstream_st *, int, void *);
    struct CUstream_st *stream;
    void *argument;
} call;

static void run_call(void *argument) {
    call c = *(call *)argument;
    free(argument);
    c.function(c.stream, SUCCESS, c.argument);
}

EXPORTED int cuStreamAddCallback(struct CUstream_st *stream,
                                 void (*function)(struct CUstream_st *, int, void *),
                                 void *argument, unsigned flags) {
    NEEDS_CONTEXT;
    call *c = malloc(sizeof *c);
    if (!c || flags != 0) return INVALID_VALUE;
    *c = (call){function, stream, argument};
    weft_work work = {.kind = WEFT_WORK_CALLBACK, .as.callback = {run_call, c}};
    return put(stream, &work);
}

/* ---- graphs ---- */

/* WEFT_TEST_GRAPH_FAIL=FUNCTION: that function fails. */
static bool graph_fails(const char *function) {
    const char *which = getenv("WEFT_TEST_GRAPH_FAIL");
    return which && strcmp(which, function) == 0;
}

EXPORTED int cuStreamIsCapturing(struct CUstream_st *handle, int *status) {
    NEEDS_CONTEXT;
    if (graph_fails("cuStreamIsCapturing")) return CAPTURE_IMPLICIT;
    *status = stream_of(handle)->captured != NULL;
    return SUCCESS;
}

/* Nothing in it is done before its launch, so what it loads and stores is looked at then. */
EXPORTED int cuStreamBeginCapture_v2(struct CUstream_st *stream, int mode) {
    NEEDS_CONTEXT;
    if (mode != WEFT_CUDA_CAPTURE_OF_THREAD || stream->captured ||
        graph_fails("cuStreamBeginCapture"))
        return INVALID_VALUE;
    stream->captured = calloc(1, sizeof *stream->captured);
    stream->spoiled = false;
    return stream->captured ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int cuGraphDestroy(graph *g) {
    for (size_t i = 0; i < g->nodes; i++) free(g->work[i]);
    free(g->work);
    free(g);
    return SUCCESS;
}

EXPORTED int cuStreamEndCapture(struct CUstream_st *stream, graph **captured) {
    NEEDS_CONTEXT;
    if (!stream->captured) return INVALID_VALUE;
    *captured = stream->captured;
    stream->captured = NULL;
    if (!stream->spoiled && !graph_fails("cuStreamEndCapture")) return SUCCESS;
    cuGraphDestroy(*captured);
    *captured = NULL;
    return CAPTURE_INVALIDATED;
}

EXPORTED int cuGraphGetNodes(const graph *g, void *nodes, size_t *count) {
    *count = g->nodes;
    return nodes ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuGraphInstantiateWithFlags(graph **exec, const graph *g, unsigned long long flags) {
    NEEDS_CONTEXT;
    if (flags != 0 || graph_fails("cuGraphInstantiate")) return INVALID_VALUE;
    *exec = calloc(1, sizeof **exec);
    if (!*exec) return OUT_OF_MEMORY;
    for (size_t i = 0; i < g->nodes; i++)
        add_node(*exec,
                 make_closure(g->work[i]->function, g->work[i]->argument, g->work[i]->bytes));
    return SUCCESS;
}

EXPORTED int cuGraphUpload(const graph *exec, struct CUstream_st *stream) {
    (void)exec;
    NEEDS_CONTEXT;
    return stream->captured || graph_fails("cuGraphUpload") ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuGraphExecDestroy(graph *exec) {
    return cuGraphDestroy(exec);
}

static int launches;

int host_graph_launches(void) {
    return __atomic_load_n(&launches, __ATOMIC_RELAXED);
}

EXPORTED int cuGraphLaunch(const graph *exec, struct CUstream_st *handle) {
    struct CUstream_st *stream = stream_of(handle);
    NEEDS_CONTEXT;
    if (stream->captured || graph_fails("cuGraphLaunch")) return INVALID_VALUE;
    for (size_t i = 0; i < exec->nodes; i++) {
        const closure *c = exec->work[i];
        int result = put_closure(stream, make_closure(c->function, c->argument, c->bytes));
        if (result != SUCCESS) return result;
    }
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}
