/* Windows by name: what weft calls them, their parameter, and which of the two kinds is meant. */
#include "window.h"

#include "names.h"
#include "support/error.h"

#include <stdlib.h>

/* What a window's parameter is called; NULL: it takes none. */
static const char *parameter_name(weft_window_kind kind) {
    return kind == WEFT_WINDOW_KAISER     ? "BETA"
           : kind == WEFT_WINDOW_GAUSSIAN ? "SIGMA"
           : kind == WEFT_WINDOW_TUKEY    ? "ALPHA"
                                          : NULL;
}

static weft_status read_parameter(const char *flag, const char *text, const char *at,
                                  weft_window *window, const char **end) {
    const char *name = weft_window_kind_name(window->kind);
    const char *wanted = parameter_name(window->kind);
    char *after = NULL;
    if (*at == ':' && wanted) window->parameter = strtod(at + 1, &after);
    if (*at == ':' && !wanted)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--%s %s: %s takes no parameter", flag, text,
                         name);
    if (wanted && (!after || after == at + 1 || (*after != '\0' && *after != ',')))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--%s %s: give %s:%s, a number", flag, text,
                         name, wanted);
    *end = after ? after : at;
    return WEFT_SUCCESS;
}

weft_status window_parse(const char *flag, const char *text, weft_window *window) {
    double value;
    size_t length = strcspn(text, ":,");
    const char *at = text + length;
    *window = (weft_window){0};
    if (!find_window_kind(text, length, &window->kind) || window->kind == WEFT_WINDOW_NONE)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--%s %s: give hann, hamming, blackman, blackman-harris, flat-top, "
                         "kaiser:BETA, gaussian:SIGMA or tukey:ALPHA",
                         flag, text);
    WEFT_TRY(read_parameter(flag, text, at, window, &at));
    window->symmetric = strcmp(at, ",symmetric") == 0;
    if (*at != '\0' && !window->symmetric && strcmp(at, ",periodic") != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--%s %s: behind the comma give periodic or symmetric", flag, text);
    if (weft_window_values(window, 1, &value) == WEFT_SUCCESS) return WEFT_SUCCESS;
    return weft_fail(
        WEFT_ERROR_INVALID_ARGUMENT,
        "--%s %s: BETA is 0 to 10000, SIGMA above 0 (in points), ALPHA a finite number", flag,
        text);
}
