/* Opens the cluster FFT of MKL, whose calls of MPI reach the MPI of this process: it is linked to
 * none. */
#include "bench/mkl_cluster_library.h"

#include "bench/fftw_builds.h"
#include "support/error.h"
#include "support/shared_library.h"

#include <stdio.h>

/* MKL knows Open MPI, and the binary interface that MPICH and Intel MPI share. */
#ifdef OPEN_MPI
#define MKL_CLUSTER_FILE "libmkl_cluster_openmpi.so"
#else
#define MKL_CLUSTER_FILE "libmkl_cluster_mpich.so"
#endif

#define SYMBOL(name, member) WEFT_LIBRARY_SYMBOL(mkl_cluster_library, name, member)

static const weft_library_symbol symbols[] = {
    SYMBOL("DftiCreateDescriptorDM", create),
    SYMBOL("DftiSetValueDM", set),
    SYMBOL("DftiGetValueDM", get),
    SYMBOL("DftiCommitDescriptorDM", commit),
    SYMBOL("DftiComputeForwardDM", forward),
    SYMBOL("DftiComputeBackwardDM", backward),
    SYMBOL("DftiFreeDescriptorDM", release),
    SYMBOL("DftiErrorMessage", message),
    SYMBOL("MKL_Set_Num_Threads_Local", set_threads),
    SYMBOL("MKL_Get_Version_String", get_version),
};

/* It belongs to the process. The benchmark calls from one thread. */
static mkl_cluster_library opened;
static bool usable;

const mkl_cluster_library *mkl_cluster_open(void) {
    char folder[4096], reason[WEFT_LIBRARY_REASON_BYTES];
    if (fftw_build_folder("mkl-cluster", folder) != WEFT_SUCCESS) return NULL;
    if (usable) return &opened;
    const weft_library_files files = {.what = "mkl-cluster",
                                      .file = {MKL_CLUSTER_FILE},
                                      .folders = folder,
                                      .advice = "run scripts/build-peers"};
    usable =
        weft_library_load(&files, symbols, sizeof symbols / sizeof symbols[0], &opened, reason);
    if (usable) return &opened;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", reason);
    return NULL;
}
