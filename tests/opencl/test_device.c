/* What only the OpenCL device promises: the choice of the processor, kernels that are kept in
 * files, and a sentence where there is none. */
#include "devices/device_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/opencl/processor.h"

static void the_processor_is_as_told(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    const char *description = NULL;
    setenv("WEFT_OPENCL_DEVICE", "9999", 1);
    assert_int_equal(ops->probe(&description), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_thread_error(), "WEFT_OPENCL_DEVICE"));
    setenv("WEFT_OPENCL_DEVICE", "no such name", 1);
    assert_int_equal(ops->probe(&description), WEFT_ERROR_INVALID_ARGUMENT);
    setenv("WEFT_OPENCL_DEVICE", "0", 1);
    ok(ops->probe(&description));
    assert_non_null(strstr(description, "number 0 of"));
    /* A part of its own name, in capitals. */
    char part[8] = {0};
    for (int i = 0; i < 7; i++)
        part[i] = (char)(description[i] >= 'a' && description[i] <= 'z' ? description[i] - 32
                                                                        : description[i]);
    setenv("WEFT_OPENCL_DEVICE", part, 1);
    ok(ops->probe(&description));
    unsetenv("WEFT_OPENCL_DEVICE");
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "13", 1);
    ops->close(open_device(ops, 0)); /* more ranks than processors share them */
    unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
}

static void memory_of_others_is_no_argument(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    double host[4] = {0};
    assert_int_equal(ops->scale(device, NULL, WEFT_SINGLE, host, 4, 2), WEFT_ERROR_DEVICE);
    assert_non_null(strstr(weft_thread_error(), "not in device memory"));
    ok(ops->queue_wait(device, NULL));
    ops->close(device);
}

/* ---- parameters ---- */

static const char *const wide[] = {"typedef struct wide { long64 number[137]; } wide;\n"
                                   "\nKERNEL(wide_kernel)(MEMORY(float, to), const wide w) {\n"
                                   "    OPEN(float, to);\n"
                                   "    to[THREAD] = (float)w.number[THREAD];\n"
                                   "}\n"};

/* By value, though nobody said how many: 1096 bytes, and the device must take 1024 only. */
static void more_parameters_than_the_device_takes_are_refused(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    const weft_kernel_source source = {
        .name = "wide_kernel", .text = wide, .texts = 1, .threads = 64, .precision = WEFT_SINGLE};
    const int64_t number[137] = {1};
    const unsigned groups[3] = {1, 1, 1};
    weft_cl_processor *processor;
    weft_kernel *kernel = NULL;
    void *memory = NULL;
    ok(weft_cl_processor_open(&processor));
    const size_t before = processor->parameter_bytes;
    assert_true(before >= 1024);
    processor->parameter_bytes = 1024;
    ok(ops->kernel_create(device, &source, &kernel));
    ok(ops->allocate(device, WEFT_MEMORY_DEVICE, 64 * sizeof(float), &memory));
    const weft_kernel_argument arguments[] = {{.memory = memory},
                                              {.value = number, .bytes = sizeof number}};
    assert_int_equal(ops->kernel_launch(device, NULL, kernel, groups, arguments, 2),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "bytes of parameters"));
    ops->kernel_destroy(device, kernel);
    processor->parameter_bytes = before;
    ops->close(device);
}

enum { ROW = 24, ROOM = 3 * ROW * 16 };

