/*
 * Transforms of the native engine whose input is padded with zeros or whose output is cropped along
 * a transformed dimension: the bits are those of arrays that hold the zeros, and that are stored
 * whole. Arrays begin or end where a page faults, and hold NaNs where no element lies.
 */
#include "test_engine.h"

#include "support/topology.h"

#include <signal.h>
#include <unistd.h>

enum { LONGEST = 4096, MOST_PIECES = 5, AXES = WEFT_AXES + WEFT_MAX_RANK };

static const weft_engine_ops *engine;
static char current[800]; /* what a handler says when it faults */

static void tell_fault(int number) {
    static const char text[] = "a page outside the view was touched: ";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, current, strlen(current));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

/* One side: its extents in full and as stored, loops first, then dimensions. */
typedef struct extents {
    bool real;
    int axes;
    int64_t n[AXES], stored[AXES];
} extents;

typedef struct test_case {
    weft_transform t;
    int64_t in_stored, out_stored; /* along the dimension that is loaded first, or stored last */
    int in_pieces, out_pieces;
    int parts;   /* along loop 0 */
    bool across; /* loop 0 is contiguous, then the dimension; otherwise any order of axes */
} test_case;

static int first_dimension(const weft_transform *t) {
    const bool inverse = t->kind == WEFT_TRANSFORM_C2R || t->direction == WEFT_INVERSE;
    return inverse && !t->round_trip ? 0 : t->dims - 1;
}

static int end_dimension(const weft_transform *t, bool output) {
    const int first = first_dimension(t);
    return output && !t->round_trip ? t->dims - 1 - first : first;
}

static extents extents_of(const test_case *c, bool output) {
    const weft_transform *t = &c->t;
    extents e = {.axes = t->loops + t->dims};
    e.real = t->kind == (output && !t->round_trip ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    for (int i = 0; i < t->loops; i++) e.n[i] = t->loop[i].n;
    for (int d = 0; d < t->dims; d++) e.n[t->loops + d] = t->dim[d].n;
    if (t->kind != WEFT_TRANSFORM_C2C && !e.real) e.n[e.axes - 1] = e.n[e.axes - 1] / 2 + 1;
    memcpy(e.stored, e.n, sizeof e.n);
    const int64_t stored = output ? c->out_stored : c->in_stored;
    if (stored > 0) e.stored[t->loops + end_dimension(t, output)] = stored;
    return e;
}

/* Sets the strides of one side of t for an array of these extents. */
static void lay(weft_transform *t, bool output, const int64_t *n, const int *order,
                const int64_t *gap) {
    int64_t stride = 1;
    for (int i = t->loops + t->dims - 1; i >= 0; i--) {
        weft_dimension *axis = axis_of(t, order[i]);
        stride += gap[i];
        *(output ? &axis->out_stride : &axis->in_stride) = stride;
        stride *= n[order[i]];
    }
}

/* Of the slowest axis first; loops are the first axes. */
static void random_order(const test_case *c, int *order, int64_t *gap) {
    const int axes = c->t.loops + c->t.dims;
    if (c->across) {
        for (int i = 0; i < axes; i++) order[i] = (i + 1) % axes, gap[i] = 0;
        return;
    }
    const bool natural = random_between(0, 2) == 0, gaps = random_between(0, 3) == 0;
    for (int i = 0; i < axes; i++) {
        const int j = natural ? i : (int)random_between(0, i);
        order[i] = order[j];
        order[j] = i;
        gap[i] = gaps ? random_between(0, 2) : 0;
    }
}

/* Memory for so many elements of a side that has the strides of t. */
static side memory_of(const weft_transform *t, bool output, const extents *e, const int64_t *n,
                      side_placement placement) {
    weft_transform shape = *t;
    shape.kind = e->real ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2C;
    for (int i = 0; i < e->axes; i++) {
        weft_dimension *axis = axis_of(&shape, i);
        axis->n = n[i];
        if (output) axis->in_stride = axis->out_stride;
    }
    return side_create(&shape, false, placement);
}

/* The number in the whole array of element number i of the stored one. */
static int64_t number_in_whole(const extents *e, int64_t i) {
    int64_t number = 0, step = 1;
    for (int a = e->axes - 1; a >= 0; a--) {
        number += i % e->stored[a] * step;
        i /= e->stored[a];
        step *= e->n[a];
    }
    return number;
}

static char *place_of(const side *s, int64_t i) {
    return (char *)s->data + side_place(s, i) * (int64_t)side_element(s);
}

/* ---- operators ---- */

static double factors[LONGEST + 1];
static const weft_operator_list no_operators = {.count = 0};
static weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = -1.0 / 3};
static weft_operator along = {.kind = WEFT_OPERATOR_TABLE};
static const weft_operator_list scaling = {.count = 1, .item = &scale},
                                product = {.count = 1, .item = &along};

