/*
 * Chooses the shapes of kernels. Radices are the cheapest of all factorizations of n for which
 * there are codelets; the cost counts operations, exchanges through local memory and idle threads.
 * The padding of local memory is the one with the fewest bank conflicts, which are counted.
 */
#include "engine/jit/shape.h"
#include "engine/generator.h"
#include "engine/smooth.h"

#include <limits.h>
#include <string.h>

weft_jit_tuning weft_jit_tuning_of(weft_precision precision, const weft_kernel_limits *limits) {
    const bool single = precision == WEFT_SINGLE;
    weft_jit_tuning tuning = {.values = 16,
                              .long_values = 32,
                              .threads = 512,
                              .least_threads = single ? 64 : 128,
                              .across_bytes = 256,
                              .least_across_bytes = 32,
                              .large_stride_threads = single ? 1024 : 512,
                              .registers = single ? 32 : 40,
                              .across_registers = 32,
                              .alternates = single ? INT_MAX : 769,
                              .whole_bytes = 72 << 10,
                              .local_bytes = 100 << 10,
                              .rader = 100,
                              .longest = single ? 16384 : 8192,
                              .clustered = single ? 32768 : 16384,
                              .cluster_bytes = (size_t)(single ? 72 : 136) << 10,
                              .longest_work = (size_t)1 << 30,
                              .folds = true};
    if (limits->is_cpu) tuning.longest = WEFT_JIT_LONGEST; /* kernels take long to compile */
    if (tuning.local_bytes > limits->local_bytes) tuning.local_bytes = limits->local_bytes;
    return tuning;
}

/* ---- radices ---- */

/* Operations of a butterfly; the head of each codelet counts them. 0: there is none. */
static const int operations[WEFT_JIT_LARGEST_RADIX + 1] = {
    0,   0,   4,   18,  16,  52,  48,  102,        60,        136,
    124, 250, 120, 348, 232, 246, 184, [25] = 632, [32] = 512};

/* LOCAL_MEMORY_COST: the cost, in operations, of exchanging one point through local memory, with
 * its twiddle; REORDER_COST: in an order that knows no banks; PRODUCT_COST: of multiplying one by a
 * number from a table. */
enum {
    LOCAL_MEMORY_COST = 16,
    REORDER_COST = 24,
    PRODUCT_COST = 8,
    FEW_VALUES = 6,
    LEAST_VALUES = 16,
    MORE_VALUES = 4 /* of a line's stages than of those of its rows, which have a point less */
};

/* Operations for each point of a line, those that idle threads could do included. */
static double cost_with(const weft_jit_radices *r, int n, int threads) {
    double cost = 0;
    for (int s = 0; s < r->stages; s++) {
        int radix = r->radix[s], count = (n / radix + threads - 1) / threads;
        cost += (double)count * threads * (operations[radix] + LOCAL_MEMORY_COST * radix);
    }
    return cost / n;
}

static int values_with(const weft_jit_radices *r, int n, int threads) {
    int most = 1;
    for (int s = 0; s < r->stages; s++) {
        int values = (n / r->radix[s] + threads - 1) / threads * r->radix[s];
        if (values > most) most = values;
    }
    return most;
}

typedef struct search {
    int n, most_values;
    weft_jit_radices best;
    double cost; /* of the best */
} search;

/* Tries the numbers of threads for which none is idle in at least one stage. */
static void try_threads(search *s, weft_jit_radices *r) {
    for (int i = 0; i < r->stages; i++)
        for (int count = 1; count <= s->most_values; count++) {
            int threads = (s->n / r->radix[i] + count - 1) / count;
            r->values = values_with(r, s->n, threads);
            if (r->values > s->most_values) break;
            double cost = cost_with(r, s->n, threads);
            if (r->values < FEW_VALUES) cost *= 1.1; /* fewer loads in flight */
            cost *= 1 - 1e-5 * threads; /* among equals, more threads with fewer registers each */
            if (s->best.stages > 0 && cost >= s->cost) continue;
            r->threads = threads;
            s->best = *r;
            s->cost = cost;
        }
}

