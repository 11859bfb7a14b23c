/*
 * Streamed plans: random problems, in tiles as small as random limits of device memory make them,
 * give the bits of plans that hold their arrays on the device, with no byte written outside of the
 * callers' arrays, and hold no more than the limit; with a wire of single precision they are as
 * close to them as its roundings allow. On the simulated device, whose queues are
 * threads that run late, or on the one that WEFT_TEST_DEVICE names.
 */
#include "differences.h"
#include "exec/plan.h"
#include "one_context.h"
#include "promised_device.h"
#include "random_padding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static weft_device device;
static uint64_t seed;
static int number;    /* of the case at hand */
static int refused;   /* cases whose operators the engine does not apply itself */
static int resident;  /* cases in which a part of the array stays on the device between passes */
static int rounded;   /* executions in which numbers travelled as others */
static int with_pads; /* cases with padding, cropping or truncation */

enum { MARGIN = 64 }; /* bytes behind each array */

typedef struct problem_case {
    weft_problem problem;
    weft_options options;
    weft_brick input, output;
    bool bricks, operated, padded;
    weft_operator load, spectral, store;
    double table[4096];
} problem_case;

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS)
        fail_msg("seed %llu, case %d: %s", (unsigned long long)seed, number, weft_last_error(ctx));
}

static void shuffle(int *order, int rank) {
    for (int a = 0; a < rank; a++) order[a] = a;
    for (int a = rank - 1; a > 0; a--) {
        const int b = random_below(a + 1), swapped = order[a];
        order[a] = order[b];
        order[b] = swapped;
    }
}

/* Extents such that several tiles are likely, of 1 among others. */
static problem_case random_problem(void) {
    static const weft_axis types[] = {WEFT_AXIS_NONE, WEFT_DCT2, WEFT_DST2, WEFT_DCT4};
    static const int most[] = {0, 4000, 120, 30, 12, 6};
    problem_case c = {.problem = {.rank = 1 + random_below(5),
                                  .kind = (weft_kind)random_below(2),
                                  .precision = random_below(2) ? WEFT_SINGLE : WEFT_DOUBLE,
                                  .batch = random_below(3) ? 1 : 2 + random_below(6)},
                      .options = {.device = device,
                                  .engine = device == WEFT_CUDA || device == WEFT_OPENCL
                                                ? WEFT_ENGINE_JIT
                                                : WEFT_ENGINE_AUTO,
                                  .location = WEFT_LOCATION_HOST,
                                  .threads = 1 + random_below(2)}};
    weft_problem *p = &c.problem;
    if (c.options.device == WEFT_SIMULATED && random_below(6) == 0)
        c.options.engine = WEFT_ENGINE_REFERENCE; /* its norms are a step of their own */
    for (int a = 0; a < p->rank; a++) p->n[a] = 1 + random_below(most[p->rank]);
    if (random_below(4) == 0) p->n[random_below(p->rank)] = 64; /* done as matrices */
    /* By jit in other radices where lines are strided. */
    if (p->rank == 3 && random_below(3) == 0) p->n[random_below(3)] = 320;
    const bool converts = device != WEFT_OPENMP; /* in a stream: its engine has no operators */
    const bool cosines = random_below(4) == 0;
    if (cosines) p->kind = random_below(2) ? WEFT_R2R : WEFT_C2C;
    for (int a = 0; a < p->rank; a++) {
        if (cosines) p->axis[a] = a > 0 ? types[random_below(4)] : WEFT_DCT3;
        if (!cosines && a + 1 < p->rank && random_below(6) == 0) p->axis[a] = WEFT_AXIS_NONE;
    }
    if (converts && p->kind != WEFT_C2C && random_below(4) == 0)
        p->load_storage = random_below(2) ? WEFT_STORAGE_U8 : WEFT_STORAGE_I16;
    if (random_below(5) == 0) {
        p->fields = 2 + random_below(3);
        p->fields_fastest = p->batch == 1 && random_below(2);
    }
    if (random_below(3) == 0) p->norm = WEFT_NORM_BACKWARD;
    c.bricks = random_below(4) == 0 && !p->load_storage && !p->fields;
    for (int a = 0; a < p->rank; a++) {
        c.input.box.n[a] = c.output.box.n[a] = p->n[a];
        if (a == p->rank - 1 && p->kind == WEFT_R2C) c.output.box.n[a] = p->n[a] / 2 + 1;
    }
    shuffle(c.input.order, p->rank);
    shuffle(c.output.order, p->rank);
    if (p->rank == 1) c.bricks = false;
    c.operated = !c.bricks && !p->load_storage && !cosines && random_below(3) == 0;
    c.options.convolve = !c.bricks && random_below(3) == 0;
    c.padded = converts && !c.bricks && random_below(3) == 0 && draw_padding(p);
    const int placement = c.bricks || p->load_storage || c.padded ? 1 : random_below(3);
    c.options.placement = placement == 0   ? WEFT_PLACEMENT_ANY
                          : placement == 1 ? WEFT_OUT_OF_PLACE
                                           : WEFT_IN_PLACE;
    return c;
}

