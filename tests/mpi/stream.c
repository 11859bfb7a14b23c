/*
 * Streamed plans over several ranks: random problems, decompositions, methods and limits of device
 * memory, forward, back and there and back, some with operators. Results have the bits of plans
 * that hold their arrays on the device, or are as close to theirs as rounding allows, which a wire
 * of single precision does more of. On the simulated device, or on the one that is named.
 *
 *   stream [--cases N] [--seed S --case C] [--device host|openmp|...]
 */
#include "differences.h"
#include "promised_device.h"
#include "random_padding.h"

#include <weft/weft_mpi.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

static weft_context ctx;
static int rank, size, number;
static uint64_t seed;
static int convolved; /* cases with a convolution that were compared, ... */
static int operated;  /* ... those with operators, ... */
static int padded;    /* ... those with padding, cropping or truncation, ... */
static int refused;   /* ... and those whose operators the engine does not apply itself */

enum { MOST_POINTS = 64 };

typedef struct problem_case {
    weft_problem problem;
    weft_options options;
    weft_operator load, spectral, store;
    double table[MOST_POINTS * WEFT_MAX_RANK];
} problem_case;

static bool agreed(bool mine) {
    int all = mine;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

static bool is_operated(const problem_case *c) {
    return c->problem.load.count + c->problem.spectral.count + c->problem.store.count > 0;
}

static bool fail(const problem_case *c, const char *what) {
    fprintf(stderr, "rank %d of %d: seed %llu, case %d: %lldx%lldx%lldx%lld %s %s %s %s%s%s: %s\n",
            rank, size, (unsigned long long)seed, number, (long long)c->problem.n[0],
            (long long)c->problem.n[1], (long long)c->problem.n[2], (long long)c->problem.n[3],
            weft_kind_name(c->problem.kind), weft_decomposition_name(c->options.decomposition),
            weft_exchange_name(c->options.exchange[0]), weft_exchange_name(c->options.exchange[1]),
            c->options.convolve ? " convolve" : "", is_operated(c) ? " operators" : "", what);
    return false;
}

static problem_case random_problem(weft_device device) {
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                            WEFT_A2A_SYNC, WEFT_A2A_TYPE};
    static const weft_decomposition decompositions[] = {WEFT_SLAB_2D1D, WEFT_SLAB_1D2D,
                                                        WEFT_SLAB_Y_ZX, WEFT_PENCIL};
    static const int most[] = {0, 0, 60, 30, 14};
    problem_case c = {.problem = {.rank = 2 + random_below(3),
                                  .kind = (weft_kind)random_below(2),
                                  .precision = random_below(2) ? WEFT_SINGLE : WEFT_DOUBLE,
                                  .batch = random_below(3) ? 1 : 2 + random_below(3)},
                      .options = {.device = device,
                                  .location = WEFT_LOCATION_HOST,
                                  .variant = random_below(2) ? WEFT_DEFAULT : WEFT_REALIGNED}};
    weft_problem *p = &c.problem;
    for (int a = 0; a < p->rank; a++) p->n[a] = 1 + random_below(most[p->rank]);
    if (random_below(4) == 0) p->kind = WEFT_R2R;
    for (int a = 0; a < p->rank; a++)
        if (p->kind == WEFT_R2R) p->axis[a] = random_below(2) ? WEFT_DCT2 : WEFT_DST2;
    if (random_below(3) == 0) p->norm = WEFT_NORM_ORTHO;
    if (p->kind != WEFT_C2C && random_below(4) == 0) p->load_storage = WEFT_STORAGE_U8;
    c.options.decomposition = p->rank < 3 ? WEFT_SLAB_2D1D : decompositions[random_below(4)];
    if (c.options.decomposition == WEFT_PENCIL) { /* plans that are compared have equal boxes */
        int one = 1 + random_below(size);
        while (size % one != 0) one--;
        c.options.grid[0] = one;
        c.options.grid[1] = size / one;
    }
    const bool asks = random_below(3) > 0;
    for (int i = 0; i < 2 && asks; i++) c.options.exchange[i] = methods[random_below(5)];
    const int reads = device_has_peer(device) ? random_below(4) : 0; /* bit i: redistribution i */
    for (int i = 0; i < 2; i++)
        if (reads >> i & 1) c.options.exchange[i] = WEFT_PEER;
    if (random_below(2)) c.options.chunks = 1 + random_below(12);
    if (random_below(5) == 0) {
        p->fields = 2 + random_below(2);
        p->fields_fastest = p->batch == 1 && random_below(2);
    }
    c.options.convolve = random_below(3) == 0;
    const int placement = p->load_storage ? 1 : random_below(3);
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
    for (int i = 0; i < MOST_POINTS * WEFT_MAX_RANK; i++) c->table[i] = random_number() + 2;
    for (int a = 0; a < p->rank; a++) {
        c->load.window[a].kind = random_below(2) ? WEFT_WINDOW_HAMMING : WEFT_WINDOW_NONE;
        c->store.window[a].kind = random_below(2) ? WEFT_WINDOW_HAMMING : WEFT_WINDOW_NONE;
        if (a == 0 || random_below(2)) c->spectral.table[a] = c->table + MOST_POINTS * a;
    }
    c->load.window[0].kind = c->store.window[0].kind = WEFT_WINDOW_HAMMING;
    p->load = (weft_operators){&c->load, random_below(2)};
    p->spectral = (weft_operators){&c->spectral, random_below(2)};
    p->store = (weft_operators){&c->store, random_below(2)};
}