static void try_radices(search *s, weft_jit_radices *r, int rest, int largest) {
    if (rest == 1) try_threads(s, r);
    if (r->stages == WEFT_JIT_STAGES) return;
    for (int radix = largest; radix >= 2 && rest > 1; radix--) {
        if (rest % radix != 0 || operations[radix] == 0) continue;
        r->radix[r->stages++] = radix;
        try_radices(s, r, rest / radix, radix);
        r->stages--;
    }
}

weft_jit_radices weft_jit_choose_radices(int n, int most_values) {
    search s = {.n = n, .most_values = most_values};
    weft_jit_radices r = {.stages = 0};
    if (n == 1) return (weft_jit_radices){1, {1}, 1, 1};
    try_radices(&s, &r, n,
                most_values < WEFT_JIT_LARGEST_RADIX ? most_values : WEFT_JIT_LARGEST_RADIX);
    return s.best;
}

int64_t weft_jit_convolution_length(int64_t least) {
    double cheapest = 0;
    int64_t best = 0;
    for (int64_t n = least; n <= WEFT_JIT_LONGEST_CORE && n <= least + least / 4; n++) {
        if (!weft_is_smooth(n)) continue;
        const weft_jit_radices r = weft_jit_choose_radices((int)n, LEAST_VALUES);
        const double cost = cost_with(&r, (int)n, r.threads) * (double)n;
        if (best > 0 && cost >= cheapest) continue;
        best = n;
        cheapest = cost;
    }
    if (best > 0) return best;
    /* Longer convolutions take several kernels, for which lengths with small factors are best. */
    static const int odd[] = {1, 3, 5, 7, 9, 15};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        int64_t n = odd[i];
        while (n < least) n *= 2;
        if (best == 0 || n < best) best = n;
    }
    return best;
}

/* Operations of two transforms of n points with a product between them. */
static double convolution_cost(int64_t n, int most_values) {
    const weft_jit_radices r = weft_jit_choose_radices((int)n, most_values);
    return (2 * cost_with(&r, (int)n, r.threads) + PRODUCT_COST) * (double)n;
}

/* Tries the products of radices that are `rest` for the stages after `rows` rows, which have
 * s->n points and r->threads threads in all. */
static void try_after_rows(search *s, weft_jit_radices *r, int rest, int largest) {
    if (rest == 1) {
        r->values = values_with(r, s->n, r->threads);
        const double cost = cost_with(r, s->n, r->threads);
        if (r->values > s->most_values || (s->cost > 0 && cost >= s->cost)) return;
        s->best = *r;
        s->cost = cost;
    }
    for (int radix = largest; radix >= 2 && rest > 1; radix--) {
        if (rest % radix != 0 || operations[radix] == 0) continue;
        r->radix[r->stages++] = radix;
        try_after_rows(s, r, rest / radix, radix);
        r->stages--;
    }
}

/* The fastest factorization of `rows` for the stages after so many rows of `length` points, each of
 * which has so many threads; no stages: there is one row, or a thread would hold too many points.
 */
static weft_jit_radices choose_after_rows(int rows, int length, int threads, int most_values) {
    search s = {.n = rows * length, .most_values = most_values + MORE_VALUES};
    weft_jit_radices r = {.threads = rows * threads};
    if (rows > 1) try_after_rows(&s, &r, rows, WEFT_JIT_LARGEST_RADIX / 2);
    return s.best;
}

/* The prime factor of n above 13, if it is the only one, else 0. */
static int64_t large_factor(int64_t n) {
    for (int64_t d = 2; d <= 13; d++)
        while (n % d == 0) n /= d;
    return weft_is_prime(n) ? n : 0;
}

/* Operations of Rader's convolution for rows of p points; 0: it is not possible. */
static double rader_cost(int64_t n, int64_t p, int most_values) {
    if (p == 0 || !weft_is_smooth(p - 1)) return 0;
    const int rows = (int)(n / p), length = (int)p;
    const int threads = weft_jit_choose_radices(length - 1, most_values).threads;
    const double cost = rows * convolution_cost(p - 1, most_values) + 2 * REORDER_COST * (double)n;
    if (rows == 1) return cost;
    const weft_jit_radices r = choose_after_rows(rows, length, threads, most_values);
    return r.stages == 0 ? 0 : cost + cost_with(&r, (int)n, r.threads) * (double)n;
}

