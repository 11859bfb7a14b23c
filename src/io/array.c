/*
 * Arrays in files, whatever the format: names, agreement of the ranks, and the life of an output
 * from its temporary name to its own.
 */
#include "io/array.h"

#include "io/agreement.h"
#include "io/format.h"
#include "io/journal.h"
#include "io/temporary.h"
#include "support/checked.h"
#include "support/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const weft_file_format *const formats[] = {
    &weft_npy_format, &weft_hdf5_format, &weft_raw_format, &weft_vtk_format, &weft_vti_format};

bool weft_array_elements(const weft_array_info *info, int64_t *elements) {
    int64_t product = 1;
    if (info->rank < 1 || info->rank > WEFT_MAX_RANK) return false;
    for (int a = 0; a < info->rank; a++)
        if (info->n[a] < 1 || !weft_checked_multiply(product, info->n[a], &product)) return false;
    *elements = product;
    return true;
}

bool weft_array_bytes(const weft_array_info *info, int64_t *bytes) {
    int64_t elements;
    return weft_array_elements(info, &elements) &&
           weft_checked_multiply(elements, (int64_t)weft_element_bytes(info->element), bytes);
}

weft_status weft_array_check_box(const weft_array *array, const weft_box *box) {
    for (int a = 0; a < array->info.rank; a++) {
        if (box->lo[a] < 0 || box->n[a] < 0 || box->n[a] > array->info.n[a] ||
            box->lo[a] > array->info.n[a] - box->n[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s: the box asked for leaves the array along axis %d", array->path,
                             a);
    }
    return WEFT_SUCCESS;
}

/* The format of the file whose name is the first `length` characters; NULL where no suffix matches.
 */
static const weft_file_format *format_of(const char *name, size_t length) {
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        for (int s = 0; s < 3 && formats[f]->suffixes[s] != NULL; s++) {
            size_t end = strlen(formats[f]->suffixes[s]);
            if (length > end && memcmp(name + length - end, formats[f]->suffixes[s], end) == 0)
                return formats[f];
        }
    }
    return NULL;
}

/* Whether the first `length` characters of a name are that of a file with arrays that have names.
 */
static bool has_inside(const char *name, size_t length) {
    const weft_file_format *format = format_of(name, length);
    return format != NULL && format->inside != WEFT_INSIDE_NOT;
}

/* Splits FILE.h5:/dataset at the first colon that follows such a file; other names are the path
 * alone. */
static weft_status split_name(weft_array *array, const char *name) {
    const char *colon = strchr(name, ':');
    while (colon != NULL && (colon[1] == '\0' || !has_inside(name, (size_t)(colon - name))))
        colon = strchr(colon + 1, ':');
    size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);
    array->format = format_of(name, length);
    if (array->format == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its name does not tell its format; name FILE.npy, FILE.h5:/dataset, "
                         "FILE.raw or FILE.bin, or, to read, FILE.vtk or FILE.vti",
                         name);
    if (array->format->inside == WEFT_INSIDE_MUST && colon == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: name the dataset in the file too, as in %s:/dataset", name, name);
    array->path = strndup(name, length);
    if (colon != NULL) array->inside = strdup(colon + 1);
    if (array->path == NULL || (colon != NULL && array->inside == NULL))
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its name", name);
    return WEFT_SUCCESS;
}

static void release(weft_array *array) {
    weft_temporary_release(&array->lock);
    free(array->path);
    free(array->inside);
    free(array->temporary);
    free(array);
}

static weft_status prepare(MPI_Comm comm, const char *name, const weft_array_info *info,
                           weft_array **array) {
    weft_array *made = calloc(1, sizeof *made);
    weft_status status = WEFT_SUCCESS;
    if (made == NULL) {
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", name);
    } else {
        made->comm = comm;
        made->lock = -1;
        MPI_Comm_rank(comm, &made->comm_rank);
        made->typed = info != NULL;
        if (info != NULL) made->info = *info;
        status = split_name(made, name);
    }
    status = weft_array_agree(comm, status);
    if (status != WEFT_SUCCESS) {
        if (made != NULL) release(made);
        return status;
    }
    *array = made;
    return WEFT_SUCCESS;
}

