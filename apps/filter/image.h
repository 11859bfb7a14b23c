/*
 * Pictures in files: PNG and, where the build has libjpeg and libtiff, JPEG and TIFF; grey or in
 * colours, 8 or 16 bits, with or without alpha. Colour profiles and other notes in a file are
 * neither used nor kept.
 *
 * Failures: WEFT_ERROR_INVALID_ARGUMENT or WEFT_ERROR_UNSUPPORTED where the file, or the choice of
 * one, is wrong; WEFT_ERROR_OUT_OF_MEMORY; WEFT_ERROR_SYSTEM where the system refused.
 */
#ifndef WEFT_FILTER_IMAGE_H
#define WEFT_FILTER_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <weft/weft.h>

/* The image owns its planes, each rows x columns samples of `bytes` bytes. */
typedef struct image {
    int64_t rows, columns;
    int channels;  /* 1: grey; 3: red, green, blue */
    int bytes;     /* 1 or 2 */
    void *samples; /* channel after channel */
    void *alpha;   /* a plane, or NULL */
} image;

/* Whether a name ends as that of a picture does, whatever the build can read. */
bool image_is_named(const char *path);

/* Reads a picture, unless it and what its filter needs would take more than `memory` bytes. What
 * the file is, its first bytes tell. */
weft_status image_read(const char *path, double memory, image *read);

/* Whether a picture with these samples can be written to a file of this name; fails with a sentence
 * otherwise. */
weft_status image_check_output(const char *path, const image *written);

/* Writes a picture under a temporary name and gives it its own when it is complete. made (or NULL)
 * is told the temporary's name as long as it exists, and NULL afterwards. */
weft_status image_write(const char *path, const image *written, void (*made)(const char *name));

/* Allocates planes; channels, bytes, rows and columns are given, and whether there is alpha. */
weft_status image_create(image *created, bool alpha);
void image_destroy(image *destroyed);

size_t image_plane_bytes(const image *of);

#endif
