/*
 * FFTW, FFTW-MPI and MKL as contestants: what they compute is right by the benchmark's own check,
 * they write all of their share, and keep the input where they say so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/contestant.h"
#include "bench/fftw_builds.h"
#include "engine/fftw/library.h"
#include "make_real.h"
#include "support/error.h"

extern const bench_contestant_ops bench_fftw, bench_fftw_avx512, bench_mkl, bench_ducc0,
    bench_fftw_mpi, bench_fftw_mpi_avx512, bench_mkl_cluster;

static int me, ranks;

typedef struct shape {
    int rank;
    int64_t n[3];
    int64_t batch;
    bool strided;
} shape;

enum { CHOICES = 12, COMPLEX_CHOICES = 8 };

static bench_problem problem_of(const shape *s, int choice) {
    bench_problem p = {.rank = s->rank,
                       .kind = choice & 1 ? WEFT_R2C : WEFT_C2C,
                       .direction = choice & 2 ? WEFT_INVERSE : WEFT_FORWARD,
                       .precision = choice & 4 ? WEFT_SINGLE : WEFT_DOUBLE,
                       .batch = s->batch,
                       .strided = s->strided,
                       .comm = MPI_COMM_WORLD,
                       .me = me,
                       .ranks = ranks};
    memcpy(p.n, s->n, sizeof s->n);
    if (choice >= COMPLEX_CHOICES) make_real(&p, choice);
    return p;
}

static json_t *cell_of(const char *config, const char *effort, int threads) {
    json_t *cell =
        json_pack("{s:s, s:s, s:i}", "config", config, "effort", effort, "threads", threads);
    assert_non_null(cell);
    return cell;
}

static void *buffer(size_t bytes) {
    void *made = aligned_alloc(64, (bytes / 64 + 1) * 64);
    assert_non_null(made);
    memset(made, 0xff, bytes); /* NaN */
    return made;
}

