/* Elements of the callers' arrays: where they lie, and how their numbers are converted. */
#include <math.h>
#include <string.h>

#include "operator/operator.h"
#include "support/half.h"

bool weft_stored_is_plain(const weft_stored *stored) {
    return stored->storage == WEFT_STORAGE_SAME && !stored->cropped;
}

bool weft_stored_is_box(const weft_stored *stored) {
    return weft_stored_is_plain(stored) && !stored->strided;
}

bool weft_stored_has_gaps(const weft_stored *stored) {
    for (int a = 0; a < WEFT_AXES; a++)
        if (stored->high[a] > 0) return true;
    return false;
}

size_t weft_stored_alignment(weft_storage storage, weft_precision precision) {
    switch (storage) {
    case WEFT_STORAGE_SAME:
        break;
    case WEFT_STORAGE_U8:
    case WEFT_STORAGE_DECIBEL_U8:
        return 1;
    case WEFT_STORAGE_I16:
    case WEFT_STORAGE_U16:
    case WEFT_STORAGE_HALF:
        return 2;
    case WEFT_STORAGE_FLOAT:
    case WEFT_STORAGE_COMPLEX_HALF:
        return 4;
    case WEFT_STORAGE_DOUBLE:
        return 8;
    }
    return weft_number_bytes(precision);
}

/* Numbers, and pairs of half-precision numbers, must be aligned to their size. */
size_t weft_stored_element_bytes(const weft_pointwise_layout *layout) {
    const bool pair = layout->stored.storage == WEFT_STORAGE_SAME && !layout->real;
    return weft_stored_alignment(layout->stored.storage, layout->precision) * (pair ? 2 : 1);
}

int64_t weft_stored_bytes(const weft_pointwise_layout *layout) {
    const weft_view view = weft_stored_view(layout);
    int64_t first, end;
    weft_view_range(&view, &first, &end);
    return (end - first) * (int64_t)weft_stored_element_bytes(layout);
}

void weft_stored_strides(const weft_pointwise_layout *layout, int64_t stride[WEFT_AXES]) {
    int64_t next = 1;
    for (int i = layout->box.axes - 1; i >= 0; i--) {
        const int a = layout->order[i];
        stride[a] = layout->stored.strided ? layout->stored.stride[a] : next;
        next *= layout->stored.n[a];
    }
}

void weft_pointwise_strides(const weft_pointwise_layout *layout, int64_t members,
                            int64_t stride[WEFT_AXES]) {
    const int rank = layout->box.axes - 1;
    int64_t next = 1;
    for (int i = rank; i >= 0; i--) {
        const int a = layout->order[i];
        stride[a] = next;
        next *= a == rank ? members : layout->box.n[a];
    }
}

void weft_pointwise_array_strides(const weft_pointwise_layout *layout, int64_t stride[WEFT_AXES]) {
    const int rank = layout->box.axes - 1;
    int64_t next = 1;
    stride[rank] = 0;
    for (int a = rank - 1; a >= 0; a--) {
        stride[a] = next;
        next *= layout->stored.n[a];
    }
}

weft_view weft_stored_view(const weft_pointwise_layout *layout) {
    weft_view view = {.axes = layout->box.axes};
    memcpy(view.n, layout->stored.n, sizeof view.n);
    weft_stored_strides(layout, view.stride);
    return view;
}

/* ---- loading ---- */

#define LOAD(type, value_of)                                                                       \
    for (int64_t i = 0; i < count; i++) {                                                          \
        type number;                                                                               \
        memcpy(&number, (const char *)from + i * (int64_t)sizeof number, sizeof number);           \
        put(layout, to, i, value_of(number));                                                      \
    }                                                                                              \
    break

static void put(const weft_pointwise_layout *layout, void *to, int64_t i, double value) {
    const int64_t at = layout->real ? i : 2 * i;
    float *f = to;
    double *d = to;
    if (layout->precision == WEFT_SINGLE) {
        f[at] = (float)value;
        if (!layout->real) f[at + 1] = 0;
    } else {
        d[at] = value;
        if (!layout->real) d[at + 1] = 0;
    }
}

