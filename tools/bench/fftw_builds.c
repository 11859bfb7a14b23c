/* Opens other builds of FFTW, MKL and ducc0 beside the FFTW of weft's engine. */
#include "bench/fftw_builds.h"

#include "support/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, MKL_THREADING_GNU = 3 };

typedef struct build_slot {
    bool tried, usable;
    char reason[WEFT_LIBRARY_REASON_BYTES];
    weft_fftw_library library;
} build_slot;

typedef struct fftw_build {
    const char *contestants[2];        /* in one process, and on MPI */
    const char *folder;                /* in WEFT_PEERS; NULL: the FFTW of weft's engine */
    const char *files[2];              /* double and single */
    void (*prepare)(const char *path); /* what must happen before its first call; or NULL */
    /* Says what it is where fftw_version does not; or NULL. */
    void (*name)(const char *path, weft_fftw_library *library);
    build_slot slots[2];
} fftw_build;

static void *function_of(const char *path, const char *name) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays open */
    return handle ? dlsym(handle, name) : NULL;
}

/* OpenMP's threads are GNU's, as weft's are; by itself it would look for Intel's. It takes as many
 * as it is given; by itself ("dynamic") it would take one where it finds MPI in the process. MKL
 * makes its functions, among them FFTW's, visible to all that is opened later: so FFTW comes first,
 * and FFTW-MPI, where there is one, is bound to it. */
static void prepare_mkl(const char *path) {
    weft_fftw_open(WEFT_DOUBLE);
    weft_fftw_open(WEFT_SINGLE);
    dlopen("libfftw3_mpi.so.3", RTLD_NOW | RTLD_LOCAL);
    dlopen("libfftw3f_mpi.so.3", RTLD_NOW | RTLD_LOCAL);
    int (*set_threading_layer)(int);
    void (*set_dynamic)(int);
    void *layer = function_of(path, "MKL_Set_Threading_Layer"),
         *dynamic = function_of(path, "MKL_Set_Dynamic");
    memcpy(&set_threading_layer, &layer, sizeof layer);
    memcpy(&set_dynamic, &dynamic, sizeof dynamic);
    if (layer) set_threading_layer(MKL_THREADING_GNU);
    if (dynamic) set_dynamic(0);
}

void mkl_version_of(const char *text, char *version, size_t bytes) {
    const char *number = strstr(text, "Version ");
    number = number ? number + strlen("Version ") : "?";
    snprintf(version, bytes, "%.*s", (int)strcspn(number, "- "), number);
}

static void name_mkl(const char *path, weft_fftw_library *library) {
    static char version[48] = "mkl-";
    char text[256] = "";
    void (*get_version)(char *, int);
    void *address = function_of(path, "MKL_Get_Version_String");
    memcpy(&get_version, &address, sizeof address);
    if (address) get_version(text, (int)sizeof text - 1);
    mkl_version_of(text, version + strlen("mkl-"), sizeof version - strlen("mkl-"));
    library->version = version;
}

static fftw_build builds[] = {
    {.contestants = {"fftw", "fftw-mpi"}},
    {.contestants = {"fftw-avx512", "fftw-mpi-avx512"},
     .folder = "fftw-avx512/lib",
     .files = {"libfftw3.so.3", "libfftw3f.so.3"}},
    {.contestants = {"mkl", "mkl-cluster"},
     .folder = "mkl/lib",
     .files = {"libmkl_rt.so", "libmkl_rt.so"},
     .prepare = prepare_mkl,
     .name = name_mkl},
    {.contestants = {"ducc0", "ducc0"},
     .folder = "ducc0/lib",
     .files = {"libducc0_fftw.so", "libducc0_fftw.so"}},
};

static fftw_build *find_build(const char *contestant) {
    for (size_t i = 0; i < sizeof builds / sizeof builds[0]; i++)
        for (int c = 0; c < 2; c++)
            if (strcmp(builds[i].contestants[c], contestant) == 0) return &builds[i];
    return NULL;
}

bool fftw_build_is_own(const char *contestant) {
    const fftw_build *build = find_build(contestant);
    return build && !build->folder;
}

weft_status fftw_build_folder(const char *contestant, char folder[PATH_BYTES]) {
    const fftw_build *build = find_build(contestant);
    const char *peers = getenv("WEFT_PEERS");
    folder[0] = '\0';
    if (build && build->folder) {
        if (!peers || !peers[0])
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "%s: WEFT_PEERS is not set; run scripts/build-peers FOLDER and name "
                             "that folder there",
                             contestant);
        if (snprintf(folder, PATH_BYTES, "%s/%s", peers, build->folder) >= PATH_BYTES)
            return weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: the path in WEFT_PEERS is too long",
                             contestant);
    } else {
        const char *own = getenv("WEFT_FFTW_LIBRARY_PATH");
        if (own && strlen(own) < PATH_BYTES) strcpy(folder, own);
    }
    return WEFT_SUCCESS;
}

static bool load(fftw_build *build, weft_precision precision, const char *folder) {
    const bool single = precision == WEFT_SINGLE;
    build_slot *slot = &build->slots[single];
    const weft_fftw_files files = {
        .folder = folder, .file = build->files[single], .prefix = single ? "fftwf" : "fftw"};
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, files.file);
    if (build->prepare) build->prepare(path);
    if (!weft_fftw_load(&files, &slot->library, slot->reason)) return false;
    if (build->name) build->name(path, &slot->library);
    return true;
}

const weft_fftw_library *fftw_build_open(const char *contestant, weft_precision precision) {
    fftw_build *build = find_build(contestant);
    char folder[PATH_BYTES];
    if (!build || !build->folder || (precision != WEFT_DOUBLE && precision != WEFT_SINGLE))
        return weft_fftw_open(precision);
    if (fftw_build_folder(contestant, folder) != WEFT_SUCCESS) return NULL;
    build_slot *slot = &build->slots[precision == WEFT_SINGLE];
    if (!slot->tried) slot->usable = load(build, precision, folder);
    slot->tried = true;
    if (slot->usable) return &slot->library;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: %.600s; run scripts/build-peers", contestant,
              slot->reason);
    return NULL;
}
