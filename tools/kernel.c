/* Built-in kernels by name: what the parameter of each is called, and what numbers it takes. */
#include "kernel.h"

#include "names.h"
#include "options.h"
#include "support/error.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct built_in {
    weft_kernel_kind kind;
    const char *parameter; /* NULL: it takes none */
    bool for_each_axis;    /* several numbers may be given */
    bool signed_values;    /* numbers below 0 have a meaning */
} built_in;

static const built_in built_ins[] = {
    {WEFT_KERNEL_GAUSSIAN, "sigma", true, false},
    {WEFT_KERNEL_POISSON, NULL, false, false},
    {WEFT_KERNEL_SCREENED_POISSON, "lambda", false, false},
    {WEFT_KERNEL_HEAT, "t", false, false},
    {WEFT_KERNEL_RIESZ, "s", false, true},
    {WEFT_KERNEL_DERIVATIVE, "order", true, false},
    {WEFT_KERNEL_LAPLACIAN, NULL, false, false},
    {WEFT_KERNEL_GRADIENT, NULL, false, false},
    {WEFT_KERNEL_DIVERGENCE, NULL, false, false},
    {WEFT_KERNEL_CURL, NULL, false, false},
    {WEFT_KERNEL_LERAY, NULL, false, false},
    {WEFT_KERNEL_ELASTIC, "lame", false, true},
};

static const built_in *find_built_in(weft_kernel_kind kind) {
    for (size_t i = 0; i < sizeof built_ins / sizeof *built_ins; i++)
        if (built_ins[i].kind == kind) return &built_ins[i];
    return NULL;
}

/* The built-in kernel whose name `text` begins with, up to a colon; NULL if there is none. */
static const built_in *named(const char *text) {
    weft_kernel_kind kind;
    return find_kernel_kind(text, strcspn(text, ":"), &kind) ? find_built_in(kind) : NULL;
}

bool kernel_is_file(const char *text) {
    if (!strpbrk(text, "./")) return false;
    if (access(text, F_OK) == 0) return true;
    return !named(text) && (strchr(text, '/') || memchr(text, '.', strcspn(text, ":")));
}

static weft_status check_values(const char *text, const built_in *found,
                                const kernel_words *words) {
    const char *name = weft_kernel_kind_name(found->kind);
    if (found->kind == WEFT_KERNEL_ELASTIC && words->count != 2)
        return WRONG("%s: a medium has Lame's two constants; give elastic:lame=LAMBDA,MU", text);
    if (words->count > 1 && !found->for_each_axis && found->kind != WEFT_KERNEL_ELASTIC)
        return WRONG("%s: %s takes one number; give %s:%s=NUMBER", text, name, name,
                     found->parameter);
    for (int i = 0; i < words->count; i++) {
        const double value = words->values[i];
        if (value < 0 && !found->signed_values)
            return WRONG("%s: %s is %g; give 0 or more", text, found->parameter, value);
        if (found->kind == WEFT_KERNEL_DERIVATIVE && (value != floor(value) || value > INT_MAX))
            return WRONG("%s: the order %g is not a whole number; give how often to differentiate "
                         "along each axis",
                         text, value);
    }
    return WEFT_SUCCESS;
}

weft_status kernel_parse(const char *text, kernel_words *words) {
    const built_in *found = named(text);
    if (!found)
        return WRONG("%s: there is no such kernel; name a file, or gaussian, poisson, "
                     "screened-poisson, heat, riesz, derivative, laplacian, gradient, divergence, "
                     "curl, leray or elastic",
                     text);
    const char *name = weft_kernel_kind_name(found->kind), *at = text + strlen(name);
    *words = (kernel_words){.kind = found->kind};
    if (!found->parameter) {
        if (*at == '\0') return WEFT_SUCCESS;
        return WRONG("%s: %s takes no parameter; give %s alone", text, name, name);
    }
    const size_t length = strlen(found->parameter);
    if (*at != ':' || strncmp(at + 1, found->parameter, length) != 0 || at[1 + length] != '=' ||
        !options_numbers(at + length + 2, &words->count, words->values))
        return WRONG("%s: give %s:%s=NUMBER%s", text, name, found->parameter,
                     found->for_each_axis ? ", or numbers joined by commas, one for each axis"
                                          : "");
    return check_values(text, found, words);
}

weft_status kernel_describe(const kernel_words *words, const char *text, int rank,
                            double covariance[WEFT_MAX_RANK * WEFT_MAX_RANK],
                            weft_convolution_kernel *kernel) {
    const bool one_for_all = words->count == 1 && words->kind == WEFT_KERNEL_GAUSSIAN;
    const built_in *found = find_built_in(words->kind);
    if (found->for_each_axis && words->count != rank && !one_for_all)
        return WRONG("%s: it has %d number%s for a field of %d ax%s; give %sone for each axis",
                     text, words->count, words->count > 1 ? "s" : "", rank, rank > 1 ? "es" : "is",
                     words->kind == WEFT_KERNEL_GAUSSIAN ? "one for all, or " : "");
    kernel->kind = words->kind;
    if (words->kind == WEFT_KERNEL_GAUSSIAN) {
        memset(covariance, 0, (size_t)(rank * rank) * sizeof *covariance);
        for (int a = 0; a < rank; a++) {
            const double sigma = words->values[one_for_all ? 0 : a];
            covariance[a * rank + a] = sigma * sigma;
        }
        kernel->covariance = covariance;
    } else if (words->kind == WEFT_KERNEL_DERIVATIVE) {
        for (int a = 0; a < rank; a++) kernel->order[a] = (int)words->values[a];
    } else if (words->kind == WEFT_KERNEL_ELASTIC) {
        memcpy(kernel->lame, words->values, sizeof kernel->lame);
    } else if (words->count > 0) {
        kernel->parameter = words->values[0];
    }
    return WEFT_SUCCESS;
}