/* Describes, plans, runs twice, checks; false where the library cannot do it. */
static bool compete(const bench_contestant_ops *ops, const bench_problem *p, const json_t *cell) {
    bench_contestant c = {.ops = ops, .problem = p};
    weft_status status = ops->describe(&c, p, cell);
    if (status == WEFT_ERROR_UNSUPPORTED) {
        assert_true(strlen(weft_thread_error()) > 20);
        ops->close(&c);
        return false;
    }
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
    assert_true(c.version[0] >= '0' && c.version[0] <= '9');
    void *in = buffer(c.in_bytes), *out = buffer(c.out_bytes), *before = buffer(c.in_bytes);
    if (ops->plan) {
        if (ops->plan(&c, in, out) != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
        const weft_fftw_library *library = fftw_build_open(ops->library, p->precision);
        if (library->planner_nthreads) assert_int_equal(library->planner_nthreads(), 1);
    }
    bench_expectation expectation;
    assert_int_equal(bench_expect(p, &expectation), WEFT_SUCCESS);
    memset(in, 0xff, c.in_bytes);
    for (int run = 0; run < 2; run++) {
        bench_fill(p, &c.in, in);
        memcpy(before, in, c.in_bytes);
        memset(out, 0xff, c.out_bytes);
        assert_int_equal(ops->run(&c, in, out), WEFT_SUCCESS);
        const double u = p->precision == WEFT_SINGLE ? 0x1p-24 : 0x1p-53;
        const double error = bench_error(p, &expectation, &c.out, out);
        if (!(error < 5 * u))
            fail_msg("%s %s on %d ranks: error %g", ops->library, c.variant, p->ranks, error);
        if (!c.destroys_input) assert_memory_equal(before, in, c.in_bytes);
    }
    ops->close(&c);
    free(before);
    free(out);
    free(in);
    return true;
}

static bool whole_group_is(int wanted) {
    return ranks == wanted;
}

static void fftw_and_its_likes_are_right_on_all_problems_of_one_process(void **state) {
    (void)state;
    static const bench_contestant_ops *const all[] = {&bench_fftw, &bench_fftw_avx512, &bench_mkl,
                                                      &bench_ducc0};
    static const shape shapes[] = {
        {1, {1}, 1, false},      {1, {31}, 1, false},      {1, {4096}, 1, false},
        {1, {60}, 7, false},     {1, {64}, 8, true},       {2, {16, 15}, 1, false},
        {2, {9, 20}, 3, true},   {2, {20, 9}, 3, false},   {3, {8, 12, 10}, 1, false},
        {3, {7, 5, 3}, 4, true}, {3, {16, 1, 9}, 2, false}};
    if (!whole_group_is(1)) skip();
    for (int i = 0; i < 2 * 4; i++) {
        const bench_contestant_ops *ops = all[i / 2];
        const int threads = 1 + i % 2;
        json_t *cell = cell_of("-", threads == 1 ? "measure" : "estimate", threads);
        bool there = true; /* only FFTW itself must be */
        for (size_t s = 0; there && s < sizeof shapes / sizeof shapes[0]; s++) {
            for (int choice = 0; there && choice < CHOICES; choice++) {
                const bench_problem p = problem_of(&shapes[s], choice);
                there = compete(ops, &p, cell);
            }
        }
        if (!there) print_message("%s\n", weft_thread_error());
        assert_true(there || ops != &bench_fftw);
        json_decref(cell);
    }
}

/* Without WEFT_PEERS, or with a folder that holds nothing, peers are skipped and not failures. */
static void absent_peers_say_how_to_get_them(void **state) {
    (void)state;
    static const bench_contestant_ops *const absent[] = {
        &bench_fftw_avx512, &bench_ducc0, &bench_mkl, &bench_fftw_mpi_avx512, &bench_mkl_cluster};
    const char *peers = getenv("WEFT_PEERS");
    char *kept = peers ? strdup(peers) : NULL;
    json_t *cell = cell_of("natural", "estimate", 1);
    const bench_problem p = problem_of(&(shape){2, {8, 8}, 1, false}, 0);
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        const bool on_one_process = i < 3;
        if (absent[i] != &bench_fftw_mpi_avx512 && whole_group_is(1) != on_one_process) continue;
        unsetenv("WEFT_PEERS");
        assert_false(compete(absent[i], &p, cell));
        assert_non_null(strstr(weft_thread_error(), "scripts/build-peers"));
        assert_non_null(strstr(weft_thread_error(), "WEFT_PEERS"));
    }
    if (kept) setenv("WEFT_PEERS", kept, 1);
    free(kept);
    json_decref(cell);
}

static void fftw_refuses_more_than_one_process(void **state) {
    (void)state;
    json_t *cell = cell_of("-", "estimate", 1);
    const bench_problem p = problem_of(&(shape){1, {8}, 1, false}, 0);
    assert_int_equal(compete(&bench_fftw, &p, cell), whole_group_is(1));
    json_decref(cell);
}

/* FFTW-MPI need not be installed, or may speak another MPI. */
static bool fftw_mpi_is_there(const bench_contestant_ops *build) {
    json_t *cell = cell_of("natural", "estimate", 1);
    bool there = true; /* in both precisions */
    for (int choice = 0; there && choice < COMPLEX_CHOICES; choice += 4) {
        const bench_problem p = problem_of(&(shape){2, {4, 4}, 1, false}, choice);
        there = compete(build, &p, cell);
    }
    json_decref(cell);
    if (!there) print_message("skipped: %s\n", weft_thread_error());
    return there;
}

static void skip_without_fftw_mpi(void) {
    if (!fftw_mpi_is_there(&bench_fftw_mpi)) skip();
}

/* ---- wisdom ---- */

static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_true(file && text);
    *bytes = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

