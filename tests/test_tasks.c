/*
 * Tasks, what waits for what, and the executor: derived dependencies against those of a model that
 * looks at every byte, and random lists of copies that run on lanes out of step against the same
 * copies one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/plan.h"
#include "schedule/dependencies.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BUFFER_BYTES = 256,
    BUFFERS = 3,
    MOST_TASKS = 40,
    LISTS = 400,
    PAIRS = 200000,
    RUNS = 3 /* of each list: what is left of one must not disturb the next */
};

static uint64_t seed;

static unsigned below(unsigned limit) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % limit;
}

/* A box of up to three axes in an array of as many, somewhere in a buffer; some are transposed, and
 * some strides are negative. */
static weft_access random_access(int buffer, bool writes) {
    weft_access a = {.buffer = buffer, .writes = writes, .element_bytes = (size_t)1 << below(3)};
    int64_t stride = 1, last = 0;
    a.view.axes = 1 + (int)below(3);
    for (int i = 0; i < a.view.axes; i++) {
        const int64_t whole = 1 + below(4);
        a.view.n[i] = 1 + below((unsigned)whole);
        if (below(30) == 0) a.view.n[i] = 0;
        a.view.stride[i] = stride;
        if (a.view.n[i] > 0) last += (a.view.n[i] - 1) * stride;
        stride *= whole;
    }
    if (below(8) == 0 && a.view.n[0] > 0) {
        a.view.offset = (a.view.n[0] - 1) * a.view.stride[0];
        a.view.stride[0] = -a.view.stride[0];
    }
    const int64_t room = BUFFER_BYTES - (last + 1) * (int64_t)a.element_bytes;
    a.base = (int64_t)below((unsigned)room + 1) / 4 * 4;
    return a;
}

/* Marks the bytes that an access touches. */
static void touch(const weft_access *a, bool *bytes) {
    int64_t elements = 1;
    memset(bytes, 0, BUFFER_BYTES);
    for (int i = 0; i < a->view.axes; i++) elements *= a->view.n[i];
    for (int64_t e = 0; e < elements; e++) {
        int64_t place = a->view.offset, rest = e;
        for (int i = 0; i < a->view.axes; i++) {
            place += rest % a->view.n[i] * a->view.stride[i];
            rest /= a->view.n[i];
        }
        for (size_t k = 0; k < a->element_bytes; k++)
            bytes[a->base + place * (int64_t)a->element_bytes + (int64_t)k] = true;
    }
}

static bool share_a_byte(const weft_access *a, const weft_access *b) {
    bool one[BUFFER_BYTES], other[BUFFER_BYTES];
    if (a->buffer != b->buffer) return false;
    touch(a, one);
    touch(b, other);
    for (int i = 0; i < BUFFER_BYTES; i++)
        if (one[i] && other[i]) return true;
    return false;
}

static void accesses_overlap_where_they_share_a_byte(void **state) {
    (void)state;
    int shared = 0;
    for (int i = 0; i < PAIRS; i++) {
        const weft_access a = random_access(0, true), b = random_access(below(20) == 0, false);
        const bool expected = share_a_byte(&a, &b);
        shared += expected;
        if (weft_accesses_overlap(&a, &b) != expected) fail_msg("pair %d", i);
    }
    assert_true(shared > PAIRS / 50 && shared < PAIRS / 2);
}

/* Blocks of a large array that share out one of its axes, as messages are, have no byte in common,
 * however many sums of strides there are; moved by one element they have. */
static void large_blocks_that_share_out_an_axis_do_not_overlap(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const int axes = 2 + (int)below(4), split = (int)below((unsigned)axes);
        int64_t whole[5], cut[2], stride = 1;
        weft_access a = {.writes = true, .element_bytes = (size_t)4 << below(3)};
        a.view.axes = axes;
        for (int k = 0; k < axes; k++) {
            whole[k] = 2 + below(300);
            a.view.n[k] = whole[k];
            a.view.stride[k] = stride;
            stride *= whole[k];
        }
        weft_access b = a;
        cut[0] = 1 + below((unsigned)whole[split] - 1);
        cut[1] = whole[split] - cut[0];
        a.view.n[split] = cut[0];
        b.view.n[split] = cut[1];
        b.view.offset = cut[0] * b.view.stride[split];
        if (weft_accesses_overlap(&a, &b) || weft_accesses_overlap(&b, &a))
            fail_msg("array %d: blocks are said to overlap", i);
        b.view.offset -= b.view.stride[split];
        if (!weft_accesses_overlap(&a, &b)) fail_msg("array %d: an overlap is not seen", i);
    }
}

static bool conflict(const weft_tasks *tasks, int t, int u) {
    const weft_task *a = &tasks->task[t], *b = &tasks->task[u];
    for (int i = 0; i < a->accesses; i++)
        for (int k = 0; k < b->accesses; k++) {
            const weft_access *x = &tasks->access[a->first_access + i];
            const weft_access *y = &tasks->access[b->first_access + k];
            if ((x->writes || y->writes) && share_a_byte(x, y)) return true;
        }
    return false;
}