/* Axis d of the operators' box is dimension d; the loops follow. */
static weft_fused_operators operators(const weft_transform *t, const weft_operator_list *list,
                                      weft_operator_place place, const extents *e, bool stored) {
    weft_fused_operators f = {.list = list};
    weft_pointwise_layout *l = &f.layout;
    l->box.axes = t->dims + (t->loops > 0 ? t->loops : 1);
    l->real = e->real;
    l->precision = t->precision;
    l->place = place;
    for (int a = 0; a < l->box.axes; a++) {
        const int at = a < t->dims ? t->loops + a : t->loops > 0 ? a - t->dims : e->axes;
        l->order[a] = a;
        l->box.n[a] = l->n[a] = at < e->axes ? e->n[at] : 1;
        l->stored.n[a] = at < e->axes && stored ? e->stored[at] : l->box.n[a];
        l->stored.cropped = l->stored.cropped || l->stored.n[a] != l->box.n[a];
    }
    for (int d = 0; d < t->dims; d++) f.dim_axis[d] = d;
    for (int i = 0; i < t->loops; i++) f.loop_axis[i] = t->dims + i;
    return f;
}

/* ---- running ---- */

/* Pieces of one array along dimension d, of which the first n indices lie in memory. */
static int split(const weft_transform *t, bool output, int d, int64_t n, int most,
                 weft_piece *piece) {
    int count = 0;
    for (int64_t first = 0; first < n; count++) {
        const int64_t left = n - first;
        weft_piece *p = &piece[count];
        *p = (weft_piece){.first = first, .n = count + 1 < most ? random_between(1, left) : left};
        for (int i = 0; i < t->dims; i++)
            p->dim_stride[i] = output ? t->dim[i].out_stride : t->dim[i].in_stride;
        for (int i = 0; i < t->loops; i++)
            p->loop_stride[i] = output ? t->loop[i].out_stride : t->loop[i].in_stride;
        p->offset = first * p->dim_stride[d];
        first += p->n;
    }
    return count;
}

/* Runs lines first..first+n-1 of loop 0, or all where there is none. */
static void run_part(const bench *b, weft_transform t, int64_t first, int64_t n, const char *in,
                     char *out) {
    weft_engine_plan *plan = NULL;
    size_t bytes = 0;
    const void *arrays[1] = {in};
    if (t.loops > 0) {
        const int64_t from = (int64_t)weft_transform_element_bytes(&t, false);
        const int64_t to = (int64_t)weft_transform_element_bytes(&t, true);
        if (t.in_pieces.count == 0) in += first * t.loop[0].in_stride * from;
        if (t.out_pieces.count == 0) out += first * t.loop[0].out_stride * to;
        t.loop[0].n = n;
    }
    if (engine->plan(&t, &b->device, &plan, &bytes) != WEFT_SUCCESS)
        fail_msg("%s", weft_thread_error());
    engine->begin_at(plan, first, NULL);
    execute_planned(engine, b, plan, t.in_pieces.count > 0 ? (const void *)arrays : in, out);
    engine->destroy(plan);
}

static void run_parts(const test_case *c, const weft_transform *t, const side *in, side *out) {
    weft_piece in_piece[MOST_PIECES], out_piece[MOST_PIECES];
    const int from = end_dimension(t, false), to = end_dimension(t, true);
    weft_transform run = *t;
    if (c->in_pieces > 0) {
        const int64_t n = c->in_stored > 0 ? c->in_stored : t->dim[from].n;
        const int count = split(t, false, from, n, c->in_pieces, in_piece);
        run.in_pieces = (weft_pieces){count, from, in_piece};
    }
    if (c->out_pieces > 0) {
        const int64_t n = c->out_stored > 0 ? c->out_stored : t->dim[to].n;
        const int count = split(t, true, to, n, c->out_pieces, out_piece);
        run.out_pieces = (weft_pieces){count, to, out_piece};
    }
    /* Planes may need an array between their two passes, which pieces are not. */
    if (t->dims == 2 && engine->supports(&run, device_of(engine)) != WEFT_SUCCESS) run = *t;
    bench b = bench_open(engine);
    for (int part = 0; part < c->parts; part++) {
        int64_t first = 0, n = 1;
        if (t->loops > 0) weft_split(t->loop[0].n, c->parts, part, &first, &n);
        if (n > 0) run_part(&b, run, first, n, in->data, out->data);
    }
    bench_close(&b);
}

