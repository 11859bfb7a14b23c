/* mpirun is the one that CMake found beside the MPI library; how to call it depends on whose MPI it
 * is. */
#include "launch.h"

#include "io/array.h"
#include "support/error.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **launch_arguments;

/* Set for the processes that launch_ranks starts, where its own stderr is a terminal. */
static const char TERMINAL[] = "WEFT_LAUNCHED_ON_TERMINAL";

/* hwloc, through which MPI looks at the machine, is to do without its parts that load OpenCL's
 * compilers and open displays. */
#define HWLOC_SETTING "HWLOC_PLUGINS_BLACKLIST"
#define HWLOC_WITHOUT "hwloc_opencl.so,hwloc_gl.so"

int launch_rank_hint(void) {
#ifdef WEFT_ALONE
    return -1; /* a launcher of MPI would start processes that do not know of each other */
#endif
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL) return atoi(value);
    }
    return -1;
}

int launch_ranks_hint(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names && launch_rank_hint() >= 0; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && atoi(value) > 0) return atoi(value);
    }
    return 1;
}

bool launch_on_terminal(void) {
    return isatty(STDERR_FILENO) || (launch_rank_hint() >= 0 && getenv(TERMINAL) != NULL);
}

void launch_self(char *path, size_t capacity) {
    ssize_t length = readlink("/proc/self/exe", path, capacity - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* Flags between mpirun and -n. */
static int add_launcher_flags(const char **line, int ranks, int threads) {
    int count = 0;
#ifdef OPEN_MPI
    line[count++] = "--oversubscribe";
    if (geteuid() == 0) line[count++] = "--allow-run-as-root";
    /* Open MPI binds one or two processes to a core each, which is wrong for threads and for more
     * processes than cores. */
    if (threads > 1 || (long)ranks > sysconf(_SC_NPROCESSORS_ONLN)) {
        line[count++] = "--bind-to";
        line[count++] = "none";
    }
    line[count++] = "-q"; /* weft says itself what went wrong */
#else
    (void)line;
    (void)ranks;
    (void)threads;
#endif
    return count;
}

weft_status launch_ranks(int ranks, int threads, char **arguments) {
    enum { LAUNCHER_WORDS = 12 };
    if (ranks <= 1 || launch_rank_hint() >= 0) return WEFT_SUCCESS;
#ifdef WEFT_ALONE
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "--ranks %d: this build has no MPI, which starts processes; drop --ranks, or "
                     "install MPI and build again",
                     ranks);
#endif
    size_t words = 0;
    while (arguments[words] != NULL) words++;
    const char **line = calloc(words + LAUNCHER_WORDS, sizeof *line);
    if (line == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to start %d processes", ranks);
    char number[16], self[4096];
    launch_self(self, sizeof self);
    snprintf(number, sizeof number, "%d", ranks);
    int count = 0;
    line[count++] = WEFT_MPIEXEC;
    count += add_launcher_flags(line + count, ranks, threads);
    line[count++] = "-n";
    line[count++] = number;
    line[count++] = self[0] != '\0' ? self : arguments[0];
    for (size_t w = 1; w < words; w++) line[count++] = arguments[w];
    int code = 1;
    if (launch_on_terminal()) setenv(TERMINAL, "1", 1); /* what it starts has pipes to it */
    setenv(HWLOC_SETTING, HWLOC_WITHOUT, 0);
    weft_status status = watch_launcher(line, ranks, &code);
    free(line);
    if (status == WEFT_SUCCESS) exit(code);
    return status;
}

/* Initializes MPI. For a process that no launcher has started, Open MPI would search for networks,
 * start a daemon and load OpenCL, which takes longer than all else that a short command does. What
 * the user has set stays, and processes that this one starts get nothing of it. */
static bool initialize_mpi(int wanted) {
    static const char *const setting[][2] = {{"OMPI_MCA_pml", "ob1"},
                                             {"OMPI_MCA_ess_singleton_isolated", "1"},
                                             {HWLOC_SETTING, HWLOC_WITHOUT}};
    enum { SETTINGS = sizeof setting / sizeof *setting };
    bool set[SETTINGS] = {false};
    int provided;
    for (int i = 0; i < SETTINGS && launch_rank_hint() < 0; i++)
        set[i] = getenv(setting[i][0]) == NULL && setenv(setting[i][0], setting[i][1], 1) == 0;
    const int code = MPI_Init_thread(NULL, NULL, wanted, &provided);
    for (int i = 0; i < SETTINGS; i++)
        if (set[i]) unsetenv(setting[i][0]);
    return code == MPI_SUCCESS;
}

weft_status world_join(command_world *world, int ranks, bool threads_send) {
    if (!initialize_mpi(threads_send ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED))
        return weft_fail(WEFT_ERROR_TRANSPORT, "MPI cannot be initialized");
    world->joined = true;
    world->comm = MPI_COMM_WORLD;
    MPI_Comm_rank(world->comm, &world->rank);
    MPI_Comm_size(world->comm, &world->ranks);
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    if (ranks > 0 && ranks != world->ranks)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--ranks %d differs from the %d processes that were started; drop --ranks",
                         ranks, world->ranks);
    return WEFT_SUCCESS;
}

static int exit_status(weft_status status) {
    switch (status) {
    case WEFT_SUCCESS:
        return 0;
    case WEFT_ERROR_INVALID_ARGUMENT:
    case WEFT_ERROR_MISMATCH:
    case WEFT_ERROR_UNSUPPORTED:
        return 2;
    default:
        return 1;
    }
}

int world_leave(command_world *world, weft_status status) {
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    for (char *c = sentence; *c != '\0'; c++)
        if (*c == '\n') *c = ' ';
    /* Joining late, to fail: a process that leaves without MPI makes launchers kill the one that
     * would print. */
    if (status != WEFT_SUCCESS && !world->joined && launch_rank_hint() >= 0)
        (void)world_join(world, 0, false);
    if (status != WEFT_SUCCESS && world->rank == 0) {
        fflush(stdout);
        fprintf(stderr, "weft: %s\n", sentence[0] != '\0' ? sentence : weft_status_name(status));
        fflush(stderr);
    }
    if (world->joined) {
        fflush(stdout);
        MPI_Barrier(world->comm); /* no process may be missed before the message is out */
        if (!weft_array_may_finalize()) _exit(exit_status(status));
        MPI_Finalize();
    }
    return exit_status(status);
}
