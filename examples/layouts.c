/*
 * Which box of a 5 x 4 x 6 array each of 4 ranks would have, as slabs and as pencils, without
 * starting them: what the pictures of docs/layouts.md show.
 *
 *   cc layouts.c $(pkg-config --cflags --libs weft) && ./a.out
 */
#include <weft/weft.h>

static weft_status print_boxes(weft_plan plan, weft_decomposition decomposition, weft_space space) {
    for (int rank = 0; rank < 4; rank++) {
        weft_box box;
        weft_status status = weft_plan_box(plan, space, rank, &box);
        if (status != WEFT_SUCCESS) return status;
        printf("%s %s %d:", weft_decomposition_name(decomposition),
               space == WEFT_INPUT ? "input" : "output", rank);
        for (int axis = 0; axis < 3; axis++)
            printf(" %lld+%lld", (long long)box.lo[axis], (long long)box.n[axis]);
        printf("\n");
    }
    return WEFT_SUCCESS;
}

static weft_status print_layout(weft_context ctx, const weft_options *options) {
    const weft_problem problem = {.rank = 3, .n = {5, 4, 6}, .kind = WEFT_C2C};
    weft_plan plan = NULL;
    weft_status status = weft_plan_create(ctx, &problem, options, &plan);
    if (status == WEFT_SUCCESS) status = print_boxes(plan, options->decomposition, WEFT_INPUT);
    if (status == WEFT_SUCCESS) status = print_boxes(plan, options->decomposition, WEFT_OUTPUT);
    weft_plan_destroy(&plan);
    return status;
}

int main(void) {
    weft_context ctx = NULL;
    const weft_context_options four = {.simulated_ranks = 4};
    const weft_options slab = {.decomposition = WEFT_SLAB_2D1D};
    const weft_options pencil = {.decomposition = WEFT_PENCIL, .grid = {2, 2}};
    weft_status status = weft_context_create(&four, &ctx);
    if (status == WEFT_SUCCESS) status = print_layout(ctx, &slab);
    if (status == WEFT_SUCCESS) status = print_layout(ctx, &pencil);
    if (status != WEFT_SUCCESS) fprintf(stderr, "layouts: %s\n", weft_last_error(ctx));
    weft_context_destroy(&ctx);
    return status != WEFT_SUCCESS;
}
