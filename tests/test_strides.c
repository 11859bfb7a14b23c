/*
 * Callers' arrays with strides of their own, on one process: random views (axes in any order, gaps,
 * backwards, the batch innermost) against the same transform of row-major arrays, with operators,
 * conversions and padding, on each engine and on devices; nothing between the elements may change.
 * And the halved axis of real data, wherever it is, against the complex transform.
 */
#include "one_context.h"
#include "random_numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "support/axis.h"

#ifdef __SANITIZE_ADDRESS__
enum { CASES = 120 };
#else
enum { CASES = 1500 };
#endif

enum { MARGIN = 64, POISON = 0xa5 };

/* ---- arrays ---- */

/* A caller's array: what its elements are, and where. Axis number rank is the batch. */
typedef struct array {
    weft_view view;
    weft_storage number; /* I16, FLOAT or DOUBLE */
    int parts;           /* 2: complex */
    int64_t first, end;  /* range of its elements */
    size_t wanted;       /* weft_plan_bytes */
    int64_t lead;        /* bytes before the elements, so that the address is one of pairs */
    bool strided;
    unsigned char *bytes;
} array;

static int64_t number_bytes(const array *a) {
    return a->number == WEFT_STORAGE_I16 ? 2 : a->number == WEFT_STORAGE_FLOAT ? 4 : 8;
}

static int64_t element_bytes(const array *a) {
    return number_bytes(a) * a->parts;
}

static size_t bytes_of(const array *a) {
    return (size_t)((a->end - a->first) * element_bytes(a));
}

/* With margins, and what a plan wants beyond the elements of row-major arrays. */
static size_t room_of(const array *a) {
    return (bytes_of(a) > a->wanted ? bytes_of(a) : a->wanted) + 2 * MARGIN;
}

static unsigned char *element(const array *a, int64_t i) {
    int64_t at = 0;
    for (int axis = a->view.axes - 2; axis >= -1; axis--) {
        const int k = axis < 0 ? a->view.axes - 1 : axis;
        at += i % a->view.n[k] * a->view.stride[k];
        i /= a->view.n[k];
    }
    return a->bytes + a->lead + (at - a->first) * element_bytes(a);
}

static double get(const array *a, int64_t i, int part) {
    const unsigned char *from = element(a, i) + part * number_bytes(a);
    double d;
    float f;
    int16_t s;
    switch (a->number) {
    case WEFT_STORAGE_I16:
        memcpy(&s, from, sizeof s);
        return s;
    case WEFT_STORAGE_FLOAT:
        memcpy(&f, from, sizeof f);
        return (double)f;
    default:
        memcpy(&d, from, sizeof d);
        return d;
    }
}

static void put(const array *a, int64_t i, int part, double x) {
    unsigned char *to = element(a, i) + part * number_bytes(a);
    const float f = (float)x;
    const int16_t s = (int16_t)(100 * x);
    if (a->number == WEFT_STORAGE_I16)
        memcpy(to, &s, sizeof s);
    else if (a->number == WEFT_STORAGE_FLOAT)
        memcpy(to, &f, sizeof f);
    else
        memcpy(to, &x, sizeof x);
}

static void row_major(const int64_t *n, int axes, int64_t *stride) {
    int64_t next = 1;
    for (int i = axes - 2; i >= -1; i--) {
        stride[i < 0 ? axes - 1 : i] = next;
        next *= n[i < 0 ? axes - 1 : i];
    }
}

/* An array of these extents at these strides, poisoned. */
static array make_array(const int64_t *n, const int64_t *stride, int axes, weft_storage number,
                        int parts, size_t wanted) {
    array a = {.view.axes = axes, .number = number, .parts = parts, .wanted = wanted};
    int64_t rows[WEFT_AXES];
    row_major(n, axes, rows);
    memcpy(a.view.n, n, (size_t)axes * sizeof *n);
    memcpy(a.view.stride, stride, (size_t)axes * sizeof *stride);
    for (int i = 0; i < axes; i++) a.strided = a.strided || (n[i] > 1 && rows[i] != stride[i]);
    weft_view_range(&a.view, &a.first, &a.end);
    a.lead = MARGIN / 2 + (a.first * element_bytes(&a) % 16 + 16) % 16;
    a.bytes = malloc(room_of(&a));
    memset(a.bytes, POISON, room_of(&a));
    return a;
}

