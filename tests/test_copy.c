/*
 * Views and the strided copy: named cases, and random views compared with a loop over elements. The
 * buffers end at pages that may not be touched, so a copy that strays from its views crashes.
 * WEFT_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"

enum { POISON = 0xa5, MOST_AXES = 5, RANDOM_CASES = 400, ELEMENTS = 6000 };

static uint64_t random_state;

static int64_t random_below(int64_t n) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (int64_t)((random_state * UINT64_C(2685821657736338717)) >> 33) % n;
}

/* ---- Buffers between pages that may not be touched. ---- */

typedef struct guarded {
    char *pages, *data;
    size_t all, bytes;
} guarded;

/* `slack` bytes stay free between the data and the page after it (or before it, if at_start). */
static guarded guarded_create(size_t bytes, bool at_start, size_t slack) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inside = (bytes + slack + page - 1) / page * page;
    guarded made = {.all = inside + 2 * page, .bytes = bytes};
    void *pages = mmap(NULL, made.all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    made.pages = pages;
    assert_int_equal(mprotect(made.pages + page, inside, PROT_READ | PROT_WRITE), 0);
    made.data = made.pages + page + (at_start ? slack : inside - bytes - slack);
    memset(made.data, POISON, bytes);
    return made;
}

static void guarded_destroy(guarded *buffer) {
    munmap(buffer->pages, buffer->all);
}

/* The number of elements of memory from the first to the last element of a view. */
static int64_t span_of(const weft_view *view) {
    int64_t span = 1;
    for (int a = 0; a < view->axes; ++a) {
        if (view->n[a] == 0) return 0;
        span += (view->n[a] - 1) * view->stride[a];
    }
    return span;
}

/* ---- The reference, and the comparison with it. ---- */

static void copy_by_element(const weft_view *src, const weft_view *dst, size_t element,
                            const char *from, char *to) {
    int64_t index[WEFT_AXES] = {0};
    for (int a = 0; a < src->axes; ++a)
        if (src->n[a] == 0) return;
    for (;;) {
        int64_t s = src->offset, d = dst->offset;
        int last = src->axes - 1;
        for (int a = 0; a < last; ++a) {
            s += index[a] * src->stride[a];
            d += index[a] * dst->stride[a];
        }
        for (int64_t i = 0; i < src->n[last]; ++i)
            memcpy(to + (d + i * dst->stride[last]) * (int64_t)element,
                   from + (s + i * src->stride[last]) * (int64_t)element, element);
        int a = last - 1;
        while (a >= 0 && ++index[a] == src->n[a]) index[a--] = 0;
        if (a < 0) return;
    }
}

static void fill_at_random(char *data, size_t bytes) {
    uint64_t word = random_state;
    for (size_t i = 0; i < bytes; i += 8) {
        word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t mixed = word ^ word >> 32;
        memcpy(data + i, &mixed, bytes - i < 8 ? bytes - i : 8);
    }
}

/* Runs the copy between buffers that hold no more than the two views. */
static void check_copy(const weft_view *src, const weft_view *dst, size_t element, int threads) {
    size_t word = element < 8 ? element : 8; /* alignment of the element type */
    guarded from = guarded_create((size_t)span_of(src) * element, random_below(2) == 0,
                                  (size_t)random_below(2) * word);
    guarded to = guarded_create((size_t)span_of(dst) * element, random_below(2) == 0,
                                (size_t)random_below(2) * word);
    fill_at_random(from.data, from.bytes);
    char *expected = malloc(to.bytes + 1);
    assert_non_null(expected);
    memset(expected, POISON, to.bytes);

    weft_view at_src = *src, at_dst = *dst;
    at_src.offset = at_dst.offset = 0;
    copy_by_element(&at_src, &at_dst, element, from.data, expected);
    /* The views keep their offsets: the base addresses move back instead, as integers. */
    weft_copy copy = weft_copy_between(src, dst, element);
    uintptr_t src_base = (uintptr_t)from.data - (uintptr_t)src->offset * element;
    uintptr_t dst_base = (uintptr_t)to.data - (uintptr_t)dst->offset * element;
    weft_copy_run(&copy, (const void *)src_base, (void *)dst_base, threads);
    assert_memory_equal(to.data, expected, to.bytes);

    free(expected);
    guarded_destroy(&from);
    guarded_destroy(&to);
}

static void random_order(int axes, int *order) {
    for (int i = 0; i < axes; ++i) order[i] = i;
    for (int i = axes - 1; i > 0; --i) {
        int j = (int)random_below(i + 1), axis = order[i];
        order[i] = order[j];
        order[j] = axis;
    }
}

/* A box around the part, wider by up to `margin` on either side of each axis. */
static weft_region box_around(const weft_region *part, int64_t margin) {
    weft_region box = *part;
    for (int a = 0; a < part->axes; ++a) {
        int64_t before = random_below(margin + 1);
        box.lo[a] -= before;
        box.n[a] += before + random_below(margin + 1);
    }
    return box;
}

