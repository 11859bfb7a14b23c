/* Something for each filter: broad waves that move, a fine grating that stands still, which is two
 * spots in the spectrum, and a disc with a sharp edge that bounces. Whole numbers only. */
#include "pattern.h"

#include "filter/image_format.h"
#include "support/error.h"

#include <stdio.h>
#include <string.h>

enum { WAVE = 64, MOST_PIXELS_ALONG = 1 << 15 };
static const char word[] = "pattern";

bool live_pattern_is_named(const char *name) {
    const size_t length = sizeof word - 1;
    return strncmp(name, word, length) == 0 && (name[length] == '\0' || name[length] == ':');
}

weft_status live_pattern_create(const char *name, double memory, image *frame) {
    int columns = 640, rows = 480, end = 0;
    const char *size = name + sizeof word - 1;
    if (*size != '\0' &&
        (sscanf(size, ":%5dx%5d%n", &columns, &rows, &end) != 2 || size[end] != '\0' ||
         columns < 1 || rows < 1 || columns > MOST_PIXELS_ALONG || rows > MOST_PIXELS_ALONG))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--video %s: give columns and rows, such as pattern:640x480", name);
    return image_begin(name, memory, rows, columns, 1, 1, frame);
}

/* Goes up from 0 to `most` and down again, a step for each. */
static int64_t bounce(int64_t step, int64_t most) {
    if (most < 1) return 0;
    const int64_t at = step % (2 * most);
    return at < most ? at : 2 * most - at;
}

void live_pattern_draw(int64_t number, image *frame) {
    const int64_t rows = frame->rows, columns = frame->columns;
    const int64_t radius = (rows < columns ? rows : columns) / 6;
    const int64_t disc_x = radius + bounce(3 * number, columns - 1 - 2 * radius);
    const int64_t disc_y = radius + bounce(2 * number, rows - 1 - 2 * radius);
    unsigned char *pixel = frame->samples;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            const int64_t dx = x - disc_x, dy = y - disc_y;
            const int64_t wave = 3 * bounce(x + y + 2 * number, WAVE / 2); /* 0 to 96 */
            const int64_t grating = (x + y) / 2 % 2 * 48;
            const bool inside = dx * dx + dy * dy < radius * radius;
            const int64_t body = inside ? 159 + wave / 2 : 32 + wave;
            *pixel++ = (unsigned char)(body + grating);
        }
}
