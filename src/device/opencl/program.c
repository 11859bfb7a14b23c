/* Builds programs from text, or from the binary that an earlier process left. */
#include "device/opencl/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernel_source.h"
#include "device/opencl/opencl.h"
#include "support/cache_file.h"
#include "support/error.h"
#include "support/hash.h"

/* Options of the compiler. Warnings are off, since PoCL would count them on the standard error of a
 * program that never asked for any. NVIDIA's compiler gives a thread up to 255 registers whatever
 * the size of the group, unless an option limits it (cl_nv_compiler_options). */
typedef struct options {
    char text[64];
} options;

static options options_for(const weft_cl_processor *p, const weft_kernel_source *source) {
    enum { MOST_REGISTERS = 255, STEP = 8 };
    const unsigned groups = source->resident > 1 ? source->resident : 1;
    const unsigned registers = p->registers / (source->threads * groups) / STEP * STEP;
    options o = {"-cl-std=CL1.2 -w"};
    if (registers > 0 && registers < MOST_REGISTERS)
        snprintf(o.text, sizeof o.text, "-cl-std=CL1.2 -w -cl-nv-maxrregcount=%u", registers);
    return o;
}

/* Programs are shared by all users in the process. */
typedef struct built_program {
    const weft_cl_processor *processor;
    uint64_t hash;
    weft_cl_program program;
    struct built_program *next;
} built_program;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static built_program *built;

/* The hash of everything that a program depends on. */
static uint64_t hash_of(const weft_cl_processor *p, const char *text, const options *o) {
    uint64_t hash = weft_hash_bytes(WEFT_HASH_OF_NOTHING, text, strlen(text) + 1);
    hash = weft_hash_bytes(hash, o->text, strlen(o->text) + 1);
    hash = weft_hash_bytes(hash, p->name, strlen(p->name) + 1);
    return weft_hash_bytes(hash, p->versions, strlen(p->versions) + 1);
}

static int build(const weft_cl_processor *p, weft_cl_program program, const options *o) {
    return p->cl->program_build(program, 1, &p->device, o->text, NULL, NULL);
}

/* ---- files ---- */

static weft_cl_program program_of_file(const weft_cl_processor *p, const options *o,
                                       const char *path) {
    size_t bytes;
    unsigned char *binary = weft_cache_read_hashed(path, &bytes);
    const unsigned char *given = binary;
    int binary_result = 0, result = 0;
    if (!binary) return NULL;
    weft_cl_program program = p->cl->program_from_binary(p->context, 1, &p->device, &bytes, &given,
                                                         &binary_result, &result);
    free(binary);
    if (result != 0) return NULL;
    if (binary_result == 0 && build(p, program, o) == 0) return program;
    p->cl->program_release(program);
    return NULL;
}

