/* A moving pattern for `weft live`, which needs no file: frame n is the same wherever it is drawn.
 */
#ifndef WEFT_LIVE_PATTERN_H
#define WEFT_LIVE_PATTERN_H

#include "filter/image.h"

#include <stdbool.h>

enum { LIVE_PATTERN_RATE = 25 }; /* frames a second */

/* Whether this is "pattern", or "pattern:" and anything. */
bool live_pattern_is_named(const char *name);

/* Allocates a frame of "pattern" (640 x 480) or "pattern:COLUMNSxROWS"; fails with a sentence. */
weft_status live_pattern_create(const char *name, double memory, image *frame);

/* Draws frame `number`, from 0 on. */
void live_pattern_draw(int64_t number, image *frame);

#endif
