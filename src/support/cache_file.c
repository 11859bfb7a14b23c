/* Reads and replaces files in the user's cache folder. */
#include "support/cache_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/hash.h"

static bool cache_folder(char folder[WEFT_PATH_BYTES]) {
    const char *own = getenv("WEFT_WISDOM_DIR");
    if (own) {
        if (!own[0] || snprintf(folder, WEFT_PATH_BYTES, "%s", own) >= WEFT_PATH_BYTES)
            return false;
        mkdir(folder, 0777);
        return true;
    }
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char parent[WEFT_PATH_BYTES - 8];
    int length;
    if (cache && cache[0])
        length = snprintf(parent, sizeof parent, "%s", cache);
    else if (home && home[0])
        length = snprintf(parent, sizeof parent, "%s/.cache", home);
    else
        return false;
    if (length >= (int)sizeof parent) return false;
    mkdir(parent, 0700);
    snprintf(folder, WEFT_PATH_BYTES, "%s/weft", parent);
    mkdir(folder, 0777);
    return true;
}

bool weft_cache_path(const char *name, char path[WEFT_PATH_BYTES]) {
    char folder[WEFT_PATH_BYTES];
    if (!cache_folder(folder)) return false;
    return snprintf(path, WEFT_PATH_BYTES, "%s/%s", folder, name) < WEFT_PATH_BYTES;
}

bool weft_cache_write(const char *path, const void *data, size_t bytes) {
    char temporary[WEFT_PATH_BYTES + 8];
    /* A rename replaces the whole file at once; the last writer wins. */
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int descriptor = mkstemp(temporary);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    bool written = stream && fwrite(data, 1, bytes, stream) == bytes;
    if (stream)
        written = fclose(stream) == 0 && written;
    else if (descriptor >= 0)
        close(descriptor);
    written = written && rename(temporary, path) == 0;
    const int reason = errno;
    if (!written && descriptor >= 0) unlink(temporary);
    errno = reason;
    return written;
}

void *weft_cache_read(const char *path, size_t *bytes) {
    FILE *stream = fopen(path, "rb");
    struct stat about;
    if (!stream) return NULL;
    char *data = NULL;
    if (fstat(fileno(stream), &about) == 0 && about.st_size > 0)
        data = malloc((size_t)about.st_size);
    if (data && fread(data, 1, (size_t)about.st_size, stream) != (size_t)about.st_size) {
        free(data);
        data = NULL;
    }
    fclose(stream);
    if (data) *bytes = (size_t)about.st_size;
    return data;
}

void weft_cache_write_hashed(const char *path, const void *data, size_t bytes) {
    uint64_t hash = weft_hash_bytes(WEFT_HASH_OF_NOTHING, data, bytes);
    char *file = malloc(sizeof hash + bytes);
    if (!file) return;
    memcpy(file, &hash, sizeof hash);
    memcpy(file + sizeof hash, data, bytes);
    weft_cache_write(path, file, sizeof hash + bytes);
    free(file);
}

void *weft_cache_read_hashed(const char *path, size_t *bytes) {
    size_t all = 0;
    uint64_t hash;
    char *file = weft_cache_read(path, &all);
    if (!file) return NULL;
    if (all > sizeof hash) {
        memcpy(&hash, file, sizeof hash);
        *bytes = all - sizeof hash;
        if (hash == weft_hash_bytes(WEFT_HASH_OF_NOTHING, file + sizeof hash, *bytes)) {
            memmove(file, file + sizeof hash, *bytes);
            return file;
        }
    }
    free(file);
    return NULL;
}
