/* Both pipes are read together, so a program that complains much never waits for a reader. */
#include "program.h"

#include "support/clock.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- start ---- */

/* In the new process. It has a group of its own, so that Ctrl-C in a terminal is weft's alone, and
 * what it starts ends with it. */
static void become(const char *const *line, pid_t parent, int out, int err) {
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(LIVE_PROGRAM_ABSENT);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0)
        execvp(line[0], (char *const *)(uintptr_t)line);
    _exit(LIVE_PROGRAM_ABSENT);
}

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

weft_status live_program_start(const char *const *line, live_program *started) {
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    const pid_t parent = getpid();
    pid_t pid = -1;
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) pid = fork();
    if (pid == 0) become(line, parent, out[1], err[1]);
    const int error = errno;
    close_end(&out[1]);
    close_end(&err[1]);
    if (pid < 0) {
        close_end(&out[0]);
        close_end(&err[0]);
        return weft_fail(WEFT_ERROR_SYSTEM, "%s cannot be started: %s", line[0], strerror(error));
    }
    setpgid(pid, pid); /* whoever of the two comes first */
    *started = (live_program){.pid = pid, .out = out[0], .err = err[0]};
    return WEFT_SUCCESS;
}

/* ---- what it writes ---- */

static void keep_said(live_program *p, const char *bytes, size_t count) {
    const size_t room = sizeof p->said;
    const size_t kept = p->said_bytes < room - count ? p->said_bytes : room - count;
    memmove(p->said, p->said + p->said_bytes - kept, kept);
    memcpy(p->said + kept, bytes, count);
    p->said_bytes = kept + count;
}

static void read_said(live_program *p) {
    char bytes[256];
    const ssize_t got = read(p->err, bytes, sizeof bytes);
    if (got > 0)
        keep_said(p, bytes, (size_t)got);
    else if (got == 0 || errno != EINTR)
        close_end(&p->err);
}

/* Waits until a pipe has something, or is at its end: 1 if it is `out`, which may be negative, 0 if
 * it is stderr, which is read. Less than 0 after so many milliseconds (-1: never), and when `stop`
 * has something. */
static int wait_for_output(live_program *p, int out, int stop, int milliseconds) {
    struct pollfd fds[] = {{.fd = stop, .events = POLLIN},
                           {.fd = out, .events = POLLIN},
                           {.fd = p->err, .events = POLLIN}};
    const int ready = poll(fds, 3, milliseconds);
    if (ready < 0) return errno == EINTR ? 0 : -1;
    if (ready == 0 || fds[0].revents != 0) return -1;
    if (fds[2].revents != 0) read_said(p);
    return fds[1].revents != 0;
}

size_t live_program_read(live_program *p, int stop, void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        const int ready = wait_for_output(p, p->out, stop, -1);
        if (ready < 0) break;
        if (ready == 0) continue;
        const ssize_t got = read(p->out, (char *)bytes + done, count - done);
        if (got == 0 || (got < 0 && errno != EINTR)) break;
        if (got > 0) done += (size_t)got;
    }
    return done;
}

void live_program_last_line(const live_program *p, char *line, size_t capacity) {
    size_t end = p->said_bytes, length = 0;
    while (end > 0 && strchr(" \r\n", p->said[end - 1]) != NULL) end--;
    size_t begin = end;
    while (begin > 0 && p->said[begin - 1] != '\n') begin--;
    for (size_t i = begin; i < end && length + 1 < capacity; i++)
        line[length++] = (unsigned char)p->said[i] < ' ' || p->said[i] == 127 ? '?' : p->said[i];
    line[length] = '\0';
}

/* ---- end ---- */

int live_program_end(live_program *p, int stop, double seconds) {
    int status = 0;
    const double deadline = weft_clock() + seconds;
    /* Its stderr is closed when it has ended, and its exit status is settled then. */
    for (double left = seconds; p->err >= 0 && left > 0; left = deadline - weft_clock())
        if (wait_for_output(p, -1, stop, (int)(1e3 * left) + 1) < 0) break;
    kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
    close_end(&p->out);
    close_end(&p->err);
    p->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : LIVE_PROGRAM_KILLED;
}
