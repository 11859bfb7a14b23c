/* Opens libfftw3 and libfftw3f at run time and looks up the functions that the engine uses. */
#include "engine/fftw/library.h"

#include "support/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The planner belongs to the process, so its lock and the libraries do too. */
static pthread_mutex_t planner_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

typedef struct library_slot {
    bool usable;
    char reason[WEFT_FFTW_REASON_BYTES]; /* why not */
    weft_fftw_library library;
} library_slot;

static library_slot slots[2];

typedef struct symbol {
    const char *name;
    size_t offset; /* of the function pointer in weft_fftw_library */
} symbol;

#define SYMBOL(name, member)                                                                       \
    { name, offsetof(weft_fftw_library, member) }

static const symbol planner_symbols[] = {
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
static const symbol thread_symbols[] = {
    SYMBOL("init_threads", init_threads),
    SYMBOL("plan_with_nthreads", plan_with_nthreads),
};

static void *find_symbol(void *handle, const char *prefix, const char *name) {
    char full_name[64];
    snprintf(full_name, sizeof full_name, "%s_%s", prefix, name);
    return dlsym(handle, full_name);
}

/* Fills the function pointers; returns the name of the first symbol that is missing, or NULL. */
static const char *find_symbols(weft_fftw_library *library, void *handle, const char *prefix,
                                const symbol *symbols, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *address = find_symbol(handle, prefix, symbols[i].name);
        if (!address) return symbols[i].name;
        /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises that
         * they are the same bytes. */
        memcpy((char *)library + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

static void *open_shared(const char *folder, const char *file) {
    char path[4096];
    if (!folder || !folder[0]) return dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Threads are set up at once and not when first asked for: fftw_init_threads must come before the
 * planner is first used, or its threaded Cooley-Tukey solvers are never registered. */
static void open_threads(const weft_fftw_files *files, weft_fftw_library *library, void *handle) {
    const size_t count = sizeof thread_symbols / sizeof thread_symbols[0];
    /* FFTW built with --with-combined-threads has them in the main library. */
    if (find_symbols(library, handle, files->prefix, thread_symbols, count) != NULL) {
        handle = files->threads_file ? open_shared(files->folder, files->threads_file) : NULL;
        if (!handle) return;
        if (find_symbols(library, handle, files->prefix, thread_symbols, count) != NULL) return;
    }
    void *address = find_symbol(handle, files->prefix, "planner_nthreads");
    memcpy(&library->planner_nthreads, &address, sizeof address);
    library->threads = library->init_threads() != 0;
}

bool weft_fftw_load(const weft_fftw_files *files, weft_fftw_library *library,
                    char reason[WEFT_FFTW_REASON_BYTES]) {
    void *handle = open_shared(files->folder, files->file);
    if (!handle) {
        const char *why = dlerror();
        snprintf(reason, WEFT_FFTW_REASON_BYTES, "cannot open %s (%.400s)", files->file,
                 why ? why : "the path is too long");
        return false;
    }
    const char *missing = find_symbols(library, handle, files->prefix, planner_symbols,
                                       sizeof planner_symbols / sizeof planner_symbols[0]);
    library->version = find_symbol(handle, files->prefix, "version");
    if (missing || !library->version) {
        snprintf(reason, WEFT_FFTW_REASON_BYTES, "%s has no %s_%s", files->file, files->prefix,
                 missing ? missing : "version");
        dlclose(handle);
        return false;
    }
    /* "fftw-3.3.10-sse2-avx": the number stands between the first two dashes. */
    const char *number = strchr(library->version, '-');
    number = number ? number + 1 : library->version;
    snprintf(library->description, sizeof library->description, "FFTW %.*s (%s)",
             (int)strcspn(number, "-"), number, library->version);
    open_threads(files, library, handle);
    return true;
}

static void open_library(library_slot *slot, weft_fftw_files files) {
    char why[WEFT_FFTW_REASON_BYTES];
    files.folder = getenv("WEFT_FFTW_LIBRARY_PATH");
    slot->usable = weft_fftw_load(&files, &slot->library, why);
    if (slot->usable) return;
    snprintf(slot->reason, sizeof slot->reason,
             "FFTW engine: %.600s; install FFTW 3.3 or later, or name its folder in "
             "WEFT_FFTW_LIBRARY_PATH",
             why);
}

static void open_both(void) {
    open_library(&slots[0], (weft_fftw_files){.file = "libfftw3.so.3",
                                              .threads_file = "libfftw3_threads.so.3",
                                              .prefix = "fftw"});
    open_library(&slots[1], (weft_fftw_files){.file = "libfftw3f.so.3",
                                              .threads_file = "libfftw3f_threads.so.3",
                                              .prefix = "fftwf"});
}

const weft_fftw_library *weft_fftw_open(weft_precision precision) {
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE) {
        weft_fail(WEFT_ERROR_UNSUPPORTED, "FFTW engine: no %s precision; use double or single",
                  precision == WEFT_HALF ? "half" : "such");
        return NULL;
    }
    pthread_once(&opened, open_both);
    const library_slot *slot = &slots[precision == WEFT_SINGLE];
    if (slot->usable) return &slot->library;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", slot->reason);
    return NULL;
}

void weft_fftw_planner_lock(void) {
    pthread_mutex_lock(&planner_mutex);
}

void weft_fftw_planner_unlock(void) {
    pthread_mutex_unlock(&planner_mutex);
}