weft_status weft_array_open(MPI_Comm comm, const char *name, const weft_array_info *raw_info,
                            weft_array **array) {
    weft_array *opened;
    WEFT_TRY(prepare(comm, name, raw_info, &opened));
    weft_status status = weft_array_agree(comm, opened->format->open(opened));
    if (status != WEFT_SUCCESS) {
        weft_array_close(&opened);
        return status;
    }
    *array = opened;
    return WEFT_SUCCESS;
}

/* Rank 0 creates the temporary file and broadcasts its name. */
static weft_status name_temporary(weft_array *array) {
    weft_status status = WEFT_SUCCESS;
    char *target = NULL;
    int length = 0;
    if (array->comm_rank == 0) {
        status = array->how.kept
                     ? weft_temporary_keep(array->path, array->how.resumed, &target,
                                           &array->temporary, &array->lock)
                     : weft_temporary_create(array->path, &target, &array->temporary, &array->lock);
        if (status == WEFT_SUCCESS) {
            if (array->how.made != NULL) array->how.made(array->temporary);
            free(array->path);
            array->path = target;
            length = (int)strlen(array->temporary) + 1;
        }
    }
    WEFT_TRY(weft_array_agree(array->comm, status));
    MPI_Bcast(&length, 1, MPI_INT, 0, array->comm);
    if (array->comm_rank > 0) array->temporary = malloc((size_t)length);
    WEFT_TRY(
        weft_array_agree(array->comm, array->temporary != NULL
                                          ? WEFT_SUCCESS
                                          : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                                                      "%s: no memory for its name", array->path)));
    MPI_Bcast(array->temporary, length, MPI_CHAR, 0, array->comm);
    return WEFT_SUCCESS;
}

weft_status weft_array_create(MPI_Comm comm, const char *name, const weft_array_info *info,
                              const weft_array_creation *how, weft_array **array) {
    weft_array *created;
    WEFT_TRY(prepare(comm, name, info, &created));
    if (how != NULL) created->how = *how;
    created->left = created->how.resumed; /* what is wrong with it may be put right */
    weft_status status = name_temporary(created);
    if (status == WEFT_SUCCESS) status = weft_array_agree(comm, created->format->create(created));
    if (status != WEFT_SUCCESS) {
        weft_array_close(&created);
        return status;
    }
    *array = created;
    return WEFT_SUCCESS;
}

const char *weft_array_path(const weft_array *array) {
    return array->path;
}

const weft_array_info *weft_array_describe(const weft_array *array) {
    return &array->info;
}

void weft_array_count(weft_array *array, atomic_llong *bytes) {
    array->counted = bytes;
}

weft_status weft_array_read(weft_array *array, const weft_box *box, weft_element wanted,
                            void *memory) {
    weft_status status = weft_array_check_box(array, box);
    if (status == WEFT_SUCCESS && !weft_element_converts(array->info.element, wanted))
        status = weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: its elements are %s and cannot become %s",
                           array->path, weft_element_name(array->info.element),
                           weft_element_name(wanted));
    WEFT_TRY(weft_array_agree(array->comm, status));
    return weft_array_agree(array->comm, array->format->read(array, box, wanted, memory));
}

weft_status weft_array_write(weft_array *array, const weft_box *box, const void *memory) {
    WEFT_TRY(weft_array_agree(array->comm, weft_array_check_box(array, box)));
    return weft_array_agree(array->comm, array->format->write(array, box, memory));
}

weft_status weft_array_check_map(const weft_array *array) {
    if (array->format->check_map != NULL) return array->format->check_map(array);
    return weft_fail(
        WEFT_ERROR_UNSUPPORTED,
        "%s: files of its format cannot be mapped into memory, as --stream does; convert it first",
        array->path);
}

bool weft_array_can_map(const weft_array *array) {
    return weft_array_check_map(array) == WEFT_SUCCESS;
}

bool weft_array_maps(const char *name) {
    weft_array parsed = {.lock = -1};
    const bool maps = split_name(&parsed, name) == WEFT_SUCCESS && parsed.format->check_map != NULL;
    free(parsed.path);
    free(parsed.inside);
    return maps;
}

