/* The .npy header parser: what NumPy writes is read, everything hostile is refused with a sentence.
 */
#include "io/npy_header.h"
#include "support/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static weft_status parse(const char *text, weft_npy_header *header) {
    memset(header, 0, sizeof *header);
    return weft_npy_parse_text("FILE", text, strlen(text), header);
}

static void headers_of_numpy_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        weft_element element;
        bool swapped, column_major;
        int rank;
        int64_t n[3];
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n",
         WEFT_ELEMENT_F8,
         false,
         false,
         2,
         {3, 4}},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }\n",
         WEFT_ELEMENT_U8,
         false,
         false,
         1,
         {5}},
        {"{'descr': '>c16', 'fortran_order': True, 'shape': (2, 3, 4), }\n",
         WEFT_ELEMENT_C16,
         true,
         true,
         3,
         {2, 3, 4}},
        {"{\"shape\":(7L,8L),\"fortran_order\":False,\"descr\":\"<i2\"}",
         WEFT_ELEMENT_I16,
         false,
         false,
         2,
         {7, 8}},
        {"{'descr': '=f4', 'fortran_order': False, 'shape': (0, 3)}",
         WEFT_ELEMENT_F4,
         false,
         false,
         2,
         {0, 3}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        weft_npy_header header;
        assert_int_equal(parse(cases[c].text, &header), WEFT_SUCCESS);
        assert_int_equal(header.info.element, cases[c].element);
        assert_int_equal(header.swapped, cases[c].swapped);
        assert_int_equal(header.column_major, cases[c].column_major);
        assert_int_equal(header.info.rank, cases[c].rank);
        for (int a = 0; a < cases[c].rank; a++) assert_int_equal(header.info.n[a], cases[c].n[a]);
    }
}

static void hostile_headers_are_refused_in_one_sentence(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        "{",
        "}",
        "{}",
        "[]",
        "{'descr': '<f8'}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), ",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,,4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3.5, 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} and more",
        "{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<c32', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': 'O', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '\n\n', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8' * 1000000, 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '\\x3cf8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', ",
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        weft_npy_header header;
        weft_thread_error_set("");
        weft_status status = parse(cases[c], &header);
        if (status == WEFT_SUCCESS) fail_msg("accepted: %s", cases[c]);
        assert_true(status == WEFT_ERROR_INVALID_ARGUMENT || status == WEFT_ERROR_UNSUPPORTED);
        assert_ptr_equal(strstr(weft_thread_error(), "FILE: "), weft_thread_error());
        assert_null(strchr(weft_thread_error(), '\n'));
    }
}

static void prefixes_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
        bool good;
        size_t offset, length;
    } cases[] = {
        {"\x93NUMPY\x01\x00\x76\x00", 10, true, 10, 118},
        {"\x93NUMPY\x02\x00\x74\x00\x00\x00", 12, true, 12, 116},
        {"\x93NUMPY\x03\x00\x74\x00\x00\x00", 12, true, 12, 116},
        {"", 0, false, 0, 0},
        {"\x93NUMPY\x01\x00\x76", 9, false, 0, 0},
        {"\x93NUMPX\x01\x00\x76\x00", 10, false, 0, 0},
        {"\x93NUMPY\x00\x00\x76\x00", 10, false, 0, 0},
        {"\x93NUMPY\x04\x00\x76\x00\x00\x00", 12, false, 0, 0},
        {"\x93NUMPY\x02\x00\x76\x00", 10, false, 0, 0},
        {"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, false, 0, 0},
        {"\x93NUMPY\x02\x00\x00\x00\x00\x80", 12, false, 0, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t offset = 0, length = 0;
        weft_status status = weft_npy_parse_prefix("FILE", (const unsigned char *)cases[c].bytes,
                                                   cases[c].count, &offset, &length);
        assert_int_equal(status == WEFT_SUCCESS, cases[c].good);
        assert_int_equal(offset, cases[c].offset);
        assert_int_equal(length, cases[c].length);
    }
}

static void written_headers_are_read_back(void **state) {
    (void)state;
    for (int e = 0; e < WEFT_ELEMENT_COUNT; e++) {
        for (int rank = 1; rank <= WEFT_MAX_RANK; rank++) {
            weft_array_info info = {.element = (weft_element)e, .rank = rank};
            for (int a = 0; a < rank; a++) info.n[a] = INT64_MAX - a; /* the longest text */
            char bytes[WEFT_NPY_WRITTEN_LIMIT];
            size_t count = weft_npy_format_header(&info, bytes), offset, length;
            assert_true(count % 64 == 0 && count <= sizeof bytes && bytes[count - 1] == '\n');
            assert_int_equal(
                weft_npy_parse_prefix("FILE", (unsigned char *)bytes, count, &offset, &length),
                WEFT_SUCCESS);
            assert_int_equal(offset + length, count);
            weft_npy_header header = {0};
            assert_int_equal(weft_npy_parse_text("FILE", bytes + offset, length, &header),
                             WEFT_SUCCESS);
            assert_int_equal(header.info.element, e);
            assert_int_equal(header.info.rank, rank);
            for (int a = 0; a < rank; a++) assert_int_equal(header.info.n[a], info.n[a]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_numpy_are_read),
        cmocka_unit_test(hostile_headers_are_refused_in_one_sentence),
        cmocka_unit_test(prefixes_are_checked),
        cmocka_unit_test(written_headers_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