/* Whether all but the elements still is what it was. */
static bool gaps_are_kept(const array *a) {
    const size_t all = room_of(a);
    unsigned char *copy = malloc(all);
    bool kept = true;
    memcpy(copy, a->bytes, all);
    array same = *a;
    same.bytes = copy;
    for (int64_t i = 0; i < weft_view_elements(&a->view); i++)
        memset(element(&same, i), POISON, (size_t)element_bytes(a));
    for (size_t i = 0; i < all; i++) kept = kept && copy[i] == POISON;
    free(copy);
    return kept;
}

/* Axes in any order, with gaps, and backwards. */
static void random_strides(const int64_t *n, int axes, int64_t *stride) {
    int order[WEFT_AXES] = {0};
    int64_t next = 1;
    for (int i = 0; i < axes; i++) { /* Fisher and Yates */
        const int j = random_below(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < axes; i++) {
        const int a = order[i];
        next += random_below(3) == 0 ? random_below(4) : 0;
        stride[a] = random_below(3) ? next : -next;
        next *= n[a];
    }
}

/* ---- problems ---- */

static void scale_by_index(const weft_operator_run *run, void *argument) {
    const int64_t numbers = run->complex_elements ? 2 : 1;
    (void)argument;
    for (int64_t i = 0; i < run->count * numbers; i++) {
        const double by = 1 + 0.01 * (double)(run->index[run->axis] + i / numbers);
        if (run->precision == WEFT_SINGLE)
            ((float *)run->data)[i] *= (float)by;
        else
            ((double *)run->data)[i] *= by;
    }
}

typedef struct strided_case {
    weft_problem problem;
    weft_options options;
    weft_operator operators[3];
    int64_t stored[2][WEFT_AXES], stride[2][WEFT_AXES]; /* by weft_space, the batch last */
    bool same_view;
    char text[640];
} strided_case;

static weft_operator random_operator(bool host) {
    if (host && random_below(3) == 0)
        return (weft_operator){.kind = WEFT_OPERATOR_FUNCTION, .function = scale_by_index};
    if (random_below(2))
        return (weft_operator){.kind = WEFT_OPERATOR_WINDOW,
                               .window = {{.kind = WEFT_WINDOW_HANN}}};
    return (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = 0.5};
}

static void choose_axes(weft_problem *p) {
    static const int64_t primes[] = {1, 2, 3, 5, 7, 11, 13, 17};
    const bool mixed = random_below(3) == 0 || p->kind == WEFT_R2R;
    bool fourier = false, any = false;
    for (int a = 0; a < p->rank; a++) {
        p->n[a] = random_below(2) ? 1 + random_below(p->rank > 2 ? 8 : 24)
                                  : primes[random_below(p->rank > 2 ? 5 : 8)];
        if (p->rank == 1 && random_below(3) == 0) p->n[a] = 1 + random_below(600);
        p->axis[a] = mixed ? (weft_axis)random_below(10) : WEFT_AXIS_OF_KIND;
        if (p->kind == WEFT_R2R && p->axis[a] == WEFT_AXIS_OF_KIND) p->axis[a] = WEFT_DCT2;
        if (p->axis[a] == WEFT_DCT1) p->n[a]++;
        fourier = fourier || p->axis[a] == WEFT_AXIS_OF_KIND;
        any = any || p->axis[a] != WEFT_AXIS_NONE;
    }
    if (p->kind == WEFT_R2C && !fourier) p->axis[random_below(p->rank)] = WEFT_AXIS_OF_KIND;
    if (!any) p->axis[0] = p->kind == WEFT_R2R ? WEFT_DST3 : WEFT_AXIS_OF_KIND;
    const int halved = random_below(2 * p->rank);
    if (p->kind == WEFT_R2C && halved < p->rank && p->axis[halved] == WEFT_AXIS_OF_KIND)
        p->axis[halved] = WEFT_AXIS_REAL;
}

/* Operators, spectra of fewer points, other numbers and padding, each now and then. */
static void choose_extras(strided_case *c, bool host) {
    weft_problem *p = &c->problem;
    weft_operators *lists[] = {&p->load, &p->spectral, &p->store};
    for (int i = 0; i < 3; i++) {
        c->operators[i] = random_operator(host);
        if (random_below(4) == 0) *lists[i] = (weft_operators){&c->operators[i], 1};
    }
    const bool truncates = random_below(4) == 0;
    for (int a = 0; a < p->rank && truncates; a++)
        if (p->axis[a] != WEFT_AXIS_NONE && random_below(2))
            p->truncate_to[a] = 1 + random_below((int)p->n[a]);
    if (random_below(4) > 0) return;
    if (random_below(2)) p->load_storage = random_below(2) ? WEFT_STORAGE_I16 : WEFT_STORAGE_FLOAT;
    if (random_below(2)) p->store_storage = WEFT_STORAGE_FLOAT;
    for (int a = 0; a < p->rank; a++)
        if (random_below(3) == 0) p->pad_from[a] = 1 + random_below((int)p->n[a]);
}

static void choose_views(strided_case *c) {
    weft_problem *p = &c->problem;
    const int rank = p->rank, axes = rank + 1, halved = weft_axis_halved(p);
    for (int a = 0; a < rank; a++) {
        c->stored[WEFT_INPUT][a] = p->pad_from[a] > 0 ? p->pad_from[a] : p->n[a];
        const int64_t points = p->truncate_to[a] > 0 ? p->truncate_to[a] : p->n[a];
        c->stored[WEFT_OUTPUT][a] = a == halved ? points / 2 + 1 : points;
    }
    for (int s = 0; s < 2; s++) {
        c->stored[s][rank] = p->batch;
        row_major(c->stored[s], axes, c->stride[s]);
    }
    const int which = 1 + random_below(3);
    if (which & 1) random_strides(c->stored[WEFT_INPUT], axes, c->stride[WEFT_INPUT]);
    if (which & 2) random_strides(c->stored[WEFT_OUTPUT], axes, c->stride[WEFT_OUTPUT]);
    c->same_view =
        p->kind != WEFT_R2C && !p->load_storage && !p->store_storage && random_below(3) == 0;
    for (int a = 0; a < rank; a++)
        c->same_view = c->same_view && p->pad_from[a] == 0 && p->truncate_to[a] == 0;
    if (c->same_view) memcpy(c->stride[WEFT_OUTPUT], c->stride[WEFT_INPUT], sizeof c->stride[0]);
    if ((which & 1) || c->same_view) {
        memcpy(p->in_stride, c->stride[WEFT_INPUT], (size_t)rank * sizeof(int64_t));
        p->in_batch_stride = c->stride[WEFT_INPUT][rank];
    }
    if ((which & 2) || c->same_view) {
        memcpy(p->out_stride, c->stride[WEFT_OUTPUT], (size_t)rank * sizeof(int64_t));
        p->out_batch_stride = c->stride[WEFT_OUTPUT][rank];
    }
}

static void describe(strided_case *c, int number) {
    const weft_problem *p = &c->problem;
    const weft_options *o = &c->options;
    char *text = c->text;
    size_t room = sizeof c->text;
    int at = snprintf(text, room,
                      "case %d: %s %s %s on %s, threads %d, effort %s, batch %d, norm %d, "
                      "lists %d %d %d, storage %s %s;",
                      number, weft_kind_name(p->kind), weft_precision_name(p->precision),
                      weft_engine_name(o->engine), weft_device_name(o->device), o->threads,
                      weft_effort_name(o->effort), (int)p->batch, p->norm, p->load.count,
                      p->spectral.count, p->store.count, weft_storage_name(p->load_storage),
                      weft_storage_name(p->store_storage));
    for (int a = 0; a < p->rank; a++)
        at += snprintf(text + at, room - (size_t)at, " %s[%d] from %d to %d: %d %d;",
                       weft_axis_name(p->axis[a]), (int)p->n[a], (int)p->pad_from[a],
                       (int)p->truncate_to[a], (int)p->in_stride[a], (int)p->out_stride[a]);
    snprintf(text + at, room - (size_t)at, " batch %d %d", (int)p->in_batch_stride,
             (int)p->out_batch_stride);
}

static void choose_case(strided_case *c, weft_device device, weft_engine engine, int number) {
    const bool host = device == WEFT_HOST || device == WEFT_SIMULATED;
    memset(c, 0, sizeof *c);
    c->problem = (weft_problem){.rank = 1 + random_below(4),
                                .kind = (weft_kind)random_below(host ? 3 : 2),
                                .precision = random_below(3) ? WEFT_DOUBLE : WEFT_SINGLE,
                                .batch = 1 + random_below(2) * random_below(5),
                                .norm = (weft_norm)random_below(4)};
    c->options =
        (weft_options){.engine = engine,
                       .device = device,
                       .location = device == WEFT_HOST || random_below(2) ? WEFT_LOCATION_DEVICE
                                                                          : WEFT_LOCATION_HOST,
                       .threads = 1 + random_below(2),
                       .effort = host && random_below(20) == 0 ? WEFT_MEASURE : WEFT_ESTIMATE,
                       .convolve = random_below(3) == 0};
    choose_axes(&c->problem);
    if (!host)
        for (int a = 0; a < c->problem.rank; a++)
            if (weft_axis_is_real_to_real(c->problem.axis[a])) c->problem.axis[a] = WEFT_AXIS_NONE;
    if (c->problem.axis[0] == WEFT_AXIS_NONE)
        c->problem.axis[0] = host && c->problem.kind == WEFT_R2R ? WEFT_DST3 : WEFT_AXIS_OF_KIND;
    choose_extras(c, host);
    choose_views(c);
    describe(c, number);
}

/* ---- execution ---- */

/* The array of a direction's beginning (end 0) or end (1), as given or row-major. */
static array array_of(weft_plan plan, const strided_case *c, weft_direction direction, int end,
                      bool strided) {
    const weft_problem *p = &c->problem;
    const bool input = direction == WEFT_CONVOLVE || (direction == WEFT_FORWARD) == (end == 0);
    const weft_space space = input ? WEFT_INPUT : WEFT_OUTPUT;
    const weft_storage own = p->precision == WEFT_SINGLE ? WEFT_STORAGE_FLOAT : WEFT_STORAGE_DOUBLE;
    const weft_storage given = !input     ? WEFT_STORAGE_SAME
                               : end == 0 ? p->load_storage
                                          : p->store_storage;
    const bool pairs = p->kind == WEFT_C2C || (p->kind == WEFT_R2C && !input);
    int64_t stride[WEFT_AXES];
    size_t wanted;
    row_major(c->stored[space], p->rank + 1, stride);
    assert_int_equal(weft_plan_bytes(plan, space, &wanted), WEFT_SUCCESS);
    return make_array(c->stored[space], strided ? c->stride[space] : stride, p->rank + 1,
                      given ? given : own, pairs && !given ? 2 : 1, wanted);
}

/* Executes with arrays where the plan wants them. in == out: in place. */
static void execute(weft_plan plan, const strided_case *c, weft_direction direction, array *in,
                    array *out) {
    array *const both[] = {in, out};
    void *memory[2], *address[2];
    const bool copies = c->options.location == WEFT_LOCATION_DEVICE;
    for (int i = 0; i < 2; i++) {
        const size_t bytes = room_of(both[i]);
        memory[i] = both[i]->bytes;
        if (i == 1 && in == out) {
            memory[1] = memory[0];
        } else if (copies) {
            assert_int_equal(weft_buffer_create(plan, bytes, &memory[i]), WEFT_SUCCESS);
            assert_int_equal(weft_buffer_upload(plan, memory[i], both[i]->bytes, bytes),
                             WEFT_SUCCESS);
        }
        address[i] = (char *)memory[i] + both[i]->lead - both[i]->first * element_bytes(both[i]);
    }
    if (weft_execute(plan, direction, address[0], address[1]) != WEFT_SUCCESS)
        fail_msg("%s: direction %d: %s", c->text, (int)direction, weft_last_error(ctx));
    for (int i = 0; i < 2 && copies; i++) {
        if (i == 1 && in == out) continue;
        assert_int_equal(weft_buffer_download(plan, both[i]->bytes, memory[i], room_of(both[i])),
                         WEFT_SUCCESS);
        weft_buffer_destroy(plan, &memory[i]);
    }
}

static void compare(const strided_case *c, weft_direction direction, const char *how,
                    const array *result, const array *expected) {
    const double allowed =
        c->problem.precision == WEFT_SINGLE || expected->number == WEFT_STORAGE_FLOAT ? 1e-5
                                                                                      : 1e-13;
    double worst = 0, largest = 1e-30;
    for (int64_t i = 0; i < weft_view_elements(&result->view); i++)
        for (int part = 0; part < result->parts; part++) {
            const double x = get(expected, i, part), off = fabs(get(result, i, part) - x);
            largest = fabs(x) > largest ? fabs(x) : largest;
            worst = off <= worst ? worst : off; /* also where it is NaN */
        }
    if (!(worst <= allowed * largest))
        fail_msg("%s: direction %d %s: off by %g of %g", c->text, (int)direction, how, worst,
                 largest);
    if (result->strided && !gaps_are_kept(result))
        fail_msg("%s: direction %d %s: wrote between the elements", c->text, (int)direction, how);
}

static void check_direction(weft_plan strided, weft_plan plain, const strided_case *c,
                            weft_direction direction) {
    array in[2], out[2]; /* row-major, strided */
    for (int i = 0; i < 2; i++) {
        in[i] = array_of(i ? strided : plain, c, direction, 0, i == 1);
        out[i] = array_of(i ? strided : plain, c, direction, 1, i == 1);
    }
    for (int64_t i = 0; i < weft_view_elements(&in[0].view); i++)
        for (int part = 0; part < in[0].parts; part++) {
            const double x = random_number();
            put(&in[0], i, part, x);
            put(&in[1], i, part, x);
        }
    array before = in[1];
    const size_t all = room_of(&before);
    before.bytes = malloc(all);
    memcpy(before.bytes, in[1].bytes, all);
    execute(plain, c, direction, &in[0], &out[0]);
    execute(strided, c, direction, &in[1], &out[1]);
    compare(c, direction, "", &out[1], &out[0]);
    if (memcmp(in[1].bytes, before.bytes, all) != 0)
        fail_msg("%s: direction %d: the input changed", c->text, (int)direction);
    static const int64_t none[WEFT_MAX_RANK];
    const weft_problem *p = &c->problem;
    const bool alike = direction == WEFT_CONVOLVE
                           ? !p->load_storage && !p->store_storage &&
                                 memcmp(p->pad_from, none, sizeof none) == 0 &&
                                 memcmp(p->truncate_to, none, sizeof none) == 0
                           : c->same_view;
    if (alike) {
        execute(strided, c, direction, &in[1], &in[1]);
        compare(c, direction, "in place", &in[1], &out[0]);
    }
    for (int i = 0; i < 2; i++) {
        free(in[i].bytes);
        free(out[i].bytes);
    }
    free(before.bytes);
}

static void check_bytes(weft_plan plan, const strided_case *c) {
    for (int s = 0; s < 2; s++) {
        size_t bytes, least = 0;
        assert_int_equal(weft_plan_bytes(plan, (weft_space)s, &bytes), WEFT_SUCCESS);
        for (int d = WEFT_FORWARD; d <= WEFT_INVERSE; d++) {
            array a = array_of(plan, c, (weft_direction)d, d == s ? 0 : 1, true);
            if (bytes_of(&a) > least) least = bytes_of(&a);
            free(a.bytes);
        }
        if (bytes < least)
            fail_msg("%s: space %d has %zu bytes, not %zu", c->text, s, bytes, least);
    }
}

static void check_case(weft_device device, weft_engine engine, int number) {
    strided_case c;
    weft_plan strided = NULL, plain = NULL;
    choose_case(&c, device, engine, number);
    weft_problem row_major_problem = c.problem;
    memset(row_major_problem.in_stride, 0, sizeof row_major_problem.in_stride);
    memset(row_major_problem.out_stride, 0, sizeof row_major_problem.out_stride);
    row_major_problem.in_batch_stride = row_major_problem.out_batch_stride = 0;
    if (weft_plan_create(ctx, &row_major_problem, &c.options, &plain) != WEFT_SUCCESS)
        fail_msg("%s: without strides: %s", c.text, weft_last_error(ctx));
    if (weft_plan_create(ctx, &c.problem, &c.options, &strided) != WEFT_SUCCESS)
        fail_msg("%s: %s", c.text, weft_last_error(ctx));
    check_bytes(strided, &c);
    for (int d = WEFT_FORWARD; d <= WEFT_CONVOLVE; d++)
        if (d != WEFT_CONVOLVE || c.options.convolve)
            check_direction(strided, plain, &c, (weft_direction)d);
    weft_plan_destroy(&strided);
    weft_plan_destroy(&plain);
}

static void check_cases(weft_device device, weft_engine engine, int cases) {
    const int only = getenv("WEFT_CASE") ? atoi(getenv("WEFT_CASE")) : -1;
    if (weft_engine_probe(engine, NULL) != WEFT_SUCCESS) skip();
    for (int i = 0; i < cases; i++) {
        random_state = (uint64_t)i << 20;
        if (only < 0 || only == i) check_case(device, engine, i);
    }
}

/* Tests of the host, or of the device that WEFT_TEST_DEVICE names. */
static weft_device tested_device(void) {
    const char *name = getenv("WEFT_TEST_DEVICE");
    if (!name) return WEFT_HOST;
    return strcmp(name, "cuda") == 0 ? WEFT_CUDA : WEFT_OPENCL;
}

static void native_transforms_strided_arrays(void **state) {
    (void)state;
    check_cases(WEFT_HOST, WEFT_ENGINE_NATIVE, CASES);
}

static void fftw_transforms_strided_arrays(void **state) {
    (void)state;
    check_cases(WEFT_HOST, WEFT_ENGINE_FFTW, CASES / 2);
}

static void reference_transforms_strided_arrays(void **state) {
    (void)state;
    check_cases(WEFT_HOST, WEFT_ENGINE_REFERENCE, CASES / 2);
}

static void a_device_transforms_strided_arrays(void **state) {
    (void)state;
    check_cases(WEFT_SIMULATED, WEFT_ENGINE_NATIVE, CASES / 4);
}

/* Compiling kernels takes time. */
static void kernels_transform_strided_arrays(void **state) {
    (void)state;
    const weft_device device = tested_device();
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) skip();
    check_cases(device, WEFT_ENGINE_JIT, getenv("WEFT_TEST_GPU") ? CASES / 50 : CASES / 250);
}

