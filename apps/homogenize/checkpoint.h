/*
 * Checkpoints: what a run goes on from, to the same bits, if it is stopped. A checkpoint is a
 * document (JSON) with the results of the loads that are solved and the numbers of the solver, and,
 * where a load is being solved, an array of the fields that the solver needs. Who writes the files,
 * and when, is not decided here.
 */
#ifndef WEFT_HOMOGENIZE_CHECKPOINT_H
#define WEFT_HOMOGENIZE_CHECKPOINT_H

#include "job.h"

/* What the bits of a run's iterations depend on, but for the number of ranks and how transforms are
 * computed: a member for each key of the case. NULL where memory lacks. Collective. */
json_t *homogenize_checkpoint_case(const homogenize_job *job);

/* What the solver keeps of its vectors, as parts of one array of four axes: fields one behind the
 * other, or displacements of frequencies. */
typedef struct homogenize_kept {
    weft_array_info info;
    int parts, first;                     /* the first one is that field of the run */
    weft_box box[HOMOGENIZE_MOST_FIELDS]; /* this rank's of each part */
    void *memory[HOMOGENIZE_MOST_FIELDS];
} homogenize_kept;
homogenize_kept homogenize_checkpoint_kept(const homogenize_job *job);

/* A sum over that array, which is the same on any number of ranks and another one where a bit is.
 * Collective. */
uint64_t homogenize_checkpoint_sum(const homogenize_job *job);

/* The document. `array` is the number of the array beside it, which has the sum `sum`; 0 where no
 * load has begun. The case's description is shared, not taken over. NULL where memory lacks. Not
 * collective. */
json_t *homogenize_checkpoint_document(const homogenize_job *job, json_t *description, int array,
                                       uint64_t sum);

/* Fails with a sentence that begins with `name` where the document is no checkpoint. */
weft_status homogenize_checkpoint_check(const char *name, const json_t *document);
/* The same where it is one of another case. */
weft_status homogenize_checkpoint_compare(const char *name, const json_t *document,
                                          const json_t *description);
/* Takes over results and numbers from a document that has been checked; *array and *sum as above.
 * Fails where something is missing, and then the job is of no use. Not collective. */
weft_status homogenize_checkpoint_restore(const char *name, const json_t *document,
                                          homogenize_job *job, int *array, uint64_t *sum);

#endif
