/* weft live in builds without libmicrohttpd. */
#include "launch.h"
#include "options.h"
#include "support/error.h"

static int live_main(int argc, char **argv, int ranks) {
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world alone = {.ranks = 1};
    weft_status status = options_parse(&live_command, argc, argv, &shared, NULL, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    return world_leave(&alone, weft_fail(WEFT_ERROR_UNSUPPORTED,
                                         "live: this build has no libmicrohttpd; install its "
                                         "headers and build again"));
}

const subcommand live_command = {
    .name = "live",
    .arguments = "FILE",
    .summary = "Shows a picture beside its spectrum in the browser (not in this build).",
    .examples = "weft live photo.png\n"
                "weft live volume.npy",
    .least = 1,
    .most = 1,
    .run = live_main,
};