static void cufft_transforms_strided_arrays(void **state) {
    (void)state;
    if (tested_device() != WEFT_CUDA) skip();
    check_cases(WEFT_CUDA, WEFT_ENGINE_CUFFT, CASES / 40);
}

/* ---- views that are read off by hand ---- */

static weft_plan plan_of(const weft_problem *p, weft_placement placement) {
    weft_plan plan = NULL;
    const weft_options options = {.engine = WEFT_ENGINE_NATIVE, .placement = placement};
    if (weft_plan_create(ctx, p, &options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    return plan;
}

/* The elements 1, 2, 3, 4 lie backwards, at every other place. */
static void an_address_is_that_of_element_0(void **state) {
    (void)state;
    const weft_problem p = {.rank = 1, .n = {4}, .in_stride = {-2}, .out_stride = {1}};
    double x[14] = {4, 0, 9, 9, 3, 0, 9, 9, 2, 0, 9, 9, 1, 0}, y[8];
    const double expected[8] = {10, 0, -2, 2, -2, 0, -2, -2}; /* of 1, 2, 3, 4 */
    weft_plan plan = plan_of(&p, WEFT_PLACEMENT_ANY);
    size_t bytes;
    assert_int_equal(weft_plan_bytes(plan, WEFT_INPUT, &bytes), WEFT_SUCCESS);
    assert_int_equal(bytes, sizeof x);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, x + 12, y), WEFT_SUCCESS);
    for (int i = 0; i < 8; i++) assert_true(fabs(y[i] - expected[i]) < 1e-14);
    weft_plan_destroy(&plan);
}

