/*
 * The product test: decompositions x variants x kinds x precisions x placements x engines x devices
 * over shapes that do not divide, with every exchange method (pairs of them for pencils), forward
 * and inverse, half of them with random operators, on however many ranks it is started. Outputs are
 * poisoned first, compared with a long double DFT by the error rule, and compared bit by bit
 * between exchange methods.
 *
 *   product [--seconds S] [--least N] [--cases N] [--seed N [--from N]] [--funneled 1]
 *           [--device simulated|cuda|opencl|openmp [--engine E] [--nccl 1] [--aware 1]]
 *
 * --engine E: jit or cufft on that device (openmp: cufft). --funneled 1: MPI without
 * MPI_THREAD_MULTIPLE. On the device cuda the method nccl takes part where each rank has a GPU of
 * its own; --nccl 1: it must. --aware 1: MPI must read device memory.
 *
 * Cases are visited in random order until the time is over and at least N of them are done; with
 * --cases just so many, however long they take. The seed and what was visited are printed, and for
 * a failure the seed and the number of its case: --seed SEED --from NUMBER --cases 1 is that case
 * again, on as many ranks and with the same options. What hangs is told
 * likewise, and the end.
 */
#include "mpi/product_case.h"
#include "mpi/product_oracle.h"
#include "promised_device.h"

#include <weft/weft_mpi.h>

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_METHODS = 7, DIRECTIONS = 3 };

static weft_exchange methods[MOST_METHODS] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                              WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER,
                                              WEFT_NCCL};
static int method_count = MOST_METHODS - 1; /* peer is the last but one */
static bool aware_wanted;                   /* --aware */
static unsigned long long seed;
static int case_number;                               /* the first of a seed is 0 */
static int visited[WEFT_SIMULATED + 1][MOST_METHODS]; /* cases, by device and method */

