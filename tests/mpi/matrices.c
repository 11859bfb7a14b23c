/*
 * Matrices of the fields of a point: random numbers of fields, shapes, precisions and
 * decompositions on any number of ranks, forward and there and back, against the same product
 * computed directly between transforms on one rank. Matrices are functions, snippets on devices
 * that want those, and arrays that are replaced between executions. Then what is refused, on all
 * ranks.
 *
 *   matrices [--cases N] [--seed S] [--case C] [--device host|simulated|opencl|cuda]
 */
#include "mpi/words.h"
#include "promised_device.h"
#include "random_numbers.h"

#include <weft/weft_mpi.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = 3, FEW_FIELDS = 7, ARRAY = 5 };

static int rank, ranks, failures;
static weft_device device;
static weft_context ctx, alone;

typedef struct matrix_case {
    weft_problem problem;
    weft_options options;
    weft_operator list[2];
    bool identity; /* in place of transforms, whose kernels take long to compile */
    char text[512], snippet[512];
} matrix_case;

static void fail(const matrix_case *c, const char *what) {
    fprintf(stderr, "rank %d of %d: %s: %s\n", rank, ranks, c->text, what);
    failures++;
}

static bool succeeds(const matrix_case *c, weft_context context, weft_status status) {
    if (status == WEFT_SUCCESS) return true;
    fail(c, weft_last_error(context));
    return false;
}

/* ---- matrices ---- */

static double parameter; /* what a function and a snippet multiply by */

/* An entry of the matrix that functions and snippets know: a small integer. */
static int64_t small_integer(const int64_t *index, int axes, int64_t batch, int g, int f) {
    int64_t sum = 3 * batch + 5 * g + 7 * f;
    for (int a = 0; a < axes; a++) sum += (a + 1) * index[a];
    return sum % 11 - 4;
}

static const char snippet_format[] = "for (int g = 0; g < %d; ++g)\n"
                                     "for (int f = 0; f < %d; ++f) {\n"
                                     "    long64 sum = 3 * batch + 5 * g + 7 * f;\n"
                                     "    for (int a = 0; a < %d; ++a) sum += (a + 1) * index[a];\n"
                                     "    const real w = parameter[1] * (real)(sum %% 11 - 4);\n"
                                     "    out[g].x += w * in[f].x / (real)n[0];\n"
                                     "    out[g].y += w * in[f].y / (real)n[0];\n"
                                     "}\n";

static double get(const void *array, weft_precision precision, int64_t i) {
    return precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                    : ((const double *)array)[i];
}

static void put(void *array, weft_precision precision, int64_t i, double x) {
    if (precision == WEFT_SINGLE)
        ((float *)array)[i] = (float)x;
    else
        ((double *)array)[i] = x;
}

/* The argument is the number of axes, and the extent of the first one. */
static void matrix_function(const weft_fields_run *run, void *argument) {
    const int64_t *shape = argument;
    for (int64_t i = 0; i < 2 * run->count; i++) { /* both parts */
        double made[WEFT_MAX_FIELDS] = {0};
        int64_t index[WEFT_MAX_RANK];
        memcpy(index, run->index, sizeof index);
        index[run->axis] += i / 2;
        for (int g = 0; g < run->out_fields; g++)
            for (int f = 0; f < run->in_fields; f++)
                made[g] += run->parameter[1] *
                           (double)small_integer(index, (int)shape[0], run->batch, g, f) *
                           get(run->in[f], run->precision, i / 2 * 2 * run->in_stride + i % 2) /
                           (double)shape[1];
        for (int g = 0; g < run->out_fields; g++)
            put(run->out[g], run->precision, i / 2 * 2 * run->out_stride + i % 2, made[g]);
    }
}

/* A number in [-1, 1) that depends on the index; exact in single precision. */
static double hashed(const int64_t *index, int axes, int64_t which) {
    uint64_t z = 0x51ed27 + (uint64_t)which * 7919;
    for (int a = 0; a < axes; a++) z = (z ^ (uint64_t)index[a]) * 0xbf58476d1ce4e5b9u + 77;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(float)((double)(z >> 40) * 0x1p-23 - 1);
}

