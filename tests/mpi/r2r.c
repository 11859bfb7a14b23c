/*
 * Real-to-real transforms over ranks: types mixed over the axes, in slabs and pencils of uneven
 * sizes, by every exchange method, in both memory orders, in and out of place, and between bricks,
 * against their definition.
 */
#include "support/exact_r2r.h"

#include <weft/weft_mpi.h>

#include <stdio.h>
#include <string.h>

static int rank, ranks, failures, executions;
static weft_context ctx;

static bool succeeds(weft_status status, const char *what) {
    if (status == WEFT_SUCCESS) return true;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, weft_last_error(ctx));
    failures++;
    return false;
}

/* The array is the same for every case of a problem. */
static double value_at(int64_t place) {
    return sin(1.0 + 0.7 * (double)place * (double)(place % 17));
}

/* The place in the whole array of element i of a box. */
static int64_t place_of(const weft_problem *p, const weft_box *box, int64_t i) {
    int64_t index[WEFT_MAX_RANK], place = 0;
    for (int a = p->rank - 1; a >= 0; a--, i /= box->n[a + 1])
        index[a] = box->lo[a] + i % box->n[a];
    for (int a = 0; a < p->rank; a++) place = place * p->n[a] + index[a];
    return place;
}

static int64_t elements_of(const weft_problem *p, const int64_t *n) {
    int64_t count = 1;
    for (int a = 0; a < p->rank; a++) count *= n[a];
    return count;
}

/* Whole arrays of one problem: what is transformed is rounded to the problem's precision. */
static long double *make_exact(const weft_problem *p, weft_direction direction) {
    const int64_t count = elements_of(p, p->n);
    long double *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = p->precision == WEFT_SINGLE ? (long double)(float)value_at(i)
                                           : (long double)value_at(i);
    r2r_define(p, direction, x);
    return x;
}

/* The relative error on this rank's box, of what the whole array is on average. */
static double error_of(const weft_problem *p, const weft_box *box, const void *result,
                       const long double *exact) {
    const int64_t count = elements_of(p, box->n), all = elements_of(p, p->n);
    long double size = 0, worst = 0;
    for (int64_t i = 0; i < all; i++) size += exact[i] * exact[i];
    size = sqrtl(size / (long double)all);
    for (int64_t i = 0; i < count; i++) {
        const long double off =
            fabsl((long double)r2r_get(result, i, p->precision) - exact[place_of(p, box, i)]);
        worst = off <= worst ? worst : off; /* also where it is NaN */
    }
    return (double)(worst / size);
}

/* The result has the same bits with every exchange method: those of *first, which the first one
 * sets. */
static void compare_bits(const void *result, size_t bytes, void **first, const char *what) {
    if (!*first) {
        *first = malloc(bytes + 1);
        memcpy(*first, result, bytes);
    } else if (memcmp(*first, result, bytes) != 0) {
        fprintf(stderr, "rank %d: %s: other bits than with the first method\n", rank, what);
        failures++;
    }
}

static void execute(weft_plan plan, const weft_problem *p, weft_direction direction, bool in_place,
                    const long double *exact, void **first, const char *what) {
    const size_t number = p->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    const weft_space from = direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    const double allowed = p->precision == WEFT_SINGLE ? 3e-6 : 6e-15;
    weft_box source, result;
    size_t bytes[2];
    weft_plan_box(plan, from, rank, &source);
    weft_plan_box(plan, to, rank, &result);
    weft_plan_bytes(plan, from, &bytes[0]);
    weft_plan_bytes(plan, to, &bytes[1]);
    const size_t room = (bytes[0] > bytes[1] ? bytes[0] : bytes[1]) + 1;
    void *in = malloc(room), *out = malloc(room);
    memset(in, 0xff, room);
    memset(out, 0xff, room);
    for (int64_t i = 0; i < elements_of(p, source.n); i++)
        r2r_set(in, i, p->precision, value_at(place_of(p, &source, i)));
    executions++;
    if (succeeds(weft_execute(plan, direction, in, in_place ? in : out), what)) {
        const double error = error_of(p, &result, in_place ? in : out, exact);
        if (!(error <= allowed)) {
            fprintf(stderr, "rank %d: %s: %s%s: error %g\n", rank, what,
                    direction == WEFT_FORWARD ? "forward" : "inverse", in_place ? " in place" : "",
                    error);
            failures++;
        }
        if (first)
            compare_bits(in_place ? in : out, (size_t)elements_of(p, result.n) * number, first,
                         what);
    }
    free(out);
    free(in);
}

/* first: the results of each direction and placement, or NULL. */
static void run_case(const weft_problem *p, const weft_options *o, long double *const exact[2],
                     void *first[2][2]) {
    char what[256];
    weft_plan plan = NULL;
    snprintf(what, sizeof what, "%d axes, %s %s, grid %d,%d, %s, engine %s, device %s, chunks %d",
             p->rank, weft_decomposition_name(o->decomposition), weft_variant_name(o->variant),
             o->grid[0], o->grid[1], weft_exchange_name(o->exchange[0]),
             weft_engine_name(o->engine), weft_device_name(o->device), o->chunks);
    if (!succeeds(weft_plan_create(ctx, p, o, &plan), what)) return;
    for (int d = WEFT_FORWARD; d <= WEFT_INVERSE; d++)
        for (int in_place = 0; in_place <= 1; in_place++)
            execute(plan, p, (weft_direction)d, in_place == 1, exact[d],
                    first ? &first[d][in_place] : NULL, what);
    weft_plan_destroy(&plan);
}

