/* Runs NVRTC, and reads and writes the files that cache its results. */
#include "device/cuda/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernel_source.h"
#include "support/cache_file.h"
#include "support/error.h"
#include "support/hash.h"

/* Everything that the result of a compilation depends on. */
typedef struct job {
    const weft_nvrtc *nvrtc;
    const char *name, *text;
    int version[2];        /* of NVRTC */
    bool machine_code;     /* for this very architecture; PTX otherwise */
    char architecture[48]; /* the option */
} job;

static const char *const other_options[] = {"--std=c++14"};
enum { OTHER_OPTIONS = sizeof other_options / sizeof other_options[0] };

static weft_status check_nvrtc(const job *j, int result, const char *failure) {
    if (result == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_DEVICE, "CUDA device: NVRTC %d.%d %s %s: %s", j->version[0],
                     j->version[1], failure, j->name, j->nvrtc->error_string(result));
}

/* NVRTC makes machine code for the architectures that it knows; for a newer GPU the driver
 * translates the PTX of the newest one. */
static weft_status choose_target(job *j, int architecture) {
    int known[256] = {0}, count = 0, best = 0;
    WEFT_TRY(
        check_nvrtc(j, j->nvrtc->architecture_count(&count), "does not say what it knows for"));
    if (count > 0 && count <= (int)(sizeof known / sizeof known[0]))
        WEFT_TRY(check_nvrtc(j, j->nvrtc->architectures(known), "does not say what it knows for"));
    else
        count = 0;
    for (int i = 0; i < count; i++)
        if (known[i] <= architecture && known[i] > best) best = known[i];
    if (best == 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "CUDA device: NVRTC %d.%d cannot compile for compute capability %d.%d; "
                         "install another version",
                         j->version[0], j->version[1], architecture / 10, architecture % 10);
    j->machine_code = best == architecture;
    snprintf(j->architecture, sizeof j->architecture, "--gpu-architecture=%s_%d",
             j->machine_code ? "sm" : "compute", best);
    return WEFT_SUCCESS;
}

/* ---- files ---- */

static bool cache_path(const job *j, char path[WEFT_PATH_BYTES]) {
    uint64_t hash = weft_hash_bytes(WEFT_HASH_OF_NOTHING, j->text, strlen(j->text) + 1);
    for (int i = 0; i < OTHER_OPTIONS; i++)
        hash = weft_hash_bytes(hash, other_options[i], strlen(other_options[i]) + 1);
    hash = weft_hash_bytes(hash, j->architecture, strlen(j->architecture) + 1);
    hash = weft_hash_bytes(hash, j->version, sizeof j->version);
    char name[128];
    snprintf(name, sizeof name, "cuda-%.32s-%s-%016llx.bin", j->name,
             strrchr(j->architecture, '=') + 1, (unsigned long long)hash);
    return weft_cache_path(name, path);
}

/* ---- NVRTC ---- */

/* Reports the compiler's own message, as far as it fits into a sentence. */
static weft_status tell_log(const job *j, weft_nvrtc_program program, int result) {
    size_t bytes = 0;
    char *log = NULL;
    if (j->nvrtc->log_size(program, &bytes) == 0 && bytes > 0) log = calloc(bytes + 1, 1);
    if (log) j->nvrtc->log(program, log);
    char words[WEFT_COMPILER_WORDS];
    weft_compiler_words(log, words);
    free(log);
    return weft_fail(WEFT_ERROR_DEVICE, "CUDA device: NVRTC %d.%d does not compile %s (%s): %s",
                     j->version[0], j->version[1], j->name, j->nvrtc->error_string(result), words);
}

static weft_status take_image(const job *j, weft_nvrtc_program program, void **image,
                              size_t *bytes) {
    const weft_nvrtc *n = j->nvrtc;
    *image = NULL;
    WEFT_TRY(check_nvrtc(j, (j->machine_code ? n->cubin_size : n->ptx_size)(program, bytes),
                         "has no code for"));
    *image = malloc(*bytes + 1);
    if (!*image) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for kernels");
    return check_nvrtc(j, (j->machine_code ? n->cubin : n->ptx)(program, *image),
                       "has no code for");
}

static weft_status compile(const job *j, void **image, size_t *bytes) {
    const char *options[1 + OTHER_OPTIONS] = {j->architecture};
    memcpy(options + 1, other_options, sizeof other_options);
    weft_nvrtc_program program = NULL;
    WEFT_TRY(check_nvrtc(j, j->nvrtc->create(&program, j->text, j->name, 0, NULL, NULL),
                         "does not take"));
    int result = j->nvrtc->compile(program, 1 + OTHER_OPTIONS, options);
    weft_status status =
        result == 0 ? take_image(j, program, image, bytes) : tell_log(j, program, result);
    j->nvrtc->destroy(&program);
    return status;
}

weft_status weft_cuda_compile(const char *name, const char *text, int architecture, bool use_cache,
                              weft_cuda_image *image) {
    job j = {.nvrtc = weft_nvrtc_open(), .name = name, .text = text};
    char path[WEFT_PATH_BYTES];
    size_t bytes = 0;
    if (!j.nvrtc) return WEFT_ERROR_UNSUPPORTED;
    j.nvrtc->version(&j.version[0], &j.version[1]);
    WEFT_TRY(choose_target(&j, architecture));
    bool kept = cache_path(&j, path);
    *image =
        (weft_cuda_image){.data = kept && use_cache ? weft_cache_read_hashed(path, &bytes) : NULL};
    image->cached = image->data != NULL;
    if (image->cached) return WEFT_SUCCESS;
    weft_status status = compile(&j, &image->data, &bytes);
    if (status != WEFT_SUCCESS) {
        free(image->data);
        image->data = NULL;
        return status;
    }
    if (kept) weft_cache_write_hashed(path, image->data, bytes);
    return WEFT_SUCCESS;
}
