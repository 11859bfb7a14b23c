/* Faults of the CUDA driver: see faults.h. The calls fail before anything is done, but for the wait
 * for a stream. A context that is there can be entered. */
#include "device/cuda/driver.h"

#include "mpi/faults_inside.h"

static const weft_cuda_driver *real;
enum { UNKNOWN = 999 /* CUDA_ERROR_UNKNOWN */ };

#define CALL(name, parameters, arguments)                                                          \
    static int fault_##name parameters {                                                           \
        return fault_now(FAULT_DRIVER, #name) ? UNKNOWN : real->name arguments;                    \
    }
CALL(memory_info, (size_t * available, size_t *total), (available, total))
CALL(allocate, (weft_cuda_address * memory, size_t bytes), (memory, bytes))
CALL(address_range, (weft_cuda_address * base, size_t *bytes, weft_cuda_address memory),
     (base, bytes, memory))
CALL(ipc_handle, (weft_cuda_ipc_handle * handle, weft_cuda_address memory), (handle, memory))
CALL(ipc_open, (weft_cuda_address * memory, weft_cuda_ipc_handle handle, unsigned flags),
     (memory, handle, flags))
CALL(pointer_attribute, (void *value, int attribute, weft_cuda_address memory),
     (value, attribute, memory))
CALL(host_allocate, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
CALL(copy, (weft_cuda_address to, weft_cuda_address from, size_t bytes, weft_cuda_stream stream),
     (to, from, bytes, stream))
CALL(copy_2d, (const weft_cuda_copy_2d *what, weft_cuda_stream stream), (what, stream))
CALL(copy_3d, (const weft_cuda_copy_3d *what, weft_cuda_stream stream), (what, stream))
CALL(stream_create, (weft_cuda_stream * stream, unsigned flags, int priority),
     (stream, flags, priority))
CALL(stream_await, (weft_cuda_stream stream, weft_cuda_event event, unsigned flags),
     (stream, event, flags))
CALL(event_create, (weft_cuda_event * event, unsigned flags), (event, flags))
CALL(event_query, (weft_cuda_event event), (event))
CALL(event_record, (weft_cuda_event event, weft_cuda_stream stream), (event, stream))
CALL(stream_callback,
     (weft_cuda_stream stream, void (*function)(weft_cuda_stream, int result, void *argument),
      void *argument, unsigned flags),
     (stream, function, argument, flags))
CALL(capture_begin, (weft_cuda_stream stream, int mode), (stream, mode))
CALL(graph_instantiate,
     (weft_cuda_graph_exec * exec, weft_cuda_graph graph, unsigned long long flags),
     (exec, graph, flags))
CALL(graph_launch, (weft_cuda_graph_exec exec, weft_cuda_stream stream), (exec, stream))
CALL(launch,
     (weft_cuda_function function, unsigned x, unsigned y, unsigned z, unsigned block_x,
      unsigned block_y, unsigned block_z, unsigned shared_bytes, weft_cuda_stream stream,
      void **parameters, void **extra),
     (function, x, y, z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra))
CALL(module_load, (weft_cuda_module * module, const void *image), (module, image))
CALL(module_function, (weft_cuda_function * function, weft_cuda_module module, const char *name),
     (function, module, name))

static int fault_stream_synchronize(weft_cuda_stream stream) {
    const bool fails = fault_now(FAULT_DRIVER, "stream_synchronize");
    const int result = real->stream_synchronize(stream);
    return fails ? UNKNOWN : result;
}

const weft_cuda_driver *__real_weft_cuda_driver_open(void);
const weft_cuda_driver *__wrap_weft_cuda_driver_open(void) {
    static weft_cuda_driver faults;
    const weft_cuda_driver *opened = __real_weft_cuda_driver_open();
    if (!opened || opened == real) return opened ? &faults : NULL;
    real = opened;
    faults = *opened;
#define REPLACE(name) faults.name = fault_##name
    REPLACE(memory_info);
    REPLACE(allocate);
    REPLACE(address_range);
    REPLACE(ipc_handle);
    REPLACE(ipc_open);
    REPLACE(pointer_attribute);
    REPLACE(host_allocate);
    REPLACE(copy);
    REPLACE(copy_2d);
    REPLACE(copy_3d);
    REPLACE(stream_create);
    REPLACE(stream_await);
    REPLACE(event_create);
    REPLACE(event_query);
    REPLACE(event_record);
    REPLACE(stream_callback);
    REPLACE(capture_begin);
    REPLACE(graph_instantiate);
    REPLACE(graph_launch);
    REPLACE(launch);
    REPLACE(module_load);
    REPLACE(module_function);
    REPLACE(stream_synchronize);
    return &faults;
}
