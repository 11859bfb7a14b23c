/*
 * Fourier, cosine and sine transforms mixed over the axes of real and complex arrays, axes left as
 * they are among them: random problems over ranks, against the definition in long double, by every
 * decomposition, exchange method and engine, between bricks, in tiles, in and out of place. With
 * another device than the host, by its engine.
 *
 *   mixed_axes [--cases N] [--seed S] [--device host|opencl|cuda]
 */
#include "promised_device.h"
#include "random_numbers.h"
#include "support/exact_dft.h"
#include "support/exact_r2r.h"

#include <weft/weft_mpi.h>

#include <stdio.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__ /* which takes ten times as long */
enum { CASES = 40 };
#else
enum { CASES = 150 };
#endif

static int rank, ranks, failures, executions, refusals;
static weft_device device;
static weft_context ctx;

/* A problem, and its whole arrays in both spaces, the batch slowest: the output is the unscaled
 * forward transform of the input. */
typedef struct mixed_case {
    weft_problem problem;
    weft_options options;
    weft_brick input, output;
    exact_complex *whole[2];
    char text[512];
} mixed_case;

static int64_t extent(const weft_problem *p, weft_space space, int axis) {
    return space == WEFT_OUTPUT && axis == weft_axis_halved(p) ? p->n[axis] / 2 + 1 : p->n[axis];
}

static int parts_of(const weft_problem *p, weft_space space) {
    return p->kind == WEFT_C2C || (p->kind == WEFT_R2C && space == WEFT_OUTPUT) ? 2 : 1;
}

static int64_t elements_of(const weft_problem *p, const int64_t *n) {
    int64_t count = p->batch;
    for (int a = 0; a < p->rank; a++) count *= n[a];
    return count;
}

/* ---- the definition ---- */

static void define_axis(weft_axis type, int64_t outer, int64_t n, int64_t inner, exact_complex *x) {
    const int64_t count = outer * n * inner;
    if (weft_axis_is_fourier(type)) {
        exact_dft_axis(outer, n, inner, -1, x);
        return;
    }
    long double *part = malloc(2 * (size_t)count * sizeof *part);
    for (int64_t i = 0; i < count; i++) {
        part[i] = creall(x[i]);
        part[count + i] = cimagl(x[i]);
    }
    r2r_define_axis(type, 2 * outer, n, inner, part);
    for (int64_t i = 0; i < count; i++) x[i] = part[i] + part[count + i] * I;
    free(part);
}

/* Keeps the first n/2+1 along the halved axis. */
static void halve(const weft_problem *p, exact_complex *x) {
    const int halved = weft_axis_halved(p);
    int64_t outer = p->batch, inner = 1;
    if (halved < 0) return;
    for (int a = 0; a < halved; a++) outer *= p->n[a];
    for (int a = halved + 1; a < p->rank; a++) inner *= p->n[a];
    const int64_t kept = (p->n[halved] / 2 + 1) * inner, all = p->n[halved] * inner;
    for (int64_t i = 0; i < outer; i++)
        memmove(x + i * kept, x + i * all, (size_t)kept * sizeof *x);
}

static void make_arrays(mixed_case *c) {
    const weft_problem *p = &c->problem;
    const int64_t count = elements_of(p, p->n);
    for (int s = 0; s < 2; s++) c->whole[s] = malloc((size_t)count * sizeof *c->whole[s]);
    for (int64_t i = 0; i < count; i++) {
        const float re = (float)random_number();
        const float im = (float)random_number();
        c->whole[WEFT_INPUT][i] = p->kind == WEFT_C2C ? re + im * I : re;
        c->whole[WEFT_OUTPUT][i] = c->whole[WEFT_INPUT][i];
    }
    int64_t outer = p->batch, inner = count / outer;
    for (int a = 0; a < p->rank; a++) {
        inner /= p->n[a];
        define_axis(p->axis[a], outer, p->n[a], inner, c->whole[WEFT_OUTPUT]);
        outer *= p->n[a];
    }
    halve(p, c->whole[WEFT_OUTPUT]);
}

/* ---- random problems ---- */