static bool is_array(const matrix_case *c) {
    return c->list[0].kind == WEFT_OPERATOR_MATRIX_ARRAY;
}

/* Entry (g, f) of an array's matrix, of the array that is set at a time. */
static double complex array_entry(const matrix_case *c, const int64_t *index, int time, int g,
                                  int f) {
    const int64_t which = 2 * ((time * WEFT_MAX_FIELDS + g) * WEFT_MAX_FIELDS + f);
    const double re = hashed(index, c->problem.rank, 1000 + which);
    return c->list[0].complex_factors ? re + hashed(index, c->problem.rank, 1001 + which) * I : re;
}

static double complex entry(const matrix_case *c, const int64_t *index, const int64_t *n,
                            int64_t batch, int time, int g, int f) {
    const double factor = c->problem.spectral.count == 2 ? c->list[1].factor : 1;
    if (is_array(c)) return factor * array_entry(c, index, time, g, f);
    return factor * parameter * (double)small_integer(index, c->problem.rank, batch, g, f) /
           (double)n[0];
}

/* ---- arrays ---- */

typedef struct layout {
    int rank;
    weft_box box;
    int64_t points, batch, fields;
    bool fields_fastest;
} layout;

static layout layout_of(const matrix_case *c, weft_plan plan, int of_rank, weft_space space) {
    const weft_problem *p = &c->problem;
    layout l = {.rank = p->rank,
                .points = 1,
                .batch = p->batch > 0 ? p->batch : 1,
                .fields = space == WEFT_INPUT ? p->fields : p->result_fields,
                .fields_fastest = p->fields_fastest};
    weft_plan_box(plan, space, of_rank, &l.box);
    for (int a = 0; a < p->rank; a++) l.points *= l.box.n[a];
    return l;
}

static void index_of(const layout *l, int64_t point, int64_t *index) {
    for (int a = l->rank - 1; a >= 0; a--) {
        index[a] = l->box.lo[a] + point % l->box.n[a];
        point /= l->box.n[a];
    }
}

/* The place of an element. */
static int64_t place(const layout *l, int64_t batch, int64_t field, int64_t point) {
    return l->fields_fastest ? point * l->fields + field
                             : (batch * l->fields + field) * l->points + point;
}

static int64_t elements(const layout *l) {
    return l->batch * l->fields * l->points;
}

/* A random field, the same for all ranks, in an array of this layout. */
static void fill_input(const matrix_case *c, const layout *l, weft_precision precision,
                       void *array) {
    const int numbers = c->problem.kind == WEFT_R2C ? 1 : 2;
    int64_t index[WEFT_MAX_RANK];
    for (int64_t i = 0; i < l->batch * l->fields * numbers; i++)
        for (int64_t point = 0; point < l->points; point++) {
            const int64_t member = i / numbers;
            index_of(l, point, index);
            put(array, precision,
                place(l, member / l->fields, member % l->fields, point) * numbers + i % numbers,
                hashed(index, l->rank, i));
        }
}

/* ---- direct computation ---- */

/* What the transforms of all fields come to on this rank alone: the whole spectrum of the fields
 * that are made, and what goes back, in double precision. */
typedef struct reference {
    layout in, spectrum, back;
    void *made, *result;
} reference;

static weft_problem plain_problem(const matrix_case *c, int64_t fields) {
    weft_problem p = c->problem;
    p.fields = p.result_fields = fields;
    p.precision = WEFT_DOUBLE;
    p.spectral = (weft_operators){NULL, 0};
    return p;
}

static bool transform(const matrix_case *c, int64_t fields, weft_direction direction,
                      const void *in, void *out) {
    const weft_problem p = plain_problem(c, fields);
    const weft_options options = {.placement = WEFT_OUT_OF_PLACE,
                                  .engine = c->identity ? WEFT_ENGINE_IDENTITY : WEFT_ENGINE_AUTO};
    weft_plan plan = NULL;
    const bool good = succeeds(c, alone, weft_plan_create(alone, &p, &options, &plan)) &&
                      succeeds(c, alone, weft_execute(plan, direction, in, out));
    weft_plan_destroy(&plan);
    return good;
}

