/*
 * A program that answers lines with lines: started with its standard input and output as pipes, in
 * a process group of its own and without what an MPI launcher told this process, so that it may
 * start MPI processes itself.
 */
#ifndef WEFT_BENCH_LINE_PROGRAM_H
#define WEFT_BENCH_LINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { LINE_BYTES = 1024 };

typedef struct line_program {
    pid_t pid;    /* 0: none runs */
    int to, from; /* its standard input and output */
    char held[LINE_BYTES];
    size_t held_bytes; /* read, and not yet part of a line */
    int status;        /* of waitpid, once it has ended */
} line_program;

typedef enum line_result {
    LINE_READ,
    LINE_ENDED, /* the program closed its output; it is gone now, and status tells how */
    LINE_LATE,
    LINE_TOO_LONG
} line_result;

/* Starts argv[0], looked up in PATH. Returns 0, or the errno that says why not. */
int line_program_start(line_program *program, char *const *argv);

/* Sends an empty line; false where nobody reads any more. */
bool line_program_ask(line_program *program);

/* The next line without its end, within so many seconds. */
line_result line_program_read(line_program *program, double seconds, char line[LINE_BYTES]);

/* Closes its input, waits a few seconds for it to end, then ends it and all its group. */
void line_program_end(line_program *program);

/* Ends it and all its group at once. */
void line_program_kill(line_program *program);

#endif
