/* Memory that threads work in: zero, aligned, and on huge pages where it is large. */
#include "one_context.h"

#include "device/allocations.h"
#include "engine/scratch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/* Bytes of this process that huge pages are asked for (flag hg of VmFlags, proc(5)), and, of the
 * mapping that holds `address`, whether they are. */
static size_t advised_bytes(const void *address, bool *advised) {
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long begin = 0, end = 0;
    size_t bytes = 0;
    *advised = false;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            begin = from;
            end = to;
        }
        if (strncmp(line, "VmFlags:", 8) != 0 || !strstr(line, " hg")) continue;
        bytes += end - begin;
        *advised = *advised || ((uintptr_t)address >= begin && (uintptr_t)address < end);
    }
    if (file) fclose(file);
    return bytes;
}

/* Whether the kernel has huge pages to ask for, and tells. */
static bool huge_pages_known(void) {
    void *memory = aligned_alloc(HUGE_PAGE, 2 * HUGE_PAGE);
    bool advised = false;
    if (memory && madvise(memory, 2 * HUGE_PAGE, MADV_HUGEPAGE) == 0)
        advised_bytes(memory, &advised);
    free(memory);
    return advised;
}

static void zero_memory_is_zero_and_aligned(void **state) {
    (void)state;
    static const struct {
        size_t bytes, alignment;
    } cases[] = {{1, 4096},
                 {5000, 4096},
                 {2 * HUGE_PAGE - 1, 4096},
                 {2 * HUGE_PAGE, HUGE_PAGE},
                 {5 * HUGE_PAGE + 77, HUGE_PAGE}};
    const bool known = huge_pages_known();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int again = 0; again < 2; again++) { /* memory that was used before, too */
            void *whole = NULL;
            bool advised;
            char *memory = weft_storage_allocate_zero(cases[i].bytes, &whole);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % cases[i].alignment, 0);
            for (size_t k = 0; k < cases[i].bytes; k += 1 + k / 64) assert_int_equal(memory[k], 0);
            assert_int_equal(memory[cases[i].bytes - 1], 0);
            advised_bytes(memory, &advised);
            if (known && cases[i].alignment == HUGE_PAGE) assert_true(advised);
            memset(memory, 0x55, cases[i].bytes);
            free(whole);
        }
    void *whole = &whole;
    assert_null(weft_storage_allocate_zero(SIZE_MAX - 100, &whole));
    assert_null(whole);
}

/* What is reserved stays reserved where there is no room for more. */
static void scratch_on_a_device_grows_within_its_limit(void **state) {
    (void)state;
    const weft_device_ops *ops = weft_device_find(WEFT_SIMULATED);
    weft_device_handle device = {.ops = ops};
    weft_scratch scratch = {0};
    const weft_device_settings settings = {.memory_limit = 5000};
    assert_int_equal(ops->open(&settings, &device.state), WEFT_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(weft_scratch_reserve_on(&scratch, &device, 1000), WEFT_SUCCESS);
        assert_int_equal(weft_scratch_reserve_on(&scratch, &device, 3000), WEFT_SUCCESS);
        assert_int_equal(weft_scratch_reserve_on(&scratch, &device, 2000), WEFT_SUCCESS);
        assert_int_equal(scratch.bytes, 3000);
        assert_int_equal(weft_scratch_reserve_on(&scratch, &device, 6000),
                         WEFT_ERROR_OUT_OF_MEMORY);
        assert_int_equal(scratch.bytes, 3000);
        assert_non_null(scratch.memory);
        assert_int_equal(weft_scratch_reserve_on(&scratch, &device, 4500), WEFT_SUCCESS);
        void *more = NULL;
        assert_int_equal(ops->allocate(device.state, WEFT_MEMORY_DEVICE, 600, &more),
                         WEFT_ERROR_OUT_OF_MEMORY);
        weft_scratch_release(&scratch);
        assert_null(scratch.memory);
        assert_int_equal(ops->allocate(device.state, WEFT_MEMORY_DEVICE, 4900, &more),
                         WEFT_SUCCESS);
        ops->free(device.state, WEFT_MEMORY_DEVICE, more);
    }
    ops->close(device.state);
}

/* A long line is worked on in as much memory as it has. */
static void scratch_of_the_native_engine_is_on_huge_pages(void **state) {
    (void)state;
    const weft_problem problem = {.rank = 1, .n = {1 << 20}};
    const weft_options options = {.engine = WEFT_ENGINE_NATIVE, .threads = 2};
    weft_plan plan = NULL;
    bool unused;
    if (!huge_pages_known()) return; /* the kernel has none */
    const size_t before = advised_bytes(NULL, &unused);
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_true(advised_bytes(NULL, &unused) >= before + (16 << 20));
    weft_plan_destroy(&plan);
}

