/*
 * Compositions over ranks: random stages, on random fields, against the same stages done one by one
 * by direct sums; stages that do not fit together; and how few parts a composition has.
 *
 *   compose [--cases N] [--seed S] [--device host|simulated|opencl|cuda] [--case C]
 */
#include "compose_fields.h"
#include "mpi/words.h"
#include "promised_device.h"
#include "random_numbers.h"

#include <weft/weft_mpi.h>

#include <stdio.h>
#include <string.h>

enum { MAX_STAGES = 48, MAX_COPIES = 12 };

static int rank, ranks, failures, refusals;
static weft_context ctx;
static weft_device device;

/* Operators, one for each stage that has some: a table, or an array of factors for each element of
 * the global array. */
typedef struct stage_operator {
    weft_operator operator;
    double *table[3];
    double *factor; /* of an array: all of it */
    int64_t n[3];
} stage_operator;

typedef struct compose_case {
    weft_composition_problem problem;
    weft_options options;
    weft_stage stage[MAX_STAGES];
    stage_operator operator[MAX_STAGES];
    weft_operator matrix[2]; /* between fields: in real space, and of spectra */
    char snippet[2][512];
    int stages, arrays;
    field begin, expected[MAX_COPIES]; /* what execution begins with, and what it stores */
    double scale[MAX_COPIES];          /* the largest number on the way there */
    int outputs;
    field now;      /* as the stages so far leave it, ... */
    double largest; /* ... and the largest number until then */
    char text[1024];
} compose_case;

static void fail(const compose_case *c, const char *what) {
    fprintf(stderr, "rank %d of %d: %s: %s\n", rank, ranks, c->text, what);
    failures++;
}

/* ---- random stages, and what they come to ---- */

static weft_stage *add(compose_case *c, weft_stage_kind kind) {
    weft_stage *stage = &c->stage[c->stages++];
    *stage = (weft_stage){.kind = kind};
    return stage;
}

/* A transform makes the root of the sum of squares larger, errors included. */
static void transform(compose_case *c, const weft_axis *axis, weft_direction direction) {
    c->largest *= field_transform(&c->now, axis, direction, c->problem.norm);
}

static void note_size(compose_case *c) {
    for (int64_t i = 0; i < c->now.members * field_elements(&c->now); i++)
        c->largest = fmax(c->largest, cabs(c->now.value[i]));
}

static void expect_output(compose_case *c) {
    note_size(c);
    c->scale[c->outputs] = c->largest;
    c->expected[c->outputs++] = field_copy(&c->now);
}

static void embed(compose_case *c) {
    weft_stage *stage = add(c, WEFT_STAGE_EMBED);
    for (int a = 0; a < c->now.rank; a++) {
        const int more = random_below(4);
        stage->n[a] = more > 0 || random_below(2) ? c->now.n[a] + more : 0;
        if (more > 0 && random_below(c->stages == 1 ? 3 : 12) == 0)
            stage->lo[a] = random_below(more + 1);
    }
    field_embed(&c->now, stage->n, stage->lo);
}

static void crop(compose_case *c) {
    weft_stage *stage = add(c, WEFT_STAGE_CROP);
    const bool strides = random_below(ranks > 1 ? 4 : 2) == 0;
    for (int a = 0; a < c->now.rank; a++) {
        const int64_t n = c->now.n[a];
        const int64_t lo = strides ? random_below((int)(n < 3 ? n : 3)) : 0;
        const int64_t step = strides ? 1 + random_below(3) : 1;
        const int64_t most = (n - 1 - lo) / step + 1;
        stage->lo[a] = lo;
        stage->step[a] = step == 1 ? random_below(2) : step;
        stage->n[a] = random_below(3) ? 1 + random_below((int)most) : 0;
    }
    field_crop(&c->now, stage->n, stage->lo, stage->step);
}

static void multiply(compose_case *c) {
    stage_operator *o = &c->operator[c->stages];
    weft_stage *stage = add(c, WEFT_STAGE_POINTWISE);
    const bool array = random_below(3) == 0 && c->arrays < WEFT_MAX_ARRAYS;
    o->operator=(weft_operator){.kind = array ? WEFT_OPERATOR_ARRAY : WEFT_OPERATOR_TABLE};
    if (array) o->operator.array = c->arrays++;
    memcpy(o->n, c->now.n, sizeof o->n);
    const int64_t elements = field_elements(&c->now);
    o->factor = malloc((size_t)elements * sizeof *o->factor);
    for (int a = 0; a < c->now.rank && !array; a++) {
        o->table[a] = malloc((size_t)c->now.n[a] * sizeof *o->table[a]);
        for (int64_t i = 0; i < c->now.n[a]; i++) o->table[a][i] = 1 + 0.5 * (float)random_number();
        o->operator.table[a] = o->table[a];
    }
    for (int64_t i = 0; i < elements; i++) {
        int64_t index[3] = {0};
        field_index(&c->now, i, index);
        o->factor[i] = array ? 1 + 0.5 * (float)random_number() : 1;
        for (int a = 0; a < c->now.rank && !array; a++) o->factor[i] *= o->table[a][index[a]];
    }
    stage->operators = (weft_operators){&o->operator, 1 };
    field_multiply(&c->now, o->factor);
}

static void copy_out(compose_case *c) {
    add(c, WEFT_STAGE_COPY_OUT);
    expect_output(c);
}

/* The axes of a transform: now and then those of the one before. */
static void choose_axes(const compose_case *c, weft_axis *axis) {
    if (random_below(3) == 0) {
        memcpy(axis, c->now.axis, sizeof c->now.axis);
        return;
    }
    for (int a = 0; a < c->now.rank; a++) {
        const int dice = random_below(6);
        axis[a] = dice == 0 ? WEFT_AXIS_NONE : dice == 1 ? WEFT_DCT2 : WEFT_AXIS_OF_KIND;
    }
    axis[c->now.rank - 1 - random_below(c->now.rank)] = WEFT_AXIS_OF_KIND;
}

