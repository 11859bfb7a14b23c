/* Memory that threads work in: zero, aligned, and on huge pages where it is large. */
#include "one_context.h"

#include "device/allocations.h"

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
    assert_true(advised_bytes(NULL, &unused) >= before + 2 * (16 << 20));
    weft_plan_destroy(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_memory_is_zero_and_aligned),
        cmocka_unit_test(scratch_of_the_native_engine_is_on_huge_pages),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
