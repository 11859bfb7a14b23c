/* The geometry of microstructures: what is near a place is found as by looking at everything, and
 * what cannot be made is refused in one sentence. Whole volumes are compared in
 * test_microstructure.py. */
#include "microstructure/cell_grid.h"
#include "microstructure/microstructure.h"
#include "random_numbers.h"
#include "support/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 100 };

static void place_points(cell_grid *grid, const int64_t n[3]) {
    for (int p = 0; p < POINTS; p++) {
        double at[3] = {0, 0, 0};
        for (int a = 0; a < 3; a++)
            if (grid->spans[a]) at[a] = (random_number() + 1) / 2 * (double)n[a];
        if (p == 0) at[0] = nextafter((double)n[0], 0); /* on the last face */
        cell_grid_add(grid, at);
    }
}

/* How many images of point p are within `reach` of a place, as by looking at all of them. */
static int count_images(const cell_grid *grid, int p, const double place[3], double reach) {
    int found = 0;
    for (int code = 0; code < 9 * 9 * 9; code++) {
        const int shift[3] = {code % 9 - 4, code / 9 % 9 - 4, code / 81 - 4};
        double at[3];
        bool there = true;
        for (int a = 0; a < 3; a++) {
            at[a] = grid->at[p][a] + shift[a] * grid->n[a];
            there = there && (grid->spans[a] || shift[a] == 0);
        }
        found += there && cell_distance2(at, place) <= reach * reach;
    }
    return found;
}

static void images_near_a_place_are_found(void **state) {
    (void)state;
    static const struct {
        int64_t n[3];
        bool spans[3];
        double least;
    } cases[] = {{{10, 20, 7}, {true, true, true}, 0},
                 {{10, 20, 1}, {true, true, false}, 3},
                 {{10, 20, 7}, {true, false, true}, 6},
                 {{3, 3, 3}, {true, true, true}, 9}};
    random_state = 7;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cell_grid *grid = NULL;
        assert_int_equal(
            cell_grid_create(cases[c].n, cases[c].spans, POINTS, cases[c].least, &grid),
            WEFT_SUCCESS);
        place_points(grid, cases[c].n);
        cell_images near;
        cell_images_begin(&near);
        for (int trial = 0; trial < 8; trial++) {
            double place[3] = {0, 0, 0};
            for (int a = 0; a < 3; a++)
                if (cases[c].spans[a]) place[a] = (random_number() + 1) / 2 * grid->n[a];
            const double reach = 0.1 + trial; /* the last ones beyond the box and its images */
            int found[POINTS] = {0};
            assert_true(cell_grid_gather(grid, place, reach, &near));
            for (int i = 0; i < near.count; i++) {
                found[near.image[i].point]++;
                assert_true(cell_distance2(near.image[i].at, place) <= reach * reach * 1.0001);
            }
            for (int p = 0; p < POINTS; p++)
                assert_int_equal(found[p], count_images(grid, p, place, reach));
        }
        cell_images_end(&near);
        cell_grid_destroy(&grid);
        assert_null(grid);
    }
}

