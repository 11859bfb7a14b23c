/*
 * What the page asks for: lines of a name and a value, "gaussian 3,1,30" and so on for filters
 * (filter/parse.h), and
 *     sequence N      comes back with the frame
 *     device NAME     host, opencl, cuda
 *     boundary NAME   periodic, mirror, zero
 *     axis A          of a volume: the plane
 *     index I
 *     space volume    of a volume: filters, which come after this line, are of its three axes, in
 *                     whose order their numbers are; without it, of the plane
 *     video MOTION    of a video: play, pause or step (video.h); without it, its frame stays
 */
#ifndef WEFT_LIVE_REQUEST_H
#define WEFT_LIVE_REQUEST_H

#include "filter/parse.h"
#include "filter/picture_filter.h"
#include "video.h"

/* The longest request in bytes, and the most filters in one. A painted mask is a notch for each
 * stamp of the brush. */
enum { LIVE_REQUEST_BYTES = 1 << 16, LIVE_MOST_PARTS = 2048 };

typedef struct live_request {
    int64_t sequence;
    weft_device device;
    filter_boundary boundary;
    int axis;
    int64_t index;
    bool whole; /* the volume is filtered, not the plane */
    live_motion motion;
    int parts;
    filter_part part[LIVE_MOST_PARTS];
} live_request;

/* Reads a request, which is changed; fails with a sentence. */
weft_status live_request_parse(char *text, live_request *request);

#endif
