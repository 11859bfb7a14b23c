/*
 * The CUDA driver and NVRTC as they are found at run time. weft is built without the toolkit, so
 * the few prototypes, structures and constants are written here from NVIDIA's "CUDA Driver API" and
 * "NVRTC" references (docs.nvidia.com/cuda/cuda-driver-api, docs.nvidia.com/cuda/nvrtc), CUDA 11 to
 * 13. Statuses and enumerations are ints, handles pointers; the names of the symbols carry the
 * version of the interface (cuMemAlloc_v2), as cuda.h maps them.
 */
#ifndef WEFT_DEVICE_CUDA_DRIVER_H
#define WEFT_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <weft/weft.h>

typedef struct CUctx_st *weft_cuda_context;
typedef struct CUmod_st *weft_cuda_module;
typedef struct CUfunc_st *weft_cuda_function;
typedef struct CUstream_st *weft_cuda_stream;
typedef struct CUevent_st *weft_cuda_event;
typedef struct CUgraph_st *weft_cuda_graph;
typedef struct CUgraphExec_st *weft_cuda_graph_exec;
typedef struct _nvrtcProgram *weft_nvrtc_program;
typedef unsigned long long weft_cuda_address; /* CUdeviceptr */

enum { /* CUresult */
       WEFT_CUDA_ERROR_INVALID_VALUE = 1,
       WEFT_CUDA_ERROR_OUT_OF_MEMORY = 2,
       WEFT_CUDA_ERROR_NO_DEVICE = 100,
       WEFT_CUDA_ERROR_INVALID_IMAGE = 200,
       WEFT_CUDA_ERROR_NOT_READY = 600
};
enum { WEFT_CUDA_MEMORY_HOST = 1, WEFT_CUDA_MEMORY_DEVICE = 2 };    /* CUmemorytype */
enum { WEFT_CUDA_POINTER_CONTEXT = 1, WEFT_CUDA_POINTER_TYPE = 2 }; /* CUpointer_attribute */
enum { /* cuMemHostAlloc, cuMemHostRegister */
       WEFT_CUDA_HOST_PORTABLE = 1,
       WEFT_CUDA_HOST_MAPPED = 2,
       WEFT_CUDA_HOST_READ_ONLY = 8
};
enum { WEFT_CUDA_STREAM_NON_BLOCKING = 1, WEFT_CUDA_EVENT_NO_TIMING = 2 }; /* flags */
enum {                                                                     /* CUdevice_attribute */
       WEFT_CUDA_THREADS_OF_BLOCK = 1,
       WEFT_CUDA_WARP_SIZE = 10,
       WEFT_CUDA_MULTIPROCESSORS = 16,
       WEFT_CUDA_CAPABILITY_MAJOR = 75,
       WEFT_CUDA_CAPABILITY_MINOR = 76,
       WEFT_CUDA_SHARED_MEMORY_OF_BLOCK = 97, /* what a function may opt into */
       WEFT_CUDA_CLUSTER_LAUNCH = 120         /* 1: there are clusters, of 8 blocks at least */
};
#define WEFT_CUDA_LEGACY_STREAM ((weft_cuda_stream)0x1) /* CU_STREAM_LEGACY */
enum { WEFT_CUDA_CAPTURE_OF_THREAD = 1 };               /* CUstreamCaptureMode */
enum { WEFT_CUDA_DYNAMIC_SHARED_MEMORY = 8 };           /* CUfunction_attribute */
enum { WEFT_CUDA_IPC_PEER_ACCESS = 1 };                 /* cuIpcOpenMemHandle */
enum { WEFT_CUDA_MAX_PITCH = INT32_MAX }; /* bytes between rows of 2-D and 3-D copies */

typedef struct weft_cuda_copy_2d { /* CUDA_MEMCPY2D_v2 */
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    weft_cuda_address src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    weft_cuda_address dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
} weft_cuda_copy_2d;

typedef struct weft_cuda_copy_3d { /* CUDA_MEMCPY3D_v2 */
    size_t src_x, src_y, src_z, src_lod;
    int src_type;
    const void *src_host;
    weft_cuda_address src_device;
    void *src_array, *reserved0;
    size_t src_pitch, src_height;
    size_t dst_x, dst_y, dst_z, dst_lod;
    int dst_type;
    void *dst_host;
    weft_cuda_address dst_device;
    void *dst_array, *reserved1;
    size_t dst_pitch, dst_height;
    size_t width, height, depth;
} weft_cuda_copy_3d;

typedef struct weft_cuda_ipc_handle { /* CUipcMemHandle */
    char reserved[64];
} weft_cuda_ipc_handle;

