/*
 * The programs ffmpeg and ffprobe, which read video files and cameras. Frames come through a pipe
 * as PGM or PPM pictures, whose headers tell the extents, whichever way up the video was taken.
 */
#ifndef WEFT_LIVE_FFMPEG_H
#define WEFT_LIVE_FFMPEG_H

#include "program.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct live_ffmpeg {
    const char *name; /* a file, or a camera that Video4Linux knows */
    bool camera;
    int stop; /* what ends all waiting: see live_program_read */
    live_program program;
    /* By ffmpeg_probe. */
    double rate;        /* frames a second; cameras have none */
    char rate_text[48]; /* as a fraction */
    bool grey;
    /* By ffmpeg_next, alike of all frames. */
    char header[32];
    size_t header_bytes; /* 0: there was no frame yet */
    int64_t rows, columns;
    int channels;
} live_ffmpeg;

/* Finds out the rate of a file and whether it is grey. Fails where it is no video, and where there
 * is no ffprobe. */
weft_status live_ffmpeg_probe(live_ffmpeg *f);

/* Has ffmpeg decode the file from its begin, or what the camera sees. */
weft_status live_ffmpeg_start(live_ffmpeg *f);

/* Reads a frame's header; *ended: there are no more, and ffmpeg has ended. Whoever has put
 * something into `stop` looks at neither. */
weft_status live_ffmpeg_next(live_ffmpeg *f, bool *ended);

/* And then its pixels, rows x columns x channels bytes, the channels of a pixel side by side. */
weft_status live_ffmpeg_pixels(live_ffmpeg *f, unsigned char *pixels);

/* Ends ffmpeg if it runs. */
void live_ffmpeg_end(live_ffmpeg *f);

#endif
