/*
 * A volume that is filtered whole, along all three axes, by the processes of a communicator: each
 * holds boxes of the volume and of the result. Process 0 is asked for slices; the others take part
 * in what it is asked for.
 */
#ifndef WEFT_LIVE_VOLUME_H
#define WEFT_LIVE_VOLUME_H

#include "io/array.h"
#include "request.h"

#include <mpi.h>

typedef struct live_volume live_volume;

typedef struct live_volume_source {
    const char *path; /* with `raw`, as weft_array_open takes them: a real array of three axes */
    const weft_array_info *raw;
    double memory; /* bytes that the processes of a node may take together */
} live_volume_source;

/* Reads and plans nothing yet. What is given outlives the volume. Of the options engine, threads,
 * effort and device_memory_limit count. Collective. */
weft_status live_volume_create(MPI_Comm comm, const live_volume_source *source,
                               const weft_options *options, live_volume **created);

/* On process 0 it has the others return from live_volume_follow. Collective. */
void live_volume_destroy(live_volume **destroyed);

/* What the processes but 0 do: their part of each slice, until process 0 destroys the volume. They
 * sleep between slices. */
void live_volume_follow(live_volume *v);

int live_volume_processes(const live_volume *v);

/* A slice of the result, and the spectrum where the frequency across it is 0, in decibels relative
 * to frequency 0 of a volume that is `most` everywhere; frequency 0 is in the middle. All of it
 * belongs to the volume, until another slice is wanted. */
typedef struct live_slice {
    int64_t rows, columns;
    const float *values, *decibels;
    double filter_time; /* seconds to plan with a new filter; next to none with that of last time */
    weft_convolution plan;
    int64_t planned; /* which one of the volume's plans, counted from 1 */
} live_slice;

/* The slice across request->axis at request->index. `text` is the request before it was parsed, for
 * the other processes. Values that are no numbers count as `least`; the spectrum is that of the
 * volume less `least`, from black at `least` to white at `most`. On process 0. */
weft_status live_volume_slice(live_volume *v, const char *text, const live_request *request,
                              double least, double most, live_slice *slice);

#endif
