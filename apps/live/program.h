/* A program that is started for what it writes: ffmpeg and ffprobe. */
#ifndef WEFT_LIVE_PROGRAM_H
#define WEFT_LIVE_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>
#include <weft/weft.h>

/* What live_program_end returns for one that was killed, and, as shells do, for one that is not
 * there.
 */
enum { LIVE_PROGRAM_KILLED = -1, LIVE_PROGRAM_ABSENT = 127 };

typedef struct live_program {
    pid_t pid;      /* 0: none */
    int out, err;   /* pipes from it, or -1 */
    char said[512]; /* the end of what it wrote to stderr */
    size_t said_bytes;
} live_program;

/* Starts line[0], which is looked for in PATH, with the arguments up to a NULL; no shell is
 * involved. It is killed when the thread that started it ends, whatever ends that. */
weft_status live_program_start(const char *const *line, live_program *started);

/* Reads `count` bytes of what it writes to stdout, and keeps the end of what it writes to stderr.
 * Returns fewer once there are no more, or when `stop`, a descriptor, can be read or is closed at
 * its other end. */
size_t live_program_read(live_program *p, int stop, void *bytes, size_t count);

/* Waits until it has ended, for at most `seconds` and as long as `stop` is as above; then kills it
 * and what it has started. Returns its exit status. */
int live_program_end(live_program *p, int stop, double seconds);

/* The last line that it wrote to stderr, "" where there is none. */
void live_program_last_line(const live_program *p, char *line, size_t capacity);

#endif
