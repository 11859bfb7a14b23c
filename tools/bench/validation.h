/* Mode "validate": the tests of `weft validate` on the weft contestants of a problem. */
#ifndef WEFT_BENCH_VALIDATION_H
#define WEFT_BENCH_VALIDATION_H

#include "bench/block.h"

/* One block: rows `round-trip`, `laplacian` and `placement` for each contestant; peers are passed
 * over. Collective; a status tells that the group cannot go on. */
weft_status bench_validation_run(bench_run *run, const bench_request *request);

#endif
