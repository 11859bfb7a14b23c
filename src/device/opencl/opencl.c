/*
 * The OpenCL device: memory of a GPU, or of a CPU that has a driver such as PoCL, and in-order
 * command queues. Opened through libOpenCL at run time, so weft is built without OpenCL and runs
 * where there is none. Needs OpenCL 1.2 and no extension, but cl_khr_fp64 for double precision.
 */
#include "device/opencl/opencl.h"

#include <stdlib.h>

#include "device/opencl/program.h"
#include "device/scale_kernel.h"
#include "support/error.h"

static weft_status opencl_probe(const char **description) {
    weft_cl_processor *processor;
    WEFT_TRY(weft_cl_processor_choose(&processor));
    if (description) *description = processor->description;
    return WEFT_SUCCESS;
}

static weft_status opencl_open(const weft_device_settings *settings, weft_device_state **device) {
    weft_cl_processor *processor;
    WEFT_TRY(weft_cl_processor_open(&processor));
    weft_device_state *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a device");
    made->processor = processor;
    weft_status status = weft_cl_queue_create(made, false, &made->queue);
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    weft_allocations_open(&made->allocations, settings->memory_limit);
    weft_notices_open(&made->notices);
    *device = made;
    return WEFT_SUCCESS;
}

static void opencl_close(weft_device_state *device) {
    if (!device) return;
    weft_allocation *left;
    device->processor->cl->finish(device->queue->queue);
    while ((left = weft_allocations_take(&device->allocations, NULL)) != NULL) {
        if (left->address == device->queue->scratch) device->queue->scratch = NULL;
        weft_cl_free_record(device, left);
    }
    weft_cl_queue_destroy(device, device->queue);
    weft_allocations_close(&device->allocations);
    weft_notices_close(&device->notices);
    free(device);
}

static weft_status opencl_scale(weft_device_state *device, weft_queue *queue,
                                weft_precision precision, void *data, int64_t count,
                                double factor) {
    weft_scale_launch launch;
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "the OpenCL device scales double and single precision only");
    if (!device->processor->scale[precision])
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%.200s computes no double precision (cl_khr_fp64); choose single "
                         "precision or another device",
                         device->processor->name);
    if (count == 0) return WEFT_SUCCESS;
    weft_scale_prepare(&launch, data, count, factor, device->processor->limits.has_double);
    return weft_cl_kernel_launch(device, queue, device->processor->scale[precision], launch.groups,
                                 launch.argument, WEFT_SCALE_ARGUMENTS);
}

const weft_device_ops weft_device_opencl = {
    .name = "opencl",
    .id = WEFT_OPENCL,
    .host_addressable = false,
    .can_fail = true,
    .transport_aware = false, /* no transport can read its addresses */
    .probe = opencl_probe,
    .open = opencl_open,
    .close = opencl_close,
    .allocate = weft_cl_allocate,
    .free = weft_cl_free,
    .queue_create = weft_cl_queue_create,
    .queue_destroy = weft_cl_queue_destroy,
    .queue_wait = weft_cl_queue_wait,
    .event_create = weft_cl_event_create,
    .event_destroy = weft_cl_event_destroy,
    .event_record = weft_cl_event_record,
    .event_await = weft_cl_event_await,
    .event_done = weft_cl_event_done,
    .copy = weft_cl_copy,
    .prepare_transfers = weft_cl_prepare_transfers,
    .callback = weft_cl_callback,
    .scale = opencl_scale,
    .kernel_limits = weft_cl_kernel_limits,
    .kernel_create = weft_cl_kernel_create,
    .kernel_destroy = weft_cl_kernel_destroy,
    .kernel_launch = weft_cl_kernel_launch,
};
