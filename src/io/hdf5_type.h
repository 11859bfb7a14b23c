/* Elements as HDF5 types: complex numbers are compounds {r, i}, as h5py writes them. */
#ifndef WEFT_IO_HDF5_TYPE_H
#define WEFT_IO_HDF5_TYPE_H

#include "io/element.h"

#include <hdf5.h>

/* The in-memory HDF5 type of an element; complex members carry the given names. The caller closes
 * it; negative on failure. */
hid_t weft_hdf5_type(weft_element element, const char *real, const char *imaginary);

/* The element that values of a file's type are read as, and a matching in-memory type, which the
 * caller closes. */
bool weft_hdf5_recognize(hid_t file_type, weft_element *element, hid_t *memory_type);

#endif
