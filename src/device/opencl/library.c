/* Opens libOpenCL at run time and looks up the functions that the device uses. */
#include "device/opencl/library.h"

#include <stdlib.h>

#include "support/error.h"
#include "support/shared_library.h"

/* The library is opened once in the process. */
static weft_library opened = {.once = PTHREAD_ONCE_INIT};
static weft_cl library;

#define CL(name, member) WEFT_LIBRARY_SYMBOL(weft_cl, "cl" name, member)

static const weft_library_symbol symbols[] = {
    CL("GetPlatformIDs", platforms),
    CL("GetPlatformInfo", platform_info),
    CL("GetDeviceIDs", devices),
    CL("GetDeviceInfo", device_info),
    CL("CreateContext", context_create),
    CL("ReleaseContext", context_release),
    CL("CreateCommandQueue", queue_create),
    CL("ReleaseCommandQueue", queue_release),
    CL("Flush", flush),
    CL("Finish", finish),
    CL("CreateBuffer", buffer_create),
    CL("ReleaseMemObject", memory_release),
    CL("EnqueueMigrateMemObjects", migrate),
    CL("EnqueueMapBuffer", map),
    CL("EnqueueUnmapMemObject", unmap),
    CL("EnqueueCopyBuffer", copy),
    CL("EnqueueCopyBufferRect", copy_rect),
    CL("EnqueueFillBuffer", fill),
    CL("EnqueueReadBuffer", read),
    CL("EnqueueReadBufferRect", read_rect),
    CL("EnqueueWriteBuffer", write),
    CL("EnqueueWriteBufferRect", write_rect),
    CL("EnqueueMarkerWithWaitList", marker),
    CL("EnqueueBarrierWithWaitList", barrier),
    CL("GetEventInfo", event_info),
    CL("SetEventCallback", event_callback),
    CL("RetainEvent", event_retain),
    CL("ReleaseEvent", event_release),
    CL("CreateProgramWithSource", program_from_source),
    CL("CreateProgramWithBinary", program_from_binary),
    CL("BuildProgram", program_build),
    CL("GetProgramInfo", program_info),
    CL("GetProgramBuildInfo", build_info),
    CL("ReleaseProgram", program_release),
    CL("CreateKernel", kernel_create),
    CL("GetKernelWorkGroupInfo", kernel_info),
    CL("SetKernelArg", kernel_argument),
    CL("ReleaseKernel", kernel_release),
    CL("EnqueueNDRangeKernel", launch),
};

static void open_library(void) {
    const weft_library_files files = {
        .what = "OpenCL device",
        .file = {"libOpenCL.so.1"},
        .folders = getenv("WEFT_OPENCL_LIBRARY_PATH"),
        .loader_too = true,
        .advice = "install an OpenCL loader (ocl-icd) and the driver of a device, or choose "
                  "another device than opencl"};
    opened.usable = weft_library_load(&files, symbols, sizeof symbols / sizeof symbols[0], &library,
                                      opened.reason);
}

const weft_cl *weft_cl_open(void) {
    return weft_library_once(&opened, open_library) ? &library : NULL;
}

static const char *sentence_of(int result) {
    static const struct {
        int result;
        const char *sentence;
    } known[] = {{WEFT_CL_DEVICE_NOT_FOUND, "there is no such device"},
                 {-2, "the device is not available"},
                 {-3, "there is no compiler"},
                 {WEFT_CL_MEMORY_ALLOCATION_FAILURE, "out of device memory"},
                 {WEFT_CL_OUT_OF_RESOURCES, "out of resources"},
                 {WEFT_CL_OUT_OF_HOST_MEMORY, "out of host memory"},
                 {-8, "source and destination overlap"},
                 {WEFT_CL_BUILD_FAILURE, "the program does not build"},
                 {-13, "a misaligned part of a buffer"},
                 {-14, "work before it failed"},
                 {-30, "invalid value"},
                 {-36, "invalid queue"},
                 {-38, "invalid memory object"},
                 {WEFT_CL_INVALID_BINARY, "invalid binary"},
                 {-46, "there is no kernel of this name"},
                 {-48, "invalid kernel"},
                 {-49, "there is no such parameter"},
                 {-50, "invalid value of a parameter"},
                 {-51, "a parameter has another size"},
                 {-52, "parameters were not all given"},
                 {-54, "invalid size of a group"},
                 {WEFT_CL_INVALID_BUFFER_SIZE, "larger than the device's largest buffer"},
                 {-63, "invalid number of groups"},
                 {WEFT_CL_NO_PLATFORM, "no OpenCL driver is installed"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].result == result) return known[i].sentence;
    return "no reason given";
}

weft_status weft_cl_check(int result, const char *failure) {
    if (result == 0) return WEFT_SUCCESS;
    const bool memory = result == WEFT_CL_MEMORY_ALLOCATION_FAILURE ||
                        result == WEFT_CL_OUT_OF_HOST_MEMORY ||
                        result == WEFT_CL_INVALID_BUFFER_SIZE;
    return weft_fail(memory ? WEFT_ERROR_OUT_OF_MEMORY : WEFT_ERROR_DEVICE, "OpenCL: %s: %s (%d)",
                     failure, sentence_of(result), result);
}