static void row_major_strides_are_no_strides(void **state) {
    (void)state;
    const weft_problem p = {.rank = 2,
                            .n = {3, 4},
                            .batch = 2,
                            .in_stride = {4, 1},
                            .in_batch_stride = 12,
                            .out_stride = {4, 1},
                            .out_batch_stride = 12};
    weft_plan plan = plan_of(&p, WEFT_IN_PLACE);
    weft_plan_destroy(&plan);
}

static void plans_show_their_views(void **state) {
    (void)state;
    const weft_problem p = {.rank = 2, .n = {4, 6}, .in_stride = {1, -5}, .kind = WEFT_R2C};
    weft_plan plan = plan_of(&p, WEFT_PLACEMENT_ANY);
    char text[8192] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    assert_int_equal(weft_plan_explain(plan, stream, WEFT_TEXT), WEFT_SUCCESS);
    fclose(stream);
    if (!strstr(text, "input at strides 1, -5")) fail_msg("%s", text);
    weft_plan_destroy(&plan);
}

/* ---- the halved axis ---- */

/* Real data through a plan that halves axis `halved`, and as complex data. */
static void check_halved(weft_engine engine, int rank, const int64_t *n, int halved,
                         weft_axis other) {
    weft_problem real = {.rank = rank, .kind = WEFT_R2C, .batch = 2}, pairs;
    const weft_options options = {.engine = engine};
    weft_plan plan[2] = {NULL, NULL};
    int64_t points = 1, outer = 2, inner = 1;
    for (int a = 0; a < rank; a++) {
        real.n[a] = n[a];
        real.axis[a] = a == halved ? WEFT_AXIS_REAL : other;
        points *= n[a];
        *(a < halved ? &outer : &inner) *= a == halved ? 1 : n[a];
    }
    pairs = real;
    pairs.kind = WEFT_C2C;
    pairs.axis[halved] = WEFT_AXIS_OF_KIND;
    real.norm = WEFT_NORM_BACKWARD;
    double *x = malloc(2 * (size_t)points * sizeof *x), *back = calloc(2 * (size_t)points, 8);
    double *z = calloc(4 * (size_t)points, sizeof *z);
    for (int64_t i = 0; i < 2 * points; i++) x[i] = z[2 * i] = random_number();
    if (weft_plan_create(ctx, &real, &options, &plan[0]) != WEFT_SUCCESS ||
        weft_plan_create(ctx, &pairs, &options, &plan[1]) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    weft_box box;
    size_t bytes;
    const int64_t kept = n[halved] / 2 + 1;
    assert_int_equal(weft_plan_box(plan[0], WEFT_OUTPUT, 0, &box), WEFT_SUCCESS);
    for (int a = 0; a < rank; a++) assert_int_equal(box.n[a], a == halved ? kept : n[a]);
    assert_int_equal(weft_plan_bytes(plan[0], WEFT_OUTPUT, &bytes), WEFT_SUCCESS);
    double *spectrum = malloc(bytes > 32 * (size_t)points ? bytes : 32 * (size_t)points);
    assert_int_equal(weft_execute(plan[0], WEFT_FORWARD, x, spectrum), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan[1], WEFT_FORWARD, z, z), WEFT_SUCCESS);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < kept; k++)
            for (int64_t i = 0; i < 2 * inner; i++) {
                const double got = spectrum[(o * kept + k) * 2 * inner + i];
                const double exact = z[(o * n[halved] + k) * 2 * inner + i];
                if (!(fabs(got - exact) < 1e-11))
                    fail_msg("%s rank %d halved %d: %g, not %g", weft_engine_name(engine), rank,
                             halved, got, exact);
            }
    assert_int_equal(weft_execute(plan[0], WEFT_INVERSE, spectrum, back), WEFT_SUCCESS);
    for (int64_t i = 0; i < 2 * points; i++) assert_true(fabs(back[i] - x[i]) < 1e-12);
    free(x);
    free(back);
    free(z);
    free(spectrum);
    weft_plan_destroy(&plan[0]);
    weft_plan_destroy(&plan[1]);
}