/* What a tile must know its place for: windows and tables along the axes. */
static void add_operators(problem_case *c) {
    weft_problem *p = &c->problem;
    c->load = c->store = (weft_operator){.kind = WEFT_OPERATOR_WINDOW};
    c->spectral = (weft_operator){.kind = WEFT_OPERATOR_TABLE};
    for (int i = 0; i < 4096; i++) c->table[i] = random_number() + 2;
    for (int a = 0; a < p->rank; a++) {
        c->load.window[a].kind = random_below(2) ? WEFT_WINDOW_HAMMING : WEFT_WINDOW_NONE;
        c->store.window[a].kind = random_below(2) ? WEFT_WINDOW_HAMMING : WEFT_WINDOW_NONE;
        if (a == 0 || random_below(2)) c->spectral.table[a] = c->table + a;
    }
    c->load.window[0].kind = c->store.window[0].kind = WEFT_WINDOW_HAMMING;
    p->load = (weft_operators){&c->load, random_below(2)};
    p->spectral = (weft_operators){&c->spectral, random_below(2)};
    p->store = (weft_operators){&c->store, random_below(2)};
}

static void *filled(size_t bytes, bool random) {
    unsigned char *memory = malloc(bytes + MARGIN);
    assert_non_null(memory);
    memset(memory, 0xA5, bytes + MARGIN);
    for (size_t i = 0; random && i + 8 <= bytes;
         i += 8) { /* numbers around 1 in either precision */
        const float pair[2] = {(float)random_number() + 2, (float)random_number() + 2};
        memcpy(memory + i, pair, sizeof pair);
    }
    return memory;
}

static void check_margin(const void *memory, size_t bytes) {
    for (int i = 0; i < MARGIN; i++)
        assert_int_equal(((const unsigned char *)memory)[bytes + (size_t)i], 0xA5);
}

/* Bytes of the caller's box in a space, without what plans may want behind it. */
static size_t box_bytes(const problem_case *c, weft_plan plan, weft_space space, bool loaded) {
    weft_box box;
    ok(weft_plan_box(plan, space, 0, &box));
    size_t bytes = c->problem.precision == WEFT_SINGLE ? 4 : 8;
    if (loaded && space != WEFT_OUTPUT && c->problem.load_storage)
        bytes = c->problem.load_storage == WEFT_STORAGE_U8 ? 1 : 2;
    if (c->problem.kind == WEFT_C2C || (space == WEFT_OUTPUT && c->problem.kind == WEFT_R2C))
        bytes *= 2;
    for (int a = 0; a < c->problem.rank; a++) bytes *= (size_t)box.n[a];
    if (c->problem.fields > 0) bytes *= (size_t)c->problem.fields;
    return bytes * (size_t)c->problem.batch;
}

static bool are_close(const void *a, const void *b, size_t bytes, weft_precision precision,
                      double most) {
    double sums[2] = {0, 0};
    add_squares(a, b, bytes, precision, sums);
    return sqrt(sums[0]) <= most * sqrt(sums[1]);
}

/* A line is done alone or in a batch by what is beside it: real-to-real lines where they are few,
 * as they may be in a tile, and on the host lines beside axes of one index, and real lines that go
 * as matrices or whose input is kept. Two axes that go into
 * another memory order together may be done one after the other; and the engine openmp does axes in
 * the same order there and back. */
static bool rounds_otherwise(const problem_case *c) {
    bool thin = false;
    for (int a = 0; a < c->problem.rank; a++)
        thin = thin || c->problem.n[a] == 1 || c->problem.pad_from[a] == 1 ||
               c->problem.crop_to[a] == 1 || c->problem.truncate_to[a] == 1;
    return c->problem.axis[0] == WEFT_DCT3 || c->options.device == WEFT_OPENMP ||
           ((thin || c->problem.kind == WEFT_R2C) && c->options.device == WEFT_HOST) ||
           c->options.engine == WEFT_ENGINE_REFERENCE ||
           (c->bricks && memcmp(c->input.order, c->output.order, sizeof c->input.order) != 0);
}

