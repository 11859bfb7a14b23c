/*
 * The OpenMP device: memory and kernels through OpenMP's target directives, which compilers
 * translate for GPUs of several makers. Where there is no such device, or nothing was compiled for
 * it, target regions run on the initial device, the host, whose memory is then treated as if the
 * CPU could not address it, so that tests on the host go the ways of a real device.
 *
 * A queue is a chain of OpenMP's tasks, or a thread (queue.h), which runs target regions and copies
 * to their end.
 */
#ifndef WEFT_DEVICE_OPENMP_H
#define WEFT_DEVICE_OPENMP_H

#include <pthread.h>

#include "device/allocations.h"
#include "device/cuda/driver.h"
#include "device/device.h"
#include "device/openmp/queue.h"

/* How strided copies between the host and the device are done: WEFT_OPENMP_COPIES. */
typedef enum weft_openmp_copies {
    WEFT_OPENMP_RECTANGLES, /* "rect": omp_target_memcpy_rect, if few rectangles make the copy */
    WEFT_OPENMP_PACKED /* "packed": a dense buffer on either side and one contiguous copy, which a
                          kernel on the device packs or unpacks */
} weft_openmp_copies;

typedef struct weft_openmp_processor {
    int number;   /* as OpenMP counts devices */
    int host;     /* number of the initial device */
    bool is_host; /* they are the same */
    int threads;  /* of a kernel's team */
} weft_openmp_processor;

/* Memory that work on the device shares, piece by piece, under a lock. */
typedef struct weft_openmp_area {
    pthread_mutex_t lock;
    char *memory; /* on the device */
    char *host;   /* of `staging`: as much on the host */
    size_t bytes;
} weft_openmp_area;

struct weft_device_state {
    weft_openmp_processor processor;
    const weft_cuda_driver *driver; /* where the memory is an NVIDIA GPU's; NULL elsewhere */
    weft_cuda_context context;      /* that OpenMP's runtime uses there */
    weft_openmp_copies copies;
    int threads; /* of the host, which pack */
    weft_allocations allocations;
    weft_openmp_area staging; /* of packed copies */
    bool prepared;            /* staging was allocated, as far as memory allowed */
    weft_openmp_area scratch; /* of engines */
    weft_openmp_team *team;   /* of all queues; NULL where they are threads */
    weft_queue *default_queue;
};

/* Finds the device of this process: the one of options.device_number, `given`, if that is not 0;
 * else the one that WEFT_OPENMP_DEVICE names by number ("host": the initial device), else by the
 * rank on the node, else the initial device. Fails with WEFT_ERROR_INVALID_ARGUMENT where there is
 * none of that number. */
weft_status weft_openmp_choose(int given, weft_openmp_processor *processor);

/* Reads WEFT_OPENMP_COPIES. */
weft_status weft_openmp_copies_read(weft_openmp_copies *copies);

weft_status weft_openmp_allocate(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                                 void **memory);
void weft_openmp_free(weft_device_state *device, weft_memory_kind kind, void *memory);

/* Sets driver and context of the device, whose processor is known. (nvidia.c) */
void weft_openmp_find_gpu(weft_device_state *device);

/* Page-locks host memory, of which OpenMP 5.0 knows nothing, by NVIDIA's driver: runtimes' copies
 * from and to it are several times as fast. False: it is not such a GPU, or the memory cannot be
 * locked, or is already. Unlocking what was not locked does nothing. (nvidia.c) */
bool weft_openmp_host_lock(weft_device_state *device, void *memory, size_t bytes);
void weft_openmp_host_unlock(weft_device_state *device, void *memory);

/* Copies from the host to the device now: what plans make. */
weft_status weft_openmp_upload(weft_device_state *device, const void *from, void *to, size_t bytes);

/* Makes the engines' scratch memory at least so large; *grown gets the bytes that it grew by. */
weft_status weft_openmp_reserve(weft_device_state *device, size_t bytes, size_t *grown);

/* Enqueues function(argument, in, out), which runs in a task on the host with device addresses, and
 * may execute target regions. */
weft_status weft_openmp_enqueue(weft_device_state *device, weft_queue *queue,
                                weft_device_function function, void *argument, const void *in,
                                void *out);

/* The work of a queue; the context is the device's state. (copy.c) */
weft_status weft_openmp_copy_now(void *device, const weft_work *work);
weft_status weft_openmp_scale_now(void *device, const weft_work *work);
weft_status weft_openmp_operate_now(void *device, const weft_work *work);

/* Allocates the memory of packed copies, if it is not there. (copy.c) */
void weft_openmp_prepare_transfers(weft_device_state *device);

#endif
