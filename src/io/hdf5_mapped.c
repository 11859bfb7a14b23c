/*
 * HDF5 datasets whose elements lie one behind the other in the file, so that they can be read and
 * written there without HDF5: those that are contiguous, and have the numbers of this machine.
 *
 * One that is created gets its space by one element that HDF5 writes, once all else is in the file:
 * so it lies at the end of the file, and can be larger while it is worked on than when it is
 * complete.
 */
#include "io/agreement.h"
#include "io/flat.h"
#include "io/hdf5_dataset.h"
#include "io/hdf5_type.h"
#include "support/error.h"

#include <string.h>

/* Where a dataset lies: its first byte, and the end of the file as HDF5 sees it. */
typedef struct dataset_place {
    int64_t offset, end;
} dataset_place;

static bool is_contiguous(hid_t set) {
    const hid_t creation = H5Dget_create_plist(set);
    const bool contiguous = creation >= 0 && H5Pget_layout(creation) == H5D_CONTIGUOUS &&
                            H5Pget_external_count(creation) == 0;
    if (creation >= 0) H5Pclose(creation);
    return contiguous;
}

/* Whether values lie in the file as they do in memory. */
static bool is_native(const weft_hdf5_dataset *state) {
    const hid_t type = H5Dget_type(state->set);
    const bool native = type >= 0 && H5Tequal(type, state->memory_type) > 0;
    if (type >= 0) H5Tclose(type);
    return native;
}

weft_status weft_hdf5_check_map(const weft_array *array) {
    const weft_hdf5_dataset *state = array->state;
    if (array->flat != NULL) return weft_flat_check_map(array);
    if (!is_contiguous(state->set))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: dataset %s lies in chunks, is compressed or lies in other files, and "
                         "is not streamed; make it contiguous: h5repack -f NONE -l CONTI %s NEW.h5",
                         array->path, array->inside, array->path);
    const haddr_t offset = H5Dget_offset(state->set);
    if (offset == HADDR_UNDEF)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: nothing was ever written to dataset %s; write it first", array->path,
                         array->inside);
    if (!is_native(state) || offset % weft_element_bytes(array->info.element) != 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: the elements of dataset %s do not lie as this machine has them in "
                         "memory, in their byte order, their size or their alignment, and are not "
                         "streamed; drop --stream, or convert them first",
                         array->path, array->inside);
    return WEFT_SUCCESS;
}

weft_status weft_hdf5_map(weft_array *array, size_t bytes, void **memory) {
    const weft_hdf5_dataset *state = array->state;
    int64_t file_bytes;
    weft_strided_file *file;
    if (array->flat == NULL) {
        WEFT_TRY(weft_flat_open(array, &file, &file_bytes));
        file->offset = (int64_t)H5Dget_offset(state->set);
        WEFT_TRY(weft_flat_check(array, file, file_bytes));
    }
    return weft_flat_map(array, bytes, memory);
}

/* ---- creating, on rank 0 alone ---- */

static weft_status refused(const weft_array *array) {
    return weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot create the dataset");
}

/* Opens the temporary file, where HDF5 is to put data at multiples of pages. */
static hid_t open_alone(const weft_array *array, unsigned flags, hsize_t alignment) {
    const hid_t access = weft_hdf5_access_without_lock();
    if (access >= 0 && alignment > 0) H5Pset_alignment(access, 1, alignment);
    const hid_t file = H5Fopen(array->temporary, flags, access >= 0 ? access : H5P_DEFAULT);
    if (access >= 0) H5Pclose(access);
    return file;
}

static weft_status create(const weft_array *array) {
    weft_hdf5_dataset alone = {-1, -1, -1, -1};
    alone.memory_type = weft_hdf5_type(array->info.element, "r", "i");
    alone.file = open_alone(array, H5F_ACC_RDWR, 0);
    if (alone.file >= 0 && alone.memory_type >= 0)
        alone.set = weft_hdf5_create_dataset(array, &alone);
    const weft_status status = alone.set >= 0 ? WEFT_SUCCESS : refused(array);
    return weft_hdf5_close_dataset(&alone) < 0 && status == WEFT_SUCCESS ? refused(array) : status;
}

/* Writes the first element, a zero. */
static herr_t write_first(const weft_array *array, const weft_hdf5_dataset *alone) {
    const hsize_t start[WEFT_MAX_RANK] = {0};
    hsize_t count[WEFT_MAX_RANK];
    const double zero[2] = {0, 0};
    for (int a = 0; a < array->info.rank; a++) count[a] = 1;
    const hid_t space = H5Dget_space(alone->set), one = H5Screate(H5S_SCALAR);
    herr_t result = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (result >= 0)
        result = H5Dwrite(alone->set, alone->memory_type, one, space, H5P_DEFAULT, zero);
    if (one >= 0) H5Sclose(one);
    if (space >= 0) H5Sclose(space);
    return result;
}

static weft_status give_space(const weft_array *array) {
    enum { PAGE = 4096 };
    weft_hdf5_dataset alone = {-1, -1, -1, -1};
    herr_t result = -1;
    alone.memory_type = weft_hdf5_type(array->info.element, "r", "i");
    alone.file = open_alone(array, H5F_ACC_RDWR, PAGE);
    if (alone.file >= 0) alone.set = H5Dopen2(alone.file, array->inside, H5P_DEFAULT);
    if (alone.set >= 0 && alone.memory_type >= 0) result = write_first(array, &alone);
    const weft_status status = result >= 0 ? WEFT_SUCCESS : refused(array);
    return weft_hdf5_close_dataset(&alone) < 0 && status == WEFT_SUCCESS ? refused(array) : status;
}

static bool is_as_described(const weft_array_info *a, const weft_array_info *b) {
    return a->element == b->element && a->rank == b->rank &&
           memcmp(a->n, b->n, (size_t)a->rank * sizeof *a->n) == 0;
}

static weft_status find_place(weft_array *array, dataset_place *place) {
    weft_hdf5_dataset alone = {-1, -1, -1, -1};
    haddr_t end = 0, offset = HADDR_UNDEF;
    const weft_array_info wanted = array->info;
    alone.file = open_alone(array, H5F_ACC_RDONLY, 0);
    if (alone.file >= 0 && weft_hdf5_open_dataset(array, &alone) == WEFT_SUCCESS)
        offset = H5Dget_offset(alone.set);
    const bool found = offset != HADDR_UNDEF && H5Fget_eoa(alone.file, &end) >= 0 &&
                       is_as_described(&array->info, &wanted);
    array->info = wanted;
    weft_hdf5_close_dataset(&alone);
    *place = (dataset_place){(int64_t)offset, (int64_t)end};
    if (found) return WEFT_SUCCESS;
    return array->how.resumed
               ? weft_fail(WEFT_ERROR_MISMATCH,
                           "%s: what the run that was stopped wrote of it is not all there; leave "
                           "--resume out to start anew",
                           array->path)
               : refused(array);
}

static weft_status create_alone(weft_array *array, dataset_place *place) {
    if (!array->how.resumed) {
        WEFT_TRY(create(array));
        WEFT_TRY(give_space(array));
    }
    return find_place(array, place);
}

weft_status weft_hdf5_create_mapped(weft_array *array) {
    dataset_place place = {0, 0};
    WEFT_TRY(weft_array_agree(array->comm,
                              array->comm_rank == 0 ? create_alone(array, &place) : WEFT_SUCCESS));
    MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, array->comm);
    return weft_flat_create_at(array, place.offset, place.end);
}