static const weft_schedule *schedule_of(weft_plan plan, weft_direction direction, bool in_place) {
    return &plan->build->schedule[weft_schedule_index(direction, in_place)];
}

/* How often numbers are rounded to single precision on their way. */
static int roundings(const problem_case *c, const weft_schedule *schedule) {
    const bool rounds = c->options.wire == WEFT_WIRE_SINGLE && c->problem.precision == WEFT_DOUBLE;
    return rounds ? schedule->stream.passes - 1 : 0;
}

/* The most that results may differ, relative to the result in the L2 norm; 0: not at all. Each
 * rounding is off by at most 2^-24. Windows and tables, whose factors are 0.08 to 3, may weaken
 * what is large. */
static double most_difference(const problem_case *c, int times) {
    const double rounding = c->problem.precision == WEFT_SINGLE ? 1e-6 : 1e-14;
    if (times > 0) return times * 0x1p-24 * (c->operated ? 10 : 1) + rounding;
    return rounds_otherwise(c) ? rounding : 0;
}

/* What travels is rounded, or is not: the numbers of a large array do not fit single precision. */
static void check_bits(const void *a, const void *b, size_t bytes, const problem_case *c,
                       int times) {
    if (times > 0 && bytes > 1024 && !c->problem.load_storage) {
        assert_memory_not_equal(a, b, bytes);
        rounded++;
    }
}

/* One direction and placement of both plans, from the same input. */
static void compare(const problem_case *c, weft_plan streamed, weft_plan whole,
                    weft_direction direction, bool in_place) {
    const weft_space from = direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT;
    const weft_plan plan[2] = {streamed, whole};
    const size_t given = box_bytes(c, whole, from, true), made = box_bytes(c, whole, to, false);
    void *input = filled(given, true), *result[2];
    for (int i = 0; i < 2; i++) {
        size_t in_bytes, out_bytes;
        ok(weft_plan_bytes(plan[i], from, &in_bytes));
        ok(weft_plan_bytes(plan[i], to, &out_bytes));
        if (c->padded && !c->problem.load_storage) { /* what the caller gives and gets, no more */
            assert_int_equal(in_bytes, given);
            assert_int_equal(out_bytes, made);
        }
        if (in_place && in_bytes > out_bytes) out_bytes = in_bytes;
        void *in = filled(in_bytes, false), *out, *locked = NULL;
        result[i] = out = filled(out_bytes, false);
        if (random_below(2)) { /* page-locked memory has copies of its own on some devices */
            ok(weft_host_buffer_create(plan[i], out_bytes + MARGIN, &locked));
            out = memset(locked, 0xA5, out_bytes + MARGIN);
        }
        memcpy(in_place ? out : in, input, given);
        ok(weft_execute(plan[i], direction, in_place ? out : in, out));
        check_margin(out, out_bytes);
        if (!in_place) assert_memory_equal(in, input, given);
        free(in);
        if (locked) memcpy(result[i], locked, out_bytes);
        weft_host_buffer_destroy(plan[i], &locked);
    }
    const int times = roundings(c, schedule_of(streamed, direction, in_place));
    const double most = most_difference(c, times);
    const bool same = most > 0 ? are_close(result[0], result[1], made, c->problem.precision, most)
                               : memcmp(result[0], result[1], made) == 0;
    check_bits(result[0], result[1], made, c, times);
    if (!same) {
        weft_plan_explain(streamed, stderr, WEFT_TEXT);
        weft_plan_explain(whole, stderr, WEFT_TEXT);
        fail_msg("seed %llu, case %d: another result %s, %s", (unsigned long long)seed, number,
                 direction == WEFT_FORWARD   ? "forward"
                 : direction == WEFT_INVERSE ? "back"
                                             : "there and back",
                 in_place ? "in place" : "out of place");
    }
    free(input);
    free(result[0]);
    free(result[1]);
}

/* A plan that streams within a limit which the arrays exceed or not. NULL: the limit is too small
 * for one line of each axis. */
static weft_plan streamed_plan(problem_case *c, size_t bytes) {
    weft_plan plan = NULL;
    weft_memory memory;
    c->options.stream = random_below(4) ? WEFT_STREAM_ON : WEFT_STREAM_SYNC;
    const size_t kernels = device == WEFT_SIMULATED ? 4096 : 100000; /* and what they need */
    c->options.device_memory_limit = kernels + (size_t)random_below((int)bytes + 1);
    const weft_status status = weft_plan_create(ctx, &c->problem, &c->options, &plan);
    if (status == WEFT_ERROR_OUT_OF_MEMORY) return NULL;
    if (status == WEFT_ERROR_UNSUPPORTED && (c->operated || c->padded)) {
        if (getenv("WEFT_TEST_CASES")) printf("%d: %s\n", number, weft_last_error(ctx));
        refused++;
        return NULL;
    }
    ok(status);
    ok(weft_plan_memory(plan, &memory));
    assert_true(memory.workspace <= c->options.device_memory_limit);
    return plan;
}

