/* PNG, by libpng. Palettes become colours, and fewer than 8 bits become 8. */
#include "image_format.h"
#include "support/error.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a longjmp of libpng leaves behind. */
typedef struct png_run {
    FILE *file;
    png_structp png;
    png_infop info;
    unsigned char *pixels; /* all rows */
    png_bytep *row;
    char why[256];
    bool allocation_failed;
} png_run;

static void fail(png_structp png, png_const_charp why) {
    png_run *run = png_get_error_ptr(png);
    snprintf(run->why, sizeof run->why, "%s", why);
    longjmp(png_jmpbuf(png), 1);
}

static void ignore(png_structp png, png_const_charp why) {
    (void)png;
    (void)why;
}

static int little_endian(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

/* ---- reading ---- */

static void ask_for_samples(png_run *run) {
    const int type = png_get_color_type(run->png, run->info);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(run->png);
    if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(run->png, run->info) < 8)
        png_set_expand_gray_1_2_4_to_8(run->png);
    if (png_get_valid(run->png, run->info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(run->png);
    if (png_get_bit_depth(run->png, run->info) == 16 && little_endian()) png_set_swap(run->png);
    png_set_interlace_handling(run->png);
    png_read_update_info(run->png, run->info);
}

static bool make_rows(png_run *run, size_t bytes, int64_t rows) {
    run->pixels = malloc(bytes * (size_t)rows);
    run->row = malloc(sizeof *run->row * (size_t)rows);
    for (int64_t i = 0; run->pixels != NULL && run->row != NULL && i < rows; i++)
        run->row[i] = run->pixels + (size_t)i * bytes;
    return run->pixels != NULL && run->row != NULL;
}

/* Returns false where libpng jumped; run->why says why, or *status has failed. */
static bool read_pixels(png_run *run, const char *path, double memory, image *read,
                        weft_status *status) {
    if (setjmp(png_jmpbuf(run->png))) return false;
    png_init_io(run->png, run->file);
    png_read_info(run->png, run->info);
    ask_for_samples(run);
    const int64_t rows = png_get_image_height(run->png, run->info);
    *status = image_begin(path, memory, rows, png_get_image_width(run->png, run->info),
                          png_get_channels(run->png, run->info),
                          png_get_bit_depth(run->png, run->info) / 8, read);
    if (*status != WEFT_SUCCESS) return true;
    run->allocation_failed = !make_rows(run, png_get_rowbytes(run->png, run->info), rows);
    if (run->allocation_failed) return true;
    png_read_image(run->png, run->row);
    png_read_end(run->png, NULL);
    for (int64_t i = 0; i < rows; i++) image_put_row(read, i, run->row[i]);
    return true;
}

static weft_status no_memory(const char *path) {
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its pixels", path);
}

static weft_status read_png(const char *path, double memory, image *read) {
    png_run run = {.file = fopen(path, "rb")};
    weft_status status = WEFT_SUCCESS;
    if (run.file == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it cannot be opened: %s", path,
                         strerror(errno));
    run.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &run, fail, ignore);
    run.info = run.png != NULL ? png_create_info_struct(run.png) : NULL;
    run.allocation_failed = run.info == NULL;
    const bool done = run.allocation_failed || read_pixels(&run, path, memory, read, &status);
    if (status == WEFT_SUCCESS && run.allocation_failed) status = no_memory(path);
    if (!done) status = image_damaged(path, "PNG", run.why);
    if (status != WEFT_SUCCESS) image_destroy(read);
    png_destroy_read_struct(&run.png, &run.info, NULL);
    free(run.row);
    free(run.pixels);
    fclose(run.file);
    return status;
}

/* ---- writing ---- */

static bool write_pixels(png_run *run, const image *written) {
    const int type = (written->channels > 1 ? PNG_COLOR_MASK_COLOR : 0) |
                     (written->alpha != NULL ? PNG_COLOR_MASK_ALPHA : 0);
    if (setjmp(png_jmpbuf(run->png))) return false;
    png_init_io(run->png, run->file);
    png_set_IHDR(run->png, run->info, (png_uint_32)written->columns, (png_uint_32)written->rows,
                 8 * written->bytes, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(run->png, run->info);
    if (written->bytes > 1 && little_endian()) png_set_swap(run->png);
    for (int64_t i = 0; i < written->rows; i++) {
        image_get_row(written, i, run->pixels);
        png_write_row(run->png, run->pixels);
    }
    png_write_end(run->png, NULL);
    return true;
}

static weft_status write_png(const char *path, const char *temporary, const image *written) {
    const size_t samples = (size_t)image_samples(written) * (size_t)written->bytes;
    png_run run = {.file = fopen(temporary, "wb"),
                   .pixels = malloc((size_t)written->columns * samples)};
    run.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &run, fail, ignore);
    run.info = run.png != NULL ? png_create_info_struct(run.png) : NULL;
    bool done = false;
    errno = 0;
    if (run.file != NULL && run.pixels != NULL && run.info != NULL) {
        if (written->columns > PNG_USER_WIDTH_MAX || written->rows > PNG_USER_HEIGHT_MAX)
            png_set_user_limits(run.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        done = write_pixels(&run, written);
    }
    int reason = errno;
    if (run.file != NULL && fclose(run.file) != 0 && done) {
        done = false;
        reason = errno;
    }
    png_destroy_write_struct(&run.png, &run.info);
    free(run.pixels);
    if (done) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing the picture failed: %s", path,
                     reason != 0 ? strerror(reason) : run.why);
}

const image_format image_format_png = {.name = "PNG",
                                       .library = "libpng",
                                       .endings = {".png", NULL},
                                       .magic = {"\x89PNG\r\n\x1a\n", NULL},
                                       .magic_bytes = 8,
                                       .wide = true,
                                       .alpha = true,
                                       .read = read_png,
                                       .write = write_png};