static void multiply_directly(const matrix_case *c, const layout *from, const layout *to, int time,
                              const double complex *spectrum, double complex *made) {
    int64_t index[WEFT_MAX_RANK];
    for (int64_t b = 0; b < to->batch; b++)
        for (int64_t point = 0; point < to->points; point++) {
            index_of(to, point, index);
            for (int g = 0; g < to->fields; g++) {
                double complex sum = 0;
                for (int f = 0; f < from->fields; f++)
                    sum += entry(c, index, to->box.n, b, time, g, f) *
                           spectrum[place(from, b, f, point)];
                made[place(to, b, g, point)] = sum;
            }
        }
}

static bool compute_reference(const matrix_case *c, int time, reference *r) {
    const weft_problem one = plain_problem(c, c->problem.fields);
    weft_plan plan = NULL;
    if (!succeeds(c, alone, weft_plan_create(alone, &one, NULL, &plan))) return false;
    r->in = layout_of(c, plan, 0, WEFT_INPUT);
    r->spectrum = layout_of(c, plan, 0, WEFT_OUTPUT);
    r->back = r->in;
    r->back.fields = c->problem.result_fields;
    layout before = r->spectrum;
    before.fields = c->problem.fields;
    weft_plan_destroy(&plan);
    const size_t number = sizeof(double complex);
    void *in = malloc((size_t)elements(&r->in) * number);
    void *spectrum = malloc((size_t)elements(&before) * number);
    void *copy = malloc((size_t)elements(&r->spectrum) * number);
    r->made = malloc((size_t)elements(&r->spectrum) * number);
    r->result = malloc((size_t)elements(&r->back) * number);
    fill_input(c, &r->in, WEFT_DOUBLE, in);
    bool good = transform(c, c->problem.fields, WEFT_FORWARD, in, spectrum);
    multiply_directly(c, &before, &r->spectrum, time, spectrum, r->made);
    memcpy(copy, r->made, (size_t)elements(&r->spectrum) * number);
    good = good && transform(c, c->problem.result_fields, WEFT_INVERSE, copy, r->result);
    free(copy);
    free(spectrum);
    free(in);
    return good;
}

static void release(reference *r) {
    free(r->made);
    free(r->result);
}

/* ---- a case ---- */

static const weft_precision of_reference = WEFT_DOUBLE;

/* Compares this rank's part with that of the reference, relative to the largest number of all. */
static void compare(const matrix_case *c, const char *what, const layout *mine, const void *got,
                    const layout *all, const void *expected, int numbers) {
    const weft_precision precision = c->problem.precision;
    double largest = 0, off = 0;
    int64_t index[WEFT_MAX_RANK];
    for (int64_t i = 0; i < elements(all) * numbers; i++)
        largest = fmax(largest, fabs(get(expected, of_reference, i)));
    for (int64_t i = 0; i < mine->batch * mine->fields * numbers; i++)
        for (int64_t point = 0; point < mine->points; point++) {
            const int64_t member = i / numbers, b = member / mine->fields,
                          g = member % mine->fields;
            int64_t there = 0;
            index_of(mine, point, index);
            for (int a = 0; a < mine->rank; a++) there = there * all->box.n[a] + index[a];
            const double x = get(got, precision, place(mine, b, g, point) * numbers + i % numbers);
            const double y =
                get(expected, of_reference, place(all, b, g, there) * numbers + i % numbers);
            off = fmax(off, isnan(x) ? INFINITY : fabs(x - y));
        }
    if (off <= (precision == WEFT_SINGLE ? 1e-5 : 1e-13) * fmax(largest, 1)) return;
    char text[128];
    snprintf(text, sizeof text, "%s is off by %g of %g", what, off, largest);
    fail(c, text);
}

/* Memory of the plan for this rank's array; NULL where it has none. */
static bool make_buffer(const matrix_case *c, weft_plan plan, const void *host, size_t bytes,
                        void **buffer) {
    *buffer = NULL;
    if (bytes == 0) return true;
    return succeeds(c, ctx, weft_buffer_create(plan, bytes, buffer)) &&
           (!host || succeeds(c, ctx, weft_buffer_upload(plan, *buffer, host, bytes)));
}

