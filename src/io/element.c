/*
 * Conversion of elements goes through blocks of doubles: every supported type but whole numbers
 * beyond 2^53, which are rounded, fits a double (or two) exactly, so a load for each type and four
 * stores take the place of one loop for each pair of types.
 */
#include "io/element.h"

#include "support/half.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    bool complex;
} elements[WEFT_ELEMENT_COUNT] = {
    [WEFT_ELEMENT_U8] = {"u8", 1, false},     [WEFT_ELEMENT_I16] = {"i16", 2, false},
    [WEFT_ELEMENT_U16] = {"u16", 2, false},   [WEFT_ELEMENT_I32] = {"i32", 4, false},
    [WEFT_ELEMENT_I8] = {"i8", 1, false},     [WEFT_ELEMENT_U32] = {"u32", 4, false},
    [WEFT_ELEMENT_I64] = {"i64", 8, false},   [WEFT_ELEMENT_U64] = {"u64", 8, false},
    [WEFT_ELEMENT_BOOL] = {"bool", 1, false}, [WEFT_ELEMENT_F2] = {"f2", 2, false},
    [WEFT_ELEMENT_F4] = {"f4", 4, false},     [WEFT_ELEMENT_F8] = {"f8", 8, false},
    [WEFT_ELEMENT_C8] = {"c8", 8, true},      [WEFT_ELEMENT_C16] = {"c16", 16, true},
};

const char *weft_element_name(weft_element element) {
    return elements[element].name;
}

bool weft_element_parse(const char *name, weft_element *element) {
    for (int e = 0; e < WEFT_ELEMENT_COUNT; e++) {
        if (strcmp(name, elements[e].name) == 0) {
            *element = (weft_element)e;
            return true;
        }
    }
    return false;
}

size_t weft_element_bytes(weft_element element) {
    return elements[element].bytes;
}

bool weft_element_whole(weft_element element) {
    return element < WEFT_ELEMENT_F2;
}

bool weft_element_single(weft_element element) {
    return element == WEFT_ELEMENT_F2 || element == WEFT_ELEMENT_F4 || element == WEFT_ELEMENT_C8;
}

bool weft_element_complex(weft_element element) {
    return elements[element].complex;
}

bool weft_element_converts(weft_element from, weft_element to) {
    if (from == to) return true;
    if (to < WEFT_ELEMENT_F4) return false;
    return !elements[from].complex || elements[to].complex;
}

/* Reverses the bytes of a number; a complex element is two numbers. */
static void reverse(unsigned char *number, size_t bytes) {
    for (size_t i = 0; i < bytes / 2; i++) {
        unsigned char other = number[i];
        number[i] = number[bytes - 1 - i];
        number[bytes - 1 - i] = other;
    }
}

static size_t number_bytes(weft_element element) {
    return elements[element].bytes / (elements[element].complex ? 2u : 1u);
}

static void copy(const weft_conversion *conversion, const char *from, int64_t from_step, char *to,
                 int64_t to_step, int64_t count) {
    size_t bytes = elements[conversion->from].bytes, number = number_bytes(conversion->from);
    if (!conversion->swapped && from_step == (int64_t)bytes && to_step == (int64_t)bytes) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++, from += from_step, to += to_step) {
        memcpy(to, from, bytes);
        if (!conversion->swapped) continue;
        for (size_t at = 0; at < bytes; at += number) reverse((unsigned char *)to + at, number);
    }
}

enum { BLOCK = 256 };

#define LOAD(type, parts)                                                                          \
    for (int64_t i = 0; i < count; i++, from += step) {                                            \
        type value[parts];                                                                         \
        memcpy(value, from, sizeof value);                                                         \
        for (int p = 0; p < (parts); p++) {                                                        \
            if (swapped) reverse((unsigned char *)&value[p], sizeof value[p]);                     \
            block[2 * i + p] = (double)value[p];                                                   \
        }                                                                                          \
        if ((parts) == 1) block[2 * i + 1] = 0.0;                                                  \
    }                                                                                              \
    break

static void load_halves(bool swapped, const char *from, int64_t step, int64_t count,
                        double *block) {
    for (int64_t i = 0; i < count; i++, from += step) {
        uint16_t bits;
        memcpy(&bits, from, sizeof bits);
        if (swapped) reverse((unsigned char *)&bits, sizeof bits);
        block[2 * i] = (double)weft_float_of_half(bits);
        block[2 * i + 1] = 0.0;
    }
}

static void load_truths(const char *from, int64_t step, int64_t count, double *block) {
    for (int64_t i = 0; i < count; i++) {
        block[2 * i] = from[i * step] != 0;
        block[2 * i + 1] = 0.0;
    }
}

/* Reads `count` elements into pairs of (real, imaginary). */
static void load(weft_element element, bool swapped, const char *from, int64_t step, int64_t count,
                 double *block) {
    switch (element) {
    case WEFT_ELEMENT_U8:
        LOAD(uint8_t, 1);
    case WEFT_ELEMENT_I16:
        LOAD(int16_t, 1);
    case WEFT_ELEMENT_U16:
        LOAD(uint16_t, 1);
    case WEFT_ELEMENT_I32:
        LOAD(int32_t, 1);
    case WEFT_ELEMENT_I8:
        LOAD(int8_t, 1);
    case WEFT_ELEMENT_U32:
        LOAD(uint32_t, 1);
    case WEFT_ELEMENT_I64:
        LOAD(int64_t, 1);
    case WEFT_ELEMENT_U64:
        LOAD(uint64_t, 1);
    case WEFT_ELEMENT_BOOL:
        load_truths(from, step, count, block);
        break;
    case WEFT_ELEMENT_F2:
        load_halves(swapped, from, step, count, block);
        break;
    case WEFT_ELEMENT_F4:
        LOAD(float, 1);
    case WEFT_ELEMENT_F8:
        LOAD(double, 1);
    case WEFT_ELEMENT_C8:
        LOAD(float, 2);
    case WEFT_ELEMENT_C16:
        LOAD(double, 2);
    case WEFT_ELEMENT_COUNT:
        break;
    }
}

#define STORE(type, parts)                                                                         \
    for (int64_t i = 0; i < count; i++, to += step) {                                              \
        type value[parts];                                                                         \
        for (int p = 0; p < (parts); p++) value[p] = (type)block[2 * i + p];                       \
        memcpy(to, value, sizeof value);                                                           \
    }                                                                                              \
    break

static void store(weft_element element, char *to, int64_t step, int64_t count,
                  const double *block) {
    switch (element) {
    case WEFT_ELEMENT_F4:
        STORE(float, 1);
    case WEFT_ELEMENT_F8:
        STORE(double, 1);
    case WEFT_ELEMENT_C8:
        STORE(float, 2);
    case WEFT_ELEMENT_C16:
        STORE(double, 2);
    default:
        break;
    }
}

void weft_convert(const weft_conversion *conversion, const void *from, int64_t from_stride,
                  void *to, int64_t to_stride, int64_t count) {
    int64_t from_step = from_stride * (int64_t)elements[conversion->from].bytes;
    int64_t to_step = to_stride * (int64_t)elements[conversion->to].bytes;
    if (conversion->from == conversion->to) {
        copy(conversion, from, from_step, to, to_step, count);
        return;
    }
    double block[2 * BLOCK];
    for (int64_t done = 0; done < count; done += BLOCK) {
        int64_t part = count - done < BLOCK ? count - done : BLOCK;
        load(conversion->from, conversion->swapped, (const char *)from + done * from_step,
             from_step, part, block);
        store(conversion->to, (char *)to + done * to_step, to_step, part, block);
    }
}