static bool run_case(void) {
    random_state = seed + (uint64_t)number;
    problem_case c = random_problem();
    if (c.operated) add_operators(&c);
    if (c.bricks) {
        c.problem.input = &c.input;
        c.problem.output = &c.output;
    }
    weft_plan whole = NULL;
    size_t in_bytes, out_bytes;
    ok(weft_plan_create(ctx, &c.problem, &c.options, &whole));
    ok(weft_plan_bytes(whole, WEFT_INPUT, &in_bytes));
    ok(weft_plan_bytes(whole, WEFT_OUTPUT, &out_bytes));
    if (device != WEFT_OPENMP && random_below(2)) c.options.wire = WEFT_WIRE_SINGLE;
    weft_plan streamed = streamed_plan(&c, 3 * (in_bytes + out_bytes));
    for (int direction = 0; direction < 2 + c.options.convolve && streamed; direction++) {
        if (c.options.placement != WEFT_IN_PLACE)
            compare(&c, streamed, whole, (weft_direction)direction, false);
        if (c.options.placement != WEFT_OUT_OF_PLACE)
            compare(&c, streamed, whole, (weft_direction)direction, true);
    }
    const bool compared = streamed != NULL;
    with_pads += compared && c.padded;
    if (getenv("DBG") && compared && c.padded)
        printf("DBG padded operated %d kind %d\n", c.operated, c.problem.kind);
    if (compared && schedule_of(streamed, WEFT_FORWARD, c.options.placement == WEFT_IN_PLACE)
                            ->stream.resident.n > 0)
        resident++;
    weft_plan_destroy(&streamed);
    weft_plan_destroy(&whole);
    return compared;
}

static void streamed_plans_give_the_bits_of_whole_ones(void **state) {
    (void)state;
    const char *given = getenv("WEFT_TEST_SEED"), *cases = getenv("WEFT_TEST_CASES");
    const bool slow = device != WEFT_HOST && device != WEFT_SIMULATED && device != WEFT_OPENMP;
    const int most = cases ? atoi(cases) : slow ? 40 : 300, enough = slow && !cases ? 2 : most;
    int compared = 0;
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u;
    for (number = 0; number < most && compared < enough; number++) compared += run_case();
    if (getenv("WEFT_TEST_CASES"))
        printf("%d compared, %d of them padded, %d refused, %d partly on the device, %d rounded\n",
               compared, with_pads, refused, resident, rounded);
    if (compared < (most >= 50 ? most / 4 : 1))
        fail_msg("only %d of %d cases were compared", compared, most);
    if (device == WEFT_SIMULATED && most >= 300 && rounded == 0)
        fail_msg("in none of %d cases numbers were rounded on their way", most);
    if (device == WEFT_SIMULATED && resident < most / 20)
        fail_msg("only in %d of %d cases something stayed on the device", resident, most);
}

/* What every test below streams: forward and back in several tiles each. */
static const weft_problem cube = {.rank = 3, .n = {40, 30, 20}, .kind = WEFT_R2C};

static weft_options within(size_t limit) {
    return (weft_options){
        .device = device, .location = WEFT_LOCATION_HOST, .device_memory_limit = limit};
}

/* How often a phrase occurs in the schedule that the plan explains under `heading`. */
static int count(weft_plan plan, const char *heading, const char *phrase) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    ok(weft_plan_explain(plan, stream, WEFT_TEXT));
    fclose(stream);
    int found = 0;
    const char *at = strstr(text, heading), *end = at ? strstr(at, "buffers:") : NULL;
    assert_non_null(end);
    while ((at = strstr(at + 1, phrase)) && at < end) found++;
    free(text);
    return found;
}

static int passes_of(weft_plan plan, const char *heading) {
    return count(plan, heading, "streamed: steps");
}

static bool is_streamed(weft_plan plan) {
    return passes_of(plan, "forward, out of place") > 0;
}

