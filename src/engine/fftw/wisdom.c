/* Reads and writes the file of FFTW wisdom. */
#include "engine/fftw/wisdom.h"

#include "support/cache_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wisdom_file(const weft_fftw_library *library, weft_precision precision,
                        char file[WEFT_PATH_BYTES]) {
    char name[256];
    snprintf(name, sizeof name, "%.200s-%s.wisdom", library->version,
             precision == WEFT_SINGLE ? "single" : "double");
    return weft_cache_path(name, file);
}

void weft_fftw_wisdom_import(const weft_fftw_library *library, weft_precision precision) {
    static bool imported[2];
    bool *done = &imported[precision == WEFT_SINGLE];
    char file[WEFT_PATH_BYTES];
    if (*done) return;
    *done = true;
    if (wisdom_file(library, precision, file)) library->import_wisdom(file);
}

void weft_fftw_wisdom_export(const weft_fftw_library *library, weft_precision precision) {
    char file[WEFT_PATH_BYTES];
    if (!wisdom_file(library, precision, file)) return;
    char *wisdom = library->export_wisdom();
    if (!wisdom) return;
    weft_cache_write(file, wisdom, strlen(wisdom));
    free(wisdom);
}
