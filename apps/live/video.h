/*
 * The time line of a video. It runs as long as somebody plays: each request moves it to the frame
 * that is due at that moment, or the next one where the last request is long ago. So frames that
 * nobody is there for in time are dropped, nothing queues, and nothing runs for closed pages.
 */
#ifndef WEFT_LIVE_VIDEO_H
#define WEFT_LIVE_VIDEO_H

#include "filter/image.h"

typedef enum live_motion {
    LIVE_STAY = 0, /* the frame that is there */
    LIVE_PLAY,     /* the one that is due */
    LIVE_PAUSE,    /* the frame that is there; whoever plays next goes on from it */
    LIVE_STEP      /* the next frame, after which the time line stands */
} live_motion;

typedef struct live_video live_video;

/* Opens what --video names: a file or a camera for ffmpeg, or a generated pattern. `memory` and
 * `name` as live_decoder_open. */
weft_status live_video_open(const char *name, double memory, live_video **opened);
void live_video_close(live_video **closed);

/* Moves on. `now` is in seconds, of weft_clock. After a failure the frame is the one before. */
weft_status live_video_move(live_video *v, live_motion motion, double now);

/* The frame that is shown, until the next move. */
const image *live_video_frame(const live_video *v);

typedef struct live_moment {
    int64_t number;  /* of the frame, from 0 on; files begin again */
    int64_t dropped; /* frames that nobody was shown, so far */
    double wait;     /* seconds until the next frame is due */
} live_moment;

live_moment live_video_moment(const live_video *v, double now);

/* Frames a second; 0: a camera, whose frames are due when they come. */
double live_video_rate(const live_video *v);

/* Ends all waiting for frames. From any thread. */
void live_video_end(live_video *v);

#endif