/* A plan whose kernels have operators at both ends, there and back. */
static void convolve(weft_engine engine, char result[ROOM]) {
    static const double table[ROW] = {1, -2, 3, 1, 1, 5, 1, 1, 2, 1, 1, -1, 1, 1, 4, 1, 1, 1, 7};
    static const weft_operator list[] = {
        {.kind = WEFT_OPERATOR_TABLE, .table = {NULL, table}},
        {.kind = WEFT_OPERATOR_FUNCTION, .snippet = "value.x += (real)index[0];"},
        {.kind = WEFT_OPERATOR_SCALE, .factor = 0.125}};
    const weft_problem problem = {
        .rank = 2, .n = {3, ROW}, .load = {list, 3}, .spectral = {list, 3}, .store = {list, 3}};
    const weft_options options = {
        .device = WEFT_OPENCL, .engine = engine, .location = WEFT_LOCATION_HOST, .convolve = 1};
    double in[ROOM / 8];
    weft_context context = NULL;
    weft_plan plan = NULL;
    for (int i = 0; i < ROOM / 8; i++) in[i] = i * 37 % 20 - 9.5;
    ok(weft_context_create(NULL, &context));
    if (weft_plan_create(context, &problem, &options, &plan) != WEFT_SUCCESS ||
        weft_execute(plan, WEFT_CONVOLVE, in, result) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(context));
    weft_plan_destroy(&plan);
    weft_context_destroy(&context);
}

static void results_are_the_same_with_parameters_in_memory(void **state) {
    (void)state;
    char expected[ROOM] = {0}, result[ROOM] = {0};
    weft_cl_processor *processor;
    ok(weft_cl_processor_open(&processor));
    const size_t before = processor->parameter_bytes;
    convolve(WEFT_ENGINE_JIT, expected);
    processor->parameter_bytes = 320; /* less than there is by value */
    convolve(WEFT_ENGINE_JIT, result);
    processor->parameter_bytes = before;
    assert_memory_equal(result, expected, ROOM);
}

/* ---- programs ---- */

/* In a process of its own, since programs are kept for the life of one. */
static int child_of(const char *argument) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "opencl_device", argument, (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Counts the files of kernels; with `damage`, writes over their ends too. */
static int count_files(const char *folder, bool damage) {
    DIR *files = opendir(folder);
    int count = 0;
    for (struct dirent *entry; files && (entry = readdir(files));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, "opencl-", 7) != 0) continue;
        FILE *file = fopen(path, "r+");
        if (file && (!damage || (fseek(file, -3, SEEK_END) == 0 && fputs("???", file) >= 0)))
            count++;
        if (file) fclose(file);
    }
    if (files) closedir(files);
    return count;
}

