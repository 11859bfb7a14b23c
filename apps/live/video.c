/* A frame's place on the time line, counted from 0, is when it is due; a camera's are as they come.
 */
#include "video.h"

#include "decoder.h"
#include "pattern.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>

/* Longer than this between two requests is a pause. */
static const double pause_seconds = 1;
/* Seconds that a frame may be late before an earlier one is shown in its place. */
static const double patience = 0.1;

struct live_video {
    live_decoder *decoder; /* NULL: the pattern */
    image pattern;
    double rate;
    live_place place;
    int64_t dropped;
    bool running;
    double begin, asked; /* when `first` was due; when somebody has played last */
    int64_t first;       /* frame since the time line runs */
};

weft_status live_video_open(const char *name, double memory, live_video **opened) {
    live_video *v = calloc(1, sizeof *v);
    if (v == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    const bool generated = live_pattern_is_named(name);
    const weft_status status = generated ? live_pattern_create(name, memory, &v->pattern)
                                         : live_decoder_open(name, memory, &v->decoder);
    *opened = v;
    if (status != WEFT_SUCCESS) {
        live_video_close(opened);
        return status;
    }
    if (generated) live_pattern_draw(0, &v->pattern);
    v->rate = generated ? LIVE_PATTERN_RATE : live_decoder_rate(v->decoder);
    return WEFT_SUCCESS;
}

void live_video_close(live_video **closed) {
    live_video *v = *closed;
    if (v == NULL) return;
    live_decoder_close(&v->decoder);
    image_destroy(&v->pattern);
    free(v);
    *closed = NULL;
}

static weft_status show(live_video *v, int64_t due) {
    live_place place = {due, due};
    if (v->decoder != NULL)
        WEFT_TRY(live_decoder_take(v->decoder, due, patience, &place));
    else
        live_pattern_draw(due, &v->pattern);
    v->dropped += place.count - v->place.count - 1;
    v->place = place;
    return WEFT_SUCCESS;
}

/* When the frame behind the one that is shown is due. */
static double next_due(const live_video *v) {
    return v->rate > 0 ? v->begin + (double)(v->place.count + 1 - v->first) / v->rate : 0;
}

/* Whoever begins to play gets the next frame at once. */
static weft_status play(live_video *v, double now) {
    if (!v->running || now - v->asked > pause_seconds) {
        v->begin = now;
        v->first = v->place.count + 1;
    }
    v->running = true;
    v->asked = now;
    if (now < next_due(v)) return WEFT_SUCCESS;
    const double passed = floor((now - v->begin) * v->rate);
    const int64_t due = v->first + (int64_t)passed;
    WEFT_TRY(show(v, due > v->place.count ? due : v->place.count + 1));
    if (v->place.count < due) { /* ffmpeg is late, and the time line waits for it */
        v->begin = now;
        v->first = v->place.count;
    }
    return WEFT_SUCCESS;
}

weft_status live_video_move(live_video *v, live_motion motion, double now) {
    if (motion == LIVE_STAY) return WEFT_SUCCESS;
    if (motion == LIVE_PLAY) return play(v, now);
    v->running = false;
    return motion == LIVE_STEP ? show(v, v->place.count + 1) : WEFT_SUCCESS;
}

const image *live_video_frame(const live_video *v) {
    return v->decoder != NULL ? live_decoder_frame(v->decoder) : &v->pattern;
}

live_moment live_video_moment(const live_video *v, double now) {
    return (live_moment){v->place.number, v->dropped, fmax(0, next_due(v) - now)};
}

double live_video_rate(const live_video *v) {
    return v->rate;
}

void live_video_end(live_video *v) {
    if (v->decoder != NULL) live_decoder_end(v->decoder);
}
