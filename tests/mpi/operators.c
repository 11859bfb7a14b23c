/*
 * Operators give the same bits on any number of ranks, in any decomposition and memory order, as on
 * one process: random cases of the product test with the identity engine, which leaves nothing else
 * that could round.
 *
 *   operators [--seconds S] [--seed N]
 */
#include "mpi/product_case.h"

#include <weft/weft_mpi.h>

#include <time.h>

/* Elements of a space: of the whole array, and which of them are in a rank's box. */
static int64_t count_elements(const weft_problem *p, const int64_t *n) {
    int64_t count = p->batch;
    for (int a = 0; a < p->rank; a++) count *= n[a];
    return count;
}

/* Where element i of this rank's array lies in the whole one. */
static int64_t global_index(const weft_problem *p, const weft_box *box, const int *order,
                            int64_t i) {
    int64_t index[WEFT_MAX_RANK] = {0}, place;
    for (int k = p->rank - 1; k >= 0; k--) {
        int a = order[k];
        index[a] = box->lo[a] + i % box->n[a];
        i /= box->n[a];
    }
    place = i; /* the member of the batch */
    for (int a = 0; a < p->rank; a++) place = place * p->n[a] + index[a];
    return place;
}

static bool succeeds(weft_status status, weft_context ctx) {
    if (status == WEFT_SUCCESS) return true;
    fprintf(stderr, "rank %d: %s\n", world_rank, weft_last_error(ctx));
    return false;
}

/* The whole array `in` through a plan of one process. */
static bool run_alone(const test_case *c, weft_context alone, weft_direction dir, const char *in,
                      char *out) {
    weft_problem problem = c->problem;
    weft_options options = {.engine = WEFT_ENGINE_IDENTITY};
    weft_plan plan = NULL;
    void *array[PLACES] = {NULL};
    problem.input = problem.output = NULL;
    bool good = succeeds(weft_plan_create(alone, &problem, &options, &plan), alone) &&
                succeeds(set_arrays(&problem, plan, 0, false, array), alone) &&
                succeeds(weft_execute(plan, dir, in, out), alone);
    release_arrays(plan, false, array);
    weft_plan_destroy(&plan);
    return good;
}

/* This rank's part of `whole` in a space, or back: of a result, compared. */
typedef struct local_array {
    weft_box box;
    const int *order;
    int64_t elements;
    size_t bytes;
} local_array;

static local_array local_of(const test_case *c, weft_plan plan, weft_space space) {
    static const int natural[WEFT_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    const weft_brick *brick = space == WEFT_INPUT ? &c->input : &c->output;
    local_array l = {.order = c->bricks ? brick->order : natural, .elements = c->problem.batch};
    weft_plan_box(plan, space, world_rank, &l.box);
    weft_plan_bytes(plan, space, &l.bytes);
    for (int a = 0; a < c->problem.rank; a++) l.elements *= l.box.n[a];
    return l;
}

static bool run_together(const test_case *c, weft_context ctx, weft_direction dir,
                         const char *whole_in, const char *whole_out, size_t element) {
    weft_plan plan = NULL;
    if (!succeeds(weft_plan_create(ctx, &c->problem, &c->options, &plan), ctx)) return false;
    local_array from = local_of(c, plan, dir == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT);
    local_array to = local_of(c, plan, dir == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT);
    size_t bytes = from.bytes > to.bytes ? from.bytes : to.bytes;
    char *in = malloc(bytes + 1), *out = c->in_place ? in : malloc(bytes + 1);
    for (int64_t i = 0; i < from.elements; i++)
        memcpy(in + i * (int64_t)element,
               whole_in + global_index(&c->problem, &from.box, from.order, i) * (int64_t)element,
               element);
    void *array[PLACES] = {NULL};
    bool good = succeeds(set_arrays(&c->problem, plan, world_rank, false, array), ctx);
    good = succeeds(weft_execute(plan, dir, in, out), ctx) && good;
    for (int64_t i = 0; i < to.elements && good; i++)
        good =
            memcmp(out + i * (int64_t)element,
                   whole_out + global_index(&c->problem, &to.box, to.order, i) * (int64_t)element,
                   element) == 0;
    if (!c->in_place) free(out);
    free(in);
    release_arrays(plan, false, array);
    weft_plan_destroy(&plan);
    return good;
}

static bool check(test_case *c, weft_context ctx, weft_context alone) {
    const bool single = c->problem.precision == WEFT_SINGLE;
    const size_t element = 2 * (single ? sizeof(float) : sizeof(double));
    const int64_t count = count_elements(&c->problem, c->problem.n);
    char *in = malloc((size_t)count * element), *out = malloc((size_t)count * element);
    bool good = true;
    if (c->bricks) {
        c->problem.input = &c->input;
        c->problem.output = &c->output;
    }
    for (int64_t i = 0; i < 2 * count; i++) {
        const double value = pick(1 << 20) / 12345.0 - 40;
        if (single)
            ((float *)in)[i] = (float)value;
        else
            ((double *)in)[i] = value;
    }
    for (int dir = 0; dir < 2; dir++) {
        good = run_alone(c, alone, (weft_direction)dir, in, out) && good;
        good = run_together(c, ctx, (weft_direction)dir, in, out, element) && good;
    }
    free(in);
    free(out);
    int all = good;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!all && world_rank == 0) {
        char text[512];
        describe(c, text, sizeof text);
        fprintf(stderr, "FAIL on %d ranks: other bits than on one: %s\n", world_size, text);
    }
    return all;
}

