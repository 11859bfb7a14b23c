/* Reads and writes the file of FFTW wisdom. */
#include "engine/fftw/wisdom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* The folder that keeps wisdom, made if need be; false where there is none. */
static bool wisdom_folder(char folder[PATH_BYTES]) {
    const char *own = getenv("WEFT_WISDOM_DIR");
    if (own) {
        if (!own[0] || snprintf(folder, PATH_BYTES, "%s", own) >= PATH_BYTES) return false;
        mkdir(folder, 0777);
        return true;
    }
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char parent[PATH_BYTES - 8];
    int length;
    if (cache && cache[0])
        length = snprintf(parent, sizeof parent, "%s", cache);
    else if (home && home[0])
        length = snprintf(parent, sizeof parent, "%s/.cache", home);
    else
        return false;
    if (length >= (int)sizeof parent) return false;
    mkdir(parent, 0700);
    snprintf(folder, PATH_BYTES, "%s/weft", parent);
    mkdir(folder, 0777);
    return true;
}

static bool wisdom_file(const weft_fftw_library *library, weft_precision precision,
                        char file[PATH_BYTES]) {
    char folder[PATH_BYTES];
    if (!wisdom_folder(folder)) return false;
    return snprintf(file, PATH_BYTES, "%s/%s-%s.wisdom", folder, library->version,
                    precision == WEFT_SINGLE ? "single" : "double") < PATH_BYTES;
}

void weft_fftw_wisdom_import(const weft_fftw_library *library, weft_precision precision) {
    static bool imported[2];
    bool *done = &imported[precision == WEFT_SINGLE];
    char file[PATH_BYTES];
    if (*done) return;
    *done = true;
    if (wisdom_file(library, precision, file)) library->import_wisdom(file);
}

void weft_fftw_wisdom_export(const weft_fftw_library *library, weft_precision precision) {
    char file[PATH_BYTES], temporary[PATH_BYTES + 8];
    if (!wisdom_file(library, precision, file)) return;
    char *wisdom = library->export_wisdom();
    if (!wisdom) return;
    /* Ranks of one node write the same file: a rename puts a whole one in place whoever comes last.
     */
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", file);
    int descriptor = mkstemp(temporary);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (stream) {
        bool written = fputs(wisdom, stream) >= 0;
        written = fclose(stream) == 0 && written;
        if (!written || rename(temporary, file) != 0) unlink(temporary);
    } else if (descriptor >= 0) {
        close(descriptor);
        unlink(temporary);
    }
    free(wisdom);
}
