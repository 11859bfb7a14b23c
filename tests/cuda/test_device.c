/*
 * What the CUDA device promises besides copies (test_copy.c): queues, events, callbacks, scaling,
 * memory and its limit, the choice of the GPU, and kernels that are compiled once. Those of the
 * cache need the compiler of host_cuda.h, which counts (WEFT_TEST_HOST_CUDA).
 */
#include "cuda_test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000, LIMIT = 1 << 20 };

typedef struct fixture {
    const weft_device_ops *ops;
    weft_device_state *device;
    weft_queue *queue, *other;
    double *a, *b;       /* on the device */
    double *host, *back; /* page-locked */
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ops = cuda_ops();
    f->device = cuda_device(f->ops, LIMIT);
    ok(f->ops->queue_create(f->device, &f->queue));
    ok(f->ops->queue_create(f->device, &f->other));
    size_t bytes = COUNT * sizeof(double);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, bytes, (void **)&f->a));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, bytes, (void **)&f->b));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, bytes, (void **)&f->host));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, bytes, (void **)&f->back));
    for (int i = 0; i < COUNT; ++i) f->host[i] = i;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    f->ops->queue_destroy(f->device, f->queue);
    f->ops->queue_destroy(f->device, f->other);
    f->ops->close(f->device); /* frees what is left */
    free(f);
    return 0;
}

static void copy_all(const fixture *f, weft_queue *queue, const void *src, void *dst,
                     weft_transfer transfer) {
    const weft_view all = {.axes = 1, .n = {COUNT}, .stride = {1}};
    weft_copy copy = weft_copy_between(&all, &all, sizeof(double));
    ok(f->ops->copy(f->device, queue, &copy, src, dst, transfer));
}

static void scale(const fixture *f, weft_queue *queue, double *data, double factor) {
    ok(f->ops->scale(f->device, queue, WEFT_DOUBLE, data, COUNT, factor));
}

static void expect_back(const fixture *f, double factor) {
    for (int i = 0; i < COUNT; ++i)
        if (f->back[i] != i * factor)
            fail_msg("element %d is %g, not %g", i, f->back[i], i * factor);
}

static void chain_on(fixture *f, weft_queue *queue) {
    copy_all(f, queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    for (int i = 0; i < 20; ++i) {
        scale(f, queue, f->a, 2);
        copy_all(f, queue, f->a, f->b, WEFT_DEVICE_TO_DEVICE);
        scale(f, queue, f->b, 0.5);
        copy_all(f, queue, f->b, f->a, WEFT_DEVICE_TO_DEVICE);
    }
    scale(f, queue, f->a, 3);
    copy_all(f, queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, queue));
    expect_back(f, 3);
}

static void work_of_a_queue_runs_in_order(void **state) {
    fixture *f = *state;
    chain_on(f, f->queue);
    memset(f->back, 0, COUNT * sizeof(double));
    chain_on(f, NULL);
}

static void event_orders_two_queues(void **state) {
    fixture *f = *state;
    weft_event *ready = NULL, *taken = NULL;
    ok(f->ops->event_create(f->device, &ready));
    ok(f->ops->event_create(f->device, &taken));
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    for (int i = 0; i < 40; ++i) {
        scale(f, f->queue, f->a, 2);
        ok(f->ops->event_record(f->device, f->queue, ready));
        ok(f->ops->event_await(f->device, f->other, ready));
        copy_all(f, f->other, f->a, f->b, WEFT_DEVICE_TO_DEVICE);
        scale(f, f->other, f->b, 0.5);
        ok(f->ops->event_record(f->device, f->other, taken));
        ok(f->ops->event_await(f->device, f->queue, taken));
        copy_all(f, f->queue, f->b, f->a, WEFT_DEVICE_TO_DEVICE);
    }
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, f->queue));
    expect_back(f, 1);
    f->ops->event_destroy(f->device, ready);
    f->ops->event_destroy(f->device, taken);
}

static void event_never_recorded_is_not_waited_for(void **state) {
    fixture *f = *state;
    weft_event *event = NULL;
    ok(f->ops->event_create(f->device, &event));
    ok(f->ops->event_await(f->device, f->queue, event));
    ok(f->ops->queue_wait(f->device, f->queue));
    f->ops->event_destroy(f->device, event);
}

typedef struct seen {
    const double *back;
    double value;
    pthread_t thread;
} seen;

static void look(void *argument) {
    seen *s = argument;
    s->value = s->back[COUNT - 1];
    s->thread = pthread_self();
}

static void callback_sees_what_came_before_it(void **state) {
    fixture *f = *state;
    seen s = {.back = f->back};
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    scale(f, f->queue, f->a, 5);
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->callback(f->device, f->queue, look, &s));
    ok(f->ops->queue_wait(f->device, f->queue));
    assert_true(s.value == 5 * (COUNT - 1));
    assert_false(pthread_equal(s.thread, pthread_self()));
}

