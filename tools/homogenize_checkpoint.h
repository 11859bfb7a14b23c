/*
 * Files of checkpoints: FILE, a document, and beside it FILE-1.npy or FILE-2.npy, the fields that
 * it tells of. The two take turns, and FILE is renamed into its place when the new one is complete,
 * so that the last checkpoint stays whole whenever the process ends.
 */
#ifndef WEFT_TOOLS_HOMOGENIZE_CHECKPOINT_H
#define WEFT_TOOLS_HOMOGENIZE_CHECKPOINT_H

#include "homogenize/checkpoint.h"

typedef struct homogenize_checkpoint {
    homogenize_job *job;
    const char *file;    /* NULL: no checkpoints, and nothing here does anything */
    json_t *description; /* of the case */
    bool there;          /* one of this run, or the one that it goes on from */
    int array;           /* of the fields, 1 or 2, that FILE tells of; 0: none */
    int iteration;       /* of the load, when it was written */
    double written;      /* the clock then */
    int count;           /* written by this process */
} homogenize_checkpoint;

/* Looks for a checkpoint, and goes on from it where `resume`. The job is prepared; the caller
 * releases the checkpoint, also after a failure. Collective. */
weft_status homogenize_checkpoint_begin(homogenize_job *job, bool resume,
                                        homogenize_checkpoint *checkpoint);

/* Between two iterations: writes one if it is due, or the run is about to fail. Collective. */
weft_status homogenize_checkpoint_rest(homogenize_checkpoint *checkpoint, bool last);

/* Behind a load and its files. Collective. */
weft_status homogenize_checkpoint_end_load(homogenize_checkpoint *checkpoint);

/* The run has its results: removes the files. Not collective. */
void homogenize_checkpoint_remove(homogenize_checkpoint *checkpoint);

/* Adds to the sentence of a failure how to go on, if that is possible. */
weft_status homogenize_checkpoint_explain(const homogenize_checkpoint *checkpoint,
                                          weft_status status);

void homogenize_checkpoint_release(homogenize_checkpoint *checkpoint);

#endif
