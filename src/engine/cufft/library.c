/* Opens libcufft at run time and looks up the functions that the engine uses. */
#include "engine/cufft/library.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/error.h"
#include "support/shared_library.h"

/* The library is opened once in the process. */
static weft_library opened = {.once = PTHREAD_ONCE_INIT};
static weft_cufft_library library;

#define SYMBOL(name, member) WEFT_LIBRARY_SYMBOL(weft_cufft_library, name, member)

static const weft_library_symbol symbols[] = {
    SYMBOL("cufftGetProperty", get_property),
    SYMBOL("cufftCreate", create),
    SYMBOL("cufftDestroy", destroy),
    SYMBOL("cufftSetAutoAllocation", set_auto_allocation),
    SYMBOL("cufftSetWorkArea", set_work_area),
    SYMBOL("cufftSetStream", set_stream),
    SYMBOL("cufftMakePlanMany64", make_plan_many),
    SYMBOL("cufftXtExec", execute),
};

static void open_library(void) {
    const weft_library_files files = {
        .what = "cuFFT engine",
        .file = {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so",
                 "/usr/local/cuda/lib64/libcufft.so"},
        .folders = getenv("WEFT_CUDA_LIBRARY_PATH"),
        .loader_too = true,
        .advice = "install CUDA 11 or later, or name its folder in WEFT_CUDA_LIBRARY_PATH"};
    int number[3] = {0};
    if (!weft_library_load(&files, symbols, sizeof symbols / sizeof symbols[0], &library,
                           opened.reason))
        return;
    for (int i = 0; i < 3; i++) library.get_property(i, &number[i]);
    snprintf(library.description, sizeof library.description, "cuFFT %d.%d.%d", number[0],
             number[1], number[2]);
    opened.usable = true;
}

const weft_cufft_library *weft_cufft_open(void) {
    return weft_library_once(&opened, open_library) ? &library : NULL;
}

/* The results are values of cufftResult. Some of them say that cuFFT does not support a case, which
 * is no failure. */
weft_status weft_cufft_check(int result, const char *failure) {
    static const struct {
        int result;
        weft_status status;
        const char *meaning;
    } known[] = {
        {0x2, WEFT_ERROR_OUT_OF_MEMORY, "not enough memory on the device"},
        {0x3, WEFT_ERROR_UNSUPPORTED, "it does not do this type of transform"},
        {0x4, WEFT_ERROR_UNSUPPORTED, "it does not take these parameters"},
        {0x8, WEFT_ERROR_UNSUPPORTED, "it does not do this size"},
        {0xB, WEFT_ERROR_UNSUPPORTED, "it cannot use these devices together"},
        {0xE, WEFT_ERROR_UNSUPPORTED, "it does not implement this"},
        {0x10, WEFT_ERROR_UNSUPPORTED, "it does not support this"},
    };
    if (result == 0) return WEFT_SUCCESS;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == result)
            return weft_fail(known[i].status, "cuFFT: %s: %s (cufftResult %d)", failure,
                             known[i].meaning, result);
    return weft_fail(WEFT_ERROR_ENGINE, "cuFFT: %s (cufftResult %d)", failure, result);
}
