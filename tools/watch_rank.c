/*
 * The parent of a rank's process. It is forked before MPI or a device is touched, and does nothing
 * but wait. Signals are blocked and taken one by one, in the order of their numbers, so a
 * launcher's SIGTERM is seen before the end of the child that it ended.
 */
#include "watch.h"

#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_TO_LEAVE = 3 };

typedef struct rank_watch {
    pid_t child, launcher;
    int pipe; /* to watch_launcher, or -1 */
    int rank;
    bool asked;   /* the run was asked to end, so an end by signal is no news */
    int patience; /* seconds left of SECONDS_TO_LEAVE */
} rank_watch;

void watch_print_death(const rank_report *report) {
    char line[512];
    int status = report->wait_status, length;
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        const char *guess =
            number == SIGKILL  ? "; memory may have run out: use a machine with more, more nodes, "
                                 "or a smaller array"
            : number == SIGBUS ? "; shared memory may have run out: use another --exchange than "
                                 "peer, or a smaller array"
                               : "";
        length = snprintf(line, sizeof line, "weft: rank %d was killed by signal %d (%s)%s\n",
                          report->rank, number, strsignal(number), guess);
    } else {
        length = snprintf(line, sizeof line, "weft: rank %d ended early, with exit status %d\n",
                          report->rank, WEXITSTATUS(status));
    }
    /* In one write, so that the lines of several processes do not mix. */
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

bool watch_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static int open_pipe(void) {
    char path[64];
    unsigned long long inode = 0;
    struct stat found;
    const char *name = getenv(WATCH_VARIABLE);
    if (name == NULL || sscanf(name, "%63s %llu", path, &inode) != 2) return -1;
    /* Looked at first: to open something else might wait. */
    if (stat(path, &found) != 0 || !S_ISFIFO(found.st_mode) || found.st_ino != inode) return -1;
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

static bool tell(const rank_watch *w, rank_event event, int status) {
    rank_report report = {.rank = w->rank, .pid = getpid(), .wait_status = status, .event = event};
    return w->pipe >= 0 && write(w->pipe, &report, sizeof report) == (ssize_t)sizeof report;
}

/* Takes the next signal, or 0 after a second without one. */
static int next_signal(const sigset_t *signals) {
    int number = sigtimedwait(signals, NULL, &(struct timespec){.tv_sec = 1});
    return number < 0 ? 0 : number;
}

static void ask_to_end(rank_watch *w, int number) {
    kill(w->child, number);
    kill(w->child, SIGCONT); /* it may be stopped */
    if (!w->asked) w->patience = SECONDS_TO_LEAVE;
    w->asked = true;
}

/* Once a second: ends the child if the launcher died without ending it, or if it does not leave. */
static void look_around(rank_watch *w) {
    if (!w->asked && getppid() != w->launcher) ask_to_end(w, SIGTERM);
    if (w->asked && w->patience-- <= 0) kill(w->child, SIGKILL);
}

static _Noreturn void leave(rank_watch *w, int status, const sigset_t *signals) {
    bool died = WIFSIGNALED(status) || WEXITSTATUS(status) > 2;
    if (!died || w->asked) {
        (void)tell(w, status == 0 || w->asked ? RANK_ENDED : RANK_FAILED, status);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    rank_report report = {.event = RANK_DIED, .rank = w->rank, .wait_status = status};
    if (!tell(w, RANK_DIED, status)) {
        watch_print_death(&report);
        _exit(1);
    }
    /* The launcher hears of it only once the line is out: watch_launcher ends it then. */
    for (int second = 0; second < SECONDS_TO_LEAVE; second++) {
        int number = next_signal(signals);
        if (number != 0 && number != SIGCHLD) break;
    }
    _exit(1);
}

static _Noreturn void watch(rank_watch *w, const sigset_t *signals) {
    (void)tell(w, RANK_STARTED, 0);
    for (;;) {
        int status, number = next_signal(signals);
        switch (number) {
        case 0:
            look_around(w);
            break;
        case SIGCHLD:
            if (waitpid(w->child, &status, WNOHANG) == w->child) leave(w, status, signals);
            break;
        case SIGUSR1:
        case SIGUSR2:
            kill(w->child, number);
            break;
        default:
            ask_to_end(w, number);
        }
    }
}

void watch_rank(void) {
    static const int taken[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    sigset_t signals, before;
    rank_watch w = {.launcher = getppid(), .pipe = open_pipe(), .rank = launch_rank_hint()};
    unsetenv(WATCH_VARIABLE);
    sigemptyset(&signals);
    signal(SIGCHLD, SIG_DFL);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!watch_ignored(taken[i])) sigaddset(&signals, taken[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t self = getpid();
    w.child = fork();
    if (w.child > 0) {
        prctl(PR_SET_NAME, "weft-watch");
        watch(&w, &signals);
    }
    if (w.child == 0) {
        /* Launchers kill whole groups, some without a warning. A rank in a group of its own is
         * ended by its parent, or, as soon as that is killed, by SIGTERM, so that it can remove its
         * output. */
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != self) _exit(1);
    }
    /* Where no process can be forked the rank works without a watch. */
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (w.pipe >= 0) close(w.pipe);
}