/* Random numbers in the stored array, and the same ones and zeros in the whole one. */
static void fill(const extents *e, side *stored, side *whole) {
    for (int64_t i = 0; i < whole->elements; i++) side_put(whole, i, 0);
    for (int64_t i = 0; i < stored->elements; i++) {
        side_put(stored, i, random_number() + random_number() * I);
        memcpy(place_of(whole, number_in_whole(e, i)), place_of(stored, i), side_element(stored));
    }
}

/* Whether the engine takes the case; if so, checks it. */
static bool check(const test_case *c, const weft_operator_list *stores, bool multiplies) {
    const extents in = extents_of(c, false), out = extents_of(c, true);
    const int axes = in.axes;
    const bool apart = random_between(0, 3) == 0; /* as far apart as in the whole array */
    weft_transform whole = c->t, t;
    int order[AXES];
    int64_t gap[AXES];
    extents spectrum = out;
    spectrum.real = false;
    if (c->t.kind == WEFT_TRANSFORM_R2C && c->t.round_trip)
        spectrum.n[axes - 1] = spectrum.n[axes - 1] / 2 + 1;
    if (multiplies)
        whole.spectral = operators(&whole, &product, WEFT_PLACE_SPECTRAL, &spectrum, false);
    whole.store = operators(&whole, stores, WEFT_PLACE_STORE, &out, false);
    t = whole;
    t.load = operators(&t, &no_operators, WEFT_PLACE_LOAD, &in, true);
    t.store = operators(&t, stores, WEFT_PLACE_STORE, &out, true);
    random_order(c, order, gap);
    lay(&whole, false, in.n, order, gap);
    lay(&t, false, apart ? in.n : in.stored, order, gap);
    if (random_between(0, 2) == 0) random_order(c, order, gap);
    lay(&whole, true, out.n, order, gap);
    lay(&t, true, apart ? out.n : out.stored, order, gap);
    const int used = snprintf(current, sizeof current,
                              "%lld stored, in %d pieces, to %lld in %d, "
                              "%d parts; ",
                              (long long)c->in_stored, c->in_pieces, (long long)c->out_stored,
                              c->out_pieces, c->parts);
    describe_transform(&t, current + used, sizeof current - (size_t)used);
    if (engine->supports(&t, device_of(engine)) != WEFT_SUCCESS) return false;
    if (engine->supports(&whole, device_of(engine)) != WEFT_SUCCESS) return false;

    const bool aligned = c->across && random_between(0, 2);
    const side_placement placement =
        aligned ? ALIGNED : (side_placement)random_between(0, PLACEMENTS - 1);
    side from = memory_of(&t, false, &in, in.stored, placement),
         whole_from = memory_of(&whole, false, &in, in.n, ALIGNED),
         to = memory_of(&t, true, &out, out.stored, placement),
         whole_to = memory_of(&whole, true, &out, out.n, ALIGNED);
    t.in_elements = from.extent;
    t.out_elements = to.extent;
    whole.in_elements = whole_from.extent;
    whole.out_elements = whole_to.extent;
    fill(&in, &from, &whole_from);
    const size_t inside = from.mapped - 2 * GUARD;
    void *before = malloc(inside);
    assert_non_null(before);
    memcpy(before, from.mapping + GUARD, inside);
    test_case explicit = {.t = whole, .parts = c->parts};
    run_parts(&explicit, &whole, &whole_from, &whole_to);
    run_parts(c, &t, &from, &to);
    for (int64_t i = 0; i < to.elements; i++)
        if (memcmp(place_of(&to, i), place_of(&whole_to, number_in_whole(&out, i)),
                   side_element(&to)) != 0)
            fail_msg("%s: element %lld has other bits than with stored zeros", current,
                     (long long)i);
    assert_gaps_untouched(&to);
    assert_gaps_untouched(&from);
    if (!t.destroy_input && memcmp(before, from.mapping + GUARD, inside) != 0)
        fail_msg("%s: the input has changed", current);
    free(before);
    side_destroy(&whole_to);
    side_destroy(&to);
    side_destroy(&whole_from);
    side_destroy(&from);
    return true;
}