int64_t weft_jit_choose_core(int64_t n, const weft_jit_tuning *tuning) {
    const int64_t core = weft_jit_convolution_length(2 * n - 1), p = large_factor(n);
    const double rader = rader_cost(n, p, tuning->values);
    if (rader == 0 || tuning->rader == 0) return core;
    if (core > WEFT_JIT_LONGEST_CORE) return p - 1;
    const double bluestein = convolution_cost(core, tuning->values) + 2 * PRODUCT_COST * (double)n;
    return rader * 100 <= bluestein * tuning->rader ? p - 1 : core;
}

int weft_jit_radix(const weft_jit_shape *shape, int s) {
    const weft_jit_radices *r = &shape->radices, *after = &shape->after;
    if (weft_jit_is_after_rows(shape, s)) return after->radix[s - shape->stages + after->stages];
    return s < r->stages ? r->radix[s] : r->radix[2 * r->stages - 1 - s];
}

int weft_jit_span(const weft_jit_shape *shape, int s) {
    const bool after = weft_jit_is_after_rows(shape, s);
    int first = s < shape->radices.stages ? 0 : shape->radices.stages;
    if (after) first = shape->stages - shape->after.stages;
    int span = after ? shape->points + 1 : 1;
    for (int i = first; i < s; i++) span *= weft_jit_radix(shape, i);
    return span;
}

/* ---- local memory ---- */

enum { BANK_BYTES = 128, WARP = 32, PADS = 6 };
static const int pads[PADS] = {0, 64, 32, 16, 8, 4};

static int padded(int p, int pad) {
    return pad == 0 ? p : p + p / pad;
}

/* Points of a line that lie in the local memory of one group. */
static int share_of(const weft_jit_shape *shape) {
    return shape->points / shape->cluster;
}

/* Cycles that bank conflicts add to the accesses of the threads' warps. */
static int conflicts(const int *address, int threads, int number_bytes) {
    const int lanes = BANK_BYTES / number_bytes;
    int excess = 0;
    for (int first = 0; first < threads; first += lanes) {
        int used[BANK_BYTES] = {0}, most = 1;
        for (int i = first; i < threads && i < first + lanes; i++) {
            int *times = &used[address[i] % lanes];
            if (++*times > most) most = *times;
        }
        excess += most - 1;
    }
    return excess;
}

/* Finds the line that thread number i of a group works on, and its number among the threads of that
 * line. Rows count as lines. */
static void seat(const weft_jit_shape *s, bool across, int i, int *line, int *t) {
    const int lines = s->lines * s->rows;
    *line = across ? i % lines : i / s->radices.threads;
    *t = across ? i / lines : i % s->radices.threads;
}

/* Bank conflicts of the exchange after stage s: of the first result that threads store and of the
 * first point that they load, in the first four warps. */
static int exchange_conflicts(const weft_jit_shape *shape, int s, bool last, int pad, int pitch,
                              int number_bytes) {
    const int radix = weft_jit_radix(shape, s), span = weft_jit_span(shape, s);
    const int threads = shape->lines * weft_jit_line_threads(shape);
    const bool across = last ? shape->across_out : shape->across_in;
    int excess = 0;
    for (int first = 0; first < threads && first < 4 * WARP; first += WARP) {
        int given[WARP], taken[WARP], count = 0;
        for (int i = first; i < threads && i < first + WARP; i++, count++) {
            int line, b;
            seat(shape, shape->across_in, i, &line, &b);
            given[count] =
                line * pitch + padded((b / span * span * radix + b % span) % share_of(shape), pad);
            seat(shape, across, i, &line, &b);
            taken[count] = line * pitch + padded(b % share_of(shape), pad);
        }
        excess += conflicts(given, count, number_bytes) + conflicts(taken, count, number_bytes);
    }
    return excess;
}

/* Whether stage s is the last of the forward transform in a kernel that also does the inverse:
 * points then stay in their registers. */
