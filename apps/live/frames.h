/* Frames: what a request gets, a filtered plane, or a plane of a filtered volume, and its spectrum
 * as bytes. */
#ifndef WEFT_LIVE_FRAMES_H
#define WEFT_LIVE_FRAMES_H

#include "server.h"
#include "source.h"
#include "volume.h"

/*
 * A frame is a text of LIVE_HEADER_BYTES, JSON padded with spaces, and then grey levels, a byte
 * each: the plane, channel after channel, and its spectrum. Plain bytes, since packing a megabyte
 * as PNG takes longer than computing it, and sending it to a browser of the same machine does not.
 */
enum { LIVE_HEADER_BYTES = 1024 };

typedef struct live_frames live_frames;

/* `source` and `volume`, which is NULL but for arrays of three axes, outlive the frames, whose
 * filters may take `memory` bytes. Of the options engine, threads, effort and device_memory_limit
 * count. */
weft_status live_frames_create(live_source *source, live_volume *volume,
                               const weft_options *options, double memory, live_frames **created);
void live_frames_destroy(live_frames **destroyed);

/* Computes what a request, which is changed, asks for; failures become answers, too. */
void live_frames_answer(live_frames *frames, char *request, live_answer *answer);

/* JSON that the page begins with: the file's name, extents, processes, devices. NULL: no memory.
 * The caller frees it. */
char *live_frames_describe(live_frames *frames, const char *name);

#endif
