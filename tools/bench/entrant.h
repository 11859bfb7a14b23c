/*
 * An entrant: a contestant that takes part in a block, with its input, the error of its output, its
 * memory and its times. Entrants of a block share two buffers.
 */
#ifndef WEFT_BENCH_ENTRANT_H
#define WEFT_BENCH_ENTRANT_H

#include "bench/contestant.h"
#include "bench/resident.h"

/* The harness's input and output, 64-byte aligned and touched. */
typedef struct bench_buffers {
    void *in, *out;
    size_t in_bytes, out_bytes;
} bench_buffers;

/* A run: what the library tells, and the seconds around it. */
typedef struct bench_sample {
    bench_phases phases;
    double elapsed;
} bench_sample;

typedef struct bench_entrant {
    bench_contestant contestant;
    const json_t *cell;
    bool prepared;      /* planned, and verified once */
    bool told;          /* that it left */
    weft_status status; /* how it left, where it did; the sentence tells why */
    char sentence[1024];
    double error;          /* the largest of its verified runs; NaN stays */
    resident_meter memory; /* of describing, planning and the first run */
    void *pristine;        /* its input, where it destroys that */
    bool borrowed;         /* pristine belongs to another entrant */
    bench_sample *samples; /* warm-ups, then iterations */
} bench_entrant;

/* Seconds of a block. */
typedef struct bench_spent {
    double planning, running, checking;
} bench_spent;

/* Makes room; what was in the buffers is lost where they grow. Not collective. */
weft_status bench_buffers_provide(bench_buffers *buffers, size_t in_bytes, size_t out_bytes);
void bench_buffers_release(bench_buffers *buffers);

/* Finds and describes the library of a cell. A failure on any rank makes the entrant leave, here
 * and below. Collective. */
void bench_entrant_open(bench_entrant *e, const bench_problem *p, const json_t *cell,
                        bench_spent *spent);

/* Plans, and runs once, verified. Collective. */
void bench_entrant_prepare(bench_entrant *e, const bench_buffers *b,
                           const bench_expectation *expected, bench_spent *spent);

/* Runs on real input and keeps the error of the output. Collective. */
void bench_entrant_verify(bench_entrant *e, const bench_buffers *b,
                          const bench_expectation *expected, bench_spent *spent);

/* Gives an entrant that destroys its input what it needs to do that again and again: a copy, or
 * that of one of the `count` others whose input lies the same way. Collective. */
void bench_entrant_keep_input(bench_entrant *e, const bench_buffers *b, const bench_entrant *others,
                              int count, bench_spent *spent);

/* Brings the input back where the last run destroyed it. Not collective. */
weft_status bench_entrant_restore(bench_entrant *e, const bench_buffers *b);

/* Leaves the block with a failure whose sentence is the last. Not collective. */
void bench_entrant_leave(bench_entrant *e, weft_status status);

/* Of one that left: whether it cannot do this at all. That is no failure, and trying again changes
 * nothing. */
bool bench_entrant_skipped(const bench_entrant *e);

/* Peak memory of this rank in bytes: the buffers, and growth by planning and the first run. */
double bench_entrant_memory(const bench_entrant *e);

/* Closes the library; others may still use its copy of the input, which goes when the entrant is
 * closed. Collective, both. */
void bench_entrant_retire(bench_entrant *e);
void bench_entrant_close(bench_entrant *e);

#endif