/* Forward in one stage or, now and then, in two. */
static void forward(compose_case *c) {
    weft_axis axis[WEFT_MAX_RANK] = {0}, *first = add(c, WEFT_STAGE_FORWARD)->axis;
    choose_axes(c, axis);
    memcpy(first, axis, sizeof axis);
    const int last = c->now.rank - 1;
    if (c->problem.kind == WEFT_C2C && last > 0 && axis[0] == WEFT_AXIS_OF_KIND &&
        axis[last] == WEFT_AXIS_OF_KIND && random_below(4) == 0) {
        weft_axis *second = add(c, WEFT_STAGE_FORWARD)->axis;
        for (int a = 0; a < c->now.rank; a++) second[a] = WEFT_AXIS_NONE;
        second[0] = WEFT_AXIS_OF_KIND;
        first[0] = WEFT_AXIS_NONE;
    }
    transform(c, axis, WEFT_FORWARD);
    note_size(c);
}

static void inverse(compose_case *c) {
    add(c, WEFT_STAGE_INVERSE);
    transform(c, c->now.axis, WEFT_INVERSE);
    note_size(c);
}

/* ---- fields from fields ---- */

/* A stage with a matrix between fields: a function of the host's, and a snippet for devices. */
static weft_stage *add_matrix(compose_case *c, int number, weft_fields_function function) {
    static int is_single;
    weft_stage *stage = add(c, WEFT_STAGE_POINTWISE);
    c->matrix[number] =
        (weft_operator){.kind = WEFT_OPERATOR_MATRIX,
                        .matrix = function,
                        .argument = c->problem.precision == WEFT_SINGLE ? &is_single : NULL,
                        .snippet = c->snippet[number]};
    stage->operators = (weft_operators){&c->matrix[number], 1};
    return stage;
}

/* Those of a point become products of neighbours. */
static void multiply_fields(compose_case *c, int fields, int made) {
    add_matrix(c, 0, fields_make_products)->result_fields = made;
    fields_write_products(fields, made, c->problem.kind == WEFT_R2C, c->snippet[0],
                          sizeof c->snippet[0]);
    double most = 1;
    for (int64_t i = 0; i < c->now.members * field_elements(&c->now); i++)
        most = fmax(most, cabs(c->now.value[i]));
    c->largest *= 2 * most;
    fields_multiply(&c->now, fields, made);
}

static void halve_fields(compose_case *c, int fields) {
    add_matrix(c, 1, fields_halve);
    fields_write_halves(fields, field_is_real(&c->now), c->snippet[1], sizeof c->snippet[1]);
    field_scale(&c->now, 0.5);
}

/* A stage that makes the spectrum one of n points. */
static weft_stage *resample_to(compose_case *c, weft_stage_kind kind, const int64_t *n) {
    weft_stage *stage = add(c, kind);
    memcpy(stage->n, n, sizeof c->now.n);
    field_resample(&c->now, n);
    return stage;
}

/* Zeros at frequencies that products need, as the 3/2 rule has them; of `all` axes, also of those
 * that are not transformed, or of the others. */
static weft_stage *widen(compose_case *c, const weft_axis *axis, bool all) {
    int64_t n[3];
    for (int a = 0; a < c->now.rank; a++) {
        n[a] = c->now.logical[a];
        if (axis[a] != WEFT_AXIS_NONE || all) n[a] += random_below((int)n[a]);
    }
    return resample_to(c, WEFT_STAGE_EMBED, n);
}

/* From the spectra of some fields to those of their products, which is one plan, and further. */
static void make_pseudospectral(compose_case *c) {
    const int fields = 1 + random_below(FIELDS_MOST), made = 1 + random_below(4);
    const bool multiplies = c->problem.rank > 1 && c->options.location != WEFT_LOCATION_HOST;
    weft_axis axis[WEFT_MAX_RANK] = {0};
    c->problem.fields = fields;
    if (fields > 1 && c->problem.batch <= 1) c->problem.fields_fastest = random_below(2);
    if (c->problem.rank > 1 && random_below(3) == 0)
        axis[random_below(c->problem.rank)] = WEFT_AXIS_NONE;
    const int64_t elements = field_elements(&c->now), all = c->now.members * fields;
    c->now.value = realloc(c->now.value, (size_t)(all * elements) * sizeof *c->now.value);
    for (int64_t i = c->now.members * elements; i < all * elements; i++)
        c->now.value[i] = (float)random_number();
    c->now.members = all;
    field_transform(&c->now, axis, WEFT_FORWARD, WEFT_NORM_ORTHO);
    c->problem.begin = WEFT_OUTPUT;
    c->begin = field_copy(&c->now);
    note_size(c);
    int64_t before[3];
    memcpy(before, c->now.logical, sizeof before);
    const bool widens = random_below(2), copies = !multiplies || random_below(8) == 0;
    const bool multiplies_first = !(widens && copies) && random_below(2);
    if (multiplies_first) multiply(c);
    weft_stage *tells = widens ? widen(c, axis, copies && !multiplies_first) : NULL;
    inverse(c);
    if (!tells) tells = &c->stage[c->stages - 1];
    memcpy(tells->axis, axis, sizeof axis);
    note_size(c);
    if (!multiplies && random_below(2))
        multiply(c);
    else if (multiplies)
        multiply_fields(c, fields, made);
    memcpy(add(c, WEFT_STAGE_FORWARD)->axis, axis, sizeof axis);
    transform(c, axis, WEFT_FORWARD);
    note_size(c);
    const bool narrows = widens && (multiplies || random_below(4));
    if (narrows) resample_to(c, WEFT_STAGE_CROP, before);
    const int dice = narrows && copies ? 2 : random_below(3);
    if (dice == 0) multiply(c);
    if (dice == 1 && multiplies) halve_fields(c, made);
    if (random_below(2)) copy_out(c);
    if (c->stage[c->stages - 1].kind == WEFT_STAGE_COPY_OUT || random_below(3) == 0) {
        inverse(c);
        note_size(c);
    }
}

