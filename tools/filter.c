/*
 * weft filter IN OUT: multiplies the spectrum of a picture, or of an array in a file, by functions
 * of the frequency (apps/filter). Names tell which of the two IN is.
 */
#include "filter/image.h"
#include "filter_run.h"
#include "support/error.h"

static int filter_main(int argc, char **argv, int ranks) {
    filter_flags flags = {.parts = 0};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world alone = {.ranks = 1, .comm = MPI_COMM_NULL};
    weft_status status = options_parse(&filter_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = filter_flags_check(&flags);
    if (status != WEFT_SUCCESS) return world_leave(&alone, status);
    return image_is_named(parsed.positional[0]) ? filter_picture_run(&flags, &shared, &parsed)
                                                : filter_array_run(&flags, &shared, &parsed);
}

const subcommand filter_command = {
    .name = "filter",
    .arguments = "IN OUT",
    .summary = "Filters a picture, or an array in a file, by functions of the frequency.",
    .notes =
        "Pictures: .png, .jpg and .tif, grey or in colours (each filtered alike; alpha stays), 8\n"
        "or 16 bits. Arrays: as weft convolve takes them, over ranks, with --boundary periodic or\n"
        "mirror. Several filters are multiplied. KIND is ideal, butterworth (N: its order, 2) or\n"
        "gaussian (CUTOFF: its width); a notch is ideal unless it says otherwise. Frequencies are\n"
        "in cycles per point, 0 to 0.5, widths in points. In pictures the first number is along "
        "x,\n"
        "to the right, the second along y, downwards, and angles turn counter-clockwise from x;\n"
        "in arrays numbers come in the order of the axes. NOISE is the noise-to-signal ratio.\n"
        "EXPR is a formula of the components u, v (w) and the length f of a frequency.\n"
        "Pictures are computed in single precision, arrays in double or, of f2, f4 and c8, single.",
    .examples = "weft filter photo.png smooth.png --gaussian 6,1.5,30 --boundary mirror\n"
                "weft filter scan.tif clean.tif --notch 0.125,0,0.01 --spectrum spectrum.png",
    .flags = filter_option_flags,
    .shared = true,
    .least = 2,
    .most = 2,
    .run = filter_main,
};
