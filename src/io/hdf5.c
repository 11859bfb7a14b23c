/*
 * HDF5 datasets through MPI-IO. Every rank moves the hyperslab of its box; transfers are
 * collective, so the ranks agree on their number first and those with less to move take part with
 * empty selections.
 *
 * Rank 0 looks at a file alone before all open it: a file that HDF5 refuses is then refused without
 * collective calls half way.
 */
#include "io/agreement.h"
#include "io/flat.h"
#include "io/hdf5_dataset.h"
#include "io/hdf5_transfer.h"
#include "io/hdf5_type.h"
#include "io/temporary.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static herr_t keep_innermost(unsigned depth, const H5E_error2_t *error, void *text) {
    if (depth == 0 && error->desc != NULL) snprintf(text, 256, "%s", error->desc);
    return 0;
}

weft_status weft_hdf5_refused(weft_status status, const char *path, const char *what) {
    char reason[256] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, reason);
    for (char *c = reason; *c != '\0'; c++)
        if (*c == '\n') *c = ' ';
    return weft_fail(status, "%s: HDF5 %s: %s", path, what, reason);
}

static hid_t parallel_access(MPI_Comm comm) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#ifdef WEFT_ALONE
    (void)comm; /* a serial HDF5 */
#else
    if (access >= 0 && H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL) < 0) {
        H5Pclose(access);
        return -1;
    }
#endif
    return access;
}

static bool move_together(hid_t transfer) {
#ifdef WEFT_ALONE
    return transfer >= 0;
#else
    return transfer >= 0 && H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE) >= 0;
#endif
}

static weft_status read_shape(weft_array *array, hid_t set) {
    hsize_t extents[H5S_MAX_RANK];
    hid_t space = H5Dget_space(set);
    int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (rank >= 1 && rank <= WEFT_MAX_RANK) H5Sget_simple_extent_dims(space, extents, NULL);
    if (space >= 0) H5Sclose(space);
    if (rank < 1 || rank > WEFT_MAX_RANK)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: dataset %s is not an array of 1 to %d axes; choose another",
                         array->path, array->inside, WEFT_MAX_RANK);
    int64_t bytes;
    array->info.rank = rank;
    for (int a = 0; a < rank; a++)
        array->info.n[a] = extents[a] > INT64_MAX ? 0 : (int64_t)extents[a];
    if (!weft_array_bytes(&array->info, &bytes))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: the shape of dataset %s is empty or overflows 64 bits; choose "
                         "another",
                         array->path, array->inside);
    return WEFT_SUCCESS;
}

weft_status weft_hdf5_open_dataset(weft_array *array, weft_hdf5_dataset *state) {
    state->set = H5Dopen2(state->file, array->inside, H5P_DEFAULT);
    if (state->set < 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it has no dataset %s; name one that it has", array->path,
                         array->inside);
    hid_t type = H5Dget_type(state->set);
    bool known = type >= 0 && weft_hdf5_recognize(type, &array->info.element, &state->memory_type);
    if (type >= 0) H5Tclose(type);
    if (!known)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: weft does not read the elements of dataset %s; convert them to u8, "
                         "i16, u16, i32, f4, f8, or complex {r, i} of f4 or f8",
                         array->path, array->inside);
    return read_shape(array, state->set);
}

herr_t weft_hdf5_close_dataset(weft_hdf5_dataset *state) {
    herr_t result = 0;
    if (state->transfer >= 0) H5Pclose(state->transfer);
    if (state->memory_type >= 0) H5Tclose(state->memory_type);
    if (state->set >= 0 && H5Dclose(state->set) < 0) result = -1;
    if (state->file >= 0 && H5Fclose(state->file) < 0) result = -1;
    *state = (weft_hdf5_dataset){-1, -1, -1, -1};
    return result;
}

static weft_status allocate(weft_array *array, weft_hdf5_dataset **state) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* otherwise HDF5 prints */
    *state = malloc(sizeof **state);
    if (*state == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", array->path);
    **state = (weft_hdf5_dataset){-1, -1, -1, -1};
    array->state = *state;
    return WEFT_SUCCESS;
}

/* Checks, on rank 0 alone, that the file can be opened and has the dataset. */
static weft_status inspect(weft_array *array) {
    int64_t file_bytes;
    WEFT_TRY(weft_array_find_file(array, &file_bytes));
    weft_hdf5_dataset alone = {-1, -1, -1, -1};
    alone.file = H5Fopen(array->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (alone.file < 0)
        return weft_hdf5_refused(WEFT_ERROR_INVALID_ARGUMENT, array->path, "cannot open it");
    weft_status status = weft_hdf5_open_dataset(array, &alone);
    weft_hdf5_close_dataset(&alone);
    return status;
}

/* Opens `path` by all ranks; collective. */
static weft_status open_together(weft_array *array, weft_hdf5_dataset *state, const char *path,
                                 unsigned flags) {
    hid_t access = parallel_access(array->comm);
    state->transfer = H5Pcreate(H5P_DATASET_XFER);
    bool ready = access >= 0 && move_together(state->transfer);
    weft_status status =
        weft_array_agree(array->comm, ready ? WEFT_SUCCESS
                                            : weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path,
                                                                "cannot use MPI-IO"));
    if (status == WEFT_SUCCESS) {
        state->file = H5Fopen(path, flags, access);
        if (state->file < 0)
            status = weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot open it");
        status = weft_array_agree(array->comm, status);
    }
    if (access >= 0) H5Pclose(access);
    return status;
}

