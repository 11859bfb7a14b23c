/* Opens libcuda and libnvrtc at run time and looks up the functions that the device uses. */
#include "device/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/error.h"
#include "support/shared_library.h"

/* The libraries are opened once in the process. */
static weft_library driver_opened = {.once = PTHREAD_ONCE_INIT};
static weft_library nvrtc_opened = {.once = PTHREAD_ONCE_INIT};
static weft_cuda_driver driver;
static weft_nvrtc nvrtc;
static int gpus;

#define DRIVER(name, member) WEFT_LIBRARY_SYMBOL(weft_cuda_driver, name, member)
#define NVRTC(name, member) WEFT_LIBRARY_SYMBOL(weft_nvrtc, name, member)
#define COUNT(symbols) (sizeof(symbols) / sizeof(symbols)[0])

static const weft_library_symbol driver_symbols[] = {
    DRIVER("cuInit", init),
    DRIVER("cuDriverGetVersion", driver_version),
    DRIVER("cuDeviceGetCount", device_count),
    DRIVER("cuDeviceGet", device_get),
    DRIVER("cuDeviceGetName", device_name),
    DRIVER("cuDeviceGetAttribute", device_attribute),
    DRIVER("cuDeviceGetPCIBusId", device_pci_address),
    DRIVER("cuDevicePrimaryCtxRetain", context_retain),
    DRIVER("cuCtxPushCurrent_v2", context_push),
    DRIVER("cuCtxPopCurrent_v2", context_pop),
    DRIVER("cuMemGetInfo_v2", memory_info),
    DRIVER("cuMemAlloc_v2", allocate),
    DRIVER("cuMemFree_v2", release),
    DRIVER("cuMemGetAddressRange_v2", address_range),
    DRIVER("cuPointerGetAttribute", pointer_attribute),
    DRIVER("cuIpcGetMemHandle", ipc_handle),
    DRIVER("cuIpcOpenMemHandle_v2", ipc_open),
    DRIVER("cuIpcCloseMemHandle", ipc_close),
    DRIVER("cuMemHostAlloc", host_allocate),
    DRIVER("cuMemFreeHost", host_release),
    DRIVER("cuMemHostRegister_v2", host_register),
    DRIVER("cuMemHostUnregister", host_unregister),
    DRIVER("cuMemcpyAsync", copy),
    DRIVER("cuMemcpy2DAsync_v2", copy_2d),
    DRIVER("cuMemcpy3DAsync_v2", copy_3d),
    DRIVER("cuCtxGetStreamPriorityRange", priority_range),
    DRIVER("cuStreamCreateWithPriority", stream_create),
    DRIVER("cuStreamDestroy_v2", stream_destroy),
    DRIVER("cuStreamQuery", stream_query),
    DRIVER("cuStreamSynchronize", stream_synchronize),
    DRIVER("cuStreamWaitEvent", stream_await),
    DRIVER("cuEventCreate", event_create),
    DRIVER("cuEventDestroy_v2", event_destroy),
    DRIVER("cuEventQuery", event_query),
    DRIVER("cuEventRecord", event_record),
    DRIVER("cuStreamAddCallback", stream_callback),
    DRIVER("cuStreamIsCapturing", is_capturing),
    DRIVER("cuStreamBeginCapture_v2", capture_begin),
    DRIVER("cuStreamEndCapture", capture_end),
    DRIVER("cuGraphGetNodes", graph_nodes),
    DRIVER("cuGraphDestroy", graph_destroy),
    DRIVER("cuGraphInstantiateWithFlags", graph_instantiate),
    DRIVER("cuGraphUpload", graph_upload),
    DRIVER("cuGraphLaunch", graph_launch),
    DRIVER("cuGraphExecDestroy", graph_exec_destroy),
    DRIVER("cuLaunchKernel", launch),
    DRIVER("cuModuleLoadData", module_load),
    DRIVER("cuModuleUnload", module_unload),
    DRIVER("cuModuleGetFunction", module_function),
    DRIVER("cuFuncSetAttribute", function_attribute),
    DRIVER("cuGetErrorString", error_string),
};
static const weft_library_symbol nvrtc_symbols[] = {
    NVRTC("nvrtcVersion", version),
    NVRTC("nvrtcCreateProgram", create),
    NVRTC("nvrtcDestroyProgram", destroy),
    NVRTC("nvrtcCompileProgram", compile),
    NVRTC("nvrtcGetCUBINSize", cubin_size),
    NVRTC("nvrtcGetCUBIN", cubin),
    NVRTC("nvrtcGetPTXSize", ptx_size),
    NVRTC("nvrtcGetPTX", ptx),
    NVRTC("nvrtcGetProgramLogSize", log_size),
    NVRTC("nvrtcGetProgramLog", log),
    NVRTC("nvrtcGetNumSupportedArchs", architecture_count),
    NVRTC("nvrtcGetSupportedArchs", architectures),
    NVRTC("nvrtcGetErrorString", error_string),
};

static const char *sentence_of(int result) {
    const char *sentence = NULL;
    if (driver.error_string(result, &sentence) != 0 || !sentence) sentence = "no reason given";
    return sentence;
}

static void open_driver(void) {
    char *reason = driver_opened.reason;
    const weft_library_files files = {
        .what = "CUDA device",
        .file = {"libcuda.so.1"},
        .folders = getenv("WEFT_CUDA_LIBRARY_PATH"),
        .loader_too = true,
        .advice = "install NVIDIA's driver (CUDA 11.4 or later) or choose another device"};
    if (!weft_library_load(&files, driver_symbols, COUNT(driver_symbols), &driver, reason)) return;
    int result = driver.init(0);
    if (result == 0) result = driver.device_count(&gpus);
    if (result == 0 && gpus < 1) result = WEFT_CUDA_ERROR_NO_DEVICE;
    driver_opened.usable = result == 0;
    if (result != 0)
        snprintf(reason, sizeof driver_opened.reason,
                 "CUDA device: there is no GPU that can be used (%s); choose another device",
                 sentence_of(result));
}

static void open_nvrtc(void) {
    const weft_library_files files = {
        .what = "CUDA device",
        .file = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                 "/usr/local/cuda/lib64/libnvrtc.so"},
        .folders = getenv("WEFT_CUDA_LIBRARY_PATH"),
        .loader_too = true,
        .advice = "install NVRTC 11.2 or later, or name its folder in WEFT_CUDA_LIBRARY_PATH"};
    nvrtc_opened.usable =
        weft_library_load(&files, nvrtc_symbols, COUNT(nvrtc_symbols), &nvrtc, nvrtc_opened.reason);
}

const weft_cuda_driver *weft_cuda_driver_open(void) {
    return weft_library_once(&driver_opened, open_driver) ? &driver : NULL;
}

int weft_cuda_gpus(void) {
    return gpus;
}

const weft_nvrtc *weft_nvrtc_open(void) {
    return weft_library_once(&nvrtc_opened, open_nvrtc) ? &nvrtc : NULL;
}

weft_status weft_cuda_check(int result, const char *failure) {
    if (result == 0) return WEFT_SUCCESS;
    return weft_fail(result == WEFT_CUDA_ERROR_OUT_OF_MEMORY ? WEFT_ERROR_OUT_OF_MEMORY
                                                             : WEFT_ERROR_DEVICE,
                     "CUDA: %s: %s (CUresult %d)", failure, sentence_of(result), result);
}
