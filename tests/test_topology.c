/* Caches and cores: those of this machine, and those of machines that hwloc is told to imagine. The
 * topology is looked up once in each process, so that each question has a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/topology.h"

/* The result of weft_topology_get in a new process, after `prepare` has run there. */
static weft_topology ask(bool (*prepare)(const char *), const char *argument) {
    int channel[2], status;
    weft_topology answer = {0};
    assert_int_equal(pipe(channel), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool ready = prepare(argument);
        answer = *weft_topology_get();
        _exit(ready && write(channel[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(channel[0], &answer, sizeof answer), sizeof answer);
    close(channel[0]);
    close(channel[1]);
    return answer;
}

static bool as_it_is(const char *unused) {
    (void)unused;
    return true;
}

/* Binds this process to the first of its processors. */
static bool bind_to_one(const char *unused) {
    (void)unused;
    cpu_set_t mine, one;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return false;
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &mine)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static void this_machine_has_caches_and_cores(void **state) {
    (void)state;
    const weft_topology here = ask(as_it_is, NULL);
    assert_in_range(here.l1, 4 << 10, 1 << 20);
    assert_in_range(here.l2, 32 << 10, 1 << 30);
    assert_true(here.last_level >= here.l2);
    assert_in_range(here.last_level_shared, 1, 1 << 16);
    assert_in_range(here.cores, 1, sysconf(_SC_NPROCESSORS_CONF));
}

static void a_process_bound_to_one_processor_has_one_core(void **state) {
    (void)state;
    const weft_topology here = ask(as_it_is, NULL), bound = ask(bind_to_one, NULL);
    assert_int_equal(bound.cores, 1);
    assert_int_equal(bound.last_level, here.last_level);
    assert_int_equal(bound.last_level_shared, here.last_level_shared);
}

static void caches_are_shared_by_the_threads_that_may_use_them(void **state) {
    (void)state;
    /* A cache of each machine is shared by 8 cores. */
    static const struct {
        const char *machine;
        int cores, caches, caches_of_machine, threads, processes, sharers;
    } cases[] = {
        {"one thread alone", 64, 8, 8, 1, 1, 1},
        {"one cache", 8, 1, 1, 8, 1, 8},
        {"threads spread over all caches", 64, 8, 8, 8, 1, 1},
        {"threads on all cores", 64, 8, 8, 64, 1, 8},
        {"more threads than go around evenly", 16, 2, 2, 3, 1, 2},
        {"unbound processes", 64, 8, 8, 4, 4, 2},
        {"unbound processes, fewer than caches", 64, 8, 8, 1, 4, 1},
        {"bound to one cache each", 8, 1, 8, 8, 8, 8},
        {"bound to one cache each, two of them to mine", 8, 1, 8, 4, 16, 8},
        {"bound to four caches of two sockets", 32, 4, 8, 8, 2, 2},
        {"bound to a core each, side by side", 1, 1, 8, 1, 4, 4},
        {"bound to a core each, on all cores", 1, 1, 8, 1, 64, 8},
        {"bound to half a cache each", 4, 1, 8, 4, 16, 8},
        {"bound to two cores, alone", 2, 1, 8, 2, 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const weft_topology machine = {.last_level = 32 << 20,
                                       .last_level_shared = 8,
                                       .cores = cases[i].cores,
                                       .last_levels = cases[i].caches,
                                       .last_levels_of_machine = cases[i].caches_of_machine};
        const int sharers = weft_topology_sharers(&machine, cases[i].threads, cases[i].processes);
        if (sharers != cases[i].sharers)
            fail_msg("%s: %d, not %d", cases[i].machine, sharers, cases[i].sharers);
    }
}

static void *get(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)weft_topology_get();
}

static void threads_that_ask_at_once_get_the_same(void **state) {
    (void)state;
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, get, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *answer;
        assert_int_equal(pthread_join(thread[i], &answer), 0);
        assert_ptr_equal(answer, weft_topology_get());
    }
}

#ifdef WEFT_HWLOC
static bool imagine(const char *machine) {
    return setenv("HWLOC_SYNTHETIC", machine, 1) == 0;
}

static void machines_are_described_as_they_are(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        weft_topology expected;
    } cases[] = {
        {"pack:2 l3:2(size=16777216) l2:4(size=1048576) l1d:1(size=49152) core:1 pu:2",
         {48 << 10, 1 << 20, 16 << 20, 4, 16, 4, 4}},
        {"l2:2(size=2097152) l1d:4(size=65536) core:1 pu:1", /* cores that share their L2; no L3 */
         {64 << 10, 512 << 10, 2 << 20, 4, 8, 2, 2}},
        {"core:3 pu:1", {0, 0, 0, 0, 3, 1, 1}}, /* no caches: something that is not zero */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const weft_topology *expected = &cases[i].expected, found = ask(imagine, cases[i].machine);
        assert_int_equal(found.cores, expected->cores);
        assert_true(found.l1 > 0 && found.l2 > 0 && found.last_level > 0);
        assert_true(found.last_level_shared > 0);
        assert_int_equal(found.last_levels, expected->last_levels);
        assert_int_equal(found.last_levels_of_machine, expected->last_levels_of_machine);
        if (expected->l1 == 0) continue;
        assert_int_equal(found.l1, expected->l1);
        assert_int_equal(found.l2, expected->l2);
        assert_int_equal(found.last_level, expected->last_level);
        assert_int_equal(found.last_level_shared, expected->last_level_shared);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine_has_caches_and_cores),
        cmocka_unit_test(a_process_bound_to_one_processor_has_one_core),
        cmocka_unit_test(caches_are_shared_by_the_threads_that_may_use_them),
#ifdef WEFT_HWLOC
        cmocka_unit_test(machines_are_described_as_they_are),
#endif
        cmocka_unit_test(threads_that_ask_at_once_get_the_same), /* last: children ask for
                                                                    themselves */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
