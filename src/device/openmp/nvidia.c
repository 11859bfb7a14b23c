/* What the OpenMP device asks of NVIDIA's driver, where OpenMP's runtime gets memory from it. */
#include "device/openmp/openmp.h"
#include "device/openmp/runtime.h"

/* The context of an address, if it is that of memory of a GPU. */
static weft_cuda_context context_of(const weft_cuda_driver *driver, const void *memory) {
    const weft_cuda_address address = (uintptr_t)memory;
    weft_cuda_context context = NULL;
    int type = 0;
    if (driver->pointer_attribute(&type, WEFT_CUDA_POINTER_TYPE, address) != 0 ||
        type != WEFT_CUDA_MEMORY_DEVICE ||
        driver->pointer_attribute(&context, WEFT_CUDA_POINTER_CONTEXT, address) != 0)
        return NULL;
    return context;
}

/* The runtime's context is the GPU's primary one (LLVM), or one of its own (GCC 12). */
void weft_openmp_find_gpu(weft_device_state *device) {
    const weft_cuda_driver *driver = weft_cuda_driver_open();
    void *memory = driver ? weft_omp_allocate(1, device->processor.number) : NULL;
    if (!memory) return;
    device->context = context_of(driver, memory);
    if (device->context) device->driver = driver;
    weft_omp_free(memory, device->processor.number);
}

bool weft_openmp_host_lock(weft_device_state *device, void *memory, size_t bytes) {
    if (!device->driver || bytes == 0 || device->driver->context_push(device->context) != 0)
        return false;
    weft_cuda_context left;
    const bool locked = device->driver->host_register(
                            memory, bytes, WEFT_CUDA_HOST_PORTABLE | WEFT_CUDA_HOST_MAPPED) == 0;
    device->driver->context_pop(&left);
    return locked;
}

void weft_openmp_host_unlock(weft_device_state *device, void *memory) {
    if (!device->driver || device->driver->context_push(device->context) != 0) return;
    weft_cuda_context left;
    device->driver->host_unregister(memory);
    device->driver->context_pop(&left);
}