static void a_convolution_crosses_the_link_three_times(void **state) {
    (void)state;
    if (device == WEFT_HOST)
        skip(); /* whose slots have other sizes, and whose engine other needs */
    weft_options options = within(200000);
    weft_plan plan = NULL;
    options.convolve = 1;
    ok(weft_plan_create(ctx, &cube, &options, &plan));
    assert_int_equal(passes_of(plan, "forward, out of place"), 2);
    assert_int_equal(passes_of(plan, "inverse, out of place"), 2);
    assert_int_equal(passes_of(plan, "convolve, out of place"), 3);
    assert_int_equal(passes_of(plan, "convolve, in place"), 3);
    weft_plan_destroy(&plan);
}

/* Bytes that the copies of an execution move in one of three ways. */
static int64_t bytes_copied(weft_plan plan, int schedule, weft_transfer transfer) {
    const weft_tasks *tasks = &plan->build->program[schedule].lowered.tasks;
    int64_t bytes = 0;
    for (int t = 0; t < tasks->count; t++) {
        const weft_copy_task *copy = &tasks->task[t].as.copy;
        if (tasks->task[t].kind == WEFT_TASK_COPY && copy->transfer == transfer)
            bytes += copy->copy.elements * (int64_t)copy->copy.element_bytes;
    }
    return bytes;
}

/* What stays on the device is left out of the copies over the link on either side of a border
 * between passes, and nothing else is. Returns the bytes that stay behind the first pass. */
static int64_t check_crossings(weft_plan plan, weft_direction direction, bool in_place) {
    const int made = weft_schedule_index(direction, in_place);
    const weft_schedule *schedule = schedule_of(plan, direction, in_place);
    const weft_streaming *stream = &schedule->stream;
    const int64_t stays = (int64_t)schedule->buffer_bytes[WEFT_BUFFER_RESIDENT];
    int64_t up = 0, down = 0, borders = 0;
    for (int p = 0; p < stream->passes; p++) {
        const weft_streamed_pass *pass = &stream->pass[p];
        assert_int_equal(pass->loads_resident, p > 0 && stays > 0);
        assert_int_equal(pass->stores_resident, p + 1 < stream->passes && stays > 0);
        up += schedule->step[pass->first].bytes_moved / 2 - pass->loads_resident * stays;
        down += schedule->step[pass->last].bytes_moved / 2 - pass->stores_resident * stays;
        borders += pass->stores_resident;
    }
    assert_int_equal(bytes_copied(plan, made, WEFT_HOST_TO_DEVICE), up);
    assert_int_equal(bytes_copied(plan, made, WEFT_DEVICE_TO_HOST), down);
    assert_int_equal(bytes_copied(plan, made, WEFT_DEVICE_TO_DEVICE), 2 * borders * stays);
    return stays;
}

/* How much of the array stays on the device between passes. */
typedef enum share { NOTHING, PART, ALL } share;

static void check_share(weft_plan plan, weft_direction direction, bool in_place, share expected) {
    const weft_streaming *stream = &schedule_of(plan, direction, in_place)->stream;
    const int64_t stays = check_crossings(plan, direction, in_place);
    const weft_view *between = &stream->pass[0].after;
    const weft_precision precision = schedule_of(plan, direction, in_place)->precision;
    const int64_t all = weft_view_elements(between) * 2 * (int64_t)weft_number_bytes(precision);
    const share found = stays == 0 ? NOTHING : stays < all ? PART : ALL;
    if (device == WEFT_SIMULATED) assert_int_equal(found, expected);
    assert_int_equal(stream->passes, direction == WEFT_CONVOLVE ? 3 : 2);
}

/* Bytes over the link in one direction of an array that travels as single precision between passes
 * are half of those of an array that does not; callers' arrays are what they are. */
static void check_halves(weft_plan same, weft_plan single, int made) {
    const weft_schedule *schedule[2] = {&same->build->schedule[made],
                                        &single->build->schedule[made]};
    const weft_streaming *stream[2] = {&schedule[0]->stream, &schedule[1]->stream};
    assert_int_equal(stream[0]->passes, stream[1]->passes);
    for (int p = 0; p < stream[0]->passes; p++) {
        const bool first = p == 0, last = p == stream[0]->passes - 1;
        const weft_step *in[2], *out[2];
        for (int i = 0; i < 2; i++) {
            in[i] = &schedule[i]->step[stream[i]->pass[p].first];
            out[i] = &schedule[i]->step[stream[i]->pass[p].last];
        }
        assert_int_equal(in[0]->bytes_moved, in[1]->bytes_moved * (first ? 1 : 2));
        assert_int_equal(out[0]->bytes_moved, out[1]->bytes_moved * (last ? 1 : 2));
    }
}

