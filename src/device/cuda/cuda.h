/*
 * The CUDA device's insides, for its own files and for engines that are libraries on CUDA: the
 * stream behind a queue, and one area of device memory for work that all engine plans of a device
 * share, since a plan's transforms run one after the other on one queue.
 */
#ifndef WEFT_DEVICE_CUDA_CUDA_H
#define WEFT_DEVICE_CUDA_CUDA_H

#include "device/allocations.h"
#include "device/cuda/gpu.h"
#include "device/messages.h"
#include "device/notices.h"

struct weft_device_state {
    const weft_cuda_gpu *gpu;
    weft_allocations allocations;
    weft_cuda_stream stream;  /* of the default queue */
    weft_cuda_stream callers; /* which that queue's work goes to instead for a while; NULL: none */
    weft_cuda_event caller;   /* behind the caller's work */
    weft_cuda_event enqueued; /* behind the latest work on a caller's stream */
    bool is_captured;         /* a graph is being made of what the default queue is given */
    void *shared;             /* the shared area */
    size_t shared_bytes;
    weft_communicator *communicators; /* of messages.c; none while no plan exchanges by NCCL */
    weft_notices notices;             /* of callbacks */
    weft_kernel *loading;             /* kernels whose modules are being made */
    const char *untold; /* what failed as an event was asked for: the next wait fails with it */
};

extern const weft_device_ops weft_device_cuda;

/* Runs one call of the driver in the GPU's context. */
#define WEFT_CUDA_IN_CONTEXT(gpu, status, call)                                                    \
    do {                                                                                           \
        (status) = weft_cuda_enter(gpu);                                                           \
        if ((status) == WEFT_SUCCESS) {                                                            \
            (status) = (call);                                                                     \
            weft_cuda_leave(gpu);                                                                  \
        }                                                                                          \
    } while (0)

/* Frees an allocation, or closes it if it was imported. */
void weft_cuda_free_record(const weft_device_state *device, weft_allocation *record);

/* Memory shared between processes: ipc.c. */
weft_status weft_cuda_memory_export(weft_device_state *device, void *memory,
                                    weft_memory_handle *handle);
weft_status weft_cuda_memory_import(weft_device_state *device, const weft_memory_handle *handle,
                                    const void **memory);
void weft_cuda_memory_close(weft_device_state *device, const void *memory);

/* Graphs of repeated work: graph.c. */
weft_status weft_cuda_graph_begin(weft_device_state *device);
weft_status weft_cuda_graph_end(weft_device_state *device, weft_graph **graph);
weft_status weft_cuda_graph_run(weft_device_state *device, weft_graph *graph);
void weft_cuda_graph_destroy(weft_device_state *device, weft_graph *graph);

/* Messages between GPUs: messages.c. weft_cuda_wait_for_messages waits for the stream's work, or
 * ends it if messages fail; weft_cuda_look_for_failures ends the work of messages that have failed
 * since its last call. */
extern const weft_device_messages weft_cuda_messages;
weft_status weft_cuda_wait_for_messages(weft_device_state *device, weft_cuda_stream stream);
weft_status weft_cuda_look_for_failures(weft_device_state *device);

/* The stream that work on a queue is given to now; NULL is the default queue. */
weft_cuda_stream weft_cuda_queue_stream(const weft_device_state *device, const weft_queue *queue);

/* Makes the shared area at least this large; *grown gets the number of bytes added. The area may
 * move, so read its address from device->shared at each use. Must not be called while work that
 * uses the area is enqueued. */
weft_status weft_cuda_share(weft_device_state *device, size_t bytes, size_t *grown);

/* Where one side of a copy lies: in this GPU's memory, in memory imported from another process, in
 * page-locked host memory, which kernels can address, or in other host memory. */
typedef enum weft_cuda_side {
    WEFT_CUDA_SIDE_HERE,
    WEFT_CUDA_SIDE_IMPORTED,
    WEFT_CUDA_SIDE_LOCKED,
    WEFT_CUDA_SIDE_PAGEABLE
} weft_cuda_side;

/* The strided copy, in the GPU's context. */
weft_status weft_cuda_copy_run(const weft_cuda_gpu *gpu, weft_cuda_stream stream,
                               const weft_copy *copy, const void *src, void *dst,
                               weft_transfer transfer, weft_cuda_side side);

#endif
