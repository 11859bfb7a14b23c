/* HDF5 types of elements. Byte order is left to HDF5, which converts while reading. */
#include "io/hdf5_type.h"

#include <string.h>

/* As h5py stores NumPy's bool: FALSE and TRUE in a byte. */
static hid_t truth_type(void) {
    const int8_t values[2] = {0, 1};
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    if (type >= 0 && H5Tenum_insert(type, "FALSE", &values[0]) >= 0 &&
        H5Tenum_insert(type, "TRUE", &values[1]) >= 0)
        return type;
    if (type >= 0) H5Tclose(type);
    return -1;
}

/* HDF5 has no name for IEEE 754 binary16 before its version 1.14.4. */
static hid_t half_type(void) {
    hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
    if (type >= 0 && H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
        H5Tset_ebias(type, 15) >= 0)
        return type;
    if (type >= 0) H5Tclose(type);
    return -1;
}

hid_t weft_hdf5_type(weft_element element, const char *real, const char *imaginary) {
    switch (element) {
    case WEFT_ELEMENT_U8:
        return H5Tcopy(H5T_NATIVE_UINT8);
    case WEFT_ELEMENT_I16:
        return H5Tcopy(H5T_NATIVE_INT16);
    case WEFT_ELEMENT_U16:
        return H5Tcopy(H5T_NATIVE_UINT16);
    case WEFT_ELEMENT_I32:
        return H5Tcopy(H5T_NATIVE_INT32);
    case WEFT_ELEMENT_I8:
        return H5Tcopy(H5T_NATIVE_INT8);
    case WEFT_ELEMENT_U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case WEFT_ELEMENT_I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case WEFT_ELEMENT_U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case WEFT_ELEMENT_BOOL:
        return truth_type();
    case WEFT_ELEMENT_F2:
        return half_type();
    case WEFT_ELEMENT_F4:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    case WEFT_ELEMENT_F8:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    default:
        break;
    }
    size_t bytes = weft_element_bytes(element);
    hid_t part = element == WEFT_ELEMENT_C8 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    hid_t type = H5Tcreate(H5T_COMPOUND, bytes);
    if (type < 0) return type;
    if (H5Tinsert(type, real, 0, part) < 0 || H5Tinsert(type, imaginary, bytes / 2, part) < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

static bool is_truth(hid_t type) {
    hid_t truth = truth_type();
    const bool same = truth >= 0 && H5Tequal(type, truth) > 0;
    if (truth >= 0) H5Tclose(truth);
    return same;
}

static bool recognize_number(hid_t type, weft_element *element) {
    size_t bytes = H5Tget_size(type);
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_FLOAT && (bytes == 2 || bytes == 4 || bytes == 8)) {
        *element = bytes == 2 ? WEFT_ELEMENT_F2 : bytes == 4 ? WEFT_ELEMENT_F4 : WEFT_ELEMENT_F8;
        return true;
    }
    if (class == H5T_ENUM && bytes == 1 && is_truth(type)) {
        *element = WEFT_ELEMENT_BOOL;
        return true;
    }
    if (class != H5T_INTEGER) return false;
    bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
    if (bytes == 1)
        *element = is_signed ? WEFT_ELEMENT_I8 : WEFT_ELEMENT_U8;
    else if (bytes == 2)
        *element = is_signed ? WEFT_ELEMENT_I16 : WEFT_ELEMENT_U16;
    else if (bytes == 4)
        *element = is_signed ? WEFT_ELEMENT_I32 : WEFT_ELEMENT_U32;
    else if (bytes == 8)
        *element = is_signed ? WEFT_ELEMENT_I64 : WEFT_ELEMENT_U64;
    else
        return false;
    return true;
}

/* Real part first, whatever its name; h5py calls the two r and i. */
static bool recognize_complex(hid_t type, weft_element *element, hid_t *memory_type) {
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
    weft_element parts[2] = {WEFT_ELEMENT_U8, WEFT_ELEMENT_U8};
    char *names[2] = {NULL, NULL};
    bool numbers = true;
    for (unsigned m = 0; m < 2; m++) {
        hid_t member = H5Tget_member_type(type, m);
        numbers = member >= 0 && recognize_number(member, &parts[m]) && numbers;
        if (member >= 0) H5Tclose(member);
        names[m] = H5Tget_member_name(type, m);
    }
    bool match = numbers && parts[0] == parts[1] && names[0] != NULL && names[1] != NULL &&
                 strchr("rR", names[0][0]) != NULL && strchr("iI", names[1][0]) != NULL &&
                 (parts[0] == WEFT_ELEMENT_F4 || parts[0] == WEFT_ELEMENT_F8);
    if (match) {
        *element = parts[0] == WEFT_ELEMENT_F4 ? WEFT_ELEMENT_C8 : WEFT_ELEMENT_C16;
        *memory_type = weft_hdf5_type(*element, names[0], names[1]);
    }
    for (int m = 0; m < 2; m++)
        if (names[m] != NULL) H5free_memory(names[m]);
    return match && *memory_type >= 0;
}

bool weft_hdf5_recognize(hid_t file_type, weft_element *element, hid_t *memory_type) {
    if (!recognize_number(file_type, element))
        return recognize_complex(file_type, element, memory_type);
    *memory_type = weft_hdf5_type(*element, NULL, NULL);
    return *memory_type >= 0;
}
