/* Grey pictures: numbers in, an 8-bit PNG, JPEG or TIFF out, as the name says. */
#ifndef WEFT_TOOLS_PICTURE_H
#define WEFT_TOOLS_PICTURE_H

#include <stdint.h>
#include <weft/weft.h>

/* Row-major values; the picture owns them. */
typedef struct grey_picture {
    int64_t rows, columns;
    double *value;
} grey_picture;

/* Allocates zeros. */
weft_status picture_create(grey_picture *picture, int64_t rows, int64_t columns);
void picture_destroy(grey_picture *picture);

/* Replaces values by log10; the faintest part (zeros, and all below the darkest hundredth) becomes
 * one shade. */
weft_status picture_take_log(grey_picture *picture);

/* Moves index 0 of both axes to the middle (fftshift), or of the rows alone. */
weft_status picture_shift(grey_picture *picture, int rows, int columns);

/* Scales each picture from its least to its greatest value and writes them side by side. */
weft_status picture_write(const char *path, const grey_picture *pictures, int count);
/* Whether a picture can be written under this name: refuses endings that are no format of this
 * build. */
weft_status picture_check(const char *path);

#endif