static void any_fourier_axis_may_be_halved(void **state) {
    static const weft_engine engines[] = {WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW,
                                          WEFT_ENGINE_REFERENCE};
    static const int64_t n[][4] = {{6, 5, 8, 3}, {1, 7, 2, 9}, {16, 16, 4, 4}, {5, 1, 1, 6}};
    static const weft_axis others[] = {WEFT_AXIS_OF_KIND, WEFT_DCT2, WEFT_AXIS_NONE};
    (void)state;
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++)
        for (size_t i = 0; i < sizeof n / sizeof *n; i++)
            for (int rank = 1; rank <= 4; rank++)
                for (int halved = 0; halved < rank; halved++)
                    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
                        if (weft_engine_probe(engines[e], NULL) == WEFT_SUCCESS)
                            check_halved(engines[e], rank, n[i], halved, others[o]);
}

/* ---- misuse ---- */

static void bad_strides_get_one_sentence(void **state) {
    (void)state;
    static const weft_brick brick = {.box = {.n = {4, 6, 1, 1, 1, 1, 1, 1}}};
    static const struct {
        const char *says;
        weft_status status;
        weft_problem problem;
        weft_options options;
    } cases[] = {
        {"problem.in_stride[0] is 0, but there are 4 indices",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {4, 6}, .in_stride = {0, 1}},
         {0}},
        {"problem.out_batch_stride is 0, but there are 3 indices",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {4}, .batch = 3, .out_stride = {1}},
         {0}},
        {"problem.in_stride: along axis 0 a step of 5 elements",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {4, 6}, .in_stride = {-5, 1}},
         {0}},
        {"problem.out_stride: along the batch, axis 1 a step of 3 elements",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {4}, .batch = 2, .out_stride = {1}, .out_batch_stride = 3},
         {0}},
        {"reaches over more than 2^60 bytes",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {4}, .in_stride = {INT64_MAX / 2}},
         {0}},
        {"reaches over more than 2^60 bytes",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 1, .n = {4}, .in_stride = {INT64_MIN}},
         {0}},
        {"not together with problem.input and output",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 2, .n = {4, 6}, .in_stride = {1, 4}, .input = &brick},
         {0}},
        {"not together with options.keep_spectrum",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 2, .n = {4, 6}, .out_stride = {1, 4}},
         {.convolve = 1, .keep_spectrum = 1}},
        {"options.placement: in place problem.in_stride and out_stride",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 2, .n = {4, 6}, .in_stride = {1, 4}},
         {.placement = WEFT_IN_PLACE}},
        {"options.placement: in place problem.in_stride and out_stride",
         WEFT_ERROR_UNSUPPORTED,
         {.rank = 1, .n = {4}, .kind = WEFT_R2C, .in_stride = {2}, .out_stride = {2}},
         {.placement = WEFT_IN_PLACE}},
        {"problem.axis[0] is WEFT_AXIS_REAL, but problem.kind c2c",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {4, 6}, .axis = {WEFT_AXIS_REAL}},
         {0}},
        {"problem.axis[0] and [1] are WEFT_AXIS_REAL",
         WEFT_ERROR_INVALID_ARGUMENT,
         {.rank = 2, .n = {4, 6}, .kind = WEFT_R2C, .axis = {WEFT_AXIS_REAL, WEFT_AXIS_REAL}},
         {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft_plan plan = NULL;
        const weft_status status =
            weft_plan_create(ctx, &cases[i].problem, &cases[i].options, &plan);
        if (status != cases[i].status || !strstr(weft_last_error(ctx), cases[i].says))
            fail_msg("case %zu (%s): %s: %s", i, cases[i].says, weft_status_name(status),
                     weft_last_error(ctx));
        assert_null(plan);
    }
}

