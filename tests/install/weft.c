/*
 * A user's program for the install test, C and C++: the transform of an impulse at the origin is 1
 * everywhere.
 */
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

int main(void) {
    weft_problem problem;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    size_t bytes = 0;
    memset(&problem, 0, sizeof problem);
    problem.rank = 2;
    problem.n[0] = 12;
    problem.n[1] = 10;
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS ||
        weft_plan_create(ctx, &problem, NULL, &plan) != WEFT_SUCCESS ||
        weft_plan_bytes(plan, WEFT_INPUT, &bytes) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(ctx));
        return 1;
    }
    double *a = (double *)calloc(1, bytes);
    a[0] = 1;
    int wrong = weft_execute(plan, WEFT_FORWARD, a, a) != WEFT_SUCCESS;
    for (int i = 0; i < 120; i++) wrong += !(a[2 * i] == 1 && a[2 * i + 1] == 0);
    free(a);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    return wrong ? 1 : 0;
}
