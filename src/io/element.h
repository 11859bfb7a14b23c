/*
 * Element types of files: names, sizes, and conversion between them and the types transforms work
 * on.
 */
#ifndef WEFT_IO_ELEMENT_H
#define WEFT_IO_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/weft.h>

typedef enum weft_element {
    WEFT_ELEMENT_U8 = 0,
    WEFT_ELEMENT_I8,
    WEFT_ELEMENT_I16,
    WEFT_ELEMENT_U16,
    WEFT_ELEMENT_I32,
    WEFT_ELEMENT_U32,
    WEFT_ELEMENT_I64, /* as numbers of f8: rounded beyond 2^53 */
    WEFT_ELEMENT_U64,
    WEFT_ELEMENT_BOOL, /* a byte: 0, or anything else for 1 */
    WEFT_ELEMENT_F2,
    WEFT_ELEMENT_F4,
    WEFT_ELEMENT_F8,
    WEFT_ELEMENT_C8,  /* two f4 */
    WEFT_ELEMENT_C16, /* two f8 */
    WEFT_ELEMENT_COUNT
} weft_element;

/* "u8", "i16", ... as --dtype spells them. */
const char *weft_element_name(weft_element element);
bool weft_element_parse(const char *name, weft_element *element);
size_t weft_element_bytes(weft_element element);
/* Whole numbers; truth values are. */
bool weft_element_whole(weft_element element);
/* Types that single precision has room for: f2, f4 and c8. */
bool weft_element_single(weft_element element);
/* All names, for sentences that say what to give. */
#define WEFT_ELEMENT_NAMES "u8, i8, i16, u16, i32, u32, i64, u64, bool, f2, f4, f8, c8 or c16"
#define WEFT_ELEMENT_WORDS "u8|i8|i16|u16|i32|u32|i64|u64|bool|f2|f4|f8|c8|c16"
bool weft_element_complex(weft_element element);

/* Whether `from` can be read as `to`: any type as itself, real as f4, f8, c8 or c16, complex as c8
 * or c16. */
bool weft_element_converts(weft_element from, weft_element to);

/* Converts `count` elements; strides count elements; `swapped` sources have the other byte order.
 * The pair must be one that weft_element_converts. Neither side needs to be aligned. */
typedef struct weft_conversion {
    weft_element from, to;
    bool swapped;
} weft_conversion;

void weft_convert(const weft_conversion *conversion, const void *from, int64_t from_stride,
                  void *to, int64_t to_stride, int64_t count);

#endif
