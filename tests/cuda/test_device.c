/*
 * What only the CUDA device promises: the choice of the GPU, kernels of its own that are compiled
 * once, and callers' memory that is page-locked. Those of the cache need the compiler of
 * host_cuda.h, which counts (WEFT_TEST_HOST_CUDA).
 */
#include "devices/device_test.h"
#include "stand_in.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void the_gpu_is_that_of_the_rank_or_as_told(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    const weft_device_settings settings = {.threads = 1};
    weft_device_state *device = NULL;
    setenv("WEFT_CUDA_DEVICE", "9999", 1);
    assert_int_equal(ops->open(&settings, &device), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "WEFT_CUDA_DEVICE"));
    unsetenv("WEFT_CUDA_DEVICE");
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "13", 1);
    ok(ops->open(&settings, &device)); /* more ranks than GPUs share them */
    ops->close(device);
    unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
}

/* ---- the cache, in processes of their own ---- */

static int lines_of(const char *path) {
    FILE *file = fopen(path, "r");
    int lines = 0;
    for (int c; file && (c = getc(file)) != EOF;) lines += c == '\n';
    if (file) fclose(file);
    return lines;
}

/* How often the compiler ran when a new process opened the device. */
static int compilations(const char *log) {
    int before = lines_of(log), status = -1;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_cuda_device", "--open", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    return lines_of(log) - before;
}

/* Writes over the end of every file of a folder. */
static int damage_files(const char *folder) {
    DIR *files = opendir(folder);
    int damaged = 0;
    for (struct dirent *entry; files && (entry = readdir(files));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, "cuda-", 5) != 0) continue;
        FILE *file = fopen(path, "r+");
        if (file && fseek(file, -3, SEEK_END) == 0 && fputs("???", file) >= 0) damaged++;
        if (file) fclose(file);
    }
    if (files) closedir(files);
    return damaged;
}

