/* What only the OpenCL device promises: the choice of the processor, kernels that are kept in
 * files, and a sentence where there is none. */
#include "devices/device_test.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int expect_absent(void) {
    weft_status status = weft_device_probe(WEFT_OPENCL, NULL);
    return status != WEFT_ERROR_UNSUPPORTED || !strstr(weft_thread_error(), "no device");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processor_is_as_told),
        cmocka_unit_test(memory_of_others_is_no_argument),
        cmocka_unit_test(kernels_are_kept_in_files_that_may_be_damaged),
        cmocka_unit_test(without_a_driver_the_probe_says_so),
    };
    setenv("WEFT_TEST_DEVICE", "opencl", 1);
    if (argc > 1) return strcmp(argv[1], "--absent") == 0 ? expect_absent() : open_and_scale();
    (void)tested_ops(); /* skipped where there is none */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