typedef struct weft_cuda_driver {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int number);
    int (*device_name)(char *name, int length, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_pci_address)(char *address, int length, int device);
    int (*context_retain)(weft_cuda_context *context, int device);
    int (*context_push)(weft_cuda_context context);
    int (*context_pop)(weft_cuda_context *context);
    int (*memory_info)(size_t *available, size_t *total);
    int (*allocate)(weft_cuda_address *memory, size_t bytes);
    int (*release)(weft_cuda_address memory);
    int (*address_range)(weft_cuda_address *base, size_t *bytes, weft_cuda_address memory);
    int (*pointer_attribute)(void *value, int attribute, weft_cuda_address memory);
    int (*ipc_handle)(weft_cuda_ipc_handle *handle, weft_cuda_address memory);
    int (*ipc_open)(weft_cuda_address *memory, weft_cuda_ipc_handle handle, unsigned flags);
    int (*ipc_close)(weft_cuda_address memory);
    int (*host_allocate)(void **memory, size_t bytes, unsigned flags);
    int (*host_release)(void *memory);
    int (*host_register)(void *memory, size_t bytes, unsigned flags);
    int (*host_unregister)(void *memory);
    int (*copy)(weft_cuda_address to, weft_cuda_address from, size_t bytes,
                weft_cuda_stream stream);
    int (*copy_2d)(const weft_cuda_copy_2d *copy, weft_cuda_stream stream);
    int (*copy_3d)(const weft_cuda_copy_3d *copy, weft_cuda_stream stream);
    int (*priority_range)(int *least, int *greatest);
    int (*stream_create)(weft_cuda_stream *stream, unsigned flags, int priority);
    int (*stream_destroy)(weft_cuda_stream stream);
    int (*stream_query)(weft_cuda_stream stream);
    int (*stream_synchronize)(weft_cuda_stream stream);
    int (*stream_await)(weft_cuda_stream stream, weft_cuda_event event, unsigned flags);
    int (*event_create)(weft_cuda_event *event, unsigned flags);
    int (*event_destroy)(weft_cuda_event event);
    int (*event_query)(weft_cuda_event event);
    int (*event_record)(weft_cuda_event event, weft_cuda_stream stream);
    int (*stream_callback)(weft_cuda_stream stream,
                           void (*function)(weft_cuda_stream, int result, void *argument),
                           void *argument, unsigned flags);
    int (*is_capturing)(weft_cuda_stream stream, int *status);
    int (*capture_begin)(weft_cuda_stream stream, int mode);
    int (*capture_end)(weft_cuda_stream stream, weft_cuda_graph *graph);
    int (*graph_nodes)(weft_cuda_graph graph, void *nodes, size_t *count);
    int (*graph_destroy)(weft_cuda_graph graph);
    int (*graph_instantiate)(weft_cuda_graph_exec *exec, weft_cuda_graph graph,
                             unsigned long long flags);
    int (*graph_upload)(weft_cuda_graph_exec exec, weft_cuda_stream stream);
    int (*graph_launch)(weft_cuda_graph_exec exec, weft_cuda_stream stream);
    int (*graph_exec_destroy)(weft_cuda_graph_exec exec);
    int (*launch)(weft_cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  weft_cuda_stream stream, void **parameters, void **extra);
    int (*module_load)(weft_cuda_module *module, const void *image);
    int (*module_unload)(weft_cuda_module module);
    int (*module_function)(weft_cuda_function *function, weft_cuda_module module, const char *name);
    int (*function_attribute)(weft_cuda_function function, int attribute, int value);
    int (*error_string)(int error, const char **sentence);
} weft_cuda_driver;

typedef struct weft_nvrtc {
    int (*version)(int *major, int *minor);
    int (*create)(weft_nvrtc_program *program, const char *source, const char *name, int headers,
                  const char *const *header, const char *const *include_name);
    int (*destroy)(weft_nvrtc_program *program);
    int (*compile)(weft_nvrtc_program program, int options, const char *const *option);
    int (*cubin_size)(weft_nvrtc_program program, size_t *bytes);
    int (*cubin)(weft_nvrtc_program program, char *cubin);
    int (*ptx_size)(weft_nvrtc_program program, size_t *bytes);
    int (*ptx)(weft_nvrtc_program program, char *ptx);
    int (*log_size)(weft_nvrtc_program program, size_t *bytes);
    int (*log)(weft_nvrtc_program program, char *log);
    int (*architecture_count)(int *count);
    int (*architectures)(int *list);
    const char *(*error_string)(int error);
} weft_nvrtc;

/* The driver, opened and initialized by the first call, where at least one GPU is to be seen; NULL,
 * with the reason as the thread's last error, otherwise. Thread-safe. WEFT_CUDA_LIBRARY_PATH names
 * folders to look in first. */
const weft_cuda_driver *weft_cuda_driver_open(void);

/* The number of GPUs that the driver sees, once it is open. */
int weft_cuda_gpus(void);

/* The compiler of kernels (NVRTC), opened by the first call; otherwise like
 * weft_cuda_driver_open. */
const weft_nvrtc *weft_nvrtc_open(void);

/* The one place that turns the driver's results into a status: WEFT_SUCCESS for 0; else a sentence
 * that says what failed: "CUDA: no copy of 40 bytes: out of memory". */
weft_status weft_cuda_check(int result, const char *failure);

#endif
