/*
 * The launcher runs as a child whose output goes through pipes, so that nothing of what it says
 * about a death gets out after the one line of ours. The ranks see no difference: a launcher hands
 * their output on through pipes of its own. Standard input and the terminal's signals reach the
 * launcher directly, which stays in this process's group.
 */
#include "watch.h"

#include "support/clock.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const double seconds_to_leave = 10.0; /* then a launcher that was asked to end is killed */

/* What is waited for: these, and then each rank's parent as a pidfd (-1: it ended, has not started
 * yet, or the system has none). */
enum { SIGNALS, REPORTS, OUTPUT, ERRORS, PARENTS };

typedef struct launcher_watch {
    const char *name;
    pid_t launcher;
    int reports_in; /* the end that the ranks' parents write */
    int ranks;
    struct pollfd *waited;
    bool *ended;     /* for each rank: its parent said farewell */
    bool failed;     /* a rank failed with a message, and the launcher may kill the others */
    bool dead;       /* a rank died, and the line is out */
    bool said;       /* something went to standard error */
    int asked;       /* the signal that asked this process to end, or 0 */
    double deadline; /* of a launcher that was asked to end, or 0 */
} launcher_watch;

static bool write_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t put = write(fd, bytes, count);
        if (put < 0 && errno == EAGAIN) (void)poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1);
        if (put < 0 && errno != EINTR && errno != EAGAIN) return false;
        if (put < 0) continue;
        bytes += put;
        count -= (size_t)put;
    }
    return true;
}

/* Passes on what the launcher and the ranks have written so far; once a rank died, drops it. */
static void relay(launcher_watch *w) {
    char bytes[1 << 16];
    for (int stream = OUTPUT; stream <= ERRORS; stream++) {
        int *from = &w->waited[stream].fd;
        while (*from >= 0) {
            ssize_t got = read(*from, bytes, sizeof bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && errno == EAGAIN) break;
            if (got > 0 && !w->dead) {
                (void)write_all(stream == OUTPUT ? STDOUT_FILENO : STDERR_FILENO, bytes,
                                (size_t)got);
                w->said = w->said || stream == ERRORS;
            }
            if (got > 0) continue;
            close(*from);
            *from = -1;
        }
    }
}

static void end_launcher(launcher_watch *w, int number) {
    kill(w->launcher, number);
    if (w->deadline == 0.0) w->deadline = weft_clock() + seconds_to_leave;
}

static void say_death(launcher_watch *w, const rank_report *report) {
    if (w->dead || w->failed || w->asked != 0) return;
    watch_print_death(report);
    w->dead = true;
    end_launcher(w, SIGTERM);
}

static void take_reports(launcher_watch *w) {
    rank_report report;
    while (read(w->waited[REPORTS].fd, &report, sizeof report) == (ssize_t)sizeof report) {
        if (report.rank < 0 || report.rank >= w->ranks) continue;
        switch (report.event) {
        case RANK_STARTED:
            w->waited[PARENTS + report.rank].fd = (int)syscall(SYS_pidfd_open, report.pid, 0);
            break;
        case RANK_ENDED:
            w->ended[report.rank] = true;
            break;
        case RANK_FAILED:
            w->ended[report.rank] = true;
            w->failed = true;
            break;
        case RANK_DIED:
            w->ended[report.rank] = true;
            /* Its parent waits, so all that has come until now is the ranks' own. */
            relay(w);
            say_death(w, &report);
            break;
        }
    }
}

/* A rank's parent that ended without a word was killed, and its rank with it. What the launcher
 * says of it may have come already and is dropped. */
static void look_for_killed_parents(launcher_watch *w) {
    for (int rank = 0; rank < w->ranks; rank++) {
        struct pollfd *parent = &w->waited[PARENTS + rank];
        if (parent->fd < 0 || parent->revents == 0) continue;
        close(parent->fd);
        parent->fd = -1;
        if (!w->ended[rank]) say_death(w, &(rank_report){RANK_DIED, rank, 0, SIGKILL});
    }
}

