/* TIFF, by libtiff: 8 or 16 bits, grey or red, green, blue, in strips; alpha as the last sample.
 * The first picture of a file is read. */
#include "image_format.h"
#include "support/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

/* What libtiff said of the last failure, in this thread; its handlers have no other place. */
static _Thread_local char why[256];

static void keep_reason(const char *module, const char *format, va_list arguments) {
    (void)module;
    vsnprintf(why, sizeof why, format, arguments);
}

static TIFF *open_tiff(const char *path, const char *mode) {
    why[0] = '\0';
    TIFFSetErrorHandler(keep_reason);
    TIFFSetWarningHandler(NULL);
    return TIFFOpen(path, mode);
}

/* ---- reading ---- */

typedef struct tiff_layout {
    uint32_t columns, rows;
    uint16_t bits, samples, photometric, planar, format;
} tiff_layout;

static weft_status describe(TIFF *tiff, const char *path, tiff_layout *layout) {
    const char *not_read = NULL;
    *layout = (tiff_layout){0};
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout->columns) ||
        !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout->rows) ||
        !TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout->photometric))
        return image_damaged(path, "TIFF", "a tag is missing");
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout->bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout->samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout->planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout->format);
    const int colours = layout->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    if (TIFFIsTiled(tiff)) not_read = "tiles";
    if (layout->bits != 8 && layout->bits != 16) not_read = "samples of neither 8 nor 16 bits";
    if (layout->format != SAMPLEFORMAT_UINT) not_read = "samples that are not whole numbers";
    if (layout->photometric != PHOTOMETRIC_RGB && layout->photometric != PHOTOMETRIC_MINISBLACK &&
        layout->photometric != PHOTOMETRIC_MINISWHITE)
        not_read = "colours that are neither grey nor RGB";
    if (layout->samples != colours && layout->samples != colours + 1)
        not_read = "more samples per pixel than colours and alpha";
    if (not_read == NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: it has %s; convert it to a plain TIFF or PNG",
                     path, not_read);
}

/* White is 0 in some grey files. */
static void invert(image *grey) {
    const size_t bytes = image_plane_bytes(grey);
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)grey->samples)[i] = (unsigned char)~((unsigned char *)grey->samples)[i];
}

static bool read_rows(TIFF *tiff, const tiff_layout *layout, void *row, image *read) {
    const bool separate = layout->planar == PLANARCONFIG_SEPARATE;
    for (int s = 0; s < (separate ? layout->samples : 1); s++)
        for (uint32_t i = 0; i < layout->rows; i++) {
            const size_t bytes = (size_t)read->columns * (size_t)read->bytes;
            char *plane = s < read->channels
                              ? (char *)read->samples + image_plane_bytes(read) * (size_t)s
                              : read->alpha;
            if (TIFFReadScanline(tiff, row, i, (uint16_t)s) != 1) return false;
            if (separate)
                memcpy(plane + i * bytes, row, bytes);
            else
                image_put_row(read, i, row);
        }
    return true;
}

static weft_status read_planes(TIFF *tiff, const char *path, double memory, image *read) {
    tiff_layout layout;
    WEFT_TRY(describe(tiff, path, &layout));
    WEFT_TRY(image_begin(path, memory, layout.rows, layout.columns, layout.samples, layout.bits / 8,
                         read));
    const size_t row_bytes = (size_t)read->columns * (size_t)layout.samples * (size_t)read->bytes;
    const tmsize_t scanline = TIFFScanlineSize(tiff);
    void *row = malloc(scanline > (tmsize_t)row_bytes ? (size_t)scanline : row_bytes);
    if (row == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its pixels", path);
    const bool done = read_rows(tiff, &layout, row, read);
    free(row);
    if (!done) return image_damaged(path, "TIFF", why);
    if (layout.photometric == PHOTOMETRIC_MINISWHITE) invert(read);
    return WEFT_SUCCESS;
}

static weft_status read_tiff(const char *path, double memory, image *read) {
    TIFF *tiff = open_tiff(path, "r");
    if (tiff == NULL) return image_damaged(path, "TIFF", why);
    weft_status status = read_planes(tiff, path, memory, read);
    if (status != WEFT_SUCCESS) image_destroy(read);
    TIFFClose(tiff);
    return status;
}

/* ---- writing ---- */

static void set_tags(TIFF *tiff, const image *written) {
    const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)written->columns);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)written->rows);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8 * written->bytes);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, image_samples(written));
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                 written->channels > 1 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    if (written->alpha != NULL) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    if (TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE)) {
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    }
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, 0));
}

static weft_status write_tiff(const char *path, const char *temporary, const image *written) {
    void *row =
        malloc((size_t)written->columns * (size_t)image_samples(written) * (size_t)written->bytes);
    if (row == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for a row of pixels", path);
    TIFF *tiff = open_tiff(temporary, "w");
    bool done = tiff != NULL;
    if (done) set_tags(tiff, written);
    for (int64_t i = 0; done && i < written->rows; i++) {
        image_get_row(written, i, row);
        done = TIFFWriteScanline(tiff, row, (uint32_t)i, 0) == 1;
    }
    if (done) done = TIFFFlush(tiff) == 1;
    if (tiff != NULL) TIFFClose(tiff);
    free(row);
    if (done && why[0] == '\0') return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing the picture failed: %s", path, why);
}

const image_format image_format_tiff = {.name = "TIFF",
                                        .library = "libtiff",
                                        .endings = {".tif", ".tiff", NULL},
                                        .magic = {"II*", "MM", NULL},
                                        .magic_bytes = 3,
                                        .wide = true,
                                        .alpha = true,
                                        .read = read_tiff,
                                        .write = write_tiff};