/* There and back by a problem with a scaling. */
static void problem(compose_case *c, weft_problem *p) {
    static const weft_operator half = {.kind = WEFT_OPERATOR_SCALE, .factor = 0.5};
    weft_stage *stage = add(c, WEFT_STAGE_PROBLEM);
    static const weft_axis all[WEFT_MAX_RANK];
    *p = (weft_problem){.rank = c->now.rank,
                        .kind = c->problem.kind,
                        .precision = c->problem.precision,
                        .batch = c->problem.batch,
                        .norm = WEFT_NORM_BACKWARD,
                        .spectral = {&half, 1}};
    memcpy(p->n, c->now.n, sizeof c->now.n);
    stage->problem = p;
    stage->direction = WEFT_CONVOLVE;
    field_transform(&c->now, all, WEFT_FORWARD, WEFT_NORM_BACKWARD);
    field_scale(&c->now, 0.5);
    field_transform(&c->now, all, WEFT_INVERSE, WEFT_NORM_BACKWARD);
}

/* Fewer frequencies or, which returns true, more. */
static bool resample(compose_case *c) {
    const bool more = random_below(2);
    weft_stage *stage = add(c, more ? WEFT_STAGE_EMBED : WEFT_STAGE_CROP);
    int64_t n[3];
    for (int a = 0; a < c->now.rank; a++) {
        const int64_t now = c->now.logical[a];
        n[a] = more ? now + random_below(4) : 1 + random_below((int)now);
        stage->n[a] = n[a] == now && random_below(2) ? 0 : n[a];
    }
    field_resample(&c->now, n);
    return more;
}

/* The spectrum that a composition begins with, in real space. */
static void back_from_beginning(compose_case *c) {
    const bool resamples = random_below(2);
    if (resamples) resample(c);
    if (random_below(2)) multiply(c);
    inverse(c);
    weft_stage *tells = resamples ? &c->stage[0] : &c->stage[c->stages - 1];
    memcpy(tells->axis, c->begin.axis, sizeof c->begin.axis);
}

/* To a spectrum and, but for the last time now and then, which returns false, back. Zeros and
 * operators in a new leg's spectrum want an inverse stage behind them. */
static bool there_and_back(compose_case *c, bool last) {
    bool returns = false;
    if (random_below(2)) embed(c);
    if (random_below(2)) multiply(c);
    forward(c);
    if (random_below(2)) multiply(c);
    if (random_below(3) == 0) {
        returns = resample(c);
        if (random_below(2)) {
            multiply(c);
            returns = true;
        }
    }
    if (last && !returns && random_below(4) == 0) return false;
    if (!returns && random_below(3) == 0) {
        copy_out(c);
        if (random_below(3) == 0) multiply(c);
    }
    inverse(c);
    return true;
}

/* One way through a plan or two; `begins` with a spectrum. */
static void round_trip(compose_case *c, bool begins, bool last) {
    if (begins)
        back_from_beginning(c);
    else if (!there_and_back(c, last))
        return;
    if (random_below(2)) multiply(c);
    if (random_below(2)) {
        crop(c);
        if (random_below(4) == 0) {
            copy_out(c);
            crop(c);
        }
    }
    if (!last && random_below(2)) copy_out(c);
}

/* A spectrum to begin with: that of some field. */
static void begin_with_spectrum(compose_case *c) {
    weft_axis axis[WEFT_MAX_RANK] = {0};
    choose_axes(c, axis);
    field_transform(&c->now, axis, WEFT_FORWARD, WEFT_NORM_ORTHO);
    c->problem.begin = WEFT_OUTPUT;
}

static void describe(compose_case *c, int number) {
    const weft_options *o = &c->options;
    int at =
        snprintf(c->text, sizeof c->text, "case %d: %s %s norm %d batch %d fields %d to %d%s n",
                 number, weft_kind_name(c->problem.kind), weft_precision_name(c->problem.precision),
                 (int)c->problem.norm, (int)c->problem.batch, (int)c->problem.fields,
                 (int)c->now.members, c->problem.fields_fastest ? " fastest" : "");
    for (int a = 0; a < c->problem.rank; a++)
        at += snprintf(c->text + at, sizeof c->text - (size_t)at, " %d", (int)c->problem.n[a]);
    for (int s = 0; s < c->stages; s++)
        at += snprintf(c->text + at, sizeof c->text - (size_t)at, ", %s",
                       weft_stage_kind_name(c->stage[s].kind));
    snprintf(c->text + at, sizeof c->text - (size_t)at,
             "; %s variant %s engine %s exchange %s threads %d",
             weft_decomposition_name(o->decomposition), weft_variant_name(o->variant),
             weft_engine_name(o->engine), weft_exchange_name(o->exchange[0]), o->threads);
}

static void choose_options(weft_options *o) {
    static const weft_decomposition decompositions[] = {WEFT_DECOMPOSITION_AUTO, WEFT_SLAB_2D1D,
                                                        WEFT_SLAB_1D2D, WEFT_PENCIL};
    static const weft_exchange exchanges[] = {WEFT_EXCHANGE_AUTO, WEFT_P2P_SYNC, WEFT_P2P_STREAMS,
                                              WEFT_A2A_TYPE};
    static const weft_engine engines[] = {WEFT_ENGINE_AUTO, WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW,
                                          WEFT_ENGINE_REFERENCE};
    *o = (weft_options){.device = device,
                        .variant = (weft_variant)random_below(3),
                        .decomposition = decompositions[random_below(4)],
                        .threads = 1 + random_below(2)};
    o->exchange[0] = exchanges[random_below(4)];
    if (device == WEFT_HOST) o->engine = engines[random_below(4)];
    /* What is multiplied here is no longer the spectrum of real numbers, as cuFFT wants it. */
    if (device == WEFT_CUDA) o->engine = WEFT_ENGINE_JIT;
    if (device != WEFT_HOST && random_below(4) == 0) o->location = WEFT_LOCATION_HOST;
}

