/* Conversion of elements: every pair, strides, byte order. */
#include "io/element.h"

#include "half_number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_of_elements_parse_back(void **state) {
    (void)state;
    for (int e = 0; e < WEFT_ELEMENT_COUNT; e++) {
        weft_element element = WEFT_ELEMENT_COUNT;
        assert_true(weft_element_parse(weft_element_name((weft_element)e), &element));
        assert_int_equal(element, e);
    }
    weft_element element;
    assert_false(weft_element_parse("f3", &element));
    assert_false(weft_element_parse("", &element));
}

static void complex_does_not_become_real(void **state) {
    (void)state;
    assert_false(weft_element_converts(WEFT_ELEMENT_C16, WEFT_ELEMENT_F8));
    assert_false(weft_element_converts(WEFT_ELEMENT_F8, WEFT_ELEMENT_I32));
    assert_true(weft_element_converts(WEFT_ELEMENT_U8, WEFT_ELEMENT_C8));
    assert_true(weft_element_converts(WEFT_ELEMENT_I16, WEFT_ELEMENT_I16));
}

/* Writes `value` as an element of a type. */
static void encode(weft_element element, double value, void *at) {
    const union {
        float f4[2];
        double f8[2];
    } single = {.f4 = {(float)value, (float)-value}}, twice = {.f8 = {value, -value}};
    uint8_t u8 = (uint8_t)value;
    int16_t i16 = (int16_t)value;
    uint16_t u16 = (uint16_t)value;
    int32_t i32 = (int32_t)value;
    int8_t i8 = (int8_t)value;
    uint32_t u32 = (uint32_t)value;
    int64_t i64 = (int64_t)value;
    uint64_t u64 = (uint64_t)value;
    const void *from[WEFT_ELEMENT_COUNT] = {
        &u8,       &i8,      &i16,      &u16,    &i32, &u32, &i64, &u64, &u8, half_number(value),
        single.f4, twice.f8, single.f4, twice.f8};
    memcpy(at, from[element], weft_element_bytes(element));
}

static double decode(weft_element element, const void *at, int part) {
    float single[2];
    double twice[2];
    size_t parts = weft_element_complex(element) ? 2 : 1;
    if (element == WEFT_ELEMENT_F4 || element == WEFT_ELEMENT_C8) {
        memcpy(single, at, parts * sizeof *single);
        return single[part];
    }
    memcpy(twice, at, parts * sizeof *twice);
    return twice[part];
}

/* A number that type f has. */
static double number_of(int f, int i) {
    return f == WEFT_ELEMENT_BOOL ? i % 2 : f == WEFT_ELEMENT_I8 ? i % 251 - 125 : i % 251;
}

static void every_type_becomes_every_wider_one(void **state) {
    (void)state;
    enum { COUNT = 700, FROM_STRIDE = 2, TO_STRIDE = 3 }; /* more than two blocks */
    unsigned char *from = malloc(COUNT * FROM_STRIDE * 16), *to = malloc(COUNT * TO_STRIDE * 16);
    for (int f = 0; f < WEFT_ELEMENT_COUNT; f++) {
        for (int t = WEFT_ELEMENT_F4; t < WEFT_ELEMENT_COUNT; t++) {
            if (!weft_element_converts((weft_element)f, (weft_element)t)) continue;
            size_t from_bytes = weft_element_bytes((weft_element)f);
            size_t to_bytes = weft_element_bytes((weft_element)t);
            for (int i = 0; i < COUNT; i++)
                encode((weft_element)f, number_of(f, i),
                       from + (size_t)i * FROM_STRIDE * from_bytes);
            weft_conversion conversion = {(weft_element)f, (weft_element)t, false};
            weft_convert(&conversion, from, FROM_STRIDE, to, TO_STRIDE, COUNT);
            for (int i = 0; i < COUNT; i++) {
                const unsigned char *at = to + (size_t)i * TO_STRIDE * to_bytes;
                assert_true(decode((weft_element)t, at, 0) == number_of(f, i));
                if (!weft_element_complex((weft_element)t)) continue;
                double expected = weft_element_complex((weft_element)f) ? -number_of(f, i) : 0;
                assert_true(decode((weft_element)t, at, 1) == expected);
            }
        }
    }
    free(from);
    free(to);
}

static void halves_truths_and_long_integers_have_their_values(void **state) {
    (void)state;
    const uint16_t halves[] = {0x3c00, 0xc100, 0x7bff, 0x0001, 0x8000, 0xfc00, 0x7e00, 0x3555};
    const double wanted[] = {1, -2.5, 65504, 0x1p-24, 0, -INFINITY, NAN, 0.333251953125};
    double got[8];
    weft_conversion conversion = {WEFT_ELEMENT_F2, WEFT_ELEMENT_F8, false};
    weft_convert(&conversion, halves, 1, got, 1, 8);
    for (int i = 0; i < 8; i++) assert_true(isnan(wanted[i]) ? isnan(got[i]) : got[i] == wanted[i]);
    const unsigned char truths[] = {0, 1, 255};
    conversion.from = WEFT_ELEMENT_BOOL;
    weft_convert(&conversion, truths, 1, got, 1, 3);
    assert_true(got[0] == 0 && got[1] == 1 && got[2] == 1);
    const int64_t longs[] = {-(INT64_C(1) << 53), (INT64_C(1) << 53) + 1};
    conversion.from = WEFT_ELEMENT_I64;
    weft_convert(&conversion, longs, 1, got, 1, 2);
    assert_true(got[0] == -0x1p53 && got[1] == 0x1p53);
    const uint64_t longest = UINT64_MAX;
    conversion.from = WEFT_ELEMENT_U64;
    weft_convert(&conversion, &longest, 1, got, 1, 1);
    assert_true(got[0] == 0x1p64);
}

static void other_byte_order_is_reversed(void **state) {
    (void)state;
    const unsigned char integers[] = {0x01, 0x02, 0xff, 0xfe};
    double values[2];
    weft_conversion widen = {WEFT_ELEMENT_I16, WEFT_ELEMENT_F8, true};
    weft_convert(&widen, integers, 1, values, 1, 2);
    assert_true(values[0] == 258.0 && values[1] == -2.0);

    double pair[2] = {1.5, -2.5}, reversed[2], back[2];
    weft_conversion same = {WEFT_ELEMENT_C16, WEFT_ELEMENT_C16, true};
    weft_convert(&same, pair, 1, reversed, 1, 1);
    assert_memory_not_equal(pair, reversed, sizeof pair);
    weft_convert(&same, reversed, 1, back, 1, 1);
    assert_memory_equal(pair, back, sizeof pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_elements_parse_back),
        cmocka_unit_test(complex_does_not_become_real),
        cmocka_unit_test(every_type_becomes_every_wider_one),
        cmocka_unit_test(halves_truths_and_long_integers_have_their_values),
        cmocka_unit_test(other_byte_order_is_reversed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