static void write_file(const weft_cl_processor *p, weft_cl_program program, const char *path) {
    size_t bytes = 0;
    if (p->cl->program_info(program, WEFT_CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) !=
            0 ||
        bytes == 0)
        return;
    unsigned char *binary = malloc(bytes);
    if (binary &&
        p->cl->program_info(program, WEFT_CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == 0)
        weft_cache_write_hashed(path, binary, bytes);
    free(binary);
}

/* ---- the compiler ---- */

/* Reports the compiler's own message, as far as it fits into a sentence. */
static weft_status tell_log(const weft_cl_processor *p, weft_cl_program program, const char *name) {
    size_t bytes = 0;
    char *log = NULL, words[WEFT_COMPILER_WORDS];
    if (p->cl->build_info(program, p->device, WEFT_CL_BUILD_LOG, 0, NULL, &bytes) == 0)
        log = calloc(bytes + 1, 1);
    if (log) p->cl->build_info(program, p->device, WEFT_CL_BUILD_LOG, bytes, log, NULL);
    weft_compiler_words(log, words);
    free(log);
    return weft_fail(WEFT_ERROR_DEVICE, "OpenCL device: %.100s does not compile %s: %s", p->name,
                     name, words);
}

static weft_status compile(const weft_cl_processor *p, const char *name, const char *text,
                           const options *o, weft_cl_program *program) {
    int result = 0;
    size_t bytes = strlen(text);
    weft_cl_program made = p->cl->program_from_source(p->context, 1, &text, &bytes, &result);
    WEFT_TRY(weft_cl_check(result, "no program"));
    result = build(p, made, o);
    if (result == 0) {
        *program = made;
        return WEFT_SUCCESS;
    }
    weft_status status = tell_log(p, made, name);
    p->cl->program_release(made);
    return status;
}

static weft_status make_program(const weft_cl_processor *p, const char *name, const char *text,
                                const options *o, uint64_t hash, weft_cl_program *program) {
    char file[96], path[WEFT_PATH_BYTES];
    snprintf(file, sizeof file, "opencl-%.40s-%016llx.bin", name, (unsigned long long)hash);
    bool kept = weft_cache_path(file, path);
    if (kept && (*program = program_of_file(p, o, path)) != NULL) return WEFT_SUCCESS;
    WEFT_TRY(compile(p, name, text, o, program));
    if (kept) write_file(p, *program, path);
    return WEFT_SUCCESS;
}

/* Finds or builds a program. The lock must be held. */
static weft_status find_program(const weft_cl_processor *p, const weft_kernel_source *source,
                                weft_cl_program *program) {
    char *text = weft_kernel_text(source, p->limits.has_double,
                                  source->parameter_bytes > p->parameter_bytes);
    if (!text) return WEFT_ERROR_OUT_OF_MEMORY;
    const options o = options_for(p, source);
    const uint64_t hash = hash_of(p, text, &o);
    built_program *at = built;
    while (at && (at->processor != p || at->hash != hash)) at = at->next;
    weft_status status = WEFT_SUCCESS;
    if (!at) {
        at = malloc(sizeof *at);
        status = at ? make_program(p, source->name, text, &o, hash, &at->program)
                    : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
        if (status == WEFT_SUCCESS) {
            at->processor = p;
            at->hash = hash;
            at->next = built;
            built = at;
        } else {
            free(at);
        }
    }
    free(text);
    if (status == WEFT_SUCCESS) *program = at->program;
    return status;
}

/* ---- kernels ---- */

/* Threads need no check: kernels tell the compiler their groups' size (dialect.h), which it meets
 * or fails. CL_KERNEL_WORK_GROUP_SIZE is no answer: NVIDIA's is 256 also for larger ones that run.
 */
static weft_status check_memory(const weft_cl_processor *p, weft_cl_kernel kernel,
                                const weft_kernel_source *source) {
    const uint64_t most = p->limits.local_bytes + WEFT_CL_COMPILERS_BYTES;
    uint64_t local = 0;
    p->cl->kernel_info(kernel, p->device, WEFT_CL_KERNEL_LOCAL_MEMORY, sizeof local, &local, NULL);
    if (source->local_bytes + local <= most) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "OpenCL device: kernel %s wants %zu bytes of local memory; a group has %zu",
                     source->name, source->local_bytes + (size_t)local, (size_t)most);
}

static weft_status make_values(const weft_cl_processor *p, const weft_kernel_source *source,
                               weft_cl_values *values) {
    const size_t blocks = source->value_bytes / WEFT_CL_VALUE_BLOCK + WEFT_KERNEL_VALUES;
    int result = 0;
    values->bytes = blocks * WEFT_CL_VALUE_BLOCK;
    values->content = malloc(values->bytes);
    if (!values->content) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
    values->buffer =
        p->cl->buffer_create(p->context, WEFT_CL_READ_WRITE, values->bytes, NULL, &result);
    return weft_cl_check(result, "no memory for a kernel's parameters");
}

weft_status weft_cl_kernel_make(weft_cl_processor *p, const weft_kernel_source *source,
                                weft_kernel **kernel) {
    weft_cl_program program;
    char failure[128];
    int result = 0;
    snprintf(failure, sizeof failure, "no kernel %.80s", source->name);
    WEFT_TRY(weft_kernel_check(source, &p->limits, "OpenCL device"));
    pthread_mutex_lock(&lock);
    weft_status status = find_program(p, source, &program);
    pthread_mutex_unlock(&lock);
    WEFT_TRY(status);
    weft_kernel *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
    made->kernel = p->cl->kernel_create(program, source->name, &result);
    if (result != 0) {
        free(made);
        return weft_cl_check(result, failure);
    }
    made->threads = source->threads;
    made->local_bytes = source->local_bytes;
    pthread_mutex_init(&made->lock, NULL);
    status = check_memory(p, made->kernel, source);
    if (status == WEFT_SUCCESS && source->parameter_bytes > p->parameter_bytes)
        status = make_values(p, source, &made->values);
    if (status != WEFT_SUCCESS) {
        weft_cl_kernel_free(p, made);
        return status;
    }
    *kernel = made;
    return WEFT_SUCCESS;
}

void weft_cl_kernel_free(const weft_cl_processor *p, weft_kernel *kernel) {
    if (!kernel) return;
    p->cl->kernel_release(kernel->kernel);
    if (kernel->values.last) p->cl->event_release(kernel->values.last);
    if (kernel->values.buffer) p->cl->memory_release(kernel->values.buffer);
    free(kernel->values.content);
    pthread_mutex_destroy(&kernel->lock);
    free(kernel);
}
