/*
 * Blocks of lines that the native engine copies into the cache and back have the bits of lines in
 * tiles, and nothing beyond them is stored: lines that are neighbours in memory on both sides, on
 * one, or other lines on either; numbers of lines that fill no last block, pieces of the input,
 * gaps between rows, threads, scales, and stores past the caches.
 */
#include "engine/native/dispatch.h"
#include "engine/native/number.h"
#include "engine/native/pass_group.h"

#include "test_engine.h"

enum { CASES = 600, MOST_PIECES = 3 };

typedef enum neighbours { BOTH, OUTPUT, INPUT, OTHERS, KINDS } neighbours;

typedef struct block_case {
    weft_pass_request request;
    neighbours kind;
    int64_t in_elements, out_elements;
    weft_native_piece piece[MOST_PIECES];
    double scale;
    bool past;
    int threads;
} block_case;

/* Lays out axis order[3] fastest and order[0] slowest, with a gap after each row; returns the
 * elements of all. Axis 0 is the line, axis 1 + i loop i. */
static int64_t lay_out_axes(weft_pass_request *r, bool output, const int *order) {
    int64_t stride = 1;
    for (int i = 3; i >= 0; i--) {
        weft_dimension *d = order[i] == 0 ? &r->dim : &r->loop[order[i] - 1];
        *(output ? &d->out_stride : &d->in_stride) = stride;
        stride = stride * d->n + random_between(0, 2) * (i == 3 ? 4 : 0);
    }
    return stride;
}

static block_case random_case(neighbours kind) {
    static const int64_t points[] = {16, 20, 31, 64, 67, 100, 128};
    static const int both[][4] = {{3, 0, 2, 1}, {0, 3, 2, 1}, {0, 2, 3, 1}},
                     contiguous[][4] = {{3, 2, 1, 0}, {1, 3, 2, 0}, {2, 1, 3, 0}},
                     others[][4] = {{3, 0, 1, 2}, {0, 1, 3, 2}, {0, 3, 1, 2}};
    block_case c = {.kind = kind,
                    .scale = random_between(0, 1) ? 1 : 1.0 / 3,
                    .past = random_between(0, 1),
                    .threads = (int)random_between(1, 3)};
    const weft_precision precision = random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE;
    const bool divides = kind == OUTPUT || kind == INPUT;
    c.request = (weft_pass_request){
        .kernels = weft_native_kernels(precision),
        .kind = WEFT_TRANSFORM_C2C,
        .direction = random_between(0, 1) ? WEFT_FORWARD : WEFT_INVERSE,
        .dim = {.n = points[random_between(0, 6)]},
        .loops = 3,
        /* One line alone would be contiguous, which is done in another way, with other bits. */
        .loop = {{.n = divides ? 32 * random_between(1, 5) : random_between(2, 150)},
                 {.n = random_between(1, kind == OTHERS ? 40 : 5)},
                 {.n = random_between(1, 2)}},
        .cache = 1 << 20};
    const int which = (int)random_between(0, 2), other = (int)random_between(0, 2);
    c.in_elements =
        lay_out_axes(&c.request, false, kind == OUTPUT ? contiguous[which] : both[which]);
    c.out_elements = lay_out_axes(&c.request, true,
                                  kind == BOTH     ? both[which]
                                  : kind == OUTPUT ? both[other]
                                  : kind == INPUT  ? contiguous[other]
                                                   : others[other]);
    return c;
}

/* The input in pieces along the lines, which lie in it as they do without. */
static void split_input(block_case *c, const char *in, const void **array) {
    weft_pass_request *r = &c->request;
    const int count = (int)random_between(1, MOST_PIECES);
    for (int p = 0; p < count; p++) {
        int64_t first, n;
        weft_split(r->dim.n, count, p, &first, &n);
        c->piece[p] = (weft_native_piece){.first = first, .points = n, .stride = r->dim.in_stride};
        for (int i = 0; i < r->loops; i++) c->piece[p].loop_stride[i] = r->loop[i].in_stride;
        c->piece[p].offset = random_between(0, first) * r->dim.in_stride;
        array[p] =
            in + (first * r->dim.in_stride - c->piece[p].offset) * weft_complex_bytes(r->kernels);
    }
    r->in = (weft_native_pieces){count, c->piece};
}

static void run_group(const block_case *c, bool blocks, const void *const *in, void *out) {
    weft_pass_group group;
    weft_scratch scratch = {0};
    size_t bytes = 0;
    assert_int_equal(blocks ? weft_pass_group_create_blocks(&c->request, &group, &bytes)
                            : weft_pass_group_create_pass(&c->request, &group, &bytes),
                     WEFT_SUCCESS);
    const int threads = blocks ? c->threads : 1;
    weft_pass_group_store_past(&group, blocks && c->past);
    weft_pass_group_scale(&group, c->scale);
    assert_int_equal(weft_scratch_reserve(&scratch, weft_pass_group_room(&group, threads), threads),
                     WEFT_SUCCESS);
    const weft_room room = weft_scratch_room(&scratch, threads);
    weft_pass_group_run(&group, in, &out, &room);
    weft_pass_group_release(&group);
    weft_scratch_release(&scratch);
}

static void check_case(neighbours kind) {
    block_case c = random_case(kind);
    weft_pass_request *r = &c.request;
    const size_t element = (size_t)weft_complex_bytes(r->kernels);
    const size_t out_bytes = (size_t)c.out_elements * element;
    assert_true(weft_pass_group_has_blocks(r));
    char *in = malloc((size_t)c.in_elements * element);
    char *tiles = aligned_alloc(64, (out_bytes + 127) / 64 * 64);
    char *blocks = aligned_alloc(64, (out_bytes + 127) / 64 * 64);
    assert_true(in && tiles && blocks);
    for (int64_t i = 0; i < 2 * c.in_elements; i++)
        if (element == 16)
            ((double *)in)[i] = random_number();
        else
            ((float *)in)[i] = (float)random_number();
    memset(tiles, POISON, out_bytes);
    memset(blocks, POISON, out_bytes);
    const void *array[MOST_PIECES] = {in};
    run_group(&c, false, array, tiles);
    if (kind != OTHERS && random_between(0, 1)) split_input(&c, in, array);
    run_group(&c, true, array, blocks);
    if (memcmp(tiles, blocks, out_bytes) != 0)
        fail_msg("kind %d: %lld points of %lld x %lld x %lld lines, %s, %d pieces, %d threads: not "
                 "the bits of tiles",
                 (int)kind, (long long)r->dim.n, (long long)r->loop[0].n, (long long)r->loop[1].n,
                 (long long)r->loop[2].n, element == 16 ? "double" : "single", r->in.count,
                 c.threads);
    free(blocks);
    free(tiles);
    free(in);
}

static void blocks_have_the_bits_of_tiles(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) check_case((neighbours)(i % KINDS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_bits_of_tiles),
    };
    seed_random();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
