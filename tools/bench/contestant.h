/*
 * A contestant: one library in one configuration on a problem, behind the few calls that the
 * benchmark makes. One file each, and one line in contestants.def.
 *
 * describe, plan, then run any number of times, close. Contestants share the harness's input and
 * output buffers. Every call is collective and gives the same status on all ranks; a configuration
 * that the library cannot do is WEFT_ERROR_UNSUPPORTED or WEFT_ERROR_INVALID_ARGUMENT from describe
 * or plan, with the reason in weft_last_error(NULL), and is skipped.
 */
#ifndef WEFT_BENCH_CONTESTANT_H
#define WEFT_BENCH_CONTESTANT_H

#include "bench/problem.h"

#include <jansson.h>
#include <math.h>

typedef struct bench_contestant bench_contestant;

typedef struct bench_contestant_ops {
    const char *library;
    /* Fills version, columns, shares, bytes and flags. `cell` is the JSON object of the cell. */
    weft_status (*describe)(bench_contestant *c, const bench_problem *p, const json_t *cell);
    /* Makes it ready to run between these buffers, or others aligned alike; overwrites them. NULL:
     * describe did that. */
    weft_status (*plan)(bench_contestant *c, void *in, void *out);
    /* One transform; returns when it is done on this rank. Sets what it can tell in c->phases,
     * which the caller has set to bench_no_phases. */
    weft_status (*run)(bench_contestant *c, void *in, void *out);
    /* Sets phases of the last run that take time to ask for, outside the time that is measured.
     * NULL: run has set all. */
    weft_status (*tell)(bench_contestant *c);
    /* Where data lives elsewhere (on a device, in another process): brings the input there, and the
     * output back. NULL: run works on the buffers themselves. */
    weft_status (*load)(bench_contestant *c, const void *in);
    weft_status (*store)(bench_contestant *c, void *out);
    void (*close)(bench_contestant *c); /* also after a failed describe or plan */
} bench_contestant_ops;

/* Seconds of one run on this rank; NaN where the library does not tell. */
typedef struct bench_phases {
    double total; /* 0: the harness takes the time around run */
    double fft, pack, exchange, unpack, copy, local, first_message, last_message;
    double bytes_sent;
} bench_phases;

/* Before a run: the library has told nothing. */
static const bench_phases bench_no_phases = {.fft = NAN,
                                             .pack = NAN,
                                             .exchange = NAN,
                                             .unpack = NAN,
                                             .copy = NAN,
                                             .local = NAN,
                                             .first_message = NAN,
                                             .last_message = NAN,
                                             .bytes_sent = NAN};

struct bench_contestant {
    const bench_contestant_ops *ops;
    const bench_problem *problem;
    /* Columns of the table; "" where they mean nothing. */
    char version[48], device[16], grid[32], strategy[16], variant[16], exchange[2][16], aware[8],
        engine[16];
    bench_share in, out;
    size_t in_bytes, out_bytes; /* what this rank's buffers must hold */
    size_t held_bytes;          /* what it holds besides, where it tells; else 0 */
    bool destroys_input;
    bool only_computes; /* a run is nothing but local transforms: all its time is phase fft */
    bool quiet_wait;    /* other processes run it: ranks sleep while they wait for it */
    double own_error;   /* a library outside this process tells its own error; NaN: checked here */
    double own_memory;  /* and its own peak memory in bytes; NaN: measured here */
    bench_phases phases;
    void *state;
};

#endif
