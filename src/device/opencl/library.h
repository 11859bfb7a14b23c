/*
 * OpenCL 1.2 as it is found at run time. weft is built without its headers, as it is without those
 * of CUDA, so the few prototypes and constants are written here from the Khronos Group's "The
 * OpenCL Specification", version 1.2 (registry of khronos.org). Statuses are ints, bit fields
 * uint64_t, handles pointers.
 */
#ifndef WEFT_DEVICE_OPENCL_LIBRARY_H
#define WEFT_DEVICE_OPENCL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <weft/weft.h>

typedef struct _cl_platform_id *weft_cl_platform;
typedef struct _cl_device_id *weft_cl_device;
typedef struct _cl_context *weft_cl_context;
typedef struct _cl_command_queue *weft_cl_queue;
typedef struct _cl_mem *weft_cl_memory;
typedef struct _cl_program *weft_cl_program;
typedef struct _cl_kernel *weft_cl_kernel;
typedef struct _cl_event *weft_cl_event;

enum { /* results */
       WEFT_CL_DEVICE_NOT_FOUND = -1,
       WEFT_CL_MEMORY_ALLOCATION_FAILURE = -4,
       WEFT_CL_OUT_OF_RESOURCES = -5,
       WEFT_CL_OUT_OF_HOST_MEMORY = -6,
       WEFT_CL_BUILD_FAILURE = -11,
       WEFT_CL_INVALID_VALUE = -30,
       WEFT_CL_INVALID_BINARY = -42,
       WEFT_CL_INVALID_BUFFER_SIZE = -61,
       WEFT_CL_NO_PLATFORM = -1001 /* cl_khr_icd */
};
enum { WEFT_CL_PLATFORM_VERSION = 0x0901, WEFT_CL_PLATFORM_NAME = 0x0902 };
enum { /* bits of a type of device */
       WEFT_CL_DEVICE_IS_CPU = 1 << 1,
       WEFT_CL_DEVICE_IS_GPU = 1 << 2,
       WEFT_CL_DEVICE_IS_ACCELERATOR = 1 << 3
};
#define WEFT_CL_ALL_DEVICES UINT64_C(0xffffffff)
enum { /* what clGetDeviceInfo tells */
       WEFT_CL_DEVICE_TYPE = 0x1000,
       WEFT_CL_DEVICE_COMPUTE_UNITS = 0x1002,
       WEFT_CL_DEVICE_GROUP_SIZE = 0x1004,
       WEFT_CL_DEVICE_WIDTH_FLOAT = 0x100a,
       WEFT_CL_DEVICE_MAX_ALLOCATION = 0x1010,
       WEFT_CL_DEVICE_PARAMETER_SIZE = 0x1017,
       WEFT_CL_DEVICE_GLOBAL_MEMORY = 0x101f,
       WEFT_CL_DEVICE_LOCAL_MEMORY = 0x1023,
       WEFT_CL_DEVICE_AVAILABLE = 0x1027,
       WEFT_CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
       WEFT_CL_DEVICE_NAME = 0x102b,
       WEFT_CL_DRIVER_VERSION = 0x102d,
       WEFT_CL_DEVICE_VERSION = 0x102f,
       WEFT_CL_DEVICE_DOUBLE = 0x1032,    /* 0 where there is no double precision */
       WEFT_CL_DEVICE_REGISTERS = 0x4002, /* of a group: cl_nv_device_attribute_query */
       WEFT_CL_DEVICE_WARP_SIZE = 0x4003  /* the same */
};
enum { WEFT_CL_READ_WRITE = 1, WEFT_CL_ALLOCATE_HOST = 1 << 4 }; /* clCreateBuffer */
enum { WEFT_CL_MAP_READ = 1, WEFT_CL_MAP_WRITE = 2 };
enum { WEFT_CL_CONTENT_UNDEFINED = 2 }; /* clEnqueueMigrateMemObjects */
enum { WEFT_CL_PROGRAM_BINARY_SIZES = 0x1165, WEFT_CL_PROGRAM_BINARIES = 0x1166 };
enum { WEFT_CL_BUILD_LOG = 0x1183 };
enum { WEFT_CL_KERNEL_LOCAL_MEMORY = 0x11b2 };
enum { WEFT_CL_EVENT_STATUS = 0x11d3, WEFT_CL_COMPLETE = 0 };

