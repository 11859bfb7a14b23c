/*
 * The .npy header is a Python dictionary in a fixed place. This parser takes exactly the three keys
 * that NumPy writes, in any order, and refuses everything else: headers come from strangers. The
 * format is described in numpy/lib/format.py.
 */
#include "io/npy_header.h"

#include "support/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

typedef struct scanner {
    const char *path, *at, *end;
} scanner;

static weft_status malformed(const char *path, const char *what) {
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s: not a valid .npy file: %s; write it again with numpy.save", path, what);
}

weft_status weft_npy_parse_prefix(const char *path, const unsigned char *bytes, size_t count,
                                  size_t *text_offset, size_t *text_bytes) {
    if (count < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return malformed(path, "it does not begin with NumPy's magic bytes and version");
    unsigned version = bytes[6];
    if (version < 1 || version > 3) return malformed(path, "its version is not 1, 2 or 3");
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8, offset = 10;
    if (version > 1) {
        if (count < WEFT_NPY_PREFIX_BYTES) return malformed(path, "it ends within the header");
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        offset = WEFT_NPY_PREFIX_BYTES;
    }
    if (length > WEFT_NPY_TEXT_LIMIT) return malformed(path, "its header is absurdly long");
    *text_offset = offset;
    *text_bytes = length;
    return WEFT_SUCCESS;
}

static void skip_space(scanner *s) {
    while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
}

static bool accept(scanner *s, const char *token) {
    skip_space(s);
    size_t length = strlen(token);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, token, length) != 0) return false;
    s->at += length;
    return true;
}

/* A quoted string without escapes, shorter than `capacity`. */
static bool accept_string(scanner *s, char *text, size_t capacity) {
    skip_space(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
    char quote = *s->at;
    size_t length = 0;
    const char *at = s->at + 1;
    while (at < s->end && *at != quote && *at != '\\' && length + 1 < capacity)
        text[length++] = *at++;
    if (at == s->end || *at != quote) return false;
    text[length] = '\0';
    s->at = at + 1;
    return true;
}

static weft_status parse_extent(scanner *s, int64_t *extent) {
    int64_t value = 0;
    skip_space(s);
    if (s->at == s->end || !isdigit((unsigned char)*s->at))
        return malformed(s->path, "its shape is not a tuple of numbers");
    for (; s->at < s->end && isdigit((unsigned char)*s->at); s->at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *s->at - '0', &value))
            return malformed(s->path, "its shape does not fit 64 bits");
    }
    if (s->at < s->end && *s->at == 'L') s->at++; /* Python 2 wrote long integers so */
    *extent = value;
    return WEFT_SUCCESS;
}

static weft_status parse_shape(scanner *s, weft_array_info *info) {
    if (!accept(s, "(")) return malformed(s->path, "its shape is not a tuple");
    info->rank = 0;
    while (!accept(s, ")")) {
        int64_t extent = 0;
        WEFT_TRY(parse_extent(s, &extent));
        if (info->rank == WEFT_MAX_RANK)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s: the array has more than %d axes; weft takes 1 to %d", s->path,
                             WEFT_MAX_RANK, WEFT_MAX_RANK);
        info->n[info->rank++] = extent;
        if (accept(s, ",")) continue;
        if (!accept(s, ")")) return malformed(s->path, "its shape is not a tuple of numbers");
        break;
    }
    return WEFT_SUCCESS;
}

static weft_status parse_descr(scanner *s, weft_npy_header *header) {
    static const struct {
        const char *code;
        weft_element element;
    } codes[] = {{"b1", WEFT_ELEMENT_BOOL}, {"i1", WEFT_ELEMENT_I8},  {"u4", WEFT_ELEMENT_U32},
                 {"i8", WEFT_ELEMENT_I64},  {"u8", WEFT_ELEMENT_U64}, {"f2", WEFT_ELEMENT_F2},
                 {"u1", WEFT_ELEMENT_U8},   {"i2", WEFT_ELEMENT_I16}, {"u2", WEFT_ELEMENT_U16},
                 {"i4", WEFT_ELEMENT_I32},  {"f4", WEFT_ELEMENT_F4},  {"f8", WEFT_ELEMENT_F8},
                 {"c8", WEFT_ELEMENT_C8},   {"c16", WEFT_ELEMENT_C16}};
    char descr[16];
    if (!accept_string(s, descr, sizeof descr))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: its elements are records or of an unknown type; convert them with "
                         "astype to a number of up to 8 bytes, or a complex one of 16",
                         s->path);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (descr[0] == '\0' || strchr("<>|=", descr[0]) == NULL ||
            strcmp(descr + 1, codes[i].code) != 0)
            continue;
        header->info.element = codes[i].element;
        header->swapped = descr[0] == '>' && weft_element_bytes(codes[i].element) > 1;
        return WEFT_SUCCESS;
    }
    for (char *c = descr; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c)) *c = '?';
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: weft does not read elements of type '%s'; convert them with astype to "
                     "a number of up to 8 bytes, or a complex one of 16",
                     s->path, descr);
}

