/*
 * Deblurring a photograph: an image that is out of focus and has noise is deconvolved with what the
 * lens makes of a point, a disc. Beyond its edges the image is taken to be mirrored (WEFT_NEUMANN),
 * so that no edge of the picture is mixed with the opposite one, and none becomes dark. Writes
 * PREFIX-blurred.png and PREFIX-deblurred.png. Exit status 0 where the deblurred image is nearer to
 * the original than the blurred one by a factor of 1.6.
 *
 *   cc deblur.c $(pkg-config --cflags --libs weft libpng) -lm && ./a.out photograph.png out
 */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { RADIUS = 6, SIDE = RADIUS + 1 }; /* of the disc, in pixels; its pixels from the middle on */

static const double noise = 0.5; /* standard deviation, in grey levels of 255 */

/* The spectrum of the disc has zeros, and dividing by the small numbers around them would multiply
 * the noise. Frequencies where its square is less than this are damped instead. */
static const double regularizer = 2e-3;

static weft_context ctx;

static void require(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "deblur: %s\n", what);
    exit(1);
}

static void succeed(weft_status status) {
    require(status == WEFT_SUCCESS, weft_last_error(ctx));
}

/* A disc is symmetric, as kernels are along mirrored axes, so its quarter is enough: element 0 of
 * either axis is the middle, and the others stand for both sides. The whole disc has the sum 1. */
static void make_disc(double disc[SIDE][SIDE]) {
    double sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            disc[i][j] = fmin(fmax(RADIUS + 0.5 - hypot(i, j), 0), 1); /* a smooth edge */
            sum += disc[i][j] * (i ? 2 : 1) * (j ? 2 : 1);
        }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) disc[i][j] /= sum;
}

/* Plans to convolve images with the disc, or to undo that. *bytes becomes what the arrays that it
 * reads and writes need, if that is more. */
static weft_convolution make_convolution(int64_t rows, int64_t columns, int undo, size_t *bytes) {
    double disc[SIDE][SIDE];
    weft_convolution made = NULL;
    make_disc(disc);
    const weft_convolution_problem problem = {
        .rank = 2,
        .n = {rows, columns},
        .kind = WEFT_R2C,
        .boundary = {WEFT_NEUMANN, WEFT_NEUMANN},
        .kernel = {.kind = WEFT_KERNEL_ARRAY, .array = disc, .n = {SIDE, SIDE}, .origin = {0, 0}},
        .deconvolve = undo,
        .regularizer = regularizer};
    succeed(weft_convolution_create(ctx, &problem, NULL, &made));
    for (int space = WEFT_INPUT; space <= WEFT_OUTPUT; space++) {
        size_t needed;
        succeed(weft_plan_bytes(made, (weft_space)space, &needed));
        if (needed > *bytes) *bytes = needed;
    }
    return made;
}

/* A number of a normal distribution (Box and Muller 1958), the same in every run. */
static double normal(void) {
    static uint32_t state = 1;
    double uniform[2];
    for (int i = 0; i < 2; i++) {
        state = state * 1664525 + 1013904223; /* Knuth's linear congruential generator */
        uniform[i] = ((double)state + 0.5) / 4294967296.;
    }
    return sqrt(-2 * log(uniform[0])) * cos(6.28318530717958647692 * uniform[1]);
}

/* A grey image as numbers 0 to 255. The caller frees it. */
static double *read_image(const char *path, int64_t *rows, int64_t *columns) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    require(png_image_begin_read_from_file(&png, path), png.message);
    png.format = PNG_FORMAT_GRAY;
    const size_t count = (size_t)png.width * png.height;
    unsigned char *bytes = malloc(count);
    double *image = malloc(count * sizeof *image);
    require(bytes && image, "out of memory");
    require(png_image_finish_read(&png, NULL, bytes, 0, NULL), png.message);
    for (size_t i = 0; i < count; i++) image[i] = bytes[i];
    free(bytes);
    *rows = png.height;
    *columns = png.width;
    return image;
}

static void write_image(const char *prefix, const char *suffix, const double *image, int64_t rows,
                        int64_t columns) {
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)columns,
                     .height = (png_uint_32)rows,
                     .format = PNG_FORMAT_GRAY};
    const size_t count = (size_t)(rows * columns), room = strlen(prefix) + strlen(suffix) + 1;
    unsigned char *bytes = malloc(count);
    char *path = malloc(room);
    require(bytes && path, "out of memory");
    snprintf(path, room, "%s%s", prefix, suffix);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)lrint(fmin(fmax(image[i], 0), 255));
    require(png_image_write_to_file(&png, path, 0, bytes, 0, NULL), png.message);
    free(path);
    free(bytes);
}

/* Root of the mean square difference, in grey levels. */
static double difference(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / (double)count);
}

int main(int argc, char **argv) {
    int64_t rows, columns;
    size_t bytes = 0;
    require(argc == 3, "usage: deblur IMAGE.png PREFIX");
    succeed(weft_context_create(NULL, &ctx));
    double *original = read_image(argv[1], &rows, &columns);
    const int64_t count = rows * columns;
    weft_convolution blur = make_convolution(rows, columns, 0, &bytes);
    weft_convolution sharpen = make_convolution(rows, columns, 1, &bytes);
    double *image = malloc(bytes), *blurred = malloc(bytes);
    require(image && blurred, "out of memory");

    memcpy(image, original, (size_t)count * sizeof *image);
    succeed(weft_convolution_execute(blur, image, blurred));
    for (int64_t i = 0; i < count; i++) blurred[i] += noise * normal();
    succeed(weft_convolution_execute(sharpen, blurred, image));

    write_image(argv[2], "-blurred.png", blurred, rows, columns);
    write_image(argv[2], "-deblurred.png", image, rows, columns);
    const double before = difference(blurred, original, count);
    const double after = difference(image, original, count);
    printf("difference to the original, of 255 grey levels: %.2f blurred, %.2f deblurred\n", before,
           after);
    free(blurred);
    free(image);
    free(original);
    weft_convolution_destroy(&sharpen);
    weft_convolution_destroy(&blur);
    weft_context_destroy(&ctx);
    return after * 1.6 < before ? 0 : 1;
}