/* What the transforms of a line hold, both directions out of place and those of complex lines in
 * place too, whatever the threads: beside 16 MiB as much as the line, or five complex lines where
 * its length is prime. */
static void long_lines_take_little_more_than_their_array(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        weft_kind kind;
        unsigned arrays;
    } lines[] = {{1 << 20, WEFT_C2C, 1}, {1 << 22, WEFT_C2C, 1}, {3 << 20, WEFT_R2C, 1},
                 {3 << 18, WEFT_C2C, 1}, {1953125, WEFT_C2C, 1}, {1048573, WEFT_C2C, 5},
                 {1048573, WEFT_R2C, 10}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int threads = 1; threads <= 16; threads *= 4)
            for (int single = 0; single < 2; single++) {
                const weft_problem problem = {.rank = 1,
                                              .n = {lines[i].n},
                                              .kind = lines[i].kind,
                                              .precision = single ? WEFT_SINGLE : WEFT_DOUBLE};
                const weft_options options = {.engine = WEFT_ENGINE_NATIVE,
                                              .threads = threads,
                                              .placement = lines[i].kind == WEFT_R2C
                                                               ? WEFT_OUT_OF_PLACE
                                                               : WEFT_PLACEMENT_ANY};
                weft_plan plan = NULL;
                weft_memory memory;
                const size_t array = (size_t)lines[i].n * (lines[i].kind == WEFT_R2C ? 1u : 2u) *
                                     (single ? sizeof(float) : sizeof(double));
                assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
                assert_int_equal(weft_plan_memory(plan, &memory), WEFT_SUCCESS);
                if (memory.total > lines[i].arrays * array + ((size_t)16 << 20))
                    fail_msg("%lld points, %d threads: %zu bytes beside %zu of the array",
                             (long long)lines[i].n, threads, memory.total, array);
                weft_plan_destroy(&plan);
            }
}

/* Forward into `spectrum` and back into `back`, with so many threads. */
static void there_and_back(weft_problem problem, int threads, const void *in, void *spectrum,
                           void *back) {
    const weft_options options = {.engine = WEFT_ENGINE_NATIVE, .threads = threads};
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, spectrum), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_INVERSE, spectrum, back), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

/* Several threads share the memory of one long line, or have some for each of several. */
static void threads_do_not_change_the_bits_of_long_lines(void **state) {
    (void)state;
    enum { MOST_LINES = 3, LONGEST = 131072, NUMBERS = MOST_LINES * 2 * (LONGEST + 2) };
    static const int64_t lengths[] = {5003, 16384, 65537, 100000, LONGEST};
    static const int teams[] = {2, 3, 7};
    static double in[NUMBERS], spectrum[2][NUMBERS], back[2][NUMBERS];
    static float single_in[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) in[i] = (double)((i * 7919LL) % 10007) / 10007 - 0.5;
    for (int i = 0; i < NUMBERS; i++) single_in[i] = (float)in[i];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int64_t batch = 1; batch <= MOST_LINES; batch += 2)
            for (int c = 0; c < 4; c++) {
                const weft_problem problem = {.rank = 1,
                                              .n = {lengths[i]},
                                              .kind = c % 2 ? WEFT_R2C : WEFT_C2C,
                                              .precision = c / 2 ? WEFT_SINGLE : WEFT_DOUBLE,
                                              .batch = batch};
                const void *from = c / 2 ? (const void *)single_in : in;
                memset(spectrum, 0, sizeof spectrum);
                memset(back, 0, sizeof back);
                there_and_back(problem, 1, from, spectrum[0], back[0]);
                for (int team = 0; team < 3; team++) {
                    there_and_back(problem, teams[team], from, spectrum[1], back[1]);
                    assert_memory_equal(spectrum[0], spectrum[1], sizeof spectrum[0]);
                    assert_memory_equal(back[0], back[1], sizeof back[0]);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_memory_is_zero_and_aligned),
        cmocka_unit_test(scratch_on_a_device_grows_within_its_limit),
        cmocka_unit_test(scratch_of_the_native_engine_is_on_huge_pages),
        cmocka_unit_test(long_lines_take_little_more_than_their_array),
        cmocka_unit_test(threads_do_not_change_the_bits_of_long_lines),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
