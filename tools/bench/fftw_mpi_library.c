/* Opens libfftw3_mpi and libfftw3f_mpi at run time. They bring libfftw3 along, which is the one
 * that weft's engine (or the contestant of the same build) has opened already: one library, one
 * planner. */
#include "bench/fftw_mpi_library.h"

#include "bench/fftw_builds.h"
#include "engine/fftw/wisdom.h"
#include "support/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct library_slot {
    const char *contestant, *file, *prefix;
    bool tried, usable;
    char reason[WEFT_LIBRARY_REASON_BYTES]; /* why not */
    fftw_mpi_library library;
} library_slot;

/* Libraries belong to the process. The benchmark calls from one thread. */
#define SLOTS(name)                                                                                \
    {.contestant = name, .file = "libfftw3_mpi.so.3", .prefix = "fftw_mpi"}, {                     \
        .contestant = name, .file = "libfftw3f_mpi.so.3", .prefix = "fftwf_mpi"                    \
    }

static library_slot slots[] = {SLOTS("fftw-mpi"), SLOTS("fftw-mpi-avx512")};

#define SYMBOL(name, member) WEFT_LIBRARY_SYMBOL(fftw_mpi_library, name, member)

static const weft_library_symbol symbols[] = {
    SYMBOL("_init", init),
    SYMBOL("_local_size_many_transposed", local_size),
    SYMBOL("_local_size_1d", local_size_1d),
    SYMBOL("_plan_many_dft", plan_c2c),
    SYMBOL("_plan_dft_1d", plan_c2c_1d),
    SYMBOL("_plan_many_dft_r2c", plan_r2c),
    SYMBOL("_plan_many_dft_c2r", plan_c2r),
    SYMBOL("_execute_dft", execute_c2c),
    SYMBOL("_execute_dft_r2c", execute_r2c),
    SYMBOL("_execute_dft_c2r", execute_c2r),
};

static void *open_shared(library_slot *slot) {
    char folder[4096];
    if (fftw_build_folder(slot->contestant, folder) != WEFT_SUCCESS) {
        snprintf(slot->reason, sizeof slot->reason, "%s", weft_thread_error());
        return NULL;
    }
    const weft_library_files files = {
        .what = "FFTW-MPI",
        .file = {slot->file},
        .folders = folder,
        .advice = "install FFTW-MPI, or name its folder in WEFT_FFTW_LIBRARY_PATH"};
    return weft_library_open(&files, slot->reason);
}

static bool find_symbols(library_slot *slot, void *handle) {
    const char *missing = weft_library_find(handle, slot->prefix, symbols,
                                            sizeof symbols / sizeof symbols[0], &slot->library);
    if (missing)
        snprintf(slot->reason, sizeof slot->reason,
                 "FFTW-MPI: %s has no %s%s; install FFTW 3.3 or later", slot->file, slot->prefix,
                 missing);
    return !missing;
}

/* Whether MPI calls of the library reach the MPI of this process. Asked of the profiling interface,
 * whose functions tools do not replace. */
static bool shares_mpi(library_slot *slot, void *handle) {
    if (dlsym(handle, "PMPI_Comm_rank") == dlsym(RTLD_DEFAULT, "PMPI_Comm_rank")) return true;
    snprintf(slot->reason, sizeof slot->reason,
             "FFTW-MPI: %s was built with another MPI than weft; build weft with that one, or name "
             "the folder of an FFTW built with this one in WEFT_FFTW_LIBRARY_PATH",
             slot->file);
    return false;
}

/*
 * FFTW-MPI adds algorithms to the planner, and FFTW refuses wisdom from a planner with others than
 * its own. So wisdom is read before, and not written any more, lest the next process find a file
 * that it cannot use.
 */
static void initialize(const library_slot *slot) {
    const bool own = fftw_build_is_own(slot->contestant); /* others keep no wisdom */
    weft_fftw_planner_lock();
    for (int precision = WEFT_DOUBLE; own && precision <= WEFT_SINGLE; precision++) {
        const weft_fftw_library *library = weft_fftw_open((weft_precision)precision);
        if (library) weft_fftw_wisdom_import(library, (weft_precision)precision);
    }
    slot->library.init();
    if (own) setenv("WEFT_WISDOM_DIR", "", 1);
    weft_fftw_planner_unlock();
}

static void open_library(library_slot *slot, weft_precision precision) {
    /* First, for threads must be set up before MPI is (manual, 6.11). */
    if (!fftw_build_open(slot->contestant, precision)) {
        snprintf(slot->reason, sizeof slot->reason, "%s", weft_thread_error());
        return;
    }
    void *handle = open_shared(slot);
    if (!handle) return;
    slot->usable = find_symbols(slot, handle) && shares_mpi(slot, handle);
    if (slot->usable)
        initialize(slot);
    else
        dlclose(handle);
}

static library_slot *find_slot(const char *contestant, weft_precision precision) {
    size_t i = 0;
    while (i + 2 < sizeof slots / sizeof slots[0] && strcmp(slots[i].contestant, contestant) != 0)
        i += 2;
    return &slots[i + (precision == WEFT_SINGLE)];
}

const fftw_mpi_library *fftw_mpi_open(const char *contestant, weft_precision precision) {
    library_slot *slot = find_slot(contestant, precision);
    if (!slot->tried) open_library(slot, precision);
    slot->tried = true;
    if (slot->usable) return &slot->library;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", slot->reason);
    return NULL;
}
