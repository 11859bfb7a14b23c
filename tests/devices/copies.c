/*
 * The strided copy of devices with kernels: every memory order, all sizes of elements, rows as
 * short as one element, from and to device, page-locked and pageable memory, with random data,
 * against a loop over elements. Memory between the elements must not change. WEFT_TEST_SEED repeats
 * a run.
 */
#include "device_test.h"

#include <time.h>

enum { MOST_AXES = 5, POISON = 0xa5 };

static const weft_device_ops *ops;
static weft_device_state *device;
static uint64_t random_state;

static int64_t random_below(int64_t n) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (int64_t)((random_state * UINT64_C(2685821657736338717)) >> 33) % n;
}

/* ---- one side: a host image, and where the copy works ---- */

typedef enum place { ON_DEVICE, PAGE_LOCKED, PAGEABLE } place;

typedef struct side {
    char *image; /* on the host */
    void *memory;
    size_t bytes, shift; /* shift: of element 0, for odd alignment */
    place where;
} side;

static void move_bytes(const void *src, void *dst, size_t bytes, weft_transfer transfer) {
    weft_copy copy = weft_copy_of_run((int64_t)bytes, 1);
    ok(ops->copy(device, NULL, &copy, src, dst, transfer));
    ok(ops->queue_wait(device, NULL));
}

static side side_create(size_t bytes, size_t shift, place where, bool poisoned) {
    side s = {.bytes = bytes + shift, .shift = shift, .where = where};
    s.image = malloc(s.bytes);
    assert_non_null(s.image);
    for (size_t i = 0; i < s.bytes; i++)
        s.image[i] = poisoned ? (char)POISON : (char)random_below(256);
    if (where == PAGEABLE)
        s.memory = malloc(s.bytes);
    else
        ok(ops->allocate(device, where == ON_DEVICE ? WEFT_MEMORY_DEVICE : WEFT_MEMORY_PAGE_LOCKED,
                         s.bytes, &s.memory));
    if (where == ON_DEVICE)
        move_bytes(s.image, s.memory, s.bytes, WEFT_HOST_TO_DEVICE);
    else
        memcpy(s.memory, s.image, s.bytes);
    return s;
}

static char *side_result(const side *s) {
    char *result = malloc(s->bytes);
    assert_non_null(result);
    if (s->where == ON_DEVICE)
        move_bytes(s->memory, result, s->bytes, WEFT_DEVICE_TO_HOST);
    else
        memcpy(result, s->memory, s->bytes);
    return result;
}

static void side_destroy(side *s) {
    free(s->image);
    if (s->where == PAGEABLE)
        free(s->memory);
    else
        ops->free(device, s->where == ON_DEVICE ? WEFT_MEMORY_DEVICE : WEFT_MEMORY_PAGE_LOCKED,
                  s->memory);
}

/* ---- the reference ---- */

static int64_t span_of(const weft_view *view) {
    int64_t span = 1;
    for (int a = 0; a < view->axes; a++) span += (view->n[a] - 1) * view->stride[a];
    return span;
}

static void copy_by_element(const weft_view *src, const weft_view *dst, size_t element,
                            const char *from, char *to) {
    int64_t elements = 1;
    for (int a = 0; a < src->axes; a++) elements *= src->n[a];
    for (int64_t e = 0; e < elements; e++) {
        int64_t s = src->offset, d = dst->offset;
        for (int64_t a = src->axes - 1, rest = e; a >= 0; rest /= src->n[a], a--) {
            s += rest % src->n[a] * src->stride[a];
            d += rest % src->n[a] * dst->stride[a];
        }
        memcpy(to + d * (int64_t)element, from + s * (int64_t)element, element);
    }
}

static void describe(const weft_view *src, const weft_view *dst, size_t element, char *text,
                     size_t size) {
    int used = snprintf(text, size, "elements of %zu bytes:", element);
    for (int a = 0; a < src->axes; a++)
        used +=
            snprintf(text + used, size - (size_t)used, " %lld (%lld -> %lld)", (long long)src->n[a],
                     (long long)src->stride[a], (long long)dst->stride[a]);
}

static void check(const weft_view *src, const weft_view *dst, size_t element, place from,
                  place to) {
    size_t word = element < 8 ? element : 8; /* alignment of the element type */
    side in = side_create((size_t)(src->offset + span_of(src)) * element,
                          (size_t)random_below(2) * word, from, false);
    side out = side_create((size_t)(dst->offset + span_of(dst)) * element,
                           (size_t)random_below(2) * word, to, true);
    weft_copy copy = weft_copy_between(src, dst, element);
    copy_by_element(src, dst, element, in.image + in.shift, out.image + out.shift);
    ok(ops->copy(device, NULL, &copy, (char *)in.memory + in.shift, (char *)out.memory + out.shift,
                 from != ON_DEVICE ? WEFT_HOST_TO_DEVICE
                 : to != ON_DEVICE ? WEFT_DEVICE_TO_HOST
                                   : WEFT_DEVICE_TO_DEVICE));
    ok(ops->queue_wait(device, NULL));
    char *result = side_result(&out);
    if (memcmp(result, out.image, out.bytes) != 0) {
        char text[512];
        describe(src, dst, element, text, sizeof text);
        fail_msg("%s", text);
    }
    free(result);
    side_destroy(&in);
    side_destroy(&out);
}