/* Transforms there and back, one to three times. */
static void make_round_trips(compose_case *c, weft_problem *p) {
    if (random_below(4) == 0) begin_with_spectrum(c);
    c->begin = field_copy(&c->now);
    const int rounds = 1 + random_below(3);
    const bool begins = c->problem.begin == WEFT_OUTPUT;
    for (int r = 0; r < rounds; r++) {
        round_trip(c, begins && r == 0, r == rounds - 1);
        if (!c->now.spectral && p->rank == 0 && random_below(4) == 0) problem(c, p);
    }
}

static void make_case(compose_case *c, weft_problem *p) {
    const bool line = random_below(ranks == 1 ? 3 : 6) == 0;
    const int axes = line ? 1 : 2 + random_below(2);
    *c = (compose_case){.problem = {.rank = axes,
                                    .kind = random_below(2) ? WEFT_R2C : WEFT_C2C,
                                    .precision = (weft_precision)(random_below(4) == 0),
                                    .norm = (weft_norm)random_below(4),
                                    .batch = random_below(3)}};
    int64_t n[3] = {1, 1, 1};
    for (int a = 0; a < axes; a++) n[a] = 3 + random_below(8);
    c->now = field_create(axes, n, c->problem.batch > 0 ? c->problem.batch : 1,
                          c->problem.kind == WEFT_R2C);
    for (int64_t i = 0; i < c->now.members * field_elements(&c->now); i++) {
        c->now.value[i] = (float)random_number();
        if (c->problem.kind == WEFT_C2C) c->now.value[i] += I * (float)random_number();
    }
    memcpy(c->problem.n, n, sizeof n);
    choose_options(&c->options);
    if (axes == 1) c->options.decomposition = WEFT_DECOMPOSITION_AUTO;
    if (random_below(4) == 0)
        make_pseudospectral(c);
    else
        make_round_trips(c, p);
    expect_output(c);
    c->problem.stage = c->stage;
    c->problem.stages = c->stages;
}

static void release(compose_case *c) {
    for (int s = 0; s < c->stages; s++) {
        for (int a = 0; a < 3; a++) free(c->operator[s].table[a]);
        free(c->operator[s].factor);
    }
    for (int i = 0; i < c->outputs; i++) free(c->expected[i].value);
    free(c->begin.value);
    free(c->now.value);
}

/* ---- running ---- */

static bool is_single(const compose_case *c) {
    return c->problem.precision == WEFT_SINGLE;
}

static bool on_host(const compose_case *c) {
    return c->options.location == WEFT_LOCATION_HOST && device != WEFT_HOST;
}

/* The element of the field that is element i of the rank's array. */
static int64_t place_of(const compose_case *c, const field *f, const weft_box *box, int64_t i) {
    const int64_t own = field_box_elements(f, box);
    if (c->problem.fields_fastest) i = i % f->members * own + i / f->members;
    return field_place(f, box, i);
}

/* Memory where the composition wants it. */
static void *place(const compose_case *c, weft_composition plan, const void *host, size_t bytes) {
    void *there = NULL;
    if (on_host(c)) {
        there = malloc(bytes + 1);
        memcpy(there, host, bytes);
    } else if (bytes > 0 && (weft_buffer_create(plan, bytes, &there) != WEFT_SUCCESS ||
                             weft_buffer_upload(plan, there, host, bytes) != WEFT_SUCCESS)) {
        fail(c, weft_last_error(ctx));
    }
    return there;
}

static void remove_array(const compose_case *c, weft_composition plan, void **array) {
    if (on_host(c))
        free(*array);
    else
        weft_buffer_destroy(plan, array);
}

/* The stage behind which a copy, or the result, is stored. */
static int stage_of(const compose_case *c, int output) {
    for (int s = 0; s < c->stages; s++)
        if (c->stage[s].kind == WEFT_STAGE_COPY_OUT && output-- == 0) return s;
    return c->stages - 1;
}

static void compare(const compose_case *c, weft_composition plan, int number, const void *array) {
    const field *f = &c->expected[number];
    weft_box box;
    double most[2] = {0, 0};
    if (weft_composition_box(plan, stage_of(c, number), rank, &box) != WEFT_SUCCESS)
        fail(c, weft_last_error(ctx));
    const int64_t own = field_box_elements(f, &box);
    int64_t all = own;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (all != field_elements(f)) fail(c, "the boxes of an array are not all of it");
    for (int64_t i = 0; i < own * f->members; i++) {
        const double complex want = f->value[place_of(c, f, &box, i)];
        const double off = cabs(field_get(f, array, i, is_single(c)) - want);
        most[0] = fmax(most[0], cabs(want));
        most[1] = fmax(most[1], isnan(off) ? INFINITY : off);
    }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (most[1] <= (is_single(c) ? 1e-5 : 2e-14) * c->scale[number]) return;
    char text[128];
    snprintf(text, sizeof text, "array %d is off by %g of %g", number, most[1], most[0]);
    fail(c, text);
}

/* Gives the factors of this rank's boxes to the operators that are arrays. */
static void set_arrays(const compose_case *c, weft_composition plan, void **arrays) {
    for (int s = 0; s < c->stages; s++) {
        const stage_operator *o = &c->operator[s];
        weft_box box;
        if (!o->factor || o->operator.kind != WEFT_OPERATOR_ARRAY) continue;
        if (weft_composition_box(plan, s, rank, &box) != WEFT_SUCCESS)
            fail(c, weft_last_error(ctx));
        field f = {.rank = c->problem.rank, .members = 1};
        memcpy(f.n, o->n, sizeof f.n);
        const int64_t own = field_box_elements(&f, &box);
        const size_t number = is_single(c) ? sizeof(float) : sizeof(double);
        void *factors = malloc((size_t)own * number + 1), *there = NULL;
        for (int64_t i = 0; i < own; i++) {
            const double factor = o->factor[field_place(&f, &box, i)];
            if (is_single(c))
                ((float *)factors)[i] = (float)factor;
            else
                ((double *)factors)[i] = factor;
        }
        if (own > 0 &&
            (weft_buffer_create(plan, (size_t)own * number, &there) != WEFT_SUCCESS ||
             weft_buffer_upload(plan, there, factors, (size_t)own * number) != WEFT_SUCCESS))
            fail(c, weft_last_error(ctx));
        if (weft_plan_set_array(plan, (int)o->operator.array, there) != WEFT_SUCCESS)
            fail(c, weft_last_error(ctx));
        arrays[o->operator.array] = there;
        free(factors);
    }
}