/* Returns whether the launcher ended, with *status as from waitpid. */
static bool take_signals(launcher_watch *w, int *status) {
    struct signalfd_siginfo info;
    bool ended = false;
    while (read(w->waited[SIGNALS].fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int number = (int)info.ssi_signo;
        if (number == SIGCHLD) {
            ended = ended || waitpid(w->launcher, status, WNOHANG) == w->launcher;
            continue;
        }
        if (w->asked == 0) w->asked = number;
        /* What a terminal sends, the launcher got as well, and twice would hurry it. */
        end_launcher(w, info.ssi_code == SI_KERNEL ? 0 : number);
    }
    return ended;
}

static int wait_for_end(launcher_watch *w) {
    int status = 0;
    bool ended = false;
    while (!ended) {
        (void)poll(w->waited, (nfds_t)(PARENTS + w->ranks), w->deadline > 0.0 ? 1000 : -1);
        if (w->deadline > 0.0 && weft_clock() > w->deadline) kill(w->launcher, SIGKILL);
        take_reports(w);
        look_for_killed_parents(w);
        relay(w);
        ended = take_signals(w, &status);
    }
    take_reports(w);
    relay(w);
    return status;
}

/* The exit status of the run, after a line where nobody has said yet what went wrong. */
static int judge(const launcher_watch *w, int status) {
    if (w->dead || w->asked != 0) return 1;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    bool known = code == 0 || w->said;
    for (int rank = 0; rank < w->ranks; rank++) known = known || w->ended[rank];
    if (known && code <= 2) return code;
    fprintf(stderr,
            "weft: %s ended with status %d before all processes had; start it yourself to see what "
            "it says\n",
            w->name, code);
    return 1;
}

/* In the child: never returns. The terminal's signals and its input stay as they are. */
static _Noreturn void become_launcher(const char *const *line, const int output[2], int failure,
                                      const sigset_t *before, pid_t parent) {
    sigprocmask(SIG_SETMASK, before, NULL);
    /* A launcher whose watcher is killed must end its ranks. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(output[0], STDOUT_FILENO) >= 0 &&
        dup2(output[1], STDERR_FILENO) >= 0)
        execvp(line[0], (char *const *)(uintptr_t)line);
    int code = errno;
    (void)write_all(failure, (const char *)&code, sizeof code);
    _exit(1);
}

/* Forks the launcher. Returns 0, or what errno said. */
static int start(launcher_watch *w, const char *const *line, const sigset_t *before) {
    int pipes[3][2], code = 0; /* output, errors, and what errno says if it cannot be started */
    pid_t self = getpid();
    for (int p = 0; p < 3; p++)
        if (pipe2(pipes[p], O_CLOEXEC) != 0) return errno;
    fflush(stdout);
    w->launcher = fork();
    if (w->launcher == 0)
        become_launcher(line, (int[2]){pipes[0][1], pipes[1][1]}, pipes[2][1], before, self);
    if (w->launcher < 0) code = errno;
    for (int p = 0; p < 3; p++) close(pipes[p][1]);
    for (int p = 0; p < 2; p++) {
        fcntl(pipes[p][0], F_SETFL, O_NONBLOCK);
        w->waited[OUTPUT + p].fd = pipes[p][0];
    }
    if (code == 0 && read(pipes[2][0], &code, sizeof code) == (ssize_t)sizeof code)
        waitpid(w->launcher, NULL, 0);
    close(pipes[2][0]);
    return code;
}

/* The pipe that the ranks' parents find by the environment. */
static int open_reports(launcher_watch *w) {
    int ends[2];
    struct stat found;
    char name[96];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    w->waited[REPORTS].fd = ends[0];
    w->reports_in = ends[1];
    if (fstat(ends[1], &found) != 0) return errno;
    snprintf(name, sizeof name, "/proc/%ld/fd/%d %llu", (long)getpid(), ends[1],
             (unsigned long long)found.st_ino);
    return setenv(WATCH_VARIABLE, name, 1) == 0 ? 0 : errno;
}

static int prepare(launcher_watch *w, const sigset_t *signals) {
    w->ended = calloc((size_t)w->ranks, sizeof *w->ended);
    w->waited = calloc((size_t)w->ranks + PARENTS, sizeof *w->waited);
    if (w->ended == NULL || w->waited == NULL) return ENOMEM;
    for (int i = 0; i < w->ranks + PARENTS; i++) w->waited[i] = (struct pollfd){-1, POLLIN, 0};
    w->waited[SIGNALS].fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return w->waited[SIGNALS].fd < 0 ? errno : open_reports(w);
}

static void release(launcher_watch *w) {
    for (int i = 0; w->waited != NULL && i < w->ranks + PARENTS; i++)
        if (w->waited[i].fd >= 0) close(w->waited[i].fd);
    if (w->reports_in >= 0) close(w->reports_in);
    free(w->waited);
    free(w->ended);
}

weft_status watch_launcher(const char *const *line, int ranks, int *exit_status) {
    static const int taken[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t signals, before;
    launcher_watch w = {.name = line[0], .ranks = ranks, .reports_in = -1};
    sigemptyset(&signals);
    signal(SIGCHLD, SIG_DFL);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!watch_ignored(taken[i])) sigaddset(&signals, taken[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    int code = prepare(&w, &signals);
    if (code == 0) code = start(&w, line, &before);
    if (code == 0) {
        int status = wait_for_end(&w);
        *exit_status = judge(&w, status);
        if (w.asked != 0 && !w.dead) raise(w.asked); /* which ends this process, below */
    }
    release(&w);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (code == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "cannot start %s: %s; start mpirun yourself", line[0],
                     strerror(code));
}