weft_status weft_array_map(weft_array *array, size_t bytes, void **memory) {
    WEFT_TRY(weft_array_check_map(array));
    return array->format->map(array, bytes, memory);
}

weft_status weft_array_copy_mapped(const weft_array *array, const weft_copy *copy, const void *src,
                                   void *dst) {
    return array->format->copy_mapped(array, copy, src, dst);
}

weft_status weft_array_sync(const weft_array *array) {
    return array->format->sync(array);
}

bool weft_array_has(const weft_array *array, const void *address) {
    return array->format->has != NULL && array->format->has(array, address);
}

/* With its journal, if it was to be kept. */
static void remove_temporary(const weft_array *array) {
    weft_kept_names names;
    unlink(array->temporary);
    if (!array->how.kept || weft_temporary_kept_names(array->path, &names) != WEFT_SUCCESS) return;
    unlink(names.journal);
    weft_kept_names_release(&names);
}

weft_status weft_array_commit(weft_array **array, weft_status mine) {
    weft_array *done = *array;
    *array = NULL;
    weft_status status = weft_array_agree(done->comm, mine);
    if (status == WEFT_SUCCESS) done->left = false;
    weft_status closed = weft_array_agree(done->comm, done->format->close(done));
    if (status == WEFT_SUCCESS) status = closed;
    if (status == WEFT_SUCCESS) {
        weft_status published = WEFT_SUCCESS;
        if (done->comm_rank == 0) published = weft_temporary_publish(done->temporary, done->path);
        status = weft_array_agree(done->comm, published);
    }
    if (status != WEFT_SUCCESS && done->comm_rank == 0 && !done->left) remove_temporary(done);
    release(done);
    return status;
}

void weft_array_close(weft_array **array) {
    if (array == NULL || *array == NULL) return;
    weft_array *done = *array;
    char sentence[1024];
    /* Closing after a failure must not hide what failed. */
    strncpy(sentence, weft_thread_error(), sizeof sentence - 1);
    sentence[sizeof sentence - 1] = '\0';
    (void)done->format->close(done);
    weft_thread_error_set(sentence);
    if (done->temporary != NULL && done->comm_rank == 0 && !done->left) remove_temporary(done);
    release(done);
    *array = NULL;
}

void weft_array_leave(weft_array *array) {
    array->left = true;
}

/* ---- what can be resumed ---- */

static weft_status names_of_kept(const char *name, weft_kept_names *names) {
    weft_array parsed = {.lock = -1};
    weft_status status = split_name(&parsed, name);
    if (status == WEFT_SUCCESS) status = weft_temporary_kept_names(parsed.path, names);
    free(parsed.path);
    free(parsed.inside);
    return status;
}

weft_status weft_array_kept(const char *name, bool *there, char **journal) {
    weft_kept_names names;
    WEFT_TRY(names_of_kept(name, &names));
    *there = weft_journal_exists(names.journal) && access(names.incomplete, F_OK) == 0;
    if (journal != NULL) {
        *journal = names.journal;
        names.journal = NULL;
    }
    weft_kept_names_release(&names);
    return WEFT_SUCCESS;
}

void weft_array_forget_kept(const char *name) {
    char *target, *incomplete;
    int lock;
    weft_kept_names names;
    if (names_of_kept(name, &names) != WEFT_SUCCESS) return;
    if (access(names.incomplete, F_OK) != 0) {
        unlink(names.journal);
    } else if (weft_temporary_keep(names.target, false, &target, &incomplete, &lock) ==
               WEFT_SUCCESS) {
        unlink(incomplete);
        weft_temporary_release(&lock);
        free(target);
        free(incomplete);
    }
    weft_kept_names_release(&names);
}

weft_status weft_array_find_file(const weft_array *array, int64_t *file_bytes) {
    struct stat found;
    if (stat(array->path, &found) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: cannot open it: %s", array->path,
                         strerror(errno));
    if (!S_ISREG(found.st_mode))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: not a regular file; name one",
                         array->path);
    *file_bytes = (int64_t)found.st_size;
    return WEFT_SUCCESS;
}