static void check_random_case(size_t element, int threads) {
    weft_region part = {.axes = 1 + (int)random_below(MOST_AXES)};
    int64_t room = ELEMENTS;
    for (int a = 0; a < part.axes; ++a) {
        int64_t most = random_below(3) == 0 ? 4 : room;
        part.lo[a] = random_below(50) - 25;
        part.n[a] = random_below(60) == 0 ? 0 : 1 + random_below(most < room ? most : room);
        if (part.n[a] > 0) room /= part.n[a];
        if (room < 1) room = 1;
    }
    /* Without a margin, axes can be merged. */
    int64_t margin = random_below(3);
    weft_region src_box = box_around(&part, margin),
                dst_box = box_around(&part, random_below(2) * margin);
    int src_order[WEFT_AXES], dst_order[WEFT_AXES];
    random_order(part.axes, src_order);
    random_order(part.axes, dst_order);
    if (random_below(4) == 0) memcpy(dst_order, src_order, sizeof dst_order);
    weft_view src = weft_view_of(&src_box, src_order, &part);
    weft_view dst = random_below(2) == 0 ? weft_view_of(&dst_box, dst_order, &part)
                                         : weft_view_packed(&part, dst_order, random_below(100));
    check_copy(&src, &dst, element, threads);
}

static void random_views_are_copied_as_by_a_loop_over_elements(void **state) {
    (void)state;
    static const size_t element_bytes[] = {1, 2, 4, 8, 16, 3, 12, 32, 40};
    for (size_t e = 0; e < sizeof element_bytes / sizeof element_bytes[0]; ++e)
        for (int i = 0; i < RANDOM_CASES; ++i) check_random_case(element_bytes[e], 1 + i % 2);
}

/* ---- Copies that are large enough for threads and for stores past the caches. ---- */

typedef struct large_case {
    size_t element;
    int axes;
    int64_t box[3], part[3];
    int order[3]; /* of the destination */
} large_case;

static const large_case large_cases[] = {
    {8, 1, {1300000}, {1300000}, {0}},          /* one run */
    {16, 2, {700, 1500}, {700, 1201}, {0, 1}},  /* long rows */
    {8, 2, {9000, 258}, {9000, 129}, {0, 1}},   /* rows of odd length */
    {4, 2, {4000, 700}, {4000, 613}, {0, 1}},   /* rows that are not whole 8-byte words */
    {8, 2, {500000, 5}, {500000, 3}, {0, 1}},   /* very short rows */
    {4, 2, {1600, 1601}, {1600, 1601}, {1, 0}}, /* transpositions that line up */
    {8, 2, {1104, 1001}, {1104, 1001}, {1, 0}},
    {16, 2, {804, 807}, {804, 807}, {1, 0}},
    {4, 2, {1601, 1599}, {1601, 1599}, {1, 0}}, /* and that do not */
    {8, 2, {1101, 1003}, {1101, 1003}, {1, 0}},
    {16, 2, {801, 809}, {801, 803}, {1, 0}},
    {2, 2, {2101, 2103}, {2101, 2103}, {1, 0}}, /* no kernel of its own */
    {16, 3, {96, 81, 80}, {96, 81, 73}, {1, 2, 0}},
    {8, 3, {100, 101, 103}, {100, 101, 103}, {2, 0, 1}},
    {8, 3, {500, 510, 6}, {500, 510, 5}, {1, 0, 2}},   /* short runs in another order */
    {8, 3, {300, 290, 40}, {300, 290, 33}, {1, 0, 2}}, /* long runs in another order */
    {4, 3, {64, 4096, 9}, {64, 4096, 8}, {2, 1, 0}},
};

static void large_views_are_copied_as_by_a_loop_over_elements(void **state) {
    (void)state;
    static const int natural[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof large_cases / sizeof large_cases[0]; ++i) {
        const large_case *c = &large_cases[i];
        weft_region box = {.axes = c->axes}, part = {.axes = c->axes};
        for (int a = 0; a < c->axes; ++a) {
            box.n[a] = c->box[a];
            part.n[a] = c->part[a];
        }
        weft_view src = weft_view_of(&box, natural, &part);
        weft_view dst = weft_view_packed(&part, c->order, 0);
        for (int threads = 1; threads <= 2; ++threads) {
            check_copy(&src, &dst, c->element, threads); /* gather, as a pack does */
            check_copy(&dst, &src, c->element, threads); /* scatter, as an unpack does */
        }
    }
}

/* ---- Views and prepared copies. ---- */

static void view_of_a_part_starts_at_its_first_element(void **state) {
    (void)state;
    weft_region box = {.axes = 3, .lo = {10, 20, 0}, .n = {4, 5, 6}};
    weft_region part = {.axes = 3, .lo = {11, 22, 3}, .n = {2, 3, 3}};
    weft_view natural = weft_view_of(&box, (const int[]){0, 1, 2}, &part);
    assert_int_equal(natural.offset, 1 * 30 + 2 * 6 + 3);
    assert_int_equal(natural.stride[0], 30);
    assert_int_equal(natural.stride[2], 1);
    weft_view transposed = weft_view_of(&box, (const int[]){2, 0, 1}, &part);
    assert_int_equal(transposed.offset, 3 * 20 + 1 * 5 + 2);
    assert_int_equal(transposed.stride[1], 1);
    assert_int_equal(transposed.stride[2], 20);
}

