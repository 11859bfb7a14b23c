/* What image.c knows of a format, and what formats share. */
#ifndef WEFT_FILTER_IMAGE_FORMAT_H
#define WEFT_FILTER_IMAGE_FORMAT_H

#include "image.h"

/* A format of files. Functions of one that the build lacks are NULL. */
typedef struct image_format {
    const char *name;       /* of the format */
    const char *library;    /* that reads and writes it */
    const char *endings[3]; /* of names, up to a NULL */
    const char *magic[3];   /* first bytes, up to a NULL */
    int magic_bytes;
    bool wide, alpha; /* whether it has 16 bits, and alpha */
    weft_status (*read)(const char *path, double memory, image *read);
    /* `path` is what sentences name; the bytes go to the file `temporary`, which exists. */
    weft_status (*write)(const char *path, const char *temporary, const image *written);
} image_format;

extern const image_format image_format_png, image_format_jpeg, image_format_tiff;

/* Checks a header's numbers and memory, and allocates the planes of `samples` samples per pixel (1
 * to 4, an even number with alpha). */
weft_status image_begin(const char *path, double memory, int64_t rows, int64_t columns, int samples,
                        int bytes, image *begun);

/* Samples of a pixel in a file: channels and alpha. */
int image_samples(const image *of);

/* A row of the planes from samples that lie side by side, or to them. */
void image_put_row(image *to, int64_t row, const void *samples);
void image_get_row(const image *from, int64_t row, void *samples);

/* WEFT_ERROR_INVALID_ARGUMENT and the sentence that a file is damaged: why, as its library says. */
weft_status image_damaged(const char *path, const char *format, const char *why);

#endif