/* One execution from the same input, which all plans are given; the result, to be freed. */
static unsigned char *run(weft_plan plan, weft_direction direction, bool in_place,
                          const unsigned char *input, size_t given, weft_status *status) {
    const weft_space from = direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT;
    size_t in_bytes = 0, out_bytes = 0;
    weft_plan_bytes(plan, from, &in_bytes);
    weft_plan_bytes(plan, to, &out_bytes);
    if (in_place && in_bytes > out_bytes) out_bytes = in_bytes;
    unsigned char *in = calloc(1, in_bytes + 1), *out = malloc(out_bytes + 1);
    memset(out, 0xA5, out_bytes + 1);
    memcpy(in_place ? out : in, input, given);
    *status = weft_execute(plan, direction, in_place ? out : in, out);
    if (out[out_bytes] != 0xA5 || (!in_place && memcmp(in, input, given) != 0))
        *status = WEFT_ERROR_ENGINE;
    free(in);
    return out;
}

/* Whether the engine rounds alike whatever the tiles: native does, but not with real-to-real
 * transforms, of which lines are taken in pairs, nor where a rank or a tile may have one line
 * alone.
 */
static bool has_bits_of_whole(const problem_case *c) {
    const weft_problem *p = &c->problem;
    for (int a = 0; a < p->rank; a++) {
        const int64_t held[] = {p->n[a], p->pad_from[a], p->crop_to[a], p->truncate_to[a]};
        for (int i = 0; i < 4; i++)
            if (held[i] < 2 * size && (i == 0 || held[i] > 0)) return false;
    }
    return p->kind != WEFT_R2R && p->rank > 2 && c->options.device == WEFT_SIMULATED;
}

/* How often numbers may be rounded to single precision on their way: between passes, each of which
 * transforms an axis at least, and on the way to other ranks, which is between passes too. */
static int most_roundings(const problem_case *c, weft_direction direction) {
    const bool rounds = c->options.wire == WEFT_WIRE_SINGLE && c->problem.precision == WEFT_DOUBLE;
    return rounds ? (direction == WEFT_CONVOLVE ? 2 : 1) * (c->problem.rank - 1) : 0;
}

/* By how much operators behind a rounding may raise its share of the result: a table's factors are
 * 1 to 3 along each axis. */
static double most_weight(const problem_case *c) {
    return is_operated(c) ? pow(3, c->problem.rank) : 1;
}

/* On all ranks together. Each rounding is off by at most 2^-24. What was sent to other ranks has
 * been rounded, so that large results differ somewhere. */
static bool are_close(const void *a, const void *b, size_t bytes, const problem_case *c,
                      weft_direction direction) {
    const double rounding = c->problem.precision == WEFT_SINGLE ? 1e-6 : 1e-14;
    const int times = most_roundings(c, direction);
    const double most = times > 0              ? times * 0x1p-24 * most_weight(c)
                        : has_bits_of_whole(c) ? 0
                                               : rounding;
    double sums[3] = {0, 0, (double)bytes};
    add_squares(a, b, bytes, c->problem.precision, sums);
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const bool exchanged = times > 0 && size > 1 && c->options.stream != WEFT_STREAM_AUTO;
    if (exchanged && sums[2] > 16384 && !c->problem.load_storage && sums[0] == 0) return false;
    return sqrt(sums[0]) <= most * sqrt(sums[1]);
}

