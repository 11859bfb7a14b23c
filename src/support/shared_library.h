/*
 * Libraries opened at run time: what is not part of every system (CUDA, cuFFT), or whose licence is
 * not ours (FFTW), is never linked. A library has a list of file names, newest first, perhaps a
 * variable of the environment that names other folders, and a list of symbols that fill a table of
 * function pointers.
 */
#ifndef WEFT_SUPPORT_SHARED_LIBRARY_H
#define WEFT_SUPPORT_SHARED_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { WEFT_LIBRARY_FILES = 8, WEFT_LIBRARY_REASON_BYTES = 1024 };

typedef struct weft_library_symbol {
    const char *name;
    size_t offset; /* of the function pointer in the table */
} weft_library_symbol;

#define WEFT_LIBRARY_SYMBOL(table, name, member)                                                   \
    { name, offsetof(table, member) }

typedef struct weft_library_files {
    const char *what;                     /* begins the reason: "cuFFT" */
    const char *file[WEFT_LIBRARY_FILES]; /* newest first; NULL ends the list */
    const char *folders;                  /* with colons between; NULL or "": where the loader looks
                                           */
    bool loader_too;                      /* look there also after the folders */
    const char *advice; /* ends the reason: "install ... or name its folder in ..." */
} weft_library_files;

/* Opens the first file that can be; NULL, with the reason, where none can. */
void *weft_library_open(const weft_library_files *files, char reason[WEFT_LIBRARY_REASON_BYTES]);

/* Looks up prefix + name for each symbol; "" for no prefix. Returns the first that is missing, or
 * NULL. The table is filled up to there. */
const char *weft_library_find(void *handle, const char *prefix, const weft_library_symbol *symbols,
                              size_t count, void *table);

void weft_library_close(void *handle);

/*
 * A library of the process: it is opened once, by whichever thread comes first, and kept.
 * Initialize with {.once = PTHREAD_ONCE_INIT}.
 */
typedef struct weft_library {
    pthread_once_t once;
    bool usable;
    char reason[WEFT_LIBRARY_REASON_BYTES]; /* why not */
} weft_library;

/* Opens the library and fills the table; false, with the reason, if the library or a symbol is
 * missing. */
bool weft_library_load(const weft_library_files *files, const weft_library_symbol *symbols,
                       size_t count, void *table, char reason[WEFT_LIBRARY_REASON_BYTES]);

/* Runs `load`, which sets `usable` and `reason`, once in the process. Returns whether the library
 * is usable; if not, the reason becomes the thread's last error. Thread-safe. */
bool weft_library_once(weft_library *library, void (*load)(void));

#endif
