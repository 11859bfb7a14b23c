/*
 * Transforms whose input or output lies in pieces, whole or in parts: the same bits as those of one
 * array, and nothing stored between the pieces.
 */
#include "test_engine.h"

enum { MOST_PIECES = 16 /* that the engine jit takes */, MOST_GAP = 9 };

/* One side: axis 0 is the loop, the others are the dimensions. Memory is row-major over `order`. */
typedef struct array_side {
    int axes;
    int64_t n[3];
    int order[3];
    bool real;
    size_t element;
} array_side;

static array_side side_of(const weft_transform *t, bool output, const int *order) {
    array_side s = {.axes = 1 + t->dims, .n = {t->loop[0].n}};
    s.real = t->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    s.element = (t->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double)) * (s.real ? 1 : 2);
    for (int d = 0; d < t->dims; d++) s.n[1 + d] = t->dim[d].n;
    if (t->kind != WEFT_TRANSFORM_C2C && !s.real) s.n[t->dims] = s.n[t->dims] / 2 + 1;
    memcpy(s.order, order, sizeof s.order);
    return s;
}

/* Sets the strides of an array of these extents; returns its number of elements. */
static int64_t strides_of(const array_side *s, const int64_t *n, int64_t *stride) {
    int64_t elements = 1;
    for (int i = s->axes - 1; i >= 0; i--) {
        stride[s->order[i]] = elements;
        elements *= n[s->order[i]];
    }
    return elements;
}

static weft_piece make_piece(const array_side *s, int axis, int64_t first, int64_t n, int array,
                             int64_t offset) {
    int64_t extent[3], stride[3] = {0};
    memcpy(extent, s->n, sizeof extent);
    extent[axis] = n;
    strides_of(s, extent, stride);
    weft_piece piece = {.array = array, .first = first, .n = n, .offset = offset};
    piece.loop_stride[0] = stride[0];
    for (int d = 0; d + 1 < s->axes; d++) piece.dim_stride[d] = stride[1 + d];
    return piece;
}

/* Splits a side into random pieces with gaps between them in one array of *elements or, with
 * `own_arrays`, each in an array of its own. */
static int split(const array_side *s, int axis, bool own_arrays, weft_piece *piece,
                 int64_t *elements) {
    int64_t whole = 1, first = 0;
    const int64_t most = random_between(0, 2) == 0 ? s->n[axis] / MOST_PIECES + 1 : s->n[axis];
    int count = 0;
    for (int a = 0; a < s->axes; a++) whole *= s->n[a];
    *elements = 0;
    while (first < s->n[axis]) {
        int64_t rest = s->n[axis] - first;
        int64_t n = count + 1 == MOST_PIECES ? rest : random_between(1, rest < most ? rest : most);
        *elements += random_between(0, MOST_GAP);
        piece[count] = make_piece(s, axis, first, n, own_arrays ? count : 0, *elements);
        *elements += whole / s->n[axis] * n;
        first += n;
        count++;
    }
    return count;
}

/* Copies every element of the whole array to its place in the pieces, or back. */
static void copy_elements(const array_side *s, int axis, const weft_piece *piece, int pieces,
                          const char *from, char *to, bool to_pieces) {
    int64_t stride[3];
    strides_of(s, s->n, stride);
    for (int p = 0; p < pieces; p++) {
        const int64_t *d = piece[p].dim_stride;
        int64_t n[3] = {s->n[0], s->n[1], s->axes > 2 ? s->n[2] : 1}, begin[3] = {0};
        n[axis] = piece[p].n;
        begin[axis] = piece[p].first;
        for (int64_t i = 0; i < n[0]; i++)
            for (int64_t j = 0; j < n[1]; j++)
                for (int64_t k = 0; k < n[2]; k++) {
                    int64_t whole = (i + begin[0]) * stride[0] + (j + begin[1]) * stride[1] +
                                    (s->axes > 2 ? (k + begin[2]) * stride[2] : 0);
                    int64_t part = piece[p].offset + i * piece[p].loop_stride[0] + j * d[0] +
                                   (s->axes > 2 ? k * d[1] : 0);
                    size_t f = (size_t)(to_pieces ? whole : part) * s->element;
                    size_t t = (size_t)(to_pieces ? part : whole) * s->element;
                    memcpy(to + t, from + f, s->element);
                }
    }
}