static bool is_midpoint(const weft_jit_shape *shape, int s) {
    return shape->stages > shape->radices.stages && s == shape->radices.stages - 1;
}

/* Chooses the padding of each exchange with the fewest bank conflicts, for the present pitch. The
 * stages after rows need none. Returns the number of conflicts. */
static int choose_pads(weft_jit_shape *shape, int room, int number_bytes) {
    const int stages = shape->stages - shape->after.stages;
    int total = 0;
    for (int s = 0; s + 1 < stages; s++) {
        int least = -1;
        for (int p = 0; p < PADS && !is_midpoint(shape, s); p++) {
            if (padded(share_of(shape) - 1, pads[p]) >= room) continue;
            int n = exchange_conflicts(shape, s, s + 2 == shape->stages, pads[p], shape->pitch,
                                       number_bytes);
            if (least >= 0 && n >= least) continue;
            least = n;
            shape->pad[s] = pads[p];
        }
        total += least > 0 ? least : 0;
    }
    return total;
}

/* Chooses the pitch and the padding of all exchanges with the fewest bank conflicts and, among
 * equals, with the least memory. Points of Rader's convolution, with point 0, also lie there in
 * their order in memory. */
static void lay_out_local(weft_jit_shape *shape, const weft_jit_task *task, int number_bytes) {
    const int lanes = BANK_BYTES / number_bytes;
    weft_jit_shape best = *shape;
    int fewest = -1;
    for (int most = 0; most < PADS; most++) {
        int room = padded(share_of(shape) - 1, pads[most]) + 1;
        if (task->points < task->length && room < task->points + 1) room = task->points + 1;
        for (int extra = 0; extra < (shape->lines * shape->rows > 1 ? lanes : 1); extra++) {
            shape->pitch = room + extra;
            int total = choose_pads(shape, room, number_bytes);
            if (fewest >= 0 && total >= fewest) continue;
            fewest = total;
            best = *shape;
        }
    }
    *shape = best;
    if (shape->radices.stages == 1 && shape->rows == 1 && !task->pairs) shape->pitch = 0;
    shape->local_bytes = (size_t)(shape->pitch * shape->rows * shape->lines * number_bytes);
}

/* ---- lines of a group ---- */

enum { REGISTERS = 1 << 16 }; /* 32-bit registers of a multiprocessor */

static int registers_of(const weft_jit_task *task, const weft_jit_radices *radices,
                        const weft_jit_tuning *tuning) {
    const bool across = task->across_in || task->across_out;
    return radices->values * (task->precision == WEFT_SINGLE ? 2 : 4) +
           (across ? tuning->across_registers : tuning->registers);
}

/* Smaller groups of strided lines do not saturate the memory of an H200. */
enum { LEAST_ACROSS_THREADS = 128 };

static int most_lines(const weft_jit_task *task, const weft_jit_tuning *tuning,
                      const weft_jit_shape *shape) {
    const int threads = weft_jit_line_threads(shape);
    const int group =
        task->large_stride && !task->round_trip ? tuning->large_stride_threads : tuning->threads;
    const int line_registers = threads * registers_of(task, &shape->radices, tuning);
    const int point = 2 * (int)weft_number_bytes(task->precision);
    int lines = 1;
    if (task->across_in || task->across_out) {
        lines = tuning->across_bytes / point;
        while (lines * point > 128 &&
               (size_t)(lines * point * task->points * task->rows) > tuning->whole_bytes)
            lines /= 2;
        if (threads == 1) lines = tuning->threads / 2;
        while (lines * threads < LEAST_ACROSS_THREADS) lines *= 2;
        while (lines > 1 && lines * threads > group) lines /= 2;
        while (lines * point < tuning->least_across_bytes && 2 * lines * threads <= 4 * group &&
               2 * lines * line_registers <= REGISTERS)
            lines *= 2;
    } else {
        while (lines * threads < tuning->least_threads) lines++;
        /* Lines are added until at least seven eighths of the threads of the group's warps are
         * used. */
        for (int more = lines; more * threads <= tuning->threads; more++) {
            int warps = (more * threads + WARP - 1) / WARP;
            if (more * threads * 8 >= warps * WARP * 7) {
                lines = more;
                break;
            }
        }
    }
    return lines < task->lines ? lines : (int)task->lines;
}