/* Gives the matrices of a time to the plan. */
static bool set_matrices(const matrix_case *c, weft_plan plan, const layout *l, int time,
                         void **buffer) {
    const weft_precision precision = c->problem.precision;
    const int width = c->list[0].complex_factors ? 2 : 1;
    const int64_t entries = c->problem.fields * c->problem.result_fields;
    const size_t number = precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    const size_t bytes = (size_t)(entries * l->points * width) * number;
    char *host = malloc(bytes + 1);
    int64_t index[WEFT_MAX_RANK];
    for (int64_t e = 0; e < entries; e++)
        for (int64_t point = 0; point < l->points; point++) {
            index_of(l, point, index);
            const double complex value = array_entry(c, index, time, (int)(e / c->problem.fields),
                                                     (int)(e % c->problem.fields));
            put(host, precision, (e * l->points + point) * width, creal(value));
            if (width == 2) put(host, precision, (e * l->points + point) * width + 1, cimag(value));
        }
    const bool good = make_buffer(c, plan, host, bytes, buffer) &&
                      succeeds(c, ctx, weft_plan_set_array(plan, ARRAY, *buffer));
    free(host);
    return good;
}

typedef struct run {
    weft_plan plan;
    size_t bytes[3]; /* by space */
    void *in, *out, *back, *matrices;
    char *host;
} run;

/* Executes and fetches what comes out; on devices the third time by a graph. */
static bool run_way(const matrix_case *c, run *r, const layout *in, weft_direction direction) {
    const size_t in_bytes = r->bytes[WEFT_INPUT];
    const size_t out_bytes = r->bytes[direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT];
    void *out = direction == WEFT_FORWARD ? r->out : r->back;
    if (c->options.placement == WEFT_IN_PLACE) out = r->in;
    fill_input(c, in, c->problem.precision, r->host);
    for (int times = 0; times < 3; times++) {
        if (in_bytes > 0 &&
            !succeeds(c, ctx, weft_buffer_upload(r->plan, r->in, r->host, in_bytes)))
            return false;
        if (!succeeds(c, ctx, weft_execute(r->plan, direction, r->in, out))) return false;
    }
    return out_bytes == 0 ||
           succeeds(c, ctx, weft_buffer_download(r->plan, r->host, out, out_bytes));
}

static bool execute(const matrix_case *c, run *r, int time) {
    const layout in = layout_of(c, r->plan, rank, WEFT_INPUT);
    const layout spectrum = layout_of(c, r->plan, rank, WEFT_OUTPUT);
    const layout back = layout_of(c, r->plan, rank, WEFT_RESULT);
    const int numbers = c->problem.kind == WEFT_R2C ? 1 : 2;
    reference direct = {.made = NULL};
    parameter = 0.25 + time;
    bool good = compute_reference(c, time, &direct);
    if (is_array(c))
        good = good && set_matrices(c, r->plan, &spectrum, time, &r->matrices);
    else
        good = good && succeeds(c, ctx, weft_plan_set_parameter(r->plan, 1, parameter));
    if (good) good = run_way(c, r, &in, WEFT_FORWARD);
    if (good) compare(c, "the spectrum", &spectrum, r->host, &direct.spectrum, direct.made, 2);
    if (good) good = run_way(c, r, &in, WEFT_CONVOLVE);
    if (good) compare(c, "the result", &back, r->host, &direct.back, direct.result, numbers);
    release(&direct);
    return good;
}

static bool explains(const matrix_case *c, weft_plan plan) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const bool good = succeeds(c, ctx, weft_plan_explain(plan, stream, WEFT_TEXT));
    fclose(stream);
    const char *step = strstr(text, "pointwise");
    const bool named = step && strstr(step, is_array(c) ? "matrix array 5" : "matrix of 2 par");
    free(text);
    if (good && rank == 0 && !named) fail(c, "weft_plan_explain names no matrix");
    return good;
}

