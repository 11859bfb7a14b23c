/* Types of VTK's numbers, and the choice of an array. */
#include "io/vtk_data.h"

#include "support/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name[5]; /* in XML, and in legacy files */
    size_t bytes;
    weft_element element;
    bool native;
} types[WEFT_VTK_TYPES] = {
    [WEFT_VTK_U8] = {{"UInt8", "unsigned_char"}, 1, WEFT_ELEMENT_U8, true},
    [WEFT_VTK_I8] = {{"Int8", "char", "signed_char"}, 1, WEFT_ELEMENT_I16, false},
    [WEFT_VTK_U16] = {{"UInt16", "unsigned_short"}, 2, WEFT_ELEMENT_U16, true},
    [WEFT_VTK_I16] = {{"Int16", "short"}, 2, WEFT_ELEMENT_I16, true},
    [WEFT_VTK_U32] = {{"UInt32", "unsigned_int"}, 4, WEFT_ELEMENT_I32, false},
    [WEFT_VTK_I32] = {{"Int32", "int", "vtkIdType"}, 4, WEFT_ELEMENT_I32, true},
    [WEFT_VTK_U64] = {{"UInt64", "unsigned_long", "vtktypeuint64"}, 8, WEFT_ELEMENT_I32, false},
    [WEFT_VTK_I64] = {{"Int64", "long", "vtktypeint64"}, 8, WEFT_ELEMENT_I32, false},
    [WEFT_VTK_F4] = {{"Float32", "float"}, 4, WEFT_ELEMENT_F4, true},
    [WEFT_VTK_F8] = {{"Float64", "double"}, 8, WEFT_ELEMENT_F8, true},
};

weft_vtk_type weft_vtk_type_find(const char *name) {
    for (int t = 0; t < WEFT_VTK_TYPES; t++)
        for (int i = 0; i < 5 && types[t].name[i] != NULL; i++)
            if (strcmp(name, types[t].name[i]) == 0) return (weft_vtk_type)t;
    return WEFT_VTK_TYPES;
}

size_t weft_vtk_type_bytes(weft_vtk_type type) {
    return types[type].bytes;
}

weft_element weft_vtk_type_element(weft_vtk_type type) {
    return types[type].element;
}

bool weft_vtk_type_native(weft_vtk_type type) {
    return types[type].native;
}

/* Bytes of a number, the most significant one first or last, as an unsigned one. */
static uint64_t bits_of(const unsigned char *bytes, size_t count, bool swapped) {
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits = bits << 8 | bytes[swapped ? i : count - 1 - i]; /* this machine: little-endian */
    return bits;
}

bool weft_vtk_type_convert(weft_vtk_type type, bool swapped, const void *from, int64_t count,
                           void *to) {
    const weft_element element = types[type].element;
    const unsigned char *bytes = from;
    if (types[type].native) {
        const weft_conversion conversion = {element, element, swapped};
        weft_convert(&conversion, from, 1, to, 1, count);
        return true;
    }
    for (int64_t i = 0; i < count; i++, bytes += types[type].bytes) {
        const uint64_t bits = bits_of(bytes, types[type].bytes, swapped);
        if (type == WEFT_VTK_I8) {
            ((int16_t *)to)[i] = (int16_t)(bits < 128 ? (int)bits : (int)bits - 256);
            continue;
        }
        const bool negative = type == WEFT_VTK_I64 && bits >> 63 != 0;
        const uint64_t size = negative ? UINT64_C(0) - bits : bits;
        if (size > (uint64_t)INT32_MAX + (negative ? 1 : 0)) return false;
        ((int32_t *)to)[i] = (int32_t)(negative ? -(int64_t)size : (int64_t)size);
    }
    return true;
}

weft_status weft_vtk_malformed(const char *path, const char *format, const char *what) {
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s: not a %s file that weft can read: %s; write it again", path, format,
                     what);
}

weft_status weft_vtk_shape(const char *path, const int64_t n[3], int64_t components,
                           weft_vtk_data *data) {
    weft_array_info *info = &data->info;
    int64_t bytes = 0;
    info->rank = 0;
    if (components != 1) info->n[info->rank++] = components;
    for (int a = 0; a < 3; a++) info->n[info->rank++] = n[a];
    info->element = WEFT_ELEMENT_F8; /* no element is larger on disk */
    if (!weft_array_bytes(info, &bytes))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: the shape of one of its arrays is empty or overflows 64 bits; "
                         "correct its header",
                         path);
    if (data->type < WEFT_VTK_TYPES) info->element = types[data->type].element;
    return WEFT_SUCCESS;
}

/* Appends a name to the list, in quotes; strange characters become question marks. */
static void list_name(weft_vtk_choice *choice, const char *name) {
    const size_t length = strlen(choice->names), room = sizeof choice->names - length;
    if (room < 48) return;
    snprintf(choice->names + length, room, "%s%.40s", length > 0 ? ", " : "", name);
    for (char *c = choice->names + length; *c != '\0'; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
}

bool weft_vtk_offer(weft_vtk_choice *choice, const char *name, const weft_vtk_data *data) {
    list_name(choice, name);
    choice->seen++;
    if (choice->chosen || (choice->wanted != NULL && strcmp(choice->wanted, name) != 0))
        return false;
    choice->chosen = true;
    choice->data = *data;
    return true;
}

weft_status weft_vtk_conclude(const weft_vtk_choice *choice) {
    if (choice->seen == 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it has no array of cells or points; name a file that has",
                         choice->path);
    if (!choice->chosen)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it has no array %s; it has %s",
                         choice->path, choice->wanted, choice->names);
    if (choice->wanted == NULL && choice->seen > 1)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it has several arrays; add the name of one after a colon: %s",
                         choice->path, choice->names);
    if (choice->data.type == WEFT_VTK_TYPES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: weft does not read elements of the type of this array; convert them "
                         "to integers or floating-point numbers",
                         choice->path);
    return WEFT_SUCCESS;
}