/* Bytes of this rank's box. */
static size_t box_bytes(const problem_case *c, weft_plan plan, weft_space space, bool loaded) {
    weft_box box;
    size_t bytes = c->problem.precision == WEFT_SINGLE ? 4 : 8;
    weft_plan_box(plan, space, rank, &box);
    if (loaded && space == WEFT_INPUT && c->problem.load_storage) bytes = 1;
    if (c->problem.kind == WEFT_C2C || (space == WEFT_OUTPUT && c->problem.kind == WEFT_R2C))
        bytes *= 2;
    for (int a = 0; a < c->problem.rank; a++) bytes *= (size_t)box.n[a];
    if (c->problem.fields > 0) bytes *= (size_t)c->problem.fields;
    return bytes * (size_t)c->problem.batch;
}

static bool compare(const problem_case *c, weft_plan streamed, weft_plan whole,
                    weft_direction direction, bool in_place) {
    const weft_space from = direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT;
    const size_t given = box_bytes(c, whole, from, true), made = box_bytes(c, whole, to, false);
    static const char *const wrong[] = {"forward: wrong", "back: wrong", "there and back: wrong"};
    unsigned char *input = malloc(given + 8), *result[2];
    weft_status status[2];
    uint64_t own = random_state ^ (uint64_t)rank * 977;
    for (size_t i = 0; i + 4 <= given + 4; i += 4) {
        const float value =
            (float)(((own = own * 6364136223846793005u + 1) >> 40) % 1000) / 500 + 1;
        memcpy(input + i, &value, i + 4 <= given ? 4 : given - i);
    }
    result[0] = run(streamed, direction, in_place, input, given, &status[0]);
    result[1] = run(whole, direction, in_place, input, given, &status[1]);
    bool good = status[0] == WEFT_SUCCESS && status[1] == WEFT_SUCCESS;
    if (!good) fail(c, weft_last_error(ctx));
    if (agreed(good)) {
        good = are_close(result[0], result[1], made, c, direction);
        if (!good) fail(c, wrong[direction]);
    }
    free(input);
    free(result[0]);
    free(result[1]);
    return good;
}

