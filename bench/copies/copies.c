/*
 * How fast a device copies, as a table: each row a shape, bytes read and written over time, and the
 * share of what one contiguous copy of as many bytes reaches. All memory orders of three axes,
 * awkward extents, rows from one element up; then packing to and from page-locked memory. Usage:
 *   bench_copies [--device cuda] [--bytes N] [--match TEXT]
 * N bytes on each side, by default 1 GiB; of the table only rows whose names hold TEXT. The device
 * openmp copies to and from the host in either of two ways: WEFT_OPENMP_COPIES=rect or packed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "measuring.h"
#include "support/clock.h"
#include "support/error.h"

typedef struct bench {
    const weft_device_ops *ops;
    weft_device_state *device;
    void *a, *b, *host;
    int64_t bytes, host_bytes;
    const char *match;
    double plain[3]; /* bytes per second of contiguous copies, by transfer */
} bench;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_copies: %s\n", weft_thread_error());
    exit(1);
}

/* Seconds of one copy: the best of three series, each long enough for the clock. */
static double time_copy(const bench *b, const weft_copy *copy, const void *src, void *dst,
                        weft_transfer transfer) {
    double best = INFINITY, spent = 0;
    int repeats = 1;
    for (int series = -1; series < 3; series++) { /* the first is not counted */
        double start = weft_clock();
        for (int i = 0; i < repeats; i++)
            must(b->ops->copy(b->device, NULL, copy, src, dst, transfer));
        must(b->ops->queue_wait(b->device, NULL));
        spent = (weft_clock() - start) / repeats;
        if (series >= 0 && spent < best) best = spent;
        if (series < 0) repeats = spent < 0.02 ? (int)fmin(ceil(0.02 / spent), 200) : 1;
    }
    return best;
}

static double plain_rate(const bench *b, const void *src, void *dst, int64_t bytes,
                         weft_transfer transfer) {
    weft_copy copy = weft_copy_of_run(bytes, 1);
    int64_t moved = transfer == WEFT_DEVICE_TO_DEVICE ? 2 * bytes : bytes;
    return (double)moved / time_copy(b, &copy, src, dst, transfer);
}

/* One row of the table. */
static void bench_row(const bench *b, const char *what, const weft_copy *copy, const void *src,
                      void *dst, weft_transfer transfer) {
    if (!strstr(what, b->match)) return;
    const int64_t bytes = copy->elements * (int64_t)copy->element_bytes;
    const int64_t moved = transfer == WEFT_DEVICE_TO_DEVICE ? 2 * bytes : bytes;
    const double rate = (double)moved / time_copy(b, copy, src, dst, transfer);
    /* A small copy is slower than a large one, contiguous or not. */
    const double plain =
        bytes < b->bytes / 10 ? plain_rate(b, src, dst, bytes, transfer) : b->plain[transfer];
    printf("%-46s %4zu %9.1f %6.0f %%\n", what, copy->element_bytes, rate * 1e-9,
           100 * rate / plain);
    fflush(stdout);
}

/* Scales a shape along its first axis until it fills the memory. */
static weft_region fill(const int64_t *n, size_t element, int64_t bytes) {
    weft_region box = {.axes = 3, .n = {n[0], n[1], n[2]}};
    int64_t plane = n[1] * n[2] * (int64_t)element;
    if (box.n[0] == 0) box.n[0] = bytes / plane;
    while (box.n[0] * plane > bytes && box.n[0] > 1) box.n[0] /= 2;
    return box;
}

static void bench_orders(const bench *b) {
    static const int natural[3] = {0, 1, 2};
    static const struct {
        const char *name;
        int order[3];
    } orders[] = {{"x z y", {0, 2, 1}},
                  {"y x z", {1, 0, 2}},
                  {"y z x", {1, 2, 0}},
                  {"z x y", {2, 0, 1}},
                  {"z y x", {2, 1, 0}}};
    static const int64_t shapes[][3] = {{512, 512, 512}, {243, 250, 252}, {0, 127, 127},
                                        {0, 512, 3},     {3, 4096, 4096}, {0, 2, 64}};
    static const size_t sizes[] = {4, 8, 16};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
            for (size_t e = 0; e < sizeof sizes / sizeof sizes[0]; e++) {
                weft_region box = fill(shapes[s], sizes[e], b->bytes);
                int64_t all = box.n[0] * box.n[1] * box.n[2] * (int64_t)sizes[e];
                if (all == 0 || all > b->bytes) continue;
                weft_view src = weft_view_of(&box, natural, &box);
                weft_view dst = weft_view_of(&box, orders[o].order, &box);
                weft_copy copy = weft_copy_between(&src, &dst, sizes[e]);
                char what[80];
                snprintf(what, sizeof what, "x y z -> %s, %lldx%lldx%lld", orders[o].name,
                         (long long)box.n[0], (long long)box.n[1], (long long)box.n[2]);
                bench_row(b, what, &copy, b->a, b->b, WEFT_DEVICE_TO_DEVICE);
            }
}