static void set_strides(weft_transform *t, const array_side *in, const array_side *out) {
    int64_t i[3], o[3];
    t->in_elements = strides_of(in, in->n, i);
    t->out_elements = strides_of(out, out->n, o);
    t->loop[0].in_stride = i[0];
    t->loop[0].out_stride = o[0];
    for (int d = 0; d < t->dims; d++) {
        t->dim[d].in_stride = i[1 + d];
        t->dim[d].out_stride = o[1 + d];
    }
}

static void fill_random(const weft_transform *t, void *data, size_t bytes) {
    for (size_t i = 0; t->precision == WEFT_DOUBLE && i < bytes / sizeof(double); i++)
        ((double *)data)[i] = random_number();
    for (size_t i = 0; t->precision == WEFT_SINGLE && i < bytes / sizeof(float); i++)
        ((float *)data)[i] = (float)random_number();
}

typedef struct memory {
    char *host;
    size_t bytes;
    void *device;
} memory;

static void copy_memory(const bench *b, const memory *m, bool back) {
    const weft_copy copy = weft_copy_of_run((int64_t)m->bytes, 1);
    const weft_status status = back ? b->device.ops->copy(b->device.state, b->queue, &copy,
                                                          m->device, m->host, WEFT_DEVICE_TO_HOST)
                                    : b->device.ops->copy(b->device.state, b->queue, &copy, m->host,
                                                          m->device, WEFT_HOST_TO_DEVICE);
    assert_int_equal(status, WEFT_SUCCESS);
    assert_int_equal(b->device.ops->queue_wait(b->device.state, b->queue), WEFT_SUCCESS);
}

/* Runs the transform of lines first..first+n-1. Addresses of pieces are those of the whole arrays;
 * other arrays are given from line `first` on. */
static void run_part(const weft_engine_ops *engine, bench *b, weft_transform t, int64_t first,
                     int64_t n, const void *in, void *out) {
    weft_engine_plan *plan = NULL;
    size_t bytes = 0;
    if (t.in_pieces.count == 0)
        in = (const char *)in +
             first * t.loop[0].in_stride * (int64_t)weft_transform_element_bytes(&t, false);
    if (t.out_pieces.count == 0)
        out = (char *)out +
              first * t.loop[0].out_stride * (int64_t)weft_transform_element_bytes(&t, true);
    t.loop[0].n = n;
    if (engine->plan(&t, &b->device, &plan, &bytes) != WEFT_SUCCESS)
        fail_msg("%s", weft_thread_error());
    engine->begin_at(plan, first, NULL);
    execute_planned(engine, b, plan, in, out);
    engine->destroy(plan);
}

/* The transform in one to three parts, piece p beginning at byte begin_bytes[p] of `in`, on
 * whichever device the engine computes. */
static void run_pieces(const weft_engine_ops *engine, const weft_transform *t, memory in,
                       memory out, const size_t *begin_bytes) {
    bench b = bench_open(engine);
    const weft_device_ops *ops = b.device.ops;
    memory *both[] = {&in, &out};
    const void *arrays[MOST_PIECES];
    const int64_t lines = t->loop[0].n;
    const int parts = (int)random_between(1, 3);
    for (int m = 0; m < 2; m++) {
        both[m]->device = both[m]->host;
        if (ops->host_addressable) continue;
        assert_int_equal(
            ops->allocate(b.device.state, WEFT_MEMORY_DEVICE, both[m]->bytes, &both[m]->device),
            WEFT_SUCCESS);
        copy_memory(&b, both[m], false);
    }
    for (int p = 0; p < t->in_pieces.count; p++) arrays[p] = (char *)in.device + begin_bytes[p];
    for (int k = 0; k < parts; k++) {
        int64_t first, n;
        weft_split(lines, parts, k, &first, &n);
        if (n > 0)
            run_part(engine, &b, *t, first, n,
                     t->in_pieces.count > 0 ? (const void *)arrays : in.device, out.device);
    }
    for (int m = 0; m < 2 && !ops->host_addressable; m++) {
        copy_memory(&b, both[m], true);
        ops->free(b.device.state, WEFT_MEMORY_DEVICE, both[m]->device);
    }
    bench_close(&b);
}

