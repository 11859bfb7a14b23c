/* The kernels compile with the NVRTC that is installed, for every architecture that it knows.
 * Skipped where there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/compile.h"
#include "support/error.h"

extern const char weft_cuda_copy_cu[], weft_cuda_scale_cu[];

static int compile(const char *name, const char *source, int architecture) {
    weft_cuda_image image;
    if (weft_cuda_compile(name, source, architecture, false, &image) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_thread_error());
        return 1;
    }
    int wrong = memcmp(image.data, "\177ELF", 4) != 0;
    if (wrong) fprintf(stderr, "%s for %d is no machine code\n", name, architecture);
    free(image.data);
    return wrong;
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
    for (int i = 0; i < count; i++) {
        if (i > 0 && i < count - 1 && known[i] != 90) continue;
        wrong |= compile("copy.cu", weft_cuda_copy_cu, known[i]) |
                 compile("scale.cu", weft_cuda_scale_cu, known[i]);
    }
    return wrong;
}
