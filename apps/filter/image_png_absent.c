/* The table of PNG in builds without libpng: such files are known, and refused. */
#include "image_format.h"

const image_format image_format_png = {.name = "PNG",
                                       .library = "libpng",
                                       .endings = {".png", NULL},
                                       .magic = {"\x89PNG\r\n\x1a\n", NULL},
                                       .magic_bytes = 8};
