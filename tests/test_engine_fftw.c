/* What the FFTW engine promises beyond the transform: how it finds the library, its wisdom, and its
 * planner. */
#include "test_engine.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *const fftw = (void *)(uintptr_t)&weft_engine_fftw;

/* This must be the first test: the library is opened once in each process, so the child must be
 * forked before that. */
static void a_wrong_library_path_is_named_in_the_error(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("WEFT_FFTW_LIBRARY_PATH", "/nonexistent", 1);
        bool right = weft_engine_fftw.probe(NULL) == WEFT_ERROR_UNSUPPORTED &&
                     strstr(weft_thread_error(), "/nonexistent/libfftw3.so.3") &&
                     strstr(weft_thread_error(), "WEFT_FFTW_LIBRARY_PATH") &&
                     weft_engine_default(weft_device_find(WEFT_HOST)) != &weft_engine_fftw;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void the_probe_tells_the_version(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    const char *description = NULL;
    assert_int_equal(engine->probe(&description), WEFT_SUCCESS);
    assert_ptr_equal(strstr(description, "FFTW 3."), description);
    assert_non_null(strstr(description, "(fftw-3."));
}

static void plan_measured(const weft_engine_ops *engine, int64_t n) {
    const weft_device_handle device = {weft_device_find(WEFT_HOST), NULL};
    const weft_transform t = {.dims = 1,
                              .dim = {{n, 1, 1}},
                              .threads = 1,
                              .effort = WEFT_MEASURE,
                              .in_elements = n,
                              .out_elements = n};
    weft_engine_plan *plan;
    size_t bytes;
    assert_int_equal(engine->plan(&t, &device, &plan, &bytes), WEFT_SUCCESS);
    engine->destroy(plan);
}

/* Counts the files in the folder and copies the name of the last one. */
static int list_files(const char *folder, char name[256]) {
    int count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(name, 256, "%s", entry->d_name);
        count++;
    }
    closedir(stream);
    return count;
}

static void measured_wisdom_is_kept_in_one_whole_file(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    char folder[] = "/tmp/weft-wisdom-XXXXXX", name[256] = "", path[512];
    assert_non_null(mkdtemp(folder));
    setenv("WEFT_WISDOM_DIR", folder, 1);
    plan_measured(engine, 48);
    plan_measured(engine, 80);
    setenv("WEFT_WISDOM_DIR", "", 1);
    plan_measured(engine, 112); /* kept nowhere */
    assert_int_equal(list_files(folder, name), 1);
    assert_ptr_equal(strstr(name, "fftw-3."), name);
    assert_non_null(strstr(name, "-double.wisdom"));

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "r");
    char text[16] = "";
    assert_non_null(stream);
    assert_non_null(fgets(text, sizeof text, stream));
    fclose(stream);
    assert_ptr_equal(strstr(text, "(fftw-3."), text);
    unlink(path);
    rmdir(folder);
}

static void *plan_many(void *argument) {
    const weft_device_handle device = {weft_device_find(WEFT_HOST), NULL};
    const int64_t first = *(const int64_t *)argument;
    for (int64_t n = first; n < first + 60; n++) {
        const weft_transform t = {.dims = 1, .dim = {{n, 1, 1}}, .threads = (int)(n % 3 + 1)};
        weft_engine_plan *plan;
        size_t bytes;
        if (weft_engine_fftw.plan(&t, &device, &plan, &bytes) != WEFT_SUCCESS) return argument;
        weft_engine_fftw.destroy(plan);
    }
    return NULL;
}

static void plans_can_be_made_by_several_threads_at_once(void **state) {
    engine_of(state);
    pthread_t thread[4];
    int64_t first[4] = {1, 31, 61, 91};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, plan_many, &first[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
}

static int64_t resident_bytes(void) {
    long long pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (!stream) return 0;
    if (fscanf(stream, "%*s %lld", &pages) != 1) pages = 0;
    fclose(stream);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Defined if the address sanitizer is used, whose own memory makes the number of resident bytes
 * meaningless. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

static void memory_to_measure_with_is_given_back(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (__asan_init || __tsan_init) skip();
    const int64_t n = 1 << 19; /* two arrays of 8 MiB */
    plan_measured(engine, 32);
    int64_t before = resident_bytes();
    plan_measured(engine, n);
    assert_true(resident_bytes() - before < n * 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_library_path_is_named_in_the_error),
        cmocka_unit_test_prestate(the_probe_tells_the_version, fftw),
        cmocka_unit_test_prestate(measured_wisdom_is_kept_in_one_whole_file, fftw),
        cmocka_unit_test_prestate(plans_can_be_made_by_several_threads_at_once, fftw),
        cmocka_unit_test_prestate(memory_to_measure_with_is_given_back, fftw),
    };
    setenv("WEFT_WISDOM_DIR", "", 1);
    unsetenv("WEFT_FFTW_LIBRARY_PATH");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
