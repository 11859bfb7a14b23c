/* The thread owns ffmpeg; what it shares with the one that takes frames is behind the lock. */
#include "decoder.h"

#include "ffmpeg.h"
#include "filter/image_format.h"
#include "support/clock.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds that one waits for a frame while a file or a camera may have to be opened, and else; and
 * that a camera stays open while nobody asks. */
enum { OPENING_SECONDS = 10, STALLED_SECONDS = 3, IDLE_SECONDS = 3 };

typedef struct decoded {
    unsigned char *pixels; /* as ffmpeg sends them */
    live_place place;
} decoded;

struct live_decoder {
    live_ffmpeg ffmpeg;
    double memory;
    int stop[2]; /* a pipe whose writing end is closed to end the thread's waiting */
    pthread_t thread;
    bool started;
    decoded filling; /* the thread's */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    decoded ready;
    bool is_ready;
    int64_t wanted; /* frames before this one are dropped; 0 while nobody waits */
    double asked;   /* when somebody asked for a frame last */
    bool ending;
    weft_status status; /* of the thread, which ends with a failure */
    char sentence[WEFT_ERROR_BYTES];
    image frame; /* that was taken; made by the thread before the first is ready */
};

/* ---- the thread ---- */

/* Once the first header has told the extents. */
static weft_status make_room(live_decoder *d) {
    const live_ffmpeg *f = &d->ffmpeg;
    const size_t bytes = (size_t)(f->rows * f->columns * f->channels);
    WEFT_TRY(image_begin(f->name, d->memory, f->rows, f->columns, f->channels, 1, &d->frame));
    d->filling.pixels = malloc(bytes);
    d->ready.pixels = malloc(bytes);
    if (d->filling.pixels != NULL && d->ready.pixels != NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its frames", f->name);
}

/* Makes the frame that has been read the one that is ready. A file's waits until the one before
 * was taken or is too old. Returns whether another is wanted. */
static bool hand_over(live_decoder *d) {
    pthread_mutex_lock(&d->lock);
    while (!d->ending && !d->ffmpeg.camera && d->is_ready && d->ready.place.count >= d->wanted)
        pthread_cond_wait(&d->changed, &d->lock);
    const decoded read = d->filling;
    d->filling = d->ready;
    d->ready = read;
    d->is_ready = true;
    d->filling.place = (live_place){read.place.count + 1, read.place.number + 1};
    pthread_cond_broadcast(&d->changed);
    const bool idle = d->ffmpeg.camera && weft_clock() - d->asked > IDLE_SECONDS;
    const bool more = !d->ending && !idle;
    pthread_mutex_unlock(&d->lock);
    return more;
}

/* From a file's begin to its end; a camera until nobody has asked for a while. */
static weft_status decode_once(live_decoder *d) {
    bool ended = false, more = true;
    d->filling.place.number = 0;
    WEFT_TRY(live_ffmpeg_start(&d->ffmpeg));
    while (more) {
        WEFT_TRY(live_ffmpeg_next(&d->ffmpeg, &ended));
        if (ended) break;
        if (d->filling.pixels == NULL) WEFT_TRY(make_room(d));
        WEFT_TRY(live_ffmpeg_pixels(&d->ffmpeg, d->filling.pixels));
        more = hand_over(d);
    }
    if (!ended || d->filling.place.number > 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: there are no frames in it", d->ffmpeg.name);
}

/* A camera is opened again when somebody asks, who is not shown what it saw last; false: the end.
 */
static bool await_asking(live_decoder *d) {
    pthread_mutex_lock(&d->lock);
    while (!d->ending && d->ffmpeg.camera && weft_clock() - d->asked > IDLE_SECONDS) {
        d->is_ready = false;
        pthread_cond_wait(&d->changed, &d->lock);
    }
    const bool ending = d->ending;
    pthread_mutex_unlock(&d->lock);
    return !ending;
}

static void *decode(void *argument) {
    live_decoder *d = argument;
    weft_status status = d->ffmpeg.camera ? WEFT_SUCCESS : live_ffmpeg_probe(&d->ffmpeg);
    while (status == WEFT_SUCCESS && await_asking(d)) {
        status = decode_once(d);
        live_ffmpeg_end(&d->ffmpeg);
    }
    pthread_mutex_lock(&d->lock);
    d->status = status;
    snprintf(d->sentence, sizeof d->sentence, "%s", weft_thread_error());
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* ---- taking ---- */

/* Waits for a change, or until a moment; with the lock held. */
static void wait_until(live_decoder *d, double moment) {
    const struct timespec end = {(time_t)moment, (long)((moment - (double)(time_t)moment) * 1e9)};
    pthread_cond_timedwait(&d->changed, &d->lock, &end);
}

/* Waits until the frame to show is ready; with the lock held. */
static weft_status await_frame(live_decoder *d, int64_t due, double patience, int seconds) {
    const double begin = weft_clock();
    for (;;) {
        if (d->ending) return weft_fail(WEFT_ERROR_SYSTEM, "weft live ends");
        if (d->is_ready && (d->ffmpeg.camera || d->ready.place.count >= due)) return WEFT_SUCCESS;
        if (d->status != WEFT_SUCCESS) break;
        const double end = begin + (d->is_ready ? patience : seconds);
        if (weft_clock() >= end) break;
        wait_until(d, end);
    }
    if (d->is_ready) return WEFT_SUCCESS;
    if (d->status != WEFT_SUCCESS) return weft_fail(d->status, "%s", d->sentence);
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: ffmpeg has sent no frame for %d seconds",
                     d->ffmpeg.name, seconds);
}

/* With the lock held, so that the thread does not drop it meanwhile. */
static void take_ready(live_decoder *d, live_place *taken) {
    const int64_t columns = d->frame.columns;
    for (int64_t row = 0; row < d->frame.rows; row++)
        image_put_row(&d->frame, row, d->ready.pixels + row * columns * d->frame.channels);
    *taken = d->ready.place;
    d->is_ready = false;
    pthread_cond_broadcast(&d->changed);
}

static weft_status take(live_decoder *d, int64_t due, double patience, int seconds,
                        live_place *taken) {
    pthread_mutex_lock(&d->lock);
    d->wanted = due;
    d->asked = weft_clock();
    pthread_cond_broadcast(&d->changed);
    const weft_status status = await_frame(d, due, patience, seconds);
    if (status == WEFT_SUCCESS) take_ready(d, taken);
    d->wanted = 0;
    pthread_mutex_unlock(&d->lock);
    return status;
}

weft_status live_decoder_take(live_decoder *d, int64_t due, double patience, live_place *taken) {
    return take(d, due, patience, d->ffmpeg.camera ? OPENING_SECONDS : STALLED_SECONDS, taken);
}

const image *live_decoder_frame(const live_decoder *d) {
    return &d->frame;
}

double live_decoder_rate(const live_decoder *d) {
    return d->ffmpeg.rate;
}

/* ---- begin and end ---- */

static weft_status start(live_decoder *d) {
    live_place first;
    if (pipe2(d->stop, O_CLOEXEC) != 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: there are no pipes: %s", d->ffmpeg.name,
                         strerror(errno));
    d->ffmpeg.stop = d->stop[0];
    d->asked = weft_clock();
    d->started = pthread_create(&d->thread, NULL, decode, d) == 0;
    if (!d->started) return weft_fail(WEFT_ERROR_SYSTEM, "a thread cannot be started");
    return take(d, 0, OPENING_SECONDS, OPENING_SECONDS, &first);
}

weft_status live_decoder_open(const char *name, double memory, live_decoder **opened) {
    struct stat found;
    pthread_condattr_t attributes;
    if (stat(name, &found) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: %s", name, strerror(errno));
    live_decoder *d = calloc(1, sizeof *d);
    if (d == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    *d = (live_decoder){.ffmpeg = {.name = name, .camera = S_ISCHR(found.st_mode)},
                        .memory = memory,
                        .stop = {-1, -1}};
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *opened = d;
    const weft_status status = start(d);
    if (status != WEFT_SUCCESS) live_decoder_close(opened);
    return status;
}

void live_decoder_end(live_decoder *d) {
    pthread_mutex_lock(&d->lock);
    d->ending = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

void live_decoder_close(live_decoder **closed) {
    live_decoder *d = *closed;
    if (d == NULL) return;
    live_decoder_end(d);
    if (d->stop[1] >= 0) close(d->stop[1]);
    if (d->started) pthread_join(d->thread, NULL);
    if (d->stop[0] >= 0) close(d->stop[0]);
    image_destroy(&d->frame);
    free(d->filling.pixels);
    free(d->ready.pixels);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
    *closed = NULL;
}
