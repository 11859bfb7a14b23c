/* Loaded first in tests with the address sanitizer (scripts/check), so that it can name the first
 * caller of malloc, which is all that its fast unwinder finds in code without frame pointers:
 * libraries stay loaded until leaks are reported, and strings that are printed to new memory are
 * allocated here instead of two calls deep in the C library. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int dlclose(void *library);
int dlclose(void *library) {
    (void)library;
    return 0;
}

static int print(char **text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (*text) vsnprintf(*text, (size_t)length + 1, format, again);
    va_end(again);
    return *text ? length : -1;
}

int vasprintf(char **text, const char *format, va_list arguments) {
    return print(text, format, arguments);
}

int asprintf(char **text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = print(text, format, arguments);
    va_end(arguments);
    return length;
}

/* The same, as code calls them that is compiled with _FORTIFY_SOURCE. */
int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments) {
    (void)flag;
    return print(text, format, arguments);
}

int __asprintf_chk(char **text, int flag, const char *format, ...);
int __asprintf_chk(char **text, int flag, const char *format, ...) {
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    const int length = print(text, format, arguments);
    va_end(arguments);
    return length;
}