static void run(const compose_case *c, weft_composition plan) {
    void *out[MAX_COPIES] = {NULL}, *arrays[WEFT_MAX_ARRAYS] = {NULL};
    size_t bytes[MAX_COPIES], in_bytes = 0;
    weft_box box;
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_box(plan, WEFT_INPUT, rank, &box);
    char *host = calloc(1, in_bytes + 1);
    const int64_t own = c->begin.members * field_box_elements(&c->begin, &box);
    for (int64_t i = 0; i < own; i++)
        field_put(&c->begin, host, i, is_single(c),
                  c->begin.value[place_of(c, &c->begin, &box, i)]);
    void *in = place(c, plan, host, in_bytes);
    for (int i = 0; i < c->outputs; i++) {
        weft_composition_bytes(plan, i, &bytes[i]);
        char *poison = malloc(bytes[i] + 1);
        memset(poison, 0xff, bytes[i]);
        out[i] = place(c, plan, poison, bytes[i]);
        free(poison);
    }
    set_arrays(c, plan, arrays);
    for (int times = 0; times < 2; times++)
        if (weft_composition_execute(plan, in, out) != WEFT_SUCCESS) fail(c, weft_last_error(ctx));
    for (int i = 0; i < c->outputs; i++) {
        void *back = malloc(bytes[i] + 1);
        if (on_host(c))
            memcpy(back, out[i], bytes[i]);
        else if (bytes[i] > 0 && weft_buffer_download(plan, back, out[i], bytes[i]) != WEFT_SUCCESS)
            fail(c, weft_last_error(ctx));
        compare(c, plan, i, back);
        free(back);
        remove_array(c, plan, &out[i]);
    }
    remove_array(c, plan, &in);
    for (int i = 0; i < WEFT_MAX_ARRAYS; i++) weft_buffer_destroy(plan, &arrays[i]);
    free(host);
}

/* What a device, an engine or a shape does not have is no failure. */
static bool is_known(const char *why) {
    static const char *const known[] = {"real-to-real",
                                        "can be split over",
                                        "engine fftw",
                                        "FFTW",
                                        "1-D transform runs on one",
                                        "must find that axis whole",
                                        "halved",
                                        "cosine",
                                        "cannot begin with the boxes"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(why, known[i])) return true;
    return false;
}

static void try_case(int number, uint64_t seed) {
    compose_case *c = calloc(1, sizeof *c);
    weft_problem inner = {.rank = 0};
    weft_composition plan = NULL;
    random_state = seed * 1000003 + (uint64_t)number;
    make_case(c, &inner);
    describe(c, number);
    const weft_status status = weft_composition_create(ctx, &c->problem, &c->options, &plan);
    if (status == WEFT_SUCCESS)
        run(c, plan);
    else if (status == WEFT_ERROR_UNSUPPORTED && is_known(weft_last_error(ctx)))
        refusals++;
    else
        fail(c, weft_last_error(ctx));
    weft_composition_destroy(&plan);
    if (plan) fail(c, "weft_composition_destroy leaves the handle");
    release(c);
    free(c);
}

/* ---- how stages become parts ---- */

static const weft_operator one = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};

/* The number of plans and copies that the explanation tells of; 1 where it is one plan. */
static int count_parts(weft_composition plan) {
    char *text = NULL;
    size_t size = 0;
    int parts = 0;
    FILE *stream = open_memstream(&text, &size);
    if (weft_plan_explain(plan, stream, WEFT_TEXT) != WEFT_SUCCESS) failures++;
    fclose(stream);
    if (sscanf(text, "composition of %d parts", &parts) != 1) parts = 1;
    free(text);
    return parts;
}

