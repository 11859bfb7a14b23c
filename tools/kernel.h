/*
 * The kernel of a convolution as the command line names it: a file, or one of the library's own
 * with its parameters, as in gaussian:sigma=2,1,0.5.
 */
#ifndef WEFT_TOOLS_KERNEL_H
#define WEFT_TOOLS_KERNEL_H

#include <stdbool.h>
#include <weft/weft.h>

/* A built-in kernel and its parameter as it was given. */
typedef struct kernel_words {
    weft_kernel_kind kind;
    int count; /* numbers of the parameter; 0: it takes none */
    double values[WEFT_MAX_RANK];
} kernel_words;

/* Whether `text` names a file: a file of that name exists and the name has a dot or a slash, or it
 * is no built-in kernel's name up to the first colon and has a slash, or a dot before that colon.
 * Not collective. */
bool kernel_is_file(const char *text);

/* Reads NAME or NAME:PARAMETER=NUMBERS of a built-in kernel. Not collective. */
weft_status kernel_parse(const char *text, kernel_words *words);

/* Fills in kind, parameter, order, constants and covariance, which is stored in `covariance`. Fails
 * unless the numbers are as many as the field's `rank` axes want. Not collective. */
weft_status kernel_describe(const kernel_words *words, const char *text, int rank,
                            double covariance[WEFT_MAX_RANK * WEFT_MAX_RANK],
                            weft_convolution_kernel *kernel);

#endif