/* ---- cases ---- */

static const size_t elements[] = {4, 8, 16, 1, 2, 12, 24};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

static const struct {
    place from, to;
} routes[] = {{ON_DEVICE, ON_DEVICE},
              {ON_DEVICE, PAGE_LOCKED},
              {PAGE_LOCKED, ON_DEVICE},
              {ON_DEVICE, PAGEABLE},
              {PAGEABLE, ON_DEVICE}};

static void random_order(int axes, int *order) {
    for (int i = 0; i < axes; ++i) order[i] = i;
    for (int i = axes - 1; i > 0; --i) {
        int j = (int)random_below(i + 1), axis = order[i];
        order[i] = order[j];
        order[j] = axis;
    }
}

/* A view of `part` in a box that is wider by up to `margin` elements along each axis. */
static weft_view view_in_box(const weft_region *part, int64_t margin) {
    weft_region box = *part;
    int order[MOST_AXES];
    for (int a = 0; a < part->axes; ++a) {
        int64_t before = random_below(margin + 1);
        box.lo[a] -= before;
        box.n[a] += before + random_below(margin + 1);
    }
    random_order(part->axes, order);
    return weft_view_of(&box, order, part);
}

static void random_boxes_in_random_orders(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        weft_region part = {.axes = 1 + (int)random_below(MOST_AXES)};
        int64_t room = 1 + random_below(5000);
        for (int a = 0; a < part.axes; ++a) {
            int64_t most = random_below(3) == 0 ? 4 : room;
            part.n[a] = 1 + random_below(most < room ? most : room);
            room = room / part.n[a] > 0 ? room / part.n[a] : 1;
        }
        weft_view src = view_in_box(&part, random_below(2)),
                  dst = view_in_box(&part, random_below(2));
        int route = (int)random_below(5);
        check(&src, &dst, elements[random_below(ELEMENTS)], routes[route].from, routes[route].to);
    }
}

/* Three axes in every pair of orders, with a last axis from one element to long rows. */
static void every_order_of_three_axes(void **state) {
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t shapes[][3] = {
        {7, 5, 1}, {5, 37, 2}, {33, 31, 3}, {3, 65, 33}, {2, 3, 150}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int pair = 0; pair < 36; pair++)
            for (int e = 0; e < 3; e++) {
                weft_region box = {.axes = 3};
                memcpy(box.n, shapes[s], sizeof shapes[s]);
                weft_view src = weft_view_of(&box, orders[pair / 6], &box);
                weft_view dst = weft_view_of(&box, orders[pair % 6], &box);
                check(&src, &dst, elements[e], ON_DEVICE, ON_DEVICE);
            }
}

/* Rows of lengths around that from which the driver copies them, in one, two and three axes. */
static void rows_of_every_length(void **state) {
    (void)state;
    for (int64_t bytes = 8; bytes <= 520; bytes += bytes < 300 ? 8 : 104)
        for (int route = 0; route < 5; route++)
            for (int axes = 1; axes <= 3; axes++) {
                weft_region part = {.axes = axes}, box;
                for (int a = 0; a < axes; a++) part.n[a] = a == axes - 1 ? bytes / 8 : 3 + a;
                box = part;
                int order[3] = {0, 1, 2};
                box.n[axes - 1] += random_below(3);
                weft_view src = weft_view_of(&box, order, &part);
                weft_view dst = weft_view_of(&part, order, &part);
                check(&src, &dst, 8, routes[route].from, routes[route].to);
            }
}

/* More than one block along each axis of a kernel, and axes so short that others go with them. */
static void large_transpositions(void **state) {
    (void)state;
    static const int orders[][3] = {{2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    static const int64_t extents[][3] = {
        {41, 70, 67}, {70, 70, 3}, {3, 70, 70}, {90, 2, 64}, {300, 4, 5}};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++)
        for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
            for (int e = 0; e < ELEMENTS; e++) {
                const int natural[] = {0, 1, 2};
                weft_region box = {.axes = 3};
                for (int a = 0; a < 3; a++) box.n[a] = extents[i][a];
                weft_view src = weft_view_of(&box, natural, &box);
                weft_view dst = weft_view_of(&box, orders[o], &box);
                check(&src, &dst, elements[e], ON_DEVICE, ON_DEVICE);
            }
}

/* Copies larger than the scratch memory that a device has for them. */
static void large_reordered_copies_over_the_link(void **state) {
    (void)state;
    const int natural[] = {0, 1, 2}, swapped[] = {1, 0, 2};
    for (int route = 1; route < 5; route++) {
        weft_region box = {.axes = 3, .n = {70, 130, 150 + 3 * route}};
        weft_view src = weft_view_of(&box, natural, &box);
        weft_view dst = weft_view_of(&box, swapped, &box);
        check(&src, &dst, 16, routes[route].from, routes[route].to);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_boxes_in_random_orders),
        cmocka_unit_test(every_order_of_three_axes),
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(large_transpositions),
        cmocka_unit_test(large_reordered_copies_over_the_link),
    };
    const char *given = getenv("WEFT_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    random_state = random_state * 2 + 1;
    ops = tested_ops();
    device = open_device(ops, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ops->close(device);
    return failed;
}