/* ---- cases ---- */

static int64_t random_length(int64_t most) {
    switch (random_between(0, 3)) {
    case 0:
        return random_between(2, most < 40 ? most : 40);
    case 1:
        return random_between(2, most);
    default:
        break;
    }
    int64_t n = 2;
    while (2 * n <= most && random_between(0, 5) > 0) n *= 2;
    return n;
}

/* Where several dimensions are transformed, most cases are of planes that fit in a cache. */
static test_case random_case(void) {
    test_case c = {.parts = 1};
    weft_transform *t = &c.t;
    t->kind = (weft_transform_kind)random_between(WEFT_TRANSFORM_C2C, WEFT_TRANSFORM_C2R);
    t->dims = random_between(0, 2) ? 1 : (int)random_between(2, 3);
    t->round_trip = t->dims < 3 && t->kind != WEFT_TRANSFORM_C2R && random_between(0, 2) == 0;
    t->direction = random_between(0, 1) || t->round_trip ? WEFT_FORWARD : WEFT_INVERSE;
    t->precision = random_between(0, 1) ? WEFT_SINGLE : WEFT_DOUBLE;
    t->threads = random_between(0, 3) ? 1 : (int)random_between(2, 3);
    t->loops = (int)random_between(0, 2);
    t->in_batch = t->round_trip ? true : random_between(0, 1);
    t->destroy_input = random_between(0, 3) == 0;
    t->whole = random_between(0, 1); /* lines may be done one by one, or not */
    int64_t points = 1;
    for (int d = 0; d < t->dims; d++) {
        const int64_t most = t->dims == 1   ? (random_between(0, 3) ? 512 : LONGEST)
                             : t->dims == 2 ? 100
                                            : 24;
        points *= t->dim[d].n = random_length(most);
    }
    if (t->dims == 1 && random_between(0, 5) == 0) /* matrices, where lines are contiguous */
        points = 1, t->dim[0].n = 512 << random_between(0, 1);
    for (int i = 0; i < t->loops; i++)
        t->loop[i].n = random_between(1, points > 2000 ? 4 : random_between(0, 1) ? 9 : 40);
    const extents in = extents_of(&c, false), out = extents_of(&c, true);
    const int from = t->loops + end_dimension(t, false), to = t->loops + end_dimension(t, true);
    if (random_between(0, 2)) c.in_stored = random_between(2, in.n[from] > 2 ? in.n[from] : 2);
    if (random_between(0, 2)) c.out_stored = random_between(2, out.n[to] > 2 ? out.n[to] : 2);
    if (c.in_stored > in.n[from]) c.in_stored = 0;
    if (c.out_stored > out.n[to]) c.out_stored = 0;
    const bool one_pass = t->dims == 1 || (t->dims == 2 && !t->round_trip);
    if (t->kind == WEFT_TRANSFORM_C2C && one_pass && random_between(0, 4) == 0) {
        c.in_pieces = (int)random_between(0, MOST_PIECES);
        c.out_pieces = (int)random_between(0, MOST_PIECES);
    }
    if (t->loops > 0 && random_between(0, 3) == 0) {
        c.parts = (int)random_between(1, 3);
        t->in_batch = true;
    }
    return c;
}

static void say_case(const test_case *c) {
    describe_transform(&c->t, current, sizeof current);
}

