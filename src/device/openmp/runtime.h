/*
 * The functions of OpenMP for device memory. Clang has them in a library of their own,
 * libomptarget, which a program needs only if its target regions are compiled for another
 * processor. Without such a target (WEFT_OPENMP_HOST_ONLY, set by CMake where the functions are not
 * there) Clang makes ordinary functions of target regions, the host is the only device, and what
 * follows stands in.
 */
#ifndef WEFT_DEVICE_OPENMP_RUNTIME_H
#define WEFT_DEVICE_OPENMP_RUNTIME_H

#include <omp.h>
#include <stddef.h>
#include <stdint.h>

#ifdef WEFT_OPENMP_HOST_ONLY

#include <stdlib.h>
#include <string.h>

static inline int weft_omp_devices(void) {
    return 0;
}

static inline void *weft_omp_allocate(size_t bytes, int device) {
    (void)device;
    return malloc(bytes);
}

static inline void weft_omp_free(void *memory, int device) {
    (void)device;
    free(memory);
}

static inline int weft_omp_copy(void *to, const void *from, size_t bytes, int to_device,
                                int from_device) {
    (void)to_device, (void)from_device;
    memcpy(to, from, bytes);
    return 0;
}

/* omp_target_memcpy_rect with offsets of zero: row by row. */
static inline int weft_omp_copy_rectangle(void *to, const void *from, size_t element, int axes,
                                          const size_t *n, const size_t *to_extent,
                                          const size_t *from_extent, int to_device,
                                          int from_device) {
    (void)to_device, (void)from_device;
    if (axes == 1) {
        memcpy(to, from, n[0] * element);
        return 0;
    }
    size_t to_step = element, from_step = element;
    for (int a = 1; a < axes; a++) {
        to_step *= to_extent[a];
        from_step *= from_extent[a];
    }
    for (size_t i = 0; i < n[0]; i++)
        weft_omp_copy_rectangle((char *)to + i * to_step, (const char *)from + i * from_step,
                                element, axes - 1, n + 1, to_extent + 1, from_extent + 1, 0, 0);
    return 0;
}

#else

static inline int weft_omp_devices(void) {
    return omp_get_num_devices();
}

static inline void *weft_omp_allocate(size_t bytes, int device) {
    return omp_target_alloc(bytes, device);
}

static inline void weft_omp_free(void *memory, int device) {
    omp_target_free(memory, device);
}

static inline int weft_omp_copy(void *to, const void *from, size_t bytes, int to_device,
                                int from_device) {
    /* OpenMP 4.5 has no const here. */
    return omp_target_memcpy(to, (void *)(uintptr_t)from, bytes, 0, 0, to_device, from_device);
}

static inline int weft_omp_copy_rectangle(void *to, const void *from, size_t element, int axes,
                                          const size_t *n, const size_t *to_extent,
                                          const size_t *from_extent, int to_device,
                                          int from_device) {
    static const size_t zero[16] = {0};
    return omp_target_memcpy_rect(to, (void *)(uintptr_t)from, element, axes, n, zero, zero,
                                  to_extent, from_extent, to_device, from_device);
}

#endif

#endif
