/* Pictures whatever their format: formats are tables, found by first bytes or by name. */
#include "image.h"

#include "image_format.h"
#include "io/temporary.h"
#include "support/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const image_format *const formats[] = {&image_format_png, &image_format_jpeg,
                                              &image_format_tiff};
enum { FORMATS = sizeof formats / sizeof *formats };

/* ---- planes ---- */

size_t image_plane_bytes(const image *of) {
    return (size_t)of->rows * (size_t)of->columns * (size_t)of->bytes;
}

int image_samples(const image *of) {
    return of->channels + (of->alpha != NULL);
}

weft_status image_create(image *created, bool alpha) {
    const size_t plane = image_plane_bytes(created);
    created->samples = malloc(plane * (size_t)created->channels);
    created->alpha = alpha ? malloc(plane) : NULL;
    if (created->samples != NULL && (created->alpha != NULL || !alpha)) return WEFT_SUCCESS;
    image_destroy(created);
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a picture of %lld x %lld",
                     (long long)created->columns, (long long)created->rows);
}

void image_destroy(image *destroyed) {
    free(destroyed->samples);
    free(destroyed->alpha);
    destroyed->samples = destroyed->alpha = NULL;
}

weft_status image_begin(const char *path, double memory, int64_t rows, int64_t columns, int samples,
                        int bytes, image *begun) {
    /* Of a sample: in the file's rows, in planes before and after, and single precision numbers in
     * the workspaces of the filter. */
    const double needed =
        (double)rows * (double)columns * (double)samples * (3.0 * bytes + 4 * sizeof(float));
    if (rows < 1 || columns < 1)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it has no pixels", path);
    if ((double)rows * (double)columns > INT32_MAX || needed > memory)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: a picture of %lld x %lld is too large: it needs %.0f MiB, and %.0f "
                         "MiB of memory are free",
                         path, (long long)columns, (long long)rows, needed / 1048576,
                         memory / 1048576);
    *begun =
        (image){.rows = rows, .columns = columns, .channels = samples > 2 ? 3 : 1, .bytes = bytes};
    return image_create(begun, samples % 2 == 0);
}

static char *sample_at(const image *of, int64_t row, int sample) {
    char *plane = sample < of->channels
                      ? (char *)of->samples + image_plane_bytes(of) * (size_t)sample
                      : of->alpha;
    return plane + row * of->columns * of->bytes;
}

void image_put_row(image *to, int64_t row, const void *samples) {
    const int count = image_samples(to);
    for (int s = 0; s < count; s++) {
        char *plane = sample_at(to, row, s);
        for (int64_t i = 0; i < to->columns; i++) {
            if (to->bytes == 1)
                plane[i] = ((const char *)samples)[i * count + s];
            else
                ((uint16_t *)plane)[i] = ((const uint16_t *)samples)[i * count + s];
        }
    }
}

void image_get_row(const image *from, int64_t row, void *samples) {
    const int count = image_samples(from);
    for (int s = 0; s < count; s++) {
        const char *plane = sample_at(from, row, s);
        for (int64_t i = 0; i < from->columns; i++) {
            if (from->bytes == 1)
                ((char *)samples)[i * count + s] = plane[i];
            else
                ((uint16_t *)samples)[i * count + s] = ((const uint16_t *)plane)[i];
        }
    }
}

/* ---- formats ---- */

weft_status image_damaged(const char *path, const char *format, const char *why) {
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it cannot be read as %s: %.200s", path,
                     format, why[0] != '\0' ? why : "it is damaged");
}

static const image_format *format_by_name(const char *path) {
    const size_t length = strlen(path);
    for (int f = 0; f < FORMATS; f++)
        for (const char *const *ending = formats[f]->endings; *ending != NULL; ending++) {
            const size_t bytes = strlen(*ending);
            if (length > bytes && strcasecmp(path + length - bytes, *ending) == 0)
                return formats[f];
        }
    return NULL;
}

bool image_is_named(const char *path) {
    return format_by_name(path) != NULL;
}

/* Files are opened twice, which pipes are not made for. */
static weft_status check_plain(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it cannot be opened: %s", path,
                         strerror(errno));
    if (S_ISREG(about.st_mode)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it is no plain file", path);
}

static weft_status format_of_file(const char *path, const image_format **format) {
    char first[8] = {0};
    WEFT_TRY(check_plain(path));
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it cannot be opened: %s", path,
                         strerror(errno));
    errno = 0;
    const size_t got = fread(first, 1, sizeof first, file);
    const int reason = ferror(file) ? errno : 0;
    fclose(file);
    if (reason != 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: reading failed: %s", path, strerror(reason));
    for (int f = 0; f < FORMATS; f++)
        for (const char *const *magic = formats[f]->magic; *magic != NULL; magic++) {
            const size_t bytes = (size_t)formats[f]->magic_bytes;
            if (got < bytes || memcmp(first, *magic, bytes) != 0) continue;
            *format = formats[f];
            return WEFT_SUCCESS;
        }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it is no PNG, JPEG or TIFF", path);
}

static weft_status check_library(const char *path, const image_format *format) {
    if (format->read != NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: this build has no %s, which %s needs; install its headers and build "
                     "again%s",
                     path, format->library, format->name,
                     image_format_png.read != NULL ? ", or use .png" : "");
}

weft_status image_read(const char *path, double memory, image *read) {
    const image_format *format = NULL;
    WEFT_TRY(format_of_file(path, &format));
    WEFT_TRY(check_library(path, format));
    return format->read(path, memory, read);
}

weft_status image_check_output(const char *path, const image *written) {
    const image_format *format = format_by_name(path);
    if (format == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: give a picture a name that ends in .png, .jpg or .tif", path);
    WEFT_TRY(check_library(path, format));
    if ((written->bytes > 1 && !format->wide) || (written->alpha != NULL && !format->alpha))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: %s has no %s, and the picture has; write .png or .tif", path,
                         format->name, written->bytes > 1 ? "16 bits" : "alpha");
    return WEFT_SUCCESS;
}

weft_status image_write(const char *path, const image *written, void (*made)(const char *name)) {
    char *target = NULL, *temporary = NULL;
    int lock = -1;
    WEFT_TRY(image_check_output(path, written));
    weft_status status = weft_temporary_create(path, &target, &temporary, &lock);
    if (status == WEFT_SUCCESS) {
        if (made != NULL) made(temporary);
        status = format_by_name(path)->write(path, temporary, written);
        if (status == WEFT_SUCCESS) status = weft_temporary_publish(temporary, target);
        if (status != WEFT_SUCCESS) unlink(temporary);
        if (made != NULL) made(NULL);
    }
    weft_temporary_release(&lock);
    free(target);
    free(temporary);
    return status;
}
