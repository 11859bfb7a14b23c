/* The table of TIFF in builds without libtiff: such files are known, and refused. */
#include "image_format.h"

const image_format image_format_tiff = {.name = "TIFF",
                                        .library = "libtiff",
                                        .endings = {".tif", ".tiff", NULL},
                                        .magic = {"II*", "MM", NULL},
                                        .magic_bytes = 3,
                                        .wide = true,
                                        .alpha = true};
