/* What bench_kernels measures: batches of transforms by name. */
#ifndef BENCH_KERNELS_CASES_H
#define BENCH_KERNELS_CASES_H

#include "engine/engine.h"

typedef struct bench_case {
    char name[48];
    weft_transform transform;
    int64_t in_bytes, out_bytes; /* of the arrays */
    int64_t moved;               /* bytes read and written if each axis takes one pass */
} bench_case;

/* Fills `list` with the cases of one precision whose arrays have at most `bytes` bytes; batches
 * have as many lines as fit. Returns their number, at most `room`. */
int bench_list_cases(weft_precision precision, int64_t bytes, bench_case *list, int room);
/* Lines of these lengths instead. */
int bench_list_lengths(weft_precision precision, int64_t bytes, weft_transform_kind kind,
                       const int64_t *n, int lengths, bench_case *list, int room);

#endif