/* FFTW-MPI adds algorithms to the planner, whose wisdom no other process could read. Runs first. */
static void fftw_mpi_leaves_the_wisdom_file_alone(void **state) {
    (void)state;
    char folder[] = "/tmp/weft-test-wisdom-XXXXXX", path[256];
    if (!whole_group_is(1)) skip();
    assert_non_null(mkdtemp(folder));
    setenv("WEFT_WISDOM_DIR", folder, 1);
    json_t *cell = cell_of("natural", "measure", 1);
    const bench_problem small = problem_of(&(shape){2, {24, 36}, 1, false}, 0);
    const bench_problem large = problem_of(&(shape){2, {40, 54}, 1, false}, 0);
    assert_true(compete(&bench_fftw, &small, cell));
    snprintf(path, sizeof path, "%s/%s-double.wisdom", folder,
             weft_fftw_open(WEFT_DOUBLE)->version);
    size_t before_bytes, after_bytes;
    char *before = read_file(path, &before_bytes);
    bool there = compete(&bench_fftw_mpi, &small, cell);
    if (there) assert_true(compete(&bench_fftw, &large, cell));
    char *after = read_file(path, &after_bytes);
    assert_int_equal(before_bytes, after_bytes);
    assert_memory_equal(before, after, before_bytes);
    free(after);
    free(before);
    json_decref(cell);
    unlink(path);
    rmdir(folder);
    setenv("WEFT_WISDOM_DIR", "", 1);
}

/* What is split over ranks: a shape may have too few rows for them. */
static const shape split_shapes[] = {
    {2, {16, 12}, 1, false},   {2, {7, 9}, 1, false},     {2, {2, 30}, 1, false},
    {2, {30, 2}, 1, false},    {2, {9, 1}, 1, false},     {3, {8, 8, 8}, 1, false},
    {3, {5, 7, 9}, 1, false},  {3, {2, 9, 10}, 1, true},  {3, {9, 2, 4}, 1, false},
    {3, {1, 16, 3}, 1, false}, {3, {12, 5, 1}, 1, false}, {3, {6, 1, 9}, 1, false},
    {3, {2, 2, 2}, 1, false}};
enum { SPLIT_SHAPES = sizeof split_shapes / sizeof split_shapes[0] };

static void fftw_mpi_is_right_in_both_configurations(void **state) {
    (void)state;
    static const char *const configs[] = {"natural", "transposed"};
    static const bench_contestant_ops *const builds[] = {&bench_fftw_mpi, &bench_fftw_mpi_avx512};
    bool there[2] = {fftw_mpi_is_there(builds[0]), fftw_mpi_is_there(builds[1])};
    for (size_t s = 0; s < 2 * SPLIT_SHAPES; s++) {
        for (int choice = 0; there[s % 2] && choice < 2 * COMPLEX_CHOICES; choice++) {
            const bench_problem p = problem_of(&split_shapes[s / 2], choice % COMPLEX_CHOICES);
            json_t *cell = cell_of(configs[choice / COMPLEX_CHOICES],
                                   s / 2 % 2 == 0 ? "estimate" : "measure", 1 + choice % 2);
            assert_int_equal(compete(builds[s % 2], &p, cell), p.n[0] > 1 && p.n[1] > 1);
            json_decref(cell);
        }
    }
}

static void fftw_mpi_does_complex_lines_and_refuses_real_ones(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 13, 64, 100, 210, 1021};
    skip_without_fftw_mpi();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int choice = 0; choice < COMPLEX_CHOICES; choice++) {
            const bench_problem p = problem_of(&(shape){1, {lengths[i]}, 1, false}, choice);
            json_t *natural = cell_of("natural", "estimate", 1);
            json_t *transposed = cell_of("transposed", "estimate", 1);
            assert_int_equal(compete(&bench_fftw_mpi, &p, natural),
                             p.kind == WEFT_C2C && p.n[0] > 1);
            assert_false(compete(&bench_fftw_mpi, &p, transposed));
            json_decref(transposed);
            json_decref(natural);
        }
    }
}

static void fftw_mpi_refuses_batches_and_real_to_real_transforms(void **state) {
    (void)state;
    json_t *cell = cell_of("natural", "estimate", 1);
    const bench_problem p = problem_of(&(shape){2, {8, 8}, 2, false}, 0);
    assert_false(compete(&bench_fftw_mpi, &p, cell));
    const bench_problem real = problem_of(&(shape){2, {8, 8}, 1, false}, COMPLEX_CHOICES);
    assert_false(compete(&bench_fftw_mpi, &real, cell));
    json_decref(cell);
}