static weft_status hdf5_open(weft_array *array) {
    weft_hdf5_dataset *state = NULL;
    weft_status status = allocate(array, &state);
    if (status == WEFT_SUCCESS && array->comm_rank == 0) status = inspect(array);
    WEFT_TRY(weft_array_agree(array->comm, status));
    WEFT_TRY(open_together(array, state, array->path, H5F_ACC_RDONLY));
    return weft_hdf5_open_dataset(array, state);
}

/* Reserves space for `bytes` more than the file holds, and for HDF5's own records, so that a full
 * disk is noticed before anything is computed. HDF5 truncates what it does not need when it closes
 * the file. */
static weft_status reserve(const weft_array *array, int64_t bytes) {
    enum { RECORDS = 64 << 10 };
    struct stat found;
    int fd = open(array->temporary, O_WRONLY | O_CLOEXEC);
    int result = fd < 0 || fstat(fd, &found) != 0
                     ? -1
                     : fallocate(fd, 0, found.st_size, (off_t)bytes + RECORDS);
    int code = errno;
    if (fd >= 0) close(fd);
    if (result == 0 || code == EOPNOTSUPP || code == ENOSYS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: no room for %lld bytes: %s", array->path,
                     (long long)bytes, strerror(code));
}

/* Removes a dataset that the new one replaces. Groups are not replaced, since they may hold other
 * datasets. */
static weft_status make_way(const weft_array *array, hid_t file) {
    H5O_info_t found;
    if (H5Oget_info_by_name2(file, array->inside, &found, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return WEFT_SUCCESS;
    if (found.type != H5O_TYPE_DATASET)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: %s is not a dataset; choose another name for the output", array->path,
                         array->inside);
    if (H5Ldelete(file, array->inside, H5P_DEFAULT) < 0)
        return weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot replace the dataset");
    return WEFT_SUCCESS;
}

hid_t weft_hdf5_access_without_lock(void) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    if (access >= 0) H5Pset_file_locking(access, false, true);
#else
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
#endif
    return access;
}

/* Makes the temporary file, on rank 0 alone, an HDF5 file with everything that the target holds
 * except the dataset. */
static weft_status start_file(const weft_array *array) {
    struct stat found = {.st_size = 0};
    if (stat(array->path, &found) != 0 && errno != ENOENT) /* it may hold other datasets */
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot tell whether it exists: %s", array->path,
                         strerror(errno));
    const bool exists = found.st_size > 0;
    if (exists && H5Fis_hdf5(array->path) <= 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it exists and is not an HDF5 file; remove it or choose another name",
                         array->path);
    if (exists) WEFT_TRY(weft_temporary_copy(array->path, array->temporary));
    hid_t access = weft_hdf5_access_without_lock();
    hid_t file = exists ? H5Fopen(array->temporary, H5F_ACC_RDWR, access)
                        : H5Fcreate(array->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0) H5Pclose(access);
    if (file < 0) return weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot write it");
    weft_status status = make_way(array, file);
    if (H5Fclose(file) < 0 && status == WEFT_SUCCESS)
        status = weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot write it");
    int64_t bytes = 0;
    if (status == WEFT_SUCCESS && weft_array_bytes(&array->info, &bytes))
        status = reserve(array, bytes);
    return status;
}

hid_t weft_hdf5_create_dataset(const weft_array *array, const weft_hdf5_dataset *state) {
    hsize_t extents[WEFT_MAX_RANK];
    for (int a = 0; a < array->info.rank; a++) extents[a] = (hsize_t)array->info.n[a];
    hid_t space = H5Screate_simple(array->info.rank, extents, NULL);
    hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER); /* every element is written once anyway */
    hid_t set = H5Dcreate2(state->file, array->inside, state->memory_type, space, links, creation,
                           H5P_DEFAULT);
    H5Pclose(creation);
    H5Pclose(links);
    H5Sclose(space);
    return set;
}

static weft_status hdf5_create(weft_array *array) {
    weft_hdf5_dataset *state = NULL;
    weft_status status = allocate(array, &state);
    if (status == WEFT_SUCCESS) {
        state->memory_type = weft_hdf5_type(array->info.element, "r", "i");
        if (state->memory_type < 0)
            status =
                weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot describe the elements");
    }
    if (status == WEFT_SUCCESS && array->comm_rank == 0 && !array->how.resumed)
        status = start_file(array);
    WEFT_TRY(weft_array_agree(array->comm, status));
    if (array->how.mapped) return weft_hdf5_create_mapped(array);
    WEFT_TRY(open_together(array, state, array->temporary, H5F_ACC_RDWR));
    state->set = weft_hdf5_create_dataset(array, state);
    if (state->set < 0)
        return weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "cannot create the dataset");
    return WEFT_SUCCESS;
}

static weft_status hdf5_close(weft_array *array) {
    weft_hdf5_dataset *state = array->state;
    weft_status status = weft_flat_close(array);
    if (state == NULL) return status;
    if (weft_hdf5_close_dataset(state) < 0 && array->temporary != NULL)
        status = weft_hdf5_refused(WEFT_ERROR_SYSTEM, array->path, "could not finish writing");
    free(state);
    array->state = NULL;
    return status;
}
const weft_file_format weft_hdf5_format = {
    .suffixes = {".h5", ".hdf5"},
    .inside = WEFT_INSIDE_MUST,
    .open = hdf5_open,
    .read = weft_hdf5_read,
    .create = hdf5_create,
    .write = weft_hdf5_write,
    .check_map = weft_hdf5_check_map,
    .map = weft_hdf5_map,
    .copy_mapped = weft_flat_copy_mapped,
    .has = weft_flat_has,
    .sync = weft_flat_sync,
    .close = hdf5_close,
};

bool weft_array_may_finalize(void) {
    return H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) <= 0;
}
