/*
 * Convolutions by overlap-save, on one process with two threads, of which each allocation fails
 * once while they are made, given a kernel and executed: an error, or the right result, and nothing
 * is held afterwards.
 */
#include "mpi/faults.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

enum { N = 60, M = 5, KEPT = N + M - 1, BATCH = 2 }; /* a tile for each thread at least */
static int failures;
static weft_context ctx;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (%s)\n", __func__, __LINE__, #condition,                    \
                    weft_last_error(ctx));                                                         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* Ones convolved with ones: how many pairs of elements there are, along one axis after the other.
 */
static bool is_right(const double *out) {
    for (int i = 0; i < KEPT; i++)
        for (int j = 0; j < KEPT; j++) {
            const double rows = fmin(M, fmin(i + 1, KEPT - i)),
                         columns = fmin(M, fmin(j + 1, KEPT - j));
            if (!(fabs(out[i * KEPT + j] - rows * columns) < 1e-12)) return false;
        }
    return true;
}

/* Makes, sets, executes; whether all of it went well. */
static bool convolve(void) {
    static double in[BATCH * N * N], kernel[M * M], out[BATCH * KEPT * KEPT];
    const weft_convolution_problem problem = {.rank = 2,
                                              .n = {N, N},
                                              .kind = WEFT_R2C,
                                              .batch = BATCH,
                                              .boundary = {WEFT_LINEAR, WEFT_LINEAR},
                                              .kernel = {.n = {M, M}, .array = kernel},
                                              .method = WEFT_OVERLAP_SAVE};
    const weft_options options = {.threads = 2};
    weft_convolution made = NULL;
    for (int i = 0; i < BATCH * N * N; i++) in[i] = 1;
    for (int i = 0; i < M * M; i++) kernel[i] = 1;
    memset(out, 0, sizeof out);
    weft_status status = weft_convolution_create(ctx, &problem, &options, &made);
    CHECK((made != NULL) == (status == WEFT_SUCCESS));
    if (status == WEFT_SUCCESS) status = weft_convolution_set_kernel(made, kernel);
    if (status == WEFT_SUCCESS) status = weft_convolution_execute(made, in, out);
    weft_convolution_destroy(&made);
    CHECK(status != WEFT_SUCCESS || (is_right(out) && is_right(out + KEPT * KEPT)));
    return status == WEFT_SUCCESS;
}

int main(void) {
    bool fired = true;
    int64_t k = 0;
    alarm(250);
    CHECK(weft_context_create(NULL, &ctx) == WEFT_SUCCESS);
    CHECK(convolve()); /* what the process keeps is made */
    while (fired && failures < 10) {
        const fault_balance before = faults_balance();
        faults_begin(FAULT_MEMORY, ++k);
        const bool well = convolve();
        faults_end();
        fired = faults_fired(NULL);
        const fault_balance after = faults_balance();
        CHECK(well || fired);
        CHECK(memcmp(&before, &after, sizeof before) == 0);
    }
    printf("%d allocations failed in turn, %d failed checks\n", (int)k - 1, failures);
    weft_context_destroy(&ctx);
    return failures == 0 ? 0 : 1;
}
