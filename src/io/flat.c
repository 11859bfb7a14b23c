/* Flat files: every rank has a descriptor of its own and moves its box with pread and pwrite. */
#include "io/flat.h"

#include "device/strided_copy.h"
#include "io/guard.h"
#include "support/checked.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static weft_status allocate(weft_array *array, weft_strided_file **file) {
    *file = calloc(1, sizeof **file);
    if (*file == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", array->path);
    (*file)->fd = -1;
    (*file)->path = array->path;
    array->flat = *file;
    return WEFT_SUCCESS;
}

weft_status weft_flat_open(weft_array *array, weft_strided_file **file, int64_t *file_bytes) {
    WEFT_TRY(allocate(array, file));
    WEFT_TRY(weft_array_find_file(array, file_bytes));
    (*file)->fd = open(array->path, O_RDONLY | O_CLOEXEC);
    if ((*file)->fd < 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: cannot open it: %s", array->path,
                         strerror(errno));
    return WEFT_SUCCESS;
}

static void describe(const weft_array *array, weft_strided_file *file) {
    file->element = array->info.element;
    file->rank = array->info.rank;
    memcpy(file->n, array->info.n, sizeof file->n);
}

weft_status weft_flat_check(const weft_array *array, weft_strided_file *file, int64_t file_bytes) {
    int64_t bytes, end;
    if (!weft_array_bytes(&array->info, &bytes) || !weft_checked_add(file->offset, bytes, &end))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its shape is empty or overflows 64 bits; weft needs 1 to %d axes of "
                         "at least one element",
                         array->path, WEFT_MAX_RANK);
    if (file_bytes < end)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it holds %lld bytes where its shape needs %lld: truncated; copy it "
                         "again or correct the shape",
                         array->path, (long long)file_bytes, (long long)end);
    describe(array, file);
    return WEFT_SUCCESS;
}

/* Reserves the blocks, so that a full disk shows before anything is computed. File systems that
 * cannot are asked for the size alone. An earlier run has done that for the one that goes on. */
static weft_status reserve(const weft_array *array, int fd, int64_t bytes) {
    struct stat found;
    if (array->how.resumed && (fstat(fd, &found) != 0 || found.st_size < bytes))
        return weft_fail(WEFT_ERROR_MISMATCH,
                         "%s: what the run that was stopped wrote of it is not all there; leave "
                         "--resume out to start anew",
                         array->path);
    if (fallocate(fd, 0, 0, (off_t)bytes) == 0) return WEFT_SUCCESS;
    if ((errno == EOPNOTSUPP || errno == ENOSYS) && ftruncate(fd, (off_t)bytes) == 0)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: no room for %lld bytes: %s", array->path,
                     (long long)bytes, strerror(errno));
}

weft_status weft_flat_create_at(weft_array *array, int64_t offset, int64_t bytes) {
    weft_strided_file *file;
    WEFT_TRY(allocate(array, &file));
    describe(array, file);
    file->offset = offset;
    file->bytes = bytes;
    file->fd = open(array->temporary, O_RDWR | O_CLOEXEC);
    if (file->fd < 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot write it: %s", array->path,
                         strerror(errno));
    return array->comm_rank > 0 ? WEFT_SUCCESS : reserve(array, file->fd, bytes);
}

weft_status weft_flat_create(weft_array *array, const char *header, size_t header_bytes) {
    int64_t bytes;
    if (!weft_array_bytes(&array->info, &bytes) ||
        !weft_checked_add(bytes, (int64_t)header_bytes, &bytes))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: its size overflows 64 bits",
                         array->path);
    WEFT_TRY(weft_flat_create_at(array, (int64_t)header_bytes, bytes));
    if (array->comm_rank > 0) return WEFT_SUCCESS;
    return weft_file_write(array->flat->fd, array->path, header, header_bytes, 0);
}

weft_status weft_flat_read(weft_array *array, const weft_box *box, weft_element wanted,
                           void *memory) {
    weft_strided_file *file = array->flat;
    file->counted = array->counted;
    return weft_strided_read(file, box, wanted, memory);
}

weft_status weft_flat_write(weft_array *array, const weft_box *box, const void *memory) {
    weft_strided_file *file = array->flat;
    file->counted = array->counted;
    return weft_strided_write(file, box, memory);
}