typedef struct weft_cl {
    int (*platforms)(unsigned room, weft_cl_platform *platform, unsigned *count);
    int (*platform_info)(weft_cl_platform platform, unsigned what, size_t room, void *value,
                         size_t *bytes);
    int (*devices)(weft_cl_platform platform, uint64_t types, unsigned room, weft_cl_device *device,
                   unsigned *count);
    int (*device_info)(weft_cl_device device, unsigned what, size_t room, void *value,
                       size_t *bytes);
    weft_cl_context (*context_create)(const intptr_t *properties, unsigned devices,
                                      const weft_cl_device *device,
                                      void (*notify)(const char *, const void *, size_t, void *),
                                      void *argument, int *result);
    int (*context_release)(weft_cl_context context);
    weft_cl_queue (*queue_create)(weft_cl_context context, weft_cl_device device,
                                  uint64_t properties, int *result);
    int (*queue_release)(weft_cl_queue queue);
    int (*flush)(weft_cl_queue queue);
    int (*finish)(weft_cl_queue queue);
    weft_cl_memory (*buffer_create)(weft_cl_context context, uint64_t flags, size_t bytes,
                                    void *host, int *result);
    int (*memory_release)(weft_cl_memory memory);
    int (*migrate)(weft_cl_queue queue, unsigned count, const weft_cl_memory *memory,
                   uint64_t flags, unsigned waits, const weft_cl_event *wait, weft_cl_event *event);
    void *(*map)(weft_cl_queue queue, weft_cl_memory memory, unsigned blocking, uint64_t flags,
                 size_t offset, size_t bytes, unsigned waits, const weft_cl_event *wait,
                 weft_cl_event *event, int *result);
    int (*unmap)(weft_cl_queue queue, weft_cl_memory memory, void *mapped, unsigned waits,
                 const weft_cl_event *wait, weft_cl_event *event);
    int (*copy)(weft_cl_queue queue, weft_cl_memory src, weft_cl_memory dst, size_t src_offset,
                size_t dst_offset, size_t bytes, unsigned waits, const weft_cl_event *wait,
                weft_cl_event *event);
    int (*copy_rect)(weft_cl_queue queue, weft_cl_memory src, weft_cl_memory dst,
                     const size_t src_origin[3], const size_t dst_origin[3], const size_t region[3],
                     size_t src_row, size_t src_slice, size_t dst_row, size_t dst_slice,
                     unsigned waits, const weft_cl_event *wait, weft_cl_event *event);
    int (*fill)(weft_cl_queue queue, weft_cl_memory memory, const void *pattern,
                size_t pattern_bytes, size_t offset, size_t bytes, unsigned waits,
                const weft_cl_event *wait, weft_cl_event *event);
    int (*read)(weft_cl_queue queue, weft_cl_memory src, unsigned blocking, size_t offset,
                size_t bytes, void *host, unsigned waits, const weft_cl_event *wait,
                weft_cl_event *event);
    int (*read_rect)(weft_cl_queue queue, weft_cl_memory src, unsigned blocking,
                     const size_t origin[3], const size_t host_origin[3], const size_t region[3],
                     size_t row, size_t slice, size_t host_row, size_t host_slice, void *host,
                     unsigned waits, const weft_cl_event *wait, weft_cl_event *event);
    int (*write)(weft_cl_queue queue, weft_cl_memory dst, unsigned blocking, size_t offset,
                 size_t bytes, const void *host, unsigned waits, const weft_cl_event *wait,
                 weft_cl_event *event);
    int (*write_rect)(weft_cl_queue queue, weft_cl_memory dst, unsigned blocking,
                      const size_t origin[3], const size_t host_origin[3], const size_t region[3],
                      size_t row, size_t slice, size_t host_row, size_t host_slice,
                      const void *host, unsigned waits, const weft_cl_event *wait,
                      weft_cl_event *event);
    int (*marker)(weft_cl_queue queue, unsigned waits, const weft_cl_event *wait,
                  weft_cl_event *event);
    int (*barrier)(weft_cl_queue queue, unsigned waits, const weft_cl_event *wait,
                   weft_cl_event *event);
    int (*event_info)(weft_cl_event event, unsigned what, size_t room, void *value, size_t *bytes);
    int (*event_callback)(weft_cl_event event, int when,
                          void (*function)(weft_cl_event, int, void *), void *argument);
    int (*event_retain)(weft_cl_event event);
    int (*event_release)(weft_cl_event event);
    weft_cl_program (*program_from_source)(weft_cl_context context, unsigned count,
                                           const char **text, const size_t *bytes, int *result);
    weft_cl_program (*program_from_binary)(weft_cl_context context, unsigned devices,
                                           const weft_cl_device *device, const size_t *bytes,
                                           const unsigned char **binary, int *binary_result,
                                           int *result);
    int (*program_build)(weft_cl_program program, unsigned devices, const weft_cl_device *device,
                         const char *options, void (*notify)(weft_cl_program, void *),
                         void *argument);
    int (*program_info)(weft_cl_program program, unsigned what, size_t room, void *value,
                        size_t *bytes);
    int (*build_info)(weft_cl_program program, weft_cl_device device, unsigned what, size_t room,
                      void *value, size_t *bytes);
    int (*program_release)(weft_cl_program program);
    weft_cl_kernel (*kernel_create)(weft_cl_program program, const char *name, int *result);
    int (*kernel_info)(weft_cl_kernel kernel, weft_cl_device device, unsigned what, size_t room,
                       void *value, size_t *bytes);
    int (*kernel_argument)(weft_cl_kernel kernel, unsigned number, size_t bytes, const void *value);
    int (*kernel_release)(weft_cl_kernel kernel);
    int (*launch)(weft_cl_queue queue, weft_cl_kernel kernel, unsigned axes, const size_t *offset,
                  const size_t *threads, const size_t *group, unsigned waits,
                  const weft_cl_event *wait, weft_cl_event *event);
} weft_cl;

/* The library, opened by the first call; NULL, with the reason as the thread's last error, where
 * there is none. Thread-safe. WEFT_OPENCL_LIBRARY_PATH names folders to look in first. */
const weft_cl *weft_cl_open(void);

/* The one place that turns OpenCL's results into a status: WEFT_SUCCESS for 0; else a sentence that
 * says what failed: "OpenCL: no copy of 40 bytes: out of resources (-5)". */
weft_status weft_cl_check(int result, const char *failure);

#endif