static void kernels_are_compiled_once_and_anew_where_their_file_is_damaged(void **state) {
    (void)state;
    enum { KERNELS = 3 }; /* sources: copies, scaling in two precisions */
    char folder[] = "/tmp/weft_cuda_XXXXXX", log[64], command[96];
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    assert_non_null(mkdtemp(folder));
    snprintf(log, sizeof log, "%s/compiled", folder);
    setenv("WEFT_TEST_COMPILED", log, 1);
    setenv("WEFT_WISDOM_DIR", folder, 1);
    assert_int_equal(compilations(log), KERNELS);
    assert_int_equal(compilations(log), 0);
    assert_int_equal(damage_files(folder), KERNELS);
    assert_int_equal(compilations(log), KERNELS);
    assert_int_equal(compilations(log), 0);
    setenv("WEFT_WISDOM_DIR", "", 1);
    assert_int_equal(compilations(log), KERNELS);
    unsetenv("WEFT_TEST_COMPILED");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void without_a_gpu_the_probes_say_so(void **state) {
    (void)state;
    int status = -1;
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    setenv("WEFT_TEST_GPUS", "0", 1);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_cuda_device", "--absent", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    unsetenv("WEFT_TEST_GPUS");
    assert_int_equal(status, 0);
}

/* ---- a kernel that ends the context, in a process of its own ---- */

/* Fails when everything after it has long been enqueued. */
static const char *const failing[] = {
    "KERNEL(fail)(long64 address, unsigned seed) {\n"
    "    for (int i = 0; i < 100000000; i++) seed = seed * 1664525u + 1013904223u;\n"
    "    *(unsigned *)address = seed;\n"
    "}\n"};

static void on_called(void *argument) {
    __atomic_store_n((int *)argument, 1, __ATOMIC_RELEASE);
}

static int expect_callback_after_failure(void) {
    enum { PATIENCE = 1000, NOT_CALLED = 3 };
    const weft_kernel_source source = {.name = "fail", .text = failing, .texts = 1, .threads = 1};
    const long long address = 8; /* of nothing */
    const unsigned seed = (unsigned)getpid(), groups[3] = {1, 1, 1};
    const weft_kernel_argument arguments[] = {{.value = &address, .bytes = sizeof address},
                                              {.value = &seed, .bytes = sizeof seed}};
    static int called;
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    weft_kernel *kernel;
    if (ops->kernel_create(device, &source, &kernel) != WEFT_SUCCESS ||
        ops->kernel_launch(device, NULL, kernel, groups, arguments, 2) != WEFT_SUCCESS ||
        ops->callback(device, NULL, on_called, &called) != WEFT_SUCCESS ||
        ops->queue_wait(device, NULL) == WEFT_SUCCESS) {
        print_error("not what was to be seen: %s\n", weft_thread_error());
        return 1;
    }
    for (int i = 0; i < PATIENCE && !__atomic_load_n(&called, __ATOMIC_ACQUIRE); i++) usleep(10000);
    _exit(__atomic_load_n(&called, __ATOMIC_ACQUIRE) ? 0 : NOT_CALLED); /* nothing can be freed */
}

static void callbacks_come_after_a_kernel_that_failed_too(void **state) {
    (void)state;
    int status = -1;
    if (getenv("WEFT_TEST_HOST_CUDA")) skip(); /* the host does not survive such a kernel */
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_cuda_device", "--fail", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static int says(weft_status status, const char *sentence) {
    if (status == WEFT_ERROR_UNSUPPORTED && strstr(weft_last_error(NULL), sentence)) return 1;
    print_error("%s: %s\n", weft_status_name(status), weft_last_error(NULL));
    return 0;
}

/* Of the device, and of what works on nothing else, whose libraries are there. jit works on OpenCL,
 * too, of which there is no platform. */
static int expect_absent(const char *sentence) {
    setenv("OCL_ICD_VENDORS", "/nowhere", 1);
    return !(says(weft_device_probe(WEFT_CUDA, NULL), sentence) &&
             says(weft_engine_probe(WEFT_ENGINE_CUFFT, NULL), sentence) &&
             says(weft_exchange_probe(WEFT_NCCL, NULL), sentence) &&
             says(weft_engine_probe(WEFT_ENGINE_JIT, NULL), "no device that it works on"));
}

/* libcuda.so.1 is a library, but of other functions: that of the test of nccl. */
static void without_a_driver_the_probes_say_so(void **state) {
    (void)state;
    enum { FILES = 4 };
    static const char *const file[FILES][2] = {{"libnvrtc.so.13", "libnvrtc.so.13"},
                                               {"libcufft.so.12", "libcufft.so.12"},
                                               {"libnccl.so.2", "libnccl.so.2"},
                                               {"../without_nccl/libnccl.so.2", "libcuda.so.1"}};
    char folder[] = "/tmp/weft_cuda_XXXXXX", from[4096], to[128], command[96];
    const char *libraries = getenv("WEFT_CUDA_LIBRARY_PATH");
    int status = -1;
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILES; i++) {
        snprintf(from, sizeof from, "%s/%s", libraries, file[i][0]);
        snprintf(to, sizeof to, "%s/%s", folder, file[i][1]);
        assert_int_equal(symlink(from, to), 0);
    }
    pid_t child = fork();
    if (child == 0) {
        setenv("WEFT_CUDA_LIBRARY_PATH", folder, 1);
        execl("/proc/self/exe", "test_cuda_device", "--driverless", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(status, 0);
}

/* ---- memory of the caller's ---- */

static void callers_memory_is_locked_once(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    char *memory = aligned_alloc(4096, BYTES);
    assert_non_null(memory);
    for (int i = 0; i < 2; i++) {
        assert_true(ops->host_lock(device, memory, BYTES));
        assert_false(ops->host_lock(device, memory, BYTES));
        assert_false(ops->host_lock(device, memory + BYTES / 2, BYTES / 2));
        ops->host_unlock(device, memory);
    }
    assert_false(ops->host_lock(device, memory, 0));
    ops->close(device);
    free(memory);
}

/* Arrays that are registered with the stand-in for the driver, and those that ever were. */
static int registrations(int *ever) {
    int (*count)(int *);
    *ever = 0;
    if (!has_stand_in()) return 0;
    *(void **)&count = stand_in_function("host_registrations");
    return count(ever);
}

static void arrays_are_locked_while_they_are_streamed(void **state) {
    (void)state;
    enum { N = 24, NUMBERS = 2 * N * N * N };
    const weft_problem problem = {.rank = 3, .n = {N, N, N}, .kind = WEFT_C2C};
    const weft_options options = {.device = WEFT_CUDA,
                                  .location = WEFT_LOCATION_HOST,
                                  .stream = WEFT_STREAM_ON,
                                  .device_memory_limit = 96 << 10};
    double *in = calloc(NUMBERS, sizeof *in), *out[2] = {NULL, NULL};
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    int before, after;
    for (int i = 0; i < 2; i++) out[i] = calloc(NUMBERS, sizeof *out[i]);
    assert_true(in && out[0] && out[1]);
    for (int i = 0; i < NUMBERS; i++) in[i] = (i * 7919 % 1009) / 1009.0;
    assert_int_equal(weft_context_create(NULL, &ctx), WEFT_SUCCESS);
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    registrations(&before);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out[0]), WEFT_SUCCESS);
    assert_int_equal(registrations(&after), 0);
    if (has_stand_in()) assert_int_equal(after - before, 2);
    setenv("WEFT_TEST_REGISTER_FAIL", "1", 1); /* the arrays are copied as they are */
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out[1]), WEFT_SUCCESS);
    unsetenv("WEFT_TEST_REGISTER_FAIL");
    assert_memory_equal(out[0], out[1], NUMBERS * sizeof *in);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    free(in);
    for (int i = 0; i < 2; i++) free(out[i]);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gpu_is_that_of_the_rank_or_as_told),
        cmocka_unit_test(kernels_are_compiled_once_and_anew_where_their_file_is_damaged),
        cmocka_unit_test(without_a_gpu_the_probes_say_so),
        cmocka_unit_test(without_a_driver_the_probes_say_so),
        cmocka_unit_test(callbacks_come_after_a_kernel_that_failed_too),
        cmocka_unit_test(callers_memory_is_locked_once),
        cmocka_unit_test(arrays_are_locked_while_they_are_streamed),
    };
    if (argc > 1 && strcmp(argv[1], "--absent") == 0) return expect_absent("there is no GPU");
    if (argc > 1 && strcmp(argv[1], "--driverless") == 0)
        return expect_absent("install NVIDIA's driver");
    if (argc > 1 && strcmp(argv[1], "--fail") == 0) return expect_callback_after_failure();
    if (argc > 1) {
        tested_ops()->close(open_device(tested_ops(), 0));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