static void expect_parts(weft_space begin, const weft_stage *stage, int stages, int parts) {
    compose_case c = {
        .problem = {.rank = 2, .n = {8, 6}, .begin = begin, .stage = stage, .stages = stages},
        .options = {.device = device}};
    weft_composition plan = NULL;
    memcpy(c.stage, stage, (size_t)stages * sizeof *stage);
    c.stages = stages;
    describe(&c, -1);
    if (weft_composition_create(ctx, &c.problem, &c.options, &plan) != WEFT_SUCCESS)
        fail(&c, weft_last_error(ctx));
    else if (count_parts(plan) != parts)
        fail(&c, "it has another number of parts than expected");
    weft_memory memory = {0};
    if (plan && (weft_plan_memory(plan, &memory) != WEFT_SUCCESS ||
                 memory.total != memory.workspace + memory.page_locked + memory.tables))
        fail(&c, "its memory does not add up");
    weft_composition_destroy(&plan);
}

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static void check_parts(void) {
    const weft_stage operate = {.kind = WEFT_STAGE_POINTWISE, .operators = {&one, 1}};
    const weft_stage forward_all = {.kind = WEFT_STAGE_FORWARD};
    const weft_stage back = {.kind = WEFT_STAGE_INVERSE};
    const weft_stage larger = {.kind = WEFT_STAGE_EMBED, .n = {9, 9}};
    const weft_stage inside = {.kind = WEFT_STAGE_EMBED, .n = {10, 10}, .lo = {1, 2}};
    const weft_stage smaller = {.kind = WEFT_STAGE_CROP, .n = {5, 4}};
    const weft_stage every_other = {.kind = WEFT_STAGE_CROP, .step = {2, 2}};
    const weft_stage copy = {.kind = WEFT_STAGE_COPY_OUT};
    const weft_stage again = {.kind = WEFT_STAGE_EMBED, .n = {8, 6}};
    const weft_stage whole[] = {larger, operate, forward_all, operate, back, operate, smaller};
    const weft_stage kept[] = {forward_all, operate, copy, back};
    const weft_stage twice[] = {forward_all, back, forward_all, back};
    const weft_stage sampled[] = {inside, forward_all, back, every_other, forward_all};
    expect_parts(WEFT_INPUT, whole, COUNT(whole), 1);
    expect_parts(WEFT_INPUT, kept, COUNT(kept), 1);
    expect_parts(WEFT_INPUT, twice, COUNT(twice), 2);
    expect_parts(WEFT_INPUT, sampled, COUNT(sampled), 4);
    const weft_stage lines_back = {.kind = WEFT_STAGE_INVERSE, .axis = {0, WEFT_AXIS_NONE}};
    const weft_stage pseudospectral[] = {operate, back, operate, forward_all, operate};
    const weft_stage steps[] = {back, operate, forward_all, back, forward_all, operate, back};
    const weft_stage cropped[] = {back, smaller, forward_all};
    const weft_stage other_axes[] = {lines_back, operate, forward_all};
    const weft_stage wider = {.kind = WEFT_STAGE_EMBED, .n = {12, 9}};
    const weft_stage narrower = {.kind = WEFT_STAGE_CROP, .n = {8, 6}};
    const weft_stage dealiased[] = {operate, wider, back, operate, forward_all, narrower, operate};
    const weft_stage truncated[] = {forward_all, smaller, operate};
    const weft_stage low_pass[] = {forward_all, smaller, operate, again, back};
    const weft_stage resampled[] = {forward_all, wider, back};
    const weft_stage narrowed_more[] = {wider, back, forward_all, smaller};
    const weft_stage operated_wide[] = {wider, operate, back};
    expect_parts(WEFT_OUTPUT, dealiased, COUNT(dealiased), 1);
    expect_parts(WEFT_INPUT, truncated, COUNT(truncated), 1);
    expect_parts(WEFT_INPUT, low_pass, COUNT(low_pass), 1);
    expect_parts(WEFT_INPUT, resampled, COUNT(resampled), 2);
    expect_parts(WEFT_OUTPUT, narrowed_more, COUNT(narrowed_more), 2);
    expect_parts(WEFT_OUTPUT, operated_wide, COUNT(operated_wide), 2);
    expect_parts(WEFT_OUTPUT, pseudospectral, COUNT(pseudospectral), 1);
    expect_parts(WEFT_OUTPUT, steps, COUNT(steps), 3);
    expect_parts(WEFT_OUTPUT, cropped, COUNT(cropped), 2);
    expect_parts(WEFT_OUTPUT, other_axes, COUNT(other_axes), 2);
}

/* Bytes of workspaces, and of arrays between parts, that the first stages of a list take. */
static size_t workspace_of(const weft_stage *stage, int stages, size_t *result) {
    const weft_composition_problem p = {
        .rank = 3, .n = {48, 40, 36}, .stage = stage, .stages = stages};
    const weft_options options = {.device = device,
                                  .decomposition = WEFT_SLAB_2D1D,
                                  .exchange = {WEFT_A2A_SYNC},
                                  .placement = WEFT_OUT_OF_PLACE};
    weft_composition plan = NULL;
    weft_memory memory = {0};
    if (weft_composition_create(ctx, &p, &options, &plan) != WEFT_SUCCESS ||
        weft_plan_memory(plan, &memory) != WEFT_SUCCESS ||
        weft_composition_bytes(plan, 0, result) != WEFT_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", rank, weft_last_error(ctx));
        failures++;
    }
    weft_composition_destroy(&plan);
    return memory.workspace;
}

/* Plans of one composition, which never run at the same time, have their workspaces in common, but
 * for what engines hold, which is little of such arrays. */
static void check_workspaces(void) {
    const weft_stage stages[] = {{.kind = WEFT_STAGE_FORWARD}, {.kind = WEFT_STAGE_INVERSE},
                                 {.kind = WEFT_STAGE_FORWARD}, {.kind = WEFT_STAGE_INVERSE},
                                 {.kind = WEFT_STAGE_FORWARD}, {.kind = WEFT_STAGE_INVERSE}};
    size_t array = 0;
    const size_t one_plan = workspace_of(stages, 2, &array);
    const size_t three = workspace_of(stages, 6, &array), between = 2 * array;
    if (three <= one_plan + between + array / 2) return;
    fprintf(stderr, "rank %d: three plans hold %zu bytes, one %zu, and arrays between them %zu\n",
            rank, three, one_plan, between);
    failures++;
}

/* ---- stages that do not fit together ---- */

static void expect_refusal(const weft_composition_problem *p, const weft_options *options,
                           const char *words) {
    weft_composition plan = NULL;
    const weft_status status = weft_composition_create(ctx, p, options, &plan);
    const char *why = weft_last_error(ctx);
    if (status != WEFT_SUCCESS && plan == NULL && strstr(why, words)) return;
    fprintf(stderr, "rank %d: wanted a refusal with \"%s\", got %s: %s\n", rank, words,
            weft_status_name(status), why);
    failures++;
    weft_composition_destroy(&plan);
}

static void refuse(const weft_stage *stage, int stages, const char *words) {
    const weft_options options = {.device = device};
    const weft_composition_problem p = {.rank = 2, .n = {8, 6}, .stage = stage, .stages = stages};
    expect_refusal(&p, &options, words);
}