/* A brick that shares out one axis. */
static weft_brick brick_of(const weft_problem *p, weft_space space, int axis) {
    weft_brick brick = {.order = {0}};
    for (int a = 0; a < WEFT_MAX_RANK; a++) brick.box.n[a] = a < p->rank ? extent(p, space, a) : 1;
    const int64_t n = brick.box.n[axis];
    brick.box.lo[axis] = n * rank / ranks;
    brick.box.n[axis] = n * (rank + 1) / ranks - brick.box.lo[axis];
    return brick;
}

static void choose_problem(weft_problem *p) {
    bool fourier = false, any = false;
    *p = (weft_problem){.rank = 2 + random_below(3),
                        .kind = (weft_kind)random_below(3),
                        .precision = random_below(4) ? WEFT_DOUBLE : WEFT_SINGLE,
                        .batch = 1 + random_below(2) * random_below(3),
                        .norm = (weft_norm)random_below(4)};
    if (ranks == 1 && random_below(6) == 0) p->rank = 1;
    for (int a = 0; a < p->rank; a++) {
        p->n[a] = 1 + random_below(p->rank > 3 ? 7 : 12);
        p->axis[a] = random_below(2) ? WEFT_AXIS_OF_KIND : (weft_axis)(1 + random_below(9));
        if (p->kind == WEFT_R2R && p->axis[a] == WEFT_AXIS_OF_KIND) p->axis[a] = WEFT_DCT2;
        if (p->axis[a] == WEFT_DCT1) p->n[a]++;
        fourier = fourier || p->axis[a] == WEFT_AXIS_OF_KIND;
        any = any || p->axis[a] != WEFT_AXIS_NONE;
    }
    if (p->kind == WEFT_R2C && !fourier) p->axis[random_below(p->rank)] = WEFT_AXIS_OF_KIND;
    if (!any) p->axis[0] = p->kind == WEFT_R2R ? WEFT_DST3 : WEFT_AXIS_OF_KIND;
    const int halved = random_below(2 * p->rank); /* half of the time the usual one */
    if (p->kind == WEFT_R2C && halved < p->rank && p->axis[halved] == WEFT_AXIS_OF_KIND)
        p->axis[halved] = WEFT_AXIS_REAL;
}

static void choose_options(mixed_case *c) {
    static const weft_engine engines[] = {WEFT_ENGINE_NATIVE, WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW,
                                          WEFT_ENGINE_REFERENCE};
    const int exchanges[] = {random_below(8), random_below(8), random_below(8)};
    weft_options *o = &c->options;
    *o = (weft_options){.decomposition = (weft_decomposition)random_below(WEFT_BRICK),
                        .variant = (weft_variant)random_below(3),
                        .engine = engines[random_below(4)],
                        .chunks = random_below(4),
                        .threads = 1 + random_below(2),
                        .convolve = random_below(2),
                        .placement = (weft_placement)random_below(3)};
    for (int i = 0; i < 3; i++)
        o->exchange[i] = exchanges[i] == WEFT_NCCL ? WEFT_PEER : (weft_exchange)exchanges[i];
    for (int i = 0; i < 3 && !device_has_peer(device); i++) /* partners cannot read its memory */
        if (o->exchange[i] == WEFT_PEER) o->exchange[i] = WEFT_P2P_SYNC;
    if (weft_engine_probe(o->engine, NULL) != WEFT_SUCCESS) o->engine = WEFT_ENGINE_NATIVE;
    if (device != WEFT_HOST) {
        o->device = device;
        o->engine = WEFT_ENGINE_AUTO;
        o->location = WEFT_LOCATION_HOST;
    } else if (random_below(5) == 0) {
        o->device = WEFT_SIMULATED;
        o->location = WEFT_LOCATION_HOST;
    }
    if (o->decomposition == WEFT_PENCIL && c->problem.rank > 2 && ranks % 2 == 0) {
        o->grid[0] = 2;
        o->grid[1] = ranks / 2;
    }
    if (c->problem.rank == 1) o->decomposition = WEFT_DECOMPOSITION_AUTO;
    if (random_below(4) > 0) return;
    o->decomposition = WEFT_DECOMPOSITION_AUTO;
    memset(o->grid, 0, sizeof o->grid);
    c->input = brick_of(&c->problem, WEFT_INPUT, random_below(c->problem.rank));
    c->output = brick_of(&c->problem, WEFT_OUTPUT, random_below(c->problem.rank));
    c->problem.input = &c->input;
    c->problem.output = &c->output;
}