static void what_travels_is_half_as_large(void **state) {
    (void)state;
    if (device == WEFT_OPENMP) skip(); /* its engine has no conversions */
    for (int kind = 0; kind < 2; kind++) {
        weft_problem problem = cube;
        weft_options options =
            within(device == WEFT_SIMULATED || device == WEFT_HOST ? 170000 : 400000);
        weft_plan plan[2] = {NULL, NULL};
        problem.kind = (weft_kind)kind;
        options.convolve = 1;
        options.stream = WEFT_STREAM_ON;
        for (int i = 0; i < 2; i++) {
            size_t bytes[2];
            options.wire = i;
            ok(weft_plan_create(ctx, &problem, &options, &plan[i]));
            for (int space = 0; space < 2; space++) {
                ok(weft_plan_bytes(plan[i], (weft_space)space, &bytes[space]));
            }
        }
        weft_options chosen = {.struct_size = sizeof chosen};
        ok(weft_plan_options(plan[1], &chosen));
        assert_int_equal(chosen.wire, WEFT_WIRE_SINGLE);
        for (int made = 0; made < 6; made++) check_halves(plan[0], plan[1], made);
        assert_int_equal(count(plan[0], "forward, out of place", " float"), 0);
        assert_int_equal(count(plan[1], "forward, out of place", " float"), 2);
        for (int i = 0; i < 2; i++) weft_plan_destroy(&plan[i]);
    }
}

/* The transform of one number, which is too large for single precision or not. */
static void check_range_of(double value, bool fits) {
    weft_options options =
        within(device == WEFT_SIMULATED || device == WEFT_HOST ? 170000 : 400000);
    weft_plan plan = NULL;
    size_t in_bytes, out_bytes;
    options.stream = WEFT_STREAM_ON;
    options.wire = WEFT_WIRE_SINGLE;
    ok(weft_plan_create(ctx, &cube, &options, &plan));
    ok(weft_plan_bytes(plan, WEFT_INPUT, &in_bytes));
    ok(weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes));
    double *in = calloc(1, in_bytes), *out = calloc(1, out_bytes);
    assert_non_null(in);
    assert_non_null(out);
    in[0] = value;
    ok(weft_execute(plan, WEFT_FORWARD, in, out));
    const size_t elements = 40 * 30 * 11;
    for (size_t i = 0; i < elements; i++) {
        assert_int_equal(isfinite(out[2 * i]) != 0, fits);
        if (fits) assert_true(fabs(out[2 * i] - value) <= 0x1p-24 * value + 0x1p-150 * 40);
    }
    free(in);
    free(out);
    weft_plan_destroy(&plan);
}

static void numbers_beyond_single_precision_become_infinite(void **state) {
    (void)state;
    if (device == WEFT_OPENMP) skip(); /* its engine has no conversions */
    const bool flushes = device != WEFT_SIMULATED && device != WEFT_HOST; /* tiny numbers to 0 */
    check_range_of(3.4e38, true);
    check_range_of(1 / 3.0, true);
    if (!flushes) check_range_of(1e-40, true);
    check_range_of(3.5e38, false);
    check_range_of(1e300, false);
}

static void a_wire_of_single_precision_leaves_single_precision_alone(void **state) {
    (void)state;
    problem_case c = {.problem = cube, .options = within(0)};
    weft_plan streamed = NULL, whole = NULL;
    c.problem.precision = WEFT_SINGLE;
    c.problem.kind = WEFT_C2C;
    ok(weft_plan_create(ctx, &c.problem, &c.options, &whole));
    c.options.stream = WEFT_STREAM_ON;
    c.options.wire = WEFT_WIRE_SINGLE;
    c.options.device_memory_limit = 400000;
    ok(weft_plan_create(ctx, &c.problem, &c.options, &streamed));
    assert_int_equal(count(streamed, "forward, out of place", " float"), 0);
    for (int run = 0; run < 4; run++)
        compare(&c, streamed, whole, (weft_direction)(run / 2), run % 2);
    weft_plan_destroy(&streamed);
    weft_plan_destroy(&whole);
    c.options.wire = 2;
    assert_int_equal(weft_plan_create(ctx, &c.problem, &c.options, &streamed),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "options.wire is 2"));
}

