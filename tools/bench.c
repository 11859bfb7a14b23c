/*
 * weft bench, weft plot and weft compare. Jobs, their launching, statistics and figures are Python,
 * which this file starts; `weft bench --worker FILE` is one rank of a group of processes that
 * measures.
 */
#include "bench/worker.h"
#include "launch.h"
#include "options.h"
#include "support/error.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The flags, which Python reads, for pages and completions. */
#include "python_flags.inc"

static const char install_hint[] =
    "install the Debian packages python3, python3-jsonschema, python3-numpy, python3-pandas, "
    "python3-scipy and python3-matplotlib, or name an interpreter in WEFT_PYTHON";

static weft_status set_variable(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the environment of Python");
    return WEFT_SUCCESS;
}

/* The folder that holds the Python package: of an installed command beside it, else the source's.
 */
static void find_package(const char *self, char folder[PATH_MAX]) {
    const char *given = getenv("WEFT_PYTHONPATH"), *slash = strrchr(self, '/');
    if (given != NULL && given[0] != '\0') {
        snprintf(folder, PATH_MAX, "%s", given);
        return;
    }
    int length = slash != NULL ? snprintf(folder, PATH_MAX, "%.*s/../share/weft/python",
                                          (int)(slash - self), self)
                               : PATH_MAX;
    if (length >= PATH_MAX || access(folder, R_OK) != 0)
        snprintf(folder, PATH_MAX, "%s", WEFT_SOURCE_PYTHON);
}

static weft_status set_environment(void) {
    char self[PATH_MAX], folder[PATH_MAX], path[2 * PATH_MAX];
    const char *before = getenv("PYTHONPATH");
    launch_self(self, sizeof self);
    find_package(self, folder);
    int length = snprintf(path, sizeof path, "%s%s%s", folder, before != NULL ? ":" : "",
                          before != NULL ? before : "");
    if (length >= (int)sizeof path)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "PYTHONPATH is too long; shorten it");
    WEFT_TRY(set_variable("PYTHONPATH", path));
    WEFT_TRY(set_variable("WEFT_COMMAND", self[0] != '\0' ? self : launch_arguments[0]));
    WEFT_TRY(set_variable("WEFT_MPIEXEC", WEFT_MPIEXEC));
#ifdef OPEN_MPI
    return set_variable("WEFT_MPI", "openmpi");
#else
    return set_variable("WEFT_MPI", "mpich");
#endif
}

/* Replaces this process by `python -m module` with all arguments after argv[0]; returns only where
 * that fails. */
static weft_status start_python(const char *module, int argc, char **argv) {
    const char *given = getenv("WEFT_PYTHON");
    bool own = given != NULL && given[0] != '\0';
    const char *candidates[] = {own ? given : WEFT_PYTHON, own ? "" : "python3"};
    const char **line = calloc((size_t)argc + 3, sizeof *line);
    int code = ENOENT, count = 1;
    if (line == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to start Python");
    line[count++] = "-m";
    line[count++] = module;
    for (int a = 1; a < argc; a++) line[count++] = argv[a];
    for (int c = 0; c < 2; c++) {
        if (candidates[c][0] == '\0') continue;
        line[0] = candidates[c];
        execvp(line[0], (char *const *)(uintptr_t)line);
        code = errno;
    }
    free(line);
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "cannot start %s: %s; %s", own ? given : "python3",
                     strerror(code), install_hint);
}

static weft_status hand_over(const char *module, int argc, char **argv, int ranks) {
    if (launch_rank_hint() >= 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s is started alone; run it without mpirun",
                         argv[0]);
    if (ranks > 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s is started alone; drop --ranks", argv[0]);
    WEFT_TRY(set_environment());
    return start_python(module, argc, argv);
}

/* One rank of a measuring group. */
static int worker_main(int argc, char **argv, int ranks) {
    command_world world = {.ranks = 1};
    bool sound = true;
    weft_status status = WEFT_SUCCESS;
    if (argc != 3) status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "bench --worker needs one file");
    if (status == WEFT_SUCCESS) status = launch_ranks(ranks, 1, launch_arguments);
    /* p2p-streams sends from a thread. */
    if (status == WEFT_SUCCESS) status = world_join(&world, ranks, true);
    if (status == WEFT_SUCCESS) status = bench_worker(&world, argv[2], &sound);
    int code = world_leave(&world, status);
    return code == 0 && !sound ? 1 : code;
}

/* The module has the name of the subcommand. */
static int python_main(int argc, char **argv, int ranks) {
    command_world alone = {.ranks = 1};
    char module[32];
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("weft %s\n", weft_version());
        return 0;
    }
    snprintf(module, sizeof module, "weft.%s", argv[0]);
    return world_leave(&alone, hand_over(module, argc, argv, ranks));
}

static int bench_main(int argc, char **argv, int ranks) {
    const bool worker = argc > 1 && strcmp(argv[1], "--worker") == 0;
    return worker ? worker_main(argc, argv, ranks) : python_main(argc, argv, ranks);
}

const subcommand bench_command = {
    .name = "bench",
    .arguments = "JOB.json",
    .summary = bench_summary,
    .notes = bench_notes,
    .examples = bench_examples,
    .flags = bench_flags,
    .letters = bench_letters,
    .run = bench_main,
};

const subcommand plot_command = {
    .name = "plot",
    .arguments = "DIR",
    .summary = plot_summary,
    .notes = plot_notes,
    .examples = plot_examples,
    .flags = plot_flags,
    .letters = plot_letters,
    .run = python_main,
};

const subcommand compare_command = {
    .name = "compare",
    .arguments = "",
    .summary = compare_summary,
    .notes = compare_notes,
    .examples = compare_examples,
    .flags = compare_flags,
    .letters = compare_letters,
    .run = python_main,
};