/* The number of groups that a multiprocessor has registers for at the same time. */
static int resident_groups(const weft_jit_task *task, const weft_jit_tuning *tuning,
                           const weft_jit_shape *shape) {
    enum { ENOUGH_THREADS = 1024 };
    const int thread = registers_of(task, &shape->radices, tuning);
    const int threads = (int)weft_jit_group_threads(shape);
    const int room = REGISTERS / thread, resident = room < ENOUGH_THREADS ? room : ENOUGH_THREADS;
    return threads < resident ? resident / threads : 1;
}

bool weft_jit_shape_fits(const weft_jit_shape *shape, const weft_jit_task *task,
                         const weft_jit_tuning *tuning, const weft_kernel_limits *limits) {
    const int threads = (int)weft_jit_group_threads(shape);
    return threads * registers_of(task, &shape->radices, tuning) <= REGISTERS &&
           (unsigned)threads <= limits->threads && shape->local_bytes <= limits->local_bytes;
}

/* Whether a cluster of so many groups can share the threads, none of which is idle in any stage,
 * and each group gives the numbers of its own share in all stages but the last one. */
static bool divides(const weft_jit_shape *shape, int cluster) {
    const int last = shape->stages - 1, share = shape->points / cluster;
    const int threads = shape->radices.threads;
    bool all = threads % cluster == 0;
    for (int s = 0; s <= last; s++)
        all = all && shape->points / weft_jit_radix(shape, s) % threads == 0 &&
              (s == last || share % weft_jit_span(shape, s + 1) == 0);
    return all;
}

/* The smallest cluster whose groups have enough local memory for a line, or the largest. */
static weft_jit_shape choose_cluster(weft_jit_shape shape, const weft_jit_task *task,
                                     const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits) {
    shape.lines = shape.parts = 1;
    for (int cluster = 2; cluster <= (int)limits->cluster; cluster *= 2) {
        if (!divides(&shape, cluster)) break;
        shape.cluster = cluster;
        lay_out_local(&shape, task, 2 * (int)weft_number_bytes(task->precision));
        shape.resident = resident_groups(task, tuning, &shape);
        if (shape.local_bytes <= tuning->cluster_bytes) break;
    }
    return shape;
}

weft_jit_shape weft_jit_choose_shape(const weft_jit_task *task, const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits) {
    const int number = (int)weft_number_bytes(task->precision);
    const bool is_long = task->length > WEFT_JIT_LONGEST;
    const size_t most_local = is_long ? limits->local_bytes : tuning->local_bytes;
    const int most_values = is_long ? tuning->long_values : tuning->values;
    weft_jit_shape shape = {.radices = weft_jit_choose_radices(task->points, most_values),
                            .points = task->points,
                            .rows = task->rows,
                            .cluster = 1};
    shape.after =
        choose_after_rows(task->rows, task->points + 1, shape.radices.threads, most_values);
    if (shape.after.values > shape.radices.values) shape.radices.values = shape.after.values;
    shape.stages = shape.radices.stages * (task->round_trip ? 2 : 1) + shape.after.stages;
    /* Where one thread does a whole line, there is nothing to exchange, so threads need not change
     * lines between loading and storing. */
    const bool alone = shape.stages == 1 && !task->pairs;
    shape.across_in = task->across_in && !alone;
    shape.across_out = task->across_out && !alone;
    if (task->length > tuning->longest) return choose_cluster(shape, task, tuning, limits);
    shape.lines = most_lines(task, tuning, &shape);
    for (;; shape.lines = (shape.lines + 1) / 2) {
        shape.parts = 1;
        lay_out_local(&shape, task, 2 * number);
        if (shape.local_bytes > tuning->whole_bytes || shape.local_bytes > most_local) {
            shape.parts = 2;
            lay_out_local(&shape, task, number);
        }
        bool fits =
            shape.local_bytes <= most_local && weft_jit_group_threads(&shape) <= limits->threads;
        shape.resident = resident_groups(task, tuning, &shape);
        if (fits || shape.lines == 1) return shape;
    }
}