static bool has_neighbouring_planes(const weft_pieces *pieces, int64_t stride_of_whole) {
    bool found = pieces->count == 0 && stride_of_whole == 1;
    for (int p = 0; p < pieces->count; p++) found |= pieces->piece[p].loop_stride[0] == 1;
    return found;
}

/* Planes whose neighbours in memory lie in other planes are transformed by the native engine one
 * dimension after the other, in an array that it needs between them. */
static bool may_be_refused(const weft_engine_ops *engine, const weft_transform *t) {
    return engine->id == WEFT_ENGINE_NATIVE && t->dims == 2 &&
           (t->kind == WEFT_TRANSFORM_C2R || t->out_pieces.count > 0) &&
           (has_neighbouring_planes(&t->in_pieces, t->loop[0].in_stride) ||
            has_neighbouring_planes(&t->out_pieces, t->loop[0].out_stride));
}

/* Runs t on pieces of `in` and compares with `expected`. */
static void check_pieces(const weft_engine_ops *engine, weft_transform t, const array_side *in_side,
                         const array_side *out_side, int in_dim, int out_dim, const char *in,
                         const char *expected) {
    weft_piece in_piece[MOST_PIECES], out_piece[MOST_PIECES];
    size_t begin_bytes[MOST_PIECES];
    int64_t in_elements = t.in_elements, out_elements = t.out_elements;
    int ins = in_dim < 0 ? 0 : split(in_side, 1 + in_dim, true, in_piece, &in_elements);
    int outs = out_dim < 0 ? 0 : split(out_side, 1 + out_dim, false, out_piece, &out_elements);
    size_t in_bytes = (size_t)in_elements * in_side->element;
    size_t out_bytes = (size_t)out_elements * out_side->element;
    size_t whole_bytes = (size_t)t.out_elements * out_side->element;
    char *given = malloc(in_bytes), *result = aligned_alloc(64, (out_bytes / 64 + 1) * 64);
    char *gathered = malloc(whole_bytes), *poison = malloc(out_bytes);
    assert_true(given && result && gathered && poison);
    memcpy(given, in, ins == 0 ? in_bytes : 0);
    copy_elements(in_side, 1 + in_dim, in_piece, ins, in, given, true);
    memset(result, 0x5a, out_bytes);
    for (int p = 0; p < ins; p++) {
        begin_bytes[p] = (size_t)in_piece[p].offset * in_side->element;
        in_piece[p].offset = 0;
    }
    t.in_pieces = (weft_pieces){ins, in_dim, in_piece};
    t.out_pieces = (weft_pieces){outs, out_dim, out_piece};
    if (engine->supports(&t, device_of(engine)) != WEFT_SUCCESS) {
        assert_true(may_be_refused(engine, &t));
    } else {
        run_pieces(engine, &t, (memory){given, in_bytes, NULL}, (memory){result, out_bytes, NULL},
                   begin_bytes);
        memcpy(gathered, result, outs == 0 ? whole_bytes : 0);
        copy_elements(out_side, 1 + out_dim, out_piece, outs, result, gathered, false);
        char text[640];
        describe_transform(&t, text, sizeof text);
        if (memcmp(gathered, expected, whole_bytes) != 0)
            fail_msg("%s: from %d pieces to %d: not the bits of one array", text, ins, outs);
        memset(poison, 0x5a, out_bytes); /* what is between the pieces is as it was */
        copy_elements(out_side, 1 + out_dim, out_piece, outs, expected, poison, true);
        if (outs > 0 && memcmp(poison, result, out_bytes) != 0)
            fail_msg("%s: stored between the pieces", text);
    }
    free(poison);
    free(gathered);
    free(result);
    free(given);
}