static void check_refusals(void) {
    const weft_stage operate = {.kind = WEFT_STAGE_POINTWISE, .operators = {&one, 1}};
    const weft_stage forward_all = {.kind = WEFT_STAGE_FORWARD};
    const weft_stage first_axis = {.kind = WEFT_STAGE_FORWARD, .axis = {0, WEFT_AXIS_NONE}};
    const weft_stage back = {.kind = WEFT_STAGE_INVERSE};
    const weft_stage back_along = {.kind = WEFT_STAGE_INVERSE, .axis = {0, WEFT_AXIS_NONE}};
    const weft_stage copy = {.kind = WEFT_STAGE_COPY_OUT};
    const weft_stage nothing = {.kind = WEFT_STAGE_POINTWISE};
    const weft_stage larger = {.kind = WEFT_STAGE_EMBED, .n = {9, 9}};
    const weft_stage inside = {.kind = WEFT_STAGE_EMBED, .n = {10, 10}, .lo = {1, 2}};
    const weft_stage shorter = {.kind = WEFT_STAGE_EMBED, .n = {7, 6}};
    const weft_stage smaller = {.kind = WEFT_STAGE_CROP, .n = {5, 4}};
    const weft_stage fewer = {.kind = WEFT_STAGE_CROP, .n = {5, 7}};
    const weft_stage every_other = {.kind = WEFT_STAGE_CROP, .step = {2, 2}};
    const weft_stage beyond = {.kind = WEFT_STAGE_CROP, .n = {5, 4}, .lo = {4, 0}};
    const weft_stage unknown = {.kind = (weft_stage_kind)7};
    const weft_stage fields = {
        .kind = WEFT_STAGE_POINTWISE, .operators = {&one, 1}, .result_fields = 2};
    const weft_problem other = {.rank = 2, .n = {8, 7}};
    const weft_problem strided = {.rank = 2, .n = {8, 6}, .in_stride = {12, 2}};
    const weft_stage none = {.kind = WEFT_STAGE_PROBLEM};
    const weft_stage of_other = {.kind = WEFT_STAGE_PROBLEM, .problem = &other};
    const weft_stage of_strided = {.kind = WEFT_STAGE_PROBLEM, .problem = &strided};
#define REFUSE(words, ...)                                                                         \
    do {                                                                                           \
        const weft_stage list[] = {__VA_ARGS__};                                                   \
        refuse(list, COUNT(list), words);                                                          \
    } while (0)
    REFUSE("stage[0] has no transform behind it", operate);
    REFUSE("stage[0] has no transform behind it", larger);
    REFUSE("stage[0] is inverse, but the array there is in real space", back);
    REFUSE("stage[1].axis[0] is fft, but the axis is transformed already", forward_all, first_axis);
    REFUSE("stage[2] is forward, but the array there is a spectrum", first_axis, operate,
           forward_all);
    REFUSE("stage[1].axis is given, but the stages before it say", forward_all, back_along);
    REFUSE("stage[2] has operators right behind others", forward_all, operate, operate);
    REFUSE("stage[1].operators is empty", forward_all, nothing);
    REFUSE("stage[1] adds zeros behind operators", operate, larger, forward_all);
    REFUSE("stage[0] embeds 8 indices from index lo[0], 0", shorter, forward_all);
    REFUSE("stage[2] has no transform behind it", forward_all, back, inside);
    REFUSE("stage[0] has no transform behind it", inside, copy, forward_all);
    REFUSE("stage[1] crops what no transform before it has made", inside, smaller, forward_all);
    REFUSE("stage[1] has no transform behind it", forward_all, larger);
    REFUSE("stage[1] has no transform behind it", forward_all, larger, copy, back);
    REFUSE("stage[1].lo[0] is given, but the frequencies", forward_all, beyond);
    REFUSE("stage[1].step[0] is given, but the frequencies", forward_all, every_other);
    REFUSE("stage[1].n[0] is 7, but the array is the spectrum of 8 points", forward_all, shorter);
    REFUSE("stage[1].n[1] is 7, but the array is the spectrum of 6 points", forward_all, fewer);
    REFUSE("stage[0] crops what no transform before it has made", smaller, forward_all);
    REFUSE("stage[2] keeps every 0-th index along axis 0, 5 from 4 on", forward_all, back, beyond);
    REFUSE("stage[0] copies out what the caller has already", copy, forward_all);
    REFUSE("stage[1] copies out the result", forward_all, copy);
    REFUSE("stage[0].kind is 7", unknown);
    REFUSE("stage[0].result_fields is 2, but fields are made", fields, forward_all);
    REFUSE("stage[0].problem is NULL", none);
    REFUSE("stage[0].problem has another n or pad_from", of_other);
    REFUSE("stage[0].problem has bricks or strides", of_strided);
    const weft_stage twice[] = {forward_all, back, forward_all, back};
    const weft_composition_problem good = {
        .rank = 2, .n = {8, 6}, .stage = twice, .stages = COUNT(twice)};
    const weft_options in_place = {.device = device, .placement = WEFT_IN_PLACE};
    const weft_stage boxes[] = {smaller, smaller, back};
    const weft_composition_problem from_spectrum = {
        .rank = 2, .n = {8, 6}, .begin = WEFT_OUTPUT, .stage = boxes, .stages = COUNT(boxes)};
    expect_refusal(&from_spectrum, NULL, "stage[1] follows another copy of a box");
    expect_refusal(&good, &in_place, "these stages are 2 plans and copies");
    weft_composition_problem bad = good;
    bad.stages = 0;
    expect_refusal(&bad, NULL, "problem.stages is 0");
    bad = good;
    bad.rank = 9;
    expect_refusal(&bad, NULL, "problem.rank is 9");
    bad = good;
    bad.n[1] = 0;
    expect_refusal(&bad, NULL, "problem.n[1] is 0");
    bad = good;
    bad.kind = WEFT_R2R;
    expect_refusal(&bad, NULL, "problem.kind");
    expect_refusal(NULL, NULL, "problem is NULL");
    if (ranks == 1) return;
    bad = good;
    bad.stages = rank == 1 ? 2 : 4;
    expect_refusal(&bad, NULL, "");
}