/* 1: compared; 0: the device cannot, or the limit is too small; -1: failed. */
static int run_case(weft_device device) {
    weft_plan whole = NULL, streamed = NULL;
    size_t bytes[2] = {0, 0};
    weft_memory memory;
    random_state = seed + (uint64_t)number * 1000003u;
    problem_case c = random_problem(device);
    if (c.problem.kind != WEFT_R2R && !c.problem.load_storage && random_below(3) == 0)
        add_operators(&c);
    const bool pads = device != WEFT_OPENMP && random_below(3) == 0 && draw_padding(&c.problem);
    if (pads) c.options.placement = WEFT_OUT_OF_PLACE;
    weft_status status = weft_plan_create(ctx, &c.problem, &c.options, &whole);
    if (status == WEFT_ERROR_UNSUPPORTED) return 0;
    bool good = status == WEFT_SUCCESS || fail(&c, weft_last_error(ctx));
    if (!good) return -1;
    weft_plan_bytes(whole, WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(whole, WEFT_OUTPUT, &bytes[1]);
    long long most = (long long)(bytes[0] + bytes[1]);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    static const weft_stream streams[] = {WEFT_STREAM_ON, WEFT_STREAM_ON, WEFT_STREAM_SYNC,
                                          WEFT_STREAM_AUTO};
    c.options.stream = streams[random_below(4)];
    const size_t kernels = device == WEFT_CUDA || device == WEFT_OPENCL ? 100000 : 8192;
    if (device != WEFT_OPENMP && random_below(3) == 0) c.options.wire = WEFT_WIRE_SINGLE;
    c.options.device_memory_limit = kernels + (size_t)random_below((int)(3 * most) + 1);
    status = weft_plan_create(ctx, &c.problem, &c.options, &streamed);
    if (status != WEFT_SUCCESS) {
        good = status == WEFT_ERROR_OUT_OF_MEMORY ||
               (status == WEFT_ERROR_UNSUPPORTED && is_operated(&c));
        refused += status == WEFT_ERROR_UNSUPPORTED;
        if (!good) fail(&c, weft_last_error(ctx));
        weft_plan_destroy(&whole);
        return good ? 0 : -1;
    }
    weft_plan_memory(streamed, &memory);
    if (memory.workspace > c.options.device_memory_limit) good = fail(&c, "beyond the limit");
    for (int d = 0; d < 2 + c.options.convolve; d++) {
        if (c.options.placement != WEFT_IN_PLACE)
            good = compare(&c, streamed, whole, (weft_direction)d, false) && good;
        if (c.options.placement != WEFT_OUT_OF_PLACE)
            good = compare(&c, streamed, whole, (weft_direction)d, true) && good;
    }
    convolved += c.options.convolve;
    operated += is_operated(&c);
    padded += pads;
    weft_plan_destroy(&streamed);
    weft_plan_destroy(&whole);
    return agreed(good) ? 1 : -1;
}

/* Arrays that partners read lie on the host and are none of the device's memory, also where they
 * are as large as its limit. */
static bool shares_as_much_as_the_limit(weft_device device) {
    const problem_case c = {.problem = {.rank = 3, .n = {32, 32, 32}},
                            .options = {.device = device,
                                        .location = WEFT_LOCATION_HOST,
                                        .decomposition = WEFT_SLAB_2D1D,
                                        .exchange = {WEFT_PEER},
                                        .stream = WEFT_STREAM_ON,
                                        .device_memory_limit = 32 * 32 * 32 * 16 / 2}};
    weft_plan plan = NULL;
    const bool good = weft_plan_create(ctx, &c.problem, &c.options, &plan) == WEFT_SUCCESS ||
                      fail(&c, weft_last_error(ctx));
    weft_plan_destroy(&plan);
    return agreed(good);
}

/* On all ranks together. */
static bool holds_its_box(const problem_case *c, weft_convolution plan) {
    size_t bytes = 0;
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes);
    return agreed(bytes == box_bytes(c, plan, WEFT_OUTPUT, false) || fail(c, "more than its box"));
}

/* A convolution with an array, whose output holds no more than the result, though other parts of
 * the array are larger than this rank's: as that of a plan that is not streamed. It is refused
 * where the engine does not apply arrays. */
static bool convolves_with_an_array(weft_device device) {
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_TYPE, WEFT_PEER};
    static const double kernel[3 * 2 * 2 * 2] = {1, 0, 2, 0, 3, 1};
    const weft_convolution_problem problem = {
        .rank = 3, .n = {9, 5, 7}, .kind = WEFT_C2C, .kernel = {.array = kernel, .n = {3, 2, 2}}};
    bool good = true;
    for (int m = 0; m < (device_has_peer(device) ? 3 : 2) && good; m++) {
        problem_case c = {.problem = {.rank = 3, .n = {9, 5, 7}, .batch = 1},
                          .options = {.device = device,
                                      .location = WEFT_LOCATION_HOST,
                                      .decomposition = WEFT_SLAB_2D1D,
                                      .variant = WEFT_DEFAULT,
                                      .exchange = {methods[m]}}};
        weft_convolution whole = NULL, streamed = NULL;
        weft_status status = weft_convolution_create(ctx, &problem, &c.options, &whole);
        good = status == WEFT_SUCCESS || fail(&c, weft_last_error(ctx));
        c.options.stream = WEFT_STREAM_ON;
        if (good) status = weft_convolution_create(ctx, &problem, &c.options, &streamed);
        if (status == WEFT_SUCCESS)
            good =
                holds_its_box(&c, streamed) && compare(&c, streamed, whole, WEFT_CONVOLVE, false);
        else if (status != WEFT_ERROR_UNSUPPORTED || device == WEFT_CUDA || device == WEFT_OPENCL)
            good = fail(&c, weft_last_error(ctx));
        weft_convolution_destroy(&streamed);
        weft_convolution_destroy(&whole);
    }
    return agreed(good);
}

/* What a rank sends, or partners read of it, in one execution of a plan that streams or does not.
 */