static void run_case(const matrix_case *c) {
    run r = {.plan = NULL};
    size_t most = 1;
    bool good = succeeds(c, ctx, weft_plan_create(ctx, &c->problem, &c->options, &r.plan)) &&
                explains(c, r.plan);
    for (int space = WEFT_INPUT; space <= WEFT_RESULT && good; space++) {
        good = succeeds(c, ctx, weft_plan_bytes(r.plan, (weft_space)space, &r.bytes[space]));
        if (r.bytes[space] > most) most = r.bytes[space];
    }
    r.host = malloc(most);
    good = good && make_buffer(c, r.plan, NULL, most, &r.in) &&
           make_buffer(c, r.plan, NULL, r.bytes[WEFT_OUTPUT], &r.out) &&
           make_buffer(c, r.plan, NULL, r.bytes[WEFT_RESULT], &r.back);
    for (int time = 0; time < 2 && good; time++) {
        void *before = r.matrices;
        good = execute(c, &r, time);
        if (r.matrices != before) weft_buffer_destroy(r.plan, &before);
    }
    weft_buffer_destroy(r.plan, &r.in);
    weft_buffer_destroy(r.plan, &r.out);
    weft_buffer_destroy(r.plan, &r.back);
    weft_buffer_destroy(r.plan, &r.matrices);
    free(r.host);
    weft_plan_destroy(&r.plan);
}

static void choose_operators(matrix_case *c, int64_t shape[2]) {
    weft_problem *p = &c->problem;
    c->list[0] = (weft_operator){
        .kind = WEFT_OPERATOR_MATRIX_ARRAY, .array = ARRAY, .complex_factors = random_below(2)};
    shape[0] = p->rank;
    shape[1] = p->kind == WEFT_R2C && p->rank == 1 ? p->n[0] / 2 + 1 : p->n[0];
    snprintf(c->snippet, sizeof c->snippet, snippet_format, (int)p->result_fields, (int)p->fields,
             p->rank);
    if (random_below(2))
        c->list[0] = (weft_operator){.kind = WEFT_OPERATOR_MATRIX,
                                     .matrix = matrix_function,
                                     .argument = shape,
                                     .snippet = c->snippet,
                                     .parameters = 2};
    c->list[1] = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = -0.75};
    p->spectral = (weft_operators){c->list, 1 + random_below(2)};
}

static void choose_options(matrix_case *c) {
    static const weft_decomposition decompositions[] = {WEFT_DECOMPOSITION_AUTO, WEFT_SLAB_2D1D,
                                                        WEFT_SLAB_1D2D, WEFT_PENCIL};
    weft_options *o = &c->options;
    *o = (weft_options){.device = device,
                        .variant = (weft_variant)random_below(3),
                        .threads = 1 + random_below(2),
                        .chunks = random_below(3),
                        .convolve = 1};
    if (c->problem.rank > 1) o->decomposition = decompositions[random_below(4)];
    if (c->problem.fields == c->problem.result_fields && random_below(2))
        o->placement = WEFT_IN_PLACE;
    /* What is made here is no longer the spectrum of real numbers, as cuFFT wants it. */
    if (device == WEFT_CUDA && (c->problem.kind == WEFT_R2C || random_below(2)))
        o->engine = WEFT_ENGINE_JIT;
    if (device == WEFT_HOST && random_below(2)) o->engine = WEFT_ENGINE_REFERENCE;
    if (c->identity) o->engine = WEFT_ENGINE_IDENTITY;
}

