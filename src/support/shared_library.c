/* Opens shared libraries and looks up their symbols. */
#include "support/shared_library.h"

#include "support/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, NAME_BYTES = 128 };

static void *open_in(const char *folder, int length, const char *file) {
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%.*s/%s", length, folder, file) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Tries to open every file in one folder; folder NULL: where the loader looks. */
static void *open_any(const weft_library_files *files, const char *folder, int length) {
    void *handle = NULL;
    for (int f = 0; f < WEFT_LIBRARY_FILES && files->file[f] && !handle; f++)
        handle = folder ? open_in(folder, length, files->file[f])
                        : dlopen(files->file[f], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

void *weft_library_open(const weft_library_files *files, char reason[WEFT_LIBRARY_REASON_BYTES]) {
    const char *folders = files->folders;
    void *handle = NULL;
    dlerror(); /* forget older failures */
    for (const char *at = folders ? folders : ""; *at && !handle;) {
        int length = (int)strcspn(at, ":");
        if (length > 0) handle = open_any(files, at, length);
        at += length + (at[length] == ':');
    }
    if (!handle && (!folders || !folders[0] || files->loader_too))
        handle = open_any(files, NULL, 0);
    if (handle) return handle;
    const char *why = dlerror();
    bool more = files->file[1] != NULL;
    snprintf(reason, WEFT_LIBRARY_REASON_BYTES, "%s: cannot open %s%s (%.400s); %s", files->what,
             files->file[0], more ? " or its older versions" : "",
             why ? why : "the path is too long", files->advice);
    return NULL;
}

const char *weft_library_find(void *handle, const char *prefix, const weft_library_symbol *symbols,
                              size_t count, void *table) {
    for (size_t i = 0; i < count; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s%s", prefix, symbols[i].name);
        void *address = dlsym(handle, name);
        if (!address) return symbols[i].name;
        /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises that
         * they are the same bytes. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

void weft_library_close(void *handle) {
    dlclose(handle);
}

bool weft_library_load(const weft_library_files *files, const weft_library_symbol *symbols,
                       size_t count, void *table, char reason[WEFT_LIBRARY_REASON_BYTES]) {
    void *handle = weft_library_open(files, reason);
    if (!handle) return false;
    const char *missing = weft_library_find(handle, "", symbols, count, table);
    if (!missing) return true;
    snprintf(reason, WEFT_LIBRARY_REASON_BYTES, "%s: the library has no %s; %s", files->what,
             missing, files->advice);
    weft_library_close(handle);
    return false;
}

bool weft_library_once(weft_library *library, void (*load)(void)) {
    pthread_once(&library->once, load);
    if (library->usable) return true;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", library->reason);
    return false;
}
