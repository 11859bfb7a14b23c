/*
 * Values of weft's enumerations by name, as flags and job files spell them: find_engine("fftw", 4,
 * &engine) tells whether there is such a name. The library lists names; these look them up.
 */
#ifndef WEFT_TOOLS_NAMES_H
#define WEFT_TOOLS_NAMES_H

#include <stdbool.h>
#include <string.h>
#include <weft/weft.h>

/* An enumeration's names end where name_of answers "?". */
#define DEFINE_FINDER(finder, type, name_of)                                                       \
    static inline bool finder(const char *text, size_t length, type *found) {                      \
        for (int value = 0; strcmp(name_of((type)value), "?") != 0; value++) {                     \
            const char *name = name_of((type)value);                                               \
            if (strlen(name) != length || memcmp(name, text, length) != 0) continue;               \
            *found = (type)value;                                                                  \
            return true;                                                                           \
        }                                                                                          \
        return false;                                                                              \
    }

DEFINE_FINDER(find_kind, weft_kind, weft_kind_name)
DEFINE_FINDER(find_axis, weft_axis, weft_axis_name)
DEFINE_FINDER(find_decomposition, weft_decomposition, weft_decomposition_name)
DEFINE_FINDER(find_variant, weft_variant, weft_variant_name)
DEFINE_FINDER(find_exchange, weft_exchange, weft_exchange_name)
DEFINE_FINDER(find_engine, weft_engine, weft_engine_name)
DEFINE_FINDER(find_device, weft_device, weft_device_name)
DEFINE_FINDER(find_effort, weft_effort, weft_effort_name)
DEFINE_FINDER(find_window_kind, weft_window_kind, weft_window_kind_name)
DEFINE_FINDER(find_boundary, weft_boundary, weft_boundary_name)
DEFINE_FINDER(find_convolution_mode, weft_convolution_mode, weft_convolution_mode_name)
DEFINE_FINDER(find_convolution_method, weft_convolution_method, weft_convolution_method_name)
DEFINE_FINDER(find_kernel_kind, weft_kernel_kind, weft_kernel_kind_name)

#endif