/* An execution fails on all ranks where one has not set its array, and works once it has. */
static bool check_unset(weft_context ctx) {
    const weft_operator array = {.kind = WEFT_OPERATOR_ARRAY, .array = 1};
    const int64_t side = 4 * world_size;
    const weft_problem problem = {.rank = 3, .n = {side, side, 4}, .store = {&array, 1}};
    const size_t most = (size_t)(side * side * 4) * 2;
    double *in = calloc(most, sizeof *in), *out = calloc(most, sizeof *out), *factors = in;
    weft_plan plan = NULL;
    bool good = succeeds(weft_plan_create(ctx, &problem, NULL, &plan), ctx);
    if (good && world_rank != world_size - 1)
        good = succeeds(weft_plan_set_array(plan, 1, factors), ctx);
    if (good)
        good = weft_execute(plan, WEFT_INVERSE, in, out) == WEFT_ERROR_INVALID_ARGUMENT &&
               strstr(weft_last_error(ctx), "array 1 of the operators was never set");
    good = succeeds(weft_execute(plan, WEFT_FORWARD, in, out), ctx) && good;
    good = succeeds(weft_plan_set_array(plan, 1, factors), ctx) && good;
    good = succeeds(weft_execute(plan, WEFT_INVERSE, in, out), ctx) && good;
    weft_plan_destroy(&plan);
    free(in);
    free(out);
    if (!good) fprintf(stderr, "FAIL on rank %d: an array that is not set\n", world_rank);
    return good;
}

static void multiply(const weft_operator_run *run, void *argument) {
    double *data = run->data;
    (void)argument;
    for (int64_t i = 0; i < 2 * run->count; i++) data[i] *= run->parameter[1];
}

/* Executions follow the parameter that all ranks have set last. */
static bool check_parameter(weft_context ctx) {
    const weft_operator function = {
        .kind = WEFT_OPERATOR_FUNCTION, .function = multiply, .parameters = 2};
    const int64_t side = 3 * world_size + 1;
    const weft_problem problem = {
        .rank = 3, .n = {side, side, 4}, .norm = WEFT_NORM_BACKWARD, .store = {&function, 1}};
    const size_t most = (size_t)(side * side * 4) * 2;
    double *in = calloc(most, sizeof *in), *out = calloc(most, sizeof *out);
    weft_plan plan = NULL;
    weft_box box = {{0}, {0}};
    bool good = succeeds(weft_plan_create(ctx, &problem, NULL, &plan), ctx) &&
                succeeds(weft_plan_box(plan, WEFT_OUTPUT, world_rank, &box), ctx);
    const bool first = box.n[0] * box.n[1] * box.n[2] > 0 && box.lo[0] + box.lo[1] + box.lo[2] == 0;
    for (int value = 0; value < 3 && good; value++) {
        if (value > 0) good = succeeds(weft_plan_set_parameter(plan, 1, value), ctx);
        in[0] = first ? (double)(side * side * 4) : 0; /* of the spectrum: all ones in real space */
        good = succeeds(weft_execute(plan, WEFT_INVERSE, in, out), ctx) && good;
        weft_plan_box(plan, WEFT_INPUT, world_rank, &box);
        for (int64_t i = 0; i < box.n[0] * box.n[1] * box.n[2]; i++)
            good = good && fabs(out[2 * i] - value) < 1e-14 && fabs(out[2 * i + 1]) < 1e-14;
    }
    weft_plan_destroy(&plan);
    free(in);
    free(out);
    if (!good) fprintf(stderr, "FAIL on rank %d: a parameter\n", world_rank);
    return good;
}

static test_case complex_case(void) {
    test_case c = random_case();
    while (c.problem.kind != WEFT_C2C || is_line_over_ranks(&c) ||
           c.problem.load.count + c.problem.spectral.count + c.problem.store.count == 0)
        c = random_case();
    c.problem.load_storage = c.problem.store_storage = WEFT_STORAGE_SAME;
    memset(c.problem.pad_from, 0, sizeof c.problem.pad_from);
    c.options.engine = WEFT_ENGINE_IDENTITY;
    c.options.device = WEFT_HOST;
    c.options.location = WEFT_LOCATION_DEVICE;
    c.options.exchange[0] = WEFT_EXCHANGE_AUTO;
    c.options.wire = WEFT_WIRE_SAME; /* rounds what travels, of which one rank has nothing */
    return c;
}

int main(int argc, char **argv) {
    double seconds = 10;
    int failures = 0, cases = 0;
    unsigned long long seed = (unsigned long long)time(NULL) * 1000003u;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) seconds = atof(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    }
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    random_state = seed | 1;
    weft_context ctx = NULL, alone = NULL;
    if (!succeeds(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx), NULL) ||
        !succeeds(weft_context_create(NULL, &alone), NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    failures += !check_unset(ctx);
    failures += !check_parameter(ctx);
    draws_arrays = true;
    double start = MPI_Wtime();
    for (int go = 1; go && failures < 5; cases++) {
        test_case c = complex_case();
        failures += !check(&c, ctx, alone);
        go = MPI_Wtime() - start < seconds;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    weft_context_destroy(&alone);
    weft_context_destroy(&ctx);
    if (world_rank == 0)
        printf("operators: %d ranks, seed %llu: %d cases, %d failed\n", world_size, seed, cases,
               failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