static void load_complex_halves(const weft_pointwise_layout *layout, int64_t count,
                                const void *from, void *to) {
    for (int64_t i = 0; i < 2 * count; i++) {
        uint16_t half;
        memcpy(&half, (const char *)from + i * (int64_t)sizeof half, sizeof half);
        if (layout->precision == WEFT_SINGLE)
            ((float *)to)[i] = weft_float_of_half(half);
        else
            ((double *)to)[i] = weft_float_of_half(half);
    }
}

void weft_stored_load(const weft_pointwise_layout *layout, int64_t count, const void *from,
                      void *to) {
    switch (layout->stored.storage) {
    case WEFT_STORAGE_U8:
        LOAD(uint8_t, (double));
    case WEFT_STORAGE_I16:
        LOAD(int16_t, (double));
    case WEFT_STORAGE_U16:
        LOAD(uint16_t, (double));
    case WEFT_STORAGE_HALF:
        LOAD(uint16_t, (double)weft_float_of_half);
    case WEFT_STORAGE_FLOAT:
        LOAD(float, (double));
    case WEFT_STORAGE_DOUBLE:
        LOAD(double, (double));
    case WEFT_STORAGE_COMPLEX_HALF:
        load_complex_halves(layout, count, from, to);
        break;
    default:
        memcpy(to, from, (size_t)count * weft_stored_element_bytes(layout));
    }
}

/* ---- storing ---- */

#define STORE(type, value_of)                                                                      \
    for (int64_t i = 0; i < count; i++) {                                                          \
        const type number = value_of(get(layout, from, i));                                        \
        memcpy((char *)to + i * (int64_t)sizeof number, &number, sizeof number);                   \
    }                                                                                              \
    break

static double get(const weft_pointwise_layout *layout, const void *from, int64_t i) {
    const int64_t at = layout->real ? i : 2 * i;
    const float *f = from;
    const double *d = from;
    return layout->precision == WEFT_SINGLE ? (double)f[at] : d[at];
}

#define ROUNDED_U8(value) (uint8_t) weft_rounded(value, 0, 255)
#define ROUNDED_I16(value) (int16_t) weft_rounded(value, -32768, 32767)
#define ROUNDED_U16(value) (uint16_t) weft_rounded(value, 0, 65535)

static double decibels(const weft_pointwise_layout *layout, const void *from, int64_t i) {
    const float *f = from;
    const double *d = from;
    const bool single = layout->precision == WEFT_SINGLE;
    const double re = single ? (double)f[2 * i] : d[2 * i];
    const double im = single ? (double)f[2 * i + 1] : d[2 * i + 1];
    const double *range = layout->stored.decibels;
    /* log is several times as fast as log10. */
    return (10 / 2.30258509299404568402 * log(re * re + im * im) - range[0]) *
           (255 / (range[1] - range[0]));
}

static void store_complex_halves(const weft_pointwise_layout *layout, int64_t count,
                                 const void *from, void *to) {
    for (int64_t i = 0; i < 2 * count; i++) {
        const uint16_t half =
            weft_half_of_double(layout->precision == WEFT_SINGLE ? (double)((const float *)from)[i]
                                                                 : ((const double *)from)[i]);
        memcpy((char *)to + i * (int64_t)sizeof half, &half, sizeof half);
    }
}

void weft_stored_store(const weft_pointwise_layout *layout, int64_t count, const void *from,
                       void *to) {
    uint8_t *bytes = to;
    switch (layout->stored.storage) {
    case WEFT_STORAGE_U8:
        STORE(uint8_t, ROUNDED_U8);
    case WEFT_STORAGE_I16:
        STORE(int16_t, ROUNDED_I16);
    case WEFT_STORAGE_U16:
        STORE(uint16_t, ROUNDED_U16);
    case WEFT_STORAGE_HALF:
        STORE(uint16_t, weft_half_of_double);
    case WEFT_STORAGE_FLOAT:
        STORE(float, (float));
    case WEFT_STORAGE_DOUBLE:
        STORE(double, (double));
    case WEFT_STORAGE_DECIBEL_U8:
        for (int64_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)weft_rounded(decibels(layout, from, i), 0, 255);
        break;
    case WEFT_STORAGE_COMPLEX_HALF:
        store_complex_halves(layout, count, from, to);
        break;
    default:
        memcpy(to, from, (size_t)count * weft_stored_element_bytes(layout));
    }
}
