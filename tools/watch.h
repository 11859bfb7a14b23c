/*
 * Who died of what: every rank's process is watched by a small parent of its own, and the launcher
 * that `weft --ranks` starts by the process that the user called. So a killed rank is one line that
 * names it, whatever the launcher says of it, and an exit status that is not 0.
 */
#ifndef WEFT_TOOLS_WATCH_H
#define WEFT_TOOLS_WATCH_H

#include <stdbool.h>
#include <sys/types.h>
#include <weft/weft.h>

/* Under a launcher, before anything else is done: forks. The child returns and is the rank; the
 * parent waits for it, passes on signals, and leaves with its exit status. If the child was killed,
 * the parent tells the process in watch_launcher, or, where there is none (a mpirun of the user's,
 * another node), prints the line itself; then it leaves with 1. */
void watch_rank(void);

/* Runs the launcher `line` (as for execvp) until it ends, and passes on what it writes and the
 * signals that this process gets. *exit_status is that of the ranks, or 1 after a line that says
 * what went wrong. Does not return where a signal asked the run to end. Fails where the launcher
 * cannot be started. */
weft_status watch_launcher(const char *const *line, int ranks, int *exit_status);

typedef enum rank_event {
    RANK_STARTED,
    RANK_ENDED,  /* with success, or because the run was asked to end */
    RANK_FAILED, /* by itself and after a message: launchers then end the others */
    RANK_DIED
} rank_event;

/* What a rank's parent writes into the pipe of watch_launcher. */
typedef struct rank_report {
    rank_event event;
    int rank;
    pid_t pid;       /* of the parent */
    int wait_status; /* of a rank that died: as from waitpid */
} rank_report;

/* The environment variable that names that pipe, "PATH INODE": the path says which process on this
 * node holds it, and the number that it is the same pipe, not one of another node. */
#define WATCH_VARIABLE "WEFT_RANK_REPORTS"

/* Whether a signal is ignored, as SIGHUP is after nohup: then it stays so. */
bool watch_ignored(int number);

/* Prints the line on a rank that died. */
void watch_print_death(const rank_report *report);

#endif
