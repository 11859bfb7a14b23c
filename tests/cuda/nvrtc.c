/*
 * The NVRTC of host_cuda.h. The device's own kernels are compiled ahead (kernels.cpp), so it
 * compiles nothing for them, but counts its compilations in the file that WEFT_TEST_COMPILED names;
 * other texts go through the host's C++ compiler into a shared object, which is the machine code.
 * Many tests and ranks compile the same texts, so objects stay in the folder HOST_COMPILED, which
 * is emptied when this library is made anew.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host_cuda.h"

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, INVALID_VALUE = 1, COMPILATION = 6 };

const char host_image[] = "kernels of the host: ";

typedef struct program {
    char *name, *source;
    char *image; /* host_image, the bytes of the shared object as text, a new line, the object */
    size_t image_bytes;
    char *log;
} program;

static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = calloc(*bytes + 1, 1);
    if (data && fread(data, 1, *bytes, file) != *bytes) *bytes = 0;
    fclose(file);
    return data;
}

static void set_image(program *p, const char *object, size_t bytes) {
    p->image = malloc(sizeof host_image + 32 + bytes);
    if (!p->image) abort();
    size_t head = (size_t)sprintf(p->image, "%s%zu\n", host_image, bytes);
    memcpy(p->image + head, object, bytes);
    p->image_bytes = head + bytes;
}

/* The table of the kernels in a text, by what stands behind each KERNEL after the dialect. */
static void write_table(FILE *file, const char *source) {
    const char *text = strstr(source, "#endif /* WEFT_KERNELS_DIALECT_H */");
    text = text ? text : source;
    const char *waits = strstr(text, "BARRIER()") ? "true" : "false";
    fprintf(file,
            "\nextern \"C\" EXPORTED host_kernel host_kernels[];\nhost_kernel host_kernels[] = {");
    for (const char *at = strstr(text, "\nKERNEL("); at; at = strstr(at + 1, "\nKERNEL(")) {
        const char *begin = at + strlen("\nKERNEL("), *end = begin;
        for (int depth = 1; *end; end++) {
            depth += (*end == '(') - (*end == ')');
            if (depth == 0) break;
        }
        fprintf(file, "HOST_KERNEL(%.*s, %s), ", (int)(end - begin), begin, waits);
    }
    fprintf(file, "{}};\n");
}

/* What is compiled: the program behind what the host needs, and the table of its kernels. */
static char *whole_source(const program *p) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (!file) return NULL;
    fprintf(file, "#include \"host_kernel.hpp\"\n#line 1 \"%s\"\n%s", p->name, p->source);
    write_table(file, p->source);
    return fclose(file) == 0 ? text : NULL;
}

/* Where the object of a text is kept. */
static void kept_path(const char *text, char *path, size_t bytes) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *at = text; *at; at++) hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    snprintf(path, bytes, "%s/%016llx.so", HOST_COMPILED, (unsigned long long)hash);
}

/* In a folder of its own: source.cpp, object.so, log. The object moves to where it is kept, whole.
 */
static int compile_text(program *p, const char *text, const char *kept) {
    char folder[] = HOST_COMPILED "/making_XXXXXX", path[1024], command[4096];
    if (!mkdtemp(folder)) return OUT_OF_MEMORY;
    snprintf(path, sizeof path, "%s/source.cpp", folder);
    FILE *file = fopen(path, "w");
    if (!file) return OUT_OF_MEMORY;
    fputs(text, file);
    fclose(file);
    /* Linking with C++'s library, of which kernels use nothing, takes a quarter of the time. */
    snprintf(command, sizeof command,
             "%s -shared -nostdlib -I%s -I%s %s/source.cpp -o %s/object.so -lm -lc 2>%s/log",
             HOST_CXX, HOST_COMPILED, HOST_KERNEL_FOLDER, folder, folder, folder);
    int failed = system(command);
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/log", folder);
    p->log = read_file(path, &bytes);
    snprintf(path, sizeof path, "%s/object.so", folder);
    if (!failed) failed = rename(path, kept);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) return OUT_OF_MEMORY;
    return failed ? COMPILATION : SUCCESS;
}

