/* Opens libfftw3 and libfftw3f at run time and looks up the functions that the engine uses. */
#include "engine/fftw/library.h"

#include "support/error.h"
#include "support/shared_library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FFTW has one planner for the process, so its lock and the libraries are global, too. */
static pthread_mutex_t planner_mutex = PTHREAD_MUTEX_INITIALIZER;

typedef struct library_slot {
    weft_library opened;
    weft_fftw_library library;
} library_slot;

static library_slot slots[2] = {{.opened = {.once = PTHREAD_ONCE_INIT}},
                                {.opened = {.once = PTHREAD_ONCE_INIT}}};

#define SYMBOL(name, member) WEFT_LIBRARY_SYMBOL(weft_fftw_library, "_" name, member)
#define COUNT(symbols) (sizeof(symbols) / sizeof(symbols)[0])

static const weft_library_symbol planner_symbols[] = {
    SYMBOL("version", version),
    SYMBOL("plan_guru64_dft", plan_c2c),
    SYMBOL("plan_guru64_dft_r2c", plan_r2c),
    SYMBOL("plan_guru64_dft_c2r", plan_c2r),
    SYMBOL("execute_dft", execute_c2c),
    SYMBOL("execute_dft_r2c", execute_r2c),
    SYMBOL("execute_dft_c2r", execute_c2r),
    SYMBOL("destroy_plan", destroy_plan),
    SYMBOL("alignment_of", alignment_of),
    SYMBOL("export_wisdom_to_string", export_wisdom),
    SYMBOL("import_wisdom_from_filename", import_wisdom),
};
static const weft_library_symbol thread_symbols[] = {
    SYMBOL("init_threads", init_threads),
    SYMBOL("plan_with_nthreads", plan_with_nthreads),
};

/* Functions that older versions lack. */
static const weft_library_symbol counting_symbols[] = {
    SYMBOL("planner_nthreads", planner_nthreads),
};

/* Functions that other libraries with this interface lack. */
static const weft_library_symbol real_symbols[] = {
    SYMBOL("plan_guru64_r2r", plan_r2r),
    SYMBOL("execute_r2r", execute_r2r),
};

static void *open_shared(const weft_fftw_files *files, const char *file,
                         char reason[WEFT_LIBRARY_REASON_BYTES]) {
    const weft_library_files wanted = {
        .what = "FFTW engine",
        .file = {file},
        .folders = files->folder,
        .advice = "install FFTW 3.3 or later, or name its folder in WEFT_FFTW_LIBRARY_PATH"};
    return weft_library_open(&wanted, reason);
}

/* Threads are initialized at once and not when first needed: fftw_init_threads must be called
 * before the planner is first used, or its threaded Cooley-Tukey solvers are never registered. */
static void open_threads(const weft_fftw_files *files, weft_fftw_library *library, void *handle) {
    const char *prefix = files->prefix;
    char unused[WEFT_LIBRARY_REASON_BYTES];
    /* FFTW built with --with-combined-threads has the thread functions in the main library. */
    if (weft_library_find(handle, prefix, thread_symbols, COUNT(thread_symbols), library)) {
        handle = files->threads_file ? open_shared(files, files->threads_file, unused) : NULL;
        if (!handle) return;
        if (weft_library_find(handle, prefix, thread_symbols, COUNT(thread_symbols), library))
            return;
    }
    weft_library_find(handle, prefix, counting_symbols, COUNT(counting_symbols), library);
    library->threads = library->init_threads() != 0;
}

bool weft_fftw_load(const weft_fftw_files *files, weft_fftw_library *library,
                    char reason[WEFT_LIBRARY_REASON_BYTES]) {
    void *handle = open_shared(files, files->file, reason);
    if (!handle) return false;
    const char *missing =
        weft_library_find(handle, files->prefix, planner_symbols, COUNT(planner_symbols), library);
    if (missing) {
        snprintf(reason, WEFT_LIBRARY_REASON_BYTES, "FFTW engine: %s has no %s%s", files->file,
                 files->prefix, missing);
        weft_library_close(handle);
        return false;
    }
    if (weft_library_find(handle, files->prefix, real_symbols, COUNT(real_symbols), library))
        library->plan_r2r = NULL;
    /* "fftw-3.3.10-sse2-avx": the number stands between the first two dashes. */
    const char *number = strchr(library->version, '-');
    number = number ? number + 1 : library->version;
    snprintf(library->description, sizeof library->description, "FFTW %.*s (%s)",
             (int)strcspn(number, "-"), number, library->version);
    open_threads(files, library, handle);
    return true;
}

static void open_slot(library_slot *slot, weft_fftw_files files) {
    files.folder = getenv("WEFT_FFTW_LIBRARY_PATH");
    slot->opened.usable = weft_fftw_load(&files, &slot->library, slot->opened.reason);
}

static void open_double(void) {
    open_slot(&slots[0], (weft_fftw_files){.file = "libfftw3.so.3",
                                           .threads_file = "libfftw3_threads.so.3",
                                           .prefix = "fftw"});
}

static void open_single(void) {
    open_slot(&slots[1], (weft_fftw_files){.file = "libfftw3f.so.3",
                                           .threads_file = "libfftw3f_threads.so.3",
                                           .prefix = "fftwf"});
}

const weft_fftw_library *weft_fftw_open(weft_precision precision) {
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE) {
        weft_fail(WEFT_ERROR_UNSUPPORTED, "FFTW engine: no %s precision; use double or single",
                  precision == WEFT_HALF ? "half" : "such");
        return NULL;
    }
    const bool single = precision == WEFT_SINGLE;
    library_slot *slot = &slots[single];
    return weft_library_once(&slot->opened, single ? open_single : open_double) ? &slot->library
                                                                                : NULL;
}

void weft_fftw_planner_lock(void) {
    pthread_mutex_lock(&planner_mutex);
}

void weft_fftw_planner_unlock(void) {
    pthread_mutex_unlock(&planner_mutex);
}
