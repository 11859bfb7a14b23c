/* Agreement of ranks: the lowest failing rank tells the others what happened. */
#include "io/agreement.h"

#include "support/error.h"

#include <string.h>

weft_status weft_array_agree(MPI_Comm comm, weft_status mine) {
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int failing = mine == WEFT_SUCCESS ? ranks : rank;
    if (MPI_Allreduce(&failing, &first, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks compared their results");
    if (first == ranks) return WEFT_SUCCESS;

    struct {
        int status;
        char sentence[1024];
    } verdict = {.status = (int)mine};
    if (rank == first) {
        strncpy(verdict.sentence, weft_thread_error(), sizeof verdict.sentence - 1);
    }
    MPI_Bcast(&verdict, (int)sizeof verdict, MPI_BYTE, first, comm);
    weft_thread_error_set(verdict.sentence);
    return (weft_status)verdict.status;
}
