/* The table of JPEG in builds without libjpeg: such files are known, and refused. */
#include "image_format.h"

const image_format image_format_jpeg = {.name = "JPEG",
                                        .library = "libjpeg",
                                        .endings = {".jpg", ".jpeg", NULL},
                                        .magic = {"\xff\xd8\xff", NULL},
                                        .magic_bytes = 3};
