/* Chooses among the instruction sets of this build, widest first, the one that the CPU can run. */
#include "engine/native/dispatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WEFT_SIMD_SET(name, condition)                                                             \
    extern const weft_kernels weft_kernels_##name##_double, weft_kernels_##name##_single;
#include "engine/native/sets.def"
#undef WEFT_SIMD_SET

static const weft_kernels *chosen[2]; /* by precision */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void) {
    const char *asked = getenv("WEFT_SIMD");
    bool any = !asked || asked[0] == '\0';
#if defined __x86_64__
    __builtin_cpu_init();
#endif
#define WEFT_SIMD_SET(name, condition)                                                             \
    if (!chosen[0] && (any || strcmp(asked, #name) == 0) && (condition)) {                         \
        chosen[0] = &weft_kernels_##name##_double;                                                 \
        chosen[1] = &weft_kernels_##name##_single;                                                 \
    }
#include "engine/native/sets.def"
#undef WEFT_SIMD_SET
}

const weft_kernels *weft_native_kernels(weft_precision precision) {
    pthread_once(&once, choose);
    return chosen[precision == WEFT_SINGLE ? 1 : 0];
}
