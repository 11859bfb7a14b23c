/* weft live in builds without libmicrohttpd. */
#include "launch.h"
#include "options.h"
#include "support/error.h"

static int live_main(int argc, char **argv, int ranks) {
    command_world alone = {.ranks = 1};
    (void)argc;
    (void)argv;
    (void)ranks;
    return world_leave(&alone, weft_fail(WEFT_ERROR_UNSUPPORTED,
                                         "live: this build has no libmicrohttpd; install its "
                                         "headers and build again"));
}

const subcommand live_command = {
    .name = "live",
    .arguments = "FILE",
    .summary = "Shows a picture beside its spectrum in the browser (not in this build).",
    .run = live_main,
};
