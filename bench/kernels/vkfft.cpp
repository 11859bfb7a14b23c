/* What vkfft.h promises. VkFFT works in one buffer, that of the complex side, which is the input of
 * complex-to-real transforms and the output of all others. */
#define VKFFT_BACKEND 1
#include "vkFFT.h"

#include "vkfft.h"

struct vkfft_plan {
    VkFFTApplication app;
    CUdevice gpu;
    pfUINT work_bytes, other_bytes;
    bool backward, in_place;
};

const char *vkfft_version() {
    static char text[32];
    const int version = VkFFTGetVersion();
    snprintf(text, sizeof text, "VkFFT %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return text;
}

/* Where real data lies that is not padded to its spectrum's length. */
static void set_real_strides(VkFFTConfiguration *c) {
    c->inputBufferStride[0] = c->size[0];
    for (int d = 1; d < VKFFT_MAX_FFT_DIMENSIONS; d++)
        c->inputBufferStride[d] = c->inputBufferStride[d - 1] * (c->size[d] > 0 ? c->size[d] : 1);
}

vkfft_plan *vkfft_create(const vkfft_case *wanted, const char **error) {
    vkfft_plan *p = new vkfft_plan{};
    VkFFTConfiguration c = {};
    void *later = nullptr; // buffers are given with each execution
    cudaGetDevice(&p->gpu);
    p->backward = wanted->backward != 0;
    p->in_place = wanted->in_place != 0;
    p->work_bytes = p->backward ? wanted->in_bytes : wanted->out_bytes;
    p->other_bytes = p->backward ? wanted->out_bytes : wanted->in_bytes;
    c.device = &p->gpu;
    c.FFTdim = static_cast<pfUINT>(wanted->axes);
    for (int d = 0; d < wanted->axes; d++) {
        c.size[d] = static_cast<pfUINT>(wanted->n[d]);
        c.omitDimension[d] = static_cast<pfUINT>(wanted->left_out[d]);
    }
    c.numberBatches = static_cast<pfUINT>(wanted->batch);
    c.doublePrecision = wanted->double_precision != 0;
    c.performR2C = wanted->real != 0;
    c.makeForwardPlanOnly = !p->backward;
    c.makeInversePlanOnly = p->backward;
    c.buffer = &later;
    c.bufferSize = &p->work_bytes;
    if (!p->in_place) {
        c.isInputFormatted = 1;
        c.inverseReturnToInputBuffer = p->backward;
        c.inputBuffer = &later;
        c.inputBufferSize = &p->other_bytes;
        if (wanted->real) set_real_strides(&c);
    }
    const VkFFTResult result = initializeVkFFT(&p->app, c);
    if (result == VKFFT_SUCCESS) return p;
    *error = getVkFFTErrorString(result);
    delete p;
    return nullptr;
}

void vkfft_destroy(vkfft_plan *p) {
    deleteVkFFT(&p->app);
    delete p;
}

const char *vkfft_execute(vkfft_plan *p, void *in, void *out) {
    VkFFTLaunchParams launch = {};
    launch.buffer = p->backward || p->in_place ? &in : &out;
    if (!p->in_place) launch.inputBuffer = p->backward ? &out : &in;
    const VkFFTResult result = VkFFTAppend(&p->app, p->backward ? 1 : -1, &launch);
    return result == VKFFT_SUCCESS ? nullptr : getVkFFTErrorString(result);
}

void vkfft_wait() {
    cudaStreamSynchronize(nullptr);
}