weft_status weft_flat_check_map(const weft_array *array) {
    const weft_strided_file *file = array->flat;
    const size_t element = weft_element_bytes(file->element);
    if (!file->swapped && (!file->column_major || file->rank == 1) &&
        file->offset % (int64_t)element == 0)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: only row-major arrays in this machine's byte order can be mapped into "
                     "memory, as --stream does; convert it first",
                     array->path);
}

/* What lies before the elements is mapped too: a header, or an HDF5 file's other contents. */
weft_status weft_flat_map(weft_array *array, size_t bytes, void **memory) {
    weft_strided_file *file = array->flat;
    const bool written = array->temporary != NULL;
    int64_t own = 0, end;
    if (!weft_checked_add(file->offset, (int64_t)bytes, &end))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: its size overflows 64 bits",
                         array->path);
    if (written && weft_array_bytes(&array->info, &own) && (int64_t)bytes > own &&
        file->offset + own != file->bytes)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: its space is within the file, and what is streamed is larger before "
                         "it is complete; choose another file",
                         array->path);
    if (written && end > file->bytes) WEFT_TRY(reserve(array, file->fd, end));
    void *mapping = mmap(NULL, (size_t)end, written ? PROT_READ | PROT_WRITE : PROT_READ,
                         MAP_SHARED, file->fd, 0);
    if (mapping == MAP_FAILED)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot map %lld bytes of it into memory: %s",
                         array->path, (long long)end, strerror(errno));
    file->mapping = mapping;
    file->mapped = (size_t)end;
    *memory = (char *)mapping + file->offset;
    return WEFT_SUCCESS;
}

bool weft_flat_has(const weft_array *array, const void *address) {
    const weft_strided_file *file = array->flat;
    const uintptr_t first = (uintptr_t)file->mapping, at = (uintptr_t)address;
    return file->mapping != NULL && at >= first && at - first < file->mapped;
}

/* Moves the rows of a copy one by one, those of the axes from `axis` on. `at` is the place of the
 * first in the file. */
static weft_status move_rows(const weft_strided_file *file, const weft_byte_copy *c, int axis,
                             char *memory, int64_t at, bool writing) {
    if (axis == c->axes && writing)
        return weft_file_write(file->fd, file->path, memory, (size_t)c->cell, at);
    if (axis == c->axes) return weft_file_read(file->fd, file->path, memory, (size_t)c->cell, at);
    const weft_byte_axis *a = &c->axis[axis];
    for (int64_t i = 0; i < a->n; i++)
        WEFT_TRY(move_rows(file, c, axis + 1, memory + i * (writing ? a->src : a->dst),
                           at + i * (writing ? a->dst : a->src), writing));
    return WEFT_SUCCESS;
}

weft_status weft_flat_copy_mapped(const weft_array *array, const weft_copy *copy, const void *src,
                                  void *dst) {
    enum { LONG_ROW = 4 << 10 }; /* bytes from which on a system call costs less than a page */
    const weft_strided_file *file = array->flat;
    const weft_byte_copy c = weft_byte_copy_of(copy, src, dst);
    const bool writing = weft_flat_has(array, dst);
    const char *filed = writing ? c.dst : c.src;
    char *memory = writing ? (char *)(uintptr_t)c.src : c.dst;
    if (c.cell >= LONG_ROW)
        return move_rows(file, &c, 0, memory, filed - (const char *)file->mapping, writing);
    if (weft_guarded_copy(copy, src, dst)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM,
                     "%s: the file ended while it was mapped into memory, or its disk failed or is "
                     "full",
                     array->path);
}

weft_status weft_flat_sync(const weft_array *array) {
    const weft_strided_file *file = array->flat;
    if (fdatasync(file->fd) == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", array->path, strerror(errno));
}

/* What was mapped beyond the array's own bytes is cut off, unless a later run goes on with it. */
static int unmap(weft_strided_file *file, bool cuts) {
    if (file->mapping == NULL) return 0;
    const int failed = munmap(file->mapping, file->mapped);
    if (!cuts || (int64_t)file->mapped <= file->bytes) return failed;
    return ftruncate(file->fd, (off_t)file->bytes) != 0 ? -1 : failed;
}

weft_status weft_flat_close(weft_array *array) {
    weft_strided_file *file = array->flat;
    if (file == NULL) return WEFT_SUCCESS;
    int failed = unmap(file, array->temporary != NULL && !array->left);
    if (file->fd >= 0 && close(file->fd) != 0) failed = -1;
    free(file);
    array->flat = NULL;
    if (failed == 0 || array->temporary == NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", array->path, strerror(errno));
}
