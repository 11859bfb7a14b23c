/* What the command cannot do in builds without MPI. */
#include "bench/meeting.h"
#include "bench/worker.h"
#include "support/error.h"
#include "tune.h"

weft_status tune_messages(tuning *t) {
    (void)t; /* one process has nobody to send to */
    return WEFT_SUCCESS;
}

weft_status bench_meet(MPI_Comm comm, bool quiet, weft_status mine) {
    (void)comm, (void)quiet; /* nobody waits */
    return mine;
}

weft_status bench_worker(const command_world *world, const char *path, bool *sound) {
    (void)world, (void)path, (void)sound;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "bench: this build has no MPI, by which processes are measured; install MPI "
                     "and build again");
}
