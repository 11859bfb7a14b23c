/* muParser's parsers are used by one thread at a time, so each thread takes one of a list. */
#include "formula.h"

#include "support/error.h"

#include <math.h>
#include <muParserDLL.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 3 };

typedef struct parser {
    muParserHandle_t handle;
    double component[MOST_AXES], length; /* its variables */
    struct parser *next;
} parser;

struct filter_formula {
    char *text;
    filter_axes axes;
    pthread_mutex_t lock;
    parser *idle;
    atomic_bool infinite;
};

/* Errors are asked for; without a handler muParser would end the process. */
static void ignore(muParserHandle_t handle) {
    (void)handle;
}

static void destroy_parser(parser *p) {
    mupRelease(p->handle);
    free(p);
}

static parser *create_parser(const filter_formula *f) {
    static const char *const names[MOST_AXES] = {"u", "v", "w"};
    parser *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->handle = mupCreate(muBASETYPE_FLOAT);
    if (!p->handle) {
        free(p);
        return NULL;
    }
    mupSetErrorHandler(p->handle, ignore);
    for (int i = 0; i < f->axes.rank; i++) {
        const int axis = f->axes.picture ? f->axes.rank - 1 - i : i;
        mupDefineVar(p->handle, names[i], &p->component[axis]);
    }
    mupDefineVar(p->handle, "f", &p->length);
    mupDefineConst(p->handle, "pi", 3.14159265358979323846);
    mupSetExpr(p->handle, f->text);
    return p;
}

static parser *take(filter_formula *f) {
    pthread_mutex_lock(&f->lock);
    parser *p = f->idle;
    if (p) f->idle = p->next;
    pthread_mutex_unlock(&f->lock);
    return p ? p : create_parser(f);
}

static void give_back(filter_formula *f, parser *p) {
    pthread_mutex_lock(&f->lock);
    p->next = f->idle;
    f->idle = p;
    pthread_mutex_unlock(&f->lock);
}

static double value_at(parser *p, int rank, const double *first, double last, double sign) {
    double square = last * last;
    for (int a = 0; a < rank - 1; a++) {
        p->component[a] = sign * first[a];
        square += first[a] * first[a];
    }
    p->component[rank - 1] = sign * last;
    p->length = sqrt(square);
    return mupEval(p->handle);
}

void filter_formula_row(filter_formula *f, const double *first, const double *last, int count,
                        double *value) {
    const int rank = f->axes.rank;
    parser *p = take(f);
    for (int i = 0; i < count; i++) {
        value[i] =
            p ? (value_at(p, rank, first, last[i], 1) + value_at(p, rank, first, last[i], -1)) / 2
              : NAN;
        if (isfinite(value[i])) continue;
        atomic_store(&f->infinite, true);
        value[i] = 0;
    }
    if (p) give_back(f, p);
}

weft_status filter_formula_check(const filter_formula *f) {
    if (!atomic_load(&f->infinite)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "--formula %.200s: it is no finite number at some frequency; say what it is "
                     "there, such as f == 0 ? 1 : 1 / f",
                     f->text);
}

/* What muParser says, without the full stop that it sometimes has. */
static weft_status explain(const filter_formula *f, const parser *p) {
    const char *said = mupGetErrorMsg(p->handle);
    size_t length = strlen(said);
    while (length > 0 && strchr(". ", said[length - 1])) length--;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "--formula %.200s: %.*s; give a formula of u, v%s and f, such as "
                     "exp(-f^2 / 0.02)",
                     f->text, length < 150 ? (int)length : 150, said,
                     f->axes.rank > 2 ? ", w" : "");
}

/* Whether muParser understands it, by a value. */
static weft_status try_formula(filter_formula *f) {
    const double zero[MOST_AXES] = {0};
    parser *p = take(f);
    if (!p) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a formula");
    (void)value_at(p, f->axes.rank, zero, 0.25, 1);
    const weft_status status = mupError(p->handle) ? explain(f, p) : WEFT_SUCCESS;
    give_back(f, p);
    return status;
}

weft_status filter_formula_create(const char *text, const filter_axes *axes,
                                  filter_formula **formula) {
    *formula = NULL;
    if (axes->rank > MOST_AXES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "--formula %.200s: formulas are of up to three axes, and the array has %d",
                         text, axes->rank);
    filter_formula *f = calloc(1, sizeof *f);
    if (f) f->text = strdup(text);
    if (!f || !f->text) {
        free(f);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a formula");
    }
    f->axes = *axes;
    pthread_mutex_init(&f->lock, NULL);
    *formula = f;
    return try_formula(f);
}

void filter_formula_destroy(filter_formula *f) {
    if (!f) return;
    while (f->idle) {
        parser *p = f->idle;
        f->idle = p->next;
        destroy_parser(p);
    }
    pthread_mutex_destroy(&f->lock);
    free(f->text);
    free(f);
}