/* Ranks come here with the same text at once: one compiles it, and the others wait. */
static int compile_once(program *p, const char *text, const char *kept) {
    char path[1040];
    snprintf(path, sizeof path, "%s.lock", kept);
    int lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) return OUT_OF_MEMORY;
    int status = access(kept, R_OK) == 0 ? SUCCESS : compile_text(p, text, kept);
    close(lock);
    return status;
}

static int compile_source(program *p) {
    char *text = whole_source(p), kept[1024];
    if (!text) return OUT_OF_MEMORY;
    kept_path(text, kept, sizeof kept);
    int status = access(kept, R_OK) == 0 ? SUCCESS : compile_once(p, text, kept);
    free(text);
    size_t bytes = 0;
    char *object = status == SUCCESS ? read_file(kept, &bytes) : NULL;
    if (object) set_image(p, object, bytes);
    free(object);
    return status == SUCCESS && !object ? COMPILATION : status;
}

EXPORTED int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return SUCCESS;
}

EXPORTED int nvrtcCreateProgram(program **made, const char *source, const char *name, int headers,
                                const char *const *header, const char *const *include_name) {
    if (!source[0] || headers != 0 || header || include_name) return INVALID_VALUE;
    program *p = calloc(1, sizeof *p);
    if (!p) return OUT_OF_MEMORY;
    p->name = strdup(name);
    p->source = strdup(source);
    *made = p;
    return p->name && p->source ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int nvrtcDestroyProgram(program **p) {
    free((*p)->name);
    free((*p)->source);
    free((*p)->image);
    free((*p)->log);
    free(*p);
    *p = NULL;
    return SUCCESS;
}

EXPORTED int nvrtcCompileProgram(program *p, int options, const char *const *option) {
    const char *path = getenv("WEFT_TEST_COMPILED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", p->name);
        fclose(file);
    }
    if (options < 1 || strcmp(option[0], "--gpu-architecture=sm_90") != 0) return INVALID_VALUE;
    if (strncmp(p->name, "weft_copy_", 10) != 0 && strncmp(p->name, "weft_scale_", 11) != 0)
        return compile_source(p);
    set_image(p, "", 0);
    return SUCCESS;
}

EXPORTED int nvrtcGetCUBINSize(program *p, size_t *bytes) {
    *bytes = p->image_bytes;
    return SUCCESS;
}

EXPORTED int nvrtcGetCUBIN(program *p, char *cubin) {
    memcpy(cubin, p->image, p->image_bytes);
    return SUCCESS;
}

EXPORTED int nvrtcGetPTXSize(program *p, size_t *bytes) {
    (void)p, (void)bytes;
    return INVALID_VALUE;
}

EXPORTED int nvrtcGetPTX(program *p, char *ptx) {
    (void)p, (void)ptx;
    return INVALID_VALUE;
}

EXPORTED int nvrtcGetProgramLogSize(program *p, size_t *bytes) {
    *bytes = p->log ? strlen(p->log) + 1 : 1;
    return SUCCESS;
}

EXPORTED int nvrtcGetProgramLog(program *p, char *log) {
    strcpy(log, p->log ? p->log : "");
    return SUCCESS;
}

EXPORTED int nvrtcGetNumSupportedArchs(int *count) {
    *count = 2;
    return SUCCESS;
}

EXPORTED int nvrtcGetSupportedArchs(int *list) {
    list[0] = 75;
    list[1] = 90;
    return SUCCESS;
}

EXPORTED const char *nvrtcGetErrorString(int error) {
    return error == SUCCESS ? "no error" : error == COMPILATION ? "compilation" : "refused";
}
