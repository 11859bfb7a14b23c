/* Names of enumerators as the command line and reports spell them. */
#include <weft/weft.h>

#define WEFT_NAME_OF(table, value)                                                                 \
    ((size_t)(value) < sizeof(table) / sizeof(table)[0] ? (table)[value] : "?")

WEFT_API const char *weft_status_name(weft_status status) {
    static const char *const names[] = {
        "success",        "invalid argument",  "mismatch between ranks",
        "unsupported",    "out of memory",     "device failure",
        "engine failure", "transport failure", "system failure"};
    return WEFT_NAME_OF(names, status);
}

WEFT_API const char *weft_kind_name(weft_kind kind) {
    static const char *const names[] = {"c2c", "r2c", "r2r"};
    return WEFT_NAME_OF(names, kind);
}

WEFT_API const char *weft_axis_name(weft_axis axis) {
    static const char *const names[] = {"fft",  "none", "dct1", "dct2", "dct3", "dct4",
                                        "dst1", "dst2", "dst3", "dst4", "real"};
    return WEFT_NAME_OF(names, axis);
}

WEFT_API const char *weft_precision_name(weft_precision precision) {
    static const char *const names[] = {"double", "single", "half"};
    return WEFT_NAME_OF(names, precision);
}

WEFT_API const char *weft_decomposition_name(weft_decomposition decomposition) {
    static const char *const names[] = {"auto",      "slab-2d1d", "slab-1d2d",
                                        "slab-y-zx", "pencil",    "brick"};
    return WEFT_NAME_OF(names, decomposition);
}

WEFT_API const char *weft_variant_name(weft_variant variant) {
    static const char *const names[] = {"auto", "default", "realigned"};
    return WEFT_NAME_OF(names, variant);
}

WEFT_API const char *weft_exchange_name(weft_exchange exchange) {
    static const char *const names[] = {"auto",     "p2p-sync", "p2p-streams", "p2p-type",
                                        "a2a-sync", "a2a-type", "nccl",        "peer"};
    return WEFT_NAME_OF(names, exchange);
}

WEFT_API const char *weft_engine_name(weft_engine engine) {
    static const char *const names[] = {"auto", "native",    "fftw",     "cufft",
                                        "jit",  "reference", "identity", "openmp"};
    return WEFT_NAME_OF(names, engine);
}

WEFT_API const char *weft_device_name(weft_device device) {
    static const char *const names[] = {"host", "cuda", "opencl", "openmp", "simulated"};
    return WEFT_NAME_OF(names, device);
}

WEFT_API const char *weft_effort_name(weft_effort effort) {
    static const char *const names[] = {"estimate", "measure", "patient"};
    return WEFT_NAME_OF(names, effort);
}

WEFT_API const char *weft_phase_name(weft_phase phase) {
    static const char *const names[] = {"fft", "pack", "exchange", "unpack", "copy", "local"};
    return WEFT_NAME_OF(names, phase);
}

WEFT_API const char *weft_operator_kind_name(weft_operator_kind kind) {
    static const char *const names[] = {"?",        "scale", "window", "shift",  "table",
                                        "function", "array", "matrix", "reduce", "matrix array"};
    return WEFT_NAME_OF(names, kind);
}

WEFT_API const char *weft_reduction_name(weft_reduction reduction) {
    static const char *const names[] = {"sum", "norm", "max"};
    return WEFT_NAME_OF(names, reduction);
}

WEFT_API const char *weft_window_kind_name(weft_window_kind kind) {
    static const char *const names[] = {
        "none",     "hann",   "hamming",  "blackman", "blackman-harris",
        "flat-top", "kaiser", "gaussian", "tukey"};
    return WEFT_NAME_OF(names, kind);
}

WEFT_API const char *weft_storage_name(weft_storage storage) {
    static const char *const names[] = {"same",  "u8",     "i16",        "u16",         "half",
                                        "float", "double", "decibel-u8", "complex-half"};
    return WEFT_NAME_OF(names, storage);
}

WEFT_API const char *weft_boundary_name(weft_boundary boundary) {
    static const char *const names[] = {"periodic", "linear", "free", "dirichlet", "neumann"};
    return WEFT_NAME_OF(names, boundary);
}

WEFT_API const char *weft_convolution_mode_name(weft_convolution_mode mode) {
    static const char *const names[] = {"full", "same", "valid"};
    return WEFT_NAME_OF(names, mode);
}

WEFT_API const char *weft_convolution_method_name(weft_convolution_method method) {
    static const char *const names[] = {"auto", "whole", "overlap-save", "samples", "multilevel"};
    return WEFT_NAME_OF(names, method);
}

WEFT_API const char *weft_kernel_kind_name(weft_kernel_kind kind) {
    static const char *const names[] = {
        "array",      "function", "gaussian",   "poisson",   "screened-poisson",
        "heat",       "riesz",    "derivative", "laplacian", "gradient",
        "divergence", "curl",     "leray",      "elastic",   "spectrum"};
    return WEFT_NAME_OF(names, kind);
}

WEFT_API const char *weft_stage_kind_name(weft_stage_kind kind) {
    static const char *const names[] = {"forward", "inverse",  "pointwise", "embed",
                                        "crop",    "copy-out", "problem"};
    return WEFT_NAME_OF(names, kind);
}

WEFT_API const char *weft_version(void) {
    return WEFT_VERSION;
}