static weft_status parse_order(scanner *s, weft_npy_header *header) {
    if (accept(s, "True")) {
        header->column_major = true;
    } else if (accept(s, "False")) {
        header->column_major = false;
    } else {
        return malformed(s->path, "fortran_order is neither True nor False");
    }
    return WEFT_SUCCESS;
}

weft_status weft_npy_parse_text(const char *path, const char *text, size_t count,
                                weft_npy_header *header) {
    scanner s = {path, text, text + count};
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    int seen = 0, key;
    if (!accept(&s, "{")) return malformed(path, "its header is not a dictionary");
    while (!accept(&s, "}")) {
        char name[16];
        if (!accept_string(&s, name, sizeof name)) return malformed(path, "a key is not a string");
        key = strcmp(name, "descr") == 0           ? DESCR
              : strcmp(name, "fortran_order") == 0 ? ORDER
              : strcmp(name, "shape") == 0         ? SHAPE
                                                   : 0;
        if (key == 0 || (seen & key) != 0 || !accept(&s, ":"))
            return malformed(path, "its header has a key that is unknown or comes twice");
        seen |= key;
        WEFT_TRY(key == DESCR   ? parse_descr(&s, header)
                 : key == ORDER ? parse_order(&s, header)
                                : parse_shape(&s, &header->info));
        if (accept(&s, ",")) continue;
        if (!accept(&s, "}")) return malformed(path, "its header does not end in a brace");
        break;
    }
    if (seen != (DESCR | ORDER | SHAPE))
        return malformed(path, "its header lacks descr, fortran_order or shape");
    skip_space(&s);
    if (s.at != s.end) return malformed(path, "something follows the header");
    return WEFT_SUCCESS;
}

/* Appends to a text that is known to fit. */
static void append(char *text, size_t *length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t *length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text + *length, WEFT_NPY_WRITTEN_LIMIT - *length, format, arguments);
    va_end(arguments);
    if (added > 0) *length += (size_t)added;
}

size_t weft_npy_format_header(const weft_array_info *info, char bytes[WEFT_NPY_WRITTEN_LIMIT]) {
    static const char *const descr[WEFT_ELEMENT_COUNT] = {
        [WEFT_ELEMENT_BOOL] = "|b1", [WEFT_ELEMENT_I8] = "|i1",  [WEFT_ELEMENT_U32] = "<u4",
        [WEFT_ELEMENT_I64] = "<i8",  [WEFT_ELEMENT_U64] = "<u8", [WEFT_ELEMENT_F2] = "<f2",
        [WEFT_ELEMENT_U8] = "|u1",   [WEFT_ELEMENT_I16] = "<i2", [WEFT_ELEMENT_U16] = "<u2",
        [WEFT_ELEMENT_I32] = "<i4",  [WEFT_ELEMENT_F4] = "<f4",  [WEFT_ELEMENT_F8] = "<f8",
        [WEFT_ELEMENT_C8] = "<c8",   [WEFT_ELEMENT_C16] = "<c16"};
    size_t length = 10;
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    append(bytes, &length, "{'descr': '%s', 'fortran_order': False, 'shape': (",
           descr[info->element]);
    for (int a = 0; a < info->rank; a++)
        append(bytes, &length, a > 0 ? " %lld," : "%lld,", (long long)info->n[a]);
    if (info->rank > 1) length--; /* only a tuple of one ends in a comma */
    append(bytes, &length, "), }");
    while (length % 64 != 63) bytes[length++] = ' ';
    bytes[length++] = '\n';
    bytes[8] = (char)((length - 10) & 0xff);
    bytes[9] = (char)((length - 10) >> 8);
    return length;
}