/* Rows of so many elements out of rows twice as long: what a pack of a block does. A sector of 32
 * bytes is the least that memory reads, so of shorter rows half of what is read is for nothing. */
static void bench_rows(const bench *b, const void *src, void *dst, weft_transfer transfer,
                       int64_t room) {
    static const int64_t rows[] = {1, 2, 3, 5, 8, 13, 16, 31, 32, 64, 127, 256, 1000};
    static const size_t sizes[] = {4, 8, 16};
    static const char *const names[] = {"device -> device", "device -> host", "host -> device"};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (size_t e = 0; e < sizeof sizes / sizeof sizes[0]; e++) {
            int64_t n = rows[r], count = room / (2 * n * (int64_t)sizes[e]);
            weft_view wide = {.axes = 2, .n = {count, n}, .stride = {2 * n, 1}};
            weft_view packed = {.axes = 2, .n = {count, n}, .stride = {n, 1}};
            bool unpack = transfer == WEFT_HOST_TO_DEVICE;
            weft_copy copy =
                weft_copy_between(unpack ? &packed : &wide, unpack ? &wide : &packed, sizes[e]);
            char what[80];
            snprintf(what, sizeof what, "%s, every other row of %lld", names[transfer],
                     (long long)n);
            bench_row(b, what, &copy, src, dst, transfer);
        }
}

static void read_arguments(int argc, char **argv, bench *b) {
    const char *name = "cuda";
    b->match = "";
    b->bytes = INT64_C(1) << 30;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--device") == 0) name = argv[i + 1];
        if (strcmp(argv[i], "--match") == 0) b->match = argv[i + 1];
        if (strcmp(argv[i], "--bytes") == 0) b->bytes = strtoll(argv[i + 1], NULL, 10);
    }
    weft_device device;
    if (find_device(name, &device)) b->ops = weft_device_find(device);
    if (!b->ops || b->bytes < 1 << 16) {
        fprintf(stderr, "bench_copies: --device %s or --bytes is wrong\n", name);
        exit(2);
    }
}

int main(int argc, char **argv) {
    const weft_device_settings settings = {.threads = 1};
    const char *description = "";
    bench b = {.ops = NULL};
    read_arguments(argc, argv, &b);
    must(b.ops->probe(&description));
    must(b.ops->open(&settings, &b.device));
    b.host_bytes = b.bytes / 4;
    must(b.ops->allocate(b.device, WEFT_MEMORY_DEVICE, (size_t)b.bytes, &b.a));
    must(b.ops->allocate(b.device, WEFT_MEMORY_DEVICE, (size_t)b.bytes, &b.b));
    must(b.ops->allocate(b.device, WEFT_MEMORY_PAGE_LOCKED, (size_t)b.host_bytes, &b.host));
    memset(b.host, 0, (size_t)b.host_bytes);
    b.plain[WEFT_DEVICE_TO_DEVICE] = plain_rate(&b, b.a, b.b, b.bytes, WEFT_DEVICE_TO_DEVICE);
    b.plain[WEFT_DEVICE_TO_HOST] = plain_rate(&b, b.a, b.host, b.host_bytes, WEFT_DEVICE_TO_HOST);
    b.plain[WEFT_HOST_TO_DEVICE] = plain_rate(&b, b.host, b.b, b.host_bytes, WEFT_HOST_TO_DEVICE);
    printf(
        "%s\ncontiguous: device %.1f GB/s (read and written), to the host %.1f, from it %.1f\n\n",
        description, b.plain[WEFT_DEVICE_TO_DEVICE] * 1e-9, b.plain[WEFT_DEVICE_TO_HOST] * 1e-9,
        b.plain[WEFT_HOST_TO_DEVICE] * 1e-9);
    printf("%-46s %4s %9s %8s\n", "copy", "size", "GB/s", "share");
    bench_orders(&b);
    bench_rows(&b, b.a, b.b, WEFT_DEVICE_TO_DEVICE, b.bytes);
    bench_rows(&b, b.a, b.host, WEFT_DEVICE_TO_HOST, b.host_bytes);
    bench_rows(&b, b.host, b.b, WEFT_HOST_TO_DEVICE, b.host_bytes);
    b.ops->close(b.device);
    return 0;
}