static void what_cannot_be_made_is_refused(void **state) {
    (void)state;
    enum {
        AXIS = MICROSTRUCTURE_HAS_AXIS,
        FRACTIONS = MICROSTRUCTURE_HAS_FRACTIONS,
        PERIODS = MICROSTRUCTURE_HAS_PERIODS,
        CELL = MICROSTRUCTURE_HAS_CELL,
        COUNT = MICROSTRUCTURE_HAS_COUNT,
        RADIUS = MICROSTRUCTURE_HAS_RADIUS,
        LENGTH = MICROSTRUCTURE_HAS_LENGTH,
        DISTINCT = MICROSTRUCTURE_HAS_DISTINCT
    };
    static const struct {
        const char *kind;
        microstructure_request request;
        const char *words;
    } cases[] = {
        {"spheres", {.given = RADIUS, .radius = 2}, "two of --radius"},
        {"spheres",
         {.given = RADIUS | COUNT | FRACTIONS, .radius = 2, .count = 1, .fractions = 1},
         "two of --radius"},
        {"spheres", {.given = RADIUS | COUNT, .radius = 9, .count = 1}, "do not fit along axis 0"},
        {"spheres",
         {.given = RADIUS | COUNT, .radius = 7, .gap = 2.5, .count = 1},
         "do not fit along axis 0"},
        {"spheres",
         {.given = RADIUS | FRACTIONS, .radius = 7, .fractions = 1, .fraction = {0.01}},
         "one of the spheres is more"},
        {"spheres",
         {.given = RADIUS | FRACTIONS, .radius = 3, .fractions = 1, .fraction = {0.7}},
         "no room was found"},
        {"spheres",
         {.given = RADIUS | FRACTIONS, .radius = 1, .fractions = 2, .fraction = {0.1, 0.2}},
         "give one number"},
        {"spheres",
         {.given = RADIUS | COUNT | DISTINCT, .radius = 0.01, .count = 70000},
         "65536 labels"},
        {"spheres", {.given = RADIUS | COUNT, .radius = 1e-9, .count = INT64_MAX}, "more than"},
        {"fibres",
         {.given = RADIUS | COUNT | AXIS, .radius = 1, .count = 2, .axis = MICROSTRUCTURE_RANDOM},
         "give their --length"},
        {"fibres",
         {.given = RADIUS | COUNT | LENGTH, .radius = 3, .count = 2, .length = 4},
         "at least 6 long"},
        {"laminate", {.given = FRACTIONS, .fractions = 2, .fraction = {0.1, 0.2}}, "sum to 1"},
        {"laminate", {.given = 0}, "give the phases' --fractions"},
        {"laminate",
         {.given = FRACTIONS | PERIODS, .fractions = 2, .fraction = {0.5, 0.5}, .periods = 9},
         "9 times 2 layers"},
        {"laminate",
         {.given = FRACTIONS | PERIODS,
          .fractions = 2,
          .fraction = {0.5, 0.5},
          .periods = INT64_MAX},
         "layers"},
        {"checkerboard", {.given = 0}, "--cell"},
        {"checkerboard", {.given = CELL, .cell = 3}, "twice it divides 16"},
        {"checkerboard", {.given = CELL, .cell = INT64_MAX}, "twice it divides 16"},
        {"voronoi", {.given = 0}, "--count"},
        {"voronoi", {.given = COUNT, .count = 65537}, "65536 labels"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        microstructure_request request = cases[c].request;
        microstructure *made = NULL;
        for (int a = 0; a < MICROSTRUCTURE_AXES; a++) request.n[a] = 16;
        weft_thread_error_set("");
        assert_int_equal(microstructure_create(microstructure_find(cases[c].kind), &request, &made),
                         WEFT_ERROR_INVALID_ARGUMENT);
        assert_null(made);
        if (strstr(weft_thread_error(), cases[c].words) == NULL)
            fail_msg("%s: %s", cases[c].words, weft_thread_error());
        assert_null(strchr(weft_thread_error(), '\n'));
    }
    assert_null(microstructure_find("cubes"));
}

static void a_volume_of_one_voxel_has_no_inclusions(void **state) {
    (void)state;
    static const char *const kinds[] = {"spheres", "fibres"};
    for (int k = 0; k < 2; k++) {
        const microstructure_request request = {.n = {1, 1, 1},
                                                .given = MICROSTRUCTURE_HAS_RADIUS |
                                                         MICROSTRUCTURE_HAS_COUNT,
                                                .radius = 0.1,
                                                .count = 1};
        microstructure *made = NULL;
        assert_int_equal(microstructure_create(microstructure_find(kinds[k]), &request, &made),
                         WEFT_ERROR_INVALID_ARGUMENT);
    }
}

/* The labels of any box are those of the whole volume there. */
static void boxes_have_the_labels_of_the_volume(void **state) {
    (void)state;
    enum { EDGE = 21 };
    static uint8_t whole[EDGE * EDGE * EDGE], part[EDGE * EDGE * EDGE];
    const microstructure_request request = {
        .n = {EDGE, EDGE, EDGE}, .given = MICROSTRUCTURE_HAS_COUNT, .count = 40, .seed = 3};
    microstructure *made = NULL;
    int64_t count[40] = {0}, total = 0;
    assert_int_equal(microstructure_create(microstructure_find("voronoi"), &request, &made),
                     WEFT_SUCCESS);
    const microstructure_box all = {.n = {EDGE, EDGE, EDGE}};
    assert_int_equal(microstructure_fill(made, &all, false, 3, whole, count, NULL), WEFT_SUCCESS);
    for (int l = 0; l < 40; l++) total += count[l];
    assert_int_equal(total, EDGE * EDGE * EDGE);
    random_state = 5;
    for (int trial = 0; trial < 20; trial++) {
        microstructure_box box;
        for (int a = 0; a < 3; a++) {
            box.lo[a] = random_below(EDGE);
            box.n[a] = random_below(EDGE - (int)box.lo[a] + 1);
        }
        assert_int_equal(microstructure_fill(made, &box, false, 2, part, count, NULL),
                         WEFT_SUCCESS);
        for (int64_t i = 0, at = 0; i < box.n[0]; i++)
            for (int64_t j = 0; j < box.n[1]; j++)
                for (int64_t k = 0; k < box.n[2]; k++, at++)
                    assert_int_equal(
                        part[at],
                        whole[((box.lo[0] + i) * EDGE + box.lo[1] + j) * EDGE + box.lo[2] + k]);
    }
    microstructure_destroy(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_near_a_place_are_found),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(a_volume_of_one_voxel_has_no_inclusions),
        cmocka_unit_test(boxes_have_the_labels_of_the_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