static void whole_boxes_and_leading_slabs_are_contiguous(void **state) {
    (void)state;
    const int order[] = {1, 0, 2};
    weft_region box = {.axes = 3, .n = {4, 5, 6}}, part = box;
    weft_view view = weft_view_of(&box, order, &part);
    assert_true(weft_view_contiguous(&view, order));
    assert_false(weft_view_contiguous(&view, (const int[]){0, 1, 2}));
    part.lo[1] = 2, part.n[1] = 2; /* axis 1 is the slowest */
    view = weft_view_of(&box, order, &part);
    assert_true(weft_view_contiguous(&view, order));
    part.n[0] = 3;
    view = weft_view_of(&box, order, &part);
    assert_false(weft_view_contiguous(&view, order));
    part.n[1] = 1, part.n[0] = 1;
    view = weft_view_of(&box, order, &part);
    assert_true(weft_view_contiguous(&view, order));
    part.n[2] = 0;
    view = weft_view_of(&box, order, &part);
    assert_true(weft_view_contiguous(&view, order));
}

static void copy_between_equal_orders_is_one_run(void **state) {
    (void)state;
    const int order[] = {2, 0, 1};
    weft_region box = {.axes = 3, .n = {4, 5, 6}};
    weft_view view = weft_view_of(&box, order, &box), packed = weft_view_packed(&box, order, 7);
    weft_copy copy = weft_copy_between(&view, &packed, 8);
    assert_int_equal(copy.axes, 1);
    assert_int_equal(copy.n[0], 120);
    assert_int_equal(copy.dst_offset, 7);
    assert_int_equal(copy.elements, 120);
}

static void copy_drops_axes_of_one_and_ends_with_the_densest_destination(void **state) {
    (void)state;
    weft_region box = {.axes = 4, .n = {3, 1, 5, 7}};
    weft_view src = weft_view_packed(&box, (const int[]){0, 1, 2, 3}, 0);
    weft_view dst = weft_view_packed(&box, (const int[]){3, 2, 1, 0}, 0);
    weft_copy copy = weft_copy_between(&src, &dst, 16);
    assert_int_equal(copy.axes, 3);
    assert_int_equal(copy.dst_stride[2], 1);
    assert_int_equal(copy.src_stride[2], 35);
    assert_int_equal(copy.dst_stride[0], 15);
}

static void copy_of_nothing_or_of_one_element_has_no_axes(void **state) {
    (void)state;
    weft_region one = {.axes = 2, .n = {1, 1}}, none = {.axes = 2, .n = {4, 0}};
    const int order[] = {0, 1};
    weft_view view = weft_view_packed(&none, order, 0);
    weft_copy copy = weft_copy_between(&view, &view, 8);
    assert_int_equal(copy.elements, 0);
    weft_copy_run(&copy, NULL, NULL, 2);
    double from = 3, to = 0;
    view = weft_view_packed(&one, order, 0);
    copy = weft_copy_between(&view, &view, 8);
    assert_int_equal(copy.axes, 0);
    weft_copy_run(&copy, &from, &to, 2);
    assert_true(to == 3);
}

static void regions_intersect_where_they_overlap(void **state) {
    (void)state;
    weft_region a = {.axes = 2, .lo = {0, 4}, .n = {6, 6}},
                b = {.axes = 2, .lo = {3, 0}, .n = {9, 5}};
    weft_region both = weft_region_intersect(&a, &b),
                expected = {.axes = 2, .lo = {3, 4}, .n = {3, 1}};
    assert_true(weft_region_equal(&both, &expected));
    assert_int_equal(weft_region_elements(&both), 3);
    b.lo[0] = 6;
    both = weft_region_intersect(&a, &b);
    assert_int_equal(weft_region_elements(&both), 0);
    assert_int_equal(both.n[0], 0);
}

static int choose_seed(void **state) {
    (void)state;
    const char *given = getenv("WEFT_TEST_SEED");
    random_state =
        given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 65536 + (uint64_t)getpid();
    if (random_state == 0) random_state = 1;
    print_message("[   seed   ] WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(view_of_a_part_starts_at_its_first_element),
        cmocka_unit_test(whole_boxes_and_leading_slabs_are_contiguous),
        cmocka_unit_test(copy_between_equal_orders_is_one_run),
        cmocka_unit_test(copy_drops_axes_of_one_and_ends_with_the_densest_destination),
        cmocka_unit_test(copy_of_nothing_or_of_one_element_has_no_axes),
        cmocka_unit_test(regions_intersect_where_they_overlap),
        cmocka_unit_test(random_views_are_copied_as_by_a_loop_over_elements),
        cmocka_unit_test(large_views_are_copied_as_by_a_loop_over_elements),
    };
    return cmocka_run_group_tests(tests, choose_seed, NULL);
}