static void describe(mixed_case *c, int number) {
    const weft_problem *p = &c->problem;
    const weft_options *o = &c->options;
    int at = snprintf(c->text, sizeof c->text, "case %d: %s %s batch %d:", number,
                      weft_kind_name(p->kind), weft_precision_name(p->precision), (int)p->batch);
    for (int a = 0; a < p->rank; a++)
        at += snprintf(c->text + at, sizeof c->text - (size_t)at, " %s[%d]",
                       weft_axis_name(p->axis[a]), (int)p->n[a]);
    snprintf(c->text + at, sizeof c->text - (size_t)at,
             "; %s%s %s %s %s, engine %s, device %s, chunks %d, placement %d",
             p->input ? "bricks " : "", weft_decomposition_name(o->decomposition),
             weft_variant_name(o->variant), weft_exchange_name(o->exchange[0]),
             weft_exchange_name(o->exchange[1]), weft_engine_name(o->engine),
             weft_device_name(o->device), o->chunks, o->placement);
}

/* ---- execution ---- */

/* The place in the whole array of element i of a box. */
static int64_t place_of(const weft_problem *p, weft_space space, const weft_box *box, int64_t i) {
    int64_t index[WEFT_MAX_RANK];
    for (int a = p->rank - 1; a >= 0; i /= box->n[a], a--) index[a] = box->lo[a] + i % box->n[a];
    int64_t place = i; /* what is left: the member of the batch */
    for (int a = 0; a < p->rank; a++) place = place * extent(p, space, a) + index[a];
    return place;
}

/* What the plan multiplies by, beside the unscaled transform. */
static long double scale_of(const weft_problem *p, weft_direction direction) {
    long double all = 1;
    if (direction == WEFT_CONVOLVE) return scale_of(p, WEFT_FORWARD) * scale_of(p, WEFT_INVERSE);
    for (int a = 0; a < p->rank; a++) all *= weft_axis_length(p->axis[a], p->n[a]);
    const bool forward = direction == WEFT_FORWARD;
    const long double unscaled = forward ? 1 : all; /* the inverse of the forward transform */
    if (p->norm == WEFT_NORM_ORTHO) return unscaled / sqrtl(all);
    if (p->norm == (forward ? WEFT_NORM_FORWARD : WEFT_NORM_BACKWARD)) return unscaled / all;
    return unscaled;
}

static void fail(const mixed_case *c, weft_direction direction, bool in_place, const char *what,
                 double number) {
    static const char *const names[] = {"forward", "inverse", "convolve"};
    fprintf(stderr, "rank %d of %d: %s: %s%s: %s %g\n", rank, ranks, c->text, names[direction],
            in_place ? " in place" : "", what, number);
    failures++;
}

static void check(const mixed_case *c, weft_direction direction, bool in_place, const void *result,
                  const weft_box *box) {
    const weft_problem *p = &c->problem;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    const double allowed = p->precision == WEFT_SINGLE ? 3e-6 : 6e-15;
    const long double scale = scale_of(p, direction);
    const int parts = parts_of(p, to);
    int64_t all = p->batch;
    long double size = 0, worst = 0;
    for (int a = 0; a < p->rank; a++) all *= extent(p, to, a);
    for (int64_t i = 0; i < all; i++) size += creall(c->whole[to][i] * conjl(c->whole[to][i]));
    size = sqrtl(size / (long double)all) * scale;
    for (int64_t i = 0; i < elements_of(p, box->n); i++)
        for (int part = 0; part < parts; part++) {
            const exact_complex expected = c->whole[to][place_of(p, to, box, i)] * scale;
            const long double number = part ? cimagl(expected) : creall(expected);
            const long double off =
                fabsl((long double)r2r_get(result, parts * i + part, p->precision) - number);
            worst = off <= worst ? worst : off; /* also where it is NaN */
        }
    if (!((double)(worst / size) <= allowed))
        fail(c, direction, in_place, "error", (double)(worst / size));
}

