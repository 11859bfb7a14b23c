/* The HDF5 format of builds without HDF5: names are recognized, and refused. */
#include "io/format.h"
#include "support/error.h"

static weft_status absent(weft_array *array) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: this build has no HDF5 that goes with it; use .npy or raw files",
                     array->path);
}

static weft_status nothing_open(weft_array *array) {
    (void)array;
    return WEFT_SUCCESS;
}

const weft_file_format weft_hdf5_format = {
    .suffixes = {".h5", ".hdf5"},
    .inside = WEFT_INSIDE_MUST,
    .open = absent,
    .create = absent,
    .close = nothing_open,
};

bool weft_array_may_finalize(void) {
    return true;
}
