/* What `weft live` shows: a picture, planes of an array in a file along each of its axes, or the
 * frames of a video. */
#ifndef WEFT_LIVE_SOURCE_H
#define WEFT_LIVE_SOURCE_H

#include "io/array.h"
#include "video.h"

#include <stdbool.h>
#include <weft/weft.h>

typedef struct live_source live_source;

/* A plane as filters take it. `samples` belongs to the source, until another plane is read. */
typedef struct live_plane {
    int64_t rows, columns;
    int channels;
    weft_storage storage;
    double white; /* the largest sample */
    const void *samples;
} live_plane;

/* Opens a picture, or a real array of two or three axes, whose values are shown from the least
 * (black) to the greatest (white), those of u8 as they are. Needs MPI for arrays. `memory` is what
 * a picture and its filter may take, in bytes. raw as weft_array_open. */
weft_status live_source_open(const char *path, const weft_array_info *raw, double memory,
                             live_source **opened);
void live_source_close(live_source **closed);

/* Opens what --video names, as live_video_open does. */
weft_status live_source_open_video(const char *name, double memory, live_source **opened);

/* The video, or NULL. */
live_video *live_source_video(const live_source *source);

/* Axes: 0 where there is one plane, else 3; extents of a volume along them. */
int live_source_axes(const live_source *source, int64_t n[3]);

/* The values of an array that are shown black and white. */
void live_source_range(const live_source *source, double *least, double *most);

/* Reads the plane across `axis` at `index`, whose rows and columns are the other axes in their
 * order. Of a source of one plane both are 0; of a video it is the frame that is shown. */
weft_status live_source_plane(live_source *source, int axis, int64_t index, live_plane *plane);

#endif
