/* Boxes of an open HDF5 dataset, moved by all ranks together. */
#ifndef WEFT_IO_HDF5_TRANSFER_H
#define WEFT_IO_HDF5_TRANSFER_H

#include "io/hdf5_dataset.h"

weft_status weft_hdf5_read(weft_array *array, const weft_box *box, weft_element wanted,
                           void *memory);
weft_status weft_hdf5_write(weft_array *array, const weft_box *box, const void *memory);

#endif