static void what_the_limit_leaves_room_for_stays_on_the_device(void **state) {
    (void)state;
    const weft_problem odd = {.rank = 3, .n = {37, 29, 13}, .kind = WEFT_C2C},
                       single = {.rank = 3,
                                 .n = {31, 59, 14},
                                 .kind = WEFT_R2C,
                                 .precision = WEFT_SINGLE};
    const struct {
        const weft_problem *problem;
        size_t limit;
        weft_stream stream;
        share share;
    } rows[] = {
        {&cube, 170000, WEFT_STREAM_ON, NOTHING},   {&cube, 400000, WEFT_STREAM_ON, PART},
        {&cube, 300000, WEFT_STREAM_SYNC, NOTHING}, {&cube, 1 << 20, WEFT_STREAM_ON, ALL},
        {&odd, 400000, WEFT_STREAM_ON, PART},       {&single, 240000, WEFT_STREAM_ON, PART}};
    if (weft_device_find(device)->host_addressable) skip();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        problem_case c = {.problem = *rows[i].problem, .options = within(0)};
        weft_plan streamed = NULL, whole = NULL;
        c.options.convolve = 1;
        ok(weft_plan_create(ctx, &c.problem, &c.options, &whole));
        c.options.stream = rows[i].stream;
        c.options.device_memory_limit = rows[i].limit + (device == WEFT_SIMULATED ? 0 : 200000);
        ok(weft_plan_create(ctx, &c.problem, &c.options, &streamed));
        for (int run = 0; run < 6; run++) {
            check_share(streamed, (weft_direction)(run / 2), run % 2, rows[i].share);
            compare(&c, streamed, whole, (weft_direction)(run / 2), run % 2);
        }
        if (device == WEFT_SIMULATED)
            assert_int_equal(count(streamed, "convolve, in place", "stay on the device"),
                             rows[i].share == NOTHING ? 0 : 2);
        weft_plan_destroy(&streamed);
        weft_plan_destroy(&whole);
    }
}

/* What stays on the device, and then the slots, give way to what engines need. */
static void a_larger_limit_never_hinders(void **state) {
    (void)state;
    bool before = false;
    for (size_t limit = 20000; limit < 400000; limit += limit / 16) {
        weft_options options = within(limit);
        weft_plan plan = NULL;
        weft_memory memory;
        options.stream = WEFT_STREAM_ON;
        const weft_status status = weft_plan_create(ctx, &cube, &options, &plan);
        if (status != WEFT_ERROR_OUT_OF_MEMORY || before) ok(status);
        before = status == WEFT_SUCCESS;
        if (!before) continue;
        ok(weft_plan_memory(plan, &memory));
        assert_true(memory.workspace <= limit);
        weft_plan_destroy(&plan);
    }
    assert_true(before);
}

/* The engine's scratch memory for lines of 101 points takes more than is left beside slots of three
 * quarters of the limit. */
static void slots_become_smaller_where_the_engine_needs_more(void **state) {
    (void)state;
    if (device != WEFT_HOST) skip();
    const weft_problem odd = {.rank = 3, .n = {97, 89, 101}, .kind = WEFT_R2C};
    weft_options options = within(80000);
    weft_plan plan = NULL;
    weft_memory memory;
    options.stream = WEFT_STREAM_ON;
    ok(weft_plan_create(ctx, &odd, &options, &plan));
    ok(weft_plan_memory(plan, &memory));
    assert_true(memory.workspace <= options.device_memory_limit);
    weft_plan_destroy(&plan);
}