/* Calls that are wrong, of a composition that is right. */
static void check_calls(void) {
    const weft_stage stage[] = {{.kind = WEFT_STAGE_FORWARD},
                                {.kind = WEFT_STAGE_COPY_OUT},
                                {.kind = WEFT_STAGE_INVERSE},
                                {.kind = WEFT_STAGE_FORWARD}};
    const weft_composition_problem p = {
        .rank = 2, .n = {8, 6}, .stage = stage, .stages = COUNT(stage)};
    const weft_options options = {.device = device};
    weft_composition plan = NULL;
    weft_box box;
    size_t bytes = 0;
    void *out[2] = {NULL, NULL};
    if (weft_composition_create(ctx, &p, &options, &plan) != WEFT_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", rank, weft_last_error(ctx));
        failures++;
        return;
    }
    const bool refused =
        weft_composition_box(plan, 4, 0, &box) == WEFT_ERROR_INVALID_ARGUMENT &&
        weft_composition_bytes(plan, 2, &bytes) == WEFT_ERROR_INVALID_ARGUMENT &&
        weft_execute(plan, WEFT_FORWARD, NULL, NULL) == WEFT_ERROR_INVALID_ARGUMENT &&
        weft_composition_execute(NULL, NULL, out) == WEFT_ERROR_INVALID_ARGUMENT &&
        weft_composition_execute(plan, NULL, NULL) == WEFT_ERROR_INVALID_ARGUMENT &&
        weft_composition_execute(plan, NULL, out) == WEFT_ERROR_INVALID_ARGUMENT;
    if (!refused || !strstr(weft_last_error(ctx), "is NULL; it needs")) {
        fprintf(stderr, "rank %d: a wrong call was taken: %s\n", rank, weft_last_error(ctx));
        failures++;
    }
    weft_composition_destroy(&plan);
}

/* ---- parameters and reductions of several plans ---- */

/* By parameter 0. */
static void scale_by_parameter(const weft_operator_run *run, void *unused) {
    (void)unused;
    for (int64_t i = 0; i < (run->complex_elements ? 2 : 1) * run->count; i++)
        ((double *)run->data)[i] *= run->parameter[0];
}

/* The norm is kept by transforms that are orthonormal, and doubled by a parameter on the way. */
static void check_settings(void) {
    const weft_operator norm[] = {
        {.kind = WEFT_OPERATOR_REDUCE, .reduction = WEFT_NORM},
        {.kind = WEFT_OPERATOR_REDUCE, .reduction = WEFT_NORM, .array = 1},
        {.kind = WEFT_OPERATOR_FUNCTION,
         .function = scale_by_parameter,
         .snippet = "value.x *= parameter[0]; value.y *= parameter[0];",
         .parameters = 1}};
    const weft_stage stage[] = {
        {.kind = WEFT_STAGE_FORWARD}, {.kind = WEFT_STAGE_POINTWISE, .operators = {&norm[0], 1}},
        {.kind = WEFT_STAGE_INVERSE}, {.kind = WEFT_STAGE_POINTWISE, .operators = {&norm[2], 1}},
        {.kind = WEFT_STAGE_FORWARD}, {.kind = WEFT_STAGE_POINTWISE, .operators = {&norm[1], 1}}};
    compose_case c = {.problem = {.rank = 2,
                                  .n = {8, 6},
                                  .norm = WEFT_NORM_ORTHO,
                                  .stage = stage,
                                  .stages = COUNT(stage)},
                      .options = {.device = device, .location = WEFT_LOCATION_HOST},
                      .text = "parameters and reductions"};
    weft_composition plan = NULL;
    size_t bytes[2] = {0, 0};
    double first[2] = {0, 0}, second[2] = {0, 0};
    if (weft_composition_create(ctx, &c.problem, &c.options, &plan) != WEFT_SUCCESS) {
        fail(&c, weft_last_error(ctx));
        return;
    }
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
    weft_composition_bytes(plan, 0, &bytes[1]);
    double *in = malloc(bytes[0] + 1), *out = malloc(bytes[1] + 1);
    for (size_t i = 0; i < bytes[0] / sizeof *in; i++) in[i] = (float)random_number();
    for (int twice = 0; twice < 2; twice++) {
        void *arrays[] = {out};
        const double factor = 2 + twice;
        if (weft_plan_set_parameter(plan, 0, factor) != WEFT_SUCCESS ||
            weft_composition_execute(plan, in, arrays) != WEFT_SUCCESS ||
            weft_plan_reduction(plan, 0, first) != WEFT_SUCCESS ||
            weft_plan_reduction(plan, 1, second) != WEFT_SUCCESS)
            fail(&c, weft_last_error(ctx));
        else if (!(first[0] > 0 && fabs(second[0] - factor * first[0]) < 1e-13 * second[0]))
            fail(&c, "the norm behind the second transform is not that of the first");
    }
    if (weft_plan_set_parameter(plan, 1, 0) != WEFT_ERROR_INVALID_ARGUMENT ||
        weft_plan_reduction(plan, 2, first) != WEFT_ERROR_INVALID_ARGUMENT ||
        weft_plan_set_array(plan, 0, in) != WEFT_ERROR_INVALID_ARGUMENT)
        fail(&c, "numbers that no operator has are taken");
    free(in);
    free(out);
    weft_composition_destroy(&plan);
    weft_stage same[COUNT(stage)];
    memcpy(same, stage, sizeof stage);
    same[5].operators.list = &norm[0];
    c.problem.stage = same;
    expect_refusal(&c.problem, &c.options, "has a reduction with the number of another");
}

int main(int count, char **words) {
    int provided;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int cases = atoi(value_of(count, words, "--cases", "200"));
    const int only = atoi(value_of(count, words, "--case", "-1"));
    const uint64_t seed = strtoull(value_of(count, words, "--seed", "31"), NULL, 10);
    device = device_named(value_of(count, words, "--device", "host"));
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        printf("%s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (only < 0) {
        check_parts();
        check_workspaces();
        check_refusals();
        check_calls();
        check_settings();
    }
    for (int i = 0; i < cases; i++)
        if (only < 0 || only == i) try_case(i, seed);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cases (seed %llu), of which %d are not to be had here, %d failed\n", cases,
               (unsigned long long)seed, refusals, failures);
    MPI_Finalize();
    return failures == 0 && refusals * 3 <= cases ? 0 : 1;
}
