/* Sources of kernels: see kernel_source.h. */
#include "device/kernel_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/error.h"

extern const char weft_kernels_dialect_h[]; /* made by cmake/embed.cmake */

weft_status weft_kernel_check(const weft_kernel_source *source, const weft_kernel_limits *limits,
                              const char *device) {
    if (source->precision == WEFT_DOUBLE && !limits->has_double)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: it computes no double precision; choose single precision or another "
                         "device",
                         device);
    if (source->threads == 0 || source->threads > limits->threads)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: kernel %s wants groups of %u threads; at most %u are possible",
                         device, source->name, source->threads, limits->threads);
    if (source->cluster > 1 && source->cluster > limits->cluster)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: kernel %s wants clusters of %u groups; at most %u are possible",
                         device, source->name, source->cluster, limits->cluster);
    if (source->local_bytes > limits->local_bytes)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: kernel %s wants %zu bytes of local memory; a group has %zu", device,
                         source->name, source->local_bytes, limits->local_bytes);
    return WEFT_SUCCESS;
}

char *weft_kernel_text(const weft_kernel_source *source, bool has_double, bool in_memory) {
    char defines[192];
    snprintf(defines, sizeof defines,
             "#define THREADS %u\n#define CLUSTER %u\n#define RESIDENT_GROUPS %u\n"
             "#define PRECISION %d\n#define HAS_DOUBLE %d\n#define VALUES_IN_MEMORY %d\n",
             source->threads, source->cluster > 1 ? source->cluster : 1,
             source->resident > 1 ? source->resident : 1, (int)source->precision, has_double,
             in_memory);
    size_t bytes = strlen(defines) + strlen(weft_kernels_dialect_h) + 1;
    for (int i = 0; i < source->texts; i++) bytes += strlen(source->text[i]);
    char *text = malloc(bytes);
    if (!text) {
        weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for the text of a kernel");
        return NULL;
    }
    char *end = stpcpy(stpcpy(text, defines), weft_kernels_dialect_h);
    for (int i = 0; i < source->texts; i++) end = stpcpy(end, source->text[i]);
    return text;
}

/* Where the line of the first error begins: warnings may come before it. */
static const char *first_error(const char *log) {
    const char *error = strstr(log, "error");
    while (error && error > log && error[-1] != '\n') error--;
    return error ? error : log;
}

void weft_compiler_words(const char *log, char words[WEFT_COMPILER_WORDS]) {
    size_t used = 0;
    bool gap = false;
    const char *from = log ? first_error(log) : "no log";
    for (const char *c = from; *c && used + 2 < WEFT_COMPILER_WORDS; c++) {
        bool space = (unsigned char)*c <= ' ';
        if (!space && gap && used > 0) words[used++] = ' ';
        if (!space) words[used++] = *c;
        gap = space;
    }
    words[used] = '\0';
}