/* What is refused is done by a step of its own; complex lines along one dimension are not. */
static void zeros_that_are_not_stored_give_the_bits_of_stored_ones(void **state) {
    (void)state;
    signal(SIGSEGV, tell_fault);
    signal(SIGBUS, tell_fault);
    int taken[4] = {0}, trips = 0, pieces = 0;
    for (int i = 0; i < 3000; i++) {
        const test_case c = random_case();
        const bool takes = check(&c, random_between(0, 1) ? &scaling : &no_operators,
                                 c.t.round_trip && random_between(0, 1));
        if (!takes && c.t.dims == 1 && c.t.kind == WEFT_TRANSFORM_C2C && !c.t.round_trip) {
            say_case(&c);
            fail_msg("%s: refused: %s", current, weft_thread_error());
        }
        if (!takes || c.in_stored + c.out_stored == 0) continue;
        taken[c.t.dims]++;
        trips += c.t.round_trip;
        pieces += c.in_pieces + c.out_pieces > 0;
    }
    print_message("taken: %d lines, %d planes, %d boxes; %d round trips, %d in pieces\n", taken[1],
                  taken[2], taken[3], trips, pieces);
    assert_true(taken[1] > 1000 && taken[2] > 100 && taken[3] > 30);
    assert_true(trips > 150 && pieces > 50);
}

/* Arrays that no cache holds, of lines side by side, which are stored past the caches: in blocks,
 * where the points of a line are far apart, or where they lie. */
static void large_arrays_too(void **state) {
    (void)state;
    signal(SIGSEGV, tell_fault);
    enum { STORED = 121, NEAR = 64 };
    for (int variant = 0; variant < 8; variant++) {
        const bool single = variant / 2 % 2, far = variant / 4;
        const int64_t line = STORED * 2 * (int64_t)(single ? sizeof(float) : sizeof(double));
        const int64_t lines = (int64_t)weft_topology_get()->last_level / 3 / line + NEAR;
        test_case c = {.parts = 1, .in_stored = 100, .out_stored = STORED, .across = true};
        weft_transform *t = &c.t;
        t->round_trip = variant % 2;
        t->in_batch = true;
        t->precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
        t->threads = (int)random_between(1, 2);
        t->dims = 1;
        t->dim[0].n = random_between(0, 1) ? 256 : 240;
        t->loops = far ? 1 : 2;
        t->loop[0].n = far ? (lines + 7) / 8 * 8 + random_between(0, 1) : NEAR;
        t->loop[1].n = far ? 0 : lines / NEAR + 1;
        if (!check(&c, &scaling, t->round_trip))
            fail_msg("%s: refused: %s", current, weft_thread_error());
    }
}

/* Crops along loops, lines of which one point is stored, and numbers of another type are left to a
 * step of its own. */
static void others_are_refused(void **state) {
    (void)state;
    test_case c = {.t = {.kind = WEFT_TRANSFORM_C2C,
                         .precision = WEFT_DOUBLE,
                         .dims = 1,
                         .dim = {{64, 1, 1}},
                         .loops = 1,
                         .loop = {{10, 64, 64}}}};
    weft_transform *t = &c.t;
    const extents e = extents_of(&c, false);
    const weft_fused_operators whole = operators(t, &no_operators, WEFT_PLACE_LOAD, &e, false);
    t->load = whole;
    assert_int_equal(engine->supports(t, device_of(engine)), WEFT_SUCCESS);
    t->load.layout.stored.cropped = true;
    t->load.layout.stored.n[0] = 1;
    assert_int_equal(engine->supports(t, device_of(engine)), WEFT_ERROR_UNSUPPORTED);
    t->load.layout.stored.n[0] = 2;
    assert_int_equal(engine->supports(t, device_of(engine)), WEFT_SUCCESS);
    t->load.layout.stored.n[1] = 9; /* of the loop */
    assert_int_equal(engine->supports(t, device_of(engine)), WEFT_ERROR_UNSUPPORTED);
    t->load.layout.stored.n[1] = 10;
    t->load.layout.stored.storage = WEFT_STORAGE_FLOAT;
    assert_int_equal(engine->supports(t, device_of(engine)), WEFT_ERROR_UNSUPPORTED);
    t->load.layout.stored.storage = WEFT_STORAGE_SAME;
    t->in_place = true;
    assert_int_equal(engine->supports(t, device_of(engine)), WEFT_ERROR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_that_are_not_stored_give_the_bits_of_stored_ones),
        cmocka_unit_test(large_arrays_too),
        cmocka_unit_test(others_are_refused),
    };
    begin_engine_tests();
    engine = &weft_engine_native;
    if (!engine_is_tested(engine)) return STATUS_SKIPPED;
    for (int i = 0; i <= LONGEST; i++) factors[i] = sin(i * 0.37) + 0.1;
    for (int a = 0; a < WEFT_MAX_RANK; a++) along.table[a] = factors;
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
