/* The entry point of libweft_mpi for the command in builds without MPI: contexts of one process. */
#include <weft/weft_mpi.h>

weft_status weft_mpi_context_create(MPI_Comm comm, const weft_context_options *opt,
                                    weft_context *ctx) {
    (void)comm;
    return weft_context_create(opt, ctx);
}