/* Copies between buffers, on any lanes of the device. */
static weft_tasks random_list(int first_buffer) {
    weft_tasks tasks = {0};
    const int count = 2 + (int)below(MOST_TASKS - 2);
    while (tasks.count < count) {
        weft_access from = random_access(first_buffer + (int)below(BUFFERS), false), to = from;
        weft_task task = {.lane = (int)below(WEFT_LANE_NETWORK),
                          .phase = WEFT_PHASE_LOCAL,
                          .partner = WEFT_NO_PARTNER,
                          .after = -1};
        to.buffer = first_buffer + (int)below(BUFFERS);
        if (to.buffer == from.buffer) continue;
        if (below(2)) { /* elsewhere, and in one run */
            int64_t stride = 1;
            for (int i = 0; i < to.view.axes; i++) {
                to.view.stride[i] = stride;
                stride *= to.view.n[i];
            }
            to.view.offset = 0;
            to.base = (BUFFER_BYTES - stride * (int64_t)to.element_bytes) / 8 * 8;
        }
        if (below(6) == 0 && tasks.count > 0) task.after = (int)below((unsigned)tasks.count);
        weft_tasks_add_copy(&tasks, task, WEFT_DEVICE_TO_DEVICE, from, to);
    }
    assert_int_equal(tasks.status, WEFT_SUCCESS);
    return tasks;
}

static void dependencies_order_every_conflict_and_nothing_else(void **state) {
    (void)state;
    for (int i = 0; i < LISTS; i++) {
        static bool ordered[MOST_TASKS][MOST_TASKS];
        weft_tasks tasks = random_list(0);
        weft_dependencies d;
        assert_int_equal(weft_dependencies_derive(&tasks, &d), WEFT_SUCCESS);
        memset(ordered, 0, sizeof ordered);
        for (int t = 0; t < tasks.count; t++)
            for (int k = d.first_before[t]; k < d.first_before[t + 1]; k++) {
                const int u = d.before[k];
                assert_true(u < t);
                assert_true(conflict(&tasks, u, t));
                ordered[t][u] = true;
                for (int v = 0; v < u; v++) ordered[t][v] = ordered[t][v] || ordered[u][v];
            }
        for (int t = 0; t < tasks.count; t++)
            for (int u = 0; u < t; u++) assert_true(ordered[t][u] || !conflict(&tasks, u, t));
        int edges = 0;
        for (int t = 0; t < tasks.count; t++)
            for (int k = d.first_after[t]; k < d.first_after[t + 1]; k++, edges++)
                assert_true(ordered[d.after[k]][t]);
        assert_int_equal(edges, d.edges);
        weft_dependencies_release(&d);
        weft_tasks_release(&tasks);
    }
}

/* Copies of tiles from an array to slots that rotate and back to another array, rows first, then
 * columns, which have something of every row. */
static weft_tasks streamed_list(int tiles) {
    enum { FROM, TO, SLOTS, ROTATING = 3 };
    weft_tasks tasks = {0};
    for (int i = 0; i < 2 * tiles; i++) {
        const bool columns = i >= tiles;
        const weft_task task = {.phase = WEFT_PHASE_COPY, .partner = WEFT_NO_PARTNER, .after = -1};
        const weft_access tile = {.buffer = columns ? TO : FROM,
                                  .element_bytes = 8,
                                  .view = {.axes = 1,
                                           .n = {tiles},
                                           .stride = {columns ? tiles : 1},
                                           .offset = i % tiles * (columns ? 1 : tiles)}};
        const weft_access slot = {.buffer = SLOTS,
                                  .element_bytes = 8,
                                  .base = i % ROTATING * tiles * 8,
                                  .view = {.axes = 1, .n = {tiles}, .stride = {1}}};
        weft_access back = tile;
        back.buffer = TO;
        weft_tasks_add_copy(&tasks, task, WEFT_HOST_TO_DEVICE, tile, slot);
        weft_tasks_add_copy(&tasks, task, WEFT_DEVICE_TO_HOST, slot, back);
    }
    assert_int_equal(tasks.status, WEFT_SUCCESS);
    return tasks;
}

static void tiles_have_few_dependencies_each(void **state) {
    (void)state;
    enum { TILES = 400 };
    weft_tasks tasks = streamed_list(TILES);
    weft_dependencies d;
    assert_int_equal(weft_dependencies_derive(&tasks, &d), WEFT_SUCCESS);
    assert_true(d.edges >= 2 * TILES && d.edges < 8 * TILES);
    /* Each column comes behind the stores of all rows. */
    static bool before[4 * TILES][TILES];
    memset(before, 0, sizeof before);
    for (int t = 0; t < tasks.count; t++) {
        for (int k = d.first_before[t]; k < d.first_before[t + 1]; k++)
            for (int row = 0; row < TILES; row++)
                before[t][row] = before[t][row] || before[d.before[k]][row];
        if (t < 2 * TILES && t % 2 == 1) before[t][t / 2] = true;
        for (int row = 0; row < TILES && t >= 2 * TILES; row++) assert_true(before[t][row]);
    }
    weft_dependencies_release(&d);
    weft_tasks_release(&tasks);
}

