/* One reduction, which doubles as the barrier. */
#include "bench/meeting.h"

#include "io/agreement.h"
#include "support/error.h"

#include <time.h>

/* Long enough to leave the core to others, short beside any run in another process. */
static const struct timespec nap = {.tv_nsec = 100000};

weft_status bench_meet(MPI_Comm comm, bool quiet, weft_status mine) {
    int failed = mine != WEFT_SUCCESS, any = 0, done = 0;
    MPI_Request request;
    if (!quiet) {
        MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, comm);
    } else {
        MPI_Iallreduce(&failed, &any, 1, MPI_INT, MPI_MAX, comm, &request);
        while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
            nanosleep(&nap, NULL);
    }
    return any ? weft_array_agree(comm, mine) : WEFT_SUCCESS;
}
