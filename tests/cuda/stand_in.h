/* What only the stand-in for the CUDA driver has (host_cuda.h), for tests that count its calls. */
#ifndef WEFT_TESTS_CUDA_STAND_IN_H
#define WEFT_TESTS_CUDA_STAND_IN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether the tests run with the stand-in, and not on a GPU. */
static inline bool has_stand_in(void) {
    return getenv("WEFT_TEST_HOST_CUDA") != NULL;
}

/* A function of the stand-in, which weft has loaded. */
static inline void *stand_in_function(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("WEFT_CUDA_LIBRARY_PATH"));
    void *driver = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(driver);
    void *function = dlsym(driver, name);
    dlclose(driver);
    assert_non_null(function);
    return function;
}

#endif
