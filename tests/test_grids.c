/* Process grids: the factorizations of any number of ranks that the planner lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/grids.h"
#include "plan/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    weft_call call;
    weft_planner planner;
} setting;

/* Grids for ranks that do not exist, as planned for a cube of so many axes. */
static weft_process_grid *grids_of(setting *s, int rank, int64_t n, int ranks,
                                   weft_decomposition decomposition, int *count) {
    weft_problem problem = {.rank = rank, .precision = WEFT_SINGLE};
    const weft_options options = {.decomposition = decomposition};
    weft_process_grid *grids = NULL;
    for (int a = 0; a < rank; a++) problem.n[a] = n;
    assert_int_equal(weft_call_read(&problem, &options, NULL, ranks, &s->call), WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = ranks};
    assert_int_equal(weft_planner_grids(&s->planner, &grids, count), WEFT_SUCCESS);
    return grids;
}

static bool has_grid(const weft_process_grid *grids, int count, const int *extent, int axes) {
    for (int i = 0; i < count; i++)
        if (grids[i].decomposition == WEFT_PENCIL && grids[i].axes == axes &&
            memcmp(grids[i].extent, extent, (size_t)axes * sizeof *extent) == 0)
            return true;
    return false;
}

static void many_ranks_try_grids_that_are_almost_square(void **state) {
    (void)state;
    setting *s = calloc(1, sizeof *s);
    int count;
    weft_process_grid *grids = grids_of(s, 3, 1024, 10080, WEFT_DECOMPOSITION_AUTO, &count);
    assert_true(has_grid(grids, count, (const int[]){96, 105}, 2));
    assert_true(has_grid(grids, count, (const int[]){105, 96}, 2));
    free(grids);
    grids = grids_of(s, 3, 4096, 1 << 20, WEFT_DECOMPOSITION_AUTO, &count);
    assert_true(has_grid(grids, count, (const int[]){1024, 1024}, 2));
    for (int i = 0; i < count; i++) /* of slabs 255 of 256 ranks would have nothing */
        assert_int_equal(grids[i].decomposition, WEFT_PENCIL);
    free(grids);
    grids = grids_of(s, 4, 64, 32768, WEFT_DECOMPOSITION_AUTO, &count); /* more than n^2 */
    assert_true(has_grid(grids, count, (const int[]){32, 32, 32}, 3));
    free(grids);
    free(s);
}

static void check_grids(const setting *s, const weft_process_grid *grids, int count) {
    const weft_planner *p = &s->planner;
    const int rank = p->call->problem.rank;
    assert_true(count >= 1 && count <= 4 + weft_machine_default.search.listed_grids);
    for (int i = 0; i < count; i++) {
        int64_t product = 1;
        assert_true(grids[i].axes >= 1 && grids[i].axes < rank);
        for (int a = 0; a < grids[i].axes; a++) {
            assert_true(grids[i].extent[a] >= 1);
            product *= grids[i].extent[a];
        }
        assert_int_equal(product, p->ranks);
        for (int k = 0; k < i; k++)
            assert_true(grids[k].decomposition != grids[i].decomposition ||
                        grids[k].axes != grids[i].axes ||
                        memcmp(grids[k].extent, grids[i].extent, sizeof grids[i].extent) != 0);
    }
}

static void every_number_of_ranks_has_grids_of_1_to_rank_less_1_dimensions(void **state) {
    (void)state;
    static const int ranks[] = {2,   3,   4,    5,    7,     12,    31,     60,      64,        97,
                                360, 512, 1001, 4096, 10007, 10080, 720720, 1 << 20, 2147483647};
    setting *s = calloc(1, sizeof *s);
    for (int rank = 2; rank <= WEFT_MAX_RANK; rank++)
        for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++)
            for (int asked = 0; asked < 2; asked++) {
                int count, axes = 0;
                weft_process_grid *grids = grids_of(
                    s, rank, 24, ranks[r], asked ? WEFT_PENCIL : WEFT_DECOMPOSITION_AUTO, &count);
                check_grids(s, grids, count);
                for (int i = 0; i < count; i++)
                    if (grids[i].axes > axes) axes = grids[i].axes;
                if (ranks[r] >= 4096 && ranks[r] % 64 == 0) /* beyond 24^2 */
                    assert_true(axes >= (rank > 3 ? 3 : rank - 1));
                free(grids);
            }
    free(s);
}

/* The best grid, of all factorizations that there are, by the closed formula. */
static double best_of_all(const setting *s, weft_candidate *c, int dimension, int left,
                          weft_chain *chain) {
    double best = INFINITY;
    if (dimension + 1 == c->grid_axes) {
        c->grid[dimension] = left;
        if (left < 2) return INFINITY;
        assert_int_equal(weft_planner_chain(&s->planner, c, chain), WEFT_SUCCESS);
        return weft_model_estimate(&weft_machine_default, 1, chain, WEFT_SINGLE);
    }
    for (int extent = 2; extent <= left; extent++)
        if (left % extent == 0) {
            c->grid[dimension] = extent;
            best = fmin(best, best_of_all(s, c, dimension + 1, left / extent, chain));
        }
    return best;
}

static void the_best_factorization_is_among_those_that_are_listed(void **state) {
    (void)state;
    static const int ranks[] = {4, 6, 12, 60, 64, 210, 720, 1024, 5040, 10080};
    setting *s = calloc(1, sizeof *s);
    weft_chain *chain = malloc(sizeof *chain);
    for (int rank = 3; rank <= 5; rank++)
        for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++) {
            int count;
            double best = INFINITY, listed = INFINITY;
            weft_process_grid *grids = grids_of(s, rank, 40, ranks[r], WEFT_PENCIL, &count);
            for (int axes = 2; axes < rank; axes++) {
                weft_candidate c = {.decomposition = WEFT_PENCIL, .grid_axes = axes};
                c.variant = WEFT_DEFAULT;
                best = fmin(best, best_of_all(s, &c, 0, ranks[r], chain));
            }
            for (int i = 0; i < count; i++) listed = fmin(listed, grids[i].estimated);
            assert_true(listed <= 1.02 * best); /* not all of those in 4 dimensions are looked at */
            if (rank <= 4) assert_true(listed <= best);
            free(grids);
        }
    free(chain);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_ranks_try_grids_that_are_almost_square),
        cmocka_unit_test(every_number_of_ranks_has_grids_of_1_to_rank_less_1_dimensions),
        cmocka_unit_test(the_best_factorization_is_among_those_that_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