static bool sends(weft_exchange method, weft_stream stream, weft_wire wire, int64_t *bytes) {
    problem_case c = {.problem = {.rank = 3, .n = {24, 20, 16}},
                      .options = {.device = WEFT_SIMULATED,
                                  .location = WEFT_LOCATION_HOST,
                                  .decomposition = WEFT_SLAB_2D1D,
                                  .exchange = {method},
                                  .stream = stream,
                                  .wire = wire}};
    weft_plan plan = NULL;
    weft_timings timings = {.bytes_sent = -1};
    size_t given = 0;
    bool good = weft_plan_create(ctx, &c.problem, &c.options, &plan) == WEFT_SUCCESS &&
                weft_plan_bytes(plan, WEFT_INPUT, &given) == WEFT_SUCCESS;
    if (agreed(good)) {
        weft_status status;
        unsigned char *zeros = calloc(1, given + 1);
        free(run(plan, WEFT_FORWARD, false, zeros, given, &status));
        free(zeros);
        good = status == WEFT_SUCCESS && weft_plan_timings(plan, &timings) == WEFT_SUCCESS;
    }
    if (!good) fail(&c, weft_last_error(ctx));
    *bytes = timings.bytes_sent;
    weft_plan_destroy(&plan);
    return agreed(good);
}

/* Half as many bytes travel with a wire of single precision, by messages of either kind and where
 * partners read them. */
static bool sends_half_as_much(void) {
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                            WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};
    const size_t count = sizeof methods / sizeof methods[0];
    for (size_t i = 0; i < 2 * count; i++) {
        const weft_exchange method = methods[i % count];
        const weft_stream stream = i < count ? WEFT_STREAM_ON : WEFT_STREAM_OFF;
        int64_t same, single;
        if (!sends(method, stream, WEFT_WIRE_SAME, &same) ||
            !sends(method, stream, WEFT_WIRE_SINGLE, &single))
            return false;
        const bool good = same == 2 * single && (size == 1) == (same == 0);
        if (!good)
            fprintf(stderr, "rank %d of %d: %s: %lld bytes sent, of single precision %lld\n", rank,
                    size, weft_exchange_name(method), (long long)same, (long long)single);
        if (!agreed(good)) return false;
    }
    return true;
}

/* Ranks that give another wire fail, all of them. */
static bool refuses_a_wire_of_one_rank(void) {
    const weft_problem problem = {.rank = 2, .n = {12, 10}};
    const weft_options options = {.wire = rank == size - 1 ? WEFT_WIRE_SINGLE : WEFT_WIRE_SAME};
    weft_plan plan = NULL;
    const weft_status status = weft_plan_create(ctx, &problem, &options, &plan);
    const bool good = status == (size > 1 ? WEFT_ERROR_MISMATCH : WEFT_SUCCESS);
    weft_plan_destroy(&plan);
    if (!good) fprintf(stderr, "rank %d of %d: options.wire differs: %d\n", rank, size, status);
    return agreed(good);
}

int main(int argc, char **argv) {
    int provided, cases = 100, compared = 0, failed = 0, first = 0;
    weft_device device = WEFT_SIMULATED;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = (uint64_t)time(NULL) * 1000003u;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cases") == 0) cases = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--device") == 0) device = device_named(argv[i + 1]);
        if (strcmp(argv[i], "--case") == 0) {
            first = atoi(argv[i + 1]);
            cases = 1;
        }
    }
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (size == 2 && device == WEFT_SIMULATED) failed = !shares_as_much_as_the_limit(device);
    if (size > 1 && device != WEFT_OPENMP) failed += !convolves_with_an_array(device);
    if (device == WEFT_SIMULATED) failed += !sends_half_as_much() + !refuses_a_wire_of_one_rank();
    for (number = first; number < first + cases && failed < 3; number++) {
        const int done = run_case(device);
        compared += done > 0;
        failed += done < 0;
    }
    weft_context_destroy(&ctx);
    if (rank == 0)
        printf("stream: %d ranks, seed %llu: %d cases, %d compared (%d convolutions, %d with "
               "operators, %d padded), %d with operators refused, %d failed\n",
               size, (unsigned long long)seed, cases, compared, convolved, operated, padded,
               refused, failed);
    MPI_Finalize();
    const bool enough = compared > cases / 5 && convolved > 0;
    return failed == 0 && (cases < 50 || enough) ? 0 : 1;
}
