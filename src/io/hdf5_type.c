/* HDF5 types of elements. Byte order is left to HDF5, which converts while reading. */
#include "io/hdf5_type.h"

#include <string.h>

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

static bool recognize_number(hid_t type, weft_element *element) {
    size_t bytes = H5Tget_size(type);
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_FLOAT && (bytes == 4 || bytes == 8)) {
        *element = bytes == 4 ? WEFT_ELEMENT_F4 : WEFT_ELEMENT_F8;
        return true;
    }
    if (class != H5T_INTEGER) return false;
    bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
    if (bytes == 1 && !is_signed)
        *element = WEFT_ELEMENT_U8;
    else if (bytes == 2)
        *element = is_signed ? WEFT_ELEMENT_I16 : WEFT_ELEMENT_U16;
    else if (bytes == 4 && is_signed)
        *element = WEFT_ELEMENT_I32;
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
