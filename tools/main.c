/*
 * The command weft: finds the subcommand and hands over. The subcommands are one file each; what
 * they share is in options.c and shared_flags.c (flags), help.c, launch.c (processes), record.c and
 * report.c (what a run did), progress.c and interrupt.c.
 */
#include "help.h"
#include "launch.h"
#include "options.h"
#include "support/error.h"
#include "watch.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

const subcommand *const subcommands[] = {
    &transform_command,  &convolve_command,       &filter_command,
    &homogenize_command, &microstructure_command, &plan_command,
    &validate_command,   &tune_command,           &wisdom_command,
    &info_command,       &view_command,           &live_command,
    &bench_command,      &plot_command,           &compare_command,
    &manual_command,     &completion_command,     NULL};

/* Reads --ranks P or --ranks=P before the subcommand; moves *at behind it. */
static weft_status take_ranks(int argc, char **argv, int *at, int *ranks) {
    int64_t value = 0;
    const char *text = argv[*at] + strlen("--ranks");
    if (*text == '=') {
        text++;
    } else {
        if (++*at >= argc)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--ranks needs a number of processes");
        text = argv[*at];
    }
    WEFT_TRY(options_integer("ranks", text, 1, &value));
    if (value > INT_MAX)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--ranks %s: more than there can be", text);
    *ranks = (int)value;
    ++*at;
    return WEFT_SUCCESS;
}

int main(int argc, char **argv) {
    int ranks = 0, at = 1;
    weft_status status = WEFT_SUCCESS;
    command_world alone = {.ranks = 1};
    launch_arguments = argv;
    if (launch_rank_hint() >= 0) watch_rank();
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write, not a crash */
    if (at < argc && (strcmp(argv[at], "--ranks") == 0 || strncmp(argv[at], "--ranks=", 8) == 0))
        status = take_ranks(argc, argv, &at, &ranks);
    if (status != WEFT_SUCCESS) return world_leave(&alone, status);
    if (at < argc && (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0 ||
                      strcmp(argv[at], "help") == 0)) {
        if (launch_rank_hint() <= 0) help_print_all();
        return 0;
    }
    if (at < argc && strcmp(argv[at], "--version") == 0) {
        if (launch_rank_hint() <= 0) printf("weft %s\n", weft_version());
        return 0;
    }
    for (int c = 0; at < argc && subcommands[c] != NULL; c++)
        if (strcmp(argv[at], subcommands[c]->name) == 0)
            return subcommands[c]->run(argc - at, argv + at, ranks);
    if (at >= argc)
        status = weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "say what to do: transform, convolve, filter, homogenize, microstructure, plan, "
            "validate, tune, wisdom, info, view, live, bench, plot, compare, manual or completion; "
            "see weft --help");
    else
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s is not a %s of weft; see weft --help",
                           argv[at], argv[at][0] == '-' ? "flag" : "subcommand");
    return world_leave(&alone, status);
}