/* ---- the executor ---- */

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
}

static void run_one_after_the_other(const weft_tasks *tasks, unsigned char *memory) {
    for (int t = 0; t < tasks->count; t++) {
        const weft_access *a = &tasks->access[tasks->task[t].first_access];
        unsigned char *from = memory + (a[0].buffer - WEFT_BUFFER_WORKSPACE) * BUFFER_BYTES;
        unsigned char *to = memory + (a[1].buffer - WEFT_BUFFER_WORKSPACE) * BUFFER_BYTES;
        weft_copy_run(&tasks->task[t].as.copy.copy, from + a[0].base, to + a[1].base, 1);
    }
}

static void transfer(weft_build *b, int buffer, unsigned char *host, bool to_device) {
    const weft_device_handle *d = &b->device;
    const weft_copy copy = weft_copy_of_run(BUFFER_BYTES, 1);
    void *there = b->buffers.memory[WEFT_BUFFER_WORKSPACE + buffer];
    ok(d->ops->copy(d->state, NULL, &copy, to_device ? host : there, to_device ? there : host,
                    to_device ? WEFT_HOST_TO_DEVICE : WEFT_DEVICE_TO_HOST));
    ok(d->ops->queue_wait(d->state, NULL));
}

static void run_random_lists(weft_device id, const char *simulate) {
    weft_recorder recorder = {.spans = NULL};
    weft_device_settings settings = {.threads = 1};
    weft_build *b = calloc(1, sizeof *b);
    weft_call call = {.memory = {.device = NULL}};
    const weft_planner planner = {.call = &call};
    b->planner = &planner;
    if (simulate) setenv("WEFT_SIMULATE", simulate, 1);
    b->candidate.device = b->device.ops = weft_device_find(id);
    ok(b->device.ops->open(&settings, &b->device.state));
    unsetenv("WEFT_SIMULATE");
    for (int k = 0; k < BUFFERS; k++)
        ok(b->device.ops->allocate(b->device.state, WEFT_MEMORY_DEVICE, BUFFER_BYTES,
                                   &b->buffers.memory[WEFT_BUFFER_WORKSPACE + k]));
    for (int i = 0; i < LISTS / 4; i++) {
        static unsigned char expected[BUFFERS * BUFFER_BYTES], found[BUFFERS * BUFFER_BYTES];
        weft_lowered *lowered = &b->program[0].lowered;
        *lowered =
            (weft_lowered){.tasks = random_list(WEFT_BUFFER_WORKSPACE), .buffers = WEFT_BUFFERS};
        for (int t = 0; t < lowered->tasks.count; t++)
            lowered->lanes |= 1 << lowered->tasks.task[t].lane;
        ok(weft_program_prepare(b, 0));
        for (int run = 0; run < RUNS; run++) {
            for (size_t k = 0; k < sizeof expected; k++) expected[k] = (unsigned char)below(256);
            for (int k = 0; k < BUFFERS; k++) transfer(b, k, expected + k * BUFFER_BYTES, true);
            ok(weft_build_run(b, WEFT_FORWARD, false, NULL, NULL, &recorder));
            for (int k = 0; k < BUFFERS; k++) transfer(b, k, found + k * BUFFER_BYTES, false);
            run_one_after_the_other(&lowered->tasks, expected);
            assert_memory_equal(found, expected, sizeof found);
        }
        weft_program_release(b, 0);
    }
    weft_build_release(b);
    free(b);
}

static void lanes_of_the_host_give_the_bytes_of_one_task_after_the_other(void **state) {
    (void)state;
    run_random_lists(WEFT_HOST, NULL);
}

static void lanes_that_run_late_give_the_bytes_of_one_task_after_the_other(void **state) {
    (void)state;
    run_random_lists(WEFT_SIMULATED, "seed=5,delay_us=40");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_overlap_where_they_share_a_byte),
        cmocka_unit_test(large_blocks_that_share_out_an_axis_do_not_overlap),
        cmocka_unit_test(dependencies_order_every_conflict_and_nothing_else),
        cmocka_unit_test(tiles_have_few_dependencies_each),
        cmocka_unit_test(lanes_of_the_host_give_the_bytes_of_one_task_after_the_other),
        cmocka_unit_test(lanes_that_run_late_give_the_bytes_of_one_task_after_the_other),
    };
    const char *given = getenv("WEFT_TEST_SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
