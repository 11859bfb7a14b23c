/*
 * Frames of a video file or a camera, which a thread reads from ffmpeg. It holds one that is ready
 * and one that is being read: when both are there, a file waits in ffmpeg's pipe, and of a camera
 * the older one is dropped. At its end a file begins again.
 */
#ifndef WEFT_LIVE_DECODER_H
#define WEFT_LIVE_DECODER_H

#include "filter/image.h"

typedef struct live_decoder live_decoder;

/* A frame's place: `count` goes on where a file begins again, `number` is its place in the file. */
typedef struct live_place {
    int64_t count, number;
} live_place;

/* Opens a file or a camera and waits for its first frame, which is taken. `memory` is what a
 * picture and its filter may take, in bytes. `name` outlives the decoder. */
weft_status live_decoder_open(const char *name, double memory, live_decoder **opened);
void live_decoder_close(live_decoder **closed);

/* Takes the frame whose count is `due`, and drops those before it; a later one that is there
 * already, or, where ffmpeg needs more than `patience` seconds for it, the last one before. Of a
 * camera: the newest, once it is newer than the one taken before. Fails where none comes for some
 * seconds. */
weft_status live_decoder_take(live_decoder *d, int64_t due, double patience, live_place *taken);

/* The frame taken last. */
const image *live_decoder_frame(const live_decoder *d);

/* Frames a second; 0 of a camera. */
double live_decoder_rate(const live_decoder *d);

/* Has live_decoder_take fail from now on, and at once. From any thread. */
void live_decoder_end(live_decoder *d);

#endif