static void several_ranks_have_no_strides_and_halve_no_split_axis(void **state) {
    (void)state;
    const weft_context_options two = {.simulated_ranks = 2};
    const weft_problem strided = {.rank = 2, .n = {8, 8}, .in_stride = {1, 8}};
    const weft_problem first = {
        .rank = 3, .n = {8, 8, 8}, .kind = WEFT_R2C, .axis = {WEFT_AXIS_REAL}};
    const weft_problem second = {
        .rank = 3, .n = {8, 8, 8}, .kind = WEFT_R2C, .axis = {0, WEFT_AXIS_REAL}};
    weft_context ranks = NULL;
    weft_plan plan = NULL;
    assert_int_equal(weft_context_create(&two, &ranks), WEFT_SUCCESS);
    assert_int_equal(weft_plan_create(ranks, &strided, NULL, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ranks), "strides are for contexts of one process"));
    assert_int_equal(weft_plan_create(ranks, &first, NULL, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ranks), "problem.axis[0] is WEFT_AXIS_REAL"));
    assert_int_equal(weft_plan_create(ranks, &second, NULL, &plan), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ranks);
}

/* What lies before the address counts, and one array only where both are one view. */
static void arrays_that_overlap_are_refused(void **state) {
    (void)state;
    const weft_problem apart = {.rank = 1, .n = {4}, .in_stride = {-2}, .out_stride = {2}};
    double x[64] = {0};
    weft_plan plan = plan_of(&apart, WEFT_PLACEMENT_ANY);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, x + 32, x + 32), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "in == out, but problem.in_stride"));
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, x + 32, x + 20), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "overlap"));
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, x + 32, x + 34), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, x + 32, x + 6), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

int main(void) {
    const struct CMUnitTest on_host[] = {
        cmocka_unit_test(an_address_is_that_of_element_0),
        cmocka_unit_test(row_major_strides_are_no_strides),
        cmocka_unit_test(plans_show_their_views),
        cmocka_unit_test(any_fourier_axis_may_be_halved),
        cmocka_unit_test(bad_strides_get_one_sentence),
        cmocka_unit_test(several_ranks_have_no_strides_and_halve_no_split_axis),
        cmocka_unit_test(arrays_that_overlap_are_refused),
        cmocka_unit_test(native_transforms_strided_arrays),
        cmocka_unit_test(fftw_transforms_strided_arrays),
        cmocka_unit_test(reference_transforms_strided_arrays),
        cmocka_unit_test(a_device_transforms_strided_arrays),
    };
    const struct CMUnitTest on_devices[] = {
        cmocka_unit_test(kernels_transform_strided_arrays),
        cmocka_unit_test(cufft_transforms_strided_arrays),
    };
    if (tested_device() == WEFT_HOST)
        return cmocka_run_group_tests(on_host, open_context, close_context);
    return cmocka_run_group_tests(on_devices, open_context, close_context);
}
