/* The kernels compile with the NVRTC that is installed, for some of the architectures that it
 * knows. Skipped where there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/compile.h"
#include "device/kernel_source.h"
#include "device/scale_kernel.h"
#include "device/strided_copy.h"
#include "support/error.h"

static int compile(const weft_kernel_source *source, int architecture) {
    weft_cuda_image image;
    const char *name = source->name;
    char *text = weft_kernel_text(source, true, false);
    weft_status status =
        text ? weft_cuda_compile(name, text, architecture, false, &image) : WEFT_ERROR_SYSTEM;
    free(text);
    if (status != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_thread_error());
        return 1;
    }
    int wrong = memcmp(image.data, "\177ELF", 4) != 0;
    if (wrong) fprintf(stderr, "%s for %d is no machine code\n", name, architecture);
    free(image.data);
    return wrong;
}

/* What is wrong with a text is told, whatever is warned of before. */
static int errors_are_told(int architecture) {
    const char *const text[] = {
        "int warned_of() {}\nKERNEL(wrong)() {\n    not_declared = 1;\n}\n"};
    const weft_kernel_source source = {
        .name = "wrong", .text = text, .texts = 1, .threads = 32, .precision = WEFT_DOUBLE};
    weft_cuda_image image;
    char *whole = weft_kernel_text(&source, true, false);
    weft_status status = weft_cuda_compile("wrong", whole, architecture, false, &image);
    free(whole);
    if (status == WEFT_ERROR_DEVICE && strstr(weft_thread_error(), "not_declared")) return 0;
    fprintf(stderr, "an error is told as: %s\n", weft_thread_error());
    return 1;
}

int main(void) {
    enum { SKIPPED = 77, MOST = 256 };
    const weft_nvrtc *nvrtc = weft_nvrtc_open();
    int known[MOST], count = 0, wrong = 0;
    if (!nvrtc) {
        printf("skipped: %s\n", weft_thread_error());
        return SKIPPED;
    }
    if (nvrtc->architecture_count(&count) != 0 || count > MOST || nvrtc->architectures(known) != 0)
        return 1;
    const weft_kernel_source copy = weft_copy_source(WEFT_COPY_KERNEL_ROWS, 0);
    const weft_kernel_source scale[] = {weft_scale_source(WEFT_DOUBLE),
                                        weft_scale_source(WEFT_SINGLE)};
    for (int i = 0; i < count; i++) {
        if (i > 0 && i < count - 1 && known[i] != 90) continue;
        wrong |=
            compile(&copy, known[i]) | compile(&scale[0], known[i]) | compile(&scale[1], known[i]);
    }
    return wrong | errors_are_told(known[count - 1]);
}