/* Large arrays are shared out. */
static void join_ranks(oracle_number *data, int64_t total) {
    MPI_Allreduce(MPI_IN_PLACE, data, (int)(2 * total), MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exact_dft(const weft_problem *p, oracle_number *data, int sign) {
    enum { WORTH_SHARING = 10000 };
    int64_t total = p->batch;
    for (int a = 0; a < p->rank; a++) total *= p->n[a];
    const bool shared = world_size > 1 && total > WORTH_SHARING;
    oracle_dft(data, p->rank, p->n, p->batch, sign,
               shared ? (oracle_lines){world_rank, world_size} : (oracle_lines){0, 1},
               shared ? join_ranks : NULL);
}

/* The global arrays of this case, and what the results are to be. */
typedef struct truth {
    int64_t in_n[WEFT_MAX_RANK], out_n[WEFT_MAX_RANK];
    int64_t in_total, out_total; /* of one member of the batch */
    oracle_number *in, *half;    /* what is transformed forward, and back: its plain spectrum */
    oracle_number *result[DIRECTIONS];
    double norm[DIRECTIONS]; /* squared, of a result spread evenly before the last operators */
} truth;

static double squares(const oracle_number *data, int64_t count) {
    long double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += cabsl(data[i]) * cabsl(data[i]);
    return (double)sum;
}

/* Where element i of a spectrum lies in the whole one of all points and members of the batch. Of a
 * Fourier axis negative frequencies are the last indices. */
static int64_t whole_place(const test_case *c, const truth *t, int64_t i) {
    const weft_problem *p = &c->problem;
    int64_t index[WEFT_MAX_RANK], place;
    for (int a = p->rank - 1; a >= 0; a--) {
        const int64_t points = place_points(p, 1, a);
        const bool half = p->kind == WEFT_R2C && a == p->rank - 1;
        index[a] = i % t->out_n[a];
        if (!half && index[a] >= (points + 1) / 2) index[a] += p->n[a] - points;
        i /= t->out_n[a];
    }
    place = i;
    for (int a = 0; a < p->rank; a++) place = place * p->n[a] + index[a];
    return place;
}

/* Of a full spectrum the part that is stored. */
static void take_part(const test_case *c, const truth *t, const oracle_number *full,
                      oracle_number *part) {
    for (int64_t i = 0; i < t->out_total * c->problem.batch; i++)
        part[i] = full[whole_place(c, t, i)];
}

static double points_of(const test_case *c) {
    double points = 1;
    for (int a = 0; a < c->problem.rank; a++) points *= (double)c->problem.n[a];
    return c->options.engine == WEFT_ENGINE_IDENTITY ? 1 : points;
}

/* Real data takes a number of the half spectrum for two of the whole one, and of what it cannot
 * have, the imaginary part of two of them, nothing. */
static void fill_full(const test_case *c, const truth *t, const oracle_number *part,
                      oracle_number *full) {
    const int64_t row = t->in_n[c->problem.rank - 1], kept = t->out_n[c->problem.rank - 1];
    const bool halved = c->problem.kind == WEFT_R2C;
    memset(full, 0, (size_t)(t->in_total * c->problem.batch) * sizeof *full);
    for (int64_t i = 0; i < t->out_total * c->problem.batch; i++) {
        const int64_t k = i % kept, twice = halved && k > 0 && 2 * k != row;
        full[whole_place(c, t, i)] = part[i] * (long double)(1 + twice);
    }
}

/* Back from a spectrum. */
static void transform_back(const test_case *c, const truth *t, const oracle_number *part,
                           oracle_number *result) {
    const weft_problem *p = &c->problem;
    const int64_t count = t->in_total * p->batch;
    fill_full(c, t, part, result);
    if (c->options.engine != WEFT_ENGINE_IDENTITY) exact_dft(p, result, 1);
    for (int64_t i = 0; i < count && p->kind == WEFT_R2C; i++) result[i] = creall(result[i]);
}

/* From the result of the forward transform. */
static void make_convolution(const test_case *c, truth *t) {
    const weft_problem *p = &c->problem;
    const int64_t in_count = t->in_total * p->batch;
    oracle_number *result = malloc((size_t)in_count * sizeof *result);
    transform_back(c, t, t->result[WEFT_FORWARD], result);
    t->norm[WEFT_CONVOLVE] = t->norm[WEFT_FORWARD] * points_of(c) * (p->kind == WEFT_R2C ? 2 : 1) *
                             apply_operators(p, &drawn, 2, result);
    t->result[WEFT_CONVOLVE] = result;
}

static bool truncates(const weft_problem *p) {
    bool any = false;
    for (int a = 0; a < p->rank; a++) any = any || place_points(p, 1, a) < p->n[a];
    return any;
}

/* Forward: load, transform, spectral. Inverse, of the plain spectrum: N
 * times the input if all of it is stored, store. */
static void make_results(const test_case *c, truth *t) {
    const weft_problem *p = &c->problem;
    const int64_t in_count = t->in_total * p->batch, out_count = t->out_total * p->batch;
    oracle_number *full = malloc((size_t)in_count * sizeof *full);
    for (int direction = 0; direction < 2; direction++)
        t->result[direction] =
            malloc((size_t)(direction ? in_count : out_count) * sizeof(oracle_number));
    const bool transforms = c->options.engine != WEFT_ENGINE_IDENTITY;
    memcpy(full, t->in, (size_t)in_count * sizeof *full);
    if (transforms) exact_dft(p, full, -1);
    take_part(c, t, full, t->half);
    memcpy(full, t->in, (size_t)in_count * sizeof *full);
    apply_operators(p, &drawn, 0, full);
    if (transforms) exact_dft(p, full, -1);
    take_part(c, t, full, t->result[WEFT_FORWARD]);
    /* What rounding is of all frequencies, those that are not stored included. */
    const double spread =
        truncates(p) ? squares(full, in_count) * (double)out_count / (double)in_count : 0;
    free(full);
    if (truncates(p)) {
        transform_back(c, t, t->half, t->result[WEFT_INVERSE]);
    } else {
        for (int64_t i = 0; i < in_count; i++)
            t->result[WEFT_INVERSE][i] = t->in[i] * (long double)points_of(c);
    }
    t->norm[WEFT_FORWARD] = squares(t->result[WEFT_FORWARD], out_count);
    if (spread > t->norm[WEFT_FORWARD]) t->norm[WEFT_FORWARD] = spread;
    t->norm[WEFT_INVERSE] = squares(t->result[WEFT_INVERSE], in_count);
    t->norm[WEFT_FORWARD] *= apply_operators(p, &drawn, 1, t->result[WEFT_FORWARD]);
    t->norm[WEFT_INVERSE] *= apply_operators(p, &drawn, 2, t->result[WEFT_INVERSE]);
    make_convolution(c, t);
}

/* Whether the callers' arrays have element i of the whole one. */
static bool is_kept(const weft_problem *p, int64_t i) {
    for (int a = p->rank - 1; a >= 0; a--) {
        if (p->pad_from[a] > 0 && i % p->n[a] >= p->pad_from[a]) return false;
        i /= p->n[a];
    }
    return true;
}

static void make_truth(const test_case *c, truth *t) {
    const weft_problem *p = &c->problem;
    t->in_total = t->out_total = 1;
    for (int a = 0; a < p->rank; a++) {
        t->in_n[a] = p->n[a];
        t->out_n[a] = place_points(p, 1, a);
        if (p->kind == WEFT_R2C && a == p->rank - 1) t->out_n[a] = t->out_n[a] / 2 + 1;
        t->in_total *= t->in_n[a];
        t->out_total *= t->out_n[a];
    }
    size_t count = (size_t)(t->in_total * p->batch);
    t->in = malloc(count * sizeof *t->in);
    t->half = malloc((size_t)(t->out_total * p->batch) * sizeof *t->half);
    for (size_t i = 0; i < count; i++) {
        /* rounded to float first, so that single precision gets exact input */
        double re = (float)((double)(next_random() >> 11) / 4503599627370496.0 - 1.0);
        double im = (float)((double)(next_random() >> 11) / 4503599627370496.0 - 1.0);
        const bool real = p->kind == WEFT_R2C || p->load_storage || p->store_storage;
        t->in[i] = !is_kept(p, (int64_t)i) ? 0 : real ? re : re + im * I;
    }
    make_results(c, t);
}

static void free_truth(truth *t) {
    free(t->in);
    free(t->half);
    for (int d = 0; d < DIRECTIONS; d++) free(t->result[d]);
}

/* Where box element i (counted along `order`) lies in the row-major global array. */
static int64_t global_place(int rank, const int64_t *n, const weft_box *box, const int *order,
                            int64_t i) {
    int64_t index[WEFT_MAX_RANK], place = 0;
    for (int k = rank - 1; k >= 0; k--) {
        int a = order[k];
        index[a] = box->lo[a] + i % box->n[a];
        i /= box->n[a];
    }
    for (int a = 0; a < rank; a++) place = place * n[a] + index[a];
    return place;
}

/* A rank's piece of a space. */
typedef struct piece {
    weft_box box;
    int order[WEFT_MAX_RANK];
    int64_t elements; /* of one member of the batch */
    const int64_t *n;
    int64_t total;
    bool real, single; /* numbers of the caller's array */
    size_t bytes;
} piece;

static piece piece_of(const test_case *c, weft_plan plan, const truth *t, weft_space space,
                      weft_storage storage) {
    piece p = {.n = space == WEFT_INPUT ? t->in_n : t->out_n,
               .total = space == WEFT_INPUT ? t->in_total : t->out_total,
               .real = space == WEFT_INPUT && c->problem.kind == WEFT_R2C,
               .elements = 1};
    weft_plan_box(plan, space, world_rank, &p.box);
    weft_plan_bytes(plan, space, &p.bytes);
    p.single = c->problem.precision == WEFT_SINGLE;
    if (storage != WEFT_STORAGE_SAME) p.single = storage == WEFT_STORAGE_FLOAT;
    p.real = p.real || storage != WEFT_STORAGE_SAME;
    for (int a = 0; a < c->problem.rank; a++) {
        p.elements *= p.box.n[a];
        p.order[a] = !c->bricks ? a : space == WEFT_INPUT ? c->input.order[a] : c->output.order[a];
    }
    return p;
}

static void put_number(void *data, int64_t i, bool real, bool single, oracle_number value) {
    if (single && real) ((float *)data)[i] = (float)creall(value);
    if (!single && real) ((double *)data)[i] = (double)creall(value);
    if (single && !real) ((float complex *)data)[i] = (float complex)value;
    if (!single && !real) ((double complex *)data)[i] = (double complex)value;
}

static oracle_number get_number(const void *data, int64_t i, bool real, bool single) {
    if (single) return real ? ((const float *)data)[i] : ((const float complex *)data)[i];
    return real ? ((const double *)data)[i] : ((const double complex *)data)[i];
}

static void fill(const test_case *c, const piece *p, const oracle_number *global, void *data) {
    memset(data, 0xA5, p->bytes);
    for (int64_t b = 0; b < c->problem.batch; b++)
        for (int64_t i = 0; i < p->elements; i++)
            put_number(
                data, b * p->elements + i, p->real, p->single,
                global[b * p->total + global_place(c->problem.rank, p->n, &p->box, p->order, i)]);
}

/* Squared norms. */
typedef struct difference {
    double error, wanted;
} difference;

/* Of all ranks' pieces. */
static difference compare(const test_case *c, const piece *p, const oracle_number *global,
                          const void *data) {
    difference sum = {0};
    for (int64_t b = 0; b < c->problem.batch; b++)
        for (int64_t i = 0; i < p->elements; i++) {
            oracle_number want =
                global[b * p->total + global_place(c->problem.rank, p->n, &p->box, p->order, i)];
            oracle_number got = get_number(data, b * p->elements + i, p->real, p->single);
            if (p->real) want = creall(want);
            const oracle_number off = got - want;
            const double e = (double)creall(off * conjl(off));
            sum.error += isfinite(e) ? e : 1e300;
            sum.wanted += (double)creall(want * conjl(want));
        }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static weft_status execute(weft_plan plan, weft_direction dir, const void *in, void *spectrum,
                           void *out) {
    return spectrum ? weft_convolve(plan, in, spectrum, out) : weft_execute(plan, dir, in, out);
}

/* Runs one direction through device buffers where the plan wants them. */
static weft_status run_once(const test_case *c, weft_plan plan, weft_direction dir, const void *in,
                            size_t in_bytes, void *spectrum, size_t spectrum_bytes, void *out,
                            size_t out_bytes) {
    bool device = c->options.device != WEFT_HOST && c->options.location == WEFT_LOCATION_DEVICE;
    if (!device) return execute(plan, dir, in, spectrum, out);
    void *d_in = NULL, *d_out = NULL, *d_spectrum = NULL;
    weft_status status = weft_buffer_create(plan, in_bytes, &d_in);
    if (spectrum && status == WEFT_SUCCESS)
        status = weft_buffer_create(plan, spectrum_bytes, &d_spectrum);
    if (!c->in_place && status == WEFT_SUCCESS)
        status = weft_buffer_create(plan, out_bytes, &d_out);
    if (status == WEFT_SUCCESS) status = weft_buffer_upload(plan, d_in, in, in_bytes);
    void *result = c->in_place ? d_in : d_out;
    if (status == WEFT_SUCCESS) status = execute(plan, dir, d_in, d_spectrum, result);
    if (status == WEFT_SUCCESS) status = weft_buffer_download(plan, out, result, out_bytes);
    if (spectrum && status == WEFT_SUCCESS)
        status = weft_buffer_download(plan, spectrum, d_spectrum, spectrum_bytes);
    weft_buffer_destroy(plan, &d_in);
    weft_buffer_destroy(plan, &d_spectrum);
    weft_buffer_destroy(plan, &d_out);
    return status;
}

/* What is kept of the first exchange method, to compare the others with. */
typedef struct kept {
    void *data[DIRECTIONS];
    size_t bytes[DIRECTIONS];
} kept;

static void say(const test_case *c, const char *what) {
    char text[512];
    describe(c, text, sizeof text);
    fprintf(stderr, "FAIL on %d ranks, case %d of seed %llu: %s %s,%s: %s\n", world_size,
            case_number, seed, text, weft_exchange_name(c->options.exchange[0]),
            weft_exchange_name(c->options.exchange[1]), what);
}

/* One rank says it for all, or the one that found it. */
static bool fail(const test_case *c, const char *what) {
    if (world_rank == 0) say(c, what);
    return false;
}

/* How often all of the data may be rounded to single precision on its way: in each redistribution,
 * of which there is one for each axis at most, those to and from bricks included. */
static int roundings(const test_case *c, weft_direction dir) {
    const bool rounds = c->options.wire == WEFT_WIRE_SINGLE && c->problem.precision == WEFT_DOUBLE;
    const int redistributions =
        is_line_over_ranks(c) ? 3 : c->problem.rank - 1 + (c->bricks ? 2 : 0);
    return !rounds ? 0 : dir == WEFT_CONVOLVE ? 2 * redistributions : redistributions;
}

/* By the transform, which starts from data that is rounded, or multiplied; by what comes after. A
 * list of operators rounds its factors, one for each axis, and each of their products. */
static oracle_rounding rounding_of(const test_case *c, weft_direction dir, bool stored_single) {
    const weft_problem *p = &c->problem;
    const bool single = p->precision == WEFT_SINGLE, there = dir != WEFT_INVERSE;
    const double unit = oracle_unit(single), list = unit * (2 + 2 * p->rank);
    const weft_operators *last = dir == WEFT_FORWARD ? &p->spectral : &p->store;
    oracle_rounding r = {.spread = oracle_tolerance(p->rank, p->n, single)};
    const int travels = roundings(c, dir);
    r.spread += travels * oracle_unit(true);
    if (dir == WEFT_INVERSE) r.spread += unit;
    if (there && p->load.count > 0) r.spread += list;
    if (dir == WEFT_CONVOLVE) {
        r.spread += oracle_tolerance(p->rank, p->n, single);
        if (p->spectral.count > 0) r.spread += list;
    }
    if (last->count > 0) r.own += list;
    if (stored_single && !single) r.own += oracle_unit(true);
    double points = (double)p->batch;
    for (int a = 0; a < p->rank; a++) points *= (double)p->n[a];
    r.underflow = oracle_underflow(single || stored_single || travels > 0, points);
    return r;
}

static bool check_error(const test_case *c, const piece *q, const truth *t, weft_direction dir,
                        const void *got, const char *of) {
    const difference d = compare(c, q, t->result[dir], got);
    const oracle_rounding rounding = rounding_of(c, dir, q->single);
    const double allowed = oracle_allowed(rounding, t->norm[dir], d.wanted);
    char text[128];
    if (sqrt(d.error) <= allowed) return true;
    snprintf(text, sizeof text, "%s error is %g of what is allowed", of, sqrt(d.error) / allowed);
    return fail(c, text);
}

/* What only some ranks may find. */
enum { NOT_RUN = 1, PAST_SPECTRUM = 2, INPUT_CHANGED = 4, PAST_BUFFER = 8, OTHER_BITS = 16 };

/* Whether no rank has found anything. */
static bool check_found(const test_case *c, int found) {
    static const char *const words[] = {"is not run", "wrote past the spectrum",
                                        "input was changed", "wrote past the buffer",
                                        "bits differ between exchange methods"};
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        if (found >> i & 1) fail(c, words[i]);
    return found == 0;
}

static bool check_direction(const test_case *c, weft_plan plan, weft_context ctx, const truth *t,
                            weft_direction dir, kept *first) {
    static const char *const errors[] = {"forward", "inverse", "convolution"};
    weft_space from = dir == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    weft_space to = dir == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    const weft_problem *given = &c->problem;
    piece p =
        piece_of(c, plan, t, from, from == WEFT_INPUT ? given->load_storage : WEFT_STORAGE_SAME);
    piece q = piece_of(c, plan, t, to, to == WEFT_INPUT ? given->store_storage : WEFT_STORAGE_SAME);
    const bool keeps = dir == WEFT_CONVOLVE && c->options.keep_spectrum;
    piece s = piece_of(c, plan, t, WEFT_OUTPUT, WEFT_STORAGE_SAME);
    char *spectrum = keeps ? malloc(s.bytes + 1) : NULL;
    if (keeps) memset(spectrum, 0xA5, s.bytes + 1);
    size_t both = p.bytes > q.bytes ? p.bytes : q.bytes;
    if (c->in_place) p.bytes = q.bytes = both;
    char *in = malloc(p.bytes + 1), *out = c->in_place ? in : malloc(q.bytes + 1);
    char *copy = malloc(p.bytes + 1);
    fill(c, &p, dir == WEFT_INVERSE ? t->half : t->in, in);
    memcpy(copy, in, p.bytes);
    if (!c->in_place) memset(out, 0xA5, q.bytes);
    out[q.bytes] = 0x5A;
    weft_status status = run_once(c, plan, dir, in, p.bytes, spectrum, s.bytes, out, q.bytes);
    if (status != WEFT_SUCCESS) say(c, weft_last_error(ctx));
    int found = status == WEFT_SUCCESS ? 0 : NOT_RUN;
    bool good = check_error(c, &q, t, dir, out, errors[dir]);
    if (keeps) good = check_error(c, &s, t, WEFT_FORWARD, spectrum, "kept spectrum's") && good;
    if (keeps && (unsigned char)spectrum[s.bytes] != 0xA5) found |= PAST_SPECTRUM;
    if (!c->in_place && memcmp(copy, in, p.bytes) != 0) found |= INPUT_CHANGED;
    if (out[q.bytes] != 0x5A) found |= PAST_BUFFER;

    size_t box_bytes =
        (size_t)(q.elements * c->problem.batch) * (q.real ? 1 : 2) * (q.single ? 4 : 8);
    if (!first->data[dir]) {
        first->data[dir] = malloc(box_bytes + 1);
        memcpy(first->data[dir], out, box_bytes);
        first->bytes[dir] = box_bytes;
    } else if (first->bytes[dir] != box_bytes || memcmp(first->data[dir], out, box_bytes) != 0) {
        found |= OTHER_BITS;
    }
    good = check_found(c, found) && good;
    free(copy);
    free(in);
    free(spectrum);
    if (!c->in_place) free(out);
    return good;
}

static char hanging[640]; /* what is said of the case at hand if it never ends */

static void tell_hang(int number) {
    (void)number;
    (void)!write(STDERR_FILENO, hanging, strlen(hanging));
    _exit(1);
}

/* The plans of a case, each with its exchange methods. */
static void watch(const test_case *c) {
    enum { PATIENCE = 240 }; /* less than the time that a test has */
    char text[512];
    describe(c, text, sizeof text);
    snprintf(hanging, sizeof hanging, "FAIL on %d ranks, case %d of seed %llu: %s %s,%s: hangs\n",
             world_size, case_number, seed, text, weft_exchange_name(c->options.exchange[0]),
             weft_exchange_name(c->options.exchange[1]));
    signal(SIGALRM, tell_hang);
    alarm(PATIENCE);
}

/* Whether messages go from and to device memory where they are to. */
static bool check_aware(const test_case *c, weft_plan plan) {
    weft_options used = {.device_aware = WEFT_AWARENESS_AUTO};
    weft_plan_options(plan, &used);
    if (!aware_wanted || c->options.device_aware == WEFT_STAGED || used.device_aware == WEFT_AWARE)
        return true;
    return fail(c, "messages are staged");
}

/* All exchange methods on one case; returns the number of failures. */
static int run_case(weft_context ctx, test_case *c, int *runs) {
    truth t;
    kept first = {{NULL}, {0}};
    int failures = 0;
    make_truth(c, &t);
    if (c->bricks) {
        c->problem.input = &c->input;
        c->problem.output = &c->output;
    }
    for (int m = 0; m < method_count && failures == 0; m++) {
        weft_plan plan = NULL;
        c->options.exchange[0] = methods[m];
        c->options.exchange[1] = methods[pick(method_count)];
        c->options.exchange[2] = methods[pick(method_count)];
        watch(c);
        if (weft_plan_create(ctx, &c->problem, &c->options, &plan) != WEFT_SUCCESS) {
            fail(c, weft_last_error(ctx));
            failures++;
            break;
        }
        void *array[PLACES];
        const bool there = c->options.device != WEFT_HOST;
        int unset = set_arrays(&c->problem, plan, world_rank, there, array) != WEFT_SUCCESS;
        if (unset) say(c, weft_last_error(ctx));
        MPI_Allreduce(MPI_IN_PLACE, &unset, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
        failures += unset;
        failures += !check_aware(c, plan);
        visited[c->options.device][m]++;
        for (int d = 0; d < (c->options.convolve ? DIRECTIONS : WEFT_CONVOLVE); d++, ++*runs)
            failures += !check_direction(c, plan, ctx, &t, (weft_direction)d, &first);
        release_arrays(plan, there, array);
        weft_plan_destroy(&plan);
    }
    for (int d = 0; d < DIRECTIONS; d++) free(first.data[d]);
    free_truth(&t);
    return failures;
}

/* Lets nccl take part; false where it must but cannot. Elsewhere than on a GPU for each rank it is
 * refused, on all ranks alike. */
static bool try_nccl(weft_context ctx, bool wanted) {
    const weft_problem problem = {.rank = 2, .n = {4, 4}};
    const weft_options options = {.device = WEFT_CUDA, .exchange = {WEFT_NCCL}};
    weft_plan plan = NULL;
    weft_status status = weft_plan_create(ctx, &problem, &options, &plan);
    if (status == WEFT_SUCCESS) method_count = MOST_METHODS;
    if (status != WEFT_SUCCESS && world_rank == 0)
        fprintf(stderr, "product: without nccl: %s\n", weft_last_error(ctx));
    weft_plan_destroy(&plan);
    return status == WEFT_SUCCESS || (status == WEFT_ERROR_UNSUPPORTED && !wanted);
}

static double seconds = 10;
static int least, most; /* cases; all that there is time for */
static bool nccl_wanted;
static uint64_t next_state;

/* A method by its name, beside p2p-sync, whose bits it must have: also one that no table knows. */
static void choose_method(const char *name) {
    int e = WEFT_P2P_SYNC;
    while (strcmp(weft_exchange_name((weft_exchange)e), name) != 0 && e < 100) e++;
    methods[1] = (weft_exchange)e;
    method_count = 2;
}

static void read_flags(int argc, char **argv, int *from) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *flag = argv[i], *value = argv[i + 1];
        if (strcmp(flag, "--seconds") == 0) seconds = atof(value);
        if (strcmp(flag, "--least") == 0) least = atoi(value);
        if (strcmp(flag, "--cases") == 0) most = atoi(value);
        if (strcmp(flag, "--seed") == 0) seed = strtoull(value, NULL, 10);
        if (strcmp(flag, "--from") == 0) *from = atoi(value);
        if (strcmp(flag, "--nccl") == 0) nccl_wanted = true;
        if (strcmp(flag, "--aware") == 0) aware_wanted = true;
        if (strcmp(flag, "--exchange") == 0) choose_method(value);
        if (strcmp(flag, "--engine") == 0)
            with_engine = strcmp(value, "jit") == 0 ? WEFT_ENGINE_JIT : WEFT_ENGINE_CUFFT;
        for (int d = WEFT_HOST; d <= WEFT_SIMULATED && strcmp(flag, "--device") == 0; d++)
            if (strcmp(value, weft_device_name((weft_device)d)) == 0) on_device = (weft_device)d;
    }
}

/* Skipped where the device is neither there nor promised. */
static void expect_device(void) {
    if (weft_device_probe(on_device, NULL) == WEFT_SUCCESS) return;
    if (world_rank == 0) fprintf(stderr, "product: %s\n", weft_last_error(NULL));
    MPI_Finalize();
    exit(status_without(on_device));
}

/* Also the state from which the next case is drawn, on every rank. */
static test_case next_case(void) {
    draws_arrays = draws_truncation = true;
    test_case c = random_case();
    next_state = random_state + 2 * (uint64_t)(case_number + 1);
    return c;
}

static void print_visited(void) {
    for (int d = WEFT_HOST; d <= WEFT_SIMULATED; d++)
        for (int m = 0; m < method_count; m++)
            if (visited[d][m] > 0)
                printf("product: %s %s %d\n", weft_device_name((weft_device)d),
                       weft_exchange_name(methods[m]), visited[d][m]);
}

int main(int argc, char **argv) {
    int provided, level = MPI_THREAD_MULTIPLE, failures = 0, from = 0, runs = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--funneled") == 0) level = MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    seed = (unsigned long long)time(NULL) * 1000003u + (unsigned long long)getpid();
    read_flags(argc, argv, &from);
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    random_state = seed | 1;
    expect_device();
    weft_context ctx = NULL;
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!device_has_peer(on_device)) method_count -= 1;
    if (on_device == WEFT_CUDA && !try_nccl(ctx, nccl_wanted)) failures = 1;
    double start = MPI_Wtime();
    for (int go = failures == 0; go && failures < 5; case_number++) {
        test_case c = next_case();
        if (case_number >= from) failures += run_case(ctx, &c, &runs);
        random_state = next_state;
        const int done = case_number + 1 - from;
        go = done < least || (most > 0 ? done < most : MPI_Wtime() - start < seconds);
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    alarm(0);
    weft_context_destroy(&ctx);
    if (world_rank == 0) {
        print_visited();
        printf("product: %d ranks, seed %llu: %d cases, %d transforms, %d failed\n", world_size,
               seed, case_number - from, runs, failures);
    }
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
