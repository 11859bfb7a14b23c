/* Starting, asking, reading and ending a program, without ever waiting for it longer than told. */
#include "bench/line_program.h"

#include "support/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- environment ---- */

static bool starts_with_one_of(const char *variable, const char *const *prefixes) {
    for (; *prefixes; prefixes++)
        if (strncmp(variable, *prefixes, strlen(*prefixes)) == 0) return true;
    return false;
}

/* Whether a variable speaks of this process among the ranks, and would mislead another launcher. */
static bool is_of_this_rank(const char *variable) {
    static const char *const ranks[] = {"OMPI_",
                                        "PMIX_",
                                        "PMI_",
                                        "PMI2_",
                                        "PRTE_",
                                        "MPI_LOCAL",
                                        "HYDI_",
                                        "SLURM_STEP",
                                        "SLURM_PROCID",
                                        "SLURM_LOCALID",
                                        "SLURM_NODEID",
                                        "SLURM_GTIDS",
                                        "SLURM_TASK_PID",
                                        "SLURM_SRUN_",
                                        "SLURM_LAUNCH_",
                                        "SLURM_CPU_BIND",
                                        "SLURM_MPI_",
                                        "SLURM_PMI",
                                        NULL};
    /* The user's own word on how Open MPI may start. */
    static const char *const kept[] = {"OMPI_ALLOW_RUN_AS_ROOT",
                                       "OMPI_MCA_rmaps_base_oversubscribe", NULL};
    return starts_with_one_of(variable, ranks) && !starts_with_one_of(variable, kept);
}

/* The caller frees the list, not the strings. */
static char **clean_environment(void) {
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!is_of_this_rank(environ[i])) list[kept++] = environ[i];
    return list;
}

/* ---- start ---- */

static int spawn(line_program *program, char *const *argv, const int in[2], const int out[2]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, ordinary;
    char **environment = clean_environment();
    if (!environment) return ENOMEM;
    sigemptyset(&none);
    sigfillset(&ordinary);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &ordinary);
    int error = posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (!error)
        error = posix_spawnp(&program->pid, argv[0], &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return error;
}

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

int line_program_start(line_program *program, char *const *argv) {
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    *program = (line_program){.to = -1, .from = -1};
    int error = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 ? 0 : errno;
    if (!error) error = spawn(program, argv, in, out);
    close_end(&in[0]);
    close_end(&out[1]);
    program->to = in[1];
    program->from = out[0];
    if (!error) return 0;
    program->pid = 0;
    close_end(&program->to);
    close_end(&program->from);
    return error;
}

/* ---- lines ---- */

bool line_program_ask(line_program *program) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    ssize_t written;
    do written = write(program->to, "\n", 1);
    while (written < 0 && errno == EINTR);
    sigaction(SIGPIPE, &before, NULL);
    return written == 1;
}

/* Moves the first line that is held to `line`; false where there is none. */
static bool take_line(line_program *program, char line[LINE_BYTES]) {
    const char *end = memchr(program->held, '\n', program->held_bytes);
    if (!end) return false;
    const size_t length = (size_t)(end - program->held);
    memcpy(line, program->held, length);
    line[length] = '\0';
    program->held_bytes -= length + 1;
    memmove(program->held, end + 1, program->held_bytes);
    return true;
}

/* What stands at the end of the output without the end of a line is no answer. */
static line_result output_ended(line_program *program) {
    line_program_end(program);
    return LINE_ENDED;
}

line_result line_program_read(line_program *program, double seconds, char line[LINE_BYTES]) {
    const double deadline = weft_clock() + seconds;
    if (program->pid == 0) return LINE_ENDED;
    while (!take_line(program, line)) {
        if (program->held_bytes == sizeof program->held) return LINE_TOO_LONG;
        const double left = deadline - weft_clock();
        struct pollfd readable = {.fd = program->from, .events = POLLIN};
        const int ready = left > 0 ? poll(&readable, 1, (int)(1e3 * left) + 1) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) return LINE_LATE;
        const ssize_t got = read(program->from, program->held + program->held_bytes,
                                 sizeof program->held - program->held_bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return output_ended(program);
        program->held_bytes += (size_t)got;
    }
    return LINE_READ;
}

/* ---- end ---- */

static bool has_ended(line_program *program, double seconds) {
    const struct timespec nap = {.tv_nsec = 2000000};
    const double deadline = weft_clock() + seconds;
    for (;;) {
        const pid_t ended = waitpid(program->pid, &program->status, WNOHANG);
        if (ended == program->pid || (ended < 0 && errno == ECHILD)) return true;
        if (weft_clock() > deadline) return false;
        nanosleep(&nap, NULL);
    }
}

/* What is left of the group once the program has ended, such as processes that it started. */
static void end_group(line_program *program) {
    kill(-program->pid, SIGKILL);
    close_end(&program->to);
    close_end(&program->from);
    program->pid = 0;
}

void line_program_kill(line_program *program) {
    if (program->pid == 0) return;
    kill(-program->pid, SIGKILL);
    waitpid(program->pid, &program->status, 0);
    end_group(program);
}

void line_program_end(line_program *program) {
    enum { SECONDS_TO_END = 3, SECONDS_TO_TERMINATE = 2 };
    if (program->pid == 0) return;
    close_end(&program->to);
    if (!has_ended(program, SECONDS_TO_END)) {
        kill(-program->pid, SIGTERM);
        if (!has_ended(program, SECONDS_TO_TERMINATE)) {
            line_program_kill(program);
            return;
        }
    }
    end_group(program);
}
