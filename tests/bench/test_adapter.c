/*
 * Adapters: small shell scripts that keep the protocol, break it in one place each, or look around
 * in the environment that they are started with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/contestant.h"
#include "support/clock.h"
#include "support/error.h"

extern const bench_contestant_ops bench_adapter;

static int me, ranks;

static bench_problem some_problem(void) {
    return (bench_problem){.rank = 3,
                           .n = {8, 9, 10},
                           .kind = WEFT_R2C,
                           .precision = WEFT_SINGLE,
                           .direction = WEFT_INVERSE,
                           .batch = 3,
                           .strided = true,
                           .comm = MPI_COMM_WORLD,
                           .me = me,
                           .ranks = ranks};
}

/* A cell whose adapter is a script; `launcher` processes run it where that is above 0. */
static json_t *cell_of(const char *script, int launcher) {
    json_t *adapter = json_array(), *cell = json_object();
    char number[16];
    snprintf(number, sizeof number, "%d", launcher);
    const char *const launch[] = {WEFT_MPIEXEC, "-n", number};
    for (int i = 0; i < 3 && launcher > 0; i++)
        json_array_append_new(adapter, json_string(launch[i]));
    const char *const words[] = {"/bin/sh", "-c", script, "the-adapter"};
    for (int i = 0; i < 4; i++) json_array_append_new(adapter, json_string(words[i]));
    json_object_set_new(cell, "library", json_string("fake"));
    json_object_set_new(cell, "threads", json_integer(2));
    json_object_set_new(cell, "adapter", adapter);
    return cell;
}

/* A contestant between describe and close. */
typedef struct meeting {
    bench_problem p;
    bench_contestant c;
    json_t *cell;
} meeting;

static weft_status begin(meeting *m, const char *script, int launcher) {
    *m = (meeting){.p = some_problem(), .cell = cell_of(script, launcher)};
    m->c = (bench_contestant){.ops = &bench_adapter, .problem = &m->p};
    return bench_adapter.describe(&m->c, &m->p, m->cell);
}

static void end(meeting *m) {
    bench_adapter.close(&m->c);
    json_decref(m->cell);
}

static void assert_sentence_has(const char *part) {
    if (!strstr(weft_thread_error(), part))
        fail_msg("\"%s\" does not speak of %s", weft_thread_error(), part);
}

#define ANSWER "; while read -r line; do "
#define READY "echo ready fake 1.2"

static void numbers_reach_every_rank(void **state) {
    (void)state;
    meeting m;
    assert_int_equal(begin(&m,
                           READY ANSWER "echo 0.25 fft=0.125 local=0.5 error=3e-16 "
                                        "memory_peak=4096; done",
                           0),
                     WEFT_SUCCESS);
    assert_string_equal(m.c.version, "1.2");
    assert_true(m.c.quiet_wait && isnan(m.c.own_error) && isnan(m.c.own_memory));
    for (int run = 0; run < 3; run++) {
        assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
        assert_true(m.c.phases.total == 0.25);
        assert_true(m.c.own_error == 3e-16);
        assert_true(m.c.own_memory == 4096);
        assert_true(isnan(m.c.phases.exchange) && isnan(m.c.phases.bytes_sent));
        if (me == 0)
            assert_true(m.c.phases.fft == 0.125 && m.c.phases.local == 0.5);
        else
            assert_true(isnan(m.c.phases.fft) && isnan(m.c.phases.local));
    }
    end(&m);
}

static void later_lines_may_leave_the_error_out(void **state) {
    (void)state;
    meeting m;
    assert_int_equal(begin(&m, READY "; read -r line; echo 1 error=0.5; read -r line; echo 2", 0),
                     WEFT_SUCCESS);
    assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
    assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
    assert_true(m.c.own_error == 0.5 && m.c.phases.total == 2);
    end(&m);
}

static void an_error_that_is_no_number_is_infinite(void **state) {
    (void)state;
    meeting m;
    assert_int_equal(begin(&m, READY "; read -r line; echo 1 error=nan", 0), WEFT_SUCCESS);
    assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
    assert_true(isinf(m.c.own_error));
    end(&m);
}

static void the_case_is_on_the_command_line(void **state) {
    (void)state;
    meeting m;
    assert_int_equal(begin(&m,
                           "[ \"$*\" = '--shape 8x9x10 --kind r2c --precision single --direction "
                           "inverse --batch 3 --layout strided --threads 2' ] && " READY,
                           0),
                     WEFT_SUCCESS);
    end(&m);
}

static void the_adapter_knows_nothing_of_our_launcher(void **state) {
    (void)state;
    meeting m;
    setenv("SLURM_PROCID", "7", 1);
    setenv("SLURM_JOB_ID", "42", 1);
    setenv("PMI_RANK", "0", 1);
    weft_status status =
        begin(&m,
              "env | grep -qE '^(OMPI_COMM|PMIX_|PMI_|MPI_LOCAL|HYDI_|SLURM_PROCID)' || "
              "{ [ \"$SLURM_JOB_ID\" = 42 ] && " READY "; }",
              0);
    assert_int_equal(status, WEFT_SUCCESS);
    end(&m);
    unsetenv("PMI_RANK");
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_PROCID");
}

