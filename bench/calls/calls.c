/*
 * Nanoseconds of a call of weft_execute: short lines, complex to complex, double precision, out of
 * place, on one rank and the host. The median of many runs of many calls.
 */
#include "measuring.h"

#include <stdio.h>
#include <time.h>

enum { RUNS = 101, CALLS = 20000, LENGTHS = 3, LONGEST = 512 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static weft_status measure(weft_plan plan, double *median) {
    static double in[2 * LONGEST], out[2 * LONGEST], taken[RUNS];
    for (int run = 0; run < RUNS; run++) {
        const double start = seconds();
        for (int call = 0; call < CALLS; call++) {
            const weft_status status = weft_execute(plan, WEFT_FORWARD, in, out);
            if (status != WEFT_SUCCESS) return status;
        }
        taken[run] = (seconds() - start) / CALLS;
    }
    *median = median_of(taken, RUNS);
    return WEFT_SUCCESS;
}

int main(void) {
    static const int64_t lengths[LENGTHS] = {2, 64, LONGEST};
    weft_context ctx = NULL;
    weft_status status = weft_context_create(NULL, &ctx);
    printf("n,ns\n");
    for (int i = 0; i < LENGTHS && status == WEFT_SUCCESS; i++) {
        const weft_problem problem = {.rank = 1, .n = {lengths[i]}, .kind = WEFT_C2C};
        weft_plan plan = NULL;
        double median = 0;
        status = weft_plan_create(ctx, &problem, NULL, &plan);
        if (status == WEFT_SUCCESS) status = measure(plan, &median);
        if (status == WEFT_SUCCESS) printf("%lld,%.1f\n", (long long)lengths[i], median * 1e9);
        weft_plan_destroy(&plan);
    }
    if (status != WEFT_SUCCESS) fprintf(stderr, "calls: %s\n", weft_last_error(ctx));
    weft_context_destroy(&ctx);
    return status != WEFT_SUCCESS;
}
