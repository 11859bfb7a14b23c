/* Graphs of repeated work: CUDA graphs, captured from the default queue's stream. */
#include "device/cuda/cuda.h"

#include "support/error.h"

/* Limits the memory that the driver holds for a graph, since loops around cuFFT's plans have any
 * length. */
enum { MOST_NODES = 4096 };

/* The graph is the driver's: a weft_graph is the address of one, so that the execution that makes
 * it allocates nothing here. */
static weft_cuda_graph_exec exec_of(weft_graph *graph) {
    return (weft_cuda_graph_exec)(void *)graph;
}

weft_status weft_cuda_graph_begin(weft_device_state *device) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_check(device->gpu->driver->capture_begin(
                                             device->stream, WEFT_CUDA_CAPTURE_OF_THREAD),
                                         "a queue cannot be captured"));
    device->is_captured = status == WEFT_SUCCESS;
    return status;
}

/* A graph that is not on the GPU yet would be brought there by its first launch, which waits for
 * all work before it on the stream. */
static weft_status instantiate(const weft_device_state *device, weft_cuda_graph captured,
                               weft_graph **graph) {
    const weft_cuda_driver *driver = device->gpu->driver;
    size_t nodes = 0;
    WEFT_TRY(weft_cuda_check(driver->graph_nodes(captured, NULL, &nodes), "no graph"));
    if (nodes == 0 || nodes > MOST_NODES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "a graph of %zu nodes is not kept", nodes);
    weft_cuda_graph_exec exec = NULL;
    WEFT_TRY(weft_cuda_check(driver->graph_instantiate(&exec, captured, 0), "no graph"));
    const int uploaded = driver->graph_upload(exec, device->stream);
    if (uploaded == 0)
        *graph = (weft_graph *)(void *)exec;
    else
        driver->graph_exec_destroy(exec);
    return weft_cuda_check(uploaded, "a graph could not be brought to the GPU");
}

static weft_status end_in_context(weft_device_state *device, weft_graph **graph) {
    const weft_cuda_driver *driver = device->gpu->driver;
    weft_cuda_graph captured = NULL;
    WEFT_TRY(weft_cuda_check(driver->capture_end(device->stream, &captured),
                             "what a queue was given cannot be kept as a graph"));
    weft_status status = instantiate(device, captured, graph);
    driver->graph_destroy(captured);
    return status;
}

weft_status weft_cuda_graph_end(weft_device_state *device, weft_graph **graph) {
    weft_status status;
    device->is_captured = false;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status, end_in_context(device, graph));
    return status;
}

weft_status weft_cuda_graph_run(weft_device_state *device, weft_graph *graph) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_check(device->gpu->driver->graph_launch(
                                             exec_of(graph), weft_cuda_queue_stream(device, NULL)),
                                         "a graph could not be enqueued"));
    return status;
}

void weft_cuda_graph_destroy(weft_device_state *device, weft_graph *graph) {
    if (!graph) return;
    if (weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        device->gpu->driver->graph_exec_destroy(exec_of(graph));
        weft_cuda_leave(device->gpu);
    }
}