/* Every exchange method in every decomposition and memory order. */
static void run_problem(const weft_problem *p, weft_options o) {
    static const weft_decomposition decompositions[] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D,
                                                        WEFT_SLAB_Y_ZX, WEFT_PENCIL};
    static const weft_exchange exchanges[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                              WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};
    long double *const exact[2] = {make_exact(p, WEFT_FORWARD), make_exact(p, WEFT_INVERSE)};
    for (int d = 0; d < 4; d++)
        for (weft_variant v = WEFT_DEFAULT; v <= WEFT_REALIGNED; v++) {
            void *first[2][2] = {{NULL}};
            for (int e = 0; e < 6; e++) {
                o.decomposition = decompositions[d];
                o.variant = v;
                for (int i = 0; i < 3; i++) o.exchange[i] = exchanges[(e + i) % 6];
                if (o.decomposition == WEFT_PENCIL && p->rank > 2 && ranks % 2 == 0) {
                    o.grid[0] = 2;
                    o.grid[1] = ranks / 2;
                } else {
                    o.grid[0] = o.grid[1] = 0;
                }
                run_case(p, &o, exact, first);
            }
            for (int i = 0; i < 4; i++) free(first[i / 2][i % 2]);
        }
    free(exact[0]);
    free(exact[1]);
}

/* A brick of a share of one axis. */
static weft_brick brick_of(const weft_problem *p, int axis) {
    weft_brick brick = {.order = {0}};
    for (int a = 0; a < WEFT_MAX_RANK; a++) brick.box.n[a] = a < p->rank ? p->n[a] : 1;
    brick.box.lo[axis] = p->n[axis] * rank / ranks;
    brick.box.n[axis] = p->n[axis] * (rank + 1) / ranks - brick.box.lo[axis];
    return brick;
}

/* The caller's boxes are split along other axes than weft would. */
static void run_bricks(const weft_problem *given, weft_options o) {
    const weft_brick input = brick_of(given, given->rank - 1), output = brick_of(given, 0);
    weft_problem p = *given;
    long double *const exact[2] = {make_exact(&p, WEFT_FORWARD), make_exact(&p, WEFT_INVERSE)};
    p.input = &input;
    p.output = &output;
    o.decomposition = WEFT_BRICK;
    run_case(&p, &o, exact, NULL);
    free(exact[0]);
    free(exact[1]);
}

/* Differing types are found before anything is planned. */
static void differing_types_are_refused(void) {
    const weft_problem p = {.rank = 2,
                            .n = {8, 9},
                            .kind = WEFT_R2R,
                            .axis = {WEFT_DCT2, rank == 0 ? WEFT_DST4 : WEFT_DCT4}};
    weft_plan plan = NULL;
    if (ranks == 1) return;
    if (weft_plan_create(ctx, &p, NULL, &plan) != WEFT_ERROR_MISMATCH ||
        !strstr(weft_last_error(ctx), "problem.axis")) {
        fprintf(stderr, "rank %d: differing types: %s\n", rank, weft_last_error(ctx));
        failures++;
    }
    weft_plan_destroy(&plan);
}

int main(int argc, char **argv) {
    static const weft_problem problems[] = {
        {.rank = 3, .n = {7, 10, 9}, .kind = WEFT_R2R, .axis = {WEFT_DCT2, WEFT_DST2, WEFT_DCT1}},
        {.rank = 3,
         .n = {8, 5, 16},
         .kind = WEFT_R2R,
         .precision = WEFT_SINGLE,
         .axis = {WEFT_DST4, WEFT_DCT3, WEFT_DCT4}},
        {.rank = 3, .n = {17, 24, 35}, .kind = WEFT_R2R, .axis = {WEFT_DST2, WEFT_DCT4, WEFT_DCT1}},
        {.rank = 2, .n = {13, 21}, .kind = WEFT_R2R, .axis = {WEFT_DST1, WEFT_DST3}},
        {.rank = 4,
         .n = {5, 3, 6, 4},
         .kind = WEFT_R2R,
         .axis = {WEFT_DCT3, WEFT_AXIS_NONE, WEFT_DST1, WEFT_DCT2}},
        {.rank = 3,
         .n = {6, 7, 5},
         .kind = WEFT_R2R,
         .axis = {WEFT_AXIS_NONE, WEFT_DCT2, WEFT_AXIS_NONE}},
        {.rank = 3,
         .n = {6, 7, 5},
         .kind = WEFT_R2R,
         .axis = {WEFT_DCT2, WEFT_AXIS_NONE, WEFT_AXIS_NONE}},
        {.rank = 3, .n = {1, 3, 2}, .kind = WEFT_R2R, .axis = {WEFT_DCT2, WEFT_DST3, WEFT_DCT1}},
    };
    enum { PROBLEMS = sizeof problems / sizeof *problems };
    /* Its passes, from a brick and realigned, differ in their types alone. */
    static const weft_problem square = {
        .rank = 2, .n = {8, 8}, .kind = WEFT_R2R, .axis = {WEFT_DCT2, WEFT_DST3}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!succeeds(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx), "context")) return 1;
    for (int i = 0; i < PROBLEMS; i++) run_problem(&problems[i], (weft_options){.threads = 1});
    run_problem(&problems[0], (weft_options){.engine = WEFT_ENGINE_REFERENCE});
    run_problem(
        &problems[0],
        (weft_options){.device = WEFT_SIMULATED, .location = WEFT_LOCATION_HOST, .chunks = 2});
    for (int i = 0; i < PROBLEMS; i++) run_bricks(&problems[i], (weft_options){.threads = 2});
    run_bricks(&square, (weft_options){.engine = WEFT_ENGINE_REFERENCE, .variant = WEFT_REALIGNED});
    differing_types_are_refused();
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d executions, %d failures\n", executions, failures);
    MPI_Finalize();
    return failures > 0;
}