static void kernels_are_kept_in_files_that_may_be_damaged(void **state) {
    (void)state;
    char folder[] = "/tmp/weft_opencl_XXXXXX", command[96];
    assert_non_null(mkdtemp(folder));
    setenv("WEFT_WISDOM_DIR", folder, 1);
    assert_int_equal(child_of("--open"), 0);
    int files = count_files(folder, false);
    assert_true(files >= 2);
    assert_int_equal(child_of("--open"), 0);
    assert_int_equal(count_files(folder, true), files);
    assert_int_equal(child_of("--open"), 0);
    assert_int_equal(count_files(folder, false), files);
    setenv("WEFT_WISDOM_DIR", "", 1);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* Compiles in a process of its own, with empty caches, and returns what that wrote on standard
 * error. */
static const char *errors_of(const char *argument) {
    static char text[1 << 12];
    char folder[] = "/tmp/weft_opencl_XXXXXX", path[64], command[96], before[512];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/errors", folder);
    snprintf(before, sizeof before, "%s", getenv("POCL_CACHE_DIR") ? getenv("POCL_CACHE_DIR") : "");
    setenv("POCL_CACHE_DIR", folder, 1);
    const int kept = dup(STDERR_FILENO), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    const int failed = child_of(argument);
    dup2(kept, STDERR_FILENO);
    const ssize_t bytes = pread(file, text, sizeof text - 1, 0);
    text[bytes > 0 ? bytes : 0] = '\0';
    close(kept);
    close(file);
    if (before[0])
        setenv("POCL_CACHE_DIR", before, 1);
    else
        unsetenv("POCL_CACHE_DIR");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (failed) fail_msg("%s failed: %s", argument, text);
    return text;
}

/* PoCL counts errors there whatever it is told, but what they are is in the plan's sentence. */
static void compilers_write_nothing_on_standard_error(void **state) {
    (void)state;
    assert_string_equal(errors_of("--compile"), "");
    const char *text = errors_of("--wrong");
    if (text[0] && strcmp(text, "1 error generated.\n") != 0) fail_msg("%s", text);
}

static void without_a_driver_the_probe_says_so(void **state) {
    (void)state;
    setenv("OCL_ICD_VENDORS", "/nowhere", 1);
    assert_int_equal(child_of("--absent"), 0);
    unsetenv("OCL_ICD_VENDORS");
}

/* Scales, so that the kernels are used too. */
static int open_and_scale(void) {
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    weft_copy copy = weft_copy_of_run(3, sizeof(float));
    float values[3] = {1, 2, 3};
    void *memory = NULL;
    bool good =
        ops->allocate(device, WEFT_MEMORY_DEVICE, sizeof values, &memory) == WEFT_SUCCESS &&
        ops->copy(device, NULL, &copy, values, memory, WEFT_HOST_TO_DEVICE) == WEFT_SUCCESS &&
        ops->scale(device, NULL, WEFT_SINGLE, memory, 3, 2) == WEFT_SUCCESS &&
        ops->copy(device, NULL, &copy, memory, values, WEFT_DEVICE_TO_HOST) == WEFT_SUCCESS &&
        ops->queue_wait(device, NULL) == WEFT_SUCCESS && values[0] == 2 && values[2] == 6;
    ops->close(device);
    return !good;
}

/* One element, with a snippet at load; the status is the plan's. */
static weft_status plan_snippet(weft_context context, const char *snippet) {
    const weft_operator list[] = {{.kind = WEFT_OPERATOR_FUNCTION, .snippet = snippet}};
    const weft_problem problem = {.rank = 1, .n = {6}, .load = {list, 1}};
    const weft_options options = {.device = WEFT_OPENCL, .engine = WEFT_ENGINE_JIT};
    weft_plan plan = NULL;
    const weft_status status = weft_plan_create(context, &problem, &options, &plan);
    weft_plan_destroy(&plan);
    return status;
}

/* Kernels of the device, of an engine, and a snippet that compilers warn of. */
static int compile_all(void) {
    char result[ROOM];
    weft_context context = NULL;
    convolve(WEFT_ENGINE_JIT, result);
    ok(weft_context_create(NULL, &context));
    const weft_status status = plan_snippet(context, "int unused = 3.75; if (value.x = 2) {}");
    weft_context_destroy(&context);
    return open_and_scale() || status != WEFT_SUCCESS;
}

static int compile_wrong(void) {
    weft_context context = NULL;
    ok(weft_context_create(NULL, &context));
    const bool good = plan_snippet(context, "value.x = unheard_of;") == WEFT_ERROR_DEVICE &&
                      strstr(weft_last_error(context), "unheard_of");
    weft_context_destroy(&context);
    return !good;
}

static int expect_absent(void) {
    weft_status status = weft_device_probe(WEFT_OPENCL, NULL);
    return status != WEFT_ERROR_UNSUPPORTED || !strstr(weft_thread_error(), "no device");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processor_is_as_told),
        cmocka_unit_test(memory_of_others_is_no_argument),
        cmocka_unit_test(more_parameters_than_the_device_takes_are_refused),
        cmocka_unit_test(results_are_the_same_with_parameters_in_memory),
        cmocka_unit_test(kernels_are_kept_in_files_that_may_be_damaged),
        cmocka_unit_test(compilers_write_nothing_on_standard_error),
        cmocka_unit_test(without_a_driver_the_probe_says_so),
    };
    setenv("WEFT_TEST_DEVICE", "opencl", 1);
    if (argc > 1 && strcmp(argv[1], "--compile") == 0) return compile_all();
    if (argc > 1 && strcmp(argv[1], "--wrong") == 0) return compile_wrong();
    if (argc > 1) return strcmp(argv[1], "--absent") == 0 ? expect_absent() : open_and_scale();
    (void)tested_ops(); /* skipped where there is none */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