static void random_case(int number, uint64_t seed) {
    matrix_case c = {.options = {.device = device}};
    weft_problem *p = &c.problem;
    int64_t shape[2];
    random_state = seed * 1000003 + (uint64_t)number;
    p->rank = ranks > 1 ? 2 + random_below(2) : 1 + random_below(MAX_AXES);
    for (int a = 0; a < p->rank; a++) p->n[a] = 1 + random_below(random_below(3) ? 10 : 3);
    if (ranks == 1 && random_below(8) == 0) p->n[p->rank - 1] = 700; /* several pieces */
    c.identity = device_compiles(device) && number % 4 != 0;
    p->kind = random_below(2) && !c.identity ? WEFT_R2C : WEFT_C2C;
    p->precision = random_below(3) ? WEFT_DOUBLE : WEFT_SINGLE;
    p->norm = random_below(2) ? WEFT_NORM_ORTHO : WEFT_NORM_BACKWARD;
    const int most = number % 8 == 7 ? WEFT_MAX_FIELDS : FEW_FIELDS;
    p->fields = 1 + random_below(most);
    p->result_fields = random_below(3) ? 1 + random_below(most) : p->fields;
    p->fields_fastest = random_below(2);
    p->batch = p->fields_fastest ? 1 : 1 + random_below(3);
    choose_operators(&c, shape);
    choose_options(&c);
    snprintf(c.text, sizeof c.text,
             "case %d: %s %s %s%s, n %dx%dx%d of %d, batch %d, %d of %d fields%s, %s, variant %d, "
             "engine %s, threads %d, chunks %d%s",
             number, weft_kind_name(p->kind), weft_precision_name(p->precision),
             weft_operator_kind_name(c.list[0].kind), c.list[0].complex_factors ? " of pairs" : "",
             (int)p->n[0], (int)p->n[1], (int)p->n[2], p->rank, (int)p->batch,
             (int)p->result_fields, (int)p->fields, p->fields_fastest ? ", fastest" : "",
             weft_decomposition_name(c.options.decomposition), (int)c.options.variant,
             weft_engine_name(c.options.engine), c.options.threads, c.options.chunks,
             c.options.placement == WEFT_IN_PLACE ? ", in place" : "");
    run_case(&c);
}

/* ---- what is refused ---- */

static void refuses(weft_status got, const weft_plan plan, const char *words) {
    if (got != WEFT_SUCCESS && !plan && strstr(weft_last_error(ctx), words)) return;
    failures++;
    fprintf(stderr, "rank %d: %s: %s, not: %s\n", rank, weft_status_name(got), weft_last_error(ctx),
            words);
}

static void ranks_agree_on_what_is_refused(void) {
    int64_t shape[2] = {2, 6};
    weft_operator matrix = {.kind = WEFT_OPERATOR_MATRIX_ARRAY, .array = rank == 0 ? 3 : 4};
    weft_problem problem = {.rank = 2, .n = {6, 8}, .fields = 2, .spectral = {&matrix, 1}};
    const weft_options options = {.device = device};
    weft_plan plan = NULL;
    if (ranks > 1)
        refuses(weft_plan_create(ctx, &problem, &options, &plan), plan,
                "another matrix array operator in problem.spectral");
    weft_plan_destroy(&plan);
    matrix = (weft_operator){.kind = WEFT_OPERATOR_MATRIX,
                             .argument = shape,
                             .matrix = matrix_function,
                             .snippet = rank == 0 ? ";" : "out[0] = in[0];"};
    if (ranks > 1)
        refuses(weft_plan_create(ctx, &problem, &options, &plan), plan,
                "another matrix operator in problem.spectral");
    weft_plan_destroy(&plan);
    matrix.snippet = rank == ranks - 1 ? NULL : ";";
    if (rank == ranks - 1) matrix.matrix = NULL;
    refuses(weft_plan_create(ctx, &problem, &options, &plan), plan, "matrix is NULL");
    weft_plan_destroy(&plan);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int cases = atoi(value_of(count, words, "--cases", "80"));
    const int only = atoi(value_of(count, words, "--case", "-1"));
    const uint64_t seed = strtoull(value_of(count, words, "--seed", "1"), NULL, 10);
    device = device_named(value_of(count, words, "--device", "host"));
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        fprintf(stderr, "matrices: %s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS ||
        weft_context_create(NULL, &alone) != WEFT_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (only < 0) ranks_agree_on_what_is_refused();
    for (int i = 0; i < cases; i++)
        if (only < 0 || only == i) random_case(i, seed);
    weft_context_destroy(&alone);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cases (seed %llu), %d failures\n", cases, (unsigned long long)seed, failures);
    MPI_Finalize();
    return failures != 0;
}