/* It is there where scripts/build-peers made it, for more ranks than one. */
static bool mkl_cluster_is_there(void) {
    json_t *cell = cell_of("natural", "estimate", 1);
    const bench_problem p = problem_of(&(shape){3, {8, 8, 8}, 1, false}, 0);
    bool there = compete(&bench_mkl_cluster, &p, cell);
    json_decref(cell);
    if (!there) print_message("skipped: %s\n", weft_thread_error());
    return there;
}

static void mkl_cluster_is_right_in_both_configurations(void **state) {
    (void)state;
    static const shape large = {3, {64, 48, 80}, 1, false};
    static const char *const configs[] = {"natural", "transposed"};
    if (!mkl_cluster_is_there()) skip();
    for (size_t s = 0; s <= SPLIT_SHAPES; s++) {
        for (int choice = 0; choice < 2 * COMPLEX_CHOICES; choice++) {
            const bench_problem p =
                problem_of(s < SPLIT_SHAPES ? &split_shapes[s] : &large, choice % COMPLEX_CHOICES);
            json_t *cell = cell_of(configs[choice / COMPLEX_CHOICES], "measure", 1 + choice % 2);
            assert_int_equal(compete(&bench_mkl_cluster, &p, cell),
                             p.n[0] >= ranks && p.n[1] >= ranks);
            json_decref(cell);
        }
    }
}

static void mkl_cluster_refuses_what_it_has_not(void **state) {
    (void)state;
    static const shape shapes[] = {{1, {64}, 1, false}, {2, {8, 8}, 2, false}};
    json_t *cell = cell_of("natural", "estimate", 1), *config = cell_of("sideways", "measure", 1);
    for (int i = 0; i < 2; i++) {
        const bench_problem p = problem_of(&shapes[i], 0);
        assert_false(compete(&bench_mkl_cluster, &p, cell));
    }
    const bench_problem real = problem_of(&(shape){2, {8, 8}, 1, false}, COMPLEX_CHOICES);
    assert_false(compete(&bench_mkl_cluster, &real, cell));
    const bench_problem p = problem_of(&(shape){2, {8, 8}, 1, false}, 0);
    bench_contestant c = {.ops = &bench_mkl_cluster, .problem = &p};
    assert_int_equal(bench_mkl_cluster.describe(&c, &p, config), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "sideways"));
    bench_mkl_cluster.close(&c);
    json_decref(config);
    json_decref(cell);
}

static void unknown_words_are_errors_of_the_user(void **state) {
    (void)state;
    const bench_problem p = problem_of(&(shape){2, {8, 8}, 1, false}, 0);
    json_t *config = cell_of("sideways", "measure", 1), *effort = cell_of("natural", "heroic", 1);
    bench_contestant c = {.ops = &bench_fftw_mpi, .problem = &p};
    assert_int_equal(bench_fftw_mpi.describe(&c, &p, config), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "sideways"));
    bench_fftw_mpi.close(&c);
    assert_int_equal(bench_fftw_mpi.describe(&c, &p, effort), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "heroic"));
    bench_fftw_mpi.close(&c);
    json_decref(effort);
    json_decref(config);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fftw_mpi_leaves_the_wisdom_file_alone),
        cmocka_unit_test(fftw_and_its_likes_are_right_on_all_problems_of_one_process),
        cmocka_unit_test(fftw_refuses_more_than_one_process),
        cmocka_unit_test(fftw_mpi_is_right_in_both_configurations),
        cmocka_unit_test(fftw_mpi_does_complex_lines_and_refuses_real_ones),
        cmocka_unit_test(fftw_mpi_refuses_batches_and_real_to_real_transforms),
        cmocka_unit_test(mkl_cluster_is_right_in_both_configurations),
        cmocka_unit_test(mkl_cluster_refuses_what_it_has_not),
        cmocka_unit_test(unknown_words_are_errors_of_the_user),
        cmocka_unit_test(absent_peers_say_how_to_get_them),
    };
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    setenv("WEFT_WISDOM_DIR", "", 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
