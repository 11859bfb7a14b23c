/* JPEG, by libjpeg or libjpeg-turbo: 8 bits, grey or red, green, blue. Written with quality 95 and
 * all colours in full resolution. */
#include "image_format.h"
#include "support/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These wants stdio.h before. */
#include <jerror.h>
#include <jpeglib.h>

enum { QUALITY = 95, MOST_EXTENT = 65500 };

/* What a longjmp leaves behind. libjpeg finds the run by its first member. */
typedef struct jpeg_run {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    FILE *file;
    unsigned char *row;
    char why[JMSG_LENGTH_MAX];
} jpeg_run;

static void fail(j_common_ptr jpeg) {
    jpeg_run *run = (jpeg_run *)jpeg->err;
    jpeg->err->format_message(jpeg, run->why);
    longjmp(run->jump, 1);
}

/* A file that ends early is a warning to libjpeg, which makes up the rest in grey. */
static void take_warning(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) fail(jpeg);
}

static void print_nothing(j_common_ptr jpeg) {
    (void)jpeg;
}

static void begin(jpeg_run *run) {
    jpeg_std_error(&run->errors);
    run->errors.error_exit = fail;
    run->errors.emit_message = take_warning;
    run->errors.output_message = print_nothing;
}

/* ---- reading ---- */

static bool read_pixels(jpeg_run *run, struct jpeg_decompress_struct *jpeg, const char *path,
                        double memory, image *read, weft_status *status) {
    if (setjmp(run->jump)) return false;
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, run->file);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = jpeg->jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK) {
        *status = weft_fail(WEFT_ERROR_UNSUPPORTED,
                            "%s: it has the colours of print (CMYK); convert it to RGB", path);
        return true;
    }
    jpeg_start_decompress(jpeg);
    *status = image_begin(path, memory, jpeg->output_height, jpeg->output_width,
                          jpeg->output_components, 1, read);
    if (*status != WEFT_SUCCESS) return true;
    run->row = malloc((size_t)jpeg->output_width * (size_t)jpeg->output_components);
    if (run->row == NULL) {
        *status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its pixels", path);
        return true;
    }
    for (int64_t i = 0; i < read->rows; i++) {
        jpeg_read_scanlines(jpeg, &run->row, 1);
        image_put_row(read, i, run->row);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

static weft_status read_jpeg(const char *path, double memory, image *read) {
    jpeg_run run = {.file = fopen(path, "rb")};
    struct jpeg_decompress_struct jpeg = {0};
    weft_status status = WEFT_SUCCESS;
    if (run.file == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: it cannot be opened: %s", path,
                         strerror(errno));
    begin(&run);
    jpeg.err = &run.errors;
    if (!read_pixels(&run, &jpeg, path, memory, read, &status))
        status = image_damaged(path, "JPEG", run.why);
    if (status != WEFT_SUCCESS) image_destroy(read);
    jpeg_destroy_decompress(&jpeg);
    free(run.row);
    fclose(run.file);
    return status;
}

/* ---- writing ---- */

static bool write_pixels(jpeg_run *run, struct jpeg_compress_struct *jpeg, const image *written) {
    if (setjmp(run->jump)) return false;
    jpeg_create_compress(jpeg);
    jpeg_stdio_dest(jpeg, run->file);
    jpeg->image_width = (JDIMENSION)written->columns;
    jpeg->image_height = (JDIMENSION)written->rows;
    jpeg->input_components = written->channels;
    jpeg->in_color_space = written->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, QUALITY, TRUE);
    jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(jpeg, TRUE);
    for (int64_t i = 0; i < written->rows; i++) {
        image_get_row(written, i, run->row);
        jpeg_write_scanlines(jpeg, &run->row, 1);
    }
    jpeg_finish_compress(jpeg);
    return true;
}

static weft_status write_jpeg(const char *path, const char *temporary, const image *written) {
    if (written->rows > MOST_EXTENT || written->columns > MOST_EXTENT)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: JPEG has at most %d pixels along an axis; write .png or .tif", path,
                         MOST_EXTENT);
    jpeg_run run = {.file = fopen(temporary, "wb"),
                    .row = malloc((size_t)written->columns * (size_t)written->channels)};
    struct jpeg_compress_struct jpeg = {0};
    begin(&run);
    jpeg.err = &run.errors;
    errno = 0;
    bool done = run.file != NULL && run.row != NULL && write_pixels(&run, &jpeg, written);
    int reason = errno;
    if (run.file != NULL && fclose(run.file) != 0 && done) {
        done = false;
        reason = errno;
    }
    jpeg_destroy_compress(&jpeg);
    free(run.row);
    if (done) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing the picture failed: %s", path,
                     reason != 0 ? strerror(reason) : run.why);
}

const image_format image_format_jpeg = {.name = "JPEG",
                                        .library = "libjpeg",
                                        .endings = {".jpg", ".jpeg", NULL},
                                        .magic = {"\xff\xd8\xff", NULL},
                                        .magic_bytes = 3,
                                        .read = read_jpeg,
                                        .write = write_jpeg};
