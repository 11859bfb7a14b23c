/* VkFFT (github.com/DTolm/VkFFT, MIT) with its CUDA backend, for C. */
#ifndef BENCH_KERNELS_VKFFT_H
#define BENCH_KERNELS_VKFFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Contiguous arrays; of complex-to-real transforms the input, of real-to-complex ones the output
 * has n/2 + 1 elements along the contiguous axis. */
typedef struct vkfft_case {
    int axes;
    int64_t n[3]; /* the contiguous axis first */
    int left_out[3];
    int64_t batch;
    int real, backward, double_precision, in_place;
    uint64_t in_bytes, out_bytes;
} vkfft_case;

typedef struct vkfft_plan vkfft_plan;

const char *vkfft_version(void);
/* NULL: *error says why. */
vkfft_plan *vkfft_create(const vkfft_case *c, const char **error);
void vkfft_destroy(vkfft_plan *plan);
/* Enqueues it on CUDA's stream 0. NULL, or what is wrong. */
const char *vkfft_execute(vkfft_plan *plan, void *in, void *out);
void vkfft_wait(void);

#ifdef __cplusplus
}
#endif
#endif