static void the_adapter_may_be_a_group_of_mpi_processes(void **state) {
    (void)state;
    meeting m;
    weft_status status =
        begin(&m,
              "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; size=${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE}; "
              "[ \"$rank\" = 0 ] || exit 0; echo ready fake $size" ANSWER "echo 1 error=0; done",
              2);
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
    assert_string_equal(m.c.version, "2");
    assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
    assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
    end(&m);
}

/* An MPI launcher may bind rank 0 to one core; what it starts must not be. */
static void the_adapter_gets_the_cores_of_all_ranks(void **state) {
    (void)state;
    meeting m;
    cpu_set_t before, mine, all;
    sched_getaffinity(0, sizeof before, &before);
    size_t first = 0;
    while (!CPU_ISSET(first, &before)) first++;
    CPU_ZERO(&mine);
    CPU_SET(first, &mine);
    if (me > 0) mine = before;
    sched_setaffinity(0, sizeof mine, &mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    assert_int_equal(begin(&m, "echo ready fake $(env -u OMP_NUM_THREADS nproc)", 0), WEFT_SUCCESS);
    assert_int_equal(atoi(m.c.version), CPU_COUNT(&all));
    end(&m);
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&mine, &after));
    sched_setaffinity(0, sizeof before, &before);
}

static void ranks_sleep_while_the_adapter_works(void **state) {
    (void)state;
    meeting m;
    assert_int_equal(begin(&m, READY ANSWER "sleep 1; echo 1 error=0; done", 0), WEFT_SUCCESS);
    const clock_t busy = clock();
    const double start = weft_clock();
    assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), WEFT_SUCCESS);
    assert_true(weft_clock() - start > 0.9);
    assert_true((double)(clock() - busy) / CLOCKS_PER_SEC < 0.3);
    end(&m);
}

static void close_ends_the_adapters_input(void **state) {
    (void)state;
    meeting m;
    char folder[] = "/tmp/weft-test-adapter-XXXXXX", file[64] = "";
    if (me == 0) {
        assert_non_null(mkdtemp(folder));
        snprintf(file, sizeof file, "%s/ended", folder);
        setenv("WEFT_TEST_ADAPTER_FILE", file, 1);
    }
    assert_int_equal(begin(&m, READY ANSWER "echo 1; done; : >\"$WEFT_TEST_ADAPTER_FILE\"", 0),
                     WEFT_SUCCESS);
    end(&m);
    if (me > 0) return;
    assert_int_equal(access(file, F_OK), 0);
    unlink(file);
    rmdir(folder);
}

static void close_ends_an_adapter_that_will_not_end(void **state) {
    (void)state;
    meeting m;
    assert_int_equal(begin(&m, "trap '' TERM; " READY "; while :; do sleep 1; done", 0),
                     WEFT_SUCCESS);
    const double start = weft_clock();
    end(&m);
    assert_true(weft_clock() - start < 20);
}

/* An adapter that hangs, before it is ready or in a run, is ended with all that it started: here a
 * process that would write a file. */
static void adapters_that_hang_are_ended_in_time(void **state) {
    (void)state;
    for (int ready = 0; ready < 2; ready++) {
        char script[256], file[] = "/tmp/weft-adapter-hangs";
        meeting m = {.p = some_problem()};
        snprintf(script, sizeof script, "%s (sleep 3; : >%s) & sleep 100", ready ? READY ";" : "",
                 file);
        if (me == 0) unlink(file);
        m.cell = cell_of(script, 0);
        json_object_set_new(m.cell, "seconds", json_real(1.5));
        m.c = (bench_contestant){.ops = &bench_adapter, .problem = &m.p};
        const double start = weft_clock();
        weft_status status = bench_adapter.describe(&m.c, &m.p, m.cell);
        if (ready) assert_int_equal(status, WEFT_SUCCESS);
        if (ready) status = bench_adapter.run(&m.c, NULL, NULL);
        assert_int_equal(status, WEFT_ERROR_SYSTEM);
        assert_sentence_has("did not come within 1.5 s");
        bench_adapter.close(&m.c);
        json_decref(m.cell);
        assert_true(weft_clock() - start < 20);
        const struct timespec nap = {.tv_sec = 2};
        nanosleep(&nap, NULL);
        assert_int_not_equal(access(file, F_OK), 0);
    }
}

/* What is wrong, and what the sentence must speak of. */
typedef struct mistake {
    const char *script;
    weft_status status;
    const char *sentence[2];
} mistake;