static void arrays_stream_by_themselves_where_the_device_does_not_hold_them(void **state) {
    (void)state;
    if (device == WEFT_HOST)
        skip(); /* whose slots have other sizes, and whose engine other needs */
    const struct {
        size_t limit;
        weft_stream stream;
        bool streamed;
    } rows[] = {{0, WEFT_STREAM_AUTO, false},
                {1 << 21, WEFT_STREAM_AUTO, false},
                {200000, WEFT_STREAM_AUTO, true},
                {1 << 21, WEFT_STREAM_ON, true},
                {0, WEFT_STREAM_SYNC, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weft_options options = within(rows[i].limit);
        weft_plan plan = NULL;
        options.stream = rows[i].stream;
        ok(weft_plan_create(ctx, &cube, &options, &plan));
        assert_int_equal(is_streamed(plan), rows[i].streamed);
        weft_options chosen = {.struct_size = sizeof chosen};
        ok(weft_plan_options(plan, &chosen));
        assert_int_equal(chosen.stream, rows[i].stream == WEFT_STREAM_SYNC ? WEFT_STREAM_SYNC
                                        : rows[i].streamed                 ? WEFT_STREAM_ON
                                                                           : WEFT_STREAM_OFF);
        weft_plan_destroy(&plan);
    }
    weft_options options = within(200000);
    weft_plan plan = NULL;
    options.stream = WEFT_STREAM_OFF;
    assert_int_equal(weft_plan_create(ctx, &cube, &options, &plan), WEFT_ERROR_OUT_OF_MEMORY);
    assert_null(plan);
}

static void what_cannot_be_streamed_is_refused_with_the_reason(void **state) {
    (void)state;
    if (device == WEFT_HOST)
        skip(); /* whose slots have other sizes, and whose engine other needs */
    const weft_operator sum = {.kind = WEFT_OPERATOR_REDUCE};
    weft_problem strided = cube, batch = cube, mixed = cube, reduced = cube, converted = cube;
    strided.kind = batch.kind = WEFT_C2C;
    memcpy(strided.in_stride, (int64_t[]){1000, 30, 1}, 3 * sizeof(int64_t));
    batch.axis[0] = WEFT_AXIS_NONE;
    batch.pad_from[0] = 6;
    mixed.axis[0] = WEFT_DCT2;
    reduced.load = (weft_operators){&sum, 1};
    converted.store_storage = WEFT_STORAGE_U8;
    const struct {
        const weft_problem *problem;
        size_t limit;
        const char *reason;
    } rows[] = {{&strided, 1 << 21, "strides"},     {&batch, 1 << 21, "padding along axes"},
                {&mixed, 1 << 21, "real-to-real"},  {&reduced, 1 << 21, "reductions"},
                {&converted, 1 << 21, "converted"}, {&cube, 700, "no way to transform axis"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weft_options options = within(rows[i].limit);
        weft_plan plan = NULL;
        options.stream = WEFT_STREAM_ON;
        options.placement = WEFT_OUT_OF_PLACE;
        assert_int_not_equal(weft_plan_create(ctx, rows[i].problem, &options, &plan), WEFT_SUCCESS);
        if (!strstr(weft_last_error(ctx), rows[i].reason)) fail_msg("%s", weft_last_error(ctx));
        assert_null(plan);
    }
    weft_options there = within(1 << 21);
    weft_plan plan = NULL;
    there.stream = WEFT_STREAM_ON;
    there.location = WEFT_LOCATION_DEVICE;
    assert_int_equal(weft_plan_create(ctx, &cube, &there, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "WEFT_LOCATION_HOST"));
}

/* Runs the cube forward; the status is that of planning or of the execution. */
static weft_status run_cube(void) {
    weft_options options = within(200000);
    weft_plan plan = NULL;
    size_t in_bytes, out_bytes;
    const weft_status created = weft_plan_create(ctx, &cube, &options, &plan);
    if (created != WEFT_SUCCESS) return created;
    ok(weft_plan_bytes(plan, WEFT_INPUT, &in_bytes));
    ok(weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes));
    void *in = filled(in_bytes, true), *out = filled(out_bytes, false);
    const weft_status status = weft_execute(plan, WEFT_FORWARD, in, out);
    check_margin(out, out_bytes);
    if (status != WEFT_SUCCESS) {
        assert_int_not_equal(weft_last_error(ctx)[0], '\0');
        ok(weft_execute(plan, WEFT_FORWARD, in, out)); /* the plan works again */
    }
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    return status;
}

static void a_failure_in_mid_stream_ends_with_its_sentence(void **state) {
    (void)state;
    static const char *const kinds[] = {"copy", "run", "queue"};
    if (device != WEFT_SIMULATED) skip();
    for (int k = 0; k < 3; k++) {
        int failed = 0, at = 1;
        for (bool fails = true; fails; at++) {
            char text[64];
            snprintf(text, sizeof text, "delay_us=1,fail=%s:%d", kinds[k], at);
            setenv("WEFT_SIMULATE", text, 1);
            fails = run_cube() != WEFT_SUCCESS;
            failed += fails;
        }
        assert_true(failed >= 2);
    }
    unsetenv("WEFT_SIMULATE");
}

int main(void) {
    const char *name = getenv("WEFT_TEST_DEVICE");
    device = name ? device_named(name) : WEFT_SIMULATED;
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) return status_without(device);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamed_plans_give_the_bits_of_whole_ones),
        cmocka_unit_test(arrays_stream_by_themselves_where_the_device_does_not_hold_them),
        cmocka_unit_test(a_convolution_crosses_the_link_three_times),
        cmocka_unit_test(what_travels_is_half_as_large),
        cmocka_unit_test(numbers_beyond_single_precision_become_infinite),
        cmocka_unit_test(a_wire_of_single_precision_leaves_single_precision_alone),
        cmocka_unit_test(what_the_limit_leaves_room_for_stays_on_the_device),
        cmocka_unit_test(a_larger_limit_never_hinders),
        cmocka_unit_test(slots_become_smaller_where_the_engine_needs_more),
        cmocka_unit_test(what_cannot_be_streamed_is_refused_with_the_reason),
        cmocka_unit_test(a_failure_in_mid_stream_ends_with_its_sentence),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
