/* The NVRTC of host_cuda.h: compiles nothing, but counts its compilations in the file that
 * WEFT_TEST_COMPILED names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_cuda.h"

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, INVALID_VALUE = 1 };

const char host_image[] = "kernels of the host: ";

EXPORTED int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return SUCCESS;
}

EXPORTED int nvrtcCreateProgram(char **program, const char *source, const char *name, int headers,
                                const char *const *header, const char *const *include_name) {
    if (!source[0] || headers != 1 || !header[0][0] || !strstr(source, include_name[0]))
        return INVALID_VALUE;
    return asprintf(program, "%s%s", host_image, name) > 0 ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int nvrtcDestroyProgram(char **program) {
    free(*program);
    *program = NULL;
    return SUCCESS;
}

EXPORTED int nvrtcCompileProgram(char *program, int options, const char *const *option) {
    const char *path = getenv("WEFT_TEST_COMPILED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", program);
        fclose(file);
    }
    return options > 0 && strcmp(option[0], "--gpu-architecture=sm_90") == 0 ? SUCCESS
                                                                             : INVALID_VALUE;
}

EXPORTED int nvrtcGetCUBINSize(char *program, size_t *bytes) {
    *bytes = strlen(program) + 1;
    return SUCCESS;
}

EXPORTED int nvrtcGetCUBIN(char *program, char *cubin) {
    strcpy(cubin, program);
    return SUCCESS;
}

EXPORTED int nvrtcGetPTXSize(char *program, size_t *bytes) {
    (void)program, (void)bytes;
    return INVALID_VALUE;
}

EXPORTED int nvrtcGetPTX(char *program, char *ptx) {
    (void)program, (void)ptx;
    return INVALID_VALUE;
}

EXPORTED int nvrtcGetProgramLogSize(char *program, size_t *bytes) {
    (void)program;
    *bytes = 1;
    return SUCCESS;
}

EXPORTED int nvrtcGetProgramLog(char *program, char *log) {
    (void)program;
    log[0] = '\0';
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
    return error == SUCCESS ? "no error" : "refused";
}