static void execute(weft_plan plan, const mixed_case *c, weft_direction direction, bool in_place) {
    const weft_problem *p = &c->problem;
    const weft_space from = direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    const int parts = parts_of(p, from);
    weft_box source, result;
    size_t bytes[2];
    weft_plan_box(plan, from, rank, &source);
    weft_plan_box(plan, to, rank, &result);
    weft_plan_bytes(plan, from, &bytes[0]);
    weft_plan_bytes(plan, to, &bytes[1]);
    const size_t room = (bytes[0] > bytes[1] ? bytes[0] : bytes[1]) + 1;
    void *in = malloc(room), *out = malloc(room), *before = malloc(room);
    memset(in, 0xff, room);
    memset(out, 0xff, room);
    for (int64_t i = 0; i < elements_of(p, source.n); i++) {
        const exact_complex x = c->whole[from][place_of(p, from, &source, i)];
        r2r_set(in, parts * i, p->precision, (double)creall(x));
        if (parts == 2) r2r_set(in, 2 * i + 1, p->precision, (double)cimagl(x));
    }
    memcpy(before, in, room);
    executions++;
    if (weft_execute(plan, direction, in, in_place ? in : out) != WEFT_SUCCESS)
        fail(c, direction, in_place, weft_last_error(ctx), 0);
    else
        check(c, direction, in_place, in_place ? in : out, &result);
    if (!in_place && memcmp(in, before, room) != 0) fail(c, direction, false, "input changed", 0);
    free(before);
    free(out);
    free(in);
}

static void run_case(mixed_case *c, int number) {
    weft_plan plan = NULL;
    describe(c, number);
    const weft_status status = weft_plan_create(ctx, &c->problem, &c->options, &plan);
    if (status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_INVALID_ARGUMENT) {
        if (!strstr(weft_last_error(ctx), "decomposition") && !strstr(weft_last_error(ctx), "grid"))
            fail(c, WEFT_FORWARD, false, weft_last_error(ctx), status);
        refusals++; /* a decomposition that needs more axes */
        return;
    }
    if (status != WEFT_SUCCESS) {
        fail(c, WEFT_FORWARD, false, weft_last_error(ctx), status);
        return;
    }
    make_arrays(c);
    for (int d = WEFT_FORWARD; d <= (c->options.convolve ? WEFT_CONVOLVE : WEFT_INVERSE); d++) {
        if (c->options.placement != WEFT_IN_PLACE) execute(plan, c, (weft_direction)d, false);
        if (c->options.placement != WEFT_OUT_OF_PLACE) execute(plan, c, (weft_direction)d, true);
    }
    weft_plan_destroy(&plan);
    free(c->whole[0]);
    free(c->whole[1]);
}

static void run_random_case(int number) {
    mixed_case c = {.options = {0}};
    choose_problem(&c.problem);
    choose_options(&c);
    run_case(&c, number);
}

/* Real lines there and back whose points come from all ranks and go to all of them: of some they
 * are an even number, of others an odd one. */
static void run_lines_over_all_ranks(void) {
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                            WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};
    for (int n = 2; n <= 3 * ranks; n++) {
        mixed_case c = {.problem = {.rank = 2,
                                    .n = {n, n},
                                    .kind = WEFT_R2C,
                                    .batch = 2,
                                    .axis = {WEFT_AXIS_OF_KIND, WEFT_DCT2}},
                        .options = {.decomposition = WEFT_PENCIL,
                                    .exchange = {methods[n % 6]},
                                    .device = device,
                                    .convolve = 1}};
        if (device != WEFT_HOST) c.options.location = WEFT_LOCATION_HOST;
        if (!device_has_peer(device)) c.options.exchange[0] = WEFT_P2P_SYNC;
        run_case(&c, -n);
    }
}

/* Reads the arguments; returns the number of cases. */
static int read_arguments(int argc, char **argv) {
    int cases = CASES;
    random_state = 22;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) random_state = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--device") == 0) device = device_named(argv[i + 1]);
    }
    return cases;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int cases = read_arguments(argc, argv);
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        fprintf(stderr, "mixed_axes: %s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) return 1;
    for (int i = 0; i < cases; i++) run_random_case(i);
    if (ranks > 1) run_lines_over_all_ranks();
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d executions, %d problems refused, %d failures\n", executions, refusals, failures);
    if (2 * refusals > cases) failures++; /* nothing would have been tested */
    MPI_Finalize();
    return failures > 0;
}