static void single_precision_scales_with_one_rounding(void **state) {
    fixture *f = *state;
    float *values = (float *)f->host;
    for (int i = 0; i < COUNT; ++i) values[i] = (float)(1 + i * 0.1);
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    ok(f->ops->scale(f->device, f->queue, WEFT_SINGLE, f->a, COUNT - 3, 1.0 / 3));
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, f->queue));
    for (int i = 0; i < COUNT; ++i) {
        float expected = i < COUNT - 3 ? (float)((double)values[i] * (1.0 / 3)) : values[i];
        assert_true(((float *)f->back)[i] == expected);
    }
    assert_int_equal(f->ops->scale(f->device, f->queue, WEFT_HALF, f->a, COUNT, 2),
                     WEFT_ERROR_UNSUPPORTED);
}

static void work_on_nothing_is_accepted(void **state) {
    fixture *f = *state;
    weft_copy none = {.element_bytes = 8};
    void *memory = f;
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 0, &memory));
    assert_null(memory);
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, memory);
    ok(f->ops->copy(f->device, f->queue, &none, NULL, NULL, WEFT_DEVICE_TO_DEVICE));
    ok(f->ops->scale(f->device, f->queue, WEFT_DOUBLE, NULL, 0, 2));
    ok(f->ops->queue_wait(f->device, f->queue));
}

static void memory_limit_is_kept(void **state) {
    fixture *f = *state;
    void *most = NULL, *more = f, *host = NULL;
    size_t taken = 2 * COUNT * sizeof(double);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, LIMIT - taken, &most));
    assert_int_equal(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 1, &more),
                     WEFT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(weft_thread_error(), "limit"));
    assert_ptr_equal(more, f);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, 2 * LIMIT, &host));
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, host);
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, most);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, LIMIT - taken, &most));
}

static void too_much_memory_is_refused_with_a_sentence(void **state) {
    (void)state;
    const weft_device_ops *ops = cuda_ops();
    weft_device_state *device = cuda_device(ops, 0);
    void *memory = NULL;
    assert_int_equal(ops->allocate(device, WEFT_MEMORY_DEVICE, (size_t)1 << 62, &memory),
                     WEFT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(weft_thread_error(), "device memory"));
    ok(ops->allocate(device, WEFT_MEMORY_DEVICE, 100, &memory));
    ops->close(device);
}

static void the_gpu_is_that_of_the_rank_or_as_told(void **state) {
    (void)state;
    const weft_device_ops *ops = cuda_ops();
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
    char folder[] = "/tmp/weft_cuda_XXXXXX", log[64], command[96];
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    assert_non_null(mkdtemp(folder));
    snprintf(log, sizeof log, "%s/compiled", folder);
    setenv("WEFT_TEST_COMPILED", log, 1);
    setenv("WEFT_WISDOM_DIR", folder, 1);
    assert_int_equal(compilations(log), 2);
    assert_int_equal(compilations(log), 0);
    assert_int_equal(damage_files(folder), 2);
    assert_int_equal(compilations(log), 2);
    assert_int_equal(compilations(log), 0);
    setenv("WEFT_WISDOM_DIR", "", 1);
    assert_int_equal(compilations(log), 2);
    unsetenv("WEFT_TEST_COMPILED");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void operators_other_than_scaling_are_refused_with_a_sentence(void **state) {
    (void)state;
    weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    weft_operator window = {.kind = WEFT_OPERATOR_WINDOW, .window = {{.kind = WEFT_WINDOW_HANN}}};
    weft_problem problem = {.rank = 1, .n = {8}, .load = {&scale, 1}, .spectral = {&window, 1}};
    weft_options options = {.device = WEFT_CUDA};
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    ok(weft_context_create(NULL, &ctx));
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "problem.spectral: device cuda only scales"));
    problem.spectral = (weft_operators){&scale, 1};
    ok(weft_plan_create(ctx, &problem, &options, &plan));
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

static void without_a_gpu_the_probe_says_so(void **state) {
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

static int expect_absent(void) {
    weft_status status = weft_device_probe(WEFT_CUDA, NULL);
    return status != WEFT_ERROR_UNSUPPORTED || !strstr(weft_thread_error(), "there is no GPU");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(work_of_a_queue_runs_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(event_orders_two_queues, setup, teardown),
        cmocka_unit_test_setup_teardown(event_never_recorded_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(callback_sees_what_came_before_it, setup, teardown),
        cmocka_unit_test_setup_teardown(single_precision_scales_with_one_rounding, setup, teardown),
        cmocka_unit_test_setup_teardown(work_on_nothing_is_accepted, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_limit_is_kept, setup, teardown),
        cmocka_unit_test(too_much_memory_is_refused_with_a_sentence),
        cmocka_unit_test(the_gpu_is_that_of_the_rank_or_as_told),
        cmocka_unit_test(kernels_are_compiled_once_and_anew_where_their_file_is_damaged),
        cmocka_unit_test(operators_other_than_scaling_are_refused_with_a_sentence),
        cmocka_unit_test(without_a_gpu_the_probe_says_so),
    };
    if (argc > 1 && strcmp(argv[1], "--absent") == 0) return expect_absent();
    if (argc > 1) {
        cuda_ops()->close(cuda_device(cuda_ops(), 0));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
