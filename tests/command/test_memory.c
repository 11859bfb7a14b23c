/* How much memory the command takes to be there, from files as Linux writes them. */
#include "memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char meminfo[] = "MemTotal:       1000 kB\nMemFree:         10 kB\n"
                              "MemAvailable:    600 kB\nSwapTotal: 50 kB\nSwapFree: 40 kB\n";

static void write_file(const char *root, const char *path, const char *text) {
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0777);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

typedef struct file_text {
    const char *path, *text;
} file_text;

static double available(const file_text *files, int count, bool swap) {
    char root[] = "/tmp/weft-memory-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    for (int f = 0; f < count; f++) write_file(root, files[f].path, files[f].text);
    double bytes = memory_available(root, swap);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    return bytes;
}

#define AVAILABLE(swap, ...)                                                                       \
    available((const file_text[]){__VA_ARGS__},                                                    \
              (int)(sizeof((const file_text[]){__VA_ARGS__}) / sizeof(file_text)), swap)

static void assert_bytes(double is, double expected) {
    if (is != expected) fail_msg("%g bytes instead of %g", is, expected);
}

static void without_groups_it_is_what_the_system_says(void **state) {
    (void)state;
    assert_bytes(AVAILABLE(false, {"/proc/meminfo", meminfo}), 600.0 * 1024);
    assert_bytes(AVAILABLE(true, {"/proc/meminfo", meminfo}), 640.0 * 1024);
}

static void the_tightest_group_of_version_2_counts_without_its_cached_files(void **state) {
    (void)state;
    const char *stat = "anon 50000\nfile 30000\ninactive_file 20000\nactive_file 10000\n";
    assert_bytes(AVAILABLE(true, {"/proc/meminfo", meminfo}, {"/proc/self/cgroup", "0::/a/b\n"},
                           {"/sys/fs/cgroup/a/memory.max", "100000\n"},
                           {"/sys/fs/cgroup/a/memory.current", "80000\n"},
                           {"/sys/fs/cgroup/a/memory.stat", stat},
                           {"/sys/fs/cgroup/a/b/memory.max", "max\n"},
                           {"/sys/fs/cgroup/a/b/memory.current", "80000\n"}),
                 50000.0);
}

static void groups_of_version_1_count_too(void **state) {
    (void)state;
    assert_bytes(AVAILABLE(true, {"/proc/meminfo", meminfo},
                           {"/proc/self/cgroup", "5:cpu:/x\n4:memory:/job\n0::/\n"},
                           {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                           {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "70000\n"},
                           {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "90000\n"},
                           {"/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "70000\n"},
                           {"/sys/fs/cgroup/memory/job/memory.stat",
                            "inactive_file 1\ntotal_inactive_file 5000\n"}),
                 25000.0);
}

static void a_container_sees_its_group_as_the_uppermost(void **state) {
    (void)state;
    assert_bytes(AVAILABLE(true, {"/proc/meminfo", meminfo},
                           {"/proc/self/cgroup", "0::/docker/0123\n"},
                           {"/sys/fs/cgroup/memory.max", "40000\n"},
                           {"/sys/fs/cgroup/memory.current", "10000\n"}),
                 30000.0);
}

static void what_the_system_does_not_tell_is_no_limit(void **state) {
    (void)state;
    assert_true(isinf(AVAILABLE(true, {"/proc/self/cgroup", "nonsense\n"})));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_it_is_what_the_system_says),
        cmocka_unit_test(the_tightest_group_of_version_2_counts_without_its_cached_files),
        cmocka_unit_test(groups_of_version_1_count_too),
        cmocka_unit_test(a_container_sees_its_group_as_the_uppermost),
        cmocka_unit_test(what_the_system_does_not_tell_is_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