static void mistakes_before_the_first_run_are_told(void **state) {
    (void)state;
    static const mistake mistakes[] = {
        {"exit 3", WEFT_ERROR_SYSTEM, {"status 3", "line 1"}},
        {"kill -9 $$", WEFT_ERROR_SYSTEM, {"signal 9", "line 1"}},
        {"exit 2", WEFT_ERROR_UNSUPPORTED, {"cannot do this case", "/bin/sh"}},
        {"echo hello", WEFT_ERROR_SYSTEM, {"hello", "ready LIBRARY VERSION"}},
        {"echo ready fake", WEFT_ERROR_SYSTEM, {"ready fake", "ready LIBRARY VERSION"}},
        {"echo ready other 1", WEFT_ERROR_SYSTEM, {"ready other 1", "another library"}},
        {"printf '%02000d\\n' 0; sleep 1", WEFT_ERROR_SYSTEM, {"longer than", "line 1"}},
        {"printf 'ready fake 1'", WEFT_ERROR_SYSTEM, {"status 0", "line 1"}}};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        meeting m;
        assert_int_equal(begin(&m, mistakes[i].script, 0), mistakes[i].status);
        for (int s = 0; s < 2; s++) assert_sentence_has(mistakes[i].sentence[s]);
        end(&m);
    }
}

static void mistakes_in_a_run_are_told(void **state) {
    (void)state;
    static const mistake mistakes[] = {
        {"exit 7", WEFT_ERROR_SYSTEM, {"status 7", "line 2"}},
        {"exit 2", WEFT_ERROR_SYSTEM, {"status 2", "line 2"}},
        {"read -r line; echo fast", WEFT_ERROR_SYSTEM, {"\"fast\"", "line 2"}},
        {"read -r line; echo", WEFT_ERROR_SYSTEM, {"SECONDS", "line 2"}},
        {"read -r line; echo -1 error=0", WEFT_ERROR_SYSTEM, {"-1 error=0", "SECONDS"}},
        {"read -r line; echo 1 error=0 speed=9", WEFT_ERROR_SYSTEM, {"speed=9", "names are"}},
        {"read -r line; echo 1 error=", WEFT_ERROR_SYSTEM, {"1 error=", "line 2"}},
        {"read -r line; echo 1 fft=1", WEFT_ERROR_SYSTEM, {"error=", "first run"}}};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        meeting m;
        char script[256];
        snprintf(script, sizeof script, READY "; %s", mistakes[i].script);
        assert_int_equal(begin(&m, script, 0), WEFT_SUCCESS);
        assert_int_equal(bench_adapter.run(&m.c, NULL, NULL), mistakes[i].status);
        for (int s = 0; s < 2; s++) assert_sentence_has(mistakes[i].sentence[s]);
        end(&m);
    }
}

static void adapters_that_cannot_be_started_are_told(void **state) {
    (void)state;
    const bench_problem p = some_problem();
    json_t *nowhere = json_pack("{s:s, s:[s]}", "library", "fake", "adapter", "/no/such/adapter");
    json_t *empty = json_pack("{s:s, s:[]}", "library", "fake", "adapter");
    json_t *number = json_pack("{s:s, s:[i]}", "library", "fake", "adapter", 5);
    bench_contestant c = {.ops = &bench_adapter, .problem = &p};
    assert_int_equal(bench_adapter.describe(&c, &p, nowhere), WEFT_ERROR_SYSTEM);
    assert_sentence_has("/no/such/adapter");
    bench_adapter.close(&c);
    assert_int_equal(bench_adapter.describe(&c, &p, empty), WEFT_ERROR_INVALID_ARGUMENT);
    bench_adapter.close(&c);
    assert_int_equal(bench_adapter.describe(&c, &p, number), WEFT_ERROR_INVALID_ARGUMENT);
    bench_adapter.close(&c);
    json_decref(number);
    json_decref(empty);
    json_decref(nowhere);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_reach_every_rank),
        cmocka_unit_test(later_lines_may_leave_the_error_out),
        cmocka_unit_test(an_error_that_is_no_number_is_infinite),
        cmocka_unit_test(the_case_is_on_the_command_line),
        cmocka_unit_test(the_adapter_knows_nothing_of_our_launcher),
        cmocka_unit_test(the_adapter_may_be_a_group_of_mpi_processes),
        cmocka_unit_test(the_adapter_gets_the_cores_of_all_ranks),
        cmocka_unit_test(ranks_sleep_while_the_adapter_works),
        cmocka_unit_test(adapters_that_hang_are_ended_in_time),
        cmocka_unit_test(close_ends_the_adapters_input),
        cmocka_unit_test(close_ends_an_adapter_that_will_not_end),
        cmocka_unit_test(mistakes_before_the_first_run_are_told),
        cmocka_unit_test(mistakes_in_a_run_are_told),
        cmocka_unit_test(adapters_that_cannot_be_started_are_told),
    };
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