static void check_case(const weft_engine_ops *engine, weft_transform t, const int *order) {
    const bool inverse = t.kind == WEFT_TRANSFORM_C2R || t.direction == WEFT_INVERSE;
    int first = inverse ? 0 : t.dims - 1, last = t.dims - 1 - first;
    array_side in_side = side_of(&t, false, order), out_side = side_of(&t, true, order);
    set_strides(&t, &in_side, &out_side);
    size_t in_bytes = (size_t)t.in_elements * in_side.element;
    size_t out_bytes = (size_t)t.out_elements * out_side.element;
    char *in = malloc(in_bytes), *expected = malloc(out_bytes);
    assert_true(in && expected);
    static weft_operator third = {.kind = WEFT_OPERATOR_SCALE, .factor = 1.0 / 3};
    static const weft_operator_list scaling = {.count = 1, .item = &third};
    if (engine->id == WEFT_ENGINE_NATIVE && random_between(0, 1)) { /* as the results are stored */
        t.store.list = &scaling;
        t.store.layout.precision = t.precision;
        t.store.layout.real = out_side.real;
    }
    fill_random(&t, in, in_bytes);
    run_transform(engine, &t, in, expected);
    if (t.kind != WEFT_TRANSFORM_R2C)
        check_pieces(engine, t, &in_side, &out_side, first, -1, in, expected);
    if (t.kind != WEFT_TRANSFORM_C2R)
        check_pieces(engine, t, &in_side, &out_side, -1, last, in, expected);
    if (t.kind == WEFT_TRANSFORM_C2C)
        check_pieces(engine, t, &in_side, &out_side, first, last, in, expected);
    free(expected);
    free(in);
}

static void pieces_give_the_bits_of_one_array(void **state) {
    const weft_engine_ops *engine = engine_of(state);
    if (!engine->takes_pieces) skip();
    static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}};
    static const struct {
        int dims;
        int64_t n[2], lines;
    } shapes[] = {{1, {64, 0}, 40},  {1, {30, 0}, 7},   {1, {256, 0}, 3}, {1, {67, 0}, 19},
                  {1, {100, 0}, 66}, {2, {12, 20}, 5},  {2, {33, 8}, 2},  {2, {64, 64}, 3},
                  {2, {16, 31}, 4},  {2, {20, 130}, 1}, {1, {5, 0}, 9},   {1, {16, 0}, 4100}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int variant = 0; variant < 4 * 4 * 2; variant++) {
            if (is_left_out(engine, 14)) continue;
            weft_transform t = {.kind = (weft_transform_kind)(variant % 4 % 3),
                                .direction = variant % 4 == 3 ? WEFT_INVERSE : WEFT_FORWARD,
                                .precision = variant / 16 ? WEFT_SINGLE : WEFT_DOUBLE,
                                .dims = shapes[s].dims,
                                .loops = 1,
                                .loop = {{.n = shapes[s].lines}},
                                .whole = random_between(0, 1),
                                .threads = (int)random_between(1, 3)};
            for (int d = 0; d < t.dims; d++) t.dim[d].n = shapes[s].n[d];
            int order[3], at = 0;
            for (int i = 0; i < 3; i++)
                if (orders[variant / 4 % 4][i] <= t.dims) order[at++] = orders[variant / 4 % 4][i];
            check_case(engine, t, order);
        }
}

#define WEFT_ENGINE_ENTRY(ops)                                                                     \
    {#ops " pieces_give_the_bits_of_one_array", pieces_give_the_bits_of_one_array, NULL, NULL,     \
     (void *)(uintptr_t)&ops},

int main(void) {
    const struct CMUnitTest tests[] = {
#include "engine/engines.def"
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
