/*
 * Small files kept from one process to the next: FFTW's wisdom, compiled kernels, what was
 * measured. The folder is
 * WEFT_WISDOM_DIR, else XDG_CACHE_HOME/weft, else HOME/.cache/weft; an empty WEFT_WISDOM_DIR turns
 * the files off. All is best effort: what is not there is made again.
 */
#ifndef WEFT_SUPPORT_CACHE_FILE_H
#define WEFT_SUPPORT_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { WEFT_PATH_BYTES = 4096 };

/* The path of a file in the folder, which is made if need be; false where there is no folder. */
bool weft_cache_path(const char *name, char path[WEFT_PATH_BYTES]);

/* Replaces the whole file at once, since ranks of one node may write the same file at the same
 * time. False where that fails, with errno. */
bool weft_cache_write(const char *path, const void *data, size_t bytes);

/* Reads a whole file into memory for the caller to free; NULL if it cannot be read. */
void *weft_cache_read(const char *path, size_t *bytes);

/* Write and read content that must not be used if damaged, such as compiled kernels. The file
 * begins with a hash of the rest; a file whose hash does not match is treated as absent. */
void weft_cache_write_hashed(const char *path, const void *data, size_t bytes);
void *weft_cache_read_hashed(const char *path, size_t *bytes);

#endif
